"""What goes into a dossier: everything read beforehand, so that making one asks nothing else.

The same evidence gives the same files to the byte. It names no clock and no database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.record.tape import Head, TapeRow
    from replay.footage.library.files import FrameFile
    from replay.rounds.story import Story


Kind = Literal["round", "dispute", "window"]
"""What a dossier is of. Other systems name disputes as they like: as a round, even."""


class Original(NamedTuple):
    """A recorded segment, untouched: the very file that a fact tells the hash of."""

    camera: str
    sha256: str
    path: Path  # where it is copied from
    label: str  # what the fact calls it


class EvidenceClip(NamedTuple):
    """A stretch of one camera cut out without decoding; derived, never an original."""

    camera: str
    path: Path
    of: Sequence[str]  # SHA-256 of the segments it is made from
    says: str  # what it shows, and what lies before the first frame asked for
    unsigned: str | None = "There was no key for clips."  # why; None: it carries an ONVIF signature


class TapeRange(NamedTuple):
    """Rows of one tape, from the first to the last of a round, without a hole. Both included."""

    tape: str
    first: int
    last: int


class EvidenceText(NamedTuple):
    """One side of the evidence told in words, and the same as a table."""

    words: Sequence[str]
    table: Sequence[Mapping[str, object]] = ()


class EvidenceWindow(NamedTuple):
    """A stretch of a table's time that was preserved without a dispute; microseconds, reference."""

    name: str
    property: str
    table: str
    from_us: int
    to_us: int


class Making(NamedTuple):
    """Who had this dossier made, when by the house's clock, and how much around the round."""

    by: str
    at: str  # RFC 3339, of the fact that tells of it
    pre_s: int
    post_s: int


class Evidence(NamedTuple):
    """One round, or a window with its rounds, and what stands around it on the record.

    Rows are as they were received. Of a window `submissions` go with `stories`.
    """

    stories: Sequence[Story]  # one, or a window's in the order in which they began
    frames: Mapping[tuple[str, int], FrameFile | str]  # by segment and frame number
    camera_rows: Sequence[TapeRow]  # the facts of its cameras
    previous: Mapping[tuple[str, int], bytes]  # hash before a row, by tape and table_seq
    heads: Sequence[Head]  # of every tape when this was read
    between: Sequence[TapeRow] = ()  # others on its tapes between its first fact and its last
    hidden: Sequence[TapeRow] = ()  # the same, too many to show: by their hash alone
    stretches: Sequence[TapeRange] = ()
    submissions: Sequence[TapeRow | None] = ()  # the Rules Submission that judged each round
    corrections: Sequence[TapeRow] = ()  # of its facts
    dispute: str | None = None
    case_rows: Sequence[TapeRow] = ()  # the dispute's own facts
    custody_rows: Sequence[TapeRow] = ()  # who viewed, exported, locked, released
    originals: Sequence[Original] = ()
    clips: Sequence[EvidenceClip] = ()
    coverage: EvidenceText = EvidenceText(())
    making: Making | None = None
    window: EvidenceWindow | None = None
    window_rows: Sequence[TapeRow] = ()  # a window's facts that are of none of its rounds
    cameras: Sequence[str] = ()  # whose footage was preserved

    @property
    def about(self) -> str:
        """What it is a dossier of, as its title says."""
        window = self.window
        if window is None:
            return f"round {self.stories[0].round}"
        return f"window {window.property}:{window.name}"

    @property
    def rows(self) -> Sequence[TapeRow]:
        """Its own facts: a round's in the order of the round, a window's in that of the record."""
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
    "between.jsonl",
]


def rows_by_file(evidence: Evidence) -> dict[FileOfFacts, list[TapeRow]]:
    """Every fact that is shown, in the one file that it belongs to; files without a fact too.

    Its own are in the order of `Evidence.rows`, all others in that of the record.
    """
    files: dict[FileOfFacts, Sequence[TapeRow]] = {
        "facts.jsonl": evidence.rows,
        "case.jsonl": evidence.case_rows,
        "corrections.jsonl": evidence.corrections,
        "submission.jsonl": [row for row in evidence.submissions if row],
        "custody.jsonl": evidence.custody_rows,
        "camera-facts.jsonl": evidence.camera_rows,
        "between.jsonl": evidence.between,
    }
    taken: set[tuple[str, str]] = set()
    found: dict[FileOfFacts, list[TapeRow]] = {}
    for name, rows in files.items():
        ordered = rows if name == "facts.jsonl" else sorted(set(rows))
        found[name] = [row for row in ordered if (row.source, row.id) not in taken]
        taken |= {(row.source, row.id) for row in rows}
    return found
