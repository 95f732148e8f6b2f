"""Reports of slips, trays, wagers, tax and coupons, and reports of a week, month or year."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook
from pyarrow import parquet

from replay.reports.coupon_papers import day_form, month_inventory
from replay.reports.files import WRITERS
from replay.reports.kinds import REPORTS
from replay.reports.table import ReportHead
from tests.integration.finance.test_report import rows_of
from tests.integration.finance.test_report_laws import day_with_faults
from tests.property.finance.floors import read_by_program
from tests.scenes.coupons import USUAL, boxed, inventoried, issued, received
from tests.scenes.table_days import (
    DAY,
    NEXT,
    count,
    day_lines,
    fact,
    inventory,
    next_day,
    slip,
    tournament,
)
from tests.unit.finance.test_papers import TAKEN, coup

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.record.wire import Fact
    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

HEAD = ReportHead("hollywood", "A report", DAY, "COUNTED", 0, "0" * 64, "now", "me", 0)
MASTER = "master-game"
NEW = (
    *("slips", "inventories", "wagers", "rake", "tax-week", "coupons-day", "coupons-month"),
    *("mispays", "denominations", "box-counts", "overrides", "limits"),
)


def test_each_report_opens_as_a_workbook_and_as_parquet_with_its_rows(database: Database) -> None:
    asked = day_with_faults(database, range(2))
    for kind in (each for each in REPORTS if each.name in NEW):
        table = kind.table(asked)
        names = [each.title for each in table.columns]
        sheet = load_workbook(io.BytesIO(WRITERS[".xlsx"](HEAD, table))).active
        assert sheet is not None
        shown = [[cell.value for cell in row] for row in sheet.iter_rows()]
        top = next(n for n, row in enumerate(shown) if row[: len(names)] == names)
        assert len(shown) - top - 1 == len(table.rows), kind.name
        read = parquet.read_table(io.BytesIO(WRITERS[".parquet"](HEAD, table)))
        assert (read.num_rows, read.num_columns) == (len(table.rows), len(names))
        assert read.schema.metadata[b"facility"] == b"hollywood"
        assert WRITERS[".pdf"](HEAD, table).startswith(b"%PDF")
    assert all(each in {kind.name for kind in REPORTS} for each in NEW)


@pytest.fixture
def two_days(cli: Cli, tmp_path: Path) -> Cli:
    """Two days of a table: a slip that is missing, one on its way, a tray counted twice."""
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    told = [
        *day_lines(
            sold,
            slip("fill", "requested", "F-1", 20),
            slip("fill", "dispatched", "F-1", 22),
            slip("fill", "accepted", "F-1", 26),
            inventory("drop", 499_000, 40),
            slip("fill", "dispatched", "F-3", 45),
            count(59, currency={"5000": 2}),
            tournament("entered", "Spring", 50, 40_000),
            tournament("prize_paid", "Spring", 55, 30_000),
            closer=499_000,
            once=True,
        ),
        *next_day(*day_lines(count(59), closer=500_100)),
        *USUAL[:-1],
    ]
    ingest(cli, tmp_path / "feed.jsonl", told)
    return cli


def ingest(cli: Cli, feed: Path, lines: list[Line]) -> None:
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    cli("ingest", feed)


def head_of(cli: Cli, folder: Path, name: str) -> tuple[str, int, str]:
    """Grade, version and digest of a report."""
    ran = cli("report", name, "--gaming-day", DAY, "--to", folder / "head.csv", "--json")
    assert ran.code == 0, ran.err
    (head,) = ran.json
    return head["grade"], head["version"], head["digest"]


def printed(cli: Cli, tmp_path: Path, name: str, *more: str, day: str = DAY) -> list[list[str]]:
    to = tmp_path / f"{name}.csv"
    done = cli("report", name, "--gaming-day", day, "--to", to, *more)
    assert done.code == 0, done.err
    return rows_of(to)[1:]


def test_both_parts_of_a_day_on_which_clocks_change_have_their_offset(
    cli: Cli, tmp_path: Path
) -> None:
    """Clocks were set back between opener and closer; the newest facts have the later offset."""
    lines = day_lines(slip("fill", "accepted", "F-1", 26), count(59))
    for each in lines[:3]:
        each["time"] = each["time"].replace("-05:00", "-04:00")
    ingest(cli, tmp_path / "feed.jsonl", lines)
    shown = [row[1] for row in printed(cli, tmp_path, "inventories")]
    assert shown == [f"{DAY} 10:02:00 -04:00", f"{DAY} 10:58:00 -05:00"]
    [filled] = printed(cli, tmp_path, "slips")
    assert filled[7] == f"{DAY} 10:26:00 -05:00"


@pytest.mark.parametrize(("closed", "dealers"), [(True, "D-2"), (False, "D-1, D-2")])
def test_a_mispay_names_the_dealers_who_stood_at_its_table(
    cli: Cli, tmp_path: Path, *, closed: bool, dealers: str
) -> None:
    """Who came before the table was closed had left. The stake is of the wager that was lost."""
    came = [fact("dealer_assigned", at, employee=f"D-{at}", role="dealer") for at in (1, 2)]
    came[0]["time"] = came[0]["time"].replace(":01:", ":00:")
    told = [came[0], *([fact("table_closed", 1)] if closed else []), came[1]]
    ingest(cli, tmp_path / "feed.jsonl", day_lines(*told, *coup(TAKEN), count(59), closer=506_500))
    [row] = printed(cli, tmp_path, "mispays")
    assert (row[1], row[8], row[9]) == ("3", "-40.00", "fact_missing")
    assert row[10:] == [f"{DAY} 10:32:00 -05:00", dealers, "40.00"]


@pytest.mark.long
def test_slips_and_trays_are_printed_with_their_times_and_differences(
    two_days: Cli, tmp_path: Path
) -> None:
    used, sent, *missing = printed(two_days, tmp_path, "slips")
    assert used[:5] == ["fill", "F-1", "CC-07", "used", "100.00"]
    assert used[-1] == "6"
    assert sent[:5] == ["fill", "F-3", "CC-07", "on its way", "100.00"]
    assert sent[-1] == ""
    assert [row[:4] for row in missing] == [["fill", "F-2", "CC-07", "missing"]]
    trays = printed(two_days, tmp_path, "inventories")
    assert [row[2:3] + row[4:7] for row in trays] == [
        ["open", "", "5000.00", ""],
        ["drop", "5000.00", "4990.00", "-10.00"],
        ["close", "4990.00", "4990.00", "0.00"],
    ]
    assert trays[0][1].endswith("-05:00")
    assert trays[0][-3:] == ["D-1", "F-1", "$1.00 x 5000"]
    [opened, _] = printed(two_days, tmp_path, "inventories", day=NEXT)
    assert opened[4:7] == ["4990.00", "5000.00", "10.00"]


def test_a_slip_that_was_sent_to_one_table_and_accepted_at_another_stands_once_and_says_so(
    cli: Cli, tmp_path: Path
) -> None:
    sent = slip("fill", "dispatched", "F-1", 20, place="cage")
    sent["data"]["table"] = "CC-07"
    taken = slip("fill", "accepted", "F-1", 26, place="CC-08")
    opened = {**day_lines()[0], "source": "/p/CC-08/d"}
    ingest(cli, tmp_path / "feed.jsonl", [*day_lines(count(59), sent), opened, taken])
    [row] = printed(cli, tmp_path, "slips")
    assert (row[:5], row[-1]) == (["fill", "F-1", "CC-08", "used", "100.00"], "6")
    said = "was dispatched here, and accepted at CC-08."
    for more in ((), ("--table", "CC-07"), ("--gaming-day", DAY, "--table", "CC-07")):
        [cause] = cli("win", "--json", *more).json[0]["causes"]
        assert cause["says"] == f"Fill Slip F-1 of $100.00 {said}"
        assert [each["id"] for each in cause["facts"]] == [sent["id"], taken["id"]]


def test_tables_without_a_game_have_a_line_of_their_own_with_their_own_slips(
    cli: Cli, tmp_path: Path
) -> None:
    """A table that has a box and never opened."""
    boxed_only = {**day_lines()[1], "id": "CL", "source": "/p/CL-01/pit"}
    boxed_only["data"] = {**boxed_only["data"], "table": "CL-01", "box": "B9"}
    lines = day_lines(count(59), slip("credit", "accepted", "C-1", 20), closer=490_000)
    ingest(cli, tmp_path / "feed.jsonl", [*lines, boxed_only])
    rows = printed(cli, tmp_path, "master-game")
    slips = {(row[0], row[1]): row[-1] for row in rows}
    assert slips == {
        ("CC-07", "criss_cross_poker"): "1",
        ("CL-01", ""): "0",
        ("all", "criss_cross_poker"): "1",
        ("all", "no game"): "0",
        ("all", ""): "1",
    }
    shown = cli("win", "--by", "game").out
    assert ("no game" in shown, shown.count("house")) == (True, 1)


def test_a_table_of_poker_and_a_banked_game_is_filed_as_both_and_named_with_its_rake(
    cli: Cli, tmp_path: Path
) -> None:
    """No count says what each has. The handle of each game is that of its wagers."""
    rounds = [
        fact(name, minute, **data) | {"subject": f"CC-07/{DAY}/2"}
        for name, minute, data in (
            ("round_started", 40, {"game": "omaha_5_high"}),
            ("rake_taken", 41, {"amount": 700}),
        )
    ]
    counted = count(59, chips={"100": 7})
    ingest(cli, tmp_path / "feed.jsonl", day_lines(*coup(), *rounds, counted, closer=506_500))
    both = "minibaccarat and omaha_5_high"
    [line] = printed(cli, tmp_path, "rake")
    assert line == ["CC-07", both, "COUNTED", "7.00", "", "", "", "1", "0.00"]
    master = {(row[0], row[1]): (row[14], *row[-5:-2]) for row in printed(cli, tmp_path, MASTER)}
    assert master == {
        ("CC-07", both): ("72.00", "65.00", "72.00", "65.00"),
        ("all", "minibaccarat"): ("", "65.00", "65.00", "65.00"),
        ("all", both): ("72.00", "", "", ""),
        ("all", "omaha_5_high"): ("", "0.00", "7.00", ""),
        ("all", ""): ("72.00", "65.00", "72.00", "65.00"),
    }
    wagers = printed(cli, tmp_path, "wagers")
    assert [(row[0], row[4], row[9]) for row in wagers] == [("Minibaccarat", "65.00", "65.00")]
    assert both in cli("win", "--by", "game").out
    [filed, _] = [row for row in printed(cli, tmp_path, "tax-week") if row[3] != ""]
    assert filed[1] == "poker and banked games"
    said = [row for row in printed(cli, tmp_path, "exceptions") if row[2] == "two_kinds_of_game"]
    assert ["$7.00" in row[3] for row in said] == [True]


def test_a_slip_of_no_day_is_printed_with_the_day_that_names_it(cli: Cli, tmp_path: Path) -> None:
    early = slip("fill", "accepted", "F-1", 0) | {"time": "2026-11-20T09:00:00-05:00"}
    nowhere = slip("credit", "dispatched", "C-9", 5, place="CC-99")
    own = slip("fill", "accepted", "F-2", 30)
    ingest(cli, tmp_path / "feed.jsonl", [*day_lines(count(59), own), early, nowhere])
    assert [row[:5] for row in printed(cli, tmp_path, "slips")] == [
        ["fill", "F-2", "CC-07", "used", "100.00"],
        ["fill", "F-1", "CC-07", "of no day", "100.00"],
        ["credit", "C-9", "CC-99", "of no day", "100.00"],
    ]


@pytest.mark.long
def test_what_comes_late_changes_no_byte_of_a_closed_days_reports_and_stands_in_one_of_its_own(
    cli: Cli, tmp_path: Path
) -> None:
    def heads(names: tuple[str, ...]) -> dict[str, tuple[str, int, str]]:
        return {name: head_of(cli, tmp_path, name) for name in names}

    of_seal = tuple(each.name for each in REPORTS if each.of_seal and each.name != "late")
    other = json.dumps(day_lines(count(59))).replace("CC-07", "CC-08").replace('"B1"', '"B8"')
    late = [each | {"id": f"late-{each['id']}"} for each in json.loads(other)]
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    ingest(cli, tmp_path / "feed.jsonl", day_lines(sold, count(59)))
    assert cli("day", "close", DAY, "--by", "F-1", "--second", "F-2").code == 0
    before = heads((*of_seal, "late"))
    assert {its[:2] for its in before.values()} == {("SEALED", 1)}
    two = [fact("cash_bought_in", 11, position=2, amount=500)]
    two.append({**sold, "data": {**sold["data"], "amount": 20_000}})
    ingest(cli, tmp_path / "feed.jsonl", [*late, *two])
    now = heads((*of_seal, "late"))
    assert {name for name in now if now[name] != before[name]} == {"late"}
    assert now["late"][:2] == ("SEALED", 1)
    rows = printed(cli, tmp_path, "late")
    assert ["CC-07", "items: count: tray", "5.00", "1", ""] in rows
    assert [(row[0], row[1]) for row in rows if row[4]] == [
        ("CC-07", "equivocation"),
        ("CC-08", "not signed"),
    ]
    shown = cli("day", "show", DAY, "--json").json[0]
    assert (shown["missing"], shown["late_tables"]) == ([], ["CC-08"])
    assert "Version 1 lacks what came later: CC-08." in cli("day", "show", DAY).err


@pytest.mark.long
def test_a_month_with_a_closed_day_sums_its_open_ones_too(two_days: Cli, tmp_path: Path) -> None:
    """The other table has the closed day alone, so that all its days are closed."""
    other = json.loads(json.dumps(day_lines(count(59))).replace("CC-07", "CC-08"))
    box = json.loads(json.dumps(other).replace('"B1"', '"B8"'))
    ingest(two_days, tmp_path / "feed.jsonl", [each | {"id": f"8-{each['id']}"} for each in box])
    before = printed(two_days, tmp_path, "master-game", "--period", "month", day=NEXT)
    assert [row[0] for row in before] == ["CC-07", "CC-08", "all", "all"]
    closed = two_days("day", "close", DAY, "--by", "F-1", "--second", "F-2", "--despite", "F-3")
    assert closed.code == 0, closed.err
    after = printed(two_days, tmp_path, "master-game", "--period", "month", day=NEXT)
    assert [row[4:17] for row in after] == [row[4:17] for row in before]
    assert [row[3] == "SEALED" for row in after] == [False, True, False, False]


@pytest.mark.long
def test_a_month_sums_its_days_and_a_week_has_its_tax(two_days: Cli, tmp_path: Path) -> None:
    first, second = (
        dict(zip(HEADS, printed(two_days, tmp_path, "master-game", day=day)[0], strict=False))
        for day in (DAY, NEXT)
    )
    months = printed(two_days, tmp_path, "master-game", "--period", "month", day=NEXT)
    of_month, of_game, of_house = months
    assert [row[0] for row in months] == ["CC-07", "all", "all"]
    assert of_game[4:17] == of_house[4:17] == of_month[4:17]
    both = dict(zip(HEADS, of_month, strict=False))
    assert (both["opener"], both["closer"]) == (first["opener"], second["closer"])
    assert [row[-2:] for row in months] == [["1", "0"]] * 3
    for name in ("fills", "drop", "counted"):
        assert float(both[name]) == float(first[name]) + float(second[name])
    *days, week = printed(two_days, tmp_path, "tax-week", day=NEXT)
    of_banked, of_contest = "banked games", "tournaments"
    assert [row[:2] for row in days] == [[DAY, of_banked], [DAY, of_contest], [NEXT, of_banked]]
    assert float(week[3]) == float(both["counted"]) + 100
    assert [row[5] for row in days] == ["-1.20", "12.00", "0.12"]
    assert week[5] == "10.92"
    refused = two_days("report", "slips", "--gaming-day", DAY, "--to", "x.csv", "--period", "year")
    assert (refused.code, "has no sums" in refused.err) == (2, True)


HEADS = (
    *("table", "game", "pit", "grade", "opener", "fills", "credits", "closer", "cash", "foreign"),
    *("counter_checks", "vouchers", "chips", "drop", "counted"),
)


@pytest.mark.long
def test_a_version_is_printed_with_what_it_said(two_days: Cli, tmp_path: Path) -> None:
    two = ("--by", "F-1", "--second", "F-2")
    two_days("day", "close", DAY, *two)
    signed = printed(two_days, tmp_path, "three-wins")
    late = count(30, 2, currency={"5000": 4})
    ingest(two_days, tmp_path / "late.jsonl", [late])
    two_days("day", "reopen", DAY, *two, "--because", "A box was counted again.")
    two_days("day", "close", DAY, *two)
    assert printed(two_days, tmp_path, "three-wins", "--version", "1") == signed
    trial = [printed(two_days, tmp_path, "trial-balance", "--version", each) for each in "12"]
    assert trial[0] != trial[1]
    steps = printed(two_days, tmp_path, "overrides")
    assert [row[1:3] for row in steps] == [
        ["closed", f"{DAY}, version 1"],
        ["opened again", DAY],
        ["closed", f"{DAY}, version 2"],
    ]
    assert steps[0][3:] == ["F-1", "F-2", ""]
    assert [row[0] for row in steps] == sorted(row[0] for row in steps)
    assert all(row[0] for row in steps)
    again = printed(two_days, tmp_path, "three-wins", "--version", "2")
    assert "closed by,F-1 and F-2\r\n" in (tmp_path / "three-wins.csv").read_bytes().decode()
    printed(two_days, tmp_path, "three-wins", day=NEXT)
    assert "closed by" not in (tmp_path / "three-wins.csv").read_text(), "that day is open"
    assert float(again[0][3]) - float(signed[0][3]) == 100
    refused = two_days("report", "slips", "--gaming-day", DAY, "--to", "x.csv", "--version", "1")
    assert (refused.code, "what two people signed" in refused.err) == (2, True)


@pytest.mark.long
def test_overrides_and_counts_of_boxes_name_their_people(two_days: Cli, tmp_path: Path) -> None:
    counted = count(59, currency={"5000": 2})
    of = {"source": counted["source"], "id": counted["id"]}
    meant = {**counted["data"], "currency": {"5000": 3}}
    people = {"because": "A note was stuck.", "by": "F-1", "second": "F-2"}
    void = slip("fill", "voided", "F-3", 48) | {"id": "void"}
    void["data"] |= {"by": ["F-8", "C-9"], "reason": "Not needed."}
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY}
    more = [
        fact("fact_corrected", 54, "office", of=of, data=meant, **people),
        fact("drop_box_verified", 59, "cage", **box, total=15_000, by="C-5"),
        void,
    ]
    ingest(two_days, tmp_path / "more.jsonl", more)
    voided, corrected = printed(two_days, tmp_path, "overrides")
    assert voided[1:] == ["voided", "Fill Slip F-3", "F-8", "C-9", "Not needed."]
    name = f"drop_box_counted {of['id']} of {of['source']}"
    assert corrected[1:] == ["corrected", name, "F-1", "F-2", "A note was stuck."]
    [its] = printed(two_days, tmp_path, "box-counts")
    assert its == ["CC-07", "B1", "150.00", "", "150.00", "N-1, N-2", "", "C-5", "", ""]
    [notes] = printed(two_days, tmp_path, "denominations")
    assert notes[:9] == ["CC-07", "B1", "0", "0", "0", "0", "0", "3", "0"]


def test_overrides_have_corrections_of_other_houses_and_of_nothing_on_their_day(
    cli: Cli, tmp_path: Path
) -> None:
    """The control is the next day, which has none of them."""
    counted = count(59, currency={"5000": 2})
    people = {"because": "Mixed up.", "by": "F-1", "second": "F-2"}
    lost = {"source": "/p/CC-07/d", "id": "lost"}
    mine = fact("fact_corrected", 50, "office", of=lost, **people)
    ref = {"source": counted["source"], "id": counted["id"]}
    ours = fact("fact_corrected", 51, "office", of=ref, data=counted["data"], **people)
    others = [
        fact("fact_corrected", minute, "office", of=of, **people) | {"source": "/q/office/d"}
        for minute, of in (
            (52, ref),
            (53, {"source": ours["source"], "id": ours["id"]}),
            (54, lost),
            (55, {"source": "/p/cage/d", "id": "lost"}),
        )
    ]
    day = day_lines(counted)
    ingest(cli, tmp_path / "feed.jsonl", [*day, *next_day(*day), mine, ours, *others])
    rows = printed(cli, tmp_path, "overrides")
    by_q = "taken back by q, which has no effect"
    name = f"drop_box_counted {ref['id']} of {ref['source']}"
    assert [row[1:3] for row in rows] == [
        ["taken back", "fact lost of /p/CC-07/d"],
        ["corrected", name],
        [by_q, name],
        [by_q, f"fact_corrected {ours['id']} of {ours['source']}"],
        [by_q, "fact lost of /p/CC-07/d"],
        [by_q, "fact lost of /p/cage/d"],
    ]
    assert {tuple(row[3:]) for row in rows} == {("F-1", "F-2", "Mixed up.")}
    assert printed(cli, tmp_path, "overrides", day=NEXT) == []
    [win] = cli("win", "--gaming-day", DAY, "--json").json
    named = [each for each in win["exceptions"] if each["code"] == "correction_of_other_property"]
    assert [each["facts"][-1]["id"] for each in named] == [line["id"] for line in others[:3]]
    assert [each["says"].count("which is not on record") for each in named] == [0, 0, 1]


def test_each_report_is_printed_of_a_table_that_was_opened_and_never_counted(
    cli: Cli, tmp_path: Path
) -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    opened = [e for e in day_lines(sold) if ".table_opened." in e["type"]]
    ingest(cli, tmp_path / "feed.jsonl", [*opened, sold])
    for name in (each.name for each in REPORTS):
        ran = cli("report", name, "--gaming-day", DAY, "--to", tmp_path / f"{name}.csv")
        assert ran.code == 0, (name, ran.err)


@pytest.mark.long
def test_the_counts_of_a_box_have_a_line_for_each_of_its_stays(cli: Cli, tmp_path: Path) -> None:
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY}
    attached = fact("drop_box_attached", 23, "count-room", **box)
    first, second = (count(at, currency={"2000": n}) for at, n in ((20, 5), (57, 2)))
    ingest(cli, tmp_path / "feed.jsonl", day_lines(first, attached, second))
    shown = [each[:3] for each in printed(cli, tmp_path, "box-counts")]
    assert shown == [["CC-07", "B1", "100.00"], ["CC-07", "B1", "40.00"]]


def date_of(fact: Fact) -> str:
    return DAY if fact.time_us else NEXT


def test_a_form_of_coupons_has_what_was_held_and_what_remains() -> None:
    facts = read_by_program(USUAL)
    form = {each.step: each.serials.pieces for each in day_form(facts, DAY, date_of)}
    assert form == {
        "held over": 0,
        "issued": 50,
        "distributed": 40,
        "used": 0,
        "returned": 5,
        "voided": 1,
        "remaining": 4,
    }
    morrow = {each.step: each.serials.pieces for each in day_form(facts, NEXT, date_of)}
    assert morrow == {**dict.fromkeys(form, 0), "held over": 4, "remaining": 4}
    assert not any(each.serials.pieces for each in day_form(facts, "2026-11-19", date_of))


def test_papers_of_coupons_take_none_in_a_box_for_one_that_is_held() -> None:
    """By a house that records no distribution: a box is of its day, whenever it was counted."""
    at_night = {**boxed(7), "time": "2026-12-01T09:00:00-05:00"}
    facts = read_by_program((received(), issued(), at_night))

    def date(of: Fact) -> str:
        return DAY if of.time_us < facts[-1].time_us else "2026-12-01"

    form = {each.step: each.serials.pieces for each in day_form(facts, DAY, date)}
    assert (form["issued"], form["used"], form["remaining"]) == (50, 1, 49)
    morrow = {each.step: each.serials.pieces for each in day_form(facts, "2026-12-01", date)}
    assert (morrow["held over"], morrow["used"], morrow["remaining"]) == (49, 0, 49)
    month = {each.step: each.serials.pieces for each in month_inventory(facts, DAY[:7], date)}
    assert month == {"in stock": 50, "held by marketing": 49, "not distributed": 99}


@pytest.mark.long
def test_the_form_of_coupons_is_printed_of_a_day_on_which_no_table_has_money(
    two_days: Cli, tmp_path: Path
) -> None:
    form = printed(two_days, tmp_path, "coupons-day", day="2026-11-25")
    assert [row[1:3] for row in form][-1] == ["remaining", "4"]
    assert printed(two_days, tmp_path, "coupons-month", "--property", "p", day="2026-12-25")
    refused = two_days("report", "rake", "--gaming-day", "2026-11-25", "--to", "x.csv")
    assert (refused.code, "No money is on record" in refused.err) == (2, True)


def test_an_inventory_of_a_month_names_what_differs() -> None:
    facts = read_by_program((*USUAL, inventoried((41, 99))))
    lines = {each.step: each.serials for each in month_inventory(facts, DAY[:7], date_of)}
    pieces = {step: its.pieces for step, its in lines.items()}
    assert pieces == {
        "in stock": 55,
        "held by marketing": 4,
        "not distributed": 59,
        "counted": 59,
        "differ": 2,
    }
    [voided, last] = lines["differ"].ranges
    assert (voided.first, last.first) == ("MP-0046", "MP-0100")
    assert [each.step for each in month_inventory(facts, "2026-10", date_of)] == [
        *("in stock", "held by marketing", "not distributed")
    ]


@pytest.mark.parametrize(("name", "more"), [("tax-week", ()), ("wagers", ("--period", "month"))])
def test_a_week_or_month_is_printed_by_a_last_day_on_which_the_house_was_closed(
    cli: Cli, tmp_path: Path, name: str, more: tuple[str, ...]
) -> None:
    ingest(cli, tmp_path / "feed.jsonl", day_lines(*coup(TAKEN), count(59), closer=506_500))
    on_it = printed(cli, tmp_path, name, *more)
    assert len(on_it) > 0
    assert printed(cli, tmp_path, name, *more, day="2026-11-22")[:1] == on_it[:1]
    none = cli("report", name, "--gaming-day", "2026-10-31", "--to", tmp_path / "x.csv", *more)
    assert none.code == 2, none.err
    assert "No money is on record" in none.err
