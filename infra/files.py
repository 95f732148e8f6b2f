"""Files that are replaced whole: a kill or a power cut leaves the old content, or the new."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def replace_file(path: Path, octets: bytes, mode: int = 0o600) -> None:
    """Write a file that only its owner may read, and its folder if there is none. Raises OSError.

    It is written to a new name in the same folder, flushed to disk and renamed. A kill may leave
    the new name behind, which nothing reads. mode: who may read it, if others may.
    """
    replace_files({path: octets}, mode)


def replace_files(files: Mapping[Path, bytes], mode: int = 0o600) -> None:
    """As `replace_file`, for several. All are written before any is flushed, which takes less time.

    A kill may leave some of them old and some new.
    """
    beside: dict[Path, Path] = {}
    try:
        for path, octets in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            beside[path] = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(octets)
                os.fchmod(file.fileno(), mode)
        for each in beside.values():
            _flush(each, os.O_RDWR)
        for path, each in beside.items():
            each.replace(path)
    except BaseException:
        for each in beside.values():
            with suppress(OSError):
                each.unlink()
        raise
    for folder in {path.parent for path in files}:
        flush_folder(folder)


def flush_folder(folder: Path) -> None:
    """Flush to disk what was made, renamed and removed in a folder. Raises OSError."""
    _flush(folder, os.O_RDONLY)


def _flush(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
