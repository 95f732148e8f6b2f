"""Views kept at the end of the record by a thread of the server, beside its pages."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from consumers.registry import VIEWS, install
from consumers.runtime.following import follow_on
from consumers.runtime.runner import RunnerOptions
from consumers.runtime.source import RecordSource
from infra.postgres.connection import Database
from infra.postgres.view_tables import TapeSource, tape_source
from ledger.errors import LedgerError, Unavailable
from ledger.record.tape import TapeRow

LOG = logging.getLogger("round_ledger.views")

PAUSE_S_MAX = 1.0
"""The longest pause between two batches of rows, seconds."""

BATCH_ROWS = 500
"""Rows that views take in at once beside a server: short transactions, quick stops."""


@contextmanager
def views_kept(database: Database) -> Iterator[None]:
    """Views at the end of the record, or on their way, while the block runs.

    In a thread of its own; where `consume --follow` runs too, each batch is applied by whichever
    comes first.
    """
    install(database)
    stop = threading.Event()
    thread = threading.Thread(target=_keep, args=(database, stop), name="views", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(database: Database, stop: threading.Event) -> None:
    """Follow the record until told to stop. What cannot be followed is said, and left."""
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
        LOG.error("views are not kept up", extra={"figures": figures})  # noqa: TRY400 - told, not traced


class _Paced:
    """The tape, read no faster than every other moment: requests have the rest."""

    def __init__(self, source: TapeSource, stop: threading.Event) -> None:
        self._source = source
        self._stop = stop
        self._since: float | None = None

    def read(self, after: int, limit: int) -> list[TapeRow]:
        """Rows as the tape gives them, after as long a pause as was worked on those before."""
        if self._since is not None:
            self._stop.wait(min(time.monotonic() - self._since, PAUSE_S_MAX))
        rows = self._source.read(after, limit)
        self._since = time.monotonic() if rows else None
        return rows

    def wait(self, after: int, timeout_s: float) -> None:
        """As the tape."""
        self._source.wait(after, timeout_s)


@contextmanager
def _paced(database: Database, stop: threading.Event) -> Iterator[RecordSource]:
    with tape_source(database) as source:
        yield _Paced(source, stop)


def _lost(error: Unavailable, pause_s: float) -> None:
    figures = {"what": error.what, "again_in_s": pause_s}
    LOG.warning("the record is away", extra={"figures": figures})
