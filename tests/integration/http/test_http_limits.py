"""Requests that trickle in, and too many bytes at once: against a server on real sockets."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from consumers.registry import view
from consumers.runtime.lifecycle import catch_up
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.record.group_commit import Committer
from replay.web.app import build
from replay.web.request_limits import TimeoutProtocol
from tests.fixtures.cli import lines
from tests.fixtures.http import BATCH, STRUCTURED, TRUST, batch
from tests.fixtures.postgres import waits_for_a_lock
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import AnyConnection, Database
    from tests.fixtures.http import Server
    from tests.fixtures.web import Site

HEAD = b"POST /v1/facts HTTP/1.1\r\nHost: localhost\r\n"


class Hasty(TimeoutProtocol):
    head_s_max = 0.5
    body_s_max = 1.0


class Calm(TimeoutProtocol):
    """Slow enough that a machine which does other things too is not taken for a slow client."""

    head_s_max = 6.0


class Edge(NamedTuple):
    port: int
    committer: Committer

    def post(self, content: bytes, headers: dict[str, str]) -> httpx.Response:
        url = f"http://127.0.0.1:{self.port}/v1/facts"
        return httpx.post(url, content=content, headers=headers, timeout=120, verify=TRUST)

    def figures(self) -> dict[str, float]:
        page = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=120).text
        told = [line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in told}

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
            yield client


@contextmanager
def serving(
    database: Database, http: type[H11Protocol] = Hasty, octets_max: int = 2**26
) -> Iterator[Edge]:
    with PostgresTape(database) as tape, Committer(tape) as committer:
        app = build(tape, committer, bodies_octets_max=octets_max)
        server = uvicorn.Server(uvicorn.Config(app, http=http, ws="none", timeout_keep_alive=5))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                yield Edge(listener.getsockname()[1], committer)
            finally:
                server.should_exit = True
                thread.join()


def trickle(client: socket.socket, octets: bytes, *, every_s: float = 0.1) -> float | None:
    """Send byte by byte; seconds until the other side closed, None where it never did."""
    began = time.monotonic()
    client.settimeout(every_s)
    for octet in octets:
        try:
            client.sendall(bytes([octet]))
            if client.recv(1_000) == b"":
                return time.monotonic() - began
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - began
    return None


def test_a_head_that_trickles_in_is_cut_off(database: Database) -> None:
    with serving(database) as edge, edge.connected() as client:
        closed = trickle(client, HEAD)
    assert closed is not None
    assert closed > 0.4


@pytest.mark.long
def test_without_the_limit_it_would_be_waited_for(database: Database) -> None:
    """The control: uvicorn's own protocol reads such a head to its end."""
    with serving(database, H11Protocol) as edge, edge.connected() as client:
        assert trickle(client, HEAD[:30]) is None


def test_a_connection_that_sends_nothing_is_cut_off(database: Database) -> None:
    with serving(database) as edge, edge.connected() as client:
        client.settimeout(60)
        assert client.recv(1) == b""


@pytest.mark.long
def test_the_second_head_of_a_connection_has_its_own_time(database: Database) -> None:
    line = lines(1)[0]
    told = b"Content-Type: application/cloudevents+json\r\nContent-Length: %d\r\n\r\n" % len(line)
    with serving(database, Calm) as edge, edge.connected() as client:
        client.settimeout(30)
        for _ in range(3):
            client.sendall(HEAD)
            time.sleep(3.2)  # a slow client, within what a head may take
            client.sendall(told + line)
            answer = b""
            while not answer.endswith(b"}"):
                part = client.recv(10_000)
                assert part, "it was cut off"
                answer += part
            assert answer.startswith(b"HTTP/1.1 200 ")
            time.sleep(3.2)  # with the last head longer than one may take
        assert trickle(client, HEAD * 3) is not None


@pytest.mark.long
def test_a_body_that_nobody_reads_is_cut_off_too(database: Database) -> None:
    with serving(database) as edge, edge.connected() as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        assert client.recv(10_000).startswith(b"HTTP/1.1 200 ")
        assert trickle(client, b"x" * 100) is not None


@pytest.mark.long
def test_a_slow_commit_is_no_slow_client(database: Database) -> None:
    """Once a request is there, its answer is waited for longer than its head may take."""
    with (
        serving(database) as edge,
        database.connect("ledger_owner", autocommit=False) as locked,
        ThreadPoolExecutor(1) as pool,
    ):
        lock(locked)
        sent = pool.submit(edge.post, lines(1)[0], STRUCTURED)
        until(lambda: waits_for_a_lock(database))
        time.sleep(1.6)  # the slow commit: longer than a head and a body may take
        assert not sent.done()
        locked.commit()
        assert sent.result().json()["verdict"] == "appended"


def lock(connection: AnyConnection) -> None:
    """Every append waits until the caller commits; a reader does not."""
    connection.execute("SELECT FROM ledger.record FOR UPDATE")


def test_bodies_over_the_common_budget_are_429_and_those_within_are_kept(
    database: Database,
) -> None:
    first, second = (batch(lines(400, place=place)) for place in ("T-1", "T-2"))
    with (
        serving(database, octets_max=len(first) + len(second) // 2) as edge,
        database.connect("ledger_owner", autocommit=False) as locked,
        ThreadPoolExecutor(1) as pool,
    ):
        lock(locked)
        sent = pool.submit(edge.post, first, BATCH)
        until(lambda: edge.figures()["round_ledger_http_body_octets"] == len(first))
        refused = edge.post(second, BATCH)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert refused.json()["kept"] is False
        locked.commit()
        assert len(sent.result().json()) == 400
        assert edge.figures()["round_ledger_http_body_octets"] == 0
        assert {each["verdict"] for each in edge.post(second, BATCH).json()} == {"appended"}


def test_a_body_cut_off_by_its_sender_gives_its_octets_back(database: Database) -> None:
    with serving(database) as edge:
        with edge.connected() as client:
            client.sendall(HEAD + b"Content-Length: 10000\r\n\r\n" + b"x" * 5_000)
            until(lambda: edge.figures()["round_ledger_http_body_octets"] == 5_000)
        until(lambda: edge.figures()["round_ledger_http_body_octets"] == 0)


def test_the_depth_of_the_committers_queue_is_told(database: Database) -> None:
    with (
        serving(database) as edge,
        database.connect("ledger_owner", autocommit=False) as locked,
        ThreadPoolExecutor(2) as pool,
    ):
        lock(locked)
        sent = [pool.submit(edge.post, lines(1)[0], STRUCTURED)]
        until(lambda: edge.figures()["round_ledger_http_under_way"] == 1)
        until(lambda: waits_for_a_lock(database))  # it is being committed, not in the queue
        sent.append(pool.submit(edge.post, batch(lines(7, place="T-7")), BATCH))
        until(lambda: edge.figures()["round_ledger_committer_facts"] == 7)
        assert edge.figures()["round_ledger_committer_octets"] > 700
        locked.commit()
        assert all(each.result().status_code == 200 for each in sent)
        assert edge.figures()["round_ledger_committer_facts"] == 0


def behind(url: str, name: str) -> tuple[float, float]:
    """A view's consumer lag in facts and seconds, as /metrics reports it."""
    page = httpx.get(f"{url}/metrics", timeout=120).text
    told = dict(line.rsplit(" ", 1) for line in page.splitlines())
    facts, seconds = (
        float(told[f'round_ledger_view_behind_{unit}{{view="{name}"}}'])
        for unit in ("facts", "seconds")
    )
    return facts, seconds


@pytest.mark.long
def test_how_far_views_are_behind_is_told_in_facts_and_in_seconds(site: Site) -> None:
    assert behind(site.url, "drop") == (0, 0)
    facts = day(3)
    began = time.monotonic()
    record(site.database, facts)
    until(lambda: behind(site.url, "drop")[1] > 0.2)
    told = behind(site.url, "drop")
    assert told[0] == len(facts)
    assert 0.2 < told[1] <= time.monotonic() - began
    with tape_source(site.database) as source:
        catch_up(site.database, source, [view("drop")])
    assert behind(site.url, "drop") == (0, 0)
    assert behind(site.url, "rounds")[0] == len(facts)


@pytest.mark.long
def test_a_server_brings_its_views_along_by_itself(server: Server, tape: PostgresTape) -> None:
    tape.append(day(3))
    until(lambda: behind(server.url, "rounds") == behind(server.url, "finds") == (0, 0))
    assert tape.counters().appended > 0


@pytest.mark.parametrize("octets", [2_000, 60_000])
def test_a_body_of_many_parts_is_counted_once(database: Database, octets: int) -> None:
    """The budget holds exactly what came: a body as large as it passes, one byte more does not."""
    with serving(database, octets_max=octets) as edge:
        for _ in range(3):
            assert edge.post(b"x" * octets, STRUCTURED).json()["verdict"] == "quarantined"
        assert edge.post(b"x" * (octets + 1), STRUCTURED).status_code == 429
