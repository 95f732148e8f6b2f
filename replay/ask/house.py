"""What a sentence is read with: the house's names, its clock, and the moment of asking."""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - a field's type
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ledger.games import games

if TYPE_CHECKING:
    from ledger.rules.engine.game import Game

DAY_START = 6 * 60
"""When a gaming day begins, minutes after midnight, unless the house names another time."""

_TABLE = re.compile(r"([a-z]+)[- ]?0*(\d+)")


class HouseHours(NamedTuple):
    """When a house's gaming day and each of its shifts begin, minutes after midnight."""

    day_start: int = DAY_START
    shifts: Mapping[str, int] = {}

    def by_shift(self) -> dict[str, tuple[int, int]]:
        """Start and end of each shift: it ends when the next one begins."""
        ordered = sorted(self.shifts, key=self.shifts.__getitem__)
        ends = (self.shifts[each] for each in (*ordered[1:], *ordered[:1]))
        return {each: (self.shifts[each], end) for each, end in zip(ordered, ends, strict=True)}


class House(Struct, frozen=True, kw_only=True):
    """The names and the clock of a house.

    tables: each with the game that is dealt there, if that is known. shifts: start and end of each
    by name, minutes after midnight. newest_us: the newest round on record.
    """

    zone: tzinfo = UTC
    day_start: int = DAY_START
    tables: Mapping[str, str | None] = {}
    dealers: tuple[str, ...] = ()
    shifts: Mapping[str, tuple[int, int]] = {}
    newest_us: int | None = None

    @property
    def games(self) -> Mapping[str, Game]:
        """The games with rules here, by id."""
        return games()

    def table(self, spoken: str) -> str | None:
        """The table that is spoken of: `cc1`, `CC 01` or `cc-01`; None: the house has none such."""
        wanted = _plain(spoken)
        return next((name for name in self.tables if _plain(name) == wanted), None)

    def tables_numbered(self, number: int) -> list[str]:
        """The tables with this number: for 1, CC-01 and BJ-01."""
        return [name for name in self.tables if _plain(name)[1] == str(number)]

    def prefixes(self) -> set[str]:
        """The letters that names of tables begin with."""
        return {_plain(name)[0] for name in self.tables}

    def dealer(self, number: str) -> str | None:
        """The credential that ends in these digits: D-1022 for 1022."""
        found = [each for each in self.dealers if re.sub(r"\D", "", each) == number]
        return found[0] if len(found) == 1 else None


def _plain(name: str) -> tuple[str, str]:
    told = _TABLE.fullmatch(name.lower())
    return (told[1], told[2]) if told else (name.lower(), "")
