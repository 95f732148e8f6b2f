"""A hand of Poker with two all-ins on the round's page: each pot by itself as one steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from ledger.record import wire
from tests.accessible import faults
from tests.e2e.browser.test_screen_find import opened
from tests.scenes.view_feeds import received
from tests.unit.games.card_room import SHORT
from tests.unit.games.rounds import facts_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.fixtures.web import Site

T0_US = 1_795_100_000_000_000
SUBJECT = "T-1/2026-11-20/231"
HAND = SHORT + "muck 1\nhand 2\nhand 3\nhand 4\npot 0 2 4800\npot 1 2 6000\npot 2 2 4000\ndone"


@pytest.mark.long
def test_pots_of_two_all_ins_are_drawn_and_listed_one_by_one_at_the_playhead(
    browser: Browser, staffed: Site
) -> None:
    facts = facts_of(HAND, "omaha_5_high", "2026-11-20")
    numbers = {getattr(fact.body, "decision", None): int(fact.id) for fact in facts[:21]}
    staffed.take_in(
        [
            received(wire.encode(each.body, each.source, each.id, T0_US + each.time_us, SUBJECT))
            for each in facts
        ]
    )
    all_in = numbers["call"]  # the last call of the flop
    with opened(browser, staffed, "surveillance") as page:
        page.goto(f"{staffed.url}/rounds/hollywood/{SUBJECT}?at={all_in}")
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        pots = page.get_by_role("list", name="Pots").get_by_role("listitem")
        three = [
            "Main pot $48, contested by positions 1, 2, 3 and 4.",
            "Side pot 1 $60, contested by positions 1, 2 and 4.",
            "Side pot 2 $40, contested by positions 1 and 2.",
        ]
        expect(pots).to_have_text(three)
        picture = page.locator("#table svg")
        for says in ("Main $48", "(1 2 3 4)", "Side 1 $60", "(1 2 4)", "Side 2 $40", "(1 2)"):
            expect(picture.get_by_text(says, exact=True)).to_be_visible()
        assert three[2] in picture.locator("desc").first.text_content()  # type: ignore[operator] # there is one
        page.keyboard.press("ArrowLeft")
        expect(pots).to_have_text(
            [
                "Main pot $38, contested by positions 1, 2, 3 and 4.",
                "Side pot 1 $80, contested by positions 1, 2 and 4.",
            ]
        )
        expect(picture.get_by_text("Side 1 $80", exact=True)).to_be_visible()
        expect(picture.get_by_text("Side 2 $40", exact=True)).to_have_count(0)
        assert faults(page) == []
    with opened(browser, staffed, "surveillance", scripts=False) as page:
        page.goto(f"{staffed.url}/rounds/hollywood/{SUBJECT}?at=34")
        assert page.locator("#pots li").all_inner_texts()[0].endswith("taken off the table.")
