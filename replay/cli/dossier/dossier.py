"""`dossier`: one round, one dispute or one preserved window, as a folder or a zip to hand over."""

import getpass
from pathlib import Path
from typing import Annotated

import typer

from ledger.values import quantity
from replay.cli.shell.app import family
from replay.cli.shell.options import FootageFolder, PasswordFile
from replay.cli.shell.people import INVESTIGATORS, Signing
from replay.dossier import Kind
from replay.dossier.request import POST_S, PRE_S, DossierRequest
from replay.dossier.service import VIEWS, hand_over
from replay.rounds.reading import footage_folder
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_lines, say
from replay.text.typed import written

ROLL_S_MAX = 3_600

app = family()


@app.command("dossier")
def dossier(  # noqa: PLR0913 - one argument an option of the command
    of: Annotated[
        str,
        typer.Argument(
            metavar="ROUND|DISPUTE|WINDOW",
            help="[property:]table/gaming day/number, or [property:] and the name of a dispute, or "
            "of a window that `dispute preserve` kept, as "
            "P-20261120T190000Z-20261120T192000Z-3f9a2c.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="PATH", help="Path to create; default: named after its subject."
        ),
    ] = None,
    *,
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--of",
            metavar="round|dispute|window",
            help="Kind of the name, if a dispute has the name of a round.",
        ),
    ] = None,
    zipped: Annotated[bool, typer.Option("--zip", help="One zip instead of a folder.")] = False,
    pre: Annotated[
        int,
        typer.Option(
            metavar="SECONDS", min=0, max=ROLL_S_MAX, help="Seconds of footage before it."
        ),
    ] = PRE_S,
    post: Annotated[
        int,
        typer.Option(metavar="SECONDS", min=0, max=ROLL_S_MAX, help="Seconds of footage after it."),
    ] = POST_S,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="EMPLOYEE", help="Your credential number; default: this login's name."
        ),
    ] = None,
    because: Annotated[
        str | None,
        typer.Option(
            "--because",
            metavar="TEXT",
            help="Reason for handing it over.",
            callback=lambda text: text and written(text, "--because"),
        ),
    ] = None,
    footage: FootageFolder = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Write a round, dispute or window as files to hand over.

    A dossier has a report to open and to print. Beside it are the facts as received, proof of their
    place in the record, the ruling, original segments, frames, clocks and custody. It also has a
    checksum for every file, a signature, and the program that checks it. The dossier of a window
    has all facts of its table in it, and each of its rounds. The export of footage is put on
    record.

    Example: round-ledger dossier CC-02/2026-11-20/61 --by S-2001 --zip --out dispute-17.zip
    """
    with opened_views(VIEWS) as database:
        by = Signing(by, password_file).of(database, *INVESTIGATORS)
        who = by or f"login:{getpass.getuser()}"[:64]
        asked = DossierRequest(of, who, because, pre, post, kind)
        place, filed = hand_over(database, asked, out, footage_folder(footage), zipped=zipped)
    if json:
        print_lines(filed)
    else:
        what = place if zipped else place / "report.html"
        say(f"Wrote {quantity(len(filed), 'file')} to {place}; open {what}.")
    if not any(each.path == "manifest.sig" for each in filed):
        say(
            "The dossier is UNSIGNED: there is no signing key. Make one with `round-ledger keys "
            "signing make`, then make the dossier again."
        )
