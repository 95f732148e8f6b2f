"""Blackjack, 633a.7(o)(3) and 633a.13(m): what wins of Straight Jack take of its meter, by hand."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import ruling, text
from tests.unit.games.twenty_one import round_of

GAME = "blackjack"
OFFERS = ("house_money", "straight_jack")
JACK = "blackjack 1000 straight_jack 500"


def drawn(cards: str) -> str:
    """A player's hits, one after the other."""
    return ", ".join(f"decide 1 hit, deal 1 up {card}" for card in cards.split())


def won(script: str, **filed: object) -> str:
    """The line that settles Straight Jack, without the wager and the paragraph."""
    found = text(ruling(script, GAME, filed={"offers": OFFERS, **filed}))
    line = next(line for line in found if " straight_jack " in line and not line.startswith("!"))
    return line.removeprefix("1 straight_jack 500 win ").replace("633a.13(m)(1) ", "")


@pytest.mark.parametrize(
    ("player", "draws"),
    [("2c 3d", "As 4h 5c 6d"), ("3c 2d", "4h 5c 6d As"), ("5c 4d", "3c 2c As 6c")],
)
def test_633a_13_m_1_the_ace_of_a_six_card_straight_may_be_drawn_at_any_time(
    player: str, draws: str
) -> None:
    script = round_of("9d 8h", player, drawn(draws), JACK) + "\nmeter read straight_jack 700000"
    row = "Six-card straight with an ace of spades, 100% of meter and 200 to 1 from the cage"
    assert won(script) == f"+800000 {row}"
    other = script.replace("As", "Ah")
    row = "Six-card straight with an ace of diamonds, clubs or hearts, 10% of meter and 200 to 1"
    assert won(other) == f"+170000 {row} from the cage"


def test_633a_7_o_3_i_either_end_of_the_straight_may_come_again_where_it_is_passed_over() -> None:
    script = round_of("9d 8h", "4c 5d", drawn("5h 6s") + ", decide 1 stand", JACK)
    ignored = {"repeated_rank": "ignored"}
    assert won(script, readings=ignored) == "+7500 Three-card straight, 15 to 1"
    assert won(script) == "+1500 Two-card straight, 3 to 1"


def test_633a_13_m_2_the_least_a_meter_shows_is_its_initial_or_its_reset_amount() -> None:
    # 15 to 1 on $33.34 is $500.10: a tenth of $5,000 and more, and less than a tenth of $10,000.
    script = round_of(
        "9d 8h", "4c 5d", drawn("6h") + ", decide 1 stand", "blackjack 1000 straight_jack 3334"
    )
    for terms, asked in (
        ({"initial": 500_000, "reset": 1_000_000}, True),
        ({"initial": 1_000_000, "reset": 500_000}, True),
        ({"initial": 1_000_000, "reset": 1_000_000}, False),
        ({"reset": 1_000_000}, False),
    ):
        filed = {"offers": OFFERS, "progressives": {"straight_jack": terms}}
        cut = script + "\ntake 1 blackjack 1000"
        step = text(ruling(cut, GAME, filed=filed), following=True)[-1]
        assert ("meter_read" in step) is asked


def test_633a_13_m_1_where_the_meter_was_not_read_nothing_of_its_win_is_settled() -> None:
    script = round_of("9d 8h", "As 2c", drawn("3c 4c 5c 6c"), JACK) + "\npay 1 blackjack 1000"
    found = text(ruling(script, GAME), following=True)
    assert [line for line in found if line.startswith("1 ")] == [
        "1 blackjack 1000 win +1000 633a.13(a) Win, 1 to 1"
    ]
    assert found[-1] == "> meter_read dealer 633a.7(o)(3)(ii)(C)"
    closed = text(ruling(script + "\npay 1 straight_jack 800000 from cage\ndone", GAME))
    assert closed[0] == "awaiting"
    assert not [line for line in closed if line.startswith("! ")]


def test_633a_13_m_2_only_a_win_of_the_whole_meter_sets_it_back() -> None:
    hearts = round_of("9d 8h", "Ah 2c", drawn("3c 4c 5c 6c"), JACK)
    paid = "\nmeter read straight_jack 700000\npay 1 blackjack 1000\npay 1 straight_jack 170000"
    step = text(ruling(hearts + paid + " from cage", GAME), following=True)[-1]
    assert step == "> round_completed dealer 633a.13(m)(1)"


def test_633a_13_m_1_a_win_by_odds_alone_has_one_part_and_the_table_pays_it() -> None:
    script = round_of("9d 8h", "4c 5d", drawn("6h") + ", decide 1 stand", JACK)
    found = ruling(script, GAME).settlements[-1]
    assert (found.wager, found.rows, found.paid_from) == ("straight_jack", None, "table")
    both = ruling(script.replace("4c", "Ah").replace("5d", "2c").replace("6h", "3h"), GAME)
    assert both.settlements[-1].odds == "15 to 1"
