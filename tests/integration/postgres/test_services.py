"""PostgreSQL and Kafka without Docker: started by a command, found by others, then stopped."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from infra.services import brokers, jars, supervisor
from infra.services.jars import Jar, Release
from infra.services.java import Java, find_java
from ledger.errors import Refused, Unavailable, Usage
from tests.fixtures.cli import Cli, environ, feed, lines
from tests.fixtures.kafka import required_programs
from tests.until import until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from infra.postgres.connection import Database


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose jars are there already; whatever runs in it is ended."""
    made = tmp_path / "home"
    jars_there = required_programs().class_path
    (made / "cache").mkdir(parents=True)
    shutil.copytree(jars_there, made / "cache" / jars_there.name, copy_function=os.link)
    yield made
    supervisor.end(made)


@pytest.fixture
def here(home: Path) -> Cli:
    return Cli(environ(home))


@pytest.mark.long
def test_up_runs_both_others_find_them_and_down_ends_them_and_keeps_the_data(
    here: Cli, home: Path, tmp_path: Path
) -> None:
    told = here("services", "up", "--json")
    assert told.code == 0, told.err
    assert [(row["service"], row["state"]) for row in told.json] == [
        ("postgres", "ready"),
        ("kafka node 1", "ready"),
    ]
    assert here("services", "up").code == 0, "a second time changes nothing"
    larger = here("services", "up", "--nodes", "3")
    assert (larger.code, "--nodes 1, not 3" in larger.err) == (2, True), larger
    assert here("ingest", feed(tmp_path / "feed.jsonl", lines(30))).code == 0
    assert here("topics", "apply").code == 0
    assert here("relay", "--once").code == 0
    seen = here("relay", "verify", "--json").json[-1]
    assert (seen["facts"], seen["broken"]) == (30, 0)

    kept = supervisor.running(home)
    assert kept
    pids = [brokers.running(node) for node in kept.kafka.nodes]
    assert here("services", "down").code == 0
    assert supervisor.running(home) is None
    until(lambda: not any(alive(pid) for pid in (kept.pid, *pids) if pid))
    assert here("services", "status").code == 3
    assert here("services", "up").code == 0
    assert here("relay", "verify", "--json").json[-1]["facts"] == 30


@pytest.mark.long
def test_a_cluster_whose_id_begins_with_a_dash_is_formatted_like_any_other(tmp_path: Path) -> None:
    planned = brokers.planned(tmp_path, 1)
    dashed = brokers.Nodes("-" + planned.cluster_id[1:], planned.nodes)
    brokers.prepare(tmp_path, dashed, required_programs())
    kept = (Path(planned.nodes[0].folder) / "data" / "meta.properties").read_text()
    assert f"cluster.id={dashed.cluster_id}" in kept.splitlines()


@pytest.mark.parametrize(
    ("does", "says"),
    [("exec sleep 60", "within 1 s"), ("case $* in *node-1*) exit 1; esac; exec sleep 60", "read")],
)
def test_formatting_that_hangs_or_fails_is_told_and_leaves_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, says: str
) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\n{does}\n")
    java.chmod(0o755)
    monkeypatch.setattr(brokers, "START_S_MAX", 1.0)
    programs = brokers.Programs(Java(java, "17"), tmp_path)
    planned = brokers.planned(tmp_path, 3)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="could not be formatted") as raised:
        brokers.prepare(tmp_path, planned, programs)
    assert says in str(raised.value).lower()
    assert time.monotonic() - began < 50  # far from the minute that it sleeps
    pids = [int(each) for each in (tmp_path / "pids").read_text().split()]
    assert pids, "the control: something ran"
    assert not any(alive(pid) for pid in pids)
    again = brokers.planned(tmp_path, 3).cluster_id
    assert again == planned.cluster_id, "what one node was formatted for, all are"


FORMATS = r"""#!/bin/sh
for last; do :; done
data=$(sed -n s/^log.dirs=//p "$last")
echo "$data" >> "$0.runs"
mkdir -p "$data"
echo features > "$data/bootstrap.checkpoint"
printf '#\nnode.id=%s\ndirectory.id=first\nversion=1\ncluster.id=C\n' \
  "$(sed -n s/^node.id=//p "$last")" > "$data/meta.properties"
"""


def test_java_formats_one_of_the_new_nodes_and_the_others_are_copies_with_ids_of_their_own(
    tmp_path: Path,
) -> None:
    """Each start of Java takes over a second of a processor."""
    java = tmp_path / "java"
    java.write_text(FORMATS)
    java.chmod(0o755)
    programs = brokers.Programs(Java(java, "17"), tmp_path)
    planned = brokers.planned(tmp_path, 3)
    data = [Path(node.folder, "data") for node in planned.nodes]
    brokers.prepare(tmp_path, planned, programs)
    told = [(each / "meta.properties").read_text().splitlines() for each in data]
    for node, of_node in zip(planned.nodes, told, strict=True):
        assert f"node.id={node.id}" in of_node
    assert all({"version=1", "cluster.id=C"} < set(lines) for lines in told)
    assert len({line for lines in told for line in lines if line.startswith("directory.id=")}) == 3
    assert {(each / "bootstrap.checkpoint").read_text() for each in data} == {"features\n"}
    assert {len(list(each.iterdir())) for each in data} == {2}

    kept = [(each / "meta.properties").read_bytes() for each in data]
    (data[1] / "meta.properties").unlink()  # as if killed before the second was formatted
    brokers.prepare(tmp_path, planned, programs)
    again = [(each / "meta.properties").read_bytes() for each in data]
    assert (again[0], again[2]) == (kept[0], kept[2]), "what is formatted stays"
    assert again[1].startswith(b"#\nnode.id=2\n")
    assert Path(f"{java}.runs").read_text().split() == [str(data[0]), str(data[1])]


def test_the_database_is_opened_while_the_nodes_start_and_they_end_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a new cluster took 37 s, 13 of them until Kafka began to start."""
    java = tmp_path / "java"
    java.write_text(FORMATS + "case $* in *kafka.Kafka*) exec sleep 600; esac\n")
    java.chmod(0o755)
    programs = brokers.Programs(Java(java, "17"), tmp_path)
    started: list[subprocess.Popen[bytes]] = []
    start = brokers.start

    def note_start(node: brokers.Node, programs: brokers.Programs) -> subprocess.Popen[bytes]:
        started.append(start(node, programs))
        return started[-1]

    @contextmanager
    def database() -> Iterator[Database]:
        assert len(started) == 3
        raise Unavailable("No database", where="here", hint="Wait.")
        yield

    monkeypatch.setattr(brokers, "start", note_start)
    with pytest.raises(Unavailable, match="No database"):
        supervisor.supervise(
            tmp_path, database(), programs, count=3, version="4", stop=lambda: True
        )
    assert not any(alive(each.pid) for each in started)


@pytest.mark.long
def test_three_nodes_may_lose_one_as_another_command_tells_and_end_with_their_process(
    here: Cli, home: Path
) -> None:
    with here.start("services", "up", "--nodes", "3", "--foreground") as up:
        try:
            told = status_of(here, ["ready"] * 4)
            assert list(told) == ["postgres", *(f"kafka node {number}" for number in (1, 2, 3))]
            pids = [told[f"kafka node {number}"]["pid"] for number in (1, 2, 3)]
            assert all(alive(pid) for pid in pids)
            assert len({row["address"] for row in told.values()}) == 4
            assert here("topics", "apply").code == 0
            os.kill(pids[2], signal.SIGSTOP)
            status_of(here, ["ready", "ready", "ready", "does not answer"])
            os.kill(pids[2], signal.SIGCONT)
            status_of(here, ["ready"] * 4)
            assert here("topics", "check").code == 0
            server = int((home / "postgres" / "postmaster.pid").read_text().split()[0])
            up.send_signal(signal.SIGTERM)
            assert up.wait(90) == 0
        finally:
            up.kill()
    assert not any(alive(pid) for pid in [*pids, server])
    assert here("services", "status").code == 3


def status_of(here: Cli, states: list[str], within_s: float = 240) -> dict[str, dict[str, Any]]:
    """What `services status` prints of each service in these states."""
    end = time.monotonic() + within_s
    while True:
        ran = here("services", "status", "--json")
        if [row["state"] for row in ran.json] == states:
            assert ran.code == (0 if set(states) == {"ready"} else 3)
            return {row["service"]: row for row in ran.json}
        assert time.monotonic() < end, ran
        time.sleep(0.2)


@pytest.mark.long
def test_what_a_killed_supervisor_leaves_is_ended_by_the_next_one(here: Cli, home: Path) -> None:
    assert here("services", "up").code == 0
    first = supervisor.running(home)
    assert first
    os.kill(first.pid, signal.SIGKILL)
    node = brokers.running(first.kafka.nodes[0])
    assert node
    assert alive(node), "the control: it is left behind"
    until(lambda: supervisor.running(home) is None)  # what it wrote down no longer counts
    assert here("services", "up").code == 0
    second = supervisor.running(home)
    assert second
    assert second.kafka.bootstrap == first.kafka.bootstrap
    assert not alive(node)
    assert here("services", "down").code == 0


@pytest.mark.long
def test_a_node_that_dies_is_started_again(here: Cli, home: Path) -> None:
    assert here("services", "up").code == 0
    running = supervisor.running(home)
    assert running
    node = running.kafka.nodes[0]
    before = brokers.running(node)
    assert before
    os.kill(before, signal.SIGKILL)
    brokers.wait_ready(running.kafka.connection, [], brokers=1, log=home)
    assert brokers.running(node) not in (None, before)


def alive(pid: int) -> bool:
    with suppress(OSError):
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    return False


@pytest.mark.long
def test_services_that_do_not_run_are_exit_code_3_and_stopping_them_is_no_mistake(
    plain_cli: Cli,
) -> None:
    assert plain_cli("services", "status").code == 3
    assert plain_cli("services", "down").code == 0
    assert plain_cli("services", "up", "--nodes", "2").code == 2


def test_a_java_that_is_named_is_the_only_one_looked_at(tmp_path: Path) -> None:
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    old.chmod(0o755)
    with pytest.raises(Unavailable, match="Java 17 or newer"):
        find_java(str(old), 17)
    assert find_java(str(old), 11).version == "11.0.2"
    with pytest.raises(Unavailable, match="does not run"):
        find_java("/no/such/java", 17)


@pytest.fixture
def one_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of one file, in a repository of its own."""
    octets = b"PK a jar" * 100
    jar = Jar("org/example/a-1.jar", len(octets), hashlib.sha512(octets).hexdigest())
    monkeypatch.setattr(jars, "release", lambda: Release("0", 17, (jar,)))
    path = tmp_path / "repository" / jar.path
    path.parent.mkdir(parents=True)
    path.write_bytes(octets)
    return path


def fetched(one_jar: Path, home: Path) -> Path:
    repository = one_jar.parents[2].as_uri()
    return jars.class_path(home, repository, lambda *_: None) / one_jar.name


def test_a_jar_is_fetched_once_and_again_only_where_it_was_changed(
    one_jar: Path, tmp_path: Path
) -> None:
    kept = fetched(one_jar, tmp_path)
    octets = one_jar.read_bytes()
    one_jar.unlink()
    assert fetched(one_jar, tmp_path).read_bytes() == octets
    kept.write_bytes(octets[:-1] + b"!")
    with pytest.raises(Unavailable, match="cannot be fetched"):
        fetched(one_jar, tmp_path)


@pytest.mark.parametrize("change", [b"!", b"much longer" * 1_000])
def test_a_jar_that_is_not_the_pinned_one_is_never_on_the_class_path(
    one_jar: Path, tmp_path: Path, change: bytes
) -> None:
    one_jar.write_bytes(one_jar.read_bytes()[:-1] + change)
    with pytest.raises(Refused, match="differs from the pinned file"):
        fetched(one_jar, tmp_path)
    assert not list((tmp_path / "cache").rglob("*.jar"))


def test_a_strange_jar_beside_the_pinned_ones_is_refused(one_jar: Path, tmp_path: Path) -> None:
    (fetched(one_jar, tmp_path).parent / "evil.jar").write_bytes(b"PK")
    with pytest.raises(Refused, match=r"evil\.jar"):
        fetched(one_jar, tmp_path)


def test_a_repository_that_is_none_is_refused(one_jar: Path, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="Maven repository"):
        jars.class_path(tmp_path, "ftp://example", lambda *_: None)
    assert one_jar.exists()


def test_the_pinned_release_is_one_of_every_jar_and_all_from_one_kafka() -> None:
    release = jars.release()
    names = [jar.name for jar in release.jars]
    assert len(names) == len(set(names))
    kafka = [jar.path for jar in release.jars if jar.path.startswith("org/apache/kafka/")]
    assert len(kafka) > 10
    assert all(f"/{release.version}/" in path for path in kafka)
    assert all(len(jar.sha512) == 128 for jar in release.jars)


def test_a_cluster_keeps_its_ports_and_its_size(tmp_path: Path) -> None:
    first = brokers.planned(tmp_path, 3)
    (tmp_path / "nodes.json").write_bytes(msgspec.json.encode(first))
    assert brokers.planned(tmp_path, 3) == first
    with pytest.raises(Unavailable, match="has 3 nodes, not 1"):
        brokers.planned(tmp_path, 1)


def test_a_file_of_nodes_that_a_killed_first_start_left_empty_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").touch()
    assert len(brokers.planned(tmp_path, 3).nodes) == 3


def test_a_file_of_nodes_that_is_damaged_beside_data_is_told(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").touch()
    (tmp_path / "node-1" / "data").mkdir(parents=True)
    (tmp_path / "node-1" / "data" / "meta.properties").touch()
    with pytest.raises(Unavailable, match="nodes cannot be read"):
        brokers.planned(tmp_path, 3)
