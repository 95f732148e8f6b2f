"""What views say on topics of their own: all of it, nothing that was rolled back, again if lost."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from consumers.floor import table_board
from consumers.money import drop
from consumers.registry import VIEWS, install, view
from consumers.relay import relay as relaying
from consumers.relay import view_topics
from consumers.relay.relay import relay
from consumers.rulings import rulings
from consumers.runtime import outbox as speaking
from consumers.runtime.lifecycle import Batch, FencedError, Runner, catch_up, rebuild
from consumers.runtime.outbox import StoppedError
from infra.kafka import topics
from infra.kafka.reader import reader
from infra.kafka.records import OUTBOX, POSITION
from infra.postgres import outbox, relay_progress
from infra.postgres.view_tables import LIVE, ViewStore, reading, tape_source, writing
from ledger.errors import Unavailable
from ledger.facts import CameraLost, CameraMapped, CameraRestored, ClockChecked, SegmentRecorded
from ledger.record.wire import encode
from ledger.values import format_time
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import made_anew, reached
from tests.scenes.feed_faults import from_feed
from tests.scenes.view_feeds import day, dumped, received, record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import Received

BOARDS = "ledger.table-state.v1"
DERIVED = speaking.topics_of(VIEWS)


@pytest.fixture
def feed(kafka: Connection) -> Connection:
    """A Kafka with the topics that views speak on, too."""
    topics.apply(kafka, [topics.topic(name) for name in DERIVED])
    return kafka


def publish_all(database: Database, kafka: Connection) -> None:
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=20, spoken=VIEWS)


def read(kafka: Connection, topic: str) -> dict[str, list[dict[str, Any]]]:
    """Values by key, in order, each with what says which is the newest; `gone`: a tombstone."""
    told: dict[str, list[dict[str, Any]]] = {}
    with reader(kafka, topic) as source:
        for batch in source.read(source.bounds()):
            for each in batch:
                headers = dict(each.headers)
                value = {"gone": True} if each.value is None else json.loads(each.value)
                value["at"] = tuple(int(headers[name]) for name in (POSITION, OUTBOX))
                told.setdefault((each.key or b"").decode(), []).append(value)
    return told


def newest(kafka: Connection, topic: str) -> dict[str, dict[str, Any]]:
    told = {key: max(values, key=lambda v: v["at"]) for key, values in read(kafka, topic).items()}
    for value in told.values():
        del value["at"]
    return {key: value for key, value in told.items() if "gone" not in value}


def agrees(database: Database, kafka: Connection) -> None:
    """The newest word of every key is what the view holds."""
    days = {f"{d.property}/{d.table}/{d.gaming_day}": d for d in drop.read(database)}
    told = newest(kafka, "ledger.drop-totals.v1")
    assert told.keys() == days.keys()
    assert all(told[key]["handle"] == each.handle for key, each in days.items())
    assert all(told[key]["cash"] == each.cash for key, each in days.items())
    boards = {f"{b.property}/{b.table}": b.stage for b in table_board.read(database)}
    stated = newest(kafka, "ledger.table-state.v1")
    assert {key: value["stage"] for key, value in stated.items()} == boards


def versions(database: Database) -> set[tuple[str, int, str]]:
    with reading(database, rulings.tables_to_read()) as store:
        rows = store.query(
            "SELECT property || '/' || table_name, version, table_name || '/' || gaming_day || '/'"
            " || number FROM {schema}.ruling_versions"
        )
    return {(key, version, name) for key, version, name in rows}


def told_versions(kafka: Connection) -> set[tuple[str, int, str]]:
    return {
        (key, value["version"], value["round"])
        for key, values in read(kafka, "ledger.adjudications.v1").items()
        for value in values
        if value["round"] is not None
    }


@pytest.mark.long
def test_every_ruling_total_and_state_is_published_by_the_relay(
    database: Database, feed: Connection
) -> None:
    record(database, day(8))
    install(database)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    agrees(database, feed)
    assert told_versions(feed) == versions(database)
    assert versions(database)
    loose = rulings.table_findings(database)
    told = [
        value["findings"][0]["code"]
        for values in read(feed, "ledger.adjudications.v1").values()
        for value in values
        if value["round"] is None
    ]
    assert {each.findings[0].code for each in loose} <= set(told)


@pytest.mark.long
def test_before_a_relay_asks_nothing_is_left_and_then_all_that_stands_is_said(
    database: Database, feed: Connection
) -> None:
    record(database, day(6))
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    with database.connect("ledger_reader") as connection:
        assert connection.execute("SELECT count(*) FROM views.outbox").fetchone() == (0,)
    publish_all(database, feed)
    agrees(database, feed)
    assert told_versions(feed) == versions(database)


@pytest.mark.long
def test_a_batch_that_was_refused_says_nothing(database: Database, feed: Connection) -> None:
    rows = record(database, day(4))
    install(database)
    publish_all(database, feed)
    each = view("drop")
    with writing(database, LIVE) as connection, tape_source(database) as source:
        zombie = Runner(ViewStore(connection, LIVE), source, [each])
        catch_up(database, source, [each])
        before = said(database)
        with pytest.raises(FencedError):
            zombie.apply(each, Batch(rows[:100]))
    assert said(database) == before


def said(database: Database) -> int:
    with database.connect("ledger_reader") as connection:
        row = connection.execute("SELECT count(*) FROM views.outbox").fetchone()
    assert row
    return int(row[0])


@pytest.mark.long
def test_left_outside_the_transaction_a_refused_batch_would_have_spoken(
    database: Database, feed: Connection
) -> None:
    """The control: the same message sent beside the rows it speaks of."""
    rows = record(database, day(4))
    install(database)
    publish_all(database, feed)
    each = view("drop")
    with writing(database, LIVE) as connection, writing(database, LIVE) as beside:
        book, other = (ViewStore(c, LIVE) for c in (connection, beside))
        with connection.transaction(force_rollback=True):
            speaking.capture_changes(book, each)
            each.apply(book, Batch(rows))
            keys = book.load(drop.DAYS, book.heard["drop_days"])
            other.enqueue(1, [outbox.Message("t", str(key), "{}") for key in keys])
    assert dumped(database, each) == b""
    assert said(database) > 0


@pytest.mark.long
def test_a_relay_told_to_stop_while_what_stands_is_said_leaves_it_to_the_next_one(
    database: Database, feed: Connection
) -> None:
    record(database, day(4))
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    asked = iter([False] * 3)
    relay(database, feed, stop=lambda: next(asked, True), follow=False, spoken=VIEWS)
    assert next(asked, None) is None, "it was asked between pages: a sign of life"
    assert said(database) > 0
    with relay_progress.relay_store(database) as relay_store:
        assert not any(relay_store.is_known(topic) for topic in DERIVED)
    publish_all(database, feed)
    agrees(database, feed)
    assert told_versions(feed) == versions(database)


@pytest.mark.long
def test_what_another_version_of_a_view_has_no_more_is_taken_back_in_its_swap(
    database: Database, feed: Connection
) -> None:
    rows = record(database, day(5))
    install(database)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    before = newest(feed, BOARDS)
    gone = min(before)
    board = view("table_board")

    def without(store: ViewStore, batch: Batch) -> None:
        """Another program: it publishes nothing of one table."""
        kept = [row for row in batch.rows if row.tape != gone]
        if kept:
            board.apply(store, batch.of(kept))

    newer = dataclasses.replace(board, version=board.version + 1, apply=without)
    with tape_source(database) as source:
        assert rebuild(database, source, newer)
    publish_all(database, feed)
    assert newest(feed, BOARDS).keys() == before.keys() - {gone}
    [*_, last] = read(feed, BOARDS)[gone]
    assert last == {"gone": True, "at": (len(rows), last["at"][1])}

    with tape_source(database) as source:
        assert rebuild(database, source, board)
    publish_all(database, feed)
    assert newest(feed, BOARDS) == before, "and it is told again where it comes back"


@pytest.mark.long
def test_a_topic_that_lost_its_end_is_told_again(database: Database, feed: Connection) -> None:
    record(database, day(5))
    install(database)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    made_anew(feed, ["ledger.drop-totals.v1"])
    publish_all(database, feed)
    agrees(database, feed)


@pytest.mark.long
def test_a_topic_lost_after_its_messages_were_forgotten_is_told_again_from_the_views(
    database: Database, feed: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    record(database, day(5))
    install(database)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    with database.connect("ledger_owner") as connection:
        connection.execute("UPDATE views.outbox SET made_at_us = 0")
    publish_all(database, feed)
    assert said(database) == 0, "all of it was forgotten"
    publish_all(database, feed)
    assert not [each for each in caplog.records if each.levelname == "ERROR"], "none is lost yet"
    lost = ["ledger.drop-totals.v1", "ledger.adjudications.v1"]
    made_anew(feed, lost)
    publish_all(database, feed)
    agrees(database, feed)
    assert told_versions(feed) == versions(database)
    errors = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert sum("is published again" in " ".join(each.split()) for each in errors) == len(lost)


class Kept:
    """A desk that has the numbers and keys of messages, and says of none what is in it."""

    def __init__(self, *numbers: int) -> None:
        self.kept = list(numbers)
        self.given = 0

    def outbox_keys(self, _topic: str, after: int, limit: int) -> list[tuple[int, str]]:
        found = [(number, KEYS[number % 2]) for number in self.kept if number > after][:limit]
        self.given += len(found)
        return found


KEYS = ("a", "d")
"""The keys of even and of odd messages, of partition 0 and 1 of two."""


@pytest.mark.parametrize(
    ("kept", "ends", "resumed"),
    [
        ((5, 6, 7, 8), (8, 7), 8),  # nothing is lost
        ((5, 6, 7, 8), (6, 7), 7),  # 8 is, and is kept
        ((5, 6, 7, 8), (4, 7), 0),  # 6 and 8 are, and what was between 4 and 5 may be
        ((6, 8), (8, 1), 8),  # a partition that nobody writes to any more
        ((), (8, 7), 8),  # all is forgotten, and all is there
        ((), (0, 0), 0),  # and nothing is
    ],
)
def test_a_topic_begins_anew_where_not_all_that_it_lacks_is_kept(
    kept: tuple[int, ...], ends: tuple[int, int], resumed: int
) -> None:
    restated: list[Sequence[str]] = []
    stream = view_topics.Outbox(cast("RelayStore", Kept(*kept)), "t", restated.append)
    lost = () if any(ends) else (0, 1)
    assert stream.resume(8, dict(enumerate(ends)), lost, 2) == resumed
    stream.rewind(resumed)
    assert restated == ([["t"]] if resumed == 0 else [])


def test_a_week_of_messages_is_read_in_pages_between_which_a_relay_is_seen_to_be_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(view_topics, "KEYS_ROWS", 10)
    relay_store, asked = Kept(*range(1, 1_001)), []

    def stop() -> bool:
        asked.append(relay_store.given)
        return False

    stream = view_topics.Outbox(cast("RelayStore", relay_store), "t", lambda _: None, stop)
    reached = {0: 1_000, 1: 1}
    assert stream.resume(1_000, reached, (), 2) == 2, "3 is the first that partition 1 lacks"
    began = len(asked)
    assert began >= 100, "before every page"
    assert max(after - before for before, after in itertools.pairwise(asked)) == 10


def test_a_partition_that_lost_its_end_begins_anew_unless_all_it_may_lack_is_kept() -> None:
    stream = view_topics.Outbox(cast("RelayStore", Kept(5, 6, 7, 8)), "t", lambda _: None)
    assert stream.resume(8, {1: 6}, {1}, 2) == 6, "from 7 on everything is kept"
    assert stream.resume(8, {1: 3}, {1}, 2) == 0, "4 may have been one of them"
    forgotten = view_topics.Outbox(cast("RelayStore", Kept()), "t", lambda _: None)
    assert forgotten.resume(8, {1: 6}, {1}, 2) == 0
    assert forgotten.resume(8, {1: 6}, (), 2) == 8, "which nothing kept could show"


def test_a_relay_that_is_stopped_while_it_looks_reads_no_further() -> None:
    relay_store = Kept(*range(1, 1_001))
    stream = view_topics.Outbox(cast("RelayStore", relay_store), "t", lambda _: None, lambda: True)
    with pytest.raises(StoppedError):
        stream.resume(1_000, {1: 1}, (), 2)
    assert relay_store.given == 0


@pytest.mark.long
def test_messages_long_acknowledged_are_removed_and_others_are_not(
    database: Database, feed: Connection
) -> None:
    record(database, day(3))
    install(database)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    kept = said(database)
    with database.connect("ledger_owner") as connection:
        connection.execute(
            "UPDATE views.outbox SET made_at_us = made_at_us - 8 * 86400 * 1000000::bigint"
            " WHERE topic = 'ledger.table-state.v1'"
        )
    publish_all(database, feed)
    assert 0 < said(database) < kept
    with relay_progress.relay_store(database) as relay_store:
        assert relay_store.outbox("ledger.table-state.v1", 0, 10, 1_000) == []
        assert relay_store.outbox("ledger.drop-totals.v1", 0, 10, 1_000)


@pytest.mark.long
def test_the_relay_command_publishes_and_restates_them(
    database: Database, feed: Connection, tmp_path: Path
) -> None:
    record(database, day(3))
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(feed),
        )
    )
    assert cli("relay", "--once").code == 0
    assert cli("consume", "all").code == 0
    assert "ledger.drop-totals.v1" in cli("relay", "--once").err
    agrees(database, feed)
    told = cli("relay", "restate", "--json").json
    assert {each["topic"] for each in told} == set(DERIVED)
    assert sum(each["messages"] for each in told) > 0
    cli("relay", "--once")
    agrees(database, feed)


@pytest.mark.long
def test_every_mark_on_a_cameras_clock_is_published_once_in_the_order_it_was_told(
    database: Database, feed: Connection
) -> None:
    facts = [*day(6), *marks()]
    rows = record(database, facts)
    install(database)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    told = read(feed, "ledger.camera-sync.v1")["hollywood/CC-07-A"]
    assert [each["kind"] for each in told] == ["mapped", "checked", "recorded", "lost", "restored"]
    checked = told[1]
    assert (checked["offset_us"], checked["plus_minus_us"]) == (-1_500_000, 20_000)
    assert checked["camera_us"] - checked["reference_us"] == checked["offset_us"]
    assert told[2]["camera_until_us"] - told[2]["camera_us"] == 60_000_000
    on_tape = {row.position: row.id for row in rows}
    assert [on_tape[each["position"]] for each in told] == [each["id"] for each in told]


def marks() -> list[Received]:
    """The facts of one camera's recorder."""
    noon = 1_795_100_000_000_000
    bodies = (
        CameraMapped(camera="CC-07-A", table="CC-07", kind="stationary", covers=["table"]),
        ClockChecked(
            camera="CC-07-A",
            camera_time=format_time(noon - 1_500_000),
            reference_time=format_time(noon),
            reference="gps",
            uncertainty_ms=20,
        ),
        SegmentRecorded(
            camera="CC-07-A",
            path="a/1.webm",
            sha256="0" * 64,
            start=format_time(noon),
            frames=1_800,
            duration_us=60_000_000,
        ),
        CameraLost(camera="CC-07-A", reason="power"),
        CameraRestored(camera="CC-07-A", reason="power"),
    )
    return [
        received(encode(body, "/hollywood/surveillance/nvr-9", f"m{number}", noon + number))
        for number, body in enumerate(bodies)
    ]


def set_back(database: Database) -> None:
    """The live board as an earlier version of its code left it: without a column of today's."""
    with database.connect("ledger_owner") as connection:
        connection.execute(
            "UPDATE views.tracking SET version = version - 1 WHERE view = 'table_board'"
        )
        connection.execute("ALTER TABLE views.table_board DROP COLUMN state")


@pytest.mark.long
def test_a_relay_started_before_a_rebuild_publishes_facts_and_begins_the_views_topic_after_it(
    database: Database, feed: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(database, day(2))
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, [view("table_board")])
    set_back(database)
    publish_all(database, feed)
    with reader(feed, topics.FACTS) as facts:
        assert any(each.end for each in facts.bounds().values())
    assert not read(feed, BOARDS)
    told = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=database.url))("relay", "restate")
    assert told.code == 3
    assert "was written by version" in told.err
    assert "round-ledger rebuild table_board" in told.err

    monkeypatch.setattr(relaying, "LOOK_S", 0.0)
    outdated = [view("table_board")]
    stopped = relaying._stopped_or_current(database, outdated, lambda: False)
    assert not stopped()
    with tape_source(database) as source:
        assert rebuild(database, source, outdated[0])
    with pytest.raises(Unavailable, match="View table_board was rebuilt"):
        stopped()
    publish_all(database, feed)
    assert read(feed, BOARDS)
