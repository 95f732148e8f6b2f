"""Badugi: hands settled from 637a.21(k)."""

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

GAME = "badugi"
EQUIVALENT = {"SHARES: 'badugi' -> 'badugix'": "a pot that is not divided is pushed without a name"}
EDGES = ""
FAVOURABLE: dict[str, set[str]] = {}
LATER = {"ante", "blind", "straddle", "kill"}
"""Everything goes into pots, which players win of one another: no wager has an edge."""


def test_637a_21_what_the_section_prints_and_leaves_open() -> None:
    assert printed(GAME) == lines("""
        ante     21(b) Ante (optional)
        blind    21(d) Blind Bet
        straddle 21(e) Straddle Bet (optional)
        kill     21(b) Kill (optional)
        odd_chip 21(k)(5): first_left_of_button
        wrong_card_count 21(f): void
        cards_face_up    21(f): void
        card_missing     21(f): void
    """)
    assert options(GAME) == lines("""
        betting 21(g): no_limit, pot_limit, fixed_limit
        blinds  21(d): 1, 2, 3
        raises  21(h): any, 3, 4, 5
    """)


def test_637a_21_b_nine_players_may_take_part_and_no_more() -> None:
    assert crowded(GAME, 9) == []
    assert crowded(GAME, 9 + 1) == ["! wager_not_permitted 10 pot 637a.21(b)"]


def test_637a_21_f_a_void_round_gives_the_blinds_back() -> None:
    ruled(
        GAME,
        "start 2\n1 blind 100\n2 blind 200\ncall card_missing\n"
        "back 1 pot 100\nback 2 pot 200\nvoid",
        "void\n1 pot 100 void +0 637a.21(f)\n2 pot 200 void +0 637a.21(f)",
    )


@pytest.mark.parametrize(
    ("best", "other", "section"),
    [
        ("Ac 2d 3h 4s", "Ad 2c 3s 5h", "(k)(1)"),  # A-2-3-4 is the best
        ("Kc Qd Jh Ts", "Ad 2c 3s 3h", "(k)(1)"),  # four cards before three, however low
        ("Qc Jd Th 9s", "Kd 4c 3s 2h", "(k)(1)"),  # the highest card decides first
        ("Kc 4d 3h 2s", "Kd 5c 3s 2h", "(k)(1)"),  # then the next
        ("Ac 2d 3h 3s", "Ad 2c 4s 4h", "(k)(2)"),  # three of different suit and rank
        ("Kc Qd Jh Jd", "Ad 2c 2d Ac", "(k)(2)"),  # three cards before two
        ("Ac 2d Kc Qc", "Ad 3c Kd Qd", "(k)(3)"),  # two: A-2 of the best subset
        ("Kc Qd Kd Qc", "Ah 2h 3h 4h", "(k)(3)"),  # two before one
        ("Ah Kh Qh Jh", "2s 3s 4s 5s", "(k)(4)"),  # one: the ace is lowest
    ],
)
def test_637a_21_k_the_lowest_of_most_cards_of_different_suits_and_ranks_wins(
    best: str, other: str, section: str
) -> None:
    wins, loses = f"pot 200 win +200 637a.21{section}", "pot 200 lose -200 637a.21(k)"
    assert won(duel(best, other, PAT), GAME) == [f"1 {wins}", f"2 {loses}"]
    assert won(duel(other, best, PAT), GAME) == [f"1 {loses}", f"2 {wins}"]


def test_637a_21_k_5_tied_hands_divide_the_pot_and_the_odd_chip_is_left_of_the_button() -> None:
    tied = duel("Kc 4d 3h 2s", "Kd 4c 3s 2h", PAT, opening="3 ante 100\n")
    assert won(tied, GAME, filed={**OFFERED, "unit": 100}) == lines("""
        1 pot 200 win  +100 637a.21(k)(5) [odd_chip first_left_of_button]
        2 pot 200 push   +0 637a.21(k)(5) [odd_chip first_left_of_button]
    """)
    assert next_of(tied, GAME) == "> pot_awarded position 1 250 637a.21(k)(5)"


def test_637a_21_h_to_j_three_draws_of_a_hand_of_four() -> None:
    script = duel("Kc Qd 3h 2s", "Kd 4c 3s 2h", "").partition("hand 1")[0]
    for line, expected in (
        ("burn", "> decision_made position 1 637a.21(h)"),
        ("draw 1 Kc Qd", "> cards_dealt position 1 637a.21(h)"),
        ("deal 1 4d As", "> decision_made position 2 637a.21(h)"),
        ("draw 2", "> decision_made position 1 637a.21(h)"),
        ("act 1 check", "> decision_made position 2 637a.21(h)"),
        ("act 2 check", "> card_burned dealer 637a.21(i)"),
    ):
        script += line + "\n"
        assert next_of(script, GAME) == expected
