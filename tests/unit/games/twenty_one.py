"""Rounds of Blackjack and Spanish 21 as one line: wagers, cards and what a player does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

TENS = "TJQK"


def check(script: str, expected: str, game: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, game, **around)) == lines(expected)


def round_of(
    dealer: str,
    player: str,
    moves: str = "decide 1 stand",
    bets: str = "blackjack 1000",
    before: str = "",
) -> str:
    """A round of one player. `moves` are what follows the deal and `before` what comes before it.

    The hole card is read where the first card is an ace or a 10, after what is `before` it.
    """
    up, hole, *drawn = dealer.split()
    words = bets.split()
    found = ["start manual_shoe"]
    found += [f"1 {wager} {cents}" for wager, cents in zip(words[::2], words[1::2], strict=True)]
    first, second = player.split()
    found += [f"deal 1 up {first}", f"deal dealer up {up}", f"deal 1 up {second}"]
    found.append(f"deal dealer {hole}")
    found += before.split(", ") if before else []
    if up[0] == "A" or up[0] in TENS:
        blackjack = "A" in (up[0], hole[0]) and (up[0] in TENS or hole[0] in TENS)
        found.append("peek blackjack" if blackjack else "peek none")
    found += moves.split(", ") if moves else []
    found.append(f"show dealer 1 {hole}")
    found += [f"deal dealer up {card}" for card in drawn]
    return "\n".join(found)
