"""The times of a sentence put together: its day, its hour, and which of two readings is taken."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from replay.ask import times
from replay.ask.times import AROUND, EXACT, Span, SpokenHour
from replay.text.times import wall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from replay.ask.grammar import Clause
    from replay.ask.house import House

TIMED = frozenset(("clock", "day", "period", "part", "shift"))
DAY_US = 86_400_000_000
_HALF_DAY = 720
_EDGES = ("NEAR", "AT", "BEFORE", "AFTER", "BETWEEN")


class TimeMeaning(NamedTuple):
    """What a statement about time means: its filters, or why it has none."""

    field: str
    means: str
    values: Mapping[str, Any] = {}
    choices: Sequence[tuple[str, str]] = ()
    why: str = ""


class SpokenDay(NamedTuple):
    """The day of a sentence: its span, and how it was named."""

    span: Span
    edge: str | None
    first: date
    last: date
    part: str | None = None


def moments(
    all_: Sequence[Clause],
    house: House,
    now_us: int,
    instead: Callable[[Clause, str], str],
) -> dict[Clause, TimeMeaning]:
    """What each statement about time means, beside the others."""
    told = [each for each in all_ if each.rule in TIMED]
    made = _Sentence(house, now_us, instead)
    days = {each: made.day(each) for each in told if each.rule == "day"}
    named = {each: day for each, day in days.items() if day is not None}
    day = next(iter(named.values()), None)
    parts = [each for each in told if each.rule == "part"]
    part = times.part_in(parts[0].one("PART")) if parts else (day.part if day else None)
    clocks = [each for each in told if each.rule == "clock"]
    spans = [each for each in told if each.rule in ("period", "shift")]
    found: dict[Clause, TimeMeaning] = {}
    for each in told:
        if each.rule == "day":
            alone = not clocks and not parts and not any(s.rule == "shift" for s in spans)
            found[each] = made.of_day(days[each], alone=alone, first=_same(days[each], day))
        elif each.rule == "part":
            found[each] = made.of_part(part or "night", day, alone=not clocks)
        elif each.rule == "clock":
            found[each] = made.of_clock(each, day, part)
        elif each.rule == "shift":
            found[each] = made.of_shift(each, day)
        else:
            found[each] = made.of_period(each)
    return found


class _Sentence:
    """The times of one sentence at one moment."""

    def __init__(self, house: House, now_us: int, instead: Callable[[Clause, str], str]) -> None:
        self.house, self.now_us, self.instead = house, now_us, instead
        self.today = times.gaming_day(now_us, house)
        newest = house.newest_us
        behind = newest is not None and newest < now_us - DAY_US
        self.anchor_us = newest if behind and newest is not None else now_us
        self.behind = behind

    def day(self, told: Clause) -> SpokenDay | None:
        """The day or days of a statement; None: there is no such day."""
        edge = told.kind("BEFORE", "AFTER", "BETWEEN")
        number, unit = _ago(told)
        firsts = self._dates(told) if number <= times.UNITS_MAX else []
        if not firsts:
            return None
        first, last = firsts[0], firsts[-1]
        if unit and not unit.startswith(("d", "w")):
            return SpokenDay(times.ago(number, unit, self.now_us), "AGO", first, last)
        part = times.part_in(told.one("DAY") or "")
        span = times.of_day(min(first, last), max(first, last), self.house)
        if part and edge is None:
            span = times.of_part(first, part, self.house)
        if edge == "AFTER":
            span = Span(span.since_us, None)
        elif edge == "BEFORE":
            span = Span(None, (span.since_us or 0) - 1)
        return SpokenDay(span, edge, min(first, last), max(first, last), part)

    def _dates(self, told: Clause) -> list[date]:
        """The days that a statement names, one or two of a range."""
        found: list[date] = []
        words: list[str] = []
        last = False
        for _, piece in told.tokens:
            if piece.kind == "LAST":
                last = True
            elif piece.kind == "WEEKDAY":
                found.append(times.weekday_named(piece.value, self.today, last=last))
            elif piece.kind == "DAY":
                found.append(times.day_spoken(piece.value, self.today))
            elif piece.kind == "AGOSPAN":
                words += [str(piece.value[0]), piece.value[1], "ago"]
            elif piece.kind == "TO":
                found += self._named(words)
                words = []
            elif piece.kind in ("DATE", "MONTH", "NUMBER", "ORDINAL", "YEAR", "UNIT", "AGO"):
                value = piece.value[0] if isinstance(piece.value, tuple) else piece.value
                words.append(str(piece.words if piece.kind == "AGO" else value))
        return found + self._named(words)

    def _named(self, words: list[str]) -> list[date]:
        day = times.day_named(" ".join(words), self.today) if words else None
        return [] if day is None else [day]

    def of_day(self, day: SpokenDay | None, *, alone: bool, first: bool) -> TimeMeaning:
        if day is None:
            return TimeMeaning("day", "", why="There is no such day.")
        if not first:
            return TimeMeaning("day", "", why="One day, or one range of days, at a time.")
        if day.edge == "AGO":
            return TimeMeaning("time", self.says(day.span), _values(day.span))
        is_one = day.first == day.last and not (day.part or day.edge in ("AFTER", "BEFORE"))
        values = {"gaming_day": day.first.isoformat()} if is_one else _values(day.span)
        return TimeMeaning("day", self._day_says(day), values if alone else {})

    def _day_says(self, day: SpokenDay) -> str:
        if day.edge in ("AFTER", "BEFORE"):
            how = "since the begin of" if day.edge == "AFTER" else "before"
            return f"{how} gaming day {day.first}, {self.begins()}"
        if day.part:
            return f"{day.part} of gaming day {day.first}, {self.says(day.span)}"
        if day.first == day.last:
            return f"gaming day {day.first}"
        return f"gaming days {day.first} to {day.last}, {self.begins()}"

    def of_part(self, part: str, day: SpokenDay | None, *, alone: bool) -> TimeMeaning:
        first = day.first if day else self._last_day_with(times.of_part, part)
        span = times.of_part(first, part, self.house)
        means = f"{part} of gaming day {first}, {self.says(span)}"
        return TimeMeaning("part", means, _values(span) if alone else {})

    def _last_day_with(self, of: Callable[[date, str, House], Span], part: str) -> date:
        """The latest gaming day whose part has begun."""
        day = times.gaming_day(self.anchor_us, self.house)
        began = of(day, part, self.house).since_us or 0
        return day if began <= self.anchor_us else day - timedelta(days=1)

    def of_shift(self, told: Clause, day: SpokenDay | None) -> TimeMeaning:
        name = self._shift_named(told.one("SHIFT"))
        if name is None:
            why = "No shift of this name is known here: say from when to when."
            return TimeMeaning("shift", "", why=why)
        begins, ends = self.house.shifts[name]

        def span_of(first: date, _: str, house: House) -> Span:
            since_us = times.on(first, begins, house)
            length = (ends - begins) % 1440 or 1440
            return Span(since_us, since_us + length * 60_000_000 - 1)

        first = day.first if day else self._last_day_with(span_of, name)
        span = span_of(first, name, self.house)
        return TimeMeaning("shift", f"{name} shift, {self.says(span)}", _values(span))

    def _shift_named(self, name: str) -> str | None:
        """The shift of a name, or of a number in the order of the gaming day."""
        if name in self.house.shifts or not name.isdecimal():
            return name if name in self.house.shifts else None
        begins = {each: hours[0] for each, hours in self.house.shifts.items()}
        ordered = sorted(begins, key=lambda each: (begins[each] - self.house.day_start) % 1440)
        return next(iter(ordered[int(name) - 1 : int(name)]), None)

    def of_period(self, told: Clause) -> TimeMeaning:
        words = told.one("PERIOD")
        if words:
            words = words.removeprefix("the ").removeprefix("over the ")
            span = times.period(words, self.now_us, self.house)
            edge = told.kind("AFTER", "BEFORE")
            if edge == "AFTER":
                span = Span(span.since_us, None)
            elif edge == "BEFORE":
                span = Span(None, (span.since_us or 0) - 1)
            choices = []
            if words == "last week":
                choices = [(self.instead(told, "past 7 days"), "the past 7 days")]
            return TimeMeaning("time", self.says(span), _values(span), choices)
        number = told.one("NUMBER")
        unit = told.one("UNIT")
        if number and number[0] > times.UNITS_MAX:
            return TimeMeaning("time", "", why="That is too long ago.")
        span = times.past(number[0] if number else 1, unit, self.now_us, self.house)
        return TimeMeaning("time", self.says(span), _values(span))

    def of_clock(self, told: Clause, day: SpokenDay | None, part: str | None) -> TimeMeaning:
        edge = told.kind(*_EDGES)
        clocks = [SpokenHour(each[0], each[1] == "sure") for each in told.all("CLOCK")]
        minutes, other = self._minutes(clocks, day, part)
        first = day.first if day else self._day_of(minutes[0])
        at_us = [times.on(first, minute, self.house) for minute in minutes]
        if len(at_us) == 2 and at_us[1] < at_us[0]:  # noqa: PLR2004 - a range
            at_us[1] = times.on(first + timedelta(days=1), minutes[1], self.house)
        if day and day.edge in ("AFTER", "BEFORE") and edge in (None, "AT"):
            edge = day.edge
        span = self._span(edge, at_us, minutes[0], first, day)
        choices = self._other_half(told, minutes, other=other)
        return TimeMeaning("time", self.says(span, edge, minutes, at_us), _values(span), choices)

    def _span(
        self,
        edge: str | None,
        at_us: Sequence[int],
        minute: int,
        first: date,
        day: SpokenDay | None,
    ) -> Span:
        if len(at_us) == 2:  # noqa: PLR2004 - a range
            return Span(at_us[0], at_us[1])
        whole = times.of_day(first, day.last if day else first, self.house)
        if edge == "AFTER":
            is_open = day is not None and day.edge == "AFTER"
            return Span(at_us[0], None if is_open else whole.until_us)
        if edge == "BEFORE":
            is_open = day is not None and day.edge == "BEFORE"
            if minute == self.house.day_start:  # nothing of its own day is before it
                whole = times.of_day(first - timedelta(days=1), first, self.house)
            return Span(None if is_open else whole.since_us, at_us[0])
        is_round = edge == "NEAR" or minute % AROUND == 0
        return times.beside(at_us[0], AROUND if is_round else EXACT)

    def _minutes(
        self, clocks: Sequence[SpokenHour], day: SpokenDay | None, part: str | None
    ) -> tuple[list[int], bool]:
        """Minutes after midnight, and whether the other half of the day was possible too."""
        sure = [times.clock_in(each, part) for each in clocks]
        other = None in sure
        if len(sure) == 2 and sure[0] is None and sure[1] is not None:  # noqa: PLR2004 - a range
            halves = (clocks[0].minute % _HALF_DAY, clocks[0].minute % _HALF_DAY + _HALF_DAY)
            sure[0] = min(halves, key=lambda each: ((sure[1] or 0) - each) % 1440)
            other = False
        found = [
            self._half(each, day) if at is None else at
            for each, at in zip(clocks, sure, strict=True)
        ]
        return found, other

    def _half(self, clock: SpokenHour, day: SpokenDay | None) -> int:
        """An hour that may be either: the evening's if a day is named, else the latest one."""
        early = clock.minute % _HALF_DAY
        late = early + _HALF_DAY
        if day is not None and day.first != self.today:
            return late
        both = {
            minute: times.on(self._day_of(minute), minute, self.house) for minute in (early, late)
        }
        return max(both, key=lambda minute: both[minute])

    def _day_of(self, minute: int) -> date:
        """The gaming day of the last such time before now, or before the newest round."""
        day = times.gaming_day(self.anchor_us, self.house)
        return (
            day if times.on(day, minute, self.house) <= self.anchor_us else day - timedelta(days=1)
        )

    def _other_half(
        self, told: Clause, minutes: Sequence[int], *, other: bool
    ) -> list[tuple[str, str]]:
        """The sentence with the other half of the day, where both were possible."""
        if not other:
            return []
        figures = [(minute + _HALF_DAY) % 1440 for minute in minutes]
        typed = " to ".join(f"{each // 60:02}:{each % 60:02}" for each in figures)
        edge = {"BEFORE": "before", "AFTER": "after", "NEAR": "around"}.get(
            told.kind(*_EDGES) or "", "at" if len(minutes) == 1 else "from"
        )
        return [(self.instead(told, f"{edge} {typed}"), f"{edge} {typed}")]

    def begins(self) -> str:
        return f"each from {self.house.day_start // 60:02}:{self.house.day_start % 60:02}"

    def says(
        self,
        span: Span,
        edge: str | None = None,
        minutes: Sequence[int] = (),
        at_us: Sequence[int] = (),
    ) -> str:
        """`between 20:30 and 21:30, house time, 2026-11-20`, with the window that was assumed."""
        since, until = (
            None if each is None else wall(each, self.house.zone)
            for each in (span.since_us, span.until_us)
        )
        if since is None or until is None:
            one = since or until
            assert one is not None  # noqa: S101 - a span has one end
            return f"{'since' if since else 'until'} {one:%H:%M}, house time, {one:%Y-%m-%d}"
        if since.date() == until.date():
            text = f"between {since:%H:%M} and {until:%H:%M}, house time, {since:%Y-%m-%d}"
        else:
            text = (
                f"between {since:%H:%M}, {since:%Y-%m-%d}, and {until:%H:%M}, {until:%Y-%m-%d},"
                " house time"
            )
        if len(at_us) == 1 and edge not in ("AFTER", "BEFORE"):
            beside = (at_us[0] - (span.since_us or 0)) // 60_000_000
            text += f" ({beside} minutes either side of {minutes[0] // 60:02}:{minutes[0] % 60:02})"
        return text


def _same(one: SpokenDay | None, other: SpokenDay | None) -> bool:
    """Whether two statements name the same days: `Friday, November 20`."""
    return one is other or (one is not None and other is not None and one.span == other.span)


def _ago(told: Clause) -> tuple[int, str]:
    """How long ago a statement says: number and unit; an empty unit: it does not."""
    span: tuple[int, str] | None = told.one("AGOSPAN")
    if span:
        return span
    return (told.one("NUMBER")[0], told.one("UNIT")) if told.kind("AGO") else (0, "")


def _values(span: Span) -> dict[str, int]:
    found = {"since_us": span.since_us, "until_us": span.until_us}
    return {name: value for name, value in found.items() if value is not None}
