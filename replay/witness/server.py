"""The witness's server: it takes checkpoints, and shows the newest of each log."""

from __future__ import annotations

import hashlib
import signal
import socket
import time
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ledger.errors import Unavailable
from ledger.witnessed_log.signed_notes import OCTETS_MAX
from replay.witness.cosigning import cosign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from ledger.witnessed_log.signed_notes import SignerKey, VerifierKey
    from replay.witness.store import SeenTrees

CLOSE_S_MAX = 5
"""How long open requests may take at the end, seconds."""


def application(
    key: SignerKey,
    logs: Mapping[str, VerifierKey],
    seen: SeenTrees,
    now_s: Callable[[], float] = time.time,
) -> Starlette:
    """The witness's routes: it takes checkpoints, and shows the newest by the hash of a name."""

    async def add_checkpoint(request: Request) -> Response:
        octets = b""
        async for part in request.stream():
            octets += part
            if len(octets) > OCTETS_MAX:
                return PlainTextResponse("The request is too long.\n", 413)
        body = octets.decode(errors="replace")
        answer = await run_in_threadpool(cosign, body, logs, key, seen, int(now_s()))
        return Response(answer.text, answer.status, media_type=answer.type)

    def checkpoint(request: Request) -> Response:
        for origin, note in seen.notes().items():
            if hashlib.sha256(origin.encode()).hexdigest() == request.path_params["log"]:
                return PlainTextResponse(note)
        return PlainTextResponse("No checkpoint of this log was cosigned.\n", 404)

    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    return Starlette(
        routes=[
            Route("/add-checkpoint", add_checkpoint, methods=["POST"]),
            Route("/{log}/checkpoint", checkpoint),
            Route("/healthz", healthz),
        ]
    )


def serve(app: Starlette, host: str, port: int, bound: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `bound` gets the address. Raises `Unavailable`."""
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise Unavailable(
            f"The witness cannot listen: {error.strerror}",
            where=f"{host}:{port}",
            hint="Give another --port.",
        ) from error
    with listening:
        host, port = listening.getsockname()[:2]
        bound(f"http://{host}:{port}")
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=CLOSE_S_MAX
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # the server takes them, and raises them again
        uvicorn.Server(config).run(sockets=[listening])
