"""The record in PostgreSQL: `ledger.record.tape.Tape`, plus the quarantine and the figures.

Appending goes through the one function `ledger.append`, in one round trip and one transaction.
Reading is a plain binary query. May be used by several threads.
"""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

import psycopg

from infra.postgres import queries
from infra.postgres.connection import Database, translated
from ledger.errors import NotFound, Refused
from ledger.record.quarantine import verify_aside
from ledger.record.verify import Verified, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from infra.postgres.connection import AnyConnection
    from ledger.record.tape import (
        Counters,
        Head,
        InQuarantine,
        Quarantined,
        Receipt,
        Received,
        TapeRow,
    )

T = TypeVar("T")

ANSWER_S_MAX = 20.0
"""How long an append waits for its answer before the connection is given up, seconds.

Longer than the server's own limits, so that it is only reached where the network is gone.
"""

READERS_KEPT = 8
"""Idle reading connections kept open."""


class PostgresTape:
    """The record. Closing it closes its connections; it connects again when next used."""

    def __init__(self, base: Database, *, answer_s_max: float = ANSWER_S_MAX) -> None:
        self._base = base
        self._answer_s_max = answer_s_max
        self._writer: AnyConnection | None = None
        self._writing = threading.Lock()
        self._readers: queue.LifoQueue[AnyConnection] = queue.LifoQueue()

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        """Keep all of them in one transaction; one receipt each, in order.

        Raises `Unavailable` where no answer came: the outcome is unknown and asking again is safe.
        Raises `Refused`, with nothing kept, for a fact the record cannot hold (see `check`).
        """
        if not facts:
            return []
        with self._write() as connection:
            return queries.append(connection, facts)

    def release(self, quarantine_id: int, fact: Received) -> Receipt:
        """Append what a quarantined input was judged to be now, and mark the input released.

        The receipt is the fact's. It stays in quarantine where the verdict is `equivocation`.
        Raises `NotFound` for no such number, `Refused` where it was released before.
        """
        with self._write() as connection:
            try:
                return queries.release(connection, quarantine_id, fact)
            except psycopg.errors.NoDataFound as error:
                raise self._no_such(quarantine_id) from error
            except psycopg.errors.ObjectNotInPrerequisiteState as error:
                raise Refused(
                    f"Number {quarantine_id} was released before",
                    where=self._base.where,
                    hint="Its row in `round-ledger quarantine show` names the position.",
                ) from error

    def read(self, after: int, limit: int) -> list[TapeRow]:
        """Rows with position > `after`, in order of position."""
        return self._read(lambda c: queries.read(c, after, limit))

    def rows_of(self, tape: str, seqs: Iterable[tuple[int, int]]) -> list[TapeRow]:
        """Rows of one tape within the given closed ranges of `table_seq`, in order, each once."""
        ranges = list(seqs)
        return self._read(lambda c: queries.rows_of(c, tape, ranges))

    def told_by(self, source: str, prefix: str) -> list[TapeRow]:
        """Every row of a source whose id begins with `prefix` (not empty), in no order."""
        return self._read(lambda c: queries.with_id_prefix(c, source, prefix))

    def told_between(
        self, tapes: Sequence[str], times_us: tuple[int, int], *, after: int, limit: int
    ) -> list[TapeRow]:
        """Rows positioned after `after` that were told in a closed stretch, in order.

        It is the clocks of their sources that count, whenever they were received.
        """
        return self._read(lambda c: queries.told_between(c, tapes, times_us, after, limit))

    def heads(self) -> list[Head]:
        """The newest row of every tape, by tape."""
        return self._read(queries.heads)

    def counters(self) -> Counters:
        """What became of everything ever received."""
        return self._read(queries.counters)

    def view_lags(self) -> list[queries.Lag]:
        """How far each live view is behind the record, by name."""
        return self._read(queries.view_lags)

    def quarantined(
        self, *, after: int = 0, limit: int = 100, released: bool = False
    ) -> list[InQuarantine]:
        """Quarantine rows numbered above `after`, in order; those released too where asked for."""
        return self._read(lambda c: queries.quarantined(c, after, limit, released=released))

    def in_quarantine(self, quarantine_id: int) -> InQuarantine:
        """One row of the quarantine. Raises `NotFound`."""
        found = self.quarantined(after=quarantine_id - 1, limit=1, released=True)
        if not found or found[0].quarantine_id != quarantine_id:
            raise self._no_such(quarantine_id)
        return found[0]

    def verify(
        self,
        kept: Sequence[Head] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Verified:
        """Recompute every chain from bytes; `kept` are heads from elsewhere.

        Then every digest of the quarantine (`ledger.record.quarantine`), where the chains hold.
        Facts may be appended meanwhile; those after the beginning are not looked at.
        """
        with self._base.connect("ledger_reader") as connection, translated(self._base):
            expected = queries.expected(connection, kept)
            seen = verify(queries.to_verify(connection, expected.tip), expected, progress)
            if seen.broken:
                return seen
            counted = queries.counted_aside(connection)
            broken = verify_aside(queries.aside_to_verify(connection, counted.last), counted)
            return seen._replace(broken=broken, aside=counted.last)

    def close(self) -> None:
        """Close every connection."""
        with self._writing:
            self._drop_writer()
        while not self._readers.empty():
            self._readers.get_nowait().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _no_such(self, quarantine_id: int) -> NotFound:
        return NotFound(
            f"There is no number {quarantine_id} in quarantine",
            where=self._base.where,
            hint="See `round-ledger quarantine list`.",
        )

    @contextmanager
    def _write(self) -> Iterator[AnyConnection]:
        """The writing connection, given up after any error that leaves its state in doubt."""
        with self._writing, translated(self._base):
            if self._writer is None:
                self._writer = self._base.connect("ledger_writer", answer_s_max=self._answer_s_max)
            try:
                yield self._writer
            except (psycopg.OperationalError, psycopg.InterfaceError):
                self._drop_writer()
                raise

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _read(self, query: Callable[[AnyConnection], T]) -> T:
        """Run a reading query; once more on a fresh connection where a kept one had died."""
        with translated(self._base):
            try:
                kept = self._readers.get_nowait()
            except queue.Empty:
                return self._read_with(self._base.connect("ledger_reader"), query)
            try:
                return self._read_with(kept, query)
            except psycopg.OperationalError:
                return self._read_with(self._base.connect("ledger_reader"), query)

    def _read_with(self, connection: AnyConnection, query: Callable[[AnyConnection], T]) -> T:
        try:
            answer = query(connection)
        except BaseException:
            connection.close()
            raise
        if self._readers.qsize() < READERS_KEPT:
            self._readers.put(connection)
        else:
            connection.close()
        return answer
