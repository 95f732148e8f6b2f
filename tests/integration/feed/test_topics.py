"""The feed's topics on a real Kafka: made once, never changed, and every drift reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.kafka import topics
from infra.kafka.clients import Connection, administrator, cluster, connection
from infra.settings import load
from ledger.errors import Unavailable, Usage
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import Cluster, reached
from tests.suite.budget import cases
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

FACTS = topics.topic(topics.FACTS)


def test_applying_makes_every_topic_once_and_checking_finds_nothing(bare_kafka: Connection) -> None:
    assert topics.apply(bare_kafka) == [each.name for each in topics.declared()]
    assert topics.apply(bare_kafka) == []
    assert topics.differences(bare_kafka) == []


def test_what_lacks_is_told_and_nothing_is_made_by_looking(bare_kafka: Connection) -> None:
    told = topics.differences(bare_kafka)
    assert {each.topic for each in told} == {each.name for each in topics.declared()}
    assert {each.found for each in told} == {None}
    assert topics.differences(bare_kafka) == told


@pytest.mark.parametrize(
    ("drifted", "what", "found"),
    cases(
        [
            ({"num_partitions": 6}, "partitions", "6"),
            ({"configs": {"retention.ms": "60000"}}, "retention.ms", "60000"),
        ],
        [
            ({"configs": {"cleanup.policy": "compact"}}, "cleanup.policy", "compact"),
            (
                {"configs": {"message.timestamp.type": "CreateTime"}},
                "message.timestamp.type",
                "CreateTime",
            ),
        ],
    ),
)
def test_drift_is_an_error_that_says_what_differs_and_is_left_alone(
    bare_kafka: Connection, drifted: dict[str, object], what: str, found: str
) -> None:
    with administrator(bare_kafka) as admin:
        made = {"num_partitions": FACTS.partitions, "replication_factor": 1} | drifted
        made["configs"] = FACTS.settings | made.get("configs", {})
        admin.create_topics({bare_kafka.named(FACTS.name): made}, wait_for_metadata=True)
    topics.apply(bare_kafka, [FACTS])
    told = [each for each in topics.differences(bare_kafka, [FACTS]) if each.what == what]
    assert [(each.topic, each.found) for each in told] == [(FACTS.name, found)]


def test_a_topic_of_another_number_of_partitions_is_never_written_to(
    bare_kafka: Connection,
) -> None:
    with administrator(bare_kafka) as admin:
        six = {bare_kafka.named(FACTS.name): {"num_partitions": 6}}
        admin.create_topics(six, wait_for_metadata=True)
    with pytest.raises(Unavailable, match="has 6 partitions, not 24"):
        topics.require(bare_kafka, FACTS.name)


def copies(kafka: Connection, name: str) -> set[int]:
    """On how many brokers each partition of a topic is kept."""
    with administrator(kafka) as admin:
        told = admin.describe_topics([name])[0]["partitions"]
    return {len(each["replica_nodes"]) for each in told}


def living(kafka: Connection) -> tuple[int, ...]:
    """As the cluster reports; all while it sends us to one that has just died."""
    try:
        return cluster(kafka).brokers
    except Unavailable:
        return (1, 2, 3)


@pytest.mark.long
def test_while_one_of_three_brokers_is_down_nothing_drifts_and_topics_are_kept_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = topics.declared()[:3]
    three = Cluster(tmp_path / "kafka", 3)
    try:
        where = three.connection
        topics.apply(where, [first])
        node = three.nodes.nodes[1]
        three.kill(node)
        until(lambda: node.id not in living(where))
        assert cluster(where).registered == (1, 2, 3)
        assert topics.differences(where, [first]) == []
        assert topics.apply(where, [second]) == [second.name]
        assert topics.differences(where, [first, second]) == []
        assert copies(where, second.name) == {3}
        with (
            monkeypatch.context() as control
        ):  # the control: an outage taken for how many there are
            control.setattr(topics, "replication", lambda where: len(cluster(where).brokers))
            assert "replication" in {each.what for each in topics.differences(where, [first])}
            topics.apply(where, [third])
        assert copies(where, third.name) == {2}
        three.start(node)
        three.wait()
        told = topics.differences(where, [first, second, third])
        assert {each.topic for each in told} == {third.name}
    finally:
        three.close()


@pytest.mark.long
def test_the_command_ends_with_0_where_all_is_as_declared_and_with_1_where_not(
    bare_kafka: Connection, tmp_path: Path
) -> None:
    cli = Cli(environ(tmp_path, **reached(bare_kafka)))
    before = cli("topics", "check", "--json")
    assert before.code == 1
    assert {each["found"] for each in before.json} == {None}
    assert "round-ledger topics apply" in before.err
    assert cli("topics", "apply").code == 0
    after = cli("topics", "check", "--json")
    assert (after.code, after.out) == (0, "")


def test_no_kafka_is_exit_code_3_and_says_where_it_was_looked_for(tmp_path: Path) -> None:
    cli = Cli(environ(tmp_path, ROUND_LEDGER_KAFKA_BOOTSTRAP="127.0.0.1:9"))
    ran = cli("topics", "check")
    assert ran.code == 3
    assert "127.0.0.1:9" in ran.err
    assert "Traceback" not in ran.err


def test_settings_that_do_not_fit_together_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(Usage, match="not a security protocol"):
        connection(load({"ROUND_LEDGER_KAFKA_SECURITY": "TLS"}))
    with pytest.raises(Usage, match="No user is set"):
        connection(load({"ROUND_LEDGER_KAFKA_SECURITY": "SASL_SSL"}))
    lacking = load(
        {
            "ROUND_LEDGER_KAFKA_SECURITY": "SASL_SSL",
            "ROUND_LEDGER_KAFKA_USER": "relay",
            "ROUND_LEDGER_KAFKA_PASSWORD_FILE": "/no/such/file",
        }
    )
    with pytest.raises(Usage, match="cannot be read"):
        connection(lacking).options()
