"""Dealers' errors by group, worked out once for the command and for the page."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from consumers.finance import variances
from consumers.rulings import error_rates
from consumers.rulings.error_rates import NOBODY, WEEKDAYS, ErrorsAsked, ErrorsBy
from ledger.finance.statistics.hold import VarianceAsked
from ledger.finance.win import ExpectedWin  # noqa: TC001 - msgspec reads it at run time
from ledger.statistics.rates import (
    ComparedGroup,
    ErrorCount,
    TrendPoint,
    Verdict,
    compared,
    decision,
    interval,
    per_1000,
    rate,
    total,
    trend,
)
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consumers.rulings.error_rates import ErrorGroup
    from infra.postgres.connection import Database

VIEWS = (*error_rates.VIEWS, *variances.VIEWS)
"""The views to catch up before `work_out`."""

LUCK_DAYS_MAX = 31
"""The most gaming days that luck is read for: finance works it out round by round."""

_LUCKY: Mapping[ErrorsBy, str] = {
    "dealer": "dealer", "table": "table", "game": "game", "shift": "shift"
}  # fmt: skip
_TREND: tuple[ErrorsBy, ...] = ("dealer", "table", "game", "wager", "shift")

PLURALS: Mapping[ErrorsBy, str] = {
    "dealer": "dealers", "table": "tables", "game": "games", "wager": "wagers", "hour": "hours",
    "shift": "shifts", "weekday": "weekdays",
}  # fmt: skip


class ErrorRow(Struct, frozen=True, kw_only=True):
    """A group beside the house. Rates are by 1,000 settlements, as decimal text.

    group: empty for what is of none: nobody's, or of no shift on record.
    p: chance of so many errors at the house's rate, corrected for how many groups were looked at.
    verdict: `more` or `fewer` errors than chance explains, `chance`, or `none`: not compared.
    funnel: the limits that it lies outside of; null: of none. patrons_lost, house_lost: cents.
    left_out: settlements of rounds in which a device lost a fact or its clock was off.
    alarms: gaming days on which the trend alarmed. luck: what finance expected; null: not known.
    """

    by: ErrorsBy
    group: str
    settlements: int
    errors: int
    per_1000: str
    low: str
    high: str
    house: str
    p: str | None
    verdict: Verdict
    funnel: str | None
    patrons_lost: int
    house_lost: int
    left_out: int
    left_out_errors: int
    alarms: list[str]
    luck: ExpectedWin | None
    says: str


class ErrorReport(NamedTuple):
    """Groups beside the house: first whom chance does not explain, then by how little it does."""

    asked: ErrorsAsked
    rows: Sequence[ErrorRow]
    house: ErrorCount  # of the groups that are compared
    trends: Mapping[str, Sequence[TrendPoint]]

    @property
    def compared(self) -> list[ErrorRow]:
        """The rows of a group."""
        return [each for each in self.rows if each.group != NOBODY]

    @property
    def named(self) -> list[ErrorRow]:
        """Those who err more than chance explains."""
        return [each for each in self.rows if each.verdict == "more"]

    @property
    def says(self) -> str:
        """The report in a sentence."""
        looked, several = len(self.compared), PLURALS[self.asked.by]
        if not self.house.settlements:
            return "Nothing that was settled is on record here."
        of = (
            f"{quantity(self.house.errors, 'error')} in {self.house.settlements:,} settlements, "
            f"{per_1000(rate(self.house))} per 1,000"
        )
        if not self.named:
            return f"None of {looked} {several} errs more than chance explains. House: {of}."
        names = ", ".join(each.group for each in self.named)
        verb = "errs" if len(self.named) == 1 else "err"
        who = f"{len(self.named)} of {looked} {several} {verb} more than chance explains"
        return f"{who}: {names}. House: {of}."


def work_out(database: Database, asked: ErrorsAsked, *, lucky: bool = False) -> ErrorReport:
    """The report of what is asked; `lucky`: with what finance expected, which takes it longer."""
    groups = error_rates.read(database, asked)
    known = {each.name: each for each in groups if each.name != NOBODY}
    beside = {
        each.name: each for each in compared({name: of.counted for name, of in known.items()})
    }
    house = total(each.counted for each in known.values())
    trends = _trends(asked, known, rate(house))
    luck = _luck(database, asked, groups) if lucky else {}
    rows = [
        _row(asked.by, of, rate(house), beside.get(of.name), luck.get(of.name), trends)
        for of in groups
    ]
    return ErrorReport(asked, sorted(rows, key=_in_order), house, trends)


def _in_order(row: ErrorRow) -> tuple[bool, bool, float, str]:
    """Days and hours in their order; others by how little chance explains. Nobody comes last."""
    at = float(row.p or 1)
    if row.by == "hour":
        at = 0
    elif row.group in WEEKDAYS:
        at = WEEKDAYS.index(row.group)
    in_order = row.by in ("hour", "weekday") or row.verdict != "more"
    return (row.group == NOBODY, in_order, at, row.group)


def _row(
    by: ErrorsBy,
    of: ErrorGroup,
    house: float,
    its: ComparedGroup | None,
    luck: ExpectedWin | None,
    trends: Mapping[str, Sequence[TrendPoint]],
) -> ErrorRow:
    """A group's row; its comparison is None for what is nobody's."""
    count = of.counted
    low, high = interval(count)
    return ErrorRow(
        by=by,
        group=of.name,
        settlements=count.settlements,
        errors=count.errors,
        per_1000=per_1000(rate(count)),
        low=per_1000(low),
        high=per_1000(high),
        house=per_1000(house),
        p=f"{its.p:.4f}" if its else None,
        verdict=its.verdict if its else "none",
        funnel=(its.outside or None) if its else None,
        patrons_lost=count.short,
        house_lost=count.over,
        left_out=of.left_out,
        left_out_errors=of.left_out_errors,
        alarms=[each.gaming_day for each in trends.get(of.name, ()) if each.alarm],
        luck=luck if its else None,
        says=its.says if its else _nobodys(by, count),
    )


def _nobodys(by: ErrorsBy, count: ErrorCount) -> str:
    of = f"{count.errors:,} in {count.settlements:,}"
    why = "nobody or several stood there" if by == "dealer" else f"no {by} is on record"
    return f"{of}, and {why}: not compared."


def _trends(
    asked: ErrorsAsked, known: Mapping[str, ErrorGroup], house: float
) -> dict[str, list[TrendPoint]]:
    """The trend of each group by gaming day; none if the groups are parts of a day or week."""
    if asked.by not in _TREND:
        return {}
    limit = decision(len(known), len({day for of in known.values() for day in of.days}))
    return {
        name: list(trend({day: of.days[day].counted for day in of.days}, house, limit))
        for name, of in known.items()
    }


def _luck(
    database: Database, asked: ErrorsAsked, groups: Sequence[ErrorGroup]
) -> Mapping[str, ExpectedWin]:
    """What finance expected of each group; nothing if it has no figure for what is asked."""
    days = sorted({day for of in groups for day in of.days})
    by = _LUCKY.get(asked.by)
    narrowed = asked.table or asked.game or asked.without
    if by is None or narrowed or not 0 < len(days) <= LUCK_DAYS_MAX:
        return {}
    house = asked.property or variances.only_property(database)
    if house is None:
        return {}
    return variances.luck(database, VarianceAsked(house, by, "day", days[-1]), days[0])  # type: ignore[arg-type] # one of `VarianceBy`


def to_csv(report: ErrorReport) -> str:
    """The rows as CSV, with one line of names; no text becomes a formula."""
    out = StringIO()
    names = [name for name in ErrorRow.__struct_fields__ if name != "luck"]
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*names, "expected_win", "sigma", "z"])
    for row in report.rows:
        cells = asdict(row)
        luck = row.luck
        cells["alarms"] = " ".join(row.alarms)
        values = [_cell(cells[name]) for name in names]
        of_luck = (luck.win, luck.sigma, luck.z) if luck else (None, None, None)
        writer.writerow([*values, *of_luck])
    return out.getvalue()


def _cell(value: object) -> object:
    """A cell; a text that a spreadsheet would take for a formula begins with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
