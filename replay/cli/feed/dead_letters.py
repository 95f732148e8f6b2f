"""`dlq`: dead letters, the records that alerts could not be made from."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from consumers.alerts import process
from infra.access.connections import local_actor
from infra.kafka.dead_letters import Dead, Letters, dead_letters, identity
from infra.postgres.alerts import Alerts, Replayed
from infra.postgres.connection import Database
from ledger.errors import NotFound
from ledger.values import format_time
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.options import PasswordFile
from replay.cli.shell.people import signer
from replay.shell.connections import opened_database
from replay.shell.kafka import kafka
from replay.shell.logs import log_to_stderr
from replay.shell.output import Json, print_json, say, show_table
from replay.shell.settings import in_force
from replay.shell.zones import house_zones
from replay.text.typed import written

app = family()
group = family()
app.add_typer(group, name="dlq", help="Show dead letters, and process them again.")

SHOWN_OCTETS = 1_000

Places = Annotated[
    list[str] | None, typer.Argument(metavar="PLACE", help="Such as 0@17, from `dlq list`.")
]


class Letter(NamedTuple):
    """A dead letter, and whether it was processed since."""

    dead: Dead
    replayed: Replayed | None


class Shelf(NamedTuple):
    """The dead letters, read one by one: together they may be too large for memory."""

    database: Database
    letters: Letters
    done: Mapping[tuple[int, int], Replayed]

    def each(self, *, everything: bool) -> Iterator[Letter]:
        """Every letter; without `everything` only unprocessed ones."""
        for dead in self.letters:
            letter = self._letter(dead)
            if everything or not letter.replayed:
                yield letter

    def at(self, place: str, *, everything: bool) -> Letter:
        """The letter at a place; only it is read. Raises `NotFound`."""
        partition, _, offset = place.partition("@")
        if (partition + offset).isdecimal() and partition and offset:
            dead = self.letters.at(int(partition), int(offset))
            letter = dead and self._letter(dead)
            if letter and (everything or not letter.replayed):
                return letter
        raise NotFound(
            f"There is no dead letter {place}",
            where=kafka().named(process.DEAD),
            hint="See `round-ledger dlq list --all`; a place is <partition>@<offset>.",
        )

    def _letter(self, dead: Dead) -> Letter:
        return Letter(dead, self.done.get((dead.record.partition, dead.record.offset)))


@group.command("list")
def list_(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that were processed since.")
    ] = False,
    json: Json = False,
) -> None:
    """List dead letters that wait to be processed.

    Exit code 1 if there are any. `--all` also lists those that were processed, by whom and when.

    Example: round-ledger dlq list
    """
    columns = {"place": "place", "from": "came from", "reason": "reason", "tries": "tries"}
    if everything:
        columns |= {"replayed_at": "handled", "replayed_by": "by"}
    rows = []
    with _open() as shelf:
        for told in map(_told, shelf.each(everything=everything)):
            rows.append([str(told[name] or "") for name in columns])
            if json:
                print_json(told)
        zone = house_zones(shelf.database).of(None)
    if not json:
        none = "No dead letter waits."
        if not everything:
            none += " `--all` lists processed ones, too."
        show_table("Dead letters", tuple(columns.values()), rows, zone=zone, none=none)
    if rows:
        raise typer.Exit(FINDINGS)


@group.command("show")
def show(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="Such as 0@17, from `dlq list`.")],
    *,
    json: Json = False,
) -> None:
    """Show a dead letter: its reason, its headers and its first bytes.

    Example: round-ledger dlq show 0@17
    """
    with _open() as shelf:
        letter = shelf.at(place, everything=True)
        zone = house_zones(shelf.database).of(None)
    record = letter.dead.original.record
    headers = {name: value.decode(errors="replace") for name, value in record.headers}
    octets = (record.value or b"")[:SHOWN_OCTETS]
    if json:
        told = _told(letter) | {"headers": headers, "bytes": base64.b64encode(octets).decode()}
        print_json(told)
        return
    show_table("Dead letter", ("what", "is"), _told(letter).items(), zone=zone)
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
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Process dead letters again once their cause is fixed.

    Without a name it takes all of them. A success is recorded with its operator, and leaves the
    list. The topic itself is never changed. Each try is logged. Exit code 1 if one fails again.

    Example: round-ledger dlq replay 0@17 --by S-2001
    """
    log_to_stderr()
    who = _operator(by, password_file)
    failures = 0
    with _open() as shelf:
        chosen = _chosen(shelf, places)
        for dead, failed in process.replay(shelf.database, kafka(), in_force(), chosen, who):
            failures += failed is not None
            if json:
                print_json({"place": _place(dead), "replayed": failed is None, "reason": failed})
            else:
                say(f"{_place(dead)}: {failed or 'handled'}.")
    if failures:
        raise typer.Exit(FINDINGS)


def _operator(by: str | None, password_file: Path | None) -> str:
    """Who processes them: the person who is named and signs, or this login."""
    if not by:
        return local_actor().name
    with opened_database() as database:
        return signer(database, by, password_file, "ops")


@contextmanager
def _open() -> Iterator[Shelf]:
    with opened_database() as database, dead_letters(kafka(), process.DEAD) as letters:
        with database.connect("ledger_reader") as connection:
            done = Alerts(database, connection).replayed(identity(kafka(), process.DEAD))
        yield Shelf(database, letters, done)


def _chosen(shelf: Shelf, places: list[str] | None) -> Iterator[Dead]:
    """The letters to process. Raises `NotFound` for an unknown place before yielding any."""
    if not places:
        return (each.dead for each in shelf.each(everything=False))
    named = list(dict.fromkeys(places))
    for place in named:
        shelf.at(place, everything=False)
    return (shelf.at(place, everything=False).dead for place in named)


def _told(letter: Letter) -> dict[str, object]:
    dead, replayed = letter
    original = dead.original
    return {
        "place": _place(dead),
        "from": f"{original.topic}/{original.record.partition}@{original.record.offset}",
        "reason": dead.reason,
        "tries": dead.tries,
        "octets": dead.octets,
        "replayed_at": replayed and format_time(replayed.at_us),
        "replayed_by": replayed and replayed.by,
    }


def _place(dead: Dead) -> str:
    return f"{dead.record.partition}@{dead.record.offset}"
