"""The sandbox of every process that handles footage: no network, resource limits, no other file.

It is imported before any decoder. It must import nothing that starts a thread: a process with
several threads cannot enter a user namespace, which removes the network without root. Once the
decoder is loaded and before the first job, the process gives up opening anything (`seal`).
"""

import ctypes
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import msgspec
from msgspec import structs

from replay.footage.decoding.files import GivenFile, take
from replay.footage.decoding.landlock import refuse_files
from replay.footage.decoding.limits import BUSY, Confined, Limits
from replay.footage.decoding.seccomp import filter_system_calls

J = TypeVar("J")

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # Linux: clone(2)


def confine(told: str) -> Confined:
    """Leave the network and set these limits (JSON of `Limits`), as far as the system allows."""
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
        except (ValueError, OSError):  # macOS refuses some; the real-time limit still holds
            refused.append(name)
    return Confined(network, tuple(refused))


def seal(confined: Confined) -> Confined:
    """Give up opening files, connections and programs; how this process is confined then."""
    landlock, filtered = refuse_files(), filter_system_calls()
    network = confined.network and not filtered
    return structs.replace(confined, network=network, landlock=landlock, opens=not filtered)


def serve(kind: type[J], answer: Callable[[J], object], confined: Confined) -> None:
    """Answer jobs until the input ends; each is a JSON line with the seconds it may take.

    The first line has the files. How the process is confined is reported before any answer. Both
    alarm signals keep their default, which ends the process even inside a decoder.
    """
    sys.stdout.buffer.write(msgspec.json.encode(seal(confined)) + b"\n")
    sys.stdout.buffer.flush()
    take(msgspec.json.decode(sys.stdin.buffer.readline(), type=dict[str, GivenFile]))
    jobs = msgspec.json.Decoder(tuple[int, kind])  # type: ignore[valid-type] # known as it runs
    for line in sys.stdin.buffer:
        seconds, job = jobs.decode(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(BUSY * seconds)
        sys.stdout.buffer.write(msgspec.json.encode(answer(job)))
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


def _leave_network() -> bool:
    """Enter a new network namespace without any interface; whether that succeeded.

    Root can do so directly, others together with a user namespace if the system grants it.
    Otherwise only the readers' protocol lists, which allow files alone, prevent network access.
    """
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        unshare = ctypes.CDLL(None, use_errno=True).unshare
        return any(unshare(how) == 0 for how in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))
    return False
