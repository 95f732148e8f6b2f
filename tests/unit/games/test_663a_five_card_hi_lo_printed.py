"""Five Card Hi-Lo: what its module holds beside what Chapter 663a prints, and what follows next."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, printed, ruling, text
from tests.unit.games.test_663a_five_card_hi_lo import ALL, GAME, round_of

NO_ORDER = "the names of the wagers asked for are a set; each is settled in a step of its own"
ONE_EACH = "the two are of the same length"

EQUIVALENT = {
    "_points: (None, ()) -> ((), None)": "without points nothing is settled by them",
    "_points: 0 -> -1": "the first of one setting is its last",
    "_set_hands: True -> False": "how chance may set a hand: no ruling looks at it",
    "_dealer: False -> True": "how chance may set a hand: no ruling looks at it",
    "_settle: (WIN, TIE_HIGH, TIE_LOW) -> (TIE_HIGH, TIE_LOW)": "where no tie fits, WIN is asked",
    "_settle: (WIN, TIE_HIGH, TIE_LOW) -> (TIE_HIGH, WIN, TIE_LOW)": "no points fit two of them",
    "_settle: (WIN, TIE_HIGH, TIE_LOW) -> (WIN, TIE_LOW, TIE_HIGH)": "no points fit two of them",
    "ante_bonus: True -> False": ONE_EACH,
    "poker_bonus: True -> False": ONE_EACH,
    "play: '' -> 'x'": "no way of dealing has either name",
    "play: '7(d)' -> '7(e)'": "the record is asked for wagers by name, not by section",
    "play: ('ante', 'tie', 'poker_bonus') -> ('ante', 'poker_bonus', 'tie')": NO_ORDER,
    "play: ('ante', 'tie', 'poker_bonus') -> ('tie', 'ante', 'poker_bonus')": NO_ORDER,
}
"""Mutants that change nothing, and why."""

EDGES = "ante 2.8 tie 11.8 poker_bonus 7.6"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading: none."""

LATER = {"play"}
"""Made once cards are known: its edge is inside that of the Ante."""


def test_663a_7_12_13_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines("""
        ante        7(d)    Ante
        play        11(b)   Play Wager
        tie         7(e)(1) Tie Wager (optional)
        poker_bonus 7(e)(2) Poker Bonus (optional)
        [12(a) ante play]
        High hand higher and low hand lower: 1 to 1
        [11(g)(3)(i) ante play]
        High hand higher, low hand not lower: Push
        [11(g)(3)(ii) ante play]
        Low hand lower, high hand not higher: Push
        [12(b) ante_bonus]
        Four aces and one 2: 1000 for 1 if bonus_for_1 is full
        Four aces and one 2: 1000 for 1 if bonus_for_1 is less_stake
        Four aces:            100 for 1 if bonus_for_1 is full
        Four aces:            100 for 1 if bonus_for_1 is less_stake
        Three aces:            10 for 1 if bonus_for_1 is full
        Three aces:            10 for 1 if bonus_for_1 is less_stake
        [12(b) ante_bonus]
        Four aces and one 2:  500 for 1 if bonus_for_1 is full
        Four aces and one 2:  500 for 1 if bonus_for_1 is less_stake
        Four aces:             50 for 1 if bonus_for_1 is full
        Four aces:             50 for 1 if bonus_for_1 is less_stake
        Three aces:             5 for 1 if bonus_for_1 is full
        Three aces:             5 for 1 if bonus_for_1 is less_stake
        [12(b) ante_bonus]
        Four aces and one 2:  200 for 1 if bonus_for_1 is full
        Four aces and one 2:  200 for 1 if bonus_for_1 is less_stake
        Four aces:             50 for 1 if bonus_for_1 is full
        Four aces:             50 for 1 if bonus_for_1 is less_stake
        Three aces:             5 for 1 if bonus_for_1 is full
        Three aces:             5 for 1 if bonus_for_1 is less_stake
        [12(b) ante_bonus]
        Four aces and one 2:  100 for 1 if bonus_for_1 is full
        Four aces and one 2:  100 for 1 if bonus_for_1 is less_stake
        Four aces:             50 for 1 if bonus_for_1 is full
        Four aces:             50 for 1 if bonus_for_1 is less_stake
        Three aces:             5 for 1 if bonus_for_1 is full
        Three aces:             5 for 1 if bonus_for_1 is less_stake
        [12(c) tie]
        Both high and low hands tie: 20 to 1
        Low hands tie:                4 to 1
        High hands tie:               4 to 1
        [12(d) poker_bonus]
        Royal flush:         250 to 1
        Straight flush:       50 to 1
        Four-of-a-kind:       25 to 1
        Full house:           15 to 1
        Flush:                10 to 1
        Straight:              8 to 1
        Three-of-a-kind:       5 to 1
        Two pair:              3 to 1
        Pair of 7s or better:  1 to 1
        [12(d) poker_bonus]
        Royal flush:         500 to 1
        Straight flush:      100 to 1
        Four-of-a-kind:       40 to 1
        Full house:           15 to 1
        Flush:                 8 to 1
        Straight:              6 to 1
        Three-of-a-kind:       4 to 1
        Two pair:              3 to 1
        Pair of 6s or better:  1 to 1
        ante_bonus_after_fold 11(h): false, true
        bonus_for_1           12(b): full, less_stake
        misset                11(d): reset, as_set
        card_face_up         13(a): one only
        cards_face_up        13(a): void
        card_drawn_unexposed 13(b): play on
        wrong_card_count     13(c): void
        shuffler_failed      13(d): play on
        dealing_shoe_failed  13(e): void (automated_shoe)
        card_missing 8(h), hand 9(f), automated_shoe 10(f): void
    """)


def test_663a_7_f_an_option_says_whether_two_areas_are_permitted() -> None:
    (option,) = adjudicate.games()[GAME].options
    assert (option.name, option.section, option.values) == ("adjacent_boxes", "7(f)", (True, False))


def test_663a_12_b_d_a_settlement_names_the_paytable_it_was_paid_by() -> None:
    for letter in ("A", "B"):
        filed = {**ALL, "paytables": {"ante_bonus": letter, "poker_bonus": letter}}
        ruled = ruling(round_of("Ac Ad 9s Ah 5c"), GAME, filed=filed)
        named = {each.wager: each.paytable for each in ruled.settlements}
        assert (named["ante_bonus"], named["poker_bonus"]) == (letter, letter)


DEALT = """
    start           call     deal
    manual_shoe     8(b)     8(d)
    hand            9(a)(3)  9(b)
    automated_shoe  10(a)(2) 10(b)
"""


def test_663a_8_9_10_each_way_of_dealing_goes_by_its_own_section() -> None:
    for row in lines(DEALT)[1:]:
        way, call, deal = row.split()
        cut = f"start {way}\n1 ante 10\n2 ante 10\n"
        one = f"cards_dealt position 1 663a.{deal}"
        two = f"cards_dealt position 2 663a.{deal}"
        dealer = f"cards_dealt dealer 663a.{deal}"
        steps = [("", f"no_more_bets_called dealer 663a.{call}"), ("nomorebets\n", one)]
        if way == "automated_shoe":
            steps += [("deal 1 2c 3c 4c 5c 6d\n", two), ("deal 2 2d 3d 4d 5d\n", two)]
            steps += [("deal 2 6h\n", dealer), ("deal dealer 2h 3h 4h 5h\n", dealer)]
        else:
            for rank in "2345":
                steps += [(f"deal 1 {rank}c\n", two), (f"deal 2 {rank}d\n", dealer)]
                steps.append((f"deal dealer {rank}h\n", one))
            steps += [("deal 1 6d\n", two), ("deal 2 6h\n", dealer)]
        steps.append(("deal dealer 6s\n", "wager_placed position 1 play 663a.11(b)"))
        for fact, following in steps:
            cut += fact
            assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}", cut


# Position 1 wins, 2 gives up with a Poker Bonus, 3 without, 4 pushes with every wager.
FULLY_PAID = """
    start automated_shoe
    1 ante 1000
    2 ante 1000
    2 poker_bonus 500
    3 ante 1000
    3 tie 500
    4 ante 1000
    4 tie 500
    4 poker_bonus 500
    nomorebets
    deal 1 Qc 9d 7s 3c 5d
    deal 2 6c 6h Kc 2c 3d
    deal 3 Jc 8d 6s 2d 4h
    deal 4 Tc Jd Kd 4d 5s
    deal dealer Kh 8s 7d 4c 5h
    1 play 1000
    fold 2
    fold 3
    4 play 1000
    take 2 ante 1000
    take 3 ante 1000
    take 3 tie 500
    rack 3
    set 1 high Qc 9d 7s low 3c 5d
    set 4 high Tc Jd Kd low 4d 5s
    show dealer Kh 8s 7d 4c 5h
    set dealer high Kh 8s 7d low 4c 5h
    show 4 Tc Jd Kd 4d 5s
    back 4 ante 1000
    back 4 play 1000
    pay 4 tie 2000
    take 4 poker_bonus 500
    rack 4
    show 2 6c 6h Kc 2c 3d
    take 2 poker_bonus 500
    rack 2
    show 1 Qc 9d 7s 3c 5d
    pay 1 ante 1000
    pay 1 play 1000
    rack 1
    done
"""
SETTLED = """
    complete
    2 ante        1000 lose -1000 663a.11(b)
    3 ante        1000 lose -1000 663a.11(b)
    3 tie          500 lose  -500 663a.11(b)(1)
    4 ante        1000 push +0    663a.11(g)(3)(i) High hand higher, low hand not lower, Push
    4 play        1000 push +0    663a.11(g)(3)(i) High hand higher, low hand not lower, Push
    4 tie          500 win  +2000 663a.12(c) Low hands tie, 4 to 1
    4 poker_bonus  500 lose  -500 663a.11(j)(2)(ii)
    2 poker_bonus  500 lose  -500 663a.11(j)(2)(ii)
    1 ante        1000 win  +1000 663a.12(a) High hand higher and low hand lower, 1 to 1
    1 play        1000 win  +1000 663a.12(a) High hand higher and low hand lower, 1 to 1
"""
NEXT = """
    start          > wager_placed dealer ante 663a.7(d)
    1 ante         > no_more_bets_called dealer 663a.10(a)(2)
    2 ante         > no_more_bets_called dealer 663a.10(a)(2)
    2 poker_bonus  > no_more_bets_called dealer 663a.10(a)(2)
    3 ante         > no_more_bets_called dealer 663a.10(a)(2)
    3 tie          > no_more_bets_called dealer 663a.10(a)(2)
    4 ante         > no_more_bets_called dealer 663a.10(a)(2)
    4 tie          > no_more_bets_called dealer 663a.10(a)(2)
    4 poker_bonus  > no_more_bets_called dealer 663a.10(a)(2)
    nomorebets     > cards_dealt position 1 663a.10(b)
    deal 1         > cards_dealt position 2 663a.10(b)
    deal 2         > cards_dealt position 3 663a.10(b)
    deal 3         > cards_dealt position 4 663a.10(b)
    deal 4         > cards_dealt dealer 663a.10(b)
    deal dealer    > wager_placed position 1 play 663a.11(b)
    1 play         > wager_placed position 2 play 663a.11(b)
    fold 2         > wager_placed position 3 play 663a.11(b)
    fold 3         > wager_placed position 4 play 663a.11(b)
    4 play         > wager_collected position 2 ante 1000 663a.11(b)
    take 2 ante    > wager_collected position 3 ante 1000 663a.11(b)
    take 3 ante    > wager_collected position 3 tie 500 663a.11(b)(1)
    take 3 tie     > hand_discarded position 3 663a.11(c)
    rack 3         > hand_set position 1 663a.11(d)
    set 1          > hand_set position 4 663a.11(d)
    set 4          > cards_turned dealer 663a.11(e)
    show dealer    > hand_set dealer 663a.11(e)
    set dealer     > cards_turned position 4 663a.11(f)
    show 4         > wager_returned position 4 ante 1000 663a.11(g)(3)(i)
    back 4 ante    > wager_returned position 4 play 1000 663a.11(g)(3)(i)
    back 4 play    > wager_paid position 4 tie 2000 663a.12(c)
    pay 4 tie      > wager_collected position 4 poker_bonus 500 663a.11(j)(2)(ii)
    take 4         > hand_discarded position 4 663a.11(k)
    rack 4         > cards_turned position 2 663a.11(j)(2)
    show 2         > wager_collected position 2 poker_bonus 500 663a.11(j)(2)(ii)
    take 2         > hand_discarded position 2 663a.11(i)
    rack 2         > cards_turned position 1 663a.11(f)
    show 1         > wager_paid position 1 ante 1000 663a.12(a)
    pay 1 ante     > wager_paid position 1 play 1000 663a.12(a)
    pay 1 play     > hand_discarded position 1 663a.11(i)
    rack 1         > round_completed dealer 663a.11(i)
"""


def test_663a_7_to_11_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    facts, following = lines(FULLY_PAID), [line.split("> ")[1] for line in lines(NEXT)]
    assert len(facts) == len(following) + 1
    for count, expected in enumerate(following, 1):
        found = text(ruling("\n".join(facts[:count]), GAME), following=True)
        assert found[-1] == "> " + expected, facts[count - 1]


def test_663a_11_f_a_round_paid_as_it_was_owed_has_no_finding() -> None:
    assert text(ruling(FULLY_PAID, GAME)) == lines(SETTLED)


# The line that is gone, the status then, and every finding.
GONE = """
    nomorebets                    > complete > step_missing
    deal 1 Qc 9d 7s 3c 5d         > complete > step_missing
    1 play 1000                   > awaiting > step_missing
    fold 2                        > complete > step_missing
    fold 3                        > complete > step_missing
    set 1 high Qc 9d 7s low 3c 5d > complete > step_missing
    show dealer Kh 8s 7d 4c 5h    > complete > step_missing
    set dealer high Kh 8s 7d low 4c 5h > complete > step_missing
    show 4 Tc Jd Kd 4d 5s         > complete > step_missing
    show 2 6c 6h Kc 2c 3d         > complete > step_missing
    take 3 tie 500                > complete > not_collected
    back 4 play 1000              > complete > not_returned
    pay 4 tie 2000                > complete > underpaid
    rack 3                        > complete >
    rack 1                        > complete >
"""


@pytest.mark.parametrize("case", lines(GONE))
def test_663a_11_one_fact_gone_is_found_as_what_it_was(case: str) -> None:
    line, status, codes = (part.strip() for part in case.split(">"))
    rest = [each for each in lines(FULLY_PAID) if each != line]
    assert len(rest) == len(lines(FULLY_PAID)) - 1
    told = text(ruling("\n".join(rest), GAME))
    assert told[0] == status
    assert [each.split()[1] for each in told if each.startswith("!")] == codes.split()


def test_579_the_temporary_chapter_prints_the_same_under_its_own_number() -> None:
    for day, chapter in (
        ("2012-09-14", "579"),
        ("2012-09-15", "579"),
        ("2014-09-15", "579"),
        ("2014-09-16", "663a"),
    ):
        ruled = ruling(round_of("Qc 9d 7s 4d 5s"), GAME, day=day)
        assert ruled.edition == chapter
        assert [each.section for each in ruled.settlements] == [
            f"{chapter}.11(g)(3)(i)",
            f"{chapter}.11(g)(3)(i)",
            f"{chapter}.12(c)",
            f"{chapter}.11(j)(2)(ii)",
        ]
        assert (ruled.edition_note is None) is ("2012-09-15" <= day <= "2014-09-15")
