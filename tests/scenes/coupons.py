"""A batch of coupons as JSON facts, from printer to box, and a counter check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.scenes.table_days import DAY, count, fact

if TYPE_CHECKING:
    from tests.property.finance.floors import Line

FACE = 1_000
OFFICE = "accounting"


def ranged(name: str, minute: int, first: int, last: int, **more: Any) -> Line:  # noqa: ANN401 - any field
    its = {"serial_from": f"MP-{first:04d}", "serial_to": f"MP-{last:04d}", "face": FACE}
    return fact(name, minute, OFFICE, **its, **more)


def received(first: int = 1, last: int = 100) -> Line:
    return ranged(
        "coupons_received", 0, first, last, invoice="I-1", checked_by=["A-1"], recorded_by="A-2"
    )


def issued(first: int = 1, last: int = 50, minute: int = 1) -> Line:
    terms = {"terms": "even_money", "games": ["blackjack"], "expires": "2026-12-31"}
    return ranged("coupons_issued", minute, first, last, **terms)


def distributed(first: int = 1, last: int = 40, minute: int = 2) -> Line:
    return ranged("coupons_distributed", minute, first, last, gaming_day=DAY, by="M-1")


def returned(first: int = 41, last: int = 45, minute: int = 3) -> Line:
    people = {"reason": "not used", "returned_by": "M-1", "received_by": "A-1"}
    return ranged("coupons_returned", minute, first, last, **people)


def voided(*numbers: int) -> Line:
    serials = [f"MP-{number:04d}" for number in numbers]
    return fact("coupons_voided", 4, OFFICE, serials=serials, reason="torn", by="A-1")


def dropped(number: int, minute: int = 10) -> Line:
    return fact("coupon_dropped", minute, serial=f"MP-{number:04d}", face=FACE)


def boxed(*numbers: int) -> Line:
    return count(50, coupons=[f"MP-{number:04d}" for number in numbers])


def again(*numbers: int) -> Line:
    """A second count of the box, which holds."""
    return count(51, 2, coupons=[f"MP-{number:04d}" for number in numbers])


def boxed_at(table: str, *numbers: int) -> Line:
    """The count of another table's box."""
    its = [f"MP-{number:04d}" for number in numbers]
    return count(52, box="B2", table=table, coupons=its)


def inventoried(*held: tuple[int, int]) -> Line:
    ranges = [[f"MP-{first:04d}", f"MP-{last:04d}"] for first, last in held]
    return fact("coupons_inventoried", 20, OFFICE, held=ranges, by="A-1", observed_by="A-2")


USUAL = (received(), issued(), distributed(), returned(), voided(46), dropped(7), boxed(7))


def check(number: str, amount: int, minute: int = 5) -> Line:
    return fact("counter_check_issued", minute, position=1, amount=amount, check=number)
