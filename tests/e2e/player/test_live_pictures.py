"""Live pictures in Chromium: they come, go on, come again after a break, and go 30 s back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from replay.footage.live import cameras as live
from tests.accessible import faults, fits, phone_faults
from tests.e2e.browser.test_screen_every_page import Visited, key_faults
from tests.e2e.browser.test_screen_find import opened
from tests.footage.rtsp_server import PASSWORD, USER, Camera, Served, camera, film, serving
from tests.footage.shown_strip import read_strip
from tests.integration.live.test_web_live import CAMERA, TABLE, filmed
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Site
    from tests.footage.rtsp_server import Talk

pytestmark = pytest.mark.long

PATH = f"/live/table?property=hollywood&table={TABLE}"
WHOLE = Camera(film(300), asks=True)


@contextmanager
def floor(scenes: Scenes, home: Path, talk: Talk) -> Iterator[tuple[Site, Served]]:
    """The floor, with the live picture of one camera that talks so."""
    with serving(talk) as recorder:
        url = recorder.url.replace("//", f"//{USER}:{PASSWORD}@")
        with filmed(scenes, home, url) as site:
            yield site, recorder


def shown_ms(page: Page) -> int:
    """The clock in the live picture that is seen; -1: there is none."""
    if not page.evaluate("document.querySelector('.picture video')?.videoWidth ?? 0"):
        return -1
    code = read_strip(page, CAMERA)
    return -1 if code is None else code.clock_ms


def goes_on(page: Page) -> None:
    """Wait until the picture changed twice."""
    seen: set[int] = set()
    until(lambda: seen.add(shown_ms(page)) or len(seen - {-1}) > 2)


def test_a_table_s_picture_goes_on_while_the_floor_is_refreshed(
    scenes: Scenes, browser: Browser, tmp_path: Path
) -> None:
    with (
        floor(scenes, tmp_path, camera(WHOLE)) as (site, recorder),
        opened(browser, site, "surveillance") as page,
    ):
        page.goto(f"{site.url}/live")
        tile = page.locator(".table", has_text=TABLE)
        expect(tile.locator(".says")).to_contain_text("s late")
        goes_on(page)
        expect(tile).to_contain_text("wagered")
        page.evaluate("document.querySelector('.picture video').dataset.first = 'yes'")
        page.evaluate("delete document.getElementById('floor').dataset.shown")
        with page.expect_response(lambda answer: answer.url.endswith("/live")):
            pass  # the floor is replaced
        until(lambda: page.evaluate("'shown' in document.getElementById('floor').dataset"))
        assert page.evaluate("document.querySelector('.picture video').dataset.first") == "yes"
        assert not page.evaluate("document.querySelector('.picture video').paused")
        goes_on(page)
        page.get_by_role("button", name="Pictures").click()
        expect(page.locator(".picture video")).to_have_count(0)
        page.get_by_role("button", name="Pictures").click()
        goes_on(page)
        assert len(recorder.connections) == 1, "one connection for all that is watched"
        assert key_faults(page, Visited("/live", "#pause")) == []
        assert faults(page) == []
        assert phone_faults(page) == []


def test_a_broken_picture_says_why_and_comes_again(
    scenes: Scenes, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "AGAIN_S", (4.0,))
    behaves = camera(lambda nth: WHOLE._replace(frames=60 if nth == 0 else None))
    with (
        floor(scenes, tmp_path, behaves) as (site, recorder),
        opened(browser, site, "surveillance") as page,
    ):
        page.goto(f"{site.url}{PATH}")
        goes_on(page)
        expect(page.locator(".says")).to_have_text("No picture: it closed the connection.")
        expect(page.locator(".says")).to_contain_text("s late")
        assert len(recorder.connections) == 2
        goes_on(page)


def test_30_s_back_plays_what_is_kept_and_live_comes_back(
    scenes: Scenes, browser: Browser, tmp_path: Path
) -> None:
    with (
        floor(scenes, tmp_path, camera(WHOLE)) as (site, _),
        opened(browser, site, "surveillance", scheme="dark") as page,
    ):
        page.goto(f"{site.url}{PATH}")
        goes_on(page)
        before = shown_ms(page)
        until(lambda: shown_ms(page) > before + 3_000)
        now = shown_ms(page)
        page.get_by_role("button", name="30 s back").click()
        page.wait_for_url("**&back=30")
        expect(page.locator(".says")).to_contain_text("s back")
        until(lambda: shown_ms(page) >= 0)
        assert shown_ms(page) < now, "what was seen before is seen again"
        goes_on(page)
        expect(page.get_by_role("heading", name="Money of the round")).to_be_visible()
        assert faults(page) == []
        assert fits(page)
        assert key_faults(page, Visited("/live/table", "#go-back")) == []
        page.get_by_role("button", name="Live", exact=True).click()
        expect(page.locator(".says")).to_contain_text("s late")
        goes_on(page)
        page.get_by_role("button", name="Pause").click()
        assert page.evaluate("document.querySelector('.picture video').paused")
        assert phone_faults(page) == []


def test_a_camera_that_refuses_takes_one_line(
    scenes: Scenes, browser: Browser, tmp_path: Path
) -> None:
    with serving(camera(WHOLE)) as recorder:
        url = recorder.url.replace("//", f"//{USER}:wrong@")
        with (
            filmed(scenes, tmp_path, url) as site,
            opened(browser, site, "surveillance") as page,
        ):
            page.goto(f"{site.url}/live")
            says = page.locator(".table", has_text=TABLE).locator(".says")
            expect(says).to_have_text("No picture: it refuses the user or the password.")
            expect(page.locator(".picture video")).to_be_hidden()
            assert faults(page) == []
