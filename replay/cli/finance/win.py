"""`win`: the three wins of tables' gaming days, with every cent of their gaps explained."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from consumers.finance import papers, wins
from consumers.finance.sealed import sealed_wins
from ledger.errors import Usage
from ledger.finance.groups import By, grouped, houses
from ledger.finance.win import TableWin, game_name
from ledger.values import quantity
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay, TableName
from replay.recording.sealed_days import versions_folder
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_lines, say, show_table
from replay.shell.settings import in_force
from replay.text.wins import FIGURES, explained, figures, graded, rake_apart

app = family()


@app.command("win")
def win(
    *,
    table: TableName = None,
    gaming_day: GamingDay = None,
    by: Annotated[
        By,
        typer.Option(help="A line for each table, or the sums of a shift, game, pit or house."),
    ] = "table",
    version: Annotated[
        int | None, typer.Option(min=1, help="What this version of a closed day said.")
    ] = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Show the three wins of a gaming day: counted, moved and owed.

    Counted: closer + credits + drop - opener - fills, as the counts and slips say (601a.9(c)).
    Moved: what the chips on record say. Owed: what the rules say of every round. The count gap is
    counted less moved, the pay gap moved less owed; every cent of both is listed below with its
    facts. A figure that lacks a count is n/a (null in JSON), never 0. A closed day has the figures
    of its last version; what came later is listed with what it would change. --version prints the
    same bytes for ever.

    Example: round-ledger win --gaming-day 2026-11-20
    """
    if version is not None and gaming_day is None:
        raise Usage("A version is of one day", where="--version", hint="Give --gaming-day, too.")
    kept = versions_folder(in_force().home)
    with opened_views(sealed_wins.VIEWS, property_) as database:
        asked: dict[str, Any] = {"property": property_, "table": table, "gaming_day": gaming_day}
        asked["by_shift"] = by == "shift"
        if version is None:
            found = sealed_wins.read(database, kept=kept, **asked)
        else:
            found = sealed_wins.of_version(database, version, kept=kept, **asked)
        if table and not found:
            papers.require_table(database, property_, table)
        waiting = 0 if found else wins.money_without_day(database, property_)
    shown = grouped(found, by)
    if json:
        print_lines(shown)
        return
    if waiting:
        wait = "waits" if waiting == 1 else "wait"
        say(
            f"{quantity(waiting, 'fact')} of money {wait} for a gaming day: no table was opened, "
            "and none got a box. Record `table_opened` or `drop_box_attached`."
        )
    elif not shown:
        say("No money is on record for this day and table.")
    tables = _by_day(found)
    for day, groups in _by_day(shown).items():
        _show_day(groups, by)
        _explain(tables[day], groups, by)


def _by_day(found: Iterable[TableWin]) -> dict[tuple[str, str], list[TableWin]]:
    days: dict[tuple[str, str], list[TableWin]] = {}
    for each in found:
        days.setdefault((each.property, each.gaming_day), []).append(each)
    return days


def _show_day(found: Sequence[TableWin], by: By) -> None:
    """Print the wins of a gaming day."""
    first = found[0]
    sums = houses(found) if by not in ("house", "shift") else ()
    rows = [*((_name(each, by), each) for each in found), *(("house", each) for each in sums)]
    show_table(
        f"{first.property} · {first.gaming_day} · win",
        (by, "grade", *FIGURES),
        ((name, graded(each), *figures(each)) for name, each in rows),
        right=" ".join(FIGURES),
    )
    for name, each in rows:
        if apart := rake_apart(each):
            say(f"{name} · {apart}")


def _explain(tables: Iterable[TableWin], groups: Sequence[TableWin], by: By) -> None:
    """Print what explains the gaps of each table, and what is open: in the order of the groups."""
    order = [_name(each, by) for each in groups]
    for each in sorted(tables, key=lambda of: order.index(_name(of, by))):
        group = _name(each, by)
        name = group if by == "table" else f"{group} · {each.table}"
        for line in explained(each):
            say(f"{name} · {line}")


def _name(each: TableWin, by: By) -> str:
    names = {
        "table": each.table,
        "shift": each.shift or "no shift",
        "game": game_name(each) or "no game",
        "pit": each.pit or "no pit",
        "house": None,
    }
    return names[by] or "house"
