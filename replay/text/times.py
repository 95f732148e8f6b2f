"""Formats times by the floor's clock, and parses typed times.

Times are stored and compared in UTC microseconds; local times are only for display. When clocks are
set back, one hour occurs twice. Output always says which one; input must say it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Literal

from ledger.errors import Usage
from ledger.values import format_time, parse_time

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LOCAL = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?", re.ASCII)

Which = Literal["first", "second"]


def time_of_day(time_us: int, *, ms: bool = True) -> str:
    """`19:04:11.250`, UTC; or to the second."""
    return format_time(time_us)[11 : -4 if ms else -8]


def date_and_time(time_us: int, *, ms: bool = True) -> str:
    """`2026-11-20T19:04:11.250`, by the time's own clock; or to the second."""
    return format_time(time_us)[: -4 if ms else -8]


def day(time_us: int) -> str:
    """`2026-11-20`, UTC."""
    return format_time(time_us)[:10]


def utc(time_us: int) -> str:
    """`2026-11-20T19:04:11.250Z`, also valid as `datetime` of a `time` element."""
    return f"{date_and_time(time_us)}Z"


def in_file_name(time_us: int, *, ms: bool = True) -> str:
    """`20261120T190411250Z`, for file names, by the time's own clock."""
    return re.sub(r"[-:.]", "", date_and_time(time_us, ms=ms)) + "Z"


def wall(time_us: int, zone: tzinfo) -> datetime:
    """The local date and time, with offset and fold."""
    return (_EPOCH + timedelta(microseconds=time_us)).astimezone(zone)


def which_of_two(time_us: int, zone: ZoneInfo) -> Which | None:
    """Which of two it is, if the local clock shows this time twice; else None."""
    shown = wall(time_us, zone)
    if shown.replace(fold=1 - shown.fold).utcoffset() == shown.utcoffset():
        return None
    return "second" if shown.fold else "first"


def local(time_us: int, zone: ZoneInfo) -> str:
    """`2026-11-01 01:30:00.000 EDT (-04:00), the first of two`."""
    shown = wall(time_us, zone)
    offset = shown.isoformat()[-6:]
    text = f"{shown:%Y-%m-%d %H:%M:%S}.{shown.microsecond // 1000:03d} {shown:%Z} ({offset})"
    which = which_of_two(time_us, zone)
    return f"{text}, the {which} of two" if which else text


def both(time_us: int, zone: ZoneInfo) -> str:
    """The time in UTC and on the floor."""
    return utc(time_us) if zone.key == "UTC" else f"{utc(time_us)} = {local(time_us, zone)}"


def clock(time_us: int, zone: ZoneInfo) -> str:
    """`21:14:07.233 -05:00 (02:14:07.233 UTC)`."""
    shown = wall(time_us, zone)
    there = f"{time_of_day(time_us)} UTC"
    ms = f".{shown.microsecond // 1000:03d}"
    return f"{shown:%H:%M:%S}{ms} {_aloud(shown)} ({there})" if shown.utcoffset() else there


def moment(time_us: int, zone: ZoneInfo) -> str:
    """`2026-11-20 21:14:07 -05:00 (2026-11-21 02:14:07 UTC)`; an equal date only once."""
    shown, there = wall(time_us, zone), wall(time_us, UTC)
    if not shown.utcoffset():
        return f"{there:%Y-%m-%d %H:%M:%S} UTC"
    utc_day = "" if there.date() == shown.date() else f"{there:%Y-%m-%d} "
    return f"{shown:%Y-%m-%d %H:%M:%S} {_aloud(shown)} ({utc_day}{there:%H:%M:%S} UTC)"


def span(from_us: int, to_us: int, zone: ZoneInfo) -> str:
    """Start, end and length of a span; a note if the local clock was set in between.

    If the clock was set back, the local end may be before the start; the length is the true one.
    """
    says = f"{both(from_us, zone)} to {both(to_us, zone)}, {length(to_us - from_us)}"
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

_LEAST_US, _MOST_US = (
    (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND for year in YEARS
)


def read(text: str, zone: ZoneInfo, where: str) -> int:
    """The microseconds of a typed time: with an offset or Z, or without, by the floor's clock.

    Raises `Usage` for text that is not a time, and for a local time that occurred twice or never.
    """
    told = parse_time(text)
    if told is not None and _LEAST_US <= told < _MOST_US:
        return told
    try:
        typed = datetime.fromisoformat(text) if _LOCAL.fullmatch(text) else None
    except ValueError:
        typed = None
    if typed is None or not YEARS[0] <= typed.year < YEARS[1]:
        raise Usage(
            f"`{text}` is not a time",
            where=where,
            hint="Give it as 2026-11-20T19:04:11-05:00, with Z for UTC, or without an offset.",
        )
    return _by_the_wall(text, typed, zone, where)


def _by_the_wall(text: str, typed: datetime, zone: ZoneInfo, where: str) -> int:
    meant = {
        (typed.replace(tzinfo=zone, fold=fold).astimezone(UTC) - _EPOCH) // _MICROSECOND
        for fold in (0, 1)
    }
    shown = sorted(each for each in meant if wall(each, zone).replace(tzinfo=None) == typed)
    if len(shown) == 1:
        return shown[0]
    if not shown:
        raise Usage(
            f"{text} did not occur in {zone.key}: clocks were set forward over it",
            where=where,
            hint="Give the time with its offset, as 2026-03-08T03:30:00-04:00.",
        )
    choice = " or ".join(wall(each, zone).isoformat() for each in shown)
    raise Usage(
        f"{text} occurred twice in {zone.key} that night",
        where=where,
        hint=f"Give one with its offset: {choice}.",
    )


def _aloud(shown: datetime) -> str:
    """An offset with a real minus sign, as screen readers need."""
    return shown.isoformat()[-6:].replace("-", "\N{MINUS SIGN}")


def _offset(time_us: int, zone: ZoneInfo) -> timedelta:
    return wall(time_us, zone).utcoffset() or timedelta(0)
