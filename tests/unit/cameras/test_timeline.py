"""Each of the seven answers to "which frame saw it?", on one camera with one small segment.

The camera is one second ahead, checked at 0 s and 100 s to the millisecond. Its segment begins at
11 s by its own clock and has frames at 0, 100, 200, 900 and 1,000 ms, to 1.1 s.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.facts import (
    CameraLost,
    CameraMapped,
    CameraRestored,
    CameraUnmapped,
    ClockChecked,
    FootageExpired,
    FootageLocked,
    FootageReleased,
    RoundStarted,
    SegmentRecorded,
)
from ledger.record.wire import Fact
from ledger.values import format_time
from replay.cameras.coverage import coverage
from replay.cameras.timeline import UNCHECKED, FrameLookup, timeline
from replay.footage.decoding.decoder import FrameIndex
from replay.footage.library.files import FootageFiles, VerifiedFile

MS = 1_000
S = 1_000_000
DIGEST = "ab" * 32
TIMES = FrameIndex((0, 100 * MS, 200 * MS, 900 * MS, 1_000 * MS), (0,))
AT_HAND = FootageFiles({DIGEST: VerifiedFile(Path("/kept.webm"), TIMES, None)}, frozenset())
EMPTY = FootageFiles({}, frozenset())


def fact(time_us: int, body: object, source: str = "/hollywood/surveillance/nvr") -> Fact:
    return Fact(body, source, f"{time_us}", time_us, None, "CC-07", None, None)


def dealt(time_us: int) -> Fact:
    return fact(time_us, RoundStarted(game="criss_cross_poker"), "/hollywood/CC-07/shoe")


def mapped(time_us: int, camera: str = "A") -> Fact:
    body = CameraMapped(camera=camera, table="CC-07", kind="stationary", covers=["table"])
    return fact(time_us, body)


def checked(time_us: int, off_us: int = S) -> Fact:
    body = ClockChecked(
        camera="A",
        camera_time=format_time(time_us + off_us),
        reference_time=format_time(time_us),
        reference="ntp",
        uncertainty_ms=1,
    )
    return fact(time_us, body)


def segment(start_us: int = 11 * S, told_us: int = 12 * S, digest: str = DIGEST) -> Fact:
    body = SegmentRecorded(
        camera="A",
        path="A/one.webm",
        sha256=digest,
        start=format_time(start_us),
        frames=5,
        duration_us=1_100 * MS,
    )
    return fact(told_us, body)


def handled(kind: type, told_us: int, because: str = "dispute 7") -> Fact:
    start, end = format_time(10 * S), format_time(20 * S)
    return fact(told_us, kind(camera="A", from_=start, to=end, by="S-9", because=because))


BASE = (mapped(0), checked(0), checked(100 * S), segment())


def sight(
    time_us: int, *more: Fact, footage: FootageFiles | None = AT_HAND, base: tuple[Fact, ...] = BASE
) -> FrameLookup:
    (seen,) = timeline([dealt(time_us)], coverage([*base, *more]), footage, 50 * MS)
    (only,) = seen.sights
    return only


def test_recorded_names_the_first_frame_at_or_after_and_those_within_the_plus_minus() -> None:
    got = sight(10 * S + 150 * MS)
    assert (got.state, got.frame, got.pts_us) == ("recorded", 2, 200 * MS)
    assert got.camera_time_us == 11 * S + 150 * MS
    # 1 ms of the checks, 203 us of wander over 10.15 s, 1 us of rounding, 50 ms of the device.
    assert got.plus_minus_us == 51 * MS + 203 + 1
    assert got.frames == (1, 2)
    assert not got.beyond
    assert (got.clock, got.epoch, got.segment) == ("checked", 0, DIGEST)


def test_a_plus_minus_that_reaches_out_of_the_segment_says_so() -> None:
    assert sight(10 * S + 20 * MS).beyond
    assert sight(11 * S + 80 * MS).beyond


def test_gap_says_what_lies_around_it() -> None:
    got = sight(30 * S)
    assert (got.state, got.frame) == ("gap", None)
    assert "the last ends at 1970-01-01T00:00:12.100Z, none after" in got.says
    assert "within the uncertainty" in sight(10 * S - 20 * MS).says


def test_a_hole_inside_a_segment_is_a_gap() -> None:
    got = sight(10 * S + 500 * MS)
    assert got.state == "gap"
    assert "no frame for 0.700 s" in got.says


def test_a_short_pause_between_two_segments_is_no_gap() -> None:
    other = "cd" * 32
    later = segment(12_400 * MS, 14 * S, other)
    both = FootageFiles(AT_HAND.kept | {other: VerifiedFile(Path("/b"), TIMES, None)}, frozenset())
    got = sight(11 * S + 200 * MS, later, footage=both)
    assert (got.state, got.segment, got.frame) == ("recorded", other, 0)
    assert sight(12 * S + 200 * MS + 1, footage=both).state == "gap"


def test_expired() -> None:
    got = sight(10 * S, handled(FootageExpired, 99 * S, "30 days"), footage=EMPTY)
    assert got.state == "expired"
    assert got.says == "Expired, by S-9: 30 days."
    here = sight(10 * S, handled(FootageExpired, 99 * S))
    assert here.state == "recorded"
    assert "but it is still here" in here.says


def test_locked_shows_the_frame_and_why_it_is_held_until_released() -> None:
    locked, released = handled(FootageLocked, 50 * S), handled(FootageReleased, 60 * S)
    got = sight(10 * S + 100 * MS, locked)
    assert (got.state, got.frame) == ("locked", 1)
    assert got.says.endswith(" Locked by S-9.")
    assert sight(10 * S, released, locked).state == "recorded"


def test_no_camera_mapped_before_after_and_elsewhere() -> None:
    gone = CameraUnmapped(camera="A", table="CC-07", kind="stationary", covers=["table"])
    assert sight(10 * S, fact(5 * S, gone)).state == "no_camera_mapped"
    assert sight(10 * S, base=(mapped(11 * S), *BASE[1:])).state == "no_camera_mapped"
    other = fact(0, mapped(0).body, "/rivers/surveillance/nvr")
    assert sight(10 * S, base=(other, *BASE[1:])).state == "no_camera_mapped"


def test_off_line_from_lost_to_restored() -> None:
    lost = fact(20 * S, CameraLost(camera="A", reason="no signal"))
    restored = fact(40 * S, CameraRestored(camera="A", reason="cable"))
    states = [sight(at * S, lost, restored).state for at in (19, 20, 39, 40)]
    assert states == ["gap", "off_line", "off_line", "gap"]


def test_altered_where_a_segment_was_recorded_and_its_bytes_are_not_there() -> None:
    missing = sight(10 * S, footage=EMPTY)
    changed = sight(10 * S, footage=FootageFiles({}, frozenset({"one.webm"})))
    assert missing.state == changed.state == "altered"
    assert "no file in the footage folder has its bytes" in missing.says
    assert "its bytes are not those recorded" in changed.says


def test_unreadable_footage_is_recorded_without_a_frame() -> None:
    broken = FootageFiles({DIGEST: VerifiedFile(Path("/kept.webm"), None, "torn")}, frozenset())
    got = sight(10 * S, footage=broken)
    assert (got.state, got.frame) == ("recorded", None)
    assert "cannot be read: torn" in got.says


def test_without_a_footage_folder_the_facts_alone_are_told() -> None:
    got = sight(10 * S, footage=None)
    assert (got.state, got.frame, got.path) == ("recorded", None, "A/one.webm")


def test_a_clock_never_checked_is_taken_at_its_word_and_said_so() -> None:
    got = sight(11 * S + 100 * MS, base=(mapped(0), segment()))
    assert (got.state, got.frame, got.clock) == ("recorded", 1, "never_checked")
    assert got.plus_minus_us is None
    assert got.says.endswith(UNCHECKED)


def test_a_clock_set_back_shows_one_time_twice_and_the_segment_told_nearer_is_taken() -> None:
    other = "cd" * 32
    both = FootageFiles(AT_HAND.kept | {other: VerifiedFile(Path("/b"), TIMES, None)}, frozenset())
    back = checked(3_700 * S, off_us=-3_599 * S)
    again = segment(11 * S, 3_612 * S, other)
    got = [sight(at, back, again, footage=both) for at in (10 * S, 3_610 * S)]
    assert [one.segment for one in got] == [DIGEST, other]
    assert [one.epoch for one in got] == [0, 1]


def test_footage_of_the_one_showing_is_never_shown_for_the_other() -> None:
    """It was recorded a second after it ended: an hour later that clock showed the same again."""
    got = sight(3_610 * S, checked(3_700 * S, off_us=-3_599 * S))
    assert (got.state, got.segment) == ("gap", None)
    assert "set back by 3600.000 s" in got.says
    assert got.says.endswith("twice.")


def test_every_camera_on_the_table_is_asked_and_facts_keep_their_order() -> None:
    covered = coverage([*BASE, mapped(0, "B")])
    seen = timeline([dealt(11 * S), dealt(10 * S)], covered, AT_HAND)
    assert [one.time_us for one in seen] == [11 * S, 10 * S]
    assert [one.camera for one in seen[0].sights] == ["A", "B"]
    assert seen[0].sights[1].state == "gap"


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_in_which_facts_arrive_changes_nothing(order: int) -> None:
    told = [*BASE, handled(FootageLocked, 50 * S), handled(FootageReleased, 60 * S)]
    assert coverage(told[::order]) == coverage(sorted(told, key=lambda one: one.time_us))


def test_what_expired_is_not_called_recorded_where_no_footage_was_looked_for() -> None:
    expired = sight(10 * S + 500 * MS, handled(FootageExpired, 200 * S), footage=None)
    assert (expired.state, "but it is still here" in expired.says) == ("expired", False)
    assert sight(10 * S + 500 * MS, footage=None).state == "recorded"
