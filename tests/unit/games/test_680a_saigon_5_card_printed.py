"""Saigon 5 Card: what contract tests need to know of it, and what only chance looks at."""

from __future__ import annotations

from tests.unit.games.rounds import ruling, text
from tests.unit.games.saigon import DAY, DEALER, GAME, NO_DEALER, dealt, one_hand, told
from tests.unit.games.spy import asked

A_SET = "the order of names or sections looked up in it decides nothing"

EQUIVALENT = {
    "GAME: (*DECK, JOKER) -> (JOKER, *DECK)": A_SET,
    "PUSHED: ('11(d)(1)(i)', '11(d)(2)(ii)(C)') -> ('11(d)(2)(ii)(C)', '11(d)(1)(i)')": A_SET,
    "_by_reading: And -> Or": "both hands are known where readings are asked about",
    "_compared: Gt -> GtE": "equal counts are decided before",
    "_counted: 0 -> -1": "no count is as low, and none is told of",
    "_counted: 0 -> 1": "no lower count competes, and none is told of",
    "_settle: 0 -> -1": "either position of one player names him",
    "_settle: 3 -> 2": "which cards of a hand that was not set are turned first is not said",
    "_settle: 3 -> 4": "which cards of a hand that was not set are turned first is not said",
    "_settle_pot: True -> False #2": "there are as many shares as winners",
    "play: '' -> 'x'": "no way of dealing has either name",
    "play: '7(c)' -> '7(d)'": "the source is not told the section of the wagers it looks for",
    "play: ('ante', 'pot', 'bonus') -> ('ante', 'bonus', 'pot')": A_SET,
    "play: ('ante', 'pot', 'bonus') -> ('pot', 'ante', 'bonus')": A_SET,
}
"""Mutants that change nothing, and why."""

EDGES = "ante 1.9 bonus 12.8 pot 0.0"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE = {"dealer_joker=worst_for_dealer": {"ante"}}
"""Wagers that the player gains on, by reading: why the dealer's joker is his own to choose."""

FAVOURABLE_DEFAULT = {"pot": "players against players: the house keeps nothing of it (11(f))"}

LATER: set[str] = set()
"""No wager is made once cards are known."""


def test_680a_11_b_chance_sets_hands_as_the_section_says() -> None:
    steps = asked(dealt("Ks 3d Qs / Js 5s", DEALER), GAME)
    mine, his = (step for step in steps if step.fact == "hand_set" and not step.may)
    assert mine.ways
    assert his.ways
    both = [{"hands": {"qualifying": ("Ks", "Qs", "Js"), "showdown": ("3d", "5s")}}]
    assert list(mine.ways("hand_set")) == both
    face = {"hands": {"qualifying": ("Kc", "Qd", "Jh"), "showdown": ("3c", "4d")}}
    assert list(his.ways("hand_set")) == [face]
    steps = asked(dealt("As Ah 2s / 3d 4s", DEALER), GAME)
    other = next(step for step in steps if step.fact == "hand_set")
    assert other.ways
    assert list(other.ways("hand_set")) == [
        {"hands": {"qualifying": ("As", "Ah", "2s"), "showdown": ("3d", "4s")}}
    ]


def test_680a_11_d_1_ii_the_showdown_hand_is_revealed_where_the_three_qualify() -> None:
    cut = dealt("Ks Qs Js / 3d 5s", NO_DEALER) + "show 1 Ks Qs Js"
    found = text(ruling(cut, GAME, day=DAY), following=True)
    assert found[-1] == "> cards_turned position 1 680a.11(d)(1)(ii)"


def test_680a_6_a_4_a_players_joker_counts_what_is_highest() -> None:
    """With a 2 it counts 5, 8 or 1: 8 beats 7."""
    assert "1 ante 1000 win +1000" in told(one_hand("Ks Qs Js / Jk 2s", DEALER))[1]


def test_680a_11_b_a_setting_with_a_card_that_is_not_known_decides_nothing() -> None:
    for setting in ("qualifying ?? Qs Js showdown 3d 5s", "qualifying Ks Qs Js showdown 3d ??"):
        script = dealt("Ks Qs Js / 3d 5s", DEALER).replace(
            "qualifying Ks Qs Js showdown 3d 5s", setting
        )
        assert told(script + "show 1 Ks Qs Js 3d 5s")[0] == "awaiting"


def test_680a_11_c_1_the_words_of_a_dealers_hand_set_against_the_reading() -> None:
    script = dealt("Ks Qs Js / 3s 6s", "Kc Qd Jh Jk 2c")
    script += "set dealer qualifying Kc Qd Jk showdown Jh 2c\n show 1 Ks Qs Js 3s 6s"
    assert [found.says for found in ruling(script, GAME, day=DAY).findings] == [
        "The dealer's hand counts 8 by the reading in force, but was set otherwise."
    ]


def test_680a_11_c_1_a_settlement_names_every_reading_that_it_hangs_on() -> None:
    found = told(one_hand("Ks 2s Js / Qs 5s", "Kc Qd Jh Jk 2c"))
    both = "[dealer_joker, misset best_for_dealer, reset]"
    assert found[1] == f"1 ante 1000 lose -1000 680a.11(d)(2)(ii)(A) {both}"


def test_680a_11_b_1_a_hand_that_was_not_set_and_may_be_in_two_ways_is_open() -> None:
    """The joker makes 10 with 3 and 4, and leaves 4; or 20 with 5 and 9, and leaves 7."""
    script = dealt("Jk 3s 4s / 5d 9d", "Kc Qd Jh 3c 4d").replace(
        "set 1 qualifying Jk 3s 4s showdown 5d 9d", ""
    )
    assert told(script + "show 1 Jk 3s 4s 5d 9d\n done")[0] == "awaiting"


def test_680a_2_a_a_wager_where_there_is_no_position_goes_back_and_voids_nothing() -> None:
    hand = "Ks Qs Js / 3s 5s"
    for position in (0, 7):
        found = told(one_hand(hand, DEALER, more=f"{position} ante 700"))
        assert found == [
            "complete",
            f"{position} ante 700 void +0 680a.2(a)",
            *told(one_hand(hand, DEALER))[1:],
            f"! wager_not_permitted {position} ante 680a.2(a)",
        ]
