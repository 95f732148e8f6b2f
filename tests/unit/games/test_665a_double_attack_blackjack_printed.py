"""Double Attack Blackjack: what its module holds beside what Chapter 665a prints, word for word."""

from __future__ import annotations

from ledger.adjudication import adjudicate
from tests.unit.games.attack import GAME
from tests.unit.games.rounds import lines, printed

NO_ORDER = "each wager asked for is settled in a step of its own; what may be is a set"
NO_THIRD_CARD = "a value that no row pays"
ASKED_BY_NAME = "the record is asked for wagers by name, and the source is not told the section"

EQUIVALENT = {
    "WON: ('dealer bust', 'higher', 'blackjack') -> "
    "('dealer bust', 'blackjack', 'higher')": NO_ORDER,
    "WON: ('dealer bust', 'higher', 'blackjack') -> "
    "('higher', 'dealer bust', 'blackjack')": NO_ORDER,
    "_decisions: (SURRENDERED, DEAD) -> (DEAD, SURRENDERED)": NO_ORDER,
    "_reader_misused: (*CHECKED, None) -> (None, *CHECKED)": NO_ORDER,
    "_settle: ('tie', 'both blackjack') -> ('both blackjack', 'tie')": NO_ORDER,
    "_surrender: (*BASE, 'split') -> ('split', *BASE)": NO_ORDER,
    "play: '6(d)' -> '6(e)'": ASKED_BY_NAME,
    "play: '7(e)' -> '7(f)' #3": ASKED_BY_NAME,
    "play: ('bet', 'bust_it') -> ('bust_it', 'bet')": NO_ORDER,
    "_COLORS: ({SUIT['8c'], SUIT['8s']}, {SUIT['8d'], SUIT['8h']}) -> "
    "({SUIT['8d'], SUIT['8h']}, {SUIT['8c'], SUIT['8s']})": NO_ORDER,
    "NOT_BUSTED: 0 -> 1": NO_THIRD_CARD,
    "NOT_BUSTED: 0 -> -1": NO_THIRD_CARD,
}
"""Mutants that change nothing, and why."""

SHARED = ("ledger/rules/hands/bust_it.py",)
"""The Bust It Wager, which its edge goes by too."""

LATER = {"double_attack", "insurance", "double_down", "split"}
"""Wagers made once cards are known: their edge is inside that of the Bet, or is the player's."""

FAVOURABLE = {"both_bust=tie": {"bet"}}
"""Wagers that the player gains on, by reading."""

EDGES = "bet 0.7 bust_it 8.0"
"""What the house keeps, per cent, under the default readings."""


def test_665a_6_12_13_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines("""
        bet           6(d)  Bet
        double_attack 6(e)  Double Attack Wager
        bust_it       6(f)  Bust It Wager (optional)
        insurance     8(a)  Insurance Wager
        double_down   10(a) Double Down Wager
        split         11(a) wager on a split hand
        [12(a) bet double_attack split double_down]
        Bet and Double Attack Wager: 1 to 1
        [12(b) insurance]
        Insurance Wager: 5 to 2
        [12(c) bust_it]
        8, 8, 8 of the same suit: 200 to 1
        8, 8, 8 of the same color: 50 to 1
        Is a 6: 15 to 1
        Is a 7: 10 to 1
        Is an 8: 8 to 1
        Is a 9: 6 to 1
        Is a king, queen or jack: 3 to 1
        both_bust 7(o)(1)(ii)(B): lose, tie
        surrender_double_down 9(b)(1): half, whole
        card_face_up             13(a): play on
        card_drawn_unexposed     13(b): play on
        card_drawn_exposed       13(c): play on
        dealer_overdrew          13(d): play on
        insufficient_cards       13(e): play on
        no_card_dealt            13(f): play on
        one_card_dealt           13(f): play on
        requested_card_not_dealt 13(g): play on
        card_reader_misused      13(h)(1): void
        card_reader_failed       13(i): play on
        shuffler_failed          13(j): play on
    """)


def test_665a_3_6_g_13_h_what_the_holder_may_choose_and_how_many_decks_and_boxes_there_are() -> (
    None
):
    game = adjudicate.games()[GAME]
    assert (game.decks, game.positions, len(game.deck)) == (8, 6, 48)
    assert [(each.name, each.values, each.section) for each in game.options] == [
        ("boxes", (6, 1, 2, 3, 4, 5), "6(g)"),
        ("card_reader", ("as_called", "shows", "hides"), "13(h)"),
    ]
