"""Five-card Omaha High: hands settled from 637a.19(k), and its module beside what is printed."""

from __future__ import annotations

from tests.unit.games.card_room import (
    OFFERED,
    board,
    crowded,
    duel,
    next_of,
    options,
    ruled,
    won,
)
from tests.unit.games.rounds import lines, printed

GAME = "omaha_5_high"
EDGES = ""
FAVOURABLE: dict[str, set[str]] = {}
LATER = {"ante", "blind", "straddle", "kill"}
"""Everything goes into pots, which players win of one another: no wager has an edge."""

CHECKS = "act 1 check\nact 2 check\n"
LOSES = "2 pot 200 lose -200 637a.19(k)"


def test_637a_19_what_the_section_prints_and_leaves_open() -> None:
    assert printed(GAME) == lines("""
        ante     19(b) Ante (optional)
        blind    19(d) Blind Bet
        straddle 19(e) Straddle Bet (optional)
        kill     19(b) Kill (optional)
        odd_chip 19(k)(2)(ii): by_suit, first_left_of_button
        wrong_card_count 19(f): void
        cards_face_up    19(f): void
        card_missing     19(f): void
    """)
    assert options(GAME) == lines("""
        betting 19(g): no_limit, pot_limit, fixed_limit
        blinds  19(d): 1, 2, 3
        raises  19(h): any, 3, 4, 5
    """)


def test_637a_19_b_eight_players_may_take_part_and_no_more() -> None:
    assert crowded(GAME, 8) == []
    assert crowded(GAME, 9) == ["! wager_not_permitted 9 pot 637a.19(b)"]


def test_637a_19_k_exactly_two_of_five_cards_play_with_three_of_the_board() -> None:
    """Four hearts lie on the board: the ace of hearts alone is no flush, two small ones are."""
    cards = board("Kh Qh Jh", "9h", "2c", between=CHECKS)
    script = duel("4h 6h 3s 5c 8d", "Ah 3c 3d 5s 7c", cards)
    assert won(script, GAME) == lines(f"1 pot 200 win +200 637a.19(k)(1) Flush\n{LOSES}")


def test_637a_19_k_four_of_a_kind_on_the_board_is_three_of_a_kind_at_most() -> None:
    """Three of four 9s on the board play: with a pair in the hand a full house, else not."""
    cards = board("9h 9s 9d", "9c", "2c", between=CHECKS)
    script = duel("4h 4c Ks Qc 8d", "Ah Kd Qd Js Tc", cards)
    assert won(script, GAME) == lines(f"1 pot 200 win +200 637a.19(k)(1) Full house\n{LOSES}")


TIED = duel(
    "Td Kc 3c 4d 5s",
    "Ts As 3d 4c 5h",
    board("Ah Kh Qd", "Jc", "2s", between=CHECKS),
    opening="3 ante 100\n",
)
"""Two straights to the ace; the ace of spades is above the ace of hearts."""


def test_637a_19_k_2_ii_the_odd_chip_of_tied_hands_goes_to_the_highest_card_by_suit() -> None:
    assert won(TIED, GAME, filed={**OFFERED, "unit": 100}) == lines("""
        1 pot 200 push   +0 637a.19(k)(2)(ii) Straight [odd_chip by_suit]
        2 pot 200 win  +100 637a.19(k)(2)(ii) Straight [odd_chip by_suit]
    """)


def test_637a_19_k_2_ii_or_to_the_player_the_rules_submission_names() -> None:
    readings = {"odd_chip": "first_left_of_button"}
    assert won(TIED, GAME, filed={**OFFERED, "unit": 100, "readings": readings}) == lines("""
        1 pot 200 win  +100 637a.19(k)(2)(ii) Straight [odd_chip first_left_of_button]
        2 pot 200 push   +0 637a.19(k)(2)(ii) Straight [odd_chip first_left_of_button]
    """)


def test_637a_19_k_2_ii_a_pot_that_divides_has_no_odd_chip_and_asks_no_reading() -> None:
    assert won(TIED, GAME, filed={**OFFERED, "unit": 50}) == lines("""
        1 pot 200 win +50 637a.19(k)(2)(ii) Straight
        2 pot 200 win +50 637a.19(k)(2)(ii) Straight
    """)


def test_637a_19_k_2_iv_a_highest_card_that_both_share_leaves_it_to_the_next() -> None:
    """Both use the ace of hearts on the board; then the king of spades is above that of clubs."""
    script = duel(
        "Td Kc 3c 4d 5s",
        "Th Ks 3d 4c 5h",
        board("Ah 7h Qd", "Jc", "2s", between=CHECKS),
        opening="3 ante 100\n",
    )
    assert won(script, GAME, filed={**OFFERED, "unit": 100}) == lines("""
        1 pot 200 push   +0 637a.19(k)(2)(ii) Straight [odd_chip by_suit]
        2 pot 200 win  +100 637a.19(k)(2)(ii) Straight [odd_chip by_suit]
    """)


def test_637a_19_k_1_the_whole_pot_is_one_push_of_chips() -> None:
    cards = board("9h 9s 9d", "9c", "2c", between=CHECKS)
    script = duel("4h 4c Ks Qc 8d", "Ah Kd Qd Js Tc", cards)
    assert next_of(script, GAME) == "> pot_awarded position 1 400 637a.19(k)(1)"
    assert next_of(script + "pot 0 1 400\n", GAME) == "> round_completed dealer 637a.19(k)(1)"


def test_637a_19_f_a_void_round_gives_the_blinds_back_as_one_sum_a_player() -> None:
    ruled(
        GAME,
        "start 2\n1 blind 100\n2 blind 200\n1 ante 5\ncall card_missing\n"
        "back 1 ante 5\nback 1 blind 100\nback 2 blind 200\nvoid",
        """
        void
        1 pot 105 void +0 637a.19(f)
        2 pot 200 void +0 637a.19(f)
        """,
    )
