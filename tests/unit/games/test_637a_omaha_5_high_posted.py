"""What goes down before the cards, and what bets may come to: 637a.19(b)-(e), (g), (l)(3)."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.card_room import (
    BOARD,
    CHECKED,
    FULL,
    HANDS,
    LIMPED,
    OFFERED,
    START,
    WON,
    board,
    dealt,
    ruled,
    shown,
)
from tests.unit.games.rounds import ruling, text

GAME = "omaha_5_high"


def test_637a_19_d_a_blind_that_everybody_folds_to_stays_in_the_pot() -> None:
    ruled(
        GAME,
        START + HANDS + "act 3 fold\nact 4 fold\nact 1 fold\npot 0 2 300\ndone",
        """
        complete
        1 pot 100 lose -100 637a.19(g)
        2 pot 200 win  +100 637a.19(g)
        3 pot   0 push   +0 637a.19(g)
        4 pot   0 push   +0 637a.19(g)
        """,
    )


def test_637a_19_d_a_blind_may_be_all_a_player_has() -> None:
    """The larger blind has 150: of 700 put in he can win 3 x 150 and the 100 that 1 posted."""
    start = START.replace("2 20000", "2 150").replace("2 blind 200", "2 blind 150")
    hands = dealt("Ks Kd 3c 7h 9s", "As Ad 2c 7d 9h", "Qs Qd 4c 8d Td", "Js Jd 5c 8h Th")
    bets = "act 3 call 200\nact 4 call 200\nact 1 fold\n"
    after = "act 3 check\nact 4 check\n"
    ruled(
        GAME,
        start
        + hands
        + bets
        + board(*BOARD, between=after)
        + shown(2, 3, 4)
        + "pot 0 2 550\npot 1 3 100\ndone",
        """
        complete
        1 pot 100 lose -100 637a.19(g)
        2 pot 150 win  +400 637a.19(k)(1) Full house
        3 pot 200 lose -100 637a.19(k)(1) Two pair
        4 pot 200 lose -200 637a.19(k)
        """,
        filed={**OFFERED, "limits": {"blind_1": 100, "blind_2": 200}},
    )


FIXED = {
    **OFFERED,
    "options": {"betting": "fixed_limit", "raises": 3},
    "limits": {"small_bet": 200, "big_bet": 400, "kill": 400},
}


@pytest.mark.parametrize(
    ("acts", "found"),
    [
        ("act 3 raise 400", []),
        ("act 3 raise 600", ["! wager_not_permitted 3 raise 637a.19(g)"]),
        ("act 3 raise 300", ["! wager_not_permitted 3 raise 637a.19(g)"]),
        (LIMPED + "burn\ndeal community up Ac Kc 6s\nact 1 bet 200", []),
        (
            LIMPED + "burn\ndeal community up Ac Kc 6s\nact 1 bet 400",
            ["! wager_not_permitted 1 bet 637a.19(h)"],
        ),
        (
            LIMPED + "burn\ndeal community up Ac Kc 6s\n" + CHECKED + "burn\n"
            "deal community up 6d\nact 1 bet 400",
            [],
        ),
        (
            LIMPED + "burn\ndeal community up Ac Kc 6s\n" + CHECKED + "burn\n"
            "deal community up 6d\nact 1 bet 200",
            ["! wager_not_permitted 1 bet 637a.19(i)"],
        ),
        ("act 3 raise 400\nact 4 raise 600\nact 1 raise 700", []),
        (
            "act 3 raise 400\nact 4 raise 600\nact 1 raise 700\nact 2 raise 800",
            ["! wager_not_permitted 2 raise 637a.19(g)"],
        ),
    ],
)
def test_637a_19_g_fixed_limits_and_the_number_of_raises_go_by_what_is_filed(
    acts: str, found: list[str]
) -> None:
    said = text(ruling(START + HANDS + acts, GAME, filed=FIXED))
    assert [line for line in said if line.startswith("!")] == found


def test_637a_19_l_3_in_a_kill_pot_bets_are_as_many_times_higher_as_is_filed() -> None:
    killed = START + "4 kill 400\n" + HANDS
    right = text(ruling(killed + "act 3 raise 800", GAME, filed=FIXED))
    wrong = text(ruling(killed + "act 3 raise 600", GAME, filed=FIXED))
    assert not [line for line in right if line.startswith("!")]
    assert "! wager_not_permitted 3 raise 637a.19(g)" in wrong


def test_637a_19_g_at_pot_limit_a_raise_is_at_most_the_pot_after_the_call() -> None:
    """300 in the pot, 200 to call: a raise by 500, so 700 in all."""
    filed = {**OFFERED, "options": {"betting": "pot_limit"}}
    right = text(ruling(START + HANDS + "act 3 raise 700", GAME, filed=filed))
    wrong = text(ruling(START + HANDS + "act 3 raise 701", GAME, filed=filed))
    assert not [line for line in right if line.startswith("!")]
    assert "! wager_not_permitted 3 raise 637a.19(g)" in wrong


@pytest.mark.parametrize(
    ("opening", "found"),
    [
        ("1 blind 100\n2 blind 200\n4 straddle 400", "4 straddle 637a.19(e)"),
        ("1 blind 100\n2 blind 200\n3 straddle 300", "3 straddle 637a.19(e)"),
        ("1 blind 150\n2 blind 200", "1 blind 637a.19(d)"),
        ("1 blind 100\n2 blind 200\n1 ante 5", "1 ante 637a.19(b)"),
        ("1 blind 100\n2 blind 200\n4 kill 300", "4 kill 637a.19(b)"),
    ],
)
def test_637a_19_b_to_e_what_goes_down_before_the_deal_is_as_filed(
    opening: str, found: str
) -> None:
    filed = {
        **OFFERED,
        "limits": {"ante": 10, "blind_1": 100, "blind_2": 200, "straddle": 400, "kill": 400},
    }
    script = START.partition("1 blind")[0] + opening
    assert f"! wager_not_permitted {found}" in text(ruling(script, GAME, filed=filed))
    assert not [line for line in text(ruling(START, GAME, filed=filed)) if line[0] == "!"]


def test_637a_19_b_e_an_ante_a_straddle_and_a_kill_stand_only_where_they_are_offered() -> None:
    script = START + "1 ante 10\n3 straddle 400\n4 kill 400\n"
    said = text(ruling(script, GAME, filed={"offers": ()}))
    assert [line for line in said if line.startswith("!")] == [
        "! wager_not_permitted 1 ante 637a.19(b)",
        "! wager_not_permitted 3 straddle 637a.19(e)",
        "! wager_not_permitted 4 kill 637a.19(b)",
    ]


def test_637a_19_d_a_blind_that_is_required_and_was_not_posted_is_found() -> None:
    script = START.replace("2 blind 200", "") + "deal 1 As"
    one = text(ruling(script, GAME, filed=OFFERED))
    two = text(ruling(script, GAME, filed={**OFFERED, "options": {"blinds": 2}}))
    assert not [line for line in one if line.startswith("!")]
    assert "! step_missing 2 blind wager_placed / None 637a.19(d)" in two


def test_637a_19_b_antes_are_in_the_pot_and_buy_no_part_of_a_bet() -> None:
    antes = "1 ante 50\n2 ante 50\n3 ante 50\n4 ante 50\n"
    expected = WON.replace("200", "250").replace("600", "750")
    ruled(GAME, START + antes + HANDS + LIMPED + FULL + "pot 0 1 1000\ndone", expected)


def test_637a_19_b_to_g_what_the_holder_files_and_where_the_button_begins_and_moves() -> None:
    game = adjudicate.games()[GAME]
    least = "ante blind_1 blind_2 blind_3 straddle kill small_bet big_bet"
    assert list(game.limits.items()) == [(name, 1) for name in least.split()]
    assert game.options[1].says == "How many Blind Bets must be made."
    assert game.rotation is not None
    assert game.rotation[:3] == ("button", ("19(c)(1)(i)", "19(c)(1)(ii)"), "19(c)(2)")
    (edition,) = game.editions
    assert (edition.chapter, edition.status) == ("637a", "proposed")
    assert edition.source == "Pa.B. Doc. No. 13-230, filed 2013-02-08"
