"""Pages of finance in Chromium, on a wide screen and a telephone: axe finds nothing at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from replay.recording.plain_papers import FORMS
from tests.accessible import faults, fits
from tests.e2e.browser.test_screen_find import opened
from tests.scenes.coupons import boxed, check, distributed, issued
from tests.scenes.coupons import received as delivered
from tests.scenes.table_days import DAY, count, day_lines, fact, next_day, slip
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

    from tests.e2e.browser.test_screen_find import Scheme
    from tests.fixtures.web import Site

SIZES: tuple[ViewportSize, ...] = ({"width": 1920, "height": 1080}, {"width": 390, "height": 844})
BOUGHT = fact("cash_bought_in", 5, position=1, amount=10_000)
OF = {"source": BOUGHT["source"], "id": BOUGHT["id"]}
WHY = {"because": "Misread.", "by": "F-1", "second": "S-1"}
CORRECTED = fact(
    "fact_corrected", 59, "office", of=OF, data={"position": 1, "amount": 12_500}, **WHY
)
LINES = day_lines(
    BOUGHT,
    slip("fill", "requested", "F-9", 6),
    slip("fill", "dispatched", "F-9", 7),
    count(56, currency={"10000": 1}, counter_checks=[{"check": "K-09", "amount": 500}]),
    count(57, 2, currency={"10000": 2}),
    closer=480_000,
)  # fmt: skip
PAPERS = (delivered(), issued(), distributed(), boxed(7, 9), check("K-01", 20_000))
CUT_CAPTIONS = """() => [...document.querySelectorAll("table > caption")].filter(each => {
    const box = each.closest(".tablebox");
    return box && each.offsetWidth > box.clientWidth;
}).map(each => each.textContent)"""
PAGES = {
    "finance": (
        *("/approvals", "{request}"),
        *("/win", f"/win?gaming_day={DAY}&table=CC-07", "/win/charts", "/win/coupons", "/drop"),
        f"/win/fact?source={OF['source']}&id={OF['id']}",
        *(f"/entry/forms/{form.fact}" for form in FORMS if form.role == "finance"),
    ),
    "pit": (
        *("/entry", "/entry/inventories", "/entry/slips/new?kind=fill"),
        *(f"/entry/forms/{form.fact}" for form in FORMS if form.role == "pit"),
    ),
    "cage": (
        *("/entry", "/entry/slips/p/fill/F-9", f"/entry/boxes/p/CC-07/{DAY}/B1"),
        *(f"/entry/forms/{form.fact}" for form in FORMS if form.role == "cage"),
    ),
    "count": ("/entry", f"/entry/boxes/p/CC-07/{DAY}/B1"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page_of_finance(
    browser: Browser, staffed: Site, scheme: Scheme
) -> None:
    told = [*LINES, *next_day(*LINES), *PAPERS, CORRECTED]
    staffed.take_in([received(json.dumps(each).encode()) for each in told])
    staffed.add("other", "finance")
    other = staffed.browser("other")
    form = {"csrf": other.csrf, "property": "p", "gaming_day": DAY, "because": "Month."}
    request = other.post("/win", data=form).headers["Location"]
    found = {}
    for name, paths in PAGES.items():
        with opened(browser, staffed, name, scheme=scheme) as page:
            for size in SIZES:
                page.set_viewport_size(size)
                for path in paths:
                    page.goto(f"{staffed.url}{path.format(request=request)}")
                    for each in page.locator("main details").all():
                        each.evaluate("each => { each.open = true }")
                    if (wrong := faults(page)) or not fits(page):
                        found[path, size["width"]] = wrong or ["does not fit"]
                    if size["width"] < 760 and (cut := page.evaluate(CUT_CAPTIONS)):
                        found[path, size["width"]] = cut
    assert found == {}
