"""Corrections of a day's facts that one person alone signed, from the views of wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance.money_facts import MADE
from consumers.money.corrections_held import made_of, rows_of
from consumers.rulings.tables import CORRECTIONS
from ledger.adjudication.corrections import corrections_of
from ledger.finance.exceptions import signed_by_one
from ledger.finance.feed import with_signers
from ledger.finance.table_day import papers_of
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey, FactId
    from ledger.finance.table_day import DayRecord
    from ledger.record.wire import Fact

# Those of a fact that came later name no round: all are read, as they are few.
_OF_ROUNDS = f"""
SELECT tape, table_seq, table_seq FROM {{schema}}.{CORRECTIONS.name}
 WHERE round IS NULL OR ((%(day)s::text IS NULL OR split_part(round, '/', 2) = %(day)s)
   AND (%(property)s::text IS NULL OR starts_with(round, %(property)s || ':')))
"""  # noqa: S608 - put together from constants


def with_exceptions(
    store: ViewStore,
    asked: Mapping[str, object],
    corrected: Mapping[DayKey, DayRecord],
    recorded: Mapping[DayKey, DayRecord],
) -> dict[DayKey, DayRecord]:
    """Days with the exceptions of their corrections; `recorded`: the same without corrections.

    asked: property and day, as in the queries of wins.
    """
    papers = {
        (fact.source, fact.id)
        for records in (corrected, recorded)
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
    alone = {of: its for of, its in made.items() if signed_by_one(its)}
    if not alone:
        return dict(corrected)
    return with_signers(corrected, recorded, alone, _days(store, alone))


def _days(store: ViewStore, made: Mapping[FactId, list[Fact]]) -> dict[FactId, DayKey]:
    """The days of those facts that are of rounds."""
    found: dict[FactId, DayKey] = {}
    for of, row in rows_of(store, made).items():
        if round_ := fact_of(row).round:
            found[of] = (round_.property, round_.gaming_day, round_.table)
    return found
