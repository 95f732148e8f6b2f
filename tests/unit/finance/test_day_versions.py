"""Which facts close a gaming day and open it again."""

from __future__ import annotations

import msgspec
import pytest

from ledger.facts import DayReopened, DaySealed
from ledger.finance.day_versions import DaySeals, arrived, at_edge, beside, changers
from ledger.rules.engine.ruling import FactRef
from tests.property.finance.floors import read_by_program
from tests.scenes.table_days import NEXT, count, day_lines, fact, next_day, slip

DAY = "2026-11-20"


def sealed(by: str, second: str, version: int = 1) -> DaySealed:
    of = {"rules": "1", "report": 1, "digest": "0" * 64, "heads": {"T": 1}}
    return DaySealed(gaming_day=DAY, version=version, by=by, second=second, **of)  # type: ignore[arg-type] # by name


def reopened(by: str, second: str) -> DayReopened:
    return DayReopened(gaming_day=DAY, version=1, because="x", by=by, second=second)


@pytest.mark.parametrize(("second", "counts"), [("F-2", True), ("f-1 ", False)])
def test_one_person_alone_closes_no_day_and_opens_none(second: str, *, counts: bool) -> None:
    """Another system may record it; the day stays as two people left it."""
    assert bool(DaySeals().after(sealed("F-1", second)).sealed) is counts
    closed = DaySeals().after(sealed("F-1", "F-2"))
    assert bool(closed.after(reopened("F-1", second)).reopened) is counts


def test_a_box_that_a_correction_gives_to_another_table_came_to_both() -> None:
    counted = count(59, box="B1")
    its = {"table": "CC-08", "gaming_day": DAY}
    of = {"source": counted["source"], "id": counted["id"]}
    meant = {**counted["data"], **its}
    people = {"because": "Another table's.", "by": "F-1", "second": "F-2"}
    lines = [*day_lines(counted), fact("fact_corrected", 45, "cage", of=of, data=meant, **people)]
    told = read_by_program(lines)
    ref = FactRef(told[-1].source, told[-1].id)
    assert arrived(told, told[-1:], DAY) == {"CC-07": [ref], "CC-08": [ref]}


def test_another_days_start_and_the_rules_in_force_lie_at_a_days_edge() -> None:
    limits = {"game": "blackjack", "by": "F-1"}
    filed = [
        fact("rules_submission_filed", 50, "office", **limits, effective_from=day)
        | {"subject": subject, "id": f"{day}-{subject}"}
        for day, subject in ((DAY, "CC-07"), (DAY, "p"), (NEXT, "CC-07"))
    ]
    start = next_day(*day_lines())[1]
    told = read_by_program([*day_lines(), *filed, start])
    refs = {each.id: FactRef(each.source, each.id) for each in told}
    edge = at_edge(told[-4:], DAY, ())
    of_table, of_house = refs[f"{DAY}-CC-07"], refs[f"{DAY}-p"]
    assert edge == {"CC-07": [of_table, refs[start["id"]]], None: [of_house]}
    assert beside(edge, "CC-08") == [of_house]
    assert beside(edge, "CC-07") == [of_house, of_table, refs[start["id"]]]


@pytest.mark.parametrize(
    ("figure", "changed_by"),
    [
        ("fills", {"fill", "opened"}),
        ("drop.cash", {"count", "fixed", "opened"}),
        ("counted", {"fill", "count", "fixed", "opened"}),
        ("handle", {"wager", "opened"}),
        ("count_gap", {"fill", "count", "fixed", "opened", "wager", "sold"}),
    ],
)
def test_a_fact_can_change_figures_of_its_kind_and_a_correction_those_of_its_fact(
    figure: str, changed_by: set[str]
) -> None:
    counted = count(59)
    of = {"source": counted["source"], "id": counted["id"]}
    people = {"because": "Mistyped.", "by": "F-1", "second": "F-2"}
    wager = {"position": 1, "wager": "ante", "amount": 500}
    lines = {
        "fill": slip("fill", "accepted", "F-1", 30),
        "count": counted,
        "fixed": fact("fact_corrected", 45, "office", of=of, **people),
        "opened": day_lines()[0],
        "wager": fact("wager_placed", 31, **wager) | {"subject": f"CC-07/{DAY}/1"},
        "sold": fact("cash_bought_in", 32, position=1, amount=500),
    }
    told = dict(zip(lines, read_by_program(list(lines.values())), strict=True))
    may_change = changers(told.values())
    found = {name for name, its in told.items() if may_change(FactRef(its.source, its.id), figure)}
    assert found == changed_by


@pytest.mark.parametrize(("report", "counts"), [(11, True), (12, False)])
def test_one_person_written_otherwise_closes_no_day_since_version_12(
    report: int, *, counts: bool
) -> None:
    """A dash of another kind looks alike. What version 11 closed stays closed."""
    closed = DaySeals().after(msgspec.structs.replace(sealed("F-1", "F\u20111"), report=report))
    assert bool(closed.sealed) is counts
    its = msgspec.structs.replace(sealed("F-1", "F-2"), report=report)
    opened = DaySeals().after(its).after(reopened("F-1", "F\u20111"))
    assert bool(opened.reopened) is counts
