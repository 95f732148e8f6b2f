"""Clock checks made from what a camera saw of another clock: bounds that hold, and steps found."""

from __future__ import annotations

from random import Random

import pytest

from replay.cameras.calibration import (
    GROUP_US,
    ClockCheck,
    ClockReading,
    checks,
    news,
    reading,
    running_checks,
    shown_us,
)
from replay.cameras.clocks import Check, camera_clock, rate_ppm, to_camera
from replay.footage.decoding.sampling import Code

S = 1_000_000
T0 = 1_795_200_000 * S  # 2026-11-20T18:40:00Z


def running(offset_us: int, at_us: int = 0, *, printed: bool = False) -> list[ClockReading]:
    """Five readings of a code, a second apart, by a camera that is so far ahead."""
    return [
        reading(
            at_us + number * S + offset_us,
            (at_us + (0 if printed else number * S), 1000),
            frame_us=33_000,
            refresh_us=50_000,
        )
        for number in range(5)
    ]


def test_a_code_that_does_not_go_on_is_no_clock() -> None:
    assert len(running_checks(running(7 * S))) == 1
    assert running_checks(running(7 * S, printed=True)) == []
    assert running_checks(running(7 * S)[:1]) == [], "one picture does not show that it goes on"
    assert checks(running(7 * S)[:1]), "who says that it is a clock is believed"


def test_a_check_that_says_what_is_known_is_no_news_and_a_clock_that_was_set_is() -> None:
    def found(offset_us: int, at_us: int = 0) -> list[ClockCheck]:
        return running_checks(running(offset_us, at_us))

    known = [
        Check(each.reference_us, each.camera_us, each.uncertainty_ms * 1000)
        for each in found(7 * S)
    ]
    assert news(found(7 * S), ()) == found(7 * S)
    assert news(found(7 * S, 10 * S), known) == []
    assert news(found(8 * S, 10 * S), known) == found(8 * S, 10 * S), "it was set"
    later = found(7 * S, 3600 * S)
    assert news(later, known) == later, "an hour later it may have drifted"
    vague = [known[0]._replace(plus_minus_us=S)]
    assert news(found(7 * S), vague) == found(7 * S), "a surer one is news"
    assert len(news([*found(7 * S), *found(7 * S, 20 * S)], ())) == 1


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("qr", "tablet-3 2026-11-20T18:40:00.250Z 7", (T0 + 250_000, 1_000)),
        ("qr", "2026-11-20T13:40:00-05:00", (T0, S)),
        ("qr", "CC07 1795200000250 12", (T0 + 250_000, 1_000)),
        ("qr", "20261120184000250", (T0 + 250_000, 1_000)),
        ("qr", "https://example.org/20269999999999999", None),
        ("qr", "no time", None),
        ("strip", str(T0 // 1000), (T0, 1_000)),
        ("aruco", "672,0", (T0, 100_000)),  # 18:40 is 67,200 s of its day
        ("aruco", "999,999", None),
    ],
)
def test_what_a_code_shows_is_read_with_its_resolution(
    kind: str, text: str, shown: tuple[int, int] | None
) -> None:
    assert shown_us(Code(kind, text), T0 + 3 * S) == shown  # type: ignore[arg-type]


def test_two_markers_mean_the_day_on_which_the_cameras_clock_is_nearest() -> None:
    day = 86_400 * S
    midnight = T0 - T0 % day
    assert shown_us(Code("aruco", "863,999"), midnight + 2 * S) == (midnight - 100_000, 100_000)
    assert shown_us(Code("aruco", "0,5"), midnight - 2 * S) == (midnight + 500_000, 100_000)


def seen(true_us: int, offset_us: int, chance: Random, refresh_us: int = 50_000) -> ClockReading:
    """A tablet's clock as a camera saw it: drawn up to a refresh ago, in one frame of 33 ms."""
    drawn = true_us - chance.randrange(refresh_us)
    drawn -= drawn % 1000
    stamped = true_us + offset_us + chance.randrange(-16_000, 16_000)
    return reading(stamped, (drawn, 1000), frame_us=33_334, refresh_us=refresh_us)


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_lies_within_what_the_check_says_and_a_drift_is_found_again(seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - repeatable, guards nothing
    rate = 37 + seed * 20
    truth = [(at, 412_000 + at * rate // 1_000_000) for at in range(0, 6 * 3600 * S, 20 * S)]
    made = checks(seen(T0 + at, offset, chance) for at, offset in truth)
    assert 30 < len(made) < 40
    clock = camera_clock(
        Check(each.reference_us, each.camera_us, each.uncertainty_ms * 1000) for each in made
    )
    assert clock is not None
    assert len(clock.epochs) == 1
    assert float(rate_ppm(clock, 0) or 0) == pytest.approx(rate, abs=8)
    for at, offset in truth:
        there = to_camera(clock, T0 + at)
        assert abs(there.time_us - (T0 + at + offset)) <= there.plus_minus_us < 250_000


def test_a_clock_that_was_set_is_two_checks_and_two_epochs() -> None:
    chance = Random(4)  # noqa: S311 - repeatable, guards nothing
    before = [seen(T0 + at * S, 400_000, chance) for at in range(0, 60, 5)]
    after = [seen(T0 + at * S, -1_600_000, chance) for at in range(60, 120, 5)]
    made = checks([*before, *after])
    assert [each.readings for each in made] == [12, 12]
    clock = camera_clock(
        Check(each.reference_us, each.camera_us, each.uncertainty_ms * 1000) for each in made
    )
    assert clock is not None
    assert len(clock.epochs) == 2
    late = to_camera(clock, T0 + 110 * S)
    assert abs(late.time_us - (T0 + 110 * S - 1_600_000)) <= late.plus_minus_us


def test_a_doubt_that_forgets_the_refresh_would_be_caught() -> None:
    chance = Random(1)  # noqa: S311 - repeatable, guards nothing
    missed = 0
    for at in range(200):
        read = seen(T0 + at * S, 0, chance, refresh_us=2 * S)
        bare = ClockReading(read.camera_us, read.reference_us - S, 33_334)
        missed += abs(bare.camera_us - bare.reference_us) > bare.plus_minus_us
        assert abs(read.camera_us - read.reference_us) <= read.plus_minus_us
    assert missed > 100


def test_a_start_known_to_the_second_is_in_the_doubt_and_long_stretches_are_parted() -> None:
    one = reading(T0, (T0, 1000), frame_us=33_334, refresh_us=0, start_us=S)
    assert one.plus_minus_us > S
    far = [ClockReading(T0 + at, T0 + at, 50_000) for at in (0, GROUP_US, GROUP_US + 1)]
    assert [each.readings for each in checks(far)] == [2, 1]
    assert checks([]) == []
