"""A Kafka of one's own, with TLS and SCRAM: the right login gets in, no other does."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from infra.kafka import topics
from infra.kafka.clients import administrator, cluster, connection
from infra.settings import load
from ledger.errors import Unavailable
from tests.feeding import fill, once
from tests.fix_cli import Cli, environ
from tests.fix_kafka import FEED, Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres import Database
    from infra.services.brokers import Node
    from infra.tape import PostgresTape

PASSWORD = "not-a-real-one"  # noqa: S105 - of a broker that lives for one test
SECURED = {
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,OUTSIDE:SASL_SSL",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "listener.name.outside.scram-sha-512.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    "listener.name.outside.ssl.keystore.type": "PEM",
}


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


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings that get into a broker which lets in only who logs in over TLS."""
    trusted, held = certificate(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        outside = f"127.0.0.1:{free.getsockname()[1]}"

    def more(node: Node) -> dict[str, str]:
        listeners = f"PLAINTEXT://{node.address},CONTROLLER://127.0.0.1:{node.controller_port}"
        return SECURED | {
            "listeners": f"{listeners},OUTSIDE://{outside}",
            "listener.name.outside.ssl.keystore.location": str(held),
        }

    broker = Cluster(tmp_path / "kafka", more=more)
    try:
        from kafka.admin import UserScramCredentialUpsertion  # noqa: PLC0415 - with its warnings

        with administrator(broker.where) as admin:
            user = UserScramCredentialUpsertion("relay", "SCRAM-SHA-512", PASSWORD)
            assert admin.alter_user_scram_credentials([user]) == {"relay": None}
        password = tmp_path / "password"
        password.write_text(f"{PASSWORD}\n")
        yield {
            "ROUND_LEDGER_KAFKA_BOOTSTRAP": outside,
            "ROUND_LEDGER_KAFKA_SECURITY": "SASL_SSL",
            "ROUND_LEDGER_KAFKA_USER": "relay",
            "ROUND_LEDGER_KAFKA_PASSWORD_FILE": str(password),
            "ROUND_LEDGER_KAFKA_CA_FILE": str(trusted),
        }
    finally:
        broker.close()


@pytest.mark.long
def test_only_the_right_login_with_the_right_certificate_gets_in(
    secured: dict[str, str], database: Database, tape: PostgresTape, tmp_path: Path
) -> None:
    where = connection(load(secured))
    topics.apply(where, FEED)
    fill(tape, 25)
    assert once(database, where) == {topics.FACTS: 25}
    assert PASSWORD not in repr(where)

    wrong = tmp_path / "wrong"
    wrong.write_text("guessed")
    with pytest.raises(Unavailable):
        cluster(
            connection(load(secured | {"ROUND_LEDGER_KAFKA_PASSWORD_FILE": str(wrong)})),
            timeout_s=4,
        )
    other = tmp_path / "other"
    other.mkdir()
    untrusted, _held = certificate(other)
    with pytest.raises(Unavailable):
        cluster(
            connection(load(secured | {"ROUND_LEDGER_KAFKA_CA_FILE": str(untrusted)})), timeout_s=4
        )
    with pytest.raises(Unavailable):
        cluster(
            connection(load(secured | {"ROUND_LEDGER_KAFKA_SECURITY": "PLAINTEXT"})), timeout_s=4
        )

    cli = Cli(environ(tmp_path / "home", **secured, ROUND_LEDGER_DATABASE_URL=database.url))
    ran = cli("relay", "verify", "--json")
    assert ran.json[-1]["facts"] == 25
    assert PASSWORD not in ran.out + ran.err
