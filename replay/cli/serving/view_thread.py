"""A thread of the server that keeps views up to date."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from consumers.registry import VIEWS
from consumers.runtime.following import follow_on
from consumers.runtime.runner import RunnerOptions
from consumers.runtime.source import RecordSource
from infra.postgres.connection import Database
from infra.postgres.view_tables import TapeSource, tape_source
from ledger.errors import LedgerError, Unavailable
from ledger.record.tape import TapeRow

LOG = logging.getLogger("round_ledger.views")

PAUSE_S_MAX = 1.0
"""The longest pause between two batches, in seconds."""

BATCH_ROWS = 500
"""Rows in a batch: small, so that transactions are short and stopping is quick."""


@contextmanager
def views_kept(database: Database) -> Iterator[None]:
    """Keep views up to date while the block runs.

    The work is done in a thread. If `consume --follow` runs too, each batch is applied once, by
    either of them.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_keep, args=(database, stop), name="views", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(database: Database, stop: threading.Event) -> None:
    """Follow the record until stopped. An error that cannot be retried is logged and ends it."""
    try:
        follow_on(
            database,
            VIEWS,
            progress=lambda *_: None,
            stop=stop.is_set,
            lost=_lost,
            opened=lambda: _paced(database, stop),
            options=RunnerOptions(batch_rows=BATCH_ROWS, parks=True),
        )
    except LedgerError as error:
        figures = {"code": error.code, "what": error.what, "hint": error.hint}
        LOG.error("views are no longer updated", extra={"figures": figures})  # noqa: TRY400 - without a traceback


class _Paced:
    """The tape, read at most half of the time: requests have the rest."""

    def __init__(self, source: TapeSource, stop: threading.Event) -> None:
        self._source = source
        self._stop = stop
        self._since: float | None = None

    def read(self, after: int, limit: int) -> list[TapeRow]:
        """Rows of the tape, after a pause as long as the last batch took."""
        if self._since is not None:
            self._stop.wait(min(time.monotonic() - self._since, PAUSE_S_MAX))
        rows = self._source.read(after, limit)
        self._since = time.monotonic() if rows else None
        return rows

    def wait(self, after: int, timeout_s: float) -> None:
        """Wait as the tape does."""
        self._source.wait(after, timeout_s)


@contextmanager
def _paced(database: Database, stop: threading.Event) -> Iterator[RecordSource]:
    with tape_source(database) as source:
        yield _Paced(source, stop)


def _lost(error: Unavailable, pause_s: float) -> None:
    figures = {"what": error.what, "again_in_s": pause_s}
    LOG.warning("PostgreSQL or Kafka does not answer", extra={"figures": figures})
