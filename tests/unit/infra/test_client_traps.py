"""What the client library would do by itself, and the settings against it.

Each of these was met: by default it loses, doubles or hides something.
"""

from __future__ import annotations

import ast
import re
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement

from infra.kafka import clients, consumer_group, reader
from infra.kafka.clients import Connection
from infra.kafka.library import KafkaError
from infra.kafka.publisher import WINDOW_OCTETS, Publisher, SendWindow, window_of
from infra.kafka.records import ProducerRecord
from ledger.errors import Unavailable
from tests.simulation.broker import Taken

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[3]
PACKAGES = ("ledger", "consumers", "infra", "replay")
WHERE = Connection("127.0.0.1:1")
RECORDS = [ProducerRecord(b"hollywood/CC-07", b"{}", [("ce_id", b"%d" % n)]) for n in range(5)]


class Producer:
    """The library's producer, as far as a publisher uses it."""

    def __init__(self, **options: object) -> None:
        self.options = options
        self.fails: int | None = None
        self.done: list[tuple[str, Any]] = []
        self._sender = self

    def send(self, _: str, **more: object) -> Future:
        self.done.append(("send", more))
        return Future(self, len(self.done) - 1)

    def flush(self, timeout: float) -> None:
        self.done.append(("flush", timeout))

    def force_close(self) -> None:
        self.done.append(("force_close", None))

    def close(self, timeout: float) -> None:
        self.done.append(("close", timeout))

    @property
    def order(self) -> list[str]:
        return [name for name, _ in self.done]


class Future:
    def __init__(self, of: Producer, number: int) -> None:
        self.of = of
        self.number = number

    def get(self, timeout: float) -> Taken:
        self.of.done.append(("get", timeout))
        if self.number == self.of.fails:
            raise KafkaError("lost")
        return Taken()


def test_idempotence_is_asked_for_with_nothing_that_would_switch_it_off_silently() -> None:
    made = Publisher(WHERE, made=Producer)._producer.options
    assert made["enable_idempotence"] is True
    assert (made["acks"], made["retries"]) == ("all", float("inf"))
    assert made["max_in_flight_requests_per_connection"] == 1
    assert made["delivery_timeout_ms"] == 2**31 - 1, "where it ends, the producer hangs for ever"
    assert made["allow_auto_create_topics"] is False
    assert "api_version" not in made, "what a broker can do is asked of it"


def test_all_is_sent_before_anything_is_waited_for_and_every_future_is_looked_at() -> None:
    with Publisher(WHERE, made=Producer) as publisher:
        publisher.publish("t", 24, RECORDS)
        assert publisher._producer.order == ["send"] * 5 + ["flush"] + ["get"] * 5


def test_a_record_that_only_its_future_knows_is_lost_fails_the_window_and_the_producer() -> None:
    producer = Producer()
    producer.fails = 3

    def publish() -> None:
        with Publisher(WHERE, made=lambda **_: producer) as publisher:
            publisher.publish("t", 24, RECORDS)

    with pytest.raises(Unavailable):
        publish()
    assert producer.order[-2:] == ["force_close", "close"], "closing would wait for it for ever"


def test_a_record_carries_no_time_of_its_own_and_octets_only() -> None:
    with Publisher(WHERE, made=Producer) as publisher:
        publisher.publish("t", 24, RECORDS[:1])
        sent = publisher._producer.done[0][1]
    assert sent.keys() == {"key", "value", "headers", "partition"}, "retention goes by the time"
    assert isinstance(sent["key"], bytes)
    assert all(type(each) is tuple and isinstance(each[1], bytes) for each in sent["headers"])


def test_what_is_under_way_is_bounded_here_since_the_library_knows_no_bound() -> None:
    half = ProducerRecord(b"k", b"x" * (WINDOW_OCTETS // 2), [])
    more = ProducerRecord(b"k", b"x" * (WINDOW_OCTETS // 2 + 1), [])
    assert window_of(enumerate([half] * 3, 7)) == SendWindow([half] * 2, 8)
    assert window_of(enumerate([half, more, half], 7)) == SendWindow([half], 7)
    alone = ProducerRecord(b"k", b"x" * (WINDOW_OCTETS + 1), [])
    assert window_of([(7, alone), (8, half)]) == SendWindow([alone], 7), (
        "else nothing ever goes out"
    )
    assert window_of([]) is None


@pytest.mark.parametrize(("module", "reset"), [(reader, "none"), (consumer_group, "earliest")])
def test_no_consumer_jumps_commits_by_itself_or_makes_topics(
    module: ModuleType, reset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}

    def consumer(*_: str, **options: object) -> None:
        made.update(options)
        raise KafkaError("no broker")

    monkeypatch.setattr(module, "KafkaConsumer", consumer)
    monkeypatch.setattr(clients, "answering", lambda *_, **__: [WHERE.bootstrap])
    opened = {
        reader: lambda: reader.reader(WHERE, "t"),
        consumer_group: lambda: consumer_group.member(WHERE, "g", ["t"]),
    }[module]
    with suppress(Unavailable), opened():
        pass
    assert made["auto_offset_reset"] == reset
    assert made["enable_auto_commit"] is False
    assert made["allow_auto_create_topics"] is False
    assert made["check_crcs"] is True
    assert "api_version" not in made
    assert bool(made["group_id"]) is (module is consumer_group), "what counts money is in no group"


def test_every_topic_keeps_the_brokers_time_and_elects_no_unclean_leader() -> None:
    told = tomllib.loads((files("infra.kafka") / "topics.toml").read_text())
    assert told["every"]["message.timestamp.type"] == "LogAppendTime"
    assert told["every"]["unclean.leader.election.enable"] is False
    own = [name for topic in told["topic"] for name in topic.get("settings", ())]
    assert not set(own) & set(told["every"])


def test_the_library_is_the_one_that_was_tried_with_its_checksums_in_c() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    server = map(Requirement, project["optional-dependencies"]["server"])
    (wanted,) = [each for each in server if each.name == "kafka-python"]
    assert wanted.specifier.contains(version("kafka-python"))
    for other in ("2.3.1", "3.0.8", "3.0.11", "3.1.0"):
        assert not wanted.specifier.contains(other), "older ones lose records, newer ones are new"
    assert wanted.extras == {"crc32c", "zstd"}
    assert find_spec("crc32c"), "three times the processor without it"
    assert find_spec("zstandard")
    with pytest.raises(PackageNotFoundError):
        version("kafka-python-ng")  # it overwrites the same package


def test_nothing_is_done_while_a_group_is_shared_out_again() -> None:
    """Listeners run on the library's own thread, where a question hangs and heartbeats wait."""
    texts = {path.name: path.read_text() for path in (ROOT / "infra" / "kafka").glob("*.py")}
    assert "partial(KafkaConsumer," in texts["consumer_group.py"], (
        "the control: groups are joined here"
    )
    for name, text in texts.items():
        assert "RebalanceListener" not in text, name
        assert ".subscribe(" not in text, name


def test_nothing_of_ours_forks_since_a_client_does_not_outlive_it() -> None:
    """A fork has the client and not its threads: what it sends waits for ever."""
    seen = set()
    for path in [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]:
        where, text = path.relative_to(ROOT).as_posix(), path.read_text()
        if not re.search("multiprocessing|get_context|ProcessPoolExecutor|fork", text):
            continue  # most of the work is to parse
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.ImportFrom(module="multiprocessing", names=names):
                    assert {each.name for each in names} <= {"get_context", "parent_process"}, where
                case ast.Import(names=names):
                    assert not any(each.name.startswith("multiprocessing") for each in names), where
                case ast.Call(func=ast.Name("get_context"), args=args):
                    assert [ast.literal_eval(each) for each in args] == ["spawn"], where
                    seen.add(where)
                case ast.Call(func=ast.Name("ProcessPoolExecutor"), keywords=given):
                    assert "mp_context" in {each.arg for each in given}, where
                case ast.Attribute(attr="fork" | "forkpty"):
                    raise AssertionError(where)
    assert "consumers/parallel_rebuild.py" in seen, "the control: what is looked for is found"
