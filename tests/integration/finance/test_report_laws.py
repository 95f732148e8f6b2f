"""Reports of one day agree with one another, whatever faults the day has."""

from __future__ import annotations

import random
from collections import defaultdict
from copy import deepcopy
from typing import TYPE_CHECKING

import msgspec

from consumers.finance.sealed import sealed_wins
from consumers.registry import install
from consumers.runtime.lifecycle import up_to_date
from ledger.edges.spread import BY_THROW
from ledger.games import games
from replay.reports.drop_boxes import NOTES
from replay.reports.kind import AskedReport
from replay.reports.kinds import ALL, REPORTS, VIEWS
from tests.property.finance.floors import FAULTS, floor
from tests.property.finance.laws import refuses
from tests.scenes.view_feeds import received, record
from tests.suite.budget import budget

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from replay.reports.table import Value

DAY = "2026-11-20"
NOBODYS = ("adjustment", "wrong_payer", "unrecorded")
"""Codes of items in which no dealer paid a patron too much or too little."""

Rows = list[dict[str, "Value"]]


def reports(database: Database, seeds: range) -> dict[str, Rows]:
    """Every report of a day with faults, its rows by column."""
    asked = day_with_faults(database, seeds)
    told = {}
    for kind in REPORTS:
        table = kind.table(asked)
        names = [each.name for each in table.columns]
        told[kind.name] = [dict(zip(names, row, strict=True)) for row in table.rows]
    return told


def day_with_faults(database: Database, seeds: range) -> AskedReport:
    """What reports of such a day are worked out from."""
    facts = []
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        lines = deepcopy(floor(seed, tables=3))
        found = FAULTS[seed % len(FAULTS)](lines, chance)
        facts += [received(msgspec.json.encode(e)) for e in (found.lines if found else lines)]
    record(database, facts)
    install(database)
    up_to_date(database, VIEWS)
    wins = sealed_wins.read(database, gaming_day=DAY)
    return AskedReport(database, wins[0].property, DAY, wins, DAY)


def summed(rows: Rows, column: str, **only: str) -> int:
    found = 0
    for row in rows:
        if all(row[name] == value for name, value in only.items()):
            value = row[column]
            found += value if isinstance(value, int) else 0
    return found


def by_table(rows: Rows, column: str) -> dict[Value, Value]:
    return {row["table"]: row[column] for row in rows}


def law_of_totals(of: dict[str, Rows], master: Rows) -> None:
    """Lines of games and of the house sum their tables. Notes in pieces are the cash."""
    totals = [row for row in of["master-game"] if row["table"] == ALL]
    for name in ("fills", "drop", "counted", "fill_slips"):
        [house] = [row for row in totals if row["game"] is None]
        known = [row[name] is not None for row in master]
        assert house[name] == (summed(master, name) if all(known) else None)
        for row in totals[:-1]:
            its = [each for each in master if each["game"] == row["game"]]
            assert row[name] is None or row[name] == summed(its, name)
    notes = sum(summed(of["denominations"], f"${each // 100}") * each for each in NOTES)
    assert notes + summed(of["denominations"], "other_notes") == summed(master, "cash")
    for kind in ("fill", "credit"):
        numbers = {row["slip"] for row in of["slips"] if row["kind"] == kind}
        assert summed(master, f"{kind}_slips") <= len(numbers)


def law_of_reports(of: dict[str, Rows]) -> None:
    [*three, house], boxes = of["three-wins"], of["boxes"]
    assert (house["table"], house["moved"]) == (ALL, summed(three, "moved"))
    master = [row for row in of["master-game"] if row["table"] != ALL]
    law_of_totals(of, master)
    assert by_table(master, "counted") == by_table(three, "counted")
    for kind in ("cash", "foreign", "counter_checks", "vouchers", "chips"):
        assert summed(boxes, "counted", content=kind.replace("_", " ")) == summed(master, kind)
    assert summed(master, "drop") == summed(boxes, "counted")
    assert summed(of["mispays"], "amount") == summed(three, "pay_gap")
    paid = {name: summed(three, f"paid_{name}") for name in ("under", "over", "otherwise")}
    assert paid["under"] - paid["over"] + paid["otherwise"] == summed(three, "pay_gap")
    assert all(row["time"] for row in of["mispays"] if row["round"])
    lost = [row for row in of["mispays"] if row["cause"] or row["code"] in NOBODYS]
    others = [row for row in of["mispays"] if row not in lost]
    assert len(others) == summed(three, "over") + summed(three, "under")
    assert summed(lost, "amount") == summed(three, "paid_otherwise")
    assert summed(of["exceptions"], "amount", what="item") == summed(three, "count_gap")
    accepted = [row for row in of["slips"] if row["status"] in ("used", "used twice")]
    for kind in ("fill", "credit"):
        assert summed(accepted, "amount", kind=kind) == summed(master, f"{kind}s")
    assert summed(of["wagers"], "win") == summed(three, "owed")
    if not any(row["code"] == "fact_missing" for row in of["exceptions"]):  # a stake of the rules
        handle = summed(of["wagers"], "handle") + summed(of["rake"], "handle")
        assert handle == summed(three, "handle")
    assert summed(of["rake"], "rake") + summed(of["wagers"], "win") + summed(
        three, "pay_gap"
    ) == summed(three, "moved")
    assert summed(of["rake"], "rake") + summed(of["wagers"], "moved") == summed(three, "moved")
    week = of["tax-week"][-1]
    assert week["revenue"] == summed(master, "counted")
    for row in master:
        counts = [each for each in of["inventories"] if each["table"] == row["table"]]
        assert counts[-1]["counted"] == row["closer"]
    held: dict[str, int] = defaultdict(int)
    for row in of["journal"]:
        held[str(row["account"])] += row["amount"] if isinstance(row["amount"], int) else 0
    trial = {str(row["account"]): row for row in of["trial-balance"]}
    for account, row in trial.items():
        assert row["closing"] == held[account]
    for table, closer in by_table(master, "closer").items():
        assert trial[f"assets:tray:{table}"]["closing"] == closer
    income = [name for name in trial if name.startswith(("income:win", "income:rake"))]
    assert sum(held[name] for name in income) == -summed(three, "moved")
    variance = [name for name in trial if name.startswith("income:variance")]
    assert sum(held[name] for name in variance) == -summed(three, "count_gap")


@budget("seeds", range(2, 3), range(2, 8))
def test_the_reports_of_a_day_agree_with_one_another(database: Database, seeds: range) -> None:
    law_of_reports(reports(database, seeds))


def law_of_edges(asked: AskedReport, wagers: Rows) -> int:
    """Wager by wager, handle times edge is the day's mean; how many tables that was seen of."""
    by_game: dict[Value, list[Rows]] = defaultdict(list)
    for row in wagers:
        by_game[row["game"]].append([row])
    seen = 0
    for win in asked.wins:
        played = [each for each in asked.wins if each.game == win.game]
        if win.expected is None or win.game in BY_THROW or win.coupons.counted or len(played) > 1:
            continue
        rows = [row for [row] in by_game[games()[win.game or ""].title]]
        assert None not in [row["theoretical"] for row in rows]
        assert abs(summed(rows, "theoretical") - win.expected.win) <= len(rows)
        seen += 1
    return seen


def test_theoretical_is_what_the_exact_edges_leave_of_the_handle(database: Database) -> None:
    """The control takes the win by the rulings for it. Poker has no row: pots are the patrons'."""
    asked = day_with_faults(database, range(2, 4))
    [kind] = [each for each in REPORTS if each.name == "wagers"]
    table = kind.table(asked)
    names = [each.name for each in table.columns]
    rows: Rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    assert law_of_edges(asked, rows) > 1
    refuses(law_of_edges, asked, [{**row, "theoretical": row["win"]} for row in rows])


A_CENT_OFF = [
    ("master-game", "counted"),
    ("boxes", "counted"),
    ("mispays", "amount"),
    ("journal", "amount"),
    ("wagers", "moved"),
    ("wagers", "handle"),
    ("denominations", "$20"),
]


def test_the_law_of_reports_is_broken_by_a_report_that_is_a_cent_off(database: Database) -> None:
    told = reports(database, range(1))
    law_of_reports(told)
    for name, column in A_CENT_OFF:
        row = next(each for each in told[name] if each[column] is not None)
        right = row[column]
        row[column] = right + 1
        refuses(law_of_reports, told)
        row[column] = right
    law_of_reports(told)
