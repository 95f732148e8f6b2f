"""The dashboard and the runbook speak of what there is, and of all of it."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from consumers.alerts.conditions import of_state
from consumers.alerts.kinds.views import LAG_RECORDS
from consumers.alerts.metrics import AlertMetrics
from consumers.alerts.process import Tally
from consumers.alerts.snapshot import Snapshot
from consumers.registry import install
from consumers.relay.metrics import RelayMetrics
from consumers.runtime.metrics import ConsumerMetrics
from consumers.runtime.source import Batch
from infra.kafka import topics
from infra.metrics import STUCK_S_MAX
from infra.postgres import relay_progress
from infra.postgres.tape import PostgresTape
from infra.settings import load
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from infra.postgres.connection import Database

ROOT = Path(__file__).parents[3]
EDGE = {"round_ledger_received_total", "round_ledger_facts_total"}
"""Reported by the HTTP edge, tested there."""


def told(database: Database) -> set[str]:
    """The names of all figures that consumers tell."""
    rows = record(database, day(1))
    install(database)
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        relay_store.move(topics.FACTS, 0, 1)
    relay_progress.failed(database, "KafkaTimeoutError")
    watch = ConsumerMetrics(database, feed=True)
    watch.moved("drop", Batch(rows[:2]))
    watch.fenced("drop")
    relay = RelayMetrics()
    relay.passed(topics.FACTS, 1)
    pages = watch.page() + AlertMetrics(database).page() + relay.page()
    families = text_string_to_metric_families(pages.decode())
    return {sample.name for family in families for sample in family.samples}


def test_every_figure_of_the_dashboard_is_told_and_every_one_told_is_on_it(
    database: Database,
) -> None:
    dashboard = json.loads((ROOT / "infra/grafana/round-ledger.json").read_text())
    shown = {
        name
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
        for name in re.findall(r"round_ledger_\w+", target["expr"])
    }
    names = {name for name in told(database) if not name.endswith("_created")}
    assert shown - EDGE == names


def test_a_process_that_does_not_come_round_says_so(database: Database) -> None:
    for watch in (ConsumerMetrics(database, feed=True), AlertMetrics(database)):
        assert watch.alive() is None
        asked = watch.heartbeat(lambda: False)
        watch.ticked_at = time.monotonic() - STUCK_S_MAX - 1
        assert "has stood still" in (watch.alive() or "")
        assert not asked()
        assert watch.alive() is None


def test_a_process_is_ready_from_the_first_answer_on_until_answers_are_too_old(
    database: Database,
) -> None:
    feed, tape = (ConsumerMetrics(database, feed=each, ready_s=5) for each in (True, False))
    alerts = AlertMetrics(database, ready_s=5)
    for watch, told in ((feed, feed.figures), (tape, tape.figures), (alerts, alerts.tally)):
        assert "has answered yet" in (watch.ready() or ""), "it was only started"
        told.answered_at = time.monotonic()
        assert watch.ready() is None
        told.answered_at = time.monotonic() - 6
        assert "has answered for 6 s" in (watch.ready() or "")
        assert watch.alive() is None, "a restart would not bring the brokers back"
    feed.lost("PostgreSQL is away")
    assert (feed.ready() or "").endswith("for 6 s: PostgreSQL is away")
    feed.read()
    assert (feed.ready() or "").endswith("for 6 s"), "the library reads nothing without a broker"
    tape.read()
    assert tape.ready() is None


@pytest.mark.parametrize("step_s", [-3_600.0, 3_600.0])
def test_how_long_brokers_are_silent_is_told_by_a_clock_that_nobody_sets(
    database: Database, monkeypatch: pytest.MonkeyPatch, step_s: float
) -> None:
    feed, alerts = ConsumerMetrics(database, feed=True), AlertMetrics(database)
    wall, steady, later_s = time.time, time.monotonic, 5.0
    monkeypatch.setattr("time.time", lambda: wall() + step_s)
    monkeypatch.setattr("time.monotonic", lambda: steady() + later_s)
    assert 5 <= silent_s(feed, "feed") < 60, "no broker has answered since it began"
    assert 5 <= silent_s(alerts, "alerts") < 60
    feed.figures.answered_at = alerts.tally.answered_at = time.monotonic()
    later_s += 20
    assert 20 <= silent_s(feed, "feed") < 60
    assert 20 <= silent_s(alerts, "alerts") < 60


def silent_s(watch: ConsumerMetrics | AlertMetrics, who: str) -> float:
    name = f"round_ledger_{who}_silent_seconds"
    told = text_string_to_metric_families(watch.page().decode())
    return next(each.samples[0].value for each in told if each.name == name)


def test_what_waits_for_a_topic_is_told_in_records_and_in_seconds(database: Database) -> None:
    record(database, day(1))
    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        relay_store.move(topics.FACTS, 0, 1)
        first = {each.topic: each for each in relay_progress.waiting(database)}[topics.FACTS]

        def later() -> relay_progress.Waiting:
            return {each.topic: each for each in relay_progress.waiting(database)}[topics.FACTS]

        until(lambda: later().since_us - first.since_us >= 20_000)
        assert first.records == later().records > 0
        relay_store.move(topics.FACTS, 1, 1 + first.records)
        at_end = {each.topic: each for each in relay_progress.waiting(database)}[topics.FACTS]
    assert (at_end.records, at_end.since_us) == (0, 0)


def test_what_was_set_aside_is_told_by_its_verdict(database: Database) -> None:
    facts = day(1)
    record(database, facts)
    with PostgresTape(database) as tape:
        tape.append([facts[0]._replace(data=b"{}")])
    page = ConsumerMetrics(database, feed=True).page().decode()
    assert 'round_ledger_quarantine_inputs_total{verdict="equivocation"} 1.0' in page
    assert 'round_ledger_quarantine_inputs_total{verdict="quarantined"} 0.0' in page


def test_what_only_grows_is_a_counter_and_what_stands_is_a_gauge(database: Database) -> None:
    install(database)
    alerts = AlertMetrics(database)
    alerts.take(Tally(read=9, raised=3, delivered=2, failed=1, dead=4, too_old=6, lag=7, letters=5))
    page = (ConsumerMetrics(database, feed=True).page() + alerts.page()).decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\w+)$", page, re.MULTILINE))
    named = {name for name in kinds if name.endswith("_total")}
    assert {name for name, kind in kinds.items() if kind == "counter"} == named
    grow = {"read": 9, "raised": 3, "delivered": 2, "failed": 1, "dead": 4, "too_old": 6}
    stand = {"lag": 7, "letters": 5}
    for name, figure in grow.items():
        assert f"round_ledger_alerts_{name}_total {figure}.0" in page.splitlines()
        assert f"round_ledger_alerts_{name}_total" in named
    for name, figure in stand.items():
        assert f"round_ledger_alerts_{name} {figure}.0" in page.splitlines()
        assert kinds[f"round_ledger_alerts_{name}"] == "gauge"
    assert "round_ledger_quarantine_inputs_total" in named


def test_the_compose_file_asks_every_process_that_tells_of_itself_whether_it_is_ready() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    served = re.findall(r'command: \[.*"--port", "(\d+)"\]', text)
    asked = re.findall(r"http://127\.0\.0\.1:(?:\$\{HTTP_PORT:-)?(\d+)\}?/(\w+)", text)
    assert len(served) == 4
    assert sorted(asked) == [("8080", "readyz"), *((port, "readyz") for port in sorted(served))]
    table = (ROOT / "docs/runbook/upgrade.md").read_text()
    assert re.findall(r"\| (\d{4}) \|$", table, re.MULTILINE) == [
        "8080",
        "9101",
        "9102",
        "9103",
        "9104",
    ]


def test_no_page_promises_that_a_record_comes_once() -> None:
    """At least once, in order; what is counted is counted once because the record says so."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("*.json")]
    assert len(pages) > 50
    for page in pages:
        assert not re.search(r"exactly[ -]once", page.read_text(), re.IGNORECASE), page.name


def test_what_no_relay_ever_published_waits_too(database: Database) -> None:
    rows = record(database, day(1))
    (aside, facts) = (each for each in relay_progress.waiting(database) if not each.began)
    assert (facts.topic, facts.records) == (topics.FACTS, len(rows))
    assert facts.since_us > 0
    assert (aside.topic, aside.records, aside.since_us) == (topics.QUARANTINE, 0, 0)
    page = ConsumerMetrics(database, feed=True).page().decode()
    assert f'topic_behind_records{{topic="{topics.FACTS}"}} {len(rows)}.0' in page
    settings = dataclasses.replace(load({}), thresholds={LAG_RECORDS: 1})
    told = of_state(Snapshot(0, settings, waiting=[facts]))
    assert [each.alert.about for each in told] == [topics.FACTS]
