"""What a finding says: where the card is, which card it is, and how much was due."""

from __future__ import annotations

from tests.unit.games.lunar import GAME, QUALIFIED, opening, showdown
from tests.unit.games.rounds import ruling

HAND = "Ah Kc 7d 5s 3c"


def says(script: str) -> list[str]:
    return [each.says for each in ruling(script, GAME).findings]


def test_a_card_seen_again_is_named_where_it_was_discarded() -> None:
    begun = opening(HAND, "Kd Qd 9c 7s 2h") + "fee 1 options 1000 exchange\n locked\n"
    again = begun + "exchange 1 5s 3c\n deal 1 5s 2d\n 1 bet 2000\n show dealer Kd Qd 9c 7s\n"
    assert says(again) == [
        "5s is on the table 2 times (position 1, discarded by position 1); the deck holds one."
    ]


def test_cards_are_counted_from_one() -> None:
    script = opening(HAND, QUALIFIED.replace("Ah", "As")) + "1 bet 2000\n"
    (found,) = says(script + showdown(HAND, "Js Kd 9c 7s 2h"))
    assert found.startswith("Card 1 of the dealer cards was dealt as As and turned as Js;")


def test_a_stake_collected_twice_says_how_much_was_due() -> None:
    script = opening(HAND, "As Ad 9c 7s 2h") + "1 bet 2000\n" + showdown(HAND, "As Ad 9c 7s 2h")
    (found,) = says(script + "take 1 ante 2000\n take 1 bet 2000\n done")
    assert found.startswith(
        "Position 1 lost $20.00 on Ante Wager to the dealer, but only $10.00 was"
    )
