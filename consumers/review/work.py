"""The view of the work on findings: who has each, how it was closed, and which rounds are sampled.

It accepts facts in any order. The latest decides, by time, then source and id: one of those that
give a finding to somebody, and one of those that close or reopen it. It rules on nothing: a finding
that no ruling has gets a row, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from consumers.rounds.index import ROUND_KEY
from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import (
    Body,
    FindingClosed,
    FindingHanded,
    FindingReopened,
    FindingTaken,
    SampleDrawn,
    type_name,
)
from ledger.record.wire import fact_of
from ledger.values import parse_round

if TYPE_CHECKING:
    from ledger.facts import FindingRef
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

WORK = ViewTable(
    "review_work",
    "One row a finding that somebody worked on.",
    2,
    (
        Column("property", "text", "Property of the finding."),
        Column("ref", "text", "What the finding is of, as `ref_of` writes it."),
        Column("holder", "text", "Who has it; null: nobody took it.", null=True),
        Column("given_by", "text", "Who gave it to them; null: they took it.", null=True),
        Column("held_us", "bigint", "Device time of that fact, microseconds.", null=True),
        Column("held_source", "text", "Source of that fact.", null=True),
        Column("held_id", "text", "Id of that fact.", null=True),
        Column("closed", "boolean", "Whether it is closed."),
        Column("outcome", "text", "right, wrong, not_visible, known; null: open.", null=True),
        Column("because", "text", "Why it was closed or reopened.", null=True),
        Column("decided_by", "text", "Who closed or reopened it.", null=True),
        Column("decided_us", "bigint", "Device time of that fact, microseconds.", null=True),
        Column("decided_source", "text", "Source of that fact.", null=True),
        Column("decided_id", "text", "Id of that fact.", null=True),
    ),
    ("(holder) WHERE holder IS NOT NULL AND NOT closed",),
)

SAMPLES = ViewTable(
    "review_samples",
    "Rounds drawn by chance for review: one row a sample and round.",
    6,
    (
        Column("held_at", "text", "Property whose surveillance drew the sample."),
        Column("sample", "text", "Name of the sample."),
        *ROUND_KEY,
        Column("shift", "text", "Name of the shift."),
        Column("seed", "text", "What the chance was seeded with."),
        Column("drawn_by", "text", "Who drew it."),
        Column("drawn_us", "bigint", "Device time of the fact, microseconds."),
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
    ),
)

SAMPLED = "control_sample"
"""The code under which work on a sampled round is recorded; no ruling has it."""

_HOLDS: tuple[type[Body], ...] = (FindingTaken, FindingHanded)
_WORK: tuple[type[Body], ...] = (*_HOLDS, FindingClosed, FindingReopened)
_READS = frozenset(map(type_name, _WORK)) | {type_name(SampleDrawn)}


class FindingWork(Struct):
    """The work on one finding. Times by device clocks; None: not recorded."""

    property: str
    ref: str
    holder: str | None = None
    given_by: str | None = None
    held_us: int | None = None
    held_source: str | None = None
    held_id: str | None = None
    closed: bool = False
    outcome: str | None = None
    because: str | None = None
    decided_by: str | None = None
    decided_us: int | None = None
    decided_source: str | None = None
    decided_id: str | None = None


def ref_of(finding: FindingRef, property_: str) -> tuple[str, str]:
    """The key of a finding: property and what it is of.

    `consumers.review.queue` writes the same text in SQL.
    """
    round_ = parse_round(finding.round, property_) if finding.round else None
    if round_:
        spot = (finding.code, finding.position, finding.hand or 1, finding.wager, finding.throw)
        return round_.property, _joined(*round_[1:], *spot)
    fact = (finding.of.source, finding.of.id) if finding.of else (None, None)
    return property_, _joined(finding.table, finding.gaming_day, None, finding.code, *fact)


def _joined(*parts: object) -> str:
    return "|".join("" if part is None else str(part) for part in parts)


def apply(store: ViewStore, batch: Batch) -> None:
    """Update the findings and samples that a batch names."""
    told = [(_key(row, fact), fact) for row, fact in batch.facts(_READS)]
    on_findings = [(key, fact) for key, fact in told if not isinstance(fact.body, SampleDrawn)]
    keys = dict.fromkeys(key for key, _ in on_findings)
    kept = {key: FindingWork(*row) for key, row in store.load(WORK, keys).items()}
    for key, fact in on_findings:
        _take(kept.setdefault(key, FindingWork(*key)), fact)
    store.save(WORK, (astuple(each) for each in kept.values()))
    drawn: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for (property_, _), fact in told:
        if isinstance(fact.body, SampleDrawn):
            _draw(drawn, property_, fact)
    older = store.load(SAMPLES, drawn)
    store.save(SAMPLES, (r for k, r in drawn.items() if k not in older or r[-3:] > older[k][-3:]))


def _key(row: TapeRow, fact: Fact) -> tuple[str, str]:
    property_ = row.tape.partition("/")[0]
    body: Any = fact.body
    if isinstance(body, SampleDrawn):
        return property_, f"sample {body.sample}"
    return ref_of(body.finding, property_)


def _take(work: FindingWork, fact: Fact) -> None:
    """Apply one fact, if it is later than the one that decided so far."""
    body: Any = fact.body
    holds = isinstance(body, _HOLDS)
    told = (fact.time_us, fact.source, fact.id)
    if holds:
        if work.held_us is None or told > (work.held_us, work.held_source, work.held_id):
            handed = type(body) is FindingHanded
            work.holder, work.given_by = (body.to, body.by) if handed else (body.by, None)
            work.held_us, work.held_source, work.held_id = told
    elif work.decided_us is None or told > (
        work.decided_us, work.decided_source, work.decided_id,
    ):  # fmt: skip
        work.closed = isinstance(body, FindingClosed)
        work.outcome = body.outcome if work.closed else None
        work.because, work.decided_by = body.because, body.by
        work.decided_us, work.decided_source, work.decided_id = told


def _draw(drawn: dict[tuple[Any, ...], tuple[Any, ...]], property_: str, fact: Fact) -> None:
    body: Any = fact.body
    told = (body.shift, body.seed, body.by, fact.time_us, fact.source, fact.id)
    for name in body.rounds:
        round_ = parse_round(name, property_)
        if round_:
            key = (property_, body.sample, *round_)
            drawn[key] = max(drawn.get(key, ()), (*key, *told), key=lambda row: row[-3:])


def _part_of(row: TapeRow) -> str | None:
    """The finding or sample of a fact, whatever tape it is on."""
    return "/".join(_key(row, fact_of(row))) if row.type in _READS else None


VIEW = Projection(
    "review", 1, (WORK, SAMPLES), apply, ordered=False, reads=_READS, part_of=_part_of
)
"""The view `review`."""
