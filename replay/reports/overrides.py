"""The report of overrides, voids and corrections of a gaming day: who, with whom, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance import coupons_and_checks
from consumers.finance.corrections import made_on_day
from consumers.finance.day_facts import WinsAsked
from consumers.finance.sealed import sealed_wins, seals
from consumers.finance.wins import AS_RECORDED, WITH_CORRECTIONS, day_records
from infra.postgres.view_tables import reading
from ledger.facts import DayReopened, DaySealed, FactCorrected, VarianceExplained, type_name
from ledger.facts.money import ChipSlip
from ledger.finance.day_versions import DaySeals
from ledger.finance.placing import by_time
from ledger.record.wire import Fact, fact_of
from replay.reports.fact_times import fact_times
from replay.reports.kind import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.table_day import DayRecord
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

OVERRIDES = columns("time what of by second reason")

_Row = tuple[Fact, str, str, str, str | None, str | None]
"""The fact, what was done, of what, by whom, with whom, and why."""


def overrides(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Corrections, voided slips, explained variances and closings, in order of time."""
    explained = list(_explained(asked))
    with reading(asked.database, sealed_wins.TABLES) as store:
        rows = [*_corrections_and_voids(store, asked), *explained, *_closings(store, asked)]
        shown = fact_times(asked, store, [fact for fact, *_ in rows])
    for fact, *row in sorted(rows, key=lambda row: by_time(row[0])):
        yield shown(fact), *row


def _closings(store: ViewStore, asked: AskedReport) -> Iterator[_Row]:
    """What closed the day, and opened it again; of other facts none, as they changed nothing."""
    day = DaySeals()
    for row in seals.rows_about(store, asked.property, asked.gaming_day):
        fact = fact_of(row)
        body, after = fact.body, day.after(fact.body)
        if after is day:
            continue
        day = after
        if isinstance(body, DaySealed):
            what = "closed as it is" if body.despite else "closed"
            of = f"{body.gaming_day}, version {body.version}"
            yield fact, what, of, body.by, body.second, body.despite or body.because
        elif isinstance(body, DayReopened):
            yield fact, "opened again", body.gaming_day, body.by, body.second, body.because


def _corrections_and_voids(store: ViewStore, asked: AskedReport) -> Iterator[_Row]:
    day = WinsAsked(asked.property, None, asked.gaming_day)
    found = [day_records(store, day, each) for each in (WITH_CORRECTIONS, AS_RECORDED)]
    for each in made_on_day(store, asked.property, asked.gaming_day, found):
        body = each.fact.body
        if isinstance(body, FactCorrected):
            what = "corrected" if body.data is not None else "taken back"
            if each.is_by_others:
                what += f" by {each.fact.source.split('/')[1]}, which has no effect"
            named = _named(each.named, each.of)
            yield each.fact, what, named, body.by, body.second, body.because
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
                yield fact, "voided", name, one, ", ".join(others) or None, reason


def _explained(asked: AskedReport) -> Iterator[_Row]:
    told = coupons_and_checks.variance_facts(asked.database, asked.property)
    for fact in told.get(asked.property, []):
        body = fact.body
        if isinstance(body, VarianceExplained) and body.gaming_day == asked.gaming_day:
            of = f"{body.table}, {body.gaming_day}"
            yield fact, "variance explained", of, body.by, body.second, body.because
