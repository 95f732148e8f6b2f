"""Craps, Chapter 623a: vigorish, markers, payments, throws that do not count, records cut short."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.test_623a_craps import GAME, PAID, check, roll, rolls
from tests.unit.games.test_623a_craps_wagers import ANY

# -- vigorish --------------------------------------------------------------------------------------


def test_623a_5_i_vigorish_is_charged_on_a_lay_bet_and_on_nothing_else() -> None:
    charged = f"start\n1 lay_4 1000\nfee 1 vigorish 25\n{rolls('6 7')}\npay 1 lay_4 500\ndone"
    won = "1 lay_4 throw 2 1000 win +500 623a.3(a)(42) Lay Bet on 4, 1 to 2"
    check(charged, f"complete\n1 vigorish 25 lose -25 623a.5(i)\n{won}")
    # Charged once the bet was won.
    after = f"start\n1 lay_4 1000\n{rolls('6 7')}\npay 1 lay_4 500\nfee 1 vigorish 25 lay_4\ndone"
    check(after, f"complete\n{won}\n1 vigorish 25 lose -25 623a.5(i)")
    # A player without a Lay Bet, and one who has it later, owes none.
    none = f"start\n1 pass 1000\nfee 1 vigorish 25\n{rolls('6 7')}\ntake 1 pass 1000\ndone"
    check(
        none,
        "complete\n1 pass throw 2 1000 lose -1000 623a.3(a)\n! wrongly_collected 1 vigorish 0 / 25",
    )
    other = charged.replace("fee 1 vigorish", "fee 2 vigorish")
    check(other, f"complete\n{won}\n! wrongly_collected 2 vigorish 0 / 25")
    time = charged.replace("fee 1 vigorish", "fee 1 time")
    check(time, f"complete\n{won}\n! wrongly_collected 1 time 0 / 25")


# -- the record ------------------------------------------------------------------------------------

HAND = """
    start                         > wager_placed dealer pass 623a.3(a)
    1 pass 1000                   > dice_thrown dealer 623a.3(a)
    1 lay_4 1000                  > dice_thrown dealer 623a.3(a)
    2 all_tall 500                > dice_thrown dealer 623a.3(a)
    roll 6 6                      > marker_placed dealer 623a.12(3)
    marker bonus 12               > wager_collected position 1 pass 1000 623a.3(a)
    take 1 pass 1000 throw 1      > dice_thrown dealer 623a.3(a)
    2 dont_pass 500               > dice_thrown dealer 623a.3(a)
    roll 6 6                      > wager_returned position 2 dont_pass 500 623a.5
    back 2 dont_pass 500 throw 2  > dice_thrown dealer 623a.3(a)
    1 pass 600                    > dice_thrown dealer 623a.3(a)
    roll 5 5                      > marker_placed dealer 623a.4(c)(1)
    marker point 10               > marker_placed dealer 623a.12(3)
    marker bonus 10               > dice_thrown dealer 623a.3(a)
    roll 3 1                      > marker_placed dealer 623a.12(3)
    marker bonus 4                > wager_collected position 1 lay_4 1000 623a.3(a)(42)(ii)
    take 1 lay_4 1000             > dice_thrown dealer 623a.3(a)
    roll 6 4                      > wager_paid position 1 pass 600 623a.5
    pay 1 pass 600                > dice_thrown dealer 623a.3(a)
    roll 1 1                      > marker_placed dealer 623a.12(3)
    marker bonus 2                > dice_thrown dealer 623a.3(a)
    roll 6 1                      > wager_collected position 2 all_tall 500 623a.12(5)
    take 2 all_tall 500           > dice_thrown dealer 623a.3(a)
    roll 6 2                      > marker_placed dealer 623a.4(c)(1)
    marker point 8                > dice_thrown dealer 623a.3(a)
    1 lay_10 2000                 > dice_thrown dealer 623a.3(a)
    called 1 lay_10 off           > dice_thrown dealer 623a.3(a)
    roll 6 1                      > wager_returned position 1 lay_10 2000 623a.3(a)(42)
    back 1 lay_10 2000            > round_completed dealer 623a.3(a)(42)
"""
SETTLED = """
    complete
    1 pass throw 1 1000 lose -1000 623a.3(a)
    2 dont_pass throw 2 500 push +0 623a.5 Don't Pass Bet, 12 barred, Push
    1 lay_4 throw 4 1000 lose -1000 623a.3(a)(42)(ii)
    1 pass throw 5 600 win +600 623a.5 Pass Bet, 1 to 1
    2 all_tall throw 7 500 lose -500 623a.12(5)
    1 lay_10 2000 void +0 623a.3(a)(42)
"""
FACTS = [line.partition(">")[0].strip() for line in lines(HAND)]


def test_623a_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    for count, line in enumerate(lines(HAND), 1):
        found = text(ruling("\n".join(FACTS[:count]), GAME), following=True)
        assert found[-1] == "> " + line.partition("> ")[2]


def test_623a_a_hand_paid_as_it_was_owed_has_no_finding() -> None:
    check("\n".join([*FACTS, "done"]), SETTLED)


MISTAKES = """
    take 1 pass 1000 throw 1     >                          : not_collected 1 pass throw 1 1000 / 0 623a.3(a)
    back 2 dont_pass 500 throw 2 > pay 2 dont_pass 500      : overpaid 2 dont_pass throw 2 0 / 500 623a.5
    back 2 dont_pass 500 throw 2 > take 2 dont_pass 500     : wrongly_collected 2 dont_pass throw 2 0 / 500 623a.5
    pay 1 pass 600               > pay 1 pass 500           : underpaid 1 pass throw 5 600 / 500 623a.5
    pay 1 pass 600               > pay 2 pass 600           : wrong_position_paid 2 pass throw 5 position 1 / position 2 623a.5
    take 1 lay_4 1000            > pay 1 lay_4 500          : overpaid 1 lay_4 throw 4 0 / 500 623a.3(a)(42)(ii) & not_collected 1 lay_4 throw 4 1000 / 0 623a.3(a)(42)(ii)
    take 2 all_tall 500          > take 2 all_tall 400      : not_collected 2 all_tall throw 7 500 / 400 623a.12(5)
    back 1 lay_10 2000           > pay 1 lay_10 1000        : overpaid 1 lay_10 0 / 1000 623a.3(a)(42)
    back 1 lay_10 2000           > back 1 lay_10 2500       : over_returned 1 lay_10 2000 / 2500 623a.3(a)(42)
    back 2 dont_pass 500 throw 2 > back 2 dont_pass 900     : over_returned 2 dont_pass throw 2 500 / 900 623a.5
    marker point 10              > marker point 9           : step_missing 10 / 9 623a.4(c)(1)
    marker bonus 10              > marker bonus 9           : step_missing 10 / 9 623a.12(3)
"""  # noqa: E501 - a reviewer reads a row at a glance


@pytest.mark.parametrize("row", [row.strip() for row in MISTAKES.splitlines() if row.strip()])
def test_623a_what_was_paid_or_placed_otherwise_is_found(row: str) -> None:
    change, _, findings = row.partition(" :")
    was, became = (part.strip() for part in change.split(">"))
    facts = [became if fact == was else fact for fact in FACTS]
    assert facts != FACTS
    expected = [f"! {finding.strip()}" for finding in findings.split("&") if finding.strip()]
    found = text(ruling("\n".join([*facts, "done"]), GAME))
    assert sorted(found) == sorted([*lines(SETTLED), *expected])


SEVEN_OUT = ["roll 6 2", "roll 6 1", "done"]
# What was paid by payments that name no throw, and what is found.
# An early payment comes before its throw, a late one after the next throw.
UNNAMED = """
    early   : 1 pass 600 & roll 4 & pay 1 pass 600 & roll 4 : ! out_of_turn 1 pass throw 2 623a.5
    twice   : 1 pass 600 & roll 7 & pay 1 pass 600 & 1 pass 600 & pay 1 pass 600 & roll 7 : ! out_of_turn 1 pass throw 2 623a.5
    in two  : 1 pass 600 & roll 4 & pay 1 pass 200 & pay 1 pass 400 & roll 4 : ! out_of_turn 1 pass throw 2 623a.5
    lost    : 1 pass 600 & roll 2 & take 1 pass 600 & 1 pass 600 & pay 1 pass 600 & roll 7 : ! out_of_turn 1 pass throw 2 623a.5
    taken   : 1 pass 600 & take 1 pass 600 & roll 2 : ! out_of_turn 1 pass throw 1 623a.3(a)
    back    : 1 dont_pass 600 & back 1 dont_pass 600 & roll 12 : ! out_of_turn 1 dont_pass throw 1 623a.5
    another : 1 lay_4 600 & 1 lay_4 300 & roll 6 & take 1 lay_4 900 & roll 4 : ! out_of_turn 1 lay_4 throw 2 623a.3(a)(42)(ii)
    wrong   : 1 pass 600 & roll 4 & pay 1 pass 500 & roll 4 : ! out_of_turn 1 pass throw 2 623a.5 & ! underpaid 1 pass throw 2 600 / 500 623a.5
    late    : 1 pass 600 & roll 7 & roll 6 & pay 1 pass 600 & roll 6 :
    oldest  : 1 pass 600 & roll 7 & 1 pass 700 & roll 11 & pay 1 pass 700 & pay 1 pass 600 :
    beside  : 1 pass 600 & roll 7 & pay 1 pass 600 & pay 1 pass 600 : ! overpaid 1 pass throw 1 600 / 1200 623a.5
    none    : 1 pass 600 & roll 6 & pay 2 pass 600 & roll 6 & pay 1 pass 600 : ! overpaid 2 pass throw 1 0 / 600
    named   : 1 pass 600 & roll 4 & pay 1 pass 600 throw 1 & roll 4 : ! underpaid 1 pass throw 2 600 / 0 623a.5 & ! overpaid 1 pass throw 1 0 / 600
"""  # noqa: E501 - a reviewer reads a row at a glance


@pytest.mark.parametrize("row", [row.strip() for row in UNNAMED.splitlines() if row.strip()])
def test_623a_5_a_payment_that_names_no_throw_is_of_one_that_owes_it(row: str) -> None:
    _, script, findings = (part.split(" & ") for part in f"{row} ".split(" : "))
    facts = [roll(int(fact.split()[1])) if fact.startswith("roll") else fact for fact in script]
    found = text(ruling("\n".join(["start", *facts, *SEVEN_OUT]), GAME))
    expected = [finding.strip() for finding in findings if finding.strip()]
    assert [line for line in found if line.startswith("!")] == expected


def test_623a_5_clocks_that_cannot_tell_a_payment_from_its_throw_say_so() -> None:
    near = [
        "start",
        "1 pass 600",
        "roll 2 2",
        "pay 1 pass 600 | by rail at 9.9",
        "roll 2 2 | at 10",
    ]
    found = text(ruling("\n".join([*near, *SEVEN_OUT]), GAME))
    assert found[-1] == "! order_uncertain 1 pass throw 2 623a.5"


def test_623a_5_what_was_paid_early_is_not_asked_for_again() -> None:
    paid = "start\n1 pass 600\nroll 2 2\npay 1 pass 600\nroll 2 2\n"
    assert text(ruling(paid, GAME), following=True)[-1] == "> dice_thrown dealer 623a.3(a)"


def test_623a_12_3_buttons_mark_numbers_while_a_bonus_wager_lies_and_come_off_on_a_7() -> None:
    begins = "start\n1 all_small 500\n"
    for script, next_ in (
        (f"start\n1 pass 100\n{rolls('12')}", "wager_collected position 1 pass 100 623a.3(a)"),
        (f"{begins}{rolls('12')}\nmarker bonus 12\n{rolls('12')}", "dice_thrown dealer 623a.3(a)"),
        (f"{begins}{rolls('12')}", "marker_placed dealer 623a.12(3)"),
    ):
        assert text(ruling(script, GAME), following=True)[-1] == f"> {next_}"
    again = f"{begins}{rolls('12')}\nmarker bonus 12\n{rolls('7')}\ntake 1 all_small 500\n"
    again += f"1 all_small 500\n{rolls('12')}"
    found = text(ruling(again, GAME, filed=ANY), following=True)
    assert found[-1] == "> marker_placed dealer 623a.12(3)"


def test_623a_5_a_throw_that_was_called_no_roll_counts_for_nothing() -> None:
    expected = f"complete\n1 pass throw 2 1000 {PAID['pass -']}"
    called = f"start\n1 pass 1000\nnoroll\n{rolls('4 7')}"
    check(called, expected)
    recorded = called.replace("noroll", "roll 6 1 | id wild\nnoroll dealer wild")
    check(recorded, expected)


def test_623a_wagers_of_two_players_and_positions_far_apart_need_no_seat() -> None:
    script = f"start\n1 pass 100\n16 pass 300\n{rolls('4 7')}"
    check(
        script,
        "complete\n1 pass throw 2 100 lose -100 623a.3(a)\n16 pass throw 2 300 lose -300 623a.3(a)",
    )


def test_623a_edition_was_proposed_and_covers_no_day_for_certain() -> None:
    found = ruling("start\n1 pass 1000\n", GAME)
    assert found.edition == "623a"
    assert found.edition_note is not None
    assert "623a is proposed, and its days in force are not known" in found.edition_note
