"""The record up to the numbers that a sealed day pins, and what came of the day beyond them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from consumers.rulings.tables import CASE_TAPES, CORRECTIONS, submission_rows
from ledger.finance.day_versions import at_edge
from ledger.record.wire import fact_of
from ledger.rules.engine.ruling import FactRef

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact


def pinned_rows(store: ViewStore, property_: str, heads: Mapping[str, int]) -> list[TapeRow]:
    """The rows of a property up to some heads, in order of position."""
    return store.rows_at((f"{property_}/{place}", 1, seq) for place, seq in heads.items())


def pinned_facts(store: ViewStore, property_: str, heads: Mapping[str, int]) -> list[Fact]:
    """The facts of a property up to some heads, in order of position."""
    return [fact_of(row) for row in pinned_rows(store, property_, heads)]


_PAPERS = """
WITH RECURSIVE
pins AS (SELECT * FROM unnest(%(tapes)s::text[], %(heads)s::bigint[]) AS p (tape, head)),
papers AS (
    SELECT f.table_name, f.source, f.fact_id, f.tape, f.table_seq
      FROM unnest(%(sources)s::text[], %(ids)s::text[]) AS w (source, fact_id)
      JOIN {schema}.finance_facts f USING (source, fact_id)),
made AS (
    SELECT p.table_name, m.source, m.fact_id, m.tape, m.table_seq FROM papers p
      JOIN {schema}.finance_corrections_made m ON m.of_source = p.source AND m.of_id = p.fact_id
    UNION SELECT d.table_name, m.source, m.fact_id, m.tape, m.table_seq FROM made d
      JOIN {schema}.finance_corrections_made m ON m.of_source = d.source AND m.of_id = d.fact_id)
SELECT p.table_name, p.tape, p.table_seq FROM papers p LEFT JOIN pins USING (tape)
 WHERE p.table_seq > coalesce(pins.head, 0)
UNION
SELECT m.table_name, m.tape, m.table_seq FROM made m LEFT JOIN pins USING (tape)
 WHERE m.table_seq > coalesce(pins.head, 0)
"""

_ROUNDS = f"""
WITH pins AS (SELECT * FROM unnest(%(tapes)s::text[], %(heads)s::bigint[]) AS p (tape, head))
SELECT t.table_name, t.tape, n FROM {{schema}}.{CASE_TAPES.name} t LEFT JOIN pins USING (tape)
 CROSS JOIN LATERAL unnest(t.seqs * int8multirange(int8range(coalesce(pins.head, 0) + 1, NULL))) r
 CROSS JOIN LATERAL generate_series(lower(r), upper(r) - 1) n
 WHERE t.property = %(property)s AND t.gaming_day = %(day)s
UNION
SELECT substr(split_part(c.round, '/', 1), length(%(property)s) + 2), c.tape, c.table_seq
  FROM {{schema}}.{CORRECTIONS.name} c LEFT JOIN pins USING (tape)
 WHERE starts_with(c.round, %(property)s || ':') AND split_part(c.round, '/', 2) = %(day)s
   AND c.table_seq > coalesce(pins.head, 0)
"""  # noqa: S608 - put together from constants


_STARTS = """
SELECT f.tape, f.table_seq, f.table_seq FROM {schema}.finance_facts f
  LEFT JOIN unnest(%(tapes)s::text[], %(heads)s::bigint[]) AS p (tape, head) USING (tape)
 WHERE f.starts AND f.property = %(property)s AND f.table_name = ANY(%(tables)s)
   AND f.table_seq > coalesce(p.head, 0)
"""


def is_beyond(heads: Mapping[str, int], row: TapeRow) -> bool:
    """Whether a row lies beyond the numbers that a version pins."""
    return row.table_seq > heads.get(row.tape.partition("/")[2], 0)


def facts_at_edge(
    store: ViewStore, day: tuple[str, str], heads: Mapping[str, int], tables: Collection[str]
) -> dict[str | None, list[FactRef]]:
    """As `day_versions.at_edge`, of the facts beyond these heads that may change these tables."""
    property_, gaming_day = day
    pins = {
        "property": property_,
        "tapes": [f"{property_}/{place}" for place in heads],
        "heads": list(heads.values()),
        "tables": list(tables),
    }
    late = [*submission_rows(store, property_), *store.rows_named(_STARTS, pins)]
    beyond = sorted((row for row in late if is_beyond(heads, row)), key=lambda row: row.position)
    return at_edge(map(fact_of, beyond), gaming_day)


class LateFact(NamedTuple):
    """A fact of a gaming day beyond the numbers that a version pins."""

    ref: FactRef
    time_us: int


def late_facts(
    store: ViewStore,
    day: tuple[str, str],
    heads: Mapping[str, int],
    papers: Collection[tuple[str, str]],
    table: str | None = None,
) -> dict[str, list[LateFact]]:
    """The facts of a gaming day beyond these heads, by table, in order of arrival.

    papers: source and id of the day's facts outside rounds (`DayRecords.papers`).
    """
    property_, gaming_day = day
    parameters = {
        "property": property_,
        "day": gaming_day,
        "tapes": [f"{property_}/{place}" for place in heads],
        "heads": list(heads.values()),
        "sources": [source for source, _ in papers],
        "ids": [id_ for _, id_ in papers],
    }
    found = [*store.query(_PAPERS, parameters), *store.query(_ROUNDS, parameters)]
    tables: dict[tuple[str, int], list[str]] = defaultdict(list)
    for of, place, seq in found:
        if table in (None, of) and of not in tables[place, seq]:
            tables[place, seq].append(of)
    late: dict[str, list[LateFact]] = defaultdict(list)
    for row in store.rows_at((place, seq, seq) for place, seq in tables):
        for of in tables[row.tape, row.table_seq]:
            late[of].append(LateFact(FactRef(row.source, row.id), row.time_us))
    return late
