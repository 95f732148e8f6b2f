"""`grants`: what each role of device may report, and about what."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec import to_builtins

from infra.access.users import KEEPERS
from ledger.errors import Usage
from ledger.facts import FACTS, Grant, GrantsSet
from ledger.roster.roster import OFFICE, ROSTER_FACTS
from ledger.values import Source
from replay.cli.serving.roster import DESK
from replay.cli.shell.app import family
from replay.cli.shell.options import By, PasswordFile
from replay.cli.shell.people import signer
from replay.recording.house_facts import append_fact
from replay.roster.door import read_roster
from replay.shell.connections import opened_tape
from replay.shell.output import Json, print_json, print_lines, say, show_table
from replay.text.typed import written

app = family()
group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
app.add_typer(group, name="grants", help="Show and set what each role of device may report.")

House = Annotated[str, typer.Option("--property", help="The casino.")]


@group.command("list")
def list_(*, property_: House = "hollywood", json: Json = False) -> None:
    """List the grants of each role: facts, and the tables and cameras they may be about.

    Example: round-ledger grants list
    """
    with opened_tape() as tape:
        grants = read_roster(tape, property_)[1].grants
    rows = [
        {"role": role, "facts": list(each.facts), "tables": each.tables, "cameras": each.cameras}
        for role, of_role in sorted(grants.items())
        for each in of_role
    ]
    if json:
        print_lines(rows)
        return
    columns = ("role", "facts", "tables", "cameras")
    shown = ((row["role"], *map(_words, (row[name] for name in columns[1:]))) for row in rows)
    show_table("Grants", columns, shown)


@group.command("set")
def set_(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="A role, new or known.")],
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Its grants as JSON, a list as of `grants list`.")
    ],
    *,
    by: By,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Reason, for the record.")],
    property_: House = "hollywood",
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Set what a role may report from now on.

    The file has a list of objects with `facts`, `tables` (`own`, `any` or names) and `cameras`
    (`own` or `any`). It replaces all grants of the role; an empty list takes them away.

    Example: round-ledger grants set shoe grants.json --by IT-7 --because "The new shoe counts"
    """
    grants, reason = _read(path), written(because, "--because")
    with opened_tape() as tape:
        by = signer(tape.database, by, password_file, *KEEPERS)
        body = GrantsSet(role=role, grants=grants, because=reason, by=by)
        append_fact(tape, body, Source(property_, OFFICE, DESK))
    if json:
        print_json({"role": role, "grants": [to_builtins(each) for each in grants]})
        return
    say(f"Role {role} has {len(grants)} grants in {property_}.")


def _words(value: object) -> str:
    return value if isinstance(value, str) else ", ".join(value)  # type: ignore[arg-type] # names


def _read(path: Path) -> tuple[Grant, ...]:
    """The grants in a file. Raises `Usage` for a fact that does not exist."""
    try:
        grants = msgspec.json.decode(path.read_bytes(), type=tuple[Grant, ...])
    except (OSError, msgspec.MsgspecError) as error:
        raise Usage(
            f"The grants cannot be read: {error}",
            where=str(path),
            hint='Write a list: `[{"facts": ["cards_dealt"], "tables": "own"}]`.',
        ) from error
    known = {name.rpartition(".")[0] for name in set(FACTS) - set(ROSTER_FACTS)}
    unknown = sorted({name for each in grants for name in each.facts} - known)
    if unknown:
        raise Usage(
            f"No device may report `{unknown[0]}`",
            where=str(path),
            hint="Name facts of /docs/facts.html without the version.",
        )
    return grants
