"""`report` prints each report, remembers that it did, and says so on the second print."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import pytest

from replay.reports.files import WRITERS
from replay.reports.kinds import REPORTS
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
SHORT = count(59, currency={"5000": 1})


@pytest.fixture
def counted(cli: Cli, tmp_path: Path) -> Cli:
    """A ledger with a table's day, whose box is $50.00 short."""
    feed = tmp_path / "feed.jsonl"
    lines = day_lines(SOLD, SHORT, closer=490_000)
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    cli("ingest", feed)
    return cli


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return rows[rows.index([]) + 1 :]


@pytest.mark.long
def test_every_report_is_printed_to_every_kind_of_file(counted: Cli, tmp_path: Path) -> None:
    for each in REPORTS:
        ends = WRITERS if each.name == "three-wins" else (".csv",)
        for end in ends:
            to = tmp_path / f"{each.name}{end}"
            done = counted("report", each.name, "--gaming-day", DAY, "--to", to, "--json")
            assert done.code == 0, done.err
            (head,) = done.json
            assert (head["facility"], head["title"], head["file"]) == ("p", each.title, str(to))
            assert head["reprint"] == (0 if end == ".csv" else [*WRITERS].index(end))
            assert to.stat().st_size > 100
    boxes = rows_of(tmp_path / "boxes.csv")
    assert boxes[:2] == [
        ["table", "content", "expected", "counted", "difference"],
        ["CC-07", "cash", "100.00", "50.00", "-50.00"],
    ]
    (_, line, house) = rows_of(tmp_path / "three-wins.csv")
    assert (house[:2], house[3:]) == (["all", ""], line[3:])
    (win,) = counted("win", "--json").json
    assert line[3:8] == [
        dollars(win[n]) for n in ("counted", "moved", "owed", "count_gap", "pay_gap")
    ]
    trial = rows_of(tmp_path / "trial-balance.csv")[1:]
    assert sum(cents(row[2]) - cents(row[3]) for row in trial) == 0
    assert sum(cents(row[4]) for row in trial) == 0
    assert ["assets:tray:CC-07", "0.00", "5000.00", "100.00", "4900.00"] in trial


@pytest.mark.long
def test_a_book_of_checks_has_its_report_and_an_export_for_people_has_no_name_of_a_program(
    counted: Cli, tmp_path: Path
) -> None:
    numbers = {"check_from": "K-01", "check_to": "K-10", "issued_by": "A-1", "received_by": "P-1"}
    out = fact("check_book_signed_out", 3, "cage", book="BK-7", **numbers)
    late = fact("counter_check_issued", 11, position=1, amount=500, check="K-01")
    counted("day", "close", DAY, "--by", "F-1", "--second", "F-2", "--despite", "As it is.")
    feed = tmp_path / "more.jsonl"
    told = (out, late, count(57, 2, currency={"5000": 2}))
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in told), encoding="utf-8")
    counted("ingest", feed)
    to = tmp_path / "books.csv"
    assert counted("report", "check-books", "--gaming-day", DAY, "--to", to).code == 0
    names = ["book", "checks", "where", "used", "blank", "missing", "exceptions"]
    assert rows_of(to) == [names, ["BK-7", "K-01 to K-10", "out", "1", "9", "0", ""]]
    for name in ("boxes", "late", "three-wins"):
        to = tmp_path / f"{name}.html"
        assert counted("report", name, "--gaming-day", DAY, "--to", to).code == 0
        shown = re.sub("<style>.*?</style>|<p>.*?</p>", "", to.read_text(encoding="utf-8"))
        assert "count gap" in shown or "counter checks" in shown
        assert not re.findall(r"[a-z]+_[a-z]+|drop\.", shown.replace("criss_cross_poker", ""))


@pytest.mark.long
def test_journal_and_trial_balance_have_the_days_grade_and_version_and_what_was_signed(
    counted: Cli, tmp_path: Path
) -> None:
    def printed(name: str) -> tuple[list[list[str]], tuple[str, int, str]]:
        to = tmp_path / f"{name}.csv"
        (head,) = counted("report", name, "--gaming-day", DAY, "--to", to, "--json").json
        return rows_of(to), (head["grade"], head["version"], head["digest"])

    reports = ("journal", "trial-balance")
    before = {name: printed(name) for name in reports}
    assert {its[1][:2] for its in before.values()} == {("COUNTED", 0)}
    counted("day", "close", DAY, "--by", "F-1", "--second", "F-2", "--despite", "As it is.")
    feed = tmp_path / "late.jsonl"
    late = fact("cash_bought_in", 11, position=1, amount=500)
    feed.write_text(f"{json.dumps(late)}\n", encoding="utf-8")
    counted("ingest", feed)
    for name in reports:
        rows, (grade, version, digest) = printed(name)
        assert (rows, digest) == (before[name][0], before[name][1][2]), name
        assert (grade, version) == ("SEALED", 1)
    counted("day", "reopen", DAY, "--by", "F-1", "--second", "F-2", "--because", "Late cash.")
    for name in reports:
        rows, (grade, version, _) = printed(name)
        assert rows != before[name][0]
        assert (grade, version) == ("COUNTED", 0)


def dollars(cents_: int) -> str:
    return f"{cents_ / 100:.2f}"


def cents(text: str) -> int:
    return int(text.replace(".", ""))


@pytest.mark.long
def test_the_second_print_of_the_same_says_reprint_and_other_figures_are_no_reprint(
    counted: Cli, tmp_path: Path
) -> None:
    to = tmp_path / "wins.csv"
    asked = ("report", "three-wins", "--gaming-day", DAY, "--to", to)
    assert counted(*asked).code == 0
    assert b"REPRINT" not in to.read_bytes()
    assert "REPRINT 1" in counted(*asked).err
    assert to.read_bytes().startswith(b"REPRINT,print 2 of this content")
    counted("day", "close", DAY, "--by", "F-1", "--second", "F-2", "--despite", "As it is.")
    (sealed,) = counted(*asked, "--json").json
    assert (sealed["grade"], sealed["version"], sealed["reprint"]) == ("SEALED", 1, 0)
    listed = {each["report"]: each for each in counted("report", "schedule", "--json").json}
    assert [*listed] == [each.name for each in REPORTS]
    assert listed["three-wins"]["last_day"] == DAY
    assert listed["boxes"]["last_printed"] is None
    used = [each for each in counted("users", "log", "--json").json if each["name"] == "three-wins"]
    assert [each["what"] for each in used] == ["report_printed"] * 3


@pytest.mark.long
def test_what_cannot_be_printed_is_said(counted: Cli, tmp_path: Path) -> None:
    day = ("--gaming-day", DAY)
    for wrong, says in (
        (("report", "no-such", *day, "--to", tmp_path / "x.csv"), "no report `no-such`"),
        (("report", "boxes", *day), "to a file"),
        (("report", "boxes", *day, "--to", tmp_path / "x.txt"), "to a file"),
        (("report", "boxes", "--to", tmp_path / "x.csv"), "of a gaming day"),
        (("report", "boxes", "--gaming-day", NEXT, "--to", tmp_path / "x.csv"), NEXT),
        (("report", "boxes", *day, "--to", "/proc/x.csv"), "cannot be written"),
    ):
        done = counted(*wrong)
        assert (done.code, says in done.err) == (2, True), done.err
    listed = counted("report", "schedule", "--json").json
    assert {each["last_printed"] for each in listed} == {None}
