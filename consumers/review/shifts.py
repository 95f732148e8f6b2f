"""Queries of surveillance's shifts: begun, handed over with a report, countersigned."""

from __future__ import annotations

import builtins
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from consumers.review.desk import SHIFTS
from infra.postgres.view_tables import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import Database

SHIFTS_MAX = 100
"""The most shifts that one list has."""


class Shift(NamedTuple):
    """One shift. Times in microseconds; None: not done yet, or not on record."""

    property: str
    shift: str
    begun_by: str | None = None
    begun_us: int | None = None
    handed_by: str | None = None
    handed_us: int | None = None
    to: str | None = None
    report: str | None = None  # SHA-256 of the text
    text: str | None = None
    left_out: Sequence[str] = ()  # withheld rounds that the report says nothing of
    signed_by: str | None = None
    signed_us: int | None = None

    @builtins.property  # `property` is a field here
    def state(self) -> str:
        """How far it is, in words."""
        if self.signed_us is not None:
            return "countersigned"
        return "open" if self.handed_us is None else "handed over"


class _Step(NamedTuple):
    property: str
    shift: str
    step: str
    by: str
    at_us: int
    to: str | None
    report: str | None
    text: str | None
    left_out: Sequence[str]


def shifts(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    shift: str | None = None,
) -> list[Shift]:
    """The newest shifts, or the one of this name; the newest first."""
    given = {"property": property, "shift": shift, "limit": SHIFTS_MAX}
    with reading(database, [SHIFTS.name]) as store:
        rows = [_Step(*row) for row in store.query(_NEWEST, given)]
    found = [_folded(steps) for _, steps in groupby(rows, lambda each: each[:2])]
    return sorted(found, key=lambda each: (-(each.begun_us or 0), each.property, each.shift))


def names_like(database: Database, property_: str, prefix: str) -> set[str]:
    """The names of shifts that start with a prefix."""
    with reading(database, [SHIFTS.name]) as store:
        rows = store.query(
            f"SELECT DISTINCT shift FROM {{schema}}.{SHIFTS.name}"  # noqa: S608 - our own names
            " WHERE property = %(property)s AND starts_with(shift, %(prefix)s)",
            {"property": property_, "prefix": prefix},
        )
    return {row[0] for row in rows}


def _folded(steps: Iterable[_Step]) -> Shift:
    """A shift from its steps in order of time.

    The first beginning counts. So does the last handing over before a countersignature, and the
    first countersignature of the person who it was handed to.
    """
    told = [*steps]
    now = Shift(told[0].property, told[0].shift)
    for each in told:
        if each.step == "begun" and now.begun_us is None:
            now = now._replace(begun_by=each.by, begun_us=each.at_us)
        elif each.step == "handed_over" and now.signed_us is None:
            now = now._replace(
                handed_by=each.by,
                handed_us=each.at_us,
                to=each.to,
                report=each.report,
                text=each.text,
                left_out=each.left_out,
            )
        elif each.step == "countersigned" and now.signed_us is None and _may_sign(now, each.by):
            now = now._replace(signed_by=each.by, signed_us=each.at_us)
    return now


def _may_sign(shift: Shift, by: str) -> bool:
    return by == shift.to and by != shift.handed_by


_NEWEST = f"""
SELECT property, shift, step, told_by, told_us, to_whom, report, report_text, left_out
  FROM {{schema}}.{SHIFTS.name} JOIN (
       SELECT property, shift FROM {{schema}}.{SHIFTS.name}
        WHERE (%(property)s::text IS NULL OR property = %(property)s)
          AND (%(shift)s::text IS NULL OR shift = %(shift)s)
        GROUP BY property, shift ORDER BY min(told_us) DESC, property, shift LIMIT %(limit)s) newest
 USING (property, shift)
 ORDER BY property, shift, told_us, source, fact_id
"""  # noqa: S608 - our own names
