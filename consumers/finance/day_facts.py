"""The facts of money outside rounds of the gaming days that are asked for, from the view `finance`.

A fact that names no day is found between the starts of its table's days.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from consumers.money.corrections_held import as_corrected
from consumers.money.day_at import day_at
from ledger.finance.feed import tables_of
from ledger.finance.placing import by_time, day_before
from ledger.finance.slips import slips_named
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consumers.finance.money_facts import Place
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey
    from ledger.finance.feed import TableMoney
    from ledger.finance.placing import FactId, TableId
    from ledger.record.wire import Fact


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


def query_parameters(asked: WinsAsked) -> dict[str, object]:
    """The parameters of the queries below."""
    return {
        "property": asked.property,
        "table": asked.table,
        "tables": None if asked.table is None else [asked.table],
        "sales": True,
        "steps": True,
        **days_asked([asked.gaming_day] if asked.gaming_day else None),
    }


def days_asked(days: Sequence[str] | None) -> dict[str, object]:
    """The gaming days that are asked for, and those before them too, whose closers are openers."""
    around = sorted({*days, *map(day_before, days)}) if days else None
    return {"days": days, "around": around}


_EARLIEST, LATEST = -(2**63), 2**63 - 1
"""Before and after every time on record, microseconds."""

WHERE = (
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


COLUMNS = ", ".join(f"f.{name}" for name in _Found._fields)

_ALL = f"""
SELECT {COLUMNS} FROM {{schema}}.finance_facts f
 WHERE f.variant = ANY (%(variants)s::int[]) AND {WHERE}
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
SELECT * FROM d UNION SELECT {COLUMNS.replace("f.", "o.")}
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
FACTS_OF_DAYS = f"""
WITH starts AS (
    SELECT f.property, f.table_name, next_.source AS next_source, next_.fact_id AS next_id,
           next_.variant AS next_variant, last_.source AS last_source, last_.fact_id AS last_id,
           last_.variant AS last_variant, last_.gaming_day AS last_day,
           CASE WHEN last_.time_us IS NULL THEN ({_EARLIEST}) ELSE f.time_us END AS since,
           coalesce(next_.time_us, {LATEST}) AS until
      FROM {{schema}}.finance_facts f
      LEFT JOIN LATERAL ({_BESIDE.format(sign=">", order="")}) next_ ON true
      LEFT JOIN LATERAL ({_BESIDE.format(sign="<", order="DESC")}) last_ ON true
     WHERE f.starts AND f.gaming_day = ANY (%(days)s::text[])
       AND f.variant = ANY (%(variants)s::int[]) AND {WHERE}),
of_day AS (
    SELECT f.source, f.fact_id, f.variant, f.property, f.table_name, f.paper_kind, f.paper
      FROM {{schema}}.finance_facts f
     WHERE f.gaming_day = ANY (%(around)s::text[])
       AND f.variant = ANY (%(variants)s::int[]) AND {WHERE}
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
SELECT {COLUMNS} FROM wanted w CROSS JOIN LATERAL (
    SELECT * FROM {{schema}}.finance_facts f WHERE (f.source, f.fact_id, f.variant)
         = (w.source, w.fact_id, w.variant) LIMIT 1) f
"""  # noqa: S608 - as above


def tables_asked(
    store: ViewStore,
    asked: WinsAsked,
    variants: tuple[int, int],
    places: dict[FactId, Place] | None,
) -> dict[TableId, TableMoney]:
    """The money outside rounds of what is asked for, by table."""
    parameters = {**query_parameters(asked), "variants": list(variants)}
    query = FACTS_OF_DAYS if asked.gaming_day else _OF_TABLE if asked.table else _ALL
    facts, place = facts_of_rows(store, store.query(query, parameters), places)
    is_all = asked.table is None and asked.gaming_day is None
    return tables_of(facts, place, () if is_all else acceptances_elsewhere(store, facts, variants))


# Indexes find all of it: one look-up a table, however many facts each has. With a condition on the
# property beside its comparison of rows, each look-up would read the index from its begin. Facts
# are read from the first start of the day at any table to the next day's. `OFFSET 0` keeps a join
# to its index.
_OF_HOUSE = "s.variant = ANY (%(variants)s::int[]) AND s.property = h.property"
_STARTS = f"FROM {{schema}}.finance_facts s WHERE s.starts AND {_OF_HOUSE}"
_SPAN_OF_DAY = f"""
SELECT CASE WHEN EXISTS (SELECT {_STARTS} AND s.time_us < own.since)
            THEN own.since ELSE ({_EARLIEST}) END AS since,
       coalesce((SELECT min(s.time_us) {_STARTS} AND s.time_us > own.last), {LATEST}) AS until
  FROM (SELECT min(time_us) AS since, max(time_us) AS last FROM (
        SELECT s.time_us {_STARTS} AND s.gaming_day = ANY (%(days)s::text[]) OFFSET 0) its) own
 WHERE own.since IS NOT NULL
"""  # noqa: S608 - as above
_EVER = f"SELECT ({_EARLIEST}) AS since, {LATEST} AS until"
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
    SELECT * FROM (SELECT * FROM t AS f WHERE {WHERE}) h
     WHERE NOT EXISTS (SELECT {_STARTS} AND s.table_name = h.table_name))
SELECT {COLUMNS}, coalesce(
    ({day_at("{schema}.finance_facts", _OF_HOUSE, "f.time_us")}),
    (SELECT s.gaming_day {_STARTS} ORDER BY s.time_us, s.source, s.fact_id LIMIT 1))
  FROM homeless h CROSS JOIN LATERAL ({{span}}) span CROSS JOIN LATERAL (
    SELECT * FROM {{schema}}.finance_facts f
     WHERE f.property = h.property AND f.table_name = h.table_name AND f.gaming_day IS NULL
       AND f.variant = ANY (%(variants)s::int[])
       AND f.time_us BETWEEN span.since AND span.until OFFSET 0) f
"""  # noqa: S608 - as above


def without_day(
    store: ViewStore,
    asked: WinsAsked,
    variants: tuple[int, int],
    places: dict[FactId, Place] | None,
) -> dict[DayKey, list[Fact]]:
    """As `ledger.finance.feed.without_day`, of the gaming day that is asked for."""
    found: dict[DayKey, list[Fact]] = defaultdict(list)
    query = _WITHOUT_DAY.replace("{span}", _SPAN_OF_DAY if asked.gaming_day else _EVER)
    rows = store.query(query, {**query_parameters(asked), "variants": list(variants)})
    for day in sorted({day for *_, day in rows if day and asked.gaming_day in (None, day)}):
        told, place = facts_of_rows(store, [row[:-1] for row in rows if row[-1] == day], places)
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
SELECT {COLUMNS} FROM several JOIN {{schema}}.finance_facts f USING (property, paper_kind, paper)
 WHERE f.variant = ANY (%(variants)s::int[]) AND f.step = 'accepted'
"""  # noqa: S608 - as above


def acceptances_elsewhere(
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
    told, place = facts_of_rows(store, rows)
    return [(place(fact), fact) for fact in told if (fact.source, fact.id) not in known]


def facts_of_rows(
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


class FactPlace(NamedTuple):
    """The table of a fact, the gaming day that it names, and its time."""

    table: TableId
    gaming_day: str | None
    time_us: int


_OF_PLACE = "s.variant <> 1 AND s.property = w.property AND s.table_name = w.name"


def days_of_places(store: ViewStore, facts: Sequence[FactPlace]) -> list[DayKey | None]:
    """The table and gaming day of each fact; None if no day of its table had begun."""
    tables = [each.table for each in facts]
    began = store.query(
        f"SELECT ({day_at('{schema}.finance_facts', _OF_PLACE, 'w.time_us')})"  # noqa: S608 - put together from constants
        " FROM unnest(%(properties)s::text[], %(names)s::text[], %(times)s::bigint[])"
        " WITH ORDINALITY AS w (property, name, time_us, n) ORDER BY n",
        {
            "properties": [property_ for property_, _ in tables],
            "names": [name for _, name in tables],
            "times": [fact.time_us for fact in facts],
        },
    )
    found: list[DayKey | None] = []
    for fact, (property_, name), (day,) in zip(facts, tables, began, strict=True):
        its = fact.gaming_day or day
        found.append((property_, its, name) if its else None)
    return found
