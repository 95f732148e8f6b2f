"""Match Play Coupons in play, 603a.21, in games of every kind: settled by hand from the text."""

from __future__ import annotations

import pytest

from ledger import facts as told
from ledger.games import games
from ledger.rules.engine.coupons import CouponBatch
from ledger.rules.procedures.submission_check import problems
from tests.unit.games.coup import checker, coup
from tests.unit.games.rounds import ruling, text

MINI = "minibaccarat"
check = checker(MINI)

PLAYER_WINS, BANKER_WINS = coup("9c Kd", "7h Ts") + "\n", coup("6c Kd", "7h Ts") + "\n"
TIE = coup("9c 9d", "4h 4s") + "\n"


def start(*wagers: str) -> str:
    return "\n".join(["start", *wagers, "nomorebets", ""])


PLAYED = start("1 player 1000 coupon MP-000001:500")


def batch(terms: str = "odds", face: int = 500, of: tuple[str, ...] = (), until: str = "2015-03-01",
          serials: tuple[str, str] = ("MP-000001", "MP-000099")) -> CouponBatch:  # fmt: skip
    issued = told.CouponsIssued(
        serial_from=serials[0],
        serial_to=serials[1],
        face=face,
        terms=terms,  # type: ignore[arg-type]  # of two
        games=of,
        expires=until,
    )
    return CouponBatch("hollywood", 0, "/hollywood/office/desk", "1", issued)


def found(script: str, game: str = MINI, **around: object) -> list[str]:
    """The findings of a script."""
    said = text(ruling(script, game, **around))  # type: ignore[arg-type]  # what stands around it
    return [line for line in said if line.startswith("!")]


# -- what it pays ----------------------------------------------------------------------------------


def test_603a_21_b_a_coupon_wins_beside_its_chips_at_the_odds_of_the_wager() -> None:
    owed = """
        complete
        1 player 1000 win +1500 627a.12 Player's Hand, 1 to 1
    """
    check(PLAYED + PLAYER_WINS, owed)
    check(PLAYED + PLAYER_WINS + "pay 1 player 1500\n drop MP-000001 500\n done", owed)
    paid = PLAYED + PLAYER_WINS + "pay 1 player 1000\n drop MP-000001 500\n done"
    check(paid, owed + "! underpaid 1 player 1500 / 1000 627a.12")


@pytest.mark.parametrize(
    ("terms", "banker", "tie"),
    [("odds", "win +2375", "win +8000"), ("even_money", "win +2400", "win +4500")],
)
def test_603a_21_b_by_its_terms_it_wins_at_the_odds_or_even_money(
    terms: str, banker: str, tie: str
) -> None:
    # 19 to 20 of $20.00 and $5.00, or $19.00 and $5.00; 8 to 1 of $5.00 and $5.00, or $40 and $5.
    script = start("1 banker 2000 coupon MP-000001:500", "2 tie 500 coupon MP-000002:500")
    around = {"batches": (batch(terms),)}
    assert f"1 banker 2000 {banker} 627a.12 Banker's Hand, 19 to 20" in text(
        ruling(script + BANKER_WINS, MINI, **around)  # type: ignore[arg-type]  # as above
    )
    assert f"2 tie 500 {tie} 627a.12 Tie, 8 to 1" in text(
        ruling(script + TIE, MINI, **around)  # type: ignore[arg-type]  # as above
    )


def test_603a_21_b_a_lost_wager_loses_its_chips_alone() -> None:
    owed = """
        complete
        1 player 1000 lose -1000 627a.12
    """
    check(PLAYED + BANKER_WINS + "take 1 player 1000\n drop MP-000001 500\n done", owed)


def test_603a_21_b_told_again_with_more_chips_it_is_the_same_coupon() -> None:
    more = start("1 player 500 coupon MP-000001:500", "1 player 500 coupon MP-000001:500")
    check(
        more + PLAYER_WINS,
        """
        complete
        1 player 1000 win +1500 627a.12 Player's Hand, 1 to 1
    """,
    )


def test_603a_21_b_taken_back_with_its_chips_it_plays_nothing() -> None:
    back = start("1 player 500 coupon MP-000001:500", "withdraw 1 player 500", "1 player 1000")
    check(
        back + PLAYER_WINS,
        """
        complete
        1 player 1000 win +1000 627a.12 Player's Hand, 1 to 1
    """,
    )


def test_603a_21_b_a_bet_that_is_asked_for_in_the_round_may_carry_one() -> None:
    script = """
        start
        1 ante_across 1000
        1 ante_down 1000
        nomorebets
        cross 9h 8s 9d 3c Ah
        deal 1 8c Qs
        1 across 2000 coupon MP-000001:500
        turn 1 8s 3 3c
        1 down 1000 coupon MP-000002:500
    """
    assert found(script, "criss_cross_poker") == [
        "! wager_not_permitted 1 down None / MP-000002 603a.21(d)"
    ]
    played = script.replace("deal 1 8c Qs", "deal 1 Jc Js").replace(" coupon MP-000002:500", "")
    played += "turn 0 9h 4 Ah\n 1 middle 1000\n turn 2 9d\n show 1 Jc Js\n"
    # 9, 8, 3 and two jacks: 1 to 1 of $20.00 and $5.00.
    assert any(
        line.startswith("1 across 2000 win +2500 592.12(b)")
        for line in text(ruling(played, "criss_cross_poker"))
    )


def test_603a_21_b_a_coupon_that_was_refused_plays_nothing_and_is_not_dropped() -> None:
    script = start("1 player 300 coupon MP-000001:500", "refuse MP-000001 500")
    check(
        script + PLAYER_WINS + "pay 1 player 300\n done",
        """
        complete
        1 player 300 win +300 627a.12 Player's Hand, 1 to 1
    """,
    )


# -- dropped ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cards", [PLAYER_WINS + "pay 1 player 1500\n",
                                   BANKER_WINS + "take 1 player 1000\n"])  # fmt: skip
def test_603a_21_e_won_or_lost_it_goes_into_the_drop_box(cards: str) -> None:
    lacking = "! coupon_not_dropped 1 player coupon_dropped / MP-000001 603a.21(e)"
    assert found(PLAYED + cards) == []
    assert text(ruling(PLAYED + cards, MINI), following=True)[-1] == (
        "> coupon_dropped dealer 500 603a.21(e)"
    )
    assert found(PLAYED + cards + "done") == [lacking]
    assert found(PLAYED + cards + "drop MP-000001 500\n done") == []
    assert found(PLAYED + cards + "done\n drop MP-000001 500") == []
    assert found(PLAYED + cards + "drop MP-000002 500\n done") == [lacking]


def test_603a_21_e_on_a_push_it_is_returned_or_dropped_by_the_reading() -> None:
    script = PLAYED + TIE + "back 1 player 1000\n"
    returned = """
        complete
        1 player 1000 push +0 627a.12 Tie, Push [coupon_on_push returned]
    """
    check(script + "done", returned)
    check(script + "drop MP-000001 500\n done", returned)
    filed = {"readings": {"coupon_on_push": "dropped"}}
    dropped = returned.replace("returned", "dropped")
    check(script + "drop MP-000001 500\n done", dropped, filed=filed)
    lacking = "! coupon_not_dropped 1 player coupon_dropped / MP-000001 603a.21(e)"
    check(script + "done", dropped + lacking, filed=filed)
    # Without a coupon a push does not depend on it; a win and a loss never do.
    check(start("1 player 1000") + TIE, "complete\n 1 player 1000 push +0 627a.12 Tie, Push")
    for cards in (PLAYER_WINS, BANKER_WINS):
        assert text(ruling(PLAYED + cards, MINI)) == text(ruling(PLAYED + cards, MINI, filed=filed))


def test_603a_21_e_a_push_by_another_reading_names_both() -> None:
    script = """
        start
        1 ante_across 1000
        1 ante_down 1000
        nomorebets
        cross 9h 8s 9d 3c Ah
        deal 1 Tc Td
        1 across 2000 coupon MP-000001:500
        turn 1 8s 3 3c
        1 down 1000
        turn 0 9h 4 Ah
        1 middle 1000
        turn 2 9d
        show 1 Tc Td
    """
    push = "1 across 2000 push +0 592.12(b) Pair of 6s through 10s, Push"
    assert f"{push} [pair_of_tens, coupon_on_push push, returned]" in text(
        ruling(script, "criss_cross_poker")
    )


def test_603a_21_e_in_a_void_round_it_goes_back() -> None:
    script = """
        start
        1 ante_across 1000 coupon MP-000001:500
        1 ante_down 1000
        nomorebets
        call cards_face_up
        back 1 ante_across 1000
        back 1 ante_down 1000
        void
    """
    assert found(script, "criss_cross_poker") == []


def test_603a_21_e_where_facts_were_lost_its_drop_may_be_among_them() -> None:
    lost = PLAYED.replace("nomorebets", "nomorebets | by box seq 1") + PLAYER_WINS
    lost += "pay 1 player 1500 | by box seq 3\n done"
    assert [line.split()[1] for line in found(lost)] == ["fact_missing"]


def test_603a_21_the_words_of_a_finding() -> None:
    said = [
        f.says for f in ruling(PLAYED + PLAYER_WINS + "pay 1 player 1500\n done", MINI).findings
    ]
    assert said == [
        "Position 1's coupon MP-000001 on Player's Hand did not go into the drop box (603a.21(e))."
    ]
    short = start("1 player 400 coupon MP-000001:500")
    said = [f.says for f in ruling(short + PLAYER_WINS, MINI).findings]
    why = "$4.00 in chips is less than its $5.00"
    assert said == [
        f"Position 1's coupon MP-000001 on Player's Hand is not permitted: {why} (603a.21(b))."
    ]


# -- where it may lie ------------------------------------------------------------------------------


def test_603a_21_a_it_is_played_only_where_patrons_wager_against_the_house() -> None:
    ante = "start 1\n 1 ante 500 coupon MP-000001:500"
    for game in ("badugi", "omaha_5_high"):
        assert "! wager_not_permitted 1 ante None / MP-000001 603a.21(a)" in found(ante, game)


def test_603a_21_b_its_chips_are_worth_as_much_at_least() -> None:
    for chips, wrong in ((499, True), (500, False), (501, False)):
        script = start(f"1 player {chips} coupon MP-000001:500") + PLAYER_WINS
        expected = ["! wager_not_permitted 1 player None / MP-000001 603a.21(b)"] if wrong else []
        assert found(script) == expected
        # It stays in the settlement, as chips do.
        assert f"1 player {chips} win +{chips + 500} 627a.12 Player's Hand, 1 to 1" in text(
            ruling(script, MINI)
        )


def test_603a_21_b_chips_taken_back_are_none_that_it_lies_under() -> None:
    placed = ("1 player 700 coupon MP-000001:500", "2 player 700", "2 player 300")
    own, others = "withdraw 1 player 300", "withdraw 2 player 300"
    assert found(start(*placed, others)) == []
    short = "! wager_not_permitted 1 player None / MP-000001 603a.21(b)"
    assert found(start(*placed, own)) == [short]
    script = start("1 player 400 coupon MP-000001:500 | id it", "2 player 700")
    assert [fact.id for fact in ruling(script, MINI).findings[0].facts] == ["it"]


def test_603a_21_b_chips_pressed_later_are_none_that_it_lay_under() -> None:
    script = start("1 player 400 coupon MP-000001:500", "1 house_money 500")
    pressed = script + coup("4c 4d", "7h Ts") + "\n press 1 player 1500"
    assert found(pressed) == ["! wager_not_permitted 1 player None / MP-000001 603a.21(b)"]


def test_603a_21_c_2_at_craps_it_lies_on_the_pass_or_dont_pass_line() -> None:
    for wager, wrong in (("pass", False), ("dont_pass", False), ("lay_4", True)):
        script = f"start\n 1 {wager} 1000 coupon MP-000001:500"
        codes = [line for line in found(script, "craps") if "603a" in line]
        lay = [f"! wager_not_permitted 1 {wager} None / MP-000001 603a.21(c)(2)"]
        assert codes == (lay if wrong else [])


def test_603a_21_c_1_elsewhere_it_lies_where_the_patron_bets() -> None:
    script = start("1 tie 500 coupon MP-000001:500", "2 house_money 500 coupon MP-000002:500")
    assert found(script + PLAYER_WINS) == []


def test_603a_21_d_a_patron_uses_one_a_round() -> None:
    both = start("1 player 1000 coupon MP-000001:500", "1 tie 500 coupon MP-000002:500")
    second = "! wager_not_permitted 1 tie None / MP-000002 603a.21(d)"
    assert found(both + PLAYER_WINS) == [second]
    beside = start("1 player 1000 coupon MP-000001:500", "2 tie 500 coupon MP-000002:500")
    assert found(beside + PLAYER_WINS) == []
    # One patron who holds both positions.
    assert found(beside + PLAYER_WINS, seats=((1, 2),)) == [second.replace("1 tie", "2 tie")]
    stacked = start("1 player 1000 coupon MP-000001:500", "1 player 500 coupon MP-000002:500")
    assert found(stacked + PLAYER_WINS) == [second.replace("tie", "player")]
    assert "1 player 1500 win +2500 627a.12 Player's Hand, 1 to 1" in text(
        ruling(stacked + PLAYER_WINS, MINI)
    )


def test_603a_21_d_one_coupon_cannot_lie_in_two_places() -> None:
    script = start("1 player 1000 coupon MP-000001:500", "2 player 1000 coupon MP-000001:500")
    assert found(script + PLAYER_WINS) == [
        "! wager_not_permitted 2 player None / MP-000001 603a.21(d)"
    ]


def test_603a_21_d_at_craps_a_line_bet_that_was_decided_is_a_round_of_play_of_its_own() -> None:
    first = "start\n 1 pass 500 coupon MP-000001:500\n roll 6 5\n pay 1 pass 1000\n"
    first += "drop MP-000001 500\n"
    again = "1 pass 500 coupon MP-000002:500\n"
    assert not [line for line in found(first + again, "craps") if "603a" in line]
    at_once = first.replace("roll", again.replace("pass", "dont_pass") + "roll")
    assert [line for line in found(at_once, "craps") if "603a" in line] == [
        "! wager_not_permitted 1 dont_pass None / MP-000002 603a.21(d)"
    ]


# -- its terms -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("issued", "wrong"),
    [
        (batch(), False),
        (batch(of=("minibaccarat", "craps")), False),
        (batch(of=("craps",)), True),
        (batch(until="2015-03-02"), False),
        (batch(until="2015-02-28"), True),
        (batch(face=1000), True),
        (batch(serials=("MP-000002", "MP-000099")), True),
        (batch(serials=("MP-000000", "MP-000001")), False),
        (batch(serials=("XX-000001", "XX-000099")), True),
    ],
)
def test_603a_21_b_a_coupon_is_one_that_was_issued_for_the_game_and_the_day(
    issued: CouponBatch,
    wrong: bool,  # noqa: FBT001 - a row of a table
) -> None:
    expected = ["! wager_not_permitted 1 player None / MP-000001 603a.21(b)"] if wrong else []
    assert found(PLAYED + PLAYER_WINS, batches=(issued,)) == expected


def test_603a_21_b_the_value_issued_is_the_coupons_value() -> None:
    said = ruling(PLAYED + PLAYER_WINS, MINI, batches=(batch(face=1000),))
    assert "1 player 1000 win +2000 627a.12 Player's Hand, 1 to 1" in text(said)
    assert "it was issued at $10.00, and is $5.00 on record" in said.findings[0].says


def test_603a_21_b_where_no_batch_is_on_record_no_serial_is_unknown() -> None:
    assert found(PLAYED + PLAYER_WINS) == []


@pytest.mark.parametrize(
    ("low", "high", "serial", "held"),
    [
        ("MP-000010", "MP-000020", "MP-000010", True),
        ("MP-000010", "MP-000020", "MP-000020", True),
        ("MP-000010", "MP-000020", "MP-000009", False),
        ("MP-000010", "MP-000020", "MP-000021", False),
        ("MP-9", "MP-10", "MP-10", True),
        ("MP-1", "MP-5", "NP-3", False),
        ("MP-1", "NP-5", "MP-3", False),
        ("7", "9", "8", True),
        ("A", "A", "A", True),
        ("A", "C", "B", False),
    ],
)
def test_603a_20_c_3_serials_of_a_batch_are_letters_and_numbers_within(
    low: str,
    high: str,
    serial: str,
    held: bool,  # noqa: FBT001 - a row of a table
) -> None:
    assert batch(serials=(low, high)).holds(serial) is held


def test_603a_21_e_the_reading_may_be_filed_for_every_game_against_the_house() -> None:
    for game in games().values():
        filing = told.RulesSubmissionFiled(
            game=game.id, effective_from="2010-01-01", readings={"coupon_on_push": "dropped"}
        )
        wrong = [each.where for each in problems(game, filing)]
        assert wrong == (["readings.coupon_on_push"] if game.pots else [])
