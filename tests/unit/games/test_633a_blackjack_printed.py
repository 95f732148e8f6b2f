"""Blackjack: what its module holds beside what Chapter 633a prints, word for word."""

from __future__ import annotations

from tests.unit.games.rounds import lines, printed

EQUIVALENT: dict[str, str] = {}
"""Mutants that change nothing, and why."""

LATER = {"insurance", "double_down", "split"}
"""Wagers made once cards are known: their edge is inside the Blackjack Wager's."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading."""

EDGES = "blackjack 0.4 house_money 9.7 straight_jack 24.9"
"""What the house keeps, per cent, under the default readings."""


def test_633a_6_13_the_tables_are_as_printed() -> None:
    assert printed("blackjack") == lines("""
        blackjack     6(e) Blackjack Wager
        insurance     8    Insurance Wager
        double_down   10   Double Down Wager
        split         11   wager on a split hand
        straight_jack 6(e)(11) Straight Jack Progressive Wager (optional)
        house_money   6(e)(12) House Money Wager (optional)
        [13(a) blackjack split double_down]
        Blackjack: 3 to 2
        Win: 1 to 1
        [8 even_money]
        Even money: 1 to 1
        [8 insurance]
        Insurance: 2 to 1
        [13(m)(1) straight_jack]
        Six-card straight with an ace of spades: 100% of meter and 200 to 1
        Six-card straight with an ace of diamonds, clubs or hearts: 10% of meter and 200 to 1
        Five-card straight: 200 to 1
        Four-card straight: 50 to 1
        Three-card straight: 15 to 1
        Two-card straight: 3 to 1
        [13(n)(1) house_money]
        Ace-king suited: 9 to 1
        Two-card straight flush: 5 to 1
        Pair: 3 to 1
        Two-card straight: 1 to 1
        Two-card straight: 1 to 1 if ace_king_is_straight is True
        [13(n)(2) house_money]
        Ace-king suited: 9 to 1
        Two-card straight flush: 4 to 1
        Pair: 3 to 1
        Two-card straight: 1 to 1
        Two-card straight: 1 to 1 if ace_king_is_straight is True
        press_includes_stake 7(g)(10)(ii)(A): false, true
        ace_king_is_straight 13(n): true, false
        repeated_rank 7(o)(3)(i): breaks, ignored
    """)
