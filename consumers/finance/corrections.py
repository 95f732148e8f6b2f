"""What days have of corrections: signed by one person, without effect, or of no fact on record.

Those that another property made are named, too.

The corrections of a day are found by its papers and by its rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance.day_facts import FactPlace, days_of_places
from consumers.finance.money_facts import ELSEWHERE, MADE
from consumers.finance.undecided import Undecided
from consumers.money.corrections_held import made_of, rows_of
from consumers.rulings.tables import CORRECTIONS
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
    from collections.abc import Iterable, Iterator, Mapping

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey
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
    if vain := corrections_of_nothing(made, facts):
        places = [FactPlace(each.table, each.gaming_day, each.fact.time_us) for each in vain]
        days = (day and day[1] for day in days_of_places(store, places))
        corrected = with_vain(corrected, zip(vain, days, strict=True))
    named = of_corrections(made, facts, report)
    return with_named(corrected, recorded, named, facts) if named else dict(corrected)


def rows_of_others(store: ViewStore, property_: str | None) -> list[TapeRow]:
    """The corrections that other properties made of a property's facts. None: of all."""
    return store.rows_named(_ELSEWHERE, {"property": property_})


def by_other_properties(
    store: ViewStore, property_: str | None
) -> Iterator[tuple[DayKey, Undecided]]:
    """The corrections of a property's facts by other properties, by the table and day of the fact.

    property_: None: of all. They change nothing, and are of no version: no tape of the property has
    them.
    """
    made = sorted(map(fact_of, rows_of_others(store, property_)), key=by_time)
    told = [(fact, fact.body.of) for fact in made if isinstance(fact.body, FactCorrected)]
    facts = {
        of: fact_of(row)
        for of, row in rows_of(store, {(of.source, of.id) for _, of in told}).items()
    }
    its = [(fact, of, facts[of.source, of.id]) for fact, of in told if (of.source, of.id) in facts]
    places = [FactPlace(table_of(of), own_day(of), of.time_us) for _, _, of in its]
    for (fact, named, of), day in zip(its, days_of_places(store, places), strict=True):
        if day:
            yield (
                day,
                Undecided(corrected_elsewhere(fact, (named.source, named.id)), "", (of.time_us,)),
            )


def corrections_of_day(
    store: ViewStore, asked: Mapping[str, object], days: Iterable[Mapping[DayKey, DayRecord]]
) -> tuple[dict[FactId, list[Fact]], dict[FactId, Fact]]:
    """The corrections of some days by what each is of in the end, and the facts that they are of.

    days: with corrections, and as recorded. asked: as above. Corrections of facts that came later
    are among them, whatever their day.
    """
    papers = {
        (fact.source, fact.id)
        for records in days
        for each in records.values()
        for fact in papers_of(each)
    }
    rows = made_of(store, MADE, sorted(papers))
    made = {of: list(map(fact_of, its)) for of, its in rows.items()}
    of_rounds = corrections_of(map(fact_of, store.rows_named(_OF_ROUNDS, asked)))
    for of, its in of_rounds.items():
        made[of] = list(
            {(each.source, each.id): each for each in (*made.get(of, ()), *its)}.values()
        )
    facts = {of: fact_of(row) for of, row in rows_of(store, made).items()} if made else {}
    return made, facts
