"""Expected wins against rounds dealt here by chance: no card, throw or payout is the program's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ledger.adjudication.submissions import in_force
from ledger.edges import NO_DAY
from ledger.edges.spread import of_round
from ledger.edges.spread.moments import Bet, DecidedBet
from ledger.facts import DiceThrown
from ledger.games import games

if TYPE_CHECKING:
    from collections.abc import Callable


class Dealt(NamedTuple):
    """A round: what the house won of its bets, in cents, and how it was decided."""

    won: float
    bets: list[DecidedBet]
    throws: list[DiceThrown]


def _points(cards: list[int]) -> int:
    return sum(cards) % 10


def coup(chance: random.Random) -> str:
    """Who wins a coup from eight whole decks, by the standard rule of third cards."""
    shoe = chance.sample([min(rank, 10) for rank in range(1, 14)] * 32, 6)
    player, banker = [shoe[0], shoe[2]], [shoe[1], shoe[3]]
    if max(_points(player), _points(banker)) < 8:
        third = None
        if _points(player) <= 5:
            third = shoe[4]
            player.append(third)
        held = _points(banker)
        draws = {3: {0, 1, 2, 3, 4, 5, 6, 7, 9}, 4: {2, 3, 4, 5, 6, 7}, 5: {4, 5, 6, 7}, 6: {6, 7}}
        if (third is None and held <= 5) or (
            third is not None and (held <= 2 or third % 10 in draws.get(held, set()))
        ):
            banker.append(shoe[5])
    if _points(player) == _points(banker):
        return "tie"
    return "player" if _points(player) > _points(banker) else "banker"


def seven_on_banker(chance: random.Random) -> Dealt:
    """Seven patrons on Banker; one has Tie as well, and one a coupon of $5 on Player."""
    ended = coup(chance)
    bets = [Bet(position, "banker", 2000) for position in range(1, 8)]
    bets += [Bet(3, "tie", 500), Bet(4, "player", 1000), Bet(4, "player+face", 500)]
    pays = {"banker": 0.95, "player": 1.0, "tie": 8.0}
    won = 0.0
    for bet in bets:
        wager, face = bet.wager.removesuffix("+face"), bet.wager.endswith("+face")
        if ended == wager:
            won -= bet.cents * pays[wager]
        elif not face and (ended != "tie" or wager == "tie"):
            won += bet.cents  # on a tie the other wagers push
    return Dealt(won, [DecidedBet(bet, None) for bet in bets], [])


def unfiled_spread(rounds: int) -> tuple[float, float]:
    """The program's mean and sigma of so many of these rounds."""
    rules = in_force(games()["baccarat"], "", "", NO_DAY, [])
    found = of_round(rules, seven_on_banker(random.Random(1)).bets, []).spread  # noqa: S311 - as below
    assert found is not None
    return float(found.mean * rounds), float(found.variance * rounds) ** 0.5


def shooters_hand(chance: random.Random) -> Dealt:
    """Three patrons on Pass at each come out roll, one on Don't Pass, one on All Small."""
    bets: list[DecidedBet] = []
    thrown: list[tuple[int, int]] = []
    won, point, since, small = 0.0, 0, 0, {2, 3, 4, 5, 6}
    while True:
        thrown.append((chance.randint(1, 6), chance.randint(1, 6)))
        total, number = sum(thrown[-1]), len(thrown)
        if small and (total == 7 or small == {total}):
            won += 100 if total == 7 else -3400
            bets.append(DecidedBet(Bet(5, "all_small", 100), number))
            small = set()
        small -= {total}
        if not point and total in (4, 5, 6, 8, 9, 10):
            point = total
            continue
        if point and total not in (point, 7):
            continue
        passes = total in (7, 11) if not point else total == point
        won += -3000 if passes else 3000
        won += 500 if passes else 0 if not point and total == 12 else -500
        bets += [DecidedBet(Bet(seat, "pass", 1000), number, since) for seat in (1, 2, 3)]
        bets.append(DecidedBet(Bet(4, "dont_pass", 500), number, since))
        if point and total == 7:
            return Dealt(won, bets, [DiceThrown(dice=each) for each in thrown])
        point, since = 0, number


def check(deal: Callable[[random.Random], Dealt], game: str, rounds: int) -> None:
    """The won and the expected money agree in mean and variance, within five standard errors."""
    chance = random.Random(f"18/{game}")  # noqa: S311 - repeatable, not for security  # noqa: S311 - repeatable, not for security
    rules = in_force(games()[game], "", "", NO_DAY, [])
    off = square = fourth = variance = 0.0
    kept: dict[tuple[DecidedBet, ...], tuple[float, float]] = {}
    for _ in range(rounds):
        dealt = deal(chance)
        key = tuple(dealt.bets)
        if dealt.throws or key not in kept:
            found = of_round(rules, dealt.bets, dealt.throws).spread
            assert found is not None
            kept[key] = float(found.mean), float(found.variance)
        mean, its = kept[key]
        off += dealt.won - mean
        square += (dealt.won - mean) ** 2
        fourth += ((dealt.won - mean) ** 2 - its) ** 2
        variance += its
    assert abs(off) < 5 * square**0.5
    assert abs(square - variance) < 5 * fourth**0.5


@pytest.mark.parametrize(
    "rounds",
    [4_000, pytest.param(400_000, marks=pytest.mark.long)],
)
def test_baccarat_with_seven_patrons_on_banker_and_ties_that_push(rounds: int) -> None:
    check(seven_on_banker, "baccarat", rounds)


@pytest.mark.parametrize("rounds", [300, pytest.param(20_000, marks=pytest.mark.long)])
def test_a_shooters_hand_whose_wagers_share_its_throws(rounds: int) -> None:
    check(shooters_hand, "craps", rounds)


def test_wagers_taken_as_independent_are_found_out() -> None:
    """The negative control: seven patrons apart have a seventh of the variance."""
    rules = in_force(games()["baccarat"], "", "", NO_DAY, [])
    dealt = seven_on_banker(random.Random(1))  # noqa: S311 - repeatable, not for security
    together = of_round(rules, dealt.bets, []).spread
    apart = [of_round(rules, [each], []).spread for each in dealt.bets]
    assert together
    assert together.variance > 4 * sum(each.variance for each in apart if each)
