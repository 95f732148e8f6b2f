"""The table after each fact: folded from facts alone, and drawn so that nothing hangs on colour."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from ledger import facts as f
from ledger.record.wire import Fact
from ledger.values import RoundId
from replay.rounds.drawing import WIDTH, draw
from replay.rounds.reconstruct import reconstruct
from replay.rounds.sentences import in_words

if TYPE_CHECKING:
    from ledger.facts import Body
    from replay.rounds.moment import Moment

ROUND = RoundId("hollywood", "CC-07", "2026-11-20", 231)
SECOND = 1_000_000
START_US = 1_795_000_000 * SECOND


def told(*bodies: Body | tuple[str, Body]) -> list[Fact]:
    """Facts a second apart; a body with a name comes from that device."""
    made = []
    for number, each in enumerate(bodies, 1):
        device, body = each if isinstance(each, tuple) else ("felt", each)
        source = f"/hollywood/CC-07/{device}"
        time_us = START_US + number * SECOND
        made.append(Fact(body, source, f"{number}", time_us, ROUND, "CC-07", "b", number))
    return made


def after(*bodies: Body | tuple[str, Body]) -> Moment:
    """The table after the last of these facts."""
    return reconstruct(told(*bodies))[-1]


def player(position: int, *cards: str, hand: int = 1) -> f.CardsDealt:
    return f.CardsDealt(to="player", position=position, hand=hand, cards=cards, face="down")


CRISS_CROSS = (
    f.RoundStarted(game="criss_cross_poker", dealt_from="manual_shoe"),
    f.WagerPlaced(position=3, wager="ante_across", amount=2500),
    f.WagerPlaced(position=3, wager="ante_down", amount=2500),
    f.NoMoreBetsCalled(),
    f.CardsDealt(to="community", cards=("??", "Kd", "2c", "??", "9h"), face="down"),
    player(3, "??", "??"),
    f.WagerPlaced(position=3, wager="across", amount=2500),
    f.CardsTurned(to="community", cards=("Kd", "7c"), at=(1, 3)),
    f.DecisionMade(position=3, decision="fold"),
    f.CardsTurned(to="player", position=3, cards=("As", "Th")),
)

FOOTBALL = (
    f.RoundStarted(game="three_dice_football"),
    f.WagerPlaced(position=1, wager="touchdown", amount=500),
    f.MarkerPlaced(marker="yard", at=20),
    f.MarkerPlaced(marker="down", at=4),
    f.MarkerPlaced(marker="game_length", at=2),
    f.DiceThrown(offensive=(3, 5), defensive=2),
)


def drawn(moment: Moment, game: str, *, hindsight: bool = False) -> str:
    """What a file gets: no colour, no control characters."""
    console = Console(width=WIDTH, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(draw(moment, game, hindsight=hindsight))
    return capture.get()


def test_a_card_dealt_face_down_stays_down_until_it_is_turned() -> None:
    moments = reconstruct(told(*CRISS_CROSS))
    dealt, turned = moments[4].held[0], moments[7].held[0]
    assert [card.up for card in dealt.cards] == [False] * 5
    assert [card.up for card in turned.cards] == [False, True, False, True, False]


def test_a_card_is_what_the_whole_record_says_even_before_it_was_turned() -> None:
    moments = reconstruct(told(*CRISS_CROSS))
    assert [card.card for card in moments[4].held[0].cards] == ["??", "Kd", "2c", "7c", "9h"]
    player_cards = next(held for held in moments[5].held if held.to == "player").cards
    assert [(card.card, card.up) for card in player_cards] == [("As", False), ("Th", False)]


def test_a_card_read_otherwise_when_turned_is_what_was_turned() -> None:
    moment = after(player(1, "Kd"), f.CardsTurned(to="player", position=1, cards=("Qd",)))
    assert [card.card for card in moment.held[0].cards] == ["Qd"]


def test_a_card_turned_that_was_never_dealt_on_record_lies_there_all_the_same() -> None:
    moment = after(f.CardsTurned(to="dealer", cards=("Qd",), from_=2))
    assert [card.card for card in moment.held[0].cards] == ["??", "??", "Qd"]


def test_the_stake_of_a_paid_wager_leaves_the_layout_with_its_winnings() -> None:
    stake = (
        after(
            f.WagerPlaced(position=3, wager="middle", amount=2500),
            f.WagerPaid(position=3, wager="middle", amount=7500),
        )
        .seats[0]
        .stakes[0]
    )
    assert (stake.placed, stake.on_layout, stake.paid) == (2500, 0, 7500)


def test_wagers_add_up_and_what_is_taken_back_is_gone() -> None:
    stake = (
        after(
            f.WagerPlaced(position=3, wager="middle", amount=2500),
            f.WagerPlaced(position=3, wager="middle", amount=500),
            f.WagerWithdrawn(position=3, wager="middle", amount=1000),
        )
        .seats[0]
        .stakes[0]
    )
    assert (stake.placed, stake.on_layout) == (2000, 2000)


def test_half_a_stake_collected_and_half_returned_leaves_nothing() -> None:
    moment = after(
        f.WagerPlaced(position=3, wager="bet", amount=2000),
        f.WagerCollected(position=3, wager="bet", amount=1000),
        f.WagerReturned(position=3, wager="bet", amount=1000),
    )
    assert moment.seats[0].stakes[0].on_layout == 0
    assert (moment.collected, moment.returned) == (1000, 1000)


def test_exchanged_cards_leave_and_the_new_ones_follow_those_kept() -> None:
    moment = after(
        player(2, "As", "Kd", "??"),
        f.CardsExchanged(to="player", position=2, discards=("Kd", "7h")),
        player(2, "2c", "3c"),
    )
    assert [card.card for card in moment.held[0].cards] == ["As", "2c", "3c"]


def test_a_split_gives_its_second_card_to_the_next_free_hand() -> None:
    moment = after(player(2, "8s", "8d"), f.DecisionMade(position=2, decision="split"))
    assert {held.hand: [card.card for card in held.cards] for held in moment.held} == {
        1: ["8s"],
        2: ["8d"],
    }


def test_a_cancelled_throw_stays_in_sight_and_the_next_one_takes_its_number() -> None:
    thrown = told(
        ("dice", f.DiceThrown(dice=(3, 4))),
        ("box", f.NoRollCalled(reason="off the table", of=f.FactRef("/hollywood/CC-07/dice", "1"))),
        ("dice", f.DiceThrown(dice=(5, 5))),
    )
    throws = reconstruct(thrown)[-1].throws
    assert [(throw.number, throw.cancelled) for throw in throws] == [(None, True), (1, False)]


def test_the_order_of_arrival_changes_no_moment() -> None:
    facts = told(*CRISS_CROSS)
    shuffled = list(facts)
    random.Random(7).shuffle(shuffled)  # noqa: S311 - a repeatable order
    assert reconstruct(shuffled) == reconstruct(facts)


def test_a_void_and_its_reason_stay_on_the_table() -> None:
    moment = after(
        f.IrregularityCalled(kind="wrong_card_count", position=2),
        f.RoundVoided(reason="three cards to position 2"),
    )
    assert (moment.irregularities, moment.void, moment.closed) == (
        ("wrong_card_count",),
        "three cards to position 2",
        True,
    )


def test_the_cross_shows_what_the_table_showed() -> None:
    shown = drawn(reconstruct(told(*CRISS_CROSS))[7], "criss_cross_poker")
    assert "[░░░]" in shown
    assert "[Kd♦] [░░░] [7c♣]" in shown
    assert "9h" not in shown


def test_hindsight_shows_cards_that_lay_face_down() -> None:
    shown = drawn(reconstruct(told(*CRISS_CROSS))[7], "criss_cross_poker", hindsight=True)
    assert "[9h♥↓" in shown
    assert "As♠↓" in shown


def test_the_field_shows_yard_down_play_and_dice() -> None:
    shown = drawn(after(*FOOTBALL), "three_dice_football")
    assert "yard 20" in shown
    assert "1st & Goal · play 2" in shown
    assert "green 3⚂ 5⚄  red 2⚁" in shown


@pytest.mark.parametrize("game", ["criss_cross_poker", "three_dice_football", "a_game_not_known"])
@pytest.mark.parametrize("bodies", [CRISS_CROSS, FOOTBALL])
def test_any_round_is_drawn_within_its_width_without_control_characters(
    game: str, bodies: tuple[Body, ...]
) -> None:
    for moment in reconstruct(told(*bodies)):
        lines = drawn(moment, game, hindsight=True).splitlines()
        assert all(len(line) <= WIDTH for line in lines)
        assert not any(ord(character) < 32 for line in lines for character in line)


def test_a_fact_without_a_sentence_of_its_own_is_told_by_its_fields() -> None:
    body = f.MeterRead(meter="five_card_bonus", amount=123_400)
    assert in_words(body, str) == "Meter read: meter five_card_bonus, amount $1,234.00."


def test_a_pot_of_wagers_is_gone_from_the_layout_once_it_is_awarded() -> None:
    pot = [f.WagerPlaced(position=seat, wager="pot", amount=500) for seat in (1, 2, 5)]
    ante = f.WagerPlaced(position=1, wager="ante", amount=1_000)
    halves = [f.PotAwarded(pot=0, position=seat, amount=750) for seat in (2, 5)]
    started = f.RoundStarted(game="saigon_5_card")

    def standing(*bodies: Body) -> dict[str, int]:
        found = {"pot": 0, "ante": 0}
        for seat in after(*bodies).seats:
            for stake in seat.stakes:
                found[stake.wager] += stake.on_layout
        return found

    assert standing(started, ante, *pot) == {"pot": 1_500, "ante": 1_000}
    assert standing(started, ante, *pot, halves[0]) == {"pot": 750, "ante": 1_000}
    assert standing(started, ante, *pot, *halves) == {"pot": 0, "ante": 1_000}
