"""Lunar Poker, Chapter 589: hands settled by hand from sections 6, 11(e) and 12(c)-(d)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.games.lunar import GAME, NO_HAND, check, one_hand, opening, showdown, told
from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

ODDS = {
    "RF": "Royal flush, 100 to 1",
    "SF": "Straight flush, 50 to 1",
    "4K": "Four-of-a-kind, 20 to 1",
    "FH": "Full house, 7 to 1",
    "FL": "Flush, 5 to 1",
    "ST": "Straight, 4 to 1",
    "3K": "Three-of-a-kind, 3 to 1",
    "2P": "Two pair, 2 to 1",
    "1P": "One pair, 1 to 1",
    "AK": "Ace-king, 1 to 1",
}
"""Word for word as 589.12(c) prints it."""


def won(code: str, net: int, reading: str = "") -> list[str]:
    """A Bet of $20 that won: `1P+AK` is paid by two rows."""
    first, _, second = code.partition("+")
    named = f" [second_combination {reading}]" if reading else ""
    rows = " and ".join(ODDS[each].split(",")[0] for each in (first, second) if each)
    return [
        "complete",
        "1 ante 1000 push +0 589.11(e)(1)(ii)",
        f"1 bet 2000 win {net:+d} 589.12(c) {ODDS[first]}{named}",
        *([f"+ 1 {rows}"] if second else []),
    ]


def check_won(table: str, **around: Unpack[Around]) -> None:
    """Each row: player / dealer / code, cents won on a Bet of $20, the reading it hangs on."""
    for row in table.splitlines():
        if row.strip():
            player, dealer, what = row.split("/")
            code, net, *reading = what.split()
            found = told(one_hand(player.strip(), dealer.strip()), **around)
            assert found == won(code, int(net), *reading), row


ALL_IN_THE_FIRST = """
    Ac Kc Qc Jc Tc / 2c 2d 9h 7s 4c / RF     200000
    9h 8h 7h 6h 5h / 2c 2d 9c 7s 4c / SF     100000
    9h 9c 9d 9s 2c / 3c 3d Th 7s 4c / 4K      40000
    8h 8c 8d Ks Kc / 3c 3d Th 7s 4c / FH      14000
    Ac Kc 9c 4c 2c / 3c 3d Th 7s 4d / FL      10000
    Ac Kd Qc Jc Tc / 3c 3d Th 7s 4d / ST       8000
    5c 5d 5h 9c 2d / 3c 3d Th 7s 4d / 3K       6000
    Jc Jd 4h 4c 2d / 3c 3d Th 7s 4d / 2P       4000
    Ac Ad Kh Kc 5d / 3c 3d Th 7s 4d / 2P       4000
    9c 9d Ah 4c 2d / 3c 3d Th 7s 4d / 1P       2000
    Ac Kd Qh 4c 2d / As Kh Js Td 8c / AK       2000
"""


def test_589_12_c_every_row_of_a_hand_whose_cards_are_all_in_the_first_combination() -> None:
    check_won(ALL_IN_THE_FIRST)


def test_589_11_e_1_ii_two_aces_a_king_8_and_9_are_paid_for_the_pair_and_the_ace_king() -> None:
    check_won("""
        Ac Ad Kh 8c 9d / 3c 3d Th 7s 4d / 1P+AK 4000
        Kc Kd Ah 8c 9d / 3c 3d Th 7s 4d / 1P+AK 4000
    """)


BY_READING = """
    Ac Ad 5h 5c Kd / 3c 3d Th 7s 4d / 2P+AK  6000 best_paying
    Kc Kd Kh Ks Ad / 3c 3d Th 7s 4d / 4K+AK 42000 best_paying
    Kc Kd Kh 5s Ad / 3c 3d Th 7s 4d / 3K+AK  8000 best_paying
"""


def test_589_11_e_1_ii_the_second_combination_is_the_best_paying_with_a_new_card() -> None:
    check_won(BY_READING)
    check_won(BY_READING, filed={"readings": {"second_combination": "best_paying"}})


def test_589_11_e_1_ii_the_next_best_combination_may_have_no_new_card_and_pays_nothing() -> None:
    """A pair of the two pair, three of the four, two of the three: all in the first."""
    literal = {"readings": {"second_combination": "next_best"}}
    check_won(
        """
        Ac Ad 5h 5c Kd / 3c 3d Th 7s 4d / 2P     4000 next_best
        Kc Kd Kh Ks Ad / 3c 3d Th 7s 4d / 4K    40000 next_best
        Kc Kd Kh 5s Ad / 3c 3d Th 7s 4d / 3K     6000 next_best
        Ac Ad Kh 8c 9d / 3c 3d Th 7s 4d / 1P+AK  4000
        """,
        filed=literal,
    )
    check_won(ALL_IN_THE_FIRST, filed=literal)


def test_589_11_d_2_ii_a_sixth_card_makes_the_best_five_and_counts_for_the_second() -> None:
    """Player's five, the sixth, code and cents; two straights, two flushes, two two pairs."""
    rows = """
        5c 6d 7h 8c 9d / Th / ST+ST  16000
        9c 8c 6c 4c 3c / Kc / FL+FL  20000
        Qc Qd 8h 8c 4s / 4h / 2P+2P   8000
        Kc Kd Kh 5c 5s / Ah / FH+AK  16000 best_paying
        Ac Qd 9h 8c 2s / Ah / 1P      2000
        Ac Qd 9h 8c 4s / Kh / AK      2000
    """
    for row in filter(str.strip, rows.splitlines()):
        player, sixth, what = (part.strip() for part in row.split("/"))
        code, net, *reading = what.split()
        dealer = "As Ks Jh Td 7s" if code == "AK" else "2d 2h Ts 7s 3d"
        script = opening(player, dealer) + "decide 1 sixth_card\n fee 1 options 1000 sixth_card\n"
        turned = showdown(f"{player} {sixth}", dealer).replace(
            "locked", f"locked\n deal 1 {sixth}\n 1 bet 2000"
        )
        status, *settled = won(code, int(net), *reading)
        fee = "1 options 1000 lose -1000 589.11(b)(3)"
        assert told(script + turned) == [status, fee, *settled], row


def test_589_6_b_c_hands_compare_by_rank_before_the_highest_card_not_in_the_other() -> None:
    """Ace to 5 is the lowest straight, a pair of 9s beats 5s with an ace; kickers come last."""
    check_won("""
        2c 3d 4h 5c 6d / Ac 2d 3h 4c 5s / ST     8000
        9c 9d Kh 4c 2d / 5c 5d Ah 7s 3d / 1P     2000
        9c 9d Kh Kc 2d / Qc Qd 3h 3s Ad / 2P     4000
        Ac Kd Qh 5c 3d / As Kh Qs 5d 2c / AK     2000
        Ac Kd Qh 4c 2d / As Kh Js Td 9c / AK     2000
    """)


LOST = """
    Ac 2d 3h 4c 5s / 2c 3d 4h 5c 6d
    Qc Kd Ah 2s 3c / 2c 2d 9h 7s 4c
    5c 5d Ah 7s 3d / 9c 9d Kh 4c 2d
    As Kh Qs 5d 2c / Ac Kd Qh 5c 3d
    Qs Jh 9s 5d 2c / Ac Kd 8h 5c 3d
"""


def test_589_11_e_1_i_a_higher_dealer_hand_collects_the_ante_and_the_bet() -> None:
    for row in lines(LOST):
        player, dealer = row.split(" / ")
        check(
            one_hand(player, dealer),
            """
            complete
            1 ante 1000 lose -1000 589.11(e)(1)(i)
            1 bet  2000 lose -2000 589.11(e)(1)(i)
            """,
        )


def test_589_11_e_1_iii_an_equal_hand_returns_both_whatever_its_suits() -> None:
    for player, dealer in (
        ("Ac Kd Qh 4c 2d", "As Kh Qs 4d 2c"),
        ("9c 9d Kh 4c 2d", "9h 9s Kc 4d 2c"),
        ("2c 3d 4h 5c 6d", "2d 3h 4c 5s 6h"),
    ):
        check(
            one_hand(player, dealer),
            """
            complete
            1 ante 1000 push +0 589.11(e)(1)(iii)
            1 bet  2000 push +0 589.11(e)(1)(iii)
            """,
        )


def test_589_6_b_10_an_ace_king_qualifies_and_a_king_or_an_ace_alone_does_not() -> None:
    for dealer, qualifies in (
        ("Ah Kd 9c 7s 2h", True),
        ("2h 2d 9c 7s 4h", True),
        ("Ah Qd 9c 7s 2h", False),
        (NO_HAND, False),
    ):
        section = "11(e)(1)(ii)" if qualifies else "12(d) Ante Wager, 1 to 1"
        assert told(one_hand("Tc Td 4h 4c 5d", dealer))[1 if qualifies else 2].endswith(section)


NOT_FORCED = """
    complete
    1 bet  2000 push    +0 589.11(e)(2)(i)
    1 ante 1000 win  +1000 589.12(d) Ante Wager, 1 to 1
"""


def test_589_11_e_2_i_a_dealer_who_does_not_qualify_pays_the_ante_and_returns_the_bet() -> None:
    """Nobody's cards are turned: a hand below the dealer's is paid, too."""
    for player in ("Ac Ad Ks 8c 9d", "Jc Td 8h 4c 3d"):
        script = opening(player, NO_HAND) + "1 bet 2000\n" + showdown(player, NO_HAND)
        check(script.partition("show 1")[0], NOT_FORCED)


def forced(player: str, card: str, section: str, *settled: str) -> None:
    """A round in which the player pays for the dealer's card."""
    script = one_hand(player, NO_HAND).partition("show 1")[0]
    script += f"""
        decide 1 force_dealer
        fee 1 options 1000 force_dealer
        exchange dealer Kh
        deal dealer up {card}
    """
    shown = f"show 1 {player}" if "(B)" in section else ""
    fee = "1 options 1000 lose -1000 589.11(e)(2)(ii)"
    assert told(script + shown) == ["complete", fee, *settled]


def test_589_11_e_2_ii_a_forced_dealer_who_fails_returns_both_and_the_fee_is_lost() -> None:
    """His king is replaced: ace-queen is no ace-king."""
    section = "589.11(e)(2)(ii)(A)"
    pushes = [f"1 ante 1000 push +0 {section}", f"1 bet 2000 push +0 {section}"]
    for card in ("Ad", "Jd", "3d"):
        forced("9s 9d Kd 8c 4d", card, section, *pushes)


def test_589_11_e_2_ii_b_a_forced_dealer_who_qualifies_is_compared() -> None:
    """The 9 that he is given makes a pair of 9s."""
    stem = "589.11(e)(2)(ii)(B)"
    forced(
        "8s 8d Kd Jc 4d",
        "9d",
        stem,
        f"1 ante 1000 lose -1000 {stem}(I)",
        f"1 bet 2000 lose -2000 {stem}(I)",
    )
    forced(
        "Ts Td Kd Ac 4d",
        "9d",
        stem,
        f"1 ante 1000 push +0 {stem}(II)",
        "1 bet 2000 win +4000 589.12(c) One pair, 1 to 1",
        "+ 1 One pair and Ace-king",
    )
    forced(
        "9s 9h Qs 7d 2c",
        "9d",
        stem,
        f"1 ante 1000 push +0 {stem}(III)",
        f"1 bet 2000 push +0 {stem}(III)",
    )


def test_589_11_e_2_ii_the_fee_is_paid_before_the_dealers_card_is_replaced() -> None:
    script = one_hand("9s 9d Kd 8c 4d", NO_HAND).partition("show 1")[0] + "decide 1 force_dealer\n"
    fee, card = "fee 1 options 1000 force_dealer", "deal dealer up Ad | by shoe at 60"
    section = "589.11(e)(2)(ii)"
    for after, found in (
        (f"exchange dealer Kh\n{fee}\n{card}", None),
        (f"exchange dealer Kh\n{card}\n{fee} | at 61", "! out_of_turn"),
        (f"exchange dealer Kh\n{card}\n{fee} | at 60.2", "! order_uncertain"),
    ):
        lines_ = [line for line in told(script + after) if line.startswith("!")]
        assert lines_ == ([f"{found} 1 {section}"] if found else [])
    [late] = ruling(script + f"exchange dealer Kh\n{card}\n{fee} | at 61 id x", GAME).findings
    assert (
        late.says == f"Position 1 paid an Options fee once the dealer's card was dealt ({section})."
    )
    assert [each.id for each in late.facts] == ["x"]


def test_589_11_c_a_payment_before_decisions_are_locked_is_out_of_turn() -> None:
    script = opening("Ac Ad Ks 8c 9d", NO_HAND, more="1 super 500") + "{}fold 1\n{}locked\n{}"
    takes = ("take 1 super 500\n", "take 1 ante 1000\n", "rack 1\ndone")
    settled = told(script.format("", "", "".join(takes)))
    assert not [line for line in settled if line.startswith("!")]
    early = told(script.format("", takes[1], takes[0] + takes[2]))
    assert early == [*settled, "! out_of_turn 1 ante 589.11(d)(1)"]
    early = told(script.format("", takes[0], takes[1] + takes[2]))
    assert early == [*settled, "! out_of_turn 1 super 589.11(c)(2)(i)"]


def test_589_11_e_2_ii_one_card_is_shared_by_all_who_paid_and_others_are_settled_first() -> None:
    """Positions 2 and 4 pay for the card; they are compared counterclockwise."""
    check(
        f"""
        start hand
        1 ante 1000
        2 ante 500
        4 ante 2000
        nomorebets
        deal 1 Ac Jd 8h 4c 3d
        deal 2 Ts Td Kd 8c 4d
        deal 4 8s 8d Kc Jc 5d
        deal dealer {NO_HAND}
        show dealer 4 2h
        1 bet 2000
        2 bet 1000
        4 bet 4000
        locked
        show dealer Kh Qd 9c 7s
        decide 2 force_dealer
        fee 2 options 500 force_dealer
        decide 4 force_dealer
        fee 4 options 2000 force_dealer
        exchange dealer Kh
        deal dealer up 9d
        show 4 8s 8d Kc Jc 5d
        show 2 Ts Td Kd 8c 4d
        """,
        """
        complete
        2 options  500 lose  -500 589.11(e)(2)(ii)
        4 options 2000 lose -2000 589.11(e)(2)(ii)
        1 bet     2000 push    +0 589.11(e)(2)(i)
        1 ante    1000 win  +1000 589.12(d) Ante Wager, 1 to 1
        4 ante    2000 lose -2000 589.11(e)(2)(ii)(B)(I)
        4 bet     4000 lose -4000 589.11(e)(2)(ii)(B)(I)
        2 ante     500 push    +0 589.11(e)(2)(ii)(B)(II)
        2 bet     1000 win  +1000 589.12(c) One pair, 1 to 1
        """,
    )


def test_589_11_e_2_the_option_to_force_has_no_order_among_players() -> None:
    players = "".join(f"{seat} ante 1000\n" for seat in (1, 2))
    script = f"""
        start manual_shoe
        {players}
        nomorebets
        deal 1 Ac Jd 8h 4c 3d
        deal 2 Ts Td Kd 8c 4d
        deal dealer {NO_HAND}
        show dealer 4 2h
        2 bet 2000
        1 bet 2000
        locked
        show dealer Kh Qd 9c 7s
        decide 2 force_dealer
        decide 1 force_dealer
        fee 2 options 1000 force_dealer
        fee 1 options 1000 force_dealer
        exchange dealer Kh
        deal dealer up Ad
    """
    section = "589.11(e)(2)(ii)"
    both = [f"{s} {w} push +0 {section}(A)" for s in (1, 2) for w in ("ante 1000", "bet 2000")]
    fees = [f"{seat} options 1000 lose -1000 {section}" for seat in (2, 1)]
    assert told(script) == ["complete", *fees, *both]


def test_589_11_e_2_ii_the_card_given_up_is_the_highest() -> None:
    script = one_hand("9s 9d Kd 8c 4d", NO_HAND).partition("show 1")[0]
    script += "decide 1 force_dealer\n fee 1 options 1000 force_dealer\n"
    kept = ruling(script + "exchange dealer Qd\n deal dealer up 3d", GAME)
    assert "! hand_misset Kh / None 589.11(e)(2)(ii)" in text(kept)
    assert [found.says for found in kept.findings] == [
        "The dealer kept Kh, the highest card of a hand that did not qualify."
    ]
    # Kh 9c 7s 2h and an ace: the hand on the table is the one that counts.
    found = told(script + "exchange dealer Qd\n deal dealer up Ad\n show 1 9s 9d Kd 8c 4d")
    assert "1 bet 2000 win +2000 589.12(c) One pair, 1 to 1" in found
    # If no fact reports the exchange, it is the highest that went.
    found = told(script + "deal dealer up 3d")
    assert found[-2:] == [f"1 {w} push +0 589.11(e)(2)(ii)(A)" for w in ("ante 1000", "bet 2000")]
