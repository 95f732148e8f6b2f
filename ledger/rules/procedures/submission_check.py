"""The check of a Rules Submission: what its game does not have, and what it may name.

No submission is refused for it. A choice that the game does not have is ignored and reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.coupons import readings_of
from ledger.rules.engine.odds import as_json, readable
from ledger.rules.wagers.progressive import AMOUNTS, TERMS, amount_of, rate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ledger.facts import RulesSubmissionFiled
    from ledger.rules.engine.game import Game, Option, PrintedMeter, Reading
    from ledger.rules.engine.odds import Paytable


class Problem(NamedTuple):
    """Something in a Rules Submission that its game does not have."""

    where: str  # "readings.pair_of_tens"
    says: str
    allowed: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The names that are possible instead."""
        if len(self.allowed) == 1:
            return f"Give {self.allowed[0]}."
        return f"Name one of {', '.join(self.allowed)}." if self.allowed else "Leave it out."


def problems(game: Game, filing: RulesSubmissionFiled) -> list[Problem]:
    """Everything in a submission that its game does not have, in the order of its fields."""
    return [
        *_edition(game, filing.edition),
        *_offers(game, filing.offers),
        *_paytables(game, filing.paytables),
        *_values("options", game.options, filing.options),
        *_values("readings", readings_of(game), filing.readings),
        *_limits(game, filing.limits),
        *_progressives(game, filing.progressives),
    ]


def _edition(game: Game, named: str | None) -> Iterator[Problem]:
    chapters = tuple(edition.chapter for edition in game.editions)
    if named is not None and named not in chapters:
        yield Problem("edition", f"{game.title} has no edition {named}", chapters)


def _offers(game: Game, offered: Iterable[str]) -> Iterator[Problem]:
    optional = tuple(wager.id for wager in game.wagers if wager.optional)
    for name in offered:
        if name not in optional:
            yield Problem("offers", f"{name} is not an optional wager of {game.title}", optional)


def _values(
    field: str, known: Iterable[Reading | Option], chosen: Mapping[str, object]
) -> Iterator[Problem]:
    """Check names and values of readings, or of options."""
    allowed = {each.name: each.values for each in known}
    for name, value in chosen.items():
        where = f"{field}.{name}"
        if name not in allowed:
            yield Problem(where, f"there is no {field.rstrip('s')} {name}", tuple(allowed))
        elif value not in allowed[name]:
            values = tuple(as_json(each) for each in allowed[name])
            yield Problem(where, f"{as_json(value)} is no value of {name}", values)


def _limits(game: Game, chosen: Mapping[str, int | None]) -> Iterator[Problem]:
    """Check names and minimums of limits. Null sets none, in every game."""
    for name, cents in chosen.items():
        where = f"limits.{name}"
        if cents is None:
            continue
        if name not in game.limits:
            yield Problem(where, f"{game.title} has no limit {name}", tuple(game.limits))
        elif cents < game.limits[name]:
            least = game.limits[name]
            yield Problem(where, f"{cents} is less than its section allows", _cents(least))


def _progressives(game: Game, chosen: Mapping[str, object]) -> Iterator[Problem]:
    """Check the terms of the meters that wagers feed, by wager."""
    meters = {meter.wager: meter for meter in game.meters}
    for wager, terms in chosen.items():
        where = f"progressives.{wager}"
        if wager not in meters:
            says = f"{game.title} has no progressive wager {wager}"
            yield Problem(where, says, tuple(meters))
        elif not isinstance(terms, dict):
            yield Problem(where, "these are no terms", (f"an object of {', '.join(TERMS)}",))
        else:
            for name, value in terms.items():
                yield from _term(f"{where}.{name}", meters[wager], name, value)


def _term(where: str, of: PrintedMeter, name: str, value: object) -> Iterator[Problem]:
    if name not in TERMS:
        yield Problem(where, f"a meter has no {name}", TERMS)
    elif name == "meter" and (not isinstance(value, str) or not value):
        yield Problem(where, f"{value!r} is no name", ("the name that its facts give the meter",))
    elif name == "rate" and rate_of(value) is None:
        says = f"{value!r} is no part of a wager"
        yield Problem(where, says, ("a part above 0 and up to 1, such as 1/10, 10% or 0.1",))
    elif name in AMOUNTS and amount_of(value, of.least) is None:
        yield Problem(
            where, f"{value!r} is not an amount that its section allows", _cents(of.least)
        )


def _cents(least: int) -> tuple[str]:
    return (f"an amount of {least} cents or more",)


def _paytables(game: Game, chosen: Mapping[str, str | Mapping[str, str]]) -> Iterator[Problem]:
    """Check letters of printed paytables, and rows with the holder's own odds."""
    printed: dict[str, list[Paytable]] = {}
    for table in game.paytables:
        for key in table.wagers:
            printed.setdefault(key, []).append(table)
    for key, value in chosen.items():
        where = f"paytables.{key}"
        if key not in printed:
            yield Problem(where, f"{game.title} has no paytable of {key}", tuple(printed))
        elif isinstance(value, str):
            letters = tuple(table.letter for table in printed[key] if table.letter)
            if value not in letters:
                yield Problem(where, f"there is no paytable {value} of {key}", letters)
        else:
            yield from _rows(where, printed[key][0], value)


def _rows(where: str, table: Paytable, odds: Mapping[str, str]) -> Iterator[Problem]:
    rows = {row.key: row for row in table.rows if row.key}
    for row, printed in odds.items():
        if row not in rows:
            yield Problem(f"{where}.{row}", f"there is no row {row}", tuple(rows))
        elif not readable(printed):
            says = f"{printed!r} are no odds"
            yield Problem(f"{where}.{row}", says, ("4 to 5", "10 for 1", "Push"))
        elif rows[row].too_low(printed):
            says = f"{printed} is less than the section allows"
            yield Problem(f"{where}.{row}", says, (rows[row].odds,))
