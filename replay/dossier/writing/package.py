"""Writes a dossier to a folder or a zip of uncompressed files, completely or not at all.

Nothing in it depends on the time of writing, so the same files give the same bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import Refused
from replay.dossier.signing.sealing import Filed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PIECE = 1 << 20
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_PLAIN_FILE = 0o100644 << 16
_UNIX = 3


def summed(name: str, content: bytes | Path) -> Filed:
    """A file's size and SHA-256, read now."""
    digest, size = hashlib.sha256(), 0
    for piece in _pieces(content):
        digest.update(piece)
        size += len(piece)
    return Filed(name, size, digest.hexdigest())


def refuse_what_is_there(out: Path) -> None:
    """Raise `Refused` if the path exists; an empty folder is allowed."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(
            "The output path already exists",
            where=str(out),
            hint="Name another path with --out, or move this one away.",
        )


@contextmanager
def beside(out: Path) -> Iterator[Path]:
    """A temporary folder beside the output path, for files too large for memory.

    It is on the same disk as the dossier and is removed afterwards. Raises OSError.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        yield Path(folder)


def write_folder(files: Mapping[str, bytes | Path], filed: Mapping[str, Filed], out: Path) -> None:
    """Write all files beside the output path, then move them. Raises `Refused`, OSError."""
    refuse_what_is_there(out)
    beside = out.with_name(out.name + ".partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for piece in _checked(name, content, filed):
                    file.write(piece)
        if out.is_dir():
            out.rmdir()
        beside.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_zip(files: Mapping[str, bytes | Path], filed: Mapping[str, Filed], out: Path) -> None:
    """Write one uncompressed zip, by file name. Raises `Refused`, OSError."""
    refuse_what_is_there(out)
    beside = out.with_name(out.name + ".partial")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_STORED) as archive:
            for name, content in sorted(files.items()):
                info = zipfile.ZipInfo(name, _EARLIEST)
                info.create_system, info.external_attr = _UNIX, _PLAIN_FILE
                info.file_size = filed[name].bytes
                with archive.open(info, "w") as file:
                    for piece in _checked(name, content, filed):
                        file.write(piece)
        beside.rename(out)
    finally:
        beside.unlink(missing_ok=True)


def _checked(name: str, content: bytes | Path, filed: Mapping[str, Filed]) -> Iterator[bytes]:
    """The pieces of a file. Raises `Refused` at its end if its checksum changed."""
    digest = hashlib.sha256()
    for piece in _pieces(content):
        digest.update(piece)
        yield piece
    if digest.hexdigest() != filed[name].sha256:
        raise Refused(
            f"{name} was changed while it was copied",
            where=str(content) if not isinstance(content, bytes) else name,
            hint="Find out what writes to the footage folder, then make the dossier again.",
        )


def _pieces(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        yield from iter(lambda: file.read(_PIECE), b"")
