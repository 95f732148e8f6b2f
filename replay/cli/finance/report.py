"""`report`: prints a report of a gaming day to a file, and says which reports there are."""

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from consumers.finance.sealed import sealed_wins
from infra.access.connections import AccessDatabase, local_actor
from infra.postgres.connection import Database
from infra.postgres.tape import properties
from ledger.errors import Usage
from ledger.finance.coupons import quarter_of
from ledger.finance.groups import lowest_grade, over_days
from ledger.finance.statistics.hold import LIMITS
from ledger.values import format_time
from replay.cli.finance.variance import of_house
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay
from replay.recording.sealed_days import versions_folder
from replay.reports import kinds, printing
from replay.reports.files import WRITERS
from replay.reports.kind import AskedReport, Period, ReportKind, days_between, first_day
from replay.reports.kinds import REPORTS
from replay.reports.table import ReportHead, digest
from replay.rounds.views import opened_views
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, print_list, say
from replay.shell.settings import in_force
from replay.shell.witnessed_log import newest_checkpoint

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
    period: Annotated[
        Period, typer.Option(help="Sums of the week, month or year to the gaming day.")
    ] = "day",
    limits: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Limits of the house, for `limits`.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(min=1, help="What this version of a closed day said.")
    ] = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Print a report of a gaming day to a file, or list reports.

    The head of each has facility, title, gaming day, grade, version and digest (465a.3(d)). The
    second print of the same content says REPRINT. The newest checkpoint of the witnessed log is
    printed too, in PDF and HTML as a QR code. `report schedule` lists the reports, when each is
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
    _check(kind, period, version)
    if limits and kind.name != "limits":
        raise Usage(
            f"`{kind.name}` has no limits", where="--limits", hint="The report limits has them."
        )
    of_hold = [*LIMITS, *of_house(limits)]
    with opened_views(kinds.VIEWS, property_) as database:
        since = first_day(gaming_day, period)
        asked = _asked(database, kind, property_, gaming_day, since, version)._replace(
            period=period, limits=of_hold
        )
        head = _printed(database, kind, asked, to)
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


def _check(kind: ReportKind, period: Period, version: int | None) -> None:
    """Raise `Usage` for what a report cannot be printed of."""
    if period != "day" and not kind.sums:
        able = ", ".join(each.name for each in REPORTS if each.sums)
        raise Usage(f"`{kind.name}` has no sums", where="--period", hint=f"These do: {able}.")
    if version is not None and (period != "day" or not kind.of_seal):
        able = ", ".join(each.name for each in REPORTS if each.of_seal)
        raise Usage(
            "A version is of what two people signed of one day",
            where="--version",
            hint=f"These are: {able}.",
        )


def _asked(
    database: Database,
    kind: ReportKind,
    property_: str | None,
    gaming_day: str,
    since: str,
    version: int | None,
) -> AskedReport:
    """What a report is worked out from."""
    day: dict[str, Any] = {"property": property_, "kept": versions_folder(in_force().home)}
    if version is None:
        day["as_signed"] = kind.of_seal
        wins = sealed_wins.read(database, gaming_day=gaming_day, **day)
    else:
        wins = sealed_wins.of_version(database, version, gaming_day=gaming_day, **day)
    houses = {each.property for each in wins}
    if not houses and not kind.of_tables:
        houses = {property_} if property_ else properties(database)
    if not houses:  # closed on the last day of its week or month
        before = days_between(min(since, kind.first_day(gaming_day)), gaming_day)[:-1]
        read = (sealed_wins.read(database, gaming_day=of, **day) for of in before)
        houses = {each.property for its in read for each in its}
    house = sealed_wins.one_house(houses, gaming_day)
    if since < gaming_day and kind.of_wins:
        day["property"] = house
        days = days_between(since, gaming_day)
        wins = over_days(
            each for of in days for each in sealed_wins.read(database, gaming_day=of, **day)
        )
    return AskedReport(database, house, gaming_day, wins, since, version, day["kept"])


def _period(kind: ReportKind, asked: AskedReport) -> str:
    """What a report is of, as its head says it; one word."""
    day = asked.gaming_day
    if kind.every == "quarter":
        return quarter_of(day)
    if kind.every == "month":
        return day[:7]
    since = kind.first_day(day) if kind.every == "week" else asked.since
    return day if since == day else f"{since}..{day}"


def _printed(database: Database, kind: ReportKind, asked: AskedReport, to: Path) -> ReportHead:
    table = kind.table(asked)
    period = _period(kind, asked)
    grade, version = _sealed(asked) if kind.of_seal else (None, 0)
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
        closed_by=_signers(asked, version) if asked.since == asked.gaming_day else (),
        checkpoint=newest_checkpoint(),
    )
    with closing(AccessDatabase(database)) as access:
        return printing.print_report(access, kind.name, head, table, to, actor)


def _sealed(asked: AskedReport) -> tuple[str, int]:
    """The lowest grade of the tables, and the version that is signed: of a period the lowest."""
    lowest = min if asked.since < asked.gaming_day else max
    return lowest_grade(asked.wins), lowest(each.version for each in asked.wins)


def _signers(asked: AskedReport, version: int) -> tuple[str, ...]:
    """The credentials of the two people who signed a version of the day; none of an open day."""
    if not version:
        return ()
    found = sealed_wins.seals_of(asked.database, asked.gaming_day)[asked.property].seals
    its = next(each for each in found if each.version == version)
    return its.by, its.second


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
