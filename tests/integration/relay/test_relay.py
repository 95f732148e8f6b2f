"""The relay, a real PostgreSQL and a real Kafka: what is on record is what is on the feed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import confluent_kafka
import pytest

from consumers.relay import check
from infra.kafka import records, topics
from infra.kafka.clients import administrator
from infra.kafka.library import TopicPartition
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS, Publisher
from infra.kafka.reader import reader
from infra.kafka.records import partition_of
from infra.postgres import relay_progress
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused, Unavailable
from ledger.record.tape import GENESIS, Quarantined, TapeRow, chain_hash
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import FEED, made_anew, reached
from tests.fixtures.postgres import copy_database, fact, new_name, url_of
from tests.scenes.feeding import PLACES, fill, once
from tests.scenes.publishing import blind
from tests.suite.budget import cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Acknowledged, Consumed
    from infra.kafka.records import ProducerRecord

READER = Path(__file__).parents[3] / "docs" / "read_the_feed.py"
NOT_JSON = Quarantined(b"{nonsense", "not_json", "Not JSON", "$", "send JSON")


def on(kafka: Connection, topic: str = topics.FACTS) -> list[Consumed]:
    with reader(kafka, topic) as source:
        return [each for batch in source.read(source.bounds()) for each in batch]


def put(kafka: Connection, *put: ProducerRecord, topic: str = topics.FACTS) -> None:
    """Write to a topic beside the relay, as nobody should."""
    with Publisher(kafka, deadline_s=20) as publisher:
        publisher.publish(topic, topics.topic(topic).partitions, put)


def record_of(tape: PostgresTape, position: int) -> ProducerRecord:
    row = tape.read(position - 1, 1)[0]
    return records.of_row(row, hash_before(tape, row))


def hash_before(tape: PostgresTape, row: TapeRow) -> bytes:
    before = tape.rows_of(row.tape, [(row.table_seq - 1, row.table_seq - 1)])
    return before[0].hash if before else GENESIS


def kinds(database: Database, kafka: Connection) -> Sequence[str]:
    return [each.kind for each in check.verify(database, kafka).breaks]


def empty_again(kafka: Connection) -> None:
    """A topic that was deleted and created again: what a cluster looks like that lost its disks."""
    made_anew(kafka, [each.name for each in FEED])


def test_every_fact_is_on_the_feed_once_as_it_is_on_the_tape(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 250)
    assert once(database, kafka)[topics.FACTS] == 250
    fed = [records.fed(each.key, each.value, each.headers) for each in on(kafka)]
    assert sorted(each.row for each in fed) == tape.read(0, 1_000)
    assert all(each.is_whole for each in fed)


def test_each_place_stays_in_order_in_one_partition(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 100)
    once(database, kafka)
    seen: dict[bytes | None, list[tuple[int, int]]] = {}
    for each in on(kafka):
        seq = records.fed(each.key, each.value, each.headers).row.table_seq
        seen.setdefault(each.key, []).append((each.partition, seq))
    assert len(seen) == len(PLACES)
    for places in seen.values():
        assert {partition for partition, _ in places} == {places[0][0]}
        assert [seq for _, seq in places] == list(range(1, 21))


@pytest.mark.long
def test_what_was_published_is_not_published_again(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 20)
    once(database, kafka)
    assert once(database, kafka) == {}
    fill(tape, 5, first=20)
    assert once(database, kafka) == {topics.FACTS: 5}


@pytest.mark.long
def test_what_is_quarantined_or_contradicts_is_on_the_feed_with_its_reason(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    tape.append([fact(1), NOT_JSON, fact(1, data=b'{"other":1}')])
    once(database, kafka)
    told = [json.loads(each.value or b"") for each in on(kafka, topics.QUARANTINE)]
    assert {each["verdict"]: each["reason"] for each in told} == {
        "quarantined": "not_json",
        "equivocation": "equivocation",
    }
    assert check.verify(database, kafka).quarantined == 2


def test_a_feed_that_is_the_record_verifies(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 60)
    tape.append([NOT_JSON])
    once(database, kafka)
    fill(tape, 7, first=60)
    seen = check.verify(database, kafka)
    assert (seen.facts, seen.not_yet, seen.duplicates, seen.breaks) == (60, 7, 0, [])


@pytest.mark.long
def test_a_topic_that_lost_its_end_is_filled_again_when_the_relay_starts(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 40)
    tape.append([NOT_JSON])
    once(database, kafka)
    empty_again(kafka)
    assert "missing" in kinds(database, kafka)
    assert once(database, kafka) == {topics.FACTS: 40, topics.QUARANTINE: 1}
    assert kinds(database, kafka) == []


@pytest.mark.long
def test_a_partition_that_lost_its_end_is_filled_again_though_others_are_whole(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 50)
    once(database, kafka)
    empty_again(kafka)
    put(kafka, *[record_of(tape, n) for n in range(1, 51) if n % len(PLACES) != 2 or n < 30])
    once(database, kafka)
    assert kinds(database, kafka) == []


@pytest.mark.long
def test_without_looking_at_the_topics_real_end_the_loss_would_stay(
    database: Database, tape: PostgresTape, kafka: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tape, 40)
    once(database, kafka)
    empty_again(kafka)
    blind(monkeypatch)
    assert once(database, kafka) == {}
    assert "missing" in kinds(database, kafka)


@pytest.mark.long
def test_a_record_that_lost_its_own_end_publishes_nothing_under_numbers_already_given(
    database: Database, tape: PostgresTape, kafka: Connection, postgres_url: str, template: str
) -> None:
    fill(tape, 40)
    once(database, kafka)
    name = new_name()
    copy_database(postgres_url, name, template=template)
    older = Database(url_of(postgres_url, name), url_of(postgres_url, name))
    with PostgresTape(older) as behind:
        fill(behind, 30)
        with pytest.raises(Refused, match="differs from the record"):
            once(older, kafka)
        fill(behind, 30, first=100)  # as long again, and another
        with pytest.raises(Refused, match="differs from the record"):
            once(older, kafka)
    assert len(on(kafka)) == 40


@pytest.mark.long
def test_a_hole_is_named_and_healed_by_publishing_that_part_again(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 30)
    put(kafka, *[record_of(tape, n) for n in range(1, 31) if n not in (12, 13, 22)])
    with relay_progress.lead(database, lambda: False, prefix=kafka.topic_prefix) as relay_store:
        assert relay_store
        relay_store.move(topics.FACTS, 0, 30)
    assert kinds(database, kafka) == ["missing"] * 3
    assert check.republish(database, kafka, 10, 25) == 16
    seen = check.verify(database, kafka)
    assert (seen.breaks, seen.duplicates) == ([], 13)
    assert once(database, kafka) == {}, "what was published again is no end to go on from"


@pytest.mark.parametrize(
    ("change", "kind"),
    cases(
        [(lambda record: record._replace(value=record.value + b" "), "edited")],
        [
            (lambda record: record._replace(key=b"hollywood/CC-99"), "edited"),
            (lambda record: record._replace(headers=record.headers[:3]), "unreadable"),
        ],
    ),
)
def test_a_record_that_was_changed_on_the_way_is_named(
    database: Database, tape: PostgresTape, kafka: Connection, change: object, kind: str
) -> None:
    fill(tape, 20)
    once(database, kafka)
    put(kafka, change(record_of(tape, 20)))  # type: ignore[operator]
    assert kind in kinds(database, kafka)


@pytest.mark.long
def test_a_fact_that_is_not_on_record_is_a_stranger_however_well_chained(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 20)
    once(database, kafka)
    last = tape.rows_of("hollywood/cage", [(4, 4)])[0]
    made = fact(99, place="cage")
    forged = TapeRow(21, *made[:1], 5, *made[1:6], 1, made.attributes, made.data, b"")
    forged = forged._replace(hash=chain_hash(last.hash, forged))
    put(kafka, records.of_row(forged, last.hash))
    assert kinds(database, kafka) == ["stranger"]


def test_a_whole_fact_that_does_not_follow_the_one_before_it_is_named(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 20)
    once(database, kafka)
    last = tape.rows_of("hollywood/cage", [(4, 4)])[0]
    row = last._replace(table_seq=5, position=21)
    put(kafka, records.of_row(row._replace(hash=chain_hash(GENESIS, row)), GENESIS))
    assert set(kinds(database, kafka)) == {"unchained", "stranger"}


def test_a_fact_in_a_partition_that_is_not_its_own_is_named(
    database: Database,
    tape: PostgresTape,
    kafka: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As another producer would do, which does not spread keys as this one does."""
    fill(tape, 20)
    count = topics.topic(topics.FACTS).partitions
    with monkeypatch.context() as other:
        other.setattr(
            "infra.kafka.publisher.partition_of", lambda key, _: (partition_of(key, count) + 1) % 24
        )
        once(database, kafka)
    assert kinds(database, kafka) == ["misplaced"] * 20


@pytest.mark.parametrize(
    ("partitioner", "wrong"),
    cases([("murmur2_random", set())], [("consistent", {"misplaced"})]),
)
def test_another_client_spreads_tables_as_this_one_only_where_it_is_told_to(
    database: Database, tape: PostgresTape, kafka: Connection, partitioner: str, wrong: set[str]
) -> None:
    """librdkafka spreads keys by CRC32 by default; no reader would notice."""
    fill(tape, 20)
    asked = {"bootstrap.servers": kafka.bootstrap, "partitioner": partitioner}
    producer = confluent_kafka.Producer(asked)
    before: dict[str, bytes] = {}
    for row in tape.read(0, 20):
        record = records.of_row(row, before.get(row.tape, GENESIS))
        before[row.tape] = row.hash
        headers = dict[str, str | bytes | None](record.headers)
        producer.produce(kafka.named(topics.FACTS), record.value, record.key, headers=headers)
    assert producer.flush(30) == 0
    seen = check.verify(database, kafka)
    assert (seen.facts, {each.kind for each in seen.breaks}) == (20, wrong)


NOTHING_ELSE = """
import runpy, sys
has = sys.stdlib_module_names | set(sys.argv[1].split(","))
class Only:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in has:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Only())
sys.argv[:2] = []
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a program that finds no module but the standard library's, and those that are named."""


def read_as_others_do(
    kafka: Connection, has: str = "kafka,zstandard"
) -> subprocess.CompletedProcess[str]:
    """What the reader in the docs says of all that is there, where nothing else is installed."""
    command = [sys.executable, "-W", "ignore", "-c", NOTHING_ELSE, has]
    command += [str(READER), kafka.bootstrap, kafka.named(topics.FACTS), "--until-end"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def told_by(ran: subprocess.CompletedProcess[str]) -> dict[str, list[int]]:
    """The sequences it printed, by place, as they came."""
    told: dict[str, list[int]] = {}
    for line in ran.stdout.splitlines():
        place, sequence = line.split()[:2]
        told.setdefault(place, []).append(int(sequence))
    return told


@pytest.mark.long
def test_the_reader_in_the_docs_reads_every_fact_once_with_kafka_python_and_zstd_alone(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 40)
    once(database, kafka)
    put(kafka, record_of(tape, 3), record_of(tape, 31))  # sent again
    ran = read_as_others_do(kafka)
    assert (ran.returncode, sorted(told_by(ran).values())) == (0, [[*range(1, 9)]] * 5)
    assert "missing" not in ran.stderr
    put(kafka, records.of_row(tape.read(0, 1)[0]._replace(table_seq=50), GENESIS))
    ran = read_as_others_do(kafka)
    assert ran.returncode == 1
    assert "after 8 are missing" in ran.stderr
    told = "Libraries for zstd compression codec not found"
    assert told in " ".join(READER.with_name("feed.md").read_text().split())
    ran = read_as_others_do(kafka, "kafka")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert told in ran.stderr


@pytest.mark.long
def test_the_reader_in_the_docs_passes_no_hole_at_the_start_and_says_from_where_it_reads(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    fill(tape, 40)
    first = tape.read(0, 1)[0].tape
    put(kafka, *[record_of(tape, n) for n in range(2, 41)])
    ran = read_as_others_do(kafka)
    assert ran.returncode == 1
    assert f"facts of {first} after 0 are missing" in ran.stderr
    assert first not in told_by(ran)
    assert len(told_by(ran)) == 4, "other places go on"

    put(kafka, record_of(tape, 1))
    ran = read_as_others_do(kafka)
    assert ran.returncode == 0
    assert told_by(ran)[first] == [*range(1, 9)], "what waited comes after it"

    held = next(each for each in on(kafka) if each.key == first.encode())
    with administrator(kafka) as admin:
        place = TopicPartition(kafka.named(topics.FACTS), held.partition)
        admin.delete_records({place: held.offset + 3})
    ran = read_as_others_do(kafka)
    assert ran.returncode == 0
    assert f"{first} is read from 5 on" in ran.stderr
    assert told_by(ran)[first] == [5, 6, 7, 8]


def test_a_relay_without_its_topics_says_what_to_do(
    database: Database, tape: PostgresTape, bare_kafka: Connection
) -> None:
    fill(tape, 1)
    with pytest.raises(Unavailable, match="topics apply"):
        once(database, bare_kafka)


@pytest.mark.long
def test_facts_of_the_largest_size_and_any_characters_pass(
    database: Database, tape: PostgresTape, kafka: Connection
) -> None:
    large(tape, 150)
    once(database, kafka)
    assert check.verify(database, kafka).facts == 150
    assert kinds(database, kafka) == []


def large(tape: PostgresTape, count: int) -> None:
    big = json.dumps({"note": "ü♠" * 8_000}, ensure_ascii=False).encode()
    tape.append([fact(n, data=big, comment="é" * 100) for n in range(count)])


@pytest.mark.long
def test_no_more_is_under_way_than_a_window_and_a_window_is_as_full_as_may_be(
    database: Database, tape: PostgresTape, kafka: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    large(tape, 150)
    fill(tape, WINDOW_RECORDS + 200, first=150)
    publish = Publisher.publish
    windows: list[Sequence[ProducerRecord]] = []

    def noted(
        self: Publisher, topic: str, partitions: int, sent: Sequence[ProducerRecord]
    ) -> Sequence[Acknowledged]:
        windows.append(sent)
        return publish(self, topic, partitions, sent)

    monkeypatch.setattr(Publisher, "publish", noted)
    once(database, kafka)
    octets = [sum(each.octets for each in window) for window in windows]
    assert max(octets) <= WINDOW_OCTETS < octets[0] + windows[1][0].octets
    assert [len(window) for window in windows][1:] == [
        WINDOW_RECORDS,
        1350 - 1000 - len(windows[0]),
    ]


@pytest.mark.long
def test_the_commands_publish_verify_and_publish_again(
    database: Database, tape: PostgresTape, kafka: Connection, tmp_path: Path
) -> None:
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(kafka),
        )
    )
    fill(tape, 12)
    assert cli("relay", "republish", "--from", "3", "--to", "5", "--json").json == [
        {"from": 3, "to": 5, "republished": 0}
    ], "it is the relay's to publish: nothing comes before what precedes it"
    assert on(kafka) == []
    assert cli("relay", "--once").code == 0
    assert cli("relay", "republish", "--from", "3", "--to", "5", "--json").json == [
        {"from": 3, "to": 5, "republished": 3}
    ]
    done = cli("relay", "verify", "--json")
    assert done.code == 0
    *tapes, total = done.json
    assert (total["facts"], total["duplicates"]) == (12, 3)
    heads = {row.tape: row for row in tape.read(0, 20)}
    assert {each["tape"]: (each["last"], each["head"]) for each in tapes} == {
        name: (row.table_seq, row.hash.hex()) for name, row in heads.items()
    }
    assert all(each["on_topic"] == each["on_record"] == each["last"] for each in tapes)
    assert cli("relay", "republish", "--from", "5", "--to", "3").code == 2
    put(kafka, record_of(tape, 7)._replace(value=b"{}"))
    told = cli("relay", "verify", "--json")
    assert told.code == 1
    assert told.json[0]["kind"] == "edited"
    (differs,) = [each for each in told.json if "tape" in each and each["broken"]]
    assert differs["broken"] == told.json[-1]["broken"]
