"""Facts past FastAPI: every answer of the direct way has the bytes of the way by FastAPI's route.

Both servers get the same requests over real sockets: usual ones, and those that a broken or hostile
client sends. The committer keeps in memory, so that receipts are the same on both.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import socket
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest
import uvicorn
from fastapi import Request, Response  # noqa: TC002 - FastAPI reads the annotations
from uvicorn.protocols.http.h11_impl import H11Protocol

from ledger.errors import Busy, LedgerError, Refused, Unavailable
from ledger.record.group_commit import CommitBacklog
from ledger.record.tape import Counters, Quarantined, Receipt
from replay.web.access.device_keys import Keyring
from replay.web.app import Application, build
from replay.web.request_limits import TimeoutProtocol
from tests.fixtures.cli import lines
from tests.fixtures.http import batch, binary
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.access.keys import Keys
    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from ledger.record.tape import Received

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
LINE, OTHER, THIRD = lines(3)
KEY = "Authorization: Bearer valid for CC-07"


class Memory:
    """A committer that keeps in memory, and fails where a fact's id says so."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str | None, str | None], tuple[object, Receipt]] = {}
        self.waiting = CommitBacklog(0, 0)

    def submit(self, facts: Sequence[Received | Quarantined]) -> Future[list[Receipt]]:
        done: Future[list[Receipt]] = Future()
        ids = {fact.id for fact in facts}
        if "busy" in ids:
            raise Busy("5 facts are waiting", where="committer", hint="Later.")
        for name, error in FAILURES.items():
            if name in ids:
                done.set_exception(error)
                return done
        done.set_result([self._receipt(fact) for fact in facts])
        return done

    def _receipt(self, fact: Received | Quarantined) -> Receipt:
        if isinstance(fact, Quarantined):
            return Receipt(
                "quarantined", fact.source, fact.id, None, None, None, fact.reason, quarantine_id=7
            )
        number, digest = len(self.kept) + 1, hashlib.sha256(fact.data).digest()
        receipt = Receipt("appended", fact.source, fact.id, number, number, digest)
        first, original = self.kept.setdefault((fact.source, fact.id), (fact, receipt))
        if original is receipt:
            return receipt
        if first == fact:
            return original._replace(verdict="duplicate")
        return Receipt(
            "equivocation", fact.source, fact.id, None, None, None, "equivocation", quarantine_id=8
        )


FAILURES: dict[str, Exception] = {
    "away": Unavailable("No answer", where="a secret address", hint="Wait."),
    "refused": Refused("It cannot be held", where="a fact", hint="Shorten it."),
    "usage": LedgerError("It is odd", where="a fact", hint="See."),
    "broken": RuntimeError("a fault of this program"),
}


class Tape:
    def counters(self) -> Counters:
        return Counters(0, 0, 0, 0, 0)

    def view_lags(self) -> list[object]:
        return []

    def of_types(self, *_: object) -> tuple[list[object], int]:
        return [], 0


class OneKey:
    """The keys of a casino with one device."""

    def any(self) -> bool:
        return True

    def source_of(self, key: str) -> str | None:
        return "/hollywood/CC-07" if key == "valid for CC-07" else None


class Hasty(TimeoutProtocol):
    body_s_max = 1.0


def post(
    body: bytes,
    kind: str = STRUCTURED,
    *more: str,
    to: str = "/v1/facts",
    method: str = "POST",
    close: bool = True,
    length: str | None = "",
    host: str = "Host: localhost",
) -> bytes:
    """One request. length: the text of Content-Length; None: without that header."""
    told = [] if length is None else [f"Content-Length: {length or len(body)}"]
    kinds = [f"Content-Type: {kind}"] if kind else []
    head = [f"{method} {to} HTTP/1.1", host, *kinds, *told, *more]
    if close:
        head.append("Connection: close")
    return "\r\n".join([*filter(None, head), "", ""]).encode("latin-1") + body


def named(id_: str) -> bytes:
    event = json.loads(LINE)
    return json.dumps(event | {"id": id_}, separators=(",", ":")).encode()


def in_binary(line: bytes, *more: str) -> bytes:
    body, headers = binary(line)
    given = [f"{name}: {text}" for name, text in headers.items() if name != "Content-Type"]
    return post(body, "application/json", *given, *more)


def chunked(*parts: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    head = post(b"", STRUCTURED, "Transfer-Encoding: chunked", length=None)
    return head + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end


REQUESTS: dict[str, tuple[bytes, str]] = {
    "a fact": (post(LINE), "200"),
    "the same fact": (post(LINE), "200"),
    "another under its id": (post(LINE.replace(b'"position":1', b'"position":2')), "200"),
    "a batch": (post(batch([LINE, b"{}", OTHER]), BATCH), "200"),
    "an empty batch": (post(b"[]", BATCH), "200"),
    "no batch": (post(b"x", BATCH), "200"),
    "too many in a batch": (post(b"[" + b"1," * 10_000 + b"1]", BATCH), "413"),
    "binary": (in_binary(THIRD), "200"),
    "binary, a header twice": (in_binary(THIRD, "ce-id: second"), "200"),
    "binary, percent": (in_binary(THIRD, "ce-boot: %C3%A9"), "200"),
    "binary, Latin": (in_binary(THIRD, "ce-boot: \xe9"), "200"),
    "binary, nothing told": (post(b"hello", "text/plain"), "200"),
    "no content type": (post(LINE, ""), "200"),
    "content type in capitals": (
        post(LINE, "Application/CloudEvents+JSON; charset=utf-8"),
        "200",
    ),
    "two content types": (post(LINE, STRUCTURED, f"Content-Type: {BATCH}"), "200"),
    "compressed, it says": (post(LINE, STRUCTURED, "Content-Encoding: gzip"), "200"),
    "no JSON": (post(b"no fact"), "200"),
    "no body": (post(b""), "200"),
    "no length": (post(b"", length=None), "200"),
    "over 64 KiB": (post(b"x" * 70_000), "200"),
    "deep": (post(b"[" * 5_000), "200"),
    "not UTF-8": (post(b"\x00\xff"), "200"),
    "in chunks": (chunked(LINE[:10], LINE[10:50], LINE[50:]), "200"),
    "in chunks with a trailer": (chunked(LINE, end=b"0\r\nX: y\r\n\r\n"), "200"),
    "a chunk that lies": (chunked(LINE, end=b"zz\r\n"), "400"),
    "chunks that stop": (chunked(LINE[:10], end=b""), "408"),
    "told larger than 8 MiB": (post(b"", length=str(8 * 2**20 + 1)), "413"),
    "told longer than it is": (post(LINE[:50], length=str(len(LINE))), "408"),
    "told shorter than it is": (
        post(LINE + b"\r\n\r\n", length="20", close=False),
        "200 400",
    ),
    "told and in chunks": (post(LINE, STRUCTURED, "Transfer-Encoding: chunked"), "408"),
    "told twice": (post(LINE, STRUCTURED, "Content-Length: 5"), "400"),
    "told in words": (post(LINE, length="many"), "400"),
    "told below nothing": (post(LINE, length="-1"), "400"),
    "told with a plus": (post(LINE, length=f"+{len(LINE)}"), "400"),
    "an unknown coding": (post(LINE, STRUCTURED, "Transfer-Encoding: gzip"), "400"),
    "continue": (post(LINE, STRUCTURED, "Expect: 100-continue"), "100 200"),
    "two on one connection": (post(LINE, close=False) + post(OTHER), "200 200"),
    "one of each on one connection": (
        post(LINE, close=False) + post(b"", method="GET", close=False, length=None) + post(OTHER),
        "200 405 200",
    ),
    "no HTTP": (b"hello\r\n\r\n", "400"),
    "HTTP/1.0": (post(LINE).replace(b"HTTP/1.1", b"HTTP/1.0"), "200"),
    "an upgrade": (post(LINE, STRUCTURED, "Upgrade: websocket", "Connection: upgrade"), "200"),
    "a query": (post(LINE, to="/v1/facts?a=%00"), "200"),
    "a quoted path": (post(LINE, to="/v1/fact%73"), "200"),
    "a path with a slash": (post(LINE, to="/v1/facts/"), "307"),
    "another path": (post(LINE, to="/v1/fact"), "404"),
    "a whole address": (post(LINE, to="http://localhost/v1/facts"), "404"),
    "another host": (post(LINE, host="Host: elsewhere"), "400"),
    "a host with a port": (post(LINE, host="Host: localhost:80"), "200"),
    "a host in capitals": (post(LINE, host="Host: LocalHost"), "200"),
    "a host that lies": (post(LINE, host="Host: localhost@elsewhere"), "400"),
    "two hosts": (post(LINE, STRUCTURED, "Host: elsewhere"), "400"),
    "no host": (post(LINE, host=""), "400"),
    "a web page": (post(LINE, STRUCTURED, "Origin: https://elsewhere"), "403"),
    **{
        name: (post(b"", method=name, length=None), "405")
        for name in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "post")
    },
    "too busy": (post(named("busy")), "429"),
    "no database": (post(named("away")), "503"),
    "refused": (post(named("refused")), "422"),
    "an error of the ledger": (post(named("usage")), "500"),
    "a fault": (post(named("broken")), "500"),
    "a fault on a kept connection": (post(named("broken"), close=False) + post(LINE), "500"),
}  # fmt: skip
"""What a client sends, and the statuses of the answers."""

WITH_KEY: dict[str, tuple[bytes, str]] = {
    "its key": (post(LINE, STRUCTURED, KEY), "200"),
    "its key, in another case": (post(LINE, STRUCTURED, KEY.replace("Bearer", "bEARER")), "200"),
    "no key": (post(LINE), "401"),
    "an unknown key": (post(LINE, STRUCTURED, "Authorization: Bearer x"), "401"),
    "another scheme": (post(LINE, STRUCTURED, "Authorization: Basic x"), "401"),
    "a stranger's fact": (post(lines(1, place="CC-08")[0], STRUCTURED, KEY), "403"),
    "a stranger's in a batch": (
        post(batch([LINE, *lines(1, place="CC-08")]), BATCH, KEY),
        "403",
    ),
    "no fact": (post(b"no fact", STRUCTURED, KEY), "200"),
    "too large without a key": (post(b"", length=str(8 * 2**20 + 1)), "401"),
}


@contextmanager
def serving(
    *,
    keys: bool,
    http: type[H11Protocol] = Hasty,
    body_s_max: float = 0.3,
    secure: bool = False,
) -> Iterator[int]:
    """The port of a server over a committer in memory."""
    ring = Keyring(cast("Keys", OneKey())) if keys else None
    committer = cast("Committer", Memory())
    tape = cast("PostgresTape", Tape())
    app = build(tape, committer, body_s_max=body_s_max, keys=ring)
    if secure:
        app.serve_over_tls()
    server = uvicorn.Server(uvicorn.Config(app, http=http, ws="none", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def answer(port: int, octets: bytes) -> bytes:
    """Everything that a server sends until it closes, without the date."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        client.sendall(octets)
        came = b"".join(iter(lambda: client.recv(65_536), b""))
    return re.sub(rb"\r\ndate: [^\r]*", b"", came)


def statuses(came: bytes) -> str:
    return b" ".join(re.findall(rb"HTTP/1\.1 (\d+) ", came)).decode()


def answers(
    requests: dict[str, tuple[bytes, str]], *, keys: bool, http: type[H11Protocol] = Hasty
) -> dict[str, bytes]:
    """The answers by name, and what the server counted meanwhile."""
    with serving(keys=keys, http=http) as port:
        came = {name: answer(port, octets) for name, (octets, _) in requests.items()}
        page = answer(port, post(b"", "", to="/metrics", method="GET", length=None))
    counted = re.findall(rb"^round_ledger_http_requests_total.*$", page, re.MULTILINE)
    return {**came, "counted": b"\n".join(counted)}


@pytest.fixture
def by_route(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """How often FastAPI's route is taken."""
    taken: list[object] = []
    route = Application.post_facts

    async def counted(self: Application, request: Request) -> Response:
        taken.append(request)
        return await route(self, request)

    monkeypatch.setattr(Application, "post_facts", counted)
    return taken


@pytest.mark.parametrize("requests", [REQUESTS, WITH_KEY], ids=["no keys", "keys"])
def test_both_ways_answer_the_same_bytes(
    requests: dict[str, tuple[bytes, str]],
    by_route: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = requests is WITH_KEY
    direct = answers(requests, keys=keys)
    times = len(by_route)
    monkeypatch.setattr(Application, "_is_usual", lambda *_: False)
    routed = answers(requests, keys=keys, http=H11Protocol)
    assert {name: statuses(routed[name]) for name in requests} == {
        name: status for name, (_, status) in requests.items()
    }
    assert direct == routed
    assert direct["counted"].count(b'status="200"') > 0
    assert len(by_route) - times > 2 * times, "the direct way was hardly taken"


@pytest.mark.parametrize("secure", [True, False])
def test_every_answer_to_a_device_carries_the_headers(*, secure: bool) -> None:
    """Over TLS also the one that keeps a browser from plain HTTP, on this host and below it."""
    requests = {
        "kept": (post(LINE, STRUCTURED, KEY), "200"),
        "no key": (post(LINE), "401"),
        "another method": (post(b"", method="GET", length=None), "405"),
        "another host": (post(LINE, host="Host: elsewhere.example"), "400"),
    }
    with serving(keys=True, secure=secure) as port:
        for octets, status in requests.values():
            came = answer(port, octets)
            head = came.partition(b"\r\n\r\n")[0].decode().lower().splitlines()
            assert statuses(came) == status
            assert "x-content-type-options: nosniff" in head
            assert "content-security-policy: default-src 'none'; frame-ancestors 'none'" in head
            strict = "strict-transport-security: max-age=31536000; includesubdomains"
            assert (strict in head) == secure


def test_of_a_client_that_goes_away_nothing_is_left(caplog: pytest.LogCaptureFixture) -> None:
    """Neither in its connection nor as a fault in the log: it is none of this program."""
    caplog.set_level(logging.INFO)
    with serving(keys=False, http=TimeoutProtocol, body_s_max=120) as port:
        assert statuses(answer(port, post(LINE))) == "200"
        with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
            client.sendall(post(LINE[:50], length=str(len(LINE))))
            until(lambda: figure(port, "under_way") == 1)
        until(lambda: figure(port, "under_way") == 0)
        assert figure(port, "body_octets") == 0
    assert caplog.records, "the log is heard"
    assert [each for each in caplog.records if each.levelno > logging.INFO] == []


def figure(port: int, name: str) -> float:
    page = answer(port, post(b"", "", to="/metrics", method="GET", length=None))
    found = re.search(rb"^round_ledger_http_%s (\S+)$" % name.encode(), page, re.MULTILINE)
    assert found
    return float(found[1])
