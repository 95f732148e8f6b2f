"""The times of a sentence: days and hours by the house's clock, as spans in microseconds.

A day is a gaming day: it begins at the house's hour, so that 2 am belongs to the night before.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from replay.text.times import YEARS, wall

if TYPE_CHECKING:
    from replay.ask.house import House

AROUND = 30
"""*Around* a time: so many minutes before and after it."""

EXACT = 5
"""A time to the minute, such as 9:12 pm: so many minutes before and after it."""

UNITS_MAX = 5_000
"""The most hours, days or weeks that somebody may look back."""

_HALF_DAY = 720
_MINUTE_US = 60_000_000
_HOUR_US = 60 * _MINUTE_US
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PARTS = {
    "morning": (300, 720), "afternoon": (720, 1080), "evening": (1020, 1440),
    "night": (1080, 1800), "overnight": (1320, 1800),
}  # fmt: skip
"""Parts of a day, minutes after its midnight; a night ends where the next gaming day begins."""


class Span(NamedTuple):
    """A time span; None is open. day: the one gaming day that it is, whole."""

    since_us: int | None
    until_us: int | None
    day: date | None = None


class SpokenHour(NamedTuple):
    """An hour of a sentence: minutes after midnight; whether morning or evening is certain."""

    minute: int
    sure: bool


def gaming_day(time_us: int, house: House) -> date:
    """The gaming day of a time."""
    return (wall(time_us, house.zone) - timedelta(minutes=house.day_start)).date()


def at(day: date, minute: int, house: House) -> int:
    """The time at so many minutes after a day's midnight, by the house's clock."""
    days, rest = divmod(minute, 1440)
    begins = datetime(day.year, day.month, day.day, tzinfo=house.zone) + timedelta(days=days)
    local = begins.replace(hour=rest // 60, minute=rest % 60)
    return round(local.astimezone(UTC).timestamp()) * 1_000_000


def of_day(first: date, last: date, house: House) -> Span:
    """Some gaming days, from the first one's begin to the last one's end."""
    begins, ends = at(first, house.day_start, house), at(last, house.day_start + 1440, house)
    return Span(begins, ends - 1, first if first == last else None)


def of_part(day: date, part: str, house: House) -> Span:
    """A part of a day: its evening, its night."""
    begins, ends = _PARTS[part]
    ends = house.day_start + 1440 if part in ("night", "overnight") else ends
    return Span(at(day, begins, house), at(day, ends, house) - 1)


def part_in(words: str) -> str | None:
    """The part of a day that words name: `last night`, `yesterday evening`."""
    named = "night" if words == "tonight" else words
    return next((part for part in sorted(_PARTS, key=len, reverse=True) if part in named), None)


def clock_in(clock: SpokenHour, part: str | None) -> int | None:
    """The minutes of an hour in a part of a day; None: that does not decide it."""
    if clock.sure:
        return clock.minute
    if part is None:
        return None
    begins, ends = (0, 720) if part == "morning" else _PARTS[part]
    fits = [
        each
        for each in (clock.minute % _HALF_DAY, clock.minute % _HALF_DAY + _HALF_DAY)
        if begins <= each < ends or begins <= each + 1440 < ends
    ]
    return fits[0] if len(fits) == 1 else None


def on(day: date, minute: int, house: House) -> int:
    """A time of day in a gaming day: before its hour it is of the night after."""
    return at(day, minute if minute >= house.day_start else minute + 1440, house)


def day_named(text: str, today: date) -> date | None:
    """A day as it is written or spoken: 11/20, november 20th, yesterday, 3 days ago."""
    import dateparser  # noqa: PLC0415 - only a sentence with a day needs it

    if not _is_possible(text, today.year):
        return None
    base = datetime(today.year, today.month, today.day, 12)  # noqa: DTZ001 - a day by the wall
    found = dateparser.parse(
        text,
        languages=["en"],
        settings={
            "RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "DATE_ORDER": "MDY",
            "RETURN_AS_TIMEZONE_AWARE": False, "REQUIRE_PARTS": ["day"],
        },
    )  # fmt: skip
    if found is None or not YEARS[0] <= found.year < YEARS[1]:
        return None
    return date(found.year, found.month, found.day)


def _is_possible(text: str, year: int) -> bool:
    """Whether figures are a day of the calendar, so that none is guessed from 11/31 or 13/45."""
    figures = [int(each) for each in re.findall(r"\d+", text)]
    if re.fullmatch(r"\d+/\d+(/\d+)?", text):
        month, day = figures[:2]
    elif re.fullmatch(r"\d+\.\d+\.(\d+)?", text):
        day, month = figures[:2]
    else:
        return True
    given = figures[2] if len(figures) > 2 else year  # noqa: PLR2004 - a year is given
    try:
        date(given + 2000 if given < 100 else given, month, day)  # noqa: PLR2004 - of two figures
    except ValueError:
        return False
    return True


def weekday_named(name: str, today: date, *, last: bool) -> date:
    """The latest day of this name; of *last* never today."""
    back = (today.weekday() - _WEEKDAYS.index(name)) % 7
    return today - timedelta(days=back or (7 if last else 0))


def day_spoken(words: str, today: date) -> date:
    """The gaming day of `tonight`, `yesterday evening`, `the night before last`."""
    if "before" in words:
        return today - timedelta(days=2)
    is_today = words == "tonight" or words.startswith(("today", "this"))
    return today if is_today else today - timedelta(days=1)


def period(words: str, now_us: int, house: House) -> Span:
    """`last week`, `this month`, `the weekend`, `past hour`."""
    today = gaming_day(now_us, house)
    monday = today - timedelta(days=today.weekday())
    week = timedelta(days=7)
    if words == "past week":
        return past(7, "days", now_us, house)
    if words == "past month":
        return past(30, "days", now_us, house)
    if "hour" in words:
        return past(1, "hour", now_us, house)
    if "weekend" in words:
        saturday = monday + timedelta(days=5)
        if saturday > today or words == "last weekend":
            saturday -= week
        return of_day(saturday, saturday + timedelta(days=1), house)
    this = words.startswith("this")
    if "week" in words:
        first = monday if this else monday - week
        return of_day(first, min(first + timedelta(days=6), today), house)
    return _month(today, house) if this else _month(today.replace(day=1) - timedelta(days=1), house)


def _month(last: date, house: House) -> Span:
    """The month of a day, until that day."""
    return of_day(last.replace(day=1), last, house)


def past(number: int, unit: str, now_us: int, house: House) -> Span:
    """`last 2 hours`, `past 3 days`: until now."""
    if unit.startswith("h"):
        return Span(now_us - number * _HOUR_US, now_us)
    if unit.startswith("m"):
        return Span(now_us - number * _MINUTE_US, now_us)
    days = number * (7 if unit.startswith("w") else 1)
    return Span(
        at(gaming_day(now_us, house) - timedelta(days=days), house.day_start, house), now_us
    )


def ago(number: int, unit: str, now_us: int) -> Span:
    """`2 hours ago`: around that time."""
    at_us = now_us - number * (_HOUR_US if unit.startswith("h") else _MINUTE_US)
    return Span(at_us - AROUND * _MINUTE_US, at_us + AROUND * _MINUTE_US)


def beside(time_us: int, minutes: int) -> Span:
    """So many minutes before and after a time."""
    return Span(time_us - minutes * _MINUTE_US, time_us + minutes * _MINUTE_US)
