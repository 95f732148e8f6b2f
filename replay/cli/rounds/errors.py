"""`errors`: who errs how often, where and when, and whether chance explains it."""

from typing import Annotated

import typer

from consumers.rulings.error_rates import NOBODY, ErrorsAsked, ErrorsBy, last_days
from ledger.errors import Usage
from ledger.values import dollars
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, TableName, require_gaming_day
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_lines, print_text, say, show_table
from replay.shell.zones import house_zones
from replay.statistics.error_report import VIEWS, ErrorReport, to_csv, work_out

app = family()


@app.command("errors")
def errors(  # noqa: PLR0913 - one option a way to narrow
    *,
    by: Annotated[
        ErrorsBy,
        typer.Option(help="A line for each dealer, table, game, wager, hour, shift or weekday."),
    ] = "dealer",
    since: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="DAY", help="First gaming day.", callback=require_gaming_day
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--to", metavar="DAY", help="Last gaming day.", callback=require_gaming_day),
    ] = None,
    table: TableName = None,
    game: Annotated[
        str | None, typer.Option(help="Game id, as `round-ledger games` lists.")
    ] = None,
    luck: Annotated[
        bool, typer.Option("--luck", help="With luck: the owed win beside the expected one.")
    ] = False,
    property_: Casino = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    json: Json = False,
) -> None:
    """Show how often dealers err, beside the house.

    A settlement is one wager owed and paid. It is an error if the dealer paid or dealt it wrongly.
    What a device lost, or a wrong clock made, is nobody's. So is an error where the record cannot
    tell who stood there. Who errs more than chance explains comes first. That is corrected for how
    many were looked at. Without --from and --to it counts the last 31 gaming days.

    Example: round-ledger errors --by table --from 2026-11-01
    """
    if csv and json:
        raise Usage("--csv and --json exclude each other", where="--csv", hint="Give one of them.")
    with opened_views(VIEWS, property_) as database:
        zone = house_zones(database).of(property_)
        asked = ErrorsAsked(by, zone, property_, since, until, table, game)
        asked = last_days(database, asked)
        report = work_out(database, asked, lucky=luck)
    if json:
        print_lines(report.rows)
    elif csv:
        print_text(to_csv(report).rstrip())
    else:
        _show(report)


def _show(report: ErrorReport) -> None:
    by = report.asked.by
    if report.rows:
        show_table(
            f"Errors by {by}",
            (by, "in words", "95 % from - to", "patrons lost", "house lost", "luck z", "trend"),
            (
                (
                    each.group if each.group != NOBODY else "nobody" if by == "dealer" else "none",
                    each.says,
                    f"{each.low} - {each.high}",
                    dollars(each.patrons_lost),
                    dollars(each.house_lost),
                    each.luck.z if each.luck else None,
                    f"alarm {', '.join(each.alarms)}" if each.alarms else "-",
                )
                for each in report.rows
            ),
            right="95 patrons house luck",
        )
    say(report.says)
    left_out = sum(each.left_out for each in report.rows)
    if left_out:
        say(f"Not judged: {left_out:,} settlements of rounds that a device may have spoiled.")
