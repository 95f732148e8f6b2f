"""What views leave for the relay: read a bounded piece at a time, and given up with its Kafka."""

from __future__ import annotations

import dataclasses
import itertools
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.alerts.conditions import of_state
from consumers.alerts.kinds.views import LAG_S
from consumers.alerts.snapshot import Snapshot
from consumers.registry import VIEWS, install, view
from consumers.relay import view_topics
from consumers.runtime import outbox as speaking
from consumers.runtime.lifecycle import catch_up
from consumers.runtime.metrics import ConsumerMetrics
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS
from infra.kafka.records import OUTBOX, number
from infra.postgres import outbox, relay_progress
from infra.postgres.outbox import Message
from infra.postgres.view_tables import LIVE, ViewStore, tape_source, writing
from infra.settings import load
from ledger.errors import Refused
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres import waits_for_a_lock
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.postgres.connection import AnyConnection, Database
    from infra.postgres.relay_progress import RelayStore

TOPIC = "ledger.adjudications.v1"
LARGE = 850_000
"""Bytes of a large ruling that still travels whole."""


def leave(database: Database, *bodies: str) -> None:
    with writing(database, LIVE) as connection:
        messages = [Message(TOPIC, f"p/T-{at}", body) for at, body in enumerate(bodies)]
        ViewStore(connection, LIVE).enqueue(7, messages)


def body(octets: int, letter: str = "x") -> str:
    return f'{{"says":"{letter * (octets - 11)}"}}'


def windows(relay_store: RelayStore) -> list[tuple[list[int], int]]:
    """The numbers in each window, in turn, and the most bytes that any took while it was made."""
    stream = view_topics.Outbox(relay_store, TOPIC, lambda _: None)
    found = []
    after = 0
    tracemalloc.start()
    try:
        while window := stream.window(after):
            numbers = [number(dict(each.headers), OUTBOX) for each in window.records]
            assert window.end == numbers[-1]
            after = window.end
            del window
            found.append((numbers, tracemalloc.get_traced_memory()[1]))
            tracemalloc.reset_peak()
    finally:
        tracemalloc.stop()
    return found


def numbers(database: Database, topic: str = "%") -> list[int]:
    with database.connect("ledger_reader") as connection:
        rows = connection.execute(
            "SELECT number FROM views.outbox WHERE topic LIKE %s ORDER BY number", (topic,)
        )
        return [row[0] for row in rows]


@pytest.mark.long
def test_a_window_of_large_messages_holds_no_more_than_may_be_under_way(
    database: Database,
) -> None:
    leave(database, *[body(LARGE)] * 30, *[body(200)] * 1_500)
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        found = windows(relay_store)
    every = [each for each, _ in found]
    assert every[0] == numbers(database)[:4], "4 of 850,000 octets fit"
    assert [*itertools.chain(*every)] == numbers(database), "all of it, in order, once"
    assert max(map(len, every)) == WINDOW_RECORDS
    assert max(peak for _, peak in found) < 6 * WINDOW_OCTETS


def test_a_message_larger_than_a_window_is_read_alone(database: Database) -> None:
    leave(database, body(10), body(2 * WINDOW_OCTETS), body(10), body(10))
    first, large, *rest = numbers(database)
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        found = windows(relay_store)
    assert [each for each, _ in found] == [[first], [large], rest]


def test_octets_are_counted_and_not_letters(database: Database) -> None:
    leave(database, *[body(400_000, "€")] * 8)  # 1.2 MB each
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        assert len(relay_store.outbox(TOPIC, 0, 100, 4_000_000)) == 3


@pytest.mark.long
def test_read_by_their_count_alone_a_window_would_take_all_of_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same windows, of what was read without a bound on bytes."""

    def after(
        connection: AnyConnection, topic: str, after: int, limit: int, octets: int
    ) -> Sequence[outbox.QueuedMessage]:
        del octets
        rows = connection.execute(
            "SELECT number, position, made_at_us, key, body FROM views.outbox"
            " WHERE topic = %s AND number > %s ORDER BY number LIMIT %s",
            (topic, after, limit),
        )
        return [outbox.QueuedMessage(*row) for row in rows.fetchall()]

    monkeypatch.setattr(outbox, "after", after)
    leave(database, *[body(LARGE)] * 60)
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        found = windows(relay_store)
    assert max(peak for _, peak in found) > 6 * WINDOW_OCTETS


def waits(database: Database, topic: str = TOPIC) -> relay_progress.Waiting | None:
    return next((each for each in relay_progress.waiting(database) if each.topic == topic), None)


def kept_up(database: Database) -> None:
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)


@pytest.fixture
def asked(database: Database) -> Database:
    """A day on record, and a relay that asked for what views say, and never came back."""
    install(database)
    record(database, day(2))
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        for topic in speaking.topics_of(VIEWS):
            relay_store.move(topic, 0, 0)
    return database


def test_what_waits_for_a_kafka_that_is_gone_is_told_in_records_and_in_seconds_and_alarmed_at(
    asked: Database,
) -> None:
    kept_up(asked)
    with asked.connect("ledger_owner") as connection:
        connection.execute("UPDATE views.outbox SET made_at_us = made_at_us - 86400000000")
    told = waits(asked)
    assert told
    assert told.records == len(numbers(asked, TOPIC)) > 0
    assert told.since_us >= 86_400_000_000
    settings = dataclasses.replace(load({}), thresholds={LAG_S: 86_400})
    state = Snapshot(0, settings, waiting=relay_progress.waiting(asked))
    raised = [each.alert.about for each in of_state(state)]
    assert TOPIC in raised
    page = ConsumerMetrics(asked, feed=False).page().decode()
    assert f'topic_behind_records{{topic="{TOPIC}"}} {told.records}.0' in page


@pytest.mark.long
def test_given_up_nothing_waits_and_views_are_silent_until_a_relay_asks_again(
    asked: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept_up(asked)
    there = len(numbers(asked, TOPIC))
    monkeypatch.setattr(speaking, "REMOVED_ROWS", 3)
    assert there > 3
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=asked.url))
    removed = {each["topic"]: each["removed"] for each in cli("relay", "silence", "--json").json}
    assert removed[TOPIC] == there
    assert removed.keys() == set(speaking.topics_of(VIEWS))
    assert numbers(asked) == []
    assert waits(asked) is None
    record(asked, day(2, seed=3))
    kept_up(asked)
    assert numbers(asked) == [], "nothing piles up"
    with relay_progress.lead(asked, lambda: False) as relay_store:
        assert relay_store
        restate = partial(speaking.restate, asked, projections=VIEWS)
        view_topics.begun(relay_store, [TOPIC], restate)
    assert len(numbers(asked, TOPIC)) > there, "all that stands, of both days"


def test_it_is_not_given_up_under_a_relay_that_would_ask_for_it_at_once(asked: Database) -> None:
    kept_up(asked)
    before = numbers(asked)
    with relay_progress.lead(asked, lambda: False) as relay_store:
        assert relay_store
        with pytest.raises(Refused, match="A relay is running"):
            speaking.clear_outbox(asked, VIEWS)
    assert numbers(asked) == before
    assert waits(asked)


def test_a_view_that_is_being_written_leaves_nothing_behind(asked: Database) -> None:
    """A writer that saw that it was asked for, and has not committed: giving up waits for it."""
    kept_up(asked)
    board = view("table_board")
    with writing(asked, LIVE) as connection:
        book = ViewStore(connection, LIVE)
        seen = book.tracking(board.name)
        assert seen
        with ThreadPoolExecutor(1) as beside:
            with book.transaction():
                assert book.advance(board.name, seen, seen.position + 1)
                assert book.asked_for(["ledger.table-state.v1"])
                given_up = beside.submit(speaking.clear_outbox, asked, VIEWS)
                until(lambda: waits_for_a_lock(asked))
                book.enqueue(seen.position + 1, [Message("ledger.table-state.v1", "p/T", "{}")])
            assert given_up.result(60)["ledger.table-state.v1"] > 0
    assert numbers(asked) == []


def test_what_is_old_is_forgotten_in_pieces(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage of weeks one statement for all of it outlasts what a statement may take."""
    monkeypatch.setattr(outbox, "FORGOTTEN_MAX", 2)
    leave(database, *("{}" for _ in range(6)))
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        old = (outbox.KEPT_S + 1) * 1_000_000
        connection.execute(
            "UPDATE views.outbox SET made_at_us = made_at_us - %s WHERE number <> 6", (old,)
        )
        assert outbox.prune(connection, TOPIC, 4) == 2
        assert numbers(database) == [3, 4, 5, 6]
    leave(database, "{}")
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        relay_store.prune(TOPIC, 4)
    assert numbers(database) == [5, 6, 7], "what is not acknowledged stays, however old"
