"""Blackjack totals and Straight Jack runs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

from ledger.rules.hands.cards import DECK, RANKS
from ledger.rules.hands.twenty_one import (
    DECK_48,
    Total,
    dealer_draws,
    is_blackjack,
    is_blackjack_if_known,
    same_value,
    same_value_if_known,
    straight_jack,
    straight_jack_if_known,
    total_if_known,
    total_of,
)

TOTALS = """
    Ac 6d            17 soft
    Ac 5d Kh         16 hard
    Ac Kd            21 soft
    Ac Ad            12 soft
    Ac Ad 9h         21 soft
    Ac Ad 9h Ks      21 hard
    Ac Ad Ah As      14 soft
    Kc Qd            20 hard
    Kc Qd 2h         22 hard
    Tc 9d 2h         21 hard
    Ac Ad Ah As Kc 7d  21 hard
    8c 8d 8h         24 hard
"""


@pytest.mark.parametrize("line", [line for line in TOTALS.splitlines() if line.strip()])
def test_665a_1_an_ace_counts_11_unless_that_is_over_21(line: str) -> None:
    *cards, points, kind = line.split()
    found = total_of(cards)
    assert found == Total(int(points), kind == "soft")
    assert found.bust is (int(points) > 21)


def test_665a_1_a_blackjack_is_an_ace_and_a_card_of_ten_as_the_first_two() -> None:
    assert Counter(is_blackjack(two) for two in combinations(DECK, 2))[True] == 64
    assert Counter(is_blackjack(two) for two in combinations(DECK_48, 2))[True] == 48
    assert not is_blackjack(["7c", "7d", "7h"])


def test_665a_3_a_deck_of_48_has_no_tens() -> None:
    assert len(DECK_48) == 48
    assert "T" not in {card[0] for card in DECK_48}
    assert total_of(["Tc", "9d"]) == Total(19, soft=False)


def test_665a_7_n_the_dealer_stands_on_every_17() -> None:
    assert dealer_draws(total_of(["Ac", "5d"]))
    assert not dealer_draws(total_of(["Ac", "6d"]))
    assert dealer_draws(total_of(["Tc", "6d"]))
    assert not dealer_draws(total_of(["Tc", "7d"]))


def dealt_out(cards: tuple[str, ...], chance: Fraction, found: Counter[int]) -> None:
    """Adds the chances of a dealer's final points, from a shoe that never runs out."""
    total = total_of(cards)
    if len(cards) >= 2 and not dealer_draws(total):
        found[min(total.points, 22)] += chance
        return
    for rank in RANKS:
        dealt_out((*cards, rank + "c"), chance / 13, found)


def test_665a_7_n_a_dealer_who_stands_on_soft_17_ends_as_published() -> None:
    """The common table for endless decks: 28.16 % bust, 18.03 % on 20, blackjacks with the 21s."""
    found: Counter[int] = Counter()
    dealt_out((), Fraction(1), found)
    assert sum(found.values()) == 1
    published = {17: 1451, 18: 1395, 19: 1335, 20: 1803, 21: 1201, 22: 2816}
    assert {points: round(chance * 10_000) for points, chance in found.items()} == published


def test_665a_11_cards_of_equal_value_may_be_split() -> None:
    assert same_value(["Kc", "Qd"])
    assert same_value(["Ac", "Ad"])
    assert not same_value(["Ac", "Kd"])
    assert not same_value(["9c", "Td"])


# 633a.7(o)(3)(i): cards as drawn | length and suit of an ace | under `ignored`
RUNS = """
    4c 5d 6h          | 3 - | 3 - | (A)
    4c 5d 3h 6s       | 4 - | 4 - | (B)
    4c 5d 2h 3s       | 2 - | 2 - | (C)
    8c 7d 6h 7s       | 3 - | 3 - | (D): the card that takes the hand over 21
    4c 5d 6h 7s       | 3 - | 3 - | 4-5-6 and a 7 is 22
    5c 4d             | 2 - | 2 - | either way round
    5c 7d 6h          | 0 - | 0 - | the first two are not in a row
    5c 5d 6h          | 0 - | 0 - | a pair is no straight
    Ac Kd             | 2 c | 2 c | an ace and a king
    Kc Ad Qh          | 3 d | 3 d | 21
    Ac Kd 2h          | 2 c | 2 c | not round the ace
    Ac 2d 3h 4s 5c 6d | 6 c | 6 c | the only six
    3c 2d As 4h 5c 6d | 6 s | 6 s | in any order that runs
    2c Ad Kh          | 2 d | 2 d | a king is not next to a 2
    4c 5d 5h 3s       | 2 - | 3 - | a rank repeated breaks the run, or is passed over
    4c 5d 4h 6s       | 2 - | 3 - | so does the other one
    2c 3d 2h 4s 5c    | 2 - | 4 - | and the cards after it
    2c 3d Kh 4s       | 2 - | 2 - | a card outside the run ends it under both
    2c 3d Ah As 4c    | 3 h | 4 h | the suit is that of the ace in the run
    Tc Jd Ah          | 2 - | 2 - | a ten and a jack; no queen
"""


@pytest.mark.parametrize("line", [line for line in RUNS.splitlines() if line.strip()])
def test_633a_7_o_3_i_a_straight_jack_runs_card_by_card(line: str) -> None:
    cards, breaks, ignored, _ = (part.strip() for part in line.split("|"))
    for reading, expected in (("breaks", breaks), ("ignored", ignored)):
        found = straight_jack(cards.split(), reading)
        assert f"{found.length} {found.ace or '-'}" == expected, reading


def test_633a_13_m_every_six_card_straight_is_ace_to_six() -> None:
    for low in range(2, 9):
        ranks = RANKS[low - 2 : low + 4]
        assert straight_jack([rank + "c" for rank in ranks]).length < 6
    assert straight_jack(["Ac", "2c", "3c", "4c", "5c", "6c"]).length == 6


def test_a_total_with_a_card_not_known_is_none() -> None:
    for evaluate in (total_if_known, is_blackjack_if_known, straight_jack_if_known):
        assert evaluate(["Ac", "??"]) is None
        assert evaluate(["Ac", "Kc"]) is not None
    assert same_value_if_known(["Ac", "??"]) is None
    assert same_value_if_known(["Kc", "Qd"]) is True
