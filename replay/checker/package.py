"""The files of a dossier, in a folder or a zip, read safely.

Nothing is unpacked or written. Only plain files inside the dossier are read. Statements of a zip
about itself are not trusted.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import zipfile
from pathlib import Path
from typing import IO, Iterable, Iterator, NamedTuple

FILES_MAX = 100_000
OCTETS_MAX = 1 << 40  # bytes of all files together
TEXT_MAX = 1 << 28  # bytes of a file that is read whole
_PIECE = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
_NAME_MAX = 200
_SHOWN_MAX = 200
LEFT_BEHIND = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))
"""Files that file managers leave in a folder: not part of a dossier."""

_BYTECODE = re.compile(r"__pycache__/verify\.[a-z0-9]+(-[a-z0-9]+)?(\.opt-[12])?\.pyc")
"""Python leaves this in a folder whose files were imported: not part of a dossier."""

_LOCAL_HEADER, _END = 30, 22  # bytes: a member's header without name and extra field; the end
_ZIP64 = 1  # the only extra field in a dossier's zip: sizes beyond 4 GB
_UNPACK = "If someone made this zip again with other software, unpack it and check the folder."


class Unreadable(Exception):  # noqa: N818 - names the state of the package
    """The package cannot be checked; its text says why."""


class Package(NamedTuple):
    """The place of a dossier, and the size in bytes of every file in it, by name."""

    path: Path
    sizes: dict[str, int]
    archive: zipfile.ZipFile | None

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading. Raises OSError and the errors of `zipfile`."""
        return self.archive.open(name) if self.archive else self.path.joinpath(name).open("rb")

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of a file, in pieces. Raises Unreadable."""
        try:
            with self.open(name) as file:
                yield from iter(lambda: file.read(_PIECE), b"")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise Unreadable(f"{printable(name)} cannot be read: {error}.") from None

    def whole(self, name: str) -> bytes:
        """The bytes of a text file. Raises Unreadable if it is too large."""
        if self.sizes[name] > TEXT_MAX:
            raise Unreadable(f"{printable(name)} is larger than a file of its kind can be.")
        return b"".join(self.pieces(name))

    def sha256(self, name: str) -> str:
        """The SHA-256 of a file's bytes, hexadecimal. Raises Unreadable."""
        digest = hashlib.sha256()
        for piece in self.pieces(name):
            digest.update(piece)
        return digest.hexdigest()


def opened(path: Path) -> Package:
    """The dossier at a path. Raises Unreadable."""
    try:
        if path.is_dir():
            return Package(path, _sizes(_of_folder(path)), None)
        archive = zipfile.ZipFile(path)
        return Package(path, _sizes(_of_zip(archive, path.stat().st_size)), archive)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Unreadable(f"This is neither a folder nor a complete zip: {error}.") from None


def printable(text: object) -> str:
    """A text of the package, shortened and without terminal control characters."""
    shown = str(text)
    shown = shown if len(shown) <= _SHOWN_MAX else shown[:_SHOWN_MAX] + "..."
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in shown)


def _of_folder(path: Path) -> Iterator[tuple[str, int]]:
    for root, folders, names in os.walk(str(path), onerror=_refuse_unreadable):
        for each in sorted(folders + names):
            full = Path(root) / each
            name = full.relative_to(path).as_posix()
            found = full.lstat()
            if stat.S_ISREG(found.st_mode):
                if each not in LEFT_BEHIND and not _BYTECODE.fullmatch(name):
                    yield name, found.st_size
            elif not stat.S_ISDIR(found.st_mode):
                raise Unreadable(f"{printable(full.name)} is a link or a device, not a file.")


def _refuse_unreadable(error: OSError) -> None:
    """A folder that cannot be read could hold anything, so it is an error."""
    name = printable(Path(str(error.filename)).name)
    raise Unreadable(f"The folder {name} cannot be read: {error.strerror}.")


def _of_zip(archive: zipfile.ZipFile, octets: int) -> Iterator[tuple[str, int]]:
    ends = 0
    for info in sorted(archive.infolist(), key=lambda each: each.header_offset):
        _refuse_tricks(info)
        name = printable(info.orig_filename)
        if info.header_offset < ends:
            raise Unreadable(f"{name} overlaps another file in the zip.")
        if info.header_offset > ends:
            raise Unreadable(f"Something is hidden in the zip before {name}. {_UNPACK}")
        ends = _end_of(archive, info)
        yield info.filename, info.file_size
    if ends > octets:
        raise Unreadable("The zip lists more bytes than it has.")
    if archive.start_dir != ends:
        raise Unreadable(f"Something is hidden in the zip after its last file. {_UNPACK}")
    if archive.comment or not _ends_there(archive, octets):
        raise Unreadable(f"Something is hidden after the end of the zip. {_UNPACK}")


def _refuse_tricks(info: zipfile.ZipInfo) -> None:
    """Raise Unreadable for a member that is not a plain stored file."""
    name = printable(info.orig_filename)
    if info.orig_filename != info.filename:
        raise Unreadable(f"The zip hides part of the name {name}.")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise Unreadable(
            f"{name} is compressed in the zip; a dossier has no compressed file. {_UNPACK}"
        )
    if info.flag_bits & 1:
        raise Unreadable(f"{name} is encrypted in the zip; a dossier has no encrypted file.")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Unreadable(f"{name} is a link in the zip.")
    if info.comment or set(_extras(info.extra)) - {_ZIP64}:
        raise Unreadable(f"{name} has extra data in the zip. {_UNPACK}")


def _end_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """The end of a member, by its local header."""
    file = archive.fp
    if file is None:
        raise Unreadable("The zip is closed.")
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    file.seek(name, os.SEEK_CUR)
    if set(_extras(file.read(extra))) - {_ZIP64}:
        told = printable(info.filename)
        raise Unreadable(f"{told} has extra data in the zip. {_UNPACK}")
    return info.header_offset + _LOCAL_HEADER + name + extra + info.file_size


def _ends_there(archive: zipfile.ZipFile, octets: int) -> bool:
    """Whether the file ends with the zip's end record."""
    file = archive.fp
    if file is None:
        return False
    file.seek(octets - _END)
    return file.read(4) == b"PK\5\6"


def _extras(extra: bytes) -> Iterator[int]:
    """The kinds of a member's extra fields."""
    at = 0
    while at < len(extra):
        yield int.from_bytes(extra[at : at + 2], "little")
        at += 4 + int.from_bytes(extra[at + 2 : at + 4], "little")


def _sizes(files: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sizes by name. Raises Unreadable for an unsafe name, or one twice in any case."""
    sizes: dict[str, int] = {}
    plain: set[str] = set()
    total = 0
    for name, size in files:
        if not _NAME.fullmatch(name) or len(name) > _NAME_MAX or name.endswith("."):
            raise Unreadable(f"{printable(name)!r} cannot be the name of a file in a dossier.")
        if name.lower() in plain:
            raise Unreadable(f"Two files are named {printable(name)}.")
        plain.add(name.lower())
        sizes[name] = size
        total += size
        if len(sizes) > FILES_MAX or total > OCTETS_MAX:
            raise Unreadable("It is larger than a dossier can be.")
    return sizes
