"""The sealer adds what the record received to the witnessed log, and signs checkpoints.

One sealer writes a log. It signs 60 seconds after a fact came, or once 1,000 wait, and at once when
a gaming day is closed; at most one checkpoint a second. Killed at any point, it resumes from the
log's files: no two checkpoints of one size ever have different roots.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from infra.files import replace_file
from infra.postgres import sealing, tape
from infra.postgres.connection import translated
from ledger.errors import NotFound, Refused
from ledger.witnessed_log import entries as log_entries
from ledger.witnessed_log.checkpoints import (
    Checkpoint,
    checkpoint_from_text,
    checkpoint_text,
)
from ledger.witnessed_log.signed_notes import (
    SIGNATURE,
    new_key,
    sign,
    signer_from_text,
    signer_text,
    verified,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.sealer.checkpoint_topic import CheckpointTopic
    from consumers.sealer.views import ViewRounds
    from consumers.sealer.witnesses import Witness
    from infra.postgres.connection import AnyConnection, Database
    from infra.tile_folder import Grown, TileFolder
    from ledger.record.tape import Counters
    from ledger.witnessed_log.entries import LogEntry
    from ledger.witnessed_log.signed_notes import SignerKey

BATCH = 10_000
"""The most facts that are added at a time."""

LEAVES_MAX = 1_000
"""So many facts wait for a checkpoint at most."""

EVERY_S = 60.0
"""So long a fact waits for a checkpoint at most, seconds."""

POLL_S = 1.0
"""How often the sealer looks for new facts, seconds; no two checkpoints are nearer."""

LOG = logging.getLogger("round_ledger.sealer")


class SealerListener(Protocol):
    """Receives what a sealer does."""

    def looked(self) -> None:
        """The record answered."""

    def sealed(self, checkpoint: Checkpoint, witnesses: int) -> None:
        """A checkpoint is published, with so many cosignatures."""


class SealedLog(NamedTuple):
    """A log that this process writes: its files, key, witnesses, topic, and what seals views."""

    folder: TileFolder
    key: SignerKey
    witnesses: Sequence[Witness] = ()
    topic: CheckpointTopic | None = None
    views: ViewRounds | None = None


def begin_log(folder: TileFolder, name: str, epoch: LogEntry | None = None) -> SealedLog:
    """Begin a log with a new key; it is empty, or has the epoch that names the log before it.

    Raises `Refused` if there is one, or the key of another one; `Usage` for the name.
    """
    key = new_key(name, SIGNATURE)
    if folder.key_file.exists() and not folder.has_begun:
        raise Refused(
            "There is the key of another log",
            where=str(folder.key_file),
            hint="Move it away with its log's folder: proofs need that key.",
        )
    folder.begin()
    replace_file(folder.key_file, signer_text(key).encode())
    if epoch:
        folder.append(folder.grown(), [epoch])
    return SealedLog(folder, key)


def load_key(folder: TileFolder) -> SignerKey:
    """The log's key. Raises `NotFound` without one, `Refused` for another file."""
    path = folder.key_file
    if not path.is_file():
        raise NotFound(
            "There is no key of a log", where=str(path), hint="Begin a log with `log begin`."
        )
    return signer_from_text(path.read_text(errors="replace"), str(path))


def seal(
    database: Database,
    log: SealedLog,
    *,
    stop: Callable[[], bool],
    listener: SealerListener,
    follow: bool = True,
    every_s: float = EVERY_S,
) -> None:
    """Seal until `stop` returns true; without `follow`, until the whole record is sealed.

    Raises `Refused` if another sealer writes the log, or if a witness or the topic has a longer or
    another one: this one was then set back. Raises `Unavailable` if the database fails.
    """
    with (
        log.folder.leading(),
        database.connect("ledger_sealer") as connection,
        translated(database),
    ):
        before = _published(log)
        size = before.size if before else 0
        for each in log.witnesses:
            each.require_beginning_of(log.folder, log.key.verifier.name, size)
        if log.topic:
            log.topic.require_beginning_of(log.folder, log.key.verifier, size)
        sealed_at = time.monotonic() - every_s
        while True:
            last = not follow or stop()
            listener.looked()
            if log.views and follow:
                log.views.step(connection, log.folder)
            if last or _is_due(connection, log, time.monotonic() - sealed_at, every_s):
                sealed_at = time.monotonic()
                grow(connection, log.folder)
                if log.views and not follow:
                    log.views.whole_round(connection, log.folder)
                publish(log, listener)
            if last:
                return
            sealing.wait(connection, POLL_S)


def _is_due(connection: AnyConnection, log: SealedLog, waited_s: float, every_s: float) -> bool:
    if waited_s >= every_s:
        return True
    position = log.folder.grown().numbers.get("fact", 0)
    count, day_closed = sealing.facts_since(connection, position)
    return count >= LEAVES_MAX or day_closed


def grow(connection: AnyConnection, folder: TileFolder) -> Grown:
    """Add everything that the record has and the log has not; how far the log has grown then."""
    grown = folder.grown()
    while True:
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            new, figures = _new_entries(connection, grown)
        if new:
            grown = folder.append(grown, new, figures or ())
        if figures is not None:
            return grown


def _new_entries(connection: AnyConnection, grown: Grown) -> tuple[list[LogEntry], Counters | None]:
    """The next entries, all of one moment of the record, and its counts if these are the last."""
    after = grown.numbers
    facts = tape.read(connection, after.get("fact", 0), BATCH)
    aside = tape.quarantined(connection, after.get("quarantined", 0), BATCH, released=True)
    access = sealing.access_events(connection, after.get("access", 0), BATCH)
    new = [
        *map(log_entries.of_fact, facts),
        *map(log_entries.of_quarantined, aside),
        *map(log_entries.of_access, access),
    ]
    if BATCH in (len(facts), len(aside), len(access)):
        return new, None
    new += map(log_entries.of_release, sealing.released(connection, grown.released))
    figures = tape.counters(connection)
    if list(figures) != list(grown.figures):
        new.append(log_entries.of_figures(figures))
    return new, figures


def publish(log: SealedLog, listener: SealerListener) -> Checkpoint:
    """Sign the log as it is, have it cosigned, and replace its checkpoint.

    The checkpoint is on disk before a witness sees it. A witness or a topic that does not answer is
    passed over until the next checkpoint; the topic gets the newest one also if none is due.
    """
    size = log.folder.grown().size
    before = _published(log)
    if before is not None and before.size == size:
        _announce(log, before)
        return before
    name = log.key.verifier.name
    checkpoint = Checkpoint(name, size, log.folder.root(size))
    text = checkpoint_text(checkpoint)
    note = f"{text}\n{sign(text, log.key)}"
    log.folder.publish(note)
    lines = [each.cosigned(log.folder, checkpoint, note) for each in log.witnesses]
    if any(lines):
        log.folder.publish(note + "".join(line or "" for line in lines))
    cosigned = sum(line is not None for line in lines)
    figures = {"entries": size, "root": checkpoint.root.hex(), "witnesses": cosigned}
    LOG.info("sealed a checkpoint", extra={"figures": figures})
    listener.sealed(checkpoint, cosigned)
    _announce(log, checkpoint)
    return checkpoint


def _announce(log: SealedLog, checkpoint: Checkpoint) -> None:
    """Publish the newest checkpoint on the topic, with the cosignatures that it has."""
    if log.topic and (note := log.folder.checkpoint()):
        log.topic.add(checkpoint, note)


def _published(log: SealedLog) -> Checkpoint | None:
    """The newest checkpoint, which this log's key signed; None before the first.

    Raises `Refused` if another key signed it, or if the log is shorter than it.
    """
    note = log.folder.checkpoint()
    if note is None:
        return None
    where = str(log.folder.folder)
    text, held = verified(note, [log.key.verifier], where)
    checkpoint = checkpoint_from_text(text, where)
    if not held:
        raise Refused(
            "The log's checkpoint is not signed by this key",
            where=where,
            hint="Use the key that the log began with.",
        )
    if checkpoint.size > log.folder.grown().size:
        raise Refused(
            f"The log's files have fewer entries than its checkpoint, {checkpoint.size:,}",
            where=where,
            hint="Keep the folder as evidence. Restore the newest copy of it.",
        )
    return checkpoint
