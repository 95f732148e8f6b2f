"""Double Attack Blackjack, Chapter 665a: hands settled by hand from sections 7 to 12."""

from __future__ import annotations

import pytest

from tests.unit.games.attack import (
    BUST_IT_PAID,
    DEAL,
    DEALER,
    GAME,
    PAID,
    PLAYED,
    STAND,
    START,
    check,
    round_of,
)
from tests.unit.games.rounds import lines, ruling, text

WIN = "12(a) Bet and Double Attack Wager, 1 to 1"
BOTH = "bet 1000 / double_attack 600"


def test_665a_7_a_round_of_one_player_is_settled_and_paid() -> None:
    check(START + DEAL + STAND + DEALER + PAID, PLAYED)


SETTLED = """
    dealer      | player   | does                              | outcome | section
    6d Qh 8c    | Kc 9s    | decide 1 stand                    | win     | 12(a)
    9d 8h       | Kc 9s    | decide 1 stand                    | win     | 12(a)
    9d 9h       | Kc 8s    | decide 1 stand                    | push    | 7(o)(1)(iii)
    9d 9h       | Kc 7s    | decide 1 stand                    | lose    | 7(o)(1)(ii)(C)
    9d 9h       | 6c 5s    | decide 1 hit, deal 1 up Kd        | win     | 12(a)
    Ad 6h       | 8c 8s    | decide 1 stand                    | lose    | 7(o)(1)(ii)(C)
    Ad 6h       | Kc 7s    | decide 1 stand                    | push    | 7(o)(1)(iii)
    Ad 5h Kd Qc | Kc 7s    | decide 1 stand                    | win     | 12(a)
    Ad 5h Kd 4c | Kc 9s    | decide 1 stand                    | lose    | 7(o)(1)(ii)(C)
    9d 8h       | Kc 6s    | decide 1 hit, deal 1 up 9c        | lose    | 7(o)(1)(ii)(B)
    6d 5h Jc    | Ac Ks    | -                                 | win     | 12(a)
    Kd Ah       | Ac Qs    | -                                 | push    | 7(o)(1)(iii)
    Ad Kh       | Kc 9s    | -                                 | lose    | 7(o)(1)(ii)(A)
    Jd Ah       | Kc 9s    | -                                 | lose    | 7(o)(1)(ii)(A)
    9d 7h 5s    | Ac 9s    | decide 1 stand                    | lose    | 7(o)(1)(ii)(C)
    9d 7h 4s    | Ac 5s    | decide 1 hit, deal 1 up 4d, decide 1 stand | push | 7(o)(1)(iii)
    2d 2h 2c 2s Ad | Kc 8s | decide 1 stand                    | lose    | 7(o)(1)(ii)(C)
"""


@pytest.mark.parametrize("row", lines(SETTLED)[1:])
def test_665a_7_o_1_a_bet_wins_loses_or_ties_and_the_double_attack_with_it(row: str) -> None:
    dealer, player, does, outcome, section = (part.strip() for part in row.split("|"))
    script = round_of(dealer, player, "" if does == "-" else does, BOTH)
    found = text(ruling(script, GAME))
    # A Double Attack Wager goes back where the dealer alone has a Blackjack (7(o)(2)).
    again = ("push", "7(o)(2)") if section == "7(o)(1)(ii)(A)" else (outcome, section)
    expected = []
    for wager, cents, (how, where) in (
        ("bet", 1000, (outcome, section)),
        ("double_attack", 600, again),
    ):
        net = {"win": cents, "push": 0, "lose": -cents}[how]
        printed = f" {WIN[6:]}" if how == "win" else ""
        expected.append(f"1 {wager} {cents} {how} {net:+d} 665a.{where}{printed}")
    assert found == ["complete", *expected]


BUST_IT = """
    dealer      | outcome | net     | row
    8d 8d 8d    | win     | +100000 | 12(c) 8, 8, 8 of the same suit, 200 to 1
    8s 8c 8s    | win     | +25000  | 12(c) 8, 8, 8 of the same color, 50 to 1
    8d 8h 8d    | win     | +25000  | 12(c) 8, 8, 8 of the same color, 50 to 1
    8d 8s 8d    | win     | +4000   | 12(c) Is an 8, 8 to 1
    9d 7s 8d    | win     | +4000   | 12(c) Is an 8, 8 to 1
    8d 7d 8d    | win     | +4000   | 12(c) Is an 8, 8 to 1
    9c 7s 6d    | win     | +7500   | 12(c) Is a 6, 15 to 1
    9c 7s 7d    | win     | +5000   | 12(c) Is a 7, 10 to 1
    9c 7s 9d    | win     | +3000   | 12(c) Is a 9, 6 to 1
    9c 7s Jd    | win     | +1500   | 12(c) Is a king, queen or jack, 3 to 1
    9c 7s Qd    | win     | +1500   | 12(c) Is a king, queen or jack, 3 to 1
    9c 7s Kd    | win     | +1500   | 12(c) Is a king, queen or jack, 3 to 1
    9c 7s 5d    | lose    | -500    | 7(m)(2)(ii)
    9c 2s 5d Kc | lose    | -500    | 7(m)(2)(ii)
    Ac 5s Kd 8c | lose    | -500    | 7(m)(2)(ii)
    9c 8s       | lose    | -500    | 7(m)(1)
    Ac 6s       | lose    | -500    | 7(m)(1)
    Ac Ks       | lose    | -500    | 7(m)(1)
"""


@pytest.mark.parametrize("row", lines(BUST_IT)[1:])
def test_665a_7_m_bust_it_goes_by_the_dealers_third_card_and_8_8_8_pays_instead(row: str) -> None:
    dealer, outcome, net, paid = (part.strip() for part in row.split("|"))
    does = "" if dealer == "Ac Ks" else "decide 1 stand"
    script = round_of(dealer, "Kc 9s", does, "bet 1000 bust_it 500")
    assert f"1 bust_it 500 {outcome} {net} 665a.{paid}" in text(ruling(script, GAME))


def test_665a_7_m_bust_it_outlives_a_bust_a_surrender_and_a_blackjack() -> None:
    for player, does in (
        ("Kc 6s", "decide 1 hit, deal 1 up 9c"),
        ("Kc 6s", "decide 1 surrender, take 1 bet 500, back 1 bet 500"),
        ("Kc As", "pay 1 bet 1000"),
    ):
        script = round_of("6d Qh 8c", player, does, "bet 1000 bust_it 500")
        assert BUST_IT_PAID in text(ruling(script, GAME))
        # The dealer must turn and draw though no hand is left (7(l), 7(m)).
        cut = script.partition("\nshow dealer")[0]
        found = text(ruling(cut, GAME))
        assert found[0] == "awaiting"
        assert "> cards_turned dealer 665a.7(l)" in found
        cut = script.removesuffix("\ndeal dealer up 8c")
        assert "> cards_dealt dealer 665a.7(m)(2)" in text(ruling(cut, GAME))


def test_665a_7_l_a_dealer_who_turns_nothing_is_not_found_where_no_wager_goes_by_it() -> None:
    script = round_of("6d Qh 8c", "Kc 6s", "decide 1 hit, deal 1 up 9c")
    over = script.partition("show dealer")[0]
    lost = "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(B)"
    check(over + "take 1 bet 1000\n done", "complete\n" + lost)
    turned = over + "show dealer 1 Qh\n take 1 bet 1000\n done"
    check(turned, "complete\n" + lost)
    # The text still has him turn it, and draw.
    assert text(ruling(over, GAME), following=True)[-1] == "> cards_turned dealer 665a.7(l)"
    cut = over + "show dealer 1 Qh\n"
    assert text(ruling(cut, GAME), following=True)[-1] == "> cards_dealt dealer 665a.7(m)(2)"


def test_665a_7_o_1_ii_b_both_bust_loses_or_ties_by_the_reading() -> None:
    script = round_of("6d Qh 8c", "Kc 6s", "decide 1 hit, deal 1 up 9c", BOTH)
    check(
        script,
        """
        complete
        1 bet           1000 lose -1000 665a.7(o)(1)(ii)(B) [both_bust lose]
        1 double_attack  600 lose  -600 665a.7(o)(1)(ii)(B) [both_bust lose]
        """,
    )
    tie = {"readings": {"both_bust": "tie"}}
    check(
        script,
        """
        complete
        1 bet           1000 push +0 665a.7(o)(1)(iii) [both_bust tie]
        1 double_attack  600 push +0 665a.7(o)(1)(iii) [both_bust tie]
        """,
        filed=tie,
    )
    # The reading changes nothing else: a dealer of 17 to 21, and a player who did not bust.
    for dealer, player, does in (
        ("9d 8h", "Kc 6s", "decide 1 hit, deal 1 up 9c"),
        ("6d Qh 8c", "Kc 6s", "decide 1 stand"),
    ):
        script = round_of(dealer, player, does, BOTH)
        assert text(ruling(script, GAME, filed=tie)) == text(ruling(script, GAME, filed={}))
    # Under `tie` the dealer's hand matters, so it must be seen.
    cut = round_of("6d Qh", "Kc 6s", "decide 1 hit, deal 1 up 9c").partition("show dealer")[0]
    assert "! step_missing cards_turned / None 665a.7(l)" in text(
        ruling(cut + "done", GAME, filed=tie)
    )


def test_665a_7_o_1_ii_b_a_dealer_not_known_leaves_a_bust_open_where_both_bust_tie() -> None:
    does = "decide 1 hit, deal 1 up 9c"
    tie = {"readings": {"both_bust": "tie"}}
    for dealer in ("6d ?? 8c", "6d Qh ??"):
        script = round_of(dealer, "Kc 6s", does, BOTH) + "\ndone"
        found = text(ruling(script, GAME, filed=tie))
        assert found[0] == "awaiting"
        assert not [line for line in found if line.startswith("1 ")]
        assert found[-1] == "> wager_paid position 1 bet 665a.7(o)(1)"
        # If a hand in excess of 21 loses anyhow, his cards decide nothing.
        found = text(ruling(script, GAME, filed={"readings": {"both_bust": "lose"}}))
        assert "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(B)" in found
        assert "1 double_attack 600 lose -600 665a.7(o)(1)(ii)(B)" in found


def test_665a_8_insurance_pays_5_to_2_and_is_lost_once_the_hole_card_is_read() -> None:
    script = round_of("Ad Kh", "Kc 9s", "", BOTH)
    insured = script.replace("peek", "1 insurance 400\n peek")
    check(
        insured,
        """
        complete
        1 insurance      400 win  +1000 665a.12(b) Insurance Wager, 5 to 2
        1 bet           1000 lose -1000 665a.7(o)(1)(ii)(A)
        1 double_attack  600 push    +0 665a.7(o)(2)
        """,
    )
    script = round_of("Ad 9h", "Kc 9s", "decide 1 stand")
    lost = "1 insurance 400 lose -400 665a.8(d)"
    found = text(ruling(script.replace("peek", "1 insurance 400\n peek"), GAME))
    assert found[:2] == ["complete", lost]
    cut = script.replace("peek", "1 insurance 400\n peek").partition("decide")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == (
        "> wager_collected position 1 insurance 400 665a.8(d)"
    )


@pytest.mark.parametrize(
    ("bet", "cents", "unit", "allowed"),
    [
        (1000, 500, 1, True),
        (1000, 501, 1, False),
        (2500, 1500, 1, True),
        (2500, 1501, 1, False),
        (2500, 1250, 25, True),
        (2500, 1275, 25, False),
        (1500, 800, 100, True),
        (1500, 900, 100, False),
    ],
)
def test_665a_8_b_insurance_is_half_the_bet_or_the_next_chip(
    bet: int,
    cents: int,
    unit: int,
    allowed: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    script = round_of("Ad 9h", "Kc 9s", "decide 1 stand", f"bet {bet}")
    script = script.replace("peek", f"1 insurance {cents}\n peek")
    found = text(ruling(script, GAME, filed={"unit": unit}))
    assert ("! wager_not_permitted 1 insurance 665a.8(b)" in found) is not allowed


def test_665a_8_a_insurance_without_an_ace_goes_back() -> None:
    for up, hole in (("Kd", "Ah"), ("9d", "Kh")):
        script = round_of(f"{up} {hole}", "Kc 8s", "" if hole == "Ah" else "decide 1 stand")
        script = script.replace(f"deal dealer {hole}", f"deal dealer {hole}\n 1 insurance 400")
        found = text(ruling(script, GAME))
        assert "1 insurance 400 void +0 665a.8(a)" in found
        assert "! wager_not_permitted 1 insurance 665a.8(a)" in found


def test_665a_8_b_insurance_after_the_card_reader_is_late() -> None:
    script = round_of("Ad 9h", "Kc 9s", "decide 1 stand")
    found = text(ruling(script.replace("peek none", "peek none\n1 insurance 400"), GAME))
    assert "! late_wager 1 insurance 665a.8(b)" in found


@pytest.mark.parametrize(
    ("placed", "moved", "owed"),
    [
        ("/ 500", "back 500", "500 void +0 665a.8(b)"),
        ("/ 500", "", "500 win +1250 665a.12(b) Insurance Wager, 5 to 2"),
        ("/ 500", "pay 1250", "500 win +1250 665a.12(b) Insurance Wager, 5 to 2"),
        ("/ 500", "pay 1250, back 500", "500 win +1250 665a.12(b) Insurance Wager, 5 to 2"),
        ("300 / 200", "pay 750, back 200", "300 win +750 665a.12(b) Insurance Wager, 5 to 2"),
        ("300 / 200", "pay 1250", "500 win +1250 665a.12(b) Insurance Wager, 5 to 2"),
        ("300 / 200", "pay 1250, back 500", "500 win +1250 665a.12(b) Insurance Wager, 5 to 2"),
        ("500 /", "back 500", "500 win +1250 665a.12(b) Insurance Wager, 5 to 2"),
    ],
)
def test_665a_8_b_insurance_after_the_card_reader_that_went_back_is_no_wager(
    placed: str, moved: str, owed: str
) -> None:
    # `300 / 200`: 300 before the hole card is read, 200 after it.
    in_time, _, late = placed.partition("/")
    before, after = (f"1 insurance {c}\n" if c.strip() else "" for c in (in_time, late))
    script = round_of("Ad Kh", "Kc 9s", "").replace(
        "peek blackjack\n", f"{before}peek blackjack\n{after}"
    )
    for move in filter(None, moved.split(", ")):
        way, cents = move.split()
        script += f"\n{way} 1 insurance {cents}"
    found = text(ruling(script + "\ntake 1 bet 1000\ndone", GAME))
    assert f"1 insurance {owed}" in found
    assert ("! late_wager 1 insurance 665a.8(b)" in found) is bool(after)
    accused = ("! underpaid", "! overpaid", "! not_", "! wrongly_collected")
    # Nobody who gave back what came late, or paid what he kept, is accused.
    right = bool(moved) and (bool(after) or "pay" in moved)
    assert not right or not [line for line in found if line.startswith(accused)]


def test_665a_7_g_the_hole_card_is_read_on_an_ace_or_a_picture_alone() -> None:
    for up, next_ in (
        ("Ad", "hole_card_checked dealer 665a.7(g)"),
        ("Kd", "hole_card_checked dealer 665a.7(g)"),
        ("Qd", "hole_card_checked dealer 665a.7(g)"),
        ("Jd", "hole_card_checked dealer 665a.7(g)"),
        ("9d", "decision_made position 1 665a.7(h)(2)"),
        ("2d", "decision_made position 1 665a.7(h)(2)"),
    ):
        cut = f"start manual_shoe\n1 bet 1000\ndeal dealer up {up}\ndeal 1 up 2c 3c\ndeal dealer ??"
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {next_}"


def test_665a_7_f_what_comes_next_from_the_bets_to_the_hole_card() -> None:
    cut = "start manual_shoe\n"
    for fact, following in (
        ("", "wager_placed dealer bet 665a.6(d)"),
        ("1 bet 1000\n 2 bet 1000\n", "cards_dealt dealer 665a.7(e)"),
        ("deal dealer up 9d\n", "cards_dealt position 1 665a.7(f)(1)"),
        ("deal 1 up 2c\n", "cards_dealt position 2 665a.7(f)(1)"),
        ("deal 2 up 3c\n", "cards_dealt position 1 665a.7(f)(2)"),
        ("deal 1 up 5c\n", "cards_dealt position 2 665a.7(f)(2)"),
        ("deal 2 up 4c\n", "cards_dealt dealer 665a.7(f)(3)"),
        ("deal dealer 7s\n", "decision_made position 1 665a.7(h)(2)"),
        ("decide 1 hit\n", "cards_dealt position 1 665a.7(i)"),
        ("deal 1 up 6c\n", "decision_made position 1 665a.7(h)(2)"),
        ("decide 1 stand\n", "decision_made position 2 665a.7(h)(2)"),
        ("decide 2 double_down\n", "wager_placed position 2 double_down 665a.10(a)"),
        ("2 double_down 1000\n", "cards_dealt position 2 665a.10(a)"),
        ("deal 2 up 9s\n", "cards_turned dealer 665a.7(l)"),
        ("show dealer 1 7s\n", "cards_dealt dealer 665a.7(m)(2)"),
        ("deal dealer up Ac\n", "wager_collected position 2 bet 1000 665a.7(o)(1)(ii)(C)"),
        ("take 2 bet 1000\n", "wager_collected position 2 double_down 1000 665a.7(o)(1)(ii)(C)"),
        ("take 2 double_down 1000\n", "wager_collected position 1 bet 1000 665a.7(o)(1)(ii)(C)"),
        ("take 1 bet 1000\n", "round_completed dealer 665a.7(o)(1)(ii)(C)"),
    ):
        cut += fact
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}", cut


def test_665a_7_n_the_dealer_draws_to_any_17() -> None:
    cut = round_of("2d 2h 2c", "Kc 9s", "decide 1 stand") + "\n"
    for card in ("2s", "3d", "5c"):
        assert "> cards_dealt dealer 665a.7(n)" in text(ruling(cut, GAME))
        cut += f"deal dealer up {card}\n"
    assert text(ruling(cut + "deal dealer up Ad\n", GAME))[0] == "complete"  # a soft 17 stands
    over = cut + "deal dealer up Ad\n deal dealer up 2c\n"
    assert "! misdeal" in text(ruling(over, GAME))
