"""What a table's day wants worked off: the sentence of its gaps."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from infra.access.users import User
from ledger.finance.win import Item
from replay.web.finance.work_list import work_list
from tests.scenes.table_days import count, table_day

FINANCE = User("fay", "F-1", frozenset(("finance",)))
OVER = Item(gap="count", code="exchange", amount=500, says="An exchange gave less than it took.")
SHORT = replace(OVER, amount=-500)


@pytest.mark.parametrize(
    ("items", "count_gap", "pay_gap", "says"),
    [
        ([OVER, SHORT], 0, 0, "count gap $0.00, pay gap $0.00, and items that set each other off"),
        ([OVER], 500, 0, "count gap +$5.00, pay gap $0.00"),
        ([OVER], None, 0, "count gap n/a, pay gap $0.00"),
        ([OVER], None, None, "count gap n/a, pay gap n/a"),
    ],
)
def test_items_set_each_other_off_only_if_both_gaps_are_known_to_be_nothing(
    items: list[Item], count_gap: int | None, pay_gap: int | None, says: str
) -> None:
    win = replace(table_day(count(59)), items=items, count_gap=count_gap, pay_gap=pay_gap)
    [gap] = [each for each in work_list(win, FINANCE) if each.code == "gap"]
    assert gap.says.lower() == f"{says}: two people sign what they found."
