"""The evidence of a dossier: everything is read beforehand, and making one reads nothing else.

The same evidence gives the same files, byte for byte. It uses no clock and no database.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Literal, NamedTuple

from replay.text.times import localized, stamp, zone_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.facts import StillTaken
    from ledger.facts.review import FrameShape
    from ledger.record.tape import Head, TapeRow
    from ledger.witnessed_log.checkpoints import LeafProof
    from replay.footage.library.files import FrameFile
    from replay.rounds.story import Story


Kind = Literal["round", "dispute", "window"]
"""The subject of a dossier. Other systems may give a dispute the name of a round."""


class Original(NamedTuple):
    """A recorded segment, untouched: the file whose hash a fact records."""

    camera: str
    sha256: str
    path: Path  # the file it is copied from
    label: str  # its `path` in the fact


class EvidenceClip(NamedTuple):
    """A clip of one camera, cut without decoding. It is derived, never an original."""

    camera: str
    path: Path
    of: Sequence[str]  # SHA-256 of the segments it is made from
    says: str  # what it shows, and how far into it the requested part begins
    unsigned: str | None = "There was no key for clips."  # why; None: it has an ONVIF signature


class EvidenceStill(NamedTuple):
    """The picture of a still, with the shapes beside its frame."""

    body: StillTaken
    path: Path
    shapes: Sequence[FrameShape]
    says: str  # when it was taken, and why


class TapeRange(NamedTuple):
    """A gapless range of rows of one tape. First and last included."""

    tape: str
    first: int
    last: int


class EvidenceText(NamedTuple):
    """A part of the evidence in sentences, and the same as a table."""

    words: Sequence[str]
    table: Sequence[Mapping[str, object]] = ()


class EvidenceWindow(NamedTuple):
    """A preserved window of a table. Times in microseconds by the reference clock."""

    name: str
    property: str
    table: str
    from_us: int
    to_us: int


class Making(NamedTuple):
    """Who made this dossier, when by the house's clock, and seconds of footage around the round."""

    by: str
    at: str  # RFC 3339: the time of the fact that records it
    pre_s: int
    post_s: int


class SealedFact(NamedTuple):
    """A fact that is in the witnessed log, and the proof of it."""

    tape: str
    table_seq: int
    proof: LeafProof


class Evidence(NamedTuple):
    """One round, or a window with its rounds, and related facts of the record.

    Rows are as received. `submissions` has one entry for each of `stories`.
    """

    stories: Sequence[Story]  # one, or those of a window, earliest first
    frames: Mapping[tuple[str, int], FrameFile | str]  # by segment and frame number
    camera_rows: Sequence[TapeRow]  # the facts of its cameras
    previous: Mapping[tuple[str, int], bytes]  # hash before a row, by tape and table_seq
    heads: Sequence[Head]  # of every tape, when this was read
    between: Sequence[TapeRow] = ()  # other rows on its tapes between its first and last fact
    hidden: Sequence[TapeRow] = ()  # the same, if too many to show: only their hashes
    stretches: Sequence[TapeRange] = ()
    submissions: Sequence[TapeRow | None] = ()  # the Rules Submission that judged each round
    corrections: Sequence[TapeRow] = ()  # of its facts
    dispute: str | None = None
    sealed: Sequence[SealedFact] = ()  # the newest sealed fact of each tape
    case_rows: Sequence[TapeRow] = ()  # the dispute's own facts
    custody_rows: Sequence[TapeRow] = ()  # who viewed, exported, locked, released
    mark_rows: Sequence[TapeRow] = ()  # bookmarks, stills and shapes about its time
    stills: Sequence[EvidenceStill] = ()  # those whose picture is kept
    originals: Sequence[Original] = ()
    clips: Sequence[EvidenceClip] = ()
    coverage: EvidenceText = EvidenceText(())
    making: Making | None = None
    window: EvidenceWindow | None = None
    window_rows: Sequence[TapeRow] = ()  # facts of a window that belong to none of its rounds
    cameras: Sequence[str] = ()  # cameras whose footage was preserved
    zone: tzinfo = UTC  # of times in its pages and texts; tables and facts keep them as recorded

    @property
    def about(self) -> str:
        """The title of the dossier."""
        window = self.window
        if window is None:
            return f"round {self.stories[0].round}"
        return f"window {window.property}:{window.name}"

    @property
    def clock(self) -> str:
        """The sentence about times in pages and texts."""
        return (
            f"Times are shown in {zone_name(self.zone)}, each with its offset; facts, tables and "
            "JSON files have them as recorded."
        )

    def at(self, time_us: int) -> str:
        """A time as pages and texts show it."""
        return stamp(time_us, self.zone)

    def local(self, text: str) -> str:
        """A sentence of this program, with its times as pages and texts show them."""
        return localized(text, self.zone)

    @property
    def rows(self) -> Sequence[TapeRow]:
        """Its own facts: a round's in the round's order, a window's in the record's order."""
        if self.window is None:
            return self.stories[0].rows
        return sorted({*self.window_rows, *(row for each in self.stories for row in each.rows)})


FileOfFacts = Literal[
    "facts.jsonl",
    "case.jsonl",
    "corrections.jsonl",
    "submission.jsonl",
    "custody.jsonl",
    "camera-facts.jsonl",
    "marks.jsonl",
    "between.jsonl",
]


def rows_by_file(evidence: Evidence) -> dict[FileOfFacts, list[TapeRow]]:
    """The facts shown in each file; files without a fact are included.

    The dossier's own facts are in the order of `Evidence.rows`, all others in the record's order.
    """
    files: dict[FileOfFacts, Sequence[TapeRow]] = {
        "facts.jsonl": evidence.rows,
        "case.jsonl": evidence.case_rows,
        "corrections.jsonl": evidence.corrections,
        "submission.jsonl": [row for row in evidence.submissions if row],
        "custody.jsonl": evidence.custody_rows,
        "camera-facts.jsonl": evidence.camera_rows,
        "marks.jsonl": evidence.mark_rows,
        "between.jsonl": evidence.between,
    }
    taken: set[tuple[str, str]] = set()
    found: dict[FileOfFacts, list[TapeRow]] = {}
    for name, rows in files.items():
        ordered = rows if name == "facts.jsonl" else sorted(set(rows))
        found[name] = [row for row in ordered if (row.source, row.id) not in taken]
        taken |= {(row.source, row.id) for row in rows}
    return found
