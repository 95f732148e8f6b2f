"""How requests may arrive: no head or body for ever, nor more octets at once than fit in memory.

uvicorn waits for a head as long as it takes, and for a body that nobody reads; whoever trickles
octets over many connections would keep everybody else out. Nothing here reads a fact.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar, Literal

import h11
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

HEAD_S_MAX = 10.0
"""How long a request's head may take from its first octet, or from the connection, seconds."""

BODY_S_MAX = 60.0
"""How long a body may take, read by somebody or not, seconds: longer than `facts` waits for one."""

BODIES_OCTETS_MAX = 64 * 2**20
"""Octets of bodies that all requests under way may hold together."""

PASS_OCTETS_MAX = 64 * 2**20
PASS_S_MAX = 10.0
PASS_IDLE_S = 0.5
"""How much of a refused body passes by, for how long, and how long its next part is waited for."""

_Part = Literal["head", "body"]


class TimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 that closes a connection whose head or body does not come in time."""

    head_s_max: ClassVar[float] = HEAD_S_MAX
    body_s_max: ClassVar[float] = BODY_S_MAX
    _awaited: _Part | None = None
    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """A connection, of which a head is awaited."""
        super().connection_made(transport)
        self._await("head")

    def data_received(self, data: bytes) -> None:
        """Some octets: of a head, of a body, or the last of one."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """A response is sent: what came after its request is looked at only now."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is awaited."""
        self._await(None)
        super().connection_lost(exc)

    def _look(self) -> None:
        """What is on its way now, if anything is; between requests uvicorn's own limit holds."""
        if self.conn.their_state is h11.SEND_BODY:
            self._await("body")
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await("head")
        else:
            self._await(None)

    def _await(self, part: _Part | None) -> None:
        """Begin to wait for a part; one that is awaited already has no more time than it had."""
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
    """What one request holds of the budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._octets = 0

    def take(self, octets: int) -> bool:
        """Hold so many more; False, and none of them is held, where that is over the budget."""
        if self._budget.held + octets > self._budget.octets_max:
            return False
        self._budget.held += octets
        self._octets += octets
        return True

    def give_back(self) -> None:
        """Hold nothing more."""
        self._budget.held -= self._octets
        self._octets = 0


class Budget:
    """Octets that the bodies of all requests under way hold together; for one event loop."""

    def __init__(self, octets_max: int = BODIES_OCTETS_MAX) -> None:
        self.octets_max = octets_max
        self.held = 0

    @contextmanager
    def share(self) -> Iterator[BodyShare]:
        """One request's part, given back when the request is answered."""
        share = BodyShare(self)
        try:
            yield share
        finally:
            share.give_back()


async def let_pass(stream: AsyncGenerator[bytes]) -> None:
    """Read on and keep nothing: a client that is cut off while it sends reads no answer."""
    octets = 0
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(PASS_S_MAX):
            while octets < PASS_OCTETS_MAX:
                part = await asyncio.wait_for(anext(stream, None), PASS_IDLE_S)
                if part is None:
                    return
                octets += len(part)
