"""A surrendered wager: its chips by 633a.7, 635a.7, 665a.9(b) and 659a.11(d)."""

from __future__ import annotations

import pytest

from tests.unit.games import asia, attack, twenty_one
from tests.unit.games.rounds import ruling, text
from tests.unit.games.test_659a_asia_poker_record import HIGHER

STANDARD = twenty_one.round_of("9d 8h", "Kc 6s", "decide 1 surrender")
AFTER_A_DOUBLE = attack.round_of(
    "9d 8h",
    "Kc 6s",
    "decide 1 double_down, 1 double_down 1000, deal 1 up 2h, decide 1 surrender",
)
HALVED = {
    ("blackjack", "blackjack", "633a.7"): (STANDARD, ()),
    ("spanish_21", "spanish_21", "633a.7"): (STANDARD.replace(" blackjack ", " spanish_21 "), ()),
    ("double_attack_blackjack", "bet", "665a.9(b)(1)"): (
        attack.round_of("9d 8h", "Kc 6s", "decide 1 surrender"),
        (),
    ),
    ("double_attack_blackjack", "double_down", "665a.9(b)(1)"): (
        AFTER_A_DOUBLE,
        ("take 1 bet 500", "back 1 bet 500"),
    ),
}
# How $10.00 moved of which half is lost, and what is found.
HALVES = """
    take 500, back 500 :
    back 1000          : not_collected 500 / 0 & over_returned 500 / 1000
    back 600           : not_collected 500 / 0 & over_returned 500 / 600
    take 300, back 700 : not_collected 500 / 300 & over_returned 500 / 700
    take 500, back 900 : over_returned 500 / 900
    take 1000          : wrongly_collected 500 / 1000
    take 500           : not_returned 500 / 0
    back 500           : not_collected 500 / 0
"""


@pytest.mark.parametrize("row", [row.strip() for row in HALVES.splitlines() if row.strip()])
@pytest.mark.parametrize("of", HALVED, ids="-".join)
def test_chips_of_a_half_that_moved_otherwise_are_named(of: tuple[str, str, str], row: str) -> None:
    game, wager, section = of
    script, others = HALVED[of]
    chips, _, findings = (f"{row} ").partition(":")
    moved = [chip.strip().replace(" ", f" 1 {wager} ") for chip in chips.split(",")]
    found = text(ruling("\n".join([script, *moved, *others, "done"]), game))
    assert [line for line in found if line.startswith("!")] == [
        f"! {code} 1 {wager} {cents} {section}"
        for code, cents in (
            each.strip().split(" ", 1) for each in findings.split("&") if each.strip()
        )
    ]


def test_659a_11_d_no_half_of_a_surrender_goes_back_at_asia_poker() -> None:
    hands = {1: HIGHER}
    script = asia.played(hands, "1 asia_poker 1000", before="decide 1 surrender")
    moved = "take 1 asia_poker 500\nback 1 asia_poker 500\ndone"
    found = text(ruling(f"{script}\n{moved}", "asia_poker"))
    assert [line for line in found if line.startswith("!")] == [
        "! not_collected 1 asia_poker 1000 / 500 659a.11(d)",
        "! over_returned 1 asia_poker 0 / 500 659a.11(d)",
    ]
