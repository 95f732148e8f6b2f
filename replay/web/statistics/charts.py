"""The charts of the page Statistics as SVG: the funnel, and the trend of groups by gaming day.

Colours are classes of the style sheet. A mark has a shape and a name beside its colour, and leads
to its errors. Each chart has its table on the page, with the same links, so marks take no tab stop.
"""

from __future__ import annotations

from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

from ledger.statistics.rates import FUNNEL, limits, per_1000, rate
from replay.web.table_svg.shapes import node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.statistics.rates import TrendPoint
    from replay.statistics.error_report import ErrorReport, ErrorRow

WIDTH, HEIGHT = 900, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 16, 40
_STEPS = 60  # points of a limit's line
_ROOM = 1.12  # above the highest mark
_TOUCH = 16  # radius within which a pointer finds a mark
_LETTER, _LINE = 6.4, 14  # width of a letter of a name; height of a line of names
_TICKS = 5
TRENDS_MAX = 6
"""The most groups whose trend is drawn: the highest. The table has all."""


class Scale(NamedTuple):
    """The highest value of each axis; both begin at 0."""

    most_x: float
    most_y: float

    def x(self, value: float) -> float:
        """The place of a value from left to right."""
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * value / self.most_x

    def y(self, value: float) -> float:
        """The place of a value from top to bottom; one that is too high lies at the top."""
        share = min(value / self.most_y, 1)
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * share


def funnel(report: ErrorReport, link: Callable[[str], str], title: Callable[[str], str]) -> str:
    """Each group's rate by its settlements, within the limits of chance about the house's rate."""
    rows = [each for each in report.compared if each.settlements]
    house = rate(report.house)
    most = max((each.settlements for each in rows), default=1)
    rates = [each.errors / each.settlements for each in rows]
    middle = sorted(each.settlements for each in rows)[len(rows) // 2] if rows else 1
    reach = limits(middle, house, FUNNEL["99.8 %"])[1] / middle
    scale = Scale(most * 1.06, max((*rates, reach, house, 0.0001)) * _ROOM)
    content = [*_axes(scale, "settlements", "errors per 1,000"), _house(scale, house)]
    for name, level in FUNNEL.items():
        content += _limit(scale, house, level, name)
    drawn = sorted(rows, key=lambda each: each.verdict == "more")  # those named on top
    content += [_mark(scale, each, link, title) for each in drawn]
    return _picture("Funnel chart: errors per 1,000 by settlements", content)


def trends(report: ErrorReport, link: Callable[[str], str], title: Callable[[str], str]) -> str:
    """The CUSUM of the groups that came highest, by gaming day."""
    drawn = highest(report.trends)
    days = sorted({each.gaming_day for its in drawn.values() for each in its})
    top = max((each.level for its in drawn.values() for each in its), default=1.0)
    scale = Scale(max(1, len(days) - 1) * 1.12, max(1.15, top * 1.05))
    content = list(_days(scale, days))
    at = round(scale.y(1), 1)
    content.append(node("line", class_="limit outer", x1=_LEFT, x2=WIDTH - _RIGHT, y1=at, y2=at))
    content.append(_text("alarm", WIDTH - _RIGHT, at - 4, "end"))
    place = {day: nth for nth, day in enumerate(days)}
    names: list[tuple[float, float]] = []  # where they stand
    for nth, (name, its) in enumerate(drawn.items()):
        points = [(scale.x(place[each.gaming_day]), scale.y(each.level)) for each in its]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        x, y = points[-1]
        while any(abs(x - at_x) < 1 and abs(y - at_y) < _LINE for at_x, at_y in names):
            y -= _LINE
        names.append((x, y))
        alarmed = any(each.alarm for each in its)
        inside = [
            node("title", escape(title(name))),
            node("polyline", class_=f"trend dash{nth}", points=line),
            *(node("circle", class_="dot", cx=px, cy=py, r=3) for px, py in points),
            _text(title(name) + (" (alarm)" if alarmed else ""), x + 7, y + 4, "start", "name"),
        ]
        content.append(_link(link(name), inside, f"{title(name)}: its errors"))
    return _picture("CUSUM by gaming day: the trend of the groups that came highest", content)


def highest(trends_: Mapping[str, Sequence[TrendPoint]]) -> dict[str, Sequence[TrendPoint]]:
    """The groups whose sum came highest, at most `TRENDS_MAX`."""
    order = sorted(trends_, key=lambda name: (-max(_levels(trends_[name])), name))
    return {name: trends_[name] for name in order[:TRENDS_MAX] if trends_[name]}


def _levels(points: Sequence[TrendPoint]) -> list[float]:
    return [0.0, *(each.level for each in points)]


def _picture(name: str, content: Sequence[str]) -> str:
    return node(
        "svg",
        *content,
        class_="chart",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_label=name,
    )


def _axes(scale: Scale, across: str, up: str) -> list[str]:
    base = HEIGHT - _BOTTOM
    found = [node("line", class_="axis", x1=_LEFT, x2=WIDTH - _RIGHT, y1=base, y2=base)]
    found += [
        _text(f"{value:,.0f}", scale.x(value), base + 16, "middle")
        for value in _ticks(scale.most_x)
    ]
    for value in _ticks(scale.most_y * 1000):
        y = scale.y(value / 1000)
        found.append(node("line", class_="grid", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y))
        found.append(_text(f"{value:g}", _LEFT - 6, y + 4, "end"))
    found.append(_text(across, WIDTH - _RIGHT, base + 34, "end"))
    found.append(_text(up, _LEFT, _TOP - 4, "start"))
    return found


def _ticks(most: float) -> list[float]:
    """Round values from 0 up to the highest of an axis, about `_TICKS` of them."""
    power = 10.0 ** floor(log10(most / _TICKS))
    step = next(power * each for each in (1, 2, 5, 10) if most / (power * each) <= _TICKS)
    return [step * nth for nth in range(int(most / step) + 1)]


def _days(scale: Scale, days: Sequence[str]) -> list[str]:
    base = HEIGHT - _BOTTOM
    found = [node("line", class_="axis", x1=_LEFT, x2=WIDTH - _RIGHT, y1=base, y2=base)]
    every = max(1, len(days) // 6)
    for nth, day in enumerate(days):
        if nth % every == 0:
            found.append(_text(day[5:], scale.x(nth), base + 16, "middle"))
    found.append(_text("gaming day", WIDTH - _RIGHT, base + 34, "end"))
    return found


def _house(scale: Scale, house: float) -> str:
    y = scale.y(house)
    line = node("line", class_="house", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y)
    return line + _text(f"house {per_1000(house)}", WIDTH - _RIGHT, y - 4, "end")


def _limit(scale: Scale, house: float, level: float, name: str) -> list[str]:
    """Both lines of a pair of limits: at each number of settlements, the exact count."""
    lows, highs = [], []
    for nth in range(1, _STEPS + 1):
        lines = max(1, round(scale.most_x * nth / _STEPS))
        low, high = limits(lines, house, level)
        x = scale.x(lines)
        lows.append(f"{x:.1f},{scale.y(low / lines):.1f}")
        highs.append(f"{x:.1f},{scale.y(high / lines):.1f}")
    kind = "limit outer" if name == "99.8 %" else "limit"
    label_x, _, label_y = highs[_STEPS // 4].partition(",")
    return [
        node("polyline", class_=kind, points=" ".join(lows)),
        node("polyline", class_=kind, points=" ".join(highs)),
        _text(name, float(label_x), float(label_y) - 4, "middle"),
    ]


def _mark(
    scale: Scale, row: ErrorRow, link: Callable[[str], str], title: Callable[[str], str]
) -> str:
    """A group: a circle, or a triangle if it errs more than chance explains."""
    x, y = scale.x(row.settlements), scale.y(row.errors / row.settlements)
    name = title(row.group)
    inside = [node("title", escape(f"{name}: {row.says}"))]
    inside.append(node("circle", class_="touch", cx=x, cy=y, r=_TOUCH))
    if row.verdict == "more":
        points = f"{x:.1f},{y - 8:.1f} {x - 7:.1f},{y + 6:.1f} {x + 7:.1f},{y + 6:.1f}"
        inside.append(node("polygon", class_="more", points=points))
    else:
        inside.append(node("circle", class_="mark", cx=x, cy=y, r=5))
    if row.verdict == "more" or row.funnel:
        fits = x + 12 + len(name) * _LETTER < WIDTH
        at, anchor = (x + 10, "start") if fits else (x - 10, "end")
        inside.append(_text(name, at, y + 4, anchor, "name"))
    return _link(link(row.group), inside, f"{name}: {row.says}")


def _link(address: str, content: Sequence[str], says: str) -> str:
    return node("a", *content, href=address, tabindex=-1, aria_label=says)


def _text(text: str, x: float, y: float, anchor: str, kind: str = "label") -> str:
    return node("text", escape(text), class_=kind, x=x, y=y, text_anchor=anchor)
