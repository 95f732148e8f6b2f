"""How fast and which way the player runs, and how a picture is looked at."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.accessible import faults
from tests.footage.shown_strip import read_strip, strip_octets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.fixtures.screen import Screened

pytestmark = pytest.mark.long

CAMERA = "TDF-01-cam1"
FRAMES_GO_BACK = """
(camera) => new Promise((done) => {
  const figure = document.querySelector(`[data-camera="${camera}"]`), seen = [];
  const look = () => {
    const key = `${figure.dataset.sha} ${figure.dataset.presented}`;
    if (figure.dataset.presented && key !== seen.at(-1)?.key) {
      seen.push({ key, sha: figure.dataset.sha, frame: Number(figure.dataset.presented) });
    }
    if (seen.length >= 6) done(seen); else requestAnimationFrame(look);
  };
  look();
})
"""
LOOPED = """
() => new Promise((done) => {
  const line = document.querySelector("#timeline .playhead"), at = [];
  const look = () => {
    const x = Number(line.getAttribute("x1"));
    if (x !== at.at(-1)) at.push(x);
    const back = at.findIndex((each, n) => n > 0 && each < at[n - 1] - 1);
    if (back > 0) done({ highest: Math.max(...at), lowest: Math.min(...at.slice(back)) });
    else requestAnimationFrame(look);
  };
  look();
})
"""


@pytest.fixture
def page(screened: Screened, browser: Browser) -> Iterator[Page]:
    with screened.page(browser) as opened:
        opened.set_viewport_size({"width": 1920, "height": 1080})
        opened.goto(screened.url + screened.round_path)
        opened.wait_for_selector("html[data-ready=yes]")
        opened.wait_for_selector(f'[data-camera="{CAMERA}"][data-settled="yes"]')
        yield opened


def clock_ms(page: Page) -> int:
    """The playhead's time, in milliseconds of its hour."""
    minutes, seconds = page.inner_text("#clock").split()[0].split(":")[1:]
    return int(minutes) * 60_000 + round(float(seconds) * 1000)


def test_it_shuttles_both_ways_and_doubles(page: Page) -> None:
    page.keyboard.press("Shift+L")
    assert (page.inner_text("#play"), page.input_value("#speed")) == ("Pause", "1")
    for speed in ("2", "4", "8", "16", "16"):
        page.keyboard.press("Shift+L")
        assert page.input_value("#speed") == speed
    page.keyboard.press("Shift+J")
    assert page.input_value("#speed") == "1"
    assert page.get_attribute("#play-back", "aria-pressed") == "true"
    page.keyboard.press("Shift+J")
    assert page.input_value("#speed") == "2"
    page.keyboard.press("Shift+K")
    assert page.inner_text("#play") == "Play"
    stood = clock_ms(page)
    page.keyboard.press("Space")
    page.wait_for_function(
        "(was) => document.getElementById('clock').textContent !== was",
        arg=page.inner_text("#clock"),
    )
    assert page.get_attribute("#play-back", "aria-pressed") == "false"
    page.keyboard.press("Space")
    assert clock_ms(page) >= stood, "play goes forward again"


def test_backwards_shows_earlier_frames_and_the_caption_is_of_the_picture(page: Page) -> None:
    last = len(page.query_selector_all(".fact"))
    page.evaluate("(n) => document.querySelector(`.fact a[data-go='${n}']`).click()", last)
    page.wait_for_selector(f'[data-camera="{CAMERA}"][data-settled="yes"]')
    page.keyboard.press("Shift+J")
    seen: list[dict[str, Any]] = page.evaluate(FRAMES_GO_BACK, CAMERA)
    page.keyboard.press("Shift+K")
    pairs = list(pairwise(seen))
    assert all(b["frame"] < a["frame"] for a, b in pairs if a["sha"] == b["sha"]), seen
    page.wait_for_selector(f'[data-camera="{CAMERA}"][data-settled="yes"]')
    strip = read_strip(page, CAMERA)
    said = page.inner_text(f'[data-camera="{CAMERA}"] .caption')
    assert strip is not None
    assert f"{strip.clock_ms % 60_000 / 1000:06.3f}" in said


def test_a_loop_repeats_its_stretch_until_it_is_ended(page: Page) -> None:
    page.keyboard.press("[")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("]")
    page.keyboard.press("l")
    title = page.get_attribute("#loop", "title")
    assert title is not None
    assert title.startswith("Repeats from ")
    line = page.locator("#timeline .loop").get_attribute("d")
    assert line is not None
    begin, end = (float(each) for each in line.removeprefix("M").replace("H", " ").split()[::2])
    page.keyboard.press("Shift+L")
    page.keyboard.press("Shift+L")
    seen = page.evaluate(LOOPED)
    assert seen["lowest"] >= begin - 1
    assert seen["highest"] <= end + 1
    page.keyboard.press("l")
    assert page.locator("#timeline .loop").count() == 0
    assert page.get_attribute("#loop", "aria-pressed") == "false"


def test_findings_are_stepped_through(page: Page) -> None:
    page.keyboard.press("Home")
    page.evaluate("() => document.querySelector(\".fact a[data-go='1']\").click()")
    page.keyboard.press("n")
    assert page.locator(".fact.flagged[aria-current]").count() == 1
    page.keyboard.press("n")
    while page.inner_text("#now") != "No finding after this fact.":
        page.keyboard.press("n")


PLACED = """
(camera) => {
  const video = document.querySelector(`[data-camera="${camera}"] video:not([hidden])`);
  const at = video.getBoundingClientRect(), screen = video.parentElement.getBoundingClientRect();
  return [at.width / screen.width, (screen.left - at.left) / screen.width,
    (screen.top - at.top) / screen.height];
}
"""


def test_a_picture_is_enlarged_about_the_pointer_and_moved(page: Page) -> None:
    screen = page.locator(f'[data-camera="{CAMERA}"] .screen')
    box = screen.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.75)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"(camera) => ({PLACED.strip()})(camera)[0] > 2", arg=CAMERA)
    zoom, left, top = page.evaluate(PLACED, CAMERA)
    assert left == pytest.approx(0.25 * (zoom - 1), abs=0.02), "the point stays under the pointer"
    assert top == pytest.approx(0.75 * (zoom - 1), abs=0.02)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.35, box["y"] + box["height"] * 0.75)
    page.mouse.up()
    _, moved, _ = page.evaluate(PLACED, CAMERA)
    assert moved == pytest.approx(left - 0.1, abs=0.02)
    assert (
        page.inner_text(f'[data-camera="{CAMERA}"] .lens-note')
        == f"{zoom:.1f}\N{MULTIPLICATION SIGN}"
    )
    page.keyboard.press("0")
    assert page.evaluate(PLACED, CAMERA) == pytest.approx([1, 0, 0], abs=0.01)
    page.keyboard.press("+")
    assert page.evaluate(PLACED, CAMERA)[0] == pytest.approx(1.5, abs=0.01)
    assert page.evaluate(PLACED, "TDF-01-cam2")[0] == 1, "each camera by itself"


def test_tones_are_for_the_eye_alone(page: Page) -> None:
    before = strip_octets(page, CAMERA)
    page.click("summary:text-is('Picture')")
    for name in ("brightness", "contrast", "gamma"):
        page.locator(f"#tones [name={name}]").fill("1.5")
    video = page.locator(f'[data-camera="{CAMERA}"] video:not([hidden])')
    filters = video.evaluate("(it) => getComputedStyle(it).filter")
    assert "brightness(1.5) contrast(1.5) url(" in filters
    said = page.inner_text(f'[data-camera="{CAMERA}"] .lens-note')
    assert said == "brightness 1.5 · contrast 1.5 · gamma 1.5"
    assert strip_octets(page, CAMERA) == before
    assert faults(page) == []
    page.click("#tones-plain")
    assert video.evaluate("(it) => getComputedStyle(it).filter") == "none"
    assert page.locator(f'[data-camera="{CAMERA}"] .lens-note').is_hidden()


def test_the_chosen_picture_is_enlarged_and_another_can_be_chosen(page: Page) -> None:
    width = "(camera) => document.querySelector(`[data-camera='${camera}'] .screen`).offsetWidth"
    small = page.evaluate(width, CAMERA)
    page.keyboard.press("f")
    assert page.evaluate(width, CAMERA) > 2 * small
    page.keyboard.press("2")
    assert page.evaluate(width, "TDF-01-cam2") > 2 * small
    assert page.evaluate(width, CAMERA) < small
    assert faults(page) == []
    page.keyboard.press("f")
    assert page.evaluate(width, CAMERA) == small


def test_who_watches_before_judging_has_the_same(page: Page, screened: Screened) -> None:
    page.goto(screened.url + screened.round_path.replace("/rounds/", "/watch/", 1))
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector(f'[data-camera="{CAMERA}"][data-settled="yes"]')
    page.keyboard.press("l")
    title = page.get_attribute("#loop", "title")
    assert title is not None
    assert title.startswith("Repeats from ")
    page.keyboard.press("Shift+J")
    assert page.get_attribute("#play-back", "aria-pressed") == "true"
    page.keyboard.press("f")
    assert page.locator(".views.enlarged").count() == 1
    for key in ("b", "n", "d", "[", "Control+ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator("#timeline .loop").count() == 1
