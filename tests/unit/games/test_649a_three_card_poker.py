"""Three Card Poker, Chapter 649a: hands settled by hand from 6(d)-(e), 12(g) and the standard game.

The documents print no other part of the chapter; what the standard game does is worked out by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "three_card_poker"

BASE = {
    "U": ("win +1000", "push +0", "Dealer without a queen or better"),
    "W": ("win +1000", "win +1000", "Hand higher than the dealer's"),
    "T": ("push +0", "push +0", "Hand equal to the dealer's"),
}
ODDS = {"win +1000": "1 to 1", "push +0": "Push"}
PRINTED = {  # what a code wins on 1000, on 500 and on 500, where no Rules Submission is filed
    "SF": ("Straight flush", 5, 40, 200),
    "3K": ("Three-of-a-kind", 4, 30, 5),
    "ST": ("Straight", 1, 6, 10),
    "FL": ("Flush", 0, 4, 20),
    "P": ("Pair", 0, 1, 0),
    "4K": ("Four-of-a-kind", 0, 0, 50),
    "FH": ("Full house", 0, 0, 25),
    "RF": ("Royal flush", 0, 0, 1000),
}


def round_of(hand: str, dealer: str) -> str:
    """A round of one player with every wager, who plays."""
    return f"""
        start manual_shoe
        1 ante 1000
        1 pair_plus 500
        1 six_card_bonus 500
        nomorebets
        deal 1 {hand}
        deal dealer {dealer}
        1 play 1000
        show dealer {dealer}
        show 1 {hand}
    """


def expected_of(base: str, hand: str, six: str) -> list[str]:
    """The ruling of that round by its codes: the showdown, the three cards, the six."""
    if base == "X":
        found = [f"1 {wager} 1000 lose -1000 649a.12" for wager in ("ante", "play")]
    else:
        *outcomes, row = BASE[base]
        found = [
            f"1 {wager} 1000 {outcome} 649a.12 {row}, {ODDS[outcome]}"
            for wager, outcome in zip(("ante", "play"), outcomes, strict=True)
        ]
    label, bonus, plus, _ = PRINTED.get(hand, ("", 0, 0, 0))
    if bonus:
        found.append(f"1 ante_bonus 1000 win {bonus * 1000:+d} 649a.12 {label}, {bonus} to 1")
    paid = f"win {plus * 500:+d} 649a.12 {label}, {plus} to 1" if plus else "lose -500 649a.12"
    found.append(f"1 pair_plus 500 {paid}")
    label, _, _, times = PRINTED.get(six, ("", 0, 0, 0))
    paid = f"win {times * 500:+d} 649a.12(f) {label}, {times} to 1"
    return [
        "complete",
        *found,
        "1 six_card_bonus 500 " + (paid if times else "lose -500 649a.12(f)"),
    ]


def check_hands(table: str, **around: Unpack[Around]) -> None:
    """Each row: hand / dealer / codes of Ante and Play, of the hand, of the six cards."""
    for row in lines(table):
        hand, dealer, codes = (part.strip() for part in row.split("/"))
        found = text(ruling(round_of(hand, dealer), GAME, **around))
        assert found == expected_of(*codes.split()), row


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)


def test_649a_12_standard_the_higher_hand_wins_from_a_queen_on_and_equal_hands_push() -> None:
    check_hands("""
        Kc 8d 3h / Qs 7h 4d / W - -
        Qc 6d 4h / Qs 7h 2d / X - -
        Qc 7d 2h / Qs 7h 2c / T - -
        2c 3d 5h / Js Th 8d / U - -
        Ac Kd 9h / Js Th 8c / U - -
        2c 2d 5h / As Kh 9d / W P -
        As Kh 9d / 2c 2d 5h / X - -
    """)


def test_649a_6_standard_a_straight_is_above_a_flush_and_three_of_a_kind_above_both() -> None:
    check_hands("""
        4c 5d 6h / As Ks 9s / W ST -
        Ac Kc 9c / 4s 5d 6h / X FL -
        2c 2d 2h / Qs Kd Ah / W 3K 3K
        Qc Kd Ah / 2s 2d 2h / X ST 3K
        2c 3c 4c / As Ad Ah / W SF 3K
        Ac Ad 3h / Kc Kd Qs / W P -
        Ac 2d 3h / 3s 4d 5c / X ST ST
        Ac Kd Qh / Js Th 9c / W ST ST
    """)


def test_649a_12_standard_the_ante_bonus_is_paid_beside_an_ante_that_loses_or_is_not_met() -> None:
    check_hands("""
        Qc Kd Ah / 2s 3s 4s / X ST -
        4c 5d 6h / Js 9d 7h / U ST -
        9c 9d 9h / Ks Kd Kh / X 3K FH
    """)


def test_649a_12_f_the_six_card_bonus_takes_the_best_five_of_both_hands() -> None:
    check_hands("""
        Ac Kc Qc / Jc Tc 2d / U SF RF
        9c 8c 7c / 6c 5c Kd / W SF SF
        9c 9d 2h / 9h 9s Kd / X P 4K
        9c 9d 2h / 9h 2s 2d / W P FH
        9c 7c 2c / Kc Jc 3d / W FL FL
        9c 8d 2h / 7h 6s 5d / X - ST
        9c 9d 2h / 9h Qs 4d / W P 3K
        9c 9d 2h / Ks Kd 4d / X P -
    """)


def given_up(hand: str, dealer: str, *, shown: bool = True) -> str:
    """The round of one player with every wager, who makes no Play Wager."""
    script = round_of(hand, dealer).replace("1 play 1000", "fold 1")
    return script if shown else script.partition("show")[0]


FORFEITED = """
    complete
    1 ante 1000 lose -1000 649a.12
    1 pair_plus 500 lose -500 649a.12
"""


def test_649a_12_standard_a_hand_given_up_loses_its_ante_and_pair_plus_and_no_six_card_bonus() -> (
    None
):
    won = "1 six_card_bonus 500 win +5000 649a.12(f) Straight, 10 to 1"
    lost = "1 six_card_bonus 500 lose -500 649a.12(f)"
    check(given_up("9c 8d 2h", "7h 6s 5d"), FORFEITED + won)
    check(given_up("9c 8d 2h", "7h 6s 4d"), FORFEITED + lost)
    # Not even a straight, which would have had an Ante Bonus and a Pair Plus.
    check(given_up("9c 8d 7h", "6h 5s 4d"), FORFEITED + won)
    bare = given_up("9c 8d 2h", "7h 6s 5d", shown=False).replace("1 six_card_bonus 500", "")
    check(bare, FORFEITED)


def test_649a_12_standard_a_pair_plus_or_six_card_bonus_may_stand_alone() -> None:
    check(
        """
        start
        1 pair_plus 500
        2 six_card_bonus 500
        nomorebets
        deal 1 9c 9d 2h
        deal 2 Kc 3d 4h
        deal dealer Ks Kd Kh
        show dealer Ks Kd Kh
        show 2 Kc 3d 4h
        show 1 9c 9d 2h
        """,
        """
        complete
        2 six_card_bonus 500 win +25000 649a.12(f) Four-of-a-kind, 50 to 1
        1 pair_plus 500 win +500 649a.12 Pair, 1 to 1
        """,
    )


OFFERS = ("pair_plus", "six_card_bonus")
STRAIGHT_UP = {"straight_flush": "6 to 1", "three_of_a_kind": "5 to 1", "straight": "2 to 1"}
MINI = {**STRAIGHT_UP, "mini_royal_flush": "7 to 1"}
PLUS = {"straight_flush": "35 to 1", "three_of_a_kind": "25 to 1", "straight": "5 to 1"}
PLUS_MINI = {**PLUS, "flush": "3 to 1", "pair": "1 to 1", "mini_royal_flush": "50 to 1"}


def paid(hand: str, dealer: str = "Js 9d 7h", **paytables: dict[str, str]) -> dict[str, str]:
    """What each payout of a round is, under these tables: net, section and row."""
    filed = {"offers": OFFERS, "paytables": paytables}
    found = ruling(round_of(hand, dealer), GAME, filed=filed).settlements
    return {s.wager: f"{s.net:+d} {s.section} {s.row}" for s in found if s.outcome == "win"}


def test_649a_12_g_1_a_mini_royal_flush_has_an_ante_bonus_of_its_own_if_it_is_chosen() -> None:
    own = paid("Ac Kc Qc", ante_bonus=MINI)
    assert own["ante_bonus"] == "+7000 649a.12(g)(1) Mini-royal flush"
    other = paid("Kc Qc Jc", ante_bonus=MINI)
    assert other["ante_bonus"] == "+6000 649a.12 Straight flush"
    without = paid("Ac Kc Qc", ante_bonus=STRAIGHT_UP)
    assert without["ante_bonus"] == "+6000 649a.12 Straight flush"
    assert paid("Ac Kc Qc")["ante_bonus"] == "+5000 649a.12 Straight flush"
    assert paid("Ac Kd Qc", ante_bonus=MINI)["ante_bonus"] == "+2000 649a.12 Straight"


def test_649a_12_g_2_a_mini_royal_flush_has_a_pair_plus_row_of_its_own_if_it_is_chosen() -> None:
    own = paid("Ac Kc Qc", pair_plus=PLUS_MINI)
    assert own["pair_plus"] == "+25000 649a.12(g)(2) Mini-royal flush"
    assert paid("Kc Qc Jc", pair_plus=PLUS_MINI)["pair_plus"] == "+17500 649a.12 Straight flush"
    assert paid("Ac Kc Qc", pair_plus=PLUS)["pair_plus"] == "+17500 649a.12 Straight flush"
    assert paid("Ac Kc Qc")["pair_plus"] == "+20000 649a.12 Straight flush"
    # A row that is not named is not offered.
    assert "pair_plus" not in paid("2c 2d 5h", pair_plus=PLUS)


def test_649a_12_g_less_than_5_or_40_to_1_does_not_hold() -> None:
    for odds, net in (("4 to 1", 5000), ("5 to 1", 5000), ("6 to 1", 6000), ("9 to 2", 5000)):
        found = paid("Ac Kc Qc", ante_bonus={"mini_royal_flush": odds})
        assert found["ante_bonus"] == f"{net:+d} 649a.12(g)(1) Mini-royal flush"
    for odds, net in (("39 to 1", 20000), ("40 to 1", 20000), ("41 to 1", 20500)):
        found = paid("Ac Kc Qc", pair_plus={"mini_royal_flush": odds})
        assert found["pair_plus"] == f"{net:+d} 649a.12(g)(2) Mini-royal flush"
    # Other rows have no least.
    low = paid("Kc Qc Jc", ante_bonus={**MINI, "straight_flush": "1 to 1"})
    assert low["ante_bonus"] == "+1000 649a.12 Straight flush"


def test_649a_6_e_a_mini_royal_flush_outranks_a_straight_flush() -> None:
    for paytables in ({}, {"ante_bonus": MINI}):
        filed = {"offers": OFFERS, "paytables": paytables}
        found = ruling(round_of("Ac Kc Qc", "Kd Qd Jd"), GAME, filed=filed).settlements
        assert [each.outcome for each in found[:2]] == ["win", "win"]


def test_649a_6_d_8_a_super_royal_is_six_cards_of_one_suit_from_the_ace_to_the_9() -> None:
    six = {"super_royal": "2000 to 1", "royal_flush": "1000 to 1", "flush": "15 to 1"}
    own = paid("Ac Kc Qc", "Jc Tc 9c", six_card_bonus=six)
    assert own["six_card_bonus"] == "+1000000 649a.6(d)(8) Super Royal"
    royal = "+500000 649a.12(f) Royal flush"
    assert paid("Ac Kc Qc", "Jc Tc 9d", six_card_bonus=six)["six_card_bonus"] == royal
    assert paid("Ac Kc Qc", "Jc Tc 8c", six_card_bonus=six)["six_card_bonus"] == royal
    without = {"royal_flush": "1000 to 1"}
    assert paid("Ac Kc Qc", "Jc Tc 9c", six_card_bonus=without)["six_card_bonus"] == royal
    assert paid("Ac Kc Qc", "Jc Tc 9c")["six_card_bonus"] == royal


# Every row by its name in a Rules Submission, at odds of its own; a hand, a dealer's, what is paid.
OWN = {
    "ante_bonus": {
        "mini_royal_flush": ("11 to 1", "Ac Kc Qc", "Js 9d 7h", 11000),
        "straight_flush": ("12 to 1", "Kc Qc Jc", "Js 9d 7h", 12000),
        "three_of_a_kind": ("13 to 1", "2c 2d 2h", "Js 9d 7h", 13000),
        "straight": ("14 to 1", "Kc Qd Jc", "Js 9d 7h", 14000),
    },
    "pair_plus": {
        "mini_royal_flush": ("41 to 1", "Ac Kc Qc", "Js 9d 7h", 20500),
        "straight_flush": ("12 to 1", "Kc Qc Jc", "Js 9d 7h", 6000),
        "three_of_a_kind": ("13 to 1", "2c 2d 2h", "Js 9d 7h", 6500),
        "straight": ("14 to 1", "Kc Qd Jc", "Js 9d 7h", 7000),
        "flush": ("15 to 1", "Kc 9c 2c", "Js 9d 7h", 7500),
        "pair": ("16 to 1", "Kc 2d 2c", "Js 9d 7h", 8000),
    },
    "six_card_bonus": {
        "super_royal": ("11 to 1", "Ac Kc Qc", "Jc Tc 9c", 5500),
        "royal_flush": ("12 to 1", "Ac Kc Qc", "Jc Tc 9d", 6000),
        "straight_flush": ("13 to 1", "9c 8c 7c", "6c 5c Kd", 6500),
        "four_of_a_kind": ("14 to 1", "9c 9d 2h", "9h 9s Kd", 7000),
        "full_house": ("15 to 1", "9c 9d 2h", "9h 2s 2d", 7500),
        "flush": ("16 to 1", "9c 7c 2c", "Kc Jc 3d", 8000),
        "straight": ("17 to 1", "9c 8d 2h", "7h 6s 5d", 8500),
        "three_of_a_kind": ("18 to 1", "9c 9d 2h", "9h Qs 4d", 9000),
    },
}


@pytest.mark.parametrize("payout", OWN)
def test_649a_12_every_row_pays_what_the_submission_gives_it_by_name(payout: str) -> None:
    odds = {key: row[0] for key, row in OWN[payout].items()}
    for key, (_, hand, dealer, net) in OWN[payout].items():
        found = paid(hand, dealer, **{payout: odds})
        assert found[payout].startswith(f"{net:+d} "), key


def test_649a_12_under_odds_of_a_submission_a_card_not_known_leaves_its_payouts_open() -> None:
    filed = {"offers": OFFERS, "paytables": {"ante_bonus": MINI, "pair_plus": PLUS_MINI}}
    script = round_of("?? 8d 3h", "Qs 7h 4d")
    found = text(ruling(script, GAME, filed=filed))
    assert found == ["awaiting", "> hand_discarded position 1 649a.6"]


@pytest.mark.parametrize("wager", ["pair_plus", "six_card_bonus"])
def test_649a_7_d_5_what_the_submission_does_not_offer_is_not_permitted(wager: str) -> None:
    offered = tuple(each for each in OFFERS if each != wager)
    found = text(ruling(round_of("Kc 8d 3h", "Qs 7h 4d"), GAME, filed={"offers": offered}))
    section = "649a.12" if wager == "pair_plus" else "649a.7(d)(5)"
    assert found[-1] == f"! wager_not_permitted 1 {wager} {section}"


@pytest.mark.parametrize("cents", [400, 1000])
def test_649a_6_a_play_wager_taken_back_once_the_dealers_cards_are_seen_is_settled_as_if_it_lay(
    cents: int,
) -> None:
    script = round_of("Kc 9d 4h", "Qs 8s 2h")
    back = f"show dealer Qs 8s 2h\n withdraw 1 play {cents}"
    found = text(ruling(script.replace("show dealer Qs 8s 2h", back), GAME))
    assert found == [*text(ruling(script, GAME)), "! wager_not_permitted 1 play 649a.6"]
    assert "1 play 1000 win +1000 649a.12 Hand higher than the dealer's, 1 to 1" in found
    in_time = script.replace("show dealer", "withdraw 1 play 1000\n fold 1\n show dealer")
    assert not [line for line in text(ruling(in_time, GAME)) if "1 play" in line]


@pytest.mark.parametrize(
    ("again", "stake", "more"),
    [
        ("1 play 1000", 1000, []),
        ("1 play 600", 1000, []),  # the rest is still to be collected
        ("1 play 600\n 1 play 400", 1000, []),
        (
            "1 play 1000\n withdraw 1 play 1000\n 1 play 1000",
            1000,
            ["! wager_not_permitted 1 play"],
        ),
        ("1 play 1500", 1500, ["! wager_not_permitted 1 play"]),  # 500 are new
    ],
)
def test_649a_6_a_play_wager_taken_back_too_late_and_put_down_again_is_the_same_chips(
    again: str, stake: int, more: list[str]
) -> None:
    script = round_of("Kc 9d 4h", "Qs 8s 2h")
    back = f"show dealer Qs 8s 2h\n withdraw 1 play 1000\n {again}"
    found = text(ruling(script.replace("show dealer Qs 8s 2h", back), GAME))
    assert [line for line in found if line.startswith(f"1 play {stake} win +{stake} ")]
    told = [line for line in found if line.startswith("! wager_not_permitted")]
    assert len(told) == 1 + len(more), found


@pytest.mark.parametrize("bonus", [True, False])
def test_649a_12_who_folds_and_plays_afterwards_is_out_and_has_his_play_wager_back(
    bonus: bool,  # noqa: FBT001 - with a Six Card Bonus, which stays, and without
) -> None:
    script = round_of("Kc 9d 4h", "Qs 8s 2h").replace("1 play 1000", "fold 1\n 1 play 1000")
    six = ["1 six_card_bonus 500 lose -500 649a.12(f)"]
    if not bonus:
        script, six = script.replace("1 six_card_bonus 500", "").partition("show dealer")[0], []
    found = text(ruling(script, GAME))
    lost = ["1 ante 1000 lose -1000 649a.12", "1 pair_plus 500 lose -500 649a.12"]
    assert found == [
        "complete",
        "1 play 1000 void +0 649a.6",
        *lost,
        *six,
        "! wager_not_permitted 1 play 649a.6",
    ]
