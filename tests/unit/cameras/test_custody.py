"""Which footage must be kept, and which lock holds where."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.facts import (
    CameraMapped,
    CameraUnmapped,
    ClockChecked,
    FootageLocked,
    FootageReleased,
)
from ledger.record.wire import Fact
from ledger.values import format_time
from replay.cameras import custody
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US
from replay.cameras.coverage import Camera, Handling, coverage, lock_on, locks_on
from replay.cameras.custody import (
    UNCHECKED_US,
    CameraSpan,
    held,
    times_of,
    to_keep,
    unlocked,
    without,
)

T0 = 1_795_000_000_000_000
S = 1_000_000
HOUR = 3600 * S


def told(time_us: int, body: object, place: str = "CC-07") -> Fact:
    return Fact(body, f"/hollywood/{place}/x", str(time_us), time_us, None, "CC-07", None, None)


def mapped(time_us: int, camera: str, *, on: bool = True) -> Fact:
    make = CameraMapped if on else CameraUnmapped
    return told(time_us, make(camera=camera, table="CC-07", kind="stationary", covers=("table",)))


def checked(time_us: int, camera: str, off_us: int, doubt_ms: int = 20) -> Fact:
    body = ClockChecked(
        camera=camera,
        camera_time=format_time(time_us + off_us),
        reference_time=format_time(time_us),
        reference="ntp",
        uncertainty_ms=doubt_ms,
    )
    return told(time_us, body, "surveillance")


def locked(span: tuple[int, int], dispute: str | None = "D-1", at: int = 0) -> Handling:
    body = FootageLocked(
        camera="C1",
        from_=format_time(span[0]),
        to=format_time(span[1]),
        by="S-1",
        because="why",
        dispute=dispute,
    )
    return Handling(at, *span, body)


def released(span: tuple[int, int], dispute: str | None, at: int = 0) -> Handling:
    body = FootageReleased(
        camera="C1",
        from_=format_time(span[0]),
        to=format_time(span[1]),
        by="S-2",
        because="done",
        dispute=dispute,
    )
    return Handling(at, *span, body)


def test_what_is_kept_of_a_checked_camera_is_the_stretch_on_its_clock_and_its_doubt() -> None:
    covered = coverage(
        [mapped(T0, "C1"), checked(T0, "C1", 7 * S), checked(T0 + HOUR, "C1", 7 * S)]
    )
    [span] = to_keep(covered, "hollywood", "CC-07", T0 + 10 * S, T0 + 70 * S)
    assert span.camera == "C1"
    doubt = 20_000 + DEVICE_PLUS_MINUS_US
    assert 0 <= T0 + 17 * S - doubt - span.from_us < 5_000
    assert 0 <= span.to_us - (T0 + 77 * S + doubt) < 5_000


def test_of_a_camera_never_checked_an_hour_more_is_kept_on_each_side() -> None:
    covered = coverage([mapped(T0, "C1")])
    span = CameraSpan("C1", T0 + S - UNCHECKED_US, T0 + 2 * S + UNCHECKED_US)
    assert to_keep(covered, "hollywood", "CC-07", T0 + S, T0 + 2 * S) == [span]
    assert UNCHECKED_US > HOUR


def test_a_clock_set_back_in_between_never_gives_an_end_before_its_start() -> None:
    """The night on which summer time ends: the camera shows an hour twice."""
    facts = [mapped(T0, "C1"), checked(T0, "C1", 0), checked(T0 + 10 * S, "C1", 0)]
    facts += [checked(T0 + 60 * S, "C1", -HOUR), checked(T0 + 90 * S, "C1", -HOUR)]
    [span] = to_keep(coverage(facts), "hollywood", "CC-07", T0 + 5 * S, T0 + 80 * S)
    assert span.from_us < T0 + 80 * S - HOUR  # what it showed after it was set back
    assert span.to_us > T0 + 10 * S  # and before
    assert span.from_us <= T0 + 5 * S - HOUR
    assert span.to_us >= T0 + 80 * S


def test_every_camera_that_was_on_the_table_for_a_moment_is_kept() -> None:
    facts = [
        mapped(T0, "C1"),
        mapped(T0 + 5 * S, "C2"),
        mapped(T0, "C3"),
        mapped(T0 + 99 * S, "C4"),
    ]
    facts += [mapped(T0 + 1, "C3", on=False), mapped(T0 + 6 * S, "C1", on=False)]
    names = [
        each.camera for each in to_keep(coverage(facts), "hollywood", "CC-07", T0 + S, T0 + 9 * S)
    ]
    assert names == ["C1", "C2"]
    assert to_keep(coverage(facts), "parx", "CC-07", T0, T0 + 9 * S) == []


def test_releasing_a_window_ends_its_own_locks_alone() -> None:
    def of(handling: Handling, window: str) -> Handling:
        return handling._replace(body=replace(handling.body, window=window))

    camera = Camera(
        handled=[
            of(locked((0, 9), None), "P-1"),
            of(locked((5, 15), None), "P-2"),
            locked((0, 15), "D-1"),
            of(released((0, 15), None), "P-1"),
        ]
    )
    assert [each.window for each in locks_on(camera, 7)] == ["P-2", None]
    assert custody.locked(camera, window="P-1") == []
    assert custody.locked(camera, window="P-2") == [(5, 15)]
    assert custody.locked(camera, dispute="D-1", within=(3, 6)) == [(3, 6)]
    camera.handled.append(released((0, 15), None))
    assert custody.locked(camera) == []


def test_only_what_was_never_locked_for_the_dispute_is_left_to_lock() -> None:
    covered = coverage([mapped(T0, "C1")])
    camera = covered.cameras.setdefault(("hollywood", "C1"), Camera())
    camera.handled = [
        locked((10, 20)),
        locked((40, 50), "D-2"),
        locked((30, 35)),
        released((10, 20), "D-1"),
    ]
    spans = [CameraSpan("C1", 5, 40), CameraSpan("C9", 1, 2)]
    left = unlocked(covered, "hollywood", spans, "D-1")
    assert left == [
        CameraSpan("C1", 5, 9),
        CameraSpan("C1", 21, 29),
        CameraSpan("C1", 36, 40),
        CameraSpan("C9", 1, 2),
    ]
    assert unlocked(covered, "hollywood", [CameraSpan("C1", 12, 18)], "D-1") == []


def test_releasing_one_dispute_leaves_the_lock_of_the_other() -> None:
    camera = Camera(handled=[locked((0, 9)), locked((5, 15), "D-2"), released((0, 15), "D-1")])
    assert [each.dispute for each in locks_on(camera, 7)] == ["D-2"]
    assert lock_on(camera, 2) is None
    camera.handled.append(released((5, 6), None))
    assert locks_on(camera, 6) == []
    assert [(each.from_us, each.to_us) for each in held(camera)] == [(7, 15)]


HANDLINGS = st.lists(
    st.builds(
        lambda make, a, b, dispute: make((min(a, b), max(a, b)), dispute),
        st.sampled_from([locked, locked, released]),
        st.integers(0, 12),
        st.integers(0, 12),
        st.sampled_from([None, "D-1", "D-2"]),
    ),
    max_size=8,
)


@given(HANDLINGS)
def test_stretches_held_are_those_on_which_a_lock_holds_at_every_instant(
    handled: list[Handling],
) -> None:
    camera = Camera(handled=handled)
    spans = held(camera)
    for instant in range(-1, 14):
        over = [each for each in spans if each.from_us <= instant <= each.to_us]
        assert [list(each.locks) for each in over] == (
            [locks_on(camera, instant)] if locks_on(camera, instant) else []
        )
    assert all(a.to_us < b.from_us for a, b in pairwise(spans))


@given(
    st.integers(0, 9), st.integers(0, 9), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))
)
def test_what_is_left_of_a_span_is_what_no_other_covers(
    from_us: int, to_us: int, spans: list[tuple[int, int]]
) -> None:
    left = {n for a, b in without(from_us, to_us, spans) for n in range(a, b + 1)}
    covered = {n for a, b in spans for n in range(a, b + 1)}
    assert left == set(range(from_us, to_us + 1)) - covered


def test_a_device_whose_clock_is_years_off_does_not_stretch_a_round() -> None:
    assert times_of([T0, T0 + 9 * S, T0 + 5 * S]) == (T0, T0 + 9 * S)
    assert times_of([0, T0, T0 + 9 * S, T0 + 5 * S]) == (T0, T0 + 9 * S)
    assert times_of([]) is None
