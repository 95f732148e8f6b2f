"""From opening a round to its picture and its facts shown, in a real browser.

Four cameras recorded their table all day, and the record holds as many other facts as are asked
for. Run as `python -m tests.benchmarks.bench_round [--facts N]`. The day's segments around the
round are files that play. The others are only in the record and in the index, as most of a day is
until somebody looks at it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from playwright.sync_api import sync_playwright
from psycopg import conninfo

from consumers.registry import VIEWS, install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import NAME, Database
from infra.postgres.server.embedded import embedded
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.facts import Body, CameraMapped, ClockChecked, SegmentRecorded
from ledger.record import wire
from ledger.record.tape import Received
from ledger.record.wire import parse_line
from ledger.simulate import read_shots
from ledger.simulate.cameras.shot_list import camera_clock_us
from ledger.values import format_time
from replay.footage.library.adding import FootageDetails, add, footage_files
from replay.footage.library.index import FootageIndex
from replay.footage.simulated.camera import draw
from tests.benchmarks.bench_views import checkpoint, fill, floor
from tests.benchmarks.tools.served import start
from tests.fixtures.browser import CHROMIUM
from tests.fixtures.cli import Cli, environ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

FACTS = 1_000_000
CAMERAS, SEGMENT_S, DAY_S = 4, 20, 24 * 3600
OPENED = 12
"""Times the round is opened; the first is counted apart."""

SLOWER = 4
"""How many times slower an old workstation's processor is taken to be."""

PASSWORD = "correct horse battery staple"  # noqa: S105 - of a user of this run's own ledger
SHOWN = """
() => document.documentElement.dataset.ready === "yes"
  && [...document.querySelectorAll(".view")].every((it) => it.dataset.settled !== "no"
  && it.dataset.settled !== undefined)
"""


class Day(NamedTuple):
    """What was set up: the round, and how many segments stand on record."""

    path: str
    segments: int


def run(facts: int = FACTS) -> dict[str, object]:
    """Every figure, at this size of the record."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        home, out = Path(folder, "home"), Path(folder, "dealt")
        cli = Cli(environ(home))
        with embedded(home) as server:
            day = _set_up(cli, home, out)
            url = conninfo.make_conninfo(server, dbname=NAME)
            database = Database(url, url)
            segments = day.segments + _more_cameras(database, FootageIndex(home), out)
            segments += _rest_of_the_day(database, FootageIndex(home), out)
            fill(database, floor(), facts)
            install(database)
            with tape_source(database) as source:
                catch_up(database, source, VIEWS)
            checkpoint(database)
            figures = _opened(home, day.path)
    return {"facts": facts, "segments": segments, **figures}


def _set_up(cli: Cli, home: Path, out: Path) -> Day:
    """A table with a mispaid round, filmed by four cameras, taken in; and somebody to look."""
    _done(
        cli, "simulate", "--tables", "1", "--hours", "0.4", "--seed", "11", "--mistake", "overpay",
        "--strip", "--footage", "mistakes", "--cameras", str(CAMERAS), "--property", "bench",
        "--out", out,
    )  # fmt: skip
    _done(cli, "ingest", out / "feed.jsonl", out / "footage.jsonl")
    library, count = FootageIndex(home), 0
    for camera in sorted((out / "footage").iterdir()):
        for added in add(library, footage_files(camera), FootageDetails("bench", camera.name)):
            assert added.entry, added.problem
            count += 1
    person = ("maria", "--employee", "S-2001", "--role", "surveillance", "--password-file", "-")
    made = cli("users", "add", *person, stdin=PASSWORD.encode() + b"\n")
    assert made.code == 0, made.err
    planted = json.loads((out / "truth.jsonl").read_text().splitlines()[0])
    return Day(f"/rounds/bench/{planted['round']}", count)


def _more_cameras(database: Database, library: FootageIndex, out: Path) -> int:
    """Further cameras over the same table, so that four saw the round; how many segments."""
    shots = read_shots(min((out / "shots").iterdir()))
    have = len(list((out / "footage").iterdir()))
    told: list[Received] = []
    for number in range(have + 1, CAMERAS + 1):
        plan = replace(shots.plan, camera=f"{shots.plan.table}-cam{number}", seed=number)
        drawn = draw(replace(shots, plan=plan), out / "footage")
        began = format_time(plan.from_us)
        checked = format_time(camera_clock_us(plan, plan.from_us))
        bodies: list[tuple[Body, int]] = [
            (CameraMapped(camera=plan.camera, table=plan.table, kind="stationary",
                          covers=["table"]), plan.from_us - DAY_S * 1_000_000),
            (ClockChecked(camera=plan.camera, camera_time=checked, reference_time=began,
                          reference="ntp", uncertainty_ms=20), plan.from_us),
            *((each.fact, each.closed_us) for each in drawn),
        ]  # fmt: skip
        told += [_fact(body, f"more-{number}-{at}", us) for at, (body, us) in enumerate(bodies)]
        files = footage_files(out / "footage" / plan.camera)
        for added in add(library, files, FootageDetails("bench", plan.camera)):
            assert added.entry, added.problem
    with PostgresTape(database) as tape:
        tape.append(told)
    return len(told) - 2 * (CAMERAS - have)


def _fact(body: Body, id_: str, time_us: int) -> Received:
    fact = parse_line(wire.encode(body, "/bench/surveillance/nvr", id_, time_us))
    assert isinstance(fact, Received)
    return fact


def _done(cli: Cli, *args: str | Path) -> None:
    done = cli(*args)
    assert done.code == 0, done.err


def _rest_of_the_day(database: Database, library: FootageIndex, out: Path) -> int:
    """Segments of every camera from twelve hours before to twelve hours after; how many."""
    count = 0
    with PostgresTape(database) as tape:
        for camera in sorted(folder.name for folder in (out / "footage").iterdir()):
            batch = list(_segments(library, camera))
            for at in range(0, len(batch), 1000):
                tape.append(batch[at : at + 1000])
            count += len(batch)
    return count


def _segments(library: FootageIndex, camera: str) -> Iterator[Received]:
    own = library.entries(camera)
    like, first, last = own[0], own[0].start_us, own[-1].end_us
    middle, span = first - DAY_S * 500_000, SEGMENT_S * 1_000_000
    for number in range(DAY_S // SEGMENT_S):
        start_us = middle + number * span
        if first - span < start_us < last:
            continue
        sha256 = hashlib.sha256(f"{camera}/{number}".encode()).hexdigest()
        body = SegmentRecorded(
            camera=camera, path=f"{camera}/{number}.webm", sha256=sha256,
            start=format_time(start_us), frames=len(like.times.pts_us), duration_us=span,
        )  # fmt: skip
        library.keep(replace(like, sha256=sha256, start_us=start_us, duration_us=span))
        yield _fact(body, f"day-{camera}-{number}", start_us + span)


def _opened(home: Path, path: str) -> dict[str, object]:
    """Seconds from asking for the page, some times over."""
    served = start(home)
    try:
        with sync_playwright() as playwright:
            sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            _sign_in(page, f"http://127.0.0.1:{served.port}")
            url = f"http://127.0.0.1:{served.port}{path}"
            opened = [_open(page, url) for _ in range(OPENED)]
            page.context.new_cdp_session(page).send(
                "Emulation.setCPUThrottlingRate", {"rate": SLOWER}
            )
            slowly = [_open(page, url) for _ in range(OPENED)]
            cameras = page.locator('.view[data-settled="yes"]').count()
            browser.close()
    finally:
        served.process.terminate()
        served.process.wait(30)
    names = ("first_byte_s", "facts_shown_s", "pictures_shown_s")
    told: dict[str, object] = {"cameras_with_picture": cameras}
    for at, name in enumerate(names):
        told[f"first_{name}"] = opened[0][at]
        told[name] = statistics.median(each[at] for each in opened[1:])
        told[f"old_workstation_{name}"] = statistics.median(each[at] for each in slowly)
    return told


def _sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}/sign-in")
    page.fill("[name=name]", "maria")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_load_state()


def _open(page: Page, url: str) -> tuple[float, float, float]:
    """To the first byte, to facts and table shown, to every camera's exact frame shown."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    first = time.perf_counter() - began
    page.wait_for_selector("#facts li")
    facts = time.perf_counter() - began
    page.wait_for_function(SHOWN)
    return first, facts, time.perf_counter() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=FACTS)
    print(json.dumps(run(parser.parse_args().facts), indent=1))  # noqa: T201 - its output
