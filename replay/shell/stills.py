"""Pictures of stills in the ledger's home, and their copies in a backup."""

import hashlib
from pathlib import Path

from infra.files import replace_file

STILLS = "stills"
"""The folder of pictures in the ledger's home, each named by its SHA-256."""


def copy_stills(home: Path, other: Path) -> int:
    """Copy the pictures of one folder's stills into another's; how many it has from then on.

    A picture whose bytes do not fit its name is no still, and is left out. Raises OSError.
    """
    copied = 0
    for path in sorted((home / STILLS).glob("*.png")):
        octets = path.read_bytes()
        if hashlib.sha256(octets).hexdigest() == path.stem:
            copied += 1
            replace_file(other / STILLS / path.name, octets)
    return copied
