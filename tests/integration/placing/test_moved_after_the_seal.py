"""What moves a sealed day's money is named: at the table that it leaves, and by a start's end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.finance.test_sealed_days import TWO, closed, correction, day, ingest
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, next_day, slip

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
COUNTED = count(59, currency={"10000": 1})


def tables(cli: Cli) -> dict[str, Any]:
    return {each["table"]: each for each in cli("win", "--gaming-day", DAY, "--json").json}


def ids(refs: list[dict[str, str]]) -> list[str]:
    return [ref["id"] for ref in refs]


def at_table(table: str) -> list[Line]:
    """The day of another table, which nobody played at."""
    text = json.dumps(day_lines(count(59)))
    text = text.replace("CC-07", table).replace("B1", f"B-{table}")
    return [{**each, "id": f"{each['id']}-{table}"} for each in json.loads(text)]


def again(cli: Cli) -> list[dict[str, Any]]:
    """The adjustments of the day's next version."""
    day(cli, "reopen", DAY, *TWO, "--because", "A correction.")
    found: list[dict[str, Any]] = closed(cli, "--despite", "as it is")["adjustments"]
    return found


@pytest.mark.long
def test_a_correction_of_a_correction_is_named_at_the_table_that_a_slip_leaves(
    cli: Cli, tmp_path: Path
) -> None:
    fill = slip("fill", "accepted", "F-1", 12)
    moved = correction(fill, {**fill["data"], "table": "CC-08"}, 20)
    ingest(cli, tmp_path, *day_lines(SOLD, COUNTED, fill), *at_table("CC-08"), *at_table("CC-09"))
    ingest(cli, tmp_path, moved)
    closed(cli)
    back = correction(moved, {**moved["data"], "data": {**fill["data"], "table": "CC-09"}}, 30)
    ingest(cli, tmp_path, {**back, "id": "back"})
    now = tables(cli)
    assert {name: each["pending"].get("fills") for name, each in now.items()} == {
        "CC-07": None, "CC-08": -10_000, "CC-09": 10_000,
    }  # fmt: skip
    for name in ("CC-08", "CC-09"):
        assert ids(now[name]["late"]) == ["back"], name
        one = cli("win", "--gaming-day", DAY, "--table", name, "--json").json
        assert one == [now[name]]
    adjusted = again(cli)
    assert {each["table"] for each in adjusted} >= {"CC-08", "CC-09"}
    assert all(ids(each["facts"]) == ["back"] for each in adjusted), adjusted


def test_a_withdrawn_start_of_the_next_day_is_named_on_the_day_that_gets_its_money(
    cli: Cli, tmp_path: Path
) -> None:
    box = fact("drop_box_attached", 30, "count-room", box="B2", table="CC-07", gaming_day=NEXT)
    later = {**fact("cash_bought_in", 40, position=1, amount=700), "id": "later"}
    ingest(cli, tmp_path, *day_lines(SOLD, COUNTED), box, later, *next_day(count(59, box="B2")))
    closed(cli)
    taken = {**correction(box, None, 50), "id": "taken"}
    ingest(cli, tmp_path, taken)
    [now] = tables(cli).values()
    assert now["pending"]["items.count.box_cash"] == -700
    assert ids(now["late"]) == ["taken"]
    adjusted = again(cli)
    assert adjusted
    assert all(ids(each["facts"]) == ["taken"] for each in adjusted), adjusted
