"""The quick look at the copies of a row finds none equal that the decoded frame does not."""

from __future__ import annotations

import random

from ledger.record import verify
from ledger.record.tape import TapeRow, frame
from ledger.record.verify import copies_agree
from tests.suite.budget import budget

NAMES = (b"boot", b"id", b"id", b"source", b"source", b"subject", b"time", b"\xff", b"")
VALUES = (b"a", b"b", b"", b"/h/t/d", b"\xc3\xa9", b"\xff", b"x" * 200, frame((b"id", b"a")))
COPIED = (b"id", b"source", b"subject")
COPIES = ("a", "b", "", "/h/t/d", "é", None)


def copy_of(told: bytes | None, chance: random.Random) -> str | None:
    """What a column holds: mostly what the frame says, if that can be decoded."""
    try:
        said = told.decode() if told is not None else None
    except UnicodeDecodeError:
        said = ""
    return said if chance.random() < 0.8 else chance.choice(COPIES)


@budget("tried", everyday=5_000, whole=400_000)
def test_a_row_agrees_with_its_frame_as_the_decoded_frame_says(tried: int) -> None:
    chance = random.Random(5)  # noqa: S311
    agreed = quickly = 0
    for _ in range(tried):
        parts = [
            part
            for name in sorted(chance.sample(NAMES, chance.randint(0, 6)))
            for part in (name, chance.choice(VALUES[:4] if chance.random() < 0.7 else VALUES))
        ]
        octets = frame(parts)
        if chance.random() < 0.2:
            at = chance.randrange(len(octets) + 1)
            octets = (
                octets[:at]
                + chance.choice((b"", bytes([chance.randrange(256)])))
                + octets[at + 1 :]
            )
        told = dict(zip(parts[::2], parts[1::2], strict=True))
        id_, source, subject = (copy_of(told.get(name), chance) for name in COPIED)
        row = TapeRow(1, "h/t", 1, "t", source or "", id_ or "", 0, subject, 0, octets, b"", b"")
        quick = verify._surely_agree(row)
        decoded = verify._decoded_agree(row)
        assert decoded or not quick, row
        assert copies_agree(row) is decoded
        agreed += decoded
        quickly += quick
    assert agreed > tried / 50
    assert quickly > agreed / 5
