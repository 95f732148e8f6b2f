"""`approve`: what one person asks for, and another approves or refuses, each by a password."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, NamedTuple

import typer

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import NotFound, Usage
from ledger.values import format_time
from replay.approvals.acts import Act, act_of, terms_say
from replay.approvals.desk import ApprovalDecisions, ShownRequest
from replay.approvals.request import ApprovalRequest
from replay.cli.shell.app import family
from replay.cli.shell.options import By, Casino, PasswordFile
from replay.cli.shell.people import Person, signed_in
from replay.recording.house_facts import now_us
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, print_list, say, show_table
from replay.shell.settings import in_force
from replay.shell.zones import house_zones
from replay.text.times import stamp
from replay.text.typed import same_people

app = family()
approve = family()
app.add_typer(approve, name="approve", help="Approve or refuse what another person asks for.")

Name = Annotated[
    str, typer.Argument(metavar="REQUEST", help="Its name, as `approve list` shows it.")
]


class RequestedAct(NamedTuple):
    """What a command asks for. second: who is to approve it."""

    act: str
    property: str
    terms: Mapping[str, str]
    second: str


@approve.command("list")
def list_(
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Those of seven days, answered and expired ones, too.")
    ] = False,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """List what waits for a second person.

    Example: round-ledger approve list
    """
    with _opened() as (database, desk):
        found = desk.recent(property_) if every else desk.waiting(property_)
        zone = house_zones(database).of(property_)
    print_list(
        "To approve",
        found,
        {
            "request": lambda each: each.name,
            "what": lambda each: act_of(each.request.act).title,
            "of": lambda each: each.request.about,
            "casino": lambda each: each.property,
            "asked by": lambda each: each.request.by,
            "asked": lambda each: stamp(each.asked_at_us, zone, ms=False),
            "state": lambda each: each.state(now_us()),
        },
        json=json,
        as_json=_json,
        none="Nothing waits for a second person.",
    )


@approve.command("show")
def show(name: Name, *, json: Json = False) -> None:
    """Show what a request would put on record.

    Example: round-ledger approve show 06522a1b4c3d80-9f01ab
    """
    with _opened() as (_, desk):
        shown = _shown(desk, name)
    _print(shown, json=json)


@approve.command("give")
def give(name: Name, *, by: By, password_file: PasswordFile = None, json: Json = False) -> None:
    """Approve a request: what it asks for is put on record, signed by both people.

    Nobody approves their own. If it would record something else by now, nothing is recorded.

    Example: round-ledger approve give 06522a1b4c3d80-9f01ab --by F-3002
    """
    with _opened() as (database, desk):
        shown = _shown(desk, name)
        person = _person(database, by, password_file)
        if not json:
            _print(shown, json=False)
        desk.give(shown.case, person.user, shown.case.request.digest, person.accounts)
        after = _shown(desk, name)
    _answered(after, json=json)


@approve.command("refuse")
def refuse(
    name: Name,
    *,
    because: Annotated[str, typer.Option("--because", metavar="TEXT", help="Reason.")],
    by: By,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Refuse a request, with a reason.

    Example: round-ledger approve refuse 06522a1b4c3d80-9f01ab --because "Box B1 is found."
    --by F-3002
    """
    with _opened() as (database, desk):
        case = _shown(desk, name).case
        desk.refuse(case, _person(database, by, password_file).user, because)
        after = _shown(desk, name)
    _answered(after, json=json)


@approve.command("withdraw")
def withdraw(name: Name, *, by: By, password_file: PasswordFile = None, json: Json = False) -> None:
    """Take your own request back.

    Example: round-ledger approve withdraw 06522a1b4c3d80-9f01ab --by F-3001
    """
    with _opened() as (database, desk):
        case = _shown(desk, name).case
        desk.withdraw(case, _person(database, by, password_file).user)
        after = _shown(desk, name)
    _answered(after, json=json)


def ask(database: Database, person: Person, requested: RequestedAct, *, json: bool) -> None:
    """Leave a request of a person who signed in, and say how to approve it."""
    act, property_, terms, second = requested
    _require_able(person, act_of(act), second)
    with (
        PostgresTape(database) as tape,
        ApprovalDecisions(database, tape, in_force().home) as desk,
    ):
        case = desk.ask(act, property_, terms, person.user, second.strip() or None)
    if json:
        print_json(_json(case))
        return
    say(f"{act_of(act).title}, {case.request.about}: it waits for {case.request.asked}.")
    say(f"Approve it with `round-ledger approve give {case.name} --by {case.request.asked}`,")
    say("or on the page To approve.")


@contextmanager
def _opened() -> Iterator[tuple[Database, ApprovalDecisions]]:
    with (
        opened_database() as database,
        PostgresTape(database) as tape,
        ApprovalDecisions(database, tape, in_force().home) as desk,
    ):
        yield database, desk


def _shown(desk: ApprovalDecisions, name: str) -> ShownRequest:
    """The request of a name. Raises `NotFound`."""
    for case in desk.recent():
        if case.name == name:
            return desk.shown(case.property, name)
    raise NotFound(
        f"There is no request {name} of the last seven days",
        where="REQUEST",
        hint="List them with `round-ledger approve list --all`.",
    )


def _person(database: Database, by: str, password_file: PasswordFile) -> Person:
    """Who signs in. Raises `Usage` if the ledger has no users."""
    person = signed_in(database, by, password_file)
    if person is None:
        raise Usage(
            "The ledger has no users", where="--by", hint="Make one with `round-ledger users add`."
        )
    return person


def _require_able(person: Person, act: Act, second: str) -> None:
    """Raise `Usage` if no user with this credential may approve: the request would wait in vain."""
    able = (
        each
        for each in person.accounts
        if each.disabled_at_us is None and not act.gives.isdisjoint(each.roles)
    )
    if not any(same_people([second], [each.employee]) for each in able):
        raise Usage(
            f"No user with the credential {second} may approve it",
            where=f"--second {second}",
            hint="See `round-ledger users list`.",
        )


def _json(case: ApprovalRequest) -> dict[str, object]:
    """A request as JSON."""
    asked, answer = case.request, case.answer
    return {
        "request": case.name,
        "property": case.property,
        "act": asked.act,
        "about": asked.about,
        "terms": asked.terms,
        "digest": asked.digest,
        "state": case.state(now_us()),
        "by": asked.by,
        "user": asked.user,
        "asked": asked.asked,
        "asked_at": format_time(case.asked_at_us),
        "until": format_time(case.until_us),
        "answered_by": answer.by if answer else None,
        "answered_at": format_time(case.answered_at_us) if answer else None,
        "because": case.because,
    }


def _print(shown: ShownRequest, *, json: bool) -> None:
    if json:
        says = dict(shown.made.says) if shown.made else None
        print_json({**_json(shown.case), "says": says, "why_not": shown.why or None})
        return
    asked = shown.case.request
    rows = shown.made.says if shown.made else terms_say(asked.terms)
    show_table(f"{shown.act.title} · {shown.case.name}", ("", "what two people sign"), rows)
    if shown.why:
        say(shown.why)


def _answered(shown: ShownRequest, *, json: bool) -> None:
    case = shown.case
    if json:
        print_json(_json(case))
        return
    by = case.answer.by if case.answer else ""
    say(f"{shown.act.title}, {case.request.about}: {case.state(now_us())} by {by}.")
