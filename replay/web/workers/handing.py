"""Connections that change their process: a worker keeps those that send facts.

A worker hands a connection over at the first request that does not begin as `POST /v1/facts`, with
the bytes it has read. The process with the pages answers that request and all later ones. The
client's address stays that of the connection.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import h11

from replay.web.request_limits import JoinedWrites, TimeoutProtocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

FACTS_LINE = b"POST /v1/facts "
"""The first bytes of a request that a worker answers."""


class HandingProtocol(TimeoutProtocol):
    """A worker's HTTP/1.1 protocol: it answers facts, and hands other connections over.

    hand: takes the file of a connection and the bytes read from it; False if it could not.
    """

    def __init__(self, *, hand: Callable[[int, bytes], bool], **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._hand = hand

    def data_received(self, data: bytes) -> None:
        """Bytes of a request: keep the connection if it begins one with facts."""
        if self._begins() and not data.startswith(FACTS_LINE):
            self._hand_over(data)
        else:
            super().data_received(data)

    def on_response_complete(self) -> None:
        """A response was sent: look at a request that was sent ahead of it."""
        behind, _ = self.conn.trailing_data
        if behind and self._is_through() and not behind.startswith(FACTS_LINE):
            self._hand_over(behind)
        else:
            super().on_response_complete()

    def _begins(self) -> bool:
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _is_through(self) -> bool:
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.DONE

    def _hand_over(self, octets: bytes) -> None:
        """Give the connection away. A client that has not read its last answer loses it."""
        transport = cast("JoinedWrites", self.transport)
        if not transport.is_closing() and transport.flush():
            fd = os.dup(transport.get_extra_info("socket").fileno())
            if not self._hand(fd, octets):
                os.close(fd)
        transport.close()


class HandedProtocol(TimeoutProtocol):
    """The protocol of a connection that a worker handed over. begun: the bytes it has read."""

    def __init__(self, *, begun: bytes, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._begun = begun

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """The connection is here: what was read comes before what will be."""
        super().connection_made(transport)
        self.data_received(self._begun)
