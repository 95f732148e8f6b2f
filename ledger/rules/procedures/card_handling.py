"""Handling of cards: opened, shuffled, cut, alternated, counted, changed (.3(b)-(c), .4, .5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import (
    CardsCut,
    CardsInspected,
    CardsRemoved,
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
    RecutDirected,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    StubCounted,
)
from ledger.rules.engine.game import CardProcedures
from ledger.rules.engine.ruling import FactRef
from ledger.rules.procedures.equipment import HOUR_US, CardBatch, Judge

if TYPE_CHECKING:
    from collections.abc import Callable


def _decks_received(j: Judge, body: DecksReceived, _: object) -> None:
    batch = CardBatch(j.fact.time_us, body.preshuffled, cards=body.cards, decks=body.decks)
    j.state.batches[body.batch] = batch


def _cards_removed(j: Judge, body: CardsRemoved, _: object) -> None:
    """Note cards that leave a batch, and named ones of ranks that the game's decks do not hold."""
    batch = j.state.batches.get(body.batch)
    if batch is None:
        return
    deck = j.rules.game.deck if j.rules else frozenset()
    named = body.cards
    count = named if isinstance(named, int) else sum(card not in deck for card in named)
    batch.taken_out += count


def _decks_removed(j: Judge, body: DecksRemoved, _: object) -> None:
    j.state.batches.pop(body.batch, None)


def _done(what: str) -> Callable[[Judge, Any, object], None]:
    def note(j: Judge, body: Any, _: object) -> None:  # noqa: ANN401 - four kinds of fact
        batch = j.state.batches.get(body.batch)
        if batch and what not in batch.done:
            batch.done.append(what)

    return note


def _shuffled(j: Judge, body: CardsShuffled, care: object) -> None:
    """Note a shuffle. If the shuffler counts, its count replaces the stub's."""
    batch = j.state.batches.get(body.batch)
    j.state.reshuffle_due = None
    _play_on_without_cover(j, body.method, care)
    if batch is None:
        return
    batch.shuffled, batch.cut, batch.recut = body.method, False, False
    batch.in_shoe = batch.cover_reached = False
    if body.counted is not None and body.counted is not False:
        if not isinstance(care, CardProcedures) or care.count_wrong is not None:
            j.state.rounds_uncounted, j.state.counted = 0, True
        batch.counted = None if body.counted is True else body.counted


def _play_on_without_cover(j: Judge, method: str, care: object) -> None:
    """Judge play without a device out of order: it must be covered or signed first."""
    if not isinstance(care, CardProcedures) or method not in ("manual", "dealing"):
        return
    for device in sorted(j.state.uncovered):
        j.find(
            "device_not_covered",
            care.device_covered,
            f"{device} is out of order, neither covered nor signed, but play goes on without it",
            recorded=device,
        )
    j.state.uncovered.clear()


def _play_on_without_reader(j: Judge) -> None:
    """Judge a round after a card reader failed: it must be repaired or replaced first."""
    failed = j.rules.game.irregularities.get("card_reader_failed") if j.rules else None
    if failed and j.state.reader_failed:
        j.find(
            "step_missing",
            failed.section,
            "The card reader failed, and a round was dealt before it was repaired or replaced",
            expected="device_restored",
        )
    j.state.reader_failed = False


def _cut(j: Judge, body: CardsCut, care: object) -> None:
    """Judge a cut by its depth, or by the cover card that the dealer inserts for the shoe."""
    batch = j.state.batches.get(body.batch) or CardBatch(j.fact.time_us, preshuffled=False)
    again = batch.cut and body.by == "dealer"
    batch.cut, batch.recut = True, False
    above, below = body.cards_above, body.cards_below
    if not isinstance(care, CardProcedures):
        batch.above = above
    elif again and care.cover_cards_below is not None:
        below = care.deck_cards - above if below is None and above is not None else below
        _far_enough(j, care, below, care.cover_cards_below)
    else:
        batch.above = care.deck_cards - below if above is None and below is not None else above
        _deep_enough(j, batch, care)


def _deep_enough(j: Judge, batch: CardBatch, care: CardProcedures) -> None:
    """Judge the depth of a cut from the top, and from the bottom if the section gives one.

    A cut recorded before the table's game is judged when a round begins.
    """
    above, batch.above = batch.above, None
    if above is None:
        return
    if above < care.cut_cards_min:
        j.find(
            "cut_too_shallow",
            care.cut,
            f"The cover card went in {above} cards from the top; "
            f"at least {care.cut_cards_min} must lie above it",
            expected=str(care.cut_cards_min),
            recorded=str(above),
        )
    elif care.cut_cards_below is not None:
        _far_enough(j, care, care.deck_cards - above, care.cut_cards_below)


def _far_enough(j: Judge, care: CardProcedures, below: int | None, least: int) -> None:
    """Judge the depth of the cover card from the bottom."""
    if below is not None and below < least:
        j.find(
            "cut_too_shallow",
            care.cut,
            f"The cover card went in {below} cards from the bottom; "
            f"at least {least} must lie below it",
            expected=str(least),
            recorded=str(below),
        )


def _recut(j: Judge, body: RecutDirected, _: object) -> None:
    """Note that a floorperson orders another cut."""
    batch = j.state.batches.get(body.batch)
    if batch:
        batch.cut, batch.recut = False, True


def _cut_in_time(j: Judge, batch: CardBatch, care: CardProcedures) -> None:
    """Judge that a round's cards were cut as the section requires, and as often as ordered."""
    if batch.cut:
        return
    if batch.recut and care.recut:
        j.find(
            "step_missing",
            care.recut,
            "The round was dealt without the other cut that was ordered",
            expected="cards_cut",
        )
    elif _is_cut(batch, care):
        j.find(
            "step_missing",
            care.cut_due,
            "The round was dealt from cards not cut after their shuffle",
            expected="cards_cut",
        )


def _is_cut(batch: CardBatch, care: CardProcedures) -> bool:
    """Whether cards are cut after this way of shuffling."""
    if batch.shuffled == "preshuffled":
        return care.preshuffled_cut
    return batch.shuffled == "manual" or (care.shoe is not None and batch.shuffled == "automated")


def _cover_card(j: Judge, _: CoverCardReached, __: object) -> None:
    """Note the cover card: the cards are shuffled after this round."""
    batch = _in_use(j)
    if batch is not None:
        batch.in_shoe, batch.cover_reached = False, True


def _stub_counted(j: Judge, body: StubCounted, care: object) -> None:
    """Note a count of the stub. If all cards are counted, they must be as many as in a deck."""
    j.state.counted = True
    batch = _in_use(j)
    if batch and isinstance(care, CardProcedures) and care.stub_whole:
        batch.short = body.counted != care.deck_cards


def _cards_of_round(j: Judge, body: RoundStarted, care: object) -> None:
    """Judge the cards of a round: opened, shuffled, cut, alternated, not overdue for a change."""
    state = j.state
    before, state.batch = state.batch, body.batch or state.batch
    state.dealt_from = body.dealt_from or state.dealt_from
    state.rounds += 1
    if not isinstance(care, CardProcedures):
        return
    _reshuffled(j, care)
    _play_on_without_cover(j, "dealing", care)
    _play_on_without_reader(j)
    batch = _in_use(j)
    if batch is None:
        return
    _opened(j, batch, care)
    _short(j, batch)
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
                f"The cards have been at the table for over {hours * overdue} hours; "
                f"they change every {hours}",
                expected=f"{hours} h",
                recorded=f"{(j.fact.time_us - batch.received_us) // 60_000_000} min",
            )
    batch.shuffled, batch.cut, batch.recut = None, False, False
    batch.in_shoe = care.shoe is not None and not batch.cover_reached


def _in_use(j: Judge) -> CardBatch | None:
    """The batch of the round in progress, or of the last one."""
    return j.state.batches.get(j.state.batch or "") or _only(j.state.batches)


def _only(batches: dict[str, CardBatch]) -> CardBatch | None:
    """The one batch at the table, if a round does not name it."""
    return next(iter(batches.values())) if len(batches) == 1 else None


def _opened(j: Judge, batch: CardBatch, care: CardProcedures) -> None:
    """Judge that cards were inspected, verified, spread and washed first, unless preshuffled."""
    if batch.opened:
        return
    batch.opened = True
    _taken_out(j, batch, care)
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
                f"The cards were dealt without being {step}",
                expected=step,
            )


def _taken_out(j: Judge, batch: CardBatch, care: CardProcedures) -> None:
    """Judge that ranks which the game's decks do not hold left the batch, preshuffled or not."""
    over = batch.cards - batch.decks * len(j.rules.game.deck) if j.rules else 0
    if care.taken_out and batch.taken_out < over:
        j.find(
            "inspection_missing",
            care.taken_out,
            f"The batch came with {over} cards that its decks do not hold, "
            f"but {batch.taken_out} were taken out",
            expected="cards_removed",
            recorded=str(batch.taken_out),
        )


def _miscounted(j: Judge, batch: CardBatch, care: CardProcedures) -> None:
    """Judge that a deck leaves the table if the shuffler found too many or too few cards."""
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


def _short(j: Judge, batch: CardBatch) -> None:
    """Judge that a short or over deck leaves the table, unless the cards were only misdealt."""
    wrong = batch.short and not batch.misdealt
    batch.short = batch.misdealt = False
    follows = j.rules.game.irregularities.get("card_missing") if j.rules else None
    if wrong and follows:
        j.find(
            "step_missing",
            follows.cited(j.state.dealt_from),
            "The deck had too many or too few cards, and it was dealt from again",
            expected="decks_removed",
        )


def _stacked(j: Judge, batch: CardBatch, care: CardProcedures) -> None:
    """Judge that cards were shuffled since the last round, or for the shoe, and cut if required."""
    if batch.preshuffled and not batch.dealt and batch.shuffled is None:
        batch.shuffled = "preshuffled"
    batch.dealt = True
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
    else:
        _cut_in_time(j, batch, care)


def _alternated(j: Judge, before: str | None, batch: CardBatch, care: CardProcedures) -> None:
    """Judge that two decks with a shuffler alternate, each for every other round or shoe."""
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
    """Judge that cards are reshuffled after a shuffler failed."""
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
    """Judge that the stub is counted within the number of rounds, unless a shuffler counts.

    If it is due every round, it is not due in one that was void before its deal was over.
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
            f"it must be counted at least once every {care.stub_rounds}",
            expected=str(care.stub_rounds),
            recorded=str(state.rounds_uncounted),
        )


def _irregularity(j: Judge, body: IrregularityCalled, _: object) -> None:
    batch = _in_use(j)
    if body.kind == "shuffler_failed":
        j.state.reshuffle_due = FactRef(j.fact.source, j.fact.id)
    elif body.kind == "card_reader_failed":
        j.state.reader_failed = True
    elif body.kind == "card_missing" and batch:
        batch.short = True
    elif body.kind == "wrong_card_count" and batch:
        batch.misdealt = True


def _out_of_order(j: Judge, body: DeviceOutOfOrder, _: object) -> None:
    if body.covered:
        j.state.uncovered.pop(body.device, None)
    else:
        j.state.uncovered[body.device] = FactRef(j.fact.source, j.fact.id)


def _restored(j: Judge, body: DeviceRestored, _: object) -> None:
    """Note a device that works again. One never reported out of order may be a card reader."""
    if j.state.uncovered.pop(body.device, None) is None:
        j.state.reader_failed = False


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
    RecutDirected: _recut,
    CardsRemoved: _cards_removed,
    CoverCardReached: _cover_card,
    StubCounted: _stub_counted,
    IrregularityCalled: _irregularity,
    DeviceOutOfOrder: _out_of_order,
    DeviceRestored: _restored,
}
