"""From the version before to this one while a device sends, the relay publishes and views follow.

The version before is the program before the newest migration, from git, run as its own processes.
Every migration is thus once applied under a program that does not know it.
"""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from consumers.registry import VIEWS
from consumers.relay import check
from consumers.runtime.lifecycle import rebuild
from infra.kafka import topics
from infra.postgres import relay_progress
from infra.postgres.connection import Database, create_database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.simulate import deal, line, plan_of
from tests.fixtures.cli import ROOT, START, environ
from tests.fixtures.postgres import new_name, url_of
from tests.scenes.view_feeds import dumped
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection
    from tests.fixtures.kafka import Cluster

SETTLED_S_MAX = 120.0
BACK_MAX = 20
USED = ("ingest", "relay", "serve", "topics", "consume")
"""The commands that a version is run by: one whose help can be had has all that it imports."""


class Program(NamedTuple):
    """A version of the program, as processes that log to files."""

    root: Path
    environ: dict[str, str]
    logs: Path

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        name = f"{self.root.name}-{'-'.join(args[:2])}-{time.monotonic_ns()}".replace("/", "_")
        with (self.logs / name).open("wb") as log:
            return subprocess.Popen(
                [*START, *args],
                cwd=self.root,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def logged(self, command: str, words: str) -> bool:
        """Whether such a process of this version has logged these words."""
        logs = self.logs.glob(f"{self.root.name}-{command}-*")
        return any(words in log.read_text() for log in logs)

    def run(self, *args: str) -> tuple[int, str]:
        done = subprocess.run(
            [*START, *args],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=SETTLED_S_MAX,
        )
        return done.returncode, done.stdout + done.stderr


def git(*args: str) -> str:
    done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no earlier version to upgrade from: {done.stderr.strip()}")
    return done.stdout.strip()


def deepened() -> None:
    """A clone of the last commit alone is given its history, where its origin can be reached."""
    if git("rev-parse", "--is-shallow-repository") == "true":
        command = ["git", "fetch", "--quiet", "--unshallow"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=120)
        if done.returncode:
            pytest.xfail("a shallow clone whose origin is away holds no earlier version")


def _helps(root: Path, command: str) -> bool:
    done = subprocess.run(
        [*START, command, "--help"], cwd=root, capture_output=True, check=False, timeout=120
    )
    return done.returncode == 0


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """A checkout of the newest program that does not know the newest migration, and runs."""
    deepened()
    newest = max(path.name for path in (ROOT / "infra/postgres/sql").glob("*.sql"))
    path = f"infra/postgres/sql/{newest}"
    how = ("--follow", "-M95%", "--diff-filter=A")  # one like an older one is not moved from there
    added = git("log", *how, "--format=%H", "--", path).split()
    if not added:
        pytest.skip(f"{newest} is not committed: what is before it is not known")
    root = tmp_path / "before"
    git("clone", "--quiet", "--no-checkout", "--shared", str(ROOT), str(root))
    for back in range(1, BACK_MAX):  # not every step on the way to a version runs
        git("-C", str(root), "checkout", "--quiet", f"{added[-1]}~{back}")
        if all(_helps(root, command) for command in USED):
            return root
    pytest.skip(f"none of the {BACK_MAX} programs before {newest} runs")


def stopped(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    return process.wait(60)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def answers(port: int, process: subprocess.Popen[bytes], says: str = "") -> None:
    """Wait until it is ready, and says this of what it does."""

    def ready() -> bool:
        assert process.poll() is None
        with suppress(httpx.HTTPError):
            told = httpx.get(f"http://127.0.0.1:{port}/readyz")
            return told.status_code == 200 and says in told.text
        return False

    until(ready)


class Device:
    """Writes a feed to a file, little by little, as far as it is let: facts flow at each step."""

    def __init__(self, file: Path, feed: list[bytes]) -> None:
        self._file, self._feed = file, feed
        self._limit = 0
        self._done = threading.Event()

    def goes_on(self, share: float) -> int:
        """Let it go on to a share of the feed; how many different facts that is."""
        self._limit = int(len(self._feed) * share)
        return len(set(self._feed[: self._limit]))

    @contextmanager
    def writing(self) -> Iterator[None]:
        thread = threading.Thread(target=self._write)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()

    def _write(self) -> None:
        at, part = 0, max(1, len(self._feed) // 400)
        while not self._done.wait(0.1):
            to = min(at + part, self._limit)
            with self._file.open("ab") as out:
                out.writelines(one + b"\n" for one in self._feed[at:to])
            at = max(at, to)


def settled(database: Database, facts: int, views: Collection[str] | None = None) -> None:
    """Wait until everything is on record, published, and in every view, or in these."""
    with PostgresTape(database) as tape:

        def there() -> bool:
            tip = tape.counters().appended
            tracked = {each.topic: each.position for each in relay_progress.tracked(database)}
            lags = [lag for lag in tape.view_lags() if views is None or lag.view in views]
            behind = sum(lag.facts for lag in lags)
            return (tip, tracked.get(topics.FACTS), behind) == (facts, facts, 0)

        until(there, SETTLED_S_MAX)


def whole(database: Database, kafka: Connection) -> None:
    """The record, the feed and the views are of one piece."""
    with PostgresTape(database) as tape:
        counters = tape.counters()
        assert (counters.equivocation, counters.quarantined, counters.nothing_lost) == (0, 0, True)
        assert tape.verify().broken is None
    seen = check.verify(database, kafka)
    assert (seen.breaks, seen.facts) == ([], counters.appended)
    live = {each.name: dumped(database, each) for each in VIEWS}
    with tape_source(database) as source:
        for each in VIEWS:
            rebuild(database, source, each)
    assert {each.name: dumped(database, each) for each in VIEWS} == live


class Floor(NamedTuple):
    """An empty database, a Kafka without topics, a port, and two versions of the program."""

    database: Database
    kafka: Connection
    port: int
    old: Program
    new: Program
    feed: list[bytes]

    def done(self, program: Program, *args: str) -> None:
        code, said = program.run(*args)
        assert code == 0, said

    def taken(self, count: int) -> None:
        with PostgresTape(self.database) as tape:
            until(lambda: tape.counters().appended >= count, SETTLED_S_MAX)


@pytest.fixture
def floor(postgres_url: str, own_kafka: Cluster, before: Path, tmp_path: Path) -> Floor:
    """On a Kafka of its own: the program of before knows no prefix of topics."""
    name = new_name()
    create_database(postgres_url, name)
    database = Database(url_of(postgres_url, name), url_of(postgres_url, name))
    port = free_port()
    told = environ(
        tmp_path / "home",
        ROUND_LEDGER_DATABASE_URL=database.url,
        ROUND_LEDGER_KAFKA_BOOTSTRAP=own_kafka.connection.bootstrap,
        ROUND_LEDGER_HTTP_PORT=str(port),
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    plan = plan_of(minutes=25, tables=4, seed=11)
    feed = [line(plan, fact) for fact in deal(plan)[0]]
    told.pop("ROUND_LEDGER_POSTGRES_STAYS_S")  # the version before refuses it; the server is named
    return Floor(
        database,
        own_kafka.connection,
        port,
        Program(before, told, logs),
        Program(ROOT, told, logs),
        feed,
    )


@pytest.mark.long
def test_every_process_is_replaced_while_facts_flow_and_nothing_is_lost(
    floor: Floor, tmp_path: Path
) -> None:
    old, new, port = floor.old, floor.new, floor.port
    file = tmp_path / "floor.jsonl"
    file.touch()
    device = Device(file, floor.feed)
    with ExitStack() as open_:

        def running(program: Program, *args: str) -> subprocess.Popen[bytes]:
            process = program.start(*args)
            open_.callback(lambda: (process.kill(), process.wait()))
            return process

        floor.done(old, "topics", "apply")
        if _helps(old.root, "migrate"):
            floor.done(old, "migrate", "--apply")
        serve = running(old, "serve")
        answers(port, serve)
        relay, views = running(old, "relay"), running(old, "consume", "all", "--follow")
        follow = running(new, "ingest", "--follow", str(file), "--to", f"http://127.0.0.1:{port}")
        open_.enter_context(device.writing())
        floor.taken(device.goes_on(1 / 6))

        device.goes_on(2 / 6)
        floor.done(new, "topics", "apply")
        code, said = new.run("verify")
        assert (code, "lacks" in said) == (3, True), (
            "only `migrate --apply` migrates a named server"
        )
        with PostgresTape(floor.database) as tape:
            known = {lag.view for lag in tape.view_lags()}
        floor.done(new, "migrate", "--apply")
        # The earlier version runs on, on a migrated database, and appends facts to it. A new view
        # waits for the new version.
        settled(floor.database, device.goes_on(3 / 6), known)
        assert [serve.poll(), relay.poll(), views.poll()] == [None] * 3

        device.goes_on(4 / 6)
        assert stopped(serve) == 0
        serve = running(new, "serve")
        answers(port, serve)
        told = free_port()
        second = running(new, "relay", "--port", str(told))
        answers(told, second, "it waits")
        device.goes_on(5 / 6)
        assert stopped(relay) == 0
        answers(told, second, "it leads")
        floor.done(new, "rebuild", "all")  # a view whose program changed is made again
        if new.logged("relay", "its topic begins once it is rebuilt"):
            assert second.wait(SETTLED_S_MAX) == 3, "a service manager starts it again"
            second = running(new, "relay", "--port", str(told))
            answers(told, second, "it leads")
        facts = device.goes_on(1)
        stopped(views)
        views = running(new, "consume", "all", "--follow")

        code, said = old.run("verify")
        assert (code, "that differs from this program" in said) == (2, True), "there is no way back"
        settled(floor.database, facts)
        assert [stopped(each) for each in (follow, serve, second, views)] == [0] * 4
    whole(floor.database, floor.kafka)
