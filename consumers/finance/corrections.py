"""What days have of corrections: signed by one person, without effect, or of no fact on record.

Those that another property made are named, too.

The corrections of a day are found by its papers and by its rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.finance import money_facts
from consumers.finance.day_facts import FactPlace, days_of_places
from consumers.finance.money_facts import ELSEWHERE, MADE
from consumers.finance.undecided import Undecided
from consumers.money.corrections_held import made_of, rows_of
from consumers.money.day_at import day_at
from consumers.rulings.tables import CORRECTIONS
from infra.postgres.view_tables import reading
from ledger.adjudication.corrections import corrections_of
from ledger.facts import FactCorrected
from ledger.finance.exceptions import (
    corrected_elsewhere,
    corrections_of_nothing,
    of_corrections,
)
from ledger.finance.feed import with_named, with_vain
from ledger.finance.placing import by_time, own_day, table_of
from ledger.finance.table_day import papers_of
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from consumers.money.corrections_held import FactHistory
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey, VainCorrection
    from ledger.finance.placing import FactId
    from ledger.finance.table_day import DayRecord
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

_ELSEWHERE = f"""
SELECT tape, table_seq, table_seq FROM {{schema}}.{ELSEWHERE.name}
 WHERE %(property)s::text IS NULL OR of_property = %(property)s
"""  # noqa: S608 - put together from constants

# Those of a fact that came later name no round: all are read, as they are few.
_OF_ROUNDS = f"""
SELECT tape, table_seq, table_seq FROM {{schema}}.{CORRECTIONS.name}
 WHERE round IS NULL OR ((%(days)s::text[] IS NULL OR split_part(round, '/', 2) = ANY (%(days)s))
   AND (%(property)s::text IS NULL OR starts_with(round, %(property)s || ':')))
"""  # noqa: S608 - put together from constants


def about_corrections(
    store: ViewStore,
    asked: Mapping[str, object],
    corrected: Mapping[DayKey, DayRecord],
    recorded: Mapping[DayKey, DayRecord],
    report: int,
) -> dict[DayKey, DayRecord]:
    """Days with the exceptions of their corrections; `recorded`: the same without corrections.

    asked: property and day, as in the queries of wins. report: the version of the report.
    """
    made, facts = corrections_of_day(store, asked, (corrected, recorded))
    if vain := _vain(store, made, facts):
        corrected = with_vain(corrected, vain)
    named = of_corrections(made, facts, report)
    return with_named(corrected, recorded, named, facts) if named else dict(corrected)


def rows_of_others(store: ViewStore, property_: str | None) -> list[TapeRow]:
    """The corrections that other properties made of a property's facts. None: of all."""
    return store.rows_named(_ELSEWHERE, {"property": property_})


class CorrectionByOthers(NamedTuple):
    """A correction by another property. named: the fact that it names."""

    fact: Fact
    named: FactId
    of: Fact | None  # the fact that it names; None: it is not on record
    day: DayKey | None  # of the fact's table; of the house if no day of the table had begun
    time_us: int  # of the fact that it is of in the end


def made_by_others(store: ViewStore, property_: str | None) -> list[CorrectionByOthers]:
    """The corrections of a property's facts by other properties, in order of time. None: of all.

    A correction of a correction is of the day of the fact that it is of in the end. One of a fact
    that is not on record is of the table and day in its content, else of that fact's place.
    """
    made = sorted(map(fact_of, rows_of_others(store, property_)), key=by_time)
    named = [_named(each) for each in made]
    facts = _facts_named(store, set(named))
    places = [_place(*each, facts) for each in zip(made, named, strict=True)]
    days = days_of_places(store, places)
    return [
        CorrectionByOthers(fact, of, facts.get(of), day or house_day(store, place), place.time_us)
        for fact, of, place, day in zip(made, named, places, days, strict=True)
    ]


def _named(correction: Fact) -> FactId:
    """The fact that a correction names."""
    body = correction.body
    of = body.of if isinstance(body, FactCorrected) else correction
    return of.source, of.id


def _facts_named(store: ViewStore, named: set[FactId]) -> dict[FactId, Fact]:
    """These facts as far as they are on record, and those that corrections among them name."""
    found: dict[FactId, Fact] = {}
    asked = named
    while asked:
        new = {key: fact_of(row) for key, row in rows_of(store, asked).items()}
        found |= new
        of_these = {_named(each) for each in new.values() if isinstance(each.body, FactCorrected)}
        asked = of_these - named
        named |= asked
    return found


def _place(made: Fact, named: FactId, facts: Mapping[FactId, Fact]) -> FactPlace:
    """The table, day and time of the fact that a correction is of in the end."""
    seen = set()
    while (of := facts.get(named)) and isinstance(of.body, FactCorrected) and named not in seen:
        seen.add(named)
        named = _named(of)
    if of:
        return FactPlace(table_of(of), own_day(of), of.time_us)
    _, property_, place, *_ = (*named[0].split("/"), "", "", "")
    data = (isinstance(made.body, FactCorrected) and made.body.data) or {}
    table, day = (data.get(name) for name in ("table", "gaming_day"))
    at = table if isinstance(table, str) else place
    return FactPlace((property_, at), day if isinstance(day, str) else None, made.time_us)


_HOUSE_DAY = day_at(
    "{schema}.finance_facts", "s.variant <> 1 AND s.property = %(property)s", "%(time_us)s"
)


def house_day(store: ViewStore, of: FactPlace) -> DayKey | None:
    """A place with the gaming day of its property at that time; None before the first."""
    property_, name = of.table
    found = store.query(_HOUSE_DAY, {"property": property_, "time_us": of.time_us})
    return (property_, found[0][0], name) if found else None


def by_other_properties(
    store: ViewStore, property_: str | None
) -> Iterator[tuple[DayKey, Undecided]]:
    """As `made_by_others`, by the table and day that each is named at.

    They change nothing, and are of no version: no tape of the property has them.
    """
    for each in made_by_others(store, property_):
        if each.day:
            of = corrected_elsewhere(each.fact, each.named, is_recorded=each.of is not None)
            yield each.day, Undecided(of, "", (each.time_us,))


class MadeOnDay(NamedTuple):
    """A correction of a day, and the fact that it is of in the end; None: it is not on record."""

    fact: Fact
    named: FactId
    of: Fact | None
    is_by_others: bool = False  # by another property: it has no effect


def made_on_day(
    store: ViewStore, property_: str, gaming_day: str, days: Iterable[Mapping[DayKey, DayRecord]]
) -> Iterator[MadeOnDay]:
    """The corrections of a property's day. days: as `corrections_of_day`."""
    days = list(days)
    asked = {"property": property_, "days": [gaming_day]}
    made, facts = corrections_of_day(store, asked, days)
    papers = _papers(days)
    for key, of in facts.items():
        if of.round.gaming_day == gaming_day if of.round else key in papers:
            yield from (MadeOnDay(each, key, of) for each in made[key])
    for vain, day in _vain(store, made, facts):
        at = FactPlace(vain.table, None, vain.fact.time_us)
        its = (vain.table[0], day, "") if day else house_day(store, at)
        if its and its[:2] == (property_, gaming_day):
            yield MadeOnDay(vain.fact, _named(vain.fact), None)
    for each in made_by_others(store, property_):
        if each.day and each.day[1] == gaming_day:
            yield MadeOnDay(each.fact, each.named, each.of, is_by_others=True)


def history(database: Database, source: str, fact_id: str) -> tuple[FactHistory, list[TapeRow]]:
    """A fact with its corrections, and those by other properties. Raises `NotFound`."""
    found = money_facts.history(database, source, fact_id)
    keys = {(each.source, each.id) for each in (found.fact, *found.corrections)}
    with reading(database, [ELSEWHERE.name]) as store:
        others = rows_of_others(store, found.fact.source.split("/")[1])
    return found, [row for row in others if _named(fact_of(row)) in keys]


def corrections_of_day(
    store: ViewStore, asked: Mapping[str, object], days: Iterable[Mapping[DayKey, DayRecord]]
) -> tuple[dict[FactId, list[Fact]], dict[FactId, Fact]]:
    """The corrections of some days by what each is of in the end, and the facts that they are of.

    days: with corrections, and as recorded. asked: as above. Corrections of facts that came later
    are among them, whatever their day.
    """
    rows = made_of(store, MADE, sorted(_papers(days)))
    made = {of: list(map(fact_of, its)) for of, its in rows.items()}
    of_rounds = corrections_of(map(fact_of, store.rows_named(_OF_ROUNDS, asked)))
    for of, its in of_rounds.items():
        made[of] = list(
            {(each.source, each.id): each for each in (*made.get(of, ()), *its)}.values()
        )
    facts = {of: fact_of(row) for of, row in rows_of(store, made).items()} if made else {}
    return made, facts


def _papers(days: Iterable[Mapping[DayKey, DayRecord]]) -> set[FactId]:
    """The facts outside rounds that some days rest on."""
    records = (each for its in days for each in its.values())
    return {(fact.source, fact.id) for each in records for fact in papers_of(each)}


def _vain(
    store: ViewStore, made: Mapping[FactId, Sequence[Fact]], facts: Mapping[FactId, Fact]
) -> list[tuple[VainCorrection, str | None]]:
    """The corrections of facts that are not on record, each with its gaming day."""
    vain = corrections_of_nothing(made, facts)
    places = [FactPlace(each.table, each.gaming_day, each.fact.time_us) for each in vain]
    days = days_of_places(store, places) if vain else []
    return [(each, day and day[1]) for each, day in zip(vain, days, strict=True)]
