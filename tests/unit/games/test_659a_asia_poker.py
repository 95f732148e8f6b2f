"""Asia Poker, Chapter 659a: hands and Bonus Wagers settled by hand from sections 6, 11 and 12."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from ledger.rules.hands.asia import Ranking, highest_high
from ledger.rules.hands.cards import DECK
from tests.unit.games.asia import DEALER, GAME, LOST, WON, check, played
from tests.unit.games.rounds import ruling, text

BET = "1 asia_poker 1000"

# -- 11(f): two hands of three ---------------------------------------------------------------------

# Beside the dealer's kings with 7-5, queen-8 and 9: higher, lower, and a copy.
HIGH = {"+": "Ac Ad 6h 4s", "-": "Tc Td 6h 4s", "=": "Kh Ks 7d 5c"}
MEDIUM = {"+": "Qd 9c", "-": "Qd 7c", "=": "Qd 8c"}
LOW = {"+": "Th", "-": "3h", "=": "9s"}
WINS = {"+++", "++-", "++=", "+-+", "+=+", "-++", "=++"}


@pytest.mark.parametrize("how", ["".join(each) for each in product("+-=", repeat=3)])
def test_659a_11_f_wins_with_two_hands_higher_and_a_copy_is_not_higher(how: str) -> None:
    hands = f"{HIGH[how[0]]} / {MEDIUM[how[1]]} / {LOW[how[2]]}"
    owed = f"win +1000 {WON}" if how in WINS else f"lose -1000 {LOST}"
    check(played({1: hands}, BET), f"complete\n1 asia_poker 1000 {owed}")


# 6(b)-(c): player's high hand, dealer's, whether the player's is the higher; his medium hand is the
# higher and his low hand the lower, so the high hand decides.
HIGH_HANDS = """
    Ac Ad Ah As    Kc Qc Jc Ac   +
    Ac Ad Ah Jk    Kc Qc Jc As   +
    Kc Qc Jc Ac    Ad 2d 3d 4d   +
    Ad 2d 3d 4d    Kc Qc Jc Tc   +
    Kc Qc Jc Tc    5d 4d 3d 2d   +
    5d 4d 3d 2d    Kc Kd Kh Ks   +
    Kc Kd Kh Ks    Ac Qc Jc 9c   +
    7c 5c 4c 2c    Ac Kd Qh Jh   +
    Ac Kd Qh Jh    Ad 2d 3h 4s   +
    Ad 2d 3h 4s    Kc Qd Jh Tc   +
    5c 4d 3h 2s    Ac Ad Ah Kc   +
    2c 2d 2h 4c    Ac Ad Kh Kc   +
    3c 3d 2c 2d    Ac Ad Kh Qc   +
    9c 9d 4h 2s    9h 9s 3c 2d   +
    9c 9d 4h 2s    9h 9s 4c 2d   -
    Jk 9d 9h 4s    Tc Td 8h 6c   -
    Jk Qd Jh Ts    Kc Kd Kh 3c   +
    Jk 7d 6d 2d    Ac Kd Qh Jh   +
    Jk Ad 6h 2c    Kc Kd 7h 5s   +
"""


@pytest.mark.parametrize("row", [row.split() for row in HIGH_HANDS.splitlines() if row.strip()])
def test_659a_6_b_the_high_hands_rank_as_the_chapter_ranks_them(row: list[str]) -> None:
    *eight, sign = row
    mine, theirs = " ".join(eight[:4]), " ".join(eight[4:])
    left = iter(card for card in DECK[::-1] if card not in eight)
    spare = {rank: [] for rank in "23456789TJQKA"}  # type: dict[str, list[str]]
    for card in left:
        spare[card[0]].append(card)
    pick = lambda *ranks: next(spare[r].pop() for r in ranks if spare[r])  # noqa: E731
    me = f"{pick('8')} {pick('7')} / {pick('2', '3')}"
    dealer = f"{pick('8')} {pick('6')} / {pick('5', '4')}"
    script = played({1: f"{mine} / {me}"}, BET, f"{theirs} / {dealer}")
    owed = f"win +1000 {WON}" if sign == "+" else f"lose -1000 {LOST}"
    assert text(ruling(script, GAME))[1] == f"1 asia_poker 1000 {owed}"


def test_659a_6_a_the_joker_alone_is_an_ace_in_the_low_or_the_medium_hand() -> None:
    script = played({1: "Ac Ad Ah 4s / Jk 9c / 3h"}, BET, "Kc Kd 7h 5s / As 8d / 9h")
    check(script, f"complete\n1 asia_poker 1000 win +1000 {WON}")
    low = played({1: "Tc Td 6h 4s / As 9c / Jk"}, BET, "Kc Kd 7h 5s / Ad 8d / Kh")
    check(low, f"complete\n1 asia_poker 1000 win +1000 {WON}")


def test_659a_6_a_joker_in_flush_decides_the_wager_it_decides_and_is_named_there_alone() -> None:
    # Ace, joker, 8, 4 beside ace, king, jack, 3: king and below it an 8, or a second ace.
    script = played({1: "Jk As 8s 4s / Qd 9c / 3h"}, BET, "Ac Kc Jc 3c / Qc 8d / 9h")
    ace = {"readings": {"joker_in_flush": "ace"}}
    check(
        script,
        f"complete\n1 asia_poker 1000 lose -1000 {LOST} [joker_in_flush highest_absent]",
    )
    check(script, f"complete\n1 asia_poker 1000 win +1000 {WON} [joker_in_flush ace]", filed=ace)
    # In the dealer's flush, the other way round.
    turned = played({1: "Ac Kc Jc 3c / Qd 9c / 3h"}, BET, "Jk As 8s 4s / Qc 8d / 9h")
    check(turned, f"complete\n1 asia_poker 1000 win +1000 {WON} [joker_in_flush highest_absent]")
    check(turned, f"complete\n1 asia_poker 1000 lose -1000 {LOST} [joker_in_flush ace]", filed=ace)
    # A flush that is lower or higher either way.
    clear = played({1: "Jk As 8s 4s / Qd 7c / 3h"}, BET, "Ac Kc Jc 3c / Qc 8d / 9h")
    check(clear, f"complete\n1 asia_poker 1000 lose -1000 {LOST}")


def test_659a_6_b_3_and_6_a_submission_makes_a_2_3_4_the_lowest_straight() -> None:
    lowest = {"options": {"ace_low_straight": "lowest"}}
    for mine, theirs in (("Ad 2c 3h 4s", "Kc Qd Jh Tc"), ("Ad 2d 3d 4d", "Kc Qc Jc Tc")):
        script = played({1: f"{mine} / 9d 8h / 2s"}, BET, f"{theirs} / 9h 7h / 6h")
        check(script, f"complete\n1 asia_poker 1000 win +1000 {WON}")
        check(script, f"complete\n1 asia_poker 1000 lose -1000 {LOST}", filed=lowest)


# -- 11(f)(1)(iii)-(v): set wrong ------------------------------------------------------------------

FOULED = """
    Kh Ks 7d 5c / Ac As / 3h      11(f)(1)(iii)
    Ac 9s 7d 5c / Ad Ts / 3h      11(f)(1)(iii)
    Ac Ad 6h 4s / Qd 9c / Kh      11(f)(1)(iv)
    Ac Ad 6h 4s / Qd 9c / Jk      11(f)(1)(iv)
"""


@pytest.mark.parametrize("row", [row.strip() for row in FOULED.splitlines() if row.strip()])
def test_659a_11_f_1_hands_that_do_not_fall_in_rank_lose(row: str) -> None:
    hands, _, section = row.rpartition(" ")
    low = "Kc Jd 7h 5s / Qc 8d / 2h"
    found = ruling(played({1: hands.strip()}, BET, low), GAME)
    assert text(found) == [
        "complete",
        f"1 asia_poker 1000 lose -1000 659a.{section}",
        f"! hand_misset 1 659a.{section}",
    ]
    assert len(found.findings[0].facts) == 1


def test_659a_11_f_1_v_hands_of_other_sizes_lose() -> None:
    hands = "Ac Ad Ah 4s / Qd 9c / 3h"
    script = played({1: hands}, BET, "Kc Kd 7h 5s / Qc 8d / 2h")
    wrong = script.replace(
        "high Ac Ad Ah 4s medium Qd 9c low 3h", "high Ac Ad Ah medium Qd 9c low 3h"
    )
    check(
        wrong,
        """
        complete
        1 asia_poker 1000 lose -1000 659a.11(f)(1)(v)
        ! hand_misset 1 659a.11(b)
        """,
    )


def test_659a_11_b_equal_pairs_in_the_high_and_the_medium_hand_are_set_rightly() -> None:
    check(
        played({1: "Qh Qs 7d 6c / Qd Qc / 3h"}, BET, "Jc Jd 7h 5s / Tc 8d / 9h"),
        f"complete\n1 asia_poker 1000 win +1000 {WON}",
    )
    # The same leading card: the medium hand has one more.
    check(
        played({1: "Ac Ad 6h 4s / Qd 9c / Qh"}, BET),
        f"complete\n1 asia_poker 1000 win +1000 {WON}",
    )


def test_659a_11_f_the_hands_set_last_are_those_compared() -> None:
    script = played({1: "Ac Ad 6h 4s / Qd 9c / Th"}, BET)
    foul = "set 1 high Ac 6h 4s Th medium Ad Qd low 9c\nset 1 high Ac Ad"
    again = script.replace("set 1 high Ac Ad", foul)
    assert again != script
    check(again, f"complete\n1 asia_poker 1000 win +1000 {WON}")


# -- 12(b): the Bonus Wager ------------------------------------------------------------------------

# Seven cards, the row, and its odds under paytables A, B and C.
BONUS = """
    As Ah Ad 8c 8d 8h 8s   Three-of-a-kind and four 8s   5000 5000 5000
    As Ah Ad Ac Jk 3c 5d   Five aces                     800  800  800
    As Ks Qs Js Ts 2c 3d   Royal flush                   200  200  200
    As Ks Qs Js Jk 2c 3d   Royal flush                   200  200  200
    9s 8s 7s 6s 5s 2c Kd   Natural straight flush        80   50   50
    9s 8s 7s 6s 5s Jk 2c   Natural straight flush        80   50   50
    9s 8s 7s 6s Jk 2c Kd   Straight flush with a joker   40   40   40
    9c 9d 9h 9s 2c Kd 5h   Four-of-a-kind                30   30   25
    Ac Ad Ah Jk 2c Kd 5h   Four-of-a-kind                30   30   25
    9c 8d 7h 6s 4c 3d 2h   9-high                        10   10   10
    9c 8d 7h 5s 4c 3d 2h   9-high                        10   10   10
    9c 9d 9h 2c 2d Kd 5h   Full house                    5    5    5
    As Js 8s 5s 2s Kc Td   Flush                         4    4    4
    9c 9d 9h 2c Kd 5h Jc   Three-of-a-kind               3    3    3
    9c 9d 9h 8c 7d 6h 5s   Three-of-a-kind               3    3    3
    9c 8d 7h 6s 5c Kd 2h   Straight                      2    2    2
    9c 8d 7h 6s Jk Kd 2h   Straight                      2    2    2
"""


@cache
def with_bonus(seven: str) -> str:
    """A round with a Bonus Wager on these cards, set as they may be."""
    _, mine = highest_high(seven.split(), Ranking())
    free = [card for card in DECK if card not in seven.split()]
    _, theirs = highest_high(free[:7], Ranking())
    set_ = [" / ".join(" ".join(each) for each in hands.values()) for hands in (mine, theirs)]
    return played({1: set_[0]}, "1 asia_poker 1000\n1 bonus 100", set_[1])


def bonus_of(script: str, **filed: object) -> str:
    """The line that settles the Bonus Wager."""
    found = text(ruling(script, GAME, filed={"offers": ("bonus",), **filed}))
    [line] = [line for line in found if line.startswith("1 bonus")]
    return line


@pytest.mark.parametrize("row", [row.strip() for row in BONUS.splitlines() if row.strip()])
def test_659a_12_b_bonus_wagers_by_each_paytable(row: str) -> None:
    seven, _, rest = row.partition("   ")
    *words, a, b, c = rest.split()
    label = " ".join(words)
    script = with_bonus(seven)
    for letter, odds in zip("ABC", (a, b, c), strict=True):
        owed = f"win +{100 * int(odds)} 659a.12(b) {label}, {odds} to 1"
        assert bonus_of(script, paytables={"bonus": letter}) == f"1 bonus 100 {owed}"
        found = ruling(script, GAME, filed={"offers": ("bonus",), "paytables": {"bonus": letter}})
        assert [s.paytable for s in found.settlements if s.wager == "bonus"] == [letter]


def test_659a_11_h_1_less_than_the_list_loses_the_bonus_wager() -> None:
    for seven in ("Kc Kd 9h 7s 5c 3d 2h", "Kc Kd 9h 9s 5c 3d 2h", "9c 8d 7h 5s 4c 3d Kh"):
        assert bonus_of(with_bonus(seven)) == "1 bonus 100 lose -100 659a.11(h)(1)"


def test_659a_6_d_1_the_joker_is_the_third_ace_beside_four_8s_or_the_hand_is_four_of_a_kind() -> (
    None
):
    script = with_bonus("As Ah Jk 8c 8d 8h 8s")
    reading = "trips_and_888_joker"
    assert bonus_of(script) == (
        "1 bonus 100 win +500000 659a.12(b) Three-of-a-kind and four 8s, 5000 to 1 "
        f"[{reading} allowed]"
    )
    for letter, odds in (("A", 30), ("C", 25)):
        owed = bonus_of(script, readings={reading: "not_allowed"}, paytables={"bonus": letter})
        assert owed == (
            f"1 bonus 100 win +{odds}00 659a.12(b) Four-of-a-kind, {odds} to 1 "
            f"[{reading} not_allowed]"
        )
    # Without the joker neither value changes anything.
    plain = with_bonus("As Ah Ad 8c 8d 8h 8s")
    assert bonus_of(plain, readings={reading: "not_allowed"}) == bonus_of(plain)


def test_659a_11_h_the_bonus_wager_is_paid_whatever_became_of_the_other() -> None:
    script = played({1: "Tc Td 6h 4s / 9c 8c / 7s"}, "1 asia_poker 1000\n1 bonus 100")
    check(
        script,
        f"""
        complete
        1 asia_poker 1000 lose -1000 {LOST}
        1 bonus 100 win +200 659a.12(b) Straight, 2 to 1
        """,
    )


# -- 12(c): the payout limit -----------------------------------------------------------------------


def test_659a_12_c_both_wagers_of_a_hand_share_one_payout_limit() -> None:
    limit = {"limits": {"payout_per_player_round": 5_000_000}, "offers": ("bonus",)}
    hands = {1: "Ac Ad 6h 4s / Qd 9c / Th", 2: "Ts 9s 8h 7s / Ah 6c / 2d"}
    dealer = "Kc Kd 7h 5s / Qc 8d / 9h"

    def owed(asia: int, bonus: int) -> list[tuple[str, int, str, str]]:
        bets = f"1 asia_poker 2000\n2 asia_poker {asia}\n2 bonus {bonus}"
        found = ruling(played(hands, bets, dealer), GAME, filed=limit)
        assert found.status == "complete"
        return [(s.wager, s.net, s.exact_net, s.section) for s in found.settlements]

    one = ("asia_poker", 2000, "2000", "659a.12(a)")
    # The second hand wins high and medium; its straight pays 2 to 1.
    assert owed(3_000_000, 1_000_000) == [
        ("asia_poker", 3_000_000, "3000000", "659a.12(a)"),
        ("bonus", 2_000_000, "2000000", "659a.12(b)"),
        one,
    ]
    assert owed(3_000_001, 1_000_000) == [
        ("asia_poker", 3_000_001, "3000001", "659a.12(a)"),
        ("bonus", 1_999_999, "1999999", "659a.12(c)"),
        one,
    ]
    assert owed(6_000_000, 100) == [
        ("asia_poker", 5_000_000, "5000000", "659a.12(c)"),
        ("bonus", 0, "0", "659a.12(c)"),
        one,
    ]
    # Less than the section allows limits nothing.
    limit["limits"] = {"payout_per_player_round": 4_999_999}
    assert owed(6_000_000, 100)[0] == ("asia_poker", 6_000_000, "6000000", "659a.12(a)")


def test_659a_12_c_without_a_limit_filed_everything_is_paid() -> None:
    script = played({1: "Ac Ad 6h 4s / Qd 9c / Th"}, "1 asia_poker 9000000", DEALER)
    check(script, f"complete\n1 asia_poker 9000000 win +9000000 {WON}")
