"""Counter checks by hand-made facts: what each is, and what is owed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.finance import checks
from tests.property.finance.floors import read_by_program
from tests.scenes.coupons import check
from tests.scenes.table_days import count, fact

if TYPE_CHECKING:
    from ledger.finance.checks import CheckLine
    from tests.property.finance.floors import Line


def found(number: str, amount: int) -> Line:
    return {"check": number, "amount": amount}


def test_a_check_is_owed_until_it_is_redeemed_or_voided() -> None:
    told = [
        check("K-1", 20_000),
        check("K-2", 5_000, 6),
        check("K-3", 7_000, 7),
        count(50, counter_checks=[found("K-1", 20_000), found("K-9", 300)]),
        fact("counter_check_redeemed", 51, "cage", check="K-1", amount=15_000, by="C-1"),
        fact("counter_check_voided", 52, "cage", check="K-3"),
    ]
    assert [tuple_of(each) for each in checks.lines(read_by_program(told))] == [
        ("K-1", 20_000, 20_000, 15_000, 5_000, False),
        ("K-2", 5_000, None, 0, 5_000, False),
        ("K-3", 7_000, None, 0, 0, True),
        ("K-9", None, 300, 0, 300, False),
    ]


def tuple_of(of: CheckLine) -> tuple[object, ...]:
    return (of.check, of.amount, of.boxed, of.redeemed, of.outstanding, of.voided)
