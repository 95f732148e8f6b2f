"""`logbook`: surveillance's log. An entry is corrected by a further one, and both stay."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from typing import Annotated

import typer

from consumers.review import desk as review_view
from consumers.review import log as entries
from consumers.review.log import LoggedEntry
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.facts import Attached
from replay.cli.shell.app import family
from replay.cli.shell.options import By, Casino, PasswordFile
from replay.cli.shell.people import INVESTIGATORS, signer
from replay.review import log
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, print_list, say
from replay.shell.zones import house_zones
from replay.text.times import read, stamp

app = family()
logbook = family()
app.add_typer(logbook, name="logbook", help="Write and read surveillance's log.")

CasinoOf = Annotated[str, typer.Option("--property", help="Casino, such as hollywood.")]
From = Annotated[str, typer.Option("--from", metavar="TIME", help="When it began.")]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="When it ended.")]
Place = Annotated[str, typer.Option(help="Place, such as CC-07.")]
What = Annotated[str, typer.Option(help="What happened.")]
Who = Annotated[list[str] | None, typer.Option(help="A person concerned; may be repeated.")]
Recorded = Annotated[str, typer.Option("--recorded", help="Recordings of it.")]
Disposition = Annotated[str, typer.Option("--done", help="What was done about it.")]
Round = Annotated[str, typer.Option("--round", help="A round to attach.")]


@contextmanager
def _opened() -> Iterator[tuple[Database, PostgresTape]]:
    with opened_views([review_view.VIEW]) as database, PostgresTape(database) as tape:
        yield database, tape


@logbook.command("list")
def list_(*, property_: Casino = None, json: Json = False) -> None:
    """List the newest entries, each as its last correction has it.

    Example: round-ledger logbook list
    """
    with _opened() as (database, _):
        found = entries.entries(database, property=property_)
        zones = house_zones(database)
    print_list(
        "Log",
        found,
        {
            "entry": lambda each: each.first.entry,
            "from": lambda each: stamp(each.now.from_us, zones.of(each.now.property), ms=False),
            "place": lambda each: each.now.place,
            "what": lambda each: each.now.what,
            "done": lambda each: each.now.disposition,
            "by": lambda each: each.now.written_by,
        },
        json=json,
        as_json=_as_json,
        whole="entry",
        none="Nothing is written in the log yet.",
    )


@logbook.command("add")
def add(  # noqa: PLR0913 - one option a field
    *,
    property_: CasinoOf,
    from_: From,
    to: To = None,
    place: Place,
    what: What,
    who: Who = None,
    recorded: Recorded,
    done: Disposition,
    round_: Round = "",
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Write an entry.

    Example: round-ledger logbook add --property hollywood --from "2026-11-20 21:05" --place CC-02
    --what "A drink was spilled" --recorded CC-02-cam1 --done "Layout changed" --by S-2001
    """
    with _opened() as (database, tape):
        by = signer(database, by, password_file, *INVESTIGATORS)
        zone = house_zones(database).of(property_)
        says = log.EntryText(
            *_times(from_, to, zone), place, what, who or [], recorded, done, _of(round_)
        )
        name = log.add(database, tape, property_, says, by, zone)
    _written(name, "written", json=json)


@logbook.command("correct")
def correct(  # noqa: PLR0913 - one option a field
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="Entry, from `logbook list`.")],
    *,
    property_: CasinoOf,
    from_: From,
    to: To = None,
    place: Place,
    what: What,
    who: Who = None,
    recorded: Recorded,
    done: Disposition,
    round_: Round = "",
    because: Annotated[str, typer.Option(help="Why it is corrected.")],
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Correct an entry by a further one.

    Example: round-ledger logbook correct L-2026-11-20-1 --property hollywood --from "2026-11-20
    21:05" --place CC-03 --what "A drink was spilled" --recorded CC-03-cam1 --done "Layout changed"
    --because "Wrong table" --by S-2001
    """
    with _opened() as (database, tape):
        by = signer(database, by, password_file, *INVESTIGATORS)
        zone = house_zones(database).of(property_)
        says = log.EntryText(
            *_times(from_, to, zone), place, what, who or [], recorded, done, _of(round_)
        )
        name = log.correct(database, tape, property_, entry, says, because, by)
    _written(name, "written as a correction", json=json)


def _times(from_: str, to: str | None, zone: tzinfo) -> tuple[int, int | None]:
    from_us = read(from_, zone, "--from")
    return from_us, read(to, zone, "--to", after_us=from_us) if to else None


def _of(round_: str) -> Sequence[Attached]:
    return log.moment(round_, "", None)


def _written(name: str, how: str, *, json: bool) -> None:
    if json:
        print_json({"entry": name})
        return
    say(f"Entry {name} {how}.")


def _as_json(each: LoggedEntry) -> dict[str, object]:
    now = each.now
    return {
        "entry": each.first.entry,
        "property": now.property,
        "from_us": now.from_us,
        "to_us": now.to_us,
        "place": now.place,
        "what": now.what,
        "who": [*now.who],
        "recorded_where": now.recorded_where,
        "disposition": now.disposition,
        "by": now.written_by,
        "corrections": [one.entry for one in each.corrections],
    }
