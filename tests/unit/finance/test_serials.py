"""Sets of serials are sets of their single serials."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.finance.serials import Serials, each_of, is_range, printed, serials, union

PARTS = st.tuples(st.sampled_from(["A-", "B-", ""]), st.integers(0, 30), st.integers(0, 8))


@st.composite
def ranges(draw: st.DrawFn) -> tuple[str, str]:
    stem, low, more = draw(PARTS)
    return f"{stem}{low:03d}", f"{stem}{low + more:03d}"


SETS = st.lists(ranges(), max_size=6)


def singles(told: list[tuple[str, str]]) -> set[str]:
    """The oracle: every serial by itself."""
    return {
        f"{first[:-3]}{number:03d}"
        for first, last in told
        for number in range(int(first[-3:]), int(last[-3:]) + 1)
    }


def listed(of: Serials) -> list[str]:
    return [printed(each, n) for each in of.ranges for n in range(each.low, each.high + 1)]


def made(told: list[tuple[str, str]]) -> Serials:
    return union(serials(first, last) for first, last in told)


@given(SETS, SETS)
def test_union_intersection_and_difference_are_those_of_single_serials(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    for found, expected in (
        (made(one) | made(other), singles(one) | singles(other)),
        (made(one) & made(other), singles(one) & singles(other)),
        (made(one) - made(other), singles(one) - singles(other)),
    ):
        assert len(listed(found)) == found.pieces == len(expected)
        assert set(listed(found)) == expected
        assert found == each_of(expected), "one set has one form"


@pytest.mark.parametrize(
    "ends",
    [
        ("A-01", "B-03"),
        ("A-03", "A-01"),
        ("A-09", "A-011"),  # another width is another series, if there are leading zeros
        ("A-9", "A-011"),
        ("A-11", "A-9"),
        ("BLUE", "BLUE1"),
        ("BLUE", "RED"),
    ],
)
def test_two_ends_of_two_series_or_from_high_to_low_are_no_range(ends: tuple[str, str]) -> None:
    assert not is_range(*ends)
    assert listed(serials(*ends)) == []
    assert is_range(ends[0], ends[0])


def test_numbers_without_leading_zeros_run_on_from_nine_to_ten() -> None:
    ten = serials("N-1", "N-10")
    assert (ten.pieces, ten.ends) == (10, [("N-1", "N-10")])
    assert ten == each_of(f"N-{number}" for number in range(1, 11))
    assert (ten - each_of(["N-9"])).ends == [("N-1", "N-8"), ("N-10", "N-10")]
    assert (ten - each_of(["N-10"])).ends == [("N-1", "N-9")]
    assert serials("7", "1203").ends == [("7", "1203")]
    assert serials("7", "1203").pieces == 1197
    assert union([serials("N-01", "N-09"), serials("N-10", "N-12")]).ends == [("N-01", "N-12")]
    assert each_of(["N-99", "N-0100"]).pieces == len(each_of(["N-99", "N-0100"]).ends) == 2


def test_a_serial_without_a_number_stands_alone() -> None:
    assert listed(serials("BLUE", "BLUE")) == ["BLUE"]
    assert each_of(["BLUE", "BLUE1"]).pieces == 2


def test_a_million_serials_are_one_range() -> None:
    assert len(serials("M-0000001", "M-1000000").ranges) == 1
    assert (serials("M-0000001", "M-1000000") - each_of(["M-0500000"])).pieces == 999_999
