"""Counter checks by hand-made facts: what each is, and what is owed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.finance import checks
from tests.property.finance.floors import read_by_program
from tests.scenes.coupons import check
from tests.scenes.table_days import count, fact

if TYPE_CHECKING:
    from ledger.finance.checks import BookLine, CheckLine
    from tests.property.finance.floors import Line


def found_(number: str, amount: int) -> Line:
    return {"check": number, "amount": amount}


def test_a_check_is_owed_until_it_is_redeemed_or_voided() -> None:
    told = [
        check("K-1", 20_000),
        check("K-2", 5_000, 6),
        check("K-3", 7_000, 7),
        count(50, counter_checks=[found_("K-1", 20_000), found_("K-9", 300)]),
        fact("counter_check_redeemed", 51, "cage", check="K-1", amount=15_000, by="C-1"),
        fact("counter_check_voided", 52, "cage", check="K-3"),
    ]
    its = checks.lines(read_by_program(told))
    assert [tuple_of(each) for each in its if isinstance(each, checks.CheckLine)] == [
        ("K-1", 20_000, 20_000, 15_000, 5_000, False),
        ("K-2", 5_000, None, 0, 5_000, False),
        ("K-3", 7_000, None, 0, 0, True),
        ("K-9", None, 300, 0, 300, False),
    ]


def redeemed(number: str, amount: int, minute: int = 51) -> Line:
    return fact("counter_check_redeemed", minute, "cage", check=number, amount=amount, by="C-1")


def test_a_check_that_does_not_fit_is_named_with_its_facts() -> None:
    """The control fits: it was issued, boxed and paid back once."""
    told = [
        *(check(f"K-{nth}", 20_000, nth) for nth in (1, 2, 3)),
        {**check("K-3", 20_000, 8), "source": "/p/CC-08/d"},
        count(
            50,
            counter_checks=[found_("K-1", 20_000), found_("K-2", 19_000), found_("K-6", 700)],
        ),
        redeemed("K-1", 20_000),
        redeemed("K-2", 25_000, 52),
        redeemed("K-4", 100, 53),
        *(check("K-5", 500, 20), check("K-5", 500, 21), check("K-6", 700, 22)),
        fact("counter_check_voided", 55, "cage", check="K-6"),
        check("K-7", 900, 23),
        count(56, counter_checks=[found_("K-7", 900)], box="B7"),
        count(57, counter_checks=[found_("K-7", 900)], box="B8"),
    ]
    its = checks.lines(read_by_program(told))
    found = {e.check: e.exceptions for e in its if isinstance(e, checks.CheckLine)}
    assert {check: [of.code for of in each] for check, each in found.items()} == {
        "K-1": [],
        "K-2": ["boxed_differs", "overpaid"],
        "K-3": ["issued_twice"],
        "K-4": ["paid_unknown"],
        "K-5": ["issued_twice"],
        "K-6": ["voided_boxed"],
        "K-7": ["boxed_twice"],
    }
    assert "$200.00, and $250.00 was paid back" in found["K-2"][1].says
    assert found["K-3"][0].says == (
        "Counter check K-3 was issued for $200.00 at CC-07, for $200.00 at CC-08."
    )
    assert found["K-7"][0].says == "Counter check K-7 is in boxes 2 times: CC-07, CC-07."
    assert all(of.facts for each in found.values() for of in each)


def book(step: str, first: int, last: int, minute: int) -> Line:
    numbers = {"check_from": f"K-{first:02d}", "check_to": f"K-{last:02d}"}
    people = {"issued_by": "A-1", "received_by": "P-1"}
    return fact(f"check_book_signed_{step}", minute, "cage", book="B-1", **numbers, **people)


def books(*told: Line) -> BookLine:
    [found] = [e for e in checks.lines(read_by_program(told)) if isinstance(e, checks.BookLine)]
    return found


def test_a_book_comes_back_with_its_blank_checks_and_the_others_are_used() -> None:
    out = [book("out", 1, 10, 1), check("K-01", 20_000), check("K-02", 5_000, 6)]
    voided = fact("counter_check_voided", 7, "cage", check="K-03")
    found = books(*out, voided)
    assert (found.used, found.blank, found.missing, found.is_out) == (3, 7, 0, True)
    found = books(*out, voided, book("in", 4, 10, 20), book("out", 4, 10, 30))
    assert (found.used, found.blank, found.missing, found.is_out) == (3, 7, 0, True)
    found = books(*out, voided, book("in", 4, 10, 20))
    assert (found.is_out, found.exceptions, found.ranges) == (False, [], [("K-01", "K-10")])


def test_what_a_book_lacks_is_named_by_its_numbers_and_facts() -> None:
    out = [book("out", 1, 10, 1), check("K-01", 20_000)]
    found = books(*out, book("in", 4, 10, 20))
    assert (found.used, found.blank, found.missing) == (1, 7, 2)
    [exception] = found.exceptions
    assert (exception.code, exception.checks) == ("check_missing", [("K-02", "K-03")])
    assert exception.says == ("2 counter checks were neither used nor brought back: K-02 to K-03.")
    assert len(exception.facts) == 2
    in_a_box = count(50, counter_checks=[found_("K-02", 1), found_("K-03", 1)])
    assert books(*out, in_a_box, book("in", 4, 10, 20)).exceptions == []


def test_a_check_that_was_used_and_is_blank_and_a_book_that_is_out_twice_are_exceptions() -> None:
    out = [book("out", 1, 10, 1), check("K-05", 20_000)]
    codes = [each.code for each in books(*out, book("in", 1, 10, 20)).exceptions]
    assert codes == ["used_and_blank"]
    codes = [each.code for each in books(*out, book("out", 1, 10, 20)).exceptions]
    assert codes == ["out_twice"]


def test_a_book_that_comes_back_and_was_not_out_is_an_exception() -> None:
    [never] = books(book("in", 1, 10, 1)).exceptions
    assert (never.code, never.checks) == ("in_twice", [("K-01", "K-10")])
    assert never.says == "10 counter checks were signed in while in: K-01 to K-10."
    again = books(book("out", 1, 10, 1), book("in", 1, 10, 20), book("in", 1, 10, 30))
    assert [(each.code, len(each.facts)) for each in again.exceptions] == [("in_twice", 1)]


def test_a_book_from_a_number_to_a_lower_one_has_no_range_and_counts_none() -> None:
    found = books(book("out", 10, 1, 1), check("K-01", 20_000))
    assert (found.used, found.blank, found.missing, found.ranges) == (0, 0, 0, [])
    [exception] = found.exceptions
    assert (exception.code, exception.checks) == ("no_range", [("K-10", "K-01")])
    assert exception.says == (
        "Book B-1 is on record from K-10 to K-01, which is no range: it counts none."
    )
    assert len(exception.facts) == 1
    put_right = books(book("out", 10, 1, 1), book("in", 1, 10, 2), book("out", 1, 10, 3))
    assert (put_right.blank, [each.code for each in put_right.exceptions]) == (10, ["no_range"])


def tuple_of(of: CheckLine) -> tuple[object, ...]:
    return (of.check, of.amount, of.boxed, of.redeemed, of.outstanding, of.voided)


def test_a_check_issued_at_the_dealers_position_is_named() -> None:
    told = [check("K-1", 500), check("K-2", 500, 6)]
    told[1]["data"]["position"] = 0
    one, other = checks.lines(read_by_program(told))
    assert one.exceptions == []
    assert [each.code for each in other.exceptions] == ["issued_to_dealer"]
