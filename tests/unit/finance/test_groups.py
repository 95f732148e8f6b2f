"""Sums of tables: figures without corrections, and what poker's rake is."""

from __future__ import annotations

import json

import msgspec
import pytest

from ledger.finance.feed import wins
from ledger.finance.groups import grouped
from replay.text.wins import rake_apart
from tests.property.finance.floors import read_by_program, worked_out
from tests.scenes.table_days import count, day_lines, fact

SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
COUNTED = count(59, currency={"10000": 1}, coupons=["W-1", "W-2"])


def corrected() -> list[dict[str, object]]:
    """The count of CC-07 had one coupon and $200; nothing was corrected at CC-08."""
    of = {"source": COUNTED["source"], "id": COUNTED["id"]}
    data = {**COUNTED["data"], "coupons": ["W-1"], "currency": {"10000": 2}}
    people = {"because": "Misread.", "by": "F-1", "second": "S-1"}
    mine = day_lines(SOLD, COUNTED, closer=490_000, once=True)
    text = json.dumps(day_lines(count(59, currency={"10000": 3}), once=True))
    other = json.loads(text.replace("CC-07", "CC-08").replace("B1", "B2"))
    for each in other:
        each["id"] += "-8"
    return [*mine, *other, fact("fact_corrected", 30, "office", of=of, data=data, **people)]


def test_what_was_told_of_coupons_and_of_a_house_stands_beside() -> None:
    """Version 9 of the report said no coupons; the control is the table without a correction."""
    facts = read_by_program(corrected())
    mine, other = found = wins(facts, [])
    told = {"counted": 0, "count_gap": 0, "drop.cash": 10_000, "drop.total": 10_000}
    assert mine.told == {**told, "coupons.counted": 2}
    assert other.told == {}
    [house] = grouped(found, "house")
    assert house.told == {
        "counted": 30_000, "count_gap": 30_000, "drop.cash": 40_000, "drop.total": 40_000,
        "coupons.counted": 2,
    }  # fmt: skip
    assert wins(facts, [], None, 9)[0].told == told


def test_a_house_whose_table_lacked_a_figure_before_its_correction_lacks_it_as_told() -> None:
    [mine, *_] = wins(read_by_program(corrected()), [])
    poker = msgspec.structs.replace(mine, owed=None, pay_gap=None, told={"counted": None})
    [house] = grouped([mine, poker], "house")
    assert house.told["counted"] is None
    assert "owed" not in house.told


@pytest.mark.parametrize(("rake", "says"), [(6_000, "moved has $60.00 of poker's rake"), (0, None)])
def test_rake_in_a_sum_is_said_apart(rake: int, says: str | None) -> None:
    [mine] = worked_out(day_lines(SOLD, COUNTED, closer=490_000, once=True))[0]
    poker = msgspec.structs.replace(mine, owed=None, pay_gap=None, moved=rake)
    [house] = grouped([mine, poker], "house")
    found = rake_apart(house)
    assert (found or "").startswith(says) if says else found is None
    assert rake_apart(poker) is None


def test_shifts_are_summed_in_order_of_time() -> None:
    """By name a day shift would come before the graveyard shift that it follows."""
    [mine] = worked_out(day_lines(SOLD, COUNTED, closer=490_000, once=True))[0]
    shifts = {"CC-07": ("day", "swing"), "CC-08": ("grave", "day", "swing"), "CC-09": ("grave",)}
    parts = [
        msgspec.structs.replace(mine, table=table, shift=shift)
        for table, its in shifts.items()
        for shift in its
    ]
    found = grouped(parts, "shift")
    assert [each.shift for each in found] == ["grave", "day", "swing"]
    assert [each.moved for each in found] == [2 * mine.moved] * 3
