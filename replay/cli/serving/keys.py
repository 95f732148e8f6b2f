"""`keys`: keys of devices that send facts to `serve`, and of systems that read finance from it.

A key is printed once, when it is made.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated

import typer

from infra.access.connections import AccessDatabase, local_actor
from infra.access.keys import Keys
from infra.access.reader_keys import ReaderKeys, ReaderRole
from ledger.values import format_time
from replay.cli.serving import signing
from replay.cli.shell.app import family
from replay.shell.connections import opened_database
from replay.shell.output import (
    Json,
    print_json,
    print_lines,
    print_text,
    say,
    show_table,
)
from replay.shell.zones import house_zones

app = family()
group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
app.add_typer(group, name="keys", help="Manage keys of devices and readers, and signing keys.")
group.add_typer(signing.group, name="signing", help="Manage the key that signs dossiers.")


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
    """List keys, without the secrets: what each is valid for, or who reads with it.

    Example: round-ledger keys list
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        devices, readers = Keys(access).list(), ReaderKeys(access).list()
        zone = house_zones(database).of(None)
    rows = [
        *(_row(each.key_id, each.source, None, *each[2:]) for each in devices),
        *(_row(each.key_id, each.reader, each.role, *each[3:]) for each in readers),
    ]
    if json:
        print_lines(rows)
        return
    columns = ("key", "source", "role", "made", "revoked")
    none = "There is no key yet. `round-ledger keys add SOURCE` makes one."
    shown = ([each or "-" for each in row.values()] for row in rows)
    show_table("Keys", columns, shown, zone=zone, none=none)


def _row(
    key_id: str, source: str, role: ReaderRole | None, made_at_us: int, revoked_at_us: int | None
) -> dict[str, str | None]:
    """A key as JSON."""
    return {
        "key": key_id,
        "source": source,
        "role": role,
        "made": format_time(made_at_us),
        "revoked": None if revoked_at_us is None else format_time(revoked_at_us),
    }


@group.command("revoke")
def revoke(
    key: Annotated[
        str,
        typer.Argument(help="The key, from `keys list`; or its source or reader, if it has one."),
    ],
) -> None:
    """Revoke a key, effective within seconds.

    Example: round-ledger keys revoke 0f3a9c1b22d4
    """
    with opened_access() as access:
        revoked = Keys(access).revoke(key, local_actor())
    say(f"Key {revoked} is revoked.")
