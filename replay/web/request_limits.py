"""Limits of requests: the time of a head or body, and the bytes of all bodies in memory.

uvicorn waits without limit for a head, and for a body that nobody reads. Slow clients with many
connections could then block all others. Nothing here reads a fact.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import h11
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import Receive

HEAD_S_MAX = 10.0
"""Seconds that a request's head may take from its first byte, or from the connection."""

BODY_S_MAX = 60.0
"""Seconds that a body may take, read or not: longer than `facts` waits for one."""

BODIES_OCTETS_MAX = 64 * 2**20
"""Bytes of bodies that all requests together may hold in memory."""

PASS_OCTETS_MAX = 64 * 2**20
PASS_S_MAX = 10.0
PASS_IDLE_S = 0.5
"""The limits for dropping a refused body: bytes, seconds, and seconds to wait for its next part."""

JOINED_OCTETS_MAX = 32 * 1024
"""More bytes of an answer than this are not kept for the next part of it."""

_Part = Literal["head", "body"]


class JoinedWrites:
    """A transport that sends together what is written in one turn of the event loop.

    uvicorn writes head and body of an answer apart: two packets, and two calls of the system.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._joined = bytearray()

    def write(self, data: bytes) -> None:
        """Send these bytes before the loop waits again; at once if they are many."""
        if not self._joined:
            self._loop.call_soon(self._send)
        self._joined += data
        if len(self._joined) > JOINED_OCTETS_MAX:
            self._send()

    def flush(self) -> bool:
        """Send what was written; whether the system took all of it."""
        self._send()
        return not self._transport.get_write_buffer_size()

    def close(self) -> None:
        """Send what was written, then close."""
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else a transport has
        return getattr(self._transport, name)

    def _send(self) -> None:
        if self._joined:
            joined, self._joined = self._joined, bytearray()
            self._transport.write(joined)


class TimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol that closes a connection if a head or body is too slow."""

    head_s_max: ClassVar[float] = HEAD_S_MAX
    body_s_max: ClassVar[float] = BODY_S_MAX
    _awaited: _Part | None = None
    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """A new connection: wait for a head."""
        super().connection_made(cast("asyncio.Transport", JoinedWrites(transport, self.loop)))
        self._await("head")

    def data_received(self, data: bytes) -> None:
        """Bytes of a head or a body arrived."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """A response was sent: look at the next request."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed: stop waiting."""
        self._await(None)
        super().connection_lost(exc)

    def _look(self) -> None:
        """Set the limit for the part that is arriving; between requests uvicorn's limit holds."""
        if self.conn.their_state is h11.SEND_BODY:
            self._await("body")
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await("head")
        else:
            self._await(None)

    def _await(self, part: _Part | None) -> None:
        """Begin to wait for a part; a part already awaited keeps its deadline."""
        if part == self._awaited:
            return
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        self._awaited = part
        if part is not None:
            seconds = self.head_s_max if part == "head" else self.body_s_max
            self._closing = self.loop.call_later(seconds, self.transport.close)


class BodyShare:
    """The bytes that one request holds of the budget; leaving the block releases them."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._octets = 0

    def take(self, octets: int) -> bool:
        """Hold more bytes; False, and none are held, if that exceeds the budget."""
        if self._budget.held + octets > self._budget.octets_max:
            return False
        self._budget.held += octets
        self._octets += octets
        return True

    def give_back(self) -> None:
        """Release all bytes."""
        self._budget.held -= self._octets
        self._octets = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


class Budget:
    """The bytes that all request bodies hold together; for one event loop."""

    def __init__(self, octets_max: int = BODIES_OCTETS_MAX) -> None:
        self.octets_max = octets_max
        self.held = 0

    def share(self) -> BodyShare:
        """One request's share, released when the request is answered."""
        return BodyShare(self)


async def next_part(receive: Receive) -> tuple[bytes, bool]:
    """The next part of a body, and whether more follow. Raises `ClientDisconnect`."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


async def let_pass(receive: Receive) -> None:
    """Read and drop the rest of a body: a client cut off while sending reads no answer."""
    octets, more = 0, True
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(PASS_S_MAX):
            while more and octets < PASS_OCTETS_MAX:
                part, more = await asyncio.wait_for(next_part(receive), PASS_IDLE_S)
                octets += len(part)
