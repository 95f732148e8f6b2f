"""Asia Poker, Chapter 659a: where the deal begins, wagers, hands voided, set and surrendered."""

from __future__ import annotations

import pytest

from tests.unit.games.asia import BEGINS, DEALER, GAME, LOST, WON, check, dealt, played, set_to
from tests.unit.games.rounds import lines, ruling, text

BET = "1 asia_poker 1000"
HIGHER, LOWER = "Ac Ad 6h 4s / Qd 9c / Th", "Tc Td 6h 4s / Qd 7c / 3h"
WINS, LOSES = f"1 asia_poker 1000 win +1000 {WON}", f"1 asia_poker 1000 lose -1000 {LOST}"

# -- 5(g): where the deal begins -------------------------------------------------------------------

# Counted by hand: the dealer is one, position 6 two, position 5 three, ... position 1 seven.
COUNTED = {
    1: 0, 2: 6, 3: 5, 4: 4, 5: 3, 6: 2, 7: 1, 8: 0, 9: 6, 10: 5,
    11: 4, 12: 3, 13: 2, 14: 1, 15: 0, 16: 6, 17: 5, 18: 4,
}  # fmt: skip


def dice(total: int) -> str:
    """Three dice of a total."""
    first = min(6, total - 2)
    second = min(6, total - first - 1)
    return f"{first} {second} {total - first - second}"


def who(place: int) -> str | int:
    return place or "dealer"


@pytest.mark.parametrize("total", range(3, 19))
def test_659a_5_g_1_the_total_of_the_dice_is_counted_from_the_dealer_counterclockwise(
    total: int,
) -> None:
    place = COUNTED[total]
    begins = f"begin shaker {dice(total)} {place}"
    script = played({1: HIGHER}, BET).replace(BEGINS, begins)
    stacks = dealt({"dealer": DEALER, 1: HIGHER}, first=who(place))
    in_turn = "\n".join([*script.split("deal ")[0].splitlines(), *stacks])
    rest = script[script.index("set 1") :]
    check(f"{in_turn}\n{rest}", f"complete\n{WINS}")
    cut = f"start\n{BET}\nnomorebets\n{begins}"
    first = f"position {place}" if place else "dealer"
    assert text(ruling(cut, GAME))[-1] == f"> cards_dealt {first} 659a.8(c)"
    # Announced wrongly, and dealt from there: 659a.13(c).
    wrong = place % 6 + 1
    told = in_turn.replace(begins, f"begin shaker {dice(total)} {wrong}")
    check(f"{told}\n{rest}", f"complete\n{WINS}")
    astray = "\n".join(dealt({"dealer": DEALER, 1: HIGHER}, first=wrong))
    script = f"start\n{BET}\nnomorebets\nbegin shaker {dice(total)} {wrong}\n{astray}\n{rest}"
    check(
        script,
        f"""
        void
        1 asia_poker 1000 void +0 659a.13(c)
        ! misdeal {place} / {wrong} 659a.13(c)
        """,
    )


@pytest.mark.parametrize("number", range(1, 8))
def test_659a_5_g_2_a_random_number_is_counted_alike_and_voids_nothing(number: int) -> None:
    place = COUNTED[number]
    rest = played({1: HIGHER}, BET)
    rest = rest[rest.index("set 1") :]
    for began in {place, 3}:
        stacks = "\n".join(dealt({"dealer": DEALER, 1: HIGHER}, first=who(began)))
        begins = f"begin random_number {number} {began}"
        script = f"start\n{BET}\nnomorebets\n{begins}\n{stacks}\n{rest}"
        found = f"\n! out_of_turn {place} / 3 659a.5(g)" if began != place else ""
        check(script, f"complete\n{WINS}{found}")


def test_659a_5_g_3_the_button_begins_where_it_stands() -> None:
    for button in (0, 4):
        stacks = "\n".join(dealt({"dealer": DEALER, 1: HIGHER}, first=who(button)))
        rest = played({1: HIGHER}, BET)
        rest = rest[rest.index("set 1") :]
        script = f"start automated_shoe\n{BET}\nnomorebets\nbegin button {button}\n{stacks}\n{rest}"
        check(script, f"complete\n{WINS}")


def test_659a_13_c_dice_called_mistotalled_void_the_round_if_the_first_card_went_wrong() -> None:
    script = played({1: HIGHER}, BET).replace(BEGINS, "begin shaker 6 1 1 0\ncall dice_mistotalled")
    check(script, f"complete\n{WINS}")
    wrong = script.replace("begin shaker 6 1 1 0", "begin shaker 6 2 1 6")
    check(
        wrong,
        "void\n1 asia_poker 1000 void +0 659a.13(c)\n! misdeal 6 / 0 659a.13(c)",
    )
    # Which dice is not on record.
    button = script.replace("begin shaker 6 1 1 0", "begin button 0")
    check(button, "void\n1 asia_poker 1000 void +0 659a.13(c)")


def test_659a_13_a_after_a_no_roll_the_dice_shaken_last_count() -> None:
    again = "begin shaker 6 2 1 6\nnoroll\nbegin shaker 6 1 1 0"
    check(played({1: HIGHER}, BET).replace(BEGINS, again), f"complete\n{WINS}")


def test_659a_13_a_b_after_a_no_roll_the_dice_must_be_shaken_again() -> None:
    shaken = "begin shaker 6 2 1 6 | id s1\nnoroll dealer s1"
    again = f"{shaken}\nbegin shaker 6 1 1 0"
    check(played({1: HIGHER}, BET).replace(BEGINS, again), f"complete\n{WINS}")
    check(
        played({1: HIGHER}, BET).replace(BEGINS, shaken),
        f"complete\n{WINS}\n! step_missing starting_position_determined / None 659a.5(g)",
    )


def test_659a_5_g_a_deal_without_a_start_on_record_lacks_a_step() -> None:
    script = played({1: HIGHER}, BET).replace(f"{BEGINS}\n", "")
    check(script, f"complete\n{WINS}\n! step_missing starting_position_determined / None 659a.5(g)")


# -- 8-10, 13: the cards ---------------------------------------------------------------------------

DEALT = {
    "manual_shoe": ("8(b)", "8(c)", "8(e)", "8(f)"),
    "hand": ("9(a)(3)", "9(b)", "9(d)", "9(e)"),
    "automated_shoe": ("10(a)(2)", "10(b)", "10(d)", "10(e)"),
}


@pytest.mark.parametrize("way", DEALT)
def test_659a_8_9_10_every_position_is_dealt_seven_cards_by_each_way_of_dealing(way: str) -> None:
    announced, deal, stub, collected = DEALT[way]
    script = played({1: HIGHER}, BET).replace("start", f"start {way}")
    check(script, f"complete\n{WINS}")
    facts = [fact for fact in script.splitlines() if fact]
    cut = {fact.split()[0]: at for at, fact in reversed(list(enumerate(facts)))}
    for before, says in (
        ("nomorebets", f"no_more_bets_called dealer 659a.{announced}"),
        ("begin", "starting_position_determined dealer 659a.5(g)"),
        ("deal", f"cards_dealt dealer 659a.{deal}"),
        ("set", f"hand_discarded position 2 659a.{collected}"),
    ):
        found = text(ruling("\n".join(facts[: cut[before]]), GAME), following=True)
        assert found[-1] == f"> {says}"
    counted = [*facts[: cut["set"]], "stub 4", *facts[cut["set"] :]]
    check("\n".join(counted), f"complete\n{WINS}")
    for left in (3, 5):
        counted[cut["set"]] = f"stub {left}"
        check(
            "\n".join(counted),
            f"void\n1 asia_poker 1000 void +0 659a.{stub}\n! misdeal 4 / {left} 659a.{stub}",
        )


def test_659a_8_c_one_card_at_a_time_goes_round_clockwise() -> None:
    script = played({1: HIGHER}, BET)
    stacks = [line.split()[1:] for line in script.splitlines() if line.startswith("deal ")]
    singly = [f"deal {who} {stack[card]}" for card in range(7) for who, *stack in stacks]
    whole = [line for line in script.splitlines() if line.startswith("deal ")]
    one_by_one = script.replace("\n".join(whole), "\n".join(singly))
    assert one_by_one != script
    check(one_by_one, f"complete\n{WINS}")
    begun = one_by_one.partition(singly[0])[0]
    for cards, waits_for in ((3, "position 3"), (45, "position 3"), (48, "position 6")):
        cut = begun + "\n".join(singly[:cards])
        assert text(ruling(cut, GAME))[-1] == f"> cards_dealt {waits_for} 659a.8(c)"
    swapped = one_by_one.replace(f"{singly[8]}\n{singly[9]}", f"{singly[9]}\n{singly[8]}")
    assert "! out_of_turn" in " ".join(text(ruling(swapped, GAME)))


@pytest.mark.parametrize(
    ("holder", "section"),
    [("dealer", "13(h)"), ("1", "13(h)"), ("2", "13(k)"), ("6", "13(k)")],
)
def test_659a_13_h_13_k_a_wrong_number_of_cards_anywhere_voids_the_round(
    holder: str, section: str
) -> None:
    script = played({1: HIGHER}, BET)
    [line] = [each for each in script.splitlines() if each.startswith(f"deal {holder} ")]
    position = "" if holder == "dealer" else f" {holder}"
    # Voided once it is seen, so that no later turn shows a card that the shoe did not read.
    void = script.partition("set 1")[0] + "back 1 asia_poker 1000\nvoid"
    for changed, count in ((line.rpartition(" ")[0], 6), (f"{line} ??", 8)):
        check(
            void.replace(line, changed),
            f"""
            void
            1 asia_poker 1000 void +0 659a.{section}
            ! misdeal{position} 7 / {count} 659a.{section}
            """,
        )
    check(
        script.replace(line, f"{line} ??") + "\ndone",
        f"""
        void
        1 asia_poker 1000 void +0 659a.{section}
        ! misdeal{position} 7 / 8 659a.{section}
        ! should_have_been_void 659a.{section}
        ! not_returned 1 asia_poker 1000 / 0 659a.{section}
        """,
    )


def test_659a_8_c_a_stack_that_the_record_shows_nothing_of_is_a_step_left_out() -> None:
    script = played({1: HIGHER}, BET)
    [line] = [each for each in script.splitlines() if each.startswith("deal 4 ")]
    check(
        script.replace(f"{line}\n", ""),
        f"complete\n{WINS}\n! step_missing 4 cards_dealt / None 659a.8(c)",
    )


def test_659a_13_j_a_dealer_card_exposed_while_dealing_voids_the_round() -> None:
    script = played({1: HIGHER}, BET).replace("deal dealer", "deal dealer up")
    check(script, "void\n1 asia_poker 1000 void +0 659a.13(j)")


CALLED = """
    card_face_up 2c         play on
    card_face_up 2c 3c      13(f)
    cards_face_up           13(f)
    card_drawn_unexposed    play on
    wrong_card_count        13(h)
    dealer_card_exposed     13(e)
    dealer_hand_misset      play on
    shuffler_failed         play on
    dealing_shoe_failed     13(m)
    card_missing            8(e)
    dealer_overdrew         play on
"""


@pytest.mark.parametrize("row", [row.strip() for row in CALLED.splitlines() if row.strip()])
def test_659a_13_what_follows_from_each_irregularity(row: str) -> None:
    kind, _, follows = (part.strip() for part in row.partition("   "))
    script = played({1: HIGHER}, BET, before=f"call {kind}")
    voided = f"void\n1 asia_poker 1000 void +0 659a.{follows}"
    check(script, f"complete\n{WINS}" if follows == "play on" else voided)


def test_659a_13_m_and_8_e_by_the_way_of_dealing() -> None:
    script = played({1: HIGHER}, BET, before="call dealing_shoe_failed")
    check(script.replace("start", "start hand"), f"complete\n{WINS}")
    missing = played({1: HIGHER}, BET, before="call card_missing")
    for way, (_, _, section, _) in DEALT.items():
        expected = f"void\n1 asia_poker 1000 void +0 659a.{section}"
        check(missing.replace("start", f"start {way}"), expected)


# -- 13(d): a player's exposed card ----------------------------------------------------------------


def test_659a_13_d_a_player_whose_card_was_exposed_may_void_his_hand_and_nobody_else() -> None:
    bets = "1 asia_poker 1000\n1 bonus 100\n2 asia_poker 500"
    hands = {1: HIGHER, 2: "Kh Ks 8c 5c / Jd 7d / 4h"}
    script = played(hands, bets)
    other = f"2 asia_poker 500 lose -500 {LOST}"
    settled = f"{WINS}\n1 bonus 100 lose -100 659a.11(h)(1)"
    check(script.replace("set 1", "exposed 1\nset 1"), f"complete\n{other}\n{settled}")
    gone = script.replace(set_to(1, HIGHER), "exposed 1\ndecide 1 void_hand")
    gone = gone.replace("show 1 Ac Ad 6h 4s Qd 9c Th", "")
    voided = "1 asia_poker 1000 void +0 659a.13(d)\n1 bonus 100 void +0 659a.13(d)"
    check(gone, f"complete\n{voided}\n{other}")
    face_up = gone.replace("exposed 1\n", "").replace("deal 1 Ac", "deal 1 up Ac")
    check(face_up, f"complete\n{voided}\n{other}")
    # A hand without an exposed card has no decision.
    for another in ("exposed 2\n", ""):
        found = text(ruling(script.replace("set 1", f"{another}decide 1 void_hand\nset 1"), GAME))
        wrong = "! decision_not_permitted 1 None / void_hand"
        assert found == ["complete", *lines(f"{other}\n{settled}"), wrong]


def test_659a_11_c_with_no_hand_left_the_dealer_may_turn_and_set_his() -> None:
    script = played({1: HIGHER}, BET)
    script = script.replace(set_to(1, HIGHER), "exposed 1\ndecide 1 void_hand")
    script = script.replace("show 1 Ac Ad 6h 4s Qd 9c Th", "")
    voided = "complete\n1 asia_poker 1000 void +0 659a.13(d)"
    assert "set dealer" in script
    check(script, voided)
    check(script.partition("show dealer")[0], voided)
    other = script.replace("show dealer Kc", "show dealer Ks").partition("set dealer")[0]
    assert "! card_mismatch Kc / Ks 659a.11(c)" in text(ruling(other, GAME))


def test_659a_13_d_the_choice_comes_before_he_looks_at_the_other_cards() -> None:
    script = played({1: HIGHER}, BET).replace("set 1", "exposed 1\nset 1")
    late = script.replace("show dealer", "decide 1 void_hand\nshow dealer")
    found = text(ruling(late.partition("show 1")[0], GAME))
    assert found[:2] == ["complete", "1 asia_poker 1000 void +0 659a.13(d)"]
    assert "! out_of_turn 1" in found


def test_659a_13_d_when_every_hand_is_void_there_is_none_to_compare() -> None:
    script = played({1: HIGHER}, BET)
    cut = script.partition("set 1")[0] + "exposed 1\ndecide 1 void_hand"
    check(cut, "complete\n1 asia_poker 1000 void +0 659a.13(d)")


def test_659a_13_d_players_void_their_hands_in_any_order_and_the_cards_are_racked() -> None:
    hands = {1: HIGHER, 2: "Kh Ks 8c 5c / Jd 7d / 4h"}
    script = played(hands, f"{BET}\n2 asia_poker 500").partition("set 1")[0]
    racks = "rack 3\nrack 4\nrack 5\nrack 6\n"
    voided = "exposed 1\nexposed 2\ndecide 2 void_hand\ndecide 1 void_hand\n"
    found = text(ruling(f"{script}{racks}{voided}", GAME))
    assert sorted(found) == lines("""
        1 asia_poker 1000 void +0 659a.13(d)
        2 asia_poker 500 void +0 659a.13(d)
        complete
    """)
    # Dealt face up at position 2, whose player decides.
    up = script.replace("deal 2 Kh", "deal 2 up Kh")
    one = f"{up}{racks}decide 2 void_hand\nback 2 asia_poker 500\n"
    found = text(ruling(one, GAME), following=True)
    assert found[1] == "2 asia_poker 500 void +0 659a.13(d)"
    assert found[-1] == "> hand_discarded position 2 659a.13(d)"
    racked = text(ruling(f"{one}rack 2\n", GAME), following=True)
    assert racked[-1] == "> hand_set position 1 659a.11(b)"
    # When another player has set his hands already it is not too late.
    after = script.replace("exposed 2", "") + f"{racks}exposed 1\n"
    after += f"{set_to(2, hands[2])}\ndecide 1 void_hand\n"
    found = text(ruling(after, GAME))
    assert not [line for line in found if line.startswith("!")]
    assert "1 asia_poker 1000 void +0 659a.13(d)" in found


def test_659a_7_c_a_late_wager_goes_back_where_nothing_shows_its_hand_in_play() -> None:
    """Every position has cards, so they do not show that the wager was taken."""
    script = played({1: HIGHER}, BET, after="2 asia_poker 500\n2 bonus 100\ndone")
    found = text(ruling(script.replace("done", "back 2 asia_poker 500\ndone"), GAME))
    assert found[:4] == lines(f"""
        complete
        2 asia_poker 500 void +0 659a.7(c)
        2 bonus 100 void +0 659a.7(e)
        {WINS}
    """)
    assert "! late_wager 2 asia_poker 659a.7(c)" in found
    # Set, it is played.
    second = "Kh Ks 8c 5c / Jd 7d / 4h"
    stays = played({1: HIGHER, 2: second}, BET).replace(BEGINS, f"2 asia_poker 500\n{BEGINS}")
    assert f"2 asia_poker 500 lose -500 {LOST}" in text(ruling(stays, GAME))
    # What was added to a wager that lay there is with it, set or not.
    more = "\n".join(played({1: HIGHER}, BET).splitlines()[:3]) + "\n1 asia_poker 500"
    assert not any("void" in line for line in text(ruling(more, GAME)))
