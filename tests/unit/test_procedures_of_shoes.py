"""The care of cards that are dealt shoe by shoe (665a.3 to 665a.7): shuffled when a shoe ends."""

from __future__ import annotations

import pytest

from ledger import facts as told
from tests.unit.test_procedures import Tape, codes

GAME = "double_attack_blackjack"
COVER = told.CoverCardReached(to="dealer")


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
        tape.deck()
        shoe(tape)
        dealt(tape, 12)

    assert codes(act, GAME) == []


def test_665a_5_a_a_shoe_that_was_never_shuffled_is_found_once() -> None:
    def act(tape: Tape) -> None:
        tape.deck()
        dealt(tape, 3)

    assert codes(act, GAME) == ["step_missing 665a.5(a)"]


@pytest.mark.parametrize("shuffled", [True, False])
def test_665a_7_d_the_cover_card_ends_the_shoe_once_its_round_is_over(shuffled: bool) -> None:  # noqa: FBT001 - with a shuffle and without
    def act(tape: Tape) -> None:
        tape.deck()
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
            tape.deck()
            shoe(tape, method=method, cut=cut)
            dealt(tape, 2)

        assert codes(act, GAME) == found


def test_665a_5_h_a_shuffler_without_an_end_needs_no_cut() -> None:
    def act(tape: Tape) -> None:
        tape.deck()
        shoe(tape, method="continuous", cut=False)
        dealt(tape, 2)

    assert codes(act, GAME) == []


def test_665a_3_b_4_two_batches_are_used_for_every_other_shoe() -> None:
    def act(tape: Tape, second: str) -> None:
        for batch in ("B-1", "B-2"):
            tape.deck(batch)
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
            tape.deck()
            shoe(tape)
            tape.wait(hours)
            dealt(tape)

        assert codes(act, GAME) == found


def test_665a_5_d_the_cover_card_goes_in_ten_cards_from_the_top() -> None:
    def act(tape: Tape) -> None:
        tape.deck()
        shoe(tape, cut=False)
        tape.cut(above=9)
        dealt(tape)

    assert codes(act, GAME) == ["cut_too_shallow 665a.5(d)"]


@pytest.mark.parametrize("without", ["inspected", "verified", "spread", "washed"])
def test_665a_4_the_cards_are_inspected_verified_spread_and_washed(without: str) -> None:
    section = {"spread": "4(c)", "washed": "4(d)"}.get(without, "4(a)")

    def act(tape: Tape) -> None:
        tape.deck(without=without)
        shoe(tape)
        dealt(tape)

    assert codes(act, GAME) == [f"inspection_missing 665a.{section}"]


def test_665a_3_a_counts_of_a_shuffler_ask_nothing_the_chapter_does_not_print() -> None:
    def act(tape: Tape) -> None:
        tape.deck()
        tape.shuffle(counted=383)
        tape.cut(above=100)
        dealt(tape)

    assert codes(act, GAME) == []


def test_a_chapter_that_prints_no_procedures_has_no_findings_of_them() -> None:
    def act(tape: Tape) -> None:
        tape.deck()
        dealt(tape, 7)

    assert codes(act, "blackjack") == []
    assert codes(act, "spanish_21") == []
