"""Formats times by the house's clock, and parses typed times.

Times are stored and compared in UTC microseconds; local times are only for display. When clocks are
set back, one hour occurs twice. Output always says which one; input must say it. A zone is a named
one, or an offset alone (`replay.shell.zones`).
"""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal

from ledger.errors import Usage
from ledger.values import format_time, parse_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MINUS = "\N{MINUS SIGN}"
_OFFSET = re.compile(r"(?<= )-(?=\d\d:\d\d\b)")
_TYPED = re.compile(
    r"""(?:(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)
        |(?P<us_month>\d\d?)/(?P<us_day>\d\d?)/(?P<us_year>\d{4}))(?:T|,?\ +))?
    (?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<part>\d{1,9}))?)?)?
    (?:\ ?(?P<half>[ap])\.?m\.?)?
    (?:\ ?(?:(?P<utc>Z|UTC)|(?P<offset>[+-]\d\d:\d\d)))?""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
_TOLD = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_HINT = (
    "Give it as 2026-11-20 21:00, 11/20/2026 9:00 PM, 9 pm or 21:00. For another zone than the"
    " house's add the offset, such as 2026-11-20T21:00:00-05:00, or Z for UTC."
)

Which = Literal["first", "second"]


def date_and_time(time_us: int, *, ms: bool = True) -> str:
    """`2026-11-20T19:04:11.250`, by the time's own clock; or to the second."""
    return format_time(time_us)[: -4 if ms else -8]


def day(time_us: int, zone: tzinfo) -> str:
    """`2026-11-20`, by the house's clock."""
    return f"{wall(time_us, zone):%Y-%m-%d}"


def utc(time_us: int) -> str:
    """`2026-11-20T19:04:11.250Z`, also valid as `datetime` of a `time` element."""
    return f"{date_and_time(time_us)}Z"


def in_file_name(time_us: int, *, ms: bool = True) -> str:
    """`20261120T190411250Z`, for file names, by the time's own clock."""
    return re.sub(r"[-:.]", "", date_and_time(time_us, ms=ms)) + "Z"


def wall(time_us: int, zone: tzinfo) -> datetime:
    """The local date and time, with offset and fold."""
    return (_EPOCH + timedelta(microseconds=time_us)).astimezone(zone)


def zone_name(zone: tzinfo) -> str:
    """`America/New_York`; `UTC-05:00` for an offset alone."""
    return str(zone)


def offset(time_us: int, zone: tzinfo) -> str:
    """`-05:00`, the offset of a zone at a time; `UTC` for none."""
    shown = wall(time_us, zone)
    return shown.isoformat()[-6:] if shown.utcoffset() else "UTC"


def stamp(time_us: int, zone: tzinfo, *, ms: bool = True) -> str:
    """`2026-11-20 21:14:07.233 -05:00`, by the house's clock; or to the second."""
    return f"{_shown(time_us, zone, ms=ms)} {offset(time_us, zone)}"


def hour(time_us: int, zone: tzinfo) -> str:
    """`21:14:07.233 -05:00`, by the house's clock."""
    return stamp(time_us, zone)[11:]


def localized(text: str, zone: tzinfo) -> str:
    """A sentence with each of its times (RFC 3339, of any offset) by the house's clock."""

    def shown(told: re.Match[str]) -> str:
        time_us = parse_time(told[0])
        return told[0] if time_us is None else stamp(time_us, zone)

    return _TOLD.sub(shown, text)


def as_recorded(time: str, zone: tzinfo) -> str:
    """A fact's time by the house's clock; by its device's too, if that has another offset."""
    time_us = parse_time(time)
    if time_us is None:
        return time
    text = stamp(time_us, zone)
    there = stamp(time_us, datetime.fromisoformat(time.upper()).tzinfo or UTC)
    if there == text:
        return text
    return f"{text} (device: {there[11:] if there[:10] == text[:10] else there})"


def which_of_two(time_us: int, zone: tzinfo) -> Which | None:
    """Which of two it is, if the local clock shows this time twice; else None."""
    shown = wall(time_us, zone)
    if shown.replace(fold=1 - shown.fold).utcoffset() == shown.utcoffset():
        return None
    return "second" if shown.fold else "first"


def local(time_us: int, zone: tzinfo) -> str:
    """`2026-11-01 01:30:00.000 -04:00, the first of two`: the house's clock, unmistakably."""
    which = which_of_two(time_us, zone)
    return f"{stamp(time_us, zone)}, the {which} of two" if which else stamp(time_us, zone)


def aloud(text: str) -> str:
    """A text with a real minus sign in each offset, as screen readers need."""
    return _OFFSET.sub(_MINUS, text)


def span(from_us: int, to_us: int, zone: tzinfo) -> str:
    """Start, end and length of a span; a note if the local clock was set in between.

    If the clock was set back, the local end may be before the start; the length is the true one.
    """
    says = f"{local(from_us, zone)} to {local(to_us, zone)}, {length(to_us - from_us)}"
    moved = _offset(to_us, zone) - _offset(from_us, zone)
    if moved:
        how = "back" if moved < timedelta(0) else "forward"
        says += f"; clocks were set {how} by {length(abs(moved) // _MICROSECOND)} in between"
    return says


def whole_ms(span_us: int) -> int:
    """Milliseconds, rounded up, so that a bound stays a bound."""
    return -(-span_us // 1000)


def length(span_us: int) -> str:
    """`1 h 10 min 00 s`, without leading hours or minutes of zero."""
    seconds = span_us // 1_000_000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    parts = [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if hours or minutes else []
    return " ".join([*parts, f"{seconds % 60} s"])


YEARS = (1900, 3000)
"""The years of valid times; beyond them a margin could leave the calendar."""

_NOON = 12


def read(
    text: str,
    zone: tzinfo,
    where: str,
    *,
    after_us: int | None = None,
    now_us: int | None = None,
) -> int:
    """The microseconds of a typed time, by the house's clock unless it has an offset, Z or UTC.

    A time of day alone is the first from `after_us` on; without one, the last before now.

    Raises `Usage` for text that is not a time, and for a local time that occurred twice or never.
    """
    told = _TYPED.fullmatch(text.strip().replace(_MINUS, "-"))
    typed = _typed(told.groupdict()) if told else None
    if told is None or typed is None:
        raise Usage(f"`{text}` is not a time", where=where, hint=_HINT)
    if told["offset"]:
        zone = datetime.strptime(told["offset"], "%z").tzinfo or UTC
    zone = UTC if told["utc"] else zone
    if told["month"] or told["us_month"]:
        return _by_the_wall(text, typed, zone, where)
    return _nearest(text, typed, zone, where, after_us, now_us)


def gaming_day_from(day: str, zone: tzinfo) -> int | None:
    """The time from which a time of day alone is of this gaming day (YYYY-MM-DD), else None.

    It is 6 am: 2 am of a gaming day is in the night after it.
    """
    try:
        return read(f"{day} 6 am", zone, "gaming_day")
    except Usage:
        return None


def is_gaming_day(text: str) -> bool:
    """Whether a text is a day as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_time_of_day(text: str) -> bool:
    """Whether a typed time lacks a date, so that the date should be shown."""
    told = _TYPED.fullmatch(text.strip().replace(_MINUS, "-"))
    return told is not None and not (told["month"] or told["us_month"])


def _typed(told: dict[str, str | None]) -> datetime | None:
    """The date and time of a match, of year 2000 if it has no date; None if there is none."""
    if told["minute"] is None and told["half"] is None:
        return None
    year, month, day = (
        int(told[name] or told[f"us_{name}"] or default)
        for name, default in (("year", 2000), ("month", 1), ("day", 1))
    )
    hour = int(told["hour"] or 0)
    if told["half"]:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if told["half"] in "pP" else 0)
    if not YEARS[0] <= year < YEARS[1]:
        return None
    minute, second = int(told["minute"] or 0), int(told["second"] or 0)
    part_us = int((told["part"] or "0")[:6].ljust(6, "0"))
    try:
        return datetime(year, month, day, hour, minute, second, part_us)  # noqa: DTZ001 - by the wall
    except ValueError:
        return None


def _nearest(
    text: str, typed: datetime, zone: tzinfo, where: str, after_us: int | None, now_us: int | None
) -> int:
    """A time of day: the first from `after_us` on, or else the last before now."""
    known_us = time.time_ns() // 1000 if now_us is None else now_us
    day = wall(known_us if after_us is None else after_us, zone).date()
    step = timedelta(days=-1 if after_us is None else 1)
    for its_date in (day, day + step):
        found = _by_the_wall(text, datetime.combine(its_date, typed.time()), zone, where)
        if found <= known_us if after_us is None else found >= after_us:
            break
    return found


def _by_the_wall(text: str, typed: datetime, zone: tzinfo, where: str) -> int:
    meant = {
        (typed.replace(tzinfo=zone, fold=fold).astimezone(UTC) - _EPOCH) // _MICROSECOND
        for fold in (0, 1)
    }
    shown = sorted(each for each in meant if wall(each, zone).replace(tzinfo=None) == typed)
    if len(shown) == 1:
        return shown[0]
    if not shown:
        raise Usage(
            f"{text} did not occur in {zone_name(zone)}: clocks were set forward over it",
            where=where,
            hint="Give the time with its offset, such as 2026-03-08T03:30:00-04:00.",
        )
    choice = " or ".join(wall(each, zone).isoformat() for each in shown)
    raise Usage(
        f"{text} occurred twice in {zone_name(zone)} that night",
        where=where,
        hint=f"Give one with its offset: {choice}.",
    )


def _shown(time_us: int, zone: tzinfo, *, ms: bool = True) -> str:
    shown = wall(time_us, zone)
    part = f".{shown.microsecond // 1000:03d}" if ms else ""
    return f"{shown:%Y-%m-%d %H:%M:%S}{part}"


def _offset(time_us: int, zone: tzinfo) -> timedelta:
    return wall(time_us, zone).utcoffset() or timedelta(0)
