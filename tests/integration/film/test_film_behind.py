"""`demo-film`: an hour of film is drawn behind, survives a stop, and is on record as it comes."""

from __future__ import annotations

import signal
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from ledger.simulate import hour_of_worst, plan_of, read_shots, worst_and, write
from ledger.simulate.floor_files import FilmedWindow, _without
from replay.cli.demo.demo import MARK
from replay.footage.simulated.camera import draw, draw_one, labels, painter_of
from replay.footage.simulated.filming import film_behind
from tests.until import until

if TYPE_CHECKING:
    import subprocess

    from tests.fixtures.cli import Cli

S = 1_000_000
WITHIN_S = 240


def floor(folder: Path, seconds: int) -> Path:
    """Deal an hour, with the shot list of so many seconds of it, at two frames a second."""
    plan = plan_of(tables=1, minutes=70, seed=3, mistakes={"overpay": 1})
    written = write(plan, folder, film=worst_and(0), later=hour_of_worst)
    [*_, path] = written.later
    kept = read_shots(path)
    short = replace(
        kept.plan, strip=True, frames_per_second=2, to_us=kept.plan.from_us + seconds * S
    )
    for each in written.later:
        each.unlink()
    path.write_bytes(msgspec.json.encode(replace(kept, plan=short)))
    return path


def test_the_hour_leaves_out_what_is_filmed_at_once() -> None:
    hour = FilmedWindow("CC-01", 0, 3_600 * S)
    taken = [
        FilmedWindow("CC-01", 600 * S, 648 * S),
        FilmedWindow("CC-02", 700 * S, 748 * S),
        FilmedWindow("CC-01", 3_590 * S, 3_638 * S),
    ]
    assert _without([hour], taken) == [
        FilmedWindow("CC-01", 0, 600 * S),
        FilmedWindow("CC-01", 648 * S, 3_590 * S),
    ]
    assert _without([hour], [hour]) == []


def test_an_hour_is_dealt_to_be_drawn_later_and_the_short_film_is_not_in_it(
    tmp_path: Path,
) -> None:
    plan = plan_of(tables=1, minutes=70, seed=3, mistakes={"overpay": 1})
    written = write(plan, tmp_path, film=worst_and(0), later=hour_of_worst)
    [short] = [read_shots(path).plan for path in written.shots]
    later = [read_shots(path).plan for path in written.later]
    spans = sorted((each.from_us, each.to_us) for each in (short, *later))
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert spans[-1][1] - spans[0][0] == 3_600 * S


def test_a_segment_drawn_by_itself_is_the_one_of_the_whole_film(tmp_path: Path) -> None:
    shots = read_shots(floor(tmp_path, 50))
    whole = draw(shots, tmp_path / "whole")
    assert [each.fact.path for each in whole] == labels(shots.plan)
    last = draw_one(painter_of(shots), len(whole) - 1, tmp_path / "alone")
    assert last == whole[-1]


@pytest.mark.long
def test_what_was_drawn_before_a_stop_is_not_drawn_again(tmp_path: Path) -> None:
    path, footage = floor(tmp_path, 90), tmp_path / "footage"
    total, told = len(labels(read_shots(path).plan)), list[bool]()
    begun = list(film_behind([path], footage, lambda: bool(told) or told.append(True) or False))
    assert 0 < len(begun) < total
    made = {each.path: each.path.stat().st_mtime_ns for each in begun}
    rest = list(film_behind([path], footage, lambda: False))
    assert [each.done for each in rest] == list(range(1, total + 1))
    assert {each.of for each in rest} == {total}
    assert {each.path for each in rest} == {*footage.glob("*/*.webm")}
    assert {each: each.stat().st_mtime_ns for each in made} == made


@pytest.mark.long
def test_the_hour_is_drawn_behind_survives_a_kill_and_is_on_record_as_it_comes(
    cli: Cli, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    path = floor(tmp_path, 160)
    (tmp_path / MARK).touch()
    plan = read_shots(path).plan
    total = len(labels(plan))
    assert cli("ingest", tmp_path / "feed.jsonl").code in (0, 1)
    for number in (signal.SIGKILL, signal.SIGTERM):
        before = len(drawn(home))
        with cli.start("demo-film") as process:
            until(lambda: ended(process) or len(drawn(home)) > before, WITHIN_S)  # noqa: B023 - called at once
            assert not ended(process), process.communicate()
            process.send_signal(number)
            out, err = process.communicate(timeout=WITHIN_S)
        assert len(drawn(home)) < total
        if number == signal.SIGTERM:
            assert process.returncode == 0, err
            assert b"`round-ledger demo-film` goes on there" in out
        until(lambda: not drawing(home), WITHIN_S)
    ran = cli("demo-film")
    assert ran.code == 0, ran.err
    assert f"{total} of {total} segments on record" in ran.out
    listed = cli("footage", "list", "--camera", plan.camera, "--json").json
    assert {each["start_from"] for each in listed} == {"name"}
    assert len(listed) == total
    assert cli("verify").code == 0


def test_a_ledger_that_is_no_demonstration_is_not_drawn_into(cli: Cli, tmp_path: Path) -> None:
    ran = cli("demo-film")
    assert ran.code == 2
    assert "not a demonstration" in ran.err
    assert not (tmp_path / "home" / "footage").exists()


def ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def drawn(home: Path) -> list[Path]:
    return list(home.glob("footage/*/*.webm"))


def drawing(home: Path) -> list[str]:
    """The processes that draw for a home."""
    found, told = [], f"ROUND_LEDGER_HOME={home}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if told in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text())
    return [each for each in found if "multiprocessing" in each]
