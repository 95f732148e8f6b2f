"""The quick look at the copies of a row finds none equal that the decoded frame does not."""

from __future__ import annotations

import random

import pytest

from ledger.record import verify
from ledger.record.tape import TapeRow, frame
from ledger.record.verify import copies_agree
from tests.suite.budget import budget

NAMES = (b"boot", b"id", b"sequence", b"source", b"specversion", b"subject", b"time", b"type")
VALUES = (b"a", b"b", b"", b"/h/t/d", b"x" * 100)
ODD_NAMES = (b"id", b"source", b"subject", b"traceparent", b"\xff", b"")
ODD_VALUES = (b"x" * 200, b"\xc3\xa9", b"\xff", frame((b"id", b"a")), frame((b"", b"id", b"a"))[8:])
COPIES = ("a", "b", "", "/h/t/d", "é", None)

Pairs = list[tuple[bytes, bytes]]


def usual(chance: random.Random) -> Pairs:
    """The attributes of most facts, by name, a few of them absent."""
    fixed = {b"specversion": b"1.0", b"type": b"roundledger.t"}
    absent = chance.sample((b"boot", b"sequence", b"subject"), chance.randint(0, 3))
    return [
        (name, fixed.get(name) or chance.choice(VALUES)) for name in NAMES if name not in absent
    ]


def changed(pairs: Pairs, chance: random.Random) -> Pairs:
    """The same with a pair added, left out, doubled, moved or replaced."""
    others = list(pairs)
    at = chance.randrange(len(others))
    odd = (chance.choice(ODD_NAMES), chance.choice(VALUES + ODD_VALUES))
    match chance.randrange(5):
        case 0:
            others.insert(at, odd)
        case 1:
            others.pop(at)
        case 2:
            others.insert(chance.randrange(len(others)), others[at])
        case 3:
            chance.shuffle(others)
        case _:
            others[at] = (others[at][0], odd[1])
    return others


def edited(octets: bytes, chance: random.Random) -> bytes:
    """The same with a byte replaced or left out, or more bytes at the end."""
    at = chance.randrange(len(octets) + 1)
    return octets[:at] + chance.choice((b"", bytes([chance.randrange(256)]))) + octets[at + 1 :]


def copy_of(name: bytes, pairs: Pairs, chance: random.Random) -> str | None:
    """What a column holds: mostly what the frame says, if that can be decoded."""
    told = dict(pairs).get(name)
    try:
        said = told.decode() if told is not None else None
    except UnicodeDecodeError:
        said = ""
    return said if chance.random() < 0.9 else chance.choice(COPIES)


def a_row(chance: random.Random) -> TapeRow:
    pairs = usual(chance)
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        pairs = changed(pairs, chance)
    octets = frame(part for pair in pairs for part in pair)
    if chance.random() < 0.2:
        octets = edited(octets, chance)
    id_, source, subject = (copy_of(name, pairs, chance) for name in (b"id", b"source", b"subject"))
    return TapeRow(1, "h/t", 1, "t", source or "", id_ or "", 0, subject, 0, octets, b"", b"")


def compared(tried: int) -> tuple[int, int]:
    """Rows that agree, and those of them that the quick look finds; both ways never differ."""
    chance = random.Random(5)  # noqa: S311 - repeatable
    agreed = quickly = 0
    for _ in range(tried):
        row = a_row(chance)
        quick = verify._surely_agree(row)
        decoded = verify._decoded_agree(row)
        assert decoded or not quick, row
        assert copies_agree(row) is decoded
        agreed += decoded
        quickly += quick
    return agreed, quickly


@budget("tried", everyday=5_000, whole=400_000)
def test_a_row_agrees_with_its_frame_as_the_decoded_frame_says(tried: int) -> None:
    agreed, quickly = compared(tried)
    assert agreed > tried / 4
    assert quickly > agreed / 2


def believed(name: bytes, octets: bytes) -> bool:
    """The look at one pair without its length."""
    return octets.startswith(name)


def test_lengths_that_are_not_checked_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the lengths, the quick look finds copies that are not there."""
    monkeypatch.setattr(verify, "_is_pair", believed)
    with pytest.raises(AssertionError):
        compared(5_000)
