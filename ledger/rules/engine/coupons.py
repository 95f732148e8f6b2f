"""Match Play Coupons (603a.21): batches, what is told of them, and how they lie with a wager.

Which facts of a property's coupons belong to a round is decided here, for the feed and the view
alike. Where the property has no batch on record, a coupon is judged by 603a.21 alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ledger.facts import CouponDropped, CouponRefused, CouponsIssued, WagerPlaced
from ledger.rules.engine.game import Reading
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.steps import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.facts import Coupon, FactCorrected
    from ledger.record.wire import Fact
    from ledger.rules.engine.game import Game
    from ledger.rules.engine.ruling import Settlement
    from ledger.values import RoundId

ON_PUSH = Reading(
    "coupon_on_push",
    ("returned", "dropped"),
    "603a.21(e)",
    "A coupon goes into the drop box whether its wager wins or loses; a push is not spoken of. "
    "`returned`: the patron has it back; `dropped`: it goes into the box as well.",
)
"""The reading that every game against the house has, beside its own."""

DROPPED = "603a.21(e)"


Redeemed = tuple["Coupon", "Settlement"]
"""A coupon, and what its wager came to."""

MOVED = (CouponDropped, CouponRefused)
"""Facts of a table that say what became of a coupon; they need not name its round."""

TOLD = (*MOVED, WagerPlaced)
"""Facts that may tell of a coupon."""

_NEVER = 2**63  # microseconds
_NUMBERED = re.compile(r"(.*?)(\d{0,18})", re.DOTALL)


class CouponBatch(NamedTuple):
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


def issued(facts: Iterable[Fact]) -> list[CouponBatch]:
    """The batches among facts, in order of issue."""
    found = [
        CouponBatch(fact.source.split("/")[1], fact.time_us, fact.source, fact.id, fact.body)
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


class RoundCoupons(NamedTuple):
    """What a property's tables tell of a round's serials, beside the round."""

    within: list[Fact]  # what became of them in the round: it belongs to its record
    spent: list[Fact]  # drops that came before it


def of_round(round_: RoundId, facts: Sequence[Fact], told: Iterable[Fact]) -> RoundCoupons:
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
    return RoundCoupons(within, spent)


def readings_of(game: Game) -> tuple[Reading, ...]:
    """The readings of a game: its own, and that of coupons where its players bet with the house."""
    return game.readings if game.pots else (*game.readings, ON_PUSH)


class KnownCoupons(NamedTuple):
    """What is known of the coupons of a round before it is played through."""

    batches: Sequence[CouponBatch] = ()
    refused: frozenset[str] = frozenset()
    spent: frozenset[str] = frozenset()  # serials that went into a box before the round

    def batch(self, serial: str) -> CouponBatch | None:
        """The batch of a serial; the one issued last, where there are several."""
        return next((each for each in reversed(self.batches) if each.holds(serial)), None)

    def faces(self, coupons: Iterable[Coupon]) -> tuple[int, int]:
        """Cents of coupons that win at the wager's odds, and cents that win even money.

        The face is the one issued; a coupon that was refused plays nothing.
        """
        odds = even = 0
        for coupon in self.in_play(coupons):
            batch = self.batch(coupon.serial)
            face = batch.terms.face if batch else coupon.face
            if batch and batch.terms.terms == "even_money":
                even += face
            else:
                odds += face
        return odds, even

    def in_play(self, coupons: Iterable[Coupon]) -> list[Coupon]:
        """Coupons that were not refused."""
        return [coupon for coupon in coupons if coupon.serial not in self.refused]


def known(
    batches: Sequence[CouponBatch], facts: Iterable[Fact], spent: Iterable[Fact] = ()
) -> KnownCoupons:
    """What is known of the coupons of a round: its facts, its property's batches, earlier drops."""
    return KnownCoupons(
        batches,
        frozenset(fact.body.serial for fact in facts if isinstance(fact.body, CouponRefused)),
        frozenset(fact.body.serial for fact in spent if isinstance(fact.body, CouponDropped)),
    )


def redeem(
    played: Sequence[Coupon],
    known: KnownCoupons,
    readings: Mapping[str, str | bool],
    of: Settlement,
) -> tuple[Settlement, list[Step]]:
    """The coupons that lay with a wager are used with it, and go into the box.

    Of a push, as the reading has it: then the settlement names it.
    """
    drops = [
        Step("coupon_dropped", DROPPED, what=coupon.serial, amount=sum(known.faces([coupon])))
        for coupon in played
        if is_dropped(readings, of)
    ]
    if not played or of.outcome != "push":
        return of, drops
    names = [of.reading, ON_PUSH.name] if of.reading else [ON_PUSH.name]
    value = as_json(readings[ON_PUSH.name])
    values = [str(of.reading_value), value] if of.reading else [value]
    return replace(of, reading=", ".join(names), reading_value=", ".join(values)), drops


def is_dropped(readings: Mapping[str, str | bool], of: Settlement) -> bool:
    """Whether a coupon goes into the box with what its wager came to."""
    pushed = of.outcome == "push" and readings[ON_PUSH.name] == "dropped"
    return pushed or of.outcome in ("win", "lose")
