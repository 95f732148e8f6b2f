"""`POST /v1/facts`: receives CloudEvents, answers with verdicts and receipts.

Status 200 means that every fact of the request is kept, whatever its verdict. Every other status
means that none was kept and that sending again is safe. Bodies are limited in bytes and in time.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from infra.access.keys import key_id_of
from ledger.errors import Busy, LedgerError, Refused, Unavailable
from ledger.record.wire import BatchTooLong, parse_batch, parse_binary, parse_structured
from ledger.roster.door import REASONS
from replay.recording.answers import Answer, answer
from replay.shell.logs import LOG
from replay.web.access.device_keys import NoKeyError, speaks_for
from replay.web.access.quotas import QUOTA, Quotas
from replay.web.request_limits import let_pass, next_part

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

    from ledger.record.tape import Quarantined, Received
    from replay.roster.door import Door
    from replay.web.access.device_keys import Keyring
    from replay.web.api.arrivals import AsyncCommitter
    from replay.web.api.metrics import RequestMetrics
    from replay.web.request_limits import BodyShare, Budget

BODY_OCTETS_MAX = 8 * 2**20
"""The largest body in bytes; the rest of a larger one is read and dropped."""

BODY_S_MAX = 30.0
"""Seconds that a body may take to arrive."""

PARSED_AT_ONCE_OCTETS = 64 * 1024
"""A body of more bytes is judged in a thread, so that other requests do not wait for it."""

BUSY_RETRY_S = 1
AWAY_RETRY_S = 5

Mode = Literal["structured", "batch", "binary"]

_BAD = ("quarantined", "equivocation")
_CONTENT_TYPE = (b"content-type", b"application/json")

_encode = msgspec.json.Encoder().encode


class NotKept(Exception):  # noqa: N818 - an answer, not a fault of this program
    """A refusal: nothing of the request was kept. retry_s: seconds until it may be sent again."""

    def __init__(self, status: int, error: str, hint: str, retry_s: int | None = None) -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.hint = hint
        self.retry_s = retry_s


class Intake:
    """The endpoint that receives facts over HTTP."""

    def __init__(
        self,
        committer: AsyncCommitter,
        metrics: RequestMetrics,
        budget: Budget,
        *,
        body_s_max: float = BODY_S_MAX,
        keys: Keyring | None = None,
        quotas: Quotas | None = None,
        door: Door | None = None,
    ) -> None:
        self._keys = keys
        self._door = door
        self._quotas = quotas or Quotas(QUOTA)
        self._committer = committer
        self._metrics = metrics
        self._budget = budget
        self._body_s_max = body_s_max

    async def respond(self, scope: Scope, receive: Receive) -> Response:
        """The answer to one request. Nobody reads that of a client that went away."""
        headers = Headers(scope=scope)
        mode = mode_of(headers.get("content-type", ""))
        self._metrics.under_way.inc()
        try:
            with self._budget.share() as share:
                response = await self._kept(headers, receive, mode, share)
        except NotKept as refusal:
            response = _refusal(refusal)
        except ClientDisconnect:
            return Response(status_code=400)
        finally:
            self._metrics.under_way.dec()
        self._metrics.answered(mode, response.status_code)
        return response

    async def _kept(
        self, headers: Headers, receive: Receive, mode: Mode, share: BodyShare
    ) -> Response:
        if "origin" in headers:
            raise NotKept(403, "A web page may not send facts", "Send them from the device itself.")
        may = await self._may(headers)
        if may is not None:
            self._refuse_over_quota(may)
        body = await self._body(headers, receive, share)
        began = time.perf_counter()
        try:
            judged = await _judged(mode, headers, body)
        except BatchTooLong as error:
            raise NotKept(413, str(error), "Send fewer facts per request.") from error
        if may is not None:
            _refuse_others(judged, may)
            self._quotas.spend(may, len(judged), len(body))
        judged = await self._checked(judged, None if may is None else _sender(headers))
        answers = await self._append(judged)
        self._metrics.seconds.observe(time.perf_counter() - began)
        self._metrics.refused(each.reason for each in answers if each.reason in REASONS)
        _note(mode, answers)
        return _Json(_encode(answers if mode == "batch" else answers[0]))

    async def _may(self, headers: Headers) -> str | None:
        """The sources that the request's key is valid for; None if no key is required."""
        if self._keys is None:
            return None
        try:
            return await self._keys.opens(headers.get("authorization", ""))
        except Unavailable as error:
            raise _away(error) from error
        except NoKeyError as error:
            raise NotKept(
                401, str(error), "Send `Authorization: Bearer KEY`; see `round-ledger keys`."
            ) from error

    async def _checked(
        self, judged: list[Received | Quarantined], sender: str | None
    ) -> list[Received | Quarantined]:
        """The facts with who brought them; what the roster does not allow is quarantined."""
        door = self._door
        if door is None:
            return judged
        if door.is_quick(judged):
            return door.judged(judged, sender)
        try:
            return await asyncio.to_thread(door.judged, judged, sender)
        except Unavailable as error:
            raise _away(error) from error

    def _refuse_over_quota(self, may: str) -> None:
        """Raise NotKept if this key has sent more than its quota."""
        wait_s = self._quotas.wait_s(may)
        if wait_s:
            self._metrics.over_quota.labels(may).inc()
            raise NotKept(
                429,
                f"The key of {may} has sent more than its quota",
                "Send it again later; it is safe. See ROUND_LEDGER_KEY_FACTS_A_MINUTE.",
                wait_s,
            )

    async def _body(self, headers: Headers, receive: Receive, share: BodyShare) -> bytes:
        """The body. Raises NotKept if it is too long or too slow, or too many are under way."""
        told = headers.get("content-length", "0")
        too_large = told.isdecimal() and int(told) > BODY_OCTETS_MAX
        parts: list[bytes] = []
        octets, room, more = 0, True, True
        try:
            async with asyncio.timeout(self._body_s_max):
                while more and room and not too_large:
                    part, more = await next_part(receive)
                    octets += len(part)
                    too_large = octets > BODY_OCTETS_MAX
                    room = share.take(len(part))
                    parts.append(part)
        except TimeoutError:
            raise NotKept(
                408, f"The body took over {self._body_s_max:g} s", "Send it again, faster."
            ) from None
        if too_large or not room:
            parts.clear()
            share.give_back()
            if more:
                await let_pass(receive)
        if not room:
            raise NotKept(
                429,
                f"Other requests already use all {self._budget.octets_max:,} bytes of memory",
                "Send it again in a second.",
                BUSY_RETRY_S,
            )
        if too_large:
            raise NotKept(
                413, f"The body is over {BODY_OCTETS_MAX:,} bytes", "Send fewer facts per request."
            )
        return b"".join(parts)

    async def _append(self, judged: list[Received | Quarantined]) -> list[Answer]:
        if not judged:
            return []
        try:
            receipts = await self._committer.append(judged)
        except Busy as error:
            raise NotKept(429, error.what, error.hint, BUSY_RETRY_S) from error
        except Unavailable as error:
            raise _away(error) from error
        except Refused as error:
            raise NotKept(422, error.what, error.hint) from error
        return [answer(*each) for each in zip(judged, receipts, strict=True)]


def mode_of(content_type: str) -> Mode:
    """The CloudEvents mode, by the media type."""
    media = content_type.partition(";")[0].strip().lower()
    if media == "application/cloudevents+json":
        return "structured"
    if media == "application/cloudevents-batch+json":
        return "batch"
    return "binary"


async def _judged(mode: Mode, headers: Headers, body: bytes) -> list[Received | Quarantined]:
    if len(body) > PARSED_AT_ONCE_OCTETS:
        return await asyncio.to_thread(_parse, mode, headers, body)
    return _parse(mode, headers, body)


def _parse(mode: Mode, headers: Headers, body: bytes) -> list[Received | Quarantined]:
    if mode == "structured":
        return [parse_structured(body)]
    if mode == "binary":
        return [parse_binary(headers, body)]
    judged = parse_batch(body)
    return judged if isinstance(judged, list) else [judged]


def _sender(headers: Headers) -> str | None:
    """The bearer key that a request came in by, as `Received.sender`."""
    key = key_id_of(headers.get("authorization", "").partition(" ")[2].strip())
    return f"key:{key}" if key else None


def _refuse_others(judged: list[Received | Quarantined], may: str) -> None:
    """Raise NotKept if a fact has a source that the key is not valid for."""
    for each in judged:
        if each.source is not None and not speaks_for(may, each.source):
            raise NotKept(
                403,
                f"The key is valid for {may}, but a fact has another source",
                "Send that fact with its own device's key.",
            )


def _note(mode: Mode, answers: list[Answer]) -> None:
    """Log the number of quarantined facts and equivocations, never their content."""
    bad = Counter[str](each.verdict for each in answers if each.verdict in _BAD)
    if bad:
        LOG.warning("facts were quarantined", extra={"figures": {"mode": mode, **bad}})


def _away(error: LedgerError) -> NotKept:
    """The refusal while the database does not answer."""
    _log_error(error)
    return NotKept(503, "The database does not answer", "Send it again; it is safe.", AWAY_RETRY_S)


def _log_error(error: LedgerError) -> None:
    figures = {"code": error.code, "what": error.what, "where": error.where}
    LOG.error("facts were not kept", extra={"figures": figures})


def _refusal(refusal: NotKept) -> Response:
    headers = {"Connection": "close"}
    if refusal.status == 401:  # noqa: PLR2004 - unauthorized
        headers["WWW-Authenticate"] = 'Bearer realm="facts"'
    if refusal.retry_s is not None:
        headers["Retry-After"] = str(refusal.retry_s)
    told = {"error": refusal.error, "hint": refusal.hint, "kept": False}
    return Response(_encode(told), refusal.status, headers, media_type="application/json")


class _Json(Response):
    """Status 200 with JSON, as `Response` makes it, in a third of the time."""

    def __init__(self, body: bytes) -> None:
        self.status_code = 200
        self.background = None
        self.body = body
        self.raw_headers = [(b"content-length", b"%d" % len(body)), _CONTENT_TYPE]
