"""How an application is served, the same in every process that serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import uvicorn

from replay.web.request_limits import TimeoutProtocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

REQUESTS_AT_ONCE_MAX = 2_000
"""The most concurrent requests of a process; further ones are answered 503."""

DRAIN_S_MAX = 30
"""Seconds that running requests may take once the server is stopping."""


def config(
    web: ASGIApp, protocol: Callable[..., TimeoutProtocol] = TimeoutProtocol
) -> uvicorn.Config:
    """How a process serves. protocol: makes the protocol of a connection."""
    return uvicorn.Config(
        web,
        http=cast("Any", protocol),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=REQUESTS_AT_ONCE_MAX,
        timeout_graceful_shutdown=DRAIN_S_MAX,
    )
