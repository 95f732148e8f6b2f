"""The round page in Chromium: the frame shown is the frame meant, and the keyboard does it all.

The picture says of itself which frame it is, by the strip burned into it: the test reads the strip
from what Chromium shows on this very page.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.accessible import faults, fits
from tests.footage.shown_strip import read_strip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from replay.footage.library.index import IndexedSegment
    from tests.fixtures.screen import Screened

pytestmark = pytest.mark.long

CAMERA = "TDF-01-cam1"
EACH = 30

SETTLED = """
([camera, sha, frame]) => {
  const told = document.querySelector(`[data-camera="${camera}"]`).dataset;
  return told.settled === "yes" && told.sha === sha && told.frame === String(frame);
}
"""


WHERE = """(camera) => ({ ...document.querySelector(`[data-camera="${camera}"]`).dataset })"""

FOLLOWING = """
() => [...document.querySelectorAll(".view")].map((it) => [it.dataset.error, it.innerText])
"""

SEEK_BY_RATE = """
async ([camera, seconds]) => {
  const video = document.querySelector(`[data-camera="${camera}"] video:not([hidden])`);
  const sought = new Promise((done) => {
    video.addEventListener("seeked", done, { once: true });
  });
  const drawn = new Promise((done) => {
    video.requestVideoFrameCallback(done);
    setTimeout(done, 300);
  });
  video.currentTime = seconds;
  await sought;
  await drawn;
}
"""


@pytest.fixture(scope="module")
def page(screened: Screened, browser: Browser) -> Iterator[Page]:
    with screened.page(browser) as opened:
        yield opened


def open_round(page: Page, screened: Screened, at: int | None = None) -> None:
    where = f"{screened.round_path}?at={at}" if at else screened.round_path
    page.goto(screened.url + where)
    page.wait_for_selector("html[data-ready=yes]")


def strip_shown(page: Page, camera: str) -> int | None:
    """The camera's clock in the picture that is shown now, milliseconds."""
    code = read_strip(page, camera)
    return code.clock_ms if code else None


def clock_of(entry: IndexedSegment, frame: int) -> int:
    """What the strip of a frame must say, by the index."""
    return (entry.start_us + entry.times.pts_us[frame]) // 1000


def facts_of(page: Page) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = page.evaluate(
        "() => JSON.parse(document.getElementById('round-data').textContent).facts"
    )
    return told


def go_to_fact(page: Page, number: int) -> None:
    page.evaluate("(n) => document.querySelector(`.fact a[data-go='${n}']`).click()", number)
    page.wait_for_function(f"() => document.getElementById('at-number').textContent === '{number}'")


def wrong_facts(page: Page, screened: Screened, count: int, seed: int) -> tuple[int, int]:
    """Steps to random facts in any order; how many showed another frame, and how many were read."""
    entries = {entry.sha256: entry for entry in screened.library.entries()}
    seen = [
        (fact["n"], camera, fact["sights"][camera])
        for fact in facts_of(page)
        for camera in fact["sights"]
        if fact["sights"][camera]["frame"] is not None
    ]
    chance, wrong, last = random.Random(seed), 0, None  # noqa: S311 - repeatable
    for _ in range(count):
        number, camera, sight = chance.choice([each for each in seen if each[0] != last])
        last = number
        go_to_fact(page, number)
        page.wait_for_function(SETTLED, arg=[camera, sight["sha"], sight["frame"]])
        wrong += strip_shown(page, camera) != clock_of(entries[sight["sha"]], sight["frame"])
    return wrong, count


def wrong_frames(page: Page, screened: Screened, count: int, seed: int) -> int:
    """Steps by single frames from random facts, with the keyboard; how many were not the next."""
    entries = {entry.sha256: entry for entry in screened.library.entries()}
    seen = [fact for fact in facts_of(page) if fact["sights"][CAMERA]["frame"] is not None]
    chance, wrong = random.Random(seed), 0  # noqa: S311 - repeatable
    for _ in range(count // 5):
        fact = chance.choice(seen)
        sight = fact["sights"][CAMERA]
        go_to_fact(page, fact["n"])
        page.wait_for_function(SETTLED, arg=[CAMERA, sight["sha"], sight["frame"]])
        frame, sha = sight["frame"], sight["sha"]
        for _ in range(5):
            back = chance.random() < 0.5
            frame, sha = stepped(entries, sha, frame, -1 if back else 1)
            page.keyboard.press("," if back else ".")
            page.wait_for_function(SETTLED, arg=[CAMERA, sha, frame])
            wrong += strip_shown(page, CAMERA) != clock_of(entries[sha], frame)
    return wrong


def stepped(entries: dict[str, IndexedSegment], sha: str, frame: int, by: int) -> tuple[int, str]:
    """The frame one on or back, over the edges of segments."""
    its = sorted(
        (entry for entry in entries.values() if entry.camera == CAMERA),
        key=lambda entry: entry.start_us,
    )
    flat = [(n, entry.sha256) for entry in its for n in range(len(entry.times.pts_us))]
    return flat[flat.index((frame, sha)) + by]


def test_the_frame_shown_for_a_fact_is_the_one_the_index_names(
    page: Page, screened: Screened
) -> None:
    open_round(page, screened)
    assert wrong_facts(page, screened, EACH, seed=7) == (0, EACH)


def test_a_step_by_one_frame_shows_the_next_frame(page: Page, screened: Screened) -> None:
    open_round(page, screened)
    assert wrong_frames(page, screened, EACH, seed=11) == 0


@pytest.mark.parametrize("seed", range(10))
def test_hundreds_of_random_facts_and_frames_show_no_wrong_one(
    page: Page, screened: Screened, seed: int
) -> None:
    open_round(page, screened)
    assert wrong_facts(page, screened, EACH, seed) == (0, EACH)
    assert wrong_frames(page, screened, EACH, seed) == 0


def test_a_seek_to_where_a_frame_should_begin_by_its_rate_is_wrong_sometimes(
    page: Page, screened: Screened
) -> None:
    """The negative control: without the index, by the nominal rate, the same test finds errors."""
    open_round(page, screened)
    sight = next(
        fact["sights"][CAMERA]
        for fact in facts_of(page)
        if fact["sights"][CAMERA]["frame"] is not None
    )
    entry = screened.library.entry(sight["sha"])
    assert entry
    go_to_fact(page, next(f["n"] for f in facts_of(page) if f["sights"][CAMERA] == sight))
    page.wait_for_function(SETTLED, arg=[CAMERA, sight["sha"], sight["frame"]])
    rate = len(entry.times.pts_us) / (entry.duration_us / 1e6)
    wrong = 0
    for frame in range(0, len(entry.times.pts_us), 9):
        page.evaluate(
            SEEK_BY_RATE,
            [CAMERA, frame / rate],
        )
        wrong += strip_shown(page, CAMERA) != clock_of(entry, frame)
    assert wrong > 0


def test_the_table_the_list_and_the_address_follow_the_keyboard(
    page: Page, screened: Screened
) -> None:
    open_round(page, screened, at=5)
    picture = page.inner_html("#table")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.getElementById('at-number').textContent === '6'")
    page.wait_for_function(
        "(old) => document.getElementById('table').innerHTML !== old", arg=picture
    )
    assert page.locator('.fact[aria-current="step"] .n').inner_text() == "6"
    assert page.url.endswith("?at=6#fact=6")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.getElementById('at-number').textContent === '5'")
    assert "Fact 5." in page.locator("#now").inner_text()


def test_a_link_to_a_fact_opens_the_round_there_and_goes_there_in_an_open_one(
    page: Page, screened: Screened
) -> None:
    page.goto("about:blank")
    page.goto(f"{screened.url}{screened.round_path}#fact=7")
    page.wait_for_function("() => document.getElementById('at-number')?.textContent === '7'")
    page.evaluate("() => { location.hash = 'fact=3'; }")
    page.wait_for_function("() => document.getElementById('at-number').textContent === '3'")
    assert page.evaluate("() => scrollY") == 0


def test_shift_steps_by_phase_and_control_by_round(page: Page, screened: Screened) -> None:
    open_round(page, screened, at=1)
    phases = [fact["phase"] for fact in facts_of(page)]
    page.keyboard.press("Shift+ArrowRight")
    second = next(n for n, phase in enumerate(phases, 1) if phase != phases[0])
    page.wait_for_function(
        "(n) => document.getElementById('at-number').textContent === n", arg=str(second)
    )
    number = int(screened.subject.rpartition("/")[2])
    page.keyboard.press("Control+ArrowRight")
    page.wait_for_url(re.compile(rf"/{number + 1}\b"))
    page.wait_for_selector("html[data-ready=yes]")
    page.keyboard.press("Control+ArrowLeft")
    page.wait_for_url(re.compile(rf"/{number}\b"))


def test_a_letter_goes_on_to_the_next_settlement_at_each_press_and_back_with_shift(
    page: Page, screened: Screened
) -> None:
    open_round(page, screened, at=1)
    settles = [str(fact["n"]) for fact in facts_of(page) if fact["kind"] == "settlement"]
    assert len(settles) > 2
    went = []
    for key in ("s", "s", "s", "Shift+S", "Shift+S"):
        page.keyboard.press(key)
        went.append(page.inner_text("#at-number"))
    first, second, third = settles[:3]
    assert went == [first, second, third, second, first]
    page.keyboard.press("d")  # nobody decides at dice
    assert page.inner_text("#now") == "No decision after this fact."


def test_playing_keeps_two_cameras_within_a_tenth_of_a_second_of_the_playhead(
    page: Page, screened: Screened
) -> None:
    open_round(page, screened)
    facts = facts_of(page)
    shas = [fact["sights"][CAMERA]["sha"] for fact in facts]
    longest = max((sha for sha in shas if sha), key=shas.count)
    first = shas.index(longest) + 1
    go_to_fact(page, first)
    page.wait_for_timeout(500)
    page.keyboard.press(" ")
    page.wait_for_timeout(4000)
    views = page.evaluate(FOLLOWING)
    page.keyboard.press(" ")
    assert page.inner_text("#play") == "Play"
    assert len(views) == 2
    assert all(error is not None and abs(float(error)) < 0.1 for error, _ in views), views


def test_face_down_cards_stay_down_until_everything_is_shown(
    page: Page, screened: Screened
) -> None:
    open_round(page, screened, at=3)
    assert page.get_attribute("#view-known", "aria-current") == "true"
    page.click("#view-all")
    page.wait_for_function(
        "() => document.querySelector('#table desc').textContent.includes('Every recorded card')"
    )
    assert "view=all" in page.url
    page.click("#view-known")
    page.wait_for_function(
        "() => document.querySelector('#table desc').textContent.includes('as they lay')"
    )


def test_a_clip_is_marked_with_the_keyboard_and_downloaded(page: Page, screened: Screened) -> None:
    open_round(page, screened)
    seen = [f["n"] for f in facts_of(page) if f["sights"][CAMERA]["frame"] is not None]
    go_to_fact(page, seen[0])
    page.keyboard.press("[")
    go_to_fact(page, seen[-1])
    page.keyboard.press("]")
    page.fill("#clip-why", "the patron says that it was more")
    with page.expect_download() as waiting:
        page.click("#clip-go")
    assert waiting.value.suggested_filename.endswith(".zip")


def test_a_moment_is_come_back_to(page: Page, screened: Screened) -> None:
    open_round(page, screened, at=4)
    page.wait_for_function("() => document.getElementById('at-number').textContent === '4'")
    time = facts_of(page)[3]["t"]
    page.goto("about:blank")
    page.goto(f"{screened.url}{screened.round_path}#time={time}")  # as a case links to an instant
    page.wait_for_function("() => document.getElementById('at-number')?.textContent === '4'")


def test_keys_that_are_letters_can_be_turned_off_and_never_act_in_a_field(
    page: Page, screened: Screened
) -> None:
    open_round(page, screened, at=4)
    page.evaluate("() => sessionStorage.clear()")
    page.focus("#clip-why")
    page.keyboard.press("b")
    assert page.input_value("#clip-why") == "b"
    assert page.inner_text("#at-number") == "4"
    page.click("summary:text-is('Keys')")
    page.uncheck("#keys-on")
    page.keyboard.press("Escape")
    page.click("h1")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#at-number") == "4"
    page.check("#keys-on")
    page.click("h1")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.getElementById('at-number').textContent === '5'")


def test_every_control_is_reached_with_the_tabulator_alone(page: Page, screened: Screened) -> None:
    open_round(page, screened)
    page.evaluate("() => document.body.focus()")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.id"))
    assert {"view-known", "view-all", "play", "timeline", "facts"} <= reached


def test_the_footage_alone_is_stepped_by_frame_from_the_keyboard(
    page: Page, screened: Screened
) -> None:
    page.goto(screened.url + screened.round_path.replace("/rounds/", "/watch/", 1))
    page.wait_for_selector("html[data-ready=yes]")
    view = page.locator(f'[data-camera="{CAMERA}"][data-settled="yes"]')
    view.wait_for()
    told = page.evaluate(WHERE, CAMERA)
    entries = {entry.sha256: entry for entry in screened.library.entries()}
    for _ in range(3):
        frame, sha = stepped(entries, told["sha"], int(told["frame"]), 1)
        page.keyboard.press(".")
        page.wait_for_function(SETTLED, arg=[CAMERA, sha, frame])
        assert strip_shown(page, CAMERA) == clock_of(entries[sha], frame)
        told = {"sha": sha, "frame": frame}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(
    screened: Screened, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    with screened.page(browser, scheme=scheme) as opened:
        open_round(opened, screened)
        opened.wait_for_timeout(500)
        assert faults(opened) == []
        opened.goto(screened.url + screened.round_path.replace("/rounds/", "/watch/", 1))
        opened.wait_for_selector("html[data-ready=yes]")
        assert faults(opened) == []


@pytest.mark.parametrize("width", [1280, 2560])
def test_nothing_has_to_be_scrolled_to_on_an_old_workstation_or_on_a_wall(
    screened: Screened, browser: Browser, width: int
) -> None:
    rounds = screened.round_path
    of = f"hollywood:{screened.subject}"
    pages = (
        *("/", "/live", "/cases", f"/cases/new?round={of}", f"/dossiers/new?of={of}"),
        *(rounds, rounds.replace("/rounds/", "/watch/", 1)),
    )
    with screened.page(browser) as opened:
        opened.set_viewport_size({"width": width, "height": width * 9 // 16})
        for path in pages:
            opened.goto(screened.url + path)
            assert fits(opened), path


def test_without_scripts_the_page_lists_all_and_shows_table_and_exact_frame(
    screened: Screened, browser: Browser
) -> None:
    with screened.page(browser, scripts=False) as opened:
        opened.goto(screened.url + screened.round_path)
        shown = opened.locator('.fact[aria-current="step"]')
        assert shown.count() == 1
        picture = opened.locator(f'[data-camera="{CAMERA}"] img')
        assert picture.count() == 1
        assert picture.evaluate("(it) => it.naturalWidth") == 480
        opened.click("#view-all")
        assert "view=all" in opened.url
