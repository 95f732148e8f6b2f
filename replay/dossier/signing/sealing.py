"""The manifest of a dossier and its signature, as the checker reads them.

JSON is written in one canonical form, because a signature is over bytes. The checksum that pages
print is over all files except those pages.
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
    """The checksum that the pages print: over all files except those pages."""
    sums = [to_builtins(each) for each in filed if each.path not in PRINTED]
    return hashlib.sha256(canonical(sorted(sums, key=lambda each: str(each["path"])))).hexdigest()


def manifest_json(told: Mapping[str, object], filed: Iterable[Filed]) -> bytes:
    """The bytes of manifest.json."""
    files = [to_builtins(each) for each in sorted(filed, key=lambda each: each.path)]
    return canonical({"format": FORMAT, **told, "files": files}) + b"\n"


def signature_json(manifest: bytes, signer: Signer, signed_at: str) -> bytes:
    """The bytes of manifest.sig: a signed statement about the manifest."""
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
