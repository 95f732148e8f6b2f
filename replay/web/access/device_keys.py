"""Device keys of requests, looked up at most every few seconds.

Before the first key exists, none is required. The server then serves only this machine: it listens
on no other address and has no public one.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

if TYPE_CHECKING:
    from infra.access.keys import Keys

KNOWN_S = 2.0
"""Seconds for which a looked-up key is remembered; a revocation takes effect within them."""

KNOWN_MAX = 10_000
"""The most keys remembered, unknown ones included."""


class NoKeyError(Exception):
    """The request has no key, or one that is unknown or revoked."""


class Keyring:
    """The keys of one server; for one event loop."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._known: dict[bytes, tuple[float, str | None]] = {}
        self._looks: dict[bytes, asyncio.Future[str | None]] = {}  # under way

    async def opens(self, authorization: str) -> str | None:
        """The sources that the request's key is valid for; None if no key is required.

        Raises `NoKeyError`, and `Unavailable` if keys cannot be looked up.
        """
        scheme, _, key = authorization.partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
        source = await self._source(key)
        if source == "":
            return None
        if source is None:
            raise NoKeyError(
                "The device key is unknown or revoked" if key else "A device key is required"
            )
        return source

    async def _source(self, key: str) -> str | None:
        """As `opens`; empty if no key is required."""
        name = hashlib.sha256(key.encode()).digest()
        until, source = self._known.get(name, (0.0, None))
        if time.monotonic() < until:
            return source
        look = self._looks.get(name)
        if look is None:  # all requests that come meanwhile wait for one look
            look = self._looks[name] = asyncio.ensure_future(self._looked_up(name, key))
            look.add_done_callback(lambda _: self._looks.pop(name))
        return await asyncio.shield(look)

    async def _looked_up(self, name: bytes, key: str) -> str | None:
        """A key's source from the database, remembered."""
        source = await run_in_threadpool(self._look, key)
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        self._known[name] = (time.monotonic() + KNOWN_S, source)
        return source

    def _look(self, key: str) -> str | None:
        if not self._keys.any():
            return ""
        return self._keys.source_of(key) if key else None


def speaks_for(prefix: str, source: str) -> bool:
    """Whether a key for this prefix is valid for a source; whole parts of the path must match."""
    return source == prefix or source.startswith(f"{prefix}/")
