"""Control charts as drawings: where each day's mark, each limit and each label stands.

All in whole units of the drawing. A mark of an alarm has another shape, not only another colour.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.finance.statistics.charts import ChartLimits, ChartPoint

WIDTH, HEIGHT = 1_000, 260
LEFT, RIGHT, TOP, BOTTOM = 130, 50, 14, 30
MARK = 6
"""Half the width of a mark."""

DAYS_MAX = 60
"""The last days that are drawn; the table has the same."""


class ChartMark(NamedTuple):
    """A day's mark."""

    x: int
    y: int
    gaming_day: str
    says: str
    alarm: bool

    @property
    def diamond(self) -> str:
        """The corners of the mark of an alarm."""
        x, y, half = self.x, self.y, MARK + 3
        return f"{x},{y - half} {x + half},{y} {x},{y + half} {x - half},{y}"


class Level(NamedTuple):
    """A line across the drawing, with its label."""

    y: int
    label: str
    limit: bool  # of an alarm


class Line(NamedTuple):
    """The marks of one series, joined except over a day without a figure."""

    name: str
    marks: Sequence[ChartMark]
    joined: Sequence[str]  # the points of a polyline for each run of days without a gap


class Drawing(NamedTuple):
    """One chart."""

    title: str
    lines: Sequence[Line]
    levels: Sequence[Level]
    days: Sequence[tuple[int, str]]  # first and last day, and where they stand
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT


def of_luck(points: Sequence[ChartPoint], limits: ChartLimits) -> Drawing:
    """The chart of z: how many sigmas the owed win of each day lies from its mean."""
    limit = _hundredths(limits.sigmas)
    values = [None if each.z is None else _hundredths(each.z) for each in points]
    says = [f"{each.gaming_day}: z {each.z}" for each in points]
    alarms = ["luck" in each.alarms for each in points]
    levels = [(limit, f"+{limits.sigmas}"), (0, "0"), (-limit, f"-{limits.sigmas}")]
    series = [("z", values, says, alarms)]
    return _drawn("Luck: z of each day", points, series, levels)


def of_errors(points: Sequence[ChartPoint], limits: ChartLimits) -> Drawing:
    """The sums of pay gaps beyond the allowance: paid under above the middle, over below it."""
    limit = limits.decision
    under = [each.paid_under for each in points]
    over = [-each.paid_over for each in points]
    series = [
        (
            name.replace("_", " "),
            list(values),
            [
                f"{each.gaming_day}: {name.replace('_', ' ')} {dollars(abs(value))}"
                for each, value in zip(points, values, strict=True)
            ],
            [name in each.alarms for each in points],
        )
        for name, values in (("paid_under", under), ("paid_over", over))
    ]
    levels = [
        (limit, f"under {dollars(limit)}"), (0, "$0.00"), (-limit, f"over {dollars(limit)}"),
    ]  # fmt: skip
    return _drawn("Error: sums of pay gaps", points, series, levels)


Series = tuple[str, "Sequence[int | None]", "Sequence[str]", "Sequence[bool]"]


def _drawn(
    title: str,
    points: Sequence[ChartPoint],
    series: Sequence[Series],
    levels: Sequence[tuple[int, str]],
) -> Drawing:
    known = [value for _, values, _, _ in series for value in values if value is not None]
    reach = max([*map(abs, known), *(abs(level) for level, _ in levels)]) * 11 // 10 + 1
    inner, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def across(at: int) -> int:
        return LEFT + inner * (2 * at + 1) // (2 * max(len(points), 1))

    def up(value: int) -> int:
        return TOP + tall * (reach - value) // (2 * reach)

    lines = []
    for name, values, says, alarms in series:
        marks: list[ChartMark] = []
        runs: list[str] = [""]
        for at, (each, value, said, alarm) in enumerate(
            zip(points, values, says, alarms, strict=True)
        ):
            if value is None:
                runs.append("")
                continue
            marks.append(ChartMark(across(at), up(value), each.gaming_day, said, alarm))
            runs[-1] += f" {marks[-1].x},{marks[-1].y}"
        lines.append(Line(name, marks, [run.strip() for run in runs if " " in run.strip()]))
    ends = [(at, points[at].gaming_day) for at in sorted({0, len(points) - 1}) if points]
    return Drawing(
        title,
        lines,
        [Level(up(value), label, limit=value != 0) for value, label in levels],
        [(across(at), day) for at, day in ends],
    )


def _hundredths(text: str) -> int:
    """A decimal as a whole number of hundredths."""
    return int(Fraction(text) * 100)
