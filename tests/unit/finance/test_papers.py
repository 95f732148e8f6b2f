"""Figures of small table-days, added up by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from ledger.adjudication.feed import adjudicate
from ledger.finance.coupons import UnknownLine
from ledger.finance.coupons import lines as coupon_lines
from ledger.finance.feed import wins, wins_by_shift
from ledger.finance.groups import grouped
from ledger.finance.win import REPORT, TournamentFigures
from replay.text.wins import explained
from tests.property.finance.auditor import audit
from tests.property.finance.floors import closed, read_by_program, worked_out
from tests.scenes.table_days import (
    DAY,
    NEXT,
    count,
    day_lines,
    fact,
    inventory,
    moved,
    next_day,
    slip,
    table_day,
    tournament,
)

if TYPE_CHECKING:
    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line


def codes(win: TableWin) -> list[tuple[str, int]]:
    return [(item.code, item.amount) for item in win.items]


def test_foreign_notes_count_at_their_rate_down_to_the_cent() -> None:
    tendered = {"currency": "CAD", "amount": 10_000, "rate": "0.73125"}
    win = table_day(
        fact("cash_bought_in", 10, position=1, amount=7_300, tendered=tendered),
        count(59, foreign=[{"currency": "CAD", "notes": {"5000": 2}, "rate": "0.73125"}]),
        closer=492_700,
    )
    assert (win.drop.foreign, win.drop.total, win.counted) == (7_312, 7_312, 12)
    assert codes(win) == [("box_foreign", 12)]
    assert win.items[0].says.startswith("$73.12 of foreign notes was counted")


def test_the_last_count_holds_and_two_that_disagree_are_an_exception() -> None:
    win = table_day(count(57, 2, currency={"100": 40}), count(59, 1, currency={"100": 30}))
    assert win.drop.cash == 4_000
    [exception] = win.exceptions
    assert (exception.code, len(exception.facts)) == ("counts_disagree", 2)
    assert "$40.00" in exception.says and "$30.00" in exception.says  # noqa: PT018 - one sentence


def put_back(*counts: Line) -> list[Line]:
    """A box with $100.00 that is emptied, put back, and holds $40.00 at the end of the day."""
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY}
    places = [
        fact("drop_box_removed", 20, "count-room", **box),
        fact("drop_box_attached", 23, "count-room", **box, shift="2"),
        inventory("drop", 490_000, 22),
        fact("drop_box_removed", 56, "count-room", **box),
    ]
    lines = day_lines(cash(10, 10_000), *places, *counts, cash(30, 4_000), closer=486_000)
    lines[1]["data"]["shift"] = "1"
    return lines


def cash(minute: int, amount: int) -> Line:
    return fact("cash_bought_in", minute, position=1, amount=amount)


HUNDRED = [count(20 + nth, nth, currency={"10000": 1}, coupons=["W-1"]) for nth in (1, 2)]
FORTY = [count(56 + nth, nth, currency={"2000": 2}, coupons=["W-2"]) for nth in (1, 2)]


def test_a_box_that_is_emptied_and_put_back_on_one_day_counts_twice() -> None:
    lines = put_back(*HUNDRED, *FORTY)
    facts = read_by_program(lines)
    [win] = wins(facts, [])
    assert (win.drop.cash, win.drop.total, win.counted, win.count_gap) == (14_000, 14_000, 0, 0)
    assert (win.exceptions, win.missing, win.coupons.counted) == ([], [], 2)
    assert audit(lines, [])["p", DAY, "CC-07"]["drop"]["total"] == 14_000
    by_shift = wins_by_shift(facts, [])
    assert [(each.drop.cash, each.missing) for each in by_shift] == [(10_000, []), (4_000, [])]
    assert [each for each in coupon_lines(facts) if isinstance(each, UnknownLine)] == [
        UnknownLine([("W-1", "W-2")])
    ]
    [before] = wins(facts, [], None, 6)
    assert (before.drop.cash, [e.code for e in before.exceptions]) == (4_000, ["counts_disagree"])


def test_a_stay_of_a_box_that_is_not_counted_makes_the_drop_unknown() -> None:
    [win] = worked_out(put_back(*FORTY))[0]
    assert (win.drop.total, win.missing, win.grade) == (None, ["box:B1"], "ESTIMATE")


def test_money_at_a_table_without_opening_or_box_is_named_on_the_houses_day() -> None:
    told = [
        slip("fill", "accepted", "F-1", 20, place="CC-99"),
        fact("cash_bought_in", 30, "CC-99", position=1, amount=500),
        fact("counter_check_issued", 0, "cage", position=1, amount=500, check="K-1"),
    ]
    lines = day_lines(*told, count(59))
    lines[0]["time"] = lines[1]["time"]
    table, strange, nowhere = sorted(worked_out(lines)[0], key=lambda each: each.table != "CC-07")
    assert (table.exceptions, table.missing) == ([], [])
    assert (strange.table, strange.gaming_day, strange.fills) == ("CC-99", DAY, 0)
    assert (strange.missing, strange.counted) == (["opener", "closer"], None)
    [exception] = strange.exceptions
    assert (exception.code, len(exception.facts)) == ("no_gaming_day", 2)
    assert exception.says.startswith("2 facts of money are of a table without opening or box, and")
    [exception] = nowhere.exceptions
    assert (nowhere.table, exception.says[:16]) == ("cage", "1 fact of money ")
    assert [each.table for each in wins(read_by_program(lines), [], None, 6)] == ["CC-07"]


def test_what_the_cage_tells_of_a_slip_that_a_table_has_is_of_that_tables_day() -> None:
    told = [
        slip("fill", "requested", "F-1", 20),
        slip("fill", "dispatched", "F-1", 21, place="cage"),
        slip("fill", "accepted", "F-1", 22),
    ]
    [table] = worked_out(day_lines(*told, count(59), closer=500_000))[0]
    assert (table.table, table.missing, table.exceptions) == ("CC-07", [], [])
    stray = slip("fill", "dispatched", "F-2", 23, place="cage")
    found = worked_out(day_lines(*told, stray, count(59), closer=500_000))[0]
    [cage] = [each for each in found if each.table == "cage"]
    assert [(each.code, [ref.id for ref in each.facts]) for each in cage.exceptions] == [
        ("no_gaming_day", [stray["id"]])
    ]


@pytest.mark.parametrize("named", [True, False])
def test_a_credit_that_the_cage_accepts_counts_at_the_table_of_its_slip(*, named: bool) -> None:
    """Version 9 of the report counts it if it names the table."""
    accepted = slip("credit", "accepted", "C-1", 22, place="cage")
    if named:
        accepted["data"]["table"] = "CC-07"
    told = [slip("credit", "requested", "C-1", 20), slip("credit", "dispatched", "C-1", 21)]
    lines = day_lines(*told, accepted, count(59), closer=490_000)
    [win] = worked_out(lines)[0]
    assert (win.table, win.credits, win.counted) == ("CC-07", 10_000, 0)
    assert (win.causes, win.exceptions) == ([], [])
    before = wins(read_by_program(lines), [], None, 9)
    lacking = [] if named else ["credit_not_accepted"]
    assert [each.code for each in before[0].causes] == lacking
    assert [[e.code for e in each.exceptions] for each in before[1:]] == (
        [] if named else [["no_gaming_day"]]
    )


def test_a_fill_that_the_cage_accepts_for_a_table_that_never_opened_is_of_that_table() -> None:
    """It names CC-99, although CC-07 asked for it: the chips went to CC-99."""
    accepted = slip("fill", "accepted", "F-1", 22, place="cage")
    accepted["data"]["table"] = "CC-99"
    asked = slip("fill", "requested", "F-1", 20), slip("fill", "dispatched", "F-1", 21)
    table, strange = worked_out(day_lines(*asked, accepted, count(59)))[0]
    assert (table.table, table.fills) == ("CC-07", 0)
    assert [each.says for each in table.causes] == [
        "Fill Slip F-1 of $100.00 was dispatched here, and accepted at CC-99."
    ]
    assert (strange.table, [each.code for each in strange.exceptions]) == (
        "CC-99", ["no_gaming_day"],
    )  # fmt: skip


def test_a_box_without_a_count_makes_the_drop_unknown_and_the_day_an_estimate() -> None:
    win = table_day()
    assert (win.drop.total, win.counted, win.count_gap) == (None, None, None)
    assert (win.missing, win.grade) == (["box:B1"], "ESTIMATE")
    assert "missing · box B1 has not been counted" in explained(win)


def test_cash_without_any_box_on_record_makes_the_drop_unknown_and_never_0() -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    lines = [inventory("open", 500_000, 2, DAY), sold, inventory("close", 490_000, 58)]
    opened = {"game": "criss_cross_poker", "gaming_day": DAY, "min_wager": 1, "max_wager": 2}
    [win] = worked_out([fact("table_opened", 0, **opened), *lines])[0]
    assert (win.drop.cash, win.drop.total, win.counted, win.count_gap) == (None,) * 4
    assert (win.missing, win.grade, win.items) == (["box"], "ESTIMATE", [])


def test_checks_that_are_missing_or_unknown_are_causes_with_their_sign() -> None:
    win = table_day(
        fact("counter_check_issued", 10, position=1, amount=20_000, check="K-1"),
        count(59, counter_checks=[{"check": "K-9", "amount": 5_000}]),
        closer=480_000,
    )
    assert codes(win) == [("box_counter_checks", -15_000)]
    assert [(c.code, c.amount) for c in win.causes] == [
        ("check_missing", -20_000),
        ("check_unknown", 5_000),
    ]


def test_an_unequal_exchange_is_an_item_of_its_own() -> None:
    exchanged = {"position": 1, "given": {"2500": 4}, "received": {"500": 19}}
    win = table_day(fact("chips_exchanged", 10, **exchanged), count(59), closer=500_500)
    assert (win.count_gap, codes(win)) == (500, [("exchange", 500)])


def test_a_coupon_in_two_places_and_its_face_are_in_no_drop() -> None:
    win = table_day(count(59, coupons=["C-1", "C-2", "C-1"]))
    assert (win.drop.total, win.coupons.counted) == (0, 3)
    assert [each.code for each in win.exceptions] == ["coupon_redeemed_twice"]


def batch(**terms: Any) -> Line:  # noqa: ANN401 - any field
    usual = {"serial_from": "C-1", "serial_to": "C-9", "face": 500, "terms": "odds"}
    of = {"games": ["criss_cross_poker"], "expires": DAY}
    return fact("coupons_issued", 0, "office", **{**usual, **of, **terms})


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        ({}, []),
        ({"games": []}, []),
        ({"expires": "2026-11-19"}, ["coupon_expired"]),
        ({"games": ["craps"]}, ["coupon_other_game"]),
        ({"serial_from": "C-2"}, ["coupon_unknown"]),
    ],
)
def test_a_coupon_taken_against_its_terms_is_an_exception_of_its_day(
    terms: dict[str, Any], found: list[str]
) -> None:
    drop = fact("coupon_dropped", 10, serial="C-1", face=500)
    for its in ([drop], [count(59, coupons=["C-1"])], [drop, count(59, coupons=["C-1"])]):
        told = read_by_program([batch(**terms), *day_lines(*its)])
        [win] = wins(told, [])
        assert [each.code for each in win.exceptions] == found
        assert all(len(each.facts) == len(its) for each in win.exceptions)
        [earlier] = wins(told, [], DAY, REPORT - 1)
        assert earlier.exceptions == []


def again(at: str, **terms: Any) -> Line:  # noqa: ANN401 - any field
    """The same batch, issued again."""
    return batch(**terms) | {"id": f"again-{at}", "time": f"{at}:00-05:00"}


@pytest.mark.parametrize(
    ("at", "found"),
    [
        (f"{DAY}T10:05", []),
        (f"{DAY}T10:59", ["coupon_expired"]),
        (f"{NEXT}T10:00", ["coupon_expired"]),
    ],
)
def test_a_coupon_is_taken_by_the_terms_that_it_was_last_issued_with(
    at: str, found: list[str]
) -> None:
    """A batch that came back is issued again later: no earlier day changes by that."""
    drop = fact("coupon_dropped", 10, serial="C-1", face=500)
    for its in ([drop], [count(58, coupons=["C-1"])], [drop, count(58, coupons=["C-1"])]):
        lines = [batch(expires="2026-11-19"), *day_lines(*its), again(at)]
        [win] = wins(read_by_program(lines), [])
        assert [each.code for each in win.exceptions] == found
        assert wins(read_by_program(lines[::-1]), []) == [win]


@pytest.mark.parametrize(("at", "found"), [("10:09", ["coupon_unknown"]), ("10:59", [])])
def test_a_coupon_used_before_the_house_issued_any_is_not_unknown(
    at: str, found: list[str]
) -> None:
    """A house that begins to record its batches changes none of the days before."""
    its = batch(serial_from="C-2") | {"time": f"{DAY}T{at}:00-05:00"}
    for used in (fact("coupon_dropped", 10, serial="C-1", face=500), count(58, coupons=["C-1"])):
        [win] = wins(read_by_program([its, *day_lines(used)]), [])
        assert [each.code for each in win.exceptions] == found


def test_of_two_batches_of_one_moment_the_order_of_arrival_chooses_none() -> None:
    other = batch(expires="2026-11-19") | {"id": "other"}
    for its in ([batch(), other], [other, batch()]):
        drop = fact("coupon_dropped", 10, serial="C-1", face=500)
        [win] = wins(read_by_program([*its, *day_lines(drop)]), [])
        assert [each.code for each in win.exceptions] == ["coupon_expired"]


def test_a_coupon_dropped_before_its_batch_was_issued_is_an_exception() -> None:
    drop = fact("coupon_dropped", 10, serial="C-1", face=500)
    later = batch() | {"time": f"{DAY}T10:11:00-05:00"}
    [win] = wins(read_by_program([later, *day_lines(drop)]), [])
    assert [each.code for each in win.exceptions] == ["coupon_not_issued"]
    [win] = wins(read_by_program(day_lines(drop)), [])
    assert win.exceptions == [], "no batch of the house is on record"


def two_counts(second: str, *, day: str = DAY, table: str = "CC-08") -> list[TableWin]:
    """Two boxes: one of CC-07 with coupon C-1, one of another table or day with `second`."""
    box = {"box": "B2", "table": table, "gaming_day": day, "coupons": [second]}
    lines = day_lines(count(58, coupons=["C-1"]), count(59, **box))
    return worked_out(lines)[0]


def twice(win: TableWin) -> list[tuple[str, int]]:
    return [(each.says, len(each.facts)) for each in win.exceptions]


def test_a_coupon_in_boxes_of_two_tables_is_an_exception_of_both() -> None:
    says = f"Coupon C-1 was counted 2 times: CC-07 on {DAY}, CC-08 on {DAY}."
    assert [twice(each) for each in two_counts("C-1")] == [[(says, 2)], [(says, 2)]]
    assert [twice(each) for each in two_counts("C-2")] == [[], []]


def test_a_coupon_counted_again_on_a_later_day_is_an_exception_of_that_day_alone() -> None:
    says = f"Coupon C-1 was counted 2 times: CC-07 on {DAY}, CC-07 on {NEXT}."
    assert [twice(e) for e in two_counts("C-1", day=NEXT, table="CC-07")] == [[], [(says, 2)]]


def sold(minute: int, number: str, boot: str) -> Line:
    return fact("cash_bought_in", minute, position=1, amount=100) | {
        "sequence": number,
        "boot": boot,
    }


def test_two_facts_of_money_under_one_number_of_a_device_are_an_equivocation() -> None:
    [win] = worked_out(day_lines(sold(10, "7", "a"), sold(11, "7", "a"), sold(12, "8", "a")))[0]
    [exception] = win.exceptions
    assert (exception.code, len(exception.facts)) == ("equivocation", 2)
    assert exception.says == "/p/CC-07/d gave its number 7 to several facts of money."
    [win] = worked_out(day_lines(sold(10, "7", "a"), sold(11, "7", "b"), sold(12, "8", "a")))[0]
    assert win.exceptions == []


def test_a_device_that_counts_from_the_start_again_is_one_equivocation() -> None:
    again = [sold(10 + n, str(n), "a") for n in range(3)]
    again += [sold(20 + n, str(n), "a") for n in range(3)]
    [win] = worked_out(day_lines(*again))[0]
    assert [each.says for each in win.exceptions] == [
        "/p/CC-07/d gave 3 of its numbers from 0 to 2, each to several facts of money."
    ]
    assert len(win.exceptions[0].facts) == 6


def test_a_number_left_out_is_an_exception_where_the_next_one_was_used() -> None:
    used = [each for n in (7, 8, 11) for each in moved("fill", f"F-{n}", 10 + n)]
    win = table_day(*used, count(59), closer=530_000)
    assert (win.fills, win.count_gap) == (30_000, 0)
    [exception] = win.exceptions
    assert exception.code == "slip_missing"
    assert "F-9 to F-10 is not on record" in exception.says


def test_a_number_left_out_is_written_as_long_as_its_neighbours() -> None:
    used = [each for n in (8, 10, 13) for each in moved("fill", f"F-{n:03}", 10 + n)]
    win = table_day(*used, count(59), closer=530_000)
    assert [each.says.partition(" is not")[0] for each in win.exceptions] == [
        "Fill Slip F-009",
        "Fill Slip F-011 to F-012",
    ]


@pytest.mark.parametrize(("kind", "closer"), [("fill", 510_000), ("credit", 490_000)])
@pytest.mark.parametrize("sent", [False, True])
def test_a_slip_that_nobody_dispatched_is_named_though_the_tray_agrees(
    kind: str, closer: int, *, sent: bool
) -> None:
    """A cage alone could hide a short tray behind a credit. The control was dispatched."""
    both = moved(kind, "S-1", 12)
    lines = day_lines(*both[not sent :], count(59), closer=closer)
    facts = read_by_program(lines)
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 11))
    says = f"{kind.capitalize()} Slip S-1 of $100.00 was accepted, and no fact says that it was "
    found = [(e.code, e.says, [ref.id for ref in e.facts]) for e in now.exceptions]
    due = [("slip_not_dispatched", f"{says}dispatched.", [both[1]["id"]])]
    assert found == ([] if sent else due)
    assert (then.exceptions, now.count_gap) == ([], 0)


def test_a_slip_that_was_voided_is_no_exception_and_no_credit() -> None:
    win = table_day(
        slip("credit", "requested", "C-1", 10), slip("credit", "voided", "C-1", 11), count(59)
    )
    assert (win.credits, win.causes, win.exceptions) == (0, [], [])


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (slip("fill", "voided", "F-1", 13), ["slip_accepted_and_voided"]),
        (slip("fill", "dispatched", "F-1", 11, 9_000), ["slip_amounts_differ"]),
        (slip("fill", "requested", "F-1", 11, 9_000), ["slip_changed"]),
        (slip("fill", "requested", "F-1", 11), []),
    ],
)
def test_a_slip_voided_after_its_acceptance_or_of_two_amounts_counts_and_is_named(
    more: Line, found: list[str]
) -> None:
    sent, accepted = moved("fill", "F-1", 12)
    told = {each["type"]: each for each in (sent, accepted, more)}
    win = table_day(*told.values(), count(59), closer=510_000)
    assert (win.fills, win.count_gap) == (10_000, 0)
    assert [each.code for each in win.exceptions] == found
    named = {ref.id for each in win.exceptions for ref in each.facts}
    assert named - {sent["id"]} == ({accepted["id"], more["id"]} - {sent["id"]} if found else set())


@pytest.mark.parametrize(
    ("sent", "taken", "found"),
    [
        (
            9_000,
            9_000,
            ["was requested for $100.00, dispatched for $90.00 and accepted for $90.00."],
        ),
        (None, 12_000, ["was requested for $100.00 and accepted for $120.00."]),
        (9_000, None, ["was requested for $100.00 and dispatched for $90.00."]),
        (10_000, 10_000, []),
        (None, None, []),
    ],
)
def test_a_slip_of_another_amount_than_was_requested_is_an_exception_of_both_amounts(
    sent: int | None, taken: int | None, found: list[str]
) -> None:
    steps = [slip("fill", "requested", "F-1", 10)]
    for nth, (step, total) in enumerate((("dispatched", sent), ("accepted", taken))):
        steps += [] if total is None else [slip("fill", step, "F-1", 11 + nth, total)]
    facts = read_by_program(day_lines(*steps, count(59)))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 11))
    changed = [each for each in now.exceptions if each.code == "slip_changed"]
    assert [each.says for each in changed] == [f"Fill Slip F-1 {says}" for says in found]
    assert all(len(each.facts) == len(steps) for each in changed)
    assert then == msgspec.structs.replace(now, exceptions=[])


def test_a_credit_that_left_and_never_arrived_is_a_cause_with_its_sign() -> None:
    win = table_day(slip("credit", "dispatched", "C-1", 10), count(59), closer=490_000)
    assert (win.credits, win.count_gap) == (0, -10_000)
    assert [(c.code, c.amount) for c in win.causes] == [("credit_not_accepted", -10_000)]


def test_a_voucher_without_an_amount_counts_at_what_it_was_bought_for() -> None:
    bought = fact("voucher_bought_in", 10, position=1, amount=5_000, voucher="V-1")
    assert table_day(bought, count(59, vouchers=["V-1"]), closer=495_000).count_gap == 0
    unknown = table_day(count(59, vouchers=["V-2"]))
    assert (unknown.drop.vouchers, unknown.drop.total, unknown.missing) == (None, None, ["box:B1"])
    assert [line for line in explained(unknown) if line.startswith("missing")] == [
        "missing · box B1 was counted, and no amount is on record of a voucher in it"
    ]


def test_poker_counts_its_rake_and_holds_the_tray_apart() -> None:
    subject = {"subject": f"CC-07/{DAY}/1"}
    started = {**fact("round_started", 5, game="omaha_5_high"), **subject}
    rake = {**fact("rake_taken", 6, amount=700), **subject}
    bought = fact("cash_bought_in", 10, position=1, amount=10_000)
    counted = count(59, chips={"100": 6}, currency={"100": 90})
    win = table_day(started, rake, bought, counted, closer=490_500)
    assert (win.counted, win.moved, win.count_gap) == (600, 700, -100)
    assert (win.owed, win.pay_gap, win.bank_variance) == (None, None, -500)
    assert codes(win) == [("box_chips", -100), ("box_cash", -1_000), ("tray", 500)]
    assert [(item.gap, item.code) for item in win.items][1:] == [
        ("bank", "box_cash"),
        ("bank", "tray"),
    ]
    assert win.exceptions == []
    facts = read_by_program(day_lines(started, rake, bought, counted, closer=490_500))
    [then] = wins(facts, list(adjudicate(facts)), None, 4)
    assert (codes(then), then.bank_variance) == ([("box_chips", -100)], 500)
    assert [(e.code, e.says) for e in then.exceptions] == [("box_differs", win.items[1].says)]
    named = [[ref.id for ref in item.facts] for item in win.items]
    assert named[0] == [f"{counted['id']}-2", rake["id"]]
    assert all(named)


@pytest.mark.parametrize("sign", [-1, 1])
def test_money_below_zero_is_an_exception_of_its_papers_and_of_each_round(sign: int) -> None:
    """It stays in the sums, as nothing that is recorded is refused."""
    round_ = coup()
    round_[8]["data"]["amount"] *= sign
    told = [
        fact("cash_bought_in", 10, position=1, amount=sign * 500),
        fact(
            "adjustment_paid", 11, dispute="D-1", position=1, amount=sign * 300, paid_from="table"
        ),
        slip("fill", "accepted", "F-1", 12, 0) | {"id": "fill"},
        fact("tip_dropped", 13, amount=-500),
    ]
    told[2]["data"]["total"] = sign * 200
    box = count(59, counter_checks=[{"check": "K-1", "amount": sign * 700}])
    facts = read_by_program(day_lines(*told, *round_, box))
    rulings = list(adjudicate(facts))
    [now], [then] = (wins(facts, rulings, None, report) for report in (REPORT, 11))
    papers, *rest = [each for each in now.exceptions if each.code == "negative_amount"] or [None]
    assert now.fills == sign * 200
    if sign > 0 or papers is None:
        assert (papers, sign) == (None, 1)
        return
    assert papers.says == (
        "Money below zero is on record: cash bought in of -$5.00, adjustment paid of -$3.00, fill "
        "accepted of -$2.00, and 2 more. It is in the sums."
    )
    assert len(papers.facts) == 5
    [of_round] = rest
    assert [ref.id for ref in of_round.facts] == [round_[8]["id"]]
    assert not any(each.code == "negative_amount" for each in then.exceptions)


@pytest.mark.parametrize(("boxed", "found"), [(40_000, True), (4_000, False)])
def test_papers_that_a_box_has_at_another_amount_than_was_sold_are_exceptions(
    *, boxed: int, found: bool
) -> None:
    """A voucher without an amount on it has that of its sale."""
    sold = [
        fact("counter_check_issued", 10, position=1, amount=4_000, check="K-1"),
        fact("voucher_bought_in", 11, position=1, amount=4_000, voucher="V-1"),
        fact("voucher_bought_in", 12, position=1, amount=4_000, voucher="V-2"),
    ]
    papers = {
        "counter_checks": [{"check": "K-1", "amount": boxed}],
        "vouchers": [{"voucher": "V-1", "amount": boxed}, "V-2"],
    }
    facts = read_by_program(day_lines(*sold, count(59, **papers), closer=488_000))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 11))
    codes_ = [each.code for each in now.exceptions]
    assert codes_ == (["check_amounts_differ", "voucher_amounts_differ"] if found else [])
    assert [[ref.id for ref in each.facts] for each in now.exceptions] == (
        [[its["id"], "drop_box_counted-count-room-59-2"] for its in sold[:2]] if found else []
    )
    if found:
        assert now.exceptions[0].says == (
            "Counter Check K-1 was sold for $40.00 of chips, and a box of this table has it at "
            "$400.00; the drop has the count's amount."
        )
    assert then == msgspec.structs.replace(now, exceptions=[])


def test_pokers_bank_has_exchanges_amends_box_and_tray_as_its_journal_has_them() -> None:
    opened, *rest = day_lines(
        fact("cash_bought_in", 10, position=1, amount=10_000),
        fact("chips_exchanged", 20, position=1, given={"500": 1}, received={"500": 2}),
        fact("adjustment_paid", 30, dispute="D", position=1, amount=300, paid_from="table", by="F"),
        count(59, currency={"1000": 9}),
        closer=488_200,
    )
    lines = [{**opened, "data": {**opened["data"], "game": "omaha_5_high"}}, *rest]
    [win], entries = closed(lines)
    found = {item.code: item.amount for item in win.items if item.gap == "bank"}
    assert found == {"exchange": -500, "adjustment": -300, "box_cash": -1_000, "tray": -1_000}
    assert win.bank_variance == sum(found.values()) == -2_800
    booked = [p for e in entries for p in e.postings if p.account.startswith("income:bank:")]
    assert sum(posting.amount for posting in booked) == 2_800
    [uncounted], _ = closed([each for each in lines if "counted" not in each["id"]] + lines[2:3])
    assert uncounted.bank_variance is None


def test_coupons_of_a_box_that_is_not_counted_are_not_known() -> None:
    assert table_day().coupons.counted is None
    assert table_day(count(59)).coupons.counted == 0
    [house] = grouped([table_day(), table_day(count(59))], "house")
    assert house.coupons.counted is None


def two_tables(*facts: Line) -> dict[str | None, TableWin]:
    """The wins of CC-07 and CC-08, which have these facts between them."""
    other = [each | {"id": f"{each['id']}-8", "source": "/p/CC-08/d"} for each in day_lines()[:1]]
    return {each.table: each for each in worked_out([*day_lines(*facts), *other])[0]}


def test_a_slip_that_two_tables_accepted_counts_where_it_was_accepted_first() -> None:
    again = slip("fill", "accepted", "F-1", 30, 2_000) | {"source": "/p/CC-08/d"}
    found = two_tables(slip("fill", "accepted", "F-1", 20, 2_000), again)
    assert [found[name].fills for name in ("CC-07", "CC-08")] == [2_000, 0]
    says = "Fill Slip F-1 was recorded as accepted at CC-07 and at CC-08; $20.00 counts once, at "
    for each in found.values():
        told = [(of.code, of.says, len(of.facts)) for of in each.exceptions]
        assert told == [("slip_recorded_twice", f"{says}CC-07.", 2)]
    others = [*moved("fill", "F-1", 20, 2_000), *moved("fill", "F-2", 30, 2_000, "CC-08")]
    found = two_tables(*others)
    assert [found[name].fills for name in ("CC-07", "CC-08")] == [2_000, 2_000]
    assert not any(each.exceptions for each in found.values())


def test_a_credit_on_its_way_over_the_change_of_day_is_named_on_both_days() -> None:
    box = fact("drop_box_attached", 40, "count-room", box="B2", table="CC-07", gaming_day=NEXT)
    sent, taken = (slip("credit", *step, 20_000) for step in (("dispatched", "C-9", 30),
                                                              ("accepted", "C-9", 50)))  # fmt: skip
    first, second = worked_out([*day_lines(sent, taken, box, closer=480_000)])[0]
    assert [(each.code, each.amount) for each in first.causes] == [("credit_not_accepted", -20_000)]
    assert [(each.code, each.amount) for each in second.causes] == [("credit_sent_before", 20_000)]
    assert (first.credits, second.credits) == (0, 20_000)
    assert "on its way over the change of day" in first.causes[0].says
    before = slip("credit", "accepted", "C-9", 35, 20_000)
    assert not any(each.causes for each in worked_out([*day_lines(sent, before, box)])[0])


@pytest.mark.parametrize("game", ["criss_cross_poker", "omaha_5_high"])
@pytest.mark.parametrize("in_tray", [True, False])
def test_a_fill_on_its_way_over_the_change_of_day_is_named_on_the_days_whose_counts_have_it(
    game: str, *, in_tray: bool
) -> None:
    """The runner may come after the count that ends the day: then no count has its chips.

    At poker its chips are of the bank, and the count gap has none of them.
    """
    box = fact("drop_box_attached", 40, "count-room", box="B2", table="CC-07", gaming_day=NEXT)
    at = {"dispatched": 30, "accepted": 50}
    sent, taken = (slip("fill", step, "F-9", minute, 20_000) for step, minute in at.items())
    tray = 520_000 if in_tray else 500_000
    ends = inventory("close", 520_000, 59, NEXT)
    told = [*day_lines(sent, taken, box, count(57), closer=tray), ends]
    told.append(count(58, box="B2", gaming_day=NEXT))
    told[0]["data"]["game"] = game
    facts = read_by_program(told)
    first, second = wins(facts, [])
    if game == "omaha_5_high":
        variances = [day.bank_variance for day in (first, second)]
        assert variances == ([20_000, -20_000] if in_tray else [0, 0])
    gap = "count" if game == "criss_cross_poker" else "bank"
    gaps = {each.gap for day in (first, second) for each in day.causes}
    assert gaps == ({gap} if in_tray else set())
    assert (first.fills, second.fills) == (0, 20_000)
    trays = [[each.amount for each in day.items if each.code == "tray"] for day in (first, second)]
    assert trays == ([[20_000], [-20_000]] if in_tray else [[], []])
    named = [[(each.code, each.amount) for each in day.causes] for day in (first, second)]
    found = [[("fill_not_accepted", 20_000)], [("fill_sent_before", -20_000)]]
    assert named == (found if in_tray else [[], []])
    assert [day.causes for day in wins(facts, [], None, 11)] == [[], []]


@pytest.mark.parametrize(("report", "gap"), [(11, "count"), (12, "bank")])
def test_causes_at_poker_are_of_its_bank(report: int, gap: str) -> None:
    """So is what they explain: a credit that was not accepted, a check that is in no box."""
    told = day_lines(
        slip("credit", "dispatched", "C-9", 30, 20_000),
        fact("counter_check_issued", 10, position=1, amount=500, check="K-1"),
        count(59),
        closer=479_500,
    )
    told[0]["data"]["game"] = "omaha_5_high"
    [day] = wins(read_by_program(told), [], None, report)
    assert [(each.code, each.gap) for each in day.causes] == [
        ("credit_not_accepted", gap),
        ("check_missing", gap),
    ]
    assert {each.gap for each in day.items} == {"bank"}
    assert day.bank_variance == sum(each.amount for each in day.causes)


def test_an_earlier_version_of_the_report_says_what_it_said() -> None:
    """Whatever a later version says otherwise of the same facts."""
    again = slip("fill", "accepted", "F-1", 30, 2_000) | {"source": "/p/CC-08/d"}
    box = {"box": "B9", "table": "CC-08", "gaming_day": DAY}
    facts = read_by_program(
        [
            *day_lines(
                slip("fill", "accepted", "F-1", 20, 2_000),
                again,
                fact("table_opened", 0, "CC-08", game="omaha_5_high", gaming_day=DAY,
                     min_wager=1, max_wager=2),
                fact("drop_box_attached", 1, "CC-08", **box),
                fact("counter_check_issued", 10, position=1, amount=500, check="K-1"),
                count(59),
            )
        ]
    )  # fmt: skip
    rulings = list(adjudicate(facts))
    now, before = (wins(facts, rulings, None, report) for report in (REPORT, 4))
    assert [each.fills for each in before] == [2_000, 2_000]
    assert [each.fills for each in now] == [2_000, 0]
    assert [each.coupons.counted for each in before] == [0, 0]
    assert [each.coupons.counted for each in now] == [0, None]
    assert before[0].causes[0].says == "Counter Check K-1 of $5.00 was issued and is in no box."
    assert now[0].causes[0].says.endswith("is in no box of this table.")
    assert not any(each.exceptions for each in before)


def test_a_correction_that_cannot_be_applied_is_said_from_version_6_of_the_report_on() -> None:
    bought = fact("cash_bought_in", 10, position=1, amount=1_000)
    of = {"source": bought["source"], "id": bought["id"]}
    people = {"because": "Misread.", "by": "F-1", "second": "F-2"}
    made = fact("fact_corrected", 20, "office", of=of, data={"position": 1}, **people)
    facts = read_by_program(day_lines(bought, made, count(59)))
    now, before = (wins(facts, [], None, report)[0] for report in (REPORT, 5))
    assert [each.code for each in now.exceptions] == ["correction_without_effect"]
    assert before == msgspec.structs.replace(now, exceptions=[])


@pytest.mark.parametrize(
    ("game", "found"), [("omaha_5_high", (0, None, -500)), ("criss_cross_poker", (-500, 0, None))]
)
def test_a_table_opened_for_poker_has_an_imprest_bank_before_its_first_round(
    game: str, found: tuple[int, int | None, int | None]
) -> None:
    opened, *rest = day_lines(count(59), closer=499_500)
    [win] = worked_out([{**opened, "data": {**opened["data"], "game": game}}, *rest])[0]
    assert (win.counted, win.owed, win.bank_variance) == found


@pytest.mark.parametrize(
    ("by", "shown"), [("pit", ("North", None)), ("game", (None, "criss_cross_poker"))]
)
def test_a_group_has_the_sums_of_its_tables(by: Any, shown: tuple[str, str]) -> None:  # noqa: ANN401 - a choice
    one = table_day(count(59, currency={"100": 40}))
    [win] = grouped([one, one], by)
    assert (win.table, win.opener, win.drop.cash, win.counted) == (None, 1_000_000, 8_000, 8_000)
    assert (win.pit or None, win.game) == shown
    assert len(win.items) == 2


def test_a_group_of_a_closed_day_sums_the_tables_that_were_signed() -> None:
    one = table_day(count(59, currency={"100": 40}))
    signed = msgspec.structs.replace(one, grade="SEALED", version=1, pending={"counted": 5})
    pending: dict[str, int | None] = {"counted": 3, "fills": None}
    late = msgspec.structs.replace(one, table="CC-08", pending=pending, counted=None)
    for tables in ([signed, late], [late, signed]):
        [house] = grouped(tables, "house")
        assert (house.grade, house.version, house.counted) == ("SEALED", 1, signed.counted)
        assert house.pending == {"counted": 8, "fills": None}
    [house] = grouped([signed, signed], "house")
    assert (house.version, house.counted) == (1, 2 * (signed.counted or 0))
    [nobody] = grouped([late, late], "house")
    assert (nobody.version, nobody.counted, nobody.opener) == (0, None, 1_000_000)


def test_a_group_says_which_table_each_line_is_of_and_a_tables_own_day_does_not() -> None:
    by = ["C-1", "C-2"]
    late_slip = fact("fill_dispatched", 20, slip="F-1", chips={"100": 1}, total=100, by=by)
    twice = [count(55 + nth, nth, currency={"100": nth}) for nth in (1, 2)]
    one = table_day(late_slip, *twice)
    other = msgspec.structs.replace(one, table="CC-08")
    [win] = grouped([one, other], "house")
    for its in (win.items, win.causes, win.exceptions):
        assert [each.table for each in its] == ["CC-07", "CC-08"]
    for its in (one.items, one.causes, one.exceptions):
        assert [each.table for each in its] == [msgspec.UNSET]
    assert b'"table":"CC-08"' in msgspec.json.encode(win.exceptions)


def test_tournaments_are_entries_less_prizes_and_in_no_other_figure() -> None:
    told = [
        tournament("entered", "T-1", 10, 10_000),
        tournament("entered", "T-1", 11, 10_000),
        tournament("entered", "T-2", 12, 500),
        tournament("prize_paid", "T-1", 40, 18_000),
    ]
    paid = count(59, currency={"100": 1})
    with_them, without = table_day(*told, paid), table_day(paid)
    assert with_them.tournaments == TournamentFigures(entries=20_500, prizes=18_000, win=2_500)
    assert msgspec.structs.replace(with_them, tournaments=msgspec.UNSET) == without
    assert b"tournaments" not in msgspec.json.encode(without)
    [house] = grouped([with_them, without, with_them], "house")
    assert house.tournaments == TournamentFigures(entries=41_000, prizes=36_000, win=5_000)
    assert "tournaments +$25.00 · entries $205.00 less prizes $180.00" in " ".join(
        explained(with_them)
    )


def test_a_table_that_only_has_tournaments_needs_no_tray_and_leaves_the_house_its_figures() -> None:
    played = [tournament("entered", "T-1", 10, 10_000, table="PK-1")]
    lines = [*day_lines(count(59)), *played]
    table, alone = worked_out(lines)[0]
    assert (alone.opener, alone.closer, alone.counted, alone.missing) == (None, None, 0, [])
    assert (alone.grade, alone.tournaments) == (
        "COUNTED",
        TournamentFigures(entries=10_000, prizes=0, win=10_000),
    )
    [house] = grouped([table, alone], "house")
    assert (house.grade, house.missing) == ("COUNTED", [])
    assert (house.opener, house.closer, house.counted) == (500_000, 500_000, 0)
    facts = read_by_program(lines)
    assert wins(facts, [], None, 6)[1].missing == ["opener", "closer"]
    bought = fact("cash_bought_in", 30, "PK-1", position=1, amount=500)
    opened = fact("drop_box_attached", 5, "count-room", box="B9", table="PK-1", gaming_day=DAY)
    [_, both] = worked_out([*lines, opened, bought])[0]
    assert both.missing == ["opener", "closer", "box:B9"]


@pytest.mark.parametrize("game", ["omaha_5_high", "blackjack"])
def test_a_poker_table_that_opened_for_a_tournament_alone_needs_no_tray(game: str) -> None:
    """The next day, on which a prize was paid, is of poker too. The control is a banked table."""
    limits = {"min_wager": 500, "max_wager": 5_000}
    opened = fact("table_opened", 5, "PK-1", game=game, gaming_day=DAY, **limits)
    told = [
        *(opened, tournament("entered", "T-1", 10, 10_000, table="PK-1")),
        *next_day(tournament("prize_paid", "T-1", 12, 4_000, table="PK-1")),
    ]
    facts = read_by_program(told)
    first, second = wins(facts, [])
    lacks = [] if game == "omaha_5_high" else ["opener", "closer"]
    owed = None if game == "omaha_5_high" else 0
    assert (first.missing, second.missing) == (lacks, [])
    assert [(day.counted, day.owed, day.pay_gap) for day in (first, second)] == [
        (None if lacks else 0, owed, owed),
        (0, owed, owed),
    ]
    then = wins(facts, [], None, 11)
    assert (then[0].missing, then[1].owed, then[1].pay_gap) == (["opener", "closer"], 0, 0)


def test_a_tournaments_money_is_of_its_day_wherever_it_was_taken() -> None:
    lines = [*day_lines(), tournament("entered", "T-1", 10, 10_000, table="PK-1")]
    found = {each.table: each for each in worked_out(lines)[0]}
    played = found["PK-1"].tournaments
    assert played
    assert (played.win, found["CC-07"].tournaments) == (10_000, msgspec.UNSET)


def coup(*lost: str) -> list[Line]:
    """One coup that Player loses, of $25 at position 1 and $40 at 3; a device lost some facts."""
    script = [
        ("round_started", {"game": "minibaccarat"}),
        ("wager_placed", {"position": 1, "wager": "player", "amount": 2_500}),
        ("wager_placed", {"position": 3, "wager": "player", "amount": 4_000}),
        ("no_more_bets_called", {}),
        *(
            ("cards_dealt", {"to": f"{hand}_hand", "cards": [card], "face": "up"})
            for hand, card in (("player", "7d"), ("banker", "9c"), ("player", "Ts"),
                               ("banker", "Kh"))
        ),
        ("wager_collected", {"position": 1, "wager": "player", "amount": 2_500}),
        ("wager_collected", {"position": 3, "wager": "player", "amount": 4_000}),
        ("hand_discarded", {"to": "player_hand"}),
        ("hand_discarded", {"to": "banker_hand"}),
        ("round_completed", {}),
    ]  # fmt: skip
    told = [
        fact(name, 20 + nth, **data) | {"sequence": str(nth), "boot": "a", "subject": SUBJECT}
        for nth, (name, data) in enumerate(script)
    ]
    return [e for e in told if f"{e['type'].split('.')[1]} {e['data'].get('position')}" not in lost]


SUBJECT = f"CC-07/{DAY}/1"
STAKE, TAKEN = "wager_placed 3", "wager_collected 3"


@pytest.mark.parametrize(
    ("lost", "figures", "causes"),
    [
        ((), (2_500 + 4_000, 0, 0), []),
        ((TAKEN,), (2_500 + 4_000, -4_000, 4_000), [4_000]),
        ((STAKE, TAKEN), (2_500, 0, 4_000), [4_000]),
        ((STAKE,), (2_500, 4_000, 0), []),
        (("hand_discarded None",), (2_500 + 4_000, 0, 0), []),
    ],
)
def test_a_lost_stake_unsettles_no_other_and_is_a_cause_of_what_the_tray_is_over(
    lost: tuple[str, ...], figures: tuple[int, int, int], causes: list[int]
) -> None:
    win = table_day(*coup(*lost), count(59), closer=506_500)
    assert (win.owed, win.pay_gap, win.count_gap) == figures
    assert [(each.code, each.amount) for each in win.causes] == [
        ("fact_missing", amount) for amount in causes
    ]
    assert all(each.round == SUBJECT for each in win.causes)
    assert win.missing == []


@pytest.mark.parametrize(
    ("game", "rounds", "drop"),
    [("minibaccarat", True, None), ("omaha_5_high", True, None), ("minibaccarat", False, 0)],
)
def test_a_table_that_played_without_any_box_has_no_drop_and_one_that_did_not_has_0(
    game: str, *, rounds: bool, drop: int | None
) -> None:
    played = coup() if game == "minibaccarat" else coup()[:1]
    played[0]["data"]["game"] = game
    told = day_lines(*(played if rounds else ()), closer=506_500)
    lines = [each for each in told if "drop_box" not in each["type"]]
    facts = read_by_program(lines)
    rulings = list(adjudicate(facts))
    [now], [then] = (wins(facts, rulings, None, report) for report in (REPORT, 9))
    missing = ["box"] if rounds else []
    assert ([each for each in now.missing if "box" in each], now.drop.total) == (missing, drop)
    assert now.grade == ("ESTIMATE" if rounds else "COUNTED")
    assert (then.drop.total, then.missing, then.grade) == (0, [], "COUNTED")
    audited = audit(lines, [msgspec.to_builtins(each) for each in rulings])["p", DAY, "CC-07"]
    assert (audited["missing"], audited["drop"]["total"]) == (missing, drop)


def test_a_tray_that_is_over_without_a_lost_fact_has_no_such_cause() -> None:
    assert table_day(*coup(), count(59), closer=510_500).causes == []
