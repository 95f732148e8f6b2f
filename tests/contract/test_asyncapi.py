"""What the feed is described as is what is sent on it: every record fits its message.

The schemas are judged by `jsonschema`, the structure against the topics and facts that there are.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from consumers.alerts.alert import Alert
from consumers.alerts.process import DEAD
from consumers.finance.sealed import seals
from consumers.finance.sealed.sealed_journal import ENTRIES, SealedEntry
from consumers.floor.table_board import Board
from consumers.money.drop import TableDay
from consumers.registry import VIEWS
from consumers.rulings import rulings
from consumers.rulings.finding_work import STATE
from consumers.runtime import outbox
from infra.kafka import records, topics, truncation
from infra.kafka.clients import Connection
from infra.kafka.consumer_group import Read
from infra.kafka.dead_letters import HEADERS, send_to_dead_letters
from infra.kafka.ports import Consumed
from infra.postgres.outbox import QueuedMessage
from ledger.adjudication.feed import adjudicate
from ledger.facts import FACTS, UPCASTERS
from ledger.finance.journal import Posting
from ledger.record.tape import GENESIS, InQuarantine, Received, TapeRow, chain_hash
from ledger.record.wire import parse_line
from ledger.rules.engine.ruling import Finding, Ruling
from ledger.simulate import deal, line, plan_of
from replay.docs import asyncapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.kafka.records import ProducerRecord
    from infra.postgres.view_tables import Row

DOCUMENT = "https://round-ledger.invalid/asyncapi.json"
NOW_US = 1_795_000_000_500_000
CLOSED = seals.SealedDayState(
    property="p",
    gaming_day="2026-11-20",
    version=2,
    sealed=False,
    digest="0" * 64,
    rules="1",
    report=2,
    by="F-1",
    second="F-2",
    because=None,
    despite="Lost.",
    reopened_by="F-3",
    reopened_second="F-4",
    reopened_because="Found.",
)
ENTRY = SealedEntry(
    property="p",
    gaming_day="2026-11-20",
    table="t",
    entry="sales",
    says="Chips sold",
    postings=[Posting("assets:tray:t", -5), Posting("assets:box:t:cash", 5)],
    balances=[],
    facts=[],
    version=2,
    digest="0" * 64,
)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return json.loads(asyncapi.page())


@pytest.fixture(scope="module")
def registry(document: dict[str, Any]) -> Registry[Any]:
    """The document alone, as a stranger has it."""
    return Registry().with_resource(DOCUMENT, Resource.from_contents(document, DRAFT202012))


def judge_by(registry: Registry[Any], schema: dict[str, Any], told: object) -> None:
    Draft202012Validator(schema, registry=registry).validate(told)


def judge(registry: Registry[Any], schema: dict[str, Any], told: object) -> None:
    whole = urljoin(DOCUMENT, schema["$ref"])
    judge_by(registry, {"$ref": whole}, told)


def fits(
    document: dict[str, Any], registry: Registry[Any], name: str, record: ProducerRecord
) -> None:
    """Hold a record's headers and value to a message."""
    message = document["components"]["messages"][name]
    judge(registry, message["headers"], {key: value.decode() for key, value in record.headers})
    value = None if record.value is None else json.loads(record.value)
    judge(registry, message["payload"]["schema"], value)
    assert dict(record.headers)["ce_type"].decode() == message["name"]
    judge_by(registry, message["bindings"]["kafka"]["key"], record.key.decode())


def row_of(received: Received, seq: int) -> TapeRow:
    bare = TapeRow(
        seq,
        received.tape,
        seq,
        *received[1:6],
        NOW_US,
        received.attributes,
        received.data,
        b"",
    )
    return bare._replace(hash=chain_hash(GENESIS, bare))


def row_of_ruling(ruling: Ruling, version: int) -> Row:
    """As the view keeps it."""
    times = NOW_US - 60_000_000, NOW_US
    return ("p", "t", "2026-11-20", 1, version, 17, *times, msgspec.json.encode(ruling).decode())


def told_of(which: int, row: Row) -> ProducerRecord:
    """The record that the view `rulings` publishes of a row."""
    (message,) = outbox.messages(rulings.VIEW.tells[which], [row])
    kept = QueuedMessage(1, 1, NOW_US, *message[1:])
    return records.of_message(message.topic, kept)


def test_every_topic_and_every_fact_is_described(document: dict[str, Any]) -> None:
    assert list(document["channels"]) == [topic.name for topic in topics.declared()]
    facts = document["channels"][topics.FACTS]["messages"]
    assert set(facts) == {*FACTS, *UPCASTERS}
    for channel in document["channels"].values():
        for each in channel["messages"].values():
            assert each["$ref"].rpartition("/")[2] in document["components"]["messages"]
    for topic in topics.declared():
        bound = document["channels"][topic.name]["bindings"]["kafka"]
        assert bound["partitions"] == topic.partitions


def references(told: object) -> Iterator[str]:
    """Every reference in the document."""
    if isinstance(told, dict):
        if isinstance(told.get("$ref"), str):
            yield told["$ref"]
        told = list(told.values())
    if isinstance(told, list):
        for each in told:
            yield from references(each)


def test_it_holds_all_that_it_refers_to(document: dict[str, Any]) -> None:
    found = set(references(document))
    assert len(found) > len(FACTS)
    for each in found:
        assert each.startswith("#/"), "away from the checkout there is nothing else"
        at: Any = document
        for part in each.removeprefix("#/").split("/"):
            at = at[part.replace("~1", "/").replace("~0", "~")]
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


_TEXTS = {"title", "summary", "description", "tags", "externalDocs", "bindings"}
FIELDS = {
    "document": {
        "asyncapi", "id", "info", "servers", "defaultContentType", "channels", "operations",
        "components",
    },
    "info": {"version", "termsOfService", "contact", "license", *_TEXTS} - {"summary", "bindings"},
    "server": {"host", "protocol", "protocolVersion", "pathname", "variables", "security", *_TEXTS},
    "variable": {"enum", "default", "description", "examples"},
    "channel": {"address", "messages", "servers", "parameters", *_TEXTS},
    "operation": {"action", "channel", "security", "traits", "messages", "reply", *_TEXTS},
    "message": {
        "headers", "payload", "correlationId", "contentType", "name", "examples", "traits", *_TEXTS,
    },
    "payload": {"schemaFormat", "schema"},
    "server binding": {"schemaRegistryUrl", "schemaRegistryVendor", "bindingVersion"},
    "channel binding": {
        "topic", "partitions", "replicas", "topicConfiguration", "bindingVersion",
    },
    "operation binding": {"groupId", "clientId", "bindingVersion"},
    "message binding": {
        "key", "schemaIdLocation", "schemaIdPayloadEncoding", "schemaLookupStrategy",
        "bindingVersion",
    },
}  # fmt: skip
"""The fields of each object, by AsyncAPI 3.0.0 and version 0.5.0 of its Kafka bindings.

Its own schema is not among the packages of the tests. The document was valid by the one of
`@asyncapi/specs` 6.11.1 on 2026-11-25.
"""


def objects(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of AsyncAPI's own in the document, with its kind."""
    yield from (("document", document), ("info", document["info"]))
    several = {
        "server": document["servers"],
        "channel": document["channels"],
        "operation": document["operations"],
        "message": document["components"]["messages"],
    }
    for kind, named in several.items():
        for each in named.values():
            yield kind, each
            yield from (("variable", told) for told in each.get("variables", {}).values())
            yield from [("payload", each["payload"])] if "schema" in each.get("payload", ()) else []
            assert set(each.get("bindings", ())) <= {"kafka"}
            if "bindings" in each:
                yield f"{kind} binding", each["bindings"]["kafka"]


def test_every_object_has_only_the_fields_that_asyncapi_names(document: dict[str, Any]) -> None:
    seen = set()
    for kind, told in objects(document):
        seen.add(kind)
        assert set(told) <= FIELDS[kind], (kind, set(told) - FIELDS[kind])
        assert told.get("bindingVersion", "0.5.0") == "0.5.0"
    assert seen >= set(FIELDS) - {"operation binding"}
    assert document["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= set(document["info"])
    for each in document["operations"].values():
        assert each["action"] in ("send", "receive")
        channel = each["channel"]["$ref"].removeprefix("#/channels/")
        assert channel in document["channels"]
        for told in each.get("messages", ()):
            assert told["$ref"].startswith(f"{each['channel']['$ref']}/messages/")


def test_servers_say_how_to_reach_the_brokers(document: dict[str, Any]) -> None:
    protocols = {each["protocol"] for each in document["servers"].values()}
    assert protocols == {"kafka", "kafka-secure"}
    for each in document["servers"].values():
        named = set(re.findall(r"{(\w+)}", each["host"]))
        assert named == set(each["variables"])


@pytest.mark.parametrize(
    ("topic", "good", "bad"),
    [
        (topics.FACTS, "hollywood/CC-07", "CC-07"),
        ("ledger.drop-totals.v1", "hollywood/CC-07/2026-11-20", "hollywood/CC-07"),
        (seals.SEALED_DAYS, "hollywood/2026-11-20", "hollywood/CC-07"),
        (ENTRIES, "hollywood/2026-11-20/CC-07/amends:/p/office/d:7", "hollywood/2026-11-20/CC-07"),
        (topics.QUARANTINE, "quarantine", "hollywood/CC-07"),
        (DEAD, None, 7),
    ],
)
def test_every_message_says_what_its_key_is(
    document: dict[str, Any], registry: Registry[Any], topic: str, good: object, bad: object
) -> None:
    for each in document["channels"][topic]["messages"].values():
        message = document["components"]["messages"][each["$ref"].rpartition("/")[2]]
        key = message["bindings"]["kafka"]["key"]
        judge_by(registry, key, good)
        with pytest.raises(ValidationError):
            judge_by(registry, key, bad)


def test_every_message_is_of_some_topic(document: dict[str, Any]) -> None:
    told = {name for channel in document["channels"].values() for name in channel["messages"]}
    assert told == set(document["components"]["messages"])


def test_dealt_facts_and_their_rulings_fit_as_they_are_sent(
    document: dict[str, Any], registry: Registry[Any]
) -> None:
    plan = plan_of(tables=3, minutes=6, seed=11)
    facts, _ = deal(plan)
    for number, fact in enumerate(facts, 1):
        received = parse_line(line(plan, fact))
        assert isinstance(received, Received)
        record = records.of_row(row_of(received, number), GENESIS)
        fits(document, registry, received.type, record)
    said = [each for each in adjudicate(facts) if isinstance(each, Ruling)]
    assert said
    for version, ruling in enumerate(said, 1):
        record = told_of(0, row_of_ruling(ruling, version))
        fits(document, registry, "round_adjudicated.v1", record)
        headers = dict(record.headers)
        assert headers["ce_property"] == b"p"
        assert headers["ce_gamingday"] == b"2026-11-20"
        assert headers["ce_roundstart"] < headers["ce_roundend"] == headers["ce_time"]


def test_a_finding_of_no_round_fits(document: dict[str, Any], registry: Registry[Any]) -> None:
    finding = msgspec.json.encode(Finding(code="stub_count_overdue", says="So.")).decode()
    row = (
        "p",
        "t",
        NOW_US,
        "/p/t/shoe",
        "9",
        0,
        "2026-11-20",
        "stub_count_overdue",
        finding,
        None,
        True,
        *(None for _ in STATE),
    )
    record = told_of(1, row)
    fits(document, registry, "round_adjudicated.v1.TableFindings", record)
    assert json.loads(record.value or b"")["fact"] == {"source": "/p/t/shoe", "id": "9"}
    no_day = told_of(1, (*row[:6], None, *row[7:]))
    fits(document, registry, "round_adjudicated.v1.TableFindings", no_day)
    assert "ce_gamingday" not in dict(no_day.headers)


def test_a_ruling_that_travels_cut_fits_as_such_and_not_as_a_whole_one(
    document: dict[str, Any], registry: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truncation, "VALUE_OCTETS_MAX", 100)
    facts, _ = deal(plan_of(tables=1, minutes=6, seed=11))
    for ruling in (each for each in adjudicate(facts) if isinstance(each, Ruling)):
        record = told_of(0, row_of_ruling(ruling, 1))
        fits(document, registry, "round_adjudicated.v1.CutRuling", record)
        with pytest.raises(ValidationError, match="settlements"):
            fits(document, registry, "round_adjudicated.v1", record)


@pytest.mark.parametrize(
    ("topic", "name", "told"),
    [
        ("ledger.drop-totals.v1", "drop_totalled.v1", TableDay("p", "t", "2026-11-20", cash=5)),
        ("ledger.table-state.v1", "table_stated.v1", Board("p", "t", open=True)),
        (seals.SEALED_DAYS, "sealed_day_stated.v1", CLOSED),
        (ENTRIES, "journal_entry_stated.v1", ENTRY),
        ("ledger.alerts.v1", "alert_raised.v1", Alert("i", "lag", "v", "s", 1, 2, NOW_US)),
    ],
)
def test_what_views_tell_fits(
    document: dict[str, Any], registry: Registry[Any], topic: str, name: str, told: object
) -> None:
    body = msgspec.json.encode(told).decode()
    key = {
        "ledger.drop-totals.v1": "p/t/2026-11-20",
        "ledger.table-state.v1": "p/t",
        seals.SEALED_DAYS: "p/2026-11-20",
        ENTRIES: "p/2026-11-20/t/sales",
    }.get(topic)
    kept = QueuedMessage(1, 1, NOW_US, key or "lag", body)
    fits(document, registry, name, records.of_message(topic, kept))


@pytest.mark.parametrize("name", ["drop_totalled.v1", "table_stated.v1", "sealed_day_stated.v1"])
def test_a_tombstone_fits_as_such_and_not_as_what_it_takes_back(
    document: dict[str, Any], registry: Registry[Any], name: str
) -> None:
    (topic,) = (
        each
        for each, channel in document["channels"].items()
        if f"{name}.Tombstone" in channel["messages"]
    )
    keys = {"drop_totalled.v1": "p/t/2026-11-20", "sealed_day_stated.v1": "p/2026-11-20"}
    key = keys.get(name, "p/t")
    record = records.of_message(topic, QueuedMessage(1, 1, NOW_US, key, None))
    fits(document, registry, f"{name}.Tombstone", record)
    with pytest.raises(ValidationError):
        fits(document, registry, name, record)


def test_exactly_what_is_told_on_compacted_topics_is_taken_back(document: dict[str, Any]) -> None:
    taken_back = {each.topic for view in VIEWS for each in view.tells if each.compacted}
    assert taken_back == {each.name for each in topics.declared() if each.is_compacted}
    for name, channel in document["channels"].items():
        tombstones = [each for each in channel["messages"] if each.endswith(".Tombstone")]
        assert bool(tombstones) == (name in taken_back)


def test_an_input_set_aside_fits(document: dict[str, Any], registry: Registry[Any]) -> None:
    row = InQuarantine(
        1, "quarantined", "malformed", "w", "w", "h", None, None, None, b"{", 1, 5, 5, None, None
    )
    fits(document, registry, "input_quarantined.v1", records.of_quarantined(row))


def test_a_record_that_is_none_of_it_does_not_fit(
    document: dict[str, Any], registry: Registry[Any]
) -> None:
    message = document["components"]["messages"]["wager_placed.v1"]
    with pytest.raises(ValidationError, match="amount"):
        judge(registry, message["payload"]["schema"], {"position": 1, "wager": "middle"})
    with pytest.raises(ValidationError, match="ledger_hash"):
        judge(registry, message["headers"], {"ce_id": "1"})


class Letterbox:
    """The topic of a dead letter."""

    def __init__(self) -> None:
        self.records: list[ProducerRecord] = []
        self.kafka = Connection("nobody:1")

    def publish(self, topic: str, partitions: int, sent: list[ProducerRecord]) -> None:
        assert topic == DEAD
        assert partitions
        self.records += sent


def test_a_letter_fits_whatever_it_is_of(document: dict[str, Any], registry: Registry[Any]) -> None:
    message = document["components"]["messages"]["dead_letter"]
    assert list(document["channels"][DEAD]["messages"]) == ["dead_letter"]
    kept = Letterbox()
    for value in (b"\xff no JSON", None):
        came = Consumed(0, 7, None, value, (("ce_type", b"odd"),))
        send_to_dead_letters(kept, DEAD, Read(topics.FACTS, came), "It is no fact", 3)  # type: ignore[arg-type]
    for record in kept.records:
        told = {name: octets.decode() for name, octets in record.headers}
        judge(registry, message["headers"], told)
        assert set(told) == {"ce_type", *HEADERS}
        with pytest.raises(ValidationError):
            judge(registry, message["headers"], {"ce_type": "odd"})
    assert message["contentType"] == "application/octet-stream"
