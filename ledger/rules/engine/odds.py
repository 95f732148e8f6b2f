"""Paytables as printed: each row has a label and odds, read into exact fractions.

"10 for 1" includes the stake, "10 to 1" does not. Rows are read from the top, and the first that
fits pays. If two rows of a contradictory text could fit, each stands under a named reading.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PUSH = "Push"

_ODDS = re.compile(r"(?:\d{1,3}% of meter and )?(\d{1,9}) (to|for) ([1-9]\d{0,8})")


def parse_odds(printed: str) -> Fraction:
    """Winnings for a stake of one, without the stake: `4 to 5` is 4/5, `Push` is 0.

    Raises ValueError for a string that is not odds.
    """
    if printed == PUSH:
        return Fraction(0)
    match = _ODDS.fullmatch(printed)
    if not match:
        raise ValueError(f"not printed odds: {printed!r}; write `4 to 5`, `10 for 1` or `Push`")
    ratio = Fraction(int(match[1]), int(match[3]))
    return ratio if match[2] == "to" else ratio - 1


def readable(printed: str) -> bool:
    """Whether a string is odds in the printed form."""
    return printed == PUSH or _ODDS.fullmatch(printed) is not None


class PaytableRow(NamedTuple):
    """One printed row: the hand or throw it fits, and what it pays."""

    label: str
    fits: Callable[[Any], bool]
    odds: str
    ratio: Fraction
    reading: tuple[str, str | bool] | None = None  # (reading, value): needed for the row to hold
    key: str | None = None  # its name in a Rules Submission that sets the odds
    least: bool = False  # the printed odds are the minimum

    @property
    def pushes(self) -> bool:
        """Whether the stake goes back and nothing is won."""
        return self.odds == PUSH

    def at(self, odds: str) -> PaytableRow:
        """The row at other odds. Unchanged if they cannot be read or are too low."""
        if not readable(odds) or self.too_low(odds):
            return self
        return self._replace(odds=odds, ratio=parse_odds(odds))

    def too_low(self, odds: str) -> bool:
        """Whether these odds are below the section's minimum."""
        return self.least and parse_odds(odds) < self.ratio


def row(
    label: str,
    fits: Callable[[Any], bool],
    odds: str,
    reading: tuple[str, str | bool] | None = None,
    *,
    key: str | None = None,
    least: bool = False,
) -> PaytableRow:
    """A printed row with its odds parsed."""
    return PaytableRow(label, fits, odds, parse_odds(odds), reading, key, least)


class Paytable(NamedTuple):
    """One printed table of odds, most specific row first."""

    wagers: tuple[str, ...]  # the wagers it pays
    section: str  # chapter-relative, "12(b)"
    rows: tuple[PaytableRow, ...]
    letter: str | None = None  # "A", "B", ... if the Rules Submission chooses

    def paying(self, odds: Mapping[str, str]) -> Paytable:
        """The rows at the holder's own odds, by key. A row without odds is not offered.

        Odds that cannot be read are ignored, and the printed ones hold.
        """
        rows = [each.at(odds[each.key]) for each in self.rows if each.key and each.key in odds]
        return self._replace(rows=tuple(rows), letter=None)

    def pays(self, outcome: object, readings: Mapping[str, object]) -> PaytableRow | None:
        """The first row that fits under the readings in force, or None if the wager lost."""
        for candidate in self.rows:
            if candidate.fits(outcome) and (
                candidate.reading is None or readings[candidate.reading[0]] == candidate.reading[1]
            ):
                return candidate
        return None


def as_json(value: object) -> str:
    """A reading's or an option's value as JSON prints it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def paytable(
    wagers: str | Iterable[str],
    section: str,
    rows: Iterable[PaytableRow],
    letter: str | None = None,
) -> Paytable:
    """A paytable of printed rows, for one wager or several."""
    names = (wagers,) if isinstance(wagers, str) else tuple(wagers)
    return Paytable(names, section, tuple(rows), letter)
