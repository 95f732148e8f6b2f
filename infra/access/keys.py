"""Device keys: shown once, stored as a hash, revoked for good.

A key authorises a source and all sources below it: a property, a place in it, or one device.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING, Literal, NamedTuple

from infra.access.connections import NOW, Actor, note
from ledger.errors import NotFound, Usage
from ledger.values import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.access.connections import AccessDatabase

PREFIX = "rlk"
"""The prefix of every key, so that a leaked key is recognised."""

_SOURCE = re.compile(rf"/{NAME}(?:/{NAME}){{0,2}}(?![\s\S])")


def key_pattern(prefix: str) -> re.Pattern[str]:
    """A key of this prefix, with its id and its secret as groups."""
    return re.compile(rf"{prefix}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})(?![\s\S])")


_KEY = key_pattern(PREFIX)


_ACTIVE = (
    b"SELECT key_id FROM access.device_keys"
    b" WHERE revoked_at_us IS NULL AND (key_id = %(named)s OR source = %(named)s)"
    b" UNION ALL SELECT key_id FROM access.reader_keys"
    b" WHERE revoked_at_us IS NULL AND (key_id = %(named)s OR reader = %(named)s) ORDER BY key_id"
)


def key_id_of(key: str) -> str | None:
    """The id in a device's key; None for another text. It says nothing of whether it is valid."""
    parts = _KEY.match(key)
    return parts[1] if parts else None


class Key(NamedTuple):
    """A key as `keys list` shows it."""

    key_id: str
    source: str
    made_at_us: int
    revoked_at_us: int | None


class Keys:
    """Creating, revoking and checking keys."""

    def __init__(self, access: AccessDatabase) -> None:
        self._access = access

    def any(self) -> bool:
        """Whether keys are set up: whether any key was ever created, even if revoked."""
        with self._access.open() as connection:
            found = connection.execute("SELECT 1 FROM access.device_keys LIMIT 1")
            return found.fetchone() is not None

    def list(self) -> list[Key]:
        """Every key, by its source."""
        with self._access.open() as connection:
            rows = connection.execute(
                "SELECT key_id, source, made_at_us, revoked_at_us FROM access.device_keys"
                " ORDER BY source, made_at_us"
            )
            return [Key._make(row) for row in rows.fetchall()]

    def add(self, source: str, actor: Actor) -> str:
        """Create a key and return it; it cannot be read again later. Raises `Usage`."""
        if not _SOURCE.match(source):
            raise Usage(
                f"{source!r} is not a source, nor the beginning of one",
                where="SOURCE",
                hint="Give /property, /property/place or /property/place/device.",
            )
        return add_key(self._access, PREFIX, "device_keys", {"source": source}, actor)

    def revoke(self, named: str, actor: Actor) -> str:
        """Revoke a key for good, of a device or a reader; returns the key.

        named: the key, or its source or reader. Raises `NotFound`, and `Usage` if several keys are
        of that source or reader.
        """
        with self._access.open() as connection:
            found = [row[0] for row in connection.execute(_ACTIVE, {"named": named}).fetchall()]
            if not found:
                raise NotFound(
                    f"There is no active key {named}",
                    where="keys",
                    hint="List the keys with `round-ledger keys list`.",
                )
            if len(found) > 1 and named not in found:
                raise Usage(
                    f"{len(found)} active keys are of {named}",
                    where="keys",
                    hint=f"Give one of {', '.join(found)}.",
                )
            key_id = named if named in found else found[0]
            for table in ("device_keys", "reader_keys"):
                connection.execute(
                    f"UPDATE access.{table} SET revoked_at_us = {NOW}"  # noqa: S608 - as above
                    " WHERE key_id = %s AND revoked_at_us IS NULL".encode(),
                    (key_id,),
                )
            note(connection, "key_revoked", key_id, actor)
        return str(key_id)

    def source_of(self, key: str) -> str | None:
        """The source that a key authorises; None if it is invalid or revoked."""
        parts = _KEY.match(key)
        if parts is None:
            return None
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT source FROM access.device_keys"
                " WHERE key_id = %s AND secret_hash = %s AND revoked_at_us IS NULL",
                (parts[1], digest(parts[2])),
            ).fetchone()
        return row[0] if row else None


def add_key(
    access: AccessDatabase,
    prefix: str,
    table: Literal["device_keys", "reader_keys"],
    columns: Mapping[str, str],
    actor: Actor,
) -> str:
    """Create a key in its table and log it; the key. columns: those of its kind."""
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    names, places = ", ".join(columns), ", %s" * len(columns)
    with access.open() as connection:
        connection.execute(
            f"INSERT INTO access.{table} (made_at_us, key_id, secret_hash, {names})"  # noqa: S608 - names are our own
            f" VALUES ({NOW}, %s, %s{places})".encode(),
            (key_id, digest(secret), *columns.values()),
        )
        note(connection, "key_added", key_id, actor, " ".join(columns.values()))
    return f"{prefix}_{key_id}_{secret}"


def digest(secret: str) -> bytes:
    """What is stored of a key's secret."""
    return hashlib.sha256(secret.encode()).digest()
