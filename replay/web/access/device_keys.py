"""Which device sends facts: the key it shows, looked up at most every few seconds.

Where no key was ever made none is asked for, and the server serves this machine alone: it is bound
to no other address, and has no public one.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

if TYPE_CHECKING:
    from infra.access.keys import Keys

KNOWN_S = 2.0
"""How long a key's answer is believed: a revoked one opens nothing after so long, seconds."""

KNOWN_MAX = 10_000
"""Keys remembered at most, wrong ones too."""


class NoKeyError(Exception):
    """No key was shown, or one that opens nothing."""


class Keyring:
    """The keys of one server; for one event loop."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._known: dict[bytes, tuple[float, str | None]] = {}

    async def opens(self, authorization: str) -> str | None:
        """What the key of a request speaks for; None where none is asked for.

        Raises `NoKeyError`, and `Unavailable` where nobody can say.
        """
        scheme, _, key = authorization.partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
        source = await self._source(key)
        if source == "":
            return None
        if source is None:
            raise NoKeyError(
                "The key is not known, or revoked" if key else "A device's key is needed"
            )
        return source

    async def _source(self, key: str) -> str | None:
        """As `opens`; empty where none is asked for."""
        name = hashlib.sha256(key.encode()).digest()
        until, source = self._known.get(name, (0.0, None))
        if time.monotonic() < until:
            return source
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
    """Whether a key of this prefix may say what this source says: part by part, never in part."""
    return source == prefix or source.startswith(f"{prefix}/")
