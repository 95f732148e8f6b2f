"""A line for each progressive meter and gaming day: what it showed, and what moved it.

closing = opening + advanced - paid + reset + difference. A rise is an advance. A fall that no win
explains is a difference, and so is a win that the meter did not fall by.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, structs

from ledger.facts import MeterAdvanced, MeterRead, MeterReset
from ledger.finance.placing import own_day, table_of
from ledger.finance.win import AuditException
from ledger.games import games
from ledger.rules.engine.ruling import FactRef
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.wagers.meter_payments import MeterPayment

METER_FACTS = (MeterRead, MeterAdvanced, MeterReset)
"""Facts that say what a meter shows."""

StepKind = Literal["shown", "paid", "reset"]
_RANK: dict[StepKind, int] = {"shown": 0, "paid": 1, "reset": 2}


class MeterName(NamedTuple):
    """One meter: of a table's wager, or a link's, which has no table."""

    property: str
    meter: str
    table: str  # empty: a link


class MeterStep(NamedTuple):
    """What a meter showed, what it was reset to, or what a win took of it, in cents."""

    time_us: int
    kind: StepKind
    amount: int
    day: str | None  # its round's gaming day; None: its time says which
    source: str = ""
    id: str = ""


class MeterDifference(Struct, frozen=True, kw_only=True):
    """The part of a meter's difference that arose on one gaming day, cents."""

    gaming_day: str
    amount: int


class MeterLine(Struct, frozen=True, kw_only=True):
    """One progressive meter, in cents.

    table: None for a link of tables. opening, closing: what it showed first and last; None: no
    reading counts. paid: what wins took of it. reset: what the house added as it was reset.
    """

    meter: str
    table: str | None
    opening: int | None
    advanced: int
    paid: int
    reset: int
    closing: int | None
    difference: int
    differences: list[MeterDifference] = []  # by gaming day; empty in the line of one day
    exceptions: list[AuditException] = []


_MOVES = ("advanced", "paid", "reset", "difference")
"""The fields of a line that sum over days."""


def name_of(property_: str, table: str, meter: str) -> MeterName:
    """The meter that a name at a table means: a wager's name is the table's own meter."""
    wagers = {of.wager for game in games().values() for of in game.meters}
    return MeterName(property_, meter, table if meter in wagers else "")


def step_of(fact: Fact) -> tuple[MeterName, MeterStep] | None:
    """What a fact says of a meter; None if it says nothing of one."""
    body = fact.body
    if not isinstance(body, MeterRead | MeterAdvanced | MeterReset):
        return None
    kind: StepKind = "reset" if isinstance(body, MeterReset) else "shown"
    step = MeterStep(fact.time_us, kind, body.amount, own_day(fact), fact.source, fact.id)
    return name_of(*table_of(fact), body.meter), step


def steps_paid(
    property_: str, table: str, day: str, payments: Iterable[MeterPayment]
) -> list[tuple[MeterName, MeterStep]]:
    """What a round's wins took, as steps of their meters."""
    return [
        (name_of(property_, table, each.meter), MeterStep(each.time_us, "paid", each.amount, day))
        for each in payments
    ]


def lines(steps: Iterable[tuple[MeterName, MeterStep]]) -> dict[MeterName, MeterLine]:
    """A line for each meter that was ever shown, in order of property, meter and table."""
    return {name: put_together(days) for name, days in by_day(steps).items()}


def put_together(by_day_: Mapping[str, MeterLine]) -> MeterLine:
    """The line of several days, which are in order."""
    days = list(by_day_.values())
    differences = [
        MeterDifference(gaming_day=day, amount=line.difference)
        for day, line in by_day_.items()
        if line.difference
    ]
    sums: dict[str, int] = {each: sum(getattr(day, each) for day in days) for each in _MOVES}
    opening = next((day.opening for day in days if day.opening is not None), None)
    exceptions = [each for day in days for each in day.exceptions]
    return structs.replace(
        days[-1], opening=opening, differences=differences, exceptions=exceptions, **sums
    )


def by_day(
    steps: Iterable[tuple[MeterName, MeterStep]],
) -> dict[MeterName, dict[str, MeterLine]]:
    """A line for each meter and gaming day on which it was shown or paid from, in order.

    A step without a day is of the day of the step before; before the first, of the first day. A
    meter never goes back to an earlier day.
    """
    found: dict[MeterName, list[MeterStep]] = defaultdict(list)
    for name, step in steps:
        found[name].append(step)
    its = {name: _days(name, sorted(found[name], key=_order)) for name in sorted(found)}
    return {name: days for name, days in its.items() if days}


def _order(step: MeterStep) -> tuple[int, int, str, str]:
    return step.time_us, _RANK[step.kind], step.source, step.id


def _days(name: MeterName, steps: Sequence[MeterStep]) -> dict[str, MeterLine]:
    meter = _Meter()
    day = next((step.day for step in steps if step.day), "")
    found: dict[str, MeterLine] = {}
    before = None
    for step in steps:
        if step.day and step.day > day:
            day, before = step.day, meter.line(name)
        meter.take(step)
        now = meter.line(name)
        if now is not None:
            found[day] = _since(before, now)
    return found


def _since(before: MeterLine | None, now: MeterLine) -> MeterLine:
    """What moved a meter after a moment."""
    if before is None:
        return now
    moved: dict[str, int] = {n: getattr(now, n) - getattr(before, n) for n in _MOVES}
    opening = now.opening if before.closing is None else before.closing
    exceptions = now.exceptions[len(before.exceptions) :]
    return structs.replace(now, opening=opening, exceptions=exceptions, **moved)


def _negative(step: MeterStep) -> AuditException:
    """The exception of a reading below zero, which no meter can show."""
    return AuditException(
        code="negative_reading",
        says=f"The meter is on record at {dollars(step.amount)}; no figure counts that.",
        facts=[FactRef(step.source, step.id)],
    )


class _Meter:
    """A meter as its steps move it. left: what the steps so far leave in it."""

    def __init__(self) -> None:
        self.opening: int | None = None
        self.advanced = self.paid = self.reset = self.difference = 0
        self.shown = self.left = 0
        self.exceptions: list[AuditException] = []

    def line(self, name: MeterName) -> MeterLine | None:
        """The line of its steps so far; None if it was not shown yet."""
        if self.opening is None and not self.exceptions:
            return None
        return MeterLine(
            meter=name.meter,
            table=name.table or None,
            opening=self.opening,
            advanced=self.advanced,
            paid=self.paid,
            reset=self.reset,
            closing=None if self.opening is None else self.shown,
            difference=self.difference + self.shown - self.left,
            exceptions=[*self.exceptions],
        )

    def take(self, step: MeterStep) -> None:
        """Take the next step. Wins before the first reading are nobody's: it counts from there."""
        if step.kind == "paid":
            self._pay(step.amount)
            return
        if step.amount < 0:
            self.exceptions.append(_negative(step))
            return
        rise = step.amount - self.left
        if self.opening is None:
            self.opening = step.amount
        elif step.kind == "shown":
            self.advanced += max(rise, 0)
            self.difference += min(rise, 0)
        elif rise >= 0:
            self.reset += rise
        else:  # somebody took what was left, and no win says so
            self.reset += step.amount
            self.difference -= self.left
        self.shown = self.left = step.amount

    def _pay(self, amount: int) -> None:
        if self.opening is None:
            return
        self.paid += amount
        self.left -= amount
        if self.left < 0:  # more was paid than it had
            self.difference -= self.left
            self.left = 0
