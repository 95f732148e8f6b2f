"""Craps, 58 Pa. Code Chapter 623a, as far as it is printed: one shooter's hand a round.

Printed are Bonus Craps (3(a)(43), .12), the Lay Bet (3(a)(42)) and what may be taken down (.4).
Pass and Don't Pass are the standard game. On a come out roll, a 7 or 11 passes, 2, 3 and 12 do not,
and 12 is barred on Don't Pass. Otherwise the point must come before a 7. The seven-out ends the
round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import FeePaid, WagerMarked, WagerPlaced, WagerWithdrawn
from ledger.rules.engine.game import (
    DiceProcedures,
    Edition,
    Game,
    InPart,
    PlayerModel,
    Reading,
    Wager,
)
from ledger.rules.engine.odds import PUSH, paytable, row
from ledger.rules.engine.steps import Step, said

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.steps import Spot
    from ledger.rules.engine.table import Table

SEVEN, BARRED = 7, 12
NATURALS, CRAPS = frozenset({7, 11}), frozenset({2, 3, 12})


class LineBetsDecided(NamedTuple):
    """How the line bets were decided."""

    passes: bool
    barred: bool = False  # a 12 on a come out roll


PASS = paytable("pass", "5", [row("Pass Bet", lambda line: line.passes, "1 to 1")])
DONT_PASS = paytable(
    "dont_pass",
    "5",
    [
        row("Don't Pass Bet, 12 barred", lambda line: line.barred, PUSH),
        row("Don't Pass Bet", lambda line: not line.passes, "1 to 1"),
    ],
)


def _all_of(numbers: frozenset[int]) -> Callable[[Collection[int]], bool]:
    return lambda thrown: numbers <= set(thrown)


SMALL, TALL = frozenset({2, 3, 4, 5, 6}), frozenset({8, 9, 10, 11, 12})
# In any order and combination (12(6)).
BONUS = {
    "all_small": (
        SMALL,
        paytable("all_small", "5(h)(1)", [row("All Small Wager", _all_of(SMALL), "34 to 1")]),
    ),
    "all_or_nothing": (
        SMALL | TALL,
        paytable(
            "all_or_nothing",
            "5(h)(2)",
            [row("All Or Nothing At All Wager", _all_of(SMALL | TALL), "175 to 1")],
        ),
    ),
    "all_tall": (
        TALL,
        paytable("all_tall", "5(h)(3)", [row("All Tall Wager", _all_of(TALL), "34 to 1")]),
    ),
}


def _lay(number: int, odds: str) -> tuple[int, Paytable]:
    """A paytable of true odds on a 7 before the number (3(a)(42)(i))."""
    label = f"Lay Bet on {number}"
    return number, paytable(
        f"lay_{number}", "3(a)(42)", [row(label, lambda total: total == SEVEN, odds)]
    )


LAYS = {
    "lay_4": _lay(4, "1 to 2"),
    "lay_5": _lay(5, "2 to 3"),
    "lay_6": _lay(6, "5 to 6"),
    "lay_8": _lay(8, "5 to 6"),
    "lay_9": _lay(9, "2 to 3"),
    "lay_10": _lay(10, "1 to 2"),
}
LINE = {"pass": PASS, "dont_pass": DONT_PASS}
WAGERS = (*LINE, *LAYS, *BONUS)


class ShooterHand:
    """One shooter's hand so far."""

    def __init__(self) -> None:
        self.point: int | None = None
        self.thrown: list[int] = []  # totals thrown
        self.buttons: set[int] = set()  # numbers marked on the Bonus Craps area
        self.since: dict[Spot, int] = {}  # number of throws before each Bonus wager
        self.off: set[tuple[int, str]] = set()  # Lay Bets that are off
        self.down: set[int] = set()  # positions that took Don't Pass down
        self.laid: set[int] = set()  # positions that made a Lay Bet
        self.first: Fact | None = None  # the initial come out roll
        self.set_by: Fact | None = None  # the throw that set the point
        self.over = False


def play(t: Table) -> None:
    """One hand, from a new shooter's initial come out roll to the seven-out."""
    hand = ShooterHand()
    while not hand.over:
        placed, lay = _wager(t, hand)
        _call_off(t, hand)
        _vigorish(t, hand, _before_the_throw(t, "fee_paid"))
        fact, dice = t.throw("3(a)", dice=2)
        _within_posted(t, hand, placed, lay)
        hand.first = hand.first or fact
        hand.thrown.append(sum(dice))
        _mark(t, hand)
        _settle_bonus(t, hand)
        _settle_lays(t, hand)
        _settle_line(t, hand, fact)
    # A Lay Bet that is off when the dice pass on is not decided by this hand.
    for seat, wager in list(t.betting(*LAYS)):
        t.give_back(seat, wager, "3(a)(42)")
    _vigorish(t, hand, t.source.untaken("fee_paid"))


# -- wagers ----------------------------------------------------------------------------------------


def _before_the_throw(t: Table, name: str) -> list[Fact]:
    """Facts of this name that no step has taken, up to the next throw."""
    return t.source.untaken(name, ("dice_thrown",)) if t.source.untaken(name) else []


def _open(t: Table, hand: ShooterHand) -> tuple[str, ...]:
    """The wagers that may be made before the next throw."""
    if hand.point is not None:
        return tuple(LAYS)
    if hand.first is None or t.rules.readings["bonus_before"] == "any_come_out":
        return WAGERS
    return (*LINE, *LAYS)


def _wager(t: Table, hand: ShooterHand) -> tuple[list[Fact], dict[Spot, int | None]]:
    """Take wagers made, raised and taken down before the next throw (3(a), .4).

    Returns these facts, and what lay there before.
    """
    lay = dict(t.stakes)
    can = _open(t, hand)
    number = len(hand.thrown) + 1
    facts = t.wagers(can, "3(a)", throw=number)
    moved = {"wager_placed", "wager_withdrawn"}
    if any(_before_the_throw(t, name) for name in moved):
        facts += t.wagers([name for name in WAGERS if name not in can], "3(a)", throw=number)
    if hand.first is None:
        t.awaits(("pass",), "3(a)")
    else:
        for fact in facts:
            _judge(t, hand, fact, lay, can)
    for spot in t.stakes:
        seat, wager, _ = spot
        if wager in BONUS:
            hand.since.setdefault(spot, len(hand.thrown))
        elif wager in LAYS:
            hand.laid.add(seat)
    return facts, lay


def _within_posted(
    t: Table, hand: ShooterHand, facts: Sequence[Fact], lay: Mapping[Spot, int | None]
) -> None:
    """Hold what was made or changed to the posted minimum and maximum (3(b)(1)-(2), 5(j)).

    The throw closes betting, and chips that came too late count for nothing here.
    """
    can = _open(t, hand)
    for spot, cents in t.stakes.items():
        seat, wager, _ = spot
        if wager in can and lay.get(spot) != cents:
            t.within_posted(seat, wager, "3(b)(1)", "3(b)(2)", facts)


def _judge(
    t: Table, hand: ShooterHand, fact: Fact, lay: Mapping[Spot, int | None], can: Collection[str]
) -> None:
    """Find chips that may not be put down or taken back once the hand has begun."""
    body = fact.body
    if not isinstance(body, WagerPlaced | WagerWithdrawn):
        return
    seat, wager = body.position, body.wager
    up, placed = (seat, wager, 1) in lay, isinstance(body, WagerPlaced)
    if wager in BONUS and up:
        # It may never be raised or reduced: it stays until it is collected or paid.
        if isinstance(body, WagerWithdrawn):
            t.close([fact], hand.first, "4(c)(4)")
        elif t.new_chips(body, hand.first):
            why = "it is already placed, and may not be increased before it is decided"
            t.not_permitted(seat, wager, why, "4(c)(4)", (fact,))
    elif wager in LAYS and not placed:
        # Taken down whole, it is no longer off; another one is a new bet.
        hand.off -= (
            {(seat, wager)} if body.amount >= (lay.get((seat, wager, 1)) or body.amount) else set()
        )
    elif wager == "dont_pass" and not placed:
        hand.down.update([seat] if up else [])
    elif wager == "dont_pass" and seat in hand.down:
        why = "it may not be replaced or increased once it was taken down"
        t.not_permitted(seat, wager, why, "4(d)", (fact,))
    elif wager not in can:
        _late(t, hand, fact, wager, placed=placed)


def _late(t: Table, hand: ShooterHand, fact: Fact, wager: str, *, placed: bool) -> None:
    """Find a wager made, or a Pass Bet taken down, after the roll that closed it. It stays."""
    if wager in LINE:
        t.close([fact], hand.set_by, "3(a)" if placed else "4(c)(1)")
    elif t.rules.readings["bonus_before"] == "any_come_out":
        t.close([fact], hand.set_by, "3(a)(43)")
    else:
        t.close([fact], hand.first, "12(1)")


def _call_off(t: Table, hand: ShooterHand) -> None:
    """Note Lay Bets that are off. Without an `off` button they are active on every roll."""
    for fact in _before_the_throw(t, "wager_marked"):
        body = said(fact, WagerMarked)
        t.source.take(Step("wager_marked", "3(a)(42)", None, body.position, what=body.wager))
        spot = (body.position, body.wager)
        if body.state == "on":
            hand.off.discard(spot)
        elif (*spot, 1) in t.stakes:
            hand.off.add(spot)


def _vigorish(t: Table, hand: ShooterHand, charged: Sequence[Fact]) -> None:
    """Settle vigorish, only for a Lay Bet. Its rate is not printed: the charge stands (5(i))."""
    for fact in charged:
        body = said(fact, FeePaid)
        if body.fee == "vigorish" and body.position in hand.laid:
            t.fee(body.position, body.fee, body.amount, "5(i)", body.purpose)


# -- throws ----------------------------------------------------------------------------------------


def _mark(t: Table, hand: ShooterHand) -> None:
    """Mark the point with the puck, and each number seen by Bonus wagers with a button (12(3))."""
    total = hand.thrown[-1]
    if hand.point is None and total not in NATURALS | CRAPS:
        t.mark("point", total, "4(c)(1)")
    if total == SEVEN:
        hand.buttons.clear()
    elif total not in hand.buttons and any(t.betting(*BONUS)):
        hand.buttons.add(total)
        t.mark("bonus", total, "12(3)")


def _settle_bonus(t: Table, hand: ShooterHand) -> None:
    """Settle Bonus wagers: paid once complete (12(4)); any 7 takes them all (12(5))."""
    for seat, wager in list(t.betting(*BONUS)):
        needed, table = BONUS[wager]
        seen = hand.thrown[hand.since[seat, wager, 1] :]
        if seen[-1] == SEVEN or needed <= set(seen):
            del hand.since[seat, wager, 1]
            t.settle(seat, wager, table, seen, "12(5)", throw=t.throws)


def _settle_lays(t: Table, hand: ShooterHand) -> None:
    """Settle Lay Bets: a 7 wins and the number loses, on any roll; an off bet waits (3(a)(42))."""
    total = hand.thrown[-1]
    for seat, wager in list(t.betting(*LAYS)):
        number, table = LAYS[wager]
        if total in {SEVEN, number} and (seat, wager) not in hand.off:
            t.settle(seat, wager, table, total, "3(a)(42)(ii)", throw=t.throws)


def _settle_line(t: Table, hand: ShooterHand, fact: Fact) -> None:
    """Settle Pass and Don't Pass: on the come out roll, or by the point and the 7."""
    total, point = hand.thrown[-1], hand.point
    hand.over = point is not None and total == SEVEN
    if total not in (NATURALS | CRAPS if point is None else {point, SEVEN}):
        hand.point, hand.set_by = (total, fact) if point is None else (point, hand.set_by)
        return
    hand.point = None
    hand.down.clear()
    passes = total in NATURALS if point is None else total == point
    line = LineBetsDecided(passes, barred=point is None and total == BARRED)
    for seat, wager in list(t.betting(*LINE)):
        t.settle(seat, wager, LINE[wager], line, "3(a)", throw=t.throws)


GAME = Game(
    id="craps",
    title="Craps",
    editions=(Edition("623a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
    play=play,
    positions=16,
    deck=frozenset(),
    wagers=(
        Wager("pass", "Pass Bet", "3(a)"),
        Wager("dont_pass", "Don't Pass Bet", "3(a)"),
        *(
            Wager(wager, f"Lay Bet on {number}", "3(a)(42)", optional=True)
            for wager, (number, _) in LAYS.items()
        ),
        Wager("all_small", "All Small Wager", "3(a)(43)(i)", optional=True),
        Wager("all_or_nothing", "All Or Nothing At All Wager", "3(a)(43)(ii)", optional=True),
        Wager("all_tall", "All Tall Wager", "3(a)(43)(iii)", optional=True),
    ),
    paytables=(
        *LINE.values(),
        *(table for _, table in LAYS.values()),
        *(table for _, table in BONUS.values()),
    ),
    readings=(
        Reading(
            "bonus_before",
            ("new_shooter", "any_come_out"),
            "12(1)",
            "Bonus Craps wagers are made before a new shooter's initial come out roll (.12), or "
            "before any come out roll (.3(a)(43)). Either way only numbers thrown after a wager "
            "was made count for it.",
        ),
    ),
    irregularities={},
    procedures=DiceProcedures(inspected="603a.13(f)", changed=None, change_hours=None, dice=5),
    not_modelled={
        "2(d)(4)": InPart("Fire Bet"),
        "3(c)": "equipment",
        "4(c)(2)": InPart("Come Bet"),
        "4(c)(3)": InPart("Fire Bet"),
        "4(e)": "on camera, not in the feed",
        "12(2)": "on camera, not in the feed",
    },
    player_model=PlayerModel(
        sometimes={
            "pass": 500,
            "dont_pass": 120,
            **dict.fromkeys(LAYS, 25),
            **dict.fromkeys(BONUS, 120),
        },
        otherwise="pass",
        coupon="pass",
        chips={
            "lay_4": 1000,
            "lay_5": 1500,
            "lay_6": 3000,
            "lay_8": 3000,
            "lay_9": 1500,
            "lay_10": 1000,
        },
        closes=False,
    ),
    base=(
        "Pass and Don't Pass are made on come out rolls and pay 1 to 1. A 7 or 11 on a come out "
        "roll wins Pass; 2, 3 and 12 lose it. Don't Pass is the reverse, with 12 barred (a "
        "push). Any other number is the point, which must be thrown before a 7. A Lay Bet pays "
        "true odds: 1 to 2 on 4 and 10, 2 to 3 on 5 and 9, 5 to 6 on 6 and 8."
    ),
)
