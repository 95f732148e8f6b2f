"""The care of cards that are dealt shoe by shoe (665a.3 to 665a.7): shuffled when a shoe ends."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import facts as told
from tests.unit.rules.procedures.test_procedures import Tape, codes

GAME = "double_attack_blackjack"
COVER = told.CoverCardReached(to="dealer")


def deck(tape: Tape, batch: str = "B-1", *, cards: int = 384, **how: Any) -> None:  # noqa: ANN401 - as `Tape.deck` has it
    """A batch of eight decks comes to the table and is inspected."""
    tape.deck(batch, decks=8, cards=cards, **how)


def shoe(tape: Tape, batch: str = "B-1", method: str = "automated", *, cut: bool = True) -> None:
    """A batch is shuffled, and cut."""
    tape.shuffle(batch, method, counted=384)
    if cut:
        tape.say(told.CardsCut(batch=batch, by="dealer", cards_above=100))


def dealt(tape: Tape, rounds: int = 1, batch: str = "B-1") -> None:
    for _ in range(rounds):
        tape.round(batch, "manual_shoe")


def test_665a_5_a_a_shoe_is_dealt_from_round_after_round_and_no_stub_is_counted() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        shoe(tape)
        dealt(tape, 12)

    assert codes(act, GAME) == []


def test_665a_5_a_a_shoe_that_was_never_shuffled_is_found_once() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        dealt(tape, 3)

    assert codes(act, GAME) == ["step_missing 665a.5(a)"]


@pytest.mark.parametrize("shuffled", [True, False])
def test_665a_7_d_the_cover_card_ends_the_shoe_once_its_round_is_over(shuffled: bool) -> None:  # noqa: FBT001 - with a shuffle and without
    def act(tape: Tape) -> None:
        deck(tape)
        shoe(tape)
        dealt(tape, 3)
        tape.say(COVER)
        if shuffled:
            shoe(tape)
        dealt(tape)

    assert codes(act, GAME) == ([] if shuffled else ["step_missing 665a.7(d)"])


@pytest.mark.parametrize("method", ["automated", "manual", "preshuffled"])
def test_665a_5_b_a_shoe_is_cut_after_every_shuffle(method: str) -> None:
    for cut, found in ((True, []), (False, ["step_missing 665a.5(b)"])):

        def act(tape: Tape, *, cut: bool = cut) -> None:
            deck(tape)
            shoe(tape, method=method, cut=cut)
            dealt(tape, 2)

        assert codes(act, GAME) == found


def test_665a_5_h_a_shuffler_without_an_end_needs_no_cut() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        shoe(tape, method="continuous", cut=False)
        dealt(tape, 2)

    assert codes(act, GAME) == []


def test_665a_3_b_4_two_batches_are_used_for_every_other_shoe() -> None:
    def act(tape: Tape, second: str) -> None:
        for batch in ("B-1", "B-2"):
            deck(tape, batch)
            shoe(tape, batch)
        dealt(tape, 3)
        tape.say(COVER)
        shoe(tape)
        dealt(tape, 3, second)

    assert codes(lambda tape: act(tape, "B-2"), GAME) == []
    assert codes(lambda tape: act(tape, "B-1"), GAME) == ["batch_not_alternated 665a.3(b)(4)"]


def test_665a_3_c_the_cards_are_changed_every_24_hours() -> None:
    for hours, found in ((23.9, []), (24.1, ["deck_change_overdue 665a.3(c)"])):

        def act(tape: Tape, *, hours: float = hours) -> None:
            deck(tape)
            shoe(tape)
            tape.wait(hours)
            dealt(tape)

        assert codes(act, GAME) == found


def test_665a_5_d_the_cover_card_goes_in_ten_cards_from_the_top() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        shoe(tape, cut=False)
        tape.cut(above=9)
        dealt(tape)

    assert codes(act, GAME) == ["cut_too_shallow 665a.5(d)"]


@pytest.mark.parametrize("way", ["above", "below"])
@pytest.mark.parametrize("end", ["top", "bottom"])
def test_665a_5_d_at_least_ten_cards_lie_on_either_side_of_the_cover_card(
    way: str, end: str
) -> None:
    for cards, found in ((9, ["cut_too_shallow 665a.5(d)"]), (10, [])):
        told_of = cards if (way, end) in (("above", "top"), ("below", "bottom")) else 384 - cards

        def act(tape: Tape, *, told_of: int = told_of) -> None:
            deck(tape)
            shoe(tape, cut=False)
            tape.cut(**{way: told_of})
            dealt(tape)

        assert codes(act, GAME) == found


@pytest.mark.parametrize("way", ["above", "below"])
def test_665a_5_d_the_dealer_puts_the_cover_card_in_a_quarter_from_the_bottom(way: str) -> None:
    for below, found in ((95, ["cut_too_shallow 665a.5(d)"]), (96, [])):
        told_of = below if way == "below" else 384 - below

        def act(tape: Tape, *, told_of: int = told_of) -> None:
            deck(tape)
            shoe(tape)
            tape.cut(**{way: told_of})
            dealt(tape)

        assert codes(act, GAME) == found


@pytest.mark.parametrize("again", [True, False])
def test_665a_5_e_cards_that_are_to_be_recut_are_cut_again(again: bool) -> None:  # noqa: FBT001 - cut again and not
    def act(tape: Tape) -> None:
        deck(tape)
        shoe(tape)
        tape.say(told.RecutDirected(batch="B-1", by="F-1", reason="a corner was seen"))
        if again:
            tape.cut(below=40)
        dealt(tape)

    assert codes(act, GAME) == ([] if again else ["step_missing 665a.5(e)"])


NO_10S = ["inspection_missing 665a.4(b)"]
TENS = ("Td", "Tc", "Th", "Ts") * 8


@pytest.mark.parametrize("preshuffled", [False, True])
@pytest.mark.parametrize(
    ("removed", "found"),
    [
        (None, NO_10S),
        (31, NO_10S),
        (32, []),
        (TENS, []),
        (TENS[1:], NO_10S),
        (("9c",) * 32, NO_10S),
    ],
)
def test_665a_4_b_10s_are_removed_from_decks_that_came_with_them(
    preshuffled: bool,  # noqa: FBT001 - 4(f) excuses cards that came preshuffled of the rest alone
    removed: int | tuple[str, ...] | None,
    found: list[str],
) -> None:
    def act(tape: Tape) -> None:
        deck(tape, cards=416, preshuffled=preshuffled)
        if removed:
            tape.say(told.CardsRemoved(batch="B-1", cards=removed, reason="10s", by="F-1"))
        shoe(tape)
        dealt(tape, 2)

    assert codes(act, GAME) == found


def test_665a_13_i_no_round_is_dealt_until_a_card_reader_that_failed_is_put_right() -> None:
    for restored, found in ((True, []), (False, ["step_missing 665a.13(i)"])):

        def act(tape: Tape, *, restored: bool = restored) -> None:
            deck(tape)
            shoe(tape)
            tape.round("B-1", "manual_shoe", kinds=("card_reader_failed",))
            if restored:
                tape.say(told.DeviceRestored(device="reader-1"))
            dealt(tape, 2)

        assert codes(act, GAME) == found


def test_665a_13_i_a_shuffler_that_works_again_repairs_no_card_reader() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        shoe(tape)
        tape.round("B-1", "manual_shoe", kinds=("card_reader_failed",))
        tape.say(told.DeviceOutOfOrder(device="shuffler-1", covered=False))
        tape.say(told.DeviceRestored(device="shuffler-1"))
        dealt(tape)

    assert codes(act, GAME) == ["step_missing 665a.13(i)"]


@pytest.mark.parametrize("without", ["inspected", "verified", "spread", "washed"])
def test_665a_4_the_cards_are_inspected_verified_spread_and_washed(without: str) -> None:
    section = {"spread": "4(c)", "washed": "4(d)"}.get(without, "4(a)")

    def act(tape: Tape) -> None:
        deck(tape, without=without)
        shoe(tape)
        dealt(tape)

    assert codes(act, GAME) == [f"inspection_missing 665a.{section}"]


def test_665a_3_a_counts_of_a_shuffler_ask_nothing_the_chapter_does_not_print() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        tape.shuffle(counted=383)
        tape.cut(above=100)
        dealt(tape)

    assert codes(act, GAME) == []


def test_a_chapter_that_prints_no_procedures_has_no_findings_of_them() -> None:
    def act(tape: Tape) -> None:
        deck(tape)
        dealt(tape, 7)

    assert codes(act, "blackjack") == []
    assert codes(act, "spanish_21") == []
