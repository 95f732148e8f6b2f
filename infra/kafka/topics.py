"""The feed's topics, as `infra/kafka/topics.toml` declares them: created once, then checked.

This module uses declared names; `Connection.named` gives the name on the cluster.

An existing topic is never changed. Differences are reported for an operator to decide: a new
partition count moves tables to other partitions, and a new retention may delete records.
"""

from __future__ import annotations

import time
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka.clients import administrator, cluster
from infra.kafka.library import (
    ConfigResource,
    ConfigResourceType,
    MetadataRequest,
    TopicAlreadyExistsError,
)
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.kafka.clients import Connection

REPLICATION_MAX = 3
"""Replicas of each record, if the cluster has that many brokers, up or down."""

KNOWN_S_MAX = 60.0
"""How long brokers may take to learn of a new topic, seconds."""

_LOOK_S = 0.1

FACTS = "ledger.table-events.v1"
QUARANTINE = "ledger.quarantine.v1"

_DAY_MS = 86_400_000


class Topic(NamedTuple):
    """One topic, as declared."""

    name: str
    says: str
    key: str  # the pattern of its records' keys
    partitions: int
    settings: dict[str, str]

    @property
    def is_compacted(self) -> bool:
        """Whether brokers keep only the newest record of each key, and tombstones delete a key."""
        return "compact" in self.settings["cleanup.policy"].split(",")


class Difference(NamedTuple):
    """One difference between the cluster and the declaration."""

    topic: str
    what: str  # "partitions", "replication", or a setting's name; "topic" if it is missing
    declared: str
    found: str | None  # None if the topic does not exist


@cache
def declared() -> tuple[Topic, ...]:
    """All topics of the feed."""
    told = tomllib.loads((files("infra.kafka") / "topics.toml").read_text())
    every = {name: _text(value) for name, value in told["every"].items()}
    return tuple(
        Topic(
            each["name"],
            each["says"],
            each["key"],
            each["partitions"],
            every
            | {
                "cleanup.policy": each.get("cleanup", "delete"),
                "retention.ms": str(each.get("retention_days", 7) * _DAY_MS),
            },
        )
        for each in told["topic"]
    )


def topic(name: str) -> Topic:
    """A declared topic by name."""
    return next(each for each in declared() if each.name == name)


def replication(kafka: Connection) -> int:
    """The replication factor for this cluster; a broker that is down is counted too.

    A topic created during an outage thus gets as many replicas as any other.
    """
    return min(REPLICATION_MAX, len(cluster(kafka).registered))


def apply(kafka: Connection, topics: Sequence[Topic] | None = None) -> list[str]:
    """Create the topics that do not exist; returns their names. Others are not changed.

    Several processes may do so at once. Raises `Unavailable`.
    """
    copies = replication(kafka)
    with administrator(kafka) as admin:
        there = set(admin.list_topics())
        made = []
        for each in topics or declared():
            if kafka.named(each.name) in there:
                continue
            options = {
                "num_partitions": each.partitions,
                "replication_factor": copies,
                "configs": _settings(each, copies),
            }
            try:
                admin.create_topics({kafka.named(each.name): options})
            except TopicAlreadyExistsError:
                continue  # another process was first
            made.append(each.name)
        if made:
            names = [kafka.named(name) for name in made]
            admin.wait_for_topics(names, timeout_ms=int(KNOWN_S_MAX * 1000))
            _wait_for_every_node(kafka, admin, names)
    return made


def _wait_for_every_node(kafka: Connection, admin: Any, names: Sequence[str]) -> None:  # noqa: ANN401 - the library is not typed
    """Return when every living broker knows these topics; they learn of them one by one.

    The library has no public call that asks one given broker.
    """
    manager = admin._manager  # noqa: SLF001 - as said
    topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    until = time.monotonic() + KNOWN_S_MAX
    left = set(cluster(kafka).brokers)
    while left:
        for node in sorted(left):
            told = manager.run(manager.send, request, node)
            if not any(each.error_code for each in told.topics):
                left.discard(node)
        if left and time.monotonic() > until:
            raise Unavailable(
                f"Brokers {', '.join(map(str, sorted(left)))} do not know the new topics yet",
                where=kafka.bootstrap,
                hint="The topics exist. Check that these brokers run, then run `topics check`.",
            )
        time.sleep(_LOOK_S if left else 0)


def differences(kafka: Connection, topics: Sequence[Topic] | None = None) -> list[Difference]:
    """The differences between the cluster and the declaration. Raises `Unavailable`."""
    wanted = topics or declared()
    copies = replication(kafka)
    with administrator(kafka) as admin:
        there = set(admin.list_topics())
        found = [each for each in wanted if kafka.named(each.name) in there]
        names = [kafka.named(each.name) for each in found]
        told = {kafka.declared(t["name"]): t for t in admin.describe_topics(names)}
        settings = {kafka.declared(n): s for n, s in _read_settings(admin, names).items()}
    lacking = [Difference(t.name, "topic", "exists", None) for t in wanted if t not in found]
    return lacking + [
        Difference(each.name, what, should, is_)
        for each in found
        for what, should, is_ in _compared(each, told[each.name], settings[each.name], copies)
        if should != is_
    ]


def require(kafka: Connection, name: str) -> int:
    """The number of partitions of a topic; raises `Unavailable` unless it is as declared."""
    each = topic(name)
    lacking = [d for d in differences(kafka, [each]) if d.what in ("topic", "partitions")]
    if lacking and lacking[0].found is None:
        raise Unavailable(
            f"Topic {kafka.named(name)} does not exist",
            where=kafka.bootstrap,
            hint="Run `round-ledger topics apply`.",
        )
    if lacking:
        raise Unavailable(
            f"Topic {kafka.named(name)} has {lacking[0].found} partitions, not"
            f" {lacking[0].declared}",
            where=kafka.bootstrap,
            hint="A partition count cannot be reduced. Delete the topic, run `round-ledger topics"
            " apply`, start the relay.",
        )
    return each.partitions


def _compared(
    each: Topic, told: dict[str, Any], settings: dict[str, str], copies: int
) -> list[tuple[str, str, str]]:
    kept = {len(partition["replica_nodes"]) for partition in told["partitions"]}
    return [
        ("partitions", str(each.partitions), str(len(told["partitions"]))),
        ("replication", str(copies), "/".join(str(number) for number in sorted(kept))),
        *(
            (name, should, settings.get(name, "not set"))
            for name, should in _settings(each, copies).items()
        ),
    ]


def _settings(each: Topic, copies: int) -> dict[str, str]:
    return each.settings | {"min.insync.replicas": str(max(1, copies - 1))}


def _read_settings(admin: Any, names: Sequence[str]) -> dict[str, dict[str, str]]:  # noqa: ANN401 - the library is not typed
    if not names:
        return {}
    asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    told = admin.describe_configs(asked, config_filter="all")
    return {
        name: {setting: entry["value"] for setting, entry in entries.items()}
        for name, entries in told["topic"].items()
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
