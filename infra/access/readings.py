"""Readings of people's records, each noted as an access event before anything is shown."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from infra.access.connections import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.access.connections import AccessDatabase, Actor

READ = "read"
"""What an access event says of a reading."""

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
        key, now = (actor.name, subject), self._seconds()
        with self._lock:
            goes_on = now - self._noted.get(key, -AGAIN_S) < AGAIN_S
        if goes_on:
            return
        with self._access.open() as connection:
            note(connection, READ, subject, actor, opened_from)
        with self._lock:
            if len(self._noted) >= KEPT:
                for old in list(self._noted)[: KEPT // 2]:
                    del self._noted[old]
            self._noted.pop(key, None)
            self._noted[key] = now
