"""The types that views, their sources and the runner share: sources, batches, projections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from infra.kafka.records import partition_of
from ledger.record import kinds
from ledger.record.envelope import parse_subject_once
from ledger.record.wire import Fact, fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from infra.postgres.parking import Parked, PartitionOffset
    from infra.postgres.tape import Others
    from infra.postgres.view_tables import NamedRow, Row, ViewStore, ViewTable
    from ledger.record.tape import TapeRow
    from ledger.values import RoundId


PARTITIONS = 24
"""The partitions of a record: as many as the facts' topic has, by the same hash."""


class Share(NamedTuple):
    """One of several processes that divide a view; the first of one has all of it."""

    number: int = 0
    of: int = 1
    partitions: frozenset[int] | None = None  # None: every `of`-th, from `number`

    def owns(self, part: str | None) -> bool:
        """Whether the rows of a part are this process's to write; None: the fact has no rows."""
        if self.of == 1 or part is None:
            return self.of == 1
        partition = partition_of(part.encode(), PARTITIONS)
        if self.partitions is not None:
            return partition in self.partitions
        return partition % self.of == self.number

    def owns_table(self, property_: str, table: str) -> bool:
        """As `owns`, of the part of a table."""
        return self.of == 1 or self.owns(f"{property_}/{table}")


WHOLE = Share()
"""The share of a process that has a view for itself."""


class RecordSource(Protocol):
    """A source of the record's rows: the tape in PostgreSQL, or the feed on Kafka."""

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        """Rows with position > `after`, in order of position, at most `limit`."""

    def wait(self, after: int, timeout_s: float) -> None:
        """Return when there may be rows above `after`, or after `timeout_s` seconds."""


@runtime_checkable
class Feed(RecordSource, Protocol):
    """A source beside the record: it may lack rows for a while, or hold wrong ones."""

    def at_end(self, after: int) -> bool:
        """Whether every published fact is at or below `after`."""

    def poisoned(self, first: int, last: int) -> Sequence[Parked]:
        """Facts at positions `first` to `last` for which the feed held a contradicting record."""

    def places(self, position: int) -> Sequence[PartitionOffset]:
        """The offsets to resume from for a view that has everything up to `position`."""


@runtime_checkable
class SparseSource(RecordSource, Protocol):
    """A source that can leave out the rows that a view does not read."""

    def read_without(
        self, after: int, limit: int, types: Sequence[str], others: Others | None = None
    ) -> tuple[Sequence[TapeRow], int]:
        """As `read`, without rows of these types, and the position up to which it has read.

        others: tapes of which nearly all rows are left out.
        """


class Batch:
    """Some rows of the record, in order. A fact is decoded once, when a view first asks for it."""

    def __init__(
        self,
        rows: Sequence[TapeRow],
        known: dict[int, Fact] | None = None,
        share: Share = WHOLE,
        reached: int = 0,
    ) -> None:
        """share: the part of the view that `apply` may write.

        reached: the position up to which rows were read, if some of them were left out.
        """
        self.rows = rows
        self.share = share
        self._known: dict[int, Fact] = {} if known is None else known
        self._reached = reached

    @property
    def position(self) -> int:
        """The position of the last row that was read."""
        return max(self._reached, self.rows[-1].position if self.rows else 0)

    @cached_property
    def unknown(self) -> Sequence[TapeRow]:
        """Its rows of a type that this version does not know: a newer version recorded them."""
        return [row for row in self.rows if row.type not in kinds.KINDS]

    def fact(self, row: TapeRow) -> Fact:
        """The typed fact of one of its rows."""
        fact = self._known.get(row.position)
        if fact is None:
            fact = self._known[row.position] = fact_of(row)
        return fact

    def body(self, row: TapeRow) -> Any:  # noqa: ANN401 - one of ledger.facts, by `row.type`
        """The body of the fact of one of its rows: a third of the cost of `fact`."""
        fact = self._known.get(row.position)
        return kinds.body(kinds.KINDS[row.type], row.data) if fact is None else fact.body

    def facts(self, types: frozenset[str]) -> Iterator[tuple[TapeRow, Fact]]:
        """The rows of these types with their facts."""
        return ((row, self.fact(row)) for row in self.rows if row.type in types)

    def after(self, position: int) -> Batch:
        """The part of the batch above a position."""
        if not self.rows or self.rows[0].position > position:
            return self
        return self.of([row for row in self.rows if row.position > position])

    def of(self, rows: Sequence[TapeRow]) -> Batch:
        """A batch of some of its rows, with the facts decoded so far."""
        return Batch(rows, self._known, self.share, self._reached)


def next_batch(
    source: RecordSource,
    after: int,
    limit: int,
    skipped: Sequence[str] = (),
    others: Others | None = None,
) -> Batch | None:
    """The rows above a position, at most `limit`; None: there are none yet.

    skipped: types of facts that the source may leave out (ADR 0189).
    others: tapes of which it may leave out nearly all (ADR 0208).
    """
    if not (skipped or others) or not isinstance(source, SparseSource):
        rows = source.read(after, limit)
        return Batch(rows) if rows else None
    rows, reached = source.read_without(after, limit, skipped, others)
    return Batch(rows, reached=reached) if reached > after else None


def round_of_row(row: TapeRow) -> RoundId | None:
    """The round that a row names; None if it names none."""
    if row.subject is None:
        return None
    return parse_subject_once(row.subject, row.tape.partition("/")[0])[0]


def table_of_round(row: TapeRow) -> str | None:
    """`<property>/<table>` of the round that a row names; None if it names none."""
    round_ = round_of_row(row)
    return f"{round_.property}/{round_.table}" if round_ else None


def name_of(type_: str) -> str:
    """A stored name without its version."""
    return type_.rpartition(".")[0]


@dataclass(frozen=True)
class OutboxMapping:
    """How rows of a table of a view become messages on the view's topic."""

    topic: str
    table: ViewTable
    key_cells: int  # the first so many cells of a row, joined by "/", are the key
    body: Callable[[NamedRow], str] = lambda _: "{}"  # the message's value in JSON, from a row
    attributes: Callable[[NamedRow], Mapping[str, str]] = lambda _: {}
    """Attributes that its record has beside those of every record, by name."""
    compacted: bool = False
    """The topic keeps only the newest record of each key. A swap enqueues a tombstone for each row
    that the rebuilt view lacks. The message key is part of the table's key."""
    several: Callable[[ViewStore, NamedRow], Iterable[tuple[str, str]]] | None = None
    """Instead of one message: key and value of each message of a row. It may take long, so a
    restatement reads one such row at a time."""

    def key_of(self, row: Row) -> str:
        """The message key of a row; the row may have only its key cells."""
        return "/".join(map(str, row[: self.key_cells]))

    def value_of(self, row: Row) -> str:
        """The message value of a whole row."""
        return self.body(self.table.row._make(row))

    def attributes_of(self, row: Row) -> Mapping[str, str]:
        """The message's own attributes, of a whole row."""
        return self.attributes(self.table.row._make(row))


class Crossing(NamedTuple):
    """What a share hears of other shares' tapes, though the fact names no table of its own.

    A fact that names another table than its tape's is never left out.
    """

    names: frozenset[str] = frozenset()  # of facts, without their versions
    keyed: tuple[str, str] | None = None  # a name, and the key of `data` that a fact must have
    devices: Callable[[Batch], set[str]] | None = None
    """The devices of which it hears every fact, since they name its tables from another place."""


@dataclass(frozen=True)
class Projection:
    """A view: its tables, and how rows of the record change them.

    `apply` runs in the transaction that moves the checkpoint. Its result must depend on the facts
    alone, never on the limits of batches. Raise `version` whenever the same facts would give other
    rows: a view of another version must be rebuilt.
    """

    name: str
    version: int
    tables: tuple[ViewTable, ...]
    apply: Callable[[ViewStore, Batch], None]
    ordered: bool = True
    """False if facts of different tapes give the same rows in any order."""
    reads: frozenset[str] | None = None
    """Stored names of the facts it applies; None: every fact. A fact of such a name in a version
    that this program does not know cannot be skipped: it parks its tape."""
    tells: tuple[OutboxMapping, ...] = ()
    counts_all: bool = False
    """Whether other facts than those it reads change its rows too, such as a count of facts."""
    part_of: Callable[[TapeRow], str | None] | None = None
    """The part of the view's rows that a fact can change; no row belongs to two parts. It returns
    None for a fact that changes no row."""
    heard_by: Callable[[ViewStore, Batch], list[TapeRow]] | None = None
    """Instead of `part_of`, if several processes must hear a fact: the rows of a batch that its
    share must hear. `apply` then writes only the rows of parts that the share owns, and reads the
    rows that all processes write as of its own position (ADR 0184)."""
    crossing: Crossing | None = None
    """What a share hears of tapes that are not its own; None: any fact (ADR 0208)."""

    @property
    def is_shared(self) -> bool:
        """Whether several processes can divide the view."""
        return self.part_of is not None or self.heard_by is not None

    @property
    def is_followed_in_parts(self) -> bool:
        """Whether several processes can divide it while it is live (ADR 0196).

        Only if it is `ordered`: a parked tape is then released by a rebuild, which makes it whole.
        """
        return self.is_shared and self.ordered

    @property
    def skipped(self) -> list[str]:
        """The types of facts that change none of its rows; a name that it reads in no version."""
        if self.reads is None or self.counts_all:
            return []
        names = {name_of(type_) for type_ in self.reads}
        return sorted(type_ for type_ in kinds.KINDS if name_of(type_) not in names)

    def of_share(self, store: ViewStore, batch: Batch, share: Share) -> Batch | None:
        """What a share hears of a batch; None: nothing."""
        its = Batch(batch.rows, batch._known, share)  # noqa: SLF001 - facts decoded so far
        if self.heard_by:
            rows = self.heard_by(store, its)
        elif self.part_of:
            rows = [row for row in batch.rows if share.owns(self.part_of(row))]
        else:
            raise ValueError(f"view {self.name} cannot be split: it names no parts")
        return its.of(rows) if rows else None

    def take(self, store: ViewStore, batch: Batch, share: Share = WHOLE) -> None:
        """Apply what a share hears of a batch. Raises as `require_read`, and any error of `apply`.

        The whole batch must be readable: the part of an unknown fact is unknown.
        """
        its = self.heard(store, batch, share)
        if its:
            self.apply(store, its)

    def heard(self, store: ViewStore, batch: Batch, share: Share) -> Batch | None:
        """What a share hears of a batch; None: nothing. Raises as `require_read`."""
        self.require_read(batch)
        return batch if share == WHOLE else self.of_share(store, batch, share)

    def require_read(self, batch: Batch) -> None:
        """Raise `ledger.record.wire.StoredFactError` at the first `unread` row."""
        for row in self.unread(batch):
            batch.fact(row)

    def unread(self, batch: Batch) -> Iterator[TapeRow]:
        """The rows of a batch that it must apply but this version cannot decode."""
        if self.reads is None:
            yield from batch.unknown
        elif batch.unknown:
            names = {name_of(type_) for type_ in self.reads}
            yield from (row for row in batch.unknown if name_of(row.type) in names)


class FencedError(Exception):
    """Another runner, or a rebuild, moved the view since this runner last read its checkpoint."""
