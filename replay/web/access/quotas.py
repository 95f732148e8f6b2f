"""How much a device key may send: facts and bytes a minute, so that no key fills the disk.

Each place has an allowance of one minute. It fills up evenly; a request is accepted while any is
left and may overdraw it. What is refused is not kept, and a device sends it again. Each process of
a server counts by itself, and nothing is counted where no key is required.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_MINUTE = 60.0


class Quota(NamedTuple):
    """What one key may send in a minute."""

    facts: int = 120_000
    octets: int = 64 * 2**20


QUOTA = Quota()
"""The quota of a key unless the settings name another."""


class _Spent(NamedTuple):
    """What was sent and has not been made up for by time, at a moment."""

    at: float
    facts: float
    octets: float


class Quotas:
    """The allowances of every place that sent something."""

    def __init__(self, quota: Quota, clock: Callable[[], float] = time.monotonic) -> None:
        self._quota = quota
        self._clock = clock
        self._spent: dict[str, _Spent] = {}

    def wait_s(self, place: str) -> int:
        """Whole seconds until the place may send again; 0 if it may now."""
        spent = self._now(place)
        over = max(spent.facts / self._quota.facts, spent.octets / self._quota.octets) - 1
        return math.ceil(over * _MINUTE) if over >= 0 else 0

    def spend(self, place: str, facts: int, octets: int) -> None:
        """Count a request that was kept."""
        spent = self._now(place)
        self._spent[place] = _Spent(spent.at, spent.facts + facts, spent.octets + octets)

    def _now(self, place: str) -> _Spent:
        now = self._clock()
        at, facts, octets = self._spent.get(place, _Spent(now, 0.0, 0.0))
        minutes = (now - at) / _MINUTE
        return _Spent(
            now,
            max(facts - minutes * self._quota.facts, 0.0),
            max(octets - minutes * self._quota.octets, 0.0),
        )
