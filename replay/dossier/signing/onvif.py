"""Signs clips as ONVIF export files: who exported which camera and when, under a signature.

Format: the ONVIF Export File Format Specification, chapter "Export Format". Boxes `suep`, `cstb`,
`sibo` and `cert` are in a file-level `meta`. The signature is RSASSA-PSS with SHA-256, MGF1 and a
salt of 20 over every byte of the file, with its own bytes as zeros. The film plays as before. A
file has one signature; signing it twice is refused.
"""

from __future__ import annotations

import hashlib
from typing import IO, TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from ledger.errors import Refused
from replay.dossier.signing.boxes import (
    Box,
    box,
    boxes,
    full_box,
    number,
    only,
    text,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from replay.dossier.signing.keys import ClipSigner

SALT_OCTETS = 20
RSA_BITS_MIN = 2048
SCHEME = b"oeff"  # 0x6F656666
SCHEME_VERSION = 0x0001_0000

_SINCE_1904_S = 2_082_844_800  # from 1904, where ISO 14496-12 begins to count, to the epoch
_SINCE_1601_S = 11_644_473_600
_PIECE = 1 << 20
_US = 1_000_000


class Export(NamedTuple):
    """What the boxes of an export state. Times in microseconds since the epoch, UTC."""

    unit: str  # the exporting program
    operator: str  # the person who exported
    at_us: int  # when
    camera: str
    starts_us: int  # the first frame, within the uncertainty of the camera's clock


class SignatureCheck(NamedTuple):
    """The result of checking a signed clip."""

    good: bool
    says: str
    certificate: bytes | None  # DER, from the file


def sign(clip: Path, out: Path, export: Export, signer: ClipSigner) -> None:
    """Write the clip with its export boxes and signature. Raises `Refused` if it is not MP4."""
    with clip.open("rb") as file:
        top = _top(file)
        if any(each.kind == b"meta" for each in top):
            raise Refused(
                "The clip is already signed, or has metadata of its own",
                where=str(clip),
                hint="Cut the clip again and sign that file.",
            )
        meta = _meta(export, _tracks(file, top), signer)
        index = top[-1] if top[-1].kind == b"mfra" else None  # which must stay the last
        before = index.start if index else top[-1].end
        size = signer.key.key_size // 8
        sibo = before + len(meta) - len(box(b"cert", signer.certificate)) - size  # they come last
        with out.open("w+b") as signed:
            _copy(file, signed, 0, before)
            signed.write(meta)
            _copy(file, signed, before, top[-1].end)
            digest = _digest(signed, sibo, size)
            signed.seek(sibo)
            signed.write(signer.key.sign(digest, _padding(), Prehashed(hashes.SHA256())))


def check(path: Path, trusted: bytes | None = None) -> SignatureCheck:
    """Whether the signature of an export is valid for every byte of the file.

    trusted: the certificate (DER) it must be made with, not taken from the file. Without it the
    certificate in the file is used, which shows that nothing changed but not who signed.
    """
    try:
        with path.open("rb") as file:
            return _check(file, trusted)
    except Refused as error:
        return SignatureCheck(good=False, says=f"{error.what} ({error.where}).", certificate=None)


def _check(file: IO[bytes], trusted: bytes | None) -> SignatureCheck:
    parts = _signature_parts(file)
    if parts is None:
        return SignatureCheck(
            good=False, says="It has no ONVIF export signature.", certificate=None
        )
    sibo, cert = parts
    size = sibo.end - sibo.payload
    certificate = _read(file, cert)
    if trusted is not None and certificate != trusted:
        says = "It is signed with another certificate than the one you trust."
        return SignatureCheck(good=False, says=says, certificate=certificate)
    try:
        key = x509.load_der_x509_certificate(certificate).public_key()
    except ValueError:
        return SignatureCheck(
            good=False, says="Its certificate cannot be read.", certificate=certificate
        )
    if not isinstance(key, rsa.RSAPublicKey) or key.key_size < RSA_BITS_MIN:
        says = f"Its key is not an RSA key of {RSA_BITS_MIN} bits or more."
        return SignatureCheck(good=False, says=says, certificate=certificate)
    signature = _read(file, sibo)
    try:
        digest = _digest(file, sibo.payload, size)
        key.verify(signature, digest, _padding(), Prehashed(hashes.SHA256()))
    except InvalidSignature:
        says = "Its signature is not valid: the file was changed after it was signed."
        return SignatureCheck(good=False, says=says, certificate=certificate)
    return SignatureCheck(
        good=True, says="Its signature is valid for every byte.", certificate=certificate
    )


def _signature_parts(file: IO[bytes]) -> tuple[Box, Box] | None:
    """The boxes of signature and certificate, if there is exactly one of each."""
    meta = only(_top(file), b"meta")
    ipro = only(within(file, meta, 4), b"ipro") if meta else None
    sinf = only(within(file, ipro, 6), b"sinf") if ipro else None
    schm = only(within(file, sinf), b"schm") if sinf else None
    schi = only(within(file, sinf), b"schi") if sinf else None
    if schm is None or schi is None or _read(file, schm)[4:8] != SCHEME:
        return None
    sibo, cert = only(within(file, schi), b"sibo"), only(within(file, schi), b"cert")
    return (sibo, cert) if sibo and cert else None


def _meta(export: Export, tracks: list[int], signer: ClipSigner) -> bytes:
    """The file-level box with everything added, with zeros in place of the signature."""
    handler = full_box(b"hdlr", 0, number(0, 4), b"null", bytes(12), text("ONVIF export"))
    sources = [
        number(track, 2) + text(export.camera) + text("") + text("") + text("") for track in tracks
    ]
    suep = full_box(
        b"suep",
        1,
        text(export.unit),
        text(""),  # network address of the exporting unit: none
        text(""),  # its MAC address: none
        number(export.at_us // _US + _SINCE_1904_S, 8),
        text(export.operator),
        number(len(tracks), 4),
        *sources,
    )
    start = (export.starts_us + _SINCE_1601_S * _US) * 10
    cstb = box(
        b"cstb",
        number(len(tracks), 4),
        *(number(track, 4) + number(start, 8) for track in tracks),
    )
    schm = full_box(b"schm", 0, SCHEME, number(SCHEME_VERSION, 4))
    sibo = box(b"sibo", bytes(signer.key.key_size // 8))
    schi = box(b"schi", sibo, box(b"cert", signer.certificate))
    sinf = box(b"sinf", cstb, schm, schi)
    ipro = full_box(b"ipro", 0, number(1, 2), sinf)
    return full_box(b"meta", 0, handler, suep, ipro)


def _top(file: IO[bytes]) -> list[Box]:
    end = file.seek(0, 2)
    found = list(boxes(file, 0, end))
    if not found or found[0].kind != b"ftyp":
        raise Refused(
            "This is not an MP4 file",
            where="its first box",
            hint="Only MP4 can be signed as an ONVIF export.",
        )
    return found


def _tracks(file: IO[bytes], top: list[Box]) -> list[int]:
    """The numbers of the tracks, from their headers (ISO 14496-12, 8.3.2)."""
    moov = only(top, b"moov")
    found = []
    for trak in within(file, moov) if moov else ():
        head = only(within(file, trak), b"tkhd") if trak.kind == b"trak" else None
        if head:
            octets = _read(file, head)
            at = 20 if octets[0] == 1 else 12
            found.append(int.from_bytes(octets[at : at + 4], "big"))
    return found


def _read(file: IO[bytes], of: Box) -> bytes:
    file.seek(of.payload)
    return file.read(of.end - of.payload)


def _digest(file: IO[bytes], hole: int, size: int) -> bytes:
    """SHA-256 over the file, with zeros in place of the signature."""
    digest = hashlib.sha256()
    end = file.seek(0, 2)
    for piece in _pieces(file, 0, hole):
        digest.update(piece)
    digest.update(bytes(size))
    for piece in _pieces(file, hole + size, end):
        digest.update(piece)
    return digest.digest()


def _copy(file: IO[bytes], out: IO[bytes], start: int, end: int) -> None:
    for piece in _pieces(file, start, end):
        out.write(piece)


def _pieces(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    """The bytes between two offsets, in pieces."""
    file.seek(start)
    left = end - start
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece


def _padding() -> padding.PSS:
    return padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=SALT_OCTETS)
