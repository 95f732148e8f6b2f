"""Progressive meters, by hand and by law: every cent between two readings has its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts import MeterRead
from ledger.finance.meters.journal import meter_entries
from ledger.finance.meters.lines import MeterLine, MeterName, MeterStep, by_day, lines, name_of
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import FactRef, Settlement
from ledger.rules.wagers.meter_payments import paid_from_meters

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ledger.finance.meters.lines import StepKind

DAY, NEXT = "2026-11-20", "2026-11-21"
JACK = MeterName("p", "straight_jack", "BL-01")


def told(*steps: tuple[StepKind, int], day: str = DAY) -> list[MeterStep]:
    return [MeterStep(nth, kind, cents, day) for nth, (kind, cents) in enumerate(steps)]


def one(steps: Sequence[MeterStep]) -> MeterLine:
    return lines([(JACK, step) for step in steps])[JACK]


def figures(of: MeterLine) -> tuple[int | None, ...]:
    return (of.opening, of.advanced, of.paid, of.reset, of.closing, of.difference)


def test_a_win_of_the_whole_and_one_of_a_tenth_leave_no_difference() -> None:
    whole = told(
        ("shown", 700_000), ("shown", 700_050), ("paid", 700_050), ("reset", 500_000),
        ("shown", 500_025), ("paid", 50_000), ("shown", 450_025), ("shown", 450_075),
    )  # fmt: skip
    assert figures(one(whole)) == (700_000, 50 + 25 + 50, 750_050, 500_000, 450_075, 0)


@pytest.mark.parametrize(
    ("steps", "difference"),
    [
        ((("shown", 700_000), ("shown", 650_000)), -50_000),  # a fall without a win
        ((("shown", 700_000), ("reset", 500_000)), -700_000),  # a reset without a win
        ((("shown", 700_000), ("paid", 700_000)), 700_000),  # a win, and it shows it still
        ((("shown", 700_000), ("paid", 710_000), ("reset", 500_000)), 10_000),  # more than it had
        ((("shown", 700_000), ("reset", 800_000)), 0),  # the house raised it
        ((("shown", 700_000), ("shown", 700_000)), 0),
    ],
)
def test_what_nothing_explains_is_the_difference(
    steps: tuple[tuple[StepKind, int], ...], difference: int
) -> None:
    assert one(told(*steps)).difference == difference


def test_a_win_that_is_reset_on_the_next_day_is_a_difference_of_both() -> None:
    first = told(("shown", 700_000), ("paid", 700_000))
    second = [MeterStep(9, "reset", 500_000, NEXT)]
    days = by_day([(JACK, step) for step in (*second, *first)])[JACK]
    assert figures(days[DAY]) == (700_000, 0, 700_000, 0, 700_000, 700_000)
    assert figures(days[NEXT]) == (700_000, 0, 0, 500_000, 500_000, -700_000)
    both = lines([(JACK, step) for step in (*second, *first)])[JACK]
    assert both.difference == 0
    assert [(of.gaming_day, of.amount) for of in both.differences] == [
        (DAY, 700_000),
        (NEXT, -700_000),
    ]
    assert one(told(("shown", 1), ("shown", 2))).differences == []
    assert one([*first, *second]).difference == 0


def test_a_meter_that_was_only_paid_from_has_no_line() -> None:
    assert lines([(JACK, MeterStep(0, "paid", 5, DAY))]) == {}


def test_a_reading_below_zero_is_an_exception_and_in_no_figure() -> None:
    good = told(("shown", 700_000), ("shown", 700_050), ("paid", 700_050), ("reset", 500_000))
    wrong = [MeterStep(1, "shown", -5, DAY, "/p/BL-01/d", "m-9"), MeterStep(9, "reset", -1, NEXT)]
    found = one([*good, *wrong])
    assert figures(found) == figures(one(good))
    assert [each.code for each in found.exceptions] == ["negative_reading"] * 2
    assert found.exceptions[0].says == "The meter is on record at -$0.05; no figure counts that."
    assert found.exceptions[0].facts == [FactRef("/p/BL-01/d", "m-9")]
    days = by_day([(JACK, step) for step in (*good, *wrong)])[JACK]
    assert {day: len(each.exceptions) for day, each in days.items()} == {DAY: 1, NEXT: 1}
    assert figures(days[NEXT]) == (500_000, 0, 0, 0, 500_000, 0)


def test_a_meter_that_was_only_shown_below_zero_has_no_opening_and_no_entry() -> None:
    days = by_day([(JACK, MeterStep(1, "shown", -5, DAY))])
    assert (days[JACK][DAY].opening, days[JACK][DAY].closing) == (None, None)
    assert meter_entries(days) == []
    later = by_day([(JACK, MeterStep(1, "shown", -5, DAY)), (JACK, MeterStep(2, "shown", 7, NEXT))])
    assert figures(later[JACK][NEXT]) == (7, 0, 0, 0, 7, 0)
    assert {each.gaming_day for each in meter_entries(later)} == {NEXT}
    whole = lines([(JACK, MeterStep(1, "shown", -5, DAY)), (JACK, MeterStep(2, "shown", 7, NEXT))])
    assert figures(whole[JACK]) == (7, 0, 0, 0, 7, 0)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["shown", "paid", "reset"]),
        st.integers(0, 1_000),
        st.sampled_from([None, DAY, NEXT]),
    ),
    min_size=1,
    max_size=12,
)


@given(MOVES, st.randoms(use_true_random=False))
def test_the_equation_holds_of_any_steps_in_any_order_and_days_sum(
    moves: list[tuple[StepKind, int, str | None]], chance: random.Random
) -> None:
    steps = [(JACK, MeterStep(n, kind, cents, day)) for n, (kind, cents, day) in enumerate(moves)]
    days = by_day(chance.sample(steps, len(steps))).get(JACK)
    assert (days is None) == all(kind == "paid" for kind, _, _ in moves)
    for each in days.values() if days else ():
        moved = each.advanced - each.paid + each.reset + each.difference
        assert each.closing == each.opening + moved
    if days:
        whole = lines(steps)[JACK]
        assert (whole.opening, whole.closing) == (
            next(iter(days.values())).opening,
            [*days.values()][-1].closing,
        )
        assert whole.difference == sum(each.difference for each in days.values())


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 500)), max_size=12), st.data())
def test_a_meter_that_moves_as_it_should_has_no_difference_and_a_lost_win_is_one(
    moves: list[tuple[bool, int]], data: st.DataObject
) -> None:
    shows, steps = 5_000, [("shown", 5_000)]
    wins = []
    for wins_whole, cents in moves:
        if wins_whole:
            wins.append((len(steps), shows))
            steps += [("paid", shows), ("reset", 5_000)]
            shows = 5_000
        else:
            shows += cents
            steps.append(("shown", shows))
    assert one(told(*steps)).difference == 0  # type: ignore[arg-type] # of its kinds
    if wins:
        at, cents = data.draw(st.sampled_from(wins))
        del steps[at]
        lost = one(told(*steps)).difference  # type: ignore[arg-type] # as above
        assert lost == (-cents if cents > 5_000 else 0)


def test_a_wagers_meter_is_its_tables_own_and_any_other_is_a_link() -> None:
    assert name_of("p", "BL-01", "straight_jack") == JACK
    assert name_of("p", "BL-01", "link-7") == name_of("p", "BL-02", "link-7")


def won(odds: str, net: int, rows: list[str] | None = None) -> Settlement:
    return Settlement(
        position=1, wager="straight_jack", stake=500, outcome="win", odds=odds, rows=rows,
        net=net, exact_net=str(net), section="633a.13(m)(1)",
    )  # fmt: skip


def read(name: str, cents: int, at: int) -> Fact:
    body = MeterRead(meter=name, amount=cents)
    return Fact(body, "/p/BL-01/d", f"r-{at}", at, None, "BL-01", None, None)


def test_a_win_takes_its_share_of_the_meter_and_not_what_its_odds_pay() -> None:
    whole = "100% of meter and 200 to 1"
    tenth = "10% of meter and 200 to 1"
    wins = [
        won(each, net, each.split(" and ")) for each, net in ((whole, 800_000), (tenth, 170_000))
    ]
    paid = paid_from_meters([read("straight_jack", 700_000, 3)], [*wins, won("15 to 1", 7_500)])
    assert [(each.meter, each.amount, each.time_us) for each in paid] == [
        ("straight_jack", 700_000, 3),
        ("straight_jack", 70_000, 3),
    ]
    assert paid_from_meters([read("link-7", 700_000, 3)], wins[:1])[0].meter == "link-7"
    assert paid_from_meters([], wins) == []
