"""Three Card Poker: its tables, what follows next, and rounds that go wrong."""

from __future__ import annotations

import pytest

from ledger import facts as told
from ledger.games import games
from ledger.rules.procedures.submission_check import problems
from tests.unit.games.rounds import lines, printed, ruling, text
from tests.unit.games.test_649a_three_card_poker import GAME, check, round_of

NO_ORDER = "the names of the wagers asked for are a set; each is settled in a step of its own"

EQUIVALENT = {
    "_settle: [*cards, *dealers] -> [*dealers, *cards]": "six cards are a set",
    "play: ('ante', 'pair_plus', 'six_card_bonus') -> ('ante', 'six_card_bonus', 'pair_plus')": (
        NO_ORDER
    ),
    "play: ('ante', 'pair_plus', 'six_card_bonus') -> ('pair_plus', 'ante', 'six_card_bonus')": (
        NO_ORDER
    ),
    "play: 1 -> 0": "nobody is dealt until he has no cards",
    "with_odds: 0 -> -1": "each of these tables pays one thing",
}
"""Mutants that change nothing, and why."""

EDGES = "ante 3.4 pair_plus 2.3 six_card_bonus 10.2"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading: none."""

LATER = {"play"}
"""Made once cards are known: its edge is inside that of the Ante."""


def test_649a_6_12_the_tables_are_as_printed_and_as_the_standard_game_has_them() -> None:
    assert printed(GAME) == lines("""
        ante           12      Ante
        play           12      Play Wager
        pair_plus      12      Pair Plus (optional)
        six_card_bonus 7(d)(5) Six Card Bonus (optional)
        [12 ante]
        Dealer without a queen or better: 1 to 1
        Hand higher than the dealer's: 1 to 1
        Hand equal to the dealer's: Push
        [12 play]
        Dealer without a queen or better: Push
        Hand higher than the dealer's: 1 to 1
        Hand equal to the dealer's: Push
        [12 ante_bonus]
        Mini-royal flush: 5 to 1
        Straight flush:   5 to 1
        Three-of-a-kind:  4 to 1
        Straight:         1 to 1
        [12 pair_plus]
        Mini-royal flush: 40 to 1
        Straight flush:   40 to 1
        Three-of-a-kind:  30 to 1
        Straight:          6 to 1
        Flush:             4 to 1
        Pair:              1 to 1
        [12(f) six_card_bonus]
        Super Royal:     1000 to 1
        Royal flush:     1000 to 1
        Straight flush:   200 to 1
        Four-of-a-kind:    50 to 1
        Full house:        25 to 1
        Flush:             20 to 1
        Straight:          10 to 1
        Three-of-a-kind:    5 to 1
        wrong_card_count 6: void
    """)


FULLY_PAID = """
    start automated_shoe
    1 ante 1000
    1 pair_plus 500
    2 ante 1000
    2 six_card_bonus 500
    3 ante 1000
    nomorebets
    deal 1 Kc 8d 3h
    deal 2 9c 8c 2h
    deal 3 5c 4c 2d
    deal dealer Qs 7h 4d
    1 play 1000
    fold 2
    fold 3
    take 2 ante 1000
    take 3 ante 1000
    rack 3
    show dealer Qs 7h 4d
    show 2 9c 8c 2h
    take 2 six_card_bonus 500
    rack 2
    show 1 Kc 8d 3h
    pay 1 ante 1000
    pay 1 play 1000
    take 1 pair_plus 500
    rack 1
    done
"""


def test_649a_12_a_finding_names_the_bonus_that_is_paid_beside_the_ante() -> None:
    hand = ["show 1 Kc 8d 3h", "show 1 5h 4s 3d"], ["deal 1 Kc 8d 3h", "deal 1 5h 4s 3d"]
    script = FULLY_PAID
    for before, after in hand:
        script = script.replace(before, after)
    found = [each.says for each in ruling(script, GAME).findings]
    assert found[0] == (
        "Position 1 was paid $0.00 on Ante bonus; 649a.12 pays Straight 1 to 1: $10.00."
    )


SETTLED = """
    complete
    2 ante           1000 lose -1000 649a.12
    3 ante           1000 lose -1000 649a.12
    2 six_card_bonus  500 lose  -500 649a.12(f)
    1 ante           1000 win  +1000 649a.12 Hand higher than the dealer's, 1 to 1
    1 play           1000 win  +1000 649a.12 Hand higher than the dealer's, 1 to 1
    1 pair_plus       500 lose  -500 649a.12
"""
NEXT = """
    start            > wager_placed dealer ante 649a.6
    1 ante           > no_more_bets_called dealer 649a.6
    1 pair_plus      > no_more_bets_called dealer 649a.6
    2 ante           > no_more_bets_called dealer 649a.6
    2 six_card_bonus > no_more_bets_called dealer 649a.6
    3 ante           > no_more_bets_called dealer 649a.6
    nomorebets       > cards_dealt position 1 649a.6
    deal 1           > cards_dealt position 2 649a.6
    deal 2           > cards_dealt position 3 649a.6
    deal 3           > cards_dealt dealer 649a.6
    deal dealer      > wager_placed position 1 play 649a.6
    1 play           > wager_placed position 2 play 649a.6
    fold 2           > wager_placed position 3 play 649a.6
    fold 3           > wager_collected position 2 ante 1000 649a.12
    take 2           > wager_collected position 3 ante 1000 649a.12
    take 3           > hand_discarded position 3 649a.12
    rack 3           > cards_turned dealer 649a.6
    show dealer      > cards_turned position 2 649a.6
    show 2           > wager_collected position 2 six_card_bonus 500 649a.12(f)
    take 2           > hand_discarded position 2 649a.6
    rack 2           > cards_turned position 1 649a.6
    show 1           > wager_paid position 1 ante 1000 649a.12
    pay 1            > wager_paid position 1 play 1000 649a.12
    pay 1            > wager_collected position 1 pair_plus 500 649a.12
    take 1           > hand_discarded position 1 649a.6
    rack 1           > round_completed dealer 649a.6
"""


def test_649a_6_a_record_cut_after_any_fact_says_what_must_come_next() -> None:
    facts, following = lines(FULLY_PAID), [line.split("> ")[1] for line in lines(NEXT)]
    assert len(facts) == len(following) + 1
    for count, expected in enumerate(following, 1):
        found = text(ruling("\n".join(facts[:count]), GAME), following=True)
        assert found[-1] == "> " + expected, facts[count - 1]
    assert text(ruling(FULLY_PAID, GAME)) == lines(SETTLED)


def test_649a_6_cards_are_dealt_one_by_one_but_by_an_automated_shoe() -> None:
    one, two, dealer = (
        f"> cards_dealt {who} 649a.6" for who in ("position 1", "position 2", "dealer")
    )
    cut = "start hand\n1 ante 10\n2 ante 10\nnomorebets\n"
    for rank in "234":
        for card, following in ((f"1 {rank}c", two), (f"2 {rank}d", dealer)):
            cut += f"deal {card}\n"
            assert text(ruling(cut, GAME), following=True)[-1] == following
        cut += f"deal dealer {rank}h\n"
        expected = "> wager_placed position 1 play 649a.6" if rank == "4" else one
        assert text(ruling(cut, GAME), following=True)[-1] == expected


def test_649a_6_an_automated_shoe_deals_a_holders_three_cards_at_once() -> None:
    cut = "start automated_shoe\n1 ante 10\n2 ante 10\nnomorebets\n"
    for cards, following in (
        ("1 2c", "> cards_dealt position 1 649a.6"),
        ("1 3c 4c", "> cards_dealt position 2 649a.6"),
        ("2 2d 3d", "> cards_dealt position 2 649a.6"),
        ("2 4d", "> cards_dealt dealer 649a.6"),
        ("dealer 2h 3h", "> cards_dealt dealer 649a.6"),
        ("dealer 4h", "> wager_placed position 1 play 649a.6"),
    ):
        cut += f"deal {cards}\n"
        assert text(ruling(cut, GAME), following=True)[-1] == following


# The line that is gone, the status then, and every finding.
GONE = """
    nomorebets           > complete > step_missing
    deal 1 Kc 8d 3h      > complete > step_missing
    1 play 1000          > awaiting > step_missing
    fold 2               > complete > step_missing
    fold 3               > complete > step_missing
    show dealer Qs 7h 4d > complete > step_missing
    show 2 9c 8c 2h      > complete > step_missing
    show 1 Kc 8d 3h      > complete > step_missing
    take 3 ante 1000     > complete > not_collected
    pay 1 play 1000      > complete > underpaid
    rack 3               > complete >
"""


@pytest.mark.parametrize("case", lines(GONE))
def test_649a_6_one_fact_gone_is_found_as_what_it_was(case: str) -> None:
    line, status, codes = (part.strip() for part in case.split(">"))
    rest = [each for each in lines(FULLY_PAID) if each != line]
    assert len(rest) == len(lines(FULLY_PAID)) - 1
    told = text(ruling("\n".join(rest), GAME))
    assert told[0] == status
    assert [each.split()[1] for each in told if each.startswith("!")] == codes.split()


BASE = """
    1 ante           1000 win  +1000 649a.12 Hand higher than the dealer's, 1 to 1
    1 play           1000 win  +1000 649a.12 Hand higher than the dealer's, 1 to 1
    1 pair_plus       500 lose  -500 649a.12
    1 six_card_bonus  500 lose  -500 649a.12(f)
"""
ROUND = round_of("Kc 8d 3h", "Qs 7h 4d")
VOID = """
    void
    1 ante           1000 void +0 649a.6
    1 pair_plus       500 void +0 649a.6
    1 six_card_bonus  500 void +0 649a.6
"""
RETURNED = "back 1 ante 1000\n back 1 pair_plus 500\n back 1 six_card_bonus 500\n void\n"


def test_649a_standard_a_hand_of_too_many_or_few_cards_voids_the_round() -> None:
    start = ROUND.partition("deal 1")[0]
    for cards, misdeal in (
        ("deal 1 Kc 8d\n deal dealer Qs 7h 4d\n", "1 3 / 2"),
        ("deal 1 Kc 8d 3h 2h\n deal dealer Qs 7h 4d\n", "1 3 / 4"),
        ("deal 1 Kc 8d 3h\n deal dealer Qs 7h\n", "3 / 2"),
        ("deal 1 Kc 8d 3h\n deal dealer Qs 7h 4d\n deal 2 2c 2d 2h\n", "2 0 / 3"),
    ):
        check(start + cards + RETURNED, VOID + f"! misdeal {misdeal} 649a.6")
    check(start + "call wrong_card_count\n" + RETURNED, VOID)


def test_649a_standard_a_stub_that_is_short_or_over_voids_the_round() -> None:
    dealt, _, played = ROUND.partition("1 play")
    check(dealt + "stub 46\n 1 play" + played, "complete" + BASE)
    for counted in (45, 47):
        found = VOID + f"! misdeal 46 / {counted} 649a.6"
        check(dealt + f"stub {counted}\n" + RETURNED, found)


def test_649a_standard_late_wagers_stay_where_cards_were_dealt_and_go_back_where_not() -> None:
    before, _, after = ROUND.partition("deal 1")
    for wager in ("ante 700", "pair_plus 700"):
        name, amount = wager.split()
        late = f"! late_wager 2 {name} 649a.6"
        back = f"complete\n 2 {name} {amount} void +0 649a.6"
        check(before + f"2 {wager}\n deal 1" + after, back + BASE + late)
    dealt = after.replace("deal dealer", "deal 2 5c 4c 2d\n deal dealer")
    folded = dealt.replace("1 play 1000", "1 play 1000\n fold 2")
    lost = "complete\n 2 ante 700 lose -700 649a.12" + BASE + "! late_wager 2 ante 649a.6"
    check(before + "2 ante 700\n deal 1" + folded, lost)
    # A late wager beside one in time stays with it.
    script = ROUND.replace("1 pair_plus 500\n", "").replace(
        "nomorebets", "nomorebets\n 1 pair_plus 500"
    )
    check(script, "complete" + BASE + "! late_wager 1 pair_plus 649a.6")


def test_649a_standard_a_player_who_left_before_his_play_wager_loses_every_wager() -> None:
    script = ROUND.partition("1 play")[0]
    check(
        script,
        """
        complete
        1 ante           1000 lose -1000 649a.12
        1 pair_plus       500 lose  -500 649a.12
        1 six_card_bonus  500 lose  -500 649a.12
        """,
        gone=(1,),
    )


def test_649a_standard_a_play_wager_is_as_large_as_the_ante() -> None:
    script = ROUND.replace("play 1000", "play 1500")
    expected = "complete" + BASE.replace(
        "1 play           1000 win  +1000", "1 play 1500 win +1500"
    )
    check(script, expected + "! wager_not_permitted 1 play 649a.6")


def test_649a_standard_the_table_has_seven_positions() -> None:
    for position, permitted in ((7, True), (8, False)):
        script = ROUND.replace("\n        1 ", f"\n        {position} ")
        script = script.replace("deal 1", f"deal {position}").replace("show 1", f"show {position}")
        found = text(ruling(script, GAME))
        assert found[0] == "complete"
        assert (f"! wager_not_permitted {position} ante 649a.6" in found) is not permitted


def test_649a_standard_a_card_not_known_leaves_what_depends_on_it_open() -> None:
    hidden = ROUND.replace("Kc 8d 3h", "?? 8d 3h")
    assert text(ruling(hidden, GAME)) == ["awaiting", "> hand_discarded position 1 649a.6"]
    dealers = ROUND.replace("Qs 7h 4d", "?? 7h 4d")
    found = text(ruling(dealers, GAME))
    assert found[:2] == ["awaiting", "1 pair_plus 500 lose -500 649a.12"]


def test_649a_standard_wagers_that_the_record_lost_leave_the_hand_in_play() -> None:
    script = ROUND.replace("start manual_shoe", "start manual_shoe | seq 1")
    script = script.replace("nomorebets", "nomorebets | seq 5")
    rest = [line for line in lines(script) if not line[0].isdigit() or " play " in line]
    found = text(ruling("\n".join(rest), GAME))
    assert found[:2] == ["awaiting", lines(BASE)[1]]
    assert not [line for line in found if "misdeal" in line or "not_permitted" in line]


def test_649a_standard_a_pair_plus_without_an_ante_is_whole_though_a_fact_was_lost() -> None:
    script = ROUND.replace("1 ante 1000\n", "").replace("1 six_card_bonus 500\n", "")
    script = script.replace("1 play 1000\n", "").replace("start manual_shoe", "start hand | seq 1")
    found = text(ruling(script.replace("nomorebets", "nomorebets | seq 3"), GAME))
    assert found == lines("""
        complete
        1 pair_plus 500 lose -500 649a.12
        ! fact_missing 1 more / 1, then 3
    """)


def test_649a_standard_a_hand_given_up_and_shown_without_a_six_card_bonus_is_in_play() -> None:
    script = ROUND.replace("1 six_card_bonus 500\n", "").replace("1 play 1000", "fold 1")
    assert text(ruling(script + "done", GAME))[0] == "awaiting"


def test_649a_12_g_odds_below_the_least_are_told_where_they_are_filed() -> None:
    filing = ruling_filed({"ante_bonus": {"mini_royal_flush": "4 to 1", "straight": "1 to 1"}})
    assert filing == [
        "paytables.ante_bonus.mini_royal_flush: 4 to 1 is less than the section allows"
    ]
    assert ruling_filed({"ante_bonus": {"mini_royal_flush": "5 to 1"}}) == []
    assert ruling_filed({"pair_plus": {"mini_royal_flush": "39 to 1"}}) != []
    assert ruling_filed({"pair_plus": {"mini_royal_flush": "40 to 1", "pair": "1 to 2"}}) == []


def ruling_filed(paytables: dict[str, dict[str, str]]) -> list[str]:
    """The findings about a Rules Submission with these paytables."""
    filing = told.RulesSubmissionFiled(
        game=GAME,
        effective_from="2010-01-01",
        breakage=told.Breakage(unit=1, mode="down"),
        paytables=paytables,
    )
    return [f"{each.where}: {each.says}" for each in problems(games()[GAME], filing)]


def test_649a_standard_a_wager_where_there_is_no_position_goes_back_and_voids_nothing() -> None:
    for position in (0, 8):
        script = ROUND.replace("nomorebets", f"{position} ante 700\n nomorebets")
        returned = f"complete\n {position} ante 700 void +0 649a.6"
        check(script, returned + BASE + f"! wager_not_permitted {position} ante 649a.6")
