"""Signed notes, their keys, and the cosignatures of witnesses (C2SP signed-note, tlog-cosignature).

A note is text, an empty line, and a line for each signature. A key has a name and a number of four
bytes. Signatures of unknown keys are passed over; one wrong signature of a known key refuses the
note. Ed25519 only.
"""

from __future__ import annotations

import base64
import hashlib
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger.errors import Refused, Usage

SIGNATURE, COSIGNATURE = 1, 4
"""Types of a key: a log signs the text, a witness signs it with a time before it."""

OCTETS_MAX = 64 * 1024
SIGNATURES_MAX = 64
_DASH = "\N{EM DASH} "
_KEY_OCTETS, _ID_OCTETS, _TIME_OCTETS = 32, 4, 8
_PRIVATE = "PRIVATE+KEY+"


class VerifierKey(NamedTuple):
    """The public half of a key, with which notes are checked."""

    name: str
    key_id: bytes  # 4 bytes
    kind: int  # `SIGNATURE` or `COSIGNATURE`
    public: bytes  # 32 bytes

    def __str__(self) -> str:
        """The key as one line of text: name, number and key."""
        key = base64.b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{key}"


class SignerKey(NamedTuple):
    """A whole key. Its repr shows the public half only."""

    verifier: VerifierKey
    secret: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"SignerKey({self.verifier})"


class Signed(NamedTuple):
    """A signature of a note that holds."""

    key: VerifierKey
    time_s: int | None  # of a cosignature: seconds since 1970-01-01T00:00:00Z by its witness


def new_key(name: str, kind: int) -> SignerKey:
    """A new key of this name. Raises `Usage` for a name that a note cannot hold."""
    if not name or "+" in name or any(each.isspace() or not each.isprintable() for each in name):
        raise Usage(
            f"{name!r} cannot be the name of a key",
            where="the name",
            hint="Give a name without blanks and `+`, such as ledger.casino.example/record.",
        )
    return _signer(name, kind, Ed25519PrivateKey.generate())


def signer_text(key: SignerKey) -> str:
    """The whole key as one line of text, which is secret."""
    verifier = key.verifier
    octets = base64.b64encode(bytes([verifier.kind]) + key.secret.private_bytes_raw()).decode()
    return f"{_PRIVATE}{verifier.name}+{verifier.key_id.hex()}+{octets}\n"


def signer_from_text(text: str, where: str) -> SignerKey:
    """The whole key of a line of `signer_text`. Raises `Refused`, without the text in it."""
    name, _, rest = text.strip().removeprefix(_PRIVATE).partition("+")
    key_id, _, octets = rest.partition("+")
    try:
        kind, *seed = base64.b64decode(octets, validate=True)
        made = _signer(name, kind, Ed25519PrivateKey.from_private_bytes(bytes(seed)))
        if text.startswith(_PRIVATE) and made.verifier.key_id.hex() == key_id:
            return made
    except ValueError:
        pass
    raise Refused(
        "The file is not a key of this program", where=where, hint="Restore it from its copy."
    ) from None


def verifier_from_text(text: str, where: str) -> VerifierKey:
    """The public key of one line of text. Raises `Usage`."""
    name, _, rest = text.strip().partition("+")
    key_id, _, octets = rest.partition("+")
    try:
        decoded = base64.b64decode(octets, validate=True)
        key = VerifierKey(name, bytes.fromhex(key_id), decoded[0], decoded[1:])
    except (ValueError, IndexError):
        key = None
    if (
        key is None
        or key.kind not in (SIGNATURE, COSIGNATURE)
        or len(key.public) != _KEY_OCTETS
        or key.key_id != _key_id(name, key.kind, key.public)
    ):
        raise Usage(
            "This is not the public key of a log or a witness",
            where=where,
            hint="Give the whole line that `log key` or `witness key` prints.",
        )
    return key


def sign(text: str, key: SignerKey, time_s: int = 0) -> str:
    """The line of a signature over a note's text. A witness signs the time with it."""
    verifier = key.verifier
    signature = key.secret.sign(_message(text, verifier.kind, time_s))
    if verifier.kind == COSIGNATURE:
        signature = time_s.to_bytes(_TIME_OCTETS, "big") + signature
    return f"{_DASH}{verifier.name} {base64.b64encode(verifier.key_id + signature).decode()}\n"


def split(note: str, where: str) -> tuple[str, list[str]]:
    """A note's text, and the lines of its signatures. Raises `Refused` for anything else."""
    text, gap, rest = note.rpartition("\n\n")
    lines = rest.splitlines(keepends=True)
    if (
        not gap
        or not lines
        or len(lines) > SIGNATURES_MAX
        or len(note) > OCTETS_MAX
        or not all(each.startswith(_DASH) and each.endswith("\n") for each in lines)
        or any(each < " " and each != "\n" for each in note)
    ):
        raise Refused("This is not a signed note", where=where, hint="Give the whole file.")
    return text + "\n", lines


def verified(note: str, keys: list[VerifierKey], where: str) -> tuple[str, list[Signed]]:
    """A note's text and the signatures that hold of these keys, in the note's order.

    Raises `Refused` if a signature of one of them does not hold.
    """
    text, lines = split(note, where)
    held: list[Signed] = []
    for line in lines:
        name, _, octets = line.removeprefix(_DASH).rstrip("\n").partition(" ")
        try:
            decoded = base64.b64decode(octets, validate=True)
        except ValueError:
            decoded = b""
        key = next((k for k in keys if (k.name, k.key_id) == (name, decoded[:_ID_OCTETS])), None)
        if key is not None and key not in [each.key for each in held]:
            held.append(_held(text, key, decoded[_ID_OCTETS:], where))
    return text, held


def _held(text: str, key: VerifierKey, signature: bytes, where: str) -> Signed:
    time_s = None
    if key.kind == COSIGNATURE:
        time_s = int.from_bytes(signature[:_TIME_OCTETS], "big")
        signature = signature[_TIME_OCTETS:]
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(
            signature, _message(text, key.kind, time_s or 0)
        )
    except InvalidSignature:
        raise Refused(
            f"The signature of {key.name} does not hold",
            where=where,
            hint="The text was changed, or another key signed it.",
        ) from None
    return Signed(key, time_s)


def _message(text: str, kind: int, time_s: int) -> bytes:
    before = f"cosignature/v1\ntime {time_s}\n" if kind == COSIGNATURE else ""
    return (before + text).encode()


def _key_id(name: str, kind: int, public: bytes) -> bytes:
    return hashlib.sha256(f"{name}\n".encode() + bytes([kind]) + public).digest()[:_ID_OCTETS]


def _signer(name: str, kind: int, secret: Ed25519PrivateKey) -> SignerKey:
    public = secret.public_key().public_bytes_raw()
    return SignerKey(VerifierKey(name, _key_id(name, kind, public), kind, public), secret)
