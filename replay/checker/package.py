"""The files of a dossier, in a folder or in a zip, and no trick of either.

Nothing is unpacked and nothing is written: files are read where they lie, and only those that lie
plainly inside. What a zip claims of itself is not believed.
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
OCTETS_MAX = 1 << 40  # of all files together
TEXT_MAX = 1 << 28  # of a file that is read whole
_PIECE = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
_NAME_MAX = 200
_SHOWN_MAX = 200
LEFT_BEHIND = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))
"""What file managers leave in a folder that somebody looked at: no part of a dossier."""

_BYTECODE = re.compile(r"__pycache__/verify\.[a-z0-9]+(-[a-z0-9]+)?(\.opt-[12])?\.pyc")
"""What Python leaves in a folder where somebody imported this file: no part of a dossier either."""

_LOCAL_HEADER, _END = 30, 22  # octets: before a member, without name and extra field; of the end
_ZIP64 = 1  # the only extra field that a dossier's zip has: sizes beyond 4 GB
_UNPACK = "If somebody zipped it anew, unpack it and check the folder."


class Unreadable(Exception):  # noqa: N818 - named for what it says of the package
    """The package as a whole cannot be checked; why, in a sentence."""


class Package(NamedTuple):
    """Where a dossier lies, and the size of every file in it by name."""

    path: Path
    sizes: dict[str, int]
    archive: zipfile.ZipFile | None

    def open(self, name: str) -> IO[bytes]:
        """One of its files, for reading. Raises OSError and what `zipfile` raises."""
        return self.archive.open(name) if self.archive else self.path.joinpath(name).open("rb")

    def pieces(self, name: str) -> Iterator[bytes]:
        """The octets of a file, a piece at a time. Raises Unreadable."""
        try:
            with self.open(name) as file:
                yield from iter(lambda: file.read(_PIECE), b"")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise Unreadable(f"{printable(name)} cannot be read: {error}.") from None

    def whole(self, name: str) -> bytes:
        """The octets of a file that is text. Raises Unreadable."""
        if self.sizes[name] > TEXT_MAX:
            raise Unreadable(f"{printable(name)} is larger than a file of its kind can be.")
        return b"".join(self.pieces(name))

    def sha256(self, name: str) -> str:
        """Recomputed from the octets, hexadecimal. Raises Unreadable."""
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
        raise Unreadable(f"This is neither a folder nor a whole zip: {error}.") from None


def printable(text: object) -> str:
    """A text of the package without what could steer a terminal, and not endless."""
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
    """A folder that cannot be read may hold anything: it is not passed over."""
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
        raise Unreadable("The zip claims more than it holds.")
    if archive.start_dir != ends:
        raise Unreadable(f"Something is hidden in the zip after its last file. {_UNPACK}")
    if archive.comment or not _ends_there(archive, octets):
        raise Unreadable(f"Something is hidden behind the zip. {_UNPACK}")


def _refuse_tricks(info: zipfile.ZipInfo) -> None:
    """Raise Unreadable for a member that is more or less than a plain stored file."""
    name = printable(info.orig_filename)
    if info.orig_filename != info.filename:
        raise Unreadable(f"The zip hides part of the name {name}.")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise Unreadable(
            f"{name} is compressed in the zip; in a dossier nothing is. If somebody zipped it "
            "anew, unpack it and check the folder."
        )
    if info.flag_bits & 1:
        raise Unreadable(f"{name} is encrypted in the zip; in a dossier nothing is.")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Unreadable(f"{name} is a link in the zip.")
    if info.comment or set(_extras(info.extra)) - {_ZIP64}:
        raise Unreadable(f"{name} carries more in the zip than itself. {_UNPACK}")


def _end_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Where a member ends, by the header that stands before it."""
    file = archive.fp
    if file is None:
        raise Unreadable("The zip is closed.")
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    file.seek(name, os.SEEK_CUR)
    if set(_extras(file.read(extra))) - {_ZIP64}:
        told = printable(info.filename)
        raise Unreadable(f"{told} carries more in the zip than itself. {_UNPACK}")
    return info.header_offset + _LOCAL_HEADER + name + extra + info.file_size


def _ends_there(archive: zipfile.ZipFile, octets: int) -> bool:
    """Whether the record that ends a zip is the last thing in the file."""
    file = archive.fp
    if file is None:
        return False
    file.seek(octets - _END)
    return file.read(4) == b"PK\5\6"


def _extras(extra: bytes) -> Iterator[int]:
    """The kinds of what stands beside a member."""
    at = 0
    while at < len(extra):
        yield int.from_bytes(extra[at : at + 2], "little")
        at += 4 + int.from_bytes(extra[at + 2 : at + 4], "little")


def _sizes(files: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sizes by name; every name plain, none twice, in whatever case."""
    sizes: dict[str, int] = {}
    plain: set[str] = set()
    total = 0
    for name, size in files:
        if not _NAME.fullmatch(name) or len(name) > _NAME_MAX or name.endswith("."):
            raise Unreadable(f"{printable(name)!r} is not a name that a dossier's file can have.")
        if name.lower() in plain:
            raise Unreadable(f"Two files are named {printable(name)}.")
        plain.add(name.lower())
        sizes[name] = size
        total += size
        if len(sizes) > FILES_MAX or total > OCTETS_MAX:
            raise Unreadable("It holds more than a dossier can.")
    return sizes
