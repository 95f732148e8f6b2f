"""Criss-Cross Poker, Chapter 592: hands settled by hand from sections 6, 7, 11 and 12.

A cross is written far, left, middle, right, near. The Across Hand is left, middle, right and the
player's two; the Down Hand far, middle, near and the player's two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "criss_cross_poker"

# What a code in the tables below stands for, word for word as 592.12 prints it.
ANTE = {
    "J+": ("12(a)", "Pair of jacks or better, 1 to 1"),
    "LO": ("12(a)", "Pair of 6s through 10s, Push"),
}
BET = {
    "RF": ("12(b)", "Royal flush, 500 to 1"),
    "SF": ("12(b)", "Straight flush, 100 to 1"),
    "4K": ("12(b)", "Four-of-a-kind, 40 to 1"),
    "FH": ("12(b)", "Full house, 12 to 1"),
    "FL": ("12(b)", "Flush, 8 to 1"),
    "ST": ("12(b)", "Straight, 5 to 1"),
    "3K": ("12(b)", "Three-of-a-kind, 3 to 1"),
    "2P": ("12(b)", "Two pair, 2 to 1"),
    "HI": ("12(b)", "Pair of 10s, jack, queens, kings or aces, 1 to 1"),
    "LO": ("12(b)", "Pair of 6s through 10s, Push"),
    "TT": ("12(b)", "Pair of 6s through 10s, Push [pair_of_tens push]"),
    "T1": (
        "12(b)",
        "Pair of 10s, jack, queens, kings or aces, 1 to 1 [pair_of_tens one_to_one]",
    ),
}
BONUS = {
    "RF": ("12(c)", "Royal flush, 250 to 1"),
    "SF": ("12(c)", "Straight flush, 100 to 1"),
    "4K": ("12(c)", "Four-of-a-kind, 40 to 1"),
    "FH": ("12(c)", "Full house, 15 to 1"),
    "FL": ("12(c)", "Flush, 10 to 1"),
    "ST": ("12(c)", "Straight, 6 to 1"),
    "3K": ("12(c)", "Three-of-a-kind, 4 to 1"),
    "2P": ("12(c)", "Two pair, 3 to 1"),
    "P6": ("12(c)", "Pair of 6s or better, 1 to 1"),
}
# Wager, stake, what its codes mean, and the paragraph that collects it.
LAYOUT = (
    ("ante_across", 1000, ANTE, "11(h)(1)(i)"),
    ("across", 1000, BET, "11(h)(1)(i)"),
    ("ante_down", 1000, ANTE, "11(h)(2)(i)"),
    ("down", 2000, BET, "11(h)(2)(i)"),
    ("middle", 3000, BET, "11(h)(3)"),
    ("five_card_bonus", 500, BONUS, "11(h)(5)"),
)


def expected_of(position: int, codes: list[str]) -> list[str]:
    """`code net` for each wager of the layout, as lines of a ruling."""
    found = []
    for (wager, stake, means, lost), code, net in zip(LAYOUT, codes[::2], codes[1::2], strict=True):
        if code == "X":
            found.append(f"{position} {wager} {stake} lose {int(net):+d} 592.{lost}")
            continue
        section, row = means[code]
        outcome = "push" if "Push" in row else "win"
        found.append(f"{position} {wager} {stake} {outcome} {int(net):+d} 592.{section} {row}")
    return found


def one_hand(cross: str, hole: str) -> str:
    """A round of one player: 1x across, 2x down, 3x middle, and the bonus."""
    _, left, _, right, _ = cross.split()
    far, _, middle, _, near = cross.split()
    return f"""
        start manual_shoe
        1 ante_across 1000
        1 ante_down 1000
        1 five_card_bonus 500
        nomorebets
        cross {cross}
        deal 1 {hole}
        1 across 1000
        turn 1 {left} 3 {right}
        1 down 2000
        turn 0 {far} 4 {near}
        1 middle 3000
        turn 2 {middle}
        show 1 {hole}
    """


def check_hands(table: str, **around: Unpack[Around]) -> None:
    """Each row: cross / hole / code and cents won or lost for the six wagers of the layout."""
    for row in table.splitlines():
        if not row.strip():
            continue
        cross, hole, codes = row.split("/")
        found = text(ruling(one_hand(cross.strip(), hole.strip()), GAME, **around))
        assert found == ["complete", *expected_of(1, codes.split())], row


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)


def test_592_12_a_and_b_every_row_on_the_across_or_the_down_hand() -> None:
    # far L  M  R  near  hole     ante across   across    ante down   down       middle     bonus
    check_hands("""
        2d Ks Qs Js 7c / As Ts / J+ 1000  RF  500000  X -1000   X   -2000  RF 1500000  X -500
        Ks 2d Qs 7c Js / As Ts / X -1000  X    -1000  J+ 1000   RF 1000000 RF 1500000  X -500
        Kc 8h 7h 6h 2d / 9h 5h / J+ 1000  SF  100000  X -1000   X   -2000  SF  300000  X -500
        3h Ks 4h 9c 5h / Ah 2h / X -1000  X    -1000  J+ 1000   SF 200000  SF  300000  X -500
        Kd 9h 9s 2c 4h / 9c 9d / J+ 1000  4K   40000  J+ 1000   3K   6000  4K  120000  P6 500
        3s 8h Kc Kd 5h / 8c 8d / J+ 1000  FH   12000  LO    0   LO      0  FH   36000  P6 500
        9d Kc 7c 4c Ah / 2c 9c / J+ 1000  FL    8000  LO    0   LO      0  FL   24000  X -500
        7h 8h 9s Tc 2s / 6c 7d / J+ 1000  ST    5000  LO    0   LO      0  ST   15000  X -500
        3h Kh 4s Qd 5c / Ac 2d / X -1000  X    -1000  J+ 1000   ST  10000  ST   15000  X -500
        9d 5h Jc 2s Kh / 5c 5d / J+ 1000  3K    3000  X -1000   X   -2000  3K    9000  X -500
        Qd 3h 4s Kc 7h / 3c 4d / J+ 1000  2P    2000  X -1000   X   -2000  2P    6000  X -500
        9h Ah 3c 5s Td / Ac 9d / J+ 1000  HI    1000  LO    0   LO      0  HI    3000  X -500
        8h Kh 3c 5s Td / Kc 8d / J+ 1000  HI    1000  LO    0   LO      0  HI    3000  X -500
        7h Qh 3c 5s Td / Qc 7d / J+ 1000  HI    1000  LO    0   LO      0  HI    3000  X -500
        6h Jh 3c 5s Td / Jc 6d / J+ 1000  HI    1000  LO    0   LO      0  HI    3000  X -500
        4h 6h Kc 9s Jd / 6c 2d / LO    0  LO       0  X -1000   X   -2000  LO       0  X -500
        5s 5h Kc 9s Jd / 5c 2d / X -1000  X    -1000  X -1000   X   -2000  X    -3000  X -500
    """)


def test_592_12_c_every_row_on_the_five_community_cards() -> None:
    check_hands("""
        As Ks Qs Js Ts / 2c 2d / X -1000  X    -1000  X -1000   X   -2000  X    -3000  RF 125000
        9h 8h 7h 6h 5h / 2c 3d / X -1000  X    -1000  X -1000   X   -2000  X    -3000  SF  50000
        9c 9d 9h 9s 2c / Kd 4h / J+ 1000  3K    3000  LO    0   LO      0  3K    9000  4K  20000
        8c 8d 8h Ks Kc / 2d 4s / LO    0  LO       0  LO    0   LO      0  LO       0  FH   7500
        2c 9c Kc 7c 4c / 2d Ah / X -1000  X    -1000  X -1000   X   -2000  X    -3000  FL   5000
        6c 7d 8h 9s Tc / Kd 2h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  ST   3000
        5c 5d 5h Kc 2s / Qd 8h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  3K   2000
        3c 3h 4s 4d Kc / Qd 8h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  2P   1500
        6c 6h 4s 9d Kc / Qd 8h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  P6    500
        Tc Th 4s 9d Kc / Qd 8h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  P6    500
        Ac Ah 4s 9d Kc / Qd 8h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  P6    500
        5c 5h 4s 9d Kc / Qd 8h / X -1000  X    -1000  X -1000   X   -2000  X    -3000  X   -500
    """)


def test_592_6_a_an_ace_ends_a_straight_at_either_end_and_never_stands_inside_one() -> None:
    check_hands("""
        9c Qh 2s 3d 5h / Kc Ad / X -1000  X    -1000  X -1000   X   -2000  X    -3000  X -500
        9c Jh Ts Qd 5h / Kc Ad / J+ 1000  ST    5000  X -1000   X   -2000  ST   15000  X -500
    """)


def test_592_12_b_a_pair_of_10s_pushes_or_pays_by_the_reading_and_nothing_else_changes() -> None:
    tens = "5h Th 3c 8s Kd / Tc 5d /"
    jacks = "5h Jh 3c 8s Kd / Jc 5d / J+ 1000 HI 1000 X -1000 X -2000 HI 3000 X -500"
    nines = "5h 9h 3c 8s Kd / 9c 5d / LO 0 LO 0 X -1000 X -2000 LO 0 X -500"
    check_hands(f"{tens} LO 0 TT 0 X -1000 X -2000 TT 0 X -500\n{jacks}\n{nines}")
    literal = {"offers": ("five_card_bonus",), "readings": {"pair_of_tens": "one_to_one"}}
    check_hands(
        f"{tens} LO 0 T1 1000 X -1000 X -2000 T1 3000 X -500\n{jacks}\n{nines}", filed=literal
    )
    # A value that the game does not know chooses nothing: the hand does not lose.
    unknown = {"offers": ("five_card_bonus",), "readings": {"pair_of_tens": "as_we_like"}}
    check_hands(f"{tens} LO 0 TT 0 X -1000 X -2000 TT 0 X -500", filed=unknown)


def test_592_11_h_4_the_middle_bet_pays_the_higher_hand_whichever_it_is() -> None:
    # Across a pair of jacks, down two pair; then a pair of 6s beside nothing.
    check_hands("""
        4h Jh 9c 2s 9d / Jd 4s / J+ 1000  HI    1000  J+ 1000   2P   4000  2P    6000  P6 500
        6h 4h Kc 9s Jd / 6c 2d / X -1000  X    -1000  LO    0   LO      0  LO       0  X -500
    """)


TWO_PLAYERS = """
    start manual_shoe
    1 ante_across 1000
    1 ante_down 1000
    2 ante_across 2500
    2 ante_down 2500
    2 five_card_bonus 500
    nomorebets
    cross 9h 8s 9d 3c Ah
    deal 1 8c
    deal 2 Kc
    deal 1 Qs
    deal 2 4d
"""


def test_592_11_b_a_hand_without_an_across_bet_loses_both_antes_and_keeps_its_bonus() -> None:
    # Bonus: 9 8 9 3 A, a pair of 9s. Position 1: across 8 9 3 8 Q, a pair of 8s; down 9 9 A 8 Q.
    check(
        TWO_PLAYERS
        + """
        1 across 3000
        fold 2
        turn 1 8s 3 3c
        1 down 3000
        turn 0 9h 4 Ah
        1 middle 1000
        turn 2 9d
        show 1 8c Qs
        """,
        """
        complete
        2 ante_across     2500 lose -2500 592.11(b)
        2 ante_down       2500 lose -2500 592.11(b)
        2 five_card_bonus  500 win  +500  592.12(c) Pair of 6s or better, 1 to 1
        1 ante_across     1000 push +0    592.12(a) Pair of 6s through 10s, Push
        1 across          3000 push +0    592.12(b) Pair of 6s through 10s, Push
        1 ante_down       1000 push +0    592.12(a) Pair of 6s through 10s, Push
        1 down            3000 push +0    592.12(b) Pair of 6s through 10s, Push
        1 middle          1000 push +0    592.12(b) Pair of 6s through 10s, Push
        """,
    )


def test_592_11_d_a_hand_without_a_down_bet_loses_its_across_bet_too() -> None:
    check(
        TWO_PLAYERS
        + """
        fold 1
        2 across 7500
        turn 1 8s 3 3c
        fold 2
        turn 0 9h 4 Ah
        turn 2 9d
        """,
        """
        complete
        1 ante_across     1000 lose -1000 592.11(b)
        1 ante_down       1000 lose -1000 592.11(b)
        2 ante_across     2500 lose -2500 592.11(d)
        2 ante_down       2500 lose -2500 592.11(d)
        2 across          7500 lose -7500 592.11(d)
        2 five_card_bonus  500 win  +500  592.12(c) Pair of 6s or better, 1 to 1
        """,
    )


def test_592_11_f_a_hand_without_a_middle_bet_loses_all_four_and_a_lost_bonus_waits_for_h_5() -> (
    None
):
    check(
        TWO_PLAYERS.replace("9h 8s 9d", "7h 8s 9d")
        + """
        1 across 2000
        2 across 2500
        turn 1 8s 3 3c
        1 down 1000
        2 down 5000
        turn 0 7h 4 Ah
        1 middle 2000
        fold 2
        turn 2 9d
        show 1 8c Qs
        """,
        """
        complete
        2 ante_across     2500 lose -2500 592.11(f)
        2 ante_down       2500 lose -2500 592.11(f)
        2 across          2500 lose -2500 592.11(f)
        2 down            5000 lose -5000 592.11(f)
        2 five_card_bonus  500 lose -500  592.11(h)(5)
        1 ante_across     1000 push +0    592.12(a) Pair of 6s through 10s, Push
        1 across          2000 push +0    592.12(b) Pair of 6s through 10s, Push
        1 ante_down       1000 lose -1000 592.11(h)(2)(i)
        1 down            1000 lose -1000 592.11(h)(2)(i)
        1 middle          2000 push +0    592.12(b) Pair of 6s through 10s, Push
        """,
    )


def test_592_11_b_all_hands_given_up_without_a_bonus_end_the_round_at_once() -> None:
    check(
        """
        start
        3 ante_across 1000
        3 ante_down 1000
        nomorebets
        cross 9h 8s 9d 3c Ah
        deal 3 8c Qs
        fold 3
        """,
        """
        complete
        3 ante_across 1000 lose -1000 592.11(b)
        3 ante_down   1000 lose -1000 592.11(b)
        """,
    )


def test_592_11_g_players_are_settled_counterclockwise() -> None:
    check(
        """
        start hand
        1 ante_across 1000
        1 ante_down 1000
        4 ante_across 500
        4 ante_down 500
        nomorebets
        cross 2h 8s 4d 3c Ah
        deal 1 Jc
        deal 4 Qc
        deal 1 Td
        deal 4 9h
        1 across 1000
        4 across 500
        turn 1 8s 3 3c
        1 down 1000
        4 down 500
        turn 0 2h 4 Ah
        1 middle 1000
        4 middle 500
        turn 2 4d
        show 4 Qc 9h
        show 1 Jc Td
        """,
        """
        complete
        4 ante_across  500 lose  -500 592.11(h)(1)(i)
        4 across       500 lose  -500 592.11(h)(1)(i)
        4 ante_down    500 lose  -500 592.11(h)(2)(i)
        4 down         500 lose  -500 592.11(h)(2)(i)
        4 middle       500 lose  -500 592.11(h)(3)
        1 ante_across 1000 lose -1000 592.11(h)(1)(i)
        1 across      1000 lose -1000 592.11(h)(1)(i)
        1 ante_down   1000 lose -1000 592.11(h)(2)(i)
        1 down        1000 lose -1000 592.11(h)(2)(i)
        1 middle      1000 lose -1000 592.11(h)(3)
        """,
    )


FORFEITS = """
    street  bets  bonus  lost
    11(b)   0     yes    ante_across ante_down
    11(b)   0     no     ante_across ante_down
    11(d)   1     yes    ante_across ante_down across
    11(d)   1     no     ante_across ante_down across
    11(f)   2     yes    ante_across ante_down across down
    11(f)   2     no     ante_across ante_down across down
"""


def test_592_11_b_d_f_a_hand_given_up_at_each_street_with_and_without_a_bonus() -> None:
    turns = ["turn 1 8s 3 3c", "turn 0 9h 4 Ah", "turn 2 9d"]
    for row in lines(FORFEITS)[1:]:
        street, bets, bonus, *lost = row.split()
        given_up = int(bets)
        script = ["start", "1 ante_across 1000", "1 ante_down 1000"]
        script += ["1 five_card_bonus 500"] if bonus == "yes" else []
        script += ["nomorebets", "cross 9h 8s 9d 3c Ah", "deal 1 8c Qs"]
        for wager, turn in zip(("across", "down")[:given_up], turns, strict=False):
            script += [f"1 {wager} 1000", turn]
        script += ["fold 1", *(turns[given_up:] if bonus == "yes" else [])]
        expected = [f"1 {wager} 1000 lose -1000 592.{street}" for wager in lost]
        if bonus == "yes":
            expected.append("1 five_card_bonus 500 win +500 592.12(c) Pair of 6s or better, 1 to 1")
        assert text(ruling("\n".join(script), GAME)) == ["complete", *expected], row
