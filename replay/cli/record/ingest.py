"""`ingest`: appends a feed here, or forwards a device's file.

A device installs no database, so what appends to the ledger here is imported when it is needed.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ledger.errors import Usage
from ledger.record.tape import Counters
from ledger.values import quantity
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.feeds import Feeds
from replay.recording.answers import totals
from replay.shell.output import Json, print_json, show_table, warn

app = family()


@app.command("ingest")
def ingest(
    feeds: Feeds,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", help="Follow the file as it grows, until stopped.")
    ] = False,
    to: Annotated[
        str | None, typer.Option(metavar="URL", help="With --follow: the ledger to send to.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with this device's key.")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sign each fact with the private key in this file."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if any line was not accepted.")
    ] = False,
    json: Json = False,
) -> None:
    """Ingest a feed; print a verdict per fact.

    A malformed line goes to quarantine with its bytes and a reason. The exit code is then still 0,
    because the line is kept; `--strict` makes it 1. Sending a feed again is safe: a fact on record
    is answered `duplicate` with its first receipt.

    `--follow` stores and forwards. It sends lines as they are written, through network cuts and
    rotation. It saves its checkpoint beside the file (`FILE.place`) once the lines are accepted.
    With `--to https://ledger.example` it sends to `POST /v1/facts` there, else to the ledger here.

    A property with a roster of keys accepts only facts that are signed within their key's grant
    (`keys enrol`); others go to quarantine. `--sign` signs them on their way.

    Example: round-ledger ingest demo/footage.jsonl
    """
    if follow:
        from replay.cli.record.follow import follow_file  # noqa: PLC0415 - needed with --follow only

        verdicts = follow_file(feeds, to, key_file, _signing(sign), json=json)
    elif to or key_file:
        raise Usage(
            "--to and --key-file need --follow",
            where="--to, --key-file",
            hint="Add --follow.",
        )
    else:
        from replay.cli.record.append import append_feeds  # noqa: PLC0415 - a device has no database

        verdicts = append_feeds(feeds, _signing(sign), json=json)
    print_totals(totals(verdicts), json=json, strict=strict)


def _signing(path: Path | None) -> Callable[[bytes], bytes]:
    """What a line becomes before it is sent. Raises `Usage` for a key that cannot be used."""
    if path is None:
        return bytes
    try:
        from replay.roster import key_files  # noqa: PLC0415 - a device that signs nothing lacks it
    except ImportError as error:
        raise Usage(
            "The library `cryptography` is not installed here",
            where="--sign",
            hint="Install round-ledger[sign].",
        ) from error
    return partial(key_files.sign_line, key=key_files.load(path))


def print_totals(counted: Counters, *, json: bool, strict: bool = False) -> None:
    """Print the number of each verdict, in red if something went to quarantine.

    Raises `Exit` with code 1 if that happened and `strict` was asked for.
    """
    if json:
        print_json(counted._asdict())
    else:
        show_table("Ingested", counted._fields, [[f"{n:,}" for n in counted]], right="all")
    refused = counted.quarantined + counted.equivocation
    if refused:
        warn(
            f"Put into quarantine: {refused:,} of {quantity(counted.received, 'line')}."
            " `round-ledger quarantine list` shows each with its reason."
        )
    if refused and strict:
        raise typer.Exit(FINDINGS)
