"""Match Play Coupons (603a.21): batches, the facts about coupons, and their part in a wager.

This module decides which coupon facts of a property belong to a round, for the feed and for the
view. If the property has no batch on record, a coupon is judged by 603a.21 alone.
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
    "A coupon goes into the drop box whether its wager wins or loses; the section is silent on a "
    "push. `returned`: the patron gets it back; `dropped`: it goes into the box as well.",
)
"""The reading of every game against the house, besides the game's own."""

DROPPED = "603a.21(e)"


Redeemed = tuple["Coupon", "Settlement"]
"""A coupon, and the settlement of its wager."""

MOVED = (CouponDropped, CouponRefused)
"""Facts about what became of a coupon. They need not name its round."""

TOLD = (*MOVED, WagerPlaced)
"""Facts that may name a coupon."""

_MAY_NAME: frozenset[type] = frozenset(TOLD)
_NEVER = 2**63  # microseconds
_NUMBERED = re.compile(r"(.*?)(\d{0,18})", re.DOTALL)


class CouponBatch(NamedTuple):
    """One batch of coupons as the office issued it."""

    property: str
    issued_us: int
    source: str
    id: str
    terms: CouponsIssued

    def holds(self, serial: str) -> bool:
        """Whether the batch contains a serial: the same letters, and a number in its range."""
        low, high = _parts(self.terms.serial_from), _parts(self.terms.serial_to)
        letters, number = _parts(serial)
        if number is None or low[1] is None or high[1] is None:
            return serial in (self.terms.serial_from, self.terms.serial_to)
        return low[0] == high[0] == letters and low[1] <= number <= high[1]


def _parts(serial: str) -> tuple[str, int | None]:
    match = _NUMBERED.fullmatch(serial)
    return (match[1], int(match[2]) if match[2] else None) if match else (serial, None)


def issued(facts: Iterable[Fact]) -> list[CouponBatch]:
    """The coupon batches in these facts, in order of issue."""
    found = [
        CouponBatch(fact.source.split("/")[1], fact.time_us, fact.source, fact.id, fact.body)
        for fact in facts
        if isinstance(fact.body, CouponsIssued)
    ]
    return sorted(found, key=lambda each: each[1:4])


def serials_of(
    facts: Iterable[Fact], made: Mapping[tuple[str, str], FactCorrected]
) -> frozenset[str]:
    """The serials in facts, as recorded and as corrected."""
    found: set[str] = set()
    for fact in facts:
        if fact.body.__class__ in _MAY_NAME:
            if serial := serial_of(fact):
                found.add(serial)
            if made and (correction := made.get((fact.source, fact.id))):
                found |= corrected_serials(correction)
    return frozenset(found)


def serial_of(fact: Fact) -> str | None:
    """The serial of the coupon that a fact plays, drops or refuses, or None."""
    body = fact.body
    if isinstance(body, WagerPlaced):
        return body.coupon.serial if body.coupon else None
    return body.serial if isinstance(body, MOVED) else None


def corrected_serials(correction: FactCorrected) -> set[str]:
    """The serials that a correction gives, if any."""
    data = correction.data or {}
    coupon = data.get("coupon")
    told = (data.get("serial"), coupon.get("serial") if isinstance(coupon, dict) else None)
    return {serial for serial in told if isinstance(serial, str)}


class RoundCoupons(NamedTuple):
    """Facts of a property's tables about a round's serials that do not name the round."""

    within: list[Fact]  # what became of the coupons in the round: part of its record
    spent: list[Fact]  # drops before the round


def of_round(round_: RoundId, facts: Sequence[Fact], told: Iterable[Fact]) -> RoundCoupons:
    """The facts of other rounds and tables that concern a round's coupons.

    A drop belongs to the round if it is at its table, after the round's first fact and before
    another round there plays the serial. A refusal belongs to it during play. A serial dropped
    anywhere before the round is spent.
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
    """The readings of a game. One against the house also has the reading of coupons."""
    return game.readings if game.pots else (*game.readings, ON_PUSH)


class KnownCoupons(NamedTuple):
    """The coupons of a round, as known before it is played through."""

    batches: Sequence[CouponBatch] = ()
    refused: frozenset[str] = frozenset()
    spent: frozenset[str] = frozenset()  # serials dropped into a box before the round

    def batch(self, serial: str) -> CouponBatch | None:
        """The batch of a serial. If there are several, the one issued last."""
        return next((each for each in reversed(self.batches) if each.holds(serial)), None)

    def faces(self, coupons: Iterable[Coupon]) -> tuple[int, int]:
        """Cents of coupons that win at the wager's odds, and cents that win even money.

        The face value is that of the batch. A refused coupon plays nothing.
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
    batches: Sequence[CouponBatch], refused: Iterable[Fact], spent: Iterable[Fact] = ()
) -> KnownCoupons:
    """The coupons of a round, from its refusals, the property's batches and earlier drops."""
    return KnownCoupons(
        batches,
        frozenset(fact.body.serial for fact in refused if isinstance(fact.body, CouponRefused)),
        frozenset(fact.body.serial for fact in spent if isinstance(fact.body, CouponDropped)),
    )


def redeem(
    played: Sequence[Coupon],
    known: KnownCoupons,
    readings: Mapping[str, str | bool],
    of: Settlement,
) -> tuple[Settlement, list[Step]]:
    """Use up the coupons of a settled wager: the settlement, and the drops it requires.

    On a push the reading decides, and the settlement names it.
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
    """Whether a coupon goes into the drop box after this outcome of its wager."""
    pushed = of.outcome == "push" and readings[ON_PUSH.name] == "dropped"
    return pushed or of.outcome in ("win", "lose")
