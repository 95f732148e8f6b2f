"""What explains a tray if several things went wrong on one day."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from ledger.adjudication.feed import adjudicate
from ledger.finance.feed import wins
from tests.property.finance.floors import read_by_program, worked_out
from tests.scenes.table_days import DAY, count, day_lines, fact, slip

if TYPE_CHECKING:
    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

CARDS = {"player": ("9c", "7d", "Kh", "Ts"), "banker": ("7d", "9c", "Ts", "Kh")}


class Lost(NamedTuple):
    """A wager on Player whose collection (below zero: payment) a device lost."""

    cents: int
    moved: bool = True  # whether its chips moved


def coup(nth: int, lost: Lost) -> list[Line]:
    name = "wager_collected" if lost.cents > 0 else "wager_paid"
    wager = {"position": 1, "wager": "player", "amount": abs(lost.cents)}
    to = ("player_hand", "banker_hand") * 2
    dealt = zip(to, CARDS["banker" if lost.cents > 0 else "player"], strict=True)
    script = [
        ("round_started", {"game": "minibaccarat"}),
        ("wager_placed", wager),
        ("no_more_bets_called", {}),
        *(("cards_dealt", {"to": hand, "cards": [card], "face": "up"}) for hand, card in dealt),
        (name, wager),
        *(("hand_discarded", {"to": hand}) for hand in to[:2]),
        ("round_completed", {}),
    ]
    subject = f"CC-07/{DAY}/{nth}"
    told = [
        {**fact(its, 20 + nth, **data), "id": f"{nth}-{at}", "sequence": str(at), "boot": f"b{nth}"}
        for at, (its, data) in enumerate(script)
    ]
    return [{**each, "subject": subject} for each in told if name not in each["type"]]


def day_of(
    lost: tuple[int | Lost, ...] = (),
    *slips: tuple[str, int],
    unrecorded: int = 0,
    tip: int = 0,
    sold: int = 0,
) -> list[Line]:
    """A day with lost facts, slips that nobody accepted, and a buy-in that nobody recorded.

    slips: kind and cents. tip: cents in the tray that no fact shows. sold: by an unknown check.
    """
    told, tray = [], 500_000 - unrecorded + tip - sold
    for nth, each in enumerate(lost):
        its = each if isinstance(each, Lost) else Lost(each)
        told += coup(nth + 1, its)
        tray += its.cents * its.moved
    for nth, (kind, cents) in enumerate(slips):
        told.append(slip(kind, "dispatched", f"{kind[0].upper()}-{nth}", 10 + nth, cents))
        tray += cents if kind == "fill" else -cents
    checks = [{"check": "K-1", "amount": sold}] if sold else []
    box = count(59, currency={"1": unrecorded}, counter_checks=checks)
    return day_lines(*told, box, closer=tray)


def win_of(lines: list[Line]) -> TableWin:
    [win] = worked_out(lines)[0]
    return win


def causes(win: TableWin) -> list[tuple[str, int]]:
    return sorted((each.code, each.amount) for each in win.causes)


FILL, CREDIT, LOST = "fill_not_accepted", "credit_not_accepted", "fact_missing"
BUY_IN, CHECK = "unrecorded_buy_in", "check_unknown"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (day_of((5_000, -700)), [(LOST, -700), (LOST, 5_000)]),
        (day_of((500, -7_000)), [(LOST, -7_000), (LOST, 500)]),
        (day_of((5_000,), ("credit", 9_000)), [(CREDIT, -9_000), (LOST, 5_000)]),
        (day_of((9_000,), ("credit", 9_000)), [(CREDIT, -9_000), (LOST, 9_000)]),
        (day_of((-5_000,), ("fill", 9_000)), [(LOST, -5_000), (FILL, 9_000)]),
        (day_of((), ("fill", 20_000), unrecorded=10_000), [(FILL, 20_000), (BUY_IN, 10_000)]),
        (day_of((5_000,), unrecorded=10_000), [(LOST, 5_000), (BUY_IN, 10_000)]),
        (day_of((5_000,), sold=5_000), [(CHECK, 5_000), (LOST, 5_000)]),
        (day_of((5_000, 700), tip=900), [(LOST, 700), (LOST, 5_000)]),
        (day_of((), unrecorded=10_000, tip=-5_000), [(BUY_IN, 10_000)]),
        (day_of((), unrecorded=10_000, tip=6_000), [(BUY_IN, 4_000)]),
        (day_of((5_000, -700), tip=300), [(LOST, -700), (LOST, 5_000)]),
        (day_of((5_000, -700), tip=400), [(LOST, 5_000)]),
        (
            day_of((5_000,), ("fill", 9_000), unrecorded=20_000, tip=300),
            [(FILL, 9_000), (LOST, 5_000), (BUY_IN, 19_700)],
        ),
    ],
)
def test_each_cause_is_compared_with_what_the_others_leave_of_the_tray(
    lines: list[Line], found: list[tuple[str, int]]
) -> None:
    win = win_of(lines)
    assert causes(win) == sorted(found)
    on_record = {each["id"] for each in lines}
    assert all(cause.facts and {ref.id for ref in cause.facts} <= on_record for cause in win.causes)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (day_of((), unrecorded=10_000, tip=15_000), []),
        (day_of((Lost(5_000, moved=False),)), []),
        (day_of((Lost(5_000, moved=False), 700)), [(LOST, 700)]),
        (day_of((Lost(5_000, moved=False),), ("credit", 9_000)), [(CREDIT, -9_000)]),
        (day_of((5_000,), tip=-2_500), []),
    ],
)
def test_what_the_tray_has_not_is_no_cause(lines: list[Line], found: list[tuple[str, int]]) -> None:
    """Chips that were not moved at all, or that something hides of which no fact is on record."""
    assert causes(win_of(lines)) == found


@pytest.mark.parametrize("tip", [0, 400])
def test_of_two_wagers_that_lack_facts_and_one_that_moved_no_fact_says_which(
    tip: int,
) -> None:
    """One cause has the tray's amount and the facts beside both gaps."""
    lines = day_of((5_000, Lost(5_000, moved=False)), tip=tip)
    [cause] = win_of(lines).causes
    assert (cause.code, cause.amount, cause.round) == (LOST, 5_000, None)
    assert f"rounds CC-07/{DAY}/1, CC-07/{DAY}/2. The tray has $50.00 more, not" in cause.says
    beside = {f"{nth}-{at}" for nth in (1, 2) for at in (6, 8)}
    assert beside < {ref.id for ref in cause.facts}


def test_a_wager_that_a_device_lost_as_a_whole_has_what_a_credit_leaves_of_the_tray() -> None:
    lines = day_of((5_000,), ("credit", 9_000))
    left = [each for each in lines if each["id"] != "1-1"]
    win = win_of(left)
    assert causes(win) == [(CREDIT, -9_000), (LOST, 5_000)]
    assert "Beside other causes the closer is $50.00 more than" in win.causes[-1].says


def test_many_lost_facts_are_named_if_the_tray_has_them_all_or_nearly() -> None:
    """Beyond the sets that can be tried, no lost fact is named: the items stay."""
    lost = tuple(100 * (nth + 1) * (-1) ** nth for nth in range(30))
    assert len(causes(win_of(day_of(lost)))) == 30
    assert len(causes(win_of(day_of(lost, tip=7)))) == 30
    assert causes(win_of(day_of((*lost, 100, 100, 100), tip=-20_000))) == []


def test_reports_up_to_version_11_compare_each_cause_with_the_whole_tray() -> None:
    for lines, found in (
        (day_of((5_000, -700)), []),
        (day_of((5_000,), ("credit", 9_000)), [(CREDIT, -9_000)]),
        (day_of((700,)), [(LOST, 700)]),
        (day_of((5_000,), unrecorded=10_000), [(BUY_IN, 5_000)]),
    ):
        facts = read_by_program(lines)
        [win] = wins(facts, list(adjudicate(facts)), None, 11)
        assert causes(win) == found
