"""Hold beside its limits: base levels, sigmas, periods, and what an explanation closes."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pytest

from ledger.facts import VarianceExplained
from ledger.finance.statistics.hold import (
    LIMITS,
    HoldLimit,
    MoneyOfDay,
    VarianceAsked,
    VarianceLine,
    lines,
    percent,
    spans,
    total,
)
from ledger.finance.win import ExpectedWin

UNTIL = "2026-11-20"
POINTS = [HoldLimit(name="3 %", source="house", periods=["day", "month", "year"], points="3")]


def money(
    gaming_day: str,
    win: int | None,
    drop: int | None = 100_000,
    sigma: int = 5_000,
    group: str = "A",
) -> MoneyOfDay:
    expected = ExpectedWin(win=20_000, sigma=sigma, z="0.00")
    return MoneyOfDay(group, gaming_day, frozenset({group}), drop, win, win, expected, 0)


def days(first: str, count: int, win: int) -> list[MoneyOfDay]:
    began = date.fromisoformat(first)
    return [money((began + timedelta(days=nth)).isoformat(), win) for nth in range(count)]


LAST_YEAR = days("2025-03-01", 10, 20_000)


def line(
    its: list[MoneyOfDay],
    period: str = "day",
    limits: list[HoldLimit] | None = None,
    explained: list[VarianceExplained] | None = None,
) -> VarianceLine:
    asked = VarianceAsked("hollywood", "table", period, UNTIL)  # type: ignore[arg-type]  # one of three
    [found] = lines(asked, its, POINTS if limits is None else limits, explained or [])
    return found


def signed(
    amount: int,
    gaming_day: str = UNTIL,
    table: str = "A",
    **more: Any,  # noqa: ANN401 - any field
) -> VarianceExplained:
    its: dict[str, Any] = {"amount": amount, "because": "x", "by": "F-1", "second": "F-2"}
    return VarianceExplained(table=table, gaming_day=gaming_day, **(its | more))


@pytest.mark.parametrize(
    ("win", "outside"), [(23_000, False), (23_001, True), (17_000, False), (16_999, True)]
)
def test_a_hold_beyond_its_points_of_last_years_is_open(win: int, outside: bool) -> None:  # noqa: FBT001
    found = line([*LAST_YEAR, money(UNTIL, win)])
    assert (found.limits[0].outside, found.open) == (outside, outside)
    assert (found.limits[0].base_level, found.hold) == ("20.00", percent_of(win))
    assert found.limits[0].off_base == win - 20_000


def percent_of(win: int) -> str | None:
    return {23_000: "23.00", 23_001: "23.00", 17_000: "17.00", 16_999: "17.00"}[win]


def test_in_the_first_year_the_month_before_is_the_base() -> None:
    found = line([*days("2026-09-01", 5, 90_000), *days("2026-10-01", 5, 20_000), money(UNTIL, 0)])
    assert found.limits[0].base_level == "20.00"
    [alone] = line([money(UNTIL, 0)]).limits
    assert (alone.outside, alone.off_base) == (None, None)  # nothing to compare with


def test_sigmas_are_those_of_the_expected_win_by_the_drop() -> None:
    [of_95] = [each for each in LIMITS if each.sigmas]
    assert line([*LAST_YEAR, money(UNTIL, 29_799)], limits=[of_95]).limits[0].outside is False
    found = line([*LAST_YEAR, money(UNTIL, 29_801)], limits=[of_95]).limits[0]
    assert (found.allowed, found.outside) == ("9.80", True)
    lacks = money(UNTIL, 29_801)._replace(expected=None)
    assert line([*LAST_YEAR, lacks], limits=[of_95]).limits[0].outside is None
    no_rounds = line([*LAST_YEAR, money(UNTIL, 29_801, sigma=0)], limits=[of_95]).limits[0]
    assert (no_rounds.allowed, no_rounds.outside) == (None, None)


@pytest.mark.parametrize(("drop", "win"), [(0, 500), (None, 500), (100_000, None)])
def test_a_hold_without_a_drop_or_a_win_is_none_and_never_0(
    drop: int | None, win: int | None
) -> None:
    found = line([*LAST_YEAR, money(UNTIL, win, drop)])
    assert (found.hold, found.limits[0].outside, found.open) == (None, None, False)


def test_a_month_and_a_year_sum_their_days_up_to_the_day() -> None:
    its = [
        *LAST_YEAR,
        money("2026-01-05", 10_000),
        money("2026-11-02", 30_000),
        money(UNTIL, 50_000),
        money("2026-11-21", 90_000),
    ]
    assert line(its, "day").hold == "50.00"
    assert line(its, "month").hold == "40.00"
    assert line(its, "year").hold == "30.00"
    month = line(its, "month")
    assert (month.since, month.until, month.drop) == ("2026-11-01", UNTIL, 200_000)
    assert month.expected == ExpectedWin(win=40_000, sigma=7071, z="5.66")


def test_ohio_compares_the_last_30_days_with_all_before_them() -> None:
    [ohio] = [each for each in LIMITS if each.rolling_days]
    its = [*days("2026-01-01", 10, 20_000), *days("2026-10-22", 29, 24_000), money(UNTIL, 24_000)]
    check = line(its, "month", [ohio]).limits[0]
    assert (check.hold, check.base_level, check.outside) == ("24.00", "20.00", False)
    assert line([*its, money("2026-11-19", 40_000)], "month", [ohio]).limits[0].outside is True


OFF = [*LAST_YEAR, money(UNTIL, 60_000)]
"""A win of $400.00 off its base, of which 3 points allow $30.00."""


def test_an_explanation_of_the_table_and_day_closes_its_line_and_no_other() -> None:
    assert line(OFF).open
    found = line(OFF, explained=[signed(40_000)])
    assert (found.open, [each.by for each in found.explained]) == (False, ["F-1"])
    assert line(OFF, explained=[signed(40_000, gaming_day="2026-11-19")]).open
    assert line(OFF, explained=[signed(40_000, table="B")]).open


@pytest.mark.parametrize(
    ("amount", "left", "is_open"),
    [
        (0, 40_000, True), (100, 39_900, True), (36_999, 3_001, True), (37_000, 3_000, False),
        (40_000, 0, False), (43_000, -3_000, False), (43_001, -3_001, True),
        (-40_000, 80_000, True),
    ],
)  # fmt: skip
def test_a_line_is_open_by_what_an_explanation_leaves_of_it(
    amount: int,
    left: int,
    is_open: bool,  # noqa: FBT001 - a case
) -> None:
    found = line(OFF, explained=[signed(amount)])
    [check] = found.limits
    assert (check.off_base, check.explained, check.left) == (40_000, amount, left)
    assert (check.outside, check.open, found.open) == (True, is_open, is_open)


def test_what_stays_unexplained_is_signed_for_and_closes_the_line_too() -> None:
    [check] = line(OFF, explained=[signed(10_000, unexplained=30_000)]).limits
    assert (check.explained, check.unexplained, check.left) == (10_000, 30_000, 0)
    assert not check.open
    in_parts = line(OFF, explained=[signed(10_000), signed(30_000, because="y")])
    assert (in_parts.limits[0].left, in_parts.open) == (0, False)


def test_what_one_person_signed_leaves_all_of_it() -> None:
    found = line(OFF, explained=[signed(40_000, second="f-1 ")])
    assert (found.limits[0].left, found.open, len(found.explained)) == (40_000, True, 1)


@pytest.mark.parametrize(
    ("named", "is_open"),
    [
        ({"about": "3 %"}, False), ({"about": "4 %"}, True), ({"about": "gap"}, True),
        ({"period": "day"}, False), ({"period": "month"}, True), ({"shift": "swing"}, False),
    ],
)  # fmt: skip
def test_an_explanation_counts_where_it_says(named: dict[str, str], is_open: bool) -> None:  # noqa: FBT001 - a case
    assert line(OFF, explained=[signed(40_000, **named)]).open == is_open


def test_a_shift_has_what_is_of_it_or_of_no_shift() -> None:
    asked = VarianceAsked("hollywood", "shift", "day", UNTIL)
    for shift, is_open in ((None, False), ("A", False), ("B", True)):
        [found] = lines(asked, OFF, POINTS, [signed(40_000, shift=shift)])
        assert found.open == is_open


def test_a_group_has_what_is_explained_of_each_of_its_tables() -> None:
    of_two = [*LAST_YEAR, money(UNTIL, 60_000)._replace(tables=frozenset({"A", "B"}))]
    assert line(of_two, explained=[signed(20_000)]).open
    assert not line(of_two, explained=[signed(20_000), signed(20_000, table="B")]).open


def test_a_sum_lacks_what_one_of_its_days_lacks() -> None:
    whole = total("A", [money(UNTIL, 1), money(UNTIL, None)])
    assert whole is not None
    assert (whole.win, whole.drop) == (None, 200_000)
    assert total("A", []) is None


def test_percentages_have_two_places_half_to_even() -> None:
    assert percent(Fraction(-1, 3)) == "-33.33"
    assert percent(Fraction(12_345, 1_000_000)) == "1.23"
    assert percent(Fraction(12_355, 1_000_000)) == "1.24"
    assert percent(Fraction(-1, 10**9)) == "0.00"
    assert percent(None) is None


def test_the_days_that_are_read_are_the_period_and_what_limits_compare_it_with() -> None:
    day = VarianceAsked("hollywood", "table", "day", UNTIL)
    year_before, month_before = ("2025-01-01", "2025-12-31"), ("2026-10-01", "2026-10-31")
    assert set(spans(day, LIMITS)) == {(UNTIL, UNTIL), year_before, month_before}
    month = spans(day._replace(period="month"), LIMITS)
    assert {("2026-11-01", UNTIL), ("2026-10-22", UNTIL), ("", "2026-10-21")} <= set(month)
    assert spans(day._replace(by="dealer"), LIMITS) == [(UNTIL, UNTIL)]


@pytest.mark.parametrize(
    ("period", "first"),
    [
        ("day", "2025-03-01"), ("month", "2025-03-01"), ("year", "2025-03-01"),
        ("day", "2026-01-20"), ("month", "2026-01-20"),
    ],
)  # fmt: skip
def test_other_days_than_those_change_no_line(period: str, first: str) -> None:
    """The control leaves a base level out."""
    began = date.fromisoformat(first)
    all_days = [
        money((began + timedelta(days=nth)).isoformat(), 10_000 + nth * 37)
        for nth in range((date.fromisoformat(UNTIL) - began).days + 1)
    ]
    asked = VarianceAsked("hollywood", "table", period, UNTIL)  # type: ignore[arg-type]  # one of three
    read = [
        each
        for each in all_days
        if any(since <= each.gaming_day <= until for since, until in spans(asked, LIMITS))
    ]
    found = lines(asked, all_days, LIMITS, [])
    assert lines(asked, read, LIMITS, []) == found
    assert found[0].limits[0].base_level is not None
    alone = [each for each in read if each.gaming_day >= UNTIL[:8]]
    assert lines(asked, alone, LIMITS, []) != found
