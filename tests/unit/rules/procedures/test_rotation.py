"""What goes round the table: Poker's button, Asia Poker's flat button, who throws the dice."""

from __future__ import annotations

import pytest

from ledger import facts as told
from ledger.adjudication.feed import adjudicate
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import TableFindings
from ledger.values import RoundId
from tests.unit.games.rounds import resolves

BADUGI, ASIA, FOOTBALL = "badugi", "asia_poker", "three_dice_football"
DAY, HOUR_S = "2015-03-01", 3600


class Tape:
    """A table's facts, a second apart, by one device."""

    def __init__(self, game: str, *, opens: bool = True) -> None:
        self.game, self.number, self.time_us = game, 0, 0
        self.facts: list[Fact] = []
        self.say(told.RulesSubmissionFiled(game=game, effective_from="2010-01-01"))
        if opens:
            self.opened()

    def opened(self) -> None:
        """The table opens."""
        body = told.TableOpened(game=self.game, gaming_day=DAY, min_wager=500, max_wager=50_000)
        self.say(body)

    def say(self, body: object, *, number: int = 0, after_s: int = 1) -> None:
        """A fact of the table, or of a round."""
        self.time_us += after_s * 1_000_000
        round_ = RoundId("hollywood", "T-1", DAY, number) if number else None
        name = str(len(self.facts))
        source = "/hollywood/T-1/dealer"
        self.facts.append(Fact(body, source, name, self.time_us, round_, "T-1", None, None))

    def sit(self, *positions: int) -> None:
        """Seats are taken."""
        for position in positions:
            self.say(told.SeatTaken(positions=(position,)))

    def leave(self, position: int) -> None:
        """A seat is left."""
        self.say(told.SeatLeft(positions=(position,)))

    def round(self, *bodies: object, button: int | None = None, void: bool = False) -> None:
        """A round of these facts."""
        self.number += 1
        self.say(told.RoundStarted(game=self.game, button=button), number=self.number)
        for body in bodies:
            self.say(body, number=self.number)
        over = told.RoundVoided(reason="misdeal") if void else told.RoundCompleted()
        self.say(over, number=self.number)

    def found(self) -> list[str]:
        """Section, due and recorded of what is out of turn, or code and section."""
        said = [each for each in adjudicate(self.facts) if isinstance(each, TableFindings)]
        told_of = [finding for each in said for finding in each.findings]
        assert all(each.section and resolves(each.section) and each.facts for each in told_of)
        return [
            f"{each.section} {each.expected} {each.recorded}"
            if each.code == "out_of_turn"
            else f"{each.code} {each.section}"
            for each in told_of
        ]


def buttons(*buttons: int, seats: tuple[int, ...] = (2, 4, 6)) -> list[str]:
    """What is found of a button that stood at these seats, round by round."""
    tape = Tape(BADUGI)
    tape.sit(*seats)
    for button in buttons:
        tape.round(button=button)
    return tape.found()


MOVES, RIGHT, DRAWN = "637a.21(c)(2)", "637a.21(c)(1)(i)", "637a.21(c)(1)(ii)"


def test_637a_21_c_2_the_button_goes_round_clockwise_after_each_round() -> None:
    assert buttons(6, 2, 4, 6, 2) == []
    assert buttons(6, 4) == [f"{MOVES} 2 4"]
    assert buttons(6, 2, 2, 4) == [f"{MOVES} 4 2"]
    assert buttons(6, 2, 6, 4) == [f"{MOVES} 4 6", f"{MOVES} 2 4"]
    # An empty seat that it comes to, or passes over, is nobody's turn.
    assert buttons(6, 1, 2, 3, 6) == [f"{MOVES} 4 6"]
    # With one player it has nowhere to go.
    assert buttons(4, 4, seats=(4,)) == []


def test_637a_21_c_1_the_button_begins_at_the_dealers_right_or_by_a_card_drawn() -> None:
    assert buttons(6) == []
    assert buttons(4, 6) == [f"{RIGHT} 6 4"]
    for drawn, due in ((4, []), (2, [f"{DRAWN} 2 4"]), (6, [f"{DRAWN} 6 4"])):
        tape = Tape(BADUGI)
        tape.sit(2, 4, 6)
        card = told.StartingPositionDetermined(method="card_draw", position=drawn)
        tape.round(card, button=4)
        assert tape.found() == due
    # A record that begins later says nothing of how play commenced.
    tape = Tape(BADUGI, opens=False)
    tape.sit(2, 4, 6)
    tape.round(button=4)
    assert tape.found() == []


def test_637a_21_c_2_who_just_sat_down_or_does_not_play_is_passed_over() -> None:
    tape = Tape(BADUGI)
    tape.sit(2, 4, 6)
    tape.round(button=6)
    tape.sit(1)
    tape.round(button=2)
    tape.leave(4)
    tape.round(button=6)
    assert tape.found() == []
    tape.round(button=2)  # past position 1, who has played two rounds by now
    assert tape.found() == [f"{MOVES} 1 2"]


def test_637a_21_c_2_who_plays_is_known_by_the_stacks_that_were_counted() -> None:
    for counted, due in (((2, 6), []), ((2, 4, 6), [f"{MOVES} 4 6"])):
        tape = Tape(BADUGI)
        stacks = [told.StackCounted(position=seat, amount=10_000) for seat in counted]
        tape.round(*stacks, button=6)
        tape.round(*stacks, button=2)
        tape.round(*stacks, button=6)
        assert tape.found() == due


def test_637a_21_c_2_after_a_void_round_it_may_stay() -> None:
    for again, due in ((6, []), (2, []), (4, [f"{MOVES} 2 4"])):
        tape = Tape(BADUGI)
        tape.sit(2, 4, 6)
        tape.round(button=6, void=True)
        tape.round(button=again)
        assert tape.found() == due


def test_637a_21_c_2_rounds_that_are_not_on_record_are_not_judged() -> None:
    tape = Tape(BADUGI)
    tape.sit(2, 4, 6)
    tape.round(button=6)
    tape.number += 1
    tape.round(button=6)
    tape.round(button=None)
    tape.round(button=6)
    assert tape.found() == []
    # Nor those of a table that reports nobody's seat.
    tape = Tape(BADUGI)
    tape.round(button=6)
    tape.round(button=6)
    assert tape.found() == []


@pytest.mark.parametrize(
    ("game", "section"),
    [
        ("omaha_5_high", "19"),
        ("omaha_5_hi_lo", "19"),
        ("triple_draw_2_7", "20"),
        ("triple_draw_a_5", "20"),
        ("badeucey", "20"),
        ("badacey", "20"),
    ],
)
def test_637a_c_of_each_section_its_own_button_is_spoken_of(game: str, section: str) -> None:
    tape = Tape(game)
    tape.sit(2, 4, 6)
    tape.round(button=4)
    tape.round(button=2)
    assert tape.found() == [f"637a.{section}(c)(1)(i) 6 4", f"637a.{section}(c)(2) 6 2"]


FLAT = "659a.5(g)(3)"


def flat(*places: int, void: int = 0) -> list[str]:
    """What is found of a flat button at these places; of a shaker where one is -1."""
    tape = Tape(ASIA)
    for number, place in enumerate(places, 1):
        body = told.StartingPositionDetermined(method="button", position=max(place, 0))
        if place < 0:
            body = told.StartingPositionDetermined(method="shaker", dice=(1, 2, 3), position=2)
        tape.round(body, void=number == void)
    return tape.found()


def test_659a_5_g_3_the_flat_button_begins_with_the_dealer_and_moves_clockwise() -> None:
    assert flat(0, 1, 2, 3, 4, 5, 6, 0, 1) == []
    assert flat(1, 2) == [f"{FLAT} 0 1"]
    assert flat(0, 2, 2, 3) == [f"{FLAT} 1 2", f"{FLAT} 3 2"]
    assert flat(0, 6) == [f"{FLAT} 1 6"]
    assert flat(0, 0, 1, void=1) == []
    # If dice decide where the deal begins, nothing goes round.
    assert flat(-1, -1, 4, 5) == []


def test_659a_2_c_1_i_dice_stay_in_the_shaker_for_24_hours_at_most() -> None:
    shaken = told.StartingPositionDetermined(method="shaker", dice=(1, 2, 3), position=2)
    flat_one = told.StartingPositionDetermined(method="button", position=0)
    overdue = ["dice_change_overdue 659a.2(c)(1)(i)"]
    for after_s, body, due in (
        (24 * HOUR_S - 2, shaken, []),
        (24 * HOUR_S - 1, shaken, overdue),
        (24 * HOUR_S, flat_one, []),
    ):
        tape = Tape(ASIA)
        tape.say(told.DiceReceived(set="S-1", dice=3))
        tape.say(told.TableClosed(), after_s=after_s - 1)
        tape.round(body)
        assert tape.found() == due
    tape.round(shaken)
    tape.round(shaken)
    assert tape.found() == overdue, "it is told once"


KEEPS = "661a.7(a)"
SCORED, STOPPED = [(3, 3, 3)], [(1, 1, 6)]


def thrown(
    throws: list[tuple[int, int, int]], by: int | None, offers: tuple[int, ...] = ()
) -> list[object]:
    """A game of these throws, and whom the dice were offered before it."""
    last = len(offers) - 1
    bodies: list[object] = [
        told.DiceOffered(position=position, accepted=number == last)
        for number, position in enumerate(offers)
    ]
    return bodies + [
        told.DiceThrown(offensive=(first, second), defensive=red, position=by)
        for first, second, red in throws
    ]


def dice(*games: list[object], seats: tuple[int, ...] = (1, 3, 5)) -> list[str]:
    tape = Tape(FOOTBALL)
    tape.sit(*seats)
    for game in games:
        tape.round(*game)
    return [each for each in tape.found() if "661a.7" in each]


def test_661a_7_a_after_a_touchdown_the_quarterback_keeps_the_dice() -> None:
    assert dice(thrown(SCORED, 3), thrown(STOPPED, 3)) == []
    assert dice(thrown(SCORED, 3), thrown(STOPPED, 5)) == [f"{KEEPS} 3 5"]
    assert dice(thrown(SCORED, 3), thrown(STOPPED, 3, (5, 1, 3))) == [f"{KEEPS} 3 5"]
    # A touchdown by yards, and by the second throw.
    assert dice(thrown([(6, 6, 1), (6, 6, 1)], 3), thrown(STOPPED, 5)) == [f"{KEEPS} 3 5"]
    # Who left cannot keep them.
    assert dice(thrown(SCORED, 4), thrown(STOPPED, 5)) == []


def test_661a_7_a_after_a_stop_they_are_offered_from_the_left_of_the_quarterback_on() -> None:
    assert dice(thrown(STOPPED, 3), thrown(STOPPED, 5, (5,))) == []
    assert dice(thrown(STOPPED, 3), thrown(STOPPED, 1, (5, 1))) == []
    assert dice(thrown(STOPPED, 5), thrown(STOPPED, 1, (1,))) == []
    assert dice(thrown(STOPPED, 4), thrown(STOPPED, 5, (5,))) == []
    assert dice(thrown(STOPPED, 3), thrown(STOPPED, 1, (1,))) == [f"{KEEPS} 5 1"]
    # If no offer is reported, nobody was passed over; nor if a game is not known to the end.
    assert dice(thrown(STOPPED, 3), thrown(STOPPED, 1)) == []
    assert dice(thrown([(2, 2, 1)], 3), thrown(STOPPED, 1, (1,))) == []
    # A seat just taken, at his left, comes first.
    tape = Tape(FOOTBALL)
    tape.sit(1, 3, 5)
    tape.round(*thrown(STOPPED, 3))
    tape.sit(4)
    tape.round(*thrown(STOPPED, 5, (5,)))
    assert [each for each in tape.found() if "661a.7" in each] == [f"{KEEPS} 4 5"]


def test_661a_7_a_a_throw_that_was_called_off_afterwards_ended_no_game() -> None:
    tape = Tape(FOOTBALL)
    tape.sit(1, 3, 5)
    tape.number = 1
    tape.say(told.RoundStarted(game=FOOTBALL), number=1)
    tape.say(thrown(SCORED, 3)[0], number=1)
    of = told.FactRef("/hollywood/T-1/dealer", tape.facts[-1].id)
    tape.say(told.NoRollCalled(reason="a die hit the rail", of=of), number=1)
    tape.say(thrown(STOPPED, 3)[0], number=1)
    tape.say(told.RoundCompleted(), number=1)
    tape.round(*thrown(STOPPED, 5, (5,)))
    assert [each for each in tape.found() if "661a.7" in each] == []
