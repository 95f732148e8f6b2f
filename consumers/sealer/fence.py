"""The fence: facts are appended only to a record that has all that the witnessed log sealed.

A record that was restored from an older backup, or made again, would use positions again
that receipts, proofs and readers know already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.postgres import tape
from infra.postgres.connection import translated
from infra.tile_folder import WIDTH
from ledger.errors import Refused
from ledger.values import quantity
from ledger.witnessed_log.checkpoints import checkpoint_from_text
from ledger.witnessed_log.entries import entry_from, of_fact
from ledger.witnessed_log.signed_notes import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.sealer.witnesses import Witness
    from infra.postgres.connection import Database
    from infra.tile_folder import TileFolder
    from ledger.witnessed_log.entries import LogEntry

_HINT = (
    "Restore the newest backup, then `relay refill` from the feed. If facts are lost for good, move"
    " the log's folder and key away as evidence, put its end on record with `log epoch`, and begin"
    " the next log with `log begin --after`."
)


def require_newest(
    database: Database, folder: TileFolder, witnesses: Sequence[Witness] = ()
) -> None:
    """Raise `Refused` unless the record goes on from what the log sealed last.

    So it does if a witness knows a longer log, or another one. A log that has not begun asks for
    nothing.
    """
    note = folder.checkpoint() if folder.has_begun else None
    if note is None:
        return
    newest = checkpoint_from_text(split(note, "")[0], str(folder.folder))
    for each in witnesses:
        each.require_beginning_of(folder, newest.origin, newest.size)
    last = _last_fact(folder, newest.size)
    if last is None:
        return
    with database.connect("ledger_reader") as connection, translated(database):
        rows = tape.read(connection, last.number - 1, 1)
        appended = tape.counters(connection).appended
    where = str(folder.folder)
    if appended < last.number:
        lacking = quantity(last.number - appended, "fact")
        raise Refused(
            f"The record lacks {lacking} that the witnessed log sealed: it has {appended:,}, the"
            f" log has {last.number:,}",
            where=where,
            hint=_HINT,
        )
    if [of_fact(row) for row in rows if row.position == last.number] != [last]:
        raise Refused(
            f"Fact {last.number:,} is not the one that the witnessed log sealed",
            where=where,
            hint="Run `log check`, and keep the database and the log's folder as evidence.",
        )


def _last_fact(folder: TileFolder, size: int) -> LogEntry | None:
    """The last fact among the first entries of a log; events of sign-ins may come after it."""
    for number in reversed(range(-(-size // WIDTH))):
        for leaf in reversed(folder.bundle(number, min(WIDTH, size - number * WIDTH))):
            entry = entry_from(leaf, str(folder.folder))
            if entry.kind == "fact":
                return entry
    return None
