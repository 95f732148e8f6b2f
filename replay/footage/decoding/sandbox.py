"""What every process that handles footage does first: give up the network, and take its limits.

Imported before any decoder. It must import nothing that starts a thread: a user namespace, which
takes the network away without being root, is refused to a process that has several.
"""

import ctypes
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import msgspec

from replay.footage.decoding.limits import BUSY, Confined, Limits

J = TypeVar("J")

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of Linux: clone(2)


def confine(told: str) -> Confined:
    """Give up the network and take these limits (JSON of `Limits`), as far as the system allows.

    What it does not allow is told, first thing, to whoever started this process.
    """
    network = not _leave_network()
    limits = msgspec.json.decode(told, type=Limits)
    most_of = {
        "memory": (resource.RLIMIT_AS, limits.memory_bytes),
        "processor": (resource.RLIMIT_CPU, limits.cpu_s),
        "core": (resource.RLIMIT_CORE, 0),
        "files": (resource.RLIMIT_FSIZE, limits.file_bytes),
    }
    refused = []
    for name, (limit, most) in most_of.items():
        try:
            resource.setrlimit(limit, (most, most))
        except (ValueError, OSError):  # macOS refuses some; the wall clock still holds
            refused.append(name)
    return Confined(network, tuple(refused))


def greet(confined: Confined) -> None:
    """Say how far this process is confined, before any answer."""
    sys.stdout.buffer.write(msgspec.json.encode(confined) + b"\n")
    sys.stdout.buffer.flush()


def serve(kind: type[J], answer: Callable[[J], object]) -> None:
    """Answer jobs, one JSON line each with the seconds it may take, until the input ends.

    Both alarms are left to their default, which ends the process even deep inside a decoder.
    """
    jobs = msgspec.json.Decoder(tuple[int, kind])  # type: ignore[valid-type] # known as it runs
    for line in sys.stdin.buffer:
        seconds, job = jobs.decode(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(BUSY * seconds)
        sys.stdout.buffer.write(msgspec.json.encode(answer(job)))
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


def _leave_network() -> bool:
    """Enter a network namespace of one's own, in which there is nothing, not even a loopback.

    As root at once; else together with a user namespace, where the system grants those. Elsewhere
    the readers' lists of protocols, which name files alone, are what keeps them from the network.
    Returns whether it is left.
    """
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        unshare = ctypes.CDLL(None, use_errno=True).unshare
        return any(unshare(how) == 0 for how in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))
    return False
