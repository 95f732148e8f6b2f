"""Segments read by the index: those over the stretches asked for, and nothing else is looked at."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from consumers.cameras import cameras, segments
from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS, OFF_US, rows_about
from consumers.cameras.rows import properties_with_cameras
from consumers.cameras.segments import cameras_of, segments_over, standing_rows
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import LIVE, ViewStore, reading, tape_source, writing
from ledger.facts import CameraMapped, ClockChecked, RoundStarted, SegmentRecorded
from ledger.record.wire import Fact, fact_of
from ledger.values import Source, format_time
from replay.cameras.coverage import coverage
from replay.cameras.custody import UNCHECKED_US
from replay.cameras.statement import StatedTime, coverage_statement
from replay.cameras.timeline import timeline
from replay.recording.house_facts import build_fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

S = 1_000_000
HOUR_US = 3_600 * S
T0_US = 1_795_000_000_000_000
TEN = 10_000_000
MANY = 6_000


@pytest.fixture
def store(database: Database, tape: PostgresTape) -> Iterator[ViewStore]:
    """Two cameras: one with many segments, with pauses between some; one with a single one."""
    install(database)
    nvr = Source("hollywood", "surveillance", "nvr")
    mapped = CameraMapped(camera="A", table="CC-07", kind="stationary", covers=("table",))
    told = [build_fact(mapped, nvr, time_us=T0_US)]
    told += [
        build_fact(_segment("A", n), nvr, time_us=_start(n) + TEN, id=f"s-{n}") for n in range(MANY)
    ]
    told.append(build_fact(_segment("B", MANY), nvr, time_us=_start(MANY) + TEN))
    for at in range(0, len(told), 1_000):
        tape.append(told[at : at + 1_000])
    with tape_source(database) as source:
        catch_up(database, source, [CAMERAS])
    with writing(database, "rebuilding") as connection:  # as the owner of the tables
        ViewStore(connection, LIVE).analyze(
            CAMERAS.tables
        )  # as the server does by itself after a while
    with reading(database, [CAMERA_FACTS.name]) as read:
        yield read


def _start(number: int) -> int:
    return T0_US + number * TEN + number // 100 * TEN


def _segment(camera: str, number: int) -> SegmentRecorded:
    return SegmentRecorded(
        camera=camera, path=f"{number}.mp4", sha256=f"{number:064x}",
        start=format_time(_start(number)), frames=300, duration_us=TEN,
    )  # fmt: skip


def test_segments_over_stretches_are_those_that_a_look_at_all_of_them_finds(
    store: ViewStore,
) -> None:
    chance = random.Random(9)  # noqa: S311 - repeatable
    spans = [(_start(n), _start(n) + TEN) for n in range(MANY)]
    for _ in range(30):
        edges = sorted(T0_US + chance.randrange(-50, MANY * 101) * TEN // 100 for _ in range(6))
        stretches = list(zip(edges[::2], edges[1::2], strict=True))
        due = [
            span for span in spans
            if any(span[1] > since and span[0] <= until for since, until in stretches)
        ]  # fmt: skip
        found = segments_over(store, "hollywood", "A", stretches)
        assert [each[:2] for each in found] == due
    assert segments_over(store, "hollywood", "A", []) == []
    assert segments_over(store, "hollywood", "nobody", [(0, 1)]) == []


def test_cameras_are_found_with_what_stands_of_them_beside_segments(store: ViewStore) -> None:
    assert cameras_of(store, "hollywood") == ["A", "B"]
    assert cameras_of(store, "nowhere") == []
    assert [row.type for row in standing_rows(store, "hollywood", "A")] == ["camera_mapped.v1"]
    assert standing_rows(store, "hollywood", "B") == []
    assert properties_with_cameras(store) == ["hollywood"]
    assert properties_with_cameras(store, "CC-07", "A") == ["hollywood"]
    assert properties_with_cameras(store, "CC-07", "B") == []
    assert properties_with_cameras(store, None, "B") == ["hollywood"]
    assert properties_with_cameras(store, "CC-08") == []


def test_a_short_stretch_touches_a_handful_of_rows_however_many_segments_there_are(
    store: ViewStore,
) -> None:
    """Counted by the server itself: rows that the index hands over, not rows that are answered."""
    text = segments._OVER.replace("{schema}", store.schema)
    since, until = _start(4_000), _start(4_003)
    rows = store.connection.execute(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {text}".encode(),
        {
            "property": "hollywood", "camera": "A", "longest": TEN,
            "since": [since], "until": [until],
        },
    ).fetchone()  # fmt: skip
    assert rows
    [told] = rows[0]
    scans = list(_scans(told["Plan"]))
    assert [each["Node Type"] for each in scans if each.get("Relation Name")] != ["Seq Scan"]
    looked = sum(
        (each["Actual Rows"] + each.get("Rows Removed by Filter", 0)) * each["Actual Loops"]
        for each in scans
        if each.get("Relation Name") == "camera_facts"
    )
    assert 0 < looked <= 10, [each.get("Index Name") for each in scans]


def _scans(plan: dict[str, object]) -> Iterator[dict[str, object]]:
    yield plan
    for each in plan.get("Plans", []):  # type: ignore[attr-defined] # a list where it is there
        yield from _scans(each)


@pytest.mark.parametrize("near_us", [None, 600 * S])
@pytest.mark.parametrize(
    ("ahead_us", "late_us"),
    [
        pytest.param(-5 * HOUR_US, 0, id="told with a clock of another zone"),
        pytest.param(5 * HOUR_US, 0, id="told with a clock ahead"),
        pytest.param(40, 72 * HOUR_US, id="recorder cut off for three days"),
        pytest.param(-5 * HOUR_US, 72 * HOUR_US, id="both"),
    ],
)
def test_footage_that_a_clock_check_leads_to_is_no_gap_whenever_it_was_told_of(
    database: Database, tape: PostgresTape, ahead_us: int, late_us: int, near_us: int | None
) -> None:
    """Two minutes of segments, and the same of years before and after, of which none is read.

    The clock was once wrong by years, too: what lies between is not looked through for it.
    """
    install(database)
    nvr, years_us = Source("hollywood", "surveillance", "nvr"), 3 * 365 * 24 * HOUR_US
    told = [
        build_fact(
            CameraMapped(camera="A", table="CC-07", kind="stationary", covers=("table",)),
            nvr,
            time_us=T0_US - HOUR_US,
        )
    ]
    for at_us, off_us in ((T0_US - 48 * HOUR_US, -years_us), (T0_US - 30 * HOUR_US, ahead_us)):
        check = ClockChecked(
            camera="A", camera_time=format_time(at_us + off_us), reference_time=format_time(at_us),
            reference="ntp", uncertainty_ms=1,
        )  # fmt: skip
        told.append(build_fact(check, nvr, time_us=at_us))
    for number in range(12):
        for far_us in (-240 * HOUR_US, 0, 240 * HOUR_US):
            start_us = T0_US + number * TEN + ahead_us + far_us
            body = SegmentRecorded(
                camera="A", path=f"{number}.mp4", sha256=f"{number * 1_000 + far_us % 97:064x}",
                start=format_time(start_us), frames=300, duration_us=TEN,
            )  # fmt: skip
            told.append(
                build_fact(body, nvr, time_us=start_us + TEN + late_us, id=f"{far_us}-{number}")
            )
    tape.append(told)
    with tape_source(database) as source:
        catch_up(database, source, [CAMERAS])
    since_us, until_us = T0_US + 20 * S, T0_US + 100 * S
    with reading(database, [CAMERA_FACTS.name]) as store:
        rows = rows_about(store, "hollywood", "CC-07", since_us, until_us, near_us=near_us)
    assert len(rows) == 3 + 12, "segments of another week were read, or some of the time were not"
    assert rows == sorted(rows)
    facts = [fact_of(row) for row in rows]
    source_ = "/hollywood/CC-07/terminal"
    dealt = [
        Fact(
            RoundStarted(game="criss_cross_poker"), source_, f"{at}", at, None, "CC-07", None, None
        )
        for at in range(since_us, until_us, TEN)
    ]
    seen = timeline(dealt, coverage(facts), None)
    assert {one.sights[0].state for one in seen} == {"recorded"}
    stated = coverage_statement(
        facts, "hollywood", "CC-07", [StatedTime("1", "criss_cross_poker", since_us, until_us)]
    )
    assert stated.stretches[0].covered_us == until_us - since_us


def test_segments_are_looked_for_as_far_around_as_a_clock_never_checked_may_be_off() -> None:
    assert OFF_US == UNCHECKED_US
    assert cameras._stretches([], 0, 9) == [(0, 9)]
    assert cameras._stretches([5, -100, 20], 0, 9) == [(-100, -91), (0, 14), (20, 29)]
