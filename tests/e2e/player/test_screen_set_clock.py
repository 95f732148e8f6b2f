"""The round page in Chromium beside two cameras whose clocks were set while they filmed.

A picture names itself by its strip, thirty a second, whatever the clock said. The frame on both
sides must be the one taken then, and the page must say that the clock was set.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from ledger.facts import CameraMapped, CameraUnmapped, ClockChecked, SegmentRecorded
from ledger.record import wire
from ledger.values import format_time, parse_time
from replay.cameras.clocks import to_camera
from replay.cameras.coverage import coverage
from replay.footage.decoding.timecode import (
    STRIP_HEIGHT,
    STRIP_WIDTH,
    Timecode,
    read_timecode,
)
from replay.footage.library.adding import FootageDetails, add
from tests.footage.video_kinds import KINDS, decoded, write
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

    from tests.fixtures.screen import Screened

pytestmark = pytest.mark.long

S, MS = 1_000_000, 1_000
HALF = 90  # pictures before the clock was set, and as many after it
SET_US = {"SET-BACK": -2 * S, "SET-ON": 2 * S}
"""By how much each camera's clock was set."""

AXIS = """
() => {
  const svg = document.querySelector("#timeline svg"), box = svg.getBoundingClientRect();
  const { from, to, gutter } = svg.dataset, width = svg.viewBox.baseVal.width;
  const scale = box.width / width, left = box.left + gutter * scale;
  return { from: +from, span: to - from, left, across: (width - gutter - 8) * scale,
           middle: box.top + box.height / 2 };
}
"""
SETTLED = """
(camera) => document.querySelector(`[data-camera="${camera}"]`).dataset.settled === "yes"
"""
STRIP = """
([camera, width, height]) => {
  const video = document.querySelector(`[data-camera="${camera}"] video:not([hidden])`);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d"), top = video.videoHeight - height;
  context.drawImage(video, 0, top, width, height, 0, 0, width, height);
  return Array.from(context.getImageData(0, 0, width, height).data);
}
"""
MAPPED = """
async ([camera, times]) => {
  const { along, pieceAt } = await import("/static/camera_time.js");
  const told = JSON.parse(document.getElementById("round-data").textContent);
  const { clock } = told.cameras.find((each) => each.name === camera);
  return times.map((time) => along(pieceAt(clock, time).line, time));
}
"""


class Filmed(NamedTuple):
    """A round that the two cameras filmed. set_us: when their clocks were set, by the reference."""

    floor: Screened
    path: str
    set_us: int
    facts: list[wire.Fact]

    def due(self, time_us: float) -> int:
        """The picture of an instant: the first that was taken at or after it, before the set."""
        number = -int(-((time_us - self.set_us) * 30 / S) // 1) + HALF
        return min(number, HALF - 1) if time_us <= self.set_us else number


@pytest.fixture(scope="module")
def filmed(screened: Screened, tmp_path_factory: pytest.TempPathFactory) -> Filmed:
    folder = tmp_path_factory.mktemp("set-clock")
    of = screened.cli("rounds", "--json").json
    tables = {each["round"].rpartition(":")[2].partition("/")[0] for each in of}
    (table,) = tables - {screened.subject.partition("/")[0]}
    other = [each for each in of if f"{table}/" in each["round"]]
    round_ = other[len(other) // 2]
    set_us = (parse_time(round_["began"]) or 0) // S * S
    facts = [each for name in SET_US for each in shot(screened, folder, name, table, set_us)]
    lines = [
        wire.encode(body, "/hollywood/surveillance/set-clock", f"{name}-{at}", at)
        for name, at, body in facts
    ]
    (folder / "told.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = screened.cli("ingest", folder / "told.jsonl")
    assert done.code == 0, done.err
    path = f"/rounds/hollywood/{round_['round'].rpartition(':')[2]}"
    with screened.client("maria") as client:
        until(lambda: all(f'data-camera="{name}"' in client.get(path).text for name in SET_US))
    told = [wire.Fact(body, "/hollywood/surveillance/x", str(n), at, None, None, None, None)
            for n, (_, at, body) in enumerate(facts)]  # fmt: skip
    return Filmed(screened, path, set_us, told)


def shot(
    floor: Screened, folder: Path, name: str, table: str, set_us: int
) -> Iterator[tuple[str, int, Any]]:
    """Film 3 s on either side of an instant, take it in, and tell of it as a recorder does."""
    on: dict[str, Any] = {"camera": name, "table": table, "kind": "stationary", "covers": ["table"]}
    yield f"map-{name}", set_us - 30 * S, CameraMapped(**on)
    yield f"unmap-{name}", set_us + 30 * S, CameraUnmapped(**on)
    for part, start_us in enumerate((set_us - 3 * S, set_us + SET_US[name])):
        path = folder / f"{name}-{part}.mp4"
        its: dict[str, Any] = {
            "start_ms": start_us // MS,
            "first": part * HALF,
            "metadata": {"title": name},
        }
        write(path, KINDS["gop60"], HALF, **its)
        (added,) = add(floor.library, [path], FootageDetails("hollywood", name, start_us))
        assert added.entry, added.problem
        yield (
            f"segment-{name}",
            set_us + part * 3 * S + 50 * MS,
            SegmentRecorded(
                camera=name, path=f"{name}/{path.name}", sha256=added.entry.sha256,
                start=format_time(start_us), frames=HALF, duration_us=added.entry.duration_us,
            ),
        )  # fmt: skip
    for at_us, ahead_us in ((set_us - 100 * MS, 0), (set_us + 100 * MS, SET_US[name])):
        yield (
            f"check-{name}",
            at_us,
            ClockChecked(
                camera=name, camera_time=format_time(at_us + ahead_us),
                reference_time=format_time(at_us), reference="ntp", uncertainty_ms=1,
            ),
        )  # fmt: skip


@pytest.fixture(scope="module")
def page(filmed: Filmed, browser: Browser) -> Iterator[Page]:
    with filmed.floor.page(browser) as opened:
        opened.set_viewport_size({"width": 1280, "height": 2400})  # all in sight
        opened.goto(filmed.floor.url + filmed.path)
        opened.wait_for_selector("html[data-ready=yes]")
        yield opened


def pointed(page: Page, time_us: int) -> float:
    """Point at an instant on the timeline; the one that was hit, microseconds."""
    axis = page.evaluate(AXIS)
    x = round(axis["left"] + (time_us - axis["from"]) / axis["span"] * axis["across"])
    page.mouse.click(x, axis["middle"])
    return float(axis["from"] + (x - axis["left"]) / axis["across"] * axis["span"])


def shown(page: Page, camera: str) -> Timecode:
    """What the picture that stands now says of itself."""
    page.wait_for_function(SETTLED, arg=camera)
    octets = page.evaluate(STRIP, [camera, STRIP_WIDTH, STRIP_HEIGHT])
    rgba = np.array(octets, dtype=np.uint8).reshape(STRIP_HEIGHT, STRIP_WIDTH, 4)
    code = read_timecode(rgba[:, :, :3])
    assert code
    return code


def doubt(page: Page, camera: str) -> str:
    return page.locator(f'[data-camera="{camera}"] .doubtful').inner_text()


def test_on_both_sides_of_a_set_clock_the_picture_taken_then_is_shown(
    page: Page, filmed: Filmed
) -> None:
    for off_us in (-2_500 * MS, -1_000 * MS, -300 * MS, 300 * MS, 1_000 * MS, 2_500 * MS):
        hit = pointed(page, filmed.set_us + off_us)
        for camera in SET_US:
            assert shown(page, camera).capture == filmed.due(hit), (camera, off_us)


def test_what_a_set_clock_showed_twice_or_never_is_said_beside_the_picture(
    page: Page, filmed: Filmed
) -> None:
    pointed(page, filmed.set_us - 1_500 * MS)
    shown(page, "SET-BACK")
    said = page.locator('[data-camera="SET-BACK"] figcaption').inner_text()
    assert said.count("set back by 2.000 s") == 1
    assert "up to about" in said
    assert doubt(page, "SET-ON") == ""
    pointed(page, filmed.set_us - 2_700 * MS)
    shown(page, "SET-BACK")
    assert doubt(page, "SET-BACK") == ""
    with filmed.floor.client("maria") as maria:
        assert "it never showed the 2.000 s after about" in maria.get(filmed.path).text


def test_a_step_by_one_frame_goes_over_a_set_clock(page: Page, filmed: Filmed) -> None:
    for camera in SET_US:
        page.locator(f'[data-camera="{camera}"] .screen').click()
        pointed(page, filmed.set_us - 150 * MS)
        while shown(page, camera).capture < HALF - 1:
            before = shown(page, camera).capture
            page.keyboard.press(".")
            page.wait_for_function(
                "([camera, was]) => { const told = document.querySelector("
                "`[data-camera='${camera}']`).dataset; return told.settled === 'yes'"
                " && told.frame === String(was); }",
                arg=[camera, before + 1],
            )
        page.keyboard.press(".")
        page.wait_for_function(
            "(camera) => { const told = document.querySelector("
            "`[data-camera='${camera}']`).dataset; return told.settled === 'yes'"
            " && told.frame === '0'; }",
            arg=camera,
        )
        assert shown(page, camera).capture == HALF


def test_a_player_that_goes_by_both_ends_alone_shows_other_pictures_or_none(
    filmed: Filmed, browser: Browser
) -> None:
    """The negative control: the clock's step is spread over the whole round."""
    by_pieces = "return clock.find((piece) => time < piece.to) ?? clock.at(-1);"
    by_ends = "return { ...clock[0], line: [clock[0].line[0], clock.at(-1).line.at(-1)] };"

    def spread(route: Route) -> None:
        told = route.fetch()
        assert by_pieces in told.text()
        route.fulfill(response=told, body=told.text().replace(by_pieces, by_ends))

    with filmed.floor.page(browser) as opened:
        opened.route("**/static/camera_time.js*", spread)
        opened.set_viewport_size({"width": 1280, "height": 2400})
        opened.goto(filmed.floor.url + filmed.path)
        opened.wait_for_selector("html[data-ready=yes]")
        wrong = 0
        for off_us in (-1_000 * MS, 1_000 * MS):
            hit = pointed(opened, filmed.set_us + off_us)
            for camera in SET_US:
                opened.wait_for_function(
                    "(camera) => ['yes', 'none'].includes(document.querySelector("
                    "`[data-camera='${camera}']`).dataset.settled)",
                    arg=camera,
                )
                at = opened.locator(f'[data-camera="{camera}"]')
                there = at.get_attribute("data-settled") == "yes"
                wrong += not there or shown(opened, camera).capture != filmed.due(hit)
        assert wrong == 2 * len(SET_US)


def test_the_players_mapping_is_the_ledgers(page: Page, filmed: Filmed) -> None:
    times = [filmed.set_us + off * 37 * MS for off in range(-400, 400)]
    covered = coverage(filmed.facts)
    for camera in SET_US:
        clock = covered.cameras["hollywood", camera].clock
        assert clock
        ours = [to_camera(clock, each).time_us for each in times]
        theirs = page.evaluate(MAPPED, [camera, times])
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) <= 1


def test_a_clip_over_a_set_clock_has_a_file_for_each_piece_and_says_so(
    filmed: Filmed, tmp_path: Path
) -> None:
    with filmed.floor.client("maria") as maria:
        said = maria.get(filmed.path).text
        asked = {
            "csrf": said.split('name="csrf" value="')[1].split('"')[0],
            "round": said.split('name="round" value="')[1].split('"')[0],
            "from_us": filmed.set_us - 2 * S,
            "to_us": filmed.set_us + 2 * S,
            "because": "across the set clock",
            "camera": ["SET-BACK"],
        }
        answer = maria.post("/clips", data=asked)
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as bundle:
        bundle.extractall(tmp_path)
        told = json.loads(bundle.read("clips.json"))["clips"]
    paths = [each["clip"]["path"] for each in told]
    assert paths == ["SET-BACK-1of2.mp4", "SET-BACK-2of2.mp4"]
    seen = set()
    for number, its in enumerate(told, 1):
        assert (its["piece"]["number"], its["piece"]["of"]) == (number, 2)
        assert "set back by 2.000 s" in its["piece"]["says"]
        seen |= {code.capture for _, code in decoded(tmp_path / its["clip"]["path"]) if code}
    assert seen >= set(range(HALF - 60, HALF + 60))
    exported = [e for e in filmed.floor.told("footage_exported.v1") if e["camera"] == "SET-BACK"]
    assert len(exported) == 2
