"""Local Apache Kafka: one or three KRaft nodes, each a Java process.

Every node is broker and controller, on loopback only. A node is ready when the cluster reports it,
not when its port opens. Data is never deleted here: an existing folder is started again.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from infra.files import replace_file
from infra.kafka.clients import Connection, cluster
from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.services.java import Java

HOST = "127.0.0.1"
START_S_MAX = 60.0
"""How long the nodes may take to form a cluster, seconds."""

STOP_S_MAX = 30.0
"""How long a node may take to stop before it is killed, seconds."""

_NODES = "nodes.json"
_META = "data/meta.properties"
_LOG_OCTETS_MAX = 10 * 1024 * 1024
_JVM = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # for a quick start
_LOGGING = """\
status = error
shutdownHook = disable
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %p %c{1} %m%n
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
"""


class Node(msgspec.Struct, frozen=True):
    """One node: its ports and its folder."""

    id: int
    port: int
    controller_port: int
    folder: str

    @property
    def address(self) -> str:
        """The address for clients."""
        return f"{HOST}:{self.port}"


class Nodes(msgspec.Struct, frozen=True):
    """A cluster as stored in its folder; its ports stay the same while they are free."""

    cluster_id: str
    nodes: tuple[Node, ...]

    @property
    def bootstrap(self) -> str:
        """The bootstrap addresses for clients."""
        return ",".join(node.address for node in self.nodes)

    @property
    def connection(self) -> Connection:
        """The connection from this machine."""
        return Connection(self.bootstrap)


class Programs(NamedTuple):
    """The Java and the class path of the nodes."""

    java: Java
    class_path: Path


def planned(folder: Path, count: int) -> Nodes:
    """The cluster in `folder`: the stored one, or a new one of `count` nodes.

    Ports that other programs have taken meanwhile are replaced. Raises `Unavailable` if the folder
    holds a cluster of another size.
    """
    nodes = _stored(folder)
    if nodes:
        if len(nodes.nodes) != count:
            raise Unavailable(
                f"The Kafka in this folder has {len(nodes.nodes)} nodes, not {count}",
                where=str(folder),
                hint=f"Start it with --nodes {len(nodes.nodes)}, or remove the folder: the relay"
                " then publishes all records again.",
            )
    else:
        names = [str(folder / f"node-{number}") for number in range(1, count + 1)]
        nodes = Nodes(_new_id(), tuple(Node(n, 0, 0, at) for n, at in enumerate(names, 1)))
    return Nodes(nodes.cluster_id, _with_ports(nodes.nodes))


def _stored(folder: Path) -> Nodes | None:
    """The cluster stored in the folder. Raises `Unavailable` if its file cannot be read.

    An unreadable file beside no formatted node was left by a first start that was killed.
    """
    try:
        return msgspec.json.decode((folder / _NODES).read_bytes(), type=Nodes)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        if not any(folder.glob(f"node-*/{_META}")):
            return None
        raise Unavailable(
            f"The file of Kafka's nodes cannot be read: {error}",
            where=str(folder / _NODES),
            hint="Restore it. Or remove the folder: the relay then publishes all records again.",
        ) from error


def prepare(
    folder: Path, nodes: Nodes, programs: Programs, more: Mapping[str, str] | None = None
) -> None:
    """Write every node's properties, and format the data folders that are new.

    Nodes left running by a killed supervisor are ended first. `more` overrides properties of every
    node. Raises `Unavailable` if formatting fails or hangs.
    """
    end_strays(nodes.nodes)
    folder.mkdir(parents=True, exist_ok=True)
    # Written before formatting: a formatted node belongs to this id even if another node failed.
    replace_file(folder / _NODES, msgspec.json.encode(nodes))
    for node in nodes.nodes:
        home = Path(node.folder)
        home.mkdir(parents=True, exist_ok=True)
        lines = {**_properties(node, nodes), **(more or {})}
        replace_file(home / "server.properties", _as_properties(lines).encode())
        replace_file(home / "log4j2.properties", _LOGGING.encode())
    new = [node for node in nodes.nodes if not _meta(node).exists()]
    if new:
        _format(new[0], nodes.cluster_id, programs)
        for node in new[1:]:
            _copy_format(new[0], node)


def _format(node: Node, cluster_id: str, programs: Programs) -> None:
    """Format a node's data folder with Kafka's tool; always end the tool's process."""
    # One word: an id may begin with a dash, and would then be read as an option.
    named = f"--cluster-id={cluster_id}"
    process = _run(node, programs, "kafka.tools.StorageTool", "format", named, "-c")
    try:
        if process.wait(START_S_MAX):
            raise _not_formatted(Path(node.folder))
    except subprocess.TimeoutExpired:
        raise _not_formatted(Path(node.folder), f" within {START_S_MAX:.0f} s") from None
    finally:
        process.kill()
        process.wait()


def _copy_format(formatted: Node, node: Node) -> None:
    """Format a data folder like another node's: all but its ids is the same.

    The tool takes a second of a processor for each node, most of it to start Java.
    """
    data, found = _meta(node).parent, _meta(formatted)
    data.mkdir(exist_ok=True)
    for each in found.parent.iterdir():
        if each != found:
            shutil.copy(each, data)
    told = dict(line.split("=", 1) for line in found.read_text().splitlines() if "=" in line)
    ids = {"node.id": str(node.id), "directory.id": _new_id()}
    # Last, since a folder that has it counts as formatted.
    replace_file(_meta(node), _as_properties(told | ids).encode())


def _meta(node: Node) -> Path:
    """The file that a formatted data folder has."""
    return Path(node.folder, _META)


def _as_properties(lines: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _new_id() -> str:
    """A random id as Kafka writes it."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def _not_formatted(home: Path, within: str = "") -> Unavailable:
    return Unavailable(
        f"Kafka's data folder could not be formatted{within}",
        where=str(home),
        hint=f"Read {home / 'log'}, fix the cause, then start the services again.",
    )


def start(node: Node, programs: Programs) -> subprocess.Popen[bytes]:
    """Start one prepared node without waiting; `wait_ready` waits for the cluster."""
    return _run(node, programs, "kafka.Kafka")


def wait_ready(
    connection: Connection,
    processes: Sequence[subprocess.Popen[bytes]],
    *,
    brokers: int,
    log: Path,
    timeout_s: float = START_S_MAX,
) -> None:
    """Return when that many brokers report that they form one cluster. Raises `Unavailable`."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        if any(process.poll() is not None for process in processes):
            break
        if all(map(_is_open, connection.bootstrap.split(","))):
            with suppress(Unavailable):
                if len(cluster(connection, timeout_s=5).brokers) >= brokers:
                    return
        time.sleep(0.1)
    raise Unavailable(
        "Kafka did not start", where=str(log), hint=f"Read {log}/node-*/log for the cause."
    )


def stop(processes: Sequence[subprocess.Popen[bytes]], timeout_s: float = STOP_S_MAX) -> None:
    """Stop all nodes together; kill those that do not end in time."""
    for process in processes:
        process.send_signal(signal.SIGTERM)
    until = time.monotonic() + timeout_s
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def end_strays(nodes: Sequence[Node]) -> bool:
    """End processes of these nodes that a killed supervisor left behind; False if there are none.

    All get the signal at once: the last nodes could not leave a cluster without a quorum.
    """
    strays = [(node, pid) for node in nodes if (pid := running(node))]
    for _, pid in strays:
        _signal(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_S_MAX
    for node, pid in strays:
        while running(node) == pid:
            if time.monotonic() > until:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.05)
    return bool(strays)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def running(node: Node) -> int | None:
    """The process id of this node: its command line ends with the node's file of properties.

    No file names it, since a supervisor may be killed before it writes one.
    """
    told = subprocess.run(
        ["/bin/ps", "-Aww", "-o", "pid=,stat=,args="], capture_output=True, text=True, check=False
    ).stdout
    for line in told.splitlines():
        if line.endswith(f" kafka.Kafka {node.folder}/server.properties"):
            pid, state, _ = line.split(maxsplit=2)
            if not state.startswith("Z"):
                return int(pid)
    return None


def _run(node: Node, programs: Programs, *main: str) -> subprocess.Popen[bytes]:
    folder = Path(node.folder)
    log = folder / "log"
    if log.exists() and log.stat().st_size > _LOG_OCTETS_MAX:
        log.replace(folder / "log.1")
    with log.open("ab") as out:
        return subprocess.Popen(  # noqa: S603 - Java as found, arguments of our own
            [
                programs.java.program,
                *_JVM,
                f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
                "-cp",
                f"{programs.class_path}/*",
                *main,
                folder / "server.properties",
            ],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,  # the supervisor handles Ctrl-C for the nodes
        )


def _properties(node: Node, nodes: Nodes) -> dict[str, str]:
    """A node's properties: one loopback listener for clients and brokers, one for controllers."""
    count = len(nodes.nodes)
    in_sync = max(1, count - 1)
    voters = ",".join(f"{each.id}@{HOST}:{each.controller_port}" for each in nodes.nodes)
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "controller.quorum.voters": voters,
        "listeners": f"PLAINTEXT://{node.address},CONTROLLER://{HOST}:{node.controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(Path(node.folder, "data")),
        "auto.create.topics.enable": "false",
        "unclean.leader.election.enable": "false",
        "default.replication.factor": str(count),
        "min.insync.replicas": str(in_sync),
        "offsets.topic.replication.factor": str(count),
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": str(count),
        "transaction.state.log.min.isr": str(in_sync),
        "share.coordinator.state.topic.replication.factor": str(count),
        "share.coordinator.state.topic.min.isr": str(in_sync),
        "group.initial.rebalance.delay.ms": "0",
        "broker.session.timeout.ms": "4000",  # a killed node waits this long before it may return
        "broker.heartbeat.interval.ms": "1000",
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),  # 128 MiB otherwise
    }


def _with_ports(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The same nodes on free ports; each port is held until all are chosen."""
    held = []
    try:
        found = []
        for node in nodes:
            mine = running(node) is not None
            ports = []
            for wanted in (node.port, node.controller_port):
                if mine:
                    ports.append(wanted)
                    continue
                held.append(_listen(wanted))
                ports.append(held[-1].getsockname()[1])
            found.append(Node(node.id, ports[0], ports[1], node.folder))
        return tuple(found)
    finally:
        for each in held:
            each.close()


def _listen(wanted: int) -> socket.socket:
    with suppress(OSError):
        return socket.create_server((HOST, wanted))
    return socket.create_server((HOST, 0))


def _is_open(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
        return True
    return False
