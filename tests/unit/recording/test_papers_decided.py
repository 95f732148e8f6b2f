"""Coupon batches, check books and checks decide what a form may say; the control is what may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.errors import Refused
from replay.recording.counter_checks import EnteredCheck, EnteredCheckBook
from replay.recording.coupon_batches import CouponBatches
from tests.property.finance.floors import read_by_program
from tests.scenes.coupons import (
    FACE,
    boxed,
    check,
    distributed,
    dropped,
    issued,
    received,
    returned,
    voided,
)
from tests.scenes.table_days import DAY, count, fact

if TYPE_CHECKING:
    from tests.property.finance.floors import Line

THERE = (received(), issued(), distributed(), dropped(7), boxed(7, 9))


def requisition(number: str = "R-1", face: int = FACE, quantity: int = 20) -> Line:
    people = {"needed_on": DAY, "prepared_by": "M-1", "authorised_by": "A-1"}
    its = {"requisition": number, "face": face, "quantity": quantity}
    return fact("coupons_requisitioned", 0, "accounting", **its, **people)


def cancelled(*numbers: int) -> Line:
    serials = [f"MP-{number:04d}" for number in numbers]
    return fact("coupons_cancelled", 30, "accounting", serials=serials, reason="used", by="A-1")


def on(line: Line, number: str) -> Line:
    line["data"]["requisition"] = number
    return line


def of_face(line: Line, face: int) -> Line:
    line["data"]["face"] = face
    return line


def coupons_after(*told: Line) -> CouponBatches:
    new = CouponBatches(property="p", place="office")
    return new.taking(read_by_program(told))


def decide(case: CouponBatches | EnteredCheck | EnteredCheckBook, asked: Line) -> None:
    [of] = read_by_program([asked])
    case.require(of.body)


@pytest.mark.parametrize(
    "asked",
    [
        received(101, 200), issued(51, 60), distributed(41, 45), returned(41, 45),
        voided(46, 99), cancelled(7, 9), cancelled(50), dropped(8), boxed(7), requisition(),
        on(issued(51, 70), "R-0"),
    ],
)  # fmt: skip
def test_a_step_that_the_serials_allow_is_taken(asked: Line) -> None:
    decide(coupons_after(requisition("R-0"), *THERE), asked)


def test_what_came_back_is_issued_again() -> None:
    with pytest.raises(Refused, match="issued already"):
        decide(coupons_after(*THERE), issued(41, 45))
    decide(coupons_after(*THERE, returned(41, 45)), issued(41, 45))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (received(100, 120), "Coupon MP-0100 is in a batch already"),
        (issued(95, 110), "Coupons MP-0101 to MP-0110 are not received"),
        (issued(48, 52), "Coupons MP-0048 to MP-0050 are issued already"),
        (issued(30, 40), "Coupons MP-0030 to MP-0040 are with patrons, or used"),
        (distributed(48, 52), "Coupons MP-0051 to MP-0052 are not with the department"),
        (distributed(8), "Coupons MP-0008 to MP-0040 are not with the department"),
        (returned(39, 45), "Coupons MP-0039 to MP-0040 are not with the department"),
        (voided(7), "Coupon MP-0007 is with patrons, or used"),
        (voided(101), "Coupon MP-0101 is of no batch on record"),
        (cancelled(7, 101), "Coupon MP-0101 is of no batch on record"),
        (dropped(7), "Coupon MP-0007 is dropped already"),
        (of_face(distributed(41, 42), 2_500), "Coupons MP-0041 to MP-0042 are of another face"),
        (requisition("R-0"), "Requisition R-0 is on record"),
        (on(issued(51, 71), "R-0"), "Requisition R-0 is for 20 coupons, and 20 are left"),
        (on(issued(51, 52), "R-9"), "Requisition R-9 is not on record"),
    ],
)
def test_a_step_that_the_serials_do_not_allow_is_refused(asked: Line, says: str) -> None:
    with pytest.raises(Refused) as refused:
        decide(coupons_after(requisition("R-0"), *THERE), asked)
    assert says in str(refused.value)


def test_what_is_voided_or_cancelled_is_used_no_more() -> None:
    case = coupons_after(*THERE, voided(46), cancelled(9))
    for asked in (dropped(46), dropped(9), issued(46, 46), voided(46), cancelled(9)):
        with pytest.raises(Refused):
            decide(case, asked)
    decide(case, dropped(47))


def test_a_house_that_records_no_receipt_issues_its_first_coupons() -> None:
    decide(coupons_after(), issued())
    with pytest.raises(Refused):
        decide(coupons_after(received(1, 2)), issued(3, 4))


def test_a_receipt_that_was_corrected_counts_as_it_was_meant() -> None:
    right = {"source": "/p/accounting/d", "id": received()["id"]}
    data = {**received()["data"], "serial_to": "MP-0040"}
    people = {"by": "A-1", "second": "A-2"}
    made = fact(
        "fact_corrected", 5, "accounting", of=right, data=data, because="Misread.", **people
    )
    with pytest.raises(Refused, match="MP-0041 to MP-0050 are not received"):
        decide(coupons_after(received(), made), issued(1, 50))
    decide(coupons_after(received()), issued(1, 50))


def book(step: str, first: int, last: int, minute: int = 1, name: str = "B-1") -> Line:
    numbers = {"check_from": f"K-{first:02d}", "check_to": f"K-{last:02d}"}
    people = {"issued_by": "A-1", "received_by": "P-1"}
    return fact(f"check_book_signed_{step}", minute, "cage", book=name, **numbers, **people)


def book_after(*told: Line, name: str = "B-1") -> EnteredCheckBook:
    new = EnteredCheckBook(property="p", place="office", book=name)
    return new.taking(read_by_program(told))


def test_a_book_leaves_once_and_comes_back_with_its_blank_checks() -> None:
    out = book("out", 1, 10)
    used = (out, check("K-01", 20_000))
    for told, asked, says in (
        ((out,), book("out", 1, 10), "signed out already"),
        ((), book("in", 1, 10), "not signed out"),
        (used, book("in", 1, 10), "K-01 is not blank"),
        (used, book("in", 2, 11), "left without these numbers"),
        ((*used, book("in", 2, 10, 9)), book("out", 1, 10), "K-01 is not blank"),
    ):
        with pytest.raises(Refused, match=says):
            decide(book_after(*told), asked)
    with pytest.raises(Refused, match="Book B-1 has these numbers"):
        decide(book_after(out, name="B-2"), book("out", 10, 20, name="B-2"))
    decide(book_after(), out)
    decide(book_after(*used), book("in", 2, 10))
    decide(book_after(*used, book("in", 2, 10, 9)), book("out", 2, 10))
    decide(book_after(out, name="B-2"), book("out", 11, 20, name="B-2"))


def check_after(*told: Line, number: str = "K-01") -> EnteredCheck:
    new = EnteredCheck(property="p", place="cage", check=number)
    return new.taking(read_by_program(told))


def paid(amount: int) -> Line:
    return fact("counter_check_redeemed", 51, "cage", check="K-01", amount=amount, by="C-1")


def test_a_check_is_issued_once_from_a_book_that_is_out_and_paid_back_once() -> None:
    out, back = book("out", 1, 10), book("in", 1, 10, 2)
    void = fact("counter_check_voided", 6, "cage", check="K-01")
    its = check("K-01", 20_000)
    for told, asked, says in (
        ((its,), its, "issued already"),
        ((void,), its, "voided"),
        ((out, back), its, "book B-1 is not signed out"),
        ((its, void), paid(100), "voided"),
        ((its, paid(15_000)), paid(5_001), "Only \\$50.00 is outstanding"),
        ((its, paid(15_000)), void, "paid back"),
    ):
        with pytest.raises(Refused, match=says):
            decide(check_after(*told), asked)
    for told, asked in (
        ((), its), ((out,), its), ((out, back, book("out", 1, 10, 3)), its), ((its,), void),
        ((its, paid(15_000)), paid(5_000)),
    ):  # fmt: skip
        decide(check_after(*told), asked)


def test_a_form_that_was_sent_twice_is_one_payment() -> None:
    its, one = check("K-01", 20_000), paid(100)
    one["data"]["form"] = "a1"
    with pytest.raises(Refused, match="sent already"):
        decide(check_after(its, one), one)
    other = paid(100)
    other["data"]["form"] = "a2"
    decide(check_after(its, one), other)
    decide(check_after(its, paid(100)), paid(100))


def test_the_cage_is_not_told_what_a_box_said_of_a_check() -> None:
    found = count(50, counter_checks=[{"check": "K-01", "amount": 300}])
    decide(check_after(found), paid(99_999))
