"""Double Attack Blackjack: what its module holds beside what Chapter 665a prints, word for word."""

from __future__ import annotations

from tests.unit.games.attack import GAME
from tests.unit.games.rounds import lines, printed

EQUIVALENT: dict[str, str] = {}
"""Mutants that change nothing, and why."""

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
