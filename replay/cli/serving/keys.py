"""`keys`: keys of devices that send facts to `serve`, and of systems that read finance from it.

A key is printed once, when it is made.
"""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated

import typer

from infra.access.connections import AccessDatabase, local_actor
from infra.access.keys import Keys
from infra.access.reader_keys import ReaderKeys, ReaderRole
from infra.access.users import KEEPERS
from infra.postgres.tape import PostgresTape
from ledger.values import format_time
from replay.cli.serving import roster, signing
from replay.cli.shell.app import family
from replay.cli.shell.options import PasswordFile
from replay.cli.shell.people import signer
from replay.shell.connections import opened_database, opened_tape
from replay.shell.output import (
    Json,
    print_json,
    print_lines,
    print_text,
    say,
    show_table,
)
from replay.shell.zones import house_zones
from replay.text.typed import written

SIGNING_ID = re.compile(r"[0-9a-f]{16}")
"""The id of a signing key; that of another key is shorter."""

app = family()
group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
app.add_typer(group, name="keys", help="Manage keys of devices and readers, and signing keys.")
group.add_typer(signing.group, name="signing", help="Manage the key that signs dossiers.")
group.command("enrol")(roster.enrol)
group.command("rotate")(roster.rotate)
group.command("load")(roster.load)


@contextmanager
def opened_access() -> Iterator[AccessDatabase]:
    """The tables of keys, opened with the database role for access."""
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        yield access


@group.command("add")
def add(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="The source it is valid for, or the beginning of sources. "
            "With --role, the name of the system that reads.",
        ),
    ],
    *,
    role: Annotated[
        ReaderRole | None,
        typer.Option(help="Make a key that reads finance over HTTP instead."),
    ] = None,
    json: Json = False,
) -> None:
    """Create a key, and print it once.

    A device's key is valid for one device (`/hollywood/CC-07/shoe`), a place or a whole property.
    From the first one on, `serve` accepts no fact without one, and may listen on other addresses
    than loopback. A key with --role reads `/v1/win` and `/v1/journal`, and nothing else:
    `keys add general-ledger --role finance`. `users log` lists each use of it.

    Example: round-ledger keys add /hollywood/CC-02/shoe
    """
    with opened_access() as access:
        if role is None:
            key = Keys(access).add(source, local_actor())
        else:
            key = ReaderKeys(access).add(role, source, local_actor())
    if json:
        print_json({"key": key, "source": source, "role": role})
        return
    print_text(key)
    who = "Devices send" if role is None else "The system sends"
    say(f"Keep it now: only a hash of it is stored. {who} `Authorization: Bearer KEY`.")


@group.command("list")
def list_(*, json: Json = False) -> None:
    """List keys, without the secrets: bearer keys, readers' keys, and signing keys of the roster.

    Example: round-ledger keys list
    """
    with (
        opened_database() as database,
        closing(AccessDatabase(database)) as access,
        PostgresTape(database) as tape,
    ):
        devices, readers = Keys(access).list(), ReaderKeys(access).list()
        signing_keys = [key for _, of in roster.rosters(tape) for key in of.keys.values()]
        zone = house_zones(database).of(None)
    rows = [
        *(_row(each.key_id, "bearer", each.source, None, *each[2:]) for each in devices),
        *(_row(each.key_id, "reader", each.reader, each.role, *each[3:]) for each in readers),
        *map(roster.row, sorted(signing_keys, key=lambda key: key.source)),
    ]
    if json:
        print_lines(rows)
        return
    columns = ("key", "kind", "source", "role", "made", "revoked", "replaced by", "by")
    none = "There is no key yet. `round-ledger keys add SOURCE` makes one."
    shown = ([each or "-" for each in row.values()] for row in rows)
    show_table("Keys", columns, shown, zone=zone, none=none)


def _row(
    key_id: str,
    kind: str,
    source: str,
    role: ReaderRole | None,
    made_at_us: int,
    revoked_at_us: int | None,
) -> dict[str, str | None]:
    """A key as JSON."""
    return {
        "key": key_id,
        "kind": kind,
        "source": source,
        "role": role,
        "made": format_time(made_at_us),
        "revoked": None if revoked_at_us is None else format_time(revoked_at_us),
        "replaced_by": None,
        "by": None,
    }


@group.command("revoke")
def revoke(
    key: Annotated[
        str,
        typer.Argument(help="The key, from `keys list`; or its source or reader, if it has one."),
    ],
    *,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="EMPLOYEE", help="For a signing key: your credential."),
    ] = None,
    because: Annotated[
        str | None,
        typer.Option("--because", metavar="TEXT", help="For a signing key: the reason."),
    ] = None,
    password_file: PasswordFile = None,
) -> None:
    """Revoke a key, effective within seconds.

    A signing key is revoked on record, so it needs `--by` and `--because`.

    Example: round-ledger keys revoke 0f3a9c1b22d4
    """
    if SIGNING_ID.fullmatch(key):
        by, because = written(by or "", "--by"), written(because or "", "--because")
        with opened_tape() as tape:
            by = signer(tape.database, by, password_file, *KEEPERS)
            roster.revoke(tape, key, by, because)
        revoked = key
    else:
        with opened_access() as access:
            revoked = Keys(access).revoke(key, local_actor())
    say(f"Key {revoked} is revoked.")
