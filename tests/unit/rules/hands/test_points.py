"""Points of Five Card Hi-Lo and Saigon 5 Card: settings the sections allow, and what they count."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import pytest

from ledger.rules.hands.cards import DECK, RANKS
from ledger.rules.hands.points import (
    HiLo,
    aces_bonus,
    aces_bonus_if_known,
    dealer_count,
    dealer_count_if_known,
    dealer_hi_lo,
    dealer_hi_lo_if_known,
    hi_lo_points,
    hi_lo_points_if_known,
    player_hi_lo,
    player_hi_lo_if_known,
    point_counts,
    point_counts_if_known,
    saigon_settings,
    saigon_settings_if_known,
    three_qualify,
    three_qualify_if_known,
)

# Five cards | the player's settings | the dealer's | why
HI_LO = """
    Ac Jc Tc 9c 2c | 31/11 29/3 | 31/11 | the printed example of 11(d), and no ace low
    Kc Qc 9c 8c 7c | 29/15      | 29/15 | no ace, no choice
    Kc Qc Jc Tc Kd | 30/20      | 30/20 | all of ten points: any three
    9c 8c 7c 6c 5c | 24/11      | 24/11 | pips count as printed: 6(a)
    Ac Ad Kc 9c 2c | 32/11 30/3 | 32/11 | one ace low, never two: 11(d)
    Ac Ad Ah 9c 2c | 33/11 31/3 | 33/11 | three aces
    Ac Ad Ah As 9c | 33/10      | 33/10 | of four aces one is low for the dealer too: 11(e)
    Ac Ad Ah As 2c | 33/3       | 33/3  | four aces and a 2
    Ac 2c 2d 2h 3c | 16/4 7/3   | 16/4  | a low ace
    Ac Kc Kd Kh Ks | 31/20 30/11 | 31/20 | a ten stays low either way
"""


@pytest.mark.parametrize("line", [line for line in HI_LO.splitlines() if line.strip()])
def test_663a_11_d_a_player_may_put_one_ace_low_and_the_dealer_none_but_of_four(line: str) -> None:
    cards, player, dealer, _ = (part.strip() for part in line.split("|"))
    settings = [f"{one.high}/{one.low}" for one in player_hi_lo(cards.split())]
    assert settings == player.split()
    assert "{0.high}/{0.low}".format(dealer_hi_lo(cards.split())) == dealer


def test_663a_11_d_every_other_setting_of_the_cards_is_a_misset() -> None:
    cards = ["Ac", "Jc", "Tc", "9c", "2c"]
    found = set()
    for low in combinations(cards, 2):
        high = [card for card in cards if card not in low]
        if hi_lo_points(high, low) in player_hi_lo(cards):
            found.add(low)
    assert found == {("9c", "2c"), ("Ac", "2c")}


def test_663a_11_d_cards_of_equal_points_may_change_places() -> None:
    cards = ["Kc", "Qc", "Jc", "Tc", "9c"]
    assert player_hi_lo(cards) == (HiLo(30, 19),)
    assert hi_lo_points(["Kc", "Jc", "Tc"], ["Qc", "9c"]) == HiLo(30, 19)
    assert hi_lo_points(["Qc", "Jc", "Tc"], ["Kc", "9c"]) == HiLo(30, 19)


def test_663a_11_d_the_settings_are_those_that_the_words_of_the_section_give() -> None:
    """A slow second opinion: no card of the high hand is below one of the low, an ace aside."""
    worth = {rank: 11 if rank == "A" else min(index + 2, 10) for index, rank in enumerate(RANKS)}
    for five in list(combinations(DECK, 5))[::1999]:
        found = set()
        for low in combinations(five, 2):
            high = [card for card in five if card not in low]
            rest = [card for card in low if card[0] != "A"]
            free = not rest or max(worth[card[0]] for card in rest) <= min(
                worth[card[0]] for card in high
            )
            if len(rest) >= 1 and free:
                found.add(hi_lo_points(high, low))
        assert found == set(player_hi_lo(five)), five


BONUS = """
    Ac Ad Ah As 2c   Four aces and one 2
    Ac Ad Ah As 3c   Four aces
    Ac Ad Ah 2c 2d   Three aces
    Ac Ad Kh 2c 2d   Fewer than three aces
"""


@pytest.mark.parametrize("line", [line for line in BONUS.splitlines() if line.strip()])
def test_663a_12_b_the_highest_ante_bonus_row_alone_is_paid(line: str) -> None:
    *cards, row = line.split(maxsplit=5)
    assert aces_bonus(cards) == row.strip()


# 680a.6(b): two cards | the counts they may have, highest first
COUNTS = """
    Ac 4c | 5     | the first printed example
    Tc Jc | 10    | the second: 20 is 10
    Ac 9c | 10    | 10 stays 10, never 0
    9c Kc | 9     | 19
    Ac Ad | 2     | aces are 1
    2c Jk | 8 5 1 | at 9 the joker makes 11, which is 1
    Kc Jk | 9 6 3 |
    Ac Jk | 10 7 4 |
    4c Jk | 10 7 3 |
    9c Jk | 8 5 2 |
"""


@pytest.mark.parametrize("line", [line for line in COUNTS.splitlines() if line.strip()])
def test_680a_6_b_a_showdown_counts_1_to_10(line: str) -> None:
    cards, counts, _ = (part.split() for part in line.split("|"))
    assert point_counts(cards) == tuple(map(int, counts))


def test_680a_6_b_no_showdown_with_the_joker_is_best_at_5() -> None:
    """So a player who takes the highest count never takes the one that pays 1 to 2."""
    assert all(point_counts([card, "Jk"])[0] != 5 for card in DECK)


def test_680a_11_b_1_the_printed_hand_qualifies_with_the_joker_5_and_6() -> None:
    settings = saigon_settings(["Jk", "8c", "6c", "5c", "2c"])
    found = {frozenset(one.three): one.counts for one in settings}
    assert found[frozenset(("Jk", "5c", "6c"))] == (10,)
    assert three_qualify(["Jk", "5c", "6c"])


def test_680a_11_b_1_a_joker_in_the_showdown_counts_its_best() -> None:
    settings = saigon_settings(["Kc", "Qd", "Jh", "Jk", "2c"])
    found = {frozenset(one.showdown): one.counts for one in settings}
    assert found[frozenset(("Jk", "2c"))] == (8, 5, 1)


QUALIFY = """
    Kc Qd Jh   yes   30
    9c Ac Kc   yes   20
    2c 3c 5c   yes   10
    2c 3c 4c   no    9
    Kc Qd Jk   no    23, 26 or 29
    Kc Ac Jk   yes   20 with the joker at 9
    Ac 3c Jk   yes   10 with the joker at 6
    2c 5c Jk   yes   10 with the joker at 3
    4c 4d Jk   no    11, 14 or 17
"""


@pytest.mark.parametrize("line", [line for line in QUALIFY.splitlines() if line.strip()])
def test_680a_11_b_1_three_cards_qualify_at_10_20_or_30(line: str) -> None:
    *cards, answer, _ = line.split(maxsplit=4)
    assert three_qualify(cards) is (answer == "yes")


FACES = ("Ac", "2c", "3c", "4c", "5c", "6c", "7c", "8c", "9c", "Tc")


def test_680a_11_c_1_without_the_joker_every_qualifying_three_leaves_one_count() -> None:
    several = 0
    for cards in combinations_with_replacement(FACES, 5):
        settings = saigon_settings(cards)
        assert len({one.counts for one in settings}) <= 1
        assert dealer_count(cards) == dealer_count(cards, "worst_for_dealer")
        assert (dealer_count(cards) > 0) is bool(settings)
        several += len(settings) > 1
    assert several > 500


def test_680a_11_c_1_with_the_joker_the_readings_part_and_neither_unqualifies_a_hand() -> None:
    apart = 0
    for four in combinations_with_replacement(FACES, 4):
        best = dealer_count((*four, "Jk"))
        worst = dealer_count((*four, "Jk"), "worst_for_dealer")
        assert 0 <= worst <= best <= 10
        assert (worst > 0) is (best > 0)
        apart += worst < best
    assert apart > 300


def test_680a_11_c_1_the_readings_choose_the_jokers_value_and_the_three() -> None:
    assert dealer_count(["Kc", "Qd", "Jh", "Jk", "2c"]) == 8
    assert dealer_count(["Kc", "Qd", "Jh", "Jk", "2c"], "worst_for_dealer") == 1
    cards = ["4c", "4d", "3h", "Jk", "7s"]
    by_three = {frozenset(one.three): one.counts for one in saigon_settings(cards)}
    assert by_three[frozenset(("4c", "7s", "Jk"))] == (7,)
    assert by_three[frozenset(("3h", "4c", "Jk"))] == (1,)
    assert (dealer_count(cards), dealer_count(cards, "worst_for_dealer")) == (7, 1)


def test_680a_11_c_2_a_hand_without_a_qualifying_three_counts_0() -> None:
    cards = ["Ac", "2c", "2d", "3c", "3d"]
    assert saigon_settings(cards) == ()
    assert dealer_count(cards) == 0


def test_points_of_a_hand_with_a_card_not_known_are_none() -> None:
    cards = ["Ac", "Jc", "Tc", "9c", "??"]
    assert player_hi_lo_if_known(cards) is None
    assert dealer_hi_lo_if_known(cards) is None
    assert hi_lo_points_if_known(cards[:3], cards[3:]) is None
    assert aces_bonus_if_known(cards) is None
    assert saigon_settings_if_known(cards) is None
    assert dealer_count_if_known(cards) is None
    assert three_qualify_if_known(cards[2:]) is None
    assert point_counts_if_known(cards[3:]) is None


def test_points_of_a_hand_that_is_known_are_those_of_the_hand() -> None:
    cards = ["Ac", "Jc", "Tc", "9c", "2c"]
    assert player_hi_lo_if_known(cards) == player_hi_lo(cards)
    assert dealer_hi_lo_if_known(cards) == dealer_hi_lo(cards)
    assert hi_lo_points_if_known(cards[:3], cards[3:]) == HiLo(31, 11)
    assert aces_bonus_if_known(cards) == aces_bonus(cards)
    assert saigon_settings_if_known(cards) == saigon_settings(cards)
    assert dealer_count_if_known(cards) == dealer_count(cards)
    assert three_qualify_if_known(cards[:3]) is three_qualify(cards[:3])
    assert point_counts_if_known(cards[3:]) == point_counts(cards[3:])
