"""`shift`: a shift of surveillance is begun, handed over with its report, and countersigned."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from consumers.review import shifts as kept
from consumers.review.shifts import Shift
from infra.files import replace_file
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import Usage
from replay.cameras.retention import policy_from
from replay.cli.shell.app import family
from replay.cli.shell.options import By, Casino, PasswordFile
from replay.cli.shell.people import INVESTIGATORS, signer
from replay.recording.house_facts import now_us
from replay.review import shift_report, shifts
from replay.review.shift_report import ReportSources, ShiftReport
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, print_list, print_text, say
from replay.shell.settings import in_force
from replay.shell.zones import house_zones
from replay.text.times import stamp

app = family()
shift = family()
app.add_typer(shift, name="shift", help="Begin a shift, hand it over, countersign it.")

Name = Annotated[str, typer.Argument(metavar="SHIFT", help="Shift, from `shift list`.")]


@contextmanager
def _opened() -> Iterator[tuple[Database, PostgresTape]]:
    with opened_views(shifts.VIEWS) as database, PostgresTape(database) as tape:
        yield database, tape


@shift.command("list")
def list_(*, property_: Casino = None, json: Json = False) -> None:
    """List the newest shifts.

    Example: round-ledger shift list
    """
    with _opened() as (database, _):
        found = kept.shifts(database, property=property_)
        zones = house_zones(database)
    print_list(
        "Shifts",
        found,
        {
            "shift": lambda each: each.shift,
            "state": lambda each: each.state,
            "begun": lambda each: (
                None
                if each.begun_us is None
                else stamp(each.begun_us, zones.of(each.property), ms=False)
            ),
            "by": lambda each: each.begun_by,
            "to": lambda each: each.to,
        },
        json=json,
        as_json=_as_json,
        whole="shift",
        none="No shift was begun yet.",
    )


@shift.command("begin")
def begin(
    *,
    property_: Annotated[str, typer.Option("--property", help="Casino, such as hollywood.")],
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Begin a shift.

    Example: round-ledger shift begin --property hollywood --by S-2001
    """
    with _opened() as (database, tape):
        by = signer(database, by, password_file, *INVESTIGATORS)
        name = shifts.begin(database, tape, property_, by, house_zones(database).of(property_))
    if json:
        print_json({"shift": name, "property": property_})
        return
    say(f"Shift {name} begun.")


@shift.command("hand-over")
def hand_over(
    name: Name,
    *,
    to: Annotated[str, typer.Option(metavar="EMPLOYEE", help="Who comes next.")],
    property_: Casino = None,
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Hand a shift over to the next person, with its report.

    Example: round-ledger shift hand-over SH-2026-11-21-1 --to S-2002 --by S-2001
    """
    with _opened() as (database, tape):
        by = signer(database, by, password_file, *INVESTIGATORS)
        found = shifts.find(database, property_, name)
        told = _report(database, tape, found)
        shifts.hand_over(tape, found, told, to, by)
    if json:
        print_json({"shift": name, "property": found.property, "report": told.sha256})
        return
    print_text(told.text.rstrip("\n"))
    say(f"Shift {name} handed over to {to}.")


@shift.command("countersign")
def countersign(
    name: Name,
    *,
    property_: Casino = None,
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Countersign the shift that was handed over to you, once you have read its report.

    Example: round-ledger shift countersign SH-2026-11-21-1 --by S-2002
    """
    with _opened() as (database, tape):
        by = signer(database, by, password_file, *INVESTIGATORS)
        found = shifts.find(database, property_, name)
        shifts.countersign(tape, found, by)
    if json:
        print_json({"shift": name, "property": found.property, "report": found.report})
        return
    say(f"Shift {name} countersigned.")


@shift.command("report")
def report(
    name: Name,
    *,
    pdf: Annotated[
        Path | None, typer.Option("--pdf", metavar="FILE", help="Write it as one sheet of A4.")
    ] = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Print the report of a shift: as it was handed over, or as it stands now.

    Example: round-ledger shift report SH-2026-11-21-1
    """
    with _opened() as (database, tape):
        found = shifts.find(database, property_, name)
        is_open = found.handed_us is None
        text = _report(database, tape, found).text if is_open else found.text
    if pdf:
        _write(pdf, found, text)
    if json:
        print_json(_as_json(found) | {"text": text})
        return
    print_text((text or "Only the report's SHA-256 is on record.").rstrip("\n"))
    if text and found.report not in (None, shift_report.hash_of(text)):
        say("The text does not fit its SHA-256 on record.")


def _write(path: Path, found: Shift, text: str | None) -> None:
    from replay.reports.shift_paper import shift_pdf  # noqa: PLC0415 - imports the PDF library

    try:
        replace_file(path, shift_pdf(found, text))
    except OSError as error:
        says = f"The report cannot be written: {error.strerror}"
        raise Usage(says, where=str(path), hint="See --pdf.") from error


def _report(database: Database, tape: PostgresTape, found: Shift) -> ShiftReport:
    zone = house_zones(database).of(found.property)
    policy = policy_from(in_force().retention_file)
    return shift_report.report(ReportSources(database, tape, policy, zone), found, now_us())


def _as_json(each: Shift) -> dict[str, object]:
    told = each._asdict() | {"state": each.state}
    for name in ("text", "left_out"):
        del told[name]
    return told
