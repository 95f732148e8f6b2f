"""Delivering alerts to a webhook: each is posted as JSON; a 2xx status means delivered.

A redirect is not a delivery. An HTTP client follows it with a GET that does not carry the alert,
and a status 200 would then be misleading.
"""

from __future__ import annotations

import threading
import urllib.request
from concurrent.futures import Future
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit

from ledger.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.postgres.alerts import Due

WEBHOOK_S_MAX = 10.0
"""How long the webhook may take to answer, seconds."""


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow no redirect: the answer becomes an error with its status."""


OPENER = urllib.request.build_opener(_Stay)


def to_webhook(address: str) -> Callable[[Due], str]:
    """A channel that posts alerts to `address`; it raises OSError if the webhook refuses one.

    Raises `Usage` for an invalid address.
    """
    if not _is_address(address):
        raise Usage(
            "The webhook is not a valid http or https address",
            where="ROUND_LEDGER_ALERT_WEBHOOK",
            hint="Give one as https://alerts.example/path, without a user, a password or spaces.",
        )

    def deliver(due: Due) -> str:
        request = urllib.request.Request(  # noqa: S310 - http and https only, see `_is_address`
            address,
            data=due.body.encode(),
            headers={"Content-Type": "application/json", "Idempotency-Key": quote(due.alert_id)},
            method="POST",
        )
        return _in_time(lambda: _answer(request))

    return deliver


def _answer(request: urllib.request.Request) -> str:
    """Post the request; returns the status as text. Raises OSError."""
    try:
        with OPENER.open(request, timeout=WEBHOOK_S_MAX) as answer:
            return f"status {answer.status}"
    except HTTPError as error:
        error.close()
        sent_on = ", a redirect to another address" if "Location" in error.headers else ""
        raise OSError(f"status {error.code}{sent_on}") from None
    except (HTTPException, ValueError) as error:
        raise OSError(f"not an HTTP answer: {error!r}") from error


def _in_time(ask: Callable[[], str]) -> str:
    """What `ask` returns within `WEBHOOK_S_MAX`. Raises OSError.

    The library's timeout applies to each read. A server that answers byte by byte would block all
    alerts, and the polls of the consumer group. So `ask` runs in a thread, which is abandoned.
    """
    told: Future[str] = Future()

    def asked() -> None:
        try:
            told.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            told.set_exception(error)

    threading.Thread(target=asked, name="webhook", daemon=True).start()
    try:
        return told.result(WEBHOOK_S_MAX)
    except TimeoutError:
        raise OSError(f"no answer within {WEBHOOK_S_MAX:.0f} s") from None


def _is_address(text: str) -> bool:
    """Whether it is a valid address; a user in it would become part of the host."""
    try:
        parts = urlsplit(text)
        whole = parts.port is None or parts.port > 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        return False
    return (
        whole
        and parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and text.isascii()
        and not any(each.isspace() for each in text)
    )
