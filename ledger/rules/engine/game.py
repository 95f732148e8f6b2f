"""What a game is: printed tables, one plain `play`, and where the text leaves a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from ledger.facts import RulesSubmissionFiled
    from ledger.rules.engine.odds import Paytable

NotModelled = Literal[
    "on camera, not in the feed", "defined elsewhere", "equipment", "printed only in part"
]
"""Why a paragraph has no line of code. Of one that moves money only the last may be said: its wager
is printed only in part, in a chapter that is."""


class InPart(NamedTuple):
    """A wager that the documents print a part of, and not what it takes to settle it."""

    wager: str  # by the name it is printed under
    reason: NotModelled = "printed only in part"


class Edition(NamedTuple):
    """A text in force from one day until another; `None` where the day is not known."""

    chapter: str  # "592"; a section is cited as chapter + "." + paragraph
    status: Literal["temporary", "proposed", "codified"]
    effective_from: str | None  # "YYYY-MM-DD"
    effective_until: str | None
    source: str  # where it was published


class Wager(NamedTuple):
    """A wager the chapter authorises."""

    id: str
    name: str  # as printed
    section: str
    optional: bool = False  # only if the Rules Submission offers it


class Reading(NamedTuple):
    """A paragraph that can be read in more ways than one; the first value is the default."""

    name: str
    values: tuple[str | bool, ...]
    section: str
    says: str  # what is unclear, and what each value does

    @property
    def default(self) -> str | bool:
        """The value in force where no Rules Submission names another."""
        return self.values[0]


class Option(NamedTuple):
    """What a section leaves to the certificate holder; the first value holds where it is silent."""

    name: str
    values: tuple[str | int | bool, ...]
    section: str
    says: str  # what each value does

    @property
    def default(self) -> str | int | bool:
        """The value in force where no Rules Submission names another."""
        return self.values[0]


class PlayerModel(NamedTuple):
    """How a simulated floor plays a game: by chance, and no strategy; no ruling looks at it.

    `decision_weights`: of what a player may decide, from his cards; where there is none,
    every choice is as likely. Of what he need not decide at all they are per mille.
    """

    always: tuple[str, ...] = ()  # wagers everybody makes
    sometimes: Mapping[str, int] = {}  # wagers some like, per mille of the rounds
    otherwise: str | None = None  # for who made none of those the round opens with
    coupon: str | None = None  # the wager that coupons are played on
    chips: Mapping[str, int] = {}  # cents a wager comes in, where odds give no whole dollars of $5
    closes: bool = True  # what opens the round is closed by it, so that chips may come late
    hole: int = 0  # cards of a player's first deal, where one too many or few voids the round
    stays: str | None = None  # a wager made late in the round, by who is still in it
    decision_weights: Callable[[Sequence[str], Sequence[str]], Mapping[str, int]] | None = None


class Irregularity(NamedTuple):
    """What follows from an irregularity on record."""

    section: str
    void: bool  # the whole round; otherwise play goes on as the section says
    says: str
    once: bool = False  # play goes on after one card of it; with another the round is void
    only: str | None = None  # the way of dealing it speaks of, where it speaks of one
    in_play: bool = False  # it voids up to a step of play alone, so `play` asks about it
    by_dealing: Mapping[str, str] = {}  # its section for other ways of dealing

    def holds(self, dealt_from: str | None) -> bool:
        """Whether it speaks of this way of dealing; one not on record may be any."""
        return self.only is None or dealt_from in (None, self.only)

    def cited(self, dealt_from: str | None) -> str:
        """Its section for this way of dealing."""
        return self.by_dealing.get(dealt_from or "", self.section)


class Dealing(NamedTuple):
    """Where one way of dealing is printed, and how many cards a player has after each pass."""

    announced: str
    dealt: str
    stub: str  # what follows from a stub that does not come out
    passes: tuple[int, ...]


class CardProcedures(NamedTuple):
    """Where a chapter prints the care of its cards, and the figures it gives."""

    inspected: str
    spread: str
    washed: str
    shuffled: str
    count_wrong: str | None  # a counting shuffler's wrong count: the deck leaves the table
    cut: str
    cut_due: str  # a cut after a shuffle by hand; after every one for a shoe
    cut_cards_min: int
    alternated: str | None
    changed: str
    change_hours: Mapping[str, int]  # by way of dealing
    stub: Mapping[str, str]  # by way of dealing; empty where it is not counted
    stub_rounds: int
    device_covered: str
    deck_cards: int
    preshuffled_cut: bool = True  # cards that came preshuffled are cut as those shuffled by hand
    stub_whole: bool = False  # the count is of all cards, not of the stub
    shoe: str | None = None  # shuffled each shoe, not each round: where its cover card ends it
    recut: str | None = None  # a floorperson may have the cards cut again
    cut_cards_below: int | None = None  # as far in from the bottom, where the section says so
    cover_cards_below: int | None = None  # then the dealer puts the cover card in, so far in
    taken_out: str | None = None  # cards of ranks that the game's decks do not hold


class DiceProcedures(NamedTuple):
    """Where a chapter prints the care of its dice, and the figures it gives."""

    inspected: str
    changed: str | None  # None: the documents print no time
    change_hours: int | None
    dice: int


class Rotation(NamedTuple):
    """What goes round the table from round to round, and where a chapter prints it."""

    what: Literal["button", "start", "dice"]
    begins: tuple[str, ...]  # where it begins as play does; of a button also by a card drawn
    moves: str
    keeps: Callable[[Sequence[Sequence[int]], Mapping[str, str | bool]], bool | None] | None = None
    """Whether who threw these keeps the dice, under readings; None where the game did not end."""


class PrintedMeter(NamedTuple):
    """What a chapter prints of a progressive meter."""

    wager: str
    section: str  # the rate, and the amounts
    least: int  # cents: the initial and reset amounts at least
    cage_from: Fraction  # a payout of so much of the meter or more is not the table's to pay
    paid: str


class Game(NamedTuple):
    """Everything the ledger knows of one game."""

    id: str
    title: str
    editions: tuple[Edition, ...]
    play: Callable[[Any], None]  # of a `ledger.rules.engine.table.Table`, which stands on this
    positions: int  # betting positions at most
    deck: frozenset[str]  # every card that may be dealt; empty for dice
    wagers: tuple[Wager, ...]
    paytables: tuple[Paytable, ...]
    readings: tuple[Reading, ...]
    irregularities: Mapping[str, Irregularity]
    procedures: CardProcedures | DiceProcedures | None  # None: the documents print none
    not_modelled: Mapping[str, NotModelled | InPart]
    player_model: PlayerModel
    options: tuple[Option, ...] = ()
    fees: tuple[str, ...] = ()  # what players pay the house for; never returned as a wager is
    decks: int = 1  # shuffled together, where no option `decks` says otherwise
    pots: bool = False  # players play against one another: what they put in is the winners'
    limits: Mapping[str, int] = {}  # that a Rules Submission may set: the least of each, cents
    rotation: Rotation | None = None  # None: nothing goes round, or the documents do not print it
    shaker: DiceProcedures | None = None  # of dice that only say where a deal begins
    meters: tuple[PrintedMeter, ...] = ()  # progressive, each fed by a wager
    base: str = ""  # what the documents do not print, and the standard game is taken for

    @property
    def dice(self) -> bool:
        """Whether it is played with dice."""
        return not self.deck

    def wager(self, wager_id: str) -> Wager | None:
        """The wager of this id, or None where the chapter knows none."""
        return next((wager for wager in self.wagers if wager.id == wager_id), None)


def cited(chapter: str, paragraph: str) -> str:
    """A paragraph as it is cited: `11(b)` is `592.11(b)`; another chapter's names its own."""
    return paragraph if "." in paragraph else f"{chapter}.{paragraph}"


class InForce(NamedTuple):
    """The rules that judge one round: an edition, and what the Rules Submission chose."""

    game: Game
    edition: Edition
    outside: bool  # no edition covers the gaming day; the nearest rules
    filed: bool  # a Rules Submission was in force
    offers: frozenset[str]
    readings: Mapping[str, str | bool]
    paytables: Mapping[str, str | Mapping[str, str]]  # a letter, or the rows with their odds
    options: Mapping[str, str | int | bool]
    limits: Mapping[str, int | None]  # cents
    progressives: Mapping[str, Any]
    breakage_unit: int  # cents
    chosen: RulesSubmissionFiled | None = None  # the submission in force

    @property
    def decks(self) -> int:
        """How many decks are shuffled together."""
        return int(self.options.get("decks", self.game.decks))

    def paytable(self, key: str, *printed: Paytable) -> Paytable:
        """The table chosen of those printed: by its letter, or with odds of the holder's own."""
        chosen = self.paytables.get(key)
        if isinstance(chosen, str):
            return next((table for table in printed if table.letter == chosen), printed[0])
        return printed[0] if chosen is None else printed[0].paying(chosen)

    def section(self, paragraph: str) -> str:
        """A paragraph as it is cited."""
        return cited(self.edition.chapter, paragraph)

    def broken(self, exact: Fraction) -> int:
        """Cents paid for exact winnings: odd cents below the breakage unit stay with the house."""
        return int(exact // self.breakage_unit) * self.breakage_unit
