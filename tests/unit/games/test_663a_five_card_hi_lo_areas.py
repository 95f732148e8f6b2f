"""Five Card Hi-Lo, 663a.7(f): two betting areas of one player."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.test_663a_five_card_hi_lo import GAME


def two_hands(first: int, second: int, order: str, at: tuple[int, int] = (2, 3)) -> str:
    """One player's round on two positions with these Antes, his hands set in this order."""
    one, two = at
    hands = {one: ("Qc 9d 7s", "3c 5d"), two: ("Jc 9h 7c", "3d 5s")}
    cards = {seat: f"{high} {low}" for seat, (high, low) in hands.items()}
    sets = [f"set {s} high {hands[s][0]} low {hands[s][1]}" for s in map(int, order.split())]
    return "\n".join(
        [
            "start automated_shoe",
            f"{one} ante {first}",
            f"{two} ante {second}",
            "nomorebets",
            *(f"deal {seat} {cards[seat]}" for seat in at),
            "deal dealer Kh 8s 7d 4c 5h",
            f"{one} play {first}",
            f"{two} play {second}",
            *sets,
            "show dealer Kh 8s 7d 4c 5h",
            "set dealer high Kh 8s 7d low 4c 5h",
            *(f"show {seat} {cards[seat]}" for seat in reversed(at)),
        ]
    )


def found_in(script: str, seats: tuple[tuple[int, ...], ...], **filed: object) -> list[str]:
    """What is found of a round of two positions."""
    around = {"filed": {"options": filed}} if filed else {}
    found = text(ruling(script, GAME, seats=seats, **around))  # type: ignore[arg-type]
    assert found[0] == "complete"
    return [line for line in found if line.startswith("!")]


ORDERS = """
    1000 1500 / 3 2 / 2 3
    1500 1000 / 2 3 / 3 2
    1000 1000 / 3 2 / 2 3
"""


@pytest.mark.parametrize("row", lines(ORDERS))
def test_663a_7_f_the_larger_wagers_hand_is_set_first_and_of_equal_ones_the_right(
    row: str,
) -> None:
    """Counterclockwise from 3 is 2. Two players set theirs in any order."""
    antes, right, wrong = row.split(" / ")
    first, second = (int(ante) for ante in antes.split())
    assert found_in(two_hands(first, second, right), ((2, 3),)) == []
    told = found_in(two_hands(first, second, wrong), ((2, 3),))
    assert [line.split()[1] for line in told] == ["out_of_turn"]
    assert told[0].endswith("663a.11(d)")
    assert found_in(two_hands(first, second, wrong), ((2,), (3,))) == []
    assert found_in(two_hands(first, second, right), ((2,), (3,))) == []


def test_663a_7_f_two_areas_apart_or_three_are_not_permitted() -> None:
    apart = two_hands(1000, 1000, "4 2", at=(2, 4))
    assert found_in(apart, ((2, 4),)) == ["! wager_not_permitted 4 ante 663a.7(f)"]
    assert found_in(apart, ((2,), (4,))) == []


def test_663a_7_f_a_submission_may_keep_a_player_to_one_area() -> None:
    script = two_hands(1000, 1000, "3 2")
    one = ["! wager_not_permitted 3 ante 663a.7(f)"]
    assert found_in(script, ((2, 3),), adjacent_boxes=False) == one
    assert found_in(script, ((2, 3),), adjacent_boxes=True) == []
    wrong = two_hands(1000, 1000, "2 3")
    assert found_in(wrong, ((2, 3),), adjacent_boxes=False) == one
