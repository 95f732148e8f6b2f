"""A witnessed log as a folder of files (C2SP tlog-tiles), which any web server can serve.

A tile has up to 256 hashes of one level; a bundle has the entries of 256 leaves. What grows is
written first, then `grown` names the new size, then a checkpoint is signed and replaces the old.
After a kill the folder is at the size that `grown` names: files beyond it are written again.
"""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from infra.files import replace_file, replace_files
from ledger.errors import NotFound, Refused
from ledger.values import quantity
from ledger.witnessed_log.entries import LogEntry, entry_from
from ledger.witnessed_log.tree import HASH_OCTETS, complete_root, leaf_hash, root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

WIDTH = 256
"""The most hashes of a tile, and entries of a bundle."""

READABLE = 0o644
"""Mode of the files: they hold hashes, and other users serve and check them."""

CHECKPOINT, GROWN, LOCK, ENTRIES = "checkpoint", "grown", "lock", "entries"
_HEIGHT = 8
_LENGTH_OCTETS = 2


class Grown(NamedTuple):
    """How far a log has grown: its size, and the newest number of each kind of entry in it."""

    size: int
    numbers: Mapping[str, int]
    released: Sequence[int] = ()  # numbers of quarantined inputs whose release is in the log
    figures: Sequence[int] = ()  # counts of inputs, as the newest entry of that kind has them
    views: Mapping[str, Sequence[int | str]] = {}  # position and digest of each view's newest entry


class TileFolder:
    """The files of one log. One process writes it (`leading`); any number may read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def key_file(self) -> Path:
        """The file of the log's secret key, beside the folder: the folder may be served."""
        return self.folder.with_name(f"{self.folder.name}.key")

    def begin(self) -> None:
        """Make the folder of an empty log. Raises `Refused` if there is a log."""
        if self.has_begun:
            raise Refused(
                "There is a log already", where=str(self.folder), hint="Seal on with `log seal`."
            )
        self._write_grown(Grown(0, {}))

    @property
    def has_begun(self) -> bool:
        """Whether there is a log."""
        return (self.folder / GROWN).exists()

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Write alone until the block ends. Raises `Refused` if another process does."""
        self._require()
        with (self.folder / LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(
                    "Another sealer writes this log",
                    where=str(self.folder),
                    hint="One sealer is enough. Stop it first to start another.",
                ) from None
            yield

    def grown(self) -> Grown:
        """How far the log has grown. Raises `NotFound` without one, `Refused` if it is damaged."""
        self._require()
        path = self.folder / GROWN
        try:
            return Grown(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise _damaged(path, str(error)) from error

    def checkpoint(self) -> str | None:
        """The note of the newest checkpoint; None before the first."""
        path = self.folder / CHECKPOINT
        try:
            return path.read_text()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _damaged(path, str(error)) from error

    def publish(self, note: str) -> None:
        """Replace the newest checkpoint."""
        replace_file(self.folder / CHECKPOINT, note.encode(), READABLE)

    def append(
        self, grown: Grown, entries: Sequence[LogEntry], figures: Sequence[int] = ()
    ) -> Grown:
        """Add entries to a log of that size; how far it has grown then, which is on disk.

        `figures` are those of the newest entry of that kind, if one is added.
        """
        leaves = [each.octets for each in entries]
        size = grown.size + len(leaves)
        framed = [len(each).to_bytes(_LENGTH_OCTETS, "big") + each for each in leaves]
        files: dict[Path, bytes] = {}
        self._grow(files, ENTRIES, grown.size, framed)
        hashes, at, level = [leaf_hash(each) for each in leaves], grown.size, 0
        while hashes:
            full = self._grow(files, str(level), at, hashes)
            hashes = [complete_root(each) for each in full]
            at, level = at // WIDTH, level + 1
        replace_files(files, READABLE)
        newest: dict[str, int] = {each.kind: each.number for each in entries}
        released = [each.number for each in entries if each.kind == "released"]
        views: dict[str, Sequence[int | str]] = {
            each.of: [each.number, each.digest.hex()] for each in entries if each.kind == "view"
        }
        done = Grown(
            size,
            {**grown.numbers, **newest},
            [*grown.released, *released],
            figures or grown.figures,
            {**grown.views, **views},
        )
        self._write_grown(done)
        return done

    def root(self, size: int) -> bytes:
        """The root of the tree of the first `size` leaves."""
        return root(size, self.hashes(size))

    def hashes(self, size: int) -> _Hashes:
        """The hashes of a tree of that size, for proofs. Raises `Refused` if a file is damaged."""
        return _Hashes(self, size)

    def entries(self, size: int) -> Iterator[LogEntry]:
        """The entries of a tree of that size, read as they are needed. Raises `Refused`."""
        for number in range(-(-size // WIDTH)):
            for leaf in self.bundle(number, min(WIDTH, size - number * WIDTH)):
                yield entry_from(leaf, str(self.folder))

    def entry(self, leaf: int, size: int) -> LogEntry:
        """The entry of one leaf of a tree of that size. Raises `Refused`."""
        number, at = divmod(leaf, WIDTH)
        bundle = self.bundle(number, min(WIDTH, size - number * WIDTH))
        return entry_from(bundle[at], str(self.folder))

    def bundle(self, number: int, width: int) -> list[bytes]:
        """The first `width` leaves of a bundle. Raises `Refused`."""
        octets = self._read(ENTRIES, number, width)
        leaves: list[bytes] = []
        at = 0
        while at < len(octets) and len(leaves) < width:
            end = at + _LENGTH_OCTETS + int.from_bytes(octets[at : at + _LENGTH_OCTETS], "big")
            leaves.append(octets[at + _LENGTH_OCTETS : end])
            at = end
        if len(leaves) < width or at > len(octets):
            raise _damaged(self._path(ENTRIES, number, width), "an entry is cut off")
        return leaves

    def tile(self, level: int, number: int, width: int) -> list[bytes]:
        """The first `width` hashes of a tile. Raises `Refused`."""
        octets = self._read(str(level), number, width)
        if len(octets) < width * HASH_OCTETS:
            raise _damaged(
                self._path(str(level), number, width), f"it has {quantity(len(octets), 'byte')}"
            )
        return [octets[at : at + HASH_OCTETS] for at in range(0, width * HASH_OCTETS, HASH_OCTETS)]

    def _grow(
        self, files: dict[Path, bytes], level: str, at: int, parts: Sequence[bytes]
    ) -> list[list[bytes]]:
        """Add the files of parts at their number in a level; the parts of each tile full now."""
        full: list[list[bytes]] = []
        number, had = divmod(at, WIDTH)
        kept = self._had(level, number, had)
        parts = [*kept, *parts]
        for start in range(0, len(parts), WIDTH):
            tile = list(parts[start : start + WIDTH])
            path = self._path(level, number + start // WIDTH, len(tile))
            files[path] = b"".join(tile)
            if len(tile) == WIDTH:
                full.append(tile)
        return full

    def _had(self, level: str, number: int, width: int) -> list[bytes]:
        if width == 0:
            return []
        if level != ENTRIES:
            return self.tile(int(level), number, width)
        return [
            len(each).to_bytes(_LENGTH_OCTETS, "big") + each for each in self.bundle(number, width)
        ]

    def _read(self, level: str, number: int, width: int) -> bytes:
        """The file of a tile; the full one if the narrower one is gone.

        Not the other way round: a full one may be of a killed process, and beyond what has grown.
        """
        partial, full = self._path(level, number, width), self._path(level, number, WIDTH)
        for path in (partial, full):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _damaged(path, str(error)) from error
        raise _damaged(partial, "it is gone")

    def _path(self, level: str, number: int, width: int) -> Path:
        digits = f"{number:03}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        path = self.folder.joinpath("tile", level, *(f"x{each}" for each in groups[:-1]))
        last = groups[-1]
        return path / last if width == WIDTH else path / f"{last}.p" / str(width)

    def _write_grown(self, grown: Grown) -> None:
        replace_file(self.folder / GROWN, json.dumps(grown._asdict()).encode(), READABLE)

    def _require(self) -> None:
        if not self.has_begun:
            raise NotFound(
                "There is no witnessed log",
                where=str(self.folder),
                hint="Begin one with `round-ledger log begin`.",
            )


class _Hashes:
    """Hashes of complete subtrees of a tree, from tiles, each read once."""

    def __init__(self, folder: TileFolder, size: int) -> None:
        self._folder, self._size = folder, size
        self._tiles: dict[tuple[int, int], list[bytes]] = {}

    def __call__(self, level: int, index: int) -> bytes:
        tile_level, height = divmod(level, _HEIGHT)
        first = index << height
        number, at = divmod(first, WIDTH)
        tile = self._tiles.get((tile_level, number))
        if tile is None:
            there = (self._size >> (_HEIGHT * tile_level)) - number * WIDTH
            tile = self._folder.tile(tile_level, number, min(WIDTH, there))
            self._tiles[tile_level, number] = tile
        return complete_root(tile[at : at + (1 << height)])


def _damaged(path: Path, says: str) -> Refused:
    return Refused(
        f"The log's files are damaged: {says}",
        where=str(path),
        hint="Keep them as evidence. Restore the folder from its copy.",
    )
