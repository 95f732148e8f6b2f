"""The days of the drop, each with what `win` says of money that it has twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance.money_facts import VIEW
from consumers.finance.undecided import boxes_twice, corrected_papers, two_contents_of_money
from consumers.money import drop
from infra.postgres.view_tables import reading

if TYPE_CHECKING:
    from infra.postgres.connection import Database


def drop_days(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
) -> list[drop.Drop]:
    """The days of the drop, each with what `win` says of its money.

    These are equivocations, and boxes whose money the drop has at several tables or days.
    """
    days = drop.read(database, property=property, table=table, gaming_day=gaming_day)
    if not days:
        return days
    told = two_contents_of_money(database, property, gaming_day, table)
    with reading(database, [each.name for each in VIEW.tables]) as store:
        twice = boxes_twice(store, property, gaming_day, corrected_papers(store, property))
    for each in days:
        key = each.property, each.gaming_day, each.table
        of_boxes = (waiting.exception for waiting in twice.get(key, ()))
        each.exceptions = [*told.get(key, ()), *of_boxes]
    return days
