"""Files that are replaced whole: a kill or a power cut leaves the old content, or the new."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, octets: bytes) -> None:
    """Write a file that only its owner may read, and its folder if there is none. Raises OSError.

    It is written to a new name in the same folder, flushed to disk and renamed. A kill may leave
    the new name behind, which nothing reads.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Flush to disk what was made, renamed and removed in a folder. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
