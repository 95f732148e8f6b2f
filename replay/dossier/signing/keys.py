"""The house's signing keys: made once, kept in files that only their owner may read, replaced.

An Ed25519 key signs dossiers; an RSA key with a certificate of its own signs clips (ONVIF asks for
one). Nothing here is ever logged or printed but public keys. It must not invent a key by itself: a
dossier without one is unsigned, and says so.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from ledger.errors import NotFound, Refused
from replay.shell.settings import in_force

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY, VIDEO_KEY, CERTIFICATE = "dossier-key.pem", "clip-key.pem", "clip-certificate.der"
RETIRED = "retired"

SIGNING = "signing"
"""The folder of the home in which the signing keys lie."""

RSA_BITS = 3072
CERTIFICATE_DAYS = 3650
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class ClipSigner(NamedTuple):
    """What clips are signed with; no repr of a secret is ever made by printing it."""

    key: rsa.RSAPrivateKey
    certificate: bytes  # X.509, DER


class Signer(NamedTuple):
    """A key, as those who sign use it."""

    key_id: str
    public: bytes  # 32 octets
    sign: Callable[[bytes], bytes]
    clips: ClipSigner | None = None


def keys_folder() -> Path:
    """Where the signing keys of this home lie."""
    return in_force().home / SIGNING


def make(folder: Path, holder: str, now: dt.datetime) -> Signer:
    """New keys in a folder that only the owner may enter. Raises `Refused` where there are some."""
    if (folder / KEY).exists():
        raise Refused(
            "There is a signing key already",
            where=str(folder / KEY),
            hint="Go on with it, or replace it: round-ledger keys signing rotate.",
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    clip_key = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
    certificate = _certificate(clip_key, holder, now)
    _write(folder / VIDEO_KEY, _pem(clip_key))
    _write(folder / CERTIFICATE, certificate.public_bytes(serialization.Encoding.DER))
    _write(folder / KEY, _pem(Ed25519PrivateKey.generate()))
    return load(folder)


def rotate(folder: Path, holder: str, now: dt.datetime) -> tuple[Signer, Signer]:
    """New keys in place of the old: those are destroyed, their public halves kept. Old and new.

    What the old key signed stays good for whoever holds its public half. Raises `NotFound`.
    """
    old = load(folder)
    retired = folder / RETIRED
    retired.mkdir(mode=0o700, exist_ok=True)
    (retired / f"{old.key_id}.pub").write_text(public_text(old))
    if old.clips:
        (retired / f"{old.key_id}.der").write_bytes(old.clips.certificate)
    for name in (KEY, VIDEO_KEY, CERTIFICATE):
        (folder / name).unlink(missing_ok=True)
    return old, make(folder, holder, now)


def load(folder: Path) -> Signer:
    """The keys of a folder. Raises `NotFound`; `Refused` for a file that others may read."""
    private = _private(folder / KEY)
    if not isinstance(private, Ed25519PrivateKey):
        raise _unusable(folder / KEY)
    clip_key = _private(folder / VIDEO_KEY)
    if not isinstance(clip_key, rsa.RSAPrivateKey):
        raise _unusable(folder / VIDEO_KEY)
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    clips = ClipSigner(clip_key, (folder / CERTIFICATE).read_bytes())
    return Signer(hashlib.sha256(public).hexdigest()[:16], public, private.sign, clips)


def load_if_there(folder: Path) -> Signer | None:
    """The keys of a folder, or None where none were made. Raises `Refused` as `load` does."""
    return load(folder) if (folder / KEY).exists() else None


def retired_keys(folder: Path) -> list[str]:
    """The names of keys that were replaced."""
    return sorted(path.stem for path in (folder / RETIRED).glob("*.pub"))


def public_text(signer: Signer) -> str:
    """The public key as it is handed over: by another way than the dossiers."""
    return (
        f"# Round Ledger signing key {signer.key_id}, for `python verify.py --key FILE`\n"
        f"{signer.public.hex()}\n"
    )


def _certificate(key: rsa.RSAPrivateKey, holder: str, now: dt.datetime) -> x509.Certificate:
    """A certificate that the key gives itself: it names the holder, and proves no more."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, holder)])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=CERTIFICATE_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )


def _pem(key: Ed25519PrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, octets: bytes) -> None:
    """A new file that is never, not for a moment, open to others."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(octets)
        file.flush()
        os.fsync(file.fileno())


def _private(path: Path) -> object:
    if not path.is_file():
        raise NotFound(
            "There is no signing key",
            where=str(path),
            hint="Make one: round-ledger keys signing make.",
        )
    if path.stat().st_mode & _OTHERS:
        raise Refused(
            "Others than its owner may read or change the signing key",
            where=str(path),
            hint=f"Forbid it with `chmod 600 {path.name}`, and make a new one if it was read.",
        )
    try:
        return serialization.load_pem_private_key(path.read_bytes(), password=None)
    except ValueError:
        raise _unusable(path) from None


def _unusable(path: Path) -> Refused:
    return Refused(
        "This is not a signing key of this program",
        where=str(path),
        hint="Restore the file from its copy, or make new keys: round-ledger keys signing rotate.",
    )
