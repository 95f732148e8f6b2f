"""The three wins of tables' gaming days, worked out from the views `finance` and `rulings`.

Papers are read and summed in Python, rounds in SQL (`consumers.finance.round_sums`).
`ledger.finance.feed` gives the same for a whole feed.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from consumers.finance import money_facts, round_sums
from consumers.finance.money_facts import as_corrected
from consumers.rulings import rulings
from infra.postgres.view_tables import reading
from ledger.facts import DropBoxCounted
from ledger.finance.exceptions import DayKey, redeemed_twice
from ledger.finance.feed import day_before, days_of, empty, put_together, records, tables_of
from ledger.finance.placing import by_time, table_of
from ledger.finance.slips import left_out, series
from ledger.finance.table_day import win
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.feed import TableMoney
    from ledger.finance.placing import TableId
    from ledger.finance.slips import SlipRecord
    from ledger.finance.table_day import DayRecord
    from ledger.finance.win import AuditException, TableWin
    from ledger.record.wire import Fact

VIEWS = (money_facts.VIEW, rulings.VIEW)
"""The views to catch up before `read`."""

WITH_CORRECTIONS = (money_facts.BOTH, money_facts.CORRECTED)
AS_RECORDED = (money_facts.BOTH, money_facts.RECORDED)


class WinsAsked(NamedTuple):
    """What is asked for; None: all."""

    property: str | None
    table: str | None
    gaming_day: str | None


def _parameters(asked: WinsAsked) -> dict[str, object]:
    """The parameters of the queries below."""
    before = day_before(asked.gaming_day) if asked.gaming_day else None
    return {
        "property": asked.property,
        "table": asked.table,
        "day": asked.gaming_day,
        "before": before,
    }


def read(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
) -> list[TableWin]:
    """The wins of tables' gaming days at one moment, in order of property, day and table."""
    names = [each.name for view in VIEWS for each in view.tables]
    with reading(database, names) as store:
        return of_views(store, WinsAsked(property, table, gaming_day))


def of_views(store: ViewStore, asked: WinsAsked) -> list[TableWin]:
    """As `read`, in a read that other queries share."""
    return of_records(store, asked, day_records(store, asked, WITH_CORRECTIONS))


def of_records(
    store: ViewStore, asked: WinsAsked, found: Mapping[DayKey, DayRecord]
) -> list[TableWin]:
    """The wins of records with corrections that were read for `asked`."""
    before = day_records(store, asked, AS_RECORDED) if _has_corrections(store, asked) else {}
    return [
        win(found[key], (before.get(key) or empty(found[key])) if before else None)
        for key in sorted(found)
    ]


def _has_corrections(store: ViewStore, asked: WinsAsked) -> bool:
    """Whether a correction changes a fact of money, or a round, of what is asked for."""
    found = store.query(
        f"(SELECT 1 FROM {{schema}}.finance_facts f WHERE f.variant <> 0 AND {_WHERE} LIMIT 1)"  # noqa: S608 - values are parameters
        " UNION ALL (SELECT 1 FROM {schema}.ruling_money WHERE recorded IS NOT NULL"
        f" AND {round_sums.WHERE} LIMIT 1) LIMIT 1",
        _parameters(asked),
    )
    return bool(found)


def day_records(
    store: ViewStore, asked: WinsAsked, variants: tuple[int, int]
) -> dict[DayKey, DayRecord]:
    """What each day's win rests on, with corrections or as recorded."""
    tables = _tables(store, asked, variants)
    rounds = round_sums.of_days(store, _parameters(asked), recorded=variants == AS_RECORDED)
    papers = put_together(
        _left_out(store, tables, asked, variants),
        redeemed_twice(_box_counts(store, tables, asked, variants)),
    )
    found = records(tables, rounds, papers)
    return {key: each for key, each in found.items() if asked.gaming_day in (None, key[1])}


_WHERE = (
    "(%(property)s::text IS NULL OR f.property = %(property)s)"
    " AND (%(table)s::text IS NULL OR f.table_name = %(table)s)"
)

_ALL = f"""
SELECT f.* FROM {{schema}}.finance_facts f WHERE f.variant = ANY (%(variants)s::int[]) AND {_WHERE}
"""  # noqa: S608 - put together from constants

# A fact without a gaming day lies between a start of the day and the table's next start. The starts
# on either side are read too, so that a slip's other facts find their own day.
_OF_DAY = f"""
WITH starts AS (
    SELECT f.*, lead(f.time_us) OVER w AS until, lead(f.gaming_day) OVER w AS next_day,
           lag(f.gaming_day) OVER w AS last_day, row_number() OVER w AS nth
      FROM {{schema}}.finance_facts f
     WHERE f.starts AND f.variant = ANY (%(variants)s::int[]) AND {_WHERE}
    WINDOW w AS (PARTITION BY f.property, f.table_name ORDER BY f.time_us, f.source, f.fact_id)),
near AS (
    SELECT * FROM starts WHERE %(day)s IN (gaming_day, next_day, last_day)),
of_day AS (
    SELECT f.source, f.fact_id, f.variant FROM {{schema}}.finance_facts f
     WHERE f.gaming_day IN (%(day)s, %(before)s) AND f.variant = ANY (%(variants)s::int[])
       AND {_WHERE}
    UNION SELECT source, fact_id, variant FROM near
    UNION SELECT f.source, f.fact_id, f.variant FROM near s
      JOIN {{schema}}.finance_facts f ON f.property = s.property AND f.table_name = s.table_name
       AND f.gaming_day IS NULL AND f.variant = ANY (%(variants)s::int[])
       AND ((f.time_us >= s.time_us AND (s.until IS NULL OR f.time_us < s.until))
            OR (s.nth = 1 AND f.time_us < s.time_us))
     WHERE s.gaming_day = %(day)s)
SELECT f.* FROM of_day JOIN {{schema}}.finance_facts f USING (source, fact_id, variant)
UNION SELECT o.* FROM of_day JOIN {{schema}}.finance_facts f USING (source, fact_id, variant)
  JOIN {{schema}}.finance_facts o ON o.paper_kind = f.paper_kind AND o.paper = f.paper
   AND o.property = f.property AND o.table_name = f.table_name
   AND o.variant = ANY (%(variants)s::int[]) AND f.paper_kind <> 'dispute'
"""  # noqa: S608 - as above


def _tables(
    store: ViewStore, asked: WinsAsked, variants: tuple[int, int]
) -> dict[TableId, TableMoney]:
    """The money outside rounds of what is asked for, by table."""
    parameters = {**_parameters(asked), "variants": list(variants)}
    facts, disputed = _told(store, store.query(_OF_DAY if asked.gaming_day else _ALL, parameters))
    return tables_of(facts, disputed)


def _told(
    store: ViewStore, found: Sequence[tuple[Any, ...]]
) -> tuple[list[Fact], dict[str, TableId]]:
    """The facts of some rows of `finance_facts`, and the tables of the disputes they settle."""
    row = money_facts.FACTS_OF_MONEY.row
    rows = [row._make(each) for each in found]
    places = {(each.tape, each.table_seq) for each in rows}
    places |= {(each.made_tape, each.made_seq) for each in rows if each.made_tape}
    kept = {(r.tape, r.table_seq): r for r in store.rows_at((t, seq, seq) for t, seq in places)}
    facts: list[Fact] = []
    at: dict[str, TableId] = {}
    for each in rows:
        fact = fact_of(kept[each.tape, each.table_seq])
        why = kept[each.made_tape, each.made_seq] if each.made_tape else None
        facts += as_corrected(fact, why) if why else [fact]
        if each.paper_kind == "dispute":
            at[each.paper] = (each.property, each.table_name)
    return facts, at


_SAME_COUPONS = f"""
WITH its AS (
    SELECT DISTINCT f.property, f.serial FROM {{schema}}.finance_coupons f
     WHERE f.variant = ANY (%(variants)s::int[]) AND {_WHERE}
       AND (%(day)s::text IS NULL OR f.gaming_day = %(day)s)),
seen AS (
    SELECT property, serial FROM its JOIN {{schema}}.finance_coupons o USING (property, serial)
     WHERE o.variant = ANY (%(variants)s::int[])
     GROUP BY property, serial HAVING count(DISTINCT (o.table_name, o.gaming_day)) > 1)
SELECT DISTINCT f.* FROM seen JOIN {{schema}}.finance_coupons o USING (property, serial)
  JOIN {{schema}}.finance_facts f ON f.property = o.property AND f.table_name = o.table_name
   AND f.gaming_day = o.gaming_day AND f.variant = ANY (%(variants)s::int[])
 WHERE o.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above


def _box_counts(
    store: ViewStore,
    tables: Mapping[TableId, TableMoney],
    asked: WinsAsked,
    variants: tuple[int, int],
) -> dict[DayKey, list[Fact]]:
    """The facts of these tables' days, and the counts that have a coupon of theirs, by day."""
    found = {key: list(facts) for key, facts in days_of(tables).items()}
    parameters = {**_parameters(asked), "variants": list(variants)}
    for fact in _told(store, store.query(_SAME_COUPONS, parameters))[0]:
        if isinstance(fact.body, DropBoxCounted):
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
    first: dict[tuple[Any, ...], DayKey] = {}
    for (key, slip, of), (before,) in zip(slips, befores, strict=True):
        if before is not None and of[2] - before > 1:
            at = (key[0], *of)
            if key <= first.get(at, key):
                first[at] = key
                found[key].append(left_out(before, slip))
    return found
