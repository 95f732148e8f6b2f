"""Papers of coupons: marketing's form of a day (603a.20(j)), a month's inventory (603a.20(n))."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.finance import coupons_and_checks
from ledger.facts import CouponsDistributed, DropBoxCounted
from ledger.finance.coupons import LEFT, USED, coupon_steps
from ledger.finance.serials import Serials, range_text
from replay.reports.kind import columns
from replay.shell.zones import house_zones
from replay.text.times import day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ledger.finance.coupons import CouponStep
    from ledger.record.wire import Fact
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

FORM = (*columns("", "face"), *columns("step", counts="pieces"), *columns("serials", "value"))


def coupon_day(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Marketing's form of the gaming day."""
    yield from _rows(day_form(_facts(asked), asked.gaming_day, _day_of(asked)))


def coupon_month(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """The inventory of the month, up to its end."""
    yield from _rows(month_inventory(_facts(asked), asked.gaming_day[:7], _day_of(asked)))


def _facts(asked: AskedReport) -> list[Fact]:
    return coupons_and_checks.coupon_facts(asked.database, asked.property).get(asked.property, [])


def _day_of(asked: AskedReport) -> Callable[[Fact], str]:
    """The day of a fact of the office, which names none: the date there."""
    zone = house_zones(asked.database).of(asked.property)
    return lambda fact: day(fact.time_us, zone)


def _rows(lines: Iterable[CouponLine]) -> Iterator[Sequence[Value]]:
    for each in lines:
        ranges = (range_text(its.first, its.last) for its in each.serials.ranges)
        pieces = each.serials.pieces
        yield each.face, each.step, pieces, ", ".join(ranges) or "none", each.face * pieces


# -- the papers ------------------------------------------------------------------------------------


class CouponLine(NamedTuple):
    """Serials of one face at one step of a paper. face: cents."""

    face: int
    step: str
    serials: Serials


DAY_STEPS = ("held over", "issued", "distributed", "used", "returned", "voided", "remaining")
"""The steps of a day's form: the first two are the sum of the others.

Used: played at a table or found in a box, and distributed to nobody on record.
"""

_ON_FORM = {each: each for each in DAY_STEPS} | dict.fromkeys(USED, "used")
"""The step on the form of what happens to coupons."""


def _by_day(
    steps: Iterable[CouponStep], day_of: Callable[[Fact], str]
) -> list[tuple[str, CouponStep]]:
    """The steps in order of day, each with the gaming day that its fact names, or its date."""

    def day(step: CouponStep) -> str:
        body = step.fact.body
        if isinstance(body, CouponsDistributed | DropBoxCounted):
            return body.gaming_day
        return day_of(step.fact)

    return sorted(((day(step), step) for step in steps), key=lambda each: each[0])


def day_form(
    facts: Iterable[Fact], day: str, day_of: Callable[[Fact], str]
) -> Iterator[CouponLine]:
    """What marketing held, got, gave and has left on a day, by face; steps without serials too.

    day_of: the day of a fact that names none.
    """
    steps, faces = coupon_steps(facts)
    held = Serials()
    found = {step: Serials() for step in DAY_STEPS}
    for its, each in _by_day(steps, day_of):
        if its > day or each.what not in _ON_FORM:
            continue
        is_of_marketing = each.what in ("issued", "distributed")
        moved = each.serials if is_of_marketing else each.serials & held
        if its == day:
            found[_ON_FORM[each.what]] |= moved
        held = held | moved if each.what == "issued" else held - moved
        if its < day:
            found["held over"] = held
    found["remaining"] = held
    for face, batch in faces:
        for step in DAY_STEPS:
            yield CouponLine(face, step, found[step] & batch)


MONTH_STEPS = ("in stock", "held by marketing", "not distributed", "counted", "differ")


def month_inventory(
    facts: Iterable[Fact], month: str, day_of: Callable[[Fact], str]
) -> Iterator[CouponLine]:
    """What was not distributed at the end of a month (`2026-11`), beside its last inventory."""
    steps, faces = coupon_steps(facts)
    until = [(its, each) for its, each in _by_day(steps, day_of) if its[:7] <= month]
    stock, held = Serials(), Serials()
    for _, each in until:
        its = each.serials
        if each.what == "received":
            stock |= its
        elif each.what == "issued":
            stock, held = stock - its, held | its
        elif each.what == "returned":
            stock, held = stock | (its & held), held - its
        elif each.what in LEFT:
            stock, held = stock - its, held - its
    counts = [e.serials for its, e in until if e.what == "inventoried" and its[:7] == month]
    counted = counts[-1] if counts else None
    there = stock | held
    for face, batch in faces:
        for step, its in zip(MONTH_STEPS, (stock, held, there), strict=False):
            yield CouponLine(face, step, its & batch)
        if counted is not None:
            differ = (there - counted) | (counted - there)
            yield CouponLine(face, "counted", counted & batch)
            yield CouponLine(face, "differ", differ & batch)
