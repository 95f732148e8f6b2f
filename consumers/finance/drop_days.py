"""The days of the drop, each with what `win` says of its money that was recorded twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance.undecided import two_contents_of_money
from consumers.money import drop

if TYPE_CHECKING:
    from infra.postgres.connection import Database


def drop_days(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
) -> list[drop.Drop]:
    """The days of the drop, each with what `win` says of the equivocations about its money."""
    days = drop.read(database, property=property, table=table, gaming_day=gaming_day)
    told = two_contents_of_money(database, property, gaming_day, table) if days else {}
    for each in days:
        each.exceptions = told.get((each.property, each.gaming_day or "", each.table), [])
    return days
