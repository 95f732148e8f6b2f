"""Lunar Poker, 589.11(a)(3): elections that are changed before decisions are locked, and after."""

from __future__ import annotations

import pytest

from tests.unit.games.lunar import GAME, QUALIFIED, check, opening, showdown, told
from tests.unit.games.rounds import lines, ruling

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
    # So it does if the hand would be paid at once, and was not declared.
    check(opening("As Ks Qs Js Ts", QUALIFIED) + BET + FOLD + "locked", GIVEN_UP)
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
    check(begun + BET + FOLD + declare + "locked", expected)
    late = "! late_wager 1 bet 589.11(a)(3)\n ! wager_not_permitted"
    check(begun + declare + "locked\n" + BET, expected.replace("! wager_not_permitted", late))
    odd = begun + BET.replace("2000", "1000") + declare + "locked"
    assert told(odd)[-2:] == ["! wager_not_permitted 1 bet 589.11(b)(2)"] * 2
    assert [found.says.partition(": ")[2] for found in ruling(odd, GAME).findings] == [
        "it is $10.00, not one of $20.00 (589.11(b)(2)).",
        "a hand that is paid at once has none (589.11(b)(2)).",
    ]


NOTHING = "Kd Qd 9c 7s 2h"
ACE_KING_HIGH = "Ah Kc 7d 5s 3c"
PAID_AND_LOST = "1 options 1000 lose -1000 589.11(b)(3)"
DRAWN = f"""
    complete
    {PAID_AND_LOST}
    1 bet  2000 push    +0 589.11(e)(2)(i)
    1 ante 1000 win  +1000 589.12(d) Ante Wager, 1 to 1
"""
EXCHANGED = "exchange 1 5s 3c\n deal 1 Ad 2d\n"
SIXTH = "deal 1 Ad\n"
BUYS = [
    ("fee 1 options 1000 exchange", "decide 1 exchange 5s 3c\n" + EXCHANGED),
    ("fee 1 options 1000 exchange", EXCHANGED),
    ("fee 1 options 1000", "decide 1 exchange\n" + EXCHANGED),
    ("fee 1 options 1000", EXCHANGED),
    ("fee 1 options 1000 sixth_card", "decide 1 sixth_card\n" + SIXTH),
    ("fee 1 options 1000 sixth_card", SIXTH),
    ("fee 1 options 1000", "decide 1 sixth_card\n" + SIXTH),
    ("fee 1 options 1000", SIXTH),
    # The election is made once the fee is collected: the cards he takes then.
    ("fee 1 options 1000 sixth_card", "decide 1 exchange 5s 3c\n" + EXCHANGED),
]


@pytest.mark.parametrize(("fee", "after"), BUYS)
def test_589_11_b_3_d_2_i_the_fee_is_placed_before_the_lock_and_the_cards_are_named_after_it(
    fee: str, after: str
) -> None:
    script = opening(ACE_KING_HIGH, NOTHING) + f"{fee}\nlocked\n{after}"
    check(script + "1 bet 2000\n show dealer Kd Qd 9c 7s\n", DRAWN)
    given_up = f"complete\n {PAID_AND_LOST}\n 1 ante 1000 lose -1000 589.11(d)(2)(iv)"
    check(script + "fold 1", given_up)


FOLLOWS = """
    fee 1 options 1000 exchange   > decisions_locked_called dealer 589.11(c)
    locked                        > cards_exchanged position 1 589.11(d)(2)(i)(B)
    decide 1 exchange 5s 3c       > cards_exchanged position 1 589.11(d)(2)(i)(B)
    exchange 1 5s 3c              > cards_dealt position 1 589.11(d)(2)(i)(B)
    deal 1 Ad 2d                  > wager_placed position 1 bet 589.11(d)(2)(iii)
"""


def test_589_11_d_2_i_cut_after_any_fact_the_record_says_what_comes_next() -> None:
    cut = opening(ACE_KING_HIGH, NOTHING)
    for line in lines(FOLLOWS):
        fact, following = line.split(" > ")
        cut += fact + "\n"
        assert told(cut) == ["awaiting", PAID_AND_LOST, f"> {following}"], fact
    sixth = cut.partition("fee")[0] + "fee 1 options 1000 sixth_card\n locked\n"
    assert told(sixth)[-1] == "> cards_dealt position 1 589.11(d)(2)(i)(A)"


def test_589_11_a_3_a_fee_for_cards_that_comes_once_decisions_are_locked_is_out_of_turn() -> None:
    late = "! out_of_turn 1 589.11(a)(3)"
    end = SIXTH + "1 bet 2000\n show dealer Kd Qd 9c 7s\n"
    begun, fee = opening(ACE_KING_HIGH, NOTHING), "fee 1 options 1000 sixth_card"
    check(begun + f"decide 1 sixth_card\n locked\n {fee}\n" + end, DRAWN + late)
    for both in (f"decide 1 sixth_card\n {fee}\n", f"{fee}\n decide 1 sixth_card\n"):
        check(begun + "locked\n" + both + end, DRAWN + late + "\n ! out_of_turn 1 589.11(b)")
    near = "decide 1 sixth_card\n locked | at 100\n {} | by layout at 100.25\n"
    uncertain = "! order_uncertain 1 589.11(a)(3)"
    check(begun + near.format(fee) + end.replace("Ad", "Ad | at 101"), DRAWN + uncertain)
    first = f"{fee} | by layout at 100.25\n decide 1 sixth_card | at 101\n"
    check(begun + "locked | at 100\n" + first + end.replace("Ad", "Ad | at 102"), DRAWN + uncertain)
    found = ruling(begun + f"decide 1 sixth_card\n locked\n {fee} | id x\n" + end, GAME).findings
    assert [[each.id for each in one.facts] for one in found] == [["x"]]
    says = [
        each.says
        for script in (f"decide 1 sixth_card\n locked\n {fee}\n", near.format(fee))
        for each in ruling(begun + script + end.replace("Ad", "Ad | at 101"), GAME).findings
    ]
    assert says == [
        "Position 1 paid an Options fee once decisions were locked (589.11(a)(3)).",
        "Position 1 paid an Options fee about when decisions were locked (589.11(a)(3)).",
    ]


def test_589_11_b_3_a_fee_beside_a_fold_before_the_lock_buys_nothing() -> None:
    script = opening(ACE_KING_HIGH, NOTHING) + "fee 1 options 1000 exchange\n fold 1\n locked\n"
    check(script, "complete\n 1 ante 1000 lose -1000 589.11(d)(1)")


def test_589_11_b_3_a_fee_of_another_name_buys_no_card() -> None:
    script = opening(ACE_KING_HIGH, NOTHING) + "fee 1 vigorish 1000\n locked\n fold 1\n done"
    found = told(script)
    assert "! wrongly_collected 1 vigorish 0 / 1000" in found
    assert not [line for line in found if "options" in line]


def test_589_11_b_3_another_players_fee_and_decision_say_nothing_of_one() -> None:
    two = opening(ACE_KING_HIGH, NOTHING).replace("1 ante 1000", "1 ante 1000\n 2 ante 1000")
    two = two.replace("deal dealer", "deal 2 As Ks 8d 6s 4c\n deal dealer")
    script = two + "decide 2 sixth_card\n fee 2 options 1000 sixth_card\n fee 1 options 1000\n"
    script += "locked\n" + EXCHANGED + "1 bet 2000\n deal 2 Qc\n 2 bet 2000\n"
    found = told(script + "show dealer Kd Qd 9c 7s\n")
    assert not [line for line in found if line.startswith("!")]
    fees = [line for line in found if "options" in line]
    assert sorted(fees) == [PAID_AND_LOST, PAID_AND_LOST.replace("1 options", "2 options")]


def test_589_11_d_2_i_who_named_his_cards_before_the_lock_does_not_name_them_again() -> None:
    begun = opening(ACE_KING_HIGH, NOTHING)
    fee, again = "fee 1 options 1000 sixth_card\n", "decide 1 sixth_card\n"
    end = SIXTH + "1 bet 2000\n show dealer Kd Qd 9c 7s\n"
    check(begun + again + fee + "locked\n" + again + end, DRAWN + "! out_of_turn 1")
    check(begun + fee + "locked\n" + again + again + end, DRAWN + "! out_of_turn 1")
    # He names them before they are dealt.
    after = begun + fee + "locked\n" + SIXTH + again + "1 bet 2000\n show dealer Kd Qd 9c 7s\n"
    check(after, DRAWN + "! out_of_turn 1 589.11(d)(2)(i)")


@pytest.mark.parametrize("cents", [700, 2000])
def test_589_11_a_3_a_bet_taken_back_once_decisions_are_locked_is_settled_as_if_it_lay(
    cents: int,
) -> None:
    locked = f"locked\n withdraw 1 bet {cents}\n"
    check(BEGUN + BET + locked + TURNED, PLAYED + "! late_wager 1 bet 589.11(b)(2)")
    seen = f"locked\n{TURNED}\n withdraw 1 bet {cents}\n"
    check(BEGUN + BET + seen, PLAYED + "! wager_not_permitted 1 bet 589.11(b)(2)")
