"""What a witness keeps: its key, and the newest checkpoint of each log that it cosigned."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from infra.files import replace_file
from ledger.errors import NotFound, Refused
from ledger.witnessed_log.signed_notes import (
    COSIGNATURE,
    SignerKey,
    new_key,
    signer_from_text,
    signer_text,
)
from ledger.witnessed_log.tree import EMPTY_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY, SEEN = "key", "seen.sqlite"
_LOCK_S_MAX = 5.0
_TABLE = """
CREATE TABLE IF NOT EXISTS seen (
    origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL
) STRICT
"""


class SeenTree(NamedTuple):
    """The newest tree of a log that a witness cosigned; of none, the empty one."""

    size: int = 0
    root: bytes = EMPTY_ROOT
    note: str = ""  # with the log's signature and the witness's


def begin(folder: Path, name: str) -> SignerKey:
    """Make a witness's key in a folder. Raises `Refused` if there is one, `Usage` for the name."""
    if (folder / KEY).exists():
        raise Refused(
            "There is a witness already", where=str(folder), hint="Start it with `witness serve`."
        )
    key = new_key(name, COSIGNATURE)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(folder / KEY, signer_text(key).encode())
    return key


def load_key(folder: Path) -> SignerKey:
    """The witness's key. Raises `NotFound` without one, `Refused` for another file."""
    path = folder / KEY
    if not path.is_file():
        raise NotFound(
            "There is no witness", where=str(folder), hint="Make its key with `witness begin`."
        )
    return signer_from_text(path.read_text(errors="replace"), str(path))


class SeenTrees:
    """The newest checkpoint of each log, on disk. Several threads and processes may use it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SEEN
        with self._connection() as connection:
            connection.execute(_TABLE)

    def newest(self, origin: str) -> SeenTree:
        """The newest tree of a log."""
        with self._connection() as connection:
            return _newest(connection, origin)

    def notes(self) -> dict[str, str]:
        """The newest note of each log, by the log's name."""
        with self._connection() as connection:
            return dict(connection.execute("SELECT origin, note FROM seen"))

    @contextmanager
    def changing(self, origin: str) -> Iterator[tuple[SeenTree, list[SeenTree]]]:
        """The newest tree of a log, alone until the block ends, and a list for the next one.

        What is in the list then is on disk before the block is left.
        """
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            new: list[SeenTree] = []
            yield _newest(connection, origin), new
            for each in new:
                connection.execute(
                    "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (origin, *each)
                )
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._path, timeout=_LOCK_S_MAX, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
        finally:
            connection.close()


def _newest(connection: sqlite3.Connection, origin: str) -> SeenTree:
    query = "SELECT size, root, note FROM seen WHERE origin = ?"
    row = connection.execute(query, (origin,)).fetchone()
    return SeenTree._make(row) if row else SeenTree()
