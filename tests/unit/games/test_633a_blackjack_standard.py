"""The standard game of 21 at its edges, which no document prints: Blackjack and Spanish 21."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.twenty_one import check, round_of

GAME = "blackjack"

SHARED = (
    "ledger/rules/hands/twenty_one.py",
    "ledger/rules/blackjack/hands.py",
    "ledger/rules/blackjack/dealer.py",
    "ledger/rules/blackjack/wagers.py",
    "ledger/rules/blackjack/standard.py",
    "ledger/rules/wagers/progressive.py",
)
"""What the games of 21 share, and the meters: what one imports stands before it."""

NOT_YET = ("_decided", "_chips_first", "_chips_down")
"""Chips beside their decision: what clocks make of their order is not held by these cases yet."""

FILED = ("AMOUNTS", "TERMS", "amount_of", "rate_of")
"""The form of a meter in a Rules Submission: the cases of filing hold that."""

CHANCE = ("decision_weights", *NOT_YET, *FILED)

BESIDE = ("spanish_21", "double_attack_blackjack")

MUTANTS_LEAST = 1600


def test_633a_7_11_every_choice_that_the_holder_has_the_default_first() -> None:
    found = [
        f"{each.name} {each.section}: {', '.join(map(str, each.values))}; {each.says}"
        for each in adjudicate.games()[GAME].options[:7]
    ]
    assert found == lines("""
        decks        7: 6, 1, 2, 4, 5, 7, 8; Decks shuffled together in the shoe.
        soft_17      7: stands, hits; What the dealer does on a soft 17.
        surrender    7: first_two, none; Whether half of the wager may be given up on the first two cards.
        split_hands  11: 4, 2, 3; How many hands a pair may be split to.
        double_split 11: True, False; Whether split hands may be doubled.
        resplit_aces 11: False, True; Whether split aces may be split again.
        boxes        6(f): 7, 1, 2, 3, 4, 5, 6; The number of adjacent boxes a player may wager on in one round.
    """)  # noqa: E501 - one option a line


def test_633a_13_a_a_win_is_paid_at_the_odds_that_are_filed_for_it() -> None:
    filed = {"paytables": {"blackjack": {"blackjack": "3 to 2", "win": "6 to 5"}}}
    found = text(ruling(round_of("9d 8h", "Kc 9s"), GAME, filed=filed))
    assert found[1] == "1 blackjack 1000 win +1200 633a.13(a) Win, 6 to 5"


def test_633a_7_p_where_only_blackjacks_are_left_the_dealer_need_not_turn_his_hole_card() -> None:
    script = round_of("9d 5h", "Kc As", "").partition("show")[0] + "pay 1 blackjack 1500\ndone"
    won = "complete\n1 blackjack 1000 win +1500 633a.13(a) Blackjack, 3 to 2"
    check(script, won, GAME)


def test_633a_7_a_dealers_card_that_was_not_due_under_a_hole_card_not_turned_is_found() -> None:
    """The player is in excess of 21, so nothing goes by the dealer's hand."""
    bust = round_of("6d Qh 8c", "Kc 6s", "decide 1 hit, deal 1 up 9c").partition("show")[0]
    script = bust + "take 1 blackjack 1000\ndeal dealer up 8c\ndone"
    check(
        script,
        "complete\n1 blackjack 1000 lose -1000 633a.7(p)\n! misdeal",
        GAME,
    )


def test_635a_a_21_of_any_position_may_always_win_by_the_rules_submission() -> None:
    script = round_of("9d 5h 7c", "7c 7s", "decide 1 hit, deal 1 up 7d", "spanish_21 1000")
    moved = script.replace("1 spanish", "2 spanish").replace("deal 1 ", "deal 2 ")
    wins = {"options": {"player_21": "wins"}}
    found = text(ruling(moved.replace("decide 1", "decide 2"), "spanish_21", filed=wins))
    assert found[1] == "2 spanish_21 1000 win +1000 633a.13(a) Win, 1 to 1"


DOUBLED = "decide 1 double_down, 1 double_down 1000, {}deal 1 up 9h"
SPLIT = (
    "decide 1 split, 1 split 1000 hand 2, {}deal 1 up 9h, decide 1 stand, "
    "deal 1.2 up Jh, decide 1.2 stand"
)
OF_21 = [
    ("blackjack", "blackjack", "633a.10", "633a.11"),
    ("spanish_21", "spanish_21", "635a.10(a)", "633a.11"),
    ("double_attack_blackjack", "bet", "665a.10(a)", "665a.11(a)"),
]


def of_21(game: str, wager: str, player: str, moves: str) -> list[str]:
    """A round of one player at any of the games, under a 9 and an 8."""
    script = round_of("9d 8h", player, moves, f"{wager} 1000")
    if game == "double_attack_blackjack":  # the dealer's card comes first
        up = "deal dealer up 9d"
        script = script.replace(f"{up}\n", "").replace("deal 1 up", f"{up}\ndeal 1 up", 1)
    return text(ruling(script, game))


@pytest.mark.parametrize(("game", "wager", "double", "split"), OF_21)
def test_633a_10_11_635a_10_665a_10_a_chips_taken_back_once_their_card_is_seen_are_at_stake(
    game: str, wager: str, double: str, split: str
) -> None:
    for player, moves, of, hand, section in (
        ("6c 5s", DOUBLED, "double_down", "1", double),
        ("8c 8s", SPLIT, "split", "1.2", split),
    ):
        whole = of_21(game, wager, player, moves.format(""))
        assert [line for line in whole if line.startswith(f"{hand} {of} 1000 win +1000")]
        for cents in (300, 1000):
            after = f"{moves.format('')}, withdraw 1 {of} {cents}"
            found = of_21(game, wager, player, after)
            assert found == [*whole, f"! wager_not_permitted 1 {of} {section}"]


@pytest.mark.parametrize(("game", "wager", "double", "split"), OF_21)
def test_633a_10_635a_10_665a_10_a_a_double_taken_back_before_its_card_is_what_is_left(
    game: str, wager: str, double: str, split: str
) -> None:
    del split
    less = of_21(game, wager, "6c 5s", DOUBLED.format("withdraw 1 double_down 300, "))
    assert [line for line in less if line.startswith("1 double_down 700 win +700")]
    assert not [line for line in less if line.startswith("!")]
    none = of_21(game, wager, "6c 5s", DOUBLED.format("withdraw 1 double_down 1000, "))
    assert none[-1] == f"! step_missing 1 double_down wager_placed / None {double}"
    assert not [line for line in none if line.startswith("1 double_down")]


@pytest.mark.parametrize(("game", "wager"), [of[:2] for of in OF_21])
def test_633a_10_635a_10_665a_10_a_chips_taken_back_are_of_the_hand_that_was_doubled_last(
    game: str, wager: str
) -> None:
    moves = (
        "decide 1 split, 1 split 1000 hand 2, deal 1 up 3h, decide 1 double_down, "
        "1 double_down 1000, deal 1 up Jh, deal 1.2 up 3d, decide 1.2 double_down, "
        "1 double_down 1000 hand 2, withdraw 1 double_down 400, deal 1.2 up Js"
    )
    found = of_21(game, wager, "8c 8s", moves)
    assert [line for line in found if line.startswith("1 double_down 1000 win +1000")]
    assert [line for line in found if line.startswith("1.2 double_down 600 win +600")]
    assert not [line for line in found if line.startswith("!")]
