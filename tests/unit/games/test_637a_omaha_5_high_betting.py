"""Betting rounds of Poker, ruled by hand from 637a.19(g)-(j): who speaks, what goes in and back."""

from __future__ import annotations

import pytest

from tests.unit.games.card_room import (
    BOARD,
    FULL,
    HANDS,
    LIMPED,
    OFFERED,
    START,
    WON,
    board,
    dealt,
    next_of,
    ruled,
    shown,
)
from tests.unit.games.rounds import ruling, text

GAME = "omaha_5_high"


def test_637a_19_k_1_the_highest_hand_wins_what_all_put_in() -> None:
    ruled(GAME, START + HANDS + LIMPED + FULL + "pot 0 1 800\ndone", WON)


@pytest.mark.parametrize(
    ("opening", "first"),
    [
        ("1 blind 100\n", 2),
        ("1 blind 100\n2 blind 200\n", 3),
        ("1 blind 100\n2 blind 200\n3 blind 400\n", 4),
        ("1 blind 100\n2 blind 200\n3 straddle 400\n", 4),
        ("1 blind 100\n2 blind 200\n4 kill 400\n", 3),
        ("1 ante 50\n2 ante 50\n3 ante 50\n4 ante 50\n1 blind 100\n", 2),
        ("2 blind 200\n1 blind 100\n", 3),
    ],
)
def test_637a_19_g_the_player_left_of_the_blinds_or_of_the_straddle_speaks_first(
    opening: str, first: int
) -> None:
    script = START.partition("1 blind")[0] + opening + HANDS
    assert next_of(script) == f"> decision_made position {first} 637a.19(g)"


def test_637a_19_g_between_two_players_the_button_speaks_first_after_a_smaller_blind() -> None:
    start = "start 2\nstack 1 2000\nstack 2 2000\n"
    two = dealt("As Ad 2c 7d 9h", "Ks Kd 3c 7h 9s")
    assert next_of(f"{start}1 blind 200\n2 blind 100\n{two}").startswith(
        "> decision_made position 2"
    )
    assert next_of(f"{start}1 blind 100\n2 blind 200\n{two}").startswith(
        "> decision_made position 1"
    )


def test_637a_19_c_without_a_button_on_record_the_first_blind_is_left_of_it() -> None:
    script = START.replace("start 4", "start").replace("1 blind", "3 blind")
    script = script.replace("2 blind", "4 blind") + HANDS
    assert next_of(script) == "> decision_made position 1 637a.19(g)"


def test_637a_19_g_a_blind_and_a_straddle_may_raise_when_it_comes_back_to_them() -> None:
    script = START + "3 straddle 400\n" + HANDS + "act 4 call 400\nact 1 fold\nact 2 call 200\n"
    assert next_of(script) == "> decision_made position 3 637a.19(g)"
    raised = script + "act 3 raise 400\n"
    assert next_of(raised) == "> decision_made position 4 637a.19(g)"
    ruled(
        GAME,
        raised + "act 4 fold\nact 2 fold\nback 3 bet 400\npot 0 3 1300\ndone",
        """
        complete
        1 pot 100 lose -100 637a.19(g)
        2 pot 400 lose -400 637a.19(g)
        3 pot 400 win  +900 637a.19(g)
        4 pot 400 lose -400 637a.19(g)
        """,
    )


FOLDED = START + HANDS + "act 3 raise 600\nact 4 fold\nact 1 fold\nact 2 fold\n"


ALONE = """
    complete
    1 pot 100 lose -100 637a.19(g)
    2 pot 200 lose -200 637a.19(g)
    3 pot 200 win  +300 637a.19(g)
    4 pot   0 push   +0 637a.19(g)
"""


def test_637a_19_g_the_last_player_left_has_the_pot_and_what_nobody_met_goes_back() -> None:
    ruled(GAME, FOLDED + "back 3 bet 400\npot 0 3 500\ndone", ALONE)
    assert next_of(FOLDED) == "> wager_returned position 3 bet 400 637a.19(g)"


def test_637a_19_g_a_bet_that_nobody_met_and_that_stays_is_found() -> None:
    ruled(GAME, FOLDED + "pot 0 3 500\ndone", ALONE + "! not_returned 3 bet 400 / 0 637a.19(g)")
    ruled(
        GAME,
        FOLDED + "back 3 bet 300\npot 0 3 500\ndone",
        ALONE + "! not_returned 3 bet 400 / 300 637a.19(g)",
    )
    ruled(
        GAME,
        FOLDED + "back 3 bet 500\npot 0 3 500\ndone",
        ALONE + "! over_returned 3 bet 400 / 500 637a.19(g)",
    )


@pytest.mark.parametrize(
    ("act", "found"),
    [
        ("act 3 call 100", "! wager_not_permitted 3 call 637a.19(g)"),
        ("act 3 call 300", "! wager_not_permitted 3 call 637a.19(g)"),
        ("act 3 raise 200", "! wager_not_permitted 3 raise 637a.19(g)"),
        ("act 3 raise 30000", "! wager_not_permitted 3 raise 637a.19(g)"),
        ("act 3 check", "! decision_not_permitted 3 call, raise, fold / check 637a.19(g)"),
        ("act 3 bet 400", "! decision_not_permitted 3 call, raise, fold / bet 637a.19(g)"),
    ],
)
def test_637a_19_g_what_may_not_be_decided_or_put_in_is_found(act: str, found: str) -> None:
    said = text(ruling(START + HANDS + act, GAME, filed=OFFERED))
    assert found in said


@pytest.mark.parametrize("act", ["act 3 fold", "act 3 call 200", "act 3 raise 201", "act 3 call"])
def test_637a_19_g_a_player_may_fold_call_or_raise(act: str) -> None:
    said = text(ruling(START + HANDS + act, GAME, filed=OFFERED))
    assert [line for line in said if line.startswith("!")] == []


def test_637a_19_without_stacks_on_record_a_call_for_less_is_all_in() -> None:
    start = "\n".join(line for line in START.splitlines() if "stack" not in line) + "\n"
    bets = "act 3 call 150\nact 4 call 200\nact 1 call 100\nact 2 check\n"
    rest = board(*BOARD, between="act 1 check\nact 2 check\nact 4 check\n") + shown(1, 2, 3, 4)
    ruled(
        GAME,
        start + HANDS + bets + rest + "pot 0 1 600\npot 1 1 150\ndone",
        """
        complete
        1 pot 200 win  +550 637a.19(k)(1) Full house
        2 pot 200 lose -200 637a.19(k)
        3 pot 150 lose -150 637a.19(k)
        4 pot 200 lose -200 637a.19(k)
        """,
    )


def test_637a_19_g_a_player_out_of_turn_is_found() -> None:
    bets = "act 4 call 200\nact 3 call 200\nact 1 call 100\nact 2 check\n"
    script = START + HANDS + bets + FULL + "pot 0 1 800\ndone"
    ruled(GAME, script, WON + "! out_of_turn 3 637a.19(g)")


def test_637a_19_g_a_player_who_is_not_asked_is_found_and_his_hand_plays_on() -> None:
    bets = "act 3 call 200\nact 1 call 100\nact 2 check\n"
    rest = board(*BOARD, between="act 1 check\nact 2 check\nact 3 check\n") + shown(1, 2, 3)
    ruled(
        GAME,
        START + HANDS + bets + rest + "pot 0 1 600\ndone",
        WON.replace("600", "400").replace(
            "4 pot 200 lose -200 637a.19(k)", "4 pot 0 push +0 637a.19(g)"
        )
        + "! step_missing 4 decision_made / None 637a.19(g)",
    )


def test_637a_19_h_to_j_a_card_that_is_not_burned_is_found() -> None:
    script = START + HANDS + LIMPED + FULL.replace("burn\n", "", 1) + "pot 0 1 800\ndone"
    assert text(ruling(script, GAME, filed=OFFERED))[5:] == [
        "! step_missing card_burned / None 637a.19(j)",
        "! out_of_turn 637a.19(h)",
        "! out_of_turn 637a.19(i)",
    ]


def test_637a_19_g_whom_nobody_could_answer_may_check_and_need_not() -> None:
    """1, 3 and 4 are all in with calls of 200: the larger blind has nobody to bet against."""
    start = (
        START.replace("1 20000", "1 200").replace("3 20000", "3 200").replace("4 20000", "4 200")
    )
    bets = "act 3 call 200 allin\nact 4 call 200 allin\nact 1 call 100 allin\n"
    script = start + HANDS + bets
    rest = board(*BOARD, between="") + shown(1, 2, 3, 4) + "pot 0 1 800\ndone"
    assert next_of(script) == "> card_burned dealer 637a.19(h)"
    ruled(GAME, script + rest, WON)
    ruled(GAME, script + "act 2 check\n" + rest, WON)
    cards = board(*BOARD, between="").splitlines()
    for street in (number for number, line in enumerate(cards) if line.startswith("deal")):
        at_it = "\n".join([*cards[: street + 1], "act 2 check", *cards[street + 1 :]])
        ruled(GAME, script + rest.replace("\n".join(cards), at_it), WON)


def test_637a_19_d_blinds_and_antes_go_down_before_the_first_card() -> None:
    for wager, cents in (("blind", 200), ("ante", 100), ("straddle", 400)):
        posted = f"2 {wager} {cents}\n"
        start = START.replace("2 blind 200", "") + ("2 blind 200\n" if wager != "blind" else "")
        filed = {"filed": {"offers": ("ante", "straddle")}}
        late = text(ruling(start + HANDS + posted, GAME, **filed))  # type: ignore[arg-type]
        assert [line for line in late if "late" in line] == [f"! late_wager 2 {wager} 637a.19(d)"]
        back = f"withdraw 2 {wager} {cents}\n"
        for script in (start + posted + HANDS + back, start + posted + back + HANDS):
            found = text(ruling(script, GAME, **filed))  # type: ignore[arg-type]
            said = [line for line in found if line.startswith("! late_wager")]
            assert said == ([f"! late_wager 2 {wager} 637a.19(d)"] if script.endswith(back) else [])


def test_637a_19_k_a_pot_pushed_before_the_hands_are_shown_is_out_of_turn() -> None:
    early = FOLDED.replace("act 2 fold", "pot 0 3 500\nact 2 fold") + "back 3 bet 400\ndone"
    ruled(GAME, early, ALONE + "! out_of_turn 3 pot 637a.19(g)")


def test_637a_19_g_a_bet_that_goes_back_before_it_was_left_alone_is_out_of_turn() -> None:
    early = FOLDED.replace("act 2 fold", "back 3 bet 400\nact 2 fold") + "pot 0 3 500\ndone"
    ruled(GAME, early, ALONE + "! out_of_turn 3 bet 637a.19(g)")
    more = FOLDED + "back 3 bet 400\npot 0 3 500\nback 1 blind 100\ndone"
    ruled(GAME, more, ALONE + "! over_returned 1 blind 0 / 100")
