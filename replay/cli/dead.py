"""`dlq`: records that the alerts could not be made from, looked at and handled again."""

import base64
from typing import Annotated

import typer

from consumers import alerting
from infra.alerts import Alerts
from infra.kafka.group import Dead, dead_letters
from infra.postgres import Database
from ledger.errors import NotFound
from replay.cli.app import family
from replay.cli.errors import FINDINGS
from replay.cli.opened import opened_database
from replay.cli.output import Json, print_json, say, show_table
from replay.cli.reached import kafka
from replay.cli.settings import in_force

app = family()
group = family()
app.add_typer(group, name="dlq", help="Look at dead letters, and handle them again.")

SHOWN_OCTETS = 1_000

Places = Annotated[
    list[str] | None, typer.Argument(metavar="PLACE...", help="As `dlq list` prints them.")
]


@group.command("list")
def list_(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Those that were handled since, too.")
    ] = False,
    json: Json = False,
) -> None:
    """List dead letters that were not handled yet.

    Exit code 1 where there are any.

    Example: round-ledger dlq list
    """
    with opened_database() as base:
        found = _letters(base, everything=everything)
    if json:
        for letter in found.values():
            print_json(_told(letter))
    else:
        columns = ("place", "came from", "reason", "tries")
        rows = [[str(cell) for cell in list(_told(each).values())[:4]] for each in found.values()]
        show_table("Dead letters", columns, rows)
    if found:
        raise typer.Exit(FINDINGS)


@group.command("show")
def show(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="As `dlq list` prints it.")],
    *,
    json: Json = False,
) -> None:
    """Show a dead letter as it came: its headers, and the first of its octets.

    Example: round-ledger dlq show 0@17
    """
    with opened_database() as base:
        letter = _one(_letters(base, everything=True), place)
    record = letter.original.record
    headers = {name: value.decode(errors="replace") for name, value in record.headers}
    octets = (record.value or b"")[:SHOWN_OCTETS]
    if json:
        told = _told(letter) | {"headers": headers, "bytes": base64.b64encode(octets).decode()}
        print_json(told)
        return
    show_table("Headers", ("name", "value"), headers.items())
    say(octets.decode(errors="replace"))


@group.command("replay")
def replay(places: Places = None, *, json: Json = False) -> None:
    """Handle dead letters again, all of them or those named, once their cause is mended.

    What succeeds is noted and listed no more; the topic itself is never changed. Exit code 1 where
    one fails again.

    Example: round-ledger dlq replay 0@17
    """
    with opened_database() as base:
        open_ = _letters(base, everything=False)
        chosen = {each: _one(open_, each) for each in places} if places else open_
        letters = [
            (each.original, each.record.partition, each.record.offset) for each in chosen.values()
        ]
        told = alerting.replay(base, kafka(), in_force(), letters) if letters else []
    for place, failed in zip(chosen, told, strict=True):
        if json:
            print_json({"place": place, "replayed": failed is None, "reason": failed})
        else:
            say(f"{place}: {failed or 'handled'}.")
    if any(told):
        raise typer.Exit(FINDINGS)


def _letters(base: Database, *, everything: bool) -> dict[str, Dead]:
    with base.connect("ledger_reader") as connection:
        done = Alerts(base, connection).replayed(alerting.DEAD)
    return {
        f"{each.record.partition}@{each.record.offset}": each
        for each in dead_letters(kafka(), alerting.DEAD)
        if everything or (each.record.partition, each.record.offset) not in done
    }


def _one(letters: dict[str, Dead], place: str) -> Dead:
    if place in letters:
        return letters[place]
    raise NotFound(
        f"There is no dead letter {place}",
        where=alerting.DEAD,
        hint="See `round-ledger dlq list --all`; a place is <partition>@<offset>.",
    )


def _told(each: Dead) -> dict[str, object]:
    original = each.original
    return {
        "place": f"{each.record.partition}@{each.record.offset}",
        "from": f"{original.topic}/{original.record.partition}@{original.record.offset}",
        "reason": each.reason,
        "tries": each.tries,
    }
