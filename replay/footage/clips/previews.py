"""Previews: a whole segment, smaller and with fewer frames, for a page that plays many cameras.

A preview is made once, in the confined process, and lies in the cache of clips. Each of its frames
keeps its own time, so a player names the frame of the original that it shows. It is never evidence.
"""

from __future__ import annotations

from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Literal

from ledger.errors import LedgerError
from replay.footage.clips.clips import Clip, SegmentCut, cached, clip
from replay.footage.muxing.muxing import available

if TYPE_CHECKING:
    from replay.footage.library.index import FootageIndex, IndexedSegment

WAITING_MAX = 256
"""The most previews that wait to be made; a player asks for a further one again."""

PreviewState = Literal["made", "awaited", "none"]


class Previews:
    """The previews of an index. One is made at a time, by a thread that ends with the program."""

    def __init__(self, library: FootageIndex) -> None:
        self._library = library
        self._lock = Lock()
        self._waiting: set[str] = set()
        self._impossible: set[str] = set()
        self._asked: SimpleQueue[IndexedSegment] = SimpleQueue()
        self._makes = False

    def made(self, entry: IndexedSegment) -> Clip | None:
        """The preview of a segment if it was made before. Raises as `clip`."""
        return cached(self._library, whole(entry), way="preview")

    def ask(self, entry: IndexedSegment) -> PreviewState:
        """Whether the preview of a segment is made; if not, it is made as soon as its turn comes.

        A picture that a player turns has none, and none is made without the extra `video`.
        """
        if entry.rotation or not available():
            return "none"
        with self._lock:
            if entry.sha256 in self._impossible:
                return "none"
            if entry.sha256 in self._waiting:
                return "awaited"
        if self.made(entry):
            return "made"
        with self._lock:
            if len(self._waiting) < WAITING_MAX and entry.sha256 not in self._waiting:
                self._waiting.add(entry.sha256)
                self._asked.put(entry)
            if not self._makes:
                self._makes = True
                Thread(target=self._make_all, name="previews", daemon=True).start()
        return "awaited"

    def _make_all(self) -> None:
        while True:
            self._make(self._asked.get())

    def _make(self, entry: IndexedSegment) -> None:
        try:
            made = clip(self._library, whole(entry), way="preview")
            if made.starts_us != entry.start_us:  # its first frame did not decode: times would lie
                self._impossible.add(entry.sha256)
        except (LedgerError, OSError):
            self._impossible.add(entry.sha256)
        finally:
            with self._lock:
                self._waiting.discard(entry.sha256)


def whole(entry: IndexedSegment) -> list[SegmentCut]:
    """All of a segment."""
    return [SegmentCut(entry.sha256, 0, entry.duration_us)]
