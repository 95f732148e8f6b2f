"""Delivering alerts to a webhook: each is posted as JSON; a 2xx status means delivered.

A redirect is not a delivery. An HTTP client follows it with a GET that does not carry the alert,
and a status 200 would then be misleading.

A server may answer byte by byte, so one limit by the wall clock holds for the whole delivery. An
event loop breaks it off at any wait: one thread serves, however many tries hang (ADR 0166).
Signatures follow Standard Webhooks.
"""

from __future__ import annotations

import base64
import ssl
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx
from anyio import fail_after
from anyio.from_thread import start_blocking_portal

from infra.kafka.records import message_id
from ledger.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from standardwebhooks.webhooks import Webhook

    from infra.postgres.alerts import Due

WEBHOOK_S_MAX = 10.0
"""How long the webhook may take to answer, seconds."""

SECRET_OCTETS = (24, 64)
"""The least and most bytes of a secret, by Standard Webhooks."""

THREAD = "webhook"
"""The name of the thread that delivers."""

OPTIONS: dict[str, Any] = {"follow_redirects": False, "timeout": None}
"""Options of the HTTP client. Its own limits hold for each read, so it has none."""

_SECRET = "whsec_"  # noqa: S105 - what a secret begins with


@contextmanager
def webhook(address: str, secret_file: Path | None = None) -> Iterator[Callable[[Due], str]]:
    """A channel that posts alerts to `address`; it raises OSError if the webhook refuses one.

    With `secret_file` each post is signed by every secret in it, one a line. Raises `Usage` for an
    invalid address and for a file without valid secrets.
    """
    if not _is_address(address):
        raise Usage(
            "The webhook is not a valid http or https address",
            where="ROUND_LEDGER_ALERT_WEBHOOK",
            hint="Give one as https://alerts.example/path, without a user, a password or spaces.",
        )
    signers = _signers(secret_file) if secret_file else ()
    trusted = ssl.create_default_context()  # the machine's certificates, as everywhere else
    with start_blocking_portal(name=THREAD) as portal:

        def deliver(due: Due) -> str:
            return portal.call(_post, address, due.body, _headers(due, signers), trusted)

        yield deliver


async def _post(address: str, body: str, headers: dict[str, str], trusted: ssl.SSLContext) -> str:
    """Post a body; returns the status as text. Raises OSError."""
    try:
        with fail_after(WEBHOOK_S_MAX):
            async with (
                httpx.AsyncClient(verify=trusted, **OPTIONS) as client,
                client.stream("POST", address, content=body.encode(), headers=headers) as answer,
            ):
                return _judged(answer)
    except TimeoutError:
        raise OSError(f"no answer within {WEBHOOK_S_MAX:.0f} s") from None
    except httpx.ProtocolError as error:
        raise OSError(f"not an HTTP answer: {error}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(str(error) or type(error).__name__) from error


def _judged(answer: httpx.Response) -> str:
    """The status as text, if it means delivered. Raises OSError. The answer's body is not read."""
    if answer.is_success:
        return f"status {answer.status_code}"
    sent_on = ", a redirect to another address" if "Location" in answer.headers else ""
    raise OSError(f"status {answer.status_code}{sent_on}")


def _headers(due: Due, signers: Sequence[Webhook]) -> dict[str, str]:
    """The headers of a post. The id stays the same over all tries; the signed time does not."""
    id_ = quote(message_id(due.alert_id, "", due.body))
    headers = {"Content-Type": "application/json", "Idempotency-Key": id_}
    if signers:
        id_ = id_.replace(".", "%2E")  # the signed text has dots between its parts
        now = datetime.now(UTC)
        headers |= {
            "webhook-id": id_,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(each.sign(id_, now, due.body) for each in signers),
        }
    return headers


def _signers(file: Path) -> list[Webhook]:
    """A signer for each secret in the file, in its order. Raises `Usage`."""
    from standardwebhooks.webhooks import Webhook  # noqa: PLC0415 - only for signed posts

    try:
        secrets = [_secret(line.strip()) for line in file.read_text().splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise _no_secret(getattr(error, "strerror", None) or str(error)) from None
    if not secrets:
        raise _no_secret("it is empty")
    return [Webhook(each) for each in secrets]


def _secret(line: str) -> bytes:
    """The bytes of a secret. Raises ValueError, which quotes nothing of it."""
    try:
        octets = base64.b64decode(line.removeprefix(_SECRET), validate=True)
    except ValueError:
        raise ValueError("a line of it is not base64") from None
    least, most = SECRET_OCTETS
    if not least <= len(octets) <= most:
        raise ValueError(f"a secret in it has {len(octets)} bytes, not {least} to {most}")
    return octets


def _no_secret(says: str) -> Usage:
    return Usage(
        f"The file has no secret that alerts can be signed with: {says}",
        where="ROUND_LEDGER_ALERT_WEBHOOK_SECRET_FILE",
        hint="Make one: printf 'whsec_%s\\n' \"$(openssl rand -base64 32)\". Two lines sign twice,"
        " while a receiver changes from one to the other.",
    )


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
