"""The view of marks on footage: bookmarks, stills, and shapes drawn beside frames.

It has one row for each such fact, with its place in the record. `marks_in` says what holds now. If
several facts are about one bookmark, or about the shapes of one frame, the latest decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import (
    Body,
    BookmarkAdded,
    BookmarkRemoved,
    FrameAnnotated,
    StillTaken,
    type_name,
)
from ledger.values import parse_round, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from ledger.values import RoundId

FOOTAGE_MARKS = ViewTable(
    "footage_marks",
    "One row a fact about a bookmark, a still, or shapes beside a frame.",
    3,
    (
        Column("property", "text", "Property of the footage."),
        Column("tape", "text", "Tape of the fact: <property>/<place>."),
        Column("table_seq", "bigint", "Its number on that tape; both are the key of ledger.tape."),
        Column("bookmark", "text", "Name of the bookmark.", null=True),
        Column("round", "text", "Round that the bookmark is about.", null=True),
        Column("from_us", "bigint", "Bookmark: from, by the reference clock.", null=True),
        Column("to_us", "bigint", "Bookmark: to, by the reference clock.", null=True),
        Column("segment", "text", "SHA-256 of the segment of a still or of shapes.", null=True),
    ),
    (
        "(property, bookmark) WHERE bookmark IS NOT NULL",
        "(property, round) WHERE round IS NOT NULL",
        "(property, to_us) WHERE to_us IS NOT NULL",
        "(property, segment) WHERE segment IS NOT NULL",
    ),
)

_KINDS: tuple[type[Body], ...] = (BookmarkAdded, BookmarkRemoved, FrameAnnotated, StillTaken)
_READS = frozenset(map(type_name, _KINDS))


class Bookmark(NamedTuple):
    """A stretch of footage with a text. Times in microseconds by the reference clock."""

    body: BookmarkAdded
    property: str
    round: RoundId | None
    from_us: int
    to_us: int
    told_us: int  # when it was added


class Still(NamedTuple):
    """A frame that was saved as a picture."""

    body: StillTaken
    told_us: int


class DrawnFrame(NamedTuple):
    """A frame with shapes beside it."""

    body: FrameAnnotated
    told_us: int


class FootageMarks(NamedTuple):
    """The marks that hold, each kind by time."""

    bookmarks: Sequence[Bookmark] = ()
    stills: Sequence[Still] = ()
    drawn: Sequence[DrawnFrame] = ()


def apply(store: ViewStore, batch: Batch) -> None:
    """Store the places of a batch's marks."""
    store.save(FOOTAGE_MARKS, [_row(row, fact) for row, fact in batch.facts(_READS)])


def _row(row: TapeRow, fact: Fact) -> tuple[Any, ...]:
    property_, body = row.tape.partition("/")[0], fact.body
    bookmark = round_ = from_us = to_us = segment = None
    if isinstance(body, BookmarkAdded):
        about = parse_round(body.round, property_) if body.round else None
        bookmark, round_ = body.bookmark, str(about) if about else None
        from_us, to_us = parse_time(body.from_), parse_time(body.to)
    elif isinstance(body, BookmarkRemoved):
        bookmark = body.bookmark
    elif isinstance(body, StillTaken | FrameAnnotated):
        segment = body.segment
    return property_, row.tape, row.table_seq, bookmark, round_, from_us, to_us, segment


def _part_of(row: TapeRow) -> str:
    """Each fact is its own part: no two meet in one row."""
    return f"{row.tape}/{row.table_seq}"


VIEW = Projection(
    "footage_marks", 1, (FOOTAGE_MARKS,), apply, ordered=False, reads=_READS, part_of=_part_of
)
"""The view `footage_marks`."""

_ABOUT = """
SELECT tape, table_seq, table_seq FROM {schema}.footage_marks
 WHERE property = %(property)s AND segment = ANY(%(segments)s::text[])
 UNION
SELECT m.tape, m.table_seq, m.table_seq FROM {schema}.footage_marks m
 WHERE m.property = %(property)s AND m.bookmark IN (
       SELECT bookmark FROM {schema}.footage_marks WHERE property = %(property)s
          AND to_us >= %(since)s AND from_us <= %(until)s
        UNION
       SELECT bookmark FROM {schema}.footage_marks
        WHERE property = %(property)s AND round = ANY(%(rounds)s::text[]))
"""


def rows_of_marks(
    store: ViewStore,
    property_: str,
    rounds: Iterable[RoundId],
    between_us: tuple[int, int],
    segments: Iterable[str],
) -> list[TapeRow]:
    """The facts of all marks on these segments, and of bookmarks of these rounds or a time."""
    return store.rows_named(
        _ABOUT,
        {
            "property": property_,
            "rounds": [str(each) for each in rounds],
            "since": between_us[0],
            "until": between_us[1],
            "segments": sorted(set(segments)),
        },
    )


def rows_of_bookmark(store: ViewStore, property_: str, name: str) -> list[TapeRow]:
    """The facts of one bookmark."""
    return store.rows_named(
        "SELECT tape, table_seq, table_seq FROM {schema}.footage_marks"
        " WHERE property = %(property)s AND bookmark = %(bookmark)s",
        {"property": property_, "bookmark": name},
    )


def rows_on_segment(store: ViewStore, property_: str, segment: str) -> list[TapeRow]:
    """The facts of stills of a segment and of shapes beside its frames."""
    return store.rows_named(
        "SELECT tape, table_seq, table_seq FROM {schema}.footage_marks"
        " WHERE property = %(property)s AND segment = %(segment)s",
        {"property": property_, "segment": segment},
    )


def marks_in(property_: str, facts: Iterable[Fact]) -> FootageMarks:
    """The marks of a property that hold by these facts, in any order."""
    added: dict[str, Fact] = {}
    drawn: dict[tuple[str, int], Fact] = {}
    stills = []
    for fact in sorted(facts, key=lambda it: (it.time_us, it.source, it.id)):
        body = fact.body
        if isinstance(body, BookmarkAdded | BookmarkRemoved):
            added[body.bookmark] = fact
        elif isinstance(body, FrameAnnotated):
            drawn[body.segment, body.frame] = fact
        elif isinstance(body, StillTaken):
            stills.append(Still(body, fact.time_us))
    return FootageMarks(
        sorted(
            (_bookmark(property_, fact, fact.body) for fact in added.values()
             if isinstance(fact.body, BookmarkAdded)),
            key=lambda each: (each.from_us, each.body.bookmark),
        ),
        stills,
        [
            DrawnFrame(fact.body, fact.time_us)
            for fact in drawn.values()
            if isinstance(fact.body, FrameAnnotated) and fact.body.shapes
        ],
    )  # fmt: skip


def _bookmark(property_: str, fact: Fact, body: BookmarkAdded) -> Bookmark:
    about = parse_round(body.round, property_) if body.round else None
    from_us, to_us = parse_time(body.from_) or 0, parse_time(body.to) or 0
    return Bookmark(body, property_, about, from_us, to_us, fact.time_us)
