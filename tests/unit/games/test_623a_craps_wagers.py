"""Craps, Chapter 623a: when wagers are made, raised and taken down (3(a), 4, 12(1))."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import ruling, text
from tests.unit.games.test_623a_craps import GAME, PAID, check, rolls

ANY = {"readings": {"bonus_before": "any_come_out"}, "offers": ("all_small", "all_tall")}
NEW = {"readings": {"bonus_before": "new_shooter"}, "offers": ("all_small", "all_tall")}

# -- when wagers are made --------------------------------------------------------------------------

# All Small is made after these totals; the last throws end the hand. What is found under each
# reading of 623a.12(1) and .3(a)(43).
MADE = """
    before  after   new_shooter                          any_come_out
    -       6 7     .                                    .
    7       6 7     late_wager 1 all_small 623a.12(1)    .
    4 4     6 7     late_wager 1 all_small 623a.12(1)    .
    11      6 7     late_wager 1 all_small 623a.12(1)    .
    4       7       late_wager 1 all_small 623a.12(1)    late_wager 1 all_small 623a.3(a)(43)
    6 8     7       late_wager 1 all_small 623a.12(1)    late_wager 1 all_small 623a.3(a)(43)
"""
ROWS = [
    [cell.strip() for cell in line.split("  ") if cell.strip()] for line in MADE.splitlines()[2:]
]


@pytest.mark.parametrize("row", [row for row in ROWS if row])
def test_623a_12_1_a_bonus_wager_is_made_before_a_new_shooter_or_before_any_come_out(
    row: list[str],
) -> None:
    before, after, new, any_ = row
    totals = "" if before == "-" else before
    script = f"start\n2 pass 1000\n{rolls(totals)}\n1 all_small 500\n{rolls(after)}"
    for filed, found in ((NEW, new), (ANY, any_)):
        said = text(ruling(script, GAME, filed=filed))
        assert [line for line in said if line.startswith("!")] == (
            [] if found == "." else [f"! {found}"]
        )
        last = len(f"{totals} {after}".split())
        assert f"1 all_small throw {last} 500 lose -500 623a.12(5)" in said


def test_623a_3_a_43_only_numbers_thrown_after_the_wager_was_made_count_for_it() -> None:
    script = f"start\n2 pass 1000\n{rolls('4 2 4')}\n1 all_small 500\n"
    found = text(ruling(script + rolls("3 5 6 5 2"), GAME, filed=ANY))
    assert not [line for line in found if line.startswith("1 all_small")]
    check(
        script + rolls("3 5 6 5 2 4 4 8 7"),
        f"""
        complete
        2 pass throw 3 1000 {PAID["pass +"]}
        1 all_small throw 9 500 win +17000 623a.5(h)(1) All Small Wager, 34 to 1
        """,
        filed=ANY,
    )


def test_623a_12_1_a_late_bonus_wager_stays_and_goes_by_what_is_thrown_after_it() -> None:
    script = f"start\n{rolls('4')}\n1 all_small 500\n{rolls('2 3 5 6 4 4 7')}"
    check(
        script,
        """
        complete
        1 all_small throw 6 500 win +17000 623a.5(h)(1) All Small Wager, 34 to 1
        ! late_wager 1 all_small 623a.12(1)
        """,
    )


def test_623a_12_1_a_bonus_wager_may_be_made_anew_only_where_any_come_out_will_do() -> None:
    script = f"start\n1 all_tall 500\n{rolls('7')}\n1 all_tall 500\n{rolls('8 7')}"
    settled = """
        complete
        1 all_tall throw 1 500 lose -500 623a.12(5)
        1 all_tall throw 3 500 lose -500 623a.12(5)
    """
    check(script, settled, filed=ANY)
    check(script, settled + "! late_wager 1 all_tall 623a.12(1)", filed=NEW)


@pytest.mark.parametrize("filed", [ANY, NEW])
def test_623a_4_c_4_a_bonus_wager_is_not_raised_once_it_lies(filed: dict[str, object]) -> None:
    script = f"start\n1 all_small 500\n{rolls('11')}\n1 all_small 300\n{rolls('6 7')}"
    check(
        script,
        """
        complete
        1 all_small throw 3 800 lose -800 623a.12(5)
        ! wager_not_permitted 1 all_small 623a.4(c)(4)
        """,
        filed=filed,
    )
    # Chips put down one after the other before the first throw are one wager.
    script = f"start\n1 all_small 500\n1 all_small 300\n{rolls('6 7')}"
    check(script, "complete\n1 all_small throw 2 800 lose -800 623a.12(5)", filed=filed)


@pytest.mark.parametrize("filed", [ANY, NEW])
def test_623a_4_c_4_a_bonus_wager_is_not_reduced_or_removed_and_stays_at_stake(
    filed: dict[str, object],
) -> None:
    for thrown, cents in (("11", 200), ("11", 500), ("6", 200), ("6", 500)):
        script = f"start\n1 all_small 500\n{rolls(thrown)}\nwithdraw 1 all_small {cents}\n"
        check(
            script + rolls("8 7"),
            """
            complete
            1 all_small throw 3 500 lose -500 623a.12(5)
            ! wager_not_permitted 1 all_small 623a.4(c)(4)
            """,
            filed=filed,
        )
    taken = f"start\n1 all_small 500\n1 pass 100\nwithdraw 1 all_small 500\n{rolls('6 7')}"
    check(taken, "complete\n1 pass throw 2 100 lose -100 623a.3(a)", filed=filed)


def test_623a_4_c_1_a_pass_bet_is_not_taken_down_once_there_is_a_point() -> None:
    for cents in (400, 1000):
        script = f"start\n1 pass 1000\n{rolls('6')}\nwithdraw 1 pass {cents}\n{rolls('7')}"
        check(
            script,
            """
            complete
            1 pass throw 2 1000 lose -1000 623a.3(a)
            ! wager_not_permitted 1 pass 623a.4(c)(1)
            """,
        )
    before = f"start\n1 pass 1000\nwithdraw 1 pass 400\n{rolls('6 7')}"
    check(before, "complete\n1 pass throw 2 600 lose -600 623a.3(a)")
    again = f"start\n{rolls('7')}\n1 pass 1000\nwithdraw 1 pass 400\n{rolls('6 7')}"
    check(again, "complete\n1 pass throw 3 600 lose -600 623a.3(a)")


def test_623a_4_d_dont_pass_is_taken_down_at_any_time_and_then_not_replaced_or_raised() -> None:
    begins = f"start\n2 pass 100\n1 dont_pass 1000\n{rolls('6')}\nwithdraw 1 dont_pass "
    lost = "2 pass throw 2 100 lose -100 623a.3(a)"
    check(f"{begins}1000\n{rolls('7')}", f"complete\n{lost}")
    won = "1 dont_pass throw 2 600 win +600 623a.5 Don't Pass Bet, 1 to 1"
    check(f"{begins}400\n{rolls('7')}", f"complete\n1 {won[2:]}\n{lost}")
    again = "! wager_not_permitted 1 dont_pass 623a.4(d)"
    check(
        f"{begins}400\n1 dont_pass 300\n{rolls('7')}",
        f"""
        complete
        1 dont_pass throw 2 900 win +900 623a.5 Don't Pass Bet, 1 to 1
        {lost}
        {again}
    """,
    )
    check(
        f"{begins}1000\n1 dont_pass 300\n{rolls('7')}",
        f"""
        complete
        1 dont_pass throw 2 300 win +300 623a.5 Don't Pass Bet, 1 to 1
        {lost}
        {again}
    """,
    )
    # Another player's, and one on the next come out roll, are new bets; one raised is late.
    other = f"{begins}1000\n{rolls('6')}\n1 dont_pass 300\n{rolls('2 4 7')}"
    check(
        other,
        """
        complete
        2 pass throw 2 100 win +100 623a.5 Pass Bet, 1 to 1
        1 dont_pass throw 3 300 win +300 623a.5 Don't Pass Bet, 1 to 1
    """,
    )
    raised = f"{begins}1000\n3 dont_pass 300\n{rolls('7')}"
    check(
        raised,
        f"""
        complete
        {lost}
        3 dont_pass throw 2 300 win +300 623a.5 Don't Pass Bet, 1 to 1
        ! late_wager 3 dont_pass 623a.3(a)
    """,
    )


def test_623a_4_d_dont_pass_put_down_anew_before_the_same_come_out_roll_is_one_wager() -> None:
    script = f"start\n{rolls('12')}\n1 dont_pass 500\nwithdraw 1 dont_pass 500\n"
    won = "1 dont_pass throw 3 400 win +400 623a.5 Don't Pass Bet, 1 to 1"
    check(f"{script}1 dont_pass 400\n{rolls('6 7')}", f"complete\n{won}")


def test_623a_4_findings_point_at_the_fact_they_speak_of() -> None:
    raised = f"start\n1 all_small 500\n{rolls('6')}\n1 all_small 300 | id more\n{rolls('7')}"
    replaced = f"start\n1 dont_pass 500\n{rolls('6')}\nwithdraw 1 dont_pass 500\n"
    replaced += f"1 dont_pass 500 | id more\n{rolls('7')}"
    for script in (raised, replaced):
        [found] = ruling(script, GAME).findings
        assert [fact.id for fact in found.facts] == ["more"]


def test_623a_3_a_42_a_lay_bet_is_made_before_any_roll_come_out_or_not() -> None:
    script = f"start\n1 pass 100\n{rolls('11')}\n1 lay_4 1000\n{rolls('6')}\n1 lay_9 900\n"
    check(
        script + rolls("7"),
        """
        complete
        1 pass throw 1 100 win +100 623a.5 Pass Bet, 1 to 1
        1 lay_4 throw 3 1000 win +500 623a.3(a)(42) Lay Bet on 4, 1 to 2
        1 lay_9 throw 3 900 win +600 623a.3(a)(42) Lay Bet on 9, 2 to 3
        """,
    )


def test_623a_3_a_line_wagers_are_made_on_come_out_rolls() -> None:
    script = f"start\n1 pass 1000\n{rolls('6')}\n1 pass 500\n2 dont_pass 300\n{rolls('7')}"
    check(
        script,
        """
        complete
        1 pass throw 2 1500 lose -1500 623a.3(a)
        2 dont_pass throw 2 300 win +300 623a.5 Don't Pass Bet, 1 to 1
        ! late_wager 1 pass 623a.3(a)
        ! late_wager 2 dont_pass 623a.3(a)
        """,
    )


def test_623a_4_c_a_lay_bet_is_made_raised_and_taken_down_at_any_time() -> None:
    script = f"""
        start
        1 pass 100
        {rolls("6")}
        1 lay_4 400
        2 lay_4 400
        {rolls("8")}
        1 lay_4 600
        withdraw 2 lay_4 400
        {rolls("7")}
    """
    check(
        script,
        """
        complete
        1 lay_4 throw 3 1000 win +500 623a.3(a)(42) Lay Bet on 4, 1 to 2
        1 pass throw 3 100 lose -100 623a.3(a)
        """,
    )


def test_623a_3_a_42_part_of_a_lay_bet_taken_down_leaves_the_rest_off() -> None:
    script = f"start\n1 lay_4 1000\ncalled 1 lay_4 off\n{rolls('6')}\nwithdraw 1 lay_4 400\n"
    check(script + rolls("7"), "complete\n1 lay_4 600 void +0 623a.3(a)(42)")


def test_623a_3_a_42_43_lay_bets_and_bonus_craps_stand_only_where_they_are_offered() -> None:
    script = f"start\n1 lay_4 1000\n1 all_tall 500\n1 pass 100\n{rolls('6 7')}"
    check(
        script,
        """
        complete
        1 all_tall throw 2 500 lose -500 623a.12(5)
        1 lay_4 throw 2 1000 win +500 623a.3(a)(42) Lay Bet on 4, 1 to 2
        1 pass throw 2 100 lose -100 623a.3(a)
        ! wager_not_permitted 1 lay_4 623a.3(a)(42)
        ! wager_not_permitted 1 all_tall 623a.3(a)(43)(iii)
        """,
        filed={"offers": ()},
    )


def test_623a_a_wager_after_the_seven_out_is_late() -> None:
    script = f"start\n1 pass 100\n{rolls('6 7')}\n1 pass 300\n{rolls('6')}"
    check(
        script,
        """
        complete
        1 pass throw 2 100 lose -100 623a.3(a)
        ! late_wager 1 pass None / 300 623a.3(a)
        ! out_of_turn
        """,
    )


@pytest.mark.parametrize(("at", "code"), [("2.25", "order_uncertain"), ("2.250001", "late_wager")])
def test_623a_12_1_within_two_clocks_a_wager_about_the_first_throw_is_of_uncertain_order(
    at: str, code: str
) -> None:
    script = f"start\nroll 3 1 | at 2.0\n1 all_small 500 | by layout at {at}\n{rolls('7')}"
    check(
        script,
        f"complete\n1 all_small throw 2 500 lose -500 623a.12(5)\n! {code} 1 all_small 623a.12(1)",
    )


def test_623a_3_a_42_no_more_is_taken_back_than_lies_there() -> None:
    for wager, section in (("lay_4", "3(a)(42)"), ("pass", "3(a)"), ("all_small", "3(a)(43)(i)")):
        found, filed = f"! wager_not_permitted 1 {wager} 623a.{section}", {"offers": (wager,)}
        begun = f"start\n1 {wager} 1000\nwithdraw 1 {wager} {{}}\n2 pass 100\n{rolls('5 7')}"
        owed = "complete\n2 pass throw 2 100 lose -100 623a.3(a)\n"
        check(begun.format(1500), owed + found, filed=filed)
        check(begun.format(1000), owed, filed=filed)
        # If facts were lost, the chips may be among them.
        lost = begun.format("1500 | seq 1").replace("2 pass 100", "2 pass 100 | seq 3")
        assert found not in text(ruling(lost, GAME))
    says = ruling(begun.format(1500), GAME).findings[0].says
    assert "$15.00 was taken back, but only $10.00 was there" in says


def test_623a_3_a_42_a_lay_bet_overdrawn_is_off_no_longer() -> None:
    """Down it is whole: another one is a new bet."""
    script = f"start\n1 lay_4 1000\ncalled 1 lay_4 off\n{rolls('6')}"
    again = f"{script}\nwithdraw 1 lay_4 1500\n1 lay_4 500\n{rolls('7')}"
    assert "1 lay_4 throw 2 500 win +250" in " ".join(text(ruling(again, GAME)))


@pytest.mark.parametrize(
    ("wager", "section", "again"),
    [
        ("pass", "623a.4(c)(1)", "1 pass 1000"),
        ("pass", "623a.4(c)(1)", "1 pass 400"),
        ("pass", "623a.4(c)(1)", "1 pass 600\n1 pass 400"),
        ("all_small", "623a.4(c)(4)", "1 all_small 1000"),
        ("all_small", "623a.4(c)(4)", "1 all_small 600\n1 all_small 400"),
    ],
)
def test_623a_4_c_chips_taken_back_too_late_and_put_down_again_are_the_same_chips(
    wager: str, section: str, again: str
) -> None:
    moved = f"withdraw 1 {wager} 1000\n{again}"
    script = f"start\n1 {wager} 1000\n{rolls('6')}\n{moved}\n{rolls('7')}"
    said = text(ruling(f"{script}\ntake 1 {wager} 1000\ndone", GAME))
    lost = [line for line in said if f" {wager} throw 2 1000 lose -1000 " in line]
    assert (said[0], len(lost)) == ("complete", 1), said
    assert f"! wager_not_permitted 1 {wager} {section}" in said
    assert not [line for line in said if "collected" in line]


def test_623a_3_a_chips_that_came_too_late_and_went_again_are_not_at_stake() -> None:
    late = f"start\n1 pass 1000\n{rolls('6')}\n1 pass 400\nwithdraw 1 pass 400\n{rolls('7')}"
    assert "1 pass throw 2 1000 lose -1000 623a.3(a)" in text(ruling(late, GAME))
