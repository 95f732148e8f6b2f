"""The order of play of a game, derived from its own `play`.

Some random rounds are dealt. Each is cut after every fact and ruled on, and the step that the
ruling expects next is noted. The round with the most different steps is used.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import filed
from ledger.facts import DecisionMade, IrregularityCalled
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
"""The opening time of the table on which rounds are dealt: about forty rounds."""

DECISIONS_MINUTES, DECISIONS_SEATS = 240, 5
"""The table on which decisions are looked for: rare ones come in hundreds of rounds."""

_SETTLED = ("wager_paid", "wager_collected", "wager_returned")
_ENDS = ("round_completed", "round_voided")


class _Key(NamedTuple):
    """The identity of a step."""

    step: str
    who: str
    wager: str | None
    section: str


class StepCard(Struct, frozen=True):
    """One step of play: what happens, to whom, by which sections."""

    step: str  # the fact that shows it; `settled` for a wager paid, collected or returned
    who: str
    wager: str | None
    sections: list[str]  # several if they depend on the cards or dice


def order_of_play(game: Game) -> list[StepCard]:
    """The steps of the game, by first occurrence. Empty if the game cannot be simulated."""
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


def decisions(game: Game) -> list[str]:
    """What players decide in simulated rounds, as `decision_made` names it, in alphabetical order.

    Empty if the game cannot be simulated.
    """
    seats = min(game.positions, DECISIONS_SEATS)
    table = TablePlan(table="T-1", game=game.id, seats=seats)
    try:
        facts, _ = deal(Plan(tables=(table,), minutes=DECISIONS_MINUTES))
    except ValueError:
        return []
    return sorted({f.body.decision for f in facts if isinstance(f.body, DecisionMade)})


def _order(
    round_: RoundId, facts: Sequence[Fact], submissions: Sequence[FiledSubmission]
) -> dict[_Key, set[str]]:
    """The expected steps after each prefix, by first occurrence."""
    steps: dict[_Key, set[str]] = {}
    for count in range(1, len(facts)):
        ruling = rule(RoundRecord(round_, facts[:count]), submissions)
        if ruling.next and ruling.next.section:
            steps.setdefault(_key(ruling.next), set()).add(ruling.next.section)
    return steps


def _key(step: Awaiting) -> _Key:
    """The identity of a step; settling is one step under any section, and so is the end."""
    settled = step.step in _SETTLED
    player = settled or step.step == "wager_placed" or step.who.startswith("position")
    return _Key(
        "settled" if settled else step.step,
        "player" if player else step.who,
        step.wager,
        "" if settled or step.step in _ENDS else step.section or "",
    )
