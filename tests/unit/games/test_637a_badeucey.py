"""Badeucey: halves settled from 637a.20(l)(1)."""

from __future__ import annotations

import pytest

from tests.unit.games.card_room import (
    OFFERED,
    PAT,
    crowded,
    duel,
    next_of,
    options,
    ruled,
    won,
)
from tests.unit.games.rounds import lines, printed

GAME = "badeucey"
EQUIVALENT: dict[str, str] = {}
EDGES = ""
FAVOURABLE: dict[str, set[str]] = {}
LATER = {"ante", "blind", "straddle", "kill"}
"""Everything goes into pots, which players win of one another: no wager has an edge."""


def test_637a_20_what_the_section_prints_and_leaves_open() -> None:
    assert printed(GAME) == lines("""
        ante     20(b) Ante (optional)
        blind    20(d) Blind Bet
        straddle 20(e) Straddle Bet (optional)
        kill     20(b) Kill (optional)
        no_badugi 20(l)(1)(i): best_three_card, low_hand_scoops
        odd_chip 20(k)(2): first_left_of_button
        wrong_card_count 20(f): void
        cards_face_up    20(f): void
        card_missing     20(f): void
    """)
    assert options(GAME) == lines("""
        betting 20(g): no_limit, pot_limit, fixed_limit
        blinds  20(d): 1, 2, 3
        raises  20(h): any, 3, 4, 5
    """)


def test_637a_20_b_seven_players_may_take_part_and_no_more() -> None:
    assert crowded(GAME, 7) == []
    assert crowded(GAME, 7 + 1) == ["! wager_not_permitted 8 pot 637a.20(b)"]


def test_637a_20_f_a_void_round_gives_the_blinds_back() -> None:
    ruled(
        GAME,
        "start 2\n1 blind 100\n2 blind 200\ncall card_missing\n"
        "back 1 pot 100\nback 2 pot 200\nvoid",
        "void\n1 pot 100 void +0 637a.20(f)\n2 pot 200 void +0 637a.20(f)",
    )


HALF = "pot 200 push +0 637a.20(l)(1)(i)"
WINS = "pot 200 win +200 637a.20(l)(1)(i)"
LOSES = "pot 200 lose -200 637a.20(k)"


@pytest.mark.parametrize(
    ("one", "two", "nets"),
    [
        # low 7-5-4-3-2 without four suits, against a badugi of four
        ("7c 5c 4c 3c 2d", "Kc 9d 8h 2s 3d", "both"),
        # one has both
        ("7c 5d 4h 3s 2c", "Kc Qd 8h 7s 3d", "first"),
        # 5-4-3-2 is the best badugi: the ace is high, in the low and in the badugi
        ("5c 4d 3h 2s Kc", "4c 3d 2h As 5h", "first"),
        ("6c 4d 3h 2s Kd", "Ac 4c 3s 2d Kh", "first"),
        # the same ranks tie for the badugi, and the better low has one half more
        ("5c 4d 3h 2s 8c", "5d 4c 3s 2h 9d", "three quarters"),
    ],
)
def test_637a_20_l_1_half_goes_to_the_low_and_half_to_the_badugi(
    one: str, two: str, nets: str
) -> None:
    said = won(duel(one, two, PAT), GAME)
    assert (
        said
        == {
            "both": [f"1 {HALF}", f"2 {HALF}"],
            "first": [f"1 {WINS}", f"2 {LOSES}"],
            "three quarters": [
                "1 pot 200 win +100 637a.20(l)(1)(i)",
                "2 pot 200 lose -100 637a.20(k)(2)",
            ],
        }[nets]
    )


NOBODY = duel("7c 5c 4c 3c 2d", "8c 9d 8d 9c 3d", PAT)
"""Two suits at most in either hand: the low is the first player's, and badugis are of two cards."""


def test_637a_20_l_1_i_without_four_suits_the_best_badugi_of_fewer_has_its_half() -> None:
    """3-2 against 8-3: both halves go to position 1. With 6-3 against 3-2 they part."""
    assert won(NOBODY, GAME) == [f"1 {WINS} [no_badugi best_three_card]", f"2 {LOSES}"]
    other = duel("9c 7c 5c 4c 6d", "Kc Kd Qd 2c 3d", PAT)
    assert won(other, GAME) == [
        f"1 {HALF} [no_badugi best_three_card]",
        f"2 {HALF} [no_badugi best_three_card]",
    ]


def test_637a_20_l_1_i_or_the_low_hand_has_the_whole_pot() -> None:
    filed = {**OFFERED, "readings": {"no_badugi": "low_hand_scoops"}}
    other = duel("9c 7c 5c 4c 6d", "Kc Kd Qd 2c 3d", PAT)
    assert won(other, GAME, filed=filed) == [
        f"1 {WINS} [no_badugi low_hand_scoops]",
        f"2 {LOSES}",
    ]
    assert next_of(other, GAME) == "> pot_awarded position 1 200 637a.20(l)(1)(i)"


def test_637a_20_l_1_where_somebody_has_four_suits_the_reading_changes_nothing() -> None:
    script = duel("7c 5c 4c 3c 2d", "Kc 9d 8h 2s 3d", PAT)
    filed = {**OFFERED, "readings": {"no_badugi": "low_hand_scoops"}}
    assert won(script, GAME, filed=filed) == won(script, GAME) == [f"1 {HALF}", f"2 {HALF}"]


def test_637a_20_l_1_ii_what_cannot_be_split_evenly_goes_to_the_low_hand() -> None:
    script = duel("7c 5c 4c 3c 2d", "Kc 9d 8h 2s 3d", PAT, opening="3 ante 100\n")
    assert won(script, GAME, filed={**OFFERED, "unit": 100}) == lines("""
        1 pot 200 win +100 637a.20(l)(1)(i)
        2 pot 200 push  +0 637a.20(l)(1)(i)
    """)


def test_637a_20_k_2_the_odd_chip_of_tied_lows_is_left_of_the_button() -> None:
    """700: 400 to two equal lows, 300 to two equal badugis, of which one chip is over."""
    script = duel("8c 5d 4h 3s 2c", "8d 5c 4s 3h 2d", PAT, opening="3 ante 300\n")
    assert won(script, GAME, filed={**OFFERED, "unit": 100}) == lines("""
        1 pot 200 win +200 637a.20(k)(2) [odd_chip first_left_of_button]
        2 pot 200 win +100 637a.20(k)(2) [odd_chip first_left_of_button]
    """)


def test_637a_20_l_1_i_each_half_is_pushed_by_its_name() -> None:
    script = duel("7c 5c 4c 3c 2d", "Kc 9d 8h 2s 3d", PAT)
    for more, expected in (
        ("", "> pot_awarded position 1 200 637a.20(l)(1)(i)"),
        ("pot 0 1 200 low\n", "> pot_awarded position 2 200 637a.20(l)(1)(i)"),
        ("pot 0 2 200 badugi\n", "> round_completed dealer 637a.20(l)(1)(i)"),
    ):
        script += more
        assert next_of(script, GAME) == expected
