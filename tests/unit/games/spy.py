"""What a game asks of a record, step by step: also what only a source that makes facts looks at."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ledger.adjudication import adjudicate
from ledger.adjudication.submissions import in_force
from ledger.rules.engine.record import RecordedSource
from ledger.rules.engine.steps import Stop, Void
from ledger.rules.engine.table import Table
from tests.unit.games.rounds import facts_of

if TYPE_CHECKING:
    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Step


class Spy(RecordedSource):
    """A record that notes what it is asked for."""

    steps: list[Step]

    def take(self, step: Step) -> Fact | None:
        """As any record, and the step is kept."""
        self.steps.append(step)
        return super().take(step)


def asked(script: str, game_id: str) -> list[Step]:
    """The steps that play asks a record for, in order."""
    game = adjudicate.games()[game_id]
    day = "2015-03-01"
    spy = Spy(facts_of(script, game_id, day), wagers=frozenset(wager.id for wager in game.wagers))
    spy.steps = []
    with contextlib.suppress(Stop, Void):
        game.play(Table(spy, in_force(game, "hollywood", "T-1", day, []), "manual_shoe"))
    return spy.steps
