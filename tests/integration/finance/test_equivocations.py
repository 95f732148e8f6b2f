"""A fact of money that a device records twice, with two amounts, is an exception of its day."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, inventory, next_day, slip

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
TWO = ("--by", "F-1", "--second", "F-2")


def otherwise(of: Line, **data: Any) -> Line:  # noqa: ANN401 - any field
    return {**of, "data": {**of["data"], **data}}


def ingest(cli: Cli, folder: Path, *lines: Line) -> int:
    feed = folder / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    return cli("ingest", feed).code


def won(cli: Cli, *more: str) -> list[dict[str, Any]]:
    ran = cli("win", "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json


def test_two_amounts_for_one_fact_are_named_until_they_are_worked_off(
    cli: Cli, tmp_path: Path
) -> None:
    lines = day_lines(SOLD, count(59, currency={"10000": 1}))
    assert ingest(cli, tmp_path, *lines, SOLD, *next_day(*lines)) == 0, "a duplicate is none"
    assert [each["exceptions"] for each in won(cli)] == [[], []]
    ingest(cli, tmp_path, otherwise(SOLD, amount=25_000))
    first, second = won(cli)
    assert second["exceptions"] == []
    assert first["exceptions"] == [
        {
            "code": "equivocation",
            "says": "/p/CC-07/d recorded fact cash_bought_in-CC-07-10 twice: cash_bought_in of "
            "$100.00 and cash_bought_in of $250.00. What came later is number 1 in quarantine.",
            "facts": [{"source": SOLD["source"], "id": SOLD["id"]}],
        }
    ]
    assert won(cli, "--gaming-day", DAY, "--table", "CC-07") == [first]
    assert [each["grade"] for each in won(cli, "--by", "shift")] == ["ESTIMATE", "COUNTED"]
    assert cli("win", "--property", "elsewhere").code == 2, "no fact is of it"
    assert cli("day", "close", DAY, *TWO).code == 1, "nobody decided which amount is true"
    assert cli("day", "close", DAY, *TWO, "--despite", "The device is lost.").code == 0
    sealed = won(cli, "--gaming-day", DAY)[0]
    assert sealed["exceptions"] == first["exceptions"], "it waits, whether the day is closed or not"
    assert won(cli, "--gaming-day", DAY, "--version", "1")[0]["exceptions"] == []
    true = fact("fact_corrected", 30, "office", **corrected(SOLD, amount=25_000))
    (tmp_path / "true.json").write_text(json.dumps(true), encoding="utf-8")
    assert cli("quarantine", "release", "1", "--as", tmp_path / "true.json").code == 0
    assert won(cli, "--gaming-day", DAY)[0]["exceptions"] == []


def corrected(of: Line, **data: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
    people = {"because": "The terminal was right.", "by": "F-1", "second": "S-1"}
    target = {"source": of["source"], "id": of["id"]}
    return {"of": target, "data": {**of["data"], **data}, **people}


def test_the_exception_says_what_differs_in_facts_of_one_amount_or_none(
    cli: Cli, tmp_path: Path
) -> None:
    ingest(cli, tmp_path, *DAY_OF_ALL, MEANT)
    bet = otherwise(ROUND[1], wager="banker")
    other = otherwise(MEANT, data={**SOLD["data"], "amount": 25_000})
    ingest(cli, tmp_path, otherwise(CARDS, cards=["6h", "Kd"]), bet, other)
    [found] = won(cli)
    told = [e["says"] for e in found["exceptions"] if e["code"] == "equivocation"]
    said = [each.split(": ")[1].split(". ")[0] for each in told]
    assert sorted(said) == [
        "cards_dealt with cards 6h Kd and cards_dealt with cards 9h Kd",
        "fact_corrected with amount $120.00 and fact_corrected with amount $250.00",
        "wager_placed of $100.00 with wager banker and wager_placed of $100.00 with wager player",
    ]


def test_what_touches_no_money_is_no_exception_and_another_table_sees_its_own(
    cli: Cli, tmp_path: Path
) -> None:
    seat = fact("seat_taken", 5, positions=[1])
    paid = fact("adjustment_paid", 20, dispute="D-1", position=1, amount=500, paid_from="table")
    there = otherwise(count(59), table="CC-08")
    ingest(cli, tmp_path, *day_lines(seat, paid, count(59)), next_table())
    ingest(cli, tmp_path, otherwise(seat, positions=[2]), there)
    here, other = won(cli)
    assert [(each["table"], [e["code"] for e in each["exceptions"]]) for each in (here, other)] == [
        ("CC-07", ["equivocation"]),
        ("CC-08", ["equivocation"]),
    ]


def next_table() -> Line:
    opened = day_lines()[0]
    source = opened["source"].replace("CC-07", "CC-08")
    return {**opened, "source": source}


# -- in either order of arrival: two casinos get the same facts, and the pair in the other order --

CHECK = fact("counter_check_issued", 12, position=1, check="K-1", amount=5_000)
BOX = count(59, currency={"10000": 1}, counter_checks=[{"check": "K-1", "amount": 5_000}])
OPENER, CLOSER = inventory("open", 500_000, 2), inventory("close", 500_000, 58)
SLIPS = [slip("fill", step, "F-1", at) for step, at in (("dispatched", 20), ("accepted", 21))]
AMENDS = fact("adjustment_paid", 30, dispute="D-1", position=1, amount=500, paid_from="table")
MEANT = fact("fact_corrected", 31, "office", **corrected(SOLD, amount=12_000))


def played(name: str, minute: int, **data: Any) -> Line:  # noqa: ANN401 - any field
    return {**fact(name, minute, **data), "subject": f"CC-07/{DAY}/1"}


CARDS = {**played("cards_dealt", 44, to="banker_hand", cards=["9h", "Kd"], face="up"), "id": "bank"}
ROUND = [
    played("round_started", 40, game="minibaccarat", dealt_from="manual_shoe"),
    played("wager_placed", 41, position=1, wager="player", amount=10_000),
    played("no_more_bets_called", 42),
    played("cards_dealt", 43, to="player_hand", cards=["2c", "5d"], face="up"),
    CARDS,
    played("wager_collected", 45, position=1, wager="player", amount=10_000),
    played("round_completed", 46),
]
DAY_OF_ALL = day_lines(SOLD, CHECK, *SLIPS, AMENDS, BOX, *ROUND, once=True)

TRAY, LESS = {"items", "count_gap"}, {"chips": {"100": 4_000}, "total": 400_000}
FILLED = {"chips": {"100": 90}, "total": 9_000}
EACH: dict[str, tuple[Line, dict[str, Any], set[str]]] = {
    "buy-in": (SOLD, {"amount": 25_000}, {"items"}),
    "counter check": (CHECK, {"amount": 2_500}, {"items", "exceptions"}),
    "box": (BOX, {"currency": {"10000": 2}}, {"drop", "counted", "causes", *TRAY}),
    "opener": (OPENER, LESS, {"opener", "counted", *TRAY}),
    "closer": (CLOSER, LESS, {"closer", "counted", *TRAY}),
    "fill": (SLIPS[1], FILLED, {"fills", "counted", "exceptions", *TRAY}),
    "amends": (AMENDS, {"amount": 900}, {"moved", "pay_gap", *TRAY}),
    "correction": (MEANT, {"data": {**SOLD["data"], "amount": 25_000}}, {"items"}),
    "cards": (CARDS, {"cards": ["6h", "Kd"]}, {"owed", "pay_gap", "items", "expected"}),
}
"""The fact, what else it says, and the parts of the win that rest on what came first."""


def of_house(name: str, line: Line) -> Line:
    return json.loads(json.dumps(line).replace('"/p/', f'"/{name}/'))  # type: ignore[no-any-return]


def recorded(cli: Cli, folder: Path, house: str, first: Line, second: Line) -> None:
    """A day whose pair comes in this order."""
    others = [each for each in DAY_OF_ALL if each["id"] != first["id"]]
    lines = [*others, first]
    ingest(cli, folder, *(of_house(house, each) for each in (*lines, second)))


def said(cli: Cli, house: str, *command: str) -> Any:  # noqa: ANN401 - the command's JSON
    """A command's lines of one casino, as if they were of casino p."""
    ran = cli(*command, "--property", house, "--json")
    assert ran.code == 0, ran.err
    return json.loads(f"[{','.join(ran.out.splitlines())}]".replace(f"/{house}/", "/p/"))


def won_by(cli: Cli, house: str) -> dict[str, Any]:
    [found] = said(cli, house, "win", "--gaming-day", DAY)
    words = [{**e, "says": re.sub("number .*", "N", e["says"])} for e in found["exceptions"]]
    return {**found, "property": "p", "exceptions": words}


def differing(*wins: dict[str, Any]) -> set[str]:
    one, other = wins
    return {name for name in one if one[name] != other[name]}


@pytest.mark.long
@pytest.mark.parametrize("kind", EACH)
def test_the_day_waits_with_the_same_words_whichever_amount_came_first(
    cli: Cli, tmp_path: Path, kind: str
) -> None:
    low, more, rests = EACH[kind]
    high = otherwise(low, **more)
    recorded(cli, tmp_path, "p", low, high)
    recorded(cli, tmp_path, "q", high, low)
    ways = [won_by(cli, house) for house in "pq"]
    assert differing(*ways) == rests, [[e["says"] for e in way["exceptions"]] for way in ways]
    for way in ways:
        assert way["grade"] == "ESTIMATE"
        assert f"fact:{low['id']}" in way["missing"]
        assert "equivocation" in [each["code"] for each in way["exceptions"]]
    for house in "pq":
        lacks = cli("day", "close", DAY, *TWO, "--property", house, "--json")
        assert (lacks.code, lacks.json[0]["missing"]) == (1, [f"fact:{low['id']}"]), lacks.err

    for house, waiting in zip("pq", cli("quarantine", "list", "--json").json, strict=True):
        truth = of_house(house, fact("fact_corrected", 40, "office", **corrected(low, **more)))
        path = tmp_path / "true.json"
        path.write_text(json.dumps(truth))
        release = ("quarantine", "release", str(waiting["quarantine_id"]), "--as", path)
        assert cli(*release).code == 0
    ways = [won_by(cli, house) for house in "pq"]
    assert differing(*ways) <= {"told"}, "what was recorded first stands beside"
    assert [way["missing"] for way in ways] == [[], []]
    for house in "pq":
        assert cli("day", "close", DAY, *TWO, "--property", house).code == 0


@pytest.mark.long
def test_drop_journal_coupons_and_checks_say_of_two_contents_what_win_says(
    cli: Cli, tmp_path: Path
) -> None:
    """Each of the facts that it rests on; the journal of another table and day says nothing."""
    counted = count(59, currency={"10000": 1})
    lines = day_lines(SOLD, counted, closer=490_000)
    ingest(cli, tmp_path, *lines)
    commands = (("drop",), ("journal",), ("coupons",), ("checks",))
    assert not any("twice" in cli(*each).err for each in commands)
    twice = [otherwise(counted, currency={"5000": 1}), otherwise(SOLD, amount=500)]
    ingest(cli, tmp_path, *twice)
    of_count, of_sale = (
        next(each for each in won(cli)[0]["exceptions"] if name in each["says"])
        for name in ("drop_box_counted", "cash_bought_in")
    )
    for command in commands:
        for more in ((), ("--json",)):
            said = cli(*command, *more)
            assert said.code == 0
            told = said.out if command == ("drop",) and more else said.err
            rests_on_sales = command[0] in ("drop", "journal")
            assert json.dumps(of_count["says"]).strip('"') in told or of_count["says"] in told
            assert (of_sale["says"] in told) == rests_on_sales, command
    for command in ("coupons", "checks"):
        *_, last = cli(command, "--json").json
        assert (last["property"], last["exceptions"]) == ("p", [of_count])
    [day] = cli("drop", "--json").json
    assert sorted(each["says"] for each in day["exceptions"]) == sorted(
        each["says"] for each in (of_count, of_sale)
    )
    assert "twice" not in cli("journal", "--gaming-day", NEXT).err
