"""`keys enrol`, `keys rotate` and the roster's part of `keys list` and `keys revoke`."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from infra.access.users import KEEPERS
from infra.postgres.tape import PostgresTape
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import Body, KeyEnrolled, KeyRevoked, KeyRotated
from ledger.roster.grants import GRANTS
from ledger.roster.roster import OFFICE, Roster, SigningKey
from ledger.roster.signature import PUBLIC_OCTETS, decoded, key_id
from ledger.values import Source, format_time, parse_source, quantity
from replay.cli.shell.options import By, PasswordFile
from replay.cli.shell.people import signer
from replay.recording.house_facts import append_fact
from replay.roster import key_files
from replay.roster.door import read_roster
from replay.roster.signed_floor import ListedKey
from replay.shell.connections import opened_tape
from replay.shell.output import Json, print_json, say

PrivateKey = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Make a key, and write its private half to this new file."),
]
PublicKey = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The public half of a key made elsewhere.")
]

DESK = "roster"
"""The device of the office that records the roster."""


def enrol(
    *,
    role: Annotated[
        str,
        typer.Option(
            "--as", metavar="ROLE", help="What the device is, from `grants list`: shoe, layout, …"
        ),
    ],
    source: Annotated[
        str, typer.Option(metavar="SOURCE", help="What the key signs for: /hollywood/CC-01/shoe.")
    ],
    by: By,
    public_key: PublicKey = None,
    private_key: PrivateKey = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Put a device's signing key on the roster.

    From a property's first key on, its facts are accepted only if they are signed by a key of the
    roster, within the grants of its role. All others go to quarantine with the key's id. Name the
    public half of a key that the device made, or a new file for the private half.

    Example: round-ledger keys enrol --as shoe --source /hollywood/CC-01/shoe
    --private-key shoe.key --by IT-7
    """
    _require_one(public_key, private_key)
    property_ = _property(source)
    with opened_tape() as tape:
        by = signer(tape.database, by, password_file, *KEEPERS)
        roster = read_roster(tape, property_)[1]
        if role not in roster.grants:
            raise _no_role(role, roster)
        public = _public(public_key, private_key)
        if key_id(public) in roster.keys:
            raise Refused(
                f"Key {key_id(public)} is on the roster",
                where="--public-key",
                hint="Each device has a key of its own. List them with `round-ledger keys list`.",
            )
        body = KeyEnrolled(
            key=key_id(public), public_key=_text(public), source=source, role=role, by=by
        )
        _record(tape, property_, body)
    if json:
        print_json({"key": body.key, "source": source, "role": role, "public": body.public_key})
        return
    say(f"Key {body.key} signs for {source} as {role}.")
    if not any(key.signs for key in roster.keys.values()):
        say(f"Unsigned facts of {property_} go to quarantine from now on.")


def load(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Lines with source, role and public half.")
    ],
    *,
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Put all keys of a file on the roster, such as those of `simulate --sign`.

    Keys that are on the roster are passed over.

    Example: round-ledger keys load floor/keys/roster.jsonl --by IT-7
    """
    listed = _listed(path)
    loaded = 0
    with opened_tape() as tape:
        by = signer(tape.database, by, password_file, *KEEPERS)
        for each in listed:
            property_ = _property(each.source)
            roster = read_roster(tape, property_)[1]
            if each.role not in roster.grants:
                raise _no_role(each.role, roster)
            public = decoded(each.public, PUBLIC_OCTETS) or b""
            if key_id(public) in roster.keys:
                continue
            body = KeyEnrolled(
                key=key_id(public),
                public_key=each.public,
                source=each.source,
                role=each.role,
                by=by,
            )
            _record(tape, property_, body)
            loaded += 1
    if json:
        print_json({"keys": len(listed), "loaded": loaded})
        return
    say(f"Put on the roster: {loaded} of {quantity(len(listed), 'key')}.")


def rotate(
    *,
    old: Annotated[
        Path, typer.Option(metavar="FILE", help="The private half of the key to replace.")
    ],
    by: By,
    private_key: PrivateKey = None,
    public_key: PublicKey = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Replace a device's signing key; the old key signs the new one.

    The new key has the source and role of the old one, which signs nothing from then on.

    Example: round-ledger keys rotate --old shoe.key --private-key shoe-2.key --by IT-7
    """
    _require_one(public_key, private_key)
    before = key_files.load(old)
    with opened_tape() as tape:
        by = signer(tape.database, by, password_file, *KEEPERS)
        property_, found = find(tape, before.key)
        if not found.signs:
            raise Refused(
                f"Key {before.key} signs nothing any more",
                where="--old",
                hint="Enrol a new key with `round-ledger keys enrol`.",
            )
        public = _public(public_key, private_key)
        if key_id(public) in read_roster(tape, property_)[1].keys:
            raise Refused(
                f"Key {key_id(public)} is on the roster", where="--public-key", hint="Make another."
            )
        body = KeyRotated(
            key=key_id(public),
            public_key=_text(public),
            replaces=before.key,
            signature=key_files.sign_rotation(before, public),
            by=by,
        )
        _record(tape, property_, body)
    if json:
        print_json(
            {
                "key": body.key,
                "replaces": before.key,
                "source": found.source,
                "role": found.role,
                "public": body.public_key,
            }
        )
        return
    say(f"Key {body.key} signs for {found.source}. Key {before.key} signs nothing any more.")


def revoke(tape: PostgresTape, key: str, by: str, because: str) -> None:
    """Revoke a key of the roster. Raises `NotFound`, and `Refused` if it was revoked before."""
    property_, found = find(tape, key)
    if found.revoked_at_us is not None:
        raise Refused(
            f"Key {key} was revoked before", where="keys", hint="See `round-ledger keys list`."
        )
    _record(tape, property_, KeyRevoked(key=key, because=because, by=by))


def rosters(tape: PostgresTape) -> Iterator[tuple[str, Roster]]:
    """The roster of every property with an office on record."""
    for head in tape.heads():
        property_, _, place = head.tape.partition("/")
        if place == OFFICE:
            yield property_, read_roster(tape, property_)[1]


def find(tape: PostgresTape, key: str) -> tuple[str, SigningKey]:
    """A key of any property's roster, and that property. Raises `NotFound`."""
    for property_, roster in rosters(tape):
        if key in roster.keys:
            return property_, roster.keys[key]
    raise NotFound(
        f"There is no signing key {key}",
        where="keys",
        hint="List the keys with `round-ledger keys list`.",
    )


def row(key: SigningKey) -> dict[str, str | None]:
    """A signing key as JSON of `keys list`."""
    revoked = key.revoked_at_us
    return {
        "key": key.key,
        "kind": "signing",
        "source": key.source,
        "role": key.role,
        "made": format_time(key.enrolled_at_us),
        "revoked": None if revoked is None else format_time(revoked),
        "replaced_by": key.replaced_by,
        "by": key.by,
    }


def _listed(path: Path) -> list[ListedKey]:
    """The keys in a file. Raises `Usage`."""
    try:
        return [
            msgspec.json.decode(line, type=ListedKey) for line in path.read_bytes().splitlines()
        ]
    except (OSError, msgspec.MsgspecError) as error:
        raise Usage(
            f"The keys cannot be read: {error}",
            where=str(path),
            hint="Give a file as `simulate --sign` writes it.",
        ) from error


def _property(source: str) -> str:
    parts = source.split("/")
    whole = "/".join((*parts, *("x",) * (4 - len(parts))))
    parsed = parse_source(whole)
    if parsed is None:
        raise Usage(
            f"{source!r} is not a source, nor the beginning of one",
            where="--source",
            hint="Give /property, /property/place or /property/place/device.",
        )
    return parsed.property


def _no_role(role: str, roster: Roster) -> Usage:
    return Usage(
        f"There is no role `{role}`",
        where="--as",
        hint=f"Name one of {', '.join(sorted({*GRANTS, *roster.grants}))}.",
    )


def _require_one(public_key: Path | None, private_key: Path | None) -> None:
    """Raise `Usage` unless one of the two is named."""
    if (public_key is None) == (private_key is None):
        raise Usage(
            "Name one of --public-key and --private-key",
            where="--public-key, --private-key",
            hint="--private-key makes a key; --public-key takes the device's own.",
        )


def _public(public_key: Path | None, private_key: Path | None) -> bytes:
    """The public half of a device's own key, or of one made in a new file."""
    if private_key is not None:
        return key_files.make(private_key).public
    return b"" if public_key is None else key_files.load_public(public_key)


def _text(public: bytes) -> str:
    return b64encode(public).decode()


def _record(tape: PostgresTape, property_: str, body: Body) -> None:
    append_fact(tape, body, Source(property_, OFFICE, DESK))
