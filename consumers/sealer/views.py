"""Digests of views for the witnessed log: what each view's rows were at a position of the record.

A view that has other rows at the position of its last digest was changed by another program than
the one that keeps it. `verify --views` then names the rows.
"""

from __future__ import annotations

import hashlib
import logging
import time
from typing import TYPE_CHECKING

from infra.postgres import sealing
from infra.postgres.view_tables import LIVE, ViewStore
from ledger.witnessed_log.entries import TableDigest, of_view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.runtime.source import Projection
    from infra.postgres.connection import AnyConnection
    from infra.postgres.view_tables import ViewTable
    from infra.tile_folder import TileFolder
    from ledger.witnessed_log.entries import LogEntry

SHARE = 20
"""A round over all views waits for so many times the time that the one before took."""

LOG = logging.getLogger("round_ledger.sealer")


class ViewRounds:
    """Seals digests of views, one view at a time, in rounds of `every_s` seconds at least.

    edited: is given the name and position of a view that changed with no fact between.
    """

    def __init__(
        self,
        views: Sequence[Projection],
        every_s: float,
        edited: Callable[[str, int], None] = lambda *_: None,
    ) -> None:
        self._views, self._every_s, self._edited = views, every_s, edited
        self._waiting: list[Projection] = []
        self._began_at = self._next_at = 0.0
        self._spent_s = 0.0

    def step(self, connection: AnyConnection, folder: TileFolder) -> None:
        """Seal the next view, if its turn has come."""
        began_at = time.monotonic()
        if not self._waiting:
            if began_at < self._next_at:
                return
            self._waiting = list(reversed(self._views))
            self._began_at, self._spent_s = began_at, 0.0
        if self._waiting:
            self._seal(connection, folder, self._waiting.pop())
        ended_at = time.monotonic()
        self._spent_s += ended_at - began_at
        if not self._waiting:
            self._next_at = max(self._began_at + self._every_s, ended_at + SHARE * self._spent_s)

    def whole_round(self, connection: AnyConnection, folder: TileFolder) -> None:
        """Seal every view now."""
        for each in self._views:
            self._seal(connection, folder, each)

    def _seal(self, connection: AnyConnection, folder: TileFolder, view: Projection) -> None:
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            entry = view_entry(connection, view)
        if entry is None:
            return
        grown = folder.grown()
        before = grown.views.get(entry.of)
        if before == [entry.number, entry.digest.hex()]:
            return
        folder.append(grown, [entry])
        if before and before[0] == entry.number:
            figures = {"view": view.name, "position": entry.number}
            LOG.warning("a view was changed by another program", extra={"figures": figures})
            self._edited(view.name, entry.number)


def view_entry(connection: AnyConnection, view: Projection) -> LogEntry | None:
    """The entry of a view's rows, within a transaction that sees one moment.

    None if its rows do not follow from a position: it does not exist, is of another version, has
    parts at several positions, or withholds facts of parked tables.
    """
    connection.execute("SET LOCAL statement_timeout = 0")  # a view may have any number of rows
    store = ViewStore(connection, LIVE)
    at = store.tracking(view.name)
    if at is None or at.version != view.version or len({at.position, *at.parts}) > 1:
        return None
    if store.parked(view.name):
        return None
    digests = [_table_digest(connection, table) for table in view.tables]
    return of_view(view.name, view.version, at.position, digests)


def _table_digest(connection: AnyConnection, table: ViewTable) -> TableDigest:
    rows, hashed = 0, hashlib.sha256()
    for each in sealing.row_hashes(connection, table.name):
        hashed.update(each)
        rows += 1
    return TableDigest(table.name, rows, hashed.digest())
