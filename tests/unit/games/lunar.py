"""Rounds of Lunar Poker that the tests bend: one player, an Ante of $10, a dealer's five cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "lunar_poker"
NO_HAND = "Kh Qd 9c 7s 2h"
"""A dealer's hand without a pair and without an ace: it does not qualify."""

QUALIFIED = "Ah Kd 9c 7s 2h"


def opening(player: str, dealer: str, *, more: str = "", way: str = "manual_shoe") -> str:
    """Wagers and the first five cards of each; the dealer's last card lies open."""
    return f"""
        start {way}
        1 ante 1000
        {more}
        nomorebets
        deal 1 {player}
        deal dealer {dealer}
        show dealer 4 {dealer.split()[4]}
    """


def showdown(player: str, dealer: str) -> str:
    """Decisions are locked, and all cards turned."""
    return f"""
        locked
        show dealer {" ".join(dealer.split()[:4])}
        show 1 {player}
    """


def one_hand(player: str, dealer: str) -> str:
    """A round of one player who places a Bet."""
    return opening(player, dealer) + "1 bet 2000\n" + showdown(player, dealer)


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert told(script, **around) == lines(expected)


def told(script: str, **around: Unpack[Around]) -> list[str]:
    """A ruling as lines; a wager that two rows pay once more, with both."""
    found = ruling(script, GAME, **around)
    twice = [f"+ {s.position} {' and '.join(s.rows)}" for s in found.settlements if s.rows]
    return [*text(found), *twice]
