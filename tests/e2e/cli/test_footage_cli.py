"""`footage add`, `watch`, `list`, `frame` and `clip`, run as a user runs them."""

from __future__ import annotations

import json
import shutil
import signal
import time
from hashlib import sha256
from typing import IO, TYPE_CHECKING, NamedTuple

import pytest

from infra.postgres.connection import open_database
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from ledger.facts import SegmentRecorded
from ledger.values import Source, parse_time
from replay.footage.decoding.reader import index
from replay.recording.house_facts import append_fact
from tests.fixtures.cli import Cli, environ
from tests.fixtures.disk import no_room
from tests.footage.video_kinds import KINDS, decoded, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ledger.record.tape import TapeRow

START_MS = 1_795_200_000_000  # 2026-11-20T18:40:00Z
FILES = ("20261120T184000Z.ts", "20261120T184008Z.ts", "20261120T184016Z.ts")


class Recorded(NamedTuple):
    """A ledger and a recorder's folder of three segments of 8 s that follow one another."""

    cli: Cli
    folder: Path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    top = tmp_path_factory.mktemp("recorded")
    folder, home = top / "in", top / "home"
    folder.mkdir()
    for number, name in enumerate(FILES):
        write(
            folder / name, KINDS["ts_bframes"], start_ms=START_MS + 8000 * number,
            first=240 * number,
        )  # fmt: skip
    with embedded(home):
        yield Recorded(Cli(environ(home)), folder)


@pytest.fixture(scope="module")
def added(recorded: Recorded) -> Recorded:
    done = recorded.cli(
        "footage",
        "add",
        recorded.folder,
        "--camera",
        "CC-07-A",
        "--property",
        "hollywood",
        "--json",
    )
    assert done.code == 0, done.err
    *files, total = done.json
    assert [each["verdict"] for each in files] == ["appended"] * 3
    assert total == {"appended": 3, "files": 3}
    return recorded


@pytest.mark.long
def test_adding_a_folder_again_gives_duplicates_and_the_property_is_known(added: Recorded) -> None:
    again = added.cli("footage", "add", added.folder, "--camera", "CC-07-A", "--json")
    assert again.json[-1] == {"duplicate": 3, "files": 3}
    assert added.cli("verify").code == 0
    unknown = added.cli("footage", "add", added.folder, "--camera", "CC-09-A")
    assert (unknown.code, unknown.out) == (2, "")
    assert "--property" in unknown.err


@pytest.mark.long
def test_a_bad_file_is_told_and_the_rest_is_taken(added: Recorded, tmp_path: Path) -> None:
    shutil.copy(added.folder / FILES[0], tmp_path)
    (tmp_path / "bad.mp4").write_text("#EXTM3U\nhttp://127.0.0.1:9/x.ts\n")
    done = added.cli("footage", "add", tmp_path, "--camera", "CC-07-A")
    assert done.code == 2
    assert "bad.mp4: its content is not WebM" in done.err
    assert "1 duplicate, 1 refused" in done.err


@pytest.mark.long
def test_a_file_that_was_renamed_is_told_and_the_rest_is_taken(
    added: Recorded, tmp_path: Path
) -> None:
    adds = ("footage", "add", tmp_path, "--camera", "CC-07-R", "--property", "hollywood")
    first, renamed = (tmp_path / f"{name}20261120T184000.250Z.mp4" for name in ("", "my "))
    write(first, KINDS["gop60"], 21)
    assert added.cli(*adds).code == 0
    first.rename(renamed)
    write(tmp_path / "20261120T185000.250Z.mp4", KINDS["gop60"], 22)
    done = added.cli(*adds)
    assert done.code == 2
    assert "my 20261120T184000.250Z.mp4: the same bytes are on record with another" in done.err
    assert "1 appended, 1 refused" in done.err
    assert "22 frames" in done.err


@pytest.mark.long
def test_what_is_indexed_is_listed_by_camera(added: Recorded) -> None:
    listed = added.cli("footage", "list", "--camera", "CC-07-A", "--json").json
    assert [each["frames"] for each in listed] == [240] * 3
    assert {each["playable"]["how"] for each in listed} == {"remuxed"}
    assert "CC-07-A" in added.cli("footage", "list").out
    assert added.cli("footage", "list", "--camera", "CC-08-A", "--json").json == []


@pytest.mark.long
def test_the_frame_of_a_time_is_exactly_that_frame_and_its_export_is_on_record(
    added: Recorded, tmp_path: Path
) -> None:
    done = added.cli(
        "footage", "frame", "--camera", "CC-07-A", "--at", "2026-11-20T18:40:09.010Z", "--out",
        tmp_path, "--by", "S-2001", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    (shown,) = done.json
    assert (shown["frame"], shown["timecode"]["capture"]) == (31, 271)  # the first at or after
    assert shown["clock"] == "never_checked"
    (png,) = tmp_path.glob("*.png")
    assert sha256(png.read_bytes()).hexdigest() == shown["sha256"]
    none = added.cli("footage", "frame", "--camera", "CC-07-A", "--at", "2026-11-20T12:00:00Z")
    assert none.code == 2
    assert "No footage of this time" in none.err


@pytest.mark.long
def test_a_clip_spans_three_segments_and_says_what_it_is(added: Recorded, tmp_path: Path) -> None:
    done = added.cli(
        "footage", "clip", "--camera", "CC-07-A", "--from", "2026-11-20T18:40:05Z", "--to",
        "2026-11-20T18:40:18Z", "--pre", "0", "--post", "0.5", "--out", tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    (told,) = json.loads((tmp_path / "clips.json").read_text())["clips"]
    made = told["clip"]
    path = tmp_path / made["path"]
    assert sha256(path.read_bytes()).hexdigest() == made["sha256"]
    assert (made["derived"], told["missing"], len(made["sources"])) == (False, [], 3)
    assert made["out_us"] - made["in_us"] == 13_500_000
    frames = decoded(path)
    assert all(code is not None for _, code in frames)
    numbers = [code.capture for _, code in frames if code]
    assert numbers == list(range(120, numbers[-1] + 1))
    assert numbers[-1] >= 480 + 75 - 1
    assert len(index(path).pts_us) == made["frames"]
    assert "stream copy" in done.err


@pytest.mark.long
def test_a_derived_clip_is_named_so_and_a_gap_is_told(added: Recorded, tmp_path: Path) -> None:
    done = added.cli(
        "footage", "clip", "--camera", "CC-07-A", "--from", "2026-11-20T18:40:22Z", "--to",
        "2026-11-20T18:40:30Z", "--pre", "0", "--post", "0", "--exact", "--out", tmp_path, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json[0]["missing"] == [
        ["2026-11-20T18:40:24.000000Z", "2026-11-20T18:40:30.000000Z"]
    ]
    (path,) = tmp_path.glob("*.mp4")
    assert ".derived-exact." in path.name
    assert len(decoded(path)) == 60
    empty = added.cli(
        "footage", "clip", "--camera", "CC-07-A", "--from", "2026-11-20T19:40:22Z", "--to",
        "2026-11-20T19:40:30Z", "--out", tmp_path / "none",
    )  # fmt: skip
    assert empty.code == 2
    assert "no footage of that time is available" in empty.err


@pytest.mark.long
def test_exports_are_facts_that_name_who_and_why(added: Recorded, tmp_path: Path) -> None:
    done = added.cli(
        "footage", "clip", "--camera", "CC-07-A", "--from", "2026-11-20T18:40:01Z", "--to",
        "2026-11-20T18:40:02Z", "--by", "S-2044", "--because", "dispute D-9", "--out", tmp_path,
    )  # fmt: skip
    assert done.code == 0
    facts = [row for row in on_record(added) if row.type == "footage_exported.v1"]
    told = json.loads(facts[-1].data)
    assert (told["camera"], told["by"], told["because"]) == ("CC-07-A", "S-2044", "dispute D-9")
    assert facts[-1].tape == "hollywood/surveillance"
    assert told["from"] < "2026-11-20T18:40:01" < told["to"]


@pytest.mark.long
def test_nothing_is_handed_out_where_that_cannot_be_put_on_record(
    added: Recorded, tmp_path: Path
) -> None:
    clip = (
        "clip", "--from", "2026-11-20T18:40:03Z", "--to", "2026-11-20T18:40:04Z", "--pre", "0",
    )  # fmt: skip
    frame = ("frame", "--at", "2026-11-20T18:40:03Z")
    ask = ("--camera", "CC-07-A", "--because", "nobody is to know", "--out", tmp_path)
    with no_room(Settings(added.folder.parent / "home", postgres_stays_s=0)):
        for what in (clip, frame):
            done = added.cli("footage", *what, *ask)
            assert done.code == 3, done.err
            assert "no room for what leaves" in done.err
            assert not [*tmp_path.iterdir()], what
    assert added.cli("footage", *clip, *ask).code == 0
    assert {path.suffix for path in tmp_path.iterdir()} == {".mp4", ".json"}
    assert [row for row in on_record(added) if b"nobody is to know" in row.data]


def on_record(of: Recorded) -> list[TapeRow]:
    home = of.folder.parent / "home"
    with (
        open_database(Settings(home, postgres_stays_s=0)) as database,
        PostgresTape(database) as tape,
    ):
        return tape.read(0, 1_000_000)


@pytest.mark.long
def test_a_round_of_a_dealt_floor_is_cut_for_each_of_its_cameras(
    recorded: Recorded, tmp_path: Path
) -> None:
    made = recorded.cli(
        "simulate", "--tables", "1", "--game", "three_dice_football", "--hours", "0.2", "--seed",
        "3", "--mistake", "overpay", "--strip", "--footage", "mistakes", "--cameras", "2", "--out",
        tmp_path / "floor",
    )  # fmt: skip
    assert made.code == 0, made.err
    feeds = [tmp_path / "floor" / name for name in ("feed.jsonl", "footage.jsonl")]
    assert recorded.cli("ingest", *feeds).code == 0
    footage = tmp_path / "floor" / "footage"
    for camera in sorted(path.name for path in footage.iterdir()):
        done = recorded.cli("footage", "add", footage / camera, "--camera", camera, "--json")
        assert done.code == 0, done.err
        assert set(done.json[-1]) == {"on_record", "files"}  # the recorder reported them itself
        assert done.json[0]["start_from"] == "record"
    truth = json.loads((tmp_path / "floor" / "truth.jsonl").read_text().splitlines()[0])
    clips = recorded.cli(
        "footage", "clip", f"hollywood:{truth['round']}", "--out", tmp_path / "c", "--json"
    )
    assert clips.code == 0, clips.err
    assert len(clips.json) == 2
    assert min(each["later_us"] for each in clips.json) == 0
    for each in clips.json:
        assert each["plus_minus_ms"] is not None
        path = tmp_path / "c" / each["clip"]["path"]
        begin_ms = each["clip"]["starts_us"] // 1000
        for pts_us, code in decoded(path):
            assert code is not None
            assert abs(begin_ms + pts_us // 1000 - code.clock_ms) <= 1
    replayed = recorded.cli("replay", f"hollywood:{truth['round']}", "--json").json[:-1]
    seen = [each["moment"] for each in replayed if all(c["frame"] for c in each["cameras"])]
    assert seen  # the index is looked at by itself
    frame = recorded.cli(
        "footage", "frame", f"hollywood:{truth['round']}", "--at", str(seen[0]), "--out", tmp_path,
        "--json",
    )  # fmt: skip
    assert frame.code == 0, frame.err
    assert len(frame.json) == 2


@pytest.mark.long
def test_watching_takes_what_is_finished_and_stops_at_once(
    recorded: Recorded, tmp_path: Path
) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    write(tmp_path / "whole.ts", KINDS["ts"])
    write(tmp_path / "other.ts", KINDS["ts"], 120)
    whole = (tmp_path / "whole.ts").read_bytes()
    growing = folder / "20261121T184000Z.ts"
    growing.write_bytes(whole[: len(whole) // 2])
    process = recorded.cli.start(
        "footage", "watch", folder, "--camera", "CC-10-A", "--property", "hollywood", "--stable",
        "8", "--json",
    )  # fmt: skip
    assert process.stdout is not None
    try:
        shutil.copy(tmp_path / "other.ts", folder / "20261121T184008Z.ts")
        with growing.open("ab") as file:
            for at in range(len(whole) // 2, len(whole), 40_000):
                file.write(whole[at : at + 40_000])
                file.flush()
                time.sleep(0.5)
        first = json.loads(process.stdout.readline())
        second = json.loads(process.stdout.readline())
        frames = {each["file"].rpartition("/")[2]: each["frames"] for each in (first, second)}
        assert frames == {"20261121T184008Z.ts": 120, growing.name: 240}
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[-1]) == {"appended": 2, "files": 2}


@pytest.mark.long
def test_watching_learns_what_the_recorder_tells_meanwhile(
    cli: Cli, tape: PostgresTape, tmp_path: Path
) -> None:
    """The second file is the control: only this command reports it."""
    folder = tmp_path / "watched"
    folder.mkdir()
    for name, frames in (("told.ts", 240), ("untold.ts", 120)):
        write(tmp_path / name, KINDS["ts"], frames)
    sum_of = sha256((tmp_path / "told.ts").read_bytes()).hexdigest()
    start = "2026-11-21T18:40:00.250Z"
    told = SegmentRecorded(
        camera="CC-10-A", path="1.ts", sha256=sum_of, start=start, frames=240, duration_us=8_000_000
    )
    process = cli.start(
        "footage", "watch", folder, "--camera", "CC-10-A", "--property", "hollywood", "--stable",
        "0.2", "--no-calibrate", "--json",
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        until_said(process.stderr, b"Watching")
        append_fact(
            tape, told, Source("hollywood", "surveillance", "nvr"), time_us=parse_time(start)
        )
        shutil.copy(tmp_path / "told.ts", folder / "20261121T184000Z.ts")
        first = json.loads(process.stdout.readline())
        shutil.copy(tmp_path / "untold.ts", folder / "20261121T184008Z.ts")
        second = json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert (first["verdict"], first["start_from"]) == ("on_record", "record")
    assert (second["verdict"], second["start_from"]) == ("appended", "name")
    sums = [
        json.loads(row.data)["sha256"] for row in tape.read(0, 99)
        if row.type == "segment_recorded.v1"
    ]  # fmt: skip
    assert (sums.count(sum_of), len(sums)) == (1, 2)


@pytest.mark.long
def test_a_camera_without_footage_is_not_reported_as_healthy(added: Recorded) -> None:
    health = added.cli("footage", "health", "--camera", "CC-99-cam1")
    assert health.code == 2, health.err
    assert "no segment of this camera" in health.err
    listed = added.cli("footage", "list", "--camera", "CC-99-cam1")
    assert "no segment of camera CC-99-cam1" in listed.err


def until_said(lines: IO[bytes], what: bytes) -> None:
    """Read what a process says up to a line with these words."""
    for line in lines:
        if what in line:
            return
    pytest.fail(f"it ended before it said {what!r}")
