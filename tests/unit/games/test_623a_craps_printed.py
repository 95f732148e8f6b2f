"""Craps: what its module holds beside what Chapter 623a prints, and the standard line bets."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from ledger.adjudication import adjudicate
from ledger.edges import edges
from tests.unit.games.rounds import lines, printed
from tests.unit.games.test_623a_craps import GAME

ASKED_BY_NAME = "the record is asked by name, and the source is not told the section"
NO_ORDER = "the names of the wagers asked for are a set; each is settled in a step of its own"

EQUIVALENT = {
    "WAGERS: (*LINE, *LAYS, *BONUS) -> (*LAYS, *LINE, *BONUS)": NO_ORDER,
    "WAGERS: (*LINE, *LAYS, *BONUS) -> (*LINE, *BONUS, *LAYS)": NO_ORDER,
    "_open: (*LINE, *LAYS) -> (*LAYS, *LINE)": NO_ORDER,
    "_wager: '3(a)' -> '3(a)(42)'": ASKED_BY_NAME,
    "_wager: '3(a)' -> '3(a)(42)' #2": ASKED_BY_NAME,
    "_call_off: '3(a)(42)' -> '3(a)(42)(i)'": ASKED_BY_NAME,
    "_before_the_throw: ..e, ('dice_thrown',)) if t.source.untaken(name) else [] -> "
    "..e, ('dice_thrown',))": "it saves work where there are none",
}
"""Mutants that change nothing, and why."""

EDGES = (
    "pass 1.4 dont_pass 1.4 lay_4 0.0 lay_5 0.0 lay_6 0.0 lay_8 0.0 lay_9 0.0 lay_10 0.0 "
    "all_small 7.8 all_or_nothing 7.5 all_tall 7.8"
)
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading: none."""

FAVOURABLE_DEFAULT = dict.fromkeys(
    ("lay_4", "lay_5", "lay_6", "lay_8", "lay_9", "lay_10"),
    "true odds (623a.3(a)(42)): all the house keeps is a vigorish that is not printed",
)
"""Wagers that the house keeps nothing of, and why."""

LATER: set[str] = set()
"""Wagers made once a die is known: none that is not made before a throw, too."""


def test_623a_3_5_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines("""
        pass           3(a)           Pass Bet
        dont_pass      3(a)           Don't Pass Bet
        lay_4          3(a)(42)       Lay Bet on 4 (optional)
        lay_5          3(a)(42)       Lay Bet on 5 (optional)
        lay_6          3(a)(42)       Lay Bet on 6 (optional)
        lay_8          3(a)(42)       Lay Bet on 8 (optional)
        lay_9          3(a)(42)       Lay Bet on 9 (optional)
        lay_10         3(a)(42)       Lay Bet on 10 (optional)
        all_small      3(a)(43)(i)    All Small Wager (optional)
        all_or_nothing 3(a)(43)(ii)   All Or Nothing At All Wager (optional)
        all_tall       3(a)(43)(iii)  All Tall Wager (optional)
        [5 pass]
        Pass Bet: 1 to 1
        [5 dont_pass]
        Don't Pass Bet, 12 barred: Push
        Don't Pass Bet: 1 to 1
        [3(a)(42) lay_4]
        Lay Bet on 4: 1 to 2
        [3(a)(42) lay_5]
        Lay Bet on 5: 2 to 3
        [3(a)(42) lay_6]
        Lay Bet on 6: 5 to 6
        [3(a)(42) lay_8]
        Lay Bet on 8: 5 to 6
        [3(a)(42) lay_9]
        Lay Bet on 9: 2 to 3
        [3(a)(42) lay_10]
        Lay Bet on 10: 1 to 2
        [5(h)(1) all_small]
        All Small Wager: 34 to 1
        [5(h)(2) all_or_nothing]
        All Or Nothing At All Wager: 175 to 1
        [5(h)(3) all_tall]
        All Tall Wager: 34 to 1
        bonus_before 12(1): new_shooter, any_come_out
    """)


def test_623a_2_d_4_i_the_layout_numbers_16_player_positions() -> None:
    assert adjudicate.games()[GAME].positions == 16


def test_623a_5_the_edges_are_the_published_ones() -> None:
    found = {each.wager: each.edge for each in edges(GAME)}
    assert (found["pass"], found["dont_pass"]) == (Fraction(7, 495), Fraction(3, 220))
    assert {found[f"lay_{number}"] for number in (4, 5, 6, 8, 9, 10)} == {0}


def test_623a_5_h_bonus_craps_counted_by_leaving_numbers_out() -> None:
    """All of a set before a 7, by inclusion and exclusion; the edges count by the next number."""
    ways = {total: 6 - abs(7 - total) for total in range(2, 13)}
    found = {each.wager: each.edge for each in edges(GAME)}
    small, tall = (2, 3, 4, 5, 6), (8, 9, 10, 11, 12)
    paid = {"all_small": (small, 35), "all_tall": (tall, 35), "all_or_nothing": (small + tall, 176)}
    for wager, (numbers, for_one) in paid.items():
        won = Fraction(0)
        for count in range(len(numbers) + 1):
            for never in combinations(numbers, count):
                others = sum(ways[number] for number in never)
                won += (-1) ** count * Fraction(6, 6 + others)
        assert found[wager] == 1 - for_one * won
