"""Hands of the Poker Hand History notation: televised ones end with the stacks on record."""

from __future__ import annotations

import unittest
import warnings
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pokerkit.notation import HandHistory
from pokerkit.tests import test_papers
from pokerkit.tests.test_wsop import test_2023_43_5 as day_five

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.errors import Usage
from ledger.record.wire import Fact
from ledger.values import RoundId
from replay.recording.hand_history import FACT, Hand, facts_of, hands, unit_of
from tests.unit.games.rounds import text

if TYPE_CHECKING:
    from pokerkit.games import Poker
    from pokerkit.state import State

    from ledger.rules.engine.ruling import Ruling

SOME_DAY = RoundId("phh", "PHH-1", "2023-06-20", 1)


class Published(NamedTuple):
    """A hand of PokerKit's own tests, and the stacks its record ends with."""

    notation: str
    stacks: list[int]


@cache
def published() -> tuple[Published, ...]:
    """The hands of 2-7 triple draw and badugi that PokerKit publishes, taken as its tests run."""
    found: dict[str, Published] = {}

    def of_state(
        cls: type, game: Poker, state: State, *more: object, **named: object
    ) -> HandHistory:
        history = original(cls, game, state, *more, **named)
        keep(history, list(state.stacks))
        return history

    def keep(history: HandHistory, stacks: list[int]) -> None:
        if history.variant in ("F2L3D", "FB"):
            found[str(history.actions)] = Published(history.dumps(), stacks)

    def loads(cls: type, notation: str, **named: object) -> HandHistory:
        history = loaded(cls, notation, **named)
        keep(history, tuple(history)[-1].stacks)
        return history

    original = HandHistory.from_game_state.__func__
    loaded = HandHistory.loads.__func__
    tests = unittest.TestSuite(
        [
            *unittest.defaultTestLoader.loadTestsFromModule(day_five),
            test_papers.Kim2024TestCase("test_arieh_yockey_2019"),
            test_papers.Kim2024TestCase("test_alice_carol_wikipedia"),
        ]
    )
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(HandHistory, "from_game_state", classmethod(of_state))
        patch.setattr(HandHistory, "loads", classmethod(loads))
        ran = unittest.TestResult()
        tests.run(ran)
    assert ran.wasSuccessful()
    return tuple(found.values())


def ruled(hand: Hand) -> Ruling:
    """The ruling of a hand's facts, a second apart."""
    facts = [
        Fact(told.body, "/phh/PHH-1/phh", str(n), n * 1_000_000, SOME_DAY, "PHH-1", None, None)
        for n, told in enumerate(facts_of(hand))
    ]
    return rule(RoundRecord(SOME_DAY, facts), [])


def test_televised_hands_end_with_the_stacks_that_were_recorded() -> None:
    televised = published()
    assert len(televised) == 9
    for notation, stacks in televised:
        (hand,) = hands(notation.encode(), "televised.phh")
        ruling = ruled(hand)
        assert ruling.status == "complete"
        assert ruling.findings == []
        net = {each.position: each.net // 100 for each in ruling.settlements}
        ended = [stack + net[n] for n, stack in enumerate(hand.fields["starting_stacks"], 1)]
        assert ended == stacks


def test_a_televised_hand_with_a_card_changed_ends_otherwise() -> None:
    """The negative control: Arieh's 7-5-4-3-2 beats Yockey's 7-6-4-3-2; with an 8 it does not."""
    notation, stacks = next(each for each in published() if "7h6c4c3d2c" in each.notation)
    changed = notation.replace("2h4d7c5c3c", "2h4d8c5c3c").replace("d dh p4 7c", "d dh p4 8c")
    assert changed != notation
    (hand,) = hands(changed.encode(), "televised.phh")
    net = {each.position: each.net // 100 for each in ruled(hand).settlements}
    assert stacks[0] == 0
    assert net[1] > 0


DRAW = """
variant = "F2L3D"
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
small_bet = 100
big_bet = 200
starting_stacks = [1000, 500, 2000]
actions = [
  "d dh p1 7h5c4c3d2c", "d dh p2 KcKdKhQc3s", "d dh p3 ??????????",
  "p3 f # he folds", "p1 cbr 200", "p2 cc",
  "p1 sd", "p2 sd KcKd", "d dh p2 8c9c",
  "p1 cbr 100", "p2 cbr 200", "p1 cbr 300", "p2 cc",
  "p1 sd", "p2 sd Kh", "d dh p2 Ts",
  "p1 sd", "p2 sd", "p1 sm -", "p2 sm",
]
"""
TOLD = """
    round_started stack_counted stack_counted stack_counted wager_placed wager_placed
    cards_dealt cards_dealt cards_dealt fold raise call
    card_burned* draw draw cards_dealt bet raise raise call
    card_burned* draw draw cards_dealt card_burned* draw draw hand_shown hand_mucked
"""


def names(notation: str) -> list[str]:
    """The facts of a hand by name, decisions by what was decided; `*`: wholly derived."""
    found = []
    for told in facts_of(hands(notation.encode(), "x.phh")[0]):
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(told.body).__name__)
        name = getattr(told.body, "decision", name.strip("_"))
        found.append(name + ("*" if told.derived == FACT else ""))
    return found


def test_actions_become_facts_and_what_is_derived_says_so() -> None:
    assert names(DRAW) == TOLD.split()


def test_a_call_is_as_much_as_there_is_and_a_bet_nobody_met_goes_back() -> None:
    short = DRAW.replace('"p1 cbr 300", "p2 cc"', '"p1 cbr 800", "p2 cc"')
    bodies = [told.body for told in facts_of(hands(short.encode(), "x.phh")[0])]
    call = [body for body in bodies if getattr(body, "decision", "") == "call"][-1]
    back = [body for body in bodies if type(body).__name__ == "WagerReturned"]
    assert (call.amount, call.all_in) == (10_000, True)  # type: ignore[attr-defined]
    assert [(body.position, body.amount) for body in back] == [(1, 50_000)]  # type: ignore[attr-defined]


def test_stacks_at_the_end_tell_who_was_pushed_what_and_nothing_is_found() -> None:
    whole = DRAW + "finishing_stacks = [1500, 0, 2000]\n"
    assert names(whole)[-2:] == ["pot_awarded*", "round_completed*"]
    ruling = ruled(hands(whole.encode(), "x.phh")[0])
    assert (ruling.status, ruling.findings, ruling.next) == ("complete", [], None)
    wrong = DRAW + "finishing_stacks = [500, 1000, 2000]\n"
    found = ruled(hands(wrong.encode(), "x.phh")[0]).findings
    assert [each.code for each in found] == ["wrong_position_paid"]


def test_between_two_players_the_button_posts_the_small_blind_and_speaks_first() -> None:
    two = """
        variant = "FB"
        antes = [0, 0]
        blinds_or_straddles = [1, 2]
        starting_stacks = [200, 200]
        actions = ["d dh p1 AsKdQhJc", "d dh p2 2s3d4h5c", "p2 cc", "p1 cc", "p1 sd", "p2 sd",
          "p1 cc", "p2 cc", "p1 sd", "p2 sd", "p1 cc", "p2 cc", "p1 sd", "p2 sd", "p1 cc",
          "p2 cbr 4", "p1 f"]
    """
    ruling = ruled(hands(two.encode(), "x.phh")[0])
    assert text(ruling) == [
        "complete",
        "1 pot 200 lose -200 637a.21(j)",
        "2 pot 200 win +200 637a.21(j)",
    ]


def test_seats_and_the_button_are_those_of_the_file() -> None:
    told = [each.body for each in facts_of(hands((DRAW + "seats = [8, 2, 5]\n").encode(), "x")[0])]
    assert told[0].button == 5  # type: ignore[attr-defined]
    assert [body.position for body in told[1:4]] == [8, 2, 5]  # type: ignore[attr-defined]


def test_antes_and_straddles_go_down_by_their_names_as_far_as_there_are_chips() -> None:
    posted = DRAW.replace("[0, 0, 0]", "[10, 10, 10]").replace("[50, 100, 0]", "[50, 100, 200]")
    posted = posted.replace("2000]", "150]").partition('"p3 f')[0] + "]"
    told = [each.body for each in facts_of(hands(posted.encode(), "x")[0])]
    assert [
        (body.position, body.wager, body.amount)
        for body in told
        if type(body).__name__ == "WagerPlaced"
    ] == [
        (1, "ante", 1_000),
        (2, "ante", 1_000),
        (3, "ante", 1_000),
        (1, "blind", 5_000),
        (2, "blind", 10_000),
        (3, "straddle", 14_000),
    ]


OMAHA = """
variant = "PO"
antes = [0, 0]
blinds_or_straddles = [1, 2]
starting_stacks = [200, 200]
actions = ["d dh p1 AsAd2c7d9h", "d dh p2 KsKd3c7h9s", "p2 cc", "p1 cc",
  "d db AcKc6s", "p1 cc", "p2 cc", "d db 6d", "p1 cc", "p2 cc", "d db 2h", "p1 cc", "p2 cc",
  "p1 sm -", "p2 sm -"]
finishing_stacks = [202, 198]
"""


def test_omaha_is_imported_where_five_cards_are_dealt() -> None:
    (hand,) = hands(OMAHA.encode(), "x.phh")
    assert text(ruled(hand)) == [
        "complete",
        "1 pot 200 win +200 637a.19(k)(1) Full house",
        "2 pot 200 lose -200 637a.19(k)",
    ]
    with pytest.raises(Usage, match="4 cards are not a hand of omaha_5_high"):
        facts_of(hands(OMAHA.replace("AsAd2c7d9h", "AsAd2c7d").encode(), "x.phh")[0])


def test_a_short_stub_is_filled_from_the_discards_of_others() -> None:
    """Seven players draw five, and again: 35 cards, a burn, and 16 left are three draws."""
    seven = list(range(1, 8))
    deal = [f'"d dh p{n} ??????????"' for n in seven]
    calls = [f'"p{n} cc"' for n in (3, 4, 5, 6, 7, 1, 2)]
    draws = [f'"p{n} sd ??????????"' for n in seven] + deal
    notation = f"""
        variant = "F2L3D"
        antes = {[0] * 7}
        blinds_or_straddles = {[1, 2] + [0] * 5}
        starting_stacks = {[200] * 7}
        actions = [{", ".join([*deal, *calls, *draws])}]
    """
    told = [each.body for each in facts_of(hands(notation.encode(), "x.phh")[0])]
    kept = [body.except_ for body in told if type(body).__name__ == "DiscardsReshuffled"]  # type: ignore[attr-defined]
    assert kept == [4, 7]
    ruling = ruled(hands(notation.encode(), "x.phh")[0])
    assert ruling.findings == []
    assert text(ruling) == ["awaiting", "> decision_made position 1 637a.20(h)"]


def test_a_file_may_hold_many_hands_and_amounts_may_have_cents() -> None:
    many = f"[1]\n{OMAHA}\n[2]\n{OMAHA.replace('[1, 2]', '[0.25, 0.5]')}"
    one, two = hands(many.encode(), "many.phhs")
    assert (one.name, two.name) == ("many.phhs, hand 1", "many.phhs, hand 2")
    assert one.digest != two.digest
    assert (unit_of(one), unit_of(two)) == (100, 1)
    amounts = [getattr(each.body, "amount", None) for each in facts_of(two)[3:5]]
    assert amounts == [50, 25]


@pytest.mark.parametrize(
    ("notation", "says"),
    [
        ("variant = ", "it is not TOML"),
        ("author = 'me'", "it has no `variant`"),
        (OMAHA.replace('"PO"', '"NT"'), "The variant NT is not a game here"),
        (OMAHA.replace("antes = [0, 0]", ""), "`antes` is not a list"),
        (OMAHA.replace("antes = [0, 0]", "antes = [0]"), "have different numbers of players"),
    ],
)
def test_what_is_no_hand_of_a_game_here_is_refused_with_a_reason(notation: str, says: str) -> None:
    with pytest.raises(Usage, match=says):
        hands(notation.encode(), "x.phh")


@pytest.mark.parametrize(
    ("was", "became", "says"),
    [
        ("p2 cc", "p3 cc", "p3 is not one of 2 players"),
        ("p2 cc", "p2 pb", "`p2 pb` is not an action of PO"),
        ("p2 cc", "p2 cbr 201", "p2 puts in more than the 199 left"),
        ("p2 cc", "p2 cbr x", "x is not an amount"),
        ("[200, 200]", "[200.001, 200]", "not an amount in whole cents"),
    ],
)
def test_an_action_that_cannot_be_is_refused_with_a_reason(
    was: str, became: str, says: str
) -> None:
    (hand,) = hands(OMAHA.replace(was, became, 1).encode(), "x.phh")
    with pytest.raises(Usage, match=says):
        facts_of(hand)
