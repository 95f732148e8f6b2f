"""Any clock, any checks: what holds of the mapping whatever the floor does."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.cameras.clock_pieces import clock_pieces
from replay.cameras.clocks import (
    DRIFT_PPM_MAX,
    CameraClock,
    Check,
    camera_clock,
    to_camera,
    to_reference,
)

DAY = 86_400_000_000
TIMES = st.integers(0, 7 * DAY)
CHECKS = st.lists(
    st.builds(
        lambda at, offset, doubt: Check(at, at + offset, doubt),
        TIMES,
        st.integers(-2_000_000, 2_000_000) | st.sampled_from([-3_600_000_000, 3_600_000_000]),
        st.integers(0, 2_000_000),
    ),
    min_size=1,
    max_size=8,
)


def clock_of(checks: list[Check]) -> CameraClock:
    clock = camera_clock(checks)
    assert clock is not None
    return clock


@given(CHECKS, TIMES, TIMES)
def test_within_an_epoch_later_is_later(checks: list[Check], one: int, two: int) -> None:
    clock = clock_of(checks)
    first, second = (to_camera(clock, at) for at in sorted((one, two)))
    if first.epoch == second.epoch:
        assert first.time_us <= second.time_us


@given(CHECKS, TIMES)
def test_there_and_back_is_within_a_microsecond(checks: list[Check], at: int) -> None:
    clock = clock_of(checks)
    there = to_camera(clock, at)
    back = to_reference(clock, there.time_us, there.epoch)
    assert abs(back - at) <= 1


@given(CHECKS, TIMES, TIMES, st.floats(0, 1))
def test_pieces_hold_the_mapping_without_a_break_and_lead_back(
    checks: list[Check], one: int, two: int, share: float
) -> None:
    clock, (from_us, to_us) = clock_of(checks), sorted((one, two + 1))
    pieces = clock_pieces(clock, from_us, to_us)
    edges = [(each.from_us, each.to_us) for each in pieces]
    assert [a for a, _ in edges] + [to_us] == [from_us] + [b for _, b in edges]
    at = from_us + int((to_us - 1 - from_us) * share)
    for each in pieces:
        if each.from_us <= at < each.to_us:
            there = to_camera(clock, at)
            assert each.epoch == there.epoch
            points = [*each.line]
            (r0, c0), (r1, c1) = next((a, b) for a, b in pairwise(points) if a[0] <= at <= b[0])
            assert abs(c0 + Fraction((at - r0) * (c1 - c0), r1 - r0) - there.time_us) <= 2
            assert abs(to_reference(clock, there.time_us, each.epoch) - at) <= 1


@given(CHECKS, TIMES)
def test_nothing_is_surer_than_the_surest_check(checks: list[Check], at: int) -> None:
    there = to_camera(clock_of(checks), at)
    assert there.plus_minus_us > min(check.plus_minus_us for check in checks)


@pytest.mark.long
@given(CHECKS, st.integers(0, DAY), st.integers(0, DAY))
def test_away_from_the_checks_of_an_epoch_the_doubt_only_grows(
    checks: list[Check], near: int, far: int
) -> None:
    clock = clock_of(checks)
    last = clock.epochs[-1].knots[-1].reference_us
    near, far = sorted((near, far))
    assert to_camera(clock, last + near).plus_minus_us <= to_camera(clock, last + far).plus_minus_us


@given(
    st.integers(-5_000_000, 5_000_000),
    st.integers(-DRIFT_PPM_MAX, DRIFT_PPM_MAX),
    st.lists(
        st.tuples(TIMES, st.integers(-1000, 1000), st.integers(1, 500_000)), min_size=1, max_size=8
    ),
    TIMES,
)
def test_a_steady_clock_is_recovered_within_the_stated_plus_minus(
    offset: int, drift: int, readings: list[tuple[int, int, int]], at: int
) -> None:
    def truth(time_us: int) -> int:
        return time_us + offset + time_us * drift // 1_000_000

    checks = [
        Check(time_us, truth(time_us) + doubt * error // 1000, doubt)
        for time_us, error, doubt in readings
    ]
    clock = clock_of(checks)
    there = to_camera(clock, at)
    assert len(clock.epochs) == 1
    assert abs(there.time_us - truth(at)) <= there.plus_minus_us


def test_a_plus_minus_that_forgets_the_distance_would_be_caught() -> None:
    clock = clock_of([Check(0, 0, 1_000)])
    drifted = DAY + DAY * 37 // 1_000_000
    there = to_camera(clock, DAY)
    assert abs(there.time_us - drifted) > 1_000
    assert abs(there.time_us - drifted) <= there.plus_minus_us
