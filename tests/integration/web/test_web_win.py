"""The page Win: the figures of `win`, the tray of each table, and every item with its round."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from consumers.finance import journal, sealed_wins, wins
from ledger.finance.journal import JournalEntry, Posting
from ledger.values import dollars
from replay.recording.sealed_days import DayDecisions, Signers
from replay.web.pages.win import drawn, tray_steps
from tests.fixtures.web import opened_site, people
from tests.scenes.table_days import fact
from tests.scenes.view_feeds import day, received

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Browser

HOUSE, GAMING_DAY = "hollywood", "2026-11-20"
TWO = Signers(by="F-1", second="F-2", despite="As it is.")
TRAY = "assets:tray:CC-07"


def played(database: Database) -> None:
    """A scene: half an hour of a floor with every mistake, and people of each role."""
    people(database)
    with TemporaryDirectory() as home, opened_site(database, Path(home)) as site:
        site.take_in(day(30, planted=1))


def shown(who: Browser, path: str) -> str:
    answer = who.get(path)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def test_the_figures_items_and_rounds_are_those_of_the_command(
    scenes: Scenes, tmp_path: Path
) -> None:
    database, _ = scenes.copy(played)
    found = wins.read(database)
    with opened_site(database, tmp_path) as site:
        page = shown(site.browser("auditor"), "/win")
    assert len(found) > 1
    for each in found:
        line = page.split(f'">{each.table}</a>')[1].split("</tr>")[0]
        cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)]
        amounts = (each.drop.total, each.counted, each.moved, each.owed)
        assert cells[1:5] == ["n/a" if cents is None else dollars(cents) for cents in amounts]
        for item in each.items:
            assert item.says in page
            if item.round:
                assert f'<a href="/rounds/{each.property}/{item.round}">' in page
        for of in (*each.causes, *each.exceptions):
            assert of.says in page


def test_a_closed_day_keeps_its_figures_and_lists_what_came_later(
    scenes: Scenes, tmp_path: Path
) -> None:
    database, _ = scenes.copy(played)
    closed = sealed_wins.pinned_now(database, HOUSE, GAMING_DAY)
    table = next(each.table for each in closed.wins if each.drop.total is not None)
    with DayDecisions(database) as decisions:
        decisions.close_day(closed, TWO, "1")
    late = fact("cash_bought_in", 11, position=2, amount=2_500) | {
        "source": f"/{HOUSE}/{table}/desk",
        "id": "very-late",
    }
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(late).encode())])
        page = shown(site.browser("auditor"), "/win")
    line = page.split(f'">{table}</a>')[1].split("</tr>")[0]
    assert "<td>SEALED v1</td>" in line
    before = next(each for each in closed.wins if each.table == table)
    assert dollars(before.drop.total or 0) in line
    assert f"/{HOUSE}/{table}/desk very-late" in page
    assert page.count("came after the day was closed") == 1


def entry(name: str, tray: int, *, counted: int | None = None) -> JournalEntry:
    balances = [] if counted is None else [Posting(TRAY, counted)]
    return JournalEntry(
        property="hollywood",
        gaming_day="2026-11-20",
        table="CC-07",
        entry=name,
        says=name.capitalize(),
        postings=[Posting(TRAY, tray), Posting("assets:cage", -tray)],
        balances=balances,
        facts=[],
    )


DAY = [
    entry("opening", 250, counted=1_000),
    entry("fill:F-1", 500),
    entry("sales", -300),
    entry("play", 70),
    entry("closing", -20, counted=1_250),
]


def test_a_tray_goes_from_opener_to_closer_by_the_entries_of_the_journal() -> None:
    steps = tray_steps(DAY)
    assert [(each.says, each.amount, each.after) for each in steps] == [
        ("Opener", 1_000, 1_000),
        ("Fill:f-1", 500, 1_500),
        ("Sales", -300, 1_200),
        ("Play", 70, 1_270),
        ("Difference that nothing explains", -20, 1_250),
        ("Closer", 1_250, 1_250),
    ]
    bars = [bar for _, bar in drawn(steps)]
    assert [bar.kind for bar in bars] == ["count", "gain", "loss", "gain", "loss", "count"]
    assert bars[1].x == bars[0].width
    assert max(bar.x + bar.width for bar in bars) == 1_000


@pytest.mark.parametrize("missing", ["opening", "closing"])
def test_a_tray_that_was_not_counted_is_not_drawn(missing: str) -> None:
    assert tray_steps(each for each in DAY if each.entry != missing) == []


def test_every_tray_of_a_floor_ends_at_its_closer(scenes: Scenes) -> None:
    database, _ = scenes.copy(played)
    found = {each.table: each for each in wins.read(database)}
    entries = journal.read(database)
    trays = 0
    for table, each in found.items():
        steps = tray_steps(one for one in entries if one.table == table)
        if each.opener is None or each.closer is None:
            assert steps == []
        else:
            assert steps[-2].after == each.closer
            trays += 1
    assert trays == len(found)
