"""Rounds of Poker that the tests bend: four players, the button at position 4.

Blinds of 100 and 200 by positions 1 and 2, so position 3 speaks first; everyone who is in calls.
Words are those of `rounds`; here are the parts that most rounds share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

START = """
    start 4
    stack 1 20000
    stack 2 20000
    stack 3 20000
    stack 4 20000
    1 blind 100
    2 blind 200
"""
LIMPED = """
    act 3 call 200
    act 4 call 200
    act 1 call 100
    act 2 check
"""
OFFERED = {"offers": ("ante", "straddle", "kill")}
CHECKED = "act 1 check\nact 2 check\nact 3 check\nact 4 check\n"


def dealt(*hands: str) -> str:
    """Each player's cards as one stack, from position 1 on."""
    return "".join(f"deal {seat} {cards}\n" for seat, cards in enumerate(hands, 1))


def drawn(*draws: str) -> str:
    """A burn, then what each player gives up and gets: `Kc Qc > 2d 3d`, or `-` for nothing."""
    script = "burn\n"
    for seat, each in enumerate(draws, 1):
        gives, _, gets = each.partition(">")
        script += f"draw {seat} {gives.strip('- ')}\n"
        script += f"deal {seat} {gets.strip()}\n" if gets.strip() else ""
    return script


def pat(players: int = 4) -> str:
    """A draw in which nobody draws, and a betting round in which nobody bets."""
    return drawn(*["-"] * players) + "".join(f"act {seat + 1} check\n" for seat in range(players))


def shown(*seats: int) -> str:
    """Hands shown at the showdown."""
    return "".join(f"hand {seat}\n" for seat in seats)


def board(flop: str, turn: str, river: str, *, between: str = CHECKED) -> str:
    """Three cards, one, one, each after a burn and before a betting round."""
    return "".join(f"burn\ndeal community up {cards}\n{between}" for cards in (flop, turn, river))


HANDS = dealt("As Ad 2c 7d 9h", "Ks Kd 3c 7h 9s", "Qs Qd 4c 8d Td", "Js Jd 5c 8h Th")
BOARD = ("Ac Kc 6s", "6d", "2h")
"""Five-card Omaha: position 1 has aces full, 2 kings full, 3 queens up, 4 jacks up."""
FULL = board(*BOARD) + shown(1, 2, 3, 4)
WON = """
    complete
    1 pot 200 win  +600 637a.19(k)(1) Full house
    2 pot 200 lose -200 637a.19(k)
    3 pot 200 lose -200 637a.19(k)
    4 pot 200 lose -200 637a.19(k)
"""
SHORT = (
    START.replace("3 20000", "3 1200").replace("4 20000", "4 3200")
    + HANDS
    + LIMPED
    + """
    burn
    deal community up Ac Kc 6s
    act 1 bet 5000
    act 2 call 5000
    act 3 call 1000 allin
    act 4 call 3000 allin
    burn
    deal community up 6d
    act 1 check
    act 2 check
    burn
    deal community up 2h
    act 1 check
    act 2 check
"""
)
"""A bet of 5,000 on the flop; 3 has 1,200 in all, 4 has 3,200."""


def next_of(script: str, game: str = "omaha_5_high") -> str:
    """What a record cut here says must come next."""
    return text(ruling(script, game, filed=OFFERED), following=True)[-1]


def ruled(game: str, script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    around.setdefault("filed", OFFERED)
    assert text(ruling(script, game, **around)) == lines(expected)


def duel(one: str, two: str, between: str, opening: str = "") -> str:
    """Positions 1 and 2 show down for 200 each, and whatever else is put in before the deal."""
    cards = "?? " * len(one.split())
    bets = "act 3 fold\nact 4 fold\nact 1 call 100\nact 2 check\n"
    return START + opening + dealt(one, two, cards, cards) + bets + between + shown(1, 2)


PAT = pat(2) * 3
"""Three draws in which neither of two players draws or bets."""


def won(script: str, game: str, **around: Unpack[Around]) -> list[str]:
    """What positions 1 and 2 have in a duel's ruling, and every finding."""
    around.setdefault("filed", OFFERED)
    said = text(ruling(script, game, **around))
    assert said[0] == "complete"
    return [*said[1:3], *(line for line in said if line.startswith("!"))]


def crowded(game: str, players: int) -> list[str]:
    """What is found where so many players are dealt in."""
    stacks = "".join(f"stack {seat} 2000\n" for seat in range(1, players + 1))
    said = text(ruling(f"start {players}\n{stacks}1 blind 100\n", game, filed=OFFERED))
    return [line for line in said if line.startswith("!")]


def options(game_id: str) -> list[str]:
    """What a game's sections leave to the Rules Submission, as lines."""
    return [
        f"{each.name} {each.section}: {', '.join(map(str, each.values))}"
        for each in adjudicate.games()[game_id].options
    ]
