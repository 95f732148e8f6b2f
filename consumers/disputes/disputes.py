"""The view of disputes: one row a dispute, from claim to outcome, its tasks, and its facts.

It accepts facts in any order: a note before the claim, or an outcome without one.
`replay.disputes.dispute` decides which facts are allowed. The view decides nothing and locks no
footage.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import astuple, replace

from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable, reading
from ledger.facts import (
    AdjustmentPaid,
    Body,
    ClaimRevealed,
    DisputeNoted,
    DisputeRaised,
    DisputeResolved,
    FootageLocked,
    FootageReleased,
    ObservationRecorded,
    TaskDone,
    TaskSet,
    type_name,
)
from ledger.record.wire import fact_of
from ledger.values import RoundId, parse_round, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

Status = Literal["not_raised", "raised", "resolved"]

DISPUTES = ViewTable(
    "disputes",
    "One row a dispute: its claim and its outcome.",
    2,
    (
        Column("property", "text", "Property whose surveillance holds the dispute."),
        Column("dispute", "text", "Its name, e.g. D-2026-11-20-1."),
        Column(
            "status",
            "text",
            "not_raised (facts name it, but no claim is recorded), raised, resolved.",
        ),
        Column("table_name", "text", "Table of the disputed round.", null=True),
        Column("gaming_day", "text", "Gaming day of that round, YYYY-MM-DD.", null=True),
        Column("number", "integer", "Number of that round.", null=True),
        Column("position", "smallint", "Betting position of the patron.", null=True),
        Column(
            "claim", "text", "The claim in the patron's words; the first claim counts.", null=True
        ),
        Column("claimed_by", "text", "Credential of the user who recorded the claim.", null=True),
        Column("raised_us", "bigint", "When, device time, microseconds.", null=True),
        Column("outcome", "text", "The last decision.", null=True),
        Column("resolved_by", "text", "Credential of the user who decided.", null=True),
        Column("resolved_us", "bigint", "When, device time, microseconds.", null=True),
        Column("adjusted", "bigint", "Cents paid to settle it; null: none recorded.", null=True),
        Column("notes", "integer", "Number of notes."),
        Column("observations", "integer", "Number of records of what the footage shows."),
        Column("reveals", "integer", "How often the claim was revealed to a reviewer."),
        Column("locks", "integer", "Spans of footage locked for it."),
        Column("releases", "integer", "Spans of footage released."),
        Column("last_us", "bigint", "Device time of its latest fact, microseconds."),
    ),
    ("(property, table_name, gaming_day, number)", "(status, raised_us)"),
)

FACTS = ViewTable(
    "dispute_facts",
    "Positions of a dispute's facts: one row a fact.",
    4,
    (
        Column("property", "text", "Property whose surveillance holds the dispute."),
        Column("dispute", "text", "Its name."),
        Column("tape", "text", "Tape of the fact: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape; both are the key of ledger.tape."),
    ),
)

TASKS = ViewTable(
    "dispute_tasks",
    "Tasks of disputes: one row each, as they were set last.",
    3,
    (
        Column("property", "text", "Property whose surveillance holds the dispute."),
        Column("dispute", "text", "Its name."),
        Column("task", "text", "Name of the task, e.g. T-1."),
        Column("what", "text", "What is to be done; null: only its end is on record.", null=True),
        Column("to_whom", "text", "Who is to do it.", null=True),
        Column("due_us", "bigint", "Until when, microseconds.", null=True),
        Column("set_by", "text", "Who set it.", null=True),
        Column("done_by", "text", "Who did it; null: nobody.", null=True),
        Column("done_us", "bigint", "When, device time, microseconds.", null=True),
        Column("because", "text", "What came of it.", null=True),
    ),
    ("(due_us) WHERE done_us IS NULL",),
)

_COUNTED: dict[type[Body], str] = {
    DisputeNoted: "notes",
    ObservationRecorded: "observations",
    ClaimRevealed: "reveals",
    FootageLocked: "locks",
    FootageReleased: "releases",
}
_TASKS: tuple[type[Body], ...] = (TaskSet, TaskDone)
_CASES: tuple[type[Body], ...] = (
    *(DisputeRaised, DisputeResolved, AdjustmentPaid),
    *_COUNTED,
    *_TASKS,
)
_READS = frozenset(map(type_name, _CASES))
_CELLS = ", ".join(column.name for column in DISPUTES.columns)


class DisputeRow(Struct):
    """One dispute of the view. Money in cents; times by device clocks; None: not recorded."""

    property: str
    dispute: str
    status: Status = "not_raised"
    table: str | None = None
    gaming_day: str | None = None
    number: int | None = None
    position: int | None = None
    claim: str | None = None
    claimed_by: str | None = None
    raised_us: int | None = None
    outcome: str | None = None
    resolved_by: str | None = None
    resolved_us: int | None = None
    adjusted: int | None = None
    notes: int = 0
    observations: int = 0
    reveals: int = 0
    locks: int = 0
    releases: int = 0
    last_us: int = 0

    @builtins.property  # `property` is a field here
    def round(self) -> RoundId | None:
        """The disputed round; None if no claim is recorded."""
        if self.table is None or self.gaming_day is None or self.number is None:
            return None
        return RoundId(self.property, self.table, self.gaming_day, self.number)


class CaseTask(Struct, frozen=True):
    """A task of a dispute. Times in microseconds; None: not recorded."""

    property: str
    dispute: str
    task: str
    what: str | None = None
    to: str | None = None
    due_us: int | None = None
    set_by: str | None = None
    done_by: str | None = None
    done_us: int | None = None
    because: str | None = None

    def taking(self, body: TaskSet | TaskDone, time_us: int) -> CaseTask:
        """The task after one fact of it: set, or set again, or done."""
        key = (self.property, self.dispute, self.task)
        if isinstance(body, TaskSet):
            return CaseTask(*key, body.what, body.to, parse_time(body.due), body.by)
        return replace(self, done_by=body.by, done_us=time_us, because=body.because)


def apply(store: ViewStore, batch: Batch) -> None:
    """Update the disputes that a batch names."""
    told = [
        ((row.tape.partition("/")[0], fact.body.dispute), row, fact)  # type: ignore[attr-defined] # all of _READS have one
        for row, fact in batch.facts(_READS)
        if fact.body.dispute is not None  # type: ignore[attr-defined] # as above
    ]
    kept = {
        key: DisputeRow(*row)
        for key, row in store.load(DISPUTES, dict.fromkeys(key for key, _, _ in told)).items()
    }
    for key, _, fact in told:
        each = kept.setdefault(key, DisputeRow(*key, last_us=fact.time_us))
        each.last_us = max(each.last_us, fact.time_us)
        _take(each, fact)
    _save_tasks(store, ((key, fact) for key, _, fact in told if isinstance(fact.body, _TASKS)))
    store.save(FACTS, ((*key, row.tape, row.table_seq) for key, row, _ in told))
    store.save(DISPUTES, (astuple(each) for each in kept.values()))


def _save_tasks(store: ViewStore, told: Iterable[tuple[tuple[str, str], Fact]]) -> None:
    facts = [((*key, fact.body.task), fact) for key, fact in told]  # type: ignore[attr-defined] # both have one
    rows = store.load(TASKS, dict.fromkeys(key for key, _ in facts))
    kept = {key: CaseTask(*row) for key, row in rows.items()}
    for key, fact in facts:
        body: Any = fact.body
        kept[key] = kept.get(key, CaseTask(*key)).taking(body, fact.time_us)
    store.save(TASKS, map(astuple, kept.values()))


def _part_of(row: TapeRow) -> str | None:
    """The dispute of a fact, whatever tape it is on."""
    if row.type not in _READS:
        return None
    body: Any = fact_of(row).body
    return None if body.dispute is None else f"{row.tape.partition('/')[0]}/{body.dispute}"


VIEW = Projection("disputes", 2, (DISPUTES, FACTS, TASKS), apply, reads=_READS, part_of=_part_of)
"""The view `disputes`."""


def read(
    database: Database,
    *,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    status: Status | None = None,
    table: str | None = None,
    unlocked: bool = False,
    limit: int = 1_000,
) -> list[DisputeRow]:
    """Disputes that match, the newest first. `unlocked`: only open ones without locked footage."""
    with reading(database, [DISPUTES.name]) as store:
        rows = store.query(
            f"SELECT {_CELLS} FROM {{schema}}.disputes"  # noqa: S608 - values are parameters
            " WHERE (%(property)s::text IS NULL OR property = %(property)s)"
            " AND (%(status)s::text IS NULL OR status = %(status)s)"
            " AND (%(table)s::text IS NULL OR table_name = %(table)s)"
            " AND (NOT %(unlocked)s OR (locks = 0 AND status = 'raised'))"
            " ORDER BY raised_us DESC NULLS LAST, property, dispute LIMIT %(limit)s",
            {
                "property": property,
                "status": status,
                "table": table,
                "unlocked": unlocked,
                "limit": limit,
            },
        )
    return [DisputeRow(*row) for row in rows]


def overdue(
    database: Database,
    now_us: int,
    *,
    property: str | None = None,  # noqa: A002 - as above
) -> list[CaseTask]:
    """Tasks that nobody has done in time, the oldest first."""
    cells = ", ".join(column.name for column in TASKS.columns)
    with reading(database, [TASKS.name]) as store:
        rows = store.query(
            f"SELECT {cells} FROM {{schema}}.dispute_tasks"  # noqa: S608 - values are parameters
            " WHERE done_us IS NULL AND due_us < %(now)s"
            " AND (%(property)s::text IS NULL OR property = %(property)s)"
            " ORDER BY due_us, property, dispute, task",
            {"now": now_us, "property": property},
        )
    return [CaseTask(*row) for row in rows]


def named(store: ViewStore, dispute: str, property_: str | None = None) -> list[DisputeRow]:
    """The disputes of this name at one property or at all, by property."""
    rows = store.query(
        f"SELECT {_CELLS} FROM {{schema}}.disputes WHERE dispute = %(dispute)s"  # noqa: S608 - values are parameters
        " AND (%(property)s::text IS NULL OR property = %(property)s) ORDER BY property",
        {"dispute": dispute, "property": property_},
    )
    return [DisputeRow(*row) for row in rows]


def about(store: ViewStore, round_: RoundId) -> list[DisputeRow]:
    """The disputes about a round, oldest first; an empty property matches any."""
    rows = store.query(
        f"SELECT {_CELLS} FROM {{schema}}.disputes WHERE table_name = %(table)s"  # noqa: S608 - values are parameters
        " AND gaming_day = %(gaming_day)s AND number = %(number)s"
        " AND (%(property)s = '' OR property = %(property)s) ORDER BY raised_us, property, dispute",
        round_._asdict(),
    )
    return [DisputeRow(*row) for row in rows]


def facts_about(store: ViewStore, property_: str, dispute: str) -> list[TapeRow]:
    """All rows of the record that name a dispute, in order of position; read by key."""
    return store.rows_named(
        "SELECT tape, table_seq, table_seq FROM {schema}.dispute_facts"
        " WHERE property = %(property)s AND dispute = %(dispute)s",
        {"property": property_, "dispute": dispute},
    )


def facts_of_open(store: ViewStore) -> list[TapeRow]:
    """All rows of the record that name an open dispute, in order of position."""
    return store.rows_named(
        "SELECT f.tape, f.table_seq, f.table_seq FROM {schema}.dispute_facts f"
        " JOIN {schema}.disputes d USING (property, dispute) WHERE d.status = 'raised'",
        {},
    )


def names_like(store: ViewStore, property_: str, prefix: str) -> Sequence[str]:
    """The names of a property's disputes that start with a prefix."""
    rows = store.query(
        "SELECT dispute FROM {schema}.disputes WHERE property = %(property)s"
        " AND starts_with(dispute, %(prefix)s)",
        {"property": property_, "prefix": prefix},
    )
    return [row[0] for row in rows]


def _take(each: DisputeRow, fact: Fact) -> None:
    """Apply one fact. The first claim and the last outcome count."""
    body: Any = fact.body
    if isinstance(body, DisputeRaised):
        if each.raised_us is None:
            _raised(each, body, fact.time_us)
    elif isinstance(body, DisputeResolved):
        each.status = "resolved"
        each.outcome, each.resolved_by, each.resolved_us = body.outcome, body.by, fact.time_us
    elif isinstance(body, AdjustmentPaid):
        each.adjusted = (each.adjusted or 0) + body.amount
    elif not isinstance(body, _TASKS):
        field = _COUNTED[type(body)]
        setattr(each, field, getattr(each, field) + 1)


def _raised(each: DisputeRow, body: DisputeRaised, time_us: int) -> None:
    round_ = parse_round(body.round, each.property)
    if round_ is not None and round_.property == each.property:
        each.table, each.gaming_day, each.number = round_[1:]
    each.position, each.claim, each.claimed_by = body.position, body.claim, body.by
    each.raised_us = time_us
    if each.status == "not_raised":
        each.status = "raised"
