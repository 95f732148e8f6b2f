"""Files of footage that a browser sends in pieces, each kept on the footage disk as it comes.

An upload has a folder of its own under the ledger's home, with a name that the server chose. The
name that its sender gave is text: only a time in it goes into the name of the file. A piece is
added at the end alone, so a broken connection leaves what had come, and the sender goes on there.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from infra.files import replace_file
from ledger.errors import NotFound, Refused, Usage
from ledger.values import quantity
from replay.footage.decoding.containers import SUFFIXES
from replay.footage.library.adding import BYTES_MAX
from replay.footage.library.start_times import time_in

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "footage-uploads"
"""The folder of uploads in the ledger's home; footage that was put on record stays in it."""

PIECE_OCTETS_MAX = 8 << 20
"""The most bytes of one piece."""

KEPT_S = 3 * 24 * 3600
"""Seconds after its last piece for which a file that is not on record is kept."""

FREE_OCTETS_MIN = 1 << 30
"""Bytes of the disk that uploads leave free."""

WAITING_MAX = 200
"""The most files of one user that are not on record."""

NAME_MAX = 200

State = Literal["waiting", "taking", "added"]
"""`taking`: it may be on record, since it was about to be put there."""

_NAMES = "abcdefghijkmnopqrstuvwxyz"  # no digit, which could read as part of a time
_ID = re.compile(r"[a-z]{24}")


class Upload(Struct, frozen=True):
    """One file that a user sends, and its state."""

    id: str
    by: str  # the user
    name: str  # as its sender calls it; never a path here
    size: int
    file: str  # its name here
    state: State = "waiting"


class UploadStore:
    """The uploads of one home. Several processes may use it at the same time."""

    def __init__(self, home: Path, free_octets_min: int = FREE_OCTETS_MIN) -> None:
        self._folder = home / FOLDER
        self._free_min = free_octets_min

    def begin(self, by: str, name: str, size: int, now_s: float) -> Upload:
        """A new, empty upload. Raises `Usage`, `Refused` if there is no room."""
        shown = name.strip().replace("\\", "/").rpartition("/")[2][:NAME_MAX]
        if not shown or not shown.isprintable():
            raise Usage("The file has no name", where="name", hint="Give it one.")
        if not 0 < size <= BYTES_MAX:
            what = "It is empty" if size <= 0 else f"It has more than {quantity(BYTES_MAX, 'byte')}"
            raise Usage(what, where=shown, hint="Cut it shorter, as the recorder's export can.")
        self.remove_old(now_s)
        waiting = [each for each in self.every() if each.state == "waiting"]
        if sum(each.by == by for each in waiting) >= WAITING_MAX:
            hint = "Put some on record, or cancel them."
            raise Usage(f"{quantity(WAITING_MAX, 'file')} wait already", where=shown, hint=hint)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        promised = sum(each.size - self.received(each) for each in waiting)
        self._require_room(promised + size)
        id_ = "".join(secrets.choice(_NAMES) for _ in range(24))
        suffix = Path(shown).suffix.lower()
        file = f"{id_}_{time_in(shown) or ''}{suffix if suffix in SUFFIXES else '.bin'}"
        made = Upload(id_, by, shown, size, file)
        self._keep(made)
        self.path(made).touch(mode=0o600)
        return made

    def find(self, id_: str, by: str) -> Upload:
        """A user's upload. Raises `NotFound`."""
        found = self._read(id_) if _ID.fullmatch(id_) else None
        if found is None or found.by != by:
            raise NotFound(
                "There is no such upload",
                where="import",
                hint=f"What is not put on record is removed after {KEPT_S // 3600} hours.",
            )
        return found

    def of(self, by: str) -> list[Upload]:
        """A user's uploads that are not on record, the newest first."""
        its = [each for each in self.every() if each.by == by and each.state != "added"]
        return sorted(its, key=self._changed_s, reverse=True)

    def every(self) -> list[Upload]:
        """All uploads."""
        names = (path.parent.name for path in self._folder.glob("*/upload.json"))
        return [each for each in map(self._read, sorted(names)) if each]

    def path(self, upload: Upload) -> Path:
        """The file, whole or not."""
        return self._folder / upload.id / upload.file

    def received(self, upload: Upload) -> int:
        """How many bytes are here."""
        try:
            return self.path(upload).stat().st_size
        except OSError:
            return 0

    def is_whole(self, upload: Upload) -> bool:
        """Whether every byte is here."""
        return self.received(upload) == upload.size

    @contextmanager
    def appending(self, upload: Upload, offset: int, octets: int) -> Iterator[int]:
        """The open file, to append a piece to. Raises `Refused` unless it belongs there.

        Only one sender appends at a time. What was written stays if the block fails.
        """
        if not 0 < octets <= PIECE_OCTETS_MAX:
            hint = (
                f"Send at most {quantity(PIECE_OCTETS_MAX, 'byte')} at once, with a Content-Length."
            )
            raise Refused("The piece has no bytes, or too many", where=upload.name, hint=hint)
        self._require_room(octets)
        descriptor = os.open(self.path(upload), os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                hint = "Close the other tab, or wait for it."
                raise Refused("It is being sent already", where=upload.name, hint=hint) from error
            here = os.fstat(descriptor).st_size
            if here != offset or here + octets > upload.size or upload.state != "waiting":
                hint = f"Go on at byte {here:,}."
                what = "The piece does not follow what is here"
                raise Refused(what, where=upload.name, hint=hint)
            yield descriptor
        finally:
            os.close(descriptor)

    def set_state(self, upload: Upload, state: State) -> Upload:
        """The same upload in another state, kept on disk."""
        changed = replace(upload, state=state)
        self._keep(changed)
        return changed

    def cancel(self, upload: Upload) -> None:
        """Remove an upload that is not on record, and cannot be. Raises `Refused`."""
        if upload.state != "waiting":
            hint = "Footage on record expires by the retention table."
            raise Refused("It may be on record already", where=upload.name, hint=hint)
        shutil.rmtree(self._folder / upload.id, ignore_errors=True)

    def remove_old(self, now_s: float) -> None:
        """Remove what got no piece for `KEPT_S` and was not put on record."""
        for each in self.every():
            if each.state == "waiting" and self._changed_s(each) < now_s - KEPT_S:
                self.cancel(each)

    def _require_room(self, octets: int) -> None:
        free = shutil.disk_usage(self._folder).free
        if free - octets < self._free_min:
            raise Refused(
                f"The footage disk has no room: {quantity(free >> 20, 'MiB', 'MiB')} are free",
                where=FOLDER,
                hint=f"{self._free_min >> 20:,} MiB stay free. Cancel uploads, or free some space.",
            )

    def _changed_s(self, upload: Upload) -> float:
        try:
            return self.path(upload).stat().st_mtime
        except OSError:
            return 0.0

    def _read(self, id_: str) -> Upload | None:
        with suppress(OSError, msgspec.DecodeError):
            told = (self._folder / id_ / "upload.json").read_bytes()
            found = msgspec.json.decode(told, type=Upload)
            return found if found.id == id_ else None
        return None

    def _keep(self, upload: Upload) -> None:
        place = self._folder / upload.id / "upload.json"
        replace_file(place, msgspec.json.encode(upload))
