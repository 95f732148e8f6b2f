"""What is told of Match Play Coupons beside a round: batches, plays elsewhere, drops and refusals.

Which of it belongs to a round is decided here, for the feed and the view alike; what follows from
it, in `coupons`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import CouponDropped, CouponRefused, CouponsIssued, WagerPlaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.facts import FactCorrected
    from ledger.record.wire import Fact
    from ledger.values import RoundId

MOVED = (CouponDropped, CouponRefused)
"""Facts of a table that say what became of a coupon; they need not name its round."""

TOLD = (*MOVED, WagerPlaced)
"""Facts that may tell of a coupon."""

_NEVER = 2**63  # microseconds
_NUMBERED = re.compile(r"(.*?)(\d{0,18})", re.DOTALL)


class Batch(NamedTuple):
    """Coupons as the office issued them."""

    property: str
    issued_us: int
    source: str
    id: str
    terms: CouponsIssued

    def holds(self, serial: str) -> bool:
        """Whether a serial is one of the batch: the same letters, and a number within."""
        low, high = _parts(self.terms.serial_from), _parts(self.terms.serial_to)
        letters, number = _parts(serial)
        if number is None or low[1] is None or high[1] is None:
            return serial in (self.terms.serial_from, self.terms.serial_to)
        return low[0] == high[0] == letters and low[1] <= number <= high[1]


def _parts(serial: str) -> tuple[str, int | None]:
    match = _NUMBERED.fullmatch(serial)
    return (match[1], int(match[2]) if match[2] else None) if match else (serial, None)


def issued(facts: Iterable[Fact]) -> list[Batch]:
    """The batches among facts, in order of issue."""
    found = [
        Batch(fact.source.split("/")[1], fact.time_us, fact.source, fact.id, fact.body)
        for fact in facts
        if isinstance(fact.body, CouponsIssued)
    ]
    return sorted(found, key=lambda each: each[1:4])


def serials_of(
    facts: Iterable[Fact], made: Mapping[tuple[str, str], FactCorrected]
) -> frozenset[str]:
    """Serials that facts tell of, as they were told and as they were corrected."""
    found = set()
    for fact in facts:
        found |= {told for told in (serial_of(fact),) if told}
        correction = made.get((fact.source, fact.id))
        if correction and isinstance(fact.body, (WagerPlaced, *MOVED)):
            found |= corrected_serials(correction)
    return frozenset(found)


def serial_of(fact: Fact) -> str | None:
    """The serial of a coupon that a fact tells of: played, dropped or refused."""
    body = fact.body
    if isinstance(body, WagerPlaced):
        return body.coupon.serial if body.coupon else None
    return body.serial if isinstance(body, MOVED) else None


def corrected_serials(correction: FactCorrected) -> set[str]:
    """The serial that a correction puts in place of another, if it does."""
    data = correction.data or {}
    coupon = data.get("coupon")
    told = (data.get("serial"), coupon.get("serial") if isinstance(coupon, dict) else None)
    return {serial for serial in told if isinstance(serial, str)}


class Told(NamedTuple):
    """What a property's tables tell of a round's serials, beside the round."""

    within: list[Fact]  # what became of them in the round: it belongs to its record
    spent: list[Fact]  # drops that came before it


def of_round(round_: RoundId, facts: Sequence[Fact], told: Iterable[Fact]) -> Told:
    """What a property's tables tell of a round's serials, played elsewhere or moved.

    Dropped at the round's table at any time from its first fact on, until another round there
    plays the serial; refused while it was played. A serial dropped anywhere before is spent.
    """
    first = min(fact.time_us for fact in facts)
    last = max(fact.time_us for fact in facts)
    others = [fact for fact in told if fact.round != round_ or isinstance(fact.body, MOVED)]
    until = {
        serial: min(
            (
                fact.time_us
                for fact in others
                if isinstance(fact.body, WagerPlaced)
                and fact.table == round_.table
                and fact.time_us > last
                and serial_of(fact) == serial
            ),
            default=_NEVER,
        )
        for serial in {serial_of(fact) for fact in others}
    }
    within, spent = [], []
    for fact in others:
        if fact.round == round_ or isinstance(fact.body, WagerPlaced):
            continue
        dropped, end = isinstance(fact.body, CouponDropped), until[serial_of(fact)]
        if dropped and fact.time_us < first:
            spent.append(fact)
        elif fact.table == round_.table and fact.time_us >= first:
            within += [fact] if fact.time_us < (end if dropped else last + 1) else []
    return Told(within, spent)
