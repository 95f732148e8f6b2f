"""A little is tried every day and the whole in the long run, however a test says what that is."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from tests.suite.budget import budget, examples, rest_long

tried: list[int] = []


def long_ones(cases: pytest.MarkDecorator) -> dict[object, bool]:
    """What a test is given, and whether in the long run alone."""
    return {
        each.values[0]: any(mark.name == "long" for mark in each.marks) for each in cases.args[1]
    }


@examples(7, 30, number=st.integers())
def law(number: int) -> None:
    """Note what it is tried on."""
    tried.append(number)


def test_the_whole_is_for_the_long_run() -> None:
    assert long_ones(budget("count", everyday=3, whole=40)) == {3: False, 40: True}


def test_cases_that_are_not_for_every_day_are_for_the_long_run() -> None:
    cases = pytest.mark.parametrize("each", rest_long("abc", everyday={"b"}))
    assert long_ones(cases) == {"a": True, "b": False, "c": True}


@pytest.mark.parametrize("count", [7, 30])
def test_a_law_is_tried_on_as_many_examples_as_it_says_and_each_time_on_the_same(
    count: int,
) -> None:
    runs = []
    for _ in range(2):
        tried.clear()
        law(count)
        runs.append(list(tried))
    assert len(runs[0]) == count
    assert runs[0] == runs[1]
