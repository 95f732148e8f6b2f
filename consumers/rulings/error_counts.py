"""Lines settled and dealers' errors among them, counted by where, when and whose.

Every round's lines are kept, with the marks of staff and shifts at its table. What a batch changes
is taken out of the counts as it stood, and added as it stands now. So a late fact or a correction
moves a round between counts exactly. Part of the view `rulings`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from consumers.rounds.index import ROUND_KEY
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import (
    DealerAssigned,
    DealerRelieved,
    DropBoxAttached,
    InventoryCounted,
    TableClosed,
)
from ledger.rules.engine.order import UNCERTAINTY_US
from ledger.statistics.errors import RoundLines, SettledLine
from ledger.statistics.standing import SPAN_US, ShiftMark, StaffMark, TableMarks
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from consumers.rulings.table_findings import Heard
    from consumers.runtime.source import Share
    from ledger.adjudication.feed import TableId
    from ledger.record.wire import Fact

HOUR_US = 3_600_000_000

_PLACE = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07."),
)

LINES = ViewTable(
    "ruling_lines",
    "One row a closed round: the lines that its dealer settled.",
    4,
    (
        *ROUND_KEY,
        Column("game", "text", "Game id; empty: not on record."),
        Column("judged", "boolean", "False: a device lost a fact of it, or its clock was off."),
        Column("first_us", "bigint", "Time of its first line, microseconds."),
        Column("last_us", "bigint", "Time of its last line, microseconds."),
        Column("lines", "json", "Position, hand, wager, throw, time and errors of each line."),
    ),
    ("(property, table_name, last_us)",),
)

MARKS = ViewTable(
    "ruling_marks",
    "Facts that say who deals at a table, and in which shift: one row a fact.",
    2,
    (
        Column("tape", "text", "Tape of the fact: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape."),
        *_PLACE,
        Column("time_us", "bigint", "Device time, microseconds."),
        Column("employee", "text", "Credential number; null: the table was closed.", null=True),
        Column("role", "text", "dealer, stickperson, boxperson.", null=True),
        Column("comes", "boolean", "True: they came. False: they left."),
        Column("gaming_day", "text", "Gaming day of the shift that begins.", null=True),
        Column("shift", "text", "The shift that begins; null: the fact is of staff.", null=True),
    ),
    ("(property, table_name, time_us)",),
)

ERRORS = ViewTable(
    "ruling_errors",
    "One row a finding that is a dealer's: whose it is, and what it cost.",
    5,
    (
        *ROUND_KEY,
        Column("nth", "smallint", "Its place among those of the round, from 0."),
        Column("game", "text", "Game id; empty: not on record."),
        Column("code", "text", "Code of the finding, e.g. underpaid."),
        Column("position", "smallint", "Betting position of the line."),
        Column("hand", "smallint", "Hand of the position, from 1."),
        Column("wager", "text", "Wager id of the line."),
        Column("throw", "smallint", "Throw of the line, from 1.", null=True),
        Column("time_us", "bigint", "When, device time, microseconds."),
        Column("short", "bigint", "Cents that the patron lost by it."),
        Column("over", "bigint", "Cents that the house lost by it."),
        Column("judged", "boolean", "False: a device may have made it."),
        Column("dealer", "text", "Whose it is; empty: the record cannot tell."),
        Column("who", "text", "Who stood there, with their roles; empty: nobody on record."),
        Column("shift", "text", "Shift; empty: none is named."),
    ),
    ("(gaming_day, property)", "(dealer, gaming_day)"),
)


def _sum(name: str, comment: str) -> Column:
    return Column(name, "bigint", comment, merge="old.{name} + excluded.{name}")


COUNTS = ViewTable(
    "ruling_counts",
    "Lines settled and dealers' errors by day, place, game, wager, hour, shift and dealer.",
    8,
    (
        Column("property", "text", "Property of the table."),
        Column("gaming_day", "text", "Gaming day."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("game", "text", "Game id; empty: not on record."),
        Column("wager", "text", "Wager id."),
        Column("hour_us", "bigint", "Beginning of the hour, UTC, microseconds."),
        Column("shift", "text", "Shift; empty: none is named."),
        Column("dealer", "text", "Credential; empty: nobody or several stood there."),
        _sum("settlements", "Lines settled."),
        _sum("errors", "Lines with an error of a dealer."),
        _sum("short", "Cents that patrons lost by them."),
        _sum("over", "Cents that the house lost by them."),
        _sum("left_out", "Lines of rounds in which a device lost a fact or its clock was off."),
        _sum("left_out_errors", "Lines with an error among those."),
    ),
    ("(gaming_day)",),
)

TABLES = (LINES, MARKS, ERRORS, COUNTS)

_SUMS = len(COUNTS.columns) - COUNTS.keys


class CountedRound(NamedTuple):
    """A round and its lines, as they are counted."""

    round: RoundId
    game: str
    lines: RoundLines

    @property
    def times(self) -> tuple[int, int]:
        """The times of its first and last line."""
        times = [each.time_us for each in self.lines.lines]
        return (min(times), max(times)) if times else (0, 0)


def count_errors(
    store: ViewStore, heard: Sequence[Heard], ruled: Sequence[CountedRound], share: Share
) -> None:
    """Count the rounds ruled on, and those whose dealer or shift a mark of the batch changes."""
    marks = [row for each in heard for row in _marks(each, share)]
    before = {each.round: each for each in _kept(store, [each.round for each in ruled])}
    late = _at_marks(store, marks) if marks else []
    now = {each.round: each for each in (*late, *ruled)}
    before = {each.round: each for each in late} | before
    if not now:
        store.save(MARKS, marks)
        return
    standing = marks_of(store, [*now.values(), *before.values()])
    deltas: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0] * _SUMS)
    _add(deltas, before.values(), _tables(standing), -1)
    for row in marks:
        standing[row[2], row[3]].append(_mark(row[4:]))
    tables = _tables(standing)
    _add(deltas, now.values(), tables, 1)
    store.save(MARKS, marks)
    store.save(LINES, (_line_row(each) for each in ruled))
    store.delete(ERRORS, list(before))
    store.save(ERRORS, (row for each in now.values() for row in _error_rows(each, tables)))
    _save(store, deltas)


def contributions(
    rounds: Iterable[CountedRound], tables: Mapping[TableId, TableMarks]
) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """What each line adds to the counts: the key of its row, and the sums."""
    for of in rounds:
        marks = tables[of.round[:2]]
        for line in of.lines.lines:
            key = (
                of.round.property,
                of.round.gaming_day,
                of.round.table,
                of.game,
                line.wager,
                line.time_us // HOUR_US * HOUR_US,
                marks.shift(of.round.gaming_day, line.time_us) or "",
                marks.at(line.time_us).dealer or "",
            )
            yield key, _sums_of(line, judged=of.lines.is_judged)


def kept_rounds(
    store: ViewStore, rounds: Sequence[RoundId]
) -> tuple[list[CountedRound], dict[TableId, TableMarks]]:
    """Some rounds as they are counted, with the marks of their tables."""
    found = _kept(store, rounds)
    return found, _tables(marks_of(store, found))


def _sums_of(line: SettledLine, *, judged: bool) -> tuple[int, ...]:
    errs = int(bool(line.errors))
    if not judged:
        return (0, 0, 0, 0, 1, errs)
    short, over = (sum(getattr(each, side) for each in line.errors) for side in ("short", "over"))
    return (1, errs, short, over, 0, 0)


def _add(
    deltas: dict[tuple[Any, ...], list[int]],
    rounds: Iterable[CountedRound],
    tables: Mapping[TableId, TableMarks],
    sign: int,
) -> None:
    for key, sums in contributions(rounds, tables):
        row = deltas[key]
        for nth, each in enumerate(sums):
            row[nth] += sign * each


def _save(store: ViewStore, deltas: Mapping[tuple[Any, ...], Sequence[int]]) -> None:
    """Add to the counts; a row of nothing is no row."""
    changed = {key: sums for key, sums in deltas.items() if any(sums)}
    store.save(COUNTS, ((*key, *sums) for key, sums in changed.items()))
    less = [key for key, sums in changed.items() if min(sums) < 0]
    if less:
        rows = store.load(COUNTS, less)
        store.delete(COUNTS, [key for key, row in rows.items() if not any(row[COUNTS.keys :])])


def _error_rows(
    of: CountedRound, tables: Mapping[TableId, TableMarks]
) -> Iterator[tuple[Any, ...]]:
    """A round's rows of `ERRORS`."""
    marks = tables[of.round[:2]]
    found = [(line, error) for line in of.lines.lines for error in line.errors]
    for nth, (line, error) in enumerate(found):
        there = marks.at(line.time_us)
        yield (
            *of.round,
            nth,
            of.game,
            error.code,
            *(line.position, line.hand, line.wager, line.throw, line.time_us),
            *(error.short, error.over),
            of.lines.is_judged,
            there.dealer or "",
            there.who,
            marks.shift(of.round.gaming_day, line.time_us) or "",
        )


def _line_row(of: CountedRound) -> tuple[Any, ...]:
    """A round's row of `LINES`."""
    text = msgspec.json.encode(of.lines.lines).decode()
    return (*of.round, of.game, of.lines.is_judged, *of.times, text)


def _kept(store: ViewStore, rounds: Sequence[RoundId]) -> list[CountedRound]:
    return [_counted(row) for row in store.load(LINES, rounds).values()]


def _counted(row: Any) -> CountedRound:  # noqa: ANN401 - a row of `LINES`
    lines = msgspec.json.decode(row.lines, type=list[SettledLine])
    return CountedRound(RoundId(*row[:4]), row.game, RoundLines(row.judged, lines))


# -- marks ----------------------------------------------------------------------------------------


def _marks(heard: Heard, share: Share) -> Iterator[tuple[Any, ...]]:
    """A fact's row of `MARKS`."""
    row, fact = heard
    told = _told(fact)
    property_ = row.tape.partition("/")[0]
    if told and fact.table and share.owns_table(property_, fact.table):
        yield (row.tape, row.table_seq, property_, fact.table, row.time_us, *told)


def _told(fact: Fact) -> tuple[Any, ...] | None:
    """Employee, role, whether they come, gaming day and shift; None: it says nothing of these."""
    body = fact.body
    if isinstance(body, TableClosed):
        return (None, None, False, None, None)
    if isinstance(body, DealerAssigned | DealerRelieved):
        return (body.employee, body.role, isinstance(body, DealerAssigned), None, None)
    begins = isinstance(body, DropBoxAttached) or (
        isinstance(body, InventoryCounted) and body.kind == "open"
    )
    if begins and isinstance(body, DropBoxAttached | InventoryCounted) and body.shift is not None:
        return (None, None, True, body.gaming_day, body.shift)
    return None


def _mark(cells: Sequence[Any]) -> StaffMark | ShiftMark:
    """A mark from the cells of its row, from its time on."""
    time_us, employee, role, comes, gaming_day, shift = cells
    if shift is not None:
        return ShiftMark(time_us, gaming_day, shift)
    return StaffMark(time_us, employee, role, comes)


def _tables(
    standing: Mapping[TableId, Sequence[StaffMark | ShiftMark]],
) -> dict[TableId, TableMarks]:
    return defaultdict(
        lambda: TableMarks(()), {table: TableMarks(its) for table, its in standing.items()}
    )


def marks_of(
    store: ViewStore, rounds: Iterable[CountedRound]
) -> dict[TableId, list[StaffMark | ShiftMark]]:
    """The marks that can matter to some rounds, by table."""
    spans: dict[TableId, tuple[int, int]] = {}
    for each in rounds:
        first, last = each.times
        low, high = spans.get(each.round[:2], (first, last))
        spans[each.round[:2]] = min(low, first), max(high, last)
    rows = store.query(
        "SELECT m.property, m.table_name, m.time_us, m.employee, m.role, m.comes, m.gaming_day,"
        " m.shift FROM unnest(%(properties)s::text[], %(tables)s::text[], %(sinces)s::bigint[],"
        " %(untils)s::bigint[]) AS w (property, table_name, since_us, until_us)"
        " CROSS JOIN LATERAL (SELECT * FROM {schema}.ruling_marks b"
        " WHERE b.property = w.property AND b.table_name = w.table_name"
        " AND b.time_us BETWEEN w.since_us AND w.until_us OFFSET 0) AS m",
        {
            "properties": [table[0] for table in spans],
            "tables": [table[1] for table in spans],
            "sinces": [first - SPAN_US for first, _ in spans.values()],
            "untils": [last + SPAN_US for _, last in spans.values()],
        },
    )
    found: dict[TableId, list[StaffMark | ShiftMark]] = defaultdict(list)
    for property_, table, *cells in rows:
        found[property_, table].append(_mark(cells))
    return found


def _at_marks(store: ViewStore, marks: Sequence[Sequence[Any]]) -> list[CountedRound]:
    """The rounds counted already whose dealer or shift a new mark may change."""
    spans: dict[TableId, tuple[int, int]] = {}
    for _, _, property_, table, time_us, *_, shift in marks:
        # The first shift of a day has what came before it, so its mark reaches back.
        since = time_us - (SPAN_US if shift is not None else UNCERTAINTY_US)
        low, high = spans.get((property_, table), (since, time_us + SPAN_US))
        spans[property_, table] = min(low, since), max(high, time_us + SPAN_US)
    rows = store.query(
        "SELECT r.property, r.table_name, r.gaming_day, r.number"
        " FROM unnest(%(properties)s::text[], %(tables)s::text[], %(sinces)s::bigint[],"
        " %(untils)s::bigint[]) AS w (property, table_name, since_us, until_us)"
        " CROSS JOIN LATERAL (SELECT * FROM {schema}.ruling_lines b"
        " WHERE b.property = w.property AND b.table_name = w.table_name"
        " AND b.last_us >= w.since_us AND b.first_us <= w.until_us OFFSET 0) AS r",
        {
            "properties": [table[0] for table in spans],
            "tables": [table[1] for table in spans],
            "sinces": [since for since, _ in spans.values()],
            "untils": [until for _, until in spans.values()],
        },
    )
    return _kept(store, [RoundId(*row) for row in rows])
