"""Five Card Hi-Lo, 58 Pa. Code Chapter 663a, and before it 579: three cards high, two low.

Both chapters print the same rules, so a section without its chapter is in either. Points and
settings (6(a), 11(d), 11(e)) are `ledger.rules.hands.points`. The ranks of 6(b)(1)-(9) and 579.6(c)
are `ledger.rules.hands.poker`.
"""

from __future__ import annotations

from functools import partial
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.game import (
    Dealing,
    Edition,
    Game,
    Irregularity,
    Option,
    PlayerModel,
    Reading,
    Wager,
)
from ledger.rules.engine.odds import PUSH, Paytable, PaytableRow, paytable, row
from ledger.rules.engine.refused_wagers import gave_up, within_table
from ledger.rules.hands import points
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.points import FOUR_ACES, FOUR_ACES_AND_A_DEUCE, THREE_ACES, HiLo
from ledger.rules.hands.poker import CATEGORIES, hand_if_known, is_a, pair_of
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.rules.engine.table import Table


class Compared(NamedTuple):
    """A player's points less the dealer's."""

    high: int
    low: int


BASE = ("ante", "play")
# The points decide by 11(g)(1), and by 11(g)(3) for the two ties. Any other hand loses.
WIN = paytable(
    BASE,
    "12(a)",
    [row("High hand higher and low hand lower", lambda by: by.high > 0 > by.low, "1 to 1")],
)
TIE_HIGH = paytable(
    BASE,
    "11(g)(3)(i)",
    [row("High hand higher, low hand not lower", lambda by: by.high > 0 <= by.low, PUSH)],
)
TIE_LOW = paytable(
    BASE,
    "11(g)(3)(ii)",
    [row("Low hand lower, high hand not higher", lambda by: by.high <= 0 > by.low, PUSH)],
)


def for_1(label: str, printed: str) -> list[PaytableRow]:
    """A row printed "for 1" in both readings: paid in full, or less the stake it is paid on."""
    less = row(label, partial(eq, label), printed, ("bonus_for_1", "less_stake"))
    full = less._replace(ratio=less.ratio + 1, reading=("bonus_for_1", "full"))
    return [full, less]


def ante_bonus(letter: str, *printed: str) -> Paytable:
    """The table of 12(b): the highest row pays, in the order four aces and one 2, four, three."""
    labels = (FOUR_ACES_AND_A_DEUCE, FOUR_ACES, THREE_ACES)
    rows = [each for pair in zip(labels, printed, strict=True) for each in for_1(*pair)]
    return paytable("ante_bonus", "12(b)", rows, letter)


ANTE_BONUS = (
    ante_bonus("A", "1000 for 1", "100 for 1", "10 for 1"),
    ante_bonus("B", "500 for 1", "50 for 1", "5 for 1"),
    ante_bonus("C", "200 for 1", "50 for 1", "5 for 1"),
    ante_bonus("D", "100 for 1", "50 for 1", "5 for 1"),
)
TIE = paytable(
    "tie",
    "12(c)",
    [
        # Printed last. Both hands tied pay only by this row.
        row("Both high and low hands tie", lambda by: by.high == by.low == 0, "20 to 1"),
        row("Low hands tie", lambda by: by.low == 0, "4 to 1"),
        row("High hands tie", lambda by: by.high == 0, "4 to 1"),
    ],
)
WINNING = CATEGORIES[:1:-1]
"""Royal flush to two pair, 6(b)(1)-(8): the rows of 12(d) above the pairs."""


def poker_bonus(letter: str, lowest: str, *printed: str) -> Paytable:
    """A table of 12(d): a column of odds, and the lowest pair it pays 1 to 1."""
    rows = [row(name, is_a(name), odds) for name, odds in zip(WINNING, printed, strict=True)]
    rows.append(row(f"Pair of {lowest}s or better", pair_of(lowest), "1 to 1"))
    return paytable("poker_bonus", "12(d)", rows, letter)


A_ODDS = ("250 to 1", "50 to 1", "25 to 1", "15 to 1", "10 to 1", "8 to 1", "5 to 1", "3 to 1")
B_ODDS = ("500 to 1", "100 to 1", "40 to 1", "15 to 1", "8 to 1", "6 to 1", "4 to 1", "3 to 1")
# The print has lost which column each pair belongs to: ADR 0081.
POKER_BONUS = (poker_bonus("A", "7", *A_ODDS), poker_bonus("B", "6", *B_ODDS))

ONE_BY_ONE = (1, 2, 3, 4, 5)
MANUAL_SHOE = Dealing(announced="8(b)", dealt="8(d)", stub="8(h)", passes=ONE_BY_ONE)
DEALING = {
    "hand": Dealing(announced="9(a)(3)", dealt="9(b)", stub="9(f)", passes=ONE_BY_ONE),
    "automated_shoe": Dealing(announced="10(a)(2)", dealt="10(b)", stub="10(f)", passes=(5,)),
}
CARDS = 5
ALL = range(CARDS)
HANDS = {"high": 3, "low": 2}


def play(t: Table) -> None:
    """One round, from the Ante to the last Poker Bonus (11(j)(2)(i)) and hand racked."""
    opening = t.wagers(("ante", "tie", "poker_bonus"), "7(d)")
    t.awaits(("ante",), "7(d)")
    dealing = DEALING.get(t.dealt_from or "", MANUAL_SHOE)
    late = t.close(opening, t.announce("no_more_bets_called", dealing.announced), "7(c)")
    seats = _dealt_in(t, late)
    for count in dealing.passes:
        for seat in seats:
            t.deal("player", count, dealing.dealt, seat)
        dealers = t.deal("dealer", count, dealing.dealt)
    t.counted({("dealer", None): CARDS, **{("player", seat): CARDS for seat in seats}}, "13(c)")
    t.stub(len(DECK), dealing.stub)
    live = _ask(t, seats)
    hands = _set_hands(t, live)
    dealer = _dealer(t, dealers, compared=bool(hands))
    for seat in reversed(seats):
        several = _left(t, seat, "tie") and _left(t, seat, "poker_bonus")
        if seat in hands:
            _settle(t, seat, hands[seat], dealer)
        elif _left(t, seat, "poker_bonus"):
            t.turn("player", ALL, "11(j)(2)", seat)
        else:
            continue
        bonus = t.rules.paytable("poker_bonus", *POKER_BONUS)
        cards = t.cards["player", seat, 1]
        t.settle(seat, "poker_bonus", bonus, hand_if_known(cards), "11(j)(2)(ii)")
        t.discard("11(k)" if several else "11(i)", "player", seat)


def _left(t: Table, seat: int, wager: str) -> bool:
    """Whether a wager is still on the layout."""
    return (seat, wager) in t.betting(wager)


def _dealt_in(t: Table, late: set[tuple[int, str]]) -> list[int]:
    """The seats dealt in: an Ante, perhaps with optional wagers (7(d)-(e), 8(d)).

    A late Ante is in play if the dealer dealt to it, else it goes back.
    """
    within_table(t, "2(a)")
    seats = []
    for seat in t.positions(dealt_to=True):
        lost = t.lost_before_deal(seat)
        if lost:
            t.presume(seat, ("ante",), "7(d)")
        if (seat, "ante") in late and not t.dealt_to(seat):
            t.give_back(seat, "ante", "7(c)")
        elif _left(t, seat, "ante"):
            seats.append(seat)
            continue
        for wager, section in (("tie", "7(e)(1)"), ("poker_bonus", "7(e)(2)")):
            if _left(t, seat, wager):
                t.not_permitted(seat, wager, "it stands without an Ante", section)
                t.give_back(seat, wager, section)
    if not t.rules.options["adjacent_boxes"]:
        t.one_position_each(seats, "ante", "7(f)")
    return seats


def _ask(t: Table, seats: list[int]) -> list[int]:
    """Ask each player for a Play Wager or a fold; then collect what was given up."""
    live = []
    for seat in seats:
        ante = t.stake(seat, "ante")
        shows = not _left(t, seat, "poker_bonus")
        if gave_up(t, seat, ("play",), "11(b)"):
            continue
        if t.offer(seat, "play", [ante] if ante else (), "11(b)", turns_show=shows) is not None:
            live.append(seat)
    for seat in seats:
        if seat not in live:
            _forfeit(t, seat)
    return live


def _forfeit(t: Table, seat: int) -> None:
    """Collect a hand without a Play Wager, but not its Poker Bonus and cards (11(b)(1)-(2))."""
    if t.left_table(seat):
        t.forfeit(seat, "7(b)")
        return
    if t.rules.readings["ante_bonus_after_fold"]:
        _pay_ante_bonus(t, seat, t.stake(seat, "ante"), ("ante_bonus_after_fold",))
    t.collect(seat, "ante", "11(b)")
    t.collect(seat, "tie", "11(b)(1)")
    if not _left(t, seat, "poker_bonus"):
        t.discard("11(c)", "player", seat)


def _set_hands(t: Table, live: list[int]) -> dict[int, Mapping[str, Sequence[str]] | None]:
    """Each player's setting. Only two hands of one player have an order of setting."""
    hands = {}
    for seat in t.in_order_set(live, "ante", "7(f)"):
        if t.left_table(seat) and not t.source.plays_on(seat, turns_show=False):
            t.forfeit(seat, "7(b)")
        else:
            cards = t.cards["player", seat, 1]
            hands[seat] = t.set_hand(
                "player", HANDS, "11(d)", seat, ways=points.hi_lo_ways(cards, ace_low=True)
            )
    return hands


def _dealer(t: Table, cards: list[str], *, compared: bool) -> HiLo | None:
    """The dealer's points. 11(e) leaves him no choice: his cards decide, however he set them.

    If no hand is left to compare, he may still turn and set his own.
    """
    if compared:
        t.turn("dealer", ALL, "11(e)")
    else:
        t.may_turn("dealer", ALL, "11(e)")
    ways = points.hi_lo_ways(cards, ace_low=False)
    hands = t.set_hand("dealer", HANDS, "11(e)", ways=ways, must=compared)
    due = points.dealer_hi_lo_if_known(cards)
    told = points.hi_lo_as_set(hands, cards) if hands else None
    if due and told and told != due:
        _misset(t, None, told, (due,), "11(e)")
    return due


def _settle(
    t: Table, seat: int, hands: Mapping[str, Sequence[str]] | None, dealer: HiLo | None
) -> None:
    """Settle a player's hands: Ante and Play, Ante Bonus, Tie Wager (11(j)(1)(i))."""
    t.turn("player", ALL, "11(f)", seat)
    found, readings = _points(t, seat, hands)
    by = Compared(found.high - dealer.high, found.low - dealer.low) if found and dealer else None
    tables = (WIN, TIE_HIGH, TIE_LOW)
    table = next((each for each in tables if by and each.pays(by, t.rules.readings)), WIN)
    ante = t.stake(seat, "ante")
    for wager in BASE:
        t.settle(seat, wager, table, by, "11(g)(2)", readings=readings)
    _pay_ante_bonus(t, seat, ante, ())
    t.settle(seat, "tie", TIE, by, "11(j)(1)(ii)", readings=readings)


def _pay_ante_bonus(t: Table, seat: int, ante: int, readings: tuple[str, ...]) -> None:
    """Pay the Ante Bonus for three aces or more, whatever happens to the Ante (11(h))."""
    table = t.rules.paytable("ante_bonus", *ANTE_BONUS)
    aces = points.aces_bonus_if_known(t.cards["player", seat, 1])
    t.pay_beside(seat, "ante_bonus", ante, table, aces, readings=readings)


def _points(
    t: Table, seat: int, hands: Mapping[str, Sequence[str]] | None
) -> tuple[HiLo | None, tuple[str, ...]]:
    """A player's points, and the readings that decide them: he may put one ace low (11(d)).

    Hands set otherwise are reset with the ace where he had it, or stand: the reading decides.
    """
    cards = t.cards["player", seat, 1]
    allowed = points.player_hi_lo_if_known(cards) or ()
    resets = t.rules.readings["misset"] == "reset"
    told = points.hi_lo_as_set(hands, cards) if hands else None
    if told is None:
        # Without an ace there is one setting, and any other is reset.
        return (allowed[0], ("misset",)) if len(allowed) == 1 and resets else (None, ())
    if told in allowed or not allowed:
        return told, ()
    _misset(t, seat, told, allowed, "11(d)")
    ace_low = hands is not None and any(card[0] == "A" for card in hands["low"])
    return (allowed[-1 if ace_low else 0] if resets else told), ("misset",)


def _misset(
    t: Table, seat: int | None, told: HiLo, allowed: tuple[HiLo, ...], section: str
) -> None:
    """Find hands set as the section does not allow."""
    who = f"Position {seat}" if seat else "The dealer"
    due, was = (" or ".join(f"{p.high} and {p.low}" for p in each) for each in (allowed, (told,)))
    says = f"{who} set {was} points; {t.rules.section(section)} makes it {due}."
    facts = [fact for step, fact in t.taken if (step.fact, step.position) == ("hand_set", seat)]
    t.find("hand_misset", says, section, facts=facts, position=seat, expected=due, recorded=was)


GAME = Game(
    id="five_card_hi_lo",
    title="Five Card Hi-Lo",
    editions=(
        Edition("579", "temporary", "2012-09-15", "2014-09-15", "42 Pa.B. 5865, Doc. No. 12-1794"),
        Edition("663a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),
    ),
    play=play,
    positions=6,
    deck=frozenset(DECK),
    wagers=(
        Wager("ante", "Ante", "7(d)"),
        Wager("play", "Play Wager", "11(b)"),
        Wager("tie", "Tie Wager", "7(e)(1)", optional=True),
        Wager("poker_bonus", "Poker Bonus", "7(e)(2)", optional=True),
    ),
    paytables=(WIN, TIE_HIGH, TIE_LOW, *ANTE_BONUS, TIE, *POKER_BONUS),
    readings=(
        Reading(
            "ante_bonus_after_fold",
            (False, True),
            "11(h)",
            "The Ante Bonus is paid whatever becomes of Ante and Play; the text does not say of "
            "whom it is where no Play Wager was made. `false`: a hand given up has none.",
        ),
        Reading(
            "bonus_for_1",
            ("full", "less_stake"),
            "12(b)",
            "The odds are printed `for 1`, though there is no stake beside the Ante. `full`: "
            "10 for 1 pays 10 beside the Ante; `less_stake`: 9, as `for 1` counts a stake.",
        ),
        Reading(
            "misset",
            ("reset", "as_set"),
            "11(d)",
            "The text does not say what becomes of hands that a player set as it does not allow. "
            "`reset`: the dealer puts them right, an ace left in the hand it was in; `as_set`: "
            "they stand. The dealer's own are put right in any case (11(e)).",
        ),
    ),
    irregularities={
        **common_card_rules.irregularities("13(a)", "13(b)", "13(c)", "13(d)", "13(e)"),
        "card_missing": Irregularity(
            "8(h)",
            void=True,
            says="void, wagers back; the deck is removed unless it was a misdeal",
            by_dealing={"hand": "9(f)", "automated_shoe": "10(f)"},
        ),
    },
    procedures=common_card_rules.CARE._replace(
        stub={"manual_shoe": "8(f)", "hand": "9(d)", "automated_shoe": "10(d)"},
        device_covered="13(f)",
        preshuffled_cut=False,  # 5(c)(2) requires a cut after a shuffle by hand, and names no other
    ),
    not_modelled={
        **common_card_rules.NOT_MODELLED,
        **dict.fromkeys(
            ("3(b)(4)", "8(c)", "8(e)", "8(g)", "9(c)", "9(e)"), "on camera, not in the feed"
        ),
        **dict.fromkeys(("10(c)", "10(e)", "11(a)", "11(l)"), "on camera, not in the feed"),
    },
    player_model=PlayerModel(always=("ante",), sometimes={"tie": 350, "poker_bonus": 350}, hole=5),
    options=(
        Option(
            "adjacent_boxes",
            (True, False),
            "7(f)",
            "`true`: a player may wager on two adjacent betting areas, the larger wager's hand set "
            "first, of equal ones counterclockwise. `false`: on one.",
        ),
    ),
)
