"""The manifest of a dossier, and the signature over it, as the checker reads them.

One canonical way to write JSON, so that what is signed is octets and not a meaning. What the sums
of a dossier cannot hold, its own printed sum, is taken over all but the pages that print it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from replay.checker.reading import canonical
from replay.checker.seal import FORMAT, PRINTED, STATEMENT, message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from replay.dossier.signing.keys import Signer


class Filed(Struct, frozen=True):
    """One file of a dossier."""

    path: str
    bytes: int
    sha256: str


def contents_sha256(filed: Iterable[Filed]) -> str:
    """One sum over all files but the printed pages: what those pages print."""
    sums = [to_builtins(each) for each in filed if each.path not in PRINTED]
    return hashlib.sha256(canonical(sorted(sums, key=lambda each: str(each["path"])))).hexdigest()


def manifest_json(told: Mapping[str, object], filed: Iterable[Filed]) -> bytes:
    """The octets of manifest.json."""
    files = [to_builtins(each) for each in sorted(filed, key=lambda each: each.path)]
    return canonical({"format": FORMAT, **told, "files": files}) + b"\n"


def signature_json(manifest: bytes, signer: Signer, signed_at: str) -> bytes:
    """The octets of manifest.sig: a statement about the manifest, signed."""
    statement: dict[str, object] = {
        "format": STATEMENT,
        "algorithm": "Ed25519",
        "key_id": signer.key_id,
        "public_key": signer.public.hex(),
        "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
        "signed_at": signed_at,
    }
    signature = signer.sign(message(statement)).hex()
    return canonical({**statement, "signature": signature}) + b"\n"
