"""Numbers of slips that tables or days used twice: at both tables, and on the later day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.finance.feed import wins
from tests.property.finance.floors import read_by_program
from tests.scenes.table_days import DAY, NEXT, count, day_lines, inventory, next_day, slip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

ASKED = slip("fill", "requested", "F-1", 20)
OPENER = inventory("open", 500_000, 2)
CLOSER = inventory("close", 500_000, 58)


def at(place: str, of: Line) -> Line:
    return {**of, "id": f"{of['id']}-{place}", "source": f"/p/{place}/d"}


def under(number: str, of: Line) -> Line:
    return {**of, "data": {**of["data"], "slip": number}}


def house(*facts: Line, report: int | None = None) -> list[TableWin]:
    """Two days of CC-07, and one day of CC-08 on which it was opened."""
    opened = at("CC-08", day_lines()[0])
    lines = [*day_lines(count(59)), opened, *next_day(*day_lines(count(59))), *facts]
    told = read_by_program(lines)
    return wins(told, [], None, *([] if report is None else [report]))


def twice(found: Sequence[TableWin]) -> dict[tuple[str, str], list[str]]:
    return {
        (each.table or "", each.gaming_day): says
        for each in found
        if (says := [e.says for e in each.exceptions if e.code == "slip_number_used_twice"])
    }


def test_a_number_that_two_tables_asked_for_is_an_exception_of_both() -> None:
    other = at("CC-08", ASKED)
    says = (
        f"The number of Fill Slip F-1 was used more than once: requested at CC-07 on {DAY}, "
        f"requested at CC-08 on {DAY}."
    )
    for lines in ([ASKED, other], [other, ASKED]):
        found = house(*lines)
        assert twice(found) == {("CC-07", DAY): [says], ("CC-08", DAY): [says]}
        named = [e for each in found for e in each.exceptions if e.says == says]
        assert [[ref.id for ref in each.facts] for each in named] == [
            [ASKED["id"], other["id"]]
        ] * 2
        assert all(e.code != "slip_number_used_twice" for w in house(*lines, report=11)
                   for e in w.exceptions)  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        under("F-2", at("CC-08", ASKED)),
        at("CC-08", slip("credit", "requested", "F-1", 20)),
        at("CC-07", ASKED),  # two devices recorded it
        slip("fill", "dispatched", "F-1", 21, place="cage"),
    ],
)
def test_one_slip_of_several_steps_and_another_slip_are_no_exception(more: Line) -> None:
    assert twice(house(ASKED, more)) == {}


def test_the_cages_acceptance_leaves_both_tables_named() -> None:
    """It names no table, counts where the number was used first, and people must decide."""
    credit = [
        slip("credit", step, "C-1", 20 + n) for n, step in enumerate(("requested", "dispatched"))
    ]
    other = at("CC-08", slip("credit", "requested", "C-1", 25))
    accepted = slip("credit", "accepted", "C-1", 30, place="cage")
    found = house(*credit, other, accepted)
    assert {(w.table, w.gaming_day): w.credits for w in found if w.credits} == {
        ("CC-07", DAY): 10_000
    }
    [says] = twice(found)["CC-07", DAY]
    assert says.endswith(
        f"requested, dispatched and accepted at CC-07 on {DAY}, requested at CC-08 on {DAY}."
    )
    assert twice(found)["CC-08", DAY] == [says]
    assert missing(found) == [["slip:C-1"]]
    assert missing(house(*credit, other, accepted, report=11)) == []
    named = {**accepted, "data": {**accepted["data"], "table": "CC-07"}}
    assert missing(house(*credit, other, named)) == []
    assert missing(house(*credit, accepted)) == []


def missing(found: Sequence[TableWin]) -> list[list[str]]:
    """What days with a box lack."""
    return [each.missing for each in found if each.missing and each.table == "CC-07"]


def test_a_number_that_is_used_again_on_a_later_day_is_an_exception_of_that_day_alone() -> None:
    [again] = next_day(ASKED)
    says = (
        f"The number of Fill Slip F-1 was used more than once: requested at CC-07 on {DAY}, "
        f"requested at {{}} on {NEXT}."
    )
    assert twice(house(ASKED, again)) == {("CC-07", NEXT): [says.format("CC-07")]}
    [opened] = next_day(at("CC-08", day_lines()[0]))
    elsewhere = house(ASKED, opened, at("CC-08", again))
    assert twice(elsewhere) == {("CC-08", NEXT): [says.format("CC-08")]}


def test_a_slip_that_goes_on_over_the_change_of_day_is_no_exception() -> None:
    assert twice(house(ASKED, *next_day(slip("fill", "accepted", "F-1", 10)))) == {}


def test_an_acceptance_at_two_tables_or_on_two_days_is_said_once() -> None:
    accepted = slip("fill", "accepted", "F-1", 22)
    for more, code in (
        ([at("CC-08", accepted)], "slip_recorded_twice"),
        (next_day(accepted), "slip_used_again"),
    ):
        found = house(ASKED, accepted, *more)
        assert twice(found) == {}
        assert code in {each.code for win in found for each in win.exceptions}


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (
            [under("T-1", OPENER), under("T-1", at("CC-08", OPENER))],
            [("CC-07", DAY), ("CC-08", DAY)],
        ),
        (
            [under("T-1", CLOSER), under("T-1", at("CC-08", OPENER))],
            [("CC-07", DAY), ("CC-08", DAY)],
        ),
        ([under("T-1", CLOSER), *next_day(under("T-1", CLOSER))], [("CC-07", NEXT)]),
        ([under("T-1", OPENER), *next_day(under("T-1", OPENER))], [("CC-07", NEXT)]),
        ([under("T-1", CLOSER), *next_day(under("T-1", OPENER))], []),  # the slip's duplicate
        ([under("T-1", CLOSER), at("CC-07", under("T-1", CLOSER))], []),  # two devices
    ],
)
def test_the_slip_of_a_tray_is_of_one_table_and_of_one_closer(
    facts: list[Line], found: list[tuple[str, str]]
) -> None:
    """The next opener has the duplicate of the closer's slip (465a.41)."""
    told = twice(house(*({**each, "id": f"tray-{nth}"} for nth, each in enumerate(facts))))
    assert list(told) == sorted(found)
    assert all("Table Inventory Slip T-1" in each for says in told.values() for each in says)


def test_a_number_of_many_tables_is_said_in_few_words_with_all_facts() -> None:
    lines = [at(f"CC-{nth}", each) for nth in range(10, 30) for each in (day_lines()[0], ASKED)]
    found = house(*lines)
    [says] = twice(found)["CC-10", DAY]
    assert says.endswith(f"requested at CC-15 on {DAY}, and at 14 more.")
    [named] = [e for w in found if w.table == "CC-10" for e in w.exceptions]
    assert len(named.facts) == 20
