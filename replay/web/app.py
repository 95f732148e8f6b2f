"""The HTTP application: receives facts, serves health and metrics. Pages are added as routers.

It uses a record and a committer that the caller opens and closes. It reads no setting and starts no
thread. Requests for other host names are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ledger.errors import Unavailable
from replay.roster.door import Door
from replay.web.access.quotas import QUOTA, Quota, Quotas
from replay.web.api.arrivals import AsyncCommitter
from replay.web.api.facts import BODY_S_MAX, Intake
from replay.web.api.metrics import Metrics, RequestMetrics
from replay.web.api.openapi import request_body, responses
from replay.web.request_limits import BODIES_OCTETS_MAX, Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Message, Receive, Scope, Send

    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from replay.web.access.device_keys import Keyring
    from replay.web.api.metrics import OtherProcesses

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Host names that a server without device keys answers."""


API_VERSION = "1"
"""Version of the HTTP API, as in its path `/v1/facts`."""

FACTS = "/v1/facts"

HSTS = "max-age=31536000; includeSubDomains"
"""`Strict-Transport-Security` of every response over TLS: the ledger has a host name of its own."""

_DEVICE_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
)
"""Headers of every response to a device, which a browser may have opened."""

_HOSTS_MAX = 64
_FAILED = "round_ledger.failed"


class Application(FastAPI):
    """The application, which gives facts to their intake without FastAPI's middleware and routes.

    They were at least a quarter of the time that a fact takes. They still answer every unusual
    request: another method, a Host header not let pass before, and an error of this program.
    """

    intake: Intake
    metrics: Metrics
    _headers: tuple[tuple[bytes, bytes], ...] = _DEVICE_HEADERS
    _hosts: frozenset[bytes] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["path"] == FACTS:
            send = self._with_headers(send)
            if self._is_usual(scope):
                try:
                    response = await self.intake.respond(scope, receive)
                except Exception as error:  # noqa: BLE001 - answered as an error of any other route
                    scope[_FAILED] = error
                else:
                    await response(scope, receive, send)
                    return
        await super().__call__(scope, receive, send)

    def serve_over_tls(self) -> None:
        """Answer devices as a server that is reached over TLS only."""
        self._headers = (*_DEVICE_HEADERS, (b"strict-transport-security", HSTS.encode()))

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        return sending

    async def post_facts(self, request: Request) -> Response:
        """The same by a route of FastAPI: the first time that a Host header is let pass."""
        if (error := request.scope.get(_FAILED)) is not None:
            raise error
        if len(self._hosts) < _HOSTS_MAX and (host := _host(request.scope)) is not None:
            self._hosts |= {host}
        return await self.intake.respond(request.scope, request.receive)

    def _is_usual(self, scope: Scope) -> bool:
        return scope["method"] == "POST" and _host(scope) in self._hosts


def _host(scope: Scope) -> bytes | None:
    for name, value in scope["headers"]:
        if name == b"host":
            return bytes(value)
    return None


def build(
    tape: PostgresTape,
    committer: Committer,
    *,
    hosts: Sequence[str] = LOOPBACK,
    body_s_max: float = BODY_S_MAX,
    bodies_octets_max: int = BODIES_OCTETS_MAX,
    keys: Keyring | None = None,
    quota: Quota = QUOTA,
    others: OtherProcesses | None = None,
) -> Application:
    """The application over an open record. keys: the device keys, required once one exists.

    quota: what each key may send in a minute. others: processes that receive facts beside this
    one.
    """
    app = Application(
        title="Round Ledger",
        version=API_VERSION,
        description="Receives facts of casino table games; answers verdicts and receipts.",
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    budget = Budget(bodies_octets_max)
    requests = RequestMetrics(committer, budget)
    app.metrics = Metrics(tape, requests, others)
    app.intake = Intake(
        AsyncCommitter(committer),
        requests,
        budget,
        body_s_max=body_s_max,
        keys=keys,
        quotas=Quotas(quota),
        door=Door(tape),
    )
    app.add_api_route(
        FACTS,
        app.post_facts,
        methods=["POST"],
        summary="Keep facts",
        description="CloudEvents 1.0 in structured, batch or binary mode. A verdict for each.",
        response_class=Response,
        responses=responses(),
        openapi_extra={"requestBody": request_body()},
    )
    _add_figures(app, tape)
    return app


def _add_figures(app: Application, tape: PostgresTape) -> None:
    """Health, readiness and metrics."""

    @app.get("/healthz", summary="Whether the server runs")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get(
        "/readyz",
        summary="Whether the database answers",
        responses={503: {"description": "The database does not answer."}},
    )
    def readyz(response: Response) -> dict[str, str]:
        try:
            tape.counters()
        except Unavailable:
            response.status_code = 503
            return {"status": "the database does not answer"}
        return {"status": "ok"}

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    def figures() -> Response:
        return Response(app.metrics.page(), headers={"Content-Type": CONTENT_TYPE_LATEST})
