"""Findings about tables' days, as a reviewer of a round at one of the tables may see them."""

from __future__ import annotations

from typing import Any

from ledger.rules.engine.ruling import Finding, TableFindings
from ledger.values import RoundId
from replay.web.access.blind_review import table_findings


def found(table: str, day: str | None, property_: str = "hollywood") -> TableFindings:
    finding = Finding(code="stub_count_overdue", says=f"{table} {day}")
    return TableFindings(table=table, property=property_, gaming_day=day, findings=[finding])


def test_a_day_with_a_withheld_round_shows_no_finding_and_others_show_theirs() -> None:
    withheld: Any = {RoundId("hollywood", "CC-07", "2026-11-20", 3): None}
    same = found("CC-07", "2026-11-20")
    dayless = found("CC-07", None)
    others = [
        found("CC-07", "2026-11-21"),
        found("CC-08", "2026-11-20"),
        found("CC-08", None),
        found("CC-07", "2026-11-20", "parx"),
    ]
    assert table_findings([same, dayless, *others], withheld) == others
    assert table_findings([same, dayless, *others], {}) == [same, dayless, *others]
