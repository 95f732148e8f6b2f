"""The parts of a server of several processes: the channel, connections handed over, metrics."""

from __future__ import annotations

import asyncio
import os
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from replay.web.api.metrics import RequestMetrics, joined
from replay.web.server import config
from replay.web.workers import channel
from replay.web.workers.handing import HandedProtocol, HandingProtocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from replay.web.request_limits import TimeoutProtocol

FACTS = b"POST /v1/facts HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
PAGE = b"GET /live HTTP/1.1\r\nHost: h\r\n\r\n"
FORM = b"POST /v1/factsheet HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000


def test_letters_come_in_order_with_their_files() -> None:
    ours, theirs = channel.pair()
    read, write = os.pipe()
    theirs.send(channel.FIGURES, b"many" * 10_000)
    theirs.send(channel.CONNECTION, b"GET", write)
    theirs.send(channel.ASK)
    os.close(write)
    assert ours.receive() == (channel.FIGURES, b"many" * 10_000, None)
    handed = ours.receive()
    assert handed is not None
    assert handed[:2] == (channel.CONNECTION, b"GET")
    assert handed.fd is not None
    os.write(handed.fd, b"through")
    assert os.read(read, 100) == b"through"
    for fd in (read, handed.fd):
        os.close(fd)
    assert ours.receive() == (channel.ASK, b"", None)
    theirs.close()
    assert ours.receive() is None
    ours.close()


def test_a_letter_cut_by_the_death_of_its_sender_is_none() -> None:
    one, other = socket.socketpair()
    ours = channel.Channel(one)
    read, write = os.pipe()
    socket.send_fds(other, [b"c\0\0\0\x09GET"], [write])
    other.close()
    os.close(write)
    assert ours.receive() is None
    assert os.read(read, 1) == b"", "the file that came with it is closed"
    os.close(read)
    ours.close()


def test_metrics_of_all_processes_stand_on_one_page_each_once() -> None:
    idle: Any = type(
        "Idle", (), {"waiting": type("Backlog", (), {"facts": 3, "octets": 5}), "held": 7}
    )
    pages = {}
    for number, answers in enumerate((2, 5)):
        metrics = RequestMetrics(idle, idle)
        for _ in range(answers):
            metrics.answered("batch", 200)
        metrics.seconds.observe(0.003)
        pages[number] = metrics.page()
    page = joined(pages).decode()
    lines = page.splitlines()
    assert 'round_ledger_http_requests_total{mode="batch",status="200",worker="0"} 2.0' in lines
    assert 'round_ledger_http_requests_total{mode="batch",status="200",worker="1"} 5.0' in lines
    assert 'round_ledger_committer_facts{worker="1"} 3.0' in lines
    assert 'round_ledger_http_seconds_bucket{le="0.005",worker="1"} 1.0' in lines
    described = [line for line in lines if line.startswith("# TYPE")]
    assert len(described) == len(set(described))
    alone = [line for line in pages[0].decode().splitlines() if line.startswith("# TYPE")]
    assert sorted(described) == sorted(alone)


def answering(name: str) -> ASGIApp:
    """An application that answers with its name, the path, the body's length and the client."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        octets, more = 0, True
        while more:
            message = await receive()
            octets += len(message.get("body", b""))
            more = message.get("more_body", False)
        says = f"{name} {scope['path']} {octets} {scope['client'][1]}".encode()
        headers = [(b"content-length", str(len(says)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": says})

    return app


def given(app: ASGIApp, protocol: Callable[..., TimeoutProtocol]) -> dict[str, Any]:
    made = config(app, protocol)
    return {"config": made, "server_state": uvicorn.Server(made).server_state, "app_state": {}}


async def exchanged(*parts: bytes, answers: int, takes: bool = True) -> list[str]:
    """The bodies that come back on one connection to a worker, which is written these parts."""
    loop = asyncio.get_running_loop()
    pages = given(answering("pages"), HandedProtocol)
    facts = given(answering("worker"), HandingProtocol)
    taking: list[asyncio.Task[Any]] = []

    def hand(fd: int, octets: bytes) -> bool:
        if takes:
            connection = socket.socket(fileno=fd)
            made = partial(HandedProtocol, begun=octets, **pages)
            taking.append(loop.create_task(loop.connect_accepted_socket(made, connection)))
        return takes

    worker = partial(HandingProtocol, hand=hand, **facts)
    async with await loop.create_server(worker, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        port = writer.get_extra_info("sockname")[1]
        bodies = []
        try:
            for number, part in enumerate(parts, 1):
                writer.write(part)
                await writer.drain()
                await turns()  # so that parts are read apart
                if answers - len(bodies) > len(parts) - number:
                    bodies.append(await body(reader))
            while len(bodies) < answers:
                bodies.append(await body(reader))
        finally:
            writer.close()
            await writer.wait_closed()
            await turns()
    assert not pages["server_state"].connections | facts["server_state"].connections
    assert all(each.endswith(f" {port}") for each in bodies), "each is told the client's address"
    return [each.removesuffix(f" {port}") for each in bodies]


async def turns() -> None:
    """Let the loop read and write what it can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def body(reader: asyncio.StreamReader) -> str:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return (await reader.readexactly(length)).decode()


@pytest.mark.parametrize(
    ("parts", "answers"),
    [
        ([FACTS, FACTS], ["worker /v1/facts 2"] * 2),
        ([PAGE], ["pages /live 0"]),
        ([FORM], ["pages /v1/factsheet 300000"]),
        ([FACTS, PAGE, FACTS], ["worker /v1/facts 2", "pages /live 0", "pages /v1/facts 2"]),
        ([b"PO", FACTS[2:]], ["pages /v1/facts 2"]),
        ([FACTS[:30], FACTS[30:]], ["worker /v1/facts 2"]),
    ],
)
def test_a_connection_moves_at_its_first_request_for_something_else(
    parts: list[bytes], answers: list[str]
) -> None:
    assert asyncio.run(exchanged(*parts, answers=len(answers))) == answers


def test_requests_sent_ahead_are_answered_in_order() -> None:
    ahead = FACTS + FACTS + PAGE + FACTS
    assert asyncio.run(exchanged(ahead, answers=4)) == [
        "worker /v1/facts 2",
        "worker /v1/facts 2",
        "pages /live 0",
        "pages /v1/facts 2",
    ]


def test_a_connection_that_cannot_be_handed_over_is_closed() -> None:
    async def floor() -> list[str]:
        return await exchanged(FACTS + PAGE, answers=2, takes=False)

    with pytest.raises(asyncio.IncompleteReadError):
        asyncio.run(floor())
