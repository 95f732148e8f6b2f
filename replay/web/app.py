"""The HTTP application: receives facts, serves health and metrics. Pages are added as routers.

It uses a record and a committer that the caller opens and closes. It reads no setting and starts no
thread. Requests for other host names are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ledger.errors import Unavailable
from replay.web.api.facts import BODY_S_MAX, Intake
from replay.web.api.metrics import Metrics
from replay.web.api.openapi import request_body, responses
from replay.web.request_limits import BODIES_OCTETS_MAX, Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer
    from replay.web.access.device_keys import Keyring

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Host names that a server without device keys answers."""


API_VERSION = "1"
"""Version of the HTTP API, as in its path `/v1/facts`."""


def build(
    tape: PostgresTape,
    committer: Committer,
    *,
    hosts: Sequence[str] = LOOPBACK,
    body_s_max: float = BODY_S_MAX,
    bodies_octets_max: int = BODIES_OCTETS_MAX,
    keys: Keyring | None = None,
) -> FastAPI:
    """The application over an open record. keys: the device keys, required once one exists."""
    app = FastAPI(
        title="Round Ledger",
        version=API_VERSION,
        description="Receives facts of casino table games; answers verdicts and receipts.",
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    budget = Budget(bodies_octets_max)
    metrics = Metrics(tape, committer, budget)
    intake = Intake(committer, metrics, budget, body_s_max=body_s_max, keys=keys)
    app.add_api_route(
        "/v1/facts",
        intake.post,
        methods=["POST"],
        summary="Keep facts",
        description="CloudEvents 1.0 in structured, batch or binary mode. A verdict for each.",
        response_class=Response,
        responses=responses(),
        openapi_extra={"requestBody": request_body()},
    )
    _add_figures(app, tape, metrics)
    return app


def _add_figures(app: FastAPI, tape: PostgresTape, metrics: Metrics) -> None:
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
        return Response(metrics.page(), headers={"Content-Type": CONTENT_TYPE_LATEST})
