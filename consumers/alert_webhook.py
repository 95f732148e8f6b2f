"""Alerts to a webhook: each is posted as JSON, and taken where the answer says so.

Where it is sent on to another address it was not taken: what follows a redirect asks there with
GET, without the alert, and is told that all is well.
"""

from __future__ import annotations

import urllib.request
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import quote

from ledger.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.alerts import Due

WEBHOOK_S_MAX = 10.0
"""How long the webhook may take to answer, seconds."""


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Nowhere: the answer is then an error with its status."""


OPENER = urllib.request.build_opener(_Stay)


def to_webhook(address: str) -> Callable[[Due], str]:
    """Delivers alerts there; raises OSError where one was not taken. Raises `Usage`."""
    if not address.startswith(("http://", "https://")):
        raise Usage(
            "The webhook is no address",
            where="ROUND_LEDGER_ALERT_WEBHOOK",
            hint="Give an address that begins with https:// or http://.",
        )

    def deliver(due: Due) -> str:
        request = urllib.request.Request(  # noqa: S310 - http and https only, as said above
            address,
            data=due.body.encode(),
            headers={"Content-Type": "application/json", "Idempotency-Key": quote(due.alert_id)},
            method="POST",
        )
        try:
            with OPENER.open(request, timeout=WEBHOOK_S_MAX) as answer:
                return f"status {answer.status}"
        except HTTPError as error:
            error.close()
            sent_on = ", sent on to another address" if "Location" in error.headers else ""
            raise OSError(f"status {error.code}{sent_on}") from None
        except HTTPException as error:
            raise OSError(f"no answer of HTTP: {error!r}") from error

    return deliver
