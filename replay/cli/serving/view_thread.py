"""What pages read, made from the views; the views kept at the end of the record meanwhile.

The part of the screen that may know `consumers`: `replay.web` sees functions alone.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from consumers.registry import VIEWS, install
from consumers.runtime.following import follow_on
from consumers.runtime.runner import Manner
from consumers.runtime.source import RecordSource
from infra.access.connections import Door
from infra.access.sessions import Sessions
from infra.access.users import Users
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import TapeSource, tape_source
from infra.settings import Settings
from ledger.errors import LedgerError, Unavailable
from ledger.record.tape import TapeRow
from replay.cameras.retention import policy_from
from replay.disputes.dispute import Desk
from replay.disputes.service import Office, Vault, roll_of
from replay.disputes.windows import Windows
from replay.shell.settings import in_force
from replay.web.alert_watch import Watch
from replay.web.ports import Address, Behind, Ports
from replay.web.round_reader import round_ports

LOG = logging.getLogger("round_ledger.views")

PAUSE_S_MAX = 1.0
"""The longest pause between two batches of rows, seconds."""

BATCH_ROWS = 500
"""Rows that views take in at once beside a server: short transactions, quick stops."""


@contextmanager
def opened_ports(
    base: Database, tape: PostgresTape, address: Address, settings: Settings
) -> Iterator[Ports]:
    """Everything that pages need, over an open record; closed with the block."""
    door = Door(base)
    try:
        with Desk(base) as desk:
            office = Office(Vault(base, tape, roll_of(settings)), desk)
            yield Ports(
                address=address,
                zone=settings.time_zone,
                database=base,
                tape=tape,
                door=door,
                users=Users(door),
                sessions=Sessions(door),
                behind=lambda: _behind(tape),
                rounds=round_ports(base, tape, in_force().home),
                alerts=Watch(base, tape, settings),
                office=office,
                windows=Windows(office.vault, tape, policy_from(settings.retention_file)),
            )
    finally:
        door.close()


@contextmanager
def views_kept(base: Database) -> Iterator[None]:
    """Views at the end of the record, or on their way, while the block runs.

    In a thread of its own; where `consume --follow` runs too, each batch is applied by whichever
    comes first.
    """
    install(base)
    stop = threading.Event()
    thread = threading.Thread(target=_keep, args=(base, stop), name="views", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(base: Database, stop: threading.Event) -> None:
    """Follow the record until told to stop. What cannot be followed is said, and left."""
    try:
        follow_on(
            base,
            VIEWS,
            progress=lambda *_: None,
            stop=stop.is_set,
            lost=_lost,
            opened=lambda: _paced(base, stop),
            manner=Manner(batch_rows=BATCH_ROWS, parks=True),
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
def _paced(base: Database, stop: threading.Event) -> Iterator[RecordSource]:
    with tape_source(base) as source:
        yield _Paced(source, stop)


def _lost(error: Unavailable, pause_s: float) -> None:
    figures = {"what": error.what, "again_in_s": pause_s}
    LOG.warning("the record is away", extra={"figures": figures})


def _behind(tape: PostgresTape) -> Behind:
    """Of the view that is farthest behind."""
    lags = tape.view_lags()
    return Behind(
        max((lag.facts for lag in lags), default=0),
        max((lag.behind_us for lag in lags), default=0) // 1_000_000,
    )
