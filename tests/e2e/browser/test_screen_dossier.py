"""From a round on the screen to a dossier that a stranger checks, in a browser."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Literal

import pytest

from replay.dossier.signing import keys as signing
from replay.dossier.signing.onvif import Export, sign
from tests.accessible import faults
from tests.footage.video_kinds import KINDS, WIDTH, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.fixtures.screen import Screened


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_dossier_is_made_from_its_round_and_checked_offline(
    screened: Screened, browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    screened.cli("keys", "signing", "make")
    key = screened.cli("keys", "signing", "show", "--json").json[0]["public"]
    with screened.page(browser, scheme=scheme) as page:
        page.goto(f"{screened.url}{screened.round_path}")
        page.click("text=Make a dossier of this round")
        assert faults(page) == []
        page.keyboard.type("The patron's lawyer asked.")  # the reason has the focus
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        download.value.save_as(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        (tmp_path / "verify.py").write_bytes(archive.read("verify.py"))
        assert "The patron's lawyer asked." in archive.read("custody.csv").decode()
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", "--key", key, "one.zip"],
        cwd=tmp_path, env={}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout


@pytest.mark.long
def test_the_report_reads_offline_in_a_browser_without_a_serious_fault(
    screened: Screened, browser: Browser, tmp_path: Path
) -> None:
    out = tmp_path / "dossier"
    made = screened.signed("dossier", f"hollywood:{screened.subject}", "--out", out)
    assert made.code == 0, made.err
    page = browser.new_context(offline=True).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((out / "report.html").as_uri())
    assert page.locator("figure img").count() > 0
    shown = page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert shown
    assert faults(page) == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.context.close()


@pytest.mark.long
def test_a_browser_plays_a_clip_that_is_signed_as_an_export(
    browser: Browser, tmp_path: Path
) -> None:
    write(tmp_path / "clip.mp4", KINDS["gop60"], frames=60)
    keys = signing.make(tmp_path / "keys", "Hollywood", dt.datetime(2026, 11, 20, tzinfo=dt.UTC))
    assert keys.clips
    export = Export("Round Ledger", "S-2001", 1_795_000_000_000_000, "CC-07-ovh", 0)
    sign(tmp_path / "clip.mp4", tmp_path / "signed.mp4", export, keys.clips)
    (tmp_path / "page.html").write_text("<video src=signed.mp4 muted></video>")
    page = browser.new_context().new_page()
    page.goto((tmp_path / "page.html").as_uri())
    played = page.evaluate(
        """async () => {
            const film = document.querySelector("video");
            const ended = new Promise((done) => film.addEventListener("ended", done));
            await film.play();
            await ended;
            return [film.error, film.videoWidth, Math.round(film.duration * 10)];
        }"""
    )
    assert played == [None, WIDTH, 20]
    page.context.close()
