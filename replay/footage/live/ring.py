"""The latest pictures of one camera in memory: what is live, and what was some seconds before.

It keeps `KEPT_S` seconds, or `OCTETS_MAX` bytes if that is less, and always begins with a keyframe.
A film that ended is kept until the next one begins.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_S = 120.0
"""Seconds of pictures that are kept."""

OCTETS_MAX = 32 << 20
"""The most bytes of pictures of a camera."""

ANSWER_OCTETS_MAX = 4 << 20
"""Bytes of an answer from which on the rest goes into the next one."""


class Fragment(NamedTuple):
    """One picture as a fragment of the film."""

    number: int
    octets: bytes
    key: bool
    at_us: int  # its time in the film
    came_s: float  # when it was received, by a clock that only rises


class FilmPart(NamedTuple):
    """A part of a film for a player, and how far the film has come.

    begin: the film's beginning, if the player does not have it. number: of the last fragment here.
    newest_us: time of the newest picture in the film; age_s: seconds since it was received.
    """

    film: str
    codec: str
    begin: bytes
    octets: bytes
    number: int
    newest_us: int
    age_s: float


class Ring:
    """The latest pictures; any thread may add and read."""

    def __init__(
        self,
        kept_s: float = KEPT_S,
        octets_max: int = OCTETS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept_s, self._octets_max, self._clock = kept_s, octets_max, clock
        self._lock = threading.Lock()
        self._film, self._codec, self._begin = "", "", b""
        self._kept: deque[Fragment] = deque()
        self._octets = 0
        self._number = 0

    def begin(self, codec: str, octets: bytes) -> None:
        """Begin another film: what is kept of the one before is dropped."""
        with self._lock:
            self._film, self._codec, self._begin = secrets.token_hex(8), codec, octets
            self._kept.clear()
            self._octets = self._number = 0

    def add(self, octets: bytes, *, key: bool, at_us: int) -> None:
        """Add a picture. One before the first keyframe is left out."""
        with self._lock:
            if not self._kept and not key:
                return
            self._number += 1
            now_s = self._clock()
            self._kept.append(Fragment(self._number, octets, key, at_us, now_s))
            self._octets += len(octets)
            while self._is_over(now_s):
                self._drop()
                while self._kept and not self._kept[0].key:
                    self._drop()

    def read(self, film: str, number: int, back_s: float | None = None) -> FilmPart | None:
        """What comes after a fragment of a film; None: there is nothing new.

        A player that has another film, or is too far behind, gets the newest keyframe and what
        follows. back_s: from the last keyframe that was received at least so long ago, or from the
        first kept.
        """
        with self._lock:
            if not self._kept or (film == self._film and number >= self._number):
                return None
            goes_on = film == self._film and back_s is None and self._kept[0].number <= number + 1
            first = number + 1 if goes_on else self._first(back_s or 0.0)
            part: list[Fragment] = []
            octets = 0
            for each in self._kept:
                if each.number >= first and octets < ANSWER_OCTETS_MAX:
                    part.append(each)
                    octets += len(each.octets)
            newest = self._kept[-1]
            return FilmPart(
                self._film,
                self._codec,
                b"" if goes_on else self._begin,
                b"".join(each.octets for each in part),
                part[-1].number,
                newest.at_us,
                self._clock() - newest.came_s,
            )

    def _first(self, back_s: float) -> int:
        """The number of the keyframe to begin with."""
        until_s = self._kept[-1].came_s - back_s
        keys = [each.number for each in self._kept if each.key and each.came_s <= until_s]
        return keys[-1] if keys else self._kept[0].number

    def _is_over(self, now_s: float) -> bool:
        return bool(self._kept) and (
            self._octets > self._octets_max or now_s - self._kept[0].came_s > self._kept_s
        )

    def _drop(self) -> None:
        self._octets -= len(self._kept.popleft().octets)
