"""Reader keys: a system's keys for reading finance over HTTP, stored as device keys are.

A reader key authorises no fact. Each use is logged as an access event.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from infra.access.connections import Actor, note
from infra.access.keys import add_key, digest, key_pattern
from ledger.errors import Usage
from ledger.values import NAME

if TYPE_CHECKING:
    from infra.access.connections import AccessDatabase

ReaderRole = Literal["finance", "auditor"]
READER_ROLES: tuple[ReaderRole, ...] = get_args(ReaderRole)
"""The roles of which a system may read by key."""

PREFIX = "rlr"
"""The prefix of every reader key, so that a leaked key is recognised."""

_KEY = key_pattern(PREFIX)


class ReaderKey(NamedTuple):
    """A reader key as `keys list` shows it."""

    key_id: str
    role: ReaderRole
    reader: str  # the system that reads with it
    made_at_us: int
    revoked_at_us: int | None


class ReaderKeys:
    """Creating and using reader keys. `Keys.revoke` revokes them, too."""

    def __init__(self, access: AccessDatabase) -> None:
        self._access = access

    def list(self) -> list[ReaderKey]:
        """Every key, by its reader."""
        with self._access.open() as connection:
            rows = connection.execute(
                "SELECT key_id, role, reader, made_at_us, revoked_at_us FROM access.reader_keys"
                " ORDER BY reader, made_at_us"
            )
            return [ReaderKey._make(row) for row in rows.fetchall()]

    def add(self, role: ReaderRole, reader: str, actor: Actor) -> str:
        """Create a key and return it; it cannot be read again later. Raises `Usage`."""
        if not re.fullmatch(NAME, reader):
            raise Usage(
                f"{reader!r} is not the name of a system",
                where="SOURCE",
                hint="With --role, name the system that reads, as general-ledger.",
            )
        columns = {"role": role, "reader": reader}
        return add_key(self._access, PREFIX, "reader_keys", columns, actor)

    def use(self, key: str, address: str, request: str) -> ReaderKey | None:
        """The key, with this use of it logged; None if it is invalid or revoked."""
        parts = _KEY.match(key)
        if parts is None:
            return None
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT key_id, role, reader, made_at_us, revoked_at_us FROM access.reader_keys"
                " WHERE key_id = %s AND secret_hash = %s AND revoked_at_us IS NULL",
                (parts[1], digest(parts[2])),
            ).fetchone()
            if row is None:
                return None
            used = ReaderKey._make(row)
            note(connection, "key_used", used.key_id, Actor(used.reader, address), request)
            return used
