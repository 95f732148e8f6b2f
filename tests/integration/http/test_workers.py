"""`serve --workers N`: several processes receive facts on one port, and one has the pages."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

from ledger.record.tape import Received
from ledger.record.wire import parse_structured
from tests.fixtures.cli import lines
from tests.fixtures.http import STRUCTURED, TRUST, Server
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from infra.postgres.tape import PostgresTape
    from tests.fixtures.cli import Cli

SENDERS = 8
RECEIVES = "a worker receives facts"
(PROBE,) = lines(1, place="T-0", device="probe")


class Several(NamedTuple):
    """A server of several processes, with its log so far."""

    server: Server
    log: list[dict[str, Any]]
    reads: threading.Thread

    def processes(self) -> dict[int, int]:
        """The newest process of each number; 0 has the pages."""
        began = [each for each in self.log if each["event"] == RECEIVES]
        return {0: self.server.process.pid, **{each["worker"]: each["pid"] for each in began}}

    def workers(self) -> list[int]:
        """The processes of its workers, each that ever ran."""
        return [each["pid"] for each in self.log if each["event"] == RECEIVES]

    def events(self) -> list[str]:
        return [each["event"] for each in self.log]

    def metrics(self) -> str:
        return httpx.get(f"{self.server.url}/metrics", timeout=120, verify=TRUST).text

    def requests(self) -> dict[int, float]:
        """Requests with facts that each process has answered, by the metrics."""
        found = re.findall(
            r'http_requests_total{mode="structured",status="200",worker="(\d+)"} (\S+)',
            self.metrics(),
        )
        return {int(worker): float(value) for worker, value in found}

    def client(self) -> HTTPConnection:
        """One kept-alive connection, as a device has it."""
        return HTTPConnection(self.server.url.removeprefix("http://"), timeout=120)

    def client_of(self, number: int) -> HTTPConnection:
        """One that this process has accepted: the others stand still meanwhile. It sent a fact."""
        others = [pid for each, pid in self.processes().items() if each != number]
        for pid in others:
            os.kill(pid, signal.SIGSTOP)
        try:
            for pid in others:
                until(partial(is_stopped, pid))
            client = self.client()
            post(client, PROBE)
            return client
        finally:
            for pid in others:
                os.kill(pid, signal.SIGCONT)


@contextmanager
def serving(cli: Cli, workers: int) -> Iterator[Several]:
    command = ("serve", "--no-views", "--port", "0", "--workers", str(workers))
    with cli.start(*command) as process:
        assert process.stderr
        log: list[dict[str, Any]] = [json.loads(process.stderr.readline())]
        reads = threading.Thread(target=read, args=(process.stderr, log), daemon=True)
        reads.start()
        several = Several(Server(f"http://127.0.0.1:{log[0]['port']}", process), log, reads)
        try:
            until(lambda: len(several.workers()) == workers - 1)
            yield several
        finally:
            process.kill()
            until(lambda: not any(map(is_alive, several.workers())))
            reads.join()


def read(stderr: Iterable[bytes], log: list[dict[str, Any]]) -> None:
    log.extend(json.loads(line) for line in stderr)


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def is_stopped(pid: int) -> bool:
    return ") T" in Path(f"/proc/{pid}/stat").read_text()


def send(client: HTTPConnection, line: bytes) -> None:
    client.request("POST", "/v1/facts", line, STRUCTURED)


def post(client: HTTPConnection, line: bytes) -> dict[str, Any]:
    send(client, line)
    answer = client.getresponse()
    body = answer.read()
    assert answer.status == 200, body
    return dict(json.loads(body))


class Sending:
    """Devices that send under load: each sends a fact again until it is answered.

    They begin with the processes by turns, and go on with whichever accepts them.
    """

    def __init__(self, several: Several, each: int) -> None:
        self._several = several
        self._ending = threading.Event()
        self.answered: dict[bytes, int] = {}
        self._pool = ThreadPoolExecutor(SENDERS)
        self._sent = [
            self._pool.submit(
                self._send,
                several.client_of(n % len(several.processes())),
                lines(each, place=f"T-{n % 3}", device=f"shoe-{n}"),
            )
            for n in range(SENDERS)
        ]

    def end(self) -> None:
        """Send no fact again that is not answered."""
        self._ending.set()

    def join(self) -> None:
        for each in self._sent:
            each.result()
        self._pool.shutdown()

    def _send(self, client: HTTPConnection, mine: list[bytes]) -> None:
        for line in mine:
            while line not in self.answered:
                try:
                    self.answered[line] = post(client, line)["position"]
                except (OSError, HTTPException):
                    client.close()
                    if self._ending.is_set():
                        return
                    client = self._several.client()
        client.close()


def lost(kept: Mapping[bytes, int], tape: PostgresTape) -> list[bytes]:
    """The facts that the record does not have at their receipts' positions."""
    assert tape.verify().broken is None
    rows = {row.position: (row.source, row.id) for row in tape.read(0, 100_000)}
    assert [*rows] == [*range(1, len(rows) + 1)]
    assert len({*rows.values()}) == len(rows), "no fact is on record twice"
    return [line for line, position in kept.items() if rows.get(position) != identity(line)]


def identity(line: bytes) -> tuple[str, str]:
    fact = parse_structured(line)
    assert isinstance(fact, Received)
    return fact.source, fact.id


def test_two_processes_on_one_port_and_the_pages_are_with_one(cli: Cli, tape: PostgresTape) -> None:
    with serving(cli, 2) as several:
        client = several.client_of(1)
        answers = [post(client, line)["verdict"] for line in lines(3)]
        assert answers == ["appended"] * 3
        client.request("GET", "/sign-in")
        page = client.getresponse()
        assert (page.status, b"Sign in" in page.read()) == (200, True), "by the same connection"
        assert post(client, lines(1)[0])["verdict"] == "duplicate"
        assert several.requests()[1] == 4
        assert "round_ledger_workers 2.0" in several.metrics()
        client.close()
        several.server.process.send_signal(signal.SIGTERM)
        assert several.server.process.wait(60) == 0
    assert several.events() == ["serving", RECEIVES, "stopped"]
    assert tape.verify().broken is None


@pytest.mark.long
def test_a_worker_is_killed_under_load_and_started_again(cli: Cli, tape: PostgresTape) -> None:
    with serving(cli, 3) as several:
        sending = Sending(several, 60)
        until(lambda: len(sending.answered) > 100)
        os.kill(several.processes()[1], signal.SIGKILL)
        sending.join()
        until(lambda: len(several.workers()) == 3)
        several.client_of(1).close()
        metrics = several.metrics()
    assert len(sending.answered) == SENDERS * 60
    assert lost(sending.answered, tape) == []
    (ended,) = [each for each in several.log if each["event"] == "a worker ended"]
    assert (ended["worker"], ended["code"]) == (1, -signal.SIGKILL)
    assert "round_ledger_worker_restarts_total 1.0" in metrics


@pytest.mark.long
def test_the_server_is_killed_under_load_and_its_workers_end(cli: Cli, tape: PostgresTape) -> None:
    with serving(cli, 3) as several:
        sending = Sending(several, 2_000)
        until(lambda: len(sending.answered) > 100)
        sending.end()
        several.server.process.kill()
        sending.join()
        until(lambda: not any(map(is_alive, several.workers())))
    assert 100 < len(sending.answered) < SENDERS * 2_000
    assert lost(sending.answered, tape) == []


@pytest.mark.long
def test_all_processes_stop_together_and_keep_what_they_answered(
    cli: Cli, tape: PostgresTape
) -> None:
    with serving(cli, 3) as several:
        sending = Sending(several, 2_000)
        until(lambda: len(sending.answered) > 100)
        sending.end()
        several.server.process.send_signal(signal.SIGTERM)
        sending.join()
        assert several.server.process.wait(60) == 0
        assert not any(map(is_alive, several.workers()))
    assert several.events()[-1] == "stopped"
    assert "a worker ended" not in several.events()
    assert lost(sending.answered, tape) == []
    kept = tape.counters().appended - 1  # of the probe
    assert kept == len(sending.answered), "and nothing that they did not answer"


@pytest.mark.long
def test_a_fact_that_was_sent_and_not_answered_may_be_lost(cli: Cli, tape: PostgresTape) -> None:
    """The control: a device that takes a fact for kept once it is sent loses it, and it is seen."""
    with serving(cli, 2) as several:
        client = several.client_of(1)
        pid = several.processes()[1]
        os.kill(pid, signal.SIGSTOP)
        (line,) = lines(1)
        send(client, line)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises((OSError, HTTPException)):
            client.getresponse()
        client.close()
    assert lost({line: tape.counters().appended + 1}, tape) == [line]
