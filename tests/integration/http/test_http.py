"""`POST /v1/facts` against a real server process and a real PostgreSQL."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.record.group_commit import Committer
from ledger.record.wire import BATCH_EVENTS_MAX
from replay.web.app import build
from tests.fixtures.cli import Cli, feed, lines
from tests.fixtures.http import BATCH, STRUCTURED, Server, batch, binary
from tests.fixtures.postgres import waits_for_a_lock
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from infra.postgres.connection import AnyConnection

OVER_8_MIB = 8 * 2**20 + 1
RECEIPT = ("position", "table_seq", "hash")


def receipts(answers: Sequence[Any]) -> list[list[Any]]:
    return [[answer[name] for name in RECEIPT] for answer in answers]


@pytest.fixture
def locked(database: Database) -> Iterator[AnyConnection]:
    """The tape, locked by somebody else until `commit`: every append waits."""
    with database.connect("ledger_owner", autocommit=False) as connection:
        connection.execute("LOCK TABLE ledger.tape IN ACCESS EXCLUSIVE MODE")
        yield connection


@contextmanager
def hasty(database: Database) -> Iterator[str]:
    """The same server in this process, one that waits for nothing: its URL."""
    with PostgresTape(database) as tape, Committer(tape, ask_again_s_max=0.1) as committer:
        server = uvicorn.Server(uvicorn.Config(build(tape, committer, body_s_max=0.5)))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            finally:
                server.should_exit = True
                thread.join()


def test_the_three_modes_are_one_fact(server: Server, tape: PostgresTape) -> None:
    line = lines(1)[0]
    first = server.post(line, STRUCTURED).json()
    in_batch = server.post(batch([line]), BATCH).json()
    in_binary = server.post(*binary(line)).json()
    assert first["verdict"] == "appended"
    assert [in_batch[0]["verdict"], in_binary["verdict"]] == ["duplicate", "duplicate"]
    assert receipts([first]) == receipts(in_batch) == receipts([in_binary])
    other = line.replace(b'"position":1', b'"position":2')
    told = server.post(*binary(other)).json()
    assert told["verdict"] == "equivocation"
    assert (told["what"], told["where"]) == (
        "Another event is on record under this source and id",
        "$.id",
    )
    assert "white space" in told["hint"]
    assert len(tape.read(0, 10)) == 1


def test_modes_give_equal_rows(server: Server, tape: PostgresTape) -> None:
    first, second, third = (lines(1, device=name)[0] for name in ("one", "two", "six"))
    server.post(first, STRUCTURED)
    server.post(batch([second]), BATCH)
    server.post(*binary(third))
    rows = tape.read(0, 10)
    assert len(rows) == 3
    assert {row.data for row in rows} == {rows[0].data}
    told = {row.attributes.replace(row.source.encode(), b"") for row in rows}
    assert len(told) == 1


def test_answers_are_those_of_ingest(server: Server) -> None:
    kept = server.post(lines(1)[0], STRUCTURED).json()
    assert list(kept) == [
        "verdict",
        "source",
        "id",
        "position",
        "table_seq",
        "hash",
        "reason",
    ]
    malformed = server.post(b"no fact", STRUCTURED)
    assert malformed.status_code == 200
    told = malformed.json()
    assert (told["verdict"], told["reason"]) == ("quarantined", "not_json")
    assert told["what"]
    assert told["where"]
    assert told["hint"]


def test_one_malformed_event_spoils_no_other_of_its_batch(server: Server) -> None:
    good, also_good = lines(2)
    verdicts = [
        each["verdict"] for each in server.post(batch([good, b"{}", also_good]), BATCH).json()
    ]
    assert verdicts == ["appended", "quarantined", "appended"]
    assert server.post(b"[]", BATCH).json() == []
    assert [each["verdict"] for each in server.post(b"no array", BATCH).json()] == ["quarantined"]


def test_whatever_is_sent_is_kept(server: Server, tape: PostgresTape) -> None:
    sent: list[tuple[bytes, dict[str, str]]] = [
        (b"hello", {"Content-Type": "text/plain"}),
        (b"\x00\xff", {}),
        (b"", STRUCTURED),
        (b"<fact/>", {"Content-Type": "application/cloudevents+xml"}),
        (b"{}", {"Content-Type": "application/json", "ce-id": "%ff"}),
        (b"[" * 5_000, STRUCTURED),
        (b"x" * 70_000, STRUCTURED),
    ]
    for content, headers in sent:
        response = server.post(content, headers)
        assert response.status_code == 200, content[:9]
        assert response.json()["verdict"] == "quarantined", content[:9]
    kept = tape.quarantined()
    assert len(kept) == len(sent)
    for row, (content, _) in zip(kept, sent, strict=True):
        assert row.octets.endswith(content)


@pytest.mark.long
def test_two_hundred_tables_at_once_leave_gapless_tapes(server: Server, tape: PostgresTape) -> None:
    async def told(client: httpx.AsyncClient, line: bytes) -> dict[str, Any]:
        """As a device sends it: again if an idle connection was closed meanwhile."""
        for _ in range(20):
            with suppress(httpx.TransportError):
                answer = await client.post("/v1/facts", content=line, headers=STRUCTURED)
                return dict(answer.json())
        raise AssertionError("nobody answers")

    async def table(client: httpx.AsyncClient, number: int) -> list[dict[str, Any]]:
        return [await told(client, line) for line in lines(5, place=f"T-{number}")]

    async def floor() -> list[list[dict[str, Any]]]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=server.url, limits=limits, timeout=120) as client:
            return await asyncio.gather(*(table(client, number) for number in range(200)))

    answered = asyncio.run(floor())
    assert all([each["table_seq"] for each in its] == [1, 2, 3, 4, 5] for its in answered)
    positions = sorted(each["position"] for its in answered for each in its)
    assert positions == list(range(1, 1_001))
    assert tape.counters().appended == 1_000


def test_a_body_over_8_mib_is_413_though_nothing_of_it_comes(
    server: Server, tape: PostgresTape
) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as client:
        head = f"POST /v1/facts HTTP/1.1\r\nHost: {host}\r\nContent-Length: {OVER_8_MIB}\r\n\r\n"
        client.sendall(head.encode())
        assert client.recv(1_000).startswith(b"HTTP/1.1 413 ")
    assert tape.counters().received == 0


def test_a_body_of_no_told_length_is_413_once_it_is_too_long(
    server: Server, tape: PostgresTape
) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as client:
        head = f"POST /v1/facts HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.sendall(head.encode())
        chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
        for _ in range(129):
            client.sendall(chunk)
        assert client.recv(1_000).startswith(b"HTTP/1.1 413 ")
    assert tape.counters().received == 0
    assert server.post(lines(1)[0], STRUCTURED).status_code == 200


def test_a_client_that_sends_a_too_large_body_to_its_end_reads_the_413(
    server: Server, tape: PostgresTape
) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    for _ in range(5):  # cut off while it sends, a client reads an answer by luck
        client = http.client.HTTPConnection(host, int(port), timeout=120)
        client.request("POST", "/v1/facts", b" " * OVER_8_MIB, STRUCTURED)
        assert client.getresponse().status == 413
        client.close()
    assert tape.counters().received == 0


def test_a_batch_of_too_many_events_is_413_and_none_of_them_is_kept(
    server: Server, tape: PostgresTape
) -> None:
    for many in (b"[" + b"1," * BATCH_EVENTS_MAX + b"1]", b"[" + b"1," * BATCH_EVENTS_MAX + b"x]"):
        answer = server.post(many, BATCH)
        assert answer.status_code == 413
        assert "10,001 events" in answer.text
    assert tape.counters().received == 0
    assert len(server.post(b"[" + b"1," * (BATCH_EVENTS_MAX - 1) + b"1]", BATCH).json()) == 10_000


@pytest.mark.long
def test_a_large_batch_is_kept_whole(server: Server) -> None:
    many = lines(8_000)
    answers = server.post(batch(many), BATCH).json()
    assert [each["table_seq"] for each in answers] == list(range(1, 8_001))


@pytest.mark.long
def test_more_than_may_wait_is_429_and_what_waits_is_kept(
    server: Server, tape: PostgresTape, locked: AnyConnection
) -> None:
    def send(number: int) -> httpx.Response:
        return server.post(batch(lines(8_000, place=f"T-{number}")), BATCH)

    with ThreadPoolExecutor(6) as pool:  # one is being committed, two fit beside it
        sent = [pool.submit(send, number) for number in range(6)]
        for refused in itertools.islice(as_completed(sent, timeout=120), 3):
            assert refused.result().status_code == 429
            assert refused.result().headers["Retry-After"] == "1"
            assert refused.result().json()["kept"] is False
        assert tape.counters().received == 0
        locked.commit()
        kept = [each for each in sent if each.result().status_code == 200]
    assert len(kept) == 3
    assert tape.counters().appended == 24_000


def listens(server: Server) -> bool:
    try:
        httpx.get(f"{server.url}/healthz", timeout=120)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.long
def test_told_to_stop_it_answers_what_is_under_way(
    server: Server, database: Database, tape: PostgresTape, locked: AnyConnection
) -> None:
    with ThreadPoolExecutor(2) as pool:
        answer = pool.submit(server.post, lines(1)[0], STRUCTURED)
        # The views of the server wait too, and may before the request has come.
        until(lambda: waits_for_a_lock(database, "ledger_writer"))
        stopped = pool.submit(server.stop)
        until(lambda: not listens(server))
        assert not answer.done()
        locked.commit()
        assert answer.result().json()["verdict"] == "appended"
        code, log = stopped.result()
    assert code == 0
    assert log[-1]["event"] == "stopped"
    assert tape.counters().appended == 1


@pytest.mark.long
def test_what_was_answered_outlives_a_kill_and_sending_all_again_doubles_nothing(
    server: Server, cli: Cli, tape: PostgresTape, tmp_path: Path
) -> None:
    sent = lines(4_000)
    answered: dict[int, int] = {}

    def send(first: int) -> None:
        with httpx.Client() as client:
            for number in range(first, len(sent), 8):
                answer = client.post(
                    f"{server.url}/v1/facts", content=sent[number], headers=STRUCTURED
                )
                answered[number] = answer.json()["position"]

    with ThreadPoolExecutor(8) as pool:
        senders = [pool.submit(send, first) for first in range(8)]
        until(lambda: len(answered) >= 200)
        server.process.kill()
        assert all(isinstance(each.exception(), httpx.TransportError) for each in senders)
    assert 200 <= len(answered) < len(sent)
    again = cli("ingest", feed(tmp_path / "feed", sent), "--json").json
    assert all(again[number]["verdict"] == "duplicate" for number in answered)
    assert all(again[number]["position"] == position for number, position in answered.items())
    assert again[-1]["appended"] + again[-1]["duplicate"] == len(sent)
    assert len(tape.read(0, 5_000)) == len(sent)


def test_health_and_figures(server: Server) -> None:
    server.post(batch([*lines(3), lines(1)[0], b"{}"]), BATCH)
    assert httpx.get(f"{server.url}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{server.url}/readyz").json() == {"status": "ok"}
    page = httpx.get(f"{server.url}/metrics").text
    figures = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    verdicts = [float(of) for name, of in figures.items() if name.startswith("round_ledger_facts")]
    assert sum(verdicts) == float(figures["round_ledger_received_total"]) == 5
    assert figures['round_ledger_facts_total{verdict="quarantined"}'] == "1.0"


@pytest.mark.long
def test_what_facts_say_is_not_in_the_log(server: Server) -> None:
    secret = lines(1)[0].replace(b"run1-", b"whisper-")
    server.post(secret.replace(b'"As"', b'"1s"'), STRUCTURED)
    server.post(secret, STRUCTURED)
    server.post(secret.replace(b'"position":1', b'"position":2'), STRUCTURED)
    _, log = server.stop()
    assert [each["event"] for each in log] == ["facts were quarantined"] * 2 + ["stopped"]
    assert "whisper" not in json.dumps(log)


def test_a_web_page_or_another_host_name_is_refused(server: Server, tape: PostgresTape) -> None:
    line = lines(1)[0]
    assert server.post(line, STRUCTURED | {"Origin": "https://elsewhere"}).status_code == 403
    assert server.post(line, STRUCTURED | {"Host": "elsewhere"}).status_code == 400
    assert tape.counters().received == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8 at hand")
def test_a_server_is_reached_by_the_address_it_was_bound_to(cli: Cli) -> None:
    with cli.start("serve", "--host", "127.0.0.2", "--port", "0") as process:
        assert process.stderr
        port = json.loads(process.stderr.readline())["port"]
        assert httpx.get(f"http://127.0.0.2:{port}/healthz").status_code == 200
        process.kill()


def test_openapi_tells_every_status_and_mode(server: Server) -> None:
    post = httpx.get(f"{server.url}/openapi.json").json()["paths"]["/v1/facts"]["post"]
    assert set(post["responses"]) == {"200", "401", "403", "408", "413", "422", "429", "503"}
    assert set(post["requestBody"]["content"]) == {
        "application/cloudevents+json",
        "application/cloudevents-batch+json",
        "application/json",
    }
    answer = post["responses"]["200"]["content"]["application/json"]["schema"]["oneOf"][0]
    assert set(server.post(b"x", STRUCTURED).json()) <= set(answer["properties"])
    assert set(answer["required"]) == {
        "verdict",
        "source",
        "id",
        "position",
        "table_seq",
        "hash",
        "reason",
    }


def test_a_body_that_does_not_come_is_408_and_one_in_time_is_kept(database: Database) -> None:
    line = lines(1)[0]
    with hasty(database) as url:
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
            head = "POST /v1/facts HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
            client.sendall(f"{head}{len(line)}\r\n\r\n".encode() + line[:50])
            assert client.recv(1_000).startswith(b"HTTP/1.1 408 ")
        kept = httpx.post(f"{url}/v1/facts", content=line, headers=STRUCTURED)
        assert kept.json()["position"] == 1


def test_without_its_database_it_is_503_and_tells_nobody_where_that_is() -> None:
    away = Database("postgresql://127.0.0.1:9/secret-word", "postgresql://127.0.0.1:9/secret-word")
    with hasty(away) as url:
        refused = httpx.post(f"{url}/v1/facts", content=lines(1)[0], headers=STRUCTURED)
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "5"
        assert "secret-word" not in refused.text
        assert httpx.get(f"{url}/readyz").status_code == 503
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert httpx.get(f"{url}/metrics").status_code == 200
