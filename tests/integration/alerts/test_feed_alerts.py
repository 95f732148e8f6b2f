"""Alerts: each kind at its threshold and not below, each once, delivered until it is taken."""

from __future__ import annotations

import dataclasses
import json
import random
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.alerts import conditions, process
from consumers.alerts.alert import Alert
from consumers.alerts.kinds import BY_NAME, THRESHOLDS
from consumers.alerts.kinds.rulings import TIMES
from consumers.alerts.kinds.views import LAG_S
from consumers.alerts.process import DEAD, TOPIC, run
from consumers.alerts.snapshot import Snapshot
from consumers.floor.table_board import Board
from consumers.registry import VIEWS, install
from consumers.relay.relay import relay
from infra.kafka import topics
from infra.kafka.dead_letters import dead_letters
from infra.kafka.reader import reader
from infra.kafka.records import ProducerRecord
from infra.postgres import parking
from infra.postgres.alerts import Alerts, Device
from infra.postgres.parking import ParkedSummary
from infra.postgres.relay_progress import Waiting
from infra.settings import load
from ledger.errors import Usage
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import reached
from tests.scenes import alert_reads
from tests.scenes.alert_reads import fact_read, paid, ruling
from tests.scenes.feed_faults import from_feed, of_rows, publish
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from consumers.alerts.conditions import Rulings
    from infra.kafka.clients import Connection
    from infra.kafka.consumer_group import Read
    from infra.postgres.connection import Database
    from infra.settings import Settings

SETTINGS = load({})
PATIENT = dataclasses.replace(SETTINGS, thresholds={LAG_S: 10**9})
"""For runs whose alerts are counted: how long the machine takes is none of them."""

NOW_US = 1_795_000_000_000_000
S = 1_000_000


@pytest.fixture
def feed(kafka: Connection) -> Connection:
    """A Kafka with every topic that alerts read and write."""
    topics.apply(kafka, topics.declared())
    return kafka


@pytest.mark.parametrize(("cents", "told"), [(999_999, 0), (1_000_000, 1)])
def test_a_payout_is_told_from_its_threshold_on(database: Database, cents: int, told: int) -> None:
    found = alert_reads.found(fact_read(database, cents), time.time_ns() // 1000, SETTINGS)
    assert [(each.kind, each.value, each.threshold) for each in found] == [
        ("payout", cents, 1_000_000)
    ] * told


def test_what_was_received_long_ago_raises_nothing(database: Database) -> None:
    later_us = time.time_ns() // 1000 + SETTINGS.alert_age_s * S + S
    assert alert_reads.found(fact_read(database, 5_000_000), later_us, SETTINGS) == []


@pytest.mark.parametrize(
    ("finding", "kind"),
    [
        ({"code": "overpaid", "expected": 0, "recorded": 10_000}, "finding"),
        ({"code": "underpaid", "expected": 10_000, "recorded": 1}, None),
        ({"code": "duplicate_card"}, "finding"),
        ({"code": "out_of_turn"}, None),
        ({"code": "stub_count_overdue"}, "procedure"),
        ({"code": "clock_skewed"}, None),
    ],
)
def test_findings_are_told_by_their_money_their_gravity_or_as_procedures(
    finding: dict[str, Any], kind: str | None
) -> None:
    at_us = 1_795_183_200 * S
    found = alert_reads.found(ruling({"says": "so", **finding}), at_us, SETTINGS)
    assert [each.kind for each in found] == ([kind] if kind else [])
    again = alert_reads.found(ruling({"says": "so", **finding}), at_us, SETTINGS)
    assert [each.id for each in again] == [each.id for each in found]


def test_a_procedure_is_told_once_it_was_found_as_often_as_the_setting_says() -> None:
    twice = dataclasses.replace(SETTINGS, thresholds={TIMES: 2})
    one = {"code": "inspection_missing", "says": "so"}
    at_us = 1_795_183_200 * S
    assert alert_reads.found(ruling(one, round_=None), at_us, twice) == []
    assert len(alert_reads.found(ruling(one, one, round_=None), at_us, twice)) == 1


def of_tables(board: Board, *devices: Device) -> list[tuple[str, str]]:
    found = conditions.of_state(Snapshot(NOW_US, SETTINGS, [board], devices))
    return [(each.alert.kind, each.alert.about) for each in found]


def test_an_open_table_without_events_and_its_silent_device_are_told() -> None:
    tape = "hollywood/CC-07"
    open_, closed = (Board("hollywood", "CC-07", open=each) for each in (True, False))
    fresh = Device(tape, "/hollywood/CC-07/shoe", NOW_US - 5 * S)
    old = Device(tape, "/hollywood/CC-07/chips", NOW_US - 900 * S)
    assert of_tables(open_, fresh, old) == [("device_silent", old.source)]
    assert of_tables(open_, fresh, old._replace(last_us=NOW_US - 899 * S)) == []
    assert of_tables(open_, old) == [("table_quiet", tape)]
    assert of_tables(open_, old._replace(last_us=NOW_US - 599 * S)) == []
    assert of_tables(closed, fresh, old) == of_tables(closed, old) == []


def test_lag_and_parked_tables_are_told() -> None:
    late = [
        Waiting("a", 10_000),
        Waiting("b", 9_999, 59_999_999),
        Waiting("c", 1, 60 * S),
        Waiting("d", 10_000, 60 * S),
    ]
    state = Snapshot(NOW_US, SETTINGS, behind_s={"drop": 60, "rounds": 59}, waiting=late)
    found = conditions.of_state(state)
    told = [("drop", 60), ("a", 10_000), ("c", 60), ("d", 10_000)]
    assert [(each.alert.about, each.alert.value) for each in found] == told
    assert {each.alert.kind for each in found} == {"lag"}
    shown = ParkedSummary("drop", "hollywood/CC-07", 17, 3, "edited", "Bent.", "t/1@2", 5, 9)
    (parked,) = conditions.of_state(Snapshot(NOW_US, SETTINGS, parked=[shown]))
    assert (parked.alert.kind, parked.since_us) == ("parked", 5)


def test_thresholds_are_settings_and_must_be_numbers() -> None:
    given = load({"ROUND_LEDGER_ALERT_LAG_S": "5"}, THRESHOLDS)
    assert (LAG_S.of(given), LAG_S.of(SETTINGS)) == (5, 60)
    for text in ("soon", "0", "-1", "1.5"):
        with pytest.raises(Usage, match="threshold"):
            load({"ROUND_LEDGER_ALERT_LAG_S": text}, THRESHOLDS)


class Hook:
    """A webhook: it gives the answers set for it, and keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[dict[str, Any]] = []
        hook = self

        class Answers(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = hook.answers.pop(0) if hook.answers else 204
                if status < 300:
                    hook.got.append(json.loads(body))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Answers)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/alerts"


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def once(database: Database, kafka: Connection, settings: Settings) -> process.Tally:
    return run(database, kafka, settings, stop=lambda: False, follow=False)


def on_topic(kafka: Connection) -> list[Alert]:
    with reader(kafka, TOPIC) as source:
        read = [each for batch in source.read(source.bounds()) for each in batch]
    return [msgspec.json.decode(each.value or b"", type=Alert) for each in read]


@contextmanager
def kept(database: Database) -> Iterator[Alerts]:
    with database.connect("ledger_projector") as connection:
        yield Alerts(database, connection)


@pytest.mark.long
def test_a_day_raises_its_alerts_once_on_topic_log_and_webhook_with_receipts(
    database: Database, feed: Connection, hook: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    record(database, [*day(8), paid(2_500_000)])
    install(database)
    settings = dataclasses.replace(PATIENT, alert_webhook=hook.address)
    publish_all(database, feed)
    from_feed(database, feed)
    publish_all(database, feed)
    hook.answers = [500, 404]
    tally = once(database, feed, settings)
    assert tally.raised >= 2
    assert tally.failed == 2
    with kept(database) as alerts_:

        def all_delivered() -> bool:
            again = once(database, feed, settings)
            assert (again.raised, again.dead) == (0, 0)
            return all(each.delivered_at_us for each in alerts_.receipts())

        until(all_delivered)  # once the first pause of a channel is over
        receipts = alerts_.receipts()
    assert len(receipts) == 3 * tally.raised
    assert all(each.delivered_at_us for each in receipts)
    assert {each.channel for each in receipts} == {"topic", "log", "webhook"}
    assert sorted(each.tries for each in receipts)[-3:] == [1, 2, 2]
    ids = sorted({each.alert_id for each in receipts})
    assert sorted(each["id"] for each in hook.got) == ids
    assert sorted(each.id for each in on_topic(feed)) == ids
    assert sum(each.message == "alert" for each in caplog.records) == len(ids)
    kinds = {each["kind"] for each in hook.got}
    assert {"payout", "finding"} <= kinds <= BY_NAME.keys()


@pytest.mark.long
def test_records_read_again_by_a_group_that_lost_its_place_raise_nothing_again(
    database: Database, feed: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = record(database, [paid(2_000_000, 1), paid(3_000_000, 2)])
    publish(database, feed, of_rows(rows), 0)
    first = once(database, feed, PATIENT)
    monkeypatch.setattr(process, "GROUP", "round-ledger.alerts.again")
    again = once(database, feed, PATIENT)
    assert (first.read, first.raised, again.read, again.raised) == (2, 2, 2, 0)
    assert len(on_topic(feed)) == 2
    monkeypatch.setattr(process, "GROUP", "round-ledger.alerts.control")
    with database.connect("ledger_owner") as connection:
        connection.execute("TRUNCATE views.alerts CASCADE")
    assert once(database, feed, PATIENT).raised == 2, "the control: without what was kept"


@pytest.mark.long
def test_alerts_killed_anywhere_are_each_raised_once_and_delivered(
    database: Database, feed: Connection, tmp_path: Path
) -> None:
    install(database)
    rows = record(database, [paid(1_000_000 + n, n) for n in range(1, 301)])
    publish(database, feed, of_rows(rows), len(rows))
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(feed),
        )
    )
    chance = random.Random(3)  # noqa: S311 - repeatable, guards nothing
    amidst = kills = 0
    while kills < 6 or (not amidst and kills < 14):  # 14 times 20 lines are fewer than the alerts
        kills += 1
        with cli.start("consume", "alerts", "--follow") as running:
            assert running.stderr
            for _ in range(chance.randint(5, 20)):
                assert running.stderr.readline(), "it ended by itself"
            running.kill()
        with kept(database) as alerts_:
            amidst += any(each.delivered_at_us is None for each in alerts_.receipts())
    assert amidst, "kills must fall between raising and delivering"

    def delivered() -> bool:
        once(database, feed, PATIENT)
        with kept(database) as alerts_:
            return all(each.delivered_at_us for each in alerts_.receipts())

    until(delivered)
    with kept(database) as alerts_:
        payouts = {r.alert_id for r in alerts_.receipts() if r.alert_id.startswith("payout:")}
    assert len(payouts) == len(rows)
    assert {each.id for each in on_topic(feed)} >= payouts


def publish_all(database: Database, kafka: Connection) -> None:
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=20, spoken=VIEWS)


@pytest.mark.long
def test_a_record_that_cannot_be_read_is_a_dead_letter_and_the_rest_goes_on(
    database: Database, feed: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = record(database, [paid(2_000_000, 1), paid(3_000_000, 2), paid(4_000_000, 3)])
    sent = of_rows(rows)
    sent[1] = ProducerRecord(sent[1].key, b"{nonsense", [("x", b"y")])
    publish(database, feed, sent, 0)
    monkeypatch.setattr(process, "PAUSE_S", 0.01)
    broken = conditions.of_record

    def fails(read: Read, settings: Settings, rulings: Rulings) -> list[Alert]:
        if b"4000000" in (read.record.value or b""):
            raise ZeroDivisionError("a fault of ours")
        return broken(read, settings, rulings)

    monkeypatch.setattr(conditions, "of_record", fails)
    tally = once(database, feed, PATIENT)
    assert (tally.read, tally.raised, tally.dead, tally.letters) == (3, 2, 2, 2)
    monkeypatch.undo()
    with dead_letters(feed, DEAD) as letters:
        dead = list(letters)
    of_facts = feed.named(topics.FACTS)
    assert [each.original.record.value for each in dead if each.original.topic == of_facts]
    assert sorted(each.tries for each in dead) == [1, 3], "what is unreadable stays so"
    unread = next(each for each in dead if each.original.record.value == b"{nonsense")
    assert "ce_" not in unread.reason
    assert "UnreadableError" in unread.reason
    assert (unread.tries, unread.original.record.headers) == (1, (("x", b"y"),))
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(feed),
        )
    )
    listed = cli("dlq", "list", "--json")
    assert listed.code == 1
    assert len(listed.json) == 2
    shown = cli("dlq", "show", str(listed.json[0]["place"]), "--json").json[0]
    assert shown["from"].startswith(feed.named(topics.FACTS))
    told = cli("dlq", "replay", "--json")
    assert told.code == 1
    assert sorted(each["replayed"] for each in told.json) == [False, True]
    assert len(cli("dlq", "list", "--json").json) == 1
    assert len(cli("dlq", "list", "--all", "--json").json) == 2
    assert cli("dlq", "replay", "9@9").code == 2
    with kept(database) as alerts_:
        told_of = {each.alert_id.partition(":")[0] for each in alerts_.receipts()}
        assert told_of == {"payout", "dead_letters"}


@pytest.mark.long
def test_without_a_dead_letter_topic_one_bad_record_would_stop_all_alerts(
    database: Database, feed: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: what comes after it is never delivered."""
    rows = record(database, [paid(2_000_000, 1), paid(3_000_000, 2)])
    sent = of_rows(rows)
    sent[0] = ProducerRecord(sent[0].key, b"{nonsense", [("x", b"y")])
    publish(database, feed, sent, 0)
    monkeypatch.setattr(process, "_handled", lambda service, _publisher, read: service.handle(read))
    with pytest.raises(ValueError, match="missing"):
        once(database, feed, PATIENT)
    with kept(database) as alerts_:
        assert alerts_.receipts() == []


@pytest.mark.long
def test_the_command_raises_alerts_and_says_how_many(
    database: Database, feed: Connection, tmp_path: Path
) -> None:
    rows = record(database, [paid(2_000_000)])
    publish(database, feed, of_rows(rows), 0)
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(feed),
            ROUND_LEDGER_ALERT_PAYOUT_CENTS="2000000",
            ROUND_LEDGER_ALERT_LAG_S=str(LAG_S.of(PATIENT)),
        )
    )
    ran = cli("consume", "alerts", "--json")
    assert ran.code == 0, ran.err
    told = {"read": 1, "raised": 1, "dead": 0, "too_old": 0, "delivered": 2, "failed": 0}
    assert ran.json[0] == told
    assert '"kind":"payout"' in ran.err
    assert parking.shown(database) == []
