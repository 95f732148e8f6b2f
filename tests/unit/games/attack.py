"""A round of Double Attack Blackjack that the tests bend, and what the text owes for it.

The dealer's 6 and queen draw an 8: 24. One player stands on king-9 with both wagers and a Bust It.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "double_attack_blackjack"

START = """
    start manual_shoe
    1 bet 1000
    1 bust_it 500
    deal dealer up 6d
    1 double_attack 600
"""
DEAL = """
    deal 1 up Kc
    deal 1 up 9s
    deal dealer Qh
"""
DEALER = """
    show dealer 1 Qh
    deal dealer up 8c
"""
STAND = "decide 1 stand\n"
PAID = """
    pay 1 bust_it 4000
    pay 1 bet 1000
    pay 1 double_attack 600
    done
"""
BUST_IT_PAID = "1 bust_it 500 win +4000 665a.12(c) Is an 8, 8 to 1"
PLAYED = f"""
    complete
    {BUST_IT_PAID}
    1 bet           1000 win +1000 665a.12(a) Bet and Double Attack Wager, 1 to 1
    1 double_attack  600 win  +600 665a.12(a) Bet and Double Attack Wager, 1 to 1
"""
RETURNED = """
    back 1 bet 1000
    back 1 bust_it 500
    back 1 double_attack 600
"""


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)


def round_of(dealer: str, player: str, moves: str = "stand", bets: str = "bet 1000") -> str:
    """A round of one player: the dealer's cards in their order, the player's two, what he does.

    `moves` are decisions, cards after each; `bets` wagers after one another, those made after the
    first card behind a `/`.
    """
    up, hole, *drawn = dealer.split()
    before, _, after = bets.partition("/")
    found = ["start manual_shoe", *_placed(before), f"deal dealer up {up}", *_placed(after)]
    found += [f"deal 1 up {card}" for card in player.split()]
    found.append(f"deal dealer {hole}")
    if up[0] in "AKQJ":
        blackjack = {up[0] == "A", hole[0] == "A"} == {True, False} and hole[0] in "AKQJ"
        found.append("peek blackjack" if blackjack else "peek none")
    found += moves.split(", ") if moves else []
    found.append(f"show dealer 1 {hole}")
    found += [f"deal dealer up {card}" for card in drawn]
    return "\n".join(found)


def _placed(bets: str) -> list[str]:
    words = bets.split()
    return [f"1 {wager} {cents}" for wager, cents in zip(words[::2], words[1::2], strict=True)]
