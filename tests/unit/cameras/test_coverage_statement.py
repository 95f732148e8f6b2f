"""What was filmed of a table: each state apart, the section beside it, and the same as a replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.facts import (
    CameraLost,
    CameraMapped,
    CameraRestored,
    CameraUnmapped,
    ClockChecked,
    FootageExpired,
    FootageLocked,
    FootageReleased,
    SegmentRecorded,
)
from ledger.record.wire import Fact
from ledger.values import format_time
from replay.cameras.coverage import coverage
from replay.cameras.health import Ailing, Pictured
from replay.cameras.statement import Cover, Filmed, StatedTime, coverage_statement
from replay.cameras.timeline import CameraState, joined, sights_at
from replay.dossier.writing.covering import in_sentences
from replay.footage.decoding.decoder import FrameIndex
from replay.footage.library.files import FootageFiles, VerifiedFile
from replay.web.pages.lanes import TableSpan, lane_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

S = 1_000_000
MS = 1_000
GAME, DICE = "criss_cross_poker", "three_dice_football"
OPEN = StatedTime("open", GAME, 100 * S, 160 * S)
NO_FILES = FootageFiles({}, frozenset())


def told(time_us: int, body: object) -> Fact:
    source = "/hollywood/surveillance/nvr"
    return Fact(body, source, str(time_us), time_us, None, "CC-07", None, None)


def mapped(
    camera: str = "A", at: int = 0, covers: Sequence[str] = ("table",), kind: str = "stationary"
) -> Fact:
    body: Any = CameraMapped(camera=camera, table="CC-07", kind=kind, covers=tuple(covers))  # type: ignore[arg-type] # as given
    return told(at * S, body)


def unmapped(camera: str, at: int) -> Fact:
    body = CameraUnmapped(camera=camera, table="CC-07", kind="stationary", covers=("table",))
    return told(at * S, body)


def segment(camera: str, start: int, seconds: int, told_at: int | None = None) -> Fact:
    body = SegmentRecorded(
        camera=camera,
        path=f"{camera}/{start}.webm",
        sha256=digest(camera, start),
        start=format_time(start * S),
        frames=seconds * 10,
        duration_us=seconds * S,
    )
    return told((start + seconds if told_at is None else told_at) * S, body)


def digest(camera: str, start: int) -> str:
    return f"{ord(camera):032x}{start:032x}"


def handled(kind: Any, start: int, end: int, at: int = 900, **more: str) -> Fact:  # noqa: ANN401 - one of three facts
    span = {"from_": format_time(start * S), "to": format_time(end * S)}
    return told(at * S, kind(camera="A", **span, by="S-9", because="dispute 7", **more))


def cover(
    *facts: Fact,
    stretch: StatedTime = OPEN,
    at_hand: FootageFiles | None = None,
    filmed: Callable[[str], Filmed | None] = lambda _: None,
) -> Cover:
    whole = coverage_statement(facts, "hollywood", "CC-07", [stretch], at_hand, filmed)
    return whole.stretches[0]


def states(covered: Cover, camera: int = 0) -> list[tuple[int, int, str]]:
    return [
        (piece.from_us // S, piece.to_us // S, piece.state)
        for piece in covered.cameras[camera].pieces
    ]


def test_one_stationary_camera_that_recorded_throughout_meets_465a_9_c_2_i() -> None:
    covered = cover(mapped(), segment("A", 95, 40), segment("A", 135, 40))
    assert states(covered) == [(100, 160, "recorded")]
    assert (covered.met, covered.due, covered.section) == (True, "1", "465a.9(c)(2)(i)")
    assert covered.covered_us == 60 * S
    assert covered.cameras[0].segments == 2


def test_what_ails_the_pictures_of_counted_segments_is_told_by_the_reference() -> None:
    asked = []

    def pictured(sha256s: Sequence[str]) -> Pictured:
        asked.append(list(sha256s))
        dark, before = (
            Ailing("black", from_us * S, (from_us + 5) * S, 3, "dark") for from_us in (127, 103)
        )
        return Pictured(1, [before, dark])

    check = ClockChecked(
        camera="A",
        camera_time=format_time(7 * S),  # 7 s ahead
        reference_time=format_time(0),
        reference="ntp",
        uncertainty_ms=0,
    )
    facts = [mapped(), told(0, check), segment("A", 102, 20), segment("A", 122, 50)]
    whole = coverage_statement(facts, "hollywood", "CC-07", [OPEN], None, pictured=pictured)
    (camera,) = whole.stretches[0].cameras
    assert asked == [[digest("A", 102), digest("A", 122)]]
    assert (camera.segments, camera.pictured) == (2, 1)
    found = [(each.fault, each.from_us // S, each.to_us // S) for each in camera.findings]
    assert found == [("black", 96, 101), ("black", 120, 125)]
    assert states(whole.stretches[0])[0][2] == "recorded", "what is dark was recorded all the same"
    later = coverage_statement(
        facts, "hollywood", "CC-07", [OPEN._replace(from_us=110 * S)], None, pictured=pictured
    )
    assert [each.from_us // S for each in later.stretches[0].cameras[0].findings] == [120]
    assert cover(*facts).cameras[0].pictured == 0, "nobody looked, and it is not said"


def test_each_stretch_without_footage_says_which_of_the_states_it_is() -> None:
    covered = cover(
        mapped(),
        segment("A", 100, 10),
        segment("A", 120, 10),
        segment("A", 130, 5),
        told(140 * S, CameraLost(camera="A", reason="cable")),
        told(150 * S, CameraRestored(camera="A", reason="mended")),
        handled(FootageLocked, 105, 109),
        handled(FootageExpired, 155, 159),
        at_hand=FootageFiles(
            {digest("A", each): VerifiedFile(Path("x"), None, None) for each in (100, 120)},
            frozenset(),
        ),
    )
    assert states(covered) == [
        (100, 105, "recorded"),
        (105, 109, "locked"),
        (109, 110, "recorded"),
        (110, 120, "gap"),
        (120, 130, "recorded"),
        (130, 135, "altered"),
        (135, 140, "gap"),
        (140, 150, "off_line"),
        (150, 155, "gap"),
        (155, 159, "expired"),
        (159, 160, "gap"),
    ]
    camera = covered.cameras[0]
    assert (camera.recorded_us // S, camera.locked_us // S, camera.mapped_us // S) == (20, 4, 60)
    assert covered.met is False
    assert [piece.state for piece in covered.short] == [
        "gap", "altered", "gap", "off_line", "gap", "expired", "gap",
    ]  # fmt: skip


def test_a_segment_that_expired_is_not_called_altered() -> None:
    facts = (mapped(), segment("A", 95, 70), handled(FootageExpired, 95, 165))
    assert states(cover(*facts, at_hand=NO_FILES)) == [(100, 160, "expired")]
    assert states(cover(*facts)) == [(100, 160, "expired")]
    assert states(cover(*facts[:2], at_hand=NO_FILES)) == [(100, 160, "altered")]
    assert states(cover(*facts[:2])) == [(100, 160, "recorded")]


def test_without_a_camera_on_the_table_it_says_so_and_no_minute_is_covered() -> None:
    covered = cover(segment("A", 95, 70))
    assert covered.cameras == []
    assert [(piece.state, piece.to_us - piece.from_us) for piece in covered.short] == [
        ("no_camera_mapped", 60 * S)
    ]
    assert covered.covered_us == 0


def test_a_camera_counts_only_while_it_is_on_the_table_and_only_if_it_is_stationary() -> None:
    covered = cover(
        mapped("A", 120),
        unmapped("A", 140),
        mapped("B", kind="ptz"),
        segment("A", 95, 70),
        segment("B", 95, 70),
    )
    assert states(covered) == [(120, 140, "recorded")]
    assert states(covered, 1) == [(100, 160, "recorded")]
    assert covered.covered_us == 20 * S
    assert [(piece.from_us // S, piece.to_us // S) for piece in covered.short] == [
        (100, 120),
        (140, 160),
    ]


def test_a_camera_that_became_stationary_counts_from_then_on_and_not_before() -> None:
    film = (segment("A", 95, 25), segment("A", 120, 45))
    turned = (mapped("A", kind="ptz"), mapped("A", 130))
    covered = cover(*turned, *film)
    assert (covered.met, covered.covered_us) == (False, 30 * S)
    assert [(piece.from_us // S, piece.to_us // S) for piece in covered.short] == [(100, 130)]
    told_of = [(each.kind, each.mapped_us // S, each.segments) for each in covered.cameras]
    assert told_of == [("ptz", 30, 2), ("stationary", 30, 1)]
    assert [states(covered, n) for n in (0, 1)] == [
        [(100, 130, "recorded")], [(130, 160, "recorded")],
    ]  # fmt: skip

    back = cover(mapped("A"), mapped("A", 110, kind="ptz"), mapped("A", 150), *film)
    assert (back.met, back.covered_us) == (False, 20 * S)
    assert [(each.kind, each.mapped_us // S) for each in back.cameras] == [
        ("stationary", 20), ("ptz", 40),
    ]  # fmt: skip
    once = cover(mapped("A"), mapped("A", 130), *film)  # the control: sent again, nothing changed
    assert (once.met, len(once.cameras)) == (True, 1)


def test_a_camera_turned_to_the_other_end_counts_for_each_while_it_saw_it() -> None:
    covered = cover(
        mapped("A", covers=["end_left"]), mapped("A", 130, covers=["end_right"]),
        mapped("B", covers=["end_right"]), segment("A", 95, 70), segment("B", 95, 70),
        stretch=OPEN._replace(game=DICE),
    )  # fmt: skip
    assert (covered.met, covered.covered_us) == (False, 30 * S)
    assert [(piece.from_us // S, piece.to_us // S) for piece in covered.short] == [(130, 160)]


def test_what_ails_pictures_is_told_of_the_role_the_camera_then_had() -> None:
    dark = Ailing("black", 105 * S, 110 * S, 3, "It is dark.")
    facts = (mapped("A", kind="ptz"), mapped("A", 130), segment("A", 95, 70))
    whole = coverage_statement(
        facts, "hollywood", "CC-07", [OPEN], pictured=lambda _: Pictured(1, [dark])
    )
    assert [[of.fault for of in each.findings] for each in whole.stretches[0].cameras] == [
        ["black"], [],
    ]  # fmt: skip


def test_three_dice_football_needs_one_camera_on_each_end_465a_9_c_2_ii() -> None:
    dice = OPEN._replace(game=DICE)
    ends = (mapped("A", covers=["end_left"]), mapped("B", covers=["end_right"]))
    both = (segment("A", 95, 70), segment("B", 95, 35))
    covered = cover(*ends, *both, stretch=dice)
    assert (covered.met, covered.due, covered.covered_us) == (False, "2, one at each end", 30 * S)
    assert [(piece.from_us // S, piece.state) for piece in covered.short] == [(130, "gap")]
    assert "B: " in covered.short[0].says
    same = (mapped("A", covers=["end_left"]), mapped("B", covers=["end_left"]))
    covered = cover(*same, *both, stretch=dice)
    assert covered.short[0].state == "no_camera_mapped"
    assert "2 are required, one at each end" in covered.short[0].says


@pytest.mark.parametrize("game", ["baccarat", "roulette", "big_six_wheel"])
def test_where_the_section_prints_no_figure_nothing_is_judged(game: str) -> None:
    covered = cover(mapped(), stretch=OPEN._replace(game=game))
    assert (covered.met, covered.due, covered.covered_us, covered.short) == (None, None, None, [])
    assert states(covered) == [(100, 160, "gap")]


def test_frame_rate_and_size_are_those_of_files_at_hand_and_never_0() -> None:
    facts = (mapped(), segment("A", 95, 40), segment("A", 135, 40))
    nothing = cover(*facts).cameras[0]
    assert (nothing.fps_min, nothing.fps_max, nothing.sizes, nothing.looked_at) == (
        None,
        None,
        [],
        0,
    )
    known = {digest("A", 95): Filmed(1280, 720, 29.9, 30.1)}
    seen = cover(*facts, filmed=known.get).cameras[0]
    assert (seen.fps_min, seen.fps_max, seen.sizes) == (29.9, 30.1, ["1280x720"])
    assert (seen.segments, seen.looked_at) == (2, 1)


def test_a_hole_inside_a_file_is_a_gap_and_a_pause_between_files_is_none() -> None:
    pts = tuple(range(0, 20 * S, 100 * MS)) + tuple(range(25 * S, 40 * S, 100 * MS))
    at_hand = FootageFiles(
        {
            digest("A", 95): VerifiedFile(Path("x"), FrameIndex(pts, (0,)), None),
            digest("A", 135): VerifiedFile(Path("y"), None, None),
        },
        frozenset(),
    )
    facts = (mapped(), segment("A", 95, 40), segment("A", 135, 40))
    covered = cover(*facts, at_hand=at_hand)
    assert [(piece.from_us, piece.to_us, piece.state) for piece in covered.cameras[0].pieces] == [
        (100 * S, 114 * S + 900 * MS, "recorded"),
        (114 * S + 900 * MS, 120 * S, "gap"),
        (120 * S, 160 * S, "recorded"),
    ]


def test_a_clock_that_is_off_moves_its_footage_and_the_doubt_is_told() -> None:
    checks = [
        told(
            at * S,
            ClockChecked(
                camera="A",
                camera_time=format_time((at + 20) * S),
                reference_time=format_time(at * S),
                reference="ntp",
                uncertainty_ms=30,
            ),
        )
        for at in (0, 300)
    ]
    covered = cover(mapped(), *checks, segment("A", 120, 30))
    assert states(covered) == [(100, 130, "recorded"), (130, 160, "gap")]
    camera = covered.cameras[0]
    assert camera.clock == "checked"
    assert camera.plus_minus_us is not None
    assert 30_000 <= camera.plus_minus_us < 40_000
    never = cover(mapped(), segment("A", 120, 30)).cameras[0]
    assert (never.clock, never.plus_minus_us) == ("never_checked", None)
    assert never.unchecked_us is None


@pytest.mark.parametrize(
    ("at_s", "away_s", "says"),
    [
        (130, 0, "its clock is known within 46 ms, and was checked within this time."),
        (
            70,
            30,
            "clock was not checked within this time, but 30.0 s from it, and is known within 77",
        ),
        (
            760,
            600,
            "was not checked within this time, but 600.0 s from it, and is known within 374 ms.",
        ),
    ],
)
def test_that_a_clock_was_not_checked_within_the_time_is_told_with_what_follows(
    at_s: int, away_s: int, says: str
) -> None:
    at = format_time(at_s * S)
    check = ClockChecked(
        camera="A", camera_time=at, reference_time=at, reference="ntp", uncertainty_ms=30
    )
    stated = coverage_statement(
        [mapped(), told(at_s * S, check), segment("A", 95, 70)], "hollywood", "CC-07", [OPEN]
    )
    (camera,) = stated.stretches[0].cameras
    assert camera.unchecked_us == away_s * S
    assert says in " ".join(in_sentences(stated)), in_sentences(stated)


def test_a_round_of_one_fact_is_a_moment_and_not_nothing() -> None:
    covered = cover(mapped(), segment("A", 95, 70), stretch=StatedTime("r", GAME, 130 * S, 130 * S))
    assert (covered.met, covered.covered_us) == (True, 1)


STARTS = st.lists(st.tuples(st.integers(90, 170), st.integers(1, 30)), max_size=6)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["lost", "restored", "locked", "released", "expired"]),
        st.integers(90, 170),
        st.integers(1, 30),
    ),
    max_size=6,
)


def _events(chosen: Iterable[tuple[str, int, int]]) -> list[Fact]:
    kinds = {"locked": FootageLocked, "released": FootageReleased, "expired": FootageExpired}
    facts = []
    for name, at, seconds in chosen:
        if name == "lost":
            facts.append(told(at * S, CameraLost(camera="A", reason="x")))
        elif name == "restored":
            facts.append(told(at * S, CameraRestored(camera="A", reason="x")))
        else:
            facts.append(handled(kinds[name], at, at + seconds, at=900 + seconds))
    return facts


@given(STARTS, EVENTS, st.none() | st.sets(st.integers(90, 170)), st.integers(100, 159))
def test_at_every_instant_it_says_what_a_replay_of_that_instant_says(
    starts: list[tuple[int, int]],
    events: list[tuple[str, int, int]],
    gone: set[int] | None,
    second: int,
) -> None:
    """Segments may overlap, be lost, locked, expired: two programs, one answer.

    gone: whose files are not there; None: nobody has looked for files.
    """
    given_starts = dict(starts)
    segments = [segment("A", start, seconds) for start, seconds in given_starts.items()]
    facts = [mapped(), *segments, *_events(events)]
    kept = {
        digest("A", start): VerifiedFile(Path("x"), None, None)
        for start in given_starts
        if start not in (gone or ())
    }
    at_hand = None if gone is None else FootageFiles(kept, frozenset())
    instant = second * S + S // 2
    covered = cover(*facts, at_hand=at_hand)
    [piece] = [p for p in covered.cameras[0].pieces if p.from_us <= instant < p.to_us]
    [sight] = sights_at(coverage(facts), "hollywood", "CC-07", instant, at_hand)
    overlapping = sum(
        start <= instant / S < start + seconds for start, seconds in given_starts.items()
    )
    if overlapping < 2:
        assert piece.state == sight.state, (piece, sight)


def pieces(covered: Cover) -> list[tuple[float, float, str]]:
    return [(of.from_us / S, of.to_us / S, of.state) for of in covered.cameras[0].pieces]


def clock(at: int, ahead_s: float) -> Fact:
    body = ClockChecked(
        camera="A", camera_time=format_time(at * S + round(ahead_s * S)),
        reference_time=format_time(at * S), reference="ntp", uncertainty_ms=0,
    )  # fmt: skip
    return told(at * S, body)


def test_a_pause_too_short_for_a_gap_is_of_the_later_segment_whatever_state_the_two_have() -> None:
    late = told(
        165 * S,
        SegmentRecorded(
            camera="A", path="b", sha256="b" * 64, start=format_time(130 * S + 400 * MS),
            frames=10, duration_us=35 * S,
        ),
    )  # fmt: skip
    at_hand = FootageFiles({"b" * 64: VerifiedFile(Path("x"), None, None)}, frozenset())
    covered = cover(mapped(), segment("A", 95, 35), late, at_hand=at_hand)
    assert pieces(covered) == [(100, 130, "altered"), (130, 160, "recorded")]


def test_a_hole_inside_a_file_lies_where_the_clock_has_it_and_is_told_as_one() -> None:
    """The camera's clock gains 400 parts in a million: 0.4 s in 1,000."""
    pts = (*range(0, 900 * S, S // 10), *range(960 * S, 1000 * S, S // 10))
    at_hand = FootageFiles(
        {digest("A", 0): VerifiedFile(Path("x"), FrameIndex(pts, (0,)), None)}, frozenset()
    )
    facts = (mapped(), clock(0, 0), clock(1000, 0.4), segment("A", 0, 1000))
    covered = cover(*facts, stretch=OPEN._replace(from_us=890 * S, to_us=970 * S), at_hand=at_hand)
    (_, hole, _) = covered.cameras[0].pieces
    assert (hole.state, hole.says) == ("gap", "The segment has no frame here.")
    assert (hole.from_us, hole.to_us) == (899_540_184, 959_616_154)  # the file's times / 1.0004


def test_a_segment_across_a_clock_that_was_set_is_told_by_the_fit_of_each_side() -> None:
    """Set forward by 20 s between the checks at 110 and 130 s: the nearer check's fit is taken."""
    facts = (mapped(), clock(0, 0), clock(110, 0), clock(130, 20), clock(300, 20))
    covered = cover(*facts, segment("A", 95, 75, told_at=171))
    assert pieces(covered) == [(100, 150, "recorded"), (150, 160, "gap")]


def test_of_two_segments_of_one_time_the_one_told_nearer_is_taken_as_a_replay_does() -> None:
    at_hand = FootageFiles({digest("A", 95): VerifiedFile(Path("x"), None, None)}, frozenset())
    facts = (mapped(), segment("A", 95, 70, told_at=900), segment("A", 110, 20))
    assert pieces(cover(*facts, at_hand=at_hand)) == [
        (100, 110, "recorded"), (110, 130, "altered"), (130, 160, "recorded"),
    ]  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
def test_a_camera_unmapped_and_mapped_at_one_instant_is_on_the_table_in_any_order(
    order: int,
) -> None:
    turned = (unmapped("A", 130), mapped("A", 130))[::order]
    covered = cover(mapped(), *turned, segment("A", 95, 70))
    assert covered.covered_us == 60 * S


@given(STARTS, EVENTS, st.sets(st.integers(90, 170)), st.sampled_from([0, -30, 30]))
def test_a_page_and_a_dossier_have_the_same_states_from_and_to_the_same_instants(
    starts: list[tuple[int, int]],
    events: list[tuple[str, int, int]],
    gone: set[int],
    set_by: int,
) -> None:
    """Also of segments that overlap, and of a clock that was set by so many seconds."""
    given_starts = dict(starts)
    segments = [segment("A", start, seconds) for start, seconds in given_starts.items()]
    checks = [clock(0, 0), clock(120, 0), clock(140, set_by), clock(300, set_by)]
    facts = [mapped(), *checks, *segments, *_events(events)]
    pts = (*range(0, 2 * S, 100 * MS), *range(3 * S, 30 * S, 100 * MS))
    kept = {
        digest("A", start): VerifiedFile(Path("x"), FrameIndex(pts, (0,)), None)
        for start in given_starts
        if start not in gone
    }
    at_hand = FootageFiles(kept, frozenset())
    covered = cover(*facts, at_hand=at_hand)
    span = TableSpan("hollywood", "CC-07", OPEN.from_us, OPEN.to_us)
    shown = lane_of(coverage(facts), at_hand, span, "A")
    assert _alike(shown) == _alike(covered.cameras[0].pieces)


def _alike(states: Iterable[CameraState]) -> list[CameraState]:
    """Without words, which a page and a dossier choose each."""
    return joined(replace(each, says="") for each in states)
