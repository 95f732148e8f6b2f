"""The facts' topic deleted under a running relay and views.

Both report it, none is wrong, and the steps of docs/how-to/repair.md repair it.
"""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from consumers.registry import install, view
from consumers.relay import check
from infra.kafka import topics
from tests.fixtures.cli import Cli
from tests.fixtures.kafka import delete, made_anew, relays
from tests.processes.command_server import started
from tests.processes.view_keeper import Keeper, begun_anew, positions, view_process
from tests.scenes.feed_faults import everything, naive
from tests.scenes.feeding import once
from tests.scenes.publishing import checked, load, moves, position, process
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from tests.fixtures.kafka import Relays

DEADLINE_S = 5
LACKS = "lacks records that its brokers had acknowledged"
SENDS_AGAIN = "the topic lacks records it had acknowledged"


@contextmanager
def heard(commands: Relays, *args: str) -> Iterator[Keeper]:
    """The relay's command, and what it says so far."""
    with started(
        ["relay", *args],
        commands.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        hearing = Keeper(running)
        try:
            yield hearing
        finally:
            hearing.end()


def tells(hearing: Keeper, *words: str) -> bool:
    """Whether one line has all of these."""
    return any(all(word in line for word in words) for line in list(hearing.said))


@pytest.mark.long
def test_a_topic_deleted_under_relay_and_views_is_told_by_both_and_its_steps_heal_it(
    database: Database, bare_kafka: Connection, tmp_path: Path
) -> None:
    topics.apply(bare_kafka)
    install(database)
    first = len(record(database, day(4)))
    commands = relays(database, bare_kafka, tmp_path)
    with view_process(database, bare_kafka) as views:
        with heard(commands, "--deadline", str(DEADLINE_S)) as running:
            until(lambda: positions(database) == (first, first))
            delete(bare_kafka, [topics.FACTS])
            kept = everything(database)
            last = len(record(database, day(3, seed=9)))
            assert running.process.wait(120) == 3
        with heard(commands) as again:
            assert again.process.wait(120) == 3
        assert tells(again, f"Topic {bare_kafka.named(topics.FACTS)} does not exist")
        assert tells(again, "topics apply")
        views.says("lost")
        until(lambda: tells(views, f"Topic {bare_kafka.named(topics.FACTS)} does not exist"))
        assert positions(database) == (first, first), "what nobody published is in no view"
        assert everything(database) == kept
        assert Cli(commands.environ)("topics", "apply").code == 0
        with heard(commands) as healing:
            until(lambda: positions(database) == (last, last))
            assert tells(healing, SENDS_AGAIN)
            healing.stop()
            assert healing.process.returncode == 0
        assert views.stop() == f"stopped at {last}, 0 refused"
    seen = check.verify(database, bare_kafka)
    assert (seen.broken, seen.facts) == (0, last)
    assert everything(database) == begun_anew(database)


@pytest.mark.long
def test_a_relay_without_news_tells_of_a_deleted_topic_and_ends_once_it_is_there_anew(
    database: Database, kafka: Connection, tmp_path: Path
) -> None:
    last = len(record(database, day(1)))
    commands = relays(database, kafka, tmp_path)
    commands.environ["ROUND_LEDGER_READY_S"] = "3"
    with heard(commands) as running:
        until(lambda: position(database, topics.FACTS) == last)
        delete(kafka, [topics.FACTS])
        until(lambda: tells(running, "show the end of a topic", "does not exist"))
        assert running.process.poll() is None
        topics.apply(kafka)
        assert running.process.wait(120) == 3
    assert tells(running, LACKS)
    once(database, kafka)
    seen = check.verify(database, kafka)
    assert (seen.broken, seen.facts) == (0, last)


@pytest.mark.long
def test_a_topic_made_anew_under_a_relay_that_publishes_ends_it_and_the_next_sends_all(
    database: Database, kafka: Connection
) -> None:
    """Its end looks whole to a later reader: only offsets that went down show it."""
    with load(database, every_s=0.05), process(database, kafka) as running:
        until(lambda: position(database, topics.FACTS) > 300)
        made_anew(kafka, [topics.FACTS])
        assert running.wait(120) != 0
    seen = checked(database, kafka)
    assert seen.breaks == []
    assert seen.facts == position(database, topics.FACTS)


@pytest.mark.long
def test_a_relay_that_minds_no_offset_leaves_holes_in_a_topic_made_anew(
    database: Database, kafka: Connection
) -> None:
    """The control, and what heals it."""
    with load(database, every_s=0.05), process(database, kafka, "heedless") as running:
        moves(database)
        made_anew(kafka, [topics.FACTS])
        lost = position(database, topics.FACTS)
        until(lambda: position(database, topics.FACTS) > lost + 150)
        running.terminate()
        assert running.wait(60) == 0
    seen = checked(database, kafka)
    assert {each.kind for each in seen.breaks} == {"missing"}
    check.republish(database, kafka, 1, lost + 150)
    seen = check.verify(database, kafka)
    assert (seen.broken, seen.facts) == (0, position(database, topics.FACTS))


@pytest.mark.long
def test_without_looking_a_relay_leaves_a_topic_made_anew_empty_and_a_naive_reader_counts_twice(
    database: Database, kafka: Connection
) -> None:
    """The control of both: relay and views go on from what they had."""
    install(database)
    payouts = [view("payouts")]
    last = len(record(database, day(1)))
    once(database, kafka)
    naive(database, kafka, payouts)
    made_anew(kafka, [topics.FACTS])
    with process(database, kafka, "blind") as running:
        more = len(record(database, day(1, seed=9)))
        until(lambda: position(database, topics.FACTS) == more)
        running.kill()
    seen = check.verify(database, kafka)
    assert {each.kind for each in seen.breaks} == {"missing"}
    assert seen.facts == more - last
    made_anew(kafka, [topics.FACTS])
    once(database, kafka)
    naive(database, kafka, payouts)
    assert everything(database, payouts)["payouts"] != begun_anew(database)["payouts"]
