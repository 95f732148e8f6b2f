"""The table of each step of a slip: a step that the cage records is of its slip's table.

Views of money share it, as recorded and as corrected; `ledger.finance.slips.joined_to` has the
rule. Each view keeps a log of its own, since a table's first box, its slip and the cage's step may
arrive in any order. Every process of a divided view notes all of them, as of its own position
(ADR 0184).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from consumers.money.corrections_held import made_of
from infra.postgres.view_tables import Column, ViewTable
from ledger.adjudication.corrections import corrected, corrections
from ledger.facts import FACTS
from ledger.facts.money import ChipSlip
from ledger.finance.placing import OPENS_DAY, table_of
from ledger.finance.slips import StepAt, joined_to, slips, step_at, step_of
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import NamedRow, ViewStore
    from ledger.finance.placing import FactId, TableId
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

READS = frozenset(n for n, struct in FACTS.items() if issubclass(struct, (ChipSlip, *OPENS_DAY)))
"""The facts of slips, and those that make a place a table."""

_START = "start"


def places_table(name: str) -> ViewTable:
    """The log of a view."""
    return ViewTable(
        name,
        "The slip and place of each step of a slip, and the table of each opening and box.",
        4,
        (
            Column("source", "text", "Source of the fact."),
            Column("fact_id", "text", "Id of the fact."),
            Column("as_corrected", "boolean", "Whether it is so with corrections; else without."),
            Column("position", "bigint", "Position on the record since which it is so."),
            Column("property", "text", "Property of the place."),
            Column("kind", "text", "fill, credit or start; null: it is taken back.", null=True),
            Column("paper", "text", "Number of the slip; empty: a start."),
            Column("place", "text", "Table that it names, or place that recorded it."),
            Column("joins", "boolean", "Whether its slip's table has it if the place is none."),
            Column("accepted", "boolean", "Whether it is the slip's acceptance."),
            Column("time_us", "bigint", "Device time of the fact, microseconds."),
        ),
        ("(property, kind, paper)", "(property, place, kind)"),
        is_log=True,
    )


class StepTables(NamedTuple):
    """The tables of steps that are not of their own places, by source and id of the fact."""

    recorded: Mapping[FactId, TableId]
    corrected: Mapping[FactId, TableId]
    again: set[FactId]  # facts on record whose table a batch may have changed

    def table(self, fact: Fact, *, as_corrected: bool) -> TableId:
        """The table of a fact, with corrections or without."""
        joined = self.corrected if as_corrected else self.recorded
        return joined.get((fact.source, fact.id)) or table_of(fact)

    def is_parted(self, fact: Fact) -> bool:
        """Whether corrections of other facts give it to another table."""
        key = fact.source, fact.id
        return self.recorded.get(key) != self.corrected.get(key)


class _Slip(NamedTuple):
    """A slip, as corrected or as recorded."""

    as_corrected: bool
    property: str
    kind: str
    number: str


class _Asked(NamedTuple):
    """Keys to look up, as of a position on the record."""

    rows: Collection[tuple[Any, ...]]
    until: int


_Place = tuple[bool, str, str]
"""As corrected or not, property and name of a place."""


def note(
    store: ViewStore, log: ViewTable, made: ViewTable, batch: Batch, changed: Iterable[TapeRow]
) -> StepTables:
    """Keep the places of a batch's facts; the tables of the steps that they may move.

    made: the view's log of corrections. changed: the facts that the batch adds or corrects.
    """
    rows = {(row.source, row.id): row for row in changed if row.type in READS}
    if not rows:
        return StepTables({}, {}, set())
    why = made_of(store, made, rows, batch.position)
    new = [log.row(*c) for key, row in rows.items() for c in _cells(row, why.get(key, ()))]
    store.save(log, new)
    noted = [each for each in store.rows(log, rows) if each.position <= batch.position]
    begun = _begun(store, log, [each for each in noted if each.kind == _START], batch)
    at_begun = _found(store, log, _SLIPS_AT, _OF_PLACES, _Asked(begun, batch.position))
    asked = _slips_of(noted) | {_Slip(*each) for each in at_begun}
    found = _tables(store, log, _Asked(asked, batch.position), begun)
    if not found.again - rows.keys():
        return found
    # What moves in one reading has its place in the other one too.
    others = [each for each in store.rows(log, found.again) if each.position <= batch.position]
    whole = _Asked(asked | _slips_of(others), batch.position)
    return _tables(store, log, whole, begun)._replace(again=found.again)


def _slips_of(noted: Iterable[NamedRow]) -> set[_Slip]:
    """The slips that these rows of the log are of."""
    return {
        _Slip(each.as_corrected, each.property, each.kind, each.paper)
        for each in noted
        if each.kind not in (_START, None)
    }


def _cells(row: TapeRow, made: Sequence[TapeRow]) -> Iterator[tuple[Any, ...]]:
    """The rows of one fact: as recorded, and wherever on the record corrections change it."""
    fact = fact_of(row)
    yield row.source, row.id, False, row.position, *_said(fact, fact)

    def said(position: int) -> tuple[Any, ...]:
        until = corrections(fact_of(each) for each in made if each.position <= position)
        return _said(fact, next(iter(corrected([fact], until)), None))

    changes = {row.position, *(each.position for each in made if each.position > row.position)}
    for cells, positions in groupby(sorted(changes), said):
        yield row.source, row.id, True, next(positions), *cells


def _said(fact: Fact, meant: Fact | None) -> tuple[Any, ...]:
    """The cells after the position; meant: the fact as it counts, None if it does not."""
    property_, place = table_of(meant or fact)
    if meant is None:
        return property_, None, "", place, False, False, fact.time_us
    step = step_at(meant)
    if step is None or not isinstance(meant.body, ChipSlip):
        return property_, _START, "", place, False, False, fact.time_us
    [slip] = slips([meant])
    is_accepted = step_of(meant.body) == "accepted"
    return property_, slip.kind, slip.number, place, step.joins, is_accepted, fact.time_us


def _begun(
    store: ViewStore, log: ViewTable, starts: Iterable[NamedRow], batch: Batch
) -> set[_Place]:
    """The places of these openings and boxes that the batch makes tables, or no tables."""
    places = {(row.as_corrected, row.property, row.place) for row in starts}
    before = _with_day(store, log, places, batch.rows[0].position - 1)
    return before ^ _with_day(store, log, places, batch.position)


# A row of the log holds until the fact has a later one.
_HOLDS = """s.position <= %(until)s AND NOT EXISTS (
    SELECT FROM {log} l WHERE l.source = s.source AND l.fact_id = s.fact_id
       AND l.as_corrected = s.as_corrected
       AND l.position > s.position AND l.position <= %(until)s)"""
_PLACES = """unnest(%(as_corrected)s::boolean[], %(properties)s::text[], %(names)s::text[])
    AS w (as_corrected, property, place)"""
_WITH_DAY = f"""
SELECT w.as_corrected, w.property, w.place FROM {_PLACES} WHERE EXISTS (
    SELECT FROM {{log}} s WHERE s.property = w.property AND s.place = w.place
       AND s.kind = 'start' AND s.as_corrected = w.as_corrected AND {_HOLDS})
"""  # noqa: S608 - our own names
_SLIPS_AT = f"""
SELECT DISTINCT as_corrected, property, s.kind, s.paper
  FROM {_PLACES} JOIN {{log}} s USING (as_corrected, property, place)
 WHERE s.kind <> 'start' AND s.position <= %(until)s
"""  # noqa: S608 - as above
_STEPS = f"""
SELECT as_corrected, property, kind, paper, s.time_us, s.source, s.fact_id, s.place, s.joins
  FROM unnest(%(as_corrected)s::boolean[], %(properties)s::text[], %(kinds)s::text[],
              %(names)s::text[]) AS w (as_corrected, property, kind, paper)
  JOIN {{log}} s USING (as_corrected, property, kind, paper) WHERE {_HOLDS}
"""  # noqa: S608 - as above


def _found(
    store: ViewStore, log: ViewTable, query: str, names: Sequence[str], wanted: _Asked
) -> list[tuple[Any, ...]]:
    """The rows of a query above. names: its parameters, which `wanted.rows` has a cell for each."""
    if not wanted.rows:
        return []
    columns = map(list, zip(*sorted(wanted.rows), strict=True))
    told = {"until": wanted.until, **dict(zip(names, columns, strict=True))}
    return store.query(query.replace("{log}", f"{{schema}}.{log.name}"), told)


_OF_PLACES = ("as_corrected", "properties", "names")
_OF_SLIPS = ("as_corrected", "properties", "kinds", "names")


def _with_day(
    store: ViewStore, log: ViewTable, places: Collection[_Place], until: int
) -> set[_Place]:
    """Those of some places that are tables up to a position: an opening or a box names them."""
    return set(_found(store, log, _WITH_DAY, _OF_PLACES, _Asked(places, until)))


def _tables(
    store: ViewStore, log: ViewTable, slips: _Asked, begun: Collection[_Place]
) -> StepTables:
    """The tables of the steps of some slips, up to a position."""
    steps: dict[_Slip, list[StepAt]] = {}
    for *slip, time_us, source, id_, place, joins in _found(store, log, _STEPS, _OF_SLIPS, slips):
        step = StepAt(time_us, source, id_, (slip[1], place), joins)
        steps.setdefault(_Slip(*slip), []).append(step)
    places = {(of.as_corrected, *each.place) for of, its in steps.items() for each in its}
    tables = _with_day(store, log, places, slips.until)
    joined: dict[bool, dict[FactId, TableId]] = {False: {}, True: {}}
    again: set[FactId] = set()
    for of, its in steps.items():
        at = {(of.as_corrected, *each.place) for each in its}
        joined[of.as_corrected] |= joined_to(its, {each[1:] for each in at & tables})
        if at - tables or at & set(begun):
            again |= {(each.source, each.id) for each in its}
    return StepTables(joined[False], joined[True], again)
