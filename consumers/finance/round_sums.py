"""The money of rounds, summed in SQL from the row that the view `rulings` keeps of each round."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from consumers.rounds.search_index import DEALERS_AT_END
from consumers.rulings.tables import MONEY
from ledger.finance.rounds import RoundMoney
from ledger.finance.statistics.expected import sum_of
from ledger.finance.table_day import SUMS, GameRounds, RoundsMoney, details, together
from ledger.rules.engine.ruling import FactRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey
    from ledger.finance.shifts import ShiftTime

WHERE = (
    "(%(property)s::text IS NULL OR property = %(property)s)"
    " AND (%(table)s::text IS NULL OR table_name = %(table)s)"
    " AND (%(days)s::text[] IS NULL OR gaming_day = ANY (%(days)s))"
)
"""Rounds of a property, table and gaming days, each if it is given."""

_OF_DAYS = f"SELECT m.*, NULL::text AS shift FROM {{schema}}.{MONEY.name} m WHERE {WHERE}"  # noqa: S608 - put together from constants
_OF_SHIFTS = f"""
SELECT m.*, w.shift
  FROM unnest(%(properties)s::text[], %(days)s::text[], %(tables)s::text[], %(shifts)s::text[],
              %(sinces)s::bigint[], %(untils)s::bigint[])
       AS w (property, gaming_day, table_name, shift, since_us, until_us)
  JOIN {{schema}}.{MONEY.name} m USING (property, gaming_day, table_name)
  JOIN {{schema}}.rulings r USING (property, table_name, gaming_day, number)
 WHERE r.last_us >= w.since_us AND r.last_us < w.until_us
"""  # noqa: S608 - as above


class _DetailedRound(NamedTuple):
    """A round with differences, corrections, or money that awaits a fact."""

    name: str  # "CC-07/2026-11-20/231"
    number: int
    now: RoundMoney
    recorded: RoundMoney | None  # without corrections; None: there are none


_REFS = list[list[FactRef]]

Group = tuple[str, str, str, str | None]
"""Property, gaming day, table, and shift or dealer."""


def of_days(
    store: ViewStore, asked: Mapping[str, object], *, recorded: bool, detailed: bool = True
) -> dict[DayKey, RoundsMoney]:
    """The money of days, with corrections or as recorded. `asked`: the parameters of `WHERE`.

    detailed: with items and exceptions. Sums as recorded need them.
    """
    found = _summed(store, _OF_DAYS, asked, recorded=recorded, detailed=detailed)
    return {(property_, day, table): of for (property_, day, table, _), of in found.items()}


def of_shifts(
    store: ViewStore, times: Mapping[DayKey, Sequence[ShiftTime]], *, detailed: bool = True
) -> dict[DayKey, dict[str | None, RoundsMoney]]:
    """The money of the shifts of days, with corrections."""
    rows = [(*key, *each) for key, its in times.items() for each in its]
    names = ("properties", "days", "tables", "shifts", "sinces", "untils")
    asked = {name: [row[nth] for row in rows] for nth, name in enumerate(names)}
    found: dict[DayKey, dict[str | None, RoundsMoney]] = {key: {} for key in times}
    for (property_, day, table, shift), of in _summed(
        store, _OF_SHIFTS, asked, detailed=detailed
    ).items():
        found[property_, day, table][shift] = of
    return found


_OF_DEALERS = f"""
SELECT m.*, p.employee AS shift FROM {{schema}}.{MONEY.name} m
  JOIN {{schema}}.rulings r USING (property, gaming_day, table_name, number)
 CROSS JOIN LATERAL ({DEALERS_AT_END}) p
 WHERE m.property = %(property)s AND m.gaming_day = ANY (%(days)s::text[])
"""  # noqa: S608 - as above


def of_dealers(store: ViewStore, property_: str, days: Sequence[str]) -> dict[Group, RoundsMoney]:
    """The money of rounds of some days by day, table and dealer, with corrections.

    A round is of each dealer who stood at its table when its last fact happened.
    """
    return _summed(store, _OF_DEALERS, {"property": property_, "days": list(days)})


def _summed(
    store: ViewStore,
    rounds: str,
    asked: Mapping[str, object],
    *,
    recorded: bool = False,
    detailed: bool = True,
) -> dict[Group, RoundsMoney]:
    """The money of rounds by group; `rounds`: the query that gives their rows with their shift."""
    details = _details(store, rounds, asked) if detailed else {}
    rake = _rake(store, rounds, asked) if detailed else {}
    parts: dict[Group, list[_SummedRounds]] = defaultdict(list)
    for property_, day, table, shift, *summed in store.query(_PARTS.format(rounds=rounds), asked):
        of_part = [*summed[:_OF_PART], summed[_OF_PART:]]
        parts[property_, day, table, shift].append(_SummedRounds._make(of_part))
    found = {
        group: _detailed(_together(its), details.get(group, ()), recorded=recorded)
        for group, its in parts.items()
    }
    for group, its in found.items():
        took = rake.get(group, {})
        for each in details.get(group, ()) if recorded else ():
            if each.recorded:
                took[each.number] = each.recorded.rake_facts
        found[group] = its._replace(rake_facts=tuple(r for n in sorted(took) for r in took[n]))
    return found


def _rake(
    store: ViewStore, rounds: str, asked: Mapping[str, object]
) -> dict[Group, dict[int, list[FactRef]]]:
    """The facts that took rake, with corrections, by group and number of the round."""
    found = store.query(
        "SELECT property, gaming_day, table_name, shift, array_agg(number ORDER BY number),"  # noqa: S608 - values are parameters
        " '[' || string_agg(took_rake, ',' ORDER BY number) || ']'"
        f" FROM ({rounds}) m WHERE took_rake IS NOT NULL GROUP BY 1, 2, 3, 4",
        asked,
    )
    return {
        tuple(group): dict(zip(numbers, msgspec.json.decode(text, type=_REFS), strict=True))
        for *group, numbers, text in found
    }


def _details(
    store: ViewStore, rounds: str, asked: Mapping[str, object]
) -> dict[Group, list[_DetailedRound]]:
    """The rounds with differences, corrections, or money that awaits a fact, by group."""
    details: dict[Group, list[_DetailedRound]] = defaultdict(list)
    for *group, number, told, before in store.query(
        "SELECT property, gaming_day, table_name, shift, number, details::text,"  # noqa: S608 - values are parameters
        f" recorded::text FROM ({rounds}) m WHERE details IS NOT NULL ORDER BY number",
        asked,
    ):
        of = (f"{group[2]}/{group[1]}/{number}", number, _money(told))
        details[tuple(group)].append(_DetailedRound(*of, _money(before) if before else None))
    return details


class _SummedRounds(NamedTuple):
    """The sums of a group's rounds of one game whose moments have one denominator."""

    game: str | None
    first: int  # number of the first of them
    poker: bool
    lacks: str | None
    mean_over: str
    mean: str | None
    variance_over: str
    variance: str | None
    sums: Sequence[int | None]  # as `SUMS`


_OF_PART = len(_SummedRounds._fields) - 1

# One pass over the rows. A denominator is a group of its own, so that numerators add up.
_PARTS = f"""
SELECT property, gaming_day, table_name, shift, game, min(number), bool_or(poker), lacks,
       split_part(mean, '/', 2), sum(split_part(mean, '/', 1)::numeric)::text,
       split_part(variance, '/', 2), sum(split_part(variance, '/', 1)::numeric)::text,
       {", ".join(f"sum({name})::bigint" for name in SUMS)}
  FROM ({{rounds}}) m
 GROUP BY property, gaming_day, table_name, shift, game, lacks,
       split_part(mean, '/', 2), split_part(variance, '/', 2)
"""  # noqa: S608 - put together from constants


def _together(parts: Sequence[_SummedRounds]) -> RoundsMoney:
    """The money of a group's rounds."""
    games: dict[str | None, list[_SummedRounds]] = defaultdict(list)
    for each in parts:
        games[each.game].append(each)
    named = [each for each in parts if each.game is not None]
    first = min(named, key=lambda each: each.first, default=None)
    return together(first.game if first else None, (_of_game(*each) for each in games.items()))


def _of_game(game: str | None, parts: Sequence[_SummedRounds]) -> GameRounds:
    """The money of a group's rounds of one game."""
    lacks = {wager for each in parts if each.lacks for wager in each.lacks.split(",")}
    return GameRounds(
        game,
        any(each.poker for each in parts),
        {name: sum(each.sums[nth] or 0 for each in parts) for nth, name in enumerate(SUMS)},
        sum_of(
            (f"{each.mean}/{each.mean_over or 1}", f"{each.variance}/{each.variance_over or 1}")
            for each in parts
            if each.mean is not None
        ),
        tuple(sorted(lacks)),
    )


def _money(text: str) -> RoundMoney:
    return msgspec.json.decode(text, type=RoundMoney)


def _detailed(of: RoundsMoney, rounds: Iterable[_DetailedRound], *, recorded: bool) -> RoundsMoney:
    """Summed rounds with the items of those that have any, with corrections or as recorded."""
    sums: dict[str, Any] = {name: getattr(of, name) for name in SUMS}
    chosen = []
    for each in rounds:
        money = each.recorded if recorded and each.recorded else each.now
        for name in SUMS:
            sums[name] += (getattr(money, name) or 0) - (getattr(each.now, name) or 0)
        chosen.append((each.name, money))
    return of._replace(**sums, **details(chosen))
