"""Signing keys of devices in files, and lines of a feed signed with them.

A private half is a PEM file that only its owner can read. A public half is PEM, or base64 of its 32
bytes. A device that signs needs the library `cryptography`.
"""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from ledger.errors import Refused, Usage
from ledger.record.tape import Received, frame_attributes, unframe_attributes
from ledger.record.wire import parse_line, structured
from ledger.roster.signature import (
    PUBLIC_OCTETS,
    SIGNATURE,
    SIGNKEY,
    decoded,
    key_id,
    octets_of_rotation,
    octets_to_sign,
)

if TYPE_CHECKING:
    from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_publics: dict[bytes, Ed25519PublicKey] = {}
_PUBLICS_MAX = 10_000


class DeviceKey(NamedTuple):
    """A device's key with its secret half."""

    key: str
    public: bytes
    secret: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"DeviceKey({self.key})"


def of_secret(secret: Ed25519PrivateKey) -> DeviceKey:
    """A key from its secret half."""
    public = secret.public_key().public_bytes_raw()
    return DeviceKey(key_id(public), public, secret)


def make(path: Path) -> DeviceKey:
    """Make a key and write its secret half to a new file, mode 0600. Raises `Refused`."""
    made = of_secret(Ed25519PrivateKey.generate())
    pem = made.secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Refused(
            f"The private key cannot be written: {error.strerror}",
            where=str(path),
            hint="Name a new file in a folder that you may write to.",
        ) from error
    return made


def load(path: Path) -> DeviceKey:
    """The key in a file. Raises `Usage` if it holds none, or if others can read it."""
    try:
        if path.stat().st_mode & _OTHERS:
            raise Usage(
                "Others can read the private key", where=str(path), hint=f"chmod 600 {path}"
            )
        secret = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, "private") from error
    if not isinstance(secret, Ed25519PrivateKey):
        raise _unreadable(path, "private")
    return of_secret(secret)


def load_public(path: Path) -> bytes:
    """The public half in a file: PEM, or base64 of 32 bytes. Raises `Usage`."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, "public") from error
    with suppress(UnicodeDecodeError):
        raw = decoded(text.decode().strip(), PUBLIC_OCTETS)
        if raw is not None:
            return raw
    try:
        public = load_pem_public_key(text)
    except ValueError as error:
        raise _unreadable(path, "public") from error
    if not isinstance(public, Ed25519PublicKey):
        raise _unreadable(path, "public")
    return public.public_bytes_raw()


def _unreadable(path: Path, half: str) -> Usage:
    return Usage(
        f"No {half} half of an Ed25519 key can be read",
        where=str(path),
        hint="Name a PEM file; `round-ledger keys enrol --private-key FILE` makes a key.",
    )


def verifies(public: bytes, signature: bytes, octets: bytes) -> bool:
    """Whether a signature by this public half is over these bytes."""
    key = _publics.get(public)
    if key is None:
        if len(_publics) >= _PUBLICS_MAX:
            _publics.clear()
        with suppress(ValueError):
            key = _publics[public] = Ed25519PublicKey.from_public_bytes(public)
    if key is None:
        return False
    try:
        key.verify(signature, octets)
    except InvalidSignature:
        return False
    return True


def sign(fact: Received, key: DeviceKey) -> Received:
    """The fact signed with a key, instead of any signature that it has."""
    attributes = unframe_attributes(fact.attributes)
    attributes.pop(SIGNATURE, None)
    attributes[SIGNKEY] = key.key
    signature = key.secret.sign(octets_to_sign(attributes, fact.data))
    attributes[SIGNATURE] = b64encode(signature).decode()
    return fact._replace(attributes=frame_attributes(attributes))


def sign_line(octets: bytes, key: DeviceKey) -> bytes:
    """A line of a feed, signed; one that is not a fact as it is."""
    judged = parse_line(octets)
    return structured(sign(judged, key)) if isinstance(judged, Received) else octets


def sign_rotation(old: DeviceKey, public: bytes) -> str:
    """The old key's signature over its successor, in base64."""
    return b64encode(old.secret.sign(octets_of_rotation(old.key, public))).decode()
