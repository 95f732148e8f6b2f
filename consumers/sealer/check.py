"""Comparing the witnessed log with its checkpoint, with the record, and with what witnesses saw.

Every difference is named, and the check goes on. Entries are recomputed from the record's bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.sealer.views import view_entry
from infra.postgres import sealing, tape
from infra.postgres.connection import translated
from infra.tile_folder import WIDTH
from ledger.errors import Refused
from ledger.facts import EpochBegun
from ledger.record.tape import Counters
from ledger.record.verify import copies_agree
from ledger.record.wire import fact_of
from ledger.roster.roster import OFFICE
from ledger.witnessed_log import entries as log_entries
from ledger.witnessed_log.checkpoints import checkpoint_from_text
from ledger.witnessed_log.entries import LogEntry, of_figures
from ledger.witnessed_log.signed_notes import verified
from ledger.witnessed_log.tree import leaf_hash, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from consumers.runtime.source import Projection
    from infra.postgres.connection import AnyConnection, Database
    from infra.tile_folder import TileFolder
    from ledger.record.tape import TapeRow
    from ledger.witnessed_log.checkpoints import Checkpoint
    from ledger.witnessed_log.entries import EntryKind
    from ledger.witnessed_log.signed_notes import Signed, VerifierKey

EPOCH_BEGUN = "epoch_begun.v1"

BELOW_ALL = -(2**63)

ROWS = 5_000
"""Rows that are read at a time."""


class LogBreak(NamedTuple):
    """One difference between the log and what it was made from."""

    kind: EntryKind | None  # None: of the log's files
    number: int | None  # position of a fact or view, number of an input or an event
    says: str


class CheckedLog(NamedTuple):
    """The result of a check."""

    checkpoint: Checkpoint
    signed: Sequence[Signed]  # of the log and its witnesses, as far as their keys were given
    breaks: Sequence[LogBreak]


def check(
    database: Database,
    folder: TileFolder,
    keys: Sequence[VerifierKey],
    progress: Callable[[int, int], None] = lambda *_: None,
    views: Sequence[Projection] = (),
) -> CheckedLog:
    """Compare a log's newest checkpoint with its files, with the record and with views.

    Raises `Refused` if the checkpoint is not signed by the log's key, which is the first of `keys`,
    or if a file is damaged.
    """
    checkpoint, signed = signed_checkpoint(folder, keys)
    with database.snapshot("ledger_sealer") as connection, translated(database):
        breaks = [
            *_of_files(folder, checkpoint),
            *_of_record(connection, folder, checkpoint.size, progress, views),
        ]
    return CheckedLog(checkpoint, signed, breaks)


def signed_checkpoint(
    folder: TileFolder, keys: Sequence[VerifierKey]
) -> tuple[Checkpoint, list[Signed]]:
    """The newest checkpoint of a log, and whose signatures hold. Raises `Refused`."""
    where = str(folder.folder)
    note = folder.checkpoint()
    if note is None:
        raise Refused(
            "The log has no checkpoint yet",
            where=where,
            hint="Start the sealer: `log seal --once`.",
        )
    text, signed = verified(note, list(keys), where)
    if keys[0] not in [each.key for each in signed]:
        raise Refused(
            f"The checkpoint is not signed by {keys[0].name}",
            where=where,
            hint="Give the public key of this log, which was handed over when it began.",
        )
    return checkpoint_from_text(text, where), signed


def _of_files(folder: TileFolder, checkpoint: Checkpoint) -> Iterator[LogBreak]:
    """Whether the entries lead to the root that was signed, and the tiles are theirs."""
    tree = root_of(_leaves(folder, checkpoint.size))
    if tree != checkpoint.root:
        yield LogBreak(None, None, "Its entries do not lead to the root that was signed.")
    elif folder.root(checkpoint.size) != checkpoint.root:
        yield LogBreak(None, None, "Its tiles do not lead to the root that was signed.")


def _leaves(folder: TileFolder, size: int) -> Iterator[bytes]:
    for number in range(-(-size // WIDTH)):
        width = min(WIDTH, size - number * WIDTH)
        yield from map(leaf_hash, folder.bundle(number, width))


def _of_record(
    connection: AnyConnection,
    folder: TileFolder,
    size: int,
    progress: Callable[[int, int], None],
    views: Sequence[Projection],
) -> Iterator[LogBreak]:
    """Whether the record has all that was sealed, unchanged, and nothing between."""
    others: dict[EntryKind, list[LogEntry]] = {kind: [] for kind in log_entries.KINDS}
    sealed_facts = _facts_of(folder.entries(size), others, size, progress)
    yield from differences(sealed_facts, facts_on_record(connection))
    yield from differences(others["quarantined"], _quarantined(connection))
    yield from differences(others["access"], _access(connection))
    releases = {row.quarantine_id: row for row in sealing.released(connection, ())}
    known = (releases[each.number] for each in others["released"] if each.number in releases)
    yield from differences(others["released"], map(log_entries.of_release, known))
    yield from _of_figures(tape.counters(connection), folder.grown().figures, others["figures"])
    yield from _of_epochs(connection, others["epoch"])
    yield from _of_views(connection, views, others["view"])


def differences(sealed: Iterable[LogEntry], there: Iterable[LogEntry]) -> Iterator[LogBreak]:
    """What was edited, deleted or inserted since entries of one kind were sealed.

    Both are in the same order of numbers. What comes after the last sealed one is not sealed yet.
    """
    rows = iter(there)
    row = next(rows, None)
    for entry in sealed:
        while row is not None and row.number < entry.number:
            yield LogBreak(row.kind, row.number, "It was inserted: the log has none there.")
            row = next(rows, None)
        if row is None or row.number > entry.number:
            yield LogBreak(entry.kind, entry.number, "It was deleted: the log has it.")
            continue
        if row.digest != entry.digest:
            yield LogBreak(entry.kind, entry.number, "It was edited: the log has another one.")
        row = next(rows, None)


def _facts_of(
    entries: Iterable[LogEntry],
    others: dict[EntryKind, list[LogEntry]],
    size: int,
    progress: Callable[[int, int], None],
) -> Iterator[LogEntry]:
    """The facts among entries, as they are read; the others are added to lists."""
    for done, entry in enumerate(entries, start=1):
        if entry.kind == "fact":
            yield entry
        else:
            others[entry.kind].append(entry)
        if done % ROWS == 0:
            progress(done, size)
    progress(size, size)


def facts_on_record(connection: AnyConnection) -> Iterator[LogEntry]:
    """The entries of all facts as the record has them now, in order of position."""

    def read(after: int) -> list[LogEntry]:
        return [_as_it_is(row) for row in tape.read(connection, after, ROWS)]

    return _all(read)


def _as_it_is(row: TapeRow) -> LogEntry:
    """The entry of a fact; one that equals none if its columns differ from its attributes."""
    entry = log_entries.of_fact(row)
    return entry if copies_agree(row) else entry._replace(digest=b"")


def _quarantined(connection: AnyConnection) -> Iterator[LogEntry]:
    def read(after: int) -> list[LogEntry]:
        rows = tape.quarantined(connection, after, ROWS, released=True)
        return [log_entries.of_quarantined(row) for row in rows]

    return _all(read)


def _access(connection: AnyConnection) -> Iterator[LogEntry]:
    def read(after: int) -> list[LogEntry]:
        return [
            log_entries.of_access(row) for row in sealing.access_events(connection, after, ROWS)
        ]

    return _all(read)


def _all(read: Callable[[int], list[LogEntry]]) -> Iterator[LogEntry]:
    """Entries of all rows by number, read in batches. Rows below the first number count, too."""
    batch = read(BELOW_ALL)
    while batch:
        yield from batch
        batch = read(batch[-1].number)


def _of_figures(
    counted: Counters, sealed: Sequence[int], entries: Sequence[LogEntry]
) -> Iterator[LogBreak]:
    """Whether the record counts at least the inputs that it counted when they were sealed."""
    if not entries:
        return
    newest = entries[-1]
    if len(sealed) != len(counted) or of_figures(Counters(*sealed)) != newest:
        yield LogBreak(None, None, "Its file `grown` has other figures than were sealed.")
        return
    for name, now, before in zip(Counters._fields, counted, sealed, strict=True):
        if now < before:
            says = f"The record's count `{name}` is {now:,}; when it was sealed, {before:,}."
            yield LogBreak("figures", newest.number, says)


def begun_epochs(connection: AnyConnection) -> list[LogEntry]:
    """The epochs on record, as the first entries of the logs that follow."""
    bodies = (fact_of(row).body for row in sealing.at_places(connection, OFFICE, EPOCH_BEGUN))
    return [
        LogEntry("epoch", body.entries, bytes.fromhex(body.root), body.log)
        for body in bodies
        if isinstance(body, EpochBegun)
    ]


def _of_epochs(connection: AnyConnection, entries: Sequence[LogEntry]) -> Iterator[LogBreak]:
    known = begun_epochs(connection) if entries else []
    for entry in entries:
        if entry not in known:
            says = f"No fact on record ends the log {entry.of} at {entry.number:,} entries."
            yield LogBreak("epoch", entry.number, says)


def _of_views(
    connection: AnyConnection, views: Sequence[Projection], entries: Sequence[LogEntry]
) -> Iterator[LogBreak]:
    """Views whose rows changed with no fact between: between two digests, or since the last one."""
    newest: dict[str, LogEntry] = {}
    for entry in entries:
        yield from _of_view(newest.get(entry.of), entry, "while it was sealed")
        newest[entry.of] = entry
    for entry in filter(None, (view_entry(connection, view) for view in views)):
        yield from _of_view(newest.get(entry.of), entry, "since it was sealed")


def _of_view(before: LogEntry | None, now: LogEntry, when: str) -> Iterator[LogBreak]:
    if before and before.number == now.number and before.digest != now.digest:
        name = now.of.partition(" ")[0]
        says = f"View {name} was edited {when}: `verify --views` names rows that are still changed."
        yield LogBreak("view", now.number, says)
