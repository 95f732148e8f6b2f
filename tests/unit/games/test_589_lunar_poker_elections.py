"""Lunar Poker, 589.11(a)(3): elections that are changed before decisions are locked, and after."""

from __future__ import annotations

import pytest

from tests.unit.games.lunar import GAME, QUALIFIED, check, opening, showdown, told
from tests.unit.games.rounds import ruling

HAND = "Ts Td 8h 4c 3d"
FLUSH = "5c 6c 7c 8c 9c"
BEGUN = opening(HAND, QUALIFIED)
BET, FOLD, TURNED = "1 bet 2000\n", "fold 1\n", showdown(HAND, QUALIFIED).partition("locked")[2]
GIVEN_UP = """
    complete
    1 bet  2000 void    +0 589.11(a)(3)
    1 ante 1000 lose -1000 589.11(d)(1)
"""
PLAYED = """
    complete
    1 ante 1000 push    +0 589.11(e)(1)(ii)
    1 bet  2000 win  +2000 589.12(c) One pair, 1 to 1
"""


def test_589_11_a_3_a_fold_before_the_lock_is_the_last_word_and_the_bet_goes_back() -> None:
    check(BEGUN + BET + FOLD + "locked", GIVEN_UP)
    paid = "back 1 bet 2000\n take 1 ante 1000\n rack 1\n done"
    check(BEGUN + BET + FOLD + "locked\n" + paid, GIVEN_UP)
    kept = paid.replace("back 1 bet", "take 1 bet")
    assert told(BEGUN + BET + FOLD + "locked\n" + kept)[3] == (
        "! wrongly_collected 1 bet 0 / 2000 589.11(a)(3)"
    )
    # Taken back by the player there is none to return.
    taken = BEGUN + BET + "withdraw 1 bet 2000\n" + FOLD + "locked"
    check(taken, "complete\n 1 ante 1000 lose -1000 589.11(d)(1)")


def test_589_11_a_3_a_bet_after_a_fold_and_before_the_lock_is_the_last_word() -> None:
    check(BEGUN + FOLD + BET + "locked" + TURNED, PLAYED)
    odd = "! wager_not_permitted 1 bet 589.11(b)(2)"
    check(
        BEGUN + FOLD + BET.replace("2000", "1000") + "locked" + TURNED,
        PLAYED.replace("2000", "1000") + odd,
    )


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (BET, FOLD, PLAYED + "! out_of_turn 1 589.11(b)"),
        (FOLD, BET, GIVEN_UP + "! late_wager 1 bet 589.11(a)(3)"),
    ],
)
def test_589_11_a_3_once_decisions_are_locked_neither_a_fold_nor_a_bet_is_changed(
    before: str, after: str, found: str
) -> None:
    check(BEGUN + before + "locked\n" + after + TURNED, found)


def test_589_11_b_2_a_hand_paid_at_once_has_no_bet_and_one_that_lies_there_goes_back() -> None:
    begun = opening(FLUSH, "Kh Qd 8d 7s 2h")
    declare = f"decide 1 declare\n show 1 {FLUSH}\n"
    expected = """
        complete
        1 instant 1000 win +500000 589.12(a) Straight flush, 500 to 1
        1 ante    1000 push   +0 589.11(c)(1)(i)
        1 bet     2000 void   +0 589.11(b)(2)
        ! wager_not_permitted 1 bet 589.11(b)(2)
    """
    check(begun + BET + declare + "locked", expected)
    check(begun + declare + BET + "locked", expected)
    check(begun + BET + "locked\n" + declare, expected)
    late = "! late_wager 1 bet 589.11(a)(3)\n ! wager_not_permitted"
    check(begun + declare + "locked\n" + BET, expected.replace("! wager_not_permitted", late))
    odd = begun + BET.replace("2000", "1000") + declare + "locked"
    assert told(odd)[-2:] == ["! wager_not_permitted 1 bet 589.11(b)(2)"] * 2
    assert [found.says.partition(": ")[2] for found in ruling(odd, GAME).findings] == [
        "it is $10.00, not one of $20.00 (589.11(b)(2)).",
        "a hand that is paid at once has none (589.11(b)(2)).",
    ]
