"""Signing keys of devices, and what each role of device may report: facts of a property's office.

Commands record them. The door refuses them from a device (ADR 0232).
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ledger.facts.vocabulary import Body, Employee, Identifier, Place, Text
from ledger.values import NAME

_END = r"(?![\s\S])"

KeyId = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{16}}{_END}")]
"""The id of a signing key: the first 8 bytes of SHA-256 of its public half, hexadecimal."""

PublicKey = Annotated[str, Meta(pattern=rf"^[A-Za-z0-9+/]{{43}}={_END}")]
"""The public half of an Ed25519 key: 32 bytes in base64."""

Signature = Annotated[str, Meta(pattern=rf"^[A-Za-z0-9+/]{{86}}=={_END}")]
"""An Ed25519 signature: 64 bytes in base64."""

SourcePrefix = Annotated[str, Meta(pattern=rf"^/{NAME}(?:/{NAME}){{0,2}}{_END}", max_length=256)]
"""A source, or the beginning of sources: `/property`, `/property/place/device`."""


class Grant(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """Facts that a role may report, and what they may be about.

    facts: names without version; tables: `own` (the place of the source), `any`, or a list;
    cameras: `own` (the device of the source) or `any`.
    """

    facts: Annotated[tuple[Identifier, ...], Meta(max_length=500)]
    tables: Literal["own", "any"] | Annotated[tuple[Place, ...], Meta(max_length=1000)] = "own"
    cameras: Literal["own", "any"] = "own"


class KeyEnrolled(Body, frozen=True, kw_only=True):
    """A device's signing key is put on the roster. source: what it may sign for."""

    key: KeyId
    public_key: PublicKey
    source: SourcePrefix
    role: Identifier
    by: Employee


class KeyRotated(Body, frozen=True, kw_only=True):
    """A key is replaced by another for the same source and role.

    key, public_key: the new one; replaces: the old one; signature: the old key's over the new one.
    """

    key: KeyId
    public_key: PublicKey
    replaces: KeyId
    signature: Signature
    by: Employee


class KeyRevoked(Body, frozen=True, kw_only=True):
    """A key signs nothing any more."""

    key: KeyId
    because: Text
    by: Employee


class GrantsSet(Body, frozen=True, kw_only=True):
    """What a role of device may report from now on, instead of what it might before."""

    role: Identifier
    grants: Annotated[tuple[Grant, ...], Meta(max_length=64)]
    because: Text
    by: Employee
