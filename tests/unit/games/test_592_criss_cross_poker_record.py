"""Criss-Cross Poker, the record beside the rules: what comes next, what is missing, what was paid."""

from __future__ import annotations

from tests.unit.games.cross import GAME, check
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
    rack 1                     > round_completed dealer 592.12(b)
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
