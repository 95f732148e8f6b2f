"""`quarantine`: shows malformed inputs, and releases them."""

import base64
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.sender import os_login
from ledger.errors import Usage
from ledger.record.tape import InQuarantine, Receipt, Received, Verdict, unframe_attributes
from ledger.values import format_time
from replay.approvals.acts import release_act
from replay.approvals.desk import ApprovalDecisions
from replay.approvals.releases import corrected_terms, released_fact
from replay.cli.approvals.approve import RequestedAct, ask
from replay.cli.shell.app import family
from replay.cli.shell.options import PasswordFile
from replay.cli.shell.people import signed_in
from replay.recording.answers import answer
from replay.shell.connections import opened_database, opened_tape
from replay.shell.output import Json, print_json, print_list, show_table
from replay.shell.settings import in_force
from replay.shell.zones import zones
from replay.text.times import stamp
from replay.text.typed import two_people

SHOWN_OCTETS = 1_000
"""Bytes of a malformed input shown in a list."""

app = family()
quarantine = family()
app.add_typer(quarantine, name="quarantine", help="Show malformed inputs, and release them.")

Number = Annotated[int, typer.Argument(metavar="ID", min=1, help="Its number, from `list`.")]


@quarantine.command("list")
def list_(
    *,
    released: Annotated[bool, typer.Option(help="Show released inputs, too.")] = False,
    json: Json = False,
) -> None:
    """List quarantined inputs with their reasons.

    Example: round-ledger quarantine list --json | head -3
    """
    with opened_tape() as tape:
        rows, zone = _all(tape, released=released), _zone(tape)
        print_list(
            "In quarantine",
            rows,
            {
                "id": lambda row: row.quarantine_id,
                "received": lambda row: stamp(row.received_at_us, zone),
                "times": lambda row: row.times_received,
                "reason": lambda row: row.reason,
                "sent by": lambda row: ", ".join(row.senders),
                "what": lambda row: row.what,
                "where": lambda row: row.where,
                "released as": lambda row: row.released_position or "",
            },
            json=json,
            as_json=lambda row: _as_json(row, SHOWN_OCTETS),
            right="id times",
            none="No input is in quarantine."
            + ("" if released else " `--released` lists released inputs, too."),
        )


@quarantine.command("show")
def show(number: Number, *, json: Json = False) -> None:
    """Show one quarantined input: its bytes, its reason, and what to do.

    Example: round-ledger quarantine show 17
    """
    with opened_tape() as tape:
        row = tape.in_quarantine(number)
    if json:
        print_json(_as_json(row, len(row.octets)))
        return
    shown = _as_json(row, 0) | {"bytes": row.octets.decode(errors="backslashreplace")}
    show_table(f"Number {number}", ("", "in quarantine"), shown.items())


@quarantine.command("release")
def release(
    number: Number,
    *,
    corrected: Annotated[
        Path | None, typer.Option("--as", metavar="FACT.json", help="Append this fact instead.")
    ] = None,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Reason.")] = "",
    by: Annotated[
        str, typer.Option("--by", metavar="EMPLOYEE", help="Your credential, such as S-2001.")
    ] = "",
    second: Annotated[
        str,
        typer.Option(metavar="EMPLOYEE", help="Credential of the second person, who approves it."),
    ] = "",
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Judge the same bytes again, or append a corrected fact for them.

    After an upgrade, bytes that were malformed may be a fact. A corrected fact is appended with the
    attribute `quarantineid`, the number of the input that it replaces. Once the ledger has users,
    it needs --by and --because, and asks --second to approve it. Before, both people and the reason
    are recorded if they are given.

    Example: round-ledger quarantine release 17 --as corrected.json
    """
    octets = None if corrected is None else _read(corrected)
    with opened_database() as database, PostgresTape(database) as tape:
        fact = released_fact(tape, number, octets, str(corrected)).fact
        person = signed_in(database, by, password_file)
        if person:
            if octets is not None:  # the request is on record for good
                octets = tape.text_pseudonymised(octets, fact.source)
            wanted = _wanted(number, fact, octets, because, second)
            two_people(by, second, "--second")
            ask(database, person, wanted, json=json)
            return
        if by or second or because:
            wanted = _wanted(number, fact, octets, because, second)
            receipt = _by_two(database, tape, wanted, by)
        else:
            receipt = tape.release(number, fact._replace(sender=os_login()))
    said = answer(fact, receipt)
    if json:
        print_json(said, {"released": number})
    else:
        show_table(f"Number {number}", ("", "released"), to_builtins(said).items())


def _wanted(
    number: int, fact: Received, octets: bytes | None, because: str, second: str
) -> RequestedAct:
    """What is asked for to release an input as this fact."""
    terms = {"quarantine": str(number), "because": because}
    terms |= {} if octets is None else corrected_terms(octets)
    return RequestedAct(release_act(fact), fact.source.split("/")[1], terms, second)


def _by_two(database: Database, tape: PostgresTape, wanted: RequestedAct, by: str) -> Receipt:
    """Release it with the fact that names both people, as they typed themselves."""
    act, property_, terms, second = wanted
    people = two_people(by, second, "--second")
    with ApprovalDecisions(database, tape, in_force().home) as desk:
        decided = desk.record(act, property_, terms, people)
    position = tape.in_quarantine(int(terms["quarantine"])).released_position or 0
    [row] = tape.read(position - 1, 1)
    verdict: Verdict = "appended" if position > decided else "duplicate"
    return Receipt(verdict, row.source, row.id, position, row.table_seq, row.hash)


def _read(path: Path) -> bytes:
    """The fact in a file. Raises `Usage`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Usage(
            f"The fact cannot be read: {error.strerror}",
            where=str(path),
            hint="Give a file with one fact.",
        ) from error


def _zone(tape: PostgresTape) -> tzinfo:
    """The house's zone, for times by the ledger's clock."""
    return zones(in_force().time_zone, tape.newest).of(None)


def _all(tape: PostgresTape, *, released: bool) -> Iterator[InQuarantine]:
    """Every row, read in pages."""
    after = 0
    while page := tape.quarantined(after=after, released=released):
        yield from page
        after = page[-1].quarantine_id


def _as_json(row: InQuarantine, octets: int) -> dict[str, object]:
    released_at = None if row.released_at_us is None else format_time(row.released_at_us)
    return {
        "quarantine_id": row.quarantine_id,
        "received_at": format_time(row.received_at_us),
        "reason": row.reason,
        "what": row.what,
        "where": row.where,
        "bytes": base64.b64encode(row.octets[:octets]).decode(),
        "hint": row.hint,
        "verdict": row.verdict,
        "source": row.source,
        "id": row.id,
        "attributes": None if row.attributes is None else unframe_attributes(row.attributes),
        "octets": len(row.octets),
        "senders": list(row.senders),
        "times_received": row.times_received,
        "last_received_at": format_time(row.last_received_at_us),
        "released_at": released_at,
        "released_position": row.released_position,
    }
