"""`import-phh`: converts hand histories to facts, which are ingested and ruled on."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from infra.access.users import KEEPERS
from infra.postgres.tape import PostgresTape
from ledger.adjudication import feed
from ledger.errors import Usage
from ledger.facts import Breakage, RulesSubmissionFiled
from ledger.record.group_commit import Committer
from ledger.record.tape import Quarantined
from ledger.record.wire import Fact, encode, fact_of, parse_line
from ledger.values import parse_time
from replay.cli.record.append import keep
from replay.cli.record.ingest import print_totals
from replay.cli.rules.rules import print_rulings
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.feeds import FeedLine
from replay.cli.shell.options import PasswordFile, TakenBy
from replay.cli.shell.people import Signing
from replay.recording.answers import totals
from replay.recording.hand_history import FACT, Hand, HandFact, facts_of, hands, unit_of
from replay.roster.door import Door
from replay.shell.connections import opened_tape
from replay.shell.output import Json, print_text
from replay.text.file_names import plain

SECOND_US = 1_000_000
ROUND_US = 600 * SECOND_US
"""The time between hands if the file has no times."""

NO_DAY = "1970-01-01"

app = family()


@app.command("import-phh")
def import_phh(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Hand histories (.phh).")],
    *,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FEED", help="Only write the facts to this file; `-`: print them."),
    ] = None,
    property_: Annotated[str, typer.Option("--property", help="Casino of the table.")] = "phh",
    table: Annotated[str | None, typer.Option(help="The table; else the one in the file.")] = None,
    by: TakenBy = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Convert Poker Hand History files to facts.

    The facts are ingested and ruled on.

    It reads 2-7 Triple Draw (F2L3D), Badugi (FB), and Omaha (PO, FO/8) with five cards. What the
    notation lacks is derived. Each fact says in `derived` what that is: its time, or the whole fact
    (a burn, a returned bet, a push of chips). A chip of 1 counts as a dollar. The same file again
    is answered `duplicate`. Exit code 1 if a ruling has findings. Once the ledger has users, a
    person of finance or ops signs it.

    Example: round-ledger import-phh hand-17.phh --to hand-17.jsonl
    """
    lines = list(_lines([hand for path in files for hand in _read(path)], property_, table))
    if to is not None:
        _write(lines, to)
        return
    facts = [_fact(line) for line in lines]
    with opened_tape() as tape:
        Signing(by, password_file).of(tape.database, *KEEPERS)
        _keep(tape, lines, json=json)
    if print_rulings(feed.adjudicate(facts), len(facts), json=json):
        raise typer.Exit(FINDINGS)


def _read(path: Path) -> list[Hand]:
    try:
        return hands(path.read_bytes(), str(path))
    except OSError as error:
        raise Usage(
            f"The hand history cannot be read: {error.strerror}",
            where=str(path),
            hint="Check its name and that you may read it.",
        ) from error


def _write(lines: list[bytes], to: Path) -> None:
    if str(to) == "-":
        for line in lines:
            print_text(line.decode())
    else:
        to.write_bytes(b"".join(line + b"\n" for line in lines))


def _fact(line: bytes) -> Fact:
    """The fact of a line. Raises `Usage` if the file has something that no fact may have."""
    judged = parse_line(line)
    if isinstance(judged, Quarantined):
        raise Usage(
            f"A hand gives a malformed fact: {judged.what}", where=judged.where, hint=judged.hint
        )
    return fact_of(judged)


def _keep(tape: PostgresTape, lines: list[bytes], *, json: bool) -> None:
    """Append the facts, and print how many were new."""
    numbered = [FeedLine("import-phh", number, line) for number, line in enumerate(lines, 1)]
    with Committer(tape) as committer:
        verdicts = Counter[str](
            kept.receipt.verdict for kept in keep(committer, [numbered], Door(tape))
        )
    if not json:
        print_totals(totals(verdicts), json=False)


def _lines(of: list[Hand], property_: str, table: str | None) -> Iterator[bytes]:
    """The feed of all hands; a hand without a number gets its index."""
    filed: set[tuple[str, str, str]] = set()
    for order, hand in enumerate(of, 1):
        at = table or "PHH-" + plain(str(hand.fields.get("table", 1)), "-")[:60]
        day, number = _day(hand), hand.fields.get("hand")
        number = number if isinstance(number, int) and number > 0 else order
        if (at, day, hand.game) not in filed:
            filed.add((at, day, hand.game))
            yield _filing(hand, property_, at, day)
        began_us = _noon_us(day) + number * ROUND_US
        for index, each in enumerate(facts_of(hand)):
            id_ = f"{hand.digest[:24]}-{index + 1}"
            subject = f"{at}/{day}/{number}"
            source = f"/{property_}/{at}/phh"
            line = encode(each.body, source, id_, began_us + index * SECOND_US, subject)
            yield _marked(line, each)


def _marked(line: bytes, told: HandFact) -> bytes:
    """The fact with the field `derived`, which readers of facts ignore."""
    event = msgspec.json.decode(line)
    event["data"]["derived"] = told.derived
    return msgspec.json.encode(event)


def _filing(hand: Hand, property_: str, table: str, day: str) -> bytes:
    """A Rules Submission for the table, with the notation's smallest chip."""
    unit = unit_of(hand)
    body = RulesSubmissionFiled(
        game=hand.game,
        effective_from=day,
        offers=("ante", "straddle"),
        breakage=Breakage(unit=unit),
    )
    id_ = f"phh-{table}-{day}-{hand.game}-{unit}"
    line = encode(body, f"/{property_}/office/phh", id_, _noon_us(day), table)
    return _marked(line, HandFact(body, FACT))


def _day(hand: Hand) -> str:
    """The gaming day: the file's date. Raises `Usage` if it is not a date."""
    parts = [hand.fields.get(name) for name in ("year", "month", "day")]
    if not all(isinstance(part, int) for part in parts):
        return NO_DAY
    try:
        return date(*parts).isoformat()  # type: ignore[arg-type]  # whole numbers
    except ValueError as error:
        raise Usage(
            f"The hand history has no valid date: {error}",
            where=hand.name,
            hint="Check its year, month and day.",
        ) from error


def _noon_us(day: str) -> int:
    return parse_time(f"{day}T12:00:00Z") or 0
