"""A device's file forwarded to a real server, either of them killed: nothing lost or doubled."""

from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple

import httpx
import pytest

from tests.fixtures.cli import Cli, lines
from tests.processes.command_server import ROOT, started
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.tape import PostgresTape

KILLS, KILLS_LONG = 5, 20
SETTLED_S_MAX = 60.0
CUT_S = 60.0


class Pair(NamedTuple):
    """A ledger over HTTP on a port of its own, and a device's file."""

    cli: Cli
    tape: PostgresTape
    file: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self) -> subprocess.Popen[bytes]:
        """A server that answers. Its log goes to a file, which nobody has to empty."""
        with self.file.with_name("server.log").open("wb") as log:
            process = self._start("serve", "--port", str(self.port), log=log)
        end = time.monotonic() + SETTLED_S_MAX
        while time.monotonic() < end:
            assert process.poll() is None, self.file.with_name("server.log").read_text()
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    break
            time.sleep(0.02)
        return process

    def follow(
        self, *args: str, out: IO[bytes] | None = None, log: IO[bytes] | None = None
    ) -> subprocess.Popen[bytes]:
        what = ("ingest", "--follow", str(self.file), *args)
        return self._start(*what, out=out, log=log)

    def mutant(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.processes.follow_process", str(self.file), self.url],
            env=self.cli.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
        )

    def _start(
        self, *args: str, out: IO[bytes] | None = None, log: IO[bytes] | None = None
    ) -> subprocess.Popen[bytes]:
        return started(
            args,
            self.cli.environ,
            stdin=subprocess.DEVNULL,
            stdout=out or subprocess.DEVNULL,
            stderr=log or subprocess.DEVNULL,
        )

    @contextmanager
    def device(
        self, every_s: float = 0.02, *, rotate_every: int = 0, most: int = 6_000
    ) -> Iterator[list[int]]:
        """A device that writes all the while, and renames its file now and then."""
        count = [0]
        done = threading.Event()
        ready = lines(most)

        def write() -> None:
            rotated = 0
            while not done.wait(every_s) and count[0] < most:
                with self.file.open("ab") as out:
                    out.writelines(line + b"\n" for line in ready[count[0] : count[0] + 20])
                count[0] += 20
                if rotate_every and count[0] // rotate_every > rotated:
                    rotated += 1
                    self.file.rename(f"{self.file}-{rotated}")

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield count
        finally:
            done.set()
            thread.join()

    def settle(self, count: int) -> None:
        """Wait until so many facts are on record, as long as more come."""
        moved = time.monotonic()
        reached = 0
        while (appended := self.tape.counters().appended) < count:
            if appended > reached:
                reached, moved = appended, time.monotonic()
            assert time.monotonic() - moved < SETTLED_S_MAX, self.tape.counters()
            time.sleep(0.05)

    def moves(self) -> None:
        """Wait until something more was received."""
        before = self.tape.counters().received
        until(lambda: self.tape.counters().received != before, SETTLED_S_MAX)

    def whole(self, count: int) -> None:
        """Every fact once, and in the order the device wrote them; the rest are duplicates."""
        counters = self.tape.counters()
        rows = self.tape.read(0, count + 1)
        assert [row.id for row in rows] == [f"run1-{n:08d}" for n in range(count)]
        assert (counters.appended, counters.equivocation, counters.quarantined) == (count, 0, 0)
        assert counters.nothing_lost
        assert self.tape.verify().broken is None


@pytest.fixture
def pair(cli: Cli, tape: PostgresTape, tmp_path: Path) -> Pair:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return Pair(cli, tape, tmp_path / "shoe.jsonl", port)


def stopped(process: subprocess.Popen[bytes], wait_s: float = 40) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(wait_s)


@pytest.mark.long
def test_facts_are_sent_as_they_are_written_and_sigterm_ends_it_with_the_totals(
    pair: Pair,
) -> None:
    out, err = (pair.file.with_name(name) for name in ("out", "err"))
    with out.open("wb") as said, err.open("wb") as log:
        client = pair.follow("--to", pair.url, "--json", out=said, log=log)
    with pair.serve() as server, client:
        with pair.device() as count:
            pair.settle(200)
        pair.settle(count[0])
        assert stopped(client) == 0, err.read_text()
        assert stopped(server) == 0
    told = [json.loads(line) for line in out.read_text().splitlines()]
    assert [each["line"] for each in told[:-1]] == list(range(1, count[0] + 1))
    assert told[-1]["appended"] == count[0]
    events = {json.loads(line)["event"] for line in err.read_text().splitlines()}
    assert {"following", "stopped"} <= events
    pair.whole(count[0])


def test_without_an_address_it_feeds_the_record_here(pair: Pair) -> None:
    with pair.device() as count, pair.follow() as client:
        pair.settle(100)
        assert stopped(client) == 0
    with pair.follow() as client:  # goes on from its place
        pair.settle(count[0])
        assert stopped(client) == 0
    pair.whole(count[0])
    assert pair.tape.counters().duplicate == 0


@pytest.mark.long
def test_with_a_key_of_its_own_facts_are_taken_and_without_it_they_wait(pair: Pair) -> None:
    made = pair.cli("keys", "add", "/hollywood/CC-07/shoe", "--json")
    key = pair.file.with_name("shoe.key")
    key.write_text("not-the-key")
    with pair.serve() as server, pair.follow("--to", pair.url, "--key-file", str(key)) as client:
        with pair.device() as count:
            time.sleep(3)
            assert pair.tape.counters().received == 0
            key.write_text(made.json[0]["key"])  # replaced while it runs
            pair.settle(100)
        pair.settle(count[0])
        assert stopped(client) == 0
        assert stopped(server) == 0
    pair.whole(count[0])


def survives(pair: Pair, kills: int, *, which: str, rotate_every: int = 0) -> None:
    """Kill the server or the device's client at random moments, under load."""
    chance = random.Random(kills)  # noqa: S311 - repeatable, not secret
    server, client = pair.serve(), pair.follow("--to", pair.url)
    try:
        with pair.device(0.05, rotate_every=rotate_every, most=2_000 * kills) as count:
            for _ in range(kills):
                before = pair.tape.counters().received
                end = time.monotonic() + SETTLED_S_MAX  # all may have been sent by now
                while pair.tape.counters().received == before and time.monotonic() < end:
                    time.sleep(0.005)
                time.sleep(chance.random() * 0.1)
                if which == "server":
                    server.kill()
                    server.wait()
                    server = pair.serve()
                else:
                    client.kill()
                    client.wait()
                    client = pair.follow("--to", pair.url)
            pair.moves()  # the last process started is up, and may be stopped
        pair.settle(count[0])
        assert stopped(client) == 0
        assert stopped(server) == 0
    finally:
        client.kill()
        server.kill()
        client.wait()
        server.wait()
    pair.whole(count[0])


@pytest.mark.long
@pytest.mark.parametrize("which", ["server", "client"])
def test_whichever_is_killed_nothing_is_lost_or_doubled(pair: Pair, which: str) -> None:
    survives(pair, KILLS, which=which)


@pytest.mark.long
@pytest.mark.parametrize("which", ["server", "client"])
def test_whichever_is_killed_tens_of_times_while_files_rotate_nothing_is_lost_or_doubled(
    pair: Pair, which: str
) -> None:
    survives(pair, KILLS_LONG, which=which, rotate_every=2_000)


@pytest.mark.long
def test_a_client_that_keeps_its_place_before_the_answer_loses_facts(pair: Pair) -> None:
    with pair.device() as count:
        until(lambda: count[0] >= 200)
    with pair.mutant() as client:  # nobody answers, and then it is killed
        place = pair.file.with_name("shoe.jsonl.place")
        until(lambda: place.exists() and json.loads(place.read_bytes())["offset"] > 0)
        client.kill()
    with pair.serve() as server, pair.follow("--to", pair.url) as client:
        with pair.device(every_s=0.1, most=20) as more:
            until(lambda: more[0])
        pair.settle(more[0])
        assert stopped(client) == 0
        assert stopped(server) == 0
    assert pair.tape.counters().appended < count[0]


@pytest.mark.long
def test_a_cut_of_a_minute_is_stored_through_and_forwarded(pair: Pair) -> None:
    """One real minute; how soon it goes on is held by tests/unit/devices/test_forward.py."""
    with pair.follow("--to", pair.url) as client:
        server = pair.serve()
        with pair.device(every_s=0.05) as count:
            pair.settle(100)
            server.kill()
            server.wait()
            time.sleep(CUT_S)
            assert client.poll() is None
            before = pair.tape.counters().appended
            server = pair.serve()
            assert count[0] > before, "the device went on writing"
        pair.settle(count[0])
        assert stopped(client) == 0
        assert stopped(server) == 0
    pair.whole(count[0])
