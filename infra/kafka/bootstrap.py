"""Which of the bootstrap addresses answer now.

The machine of a stopped broker still takes connections. The client library waits for such an
address until its time is up. So every address is asked before a client is made (ADR 0160).
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

from infra.kafka.library import ApiVersionsRequest, KafkaProtocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ANSWER_S_MAX = 5.0
"""Longest wait for the first answer, seconds."""

OTHERS_S = 0.1
"""Wait for other answers after the first, seconds."""

_SIZE_OCTETS = 4  # how an answer begins


class NobodyListensError(ConnectionError):
    """No address takes a connection."""


def answering(addresses: Sequence[str], ca_file: Path | None = None, *, tls: bool) -> list[str]:
    """Those of these `host:port` that answer, in their order; all if each is silent.

    Raises `NobodyListensError` if each refuses at once.
    """
    context = ssl.create_default_context(cafile=ca_file) if tls else None
    return asyncio.run(_answering(addresses, context))


async def _answering(addresses: Sequence[str], tls: ssl.SSLContext | None) -> list[str]:
    asked = {asyncio.create_task(_ask(each, tls)): each for each in addresses}
    left = set(asked)
    loop = asyncio.get_running_loop()
    until = loop.time() + ANSWER_S_MAX
    while left and (wait_s := until - loop.time()) > 0:
        done, left = await asyncio.wait(left, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        if any(each.exception() is None for each in done):
            until = min(until, loop.time() + OTHERS_S)
    for each in left:
        each.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    found = [address for task, address in asked.items() if _has_answered(task)]
    if not found and all(_has_refused(task) for task in asked):
        raise NobodyListensError("no process listens on this address")
    return found or list(addresses)


async def _ask(address: str, tls: ssl.SSLContext | None) -> None:
    """Return once a broker answers what a client asks first, before it logs in."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), ssl=tls)
    try:
        writer.write(_first_question())
        await reader.readexactly(_SIZE_OCTETS)
    finally:
        writer.transport.abort()


def _first_question() -> bytes:
    protocol = KafkaProtocol(client_id="round-ledger")
    protocol.send_request(ApiVersionsRequest(version=0))
    octets: bytes = protocol.send_bytes()
    return octets


def _has_answered(task: asyncio.Task[None]) -> bool:
    return not task.cancelled() and task.exception() is None


def _has_refused(task: asyncio.Task[None]) -> bool:
    error = None if task.cancelled() else task.exception()
    return isinstance(error, OSError | ValueError) and not isinstance(error, ssl.SSLError)
