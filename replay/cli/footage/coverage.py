"""`footage coverage`: what was filmed of a round, or of a table while it was open."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.markup import escape

from consumers.cameras.cameras import CAMERAS, rows_about
from consumers.cameras.rows import the_property
from consumers.floor import openings, table_board
from consumers.rounds.index import ROUND_INDEX, ROUNDS, facts_of, find
from infra.postgres.view_tables import ViewStore, reading
from ledger.errors import NotFound, Usage
from ledger.facts import RoundStarted
from ledger.games import games
from ledger.record.wire import Fact, fact_of
from ledger.values import quantity
from replay.cameras.custody import times_of
from replay.cameras.picture_checks import filmed, happened_on_record, pictured
from replay.cameras.statement import (
    CameraCover,
    Cover,
    StatedTime,
    Statement,
    coverage_statement,
    statement_json,
)
from replay.cameras.timeline import SEEN
from replay.cli.footage.group import Property, library
from replay.cli.shell.app import family
from replay.cli.shell.options import require_gaming_day
from replay.footage.library.index import FootageIndex
from replay.rounds.reading import at_hand, footage_folder, resolve_round
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, printable, say, show_table
from replay.shell.zones import house_zones
from replay.text import times
from replay.text.times import length, localized, span

group = family()

VIEWS = (CAMERAS, openings.VIEW, ROUND_INDEX, table_board.VIEW)

_TABLES = tuple(table.name for each in VIEWS for table in each.tables)


class _About(NamedTuple):
    """The round or table's day, and the facts of its cameras."""

    property: str
    table: str
    stretches: Sequence[StatedTime]
    facts: Sequence[Fact]


@group.command("coverage")
def coverage(
    round_: Annotated[
        str | None,
        typer.Argument(
            metavar="ROUND",
            help="[property:]table/gaming day/number, such as CC-07/2026-11-20/231.",
        ),
    ] = None,
    *,
    table: Annotated[str | None, typer.Option(help="A table, while it was open.")] = None,
    gaming_day: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="With --table: YYYY-MM-DD.", callback=require_gaming_day),
    ] = None,
    property_: Property = None,
    footage: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of segments; default: the footage index."),
    ] = None,
    json: Json = False,
) -> None:
    """Print what was filmed of a round, or of a table while it was open.

    For each stationary camera of the table it prints how much it recorded and each gap with its
    cause, beside what 465a.9(c)(2) requires for the game. Frame rate and picture size come from
    files at hand; without one they are n/a. For a table's day it names every round that lacks
    footage. It also says which pictures are dark, blurred, moved or frozen, as `footage health`
    finds.

    Example: round-ledger footage coverage --table CC-02 --gaming-day 2026-11-20
    """
    with opened_views(VIEWS) as database, reading(database, _TABLES) as store:
        if round_ is not None and table is None and gaming_day is None:
            about = about_round(store, round_)
        elif round_ is None and table is not None and gaming_day is not None:
            about = _about_day(store, table, gaming_day, property_)
        else:
            raise Usage(
                "Name a round, or a table and a gaming day",
                where="footage coverage",
                hint="Give a round, such as CC-07/2026-11-20/231, or --table and --gaming-day.",
            )
        stated = state(store, about, footage_folder(footage))
        zone = house_zones(database).of(about.property)
    if json:
        print_json(statement_json(stated))
    else:
        draw_statement(stated, zone)


def state(store: ViewStore, about: _About, footage: Path | FootageIndex | None) -> Statement:
    """The statement of coverage, by the available files."""
    index = library()
    return coverage_statement(
        about.facts,
        about.property,
        about.table,
        about.stretches,
        at_hand(footage, about.facts),
        lambda sha256: filmed(index, sha256),
        pictured(index, happened_on_record(store)),
    )


def about_round(store: ViewStore, name: str) -> _About:
    """A round as one span. Raises `Usage`, `NotFound`."""
    round_ = resolve_round(store, name)
    facts = [fact_of(row) for row in facts_of(store, round_)]
    times = times_of(fact.time_us for fact in facts)
    if times is None:
        raise NotFound("No fact of it is on record", where=name, hint="See `round-ledger rounds`.")
    started = next((fact.body for fact in facts if isinstance(fact.body, RoundStarted)), None)
    game = started.game if started else find(store, round_).game or ""
    stretch = StatedTime(round_.subject, game, *times)
    rows = rows_about(store, round_.property, round_.table, *times)
    return _About(round_.property, round_.table, [stretch], [fact_of(row) for row in rows])


def _about_day(store: ViewStore, table: str, day: str, property_: str | None) -> _About:
    """A table's open times on a gaming day, and its rounds. Raises `NotFound`, `Usage`."""
    house = the_property(store, property_, table)
    open_ = openings.open_times(store, house, day, table)
    if not open_:
        raise NotFound(
            f"No fact on record says that {table} was open on {day}",
            where="view openings",
            hint="`round-ledger rounds` shows its days. A `table_opened` fact opens it.",
        )
    last_us = _last_told(store, house, table)
    stretches = [
        StatedTime("open", each.game, each.from_us, each.to_us or max(last_us, each.from_us),
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
        StatedTime(f"{table}/{day}/{number}", game or open_[0].game, began_us, ended_us)
        for number, game, began_us, ended_us in rounds
    ]
    return _About(house, table, stretches, [fact_of(row) for row in rows])


def _last_told(store: ViewStore, property_: str, table: str) -> int:
    """Device time of the table's latest fact: a table that was not closed is open until then."""
    rows = store.load(table_board.BOARD, [(property_, table)])
    return int(rows[property_, table].last_us) if rows else 0


def draw_statement(stated: Statement, zone: tzinfo) -> None:
    """Print each open time with its cameras and gaps, then rounds that lack footage."""
    if not stated.looked:
        say("No footage is available here: this follows from the recorded facts alone.")
    rounds = [each for each in stated.stretches if each.name != "open"]
    whole = rounds if len(rounds) == len(stated.stretches) else _open(stated)
    for each in whole:
        _draw(stated, each, zone)
    if whole is not rounds:
        _draw_rounds(rounds, zone)


def _open(stated: Statement) -> list[Cover]:
    return [each for each in stated.stretches if each.name == "open"]


def _draw(stated: Statement, cover: Cover, zone: tzinfo) -> None:
    game = games().get(cover.game)
    what = "open" if cover.name == "open" else cover.name
    title = f"{stated.table} · {what} · {game.title if game else cover.game or 'game not recorded'}"
    show_table(
        escape(printable(title)),
        ("camera", "covers", "kind", "recorded", "of", "clock", "frames/s", "size"),
        (_row(each) for each in cover.cameras),
        right="recorded of",
    )
    say(f"{span(cover.from_us, cover.to_us, zone)}{'' if cover.ended else ', and not closed yet'}")
    say(_verdict(cover))
    gaps = list(_gaps(cover, zone))
    if gaps:
        show_table("Without footage", ("camera", "state", "when", "why"), gaps)
    ails = [
        (each.camera, of.fault, span(of.from_us, of.to_us, zone), localized(of.says, zone))
        for each in cover.cameras
        for of in each.findings
    ]
    if ails:
        title = "Faults in pictures; still counted as recorded"
        show_table(title, ("camera", "finding", "when", "what"), ails)
    say(_pictured(cover))


def _row(each: CameraCover) -> tuple[object, ...]:
    rate = None if each.fps_min is None else f"{each.fps_min:g} to {each.fps_max:g}"
    known = f"{rate} ({each.looked_at} of {quantity(each.segments, 'file')})" if rate else None
    doubt_ms = None if each.plus_minus_us is None else times.whole_ms(each.plus_minus_us)
    clock = "never checked" if doubt_ms is None else f"±{doubt_ms} ms"
    clock += ", not checked within" if each.unchecked_us else ""
    locked = f", {length(each.locked_us)} locked" if each.locked_us else ""
    return (
        each.camera,
        " ".join(each.covers),
        each.kind,
        f"{length(each.recorded_us)}{locked}",
        length(each.mapped_us),
        clock,
        known,
        " ".join(each.sizes) or None,
    )


def _verdict(cover: Cover) -> str:
    if cover.due is None:
        return "465a.9(c)(2) prints no number of cameras for this game, so none is required."
    lacking = cover.to_us - cover.from_us - (cover.covered_us or 0)
    due = f"{cover.section}: stationary cameras required: {cover.due}."
    if cover.met:
        return f"{due} Met throughout."
    return f"{due} Not met for {length(lacking)} of {length(cover.to_us - cover.from_us)}."


def _pictured(cover: Cover) -> str:
    """How many segments had pictures checked, and how many findings there are."""
    segments = sum(each.segments for each in cover.cameras)
    seen = sum(each.pictured for each in cover.cameras)
    told = f"Pictures were checked of {seen:,} of {quantity(segments, 'segment')}"
    found = sum(len(each.findings) for each in cover.cameras)
    says = f"{told}: {quantity(found, 'finding')}." if seen else f"{told}."
    return says if seen == segments else f"{says} `footage health` checks all available ones."


def _gaps(cover: Cover, zone: tzinfo) -> Iterator[tuple[str, str, str, str]]:
    for each in cover.cameras:
        for piece in each.pieces:
            if piece.state not in SEEN:
                when = span(piece.from_us, piece.to_us, zone)
                yield each.camera, piece.state.replace("_", " "), when, localized(piece.says, zone)
    if not cover.cameras:
        yield "none", "no camera mapped", span(cover.from_us, cover.to_us, zone), "No camera."


def _draw_rounds(rounds: list[Cover], zone: tzinfo) -> None:
    """Print the rounds that lack footage, or that none does."""
    short = [each for each in rounds if each.met is False]
    judged = sum(each.met is not None for each in rounds)
    say(f"Rounds: {len(rounds)}; with the required cameras throughout: {judged - len(short)}.")
    if short:
        show_table(
            "Rounds without all required footage",
            ("round", "lacking", "of", "why"),
            (
                (
                    each.name,
                    length(each.to_us - each.from_us - (each.covered_us or 0)),
                    length(each.to_us - each.from_us),
                    localized("; ".join(dict.fromkeys(piece.says for piece in each.short)), zone),
                )
                for each in short
            ),
            right="lacking of",
        )
    ails = [
        (each.name, camera.camera, ", ".join(dict.fromkeys(of.fault for of in camera.findings)))
        for each in rounds
        for camera in each.cameras
        if camera.findings
    ]
    if ails:
        title = "Rounds with faults in pictures"
        show_table(title, ("round", "camera", "findings"), ails)
