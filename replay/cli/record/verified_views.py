"""`verify --views`: the views beside what the record gives."""

import typer

from consumers.registry import VIEWS
from consumers.runtime.compare_views import ComparedView, compare
from consumers.runtime.stopping import until_signalled
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import LIVE, opened, tape_source
from ledger.values import quantity
from replay.cli.shell.errors import STOPPED
from replay.shell.output import print_json, progress, say


def verify_views(database: Database, *, json: bool) -> bool:
    """Compare every view there is with the record, and say what differs; whether nothing does."""
    with opened(database, LIVE) as store:
        there = store.tracked()
    with PostgresTape(database) as tape:
        end = tape.counters().appended
    is_whole = True
    with until_signalled() as stop, progress("views", end * len(there)) as advance:
        for view in (each for each in VIEWS if each.name in there):
            at = 0

            def passed(name: str, position: int) -> None:
                nonlocal at
                advance(max(0, position - at), doing=f"view {name}")
                at = max(at, position)

            with tape_source(database) as source:
                seen = compare(database, source, view, progress=passed, stop=stop)
            if seen is None:
                say("Stopped: views are as they were.")
                raise typer.Exit(STOPPED)
            _tell(seen, json=json)
            is_whole = is_whole and not seen.broken
    return is_whole


def _tell(seen: ComparedView, *, json: bool) -> None:
    if json:
        for each in seen.breaks:
            print_json({"view": seen.view, "broken": each._asdict()})
        print_json(
            {"view": seen.view, "position": seen.position, "rows": seen.rows, "breaks": seen.broken}
        )
        return
    for each in seen.breaks:
        key = ", ".join(f"{name} {value}" for name, value in each.key.items())
        say(f"View {seen.view}: a row of {each.table} was {each.what}: {key}.")
    if seen.broken > len(seen.breaks):
        say(f"The list of view {seen.view} ends here, at {quantity(len(seen.breaks), 'row')}.")
    if seen.broken:
        many = quantity(seen.broken, "row is not", "rows are not")
        say(f"View {seen.view}: {many} what the record gives. `rebuild {seen.view}` puts it right.")
    else:
        say(f"View {seen.view} is what the record gives: {quantity(seen.rows, 'row')}.")
