"""Checks of the ONVIF export signature of each clip.

By the ONVIF Export File Format, `sibo` in the file-level `meta` holds an RSASSA-PSS signature
(SHA-256, MGF1, salt of 20). It covers every byte of the file, with its own bytes as zeros. `cert`
beside it holds the certificate. RFC 8017 is computed with Python's integers: no secret is involved.
"""

from __future__ import annotations

import hashlib
from typing import IO, Any, Iterator, NamedTuple

from replay.checker.package import Package, Unreadable, printable
from replay.checker.report import Dossier, Report

SALT_OCTETS = 20
BOXES_MAX = 100_000
CERT_MAX = 1 << 16
RSA_OCTETS = (256, 1024)
_BOX, _LONG_BOX = 8, 16  # bytes of a box's size and kind
_VERSION_TAG = 0xA0  # X.509: the only optional part
_TRAILER = 0xBC
_PART = 1 << 20
COVERED = "The manifest covers it, like every file."


class Signature(NamedTuple):
    """The place of a signature in a clip, and its certificate."""

    start: int
    end: int
    certificate: bytes


def check_clips(dossier: Dossier, report: Report) -> None:
    """Report each clip on its own."""
    for each in dossier.manifest.get("footage", []):
        if each["kind"] == "clip" and each["path"] in dossier.package.sizes:
            _clip(dossier.package, each, report)


def signature_of(package: Package, name: str) -> Signature | None:
    """The ONVIF signature of a clip; None if it has none. Raises Unreadable."""
    try:
        with package.open(name) as file:
            return _found(file, package.sizes[name])
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise Unreadable(f"{printable(name)} cannot be read: {error}.") from None


def fits(package: Package, name: str, found: Signature) -> bool:
    """Whether the signature is valid for every byte of the clip. Raises Unreadable."""
    key = _key(found.certificate)
    if key is None:
        return False
    digest, signature = hashlib.sha256(), b""
    with package.open(name) as file:
        for piece in _between(file, 0, found.start):
            digest.update(piece)
        signature = b"".join(_between(file, found.start, found.end))
        digest.update(bytes(len(signature)))
        for piece in _between(file, found.end, package.sizes[name]):
            digest.update(piece)
    return _is_pss(digest.digest(), signature, *key)


def _clip(package: Package, listed: dict[str, Any], report: Report) -> None:
    name = printable(listed["path"])
    said = listed.get("onvif") or {}
    found = signature_of(package, listed["path"])
    if found is None:
        if said.get("signed"):
            report.broken.append(f"{name} is listed with an ONVIF signature, but has none.")
        else:
            why = _why(package, listed["path"], said)
            report.holds.append(f"{name} has no ONVIF signature: {why} {COVERED}")
    elif not fits(package, listed["path"], found):
        report.broken.append(
            f"{name} has an ONVIF signature that is not valid: the clip was changed after it."
        )
    elif said and not said.get("signed"):
        report.broken.append(
            f"{name} is listed without an ONVIF signature, but has one: someone added it."
        )
    else:
        certificate = hashlib.sha256(found.certificate).hexdigest()
        report.holds.append(
            f"{name} has a valid ONVIF signature over its every byte (certificate {certificate})."
        )


def _why(package: Package, path: str, said: dict[str, Any]) -> str:
    """Why a clip is unsigned: by its own bytes if they show it, else in its maker's words."""
    with package.open(path) as file:
        head = file.read(_BOX)
    if head[4:8] != b"ftyp":
        return "it is not an ISO BMFF file, as the format requires."
    return printable(said.get("because") or "no reason is given.")


def _found(file: IO[bytes], size: int) -> Signature | None:
    """Follow the boxes that the specification names, each of which must occur once."""
    path = ((b"meta", 0), (b"ipro", 4), (b"sinf", 6), (b"schi", 0))
    start, end = 0, size
    for kind, skip in path:
        box = _only(file, start + skip, end, kind)
        if box is None:
            return None
        if kind == b"sinf" and not _is_oeff(file, *box):
            return None
        start, end = box
    sibo, cert = (_only(file, start, end, kind) for kind in (b"sibo", b"cert"))
    if sibo is None or cert is None or cert[1] - cert[0] > CERT_MAX:
        return None
    return Signature(*sibo, b"".join(_between(file, *cert)))


def _is_oeff(file: IO[bytes], start: int, end: int) -> bool:
    schm = _only(file, start, end, b"schm")
    return schm is not None and b"".join(_between(file, *schm))[4:8] == b"oeff"


def _only(file: IO[bytes], start: int, end: int, kind: bytes) -> tuple[int, int] | None:
    """Start and end of the payload of the only box of a kind; None unless there is exactly one."""
    found = [(a, b) for name, a, b in _boxes(file, start, end) if name == kind]
    return found[0] if len(found) == 1 else None


def _boxes(file: IO[bytes], start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    at = start
    for _ in range(BOXES_MAX):
        file.seek(at)
        head = file.read(_LONG_BOX)
        if at + _BOX > end or len(head) < _BOX:
            return
        size, payload = int.from_bytes(head[:4], "big"), at + _BOX
        if size == 1:
            size, payload = int.from_bytes(head[8:16], "big"), at + _LONG_BOX
        elif size == 0:
            size = end - at
        if size < payload - at or at + size > end:
            return
        yield head[4:8], payload, at + size
        at += size


def _between(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    file.seek(start)
    left = end - start
    while left > 0:
        piece = file.read(min(left, _PART))
        if not piece:
            return
        left -= len(piece)
        yield piece


def _key(certificate: bytes) -> tuple[int, int] | None:
    """Modulus and exponent of the RSA key in a certificate (X.509, DER); None for anything else."""
    try:
        tbs = _parts(_parts(certificate)[0][1])[0][1]
        fields = [each for each in _parts(tbs) if each[0] != _VERSION_TAG]
        bits = _parts(fields[5][1])[1][1]  # serial, algorithm, issuer, validity, subject, key
        numbers = _parts(_parts(bits[1:])[0][1])
        return int.from_bytes(numbers[0][1], "big"), int.from_bytes(numbers[1][1], "big")
    except (IndexError, ValueError):
        return None


def _parts(der: bytes) -> list[tuple[int, bytes]]:
    """The parts of a DER sequence: tag and content."""
    found, at = [], 0
    while at < len(der):
        tag, length, at = der[at], der[at + 1], at + 2
        if length & 0x80:
            more = length & 0x7F
            length, at = int.from_bytes(der[at : at + more], "big"), at + more
        if at + length > len(der):
            raise ValueError(at)
        found.append((tag, der[at : at + length]))
        at += length
    return found


def _is_pss(digest: bytes, signature: bytes, modulus: int, exponent: int) -> bool:
    """RFC 8017, 8.1.2 and 9.1.2: SHA-256, MGF1 with the same, a salt of 20 bytes."""
    octets = (modulus.bit_length() + 7) // 8
    if not RSA_OCTETS[0] <= octets <= RSA_OCTETS[1] or len(signature) != octets:
        return False
    bits = modulus.bit_length() - 1
    length = (bits + 7) // 8
    number = pow(int.from_bytes(signature, "big"), exponent, modulus)
    if number.bit_length() > bits:
        return False
    encoded = number.to_bytes(length, "big")
    masked, hashed, tail = encoded[:-33], encoded[-33:-1], encoded[-1]
    block = int.from_bytes(masked, "big") ^ int.from_bytes(_mask(hashed, len(masked)), "big")
    block &= (1 << (8 * len(masked) - (8 * length - bits))) - 1
    plain = block.to_bytes(len(masked), "big")
    zeros = len(plain) - SALT_OCTETS - 1
    if tail != _TRAILER or plain[: zeros + 1] != bytes(zeros) + b"\1":
        return False
    return hashlib.sha256(bytes(8) + digest + plain[-SALT_OCTETS:]).digest() == hashed


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 with SHA-256 (RFC 8017, B.2.1)."""
    count = (length + 31) // 32
    whole = b"".join(hashlib.sha256(seed + n.to_bytes(4, "big")).digest() for n in range(count))
    return whole[:length]
