"""Double Attack Blackjack: decisions, chips and cards that the record has lost, ruled by hand.

Chips are put down before the card that they bring, and a hand is played out before the next one is
dealt to (665a.11(b)). So what follows a lost decision shows what it was, and nobody is paid less.
"""

from __future__ import annotations

import pytest

from tests.unit.games.attack import GAME, round_of
from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.spy import asked

WIN = "12(a) Bet and Double Attack Wager, 1 to 1"


def numbered(script: str) -> list[str]:
    """A script's lines; chips and decisions come from one device with a counter."""
    found: list[str] = []
    for line in script.splitlines():
        count = sum("by rack" in each for each in found)
        by_rack = line.startswith("decide") or line[0].isdigit()
        found.append(f"{line} | by rack seq {count}" if by_rack else line)
    count = sum("by rack" in each for each in found)
    return [*found, f"stack 1 0 | by rack seq {count}"]


def without(script: str, *lost: int | str) -> list[str]:
    """The ruling of a script whose device lost these lines of it."""
    kept = [
        line
        for at, line in enumerate(numbered(script))
        if at not in lost and line.partition(" |")[0] not in lost
    ]
    return text(ruling("\n".join(kept), GAME))


HITS = """
    decide 1 hit, deal 1 up 4c, decide 1 hit, deal 1 up 5d, decide 1 hit, deal 1 up 5h
    decide 1 stand
"""
DOUBLED = """
    decide 1 hit, deal 1 up 4c
    decide 1 double_down, 1 double_down 700, deal 1 up Tc, decide 1 stand
"""
# Hand 1 is split again, into hand 3, and doubled on 11 in two cards.
FIRST_AGAIN = """
    decide 1 split, 1 split 1000 hand 2, deal 1 up 8h
    decide 1 split, 1 split 1000 hand 3, deal 1 up 3c
    decide 1 double_down, 1 double_down 900, deal 1 up 9c
    deal 1.3 up Kc, decide 1.3 stand
    deal 1.2 up 2d, decide 1.2 hit, deal 1.2 up 6d, decide 1.2 stand
"""
# Hand 2 is split again, into hand 3, once hand 1 is played out.
SECOND_AGAIN = """
    decide 1 split, 1 split 1000 hand 2, deal 1 up 2h
    decide 1 hit, deal 1 up 8d, decide 1 stand
    deal 1.2 up 8h, decide 1.2 split, 1 split 1000 hand 3, deal 1.2 up 3c
    decide 1.2 double_down, 1 double_down 1000 hand 2, deal 1.2 up Kd
    deal 1.3 up Kc, decide 1.3 stand
"""


def chips_first(moves: str) -> str:
    """The same moves, with the chips put down before it is said what for."""
    for said, chips in (
        ("decide 1 split", "1 split 1000 hand 2"),
        ("decide 1 split", "1 split 1000 hand 3"),
        ("decide 1.2 split", "1 split 1000 hand 3"),
        ("decide 1 double_down", "1 double_down 700"),
        ("decide 1 double_down", "1 double_down 900"),
        ("decide 1.2 double_down", "1 double_down 1000 hand 2"),
    ):
        moves = moves.replace(f"{said}, {chips}", f"{chips}, {said}")
    return moves


# Against 17: what the wagers come to, worked out from the cards above.
OWED = {
    HITS: ("2c 3s", f"1 bet 1000 win +1000 665a.{WIN}"),
    DOUBLED: (
        "2c 3s",
        f"""
        1 bet         1000 win +1000 665a.{WIN}
        1 double_down  700 win  +700 665a.{WIN}
        """,
    ),
    FIRST_AGAIN: (
        "8c 8s",
        f"""
        1.3 split     1000 win  +1000 665a.{WIN}
        1.2 split     1000 lose -1000 665a.7(o)(1)(ii)(C)
        1 bet         1000 win  +1000 665a.{WIN}
        1 double_down  900 win   +900 665a.{WIN}
        """,
    ),
    SECOND_AGAIN: (
        "8c 8s",
        f"""
        1.3 split       1000 win +1000 665a.{WIN}
        1.2 split       1000 win +1000 665a.{WIN}
        1.2 double_down 1000 win +1000 665a.{WIN}
        1 bet           1000 win +1000 665a.{WIN}
        """,
    ),
}
PLAYED = [(moves, first) for moves in OWED for first in (False, True)]


def played(moves: str, *, first: bool) -> str:
    """A round of these moves under 9-8."""
    said = ", ".join(lines(chips_first(moves) if first else moves))
    return round_of("9d 8h", OWED[moves][0].replace("Tc", "Kc"), said.replace("Tc", "Kc"))


@pytest.mark.parametrize(("moves", "first"), PLAYED)
def test_665a_7_h_2_a_decision_that_was_lost_is_told_by_the_chips_and_cards_after_it(
    moves: str,
    first: bool,  # noqa: FBT001 - whether the chips come before it
) -> None:
    script, owed = played(moves, first=first), lines(OWED[moves][1])
    assert without(script) == ["complete", *owed]
    lost = [at for at, line in enumerate(script.splitlines()) if line.startswith("decide")]
    for at in lost:
        found = without(script, at)
        assert found[:-1] == ["complete", *owed], script.splitlines()[at]
        assert found[-1].startswith("! fact_missing 1 more")


@pytest.mark.parametrize(("moves", "first"), PLAYED)
def test_665a_10_a_11_a_chips_that_were_lost_leave_their_own_wager_open_and_no_other(
    moves: str,
    first: bool,  # noqa: FBT001 - whether they come before it is said what for
) -> None:
    script, owed = played(moves, first=first), lines(OWED[moves][1])
    for at, line in enumerate(script.splitlines()):
        if line.startswith(("1 split", "1 double_down")):
            _, wager, *rest = line.split()
            hand = rest[2] if rest[1:] else "1"
            spot = f"1.{hand} {wager} " if hand != "1" else f"1 {wager} "
            found = without(script, at)
            others = [each for each in owed if not each.startswith(spot)]
            assert len(others) == len(owed) - 1
            assert found[:-2] == ["awaiting", *others]
            assert found[-2].startswith("! fact_missing 1 more")


def test_665a_11_a_a_split_lost_with_its_chips_is_told_by_the_cards_of_the_new_hand() -> None:
    script = played(SECOND_AGAIN, first=False)
    owed = lines(OWED[SECOND_AGAIN][1])
    for hand, lost in (
        ("1.3", ("decide 1.2 split", "1 split 1000 hand 3")),
        ("1.2", ("decide 1 split", "1 split 1000 hand 2")),
    ):
        found = without(script, *lost)
        others = [each for each in owed if not each.startswith(f"{hand} split")]
        assert found[:-2] == ["awaiting", *others]
        assert found[-2].startswith("! fact_missing 2 more")
    # What hand 1 decides after 8-2 is no split, though a third hand is dealt to later.
    found = without(script, "decide 1 hit", "decide 1 stand")
    assert found[:-1] == ["complete", *owed]
    found = without(script, "decide 1 hit", "decide 1 stand", "1 split 1000 hand 3")
    assert found[1:-3] == owed[1:]


@pytest.mark.parametrize(
    ("player", "moves", "told_late"),
    [
        ("Kc 2s", "deal 1 up 7c, decide 1 hit, decide 1 stand", "decide 1 hit"),
        ("Kc 2s", "1 double_down 1000, deal 1 up 7c, decide 1 double_down", "decide 1 double_down"),
        (
            "8c 8s",
            (
                "1 split 1000 hand 2, deal 1 up Kc, decide 1 split, decide 1 stand, deal 1.2 up Kd"
                ", decide 1.2 stand"
            ),
            "decide 1 split",
        ),
    ],
)
def test_665a_7_i_a_decision_told_after_its_card_is_out_of_turn_and_not_lost(
    player: str, moves: str, told_late: str
) -> None:
    late = text(ruling(round_of("9d 8h", player, moves), GAME))
    card = next(each for each in moves.split(", ") if each.startswith("deal"))
    first = ", ".join(each for each in moves.split(", ") if each != told_late)
    in_time = text(
        ruling(round_of("9d 8h", player, first.replace(card, f"{told_late}, {card}")), GAME)
    )
    assert [line for line in in_time if line.startswith("!")] == []
    assert late[: len(in_time)] == in_time
    assert {line.split()[1] for line in late[len(in_time) :]} == {"out_of_turn"}


def test_665a_11_a_chips_of_a_split_whose_decision_was_lost_make_two_hands_before_the_second() -> (
    None
):
    """8-8 and a king is 18 and 8, and no hand of 26."""
    cut = numbered(
        round_of("9d 8h", "8c 8s", "decide 1 split, 1 split 1000 hand 2, deal 1 up Kc").partition(
            "\nshow"
        )[0]
    )
    kept = "\n".join(line for line in cut if not line.startswith("decide"))
    assert text(ruling(kept, GAME), following=True)[-1] == (
        "> decision_made position 1 665a.7(h)(2)"
    )


def test_665a_7_h_chips_of_another_position_do_not_tell_what_a_player_decided() -> None:
    script = "start manual_shoe\n1 bet 1000\n2 bet 1000\ndeal dealer up 9d\ndeal 1 up Kc\n"
    script += "deal 2 up 5d\ndeal 1 up 9s\ndeal 2 up 6h\ndeal dealer 8h\ndecide 1 stand\n"
    script += "decide 2 double_down\n2 double_down 1000\ndeal 2 up Kd\nshow dealer 1 8h"
    owed = lines(f"""
        2 bet         1000 win +1000 665a.{WIN}
        2 double_down 1000 win +1000 665a.{WIN}
        1 bet         1000 win +1000 665a.{WIN}
    """)
    assert without(script) == ["complete", *owed]
    for lost in ("decide 1 stand", "decide 2 double_down"):
        assert without(script, lost)[:-1] == ["complete", *owed]


# -- cards that were lost ------------------------------------------------------------------------


def test_665a_7_where_a_players_first_card_was_lost_no_deal_is_out_of_turn() -> None:
    """His second card is taken for the first, and the one he drew for the second."""
    script = "start manual_shoe\n1 bet 1000\nburn 3d | by shoe seq 1\ndeal dealer up 9d\n"
    script += "deal 1 up 2s\ndeal dealer 8h | by shoe seq 3\ndecide 1 hit\ndeal 1 up 4d\n"
    assert text(ruling(script + "decide 1 stand\nshow dealer 1 8h\ndone", GAME)) == lines("""
        awaiting
        ! fact_missing 1 more / 1, then 3
        > wager_paid position 1 bet 665a.7(o)(1)
    """)


def test_665a_7_where_a_card_was_lost_nobody_is_said_to_have_decided_nothing() -> None:
    script = "start manual_shoe\n1 bet 1000\n2 bet 1000\n3 bet 1000\nburn 3d | by shoe seq 1\n"
    script += "deal dealer up 9d\ndeal 1 up 5c\ndeal 2 up 2c\ndeal 3 up 2d\ndeal 1 up 6c\n"
    script += "deal 2 up 3c\ndeal 3 up 3d\ndeal dealer 8h | by shoe seq 3\nshow dealer 1 8h\n"
    assert text(ruling(script + "done", GAME)) == lines("""
        awaiting
        ! fact_missing 1 more / 1, then 3
        > wager_paid position 3 bet 665a.7(o)(1)
    """)


@pytest.mark.parametrize("whose", ["", " 2"])
def test_665a_13_g_the_card_not_dealt_may_be_called_with_or_without_a_position(whose: str) -> None:
    script = "start manual_shoe\n1 bet 1000\n2 bet 700\ndeal dealer up 9d\ndeal 1 up Kc\n"
    script += "deal 2 up Kd\ndeal 1 up 9s\ndeal 2 up 2h\ndeal dealer 8h\ndecide 1 stand\n"
    script += f"decide 2 hit\ncall requested_card_not_dealt{whose}\n"
    cut = text(ruling(script, GAME), following=True)
    assert cut[-1] == "> cards_dealt position 2 665a.13(g)"
    script += "deal 2 up 8c\ndecide 2 stand\nshow dealer 1 8h"
    assert text(ruling(script, GAME)) == lines(f"""
        complete
        2 bet  700 win  +700 665a.{WIN}
        1 bet 1000 win +1000 665a.{WIN}
    """)


def test_665a_11_b_f_player_cards_come_face_up_and_the_first_hand_of_a_split_comes_first() -> None:
    script = round_of("9d 8h", "8c 8s", "decide 1 split, 1 split 1000 hand 2")
    last = asked(script.partition("\nshow")[0], GAME)[-1]
    assert (last.fact, last.hand, last.face) == ("cards_dealt", 1, "up")


def test_665a_13_c_the_next_card_and_the_next_decision_tell_whether_a_card_was_refused() -> None:
    asks = "decide 1 hit, call card_drawn_exposed, "
    lost = "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(C)"
    # 8-3-2 and a 4 that nobody asked for; 8-3 and an 8 that was refused.
    for moves in (
        "deal 1 up 2c, decide 1 refuse_card, deal 1 up 4c",
        "decide 1 refuse_card, deal 1 up 8d, decide 1 stand",
    ):
        script = round_of("9d 8h", "8c 3s", asks + moves)
        assert text(ruling(script, GAME)) == ["complete", lost, "! misdeal 1"]


def test_665a_13_g_a_call_that_names_nobody_is_of_the_first_hand_that_asks_and_of_no_other() -> (
    None
):
    script = "start manual_shoe\n1 bet 1000\n2 bet 700\ndeal dealer up 9d\ndeal 1 up Kc\n"
    script += "deal 2 up Kd\ndeal 1 up 2s\ndeal 2 up 3h\ndeal dealer 8h\ndecide 1 hit\n"
    script += "call requested_card_not_dealt\ndecide 2 hit\ndeal 2 up 6c\ndecide 2 stand\n"
    script += "deal 1 up 8c\ndecide 1 stand\nshow dealer 1 8h"
    assert text(ruling(script, GAME)) == lines(f"""
        complete
        2 bet  700 win  +700 665a.{WIN}
        1 bet 1000 win +1000 665a.{WIN}
    """)


def test_665a_11_a_a_split_beside_a_bet_that_was_lost_is_held_to_nothing() -> None:
    """It is as large as the Bet and the Double Attack Wager, of which one is not known."""
    does = "decide 1 split, 1 split 1600 hand 2, deal 1 up Kc, decide 1 stand, deal 1.2 up Kd"
    script = round_of("9d 8h", "8c 8s", does + ", decide 1.2 stand", "bet 1000 / double_attack 600")
    lost = [line for line in numbered(script) if not line.startswith(("1 bet", "start"))]
    opening = "start manual_shoe\nstack 1 0 | by rack seq -1\n"
    found = text(ruling(opening + "\n".join(lost), GAME))
    assert found[0] == "awaiting"
    assert [line for line in found if "not_permitted" in line] == []
    assert f"1.2 split 1600 win +1600 665a.{WIN}" in found
