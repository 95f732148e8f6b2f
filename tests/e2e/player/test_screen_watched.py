"""What was watched of a round is kept in the browser under each camera's name, whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.web.page import static_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.fixtures.web import Site

NAMES = ["__proto__", "constructor", "CC-07-1"]
WATCH = """
async ([names, module]) => {
  const {Watched, watchedOf} = await import(module);
  const cameras = names.map((name) => Object.assign(new EventTarget(), {name}));
  new Watched("hollywood/CC-07/1", cameras);
  for (const camera of cameras) {
    for (const detail of [1000, 2000]) camera.dispatchEvent(new CustomEvent("presented", {detail}));
  }
  dispatchEvent(new Event("pagehide"));
  return [Object.entries(watchedOf("hollywood/CC-07/1")), {}.constructor === Object];
}
"""


@pytest.mark.long
def test_a_camera_may_have_the_name_of_what_every_object_has(
    browser: Browser, staffed: Site
) -> None:
    """What was watched is kept under the camera's name in an object of its own."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{staffed.url}/sign-in")
        kept, is_whole = page.evaluate(WATCH, [NAMES, static_file("watched.js")])
        assert sorted(kept) == sorted([name, [[1000, 2000]]] for name in NAMES)
        assert is_whole
    finally:
        context.close()
