"""The report of overrides, voids and corrections of a gaming day: who, with whom, and why."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from consumers.finance import coupons_and_checks, sealed_wins, wins
from consumers.finance.exceptions import corrections_of_day
from consumers.finance.wins import AS_RECORDED, WITH_CORRECTIONS, WinsAsked, day_records
from infra.postgres.view_tables import reading
from ledger.facts import FactCorrected, VarianceExplained, type_name
from ledger.facts.money import ChipSlip
from replay.reports.kind import columns
from replay.shell.zones import house_zones
from replay.text.times import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.finance.table_day import DayRecord
    from ledger.record.wire import Fact
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

OVERRIDES = columns("time what of by second reason")

_Row = tuple[int, str, str, str, str | None, str | None]
"""Time in microseconds, what was done, of what, by whom, with whom, and why."""

_NAMES = [each.name for view in wins.VIEWS for each in view.tables]


def overrides(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Corrections, voided slips and explained variances in order of time; then each closing."""
    zone = house_zones(asked.database).of(asked.property)
    rows = [*_corrections_and_voids(asked), *_explained(asked)]
    for time_us, *row in sorted(rows, key=itemgetter(0)):
        yield stamp(time_us, zone, ms=False), *row
    day = sealed_wins.seals_of(asked.database, asked.gaming_day).get(asked.property)
    for seal in day.seals if day else ():
        what = "closed as it is" if seal.despite else "closed"
        of = f"{seal.gaming_day}, version {seal.version}"
        yield None, what, of, seal.by, seal.second, seal.despite or seal.because
    if day and (again := day.reopened):
        yield None, "opened again", again.gaming_day, again.by, again.second, again.because


def _corrections_and_voids(asked: AskedReport) -> Iterator[_Row]:
    of_day = {"property": asked.property, "days": [asked.gaming_day]}
    with reading(asked.database, _NAMES) as store:
        day = WinsAsked(asked.property, None, asked.gaming_day)
        found = [day_records(store, day, each) for each in (WITH_CORRECTIONS, AS_RECORDED)]
        made, facts = corrections_of_day(store, of_day, found)
    for of, its in made.items():
        meant = facts.get(of)
        round_day = meant.round.gaming_day if meant and meant.round else asked.gaming_day
        for fact in its if round_day == asked.gaming_day else ():
            body = fact.body
            if isinstance(body, FactCorrected):
                what = "corrected" if body.data is not None else "taken back"
                yield fact.time_us, what, _named(of, meant), body.by, body.second, body.because
    yield from _voids(found[0].values())


def _named(of: tuple[str, str], meant: Fact | None) -> str:
    """A fact by its name, source and id."""
    name = type_name(type(meant.body)).partition(".")[0] if meant and meant.body else "fact"  # type: ignore[arg-type] # a Body
    return f"{name} {of[1]} of {of[0]}"


def _voids(days: Iterable[DayRecord]) -> Iterator[_Row]:
    for slip in (slip for day in days for slip in day.slips):
        for fact in slip.voided:
            body = fact.body
            if isinstance(body, ChipSlip):
                one, *others = body.by or ("",)
                name = f"{slip.kind.capitalize()} Slip {slip.number}"
                reason = getattr(body, "reason", None)
                yield fact.time_us, "voided", name, one, ", ".join(others) or None, reason


def _explained(asked: AskedReport) -> Iterator[_Row]:
    told = coupons_and_checks.variance_facts(asked.database, asked.property)
    for fact in told.get(asked.property, []):
        body = fact.body
        if isinstance(body, VarianceExplained) and body.gaming_day == asked.gaming_day:
            of = f"{body.table}, {body.gaming_day}"
            yield fact.time_us, "variance explained", of, body.by, body.second, body.because
