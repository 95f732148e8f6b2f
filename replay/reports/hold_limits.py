"""The report of hold beside its limits: by table, game, shift and dealer, with investigations."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from consumers.finance import variances
from ledger.errors import Usage
from ledger.finance.statistics import hold
from ledger.finance.statistics.hold import VarianceAsked, VarianceBy
from replay.reports.kind import columns
from replay.reports.table import ReportColumn
from replay.text.variances import explanation_says, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.finance.statistics.hold import LimitCheck, VarianceLine
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

LIMITS = (
    *columns("by group state limit source", "drop counted"),
    *(ReportColumn(name, "percent") for name in ("hold", "base_level", "allowed")),
    *columns("", "off_base explained unexplained left"),
    ReportColumn("investigations"),
)


def limits(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """A row for each group and limit of the period; of a group without a limit one row.

    Groups are tables, games, shifts and dealers, in this order. Raises `Usage` for a week.
    """
    if asked.period == "week":
        raise Usage(
            "No limit is of a week", where="--period", hint="Give it as day, month or year."
        )
    for by in get_args(VarianceBy):
        of = VarianceAsked(asked.property, by, asked.period, asked.gaming_day)
        for line in variances.read(asked.database, of, asked.limits or hold.LIMITS, asked.kept):
            for check in line.limits or (None,):
                yield _row(line, check)


def _row(line: VarianceLine, check: LimitCheck | None) -> Sequence[Value]:
    first = (line.by, line.group or "none named", state_of(check))
    if check is None:
        return *first, None, None, line.drop, line.win, *(None for _ in LIMITS[7:])
    said = (e for e in line.explained if e.about in (None, check.limit))
    return (
        *first, check.limit, check.source, line.drop, line.win,
        *map(_hundredths, (check.hold, check.base_level, check.allowed)),
        check.off_base, check.explained, check.unexplained, check.left,
        " ".join(map(explanation_says, said)) or None,
    )  # fmt: skip


def _hundredths(percent: str | None) -> int | None:
    """A percentage with two places, in hundredths of a percent."""
    return None if percent is None else int(percent.replace(".", ""))
