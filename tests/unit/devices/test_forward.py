"""Handing lines on: what is refused is sent again, later and smaller, and nothing is passed over.

The ledger here is a fake that keeps, refuses and is away on a clock of its own; the real one,
killed for real, is in tests/integration/http/test_store_and_forward.py.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ledger.errors import Usage
from replay.devices.file_tail import FileTail, kept_place
from replay.devices.forwarding import PAUSE_S_MAX, Manner, NotTaken, forward
from replay.devices.http_client import HttpSender

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MINUTE_S = 60.0


class Ledger:
    """Takes lines, but for a cut; counts what it is asked."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.away = (0.0, 0.0)
        self.kept: list[bytes] = []
        self.requests: list[int] = []
        self.refuses = b"\0"  # lines with this in them are refused whenever they come
        self.lines_max = 10_000

    def __call__(self, lines: Sequence[bytes]) -> Sequence[object]:
        self.requests.append(len(lines))
        if self.away[0] <= self.now_s < self.away[1]:
            raise NotTaken("no route")
        if len(lines) > self.lines_max or any(self.refuses in line for line in lines):
            raise NotTaken("413", never=True)
        self.kept += lines
        return [{"verdict": "appended"}] * len(lines)


class Run(NamedTuple):
    aside: int
    told: list[tuple[str, dict[str, object]]]
    answered: list[int]
    pauses: list[float]


def run(path: Path, ledger: Ledger, *, until_s: float, write: bool = False) -> Run:
    """Follow on a simulated clock: a pause takes no time but the clock's."""
    told: list[tuple[str, dict[str, object]]] = []
    answered: list[int] = []
    pauses: list[float] = []
    written = 0

    def pause(seconds: float) -> None:
        nonlocal written
        ledger.now_s += seconds
        pauses.append(seconds)
        if write:
            with path.open("a") as out:
                while written < int(ledger.now_s * 4):
                    written += 1
                    out.write(f'{{"n": {written}}}\n')

    tail = FileTail(path, kept_place(path), lambda says, **figures: told.append((says, figures)))
    manner = Manner(
        lambda: ledger.now_s >= until_s,
        pause,
        lambda line, _: answered.append(line.number),
        lambda says, **figures: told.append((says, figures)),
    )
    aside = forward(path, tail, ledger, manner)
    tail.close()
    return Run(aside, told, answered, pauses)


def test_a_cut_of_thirty_minutes_is_waited_out_and_every_line_arrives_in_order(
    tmp_path: Path,
) -> None:
    ledger = Ledger()
    ledger.away = (2 * MINUTE_S, 32 * MINUTE_S)
    seen = run(tmp_path / "shoe.jsonl", ledger, until_s=34 * MINUTE_S, write=True)
    numbers = [json.loads(line)["n"] for line in ledger.kept]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 33 * MINUTE_S * 4
    tries = [f for says, f in seen.told if says == "facts were not accepted"]
    assert 50 < len(tries) < 150  # patient: at most one try in 15 s once it is long
    assert max(seen.pauses) <= PAUSE_S_MAX
    assert [says for says, _ in seen.told].count("facts are accepted again") == 1
    assert max(ledger.requests) <= 1_000  # what piled up goes out in bounded parts


def test_pauses_grow_and_two_devices_do_not_knock_together(tmp_path: Path) -> None:
    pauses = []
    for name in ("one", "two"):
        path = tmp_path / name
        path.write_bytes(b"{}\n")
        ledger = Ledger()
        ledger.away = (0, 5 * MINUTE_S)
        pauses.append(run(path, ledger, until_s=5 * MINUTE_S).pauses)
    assert pauses[0] != pauses[1]
    assert max(pauses[0][:3]) < 2.1
    assert min(pauses[0][8:]) >= PAUSE_S_MAX / 2


def test_what_a_server_asks_to_wait_is_waited(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    path.write_bytes(b"{}\n")
    asked = iter([NotTaken("429", retry_s=17.0), NotTaken("503", retry_s=9e9)])

    class Busy(Ledger):
        def __call__(self, lines: Sequence[bytes]) -> Sequence[object]:
            for refusal in asked:
                raise refusal
            return super().__call__(lines)

    ledger = Busy()
    seen = run(path, ledger, until_s=400)
    assert seen.pauses[:2] == [17.0, 300.0]
    assert ledger.kept == [b"{}"]


def test_what_is_too_large_is_sent_in_halves_and_answers_stay_in_order(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    lines = [b'{"n": %d}' % n for n in range(100)]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    ledger = Ledger()
    ledger.lines_max = 7
    seen = run(path, ledger, until_s=1)
    assert ledger.kept == lines
    assert seen.answered == list(range(1, 101))


def test_a_line_that_no_ledger_takes_is_set_aside_and_stops_no_other(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    path.write_bytes(b'{"n": 1}\n{"bad": 1}\n{"n": 2}\n')
    ledger = Ledger()
    ledger.refuses = b"bad"
    seen = run(path, ledger, until_s=1)
    assert ledger.kept == [b'{"n": 1}', b'{"n": 2}']
    assert (seen.aside, seen.answered) == (1, [1, 3])
    assert (tmp_path / "shoe.jsonl.aside").read_bytes() == b'{"bad": 1}\n'


def test_a_line_that_may_be_taken_later_is_waited_for_and_named(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2}\n{"other": 3}\n{"n": 4}\n')

    class Strict(Ledger):
        def __call__(self, lines: Sequence[bytes]) -> Sequence[object]:
            if self.now_s < 60 and any(b"other" in line for line in lines):
                raise NotTaken("403", smaller=True)
            return super().__call__(lines)

    ledger = Strict()
    seen = run(path, ledger, until_s=200)
    waited = [figures["line"] for says, figures in seen.told if says == "facts were not accepted"]
    assert set(waited) == {3}
    assert ledger.kept == [b'{"n": 1}', b'{"n": 2}', b'{"other": 3}', b'{"n": 4}']
    assert (seen.aside, seen.answered) == (0, [1, 2, 3, 4])


def test_a_line_that_is_no_json_goes_alone(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": "\n{"n": 2}\n{"n": 3}\n')
    ledger = Ledger()
    run(path, ledger, until_s=1)
    assert ledger.requests == [1, 1, 2]


def test_long_lines_share_no_request(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    path.write_bytes(b"".join(b'{"n": "%s"}\n' % (b"x" * 60_000) for _ in range(9)))
    ledger = Ledger()
    run(path, ledger, until_s=1)
    assert sum(ledger.requests) == 9
    assert max(ledger.requests) <= 4


def test_told_to_stop_amid_a_cut_it_keeps_no_place(tmp_path: Path) -> None:
    path = tmp_path / "shoe.jsonl"
    path.write_bytes(b'{"n": 1}\n')
    ledger = Ledger()
    ledger.away = (0, 100)
    run(path, ledger, until_s=50)
    assert kept_place(path).offset == 0
    ledger.now_s = 101
    run(path, ledger, until_s=102)
    assert ledger.kept == [b'{"n": 1}']


@contextmanager
def answering(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[str, list[Any]]]:
    """A server that gives these answers in turn, and what it was asked."""
    left = list(answers)
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, dict(self.headers), body))
            status, headers, said = left.pop(0)
            self.send_response(status)
            for name, text in {**headers, "Content-Length": str(len(said))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


YES = b'{"verdict": "appended", "position": 1}'


def test_lines_are_posted_with_the_key_as_it_is_now(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("first\n")
    two = b"[" + YES + b"," + YES + b"]"
    with answering((200, {}, YES), (200, {}, two)) as (url, asked), HttpSender(url, key) as post:
        assert post([b"{}"]) == [{"verdict": "appended", "position": 1}]
        key.write_text("second")
        assert len(post([b"{}", b"[]"])) == 2
    assert [each[0] for each in asked] == ["/v1/facts"] * 2
    assert [each[1]["Authorization"] for each in asked] == ["Bearer first", "Bearer second"]
    assert [each[1]["Content-Type"] for each in asked] == [
        "application/cloudevents+json",
        "application/cloudevents-batch+json",
    ]
    assert [each[2] for each in asked] == [b"{}", b"[{},[]]"]


@pytest.mark.parametrize(
    ("answer", "retry_s", "smaller", "never"),
    [
        ((429, {"Retry-After": "7"}, b"{}"), 7.0, False, False),
        ((503, {"Retry-After": "Fri, 20 Nov 2026 00:00:00 GMT"}, b"{}"), None, False, False),
        ((401, {}, b'{"kept": false}'), None, False, False),
        ((403, {}, b'{"kept": false}'), None, True, False),
        ((413, {}, b"<html>"), None, True, True),
        ((422, {}, b'{"kept": false}'), None, True, True),
        ((400, {}, b"<html>a portal"), None, False, False),
        ((302, {"Location": "/"}, b""), None, False, False),
        ((200, {}, b"<html>welcome to the hotel"), None, False, False),
        ((200, {}, b"[]"), None, False, False),
        ((200, {}, b'{"ok": true}'), None, False, False),
    ],
)
def test_only_a_verdict_is_a_yes(
    answer: tuple[int, dict[str, str], bytes], retry_s: float | None, *, smaller: bool, never: bool
) -> None:
    with answering(answer) as (url, _), HttpSender(url) as post, pytest.raises(NotTaken) as told:
        post([b"{}"])
    seen = told.value
    assert (seen.retry_s, seen.smaller, seen.never) == (retry_s, smaller, never)


def test_too_few_verdicts_are_none() -> None:
    with (
        answering((200, {}, b"[" + YES + b"]")) as (url, _),
        HttpSender(url) as post,
        pytest.raises(NotTaken, match="not 2 verdicts"),
    ):
        post([b"{}", b"{}"])


def test_nobody_there_is_not_taken() -> None:
    with HttpSender("http://127.0.0.1:9") as post, pytest.raises(NotTaken, match="Refused"):
        post([b"{}"])


@pytest.mark.parametrize("url", ["ledger.example", "ftp://x", "http://u:p@x", "http://x:port"])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(Usage, match="not the address"):
        HttpSender(url)


def test_a_key_goes_over_a_network_only_encrypted(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret")
    with pytest.raises(Usage, match="not sent unencrypted"):
        HttpSender("http://ledger.example", key)
    HttpSender("https://ledger.example", key).close()
    HttpSender("http://[::1]:8080", key).close()


@pytest.mark.parametrize("text", ["", "two words", "ä"])
def test_what_is_no_key_is_told_before_anything_is_sent(tmp_path: Path, text: str) -> None:
    key = tmp_path / "key"
    key.write_text(text)
    with pytest.raises(Usage, match="key"):
        HttpSender("http://localhost", key)


def test_a_key_that_is_being_replaced_is_waited_for(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret")
    with HttpSender("http://127.0.0.1:9", key) as post:
        key.unlink()
        with pytest.raises(NotTaken, match="key cannot be read"):
            post([b"{}"])
