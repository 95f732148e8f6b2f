"""Alerts on the page Live in Chromium: they come without a reload, and go when they are over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
import pytest
from playwright.sync_api import expect

from consumers.alerts.alert import Alert
from consumers.alerts.kinds import KINDS
from consumers.rounds.search import latest_findings
from infra.postgres.alerts import Alerts
from infra.postgres.connection import Database
from ledger.facts import DealerAssigned, TableOpened
from ledger.record import wire
from replay.web.alert_watch import AlertNow
from replay.web.pages.alarms import alarms
from tests.accessible import faults, fits
from tests.e2e.browser.test_screen_find import opened
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.fixtures.web import opened_site
from tests.scenes.view_feeds import day, received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from ledger.facts import Body
    from tests.e2e.browser.test_screen_find import Scheme
    from tests.fixtures.web import Site

QUIET_S = 9
T0_US = 1_795_100_000_000_000


@pytest.fixture
def watched(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of an empty ledger in which a table is quiet after a few seconds."""
    name = new_name()
    copy_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path, ALERT_TABLE_QUIET_S=str(QUIET_S)) as site:
        yield site


def tell(site: Site, number: int, body: Body) -> None:
    source, at_us = "/hollywood/CC-07/terminal", T0_US + number * 1_000_000
    site.take_in([received(wire.encode(body, source, f"a{number}", at_us, None))])


def raise_(site: Site, kind: str, about: str, says: str) -> None:
    """Keep an alert as `consume alerts` does."""
    alert = Alert(f"{kind}:{about}:{says}", kind, about, says, 1, 1, time.time_ns() // 1_000)
    with site.database.connect("ledger_projector") as connection:
        body = msgspec.json.encode(alert).decode()
        assert Alerts(site.database, connection).raise_(alert.id, kind, body, [])


def opening() -> TableOpened:
    return TableOpened(
        game="criss_cross_poker", gaming_day="2026-11-20", min_wager=500, max_wager=1_000
    )


def test_every_kind_of_alert_is_told_with_how_grave_it_is_and_what_to_do() -> None:
    assert all(kind.do.endswith(".") for kind in KINDS)
    told = [
        AlertNow(1, "payout", "hollywood:CC-07/2026-11-20/3", ""),
        AlertNow(2, "procedure", "hollywood:CC-07", ""),
        AlertNow(3, "device_silent", "/hollywood/CC-07/shoe", ""),
        AlertNow(4, "parked", "hollywood/CC-07", ""),
        AlertNow(5, "lag", "drop", ""),
        AlertNow(6, "of a later version", "drop", ""),
    ]
    shown = alarms(told)
    assert [each.since_us for each in shown] == [4, 6, 5, 3, 2, 1], "the urgent one is not first"
    assert {each.table for each in shown if each.about != "drop"} == {"CC-07"}
    assert [each.since_us for each in shown if each.round] == [1]


@pytest.mark.long
def test_a_quiet_table_is_told_without_a_reload_and_is_gone_once_it_speaks(
    browser: Browser, watched: Site
) -> None:
    tell(watched, 1, opening())
    with opened(browser, watched, "ops") as page:
        assert page.url.endswith("/live")
        page.wait_for_load_state()
        loads: list[int] = []
        page.on("load", lambda _: loads.append(1))
        alert = page.locator("#told-alerts li")
        expect(page.get_by_text("No alerts now.")).to_be_visible()
        expect(alert).to_have_count(1)
        for says in ("urgent", "Table quiet", "CC-07", "has sent no fact for", "since 20", "Do:"):
            expect(alert).to_contain_text(says)
        tell(watched, 2, DealerAssigned(employee="D-901", role="dealer"))
        expect(page.get_by_text("No alerts now.")).to_be_visible(timeout=QUIET_S * 1_000)
        assert loads == [], "the page was loaded anew"


@pytest.mark.long
def test_what_came_through_the_feed_is_shown_until_another_ruling_finds_it_no_longer(
    browser: Browser, staffed: Site
) -> None:
    staffed.take_in(day(10, planted=1))
    found = latest_findings(staffed.database)
    with opened(browser, staffed, "surveillance") as page:
        page.goto(f"{staffed.url}/live")
        assert "None has come yet" in page.locator(".fed").inner_text()
        raise_(staffed, "finding", str(found[0][0]), found[0][3])
        raise_(staffed, "finding", str(found[0][0]), "What a ruling before found.")
        raise_(staffed, "payout", str(found[0][0]), "Position 3 was paid $20,000.00 on middle.")
        alerts = page.locator("#told-alerts li")
        expect(alerts.filter(has_text="Large payout")).to_have_count(1)
        expect(alerts.filter(has_text="Mispaid or wrong card")).to_have_count(1)
        expect(alerts.filter(has_text="Mispaid or wrong card")).to_contain_text(found[0][3])
        expect(page.get_by_text("What a ruling before found.")).to_have_count(0)
        assert "The last one came 20" in page.locator(".fed").inner_text()
        link = alerts.first.get_by_role("link")
        assert link.get_attribute("href") == f"/rounds/hollywood/{found[0][0].subject}"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_alerts_of_every_kind(
    browser: Browser, watched: Site, scheme: Scheme
) -> None:
    watched.take_in(day(10, planted=1))
    (round_, _, _, says), *_ = latest_findings(watched.database)
    tell(watched, 1, opening())
    raise_(watched, "finding", str(round_), says)
    raise_(watched, "payout", str(round_), "Position 3 was paid $20,000.00 on middle.")
    raise_(watched, "procedure", f"hollywood:{round_.table}", "The stub is counted too late.")
    raise_(watched, "dead_letters", "ledger.alerts-dlq.v1", "3 records wait for somebody.")
    with opened(browser, watched, "surveillance", scheme=scheme) as page:
        for width in (1280, 1920):
            page.set_viewport_size({"width": width, "height": 1080})
            page.goto(f"{watched.url}/live")
            expect(page.locator("#told-alerts li").nth(3)).to_be_visible()
            assert faults(page) == []
            assert fits(page)
