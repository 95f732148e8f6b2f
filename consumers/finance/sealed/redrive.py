"""Sending the double entries of sealed days again, for a general ledger that lost some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from consumers.finance.sealed import sealed_journal, seals
from infra.postgres import view_tables
from infra.postgres.outbox import Message
from infra.postgres.view_tables import LIVE
from ledger.errors import Refused

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore


class RedrivenDay(Struct, frozen=True):
    """A sealed day, and how many entries its last version has on the topic."""

    property: str
    gaming_day: str
    version: int
    digest: str
    entries: int | None  # None: this program works out other wins than were signed
    sent: bool


def redrive(
    database: Database,
    *,
    property_: str | None = None,
    gaming_day: str | None = None,
    for_real: bool = False,
) -> list[RedrivenDay]:
    """The days with their entries; for real, each day's are enqueued in a transaction of its own.

    The transaction locks the view, so no message comes after one of a newer version. If it is
    interrupted, run it again: the same keys and values change nothing for who has them. Raises
    `Refused` if no relay publishes the topic.
    """
    with view_tables.opened(database, LIVE) as store:
        if for_real and not store.asked_for([sealed_journal.ENTRIES]):
            raise Refused(
                "No relay publishes the entries of closed days yet",
                where=sealed_journal.ENTRIES,
                hint="Run `round-ledger topics apply` and a relay: it begins with every entry.",
            )
        days = sorted(seals.read(store, property_, gaming_day))
        found = (_redriven(store, day, for_real=for_real) for day in days)
        return [each for each in found if each]


def _redriven(store: ViewStore, day: tuple[str, str], *, for_real: bool) -> RedrivenDay | None:
    """One day; None if it has no version."""
    with store.transaction():
        live = store.hold(seals.VIEW.name) if for_real else None
        its = seals.read(store, *day).get(day)
        if its is None or not its.seals:
            return None
        entries = sealed_journal.entries_of(store, day[0], its.seals)
        if live and entries:
            told = sealed_journal.messages(entries)
            store.enqueue(live.position, [Message(sealed_journal.ENTRIES, *each) for each in told])
        last = its.seals[-1]
        count = None if entries is None else len(entries)
        return RedrivenDay(*day, last.version, last.digest, count, bool(live and entries))
