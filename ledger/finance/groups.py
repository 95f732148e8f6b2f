"""Wins summed by shift, game, pit or house: one for each group, currency and gaming day."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import msgspec

from ledger.finance.statistics.expected import summed
from ledger.finance.win import (
    OF_BANKED,
    OF_POKER,
    AuditException,
    BoxContent,
    Cause,
    CouponFigures,
    GameOfDay,
    Grade,
    Item,
    TableWin,
    TournamentFigures,
    game_name,
    rake_in,
    with_coupons,
)
from ledger.values import merged_order, sum_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

By = Literal["table", "shift", "game", "pit", "house"]
Part = TypeVar("Part", Item, Cause, AuditException)

_SUMS = (
    *("opener", "fills", "credits", "closer", "counted", "moved", "owed", "cage_paid", "handle"),
    *("count_gap", "pay_gap", "bank_variance"),
)
_OF_GAME = ("moved", "cage_paid", "handle", "rake")
_OF_TRAY = frozenset(("opener", "closer"))


def grouped(wins: Iterable[TableWin], by: By) -> list[TableWin]:
    """One win a group and gaming day, in order of property, day and group; `table` is None then.

    Shifts are in order of time.

    By shift: `wins` are of tables and shifts. A table of several games or pits is in a group of
    its own, named after them all: no count parts its money. A group of a closed day sums what was
    signed; what came later to any of its tables stands beside.
    """
    wins = list(wins)
    if by == "table":
        return [msgspec.structs.replace(each, pit=msgspec.UNSET) for each in wins]
    groups: dict[tuple[str, str, str, str], list[TableWin]] = {}
    for each in wins:
        of = {"game": game_name(each), "pit": each.pit, "shift": each.shift, "house": None}
        key = (each.property, each.gaming_day, of[by] or "", each.currency)
        groups.setdefault(key, []).append(each)
    times = {name: nth for nth, name in enumerate(shift_order(wins))} if by == "shift" else {}
    order = sorted(groups, key=lambda key: (*key[:2], times.get(key[2], 0), *key[2:]))
    return [_group(groups[key], by) for key in order]


def shift_order(wins: Iterable[TableWin]) -> list[str]:
    """The shifts of tables in order of time, in which each table's own wins are.

    A shift that one table lacks stands before the next one that it has in common with others.
    """
    tables: dict[tuple[str, str, str | None], list[str]] = {}
    for each in wins:
        tables.setdefault((each.property, each.gaming_day, each.table), []).append(each.shift or "")
    return merged_order(tables.values())


def _group(wins: Sequence[TableWin], by: By) -> TableWin:
    """The sums of a group, of a closed day without the tables that its version lacks."""
    signed = [each for each in wins if each.version]
    return msgspec.structs.replace(
        _summed(signed or wins, by),
        exceptions=[part for each in wins for part in _of_table(each.table, each.exceptions)],
        late=[ref for each in wins for ref in each.late],
        pending=_pending(wins),
    )


def of_versions(wins: Iterable[TableWin]) -> list[TableWin]:
    """Wins without those of tables that the version of a closed day lacks: no sum has them."""
    found = list(wins)
    closed = {(each.property, each.gaming_day) for each in found if each.version}
    return [
        each for each in found if each.version or (each.property, each.gaming_day) not in closed
    ]


def over_days(wins: Iterable[TableWin]) -> list[TableWin]:
    """One win a table over several days: the first opener, the last closer, sums of the rest.

    Its gaming day is the last one; `missing` names the day of what lacks. A closed day counts as
    it was signed.
    """
    tables: dict[tuple[str, str, str], list[TableWin]] = {}
    for each in sorted(of_versions(wins), key=lambda each: each.gaming_day):
        tables.setdefault((each.property, each.table or "", each.currency), []).append(each)
    return [_over(tables[key]) for key in sorted(tables)]


def games_of(wins: Iterable[TableWin]) -> list[GameOfDay]:
    """What the rounds of each game say at some tables, or on some days, in order of game.

    That of a table with one game has its amends.
    """
    games: dict[str, list[GameOfDay]] = defaultdict(list)
    for of in wins:
        for each in of.games or (_whole(of),):
            games[each.game or ""].append(each)
    return [_sum_of_game(games[name]) for name in sorted(games)]


def _whole(of: TableWin) -> GameOfDay:
    """What the rounds of a table with one game say."""
    return GameOfDay(
        game=of.game,
        moved=of.moved,
        owed=of.owed,
        pay_gap=of.pay_gap,
        cage_paid=of.cage_paid,
        handle=of.handle,
        rake=rake_in(of),
        expected=of.expected,
    )


def _sum_of_game(its: Sequence[GameOfDay]) -> GameOfDay:
    sums = {name: sum(getattr(each, name) for each in its) for name in _OF_GAME}
    return GameOfDay(
        game=its[0].game,
        owed=sum_known(each.owed for each in its),
        pay_gap=sum_known(each.pay_gap for each in its),
        expected=summed((each.owed, each.expected) for each in its),
        **sums,
    )


def _over(days: Sequence[TableWin]) -> TableWin:
    """A table over several days. Game and pit are those of the last day that names one."""
    last = days[-1]
    names = {game_name(each) for each in days} - {None}
    is_of_several = len(names) > 1 or any(each.games for each in days)
    of_rounds = [each for each in days if each.game or each.moved or each.handle]
    return msgspec.structs.replace(
        _summed(days, "table"),
        table=last.table,
        gaming_day=last.gaming_day,
        game=next((each.game for each in reversed(days) if each.game), None),
        games=games_of(of_rounds) if is_of_several else msgspec.UNSET,
        pit=next((each.pit for each in reversed(days) if each.pit), None),
        opener=days[0].opener,
        closer=last.closer,
        missing=[f"{each.gaming_day}: {name}" for each in days for name in each.missing],
    )


def houses(wins: Sequence[TableWin]) -> list[TableWin]:
    """The sum of each house and gaming day that has several wins."""
    several = Counter((each.property, each.gaming_day) for each in wins)
    found = grouped(wins, "house")
    return [each for each in found if several[each.property, each.gaming_day] > 1]


def _summed(wins: Sequence[TableWin], by: By) -> TableWin:
    """The sums of several tables' wins. A figure that one of them lacks is None."""
    first = wins[0]
    drops = [msgspec.structs.asdict(each.drop) for each in wins]
    found = msgspec.structs.replace(
        first,
        table=None,
        game=game_name(first) if by == "game" else None,
        games=games_of(wins) if by == "game" and first.games else msgspec.UNSET,
        pit=first.pit if by == "pit" else msgspec.UNSET,
        shift=first.shift if by == "shift" else msgspec.UNSET,
        grade=lowest_grade(wins),
        version=min(each.version for each in wins),
        **{name: _total(wins, name) for name in _SUMS},
        drop=BoxContent(**{name: sum_known(drop[name] for drop in drops) for name in drops[0]}),
        coupons=CouponFigures(
            counted=sum_known(each.coupons.counted for each in wins),
            funded=sum(each.coupons.funded for each in wins),
        ),
        tournaments=_tournaments(wins),
        seconds=None,
        items=[part for each in wins for part in _of_table(each.table, each.items)],
        causes=[part for each in wins for part in _of_table(each.table, each.causes)],
        exceptions=[part for each in wins for part in _of_table(each.table, each.exceptions)],
        missing=[f"{each.table}: {name}" for each in wins for name in each.missing],
        expected=summed((each.owed, each.expected) for each in wins),
        expected_lacks=[
            f"{each.table}: {name}" for each in wins for name in each.expected_lacks or ()
        ]
        or msgspec.UNSET,
        told={},
        late=[ref for each in wins for ref in each.late],
        pending=_pending(wins),
    )
    return msgspec.structs.replace(found, told=_told(wins, with_coupons(found)))


def _told(wins: Sequence[TableWin], sums: Mapping[str, int | None]) -> dict[str, int | None]:
    """The figures without corrections, where they differ; None where an input is missing."""
    found: dict[str, int | None] = {}
    own = [with_coupons(each) for each in wins]
    for name in dict.fromkeys(name for each in wins for name in each.told):
        # A table that lacks a figure by its kind, as poker what is owed, adds nothing.
        parts = [
            each.told.get(name, of[name] if sums[name] is None else of[name] or 0)
            for each, of in zip(wins, own, strict=True)
        ]
        if (total := sum_known(parts)) != sums[name]:
            found[name] = total
    return found


def lowest_grade(wins: Iterable[TableWin]) -> Grade:
    """The lowest grade of some wins, of which there is one or more."""
    return min((each.grade for each in wins), key=get_args(Grade).index)


def _of_table(table: str | None, parts: Iterable[Part]) -> Iterator[Part]:
    """Items, causes or exceptions with the name of their table."""
    return (msgspec.structs.replace(each, table=table) for each in parts)


def _tournaments(wins: Sequence[TableWin]) -> TournamentFigures | msgspec.UnsetType:
    """The sums of tournaments; unset if no table has one."""
    found = [each.tournaments for each in wins if each.tournaments]
    if not found:
        return msgspec.UNSET
    names = ("entries", "prizes", "win")
    return TournamentFigures(**{name: sum(getattr(each, name) for each in found) for name in names})


def _pending(wins: Sequence[TableWin]) -> dict[str, int | None]:
    """The sums of what late facts would change."""
    names = dict.fromkeys(name for each in wins for name in each.pending)
    return {name: sum_known(each.pending.get(name, 0) for each in wins) for name in names}


def _total(wins: Sequence[TableWin], name: str) -> int | None:
    """The sum of one figure; of tables that have none by their kind, the others' sum."""
    kept = [getattr(each, name) for each in wins if not _has_no(each, name)]
    return sum_known(kept) if kept else None


def _has_no(of: TableWin, name: str) -> bool:
    """Whether a table has no such figure by its kind: poker, or tournaments without a tray."""
    if name in _OF_TRAY:
        lacks = {each.rpartition(": ")[2] for each in of.missing}  # with its day, of a period
        return getattr(of, name) is None and name not in lacks
    return name in (OF_BANKED if of.owed is None else OF_POKER)
