"""Control charts: alarms of one day and of many, and how often they are false."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from ledger.finance.statistics.charts import ChartLimits, ChartPoint, points
from ledger.finance.statistics.hold import MoneyOfDay
from ledger.finance.win import ExpectedWin
from tests.property.finance.test_expected_oracle import seven_on_banker, unfiled_spread


def money(day: int, gap: int | None, z: str | None = "0.00", group: str = "A") -> MoneyOfDay:
    expected = None if z is None else ExpectedWin(win=0, sigma=1, z=z)
    tables = frozenset({group})
    return MoneyOfDay(
        group, f"2026-{day // 28 + 1:02d}-{day % 28 + 1:02d}", tables, 1, 1, 1, expected, gap
    )


def chart(*gaps: int | None) -> list[ChartPoint]:
    return points([money(day, gap) for day, gap in enumerate(gaps)], ChartLimits())


def test_small_errors_of_one_side_add_up_to_an_alarm_and_begin_again() -> None:
    found = chart(*[-3_000] * 6)
    assert [each.paid_over for each in found] == [2_500, 5_000, 7_500, 10_000, 12_500, 2_500]
    assert [each.alarms for each in found] == [[], [], [], [], ["paid_over"], []]
    assert {each.paid_under for each in found} == {0}


def test_errors_of_both_sides_and_those_within_the_allowance_raise_none() -> None:
    assert [each.alarms for each in chart(*[9_000, -9_000] * 5)] == [[]] * 10
    assert [each.paid_under for each in chart(*[500] * 50)][-1] == 0


def test_a_day_without_a_pay_gap_leaves_the_sums() -> None:
    assert [each.paid_under for each in chart(1_500, None, 1_500)] == [1_000, 1_000, 2_000]


@pytest.mark.parametrize(
    ("z", "alarms"), [("3.00", []), ("3.01", ["luck"]), ("-3.01", ["luck"]), (None, [])]
)
def test_a_day_of_luck_beyond_three_sigmas_is_an_alarm(z: str | None, alarms: list[str]) -> None:
    [found] = points([money(1, 0, z)], ChartLimits())
    assert found.alarms == alarms


def test_each_group_has_sums_of_its_own() -> None:
    found = points([money(1, 4_000), money(1, 2_000, group="B"), money(2, 1_000)], ChartLimits())
    assert [(each.group, each.paid_under) for each in found] == [
        ("A", 3_500),
        ("A", 4_000),
        ("B", 1_500),
    ]


class FalseAlarms(NamedTuple):
    """Days simulated without a fault, and the alarms on them."""

    days: int
    beyond_196: int
    beyond_3: int
    sums: int


def without_a_fault(days: int, rounds: int) -> FalseAlarms:
    """Days of seven on Banker with honest cards, and dealers whose errors have no side.

    One round in 400 is paid wrong, by $5, $10, $25 or $100 either way.
    """
    chance = random.Random(18)  # noqa: S311 - repeatable, not for security
    mean, sigma = unfiled_spread(rounds)
    beyond_196 = beyond_3 = 0
    gaps = []
    for _ in range(days):
        z = (sum(seven_on_banker(chance).won for _ in range(rounds)) - mean) / sigma
        beyond_196 += abs(z) > 1.96
        beyond_3 += abs(z) > 3
        wrong = sum(chance.random() < 1 / 400 for _ in range(rounds))
        gaps.append(
            sum(
                chance.choice((500, 1_000, 2_500, 10_000)) * chance.choice((1, -1))
                for _ in range(wrong)
            )
        )
    alarms = sum(len(each.alarms) for each in chart(*gaps))
    return FalseAlarms(days, beyond_196, beyond_3, alarms)


@pytest.mark.parametrize("days", [40, pytest.param(5_000, marks=pytest.mark.long)])
def test_false_alarms_are_as_rare_as_the_page_on_finance_says(days: int) -> None:
    found = without_a_fault(days, 100)
    assert abs(found.beyond_196 - days * 0.05) <= 5 * (days * 0.05) ** 0.5
    assert found.beyond_3 <= days * 0.0027 + 5 * (days * 0.0027) ** 0.5 + 1
    assert found.sums <= days // 20 + 3
