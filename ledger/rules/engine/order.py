"""The order of facts: by time, and by sequence number within a device. Arrival does not count.

Two devices' clocks agree to 250 ms at best. Within that, a finding about the order of facts of
different devices is `order_uncertain` (CONTRACT: order).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import islice, pairwise
from operator import attrgetter, lt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.wire import Fact

UNCERTAINTY_US = 250_000
"""The uncertainty between two devices' clocks. Closer facts have no certain order."""


class Gap(NamedTuple):
    """Sequence numbers of a device that are not on record."""

    before: Fact  # the last fact before the gap
    after: Fact
    missing: int


class Inversion(NamedTuple):
    """A fact that is out of the order it was asked for in."""

    at: int  # index in the order asked
    uncertain: bool


_time = attrgetter("time_us")


def _numbered(fact: Fact) -> tuple[str, int]:
    return (fact.boot or "", fact.sequence or 0)


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    """Facts by time, but each device's facts in the order of its sequence numbers.

    If a device's clock steps back, its later fact takes the latest time the device had reached. It
    never passes a fact with a lower number. Ties are ordered by source, then sequence number, then
    arrival.
    """
    facts = list(facts)
    return _by_time(facts) or _by_device(facts)


def _by_time(facts: list[Fact]) -> list[Fact] | None:
    """The facts by time, if no two have one time and each device counts up: nearly always.

    None otherwise. Then ties, steps back or absent counters decide.
    """
    told = sorted(facts, key=_time)
    times = [fact.time_us for fact in told]
    if not all(map(lt, times, islice(times, 1, None))):
        return None
    counted: dict[tuple[str, str | None], int] = {}
    for fact in told:
        device, sequence = (fact.source, fact.boot), fact.sequence
        if sequence is None or sequence <= counted.get(device, -1):
            return None
        counted[device] = sequence
    return told


def _by_device(facts: list[Fact]) -> list[Fact]:
    """The facts in order, whatever their times and counters are."""
    by_device: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in facts:
        by_device.setdefault((fact.source, fact.boot), []).append(fact)
    keyed: list[tuple[int, str, int, int, Fact]] = []  # a running number, as facts have no order
    for (source, _), told in by_device.items():
        if all(fact.sequence is not None for fact in told):
            told.sort(key=_numbered)
        else:
            told.sort(key=lambda fact: fact.time_us)
        reached = told[0].time_us
        for rank, fact in enumerate(told):
            reached = max(reached, fact.time_us)
            keyed.append((reached, source, rank, len(keyed), fact))
    keyed.sort()
    return [entry[-1] for entry in keyed]


class DeviceCounters:
    """The devices' sequence numbers, each with the place of its fact in a feed."""

    def __init__(self) -> None:
        self._devices: dict[tuple[str, str | None], tuple[array[int], array[int]]] = {}

    def add(self, place: int, fact: Fact) -> None:
        """Add the number of a fact, if it has one."""
        if fact.sequence is None:
            return
        counted = self._devices.get((fact.source, fact.boot))
        if counted is None:
            counted = self._devices[fact.source, fact.boot] = array("q"), array("q")
        counted[0].append(fact.sequence)
        counted[1].append(place)

    def gaps(self, facts: Sequence[Fact]) -> list[Gap]:
        """Gaps in the numbers, by source and number. If facts share one, the last of them has it.

        `facts` gives a fact by its place.
        """
        found: list[Gap] = []
        for device in sorted(self._devices, key=lambda key: (key[0], key[1] or "")):
            places = dict(zip(*self._devices[device], strict=True))
            found += [
                Gap(facts[places[low]], facts[places[high]], high - low - 1)
                for low, high in pairwise(sorted(places))
                if high - low > 1
            ]
        return found


def gaps(facts: Iterable[Fact]) -> list[Gap]:
    """Gaps in the devices' sequence numbers, by source and number."""
    told, counters = list(facts), DeviceCounters()
    for place, fact in enumerate(told):
        counters.add(place, fact)
    return counters.gaps(told)


def inversions(asked: Sequence[tuple[int, Fact]]) -> list[Inversion]:
    """The facts that are out of order, given each fact with its rank in the order asked for.

    They are the fewest that explain it: all outside a longest increasing run.
    """
    ranks = [rank for rank, _ in asked]
    if all(map(lt, ranks, islice(ranks, 1, None))):
        return []
    kept = _longest_run(ranks)
    inside = set(kept)
    return [
        Inversion(index, _uncertain(asked, kept, index))
        for index in range(len(asked))
        if index not in inside
    ]


def _longest_run(ranks: Sequence[int]) -> list[int]:
    """Indexes of a longest strictly increasing subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    back: list[int] = []
    for index, rank in enumerate(ranks):
        at = bisect_left(tails, rank)
        back.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [rank]
        ends[at : at + 1] = [index]
    run, index = [], ends[-1]
    while index >= 0:
        run.append(index)
        index = back[index]
    return run[::-1]


def _uncertain(asked: Sequence[tuple[int, Fact]], kept: Sequence[int], index: int) -> bool:
    """Whether the order against every conflicting fact is within the clocks' uncertainty."""
    rank, fact = asked[index]
    against = [asked[other][1] for other in kept if (other < index) != (asked[other][0] < rank)]
    return all(
        other.source != fact.source and abs(other.time_us - fact.time_us) <= UNCERTAINTY_US
        for other in against
    )
