"""The house's signing keys: making, storing and replacing them.

An Ed25519 key signs dossiers. An RSA key with a self-issued certificate signs clips, as ONVIF
requires. Only their owner may read the files. Only public keys are logged or printed. A key is
never made without a request: without one, a dossier is marked unsigned.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import stat
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from infra.files import replace_file
from ledger.errors import NotFound, Refused
from replay.shell.settings import in_force

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY, VIDEO_KEY, CERTIFICATE = "dossier-key.pem", "clip-key.pem", "clip-certificate.der"
RETIRED = "retired"

SIGNING = "signing"
"""The folder of the signing keys, under the home."""

RSA_BITS = 3072
CERTIFICATE_DAYS = 3650
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class ClipSigner(NamedTuple):
    """The key and certificate that sign clips. Its repr shows no secret."""

    key: rsa.RSAPrivateKey
    certificate: bytes  # X.509, DER


class Signer(NamedTuple):
    """A key as signers use it."""

    key_id: str
    public: bytes  # 32 bytes
    sign: Callable[[bytes], bytes]
    clips: ClipSigner | None = None


def keys_folder() -> Path:
    """The folder of this home's signing keys."""
    return in_force().home / SIGNING


def make(folder: Path, holder: str, now: dt.datetime) -> Signer:
    """Make keys in a folder that only the owner may enter. Raises `Refused` if it has keys.

    The key of dossiers comes last: without it, whatever a kill left of the others is replaced.
    """
    if (folder / KEY).exists():
        raise Refused(
            "There is a signing key already",
            where=str(folder / KEY),
            hint="Use it, or replace it with `round-ledger keys signing rotate`.",
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    clip_key = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
    certificate = _certificate(clip_key, holder, now)
    replace_file(folder / VIDEO_KEY, _pem(clip_key))
    replace_file(folder / CERTIFICATE, certificate.public_bytes(serialization.Encoding.DER))
    replace_file(folder / KEY, _pem(Ed25519PrivateKey.generate()))
    return load(folder)


def rotate(folder: Path, holder: str, now: dt.datetime) -> tuple[Signer, Signer]:
    """Replace the keys; the old and the new. Old secret halves are destroyed, public halves kept.

    Signatures of the old key stay valid for holders of its public half. Raises `NotFound`.
    """
    old = load(folder)
    retired = folder / RETIRED
    retired.mkdir(mode=0o700, exist_ok=True)
    replace_file(retired / f"{old.key_id}.pub", public_text(old).encode())
    if old.clips:
        replace_file(retired / f"{old.key_id}.der", old.clips.certificate)
    for name in (KEY, VIDEO_KEY, CERTIFICATE):
        (folder / name).unlink(missing_ok=True)
    return old, make(folder, holder, now)


def load(folder: Path) -> Signer:
    """The keys of a folder. Raises `NotFound`, or `Refused` if other users can read a file."""
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
    """The keys of a folder, or None if it has none. Raises `Refused` as `load` does."""
    return load(folder) if (folder / KEY).exists() else None


def retired_keys(folder: Path) -> list[str]:
    """The names of keys that were replaced."""
    return sorted(path.stem for path in (folder / RETIRED).glob("*.pub"))


def public_text(signer: Signer) -> str:
    """The file with the public key, to hand over by another way than the dossiers."""
    return (
        f"# Round Ledger signing key {signer.key_id}, for `python verify.py --key FILE`\n"
        f"{signer.public.hex()}\n"
    )


def _certificate(key: rsa.RSAPrivateKey, holder: str, now: dt.datetime) -> x509.Certificate:
    """A self-issued certificate. It names the holder and proves nothing else."""
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


def _private(path: Path) -> object:
    if not path.is_file():
        raise NotFound(
            "There is no signing key",
            where=str(path),
            hint="Make one with `round-ledger keys signing make`.",
        )
    if path.stat().st_mode & _OTHERS:
        raise Refused(
            "Other users can read or change the signing key",
            where=str(path),
            hint=f"Run `chmod 600 {path.name}`. If someone may have read the key, rotate it.",
        )
    try:
        return serialization.load_pem_private_key(path.read_bytes(), password=None)
    except ValueError:
        raise _unusable(path) from None


def _unusable(path: Path) -> Refused:
    return Refused(
        "The file is not a signing key of this program",
        where=str(path),
        hint="Restore it from its copy. Without one, rename its folder, then make new keys with"
        " `round-ledger keys signing make`.",
    )
