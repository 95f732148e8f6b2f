"""Coupons by hand-made facts: every figure is counted from the list of facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.finance import coupons
from ledger.finance.coupons import BatchLine, QuarterLine, UnknownLine
from tests.property.finance.floors import read_by_program
from tests.scenes.coupons import (
    FACE,
    USUAL,
    again,
    boxed,
    boxed_at,
    distributed,
    dropped,
    inventoried,
    issued,
    received,
    returned,
    voided,
)
from tests.scenes.table_days import DAY, fact

if TYPE_CHECKING:
    from tests.property.finance.floors import Line


def batch(*lines: Line) -> BatchLine:
    [line] = coupons.lines(read_by_program(lines))
    assert isinstance(line, BatchLine)
    return line


def test_a_batch_counts_its_pieces_and_every_equation_holds() -> None:
    line = batch(*USUAL)
    assert (line.serial_from, line.serial_to, line.face) == ("MP-0001", "MP-0100", FACE)
    assert (line.received, line.issued, line.distributed, line.returned) == (100, 50, 40, 5)
    assert (line.voided, line.dropped, line.redeemed, line.refused) == (1, 1, 1, 0)
    assert line.outstanding == 39
    assert line.exceptions == []
    assert line.equations == {
        **dict.fromkeys(("E1", "E2", "E3", "E4", "E5", "E7"), True),
        "E6": None,
    }


@pytest.mark.parametrize(
    ("more", "code", "equation", "serials"),
    [
        ((issued(51, 60), issued(90, 110, 5)), "not_received", "E1", ("MP-0101", "MP-0110")),
        ((issued(50, 52, 5),), "issued_twice", "E1", ("MP-0050", "MP-0050")),
        ((distributed(48, 52, 5),), "not_held", "E2", ("MP-0051", "MP-0052")),
        ((dropped(70, 11), again(7, 70)), "not_distributed", "E3", ("MP-0070", "MP-0070")),
        ((dropped(8, 11),), "dropped_not_counted", "E4", ("MP-0008", "MP-0008")),
        (
            (dropped(8, 11), boxed_at("CC-08", 8)),
            "counted_elsewhere",
            "E4",
            ("MP-0008", "MP-0008"),
        ),
        ((again(7, 9),), "counted_not_dropped", "E4", ("MP-0009",) * 2),
        ((voided(12),), "moved_twice", "E5", ("MP-0012", "MP-0012")),
        ((voided(7),), "voided_redeemed", "E5", ("MP-0007", "MP-0007")),
        ((again(7, 7),), "redeemed_twice", "E7", ("MP-0007",) * 2),
        ((inventoried((41, 99)),), "inventory_differs", "E6", ("MP-0046", "MP-0046")),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_serials_and_breaks_its_equation(
    more: tuple[Line, ...], code: str, equation: str, serials: tuple[str, str]
) -> None:
    """The usual facts are the control: they have no exception."""
    lines = [
        each
        for each in coupons.lines(read_by_program((*USUAL, *more)))
        if isinstance(each, BatchLine)
    ]
    found = [(line, of) for line in lines for of in line.exceptions if of.code == code]
    assert found, [of.code for line in lines for of in line.exceptions]
    line, exception = found[0]
    assert serials in exception.serials
    assert exception.facts
    assert exception.serials[0][0] in exception.says
    assert line.equations[equation] is False


def test_an_inventory_that_agrees_says_so() -> None:
    line = batch(*USUAL, inventoried((41, 45), (47, 100)))
    assert (line.equations["E6"], line.exceptions) == (True, [])


@pytest.mark.parametrize("how", ["dropped", "counted", "cancelled"])
def test_an_inventory_holds_no_coupon_that_lies_in_a_box(how: str) -> None:
    """By a house that records no distribution; MP-0050 is the control: it is missing."""
    early = {**boxed(7), "time": "2026-11-20T10:15:00-05:00"}
    in_box = {"dropped": dropped(7), "counted": early, "cancelled": cancelled(15, 7)}[how]
    held = inventoried((1, 6), (8, 49), (51, 100))
    line = batch(received(), issued(), in_box, held)
    [missing] = [each for each in line.exceptions if each.code == "inventory_differs"]
    assert missing.serials == [("MP-0050", "MP-0050")]
    later = batch(received(), issued(), dropped(7, 25), inventoried((1, 49), (51, 100)))
    assert [each.serials for each in later.exceptions if each.code == "inventory_differs"] == [
        [("MP-0050", "MP-0050")]
    ], "it was held at the time of the inventory"


def test_a_coupon_that_came_back_and_is_issued_again_counts_as_often_as_it_moved() -> None:
    """Received less issued and plus returned is in stock. One recorded twice moved once."""
    line = batch(*USUAL, issued(41, 45, 5))
    assert (line.received, line.issued, line.returned) == (100, 55, 5)
    twice = batch(*USUAL, issued(1, 50, 5), returned(41, 45, 6), returned(41, 45, 7))
    assert (twice.issued, twice.returned) == (55, 10)
    assert batch(received(), returned(41, 45)).returned == 5


def test_a_delivery_whose_numbers_run_on_from_nine_to_ten_is_one_batch() -> None:
    of = received()
    of["data"] |= {"serial_from": "A-1", "serial_to": "A-20"}
    line = batch(of)
    assert (line.serial_from, line.serial_to, line.received) == ("A-1", "A-20", 20)


def test_a_house_that_records_no_receipt_is_not_blamed_for_what_is_issued() -> None:
    line = batch(*USUAL[1:])
    assert (line.received, line.equations["E1"], line.exceptions) == (0, None, [])


def test_an_exception_names_the_facts_that_show_it() -> None:
    line = batch(*USUAL, dropped(8, 11))
    [exception] = line.exceptions
    assert [fact.id for fact in exception.facts] == ["coupon_dropped-CC-07-11"]


def test_a_house_that_records_no_distribution_is_not_blamed_for_what_is_used() -> None:
    line = batch(received(), issued(), dropped(7), boxed(7))
    assert line.exceptions == []
    assert [line.equations[name] for name in ("E2", "E3", "E5")] == [None, None, None]


def test_a_coupon_dropped_after_the_last_count_awaits_the_next() -> None:
    assert batch(*USUAL, dropped(8, 55)).exceptions == []


def test_serials_of_no_batch_come_last() -> None:
    *_, last = coupons.lines(read_by_program((*USUAL, dropped(999, 11), again(7, 999, 1_000))))
    assert isinstance(last, UnknownLine)
    assert last.unknown == [("MP-0999", "MP-1000")]
    assert [each.code for each in last.exceptions] == ["unknown"]


def test_coupons_from_a_serial_to_a_lower_one_have_no_range_and_count_none() -> None:
    line = batch(*USUAL, distributed(48, 42, 5))
    assert (line.distributed, line.outstanding) == (40, 39)
    [exception] = line.exceptions
    assert (exception.code, exception.serials) == ("no_range", [("MP-0048", "MP-0042")])
    assert exception.says == (
        "Coupons MP-0048 to MP-0042 were distributed, which is no range: it counts none."
    )
    [alone] = coupons.lines(read_by_program([received(100, 1)]))
    assert isinstance(alone, UnknownLine)
    assert alone.unknown == [("MP-0001", "MP-0001"), ("MP-0100", "MP-0100")]
    assert [each.code for each in alone.exceptions] == ["no_range"]
    [held] = coupons.lines(read_by_program([*USUAL, inventoried((47, 100), (200, 150))]))[1:]
    assert isinstance(held, UnknownLine)
    assert held.exceptions[0].serials == [("MP-0200", "MP-0150")]


def test_a_quarter_counts_each_serial_once_in_the_quarter_of_its_first_box() -> None:
    later = {"box": "B1", "table": "CC-07", "gaming_day": "2027-01-02", "count": 1}
    content = {"currency": {}, "counter_checks": [], "vouchers": [], "counted_by": ["N-1"]}
    again = fact(
        "drop_box_counted", 55, "count-room", **later, **content, coupons=["MP-0007", "MP-0009"]
    )
    facts = read_by_program((*USUAL, again))
    assert coupons.quarter(facts, "2026-Q4") == [QuarterLine(face=FACE, redeemed=1, value=FACE)]
    assert coupons.quarter(facts, "2027-Q1") == [QuarterLine(face=FACE, redeemed=1, value=FACE)]
    assert coupons.quarter(facts, "2026-Q3") == []
    of_no_batch = read_by_program((*USUAL[:-1], boxed(7, 999)))
    assert coupons.quarter(of_no_batch, "2026-Q4") == [
        QuarterLine(face=FACE, redeemed=1, value=FACE),
        QuarterLine(face=None, redeemed=1, value=None),
    ]


def test_the_order_of_arrival_changes_no_line() -> None:
    facts = read_by_program((*USUAL, voided(12), dropped(8, 11)))
    assert coupons.lines(reversed(facts)) == coupons.lines(facts)


def cancelled(minute: int, *numbers: int) -> Line:
    serials = [f"MP-{number:04d}" for number in numbers]
    return fact("coupons_cancelled", minute, "accounting", serials=serials, reason="used", by="A-1")


def test_a_coupon_used_after_it_was_cancelled_is_an_exception_and_one_before_is_none() -> None:
    assert batch(*USUAL, cancelled(55, 7)).exceptions == []
    [found] = batch(*USUAL, cancelled(9, 7)).exceptions
    assert (found.code, found.serials) == ("cancelled_used", [("MP-0007", "MP-0007")])
    assert len(found.facts) == 2


def test_a_serial_cancelled_before_its_batch_came_in_is_of_no_batch() -> None:
    told = coupons.lines(read_by_program([*USUAL, cancelled(55, 999)]))
    assert told[-1] == UnknownLine([("MP-0999", "MP-0999")])


def opened(table: str = "CC-07", game: str = "blackjack", gaming_day: str = DAY) -> Line:
    its = {"game": game, "gaming_day": gaming_day, "min_wager": 500, "max_wager": 50_000}
    return fact("table_opened", 5, table, **its)


@pytest.mark.parametrize(
    ("more", "code", "serials"),
    [
        ((opened(gaming_day="2027-01-01"),), "expired", ["MP-0007"]),
        ((opened(game="craps"),), "other_game", ["MP-0007"]),
        ((dropped(90, 20), again(7, 90), issued(90, 92, 21)), "not_issued", ["MP-0090"]),
        ((dropped(95, 20), again(7, 95)), "not_issued", ["MP-0095"]),
    ],
)  # fmt: skip
def test_a_coupon_that_a_table_took_against_its_terms_is_named(
    more: tuple[Line, ...], code: str, serials: list[str]
) -> None:
    """The control is a table of the game that the coupon is for, on a day before its last."""
    assert batch(*USUAL, opened()).exceptions == []
    usual = (
        [each for each in USUAL if "counted" not in each["type"]] if code == "expired" else USUAL
    )
    its = coupons.lines(read_by_program((*usual, *more)))
    found = [of for each in its if isinstance(each, BatchLine) for of in each.exceptions]
    assert [[first for first, _ in of.serials] for of in found if of.code == code] == [serials]


def test_a_coupon_of_no_batch_that_a_table_took_is_named_if_batches_are_known() -> None:
    strange = fact("coupon_dropped", 12, serial="XX-1", face=FACE)
    [*_, unknown] = coupons.lines(read_by_program((*USUAL, strange)))
    assert isinstance(unknown, UnknownLine)
    assert [(of.code, of.serials) for of in unknown.exceptions] == [("unknown", [("XX-1", "XX-1")])]
    [alone] = coupons.lines(read_by_program([strange]))
    assert isinstance(alone, UnknownLine)
    assert alone.exceptions == []
