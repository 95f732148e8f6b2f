"""The hash that identifies a footage file."""

from __future__ import annotations

from hashlib import file_digest
from typing import TYPE_CHECKING

from replay.footage.decoding.files import opened

if TYPE_CHECKING:
    from pathlib import Path


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, hexadecimal. Raises OSError if it cannot be read."""
    with opened(path) as file:
        return file_digest(file, "sha256").hexdigest()
