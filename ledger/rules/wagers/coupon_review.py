"""Findings about Match Play Coupons in play (603a.21): where one may lie, and its drop.

Batches come from the office. A coupon that is not permitted stays in the settlement, as chips do.
If the property has no batch on record, a coupon is judged by 603a.21 alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import (
    CouponDropped,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
from ledger.rules.engine.coupons import DROPPED, is_dropped
from ledger.rules.engine.ruling import FactRef, Finding, refs
from ledger.rules.engine.steps import POT
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.facts import Coupon
    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Spot
    from ledger.rules.engine.table import Table

LINES = {"craps": frozenset(("pass", "dont_pass"))}
"""Games whose coupons may lie on some wagers only: 603a.21(c)(2). Roulette, (c)(3), is no game of
the ledger."""


class Played(NamedTuple):
    """A coupon placed with a wager."""

    fact: Fact
    spot: Spot
    coupon: Coupon


def review(t: Table, facts: Sequence[Fact], gaming_day: str, *, closed: bool) -> list[Finding]:
    """Findings about the coupons of a round. Changes no settlement."""
    played = [each for each in _played(facts) if each.coupon.serial not in t.known.refused]
    if not played:
        return []
    found = [
        _not_permitted(t, each, why, section)
        for nth, each in enumerate(played)
        for why, section in (
            *_placing(t, facts, each),
            *_one_each(t, facts, played[:nth], each),
            *_spent(t, each),
            *_terms(t, each, gaming_day),
        )
    ]
    return [*found, *(_not_dropped(t, facts, played) if closed else ())]


def _played(facts: Iterable[Fact]) -> Iterator[Played]:
    """Each coupon of a wager once, in order, even if several facts name it."""
    seen = set()
    for fact in facts:
        body: Any = fact.body
        if body.__class__ is WagerPlaced and body.coupon:
            spot = (body.position, body.wager, body.hand)
            if (spot, body.coupon.serial) not in seen:
                seen.add((spot, body.coupon.serial))
                yield Played(fact, spot, body.coupon)


def _not_permitted(t: Table, each: Played, why: str, section: str) -> Finding:
    seat, wager, hand = each.spot
    return Finding(
        code="wager_not_permitted",
        position=seat,
        hand=hand,
        wager=wager,
        recorded=each.coupon.serial,
        section=section,
        says=f"Position {seat}'s coupon {each.coupon.serial} on {t.name(wager)} is not permitted: "
        f"{why} ({section}).",
        facts=[FactRef(each.fact.source, each.fact.id)],
    )


def _placing(t: Table, facts: Iterable[Fact], each: Played) -> Iterator[tuple[str, str]]:
    """Reasons against its place: not against the house, on a wrong wager, with too few chips."""
    game, (_, wager, _) = t.rules.game, each.spot
    if game.pots or wager == POT:
        yield "patrons do not wager against the house there", "603a.21(a)"
        return
    lines = LINES.get(game.id)
    if lines and wager not in lines:
        yield "it may lie on the Pass or Don't Pass Line only", "603a.21(c)(2)"
    face = t.known.faces([each.coupon])
    chips = _chips(t, facts, each)
    if chips < sum(face):
        yield f"{dollars(chips)} in chips is less than its {dollars(sum(face))}", "603a.21(b)"


def _chips(t: Table, facts: Iterable[Fact], each: Played) -> int:
    """Cents of chips that the coupon lay under, at most those at stake when its wager was decided.

    House Money pressed onto the wager came later. A stake decided earlier was without the coupon.
    """
    placed = 0
    for fact in facts:
        body = fact.body
        if isinstance(body, WagerPlaced):
            placed += body.amount if (body.position, body.wager, body.hand) == each.spot else 0
        elif isinstance(body, WagerWithdrawn):
            placed -= body.amount if (body.position, body.wager, 1) == each.spot else 0
    stakes = [of.stake for coupon, of in t.redeemed if coupon.serial == each.coupon.serial]
    return min([placed, *stakes])


def _one_each(
    t: Table, facts: Sequence[Fact], before: Iterable[Played], each: Played
) -> Iterator[tuple[str, str]]:
    """Reasons against a second coupon of a patron in a round of play, or of the same serial.

    A line bet of Craps that was decided before counts as a round of play of its own.
    """
    seat = each.spot[0]
    own = {seat, *t.source.seat_of(seat)}
    for other in before:
        again = t.rules.game.id in LINES and _decided_between(facts, other, each)
        if other.coupon.serial == each.coupon.serial or (other.spot[0] in own and not again):
            yield "its patron uses another in this round", "603a.21(d)"
            return


def _decided_between(facts: Sequence[Fact], first: Played, then: Played) -> bool:
    """Whether the first coupon's wager was decided before the second one was placed."""
    between = facts[facts.index(first.fact) : facts.index(then.fact)]
    moved = (WagerPaid, WagerCollected, WagerReturned)
    return any(
        isinstance(fact.body, moved)
        and (fact.body.position, fact.body.wager, fact.body.hand) == first.spot
        for fact in between
    )


def _spent(t: Table, each: Played) -> Iterator[tuple[str, str]]:
    """The reason against a coupon that went into a drop box before: it plays no other round."""
    if each.coupon.serial in t.known.spent:
        yield "it went into a drop box before", DROPPED


def _terms(t: Table, each: Played, gaming_day: str) -> Iterator[tuple[str, str]]:
    """Reasons against it by its batch: serials, games, last day, value (603a.20(c)(2)-(5))."""
    if not t.known.batches:
        return
    section = "603a.21(b)"
    batch = t.known.batch(each.coupon.serial)
    if batch is None:
        yield "no issued batch has its serial", section
        return
    terms = batch.terms
    if terms.games and t.rules.game.id not in terms.games:
        yield f"by its terms it is for {', '.join(terms.games)}", section
    if gaming_day > terms.expires:
        yield f"by its terms it expired after {terms.expires}", section
    if each.coupon.face != terms.face:
        was = f"{dollars(each.coupon.face)} on record"
        yield f"it was issued at {dollars(terms.face)}, and is {was}", section


def _not_dropped(t: Table, facts: Iterable[Fact], played: Sequence[Played]) -> Iterator[Finding]:
    """Findings about coupons that did not go into the box; on a push the reading decides."""
    dropped = {fact.body.serial for fact in facts if isinstance(fact.body, CouponDropped)}
    if t.source.may_be_lost:
        return  # the drop may be among the lost facts
    for coupon, of in t.redeemed:
        if coupon.serial in dropped or not is_dropped(t.rules.readings, of):
            continue
        told = [each.fact for each in played if each.coupon.serial == coupon.serial]
        yield Finding(
            code="coupon_not_dropped",
            position=of.position,
            hand=of.hand,
            wager=of.wager,
            throw=of.throw,
            expected="coupon_dropped",
            recorded=coupon.serial,
            section=DROPPED,
            says=f"Position {of.position}'s coupon {coupon.serial} on {t.name(of.wager)} did not "
            f"go into the drop box ({DROPPED}).",
            facts=refs(told),
        )
