"""Blackjack: what its module holds beside what Chapter 633a prints, word for word."""

from __future__ import annotations

from ledger import adjudicate
from tests.unit.games.rounds import lines, printed

EQUIVALENT = {
    "_first_two: [UNKNOWN_CARD] -> []": "cards that are not known, however many there are",
    "_first_two: 2 -> 1": "cards that are not known, however many there are",
    "_first_two: 2 -> 3": "cards that are not known, however many there are",
    "_pays: 0 -> 1": "both tables have the same rows",
    "_pays: 0 -> -1": "both tables have the same rows",
    "_straight_jack: [cards[0], t.cards['player', seat, 2][0]] -> "
    "[t.cards['player', seat, 2][0], cards[0]]": "two cards in a row have no order",
    "_pay_house_money: '7(g)(10)' -> '7(g)(10)(i)'": "those that lose were collected before",
}
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


def test_633a_6_f_7_11_what_the_holder_may_choose_and_how_many_decks_and_boxes_there_are() -> None:
    game = adjudicate.games()["blackjack"]
    assert (game.decks, game.positions, len(game.deck)) == (6, 7, 52)
    assert [(each.name, each.values[0], each.section) for each in game.options] == [
        ("decks", 6, "7"),
        ("soft_17", "stands", "7"),
        ("surrender", "first_two", "7"),
        ("split_hands", 4, "11"),
        ("double_split", True, "11"),
        ("resplit_aces", False, "11"),
        ("boxes", 7, "6(f)"),
        ("press_portion", "any_part", "7(g)(10)(ii)(A)"),
    ]
