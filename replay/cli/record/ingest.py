"""`ingest` and `quarantine`: append facts, and show or release malformed input."""

import base64
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from msgspec import to_builtins

from infra.postgres.tape import PostgresTape
from ledger.errors import Refused, Usage
from ledger.record.group_commit import Committer
from ledger.record.tape import (
    Counters,
    InQuarantine,
    Quarantined,
    Receipt,
    Received,
    frame_attributes,
    unframe_attributes,
)
from ledger.record.wire import parse_kept, parse_line, parse_structured
from ledger.values import format_time
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.feeds import FeedLine, Feeds, blocks, opened, size
from replay.recording.answers import answer, totals
from replay.shell.connections import opened_tape
from replay.shell.output import Json, print_json, print_list, progress, say, show_table, warn
from replay.shell.settings import in_force
from replay.shell.zones import zones
from replay.text.times import stamp

BLOCKS_WAITING_MAX = 4
"""The most blocks submitted to the record whose receipts were not read yet."""

SHOWN_OCTETS = 1_000
"""Bytes of a malformed input shown in a list."""

NAMED = "quarantineid"
"""The attribute with which a corrected fact names the input it replaces."""

app = family()
quarantine = family()
app.add_typer(quarantine, name="quarantine", help="Show malformed inputs, and release them.")

Number = Annotated[int, typer.Argument(metavar="ID", min=1, help="Its number, from `list`.")]


class IngestedLine(NamedTuple):
    """A line, its judgement and its receipt."""

    line: FeedLine
    judged: Received | Quarantined
    receipt: Receipt


class _Block(NamedTuple):
    lines: list[FeedLine]
    judged: list[Received | Quarantined]
    receipts: Future[list[Receipt]]


@app.command("ingest")
def ingest(
    feeds: Feeds,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", help="Follow the file as it grows, until stopped.")
    ] = False,
    to: Annotated[
        str | None, typer.Option(metavar="URL", help="With --follow: the ledger to send to.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with this device's key.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if any line was not accepted.")
    ] = False,
    json: Json = False,
) -> None:
    """Ingest a feed; print a verdict per fact.

    A malformed line goes to quarantine with its bytes and a reason. The exit code is then still 0,
    because the line is kept; `--strict` makes it 1. Sending a feed again is safe: a fact on record
    is answered `duplicate` with its first receipt.

    `--follow` stores and forwards. It sends lines as they are written, through network cuts and
    rotation. It saves its checkpoint beside the file (`FILE.place`) once the lines are accepted.
    With `--to https://ledger.example` it sends to `POST /v1/facts` there, else to the ledger here.

    Example: round-ledger ingest demo/footage.jsonl
    """
    if follow:
        from replay.cli.record.follow import follow_file  # noqa: PLC0415 - needed with --follow only

        print_totals(totals(follow_file(feeds, to, key_file, json=json)), json=json, strict=strict)
        return
    if to or key_file:
        raise Usage(
            "--to and --key-file need --follow",
            where="--to, --key-file",
            hint="Add --follow.",
        )
    verdicts: Counter[str] = Counter()
    with (
        opened(feeds) as sources,
        opened_tape() as tape,
        Committer(tape) as committer,
        progress("ingest", size(sources)) as advance,
    ):
        try:
            for line, judged, receipt in keep(committer, blocks(sources)):
                verdicts[receipt.verdict] += 1
                advance(len(line.octets) + 1)
                if json:
                    which = {"feed": line.feed} if len(feeds) > 1 else {}
                    print_json(answer(judged, receipt), {**which, "line": line.number})
        except KeyboardInterrupt:
            say(f"Stopped after {verdicts.total():,} lines; sending the whole feed again is safe.")
            raise
    print_totals(totals(verdicts), json=json, strict=strict)


def print_totals(counted: Counters, *, json: bool, strict: bool = False) -> None:
    """Print the number of each verdict, in red if something went to quarantine.

    Raises `Exit` with code 1 if that happened and `strict` was asked for.
    """
    if json:
        print_json(counted._asdict())
    else:
        show_table("Ingested", counted._fields, [[f"{n:,}" for n in counted]], right="all")
    refused = counted.quarantined + counted.equivocation
    if refused:
        warn(
            f"{refused:,} of {counted.received:,} lines went to quarantine."
            " `round-ledger quarantine list` shows each with its reason."
        )
    if refused and strict:
        raise typer.Exit(FINDINGS)


def keep(committer: Committer, lines: Iterable[list[FeedLine]]) -> Iterator[IngestedLine]:
    """Judge and append block after block; the receipts in order, as they arrive.

    While one block is committed, the next is judged. An empty block means that no line is waiting;
    then pending receipts are awaited.
    """
    waiting: deque[_Block] = deque()
    for block in lines:
        if block:
            judged = [parse_line(line.octets) for line in block]
            waiting.append(_Block(block, judged, committer.submit(judged)))
        while waiting and (not block or len(waiting) > BLOCKS_WAITING_MAX):
            yield from _receipts(waiting.popleft())
    for left in waiting:
        yield from _receipts(left)


def _receipts(block: _Block) -> Iterator[IngestedLine]:
    return map(IngestedLine, block.lines, block.judged, block.receipts.result())


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
                "what": lambda row: row.what,
                "where": lambda row: row.where,
                "released as": lambda row: row.released_position or "",
            },
            json=json,
            as_json=lambda row: _as_json(row, SHOWN_OCTETS),
            right="id times",
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
    json: Json = False,
) -> None:
    """Judge the same bytes again, or append a corrected fact for them.

    After an upgrade, bytes that were malformed may be a fact. A corrected fact is appended with the
    attribute `quarantineid`, the number of the input that it replaces.

    Example: round-ledger quarantine release 17 --as corrected.json
    """
    with opened_tape() as tape:
        row = tape.in_quarantine(number)
        fact = _same_again(row) if corrected is None else _corrected(corrected, number)
        receipt = tape.release(number, fact)
    said = answer(fact, receipt)
    if json:
        print_json(said, {"released": number})
    else:
        show_table(f"Number {number}", ("", "released"), to_builtins(said).items())


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
        "times_received": row.times_received,
        "last_received_at": format_time(row.last_received_at_us),
        "released_at": released_at,
        "released_position": row.released_position,
    }


def _same_again(row: InQuarantine) -> Received:
    where = f"number {row.quarantine_id} in quarantine"
    if row.verdict == "equivocation":
        raise Refused(
            "It is a well-formed fact, but its source and id are on record with other bytes",
            where=where,
            hint="If it is the true one, append a `fact_corrected` for the other with --as.",
        )
    judged = parse_kept(row.octets)
    if isinstance(judged, Quarantined):
        raise Refused(
            f"It is still malformed: {judged.what} ({judged.reason})",
            where=f"{where}, {judged.where}",
            hint=f"Correct it and append the corrected fact with --as: {judged.hint}.",
        )
    return judged


def _corrected(path: Path, number: int) -> Received:
    """The fact in a file, with the number of the input it replaces."""
    try:
        octets = path.read_bytes()
    except OSError as error:
        raise Usage(
            f"The fact cannot be read: {error.strerror}",
            where=str(path),
            hint="Give a file with one fact.",
        ) from error
    judged = parse_structured(octets.strip())
    if isinstance(judged, Quarantined):
        raise Usage(
            f"{judged.what} ({judged.reason})", where=f"{path} {judged.where}", hint=judged.hint
        )
    attributes = unframe_attributes(judged.attributes)
    if attributes.setdefault(NAMED, str(number)) != str(number):
        raise Usage(
            f"The fact replaces number {attributes[NAMED]}, not {number}",
            where=f"{path} $.{NAMED}",
            hint=f"Leave `{NAMED}` out: it is added.",
        )
    return judged._replace(attributes=frame_attributes(attributes))
