"""Connections to Kafka: client options, the administration client, its errors as `Unavailable`.

Every option whose default could lose records, or hide a loss, is set explicitly (ADR 0070). The
client library is not typed. No code outside `infra` imports it.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from infra.kafka.bootstrap import NobodyListensError, answering
from infra.kafka.library import (
    CorruptRecordError,
    KafkaAdminClient,
    KafkaError,
    KafkaNetClient,
)
from ledger.errors import Unavailable, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.settings import Settings

T = TypeVar("T")

ANSWER_S_MAX = 15.0
"""How long a request to the cluster may take, seconds."""

RECONNECT_MS_MAX = 1_000
"""Longest wait before a client reconnects to a broker; the library's default is 30 s."""

CONNECT_MS = {
    "socket_connection_setup_timeout_ms": 3_000,
    "socket_connection_setup_timeout_max_ms": 10_000,
}
"""How long a connection may take until another broker is tried: at first, and after failures.

A stopped broker takes connections and never answers. The library's times are 10 s and 30 s.
"""

_RETRY_S = 0.1

SECURITY = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISM = "SCRAM-SHA-512"


@dataclass(frozen=True)
class Connection:
    """Address, security, user and topic prefix of a cluster. The password stays in its file."""

    bootstrap: str
    security: str = "PLAINTEXT"
    user: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    topic_prefix: str = ""

    def named(self, name: str) -> str:
        """The name of a topic or group on this cluster, given its declared name.

        Only code that calls the client library needs it. All other code uses declared names.
        """
        return self.topic_prefix + name

    def declared(self, named: str) -> str:
        """The declared name of a topic, given its name on this cluster."""
        return named.removeprefix(self.topic_prefix)

    def options(self) -> dict[str, Any]:
        """The options common to all clients of the library. Raises `Usage`."""
        options: dict[str, Any] = {
            "bootstrap_servers": self.bootstrap.split(","),
            "security_protocol": self.security,
            "client_id": "round-ledger",
            "reconnect_backoff_max_ms": RECONNECT_MS_MAX,
            "kafka_client": partial(KafkaNetClient, **CONNECT_MS),  # the only way to them
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
                hint="Name a file that holds only the password and that only this login can read.",
            ) from error


def connection(settings: Settings, local: str | None = None) -> Connection:
    """The Kafka of the settings; without one, that of the `local` services. Raises `Usage`."""
    if settings.kafka_security not in SECURITY:
        raise Usage(
            f"{settings.kafka_security!r} is not a security protocol of Kafka",
            where="ROUND_LEDGER_KAFKA_SECURITY",
            hint=f"Give one of {', '.join(SECURITY)}.",
        )
    if settings.kafka_security.startswith("SASL") and not settings.kafka_user:
        raise Usage(
            "No user is set for the login to Kafka",
            where="ROUND_LEDGER_KAFKA_USER",
            hint="Name the user, and a file with the password in ROUND_LEDGER_KAFKA_PASSWORD_FILE.",
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
"""Kafka's address if neither a setting nor the local services give one."""


class Cluster(NamedTuple):
    """A cluster's id and brokers, as the cluster reports them."""

    id: str
    brokers: tuple[int, ...]  # alive
    registered: tuple[int, ...]  # all that belong to the cluster, alive or not


def cluster(kafka: Connection, *, timeout_s: float = ANSWER_S_MAX) -> Cluster:
    """The cluster's id and brokers. Raises `Unavailable`.

    A broker that is down stays registered until an administrator unregisters it. Brokers older
    than Kafka 4.0 report only living brokers.
    """
    with administrator(kafka, timeout_s=timeout_s) as admin:
        told = admin.describe_cluster()
    every = sorted(each["broker_id"] for each in told["brokers"])
    down = {each["broker_id"] for each in told["brokers"] if each.get("is_fenced")}
    return Cluster(told["cluster_id"], tuple(n for n in every if n not in down), tuple(every))


def client(of: Callable[..., Any], kafka: Connection, **options: Any) -> Any:  # noqa: ANN401 - the library is not typed
    """A client of the library, made with the bootstrap addresses that answer now.

    Raises `Unavailable` if nobody listens, and what the library raises.
    """
    try:
        found = answering(
            kafka.bootstrap.split(","), kafka.ca_file, tls=kafka.security.endswith("SSL")
        )
    except NobodyListensError as error:
        raise unavailable(kafka, error) from error
    return of(**kafka.options() | {"bootstrap_servers": found} | options)


@contextmanager
def administrator(kafka: Connection, *, timeout_s: float = ANSWER_S_MAX) -> Iterator[Any]:
    """The library's administration client. Its errors are raised as `Unavailable`."""
    milliseconds = int(timeout_s * 1000)
    until = time.monotonic() + timeout_s
    with translated(kafka):
        admin = client(
            KafkaAdminClient,
            kafka,
            request_timeout_ms=milliseconds,
            bootstrap_timeout_ms=milliseconds,
        )
        with closing(admin):
            answered(admin.describe_cluster, until)  # later questions go to who answered this one
            yield admin


def answered(question: Callable[[], T], until: float) -> T:
    """The first answer to a question; another broker is asked while time is left.

    until: by the monotonic clock. Raises the library's errors.
    """
    while True:
        try:
            return question()
        except KafkaError as error:
            if not error.retriable or time.monotonic() > until:
                raise
        time.sleep(_RETRY_S)


@contextmanager
def translated(kafka: Connection) -> Iterator[None]:
    """Raise the library's errors as `Unavailable`."""
    try:
        yield
    except KafkaError as error:
        raise unavailable(kafka, error) from error


def unavailable(kafka: Connection, error: Exception) -> Unavailable:
    """The error for an operator that a library error stands for."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, CorruptRecordError):
        return Unavailable(
            f"Kafka holds a record that cannot be decoded: {text}",
            where=kafka.bootstrap,
            hint="Views continue with `--from tape`. Delete the topic, run `topics apply`, start"
            " the relay: it publishes the record again. Check that only the relay may write.",
        )
    return Unavailable(
        f"Kafka rejected the request or did not answer: {text}",
        where=kafka.bootstrap,
        hint="Check that Kafka runs, that ROUND_LEDGER_KAFKA_BOOTSTRAP names it, and that this"
        " machine can reach the address it advertises. `round-ledger services up` starts a local"
        " one.",
    )
