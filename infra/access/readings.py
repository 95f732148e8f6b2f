"""Readings of people's records, each noted as an access event before anything is shown."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from infra.access.connections import READ, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.access.connections import AccessDatabase, Actor

AGAIN_S = 600
"""Seconds in which a person's further requests for the same are one reading."""

KEPT = 10_000
"""Readings that a process remembers; beyond that the oldest half is noted again."""


class ReadingLog:
    """Notes who reads what, for several threads.

    A page and its pictures are one reading. Each process notes its own.
    """

    def __init__(
        self, access: AccessDatabase, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._access = access
        self._seconds = seconds
        self._noted: dict[tuple[str, str], float] = {}
        self._lock = Lock()

    def note(self, subject: str, actor: Actor, opened_from: str) -> None:
        """Note a reading, unless it goes on. Raises `Unavailable`: then nothing may be shown.

        subject: such as `round hollywood:CC-01/2026-11-20/7`. opened_from: the address of the page
        that led there.
        """
        if self.goes_on(subject, actor):
            return
        with self._access.open() as connection:
            note(connection, READ, subject, actor, opened_from)
        with self._lock:
            if len(self._noted) >= KEPT:
                for old in list(self._noted)[: KEPT // 2]:
                    del self._noted[old]
            key = (actor.name, subject)
            self._noted.pop(key, None)
            self._noted[key] = self._seconds()

    def goes_on(self, subject: str, actor: Actor) -> bool:
        """Whether a person reads this already."""
        with self._lock:
            noted = self._noted.get((actor.name, subject))
        return noted is not None and self._seconds() - noted < AGAIN_S
