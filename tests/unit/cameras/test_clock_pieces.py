"""A camera's clock by pieces: what is said where it was set, and which showing a segment is of.

The clock is right until 99 s, and set by some seconds before 101 s.
"""

from __future__ import annotations

import pytest

from ledger.facts import SegmentRecorded
from ledger.values import format_time
from replay.cameras.clock_pieces import clock_pieces, clock_warning, epochs_of, steps
from replay.cameras.clocks import CameraClock, Check, camera_clock, to_camera
from replay.cameras.coverage import Segment

S = 1_000_000


def clock(by: int) -> CameraClock:
    set_by = [(0, 0), (99, 0), (101, by), (200, by)]
    found = camera_clock([Check(at * S, (at + off) * S, 1000) for at, off in set_by])
    assert found
    return found


def segment(start: int, end: int, told: float) -> Segment:
    body = SegmentRecorded(
        camera="A", path="A/1.mp4", sha256="0" * 64, start=format_time(start * S), frames=9,
        duration_us=(end - start) * S,
    )  # fmt: skip
    return Segment(start * S, end * S, round(told * S), body)


def test_a_clock_never_checked_or_never_set_is_one_piece() -> None:
    assert [each[:3] for each in clock_pieces(None, 5, 9)] == [(5, 9, 0)]
    once = camera_clock([Check(0, S, 1000)])
    assert [each.line for each in clock_pieces(once, 5, 9)] == [((5, 5 + S), (9, 9 + S))]
    assert (steps(None), steps(once), clock_warning(once, 5)) == ([], [], "")


@pytest.mark.parametrize("by", [-10, 10])
def test_the_nearer_check_decides_which_fit_holds(by: int) -> None:
    first, last = clock_pieces(clock(by), 95 * S, 105 * S)
    assert (first.from_us, first.to_us, first.epoch) == (95 * S, 100 * S + 1, 0)
    assert (last.from_us, last.to_us, last.epoch) == (100 * S + 1, 105 * S, 1)
    assert last.line == (
        (100 * S + 1, (100 + by) * S + 1), (101 * S, (101 + by) * S), (105 * S, (105 + by) * S),
    )  # fmt: skip


def test_a_time_shown_twice_and_one_never_shown_are_said() -> None:
    [back], [forward] = steps(clock(-10)), steps(clock(10))
    assert back.says == (
        "Its clock was set back by 10.000 s between 1970-01-01T00:01:39.000Z "
        "and 1970-01-01T00:01:41.000Z: "
        "it showed the 10.000 s up to about 1970-01-01T00:01:40.000Z twice."
    )
    assert forward.says.endswith(
        "it never showed the 10.000 s after about 1970-01-01T00:01:40.000Z."
    )
    assert [bool(clock_warning(clock(-10), at * S)) for at in (88, 90, 110, 112)] == [0, 1, 1, 0]
    assert [bool(clock_warning(clock(10), at * S)) for at in (98, 100, 102)] == [0, 1, 0]


@pytest.mark.parametrize(
    ("by", "its", "epochs"),
    [
        (-10, segment(90, 100, 100.1), [0]),  # recorded before it could have ended the second time
        (-10, segment(90, 100, 110.1), [1, 0]),  # the second time; or the first, recorded late
        (-10, segment(90, 100, 100), [0, 1]),  # recorded at its own time: that says nothing
        (-10, segment(60, 70, 70.1), [0]),  # the clock was not yet set where this could be
        (10, segment(90, 100, 100.1), [0]),
        (10, segment(110, 120, 110.1), [1]),
    ],
)
def test_a_segment_is_of_the_showing_that_its_telling_allows(
    by: int, its: Segment, epochs: list[int]
) -> None:
    assert epochs_of(clock(by), its) == epochs
    assert epochs_of(None, its) == [0]


def test_pieces_follow_the_mapping_at_every_instant() -> None:
    its = clock(-10)
    pieces = clock_pieces(its, 0, 200 * S)
    for at in (0, 99 * S, 100 * S, 100 * S + 1, 101 * S, 199 * S):
        [piece] = [each for each in pieces if each.from_us <= at < each.to_us]
        assert piece.epoch == to_camera(its, at).epoch
