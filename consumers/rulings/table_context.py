"""The context of a round at its table: seats taken and left, counts of the stub, posted limits.

Each such fact is stored with the seats held after it. A round therefore reads the state at its
start and the facts within it, never the table's whole history. Part of the view `rulings`.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from infra.postgres.arrays import array_text
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import SeatLeft, SeatTaken, TableOpened
from ledger.record.wire import Fact, fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.adjudication.feed import TableId
    from ledger.record.tape import TapeRow

AROUND_ROUNDS = ViewTable(
    "ruling_around",
    "Facts of a table without a round that rulings depend on, in order of time.",
    4,
    (
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("time_us", "bigint", "Device time of the fact, microseconds."),
        Column("position", "bigint", "Position of the fact on the record."),
        Column("tape", "text", "Tape of the fact."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
        Column("kind", "text", "taken, left (seats), stub (its count), or opened (the table)."),
        Column("positions", "smallint[]", "Betting positions it names; none for a stub."),
        Column("held", "json", "Positions each patron holds after it, a list of lists."),
        Column("opened", "json", "Opening of the table in force after it; null: none."),
    ),
)

LATEST_US = 2**63 - 1

Seats = list[tuple[int, ...]]


class TableOpening(Struct, frozen=True):
    """A fact that opens a table: what a ruling needs of it."""

    time_us: int
    source: str
    id: str
    body: TableOpened

    def fact(self, table: TableId) -> Fact:
        """The fact, as `record_of` reads it."""
        return Fact(self.body, self.source, self.id, self.time_us, None, table[1], None, None)


class ContextFact(Struct):
    """One fact of the context, with the seats held after it."""

    time_us: int
    position: int
    tape: str
    table_seq: int
    kind: str
    positions: tuple[int, ...]
    held: Seats
    opened: TableOpening | None = None

    @property
    def order(self) -> tuple[int, int]:
        """The sort key: device time, then position."""
        return (self.time_us, self.position)


class RoundContext:
    """The context of the tables of a batch."""

    def __init__(self, store: ViewStore, until_us: int = LATEST_US) -> None:
        """`until_us`: the latest time that is read, for a single old round."""
        self._store = store
        self._until_us = until_us
        self._since: dict[TableId, int] = {}
        self._seen: dict[TableId, list[ContextFact]] = defaultdict(list)
        self._new: dict[TableId, list[ContextFact]] = defaultdict(list)
        self._facts: dict[int, Fact] = {}  # stub counts, by position

    def load(self, since: dict[TableId, int]) -> None:
        """Read the context facts of these tables from these times on, and the seats held then."""
        wanted = {table: at for table, at in since.items() if at < self._since.get(table, at + 1)}
        if not wanted:
            return
        rows = self._store.query(
            "SELECT a.property, a.table_name, a.time_us, a.position, a.tape, a.table_seq, a.kind,"
            " a.positions, a.held::text, a.opened::text"
            " FROM unnest(%(properties)s::text[], %(tables)s::text[], %(since)s::bigint[])"
            " AS w (property, table_name, since) CROSS JOIN LATERAL ("
            "  SELECT * FROM {schema}.ruling_around b WHERE b.property = w.property"
            "  AND b.table_name = w.table_name AND b.time_us >= coalesce(("
            "   SELECT max(c.time_us) FROM {schema}.ruling_around c WHERE c.property = w.property"
            "   AND c.table_name = w.table_name AND c.time_us <= w.since), w.since)"
            "  AND b.time_us <= %(until)s OFFSET 0) AS a",
            {
                "properties": [table[0] for table in wanted],
                "tables": [table[1] for table in wanted],
                "since": list(wanted.values()),
                "until": self._until_us,
            },
        )
        for table, at in wanted.items():
            self._since[table] = at
            self._seen[table] = list(self._new[table])
        for row in rows:
            *_, time_us, position, tape, table_seq, kind, positions, held_json, opened_json = row
            held = msgspec.json.decode(held_json, type=Seats)
            opened = msgspec.json.decode(opened_json or "null", type=TableOpening | None)
            its = (time_us, position, tape, table_seq, kind, tuple(positions))
            seen = ContextFact(*its, held, opened)
            if all(seen.position != other.position for other in self._new[row[:2]]):
                self._seen[row[:2]].append(seen)
        for table in wanted:
            self._seen[table].sort(key=attrgetter("order"))

    def add(self, table: TableId, row: TapeRow, fact: Fact) -> None:
        """Add a fact of the kinds `CONTEXT_FACTS` without a round."""
        self.load({table: fact.time_us})
        kind = "stub"
        positions: tuple[int, ...] = ()
        opened = None
        if isinstance(fact.body, (SeatTaken, SeatLeft)):
            kind = "taken" if isinstance(fact.body, SeatTaken) else "left"
            positions = tuple(fact.body.positions)
        elif isinstance(fact.body, TableOpened):
            kind, opened = "opened", TableOpening(fact.time_us, fact.source, fact.id, fact.body)
        else:
            self._facts[row.position] = fact
        of = (row.time_us, row.position, row.tape, row.table_seq, kind, positions)
        seen = ContextFact(*of, [], opened)
        its = self._seen[table]
        insort(its, seen, key=attrgetter("order"))
        at = its.index(seen)
        held, in_force = (its[at - 1].held, its[at - 1].opened) if at else ([], None)
        for each in its[at:]:
            each.held = held = _after(held, each)
            own = each.opened if each.kind == "opened" else None
            each.opened = in_force = _latest(in_force, own)
            if each not in self._new[table]:
                self._new[table].append(each)

    def of(self, table: TableId, first_us: int, last_us: int) -> list[Fact]:
        """The context of a round from `first_us` to `last_us`, as `feed.record_of` takes it.

        The seats held at its start replace all earlier facts about seats.
        """
        self.load({table: first_us})
        its = self._seen[table]
        if not its:
            return []
        at = bisect_right(its, first_us, key=attrgetter("time_us"))
        held, opened = (its[at - 1].held, its[at - 1].opened) if at else ([], None)
        found = [_seat(table, first_us, SeatTaken(positions=seats)) for seats in held]
        found += [opened.fact(table)] if opened else []
        for each in its[at:]:
            if each.time_us > last_us:
                break
            found.append(self._fact(table, each))
        return found

    def save(self) -> None:
        """Write new and changed rows to the view."""
        self._store.save(
            AROUND_ROUNDS,
            (
                (
                    *table,
                    *(each.time_us, each.position, each.tape, each.table_seq, each.kind),
                    array_text(each.positions),
                    msgspec.json.encode(each.held).decode(),
                    msgspec.json.encode(each.opened).decode(),
                )
                for table, its in self._new.items()
                for each in its
            ),
        )

    def _fact(self, table: TableId, seen: ContextFact) -> Fact:
        """The fact: rebuilt from seats and time, or read from the tape for a stub count."""
        if seen.kind == "taken":
            return _seat(table, seen.time_us, SeatTaken(positions=seen.positions))
        if seen.kind == "opened" and seen.opened:
            return seen.opened.fact(table)
        if seen.kind == "left":
            return _seat(table, seen.time_us, SeatLeft(positions=seen.positions))
        if seen.position not in self._facts:
            rows = self._store.rows_at([(seen.tape, seen.table_seq, seen.table_seq)])
            self._facts[seen.position] = fact_of(rows[0])
        return self._facts[seen.position]


def _seat(table: TableId, time_us: int, body: SeatTaken | SeatLeft) -> Fact:
    """A fact about seats with only its time and positions, which is all that `record_of` reads."""
    return Fact(body, "", "", time_us, None, table[1], None, None)


def _after(held: Seats, seen: ContextFact) -> Seats:
    """The seats held after a fact."""
    if seen.kind == "taken":
        return [*held, seen.positions]
    left = set(seen.positions)
    return [seats for seats in held if not left.intersection(seats)]


def _latest(one: TableOpening | None, two: TableOpening | None) -> TableOpening | None:
    """The later opening, as `feed.latest` has it."""
    if one is None or two is None:
        return one or two
    return max(one, two, key=lambda each: (each.time_us, each.source, each.id))


def tables_since(facts: Iterable[Fact]) -> dict[TableId, int]:
    """The tables of facts that have a round, with the earliest time of each."""
    since: dict[TableId, int] = {}
    for fact in facts:
        if fact.round:
            table = (fact.round.property, fact.round.table)
            since[table] = min(since.get(table, fact.time_us), fact.time_us)
    return since
