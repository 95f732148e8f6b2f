"""The order of facts: by time, within a device by its own counter; never by arrival alone.

Two devices' clocks agree to 250 ms at best, so a finding about the order of facts of different
devices within that is `order_uncertain` (CONTRACT: order).
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.wire import Fact

UNCERTAINTY_US = 250_000
"""How far two devices' clocks may be apart before their facts are in a certain order."""


class Gap(NamedTuple):
    """Numbers a device counted that are not on record."""

    before: Fact  # the last fact ahead of the gap
    after: Fact
    missing: int


class Inversion(NamedTuple):
    """A fact that stands out of the order it was asked in."""

    at: int  # in the order asked
    uncertain: bool


def _numbered(fact: Fact) -> tuple[str, int]:
    return (fact.boot or "", fact.sequence or 0)


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    """Facts by time. Where a device's clock steps back within a run, its counter holds the order.

    A stepped-back fact takes the latest time its device had reached, so it never passes a fact
    that the same device counted before it. Ties: source, then the counter, then as they came.
    """
    by_device: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in facts:
        by_device.setdefault((fact.source, fact.boot), []).append(fact)
    keyed: list[tuple[int, str, int, Fact]] = []
    for (source, _), told in by_device.items():
        if all(fact.sequence is not None for fact in told):
            told.sort(key=_numbered)
        else:
            told.sort(key=lambda fact: fact.time_us)
        reached = told[0].time_us
        for rank, fact in enumerate(told):
            reached = max(reached, fact.time_us)
            keyed.append((reached, source, rank, fact))
    keyed.sort(key=lambda entry: entry[:3])
    return [entry[3] for entry in keyed]


def gaps(facts: Iterable[Fact]) -> list[Gap]:
    """What devices counted and the record does not have, in order of source and counter."""
    counted: dict[tuple[str, str | None], dict[int, Fact]] = {}
    for fact in facts:
        if fact.sequence is not None:
            counted.setdefault((fact.source, fact.boot), {})[fact.sequence] = fact
    found = []
    for device in sorted(counted, key=lambda key: (key[0], key[1] or "")):
        numbers = counted[device]
        ordered = sorted(numbers)
        found += [
            Gap(numbers[low], numbers[high], high - low - 1)
            for low, high in pairwise(ordered)
            if high - low > 1
        ]
    return found


def inversions(asked: Sequence[tuple[int, Fact]]) -> list[Inversion]:
    """Which of the facts, given with their rank in the order asked for, stand out of order.

    The fewest that explain it: those outside a longest increasing run.
    """
    ranks = [rank for rank, _ in asked]
    if all(low < high for low, high in pairwise(ranks)):
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
    """Whether every fact it is out of order with came from another device within the bound."""
    rank, fact = asked[index]
    against = [asked[other][1] for other in kept if (other < index) != (asked[other][0] < rank)]
    return all(
        other.source != fact.source and abs(other.time_us - fact.time_us) <= UNCERTAINTY_US
        for other in against
    )
