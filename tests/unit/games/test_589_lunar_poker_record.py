"""Lunar Poker, the record beside the rules: what comes next, what lacks, what was paid."""

from __future__ import annotations

import pytest

from tests.unit.games.lunar import GAME, NO_HAND, check, one_hand, opening, told
from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.spy import asked

PLAYED = """
    start automated_shoe
    1 ante 1000
    2 ante 1000
    2 super 500
    3 ante 500
    4 ante 1000
    nomorebets
    deal 1 Ts Td Kd 8c 4d
    deal 2 Ac Kc 9h 9s 3c
    deal 3 Jc Th 8h 4c 3d
    deal 4 As Jd 8d 5c 2s
    deal dealer Kh Qd 9c 7s 2h
    show dealer 4 2h
    1 bet 2000
    decide 2 declare
    show 2 Ac Kc 9h 9s 3c
    decide 2 sixth_card
    fee 2 options 1000 sixth_card
    fold 3
    decide 4 exchange 5c 2s
    fee 4 options 1000 exchange
    locked
    pay 2 super 3000
    deal 2 6c
    2 bet 2000
    take 3 ante 500
    rack 3
    exchange 4 5c 2s
    deal 4 Jh 6d
    4 bet 2000
    show dealer Kh Qd 9c 7s
    decide 1 force_dealer
    fee 1 options 1000 force_dealer
    back 2 bet 2000
    pay 2 ante 1000
    rack 2
    back 4 bet 2000
    pay 4 ante 1000
    rack 4
    exchange dealer Kh
    deal dealer up 9d
    show 1 Ts Td Kd 8c 4d
    back 1 ante 1000
    pay 1 bet 2000
    rack 1
    done
"""
NEXT = """
    start               > wager_placed dealer ante 589.7(c)(1)
    1 ante              > no_more_bets_called dealer 589.10(a)(2)
    2 ante              > no_more_bets_called dealer 589.10(a)(2)
    2 super             > no_more_bets_called dealer 589.10(a)(2)
    3 ante              > no_more_bets_called dealer 589.10(a)(2)
    4 ante              > no_more_bets_called dealer 589.10(a)(2)
    nomorebets          > cards_dealt position 1 589.10(b)
    deal 1              > cards_dealt position 2 589.10(b)
    deal 2              > cards_dealt position 3 589.10(b)
    deal 3              > cards_dealt position 4 589.10(b)
    deal 4              > cards_dealt dealer 589.10(b)
    deal dealer         > cards_turned dealer 589.10(b)
    show dealer 4       > wager_placed position 1 bet 589.11(b)(2)
    1 bet               > wager_placed position 2 bet 589.11(b)(2)
    decide 2 declare    > cards_turned position 2 589.11(b)(2)
    show 2              > wager_placed position 2 bet 589.11(b)(2)
    decide 2 sixth_card > fee_paid position 2 1000 589.11(b)(3)
    fee 2               > wager_placed position 3 bet 589.11(b)(2)
    fold 3              > wager_placed position 4 bet 589.11(b)(2)
    decide 4 exchange   > fee_paid position 4 1000 589.11(b)(3)
    fee 4               > decisions_locked_called dealer 589.11(c)
    locked              > wager_paid position 2 super 3000 589.12(b)
    pay 2 super         > cards_dealt position 2 589.11(d)(2)(i)(A)
    deal 2              > wager_placed position 2 bet 589.11(d)(2)(iii)
    2 bet               > wager_collected position 3 ante 500 589.11(d)(1)
    take 3 ante         > hand_discarded position 3 589.11(d)(1)
    rack 3              > cards_exchanged position 4 589.11(d)(2)(i)(B)
    exchange 4          > cards_dealt position 4 589.11(d)(2)(i)(B)
    deal 4              > wager_placed position 4 bet 589.11(d)(2)(iii)
    4 bet               > cards_turned dealer 589.11(e)
    show dealer         > wager_returned position 1 bet 2000 589.11(e)(2)(i)
    decide 1 force      > fee_paid position 1 1000 589.11(e)(2)(ii)
    fee 1               > wager_returned position 2 bet 2000 589.11(e)(2)(i)
    back 2 bet          > wager_paid position 2 ante 1000 589.12(d)
    pay 2 ante          > hand_discarded position 2 589.11(e)(2)(i)
    rack 2              > wager_returned position 4 bet 2000 589.11(e)(2)(i)
    back 4 bet          > wager_paid position 4 ante 1000 589.12(d)
    pay 4 ante          > hand_discarded position 4 589.11(e)(2)(i)
    rack 4              > cards_exchanged dealer 589.11(e)(2)(ii)
    exchange dealer     > cards_dealt dealer 589.11(e)(2)(ii)
    deal dealer         > cards_turned position 1 589.11(e)(2)(ii)(B)
    show 1              > wager_returned position 1 ante 1000 589.11(e)(2)(ii)(B)(II)
    back 1 ante         > wager_paid position 1 bet 2000 589.12(c)
    pay 1 bet           > hand_discarded position 1 589.11(f)
    rack 1              > round_completed dealer 589.11(f)
"""
SETTLED = """
    complete
    2 options 1000 lose -1000 589.11(b)(3)
    4 options 1000 lose -1000 589.11(b)(3)
    2 super    500 win  +3000 589.12(b) Ace-king, 6 to 1 [super_ace_king ace_king]
    3 ante     500 lose  -500 589.11(d)(1)
    1 options 1000 lose -1000 589.11(e)(2)(ii)
    2 bet     2000 push    +0 589.11(e)(2)(i)
    2 ante    1000 win  +1000 589.12(d) Ante Wager, 1 to 1
    4 bet     2000 push    +0 589.11(e)(2)(i)
    4 ante    1000 win  +1000 589.12(d) Ante Wager, 1 to 1
    1 ante    1000 push    +0 589.11(e)(2)(ii)(B)(II)
    1 bet     2000 win  +2000 589.12(c) One pair, 1 to 1
"""


def test_589_7_to_11_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    facts, following = lines(PLAYED), [line.split("> ")[1] for line in lines(NEXT)]
    assert len(facts) == len(following) + 1
    for count, expected in enumerate(following, 1):
        found = text(ruling("\n".join(facts[:count]), GAME), following=True)
        assert found[-1] == "> " + expected, facts[count - 1]
        assert not [line for line in found if line.startswith("!")], facts[count - 1]


def test_589_11_a_round_paid_as_it_was_owed_has_no_finding() -> None:
    check(PLAYED, SETTLED)


def test_589_11_e_2_ii_a_what_comes_next_where_the_forced_dealer_fails_or_wins() -> None:
    section = "589.11(e)(2)(ii)"
    script = one_hand("9s 9d Kd 8c 4d", NO_HAND).partition("show 1")[0]
    script += "decide 1 force_dealer\n fee 1 options 1000 force_dealer\n exchange dealer Kh\n"
    failed = [
        ("deal dealer 3d", f"cards_turned dealer {section}"),
        ("show dealer 4 3d", f"wager_returned position 1 ante 1000 {section}(A)"),
        ("back 1 ante 1000", f"wager_returned position 1 bet 2000 {section}(A)"),
        ("back 1 bet 2000", f"hand_discarded position 1 {section}(A)"),
        ("rack 1", f"round_completed dealer {section}(A)"),
    ]
    won = [
        ("deal dealer up Qs", f"cards_turned position 1 {section}(B)"),
        ("show 1 9s 9d Kd 8c 4d", f"wager_collected position 1 ante 1000 {section}(B)(I)"),
        ("take 1 ante 1000", f"wager_collected position 1 bet 2000 {section}(B)(I)"),
        ("take 1 bet 2000", f"hand_discarded position 1 {section}(B)(I)"),
    ]
    for steps in (failed, won):
        cut = script
        for fact, following in steps:
            cut += fact + "\n"
            assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}", fact


def test_589_11_c_1_ii_a_what_comes_next_of_a_hand_that_is_paid_at_once() -> None:
    cut = opening("5c 6c 7c 8c 9c", NO_HAND) + "decide 1 declare\n show 1 5c 6c 7c 8c 9c\n"
    for fact, following in (
        ("", "decisions_locked_called dealer 589.11(c)"),
        ("locked", "wager_paid position 1 instant 500000 589.12(a)"),
        ("pay 1 instant 500000", "wager_returned position 1 ante 1000 589.11(c)(1)(i)"),
        ("back 1 ante 1000", "hand_discarded position 1 589.11(c)(1)(ii)(A)"),
        ("rack 1", "round_completed dealer 589.11(c)(1)(ii)(A)"),
    ):
        cut += fact + "\n"
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}", fact


def test_589_11_c_2_ii_a_hand_declared_once_decisions_are_locked_is_shown_then() -> None:
    cut = opening("Ac Kd Qs 4c 2d", NO_HAND, more="1 super 500") + "fold 1\n locked\n"
    found = text(ruling(cut + "decide 1 declare", GAME), following=True)
    assert found[-1] == "> cards_turned position 1 589.11(c)(2)(ii)"


def test_589_11_e_1_hands_that_are_compared_are_turned() -> None:
    script = one_hand("Ts Td 8h 4c 3d", "Ah Kd 9c 7s 2h").partition("show 1")[0] + "done"
    assert "! step_missing 1 cards_turned / None 589.11(e)(1)" in told(script)


def test_589_11_b_who_decides_first_is_not_out_of_turn_at_any_fact() -> None:
    """Position 3 folds before position 1 bets, in two parts with another's Bet between them."""
    head, _, rest = PLAYED.partition("    1 bet 2000\n")
    rest = rest.replace("    fold 3\n", "")
    first = text(ruling(head + "fold 3", GAME), following=True)
    assert first == ["awaiting", "> wager_placed position 1 bet 589.11(b)(2)"]
    parts = "fold 3\n 1 bet 1000\n decide 4 exchange 5c 2s\n 1 bet 1000\n"
    check(head + parts + rest.replace("    decide 4 exchange 5c 2s\n", ""), swapped_fees())


def swapped_fees() -> str:
    """The fees stand in the order in which the players decided."""
    status, two, four, *others = lines(SETTLED)
    return "\n".join([status, four, two, *others])


def test_589_11_b_a_clock_that_is_off_is_found_though_players_decide_in_any_order() -> None:
    """The layout's clock is 12 s behind: its Bets seem to come before all decisions."""
    bet = PLAYED.replace("    decide 4 exchange 5c 2s\n    fee 4 options 1000 exchange\n", "")
    bet = bet.replace("    exchange 4 5c 2s\n    deal 4 Jh 6d\n", "")
    first, _, rest = bet.partition("    locked")
    late = rest.replace("    4 bet 2000\n", "", 1)
    told_by = []
    for second, line in enumerate(lines(first + "4 bet 2000\nlocked" + late), 20):
        device = "layout" if line[0].isdigit() else "dealer"
        told_by.append(f"{line} | by {device} at {second - 12 * (device == 'layout')}")
    found = told("\n".join(told_by))
    assert [line.split()[:2] for line in found if line.startswith("!")] == [["!", "clock_skewed"]]


DEALT = """
    start           call     deal
    manual_shoe     8(b)     8(c)
    hand            9(a)(3)  9(b)
    automated_shoe  10(a)(2) 10(b)
"""


def test_589_8_9_10_each_way_of_dealing_goes_by_its_own_section() -> None:
    for row in lines(DEALT)[1:]:
        way, call, deal = row.split()
        cut = f"start {way}\n1 ante 10\n2 ante 10\n"
        steps = [
            ("", f"no_more_bets_called dealer 589.{call}"),
            ("nomorebets\n", f"cards_dealt position 1 589.{deal}"),
        ]
        if way == "automated_shoe":
            steps += [
                ("deal 1 2c 3c 4c 5c\n", f"cards_dealt position 1 589.{deal}"),
                ("deal 1 6d\n", f"cards_dealt position 2 589.{deal}"),
                ("deal 2 2d 3d 4d 5d 6c\n", f"cards_dealt dealer 589.{deal}"),
                ("deal dealer 2h 3h 4h 5h 7c\n", f"cards_turned dealer 589.{deal}"),
            ]
        else:
            for number, rank in enumerate("23456", 1):
                steps += [
                    (f"deal 1 {rank}c\n", f"cards_dealt position 2 589.{deal}"),
                    (f"deal 2 {rank}d\n", f"cards_dealt dealer 589.{deal}"),
                ]
                after = "cards_dealt position 1" if number < 5 else "cards_turned dealer"
                steps.append((f"deal dealer {rank}h\n", f"{after} 589.{deal}"))
        steps += [
            (f"show dealer 4 {cut_last(way)}\n", "wager_placed position 1 bet 589.11(b)(2)"),
        ]
        for fact, following in steps:
            cut += fact
            assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}", cut


def cut_last(way: str) -> str:
    """The dealer's last card of the deals above."""
    return "7c" if way == "automated_shoe" else "6h"


def test_589_8_c_the_dealers_last_card_may_be_dealt_face_up() -> None:
    dealt = "deal dealer Kh Qd 9c 7s\n deal dealer up 2h"
    script = PLAYED.replace("deal dealer Kh Qd 9c 7s 2h\n    show dealer 4 2h", dealt)
    assert script != PLAYED
    check(script, SETTLED)


# What line of the payments became what, and the finding.
MONEY = """
    pay 2 super 3000   > pay 2 super 3500   : overpaid 2 super 3000 / 3500 589.12(b)
    pay 1 bet 2000     > pay 1 bet 1000     : underpaid 1 bet 2000 / 1000 589.12(c)
    take 3 ante 500    >                    : not_collected 3 ante 500 / 0 589.11(d)(1)
    back 1 ante 1000   >                    : not_returned 1 ante 1000 / 0 589.11(e)(2)(ii)(B)(II)
    back 4 bet 2000    > take 4 bet 2000    : wrongly_collected 4 bet 0 / 2000 589.11(e)(2)(i)
    fee 4 options 1000 exchange     >       : not_collected 4 options 1000 / 0 589.11(b)(3)
    fee 1 options 1000 force_dealer >       : not_collected 1 options 1000 / 0 589.11(e)(2)(ii)
    fee 2 options 1000 sixth_card > fee 2 options 500 sixth_card : {less}
    fee 2 options 1000 sixth_card > fee 2 options 1500 sixth_card : {more}
    locked             >         : step_missing decisions_locked_called / None 589.11(c)
    show dealer 4 2h   >         : step_missing cards_turned / None 589.10(b)
    show dealer Kh Qd 9c 7s >    : step_missing cards_turned / None 589.11(e)
    show 1 Ts Td Kd 8c 4d   >    : step_missing 1 cards_turned / None 589.11(e)(2)(ii)(B)
""".format(
    less="not_collected 2 options 1000 / 500 589.11(b)(3)",
    more="wrongly_collected 2 options 1000 / 1500 589.11(b)(3)",
)


@pytest.mark.parametrize("row", [row.strip() for row in MONEY.splitlines() if row.strip()])
def test_589_11_what_was_done_otherwise_than_owed_is_found(row: str) -> None:
    change, finding = row.split(" : ")
    was, became = (part.strip() for part in change.split(">"))
    script = PLAYED.replace(was, became, 1)
    assert script != PLAYED
    check(script, SETTLED + "! " + finding)


def test_589_11_a_3_a_bet_after_the_decisions_are_locked_is_late_and_stays() -> None:
    locked = "fee 4 options 1000 exchange\n    locked\n"
    script = PLAYED.replace("1 bet 2000\n", "", 1).replace(locked, locked + "1 bet 2000\n")
    check(script, SETTLED + "! late_wager 1 bet 589.11(a)(3)")


def test_589_11_b_players_decide_in_any_order_and_only_before_they_are_locked() -> None:
    moved = PLAYED.replace("    1 bet 2000\n", "", 1)
    check(moved.replace("fold 3\n", "fold 3\n 1 bet 2000\n"), SETTLED)
    late = PLAYED.replace("    fold 3\n", "", 1).replace("locked\n", "locked\n fold 3\n")
    assert "! out_of_turn 3 589.11(b)" in told(late)


def test_589_11_d_2_iii_a_bet_is_twice_the_ante() -> None:
    for amount in (1000, 3000, 2000):
        script = PLAYED.replace("1 bet 2000", f"1 bet {amount}", 1)
        assert ("! wager_not_permitted 1 bet 589.11(b)(2)" in told(script)) is (amount != 2000)
        script = PLAYED.replace("    2 bet 2000", f"    2 bet {amount}", 1)
        found = "! wager_not_permitted 2 bet 589.11(d)(2)(iii)" in told(script)
        assert found is (amount != 2000)


def test_589_7_b_a_hand_whose_player_left_is_given_up_with_all_its_wagers() -> None:
    script = opening("Tc 8d Jh 4c 2d", NO_HAND) + "locked\n take 1 ante 1000\n rack 1\n done"
    check(
        script,
        "complete\n 1 ante 1000 lose -1000 589.7(b)",
        gone=(1,),
    )
    missing = "! step_missing 1 bet wager_placed / None 589.11(b)(2)"
    check(script, f"complete\n 1 ante 1000 lose -1000 589.11(d)(1)\n {missing}")


def test_589_11_a_hand_given_up_after_its_super_was_shown_is_still_given_up() -> None:
    """Cards that are shown for the Super Wager do not say that he played on."""
    script = opening("Ac Kd Qs 4c 2d", NO_HAND, more="1 super 500")
    script += "locked\n decide 1 declare\n show 1 Ac Kd Qs 4c 2d\n pay 1 super 3000\n"
    script += "take 1 ante 1000\n rack 1\n done"
    check(
        script,
        """
        complete
        1 super  500 win  +3000 589.12(b) Ace-king, 6 to 1
        1 ante  1000 lose -1000 589.11(d)(1)
        ! step_missing 1 bet wager_placed / None 589.11(b)(2)
        """,
    )


def test_589_11_b_what_a_player_may_decide_what_it_costs_and_what_it_may_say() -> None:
    steps = asked(PLAYED, GAME)
    first = next(step for step in steps if step.options and step.position == 4 and step.may)
    assert (first.options, first.section) == (("declare",), "11(b)(2)")
    buys = next(step for step in steps if "fold" in step.options and step.position == 4)
    assert buys.options == ("fold", "exchange", "sixth_card")
    assert buys.costs == {"exchange": 1000, "sixth_card": 1000}
    assert buys.section == "11(b)"
    held = ("As", "Jd", "8d", "5c", "2s")
    assert buys.ways
    assert [way["discards"] for way in buys.ways("exchange")] == [held[:n] for n in (2, 3, 4, 5)]
    assert list(buys.ways("sixth_card")) == list(buys.ways("fold")) == []
    given = next(step for step in steps if step.fact == "cards_exchanged" and step.position == 4)
    assert given.ways
    assert list(given.ways("cards_exchanged")) == [{"discards": ("5c", "2s")}]
    force = next(step for step in steps if step.options == ("force_dealer",))
    assert (force.costs, force.section, force.may) == ({"force_dealer": 1000}, "11(e)(2)", True)
    taken = next(step for step in steps if step.fact == "cards_exchanged" and step.to == "dealer")
    assert taken.ways
    assert list(taken.ways("cards_exchanged")) == [{"discards": ("Kh",)}]
    card = [step for step in steps if step.fact == "cards_dealt" and step.to == "dealer"][-1]
    assert (card.cards, card.face) == (1, "up")
    count = next(step for step in steps if step.fact == "stub_counted")
    assert (count.cards, count.section) == (52, "11(g)")


def test_589_11_g_the_count_of_all_cards_voids_no_round() -> None:
    for counted in (52, 51):
        check(PLAYED.replace("done", f"stub {counted}\n done"), SETTLED)
