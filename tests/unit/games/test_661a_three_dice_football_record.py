"""Three Dice Football, Chapter 661a: throws that do not count, late wagers, markers, breakage."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.test_661a_three_dice_football import GAME, check, played

WON = "1 touchdown 1000 win +1000 661a.8(a) Touchdown Wager, 1 to 1"


def test_661a_5_b_and_c_a_throw_that_was_called_no_roll_counts_for_nothing() -> None:
    expected = """
        complete
        1 penalty throw 1 1000 lose -1000 661a.6(d)
        1 touchdown 1000 win +1000 661a.8(a) Touchdown Wager, 1 to 1
    """
    called = "start\n1 touchdown 1000\n1 penalty 1000\nnoroll\nthrow 2 2 2\n"
    check(called, expected)
    recorded = called.replace("noroll", "throw 1 1 5 | id wild\nnoroll dealer wild")
    check(recorded, expected)
    not_called = called.replace("noroll", "throw 1 1 5 | id wild")
    assert text(ruling(not_called, GAME))[1] == (
        "1 penalty throw 1 1000 win +9000 661a.8(b) Penalty Wager, 9 to 1"
    )


def test_661a_5_e_the_dice_rule_where_their_total_was_called_wrong() -> None:
    check("start\n1 touchdown 1000\ncall dice_mistotalled\nthrow 2 2 2\n", f"complete\n{WON}")


def test_661a_3_c_a_full_game_wager_after_the_first_throw_is_late_and_stays() -> None:
    check(
        "start\n1 touchdown 600\nthrow 6 6 1\n1 touchdown 400\nthrow 6 6 1\n",
        f"complete\n{WON}\n! late_wager 1 touchdown 661a.3(c)",
    )
    check("start\n1 touchdown 600\n1 touchdown 400\nthrow 2 2 2\n", f"complete\n{WON}")


def test_661a_3_c_a_full_game_wager_may_not_be_withdrawn_after_the_first_throw() -> None:
    check(
        "start\n1 touchdown 1000\nthrow 6 6 1\nwithdraw 1 touchdown 1000\nthrow 6 6 1\n",
        f"complete\n{WON}\n! wager_not_permitted 1 touchdown 661a.3(c)",
    )
    check(
        "start\n1 touchdown 1500\nwithdraw 1 touchdown 500\nthrow 2 2 2\n",
        f"complete\n{WON}",
    )
    check(
        "start\n1 touchdown 1000\n1 defense 500\nwithdraw 1 defense 500\nthrow 2 2 2\n",
        f"complete\n{WON}",
    )


def test_661a_3_e_a_single_play_wager_after_the_last_throw_is_late_and_decided_by_nothing() -> None:
    script = "start\n1 touchdown 1000\nthrow 2 2 2\n1 penalty 300\n"
    check(script, f"complete\n{WON}\n! late_wager 1 penalty None / 300 661a.3(d)(2)")


def test_661a_6_c_a_throw_after_the_game_ended_is_out_of_turn() -> None:
    check("start\n1 touchdown 1000\nthrow 2 2 2\nthrow 6 6 1\n", f"complete\n{WON}\n! out_of_turn")


def test_661a_2_a_a_position_that_the_table_does_not_have_is_not_permitted() -> None:
    for position, permitted in ((16, True), (17, False)):
        found = text(ruling(f"start\n{position} touchdown 1000\nthrow 2 2 2\n", GAME))
        assert found[0] == "complete"
        named = f"! wager_not_permitted {position} touchdown 661a.2(a)"
        assert (named in found) is not permitted


BROKEN = """
    stake  unit   defense won          Game Length three won
    1000      1   +800                 +1200
    1000     25   +800                 +1200
     101      1   +80 exact 404/5      +121 exact 606/5
    1010     25   +800 exact 808       +1200 exact 1212
     500     25   +400                 +600
      25     25   +0 exact 20          +25 exact 30
"""


@pytest.mark.parametrize(
    "row", [row.split("   ") for row in BROKEN.splitlines()[2:] if row.strip()]
)
def test_661a_8_a_odd_cents_below_the_breakage_unit_stay_with_the_house(row: list[str]) -> None:
    stake, unit, defense, length = (cell.strip() for cell in row if cell.strip())
    script = played("123 123 123", "-", f"1 defense {stake}\n1 game_length_3 {stake}")
    check(
        script,
        f"""
        complete
        1 defense       {stake} win {defense} 661a.8(a) Defense Wager, 4 to 5
        1 game_length_3 {stake} win {length} 661a.8(a) Three plays, 6 to 5
        """,
        filed={"unit": int(unit)},
    )


PAID = """
    start                        > wager_placed dealer touchdown 661a.6(b)
    1 touchdown 1000             > marker_placed dealer 661a.6(a)
    1 extra_point 1000           > marker_placed dealer 661a.6(a)
    2 no_gain 500                > marker_placed dealer 661a.6(a)
    marker down 1                > marker_placed dealer 661a.6(a)
    marker yard 20               > marker_placed dealer 661a.6(a)
    marker game_length 1         > dice_thrown dealer 661a.5(a)
    throw 1 1 3                  > marker_placed dealer 661a.6(c)(2)
    marker yard 21               > marker_placed dealer 661a.6(c)(2)
    marker down 2                > marker_placed dealer 661a.6(c)(2)
    marker game_length 2         > wager_paid position 2 no_gain 2500 661a.8(b)
    pay 2 no_gain 2500 throw 1   > dice_thrown dealer 661a.5(a)
    throw 1 1 2                  > marker_placed dealer 661a.6(c)(3)
    marker down 3                > marker_placed dealer 661a.6(c)(3)
    marker game_length 3         > dice_thrown dealer 661a.5(a)
    2 no_gain 600                > dice_thrown dealer 661a.5(a)
    throw 6 6 1                  > marker_placed dealer 661a.6(c)(1)
    marker yard 10               > marker_placed dealer 661a.6(e)(2)
    marker down 4                > marker_placed dealer 661a.6(c)(1)
    marker game_length 4         > wager_collected position 2 no_gain 600 661a.6(d)
    take 2 no_gain 600           > dice_thrown dealer 661a.5(a)
    throw 5 5 5                  > dice_thrown dealer 661a.6(f)(1)
    extra 1 1 2                  > wager_paid position 1 touchdown 1000 661a.8(a)
    pay 1 touchdown 1000         > wager_paid position 1 extra_point 10000 661a.8(a)
    pay 1 extra_point 10000      > round_completed dealer 661a.8(a)
"""
SETTLED = """
    complete
    2 no_gain throw 1 500 win +2500 661a.8(b) No Gain Wager, 5 to 1
    2 no_gain throw 3 600 lose -600 661a.6(d)
    1 touchdown 1000 win +1000 661a.8(a) Touchdown Wager, 1 to 1
    1 extra_point 1000 win +10000 661a.8(a) A 1 appearing on two of the dice, 10 to 1
"""
FACTS = [line.partition(">")[0].strip() for line in lines(PAID)]


def test_661a_6_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    for count, line in enumerate(lines(PAID), 1):
        found = text(ruling("\n".join(FACTS[:count]), GAME), following=True)
        assert found[-1] == "> " + line.partition("> ")[2], line


def test_661a_6_g_a_game_paid_as_it_was_owed_has_no_finding() -> None:
    check("\n".join([*FACTS, "done"]), SETTLED)


MISTAKES = """
    pay 2 no_gain 2500 throw 1 > pay 2 no_gain 2500            :
    pay 2 no_gain 2500 throw 1 > pay 2 no_gain 2400            : underpaid 2 no_gain throw 1 2500 / 2400 661a.8(b)
    pay 2 no_gain 2500 throw 1 > pay 2 no_gain 2500 throw 2    : underpaid 2 no_gain throw 1 2500 / 0 661a.8(b) & overpaid 2 no_gain throw 2 0 / 2500
    take 2 no_gain 600         >                               : not_collected 2 no_gain throw 3 600 / 0 661a.6(d)
    pay 1 touchdown 1000       > pay 2 touchdown 1000          : wrong_position_paid 2 touchdown position 1 / position 2 661a.8(a)
    pay 1 touchdown 1000       > take 1 touchdown 1000         : underpaid 1 touchdown 1000 / 0 661a.8(a) & wrongly_collected 1 touchdown 0 / 1000 661a.8(a)
    marker yard 21             > marker yard 22                : step_missing 21 / 22 661a.6(c)(2)
    marker down 2              > marker down 1                 : step_missing 2 / 1 661a.6(c)(2)
    marker down 4              > marker down 1                 :
    marker down 4              > marker down 2                 : step_missing 4 / 2 661a.6(e)(2)
    marker yard 10             > marker yard 11                : step_missing 10 / 11 661a.6(c)(1)
"""  # noqa: E501 - a reviewer reads a row at a glance


@pytest.mark.parametrize("row", [row.strip() for row in MISTAKES.splitlines() if row.strip()])
def test_661a_6_what_was_paid_or_placed_otherwise_is_found(row: str) -> None:
    change, _, findings = row.partition(" :")
    was, became = (part.strip() for part in change.split(">"))
    facts = [became if fact == was else fact for fact in FACTS]
    assert facts != FACTS
    expected = [f"! {finding.strip()}" for finding in findings.split("&") if finding.strip()]
    found = text(ruling("\n".join([*facts, "done"]), GAME))
    assert found == [*lines(SETTLED), *expected]


# When single plays were paid by payments that name no throw.
UNNAMED = """
    pay 2 no_gain 2500 throw 1 > & throw 1 1 3 > pay 2 no_gain 2500 / throw 1 1 3 : out_of_turn 2 no_gain throw 1 661a.8(b)
    pay 2 no_gain 2500 throw 1 > & throw 6 6 1 > throw 6 6 1 / pay 2 no_gain 2500 :
    take 2 no_gain 600 > & throw 6 6 1 > take 2 no_gain 600 / throw 6 6 1 : out_of_turn 2 no_gain throw 3 661a.6(d)
    take 2 no_gain 600 > & extra 1 1 2 > extra 1 1 2 / take 2 no_gain 600 :
"""  # noqa: E501 - as above


@pytest.mark.parametrize("row", [row.strip() for row in UNNAMED.splitlines() if row.strip()])
def test_661a_6_d_a_payment_that_names_no_throw_is_of_one_that_owes_it(row: str) -> None:
    script, _, finding = row.partition(" :")
    facts = "\n".join([*FACTS, "done"])
    for change in script.split("&"):
        was, became = (part.strip().replace(" / ", "\n") for part in change.split(">"))
        assert was in facts
        facts = facts.replace(was, became, 1)
    expected = [f"! {finding.strip()}"] if finding.strip() else []
    assert text(ruling(facts, GAME)) == [*lines(SETTLED), *expected]


def test_661a_1_a_penalty_costs_one_yard_and_a_down_and_the_marker_may_stand_at_23() -> None:
    script = """
        start
        1 defense 1000
        throw 1 2 5
        marker yard 21
        marker down 2
        throw 1 2 4
        marker yard 22
        marker down 3
        throw 2 2 5
    """
    check(script, "complete\n1 defense 1000 win +800 661a.8(a) Defense Wager, 4 to 5")
    waits = text(ruling(script.replace("throw 2 2 5", ""), GAME), following=True)
    assert waits[-1] == "> marker_placed dealer 661a.6(c)(2)"


def test_661a_edition_was_proposed_and_covers_no_day_for_certain() -> None:
    found = ruling("start\n1 touchdown 1000\n", GAME)
    assert found.edition == "661a"
    assert found.edition_note is not None
    assert "661a is proposed, and its days in force are not known" in found.edition_note


def test_661a_3_e_within_two_clocks_a_wager_about_the_last_throw_is_of_uncertain_order() -> None:
    script = "start\n1 touchdown 1000\nthrow 2 2 2 | at 9.0\n1 penalty 300 | by layout at {}\n"
    uncertain = "! order_uncertain 1 penalty None / 300 661a.3(d)(2)"
    check(script.format("9.25"), f"complete\n{WON}\n{uncertain}")
    late = "! late_wager 1 penalty None / 300 661a.3(d)(2)"
    check(script.format("9.250001"), f"complete\n{WON}\n{late}")


def test_661a_3_e_chips_taken_back_when_the_game_is_over_are_found() -> None:
    script = "start\n1 touchdown 1000\nthrow 2 2 2\nwithdraw 1 penalty 300\n"
    check(script, f"complete\n{WON}\n! wager_not_permitted 1 penalty None / 300 661a.3(d)(2)")


def test_661a_3_a_wager_on_a_hand_that_the_game_does_not_have_is_found() -> None:
    script = "start\n1 touchdown 1000\n1 touchdown 700 hand 2\nthrow 2 2 2\n"
    check(script, f"complete\n{WON}\n! wager_not_permitted 1.2 touchdown None / 700")


def test_661a_3_more_chips_taken_back_than_were_put_down_are_no_wager_below_nothing() -> None:
    script = "start\n1 touchdown 1000\n1 defense 500\nwithdraw 1 defense 700\nthrow 2 2 2\n"
    check(script, f"complete\n{WON}\n! wager_not_permitted 1 defense 661a.3(b)(2)")


KEEPS = """
    2 2 2                       | kept | a Trips TD
    6 6 1, 6 6 1                | kept | 22 yards in two throws
    1 1 6                       | not  | a turnover
    2 2 1, 2 2 1, 2 2 1         | not  | nine yards in three downs
    6 5 1, 2 1 2, 6 5 1         | kept | ten yards earn three more downs
    6 5 1                       | -    | the game goes on
    -                           | -    | nothing was thrown
    2 2 2, 1 1 6                | kept | what is thrown once it has ended ends nothing
"""


@pytest.mark.parametrize("row", lines(KEEPS))
def test_661a_7_a_who_scores_keeps_the_dice(row: str) -> None:
    throws, kept, _ = (part.strip() for part in row.split("|"))
    thrown = [[int(die) for die in throw.split()] for throw in throws.split(",") if throw != "-"]
    rotation = adjudicate.games()[GAME].rotation
    assert rotation is not None
    assert rotation.keeps is not None
    readings = {"new_downs": "on_reaching_10", "touchdown_at": "zero_or_beyond"}
    assert rotation.keeps(thrown, readings) is {"kept": True, "not": False, "-": None}[kept]
