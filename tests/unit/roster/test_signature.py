"""The bytes that a device signs, by a vector that a script without this program verifies."""

from __future__ import annotations

import hashlib
from base64 import b64decode

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger.record.tape import Received, unframe_attributes
from ledger.record.usual_event import usual_event
from ledger.record.wire import parse_line, structured
from ledger.roster.signature import decoded, key_id, signed
from replay.roster.key_files import of_secret, sign, sign_line, verifies

SEED = bytes(range(32))
LINE = (
    b'{"specversion":"1.0","type":"roundledger.cards_dealt.v1","source":"/hollywood/CC-07/shoe",'
    b'"id":"b1-1","time":"2026-11-20T19:04:11.204000-05:00","subject":"CC-07/2026-11-20/231",'
    b'"sequence":"1","boot":"b1",'
    b'"data":{"to":"player","position":3,"cards":["As","Kd"],"face":"up"}}'
)
DEVICE = of_secret(Ed25519PrivateKey.from_private_bytes(SEED))
KEY = "56475aa75463474c"
SIGNATURE = (
    "w/4fKuVH0e9/2vT0wXG7l5T1PHAH+eaKg1LOkoeKOnQzSWdO5i9sTwpvuC7OXea3/aiLp9vgjdXVbIBxvFm4CQ=="
)


def of(octets: bytes) -> Received:
    judged = parse_line(octets)
    assert isinstance(judged, Received)
    return judged


def test_the_vector_of_the_decision_is_what_is_signed() -> None:
    fact = sign(of(LINE), DEVICE)
    attributes = unframe_attributes(fact.attributes)
    assert (attributes["signkey"], attributes["signature"]) == (KEY, SIGNATURE)


def test_a_few_lines_without_this_program_verify_it() -> None:
    attributes = {
        "boot": "b1",
        "id": "b1-1",
        "sequence": "1",
        "signkey": KEY,
        "source": "/hollywood/CC-07/shoe",
        "specversion": "1.0",
        "subject": "CC-07/2026-11-20/231",
        "time": "2026-11-20T19:04:11.204000-05:00",
        "type": "roundledger.cards_dealt.v1",
    }
    data = b'{"to":"player","position":3,"cards":["As","Kd"],"face":"up"}'
    parts = [part.encode() for name in sorted(attributes) for part in (name, attributes[name])]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    octets = b"roundledger fact v1\0" + framed + hashlib.sha256(data).digest()
    public = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw()
    assert hashlib.sha256(public).hexdigest()[:16] == KEY == key_id(public)
    key = Ed25519PublicKey.from_public_bytes(public)
    key.verify(b64decode(SIGNATURE), octets)
    with pytest.raises(InvalidSignature):
        key.verify(b64decode(SIGNATURE), octets[:-1] + b"x")


def test_a_signed_line_says_the_same_fact_and_is_read_quickly() -> None:
    line = sign_line(LINE, DEVICE)
    fact, bare = of(line), of(LINE)
    assert usual_event(line) == fact
    assert fact._replace(attributes=b"") == bare._replace(attributes=b"")
    assert sign_line(line, DEVICE) == line
    assert of(structured(fact)) == fact


def test_what_is_no_fact_is_sent_unsigned() -> None:
    assert sign_line(b"no fact", DEVICE) == b"no fact"


@pytest.mark.parametrize("text", ["", "x", "AAAA", SIGNATURE[:-1], SIGNATURE + "\n", "é" * 88])
def test_other_text_is_no_signature(text: str) -> None:
    assert decoded(text) is None


def test_every_part_that_is_signed_changes_the_octets() -> None:
    key = DEVICE
    fact = sign(of(LINE), key)
    its = signed(fact)
    assert its.signature is not None
    assert verifies(key.public, its.signature, its.octets)
    for old, new in (
        (b"b1-1", b"b1-2"),
        (b"CC-07/", b"CC-08/"),
        (b'"sequence":"1"', b'"sequence":"2"'),
        (b'"boot":"b1"', b'"boot":"b2"'),
        (b"19:04", b"19:05"),
        (b'"As"', b'"Ac"'),
        (b'{"to"', b'{ "to"'),
    ):
        other = signed(of(structured(fact).replace(old, new)))
        assert other.signature == its.signature
        assert not verifies(key.public, its.signature, other.octets), new


def test_a_public_half_that_is_none_verifies_nothing() -> None:
    assert not verifies(b"short", bytes(64), b"x")
