"""Minibaccarat, 627a.8(d)(1)(i): how much of House Money's payout the holder lets a player add."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.games.coup import asked, coup
from tests.unit.games.rounds import ruling, text
from tests.unit.games.test_627a_minibaccarat import BETS_BOTH, GAME, NATURAL
from tests.unit.games.twenty_one import round_of

if TYPE_CHECKING:
    from tests.unit.games.rounds import Around


@pytest.mark.parametrize(
    ("portion", "permitted", "refused"),
    [
        ("whole", ("1500", "1000 banker 500"), ("500", "1499", "1000 banker 400", "1501")),
        ("half", ("750", "500 banker 250"), ("500", "749", "1500", "751")),
        ("any_part", ("1", "750", "1500"), ("1501",)),
    ],
)
def test_627a_8_d_1_i_the_portion_that_the_rules_submission_names_is_pressed_or_nothing(
    portion: str, permitted: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    filed = {"options": {"press_portion": portion}, "offers": ("house_money",)}
    begun = BETS_BOTH + coup("4c 4d", "7h Ts")
    for amounts in ("", *permitted, *refused):
        pressed = amounts.replace(" ", "\n press 1 ", 1)
        script = f"{begun}\n press 1 player {pressed}" if amounts else begun
        found = text(ruling(script, GAME, filed=filed))
        wrong = [line for line in found if line.startswith("! wager_not_permitted")]
        assert bool(wrong) is (amounts in refused), amounts
        assert all(line.endswith("627a.8(d)(1)(i)") for line in wrong)
    less = ruling(f"{begun}\n press 1 player 1", GAME, filed=filed).findings
    due = {"whole": "$15.00", "half": "$7.50"}.get(portion)
    says = [f.says.partition(": ")[2] for f in less]
    cite = "(627a.8(d)(1)(i))."
    assert says == ([f"$0.01 was pressed, but only {due} or nothing may be {cite}"] if due else [])


def test_627a_8_d_1_i_the_stake_may_move_with_a_portion_whole_or_not_at_all() -> None:
    filed = {
        "options": {"press_portion": "half"},
        "readings": {"press_includes_stake": True},
        "offers": ("house_money",),
    }
    for amount, named, wrong in ((750, 0, 0), (1250, 1, 0), (1000, 1, 1), (1251, 1, 1)):
        script = NATURAL + f"press 1 player {amount}"
        found = " ".join(text(ruling(script, GAME, filed=filed)))
        assert found.count("[press_includes_stake true]") == named, amount
        assert found.count("! wager_not_permitted 1 player") == wrong, amount


@pytest.mark.parametrize(("portion", "amount"), [("whole", 1500), ("half", 750)])
def test_627a_8_d_1_i_chance_presses_the_portion_that_is_named(portion: str, amount: int) -> None:
    options = {"press_portion": portion}
    steps = asked(GAME, BETS_BOTH + coup("4c 4d", "7h Ts"), options=options)
    [pressed] = [step for step in steps if step.options]
    assert pressed.ways
    assert list(pressed.ways("press")) == [
        {"wager": wager, "amount": amount} for wager in ("player", "banker")
    ]


DEFAULTS = [
    ("minibaccarat", "627a.8(d)(1)(i)"),
    ("midibaccarat", "629a.8(c)(3)(i)(A)"),
    ("baccarat", "631a.9(e)(1)(i)"),
    ("blackjack", "633a.7(g)(10)(ii)(A)"),
]


@pytest.mark.parametrize(("game", "section"), DEFAULTS)
def test_627a_629a_631a_633a_if_no_portion_is_filed_all_of_the_payout_is_pressed_or_nothing(
    game: str, section: str
) -> None:
    if game == "blackjack":  # a pair of 9s pays 3 to 1
        bets = "blackjack 1000 house_money 500"
        begun = round_of("9d 8h", "9c 9s", "", bets).partition("show")[0]
        onto = ""
    else:  # the Player's Hand is a pair of 4s, which pays 3 to 1
        begun, onto = BETS_BOTH + coup("4c 4d", "7h Ts"), " player"
    arounds: tuple[Around, ...] = ({}, {"filed": {"offers": ("house_money",)}})
    for around in arounds:
        for amount, permitted in ((1500, True), (1499, False), (750, False), (1501, False)):
            found = text(ruling(f"{begun}\n press 1{onto} {amount}", game, **around))
            wrong = [line for line in found if line.startswith("! wager_not_permitted")]
            wager = onto.strip() or "blackjack"
            assert wrong == ([] if permitted else [f"! wager_not_permitted 1 {wager} {section}"])
        nothing = text(ruling(begun, game, **around))
        assert not [line for line in nothing if line.startswith("! wager")]
