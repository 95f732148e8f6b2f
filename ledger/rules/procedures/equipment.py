"""A table's equipment as its tape has shown it so far, and a fact being judged against it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from ledger.rules.engine.game import InForce
from ledger.rules.engine.ruling import FactRef, Finding

if TYPE_CHECKING:
    from ledger.record.wire import Fact

HOUR_US = 3_600_000_000

RulesOf = Callable[[str, str], InForce | None]
"""The rules in force for a game's id and a gaming day; None for an unknown game."""


class CardBatch(Struct):
    """Cards at the table: when they came, and what was done to them."""

    received_us: int
    preshuffled: bool
    done: list[str] = field(default_factory=list)  # "inspected", "verified", "spread", "washed"
    opened: bool = False  # whether its opening was judged
    shuffled: str | None = None  # method of the shuffle since it was last used
    dealt: bool = False  # whether it was ever dealt from
    cards: int = 0  # number of cards as it came
    decks: int = 0
    taken_out: int = 0  # cards of ranks that the game's decks do not hold
    cut: bool = False  # whether it was cut since its last shuffle
    recut: bool = False  # whether another cut was ordered and is not done yet
    above: int | None = None  # cards above the cover card of a cut not judged yet
    counted: int | None = None  # number of cards that a shuffler found in it
    short: bool = False  # short or over: it must leave the table, unless it was misdealt
    misdealt: bool = False
    in_shoe: bool = False  # whether it was dealt from since its shuffle, before its cover card
    cover_reached: bool = False
    changes_due: int = 0  # number of changes found overdue so far


class DiceSet(Struct):
    """A set of dice at the table."""

    received_us: int
    inspected: bool = False
    alternative: int = 0  # the alternative it was inspected by
    judged: bool = False  # whether its inspection was judged
    flaw: str | None = None  # the paragraph that its inspection or seal does not meet
    reported: bool = False  # whether a discrepancy of it was reported
    stale: bool = False  # whether the table closed since it came
    changes_due: int = 0


class MeterEvent(Struct):
    """An event of a meter: a reading, a payment from it, or a reset."""

    kind: str  # `told` (read), `paid` or `reset`
    amount: int  # cents
    source: str
    id: str


class MeterState(Struct):
    """A progressive meter: its last reading, and the wagers since."""

    amount: int | None = None  # cents; None: not on record
    low: str = "0"  # cents that later wagers surely added, exactly: "501/10"
    high: str = "0"  # cents that they may have added
    unrated: bool = False  # whether a wager came without a filed rate
    stakes: dict[str, int] = field(default_factory=dict)  # wagers of the round, by position
    events: list[MeterEvent] = field(default_factory=list)  # judged when the round is over
    reset_due: bool = False

    def add(self, low: Fraction, high: Fraction) -> None:
        """Add the least and the most cents that it went up by."""
        self.low, self.high = str(Fraction(self.low) + low), str(Fraction(self.high) + high)


class Turn(Struct):
    """A round's turn: the button, the starting place, or the dice."""

    at: int | None = None  # its place, or who threw; None: not on record
    told: FactRef | None = None  # the fact that shows it
    first: bool = False  # whether it is the first since the table opened
    drawn: int | None = None  # the player a card was drawn for
    seats: list[int] = field(default_factory=list)  # positions taken as it began
    stacks: list[int] = field(default_factory=list)  # positions whose stacks were counted
    offers: list[int] = field(default_factory=list)  # offers of the dice, in order
    throws: dict[str, list[int]] = field(default_factory=dict)  # throws of three dice, by fact
    over: bool = False
    void: bool = False

    @property
    def playing(self) -> list[int]:
        """The positions that play the round: by stacks if they were counted."""
        return self.stacks or self.seats


class Equipment(Struct):
    """A table's equipment as its tape has shown it so far."""

    game: str | None = None
    gaming_day: str | None = None
    dealt_from: str | None = None
    batch: str | None = None  # batch of the round in progress, or of the last one
    rounds: int = 0  # rounds since the table opened
    batches: dict[str, CardBatch] = field(default_factory=dict)
    dice: dict[str, DiceSet] = field(default_factory=dict)
    rounds_uncounted: int = 0
    counted: bool = False  # whether the stub, or all cards by the shuffler, were counted this round
    uncovered: dict[str, FactRef] = field(default_factory=dict)  # devices out of order
    reshuffle_due: FactRef | None = None
    reader_failed: bool = False  # a failed card reader, not repaired or replaced since
    submission_asked: bool = False
    submission_checked: str | None = None  # the gaming day whose submission was checked
    staff: dict[str, str] | None = None  # roles by employee; None: not on record
    cameras: dict[str, list[str]] | None = None  # stationary cameras, and what each covers
    short: list[str] = field(default_factory=list)  # findings about staff and cameras already made
    meters: dict[str, MeterState] = field(default_factory=dict)  # progressive meters by name
    dealing: bool = False  # whether a round of a game with meters is in progress
    seats: list[int] | None = None  # positions taken; None: not on record
    commences: bool = False  # whether the table opened and no round was dealt since
    turns: dict[str, Turn] = field(default_factory=dict)  # of the last rounds, by day and number


class Judge(Struct):
    """One fact being judged."""

    state: Equipment
    fact: Fact
    rules: InForce | None  # None: the table's game is not on record, so nothing is found
    found: list[Finding]

    def find(self, code: str, paragraph: str, says: str, **values: Any) -> None:  # noqa: ANN401 - a finding's own fields
        """Add a finding under a paragraph. Its fact is this one, unless others are named."""
        if self.rules is None:
            return
        section = self.rules.section(paragraph)
        self.found.append(
            Finding(
                code=code,
                section=section,
                says=f"{says} ({section}).",
                **{"facts": [FactRef(self.fact.source, self.fact.id)], **values},
            )
        )
