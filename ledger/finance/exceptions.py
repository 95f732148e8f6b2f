"""Exceptions of a day: a coupon in several counts, a device number given twice, a wrong sum.

Each names what an auditor must look at. None has an amount, and none changes a figure.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import DropBoxCounted, FactCorrected, InventoryCounted
from ledger.facts.money import ChipSlip
from ledger.finance.boxes import boxes, coupons_in
from ledger.finance.placing import by_time
from ledger.finance.slips import refs
from ledger.finance.win import AuditException
from ledger.rules.engine.ruling import FactRef
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.record.wire import Fact

DayKey = tuple[str, str, str]
"""Property, gaming day, table: the order of wins."""

FactId = tuple[str, str]
"""Source and id of a fact."""

EQUIVOCATION = "equivocation"

BY_ONE = "corrected_by_one"
"""The code of a fact whose correction one person alone signed."""


class _Counted(NamedTuple):
    """One coupon in the last count of a box."""

    day: DayKey
    fact: Fact


def redeemed_twice(days: Mapping[DayKey, Sequence[Fact]]) -> dict[DayKey, list[AuditException]]:
    """Coupons that boxes of a property held more than once, by the day that shows it.

    A day names the counts of its own and of earlier days, so that a later box changes no earlier
    day. `days`: the facts of each table's day in order of time.
    """
    seen: dict[tuple[str, str], list[_Counted]] = defaultdict(list)
    for day in sorted(days):
        counts = [fact for fact in days[day] if isinstance(fact.body, DropBoxCounted)]
        for serial, its in coupons_in(boxes(counts)).items():
            seen[day[0], serial] += [_Counted(day, fact) for fact in its]
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for key in sorted(seen):
        for day, exception in _of_serial(key[1], seen[key]):
            found[day].append(exception)
    return found


def _of_serial(serial: str, counts: Sequence[_Counted]) -> Iterator[tuple[DayKey, AuditException]]:
    for day in sorted({each.day for each in counts}):
        its = [each for each in counts if each.day[1] <= day[1]]
        if len(its) > 1:
            places = dict.fromkeys(f"{table} on {label}" for (_, label, table), _ in its)
            facts = {(each.fact.source, each.fact.id): each.fact for each in its}
            yield (
                day,
                AuditException(
                    code="coupon_redeemed_twice",
                    says=f"Coupon {serial} was counted {len(its)} times: {', '.join(places)}.",
                    facts=refs(list(facts.values())),
                ),
            )


def is_one(by: str, second: str) -> bool:
    """Whether two credentials are of one person."""
    return by.strip().casefold() == second.strip().casefold()


def signed_by_one(made: Iterable[Fact]) -> list[Fact]:
    """The corrections that one person alone signed."""
    return [
        fact
        for fact in made
        if isinstance(fact.body, FactCorrected) and is_one(fact.body.by, fact.body.second)
    ]


def corrected_by_one(
    made: Mapping[FactId, Sequence[Fact]],
) -> Iterator[tuple[FactId, AuditException]]:
    """The exception of each correction that one person signed, in order of time, by its fact.

    made: corrections by the fact that they are of in the end.
    """
    told = [(fact, of) for of, its in made.items() for fact in signed_by_one(its)]
    for fact, of in sorted(told, key=lambda each: by_time(each[0])):
        by = fact.body.by if isinstance(fact.body, FactCorrected) else ""
        yield (
            of,
            AuditException(
                code=BY_ONE,
                says=f"{by} alone corrected fact {of[1]} of {of[0]}; two people sign a correction.",
                facts=[FactRef(*of), *refs([fact])],
            ),
        )


def totals_differ(facts: Iterable[Fact]) -> Iterator[AuditException]:
    """Slips whose total is not the sum of their chips. One without chips has no sum to compare."""
    for fact in facts:
        body = fact.body
        if isinstance(body, InventoryCounted | ChipSlip) and body.chips:
            chips = sum(int(denomination) * count for denomination, count in body.chips.items())
            if chips != body.total:
                yield AuditException(
                    code="total_differs",
                    says=f"Slip {body.slip} has a total of {dollars(body.total)}; its chips are "
                    f"{dollars(chips)}. The total counts.",
                    facts=refs([fact]),
                )


def numbers_given_twice(facts: Iterable[Fact]) -> list[AuditException]:
    """Devices that gave one of their own numbers to several facts: one exception a device's run."""
    told: dict[tuple[str, str, int], dict[str, Fact]] = defaultdict(dict)
    for fact in facts:
        if fact.sequence is not None:
            told[fact.source, fact.boot or "", fact.sequence].setdefault(fact.id, fact)
    devices: dict[tuple[str, str], list[int]] = defaultdict(list)
    for source, boot, number in sorted(key for key, its in told.items() if len(its) > 1):
        devices[source, boot].append(number)
    found = []
    for device, numbers in devices.items():
        its = [told[*device, n][id_] for n in numbers for id_ in sorted(told[*device, n])]
        says = f"{device[0]} gave {_numbers(numbers)} to several facts of money."
        found.append(AuditException(code=EQUIVOCATION, says=says, facts=refs(its)))
    return found


def _numbers(numbers: Sequence[int]) -> str:
    """Some numbers in words: all of a few, else the first and last."""
    if len(numbers) == 1:
        return f"its number {numbers[0]}"
    return f"{len(numbers)} of its numbers from {numbers[0]} to {numbers[-1]}, each"
