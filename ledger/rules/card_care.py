"""The care of cards: opened, shuffled, cut, alternated, counted and changed (.3(b)-(c), .4, .5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import (
    CardsCut,
    CardsInspected,
    CardsShuffled,
    CardsSpread,
    CardsWashed,
    CoverCardReached,
    DecksReceived,
    DecksRemoved,
    DeviceOutOfOrder,
    DeviceRestored,
    InspectionVerified,
    IrregularityCalled,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    StubCounted,
)
from ledger.rules.equipment import HOUR_US, Batch, Judge
from ledger.rules.game import CardProcedures
from ledger.rules.ruling import FactRef

if TYPE_CHECKING:
    from collections.abc import Callable


_CUT_AFTER = ("manual", "preshuffled")
"""Ways of shuffling after which every deck is cut."""


def _decks_received(j: Judge, body: DecksReceived, _: object) -> None:
    j.state.batches[body.batch] = Batch(j.fact.time_us, body.preshuffled)


def _decks_removed(j: Judge, body: DecksRemoved, _: object) -> None:
    j.state.batches.pop(body.batch, None)


def _done(what: str) -> Callable[[Judge, Any, object], None]:
    def note(j: Judge, body: Any, _: object) -> None:  # noqa: ANN401 - four kinds of fact
        if body.batch in j.state.batches:
            j.state.batches[body.batch].done.add(what)

    return note


def _shuffled(j: Judge, body: CardsShuffled, care: object) -> None:
    """A shuffle; where a shuffler counts, its count stands for the stub's."""
    batch = j.state.batches.get(body.batch)
    j.state.reshuffle_due = None
    _play_on_without_cover(j, body.method, care)
    if batch is None:
        return
    batch.shuffled, batch.cut = body.method, False
    batch.in_shoe = batch.cover_reached = False
    if body.counted is not None and body.counted is not False:
        if not isinstance(care, CardProcedures) or care.count_wrong is not None:
            j.state.rounds_uncounted, j.state.counted = 0, True
        batch.counted = None if body.counted is True else body.counted


def _play_on_without_cover(j: Judge, method: str, care: object) -> None:
    """Another method only once a device out of order is covered or signed."""
    if not isinstance(care, CardProcedures) or method not in ("manual", "dealing"):
        return
    for device in sorted(j.state.uncovered):
        j.find(
            "device_not_covered",
            care.device_covered,
            f"{device} is out of order, neither covered nor signed, and play goes on without it",
            recorded=device,
        )
    j.state.uncovered.clear()


def _cover_card(j: Judge, _: CoverCardReached, __: object) -> None:
    """The round is completed, and the cards are shuffled after it."""
    batch = j.state.batches.get(j.state.batch or "") or _only(j.state.batches)
    if batch is not None:
        batch.in_shoe, batch.cover_reached = False, True


def _cut(j: Judge, body: CardsCut, care: object) -> None:
    """A cut, and how deep the cover card stood."""
    batch = j.state.batches.get(body.batch) or Batch(j.fact.time_us, preshuffled=False)
    batch.cut, batch.above = True, body.cards_above
    if not isinstance(care, CardProcedures):
        return
    if batch.above is None and body.cards_below is not None:
        batch.above = care.deck_cards - body.cards_below
    _deep_enough(j, batch, care)


def _deep_enough(j: Judge, batch: Batch, care: CardProcedures) -> None:
    """The cover card stood so many cards in from the top."""
    above, batch.above = batch.above, None
    if above is not None and above < care.cut_cards_min:
        j.find(
            "cut_too_shallow",
            care.cut,
            f"The cover card went in {above} cards from the top; "
            f"at least {care.cut_cards_min} are to lie above it",
            expected=str(care.cut_cards_min),
            recorded=str(above),
        )


def _stub_counted(j: Judge, body: StubCounted, _: object) -> None:
    del body
    j.state.counted = True


def _cards_of_round(j: Judge, body: RoundStarted, care: object) -> None:
    """A round begins: its cards were opened, shuffled, cut, alternated, and are not overdue."""
    state = j.state
    before, state.batch = state.batch, body.batch or state.batch
    state.dealt_from = body.dealt_from or state.dealt_from
    state.rounds += 1
    if not isinstance(care, CardProcedures):
        return
    _reshuffled(j, care)
    _play_on_without_cover(j, "dealing", care)
    batch = state.batches.get(state.batch or "") or _only(state.batches)
    if batch is None:
        return
    _opened(j, batch, care)
    _deep_enough(j, batch, care)
    _miscounted(j, batch, care)
    _stacked(j, batch, care)
    _alternated(j, before, batch, care)
    hours = care.change_hours.get(state.dealt_from or "")
    if hours:
        overdue = (j.fact.time_us - batch.received_us) // (hours * HOUR_US)
        if overdue > batch.changes_due:
            batch.changes_due = overdue
            j.find(
                "deck_change_overdue",
                care.changed,
                f"The cards are at the table since more than {hours * overdue} hours; "
                f"they change every {hours}",
                expected=f"{hours} h",
                recorded=f"{(j.fact.time_us - batch.received_us) // 60_000_000} min",
            )
    batch.shuffled, batch.cut = None, False
    batch.in_shoe = care.shoe is not None and not batch.cover_reached


def _only(batches: dict[str, Batch]) -> Batch | None:
    """The one batch at the table, where a round does not name it."""
    return next(iter(batches.values())) if len(batches) == 1 else None


def _opened(j: Judge, batch: Batch, care: CardProcedures) -> None:
    """Inspected, verified, spread and washed before the first round, unless preshuffled."""
    if batch.opened:
        return
    batch.opened = True
    if batch.preshuffled:
        return
    for step, paragraph in (
        ("inspected", care.inspected),
        ("verified", care.inspected),
        ("spread", care.spread),
        ("washed", care.washed),
    ):
        if step not in batch.done:
            j.find(
                "inspection_missing",
                paragraph,
                f"The cards were dealt from without having been {step}",
                expected=step,
            )


def _miscounted(j: Judge, batch: Batch, care: CardProcedures) -> None:
    """A deck in which the shuffler found too many or too few cards leaves the table."""
    counted, batch.counted = batch.counted, None
    if counted in (None, care.deck_cards) or care.count_wrong is None:
        return
    j.find(
        "step_missing",
        care.count_wrong,
        f"The shuffler counted {counted} cards, and the deck was dealt from",
        expected="decks_removed",
        recorded=str(counted),
    )


def _stacked(j: Judge, batch: Batch, care: CardProcedures) -> None:
    """Shuffled since the last round, or for the shoe; cut, where the section has them cut."""
    if batch.shuffled is None:
        if batch.in_shoe:
            return
        since = "the cover card was reached" if batch.cover_reached else "the round before"
        j.find(
            "step_missing",
            care.shoe if care.shoe and batch.cover_reached else care.shuffled,
            f"The round was dealt from cards not shuffled since {since}",
            expected="cards_shuffled",
        )
    elif (batch.shuffled in _CUT_AFTER or (care.shoe and batch.shuffled == "automated")) and (
        not batch.cut
    ):
        j.find(
            "step_missing",
            care.cut_due,
            "The round was dealt from cards not cut after their shuffle",
            expected="cards_cut",
        )


def _alternated(j: Judge, before: str | None, batch: Batch, care: CardProcedures) -> None:
    """Two decks with a shuffler are used in turn, every other round, or shoe, each."""
    state = j.state
    several = len(state.batches) > 1 and batch.shuffled == "automated"
    if care.alternated and several and state.rounds > 1 and before == state.batch:
        j.find(
            "batch_not_alternated",
            care.alternated,
            f"Batch {state.batch} was used for two {'shoes' if care.shoe else 'rounds'} running "
            f"with two {'batches' if care.shoe else 'decks'} at the table",
            recorded=state.batch,
        )


def _reshuffled(j: Judge, care: CardProcedures) -> None:
    """A shuffler that failed leaves cards to be reshuffled."""
    if j.state.reshuffle_due is None:
        return
    j.state.reshuffle_due = None
    failed = j.rules.game.irregularities.get("shuffler_failed") if j.rules else None
    j.find(
        "step_missing",
        failed.section if failed else care.shuffled,
        "The shuffler failed, and the round was dealt without a reshuffle",
        expected="cards_shuffled",
    )


def _round_over(j: Judge, body: RoundCompleted | RoundVoided, care: object) -> None:
    """The stub is counted at least once in so many rounds, unless a shuffler counts.

    Where that is every round, not in one that was void before its deal was over.
    """
    state = j.state
    if isinstance(care, CardProcedures) and care.stub_rounds == 1:
        state.counted = state.counted or isinstance(body, RoundVoided)
    state.rounds_uncounted = 0 if state.counted else state.rounds_uncounted + 1
    state.counted = False
    if not isinstance(care, CardProcedures) or not state.batches or not care.stub:
        return
    if state.rounds_uncounted and state.rounds_uncounted % care.stub_rounds == 0:
        paragraph = care.stub.get(state.dealt_from or "", care.stub["manual_shoe"])
        j.find(
            "stub_count_overdue",
            paragraph,
            f"The stub was not counted in the last {state.rounds_uncounted} rounds; "
            f"it is counted at least once every {care.stub_rounds}",
            expected=str(care.stub_rounds),
            recorded=str(state.rounds_uncounted),
        )


def _irregularity(j: Judge, body: IrregularityCalled, _: object) -> None:
    if body.kind == "shuffler_failed":
        j.state.reshuffle_due = FactRef(j.fact.source, j.fact.id)


def _out_of_order(j: Judge, body: DeviceOutOfOrder, _: object) -> None:
    if body.covered:
        j.state.uncovered.pop(body.device, None)
    else:
        j.state.uncovered[body.device] = FactRef(j.fact.source, j.fact.id)


def _restored(j: Judge, body: DeviceRestored, _: object) -> None:
    j.state.uncovered.pop(body.device, None)


CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    RoundStarted: _cards_of_round,
    RoundCompleted: _round_over,
    RoundVoided: _round_over,
    DecksReceived: _decks_received,
    DecksRemoved: _decks_removed,
    CardsInspected: _done("inspected"),
    InspectionVerified: _done("verified"),
    CardsSpread: _done("spread"),
    CardsWashed: _done("washed"),
    CardsShuffled: _shuffled,
    CardsCut: _cut,
    CoverCardReached: _cover_card,
    StubCounted: _stub_counted,
    IrregularityCalled: _irregularity,
    DeviceOutOfOrder: _out_of_order,
    DeviceRestored: _restored,
}
