"""`erase`: erase a patron's token from the ledger, by two people, on record."""

import secrets
from typing import Annotated

import typer

from infra.postgres.connection import Database
from infra.postgres.patrons.vault import NamedPlace
from infra.postgres.tape import PostgresTape, one_property
from ledger.errors import NotFound
from ledger.record.pseudonyms import PatronToken
from ledger.values import quantity
from replay.approvals.desk import ApprovalDecisions
from replay.approvals.erasures import (
    ErasablePatron,
    holds,
    named_places,
    patron_named,
    require_no_hold,
    terms_of,
)
from replay.cli.approvals.approve import RequestedAct, ask
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.options import By, Casino, PasswordFile, Second
from replay.cli.shell.people import signed_in
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, say, show_table
from replay.shell.settings import in_force
from replay.text.typed import two_people, written

app = family()
erase = family()
app.add_typer(erase, name="erase", help="Erase a patron's token, by two people, on record.")

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The token, as facts brought it.")]


@erase.command("plan")
def plan(token: Token, *, property_: Casino = None, json: Json = False) -> None:
    """Show where a patron's token stands, what holds it back, and what erasing leaves.

    It reads the whole record. Exit code 1 if a legal hold forbids erasing now, or if bytes hold the
    token itself, which erasing does not reach.

    Example: round-ledger erase plan P-77 --property hollywood
    """
    with opened_database() as database:
        house = one_property(database, property_)
        patron = _known(database, PatronToken(house, token))
        places = named_places(database, patron)
        held = holds(database, patron) if patron.pseudonyms else []
    if json:
        _print_json(patron, places, held)
    else:
        _print(patron, places, held)
    if held or any(each.named_by == "token" for each in places):
        raise typer.Exit(FINDINGS)


@erase.command("patron")
def patron_(
    token: Token,
    *,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why it is erased.")],
    by: By,
    second: Second,
    password_file: PasswordFile = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Erase a patron's token: no fact, view, topic or dossier leads back to it afterwards.

    Facts, chains and proofs stay as they are: they have a pseudonym in place of the token. Refused
    under a legal hold. Once the ledger has users, it asks --second to approve it.

    Example: round-ledger erase patron P-77 --because "Request of 2026-11-20"
    --by S-2001 --second S-2002
    """
    people = two_people(by, second, "--second")
    reason = written(because, "--because")
    with opened_database() as database, PostgresTape(database) as tape:
        person = signed_in(database, by, password_file)
        house = one_property(database, property_)
        patron = patron_named(database, PatronToken(house, token))
        require_no_hold(database, patron)
        terms = {**terms_of(patron), "because": reason, "key": secrets.token_hex(8)}
        if person:
            ask(database, person, RequestedAct("patron_erase", house, terms, second), json=json)
            return
        with ApprovalDecisions(database, tape, in_force().home) as desk:
            position = desk.record("patron_erase", house, terms, people)
    if json:
        print_json({"erased": list(patron.pseudonyms), "property": house, "position": position})
    else:
        say(
            f"Erased, as the fact at position {position:,} says. Backups made before still have it."
        )


def _known(database: Database, patron: PatronToken) -> ErasablePatron:
    """The patron; without pseudonyms if none stands for the token."""
    try:
        return patron_named(database, patron)
    except NotFound:
        return ErasablePatron(*patron, ())


def _print_json(patron: ErasablePatron, places: list[NamedPlace], held: list[str]) -> None:
    print_json(
        {
            "property": patron.property,
            "pseudonyms": list(patron.pseudonyms),
            "places": [each._asdict() for each in places],
            "holds": held,
        }
    )


def _print(patron: ErasablePatron, places: list[NamedPlace], held: list[str]) -> None:
    show_table(
        f"Patron of {patron.property}",
        ("place", "kind", "named by", "rows", "first", "last"),
        (
            (
                each.place,
                each.kind,
                each.named_by,
                f"{each.rows:,}",
                f"{each.first:,}",
                f"{each.last:,}",
            )
            for each in places
        ),
        right="rows first last",
    )
    known = quantity(len(patron.pseudonyms), "pseudonym")
    say(f"Known by {known}: erasing leaves each, and nothing that leads from it to the token.")
    plain = sum(each.rows for each in places if each.named_by == "token")
    if plain:
        say(f"Not reached: {quantity(plain, 'row')} that hold the token itself.")
    for each in held:
        say(f"Legal hold: {each}.")
