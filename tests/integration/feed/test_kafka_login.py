"""A Kafka of one's own, with TLS, SCRAM and rights: each login does its own work and no other's."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from consumers.alerts import process
from consumers.alerts.conditions import READS
from infra.kafka import topics
from infra.kafka.clients import Connection, administrator, cluster, connection
from infra.kafka.dead_letters import send_to_dead_letters
from infra.kafka.publisher import Publisher
from infra.kafka.records import ProducerRecord
from infra.settings import load
from ledger.errors import Unavailable
from tests.fixtures.cli import Cli, Ran, environ
from tests.fixtures.kafka import Cluster
from tests.scenes.alert_reads import fact_read, paid
from tests.scenes.feeding import fill, once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from infra.services.brokers import Node

PASSWORD = "not-a-real-one"  # noqa: S105 - of a broker that lives for one test
SECURED = {
    "listener.security.protocol.map": (
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,OUTSIDE:SASL_SSL,ASTRAY:PLAINTEXT"
    ),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:operator",  # the broker itself, and who makes the topics
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "listener.name.outside.scram-sha-512.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    "listener.name.outside.ssl.keystore.type": "PEM",
}

LOGINS = ("operator", "relay", "views", "alerts")
RIGHTS = (
    # As docs/how-to/deploy.md says. A login that may write to one topic may write to it
    # idempotently.
    ("relay", "READ", "TOPIC", "ledger."),
    ("relay", "WRITE", "TOPIC", "ledger."),
    ("views", "READ", "TOPIC", topics.FACTS),
    *(("alerts", "READ", "TOPIC", name) for name in (*READS, process.DEAD)),
    *(("alerts", "WRITE", "TOPIC", name) for name in (process.TOPIC, process.DEAD)),
    ("alerts", "READ", "GROUP", process.GROUP),
)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1: what clients trust, and what the broker holds."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    trusted, held = folder / "ca.pem", folder / "broker.pem"
    trusted.write_bytes(pem)
    held.write_bytes(private + pem)
    return trusted, held


class Secured(NamedTuple):
    """A broker that lets in only who logs in over TLS, and lets each do its own."""

    settings: dict[str, str]  # of everybody but the user
    inside: Connection  # where nobody is asked
    astray: str  # a listener that sends clients to an address without a listener

    def as_(self, login: str) -> dict[str, str]:
        """The settings of one login."""
        return self.settings | {"ROUND_LEDGER_KAFKA_USER": login}


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    trusted, held = certificate(tmp_path)
    with (
        socket.create_server(("127.0.0.1", 0)) as free,
        socket.create_server(("127.0.0.1", 0)) as second,
        socket.create_server(("127.0.0.1", 0)) as nobodys,
    ):
        outside, astray, nobody = (
            f"127.0.0.1:{each.getsockname()[1]}" for each in (free, second, nobodys)
        )

    def more(node: Node) -> dict[str, str]:
        listeners = f"PLAINTEXT://{node.address},OUTSIDE://{outside}"
        controller = f"CONTROLLER://127.0.0.1:{node.controller_port}"
        return SECURED | {
            "listeners": f"{listeners},ASTRAY://{astray},{controller}",
            "advertised.listeners": f"{listeners},ASTRAY://{nobody}",
            "listener.name.outside.ssl.keystore.location": str(held),
        }

    broker = Cluster(tmp_path / "kafka", more=more)
    try:
        let_in(broker.connection)
        password = tmp_path / "password"
        password.write_text(f"{PASSWORD}\n")
        settings = {
            "ROUND_LEDGER_KAFKA_BOOTSTRAP": outside,
            "ROUND_LEDGER_KAFKA_SECURITY": "SASL_SSL",
            "ROUND_LEDGER_KAFKA_PASSWORD_FILE": str(password),
            "ROUND_LEDGER_KAFKA_CA_FILE": str(trusted),
        }
        yield Secured(settings, broker.connection, astray)
    finally:
        broker.close()


def let_in(kafka: Connection) -> None:
    """Make the logins and give each its rights."""
    from kafka.admin import (  # noqa: PLC0415 - with its warnings
        ACL,
        ACLOperation,
        ACLPermissionType,
        ACLResourcePatternType,
        ResourcePattern,
        ResourceType,
        UserScramCredentialUpsertion,
    )

    with administrator(kafka) as admin:
        users = [UserScramCredentialUpsertion(name, "SCRAM-SHA-512", PASSWORD) for name in LOGINS]
        assert admin.alter_user_scram_credentials(users) == dict.fromkeys(LOGINS)
        rights = []
        for login, may, kind, name in RIGHTS:
            how = "PREFIXED" if name.endswith(".") else "LITERAL"
            what = ResourcePattern(ResourceType[kind], name, ACLResourcePatternType[how])
            allow = ACLPermissionType.ALLOW
            rights.append(ACL(f"User:{login}", "*", ACLOperation[may], allow, what))
        assert not admin.create_acls(rights)["failed"]


@pytest.mark.long
def test_each_login_with_the_right_certificate_does_its_own_work_and_no_other(
    secured: Secured, database: Database, tape: PostgresTape, tmp_path: Path
) -> None:
    ran: list[Ran] = []

    def does(login: str, *args: str) -> Ran:
        given = environ(
            tmp_path / "home", **secured.as_(login), ROUND_LEDGER_DATABASE_URL=database.url
        )
        ran.append(Cli(given)(*args))
        return ran[-1]

    assert does("operator", "topics", "apply").code == 0
    assert does("operator", "topics", "check").code == 0
    fill(tape, 25)
    tape.append([paid(2_000_000, 99)])
    where = connection(load(secured.as_("relay")))
    assert once(database, where) == {topics.FACTS: 26}
    assert PASSWORD not in repr(where)
    refused(secured, tmp_path)

    assert does("relay", "relay", "verify", "--json").json[-1]["facts"] == 26
    views = does("views", "consume", "payouts", "--json")
    assert (views.code, views.json[-1]["position"]) == (0, 26), views.err
    tape.append([paid(3_000_000, 100)])
    assert does("views", "relay", "--once", "--deadline", "10").code == 3
    assert does("relay", "relay", "--once").code == 0

    for login in ("views", "alerts"):
        with pytest.raises(Unavailable, match="uthoriz"):
            strange(connection(load(secured.as_(login))))
    strange(secured.inside)
    alerts = does("alerts", "consume", "alerts", "--json")
    assert alerts.code == 0, alerts.err
    assert (alerts.json[0]["read"], alerts.json[0]["dead"], alerts.json[0]["failed"]) == (28, 1, 0)
    assert alerts.json[0]["raised"] >= 2
    with Publisher(connection(load(secured.as_("alerts"))), deadline_s=20) as publisher:
        send_to_dead_letters(
            publisher, process.DEAD, fact_read(database, 4_000_000), "a fault of ours", 3
        )
    assert len(does("alerts", "dlq", "list", "--json").json) == 2
    told = does("alerts", "dlq", "replay", "--by", "S-2001", "--json").json
    assert sorted(each["replayed"] for each in told) == [False, True]
    assert len(does("alerts", "dlq", "list", "--json").json) == 1
    assert not any(PASSWORD in each.out + each.err for each in ran)


def strange(kafka: Connection) -> None:
    """Write a record beside the relay that nobody can read."""
    record = ProducerRecord(b"hollywood/CC-07", b"{nonsense", [])
    with Publisher(kafka, deadline_s=20) as publisher:
        publisher.publish(topics.FACTS, topics.topic(topics.FACTS).partitions, [record])


def refused(secured: Secured, folder: Path) -> None:
    """Nobody gets in with another password, authority or no login; an address gone astray ends."""
    wrong = folder / "wrong"
    wrong.write_text("guessed")
    (folder / "other").mkdir()
    untrusted, _held = certificate(folder / "other")
    for change in (
        {"ROUND_LEDGER_KAFKA_PASSWORD_FILE": str(wrong)},
        {"ROUND_LEDGER_KAFKA_CA_FILE": str(untrusted)},
        {"ROUND_LEDGER_KAFKA_SECURITY": "PLAINTEXT"},
    ):
        with pytest.raises(Unavailable):
            cluster(connection(load(secured.as_("relay") | change)), timeout_s=4)
    with pytest.raises(Unavailable, match="the address it advertises"):
        cluster(Connection(secured.astray), timeout_s=4)
