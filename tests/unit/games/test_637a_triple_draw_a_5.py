"""Triple Draw Ace-5: hands settled from 637a.20(k)(4)."""

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

GAME = "triple_draw_a_5"
EQUIVALENT = {"SHARES: 'low' -> 'lowx'": "a pot that is not divided is pushed without a name"}
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


@pytest.mark.parametrize(
    ("best", "other"),
    [
        ("5c 4d 3h 2s Ac", "6c 4c 3d 2h Ad"),  # (ii) 5-4-3-2-A is the best
        ("5h 4h 3h 2h Ah", "6c 4c 3d 2d Ad"),  # (iii) regardless of suit: no flush, no straight
        ("Kc Qd Jh Ts 9c", "2c 2d 3h 4s 5d"),  # a king-high straight is no pair
        ("Ac 9d 8h 7s 6c", "Td 9c 8d 7h 6s"),  # (i) an ace is low only
        ("8c 6d 4h 3s 2c", "8d 6c 5c 3h 2d"),
        ("Ac Ad 4h 3s 2c", "2h 2d 4c 3h As"),  # of pairs the lower one
    ],
)
def test_637a_20_k_4_the_lowest_hand_wins_and_straights_and_flushes_do_not_count(
    best: str, other: str
) -> None:
    wins, loses = "pot 200 win +200 637a.20(k)(4)", "pot 200 lose -200 637a.20(k)"
    assert won(duel(best, other, PAT), GAME) == [f"1 {wins}", f"2 {loses}"]
    assert won(duel(other, best, PAT), GAME) == [f"1 {loses}", f"2 {wins}"]


def test_637a_20_k_2_tied_hands_divide_the_pot_and_the_odd_chip_is_left_of_the_button() -> None:
    tied = duel("8c 6d 4h 3s 2c", "8d 6c 4s 3h 2d", PAT, opening="3 ante 100\n")
    assert won(tied, GAME, filed={**OFFERED, "unit": 100}) == lines("""
        1 pot 200 win  +100 637a.20(k)(2) [odd_chip first_left_of_button]
        2 pot 200 push   +0 637a.20(k)(2) [odd_chip first_left_of_button]
    """)
    assert next_of(tied, GAME) == "> pot_awarded position 1 250 637a.20(k)(2)"
