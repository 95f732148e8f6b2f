"""Boxes that were attached while they hung, and boxes that left a table where none was attached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.finance.feed import wins
from ledger.finance.win import REPORT
from tests.property.finance.floors import read_by_program
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact

if TYPE_CHECKING:
    from tests.property.finance.floors import Line


def move(what: str, minute: int, table: str = "CC-07", box: str = "B1", day: str = DAY) -> Line:
    its = {"box": box, "table": table, "gaming_day": day}
    return {**fact(f"drop_box_{what}", minute, "count-room", **its), "id": f"{what}-{minute}"}


def verified(minute: int) -> Line:
    """What the cage verifies is of an earlier stay: the box is not emptied by it."""
    its = {"box": "B1", "table": "CC-07", "gaming_day": DAY, "total": 0, "by": "C-1"}
    return fact("drop_box_verified", minute, "cage", **its)


def told(*facts: Line, report: int = REPORT) -> dict[str, list[tuple[str, str]]]:
    """Codes and sentences about boxes by table; B1 hangs at CC-07 from minute 1 on."""
    opened = {**day_lines()[0], "id": "opened-8", "source": "/p/CC-08/d"}
    found = wins(read_by_program([*day_lines(*facts), opened]), [], DAY, report)
    codes = ("box_attached_twice", "box_not_attached")
    named = {
        w.table or "": [(e.code, e.says) for e in w.exceptions if e.code in codes] for w in found
    }
    return {table: its for table, its in named.items() if its}


TWICE = "box_attached_twice"
BETWEEN = ": no fact says that it was removed or counted in between."
AGAIN = f"Box B1 was attached at CC-07 again{BETWEEN}"
ELSEWHERE = f"Box B1 was attached at CC-08 while it hung at CC-07{BETWEEN}"
AWAY = move("removed", 10)


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ([move("attached", 20)], {"CC-07": [(TWICE, AGAIN)]}),
        ([move("attached", 20, "CC-08")], {
            "CC-07": [(TWICE, ELSEWHERE)], "CC-08": [(TWICE, ELSEWHERE)],
        }),
        ([move("attached", 20), AWAY], {}),
        ([move("attached", 20, "CC-08"), AWAY], {}),
        ([move("attached", 20), count(11), count(12, 2)], {}),
        ([move("attached", 20), verified(15)], {"CC-07": [(TWICE, AGAIN)]}),
        ([move("attached", 20, box="B2")], {}),
        ([move("attached", 20, "CC-08", day=NEXT)], {}),
    ],
)  # fmt: skip
def test_a_box_that_was_attached_while_it_hung_is_an_exception_of_each_table(
    facts: list[Line], found: dict[str, list[tuple[str, str]]]
) -> None:
    assert told(*facts) == found
    assert told(*facts[::-1]) == found
    assert told(*facts, report=11) == {}


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ([move("removed", 20, box="B7")], ["removed from this table"]),
        ([move("removed", 20, box="B7"), count(59, box="B7")],
         ["removed from this table and counted as this table's"]),
        ([count(59, box="B7")], ["counted as this table's"]),
        ([move("attached", 15, box="B7"), move("removed", 20, box="B7")], []),
        ([AWAY], []),
    ],
)  # fmt: skip
def test_a_box_that_left_a_table_and_was_never_attached_there_is_an_exception(
    facts: list[Line], found: list[str]
) -> None:
    says = [f"Box B7 was {did}, and no fact says that it was attached here." for did in found]
    assert [each for _, each in told(*facts).get("CC-07", ())] == says
    before = [each for each in says if "removed" not in each]
    assert [each for _, each in told(*facts, report=11).get("CC-07", ())] == before


def test_a_table_that_records_no_box_but_its_count_is_left_alone() -> None:
    lines = [each for each in day_lines(count(59)) if "attached" not in each["type"]]
    [win] = wins(read_by_program(lines), [])
    assert win.exceptions == []
