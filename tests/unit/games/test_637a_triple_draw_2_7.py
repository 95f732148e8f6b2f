"""Triple Draw 2-7: draws, the short stub and hands settled from 637a.20(f)-(k)."""

from __future__ import annotations

import pytest

from tests.unit.games.card_room import (
    LIMPED,
    OFFERED,
    PAT,
    START,
    crowded,
    dealt,
    drawn,
    duel,
    next_of,
    options,
    pat,
    ruled,
    shown,
    won,
)
from tests.unit.games.rounds import lines, printed, ruling, text

GAME = "triple_draw_2_7"
EQUIVALENT = {"SHARES: 'low' -> 'lowx'": "a pot that is not divided is pushed without a name"}
EDGES = ""
FAVOURABLE: dict[str, set[str]] = {}
LATER = {"ante", "blind", "straddle", "kill"}
"""Everything goes into pots, which players win of one another: no wager has an edge."""

LOSES = "pot 200 lose -200 637a.20(k)"
WINS = "pot 200 win +200 637a.20(k)(3)"


def test_637a_20_what_the_section_prints_and_leaves_open() -> None:
    assert printed(GAME) == lines("""
        ante     20(b) Ante (optional)
        blind    20(d) Blind Bet
        straddle 20(e) Straddle Bet (optional)
        kill     20(b) Kill (optional)
        odd_chip 20(k)(2): first_left_of_button
        wrong_card_count 20(f): void
        cards_face_up    20(f): void
        card_missing     20(f): void
    """)
    assert options(GAME) == lines("""
        betting 20(g): no_limit, pot_limit, fixed_limit
        blinds  20(d): 1, 2, 3
        raises  20(h): any, 3, 4, 5
    """)


def test_637a_20_b_seven_players_may_take_part_and_no_more() -> None:
    assert crowded(GAME, 7) == []
    assert crowded(GAME, 8) == ["! wager_not_permitted 8 pot 637a.20(b)"]


@pytest.mark.parametrize(
    ("best", "other"),
    [
        ("7c 5d 4h 3s 2c", "7d 6c 4c 3h 2d"),  # (ii) 7-5-4-3-2 is the best
        ("Kc 9d 8h 7s 3c", "5c 4d 3h 2s Ac"),  # (i) an ace is high only, so that is ace-high
        ("Ac Kd Qh Js 9c", "2c 2d 3h 4s 5d"),  # no pair before a pair
        ("2c 2d 3h 4s 5d", "6c 5h 4d 3s 2h"),  # (iii) a straight counts against the hand
        ("2c 2d 3s 4s 5d", "7h 5h 4h 3h 2h"),  # (iii) and so does a flush
        ("8c 6d 4h 3s 2c", "8d 6c 5c 3h 2d"),
        ("Td 9c 4h 3s 2c", "Tc 9d 5c 3h 2d"),
    ],
)
def test_637a_20_k_3_the_lowest_hand_wins_counted_from_the_highest_card(
    best: str, other: str
) -> None:
    assert won(duel(best, other, PAT), GAME) == [f"1 {WINS}", f"2 {LOSES}"]
    assert won(duel(other, best, PAT), GAME) == [f"1 {LOSES}", f"2 {WINS}"]


TIED = duel("8c 6d 4h 3s 2c", "8d 6c 4s 3h 2d", PAT, opening="3 ante 100\n")


def test_637a_20_k_2_tied_hands_divide_the_pot_and_the_odd_chip_is_left_of_the_button() -> None:
    reading = "[odd_chip first_left_of_button]"
    assert won(TIED, GAME, filed={**OFFERED, "unit": 100}) == lines(f"""
        1 pot 200 win  +100 637a.20(k)(2) {reading}
        2 pot 200 push   +0 637a.20(k)(2) {reading}
    """)
    moved = TIED.replace("start 4", "start 1").replace("1 blind 100", "1 blind 200")
    moved = moved.replace("2 blind 200", "2 blind 100").replace("act 1 call 100\n", "")
    moved = moved.replace("act 2 check\n", "act 2 call 100\nact 1 check\n", 1)
    moved = moved.replace("act 1 check\nact 2 check", "act 2 check\nact 1 check")
    said = text(ruling(moved, GAME, filed={**OFFERED, "unit": 100}))
    assert [line for line in said if reading in line] == lines(f"""
        2 pot 200 win  +100 637a.20(k)(2) {reading}
        1 pot 200 push   +0 637a.20(k)(2) {reading}
    """)


def test_637a_20_k_2_of_an_excess_above_a_dollar_each_has_a_part() -> None:
    """Three tie for 1,100 in chips of $1: 300 each, and 200 over go to two of them."""
    script = (
        START
        + "4 ante 500\n"
        + dealt("8c 6d 4h 3s 2c", "8d 6c 4s 3h 2d", "8h 6s 4c 3d 2h", "?? ?? ?? ?? ??")
        + "act 3 call 200\nact 4 fold\nact 1 call 100\nact 2 check\n"
        + (drawn("-", "-", "-") + "act 1 check\nact 2 check\nact 3 check\n") * 3
        + shown(1, 2, 3)
    )
    said = text(ruling(script, GAME, filed={**OFFERED, "unit": 100}))
    assert [line.split()[4] for line in said[1:4]] == ["+200", "+200", "+100"]


def test_637a_20_h_discards_are_replaced_and_the_new_hand_plays() -> None:
    """Position 1 draws to 7-5-4-3-2 in three draws; 2 stands pat on 8-6-4-3-2 and loses."""
    script = (
        duel("Kc Kd 4h 3s 2c", "8d 6c 4s 3h 2d", "").partition("hand 1")[0]
        + drawn("Kc Kd > Qc 7d", "-")
        + "act 1 check\nact 2 check\n"
        + drawn("Qc > Jc", "-")
        + "act 1 check\nact 2 bet 400\nact 1 call 400\n"
        + drawn("Jc > 5h", "-")
        + "act 1 check\nact 2 check\n"
        + "hand 1 2c 3s 4h 5h 7d\nhand 2\npot 0 1 1200\n"
    )
    assert won(script + "done", GAME) == lines("""
        1 pot 600 win  +600 637a.20(k)(3)
        2 pot 600 lose -600 637a.20(k)
    """)
    exchanged = script.replace("draw 1 Kc Kd", "exchange 1 Kc Kd").replace(
        "draw 1 Qc", "exchange 1 Qc"
    )
    assert won(exchanged + "done", GAME)[0] == "1 pot 600 win +600 637a.20(k)(3)"
    both = script.replace("draw 1 Kc Kd", "draw 1 Kc Kd\nexchange 1 Kc Kd")
    assert won(both + "done", GAME)[0] == "1 pot 600 win +600 637a.20(k)(3)"


def test_637a_20_f_to_k_a_record_cut_anywhere_says_what_comes_next() -> None:
    script = duel("Kc Kd 4h 3s 2c", "8d 6c 4s 3h 2d", "").partition("hand 1")[0]
    for cut in """
                        > card_burned dealer 637a.20(h)
        burn            > decision_made position 1 637a.20(h)
        draw 1 Kc Kd    > cards_dealt position 1 637a.20(h)
        deal 1 Qc       > cards_dealt position 1 637a.20(h)
        deal 1 7d       > decision_made position 2 637a.20(h)
        draw 2          > decision_made position 1 637a.20(h)
        act 1 check     > decision_made position 2 637a.20(h)
        act 2 bet 400   > decision_made position 1 637a.20(h)
        act 1 call 400  > card_burned dealer 637a.20(i)
        burn            > decision_made position 1 637a.20(i)
        draw 1          > decision_made position 2 637a.20(i)
        draw 2 8d       > cards_dealt position 2 637a.20(i)
        deal 2 7h       > decision_made position 1 637a.20(i)
        act 1 check     > decision_made position 2 637a.20(i)
        act 2 check     > card_burned dealer 637a.20(j)
        burn            > decision_made position 1 637a.20(j)
        draw 1          > decision_made position 2 637a.20(j)
        draw 2          > decision_made position 1 637a.20(j)
        act 1 check     > decision_made position 2 637a.20(j)
        act 2 check     > hand_shown position 1 637a.20(k)
        hand 1          > hand_shown position 2 637a.20(k)
        hand 2          > pot_awarded position 2 1200 637a.20(k)(3)
    """.strip("\n").splitlines()[:-1]:
        line, _, expected = cut.partition(">")
        script += f"{line.strip()}\n"
        assert next_of(script, GAME) == f"> {' '.join(expected.split())}", line


def test_637a_20_h_a_card_discarded_that_was_not_held_is_found() -> None:
    script = duel("Kc Kd 4h 3s 2c", "8d 6c 4s 3h 2d", "").partition("hand 1")[0]
    said = text(ruling(script + "burn\ndraw 1 Qs\n", GAME, filed=OFFERED))
    assert [line for line in said if line[0] == "!"] == ["! card_mismatch 1 None / Qs 637a.20(h)"]


def test_637a_20_h_a_hand_drawn_to_unseen_is_the_one_shown() -> None:
    script = (
        duel("Kc Kd 4h 3s 2c", "8d 6c 4s 3h 2d", "").partition("hand 1")[0]
        + drawn("?? ?? > ?? ??", "-")
        + "act 1 check\nact 2 check\n"
        + pat(2) * 2
    )
    said = won(script + "hand 1 2c 3s 4h 5h 7d\nhand 2\n", GAME)
    assert said == [f"1 {WINS}", f"2 {LOSES}"]
    assert next_of(script + "hand 1\nhand 2\n", GAME).startswith("> round_completed")
    assert text(ruling(script + "hand 1\nhand 2\n", GAME, filed=OFFERED))[0] == "awaiting"


# Four hands of five and a burn leave 31; draws of 5, 5, 5, 5 leave 11, and the next burn 10.
WIDE = (
    START
    + dealt("2c 3c 4c 5c 6c", "7c 8c 9c Tc Jc", "2d 3d 4d 5d 6d", "7d 8d 9d Td Jd")
    + LIMPED
    + drawn(
        "2c 3c 4c 5c 6c > 2h 3h 4h 5h 6h",
        "7c 8c 9c Tc Jc > 7h 8h 9h Th Jh",
        "2d 3d 4d 5d 6d > 2s 3s 4s 5s 6s",
        "7d 8d 9d Td Jd > 7s 8s 9s Ts Js",
    )
    + "act 1 check\nact 2 check\nact 3 check\nact 4 check\n"
    + "burn Ac\ndraw 1 2h 3h 4h 5h 6h\ndeal 1 Qc Qd Qh Qs Kc\n"
    + "draw 2 7h 8h 9h Th Jh\ndeal 2 Kd Kh Ks Ad Ah\ndraw 3 2s 3s 4s 5s 6s\n"
)


def test_637a_20_h_where_the_stub_is_short_the_discards_of_others_are_reshuffled() -> None:
    assert next_of(WIDE, GAME) == "> discards_reshuffled dealer 637a.20(h)".replace("(h)", "(i)")
    dealt_on = WIDE + "reshuffle 3\ndeal 3 2c 3c 4c 5c 7c\n"
    assert next_of(dealt_on, GAME) == "> decision_made position 4 637a.20(i)"
    said = text(ruling(dealt_on, GAME, filed=OFFERED))
    assert not [line for line in said if line.startswith("!")]


def test_637a_20_h_never_the_drawers_own_discards() -> None:
    own = text(ruling(WIDE + "reshuffle 3\ndeal 3 2s 3c 4c 5c 7c\n", GAME, filed=OFFERED))
    assert "! duplicate_card 3 None / 2s" in own
    kept = text(ruling(WIDE + "reshuffle 2\ndeal 3 2c 3c 4c 5c 7c\n", GAME, filed=OFFERED))
    assert "! step_missing 3 except 3 / except 2 637a.20(i)" in kept


def test_637a_20_h_a_draw_from_a_short_stub_without_a_reshuffle_is_found() -> None:
    said = text(ruling(WIDE + "deal 3 Kc 3c 4c 5c 7c\ndraw 4\n", GAME, filed=OFFERED))
    assert "! step_missing discards_reshuffled / None 637a.20(i)" in said
    assert "! duplicate_card 1 None / Kc" in said


def test_637a_20_h_cards_on_the_table_twice_before_a_reshuffle_are_found_after_it() -> None:
    twice = WIDE.replace("deal 2 7h", "deal 2 2h").replace("draw 2 7h", "draw 2 2h")
    said = text(ruling(twice + "reshuffle 3\ndeal 3 2c 3c 4c 5c 7c\n", GAME, filed=OFFERED))
    assert [line for line in said if line[0] == "!"] == ["! duplicate_card 1 None / 2h"]


def test_637a_20_h_a_hand_given_up_is_among_the_discards() -> None:
    """Position 4 folds behind a bet, so his cards may come again, and are no duplicates."""
    bets = "act 1 bet 200\nact 2 call 200\nact 3 call 200\nact 4 fold\n"
    checks = "act 1 check\nact 2 check\nact 3 check\nact 4 check\n"
    script = WIDE.replace(checks, bets) + "reshuffle 3\ndeal 3 7s 8s 9s Ts Js\n"
    said = text(ruling(script, GAME, filed=OFFERED))
    assert said == ["awaiting", "> decision_made position 1 637a.20(i)"]


def test_637a_20_where_facts_were_lost_nothing_raises_and_nothing_false_is_found() -> None:
    """Every line of a round lost in turn, with the gap that its device's counter shows."""
    script = (
        duel("Kc Kd 4h 3s 2c", "8d 6c 4s 3h 2d", "").partition("hand 1")[0]
        + drawn("Kc Kd > Qc 7d", "-")
        + "act 1 check\nact 2 check\n"
        + drawn("Qc > Jc", "-")
        + "act 1 check\nact 2 bet 400\nact 1 call 400\n"
        + drawn("Jc > 5h", "8d > Ah")
        + "act 1 check\nact 2 check\n"
        + "hand 1 2c 3s 4h 5h 7d\nhand 2 6c 4s 3h 2d Ah\npot 0 1 1200\ndone"
    )
    whole = [line.strip() for line in script.splitlines() if line.strip()]
    numbered = [f"{line} | seq {number}" for number, line in enumerate(whole, 1)]
    for index in range(1, len(numbered) - 1):
        said = text(
            ruling("\n".join([*numbered[:index], *numbered[index + 1 :]]), GAME, filed=OFFERED)
        )
        found = [line for line in said if line.startswith("!")]
        assert len(found) == 1, (whole[index], found)


def test_637a_20_f_a_void_round_gives_the_blinds_back() -> None:
    ruled(
        GAME,
        "start 2\n1 blind 100\n2 blind 200\ncall card_missing\n"
        "back 1 pot 100\nback 2 pot 200\nvoid",
        "void\n1 pot 100 void +0 637a.20(f)\n2 pot 200 void +0 637a.20(f)",
    )
