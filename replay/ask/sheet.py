"""Hits as CSV: a row for each wager of a round, in dollars, for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from replay.text.sheets import decimal, safe
from replay.text.times import stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    from consumers.rounds.hits import HitLine
    from consumers.rounds.index import Round
    from consumers.rounds.search import Dealt

COLUMNS = {
    "round": "Round: table, gaming day, number.",
    "property": "Property of the table.",
    "game": "Game id.",
    "status": "open, completed or voided.",
    "began": "When it began, by the house's clock, with its offset.",
    "dealers": "Credentials of those who dealt in it, separated by blanks.",
    "position": "Betting position.",
    "wager": "Wager id.",
    "hand": "Hand of the position, from 1.",
    "cards": "Known cards of the position, in no order.",
    "row": "Printed row that paid or pushed.",
    "outcome": "win, lose, push or void, by the ruling.",
    "staked": "Dollars at risk.",
    "owed": "Dollars of winnings owed, by the ruling.",
    "paid": "Dollars of winnings paid, by the record.",
    "difference": "Dollars paid less owed, by a finding; 0.00: none was found.",
    "findings": "Codes of the round's findings, separated by blanks.",
    "disputes": "Disputes about the round, separated by blanks.",
}
"""The columns of the file, each with its meaning."""


def header() -> str:
    """The first line."""
    return _line(list(COLUMNS))


def rows(round_: Round, details: Dealt, lines: Sequence[HitLine], zone: tzinfo) -> Iterator[str]:
    """The lines of a round: one for each wager, or one if it has none to show."""
    codes = " ".join(dict.fromkeys(code for code, _ in details.findings))
    first = [
        round_.id.subject, round_.property, round_.game or "", round_.status,
        stamp(round_.began_us, zone), " ".join(details.dealers),
    ]  # fmt: skip
    last = [codes, " ".join(details.disputes)]
    for each in lines:
        yield _line([*first, *_cells(each), *last])
    if not lines:
        yield _line([*first, *([""] * (len(COLUMNS) - len(first) - len(last))), *last])


def withheld(round_: Round, details: Dealt, zone: tzinfo, says: str) -> str:
    """The line of a round whose record is withheld: its name, begin, game and dealers."""
    first = [
        round_.id.subject, round_.property, round_.game or "", says,
        stamp(round_.began_us, zone), " ".join(details.dealers),
    ]  # fmt: skip
    blank = [""] * (len(COLUMNS) - len(first) - 1)
    return _line([*first, *blank, " ".join(details.disputes)])


def _cells(line: HitLine) -> list[str]:
    dollars: Callable[[int | None], str] = lambda cents: "" if cents is None else decimal(cents)  # noqa: E731 - short
    return [
        str(line.position), line.wager, str(line.hand), " ".join(line.cards), line.row or "",
        line.outcome or "", dollars(line.staked), dollars(line.owed), dollars(line.paid),
        decimal(line.difference),
    ]  # fmt: skip


_AMOUNTS = slice(12, 16)
"""The columns of amounts: numbers, also below zero."""


def _line(cells: Sequence[str]) -> str:
    told = [safe(each) for each in cells]
    told[_AMOUNTS] = cells[_AMOUNTS]
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(told)
    return out.getvalue()
