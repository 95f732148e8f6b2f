"""Who errs how often, where and when: dealers' errors by group, read from the view `rulings`."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from consumers.rulings.error_counts import (
    COUNTS,
    ERRORS,
    HOUR_US,
    TABLES,
    contributions,
    kept_rounds,
)
from consumers.rulings.rulings import VIEW
from infra.postgres.view_tables import reading
from ledger.finance.statistics.hold import days_before
from ledger.statistics.rates import ErrorCount
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore

ErrorsBy = Literal["dealer", "table", "game", "wager", "hour", "shift", "weekday"]

VIEWS = (VIEW,)
"""The views to catch up before `read`."""

DAYS = 31
"""How many gaming days are counted unless others are asked for."""

ERRORS_MAX = 200
"""The most errors that are listed."""

NOBODY = ""
"""The group of lines whose dealer, shift or game is not on record."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_COLUMNS: dict[ErrorsBy, str] = {
    "dealer": "dealer",
    "table": "table_name",
    "game": "game",
    "wager": "wager",
    "hour": "hour_us",
    "shift": "shift",
    "weekday": "gaming_day",
}
_SUMS = tuple(column.name for column in COUNTS.columns[COUNTS.keys :])
_NAMES = tuple(column.name for column in COUNTS.key)
_TABLES = tuple(each.name for each in TABLES)


class ErrorsAsked(NamedTuple):
    """What is counted: a group for each of what, between which gaming days, where.

    zone: the house's, for hours. without: rounds to leave out.
    """

    by: ErrorsBy
    zone: tzinfo = UTC
    property: str | None = None
    since: str | None = None
    until: str | None = None
    table: str | None = None
    game: str | None = None
    without: Sequence[RoundId] = ()


class ErrorDay(NamedTuple):
    """A group's counts on a gaming day; left out: lines of rounds that are not judged."""

    counted: ErrorCount
    left_out: int = 0
    left_out_errors: int = 0


class ErrorGroup(NamedTuple):
    """A group's counts by gaming day, in order."""

    name: str
    days: Mapping[str, ErrorDay]

    @property
    def counted(self) -> ErrorCount:
        """All days together."""
        found = ErrorCount()
        for each in self.days.values():
            found = found.plus(each.counted)
        return found

    @property
    def left_out(self) -> int:
        """Lines of rounds that are not judged."""
        return sum(each.left_out for each in self.days.values())

    @property
    def left_out_errors(self) -> int:
        """Lines with an error among those."""
        return sum(each.left_out_errors for each in self.days.values())


class ErrorLine(NamedTuple):
    """A finding that is a dealer's. dealer: empty if the record cannot tell."""

    round: RoundId
    game: str
    code: str
    position: int
    hand: int
    wager: str
    throw: int | None
    time_us: int
    short: int
    over: int
    judged: bool
    dealer: str
    who: str
    shift: str

    @property
    def whose(self) -> str:
        """Whose it is, in words."""
        if not self.judged:
            return "nobody's: a device lost a fact of the round, or its clock was off"
        if self.dealer:
            return self.dealer
        if self.who:
            return f"nobody's: the record cannot tell which of {self.who}"
        return "nobody's: no dealer is on record then"


def read(database: Database, asked: ErrorsAsked) -> list[ErrorGroup]:
    """The groups, in order of name; that of nobody last."""
    where, given = _where(asked)
    column = _COLUMNS[asked.by]
    sums = ", ".join(f"sum({name})::bigint" for name in _SUMS)
    found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(_SUMS))
    name_of = _namer(asked)
    with reading(database, _TABLES) as store:
        rows = store.query(
            f"SELECT {column}, gaming_day, {sums} FROM {{schema}}.{COUNTS.name}"  # noqa: S608 - values are parameters
            f" WHERE {where} GROUP BY 1, 2",
            given,
        )
        for value, day, *its in rows:
            _sum(found[name_of(value), day], its, 1)
        for key, less in _withheld(store, asked):
            of = dict(zip(_NAMES, key, strict=True))
            _sum(found[name_of(of[column]), of["gaming_day"]], less, -1)
    return _groups(found)


def error_lines(
    database: Database, asked: ErrorsAsked, name: str | None, limit: int = ERRORS_MAX
) -> list[ErrorLine]:
    """The errors of a group, newest first; None: those that count for nobody."""
    where, given = _where(asked)
    given["limit"] = limit
    cells = ", ".join(("number", *(column.name for column in ERRORS.columns[ERRORS.keys :])))
    with reading(database, _TABLES) as store:
        whose = "(dealer = '' OR NOT judged)"
        if name is not None:
            whose = f"judged AND {_of_group(store, asked, name, given)}"
        rows = store.query(
            f"SELECT property, table_name, gaming_day, {cells} FROM {{schema}}.{ERRORS.name}"  # noqa: S608 - values are parameters
            f" WHERE {where} AND {whose} AND {_NOT_WITHHELD} ORDER BY time_us DESC, property,"
            " table_name, gaming_day, number, nth LIMIT %(limit)s",
            given | _keys(asked.without),
        )
    return [ErrorLine(RoundId(*row[:4]), *row[4:]) for row in rows]


def last_days(database: Database, asked: ErrorsAsked) -> ErrorsAsked:
    """What is asked; without any day, of the last `DAYS` gaming days on record."""
    if asked.since is not None or asked.until is not None:
        return asked
    with reading(database, _TABLES) as store:
        [(last,)] = store.query("SELECT max(gaming_day) FROM {schema}.ruling_counts")
    return asked._replace(since=days_before(last, DAYS - 1)) if last else asked


def _where(asked: ErrorsAsked) -> tuple[str, dict[str, Any]]:
    given = {name: getattr(asked, name) for name in ("property", "since", "until", "table", "game")}
    conditions = {
        "property": "property = %(property)s",
        "since": "gaming_day >= %(since)s",
        "until": "gaming_day <= %(until)s",
        "table": "table_name = %(table)s",
        "game": "game = %(game)s",
    }
    chosen = [text for name, text in conditions.items() if given[name] is not None]
    return " AND ".join(chosen) or "true", dict(given)


def _of_group(store: ViewStore, asked: ErrorsAsked, name: str, given: dict[str, Any]) -> str:
    """The condition that an error is of a group; its values are added to `given`."""
    given["name"] = name
    if asked.by == "weekday":
        given["name"] = WEEKDAYS.index(name) + 1
        return "extract(isodow FROM gaming_day::date) = %(name)s"
    if asked.by == "hour":
        hours = store.query(
            f"SELECT DISTINCT hour_us FROM {{schema}}.{COUNTS.name} WHERE {_where(asked)[0]}",  # noqa: S608 - values are parameters
            given,
        )
        given["name"] = [each for (each,) in hours if hour_of(each, asked.zone) == name]
        return f"time_us / {HOUR_US} * {HOUR_US} = ANY(%(name)s::bigint[])"
    return f"{_COLUMNS[asked.by]} = %(name)s"


def _namer(asked: ErrorsAsked) -> Callable[[Any], str]:
    """The name of a group from the cell it is grouped by."""
    if asked.by == "weekday":
        return lambda day: WEEKDAYS[date.fromisoformat(day).weekday()]
    if asked.by == "hour":
        return lambda hour_us: hour_of(hour_us, asked.zone)
    return str


def hour_of(hour_us: int, zone: tzinfo) -> str:
    """The hour of house time that an hour of the counts begins in, as `21:00`."""
    return f"{datetime.fromtimestamp(hour_us // 1_000_000, zone).hour:02d}:00"


def _withheld(
    store: ViewStore, asked: ErrorsAsked
) -> Iterable[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """What the rounds to leave out added to the counts."""
    its = [each for each in asked.without if _is_asked(each, asked)]
    if not its:
        return
    rounds, tables = kept_rounds(store, its)
    for key, sums in contributions(rounds, tables):
        if asked.game is None or key[3] == asked.game:
            yield key, sums


def _is_asked(round_: RoundId, asked: ErrorsAsked) -> bool:
    return (
        asked.property in (None, round_.property)
        and asked.table in (None, round_.table)
        and (asked.since or "") <= round_.gaming_day <= (asked.until or "9999")
    )


def _sum(into: list[int], sums: Sequence[int], sign: int) -> None:
    for nth, each in enumerate(sums):
        into[nth] += sign * each


def _groups(found: Mapping[tuple[str, str], Sequence[int]]) -> list[ErrorGroup]:
    days: dict[str, dict[str, ErrorDay]] = defaultdict(dict)
    for name, day in sorted(found):
        sums = found[name, day]
        if any(sums):
            days[name][day] = ErrorDay(ErrorCount(*sums[:4]), *sums[4:])
    return [ErrorGroup(name, days[name]) for name in sorted(days, key=_order)]


def _order(name: str) -> tuple[bool, int, str]:
    return (name == NOBODY, WEEKDAYS.index(name) if name in WEEKDAYS else 0, name)


_NOT_WITHHELD = """
(property, table_name, gaming_day, number) NOT IN (
    SELECT * FROM unnest(%(properties)s::text[], %(tables)s::text[], %(days)s::text[],
                         %(numbers)s::int[]))
"""


def _keys(rounds: Sequence[RoundId]) -> dict[str, object]:
    return {
        "properties": [each.property for each in rounds],
        "tables": [each.table for each in rounds],
        "days": [each.gaming_day for each in rounds],
        "numbers": [each.number for each in rounds],
    }
