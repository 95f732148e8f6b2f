"""`acknowledge`: put on record that people know of a break, and why it is there."""

import secrets
from typing import Annotated

import typer
from msgspec import to_builtins

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape, one_property, properties
from infra.postgres.verification.acknowledged import with_acknowledgements
from ledger.errors import NotFound, Usage
from ledger.record.acknowledged import acknowledgement
from ledger.record.verify import RecordBreak, Verified
from ledger.roster.roster import OFFICE
from ledger.values import Source, quantity
from replay.cli.approvals.approve import RequestedAct, ask
from replay.cli.record.record import HeadsFile, kept_heads, print_breaks
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.options import By, Casino, PasswordFile, Second
from replay.cli.shell.people import signed_in
from replay.recording.house_facts import append_facts, build_fact
from replay.shell.connections import opened_database
from replay.shell.output import Json, progress_up_to, say
from replay.text.typed import two_people, written

app = family()

DESK = "record"
"""The device of the office that records acknowledgements."""

ROUNDS_MAX = 2
"""A cut end is named as a gap once a fact stands behind it, and acknowledged again as that."""


@app.command("acknowledge")
def acknowledge(  # noqa: PLR0913 - one argument an option
    position: Annotated[
        int | None, typer.Option(min=1, help="The position at which `verify` names the break.")
    ] = None,
    quarantine: Annotated[
        int | None, typer.Option(min=1, help="Or its number in quarantine.")
    ] = None,
    *,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why the break is there.")],
    by: By,
    second: Second,
    password_file: PasswordFile = None,
    property_: Casino = None,
    head: HeadsFile = None,
    json: Json = False,
) -> None:
    """Acknowledge a break of the record, by two people, with a reason.

    It verifies the record first, and acknowledges every break at that position as it is now.
    `verify` still names the break, with who acknowledged it and why. It exits with 0 once all are
    acknowledged. If the row there changes again, that is a new break. Exit code 1 if any break
    stays open. Once the ledger has users, it asks --second to approve each.

    Example: round-ledger acknowledge --position 41 --because "Edited by SQL, incident 12"
    --by A-3001 --second A-3002
    """
    if (position is None) == (quarantine is None):
        raise Usage(
            "It is not clear which break",
            where="--position, --quarantine",
            hint="Give one of them, as `round-ledger verify` names it.",
        )
    people = two_people(by, second, "--second")
    reason = written(because, "--because")
    kept = () if head is None else kept_heads(head)

    def is_meant(each: RecordBreak) -> bool:
        return (each.position, each.quarantine_id) == (position, quarantine)

    done = 0
    with opened_database() as database, PostgresTape(database) as tape:
        person = signed_in(database, by, password_file)
        for _ in range(ROUNDS_MAX):
            with progress_up_to("verify") as passed:
                seen = with_acknowledgements(database, tape.verify(kept, passed))
            meant = [each for each in seen.breaks if is_meant(each)]
            found = [each for each in meant if each.acknowledged is None]
            if not meant:
                raise _no_such(seen)
            if not found:
                break
            if person:
                for each in found:
                    wanted = _requested(database, each, property_, reason, second)
                    ask(database, person, wanted, json=json)
                return
            facts = [
                build_fact(
                    acknowledgement(each, reason, *people),
                    Source(property_ or _property(database, each), OFFICE, DESK),
                )
                for each in found
            ]
            append_facts(tape, facts)
            done += len(facts)
        seen = with_acknowledgements(database, tape.verify(kept))
    print_breaks(seen, json=json)
    if not json:
        still = sum(each.acknowledged is None for each in seen.breaks)
        say(f"Acknowledged: {quantity(done, 'break')}. Open: {quantity(still, 'break')}.")
    if not seen.is_accepted:
        raise typer.Exit(FINDINGS)


def _requested(
    database: Database, broken: RecordBreak, property_: str | None, because: str, second: str
) -> RequestedAct:
    """What is asked for to acknowledge a break: its place and its row, as the fact has them."""
    pinned = to_builtins(acknowledgement(broken, because, "", ""))
    terms = {name: str(each) for name, each in pinned.items() if name not in ("by", "second")}
    terms["key"] = secrets.token_hex(8)
    house = property_ or _property(database, broken)
    return RequestedAct("break_acknowledge", house, terms, second)


def _property(database: Database, broken: RecordBreak) -> str:
    """The property whose office records it: that of the tape, or the only one. Raises `Usage`."""
    known = sorted(properties(database))
    named = (broken.tape or "").partition("/")[0]
    if named in known:
        return named
    return one_property(database, None)


def _no_such(seen: Verified) -> NotFound:
    return NotFound(
        "There is no break there",
        where="--position, --quarantine",
        hint=f"`round-ledger verify` names {quantity(len(seen.breaks), 'break')}.",
    )
