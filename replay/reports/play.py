"""Reports of play: handle and hold by wager (465a.1(c)(3)), Poker's rake, and the tax of a week."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from consumers.finance.sealed import sealed_wins
from consumers.rounds.search_index import DEALERS_AT_END, POSTS
from consumers.rulings.tables import MONEY, RULINGS, SETTLEMENTS, SUBMISSIONS, submission_rows
from infra.postgres.view_tables import reading
from ledger.adjudication.submissions import filed, kept_rules
from ledger.edges.spread import means
from ledger.finance.exceptions import TWO_KINDS
from ledger.finance.groups import lowest_grade, of_versions
from ledger.finance.win import game_name, rake_in
from ledger.games import games
from ledger.record.wire import fact_of
from ledger.rules.engine.steps import POT
from ledger.values import RoundId, sum_known
from replay.reports.kind import columns, days_between, first_day
from replay.reports.table import ReportColumn
from replay.shell.zones import house_zones
from replay.text.times import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.adjudication.submissions import RulesFor
    from ledger.finance.win import TableWin
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

WAGERS = (
    *columns("game wager", counts="rounds wagers"),
    *columns(money="handle pushed collected paid cage_paid win"),
    ReportColumn("hold", "percent"),
    *columns(money="moved theoretical"),
)

_BY_WAGER = f"""
SELECT r.game, s.wager, count(DISTINCT (r.table_name, r.gaming_day, r.number)), count(*),
       sum(s.stake)::bigint,
       coalesce(sum(s.stake) FILTER (WHERE s.outcome = 'push'), 0)::bigint,
       coalesce(-sum(s.net) FILTER (WHERE s.net < 0), 0)::bigint,
       coalesce(sum(s.net) FILTER (WHERE s.net > 0 AND s.paid_from = 'table'), 0)::bigint,
       coalesce(sum(s.net) FILTER (WHERE s.net > 0 AND s.paid_from <> 'table'), 0)::bigint
  FROM {{schema}}.{RULINGS.name} r
  JOIN {{schema}}.{SETTLEMENTS.name} s USING (property, table_name, gaming_day, number)
 WHERE r.property = %(property)s AND r.gaming_day BETWEEN %(since)s AND %(day)s
   AND s.wager <> %(pot)s AND r.game IS NOT NULL
 GROUP BY r.game, s.wager ORDER BY r.game, s.wager
"""  # noqa: S608 - our own names

_STAKED = f"""
SELECT r.game, s.wager, r.table_name, r.gaming_day, sum(s.stake)::bigint
  FROM {{schema}}.{RULINGS.name} r
  JOIN {{schema}}.{SETTLEMENTS.name} s USING (property, table_name, gaming_day, number)
 WHERE r.property = %(property)s AND r.gaming_day BETWEEN %(since)s AND %(day)s
   AND s.wager <> %(pot)s AND s.outcome <> 'void' AND r.game IS NOT NULL
 GROUP BY r.game, s.wager, r.table_name, r.gaming_day
"""  # noqa: S608 - as above

_MISPAID = f"""
SELECT m.game, i ->> 'wager', sum((i ->> 'amount')::bigint)::bigint
  FROM {{schema}}.{MONEY.name} m CROSS JOIN json_array_elements(m.details::json -> 'items') i
 WHERE m.property = %(property)s AND m.gaming_day BETWEEN %(since)s AND %(day)s
   AND m.details IS NOT NULL AND m.game IS NOT NULL
 GROUP BY m.game, i ->> 'wager'
"""  # noqa: S608 - as above

_AWAITING = f"""
SELECT m.game, count(*), (sum(m.handle) - sum((SELECT coalesce(sum(s.stake), 0)
          FROM {{schema}}.{SETTLEMENTS.name} s
         WHERE (s.property, s.table_name, s.gaming_day, s.number)
             = (m.property, m.table_name, m.gaming_day, m.number))))::bigint
  FROM {{schema}}.{MONEY.name} m
  JOIN {{schema}}.{RULINGS.name} r USING (property, table_name, gaming_day, number)
 WHERE m.property = %(property)s AND m.gaming_day BETWEEN %(since)s AND %(day)s
   AND NOT m.poker AND m.game IS NOT NULL AND r.status = 'awaiting'
 GROUP BY m.game ORDER BY m.game
"""  # noqa: S608 - as above

UNSETTLED = "awaits a ruling"
"""The line of what a game has at risk in rounds whose wagers cannot all be settled."""

_ROUNDS = f"""
SELECT table_name, count(*) FROM {{schema}}.{MONEY.name}
 WHERE property = %(property)s AND gaming_day BETWEEN %(since)s AND %(day)s AND poker
 GROUP BY table_name
"""  # noqa: S608 - as above


def by_wager(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each wager of each game: what was at risk, what it won by the rulings, and what moved.

    Wagers that cannot be settled yet are one line of their game, so that its handle is that of
    `win`.
    Theoretical is the handle times the exact edge of the paytables in force; null without an edge
    on file. Void wagers are no part of it.
    """
    of = {"property": asked.property, "since": asked.since, "day": asked.gaming_day, "pot": POT}
    views = [each.name for each in (RULINGS, SETTLEMENTS, MONEY, SUBMISSIONS)]
    with reading(asked.database, views) as store:
        rows = {(game, wager): sums for game, wager, *sums in store.query(_BY_WAGER, of)}
        mispaid = {(game, wager): amount for game, wager, amount in store.query(_MISPAID, of)}
        rules_for = kept_rules(filed(map(fact_of, submission_rows(store, asked.property))))
        expected = _theoretical(asked.property, store.query(_STAKED, of), rules_for)
        awaiting = store.query(_AWAITING, of)
    for game, wager in sorted({*rows, *mispaid}):
        rounds, wagers, handle, pushed, collected, paid, cage = rows.get((game, wager), [0] * 7)
        known = games()[game].wager(wager) if game in games() else None
        win = collected - paid
        hold = round(Fraction(10_000 * win, handle)) if handle else None
        yield (
            games()[game].title if game in games() else game, known.name if known else wager,
            rounds, wagers, handle, pushed, collected, paid, cage, win, hold,
            win + mispaid.get((game, wager), 0), expected.get((game, wager)),
        )  # fmt: skip
    for game, rounds, handle in awaiting:
        title = games()[game].title if game in games() else game
        yield title, UNSETTLED, rounds, None, handle, *(None for _ in WAGERS[5:])


def _theoretical(
    property_: str, staked: Iterable[tuple[Any, ...]], rules_for: RulesFor
) -> dict[tuple[str, str], int | None]:
    """What each wager leaves the house on average, whole cents; None: an edge is not on file."""
    sums: dict[tuple[str, str], Fraction | None] = {}
    for game, wager, table, day, cents in staked:
        edge = None
        if game in games():
            edge = means(rules_for(games()[game], RoundId(property_, table, day, 1))).get(wager)
        so_far = sums.get((game, wager), Fraction(0))
        sums[game, wager] = None if edge is None or so_far is None else so_far + edge * cents
    return {of: None if each is None else round(each) for of, each in sums.items()}


class RoundPlace(NamedTuple):
    """When a round ended, who dealt it, and the stakes of its wagers in cents."""

    time: str | None = None
    dealers: str | None = None
    stakes: Mapping[tuple[Any, ...], int] = {}


_PLACES = f"""
SELECT w.round, r.last_us, (
    SELECT string_agg(d.employee, ', ' ORDER BY d.employee) FROM ({DEALERS_AT_END}) d),
    (SELECT json_agg(json_build_array(s.position, s.hand, s.wager, s.throw, s.stake))
       FROM {{schema}}.{SETTLEMENTS.name} s WHERE (s.property, s.table_name, s.gaming_day, s.number)
         = (r.property, r.table_name, r.gaming_day, r.number))
  FROM unnest(%(rounds)s::text[]) AS w (round)
  JOIN {{schema}}.{RULINGS.name} r ON r.property = %(property)s
   AND r.table_name = split_part(w.round, '/', 1) AND r.gaming_day = split_part(w.round, '/', 2)
   AND r.number = split_part(w.round, '/', 3)::int
"""  # noqa: S608 - as above


def round_places(asked: AskedReport, rounds: Sequence[str]) -> dict[str, RoundPlace]:
    """The places of some rounds by their subjects, `CC-07/2026-11-20/231`."""
    if not rounds:
        return {}
    zone = house_zones(asked.database).of(asked.property)
    views = [each.name for each in (RULINGS, SETTLEMENTS, POSTS)]
    of = {"property": asked.property, "rounds": sorted(set(rounds))}
    with reading(asked.database, views) as store:
        return {
            name: RoundPlace(
                stamp(last_us, zone, ms=False),
                dealers,
                {tuple(each[:4]): each[4] for each in stakes or ()},
            )
            for name, last_us, dealers, stakes in store.query(_PLACES, of)
        }


RAKE = (
    *columns("table game grade", "rake counted difference bank_variance", "rounds"),
    *columns(money="handle"),
)


def rake(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each table of Poker: the rake on record and in the boxes, and the imprest bank.

    A table that also played against the house has the rake and handle of its poker alone: its
    boxes, its tray and its counted win have both.
    """
    of = {"property": asked.property, "since": asked.since, "day": asked.gaming_day}
    with reading(asked.database, [MONEY.name]) as store:
        rounds: dict[str | None, int] = dict(store.query(_ROUNDS, of))
    for each in asked.wins:
        amounts = (each.moved, each.counted, each.count_gap, each.bank_variance)
        its = [of.handle for of in each.games or () if of.owed is None]
        if (kind := _kind(each)) != BANKED:
            is_poker = kind == POKER
            yield (
                each.table, game_name(each), each.grade,
                *(amounts if is_poker else (rake_in(each) or None, None, None, None)),
                rounds.get(each.table, 0), each.handle if is_poker else sum(its) if its else None,
            )  # fmt: skip


POKER, BANKED, BOTH = "poker", "banked games", "poker and banked games"
"""The kinds of a table's revenue (601a.9(b)). No count says what each has of both."""


def _kind(of: TableWin) -> str:
    if any(each.code == TWO_KINDS for each in of.exceptions):
        return BOTH
    return POKER if of.owed is None else BANKED


RATE = 1_200
"""Tax on the revenue of a table game, hundredths of a percent: 4 Pa.C.S. 13A62(a)."""

TAX = (*columns("day kind grade", "revenue"), ReportColumn("rate", "percent"), *columns("", "tax"))


def tax_week(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """The tax of each day from Monday to the gaming day: games, Poker and tournaments apart.

    A closed day counts as it was signed. Their sum ends it. A day that lacks a count has no
    revenue, and then the week has none.
    """
    revenues: list[int | None] = []
    taxes: list[int | None] = []
    for day in days_between(first_day(asked.gaming_day, "week"), asked.gaming_day):
        found = sealed_wins.read(
            asked.database, property=asked.property, gaming_day=day, kept=asked.kept
        )
        for kind, its in sorted(_revenues(of_versions(found)).items()):
            revenue = sum_known(amount for _, amount in its)
            tax = None if revenue is None else round(Fraction(revenue * RATE, 10_000))
            yield day, kind, lowest_grade(win for win, _ in its), revenue, RATE, tax
            revenues.append(revenue)
            taxes.append(tax)
    yield "week", None, None, sum_known(revenues), RATE, sum_known(taxes)


def _revenues(found: Sequence[TableWin]) -> dict[str, list[tuple[TableWin, int | None]]]:
    """The revenue of each table by kind (601a.9(b)); None: a count is missing."""
    kinds: dict[str, list[tuple[TableWin, int | None]]] = defaultdict(list)
    for each in found:
        kinds[_kind(each)].append((each, each.counted))
        if each.tournaments:
            kinds["tournaments"].append((each, each.tournaments.win))
    return kinds
