"""`keys`: keys of devices that send facts to `serve`. A key is printed once, when it is made."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated

import typer

from infra.access.connections import AccessDatabase, local_actor
from infra.access.keys import Keys
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
app.add_typer(group, name="keys", help="Manage the keys of devices, and signing keys.")
group.add_typer(signing.group, name="signing", help="Manage the key that signs dossiers.")


@contextmanager
def opened_keys() -> Iterator[Keys]:
    """The keys, opened with the database role for access."""
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        yield Keys(access)


@group.command("add")
def add(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help=("The source it is valid for, or the beginning of sources.")
        ),
    ],
    *,
    json: Json = False,
) -> None:
    """Create a device key, and print it once.

    It is valid for one device (`/hollywood/CC-07/shoe`), a place or a whole property. From the
    first key on, `serve` accepts no fact without one, and may listen on other addresses than
    loopback.

    Example: round-ledger keys add /hollywood/CC-02/shoe
    """
    with opened_keys() as keys:
        key = keys.add(source, local_actor())
    if json:
        print_json({"key": key, "source": source})
    else:
        print_text(key)
        say("Keep it now: only a hash of it is stored. Devices send `Authorization: Bearer KEY`.")


@group.command("list")
def list_(*, json: Json = False) -> None:
    """List keys and their sources, without the secrets.

    Example: round-ledger keys list
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        found = Keys(access).list()
        zone = house_zones(database).of(None)
    rows = [
        {
            "key": each.key_id,
            "source": each.source,
            "made": format_time(each.made_at_us),
            "revoked": None if each.revoked_at_us is None else format_time(each.revoked_at_us),
        }
        for each in found
    ]
    if json:
        print_lines(rows)
        return
    columns = ("key", "source", "made", "revoked")
    none = "There is no device key yet. `round-ledger keys add SOURCE` makes one."
    show_table("Keys", columns, (row.values() for row in rows), zone=zone, none=none)


@group.command("revoke")
def revoke(key: Annotated[str, typer.Argument(help="Its name, from `keys list`.")]) -> None:
    """Revoke a key, effective within seconds.

    Example: round-ledger keys revoke 0f3a9c1b22d4
    """
    with opened_keys() as keys:
        keys.revoke(key, local_actor())
    say(f"Key {key} is revoked.")
