"""A real browser for the pages: the system's Chromium, driven by Playwright, one a test file.

`browser` is the process; a test opens a context of its own, which has no cookie of another's. It
ends with its file, since Playwright leaves an event loop running in the thread it was started in.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

expect.set_options(timeout=30_000)  # a machine that does other things too is not a broken page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium on the path")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has none to put it in
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield started
        started.close()
