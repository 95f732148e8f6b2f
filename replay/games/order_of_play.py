"""The order of play of a game, learned from its own `play`: what must come next, again and again.

A few rounds are dealt by chance; each is cut after every fact and ruled on, and what the ruling
says must come next is written down. Of all rounds the one with the most different steps is kept.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import filed
from ledger.facts import IrregularityCalled
from ledger.rules.engine.order import in_order
from ledger.simulate import Plan, TablePlan, deal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.adjudication.submissions import FiledSubmission
    from ledger.record.wire import Fact
    from ledger.rules.engine.game import Game
    from ledger.rules.engine.ruling import Awaiting
    from ledger.values import RoundId

MINUTES = 30
"""How long the table is open on which rounds are dealt: about forty rounds."""

_SETTLED = ("wager_paid", "wager_collected", "wager_returned")
_ENDS = ("round_completed", "round_voided")


class _Key(NamedTuple):
    """What makes two steps the same one."""

    step: str
    who: str
    wager: str | None
    section: str


class StepCard(Struct, frozen=True):
    """One step of play: what happens, to whom, and by which sections."""

    step: str  # the fact that shows it; `settled` for a wager paid, collected or returned
    who: str
    wager: str | None
    sections: list[str]  # more than one where they depend on the cards or dice


def order_of_play(game: Game) -> list[StepCard]:
    """The steps of the game, each where it first comes. Empty where the game is not dealt here."""
    table = TablePlan(table="T-1", game=game.id, seats=2)
    try:
        facts, _ = deal(Plan(tables=(table,), minutes=MINUTES))
    except ValueError:
        return []
    rounds: dict[RoundId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.round:
            rounds[fact.round].append(fact)
    irregular = {fact.round for fact in facts if isinstance(fact.body, IrregularityCalled)}
    submissions = filed(facts)
    orders = [
        _order(round_, in_order(its), submissions)
        for round_, its in rounds.items()
        if round_ not in irregular
    ]
    sections: dict[_Key, set[str]] = defaultdict(set)
    for order in orders:
        for key, cited in order.items():
            sections[key] |= cited
    longest = max(orders, key=len)
    return [StepCard(*key[:3], sorted(sections[key])) for key in longest]


def _order(
    round_: RoundId, facts: Sequence[Fact], submissions: Sequence[FiledSubmission]
) -> dict[_Key, set[str]]:
    """What must come next after each prefix, in the order it first must."""
    steps: dict[_Key, set[str]] = {}
    for count in range(1, len(facts)):
        ruling = rule(RoundRecord(round_, facts[:count]), submissions)
        if ruling.next and ruling.next.section:
            steps.setdefault(_key(ruling.next), set()).add(ruling.next.section)
    return steps


def _key(step: Awaiting) -> _Key:
    """Settling a wager is one step, and so is the end, by whichever section they come about."""
    settled = step.step in _SETTLED
    player = settled or step.step == "wager_placed" or step.who.startswith("position")
    return _Key(
        "settled" if settled else step.step,
        "player" if player else step.who,
        step.wager,
        "" if settled or step.step in _ENDS else step.section or "",
    )
