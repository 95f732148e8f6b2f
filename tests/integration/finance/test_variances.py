"""`variance` compares hold with its limits, sums dealers' rounds, and closes what is explained."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from consumers.finance import day_facts, variances, wins
from consumers.finance.sealed import day_money, sealed_wins
from consumers.finance.variances import grouped
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import reading_beside
from ledger.facts import CashBoughtIn, FactCorrected, FactRef
from ledger.finance.statistics.hold import LIMITS, VarianceAsked
from ledger.finance.table_day import money_of_win
from ledger.record.tape import Received
from ledger.record.wire import encode, fact_of, parse_line
from ledger.simulate import deal, line, plan_of
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, inventory, next_day, slip
from tests.scenes.view_feeds import Prefix, day, disturbed, record

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.table_day import DayMoney
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
    explain = ("variance", "explain", "CC-07", NEXT, "--property", "p")
    signed = (*explain, "--amount", "7000", "--because", "One patron.", "--by", "F-1")
    assert cli(*signed, "--second", "f-1").code == 2
    assert cli(*show, "--json").code == 1
    by_one = {"table": "CC-07", "gaming_day": NEXT, "amount": 7_000, "because": "One patron."}
    told = fact("variance_explained", 59, "office", **by_one, by="F-1", second=" f-1 ")
    feed.write_text(f"{json.dumps(told)}\n", encoding="utf-8")
    cli("ingest", feed)
    done = cli(*show)
    assert (done.code, "open" in done.out) == (1, True), "another system says it: one person"
    assert "F-1 alone signed +$70.00, which closes nothing: One patron." in done.err
    other = by_one | {"amount": 1}
    told = fact("variance_explained", 59, "office", **other, by="F-1", second="F-3") | {"id": "v2"}
    feed.write_text(f"{json.dumps(told)}\n", encoding="utf-8")
    assert cli("ingest", feed, "--json").json[-1]["appended"] == 1, "it is recorded"
    (found,) = cli(*show, "--json").json
    (house,) = [each for each in found["limits"] if each["source"] == "house"]
    assert (house["off_base"], house["explained"], house["left"]) == (7_000, 1, 6_999)
    assert (house["open"], found["open"]) == (True, True), "and judged: the rest is open"
    said = cli(*show).err
    assert "win +$70.00 off the base, +$0.01 explained, +$69.99 left" in said
    rest = (*explain, "--amount", "-1", "--unexplained", "0", "--because", "Mistyped.")
    assert cli(*rest, "--by", "F-1", "--second", "F-2", "--json").code == 0
    assert cli(*signed, "--second", "F-2", "--json").code == 0
    done = cli(*show, "--json")
    (found,) = done.json
    signers = {each["second"] for each in found["explained"]}
    assert (done.code, found["open"], signers) == (0, False, {"F-2", "F-3", " f-1 "})
    said = cli(*show).err
    assert "F-1 and F-2 explained +$70.00: One patron." in said
    assert "win +$70.00 off the base, +$70.00 explained, $0.00 left" in said
    assert cli(*show, "--open", "--json").json == []
    for wrong in ("{}", json.dumps([{**HOUSE[0], "name": "gap"}])):
        limits.write_text(wrong, encoding="utf-8")
        assert cli(*show).code == 2, "no list, or the name of what no limit is"


def test_what_an_explanation_leaves_is_said_beside_its_amount(cli: Cli, tmp_path: Path) -> None:
    """October holds 20 %, a day of November 90 %: a limit of the month is broken by $70.00."""
    feed = tmp_path / "feed.jsonl"
    text = "".join(f"{json.dumps(each)}\n" for each in two_days())
    feed.write_text(text.replace(DAY, "2026-10-20"), encoding="utf-8")
    cli("ingest", feed)
    explain = ("variance", "explain", "CC-07", NEXT, "--property", "p", "--because", "One patron.")
    people = ("--by", "F-1", "--second", "F-2")
    done = cli(*explain, "--amount", "5000", "--period", "month", *people)
    left = "win +$70.00 off the base, +$50.00 explained, +$20.00 left"
    assert f"3 % of the month: {left}" in done.err
    assert cli("variance", "show", "--period", "month").code == 1
    done = cli(*explain, "--amount", "0", "--unexplained", "2000", "--about", "3 %", *people)
    left = "+$50.00 explained, +$20.00 signed as unexplained, $0.00 left"
    assert f"3 % of the month: win +$70.00 off the base, {left}" in done.err
    [line] = cli("variance", "show", "--period", "month", "--json").json
    assert {each["limit"]: each["open"] for each in line["limits"]} == {
        "95 %": False,
        "3 %": False,
        "4 %": True,
    }


def test_limits_are_printed_with_their_sources_and_what_explains_them(
    cli: Cli, tmp_path: Path
) -> None:
    feed, limits, file = (tmp_path / name for name in ("feed.jsonl", "limits.json", "limits.csv"))
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in two_days()), encoding="utf-8")
    limits.write_text(json.dumps(HOUSE), encoding="utf-8")
    cli("ingest", feed)
    report = ("report", "limits", "--gaming-day", NEXT, "--limits", limits, "--to")

    def printed() -> dict[tuple[str, str], dict[str, str]]:
        assert cli(*report, file).code == 0
        _, _, text = file.read_text(encoding="utf-8").partition("\n\n")
        rows = list(csv.DictReader(text.splitlines()))
        assert len(rows) == 6, "two limits of a table, a game and a shift; nobody dealt"
        return {(each["by"], each["limit"]): each for each in rows}

    found = printed()
    of_house = found["table", "10 %"]
    assert (of_house["group"], of_house["state"], of_house["source"]) == ("CC-07", "open", "house")
    assert (of_house["hold"], of_house["base_level"], of_house["left"]) == (
        "90.00",
        "20.00",
        "70.00",
    )
    assert found["table", "95 %"]["source"] == "COMAR 36.05.03.25B(2)"
    explain = ("variance", "explain", "CC-07", NEXT, "--property", "p", "--because", "One patron.")
    people = ("--by", "F-1", "--second", "F-2")
    assert cli(*explain, "--amount", "7000", *people).code == 0
    of_house = printed()["game", "10 %"]
    assert (of_house["state"], of_house["explained"]) == ("explained", "70.00")
    assert of_house["investigations"] == "F-1 and F-2 explained +$70.00: One patron."
    for suffix in (".html", ".pdf"):
        assert cli(*report, tmp_path / f"limits{suffix}").code == 0
    assert "One patron." in (tmp_path / "limits.html").read_text(encoding="utf-8")
    assert cli(*report, file, "--period", "month").code == 0
    assert cli(*report, file, "--period", "week").code == 2
    assert cli("report", "boxes", *report[2:], file).code == 2, "no other report has limits"


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
    assert grouped(map(money_of_win, tables), "table")


def test_shifts_stand_in_order_of_time_as_in_the_win(cli: Cli, tmp_path: Path) -> None:
    """By name `day` would come first. A shift of another day alone stands where that day has it."""
    day = OPEN_DAYS["two shifts"]
    named = {"1": "swing", "2": "day"}
    lines = [
        each | {"data": each["data"] | {"shift": named[each["data"]["shift"]]}}
        if "shift" in each["data"]
        else each
        for each in day
    ]
    later = [
        each | {"data": each["data"] | {"shift": "early"}}
        if each["data"].get("shift") == "swing"
        else each
        for each in next_day(*lines)
    ]
    path = tmp_path / "feed.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in [*lines, *later]))
    assert cli("ingest", path).code == 0
    for until, period, order in (
        (DAY, "day", ["swing", "day"]),
        (NEXT, "day", ["early", "day"]),
        (NEXT, "month", ["early", "swing", "day"]),
    ):
        asked = ("--by", "shift", "--gaming-day", until, "--json")
        found = cli("variance", "show", *asked, "--period", period).json
        assert [each["group"] for each in found] == order
        if period == "day":
            assert [each["shift"] for each in cli("win", *asked).json] == order
    points = cli("variance", "chart", "--by", "shift", "--gaming-day", NEXT, "--json").json
    assert list(dict.fromkeys(each["group"] for each in points)) == ["early", "swing", "day"]


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


SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
BOX = {"box": "B1", "table": "CC-07", "gaming_day": DAY}


def amends(minute: int) -> Line:
    paid = {"dispute": "D-1", "position": 2, "amount": 2_500, "paid_from": "table", "by": "F-1"}
    return fact("adjustment_paid", minute, **paid)


def box_of_shift(box: str, minute: int, shift: str) -> Line:
    its = {"box": box, "table": "CC-07", "gaming_day": DAY, "shift": shift}
    return fact("drop_box_attached", minute, "count-room", **its)


def opened_for(shift: str, minute: int) -> Line:
    its = inventory("open", 1_000, minute)
    its["data"]["shift"] = shift
    return its


def without(name: str, lines: list[Line]) -> list[Line]:
    return [each for each in lines if f".{name}." not in each["type"]]


OPEN_DAYS = {
    "counted": day_lines(SOLD, amends(11), count(59, currency={"10000": 1})),
    "not counted": day_lines(SOLD),
    "no box": without("drop_box_attached", day_lines(SOLD)),
    "idle": without("drop_box_attached", day_lines()),
    "slips": day_lines(
        SOLD,
        slip("fill", "requested", "F-1", 12),
        slip("fill", "accepted", "F-1", 13),
        slip("credit", "dispatched", "C-1", 15),
        slip("credit", "voided", "C-1", 16),
        slip("credit", "accepted", "C-2", 17),
        count(59, currency={"10000": 1}),
    ),
    "a voucher without its amount": day_lines(
        fact("voucher_bought_in", 10, position=1, voucher="V-1", amount=2_000),
        count(59, vouchers=["V-1"]),
    ),
    "an unknown voucher": day_lines(count(59, vouchers=["V-1"])),
    "opened with the count of the day before": [
        inventory("close", 480_000, 0, "2026-11-19"),
        *without("inventory_counted", day_lines(SOLD, count(59, currency={"10000": 1}))),
        inventory("close", 470_000, 58),
    ],
    "a shift without a box of its own": [
        *day_lines(SOLD, count(59, currency={"10000": 1})),
        opened_for("2", 20),
        fact("cash_bought_in", 30, position=1, amount=700),
    ],
    "two shifts": [
        *without("drop_box_attached", day_lines(SOLD, count(59, currency={"10000": 1}))),
        box_of_shift("B1", 1, "1"),
        box_of_shift("B2", 20, "2"),
        fact("cash_bought_in", 30, position=1, amount=700),
        {**count(57, currency={"100": 7}, box="B2"), "id": "second"},
    ],
}  # fmt: skip


def kept(database: Database, facts: list[Received]) -> None:
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, len(rows)), variances.VIEWS)


def all_money(database: Database, house: str, *, by_shift: bool) -> list[DayMoney]:
    days = day_money.money_of_days(database, house, [("", "9999")], by_shift=by_shift)
    return [each for found in days for each in found]


@pytest.mark.parametrize("by_shift", [False, True])
@pytest.mark.parametrize("name", OPEN_DAYS)
def test_the_money_of_an_open_day_is_that_of_its_wins(
    database: Database, name: str, *, by_shift: bool
) -> None:
    kept(database, [received(json.dumps(each).encode()) for each in OPEN_DAYS[name]])
    whole = [money_of_win(each) for each in sealed_wins.read(database, by_shift=by_shift)]
    assert all_money(database, "p", by_shift=by_shift) == whole
    assert whole


@pytest.mark.parametrize("by_shift", [False, True])
def test_open_days_that_two_connections_read_are_those_of_one(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, by_shift: bool
) -> None:
    facts = [
        received(
            json.dumps({**each, "source": each["source"].replace("/p/", f"/p{nth}/")}).encode()
        )
        for nth, lines in enumerate(OPEN_DAYS.values())
        for each in lines
    ]
    kept(database, facts)
    houses = [f"p{nth}" for nth in range(len(OPEN_DAYS))]
    by_one = [all_money(database, house, by_shift=by_shift) for house in houses]
    opened: list[ViewStore] = []

    def beside(store: ViewStore) -> AbstractContextManager[ViewStore]:
        opened.append(store)
        return reading_beside(store)

    monkeypatch.setattr(day_money, "reading_beside", beside)
    monkeypatch.setattr(day_money, "OPEN_DAYS_READ", 1)
    assert [all_money(database, house, by_shift=by_shift) for house in houses] == by_one
    assert opened, "no house has several open days"


def corrections(facts: list[Received]) -> list[Received]:
    """Corrections of a payment, a count of a box, and a sale that was none."""
    found = []
    changes: dict[str, dict[str, Any] | None] = {
        "wager_paid.v1": {"amount": 700},
        "drop_box_counted.v1": {"currency": {"100": 7}},
        "cash_bought_in.v1": None,
    }
    for nth, (type_, change) in enumerate(changes.items()):
        of = next(each for each in facts if each.type == type_)
        data = None if change is None else json.loads(of.data) | change
        body = FactCorrected(
            of=FactRef(of.source, of.id), data=data, because="Mistyped.", by="F-1", second="S-1"
        )
        source = f"/{of.source.split('/')[1]}/office/desk"
        found.append(received(encode(body, source, f"corrected-{nth}", of.time_us + 1)))
    return found


@pytest.mark.parametrize("by_shift", [False, True])
def test_the_money_of_simulated_days_is_that_of_their_wins(
    database: Database, *, by_shift: bool
) -> None:
    facts = day(5, seed=2)
    facts = disturbed([*facts, *corrections(facts)], 2)
    kept(database, facts)
    house = facts[0].source.split("/")[1]
    whole = [money_of_win(each) for each in sealed_wins.read(database, by_shift=by_shift)]
    assert all_money(database, house, by_shift=by_shift) == whole


@pytest.mark.parametrize(("name", "sales"), [("counted", 0), ("no box", 1)])
def test_a_day_whose_boxes_say_its_drop_reads_no_sale(
    database: Database, monkeypatch: pytest.MonkeyPatch, name: str, sales: int
) -> None:
    kept(database, [received(json.dumps(each).encode()) for each in OPEN_DAYS[name]])
    read = []
    monkeypatch.setattr(day_facts, "fact_of", lambda row: read.append(fact_of(row)) or read[-1])
    all_money(database, "p", by_shift=False)
    assert sum(isinstance(each.body, CashBoughtIn) for each in read) == sales
    assert read


def test_a_fact_of_several_open_days_is_read_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(database, [received(json.dumps(each).encode()) for each in two_days()])
    read = []
    monkeypatch.setattr(day_facts, "fact_of", lambda row: read.append(fact_of(row)) or read[-1])
    assert {each.gaming_day for each in all_money(database, "p", by_shift=False)} == {DAY, NEXT}
    assert len(read) == len({(each.source, each.id) for each in read})


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
        each["time"] = each["time"].replace("T10:59:00", "T10:59:59")
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in late), encoding="utf-8")
    assert cli("ingest", feed).code == 0

    def drop(day: str, by: str) -> int:
        [found] = cli("variance", "show", "--gaming-day", day, "--by", by, "--json").json
        amount: int = found["drop"]
        return amount

    assert {by: drop(DAY, by) for by in ("table", "shift")} == {"table": 10_000, "shift": 10_000}
    assert {by: drop(NEXT, by) for by in ("table", "shift")} == {"table": 20_000, "shift": 20_000}
