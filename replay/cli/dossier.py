"""`dossier`: one round as a folder to hand over."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from infra.postgres import Database
from infra.tape import PostgresTape
from ledger.errors import Refused
from ledger.tape import GENESIS, TapeRow
from replay.cli.app import family
from replay.cli.output import Json, print_lines, say
from replay.cli.stories import (
    FootageFolder,
    RoundName,
    Told,
    footage_folder,
    frames_of,
    opened_views,
    told,
)
from replay.dossier import Evidence, Filed, write_dossier
from replay.footage.decoder import Frame

app = family()


@app.command("dossier")
def dossier(
    round_: RoundName,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A folder to make.")],
    *,
    footage: FootageFolder = None,
    json: Json = False,
) -> None:
    """Write a round as a folder to hand over.

    A report to open; facts as they were received, proof of where they stand, ruling, frames, and
    a sum for every file. `--json` prints one object a file.

    Example: round-ledger dossier CC-07/2026-11-20/231 --out dispute-17
    """
    with opened_views() as base:
        found = told(base, round_, footage_folder(footage))
        filed = write_for(base, found, frames_of(found), out)
    if json:
        print_lines(filed)
    else:
        say(f"{len(filed)} files are in {out}; open {out / 'report.html'}.")


def write_for(
    base: Database, found: Told, frames: Mapping[tuple[str, int], Frame | str], out: Path
) -> list[Filed]:
    """Write the dossier of a told round. Raises `Refused` where the folder cannot be made."""
    with PostgresTape(base) as tape:
        previous = _before(tape, found.story.rows)
        heads = tape.heads()
    try:
        return write_dossier(Evidence(found.story, frames, found.camera_rows, previous, heads), out)
    except OSError as error:
        raise Refused(
            f"The dossier cannot be written: {error.strerror}",
            where=str(out),
            hint="Name a folder you may write to.",
        ) from error


def _before(tape: PostgresTape, rows: Sequence[TapeRow]) -> dict[tuple[str, int], bytes]:
    """The hash before each row on its tape."""
    found: dict[tuple[str, int], bytes] = {}
    for name in {row.tape for row in rows}:
        numbers = [row.table_seq for row in rows if row.tape == name]
        hashes = {
            row.table_seq: row.hash
            for row in tape.rows_of(name, [(number - 1, number - 1) for number in numbers])
        }
        found |= {(name, number): hashes.get(number - 1, GENESIS) for number in numbers}
    return found
