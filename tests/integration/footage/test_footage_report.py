"""The report of a file before it is on record: what it holds, and what is odd beside the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.postgres.tape import PostgresTape
from ledger.facts import SegmentRecorded
from ledger.values import format_time
from replay.cameras.intake.report import FileReport, report
from replay.footage.library.adding import FootageDetails
from replay.footage.library.index import FootageIndex
from replay.recording.house_facts import append_fact, screen
from tests.footage.filmed_table import BEGAN_US, HOUSE, NOW_US, filmed_table
from tests.footage.video_kinds import KINDS, X264, Kind, blank, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes

S = 1_000_000
TOLD = FootageDetails("hollywood", "CC-07-A")


@pytest.fixture
def floor(scenes: Scenes) -> Database:
    """A table with ten rounds of a minute each, and its camera."""
    database, _ = scenes.copy(filmed_table)
    return database


@pytest.fixture
def tape(floor: Database) -> Iterator[PostgresTape]:
    """The record of that floor."""
    with PostgresTape(floor) as opened:
        yield opened


def reported(
    floor: Database, path: Path, told: FootageDetails = TOLD, kind: Kind = KINDS["gop60"]
) -> FileReport:
    if not path.exists():
        write(path, kind, 60)
    home = FootageIndex(path.parent / "home")
    found = report(floor, home, path, told, HOUSE, NOW_US).report
    assert not home.exists  # nothing is added
    return found


def odd(found: FileReport) -> dict[str, str]:
    return {each.code: each.says for each in found.warnings}


def test_a_file_in_its_place_is_described_and_nothing_is_odd(
    floor: Database, tmp_path: Path
) -> None:
    found = reported(floor, tmp_path / "20261120T200130.250Z.mp4")
    assert odd(found) == {}
    assert found.problem is None
    assert (found.codec, found.width, found.height, found.frames) == ("h264", 480, 272, 60)
    assert (found.fps_nominal, found.variable, found.audio) == (30.0, False, False)
    assert (found.rotation, found.ending, found.holes) == (0, "whole", ())
    assert (found.start, found.start_from) == ("2026-11-20T20:01:30.250000Z", "name")
    [table] = found.beside
    assert (table.table, table.rounds, table.first_round) == ("CC-07", 1, "CC-07/2026-11-20/1")


@pytest.mark.parametrize("year", ["2016", "2099"])
def test_a_start_in_another_year_than_the_tables_facts_is_said(
    floor: Database, tmp_path: Path, year: str
) -> None:
    said = odd(reported(floor, tmp_path / f"{year}1120T200130.250Z.mp4"))
    assert (
        f"{year}-11-20T20:01:30.250000Z, but the facts of CC-07 are of 2026-11-20"
        in (said["outside_facts"])
    )
    assert ("future" in said) == (year == "2099")


def test_a_local_time_that_was_taken_as_utc_is_said_if_it_would_fit(
    floor: Database, tmp_path: Path
) -> None:
    said = odd(reported(floor, tmp_path / "2026-11-20_15-01-30.mp4"))["zone"]
    assert said == (
        "Its name has no zone and is read in UTC, beside 0 rounds. In UTC-05:00 it would start at "
        "2026-11-20T20:01:30.000000Z, beside 1 round; that would fit"
    )
    as_utc = odd(reported(floor, tmp_path / "2026-11-20_20-01-30.mp4"))
    assert "zone" not in as_utc  # it fits as it is


def test_a_containers_date_in_local_time_is_said_if_it_would_fit(
    floor: Database, tmp_path: Path
) -> None:
    path = tmp_path / "recording.mkv"
    kind = Kind("mkv", "mjpeg", {}, format="matroska")
    date = {"creation_time": "2026-11-20T15:01:30Z"}
    write(path, kind, 9, pictures=[blank()], metadata=date)
    found = reported(floor, path)
    assert found.start_from == "container"
    assert odd(found)["zone"].endswith("T20:01:30.000000Z, beside 1 round; that would fit")


def test_an_overlap_with_footage_on_record_of_that_camera_is_said(
    floor: Database, tmp_path: Path, tape: PostgresTape
) -> None:
    path = tmp_path / "20261120T200130.250Z.mp4"
    assert "overlap" not in odd(reported(floor, path))
    for name, start_us, length in (
        ("near", BEGAN_US + 80 * S, 11),
        ("before", BEGAN_US + 30 * S, 10),
    ):
        body = SegmentRecorded(
            camera="CC-07-A", path=f"CC-07-A/{name}.mp4", sha256=name[0].replace("n", "a") * 64,
            start=format_time(start_us), frames=1, duration_us=length * S,
        )  # fmt: skip
        append_fact(tape, body, screen("hollywood", "nvr"), time_us=start_us + length * S)
    assert "overlap" not in odd(reported(floor, path))  # by less than a second
    long = SegmentRecorded(
        camera="CC-07-A", path="CC-07-A/long.mp4", sha256="c" * 64,
        start=format_time(BEGAN_US + 85 * S), frames=1, duration_us=60 * S,
    )  # fmt: skip
    append_fact(tape, long, screen("hollywood", "nvr"), time_us=BEGAN_US + 145 * S)
    assert odd(reported(floor, path))["overlap"] == (
        "It overlaps footage of CC-07-A on record by 2 s: CC-07-A/long.mp4"
    )


def test_a_camera_on_no_table_is_said(floor: Database, tmp_path: Path) -> None:
    other = FootageDetails("hollywood", "CC-09-A")
    found = reported(floor, tmp_path / "20261120T200130.250Z.mp4", other)
    assert found.beside == ()
    assert odd(found) == {
        "unmapped": "CC-09-A is mapped to no table: no round will show this footage"
    }
    early = odd(reported(floor, tmp_path / "20261120T120000.250Z.mp4"))
    assert "only at another time (CC-07)" in early["unmapped"]


def test_holes_and_a_variable_rate_are_said(floor: Database, tmp_path: Path) -> None:
    path = tmp_path / "20261120T200130.250Z.mp4"
    found = reported(floor, path, kind=KINDS["vfr_mp4"])
    assert found.variable
    [hole] = found.holes
    assert hole.to_us - hole.from_us > 2 * S
    assert odd(found)["holes"].startswith("It has 1 hole without a frame; the longest lasts 2.1 s")


def test_a_file_without_a_start_says_so_and_takes_the_one_that_is_given(
    floor: Database, tmp_path: Path
) -> None:
    path = tmp_path / "export.avi"
    kind = Kind("avi", "mpeg4", {"g": "30"})
    write(path, kind, 9, pictures=[blank()])
    unknown = reported(floor, path)
    assert (unknown.frames, unknown.start) == (9, None)
    assert "its start is unknown" in (unknown.problem or "")
    given = reported(floor, path, TOLD._replace(start_us=BEGAN_US + 90 * S))
    assert (given.start_from, given.problem) == ("told", None)


def test_a_file_that_cannot_be_read_says_why(floor: Database, tmp_path: Path) -> None:
    path = tmp_path / "20261120T200130.250Z.mp4"
    write(path, Kind("mp4", "libx264", {**X264, "g": "60"}), 30)
    octets = path.read_bytes()
    path.write_bytes(octets[: len(octets) // 2])
    found = reported(floor, path)
    assert "the index that a recorder writes last is missing" in (found.problem or "")
    assert found.codec is None
