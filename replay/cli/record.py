"""`verify`: whether the record is whole, told from its bytes."""

from pathlib import Path
from typing import Annotated

import typer

from ledger.errors import Usage
from ledger.tape import Head
from ledger.verify import Verified, heads_from_json, heads_to_json
from replay.cli.app import family
from replay.cli.errors import FINDINGS
from replay.cli.opened import opened_tape
from replay.cli.output import Json, print_json, print_text, progress, say, show_table

app = family()


@app.command("verify")
def verify(
    *,
    head: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Heads kept elsewhere: the lines `--json` printed."),
    ] = None,
    json: Json = False,
) -> None:
    """Recompute every tape's hash chain from its bytes.

    Prints the head of every tape; keep them on another machine. A record cut off at its end, or
    computed anew from some fact on, is only found against heads kept elsewhere. Exit code 1 where
    the record is broken; the first break is named.

    Example: round-ledger verify --head heads-of-yesterday.jsonl
    """
    kept = () if head is None else _heads(head)
    with opened_tape() as tape, progress("verify") as advance:
        done = 0

        def passed(rows: int, tip: int) -> None:
            nonlocal done
            advance(rows - done, total=tip)
            done = rows

        seen = tape.verify(kept, passed)
    if json:
        _print_json(seen)
    else:
        _print(seen, len(kept))
    if seen.broken:
        raise typer.Exit(FINDINGS)


def _heads(path: Path) -> list[Head]:
    try:
        return heads_from_json(path.read_text().splitlines(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(
            f"The heads cannot be read: {error}",
            where=str(path),
            hint="Give the file that `round-ledger verify --json` was written to.",
        ) from error


def _print_json(seen: Verified) -> None:
    """The head of every tape; then the first break, if there is one."""
    for line in heads_to_json(seen.heads):
        print_text(line)
    if seen.broken:
        print_json({"broken": seen.broken._asdict()})


def _print(seen: Verified, kept: int) -> None:
    show_table(
        "Heads",
        ("place", "sequence", "position", "hash"),
        ((of.tape, f"{of.table_seq:,}", f"{of.position:,}", of.hash.hex()) for of in seen.heads),
        right="sequence position",
    )
    if seen.broken is None:
        against = f", and against {kept:,} heads kept elsewhere" if kept else ""
        say(f"{seen.rows:,} facts recomputed from their bytes{against}: the record is whole.")
        return
    broken = seen.broken
    where = f"position {broken.position:,}" + (f" on {broken.tape}" if broken.tape else "")
    say(f"The record is broken at {where}, {broken.kind}: {broken.says}")
    say(f"The {seen.rows:,} facts before it are whole. Keep the database as it is, and restore.")
