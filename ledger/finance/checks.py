"""Counter checks from table to payment: a line for each check (465a.36, 609a.13)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

from ledger.facts import (
    CounterCheckIssued,
    CounterCheckRedeemed,
    CounterCheckVoided,
    DropBoxCounted,
)
from ledger.finance.boxes import boxes_of_days, checks_in
from ledger.finance.placing import by_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.record.wire import Fact

CHECK_FACTS = (CounterCheckIssued, CounterCheckRedeemed, CounterCheckVoided, DropBoxCounted)
"""Facts that the lines rest on."""


class CheckLine(Struct, frozen=True, kw_only=True):
    """One counter check, in cents.

    amount: as issued; None: no table recorded it. boxed: as found in a box; None: in none.
    outstanding: what the patron owes; 0 if it is voided.
    """

    check: str
    amount: int | None
    boxed: int | None
    redeemed: int
    outstanding: int
    voided: bool


def lines(facts: Iterable[Fact]) -> list[CheckLine]:
    """A line for each check of one property, in order of its number.

    A check that no table recorded is owed as it was found in its box.
    """
    told = sorted(facts, key=by_time)
    issued: dict[str, int] = {}
    paid: dict[str, int] = defaultdict(int)
    voided: set[str] = set()
    for fact in told:
        body = fact.body
        if isinstance(body, CounterCheckIssued):
            issued.setdefault(body.check, body.amount)
        elif isinstance(body, CounterCheckRedeemed):
            paid[body.check] += body.amount
        elif isinstance(body, CounterCheckVoided):
            voided.add(body.check)
    boxed = {number: cents for number, (cents, _) in checks_in(boxes_of_days(told)).items()}
    return [
        _line(number, issued.get(number), boxed.get(number), paid[number], voided)
        for number in sorted({*issued, *boxed, *paid, *voided})
    ]


def _line(
    number: str, amount: int | None, boxed: int | None, paid: int, voided: set[str]
) -> CheckLine:
    owed = amount if amount is not None else boxed or 0
    return CheckLine(
        check=number,
        amount=amount,
        boxed=boxed,
        redeemed=paid,
        outstanding=0 if number in voided else owed - paid,
        voided=number in voided,
    )
