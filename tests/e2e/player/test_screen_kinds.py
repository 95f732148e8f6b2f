"""The round page in Chromium beside a camera of every kind of file, all sought at once.

Each picture names itself by its strip, which is read from what Chromium shows on this very page.
"""

from __future__ import annotations

import base64
from bisect import bisect_left
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from playwright.sync_api import TimeoutError  # noqa: A004 - Playwright's own
from psycopg import conninfo

from infra.postgres.connection import NAME
from infra.postgres.server.embedded import embedded
from ledger.facts import CameraMapped
from ledger.record import wire
from ledger.values import format_time, parse_time
from replay.cameras.timeline import HOLE_US_MAX
from replay.footage.decoding.timecode import STRIP_HEIGHT, STRIP_WIDTH, read_timecode
from tests.fixtures.cli import Cli, environ
from tests.fixtures.screen import Screened, serving
from tests.footage.video_kinds import CUT, KINDS, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from replay.footage.library.index import IndexedSegment

pytestmark = pytest.mark.long

FRAMES = 450  # 15 s, with drops and a gap of 2 s where the rate varies
INSTANTS = 60
LEFT_OUT = ("gop300", "ts", "msmpeg4")  # like another of them for a browser
FILMED = {name: kind for name, kind in KINDS.items() if name not in LEFT_OUT} | {"cut": CUT}

TIMELINE = """
() => {
  const svg = document.querySelector("#timeline svg"), box = svg.getBoundingClientRect();
  const { from, to, gutter } = svg.dataset;
  return { from: +from, to: +to, gutter: +gutter, width: svg.viewBox.baseVal.width,
           left: box.left, across: box.width, middle: box.top + box.height / 2 };
}
"""
SETTLED = """
(wanted) => Object.entries(wanted).every(([camera, frame]) => {
  const told = document.querySelector(`[data-camera="${camera}"]`).dataset;
  return frame === null ? told.settled === "none"
    : told.settled === "yes" && told.frame === String(frame);
})
"""
TOLD = """
() => Object.fromEntries([...document.querySelectorAll(".view")].map((view) => [
  view.dataset.camera, [view.dataset.settled, view.dataset.frame, view.innerText],
]))
"""
STRIPS = """
([cameras, width, height]) => Object.fromEntries(cameras.map((camera) => {
  const video = document.querySelector(`[data-camera="${camera}"] video:not([hidden])`);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const top = video.videoHeight - height;
  context.drawImage(video, 0, top, width, height, 0, 0, width, height);
  const octets = context.getImageData(0, 0, width, height).data;
  return [camera, btoa(String.fromCharCode(...octets))];
}))
"""
SEEK_NAIVELY = """
async ([camera, seconds]) => {
  const video = document.querySelector(`[data-camera="${camera}"] video:not([hidden])`);
  const sought = new Promise((done) => video.addEventListener("seeked", done, { once: true }));
  const drawn = new Promise((done) => {
    video.requestVideoFrameCallback(done);
    setTimeout(done, 300);
  });
  video.currentTime = seconds;
  await Promise.all([sought, drawn]);
}
"""


class Axis(NamedTuple):
    """The timeline as it lies on the page, in pixels and microseconds."""

    start_us: int
    span_us: int
    left: float
    across: float
    middle: float

    def time_us(self, x: int) -> float:
        return self.start_us + (x - self.left) / self.across * self.span_us

    def x(self, time_us: float) -> int:
        return round(self.left + (time_us - self.start_us) / self.span_us * self.across)


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screened]:
    """A round that a camera of every kind saw, from 5 s before it began."""
    folder = tmp_path_factory.mktemp("kinds")
    cli = Cli(environ(folder / "home"))
    with embedded(folder / "home") as url:
        dealt = folder / "dealt"
        done(cli, "simulate", "--tables", "1", "--hours", "0.2", "--seed", "5", "--out", dealt)
        done(cli, "ingest", dealt / "feed.jsonl")
        round_ = cli("rounds", "--table", "CC-01", "--json").json[3]
        start_us = (parse_time(round_["began"]) or 0) // S * S - 5 * S
        facts = [mapped(name, start_us) for name in FILMED]
        (folder / "cameras.jsonl").write_bytes(b"\n".join(facts) + b"\n")
        done(cli, "ingest", folder / "cameras.jsonl")
        for name, kind in FILMED.items():
            path = folder / f"{name}.{kind.suffix}"
            write(path, kind, FRAMES, start_ms=start_us // 1000)
            done(
                cli, "footage", "add", path, "--camera", name, "--property", "hollywood",
                "--start", format_time(start_us + (S if kind is CUT else 0)),
            )  # fmt: skip
        record = conninfo.make_conninfo(url, dbname=NAME)
        with serving(cli, folder, {"round": round_["round"]}, record) as floor:
            yield floor


S = 1_000_000


def done(cli: Cli, *args: str | Path) -> None:
    ran = cli(*args)
    assert ran.code == 0, ran.err


def mapped(camera: str, start_us: int) -> bytes:
    body = CameraMapped(camera=camera, table="CC-01", kind="stationary", covers=["table"])
    source = "/hollywood/surveillance/nvr"
    return wire.encode(body, source, f"map-{camera}", start_us - 60 * S)


@pytest.fixture(scope="module")
def page(filmed: Screened, browser: Browser) -> Iterator[Page]:
    with filmed.page(browser) as opened:
        opened.set_viewport_size({"width": 1280, "height": 4000})  # all cameras in sight
        opened.goto(filmed.url + filmed.round_path)
        opened.wait_for_selector("html[data-ready=yes]")
        yield opened


def entries_of(filmed: Screened) -> dict[str, IndexedSegment]:
    found = {entry.camera: entry for entry in filmed.library.entries()}
    assert set(found) == set(FILMED)
    return found


def axis_of(page: Page) -> Axis:
    told = page.evaluate(TIMELINE)
    scale = told["across"] / told["width"]
    left = told["left"] + told["gutter"] * scale
    across = (told["width"] - told["gutter"] - 8) * scale
    return Axis(told["from"], told["to"] - told["from"], left, across, told["middle"])


def due(entry: IndexedSegment, time_us: float) -> int | None:
    """The frame of an instant by the index: the first at or after it.

    None past the last, and in a hole so long that what happened in it was not seen.
    """
    if not entry.start_us <= time_us < entry.end_us:
        return None
    pts, target = entry.times.pts_us, time_us - entry.start_us
    frame = min(bisect_left(pts, target), len(pts) - 1)
    hole_us = pts[frame] - pts[frame - 1] if frame and pts[frame] > target else 0
    return None if hole_us > HOLE_US_MAX else frame


def wrong(
    page: Page, entries: dict[str, IndexedSegment], frames: dict[str, int | None]
) -> list[str]:
    """Cameras that show another frame than is due, once each says that it stands."""
    try:
        page.wait_for_function(SETTLED, arg=frames)
    except TimeoutError:
        told = page.evaluate(TOLD)
        raise AssertionError(
            {name: (told[name], frame) for name, frame in frames.items()}
        ) from None
    seen = [camera for camera, frame in frames.items() if frame is not None]
    strips = page.evaluate(STRIPS, [seen, STRIP_WIDTH, STRIP_HEIGHT])
    bad = []
    for camera in seen:
        octets = np.frombuffer(base64.b64decode(strips[camera]), np.uint8)
        rgba = octets.reshape(STRIP_HEIGHT, STRIP_WIDTH, 4)
        code, frame = read_timecode(rgba[:, :, :3].copy()), frames[camera]
        clock_us = entries[camera].start_us + entries[camera].times.pts_us[frame or 0]
        if code is None or abs(code.clock_ms - clock_us / 1000) > 1:
            bad.append(f"{camera} {frame}: {code and code.clock_ms - clock_us // 1000} ms off")
    return bad


def test_of_hundreds_of_instants_pointed_at_no_kind_of_file_shows_another_frame(
    page: Page, filmed: Screened
) -> None:
    entries, axis = entries_of(filmed), axis_of(page)
    chance, bad, sought = Random(3), [], 0  # noqa: S311 - repeatable
    first, last = (
        axis.x(min(each.start_us for each in entries.values())) + 1,
        axis.x(max(each.end_us for each in entries.values())) - 1,
    )
    for x in chance.sample(range(first, last), INSTANTS):
        page.mouse.click(x, axis.middle)
        frames = {name: due(entry, axis.time_us(x)) for name, entry in entries.items()}
        bad += wrong(page, entries, frames)
        sought += sum(frame is not None for frame in frames.values())
    assert bad == []
    assert sought >= 800


def test_a_step_by_one_frame_shows_the_next_in_every_kind_of_file(
    page: Page, filmed: Screened
) -> None:
    entries, axis = entries_of(filmed), axis_of(page)
    chance, bad = Random(4), []  # noqa: S311 - repeatable
    for name in FILMED:
        its = entries[name]
        pts = its.times.pts_us
        key = chance.choice([n for n in its.times.keys[1:] if pts[n] - pts[n - 1] < HOLE_US_MAX])
        x = axis.x(its.start_us + its.times.pts_us[key])
        page.mouse.click(x, axis.middle)
        frame = due(its, axis.time_us(x))
        assert frame is not None
        bad += wrong(page, entries, {name: frame})
        page.locator(f'[data-camera="{name}"]').dispatch_event("pointerdown")
        forth = frame < key
        for _ in range(min(abs(key - frame) + 2, 6)):  # over the key frame, from either side
            frame += 1 if forth else -1
            page.keyboard.press("." if forth else ",")
            bad += wrong(page, entries, {name: frame})
    assert bad == []


def test_without_the_index_the_same_pages_show_wrong_frames(page: Page, filmed: Screened) -> None:
    entries, axis = entries_of(filmed), axis_of(page)
    page.mouse.click(axis.x(max(each.start_us for each in entries.values()) + S), axis.middle)
    page.wait_for_timeout(1000)
    numbers, bad = (31, 92, 149, 211), 0
    for name, entry in entries.items():
        rate = len(entry.times.pts_us) / (entry.duration_us / S)
        for number in numbers:
            page.evaluate(SEEK_NAIVELY, [name, number / rate])
            strips = page.evaluate(STRIPS, [[name], STRIP_WIDTH, STRIP_HEIGHT])
            octets = np.frombuffer(base64.b64decode(strips[name]), np.uint8)
            code = read_timecode(octets.reshape(STRIP_HEIGHT, STRIP_WIDTH, 4)[:, :, :3].copy())
            clock_us = entry.start_us + entry.times.pts_us[number]
            bad += code is None or abs(code.clock_ms - clock_us / 1000) > 1
    assert bad > len(FILMED)  # of four times as many
