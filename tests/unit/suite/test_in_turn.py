"""Every case has its turn, none is left out for ever, and one always runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import pytest

from tests.suite.in_turn import WHOLE, left_out, out_of_turn

if TYPE_CHECKING:
    from collections.abc import Sequence


class Named(NamedTuple):
    """A test as far as it is chosen by its name."""

    nodeid: str

    def get_closest_marker(self, _: str) -> None:
        """It has no mark."""


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


def test_with_a_share_an_eighth_of_a_file_runs_and_the_others_with_the_next_seeds() -> None:
    tests = [Named(f"tests/test_some.py::test_{n}") for n in range(16)]
    always = [Named(f"{next(iter(WHOLE))}::test_{n}") for n in range(3)]
    items = cast("list[pytest.Item]", tests + always)
    assert left_out(items, share=1, seed=7) == []
    run = [{*tests} - {*left_out(items, share=12, seed=seed)} for seed in range(8, 16)]
    assert [len(each) for each in run] == [2] * 8
    assert set().union(*run) == {*tests}
