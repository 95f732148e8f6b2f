"""A ruling that no record can hold travels cut, and stops neither its topic nor the others."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.alerts import process
from consumers.alerts.kinds.rulings import DIFFERENCE
from consumers.alerts.kinds.views import LAG_S
from consumers.alerts.process import run
from consumers.registry import VIEWS, install
from consumers.relay.relay import relay
from consumers.rulings.rulings import ADJUDICATIONS
from infra.kafka import topics, truncation
from infra.kafka.reader import reader
from infra.postgres.alerts import Alerts
from infra.postgres.outbox import Message
from infra.postgres.view_tables import LIVE, ViewStore, writing
from infra.settings import load
from ledger.errors import Unavailable
from ledger.rules.engine.ruling import Finding, Ruling, Settlement
from tests.fixtures.kafka import made_anew
from tests.scenes.feed_faults import from_feed
from tests.scenes.view_feeds import day, record

if TYPE_CHECKING:
    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

KEY = "hollywood/BC-01"
BOARDS = "ledger.table-state.v1"


@pytest.fixture
def feed(kafka: Connection) -> Connection:
    """A Kafka with every topic."""
    topics.apply(kafka, topics.declared())
    return kafka


def told(wagers: int) -> str:
    """A ruling of this many wagers, each paid a dollar too little, as its view publishes it."""
    settled = [
        Settlement(
            position=1 + n % 12, wager=f"w{n}", stake=500, outcome="win", net=600,
            exact_net="600", section="537a.7",
        )
        for n in range(wagers)
    ]  # fmt: skip
    found = [
        Finding(code="underpaid", wager=f"w{n}", expected=600, recorded=500, says="Short.")
        for n in range(wagers)
    ]
    ruling = Ruling(
        round="BC-01/2026-11-20/9", property="hollywood", game="bonus_craps", edition="537a",
        status="complete", settlements=settled, findings=found, awaiting=None,
    )  # fmt: skip
    return f'{{"version":1,{msgspec.json.encode(ruling).decode()[1:]}'


def publish_all(database: Database, kafka: Connection) -> None:
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=20, spoken=VIEWS)


def leave(database: Database, *messages: Message) -> None:
    """Leave messages as a view does."""
    with writing(database, LIVE) as connection:
        ViewStore(connection, LIVE).enqueue(7, messages)


def on(kafka: Connection, topic: str) -> list[dict[str, Any]]:
    with reader(kafka, topic) as source:
        read = [each for batch in source.read(source.bounds()) for each in batch]
    return [json.loads(each.value or b"") for each in read]


def begun(database: Database, kafka: Connection) -> None:
    """A relay that has run, and what views left since: a ruling too large, and what comes after."""
    install(database)
    publish_all(database, kafka)
    large = told(4_000)
    assert len(large) > 1_048_576
    leave(
        database,
        Message(ADJUDICATIONS, KEY, large),
        Message(ADJUDICATIONS, KEY, told(2)),
        Message(BOARDS, KEY, '{"property":"hollywood","table":"BC-01"}'),
    )


@pytest.mark.long
def test_a_ruling_that_no_record_can_hold_travels_cut_and_what_comes_after_it_too(
    database: Database, feed: Connection
) -> None:
    begun(database, feed)
    publish_all(database, feed)
    cut, whole = on(feed, ADJUDICATIONS)
    assert whole == json.loads(told(2))
    assert cut == {
        "cut": True,
        "version": 1,
        "round": "BC-01/2026-11-20/9",
        "property": "hollywood",
        "game": "bonus_craps",
        "edition": "537a",
        "edition_note": None,
        "status": "complete",
        "awaiting": None,
        "next": None,
        "before": None,
        "left_out": {"settlements": 4_000, "findings": 4_000},
    }
    assert len(on(feed, BOARDS)) == 1


@pytest.mark.long
def test_sent_whole_it_would_stop_its_topic_and_those_after_it_for_good(
    database: Database, feed: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: every relay ends at the same message."""
    begun(database, feed)
    monkeypatch.setattr(truncation, "VALUE_OCTETS_MAX", 2**40)
    for _ in range(2):
        with pytest.raises(Unavailable, match="MessageSizeTooLarge"):
            publish_all(database, feed)
    assert on(feed, ADJUDICATIONS) == []


def raised(database: Database, kafka: Connection) -> set[str]:
    """The findings that alerts are raised of, however little money they are about."""
    settings = dataclasses.replace(load({}), thresholds={DIFFERENCE: 1, LAG_S: 10**9})
    tally = run(database, kafka, settings, stop=lambda: False, follow=False)
    assert tally.dead == 0
    with database.connect("ledger_projector") as connection:
        told = {each.alert_id for each in Alerts(database, connection).receipts()}
    return {each for each in told if each.startswith(("finding:", "procedure:"))}


@pytest.mark.long
def test_findings_of_rulings_that_travel_cut_are_told_from_the_view(
    database: Database, feed: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(database, day(8))
    install(database)
    publish_all(database, feed)
    monkeypatch.setattr(truncation, "VALUE_OCTETS_MAX", 2_000)
    from_feed(database, feed)
    publish_all(database, feed)
    of_rounds = [each for each in on(feed, ADJUDICATIONS) if each["round"]]
    cut = [each for each in of_rounds if each.get("cut")]
    assert sum(each["left_out"]["findings"] for each in cut) > 0
    found = raised(database, feed)
    monkeypatch.setattr(process, "GROUP", "round-ledger.alerts.control")
    with database.connect("ledger_owner") as connection:
        connection.execute("TRUNCATE views.alerts CASCADE")
    made_anew(feed, [ADJUDICATIONS])
    monkeypatch.setattr(truncation, "VALUE_OCTETS_MAX", 900_000)
    publish_all(database, feed)
    assert not any(each.get("cut") for each in on(feed, ADJUDICATIONS))
    assert found
    assert found == raised(database, feed)
