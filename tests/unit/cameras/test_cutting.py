"""Which stretches of which segments show a time: boundaries, gaps, drifts and a set clock."""

from __future__ import annotations

import pytest

from ledger.facts import ClockChecked, SegmentRecorded
from ledger.record.wire import Fact
from ledger.values import format_time
from replay.cameras.clocks import to_camera
from replay.cameras.coverage import Coverage, coverage
from replay.cameras.cutting import (
    Cut,
    CutWindow,
    cut,
    cut_camera,
    name_of,
    piece_told,
    reference_us,
    windows,
)
from replay.footage.clips.clips import SegmentCut

S = 1_000_000
T0 = 1_795_200_000 * S
PLACE = "hollywood"


def told(body: object, at_us: int, number: int) -> Fact:
    return Fact(body, f"/{PLACE}/surveillance/nvr", str(number), at_us, None, None, None, None)


def segments(*spans: tuple[int, int, int], camera: str = "A") -> list[Fact]:
    """Segments by start and length on the camera's clock, and when recorded, in seconds."""
    return [
        told(
            SegmentRecorded(
                camera=camera,
                path=f"{number}.mp4",
                sha256=f"{number:064x}",
                start=format_time(T0 + start * S),
                frames=10,
                duration_us=length * S,
            ),
            T0 + said * S,
            number,
        )
        for number, (start, length, said) in enumerate(spans)
    ]


def checked(reference_s: int, ahead_us: int) -> Fact:
    body = ClockChecked(
        camera="A",
        camera_time=format_time(T0 + reference_s * S + ahead_us),
        reference_time=format_time(T0 + reference_s * S),
        reference="NTP",
        uncertainty_ms=10,
    )
    return told(body, T0 + reference_s * S, 900 + reference_s)


def of(coverage: Coverage, from_s: int, to_s: int) -> Cut:
    [found] = cut(coverage, PLACE, "A", T0 + from_s * S, T0 + to_s * S)
    return found


def seen(coverage: Coverage, from_s: int, to_s: int) -> list[set[tuple[int, int]]]:
    """Every whole second of each segment that is cut, a set for each piece of the clock."""
    found = cut(coverage, PLACE, "A", T0 + from_s * S, T0 + to_s * S)
    return [
        {(n, second) for n, first, last in taken(each) for second in range(first, last)}
        for each in found
    ]


def taken(found: Cut) -> list[tuple[int, int, int]]:
    return [(int(each.sha256, 16), each.from_us // S, each.to_us // S) for each in found.stretches]


def test_a_time_across_three_segments_is_three_stretches_and_nothing_is_missing() -> None:
    covered = coverage(segments((0, 20, 20), (20, 20, 40), (40, 20, 60)))
    found = of(covered, 15, 45)
    assert taken(found) == [(0, 15, 20), (1, 0, 20), (2, 0, 5)]
    assert found.missing == ()
    assert found.window.plus_minus_us is None
    assert found.stretches[0] == SegmentCut("0" * 64, 15 * S, 20 * S)


def test_what_was_not_recorded_is_told_and_a_pause_between_files_is_not() -> None:
    covered = coverage(segments((0, 20, 20), (30, 10, 40), (40, 10, 50)))
    found = of(covered, 10, 60)
    spans = [((a - T0) // S, (b - T0) // S) for a, b in found.missing]
    assert spans == [(20, 30), (50, 60)]
    nothing = of(covered, 100, 110)
    assert (taken(nothing), len(nothing.missing)) == ([], 1)
    [nobody] = cut(covered, PLACE, "B", T0, T0 + S)
    assert (nobody.stretches, len(nobody.missing)) == ((), 1)


def test_a_clock_that_is_ahead_and_drifts_is_followed_and_back_again() -> None:
    facts = [*segments((0, 9000, 9000)), checked(0, 2 * S), checked(7200, 2 * S + 360_000)]
    covered = coverage(facts)
    found = of(covered, 3600, 3610)
    (stretch,) = found.stretches
    assert stretch.from_us == pytest.approx(3602 * S + 180_000, abs=1000)
    assert found.window.plus_minus_us is not None
    assert 10_000 < found.window.plus_minus_us < 100_000
    camera = covered.cameras[PLACE, "A"]
    [at] = windows(camera, T0 + 3600 * S, T0 + 3610 * S)
    assert (at.piece, piece_told(at), name_of(found)) == (None, None, "A")
    back = reference_us(camera, at.from_us, at.epoch)
    assert back == pytest.approx(T0 + 3600 * S, abs=2)


def test_of_two_segments_that_tell_one_time_twice_the_one_told_nearer_is_taken() -> None:
    covered = coverage(segments((0, 20, 20), (0, 20, 3620)))  # set back by an hour
    assert taken(of(covered, 5, 10)) == [(0, 5, 10)]
    facts = [*segments((0, 20, 20), (0, 20, 3620)), checked(5, 0), checked(3605, -3600 * S)]
    assert taken(of(coverage(facts), 3605, 3610)) == [(1, 5, 10)]


CHECKS_AT = (99, 101)  # seconds: the last before the clock was set at 100, and the first after
SAW = {(0, n) for n in range(5, 10)} | {(1, n) for n in range(5)}
"""What the camera saw from 95 to 105, wherever its clock was set to at 100."""


@pytest.mark.parametrize("by", [-3600, -7, -3, 3, 7, 3600])
@pytest.mark.parametrize("lag", [0, 1])
def test_across_a_set_clock_nothing_that_the_camera_saw_is_left_out(by: int, lag: int) -> None:
    facts = [*segments((90, 10, 100 + lag), (100 + by, 10, 110 + lag))]
    facts += [checked(CHECKS_AT[0], 0), checked(CHECKS_AT[1], by * S)]
    both = seen(coverage(facts), 95, 105)
    assert [sorted({n for n, _ in each}) for each in both] == [[0], [1]]
    assert both[0] | both[1] >= SAW
    assert (0, 4) not in both[0]
    assert (1, 5) not in both[1]


def test_each_piece_says_which_it_is_and_how_the_clock_was_set() -> None:
    facts = [*segments((90, 10, 100), (93, 10, 110)), checked(99, 0), checked(101, -7 * S)]
    first, last = cut(coverage(facts), PLACE, "A", T0 + 95 * S, T0 + 105 * S)
    assert (name_of(first), name_of(last)) == ("A-1of2", "A-2of2")
    told_of = piece_told(last.window)
    assert told_of
    assert (told_of["number"], told_of["of"]) == (2, 2)
    assert (told_of["from"], told_of["to"]) == tuple(
        format_time(T0 + at * S) for at in (99, 105)
    )  # from the last check on: from then on it may have been set
    assert "set back by 7.000 s" in str(told_of["says"])
    assert "twice" in str(told_of["says"])


def test_where_nothing_tells_of_which_showing_two_segments_are_neither_is_left_out() -> None:
    """Each is recorded at the camera's own time, as for a folder that is added later."""
    facts = [*segments((90, 10, 100), (92, 10, 102)), checked(99, 0), checked(101, -8 * S)]
    both = seen(coverage(facts), 95, 105)
    assert both[0] | both[1] >= SAW


@pytest.mark.parametrize("by", [-17, 17])
def test_a_cut_from_end_to_end_alone_would_leave_out_what_was_seen_or_spread_it(by: int) -> None:
    """The negative control: one window, from what the clock showed at both ends."""
    facts = [*segments((90, 10, 100), (100 + by, 10, 110)), checked(99, 0), checked(101, by * S)]
    camera = coverage(facts).cameras[PLACE, "A"]
    assert camera.clock
    ends = [to_camera(camera.clock, T0 + at * S).time_us for at in (95, 105)]
    found = cut_camera("A", camera, CutWindow(ends[0], ends[1], 0, None))
    assert len(found.stretches) == (0 if by < 0 else 2)
    assert sum(b - a for a, b in found.missing) == max(by, 0) * S
