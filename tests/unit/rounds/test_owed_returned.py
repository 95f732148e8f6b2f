"""Owed and paid of chips that went back: beyond what lay there they are the patron's gain."""

from __future__ import annotations

import pytest

from replay.rounds.owed import paid_beside_owed
from tests.unit.games.rounds import facts_of, ruling

DAY = "2015-03-01"
# What moved of $10.00, the throw that decides it, and the difference in the patron's favour.
MOVED = """
    pay 1 pass 1000, back 1 pass 1000        | roll 5 6 | 0
    pay 1 pass 1000, back 1 pass 1500        | roll 5 6 | 500
    take 1 pass 1000                         | roll 1 1 | 0
    back 1 pass 1000                         | roll 1 1 | 1000
    take 1 pass 1000, back 1 pass 1000       | roll 1 1 | 1000
    take 1 pass 400, back 1 pass 1000        | roll 1 1 | 1000
    take 1 pass 400, back 1 pass 600         | roll 1 1 | 600
    back 1 dont_pass 1000                    | roll 6 6 | 0
    back 1 dont_pass 400                     | roll 6 6 | -600
    back 1 dont_pass 1500                    | roll 6 6 | 500
    take 1 dont_pass 1000                    | roll 6 6 | -1000
    take 1 dont_pass 1000, back 1 dont_pass 1000 | roll 6 6 | 0
    pay 1 dont_pass 1000                     | roll 6 6 | 1000
    pay 1 dont_pass 1000, back 1 dont_pass 1500 | roll 6 6 | 1500
    back 2 all_tall 300                      | roll 5 6 | 300
"""


@pytest.mark.parametrize("row", [row.strip() for row in MOVED.splitlines() if row.strip()])
def test_chips_that_went_back_beyond_what_lay_there_are_a_difference(row: str) -> None:
    moved, roll, difference = (part.strip() for part in row.split("|"))
    wager = moved.split()[2]
    bet = "pass" if wager == "all_tall" else wager
    paid = "" if bet == wager else "pay 1 pass 1000"
    facts = [
        "start",
        f"1 {bet} 1000",
        roll,
        *moved.split(", "),
        paid,
        "roll 2 2",
        "roll 3 4",
        "done",
    ]
    script = "\n".join(facts)
    lines = paid_beside_owed(ruling(script, "craps"), facts_of(script, "craps", DAY))
    assert {line.wager: line.difference for line in lines} == {bet: 0, wager: int(difference)}


def test_a_wager_that_never_came_into_play_goes_back_without_a_difference() -> None:
    late = "start\n1 pass 1000\nroll 1 1\ntake 1 pass 1000\nroll 2 2\nroll 3 4\n"
    for placed, difference in (("2 middle 300", 0), ("", 300)):
        script = f"{late}{placed}\nback 2 middle 300\ndone"
        lines = paid_beside_owed(ruling(script, "craps"), facts_of(script, "craps", DAY))
        assert {line.wager: line.difference for line in lines} == {"pass": 0, "middle": difference}
