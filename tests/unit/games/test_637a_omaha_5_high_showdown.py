"""Side pots, the showdown, rake, voids and lost facts of Poker: 637a.19(f), (k)."""

from __future__ import annotations

import pytest

from tests.unit.games.card_room import (
    BOARD,
    FULL,
    HANDS,
    LIMPED,
    OFFERED,
    SHORT,
    START,
    WON,
    board,
    dealt,
    next_of,
    ruled,
    shown,
)
from tests.unit.games.rounds import lines, ruling, text

GAME = "omaha_5_high"


def test_637a_19_k_1_a_pot_pushed_to_another_is_found() -> None:
    script = START + HANDS + LIMPED + FULL + "pot 0 2 800\ndone"
    ruled(GAME, script, WON + "! wrong_position_paid 2 pot position 1 / position 2 637a.19(k)(1)")


def test_637a_19_k_1_a_chip_left_behind_is_found_and_one_too_many() -> None:
    script = START + HANDS + LIMPED + FULL
    ruled(GAME, script + "pot 0 1 700\ndone", WON + "! underpaid 1 pot 800 / 700 637a.19(k)(1)")
    ruled(GAME, script + "pot 0 1 900\ndone", WON + "! overpaid 1 pot 800 / 900 637a.19(k)(1)")


@pytest.mark.parametrize(
    ("late", "found"),
    [
        ("hand 1\nact 3 call 400", ["! out_of_turn 3 637a.19(k)"]),
        ("hand 1 | by board at 90.0\nact 3 call 400 | at 90.2", ["! order_uncertain 3 637a.19(k)"]),
        ("hand 3\nact 3 call 400", []),  # his own hand: he learns nothing by it
        ("act 3 call 400\nhand 1", []),  # the control
    ],
)
def test_637a_19_k_a_decision_after_anothers_hand_was_shown_is_out_of_turn(
    late: str, found: list[str]
) -> None:
    last = "act 1 bet 400\nact 2 fold\n" + late + "\n"
    script = "start 3\nstack 1 9000\nstack 2 9000\nstack 3 9000\n1 blind 100\n2 blind 200\n"
    script += dealt("As Ad 2c 7d 9h", "Ks Kd 3c 7h 9s", "Qs Qd 4c 8d Td")
    script += "act 3 call 200\nact 1 call 100\nact 2 check\n"
    checked = "act 1 check\nact 2 check\nact 3 check\n"
    script += board(*BOARD, between=checked).removesuffix(checked) + last
    script += "".join(f"hand {seat}\n" for seat in (1, 3) if f"hand {seat}" not in last)
    said = text(ruling(script + "pot 0 1 1400\ndone", GAME, filed=OFFERED))
    assert said[:2] == ["complete", "1 pot 600 win +800 637a.19(k)(1) Full house"]
    assert [each for each in said if each.startswith("!")] == found


def test_637a_19_b_to_k_a_record_cut_anywhere_says_what_comes_next() -> None:
    script = ""
    for cut in """
        start 4         > wager_placed player blind 637a.19(d)
        stack 1 20000   > wager_placed player blind 637a.19(d)
        stack 2 20000   > wager_placed player blind 637a.19(d)
        stack 4 20000   > wager_placed player blind 637a.19(d)
        1 blind 100     > cards_dealt position 1 637a.19(f)
        2 blind 200     > cards_dealt position 1 637a.19(f)
        deal 1 As       > cards_dealt position 2 637a.19(f)
        deal 2 Ks       > cards_dealt position 4 637a.19(f)
        deal 4 Qs       > cards_dealt position 1 637a.19(f)
        deal 1 Ad 2c 7d 9h > cards_dealt position 2 637a.19(f)
        deal 2 Kd 3c 7h 9s > cards_dealt position 4 637a.19(f)
        deal 4 Qd 4c 8d Td > decision_made position 4 637a.19(g)
        act 4 call 200  > decision_made position 1 637a.19(g)
        act 1 call 100  > decision_made position 2 637a.19(g)
        act 2 check     > card_burned dealer 637a.19(h)
        burn            > cards_dealt community 637a.19(h)
        deal community up Ac Kc > cards_dealt community 637a.19(h)
        deal community up 6s > decision_made position 1 637a.19(h)
        act 1 check     > decision_made position 2 637a.19(h)
        act 2 bet 200   > decision_made position 4 637a.19(h)
        act 4 raise 400 > decision_made position 1 637a.19(h)
        act 1 fold      > decision_made position 2 637a.19(h)
        act 2 call 200  > card_burned dealer 637a.19(i)
        burn            > cards_dealt community 637a.19(i)
        deal community up 6d > decision_made position 2 637a.19(i)
        act 2 check     > decision_made position 4 637a.19(i)
        act 4 check     > card_burned dealer 637a.19(j)
        burn            > cards_dealt community 637a.19(j)
        deal community up 2h > decision_made position 2 637a.19(j)
        act 2 check     > decision_made position 4 637a.19(j)
        act 4 check     > hand_shown position 2 637a.19(k)
        hand 2          > hand_shown position 4 637a.19(k)
        hand 4          > pot_awarded position 2 1400 637a.19(k)(1)
        pot 0 2 1400    > round_completed dealer 637a.19(k)(1)
    """.strip().splitlines():
        line, _, expected = cut.partition(">")
        script += f"{line.strip()}\n"
        assert next_of(script) == f"> {' '.join(expected.split())}", line


def test_637a_19_k_side_pots_follow_from_what_each_put_in() -> None:
    """Main pot 4 x 1,200, first side pot 3 x 2,000, second 2 x 2,000; 1 mucks, 2 has all."""
    ruled(
        GAME,
        SHORT + "muck 1\nhand 2\nhand 3\nhand 4\npot 0 2 4800\npot 1 2 6000\npot 2 2 4000\ndone",
        """
        complete
        1 pot 5200 lose -5200 637a.19(k)
        2 pot 5200 win  +9600 637a.19(k)(1) Full house
        3 pot 1200 lose -1200 637a.19(k)
        4 pot 3200 lose -3200 637a.19(k)
        """,
    )


def test_637a_19_k_who_is_all_in_wins_no_pot_he_did_not_put_into() -> None:
    """Cards changed round: 3 has the aces and the main pot, 4 the kings and the first side pot.

    For the second one, the queens up of 1 beat the jacks up of 2.
    """
    hands = dealt("Qs Qd 4c 8d Td", "Js Jd 5c 8h Th", "As Ad 2c 7d 9h", "Ks Kd 3c 7h 9s")
    ruled(
        GAME,
        SHORT.replace(HANDS, hands)
        + shown(1, 2, 3, 4)
        + "pot 0 3 4800\npot 1 4 6000\npot 2 1 4000\ndone",
        """
        complete
        1 pot 5200 lose -1200 637a.19(k)(1) Two pair
        2 pot 5200 lose -5200 637a.19(k)
        3 pot 1200 win  +3600 637a.19(k)(1) Full house
        4 pot 3200 win  +2800 637a.19(k)(1) Full house
        """,
    )


def test_637a_19_k_what_only_one_player_put_in_goes_back_before_the_cards() -> None:
    """1 bets 5,000, 3 and 4 call for less, 2 folds: 1 has 2,000 back and nobody bets again."""
    script = (
        SHORT.partition("act 2 call 5000")[0]
        + """
        act 2 fold
        act 3 call 1000 allin
        act 4 call 3000 allin
        back 1 bet 2000
        burn
        deal community up 6d
        burn
        deal community up 2h
        hand 1
        hand 3
        hand 4
        pot 0 1 3800
        pot 1 1 4000
        done
    """
    )
    ruled(
        GAME,
        script,
        """
        complete
        1 pot 3200 win  +4600 637a.19(k)(1) Full house
        2 pot  200 lose  -200 637a.19(h)
        3 pot 1200 lose -1200 637a.19(k)
        4 pot 3200 lose -3200 637a.19(k)
        """,
    )


def test_637a_19_f_who_sits_out_is_not_dealt_in_and_owes_nothing() -> None:
    script = START.replace("stack 4", "stack 5 20000\nstack 4")
    ruled(GAME, script + HANDS + LIMPED + FULL + "pot 0 1 800\ndone", WON)


def test_637a_19_k_a_hand_mucked_at_the_showdown_is_folded() -> None:
    script = START + HANDS + LIMPED + board(*BOARD) + "muck 1\nhand 2\nmuck 3\nhand 4\n"
    ruled(
        GAME,
        script + "pot 0 2 800\ndone",
        """
        complete
        1 pot 200 lose -200 637a.19(k)
        2 pot 200 win  +600 637a.19(k)(1) Full house
        3 pot 200 lose -200 637a.19(k)
        4 pot 200 lose -200 637a.19(k)
        """,
    )


def test_637a_19_k_the_last_hand_need_not_be_shown() -> None:
    script = START + HANDS + LIMPED + board(*BOARD) + "muck 1\nmuck 2\nmuck 4\n"
    assert next_of(script) == "> hand_shown position 3 637a.19(k)"
    assert next_of(script.replace("muck 4", "muck 3")) == "> pot_awarded position 4 800 637a.19(j)"


def test_637a_19_k_cards_the_shoe_did_not_read_are_those_shown() -> None:
    unread = dealt(*["?? ?? ?? ?? ??"] * 4)
    hands = [line.removeprefix("deal ") for line in HANDS.splitlines()]
    script = START + unread + LIMPED + board(*BOARD)
    showing = "".join(f"hand {each}\n" for each in hands)
    ruled(GAME, script + showing + "pot 0 1 800\ndone", WON)
    ruled(GAME, script + shown(1, 2, 3, 4) + "done", "awaiting\n> hand_shown position 1 637a.19(k)")


def test_637a_19_k_a_hand_shown_that_was_not_dealt_is_found_and_ruled_on() -> None:
    showing = "hand 1 As Ad 2c 7d 9h\nhand 2 Ks Kd 3c 7h 8s\nhand 3\nhand 4\n"
    script = START + HANDS + LIMPED + board(*BOARD) + showing + "pot 0 1 800\ndone"
    ruled(GAME, script, WON + "! card_mismatch 2 None / 8s 637a.19(k)")


def test_637a_19_k_rake_comes_off_the_pot_before_it_is_awarded() -> None:
    script = START + HANDS + LIMPED + FULL + "rake 30\nrake 10 0\npot 0 1 760\ndone"
    ruled(GAME, script, WON.replace("+600", "+560"))


def test_637a_19_k_rake_off_a_side_pot_comes_off_that_one() -> None:
    script = (
        SHORT + shown(1, 2, 3, 4) + "rake 500 1\npot 0 1 4800\npot 1 1 5500\npot 2 1 4000\ndone"
    )
    said = text(ruling(script, GAME, filed=OFFERED))
    assert said[1] == "1 pot 5200 win +9100 637a.19(k)(1) Full house"
    assert not [line for line in said if line.startswith("!")]


@pytest.mark.parametrize("cards", ["As Ad 2c 7d 9h Tc", "As Ad 2c 7d"])
def test_637a_19_f_with_a_card_too_many_or_too_few_the_round_is_void(cards: str) -> None:
    hands = HANDS.replace("As Ad 2c 7d 9h", cards)
    script = START + hands + "act 3 call 200\n"
    count = len(cards.split())
    back = "back 1 pot 100\nback 2 pot 200\nback 3 pot 200\nvoid"
    void = """
        void
        1 pot 100 void +0 637a.19(f)
        2 pot 200 void +0 637a.19(f)
        3 pot 200 void +0 637a.19(f)
    """
    misdeal = f"! misdeal 1 5 / {count} 637a.19(f)"
    ruled(GAME, script + back, void + misdeal)
    ruled(
        GAME,
        script.replace("act 3 call 200\n", "act 3 call 200\nact 4 fold\n") + "done",
        void
        + misdeal
        + """
        ! should_have_been_void 637a.19(f)
        ! not_returned 1 pot 100 / 0 637a.19(f)
        ! not_returned 2 pot 200 / 0 637a.19(f)
        ! not_returned 3 pot 200 / 0 637a.19(f)
        """,
    )


@pytest.mark.parametrize("kind", ["wrong_card_count", "cards_face_up", "card_missing"])
def test_637a_19_f_a_void_round_gives_back_what_was_put_in_by_whatever_name(kind: str) -> None:
    script = START + HANDS + LIMPED + f"call {kind}\n"
    back = "back 1 blind 100\nback 1 bet 100\nback 2 pot 200\nback 3 bet 200\nback 4 bet 150\nvoid"
    ruled(
        GAME,
        script + back,
        """
        void
        1 pot 200 void +0 637a.19(f)
        2 pot 200 void +0 637a.19(f)
        3 pot 200 void +0 637a.19(f)
        4 pot 200 void +0 637a.19(f)
        ! not_returned 4 pot 200 / 150 637a.19(f)
        """,
    )


def test_637a_19_g_where_facts_were_lost_nothing_raises_and_the_pots_stay_open() -> None:
    """Every line of a round lost in turn, with the gap that its device's counter shows."""
    whole = [
        line.strip()
        for line in (START + HANDS + LIMPED + FULL + "pot 0 1 800\ndone").splitlines()
        if line.strip()
    ]
    numbered = [f"{line} | seq {number}" for number, line in enumerate(whole, 1)]
    for index in range(1, len(numbered) - 1):
        kept = "\n".join([*numbered[:index], *numbered[index + 1 :]])
        said = text(ruling(kept, GAME, filed=OFFERED))
        assert said[0] in ("complete", "awaiting"), whole[index]
        found = [line for line in said if line.startswith("!")]
        assert found[0].startswith("! fact_missing"), whole[index]
        assert found[1:] == [], whole[index]


def test_601a_2_none_filed_says_so_and_takes_what_was_put_in() -> None:
    script = START + HANDS + LIMPED + FULL + "pot 0 1 800\ndone"
    assert text(ruling(script, GAME)) == lines(WON)


@pytest.mark.parametrize(
    ("lost", "status"),
    [
        ("stack 3 20000", "complete"),
        ("1 blind 100", "awaiting"),
        ("2 blind 200", "awaiting"),
        ("act 3 call 200", "awaiting"),
        ("act 2 check", "awaiting"),
        ("burn", "complete"),
        ("deal community up 6d", "awaiting"),
        ("hand 2", "complete"),
        ("pot 0 1 800", "complete"),
    ],
)
def test_637a_19_k_a_lost_fact_leaves_the_pots_open_where_chips_or_cards_hang_on_it(
    lost: str, status: str
) -> None:
    script = START + HANDS + LIMPED + FULL + "pot 0 1 800\ndone"
    whole = [line.strip() for line in script.splitlines() if line.strip()]
    numbered = [f"{line} | seq {number}" for number, line in enumerate(whole, 1)]
    del numbered[whole.index(lost)]
    said = text(ruling("\n".join(numbered), GAME, filed=OFFERED))
    assert said[0] == status
    assert [line.split()[1] for line in said if line.startswith("!")] == ["fact_missing"]
    assert ("1 pot 200 win +600 637a.19(k)(1) Full house" in said) is (status == "complete")


def test_637a_19_k_more_rake_than_there_is_in_a_pot_leaves_nothing_to_award() -> None:
    script = START + HANDS + LIMPED + FULL + "rake 900\ndone"
    said = text(ruling(script, GAME, filed=OFFERED))
    assert said[1] == "1 pot 200 lose -200 637a.19(k)(1) Full house"
    assert not [line for line in said if line.startswith("!")]
