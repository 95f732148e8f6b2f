"""`report` prints each report, remembers that it did, and says so on the second print."""

from __future__ import annotations

import csv
import json
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
    (_, line) = rows_of(tmp_path / "three-wins.csv")
    (win,) = counted("win", "--json").json
    assert line[3:8] == [
        dollars(win[n]) for n in ("counted", "moved", "owed", "count_gap", "pay_gap")
    ]
    trial = rows_of(tmp_path / "trial-balance.csv")[1:]
    assert sum(cents(row[2]) - cents(row[3]) for row in trial) == 0
    assert sum(cents(row[4]) for row in trial) == 0
    assert ["assets:tray:CC-07", "0.00", "5000.00", "100.00", "4900.00"] in trial


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
