"""Fill and Credit Slips: each counts once, when its chips are accepted (601a.9(c), 465a.38).

The cage and the table both record a slip, so that its number joins their facts: a step recorded at
the cage is of the slip's table. A slip that two tables accepted counts where it was accepted first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ledger.facts import (
    CreditAccepted,
    CreditDispatched,
    CreditRequested,
    CreditVoided,
    FillAccepted,
    FillDispatched,
    FillRequested,
    FillVoided,
    InventoryCounted,
)
from ledger.facts.money import ChipSlip
from ledger.finance.placing import by_time, table_of
from ledger.finance.serials import numbered
from ledger.finance.win import AuditException, Cause
from ledger.rules.engine.ruling import refs
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ledger.finance.placing import FactId, TableId
    from ledger.record.wire import Fact

Kind = Literal["fill", "credit"]
_STEPS: dict[type[ChipSlip], tuple[Kind, str]] = {
    FillRequested: ("fill", "requested"),
    FillDispatched: ("fill", "dispatched"),
    FillAccepted: ("fill", "accepted"),
    FillVoided: ("fill", "voided"),
    CreditRequested: ("credit", "requested"),
    CreditDispatched: ("credit", "dispatched"),
    CreditAccepted: ("credit", "accepted"),
    CreditVoided: ("credit", "voided"),
}
SlipId = tuple[str, Kind, str]
"""Property, kind and number."""

CHANGED = "slip_changed"
"""The code of a slip whose chips are another amount than was requested."""

NOT_DISPATCHED = "slip_not_dispatched"
"""The code of a slip that was accepted and never sent, by what is on record."""


class Acceptance(NamedTuple):
    """An acceptance of a slip, and the table that it is of."""

    table: str
    fact: Fact


class SlipRecord(NamedTuple):
    """One slip, with its facts by step, each step's in order of time."""

    kind: Kind
    number: str
    requested: tuple[Fact, ...] = ()
    dispatched: tuple[Fact, ...] = ()
    accepted: tuple[Fact, ...] = ()
    voided: tuple[Fact, ...] = ()
    elsewhere: tuple[Acceptance, ...] = ()  # those at other tables
    sent_before: bool = False  # dispatched on an earlier day than it was accepted
    table: str = ""  # its table; empty: any

    @property
    def total(self) -> int:
        """Cents by its first acceptance; 0 if its chips were not accepted, or elsewhere first."""
        return _total(self.accepted[0]) if self.accepted and self._is_first else 0

    @property
    def _is_first(self) -> bool:
        return not self.elsewhere or by_time(self.accepted[0]) < by_time(self.elsewhere[0].fact)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All its facts, in order of time."""
        told = (*self.requested, *self.dispatched, *self.accepted, *self.voided)
        return tuple(sorted(told, key=by_time))

    @property
    def decides(self) -> Fact:
        """The fact whose gaming day is the slip's: the first acceptance, else the first fact."""
        return self.accepted[0] if self.accepted else self.facts[0]


def slips(facts: Iterable[Fact]) -> list[SlipRecord]:
    """The slips in these facts, which are in order of time; by kind and number."""
    found: dict[tuple[Kind, str], SlipRecord] = {}
    for fact in facts:
        if not isinstance(fact.body, ChipSlip):
            continue
        kind, step = _STEPS[type(fact.body)]
        slip = found.setdefault((kind, fact.body.slip), SlipRecord(kind, fact.body.slip))
        got: dict[str, Any] = {step: (*getattr(slip, step), fact)}
        found[kind, slip.number] = slip._replace(**got)
    return [found[key] for key in sorted(found)]


def step_of(body: ChipSlip) -> str:
    """The step of a slip that a fact is of: requested, dispatched, accepted or voided."""
    _, step = _STEPS[type(body)]
    return step


def fact_type(kind: Kind, step: str) -> type[ChipSlip]:
    """The type of the fact of a slip's step, such as `FillDispatched`."""
    return next(struct for struct, its in _STEPS.items() if its == (kind, step))


def accepted_by_slip(facts: Iterable[tuple[TableId, Fact]]) -> dict[SlipId, list[Acceptance]]:
    """The acceptances in these facts by property, kind and number, in order of time."""
    found: dict[SlipId, list[Acceptance]] = {}
    for (_, table), fact in sorted(facts, key=lambda each: by_time(each[1])):
        if isinstance(fact.body, ChipSlip) and step_of(fact.body) == "accepted":
            its = found.setdefault(_slip_of(fact, fact.body), [])
            its.append(Acceptance(table, fact))
    return found


def slips_named(facts: Iterable[Fact]) -> set[SlipId]:
    """The slips that these facts are of."""
    return {_slip_of(fact, fact.body) for fact in facts if isinstance(fact.body, ChipSlip)}


def _slip_of(fact: Fact, body: ChipSlip) -> SlipId:
    kind, _ = _STEPS[type(body)]
    return table_of(fact)[0], kind, body.slip


class NumberUsed(NamedTuple):
    """The number of a slip, and what was done under it."""

    kind: str  # fill, credit; inventory: the slip of a count of the tray
    number: str
    step: str  # requested, dispatched, accepted or voided; opener or closer


def number_used(body: object) -> NumberUsed | None:
    """The slip's number that a fact uses; None of any other fact."""
    if isinstance(body, ChipSlip):
        kind, step = _STEPS[type(body)]
        return NumberUsed(kind, body.slip, step)
    if isinstance(body, InventoryCounted):
        step = "opener" if body.kind == "open" else "closer"
        return NumberUsed("inventory", body.slip, step)
    return None


class StepAt(NamedTuple):
    """A slip's step with its own place: the one that it names, or that recorded it. Sorts by time.

    joins: whether it is of its slip's table if its own place is no table. An acceptance that names
    a table moves the chips of that one.
    """

    time_us: int
    source: str
    id: str
    place: TableId
    joins: bool


def step_at(fact: Fact, *, accepted_join: bool = True) -> StepAt | None:
    """A fact as a slip's step; None of any other fact.

    accepted_join: False before version 10 of the report, which counted no acceptance of the cage.
    """
    if not isinstance(fact.body, ChipSlip):
        return None
    is_step = step_of(fact.body) != "accepted"
    return StepAt(
        *by_time(fact), table_of(fact), is_step or (accepted_join and fact.body.table is None)
    )


def joined_to(steps: Collection[StepAt], tables: Collection[TableId]) -> dict[FactId, TableId]:
    """The table of each of one slip's steps that are at no table, by source and id.

    It is the table of the slip's first step at any; without one there are no entries. tables: the
    places that are tables.
    """
    if all(each.place in tables for each in steps):
        return {}
    first = min((each for each in steps if each.place in tables), default=None)
    away = (each for each in steps if each.joins and each.place not in tables)
    return {(each.source, each.id): first.place for each in away} if first else {}


def steps_joined(
    facts: Iterable[Fact], tables: Collection[TableId], *, accepted_join: bool = True
) -> dict[FactId, TableId]:
    """As `joined_to`, of all slips in these facts; accepted_join: as `step_at`."""
    found: dict[SlipId, list[StepAt]] = {}
    for fact in facts:
        if step := step_at(fact, accepted_join=accepted_join):
            found.setdefault(_slip_of(fact, fact.body), []).append(step)  # type: ignore[arg-type]
    return {of: at for steps in found.values() for of, at in joined_to(steps, tables).items()}


def causes(of: Iterable[SlipRecord]) -> Iterator[Cause]:
    """Slips whose chips went on their way and were not accepted.

    A fill that lies in the tray without being counted makes it over, a credit that left it short.
    """
    for slip in of:
        if slip.dispatched and not slip.accepted and not slip.voided:
            sent = _total(slip.dispatched[0])
            end = ", and no acceptance of it is on record."
            if slip.elsewhere:
                end = f" here, and accepted at {slip.elsewhere[0].table}."
            yield Cause(
                gap="count",
                code=f"{slip.kind}_not_accepted",
                amount=sent if slip.kind == "fill" else -sent,
                says=f"{slip.kind.capitalize()} Slip {slip.number} of {dollars(sent)} was "
                f"dispatched{end}",
                facts=refs((*slip.dispatched, *(each.fact for each in slip.elsewhere))),
            )


def causes_over_days(
    kind: Kind,
    sent: Iterable[SlipRecord],
    taken: Iterable[SlipRecord],
    opener: Fact | None,
    closer: Fact | None,
) -> Iterator[Cause]:
    """Slips of a kind whose chips went on their way on a day before their acceptance, which counts.

    sent: those sent on this day; taken: those accepted on it. A count after the dispatch lacks a
    credit's chips; it may have a fill's, if they came before their acceptance.
    """
    sign, moved = (-1, "left before") if kind == "credit" else (1, "came before")
    for slip in sent:
        if slip.kind == kind and _is_before(slip.dispatched[0], closer):
            code, how = f"{kind}_not_accepted", "accepted after the end of the day"
            yield _on_its_way(slip, code, sign, how)
    for slip in taken:
        if slip.kind == kind and slip.sent_before and _is_before(slip.dispatched[0], opener):
            yield _on_its_way(slip, f"{kind}_sent_before", -sign, f"its chips {moved} the opener")


def _is_before(sent: Fact, count: Fact | None) -> bool:
    return count is not None and by_time(sent) < by_time(count)


def _on_its_way(slip: SlipRecord, code: str, sign: int, how: str) -> Cause:
    return Cause(
        gap="count",
        code=code,
        amount=sign * slip.total,
        says=f"{slip.kind.capitalize()} Slip {slip.number} of {dollars(slip.total)} was on its way "
        f"over the change of day: {how}.",
        facts=refs([slip.dispatched[0], slip.accepted[0]]),
    )


def exceptions(of: Iterable[SlipRecord]) -> Iterator[AuditException]:
    """Slips recorded twice, voided after acceptance, changed, or with different amounts.

    One that nobody dispatched, too: the people who accept a slip are not those who send it.
    """
    for slip in of:
        name = f"{slip.kind.capitalize()} Slip {slip.number}"
        if slip.accepted and slip.elsewhere:
            yield _at_tables(name, slip)
        elif len(slip.accepted) > 1:
            yield AuditException(
                code="slip_recorded_twice",
                says=f"{name} was recorded as accepted {len(slip.accepted)} times; "
                f"{dollars(slip.total)} counts once.",
                facts=refs(slip.accepted),
            )
        if slip.accepted and not (slip.dispatched or slip.elsewhere):
            yield AuditException(
                code=NOT_DISPATCHED,
                says=f"{name} of {dollars(slip.total)} was accepted, and no fact says that it was "
                "dispatched.",
                facts=refs(slip.accepted),
            )
        if slip.accepted and slip.voided:
            yield AuditException(
                code="slip_accepted_and_voided",
                says=f"{name} was both accepted and voided; its {dollars(slip.total)} counts.",
                facts=refs((*slip.accepted, *slip.voided)),
            )
        moved = (*slip.dispatched, *slip.accepted)
        if len({_total(fact) for fact in moved}) > 1:
            amounts = ", ".join(dollars(_total(fact)) for fact in moved)
            yield AuditException(
                code="slip_amounts_differ",
                says=f"{name} has different amounts: {amounts}.",
                facts=refs(moved),
            )
        if slip.requested and not set(map(_total, moved)) <= set(map(_total, slip.requested)):
            yield _changed(name, slip)


def _changed(name: str, slip: SlipRecord) -> AuditException:
    """The exception of a slip that was dispatched or accepted for another amount than requested."""
    steps = {step: getattr(slip, step) for step in ("requested", "dispatched", "accepted")}
    said = [
        f"{step} for {' and '.join(dict.fromkeys(dollars(_total(fact)) for fact in its))}"
        for step, its in steps.items()
        if its
    ]
    return AuditException(
        code=CHANGED,
        says=f"{name} was {', '.join(said[:-1])} and {said[-1]}.",
        facts=refs([fact for its in steps.values() for fact in its]),
    )


def _at_tables(name: str, slip: SlipRecord) -> AuditException:
    """The exception of a slip that several tables accepted."""
    own = (Acceptance(slip.table, fact) for fact in slip.accepted)
    told = sorted((*own, *slip.elsewhere), key=lambda each: by_time(each.fact))
    tables = dict.fromkeys(each.table for each in told)
    return AuditException(
        code="slip_recorded_twice",
        says=f"{name} was recorded as accepted at {' and at '.join(tables)}; "
        f"{dollars(_total(told[0].fact))} counts once, at {next(iter(tables))}.",
        facts=refs([each.fact for each in told]),
    )


def series(slip: SlipRecord) -> tuple[Kind, str, int] | None:
    """The number series of a slip: kind, the text before its number, and the number."""
    its = numbered(slip.number)
    return (slip.kind, its.stem, its.low) if its.width else None


def left_out(before: int, slip: SlipRecord) -> AuditException:
    """The exception of the numbers between a slip and the one before it in its series."""
    _, stem, number = series(slip) or (slip.kind, slip.number, before)
    digits = slip.number.removeprefix(stem)
    width = len(digits) if digits.startswith("0") else 0  # a series may be written with zeros
    lacking = f"{stem}{before + 1:0{width}}"
    if number - before > 2:  # noqa: PLR2004 - two numbers or more
        lacking += f" to {stem}{number - 1:0{width}}"
    return AuditException(
        code="slip_missing",
        says=f"{slip.kind.capitalize()} Slip {lacking} is not on record, neither used nor voided.",
        facts=refs(slip.facts[:1]),
    )


def _total(fact: Fact) -> int:
    body = fact.body
    return body.total if isinstance(body, ChipSlip) else 0
