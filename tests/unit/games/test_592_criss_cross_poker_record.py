"""Criss-Cross Poker, the record beside the rules: what comes next, what lacks, what was paid."""

from __future__ import annotations

import pytest

from tests.unit.games.cross import DEAL, GAME, PAID, PLAY, PLAYED, START, check
from tests.unit.games.rounds import lines, ruling, text

FULLY_PAID = """
    start automated_shoe
    1 ante_across 1000
    1 ante_down 1000
    2 ante_across 1000
    2 ante_down 1000
    2 five_card_bonus 500
    nomorebets
    cross 9h 8s 9d 3c Ah
    deal 1 8c Qs
    deal 2 Kc 4d
    1 across 1000
    fold 2
    take 2 ante_across 1000
    take 2 ante_down 1000
    rack 2
    turn 1 8s 3 3c
    1 down 3000
    turn 0 9h 4 Ah
    1 middle 1000
    turn 2 9d
    pay 2 five_card_bonus 500
    show 1 8c Qs
    back 1 ante_across 1000
    back 1 across 1000
    back 1 ante_down 1000
    back 1 down 3000
    back 1 middle 1000
    rack 1
    done
"""
# What must come next after each line of the round above, by the order of 592.7 to 592.11.
NEXT = """
    start                      > wager_placed dealer ante_across 592.7(d)
    1 ante_across              > wager_placed position 1 ante_down 592.7(d)
    1 ante_down                > no_more_bets_called dealer 592.10(a)(2)
    2 ante_across              > wager_placed position 2 ante_down 592.7(d)
    2 ante_down                > no_more_bets_called dealer 592.10(a)(2)
    2 five_card_bonus          > no_more_bets_called dealer 592.10(a)(2)
    nomorebets                 > cards_dealt community 592.10(b)
    cross                      > cards_dealt position 1 592.10(b)
    deal 1                     > cards_dealt position 2 592.10(b)
    deal 2                     > wager_placed position 1 across 592.11(b)
    1 across                   > wager_placed position 2 across 592.11(b)
    fold 2                     > wager_collected position 2 ante_across 1000 592.11(b)
    take 2 ante_across         > wager_collected position 2 ante_down 1000 592.11(b)
    take 2 ante_down           > hand_discarded position 2 592.11(b)
    rack 2                     > cards_turned community 592.11(c)
    turn 1 3                   > wager_placed position 1 down 592.11(d)
    1 down                     > cards_turned community 592.11(e)
    turn 0 4                   > wager_placed position 1 middle 592.11(f)
    1 middle                   > cards_turned community 592.11(g)
    turn 2                     > wager_paid position 2 five_card_bonus 500 592.12(c)
    pay 2 five_card_bonus      > cards_turned position 1 592.11(g)
    show 1                     > wager_returned position 1 ante_across 1000 592.12(a)
    back 1 ante_across         > wager_returned position 1 across 1000 592.12(b)
    back 1 across              > wager_returned position 1 ante_down 1000 592.12(a)
    back 1 ante_down           > wager_returned position 1 down 3000 592.12(b)
    back 1 down                > wager_returned position 1 middle 1000 592.12(b)
    back 1 middle              > hand_discarded position 1 592.11(i)
    rack 1                     > round_completed dealer 592.11(i)
"""


def test_592_7_to_11_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    facts, following = lines(FULLY_PAID), [line.split("> ")[1] for line in lines(NEXT)]
    assert len(facts) == len(following) + 1
    for count, expected in enumerate(following, 1):
        found = text(ruling("\n".join(facts[:count]), GAME), following=True)
        assert found[-1] == "> " + expected, facts[count - 1]


def test_592_11_h_a_round_paid_as_it_was_owed_has_no_finding() -> None:
    check(
        FULLY_PAID,
        """
        complete
        2 ante_across     1000 lose -1000 592.11(b)
        2 ante_down       1000 lose -1000 592.11(b)
        2 five_card_bonus  500 win  +500  592.12(c) Pair of 6s or better, 1 to 1
        1 ante_across     1000 push +0    592.12(a) Pair of 6s through 10s, Push
        1 across          1000 push +0    592.12(b) Pair of 6s through 10s, Push
        1 ante_down       1000 push +0    592.12(a) Pair of 6s through 10s, Push
        1 down            3000 push +0    592.12(b) Pair of 6s through 10s, Push
        1 middle          1000 push +0    592.12(b) Pair of 6s through 10s, Push
        """,
    )


# What line of the payments became what, and the finding.
MONEY = """
    pay 1 five_card_bonus 500 > pay 1 five_card_bonus 600 : overpaid 1 {B} 500 / 600 592.12(c)
    pay 1 five_card_bonus 500 > pay 1 five_card_bonus 400 : underpaid 1 {B} 500 / 400 592.12(c)
    pay 1 five_card_bonus 500 >                           : underpaid 1 {B} 500 / 0 592.12(c)
    pay 1 five_card_bonus 500 > pay 1 five_card_bonus 500 from cage : {cage}
    pay 1 five_card_bonus 500 > pay 2 five_card_bonus 500 : {swapped}
    back 1 middle 3000  >                       : not_returned 1 middle 3000 / 0 592.12(b)
    back 1 middle 3000  > back 1 middle 2000    : not_returned 1 middle 3000 / 2000 592.12(b)
    back 1 middle 3000  > take 1 middle 3000    : wrongly_collected 1 middle 0 / 3000 592.12(b)
    back 1 middle 3000  > back 1 middle 9000    : over_returned 1 middle 3000 / 9000 592.12(b)
    rack 1              > back 1 middle 3000 & rack 1 : over_returned 1 middle 3000 / 6000 592.12(b)
    rack 1              > back 4 down 100 & rack 1 : over_returned 4 down 0 / 100
    rack 1              > back 1 {B} 600 & rack 1 : over_returned 1 {B} 500 / 600 592.12(c)
    rack 1              > pay 1 middle 3000 & rack 1 : overpaid 1 middle 0 / 3000 592.12(b)
    rack 1              > pay 4 down 100 & rack 1    : overpaid 4 down 0 / 100
""".format(
    B="five_card_bonus",
    cage="wrong_payer 1 five_card_bonus table / cage 592.12(c)",
    swapped="wrong_position_paid 2 five_card_bonus position 1 / position 2 592.12(c)",
)


@pytest.mark.parametrize("row", [row.strip() for row in MONEY.splitlines() if row.strip()])
def test_592_11_h_what_was_paid_otherwise_than_owed_is_found(row: str) -> None:
    change, finding = row.split(" : ")
    was, became = (part.strip() for part in change.split(">"))
    paid = PAID.replace(was, became.replace(" & ", "\n"))
    assert paid != PAID
    check(START + DEAL + PLAY + paid, PLAYED + "! " + finding)


EARLY = """
    pay 1 five_card_bonus 500 : turn 2 9d
    back 1 middle 3000        : turn 2 9d
    back 1 across 2000        : turn 0 9h 4 Ah
    back 1 ante_down 1000     : show 1 8c Qs
    back 1 down 1000          : nomorebets
"""


@pytest.mark.parametrize("row", [row.strip() for row in EARLY.splitlines() if row.strip()])
def test_592_11_h_a_payment_before_the_cards_that_decide_it_is_out_of_turn(row: str) -> None:
    payment, before = row.split(" : ")
    whole = "\n".join(lines(START + DEAL + PLAY + PAID))
    payment = payment.strip()
    early = whole.replace(f"{payment}\n", "").replace(before, f"{payment}\n{before}")
    wager = payment.split()[2]
    section = "12(c)" if wager == "five_card_bonus" else "12(a)" if "ante" in wager else "12(b)"
    check(early, PLAYED + f"! out_of_turn 1 {wager} 592.{section}")


def test_592_11_h_two_clocks_may_not_say_whether_a_payment_was_early() -> None:
    near = PAID.replace("back 1 across 2000", "back 1 across 2000 | by layout at 40.9")
    found = text(ruling(START + DEAL + PLAY.replace("8c Qs", "8c Qs | at 41") + near, GAME))
    assert found == [*lines(PLAYED), "! order_uncertain 1 across 592.12(b)"]


def test_592_11_h_a_payment_in_two_parts_is_their_sum() -> None:
    parts = "pay 1 five_card_bonus 300\n pay 1 five_card_bonus 200"
    check(START + DEAL + PLAY + PAID.replace("pay 1 five_card_bonus 500", parts), PLAYED)


COLLECTED = """
    take 2 ante_down 1000 >                       : not_collected 2 ante_down 1000 / 0
    take 2 ante_down 1000 > take 2 ante_down 400  : not_collected 2 ante_down 1000 / 400
    take 2 ante_down 1000 > back 2 ante_down 1000 : not_collected 2 ante_down 1000 / 0 & over_returned 2 ante_down 0 / 1000
    rack 2 > back 2 ante_down 1000 & rack 2       : over_returned 2 ante_down 0 / 1000
    take 2 ante_down 1000 > take 2 ante_down 1500 : wrongly_collected 2 ante_down 1000 / 1500
    fold 2                >                       : step_missing 2 across wager_placed / None
"""  # noqa: E501 - a reviewer reads a row at a glance


@pytest.mark.parametrize("row", [row.strip() for row in COLLECTED.splitlines() if row.strip()])
def test_592_11_b_a_forfeit_that_was_not_collected_or_never_asked_for_is_found(row: str) -> None:
    change, findings = row.split(" : ")
    was, became = (part.strip().replace(" & ", "\n") for part in change.split(">"))
    found = text(ruling(FULLY_PAID.replace(was, became), GAME))
    expected = [f"! {finding} 592.11(b)" for finding in findings.split(" & ")]
    assert found == [*text(ruling(FULLY_PAID, GAME)), *expected]


def test_592_8_b_a_call_or_a_hand_that_was_not_shown_is_a_step_missing() -> None:
    script = START + DEAL + PLAY + PAID
    silent = script.replace("nomorebets", "")
    check(silent, PLAYED + "! step_missing no_more_bets_called / None 592.8(b)")
    unseen = script.replace("show 1 8c Qs", "")
    check(unseen, PLAYED + "! step_missing 1 cards_turned / None 592.11(g)")


def test_592_10_b_a_deal_out_of_turn_is_found_and_changes_no_settlement() -> None:
    swapped = FULLY_PAID.replace("deal 1 8c Qs\n    deal 2 Kc 4d", "deal 2 Kc 4d\n    deal 1 8c Qs")
    assert swapped != FULLY_PAID
    found = text(ruling(swapped, GAME))
    assert found[:-1] == text(ruling(FULLY_PAID, GAME))
    assert found[-1] in ("! out_of_turn 1 592.10(b)", "! out_of_turn 2 592.10(b)")


def test_592_11_b_bets_of_two_devices_within_their_uncertainty_are_in_an_uncertain_order() -> None:
    bet, turn = "1 across 2000", "turn 1 8s 3 3c"
    script = START + DEAL + PLAY + PAID
    for apart, code in (("10.25", "order_uncertain"), ("10.250001", "late_wager")):
        late = script.replace(
            f"{bet}\n    {turn}", f"{turn} | at 10.0\n {bet} | by layout at {apart}"
        )
        check(late, PLAYED + f"! {code} 1 across 592.11(b)")


def test_592_11_a_device_whose_clock_is_off_is_named_and_ruled_on_as_if_it_were_right() -> None:
    script = []
    for second, line in enumerate(lines(START + DEAL + PLAY + PAID), 1):
        device = "layout" if line[0].isdigit() else "shoe" if "9" in line else "dealer"
        how = f"by {device} at {second + 12 * (device == 'layout')}"
        script.append(f"{line} | {how}")
    found = text(ruling("\n".join(script), GAME))
    assert found[:-1] == lines(PLAYED)
    assert found[-1].startswith("! clock_skewed None / 1")
    assert (
        ruling("\n".join(script), GAME)
        .findings[0]
        .says.startswith("The clock of /hollywood/T-1/layout is about 1")
    )


def test_592_8_a_fact_that_a_device_lost_excuses_what_is_absent_and_no_more() -> None:
    script = START + DEAL + PLAY + PAID
    lost = script.replace("pay 1 five_card_bonus 500", "")
    lost = lost.replace("middle 3000\n    rack", "middle 3000 | seq 40\n rack")
    lost = lost.replace("back 1 middle 3000", "back 1 middle 3000 | seq 40")
    assert "! underpaid 1 five_card_bonus 500 / 0 592.12(c)" in text(ruling(lost, GAME))
    gap = lost.replace("rack 1", "rack 1 | seq 42")
    check(gap, PLAYED + "! fact_missing 1 more / 40, then 42")
    both = gap.replace("back 1 down 1000", "")
    found = text(ruling(both, GAME))
    assert found[-2:] == [
        "! fact_missing 1 more / 40, then 42",
        "! underpaid 1 five_card_bonus 500 / 0 592.12(c)",
    ]


def test_592_7_d_an_ante_that_the_record_lost_leaves_that_wager_open_and_no_other() -> None:
    script = START.replace("1 ante_across 1000", "1 ante_across 1000 | seq 1")
    script = script.replace("1 ante_down 1000\n", "").replace("bonus 500", "bonus 500 | seq 3")
    without_down = [line for line in lines(PLAYED) if "ante_down" not in line]
    assert text(ruling(script + DEAL + PLAY + PAID, GAME)) == [
        "awaiting",
        *without_down[1:],
        "! fact_missing 1 more / 1, then 3",
        "> wager_placed position 1 ante_down 592.7(d)",
    ]


def test_592_7_d_a_hand_whose_wagers_were_all_lost_is_still_in_play() -> None:
    script = START.replace("nomorebets", "nomorebets | seq 5").replace(
        "start manual_shoe", "start manual_shoe | seq 1"
    )
    script = "\n".join(line for line in lines(script) if not line[0].isdigit()) + "\n"
    found = text(ruling(script + DEAL + PLAY, GAME))
    assert found[0] == "awaiting"
    assert [line.split()[1] for line in found[1:4]] == ["across", "down", "middle"]
    assert not [line for line in found if "misdeal" in line or "not_permitted" in line]


def test_a_round_whose_game_is_not_on_record_or_not_known_is_ruled_on_in_no_silence() -> None:
    begun = "> round_started dealer"
    script = START.replace("start manual_shoe", "") + DEAL + PLAY
    assert text(ruling(script, GAME)) == ["awaiting", begun]
    missing = "! step_missing round_started / None"
    assert text(ruling(script + PAID, GAME)) == ["awaiting", missing, begun]
    unknown = ruling(START + DEAL, "three_dice_polo")
    assert text(unknown) == ["awaiting", "! step_missing round_started / three_dice_polo", begun]
    assert "nothing of it was ruled on" in unknown.findings[0].says


def test_a_device_that_counted_a_lost_start_of_the_round_is_what_is_found() -> None:
    # The gap lies before the round: its start is the fact that the device counted.
    script = "nomorebets | seq 3\n cross 9h 8s 9d 3c Ah | seq 5\n done"
    assert [line for line in text(ruling(script, GAME)) if line.startswith("!")] == [
        "! fact_missing 1 more / 3, then 5"
    ]


def test_592_8_d_a_stack_of_two_cards_that_was_lost_is_one_lost_fact() -> None:
    dealt = DEAL.replace("3c Ah", "3c Ah | seq 1").replace("deal 1 8c Qs\n", "")
    script = START + dealt + PLAY.replace("1 8s 3 3c", "1 8s 3 3c | seq 3") + PAID
    assert text(ruling(script, GAME)) == [*lines(PLAYED), "! fact_missing 1 more / 1, then 3"]


def test_592_11_b_a_bet_that_the_record_lost_leaves_the_hand_in_play() -> None:
    script = START + DEAL + PLAY.replace("1 across 2000\n", "") + "done"
    found = text(ruling(script, GAME))
    assert found[0] == "awaiting"
    assert "! step_missing 1 across wager_placed / None 592.11(b)" in found
    assert found[-1] == "> wager_placed position 1 across 592.11(b)"
    assert "1 middle 3000 push +0 592.12(b) Pair of 6s through 10s, Push" in found


def test_592_3_a_a_card_twice_or_of_no_deck_is_found() -> None:
    twice = "! duplicate_card 1 None / 8c"
    found = text(ruling(START + DEAL.replace("9h", "8c") + PLAY.replace("9h", "8c"), GAME))
    assert found[-1] == twice
    check(START + "burn 8c\n" + DEAL + PLAY, PLAYED + twice)
    joker = text(ruling(START + DEAL.replace("Qs", "Jk") + PLAY.replace("Qs", "Jk"), GAME))
    assert joker[0] == "awaiting"
    assert "! impossible_card 1 None / Jk" in joker


def test_592_11_g_the_card_that_is_seen_rules_where_the_shoe_read_another() -> None:
    check(
        START + DEAL.replace("8c Qs", "8c 2s") + PLAY,
        PLAYED + "! card_mismatch 1 2s / Qs 592.11(g)",
    )
    check(START + DEAL.replace("8c Qs", "8c ??") + PLAY, PLAYED)


def test_592_4_the_edition_holds_from_its_first_day_to_its_last() -> None:
    for day, inside in (
        ("2014-07-11", False),
        ("2014-07-12", True),
        ("2016-07-12", True),
        ("2016-07-13", False),
    ):
        note = ruling(START, GAME, day=day).edition_note
        assert (note is None) is inside
    outside = ruling(START, GAME, day="2017-01-01")
    assert outside.edition_note == (
        "592 is temporary, in force from 2014-07-12 until 2016-07-12; "
        "the gaming day is outside these dates, and this edition is the nearest"
    )


def test_592_the_words_of_a_finding_read_aloud() -> None:
    paid = PAID.replace("pay 1 five_card_bonus 500", "pay 1 five_card_bonus 400")
    found = ruling(START + DEAL + PLAY + paid, GAME).findings
    assert len(found) == 1
    assert found[0].says == (
        "Position 1 was paid $4.00 on Five Card Bonus; "
        "592.12(c) pays Pair of 6s or better 1 to 1: $5.00."
    )
