"""A year of gaming days as the views of finance hold it, without playing its rounds.

The papers of three days are recorded. Those of the other days are copies of the first of them, on
the tape and in the view, and every round is a row with amounts by arithmetic.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from consumers.finance import money_facts
from consumers.rulings.tables import MONEY
from infra.postgres.tape import PostgresTape
from ledger.facts import (
    CashBoughtIn,
    CreditAccepted,
    CreditDispatched,
    CreditRequested,
    DropBoxAttached,
    DropBoxCounted,
    FillAccepted,
    FillDispatched,
    FillRequested,
    InventoryCounted,
    TableOpened,
)
from ledger.record.tape import Received
from ledger.record.wire import encode, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from ledger.facts import Body

HOUSE = "hollywood"
TABLES, DAYS = 200, 365
ROUNDS, ELSEWHERE = 960, 96
"""Rounds of a table on the day that is asked for, and on each other day."""

BUY_INS, FILLS = 60, 2
FIRST = date(2025, 11, 21)
ASKED = (FIRST + timedelta(days=DAYS - 2)).isoformat()
"""The day that is asked for: the last but one."""

_T0_US = 1_763_730_000_000_000
_DAY_US = 86_400_000_000
_OPENER = 5_000_000


class _Step(NamedTuple):
    minute: int
    place: str
    body: Body


def papers(nth: int) -> Iterator[Received]:
    """The facts outside rounds of all tables on one day, by its number from 0."""
    day = (FIRST + timedelta(days=nth)).isoformat()
    for number in range(1, TABLES + 1):
        table = f"T-{number:03d}"
        for at, step in enumerate(_of_table(table, day, number)):
            time_us = _T0_US + nth * _DAY_US + step.minute * 60_000_000 + at
            octets = encode(step.body, f"/{HOUSE}/{step.place}/d", f"{table}-{day}-{at}", time_us)
            parsed = parse_line(octets)
            if not isinstance(parsed, Received):
                raise SystemExit(f"the benchmark's feed is wrong: {parsed}")
            yield parsed


def _of_table(table: str, day: str, number: int) -> Iterator[_Step]:
    pit = f"P-{number % 8}"
    limits: dict[str, Any] = {"min_wager": 500, "max_wager": 50_000}
    yield _Step(0, table, TableOpened(game="criss_cross_poker", gaming_day=day, pit=pit, **limits))
    yield _Step(1, table, DropBoxAttached(box=f"B-{table}", table=table, gaming_day=day))
    yield _Step(2, table, _inventory(table, "open", day, _OPENER))
    for nth in range(BUY_INS):
        yield _Step(10 + nth * 15, table, CashBoughtIn(position=1, amount=10_000))
    for nth, (requested, dispatched, accepted) in enumerate(_SLIPS):
        slip: dict[str, Any] = {
            "slip": _slip(nth, day, number),
            "chips": {"100000": 5},
            "total": 500_000,
            "by": ("C-1", "S-1"),
        }
        for minute, (kind, place) in enumerate(
            ((requested, table), (dispatched, "cage"), (accepted, table))
        ):
            yield _Step(200 + 100 * nth + minute, place, kind(**slip))
    yield _Step(950, table, _inventory(table, "close", day, _OPENER + number * 100))
    yield _Step(1_100, "count-room", _counted(table, day, 1))
    yield _Step(1_110, "count-room", _counted(table, day, 2))


def _slip(nth: int, day: str, number: int) -> str:
    """The number of a table's nth slip of a day; each kind has one series for the year."""
    days = (date.fromisoformat(day) - FIRST).days
    if nth == FILLS:
        return f"C-{days * TABLES + number:08d}"
    return f"F-{(days * TABLES + number - 1) * FILLS + nth + 1:08d}"


_SLIPS = (
    *((FillRequested, FillDispatched, FillAccepted),) * FILLS,
    (CreditRequested, CreditDispatched, CreditAccepted),
)


def _inventory(table: str, kind: str, day: str, total: int) -> InventoryCounted:
    return InventoryCounted(
        kind="open" if kind == "open" else "close",
        gaming_day=day,
        chips={"100": total // 100},
        total=total,
        slip=f"I-{table}-{day}-{kind}",
        counted_by="D-1",
        observed_by="F-1",
    )


def _counted(table: str, day: str, count: Literal[1, 2]) -> DropBoxCounted:
    return DropBoxCounted(
        box=f"B-{table}",
        table=table,
        gaming_day=day,
        count=count,
        currency={"10000": BUY_INS},
        counter_checks=(),
        vouchers=(),
        coupons=(),
        counted_by=("N-1", "N-2") if count == 1 else ("N-3", "N-4"),
    )


def record_papers(database: Database) -> None:
    """Put the papers of the last three days on the tape."""
    with PostgresTape(database) as tape:
        for nth in range(DAYS - 3, DAYS):
            told = list(papers(nth))
            for at in range(0, len(told), 1000):
                tape.append(told[at : at + 1000])


_APART = 1_000_000
"""How far the positions and sequences of copied days lie apart."""

_TAPE_COPIES = f"""
INSERT INTO ledger.tape (notification_id, originator_version, time_us, received_at_us,
       originator_id, topic, source, fact_id, subject, attributes, state, hash)
SELECT notification_id + n * {_APART}, originator_version + n * {_APART}, time_us - n * {_DAY_US},
       received_at_us, originator_id, topic, source, fact_id || '-' || n, subject, attributes,
       convert_to(regexp_replace(replace(convert_from(state, 'UTF8'), %(day)s::text,
                                         (%(day)s::text::date - n)::text),
                                 '"slip":"([^"]*)"', '"slip":"\\1-' || n || '"'), 'UTF8'),
       hash
  FROM ledger.tape CROSS JOIN generate_series(%(begin)s::int, %(upto)s::int) n
 WHERE time_us < %(end_us)s::bigint AND time_us >= %(first_us)s::bigint
   AND notification_id < {_APART}
"""  # noqa: S608 - put together from constants

_COPIED = {
    "table_seq": f"table_seq + n * {_APART}",
    "fact_id": "fact_id || '-' || n",
    "gaming_day": "(gaming_day::date - n)::text",
    "time_us": f"time_us - n * {_DAY_US}",
    "paper": "paper || '-' || n",
    "number": f"number - n * {TABLES} * CASE paper_kind WHEN 'fill' THEN {FILLS} ELSE 1 END",
}
"""The columns in which a copy of a row differs."""

_COLUMNS = [each.name for each in money_facts.FACTS_OF_MONEY.columns]
_COPIES = f"""
INSERT INTO views.{money_facts.FACTS_OF_MONEY.name} ({", ".join(_COLUMNS)})
SELECT {", ".join(_COPIED.get(name, name) for name in _COLUMNS)}
  FROM views.{money_facts.FACTS_OF_MONEY.name}
 CROSS JOIN generate_series(%(begin)s::int, %(upto)s::int) n
 WHERE time_us < %(end_us)s::bigint AND time_us >= %(first_us)s::bigint
"""  # noqa: S608 - put together from constants

_ROUNDS = f"""
INSERT INTO views.{MONEY.name}
    (property, table_name, gaming_day, number, game, poker, moved, tray, owed, cage_paid, handle,
     rake, funded, mean, variance, details, recorded)
SELECT %(house)s, 'T-' || lpad(t::text, 3, '0'), %(day)s, n, 'criss_cross_poker', false,
       a.owed - gap, a.owed - gap, a.owed, 0, 6000, 0, 0,
       (n * 17 + 3000) || '/' || (5525 * (n %% 12 + 1)),
       (n::bigint * 1234567 + 1) || '/' || (30525625::bigint * (n %% 12 + 1)),
       CASE WHEN gap > 0 THEN json_build_object('poker', false, 'moved', a.owed - gap,
           'tray', a.owed - gap, 'owed', a.owed, 'cage_paid', 0, 'handle', 6000, 'rake', 0,
           'funded', 0, 'awaits', false, 'items', json_build_array(json_build_object(
               'gap', 'pay', 'code', 'overpaid', 'amount', -gap, 'says', 'Paid too much.',
               'round', 'T-' || lpad(t::text, 3, '0') || '/' || %(day)s || '/' || n,
               'position', 1, 'hand', 1, 'wager', 'ante', 'facts', json_build_array()))) END, NULL
  FROM generate_series(1, {TABLES}) t CROSS JOIN generate_series(1, %(rounds)s) n
 CROSS JOIN LATERAL (SELECT (n * 7919 + t * 104729) %% 20001 - 9800 AS owed,
                            CASE WHEN n %% 100 = 0 THEN 500 ELSE 0 END AS gap) a
"""  # noqa: S608 - as above


_READ_UP = (
    """
    UPDATE ledger.record SET position = position + n, received = received + n
      FROM (SELECT max(notification_id) - (SELECT position FROM ledger.record) AS n
              FROM ledger.tape) copies
    """,
    """
    UPDATE ledger.heads h SET table_seq = t.seq, position = t.position
      FROM (SELECT originator_id, max(originator_version) AS seq, max(notification_id) AS position
              FROM ledger.tape GROUP BY originator_id) t
     WHERE t.originator_id = h.tape
    """,
    "UPDATE views.tracking SET position = (SELECT position FROM ledger.record)",
    "UPDATE views.parts SET position = (SELECT position FROM ledger.record)",
)
"""What follows the copies: the next fact comes after them, and no view reads them."""


def _label(nth: int) -> str:
    return (FIRST + timedelta(days=nth)).isoformat()


def fill_views(database: Database, rounds: int, elsewhere: int) -> None:
    """Copy the papers over the year, and make the rows of rounds: fewer on days not asked for."""
    first_us, end_us = (_T0_US + (DAYS - nth) * _DAY_US for nth in (3, 2))
    of_day = {"first_us": first_us, "end_us": end_us, "day": _label(DAYS - 3)}
    for begin in range(1, DAYS - 2, 10):
        asked = {**of_day, "begin": begin, "upto": min(begin + 9, DAYS - 3)}
        with database.connect("ledger_owner") as connection:
            connection.execute(_TAPE_COPIES.encode(), asked)
            connection.execute(_COPIES.encode(), asked)
    with database.connect("ledger_owner") as connection:
        for nth in range(DAYS):
            day = _label(nth)
            many = rounds if day == ASKED else elsewhere
            connection.execute(_ROUNDS.encode(), {"house": HOUSE, "day": day, "rounds": many})
    with database.connect("ledger_owner") as connection:
        connection.execute("SET ROLE NONE")
        for statement in _READ_UP:
            connection.execute(statement.encode())
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
