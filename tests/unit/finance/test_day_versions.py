"""Which facts close a gaming day and open it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from ledger.facts import DayReopened, DaySealed
from ledger.finance.day_versions import (
    DaySeals,
    adjustments,
    arrived,
    at_edge,
    beside,
    changers,
)
from ledger.rules.engine.ruling import FactRef
from tests.property.finance.floors import read_by_program
from tests.scenes.table_days import (
    NEXT,
    count,
    day_lines,
    fact,
    inventory,
    next_day,
    slip,
    table_day,
    tournament,
)

if TYPE_CHECKING:
    from ledger.record.wire import Fact

DAY = "2026-11-20"

_COUNTED = count(59)
LATE = {
    "fill": slip("fill", "accepted", "F-1", 30),
    "count": _COUNTED,
    "fixed": fact(
        "fact_corrected",
        45,
        "office",
        of={"source": _COUNTED["source"], "id": _COUNTED["id"]},
        because="Mistyped.",
        by="F-1",
        second="F-2",
    ),
    "opened": day_lines()[0],
    "wager": fact("wager_placed", 31, position=1, wager="ante", amount=500)
    | {"subject": f"CC-07/{DAY}/1"},
    "sold": fact("cash_bought_in", 32, position=1, amount=500),
    "voucher": fact("voucher_bought_in", 34, position=1, amount=500, voucher="V-1"),
    "exchange": fact("chips_exchanged", 35, position=1, given={"500": 1}, received={"100": 5}),
    "amends": fact("adjustment_paid", 36, dispute="X", position=1, amount=500, paid_from="table"),
    "tray": inventory("close", 500_000, 58),
    "prize": tournament("prize_paid", "T-1", 40, 500),
    "coupons": fact(
        "coupons_issued",
        41,
        "office",
        serial_from="A-1",
        serial_to="A-9",
        face=500,
        terms="odds",
        games=["blackjack"],
        expires=DAY,
    ),
}
"""Facts of each kind that may come late, by what they are."""

NAMES = tuple(LATE)


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
    place = {"table": "CC-08", "gaming_day": DAY}
    of = {"source": counted["source"], "id": counted["id"]}
    meant = {**counted["data"], **place}
    people = {"because": "Another table's.", "by": "F-1", "second": "F-2"}
    lines = [*day_lines(counted), fact("fact_corrected", 45, "cage", of=of, data=meant, **people)]
    told = read_by_program(lines)
    its = [ref(told[-1])]
    assert arrived(told, told[-1:], DAY) == {"CC-07": its, "CC-08": its}


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
        ("opener", {"tray"}),
        ("drop.cash", {"count", "fixed"}),
        ("drop.vouchers", {"count", "fixed", "voucher"}),
        ("counted", {"fill", "count", "fixed", "opened", "voucher", "tray"}),
        ("handle", {"wager"}),
        ("moved", {"wager", "amends", "opened"}),
        ("owed", {"wager", "coupons", "opened"}),
        ("cage_paid", {"wager", "amends", "opened"}),
        ("pay_gap", {"wager", "coupons", "amends", "opened"}),
        ("expected.win", {"wager", "coupons", "opened"}),
        ("tournaments.win", {"prize"}),
        ("items.count.box_cash", {"count", "fixed", "sold", "opened"}),
        ("items.count.exchange", {"exchange", "opened"}),
        ("items.pay.overpaid.CC-07/2026-11-20/1.1.1.ante", {"wager", "coupons", "opened"}),
        ("items.pay.adjustment.1", {"amends", "opened"}),
        ("causes.fill_not_accepted", {"fill", "tray", "opened"}),
        ("exceptions.counts_disagree", {"count", "fixed", "opened"}),
        ("exceptions.slip_not_dispatched", {"fill", "tray", "opened"}),
        ("exceptions.signed_by_nobody", {"fill", "count", "fixed", "opened"}),
        ("exceptions.corrected_by_one", {*NAMES}),
    ],
)
def test_a_fact_can_change_figures_of_its_kind_and_a_correction_those_of_its_fact(
    figure: str, changed_by: set[str]
) -> None:
    told = dict(zip(NAMES, read_by_program(list(LATE.values())), strict=True))
    may_change = changers(told.values(), DAY)
    found = {name for name, its in told.items() if may_change(ref(its), figure)}
    assert found == changed_by


def ref(of: Fact) -> FactRef:
    return FactRef(of.source, of.id)


@pytest.mark.parametrize(
    ("late", "figure", "named"),
    [
        (("wager", "next"), "fills", {"next"}),
        (("fill", "filed"), "owed", {"filed"}),
        (("fill", "wager"), "fills", {"fill"}),
        (("fill", "wager"), "owed", {"wager"}),
        (("wager", "tip"), "drop.cash", {"wager"}),
        (("tip",), "drop.cash", {"tip"}),
        (("fill", "after next"), "fills", {"fill"}),
        (("fill", "sold elsewhere"), "drop.vouchers", {"sold elsewhere"}),
    ],
)
def test_an_adjustment_names_the_late_facts_that_can_change_its_figure(
    late: tuple[str, ...], figure: str, named: set[str]
) -> None:
    """Those of the table and at the day's edge; else what fills no box, else any of the table."""
    opened = next_day(LATE["opened"])[0]
    rules = {"game": "blackjack", "by": "F-1", "effective_from": DAY}
    voucher = {"position": 1, "amount": 500, "voucher": "V-2"}
    lines = {
        **LATE,
        "next": opened,
        "after next": next_day(LATE["opened"], day="2026-11-22")[0],
        "filed": fact("rules_submission_filed", 50, "office", **rules) | {"subject": "CC-07"},
        "sold elsewhere": fact("voucher_bought_in", 33, "CC-08", **voucher),
        "tip": fact("tip_dropped", 33, amount=100),
    }
    told = dict(zip(lines, read_by_program(list(lines.values())), strict=True))
    came = [told[each] for each in late]
    before = table_day()
    kind = figure.removeprefix("drop.")
    drop = msgspec.structs.replace(before.drop, **{kind: 700}) if kind != figure else before.drop
    changed: dict[str, Any] = {"drop": drop} if kind != figure else {figure: 700}
    after = msgspec.structs.replace(before, **changed)
    [found] = adjustments(
        [before],
        [after],
        {"CC-07": [ref(each) for each in came if each.source == "/p/CC-07/d"]},
        at_edge(came, DAY, ()),
        [ref(each) for each in came],
        changers(told.values(), DAY),
    )
    assert found.figure == figure
    assert found.facts == [ref(told[each]) for each in late if each in named]


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
