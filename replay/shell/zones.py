"""The house's zone of each property: what people read and type times in (ADR 0169)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING

from infra.postgres.tape import newest
from ledger.record.tape import unframe_attributes
from replay.shell.settings import in_force
from replay.text.times import zone_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from zoneinfo import ZoneInfo

    from infra.postgres.connection import Database
    from infra.postgres.tape import NewestFact

NEWEST = 4
"""How many of the newest facts of each tape show the offset of a property's devices."""

DIFFERENT = timezone(timedelta(0), "UTC, as properties differ")
"""The zone of several properties that have different ones."""


class Zones:
    """The zone of each property: the one that a setting names, else the offset of its devices."""

    def __init__(self, named: Mapping[str, ZoneInfo], devices: Mapping[str, tzinfo]) -> None:
        self._named = named
        self._devices = devices

    def of(self, property_: str | None) -> tzinfo:
        """The zone of a property, or for None the one that all properties have; else UTC."""
        if property_ is None:
            return self._of_all()
        return self._named_of(property_) or self._devices.get(property_, UTC)

    def at(self, property_: str, time: str) -> tzinfo:
        """The zone of a property at a recorded time: the named one, else the time's own offset.

        This program and some recorders write UTC; their times are as of `of`.
        """
        told = _offset(time)
        own = told if told and told.utcoffset(None) else None
        return self._named_of(property_) or own or self.of(property_)

    def _named_of(self, property_: str) -> ZoneInfo | None:
        return self._named.get(property_, self._named.get(""))

    def _of_all(self) -> tzinfo:
        if "" in self._named:
            return self._named[""]
        found: dict[str, tzinfo] = {
            zone_name(zone): zone for zone in {**self._devices, **self._named}.values()
        }
        if len(found) == 1:
            return found.popitem()[1]
        return DIFFERENT if found else UTC


def zones(named: Mapping[str, ZoneInfo], newest_of: Callable[[int], list[NewestFact]]) -> Zones:
    """The zones of all properties on record. named: those that the setting names, by property.

    newest_of: reads that many of the newest facts of each tape. It is called only if the setting
    has no zone for properties that it does not name.
    """
    return Zones(named, {} if "" in named else devices_offsets(newest_of(NEWEST)))


def house_zones(database: Database) -> Zones:
    """The zones of all properties on record, by the settings of this process."""

    def newest_of(of_each: int) -> list[NewestFact]:
        with database.snapshot() as connection:
            return newest(connection, of_each)

    return zones(in_force().time_zone, newest_of)


def devices_offsets(facts: Iterable[NewestFact]) -> dict[str, tzinfo]:
    """The offset that most of these facts of a property have; the newest come first.

    Facts of tables count before all others: this program and some recorders write UTC.
    """
    votes: dict[str, tuple[Counter[tzinfo], Counter[tzinfo]]] = {}
    for each in facts:
        zone = _offset(unframe_attributes(each.attributes).get("time", ""))
        if zone is not None:
            at_tables, elsewhere = votes.setdefault(each.property, (Counter(), Counter()))
            (at_tables if each.of_table else elsewhere)[zone] += 1
    return {name: (at or other).most_common(1)[0][0] for name, (at, other) in votes.items()}


def _offset(time: str) -> tzinfo | None:
    """The offset of a recorded time as a zone."""
    try:
        told = datetime.fromisoformat(time.upper()).utcoffset()
    except ValueError:
        return None
    return None if told is None else timezone(told)
