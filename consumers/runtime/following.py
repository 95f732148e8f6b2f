"""Following the record through restarts of PostgreSQL and Kafka.

`consumers.runtime.lifecycle.follow` ends when a connection is lost. This module calls it again,
with growing pauses. No fact is applied twice: a view resumes from its committed checkpoint.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from consumers.runtime.lifecycle import POLL_S, follow
from consumers.runtime.runner import RunnerOptions
from consumers.runtime.source import RecordSource
from infra.postgres.view_tables import LIVE, tape_source, writing
from ledger.errors import Denied, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.runtime.lifecycle import Progress, Projection
    from infra.postgres.connection import Database

PAUSE_S_MIN, PAUSE_S_MAX = 0.1, 10.0
"""The first and the longest pause before connecting again, seconds; each doubles the last."""

Lost = Callable[[Unavailable, float], None]
"""Called with the error and the pause that follows, seconds."""

Opened = Callable[[], AbstractContextManager[RecordSource]]
"""Opens a new source at the views' checkpoints."""


def follow_on(
    database: Database,
    projections: Sequence[Projection],
    *,
    progress: Progress,
    stop: Callable[[], bool],
    lost: Lost,
    opened: Opened | None = None,
    options: RunnerOptions | None = None,
) -> int | None:
    """As `follow`, called again after each lost connection; None if stopped during a pause.

    Once a view has moved, the next pause is the shortest again. Ends within `POLL_S` of `stop`.
    Raises `Denied` if the login lacks a right.
    """
    pause_s = PAUSE_S_MIN

    def moved(name: str, position: int) -> None:
        nonlocal pause_s
        pause_s = PAUSE_S_MIN
        progress(name, position)

    options = dataclasses.replace(options or RunnerOptions(), progress=moved)
    while not stop():
        try:
            with writing(database, LIVE):  # a lacking right is said without a wait for Kafka
                pass
            with (opened or (lambda: tape_source(database)))() as source:
                return follow(database, source, projections, stop=stop, options=options)
        except Denied:
            raise
        except Unavailable as error:
            lost(error, pause_s)
        _wait(pause_s, stop)
        pause_s = min(pause_s * 2, PAUSE_S_MAX)
    return None


def _wait(pause_s: float, stop: Callable[[], bool]) -> None:
    until = time.monotonic() + pause_s
    while not stop() and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL_S / 10))
