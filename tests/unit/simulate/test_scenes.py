"""A camera's shots: what happened at the table, whatever its devices reported."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    DiceThrown,
    RoundStarted,
    WagerPaid,
)
from ledger.simulate import MISREADINGS, Plan, Planted, happenings, plan_of, worst_and
from ledger.simulate.cameras import felt
from ledger.simulate.cameras.scenes import TAKEN_US, Felt, shots
from ledger.simulate.device_emitter import Witnessed
from ledger.simulate.floor_files import around, rounds_seen
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.simulate.cameras.shot_list import Shot
    from ledger.simulate.device_emitter import Happening
    from ledger.simulate.floor_files import FilmedWindow

MINUTE_US = 60_000_000
DEMO = {"overpay": 2, "underpay": 1, "not_collected": 1, "paid_push": 1, "late_wager": 1}


@cache
def floor(
    game: str, *, lies: bool = False, minutes: int = 40, seed: int = 11
) -> tuple[Plan, list[Witnessed], list[Happening], list[Planted]]:
    mistakes = {"payment_misread": 3} if lies else {"lost_fact": 2, "retransmission": 2}
    plan = plan_of(tables=1, minutes=minutes, seed=seed, mistakes=mistakes, of=(game,))
    seen: dict[str, list[Witnessed]] = {plan.tables[0].table: []}
    told: list[Happening] = []
    planted: list[Planted] = []
    for each, made in happenings(plan, seen):
        told.append(each)
        planted += made
    return plan, seen[plan.tables[0].table], told, planted


def filmed(plan: Plan, seen: Iterable[Witnessed]) -> tuple[Shot, ...]:
    return shots(plan.tables[0], seen, plan.opens_us, plan.closes_us + 10 * MINUTE_US)


def as_told(told: Iterable[Happening]) -> list[Witnessed]:
    """What a film of the facts would be drawn from, as they were before ADR 0235."""
    return [
        Witnessed(each.fact.body, each.true_us, each.fact.round)  # type: ignore[arg-type]  # a fact's body
        for each in sorted(told, key=lambda each: each.true_us)
        if each.arrives_us is not None
    ]


def sum_at(drawn: Sequence[Shot], at_us: int, place: felt.FeltPlace) -> int:
    """The chips that lie at a place from a true time on."""
    shot = [each for each in drawn if each.at_us <= at_us][-1]
    return sum(pile.cents for pile in shot.piles if (pile.x, pile.y) == place[:2])


def paid_place(plan: Plan, paid: WagerPaid) -> felt.FeltPlace:
    return felt.paid(Felt(plan.tables[0]).spot((paid.position, paid.wager, paid.hand)))


@pytest.mark.parametrize("game", ["criss_cross_poker", "three_dice_football"])
def test_where_the_layout_lies_the_film_shows_the_sum_that_was_paid(game: str) -> None:
    plan, seen, told, planted = floor(game, lies=True)
    lies = [each for each in planted if each.mistake in MISREADINGS]
    assert lies
    true, false = filmed(plan, seen), filmed(plan, as_told(told))
    facts = {(each.fact.source, each.fact.id): each for each in told}
    for lie in lies:
        each = facts[lie.facts[0].source, lie.facts[0].id]
        reported = each.fact.body
        assert isinstance(reported, WagerPaid)
        place = paid_place(plan, reported)
        assert sum_at(true, each.true_us, place) == reported.amount - lie.cents
        assert sum_at(false, each.true_us, place) == reported.amount  # the control
    with pytest.raises(ValueError, match="no such mistake"):
        plan_of(mistakes={"payment_misreads": 1})


def test_what_a_device_lost_is_filmed_and_what_it_sent_twice_is_filmed_once() -> None:
    plan, seen, told, planted = floor("criss_cross_poker")
    assert {each.mistake for each in planted} == {"lost_fact", "retransmission"}
    true = {each.at_us for each in filmed(plan, seen)}
    lost = [each.true_us for each in told if each.arrives_us is None]
    assert lost
    assert set(lost) <= true
    assert not set(lost) & {each.at_us for each in filmed(plan, as_told(told))}  # the control
    dealt = [each.true_us for each in seen if isinstance(each.body, CardsDealt)]
    assert len(dealt) == len(set(dealt))


def test_a_card_dealt_face_down_shows_its_back_until_it_is_turned() -> None:
    plan, seen, _, _ = floor("criss_cross_poker")
    by_time = {each.at_us: each for each in filmed(plan, seen)}
    places = [felt.card("community", None, 1, n, 5, 5, crossed=True)[:2] for n in range(5)]
    turned: dict[int, str] = {}
    checked = 0
    for each in seen:
        body = each.body
        if isinstance(body, RoundStarted):
            turned = {}
        elif isinstance(body, CardsTurned) and body.to == "community":
            turned.update(zip(body.at or (), body.cards, strict=True))
        if isinstance(body, (CardsTurned, CardsDealt)):
            shown = {(card.x, card.y): card.card for card in by_time[each.true_us].cards}
            faces = {
                number: shown[place]
                for number, place in enumerate(places)
                if shown.get(place, UNKNOWN_CARD) != UNKNOWN_CARD
            }
            assert faces == turned
            checked += bool(turned)
    assert checked > 5


def test_the_dice_drawn_are_the_dice_thrown_and_the_third_is_red() -> None:
    plan, seen, _, _ = floor("three_dice_football")
    by_time = {each.at_us: each for each in filmed(plan, seen)}
    throws = [each for each in seen if isinstance(each.body, DiceThrown) and each.body.offensive]
    assert len(throws) > 10
    for each in throws:
        assert isinstance(each.body, DiceThrown)
        dice = by_time[each.true_us].dice
        assert tuple(die.die for die in dice) == (*(each.body.offensive or ()), each.body.defensive)
        assert [die.red for die in dice] == [False, False, True]


def test_what_is_paid_lies_beside_its_wager_until_its_patron_takes_both() -> None:
    plan, seen, _, _ = floor("criss_cross_poker")
    drawn = filmed(plan, seen)
    pays = [each for each in seen if isinstance(each.body, WagerPaid)]
    for each in pays[:10]:
        assert isinstance(each.body, WagerPaid)
        place = paid_place(plan, each.body)
        assert sum_at(drawn, each.true_us, place) == each.body.amount
        assert sum_at(drawn, each.true_us + TAKEN_US, place) == 0
    assert all(shot.piles == () for shot in drawn[-1:])


def test_shots_stand_in_order_and_begin_where_the_window_does() -> None:
    plan, seen, _, _ = floor("criss_cross_poker")
    from_us = plan.opens_us + 12 * MINUTE_US
    drawn = shots(plan.tables[0], seen, from_us, from_us + MINUTE_US)
    times = [each.at_us for each in drawn]
    assert times[0] == from_us
    assert times == sorted(times)
    assert times[-1] <= from_us + MINUTE_US
    whole = [each for each in filmed(plan, seen) if each.at_us <= from_us][-1]
    assert drawn[0].pieces == whole.pieces


def link(
    windows: Sequence[FilmedWindow], rounds: dict[str, FilmedWindow], wrong: set[str]
) -> float:
    """How far *filmed* goes with *a mistake* over all rounds: 0 not at all, 1 always (phi)."""
    film = {
        name
        for name, at in rounds.items()
        if any(
            each.table == at.table and each.from_us <= at.to_us - MINUTE_US // 2 <= each.to_us
            for each in windows
        )
    }
    both, either = len(film & wrong), (len(film), len(wrong))
    total = len(rounds)
    spread = either[0] * (total - either[0]) * either[1] * (total - either[1])
    return float((both * total - either[0] * either[1]) / spread**0.5)


@pytest.mark.long
def test_which_rounds_are_filmed_hardly_says_which_went_wrong() -> None:
    plan = plan_of(tables=4, minutes=240, seed=1, mistakes=DEMO)
    seen: dict[str, list[Witnessed]] = {table.table: [] for table in plan.tables}
    planted = [made for _, all_made in happenings(plan, seen) for made in all_made]
    rounds = {name: at for each in seen.values() for name, at in rounds_seen(each).items()}
    wrong = {each.round or "" for each in planted}
    assert len(wrong) >= 5
    windows = worst_and(3)(plan, seen, planted)
    assert 3 <= len(windows) <= 4
    assert link(windows, rounds, wrong) < 0.3
    assert link(around(planted, MINUTE_US * 2), rounds, wrong) > 0.4  # the control: as before
