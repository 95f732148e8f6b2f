"""A real Apache Kafka for the tests, the first there is of three: a server that
TESTS_KAFKA_BOOTSTRAP names (its `ledger.*` topics are removed), Docker with the compose file's
image, local nodes from Kafka's own jars. Without any of them these tests are skipped, and say why.

The topics' names are fixed, so processes of tests that share a server take turns, test by test.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from infra.kafka import topics
from infra.kafka.clients import Connection, administrator, cluster
from infra.services import brokers, jars
from infra.services.brokers import Node, Nodes, Programs
from infra.services.java import find_java
from infra.settings import load
from ledger.errors import LedgerError, Unavailable
from tests.fix_cli import START, environ
from tests.fix_docker import KafkaContainer, engine, pinned
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from infra.postgres import Database

FEED = [topics.topic(topics.FACTS), topics.topic(topics.QUARANTINE)]
IMAGE = "apache/kafka"
ANSWER_S_MAX = 5.0
"""How long a server may take to say what it is, seconds."""

BUSY_S_MAX = 300.0
"""How long nodes may take where the machine does other things too, seconds."""


@cache
def programs() -> Programs:
    """Java and the jars, kept where the user's own services keep them. Raises LedgerError."""
    settings = load(os.environ)
    release = jars.release()
    java = find_java(settings.java, release.java_min)
    return Programs(java, jars.class_path(settings.home, settings.maven_url, lambda *_: None))


def required_programs() -> Programs:
    try:
        return programs()
    except LedgerError as error:
        pytest.skip(f"no Kafka of our own: {error}")


def kafka_version() -> str:
    """What the tests' Kafka will be, for the header."""
    if where := os.environ.get("TESTS_KAFKA_BOOTSTRAP"):
        return _named(where)
    if version := engine(pinned(IMAGE)):
        return f"Kafka in Docker {version}, {pinned(IMAGE)}"
    try:
        java = find_java(load(os.environ).java, jars.release().java_min)
    except LedgerError as error:
        return f"no Kafka ({error.what})"
    return f"Kafka {jars.release().version} on Java {java.version}, local"


def _named(bootstrap: str) -> str:
    """Brokers do not tell their version; which one speaks the protocol as they do, they show."""
    where = Connection(bootstrap)
    try:
        first = cluster(where, timeout_s=ANSWER_S_MAX).brokers[0]
        with administrator(where, timeout_s=ANSWER_S_MAX) as admin:
            spoken = admin.get_broker_version_data(first).broker_version
    except Unavailable:
        return f"Kafka at {bootstrap}, named in the environment, does not answer"
    version = ".".join(map(str, spoken))
    return f"Kafka {version} by its protocol, at {bootstrap}, named in the environment"


class Cluster:
    """Local nodes that a test may stop, kill and start again."""

    def __init__(
        self,
        folder: Path,
        count: int = 1,
        more: Callable[[Node], Mapping[str, str]] = lambda _: {},
    ) -> None:
        self.programs = required_programs()
        self.folder = folder
        self.nodes: Nodes = brokers.planned(folder, count)
        brokers.prepare(folder, self.nodes, self.programs, more(self.nodes.nodes[0]))
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        for node in self.nodes.nodes:
            self.start(node)
        self.wait()

    @property
    def where(self) -> Connection:
        return self.nodes.connection

    def start(self, node: Node) -> None:
        self.processes[node.id] = brokers.start(node, self.programs)

    def wait(self, where: Connection | None = None) -> None:
        brokers.wait_ready(
            where or self.where,
            list(self.processes.values()),
            brokers=len(self.processes),
            log=self.folder,
            timeout_s=BUSY_S_MAX,
        )

    def kill(self, node: Node) -> None:
        process = self.processes.pop(node.id)
        process.kill()
        process.wait()

    def pause(self, *, on: bool, but: Node | None = None) -> None:
        """Stop every node that runs, but one, or let them go on."""
        for id_, process in self.processes.items():
            if not (but and id_ == but.id):
                process.send_signal(signal.SIGSTOP if on else signal.SIGCONT)

    def close(self) -> None:
        """Nobody wants what they hold any more, so they need not put it in order."""
        for node in [each for each in self.nodes.nodes if each.id in self.processes]:
            self.kill(node)


@pytest.fixture(scope="session")
def kafka_server() -> Iterator[Connection]:
    """A Kafka that lives as long as the session; no test stops it."""
    if where := os.environ.get("TESTS_KAFKA_BOOTSTRAP"):
        yield Connection(where)
    elif engine(pinned(IMAGE)):
        with KafkaContainer(pinned(IMAGE)) as container:
            where_ = Connection(container.bootstrap)
            brokers.wait_ready(where_, [], brokers=1, log=Path("docker"))
            yield where_
    else:
        folder = Path(tempfile.mkdtemp(prefix="round-ledger-kafka-"))
        cluster = Cluster(folder)
        try:
            yield cluster.where
        finally:
            cluster.close()
            shutil.rmtree(folder, ignore_errors=True)


def lock_of(where: Connection) -> Path:
    """The file that whoever has a Kafka to himself holds locked."""
    name = hashlib.sha256(where.bootstrap.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"round-ledger-tests-{name}.lock")


@contextmanager
def turn(where: Connection) -> Iterator[None]:
    """A Kafka to oneself, once no other process of tests on this machine has it.

    However a process ends, its turn ends with it.
    """
    file = os.open(lock_of(where), os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # closing alone would not do where a child has it, too
        os.close(file)


@pytest.fixture
def bare_kafka(kafka_server: Connection) -> Iterator[Connection]:
    """The session's Kafka without any of the feed's topics, and nobody else on it."""
    shared = bool(os.environ.get("TESTS_KAFKA_BOOTSTRAP"))
    with turn(kafka_server) if shared else nullcontext():
        delete(kafka_server, [each.name for each in topics.declared()])
        yield kafka_server


def delete(where: Connection, names: Sequence[str]) -> None:
    """Delete those of these topics that are there, and wait until they are gone."""
    with administrator(where) as admin:
        if there := set(names) & set(admin.list_topics()):
            admin.delete_topics(sorted(there))
        until(lambda: not there & set(admin.list_topics()))


def made_anew(where: Connection, names: Sequence[str]) -> None:
    """Topics that lost everything they had."""
    delete(where, names)
    topics.apply(where, [topics.topic(name) for name in names])


@pytest.fixture
def kafka(bare_kafka: Connection) -> Connection:
    """A Kafka with the topics that the relay writes, empty."""
    topics.apply(bare_kafka, FEED)
    return bare_kafka


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[Cluster]:
    """A local node of this test's own, to be stopped and killed, with the relay's topics."""
    cluster = Cluster(tmp_path / "kafka")
    try:
        topics.apply(cluster.where, FEED)
        yield cluster
    finally:
        cluster.close()


class Relays(NamedTuple):
    """`round-ledger relay` as processes, against a database and a Kafka."""

    environ: dict[str, str]

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*START, "relay", *args],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def relays(base: Database, where: Connection, home: Path) -> Relays:
    return Relays(
        environ(
            home,
            ROUND_LEDGER_DATABASE_URL=base.url,
            ROUND_LEDGER_KAFKA_BOOTSTRAP=where.bootstrap,
            # The library leaves sockets to the collector when its broker does not answer.
            PYTHONWARNINGS="error,ignore::ResourceWarning",
        )
    )
