"""The three wins of tables' gaming days, worked out from the views `finance` and `rulings`.

Papers are read and summed in Python, rounds in SQL (`consumers.finance.round_sums`).
`ledger.finance.feed` gives the same for a whole feed.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from consumers.finance import coupons_and_checks, exceptions, money_facts, round_sums
from consumers.money.corrections_held import as_corrected, made_of
from consumers.rulings import rulings
from consumers.rulings.tables import CASE_TAPES
from infra.postgres.view_tables import reading, reading_beside
from ledger.adjudication.corrections import corrected, corrections
from ledger.facts import AdjustmentPaid
from ledger.finance.boxes import BOX_FACTS, boxes, papers_in, without_amount
from ledger.finance.exceptions import (
    DayKey,
    boxed_twice,
    checks_issued,
    checks_voided,
    counted_elsewhere,
    issued_before,
    settled_elsewhere,
)
from ledger.finance.feed import (
    PapersOfHouse,
    after_closers,
    days_of,
    empty,
    exceptions_of_days,
    put_together,
    records,
    sold_by_house,
    tables_of,
)
from ledger.finance.placing import (
    OPENS_DAY,
    Days,
    DisputeUse,
    PaperUse,
    by_time,
    day_before,
    table_of,
)
from ledger.finance.rounds import tray_moves
from ledger.finance.shifts import by_shift as parts_by_shift
from ledger.finance.slips import left_out, series, slips_named
from ledger.finance.table_day import (
    as_report,
    closer_before,
    closer_of,
    papers_of,
    rests_on_sales,
    win,
)
from ledger.finance.win import REPORT, REPORT_7
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from consumers.finance.money_facts import Place
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import PaperId
    from ledger.finance.feed import TableMoney
    from ledger.finance.placing import DisputeId, FactId, TableId
    from ledger.finance.rounds import TrayMove
    from ledger.finance.slips import SlipRecord
    from ledger.finance.table_day import DayRecord, RoundsMoney
    from ledger.finance.win import AuditException, TableWin
    from ledger.record.wire import Fact

VIEWS = (money_facts.VIEW, rulings.VIEW, coupons_and_checks.VIEW)
"""The views to catch up before `read`."""

WITH_CORRECTIONS = (money_facts.BOTH, money_facts.CORRECTED)
AS_RECORDED = (money_facts.BOTH, money_facts.RECORDED)


class WinsAsked(NamedTuple):
    """What is asked for; None: all."""

    property: str | None = None
    table: str | None = None
    gaming_day: str | None = None


class WinsFilter(TypedDict, total=False):
    """The same by name, as every reading of wins is called with it."""

    property: str | None
    table: str | None
    gaming_day: str | None


def _parameters(asked: WinsAsked) -> dict[str, object]:
    """The parameters of the queries below."""
    return {
        "property": asked.property,
        "table": asked.table,
        "tables": None if asked.table is None else [asked.table],
        "sales": True,
        "steps": True,
        **_of_days([asked.gaming_day] if asked.gaming_day else None),
    }


def _of_days(days: Sequence[str] | None) -> dict[str, object]:
    """The gaming days that are asked for, and those before them too, whose closers are openers."""
    around = sorted({*days, *map(day_before, days)}) if days else None
    return {"days": days, "around": around}


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
    its = exceptions.about_corrections(store, _parameters(asked), corrected, recorded, report)
    return DayRecords(its, recorded, places).as_report(report)


def _has_corrections(store: ViewStore, asked: WinsAsked) -> bool:
    """Whether a correction is of a fact of what is asked for, one that was taken back too."""
    found = store.query(
        "SELECT 1 FROM {schema}.finance_corrections_made WHERE %(property)s::text IS NULL"
        " OR split_part(of_source, '/', 2) = %(property)s LIMIT 1",
        _parameters(asked),
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
        tables = _tables(store, asked, variants, places)
        dropped = _dropped(store, tables, asked)
        of_boxes = _facts_of_boxes(store, tables, asked, variants, dropped)
        used = _papers_used(store, _on_day(tables, asked.gaming_day), dropped, variants)
        papers = put_together(
            _left_out(store, tables, asked, variants),
            boxed_twice(of_boxes, by_stay=report >= REPORT_7),
            exceptions_of_days(tables, report),
            issued_before(days_of(tables), _issued(store, tables, variants)),
            settled_elsewhere(days_of(tables), _disputes_used(store, tables, variants)),
            counted_elsewhere(of_boxes, used),
        )
        homeless = _without_day(store, asked, variants, places) if report >= REPORT_7 else {}
        beside = PapersOfHouse(_sold_elsewhere(store, tables, variants), checks_voided(used))
        late = after_closers(_late_moves(store, tables, variants), tables)
        found = records(tables, rounds(), papers, beside, homeless, late)
    return {key: each for key, each in found.items() if asked.gaming_day in (None, key[1])}


@contextmanager
def _rounds(
    store: ViewStore, asked: WinsAsked, variants: tuple[int, int]
) -> Iterator[Callable[[], dict[DayKey, RoundsMoney]]]:
    """The money of rounds, once it is asked for. That of a house is read meanwhile."""
    recorded = variants == AS_RECORDED
    read_ = partial(round_sums.of_days, asked=_parameters(asked), recorded=recorded)
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
    closers = {key: count for key, its in days_of(tables).items() if (count := closer_of(its))}
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
    asked = {**_parameters(WinsAsked(property_, table)), "steps": False, "variants": variants}
    rounds = round_sums.of_days(store, asked | _of_days(days), recorded=False, detailed=False)

    def of_tables(days: Sequence[str], more: dict[str, object]) -> dict[DayKey, DayRecord]:
        told, place = _told(store, store.query(_OF_DAYS, asked | _of_days(days) | more))
        beside = _beside(store, told, WITH_CORRECTIONS)
        tables = tables_of(told, place, beside)
        sold = _sold_elsewhere(store, tables, WITH_CORRECTIONS) if "tables" in more else {}
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


_EARLIEST, _LATEST = -(2**63), 2**63 - 1
"""Before and after every time on record, microseconds."""

_WHERE = (
    "(%(property)s::text IS NULL OR f.property = %(property)s)"
    " AND (%(tables)s::text[] IS NULL OR f.table_name = ANY (%(tables)s))"
)


class _Found(NamedTuple):
    """What a query below says of a fact: its table and paper, its place, its correction's place."""

    property: str
    table_name: str
    paper_kind: str | None
    paper: str | None
    tape: str
    table_seq: int
    made_tape: str | None
    made_seq: int | None


_COLUMNS = ", ".join(f"f.{name}" for name in _Found._fields)

_ALL = f"""
SELECT {_COLUMNS} FROM {{schema}}.finance_facts f
 WHERE f.variant = ANY (%(variants)s::int[]) AND {_WHERE}
"""  # noqa: S608 - put together from constants

# The other facts of a slip at its table. `OFFSET 0` has each slip looked up by its index, however
# few the planner takes them for.
_OF_SLIP = """
CROSS JOIN LATERAL (
    SELECT * FROM {schema}.finance_facts f
     WHERE f.property = d.property AND f.paper_kind = d.paper_kind AND f.paper = d.paper
       AND f.variant = ANY (%(variants)s::int[]) OFFSET 0) o
 WHERE d.paper_kind <> 'dispute' AND (%(steps)s OR o.step = 'accepted')
   AND o.table_name = d.table_name
"""
_OF_TABLE = f"""
WITH d AS ({_ALL})
SELECT * FROM d UNION SELECT {_COLUMNS.replace("f.", "o.")}
  FROM d {_OF_SLIP}
"""  # noqa: S608 - as above

# A fact without a gaming day lies between a start of the day and the table's next start. The starts
# on either side are read too, so that a slip's other facts find their own day. Indexes find all of
# it, so that other days cost nothing: `LIMIT 1` keeps the last join to its index. `sales`: whether
# to read facts that name neither their day nor a paper, which are most of them. `steps`: whether to
# read the steps of slips that move no money.
_BESIDE = """
SELECT n.source, n.fact_id, n.variant, n.time_us, n.gaming_day FROM {{schema}}.finance_facts n
 WHERE n.starts AND n.variant = ANY (%(variants)s::int[]) AND n.property = f.property
   AND n.table_name = f.table_name AND n.time_us {sign}= f.time_us
   AND (n.time_us, n.source, n.fact_id) {sign} (f.time_us, f.source, f.fact_id)
 ORDER BY n.time_us {order}, n.source {order}, n.fact_id {order} LIMIT 1
"""
_OF_DAYS = f"""
WITH starts AS (
    SELECT f.property, f.table_name, next_.source AS next_source, next_.fact_id AS next_id,
           next_.variant AS next_variant, last_.source AS last_source, last_.fact_id AS last_id,
           last_.variant AS last_variant, last_.gaming_day AS last_day,
           CASE WHEN last_.time_us IS NULL THEN ({_EARLIEST}) ELSE f.time_us END AS since,
           coalesce(next_.time_us, {_LATEST}) AS until
      FROM {{schema}}.finance_facts f
      LEFT JOIN LATERAL ({_BESIDE.format(sign=">", order="")}) next_ ON true
      LEFT JOIN LATERAL ({_BESIDE.format(sign="<", order="DESC")}) last_ ON true
     WHERE f.starts AND f.gaming_day = ANY (%(days)s::text[])
       AND f.variant = ANY (%(variants)s::int[]) AND {_WHERE}),
of_day AS (
    SELECT f.source, f.fact_id, f.variant, f.property, f.table_name, f.paper_kind, f.paper
      FROM {{schema}}.finance_facts f
     WHERE f.gaming_day = ANY (%(around)s::text[])
       AND f.variant = ANY (%(variants)s::int[]) AND {_WHERE}
    UNION ALL SELECT f.source, f.fact_id, f.variant, f.property, f.table_name, f.paper_kind, f.paper
      FROM (SELECT DISTINCT property, table_name, last_day FROM starts) s
      JOIN {{schema}}.finance_facts f ON f.property = s.property AND f.table_name = s.table_name
       AND f.gaming_day = s.last_day AND f.variant = ANY (%(variants)s::int[])
     WHERE s.last_day <> ALL (%(around)s::text[])
    UNION ALL SELECT f.source, f.fact_id, f.variant, f.property, f.table_name, f.paper_kind, f.paper
      FROM starts s JOIN {{schema}}.finance_facts f ON f.property = s.property
       AND f.table_name = s.table_name AND f.gaming_day IS NULL
       AND f.variant = ANY (%(variants)s::int[])
       AND f.time_us >= s.since AND f.time_us < s.until
       AND (%(sales)s OR f.paper_kind IS NOT NULL)
       AND (%(steps)s OR f.step IS NULL OR f.step = 'accepted')),
wanted AS (
    SELECT source, fact_id, variant FROM of_day
    UNION SELECT next_source, next_id, next_variant FROM starts
    UNION SELECT last_source, last_id, last_variant FROM starts
    UNION SELECT o.source, o.fact_id, o.variant
      FROM of_day d {_OF_SLIP})
SELECT {_COLUMNS} FROM wanted w CROSS JOIN LATERAL (
    SELECT * FROM {{schema}}.finance_facts f WHERE (f.source, f.fact_id, f.variant)
         = (w.source, w.fact_id, w.variant) LIMIT 1) f
"""  # noqa: S608 - as above


def _tables(
    store: ViewStore,
    asked: WinsAsked,
    variants: tuple[int, int],
    places: dict[FactId, Place] | None,
) -> dict[TableId, TableMoney]:
    """The money outside rounds of what is asked for, by table."""
    parameters = {**_parameters(asked), "variants": list(variants)}
    query = _OF_DAYS if asked.gaming_day else _OF_TABLE if asked.table else _ALL
    facts, place = _told(store, store.query(query, parameters), places)
    is_all = asked.table is None and asked.gaming_day is None
    return tables_of(facts, place, () if is_all else _beside(store, facts, variants))


# Indexes find all of it: one look-up a table, however many facts each has. With a condition on the
# property beside its comparison of rows, each look-up would read the index from its begin. Facts
# are read from the first start of the day at any table to the next day's. `OFFSET 0` keeps a join
# to its index.
_STARTS = (
    "FROM {schema}.finance_facts s"
    " WHERE s.starts AND s.variant = ANY (%(variants)s::int[]) AND s.property = h.property"
)
_SPAN_OF_DAY = f"""
SELECT CASE WHEN EXISTS (SELECT {_STARTS} AND s.time_us < own.since)
            THEN own.since ELSE ({_EARLIEST}) END AS since,
       coalesce((SELECT min(s.time_us) {_STARTS} AND s.time_us > own.last), {_LATEST}) AS until
  FROM (SELECT min(time_us) AS since, max(time_us) AS last FROM (
        SELECT s.time_us {_STARTS} AND s.gaming_day = ANY (%(days)s::text[]) OFFSET 0) its) own
 WHERE own.since IS NOT NULL
"""  # noqa: S608 - as above
_EVER = f"SELECT ({_EARLIEST}) AS since, {_LATEST} AS until"
_WITHOUT_DAY = f"""
WITH RECURSIVE t AS (
    (SELECT f.property, f.table_name FROM {{schema}}.finance_facts f
      ORDER BY f.property, f.table_name LIMIT 1)
    UNION ALL
    SELECT n.property, n.table_name FROM t CROSS JOIN LATERAL (
        SELECT f.property, f.table_name FROM {{schema}}.finance_facts f
         WHERE (f.property, f.table_name) > (t.property, t.table_name)
         ORDER BY f.property, f.table_name LIMIT 1) n),
homeless AS MATERIALIZED (
    SELECT * FROM (SELECT * FROM t AS f WHERE {_WHERE}) h
     WHERE NOT EXISTS (SELECT {_STARTS} AND s.table_name = h.table_name))
SELECT {_COLUMNS}, coalesce(
    (SELECT s.gaming_day {_STARTS} AND s.time_us <= f.time_us
      ORDER BY s.time_us DESC, s.source DESC, s.fact_id DESC LIMIT 1),
    (SELECT s.gaming_day {_STARTS} ORDER BY s.time_us, s.source, s.fact_id LIMIT 1))
  FROM homeless h CROSS JOIN LATERAL ({{span}}) span CROSS JOIN LATERAL (
    SELECT * FROM {{schema}}.finance_facts f
     WHERE f.property = h.property AND f.table_name = h.table_name AND f.gaming_day IS NULL
       AND f.variant = ANY (%(variants)s::int[])
       AND f.time_us BETWEEN span.since AND span.until OFFSET 0) f
"""  # noqa: S608 - as above


def _without_day(
    store: ViewStore,
    asked: WinsAsked,
    variants: tuple[int, int],
    places: dict[FactId, Place] | None,
) -> dict[DayKey, list[Fact]]:
    """As `ledger.finance.feed.without_day`, of the gaming day that is asked for."""
    found: dict[DayKey, list[Fact]] = defaultdict(list)
    query = _WITHOUT_DAY.replace("{span}", _SPAN_OF_DAY if asked.gaming_day else _EVER)
    rows = store.query(query, {**_parameters(asked), "variants": list(variants)})
    for day in sorted({day for *_, day in rows if day and asked.gaming_day in (None, day)}):
        told, place = _told(store, [row[:-1] for row in rows if row[-1] == day], places)
        for fact in sorted(told, key=by_time):
            property_, name = place(fact)
            found[property_, day, name].append(fact)
    return found


_AT_TABLES = f"""
WITH several AS (
    SELECT f.property, f.paper_kind, f.paper
      FROM unnest(%(properties)s::text[], %(kinds)s::text[], %(papers)s::text[])
           AS w (property, paper_kind, paper)
      JOIN {{schema}}.finance_facts f USING (property, paper_kind, paper)
     WHERE f.variant = ANY (%(variants)s::int[])
     GROUP BY f.property, f.paper_kind, f.paper HAVING count(DISTINCT f.table_name) > 1)
SELECT {_COLUMNS} FROM several JOIN {{schema}}.finance_facts f USING (property, paper_kind, paper)
 WHERE f.variant = ANY (%(variants)s::int[]) AND f.step = 'accepted'
"""  # noqa: S608 - as above


def _beside(
    store: ViewStore, facts: Sequence[Fact], variants: tuple[int, int]
) -> list[tuple[TableId, Fact]]:
    """The acceptances at other tables of slips that are among these, with their tables."""
    slips = sorted(slips_named(facts))
    if not slips:
        return []
    names = ("properties", "kinds", "papers")
    asked = {name: [each[nth] for each in slips] for nth, name in enumerate(names)}
    rows = store.query(_AT_TABLES, asked | {"variants": list(variants)})
    known = {(fact.source, fact.id) for fact in facts}
    told, place = _told(store, rows)
    return [(place(fact), fact) for fact in told if (fact.source, fact.id) not in known]


def _told(
    store: ViewStore,
    found: Sequence[tuple[Any, ...]],
    places: dict[FactId, Place] | None = None,
) -> tuple[list[Fact], Callable[[Fact], TableId]]:
    """The facts of some rows of `finance_facts`, and the table of each.

    places: takes those of the facts.
    """
    rows = [_Found(*each) for each in found]
    asked = {(each.tape, each.table_seq) for each in rows}
    asked |= {(each.made_tape, each.made_seq or 0) for each in rows if each.made_tape}
    kept = {(r.tape, r.table_seq): r for r in store.rows_at((t, seq, seq) for t, seq in asked)}
    if places is not None:
        places.update(((row.source, row.id), place) for place, row in kept.items())
    facts: list[Fact] = []
    at: dict[tuple[str, str], TableId] = {}
    for each in rows:
        fact = fact_of(kept[each.tape, each.table_seq])
        why = kept[each.made_tape, each.made_seq or 0] if each.made_tape else None
        facts += as_corrected(fact, why) if why else [fact]
        at[fact.source, fact.id] = each.property, each.table_name
    return facts, lambda fact: at[fact.source, fact.id]


_SOLD = f"""
SELECT {_COLUMNS} FROM unnest(%(properties)s::text[], %(numbers)s::text[]) AS w (property, number)
  JOIN {{schema}}.finance_numbers n USING (property, number)
  JOIN {{schema}}.finance_facts f USING (source, fact_id, variant)
 WHERE n.kind = 'sold' AND n.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above


def _sold_elsewhere(
    store: ViewStore, tables: Mapping[TableId, TableMoney], variants: tuple[int, int]
) -> dict[str, dict[str, int]]:
    """As `sold_by_house`, of the vouchers in these tables' boxes that have no amount there."""
    lacks = sorted(
        {
            (property_, number)
            for (property_, _), of in tables.items()
            for facts in of.days.values()
            for number in without_amount(facts)
        }
    )
    if not lacks:
        return {}
    asked = {"properties": [p for p, _ in lacks], "numbers": [n for _, n in lacks]}
    return sold_by_house(_told(store, store.query(_SOLD, asked | {"variants": list(variants)}))[0])


_ISSUED = f"""
SELECT {_COLUMNS} FROM unnest(%(properties)s::text[], %(numbers)s::text[]) AS w (property, number)
  JOIN {{schema}}.finance_numbers n USING (property, number)
  JOIN {{schema}}.finance_facts f USING (source, fact_id, variant)
 WHERE n.kind = 'issued' AND n.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above


def _issued(
    store: ViewStore, tables: Mapping[TableId, TableMoney], variants: tuple[int, int]
) -> dict[tuple[str, str], list[Fact]]:
    """The facts at any table that issue the checks which these tables issued."""
    own = checks_issued(f for facts in days_of(tables).values() for f in facts)
    if not own:
        return {}
    asked = {"properties": [p for p, _ in own], "numbers": [n for _, n in own]}
    return checks_issued(
        _told(store, store.query(_ISSUED, asked | {"variants": list(variants)}))[0]
    )


_DISPUTES_USED = """
WITH w AS (SELECT * FROM unnest(%(properties)s::text[], %(numbers)s::text[])
               AS w (property, dispute))
SELECT property, dispute, d.time_us, d.source, d.fact_id, d.of_property, d.of_table
  FROM w JOIN {schema}.finance_disputes d USING (property, dispute)
UNION ALL
SELECT f.property, f.paper, f.time_us, f.source, f.fact_id, f.property, f.table_name
  FROM w JOIN {schema}.finance_facts f ON f.property = w.property AND f.paper = w.dispute
 WHERE f.paper_kind = 'dispute' AND f.variant = ANY (%(variants)s::int[])
"""


def _disputes_used(
    store: ViewStore, tables: Mapping[TableId, TableMoney], variants: tuple[int, int]
) -> dict[DisputeId, list[DisputeUse]]:
    """As `disputes_used`, of the disputes that these tables paid amends for."""
    wanted = {
        (key[0], fact.body.dispute)
        for key, facts in days_of(tables).items()
        for fact in facts
        if isinstance(fact.body, AdjustmentPaid)
    }
    if not wanted:
        return {}
    asked = {"properties": [p for p, _ in wanted], "numbers": [n for _, n in wanted]}
    found: dict[DisputeId, list[DisputeUse]] = defaultdict(list)
    for *key, time_us, source, id_, property_, table in store.query(
        _DISPUTES_USED, asked | {"variants": list(variants)}
    ):
        use = DisputeUse(time_us, source, id_, (property_, table))
        found[key[0], key[1]].append(use)
    return found


class DroppedCoupon(NamedTuple):
    """A coupon that was dropped at a table."""

    property: str
    serial: str
    table: str


_DROPPED = f"""
SELECT f.property, f.number, f.table_name FROM {{schema}}.coupon_check_uses f
 WHERE f.kind = 'coupon' AND {_WHERE}
   AND (%(days)s::text[] IS NULL OR f.gaming_day = ANY (%(days)s::text[]))
UNION SELECT f.property, f.number, f.table_name
  FROM unnest(%(houses)s::text[], %(places)s::text[], %(sinces)s::bigint[], %(untils)s::bigint[])
       AS w (property, table_name, since, until)
  JOIN {{schema}}.coupon_check_uses f USING (property, table_name)
 WHERE f.kind = 'coupon' AND f.gaming_day IS NULL AND f.time_us >= w.since AND f.time_us < w.until
"""  # noqa: S608 - as above


def _dropped(
    store: ViewStore, tables: Mapping[TableId, TableMoney], asked: WinsAsked
) -> list[DroppedCoupon]:
    """The coupons that were dropped at these tables on the gaming day that is asked for."""
    spans = []
    if asked.gaming_day:
        for table, of in tables.items():
            starts = (f for its in of.days.values() for f in its if isinstance(f.body, OPENS_DAY))
            for since, until in Days(starts).spans(asked.gaming_day):
                spans.append((*table, since, _LATEST if until is None else until))
    columns = zip(*spans, strict=True) if spans else ((), (), (), ())
    told = dict(zip(("houses", "places", "sinces", "untils"), map(list, columns), strict=True))
    return [DroppedCoupon(*row) for row in store.query(_DROPPED, {**_parameters(asked), **told})]


def _on_day(
    tables: Mapping[TableId, TableMoney], gaming_day: str | None
) -> dict[DayKey, Sequence[Fact]]:
    """The facts of these tables' days, of the day that is asked for."""
    found = days_of(tables).items()
    return {key: facts for key, facts in found if gaming_day in (None, key[1])}


_USED = """
SELECT u.property, u.kind, u.number, u.time_us, u.source, u.fact_id, u.table_name,
       coalesce(u.gaming_day, (
           SELECT s.gaming_day FROM {schema}.finance_facts s
            WHERE s.starts AND s.variant = ANY (%(variants)s::int[]) AND s.property = u.property
              AND s.table_name = u.table_name AND s.time_us <= u.time_us
            ORDER BY s.time_us DESC, s.source DESC, s.fact_id DESC LIMIT 1), '')
  FROM unnest(%(properties)s::text[], %(kinds)s::text[], %(numbers)s::text[])
       AS w (property, kind, number)
  JOIN {schema}.coupon_check_uses u USING (property, kind, number)
"""


def _papers_used(
    store: ViewStore,
    days: Mapping[DayKey, Sequence[Fact]],
    dropped: Iterable[DroppedCoupon],
    variants: tuple[int, int],
) -> dict[PaperId, list[PaperUse]]:
    """As `papers_used`, of the coupons and checks of these days, and of these coupons."""
    wanted: set[PaperId] = {(each.property, "coupon", each.serial) for each in dropped}
    for (property_, _, _), facts in days.items():
        its = boxes(facts)
        for kind in ("coupon", "check"):
            wanted |= {(property_, kind, number) for number in papers_in(its, kind)}
        wanted |= {(property_, "check", number) for _, number in checks_issued(facts)}
    if not wanted:
        return {}
    columns = map(list, zip(*sorted(wanted), strict=True))
    asked = dict(zip(("properties", "kinds", "numbers"), columns, strict=True))
    found: dict[PaperId, list[PaperUse]] = defaultdict(list)
    for *paper, time_us, source, id_, table, day in store.query(
        _USED, {**asked, "variants": list(variants)}
    ):
        use = PaperUse(time_us, source, id_, (paper[0], table), day)
        found[paper[0], paper[1], paper[2]].append(use)
    return {paper: sorted(its) for paper, its in found.items()}


_SAME_PAPERS = f"""
WITH its AS (
    SELECT DISTINCT f.property, f.kind, f.number FROM {{schema}}.finance_numbers f
     WHERE f.kind NOT IN ('sold', 'issued') AND f.variant = ANY (%(variants)s::int[]) AND {_WHERE}
       AND (%(days)s::text[] IS NULL OR f.gaming_day = ANY (%(days)s))),
seen AS (
    SELECT property, kind, number
      FROM its JOIN {{schema}}.finance_numbers o USING (property, kind, number)
     WHERE o.variant = ANY (%(variants)s::int[])
     GROUP BY property, kind, number HAVING count(DISTINCT (o.table_name, o.gaming_day)) > 1
    UNION SELECT d.property, 'coupon', d.number
      FROM unnest(%(houses)s::text[], %(serials)s::text[], %(places)s::text[])
           AS d (property, number, table_name)
     WHERE EXISTS (SELECT FROM {{schema}}.finance_numbers o
        WHERE o.property = d.property AND o.kind = 'coupon' AND o.number = d.number
          AND o.table_name <> d.table_name AND o.variant = ANY (%(variants)s::int[])))
SELECT DISTINCT {_COLUMNS}
  FROM seen JOIN {{schema}}.finance_numbers o USING (property, kind, number)
  JOIN {{schema}}.finance_facts f ON f.property = o.property AND f.table_name = o.table_name
   AND f.gaming_day = o.gaming_day AND f.variant = ANY (%(variants)s::int[])
 WHERE o.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above


def _facts_of_boxes(
    store: ViewStore,
    tables: Mapping[TableId, TableMoney],
    asked: WinsAsked,
    variants: tuple[int, int],
    dropped: Sequence[DroppedCoupon],
) -> dict[DayKey, list[Fact]]:
    """The facts of boxes of these tables' days, and of days that have a paper of theirs, by day.

    dropped: the coupons that were dropped at these tables; boxes of other tables may have them.
    """
    found = {
        key: [fact for fact in facts if isinstance(fact.body, BOX_FACTS)]
        for key, facts in days_of(tables).items()
    }
    columns = zip(*dropped, strict=True) if dropped else ((), (), ())
    told = dict(zip(("houses", "serials", "places"), map(list, columns), strict=True))
    parameters = {**_parameters(asked), **told, "variants": list(variants)}
    for fact in _told(store, store.query(_SAME_PAPERS, parameters))[0]:
        if isinstance(fact.body, BOX_FACTS):
            property_, table = table_of(fact)
            its = found.setdefault((property_, fact.body.gaming_day, table), [])
            if all((each.source, each.id) != (fact.source, fact.id) for each in its):
                its.append(fact)
    return {key: sorted(its, key=by_time) for key, its in found.items()}


def _left_out(
    store: ViewStore,
    tables: Mapping[TableId, TableMoney],
    asked: WinsAsked,
    variants: tuple[int, int],
) -> dict[DayKey, list[AuditException]]:
    """Numbers left out of the series of the slips that are asked for."""
    slips: list[tuple[DayKey, SlipRecord, tuple[Any, ...]]] = [
        ((property_, day, name), slip, numbered)
        for (property_, name), of in tables.items()
        for day, told in of.slips.items()
        for slip in told
        if day and asked.gaming_day in (None, day) and (numbered := series(slip))
    ]
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    if not slips:
        return found
    befores = store.query(
        "SELECT (SELECT max(f.number) FROM {schema}.finance_facts f WHERE f.property = w.property"
        " AND f.paper_kind = w.kind AND f.stem = w.stem AND f.number < w.number"
        " AND f.variant = ANY (%(variants)s::int[]))"
        " FROM unnest(%(properties)s::text[], %(kinds)s::text[], %(stems)s::text[],"
        " %(numbers)s::bigint[]) WITH ORDINALITY AS w (property, kind, stem, number, n) ORDER BY n",
        {
            "variants": list(variants),
            "properties": [key[0] for key, _, _ in slips],
            "kinds": [of[0] for _, _, of in slips],
            "stems": [of[1] for _, _, of in slips],
            "numbers": [of[2] for _, _, of in slips],
        },
    )
    for (key, slip, of), (before,) in zip(slips, befores, strict=True):
        if before is not None and of[2] - before > 1:
            found[key].append(left_out(before, slip))
    return found
