"""The bytes that a device signs, and the two attributes that carry a signature (ADR 0231).

Signed are: `DOMAIN`; every attribute but `signature`, framed as the record frames them; and SHA-256
of the bytes of `data`. Knows no library of cryptography.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode
from binascii import Error
from typing import TYPE_CHECKING, NamedTuple

from ledger.record.tape import frame_attributes, unframe_attributes

if TYPE_CHECKING:
    from ledger.record.tape import Received

SIGNKEY, SIGNATURE = "signkey", "signature"
"""The attributes: the id of the key, and its signature in base64."""

DOMAIN = b"roundledger fact v1\0"
"""What opens the signed bytes, so that no other signature of the key is one over a fact."""

ROTATION = b"roundledger rotation v1\0"
"""The same for the old key's signature over its successor."""

SIGNATURE_OCTETS = 64
PUBLIC_OCTETS = 32


class FactSignature(NamedTuple):
    """What a fact says of its signature, and the bytes that it is over."""

    key: str | None
    signature: bytes | None  # None: not 64 bytes in base64
    octets: bytes


def key_id(public: bytes) -> str:
    """The id of a key, from its public half: nobody chooses it."""
    return hashlib.sha256(public).hexdigest()[:16]


def octets_to_sign(attributes: dict[str, str], data: bytes) -> bytes:
    """The bytes that a key signs for a fact; `attributes` without `signature`, with `signkey`."""
    return DOMAIN + frame_attributes(attributes) + hashlib.sha256(data).digest()


def octets_of_rotation(old: str, public: bytes) -> bytes:
    """The bytes that an old key signs to name its successor."""
    return ROTATION + old.encode() + public


def signed(fact: Received) -> FactSignature:
    """A fact's key and signature, each None if it has none."""
    attributes = unframe_attributes(fact.attributes)
    text = attributes.pop(SIGNATURE, None)
    octets = octets_to_sign(attributes, fact.data)
    return FactSignature(attributes.get(SIGNKEY), None if text is None else decoded(text), octets)


def decoded(text: str, size: int = SIGNATURE_OCTETS) -> bytes | None:
    """Base64 of exactly `size` bytes; None for another text."""
    try:
        octets = b64decode(text, validate=True)
    except (Error, ValueError):
        return None
    return octets if len(octets) == size else None
