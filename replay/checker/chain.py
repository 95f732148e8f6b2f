"""Checks of facts against the hash chains of their tapes, recomputed from the bytes received.

No hash in the dossier is trusted: each is recomputed from the fact and the previous hash.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any, Iterable, Iterator

from replay.checker.package import Package, printable
from replay.checker.reading import Malformed, ReceivedFact, an_object, microseconds, with_octets
from replay.checker.report import Dossier, Report, Row

PROOF, HEADS, FACTS = "proof.jsonl", "heads.jsonl", "facts.jsonl"
_INTEGERS = ("table_seq", "position", "time_us", "received_at_us")


def rows_of(package: Package) -> list[Row]:
    """The lines of proof.jsonl. Raises Malformed."""
    found = []
    for number, line in enumerate(package.whole(PROOF).splitlines(), 1):
        where = f"{PROOF} line {number}"
        told = an_object(line, where)
        try:
            found.append(_row(told))
        except (KeyError, TypeError, ValueError):
            raise Malformed(f"{where} does not give a fact's place in the chain.") from None
    return found


def check_facts(dossier: Dossier, report: Report) -> None:
    """Check that the files hold exactly the facts of the chain, each with the bytes received."""
    chained = {row.key: row for row in dossier.rows if row.key}
    problems: list[str] = []
    count = 0
    for file, facts in sorted(dossier.facts.items()):
        keys = [fact.key for fact in facts]
        listed = sorted((row for row in chained.values() if row.file == file), key=_line)
        gone = [row for row in listed if row.key not in set(keys)]
        problems += [
            f"A fact was removed from {printable(file)}: {_named(row.key)}, at {row.place}, "
            "is in the chain and not in the file."
            for row in gone
        ]
        problems += _added(facts, chained, file)
        same = {row.key for row in listed} == set(keys) and len(keys) == len(set(keys))
        if same and [row.key for row in listed] != keys:
            problems.append(f"{printable(file)} is out of order: facts were moved.")
        for fact in facts:
            if fact.key in chained and chained[fact.key].file == file:
                problems += _differs(fact, chained[fact.key])
        count += len(facts)
    problems += [
        f"A fact was removed: {_named(row.key)}, at {row.place}, should be in "
        f"{printable(row.file)}, which is not a file of facts."
        for row in dossier.rows
        if row.file is not None and row.file not in dossier.facts
    ]
    report.settle(
        problems,
        f"All {count} facts have the bytes that were received: the hash of each is in the chain.",
    )


def check_chain(dossier: Dossier, report: Report) -> None:
    """Check that each row has its own hash, follows the row before, and that no row is missing."""
    problems = []
    by_tape: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in dossier.rows:
        if row.table_seq in by_tape[row.tape]:
            problems.append(f"The chain contains {row.place} twice.")
        by_tape[row.tape][row.table_seq] = row
    for rows in by_tape.values():
        problems += _first_break([rows[seq] for seq in sorted(rows)])
    stretches = dossier.manifest.get("stretches", [])
    what = "window" if dossier.manifest.get("window") else "round"
    for stretch in stretches:
        problems += _lacking(stretch, by_tape.get(stretch["tape"], {}))
    problems += [
        f"{row.place} is a fact of the {what}, outside the ranges of rows in this dossier."
        for row in dossier.rows
        if row.file == FACTS and not any(_within(row, stretch) for stretch in stretches)
    ]
    told = ", ".join(f"{printable(s['tape'])} {s['from']} to {s['to']}" for s in stretches)
    whole = len({stretch["tape"] for stretch in stretches}) == len(stretches)
    report.settle(
        problems,
        f"The hash chain is whole from the first fact of the {what} to its last ({told})."
        if whole
        else f"The hash chain is whole in each range of rows ({told}).",
    )
    if not whole:
        report.unknown.append(
            f"Facts of the {what} are far apart on a tape, and the rows between the ranges are "
            f"not in this dossier. That none of them belongs to this {what} is not shown: only "
            "the signature vouches for it."
        )


def check_heads(dossier: Dossier, kept: list[dict[str, Any]], report: Report) -> None:
    """Compare the pinned head of each tape with the chain and with heads kept elsewhere."""
    problems: list[str] = []
    stored = [
        an_object(line, f"{HEADS} line {number}")
        for number, line in enumerate(dossier.package.whole(HEADS).splitlines(), 1)
    ]
    pinned = dossier.manifest.get("heads", [])
    rows = {(row.tape, row.table_seq): row for row in dossier.rows}
    if pinned != stored:
        problems.append("heads.jsonl differs from manifest.json: a head was changed.")
    newest = {head["place"]: head for head in pinned}
    for row in dossier.rows:
        head = newest.get(row.tape)
        if head is None or row.table_seq > head["sequence"]:
            problems.append(f"{row.place} comes after the pinned head of its tape.")
    for head in pinned:
        problems += _contradicts(head, rows, "the pinned head")
    last = {row.tape: row.table_seq for row in sorted(dossier.rows, key=_place)}
    beyond = sum(newest[tape]["sequence"] - seq for tape, seq in last.items() if tape in newest)
    count = sum(head["sequence"] for head in pinned)
    report.settle(
        problems, f"The heads of {len(pinned)} tapes are pinned; the tapes have {count} facts."
    )
    if beyond > 0:
        report.unknown.append(
            "Rows between those of this dossier and the pinned heads of their tapes: "
            f"{beyond}. Only the signature vouches that the chain is whole there. On the record, "
            "`round-ledger verify --head heads.jsonl` shows it."
        )
    for head in kept:
        _compare(head, newest, rows, report)


def _place(row: Row) -> tuple[str, int]:
    return row.tape, row.table_seq


def _compare(
    head: dict[str, Any],
    newest: dict[str, Any],
    rows: dict[tuple[str, int], Row],
    report: Report,
) -> None:
    """Compare a head that the reader kept or got from someone else."""
    place, number = printable(head.get("place")), head.get("sequence")
    there = newest.get(str(head.get("place")))
    if there and there["sequence"] == number:
        same = there["hash"] == head.get("hash")
    elif (head.get("place"), number) in rows:
        same = not list(_contradicts(head, rows, ""))
    else:
        report.unknown.append(
            f"Your head of {place}, sequence {number}, is neither the pinned head nor a row of "
            "this dossier. Only the whole record can be compared with it."
        )
        return
    if same:
        report.holds.append(
            f"Your head of {place}, sequence {number}, is in this dossier with the same hash."
        )
    else:
        report.broken.append(
            f"Your head of {place}, sequence {number}, has another hash: the record was rewritten "
            "after you got the head, or this dossier is of another record."
        )


def _within(row: Row, stretch: dict[str, Any]) -> bool:
    here: bool = stretch["tape"] == row.tape
    return here and stretch["from"] <= row.table_seq <= stretch["to"]


def _row(told: dict[str, Any]) -> Row:
    if not all(type(told[name]) is int and abs(told[name]) < 1 << 63 for name in _INTEGERS):
        raise ValueError(told)
    hashes = [bytes.fromhex(told[name]) for name in ("payload", "previous", "hash")]
    if {len(each) for each in hashes} != {32}:
        raise ValueError(told)
    return Row(
        tape=str(told["tape"]),
        table_seq=told["table_seq"],
        position=told["position"],
        type=str(told["type"]),
        time_us=told["time_us"],
        received_at_us=told["received_at_us"],
        payload=hashes[0],
        previous=hashes[1],
        hash=hashes[2],
        file=told["file"],
        line=told["line"],
        key=(str(told["source"]), str(told["id"])) if told["file"] else None,
        data_base64=told["data_base64"],
    )


def _line(row: Row) -> int:
    return row.line or 0


def _added(facts: list[ReceivedFact], chained: dict[Any, Row], file: str) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for fact in facts:
        row = chained.get(fact.key)
        if fact.key in seen:
            yield f"{printable(fact.where)} repeats an earlier line."
        elif row is None or row.file != file:
            yield (
                f"{printable(fact.where)} was added: no row of the chain has "
                f"{_named(fact.key)} there."
            )
        seen.add(fact.key)


def _differs(fact: ReceivedFact, row: Row) -> Iterator[str]:
    """How a fact differs from its row of the chain, if it does."""
    if row.data_base64 is not None:
        try:
            fact = with_octets(fact, row.data_base64)
        except Malformed as error:
            yield str(error)
            return
    said = (fact.tape, fact.kind, microseconds(fact.attributes.get("time", "")))
    if _payload(fact) != row.payload:
        yield (
            f"{printable(fact.where)} was edited: its hash is not that of the fact received at "
            f"{row.place} ({printable(fact.name)})."
        )
    elif said != (row.tape, row.type, row.time_us):
        yield f"{printable(fact.where)} has another tape, type or time than its row of the chain."


def _payload(fact: ReceivedFact) -> bytes:
    named = fact.attributes
    attributes = _frame(part.encode() for name in sorted(named) for part in (name, named[name]))
    return hashlib.sha256(_frame((attributes, fact.data))).digest()


def _frame(parts: Iterable[bytes]) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def row_hash(row: Row) -> bytes:
    """The hash of a row, recomputed from the one before it and the row's parts."""
    numbers = (row.position, row.table_seq, row.time_us, row.received_at_us)
    return hashlib.sha256(
        b"\x02"
        + row.previous
        + b"".join(number.to_bytes(8, "big", signed=True) for number in numbers)
        + _frame((row.tape.encode(), row.type.encode()))
        + row.payload
    ).digest()


def _first_break(rows: list[Row]) -> Iterator[str]:
    """The first break in the rows of a tape; its consequences are not reported."""
    before: Row | None = None
    for row in rows:
        if row_hash(row) != row.hash:
            yield f"The chain is broken at {row.place}: the row does not have the hash it states."
            return
        joins = before is not None and before.table_seq + 1 == row.table_seq
        if before and joins and before.hash != row.previous:
            yield (
                f"The chain is broken before {row.place}: the row does not follow the one before "
                "it."
            )
            return
        if before and before.position >= row.position:
            yield f"The chain is out of order at {row.place}: a later row comes before it."
            return
        before = row


def _lacking(stretch: dict[str, Any], rows: dict[int, Row]) -> Iterator[str]:
    tape, first, last = printable(stretch["tape"]), stretch["from"], stretch["to"]
    here = sorted(number for number in rows if first <= number <= last)
    if len(here) == last - first + 1:
        return
    gone = next((at for at, number in enumerate(here, first) if at != number), first + len(here))
    if here and here[-1] == gone - 1:
        yield (
            f"The chain of {tape} is cut off: it ends before sequence {gone}, and should end at "
            f"{last}."
        )
    else:
        yield f"The chain of {tape} lacks sequence {gone}: a row was removed."


def _contradicts(
    head: dict[str, Any], rows: dict[tuple[str, int], Row], whose: str
) -> Iterator[str]:
    row = rows.get((str(head.get("place")), head.get("sequence")))  # type: ignore[arg-type] # any JSON value
    if row and (row.hash.hex(), row.position) != (head.get("hash"), head.get("position")):
        yield f"{row.place} has another hash or position than {whose} of its tape states."


def _named(key: tuple[str, str] | None) -> str:
    return f"{printable(key[0])} {printable(key[1])}" if key else "a fact"
