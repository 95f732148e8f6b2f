"""Criss-Cross Poker, 58 Pa. Code Chapter 592: two hands across one cross of five cards.

Sections: wagers (.7), play (.8-.11), payouts (.12), irregularities (.13). The ranks of 6(a) and
6(b)(1)-(9) are `ledger.rules.hands.poker`. The community cards are numbered in dealing order: far
box, row left, row middle, row right, near box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.engine.game import (
    Dealing,
    Edition,
    Game,
    Irregularity,
    PlayerModel,
    Reading,
    Wager,
)
from ledger.rules.engine.odds import PUSH, paytable, row
from ledger.rules.engine.refused_wagers import gave_up, within_table
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    TWO_PAIR,
    hand_if_known,
    is_a,
    pair_of,
    pair_or_better,
)
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table

ANTE = paytable(
    ("ante_across", "ante_down"),
    "12(a)",
    [
        row("Pair of jacks or better", pair_or_better("J"), "1 to 1"),
        row("Pair of 6s through 10s", pair_of("6", "T"), PUSH),
    ],
)
BET = paytable(
    ("across", "down", "middle"),
    "12(b)",
    [
        row("Royal flush", is_a(ROYAL_FLUSH), "500 to 1"),
        row("Straight flush", is_a(STRAIGHT_FLUSH), "100 to 1"),
        row("Four-of-a-kind", is_a(FOUR_OF_A_KIND), "40 to 1"),
        row("Full house", is_a(FULL_HOUSE), "12 to 1"),
        row("Flush", is_a(FLUSH), "8 to 1"),
        row("Straight", is_a(STRAIGHT), "5 to 1"),
        row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "3 to 1"),
        row("Two pair", is_a(TWO_PAIR), "2 to 1"),
        row("Pair of 10s, jack, queens, kings or aces", pair_of("J"), "1 to 1"),
        # A pair of 10s is printed in both rows; the reading decides (ADR 0020).
        row(
            "Pair of 10s, jack, queens, kings or aces",
            pair_of("T", "T"),
            "1 to 1",
            ("pair_of_tens", "one_to_one"),
        ),
        row("Pair of 6s through 10s", pair_of("T", "T"), PUSH, ("pair_of_tens", "push")),
        row("Pair of 6s through 10s", pair_of("6", "9"), PUSH),
    ],
)
BONUS = paytable(
    "five_card_bonus",
    "12(c)",
    [
        row("Royal flush", is_a(ROYAL_FLUSH), "250 to 1"),
        row("Straight flush", is_a(STRAIGHT_FLUSH), "100 to 1"),
        row("Four-of-a-kind", is_a(FOUR_OF_A_KIND), "40 to 1"),
        row("Full house", is_a(FULL_HOUSE), "15 to 1"),
        row("Flush", is_a(FLUSH), "10 to 1"),
        row("Straight", is_a(STRAIGHT), "6 to 1"),
        row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "4 to 1"),
        row("Two pair", is_a(TWO_PAIR), "3 to 1"),
        row("Pair of 6s or better", pair_of("6"), "1 to 1"),
    ],
)

MANUAL_SHOE = Dealing(announced="8(b)", dealt="8(d)", stub="8(h)", passes=(1, 2))
DEALING = {
    "hand": Dealing(announced="9(a)(3)", dealt="9(b)", stub="9(f)", passes=(1, 2)),
    "automated_shoe": Dealing(announced="10(a)(2)", dealt="10(b)", stub="10(f)", passes=(2,)),
}
# The bet, the Antes that measure it, its paragraph, the cards turned after it, their paragraph.
STREETS = (
    ("across", ("ante_across",), "11(b)", (1, 3), "11(c)"),
    ("down", ("ante_down",), "11(d)", (0, 4), "11(e)"),
    ("middle", ("ante_across", "ante_down"), "11(f)", (2,), "11(g)"),
)
ANTES = ("ante_across", "ante_down")
BETS = ("across", "down", "middle")
MULTIPLES = (1, 2, 3)
ROW, COLUMN = (1, 2, 3), (0, 2, 4)
# The boxes of each hand and its losing paragraph. 11(h)(1)(ii), 11(h)(2)(ii) leave wins to .12.
LINES = (
    ("across", ROW, "11(h)(1)(i)"),
    ("down", COLUMN, "11(h)(2)(i)"),
)


def play(t: Table) -> None:
    """One round, from the Antes to the last hand in the discard rack."""
    opening = t.wagers(("ante_across", "ante_down", "five_card_bonus"), "7(d)")
    t.awaits(("ante_across", "ante_down"), "7(d)")
    dealing = DEALING.get(t.dealt_from or "", MANUAL_SHOE)
    late = t.close(opening, t.announce("no_more_bets_called", dealing.announced), "7(c)")
    seats = _dealt_in(t, late)
    cross = t.deal("community", 5, dealing.dealt)
    hole: dict[int, list[str]] = {}
    for count in dealing.passes:
        for seat in seats:
            hole[seat] = t.deal("player", count, dealing.dealt, seat)
    t.counted({("community", None): 5, **{("player", seat): 2 for seat in seats}}, "13(c)")
    t.unexposed("community", "13(d)")
    t.stub(len(DECK), dealing.stub)
    live = seats
    for bet, antes, asked, cards, turned in STREETS:
        live, placed = _ask(t, live, bet, antes, asked)
        if not live and not any(t.betting("five_card_bonus")):
            return
        t.close(placed, t.turn("community", cards, turned, early="13(d)"), asked)
    for seat in reversed(seats):
        if seat in live:
            t.turn("player", (0, 1), "11(g)", seat)
            _settle_hands(t, seat, hole[seat], cross)
        t.settle(seat, "five_card_bonus", BONUS, hand_if_known(cross), "11(h)(5)")
        if seat in live:
            t.discard("11(i)", "player", seat)


def _dealt_in(t: Table, late: set[tuple[int, str]]) -> list[int]:
    """The seats dealt in: two equal Antes, perhaps with a Five Card Bonus (7(d)-(e), 8(d)).

    Late Antes are in play if the dealer dealt to them, else they go back (7(c)).
    """
    within_table(t, "2(a)")
    seats = []
    for seat in t.positions(dealt_to=True):
        across, down = t.stake(seat, "ante_across"), t.stake(seat, "ante_down")
        lost = t.lost_before_deal(seat)
        if across != down and not (lost and 0 in (across, down)):
            larger = "ante_across" if across > down else "ante_down"
            t.not_permitted(seat, larger, "the two Antes are not equal", "7(d)")
        if lost:
            t.presume(seat, ANTES, "7(d)")
        in_time = not any((seat, ante) in late for ante in ANTES)
        if (lost or (across and down)) and (in_time or t.dealt_to(seat)):
            seats.append(seat)
            continue
        for ante in ANTES:
            t.give_back(seat, ante, "7(d)" if in_time else "7(c)")
        if t.stake(seat, "five_card_bonus"):
            t.not_permitted(seat, "five_card_bonus", "it stands without the Antes", "7(e)")
            t.give_back(seat, "five_card_bonus", "7(e)")
    t.one_position_each(seats, "ante_across", "7(g)")
    return seats


def _ask(
    t: Table, seats: list[int], bet: str, antes: tuple[str, ...], asked: str
) -> tuple[list[int], list[Fact]]:
    """Ask each player clockwise for a bet. A hand without it is forfeited, except its bonus."""
    live: list[int] = []
    placed: list[Fact] = []
    for seat in seats:
        # A lost Ante is as large as the other one (7(d)).
        units = [t.stake(seat, ante) for ante in antes] + [t.stake(seat, ante) for ante in ANTES]
        known = {unit for unit in units[: len(antes)] if unit} or {unit for unit in units if unit}
        choices = sorted({times * unit for unit in known for times in MULTIPLES})
        folded = gave_up(t, seat, BETS[BETS.index(bet) :], asked)
        facts = None if folded else t.offer(seat, bet, choices, asked)
        if facts is not None:
            live.append(seat)
            placed += facts
        elif t.left_table(seat):
            t.forfeit(seat, "7(b)")
        else:
            t.forfeit(seat, asked, keep=("five_card_bonus",))
    return live, placed


def _settle_hands(t: Table, seat: int, hole: list[str], cross: list[str]) -> None:
    """Settle a player's two hands, and the Middle Bet on the higher of them (11(h)(1)-(4))."""
    hands = []
    for line, boxes, lost in LINES:
        hand = hand_if_known([*hole, *(cross[box] for box in boxes)])
        hands.append(hand)
        t.settle(seat, f"ante_{line}", ANTE, hand, lost)
        t.settle(seat, line, BET, hand, lost)
    across, down = hands
    higher = None if across is None or down is None else max(across, down)
    t.settle(seat, "middle", BET, higher, "11(h)(3)")


GAME = Game(
    id="criss_cross_poker",
    title="Criss-Cross Poker",
    editions=(
        Edition("592", "temporary", "2014-07-12", "2016-07-12", "44 Pa.B., Doc. No. 14-1427"),
    ),
    play=play,
    positions=6,
    deck=frozenset(DECK),
    wagers=(
        Wager("ante_across", "Ante Across", "7(d)"),
        Wager("ante_down", "Ante Down", "7(d)"),
        Wager("across", "Across Bet", "7(f)"),
        Wager("down", "Down Bet", "7(f)"),
        Wager("middle", "Middle Bet", "7(f)"),
        Wager("five_card_bonus", "Five Card Bonus", "7(e)", optional=True),
    ),
    paytables=(ANTE, BET, BONUS),
    readings=(
        Reading(
            "pair_of_tens",
            ("push", "one_to_one"),
            "12(b)",
            "The table prints a pair of 10s in the row that pays 1 to 1 and in the row that "
            "pushes. `push` follows 592.12(a), where 10s push; `one_to_one` the first row.",
        ),
    ),
    irregularities={
        "card_face_up": Irregularity(
            "13(a)", void=False, says="not used, to the discard rack; a second voids", once=True
        ),
        "cards_face_up": Irregularity("13(a)", void=True, says=common_card_rules.VOID),
        "card_drawn_unexposed": Irregularity("13(b)", void=False, says="used as the next card"),
        "wrong_card_count": Irregularity("13(c)", void=True, says=common_card_rules.VOID),
        "community_card_exposed": Irregularity("13(d)", void=True, says=common_card_rules.VOID),
        "shuffler_failed": Irregularity("13(e)", void=False, says="the cards are reshuffled"),
        "dealing_shoe_failed": Irregularity(
            "13(f)", void=True, says=common_card_rules.VOID, only="automated_shoe"
        ),
        "card_missing": Irregularity(
            "8(h)",
            void=True,
            says="void, wagers back; the deck is removed unless it was a misdeal",
            by_dealing={"hand": "9(f)", "automated_shoe": "10(f)"},
        ),
    },
    procedures=common_card_rules.CARE._replace(
        stub={"manual_shoe": "8(f)", "hand": "9(d)", "automated_shoe": "10(d)"},
        device_covered="13(g)",
    ),
    not_modelled={
        "2(b)": "equipment",
        "2(c)": "equipment",
        "2(d)": "equipment",
        "3(a)": "equipment",
        "3(b)(1)": "equipment",
        "3(b)(2)": "on camera, not in the feed",
        "3(b)(4)": "on camera, not in the feed",
        "5(f)": "on camera, not in the feed",
        "7(a)": "on camera, not in the feed",
        "8(a)": "equipment",
        "8(c)": "on camera, not in the feed",
        "8(e)": "on camera, not in the feed",
        "8(g)": "on camera, not in the feed",
        "9(a)(1)": "equipment",
        "9(a)(2)": "on camera, not in the feed",
        "9(c)": "on camera, not in the feed",
        "9(e)": "on camera, not in the feed",
        "10(a)(1)": "on camera, not in the feed",
        "10(c)": "on camera, not in the feed",
        "10(e)": "on camera, not in the feed",
        "11(a)": "on camera, not in the feed",
    },
    player_model=PlayerModel(
        always=("ante_across", "ante_down"),
        sometimes={"five_card_bonus": 350},
        hole=2,
        stays="middle",
    ),
)
