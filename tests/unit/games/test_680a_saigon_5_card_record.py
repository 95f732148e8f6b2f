"""Saigon 5 Card, the record beside the rules: what comes next, irregularities, what lacks."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, printed, ruling, text
from tests.unit.games.saigon import DAY, DEALER, GAME, check, one_hand, told

PLAYED = """
    start automated_shoe
    1 ante 1000
    1 pot 500
    2 ante 1000
    2 pot 500
    2 bonus 500
    nomorebets
    deal 1 3s Ks Qs 5s Js
    deal 2 As Ah 2s 3d 4s
    deal dealer Kc Qd Jh 3c 4d
    stub 38
    set 1 qualifying Ks Qs Js showdown 3s 5s
    set 2 qualifying As Ah 2s showdown 3d 4s
    show dealer Kc Qd Jh 3c 4d
    set dealer qualifying Kc Qd Jh showdown 3c 4d
    show 2 As Ah 2s
    take 2 ante 1000
    take 2 bonus 500
    rack 2
    show 1 1 Ks
    show 1 2 Qs
    show 1 4 Js
    show 1 0 3s
    show 1 3 5s
    pay 1 ante 1000
    rack 1
    pot 0 1 1000
    done
"""
SETTLED = """
    complete
    2 ante  1000 lose -1000 680a.11(d)(2)(i)
    2 bonus  500 lose  -500 680a.11(e)(1)
    1 ante  1000 win  +1000 680a.12(a) Point Count of 1-4 or 6-10, 1 to 1
    1 pot    500 win   +500 680a.11(f)
    2 pot    500 lose  -500 680a.11(f)
"""
NEXT = """
    start       > wager_placed dealer ante 680a.7(d)(1)
    1 ante      > no_more_bets_called dealer 680a.10(a)(2)
    1 pot       > no_more_bets_called dealer 680a.10(a)(2)
    2 ante      > no_more_bets_called dealer 680a.10(a)(2)
    2 pot       > no_more_bets_called dealer 680a.10(a)(2)
    2 bonus     > no_more_bets_called dealer 680a.10(a)(2)
    nomorebets  > cards_dealt position 1 680a.10(b)
    deal 1      > cards_dealt position 2 680a.10(b)
    deal 2      > cards_dealt dealer 680a.10(b)
    deal dealer > hand_set position 1 680a.11(b)
    stub        > hand_set position 1 680a.11(b)
    set 1       > hand_set position 2 680a.11(b)
    set 2       > cards_turned dealer 680a.11(c)
    show dealer > hand_set dealer 680a.11(c)(1)
    set dealer  > cards_turned position 2 680a.11(d)
    show 2      > wager_collected position 2 ante 1000 680a.11(d)(2)(i)
    take 2 ante > wager_collected position 2 bonus 500 680a.11(e)(1)
    take 2      > hand_discarded position 2 680a.11(g)
    rack 2      > cards_turned position 1 680a.11(d)
    show 1 1    > cards_turned position 1 680a.11(d)
    show 1 2    > cards_turned position 1 680a.11(d)
    show 1 4    > cards_turned position 1 680a.11(d)(2)(ii)(B)
    show 1 0    > cards_turned position 1 680a.11(d)(2)(ii)(B)
    show 1 3    > wager_paid position 1 ante 1000 680a.12(a)
    pay 1       > hand_discarded position 1 680a.11(g)
    rack 1      > pot_awarded position 1 1000 680a.11(f)
    pot         > round_completed dealer 680a.11(f)
"""


def test_680a_7_to_11_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    facts, following = lines(PLAYED), [line.split("> ")[1] for line in lines(NEXT)]
    assert len(facts) == len(following) + 1
    for count, expected in enumerate(following, 1):
        found = text(ruling("\n".join(facts[:count]), GAME, day=DAY), following=True)
        assert found[-1] == "> " + expected, facts[count - 1]
        assert not [line for line in found if line.startswith("!")], facts[count - 1]


def test_680a_11_a_round_paid_as_it_was_owed_has_no_finding() -> None:
    check(PLAYED, SETTLED)


def test_680a_11_b_players_set_their_hands_in_any_order() -> None:
    first = "set 1 qualifying Ks Qs Js showdown 3s 5s\n"
    swapped = PLAYED.replace(first, "").replace("showdown 3d 4s\n", "showdown 3d 4s\n" + first)
    check(swapped, SETTLED)
    cut = swapped.partition("set 1")[0]
    found = text(ruling(cut, GAME, day=DAY), following=True)
    assert found == ["awaiting", "> hand_set position 1 680a.11(b)"]


# What line of the record became what, and the finding.
MONEY = """
    pay 1 ante 1000  > pay 1 ante 500     : underpaid 1 ante 1000 / 500 680a.12(a)
    take 2 ante 1000 >                    : not_collected 2 ante 1000 / 0 680a.11(d)(2)(i)
    take 2 bonus 500 > back 2 bonus 500   : not_collected 2 bonus 500 / 0 680a.11(e)(1) & over_returned 2 bonus 0 / 500 680a.11(e)(1)
    rack 2           > back 2 bonus 500 & rack 2 : over_returned 2 bonus 0 / 500 680a.11(e)(1)
    rack 2           > take 1 pot 500 & rack 2  : wrongly_collected 1 pot 0 / 500 680a.11(f)
    rack 2           > back 1 pot 500 & rack 2  : over_returned 1 pot 0 / 500 680a.11(f)
    rack 2           > pay 1 pot 500 & rack 2   : overpaid 1 pot 1000 / 1500 680a.11(f)
    pot 0 1 1000     > pot 0 1 900        : underpaid 1 pot 1000 / 900 680a.11(f)
    show dealer Kc Qd Jh 3c 4d >          : step_missing cards_turned / None 680a.11(c)
"""  # noqa: E501 - a reviewer reads a row at a glance


@pytest.mark.parametrize("row", [row.strip() for row in MONEY.splitlines() if row.strip()])
def test_680a_11_what_was_done_otherwise_than_owed_is_found(row: str) -> None:
    change, findings = row.split(" : ")
    was, became = (part.strip() for part in change.split(">"))
    script = PLAYED.replace(was, became.replace(" & ", "\n"))
    assert script != PLAYED
    check(script, SETTLED + "! " + findings.replace(" & ", "\n! "))


BEFORE = one_hand("Ks Qs Js / 3d 5s", DEALER, more="1 pot 500\n 1 bonus 500").partition("set 1")[0]
AFTER = """
    set 1 qualifying Ks Qs Js showdown 3d 5s
    show dealer Kc Qd Jh 3c 4d
    set dealer qualifying Kc Qd Jh showdown 3c 4d
    show 1 Ks Qs Js 3d 5s
    pay 1 ante 1000
    take 1 bonus 500
    rack 1
    pot 0 1 500
    done
"""
ALONE = """
    complete
    1 ante  1000 win  +1000 680a.12(a) Point Count of 1-4 or 6-10, 1 to 1
    1 bonus  500 lose  -500 680a.11(e)(1)
    1 pot    500 push    +0 680a.11(f)
"""
RETURNED = "back 1 ante 1000\n back 1 bonus 500\n back 1 pot 500\n void"


def voided(section: str) -> str:
    """The wagers of the round above, given back."""
    wagers = (("ante", 1000), ("bonus", 500), ("pot", 500))
    return "void\n" + "\n".join(f"1 {w} {c} void +0 680a.{section}" for w, c in wagers) + "\n"


VOIDING = """
    cards_face_up        manual_shoe     13(a)
    wrong_card_count     hand            13(c)
    dealing_shoe_failed  automated_shoe  13(e)
    card_missing         manual_shoe     8(g)
    card_missing         hand            9(f)
    card_missing         automated_shoe  10(f)
"""
PLAYING_ON = """
    card_face_up 7c      manual_shoe
    card_drawn_unexposed hand
    shuffler_failed      manual_shoe
    dealing_shoe_failed  hand
    dealer_card_exposed  manual_shoe
"""


def test_680a_13_what_voids_the_round_and_what_does_not() -> None:
    check(BEFORE + AFTER, ALONE)
    for row in lines(VOIDING):
        kind, way, section = row.split()
        script = BEFORE.replace("manual_shoe", way) + f"call {kind}\n"
        check(script + RETURNED, voided(section))
    for row in lines(PLAYING_ON):
        *call, way = row.split()
        script = BEFORE.replace("manual_shoe", way) + f"call {' '.join(call)}\n"
        check(script + AFTER, ALONE)
    check(BEFORE + "call card_face_up 7c\n call card_face_up 8c\n" + RETURNED, voided("13(a)"))


def test_680a_13_c_a_hand_of_more_or_fewer_cards_voids() -> None:
    for was, became, finding in (
        ("3d 5s", "3s", "misdeal 1 5 / 4"),
        ("3d 5s", "3d 5s 7c", "misdeal 1 5 / 6"),
        ("3c 4d", "3c 4d 7c", "misdeal 5 / 6"),
    ):
        script = BEFORE.replace(was, became) + RETURNED
        check(script, voided("13(c)") + f"! {finding} 680a.13(c)")


STUB = """
    manual_shoe     8(g)
    hand            9(f)
    automated_shoe  10(f)
"""


def test_680a_8_g_9_f_10_f_a_stub_that_is_short_or_over_voids_the_round() -> None:
    """Ten of 53 cards are dealt, so 43 are left."""
    for row in lines(STUB):
        way, section = row.split()
        script = BEFORE.replace("manual_shoe", way)
        check(script + "stub 43\n" + AFTER, ALONE)
        misdeal = f"! misdeal 43 / 42 680a.{section}"
        check(script + "stub 42\n" + RETURNED, voided(section) + misdeal)


DEALT = """
    start           call     deal
    manual_shoe     8(b)     8(c)
    hand            9(a)(3)  9(b)
    automated_shoe  10(a)(2) 10(b)
"""


def test_680a_8_9_10_each_way_of_dealing_goes_by_its_own_section() -> None:
    for row in lines(DEALT)[1:]:
        way, call, deal = row.split()
        cut = f"start {way}\n1 ante 10\n"
        steps = [
            ("", f"no_more_bets_called dealer 680a.{call}"),
            ("nomorebets\n", f"cards_dealt position 1 680a.{deal}"),
        ]
        if way == "automated_shoe":
            steps += [
                ("deal 1 2c 3c 4c 5c\n", f"cards_dealt position 1 680a.{deal}"),
                ("deal 1 6d\n", f"cards_dealt dealer 680a.{deal}"),
            ]
        else:
            for number, rank in enumerate("23456", 1):
                after = "cards_dealt position 1" if number < 5 else "hand_set position 1"
                section = deal if number < 5 else "11(b)"
                steps += [
                    (f"deal 1 {rank}d\n", f"cards_dealt dealer 680a.{deal}"),
                    (f"deal dealer {rank}h\n", f"{after} 680a.{section}"),
                ]
        for fact, following in steps:
            cut += fact
            found = text(ruling(cut, GAME, day=DAY), following=True)
            assert found[-1] == f"> {following}", cut


def test_680a_7_c_wagers_close_with_no_more_bets() -> None:
    for wager in ("ante 1000", "pot 500", "bonus 500"):
        late = BEFORE.replace(f"1 {wager}\n", "").replace("nomorebets", f"nomorebets\n 1 {wager}")
        check(late + AFTER, ALONE + f"! late_wager 1 {wager.split()[0]} 680a.7(c)")
    passed_over = BEFORE.replace("nomorebets", "nomorebets\n 2 ante 700\n 2 pot 500\n 2 bonus 100")
    assert told(passed_over + AFTER)[1:4] == [
        "2 ante 700 void +0 680a.7(c)",
        "2 pot 500 void +0 680a.7(d)(2)",
        "2 bonus 100 void +0 680a.7(d)(3)",
    ]


def test_680a_7_d_wagers_stand_beside_an_ante_and_pot_wagers_are_equal() -> None:
    script = BEFORE.replace("nomorebets", "2 pot 500\n 2 bonus 500\n nomorebets")
    script += "back 2 pot 500\n back 2 bonus 500\n" + AFTER
    assert [found.says for found in ruling(script, GAME, day=DAY).findings] == [
        "Position 2's Pot Wager is not permitted: it stands without an Ante (680a.7(d)(2)).",
        "Position 2's Bonus Wager is not permitted: it stands without an Ante (680a.7(d)(3)).",
    ]
    larger = PLAYED.replace("2 pot 500", "2 pot 700").replace("pot 0 1 1000", "pot 0 1 1200")
    found = ruling(larger, GAME, day=DAY)
    assert [each.says for each in found.findings] == [
        "Position 2's Pot Wager is not permitted: it is larger than another's (680a.7(d)(2))."
    ]
    assert found.settlements[-2].net == 700
    assert told(BEFORE + AFTER, filed={"offers": ()})[-2:] == [
        "! wager_not_permitted 1 pot 680a.7(d)(2)",
        "! wager_not_permitted 1 bonus 680a.7(d)(3)",
    ]


def test_680a_7_d_2_pot_wagers_of_several_players_equal_the_table_minimum() -> None:
    """Both pots are $5: right where that is the minimum, and found at a table of any other."""
    wrong = "! wager_not_permitted {} pot {} / {} 680a.7(d)(2)"
    check(PLAYED, SETTLED, posted=(500, 50000))
    for minimum in (499, 1000):
        both = "\n".join(wrong.format(seat, minimum, 500) for seat in (1, 2))
        check(PLAYED, SETTLED + both, posted=(minimum, 50000))
    larger = PLAYED.replace("2 pot 500", "2 pot 700").replace("pot 0 1 1000", "pot 0 1 1200")
    assert told(larger, posted=(500, 50000))[-1] == wrong.format(2, 500, 700)
    facts = ruling(larger, GAME, day=DAY, posted=(500, 50000)).findings[0].facts
    assert [fact.id for fact in facts] == ["5", "opened"]
    # A player alone at the table competes with nobody, and late chips are found as such.
    check(BEFORE + AFTER, ALONE, posted=(1000, 50000))
    late = PLAYED.replace("2 pot 500\n", "").replace("nomorebets", "nomorebets\n 2 pot 500")
    found = [line for line in told(late, posted=(1000, 50000)) if line.startswith("!")]
    assert found == ["! late_wager 2 pot 680a.7(c)", wrong.format(1, 1000, 500)]
    bonus = PLAYED.replace("2 bonus 500", "2 bonus 1").replace("take 2 bonus 500", "take 2 bonus 1")
    assert not [line for line in told(bonus, posted=(500, 50000)) if line.startswith("!")]


def test_680a_7_b_a_player_who_left_before_he_set_his_hand_loses_all_wagers() -> None:
    script = BEFORE + "take 1 ante 1000\n take 1 bonus 500\n done"
    found = told(script.replace("1 pot 500\n", ""), gone=(1,))
    assert found == lines("""
        complete
        1 ante  1000 lose -1000 680a.7(b)
        1 bonus  500 lose  -500 680a.7(b)
    """)
    stayed = told(BEFORE + AFTER, gone=(1,))
    assert stayed == lines(ALONE)


def test_680a_2_a_the_table_has_six_positions() -> None:
    for seat in (6, 7):
        script = BEFORE.replace("1 ", f"{seat} ").replace("deal 1", f"deal {seat}")
        found = told(script + AFTER.replace(" 1 ", f" {seat} "))
        assert (f"! wager_not_permitted {seat} ante 680a.2(a)" in found) is (seat == 7)


def test_680a_11_a_hand_that_was_not_set_is_counted_where_it_can_count_only_one_way() -> None:
    script = BEFORE + AFTER.replace("set 1 qualifying Ks Qs Js showdown 3d 5s", "")
    missing = "! step_missing 1 hand_set / None 680a.11(b)"
    check(script, ALONE + missing)
    joker = script.replace("3d 5s", "Jk 5s")
    found = told(joker)
    assert found[0] == "awaiting"
    assert missing in found
    assert found[-1] == "> wager_paid position 1 ante 680a.11(d)(2)(i)"
    no_hand = BEFORE.replace("Ks Qs Js 3d 5s", "As Ah 2s 3d 4s") + "show dealer Kc Qd Jh 3c 4d\n"
    assert "1 ante 1000 lose -1000 680a.11(d)(2)(i)" in told(no_hand + "done")


def test_680a_11_cards_that_are_not_known_leave_what_hangs_on_them_open() -> None:
    unread = BEFORE.replace("Ks Qs Js 3d 5s", "?? ?? ?? ?? ??")
    check(unread + AFTER, ALONE)
    unseen = unread + AFTER.replace("Ks Qs Js", "?? Qs Js")
    found = told(unseen)
    assert found[0] == "awaiting"
    assert not [line for line in found if " win " in line or " lose " in line or "push" in line]
    assert found[-1] == "> wager_paid position 1 ante 680a.11(d)(2)(i)"
    dealer = BEFORE.replace(DEALER, "Kc Qd Jh 3c ??") + AFTER.replace("3c 4d", "3c ??")
    found = told(dealer)
    assert [line.split()[1] for line in found[1:3]] == ["bonus", "pot"]
    three = AFTER.replace("showdown 3d 5s", "showdown 3d ??").replace("Js 3d 5s", "Js 3d ??")
    assert told(unread + three)[0] == "awaiting"


def test_680a_7_d_1_an_ante_that_the_record_lost_leaves_that_wager_open() -> None:
    lost = BEFORE.replace("1 ante 1000\n", "").replace("manual_shoe", "manual_shoe | seq 1")
    lost = lost.replace("1 pot 500\n", "").replace("1 bonus 500\n", "")
    found = told(lost.replace("nomorebets", "nomorebets | seq 5") + AFTER)
    assert found[0] == "awaiting"
    assert found[-1] == "> wager_placed position 1 ante 680a.7(d)(1)"
    assert not [line for line in found if "misdeal" in line or "not_permitted" in line]


def test_680a_11_f_a_pot_wager_that_is_not_known_leaves_the_pot_open() -> None:
    unseen = PLAYED.replace("3d 4s", "3d ??")
    found = told(unseen)
    assert found[0] == "awaiting"
    assert not [line for line in found if " pot " in line]


PRINTED = """
    ante  7(d)(1) Ante Wager
    pot   7(d)(2) Pot Wager (optional)
    bonus 7(d)(3) Bonus Wager (optional)
    [12(a) ante]
    Point Count of 1-4 or 6-10: 1 to 1
    [12(b) ante]
    Point Count of 5: 1 to 2
    [12(c) bonus]
    Five aces:                 5000 to 1
    Royal flush—no joker:      1000 to 1
    Royal flush—with a joker:   250 to 1
    Straight flush:             100 to 1
    Four-of-a-kind:              50 to 1
    Full house:                  20 to 1
    Flush:                       15 to 1
    Straight:                    12 to 1
    Three-of-a-kind:             10 to 1
    Two pair:                     8 to 1
    dealer_joker 11(c)(1): best_for_dealer, worst_for_dealer
    pot_requires_qualifying 11(f): false, true
    misset 11(b)(1): reset, as_set
    odd_chip 11(f): first_left_of_button
    card_face_up         13(a): one only
    cards_face_up        13(a): void
    card_drawn_unexposed 13(b): play on
    wrong_card_count     13(c): void
    shuffler_failed      13(d): play on
    dealing_shoe_failed  13(e): void (automated_shoe)
    card_missing 8(g), hand 9(f), automated_shoe 10(f): void
"""


def test_680a_7_12_13_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines(PRINTED)
    game = adjudicate.games()[GAME]
    assert [table.letter for table in game.paytables] == [None, None, "A"]
    assert [(option.name, option.values, option.section) for option in game.options] == [
        ("adjacent_boxes", (True, False), "7(e)")
    ]
