"""`keys signing`: the house's key that signs dossiers. Only its public half is ever printed."""

import datetime as dt
from typing import Annotated

import typer

from replay.dossier.signing.keys import (
    Signer,
    keys_folder,
    load,
    make,
    public_text,
    retired_keys,
    rotate,
)
from replay.shell.output import Json, print_json, print_text, say

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Holder = Annotated[
    str,
    typer.Option(
        "--holder", metavar="NAME", help=("The key's holder, for the certificate in clips.")
    ),
]


@group.command("make")
def make_(*, holder: Holder = "Round Ledger", json: Json = False) -> None:
    """Create the key that signs dossiers, and print its public half.

    It stays in a file that only its owner can read. Give the public half to recipients of dossiers,
    by another way than the dossiers.

    Example: round-ledger keys signing make --holder "Hollywood surveillance"
    """
    _tell(make(keys_folder(), holder, dt.datetime.now(dt.UTC)), json=json)
    say(f"The secret half is in {keys_folder()}. Back it up where only its owner has access.")


@group.command("show")
def show(*, json: Json = False) -> None:
    """Print the public half of the signing key, and the names of earlier ones.

    Example: round-ledger keys signing show > house.pub
    """
    _tell(load(keys_folder()), json=json)


@group.command("rotate")
def rotate_(*, holder: Holder = "Round Ledger", json: Json = False) -> None:
    """Replace the signing key; destroy the old secret half, keep its public half.

    Dossiers signed with the old key can still be checked with its public half.

    Example: round-ledger keys signing rotate
    """
    old, new = rotate(keys_folder(), holder, dt.datetime.now(dt.UTC))
    _tell(new, json=json)
    say(f"Key {old.key_id} no longer signs. Give the new public half to all who have the old one.")


def _tell(signer: Signer, *, json: bool) -> None:
    if json:
        retired = retired_keys(keys_folder())
        print_json({"key": signer.key_id, "public": signer.public.hex(), "retired": retired})
    else:
        print_text(public_text(signer).rstrip("\n"))
