"""How to connect to Kafka, and the questions one asks a cluster. The client library is not typed.

Every option whose default could lose something, or hide that something was lost, is given here
(ADR 0070). Nobody outside `infra` sees the library.
"""

from __future__ import annotations

import socket
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infra.kafka.library import CorruptRecordError, KafkaAdminClient, KafkaError
from ledger.errors import Unavailable, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings

ANSWER_S_MAX = 15.0
"""How long a question to the cluster may take, seconds."""

RECONNECT_MS_MAX = 1_000
"""How long a client rests before it tries a broker again; the library would rest up to 30 s."""

_KNOCK_S_MAX = 5

SECURITY = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISM = "SCRAM-SHA-512"


@dataclass(frozen=True)
class Connection:
    """Where Kafka is, and who we are there. The password stays in its file."""

    bootstrap: str
    security: str = "PLAINTEXT"
    user: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    topic_prefix: str = ""

    def named(self, name: str) -> str:
        """What one of our topics or groups is called on this cluster, given its declared name.

        Only what speaks to the cluster asks: everything above knows declared names.
        """
        return self.topic_prefix + name

    def declared(self, named: str) -> str:
        """The declared name of a topic, given what it is called on this cluster."""
        return named.removeprefix(self.topic_prefix)

    def options(self) -> dict[str, Any]:
        """What every client of the library is made with. Raises `Usage`."""
        options: dict[str, Any] = {
            "bootstrap_servers": self.bootstrap.split(","),
            "security_protocol": self.security,
            "client_id": "round-ledger",
            "reconnect_backoff_max_ms": RECONNECT_MS_MAX,
        }
        if self.security.endswith("SSL"):
            options |= {
                "ssl_check_hostname": True,
                "ssl_cafile": self.ca_file and str(self.ca_file),
            }
        if self.security.startswith("SASL"):
            options |= {
                "sasl_mechanism": MECHANISM,
                "sasl_plain_username": self.user,
                "sasl_plain_password": self._password(),
            }
        return options

    def _password(self) -> str:
        try:
            return Path(self.password_file or "").read_text().rstrip("\n")
        except OSError as error:
            raise Usage(
                f"The password for Kafka cannot be read: {error.strerror}",
                where="ROUND_LEDGER_KAFKA_PASSWORD_FILE",
                hint="Name a file that holds it and nothing else, readable by this login only.",
            ) from error


def connection(settings: Settings, local: str | None = None) -> Connection:
    """The Kafka of the settings, else the `local` services' one. Raises `Usage`."""
    if settings.kafka_security not in SECURITY:
        raise Usage(
            f"{settings.kafka_security!r} is no way to connect to Kafka",
            where="ROUND_LEDGER_KAFKA_SECURITY",
            hint=f"Give one of {', '.join(SECURITY)}.",
        )
    if settings.kafka_security.startswith("SASL") and not settings.kafka_user:
        raise Usage(
            "There is no user to log in to Kafka as",
            where="ROUND_LEDGER_KAFKA_USER",
            hint="Name one, and its password's file in ROUND_LEDGER_KAFKA_PASSWORD_FILE.",
        )
    return Connection(
        settings.kafka_bootstrap or local or DEFAULT_BOOTSTRAP,
        settings.kafka_security,
        settings.kafka_user,
        settings.kafka_password_file,
        settings.kafka_ca_file,
        settings.topic_prefix,
    )


DEFAULT_BOOTSTRAP = "127.0.0.1:9092"
"""Where Kafka is where neither a setting nor the local services say so."""


class Cluster(NamedTuple):
    """A cluster as it says it is."""

    id: str
    brokers: tuple[int, ...]  # those that are alive
    registered: tuple[int, ...]  # those that belong to it, whether or not they are alive


def cluster(kafka: Connection, *, timeout_s: float = ANSWER_S_MAX) -> Cluster:
    """Ask for the cluster's id and its brokers. Raises `Unavailable`.

    A broker that is down stays registered until somebody unregisters it; brokers older than
    Kafka 4.0 tell of living ones only.
    """
    with administrator(kafka, timeout_s=timeout_s) as admin:
        told = admin.describe_cluster()
    every = sorted(each["broker_id"] for each in told["brokers"])
    down = {each["broker_id"] for each in told["brokers"] if each.get("is_fenced")}
    return Cluster(told["cluster_id"], tuple(n for n in every if n not in down), tuple(every))


@contextmanager
def administrator(kafka: Connection, *, timeout_s: float = ANSWER_S_MAX) -> Iterator[Any]:
    """The library's administration client. What it raises becomes `Unavailable`."""
    milliseconds = int(timeout_s * 1000)
    _refuse_nobody(kafka)
    with translated(kafka):
        client = KafkaAdminClient(
            **kafka.options(),
            request_timeout_ms=milliseconds,
            bootstrap_timeout_ms=milliseconds,
        )
        with closing(client):
            yield client


def _refuse_nobody(kafka: Connection) -> None:
    """Say at once that nobody listens: the library would try until its time is up."""
    for address in kafka.bootstrap.split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError):
            socket.create_connection((host, int(port)), timeout=_KNOCK_S_MAX).close()
            return
    error = ConnectionError("nobody listens there")
    raise unavailable(kafka, error) from error


@contextmanager
def translated(kafka: Connection) -> Iterator[None]:
    """Turn what the library says of a cluster that does not do its work into `Unavailable`."""
    try:
        yield
    except KafkaError as error:
        raise unavailable(kafka, error) from error


def unavailable(kafka: Connection, error: Exception) -> Unavailable:
    """What a failed exchange with the cluster is to a person."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, CorruptRecordError):
        return Unavailable(
            f"Kafka holds a record that nobody can read: {text}",
            where=kafka.bootstrap,
            hint="Views go on with `--from tape`. Delete the topic, `topics apply`, start the"
            " relay: it publishes the record again. See that nobody but the relay may write.",
        )
    return Unavailable(
        f"Kafka does not do what is asked: {text}",
        where=kafka.bootstrap,
        hint="Check that it runs, that ROUND_LEDGER_KAFKA_BOOTSTRAP names it, and that it"
        " advertises an address that is reached from here; locally, `round-ledger services up`"
        " starts one.",
    )
