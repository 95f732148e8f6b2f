"""Coups of baccarat that the tests of the three games bend, and how a ruling of one is checked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ledger import facts as told
from ledger.adjudication import adjudicate
from ledger.adjudication.submissions import FiledSubmission, in_force
from ledger.rules.engine.record import RecordedSource
from ledger.rules.engine.steps import Stop
from ledger.rules.engine.table import Table
from tests.unit.games.rounds import facts_of, lines, ruling, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Step
    from tests.unit.games.rounds import Around


def checker(game: str) -> Callable[..., None]:
    """A script's whole ruling of this game, line by line; `following`: what comes next, instead."""

    def check(
        script: str, expected: str, *, following: bool = False, **around: Unpack[Around]
    ) -> None:
        found = text(ruling(script, game, **around), following=following)
        assert found == lines(expected), "\n".join(found)

    return check


def coup(player: str, banker: str, face: str = "up") -> str:
    """The first four cards one by one, the Player's before the Banker's; then third cards."""
    hands = {"player_hand": player.split(), "banker_hand": banker.split()}
    order = [("player_hand", 0), ("banker_hand", 0), ("player_hand", 1), ("banker_hand", 1)]
    order += [("player_hand", 2), ("banker_hand", 2)]
    up = "up " if face == "up" else ""
    return "\n".join(
        f"deal {hand} {up}{hands[hand][place]}" for hand, place in order if place < len(hands[hand])
    )


class Asked(RecordedSource):
    """A record that keeps what it was asked for."""

    steps: list[Step]

    def take(self, step: Step) -> Fact | None:
        self.steps.append(step)
        return super().take(step)


def asked(game: str, script: str, *, options: dict[str, Any] | None = None) -> list[Step]:
    """Every step that play asks a record for, and what a simulation gets of it."""
    of = adjudicate.games()[game]
    record = Asked(facts_of(script, game, "2015-03-01"))
    record.steps = []
    filing = told.RulesSubmissionFiled(
        game=game,
        effective_from="2010-01-01",
        breakage=told.Breakage(unit=1, mode="down"),
        options=options,
    )
    filed = [FiledSubmission("hollywood", None, 0, filing)] if options else []
    with suppress(Stop):
        of.play(Table(record, in_force(of, "hollywood", "T-1", "2015-03-01", filed)))
    return record.steps
