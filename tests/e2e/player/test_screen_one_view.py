"""What an investigator works with lies in one view, whatever the number of cameras.

Findings, table, pictures, transport and timeline are in sight without scrolling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ledger.facts import CameraMapped, CameraUnmapped, SegmentRecorded
from ledger.record import wire
from ledger.values import format_time, parse_time
from replay.footage.library.adding import FootageDetails, add
from tests.accessible import faults
from tests.footage.video_kinds import KINDS, write
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.fixtures.screen import Screened

pytestmark = pytest.mark.long

S = 1_000_000
FRAMES = 45
COUNTS = (1, 2, 4, 9)
SIZES = ((1920, 1080), (1366, 768))

OUT_OF_SIGHT = """
(names) => names.filter((name) => {
  const parts = [...document.querySelectorAll(name)].filter((it) => it.checkVisibility());
  return parts.length === 0 || parts.some((it) => {
    const box = it.getBoundingClientRect();
    return box.width < 1 || box.height < 1 || box.top < 0 || box.left < 0
      || box.bottom > innerHeight + 1 || box.right > innerWidth + 1;
  });
})
"""
SMALLEST = """
() => Math.min(...[...document.querySelectorAll(".views .screen")].map((it) => it.offsetHeight))
"""
ROUND = ("#table svg", "#play", "#clock", "#timeline svg", ".views .screen", ".views .caption")
WATCH = ("#play", "#clock", "#timeline svg", ".views .screen", ".views .caption")


class Crowded(NamedTuple):
    """Rounds by the number of cameras that filmed them."""

    floor: Screened
    paths: dict[int, str]


@pytest.fixture(scope="module")
def crowded(screened: Screened, tmp_path_factory: pytest.TempPathFactory) -> Crowded:
    folder = tmp_path_factory.mktemp("crowded")
    of = screened.cli("rounds", "--json").json
    mispaid = screened.subject.partition("/")[0]
    other = sorted(
        (each for each in of if not name_of(each).startswith(f"{mispaid}/")),
        key=lambda it: it["began"],
    )
    rounds = dict(zip(COUNTS, (other[0], other[2], other[-3], other[-1]), strict=True))
    facts = [
        each for count, round_ in rounds.items() for each in filmed(screened, folder, count, round_)
    ]
    lines = [
        wire.encode(body, "/hollywood/surveillance/crowded", name, at) for name, at, body in facts
    ]
    (folder / "told.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = screened.cli("ingest", folder / "told.jsonl")
    assert done.code == 0, done.err
    paths = {count: f"/rounds/hollywood/{name_of(its)}" for count, its in rounds.items()}
    with screened.client("maria") as maria:
        for count, path in paths.items():
            until(
                lambda path=path, its=f'data-camera="{count}-CAM-{count - 1}"': (
                    its in maria.get(path).text
                )
            )
    return Crowded(screened, paths)


def name_of(round_: dict[str, Any]) -> str:
    return str(round_["round"].rpartition(":")[2])


def filmed(
    floor: Screened, folder: Path, count: int, round_: dict[str, Any]
) -> Iterator[tuple[str, int, Any]]:
    """So many cameras film the beginning of a round; one more has nothing if there are several."""
    table = name_of(round_).partition("/")[0]
    began_us = (parse_time(round_["began"]) or 0) // S * S
    ended_us = parse_time(round_["ended"]) or 0
    for number in range(count):
        name = f"{count}-CAM-{number}"
        on: dict[str, Any] = {
            "camera": name, "table": table, "kind": "stationary", "covers": ["table"]
        }  # fmt: skip
        yield f"map-{name}", began_us - S, CameraMapped(**on)
        yield f"unmap-{name}", ended_us + S, CameraUnmapped(**on)
        if count > 2 and number == count - 1:
            continue
        path = folder / f"{name}.mp4"
        write(
            path,
            KINDS["gop60"],
            FRAMES,
            start_ms=began_us // 1000,
            first=0,
            metadata={"title": name},
        )
        (added,) = add(floor.library, [path], FootageDetails("hollywood", name, began_us))
        assert added.entry, added.problem
        yield (
            f"segment-{name}",
            began_us + 2 * S,
            SegmentRecorded(
                camera=name, path=f"{name}/{path.name}", sha256=added.entry.sha256,
                start=format_time(began_us), frames=FRAMES, duration_us=added.entry.duration_us,
            ),
        )  # fmt: skip


@pytest.fixture(scope="module")
def page(crowded: Crowded, browser: Browser) -> Iterator[Page]:
    with crowded.floor.page(browser) as opened:
        yield opened


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_pictures_transport_and_timeline_lie_in_one_view(
    page: Page, crowded: Crowded, size: tuple[int, int], count: int
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    path = crowded.paths[count]
    for address, parts in (
        (f"{path}#fact=1", ROUND),
        (path.replace("/rounds/", "/watch/", 1), WATCH),
    ):
        page.goto(crowded.floor.url + address)
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_selector('.views [data-settled="yes"]')
        assert page.evaluate(OUT_OF_SIGHT, parts) == [], address
        assert page.evaluate(SMALLEST) >= 80, address
        assert page.evaluate("() => scrollY") == 0


def test_the_finding_lies_in_the_same_view(page: Page, crowded: Crowded) -> None:
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(crowded.floor.url + crowded.floor.round_path)
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_selector('.views [data-settled="yes"]')
        assert page.evaluate(OUT_OF_SIGHT, [".findings li", *ROUND]) == []


def test_a_camera_without_a_picture_takes_one_line(page: Page, crowded: Crowded) -> None:
    page.goto(crowded.floor.url + crowded.paths[9])
    page.wait_for_selector("html[data-ready=yes]")
    line = page.locator('.darks [data-camera="9-CAM-8"]')
    assert "No footage of this time" in line.inner_text()
    assert line.evaluate("(it) => it.offsetHeight") < 30


def test_a_dispute_is_raised_within_twelve_tabs_and_a_list_is_one_stop(
    page: Page, crowded: Crowded
) -> None:
    page.goto(crowded.floor.url + crowded.floor.round_path)
    page.wait_for_selector("html[data-ready=yes]")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Tab")
    reached = [page.evaluate("() => document.activeElement.innerText")]
    assert reached == ["Skip to content"]
    page.keyboard.press("Enter")
    while "Raise a dispute" not in reached[-1:]:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.innerText"))
        assert len(reached) <= 12, reached
    page.focus("#facts")
    inside = []
    while page.evaluate("() => document.activeElement.closest('#facts') !== null"):
        page.keyboard.press("Tab")
        inside.append(page.evaluate("() => document.activeElement.closest('#facts') !== null"))
    assert inside.count(True) <= 2, "only what belongs to the current fact"


def test_a_bookmark_and_the_fact_are_in_sight(page: Page, crowded: Crowded) -> None:
    page.goto(crowded.floor.url + crowded.floor.round_path)
    page.wait_for_selector("html[data-ready=yes]")
    page.keyboard.press("ArrowRight")
    number = page.inner_text("#at-number")
    assert page.inner_text("#now").startswith(f"Fact {number}. ")
    page.keyboard.press("b")
    assert page.evaluate(OUT_OF_SIGHT, ["#now", "#bookmark-form"]) == []


def test_the_timeline_is_the_one_slider(page: Page, crowded: Crowded) -> None:
    page.goto(crowded.floor.url + crowded.floor.round_path)
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("input[type=range]:visible").count() == 0
    slider = page.get_by_role("slider", name="Moment of the round")
    slider.focus()
    page.keyboard.press("End")
    last = slider.get_attribute("aria-valuemax")
    assert (slider.get_attribute("aria-valuenow"), page.inner_text("#at-number")) == (last, last)
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuenow") == "1"
    assert faults(page) == []
