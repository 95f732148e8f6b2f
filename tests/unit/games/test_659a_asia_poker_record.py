"""Asia Poker, Chapter 659a: wagers, the dealer's hands, surrenders, two boxes, payments, cuts."""

from __future__ import annotations

import pytest

from tests.unit.games.asia import (
    BEGINS,
    DEALER,
    GAME,
    LOST,
    WON,
    cards,
    check,
    dealt,
    played,
    set_to,
)
from tests.unit.games.rounds import lines, ruling, text

BET = "1 asia_poker 1000"
HIGHER = "Ac Ad 6h 4s / Qd 9c / Th"
SECOND = "Kh Ks 8c 5c / Jd 7d / 4h"
WINS = f"1 asia_poker 1000 win +1000 {WON}"

# -- 7: wagers -------------------------------------------------------------------------------------


def test_659a_7_c_a_wager_after_no_more_bets_is_late_and_stays() -> None:
    script = played({1: HIGHER}, BET).replace(BEGINS, f"1 asia_poker 500\n{BEGINS}")
    check(
        script,
        f"""
        complete
        1 asia_poker 1500 win +1500 {WON}
        ! late_wager 1 asia_poker 659a.7(c)
        """,
    )
    back = played({1: HIGHER}, BET).replace(BEGINS, f"withdraw 1 asia_poker 500\n{BEGINS}")
    check(back, f"complete\n{WINS}\n! late_wager 1 asia_poker 659a.7(c)")


def test_659a_7_e_a_bonus_wager_stands_beside_an_asia_poker_wager_and_where_it_is_offered() -> None:
    alone = played({1: HIGHER}, f"{BET}\n3 bonus 100")
    check(
        alone,
        f"""
        complete
        3 bonus 100 void +0 659a.7(e)
        {WINS}
        ! wager_not_permitted 3 bonus 659a.7(e)
        """,
    )
    script = played({1: HIGHER}, f"{BET}\n1 bonus 100")
    settled = f"complete\n{WINS}\n1 bonus 100 lose -100 659a.11(h)(1)"
    check(script, settled, filed={"offers": ("bonus",)})
    not_offered = f"{settled}\n! wager_not_permitted 1 bonus 659a.7(e)"
    check(script, not_offered, filed={"offers": ()})


def test_659a_2_a_the_table_has_six_betting_positions() -> None:
    for position in (0, 7):
        script = played({1: HIGHER}, f"{position} asia_poker 500\n{position} bonus 100\n{BET}")
        check(
            script,
            f"""
            complete
            {position} asia_poker 500 void +0 659a.2(a)
            {position} bonus 100 void +0 659a.2(a)
            {WINS}
            ! wager_not_permitted {position} asia_poker 659a.2(a)
            """,
        )
    # Not even if facts were lost and hands are recorded for such a position.
    script = played({1: HIGHER}, BET).replace(BEGINS, f"{BEGINS} | seq 4")
    lost = script.replace("nomorebets", "nomorebets | seq 2") + f"\n{set_to(7, SECOND)}"
    assert WINS in text(ruling(lost, GAME))


def test_659a_7_b_the_wagers_of_a_player_who_left_are_lost() -> None:
    script = played({1: HIGHER, 2: SECOND}, f"{BET}\n2 asia_poker 500\n2 bonus 100")
    left = script.replace(f"{set_to(2, SECOND)}\n", "").replace(f"show 2 {cards(SECOND)}\n", "")
    check(
        left,
        f"""
        complete
        2 asia_poker 500 lose -500 659a.7(b)
        2 bonus 100 lose -100 659a.7(b)
        {WINS}
        """,
        gone=(2,),
    )
    # Who had set his hands is in it to the end.
    stays = f"2 asia_poker 500 lose -500 {LOST}\n2 bonus 100 lose -100 659a.11(h)(1)"
    check(script, f"complete\n{stays}\n{WINS}", gone=(2,))


# -- 7(f): two adjacent boxes ----------------------------------------------------------------------

# Stakes on positions 1 and 2 of one player, and the position whose hands are set first.
ADJACENT = """
    1000  500   1
    500   1000  2
    500   500   2
"""


@pytest.mark.parametrize("row", [row.split() for row in ADJACENT.splitlines() if row.strip()])
def test_659a_7_f_of_two_boxes_the_larger_wager_is_set_first_or_counterclockwise(
    row: list[str],
) -> None:
    one, two, first = row
    script = played({1: HIGHER, 2: SECOND}, f"1 asia_poker {one}\n2 asia_poker {two}")
    in_order, other = f"{set_to(1, HIGHER)}\n{set_to(2, SECOND)}", f"{set_to(2, SECOND)}\n"
    swapped = script.replace(in_order, f"{other}{set_to(1, HIGHER)}")
    right, wrong = (script, swapped) if first == "1" else (swapped, script)
    seats = ((1, 2),)
    assert not ruling(right, GAME, seats=seats).findings
    found = ruling(wrong, GAME, seats=seats).findings
    assert [(each.code, each.section) for each in found] == [("out_of_turn", "659a.11(b)")]
    # Two players may have either order.
    for each in (right, wrong):
        assert not ruling(each, GAME, seats=((1,), (2,))).findings


def test_659a_7_f_the_boxes_are_adjacent_and_two_and_only_where_it_is_permitted() -> None:
    apart = {1: HIGHER, 3: SECOND}
    script = played(apart, f"{BET}\n3 asia_poker 1000")
    found = ruling(script, GAME, seats=((1, 3),)).findings
    assert [(each.code, each.position, each.wager, each.section) for each in found] == [
        ("wager_not_permitted", 3, "asia_poker", "659a.7(f)")
    ]
    beside = played({1: HIGHER, 2: SECOND}, f"{BET}\n2 asia_poker 500")
    one = {"options": {"adjacent_boxes": False}}
    found = ruling(beside, GAME, seats=((1, 2),), filed=one).findings
    assert [(each.code, each.position, each.wager, each.section) for each in found] == [
        ("wager_not_permitted", 2, "asia_poker", "659a.7(f)")
    ]
    assert not ruling(beside, GAME, seats=((1,), (2,)), filed=one).findings


def test_659a_11_b_players_set_their_hands_in_any_order() -> None:
    script = played({1: HIGHER, 2: SECOND}, f"{BET}\n2 asia_poker 500")
    first, second = set_to(1, HIGHER), set_to(2, SECOND)
    swapped = script.replace(f"{first}\n{second}", f"{second}\n{first}")
    assert swapped != script
    settled = f"complete\n2 asia_poker 500 lose -500 {LOST}\n{WINS}"
    for each in (script, swapped):
        check(each, settled)
    # The dealer's cards are turned after all of them.
    early = script.replace(f"{second}\n", "").replace("show 2", f"{second}\nshow 2")
    check(early, f"{settled}\n! out_of_turn 2 659a.11(b)")


# -- 11(c), 13(i): the dealer's hands --------------------------------------------------------------


def test_659a_13_i_a_dealer_who_set_his_hands_wrong_is_found_unless_he_sets_them_again() -> None:
    script = played({1: HIGHER}, BET)
    foul = "set dealer high 9h 8d 7h 5s medium Kc Kd low Qc"
    wrong = script.replace(set_to("dealer", DEALER), foul)
    # As it stands, his 9-high is lower, his kings higher, his queen higher.
    check(wrong, f"complete\n1 asia_poker 1000 lose -1000 {LOST}\n! hand_misset 659a.13(i)")
    again = script.replace("set dealer", f"{foul}\nset dealer", 1)
    check(again, f"complete\n{WINS}")


def test_659a_13_i_a_setting_other_than_the_named_house_way_is_reset() -> None:
    highest = {"options": {"house_way": "highest_high"}}
    # Two pair is the highest high hand, with the queen and the 9 beside it: queen-9, then 2.
    dealer = "Kc Kd 7h 7s / Qc 9d / 2h"
    split = "Kc Kd 9d 2h / 7h 7s / Qc"
    mine = "Ac Ad 6h 4s / Qd Js / Th"
    script = played({1: mine}, BET, dealer)
    # Aces lose to two pair; queen-jack and 10 win.
    check(script, f"complete\n{WINS}", filed=highest)
    own = script.replace(set_to("dealer", dealer), set_to("dealer", split))
    # As he set them: aces beat kings, but sevens and the queen win the other two.
    check(own, f"complete\n1 asia_poker 1000 lose -1000 {LOST}")
    found = ruling(own, GAME, filed=highest)
    assert text(found) == [
        "complete",
        WINS,
        "! hand_misset Kc Kd 7h 7s; Qc 9d; 2h / None 659a.13(i)",
    ]
    assert len(found.findings[0].facts) == 1
    # Another card of the same rank in its place is the same setting.
    same = script.replace("set dealer high Kc Kd 7h 7s", "set dealer high 7s 7h Kd Kc")
    check(same, f"complete\n{WINS}", filed=highest)


def test_659a_11_c_hands_of_the_dealer_with_a_card_not_known_decide_nothing() -> None:
    script = played({1: HIGHER}, BET)
    for was in ("show dealer Kc", "set dealer high Kc", "deal dealer Kc"):
        assert was in script
        script = script.replace(was, was.replace("Kc", "??"))
    assert text(ruling(script, GAME))[0] == "awaiting"
    highest = {"options": {"house_way": "highest_high"}}
    assert text(ruling(script, GAME, filed=highest))[0] == "awaiting"


# -- 11(d): surrender ------------------------------------------------------------------------------

GIVEN_UP = "1 asia_poker 1000 lose -1000 659a.11(d)"
OTHER = f"2 asia_poker 500 lose -500 {LOST}"
BETS = f"{BET}\n2 asia_poker 500"


def test_659a_11_d_a_surrender_gives_up_the_whole_wager_whatever_the_hands() -> None:
    hands = {1: HIGHER, 2: SECOND}
    script = played(hands, BETS, before="decide 1 surrender")
    check(script, f"complete\n{GIVEN_UP}\n{OTHER}")
    # While another player's hands are being revealed it is not too late.
    plain = played(hands, BETS)
    mine = f"show 1 {cards(HIGHER)}"
    check(plain.replace(mine, "decide 1 surrender"), f"complete\n{OTHER}\n{GIVEN_UP}")
    # Two of them, in any order.
    both = played(hands, BETS, before="decide 1 surrender\ndecide 2 surrender")
    check(both, f"complete\n{GIVEN_UP}\n2 asia_poker 500 lose -500 659a.11(d)")


def test_659a_11_d_a_surrender_once_his_hands_are_exposed_is_none() -> None:
    script = played({1: HIGHER, 2: SECOND}, BETS, after="decide 1 surrender")
    check(
        script,
        f"""
        complete
        {OTHER}
        {WINS}
        ! decision_not_permitted 1 659a.11(d)
        """,
    )


def test_659a_11_d_who_made_a_bonus_wager_may_not_surrender() -> None:
    bets = f"{BETS}\n1 bonus 100"
    plain = played({1: HIGHER, 2: SECOND}, bets)
    script = plain.replace("show 2", "decide 1 surrender\nshow 2")
    found = text(ruling(script, GAME))
    assert found[:4] == [
        "complete",
        OTHER,
        WINS,
        "1 bonus 100 lose -100 659a.11(h)(1)",
    ]
    assert found[4:] == ["! decision_not_permitted 1 659a.11(d)"]


def test_659a_11_d_a_surrender_before_the_dealer_set_his_hands_is_out_of_turn() -> None:
    script = played({1: HIGHER}, BET).replace("show dealer", "decide 1 surrender\nshow dealer")
    check(script.partition("show 1")[0], f"complete\n{GIVEN_UP}\n! out_of_turn 1 659a.11(d)")


# -- the record ------------------------------------------------------------------------------------

STACKS = dealt({"dealer": DEALER, 1: HIGHER, 2: SECOND, 4: "9s 8h 7c 6s / Jc Tc / 2d"})
NEXT = ("position 1", "position 2", "position 3", "position 4", "position 5", "position 6")
ROUND = [
    ("start", "wager_placed dealer asia_poker 659a.7(d)"),
    (BET, "no_more_bets_called dealer 659a.8(b)"),
    ("2 asia_poker 500", "no_more_bets_called dealer 659a.8(b)"),
    ("4 asia_poker 300", "no_more_bets_called dealer 659a.8(b)"),
    ("4 bonus 200", "no_more_bets_called dealer 659a.8(b)"),
    ("nomorebets", "starting_position_determined dealer 659a.5(g)"),
    (BEGINS, "cards_dealt dealer 659a.8(c)"),
    *((stack, f"cards_dealt {who} 659a.8(c)") for stack, who in zip(STACKS, NEXT, strict=False)),
    (STACKS[-1], "hand_discarded position 3 659a.8(f)"),
    ("rack 3", "hand_discarded position 5 659a.8(f)"),
    ("rack 5", "hand_discarded position 6 659a.8(f)"),
    ("rack 6", "hand_set position 1 659a.11(b)"),
    (set_to(2, SECOND), "hand_set position 1 659a.11(b)"),
    (set_to(1, HIGHER), "hand_set position 4 659a.11(b)"),
    (set_to(4, "9s 8h 7c 6s / Jc Tc / 2d"), "cards_turned dealer 659a.11(c)"),
    (f"show dealer {cards(DEALER)}", "hand_set dealer 659a.11(c)"),
    (set_to("dealer", DEALER), "cards_turned position 4 659a.11(e)"),
    ("decide 2 surrender", "wager_collected position 2 asia_poker 500 659a.11(d)"),
    ("take 2 asia_poker 500", "hand_discarded position 2 659a.11(d)"),
    ("rack 2", "cards_turned position 4 659a.11(e)"),
    (
        "show 4 9s 8h 7c 6s Jc Tc 2d",
        "wager_collected position 4 asia_poker 300 659a.11(f)(1)(i)",
    ),
    ("take 4 asia_poker 300", "wager_paid position 4 bonus 400 659a.12(b)"),
    ("pay 4 bonus 400", "hand_discarded position 4 659a.11(h)"),
    ("rack 4", "cards_turned position 1 659a.11(e)"),
    (f"show 1 {cards(HIGHER)}", "wager_paid position 1 asia_poker 1000 659a.12(a)"),
    ("pay 1 asia_poker 1000", "hand_discarded position 1 659a.11(g)"),
    ("rack 1", "round_completed dealer 659a.11(g)"),
]
FACTS = [fact for fact, _ in ROUND]
SETTLED = f"""
    complete
    2 asia_poker 500 lose -500 659a.11(d)
    4 asia_poker 300 lose -300 {LOST}
    4 bonus 200 win +400 659a.12(b) Straight, 2 to 1
    {WINS}
"""


def test_659a_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    for count, (fact, says) in enumerate(ROUND, 1):
        found = text(ruling("\n".join(FACTS[:count]), GAME), following=True)
        assert found[-1] == f"> {says}", fact


def test_659a_a_round_paid_as_it_was_owed_has_no_finding() -> None:
    check("\n".join([*FACTS, "done"]), SETTLED)


MISTAKES = """
    pay 1 asia_poker 1000  > pay 1 asia_poker 900  : underpaid 1 asia_poker 1000 / 900 659a.12(a)
    pay 4 bonus 400        > pay 4 bonus 600       : overpaid 4 bonus 400 / 600 659a.12(b)
    take 4 asia_poker 300  >                       : not_collected 4 asia_poker 300 / 0 659a.11(f)(1)(i)
    take 2 asia_poker 500  > take 2 asia_poker 250 : not_collected 2 asia_poker 500 / 250 659a.11(d)
    pay 1 asia_poker 1000  > pay 2 asia_poker 1000 : wrong_position_paid 2 asia_poker position 1 / position 2 659a.12(a)
"""  # noqa: E501 - a reviewer reads a row at a glance


@pytest.mark.parametrize("row", [row.strip() for row in MISTAKES.splitlines() if row.strip()])
def test_659a_what_was_paid_otherwise_is_found(row: str) -> None:
    change, _, finding = row.partition(" :")
    was, became = (part.strip() for part in change.split(">"))
    facts = [became if fact == was else fact for fact in FACTS]
    assert facts != FACTS
    found = text(ruling("\n".join([*facts, "done"]), GAME))
    assert found == [*lines(SETTLED), f"! {finding.strip()}"]


def test_659a_facts_that_a_gap_shows_were_lost_leave_a_wager_open_that_was_there() -> None:
    script = played({1: HIGHER}, "1 bonus 100 | by layout seq 2")
    script = script.replace("nomorebets", "2 asia_poker 500 | by layout seq 5\nnomorebets")
    found = ruling(script, GAME)
    assert text(found)[:3] == [
        "awaiting",
        "1 bonus 100 lose -100 659a.11(h)(1)",
        "! fact_missing 2 more / 2, then 5",
    ]
    assert not [each for each in found.settlements if each.wager == "asia_poker"]
    closed = text(ruling(f"{script}\ndone", GAME))
    assert closed[-1] == "> wager_placed position 1 asia_poker 659a.7(d)"
    # Without a gap no wager is presumed.
    whole = ruling(script.replace("seq 5", "seq 3"), GAME)
    assert "1 bonus 100 void +0 659a.7(e)" in text(whole)


def test_659a_a_hand_that_is_not_on_record_leaves_the_wager_open() -> None:
    script = played({1: HIGHER}, BET).replace(f"{set_to(1, HIGHER)}\n", "")
    found = text(ruling(script, GAME))
    assert found == ["awaiting", "! step_missing 1 hand_set / None 659a.11(b)", found[-1]]


def test_659a_findings_say_who_did_what_and_name_the_fact() -> None:
    script = played({1: HIGHER}, BET)
    foul = "set 1 high Ac 9c 4s 6h medium Ad Qd low Th | id foul"
    [found] = ruling(script.replace(set_to(1, HIGHER), foul), GAME).findings
    assert found.says == "Position 1 did not set the hands from high to low (659a.11(f)(1)(iii))."
    assert [fact.id for fact in found.facts] == ["foul"]
    wrong = "set dealer high 9h 8d 7h 5s medium Kc Kd low Qc"
    dealers = script.replace(set_to("dealer", DEALER), wrong)
    [found] = ruling(dealers, GAME).findings
    assert found.says == "The dealer did not set the hands from high to low (659a.13(i))."
    assert len(found.facts) == 1
    [found] = ruling(dealers, GAME, filed={"options": {"house_way": "highest_high"}}).findings
    assert found.says == (
        "The dealer did not set the hands as the Rules Submission has it (659a.13(i))."
    )
    late = played({1: HIGHER}, BET, after="decide 1 surrender | id late")
    [found] = ruling(late, GAME).findings
    assert found.says == "Position 1 surrendered, though his hands were exposed (659a.11(d))."
    assert [fact.id for fact in found.facts] == ["late"]
    bonus = played({1: HIGHER}, f"{BET}\n1 bonus 100")
    bonus = bonus.replace("show 1", "decide 1 surrender\nshow 1")
    [found] = ruling(bonus, GAME).findings
    assert found.says == "Position 1 surrendered, though he has a Bonus Wager (659a.11(d))."


def test_659a_8_f_a_stack_without_a_wager_is_collected_at_position_1_too() -> None:
    script = played({2: HIGHER}, "2 asia_poker 1000").partition("set 2")[0]
    found = text(ruling(script, GAME), following=True)
    assert found[-1] == "> hand_discarded position 1 659a.8(f)"


def test_659a_edition_was_proposed_and_covers_no_day_for_certain() -> None:
    found = ruling(f"start\n{BET}\n", GAME)
    assert found.edition == "659a"
    assert found.edition_note is not None
    assert "659a is proposed, and its days in force are not known" in found.edition_note
