"""What a view is made from: rows of the record in order, where they come from, and the view itself.

The types that the runner (`consumers.runtime.runner`), the views and their sources share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ledger.record import kinds
from ledger.record.envelope import parse_subject_once
from ledger.record.wire import Fact, fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from infra.postgres.parking import Parked, PartitionOffset
    from infra.postgres.view_tables import NamedRow, Row, ViewStore, ViewTable
    from ledger.record.tape import TapeRow
    from ledger.values import RoundId


class RecordSource(Protocol):
    """Where rows of the record come from: the tape itself, or a feed written from it."""

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`."""

    def wait(self, after: int, timeout_s: float) -> None:
        """Return when there may be rows above `after`, at the latest after `timeout_s` seconds."""


@runtime_checkable
class Feed(RecordSource, Protocol):
    """A source that is not the record: it may lack rows for a while, or hold wrong ones."""

    def at_end(self, after: int) -> bool:
        """Whether everything that was ever published is at or below `after`."""

    def poisoned(self, first: int, last: int) -> Sequence[Parked]:
        """Facts at positions `first` to `last` that the feed held otherwise than the record."""

    def places(self, position: int) -> Sequence[PartitionOffset]:
        """Where to read on, for whoever has everything up to `position`."""


class Batch:
    """Some rows of the record, in order. Facts are decoded where a view asks, and once."""

    def __init__(self, rows: Sequence[TapeRow], known: dict[int, Fact] | None = None) -> None:
        self.rows = rows
        self._known: dict[int, Fact] = {} if known is None else known

    @property
    def position(self) -> int:
        """The position of its last row."""
        return self.rows[-1].position

    @cached_property
    def unknown(self) -> Sequence[TapeRow]:
        """Those of its rows whose type this program does not know: a newer one kept them."""
        return [row for row in self.rows if row.type not in kinds.KINDS]

    def fact(self, row: TapeRow) -> Fact:
        """The typed fact of one of its rows."""
        fact = self._known.get(row.position)
        if fact is None:
            fact = self._known[row.position] = fact_of(row)
        return fact

    def body(self, row: TapeRow) -> Any:  # noqa: ANN401 - one of ledger.facts, by `row.type`
        """What one of its rows says, without its envelope: a third of the cost of `fact`."""
        fact = self._known.get(row.position)
        return kinds.body(kinds.KINDS[row.type], row.data) if fact is None else fact.body

    def facts(self, types: frozenset[str]) -> Iterator[tuple[TapeRow, Fact]]:
        """The rows of these types with their facts."""
        return ((row, self.fact(row)) for row in self.rows if row.type in types)

    def after(self, position: int) -> Batch:
        """What of it comes after a position."""
        if self.rows[0].position > position:
            return self
        return self.of([row for row in self.rows if row.position > position])

    def of(self, rows: Sequence[TapeRow]) -> Batch:
        """Some of its rows, with what is known of them."""
        return Batch(rows, self._known)


def round_of_row(row: TapeRow) -> RoundId | None:
    """The round that a row carries; None where it carries none."""
    if row.subject is None:
        return None
    return parse_subject_once(row.subject, row.tape.partition("/")[0])[0]


def table_of_round(row: TapeRow) -> str | None:
    """`<property>/<table>` of the round that a row carries; None where it carries none."""
    round_ = round_of_row(row)
    return f"{round_.property}/{round_.table}" if round_ else None


def _name(type_: str) -> str:
    """A stored name without its version."""
    return type_.rpartition(".")[0]


@dataclass(frozen=True)
class OutboxMapping:
    """What a view says of rows of one of its tables, on a topic of its own."""

    topic: str
    table: ViewTable
    key_cells: int  # the record's key is the row's first so many cells, with "/" between them
    body: Callable[[NamedRow], str]  # of a row of the table, the record's value in JSON
    compacted: bool = False
    """The topic keeps the newest record of each key: of a row that is no more a swap leaves a
    tombstone. Its key is made of cells of the table's own key."""

    def key_of(self, row: Row) -> str:
        """The key of the record that tells of a row, which may be cut after its key."""
        return "/".join(map(str, row[: self.key_cells]))

    def value_of(self, row: Row) -> str:
        """The value of the record that tells of a whole row."""
        return self.body(self.table.row._make(row))


@dataclass(frozen=True)
class Projection:
    """A view: its tables, and how rows of the record change them.

    `apply` runs in the transaction that moves the tracking; what it leaves in the tables must
    depend on the facts alone, never on where one batch ended and the next began. Raise `version`
    whenever the same facts would give other rows: a view of another version must be rebuilt.
    """

    name: str
    version: int
    tables: tuple[ViewTable, ...]
    apply: Callable[[ViewStore, Batch], None]
    ordered: bool = True
    """False where facts of different tapes may be applied in any order, and give the same rows."""
    reads: frozenset[str] | None = None
    """Stored names of the facts that it takes by name; None: it takes every fact. One of such a
    name in a version that this program does not know cannot be passed over: it parks its tape."""
    tells: tuple[OutboxMapping, ...] = ()
    part_of: Callable[[TapeRow], str | None] | None = None
    """What rows a fact can touch, as the name of a part: those of two parts never meet. None of the
    fact: it touches nothing. Without it the facts of several tables meet in one row."""

    def take(self, store: ViewStore, batch: Batch) -> None:
        """Apply a batch. Raises as `require_read`, and whatever the view's program raises."""
        self.require_read(batch)
        self.apply(store, batch)

    def require_read(self, batch: Batch) -> None:
        """Raises `ledger.record.wire.StoredFactError` at the first row that is `unread`."""
        for row in self.unread(batch):
            batch.fact(row)

    def unread(self, batch: Batch) -> Iterator[TapeRow]:
        """The rows of a batch that it would have to take and this program cannot read."""
        if self.reads is None:
            yield from batch.unknown
        elif batch.unknown:
            names = {_name(type_) for type_ in self.reads}
            yield from (row for row in batch.unknown if _name(row.type) in names)


class FencedError(Exception):
    """Another runner, or a rebuild, moved the view since this runner last looked."""
