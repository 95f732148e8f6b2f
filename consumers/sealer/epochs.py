"""Epochs: a record that lost facts for good goes on with a new log, which names the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.sealer.check import begun_epochs, facts_on_record, signed_checkpoint
from infra.postgres.connection import translated
from ledger.errors import Refused
from ledger.witnessed_log.entries import LogEntry

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.postgres.connection import Database
    from infra.tile_folder import TileFolder
    from ledger.witnessed_log.checkpoints import Checkpoint
    from ledger.witnessed_log.signed_notes import VerifierKey


class EndedLog(NamedTuple):
    """A log whose record lost facts: its newest checkpoint, and what is left of its facts."""

    log: str
    entries: int
    root: str  # hexadecimal
    kept: int  # the highest position up to which the record is what the log sealed
    lost: int  # sealed facts behind it that the record lacks, or has others


def ended_log(
    database: Database,
    folder: TileFolder,
    key: VerifierKey,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> EndedLog:
    """Compare the facts of a log with the record, from the first one on.

    Raises `Refused` if nothing is lost: then the same log goes on. Raises as `check`.
    """
    checkpoint, _ = signed_checkpoint(folder, [key])
    kept = lost = 0
    with database.snapshot("ledger_sealer") as connection, translated(database):
        rows = facts_on_record(connection)
        row = next(rows, None)
        for done, entry in enumerate(folder.entries(checkpoint.size), start=1):
            if done % 5_000 == 0:
                progress(done, checkpoint.size)
            if entry.kind != "fact":
                continue
            while row is not None and row.number < entry.number:
                row = next(rows, None)
            if row != entry:
                lost += 1
            elif not lost:
                kept = entry.number
    if not lost:
        raise Refused(
            "The record has every fact that this log sealed",
            where=str(folder.folder),
            hint="Seal on with this log: `round-ledger log seal`.",
        )
    return EndedLog(checkpoint.origin, checkpoint.size, checkpoint.root.hex(), kept, lost)


def epoch_entry(database: Database, folder: TileFolder, key: VerifierKey) -> LogEntry:
    """The first entry of a log that follows the one in a folder.

    Raises `Refused` if no two people have begun the epoch on record. Raises as `check`.
    """
    checkpoint, _ = signed_checkpoint(folder, [key])
    entry = LogEntry("epoch", checkpoint.size, checkpoint.root, checkpoint.origin)
    with database.connect("ledger_sealer") as connection, translated(database):
        if entry not in begun_epochs(connection):
            raise _not_on_record(checkpoint)
    return entry


def _not_on_record(checkpoint: Checkpoint) -> Refused:
    return Refused(
        f"No two people have ended the log {checkpoint.origin} at {checkpoint.size:,} entries",
        where="epoch_begun",
        hint="Put it on record first: `round-ledger log epoch`. If facts are not lost for good,"
        " restore the newest backup instead.",
    )
