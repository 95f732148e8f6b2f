"""Betting of Poker at its edges: one chip more or less, one player more or less, one fact lost."""

from __future__ import annotations

import pytest

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
    crowded,
    dealt,
    next_of,
    ruled,
    shown,
)
from tests.unit.games.rounds import ruling, text
from tests.unit.games.test_637a_omaha_5_high_betting import ALONE, FOLDED
from tests.unit.games.test_637a_omaha_5_high_posted import FIXED
from tests.unit.games.test_637a_omaha_5_high_pots import OPEN, OUT_OF_TURN, less

GAME = "omaha_5_high"
FLOP = LIMPED + "burn\ndeal community up Ac Kc 6s\n"
TURN = FLOP + CHECKED + "burn\ndeal community up 6d\n"
FILED = {
    **OFFERED,
    "limits": {"blind_1": 100, "blind_2": 200, "blind_3": 400, "straddle": 400, "kill": 400},
}
NO_STACKS = "\n".join(line for line in START.splitlines() if "stack" not in line) + "\n"


def says(script: str, **filed: object) -> list[str]:
    """The findings of a script in words."""
    found = ruling(script, GAME, filed={**OFFERED, **filed}).findings
    return [each.says for each in found]


@pytest.mark.parametrize(
    ("opening", "why"),
    [
        ("1 blind 150\n2 blind 200", "1's Blind Bet (d) it is $1.50, not $1.00 or $2.00 or $4.00"),
        (
            "1 blind 100\n2 blind 200\n4 straddle 400",
            "4's Straddle Bet (e) only position 3, left of the blinds, may straddle, and once",
        ),
        ("1 blind 100\n2 blind 200\n4 kill 300", "4's Kill (b) it is $3.00, not $4.00"),
    ],
)
def test_637a_19_b_to_e_why_what_goes_down_is_not_permitted(opening: str, why: str) -> None:
    who, cite, reason = (part.strip() for part in why.replace(")", "(").split("("))
    (found,) = says(START.partition("1 blind")[0] + opening, **FILED)
    assert found == f"Position {who} is not permitted: {reason} (637a.19({cite}))."


def test_637a_19_d_a_third_blind_is_the_third_that_is_filed() -> None:
    assert says(START + "3 blind 400\n", **FILED) == []


def test_637a_19_b_d_how_many_play_and_who_posted_nothing_is_said_in_words() -> None:
    stacks = "".join(f"stack {seat} 2000\n" for seat in range(1, 10))
    assert says(f"start 9\n{stacks}1 blind 100\n") == [
        "Position 9's pot is not permitted: 8 players may take part (637a.19(b))."
    ]
    assert crowded(GAME, 8) == []
    script = START.replace("2 blind 200", "") + "deal 1 As"
    assert says(script, options={"blinds": 2}) == [
        "Position 2 posted no blind, though the cards were dealt (637a.19(d))."
    ]


@pytest.mark.parametrize(
    ("act", "filed", "why"),
    [
        ("act 3 raise 30000", {}, "it adds $300.00, but only $200.00 was left of the stack"),
        ("act 3 call 300", {}, "it adds $3.00, but a call takes $2.00"),
        ("act 3 raise 200", {}, "it adds $2.00, but a call takes $2.00"),
        ("act 3 raise 300", FIXED, "it raises by $1.00, but the filed limits allow $2.00"),
        (
            "act 3 raise 701",
            {"options": {"betting": "pot_limit"}},
            "it raises by $5.01, but the filed limits allow at most $5.00",
        ),
        (
            "act 3 raise 400\nact 4 raise 600\nact 1 raise 700\nact 2 raise 800",
            FIXED,
            "this betting round had its 3 raises already",
        ),
    ],
)
def test_637a_19_g_why_an_amount_is_not_permitted(
    act: str, filed: dict[str, object], why: str
) -> None:
    (found,) = says(START + HANDS + act, **filed)
    who, done = act.split()[-2:]
    assert found.endswith(f" is not permitted: {why} (637a.19(g))."), (who, done)


def test_637a_19_g_how_much_of_a_bet_that_nobody_met_went_back_is_said_of_its_fact() -> None:
    """The fact found fault with is the 16th of the record."""
    script = FOLDED + "back 3 bet 300\npot 0 3 500\ndone"
    (found,) = ruling(script, GAME, filed=OFFERED).findings
    whole = [line for line in script.splitlines() if line.strip()]
    assert found.says == (
        "Position 3 got back $3.00 of a bet; nobody met $4.00 of it (637a.19(g))."
    )
    assert [ref.id for ref in found.facts] == [str(whole.index("back 3 bet 300") + 1)]


@pytest.mark.parametrize(
    ("acts", "filed"),
    [
        # one chip of the pot limit is the least: 201 raises by one cent
        ("act 3 raise 201", {"options": {"betting": "pot_limit"}}),
        # nothing limits a raise where no limit is chosen, whatever bets are filed
        ("act 3 raise 800", {"limits": {"small_bet": 200, "big_bet": 400}}),
        # nor where fixed limits are chosen and none is filed
        ("act 3 raise 800", {"options": {"betting": "fixed_limit"}}),
        # calls are no raises: 1, 2 and 3 make three of them
        (
            "act 3 call 200\nact 4 call 200\nact 1 raise 300\nact 2 raise 400\nact 3 raise 600",
            FIXED,
        ),
        # nor is the first bet of a round
        (FLOP + "act 1 bet 200\nact 2 raise 400\nact 3 raise 600\nact 4 raise 800", FIXED),
        # the big bet is the one that is filed, or two small ones
        (TURN + "act 1 bet 500", {**FIXED, "limits": {"small_bet": 200, "big_bet": 500}}),
        (TURN + "act 1 bet 400", {**FIXED, "limits": {"small_bet": 200}}),
    ],
)
def test_637a_19_g_to_j_bets_that_what_is_filed_permits(
    acts: str, filed: dict[str, object]
) -> None:
    assert says(START + HANDS + acts, **filed) == []


# -- who speaks ----------------------------------------------------------------------------------


def test_637a_19_c_without_a_button_cards_are_dealt_from_the_first_blind_on() -> None:
    start = START.replace("start 4", "start").replace("1 blind", "3 blind")
    third, fourth, first, second = HANDS.splitlines(keepends=True)
    hands = [
        line[:5] + seat + line[6:]
        for line, seat in zip((third, fourth, first, second), "3412", strict=True)
    ]
    script = start.replace("2 blind", "4 blind") + "".join(hands)
    said = text(ruling(script, GAME, filed=OFFERED))
    assert said == ["awaiting", "> decision_made position 1 637a.19(g)"]


@pytest.mark.parametrize("begins", ["start 4", "start"])
def test_637a_19_g_where_nobody_posted_a_blind_position_1_is_left_of_the_button(
    begins: str,
) -> None:
    antes = "1 ante 50\n2 ante 50\n3 ante 50\n4 ante 50\n"
    script = START.partition("1 blind")[0].replace("start 4", begins) + antes + HANDS
    assert text(ruling(script, GAME, filed=OFFERED)) == [
        "awaiting",
        "! step_missing 1 blind wager_placed / None 637a.19(d)",
        "> decision_made position 1 637a.19(g)",
    ]


def test_637a_19_f_players_are_dealt_to_in_the_order_of_their_positions() -> None:
    script = "start 8\nstack 1 2000\nstack 8 2000\n1 blind 100\n"
    assert next_of(script) == "> cards_dealt position 1 637a.19(f)"


@pytest.mark.parametrize(
    ("blinds", "first"),
    [
        ("1 blind 100\n2 blind 200\n4 blind 200\n", 3),  # 4 is not left of 2
        ("2 blind 200\n", 3),  # 1 owed one
        ("2 blind 200\n3 blind 400\n", 4),
    ],
)
def test_637a_19_g_the_first_to_speak_is_left_of_the_last_blind_that_was_due(
    blinds: str, first: int
) -> None:
    script = START.partition("1 blind")[0] + blinds + HANDS
    assert next_of(script) == f"> decision_made position {first} 637a.19(g)"


TWO = dealt("As Ad 2c 7d 9h", "Ks Kd 3c 7h 9s")
HEADS_UP = "start 2\nstack 1 2000\nstack 2 2000\n"


def test_637a_19_g_between_two_players_equal_blinds_leave_the_first_word_to_the_left() -> None:
    script = f"{HEADS_UP}1 blind 200\n2 blind 200\n{TWO}"
    assert next_of(script) == "> decision_made position 1 637a.19(g)"


def test_637a_19_g_between_two_players_what_was_not_met_goes_back() -> None:
    script = f"{HEADS_UP}1 blind 100\n2 blind 200\n{TWO}act 1 raise 500\nact 2 fold\n"
    assert next_of(script) == "> wager_returned position 1 bet 400 637a.19(g)"


def test_637a_19_g_one_player_alone_has_what_he_posted() -> None:
    script = "start 1\nstack 1 200\n1 blind 100\ndeal 1 As Ad 2c 7d 9h\n"
    assert next_of(script) == "> pot_awarded position 1 100 637a.19(g)"


def test_637a_19_g_a_raise_of_the_least_chip_goes_back_where_nobody_meets_it() -> None:
    script = START + HANDS + "act 3 raise 201\nact 4 fold\nact 1 fold\nact 2 fold\n"
    assert next_of(script) == "> wager_returned position 3 bet 1 637a.19(g)"


def test_637a_19_h_a_bet_that_nobody_met_in_a_later_round_goes_back_whole() -> None:
    bets = "act 1 bet 400\nact 2 fold\nact 3 fold\nact 4 fold\n"
    script = START + HANDS + FLOP + bets + "back 1 bet 400\npot 0 1 800\ndone"
    ruled(
        GAME,
        script,
        """
        complete
        1 pot 200 win  +600 637a.19(h)
        2 pot 200 lose -200 637a.19(h)
        3 pot 200 lose -200 637a.19(h)
        4 pot 200 lose -200 637a.19(h)
        """,
    )


def test_637a_19_g_a_turn_that_was_passed_over_is_found_as_soon_as_it_is() -> None:
    script = START + HANDS + "act 4 call 200\nact 3 call 200\nact 1 fold\n"
    assert text(ruling(script, GAME, filed=OFFERED)) == [
        "awaiting",
        "! out_of_turn 3 637a.19(g)",
        "> decision_made position 2 637a.19(g)",
    ]


def test_637a_19_g_who_has_no_more_than_the_call_may_not_raise() -> None:
    script = START.replace("3 20000", "3 200") + HANDS + "act 3 raise 200"
    found = text(ruling(script, GAME, filed=OFFERED))[1]
    assert found == "! decision_not_permitted 3 call, fold / raise 637a.19(g)"


def test_637a_19_g_one_cent_to_call_is_still_a_call() -> None:
    """3, 4 and 1 are all in at 201: the larger blind has a cent to add, and nobody to raise."""
    start = (
        START.replace("1 20000", "1 201").replace("3 20000", "3 201").replace("4 20000", "4 201")
    )
    bets = "act 3 raise 201 allin\nact 4 call 201 allin\nact 1 call 101 allin\n"
    script = start + HANDS + bets
    assert next_of(script) == "> decision_made position 2 637a.19(g)"
    called = text(ruling(script + "act 2 call 1\n", GAME, filed=OFFERED))
    assert called == ["awaiting", "> card_burned dealer 637a.19(h)"]


# -- what is not on record -----------------------------------------------------------------------


def test_637a_19_g_a_call_without_an_amount_is_what_it_has_to_be() -> None:
    bets = "act 3 call\nact 4 call\nact 1 call\nact 2 check\n"
    rest = FULL + "pot 0 1 800\ndone"
    ruled(GAME, START + HANDS + bets + rest, WON)
    ruled(GAME, NO_STACKS + HANDS + bets + rest, WON)


def test_637a_19_g_a_call_without_an_amount_is_at_most_what_the_player_has() -> None:
    """Position 3 has 150 in all, and wins four times that with aces full."""
    hands = dealt("Qs Qd 4c 8d Td", "Ks Kd 3c 7h 9s", "As Ad 2c 7d 9h", "Js Jd 5c 8h Th")
    bets = "act 3 call\nact 4 call\nact 1 call\nact 2 check\n"
    checks = "act 1 check\nact 2 check\nact 4 check\n"
    rest = board(*BOARD, between=checks) + shown(1, 2, 3, 4) + "pot 0 3 600\npot 1 2 150\ndone"
    ruled(
        GAME,
        START.replace("3 20000", "3 150") + hands + bets + rest,
        """
        complete
        1 pot 200 lose -200 637a.19(k)
        2 pot 200 lose  -50 637a.19(k)(1) Full house
        3 pot 150 win  +450 637a.19(k)(1) Full house
        4 pot 200 lose -200 637a.19(k)
        """,
    )


def test_637a_19_g_a_raise_without_an_amount_leaves_the_pots_open() -> None:
    script = START + HANDS + "act 3 raise\nact 4 fold\nact 1 fold\nact 2 fold\n"
    said = text(ruling(script + "pot 0 3 300\ndone", GAME, filed=OFFERED))
    assert said == ["awaiting", "> decision_made position 3 637a.19(g)"]


def test_637a_20_h_who_was_not_asked_and_draws_later_is_still_in() -> None:
    hands = dealt("Kc Kd 4h 3s 2c", "8d 6c 4s 3h 2d", "Qc Qd Jh Js Tc", "Ac Ad Th Ts 9c")
    bets = "act 3 call 200\nact 1 call 100\nact 2 check\n"
    draws = "burn\ndraw 1\ndraw 2\ndraw 3\ndraw 4 9c\n"
    found = next_of(START + hands + bets + draws, "triple_draw_2_7")
    assert found == "> cards_dealt position 4 637a.20(h)"


RIVER = FULL.rpartition("act 4 check\n")[0]
"""All but the last check, which position 4 owed, and the showdown."""
NOT_ASKED = "! step_missing 4 decision_made / None 637a.19(j)"


@pytest.mark.parametrize("does", ["hand 4", "muck 4"])
def test_637a_19_j_who_was_not_asked_and_shows_or_mucks_later_is_still_in(does: str) -> None:
    script = START + HANDS + LIMPED + RIVER + f"hand 1\nhand 2\nhand 3\n{does}\npot 0 1 800\ndone"
    ruled(GAME, script, WON + NOT_ASKED)


def test_637a_19_j_who_was_not_asked_and_has_the_pot_is_still_in() -> None:
    script = START + HANDS + LIMPED + RIVER + "muck 1\nmuck 2\nmuck 3\npot 0 4 800\ndone"
    ruled(
        GAME,
        script,
        f"""
        complete
        1 pot 200 lose -200 637a.19(k)
        2 pot 200 lose -200 637a.19(k)
        3 pot 200 lose -200 637a.19(k)
        4 pot 200 win  +600 637a.19(j)
        {NOT_ASKED}
        """,
    )


@pytest.mark.parametrize(
    ("acts", "following"),
    [
        ("act 3 bet 400\n", "position 4 637a.19(g)"),
        (FLOP + "act 1 raise 200\n", "position 2 637a.19(h)"),
    ],
)
def test_637a_19_g_where_facts_were_lost_a_bet_or_a_raise_is_taken_for_what_it_is_called(
    acts: str, following: str
) -> None:
    """Whether another bet came before it is not on record."""
    found = less(START + HANDS + acts, "stack 2 20000")
    assert found == ["awaiting", f"> decision_made {following}"]


def test_637a_19_g_where_the_first_to_speak_was_lost_who_spoke_first_on_record_did() -> None:
    """Three fold, so nobody asks the fourth; 500 were pushed, and 300 are on record."""
    script = FOLDED + "back 3 bet 400\npot 0 3 500\ndone"
    assert less(script, "act 3 raise 600") == OPEN


def test_637a_19_g_a_call_that_was_lost_is_what_the_pots_wait_for() -> None:
    script = START + HANDS + OUT_OF_TURN + FULL + "pot 0 1 800\ndone"
    assert less(script, "act 4 call 200") == ["awaiting", "> decision_made position 4 637a.19(g)"]


def test_637a_19_g_a_bet_that_went_back_leaves_the_pots_open_only_where_it_is_unlike() -> None:
    right = FOLDED + "back 3 bet 400\npot 0 3 500\ndone"
    assert (
        less(right, "stack 4 20000") == [" ".join(line.split()) for line in ALONE.split("\n")][1:-1]
    )
    wrong = right.replace("bet 400", "bet 300")
    assert less(wrong, "stack 4 20000") == ["awaiting", "> decision_made position 3 637a.19(g)"]
