"""Rounds of Asia Poker as text: hands as `Kc Kd 7h 5s / Qc 8d / 9h`, high, medium and low.

Who has no wager is dealt what is left of the deck; nothing here ranks a hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.hands.cards import DECK
from ledger.rules.hands.joker import JOKER
from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "asia_poker"
CLOCKWISE = ("dealer", 1, 2, 3, 4, 5, 6)
BEGINS = "begin random_number 1 0"  # with the dealer
Holder = str | int

DEALER = "Kc Kd 7h 5s / Qc 8d / 9h"
WON = "659a.12(a) Asia Poker Wager, 1 to 1"
LOST = "659a.11(f)(1)(i)"


def cards(hands: str) -> str:
    """The seven cards of three hands."""
    return hands.replace(" / ", " ")


def set_to(who: Holder, hands: str) -> str:
    """The fact that sets three hands."""
    high, medium, low = hands.split(" / ")
    return f"set {who} high {high} medium {medium} low {low}"


def dealt(held: Mapping[Holder, str], *, first: Holder = "dealer") -> list[str]:
    """Seven cards to everyone, clockwise: their own, or what is left of the deck."""
    mine = {who: cards(hands) for who, hands in held.items()}
    taken = " ".join(mine.values()).split()
    rest = [card for card in (*DECK, JOKER) if card not in taken]
    begin = CLOCKWISE.index(first)
    found = []
    for who in (*CLOCKWISE[begin:], *CLOCKWISE[:begin]):
        stack = mine.get(who) or " ".join(rest.pop() for _ in range(7))
        found.append(f"deal {who} {stack}")
    return found


def played(
    players: Mapping[int, str],
    bets: str,
    dealer: str = DEALER,
    *,
    before: str = "",
    after: str = "",
) -> str:
    """A round to its end, nothing paid: `bets` placed, all hands set, `before` any is revealed."""
    held: dict[Holder, str] = {"dealer": dealer, **players}
    facts = ["start", bets, "nomorebets", BEGINS, *dealt(held)]
    facts += [set_to(seat, hands) for seat, hands in players.items()]
    facts += [f"show dealer {cards(dealer)}", set_to("dealer", dealer), before]
    gone = {int(word.split()[1]) for word in before.splitlines() if "surrender" in word}
    for seat in sorted(players, reverse=True):
        facts += [] if seat in gone else [f"show {seat} {cards(players[seat])}"]
    return "\n".join([*facts, after])


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)
