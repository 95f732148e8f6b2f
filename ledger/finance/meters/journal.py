"""The double entries of progressive meters: what the house owes its players of each meter.

`liabilities:meter:M` is minus what the meter shows. `expenses:meter:M` is what advances and resets
cost, less what wins took; the wins themselves are in the table's win, or paid by the cage.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from ledger.finance.journal import EQUITY, JournalEntry, Posting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ledger.finance.meters.lines import MeterLine, MeterName

_NOT_IN_AN_ACCOUNT = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST = 8
"""Hexadecimal digits that keep two meters apart."""


def meter_entries(
    meters: Mapping[MeterName, Mapping[str, MeterLine]],
    *,
    table: str | None = None,
    gaming_day: str | None = None,
) -> list[JournalEntry]:
    """The entries of meters, of all or as asked for; `meters`: their lines by gaming day.

    What a meter showed before the first day that is asked for is an entry of that day.
    """
    found: list[JournalEntry] = []
    for name, its in meters.items():
        days = {day: line for day, line in its.items() if line.opening is not None}
        asked = [day for day in days if day and gaming_day in (None, day)]
        if asked and table in (None, name.table):
            first = "opening" if asked[0] == next(iter(days)) else "carried"
            found.append(_first(name, asked[0], days[asked[0]], first))
            found += [_entry(name, day, days[day]) for day in asked]
    return [each for each in found if each.postings or each.balances]


def merged(entries: Iterable[JournalEntry], meters: Iterable[JournalEntry]) -> list[JournalEntry]:
    """All entries in order of property, day and table; a table's meters come before its tray."""
    return sorted(
        [*meters, *entries], key=lambda each: (each.property, each.gaming_day, each.table)
    )


def _first(name: MeterName, day: str, line: MeterLine, entry: str) -> JournalEntry:
    says = "Meter as the days before left it" if entry == "carried" else "Meter as first shown"
    opening = line.opening or 0
    postings = {_owed(name): -opening, EQUITY: opening}
    return _made(name, day, f"meter_{entry}:{name.meter}", says, postings)


def _entry(name: MeterName, day: str, line: MeterLine) -> JournalEntry:
    """A day's moves of a meter, and what it showed last."""
    cost = line.advanced + line.reset - line.paid
    postings = {
        _owed(name): -cost - line.difference,
        f"expenses:meter:{_account(name)}": cost,
        f"expenses:meter_difference:{_account(name)}": line.difference,
    }
    says = "Meter: advances and resets less what wins took"
    made = _made(name, day, f"meter:{name.meter}", says, postings)
    made.balances.append(Posting(_owed(name), -(line.closing or 0)))
    return made


def _made(
    name: MeterName, day: str, entry: str, says: str, postings: Mapping[str, int]
) -> JournalEntry:
    return JournalEntry(
        property=name.property,
        gaming_day=day,
        table=name.table or name.meter,
        entry=entry,
        says=says,
        postings=[Posting(account, cents) for account, cents in postings.items() if cents],
        balances=[],
        facts=[],
    )


def _owed(name: MeterName) -> str:
    return f"liabilities:meter:{_account(name)}"


def _account(name: MeterName) -> str:
    """The meter in an account's name. A link's name may have signs that no account may have."""
    if name.table:
        return f"{name.table}:{name.meter}"
    plain = _NOT_IN_AN_ACCOUNT.sub("_", name.meter)
    digest = sha256(name.meter.encode()).hexdigest()[:_DIGEST]
    return plain if plain == name.meter else f"{plain}-{digest}"
