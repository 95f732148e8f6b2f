"""Who wins what of the pots, settled from 637a.19-21(k); and what the cases of Poker answer for."""

from __future__ import annotations

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
    drawn,
    ruled,
    shown,
)
from tests.unit.games.rounds import lines, ruling, text

GAME = "omaha_5_high"

SHARED = (
    "ledger/rules/poker/pots.py",
    "ledger/rules/poker/betting.py",
    "ledger/rules/poker/rounds.py",
)
"""Modules of all Poker whose mutants the cases of this game, and of those beside it, answer for."""

CHANCE = ("legal_amounts", "_CHIP", "decision_weights")
"""What chance bets."""

BESIDE = ("omaha_5_hi_lo", "badeucey", "triple_draw_2_7", "badugi")

MUTANTS_LEAST = 750

ALONE = "one hand is left, so the first is the last"
NEVER_OVER = "an equal part leaves less than a chip for each, so nothing is over after the round"
WAITS = "what is open is named in `unsettled`, and a round that waits is not asked for its stakes"
A_SET = "it is asked whether a name is one of these"
IN_ORDER = "the order of options is told in a finding, and where facts were lost there is none"
ALWAYS = "every fact of these kinds has it"
BY_CHANCE = "where no stack is on record, chance alone has one to tell"
UNKNOWN = "how much was raised is not known: the pots stay open, whoever is asked next"
NO_LIMIT = "every raise is one cent at least, and where there is no most, none is too much"
NO_STEP = "where facts were lost, cards that are dealt are taken as they come, as no step of play"

CHOSEN = "CHOICES: ('check', 'call', 'bet', 'raise', 'fold') -> "

EQUIVALENT = {
    "SHARES: 'high' -> 'highx'": "a pot that is not divided is pushed without a name",
    "DOLLAR: 100 -> 101": "only a chip of $1.01 would tell it",
    "settle: 0 -> -1": ALONE,
    "_forget_turns: ('decision_made', 'cards_dealt') -> ('decision_made',)": NO_STEP,
    "_forget_turns: ('decision_made', 'cards_dealt') -> ('cards_dealt', 'decision_made')": NO_STEP,
    "_forget_turns: 'cards_dealt' -> 'cards_dealtx'": NO_STEP,
    "_leave_open: ring.t.stakes.pop((seat, POT, 1), None) -> pass": WAITS,
    "_leave_open: (seat, POT, 1) -> (POT, 1)": WAITS,
    "_leave_open: (seat, POT, 1) -> (seat, 1)": WAITS,
    "_leave_open: (seat, POT, 1) -> (seat, POT)": WAITS,
    "_leave_open: (seat, POT, 1) -> (POT, seat, 1)": WAITS,
    "_leave_open: (seat, POT, 1) -> (seat, 1, POT)": WAITS,
    "_leave_open: 1 -> 2": WAITS,
    "_leave_open: 1 -> 0": WAITS,
    "_leave_open: 'pot_awarded' -> 'pot_awardedx'": "the hand that is not known is asked for first",
    "_divide: 0 -> 1": "every player who ties is given a part of what is over, be it nothing",
    "_divide: 0 -> -1": "every player who ties is given a part of what is over, be it nothing",
    "_handed_out: odd[tied[0]] += over -> pass": NEVER_OVER,
    "_handed_out: 0 -> -1": NEVER_OVER,
    "_handed_out: Add -> Sub": NEVER_OVER,
    "OPENING: (ANTE, BLIND, STRADDLE, KILL) -> (BLIND, ANTE, STRADDLE, KILL)": A_SET,
    "OPENING: (ANTE, BLIND, STRADDLE, KILL) -> (ANTE, STRADDLE, BLIND, KILL)": A_SET,
    "OPENING: (ANTE, BLIND, STRADDLE, KILL) -> (ANTE, BLIND, KILL, STRADDLE)": A_SET,
    CHOSEN + "('call', 'check', 'bet', 'raise', 'fold')": A_SET,
    CHOSEN + "('check', 'bet', 'call', 'raise', 'fold')": A_SET,
    CHOSEN + "('check', 'call', 'raise', 'bet', 'fold')": A_SET,
    CHOSEN + "('check', 'call', 'bet', 'fold', 'raise')": A_SET,
    "opened: 0 -> 1": "what is placed before the deal has its amount",
    "opened: 0 -> -1": "what is placed before the deal has its amount",
    "opened: '' -> 'x'": ALWAYS,
    "opened: 0 -> -1 #2": "no position is below 1",
    "_stacks: 1 -> 2": BY_CHANCE,
    "_stacks: 1 -> 0": BY_CHANCE,
    "_stacks: Add -> Sub": BY_CHANCE,
    "_stacks: 1 -> 2 #2": BY_CHANCE,
    "_stacks: 1 -> 0 #2": BY_CHANCE,
    "next_round: 0 -> 1 #3": "in a later round nothing is posted: the bets are the bound",
    "_bet: ('check',) -> () #2": "he may check and need not: no other decision of his answers it",
    "_respond: (*options, 'bet', 'raise') -> ('bet', *options, 'raise')": IN_ORDER,
    "_respond: (*options, 'bet', 'raise') -> (*options, 'raise', 'bet')": IN_ORDER,
    "_respond: (*options, 'bet', 'raise') -> ('bet', *options, 'raise') #2": IN_ORDER,
    "_respond: (*options, 'bet', 'raise') -> (*options, 'raise', 'bet') #2": IN_ORDER,
    "_unheard: ..('decision_made', 'hand_shown', 'hand_mucked', 'pot_awarded' -> "
    "..('hand_shown', 'decision_made', 'hand_mucked', 'pot_awarded'": A_SET,
    "_unheard: ..cision_made', 'hand_shown', 'hand_mucked', 'pot_awarded') -> "
    "..cision_made', 'hand_mucked', 'hand_shown', 'pot_awarded')": A_SET,
    "_unheard: ..de', 'hand_shown', 'hand_mucked', 'pot_awarded') -> "
    "..de', 'hand_shown', 'pot_awarded', 'hand_mucked')": A_SET,
    "_unheard: 0 -> 1": ALWAYS,
    "_unheard: 0 -> -1": ALWAYS,
    "_chips: min(due, due if had is None else had) if called else 0 -> "
    "min(due, due if had is None else had)": UNKNOWN,
    "_chips: 0 -> 1": UNKNOWN,
    "_chips: 0 -> -1": UNKNOWN,
    "_chips: 0 -> 1 #2": "only a bet of one cent would tell it",
    "_wrong: Lt -> LtE": "a call of what is due was permitted just before",
    "_too_much: 0 -> 1": NO_LIMIT,
    "_too_much: 0 -> -1": NO_LIMIT,
    "limits: 1 -> 0": NO_LIMIT,
    "limits: 1 -> 0 #2": NO_LIMIT,
    "_unmet: 0 -> 1 #2": ALWAYS,
    "_unmet: 0 -> -1 #2": ALWAYS,
    "_unmet: Lt -> LtE #2": "they differ, or nothing is found",
    "omaha: (FLOP, TURN, RIVER) -> (FLOP, RIVER, TURN)": "the turn and the river are a card each",
    "omaha: True -> False": "there are three of both",
    "omaha: 'up' -> 'upx'": "which way up a card is to be dealt is for chance; a record says it",
}
"""Mutants that change nothing, and why."""


def less(script: str, *gone: str, game: str = GAME, **filed: object) -> list[str]:
    """The ruling of a script less these lines, with the gap that its device's counter shows."""
    whole = [line.strip() for line in script.splitlines() if line.strip()]
    numbered = [f"{line} | seq {number}" for number, line in enumerate(whole, 1)]
    kept = [each for each, line in zip(numbered, whole, strict=True) if line not in gone]
    assert len(kept) == len(whole) - len(gone)
    said = text(ruling("\n".join(kept), game, filed={**OFFERED, **filed}))
    assert any(line.startswith("! fact_missing") for line in said)
    return [line for line in said if not line.startswith("! fact_missing")]


OPEN = ["awaiting", "> hand_shown position 1 637a.19(k)"]


def test_637a_19_b_an_ante_that_one_player_posts_makes_no_pot_of_its_own() -> None:
    """He is not all in, and nor are the others: aces full win the 100 as well."""
    ante = START + "4 ante 100\n" + HANDS + LIMPED + FULL + "pot 0 1 900\ndone"
    ruled(
        GAME,
        ante,
        """
        complete
        1 pot 200 win  +700 637a.19(k)(1) Full house
        2 pot 200 lose -200 637a.19(k)
        3 pot 200 lose -200 637a.19(k)
        4 pot 300 lose -300 637a.19(k)
        """,
    )


def test_637a_19_b_what_a_folded_player_put_in_beyond_all_others_is_in_the_last_pot() -> None:
    """Three have 200 in all; 4 posted an Ante of 300 and folded. All 900 are theirs to win."""
    short = (
        START.replace("1 20000", "1 200").replace("2 20000", "2 200").replace("3 20000", "3 200")
    )
    bets = "act 3 call 200 allin\nact 4 fold\nact 1 call 100 allin\n"
    rest = board(*BOARD, between="") + shown(1, 2, 3) + "pot 0 1 900\ndone"
    ruled(
        GAME,
        short + "4 ante 300\n" + HANDS + bets + rest,
        """
        complete
        1 pot 200 win  +700 637a.19(k)(1) Full house
        2 pot 200 lose -200 637a.19(k)
        3 pot 200 lose -200 637a.19(k)
        4 pot 300 lose -300 637a.19(g)
        """,
    )


def test_637a_19_g_where_no_decision_fits_what_is_asked_for_next_cites_nothing_unprinted() -> None:
    """A blind was lost and position 3 may not check: no later step is known to be due."""
    found = less(START + HANDS + "act 3 check", "1 blind 100")
    assert found == ["awaiting", "> round_completed dealer"]


def test_637a_19_k_an_award_of_chips_that_are_not_on_record_leaves_the_pots_open() -> None:
    """An Ante of 100 was lost, and 900 were pushed: nobody knows whose the 100 were."""
    script = START + "4 ante 100\n" + HANDS + LIMPED + FULL + "pot 0 1 900\ndone"
    assert less(script, "4 ante 100") == OPEN


def test_637a_19_j_a_decision_that_play_has_no_place_for_leaves_the_pots_open() -> None:
    """A bet and the award of the pot were lost: three players folded to something."""
    bets = "act 1 check\nact 2 bet 500\nact 3 fold\nact 4 fold\nact 1 fold\nback 2 bet 500\n"
    river = f"burn\ndeal community up {BOARD[2]}\n"
    script = START + HANDS + LIMPED + board(*BOARD).rpartition("burn")[0] + river + bets
    said = less(script + "pot 0 2 800\ndone", "act 2 bet 500", "pot 0 2 800")
    assert said == OPEN


OUT_OF_TURN = "act 4 call 200\nact 3 call 200\nact 1 call 100\nact 2 check\n"


def test_637a_19_g_turns_are_judged_though_the_cards_are_not_known() -> None:
    unread = dealt(*["?? ?? ?? ?? ??"] * 4)
    ruled(
        GAME,
        START + unread + OUT_OF_TURN + FULL + "done",
        "awaiting\n! out_of_turn 3 637a.19(g)\n> hand_shown position 1 637a.19(k)",
    )


def test_637a_19_g_where_a_blind_was_lost_nothing_is_said_of_turns() -> None:
    """Who had to speak first goes by the blinds, and one of them is not on record."""
    script = START + HANDS + OUT_OF_TURN + FULL + "pot 0 1 800\ndone"
    said = less(script, "2 blind 200")
    assert said == ["awaiting", "> decision_made position 2 637a.19(g)"]
    assert less(script, "1 blind 100") == ["awaiting", "> decision_made position 1 637a.19(g)"]


def test_637a_19_k_2_where_a_call_was_lost_no_half_of_the_pot_is_judged() -> None:
    """Position 3 has acted later, so the call was made, of an amount that is not on record."""
    hands = dealt("Ad 3c Tc Jc Qd", "Ac 3d Th Jd Qh", "Ks 8h 9c 9h Ts", "?? ?? ?? ?? ??")
    checks = "act 1 check\nact 2 check\nact 3 check\n"
    script = (
        START
        + hands
        + "act 3 call 200\nact 4 fold\nact 1 call 100\nact 2 check\n"
        + board("2c 5d 8s", "Kh", "Kd", between=checks)
        + shown(1, 2, 3)
        + "pot 0 3 300 high\npot 0 1 150 low\npot 0 2 150 low\ndone"
    )
    said = less(script, "act 3 call 200", game="omaha_5_hi_lo")
    assert said[0] == "awaiting"
    assert not [line for line in said if line.startswith("!")]


THREE = (
    START
    + "4 ante 250\n"
    + dealt("8c 6d 4h 3s 2c", "8d 6c 4s 3h 2d", "8h 6s 4c 3d 2h", "?? ?? ?? ?? ??")
    + "act 3 call 200\nact 4 fold\nact 1 call 100\nact 2 check\n"
    + (drawn("-", "-", "-") + "act 1 check\nact 2 check\nact 3 check\n") * 3
    + shown(1, 2, 3)
)
"""Three equal lows, and 850 in the pot."""


def test_637a_20_k_2_an_excess_of_one_dollar_is_given_to_one_player() -> None:
    """In chips of 50 each has 250, and the 100 that are over go to one as two chips."""
    said = text(ruling(THREE, "triple_draw_2_7", filed={**OFFERED, "unit": 50}))
    assert said[1:5] == lines("""
        1 pot 200 win +150 637a.20(k)(2) [odd_chip first_left_of_button]
        2 pot 200 win  +50 637a.20(k)(2) [odd_chip first_left_of_button]
        3 pot 200 win  +50 637a.20(k)(2) [odd_chip first_left_of_button]
        4 pot 250 lose -250 637a.20(g)
    """)


def test_637a_19_k_1_who_wins_alone_has_what_no_chip_is_for_too_and_no_reading_is_asked() -> None:
    """850 in chips of 100: nothing is divided."""
    script = START + "4 ante 50\n" + HANDS + LIMPED + FULL + "pot 0 1 850\ndone"
    expected = WON.replace("+600", "+650").replace("4 pot 200 lose -200", "4 pot 250 lose -250")
    ruled(GAME, script, expected, filed={**OFFERED, "unit": 100})
