"""`footage coverage`: what was filmed of a round, or of a table while it was open."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from consumers.cameras.cameras import CAMERAS, rows_about
from consumers.cameras.rows import the_property
from consumers.floor import openings, table_board
from consumers.rounds.index import ROUND_INDEX, ROUNDS, facts_of, find
from infra.postgres.view_tables import Store, reading
from ledger.errors import NotFound, Usage
from ledger.facts import RoundStarted
from ledger.record.wire import Fact, fact_of
from replay.cameras.custody import times_of
from replay.cameras.picture_checks import filmed, happened_on_record, pictured
from replay.cameras.statement import Statement, Stretch, coverage_statement, statement_json
from replay.cli.footage.coverage_text import draw_statement
from replay.cli.footage.group import Property, library
from replay.cli.shell.app import family
from replay.footage.library.files import FootageIndex, open_footage
from replay.footage.library.index import Library
from replay.rounds.reading import footage_folder, opened_views, resolve_round
from replay.shell.output import Json, print_json
from replay.shell.settings import in_force

group = family()

VIEWS = (CAMERAS, openings.VIEW, ROUND_INDEX, table_board.VIEW)

_TABLES = tuple(table.name for each in VIEWS for table in each.tables)


class _About(NamedTuple):
    """What is spoken of, and the facts of the cameras over its table."""

    property: str
    table: str
    stretches: Sequence[Stretch]
    facts: Sequence[Fact]


@group.command("coverage")
def coverage(
    round_: Annotated[
        str | None, typer.Argument(metavar="[ROUND]", help="[property:]table/gaming day/number")
    ] = None,
    *,
    table: Annotated[str | None, typer.Option(help="A table, while it was open.")] = None,
    gaming_day: Annotated[str | None, typer.Option(help="With --table: YYYY-MM-DD.")] = None,
    property_: Property = None,
    footage: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where segments lie; else the footage index."),
    ] = None,
    json: Json = False,
) -> None:
    """State what was filmed of a round, or of a table while it was open.

    Each stationary camera on the table: how much it recorded, and each gap with its cause, beside
    what 465a.9(c)(2) asks of the game. Frame rate and picture size are those of files at hand, n/a
    where there is none. Of a table's day every round that lacks footage is named, too. Where its
    pictures are dark, blurred, moved or frozen is told beside it, as `footage health` finds it.

    Example: round-ledger footage coverage --table CC-07 --gaming-day 2026-11-20
    """
    with opened_views(VIEWS) as base, reading(base, _TABLES) as store:
        if round_ is not None and table is None and gaming_day is None:
            about = about_round(store, round_)
        elif round_ is None and table is not None and gaming_day is not None:
            about = _about_day(store, table, gaming_day, property_)
        else:
            raise Usage(
                "Name a round, or a table and a gaming day",
                where="footage coverage",
                hint="As CC-07/2026-11-20/231, or --table CC-07 --gaming-day 2026-11-20.",
            )
        stated = state(store, about, footage_folder(footage))
    if json:
        print_json(statement_json(stated))
    else:
        draw_statement(stated, in_force().time_zone)


def state(store: Store, about: _About, footage: Path | Library | None) -> Statement:
    """The statement, by the files at hand."""
    index = library()
    at_hand: FootageIndex | None = None
    if isinstance(footage, Library):
        at_hand = footage.at_hand(about.facts)
    elif footage is not None:
        at_hand = open_footage(footage, about.facts)
    return coverage_statement(
        about.facts,
        about.property,
        about.table,
        about.stretches,
        at_hand,
        lambda sha256: filmed(index, sha256),
        pictured(index, happened_on_record(store)),
    )


def about_round(store: Store, name: str) -> _About:
    """A round as one stretch. Raises `Usage`, `NotFound`."""
    round_ = resolve_round(store, name)
    facts = [fact_of(row) for row in facts_of(store, round_)]
    times = times_of(fact.time_us for fact in facts)
    if times is None:
        raise NotFound("No fact of it is on record", where=name, hint="See `round-ledger rounds`.")
    started = next((fact.body for fact in facts if isinstance(fact.body, RoundStarted)), None)
    game = started.game if started else find(store, round_).game or ""
    stretch = Stretch(round_.subject, game, *times)
    rows = rows_about(store, round_.property, round_.table, *times)
    return _About(round_.property, round_.table, [stretch], [fact_of(row) for row in rows])


def _about_day(store: Store, table: str, day: str, property_: str | None) -> _About:
    """A table's open times on a gaming day, and its rounds. Raises `NotFound`, `Usage`."""
    house = the_property(store, property_, table)
    open_ = openings.open_times(store, house, day, table)
    if not open_:
        raise NotFound(
            f"Nothing says that {table} was open on {day}",
            where="view openings",
            hint="`table_opened` facts say so; see `round-ledger rounds` for its days.",
        )
    last_us = _last_told(store, house, table)
    stretches = [
        Stretch("open", each.game, each.from_us, each.to_us or max(last_us, each.from_us),
                ended=each.to_us is not None)
        for each in open_
    ]  # fmt: skip
    rows = rows_about(
        store, house, table, stretches[0].from_us, max(each.to_us for each in stretches)
    )
    rounds = store.query(
        f"SELECT number, game, began_us, coalesce(ended_us, began_us) FROM {{schema}}.{ROUNDS.name}"  # noqa: S608 - our own name
        " WHERE property = %(property)s AND table_name = %(table)s AND gaming_day = %(day)s"
        " ORDER BY number",
        {"property": house, "table": table, "day": day},
    )
    stretches += [
        Stretch(f"{table}/{day}/{number}", game or open_[0].game, began_us, ended_us)
        for number, game, began_us, ended_us in rounds
    ]
    return _About(house, table, stretches, [fact_of(row) for row in rows])


def _last_told(store: Store, property_: str, table: str) -> int:
    """Device time of the table's latest fact: until then an unclosed table is known to be open."""
    rows = store.load(table_board.BOARD, [(property_, table)])
    return int(rows[property_, table][2]) if rows else 0
