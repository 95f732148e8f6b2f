"""`report`: prints a report of a gaming day to a file, and says which reports there are."""

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from consumers.finance import sealed_wins
from infra.access.connections import AccessDatabase, local_actor
from infra.postgres.connection import Database
from ledger.errors import Usage
from ledger.finance.win import TableWin
from ledger.values import format_time
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay
from replay.recording.sealed_days import versions_folder
from replay.reports import kinds, printing
from replay.reports.files import WRITERS
from replay.reports.kinds import REPORTS, AskedReport, ReportKind, quarter_of
from replay.reports.table import ReportHead, digest
from replay.rounds.views import opened_views
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, print_list, say
from replay.shell.settings import in_force

app = family()

SCHEDULE = "schedule"
"""The name that lists the reports."""


@app.command("report")
def report(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A report, or `schedule` to list them all.")
    ],
    *,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file as .csv, .xlsx, .parquet, .html or .pdf."),
    ] = None,
    gaming_day: GamingDay = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Print a report of a gaming day to a file, or list reports.

    The head of each has facility, title, gaming day, grade, version and digest (465a.3(d)). The
    second print of the same content says REPRINT. `report schedule` lists the reports, when each is
    due, and its last print. XLSX and Parquet need the extra `reports`. Parquet has cents.

    Example: round-ledger report three-wins --gaming-day 2026-11-20 --to three-wins.csv
    """
    if name == SCHEDULE:
        _schedule(property_, json=json)
        return
    kind = _named(name)
    if to is None or to.suffix.lower() not in WRITERS:
        raise Usage(
            "A report is printed to a file",
            where="--to",
            hint=f"Give one whose name ends in {', '.join(WRITERS)}.",
        )
    if gaming_day is None:
        raise Usage(
            "A report is of a gaming day", where="--gaming-day", hint="Give it as 2026-11-20."
        )
    kept = versions_folder(in_force().home)
    with opened_views(kinds.VIEWS, property_) as database:
        wins = sealed_wins.read(database, property=property_, gaming_day=gaming_day, kept=kept)
        house = sealed_wins.one_house({each.property for each in wins}, gaming_day)
        head = _printed(database, kind, AskedReport(database, house, gaming_day, wins), to)
    if json:
        print_json({"report": name, **head._asdict(), "file": str(to)})
        return
    again = f", REPRINT {head.reprint}" if head.reprint else ""
    say(f"{to} has {head.title} of {head.facility}, {head.gaming_day}{again}.")
    say(f"Digest {head.digest}")


def _named(name: str) -> ReportKind:
    """The report of a name. Raises `Usage`."""
    found = next((each for each in REPORTS if each.name == name), None)
    if found is None:
        raise Usage(
            f"There is no report `{name}`",
            where="NAME",
            hint=f"Reports are {', '.join(each.name for each in REPORTS)}.",
        )
    return found


def _printed(database: Database, kind: ReportKind, asked: AskedReport, to: Path) -> ReportHead:
    table = kind.table(asked)
    period = asked.gaming_day if kind.every == "day" else quarter_of(asked.gaming_day)
    grade, version = _sealed(asked.wins) if kind.of_seal else (None, 0)
    actor = local_actor()
    head = ReportHead(
        facility=asked.property,
        title=kind.title,
        gaming_day=period,
        grade=grade,
        version=version,
        digest=digest(asked.property, kind.name, period, table),
        printed=format_time(time.time_ns() // 1_000),
        by=actor.name,
        reprint=0,
    )
    with closing(AccessDatabase(database)) as access:
        return printing.print_report(access, kind.name, head, table, to, actor)


def _sealed(wins: Sequence[TableWin]) -> tuple[str, int]:
    """The lowest grade of a day's tables, and the version that is signed."""
    grades = {each.grade for each in wins}
    grade = next(each for each in ("ESTIMATE", "COUNTED", "SEALED") if each in grades)
    return grade, max(each.version for each in wins)


def _schedule(property_: str | None, *, json: bool) -> None:
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        last = printing.last_prints(access, property_)
    rows = [
        {
            "report": each.name,
            "title": each.title,
            "every": each.every,
            "last_day": last[each.name].gaming_day if each.name in last else None,
            "last_printed": format_time(last[each.name].at_us) if each.name in last else None,
        }
        for each in REPORTS
    ]
    print_list("Reports", rows, [*rows[0]], json=json, none="There is no report.")
