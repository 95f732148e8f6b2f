"""A process that is started again whenever it ends, after ever longer pauses.

What ends at once again, since a disk is full or a port is taken, is not started all the time: every
start of a broker costs seconds of all processors and a page of log.
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
"""The first pause before a start, and the longest: each is twice the one before."""

WELL_S = 60.0
"""How long a process must have run for its next end to be the first again, seconds."""

_log = logging.getLogger(__name__)


class Keeper:
    """One process kept running. `start` starts it; what `start` raises passes through."""

    def __init__(
        self, name: str, start: Callable[[], subprocess.Popen[bytes]], clock: Clock = SYSTEM
    ) -> None:
        self._name = name
        self._start = start
        self._now = clock.monotonic
        self._pause_s = 0.0  # before it was started last
        self._due_at: float | None = None  # when it is started again; None while it runs
        self._began_at = self._now()
        self.process = start()

    def look(self) -> None:
        """Note that it has ended, or start it again where its pause is over."""
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
