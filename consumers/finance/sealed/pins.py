"""The record up to the numbers that a sealed day pins, and what came of the day beyond them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from consumers.finance.money_facts import MADE
from consumers.money.corrections_held import CORRECTION_TYPES, made_of, rows_of
from consumers.rulings.tables import CASE_TAPES, CORRECTIONS, submission_rows
from ledger.adjudication.corrections import corrected, corrections
from ledger.finance.day_versions import LateCorrections, at_edge
from ledger.finance.placing import own_day, table_of
from ledger.record.wire import fact_of
from ledger.rules.engine.ruling import FactRef

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from consumers.finance.money_facts import Place
    from infra.postgres.view_tables import ViewStore
    from ledger.facts import DaySealed
    from ledger.finance.exceptions import DayKey
    from ledger.finance.placing import FactId
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

# Each paper's corrections are found by index, however many the house has made.
_OF_PAPER = """
CROSS JOIN LATERAL (
    SELECT m.source, m.fact_id, m.tape, m.table_seq FROM {schema}.finance_corrections_made m
     WHERE m.of_source = w.source AND m.of_id = w.fact_id OFFSET 0) m
"""
_CORRECTED_LATE = f"""
WITH RECURSIVE
pins AS (SELECT * FROM unnest(%(tapes)s::text[], %(heads)s::bigint[]) AS p (tape, head)),
made AS (
    SELECT w.source AS of_source, w.fact_id AS of_id, m.*
      FROM unnest(%(sources)s::text[], %(ids)s::text[]) AS w (source, fact_id) {_OF_PAPER}
    UNION SELECT w.of_source, w.of_id, m.* FROM made w {_OF_PAPER})
SELECT DISTINCT of_source, of_id FROM made LEFT JOIN pins USING (tape)
 WHERE made.table_seq > coalesce(pins.head, 0)
"""  # noqa: S608 - put together from constants

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


_CORRECTED_LATE_OF_ALL = """
WITH RECURSIVE
pins AS (SELECT * FROM unnest(%(tapes)s::text[], %(heads)s::bigint[]) AS p (tape, head)),
ends AS (
    SELECT m.of_source, m.of_id FROM {schema}.finance_corrections_made m LEFT JOIN pins USING (tape)
     WHERE starts_with(m.tape, %(property)s || '/') AND m.table_seq > coalesce(pins.head, 0)
    UNION SELECT m.of_source, m.of_id FROM ends e
      JOIN {schema}.finance_corrections_made m ON m.source = e.of_source AND m.fact_id = e.of_id)
SELECT of_source, of_id FROM ends
"""


def is_beyond(heads: Mapping[str, int], row: TapeRow) -> bool:
    """Whether a row lies beyond the numbers that a version pins."""
    return row.table_seq > heads.get(row.tape.partition("/")[2], 0)


def facts_at_edge(
    store: ViewStore, day: tuple[str, str], heads: Mapping[str, int], tables: Collection[str]
) -> dict[str | None, list[FactRef]]:
    """As `day_versions.at_edge`, of the facts beyond these heads that may change these tables.

    A correction that takes a fact away from a table is among them.
    """
    property_, gaming_day = day
    pins = {
        "property": property_,
        "tapes": [f"{property_}/{place}" for place in heads],
        "heads": list(heads.values()),
        "tables": list(tables),
    }
    of = rows_of(store, store.query(_CORRECTED_LATE_OF_ALL, pins))
    of = {key: row for key, row in of.items() if row.type not in CORRECTION_TYPES}
    made = made_of(store, MADE, of)
    late = [*submission_rows(store, property_), *store.rows_named(_STARTS, pins)]
    beyond = [fact_of(row) for row in late if is_beyond(heads, row)]
    moved = [_parted(row, made.get(key, ()), heads) for key, row in of.items()]
    return at_edge(beyond, gaming_day, moved)


def _parted(row: TapeRow, made: Sequence[TapeRow], heads: Mapping[str, int]) -> LateCorrections:
    """A fact with its corrections up to these heads, and those beyond."""
    signed = [fact_of(each) for each in made if not is_beyond(heads, each)]
    late = [fact_of(each) for each in made if is_beyond(heads, each)]
    return LateCorrections(fact_of(row), signed, late)


class LateFact(NamedTuple):
    """A fact of a gaming day beyond the numbers that a version pins."""

    ref: FactRef
    time_us: int


def late_facts(
    store: ViewStore,
    day: tuple[str, str],
    heads: Mapping[str, int],
    papers: Mapping[FactId, Place | None],
    table: str | None = None,
) -> dict[str, list[LateFact]]:
    """The facts of a gaming day beyond these heads, by table, in order of time.

    papers: the day's facts outside rounds, with their places (`DayRecords.papers`).
    """
    property_, gaming_day = day
    tops = {f"{property_}/{place}": head for place, head in heads.items()}
    parameters: dict[str, object] = {
        "property": property_,
        "day": gaming_day,
        "tapes": list(tops),
        "heads": list(tops.values()),
    }
    corrected = set(store.query(_CORRECTED_LATE, parameters | _columns(papers)))
    parameters |= _columns(
        key
        for key, place in papers.items()
        if place is None or place[1] > tops.get(place[0], 0) or key in corrected
    )
    found = [*store.query(_PAPERS, parameters), *store.query(_ROUNDS, parameters)]
    tables: dict[tuple[str, int], list[str]] = defaultdict(list)
    for of, place, seq in found:
        if table in (None, of) and of not in tables[place, seq]:
            tables[place, seq].append(of)
    late: dict[str, list[LateFact]] = defaultdict(list)
    rows = store.rows_at((place, seq, seq) for place, seq in tables)
    for row in sorted(rows, key=lambda row: (row.time_us, row.source, row.id)):
        for of in tables[row.tape, row.table_seq]:
            late[of].append(LateFact(FactRef(row.source, row.id), row.time_us))
    return late


def _columns(papers: Iterable[FactId]) -> dict[str, object]:
    """Facts as parameters of the queries above."""
    told = list(papers)
    return {"sources": [source for source, _ in told], "ids": [id_ for _, id_ in told]}


class PaperOfDays(NamedTuple):
    """A fact of money that several days have: as they were signed, or as the record is now."""

    recorded: Fact
    signed: Mapping[DayKey, Fact]  # as each closed day's version has it
    now: tuple[DayKey, Fact] | None  # as corrected now; None: it should not have been recorded

    @property
    def days(self) -> dict[DayKey, Fact]:
        """The fact as each day counts it that is closed with it, or is open."""
        return {**(dict([self.now]) if self.now else {}), **self.signed}


def papers_of_days(
    store: ViewStore,
    keys: Collection[tuple[str, str]],
    sealed: Mapping[tuple[str, str], DaySealed],
) -> Iterator[PaperOfDays]:
    """Those of some facts that corrections moved between gaming days, of which one is closed.

    sealed: what closes each gaming day, by property and day.
    """
    made, rows = made_of(store, MADE, keys), rows_of(store, keys)
    for key, row in sorted(rows.items()):
        places = {}
        for (name, day), seal in sealed.items():
            if not is_beyond(seal.heads, row):
                its = [each for each in made.get(key, ()) if not is_beyond(seal.heads, each)]
                if (at := _placed(row, its)) and (at[0][0], at[0][1]) == (name, day):
                    places[at[0]] = at[1]
        now = _placed(row, made.get(key, ()))
        if now and now[0][:2] in sealed and now[0] not in places:
            now = None  # that day is closed without it
        found = PaperOfDays(fact_of(row), places, now)
        if len({day[:2] for day in found.days}) > 1:
            yield found


def _placed(row: TapeRow, made: Sequence[TapeRow]) -> tuple[DayKey, Fact] | None:
    """A fact with some corrections, and its table's day; None if it should not be on record."""
    held = corrections([fact_of(each) for each in made])
    for fact in corrected([fact_of(row)], held):
        property_, table = table_of(fact)
        return (property_, own_day(fact) or "", table), fact
    return None
