"""What one channel of alerts does not take holds up neither the others nor the process."""

from __future__ import annotations

import base64
import signal
import threading
import time
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from consumers.alerts import process, webhook
from consumers.alerts.alert import Alert
from consumers.runtime import stopping
from infra.postgres.alerts import Alerts, Due
from infra.settings import load
from ledger.errors import Stopped, Unavailable, Usage
from tests.processes.dripping import OCTET_S, dripping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.postgres.connection import Database

SETTINGS = load({})
NOW_US = 1_795_000_000_000_000


@contextmanager
def kept(database: Database) -> Iterator[Alerts]:
    with database.connect("ledger_projector") as connection:
        yield Alerts(database, connection)


def raised(kept: Alerts, *channels: str, count: int = 1) -> None:
    for number in range(count):
        alert = Alert(f"lag:{number}", "lag", "drop", "Behind.", 60, 60, NOW_US)
        kept.raise_(alert.id, alert.kind, msgspec.json.encode(alert).decode(), channels)


def test_a_webhook_that_hangs_holds_up_no_other_channel_and_not_the_round(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    clock = SimpleNamespace(**vars(time) | {"monotonic": lambda: now[0]})
    monkeypatch.setattr(process, "time", clock)

    def hangs(_: Due) -> str:
        now[0] += process.CHANNEL_S_MAX + 0.1
        raise TimeoutError("timed out")

    with kept(database) as alerts_:
        raised(alerts_, "webhook", "log", count=3)
        service = process.AlertService(
            database, alerts_, {"webhook": hangs, "log": lambda _: "logged"}, SETTINGS
        )
        service.deliver()
        told = alerts_.receipts()
    assert [each.tries for each in told if each.channel == "webhook"] == [1, 0, 0], "one a round"
    assert all(each.delivered_at_us for each in told if each.channel == "log")


def test_what_waits_for_a_channel_that_is_gone_is_not_in_the_way_of_the_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_DUE_AT_ONCE", 2)
    with kept(database) as alerts_:
        raised(alerts_, "webhook", count=2)
        alert = Alert("lag:new", "lag", "drop", "Behind.", 60, 60, NOW_US)
        alerts_.raise_(alert.id, alert.kind, msgspec.json.encode(alert).decode(), ["log"])
        service = process.AlertService(database, alerts_, {"log": lambda _: "logged"}, SETTINGS)
        service.deliver()
        told = {each.alert_id: each.answer for each in alerts_.receipts()}
    assert told == {"lag:0": "", "lag:1": "", "lag:new": "logged"}


def test_a_producer_that_failed_once_is_not_used_again_for_alerts(database: Database) -> None:
    def away(_: Due) -> str:
        raise Unavailable("Kafka is away", where="here", hint="Start it.")

    with kept(database) as alerts_:
        raised(alerts_, "topic", count=2)
        service = process.AlertService(database, alerts_, {"topic": away}, SETTINGS)
        with pytest.raises(Unavailable):
            service.deliver()
        assert [each.tries for each in alerts_.receipts()] == [1, 0]


class Moved(BaseHTTPRequestHandler):
    """A webhook that has moved: posts are sent on to a page that says all is well."""

    status = 301
    posted: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.posted.append(self.path)
        self.send_response(self.status)
        self.send_header("Location", "/welcome")
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def moved() -> Iterator[Callable[[int], str]]:
    """The address of a webhook that answers posts with a status; it takes none."""
    Moved.posted = []
    server = HTTPServer(("127.0.0.1", 0), Moved)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()

    def answering(status: int) -> str:
        Moved.status = status
        return f"http://127.0.0.1:{server.server_address[1]}/alerts"

    yield answering
    server.shutdown()
    thread.join()
    server.server_close()


def tried(database: Database, address: str) -> list[tuple[bool, str]]:
    """Whether an alert was delivered there, and what was answered."""
    with kept(database) as alerts_, webhook.webhook(address) as channel:
        raised(alerts_, "webhook")
        process.AlertService(database, alerts_, {"webhook": channel}, SETTINGS).deliver()
        return [(each.delivered_at_us is not None, each.answer) for each in alerts_.receipts()]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_webhook_that_sends_on_to_another_address_has_not_taken_the_alert(
    database: Database, moved: Callable[[int], str], status: int
) -> None:
    answer = f"OSError: status {status}, a redirect to another address"
    assert tried(database, moved(status)) == [(False, answer)]
    assert Moved.posted == ["/alerts"]


def test_followed_to_another_address_an_alert_would_be_lost_and_noted_as_delivered(
    database: Database, moved: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: as clients do, with GET and without the alert."""
    monkeypatch.setattr(webhook, "OPTIONS", webhook.OPTIONS | {"follow_redirects": True})
    assert tried(database, moved(302)) == [(True, "status 200")]
    assert Moved.posted == ["/alerts"], "no one else was posted to"


LIMIT_S = 3.0
"""How long a webhook may take in these tests, seconds: far longer than from byte to byte."""

SLOW_ANSWER = b"HTTP/1.1 200 OK\r\nX: " + b"x" * 30 + b"\r\nContent-Length: 0\r\n\r\n"

ENDLESS = b"HTTP/1.1 200 OK\r\nX: " + b"x" * 50_000
"""An answer of over an hour."""


def test_tries_at_a_webhook_that_never_ends_its_answer_leave_no_thread_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook, "WEBHOOK_S_MAX", 0.1)
    with dripping(ENDLESS) as address, webhook.webhook(address) as channel:
        for number in range(5):
            with pytest.raises(OSError, match="no answer within"):
                channel(Due(f"lag:{number}", "{}", "webhook", 0))
        assert posting() == 1
    assert posting() == 0


def test_a_process_that_is_asked_to_stop_breaks_a_delivery_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook, "WEBHOOK_S_MAX", 3600)
    monkeypatch.setattr(stopping, "INSIST_S", 0.1)
    with dripping(ENDLESS) as address, pytest.raises(Stopped), stopping.until_signalled():
        deliver_asked_to_stop(address)
    assert posting() == 0


def deliver_asked_to_stop(address: str) -> None:
    with webhook.webhook(address) as channel:
        signal.raise_signal(signal.SIGTERM)
        channel(DUE)


def posting() -> int:
    return [each.name for each in threading.enumerate()].count(webhook.THREAD)


@pytest.mark.long
def test_a_webhook_that_answers_octet_by_octet_is_not_waited_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(SLOW_ANSWER) * OCTET_S > LIMIT_S
    monkeypatch.setattr(webhook, "WEBHOOK_S_MAX", LIMIT_S)
    with dripping(SLOW_ANSWER) as address:
        assert tried(database, address) == [(False, "OSError: no answer within 3 s")]


@pytest.mark.long
def test_a_limit_of_each_read_waits_for_such_a_webhook(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: every read is in time, and all alerts and the group's poll wait."""
    monkeypatch.setattr(webhook, "fail_after", lambda _: nullcontext())
    monkeypatch.setitem(webhook.OPTIONS, "timeout", LIMIT_S)
    with dripping(SLOW_ANSWER) as address:
        assert tried(database, address) == [(True, "status 200")]


class Signed(BaseHTTPRequestHandler):
    """A webhook that keeps what is posted to it."""

    kept: list[tuple[dict[str, str], str]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.kept.append((dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def signed() -> Iterator[str]:
    """The address of a webhook that takes everything."""
    Signed.kept = []
    server = HTTPServer(("127.0.0.1", 0), Signed)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/alerts"
    server.shutdown()
    thread.join()
    server.server_close()


OLD, NEW = ("whsec_" + base64.b64encode(bytes([each]) * 32).decode() for each in (1, 2))
DUE = Due("payout:/hollywood/CC-07/shoe:4.1", '{"says":"Payé."}', "webhook", 0)


def test_a_post_is_signed_by_every_secret_in_the_file(signed: str, tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"{NEW}\n{OLD}\n")
    with webhook.webhook(signed, file) as channel:
        assert channel(DUE) == channel(DUE._replace(tries=1)) == "status 204"
    for headers, body in Signed.kept:
        for secret in (OLD, NEW):
            assert Webhook(secret).verify(body, headers) == {"says": "Payé."}
        with pytest.raises(WebhookVerificationError):
            Webhook(OLD).verify(body.replace("Payé", "Paid"), headers)
        with pytest.raises(WebhookVerificationError):
            Webhook("whsec_" + base64.b64encode(b"3" * 32).decode()).verify(body, headers)
    first, again = (headers["webhook-id"] for headers, _ in Signed.kept)
    assert first == again
    assert unquote(first).startswith(f"{DUE.alert_id}-")
    assert "." not in first, "it would be read as the end of the id"


def test_the_same_alert_of_two_ledgers_is_two_to_a_receiver(signed: str) -> None:
    """Both watch the view `drop`, so that their alerts of one hour have one id."""
    with webhook.webhook(signed) as channel:
        for body in ('{"says":"by 70 s"}', '{"says":"by 90 s"}'):
            channel(Due("lag:drop:498000", body, "webhook", 0))
    first, other = (headers["Idempotency-Key"] for headers, _ in Signed.kept)
    assert first != other


def test_without_a_secret_a_post_is_not_signed(signed: str) -> None:
    with webhook.webhook(signed) as channel:
        channel(DUE)
    ((headers, _),) = Signed.kept
    assert unquote(headers["Idempotency-Key"]).startswith(f"{DUE.alert_id}-")
    assert not [name for name in headers if name.lower().startswith("webhook-")]


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (None, "No such file"),
        ("\n", "it is empty"),
        ("whsec_not base64!\n", "a line of it is not base64"),
        (f"{NEW}\nwhsec_c2hvcnQ=\n", "has 5 bytes, not 24 to 64"),
    ],
)
def test_a_file_without_a_secret_is_refused_before_any_alert(
    tmp_path: Path, held: str | None, says: str
) -> None:
    file = tmp_path / "secrets"
    if held is not None:
        file.write_text(held)
    with (
        pytest.raises(Usage, match=says) as refused,
        webhook.webhook("https://alerts.example/", file),
    ):
        pass
    assert "c2hvcnQ" not in str(refused.value)
    assert "not base64!" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://alerts.example/",
        "alerts.example/hook",
        "https:///hook",
        "https://[::1/hook",
        "https://alerts.example:port/hook",
        "https://user:password@alerts.example/hook",
        "https://alerts.example/a hook",
        "https://alerts.example/h\N{LATIN SMALL LETTER O WITH DIAERESIS}k",
        "https://alerts..example/hook",
    ],
)
def test_what_cannot_be_posted_to_is_refused_before_any_alert(address: str) -> None:
    with pytest.raises(Usage) as refused, webhook.webhook(address):
        pass
    assert address not in str(refused.value), "it may hold a secret"


@pytest.mark.parametrize(
    "address", ["http://[::1]:8000/hook", "https://alerts.example/h?key=x%20y"]
)
def test_what_can_be_posted_to_is_taken(address: str) -> None:
    with webhook.webhook(address):
        pass


def test_an_older_try_that_fails_late_takes_no_receipt_away(database: Database) -> None:
    """Another process has claimed the alert meanwhile, and delivered it: once is enough."""
    with kept(database) as slow, kept(database) as other:
        raised(slow, "topic")
        (first,) = slow.due("topic", (0,), 9)
        assert slow.claim(first)
        second = first._replace(tries=first.tries + 1)
        assert other.claim(second)
        other.tried(second, "acknowledged", delivered=True)
        slow.tried(first, "Unavailable: no answer in time", delivered=False)
        (receipt,) = slow.receipts()
        assert (receipt.answer, receipt.delivered_at_us is None) == ("acknowledged", False)
        assert slow.due("topic", (0,), 9) == []


def test_an_older_try_that_fails_late_leaves_the_newer_one_as_it_stands(database: Database) -> None:
    with kept(database) as slow, kept(database) as other:
        raised(slow, "topic")
        (first,) = slow.due("topic", (0,), 9)
        assert slow.claim(first)
        second = first._replace(tries=first.tries + 1)
        assert other.claim(second)
        slow.tried(first, "Unavailable: no answer in time", delivered=False)
        assert slow.due("topic", (0,), 9) == [], "the other one is at it"
        other.tried(second, "OSError: refused", delivered=False)
        assert [each.tries for each in slow.due("topic", (0,), 9)] == [2]
