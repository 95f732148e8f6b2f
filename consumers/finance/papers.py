"""Papers that people enter, from views of finance: slips, counts, inventories, coupons, checks.

A box is as corrections leave it. Slips and inventories are as they were recorded: a number that was
used is not entered again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.finance import coupons_and_checks, money_facts
from consumers.money.day_at import day_at
from infra.postgres.tape import properties
from infra.postgres.view_tables import reading
from ledger.adjudication.corrections import corrected, corrections
from ledger.errors import NotFound
from ledger.facts import TableOpened
from ledger.finance.boxes import BOX_FACTS
from ledger.finance.placing import by_time, own_day, table_of
from ledger.finance.shifts import shift_at, shift_times
from ledger.finance.slips import slips
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.slips import SlipRecord
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

VIEWS = (money_facts.VIEW, coupons_and_checks.VIEW)
"""The views to catch up before a paper is read."""

TABLES = (
    money_facts.FACTS_OF_MONEY.name,
    money_facts.NUMBERS.name,
    coupons_and_checks.FACTS_OF_PAPER.name,
)

SLIPS_MAX = 60
"""The newest slips that are listed."""

SINCE_US = 3 * 24 * 3_600 * 1_000_000
"""How long before the last fact of its table a listed slip was used."""

_PLACES = "SELECT tape, table_seq, table_seq FROM {schema}.finance_facts WHERE property = %(house)s"

_WITH_CORRECTIONS = """
WITH RECURSIVE told AS (
    SELECT source, fact_id, tape, table_seq FROM {{schema}}.finance_facts
     WHERE property = %(house)s AND {of}
    UNION SELECT m.source, m.fact_id, m.tape, m.table_seq FROM told t
      JOIN {{schema}}.finance_corrections_made m
        ON m.of_source = t.source AND m.of_id = t.fact_id)
SELECT tape, table_seq, table_seq FROM told
"""

_NEWEST = f"""{_PLACES} AND (paper_kind, paper) IN (
    SELECT f.paper_kind, f.paper FROM unnest(%(tables)s::text[]) AS t (name)
     CROSS JOIN LATERAL (
        SELECT max(time_us) AS last_us FROM {{schema}}.finance_facts
         WHERE property = %(house)s AND table_name = t.name) l
      JOIN {{schema}}.finance_facts f ON f.property = %(house)s AND f.table_name = t.name
       AND f.time_us >= l.last_us - %(since_us)s AND f.paper_kind IN ('fill', 'credit')
     GROUP BY f.paper_kind, f.paper ORDER BY max(f.time_us) DESC, f.paper LIMIT %(most)s)
"""  # noqa: S608 - put together from constants

# One index look-up a table, however many facts each has.
_NAMES = """
WITH RECURSIVE t (name) AS (
    (SELECT table_name FROM {schema}.finance_facts WHERE property = %(house)s
      ORDER BY table_name LIMIT 1)
    UNION ALL
    SELECT (SELECT f.table_name FROM {schema}.finance_facts f WHERE f.property = %(house)s
             AND f.table_name > t.name ORDER BY f.table_name LIMIT 1)
      FROM t WHERE t.name IS NOT NULL)
SELECT name FROM t WHERE name IS NOT NULL
"""


class EnteredDay(NamedTuple):
    """The papers of a property: its tables, and the boxes of one gaming day."""

    gaming_day: str
    tables: Sequence[str]
    boxes: Mapping[tuple[str, str], Sequence[Fact]]  # facts in order of time, by table and box
    slips: Sequence[SlipRecord]  # the newest first


class PlaceOfPaper(NamedTuple):
    """What a table played at a time: its game, gaming day and shift, as far as facts name them."""

    game: str | None = None
    gaming_day: str | None = None
    shift: str | None = None


_DAY_AT = day_at(
    "{schema}.finance_facts",
    "s.variant <> %(recorded)s AND s.property = %(house)s AND s.table_name = %(name)s",
    "%(time_us)s",
)


def place_at(database: Database, property_: str, table: str, time_us: int) -> PlaceOfPaper:
    """What a table played at a time."""
    asked = {"house": property_, "name": table, "time_us": time_us}
    with reading(database, TABLES) as store:
        found = store.query(_DAY_AT, asked | {"recorded": money_facts.RECORDED})
        if not found:
            return PlaceOfPaper()
        [[day]] = found
        told = list(map(fact_of, day_rows(store, property_, table, day)))
    meant = sorted(corrected(told, corrections(told)), key=by_time)
    its = [fact for fact in meant if (table_of(fact)[1], own_day(fact)) == (table, day)]
    games = (fact.body.game for fact in its if isinstance(fact.body, TableOpened))
    return PlaceOfPaper(next(games, None), day, shift_at(shift_times(its), time_us))


def slip_rows(store: ViewStore, property_: str, kind: str, number: str) -> list[TapeRow]:
    """The rows of the record about a slip, at any table."""
    asked = {"house": property_, "kind": kind, "number": number}
    return store.rows_named(f"{_PLACES} AND paper_kind = %(kind)s AND paper = %(number)s", asked)


_OF_TRAYS = """
SELECT DISTINCT f.tape, f.table_seq, f.table_seq FROM {schema}.finance_numbers n
  JOIN {schema}.finance_facts f USING (source, fact_id)
 WHERE n.property = %(house)s AND n.kind IN ('opener', 'closer') AND n.number = %(number)s
"""


def tray_slip_rows(store: ViewStore, property_: str, number: str) -> list[TapeRow]:
    """The rows of the record about a tray's counts under a slip's number, at any table."""
    return store.rows_named(_OF_TRAYS, {"house": property_, "number": number})


def day_rows(store: ViewStore, property_: str, table: str, gaming_day: str) -> list[TapeRow]:
    """The rows that name a table's gaming day, and their corrections: counts, inventories, boxes.

    A corrected fact is of the table and day that it named at first, and of those it names now.
    """
    asked = {"house": property_, "name": table, "day": gaming_day}
    of = "table_name = %(name)s AND gaming_day = %(day)s"
    return store.rows_named(_WITH_CORRECTIONS.format(of=of), asked)


def box_rows(store: ViewStore, property_: str, gaming_days: Sequence[str]) -> list[TapeRow]:
    """The rows that name some gaming days at any table, and their corrections: boxes among them."""
    asked = {"house": property_, "days": list(gaming_days)}
    return store.rows_named(_WITH_CORRECTIONS.format(of="gaming_day = ANY (%(days)s)"), asked)


def tables(database: Database, property_: str) -> list[str]:
    """The tables of a property that a fact of money names."""
    with reading(database, TABLES) as store:
        return [name for (name,) in store.query(_NAMES, {"house": property_})]


def require_table(database: Database, property_: str | None, table: str) -> None:
    """Raise `NotFound` for a table that no fact of money names: a slip of the pen.

    property_: None: at any casino.
    """
    houses = [property_] if property_ else sorted(properties(database))
    names = sorted({name for house in houses for name in tables(database, house)})
    if table not in names:
        raise NotFound(
            f"No fact of money is of table {table}",
            where="table",
            hint=f"Tables on record are {', '.join(names) or 'none'}.",
        )


def read(database: Database, property_: str, gaming_day: str | None = None) -> EnteredDay:
    """The papers of a property and gaming day; None: the latest day that a fact names."""
    with reading(database, TABLES) as store:
        names = [name for (name,) in store.query(_NAMES, {"house": property_})]
        [[last]] = store.query(
            "SELECT max(gaming_day) FROM {schema}.finance_facts WHERE property = %(house)s",
            {"house": property_},
        )
        day = gaming_day or last or ""
        of_day = store.rows_named(
            _WITH_CORRECTIONS.format(of="gaming_day = %(day)s"), {"house": property_, "day": day}
        )
        newest = store.rows_named(
            _NEWEST,
            {"house": property_, "tables": names, "since_us": SINCE_US, "most": SLIPS_MAX},
        )
    boxes: dict[tuple[str, str], list[Fact]] = {}
    told = list(map(fact_of, of_day))
    for fact in sorted(corrected(told, corrections(told)), key=by_time):
        if isinstance(fact.body, BOX_FACTS) and own_day(fact) == day:
            boxes.setdefault((table_of(fact)[1], fact.body.box), []).append(fact)
    found = slips(sorted(map(fact_of, newest), key=by_time))
    found.sort(key=lambda slip: by_time(slip.facts[-1]), reverse=True)
    return EnteredDay(day, names, boxes, found)
