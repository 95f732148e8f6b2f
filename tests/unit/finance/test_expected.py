"""The expected win of a day: rounding, sigmas, sums, and what lacks a mean."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
import pytest

from ledger.adjudication.submissions import in_force
from ledger.edges import NO_DAY, edges_under
from ledger.edges.spread import RoundSpread, craps, football, of_round
from ledger.edges.spread.kept import COUNTED, MEASURED, moments
from ledger.edges.spread.moments import Bet, DecidedBet, Moments, Spread
from ledger.finance.statistics.expected import expected_win, root, sum_of, summed
from ledger.finance.win import ExpectedWin
from ledger.games import games
from ledger.simulate import deal, line, plan_of
from tests.property.finance.floors import worked_out

if TYPE_CHECKING:
    from ledger.rules.engine.game import InForce


def unfiled(game: str) -> InForce:
    return in_force(games()[game], "", "", NO_DAY, [])


@pytest.mark.parametrize(
    ("variance", "sigma"),
    [
        (Fraction(0), 0),
        (Fraction(1, 4), 0),  # half a cent goes to the even one
        (Fraction(9, 4), 2),
        (Fraction(25, 4), 2),
        (Fraction(25, 4) + Fraction(1, 10**30), 3),
        (Fraction(10**40), 10**20),
        (Fraction(10**40) - Fraction(1, 3), 10**20),
    ],
)
def test_sigma_is_the_nearest_whole_cent_half_to_even(variance: Fraction, sigma: int) -> None:
    assert root(variance) == sigma


@pytest.mark.parametrize(
    ("owed", "mean", "variance", "z"),
    [
        (300, Fraction(100), Fraction(10_000), "2.00"),
        (0, Fraction(100), Fraction(10_000), "-1.00"),
        (100, Fraction(100), Fraction(10_000), "0.00"),
        (0, Fraction(1, 10**9), Fraction(10_000), "0.00"),  # never minus nothing
        (0, Fraction(1), Fraction(2), "-0.71"),
        (1, Fraction(0), Fraction(0), None),  # nothing was wagered
    ],
)
def test_z_says_how_many_sigmas_the_owed_win_is_off(
    owed: int, mean: Fraction, variance: Fraction, z: str | None
) -> None:
    found = expected_win(owed, Spread(mean, variance))
    assert found is not None
    assert found.z == z


def test_means_and_variances_are_summed_exactly_over_any_denominators() -> None:
    chance = random.Random(5)  # noqa: S311 - repeatable, not for security
    parts = [
        tuple(Fraction(chance.randint(-99, 99), chance.randint(1, 40)) for _ in range(2))
        for _ in range(200)
    ]
    found = sum_of((str(mean), str(variance)) for mean, variance in parts)
    assert found.mean == sum(mean for mean, _ in parts)
    assert found.variance == sum(variance for _, variance in parts)


def test_a_house_sums_its_tables_and_leaves_poker_out() -> None:
    one, two = ExpectedWin(win=100, sigma=300, z="0.10"), ExpectedWin(win=50, sigma=400, z="0.20")
    assert summed([(200, one), (950, two), (None, None)]) == ExpectedWin(
        win=150, sigma=500, z="2.00"
    )
    assert summed([(200, one), (0, None)]) is None  # a table whose mean is not known
    assert summed([(None, None)]) is None


SLOW = {"three_card_poker"}  # its edge takes over a second


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=pytest.mark.long) if game in SLOW else game
        for game in sorted({*COUNTED, *MEASURED})
    ],
)
def test_kept_means_are_the_edges_and_no_variance_is_below_zero(game: str) -> None:
    rules = unfiled(game)
    its = moments(rules)
    assert its is not None
    edges: dict[str, set[Fraction]] = {}
    for edge in edges_under(rules):
        for wager in edge.wager.split(" and "):
            edges.setdefault(wager, set()).add(edge.edge)
    pressed = {"house_money"} if game == "blackjack" else set()  # its edge is of winnings pressed
    known = edges.keys() & its.means.keys() - pressed
    assert known
    assert {
        wager: its.means[wager] for wager in known if its.means[wager] not in edges[wager]
    } == {}
    for wager in its.means:
        assert its.own[wager, wager] >= 0
        for other in its.means:
            bound = its.own[wager, wager] * its.own[other, other]
            assert its.own.get((wager, other), 0) ** 2 <= bound


def test_worth_before_the_first_throw_is_the_edge() -> None:
    for edge in edges_under(unfiled("craps")):
        assert craps.worth(craps.before_throw(edge.wager, None, [])) == edge.edge
    rules = unfiled("three_dice_football")
    readings = tuple(sorted(rules.readings.items()))
    start = football.Field()
    means = {**football.moments(start, readings).means, **football.worth(start, readings)}
    assert all(means[edge.wager] == edge.edge for edge in edges_under(rules))


def test_seven_patrons_on_banker_are_one_bet() -> None:
    rules = unfiled("minibaccarat")
    seven = [DecidedBet(Bet(position, "banker", 100), None) for position in range(1, 8)]
    alone = [DecidedBet(Bet(1, "banker", 700), None)]
    apart = [of_round(rules, [each], ()).spread for each in seven]
    together = of_round(rules, seven, ()).spread
    assert together == of_round(rules, alone, ()).spread
    assert together is not None
    assert together.variance == 7 * sum(each.variance for each in apart if each)


def test_hands_of_21_hang_together_only_by_the_dealer() -> None:
    rules = unfiled("blackjack")
    one = of_round(rules, [DecidedBet(Bet(1, "blackjack", 100), None)], ()).spread
    two = of_round(
        rules, [DecidedBet(Bet(position, "blackjack", 100), None) for position in (1, 2)], ()
    ).spread
    assert one
    assert two
    # Published: a variance of about 1.3, and about 0.48 between two hands.
    assert Fraction(13, 10) < two.variance / 20_000 < Fraction(9, 5)
    assert Fraction(47, 100) < (two.variance - 2 * one.variance) / 20_000 < Fraction(49, 100)


def test_a_wager_without_a_mean_is_named_and_the_round_has_none() -> None:
    bets = [DecidedBet(Bet(1, wager, 500), None) for wager in ("blackjack", "straight_jack")]
    assert of_round(unfiled("blackjack"), bets, ()) == RoundSpread(None, ("straight_jack",))
    inside = [DecidedBet(Bet(1, wager, 500), None) for wager in ("blackjack", "double_down")]
    assert of_round(unfiled("blackjack"), inside, ()) == of_round(
        unfiled("blackjack"), inside[:1], ()
    )


def test_wagers_of_a_position_may_vary_otherwise_than_those_of_two() -> None:
    its = Moments({"a": Fraction(1, 10)}, {("a", "a"): Fraction(4)}, {("a", "a"): Fraction(1)})
    assert its.spread([Bet(1, "a", 3), Bet(1, "a", 2)]) == Spread(Fraction(1, 2), Fraction(100))
    assert its.spread([Bet(1, "a", 3), Bet(2, "a", 2)]) == Spread(
        Fraction(1, 2), Fraction(4 * 9 + 4 * 4 + 2 * 3 * 2)
    )


def test_one_table_alone_keeps_its_own_expected_win_in_a_sum() -> None:
    """Its sigma is 54.77 hundredths of a cent: from whole cents, z would be 2.00."""
    own = expected_win(2, Spread(Fraction(1, 2), Fraction(3, 10)))
    assert own == ExpectedWin(win=0, sigma=1, z="2.74")
    assert summed([(2, own), (None, None)]) == own  # poker beside it
    assert summed([(2, own), (0, ExpectedWin(win=0, sigma=0, z=None))]) == ExpectedWin(
        win=0, sigma=1, z="2.00"
    )
    assert summed([(2, own), (0, None)]) is None


@pytest.mark.parametrize("game", ["spanish_21", "three_dice_football", "asia_poker", "craps"])
def test_a_day_expects_what_its_settled_stakes_keep_at_their_edges(game: str) -> None:
    plan = plan_of(minutes=8, tables=1, seed=3, of=[game])
    lines = [json.loads(line(plan, fact)) for fact in deal(plan)[0]]
    for each in lines:
        each["data"].pop("coupon", None)  # faces are won with their wagers: not part of this sum
    [win], rulings = worked_out(lines)
    rules = in_force(games()[game], "", "", NO_DAY, [])
    edges = {edge.wager: edge.edge for edge in edges_under(rules)}
    edges["insurance"] = Fraction(1, 4)  # 2 to 1, and three of twelve ranks make a Blackjack
    staked = [
        each for ruling in rulings for each in ruling["settlements"] if ruling["status"] != "void"
    ]
    inside = {"double_down", "split"}
    mean = sum(
        each["stake"] * edges[each["wager"]] for each in staked if each["wager"] not in inside
    )
    assert win.expected is not None
    assert win.expected_lacks is msgspec.UNSET
    assert win.expected.win == round(mean)
    assert win.expected.sigma > 0
