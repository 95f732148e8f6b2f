"""Searches that users keep by name: each is of its user alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infra.access.connections import NOW
from ledger.errors import Usage

if TYPE_CHECKING:
    from infra.access.connections import AccessDatabase

SAVED_MAX = 100
"""The most searches that a user keeps."""

NAME_MAX = 60


class SavedSearch(NamedTuple):
    """A search that a user keeps: its name, and the query of its address."""

    name: str
    query: str


class SavedSearches:
    """Keeping, listing and deleting searches."""

    def __init__(self, access: AccessDatabase) -> None:
        self._access = access

    def list(self, user: str) -> list[SavedSearch]:
        """A user's searches, by name."""
        with self._access.open() as connection:
            rows = connection.execute(
                "SELECT search, query FROM access.saved_searches WHERE name = %s ORDER BY search",
                (user,),
            )
            return [SavedSearch._make(row) for row in rows.fetchall()]

    def save(self, user: str, name: str, query: str) -> None:
        """Keep a search; one of the same name is replaced. Raises `Usage`."""
        with self._access.open() as connection:
            connection.execute(
                "INSERT INTO access.saved_searches (saved_at_us, name, search, query)"  # noqa: S608 - our own clock
                f" VALUES ({NOW}, %s, %s, %s) ON CONFLICT (name, search)"
                " DO UPDATE SET query = excluded.query, saved_at_us = excluded.saved_at_us",
                (user, name, query),
            )
            count = connection.execute(
                "SELECT count(*) FROM access.saved_searches WHERE name = %s", (user,)
            ).fetchone()
            if count and count[0] > SAVED_MAX:
                raise Usage(
                    f"You keep {SAVED_MAX} searches already",
                    where="name",
                    hint="Delete one first.",
                )

    def delete(self, user: str, name: str) -> None:
        """Delete a search; one that is not there is no error."""
        with self._access.open() as connection:
            connection.execute(
                "DELETE FROM access.saved_searches WHERE name = %s AND search = %s", (user, name)
            )
