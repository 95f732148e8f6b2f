"""The page Review: each step is a fact, alerts too, and Live judges by the same rule."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest

from consumers.review import queue
from ledger.facts import TableOpened
from ledger.record.wire import encode
from replay.web.alert_watch import AlertNow, AlertsNow
from tests.scenes.view_feeds import day, received

if TYPE_CHECKING:
    import httpx

    from tests.fixtures.web import Browser, Site

QUIET = AlertNow(
    1_795_000_000_000_000,
    "table_quiet",
    "hollywood/CC-01",
    "Table hollywood/CC-01 is open but has sent no fact for 700 s; check its devices.",
    "table_quiet:hollywood/CC-01:1",
)


def hold(site: Site, *alerts: AlertNow) -> None:
    """These alerts hold from now on."""
    site.ports.alerts._kept = AlertsNow(alerts, None)
    site.ports.alerts._until = math.inf


def names(page: str) -> list[str]:
    return re.findall(r'class="item[^"]*" id="(F-[0-9a-f]{10})"', page)


def send(who: Browser, step: str, *found: str, **fields: str) -> httpx.Response:
    return who.post("/review", data={"csrf": who.csrf, "step": step, "name": [*found], **fields})


def test_live_and_review_judge_by_one_rule(staffed: Site) -> None:
    staffed.take_in(day(10, planted=1))
    who = staffed.browser("surveillance")
    hold(staffed)
    open_ = queue.counts(staffed.database, "x").open
    assert open_ > 7
    floor = who.get("/live", headers={"X-Fragment": "floor"}).text
    assert f'No alerts now. <a href="/review">{open_} findings to look at</a>' in floor
    assert "open, quiet" not in floor, "the facts are old, and have just come"
    opened = TableOpened(
        game="criss_cross_poker", gaming_day="2026-11-29", min_wager=500, max_wager=1_000
    )
    staffed.take_in(
        [received(encode(opened, "/hollywood/CC-01/panel", "o-1", 1_796_000_000_000_000))]
    )
    assert "open, quiet" not in who.get("/live").text
    hold(staffed, QUIET)
    floor = who.get("/live", headers={"X-Fragment": "floor"}).text
    assert floor.count("open, quiet") == 1
    assert QUIET.says in who.get("/review").text


def test_an_alert_is_taken_and_closed_as_a_finding_is(staffed: Site) -> None:
    staffed.take_in(day(2))
    hold(staffed, QUIET)
    who = staffed.browser("surveillance")
    first = names(who.get("/review").text)[0]
    assert send(who, "take", first).status_code == 303
    assert names(who.get("/review?state=mine").text) == [first]
    assert send(who, "close", first, outcome="known", because="Break.").status_code == 303
    assert first not in names(who.get("/review").text)
    assert first in names(who.get("/review?state=closed").text)


@pytest.mark.long
def test_each_step_is_a_fact_and_the_next_finding_is_chosen(staffed: Site) -> None:
    staffed.take_in(day(10, planted=1))
    who = staffed.browser("surveillance")
    first, second, *_ = names(who.get("/").text)
    assert send(who, "give", first, to="S-2002").status_code == 303
    assert ">S-2002</span>" in who.get("/review").text
    wrong = send(who, "close", first, outcome="wrong")
    assert wrong.status_code == 422
    assert "The reason is missing" in wrong.text
    answer = who.post(
        "/review",
        data={"csrf": who.csrf, "step": "close", "name": first, "outcome": "right", "next": second},
        headers={"X-Fragment": "review"},
    )
    assert f'id="{second}" href="/review?state=open&amp;page=1&amp;at={second}" aria-current' in (
        answer.text
    )
    [closed] = [m for g in queue.page(staffed.database, "closed", "").groups for m in g.members]
    assert (closed.name, closed.outcome, closed.holder) == (first, "right", "S-2002")
    assert send(who, "reopen", first, because="Again.").status_code == 303
    assert first in names(who.get("/review").text)
    assert send(who, "take", "F-0000000000").status_code == 422
