"""Rounds of Saigon 5 Card that the tests bend: one player, an Ante of $10, the cards as set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "saigon_5_card"
DAY = "2020-03-01"
DEALER = "Kc Qd Jh 3c 4d"
"""A dealer's hand that qualifies and counts 7."""

NO_DEALER = "2c 2d 3h 4c 2h"
"""A dealer's hand that does not qualify: no three of its cards make 10, 20 or 30."""


def dealt(hand: str, dealer: str, *, more: str = "", way: str = "manual_shoe") -> str:
    """Wagers, five cards each, and how the player sets his: `3 cards / 2 cards`.

    The dealer sets his first three and his last two.
    """
    three, two = hand.split(" / ")
    first, last = dealer[:8], dealer[9:]
    return f"""
        start {way}
        1 ante 1000
        {more}
        nomorebets
        deal 1 {three} {two}
        deal dealer {dealer}
        set 1 qualifying {three} showdown {two}
        show dealer {dealer}
        set dealer qualifying {first} showdown {last}
    """


def one_hand(hand: str, dealer: str, *, more: str = "") -> str:
    """A round of one player, all cards shown."""
    three, two = hand.split(" / ")
    return dealt(hand, dealer, more=more) + f"show 1 {three} {two}\n"


def told(script: str, **around: Unpack[Around]) -> list[str]:
    """A ruling as lines, on a day of the edition."""
    around.setdefault("day", DAY)
    return text(ruling(script, GAME, **around))


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert told(script, **around) == lines(expected)
