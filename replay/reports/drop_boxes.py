"""Reports of drop boxes: their content beside what tables recorded, and their notes in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance import papers
from ledger.facts import DropBoxCounted, DropBoxVerified
from ledger.finance.boxes import KINDS, boxes, count_total, foreign_value
from replay.reports.kind import columns
from replay.reports.table import ReportColumn
from replay.text.wins import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.finance.boxes import DropBox
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

CONTENT = columns("table content", "expected counted difference")


def content(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """By content what the table recorded, what was counted, and the difference."""
    for of in asked.wins:
        for kind in KINDS:
            counted: int | None = getattr(of.drop, kind)
            differs = sum(item.amount for item in of.items if item.code == f"box_{kind}")
            known = counted is not None
            yield (
                of.table, plain(kind), counted - differs if counted is not None else None, counted,
                differs if known else None,
            )  # fmt: skip


COUNTS = (
    *columns("table box", "first_count second_count verified"),
    *columns("counted_first_by counted_second_by verified_by", "third_count"),
    *columns("counted_third_by"),
)


def _stays(day: papers.EnteredDay) -> Iterator[tuple[str, DropBox]]:
    """Each stay of a box with its table, in order of table, box and time."""
    for (table, _), facts in sorted(day.boxes.items()):
        for box in boxes(facts):
            yield table, box


def box_counts(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each stay of a box on the day: its counts and the cage's verification, and who signed each.

    The last count of a number and the last verification stand; a missing one is n/a.
    """
    day = papers.read(asked.database, asked.property, asked.gaming_day)
    for table, box in _stays(day):
        totals: dict[int, tuple[int | None, str]] = {}
        for fact in box.counts:
            if isinstance(fact.body, DropBoxCounted):
                totals[fact.body.count] = count_total(fact, {}), ", ".join(fact.body.counted_by)
        bodies = [f.body for f in box.verified if isinstance(f.body, DropBoxVerified)]
        cage = (bodies[-1].total, bodies[-1].by) if bodies else (None, None)
        first, second, third = (totals.get(nth, (None, None)) for nth in (1, 2, 3))
        amounts, people = zip(first, second, cage, strict=True)
        yield table, box.number, *amounts, *people, *third


NOTES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
"""Denominations of notes that have a column, cents."""

PIECES = (
    *columns("table box"),
    *(ReportColumn(f"${each // 100}", "count") for each in NOTES),
    *columns(money="other_notes cash foreign"),
    *columns(counts="counter_checks vouchers coupons"),
)


def pieces(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each stay of a box on the day by its last count: notes in pieces, papers in number.

    A box that nobody counted has no figure.
    """
    day = papers.read(asked.database, asked.property, asked.gaming_day)
    for table, box in _stays(day):
        body = box.last.body if box.last else None
        if not isinstance(body, DropBoxCounted):
            yield table, box.number, *(None for _ in PIECES[2:])
            continue
        amounts = {int(cents): int(cents) * count for cents, count in body.currency.items()}
        other = sum(each for cents, each in amounts.items() if cents not in NOTES)
        yield (
            table, box.number, *(body.currency.get(str(each), 0) for each in NOTES),
            other, sum(amounts.values()), foreign_value(body),
            len(body.counter_checks), len(body.vouchers), len(body.coupons),
        )  # fmt: skip
