"""Times by the floor's clock, above all on the night on which an hour comes twice."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import Usage
from ledger.values import parse_time
from replay.text.times import both, clock, local, moment, read, span, wall, which_of_two

EAST = ZoneInfo("America/New_York")
UTC = ZoneInfo("UTC")
HOUR = 3_600_000_000


def us(text: str) -> int:
    time_us = parse_time(text)
    assert time_us is not None
    return time_us


FIRST, SECOND = us("2026-11-01T01:30:00-04:00"), us("2026-11-01T01:30:00-05:00")


def test_half_past_one_comes_twice_on_the_autumn_night_and_each_says_which_it_is() -> None:
    assert SECOND - FIRST == HOUR
    assert local(FIRST, EAST) == "2026-11-01 01:30:00.000 EDT (-04:00), the first of two"
    assert local(SECOND, EAST) == "2026-11-01 01:30:00.000 EST (-05:00), the second of two"
    assert [which_of_two(each, EAST) for each in (FIRST - HOUR, SECOND + HOUR)] == [None, None]


def test_a_time_that_the_clock_showed_twice_must_be_given_with_its_offset() -> None:
    with pytest.raises(Usage, match=r"twice.*-04:00 or 2026-11-01T01:30:00-05:00"):
        read("2026-11-01T01:30", EAST, "--from")
    assert read("2026-11-01T01:30:00-04:00", EAST, "--from") == FIRST
    assert read("2026-11-01T06:30:00Z", EAST, "--from") == SECOND
    assert read("2026-11-01 00:30", EAST, "--from") == FIRST - HOUR
    assert read("2026-11-01T01:30", UTC, "--from") == us("2026-11-01T01:30:00Z")


def test_a_time_that_no_clock_showed_is_refused() -> None:
    with pytest.raises(Usage, match="set forward"):
        read("2026-03-08T02:30:00", EAST, "--from")
    for text in ("yesterday", "2026-13-01T00:00", "2026-11-01", "19:04"):
        with pytest.raises(Usage, match="not a time"):
            read(text, EAST, "--from")


def test_a_span_over_the_fold_has_its_true_length_whatever_the_wall_shows() -> None:
    """01:50 to 01:10 by the wall is twenty minutes, not an hour and never less than nothing."""
    start, end = us("2026-11-01T01:50:00-04:00"), us("2026-11-01T01:10:00-05:00")
    assert wall(end, EAST).replace(tzinfo=None) < wall(start, EAST).replace(tzinfo=None)
    says = span(start, end, EAST)
    assert "20 min 0 s" in says
    assert "clocks were set back by 1 h 0 min 0 s in between" in says
    assert "the first of two" in says
    assert "the second of two" in says
    spring = span(us("2026-03-08T01:50:00-05:00"), us("2026-03-08T03:10:00-04:00"), EAST)
    assert "20 min 0 s; clocks were set forward" in spring


def test_a_floor_that_lives_in_utc_is_told_each_time_once() -> None:
    assert both(FIRST, UTC) == "2026-11-01T05:30:00.000Z"
    assert both(FIRST, EAST).startswith("2026-11-01T05:30:00.000Z = 2026-11-01 01:30")


@given(st.integers(0, 4_102_444_800), st.sampled_from([EAST, UTC, ZoneInfo("Europe/Berlin")]))
def test_what_is_shown_with_its_offset_is_read_as_the_same_time(
    second: int, zone: ZoneInfo
) -> None:
    time_us = second * 1_000_000
    assert read(wall(time_us, zone).isoformat(), zone, "x") == time_us
    if which_of_two(time_us, zone) is None:
        assert read(wall(time_us, zone).replace(tzinfo=None).isoformat(), zone, "x") == time_us


def test_a_page_shows_the_floors_time_and_utc_beside_it_and_one_time_where_both_are_one() -> None:
    at_us = us("2026-11-21T02:14:07.233Z")
    assert clock(at_us, EAST) == "21:14:07.233 \N{MINUS SIGN}05:00 (02:14:07.233 UTC)"
    assert moment(at_us, EAST) == (
        "2026-11-20 21:14:07 \N{MINUS SIGN}05:00 (2026-11-21 02:14:07 UTC)"
    )
    noon_us = us("2026-11-20T17:00:00Z")
    assert moment(noon_us, EAST) == "2026-11-20 12:00:00 \N{MINUS SIGN}05:00 (17:00:00 UTC)"
    for zone in (UTC, ZoneInfo("Europe/London")):
        assert clock(at_us, zone) == "02:14:07.233 UTC"
        assert moment(at_us, zone) == "2026-11-21 02:14:07 UTC"
