"""Laws of a day's papers: counts, slips, exchanges, tips. Each control is a broken model."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import strategies as st

from ledger.adjudication.feed import adjudicate
from ledger.facts import FACTS, RulesSubmissionFiled, type_name
from ledger.facts.vocabulary import FactOutsideRound
from ledger.finance import boxes, feed, rounds, slips, table_day
from ledger.finance.win import figures
from ledger.record.wire import encode, fact_of
from ledger.rules.engine.money_moved import Moved
from ledger.rules.engine.ruling import Settlement
from tests.property.fact_strategies import bodies
from tests.property.finance.floors import floor, read_by_program, worked_out
from tests.property.finance.laws import refuses
from tests.scenes.table_days import count, day_lines, fact, inventory, next_day, slip
from tests.scenes.table_days import table_day as day_of
from tests.scenes.view_feeds import received
from tests.suite.budget import budget, examples

if TYPE_CHECKING:
    from ledger.facts import Body
    from ledger.finance.win import TableWin

BOX = count(59)
"""A count of the empty box, so that the day has a drop."""

SEEDS_WITH_COUPONS = range(1)
"""Simulated floors on which a coupon wins."""

PIECES = st.dictionaries(st.sampled_from(["25", "100", "500"]), st.integers(0, 9), min_size=1)


def value(pieces: dict[str, int]) -> int:
    return sum(int(cents) * many for cents, many in pieces.items())


def named(win: TableWin, code: str) -> list[str]:
    """What the exceptions of a code say."""
    return [each.says for each in win.exceptions if each.code == code]


# -- 3: the pieces of a slip sum to its total ------------------------------------------------------


def law_of_totals(pieces: dict[str, int], off: int) -> None:
    total = value(pieces) + off
    fill = {**slip("fill", "accepted", "F-1", 20)["data"], "chips": pieces, "total": total}
    counted = {**inventory("drop", 0, 30)["data"], "chips": pieces, "total": total}
    lines = [fact("fill_accepted", 20, **fill), fact("inventory_counted", 30, **counted), BOX]
    assert len(named(day_of(*lines), "total_differs")) == (2 if off else 0)


@examples(20, 200, pieces=PIECES, off=st.integers(0, 3))
def test_a_total_that_is_not_the_sum_of_its_chips_is_named(
    pieces: dict[str, int], off: int
) -> None:
    law_of_totals(pieces, off)


def test_the_law_of_totals_is_broken_by_a_model_that_sums_no_chips(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law_of_totals({"100": 3}, 1)
    monkeypatch.setattr(table_day, "totals_differ", lambda _: [])
    refuses(law_of_totals, {"100": 3}, 1)


# -- 4: an exchange gives and takes the same -------------------------------------------------------


def law_of_exchanges(swaps: list[tuple[dict[str, int], dict[str, int]]]) -> None:
    told = [
        fact("chips_exchanged", 10 + nth, position=1, given=given, received=got)
        for nth, (given, got) in enumerate(swaps)
    ]
    gained = sum(value(given) - value(got) for given, got in swaps)
    win = day_of(*told, BOX, closer=500_000 + gained)
    assert [(each.code, each.amount) for each in win.items] == (
        [("exchange", gained)] if gained else []
    )
    assert win.count_gap == gained


@examples(20, 200, swaps=st.lists(st.tuples(PIECES, PIECES), max_size=4))
def test_an_exchange_is_an_item_by_what_it_gives_more_than_it_takes(
    swaps: list[tuple[dict[str, int], dict[str, int]]],
) -> None:
    law_of_exchanges(swaps)


def test_the_law_of_exchanges_is_broken_by_a_model_that_takes_them_for_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unequal = [({"500": 1}, {"100": 4})]
    law_of_exchanges(unequal)
    monkeypatch.setattr(table_day, "exchanged", lambda _: 0)
    refuses(law_of_exchanges, unequal)


# -- 8: a tray opens with what it closed with ------------------------------------------------------


def law_of_openers(closed: int, opened: int) -> None:
    today = day_lines(count(59), closer=closed * 100)
    box = {**count(59), "data": {**count(59)["data"]}}
    morrow = next_day(*day_lines(box, closer=opened * 100))
    for each in morrow:
        if each["data"].get("kind") == "open":
            each["data"] |= {"total": opened * 100, "chips": {"100": opened}}
    first, second = worked_out([*today, *morrow])[0]
    assert (first.closer, second.opener) == (closed * 100, opened * 100)
    assert len(named(second, "opener_differs")) == (closed != opened)
    assert named(first, "opener_differs") == []


AMOUNTS = st.integers(4_990, 5_010)


@examples(15, 150, closed=AMOUNTS, opened=AMOUNTS)
def test_an_opener_is_the_closer_of_the_day_before_or_is_named(closed: int, opened: int) -> None:
    law_of_openers(closed, opened)
    law_of_openers(closed, closed)


def test_the_law_of_openers_is_broken_by_a_model_that_forgets_the_day_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law_of_openers(5_000, 4_999)
    monkeypatch.setattr(table_day, "_opener_differs", lambda _: [])
    refuses(law_of_openers, 5_000, 4_999)


# -- 9: chips that were sent are accepted, voided, or still on their way ---------------------------

STEPS = ("requested", "dispatched", "accepted", "voided")
HISTORIES = st.lists(
    st.tuples(st.sampled_from(["fill", "credit"]), st.sets(st.sampled_from(STEPS))), max_size=5
)


def law_of_slips(histories: list[tuple[str, set[str]]]) -> None:
    told = [
        slip(kind, step, f"{kind}-{nth + 1}", 5 + 4 * nth + STEPS.index(step), 100 * (nth + 1))
        for nth, (kind, steps) in enumerate(histories)
        for step in sorted(steps, key=STEPS.index)
    ]
    win = day_of(*told, BOX)
    sent: dict[str, int] = defaultdict(int)
    for nth, (kind, steps) in enumerate(histories):
        cents = 100 * (nth + 1)
        if "accepted" in steps:
            sent[f"{kind}s"] += cents
        elif "dispatched" in steps and "voided" not in steps:
            sent[f"{kind}_not_accepted"] += cents if kind == "fill" else -cents
    assert (win.fills, win.credits) == (sent["fills"], sent["credits"])
    for code in ("fill_not_accepted", "credit_not_accepted"):
        assert sum(each.amount for each in win.causes if each.code == code) == sent[code]


@examples(20, 200, histories=HISTORIES)
def test_each_slip_that_was_dispatched_is_accepted_or_voided_or_named(
    histories: list[tuple[str, set[str]]],
) -> None:
    law_of_slips(histories)


def test_the_law_of_slips_is_broken_by_a_model_that_loses_chips_on_their_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pending = [("fill", {"requested", "dispatched"})]
    law_of_slips(pending)
    monkeypatch.setattr(slips, "causes", lambda _: [])
    refuses(law_of_slips, pending)


# -- 10: a number is used once, and none is left out -----------------------------------------------


def law_of_numbers(numbers: set[int], twice: int) -> None:
    told = [
        slip("fill", "accepted", f"F-{number}", 5 + nth)
        for nth, number in enumerate(sorted(numbers))
    ]
    again = [slip("fill", "accepted", f"F-{max(numbers)}", 50)] if twice else []
    win = day_of(*told, *again, BOX)
    left_out = set(range(min(numbers), max(numbers))) - numbers
    said = " ".join(named(win, "slip_missing"))
    ends = {n for n in left_out if n - 1 not in left_out or n + 1 not in left_out}
    assert all(f"F-{number} " in said for number in ends)
    assert bool(said) == bool(left_out)
    assert len(named(win, "slip_recorded_twice")) == twice
    assert win.fills == len(numbers) * 10_000


@examples(
    20, 200, numbers=st.sets(st.integers(1, 30), min_size=1, max_size=8), twice=st.integers(0, 1)
)
def test_a_slip_counts_once_and_each_number_left_out_is_named(
    numbers: set[int],
    twice: int,
) -> None:
    law_of_numbers(numbers, twice)


@pytest.mark.parametrize("broken", ["_left_out", "twice"])
def test_the_law_of_numbers_is_broken_by_a_model_that_counts_no_numbers(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    law_of_numbers({1, 4}, 1)
    if broken == "twice":
        monkeypatch.setattr(slips, "exceptions", lambda _: [])
    else:
        monkeypatch.setattr(feed, "_left_out", lambda *_: {})
    refuses(law_of_numbers, {1, 4}, 1)


# -- 11: tips and coupons are in no drop and no win ------------------------------------------------


def law_of_coupons(tips: list[int], serials: list[str]) -> None:
    cash = fact("cash_bought_in", 5, position=1, amount=20_000)
    told = [fact("tip_dropped", 10 + nth, amount=amount) for nth, amount in enumerate(tips)]
    plain = day_of(cash, count(59, currency={"100": 200}), closer=480_000)
    with_them = day_of(
        cash, *told, count(59, currency={"100": 200}, coupons=serials), closer=480_000
    )
    assert figures(with_them) == figures(plain)
    assert (with_them.count_gap, with_them.coupons.counted) == (0, len(set(serials)))


@examples(
    15,
    150,
    tips=st.lists(st.integers(1, 10_000), max_size=4),
    serials=st.lists(st.sampled_from(["MP-1", "MP-2", "MP-3"]), unique=True),
)
def test_tips_and_coupons_change_no_drop_and_no_win(tips: list[int], serials: list[str]) -> None:
    law_of_coupons(tips, serials)


def test_the_law_of_coupons_is_broken_by_a_model_that_counts_them_as_drop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law_of_coupons([], ["MP-1"])
    counted = boxes.counted

    def with_faces(fact: Any, bought: Any) -> Any:  # noqa: ANN401 - as `counted`
        found = counted(fact, bought)
        return {**found, "cash": (found["cash"] or 0) + 500 * len(fact.body.coupons)}

    monkeypatch.setattr(boxes, "counted", with_faces)
    refuses(law_of_coupons, [], ["MP-1"])


def law_of_faces(seeds: range) -> int:
    """Without its coupon a wager moves the same chips, and owes what the face did not fund."""
    funded = 0
    for seed in seeds:
        lines = floor(seed, minutes=12, tables=2)
        before = {each.table: each for each in worked_out(lines)[0]}
        bare = [{**each, "data": {**each["data"]}} for each in lines]
        for each in bare:
            each["data"].pop("coupon", None)
        for after in worked_out(bare)[0]:
            was = before[after.table]
            assert (after.drop, after.moved, after.handle) == (was.drop, was.moved, was.handle)
            if was.owed is not None and after.owed is not None:
                assert after.owed - was.owed == was.coupons.funded
            funded += was.coupons.funded
    return funded


@budget("seeds", SEEDS_WITH_COUPONS, range(40))
def test_without_its_face_a_coupon_costs_the_house_exactly_what_it_funded(seeds: range) -> None:
    assert law_of_faces(seeds), "a floor has coupons that won"


def test_the_law_of_faces_is_broken_by_a_model_that_pays_faces_at_every_throw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "_chips_alone", lambda settlement, _: settlement.net // 2)
    refuses(law_of_faces, SEEDS_WITH_COUPONS)


@pytest.mark.parametrize(
    ("odds", "net", "paid", "funded"),
    [
        ("3 to 2", 2_000, 2_000, 500),
        ("1 to 1", 1_000, 1_000, 0),
        ("3 to 2", 2_000, 9_000, 500),
        ("3 to 2", 2_000, 1_700, 200),
        ("3 to 2", 2_000, 0, 0),
    ],
)
def test_a_face_that_wins_even_money_funds_what_its_chips_did_not_win(
    odds: str, net: int, paid: int, funded: int
) -> None:
    coupon = {"serial": "MP-1", "face": 500}
    placed = fact("wager_placed", 5, position=1, wager="wager", amount=1_000, coupon=coupon)
    placed["subject"] = "CC-07/2026-11-20/1"
    won = Settlement(
        position=1, wager="wager", stake=1_000, outcome="win", odds=odds, net=net,
        exact_net=str(net), section="633a.7",
    )  # fmt: skip
    spot = (1, 1, "wager", None)
    chips = {spot: Moved(paid=paid)}
    assert rounds._funded(read_by_program([placed]), {spot: won}, chips) == funded


# -- 12: what moves the tray is a closed list ------------------------------------------------------

MOVES_TRAY = feed.MONEY_FACTS
"""Facts outside rounds that a win rests on; 465a.36(b) has no other cause."""

OTHERS = sorted(
    type_name(each)
    for each in FACTS.values()
    if issubclass(each, FactOutsideRound)
    and not issubclass(each, (*MOVES_TRAY, RulesSubmissionFiled))
)


def law_of_causes(body: Body) -> None:
    usual = read_by_program(day_lines(BOX))
    octets = encode(body, "/p/CC-07/other", "added", "2026-11-20T10:30:00-05:00")
    [before], [after] = (
        feed.wins(told, adjudicate(told)) for told in (usual, [*usual, fact_of(received(octets))])
    )
    assert (figures(after), after.items) == (figures(before), before.items)


@examples(40, 600, body=st.sampled_from(OTHERS).flatmap(bodies))
def test_no_other_fact_of_a_table_changes_a_figure(body: Body) -> None:
    law_of_causes(body)


@pytest.mark.parametrize("name", ["cash_bought_in.v1", "fill_accepted.v1", "chips_exchanged.v1"])
def test_the_law_of_causes_is_broken_by_a_fact_that_moves_the_tray(name: str) -> None:
    data = {
        "cash_bought_in.v1": {"position": 1, "amount": 500},
        "fill_accepted.v1": slip("fill", "accepted", "F-1", 5)["data"],
        "chips_exchanged.v1": {"position": 1, "given": {"500": 1}, "received": {"100": 4}},
    }
    refuses(law_of_causes, msgspec.convert(data[name], FACTS[name]))
