"""Nine cameras of one round played in Chromium, as previews and whole: what is lost, how far apart.

Each camera has segments of half a minute at 1280 x 720, 30 frames a second. They are copies of one,
with notes of their own, since encoding 45 minutes of film would take as long. A late fact makes the
round long enough.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from playwright.sync_api import sync_playwright
from psycopg import conninfo

from infra.postgres.connection import NAME
from infra.postgres.server.embedded import embedded
from ledger.facts import CameraMapped, IrregularityCalled, SegmentRecorded
from ledger.record import wire
from ledger.values import format_time, parse_time
from replay.footage.clips.clips import clip
from replay.footage.clips.previews import whole
from replay.footage.decoding.decoder import sha256_of
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from replay.footage.muxing.muxer import write as write_here
from replay.footage.muxing.muxing import END_US, Part, Writing
from tests.fixtures.browser import CHROMIUM
from tests.fixtures.cli import Cli, environ
from tests.fixtures.screen import Screened, serving
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page, Route

    from ledger.facts import Body
    from replay.footage.library.index import IndexedSegment

S = 1_000_000
CAMERAS, SEGMENT_S, WIDTH, HEIGHT = 9, 30, 1280, 720
MINUTES, WHOLE_MINUTES = 5.0, 1.0
BEFORE_S = 20
"""Seconds that the page shows before and after a round."""

WARM_S = 5
"""Seconds of playing before anything is counted."""

PREVIEW_US = 1_000_000 / 15
KIND = KINDS["gop60"]._replace(
    options={"preset": "veryfast", "crf": "26", "bf": "0", "g": "60", "sc_threshold": "0"}
)

SETTLED = """
() => document.documentElement.dataset.ready === "yes"
  && [...document.querySelectorAll(".views .view")].every((it) => it.dataset.settled === "yes")
"""
KEEP = """
() => {
  const ask = HTMLVideoElement.prototype.requestVideoFrameCallback;
  window.runs = [];
  HTMLVideoElement.prototype.requestVideoFrameCallback = function (heard) {
    return ask.call(this, (now, told) => {
      const { mediaTime: at, presentedFrames: count } = told;
      this.reported = { src: this.currentSrc, at };
      let run = this.run;
      if (!run || run.src !== this.currentSrc || at < run.last) {
        run = this.run = { src: this.currentSrc, first: at, began: count };
        window.runs.push(run);
      }
      Object.assign(run, { last: at, ended: count });
      heard(now, told);
    });
  };
}
"""
MEASURE = """
([starts, seconds]) => new Promise((done) => {
  window.runs = [];
  for (const video of document.querySelectorAll("video")) video.run = null;
  const spreads = [], from = performance.now();
  let without = 0;
  const look = () => {
    const times = [...document.querySelectorAll(".views .view")].flatMap((view) => {
      const video = view.querySelector("video:not([hidden])"), told = video?.reported;
      if (!told || told.src !== video.currentSrc) return [];
      return [starts[told.src.match(/[0-9a-f]{64}/)[0]] + told.at * 1e6];
    });
    if (times.length === document.querySelectorAll(".views .view").length) {
      spreads.push(Math.max(...times) - Math.min(...times));
    } else without += 1;
    if (performance.now() - from < seconds * 1000) return requestAnimationFrame(look);
    return done({ spreads, without, runs: window.runs });
  };
  look();
})
"""


class Round(NamedTuple):
    """The round that nine cameras filmed: its page, and when each segment began by its hash."""

    subject: str
    starts: dict[str, int]
    entries: list[IndexedSegment]


def nine_cameras(top: Path, minutes: float = MINUTES) -> dict[str, object]:
    """Every figure; for five minutes about a quarter of an hour, half of it making previews."""
    home = top / "home"
    home.mkdir(parents=True)
    cli = Cli(environ(home))
    with embedded(home) as server:
        round_ = _filmed(cli, top, home, minutes)
        made_s = [_made_s(home, entry) for entry in round_.entries]
        record = conninfo.make_conninfo(server, dbname=NAME)
        with serving(cli, top, {"round": round_.subject}, record) as floor, _page(floor) as page:
            previews = _played(page, floor, round_, minutes)
            page.route("**/footage/*/preview", _none)
            less = min(minutes, WHOLE_MINUTES)
            return {
                "minutes": minutes,
                "preview_made_s_a_30_s_segment": median(made_s),
                "previews": previews,
                "whole": {"minutes": less, **_played(page, floor, round_, less)},
            }


@contextmanager
def _page(floor: Screened) -> Iterator[Page]:
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        with floor.page(browser) as page:
            page.set_viewport_size({"width": 1920, "height": 1080})
            page.set_default_timeout(120_000)
            page.add_init_script(f"({KEEP.strip()})()")
            yield page
        browser.close()


def _played(page: Page, floor: Screened, round_: Round, minutes: float) -> dict[str, object]:
    """The round from its beginning, one camera enlarged, which plays whole."""
    page.goto(floor.url + floor.round_path)
    page.wait_for_function(SETTLED)
    page.evaluate("(time) => { location.hash = `time=${time}`; }", min(round_.starts.values()) + S)
    page.wait_for_timeout(3_000)  # previews that stand ready
    page.wait_for_function(SETTLED)
    page.keyboard.press("f")
    page.keyboard.press("Space")
    page.wait_for_timeout(WARM_S * 1000)
    told = page.evaluate(MEASURE, [round_.starts, minutes * 60])
    page.keyboard.press("Space")
    small, large = (
        [run for run in told["runs"] if ("preview" in run["src"]) == of] for of in (True, False)
    )
    spreads = [each / PREVIEW_US for each in told["spreads"]]
    return {
        "preview_s_a_camera": sum(run["last"] - run["first"] for run in small) / CAMERAS,
        "whole_s_a_camera": sum(run["last"] - run["first"] for run in large) / CAMERAS,
        "dropped_share": {"previews": dropped(small, 15), "whole": dropped(large, 30)},
        "samples": len(spreads),
        "samples_without_all_pictures": told["without"],
        "apart_frames": {
            "median": median(spreads), "p99": quantiles(spreads, n=100)[98], "max": max(spreads),
            "share_over_one": sum(each > 1.01 for each in spreads) / len(spreads),
        },
    }  # fmt: skip


def _none(route: Route) -> None:
    route.fulfill(json={"state": "none"})


def dropped(runs: list[dict[str, Any]], rate: int) -> float:
    """The share of frames that were due and not shown, of runs without a seek."""
    due = sum(round((run["last"] - run["first"]) * rate) for run in runs)
    shown = sum(run["ended"] - run["began"] for run in runs)
    return max(1 - shown / due, 0.0) if due else 0.0


def _filmed(cli: Cli, top: Path, home: Path, minutes: float) -> Round:
    dealt = top / "dealt"
    _done(cli, "simulate", "--tables", "1", "--hours", "0.2", "--seed", "5", "--out", dealt)
    _done(cli, "ingest", dealt / "feed.jsonl")
    asked = cli("rounds", "--table", "CC-01", "--json").json[-1]
    subject = str(asked["round"].rpartition(":")[2])
    began_us = (parse_time(asked["began"]) or 0) // S * S - BEFORE_S * S
    ends_us = began_us + int(minutes * 60 + WARM_S + 10) * S
    film, library = _film(top), FootageIndex(home)
    facts: list[tuple[Body, str, int, str | None]] = [
        (IrregularityCalled(kind="card_face_up"), "late", ends_us, subject)
    ]
    entries, starts = [], {}
    for number in range(CAMERAS):
        name = f"CAM-{number}"
        on = CameraMapped(camera=name, table="CC-01", kind="stationary", covers=["table"])
        facts.append((on, f"map-{name}", began_us - S, None))
        for at_us in range(began_us, ends_us + BEFORE_S * S, SEGMENT_S * S):
            entry = _segment(library, film, name, at_us)
            entries.append(entry)
            starts[entry.sha256] = at_us
            body = SegmentRecorded(
                camera=name, path=entry.path.name, sha256=entry.sha256,
                start=format_time(at_us), frames=len(entry.times.pts_us),
                duration_us=entry.duration_us,
            )  # fmt: skip
            facts.append((body, f"{name}-{at_us}", at_us + SEGMENT_S * S, None))
    lines = [
        wire.encode(body, "/hollywood/surveillance/nine", id_, at_us, of)
        for body, id_, at_us, of in facts
    ]
    (top / "nine.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    _done(cli, "ingest", top / "nine.jsonl")
    return Round(subject, starts, entries)


def _film(top: Path) -> Path:
    """Half a minute of a picture that moves."""
    chance = np.random.default_rng(1)
    ground = chance.integers(0, 255, (HEIGHT // 40, WIDTH // 40, 3), np.uint8)
    big = np.repeat(np.repeat(ground, 40, axis=0), 40, axis=1)
    pictures = [np.ascontiguousarray(np.roll(big, step * 2, axis=1)) for step in range(60)]
    path = top / "film.mp4"
    write(path, KIND, SEGMENT_S * 30, pictures=pictures)
    return path


def _segment(library: FootageIndex, film: Path, camera: str, at_us: int) -> IndexedSegment:
    """The same pictures in a file of its own bytes."""
    path = film.with_name(f"{camera}-{at_us}.mp4")
    part = Part(str(film), sha256_of(film), 0, END_US, 0)
    write_here(Writing((part,), str(path), "mp4", note=path.name))
    (added,) = add(library, [path], FootageDetails("hollywood", camera, at_us))
    assert added.entry, added.problem
    return added.entry


def _made_s(home: Path, entry: IndexedSegment) -> float:
    start_s = time.perf_counter()
    clip(FootageIndex(home), whole(entry), way="preview")
    return time.perf_counter() - start_s


def _done(cli: Cli, *args: str | Path) -> None:
    done = cli(*args)
    assert done.code == 0, done.err


if __name__ == "__main__":
    import json
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        asked = float(sys.argv[1]) if sys.argv[1:] else MINUTES
        print(json.dumps(nine_cameras(Path(folder), asked), indent=1))  # noqa: T201 - its output
