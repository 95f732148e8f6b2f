"""What a day's papers show an auditor: one person alone, papers twice, boxes of other tables."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ledger.adjudication.feed import adjudicate
from ledger.finance.feed import wins
from ledger.finance.groups import grouped, over_days
from ledger.finance.win import REPORT, REPORT_5, REPORT_7
from tests.property.finance.floors import floor, read_by_program, worked_out
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
)

if TYPE_CHECKING:
    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

CHECK = {"check": "K-1", "amount": 5_000}
ISSUED = fact("counter_check_issued", 10, position=1, amount=5_000, check="K-1")


def codes(win: TableWin) -> list[str]:
    return [each.code for each in win.exceptions]


def verified(by: str) -> Line:
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY}
    return fact("drop_box_verified", 59, "cage", **box, total=0, by=by)


@pytest.mark.parametrize(
    ("papers", "says"),
    [
        ([count(57), count(58, 2)], None),
        (
            [count(57, counted_by=["N-1"])],
            "N-1 alone made count 1 of box B1; two people do that.",
        ),
        (
            [count(57, counted_by=["N-1"]), count(58, 2, counted_by=["n-1 "])],
            "N-1 alone counted box B1; two people do that.",
        ),
        ([count(57), verified("C-9")], None),
        (
            [count(57), verified("N-2")],
            "N-2 counted box B1 and verified it; other people do the second step.",
        ),
        ([slip("fill", "dispatched", "F-1", 20), slip("fill", "accepted", "F-1", 21)], None),
        (
            [
                slip("fill", "dispatched", "F-1", 20),
                slip("fill", "accepted", "F-1", 21) | {"id": "x"},
            ],
            None,
        ),
        (
            [inventory("drop", 500_000, 30) | {"id": "alone"}],
            "D-1 alone counted the tray for slip CC-07-2026-11-20-30; two people do that.",
        ),
    ],
)
def test_what_one_person_did_alone_is_an_exception(papers: list[Line], says: str | None) -> None:
    told = deepcopy(papers)
    for each in told:
        if each["id"] == "alone":
            each["data"]["observed_by"] = each["data"]["counted_by"]
    found = [e.says for e in table_day(*told).exceptions if e.code == "one_person"]
    assert [each[: len(says or "")] for each in found] == ([says] if says else [])


ALONE = slip("fill", "accepted", "F-2", 21)
ALONE["data"]["by"] = ["P-1"]
SENT_BEFORE = slip("fill", "dispatched", "F-2", 20)
SENT = slip("credit", "dispatched", "C-2", 21)
SENT["data"]["by"] = ["P-1", "p-1 "]
OTHERS = ["N-1", "N-9"]


@pytest.mark.parametrize(
    ("papers", "says"),
    [
        ([count(57), count(58, 2)], []),
        (
            [count(57), count(58, 2, counted_by=["N-2", "N-1"])],
            ["N-1 and N-2 made both counts of box B1; other people do the second step."],
        ),
        (
            [count(57), count(58, 2, counted_by=["n-1", "N-9"])],
            ["N-1 made both counts of box B1; other people do the second step."],
        ),
        (
            [SENT_BEFORE, ALONE, count(57)],
            ["P-1 alone accepted Fill Slip F-2; two people do that."],
        ),
        ([SENT, count(57)], ["P-1 alone dispatched Credit Slip C-2; two people do that."]),
        ([count(57, 2)], ["Box B1 was counted once; two counts by other people are due."]),
    ],
)
def test_a_second_count_or_name_that_lacks_is_an_exception_and_changes_no_figure(
    papers: list[Line], says: list[str]
) -> None:
    facts = read_by_program(day_lines(*papers))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 9))
    assert [each.says for each in now.exceptions] == says
    assert {each.code for each in now.exceptions} <= {"one_person", "counted_once"}
    assert all(each.facts for each in now.exceptions)
    assert then.exceptions == []
    assert (now.drop, now.missing, now.grade) == (then.drop, [], "COUNTED")


@pytest.mark.parametrize("people", [[], ["N-7", "N-8"]])
def test_a_paper_that_nobody_signed_is_an_exception(people: list[str]) -> None:
    """One person alone was named, and nobody was not. The control has two people."""
    told = [*moved("fill", "F-1", 20), count(57), count(58, 2)]
    told[0]["data"]["by"] = told[2]["data"]["counted_by"] = people
    facts = read_by_program(day_lines(*told, closer=510_000))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 11))
    end = " names nobody who signed it; two people do that."
    due = [f"{name}{end}" for name in ("Count 1 of box B1", "Fill Slip F-1, dispatched,")]
    found = [each.says for each in now.exceptions if each.code == "signed_by_nobody"]
    assert found == ([] if people else due)
    assert len(now.exceptions) == len(found)
    assert "signed_by_nobody" not in codes(then)


def test_a_slip_that_one_person_dispatched_and_accepted_is_an_exception() -> None:
    both = [slip("fill", step, "F-1", 20 + n) for n, step in enumerate(("dispatched", "accepted"))]
    for each in both:
        each["data"]["by"] = ["C-1"]
    win = table_day(*both, count(59))
    assert codes(win) == ["one_person"]
    assert win.exceptions[0].says.endswith(" alone dispatched and accepted Fill Slip F-1; two "
                                           "people do that.")  # fmt: skip


def test_people_who_signed_both_steps_of_a_slip_are_named_together() -> None:
    both = [slip("fill", step, "F-1", 20 + n) for n, step in enumerate(("dispatched", "accepted"))]
    for each in both:
        each["data"]["by"] = ["P-1", "P-2"]
    facts = read_by_program(day_lines(*both, count(59)))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 8))
    assert [(each.says, len(each.facts)) for each in now.exceptions] == [
        ("P-1 and P-2 dispatched and accepted Fill Slip F-1; other people do the second step.", 2)
    ]
    assert [each.says for each in then.exceptions] == [
        f"{person} alone dispatched and accepted Fill Slip F-1; two people do that."
        for person in ("P-1", "P-2")
    ]


@pytest.mark.parametrize(
    ("third", "found"),
    [(["N-5", "N-6"], []), (["N-5", "N-3"], ["one_person"]), (["N-5", "N-5"], ["one_person"])],
)
def test_a_third_count_holds_and_is_of_people_who_made_none_before(
    third: list[str], found: list[str]
) -> None:
    """The counts still disagree. The control has other people."""
    told = [count(56, currency={"100": 3}), count(57, 2, currency={"100": 4})]
    again = count(55, 3, currency={"100": 5}, counted_by=third)
    win = worked_out(day_lines(*told, again))[0][0]
    assert win.drop.cash == 500
    assert sorted(codes(win)) == sorted(["counts_disagree", *found])


def test_a_check_or_a_voucher_twice_in_boxes_is_an_exception_and_coupons_keep_theirs() -> None:
    counted = count(59, counter_checks=[CHECK, CHECK], vouchers=["V-1", "V-1"])
    win = table_day(ISSUED, counted)
    assert codes(win) == ["check_boxed_twice", "voucher_boxed_twice"]
    told = read_by_program(day_lines(ISSUED, counted))
    for report, how in (
        (REPORT, "stands 2 times in one count of box B1"),
        (11, "was counted 2 times"),
    ):
        [said, _] = wins(told, [], None, report)[0].exceptions
        assert said.says == f"Counter Check K-1 {how}: CC-07 on {DAY}."
    assert win.drop.counter_checks == 10_000  # of each box its last count
    assert codes(table_day(ISSUED, count(59, counter_checks=[CHECK]))) == []
    box = {"box": "B2", "table": "CC-08", "counter_checks": [CHECK]}
    both = worked_out(day_lines(ISSUED, count(58, counter_checks=[CHECK]), count(59, **box)))[0]
    assert [codes(each) for each in both] == [["check_boxed_twice"]] * 2


def test_a_box_that_was_attached_elsewhere_is_an_exception_of_the_table_that_it_counts_for() -> (
    None
):
    win = table_day(count(58), count(59, box="B9"))
    [exception] = win.exceptions
    assert exception.says.startswith("Box B9 was counted as this table's, and no fact says")
    lines = [each for each in day_lines(count(59, box="B9")) if "attached" not in each["type"]]
    assert codes(worked_out(lines)[0][0]) == []  # a house that records no attachment


def test_counts_of_one_sum_and_other_papers_disagree_by_their_numbers() -> None:
    first = count(57, counter_checks=[CHECK], coupons=["W-3"])
    second = count(58, 2, counter_checks=[{"check": "K-2", "amount": 5_000}], coupons=["W-4"])
    win = table_day(ISSUED, first, second)
    [exception] = win.exceptions
    assert exception.says == (
        "The counts of box B1 disagree: not every count has coupon W-3, coupon W-4, check K-1, "
        "check K-2."
    )
    assert (
        codes(table_day(ISSUED, first, count(58, 2, counter_checks=[CHECK], coupons=["W-3"]))) == []
    )


def test_a_voucher_sold_at_one_table_counts_in_the_box_of_another() -> None:
    sold = fact("voucher_bought_in", 10, position=1, amount=1_200, voucher="V-1")
    at = {"box": "B2", "table": "CC-08", "gaming_day": DAY}
    lines = day_lines(sold, count(58), count(59, **at, vouchers=["V-1"]), closer=498_800)
    one, other = worked_out(lines)[0]
    assert (other.drop.vouchers, "box:B2" in other.missing) == (1_200, False)
    assert [(c.code, c.amount) for c in one.causes] == [("voucher_missing", -1_200)]
    assert [(c.code, c.amount) for c in other.causes] == [("voucher_unknown", 1_200)]
    unknown = worked_out(day_lines(count(58), count(59, **at, vouchers=["V-2"])))[0][1]
    assert (unknown.drop.vouchers, unknown.missing[-1]) == (None, "box:B2")


def test_a_slips_number_that_was_used_before_is_an_exception_of_the_later_day() -> None:
    used = [slip("fill", "accepted", "F-1", 21, 1_000), count(59)]
    again = next_day(*day_lines(slip("fill", "accepted", "F-1", 25, 3_000), count(59)))
    first, second = worked_out([*day_lines(*used, closer=501_000), *again])[0]
    assert (second.gaming_day, second.fills) == (NEXT, 0)
    [exception] = [each for each in second.exceptions if each.code == "slip_used_again"]
    assert (exception.says[:27], len(exception.facts)) == ("Fill Slip F-1 of $30.00 was", 2)
    assert "slip_used_again" not in codes(first)


def test_a_stake_given_back_beyond_what_is_due_is_a_cause_of_the_tray() -> None:
    lines = deepcopy(floor(0, tables=3))
    back = next(each for each in lines if ".wager_returned." in each["type"])
    before = {win.table: win for win in worked_out(lines)[0]}
    table = back["subject"].partition("/")[0]
    assert before[table].causes == []
    back["data"]["amount"] += 2_500
    win = {win.table: win for win in worked_out(lines)[0]}[table]
    assert [(c.code, c.gap, c.amount) for c in win.causes] == [("over_returned", "count", -2_500)]
    assert win.causes[0].facts
    assert win.pay_gap == before[table].pay_gap


def test_a_stake_that_nobody_gave_back_is_a_cause_that_names_who_placed_it() -> None:
    lines = deepcopy(floor(0, tables=3))
    back = next(each for each in lines if ".wager_returned." in each["type"])
    [placed] = [
        each["id"]
        for each in lines
        if ".wager_placed." in each["type"]
        and each["subject"] == back["subject"]
        and all(each["data"][name] == back["data"][name] for name in ("position", "wager"))
    ]
    kept = [each for each in lines if each is not back]
    for each in kept:
        each.pop("sequence", None)  # a gap in its numbers would say that the fact was lost
    facts = read_by_program(kept)
    rulings = list(adjudicate(facts))
    for report, named in ((REPORT, [placed]), (8, [])):
        causes = [cause for win in wins(facts, rulings, None, report) for cause in win.causes]
        [cause] = [each for each in causes if each.code == "not_returned"]
        assert (cause.amount, [ref.id for ref in cause.facts]) == (back["data"]["amount"], named)


@pytest.mark.parametrize(
    ("papers", "found"),
    [
        ([inventory("open", 499_000, 3)], ["open_counts_differ"]),
        ([inventory("open", 500_000, 3)], []),
        ([ISSUED, ISSUED | {"id": "again"}], ["check_issued_twice"]),
        ([ISSUED], []),
        ([fact("cash_bought_in", 59, position=1, amount=500)], ["money_after_closer"]),
        ([fact("cash_bought_in", 57, position=1, amount=500)], []),
        ([SENT_BEFORE, slip("fill", "accepted", "F-2", 59)], ["money_after_closer"]),
        ([slip("fill", "dispatched", "F-1", 59)], []),
    ],
)
def test_openers_checks_and_money_that_do_not_fit_a_day_are_exceptions(
    papers: list[Line], found: list[str]
) -> None:
    """The controls fit."""
    facts = read_by_program(day_lines(*papers, count(59)))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 6))
    assert (codes(now), codes(then)) == (found, [])
    assert all(len(each.facts) == 2 for each in now.exceptions)


@pytest.mark.parametrize(("minute", "found"), [(1, ["closer_before_opener"]), (2, []), (3, [])])
def test_a_closer_before_its_opener_is_an_exception(minute: int, found: list[str]) -> None:
    lines = day_lines(count(59), closer=500_100)
    lines[-1]["time"] = f"{DAY}T10:{minute:02d}:00-05:00"
    facts = read_by_program(lines)
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 9))
    assert (codes(now), codes(then)) == (found, [])
    says = "The closer of $5,001.00 has an earlier time than the opener of $5,000.00."
    assert [(each.says, len(each.facts)) for each in now.exceptions] == [(says, 2)] * len(found)
    assert now.counted == then.counted == 100


def raised_and_folded(returned: int, pushed: int) -> list[Line]:
    """A raise that nobody meets by $20.00, and what of it goes back; $20.00 of the pot is due."""
    script: list[tuple[str, dict[str, Any]]] = [
        ("round_started", {"game": "omaha_5_high", "button": 1, "dealt_from": "manual_shoe"}),
        ("wager_placed", {"position": 1, "wager": "blind", "amount": 500}),
        ("wager_placed", {"position": 2, "wager": "blind", "amount": 1_000}),
        *(
            ("cards_dealt", {"to": "player", "position": n, "cards": ["??"] * 5, "face": "down"})
            for n in (2, 1)
        ),
        ("decision_made", {"position": 1, "decision": "raise", "amount": 2_500}),
        ("decision_made", {"position": 2, "decision": "fold"}),
        *(
            [("wager_returned", {"position": 1, "wager": "bet", "amount": returned})]
            if returned
            else []
        ),
        ("pot_awarded", {"pot": 0, "position": 1, "amount": pushed}),
        ("round_completed", {}),
    ]
    return [
        fact(name, 20 + nth, **data) | {"subject": f"CC-07/{DAY}/1"}
        for nth, (name, data) in enumerate(script)
    ]


@pytest.mark.parametrize(
    ("returned", "pushed", "causes"),
    [
        (2_000, 2_000, {}),
        (2_500, 2_000, {"over_returned": -500}),
        (2_500, 1_500, {"underpaid": 500, "over_returned": -500}),
        (1_500, 2_000, {"not_returned": 500}),
        (0, 4_000, {"overpaid": -2_000, "not_returned": 2_000}),
    ],
)
def test_a_bet_of_poker_given_back_otherwise_than_due_is_a_cause_of_its_bank(
    returned: int, pushed: int, causes: dict[str, int]
) -> None:
    left = 4_000 - returned - pushed  # of what was put in, in the tray
    lines = day_lines(*raised_and_folded(returned, pushed), count(59), closer=500_000 + left)
    facts = read_by_program(lines)
    rulings = list(adjudicate(facts))
    [now], [then] = (wins(facts, rulings, None, report) for report in (REPORT, 9))
    assert {each.code: each.amount for each in now.causes} == causes
    assert now.bank_variance == left == sum(causes.values())
    assert all(each.gap == "bank" and each.facts for each in now.causes)
    assert all("returned" not in each.code for each in then.causes)


def test_amends_of_a_dispute_of_another_table_stay_and_an_earlier_report_moves_them() -> None:
    its = {"dispute": "D-1", "position": 1}
    raised = fact(
        "dispute_raised", 9, "surveillance", **its, round=f"CC-08/{DAY}/1", claim="x", by="F-1"
    )
    paid = fact("adjustment_paid", 10, **its, amount=700, paid_from="table")
    opened = {**day_lines()[0], "source": "/p/CC-08/d"}
    facts = read_by_program([*day_lines(paid, count(59), closer=499_300), opened, raised])
    for report, sums, found in (
        (REPORT, [-700, 0], ["dispute_of_other_table"]),
        (8, [0, -700], []),
    ):
        here, there = wins(facts, [], None, report)
        assert ([here.moved, there.moved], codes(here)) == (sums, found)


@pytest.mark.parametrize(
    ("paid_at", "opened_at", "found"),
    [
        ("10:57:59", None, [[], []]),
        ("10:58:01", None, [["round_after_closer"], ["round_of_day_before"]]),
        ("10:58:01", "10:58:30", [["round_after_closer"], []]),
    ],
)
def test_a_round_is_a_cause_only_of_counts_before_its_chips_moved(
    paid_at: str, opened_at: str | None, found: list[list[str]]
) -> None:
    paid = fact("wager_paid", 57, position=1, wager="ante_across", amount=900)
    paid |= {"subject": f"CC-07/{DAY}/1", "time": f"{DAY}T{paid_at}-05:00"}
    opened = [
        inventory("open", 499_100, 59, NEXT) | {"id": "o", "time": f"{DAY}T{opened_at}-05:00"}
    ]
    its = {"box": "B2", "table": "CC-07", "gaming_day": NEXT}
    after = [
        fact("drop_box_attached", 59, "count-room", **its),
        inventory("close", 499_100, 59, NEXT),
    ]
    facts = read_by_program([*day_lines(paid), *after, *(opened if opened_at else [])])
    told = wins(facts, list(adjudicate(facts)))
    assert [[each.code for each in win.causes] for win in told] == found


def test_an_earlier_report_has_none_of_it() -> None:
    papers = day_lines(ISSUED, count(59, counter_checks=[CHECK, CHECK], counted_by=["N-1"]))
    facts = read_by_program(papers)
    rulings = list(adjudicate(facts))
    [now], [then] = (wins(facts, rulings, None, report) for report in (REPORT, REPORT_5))
    assert (codes(now), codes(then)) == (["check_boxed_twice", "one_person"], [])


LATER = "2026-11-23"  # the table was dark for two days


@pytest.mark.parametrize(("total", "found"), [(499_900, ["opener_differs"]), (500_000, [])])
def test_an_opener_is_compared_with_the_last_closer_over_days_without_play(
    total: int, found: list[str]
) -> None:
    lines = [*day_lines(count(59)), *next_day(*day_lines(count(59), closer=500_000), day=LATER)]
    opener = next(e for e in lines if e["id"].endswith(LATER) and e["data"].get("kind") == "open")
    opener["data"] |= {"total": total, "chips": {"100": total // 100}}
    facts = read_by_program(lines)
    [_, now], [_, then] = (wins(facts, [], None, report) for report in (REPORT, REPORT_7))
    assert (codes(now), codes(then)) == (found, [])
    assert now.opener == then.opener == total
    says = f"The tray opened with $4,999.00; it closed with $5,000.00 on {DAY}, when it was last "
    assert [each.says for each in now.exceptions] == [f"{says}open."] * len(found)


@pytest.mark.parametrize(("number", "found"), [("K-1", ["check_issued_before"]), ("K-2", [])])
def test_a_check_that_was_issued_before_at_another_table_is_named_where_it_comes_again(
    number: str, found: list[str]
) -> None:
    there = [{**each, "data": {**each["data"]}} for each in day_lines(ISSUED, count(59))]
    for each in there:
        each["source"] = each["source"].replace("CC-07", "CC-08")
        each["id"] += "-there"
        each["time"] = each["time"].replace("T10", "T11")
        each["data"] |= {"table": "CC-08"} if "table" in each["data"] else {}
        each["data"] |= {"check": number} if "check" in each["data"] else {}
        each["data"] |= {"slip": f"{each['id']}-slip"} if "slip" in each["data"] else {}
    facts = read_by_program([*day_lines(ISSUED, count(59)), *there])
    for report, expected in ((REPORT, found), (REPORT_7, [])):
        here, other = wins(facts, [], None, report)
        assert (codes(here), codes(other)) == ([], expected)
    assert sum("CC-07" in each.says for each in wins(facts, [])[1].exceptions) == len(found)


@pytest.mark.parametrize(("rate", "found"), [("0.0000", ["notes_without_rate"]), ("1.0725", [])])
def test_foreign_notes_without_a_rate_are_an_exception(rate: str, found: list[str]) -> None:
    notes = [{"currency": "EUR", "notes": {"5000": 1}, "rate": rate}]
    facts = read_by_program(day_lines(count(59, foreign=notes)))
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, REPORT_7))
    assert (codes(now), codes(then)) == (found, [])
    assert now.drop.foreign == (0 if found else 5_362)


@pytest.mark.parametrize("lacks", [True, False])
def test_a_sum_of_tables_over_days_lacks_an_opener_that_one_of_them_lacks(*, lacks: bool) -> None:
    other = json.loads(json.dumps(day_lines(count(59))).replace("CC-07", "CC-08"))
    other = [each | {"id": f"8-{each['id']}"} for each in other]
    lines = [each for each in other if not (lacks and each["data"].get("kind") == "open")]
    facts = read_by_program([*day_lines(count(59)), *lines])
    [house] = grouped(over_days(wins(facts, [])), "house")
    assert house.opener == (None if lacks else 1_000_000)


@pytest.mark.parametrize(
    ("counted_again", "found"), [(480_000, []), (479_000, ["open_counts_differ"])]
)
def test_an_opening_after_a_closing_is_compared_with_none_before_it(
    counted_again: int, found: list[str]
) -> None:
    """The counts of one opening must not differ. Version 11 compared all of a shift."""
    closed, opened = inventory("close", 500_000, 20), inventory("open", 480_000, 25)
    again = inventory("open", counted_again, 26)
    credit = moved("credit", "C-1", 22, 20_000)
    lines = day_lines(closed, *credit, opened, again, count(59), closer=480_000)
    facts = read_by_program(lines)
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 11))
    assert (codes(now), codes(then)) == (found, ["open_counts_differ"])


@pytest.mark.parametrize(("observer", "found"), [("F\u20111", ["one_person"]), ("F-2", [])])
def test_credentials_are_compared_as_they_are_when_people_sign(
    observer: str, found: list[str]
) -> None:
    """A dash of another kind looks alike. Version 11 took it for another person."""
    lines = day_lines(count(59))
    lines[-1]["data"] |= {"counted_by": "F-1", "observed_by": observer}
    facts = read_by_program(lines)
    [now], [then] = (wins(facts, [], None, report) for report in (REPORT, 11))
    assert (codes(now), codes(then)) == (found, [])
