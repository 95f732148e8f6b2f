"""Findings written straight into the view `rulings`, as many as a test or a benchmark wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from consumers.rulings.finding_work import WORK, FindingStates, FindingWork, ref_in_round
from consumers.rulings.tables import FINDINGS
from consumers.runtime.source import WHOLE
from infra.postgres.view_tables import LIVE, ViewStore, writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from infra.postgres.connection import Database

CODES = ("overpaid", "late_wager", "underpaid", "order_uncertain")


def fill_findings(database: Database, many: int) -> None:
    """Findings of 20 tables, one in 43 s; a quarter is closed, and a tenth taken by S-1."""
    with writing(database, LIVE) as connection:
        store = ViewStore(connection, LIVE)
        with store.transaction():
            store.save(WORK, (astuple(each) for each in _works(many)))
            states = FindingStates(store, WHOLE)
            store.save(FINDINGS, states.rows(FINDINGS, map(_finding, range(1, many + 1))))
            states.save()
    with database.connect("ledger_owner") as connection:
        for name in ("ruling_findings", "finding_work", "finding_groups", "finding_states"):
            connection.execute(f"ANALYZE views.{name}".encode())


def multiply_findings(database: Database, by: int) -> None:
    """Write each finding so often, with the work on it, in rounds of their own and later each time.

    A closed one is closed an hour after its round.
    """
    with database.connect("ledger_owner") as connection:
        for statement in _MULTIPLIED:
            connection.execute(statement.replace("{by}", str(by)).encode())
        for name in ("ruling_findings", "finding_work", "finding_groups", "finding_states"):
            connection.execute(f"ANALYZE views.{name}".encode())


_COPIES = "generate_series(1, {by} - 1) AS n"
_KEY = "property, table_name, code, wager, time_us / 3600000000 * 3600000000"
_STATE = "status, holder, outcome"
_MULTIPLIED = (
    f"""
INSERT INTO views.finding_work (property, ref, holder, held_us, closed, outcome)
SELECT property, ref || n, holder, held_us, closed, outcome FROM views.finding_work, {_COPIES}
""",  # noqa: S608 - our own names
    f"""
INSERT INTO views.ruling_findings
SELECT (jsonb_populate_record(f, jsonb_build_object(
       'number', f.number + n * 1000000, 'ref', f.ref || n, 'name', f.name || n,
       'time_us', f.time_us + n * s.long_us))).*
  FROM views.ruling_findings f, {_COPIES},
       (SELECT max(time_us) - min(time_us) AS long_us FROM views.ruling_findings) s
""",  # noqa: S608 - as above
    """
UPDATE views.finding_work w SET decided_us = f.time_us + 3600000000
  FROM views.ruling_findings f WHERE (f.property, f.ref) = (w.property, w.ref) AND w.closed
""",
    "TRUNCATE views.finding_groups, views.finding_states",
    f"""
INSERT INTO views.finding_groups
       (property, table_name, code, wager, hour_us, {_STATE}, gravity, many, priced, off)
SELECT {_KEY}, {_STATE}, 1, count(*), count(off), coalesce(sum(off), 0)
  FROM views.ruling_findings GROUP BY {_KEY}, {_STATE}
""",  # noqa: S608 - as above
    """
INSERT INTO views.finding_states
       (property, table_name, code, status, holder, many, groups, off)
SELECT property, table_name, code, status, holder, sum(many), count(*), sum(off)
  FROM views.finding_groups GROUP BY 1, 2, 3, 4, 5
""",
)


def _finding(n: int) -> tuple[tuple[Any, ...], str]:
    cells = (
        *("hollywood", f"T-{n % 20}", f"2026-11-{20 + n // 2000}", n, 0, CODES[n % 4], 1 + n % 6),
        *("ante", f"{100 * n}", "0", "592.12(b)", f"Position {n}", 1, None, 100 * n),
        1_795_000_000_000_000 + n * 43_200_000,
    )
    return cells, ref_in_round(cells[1:4], cells[5], cells[6], 1, "ante", None)


def _works(many: int) -> Iterator[FindingWork]:
    for n in range(1, many + 1):
        if n % 4 == 0 or n % 10 == 1:
            outcome = "right" if n % 4 == 0 else None
            yield FindingWork(
                "hollywood", _finding(n)[1], "S-1", held_us=1, closed=n % 4 == 0, outcome=outcome
            )
