"""Asia Poker: what its module holds beside what Chapter 659a prints, word for word."""

from __future__ import annotations

import random
from dataclasses import replace
from math import comb

from ledger.adjudication import adjudicate
from ledger.adjudication.submissions import in_force
from ledger.edges import NO_DAY, edges_under
from ledger.edges import asia_poker as counted
from ledger.rules.hands.cards import DECK, RANK, SUIT
from ledger.rules.hands.joker import (
    ASIA_BONUS,
    EIGHTS_AND_TRIPS,
    EIGHTS_AND_TRIPS_WITH_JOKER,
    FIVE_ACES,
    JOKER,
    NINE_HIGH,
    asia_bonus,
)
from tests.unit.games.asia import GAME
from tests.unit.games.rounds import lines, printed

BY_NAME = "the record is asked by name, and the source is not told the section"
CHANCE = "only a source that deals by chance asks how hands are set, or would decide at once"
NO_ORDER = "a set of names, or of cards"
ONCE = "a player surrenders once, and his hands are turned once"

EQUIVALENT: dict[str, str] = {
    ": 1 -> 0": "who is to have no card yet is dealt none",
    "GAME: (*DECK, JOKER) -> (JOKER, *DECK)": NO_ORDER,
    "play: ('asia_poker', 'bonus') -> ('bonus', 'asia_poker')": NO_ORDER,
    "play: '7(d)' -> '7(e)'": BY_NAME,
    "_named: (hands, dealer) -> (dealer, hands)": NO_ORDER,
    "_named: In -> NotIn": "it saves work where no joker lies; one hand of the two never has it",
    "_fouled: LtE -> Lt": "a hand of four cards never equals one of two",
    "_surrenders: 0 -> -1": ONCE,
    "_surrenders: 0 -> -1 #2": ONCE,
    "_void_exposed: '13(d)' -> '13(e)'": BY_NAME,
    "_ways: 'hands' -> 'handsx'": CHANCE,
    "_not_permitted: '11(d)' -> '11(e)'": BY_NAME,
    "_dealer: 'hands' -> 'handsx'": CHANCE,
    "_dealer: 1 -> 0 #2": CHANCE,
    "_dealer: 1 -> 2 #2": CHANCE,
    "_dealer: [{'hands': highest_high(cards, _how(t))[1]}] -> []": CHANCE,
}
"""Mutants that change nothing, and why."""

EDGES = "asia_poker 5.6 bonus 5.8"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading: none."""

LATER: set[str] = set()
"""Wagers made once a card is known: none."""


def bonus(letter: str, natural: str, fours: str) -> str:
    """The Bonus Wager's table as it is printed, with the two rows that differ."""
    del letter
    return f"""
        [12(b) bonus]
        Three-of-a-kind and four 8s: 5000 to 1
        Three-of-a-kind and four 8s: 5000 to 1 if trips_and_888_joker is allowed
        Five aces: 800 to 1
        Royal flush: 200 to 1
        Natural straight flush: {natural}
        Straight flush with a joker: 40 to 1
        Four-of-a-kind: {fours}
        Four-of-a-kind: {fours} if trips_and_888_joker is not_allowed
        9-high: 10 to 1
        Full house: 5 to 1
        Flush: 4 to 1
        Three-of-a-kind: 3 to 1
        Straight: 2 to 1
    """


def test_659a_7_12_13_the_tables_are_as_printed() -> None:
    tables = bonus("A", "80 to 1", "30 to 1") + bonus("B", "50 to 1", "30 to 1")
    assert printed(GAME) == lines(
        """
        asia_poker 7(d) Asia Poker Wager
        bonus 7(e) Bonus Wager (optional)
        [12(a) asia_poker]
        Asia Poker Wager: 1 to 1
        """
        + tables
        + bonus("C", "50 to 1", "25 to 1")
        + """
        joker_in_flush 6(a): highest_absent, ace
        trips_and_888_joker 6(d)(1): allowed, not_allowed
        card_face_up 13(f): one only
        cards_face_up 13(f): void
        card_drawn_unexposed 13(g): play on
        wrong_card_count 13(h): void
        shuffler_failed 13(l): play on
        dealing_shoe_failed 13(m): void (automated_shoe)
        dice_mistotalled 13(c): void
        player_card_exposed 13(d): play on
        dealer_card_exposed 13(e): void
        dealer_hand_misset 13(i): play on
        card_missing 8(e), hand 9(d), automated_shoe 10(d): void
        """
    )


def test_659a_2_a_3_a_6_positions_53_cards_and_what_the_holder_chooses() -> None:
    game = adjudicate.games()[GAME]
    assert (game.positions, len(game.deck)) == (6, 53)
    assert [(each.name, each.values, each.section) for each in game.options] == [
        ("ace_low_straight", ("as_printed", "lowest"), "6(b)(6)"),
        ("house_way", ("as_recorded", "highest_high"), "11(c)"),
        ("adjacent_boxes", (True, False), "7(f)"),
    ]


def test_659a_6_d_every_hand_of_seven_is_counted_once_by_the_name_the_game_gives_it() -> None:
    assert sum(counted.HANDS.values()) == comb(53, 7)
    assert set(counted.HANDS) == set(ASIA_BONUS)
    chance = random.Random(659)  # noqa: S311 - repeatable
    for _ in range(100):
        seven = chance.sample([*DECK, JOKER], 7)
        suits = [0, 0, 0, 0]
        for card in seven:
            if card != JOKER:
                suits[SUIT[card]] |= 1 << RANK[card]
        assert counted.named(suits, seven.count(JOKER)) == asia_bonus(seven).category, seven


def test_659a_6_d_hands_counted_by_arithmetic() -> None:
    # Four 8s and three of another rank, or two aces and the joker.
    assert counted.HANDS[EIGHTS_AND_TRIPS] == 12 * 4
    assert counted.HANDS[EIGHTS_AND_TRIPS_WITH_JOKER] == 6
    # Four aces and the joker, and two of 48 others.
    assert counted.HANDS[FIVE_ACES] == comb(48, 2)
    # Seven ranks, each of any suit: a 9-high stands above a flush.
    assert counted.HANDS[NINE_HIGH] == 2 * 4**7


def test_659a_12_b_the_bonus_wager_keeps_more_under_each_next_paytable() -> None:
    game = adjudicate.games()[GAME]
    rules = in_force(game, "", "", NO_DAY, [])
    kept = []
    for letter in "ABC":
        chosen = replace(rules, paytables={"bonus": letter})
        kept += [round(each.edge * 10_000) for each in edges_under(chosen) if each.wager == "bonus"]
    assert kept == [579, 654, 754]


def test_659a_11_f_rounds_that_neither_side_wins_are_the_dealers() -> None:
    assert counted.dealt(20) == 1
