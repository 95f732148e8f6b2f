"""Takes all files and connections from a process by Landlock, Linux's second fence.

It holds what `seccomp` may not know: a new system call that opens files is refused as well.
"""

import ctypes
import sys
from contextlib import suppress

_CREATE, _RESTRICT = 444, 446  # system calls, by the same number on every machine
_VERSION = 1  # a flag: ask for the version only
_NO_NEW_PRIVILEGES = 38

_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
"""Rights over files by the version of Landlock that first knows them (linux/landlock.h)."""

_NET_SINCE, _NET = 4, 0b11  # binding and connecting by TCP
_SCOPE_SINCE, _SCOPE = 6, 0b11  # abstract sockets and signals of other processes


class _Rules(ctypes.Structure):
    """struct landlock_ruleset_attr: what is refused unless a rule allows it."""

    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64))


def refuse_files() -> bool:
    """Refuse to open, make or run any file, for good; whether the system does so."""
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        kernel = ctypes.CDLL(None, use_errno=True)
        version = kernel.syscall(_CREATE, None, 0, _VERSION)
        if version < min(_FILES):
            return False
        rules = _Rules(
            files=_FILES[max(since for since in _FILES if since <= version)],
            net=_NET if version >= _NET_SINCE else 0,
            scope=_SCOPE if version >= _SCOPE_SINCE else 0,
        )
        known = 8 if version < _NET_SINCE else 16 if version < _SCOPE_SINCE else 24
        ruleset = kernel.syscall(_CREATE, ctypes.byref(rules), known, 0)
        return bool(
            ruleset >= 0
            and kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
            and kernel.syscall(_RESTRICT, ruleset, 0) == 0
        )
    return False
