"""A gaming day that two people close says the same for ever, whatever arrives later."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from ledger.finance.day_versions import digest, of_day
from ledger.finance.win import REPORT
from tests.property.finance.floors import read_by_program
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, inventory, next_day

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.fixtures.cli import Cli, Ran
    from tests.property.finance.floors import Line

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
COUNTED = count(59, currency={"10000": 1})
LATE = fact("cash_bought_in", 11, position=2, amount=2_500)
TWO = ("--by", "F-1", "--second", "F-2")


def correction(of: Line, data: dict[str, Any] | None, minute: int) -> Line:
    body = {"of": {"source": of["source"], "id": of["id"]}, "because": "Mistyped."}
    people = {"by": "F-1", "second": "S-1"}
    more = {} if data is None else {"data": data}
    return fact("fact_corrected", minute, "office", **body, **people, **more)


def ingest(cli: Cli, folder: Path, *lines: Line) -> None:
    feed = folder / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    assert cli("ingest", feed).code == 0


def day(cli: Cli, *words: str) -> Ran:
    return cli("day", *words, "--json")


def closed(cli: Cli, *more: str) -> dict[str, Any]:
    ran = day(cli, "close", DAY, *TWO, *more)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json[0]
    return found


def won(cli: Cli, *more: str) -> dict[str, Any]:
    ran = cli("win", "--gaming-day", DAY, "--json", *more)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json[0]
    return found


@pytest.fixture
def house(cli: Cli, tmp_path: Path) -> Cli:
    """The command over a record of one whole table-day."""
    ingest(cli, tmp_path, *day_lines(SOLD, COUNTED, closer=490_000, once=True))
    return cli


def test_a_closed_day_says_the_same_bytes_and_names_what_came_later(
    house: Cli, tmp_path: Path
) -> None:
    open_ = won(house)
    first = closed(house)
    said = house("win", "--gaming-day", DAY, "--version", "1", "--json").out
    assert (first["version"], first["digest"]) == (1, sha256(said.encode()).hexdigest())
    assert (first["adjustments"], first["missing"]) == ([], [])
    assert won(house) == {**open_, "grade": "SEALED", "version": 1} == json.loads(said)
    fixed = correction(COUNTED, {**COUNTED["data"], "currency": {"10000": 2}}, 30)
    ingest(house, tmp_path, LATE, fixed, *next_day(*day_lines(SOLD)))
    now = won(house)
    assert {**now, "late": [], "pending": {}} == json.loads(said)
    assert [each["id"] for each in now["late"]] == [LATE["id"], fixed["id"]]
    assert now["pending"]["counted"] == now["pending"]["drop.cash"] == 10_000
    assert house("win", "--gaming-day", DAY, "--version", "1", "--json").out == said
    assert "late · 2 facts came" in house("win", "--gaming-day", DAY).err


def squatting(number: int, kind: str = "tip_dropped", **data: Any) -> Line:  # noqa: ANN401 - as JSON
    """A fact of somebody else under the id of the `number`-th decision on the day."""
    told = {"source": "/p/office/days", "id": f"{DAY}/{number}"}
    return {**fact(kind, 58, "office", **(data or {"amount": 5})), **told}


ANOTHERS = {
    "gaming_day": NEXT, "version": 1, "because": "x", "by": "F-1", "second": "F-2",
}  # fmt: skip
"""A reopening of another day: the days' source may have it, and no day takes it as its own."""


@pytest.mark.parametrize("numbers", [(1,), (2,), (1, 2, 3), (1, 999_999_999)])
def test_ids_that_somebody_took_keep_no_day_from_being_closed_and_reopened(
    house: Cli, tmp_path: Path, numbers: Sequence[int]
) -> None:
    taken = [squatting(each, "day_reopened", **ANOTHERS) for each in numbers]
    ingest(house, tmp_path, *taken)
    assert closed(house)["version"] == 1
    assert day(house, "reopen", DAY, *TWO, "--because", "A late count.").code == 0
    assert closed(house)["version"] == 2


def test_a_fact_of_a_device_under_the_source_of_the_days_waits_for_people(
    house: Cli, tmp_path: Path
) -> None:
    feed = tmp_path / "tip.jsonl"
    feed.write_text(json.dumps(squatting(1)), encoding="utf-8")
    ran = house("ingest", feed, "--json")
    assert (ran.json[0]["verdict"], ran.json[0]["reason"]) == ("quarantined", "not_of_a_device")
    assert closed(house)["version"] == 1


@pytest.mark.parametrize("order", [1, -1])
def test_late_facts_are_listed_in_order_of_time_whichever_arrived_first(
    house: Cli, tmp_path: Path, order: int
) -> None:
    closed(house)
    later = fact("cash_bought_in", 12, position=2, amount=700)
    for each in (LATE, later)[::order]:
        ingest(house, tmp_path, each)
    assert [each["id"] for each in won(house)["late"]] == [LATE["id"], later["id"]]


def test_a_day_that_was_opened_again_gets_a_version_that_differs_by_its_adjustments(
    house: Cli, tmp_path: Path
) -> None:
    open_, first = won(house), closed(house)
    fixed = correction(COUNTED, {**COUNTED["data"], "currency": {"10000": 2}}, 30)
    ingest(house, tmp_path, LATE, fixed)
    now = won(house)
    opened = day(house, "reopen", DAY, *TWO, "--because", "A late count.").json[0]
    assert (opened["sealed"], opened["version"]) == (False, 1)
    assert (won(house)["grade"], won(house)["version"], won(house)["late"]) == ("COUNTED", 0, [])
    second = closed(house)
    assert second["version"] == 2
    by_figure = {each["figure"]: each for each in second["adjustments"]}
    assert by_figure["counted"] == {
        "table": "CC-07",
        "figure": "counted",
        "amount": 10_000,
        "before": open_["counted"],
        "after": open_["counted"] + 10_000,
        "facts": now["late"][1:],
    }, "a buy-in changes no counted win"
    assert by_figure["count_gap"]["facts"] == now["late"][1:], "nor the gap"
    assert by_figure["items.count.tray"]["facts"] == now["late"][:1], "but an item of it"
    assert {name: each["amount"] for name, each in by_figure.items()} == now["pending"]
    assert day(house, "show", DAY).json[0] == second != first
    assert {**now, "late": [], "pending": {}} == won(house, "--version", "1")
    assert won(house, "--version", "2")["counted"] == open_["counted"] + 10_000


def test_a_version_is_worked_out_again_from_the_record_where_no_copy_is_kept(
    house: Cli, tmp_path: Path
) -> None:
    copy = tmp_path / "home" / "sealed" / f"{closed(house)['digest']}.jsonl"
    said = house("win", "--gaming-day", DAY, "--version", "1", "--json").out
    copy.write_text(copy.read_text().replace("490000", "490001"))
    ingest(house, tmp_path, LATE)
    assert house("win", "--gaming-day", DAY, "--version", "1", "--json").out == said
    assert "490001" not in copy.read_text(), "a copy that was changed is not believed"
    copy.unlink()
    assert house("win", "--gaming-day", DAY, "--version", "1", "--json").out == said


def test_a_day_that_lacks_something_stays_open_unless_two_people_say_why(
    cli: Cli, tmp_path: Path
) -> None:
    ingest(cli, tmp_path, *day_lines(SOLD)[:-1])
    ran = day(cli, "close", DAY, *TWO)
    assert (ran.code, ran.json) == (
        1,
        [{"missing": ["closer", "box:B1"], "tables": {"CC-07": ["closer", "box:B1"]}}],
    )
    assert "CC-07 lacks closer, box:B1" in cli("day", "close", DAY, *TWO).err
    assert day(cli, "show", DAY).json[0]["version"] == 0
    found = closed(cli, "--despite", "The box is lost.")
    assert (found["version"], found["missing"]) == (1, ["closer", "box:B1"])
    ingest(cli, tmp_path, inventory("close", 490_000, 58), COUNTED)
    pending = won(cli)["pending"]
    assert (won(cli)["counted"], pending["counted"], pending["closer"]) == (None, 0, 490_000)


def test_an_opener_that_was_missing_and_came_late_is_pending_with_its_amount(
    cli: Cli, tmp_path: Path
) -> None:
    """What is missing then stays null."""
    lines = day_lines(SOLD, COUNTED, closer=490_000)
    opener = next(each for each in lines if each["data"].get("kind") == "open")
    ingest(cli, tmp_path, *(each for each in lines if each is not opener))
    closed(cli, "--despite", "The slip is lost.")
    ingest(cli, tmp_path, opener)
    won_ = won(cli)
    assert (won_["opener"], won_["pending"]["opener"], won_["pending"]["counted"]) == (
        (None, 500_000, 0)
    )
    assert "pending · opener +$5,000.00" in cli("win").err


@pytest.mark.parametrize("step", ["close", "reopen"])
def test_one_person_closes_no_day(house: Cli, step: str) -> None:
    ran = day(house, step, DAY, "--by", "F-1", "--second", "f-1", "--because", "x")
    assert (ran.code, "F-1 cannot be both people" in ran.err) == (2, True)


def test_a_step_that_does_not_follow_is_refused(house: Cli) -> None:
    ran = day(house, "reopen", DAY, *TWO, "--because", "x")
    assert (ran.code, "is not closed" in ran.err) == (2, True)
    closed(house)
    ran = day(house, "close", DAY, *TWO)
    assert (ran.code, "is closed" in ran.err) == (2, True)
    assert day(house, "show", NEXT).code == 2
    assert house("win", "--gaming-day", DAY, "--version", "2").code == 2
    assert house("win", "--version", "1").code == 2


def seal(version: int, minute: int, digest: str = "0" * 64, **more: Any) -> Line:  # noqa: ANN401 - any field
    told = {"gaming_day": DAY, "version": version, "heads": {"CC-07": 1}, "rules": "other"}
    people = {"by": "F-8", "second": "F-9"}
    return fact("day_sealed", minute, "office", report=1, digest=digest, **told, **people, **more)


def test_seals_of_another_system_count_and_its_bytes_are_not_vouched_for(
    house: Cli, tmp_path: Path
) -> None:
    ingest(house, tmp_path, seal(2, 1), seal(1, 2))
    shown = day(house, "show", DAY).json[0]
    assert (shown["version"], shown["by"]) == (1, "F-8"), "the one that does not follow is ignored"
    ran = house("win", "--gaming-day", DAY, "--version", "1", "--json")
    assert (ran.code, "other bytes" in ran.err, ran.out) == (3, True, "")
    assert [each["code"] for each in won(house)["exceptions"]] == ["digest_differs"]
    assert day(house, "reopen", DAY, *TWO, "--because", "By us.").code == 0
    assert closed(house)["version"] == 2
    assert won(house, "--version", "2")["grade"] == "SEALED"


def test_the_copy_of_one_day_is_not_taken_for_another(house: Cli, tmp_path: Path) -> None:
    """Another system's seal of the next day names the digest of this one."""
    digest = closed(house)["digest"]
    other = seal(1, 5, digest)
    other["data"]["gaming_day"] = NEXT
    ingest(house, tmp_path, *next_day(*day_lines(SOLD)), other)
    ran = house("win", "--gaming-day", NEXT, "--version", "1", "--json")
    assert (ran.code, "other bytes" in ran.err, ran.out) == (3, True, "")


def test_a_table_that_came_after_the_seal_is_shown_and_nothing_sealed_counts_it(
    house: Cli, tmp_path: Path
) -> None:
    closed(house)
    other = [
        {**each, "source": each["source"].replace("CC-07", "CC-08")}
        for each in day_lines(SOLD)
        if "CC-07" in each["source"]
    ]
    ingest(house, tmp_path, *other)
    ran = house("win", "--gaming-day", DAY, "--json")
    assert [(e["table"], e["grade"], e["version"], len(e["late"])) for e in ran.json] == [
        ("CC-07", "SEALED", 1, 0),
        ("CC-08", "ESTIMATE", 0, 4),
    ]


def test_the_opener_that_differs_from_the_last_closer_is_an_exception(
    cli: Cli, tmp_path: Path
) -> None:
    first = day_lines(SOLD, COUNTED, closer=490_000)
    ingest(cli, tmp_path, *first, *next_day(*first))
    [before, after] = cli("win", "--json").json
    assert before["exceptions"] == []
    [found] = after["exceptions"]
    assert (found["code"], len(found["facts"])) == ("opener_differs", 2)
    assert found["says"].startswith("The tray opened with $5,000.00; it closed with $4,900.00")


@pytest.mark.parametrize(("report", "counted"), [(4, 0), (REPORT, None)])
def test_a_day_sealed_by_an_earlier_version_of_the_report_prints_its_bytes_without_a_copy(
    cli: Cli, tmp_path: Path, report: int, counted: int | None
) -> None:
    """Its box was not counted. The control is a digest of the other version."""
    lines = day_lines(SOLD, closer=490_000)
    said = of_day(read_by_program(lines), "p", DAY, report).as_version(1)
    its = {"gaming_day": DAY, "version": 1, "rules": "0.1.0", "report": report}
    heads = Counter(each["source"].split("/")[2] for each in lines)
    people = {"by": "F-1", "second": "F-2"}
    digests = {"digest": digest(said.tables), "shifts": digest(said.shifts)}
    seal = fact("day_sealed", 59, "office", **its, **people, **digests, heads=heads)
    ingest(cli, tmp_path, *lines, seal)
    for more in ((), ("--by", "shift")):
        assert won(cli, "--version", "1", *more)["coupons"]["counted"] == counted
    other = {**seal["data"], "gaming_day": DAY, "report": 4 + REPORT - report}
    with_other = [*lines, {**seal, "data": other}]
    ingest(cli, tmp_path, *(each | {"source": f"/q{each['source'][2:]}"} for each in with_other))
    ran = cli("win", "--gaming-day", DAY, "--property", "q", "--version", "1", "--json")
    assert ran.code == 3


def test_a_correction_that_moves_items_and_no_figure_is_pending_and_an_adjustment(
    cli: Cli, tmp_path: Path
) -> None:
    """$30 in the box, of which nobody recorded the sale."""
    ingest(cli, tmp_path, *day_lines(SOLD, count(59, currency={"1000": 13}), closer=487_000))
    closed(cli)
    ingest(cli, tmp_path, correction(SOLD, {**SOLD["data"], "amount": 13_000}, 30))
    moved = {
        "items.count.box_cash": -3_000,
        "items.count.tray": 3_000,
        "causes.unrecorded_buy_in": -3_000,
    }
    assert won(cli)["pending"] == moved
    assert "pending · items: count: box cash -$30.00" in cli("win", "--gaming-day", DAY).err
    day(cli, "reopen", DAY, *TWO, "--because", "A correction.")
    adjusted = closed(cli)["adjustments"]
    assert {each["figure"]: each["amount"] for each in adjusted} == moved
    assert {len(each["facts"]) for each in adjusted} == {1}
    assert won(cli, "--version", "1")["items"] != won(cli)["items"] == []


def test_a_table_that_came_late_is_pending_with_the_figures_that_it_has(
    house: Cli, tmp_path: Path
) -> None:
    closed(house)
    opened = fact("table_opened", 3, "BJ-1", game="blackjack", gaming_day=DAY,
                  min_wager=500, max_wager=5_000)  # fmt: skip
    fill = fact("fill_accepted", 20, "BJ-1", slip="F-9", chips={"100": 5}, total=500,
                by=["C", "D"])  # fmt: skip
    sent = fact("fill_dispatched", 19, "BJ-1", **fill["data"] | {"by": ["A", "B"]})
    ingest(house, tmp_path, opened, sent, fill)
    [late] = [each for each in house("win", "--gaming-day", DAY, "--json").json
              if each["table"] == "BJ-1"]  # fmt: skip
    lacks = ("opener", "closer", "counted", "count_gap", "seconds")
    assert late["pending"] == {"fills": 500, **dict.fromkeys(lacks)}


@pytest.mark.parametrize("opened_by_count", [False, True])
def test_an_opener_of_the_day_before_is_named_when_its_count_is_corrected_late(
    house: Cli, tmp_path: Path, *, opened_by_count: bool
) -> None:
    """With an opening count of its own, only the exception of the two counts changes."""
    lines = next_day(*day_lines(SOLD, COUNTED, closer=480_000))
    kept = [each for each in lines if opened_by_count or each["data"].get("kind") != "open"]
    ingest(house, tmp_path, *kept)
    assert house("day", "close", NEXT, *TWO).code == 0
    closer = day_lines(closer=490_000)[-1]
    amount = {**closer["data"], "total": 485_000, "chips": {"100": 4_850}}
    fixed = correction(closer, amount, 45)
    ingest(house, tmp_path, fixed)
    [now] = house("win", "--gaming-day", NEXT, "--json").json
    assert [each["id"] for each in now["late"]] == [fixed["id"]]
    assert now["pending"].get("opener") == (None if opened_by_count else -5_000)
    day(house, "reopen", NEXT, *TWO, "--because", "A correction.")
    ran = day(house, "close", NEXT, *TWO)
    named = [each["facts"] for each in ran.json[0]["adjustments"]]
    assert all(named)
    assert bool(named) is not opened_by_count


@pytest.mark.long
def test_a_box_of_a_closed_day_that_is_moved_is_named_on_both_days_until_it_is_opened_again(
    house: Cli, tmp_path: Path
) -> None:
    first = closed(house)
    whole = next_day(*day_lines(SOLD, COUNTED))
    moved = correction(COUNTED, {**COUNTED["data"], "gaming_day": NEXT, "box": "B2"}, 30)
    other = correction(COUNTED, {**COUNTED["data"], "box": "B2"}, 29)
    ingest(house, tmp_path, *whole, other)
    after = ("win", "--gaming-day", NEXT, "--json")
    assert house(*after).json[0]["missing"] == [], "another box of one day is in that day alone"
    ingest(house, tmp_path, moved)
    [taking] = house(*after).json
    [named] = [e for e in taking["exceptions"] if e["code"] == "counted_in_two_days"]
    assert named == {
        "code": "counted_in_two_days",
        "says": f"The count of box B1 with $100.00 is in version 1 of {DAY} as it was signed, and "
        f"in {NEXT} as it is now. Open {DAY} again and close it, so that one day has it.",
        "facts": [{"source": COUNTED["source"], "id": COUNTED["id"]}],
    }
    assert (taking["grade"], taking["missing"]) == ("ESTIMATE", [f"reopen:{DAY}"])
    assert [each["grade"] for each in house(*after, "--by", "shift").json] == ["ESTIMATE"]
    left = won(house)
    assert (left["grade"], left["missing"]) == ("SEALED", [])
    assert named in left["exceptions"]
    assert left["pending"]["drop.taken_over"] == -10_000
    refused = house("day", "close", NEXT, *TWO, "--json")
    assert (refused.code, refused.json[0]["missing"]) == (1, [f"reopen:{DAY}"])
    said = house("win", "--gaming-day", DAY, "--version", "1", "--json").out
    assert first["digest"] == sha256(said.encode()).hexdigest(), "what was signed stays"

    assert day(house, "reopen", DAY, *TWO, "--because", "Box B2 is of the next day.").code == 0
    assert house(*after).json[0]["missing"] == []
    assert day(house, "close", NEXT, *TWO).code == 0
    assert closed(house, "--despite", "The box is the next day's.")["version"] == 2
    for name in (DAY, NEXT):
        [now] = house("win", "--gaming-day", name, "--json").json
        assert "counted_in_two_days" not in [each["code"] for each in now["exceptions"]]
    for number in ("1", "2"):
        whole_house = house("win", "--gaming-day", DAY, "--version", number, "--json").json
        assert whole_house[0]["drop"]["total"] == (10_000 if number == "1" else None)


@pytest.mark.long
def test_a_box_that_is_moved_with_both_its_counts_left_the_closed_day_once(
    cli: Cli, tmp_path: Path
) -> None:
    second = count(59, 2, currency={"10000": 1})
    second["id"] = "second"
    ingest(cli, tmp_path, *day_lines(SOLD, COUNTED, second, closer=490_000))
    closed(cli)
    moved = [
        correction(each, {**each["data"], "gaming_day": NEXT}, minute)
        for minute, each in ((30, COUNTED), (31, second))
    ]
    ingest(cli, tmp_path, *next_day(*day_lines(SOLD, closer=490_000)), *moved)
    left = won(cli)
    assert left["pending"]["drop.taken_over"] == -10_000
    [named] = [e for e in left["exceptions"] if e["code"] == "counted_in_two_days"]
    assert [each["id"] for each in named["facts"]] == [COUNTED["id"], "second"]
    [taking] = cli("win", "--gaming-day", NEXT, "--json").json
    assert taking["drop"]["total"] == 10_000, "the other day takes the box once, too"
    [again] = [e for e in taking["exceptions"] if e["code"] == "counted_in_two_days"]
    assert again == named


def of_count(number: str, name: str, of: Line, table: str, gaming_day: str) -> Line:
    """A correction that gives a count to a table's day."""
    made = correction(of, {**of["data"], "table": table, "gaming_day": gaming_day}, 40)
    return {**made, "id": f"{name}-{number}"}


def at_other_table(lines: Sequence[Line]) -> list[Line]:
    """The same facts at CC-08."""
    found: list[Line] = json.loads(json.dumps(lines).replace("CC-07", "CC-08"))
    return [each | {"id": f"{each['id']}-8"} for each in found]


def test_a_box_that_two_tables_counted_keeps_their_day_open_until_one_is_right(
    cli: Cli, tmp_path: Path
) -> None:
    """The first count names one table and the second one the other. The box hung at both."""
    here = day_lines(SOLD, COUNTED, closer=490_000, once=True)
    wrong = {**count(59, 2, currency={"10000": 1}), "id": "second"}
    wrong["data"] = {**wrong["data"], "table": "CC-08"}
    ingest(cli, tmp_path, *here, *at_other_table(day_lines()), wrong)
    for more in ((), ("--gaming-day", DAY), ("--gaming-day", DAY, "--table", "CC-08")):
        for each in cli("win", "--json", *more).json:
            [named] = [e for e in each["exceptions"] if e["code"] == "box_at_two_tables"]
            assert named["says"] == (
                "Box B1 was counted at several tables of one gaming day: count 1 with $100.00 at "
                "CC-07, count 2 with $100.00 at CC-08. Correct what is of another table."
            )
            assert [ref["id"] for ref in named["facts"]] == [COUNTED["id"], "second"]
            assert (each["grade"], each["missing"]) == ("ESTIMATE", ["box:B1"])
            of_drop = cli("drop", "--json", "--table", each["table"], "--gaming-day", DAY)
            assert of_drop.json[0]["exceptions"] == [named]
            assert named["says"] in cli("drop", "--table", each["table"]).err
    lacks = "missing · box B1 was counted at several tables or days; correct what is wrong"
    assert cli("win", "--gaming-day", DAY).err.count(lacks) == 2
    assert day(cli, "close", DAY, *TWO).code == 1
    ingest(cli, tmp_path, correction(wrong, {**wrong["data"], "table": "CC-07"}, 40))
    assert "box_at_two_tables" not in cli("win", "--json").out
    assert [each["exceptions"] for each in cli("drop", "--json").json] == [[], []]


@pytest.mark.parametrize("counts", [2, 3])
def test_a_box_that_was_emptied_and_hung_at_another_table_is_no_error(
    cli: Cli, tmp_path: Path, counts: int
) -> None:
    """Each table attached it, removed it and had it counted. One had a third count, too."""
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY, "shift": "day"}
    removed = fact("drop_box_removed", 20, "count-room", **box)
    third = count(59, 3, currency={"10000": 1}, counted_by=["N-5", "N-6"])
    more = [{**third, "id": "third"}] if counts == 3 else []
    here = day_lines(SOLD, removed, COUNTED, *more, closer=490_000)
    later = day_lines(SOLD, fact("drop_box_removed", 57, "count-room", **box), COUNTED)
    other = [
        each | {"time": each["time"].replace(":01:", ":30:")}
        if "attached" in each["type"]
        else each
        for each in at_other_table(later)
    ]
    ingest(cli, tmp_path, *here, *other)
    assert "box_at_two_tables" not in cli("win", "--json").out
    ingest(cli, tmp_path, correction(removed, None, 45))
    assert cli("win", "--json").out.count("box_at_two_tables") == 2, "it hung at both at once"


@pytest.mark.parametrize(("table", "gaming_day"), [("CC-08", DAY), ("CC-07", NEXT)])
def test_a_box_whose_last_count_alone_is_moved_keeps_both_days_open(
    cli: Cli, tmp_path: Path, table: str, gaming_day: str
) -> None:
    second = {**count(59, 2, currency={"10000": 1}), "id": "second"}
    here = day_lines(SOLD, COUNTED, second, closer=490_000)
    other = json.loads(
        json.dumps(day_lines(SOLD, COUNTED, closer=490_000)).replace("CC-07", "CC-08")
    )
    for each in other:
        each["id"] += "-8"
        each["data"] |= {"box": "B8"} if "box" in each["data"] else {}
    after = next_day(*day_lines(SOLD, COUNTED, closer=490_000))
    moves = of_count("2", "moves", second, table, gaming_day)
    ingest(cli, tmp_path, *here, *other, *after, moves)
    doubled = [
        each
        for each in cli("win", "--json").json
        if "box_counted_twice" in [e["code"] for e in each["exceptions"]]
    ]
    assert sorted((e["table"], e["gaming_day"]) for e in doubled) == sorted(
        [("CC-07", DAY), (table, gaming_day)]
    )
    for each in doubled:
        [named] = [e for e in each["exceptions"] if e["code"] == "box_counted_twice"]
        assert named["says"] == (
            f"The drop has box B1 twice: by count 1 with $100.00 at CC-07 on {DAY}, and by count 2 "
            f"with $100.00 at {table} on {gaming_day}. Correct its other counts, too."
        )
        assert [ref["id"] for ref in named["facts"]] == [COUNTED["id"], "second"]
        assert (each["grade"], each["missing"]) == ("ESTIMATE", ["box:B1"])
        of_drop = cli(
            "drop", "--json", "--table", each["table"], "--gaming-day", each["gaming_day"]
        )
        assert of_drop.json[0]["exceptions"] == [named]
    assert day(cli, "close", DAY, *TWO).code == 1
    ingest(cli, tmp_path, of_count("1", "moves", COUNTED, table, gaming_day))
    lacking = {(e["table"], e["gaming_day"]): e["missing"] for e in cli("win", "--json").json}
    assert lacking.pop(("CC-07", DAY)) == ["box:B1"], "the box hung here, and nobody counted it"
    assert not any(lacking.values())
    assert "box_counted_twice" not in cli("win", "--json").out


def test_a_second_count_that_was_recorded_at_a_wrong_table_and_moved_to_its_first_is_one_box(
    cli: Cli, tmp_path: Path
) -> None:
    wrong = {**count(59, 2, currency={"10000": 1}, table="CC-08"), "id": "second"}
    right = of_count("2", "moves", wrong, "CC-07", DAY)
    ingest(cli, tmp_path, *day_lines(SOLD, COUNTED, wrong, closer=490_000), right)
    [found] = cli("win", "--json").json
    assert (found["drop"]["total"], found["missing"], found["exceptions"]) == (10_000, [], [])
    closed(cli)


SETTLED = {"position": 1, "wager": "player", "amount": 2_500}


def of_another_house(of: Line, data: dict[str, Any], minute: int) -> Line:
    """A correction of a fact by the office of another property."""
    made = correction(of, data, minute)
    return {**made, "source": "/q/office/desk", "id": f"q-{minute}"}


@pytest.mark.parametrize("is_sealed_first", [False, True])
def test_no_other_house_changes_a_days_figures_or_its_sealed_version(
    house: Cli, tmp_path: Path, *, is_sealed_first: bool
) -> None:
    open_ = won(house)
    said = {**open_, "grade": "SEALED", "version": 1, "exceptions": open_["exceptions"]}
    data = {**COUNTED["data"], "currency": {"10000": 2}}
    first = of_another_house(COUNTED, data, 30)
    if is_sealed_first:
        closed(house)
    ingest(house, tmp_path, first)
    now = won(house)
    assert {**now, "exceptions": open_["exceptions"]} == (said if is_sealed_first else open_)
    [named] = [each for each in now["exceptions"] if each not in open_["exceptions"]]
    assert named["code"] == "correction_of_other_property"
    assert named["facts"] == [
        {"source": each["source"], "id": each["id"]} for each in (COUNTED, first)
    ]
    assert named["says"] == (
        "q corrects fact drop_box_counted-count-room-59 of /p/count-room/d. That has no effect: a "
        "property corrects its own facts alone."
    )
    [drop] = house("drop", "--json").json
    assert (drop["box_total"], drop["corrections"]) == (10_000, [])
    if not is_sealed_first:
        closed(house)
    later = {**of_another_house(COUNTED, {**data, "currency": {"10000": 3}}, 31), "id": "q-later"}
    ingest(house, tmp_path, later)
    for copy in (tmp_path / "home" / "sealed").iterdir():
        copy.unlink()
    version = house("win", "--gaming-day", DAY, "--version", "1", "--json")
    assert (version.code, version.json) == (0, [said]), version.err
    now = won(house)
    assert (now["late"], now["pending"], now["exceptions"][-1]["code"]) == ([], {}, named["code"])


def test_a_day_closed_by_version_11_after_another_house_corrected_it_prints_its_bytes(
    cli: Cli, tmp_path: Path
) -> None:
    """The control is a correction that came after the seal."""
    data = {**COUNTED["data"], "currency": {"10000": 2}}
    lines = day_lines(SOLD, COUNTED, closer=490_000, once=True)
    mine = {**of_another_house(COUNTED, data, 30), "source": "/p/office/others"}
    said = of_day(read_by_program([*lines, mine]), "p", DAY, 11).as_version(1)
    its = {"gaming_day": DAY, "version": 1, "rules": "0.1.0", "report": 11}
    heads = Counter(each["source"].split("/")[2] for each in lines)
    digests = {"digest": digest(said.tables), "shifts": digest(said.shifts)}
    people = {"by": "F-1", "second": "F-2"}
    seal = fact("day_sealed", 59, "office", **its, **people, **digests, heads=heads)
    ingest(cli, tmp_path, *lines, of_another_house(COUNTED, data, 30), seal)
    later = of_another_house(COUNTED, {**data, "currency": {"10000": 3}}, 40)
    ingest(cli, tmp_path, later)
    for more in ((), ("--by", "shift")):
        assert won(cli, "--version", "1", *more)["drop"]["cash"] == 20_000
    assert won(cli)["told"]["drop.cash"] == 10_000
