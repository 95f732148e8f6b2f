"""The dead-letter topic with gaps, expired letters, or recreated: the list shows what waits."""

from __future__ import annotations

import getpass
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from consumers.alerts import process
from consumers.alerts.process import DEAD
from infra.kafka import topics
from infra.kafka.clients import administrator
from infra.kafka.dead_letters import KEPT_OCTETS, dead_letters, identity, send_to_dead_letters
from infra.kafka.library import TopicPartition
from infra.kafka.publisher import Publisher
from infra.postgres.alerts import Alerts
from infra.settings import load
from tests.fixtures.cli import ROOT, Cli, environ
from tests.fixtures.kafka import delete, reached
from tests.scenes.alert_reads import fact_read

if TYPE_CHECKING:
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

SETTINGS = load({})


@pytest.fixture
def feed(bare_kafka: Connection) -> Connection:
    topics.apply(bare_kafka)
    return bare_kafka


@pytest.fixture
def cli(database: Database, feed: Connection, tmp_path: Path) -> Cli:
    return Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(feed),
        )
    )


def buried(database: Database, kafka: Connection, count: int = 1) -> None:
    """Letters that can be handled: large payments, all in one partition."""
    read = fact_read(database, 2_000_000)
    with Publisher(kafka, deadline_s=20) as publisher:
        for _ in range(count):
            send_to_dead_letters(publisher, DEAD, read, "ValueError: a fault of ours", 3)


def in_transactions(kafka: Connection) -> None:
    """Somebody's letters, one committed and one not: their marks take offsets of their own."""
    writer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": "stranger"})
    writer.init_transactions()
    for end in (writer.commit_transaction, writer.abort_transaction):
        writer.begin_transaction()
        for partition in range(topics.topic(DEAD).partitions):
            writer.produce(kafka.named(DEAD), key=b"k", value=b"v", partition=partition)
        writer.flush()
        end()


def depth(database: Database, kafka: Connection) -> int:
    return process.run(database, kafka, SETTINGS, stop=lambda: False, follow=False).letters


def listed(cli: Cli, *more: str) -> list[str]:
    ran = cli("dlq", "list", "--json", *more)
    assert ran.code == (1 if ran.json else 0), ran.err
    return [str(each["place"]) for each in ran.json]


def test_a_letter_is_shown_with_why_it_is_one(
    database: Database, feed: Connection, cli: Cli
) -> None:
    buried(database, feed)
    (place,) = listed(cli)
    shown = cli("dlq", "show", place)
    assert shown.code == 0
    assert "ValueError: a fault of ours" in shown.out
    assert "wager_paid" in shown.out
    with dead_letters(feed, DEAD) as letters:
        (letter,) = letters
    added = {name for name, _ in letter.record.headers if name.startswith("dead_")}
    described = set(re.findall(r"`(dead_\w+)`", (ROOT / "docs" / "feed.md").read_text()))
    assert added == described


@pytest.mark.long
def test_offsets_that_hold_nothing_are_in_the_way_of_no_letter(
    database: Database, feed: Connection, cli: Cli
) -> None:
    buried(database, feed)
    in_transactions(feed)
    places = listed(cli)
    assert len(places) == 1 + 2 * topics.topic(DEAD).partitions
    assert depth(database, feed) > len(places), "the control: there are offsets that hold none"
    ran = cli("dlq", "replay", "--json", "--by", "S-2001")
    (mine,) = [each["place"] for each in ran.json if each["replayed"]]
    logged = [json.loads(each) for each in ran.err.splitlines() if '"by"' in each]
    assert [each["place"] for each in logged] == places, "every try is logged"
    assert {(each["by"], each["topic"]) for each in logged} == {("S-2001", identity(feed, DEAD))}
    assert [each["place"] for each in logged if "reason" not in each] == [mine]
    assert listed(cli) == [each for each in places if each != mine]
    everything = cli("dlq", "list", "--json", "--all").json
    assert [each["place"] for each in everything] == places
    by = {each["place"]: each["replayed_by"] for each in everything if each["replayed_at"]}
    assert by == {mine: "S-2001"}


@pytest.mark.long
def test_letters_that_expired_are_listed_and_counted_no_more(
    database: Database, feed: Connection, cli: Cli
) -> None:
    buried(database, feed, 3)
    first, second, third = listed(cli)
    assert depth(database, feed) == 3
    assert cli("dlq", "replay", first).code == 0
    assert depth(database, feed) == 2
    partition, _, offset = second.partition("@")
    with administrator(feed) as admin:
        place = TopicPartition(feed.named(DEAD), int(partition))
        admin.delete_records({place: int(offset) + 1})
    assert listed(cli) == listed(cli, "--all") == [third]
    assert depth(database, feed) == 1
    assert cli("dlq", "show", second).code == 2
    assert cli("dlq", "replay").code == 0
    assert depth(database, feed) == 0


@pytest.mark.long
def test_a_letter_on_a_topic_made_anew_is_not_hidden_by_one_that_was_handled_before(
    database: Database, feed: Connection, cli: Cli
) -> None:
    buried(database, feed)
    before = identity(feed, DEAD)
    (place,) = listed(cli)
    assert cli("dlq", "replay").code == 0
    delete(feed, [DEAD])
    assert listed(cli) == [], "where there is no topic there is no letter"
    topics.apply(feed)
    assert identity(feed, DEAD) != before
    buried(database, feed)
    assert listed(cli) == [place]
    assert depth(database, feed) == 1
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        ((part, at),) = kept.replayed(before)
        assert f"{part}@{at}" == place, "the control: the same place"
        kept.note_replayed(before, part, at, "S-9")
        assert kept.replayed(before)[part, at].by == f"os:{getpass.getuser()}", "the first stays"


LARGE = 120


def bury_large(kafka: Connection) -> None:
    """Letters as large as they come, of bytes that no compression makes smaller."""
    writer = Producer({"bootstrap.servers": kafka.bootstrap, "partitioner": "murmur2_random"})
    for number in range(LARGE):
        value = os.urandom(KEPT_OCTETS)
        writer.produce(kafka.named(DEAD), key=b"k%d" % number, value=value)
        writer.poll(0)
    assert writer.flush(120) == 0


PEAK = """
import atexit, sys, tracemalloc
tracemalloc.start()
atexit.register(lambda: print(tracemalloc.get_traced_memory()[1], file=sys.stderr))
from replay.cli import main
main()
"""


def peak_mib(cli: Cli, *args: str) -> tuple[int, float, str]:
    """Exit code, the most memory that the command ever held, MiB, and what it printed."""
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        env=cli.environ,
        cwd=ROOT,
    )
    return ran.returncode, int(ran.stderr.splitlines()[-1]) / 2**20, ran.stdout


@pytest.mark.long
def test_large_letters_are_read_and_not_kept(
    database: Database, feed: Connection, cli: Cli
) -> None:
    buried(database, feed, 2)
    first, second = listed(cli)
    commands = {f"show {first}": (0, 1), "list --all": (1, 2), f"replay {first}": (0, 1)}
    one = {command: peak_mib(cli, "dlq", *command.split(), "--json")[1] for command in commands}
    bury_large(feed)
    commands = {f"show {second}": (0, 1), "list --all": (1, 2 + LARGE), f"replay {second}": (0, 1)}
    grew = {}
    for (command, (code, lines)), before in zip(commands.items(), one.values(), strict=True):
        ended, most, out = peak_mib(cli, "dlq", *command.split(), "--json")
        assert (ended, len(out.splitlines())) == (code, lines)
        grew[command] = most - before
    assert max(grew.values()) < LARGE * KEPT_OCTETS / 2**20 / 2, grew
