"""The journal as it is read: the entries of a closed day as its version signed them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from consumers.finance import journal, meters
from consumers.finance.day_facts import WinsAsked, WinsFilter
from consumers.finance.sealed import sealed_journal, seals
from consumers.finance.sealed.sealed_wins import other_bytes, seals_of
from infra.postgres.view_tables import reading
from ledger.finance.meters.journal import merged, meter_entries
from ledger.finance.meters.lines import by_day

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from ledger.finance.journal import JournalEntry

VIEWS = (*journal.VIEWS, seals.VIEW)
"""The views to catch up before `read`."""


def read(database: Database, **filters: Unpack[WinsFilter]) -> list[JournalEntry]:
    """As `journal.read`; if one gaming day is asked for and is closed, as its version signed it.

    Raises `Unavailable` if this program gives other bytes for that version.
    """
    asked = WinsAsked(**filters)
    signed = _of_days(database, asked.property, asked.gaming_day)
    found = [e for of in signed.values() for e in of if asked.table in (None, e.table)]
    if asked.property not in signed:
        found += (e for e in journal.read(database, **filters) if e.property not in signed)
    return sorted(found, key=lambda entry: entry.property)


def _of_days(
    database: Database, property_: str | None, gaming_day: str | None
) -> dict[str, list[JournalEntry]]:
    """As `of_day`, of each casino that has closed this day. None: of no day."""
    if gaming_day is None:
        return {}
    return {
        house: of_day(database, property=house, gaming_day=gaming_day) or []
        for house, its in seals_of(database, gaming_day).items()
        if its.sealed and property_ in (None, house)
    }


def of_day(
    database: Database,
    *,
    property: str,  # noqa: A002 - what it is called on the floor
    gaming_day: str,
    version: int | None = None,
) -> list[JournalEntry] | None:
    """The entries of a closed day's version, and those of meters as the record has them now.

    version: None: the one that holds. None if the day has no such version. Raises `Unavailable` if
    this program gives other bytes.
    """
    names = [each.name for view in VIEWS for each in view.tables]
    with reading(database, names) as store:
        its = seals.read(store, property, gaming_day)[property, gaming_day]
        of_version = (each for each in its.seals if each.version == version)
        seal = its.sealed if version is None else next(of_version, None)
        if seal is None:
            return None
        found = sealed_journal.of_version(store, property, seal)
        if found is None:
            raise other_bytes(seal)
        of_meters = by_day(meters.steps(store, property))
    return merged(found, meter_entries(of_meters, gaming_day=gaming_day))
