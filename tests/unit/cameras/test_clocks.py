"""A camera's clock: what its checks say, with figures worked by hand."""

from __future__ import annotations

import pytest

from replay.cameras.clocks import Check, camera_clock, rate_ppm, to_camera, to_reference

S = 1_000_000
HOUR = 3_600 * S


def test_a_clock_never_checked_has_no_mapping() -> None:
    assert camera_clock([]) is None


def test_between_two_checks_the_clock_is_taken_as_steady() -> None:
    clock = camera_clock([Check(0, 1_000_000, 40_000), Check(HOUR, HOUR + 1_180_000, 20_000)])
    assert clock is not None
    half = to_camera(clock, HOUR // 2)
    assert half.time_us == HOUR // 2 + 1_090_000
    # The larger of the two, 20 ppm of the 30 minutes to the nearest check, 1 for the rounding.
    assert half.plus_minus_us == 40_000 + 36_000 + 1
    assert (half.epoch, half.from_check_us) == (0, HOUR // 2)
    assert rate_ppm(clock, 0) == 50


def test_one_check_gives_no_rate_and_the_doubt_grows_by_the_fastest_drift_believed() -> None:
    clock = camera_clock([Check(0, 500_000, 100_000)])
    assert clock is not None
    later = to_camera(clock, HOUR)
    assert later.time_us == HOUR + 500_000
    assert later.plus_minus_us == 100_000 + 520 * 3_600 + 1
    assert rate_ppm(clock, 0) is None


def test_after_the_last_check_the_drift_goes_on_and_its_doubt_is_what_the_checks_leave_open() -> (
    None
):
    clock = camera_clock([Check(0, 0, 18_000), Check(HOUR, HOUR + 180_000, 18_000)])
    assert clock is not None
    later = to_camera(clock, 2 * HOUR)
    assert later.time_us == 2 * HOUR + 360_000
    # 36 ms of doubt in an hour's drift is 10 ppm, and 20 ppm of wander beside it.
    assert later.plus_minus_us == 18_000 + 30 * 3_600 + 1


def test_a_drift_too_fast_to_believe_is_capped() -> None:
    rough = [Check(0, 0, 100_000), Check(10 * S, 10 * S + 150_000, 100_000)]
    clock = camera_clock(rough)
    assert clock is not None
    assert len(clock.epochs) == 1
    assert rate_ppm(clock, 0) == 500


def test_a_step_starts_a_new_epoch_and_in_between_both_are_left_open() -> None:
    clock = camera_clock([Check(0, 0, 10_000), Check(HOUR, 2 * HOUR, 10_000)])
    assert clock is not None
    assert [to_camera(clock, at).epoch for at in (0, HOUR // 4, HOUR)] == [0, 0, 1]
    assert to_camera(clock, HOUR).plus_minus_us < 20_000
    between = to_camera(clock, HOUR // 4)
    assert between.time_us == HOUR // 4
    assert between.plus_minus_us >= HOUR


def test_a_clock_set_back_shows_one_time_twice_so_its_epoch_must_be_named() -> None:
    clock = camera_clock([Check(2 * HOUR, 2 * HOUR, 1_000), Check(3 * HOUR, 2 * HOUR, 1_000)])
    assert clock is not None
    shown = 2 * HOUR + 60 * S
    assert to_reference(clock, shown, 0) == 2 * HOUR + 60 * S
    assert to_reference(clock, shown, 1) == 3 * HOUR + 60 * S
    with pytest.raises(IndexError):
        to_reference(clock, shown, 2)


def test_two_checks_at_one_moment_leave_the_better_one() -> None:
    clock = camera_clock([Check(0, 1_000, 50_000), Check(0, 2_000, 5_000)])
    assert clock is not None
    assert to_camera(clock, 0).plus_minus_us == 5_000 + 1_000 + 1
