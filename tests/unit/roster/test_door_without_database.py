"""A door whose database is away keeps the roster that it knows: nothing is appended meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from ledger.errors import Unavailable
from replay.roster.door import KNOWN_S, Door
from tests.scenes.signed_floor import fact_from
from tests.unit.roster.test_door import DEALT, OWN, SHOE

if TYPE_CHECKING:
    from infra.postgres.tape import PostgresTape


class AwayTape:
    """A record without facts, that may be away."""

    away = False
    reads = 0

    def of_types(self, *_: object) -> tuple[list[object], int]:
        self.reads += 1
        if self.away:
            raise Unavailable("No answer", where="database", hint="Wait.")
        return [], 0


def test_a_known_roster_outlasts_the_database_and_an_unknown_one_is_asked_for() -> None:
    tape, seconds = AwayTape(), [0.0]
    door = Door(cast("PostgresTape", tape), clock=lambda: seconds[0])
    fact = fact_from(SHOE, DEALT, OWN)
    assert not door.is_quick([fact])
    assert door.judged([fact], None) == [fact]
    assert door.is_quick([fact])
    tape.away, seconds[0] = True, KNOWN_S
    assert door.judged([fact], None) == [fact]
    with pytest.raises(Unavailable):
        door.judged([fact_from("/elsewhere/CC-01/shoe", DEALT, OWN)], None)
    assert tape.reads == 3
