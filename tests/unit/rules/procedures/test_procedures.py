"""The care of cards and dice over a table's tape: what each finding takes, and what just misses it.

A table deals rounds of nobody's wagers here; only what belongs to no round is looked at.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from ledger import facts as told
from ledger.adjudication.feed import adjudicate
from ledger.record.wire import Fact
from ledger.rules.engine.ruling import TableFindings
from ledger.values import RoundId
from tests.unit.games.rounds import resolves

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.rules.engine.ruling import Finding

CARDS, DICE = "criss_cross_poker", "three_dice_football"
DAY = "2015-03-01"
HOUR_US = 3_600_000_000
OPENED = datetime(2015, 3, 1, 18, tzinfo=UTC)


class Tape:
    """A table's facts, sent a second apart, with a Rules Submission in force."""

    def __init__(self, game: str = CARDS) -> None:
        self.game = game
        self.time_us = int(OPENED.timestamp()) * 1_000_000
        self.facts: list[Fact] = []
        self.rounds = 0
        self.say(told.RulesSubmissionFiled(game=game, effective_from="2010-01-01"))

    def say(self, body: object, *, in_round: bool = False) -> None:
        """Tell a fact of the table, or of the round in progress."""
        self.time_us += 1_000_000
        round_ = RoundId("hollywood", "T-1", DAY, self.rounds) if in_round else None
        name = str(len(self.facts))
        self.facts.append(
            Fact(body, "/hollywood/T-1/dealer", name, self.time_us, round_, "T-1", None, None)
        )

    def opened(self) -> None:
        """The table opens, which says its game."""
        self.say(told.TableOpened(game=self.game, gaming_day=DAY, min_wager=500, max_wager=50_000))

    def deck(
        self,
        batch: str = "B-1",
        *,
        without: str = "",
        preshuffled: bool = False,
        decks: int = 1,
        cards: int = 52,
    ) -> None:
        """A deck comes to the table and is inspected."""
        self.say(
            told.DecksReceived(
                batch=batch, decks=decks, cards=cards, back="red", preshuffled=preshuffled
            )
        )
        for name, body in (
            ("inspected", told.CardsInspected(batch=batch, by="D-1")),
            ("verified", told.InspectionVerified(batch=batch, by="F-1")),
            ("spread", told.CardsSpread(batch=batch, face="up")),
            ("washed", told.CardsWashed(batch=batch)),
        ):
            if not preshuffled and without != name:
                self.say(body)

    def shuffle(self, batch: str = "B-1", method: str = "automated", counted: int = 52) -> None:
        """A shuffle; by a shuffler that counts, unless by hand."""
        count = counted if method == "automated" else None
        self.say(told.CardsShuffled(batch=batch, method=method, counted=count))  # type: ignore[arg-type]  # a test's own words

    def cut(self, above: int | None = None, below: int | None = None) -> None:
        """A cut."""
        self.say(told.CardsCut(batch="B-1", by="dealer", cards_above=above, cards_below=below))

    def round(
        self,
        batch: str = "B-1",
        dealt_from: str = "hand",
        *,
        stub: int = 0,
        kinds: tuple[str, ...] = (),
    ) -> None:
        """A round is dealt, with these irregularities; the stub is counted as so many cards."""
        self.rounds += 1
        started = told.RoundStarted(game=self.game, dealt_from=dealt_from, batch=batch)  # type: ignore[arg-type]  # a test's own words
        self.say(started, in_round=True)
        for kind in kinds:
            self.say(told.IrregularityCalled(kind=kind), in_round=True)  # type: ignore[arg-type]  # a test's own words
        if stub:
            self.say(told.StubCounted(batch=batch, counted=stub))
        self.say(told.RoundCompleted(), in_round=True)

    def throw(self) -> None:
        """A game of dice begins with a throw."""
        self.rounds += 1
        self.say(told.RoundStarted(game=self.game), in_round=True)
        self.say(told.DiceThrown(offensive=(1, 1), defensive=6), in_round=True)

    def wait(self, hours: float) -> None:
        """Time passes."""
        self.time_us += int(hours * HOUR_US)

    def found(self) -> list[Finding]:
        """The findings that belong to no round."""
        said = adjudicate(self.facts)
        return [f for each in said if isinstance(each, TableFindings) for f in each.findings]


def codes(act: Callable[[Tape], None], game: str = CARDS, *, opened: bool = True) -> list[str]:
    """Code and section of what a tape is found to lack."""
    tape = Tape(game)
    if opened:
        tape.opened()
    act(tape)
    found = tape.found()
    assert all(each.section is None or resolves(each.section) for each in found)
    return [f"{each.code} {each.section}" for each in found]


def rounds(count: int, stub_in: tuple[int, ...] = (), *, counting: bool = False) -> list[str]:
    """So many rounds by hand with one deck, the stub counted in some of them."""

    def act(tape: Tape) -> None:
        tape.deck()
        for number in range(1, count + 1):
            if counting:
                tape.shuffle()
            else:
                tape.say(told.CardsShuffled(batch="B-1", method="automated"))
            tape.round(stub=43 if number in stub_in else 0)

    return codes(act)


def test_592_9_d_the_stub_is_counted_at_least_once_in_five_rounds() -> None:
    assert rounds(4) == []
    assert rounds(9) == ["stub_count_overdue 592.9(d)"]
    assert rounds(14, (5, 10)) == []
    assert rounds(9, (4,)) == ["stub_count_overdue 592.9(d)"]


def test_592_9_d_a_shuffler_that_counts_counts_for_the_stub() -> None:
    assert rounds(12, counting=True) == []


@pytest.mark.parametrize(
    ("dealt_from", "hours"), [("hand", 4), ("manual_shoe", 8), ("automated_shoe", 8)]
)
def test_592_3_c_cards_change_after_4_hours_by_hand_and_8_from_a_shoe(
    dealt_from: str, hours: int
) -> None:
    def act(tape: Tape, late: float) -> None:
        tape.deck()
        tape.shuffle()
        tape.round(dealt_from=dealt_from)
        tape.wait(hours + late)
        tape.shuffle()
        tape.round(dealt_from=dealt_from)

    assert codes(lambda tape: act(tape, -0.1)) == []
    assert codes(lambda tape: act(tape, 0.1)) == ["deck_change_overdue 592.3(c)"]


def test_592_3_b_3_two_decks_are_used_every_other_round() -> None:
    def act(tape: Tape, order: str) -> None:
        for batch in "AB":
            tape.deck(batch)
        for batch in order:
            tape.shuffle(batch)
            tape.round(batch)

    assert codes(lambda tape: act(tape, "ABABA")) == []
    assert codes(lambda tape: act(tape, "ABBA")) == ["batch_not_alternated 592.3(b)(3)"]


def by_hand(cut: tuple[int | None, int | None], *, opened: bool = True) -> list[str]:
    """A deck shuffled by hand, cut so, and dealt."""

    def act(tape: Tape) -> None:
        tape.deck()
        tape.shuffle(method="manual")
        tape.cut(*cut)
        tape.round(dealt_from="manual_shoe")

    return codes(act, opened=opened)


def test_592_5_d_a_cut_leaves_ten_cards_above_the_cover_card() -> None:
    assert by_hand((10, 42)) == by_hand((10, None)) == by_hand((None, 42)) == []
    shallow = ["cut_too_shallow 592.5(d)"]
    assert by_hand((9, 43)) == by_hand((9, None)) == by_hand((None, 43)) == shallow


@pytest.mark.parametrize(
    ("game", "section"),
    [
        ("criss_cross_poker", "592.5(e)"),
        ("lunar_poker", "589.5(e)"),
        ("saigon_5_card", "680a.5(e)"),
        ("five_card_hi_lo", "663a.5(e)"),
        ("asia_poker", "659a.5(d)"),
    ],
)
@pytest.mark.parametrize("method", ["manual", "preshuffled", "automated"])
def test_5_e_cards_that_are_to_be_recut_are_cut_again(game: str, section: str, method: str) -> None:
    def act(tape: Tape, *, again: bool) -> None:
        tape.deck(preshuffled=method == "preshuffled")
        tape.shuffle(method=method)
        tape.cut(above=20)
        tape.say(told.RecutDirected(batch="B-1", by="F-1", reason="a corner was seen"))
        if again:
            tape.cut(above=20)
        tape.round(dealt_from="manual_shoe", stub=20)

    def of_cut(found: list[str]) -> list[str]:
        return [each for each in found if "5(b)" not in each]  # the shuffler's count of Saigon's 53

    assert of_cut(codes(lambda tape: act(tape, again=True), game)) == []
    assert of_cut(codes(lambda tape: act(tape, again=False), game)) == [f"step_missing {section}"]


def test_what_was_told_before_the_tables_game_is_judged_when_a_round_begins() -> None:
    assert by_hand((10, 42), opened=False) == []
    assert by_hand((9, 43), opened=False) == ["cut_too_shallow 592.5(d)"]


def test_592_5_c_2_cards_shuffled_by_hand_are_cut_and_those_of_a_shuffler_are_not() -> None:
    def act(tape: Tape, method: str) -> None:
        tape.deck()
        tape.shuffle(method=method)
        tape.round(dealt_from="manual_shoe")

    assert codes(lambda tape: act(tape, "manual")) == ["step_missing 592.5(c)(2)"]
    assert codes(lambda tape: act(tape, "automated")) == []


@pytest.mark.parametrize(
    ("left_out", "section"),
    [("inspected", "4(a)"), ("verified", "4(a)"), ("spread", "4(b)"), ("washed", "4(c)")],
)
def test_592_4_cards_are_inspected_verified_spread_and_washed(left_out: str, section: str) -> None:
    def act(tape: Tape) -> None:
        tape.deck(without=left_out)
        tape.shuffle()
        tape.round()
        tape.shuffle()
        tape.round()

    assert codes(act) == [f"inspection_missing 592.{section}"]


def test_592_4_e_preshuffled_cards_are_only_cut() -> None:
    def act(tape: Tape) -> None:
        tape.deck(preshuffled=True)
        tape.shuffle(method="preshuffled")
        tape.cut(20)
        tape.round(dealt_from="manual_shoe")

    assert codes(act) == []


@pytest.mark.parametrize(
    ("game", "due"),
    [
        ("criss_cross_poker", ["step_missing 592.5(c)(2)"]),
        ("lunar_poker", ["step_missing 589.5(c)(2)"]),
        ("saigon_5_card", ["step_missing 680a.5(c)(2)"]),
        ("five_card_hi_lo", []),
    ],
)
def test_663a_5_c_2_cards_that_came_preshuffled_are_cut_where_the_chapter_says_so(
    game: str, due: list[str]
) -> None:
    def act(tape: Tape, *, told_so: bool, cut: bool) -> None:
        tape.deck(preshuffled=True)
        if told_so:
            tape.shuffle(method="preshuffled")
        if cut:
            tape.cut(20)
        tape.round()

    for told_so in (True, False):
        assert codes(lambda tape, said=told_so: act(tape, told_so=said, cut=False), game) == due  # type: ignore[misc]  # bound now
        assert codes(lambda tape, said=told_so: act(tape, told_so=said, cut=True), game) == []  # type: ignore[misc]  # bound now
    # Shuffled by hand they are cut at every table, and preshuffled they are but once.
    section = due[0].split()[1] if due else "663a.5(c)(2)"

    def again(tape: Tape) -> None:
        act(tape, told_so=False, cut=True)
        tape.round()

    assert codes(again, game) == [f"step_missing {section.replace('(c)(2)', '(a)')}"]

    def by_hand(tape: Tape) -> None:
        tape.deck()
        tape.shuffle(method="manual")
        tape.round()

    assert codes(by_hand, game) == [f"step_missing {section}"]


def test_592_5_b_a_deck_that_the_shuffler_counts_wrong_leaves_the_table() -> None:
    def act(tape: Tape, *, removed: bool) -> None:
        tape.deck()
        tape.shuffle(counted=51)
        if removed:
            tape.say(told.DecksRemoved(batch="B-1", reason="51 cards"))
            tape.deck("B-2")
            tape.shuffle("B-2")
        tape.round("B-2" if removed else "B-1")

    assert codes(lambda tape: act(tape, removed=True)) == []
    assert codes(lambda tape: act(tape, removed=False)) == ["step_missing 592.5(b)"]


CALLED = (("criss_cross_poker", "592.9(f)"), ("five_card_hi_lo", "663a.9(f)"))


@pytest.mark.parametrize(("game", "section"), [*CALLED, ("asia_poker", "659a.9(d)")])
def test_592_9_f_a_deck_that_is_short_leaves_the_table_unless_it_was_misdealt(
    game: str, section: str
) -> None:
    def act(tape: Tape, *kinds: str, removed: bool = False) -> None:
        cards = 53 if game == "asia_poker" else 52
        tape.deck()
        tape.shuffle(counted=cards)
        tape.round(kinds=kinds, stub=4)
        if removed:
            tape.say(told.DecksRemoved(batch="B-1", reason="51 cards"))
            tape.deck()
        tape.shuffle(counted=cards)
        tape.round(stub=4)

    def found(*kinds: str, removed: bool = False) -> list[str]:
        return codes(lambda tape: act(tape, *kinds, removed=removed), game)

    short, misdealt = "card_missing", "wrong_card_count"
    assert found(short) == [f"step_missing {section}"]
    assert found(short, removed=True) == []
    assert found(short, misdealt) == found(misdealt, short) == found(misdealt) == []


def test_589_11_g_2_where_not_all_cards_are_counted_the_deck_leaves_the_table() -> None:
    def act(tape: Tape, counted: int, *, removed: bool = False) -> None:
        tape.deck()
        tape.shuffle()
        tape.round(stub=counted)
        if removed:
            tape.say(told.DecksRemoved(batch="B-1", reason="51 cards"))
            tape.deck()
        for _ in range(2):
            tape.shuffle()
            tape.round()

    for counted, found in ((52, []), (51, ["step_missing 589.11(g)(2)"])):
        assert codes(lambda tape, n=counted: act(tape, n), "lunar_poker") == found  # type: ignore[misc]  # bound now
    assert codes(lambda tape: act(tape, 53, removed=True), "lunar_poker") == []
    # Elsewhere the stub is counted, and holds what was not dealt: the round itself judges it.
    assert codes(lambda tape: act(tape, 40)) == []


def test_592_13_g_a_device_out_of_order_is_covered_before_another_method_is_used() -> None:
    def act(tape: Tape, *, covered: bool, restored: bool = False) -> None:
        tape.deck()
        tape.shuffle()
        tape.round()
        tape.say(told.DeviceOutOfOrder(device="shuffler-1", covered=covered))
        if restored:
            tape.say(told.DeviceRestored(device="shuffler-1"))
        tape.shuffle(method="manual")
        tape.cut(20)
        tape.round(dealt_from="manual_shoe")

    assert codes(lambda tape: act(tape, covered=True)) == []
    assert codes(lambda tape: act(tape, covered=False, restored=True)) == []
    assert codes(lambda tape: act(tape, covered=False)) == ["device_not_covered 592.13(g)"]


def dice(hours: float, *, inspected: bool = True, changed: bool = False) -> list[str]:
    """Two games so far apart, with one set of dice or two."""

    def act(tape: Tape) -> None:
        for name in ("S-1", "S-2") if changed else ("S-1",):
            tape.say(told.DiceReceived(set=name, dice=6))
            if inspected:
                tape.say(
                    told.DiceInspected(set=name, by=("F-1",), observed_by=("F-2",), alternative=1)
                )
            if name == "S-1":
                tape.throw()
                tape.wait(hours)
            if changed and name == "S-1":
                tape.say(told.DiceRemoved(set=name, reason="a day old"))
        tape.throw()

    return codes(act, DICE)


def test_661a_4_d_dice_change_once_every_24_hours() -> None:
    assert dice(23.9) == dice(24.5, changed=True) == []
    assert dice(24.1) == ["dice_change_overdue 661a.4(d)"]


def test_603a_13_f_dice_are_inspected_before_they_are_thrown() -> None:
    assert dice(1, inspected=False) == ["dice_not_inspected 603a.13(f)"]


def test_a_table_that_tells_nothing_of_its_equipment_has_none_of_these_findings() -> None:
    assert codes(lambda tape: tape.round()) == []
    assert codes(lambda tape: tape.throw(), DICE) == []


def test_601a_2_a_table_without_a_submission_is_told_so_once() -> None:
    tape = Tape()
    del tape.facts[0]
    for _ in range(3):
        tape.round()
    assert [(f.code, f.section) for f in tape.found()] == [("rules_submission_missing", "601a.2")]


def test_601a_2_a_submission_that_names_what_there_is_not_is_told_once_a_day() -> None:
    tape = Tape()
    invalid = told.RulesSubmissionFiled(
        game=CARDS, effective_from="2011-01-01", readings={"pair_of_tens": "lose"}
    )
    tape.say(invalid)
    for _ in range(3):
        tape.round()
    found = tape.found()
    assert [(each.code, each.recorded) for each in found] == [
        ("rules_submission_invalid", "readings.pair_of_tens")
    ]
    assert found[0].expected == "one of push, one_to_one"
