"""`day`: closes a gaming day, signed by two people, and opens it again."""

from importlib import metadata
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from msgspec import Struct

from consumers.finance.sealed import sealed_wins
from ledger.finance.day_versions import Adjustment, DaySeals
from ledger.finance.groups import of_versions
from ledger.values import dollars, quantity
from replay.cli.approvals.approve import RequestedAct, ask
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.options import By, Casino, PasswordFile, Second, require_gaming_day
from replay.cli.shell.people import signed_in
from replay.recording.sealed_days import DayDecisions, SealedDay, Signers, versions_folder
from replay.rounds.views import catch_up_views, opened_views
from replay.shell.output import Json, print_json, say
from replay.shell.settings import in_force
from replay.text.wins import named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.postgres.connection import Database

app = family()
day = family()
app.add_typer(day, name="day", help="Close a gaming day, signed by two; open it again.")

Day = Annotated[
    str, typer.Argument(metavar="DAY", help="Gaming day, YYYY-MM-DD.", callback=require_gaming_day)
]


class DayVersion(Struct, frozen=True, kw_only=True):
    """A version of a gaming day: who closed it and why, and who opened it again."""

    version: int
    digest: str
    by: str
    second: str
    because: str | None
    despite: str | None
    reopened_by: str | None
    reopened_second: str | None
    reopened_because: str | None


class ClosedDay(NamedTuple):
    """A gaming day as these commands print it; version 0: it was never closed.

    reopened_by and the like: None unless the day is open again. missing: what its tables lack, of a
    closed day as it was signed. late_tables: those that came after it was closed.
    """

    property: str
    gaming_day: str
    sealed: bool
    version: int
    digest: str | None
    by: str | None
    second: str | None
    because: str | None
    despite: str | None
    reopened_by: str | None
    reopened_second: str | None
    reopened_because: str | None
    adjustments: list[Adjustment]
    missing: list[str]
    late_tables: list[str]
    versions: list[DayVersion]  # all of them, from the first


@day.command("show")
def show(gaming_day: Day, *, property_: Casino = None, json: Json = False) -> None:
    """Show whether a gaming day is closed, by whom, and how its last version differs.

    Example: round-ledger day show 2026-11-20
    """
    with opened_views(sealed_wins.VIEWS, property_) as database:
        found = _read(database, property_, gaming_day)
    _show(found, json=json)


@day.command("reopen")
def reopen(
    gaming_day: Day,
    *,
    by: By,
    second: Second,
    because: Annotated[str, typer.Option("--because", metavar="TEXT", help="Reason.")],
    password_file: PasswordFile = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Open a closed gaming day again, for a reason.

    What its versions said stays as it is. Close it again to sign a new version. Once the ledger has
    users, it asks --second to approve it.

    Example: round-ledger day reopen 2026-11-20 --by F-3001 --second F-3002 --because "Late slip."
    """
    people = Signers(by=by, second=second, because=because)
    people.two()
    with (
        opened_views(sealed_wins.VIEWS, property_) as database,
        DayDecisions(database) as decisions,
    ):
        name = _read(database, property_, gaming_day).property
        if person := signed_in(database, by, password_file):
            terms = {"gaming_day": gaming_day, "because": because}
            ask(database, person, RequestedAct("day_reopen", name, terms, second), json=json)
            return
        case = decisions.read(SealedDay(property=name, gaming_day=gaming_day))
        decisions.decide(case, case.reopen(people))
        found = _after(database, name, gaming_day)
    _show(found, json=json)


@day.command("close")
def close(
    gaming_day: Day,
    *,
    by: By,
    second: Second,
    because: Annotated[
        str | None, typer.Option("--because", metavar="TEXT", help="Reason, for the record.")
    ] = None,
    despite: Annotated[
        str | None,
        typer.Option("--despite", metavar="TEXT", help="Close it as it is, and say why."),
    ] = None,
    password_file: PasswordFile = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Close a gaming day: two people sign what its wins say now.

    Later facts change nothing that was signed; `win` lists them with what they would change. If a
    table lacks a count, the command names it and ends with 1, unless --despite says why the day is
    closed all the same. A day that was opened again gets its next version. Once the ledger has
    users, it asks --second to approve it.

    Example: round-ledger day close 2026-11-20 --by F-3001 --second F-3002 --despite "Box is lost."
    """
    people = Signers(by=by, second=second, because=because, despite=despite)
    people.two()
    with (
        opened_views(sealed_wins.VIEWS, property_) as database,
        DayDecisions(database) as decisions,
    ):
        pinned = sealed_wins.pinned_now(database, property_, gaming_day)
        if person := signed_in(database, by, password_file):
            given = {"gaming_day": gaming_day, "because": because, "despite": despite}
            terms = {name: text for name, text in given.items() if text is not None}
            ask(
                database,
                person,
                RequestedAct("day_close", pinned.property, terms, second),
                json=json,
            )
            return
        kept = versions_folder(in_force().home)
        if decisions.close_day(pinned, people, metadata.version("round-ledger"), kept) is None:
            _tell_missing(pinned.missing, json=json)
            raise typer.Exit(FINDINGS)
        found = _after(database, pinned.property, gaming_day)
    _show(found, json=json)


def _after(database: "Database", property_: str, gaming_day: str) -> ClosedDay:
    """The day after a decision, with the views caught up to it."""
    catch_up_views(database, sealed_wins.VIEWS, lambda *_, **__: None)
    return _read(database, property_, gaming_day)


def _read(database: "Database", property_: str | None, gaming_day: str) -> ClosedDay:
    """A gaming day. Raises `NotFound` if no fact is of it, `Usage` if several casinos have it."""
    kept = versions_folder(in_force().home)
    wins = sealed_wins.read(database, property=property_, gaming_day=gaming_day, kept=kept)
    house = sealed_wins.one_house({each.property for each in wins}, gaming_day)
    its, adjustments = sealed_wins.versions(database, house, gaming_day, kept)
    last = its.seals[-1] if its.seals else None
    again = its.reopened
    return ClosedDay(
        property=house,
        gaming_day=gaming_day,
        sealed=its.sealed is not None,
        version=len(its.seals),
        digest=last.digest if last else None,
        by=last.by if last else None,
        second=last.second if last else None,
        because=last.because if last else None,
        despite=last.despite if last else None,
        reopened_by=again.by if again else None,
        reopened_second=again.second if again else None,
        reopened_because=again.because if again else None,
        adjustments=adjustments,
        missing=list(dict.fromkeys(name for each in of_versions(wins) for name in each.missing)),
        late_tables=[each.table or "" for each in wins if its.sealed and not each.version],
        versions=list(_versions(its)),
    )


def _versions(its: DaySeals) -> "Iterator[DayVersion]":
    again = {each.version: each for each in its.reopenings}
    for seal in its.seals:
        opened = again.get(seal.version)
        yield DayVersion(
            version=seal.version,
            digest=seal.digest,
            by=seal.by,
            second=seal.second,
            because=seal.because,
            despite=seal.despite,
            reopened_by=opened.by if opened else None,
            reopened_second=opened.second if opened else None,
            reopened_because=opened.because if opened else None,
        )


def _show(found: ClosedDay, *, json: bool) -> None:
    if json:
        print_json(found._asdict())
        return
    name = f"{found.property} · {found.gaming_day}"
    if not found.version:
        say(f"{name} was never closed.")
    else:
        if not found.sealed:
            people = f"{found.reopened_by} and {found.reopened_second}"
            say(f"{name} is open again, by {people}: {found.reopened_because}")
        state = "is closed" if found.sealed else "was closed"
        say(f"{name} {state}: version {found.version}, by {found.by} and {found.second}.")
        if found.because:
            say(f"Reason: {found.because}")
        if found.despite:
            say(f"Closed though something is missing: {found.despite}")
        say(f"Digest {found.digest}")
    for earlier in found.versions[:-1]:
        say(f"Version {earlier.version} was closed by {earlier.by} and {earlier.second}.")
        people = f"{earlier.reopened_by} and {earlier.reopened_second}"
        say(f"It was opened again by {people}: {earlier.reopened_because}")
        say(f"Its digest is {earlier.digest}")
    for each in found.adjustments:
        change = f"{_figure(each, each.before)} before, {_figure(each, each.after)} now"
        say(f"{each.table} · {change} · {quantity(len(each.facts), 'later fact')}")
    if found.missing:
        say(f"Missing: {', '.join(found.missing)}")
    if found.late_tables:
        tables = ", ".join(found.late_tables)
        say(f"Version {found.version} lacks what came later: {tables}. See `round-ledger win`.")


def _figure(each: Adjustment, amount: int | None) -> str:
    return named(each.figure, amount, dollars)


def _tell_missing(missing: "Mapping[str, list[str]]", *, json: bool) -> None:
    """Print what each table lacks."""
    if json:
        names = list(dict.fromkeys(name for each in missing.values() for name in each))
        print_json({"missing": names, "tables": missing})
        return
    for table, names in missing.items():
        say(f"{table} lacks {', '.join(names)}.")
    say("The day stays open. Complete it, or give --despite with the reason to close it as it is.")
