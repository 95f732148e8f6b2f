"""What a camera's tile says is what its picture shows: frame and time, or why there is none.

The picture names itself by the strip burned into it, so the strip is what a caption is held to.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from replay.footage.decoding.timecode import STRIP_HEIGHT, STRIP_WIDTH, read_timecode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, Route

    from replay.footage.library.index import IndexedSegment
    from tests.fixtures.screen import Screened

pytestmark = pytest.mark.long

EACH, FEW = 40, 15
HOUSE = ZoneInfo("America/New_York")

SEEN = """
([width, height]) => new Promise((done) => requestAnimationFrame(() => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const shown = (part) => (part && !part.hidden ? part.textContent : "");
  done([...document.querySelectorAll(".view")].map((view) => {
    const video = view.querySelector("video:not([hidden])"), top = video.videoHeight - height;
    const has = video.readyState > 1 && video.videoHeight > 0;
    if (has) context.drawImage(video, 0, top, width, height, 0, 0, width, height);
    return {
      camera: view.dataset.camera, caption: shown(view.querySelector(".caption")),
      sight: shown(view.querySelector(".sight")), doubtful: shown(view.querySelector(".doubtful")),
      why: shown(view.querySelector(".why")),
      strip: has ? Array.from(context.getImageData(0, 0, width, height).data) : null,
    };
  }));
}))
"""
BEHIND = 4
"""Frames: a caption of the picture before is late by more than one if frames were left out."""

STILL = """
() => [...document.querySelectorAll(".view")].every(
  (view) => ["yes", "none"].includes(view.dataset.settled))
"""


@pytest.fixture
def page(screened: Screened, browser: Browser) -> Iterator[Page]:
    with screened.page(browser) as opened:
        open_round(opened, screened)
        yield opened


def open_round(page: Page, screened: Screened) -> None:
    page.goto(screened.url + screened.round_path)
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_function(STILL)


def tiles(page: Page) -> list[dict[str, Any]]:
    """What every tile says and shows, read at one time."""
    found: list[dict[str, Any]] = page.evaluate(SEEN, [STRIP_WIDTH, STRIP_HEIGHT])
    return found


def lies(tile: dict[str, Any], entries: list[IndexedSegment], behind: int = 0) -> str:
    """What is untrue in a tile; empty if nothing is.

    behind: the frames by which a tile may be late. A browser draws a picture up to a sixtieth of a
    second before it says so, leaves frames out while it is busy, and lends none while it seeks.
    """
    if tile["why"]:
        beside = tile["caption"] or tile["sight"]
        return f"no picture, but: {beside}" if beside else ""
    clock_ms = strip_ms(tile["strip"])
    if clock_ms is None or not tile["caption"]:
        return "" if behind else f"neither picture nor reason: {tile['caption']}"
    frame, of = frame_at(clock_ms, tile["camera"], entries)
    says = re.match(r"Frame (\d+) of (\d+) · its clock (\S+ \S+)", tile["caption"])
    if says is None or not frame - behind <= int(says[1]) <= frame or int(says[2]) != of:
        return f"{tile['caption']}, but seen is frame {frame} of {of}"
    if int(says[1]) == frame and says[3] != shown(clock_ms):
        return f"{tile['caption']}, but seen is {shown(clock_ms)}"
    fact = re.search(r"Frame (\d+) of (\d+) in", tile["sight"])
    if fact and (fact[1], fact[2]) != (says[1], says[2]):
        return f"{tile['sight']}, beside {tile['caption']}"
    return ""


def strip_ms(rgba: list[int] | None) -> int | None:
    """The camera's clock in the picture, milliseconds."""
    if rgba is None:
        return None
    octets = np.array(rgba, dtype=np.uint8).reshape(STRIP_HEIGHT, STRIP_WIDTH, 4)
    code = read_timecode(octets[:, :, :3])
    return code.clock_ms if code else None


def frame_at(clock_ms: int, camera: str, entries: list[IndexedSegment]) -> tuple[int, int]:
    """The number of the picture with this clock, and the count of its segment, by the index."""
    for entry in entries:
        if entry.camera == camera:
            times = [(entry.start_us + us) // 1000 for us in entry.times.pts_us]
            if clock_ms in times:
                return times.index(clock_ms), len(times)
    raise AssertionError(f"no frame of {camera} shows {clock_ms}")


def shown(clock_ms: int) -> str:
    """A time as the page shows it: by the house's clock, with its offset."""
    at = datetime.fromtimestamp(clock_ms / 1000, UTC).astimezone(HOUSE)
    offset = at.strftime("%z").replace("-", "\u2212")
    return f"{at:%H:%M:%S}.{clock_ms % 1000:03d} {offset[:3]}:{offset[3:]}"


def wander(page: Page, screened: Screened, count: int, seed: int) -> list[str]:
    """Every untrue tile over random seeks, facts, frames, plays, and edges of the footage."""
    entries = screened.library.entries()
    told = page.evaluate("() => JSON.parse(document.getElementById('round-data').textContent)")
    edges = [
        at + off
        for each in told["cameras"]
        for segment in each["segments"]
        for at in (segment["start"], segment["end"])
        for off in (-700_000, -40_000, 0, 40_000, 700_000)
    ]
    chance, found = random.Random(seed), []  # noqa: S311 - repeatable
    for _ in range(count):
        how = chance.choice(("time", "edge", "fact", "frame", "play", "end"))
        if how == "time":
            to(page, chance.randrange(told["from"], told["to"]))
        elif how == "edge":
            to(page, chance.choice(edges))
        elif how == "fact":
            page.keyboard.press(chance.choice(("ArrowLeft", "ArrowRight")))
        elif how == "frame":
            for _ in range(chance.randrange(1, 4)):
                page.keyboard.press(chance.choice(",."))
        else:
            to(page, told["to"] - 300_000 if how == "end" else chance.choice(edges))
            page.wait_for_function(STILL)
            page.keyboard.press(" ")
            for _ in range(chance.randrange(1, 12)):
                found += [lies(tile, entries, behind=BEHIND) for tile in tiles(page)]
            if page.inner_text("#play") == "Pause":
                page.keyboard.press(" ")
        found += [lies(tile, entries, behind=BEHIND) for tile in tiles(page)]  # it may still seek
        page.wait_for_function(STILL)
        still = tiles(page)
        found += [lies(tile, entries) for tile in still]
    return [each for each in found if each]


def to(page: Page, time_us: int) -> None:
    page.evaluate("(time) => { location.hash = ''; location.hash = `time=${time}`; }", time_us)


def test_a_tile_says_what_its_picture_shows(page: Page, screened: Screened) -> None:
    assert wander(page, screened, FEW, seed=3) == []


@pytest.mark.in_turn
@pytest.mark.parametrize("seed", range(25))
def test_a_tile_says_what_its_picture_shows_in_a_thousand_moves(
    page: Page, screened: Screened, seed: int
) -> None:
    assert wander(page, screened, EACH, seed) == []


def test_a_caption_of_the_fact_alone_would_be_untrue(screened: Screened, browser: Browser) -> None:
    """The negative control: a tile that names the fact wherever the playhead is."""
    ours = "const its = !fact.sha"

    def by_fact(route: Route) -> None:
        told = route.fetch()
        assert ours in told.text()
        body = told.text().replace(ours, "const its = true || !fact.sha")
        body = body.replace("this.#fact = sight === undefined", "if (sight) this.#fact = false")
        route.fulfill(response=told, body=body)

    with screened.page(browser) as opened:
        opened.route("**/static/tile.js*", by_fact)
        open_round(opened, screened)
        assert wander(opened, screened, FEW, seed=3)
