"""What a camera's tile says is what its picture shows: frame and time, or why there is none.

The picture names itself by the strip burned into it, so the strip is what a caption is held to.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from replay.footage.decoding.timecode import STRIP_HEIGHT, STRIP_WIDTH, read_timecode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
      sha: view.dataset.sha, reported: video.reported ?? null,
      strip: has ? Array.from(context.getImageData(0, 0, width, height).data) : null,
    };
  }));
}))
"""
BEHIND = 4
"""Frames by which a busy browser may be late to report which picture it shows."""

KEEP_REPORTED = """
() => {
  const ask = HTMLVideoElement.prototype.requestVideoFrameCallback;
  HTMLVideoElement.prototype.requestVideoFrameCallback = function (heard) {
    return ask.call(this, (now, told) => { this.reported = told.mediaTime; heard(now, told); });
  };
}
"""
"""Keeps beside each video what the browser reported last of the picture it shows."""

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
    page.add_init_script(f"({KEEP_REPORTED.strip()})()")
    page.goto(screened.url + screened.round_path)
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_function(STILL)


def tiles(page: Page) -> list[dict[str, Any]]:
    """What every tile says and shows, read at one time."""
    found: list[dict[str, Any]] = page.evaluate(SEEN, [STRIP_WIDTH, STRIP_HEIGHT])
    return found


def lies(tile: dict[str, Any], entries: list[IndexedSegment], *, moving: bool = False) -> str:
    """What is untrue in a tile; empty if nothing is.

    moving: a browser draws a picture up to a sixtieth of a second before it reports it, leaves
    frames out while it is busy, and lends none while it seeks. Then the caption is of the picture
    that the browser reported last, and the picture in sight is that one or the next.
    """
    if tile["why"]:
        beside = tile["caption"] or tile["sight"]
        return beside and f"no picture, but: {beside}"
    clock_ms = strip_ms(tile["strip"])
    if clock_ms is None or not tile["caption"]:
        return "" if moving else f"neither picture nor reason: {tile['caption']}"
    frame, of = frame_at(clock_ms, tile["camera"], entries)
    says = re.match(r"Frame (\d+) of (\d+) · its clock (\S+ \S+)", tile["caption"])
    if says is None or int(says[2]) != of or not 0 <= frame - int(says[1]) <= BEHIND * moving:
        return f"{tile['caption']}, but seen is frame {frame} of {of}"
    if int(says[1]) == frame:
        its = says[3] == shown(clock_ms)
    else:
        its = int(says[1]) == reported_frame(tile, entries)
    if not its:
        return f"{tile['caption']}, but seen is frame {frame} of {shown(clock_ms)}"
    fact = re.search(r"Frame (\d+) of (\d+) in", tile["sight"])
    beside = fact is None or (fact[1], fact[2]) == (says[1], says[2])
    return "" if beside else f"{tile['sight']}, beside {tile['caption']}"


def reported_frame(tile: dict[str, Any], entries: list[IndexedSegment]) -> int | None:
    """The frame that the browser reported last; None if it reported nothing yet."""
    if tile["reported"] is None:
        return None
    (pts,) = (entry.times.pts_us for entry in entries if entry.sha256 == tile["sha"])
    us = tile["reported"] * 1_000_000
    return min(range(len(pts)), key=lambda n: abs(pts[n] - us))


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


def to_a_time(page: Page, chance: random.Random, told: dict[str, Any], _: Sequence[int]) -> None:
    to(page, chance.randrange(told["from"], told["to"]))


def to_an_edge(page: Page, chance: random.Random, _: dict[str, Any], edges: Sequence[int]) -> None:
    to(page, chance.choice(edges))


def step_by_fact(page: Page, chance: random.Random, *_: object) -> None:
    page.keyboard.press(chance.choice(("ArrowLeft", "ArrowRight")))


def step_by_frame(page: Page, chance: random.Random, *_: object) -> None:
    for _step in range(chance.randrange(1, 4)):
        page.keyboard.press(chance.choice(",."))


def play_over_an_edge(
    page: Page, chance: random.Random, told: dict[str, Any], edges: Sequence[int]
) -> None:
    to_an_edge(page, chance, told, edges)
    page.wait_for_function(STILL)
    page.keyboard.press(" ")


def play_to_the_end(page: Page, _: random.Random, told: dict[str, Any], __: Sequence[int]) -> None:
    to(page, told["to"] - 300_000)
    page.wait_for_function(STILL)
    page.keyboard.press(" ")


def shuttle(page: Page, chance: random.Random, told: dict[str, Any], edges: Sequence[int]) -> None:
    """Forward or backwards, up to eight times as fast."""
    to_an_edge(page, chance, told, edges)
    page.wait_for_function(STILL)
    key = chance.choice(("Shift+J", "Shift+L"))
    for _step in range(chance.randrange(1, 5)):
        page.keyboard.press(key)


MOVES = {
    "seek": to_a_time, "border": to_an_edge, "fact": step_by_fact, "frame": step_by_frame,
    "play": play_over_an_edge, "end": play_to_the_end, "shuttle": shuttle,
}  # fmt: skip
PLAYS = ("play", "end", "shuttle")


class Wandered(NamedTuple):
    """What was seen over many moves. late: moving tiles by the frames their caption was behind."""

    moves: Counter[str]
    still: int
    late: Counter[int]
    wrong: list[str]


def wander(page: Page, screened: Screened, count: int, seed: int) -> Wandered:
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
    chance = random.Random(seed)  # noqa: S311 - repeatable
    found = Wandered(Counter(), 0, Counter(), [])
    for _ in range(count):
        how = chance.choice(tuple(MOVES))
        found.moves[how] += 1
        MOVES[how](page, chance, told, edges)
        readings = chance.randrange(1, 12) if how in PLAYS else 1
        for _ in range(readings):
            look(page, entries, found, moving=True)
        if page.inner_text("#play") == "Pause":
            page.keyboard.press(" ")
            look(page, entries, found, moving=True)
        page.wait_for_function(STILL)
        found = found._replace(still=found.still + look(page, entries, found, moving=False))
    return found


def look(page: Page, entries: list[IndexedSegment], found: Wandered, *, moving: bool) -> int:
    """Look at every tile once, and keep what is wrong; how many show a picture."""
    pictures = 0
    for tile in tiles(page):
        problem = lies(tile, entries, moving=moving)
        found.wrong.extend([problem] if problem else ())
        clock_ms = strip_ms(tile["strip"])
        says = re.match(r"Frame (\d+) ", tile["caption"])
        if not tile["why"] and clock_ms is not None and says:
            pictures += 1
            if moving:
                found.late[frame_at(clock_ms, tile["camera"], entries)[0] - int(says[1])] += 1
    return pictures


def to(page: Page, time_us: int) -> None:
    page.evaluate("(time) => { location.hash = ''; location.hash = `time=${time}`; }", time_us)


def test_a_tile_says_what_its_picture_shows(page: Page, screened: Screened) -> None:
    assert wander(page, screened, FEW, seed=3).wrong == []


@pytest.mark.parametrize("seed", range(25))
def test_a_tile_says_what_its_picture_shows_in_a_thousand_moves(
    page: Page, screened: Screened, seed: int
) -> None:
    found = wander(page, screened, EACH, seed)
    print(seed, dict(found.moves), found.still, dict(found.late))  # noqa: T201 - shown by -s
    assert found.wrong == []


SLOW_SEEKS = """
() => {
  HTMLVideoElement.prototype.requestVideoFrameCallback = () => 0;
  Object.defineProperty(HTMLMediaElement.prototype, "seeking", { get: () => true });
}
"""
"""A browser that takes long to seek, and reports no picture, as if it was there before."""


def test_a_picture_is_settled_though_its_seek_took_long_and_nothing_new_was_reported(
    screened: Screened, browser: Browser
) -> None:
    with screened.page(browser) as opened:
        opened.add_init_script(f"({SLOW_SEEKS.strip()})()")
        opened.goto(screened.url + screened.round_path)
        opened.wait_for_function(STILL)
        assert opened.locator('.view[data-settled="yes"]').count() > 0


LIES = {
    "the fact wherever the playhead is": ("tile.js", (
        ("const its = !fact.sha", "const its = true || !fact.sha"),
        ("this.#fact = sight === undefined", "if (sight) this.#fact = false"),
    )),
    "the moment asked for": ("camera.js", (
        ("slot.presented = frameOf(index.pts, told.mediaTime)",
         "slot.presented = Math.min(index.pts.length - 1, this.#wanted?.frame ?? 0)"),
    )),
    "the picture before, once it plays": ("camera.js", (
        ("this.#wanted = { sha, frame: slot.presented }",
         "slot.presented = Math.max(0, slot.presented - 1)"),
    )),
}  # fmt: skip
"""Programs whose caption is of something else than the picture: what of a script they replace."""


@pytest.mark.parametrize("of", LIES)
def test_a_caption_of_anything_else_is_found_untrue(
    screened: Screened, browser: Browser, of: str
) -> None:
    """The negative control."""
    script, changes = LIES[of]

    def changed(route: Route) -> None:
        told = route.fetch()
        body = told.text()
        for ours, theirs in changes:
            assert ours in body
            body = body.replace(ours, theirs)
        route.fulfill(response=told, body=body)

    with screened.page(browser) as opened:
        opened.route(f"**/static/{script}*", changed)
        open_round(opened, screened)
        assert wander(opened, screened, FEW, seed=3).wrong
