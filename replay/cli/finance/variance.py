"""`variance`: hold beside its limits, and the investigations that close what lies outside."""

import secrets
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from consumers.finance import variances
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape, one_property
from ledger.errors import NotFound, Usage
from ledger.facts import VarianceExplained
from ledger.finance.statistics.charts import ChartLimits
from ledger.finance.statistics.hold import (
    GAP,
    LIMITS,
    HoldLimit,
    Period,
    VarianceAsked,
    VarianceBy,
    VarianceLine,
)
from ledger.values import Source, dollars
from replay.cli.approvals.approve import RequestedAct, ask
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.options import By, Casino, GamingDay, PasswordFile, Second, require_gaming_day
from replay.cli.shell.people import signed_in
from replay.recording.house_facts import append_fact
from replay.recording.sealed_days import versions_folder
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, print_lines, say, show_table
from replay.shell.settings import in_force
from replay.text.typed import two_people, written
from replay.text.variances import check_says, explanation_says, limits_say
from replay.text.wins import signed

app = family()
variance = family()
app.add_typer(variance, name="variance", help="Compare hold with its limits; explain what differs.")


@variance.command("show")
def show(
    *,
    by: Annotated[
        VarianceBy, typer.Option(help="A line for each table, game, shift or dealer.")
    ] = "table",
    period: Annotated[
        Period, typer.Option(help="The day itself, or its month or year up to the day.")
    ] = "day",
    gaming_day: GamingDay = None,
    limits: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Limits of the house, beside those of regulations."),
    ] = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only what nobody explained.")] = False,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Show hold, win and drop beside their limits. Exit code 1 if something is open.

    Hold is the counted win by the drop; n/a without a drop. A limit compares it with the year
    before, or with all days before. What lies outside is open until two people explain it.

    Example: round-ledger variance show --period month --gaming-day 2026-11-20
    """
    chosen = [*LIMITS, *of_house(limits)]
    with opened_views(variances.VIEWS, property_) as database:
        name = one_property(database, property_)
        day = gaming_day or variances.last_day(database, name)
        if day is None:
            raise NotFound(
                "No money is on record", where="record", hint="List days with `round-ledger win`."
            )
        kept = versions_folder(in_force().home)
        found = variances.read(database, VarianceAsked(name, by, period, day), chosen, kept)
    shown = [each for each in found if each.open or not only_open]
    if json:
        print_lines(shown)
    else:
        _show(f"{name} · {day} · {period} · variance by {by}", by, shown)
    if any(each.open for each in found):
        raise typer.Exit(FINDINGS)


@variance.command("chart")
def chart(
    *,
    by: Annotated[
        VarianceBy, typer.Option(help="A chart for each table, game, shift or dealer.")
    ] = "table",
    sigmas: Annotated[str, typer.Option(help="Sigmas beyond which z is an alarm.")] = "3",
    allowance: Annotated[
        int, typer.Option(metavar="CENTS", min=0, help="What a day's pay gap may be.")
    ] = 500,
    decision: Annotated[
        int, typer.Option(metavar="CENTS", min=1, help="What a sum of pay gaps may be.")
    ] = 10_000,
    gaming_day: GamingDay = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Show control charts up to a gaming day: z, and the sums of what was paid over and under.

    A day whose z lies beyond its limit is an alarm of luck. The sums add up what exceeds the
    allowance of each day, so a small error that comes again and again raises an alarm.

    Example: round-ledger variance chart --by table
    """
    limits = ChartLimits(sigmas=_decimal(sigmas), allowance=allowance, decision=decision)
    with opened_views(variances.VIEWS, property_) as database:
        name = one_property(database, property_)
        day = gaming_day or variances.last_day(database, name) or "9999-12-31"
        kept = versions_folder(in_force().home)
        found = variances.charts(database, VarianceAsked(name, by, "day", day), limits, kept)
    if json:
        print_lines(found)
        return
    show_table(
        f"{name} · control charts by {by}",
        (by, "day", "z", "pay gap", "paid under", "paid over", "alarms"),
        (
            (
                each.group or "none named",
                each.gaming_day,
                each.z,
                None if each.pay_gap is None else signed(each.pay_gap),
                dollars(each.paid_under),
                dollars(each.paid_over),
                ", ".join(each.alarms).replace("_", " ") or "none",
            )
            for each in found
        ),
        right="z pay paid",
    )


def _decimal(text: str) -> str:
    """A limit of sigmas as typed. Raises `Usage` if it is no decimal number."""
    try:
        Fraction(text)
    except (ValueError, ZeroDivisionError) as problem:
        raise Usage(f"`{text}` is no number", where="--sigmas", hint="Give it as 3.") from problem
    return text


@variance.command("explain")
def explain(  # noqa: PLR0913 - one argument an option
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Table, such as CC-07.")],
    day: Annotated[
        str,
        typer.Argument(metavar="DAY", help="Last day of the period.", callback=require_gaming_day),
    ],
    *,
    amount: Annotated[int, typer.Option(metavar="CENTS", help="Cents that it explains.")],
    unexplained: Annotated[
        int | None,
        typer.Option(metavar="CENTS", help="Cents that stay without an explanation."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A limit such as `3 %`, or `gap` for the day's gaps."),
    ] = None,
    period: Annotated[Period | None, typer.Option(help="Only of this period's line.")] = None,
    shift: Annotated[str | None, typer.Option(help="Only of this shift's line.")] = None,
    because: Annotated[str, typer.Option(metavar="TEXT", help="What was found.")],
    by: By,
    second: Second,
    property_: Annotated[str, typer.Option("--property", help="Casino, such as hollywood.")],
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Record what an investigation of a table's variance found, signed by two people.

    It counts in each line of the table that ends on the day, or in those that it names. A line is
    closed once what is left lies within its limit. Once the ledger has users, it asks --second to
    approve it.

    Example: round-ledger variance explain CC-02 2026-11-20 --amount 0 --because "One patron won."
    --by F-3001 --second F-3002 --property hollywood
    """
    by, second = two_people(by, second, "--second")
    body = VarianceExplained(
        table=table,
        gaming_day=day,
        amount=amount,
        because=written(because, "--because"),
        by=by,
        second=second,
        unexplained=unexplained,
        about=about,
        period=period,
        shift=shift,
    )
    with opened_views(variances.VIEWS, property_) as database, PostgresTape(database) as tape:
        variances.require_table(database, property_, table, day)
        if person := signed_in(database, by, password_file):
            terms = {
                name: str(value)
                for name, value in msgspec.to_builtins(body).items()
                if value is not None and name not in ("by", "second")
            }
            terms["key"] = secrets.token_hex(8)
            wanted = RequestedAct("variance_explain", property_, terms, second)
            ask(database, person, wanted, json=json)
            return
        left = list(limits_say(_with(database, property_, body)))
        noted = append_fact(tape, body, Source(property_, "office", "variances"))
    if json:
        print_json({"position": noted.position, "table": table, "gaming_day": day})
        return
    say(f"{table}, {day}: {dollars(amount)} explained. Position {noted.position}.")
    for limit, says in left:
        say(f"{limit}: {says}")


def _with(database: Database, property_: str, body: VarianceExplained) -> Iterator[VarianceLine]:
    """The lines of an explanation's table with it."""
    kept = versions_folder(in_force().home)
    return variances.of_table(
        database, property_, body.table, body.gaming_day, more=[body], kept=kept
    )


def of_house(path: Path | None) -> list[HoldLimit]:
    """The limits of a file. Raises `Usage` if it is none."""
    if path is None:
        return []
    try:
        found = msgspec.json.decode(path.read_bytes(), type=list[HoldLimit])
    except (OSError, msgspec.MsgspecError) as problem:
        raise Usage(
            f"The limits cannot be read: {problem}",
            where=str(path),
            hint='Write [{"name": "2 %", "source": "house", "periods": ["day"], "points": "2"}].',
        ) from problem
    if GAP in (each.name for each in found):
        raise Usage(
            f"No limit is named `{GAP}`",
            where=str(path),
            hint="Name it otherwise: an explanation names the gaps of a day so.",
        )
    return found


def _show(title: str, by: VarianceBy, found: Sequence[VarianceLine]) -> None:
    if not found:
        say("Nothing is on record for this period, or nothing is open.")
        return
    show_table(
        title,
        (by, "drop", "win", "hold %", "expected", "z", "pay gap", "state"),
        (
            (
                each.group or "none named",
                _money(each.drop),
                _money(each.win),
                each.hold,
                _money(each.expected.win) if each.expected else None,
                each.expected.z if each.expected else None,
                None if each.pay_gap is None else signed(each.pay_gap),
                _state(each),
            )
            for each in found
        ),
        right="drop win hold expected z pay",
    )
    for each in found:
        for check in each.limits:
            if check.outside:
                say(
                    f"{each.group} · {check.limit} ({check.source}) · hold {check.hold} %, "
                    f"base {check.base_level} %, allowed {check.allowed} points, "
                    f"{check_says(check)}"
                )
        for said in each.explained:
            say(f"{each.group} · {said.table} · {explanation_says(said)}")


def _money(cents: int | None) -> str | None:
    return None if cents is None else dollars(cents)


def _state(of: VarianceLine) -> str:
    if any(check.outside for check in of.limits):
        return "open" if of.open else "explained"
    return "within" if any(check.outside is False for check in of.limits) else "not compared"
