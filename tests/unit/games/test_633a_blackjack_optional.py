"""Blackjack, Chapter 633a: House Money and the Straight Jack Progressive Wager, by hand."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.twenty_one import check, round_of

GAME = "blackjack"
WIN = "13(a) Win, 1 to 1"
HOUSE = "blackjack 1000 house_money 500"
OFFERS = ("house_money", "straight_jack")

HOUSE_MONEY = """
    player | one deck | many  | row
    Ac Kc  | +4500    | +4500 | Ace-king suited, 9 to 1
    Kc Ac  | +4500    | +4500 | Ace-king suited, 9 to 1
    9c Tc  | +2500    | +2000 | Two-card straight flush
    Ac 2c  | +2500    | +2000 | Two-card straight flush
    Kc Qc  | +2500    | +2000 | Two-card straight flush
    9c 9d  | +1500    | +1500 | Pair, 3 to 1
    Ac Ad  | +1500    | +1500 | Pair, 3 to 1
    8c 9d  | +500     | +500  | Two-card straight, 1 to 1
    2d Ac  | +500     | +500  | Two-card straight, 1 to 1
    Ac Kd  | +500     | +500  | Two-card straight, 1 to 1 [ace_king_is_straight true]
    Tc Kd  | -500     | -500  | -
    Ac Qc  | -500     | -500  | -
    3c Ac  | -500     | -500  | -
    9c 7c  | -500     | -500  | -
"""


@pytest.mark.parametrize("row", lines(HOUSE_MONEY)[1:])
def test_633a_13_n_house_money_pays_by_one_deck_or_many(row: str) -> None:
    player, one, many, paid = (part.strip() for part in row.split("|"))
    does = "" if {player[0], player[3]} in ({"A", "K"}, {"A", "Q"}) else "decide 1 stand"
    for decks, net, section, flush in (
        (1, one, "13(n)(1)", "5 to 1"),
        (6, many, "13(n)(2)", "4 to 1"),
    ):
        script = round_of("6d 8h 7d", player, does, HOUSE)
        found = text(ruling(script, GAME, filed={"options": {"decks": decks}, "offers": OFFERS}))
        printed = paid + f", {flush}" if paid.endswith("flush") else paid
        expected = f"1 house_money 500 win {net} 633a.{section} {printed}"
        assert found[1] == (
            "1 house_money 500 lose -500 633a.7(g)(10)" if paid == "-" else expected
        )


def test_633a_13_n_ace_king_of_two_suits_is_a_straight_by_the_reading() -> None:
    script = round_of("6d 8h 7d", "Ac Kd", "", HOUSE)
    no = {"readings": {"ace_king_is_straight": False}, "offers": OFFERS}
    assert text(ruling(script, GAME, filed=no))[1] == (
        "1 house_money 500 lose -500 633a.7(g)(10) [ace_king_is_straight false]"
    )
    # The reading changes neither the suited one nor Straight Jack, which takes it for a straight.
    suited = round_of("6d 8h 7d", "Ac Kc", "", HOUSE)
    assert text(ruling(suited, GAME, filed=no)) == text(
        ruling(suited, GAME, filed={"offers": OFFERS})
    )
    jack = round_of("6d 8h 7d", "Ac Kd", "", "blackjack 1000 straight_jack 500")
    for filed in (no, {"offers": OFFERS}):
        assert "1 straight_jack 500 win +1500 633a.13(m)(1) Two-card straight, 3 to 1" in text(
            ruling(jack, GAME, filed=filed)
        )


def test_633a_7_g_10_i_under_an_ace_or_a_10_the_hole_card_is_read_before_house_money_is_paid() -> (
    None
):
    cut = round_of("Td 8h", "9c 9d", "", HOUSE).partition("peek")[0]
    following = text(ruling(cut, GAME), following=True)
    assert following[-1] == "> hole_card_checked dealer 633a.7(h)"
    paid = text(ruling(cut + "peek none\n", GAME), following=True)
    assert paid[-1] == "> wager_paid position 1 house_money 1500 633a.13(n)(2)"
    cut = round_of("9d 8h", "9c 9d", "", HOUSE).partition("show")[0]
    paid = text(ruling(cut, GAME), following=True)
    assert paid[-1] == "> wager_paid position 1 house_money 1500 633a.13(n)(2)"
    # A lost one is collected first.
    cut = round_of("Td 8h", "9c 7d", "", HOUSE).partition("peek")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == (
        "> wager_collected position 1 house_money 500 633a.7(g)(10)"
    )


PRESSED = "pay 1 house_money 1500, press 1 1500"


@pytest.mark.parametrize("dealer", ["9d 8h", "Td 7h"])
def test_633a_7_g_10_ii_the_payout_is_added_to_the_blackjack_wager(dealer: str) -> None:
    check(
        round_of(dealer, "9c 9d", f"{PRESSED}, decide 1 stand", HOUSE),
        f"""
        complete
        1 house_money  500 win +1500 633a.13(n)(2) Pair, 3 to 1
        1 blackjack   2500 win +2500 633a.{WIN}
        """,
        GAME,
    )


def test_633a_7_g_10_ii_a_all_of_the_payout_is_pressed_unless_a_portion_is_filed() -> None:
    part = {"options": {"press_portion": "any_part"}, "offers": OFFERS}
    for cents, whole, any_part in (
        (500, False, True),
        (1500, True, True),
        (1501, False, False),
        (2000, False, False),
    ):
        script = round_of("9d 8h", "9c 9d", f"press 1 {cents}, decide 1 stand", HOUSE)
        for filed, allowed in ((None, whole), (part, any_part)):
            found = text(ruling(script, GAME, **({"filed": filed} if filed else {})))
            assert f"1 blackjack {1000 + cents} win +{1000 + cents} 633a.{WIN}" in found
            wrong = "! wager_not_permitted 1 blackjack 633a.7(g)(10)(ii)(A)"
            assert (wrong in found) is not allowed
    stake_too = {"readings": {"press_includes_stake": True}, "offers": OFFERS}
    script = round_of("9d 8h", "9c 9d", "press 1 2000, decide 1 stand", HOUSE)
    found = text(ruling(script, GAME, filed=stake_too))
    assert f"1 blackjack 3000 win +3000 633a.{WIN} [press_includes_stake true]" in found
    assert not [line for line in found if line.startswith("!")]


def test_633a_7_g_10_ii_b_a_blackjack_may_be_pressed_and_pays_3_to_2_on_all_of_it() -> None:
    check(
        round_of("9d 8h", "Ac Kc", "press 1 4500", HOUSE),
        """
        complete
        1 house_money  500 win +4500 633a.13(n)(2) Ace-king suited, 9 to 1
        1 blackjack   5500 win +8250 633a.13(a) Blackjack, 3 to 2
        """,
        GAME,
    )


def test_633a_7_g_10_ii_c_doubles_and_splits_match_the_wager_pressed() -> None:
    split = f"{PRESSED}, decide 1 split, 1 split 2500 hand 2, deal 1 up 9h, decide 1 stand"
    split += ", deal 1.2 up 2c, decide 1.2 double_down, 1 double_down 2500 hand 2, deal 1.2 up Kd"
    found = text(ruling(round_of("9d 8h", "9c 9d", split, HOUSE), GAME))
    assert not [line for line in found if line.startswith("!")]
    assert f"1.2 double_down 2500 win +2500 633a.{WIN}" in found
    short = split.replace("1 split 2500", "1 split 1000")
    found = text(ruling(round_of("9d 8h", "9c 9d", short, HOUSE), GAME))
    assert "! wager_not_permitted 1 split 633a.11" in found


def test_633a_7_g_10_i_a_beside_a_dealers_blackjack_it_is_paid_and_not_pressed() -> None:
    script = round_of("Td Ah", "9c 9d", "pay 1 house_money 1500", HOUSE)
    paid = """
        complete
        1 house_money  500 win +1500 633a.13(n)(2) Pair, 3 to 1
        1 blackjack   1000 lose -1000 633a.7(p)
    """
    check(script, paid, GAME)
    found = text(ruling(script.replace("show", "press 1 1500\nshow"), GAME))
    assert found[:3] == lines(paid)
    assert "! decision_not_permitted 1 None / press" in found


# -- Straight Jack -------------------------------------------------------------------------------

JACK = "blackjack 1000 straight_jack 500"
STRAIGHTS = """
    player | draws       | net     | row
    4c 5d  | 6h          | +7500   | Three-card straight, 15 to 1
    4c 5d  | 3h 6h       | +25000  | Four-card straight, 50 to 1
    4c 5d  | 2h 3h       | +1500   | Two-card straight, 3 to 1
    4c 5d  | 6h 7s       | +7500   | Three-card straight, 15 to 1
    9c Td  | -           | +1500   | Two-card straight, 3 to 1
    Ac 2d  | 3h 4h       | +25000  | Four-card straight, 50 to 1
    Ac 2d  | 3h 4h 5s    | +100000 | Five-card straight, 200 to 1
    5c 4d  | 3h 2s       | +25000  | Four-card straight, 50 to 1
    5c 4d  | 3h 2s 6s    | +100000 | Five-card straight, 200 to 1
    Qd Kc  | -           | +1500   | Two-card straight, 3 to 1
    Ac 2d  | Kh          | +1500   | Two-card straight, 3 to 1
"""


@pytest.mark.parametrize("row", lines(STRAIGHTS)[1:])
def test_633a_7_o_3_i_each_card_next_to_the_straight_makes_it_longer(row: str) -> None:
    player, draws, net, paid = (part.strip() for part in row.split("|"))
    cards = [] if draws == "-" else draws.split()
    does = ", ".join(f"decide 1 hit, deal 1 up {card}" for card in cards)
    script = round_of("9d 8h", player, does, JACK) + "\ndone"
    assert f"1 straight_jack 500 win {net} 633a.13(m)(1) {paid}" in text(ruling(script, GAME))


def test_633a_7_g_9_two_cards_that_are_no_straight_lose_before_play() -> None:
    for player in ("4c 6d", "9c 9d", "Ac 3c", "Ac Qd"):
        cut = round_of("9d 8h", player, "", JACK).partition("show")[0]
        assert text(ruling(cut, GAME), following=True)[-1] == (
            "> wager_collected position 1 straight_jack 500 633a.7(g)(9)"
        )
    cut = round_of("9d 8h", "4c 5d", "", JACK).partition("show")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == "> decision_made position 1 633a.7"


def test_633a_7_o_3_i_a_rank_drawn_again_breaks_the_straight_or_is_passed_over() -> None:
    does = "decide 1 hit, deal 1 up 4h, decide 1 hit, deal 1 up 6s, decide 1 stand"
    script = round_of("9d 8h", "4c 5d", does, JACK)
    two = "1 straight_jack 500 win +1500 633a.13(m)(1) Two-card straight, 3 to 1"
    three = "1 straight_jack 500 win +7500 633a.13(m)(1) Three-card straight, 15 to 1"
    assert two in text(ruling(script, GAME))
    ignored = {"readings": {"repeated_rank": "ignored"}, "offers": OFFERS}
    assert three in text(ruling(script, GAME, filed=ignored))
    other = script.replace("deal 1 up 4h", "deal 1 up 3h")
    four = "1 straight_jack 500 win +25000 633a.13(m)(1) Four-card straight, 50 to 1"
    for filed in (ignored, {"offers": OFFERS}):
        assert four in text(ruling(other, GAME, filed=filed))


def test_633a_7_o_3_a_dealers_blackjack_leaves_a_two_card_straight() -> None:
    check(
        round_of("Td Ah", "4c 5d", "", JACK),
        """
        complete
        1 blackjack     1000 lose -1000 633a.7(p)
        1 straight_jack  500 win  +1500 633a.13(m)(1) Two-card straight, 3 to 1
        """,
        GAME,
    )


def test_633a_7_o_3_a_straight_of_10_values_that_is_split_stays_one_of_two_cards() -> None:
    # Jack and queen; the 5 and the king that follow are drawn to two hands.
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 5c, decide 1 stand, deal 1.2 up Kc"
    found = text(ruling(round_of("9d 8h", "Jc Qd", does + ", decide 1.2 stand", JACK), GAME))
    assert "1 straight_jack 500 win +1500 633a.13(m)(1) Two-card straight, 3 to 1" in found


def test_633a_7_g_the_first_two_cards_count_where_a_third_was_dealt_with_them() -> None:
    bets = "blackjack 1000 house_money 500 straight_jack 500"
    for first, third, paid in (
        ("9c 9d", "Th", "Pair, 3 to 1"),
        ("2c 3d", "Jh", "Two-card straight"),
    ):
        script = round_of("9d 8h", first, "decide 1 stand", bets)
        script = script.replace(f"deal 1 up {first[3:]}", f"deal 1 up {first[3:]} {third}")
        assert any(
            "house_money 500 win" in line and paid in line for line in text(ruling(script, GAME))
        )


SIX = "decide 1 hit, deal 1 up 3c, decide 1 hit, deal 1 up 4c, decide 1 hit, deal 1 up 5c"
SIX += ", decide 1 hit, deal 1 up 6c"
METER = "\nmeter read straight_jack 1234500\n"


def test_633a_13_m_1_six_cards_take_all_of_the_meter_or_a_tenth_by_the_suit_of_the_ace() -> None:
    spades = round_of("9d 8h", "As 2c", SIX, JACK)
    assert text(ruling(spades + METER, GAME)) == [
        "complete",
        f"1 blackjack 1000 win +1000 633a.{WIN}",
        (
            "1 straight_jack 500 win +1334500 633a.13(m)(1) Six-card straight with an ace of "
            "spades, 100% of meter and 200 to 1 from the cage"
        ),
    ]
    found = ruling(spades + METER, GAME).settlements[-1]
    assert found.rows == ["100% of meter", "200 to 1"]
    for suit in "dch":
        hearts = round_of("9d 8h", f"A{suit} 2c", SIX, JACK)
        won = ruling(hearts + METER, GAME).settlements[-1]
        assert (won.net, won.paid_from, won.odds) == (223450, "cage", "10% of meter and 200 to 1")
        assert won.row == "Six-card straight with an ace of diamonds, clubs or hearts"
        assert won.rows == ["10% of meter", "200 to 1"]


def test_633a_13_m_1_without_its_meter_a_share_of_it_stays_open() -> None:
    found = text(ruling(round_of("9d 8h", "As 2c", SIX, JACK) + "\ndone", GAME))
    assert found[0] == "awaiting"
    assert found[-1] == "> meter_read position 1 633a.7(o)(3)(ii)(C)"
    cut = text(ruling(round_of("9d 8h", "As 2c", SIX, JACK) + "\npay 1 blackjack 1000", GAME))
    assert cut[-1] == "> meter_read dealer 633a.7(o)(3)(ii)(C)"


def test_633a_7_o_3_ii_c_two_who_win_the_whole_meter_share_it_and_not_the_200_to_1() -> None:
    script = "start\n1 blackjack 1000\n1 straight_jack 500\n2 blackjack 1000\n2 straight_jack 500\n"
    script += "3 blackjack 1000\n3 straight_jack 500\n"
    script += (
        "deal 1 up As 2c\ndeal 2 up As 2d\ndeal 3 up Ah 2d\ndeal dealer up 9d\ndeal dealer 8h\n"
    )
    for seat in (1, 2, 3):
        script += (
            SIX.replace("decide 1", f"decide {seat}")
            .replace("deal 1", f"deal {seat}")
            .replace(", ", "\n")
            + "\n"
        )
    script += "show dealer 1 8h\n"
    nets = {
        each.position: each.net
        for each in ruling(script + METER, GAME).settlements
        if each.wager == "straight_jack"
    }
    assert nets == {1: 617250 + 100000, 2: 617250 + 100000, 3: 123450 + 100000}


@pytest.mark.parametrize(
    ("stake", "meter", "payer"),
    [
        (500, 1000100, "table"),
        (500, 1000000, "cage"),
        (500, 999900, "cage"),
        (5000, 5000000, "cage"),
    ],
)
def test_633a_7_o_3_ii_c_a_tenth_of_the_meter_or_more_is_paid_from_the_cage_by_its_amount(
    stake: int, meter: int, payer: str
) -> None:
    # 200 to 1 on a five-card straight: it is the amount that counts, not the row.
    five = SIX.partition(", decide 1 hit, deal 1 up 6c")[0] + ", decide 1 stand"
    script = round_of("9d 8h", "As 2c", five, f"blackjack 1000 straight_jack {stake}")
    script += f"\nmeter read straight_jack {meter}\ntake 1 blackjack 1000\n"
    other = {"table": "cage", "cage": "table"}[payer]
    right = script + f"pay 1 straight_jack {200 * stake} from {payer}\ndone"
    assert not [line for line in text(ruling(right, GAME)) if line.startswith("!")]
    wrong = script + f"pay 1 straight_jack {200 * stake} from {other}\ndone"
    assert f"! wrong_payer 1 straight_jack {payer} / {other} 633a.13(m)(1)" in text(
        ruling(wrong, GAME)
    )


@pytest.mark.parametrize(
    ("parts", "meter", "expected"),
    [
        # 200 to 1 on $5 is $1,000: a tenth of the meter, or more, is paid from the cage whole.
        (("90000 from table", "10000 from cage"), 1000000, "cage / table"),
        (("10000 from cage", "90000 from table"), 1000000, "cage / table"),
        (("500 from table", "99500 from cage"), 1000000, "cage / table"),
        (("90000 from table", "10000 from cage"), 1000100, "table / cage"),
        (("10000 from cage", "90000 from table"), 1000100, "table / cage"),
        (("60000 from cage", "40000 from cage"), 1000000, None),
        (("60000", "40000 from table"), 1000100, None),
    ],
)
def test_633a_7_o_3_ii_c_every_part_of_a_payout_comes_from_who_owes_it(
    parts: tuple[str, str], meter: int, expected: str | None
) -> None:
    five = SIX.partition(", decide 1 hit, deal 1 up 6c")[0] + ", decide 1 stand"
    script = round_of("9d 8h", "As 2c", five, JACK) + "\ntake 1 blackjack 1000"
    script += f"\nmeter read straight_jack {meter}"
    script += "".join(f"\npay 1 straight_jack {part}" for part in parts) + "\ndone"
    found = [line for line in text(ruling(script, GAME)) if line.startswith("!")]
    wanted = f"! wrong_payer 1 straight_jack {expected} 633a.13(m)(1)"
    assert found == ([wanted] if expected else [])


def test_633a_7_o_3_ii_c_too_little_from_the_table_is_a_wrong_amount_and_a_wrong_payer() -> None:
    five = SIX.partition(", decide 1 hit, deal 1 up 6c")[0] + ", decide 1 stand"
    script = round_of("9d 8h", "As 2c", five, JACK) + "\ntake 1 blackjack 1000"
    script += "\nmeter read straight_jack 1000000\npay 1 straight_jack 90000\ndone"
    assert [line for line in text(ruling(script, GAME)) if line.startswith("!")] == [
        "! underpaid 1 straight_jack 100000 / 90000 633a.13(m)(1)",
        "! wrong_payer 1 straight_jack cage / table 633a.13(m)(1)",
    ]


def test_633a_7_o_3_ii_c_where_no_meter_was_read_whoever_paid_is_right() -> None:
    five = SIX.partition(", decide 1 hit, deal 1 up 6c")[0] + ", decide 1 stand"
    script = round_of("9d 8h", "As 2c", five, JACK) + "\ntake 1 blackjack 1000\n"
    for payer in ("table", "cage"):
        paid = script + f"pay 1 straight_jack 100000 from {payer}\ndone"
        assert not [line for line in text(ruling(paid, GAME)) if line.startswith("!")]


def test_633a_13_m_2_a_meter_is_asked_for_where_a_win_may_be_a_tenth_of_it() -> None:
    # The meter is never below $5,000, or what the Rules Submission resets it to.
    three = "decide 1 hit, deal 1 up 6h, decide 1 stand"
    cut = round_of("9d 8h", "4c 5d", three, "blackjack 1000 straight_jack {}")
    for stake, reset, asked in (
        (3300, None, False),
        (3334, None, True),
        (3334, 1000000, False),
        (6667, 1000000, True),
    ):
        filed = {"offers": OFFERS}
        if reset:
            filed["progressives"] = {"straight_jack": {"reset": reset}}  # type: ignore[assignment]
        script = cut.format(stake) + "\ntake 1 blackjack 1000"
        step = text(ruling(script, GAME, filed=filed), following=True)[-1]
        assert ("meter_read" in step) is asked
        assert ("wager_paid position 1 straight_jack" in step) is not asked


LINK = {"straight_jack": {"meter": "link-7", "rate": "1/10", "initial": 500000, "reset": 600000}}


def test_633a_13_m_2_after_a_whole_meter_it_is_reset_to_what_is_filed_or_to_5000() -> None:
    script = round_of("9d 8h", "As 2c", SIX, JACK)
    filed = {"offers": OFFERS, "progressives": LINK}
    paid = "\nmeter read link-7 700000\npay 1 blackjack 1000\npay 1 straight_jack 800000 from cage"
    assert text(ruling(script + paid, GAME, filed=filed), following=True)[-1] == (
        "> meter_reset dealer 600000 633a.13(m)(2)"
    )
    # Nothing filed: to $5,000.
    paid = paid.replace("link-7", "straight_jack")
    assert text(ruling(script + paid, GAME), following=True)[-1] == (
        "> meter_reset dealer 500000 633a.13(m)(2)"
    )


def test_633a_7_o_3_a_card_that_is_not_known_leaves_the_optional_wagers_open() -> None:
    for player in ("4c ??", "?? 4c"):
        bets = "blackjack 1000 straight_jack 500 house_money 500"
        found = text(ruling(round_of("9d 8h", player, "decide 1 stand", bets) + "\ndone", GAME))
        assert found[0] == "awaiting"
        assert not [line for line in found if line.startswith("1 ")]


def test_633a_7_g_9_a_straight_jack_with_a_card_not_known_waits_for_what_it_is_paid() -> None:
    found = text(ruling(round_of("9d 8h", "4c ??", "decide 1 stand", JACK) + "\ndone", GAME))
    assert found[-1] == "> wager_paid position 1 blackjack 633a.7(p)"
    even = round_of("Ad 8h", "Ac Ks", "", JACK, before="decide 1 even_money")
    lost = even.replace("deal 1 up Ac", "deal 1 up ??").replace("decide 1 even_money\n", "")
    assert text(ruling(lost + "\ndone", GAME))[0] == "awaiting"
    folded = round_of("9d 8h", "?? Ks", "decide 1 surrender", JACK) + "\ndone"
    assert text(ruling(folded, GAME))[-1] == "> wager_paid position 1 straight_jack 633a.7(g)(9)"
