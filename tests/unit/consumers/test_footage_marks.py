"""Marks on footage: which hold, in whatever order their facts arrive, and how shapes are drawn."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from consumers.review.footage_marks import marks_in
from ledger.facts import BookmarkAdded, BookmarkRemoved, FrameAnnotated, StillTaken
from ledger.facts.review import FrameShape
from ledger.record.wire import Fact
from ledger.values import format_time
from replay.review.shapes import shapes_svg

if TYPE_CHECKING:
    from ledger.facts import Body

S = 1_000_000
SEGMENT, PICTURE = "a" * 64, "b" * 64
BOX = FrameShape(kind="box", points=((4, 2), (1, 8)), text="<his> hand")


def told(at_s: int, body: Body) -> Fact:
    return Fact(body, "/p/surveillance/marks", f"id-{at_s}", at_s * S, None, None, None, None)


def added(name: str, text: str) -> BookmarkAdded:
    return BookmarkAdded(
        bookmark=name, round="T-1/2026-11-20/3", cameras=("cam",), from_=format_time(5 * S),
        to=format_time(7 * S), text=text, tags=(), by="S-1",
    )  # fmt: skip


def annotated(*shapes: FrameShape) -> FrameAnnotated:
    return FrameAnnotated(camera="cam", segment=SEGMENT, frame=3, shapes=shapes, by="S-1")


FACTS = [
    told(1, added("B-1", "first words")),
    told(2, added("B-2", "stays")),
    told(3, added("B-1", "corrected words")),
    told(4, added("B-3", "removed")),
    told(5, BookmarkRemoved(bookmark="B-3", because="no", by="S-1")),
    told(6, annotated(BOX, BOX)),
    told(7, annotated(BOX)),
    told(
        8,
        StillTaken(camera="cam", segment=SEGMENT, frame=3, sha256=PICTURE, because="why", by="S-1"),
    ),
]


def test_the_latest_fact_decides_in_any_order_of_arrival() -> None:
    for seed in range(20):
        facts = random.Random(seed).sample(FACTS, len(FACTS))  # noqa: S311 - repeatable
        found = marks_in("p", facts)
        assert [(each.body.bookmark, each.body.text) for each in found.bookmarks] == [
            ("B-1", "corrected words"),
            ("B-2", "stays"),
        ]
        assert [len(each.body.shapes) for each in found.drawn] == [1]
        assert [each.body.sha256 for each in found.stills] == [PICTURE]
    assert str(found.bookmarks[0].round) == "p:T-1/2026-11-20/3"
    assert (found.bookmarks[0].from_us, found.bookmarks[0].to_us) == (5 * S, 7 * S)


def test_no_shapes_take_those_of_a_frame_away() -> None:
    assert marks_in("p", [*FACTS, told(9, annotated())]).drawn == []


def test_shapes_are_drawn_in_pixels_of_the_frame_and_their_text_is_escaped() -> None:
    odd = FrameShape(kind="star", points=((0, 0), (2, 2)))
    none = FrameShape(kind="box", points=())
    arrow = FrameShape(kind="arrow", points=((0, 0), (10, 0)))
    drawn = shapes_svg([BOX, odd, none, arrow], 100, 50)
    assert 'viewBox="0 0 100 50"' in drawn
    assert '<rect class="box" x="1" y="2" width="3" height="6">' in drawn
    assert "&lt;his&gt; hand" in drawn
    assert drawn.count("<rect") == 2, "an unknown kind is drawn as a box"
    assert 'd="M0 0L10 0M7 2L10 0L7 -2"' in drawn
