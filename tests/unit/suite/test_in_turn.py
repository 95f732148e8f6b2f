"""Every case has its turn, none is left out for ever, and one always runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from tests.suite.in_turn import out_of_turn

if TYPE_CHECKING:
    from collections.abc import Sequence


def kept(count: int, share: int, seed: int) -> set[int]:
    cases = cast("Sequence[pytest.Item]", range(count))
    return set(range(count)) - set(cast("list[int]", out_of_turn(cases, share, seed)))


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_over_as_many_seeds_as_there_are_shares_every_case_runs_once(count: int) -> None:
    turns = [kept(count, 8, seed) for seed in range(min(8, count))]
    assert all(turns)
    assert sorted(case for turn in turns for case in turn) == list(range(count))


def test_without_a_share_every_case_runs() -> None:
    assert kept(20, 1, seed=7) == set(range(20))
