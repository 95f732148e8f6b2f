"""Restarting a process whenever it ends, with growing pauses.

A process may end at once each time, for example on a full disk or a taken port. The pauses limit
the cost: each start of a broker uses all processors for seconds and fills a page of its log.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from infra.kafka.ports import SYSTEM

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from infra.kafka.ports import Clock

PAUSE_S_MIN, PAUSE_S_MAX = 1.0, 60.0
"""The first and the longest pause before a restart, seconds; each doubles the last."""

WELL_S = 60.0
"""How long a process must run before the pauses start at the first again, seconds."""

_log = logging.getLogger(__name__)


class Keeper:
    """Keeps one process running. `start` starts it; its errors are raised unchanged."""

    def __init__(
        self, name: str, start: Callable[[], subprocess.Popen[bytes]], clock: Clock = SYSTEM
    ) -> None:
        self._name = name
        self._start = start
        self._now = clock.monotonic
        self._pause_s = 0.0  # the last pause
        self._due_at: float | None = None  # time of the next start; None while it runs
        self._began_at = self._now()
        self.process = start()

    def look(self) -> None:
        """Begin a pause if the process has ended; start it again if its pause is over."""
        if self._due_at is None:
            if self.process.poll() is not None:
                self._pause()
        elif self._now() >= self._due_at:
            self._due_at, self._began_at = None, self._now()
            self.process = self._start()

    def _pause(self) -> None:
        ran_s = self._now() - self._began_at
        again_s = 0.0 if ran_s >= WELL_S else 2 * self._pause_s
        self._pause_s = min(max(again_s, PAUSE_S_MIN), PAUSE_S_MAX)
        self._due_at = self._now() + self._pause_s
        says = "%s ended with %d after %.0f s; starting it again in %.0f s"
        _log.error(says, self._name, self.process.returncode, ran_s, self._pause_s)
