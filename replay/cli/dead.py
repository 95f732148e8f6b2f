"""`dlq`: records that the alerts could not be made from, looked at and handled again."""

import base64
from typing import Annotated, NamedTuple

import typer

from consumers import alerting
from infra.alerts import Alerts, Replayed
from infra.door import at_the_machine
from infra.kafka.dead import Dead, dead_letters, identity
from infra.postgres import Database
from ledger.errors import NotFound
from ledger.values import format_time
from replay.asking import written
from replay.cli.app import family
from replay.cli.errors import FINDINGS
from replay.cli.opened import opened_database
from replay.cli.output import Json, print_json, say, show_table
from replay.cli.reached import kafka
from replay.cli.settings import in_force
from replay.web.logs import log_to_stderr

app = family()
group = family()
app.add_typer(group, name="dlq", help="Look at dead letters, and handle them again.")

SHOWN_OCTETS = 1_000

Places = Annotated[
    list[str] | None, typer.Argument(metavar="PLACE...", help="As `dlq list` prints them.")
]


class Letter(NamedTuple):
    """A dead letter, and whether it was handled since."""

    dead: Dead
    replayed: Replayed | None


@group.command("list")
def list_(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Those that were handled since, too.")
    ] = False,
    json: Json = False,
) -> None:
    """List dead letters that were not handled yet.

    Exit code 1 where there are any. With `--all` it says who had one handled, and when.

    Example: round-ledger dlq list
    """
    with opened_database() as base:
        found = _letters(base, everything=everything)
    if json:
        for letter in found.values():
            print_json(_told(letter))
    else:
        columns = {"place": "place", "from": "came from", "reason": "reason", "tries": "tries"}
        if everything:
            columns |= {"replayed_at": "handled", "replayed_by": "by"}
        rows = [[str(_told(each)[name] or "") for name in columns] for each in found.values()]
        show_table("Dead letters", tuple(columns.values()), rows)
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
    record = letter.dead.original.record
    headers = {name: value.decode(errors="replace") for name, value in record.headers}
    octets = (record.value or b"")[:SHOWN_OCTETS]
    if json:
        told = _told(letter) | {"headers": headers, "bytes": base64.b64encode(octets).decode()}
        print_json(told)
        return
    show_table("Headers", ("name", "value"), headers.items())
    say(octets.decode(errors="replace"))


@group.command("replay")
def replay(
    places: Places = None,
    *,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="EMPLOYEE",
            help="Your credential number; else this login's name.",
            callback=lambda text: text and written(text, "--by"),
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Handle dead letters again, all of them or those named, once their cause is mended.

    What succeeds is noted with who had it done, and listed no more; the topic itself is never
    changed. Each try is logged. Exit code 1 where one fails again.

    Example: round-ledger dlq replay 0@17 --by S-2001
    """
    log_to_stderr()
    with opened_database() as base:
        open_ = _letters(base, everything=False)
        chosen = {each: _one(open_, each) for each in places} if places else open_
        letters = [
            (each.original, each.record.partition, each.record.offset)
            for each, _ in chosen.values()
        ]
        who = by or at_the_machine().name
        told = alerting.replay(base, kafka(), in_force(), letters, who) if letters else []
    for place, failed in zip(chosen, told, strict=True):
        if json:
            print_json({"place": place, "replayed": failed is None, "reason": failed})
        else:
            say(f"{place}: {failed or 'handled'}.")
    if any(told):
        raise typer.Exit(FINDINGS)


def _letters(base: Database, *, everything: bool) -> dict[str, Letter]:
    dead = identity(kafka(), alerting.DEAD)
    with base.connect("ledger_reader") as connection:
        done = Alerts(base, connection).replayed(dead)
    found = [
        Letter(each, done.get((each.record.partition, each.record.offset)))
        for each in dead_letters(kafka(), alerting.DEAD)
    ]
    return {_place(each): each for each in found if everything or not each.replayed}


def _one(letters: dict[str, Letter], place: str) -> Letter:
    if place in letters:
        return letters[place]
    raise NotFound(
        f"There is no dead letter {place}",
        where=alerting.DEAD,
        hint="See `round-ledger dlq list --all`; a place is <partition>@<offset>.",
    )


def _told(letter: Letter) -> dict[str, object]:
    dead, replayed = letter
    original = dead.original
    return {
        "place": _place(letter),
        "from": f"{original.topic}/{original.record.partition}@{original.record.offset}",
        "reason": dead.reason,
        "tries": dead.tries,
        "octets": dead.octets,
        "replayed_at": replayed and format_time(replayed.at_us),
        "replayed_by": replayed and replayed.by,
    }


def _place(letter: Letter) -> str:
    return f"{letter.dead.record.partition}@{letter.dead.record.offset}"
