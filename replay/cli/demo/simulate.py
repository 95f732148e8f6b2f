"""`simulate`: deals a floor at random, plants mistakes, draws camera footage."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ledger.errors import Refused, Usage
from ledger.games import games
from ledger.simulate import (
    CAMERA_FAULTS,
    DEALT,
    MISREADINGS,
    MISTAKES,
    FilmedWindow,
    Plan,
    WrittenFloor,
    cameras_of,
    happenings,
    plan_of,
    write,
)
from ledger.values import parse_subject, quantity
from replay.cli.shell.app import family
from replay.cli.shell.options import require_gaming_day
from replay.footage.simulated.filming import film
from replay.roster.signed_floor import sign_floor
from replay.shell.output import Json, print_json, progress, say

app = family()

_MISTAKE = re.compile(r"([a-z_]+)(?:=(\d{1,6}))?")
_AROUND_US = 5_000_000  # filmed before and after a round
_MISTAKES_WORD = "mistakes"


@app.command("simulate", epilog="Mistakes: " + ", ".join((*MISTAKES, *MISREADINGS)) + ".")
def simulate(  # noqa: PLR0913 - one option a choice
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder to create.")],
    *,
    tables: Annotated[int, typer.Option(min=1, max=1000, help="Number of tables.")] = 4,
    game: Annotated[
        list[str] | None, typer.Option(metavar="GAME", help="Only this game; may be repeated.")
    ] = None,
    hours: Annotated[float, typer.Option(min=0.05, max=20, help="Hours of play.")] = 8.0,
    seats: Annotated[int, typer.Option(min=1, max=16, help="Patrons per table, at most.")] = 5,
    seed: Annotated[int, typer.Option(help="The same seed deals the same facts.")] = 1,
    mistake: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COUNT", help="Plant mistakes; may be repeated."),
    ] = None,
    footage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Draw a table, a round, or `mistakes` (a minute around each); may be repeated.",
        ),
    ] = None,
    cameras: Annotated[int, typer.Option(min=1, max=4, help="Cameras drawn per table.")] = 1,
    camera_fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CAMERA=FAULT",
            help="Draw a camera `blocked`, `moved`, `frozen` (the middle third of each film) or "
            "with a wrong `clock`, for example CC-01-cam1=frozen; may be repeated.",
        ),
    ] = None,
    strip: Annotated[
        bool,
        typer.Option("--strip", help="Draw small pictures, with the time as a strip of cells."),
    ] = False,
    gaming_day: Annotated[
        str, typer.Option(metavar="DAY", help="YYYY-MM-DD.", callback=require_gaming_day)
    ] = "2026-11-20",
    property_: Annotated[str, typer.Option("--property", help="The casino.")] = "hollywood",
    sign: Annotated[
        bool, typer.Option("--sign", help="Let each device sign, with a key made in `keys/`.")
    ] = False,
    json: Json = False,
) -> None:
    """Deal a floor at random, with mistakes and footage.

    Writes `feed.jsonl` and `truth.jsonl`. If footage is drawn, it also writes `shots/`, `footage/`
    and the recorder's facts in `footage.jsonl`. With `--sign` the facts are signed; `keys load`
    puts the keys of `keys/roster.jsonl` on the roster.

    Example: round-ledger simulate --hours 1 --mistake overpay=2 --footage mistakes --out floor
    """
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise Refused(
            "The output folder already exists",
            where=str(out),
            hint="Name a new folder with --out.",
        )
    plan = _plan(
        tables=tables,
        minutes=round(hours * 60),
        seats=seats,
        seed=seed,
        mistakes=_mistakes(mistake or ()),
        gaming_day=gaming_day,
        property_=property_,
        only=game or (),
    )
    windows = _windows(plan, footage or ())
    faults = _camera_faults(plan, camera_fault or (), cameras)
    with progress("deal") as advance:
        written = write(
            plan,
            out,
            lambda facts: advance(0, doing=f"deal: {quantity(facts, 'fact')}"),
            film=windows,
            cameras_max=cameras,
            strip=strip,
            faults=faults,
        )
    segments = _filmed(plan, written, out)
    keys = sign_floor(out) if sign else 0
    counted = {
        "facts": written.facts,
        "rounds": written.rounds,
        "planted": len(written.planted),
        "segments": segments,
        "keys": keys,
    }
    if json:
        print_json(counted)
        return
    told = ", ".join(f"{count:,} {what}" for what, count in counted.items())
    feeds = f"{out / 'feed.jsonl'}" + (f" {out / 'footage.jsonl'}" if segments else "")
    say(f"{told}. Ingest them with: round-ledger ingest {feeds}")


def _filmed(plan: Plan, written: WrittenFloor, out: Path) -> int:
    """Draw the requested footage; the number of segments."""
    if not written.shots:
        return 0
    with progress("draw footage", len(written.shots)) as advance:
        return film(
            plan,
            written.shots,
            out / "footage",
            out / "footage.jsonl",
            lambda _done, _total: advance(),
        )


def _plan(
    *, tables: int, only: Sequence[str], seats: int, mistakes: dict[str, int], **rest: object
) -> Plan:
    """The plan of these options. Raises `Usage`."""
    unknown = sorted(set(only) - set(games()))
    if unknown:
        raise Usage(
            f"There is no game `{unknown[0]}`",
            where="--game",
            hint=f"Name one of {', '.join(sorted(games()))}.",
        )
    try:
        return plan_of(
            tables=tables,
            seats=seats,
            mistakes=mistakes,
            of=only or DEALT,
            **rest,  # type: ignore[arg-type] # the options above, by their names
        )
    except ValueError as error:
        raise Usage(str(error), where="simulate", hint="See `simulate --help`.") from error


def _mistakes(told: Sequence[str]) -> dict[str, int]:
    """The number of mistakes of each kind. Raises `Usage`."""
    found: dict[str, int] = {}
    for each in told:
        match = _MISTAKE.fullmatch(each)
        if match is None or match[1] not in (*MISTAKES, *MISREADINGS):
            raise Usage(
                f"`{each}` is not a mistake that can be planted",
                where="--mistake",
                hint=f"Give NAME=COUNT with one of {', '.join((*MISTAKES, *MISREADINGS))}.",
            )
        found[match[1]] = found.get(match[1], 0) + int(match[2] or 1)
    return found


def _camera_faults(plan: Plan, told: Sequence[str], drawn: int) -> dict[str, set[str]]:
    """The faults of each camera. Raises `Usage`."""
    names = {each.name for table in plan.tables for each in cameras_of(plan, table)[:drawn]}
    found: dict[str, set[str]] = {}
    for each in told:
        camera, _, fault = each.partition("=")
        if camera not in names or fault not in CAMERA_FAULTS:
            raise Usage(
                f"`{each}` is not a fault of a camera that is drawn",
                where="--camera-fault",
                hint=f"Give CAMERA=FAULT with one of {', '.join(sorted(names))} and one of "
                f"{', '.join(CAMERA_FAULTS)}.",
            )
        found.setdefault(camera, set()).add(fault)
    return found


def _windows(plan: Plan, told: Sequence[str]) -> list[FilmedWindow] | None:
    """What to film; None is a minute around each mistake. Raises `Usage`."""
    if _MISTAKES_WORD in told:
        if len(told) > 1:
            raise Usage(
                "`mistakes` cannot be combined with tables or rounds",
                where="--footage",
                hint="Draw tables and rounds in another run with the same seed.",
            )
        return None
    tables = {table.table for table in plan.tables}
    found = [FilmedWindow(each, plan.opens_us, plan.closes_us) for each in told if each in tables]
    rounds = {each for each in told if each not in tables}
    for each in sorted(rounds):
        round_ = parse_subject(each, plan.property)
        if round_ is None or round_.table not in tables:
            raise Usage(
                f"`{each}` is not a table or round of this floor",
                where="--footage",
                hint=f"Name one of {', '.join(sorted(tables))}, a round of one, or `mistakes`.",
            )
    return found + _of_rounds(plan, rounds)


def _of_rounds(plan: Plan, rounds: set[str]) -> list[FilmedWindow]:
    """The times of rounds, found by dealing them. Raises `Usage`."""
    times: dict[str, list[int]] = {}
    if rounds:
        for each, _ in happenings(plan):
            subject = each.fact.round.subject if each.fact.round else None
            if subject in rounds:
                times.setdefault(subject, []).append(each.true_us)
    if rounds - times.keys():
        raise Usage(
            f"Round {min(rounds - times.keys())} is not dealt",
            where="--footage",
            hint="Deal for longer, or name an earlier round.",
        )
    return [
        FilmedWindow(subject.partition("/")[0], min(at) - _AROUND_US, max(at) + _AROUND_US)
        for subject, at in sorted(times.items())
    ]
