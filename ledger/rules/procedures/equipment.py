"""What a table's tape has told of its equipment so far, and a fact being judged against it."""

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
"""The rules in force for a game's id and a gaming day; None for a game not known."""


class CardBatch(Struct):
    """Cards at the table: when they came, and what was done to them."""

    received_us: int
    preshuffled: bool
    done: set[str] = field(default_factory=set)  # "inspected", "verified", "spread", "washed"
    opened: bool = False  # its opening was judged
    shuffled: str | None = None  # how, since it was last used
    dealt: bool = False  # from, at all
    cards: int = 0  # as it came
    decks: int = 0
    taken_out: int = 0  # cards of ranks that the game's decks do not hold
    cut: bool = False  # since it was last shuffled
    recut: bool = False  # directed, and not done yet
    above: int | None = None  # cards above the cover card of that cut, not judged yet
    counted: int | None = None  # cards that a shuffler found in it
    short: bool = False  # short or over: it is to leave the table, unless it was misdealt
    misdealt: bool = False
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


class MeterEvent(Struct):
    """Something told of a meter: it shows so much, so much of it was paid, or it is reset to it."""

    kind: str  # "told", "paid", "reset"
    amount: int  # cents
    source: str
    id: str


class MeterState(Struct):
    """A progressive meter, as it was told of last, and what wagers made of it since."""

    amount: int | None = None  # cents; None: not told yet
    low: str = "0"  # cents that wagers since then surely added, exactly: "501/10"
    high: str = "0"  # that they may have added
    unrated: bool = False  # a wager came whose rate is not filed
    stakes: dict[str, int] = field(default_factory=dict)  # of the round, by position
    events: list[MeterEvent] = field(
        default_factory=list
    )  # of the round, looked at when it is over
    reset_due: bool = False

    def add(self, low: Fraction, high: Fraction) -> None:
        """Cents that it went up by at least, and at most."""
        self.low, self.high = str(Fraction(self.low) + low), str(Fraction(self.high) + high)


class Turn(Struct):
    """A round's place in what goes round the table: the button, the starting place, the dice."""

    at: int | None = None  # where it was, or who threw; None: not told
    told: FactRef | None = None  # by which fact
    first: bool = False  # of the table since it opened
    drawn: int | None = None  # the player a card was drawn for
    seats: list[int] = field(default_factory=list)  # taken as it began
    stacks: list[int] = field(default_factory=list)  # positions whose stacks were counted
    offers: list[int] = field(default_factory=list)  # of the dice, in order
    throws: dict[str, list[int]] = field(default_factory=dict)  # of three dice, by fact
    over: bool = False
    void: bool = False

    @property
    def playing(self) -> list[int]:
        """Who plays the round: by stacks where they were counted."""
        return self.stacks or self.seats


class Equipment(Struct):
    """What a table's tape has told of its equipment so far."""

    game: str | None = None
    gaming_day: str | None = None
    dealt_from: str | None = None
    batch: str | None = None  # of the round in progress, or the last
    rounds: int = 0  # since the table opened
    batches: dict[str, CardBatch] = field(default_factory=dict)
    dice: dict[str, DiceSet] = field(default_factory=dict)
    rounds_uncounted: int = 0
    counted: bool = False  # the stub, in the round in progress, or the cards by the shuffler
    uncovered: dict[str, FactRef] = field(default_factory=dict)  # devices out of order
    reshuffle_due: FactRef | None = None
    reader_failed: bool = False  # a card reader, not repaired or replaced since
    submission_asked: bool = False
    submission_checked: str | None = None  # the gaming day whose submission was looked at
    staff: dict[str, str] | None = None  # who stands at the table, and as what; None: not told
    cameras: dict[str, list[str]] | None = None  # stationary ones, and what each covers
    short: list[str] = field(default_factory=list)  # of people and cameras, as it was told
    meters: dict[str, MeterState] = field(default_factory=dict)  # progressive meters by name
    dealing: bool = False  # a round of a game with meters is in progress
    seats: list[int] | None = None  # positions taken; None: not told
    commences: bool = False  # the table opened, and no round was dealt since
    turns: dict[str, Turn] = field(default_factory=dict)  # of the last rounds, by day and number


class Judge(Struct):
    """One fact being judged."""

    state: Equipment
    fact: Fact
    rules: InForce | None  # None: the table's game is not on record yet, so nothing is found
    found: list[Finding]

    def find(self, code: str, paragraph: str, says: str, **values: Any) -> None:  # noqa: ANN401 - a finding's own fields
        """Note a finding of a paragraph; its fact is this one, unless others are named."""
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
