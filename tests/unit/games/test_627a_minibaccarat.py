"""Minibaccarat, Chapter 627a and the standard game: coups settled by hand from the text.

The chapter is printed in part. The rest is the standard game: even money on the Player's Hand, 19
to 20 on the Banker's, 8 to 1 on a tie, on which both hands push.
"""

from __future__ import annotations

import pytest

from tests.unit.games.coup import checker, coup
from tests.unit.games.rounds import lines, ruling, text

GAME = "minibaccarat"
check = checker(GAME)

START = """
    start manual_shoe
    1 player 1000
    2 banker 2000
    3 tie     500
    nomorebets
"""
PLAYER_WINS = """
    3 tie     500 lose  -500 627a.12
    2 banker 2000 lose -2000 627a.12
    1 player 1000 win  +1000 627a.12 Player's Hand, 1 to 1
"""
BANKER_WINS = """
    3 tie     500 lose  -500 627a.12
    2 banker 2000 win  +1900 627a.12 Banker's Hand, 19 to 20
    1 player 1000 lose -1000 627a.12
"""
TIE = """
    3 tie     500 win  +4000 627a.12 Tie, 8 to 1
    2 banker 2000 push    +0 627a.12 Tie, Push
    1 player 1000 push    +0 627a.12 Tie, Push
"""


@pytest.mark.parametrize(
    ("lost", "status"),
    [
        (("take 1",), "complete"),
        (("3 player", "take 3"), "complete"),
        (("3 player",), "complete"),
        (("nomorebets",), "awaiting"),
        (("deal player_hand up Ts",), "awaiting"),
        (("deal banker_hand up 9c",), "awaiting"),
    ],
)
def test_a_fact_lost_before_or_after_the_cards_moves_no_card_to_another_hand(
    lost: tuple[str, ...], status: str
) -> None:
    """One device sends cards and chips. The controls lose a card, or what may be the first."""
    script = "start manual_shoe\n1 player 1000\n3 player 4000\nnomorebets\n"
    script += coup("7d Ts", "9c Kh") + "\ntake 1 player 1000\ntake 3 player 4000\ndone"
    told = [f"{line} | by layout seq {nth}" for nth, line in enumerate(script.splitlines(), 1)]
    found = text(ruling("\n".join(line for line in told if not line.startswith(lost)), GAME))
    assert found[0].startswith(status)
    assert (PLAYER_LOSES in found) == (status == "complete")
    assert "fact_missing" in [line.split()[1] for line in found if line.startswith("!")]


PLAYER_LOSES = "1 player 1000 lose -1000 627a.12"

# Points: tens and faces 0, an ace 1; the last digit of the sum. With 8 or 9 in two cards nobody
# draws; the Player draws to 5; the Banker to 5 where the Player stood, else by the Player's third.
COUPS = """
    9c Kd       | 7h Ts       | player | a natural 9 beats 7, and nobody draws
    2c 3d       | 4h 4s       | banker | a natural 8 stands against 5, which would draw
    8c Kd       | 9h Ts       | banker | 9 beats a natural 8
    9c 9d       | 4h 4s       | tie    | two naturals of 8
    6c Kd       | 7h Ts       | banker | 6 and 7 stand
    7c Kd       | 7h Ts       | tie    | 7 and 7 stand
    6c Kd       | 5h Ts As    | tie    | the Player stands on 6, so the Banker draws to 5
    7c Kd       | Kh Ts 8s    | banker | the Player stands on 7, and the Banker draws to 0
    2c 3d 4h    | 7h Ts       | player | the Player draws to 5: 9, and 7 stands
    2c 3d Kh    | 3h Ks Qs    | player | 3 draws to a third card of 0
    2c 3d 8h    | 3h Ks       | tie    | 3 stands on a third card of 8, the Player has 3
    2c 3d 9h    | 3h Ks 2s    | banker | 3 draws to a third card of 9: 5 beats 4
    2c 2d As    | 4h Ks       | player | 4 stands on a third card of 1
    2c 2d 2s    | 4h Ks 4s    | banker | 4 draws to a third card of 2: 8 beats 6
    Kc 5d 3s    | 5h Ks       | player | 5 stands on a third card of 3: 8 beats 5
    Kc 5d 4s    | 5h Ks 4c    | tie    | 5 draws to a third card of 4
    Kc 5d 5s    | 6h Ks       | banker | 6 stands on a third card of 5
    Kc 5d 6s    | 6h Ks 3c    | banker | 6 draws to a third card of 6: 9 beats 1
    Kc 5d 7s    | 7h Ks       | banker | 7 stands whatever the Player drew
    Kc Ad 6s    | Kh 2s 4c    | player | 2 draws whatever the Player drew: 7 beats 6
"""


@pytest.mark.parametrize("row", lines(COUPS))
def test_627a_8_d_2_third_cards_are_those_the_standard_game_requires(row: str) -> None:
    player, banker, winner, _ = (part.strip() for part in row.split("|"))
    owed = {"player": PLAYER_WINS, "banker": BANKER_WINS, "tie": TIE}[winner]
    check(START + coup(player, banker), f"complete {owed}")
    whole = len(player.split()) + len(banker.split())
    if whole > 4:
        lacking = text(ruling(START + coup(player, banker).rsplit("\n", 1)[0], GAME))
        who = "banker_hand" if len(banker.split()) == 3 else "player_hand"
        assert lacking == ["awaiting", f"> cards_dealt {who} 627a.8(d)(2)"]


def test_627a_8_d_2_a_third_card_that_is_not_due_and_a_fourth_are_not_used() -> None:
    # 6 stands against 7. With 2 and 3 the Player draws one card, and 7 stands.
    stands = START + coup("6c Kd", "7h Ts") + "\n"
    draws = START + coup("2c 3d 4h", "7h Ts") + "\n"
    for hand in ("player_hand", "banker_hand"):
        owed = f"complete {BANKER_WINS}\n ! misdeal 2 / 3 627a.8(d)(2)"
        check(stands + f"deal {hand} up 9s", owed)
    owed = f"complete {PLAYER_WINS}\n ! misdeal 3 / 4 627a.8(d)(2)"
    check(draws + "deal player_hand up 9s", owed)
    check(START + coup("2c 3d", "7h Ts") + "\n deal player_hand up 4h 9s", owed)
    said = ruling(stands + "deal player_hand up 9s | id spare", GAME).findings[0]
    assert said.says == (
        "The player hand was dealt 3 cards and is due 2; no other is used (627a.8(d)(2))."
    )
    assert [fact.id for fact in said.facts] == ["spare"]


def test_627a_8_cards_dealt_as_stacks_are_the_same_cards() -> None:
    stacks = "deal player_hand up 2c 3d\n deal banker_hand up 3h Ks\n"
    thirds = "deal player_hand up 9h\n deal banker_hand up 2s"
    check(START + stacks + thirds, f"complete {BANKER_WINS}")


def test_627a_7_c_a_wager_after_no_more_bets_is_late_and_stays() -> None:
    script = START + "2 player 500 | at 20\n" + coup("9c Kd", "7h Ts")
    script = script.replace("deal player_hand up 9c", "deal player_hand up 9c | at 30", 1)
    check(
        script,
        """
        complete
        3 tie     500 lose  -500 627a.12
        2 player  500 win   +500 627a.12 Player's Hand, 1 to 1
        2 banker 2000 lose -2000 627a.12
        1 player 1000 win  +1000 627a.12 Player's Hand, 1 to 1
        ! late_wager 2 player 627a.7(c)
    """,
    )
    # Nothing was paid on one that was returned, and by no section was it owed.
    after = START + coup("9c Kd", "7h Ts") + "\n4 player 100000\n{}\npay 1 player 1000"
    refused = text(ruling(after.format("back 4 player 100000") + "\ndone", GAME))
    assert refused[:2] == ["complete", "4 player 100000 void +0 627a.7(c)"]
    assert "! late_wager 4 player 627a.7(c)" in refused
    assert not [line for line in refused if "paid 4" in line]
    accepted = text(ruling(after.format("pay 4 player 100000\nback 4 player 100000"), GAME))
    assert "4 player 100000 win +100000 627a.12 Player's Hand, 1 to 1" in accepted
    # What was added to a wager that lay there is with it.
    added = after.replace("4 player", "1 player").format("back 1 player 101000")
    assert "1 player 101000 win +101000" in " ".join(text(ruling(added, GAME)))
    back = START + "withdraw 1 player 1000 | at 20\n" + coup("9c Kd", "7h Ts")
    back = back.replace("deal player_hand up 9c", "deal player_hand up 9c | at 30", 1)
    check(back, f"complete {PLAYER_WINS} ! late_wager 1 player 627a.7(c)")
    # Put down again, they are the same chips; more of them are new.
    late = "\n! late_wager 1 player 627a.7(c)" * 2
    for cents in (1000, 400):
        again = back.replace("at 20\n", f"at 20\n1 player {cents} | at 21\n", 1)
        check(again, f"complete {PLAYER_WINS}{late}")
    more = text(ruling(back.replace("at 20\n", "at 20\n1 player 1500 | at 21\n", 1), GAME))
    assert "1 player 1500 win +1500" in " ".join(more)


# -- House Money -----------------------------------------------------------------------------------

HOUSE = """
    start manual_shoe
    1 player 1000
    1 house_money 500
    2 banker 2000
    2 house_money 500
    nomorebets
"""
NOT_WON = """
    2 house_money 500 lose  -500 627a.8(d)(1)
    1 house_money 500 lose  -500 627a.8(d)(1)
"""
ONE = """
    2 house_money 500 win  +1500 627a.12(g) Player or Banker Pair, 3 to 1
    1 house_money 500 win  +1500 627a.12(g) Player or Banker Pair, 3 to 1
"""
BOTH = """
    2 house_money 500 win  +7500 627a.12(g) Player and Banker Pair, 15 to 1
    1 house_money 500 win  +7500 627a.12(g) Player and Banker Pair, 15 to 1
"""
PAIRS = """
    Qc Qd 9h | 7h Ts    | one  | two queens, 0 and 9
    9c Kd    | 7h 7s As | one  | a pair of the Banker's alone; 4 draws nothing against a natural
    9c 9d    | 4h 4s    | both | one pair in each hand
    Kc Qd 9h | 7h Ts    | none | a king and a queen are no pair, though both count 0
    9c 9c    | Th 7h    | one  | a pair of one suit, of eight decks
    2c 3d 2h | 7h Ts    | none | a pair with the third card is none of the first two
"""


@pytest.mark.parametrize("row", lines(PAIRS))
def test_627a_7_a_7_house_money_goes_by_the_first_two_cards_of_either_hand(row: str) -> None:
    player, banker, pairs, _ = (part.strip() for part in row.split("|"))
    banker = "7h 7s" if banker == "7h 7s As" else banker
    found = text(ruling(HOUSE + coup(player, banker), GAME))
    owed = {"one": ONE, "both": BOTH, "none": NOT_WON}[pairs]
    assert found[0] == "complete"
    assert found[1:3] == lines(owed)
    assert not [line for line in found if line.startswith("!")]


# Two 3s are a pair of the Player's Hand, 6 points, which stands; the Banker has 7.
PAIRED = HOUSE + coup("3c 3d", "7h Ts") + "\n"
# Two 4s are a pair and a natural 8 of the Player's Hand.
NATURAL = HOUSE + coup("4c 4d", "7h Ts") + "\n"


def test_627a_8_d_1_i_a_payout_pressed_is_settled_with_the_wager_it_was_added_to() -> None:
    check(
        NATURAL + "pay 1 house_money 1500\n press 1 player 1500\n",
        f"""
        complete {ONE}
        2 banker 2000 lose -2000 627a.12
        1 player 2500 win  +2500 627a.12 Player's Hand, 1 to 1
    """,
    )
    check(
        PAIRED + "press 1 player 1500\n press 2 banker 1500\n",
        f"""
        complete {ONE}
        2 banker 3500 win  +3325 627a.12 Banker's Hand, 19 to 20
        1 player 2500 lose -2500 627a.12
    """,
    )


def test_627a_8_d_1_i_pressed_money_moves_without_a_wager_placed_and_is_paid_or_collected() -> None:
    script = (
        PAIRED
        + """
        pay 2 house_money 1500
        press 2 banker 1500
        pay 1 house_money 1500
        press 1 player 1500
    """
    )
    owed = f"""
        complete {ONE}
        2 banker 3500 win  +3325 627a.12 Banker's Hand, 19 to 20
        1 player 2500 lose -2500 627a.12
    """
    check(script + "pay 2 banker 3325\n take 1 player 2500\n done", owed)
    # As if nothing had been pressed.
    check(
        script + "pay 2 banker 1900\n take 1 player 1000\n done",
        owed
        + """
        ! underpaid 2 banker 3325 / 1900 627a.12
        ! not_collected 1 player 2500 / 1000 627a.12
    """,
    )


def test_627a_8_d_1_a_press_comes_before_the_third_cards_and_from_any_player_first() -> None:
    dealt = HOUSE + coup("2c 2d", "7h Ts") + "\n"
    owed = f"""
        complete {ONE}
        2 banker 3500 win  +3325 627a.12 Banker's Hand, 19 to 20
        1 player 2500 lose -2500 627a.12
    """
    for one, two in ((1, 2), (2, 1)):
        pressed = {1: "press 1 player 1500\n", 2: "press 2 banker 1500\n"}
        check(dealt + pressed[one] + pressed[two] + "deal player_hand up As", owed)
    late = "press 2 banker 1500\n deal player_hand up As\n press 1 player 1500"
    check(dealt + late, owed + "! out_of_turn 1 627a.8(d)(1)(i)")


def test_627a_8_d_1_i_no_more_is_pressed_than_was_won_and_only_onto_a_hand_wagered_on() -> None:
    check(
        NATURAL + "press 1 player 1600",
        f"""
        complete {ONE}
        2 banker 2000 lose -2000 627a.12
        1 player 2600 win  +2600 627a.12 Player's Hand, 1 to 1
        ! wager_not_permitted 1 player 627a.8(d)(1)(i)
    """,
    )
    check(
        NATURAL + "press 1 banker 1500",
        f"""
        complete {ONE}
        2 banker 2000 lose -2000 627a.12
        1 player 1000 win  +1000 627a.12 Player's Hand, 1 to 1
        1 banker 1500 lose -1500 627a.12
        ! wager_not_permitted 1 banker 627a.8(d)(1)(i)
    """,
    )
    lost = HOUSE + coup("9c Kd", "7h Ts") + "\n press 1 player 500"
    check(
        lost,
        f"""
        complete {NOT_WON}
        2 banker 2000 lose -2000 627a.12
        1 player 1500 win  +1500 627a.12 Player's Hand, 1 to 1
        ! wager_not_permitted 1 player 627a.8(d)(1)(i)
    """,
    )
    assert [f.id for f in ruling(lost + " | id it", GAME).findings[0].facts] == ["it"]
    said = [f.says for f in ruling(lost, GAME).findings]
    said += [f.says for f in ruling(NATURAL + "press 1 banker 1500", GAME).findings]
    cite = " (627a.8(d)(1)(i))."
    why = "$5.00 was pressed, but at most $0.00 may be"
    assert said[0] == f"Position 1's Player's Hand is not permitted: {why}{cite}"
    why = "he has no wager there that House Money may be added to"
    assert said[1:] == [f"Position 1's Banker's Hand is not permitted: {why}{cite}"]


BETS_BOTH = HOUSE.replace("2 banker", "1 banker").replace("2 house_money", "3 tie")


def test_627a_8_d_1_i_a_player_with_both_hands_may_divide_the_payout() -> None:
    script = BETS_BOTH + coup("4c 4d", "7h Ts") + "\n press 1 player 1000\n press 1 banker 500\n"
    owed = """
        complete
        1 house_money 500 win  +1500 627a.12(g) Player or Banker Pair, 3 to 1
        3 tie     500 lose  -500 627a.12
        1 player 2000 win  +2000 627a.12 Player's Hand, 1 to 1
        1 banker 2500 lose -2500 627a.12
    """
    check(script, owed)
    more = script.replace("banker 500\n", "banker 600\n")
    check(
        more,
        owed.replace("2500 lose -2500", "2600 lose -2600")
        + """
        ! wager_not_permitted 1 banker 627a.8(d)(1)(i)
    """,
    )


def test_627a_8_d_1_i_once_all_is_pressed_not_a_cent_more_is() -> None:
    script = BETS_BOTH + coup("4c 4d", "7h Ts") + "\n press 1 player 1500\n press 1 banker 1\n"
    assert text(ruling(script, GAME))[-1] == "! wager_not_permitted 1 banker 627a.8(d)(1)(i)"


def test_627a_8_d_1_i_the_stake_moves_too_under_press_includes_stake() -> None:
    script = NATURAL + "press 1 player {}"
    named = "[press_includes_stake true]"
    finding = "! wager_not_permitted 1 player 627a.8(d)(1)(i)"
    for amount, permitted, wager in ((1500, "", ""), (2000, "", named), (2100, finding, named)):
        stake = 1000 + amount
        check(
            script.format(amount),
            f"""
            complete {ONE}
            2 banker 2000 lose -2000 627a.12
            1 player {stake} win  +{stake} 627a.12 Player's Hand, 1 to 1 {wager}
            {permitted}
        """,
            filed={"readings": {"press_includes_stake": True}, "offers": ("house_money",)},
        )
        found = text(ruling(script.format(amount), GAME))
        assert (finding in found) is (amount > 1500)


def test_627a_8_d_1_i_a_press_without_an_amount_or_a_wager_is_of_all_that_was_won() -> None:
    decided = NATURAL + "decide 1 press"
    check(
        decided,
        f"""
        complete {ONE}
        2 banker 2000 lose -2000 627a.12
        1 player 2500 win  +2500 627a.12 Player's Hand, 1 to 1
    """,
    )


def test_627a_8_d_1_i_a_press_that_names_no_wager_goes_onto_the_first_he_has() -> None:
    both = BETS_BOTH + coup("4c 4d", "7h Ts") + "\n decide 1 press"
    assert "1 player 2500 win +2500 627a.12 Player's Hand, 1 to 1" in text(ruling(both, GAME))
    tie = HOUSE.replace("2 banker", "2 tie") + coup("9c 9d", "4h 4s") + "\n decide 2 press"
    found = text(ruling(tie, GAME))
    assert "2 player 7500 push +0 627a.12 Tie, Push" in found
    assert found[-1] == "! wager_not_permitted 2 player 627a.8(d)(1)(i)"


def test_627a_8_d_2_a_third_card_that_is_not_on_record_leaves_the_hands_open() -> None:
    for player, banker in (("2c 3d", "7h Ts"), ("6c Kd", "5h Ts")):
        found = text(ruling(START + coup(player, banker) + "\n done", GAME))
        assert found[0] == "awaiting"
        assert [line for line in found if line.startswith("!")] == [
            "! step_missing cards_dealt / None 627a.8(d)(2)"
        ]


def test_627a_12_the_wagers_of_one_player_are_settled_one_after_the_other() -> None:
    start = START.replace("2 banker", "1 banker").replace("3 tie ", "1 tie ")
    check(
        start + coup("9c Kd", "7h Ts"),
        """
        complete
        1 player 1000 win  +1000 627a.12 Player's Hand, 1 to 1
        1 banker 2000 lose -2000 627a.12
        1 tie     500 lose  -500 627a.12
    """,
    )


def test_627a_7_a_7_house_money_stands_where_it_is_offered() -> None:
    script = HOUSE + coup("3c 3d", "7h Ts")
    found = text(ruling(script, GAME, filed={"offers": ()}))
    assert [line for line in found if line.startswith("!")] == lines("""
        ! wager_not_permitted 1 house_money 627a.7(a)(7)
        ! wager_not_permitted 2 house_money 627a.7(a)(7)
    """)
