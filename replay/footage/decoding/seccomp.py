"""The system calls that a process which handles footage may make; all others fail with EPERM.

It may use its memory, its clocks, and the files that it was given open. It may open no file, socket
or program, start no process and send no signal. The kernel runs the filter (seccomp(2)).
"""

import ctypes
import errno
import platform
import struct
import sys
from contextlib import suppress
from typing import NamedTuple


class _Machine(NamedTuple):
    """One architecture: its number for filters, and which column of the table it has."""

    audit: int  # AUDIT_ARCH_* of linux/audit.h
    column: int
    seccomp: int  # the number of seccomp(2)


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0, 317),
    "aarch64": _Machine(0xC00000B7, 1, 277),
}

_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66),
    "pread64": (17, 67), "pwrite64": (18, 68), "lseek": (8, 62), "ftruncate": (77, 46),
    "close": (3, 57), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24),
    "pipe2": (293, 59), "fcntl": (72, 25), "poll": (7, None), "ppoll": (271, 73),
    "select": (23, None), "fstat": (5, 80), "newfstatat": (262, 79), "statx": (332, 291),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214),
    "mremap": (25, 216), "madvise": (28, 233), "membarrier": (324, 283),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "setitimer": (38, 103), "alarm": (37, None),
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "restart_syscall": (219, 128),
    "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "times": (100, 153), "getrusage": (98, 165), "getrandom": (318, 278),
    "futex": (202, 98), "set_robust_list": (273, 99), "rseq": (334, 293),
    "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "getcpu": (309, 168),
    "getpid": (39, 172), "gettid": (186, 178), "uname": (63, 160), "sysinfo": (99, 179),
    "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
"""Numbers on x86_64 and aarch64 (the kernel's syscall tables); None: that machine has none."""

_CLONE = (56, 220)  # allowed for threads of this process only
_CLONE3 = 435  # "not implemented": its flags lie in memory, and the C library then uses clone
_THREAD = 0x10000  # CLONE_THREAD

_LOAD, _EQUAL, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x45, 0x06  # linux/bpf_common.h
_NUMBER_AT, _AUDIT_AT, _FLAGS_AT = 0, 4, 16  # struct seccomp_data
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SET_FILTER, _ALL_THREADS = 1, 1
_NO_NEW_PRIVILEGES = 38


_STEP = struct.Struct("=HBBI")
"""struct sock_filter: what to do, two jumps, a number."""


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def filter_system_calls() -> bool:
    """Refuse every call that is not allowed, for good; whether the system does so."""
    machine = _MACHINES.get(platform.machine()) if sys.platform.startswith("linux") else None
    if machine is None:
        return False
    steps = _steps(machine)
    kept = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // _STEP.size, ctypes.addressof(kept))
    with suppress(OSError, AttributeError):
        kernel = ctypes.CDLL(None, use_errno=True)
        return bool(
            kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
            and kernel.syscall(machine.seccomp, _SET_FILTER, _ALL_THREADS, ctypes.byref(program))
            == 0
        )
    return False


def _steps(machine: _Machine) -> bytes:
    """The filter's program. An equal number jumps to the last step, which allows the call."""
    numbers = sorted(
        number for row in _ALLOWED.values() if (number := row[machine.column]) is not None
    )
    count = len(numbers)
    steps = [
        (_LOAD, 0, 0, _AUDIT_AT),
        (_EQUAL, 1, 0, machine.audit),
        (_ANSWER, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_EQUAL, 0, 1, _CLONE3),
        (_ANSWER, 0, 0, _REFUSE | errno.ENOSYS),
        (_EQUAL, 0, 3, _CLONE[machine.column]),
        (_LOAD, 0, 0, _FLAGS_AT),
        (_ANY_BIT, count + 2, 0, _THREAD),
        (_ANSWER, 0, 0, _REFUSE | errno.EPERM),
        *((_EQUAL, count - at, 0, number) for at, number in enumerate(numbers)),
        (_ANSWER, 0, 0, _REFUSE | errno.EPERM),
        (_ANSWER, 0, 0, _ALLOW),
    ]
    return b"".join(_STEP.pack(*step) for step in steps)
