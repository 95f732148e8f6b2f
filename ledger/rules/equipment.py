"""What a table's tape has told of its equipment so far, and a fact being judged against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from ledger.rules.game import InForce
from ledger.rules.ruling import FactRef, Finding

if TYPE_CHECKING:
    from ledger.wire import Fact

HOUR_US = 3_600_000_000

RulesOf = Callable[[str, str], InForce | None]
"""The rules in force for a game's id and a gaming day; None for a game not known."""


class Batch(Struct):
    """Cards at the table: when they came, and what was done to them."""

    received_us: int
    preshuffled: bool
    done: set[str] = field(default_factory=set)  # "inspected", "verified", "spread", "washed"
    opened: bool = False  # its opening was judged
    shuffled: str | None = None  # how, since it was last used
    cut: bool = False  # since it was last shuffled
    above: int | None = None  # cards above the cover card of that cut, not judged yet
    counted: int | None = None  # cards that a shuffler found in it
    in_shoe: bool = False  # dealt from since its shuffle, and its cover card not reached
    cover_reached: bool = False
    changes_due: int = 0  # changes found overdue so far


class DiceSet(Struct):
    """A set of dice at the table."""

    received_us: int
    inspected: bool = False
    alternative: int = 0  # by which it was inspected
    judged: bool = False  # its inspection was judged
    flaw: str | None = None  # the paragraph its inspection, or its seal, falls short of
    reported: bool = False  # a discrepancy of it was
    stale: bool = False  # the table closed since it came
    changes_due: int = 0


class Equipment(Struct):
    """What a table's tape has told of its equipment so far."""

    game: str | None = None
    gaming_day: str | None = None
    dealt_from: str | None = None
    batch: str | None = None  # of the round in progress, or the last
    rounds: int = 0  # since the table opened
    batches: dict[str, Batch] = field(default_factory=dict)
    dice: dict[str, DiceSet] = field(default_factory=dict)
    rounds_uncounted: int = 0
    counted: bool = False  # the stub, in the round in progress, or the cards by the shuffler
    uncovered: dict[str, FactRef] = field(default_factory=dict)  # devices out of order
    reshuffle_due: FactRef | None = None
    submission_asked: bool = False
    submission_checked: str | None = None  # the gaming day whose submission was looked at
    staff: dict[str, str] | None = None  # who stands at the table, and as what; None: not told
    cameras: dict[str, list[str]] | None = None  # stationary ones, and what each covers
    short: list[str] = field(default_factory=list)  # of people and cameras, as it was told


class Judge(Struct):
    """One fact being judged."""

    state: Equipment
    fact: Fact
    rules: InForce | None  # None: the table's game is not on record yet, so nothing is found
    found: list[Finding]

    def find(self, code: str, paragraph: str, says: str, **values: Any) -> None:  # noqa: ANN401 - a finding's own fields
        """Note a finding of a paragraph."""
        if self.rules is None:
            return
        section = self.rules.section(paragraph)
        self.found.append(
            Finding(
                code=code,
                section=section,
                says=f"{says} ({section}).",
                facts=[FactRef(self.fact.source, self.fact.id)],
                **values,
            )
        )
