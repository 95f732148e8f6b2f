"""Every long test has its turn, and none is left out for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import pytest

from tests.suite.in_turn import WHOLE, left_out

if TYPE_CHECKING:
    from collections.abc import Sequence


class Named(NamedTuple):
    """A test as far as it is chosen by its name."""

    nodeid: str


TESTS = [Named(f"tests/test_{file}.py::test_{n}") for file in "ab" for n in range(8)]
ALWAYS = [Named(f"{next(iter(WHOLE))}::test_{n}") for n in range(3)]


def kept(share: int, seed: int, tests: Sequence[Named] = TESTS) -> list[Named]:
    items = cast("list[pytest.Item]", [*tests, *ALWAYS])
    left = {*cast("list[Named]", left_out(items, share, seed))}
    return [each for each in (*tests, *ALWAYS) if each not in left]


@pytest.mark.parametrize("share", [2, 5, 16, 40])
def test_over_as_many_seeds_as_there_are_shares_every_test_runs_once(share: int) -> None:
    turns = [kept(share, seed) for seed in range(7, 7 + share)]
    assert sorted(each for turn in turns for each in turn if each in TESTS) == TESTS
    assert max(map(len, turns)) - min(map(len, turns)) <= 1
    assert all(each in turn for turn in turns for each in ALWAYS)


def test_without_a_share_every_test_runs() -> None:
    assert kept(1, seed=7) == [*TESTS, *ALWAYS]


def test_the_same_ones_run_in_whatever_order_the_files_come() -> None:
    assert sorted(kept(5, 3, TESTS[::-1])) == sorted(kept(5, 3))
