"""Answers a sentence from the views: hits with their money, totals, and what comes nearest.

Rounds named in `without` are left out of everything: hits, sums and near misses alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from consumers.rounds import hits, search
from replay.ask.house import House, HouseHours
from replay.ask.meaning import filters_of
from replay.text.times import stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from consumers.rounds.hits import HitLine
    from consumers.rounds.index import Round
    from consumers.rounds.search import Dealt, Filters, Order, OrderPlace, Totals
    from infra.postgres.connection import Database
    from ledger.values import RoundId
    from replay.ask.meaning import Chip

NEAREST_MAX = 6
"""The most rounds that are named if none fits."""

NEAREST_OF_EACH = 2

LACKING_MAX = 3
"""The most filters that a nearest round may lack."""


class Page(NamedTuple):
    """One page of hits, and where the next one begins; None: there is none."""

    rounds: Sequence[Round]
    details: Mapping[RoundId, Dealt]
    lines: Mapping[RoundId, Sequence[HitLine]]
    after: OrderPlace | None


@dataclass(frozen=True)
class Nearest:
    """A round that fits most of a sentence's filters, and what it lacks."""

    round: Round
    lacks: str


def house_of(database: Database, zone: tzinfo, hours: HouseHours) -> House:
    """What a sentence is read with: the names on record, and the house's clock and hours."""
    names = search.house_names(database)
    return House(
        zone=zone,
        day_start=hours.day_start,
        tables=names.tables,
        dealers=tuple(names.dealers),
        shifts=hours.by_shift(),
        newest_us=names.newest_us,
    )


def page_of(
    database: Database, filters: Filters, order: Order = "newest", after: OrderPlace | None = None
) -> Page:
    """The hits from a place on. One more is read, to know whether there is a next page."""
    wanted = min(filters.limit, search.SEARCH_ROWS_MAX - 1)
    found = search.ordered(database, replace(filters, limit=wanted + 1), order, after)
    shown = found[:wanted]
    rounds = [each for each, _ in shown]
    return Page(
        rounds,
        search.round_details(database, rounds),
        hits.lines(database, rounds, filters),
        shown[-1][1] if len(found) > wanted else None,
    )


def totals_of(database: Database, filters: Filters, without: Sequence[RoundId]) -> Totals:
    """The sums over all hits; withheld rounds are in none of them."""
    return search.totals(database, replace(filters, without=tuple(without)))


def nearest(
    database: Database, chips: Sequence[Chip], zone: tzinfo, without: Sequence[RoundId]
) -> list[Nearest]:
    """The rounds that come nearest to a sentence that none fits: they lack the fewest filters."""
    asking = [each for each in chips if each.values]
    found: dict[RoundId, Nearest] = {}
    for size in range(1, min(len(asking), LACKING_MAX + 1)):
        for left in combinations(asking, size):
            rest = [each for each in asking if each not in left]
            for round_, says in _lacking(database, left, rest, zone, without):
                found.setdefault(round_.id, Nearest(round_, says))
        if found:
            break
    return list(found.values())[:NEAREST_MAX]


def _lacking(
    database: Database,
    left: Sequence[Chip],
    rest: Sequence[Chip],
    zone: tzinfo,
    without: Sequence[RoundId],
) -> Iterator[tuple[Round, str]]:
    """The rounds that fit the rest, and how each misses the chips left out."""
    timed = [each for each in left if {"since_us", "until_us"} & set(each.values)]
    lacks = [f"no “{each.words}”" for each in left if each not in timed]
    for round_, says in _without(database, timed, rest, zone, without):
        yield round_, "; ".join((*says, *lacks))


def _without(
    database: Database,
    timed: Sequence[Chip],
    rest: Sequence[Chip],
    zone: tzinfo,
    without: Sequence[RoundId],
) -> Iterator[tuple[Round, list[str]]]:
    """The rounds that fit the rest; if a time was left out, the nearest ones before and after."""
    filters = filters_of(rest, limit=NEAREST_OF_EACH, without=tuple(without))
    if not timed:
        for round_ in search.search(database, filters):
            yield round_, []
        return
    asked = filters_of(timed)
    since_us, until_us = asked.since_us, asked.until_us
    beyond: list[Round] = []
    if since_us is not None and filters.until_us is None:
        beyond += search.search(database, replace(filters, until_us=since_us), "newest")
    if until_us is not None and filters.since_us is None:
        beyond += search.search(database, replace(filters, since_us=until_us), "oldest")
    middle = ((since_us or until_us or 0) + (until_us or since_us or 0)) // 2
    for round_ in sorted(beyond, key=lambda each: abs(each.began_us - middle))[:NEAREST_OF_EACH]:
        yield round_, [f"at {stamp(round_.began_us, zone, ms=False)}"]
