"""`variance` compares hold with its limits, sums dealers' rounds, and closes what is explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from consumers.finance import variances, wins
from consumers.finance.variances import grouped
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from ledger.finance.statistics.hold import LIMITS, VarianceAsked
from ledger.record.tape import Received
from ledger.record.wire import parse_line
from ledger.simulate import deal, line, plan_of
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact
from tests.scenes.view_feeds import Prefix, record

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line


def of_next_day(lines: list[Line]) -> list[Line]:
    """The facts of a day, as those of the next one."""
    text = json.dumps(lines).replace(DAY, NEXT).replace("-CC-07-", "-next-CC-07-")
    found: list[Line] = json.loads(text.replace('"room-', '"room-next-'))
    for each in found:
        each["id"] = f"next-{each['id']}"
    return found


def two_days() -> list[Line]:
    """A day that holds 20 %, and one that holds 90 %. Nobody plays; the tray shows it."""
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    counted = count(59, currency={"10000": 1})
    first = day_lines(sold, counted, closer=492_000)
    second = of_next_day(day_lines(sold, counted, closer=499_000))
    return [*first, *second]


HOUSE = [
    {"name": "10 %", "source": "house", "periods": ["day"], "base": "lifetime", "points": "10"}
]


def test_what_lies_outside_is_open_until_two_people_explain_it(cli: Cli, tmp_path: Path) -> None:
    feed, limits = tmp_path / "feed.jsonl", tmp_path / "limits.json"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in two_days()), encoding="utf-8")
    limits.write_text(json.dumps(HOUSE), encoding="utf-8")
    cli("ingest", feed)
    show = ("variance", "show", "--gaming-day", NEXT, "--limits", limits)
    done = cli(*show, "--json")
    assert done.json, done.err
    (found,) = done.json
    (house,) = [each for each in found["limits"] if each["source"] == "house"]
    assert (found["hold"], house["base_level"], house["outside"]) == ("90.00", "20.00", True)
    assert (done.code, found["open"]) == (1, True)
    assert "open" in cli(*show).out
    explain = ("variance", "explain", "CC-07", NEXT, "--amount", "7000", "--property", "p")
    signed = (*explain, "--because", "One patron.", "--by", "F-1")
    assert cli(*signed, "--second", "f-1").code == 2
    assert cli(*show, "--json").code == 1
    assert cli(*signed, "--second", "F-2", "--json").code == 0
    done = cli(*show, "--json")
    (found,) = done.json
    assert (done.code, found["open"], found["explained"][0]["second"]) == (0, False, "F-2")
    assert cli(*show, "--open", "--json").json == []
    limits.write_text("{}", encoding="utf-8")
    assert cli(*show).code == 2


@pytest.mark.parametrize("by", ["table", "game", "shift"])
def test_every_group_sums_to_the_house(database: Database, by: Any) -> None:  # noqa: ANN401 - parameter
    plan = plan_of(minutes=20, tables=2, seed=4, of=["craps", "spanish_21"])
    record(database, [received(line(plan, each)) for each in deal(plan)[0]])
    rows = record(database, [])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), variances.VIEWS)
    tables = wins.read(database)
    found = variances.read(database, VarianceAsked("hollywood", by, "day", plan.gaming_day), LIMITS)
    assert sum(each.pay_gap or 0 for each in found) == sum(each.pay_gap or 0 for each in tables)
    assert sum(each.owed or 0 for each in found) == sum(each.owed or 0 for each in tables)
    assert grouped(tables, "table")


def test_a_dealer_has_the_rounds_dealt_while_standing_there(database: Database) -> None:
    plan = plan_of(minutes=90, tables=1, seed=4, of=["spanish_21"])
    rows = record(database, [received(line(plan, each)) for each in deal(plan)[0]])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), variances.VIEWS)
    [table] = wins.read(database)
    found = variances.read(
        database, VarianceAsked("hollywood", "dealer", "day", plan.gaming_day), LIMITS
    )
    assert len(found) > 1
    assert sum(each.owed or 0 for each in found) == table.owed
    assert {(each.drop, each.hold, each.open) for each in found} == {(None, None, False)}


def received(octets: bytes) -> Received:
    found = parse_line(octets)
    assert isinstance(found, Received)
    return found


def test_a_chart_has_every_day_up_to_the_one_asked_for(cli: Cli, tmp_path: Path) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in two_days()), encoding="utf-8")
    cli("ingest", feed)
    charted = cli("variance", "chart", "--json")
    assert [each["gaming_day"] for each in charted.json] == [DAY, NEXT]
    assert {each["pay_gap"] for each in charted.json} == {0}
    assert len(cli("variance", "chart", "--gaming-day", DAY, "--json").json) == 1
    assert "control charts" in cli("variance", "chart").out
    assert cli("variance", "chart", "--sigmas", "many").code == 2


def test_a_closed_day_counts_as_it_was_signed_and_an_open_one_as_it_is(
    cli: Cli, tmp_path: Path
) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in two_days()), encoding="utf-8")
    assert cli("ingest", feed).code == 0
    assert cli("day", "close", DAY, "--by", "F-1", "--second", "F-2").code == 0
    late = [
        {**each, "id": f"again-{each['id']}", "data": {**each["data"], "currency": {"100": 200}}}
        for each in two_days()
        if each["type"] == "roundledger.drop_box_counted.v1"
    ]
    for each in late:
        each["data"] |= {"count": 2}
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in late), encoding="utf-8")
    assert cli("ingest", feed).code == 0

    def drop(day: str, by: str) -> int:
        [found] = cli("variance", "show", "--gaming-day", day, "--by", by, "--json").json
        amount: int = found["drop"]
        return amount

    assert {by: drop(DAY, by) for by in ("table", "shift")} == {"table": 10_000, "shift": 10_000}
    assert {by: drop(NEXT, by) for by in ("table", "shift")} == {"table": 20_000, "shift": 20_000}
