"""The report of a shift on one sheet of A4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.values import format_time
from replay.dossier.writing.pages import Paper
from replay.review.shift_report import sections_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.review.shifts import Shift

_POINTS = 8


def shift_pdf(shift: Shift, text: str | None) -> bytes:
    """The report with what was signed. text: None: only its hash is known."""
    at_us = shift.handed_us or shift.begun_us or 0
    foot = f"{shift.property} · {shift.shift} · {shift.report or 'not handed over yet'}"
    title = f"Shift report {shift.shift}"
    paper = Paper(title, foot, format_time(at_us), sheet="A4", with_all="the page")
    paper.big(title)
    if text is None:
        paper.flag("Only the SHA-256 of the report is on record.")
    for part in sections_of(text) if text else ():
        _part(paper, part.title, part.lines)
    signed = (
        ("Begun", shift.begun_by),
        ("Handed over", shift.handed_by and f"{shift.handed_by} to {shift.to}"),
        ("Countersigned", shift.signed_by),
    )
    _part(paper, "Signatures", [f"{what}: {who or '-'}" for what, who in signed])
    return paper.octets()


def _part(paper: Paper, title: str, lines: Sequence[str]) -> None:
    paper.ln(1.5)
    paper.say(title, style="B")
    for line in lines:
        paper.say(line, size=_POINTS)
