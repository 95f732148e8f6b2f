"""Fill and Credit Slips: each counts once, when its chips are accepted (601a.9(c), 465a.38).

The cage and the table both record a slip, so that its number joins their facts.
"""

from __future__ import annotations

import re
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
)
from ledger.facts.money import ChipSlip
from ledger.finance.placing import by_time
from ledger.finance.win import AuditException, Cause
from ledger.rules.engine.ruling import FactRef
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
_SERIAL = re.compile(r"(.*?)(\d{1,18})", re.DOTALL)


class SlipRecord(NamedTuple):
    """One slip, with its facts by step, each step's in order of time."""

    kind: Kind
    number: str
    requested: tuple[Fact, ...] = ()
    dispatched: tuple[Fact, ...] = ()
    accepted: tuple[Fact, ...] = ()
    voided: tuple[Fact, ...] = ()

    @property
    def total(self) -> int:
        """Cents by its first acceptance; 0 if its chips were not accepted."""
        return _total(self.accepted[0]) if self.accepted else 0

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


def fact_type(kind: Kind, step: str) -> type[ChipSlip]:
    """The type of the fact of a slip's step, such as `FillDispatched`."""
    return next(struct for struct, its in _STEPS.items() if its == (kind, step))


def causes(of: Iterable[SlipRecord]) -> Iterator[Cause]:
    """Slips whose chips went on their way and were not accepted.

    A fill that lies in the tray without being counted makes it over, a credit that left it short.
    """
    for slip in of:
        if slip.dispatched and not slip.accepted and not slip.voided:
            sent = _total(slip.dispatched[0])
            yield Cause(
                gap="count",
                code=f"{slip.kind}_not_accepted",
                amount=sent if slip.kind == "fill" else -sent,
                says=f"{slip.kind.capitalize()} Slip {slip.number} of {dollars(sent)} was "
                "dispatched, and no acceptance of it is on record.",
                facts=refs(slip.dispatched),
            )


def exceptions(of: Iterable[SlipRecord]) -> Iterator[AuditException]:
    """Slips recorded twice, voided after acceptance, or with different amounts."""
    for slip in of:
        name = f"{slip.kind.capitalize()} Slip {slip.number}"
        if len(slip.accepted) > 1:
            yield AuditException(
                code="slip_recorded_twice",
                says=f"{name} was recorded as accepted {len(slip.accepted)} times; "
                f"{dollars(slip.total)} counts once.",
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


def series(slip: SlipRecord) -> tuple[Kind, str, int] | None:
    """The number series of a slip: kind, the text before its number, and the number."""
    match = _SERIAL.fullmatch(slip.number)
    return (slip.kind, match[1], int(match[2])) if match else None


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


def refs(facts: Sequence[Fact]) -> list[FactRef]:
    """References to facts."""
    return [FactRef(fact.source, fact.id) for fact in facts]


def joined(facts: Sequence[FactRef], more: Iterable[FactRef]) -> list[FactRef]:
    """Some references and more of them, each once."""
    return list(dict.fromkeys([*facts, *more]))


def _total(fact: Fact) -> int:
    body = fact.body
    return body.total if isinstance(body, ChipSlip) else 0
