"""Criss-Cross Poker: what its module holds beside what Chapter 592 prints, word for word."""

from __future__ import annotations

from tests.unit.games.cross import DEAL, GAME, PLAY, PLAYED, RETURNED, START, check, voided
from tests.unit.games.rounds import lines, printed, ruling, text

ASKED_BY_NAME = "the record is asked for wagers by name, and the source is not told the section"
NO_ORDER = "the names of the wagers asked for are a set; each is settled in a step of its own"
A_SET = "a hand is a set of cards, as the cards to turn are; what a bet may be is a set of amounts"

EQUIVALENT = {
    "STREETS: (1, 3) -> (3, 1)": A_SET,
    "STREETS: (0, 4) -> (4, 0)": A_SET,
    "STREETS: ('ante_across', 'ante_down') -> ('ante_down', 'ante_across')": A_SET,
    "MULTIPLES: (1, 2, 3) -> (2, 1, 3)": A_SET,
    "MULTIPLES: (1, 2, 3) -> (1, 3, 2)": A_SET,
    ": (1, 2, 3) -> (2, 1, 3)": A_SET,
    ": (1, 2, 3) -> (1, 3, 2)": A_SET,
    ": (0, 2, 4) -> (2, 0, 4)": A_SET,
    ": (0, 2, 4) -> (0, 4, 2)": A_SET,
    "play: ('ante_across', 'ante_down', 'five_card_bonus') -> "
    "('ante_down', 'ante_across', 'five_card_bonus')": NO_ORDER,
    "play: ('ante_across', 'ante_down', 'five_card_bonus') -> "
    "('ante_across', 'five_card_bonus', 'ante_down')": NO_ORDER,
    "play: '7(d)' -> '7(e)'": ASKED_BY_NAME,
    "play: '' -> 'x'": "no way of dealing has either name",
    "play: (0, 1) -> (1, 0)": A_SET,
    "_dealt_in: (across, down) -> (down, across)": "whether 0 is one of two has no order",
    "_dealt_in: Gt -> GtE": "asked only where the two differ",
    "_settle_hands: [*hole, *(cross[box] for box in boxes)] -> "
    "[*(cross[box] for box in boxes), *hole]": A_SET,
}
"""Mutants that change nothing, and why."""

EDGES = "five_card_bonus 3.5 ante_across and ante_down 4.3"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE = {"pair_of_tens=one_to_one": {"ante_across and ante_down"}}
"""Wagers that the player gains on, by reading: each a finding, and none a default."""

LATER = {"across", "down", "middle"}
"""Wagers made once cards are known: their edge is inside that of the Antes."""


def test_592_7_12_13_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines("""
        ante_across     7(d) Ante Across
        ante_down       7(d) Ante Down
        across          7(f) Across Bet
        down            7(f) Down Bet
        middle          7(f) Middle Bet
        five_card_bonus 7(e) Five Card Bonus (optional)
        [12(a) ante_across ante_down]
        Pair of jacks or better: 1 to 1
        Pair of 6s through 10s: Push
        [12(b) across down middle]
        Royal flush:     500 to 1
        Straight flush:  100 to 1
        Four-of-a-kind:   40 to 1
        Full house:       12 to 1
        Flush:             8 to 1
        Straight:          5 to 1
        Three-of-a-kind:   3 to 1
        Two pair:          2 to 1
        Pair of 10s, jack, queens, kings or aces: 1 to 1
        Pair of 10s, jack, queens, kings or aces: 1 to 1 if pair_of_tens is one_to_one
        Pair of 6s through 10s: Push if pair_of_tens is push
        Pair of 6s through 10s: Push
        [12(c) five_card_bonus]
        Royal flush:     250 to 1
        Straight flush:  100 to 1
        Four-of-a-kind:   40 to 1
        Full house:       15 to 1
        Flush:            10 to 1
        Straight:          6 to 1
        Three-of-a-kind:   4 to 1
        Two pair:          3 to 1
        Pair of 6s or better: 1 to 1
        pair_of_tens 12(b): push, one_to_one
        card_face_up           13(a): one only
        cards_face_up          13(a): void
        card_drawn_unexposed   13(b): play on
        wrong_card_count       13(c): void
        community_card_exposed 13(d): void
        shuffler_failed        13(e): play on
        dealing_shoe_failed    13(f): void (automated_shoe)
        card_missing 8(h), hand 9(f), automated_shoe 10(f): void
    """)


DEALT = """
    start           call     deal
    manual_shoe     8(b)     8(d)
    hand            9(a)(3)  9(b)
    automated_shoe  10(a)(2) 10(b)
"""


def test_592_8_9_10_each_way_of_dealing_goes_by_its_own_section() -> None:
    antes = "1 ante_across 10\n1 ante_down 10\n2 ante_across 10\n2 ante_down 10\n"
    for row in lines(DEALT)[1:]:
        way, call, deal = row.split()
        cut = f"start {way}\n{antes}"
        steps = [
            ("", f"no_more_bets_called dealer 592.{call}"),
            ("nomorebets\n", f"cards_dealt community 592.{deal}"),
            ("cross 2c\n", f"cards_dealt community 592.{deal}"),
            ("cross 3c 4c 5c\n", f"cards_dealt community 592.{deal}"),
            ("cross 6c\n", f"cards_dealt position 1 592.{deal}"),
        ]
        steps += [
            ("deal 1 7c 8c\n", f"cards_dealt position 2 592.{deal}"),
            ("deal 2 9c\n", f"cards_dealt position 2 592.{deal}"),
        ] if way == "automated_shoe" else [
            ("deal 1 7c\n", f"cards_dealt position 2 592.{deal}"),
            ("deal 2 9c\n", f"cards_dealt position 1 592.{deal}"),
            ("deal 1 8c\n", f"cards_dealt position 2 592.{deal}"),
        ]  # fmt: skip
        steps += [("deal 2 Tc\n", "wager_placed position 1 across 592.11(b)")]
        for fact, following in steps:
            cut += fact
            assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}", cut


STUB = """
    manual_shoe     8(h)
    hand            9(f)
    automated_shoe  10(f)
"""


def test_592_8_h_9_f_10_f_a_stub_that_is_short_or_over_voids_the_round() -> None:
    # Seven of 52 cards are dealt, so 45 are left.
    for row in lines(STUB):
        way, section = row.split()
        dealt = START.replace("manual_shoe", way) + DEAL
        check(dealt + "stub 45\n" + PLAY, PLAYED)
        for counted in (44, 46):
            check(
                dealt + f"stub {counted}\n" + RETURNED,
                voided(section) + f"! misdeal 45 / {counted} 592.{section}",
            )


def test_592_11_b_d_each_bet_goes_by_its_own_ante_where_they_are_unequal() -> None:
    for across, down in ((1000, 1500), (1500, 1000)):
        script = START.replace("ante_across 1000", f"ante_across {across}")
        script = script.replace("ante_down 1000", f"ante_down {down}") + DEAL
        for bets in ((across, down), (3 * across, 3 * down), (down, down), (across, across)):
            play = PLAY.replace("across 2000", f"across {bets[0]}")
            play = play.replace("down 1000", f"down {bets[1]}")
            found = text(ruling(script + play, GAME))
            assert ("! wager_not_permitted 1 across 592.11(b)" in found) is (bets[0] == down)
            assert ("! wager_not_permitted 1 down 592.11(d)" in found) is (bets[1] == across)


def test_592_11_g_both_cards_of_a_player_are_turned() -> None:
    for shown in ("show 1 8c", "show 1 1 Qs"):
        found = text(ruling(START + DEAL + PLAY.replace("show 1 8c Qs", shown) + "done", GAME))
        assert "! step_missing 1 cards_turned / None 592.11(g)" in found
    apart = PLAY.replace("show 1 8c Qs", "show 1 1 Qs\n show 1 8c")
    check(START + DEAL + apart, PLAYED)


def test_592_7_d_either_ante_that_the_record_lost_is_as_large_as_the_other() -> None:
    for lost, kept in (("ante_across", "ante_down"), ("ante_down", "ante_across")):
        script = START.replace("start manual_shoe", "start manual_shoe | seq 1")
        script = script.replace("nomorebets", "nomorebets | seq 3").replace(f"1 {lost} 1000\n", "")
        found = text(ruling(script + DEAL + PLAY + "done", GAME))
        assert found[-1] == f"> wager_placed position 1 {lost} 592.7(d)"
        assert f"1 {kept} 1000 push +0 592.12(a) Pair of 6s through 10s, Push" in found
        assert not [line for line in found if "not_permitted" in line or "misdeal" in line]
        # What was placed against it still counts: 2500 is no multiple of 1000.
        odd = PLAY.replace("across 2000", "across 2500").replace("down 1000", "down 2500")
        found = text(ruling(script + DEAL + odd + "done", GAME))
        assert "! wager_not_permitted 1 across 592.11(b)" in found
        assert "! wager_not_permitted 1 down 592.11(d)" in found


def test_592_7_two_lost_facts_do_not_hide_antes_that_are_unequal() -> None:
    script = START.replace("start manual_shoe", "start manual_shoe | seq 1")
    script = script.replace("nomorebets", "nomorebets | seq 3").replace("down 1000", "down 1500")
    found = text(ruling(script + DEAL + PLAY.replace("down 1000", "down 1500"), GAME))
    assert "! wager_not_permitted 1 ante_down 592.7(d)" in found


def test_592_7_the_words_of_a_wager_that_is_not_permitted() -> None:
    script = START.replace("nomorebets", "2 ante_down 700\n 3 five_card_bonus 700\n nomorebets")
    said = [finding.says for finding in ruling(script + DEAL + PLAY, GAME).findings]
    assert said == [
        "Position 2's Ante Down is not permitted: the two Antes are not equal (592.7(d)).",
        "Position 3's Five Card Bonus is not permitted: it stands without the Antes (592.7(e)).",
    ]


def test_592_11_h_a_hand_with_a_card_not_known_leaves_its_wagers_and_the_middle_bet_open() -> None:
    # The left card is not read: the Across Hand is not known, the Down Hand is a pair of 9s.
    script = (START + DEAL + PLAY).replace("9h 8s 9d", "9h ?? 9d").replace("1 8s 3", "1 ?? 3")
    assert text(ruling(script + "done", GAME)) == lines("""
        awaiting
        1 ante_down       1000 push   +0 592.12(a) Pair of 6s through 10s, Push
        1 down            1000 push   +0 592.12(b) Pair of 6s through 10s, Push
        ! not_returned 1 ante_down 1000 / 0 592.12(a)
        ! not_returned 1 down 1000 / 0 592.12(b)
        > wager_paid position 1 ante_across 592.11(h)(1)(i)
    """)
