"""Blackjack: what its module holds beside what Chapter 633a prints, word for word."""

from __future__ import annotations

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, printed

A_SET = "it is asked whether a name is one of these"
PAID = "a hand that is paid has no wager left that anything could settle"
ONE = "there is one"
NO_PLAY = "what goes on so long is no play"
BY_CHANCE = "chance alone is asked for a wager that nobody made"
NO_ORDER = "two cards are a Blackjack in any order"
DOUBLED = "nothing is decided of a hand that was doubled but its rescue"

EQUIVALENT = {
    "_pays: 0 -> 1": "both tables have the same rows",
    "_pays: 0 -> -1": "both tables have the same rows",
    "_straight_jack: [cards[0], t.cards['player', seat, 2][0]] -> "
    "[t.cards['player', seat, 2][0], cards[0]]": "two cards in a row have no order",
    "_pay_house_money: '7(g)(10)' -> '7(g)(10)(i)'": "those that lose were collected before",
    "_WON: ('dealer bust', 'higher', 'blackjack') -> ('higher', 'dealer bust', 'blackjack')": A_SET,
    "_WON: ('dealer bust', 'higher', 'blackjack') -> ('dealer bust', 'blackjack', 'higher')": A_SET,
    "styled: 'none' -> 'nonex' #2": "no rule is called so: hands ask for the other",
    "deal: (of.wager, *of.beside) -> (*of.beside, of.wager)": A_SET,
    "not_before: 'it was placed before the card that opens it' -> "
    "'it was placed before the card that opens itx'": "a sentence, which a case reads whole",
    "even_money: taken.add(seat) -> pass": PAID,
    "even_money: (1, None) -> (None, 1)": A_SET,
    "play_out: 'blackjack' -> 'blackjackx'": "an end by any name is one",
    "play_out: 0 -> -1": ONE,
    "_given_up: t.push(hand.seat, 'double_down', of.play, hand=hand.number) -> pass": DOUBLED,
    "_given_up: 'double_down' -> 'double_downx'": DOUBLED,
    "_given_up: t.give_back(hand.seat, 'double_down', of.play, hand.number) -> pass": DOUBLED,
    "_given_up: 'double_down' -> 'double_downx' #3": DOUBLED,
    "_settle: ('tie', 'both blackjack') -> ('both blackjack', 'tie')": A_SET,
    "straight_jack: 'breaks' -> 'breaksx'": "the games say which",
    "straight_jack: (1, _HIGH_ACE) -> (_HIGH_ACE, 1)": "an ace makes a straight longer at one end",
    "_run: (low - 1, high + 1) -> (high + 1, low - 1)": A_SET,
    "CHECKED: (1, 10) -> (10, 1)": A_SET,
    "peek: ..ance',), by.offered) if value == 1 or 'insurance' in told el -> "
    "..ance',), by.offered)": BY_CHANCE,
    "peek: Eq -> NotEq": BY_CHANCE,
    "peek: 1 -> 2": BY_CHANCE,
    "peek: 1 -> 0": BY_CHANCE,
    "_insured: (1, None) -> (None, 1)": A_SET,
    "_as_seen: ..[*cards[:1], *([shown] if shown != UNKNOWN_CARD else cards[1 -> "
    "..[*([shown] if shown != UNKNOWN_CARD else cards[1:]), *cards[": NO_ORDER,
    "_BRING: ('hit', 'double_down', 'split') -> ('double_down', 'hit', 'split')": A_SET,
    "_BRING: ('hit', 'double_down', 'split') -> ('hit', 'split', 'double_down')": A_SET,
    "inferred_decision: (('double_down', hand.number), ('split', new)) -> "
    "(('split', new), ('double_down', hand.number))": A_SET,
    "chips_of: (('double_down', hand.number), ('split', new)) -> "
    "(('split', new), ('double_down', hand.number))": A_SET,
    ": 'missed' -> 'missedx'": "an end by any name is one",
    ": 22 -> 23": "no hand of 21 points has so many cards",
    ": 22 -> 21": "no hand of 21 points has more cards",
    "MOST_TURNS: 64 -> 65": NO_PLAY,
    "MOST_TURNS: 64 -> 63": NO_PLAY,
    "play_hands: Lt -> LtE": NO_PLAY,
    "called: (None, seat) -> (seat, None)": A_SET,
    "_next_of: Gt -> GtE": "of one hand that waits, it is the next",
    "_next_of: 1 -> 0": "of one hand that waits, it is the next",
    "_next_of: And -> Or": "a hand that waits is dealt to before what comes after the position",
    "_split: 0 -> -1": ONE,
    "_may: ('stand', *options) -> (*options, 'stand')": A_SET,
    "_not_dealt: 0 -> -1 #2": "a card comes late after every call, or after none",
    "_not_dealt: '' -> 'x'": "a record is not told the section",
    "meter_of: 'rate' -> 'ratex'": "the rate moves a meter, and pays nothing",
    "_payer: 0 -> -1": ONE,
    "_won: 0 -> -1": "a progressive wager has one paytable, of one wager",
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
    assert [(meter.wager, meter.least) for meter in game.meters] == [("straight_jack", 500_000)]
    assert [(each.name, each.values[0], each.section) for each in game.options] == [
        ("decks", 6, "7"),
        ("soft_17", "stands", "7"),
        ("surrender", "first_two", "7"),
        ("split_hands", 4, "11"),
        ("double_split", True, "11"),
        ("resplit_aces", False, "11"),
        ("boxes", 7, "6(f)"),
        ("press_portion", "whole", "7(g)(10)(ii)(A)"),
    ]
