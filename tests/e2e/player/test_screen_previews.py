"""Many cameras run as previews, an enlarged one whole, and each tile names its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg import conninfo

from infra.postgres.connection import NAME
from infra.postgres.server.embedded import embedded
from ledger.facts import CameraMapped
from ledger.record import wire
from ledger.values import format_time, parse_time
from replay.footage.clips.clips import clip
from replay.footage.clips.previews import whole
from tests.e2e.player.test_screen_caption import KEEP_REPORTED, STILL, lies, tiles
from tests.fixtures.cli import Cli, environ
from tests.fixtures.screen import Screened, serving
from tests.footage.video_kinds import KINDS, write
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.long

S = 1_000_000
CAMERAS, SEGMENTS, FRAMES = 6, 2, 600  # 20 s of each segment

PLAYED = """
() => [...document.querySelectorAll(".views .view")].map((view) => {
  const { src } = view.querySelector("video:not([hidden])");
  return src.endsWith("/preview.mp4") ? "preview" : "whole";
})
"""
"""What each tile shows."""

PRESENTED = """
() => [...document.querySelectorAll(".views .view")].every((view) => view.dataset.frame)
"""


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screened]:
    """A round that six cameras saw, from 5 s before it began."""
    folder = tmp_path_factory.mktemp("previews")
    cli = Cli(environ(folder / "home"))
    with embedded(folder / "home") as url:
        dealt = folder / "dealt"
        done(cli, "simulate", "--tables", "1", "--hours", "0.2", "--seed", "5", "--out", dealt)
        done(cli, "ingest", dealt / "feed.jsonl")
        round_ = cli("rounds", "--table", "CC-01", "--json").json[3]
        start_us = (parse_time(round_["began"]) or 0) // S * S - 5 * S
        names = [f"CAM-{number}" for number in range(CAMERAS)]
        facts = [mapped(name, start_us) for name in names]
        (folder / "cameras.jsonl").write_bytes(b"\n".join(facts) + b"\n")
        done(cli, "ingest", folder / "cameras.jsonl")
        for name in names:
            for number in range(SEGMENTS):
                path, at_us = folder / f"{name}-{number}.mp4", start_us + number * 20 * S
                write(
                    path, KINDS["gop60"], FRAMES, start_ms=at_us // 1000,
                    metadata={"title": path.name},
                )  # fmt: skip
                done(
                    cli, "footage", "add", path, "--camera", name, "--property", "hollywood",
                    "--start", format_time(at_us),
                )  # fmt: skip
        record = conninfo.make_conninfo(url, dbname=NAME)
        with serving(cli, folder, {"round": round_["round"]}, record) as floor:
            yield floor


def done(cli: Cli, *args: str | Path) -> None:
    ran = cli(*args)
    assert ran.code == 0, ran.err


def mapped(camera: str, start_us: int) -> bytes:
    body = CameraMapped(camera=camera, table="CC-01", kind="stationary", covers=["table"])
    return wire.encode(body, "/hollywood/surveillance/nvr", f"map-{camera}", start_us - 60 * S)


@pytest.fixture
def page(filmed: Screened, browser: Browser) -> Iterator[Page]:
    with filmed.page(browser) as opened:
        opened.set_viewport_size({"width": 1920, "height": 1080})
        opened.add_init_script(f"({KEEP_REPORTED.strip()})()")
        yield opened


def open_round(page: Page, filmed: Screened, after_us: int = 3 * S) -> None:
    """Open it at so long after its footage begins."""
    time_us = min(entry.start_us for entry in filmed.library.entries()) + after_us
    page.goto(f"{filmed.url}{filmed.round_path}#time={time_us}")
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_function(PRESENTED)
    page.wait_for_function(STILL)


def test_previews_are_made_when_many_cameras_play_and_the_whole_plays_until_then(
    page: Page, filmed: Screened
) -> None:
    open_round(page, filmed)
    assert set(page.evaluate(PLAYED)) == {"whole"}
    entry = filmed.library.entries("CAM-0")[0]
    with filmed.client("maria") as maria:
        until(lambda: maria.get(f"/footage/{entry.sha256}/preview").json()["state"] == "made")
        ranged = maria.get(f"/footage/{entry.sha256}/preview.mp4", headers={"Range": "bytes=0-99"})
        assert (ranged.status_code, ranged.headers["Content-Type"]) == (206, "video/mp4")
        assert (ranged.headers["Vary"], ranged.headers["X-Footage-Copy"]) == ("Cookie", "preview")
    with filmed.client("fred") as fred:
        for address in ("preview", "preview.mp4"):
            assert fred.get(f"/footage/{entry.sha256}/{address}").status_code == 403


def test_many_cameras_run_as_previews_and_stand_as_the_whole(page: Page, filmed: Screened) -> None:
    entries = filmed.library.entries()
    for entry in entries:
        clip(filmed.library, whole(entry), way="preview")
    open_round(page, filmed)
    page.keyboard.press("f")  # the first camera is enlarged
    page.keyboard.press("Space")
    expected = ["whole", *["preview"] * (CAMERAS - 1)]
    page.wait_for_function(f"(all) => String(({PLAYED.strip()})()) === String(all)", arg=expected)
    page.wait_for_function(PRESENTED)
    begun = page.inner_text("#clock")
    for _ in range(5):
        assert [each for tile in tiles(page) if (each := lies(tile, entries, moving=True))] == []
    assert "preview" in tiles(page)[1]["caption"]
    assert page.inner_text("#clock") != begun
    page.keyboard.press("2")  # another one is chosen, so it is the enlarged one
    expected[:2] = "preview", "whole"
    page.wait_for_function(f"(all) => String(({PLAYED.strip()})()) === String(all)", arg=expected)
    page.keyboard.press("Space")
    page.wait_for_function(STILL)
    assert set(page.evaluate(PLAYED)) == {"whole"}
    assert [each for tile in tiles(page) if (each := lies(tile, entries))] == []
    assert not any("preview" in tile["caption"] for tile in tiles(page))


def test_a_border_between_segments_and_a_step_are_of_the_picture_too(
    page: Page, filmed: Screened
) -> None:
    entries = filmed.library.entries()
    for entry in entries:
        clip(filmed.library, whole(entry), way="preview")
    open_round(page, filmed, 19 * S)
    page.keyboard.press("Space")
    wrong, seen = [], set()
    last = max(entries, key=lambda each: each.start_us).sha256
    while last not in seen:
        for tile in tiles(page):
            wrong += [lies(tile, entries, moving=True)]
            seen.add(tile["sha"])
    page.keyboard.press("Space")
    page.keyboard.press(",")
    page.wait_for_function(STILL)
    wrong += [lies(tile, entries) for tile in tiles(page)]
    assert [each for each in wrong if each] == []
