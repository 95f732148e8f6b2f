"""The server of the process with the pages: it takes the connections that workers hand over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import uvicorn

from replay.web.server import config
from replay.web.workers.handing import HandedProtocol

if TYPE_CHECKING:
    import socket

    from starlette.types import ASGIApp

    from replay.web.workers.pool import Workers


class PagesServer(uvicorn.Server):
    """The server of pages and facts, which workers hand connections over to."""

    def __init__(self, web: ASGIApp, workers: Workers) -> None:
        super().__init__(config(web))
        self._workers = workers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, then start the workers."""
        await super().startup(sockets)
        loop = asyncio.get_running_loop()

        def handed(connection: socket.socket, octets: bytes) -> None:
            try:
                asyncio.run_coroutine_threadsafe(self._take(connection, octets), loop)
            except RuntimeError:  # the loop has ended
                connection.close()

        self._workers.start(handed)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let every process answer what it has, all at once."""
        self._workers.stop()
        await super().shutdown(sockets)

    async def _take(self, connection: socket.socket, octets: bytes) -> None:
        """Answer a connection that a worker handed over."""
        if self.should_exit:
            connection.close()
            return

        def protocol() -> HandedProtocol:
            return HandedProtocol(
                begun=octets,
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )

        await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
