"""The view of the review desk: the rounds that were drawn by chance for review.

It accepts facts in any order. The latest of those that draw a round in one sample decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumers.rounds.index import ROUND_KEY
from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import SampleDrawn, type_name
from ledger.record.wire import fact_of
from ledger.values import parse_round

if TYPE_CHECKING:
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

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

_READS = frozenset((type_name(SampleDrawn),))


def apply(store: ViewStore, batch: Batch) -> None:
    """Keep the samples that a batch has."""
    drawn: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row, fact in batch.facts(_READS):
        _draw(drawn, row.tape.partition("/")[0], fact)
    older = store.load(SAMPLES, drawn)
    store.save(SAMPLES, (r for k, r in drawn.items() if k not in older or r[-3:] > older[k][-3:]))


def _draw(drawn: dict[tuple[Any, ...], tuple[Any, ...]], property_: str, fact: Fact) -> None:
    body: Any = fact.body
    told = (body.shift, body.seed, body.by, fact.time_us, fact.source, fact.id)
    for name in body.rounds:
        round_ = parse_round(name, property_)
        if round_:
            key = (property_, body.sample, *round_)
            drawn[key] = max(drawn.get(key, ()), (*key, *told), key=lambda row: row[-3:])


def _part_of(row: TapeRow) -> str | None:
    """The sample of a fact, whatever tape it is on."""
    if row.type not in _READS:
        return None
    body: Any = fact_of(row).body
    return f"{row.tape.partition('/')[0]}/{body.sample}"


VIEW = Projection("review", 2, (SAMPLES,), apply, ordered=False, reads=_READS, part_of=_part_of)
"""The view `review`."""
