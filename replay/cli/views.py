"""`consume` and `rebuild`: keep views at the end of the record, or make one anew from it.

Thin over `consumers`. Reading commands bring their views along by themselves; on a floor one
`consume --follow` does it for everybody.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from consumers.catalogue import VIEWS, install, view
from consumers.following import follow_on
from consumers.projection import Projection, catch_up, until_signalled
from consumers.projection import rebuild as rebuild_one
from infra.postgres import Database, kept_running
from infra.tape import PostgresTape
from infra.views import tape_source
from ledger.errors import Unavailable
from replay.cli.app import family
from replay.cli.errors import STOPPED
from replay.cli.opened import opened_database
from replay.cli.output import Json, print_json, progress, say
from replay.cli.settings import in_force
from replay.web.logs import LOG, log_to_stderr

ALL = "all"

app = family()

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Views, or `all`.")]


@app.command("consume")
def consume(
    names: Names,
    *,
    stay: Annotated[
        bool, typer.Option("--follow", help="Keep them there until stopped by a signal.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring views to the end of the record.

    Views that do not exist yet are made. Stopping loses nothing: a view's rows and the position
    they reach are written together. With `--follow` being stopped is the usual end; a server that
    goes away is connected to again as often as need be, and the log on stderr (JSON Lines) says so.

    Example: round-ledger consume all --follow
    """
    chosen = _chosen(names)
    with opened_database() as base, until_signalled() as stop, _bar(base) as passed:
        install(base)
        if stay:
            log_to_stderr()
            with kept_running(in_force()):
                position = follow_on(base, chosen, progress=passed, stop=stop, lost=_lost)
        else:
            with tape_source(base) as source:
                position = catch_up(base, source, chosen, progress=passed, stop=stop)
        stopped = stop() and not stay
    if position is None:
        say("Stopped while PostgreSQL was away; views go on from the positions they have.")
        return
    for each in chosen:
        if json:
            print_json({"view": each.name, "version": each.version, "position": position})
        else:
            say(f"View {each.name} has reached position {position:,}.")
    if stopped:
        raise typer.Exit(STOPPED)


@app.command("rebuild")
def rebuild(names: Names, *, json: Json = False) -> None:
    """Make views anew from the record, then put them in place.

    The live view answers until the new one has caught up; readers see one or the other, whole.

    Example: round-ledger rebuild rulings
    """
    chosen = _chosen(names)
    with opened_database() as base, until_signalled() as stop, _bar(base) as passed:
        for each in chosen:
            with tape_source(base) as source:
                done = rebuild_one(base, source, each, progress=passed, stop=stop)
            if not done:
                say(f"Stopped: view {each.name} is as it was.")
                raise typer.Exit(STOPPED)
            if json:
                print_json({"view": each.name, "version": each.version, "rebuilt": True})
            else:
                say(f"View {each.name} is rebuilt.")


def _lost(error: Unavailable, pause_s: float) -> None:
    figures = {"what": error.what, "where": error.where, "again_in_s": pause_s}
    LOG.warning("the record is away", extra={"figures": figures})


def _chosen(names: Sequence[str]) -> Sequence[Projection]:
    return VIEWS if ALL in names else [view(name) for name in names]


@contextmanager
def _bar(base: Database) -> Iterator[Callable[[str, int], None]]:
    """Progress by position, towards the end the record has now."""
    with PostgresTape(base) as tape:
        end = tape.counters().appended
    with progress("views", end) as advance:
        at = 0

        def passed(name: str, position: int) -> None:
            nonlocal at
            advance(position - at, doing=f"view {name}")
            at = position

        yield passed
