"""Footage taken out by a command: on record before a file of it is handed out, or not at all."""

import getpass
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.facts import FootageExported
from ledger.values import format_time
from replay.recording.house_facts import made, put_all, screen

By = Annotated[str | None, typer.Option("--by", metavar="WHO", help="Credential of who takes it.")]
Because = Annotated[str, typer.Option("--because", metavar="TEXT", help="Why, for the record.")]


class Taken(NamedTuple):
    """What of a camera is copied out; by its own clock, microseconds."""

    camera: str
    from_us: int
    to_us: int


def tell_exports(
    base: Database, property_: str, taken: Sequence[Taken], by: str | None, because: str
) -> None:
    """Put on record that footage is copied out, all of it or nothing.

    by: None stands for whoever is logged in here. Raises `Usage`, `Unavailable`, as `put_all` does.
    """
    if not taken:
        return
    who = by or f"console-{getpass.getuser()}"
    source = screen(property_, "console")
    bodies = [
        FootageExported(
            camera=each.camera,
            from_=format_time(each.from_us),
            to=format_time(each.to_us),
            by=who,
            because=because,
        )
        for each in taken
    ]
    with PostgresTape(base) as tape:
        put_all(tape, [made(body, source) for body in bodies])
