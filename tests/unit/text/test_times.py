"""Times by the floor's clock, above all on the night on which an hour comes twice."""

from __future__ import annotations

from datetime import timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import replay
from ledger.errors import Usage
from ledger.values import parse_time
from replay.text.times import (
    aloud,
    as_recorded,
    gaming_day_from,
    hour,
    is_time_of_day,
    local,
    localized,
    offset,
    read,
    span,
    stamp,
    wall,
    which_of_two,
    zone_name,
)

EAST = ZoneInfo("America/New_York")
UTC = ZoneInfo("UTC")
FIVE_BEHIND = timezone(timedelta(hours=-5))
HOUR = 3_600_000_000


def us(text: str) -> int:
    time_us = parse_time(text)
    assert time_us is not None
    return time_us


FIRST, SECOND = us("2026-11-01T01:30:00-04:00"), us("2026-11-01T01:30:00-05:00")


def test_half_past_one_comes_twice_on_the_autumn_night_and_each_says_which_it_is() -> None:
    assert SECOND - FIRST == HOUR
    assert local(FIRST, EAST) == "2026-11-01 01:30:00.000 -04:00, the first of two"
    assert local(SECOND, EAST) == "2026-11-01 01:30:00.000 -05:00, the second of two"
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
    for text in (
        "yesterday",
        "2026-13-01T00:00",
        "2026-11-01",
        "9",
        "13 pm",
        "0 am",
        "24:00",
        "9:5 pm",
    ):
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


@pytest.mark.parametrize(
    "text",
    [
        "11/20/2026 9:00 PM",
        "11/20/2026, 9 pm",
        "2026-11-20 9:00pm",
        "2026-11-20 21:00",
        "2026-11-20T21:00:00",
        "2026-11-20 21:00:00.000 -05:00",
        "2026-11-20 21:00:00 \N{MINUS SIGN}05:00",
        "2026-11-21T02:00:00Z",
        "2026-11-21 02:00 UTC",
        "11/20/2026 7 p.m. -07:00",
    ],
)
@pytest.mark.parametrize("zone", [EAST, FIVE_BEHIND], ids=zone_name)
def test_a_time_is_read_as_people_type_it_and_as_it_is_shown(
    text: str, zone: ZoneInfo | timezone
) -> None:
    assert read(text, zone, "--from") == us("2026-11-20T21:00:00-05:00")


@pytest.mark.parametrize(
    ("text", "now", "meant"),
    [
        ("9 pm", "2026-11-20T23:30:00-05:00", "2026-11-20T21:00:00-05:00"),
        ("21:00", "2026-11-21T00:30:00-05:00", "2026-11-20T21:00:00-05:00"),
        ("12 am", "2026-11-21T00:30:00-05:00", "2026-11-21T00:00:00-05:00"),
        ("12:15 pm", "2026-11-21T00:30:00-05:00", "2026-11-20T12:15:00-05:00"),
        ("9 pm UTC", "2026-11-20T23:30:00-05:00", "2026-11-20T21:00:00Z"),
    ],
)
def test_a_time_of_day_alone_is_the_last_before_now(text: str, now: str, meant: str) -> None:
    assert read(text, EAST, "--from", now_us=us(now)) == us(meant)
    assert is_time_of_day(text)
    assert not is_time_of_day(now)


def test_a_time_of_day_alone_is_the_first_after_a_beginning_where_there_is_one() -> None:
    nine_us = us("2026-11-20T21:00:00-05:00")
    assert read("10 pm", EAST, "--to", after_us=nine_us) == nine_us + HOUR
    assert read("1:30 am", EAST, "--to", after_us=nine_us) == us("2026-11-21T01:30:00-05:00")
    assert read("9 pm", EAST, "--to", after_us=nine_us) == nine_us


def test_two_in_the_morning_of_a_gaming_day_is_in_the_night_after_it() -> None:
    after_us = gaming_day_from("2026-11-20", EAST)
    assert read("9 pm", EAST, "--from", after_us=after_us) == us("2026-11-20T21:00:00-05:00")
    assert read("2 am", EAST, "--from", after_us=after_us) == us("2026-11-21T02:00:00-05:00")
    assert gaming_day_from("yesterday", EAST) is None


def test_a_zone_of_an_offset_alone_shows_and_reads_times_as_a_named_one() -> None:
    at_us = us("2026-11-21T02:14:07.233Z")
    assert (zone_name(FIVE_BEHIND), offset(at_us, FIVE_BEHIND)) == ("UTC-05:00", "-05:00")
    assert stamp(at_us, FIVE_BEHIND) == stamp(at_us, EAST) == "2026-11-20 21:14:07.233 -05:00"
    assert (hour(at_us, EAST), hour(at_us, UTC)) == ("21:14:07.233 -05:00", "02:14:07.233 UTC")
    assert local(at_us, FIVE_BEHIND) == "2026-11-20 21:14:07.233 -05:00"


def test_times_in_a_sentence_are_by_the_houses_clock() -> None:
    says = (
        "The last ends at 2026-11-21T02:14:07.233Z, the next begins at 2026-11-20T20:15:00-06:00."
    )
    assert localized(says, EAST) == (
        "The last ends at 2026-11-20 21:14:07.233 -05:00, "
        "the next begins at 2026-11-20 21:15:00.000 -05:00."
    )
    assert localized("No time, but D-2026-11-20-1.", EAST) == "No time, but D-2026-11-20-1."


def test_a_device_of_another_offset_is_shown_with_the_time_that_it_recorded() -> None:
    assert as_recorded("2026-11-20T21:14:07.233000-05:00", EAST) == "2026-11-20 21:14:07.233 -05:00"
    assert as_recorded("2026-11-21T02:14:07.233Z", UTC) == "2026-11-21 02:14:07.233 UTC"
    at, tz = "2026-11-20 21:14:07.233 -05:00", "2026-11-21 02:14:07.233 UTC"
    assert as_recorded("2026-11-21T02:14:07.233Z", EAST) == f"{at} (device: {tz})"
    west = as_recorded("2026-11-20T20:14:07.233-06:00", EAST)
    assert west == f"{at} (device: 20:14:07.233 -06:00)"


@given(st.integers(0, 4_102_444_800), st.sampled_from([EAST, UTC, ZoneInfo("Europe/Berlin")]))
def test_what_is_shown_with_its_offset_is_read_as_the_same_time(
    second: int, zone: ZoneInfo
) -> None:
    time_us = second * 1_000_000
    assert read(wall(time_us, zone).isoformat(), zone, "x") == time_us
    if which_of_two(time_us, zone) is None:
        assert read(wall(time_us, zone).replace(tzinfo=None).isoformat(), zone, "x") == time_us


def test_a_page_shows_the_same_notation_with_a_real_minus_sign_that_is_read_back() -> None:
    at_us = us("2026-11-21T02:14:07.233Z")
    shown = aloud(stamp(at_us, EAST))
    assert shown == "2026-11-20 21:14:07.233 \N{MINUS SIGN}05:00"
    assert read(shown, UTC, "--from") == at_us
    assert aloud(span(FIRST, SECOND, EAST)).count("\N{MINUS SIGN}") == 2
    assert aloud("D-2026-11-20-1, 2026-11-20 - 05:00") == "D-2026-11-20-1, 2026-11-20 - 05:00"


def test_pages_show_utc_to_programs_alone() -> None:
    """One notation for people: UTC is the `datetime` of an element, never its text."""
    for path in (Path(replay.__file__).parent / "web/templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert text.count("| utc }}") == text.count('_us | utc }}"'), path.name
