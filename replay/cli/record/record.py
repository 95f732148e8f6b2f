"""`verify`, `backup` and `restore`: check, back up and restore the record."""

from pathlib import Path
from typing import Annotated

import typer

from infra.postgres.backup import back_up
from infra.postgres.backup import restore as bring_back
from infra.postgres.connection import NAME, server
from infra.postgres.tape import PostgresTape
from infra.postgres.verification.acknowledged import with_acknowledgements
from infra.postgres.verification.parallel import WORKERS_MAX, side_by_side
from ledger.errors import Refused, Usage
from ledger.record.tape import Head
from ledger.record.verify import (
    BREAKS_MAX,
    RecordBreak,
    Verified,
    heads_from_json,
    heads_to_json,
)
from ledger.values import quantity
from replay.cli.record.verified_views import verify_views
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, print_text, progress_up_to, say, show_table
from replay.shell.settings import in_force
from replay.shell.stills import copy_stills

app = family()

HeadsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Heads kept elsewhere: lines that `verify --json` printed."),
]


@app.command("verify")
def verify(
    *,
    head: HeadsFile = None,
    workers: Annotated[
        int, typer.Option(min=1, max=WORKERS_MAX, help="Processes that read the record.")
    ] = 1,
    views: Annotated[
        bool, typer.Option("--views", help="Compare every view with the record too.")
    ] = False,
    json: Json = False,
) -> None:
    """Recompute every tape's hash chain.

    Prints the head of every tape; keep the heads on another machine. Only such heads reveal a
    record that was cut off at its end, or recomputed from some fact on. The digests of the
    quarantine are recomputed too. The output names every break. Exit code 1 if there is one that
    nobody has acknowledged. Several `--workers` give the same output; if anything is unusual, one
    process reads the record from its beginning.

    With `--views` each view is built again beside the live one, and every row that was edited,
    deleted or inserted is named. Exit code 1 if there is one.

    Example: round-ledger verify --head heads.jsonl
    """
    kept = () if head is None else kept_heads(head)
    with (
        opened_database() as database,
        PostgresTape(database) as tape,
        progress_up_to("verify") as passed,
    ):
        seen = tape.verify(
            kept, passed, lambda expected: side_by_side(database, expected, workers, passed)
        )
        seen = with_acknowledgements(database, seen)
        _print_json(seen) if json else _print(seen, len(kept))
        are_views_whole = not views or verify_views(database, json=json)
    if not (seen.is_accepted and are_views_whole):
        raise typer.Exit(FINDINGS)


@app.command("backup")
def backup(
    folder: Annotated[Path, typer.Argument(help="A folder without a backup; created if needed.")],
    *,
    json: Json = False,
) -> None:
    """Write the record, its heads and the home's stills to a folder.

    Facts may arrive meanwhile. Keep a copy of `heads.jsonl` on another machine: it shows whether an
    archive was cut or rewritten.

    Example: round-ledger backup backups/2026-11-20
    """
    with opened_database() as database:
        done = back_up(database, folder)
    stills = _copied(in_force().home, folder)
    if json:
        told = {"archive": str(done.archive), "heads": str(done.heads_file), "stills": stills}
        print_json(told)
    else:
        say(
            f"The record is in {done.archive},"
            f" and {quantity(len(done.heads), 'head')} in {done.heads_file}."
            f" {quantity(stills, 'still')} beside them."
        )


@app.command("restore")
def restore(
    folder: Annotated[Path, typer.Argument(help="The folder of a backup.")],
    *,
    into: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A new database on your own server."),
    ] = None,
    head: HeadsFile = None,
    json: Json = False,
) -> None:
    """Restore a backup to a new database.

    With the embedded server, it restores to the empty home that ROUND_LEDGER_HOME names; with your
    own server, to the new database NAME. It never overwrites a record, and verifies what it
    restored. Exit code 1 if that is broken.

    Example: ROUND_LEDGER_HOME=again round-ledger restore backups/2026-11-20
    """
    settings = in_force()
    if settings.database_url and into is None:
        raise Usage(
            "The new database has no name", where="--into", hint="Name one: --into ledger_again."
        )
    kept = () if head is None else kept_heads(head)
    with server(settings) as database, progress_up_to("verify") as passed:
        restored, seen = bring_back(folder, database, into or NAME, kept=kept, progress=passed)
        seen = with_acknowledgements(restored, seen)
    _copied(folder, settings.home)
    _tell(seen, len(kept), json=json)


def _copied(home: Path, other: Path) -> int:
    """Copy stills; how many. Raises `Refused` if a picture cannot be read or written."""
    try:
        return copy_stills(home, other)
    except OSError as error:
        raise Refused(
            f"A still cannot be copied: {error.strerror}",
            where=str(error.filename),
            hint="The record itself is whole. Copy the folder `stills` by hand.",
        ) from error


def _tell(seen: Verified, kept: int, *, json: bool) -> None:
    """Print the result of a verification; exit code 1 if the record is broken."""
    if json:
        _print_json(seen)
    else:
        _print(seen, kept)
    if not seen.is_accepted:
        raise typer.Exit(FINDINGS)


def kept_heads(path: Path) -> list[Head]:
    """The heads in a file. Raises `Usage`."""
    try:
        return heads_from_json(path.read_text().splitlines(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(
            f"The heads cannot be read: {error}",
            where=str(path),
            hint="Give the file that `round-ledger verify --json` was written to.",
        ) from error


def _print_json(seen: Verified) -> None:
    """The head of every tape before the first break; then every break."""
    for line in heads_to_json(seen.heads):
        print_text(line)
    print_breaks(seen, json=True)


def print_breaks(seen: Verified, *, json: bool) -> None:
    """Every break, with the acknowledgement on record."""
    for each in seen.breaks:
        known = each.acknowledged
        if json:
            told = known._asdict() if known else None
            print_json({"broken": {**each._asdict(), "acknowledged": told}})
            continue
        says = f"The record is broken at {_where(each)}, {each.kind}: {each.says}"
        if known:
            says += f" Acknowledged by {known.by} and {known.second}: {known.because}"
        say(says)


def _print(seen: Verified, kept: int) -> None:
    show_table(
        "Heads",
        ("place", "sequence", "position", "hash"),
        ((of.tape, f"{of.table_seq:,}", f"{of.position:,}", of.hash.hex()) for of in seen.heads),
        right="sequence position",
    )
    if seen.broken is None:
        against = f", and against {quantity(kept, 'head')} kept elsewhere" if kept else ""
        beside = f" and {quantity(seen.aside, 'input')} in quarantine" if seen.aside else ""
        done = f"{quantity(seen.rows, 'fact')}{beside} recomputed from their bytes{against}"
        say(f"{done}: the record is whole.")
        return
    print_breaks(seen, json=False)
    if len(seen.breaks) == BREAKS_MAX:
        say(f"The list ends here, at {quantity(BREAKS_MAX, 'break')}.")
    whole = f"Whole before the first: {quantity(seen.rows, 'fact')}."
    if seen.is_accepted:
        say(f"{whole} Every break is acknowledged.")
    else:
        say(f"{whole} Keep the database unchanged, and restore a backup.")


def _where(broken: RecordBreak) -> str:
    if broken.pseudonym is not None:
        return f"number {broken.pseudonym:,} of the pseudonyms"
    if broken.position is None:
        return f"number {broken.quarantine_id:,} in quarantine"
    return f"position {broken.position:,}" + (f" on {broken.tape}" if broken.tape else "")
