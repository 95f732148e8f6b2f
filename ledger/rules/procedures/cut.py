"""The cut of the cards (.5): how deep the cover card goes in, and a cut that is directed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import CardsCut, RecutDirected
from ledger.rules.engine.game import CardProcedures
from ledger.rules.procedures.equipment import Batch, Judge

if TYPE_CHECKING:
    from collections.abc import Callable


def _cut(j: Judge, body: CardsCut, care: object) -> None:
    """A cut, and how deep the cover card stood; or where the dealer put it in for the shoe."""
    batch = j.state.batches.get(body.batch) or Batch(j.fact.time_us, preshuffled=False)
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
        deep_enough(j, batch, care)


def deep_enough(j: Judge, batch: Batch, care: CardProcedures) -> None:
    """The cover card stood so many cards in from the top, and from the bottom where that is said.

    A cut that was told before the table's game is judged when a round begins.
    """
    above, batch.above = batch.above, None
    if above is None:
        return
    if above < care.cut_cards_min:
        j.find(
            "cut_too_shallow",
            care.cut,
            f"The cover card went in {above} cards from the top; "
            f"at least {care.cut_cards_min} are to lie above it",
            expected=str(care.cut_cards_min),
            recorded=str(above),
        )
    elif care.cut_cards_below is not None:
        _far_enough(j, care, care.deck_cards - above, care.cut_cards_below)


def _far_enough(j: Judge, care: CardProcedures, below: int | None, least: int) -> None:
    """The cover card stood so many cards in from the bottom."""
    if below is not None and below < least:
        j.find(
            "cut_too_shallow",
            care.cut,
            f"The cover card went in {below} cards from the bottom; "
            f"at least {least} are to lie below it",
            expected=str(least),
            recorded=str(below),
        )


def _recut(j: Judge, body: RecutDirected, _: object) -> None:
    """A floorperson has the cards cut again."""
    batch = j.state.batches.get(body.batch)
    if batch:
        batch.cut, batch.recut = False, True


def cut_in_time(j: Judge, batch: Batch, care: CardProcedures) -> None:
    """A round is dealt from cards cut where the section has them cut, and as often as directed."""
    if batch.cut:
        return
    if batch.recut and care.recut:
        j.find(
            "step_missing",
            care.recut,
            "The round was dealt from cards not cut again as was directed",
            expected="cards_cut",
        )
    elif _is_cut(batch, care):
        j.find(
            "step_missing",
            care.cut_due,
            "The round was dealt from cards not cut after their shuffle",
            expected="cards_cut",
        )


def _is_cut(batch: Batch, care: CardProcedures) -> bool:
    """Whether cards are cut after the way they were shuffled."""
    if batch.shuffled == "preshuffled":
        return care.preshuffled_cut
    return batch.shuffled == "manual" or (care.shoe is not None and batch.shuffled == "automated")


CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    CardsCut: _cut,
    RecutDirected: _recut,
}
