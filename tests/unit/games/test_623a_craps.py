"""Craps, Chapter 623a: hands settled by hand from sections 3(a)(42)-(43), 4, 5(h) and 12.

A hand is written as the totals thrown, in order; the last 7 with a point up is the seven-out. Pass
and Don't Pass are not printed and are the standard game's.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "craps"


def roll(total: int) -> str:
    """A throw that shows a total."""
    first = min(6, total - 1)
    return f"roll {first} {total - first}"


def rolls(totals: str) -> str:
    """A script's throws."""
    return "\n".join(roll(int(total)) for total in totals.split())


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)


# 623a.3(a), standard: what 1000 on each line wager wins or loses, and at which throw.
LINES = """
    7 4 7               pass 1 +  dont_pass 1 -
    11 4 7              pass 1 +  dont_pass 1 -
    2 4 7               pass 1 -  dont_pass 1 +
    3 4 7               pass 1 -  dont_pass 1 +
    12 4 7              pass 1 -  dont_pass 1 0
    4 4 5 7             pass 2 +  dont_pass 2 -
    5 5 5 7             pass 2 +  dont_pass 2 -
    6 6 5 7             pass 2 +  dont_pass 2 -
    8 8 5 7             pass 2 +  dont_pass 2 -
    9 9 5 7             pass 2 +  dont_pass 2 -
    10 10 5 7           pass 2 +  dont_pass 2 -
    4 7                 pass 2 -  dont_pass 2 +
    10 11 12 2 3 9 7    pass 7 -  dont_pass 7 +
    6 8 5 12 6 9 7      pass 5 +  dont_pass 5 -
"""
PAID = {
    "pass +": "win +1000 623a.5 Pass Bet, 1 to 1",
    "pass -": "lose -1000 623a.3(a)",
    "dont_pass +": "win +1000 623a.5 Don't Pass Bet, 1 to 1",
    "dont_pass -": "lose -1000 623a.3(a)",
    "dont_pass 0": "push +0 623a.5 Don't Pass Bet, 12 barred, Push",
}


@pytest.mark.parametrize("row", [row.strip() for row in LINES.splitlines() if row.strip()])
def test_623a_3_a_pass_and_dont_pass_are_the_standard_game_with_12_barred(row: str) -> None:
    totals, _, line = row.partition("pass")
    words = f"pass{line}".split()
    expected = ["complete"]
    for wager, throw, sign in (words[:3], words[3:]):
        expected.append(f"1 {wager} throw {throw} 1000 {PAID[f'{wager} {sign}']}")
    bets = "start\n1 pass 1000\n1 dont_pass 1000\n"
    assert text(ruling(bets + rolls(totals), GAME)) == expected
    # One throw fewer and the hand is not over: the dice have not passed.
    open_hand = text(ruling(bets + rolls(totals.rpartition("7")[0]), GAME))
    assert open_hand[0] == "awaiting"


def test_623a_3_a_every_throw_of_two_dice_on_the_come_out() -> None:
    for first, second in product(range(1, 7), repeat=2):
        found = text(ruling(f"start\n1 pass 1000\nroll {first} {second}\n", GAME))
        total = first + second
        sign = "+" if total in (7, 11) else "-" if total in (2, 3, 12) else ""
        assert found[1:2] == (
            [f"1 pass throw 1 1000 {PAID[f'pass {sign}']}"]
            if sign
            else ["> marker_placed dealer 623a.4(c)(1)"]
        )


# -- Lay Bets --------------------------------------------------------------------------------------

# 623a.3(a)(42): true odds on a 7 before the number, 3000 on each.
LAYS = {4: ("1 to 2", 1500), 5: ("2 to 3", 2000), 6: ("5 to 6", 2500)}
LAYS |= {14 - number: paid for number, paid in LAYS.items()}


@pytest.mark.parametrize("number", LAYS)
def test_623a_3_a_42_a_lay_bet_wins_on_a_7_before_its_number_at_true_odds(number: int) -> None:
    odds, won = LAYS[number]
    other = 9 if number == 4 else 4
    wager = f"1 lay_{number} throw"
    script = f"start\n1 lay_{number} 3000\n"
    paid = f"3000 win +{won} 623a.3(a)(42) Lay Bet on {number}, {odds}"
    lost = "3000 lose -3000 623a.3(a)(42)(ii)"
    check(script + rolls(f"{other} 11 7"), f"complete\n{wager} 3 {paid}")
    check(script + rolls(f"{other} {number} 7"), f"complete\n{wager} 2 {lost}")
    check(script + rolls(f"{number} 7"), f"complete\n{wager} 1 {lost}")
    # A 7 on the come out roll wins it too: it is active unless it was called off.
    check(script + rolls(f"7 {number} 7"), f"complete\n{wager} 1 {paid}")
    assert {each: LAYS[each][0] for each in (4, 10)} == {4: "1 to 2", 10: "1 to 2"}


def test_623a_3_a_42_a_lay_bet_that_is_called_off_waits_until_it_is_on() -> None:
    bets = "start\n1 lay_4 1000\n2 lay_4 1000\n2 lay_9 1500\ncalled 1 lay_4 off\n"
    paid = "win +500 623a.3(a)(42) Lay Bet on 4, 1 to 2"
    nine = "2 lay_9 throw 1 1500 win +1000 623a.3(a)(42) Lay Bet on 9, 2 to 3"
    check(
        bets + rolls("7 5") + "\ncalled 1 lay_4 on\n" + rolls("7"),
        f"complete\n2 lay_4 throw 1 1000 {paid}\n{nine}\n1 lay_4 throw 3 1000 {paid}",
    )
    # Its number does not decide it either.
    check(
        bets + rolls("4 5") + "\ncalled 1 lay_4 on\n" + rolls("7"),
        f"""
        complete
        2 lay_4 throw 1 1000 lose -1000 623a.3(a)(42)(ii)
        1 lay_4 throw 3 1000 {paid}
        2 lay_9 throw 3 1500 win +1000 623a.3(a)(42) Lay Bet on 9, 2 to 3
        """,
    )


def test_623a_3_a_42_a_lay_bet_still_off_at_the_seven_out_goes_back_undecided() -> None:
    check(
        "start\n1 lay_4 1000\n1 lay_5 1500\ncalled 1 lay_4 off\n" + rolls("6 7"),
        """
        complete
        1 lay_5 throw 2 1500 win +1000 623a.3(a)(42) Lay Bet on 5, 2 to 3
        1 lay_4 1000 void +0 623a.3(a)(42)
        """,
    )


def test_623a_3_a_42_off_is_said_of_the_bet_that_lies_there_and_of_no_later_one() -> None:
    paid = "win +500 623a.3(a)(42) Lay Bet on 4, 1 to 2"
    # Called off before it was made.
    script = "start\ncalled 1 lay_4 off\n" + rolls("6") + "\n1 lay_4 1000\n" + rolls("7")
    check(script, f"complete\n1 lay_4 throw 2 1000 {paid}")
    # Made again after it was off, went on, and lost.
    script = "start\n1 lay_4 1000\ncalled 1 lay_4 off\ncalled 1 lay_4 on\n" + rolls("4")
    check(
        f"{script}\n1 lay_4 1000\n" + rolls("7"),
        f"""
        complete
        1 lay_4 throw 1 1000 lose -1000 623a.3(a)(42)(ii)
        1 lay_4 throw 2 1000 {paid}
        """,
    )
    # Called off for the throw after the mark alone.
    script = "start\n1 lay_4 1000\n" + rolls("6 8") + "\ncalled 1 lay_4 off\n" + rolls("4 7")
    check(script, "complete\n1 lay_4 1000 void +0 623a.3(a)(42)")


def test_623a_3_a_42_a_lay_bet_taken_down_while_off_is_on_when_it_is_made_again() -> None:
    script = "start\n1 lay_4 1000\ncalled 1 lay_4 off\n" + rolls("6") + "\nwithdraw 1 lay_4 1000\n"
    check(
        script + "1 lay_4 2000\n" + rolls("7"),
        "complete\n1 lay_4 throw 2 2000 win +1000 623a.3(a)(42) Lay Bet on 4, 1 to 2",
    )


def test_623a_3_a_42_a_lay_bet_that_is_off_and_raised_as_much_again_stays_off() -> None:
    script = "start\n1 lay_4 1000\ncalled 1 lay_4 off\n" + rolls("6") + "\n1 lay_4 1000\n"
    check(script + rolls("7"), "complete\n1 lay_4 2000 void +0 623a.3(a)(42)")


# -- Bonus Craps -----------------------------------------------------------------------------------

BONUS = {
    "all_small": "34000 623a.5(h)(1) All Small Wager, 34 to 1",
    "all_tall": "34000 623a.5(h)(3) All Tall Wager, 34 to 1",
    "all_or_nothing": "175000 623a.5(h)(2) All Or Nothing At All Wager, 175 to 1",
}
# 623a.3(a)(43), .12: totals; and of Small, All and Tall the throw that decides it, won or lost.
HANDS = """
    7 4 7                                 small -1   all -1   tall -1
    2 3 4 5 6 7                           small +5   all -6   tall -6
    6 5 4 3 2 7                           small +5   all -6   tall -6
    2 3 4 5 5 2 6 7                       small +7   all -8   tall -8
    8 9 10 11 12 7                        small -6   all -6   tall +5
    12 11 10 9 8 7                        small -6   all -6   tall +5
    2 3 4 5 6 8 9 10 11 12 7              small +5   all +10  tall +10
    8 2 9 3 10 4 11 5 12 6 7              small +10  all +10  tall +9
    2 3 4 5 8 9 10 11 7                   small -9   all -9   tall -9
    2 3 12 11 2 7 4 5 6 8 9 10 7          small -6   all -6   tall -6
    3 4 5 6 12 7                          small -6   all -6   tall -6
    8 9 10 11 2 7                         small -6   all -6   tall -6
"""


@pytest.mark.parametrize("row", [row.strip() for row in HANDS.splitlines() if row.strip()])
def test_623a_12_bonus_craps_wagers_win_on_their_last_number_and_lose_on_any_7(row: str) -> None:
    totals, _, decided = row.partition("small")
    words = f"small{decided}".split()
    wagers = {"small": "all_small", "all": "all_or_nothing", "tall": "all_tall"}
    expected = []
    for name, how in zip(words[::2], words[1::2], strict=True):
        wager = wagers[name]
        owed = f"win +{BONUS[wager]}" if how[0] == "+" else "lose -1000 623a.12(5)"
        expected.append((int(how[1:]), f"1 {wager} throw {how[1:]} 1000 {owed}"))
    bets = "start\n1 all_small 1000\n1 all_or_nothing 1000\n1 all_tall 1000\n"
    found = text(ruling(bets + rolls(totals), GAME))
    assert found == ["complete", *(line for _, line in sorted(expected, key=lambda e: e[0]))]


@pytest.mark.parametrize("missing", [2, 3, 4, 5, 6, 8, 9, 10, 11, 12])
def test_623a_12_a_bonus_wager_that_lacks_one_number_at_the_7_has_lost(missing: int) -> None:
    thrown = [number for number in (2, 3, 4, 5, 6, 8, 9, 10, 11, 12) if number != missing]
    bets = "start\n1 all_small 1000\n1 all_or_nothing 1000\n1 all_tall 1000\n"
    lacks, whole = ("all_small", "all_tall") if missing < 7 else ("all_tall", "all_small")
    found = ruling(bets + rolls(" ".join(map(str, [*thrown, 7]))), GAME)
    outcomes = {s.wager: s.outcome for s in found.settlements}
    assert outcomes == {lacks: "lose", whole: "win", "all_or_nothing": "lose"}


def test_623a_12_4_small_is_paid_at_once_and_the_others_stay_until_they_are_decided() -> None:
    script = "start\n1 all_small 1000\n1 all_or_nothing 500\n" + rolls("2 3 4 5 6")
    found = ruling(script, GAME)
    assert [line for line in text(found) if "all_" in line and ">" not in line] == [
        "1 all_small throw 5 1000 win +34000 623a.5(h)(1) All Small Wager, 34 to 1"
    ]
    assert found.status == "awaiting"


def test_623a_12_5_a_7_on_a_come_out_ends_the_bonus_wagers_and_not_the_round() -> None:
    check(
        "start\n1 pass 1000\n1 all_tall 500\n" + rolls("7 4 7"),
        f"""
        complete
        1 all_tall throw 1 500 lose -500 623a.12(5)
        1 pass throw 1 1000 {PAID["pass +"]}
        """,
    )
    open_hand = text(ruling("start\n1 all_tall 500\n" + rolls("7"), GAME))
    assert open_hand[0] == "awaiting"


def test_623a_12_several_players_are_settled_each_for_his_own_wagers() -> None:
    check(
        """
        start
        1 pass 1000
        3 dont_pass 500
        3 all_small 200
        2 lay_6 1200
        """
        + rolls("6 7"),
        """
        complete
        2 lay_6 throw 1 1200 lose -1200 623a.3(a)(42)(ii)
        3 all_small throw 2 200 lose -200 623a.12(5)
        1 pass throw 2 1000 lose -1000 623a.3(a)
        3 dont_pass throw 2 500 win +500 623a.5 Don't Pass Bet, 1 to 1
        """,
    )


def test_623a_a_wager_that_stays_up_is_a_new_wager_and_goes_by_its_own_throws() -> None:
    check(
        "start\n1 pass 1000\n"
        + rolls("7")
        + "\n1 pass 600\n"
        + rolls("12 4")
        + "\n1 lay_10 400\n"
        + rolls("10")
        + "\n1 lay_10 400\n"
        + rolls("7"),
        """
        complete
        1 pass throw 1 1000 win +1000 623a.5 Pass Bet, 1 to 1
        1 pass throw 2 600 lose -600 623a.3(a)
        1 lay_10 throw 4 400 lose -400 623a.3(a)(42)(ii)
        1 lay_10 throw 5 400 win +200 623a.3(a)(42) Lay Bet on 10, 1 to 2
        """,
    )


BROKEN = """
    100  1   +66 exact 200/3
    100  25  +50 exact 200/3
    150  25  +100
    101  1   +67 exact 202/3
"""


@pytest.mark.parametrize("row", [row.strip() for row in BROKEN.splitlines() if row.strip()])
def test_623a_3_a_42_odd_cents_of_true_odds_stay_with_the_house(row: str) -> None:
    stake, unit, *won = row.split()
    check(
        f"start\n1 lay_5 {stake}\n" + rolls("4 7"),
        f"complete\n1 lay_5 throw 2 {stake} win {' '.join(won)} 623a.3(a)(42) Lay Bet on 5, 2 to 3",
        filed={"unit": int(unit), "offers": ("lay_5",)},
    )
