"""The three wins of tables' gaming days, worked out from the views `finance` and `rulings`.

Papers are read and summed in Python, rounds in SQL (`consumers.finance.round_sums`).
`ledger.finance.feed` gives the same for a whole feed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Unpack

from consumers.finance import coupons_and_checks, money_facts, round_sums
from consumers.finance.corrections import about_corrections
from consumers.finance.coupons_and_checks import issued_coupons
from consumers.finance.day_facts import (
    FACTS_OF_DAYS,
    WinsAsked,
    WinsFilter,
    acceptances_elsewhere,
    days_asked,
    facts_of_rows,
    query_parameters,
    tables_asked,
    without_day,
)
from consumers.finance.papers_elsewhere import (
    disputes_used,
    dropped_coupons,
    facts_of_boxes,
    houses_of_coupons,
    issues_of_checks,
    numbers_left_out,
    on_day,
    slips_used,
    sold_elsewhere,
    uses_of_papers,
)
from consumers.money.corrections_held import made_of
from consumers.rulings import rulings
from consumers.rulings.tables import CASE_TAPES
from infra.postgres.view_tables import reading, reading_beside
from ledger.adjudication.corrections import corrected, corrections
from ledger.finance.coupons import against_terms
from ledger.finance.exceptions import (
    DayKey,
    attached_twice,
    boxed_twice,
    checks_voided,
    counted_elsewhere,
    issued_before,
    numbers_used_twice,
    settled_elsewhere,
)
from ledger.finance.feed import (
    PapersOfHouse,
    after_closers,
    closers_of,
    empty,
    exceptions_of_days,
    games_of_days,
    put_together,
    records,
    tables_of,
)
from ledger.finance.rounds import tray_moves
from ledger.finance.shifts import by_shift as parts_by_shift
from ledger.finance.table_day import (
    as_report,
    closer_before,
    papers_of,
    rests_on_sales,
    win,
)
from ledger.finance.win import REPORT, REPORT_7
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from consumers.finance.money_facts import Place
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.feed import TableMoney
    from ledger.finance.placing import FactId, TableId
    from ledger.finance.rounds import TrayMove
    from ledger.finance.table_day import DayRecord, RoundsMoney
    from ledger.finance.win import TableWin

VIEWS = (money_facts.VIEW, rulings.VIEW, coupons_and_checks.VIEW)
"""The views to catch up before `read`."""

WITH_CORRECTIONS = (money_facts.BOTH, money_facts.CORRECTED)
AS_RECORDED = (money_facts.BOTH, money_facts.RECORDED)


def read(database: Database, **asked: Unpack[WinsFilter]) -> list[TableWin]:
    """The wins of tables' gaming days at one moment, in order of property, day and table."""
    names = [each.name for view in VIEWS for each in view.tables]
    with reading(database, names) as store:
        return of_views(store, WinsAsked(**asked))


class DayRecords(NamedTuple):
    """What wins rest on: with corrections, and as recorded; None: there are no corrections."""

    corrected: Mapping[DayKey, DayRecord]
    recorded: Mapping[DayKey, DayRecord] | None
    places: Mapping[FactId, Place]  # of the facts that were read

    def wins(self) -> list[TableWin]:
        """The wins, in order of property, day and table."""
        return [win(its, self._recorded(key)) for key, its in sorted(self.corrected.items())]

    def as_report(self, report: int) -> DayRecords:
        """The same as a version of the report says it."""
        corrected, recorded = (
            None if its is None else {key: as_report(each, report) for key, each in its.items()}
            for its in self[:2]
        )
        return DayRecords(corrected or {}, recorded, self.places)

    def _recorded(self, key: DayKey) -> DayRecord | None:
        if self.recorded is None:
            return None
        return self.recorded.get(key) or empty(self.corrected[key])

    def papers(self, property_: str, gaming_day: str) -> dict[FactId, Place | None]:
        """The facts outside rounds that a gaming day rests on, in either way, with their places.

        The closer before the day is one: it is the opener, or is compared with it. None: its place
        was not read.
        """
        return {
            (fact.source, fact.id): self.places.get((fact.source, fact.id))
            for records in (self.corrected, self.recorded or {})
            for key, its in records.items()
            if key[:2] == (property_, gaming_day)
            for fact in (*papers_of(its), closer_before(its))
            if fact
        }


def money_without_day(database: Database, property_: str | None) -> int:
    """How many facts of money are of casinos at which no table was opened or got a box.

    No gaming day is known of them, so no win has them. property_: None: of all.
    """
    with reading(database, [money_facts.FACTS_OF_MONEY.name]) as store:
        [(facts,)] = store.query(_OF_HOUSES_WITHOUT_DAY, {"property": property_})
    return int(facts)


# One look-up a casino, however many facts each has.
_OF_HOUSES_WITHOUT_DAY = """
WITH RECURSIVE h (property) AS (
    (SELECT property FROM {schema}.finance_facts ORDER BY property LIMIT 1)
    UNION ALL
    SELECT (SELECT f.property FROM {schema}.finance_facts f WHERE f.property > h.property
             ORDER BY f.property LIMIT 1)
      FROM h WHERE h.property IS NOT NULL)
SELECT count(DISTINCT (f.source, f.fact_id)) FROM h JOIN {schema}.finance_facts f USING (property)
 WHERE (%(property)s::text IS NULL OR h.property = %(property)s) AND NOT EXISTS (
    SELECT FROM {schema}.finance_facts s WHERE s.starts AND s.property = h.property)
"""


def of_views(store: ViewStore, asked: WinsAsked) -> list[TableWin]:
    """As `read`, in a read that other queries share."""
    return records_of(store, asked).wins()


def records_of(
    store: ViewStore,
    asked: WinsAsked,
    known: Mapping[DayKey, DayRecord] | None = None,
    report: int = REPORT,
) -> DayRecords:
    """What the wins of what is asked for rest on, as a version of the report says it.

    known: the same with corrections, if it was read as this program says it.
    """
    places: dict[FactId, Place] = {}
    corrected = (
        day_records(store, asked, WITH_CORRECTIONS, report, places) if known is None else known
    )
    if not _has_corrections(store, asked):
        return DayRecords(corrected, None, places).as_report(report)
    recorded = day_records(store, asked, AS_RECORDED, report, places)
    its = about_corrections(store, query_parameters(asked), corrected, recorded, report)
    return DayRecords(its, recorded, places).as_report(report)


def _has_corrections(store: ViewStore, asked: WinsAsked) -> bool:
    """Whether a correction is of a fact of what is asked for, one that was taken back too."""
    found = store.query(
        "SELECT 1 FROM {schema}.finance_corrections_made WHERE %(property)s::text IS NULL"
        " OR split_part(of_source, '/', 2) = %(property)s LIMIT 1",
        query_parameters(asked),
    )
    return bool(found)


def day_records(
    store: ViewStore,
    asked: WinsAsked,
    variants: tuple[int, int],
    report: int = REPORT,
    places: dict[FactId, Place] | None = None,
) -> dict[DayKey, DayRecord]:
    """What each day's win rests on, with corrections or as recorded.

    places: takes those of its facts.
    """
    with _rounds(store, asked, variants) as rounds:
        tables = tables_asked(store, asked, variants, places)
        dropped = dropped_coupons(store, tables, asked)
        of_boxes = facts_of_boxes(store, tables, asked, variants, dropped)
        days = on_day(tables, asked.gaming_day)
        used = uses_of_papers(store, days, dropped, variants)
        papers = put_together(
            numbers_left_out(store, tables, asked, variants),
            boxed_twice(of_boxes, report),
            attached_twice(of_boxes),
            exceptions_of_days(tables, days, report),
            issued_before(days, issues_of_checks(store, days, variants)),
            settled_elsewhere(days, disputes_used(store, days, variants)),
            counted_elsewhere(of_boxes, used),
            numbers_used_twice(days, slips_used(store, days, variants)),
            against_terms(
                of_boxes,
                used,
                games_of_days(tables),
                issued_coupons(store, houses_of_coupons(of_boxes, used)),
            ),
        )
        homeless = without_day(store, asked, variants, places) if report >= REPORT_7 else {}
        beside = PapersOfHouse(sold_elsewhere(store, tables, variants), checks_voided(used))
        late = after_closers(_late_moves(store, tables, variants), tables)
        found = records(tables, rounds(), papers, beside, homeless, late)
    return {key: each for key, each in found.items() if asked.gaming_day in (None, key[1])}


@contextmanager
def _rounds(
    store: ViewStore, asked: WinsAsked, variants: tuple[int, int]
) -> Iterator[Callable[[], dict[DayKey, RoundsMoney]]]:
    """The money of rounds, once it is asked for. That of a house is read meanwhile."""
    recorded = variants == AS_RECORDED
    read_ = partial(round_sums.of_days, asked=query_parameters(asked), recorded=recorded)
    if asked.table is not None or store.database is None:
        yield lambda: read_(store)
        return
    with reading_beside(store) as other, ThreadPoolExecutor(1) as pool:
        yield pool.submit(read_, other).result


_LATE_ROUNDS = f"""
SELECT t.tape, n, n
  FROM unnest(%(properties)s::text[], %(days)s::text[], %(names)s::text[], %(closers)s::bigint[])
       AS w (property, gaming_day, table_name, closer_us)
  JOIN {{schema}}.rulings r USING (property, gaming_day, table_name)
  JOIN {{schema}}.{CASE_TAPES.name} t USING (property, gaming_day, table_name, number)
 CROSS JOIN LATERAL unnest(t.seqs) part
 CROSS JOIN LATERAL generate_series(lower(part), upper(part) - 1) n
 WHERE r.last_us >= w.closer_us
"""  # noqa: S608 - put together from constants


def _late_moves(
    store: ViewStore, tables: Mapping[TableId, TableMoney], variants: tuple[int, int]
) -> Iterator[TrayMove]:
    """The chips that rounds moved whose last fact is not before the closer of their day."""
    closers = closers_of(tables)
    asked: dict[str, object] = {
        name: [key[nth] for key in closers] for nth, name in enumerate(_DAY_KEY)
    }
    asked["closers"] = [count.time_us for count in closers.values()]
    facts = list(map(fact_of, store.rows_named(_LATE_ROUNDS, asked)))
    if facts and variants == WITH_CORRECTIONS:
        made = made_of(store, money_facts.MADE, [(fact.source, fact.id) for fact in facts])
        told = (fact_of(row) for its in made.values() for row in its)
        facts = corrected(facts, corrections(told))
    return tray_moves(facts)


_DAY_KEY = ("properties", "days", "names")


def money_records(
    store: ViewStore,
    property_: str,
    days: Sequence[str],
    table: str | None = None,
    *,
    by_shift: bool = True,
) -> dict[DayKey, DayRecord]:
    """As `day_records` of some days, with corrections, and only what sums of money rest on.

    What a table sold is left out if its boxes say their drop; by_shift: that of each shift. Items
    and exceptions are left out.
    """
    variants = list(WITH_CORRECTIONS)
    asked = {**query_parameters(WinsAsked(property_, table)), "steps": False, "variants": variants}
    rounds = round_sums.of_days(store, asked | days_asked(days), recorded=False, detailed=False)

    def of_tables(days: Sequence[str], more: dict[str, object]) -> dict[DayKey, DayRecord]:
        told, place = facts_of_rows(
            store, store.query(FACTS_OF_DAYS, asked | days_asked(days) | more)
        )
        beside = acceptances_elsewhere(store, told, WITH_CORRECTIONS)
        tables = tables_of(told, place, beside)
        sold = sold_elsewhere(store, tables, WITH_CORRECTIONS) if "tables" in more else {}
        found = records(tables, rounds, {}, PapersOfHouse(sold), {}, {})
        return {key: each for key, each in found.items() if key[1] in days}

    found = of_tables(days, {"sales": False})
    needs = _needs_sales if by_shift else rests_on_sales
    needing = sorted(key for key, each in found.items() if needs(each))
    for day, keys in groupby(needing, key=itemgetter(1)):
        whole = of_tables([day], {"tables": [table for _, _, table in keys]})
        found |= {key: whole[key] for key in needing if key in whole}
    return found


def _needs_sales(of: DayRecord) -> bool:
    return any(rests_on_sales(part) for _, part in parts_by_shift(of, {}))
