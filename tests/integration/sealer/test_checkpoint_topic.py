"""The topic of checkpoints on a real Kafka: it names a log that was set back or rewritten."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers.sealer.checkpoint_topic import (
    CHECKPOINTS,
    CheckpointTopic,
    LogCheckpoint,
    breaks,
    published,
)
from consumers.sealer.sealer import SealedLog, seal
from infra.kafka import topics
from infra.kafka.publisher import Publisher
from infra.kafka.reader import reader
from infra.kafka.records import checkpoint_record
from infra.tile_folder import TileFolder
from ledger.errors import Refused
from ledger.witnessed_log.signed_notes import SIGNATURE, new_key
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.witnessed_log.checkpoints import Checkpoint

KEY = new_key("ledger.example/record", SIGNATURE)


class Unheard:
    """Listens to no sealer."""

    def looked(self) -> None:
        pass

    def sealed(self, checkpoint: Checkpoint, witnesses: int) -> None:
        pass


@pytest.fixture
def brokers(bare_kafka: Connection) -> Connection:
    topics.apply(bare_kafka, [topics.topic(CHECKPOINTS)])
    return bare_kafka


def sealed(database: Database, folder: TileFolder, kafka: Connection | None) -> None:
    """Seal all that is on record, as a new process of the sealer."""
    topic = CheckpointTopic(kafka) if kafka else None
    try:
        log = SealedLog(folder, KEY, (), topic)
        seal(database, log, stop=lambda: True, listener=Unheard(), follow=False)
    finally:
        if topic:
            topic.close()


def named(kafka: Connection, folder: TileFolder) -> list[str]:
    size = folder.grown().size
    return [each.says.partition(" (")[0] for each in breaks(kafka, folder, KEY.verifier, size)]


def rewrite(database: Database) -> None:
    with database.connect("ledger_owner") as connection:
        connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER ALL")
        connection.execute("UPDATE ledger.tape SET received_at_us = received_at_us + 1")
        connection.execute("ALTER TABLE ledger.tape ENABLE TRIGGER ALL")


def test_each_checkpoint_is_there_once_as_it_was_signed(
    database: Database, tape: PostgresTape, folder: TileFolder, brokers: Connection
) -> None:
    notes = []
    for batch in (range(3), range(3, 5), ()):
        tape.append([fact(n) for n in batch])
        sealed(database, folder, brokers)
        notes.append(folder.checkpoint())
    with reader(brokers, CHECKPOINTS) as source:
        told = [each for batch in source.read(source.bounds()) for each in batch]
    assert [each.key for each in told] == [b"ledger.example/record"] * 2
    values = [msgspec.json.decode(each.value or b"", type=LogCheckpoint) for each in told]
    assert [each.note for each in values] == notes[:2]
    assert [each.entries for each in values] == [4, 7]
    assert named(brokers, folder) == []


def test_a_topic_that_lacks_stops_nothing_and_gets_the_newest_one_later(
    database: Database, tape: PostgresTape, folder: TileFolder, bare_kafka: Connection
) -> None:
    tape.append([fact(1)])
    sealed(database, folder, bare_kafka)
    tape.append([fact(2)])
    sealed(database, folder, bare_kafka)
    topics.apply(bare_kafka, [topics.topic(CHECKPOINTS)])
    sealed(database, folder, bare_kafka)
    sizes = [
        each.checkpoint and each.checkpoint.size for each in published(bare_kafka, KEY.verifier)
    ]
    assert sizes == [folder.grown().size]


def test_a_log_that_was_set_back_is_refused_and_named(
    database: Database, tape: PostgresTape, folder: TileFolder, brokers: Connection
) -> None:
    tape.append([fact(n) for n in range(10)])
    sealed(database, folder, brokers)
    copy = folder.folder.with_name("copy")
    shutil.copytree(folder.folder, copy)
    tape.append([fact(n) for n in range(10, 20)])
    sealed(database, folder, brokers)
    old = TileFolder(copy)
    with pytest.raises(Refused, match="the log was set back"):
        sealed(database, old, brokers)
    says = "A checkpoint of 22 entries was signed, and the log has 11: the log was set back"
    assert named(brokers, old) == [says]
    assert named(brokers, folder) == []
    sealed(database, old, None)  # the control: without the topic nothing shows


@pytest.mark.parametrize("more", [0, 5], ids=["same-size", "longer"])
def test_a_rewritten_log_is_refused_and_named(
    database: Database, tape: PostgresTape, folder: TileFolder, brokers: Connection, more: int
) -> None:
    tape.append([fact(n) for n in range(10)])
    sealed(database, folder, brokers)
    rewrite(database)
    tape.append([fact(n) for n in range(10, 10 + more)])
    forged = TileFolder(folder.folder.with_name("forged"))
    forged.begin()
    sealed(database, forged, None)
    with pytest.raises(Refused, match="not those that were signed"):
        sealed(database, forged, brokers)
    assert named(brokers, forged) == ["The log's first 11 entries are not those that were signed"]


def test_what_another_key_signed_is_named_and_stops_no_sealer(
    database: Database, tape: PostgresTape, folder: TileFolder, brokers: Connection
) -> None:
    """Another writer of the topic could else stop the sealer, or hide what stands before."""
    tape.append([fact(1)])
    sealed(database, folder, None)
    old = TileFolder(shutil.copytree(folder.folder, folder.folder.with_name("copy")))
    tape.append([fact(2)])
    sealed(database, folder, brokers)
    body = msgspec.json.encode(LogCheckpoint(KEY.verifier.name, 9, "00", "none"))
    with Publisher(brokers) as publisher:
        publisher.publish(CHECKPOINTS, 1, [checkpoint_record(KEY.verifier.name, body)])
        publisher.publish(CHECKPOINTS, 1, [checkpoint_record("another.example", body)])
    assert named(brokers, folder) == [
        "A record of the topic is no checkpoint that the log's key signed"
    ]
    with pytest.raises(Refused, match="set back"):
        sealed(database, old, brokers)
    tape.append([fact(3)])
    sealed(database, folder, brokers)
    assert [each.checkpoint is None for each in published(brokers, KEY.verifier)] == [
        *(False, True, False),
    ]
