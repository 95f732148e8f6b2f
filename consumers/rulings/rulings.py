"""The view of rulings: every round adjudicated from its facts, with findings and settlements.

It gives the result of `round-ledger adjudicate` for a whole feed, updated with each batch. If a
fact changes the ruling of a closed round, the ruling gets a new version. Earlier versions are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from consumers.rulings.coupons import COUPONS
from consumers.rulings.device_sequences import RUNS
from consumers.rulings.error_counts import TABLES as COUNTED
from consumers.rulings.error_counts import count_errors
from consumers.rulings.finding_work import TABLES as WORKED
from consumers.rulings.finding_work import FindingStates
from consumers.rulings.shares import CROSSING, heard_by
from consumers.rulings.table_context import AROUND_ROUNDS
from consumers.rulings.table_findings import (
    CARE,
    TABLE_FINDINGS,
    TABLE_TAPES,
    Heard,
    judge_sequence_gaps,
    judge_tables,
    note_tables,
    tables_of,
)
from consumers.rulings.tables import (
    CASE_TAPES,
    CORRECTIONS,
    FINDINGS,
    MONEY,
    RULINGS,
    SETTLEMENTS,
    SUBMISSIONS,
    VERSIONS,
)
from consumers.rulings.touched_rounds import RoundBatch, one_round
from consumers.runtime.source import Batch, OutboxMapping, Projection
from infra.postgres.view_tables import reading
from ledger.errors import NotFound
from ledger.rules.engine.ruling import FactRef, Finding, Ruling, Status, TableFindings
from ledger.values import RoundId, format_time

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import NamedRow, ViewStore

ROWS_MAX = 1_000
"""The most rows that a search of findings returns."""


def apply(store: ViewStore, batch: Batch) -> None:
    """Rule on the rounds and tables of the batch's share that the batch touches."""
    heard, share = [Heard(row, batch.fact(row)) for row in batch.rows], batch.share
    touched = RoundBatch(store, heard, share=share)
    for row, fact in heard:
        touched.add_fact(row, fact)
    states = FindingStates(store, share)
    states.work(heard, (FINDINGS, TABLE_FINDINGS))
    touched.finish_batch(states)
    count_errors(store, heard, touched.counted, share)
    note_tables(store, heard, share)
    tables = tables_of(heard, share)
    judge_tables(store, tables, touched.tables_anew, touched.submissions, batch.position, states)
    judge_sequence_gaps(store, touched.table_gaps(), states)
    states.save()
    touched.save_logs()


class OfRound(Struct):
    """The first fields of a published ruling."""

    version: int
    fact_position: int | None = None  # of the fact that led to this version; null: unknown


class OfTable(Struct):
    """The first fields of a published finding without a round."""

    version: None = None
    fact: FactRef | None = None  # that completes it; null: unknown


def _ruling(row: NamedRow) -> str:
    """A ruling as `adjudicate --json` prints it, with version and fact position before it."""
    return _joined(OfRound(row.version, row.position), row.ruling)


def _finding(row: NamedRow) -> str:
    """A finding without a round as `adjudicate --json` prints it, with its fact before it."""
    finding = msgspec.json.decode(row.finding, type=Finding)
    told = TableFindings(
        table=row.table_name, property=row.property, gaming_day=row.gaming_day, findings=[finding]
    )
    completes = FactRef(row.source, row.fact_id)
    return _joined(OfTable(fact=completes), msgspec.json.encode(told).decode())


def _of_ruling(row: NamedRow) -> dict[str, str]:
    """The attributes of a ruling's record, to select and window rulings by."""
    return {
        "property": row.property,
        "gamingday": row.gaming_day,
        "roundstart": format_time(row.first_us),
        "roundend": format_time(row.last_us),
    }


def _of_finding(row: NamedRow) -> dict[str, str]:
    """As `_of_ruling`, of a finding without a round; its gaming day may not be on record."""
    told = {"property": row.property, "gamingday": row.gaming_day}
    return {name: text for name, text in told.items() if text is not None}


def _joined(first: Struct, rest: str) -> str:
    """Two JSON objects merged into one."""
    return f"{msgspec.json.encode(first).decode()[:-1]},{rest[1:]}"


ADJUDICATIONS = "ledger.adjudications.v1"
"""The topic of rulings."""

VIEW = Projection(
    "rulings",
    20,
    (
        RULINGS,
        VERSIONS,
        SETTLEMENTS,
        FINDINGS,
        MONEY,
        TABLE_FINDINGS,
        CASE_TAPES,
        TABLE_TAPES,
        RUNS,
        AROUND_ROUNDS,
        CARE,
        SUBMISSIONS,
        CORRECTIONS,
        COUPONS,
        *COUNTED,
        *WORKED,
    ),
    apply,
    tells=(
        OutboxMapping(ADJUDICATIONS, VERSIONS, 2, _ruling, _of_ruling),
        OutboxMapping(ADJUDICATIONS, TABLE_FINDINGS, 2, _finding, _of_finding),
    ),
    heard_by=heard_by,
    crossing=CROSSING,
)
"""The view `rulings`."""


class Ruled(Struct):
    """One version of a round's ruling. version 0: the round is open, so the ruling may change."""

    round: str  # "<property>:<table>/<gaming day>/<number>"
    version: int
    position: int  # of the fact that led to it; 0 while the round is open
    ruling: Ruling


class CutRuling(Struct, frozen=True):
    """A ruling too large for a Kafka record: truncated, without settlements and findings."""

    round: str  # "CC-07/2026-11-20/231"
    property: str
    game: str | None
    edition: str | None
    status: Status
    cut: Literal[True]
    left_out: dict[str, int]  # the fields left out, with their number of entries


class RulingFinding(Struct):
    """One finding of a newest ruling. expected, recorded: cents if they are money."""

    round: str
    code: str
    position: int | None
    wager: str | None
    expected: str | None
    recorded: str | None
    section: str | None
    says: str


def tables_to_read() -> list[str]:
    """The tables to name in `infra.postgres.view_tables.reading` for any of these functions."""
    return [table.name for table in VIEW.tables]


def newest(store: ViewStore, round_: RoundId) -> Ruled:
    """The newest ruling of a round. Raises `NotFound` if there is none."""
    row = store.load(RULINGS, [round_]).get(round_)
    if row is None or row.ruling is None:
        raise NotFound(
            f"There is no ruling on round {round_}",
            where="view rulings",
            hint="List rounds with `round-ledger rounds`; one without round_started has no ruling.",
        )
    return _ruled(round_, row)


def _ruled(round_: RoundId, row: NamedRow) -> Ruled:
    return Ruled(
        str(round_), row.version, row.position, msgspec.json.decode(row.ruling, type=Ruling)
    )


def version_of(store: ViewStore, round_: RoundId, version: int) -> Ruling:
    """One version of a ruling; the newest if that version no longer exists. Raises `NotFound`."""
    key = (*round_, version)
    row = store.load(VERSIONS, [key]).get(key)
    return msgspec.json.decode(row.ruling, type=Ruling) if row else newest(store, round_).ruling


def versions(store: ViewStore, round_: RoundId) -> list[Ruled]:
    """The rulings a closed round has had, oldest first; empty while it is open.

    There is one for each fact that changed it, for the first
    `consumers.rulings.round_state.TOUCHES_RULED_MAX` facts that touched it. Beyond, there are ever
    fewer, and always the newest.
    """
    return [_ruled(round_, row) for row in sorted(store.rows(VERSIONS, [round_]))]


def again(store: ViewStore, round_: RoundId) -> Ruling | None:
    """A new ruling of a round from its facts; it equals the one in the view."""
    touched, case = one_round(store, round_)
    return touched.ruling(case) if case.facts else None


def findings(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    gaming_day: str | None = None,
    code: str | None = None,
    limit: int = 100,
) -> list[RulingFinding]:
    """Findings of newest rulings, in order of property, gaming day, table and round."""
    with reading(database, [FINDINGS.name]) as store:
        rows = store.query(
            "SELECT property, table_name, gaming_day, number, code, position, wager, expected,"  # noqa: S608 - values are parameters
            " recorded, section, says FROM {schema}.ruling_findings"
            f" WHERE {_WHERE}"
            " ORDER BY property, gaming_day, table_name, number, nth LIMIT %(limit)s",
            {
                "property": property,
                "table": table,
                "gaming_day": gaming_day,
                "code": code,
                "limit": max(1, min(limit, ROWS_MAX)),
            },
        )
    return [RulingFinding(str(RoundId(*row[:4])), *row[4:]) for row in rows]


def table_findings(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - as above
    table: str | None = None,
    gaming_day: str | None = None,
    code: str | None = None,
    limit: int = ROWS_MAX,
) -> list[TableFindings]:
    """The newest findings without a round, by the time of the fact that completes each."""
    with reading(database, [TABLE_FINDINGS.name]) as store:
        rows = store.query(
            "SELECT property, table_name, gaming_day, finding::text"  # noqa: S608 - as above
            f" FROM {{schema}}.ruling_table_findings WHERE {_WHERE}"
            " ORDER BY time_us DESC, property DESC, table_name DESC, source DESC, fact_id DESC,"
            " nth DESC LIMIT %(limit)s",
            {
                "property": property,
                "table": table,
                "gaming_day": gaming_day,
                "code": code,
                "limit": max(1, min(limit, ROWS_MAX)),
            },
        )
    return [
        TableFindings(
            table=table_name,
            property=property_,
            gaming_day=day,
            findings=[msgspec.json.decode(text, type=Finding)],
        )
        for property_, table_name, day, text in reversed(rows)
    ]


_WHERE = " AND ".join(
    f"(%({name})s::text IS NULL OR {column} = %({name})s)"
    for name, column in (
        ("property", "property"),
        ("table", "table_name"),
        ("gaming_day", "gaming_day"),
        ("code", "code"),
    )
)
