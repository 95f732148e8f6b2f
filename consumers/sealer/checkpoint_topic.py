"""The topic of checkpoints: a copy of what the sealer signed, at brokers that others may run.

A log that does not continue the checkpoints there was set back or rewritten.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from consumers.sealer.check import LogBreak
from infra.kafka import topics
from infra.kafka.ports import Bounds
from infra.kafka.publisher import Publisher
from infra.kafka.reader import reader
from infra.kafka.records import checkpoint_record
from ledger.errors import LedgerError, Refused
from ledger.witnessed_log.checkpoints import checkpoint_from_text
from ledger.witnessed_log.signed_notes import verified
from ledger.witnessed_log.tree import root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Consumed
    from infra.tile_folder import TileFolder
    from ledger.witnessed_log.checkpoints import Checkpoint
    from ledger.witnessed_log.signed_notes import VerifierKey

CHECKPOINTS = "ledger.checkpoints.v1"

SENT_S_MAX = 10.0
"""How long brokers may take to acknowledge a checkpoint, seconds; facts wait to be sealed."""

LOOKED_BACK = 1_000
"""Records that a sealer reads at the end of the topic when it begins; others may write there."""

LOG = logging.getLogger("round_ledger.sealer")


class LogCheckpoint(Struct, frozen=True):
    """A checkpoint of the witnessed log, as the sealer and its witnesses signed it."""

    log: str
    entries: int
    root: str  # hexadecimal
    note: str  # the signed text (C2SP tlog-checkpoint)


class PublishedCheckpoint(NamedTuple):
    """One record of the topic that names a log."""

    where: str  # partition and offset
    checkpoint: Checkpoint | None  # None: the log's key did not sign it


class CheckpointTopic:
    """Publishes checkpoints of one log. Brokers that do not answer are passed over until later."""

    def __init__(self, kafka: Connection) -> None:
        self._kafka = kafka
        self._publisher: Publisher | None = None
        self._partitions = 0
        self.entries = 0  # of the newest checkpoint that is known to be there

    def require_beginning_of(self, folder: TileFolder, key: VerifierKey, size: int) -> None:
        """Compare the newest checkpoint there with a log of `size` entries.

        Raises `Refused` if it is not of the log's beginning.
        """
        try:
            told = [each.checkpoint for each in published(self._kafka, key, last=LOOKED_BACK)]
        except LedgerError as error:
            _warn(error)
            return
        newest = max((each for each in told if each), key=lambda each: each.size, default=None)
        if newest:
            if says := not_beginning(newest, folder, size):
                raise Refused(
                    says,
                    where=self._kafka.named(CHECKPOINTS),
                    hint="Keep the log's folder and the database as evidence, and restore the"
                    " newest copies of both.",
                )
            self.entries = newest.size

    def add(self, checkpoint: Checkpoint, note: str) -> None:
        """Publish a checkpoint, unless it is there. What fails is tried again with the next one."""
        if checkpoint.size <= self.entries:
            return
        value = LogCheckpoint(checkpoint.origin, checkpoint.size, checkpoint.root.hex(), note)
        record = checkpoint_record(checkpoint.origin, msgspec.json.encode(value))
        try:
            if self._publisher is None:
                self._partitions = topics.require(self._kafka, CHECKPOINTS)
                self._publisher = Publisher(self._kafka, deadline_s=SENT_S_MAX)
            self._publisher.publish(CHECKPOINTS, self._partitions, [record])
            self.entries = checkpoint.size
        except LedgerError as error:
            _warn(error)
            self.close(error)

    def close(self, error: object = None) -> None:
        """Close the connection to the brokers. error: what failed; then nothing is waited for."""
        publisher, self._publisher = self._publisher, None
        if publisher:
            publisher.__exit__(None, error)


def published(
    kafka: Connection, key: VerifierKey, last: int | None = None
) -> Iterator[PublishedCheckpoint]:
    """The records of the topic that name the log of this key, in order.

    last: look only at so many records at the end. Raises `Unavailable`.
    """
    with reader(kafka, CHECKPOINTS, required=True) as source:
        bounds = source.bounds()
        if last is not None:
            bounds = {
                number: Bounds(max(span.begin, span.end - last), span.end)
                for number, span in bounds.items()
            }
        for batch in source.read(bounds):
            for each in batch:
                if each.key == key.name.encode():
                    where = f"partition {each.partition}, offset {each.offset}"
                    yield PublishedCheckpoint(where, _signed(each, key, where))


def not_beginning(checkpoint: Checkpoint, folder: TileFolder, size: int) -> str | None:
    """Why a checkpoint is not of the beginning of a log with `size` entries; None if it is."""
    if checkpoint.size > size:
        return (
            f"A checkpoint of {checkpoint.size:,} entries was signed, and the log has {size:,}:"
            " the log was set back"
        )
    if root(checkpoint.size, folder.hashes(size)) != checkpoint.root:
        return f"The log's first {checkpoint.size:,} entries are not those that were signed"
    return None


def breaks(
    kafka: Connection, folder: TileFolder, key: VerifierKey, size: int
) -> Iterator[LogBreak]:
    """What the topic has that a log of `size` entries does not continue. Raises `Unavailable`."""
    for where, checkpoint in published(kafka, key):
        if checkpoint is None:
            says = "A record of the topic is no checkpoint that the log's key signed"
        else:
            says = not_beginning(checkpoint, folder, size) or ""
        if says:
            yield LogBreak(None, None, f"{says} ({CHECKPOINTS}, {where}).")


def breaks_of_note(
    note: str, where: str, folder: TileFolder, key: VerifierKey, size: int
) -> Iterator[LogBreak]:
    """What a checkpoint that was kept elsewhere has and a log of `size` entries does not continue.

    note: its signed text. A last line end may be missing, as where it was read from paper.
    """
    checkpoint = _of_note(f"{note.rstrip()}\n", key, where)
    if checkpoint is None:
        says = "This is no checkpoint that the log's key signed"
    else:
        says = not_beginning(checkpoint, folder, size) or ""
    if says:
        yield LogBreak(None, None, f"{says} ({where}).")


def _signed(record: Consumed, key: VerifierKey, where: str) -> Checkpoint | None:
    try:
        note = msgspec.json.decode(record.value or b"", type=LogCheckpoint).note
    except msgspec.MsgspecError:
        return None
    return _of_note(note, key, where)


def _of_note(note: str, key: VerifierKey, where: str) -> Checkpoint | None:
    """The checkpoint of a signed text; None if the key did not sign it."""
    try:
        text, held = verified(note, [key], where)
        return checkpoint_from_text(text, where) if held else None
    except LedgerError:
        return None


def _warn(error: LedgerError) -> None:
    LOG.warning("the topic of checkpoints does not answer", extra={"figures": {"what": error.what}})
