"""Five-card Omaha High-low Split: halves, lows and odd chips settled from 637a.19(k)-(l)."""

from __future__ import annotations

from tests.unit.games.card_room import (
    OFFERED,
    START,
    board,
    crowded,
    dealt,
    duel,
    next_of,
    options,
    ruled,
    shown,
    won,
)
from tests.unit.games.rounds import lines, printed

GAME = "omaha_5_hi_lo"
EQUIVALENT: dict[str, str] = {}
EDGES = ""
FAVOURABLE: dict[str, set[str]] = {}
LATER = {"ante", "blind", "straddle", "kill"}
"""Everything goes into pots, which players win of one another: no wager has an edge."""

CHECKS = "act 1 check\nact 2 check\n"
IN_DOLLARS = {**OFFERED, "unit": 100}
BY_LEFT = {**IN_DOLLARS, "readings": {"odd_chip": "first_left_of_button"}}


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


SPLIT = duel(
    "Ah 3s Tc Jc Qd",
    "Ks 8h 9c 9h Td",
    board("2c 5d 8s", "Kh", "Kd", between=CHECKS),
    opening="3 ante 100\n",
)
"""Position 1 has the low 8-5-3-2-A, position 2 kings full; 500 in the pot."""


def test_637a_19_k_2_i_high_and_low_divide_the_pot_and_the_odd_chip_is_the_highs() -> None:
    assert won(SPLIT, GAME, filed=IN_DOLLARS) == lines("""
        1 pot 200 push   +0 637a.19(k)(2)(i)
        2 pot 200 win  +100 637a.19(k)(2)(i) Full house
    """)


def test_637a_19_k_2_i_each_half_is_pushed_by_its_name() -> None:
    steps = [
        ("", "> pot_awarded position 2 250 637a.19(k)(2)(i)"),
        ("pot 0 2 250 high\n", "> pot_awarded position 1 250 637a.19(k)(2)(i)"),
        ("pot 0 1 250 low\n", "> round_completed dealer 637a.19(k)(2)(i)"),
    ]
    script = SPLIT
    for more, expected in steps:
        script += more
        assert next_of(script, GAME) == expected


def test_637a_19_l_1_without_a_low_the_high_hand_has_the_whole_pot() -> None:
    """The best low of position 1 is 9-5-3-2-A: a 9 is too high."""
    cards = board("2c 5d 9s", "Kh", "Kd", between=CHECKS)
    script = duel("Ah 3s Tc Jc Qd", "Ks 8h 9c 9h Td", cards)
    assert won(script, GAME) == lines("""
        1 pot 200 lose -200 637a.19(k)
        2 pot 200 win  +200 637a.19(l)(1) Full house
    """)


def test_637a_19_l_1_a_low_may_not_hold_a_pair() -> None:
    """A 2 and an 8 in the hand pair the board: 8-5-2 and two more of them are no low."""
    cards = board("2c 5d 8s", "Kh", "Kd", between=CHECKS)
    script = duel("2h 8c Tc Jc Qd", "Ks 8h 9c 9h Td", cards)
    assert won(script, GAME)[1] == "2 pot 200 win +200 637a.19(l)(1) Full house"


def test_637a_19_l_2_one_player_may_win_both_and_an_ace_is_low_and_high() -> None:
    """Hearts A-2-3-4-5: a straight flush as a high hand, the best of all lows."""
    cards = board("3h 4h 5h", "Kc", "Kd", between=CHECKS)
    script = duel("Ah 2h Tc Jc Qd", "Ks 8c 9c 9h Td", cards)
    assert won(script, GAME) == lines("""
        1 pot 200 win  +200 637a.19(k)(2)(i) Straight flush
        2 pot 200 lose -200 637a.19(k)
    """)


def test_637a_19_l_2_the_two_hands_may_be_of_different_cards() -> None:
    """Position 1: kings full with K 8, and with A 3 the low; it needs five other cards for it."""
    cards = board("2c 5d 8s", "Kh", "Kd", between=CHECKS)
    script = duel("Ks 8h Ah 3s 9c", "Ac Qs Qc Js Jd", cards)
    assert won(script, GAME)[0] == "1 pot 200 win +200 637a.19(k)(2)(i) Full house"


LOWS = (
    START
    + "4 ante 100\n"
    + dealt("Ad 3c Tc Jc Qd", "Ac 3d Th Jd Qh", "Ks 8h 9c 9h Ts", "?? ?? ?? ?? ??")
    + "act 3 call 200\nact 4 fold\nact 1 call 100\nact 2 check\n"
    + board("2c 5d 8s", "Kh", "Kd", between=CHECKS + "act 3 check\n")
    + shown(1, 2, 3)
)
"""700: 400 to the high hand, 300 to two equal lows; the ace of clubs is the lower ace."""


def test_637a_19_k_2_iii_the_odd_chip_of_tied_lows_goes_to_the_lowest_card_by_suit() -> None:
    ruled(
        GAME,
        LOWS + "pot 0 3 400 high\npot 0 1 100 low\npot 0 2 200 low\ndone",
        """
        complete
        1 pot 200 lose -100 637a.19(k)(2)(iii) [odd_chip by_suit]
        2 pot 200 push   +0 637a.19(k)(2)(iii) [odd_chip by_suit]
        3 pot 200 win  +200 637a.19(k)(2)(i) Full house
        4 pot 100 lose -100 637a.19(g)
        """,
        filed=IN_DOLLARS,
    )
    ruled(
        GAME,
        LOWS + "pot 0 3 400 high\npot 0 1 200 low\npot 0 2 100 low\ndone",
        """
        complete
        1 pot 200 push   +0 637a.19(k)(2)(iii) [odd_chip first_left_of_button]
        2 pot 200 lose -100 637a.19(k)(2)(iii) [odd_chip first_left_of_button]
        3 pot 200 win  +200 637a.19(k)(2)(i) Full house
        4 pot 100 lose -100 637a.19(g)
        """,
        filed=BY_LEFT,
    )


HIGHS = duel(
    "Td Kc 3c 9d 5s",
    "Ts As 3d 9c 5h",
    board("Ah Kh Qd", "Jc", "2s", between=CHECKS),
    opening="3 ante 100\n",
)
"""Two straights to the ace and no low; the ace of spades is above the ace of hearts."""


def test_637a_19_k_2_ii_the_odd_chip_of_tied_highs_goes_to_the_highest_card_by_suit() -> None:
    assert won(HIGHS, GAME, filed=IN_DOLLARS) == lines("""
        1 pot 200 push   +0 637a.19(k)(2)(ii) Straight [odd_chip by_suit]
        2 pot 200 win  +100 637a.19(k)(2)(ii) Straight [odd_chip by_suit]
    """)
    assert won(HIGHS, GAME, filed=BY_LEFT) == lines("""
        1 pot 200 win  +100 637a.19(k)(2)(ii) Straight [odd_chip first_left_of_button]
        2 pot 200 push   +0 637a.19(k)(2)(ii) Straight [odd_chip first_left_of_button]
    """)


def test_637a_19_k_2_iii_a_low_card_that_both_share_leaves_it_to_the_next() -> None:
    """The ace lies on the board; the deuce of clubs is below that of diamonds. Pot 700."""
    script = (
        START
        + "4 ante 100\n"
        + dealt("2d 3c Tc Jc Qd", "2c 3d Th Jd Qh", "Ks 8h 9c 9h Ts", "?? ?? ?? ?? ??")
        + "act 3 call 200\nact 4 fold\nact 1 call 100\nact 2 check\n"
        + board("Ac 5d 8s", "Kh", "Kd", between=CHECKS + "act 3 check\n")
        + shown(1, 2, 3)
    )
    assert won(script, GAME, filed=IN_DOLLARS) == lines("""
        1 pot 200 lose -100 637a.19(k)(2)(iii) [odd_chip by_suit]
        2 pot 200 push   +0 637a.19(k)(2)(iii) [odd_chip by_suit]
    """)


def test_637a_19_f_a_void_round_gives_the_blinds_back() -> None:
    ruled(
        GAME,
        "start 2\n1 blind 100\n2 blind 200\ncall card_missing\n"
        "back 1 pot 100\nback 2 pot 200\nvoid",
        "void\n1 pot 100 void +0 637a.19(f)\n2 pot 200 void +0 637a.19(f)",
    )
