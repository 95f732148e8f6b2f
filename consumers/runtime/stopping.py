"""Stopping a process that loops: SIGTERM and SIGINT end its loop, then break it off (ADR 0163)."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from ledger.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INSIST_S = 1.5
"""How long after a signal a loop may take to stop by itself, seconds."""


@contextmanager
def until_signalled(*, insist: bool = True) -> Iterator[Callable[[], bool]]:
    """A `stop` that becomes true at SIGTERM or SIGINT; only for a process's main thread.

    insist: what still runs `INSIST_S` later is broken off by `Stopped`. It must be safe to kill.
    """
    told = threading.Event()

    def ask(*_: object) -> None:
        told.set()
        if insist:
            signal.setitimer(signal.ITIMER_REAL, INSIST_S)

    handlers = {signal.SIGTERM: ask, signal.SIGINT: ask, signal.SIGALRM: _break_off}
    kept = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield told.is_set
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in kept.items():
            signal.signal(number, handler)


def _break_off(*_: object) -> NoReturn:
    raise Stopped
