"""What simulated cameras see and how their clocks are checked; the feed and its truth on disk."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

import pytest

from ledger.facts import (
    CameraMapped,
    ClockChecked,
    SegmentRecorded,
)
from ledger.record.tape import Received
from ledger.record.wire import parse_line
from ledger.simulate import (
    FilmedWindow,
    Plan,
    Planted,
    line,
    plan_of,
    read_shots,
    recorded,
    simulate,
    write,
)
from ledger.simulate.cameras.cameras import camera_plan, cameras_of
from ledger.simulate.cameras.shot_list import camera_clock_us
from ledger.simulate.floor_files import around
from ledger.values import parse_time
from replay.cameras.clocks import Check, camera_clock, to_camera
from tests.suite.budget import budget

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.simulate.feed import Emitted

MINUTE_US = 60_000_000


@cache
def plan(minutes: int = 180) -> Plan:
    return plan_of(tables=4, minutes=minutes, seed=11, mistakes={"overpay": 3, "lost_fact": 3})


@cache
def simulated(minutes: int = 180) -> list[Emitted]:
    return list(simulate(plan(minutes)))


def us(moment: str) -> int:
    time_us = parse_time(moment)
    assert time_us is not None
    return time_us


@budget("tried", everyday=(180, 3), whole=(360, 4))
def test_clock_checks_let_replay_find_each_camera_within_its_plus_minus(
    tried: tuple[int, int],
) -> None:
    minutes, knots_min = tried
    checks: dict[str, list[Check]] = defaultdict(list)
    for each in simulated(minutes):
        body = each.fact.body
        if isinstance(body, ClockChecked):
            assert each.fact.source == f"/hollywood/surveillance/{body.camera}"
            checks[body.camera].append(
                Check(us(body.reference_time), us(body.camera_time), body.uncertainty_ms * 1000)
            )
    for table in plan(minutes).tables:
        for camera in cameras_of(plan(minutes), table):
            clock = camera_clock(checks.pop(camera.name))
            assert clock is not None
            assert len(clock.epochs) == 1
            assert len(clock.epochs[0].knots) >= knots_min
            for minute in range(0, minutes, 7):
                true_us = plan(minutes).opens_us + minute * MINUTE_US
                mapped = to_camera(clock, true_us)
                off_us = abs(mapped.time_us - camera.clock_us(true_us))
                assert off_us <= mapped.plus_minus_us < 250_000
    assert not checks


@pytest.mark.long
def test_no_fact_gives_a_cameras_offset_or_drift_away() -> None:
    for each in simulated():
        if isinstance(each.fact.body, (ClockChecked, CameraMapped)):
            text = line(plan(), each.fact)
            assert b"drift" not in text
            assert b"offset" not in text


def test_every_table_is_covered_by_cameras_that_are_mapped_to_it() -> None:
    mapped: dict[str, set[str]] = defaultdict(set)
    for each in simulated():
        if isinstance(each.fact.body, CameraMapped):
            mapped[each.fact.body.table].update(each.fact.body.covers)
    assert mapped["CC-01"] == {"table", "tray"}
    assert mapped["TDF-01"] == {"end_left", "end_right", "tray"}


def test_a_cameras_plan_keeps_the_clock_it_has_all_day() -> None:
    camera = cameras_of(plan(), plan().tables[0])[0]
    for minute in (0, 60, 300):
        from_us = plan().opens_us + minute * MINUTE_US
        recording = camera_plan(camera, from_us, from_us + MINUTE_US, gap=True)
        assert recording.gap is not None
        for at_us in (from_us, from_us + MINUTE_US // 2, from_us + MINUTE_US):
            assert abs(camera_clock_us(recording, at_us) - camera.clock_us(at_us)) <= 1


@pytest.mark.long
def test_a_floor_on_disk_holds_feed_truth_and_a_minute_around_each_mistake(tmp_path: Path) -> None:
    told: list[int] = []
    written = write(plan(360), tmp_path / "floor", told.append)
    lines = written.feed.read_bytes().splitlines()
    assert len(lines) == written.facts >= told[-1] > 0
    assert all(isinstance(parse_line(each), Received) for each in lines[:500])
    assert lines == [line(plan(360), each.fact) for each in simulate(plan(360))]
    truth = [json.loads(each) for each in written.truth.read_text().splitlines()]
    assert sorted(each["mistake"] for each in truth) == ["lost_fact"] * 3 + ["overpay"] * 3
    keys = {"mistake", "round", "table", "position", "wager", "expect", "may", "facts", "says"}
    assert keys <= set(truth[0])
    lists = [read_shots(path) for path in written.shots]
    for mistake in written.planted:
        assert any(
            each.plan.table == mistake.table
            and each.plan.from_us <= mistake.at_us - 30_000_000
            and mistake.at_us + 30_000_000 <= each.plan.to_us
            for each in lists
        )
    assert sum(each.plan.gap is not None for each in lists) == 1


def test_a_chosen_stretch_is_filmed_by_as_many_cameras_as_asked(tmp_path: Path) -> None:
    from_us = plan(20).opens_us + 10 * MINUTE_US
    window = FilmedWindow("TDF-01", from_us, from_us + 2 * MINUTE_US)
    written = write(plan(20), tmp_path, film=[window], cameras_max=2)
    lists = [read_shots(path).plan for path in written.shots]
    assert [each.camera for each in lists] == ["TDF-01-cam1", "TDF-01-cam2"]
    assert len({each.offset_us for each in lists}) == 2


def test_windows_around_mistakes_at_one_table_are_joined_where_they_touch() -> None:
    def made(table: str, at_s: int) -> Planted:
        return Planted(mistake="overpay", round=None, table=table, at_us=at_s * 1_000_000)

    windows = around([made("B", 10), made("A", 100), made("A", 150), made("A", 500)])
    assert [
        (each.table, each.from_us // 1_000_000, each.to_us // 1_000_000) for each in windows
    ] == [
        ("A", 70, 180),
        ("A", 470, 530),
        ("B", -20, 40),
    ]


def test_drawn_segments_become_facts_of_the_recorder() -> None:
    segment = SegmentRecorded(
        camera="CC-01-cam1",
        path="CC-01-cam1/a.webm",
        sha256="0" * 64,
        start="2026-11-20T15:00:00.000000Z",
        frames=10,
        duration_us=1_000_000,
    )
    (fact,) = recorded(plan(), [(segment, plan().opens_us)])
    assert fact.source == "/hollywood/surveillance/recorder"
    assert isinstance(parse_line(line(plan(), fact)), Received)
