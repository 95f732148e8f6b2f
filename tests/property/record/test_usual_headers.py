"""Headers made from a frame's bytes are those of the strict way, or are left to it."""

from __future__ import annotations

import random

from infra.kafka.records import strict_headers, usual_headers
from ledger.record.tape import frame, frame_attributes

ROUNDS = 20_000
NAMES = (
    "boot",
    "id",
    "sequence",
    "source",
    "specversion",
    "subject",
    "time",
    "traceparent",
    "type",
)
TEXTS = ("", "x", "/hollywood/CC-07/shoe", "é", "\0", "\x7f", "x" * 300)


def changed(chance: random.Random, octets: bytes) -> bytes:
    """The frame with a part of it cut out, doubled, or with another byte in it."""
    at, end = sorted(chance.randrange(len(octets) + 1) for _ in range(2))
    if chance.random() < 0.5:
        end = min(at + 1, len(octets))
    part = chance.choice((b"", octets[at:end] * 2, bytes([chance.randrange(256)])))
    return octets[:at] + part + octets[end:]


def test_both_ways_make_the_same_headers() -> None:
    chance = random.Random(17)  # noqa: S311 - repeatable
    taken = refused = 0
    for _ in range(ROUNDS):
        names = chance.sample(NAMES, chance.randrange(len(NAMES) + 1))
        framed = frame_attributes({name: chance.choice(TEXTS) for name in names})
        octets = framed if chance.random() < 0.3 else changed(chance, framed)
        usual = usual_headers(octets)
        if usual is None:
            refused += 1
            continue
        taken += 1
        assert usual == strict_headers(octets)
    assert min(taken, refused) > ROUNDS / 5


def test_unusual_frames_are_left_to_the_strict_way() -> None:
    def framed(*parts: str) -> bytes:
        return frame(part.encode() for part in parts)

    assert usual_headers(framed("id", "1", "type", "t")) == [("ce_id", b"1"), ("ce_type", b"t")]
    for octets in (
        framed("id", "é"),
        framed("id", "1", "id", "2"),
        framed("type", "t", "id", "1"),
        framed("id", "1", "type"),
        framed("id", "1")[:-1],
        framed("id", "1") + b"\0",
    ):
        assert usual_headers(octets) is None, octets
