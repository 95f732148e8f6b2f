"""A game: printed tables, one plain `play`, and the choices that the text leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from ledger.facts import RulesSubmissionFiled
    from ledger.rules.engine.odds import Paytable

NotModelled = Literal[
    "on camera, not in the feed", "defined elsewhere", "equipment", "printed only in part"
]
"""Why a paragraph has no line of code. A paragraph that moves money may only be `printed only in
part`: its wager is, though its chapter is printed."""


class InPart(NamedTuple):
    """A wager printed in part: the documents lack what is needed to settle it."""

    wager: str  # its printed name
    reason: NotModelled = "printed only in part"


class Edition(NamedTuple):
    """A text in force from one day until another; `None` for a day that is not known."""

    chapter: str  # "592"; a section is cited as chapter + "." + paragraph
    status: Literal["temporary", "proposed", "codified"]
    effective_from: str | None  # "YYYY-MM-DD"
    effective_until: str | None
    source: str  # the publication


class Wager(NamedTuple):
    """A wager the chapter authorises."""

    id: str
    name: str  # as printed
    section: str
    optional: bool = False  # in play only if the Rules Submission offers it


class Reading(NamedTuple):
    """A paragraph with more than one possible reading. The first value is the default."""

    name: str
    values: tuple[str | bool, ...]
    section: str
    says: str  # what is unclear, and what each value does

    @property
    def default(self) -> str | bool:
        """The value in force if no Rules Submission names another."""
        return self.values[0]


class Option(NamedTuple):
    """A choice that a section leaves to the certificate holder. The first value is the default."""

    name: str
    values: tuple[str | int | bool, ...]
    section: str
    says: str  # what each value does

    @property
    def default(self) -> str | int | bool:
        """The value in force if no Rules Submission names another."""
        return self.values[0]


class PlayerModel(NamedTuple):
    """How a simulated floor plays a game: by chance, without strategy. No ruling uses it.

    `decision_weights` gives the weights of the decisions open to a player, from his cards. Without
    it every decision is equally likely. For a decision he may leave out, the weight is per mille.
    """

    always: tuple[str, ...] = ()  # wagers that every player makes
    sometimes: Mapping[str, int] = {}  # wagers that some players make, per mille of the rounds
    otherwise: str | None = None  # for a player without an opening wager
    coupon: str | None = None  # the wager on which coupons are played
    chips: Mapping[str, int] = {}  # unit of a wager in cents, if $5 gives no whole dollars
    closes: bool = True  # the opening wagers are closed by a fact, so chips may be late
    hole: int = 0  # cards of a player's first deal; a wrong number voids the round
    stays: str | None = None  # a late wager of the players who are still in the round
    decision_weights: Callable[[Sequence[str], Sequence[str]], Mapping[str, int]] | None = None


class Irregularity(NamedTuple):
    """The consequence of an irregularity on record."""

    section: str
    void: bool  # True: the round is void; False: play goes on as the section says
    says: str
    once: bool = False  # play goes on after one such card; a second one voids the round
    only: str | None = None  # the only way of dealing it applies to
    in_play: bool = False  # it voids only before a certain step, so `play` asks for it
    by_dealing: Mapping[str, str] = {}  # its sections for other ways of dealing

    def holds(self, dealt_from: str | None) -> bool:
        """Whether it applies to this way of dealing; None, not on record, may be any."""
        return self.only is None or dealt_from in (None, self.only)

    def cited(self, dealt_from: str | None) -> str:
        """Its section under this way of dealing."""
        return self.by_dealing.get(dealt_from or "", self.section)


class Dealing(NamedTuple):
    """The paragraphs of one way of dealing, and a player's cards after each pass."""

    announced: str
    dealt: str
    stub: str  # the consequence of a wrong stub
    passes: tuple[int, ...]


class CardProcedures(NamedTuple):
    """A chapter's paragraphs on the handling of cards, and its figures."""

    inspected: str
    spread: str
    washed: str
    shuffled: str
    count_wrong: str | None  # a counting shuffler found a wrong count: the deck leaves the table
    cut: str
    cut_due: str  # a cut after a shuffle by hand; for a shoe, after every shuffle
    cut_cards_min: int
    alternated: str | None
    changed: str
    change_hours: Mapping[str, int]  # by way of dealing
    stub: Mapping[str, str]  # by way of dealing; empty if it is not counted
    stub_rounds: int
    device_covered: str
    deck_cards: int
    preshuffled_cut: bool = True  # preshuffled cards are cut like those shuffled by hand
    stub_whole: bool = False  # the count is of all cards, not only of the stub
    shoe: str | None = None  # shuffled each shoe, not each round: its cover card ends the shoe
    recut: str | None = None  # a floorperson may have the cards cut again
    cut_cards_below: int | None = None  # depth of the cut from the bottom, if the section gives one
    cover_cards_below: int | None = None  # depth of the cover card that the dealer then inserts
    taken_out: str | None = None  # ranks removed from the deck


class DiceProcedures(NamedTuple):
    """A chapter's paragraphs on the handling of dice, and its figures."""

    inspected: str
    changed: str | None  # None: the documents print no time
    change_hours: int | None
    dice: int


class Rotation(NamedTuple):
    """What moves round the table from round to round, and the paragraphs on it."""

    what: Literal["button", "start", "dice"]
    begins: tuple[str, ...]  # where it starts at the opening; a button also by a card drawn
    moves: str
    keeps: Callable[[Sequence[Sequence[int]], Mapping[str, str | bool]], bool | None] | None = None
    """Whether the thrower of these keeps the dice, under readings; None if the game did not end.
    """


class PrintedMeter(NamedTuple):
    """A progressive meter as a chapter prints it."""

    wager: str
    section: str  # the paragraph of the rate and the amounts
    least: int  # cents: the minimum of the initial and reset amounts
    cage_from: Fraction  # from this share of the meter on, the cage pays and not the table
    paid: str


class Game(NamedTuple):
    """Everything the ledger knows of one game."""

    id: str
    title: str
    editions: tuple[Edition, ...]
    play: Callable[[Any], None]  # takes a `Table` of `ledger.rules.engine.table`
    positions: int  # the most betting positions
    deck: frozenset[str]  # every card that may be dealt; empty for dice
    wagers: tuple[Wager, ...]
    paytables: tuple[Paytable, ...]
    readings: tuple[Reading, ...]
    irregularities: Mapping[str, Irregularity]
    procedures: CardProcedures | DiceProcedures | None  # None: the documents print none
    not_modelled: Mapping[str, NotModelled | InPart]
    player_model: PlayerModel
    options: tuple[Option, ...] = ()
    fees: tuple[str, ...] = ()  # payments to the house; never returned like a wager
    decks: int = 1  # decks shuffled together, if no option `decks` says otherwise
    pots: bool = False  # players play against one another; the winners share the pots
    limits: Mapping[str, int] = {}  # limits of a Rules Submission, with each one's minimum, cents
    rotation: Rotation | None = None  # None: nothing moves round, or it is not printed
    shaker: DiceProcedures | None = None  # dice that only decide where a deal begins
    meters: tuple[PrintedMeter, ...] = ()  # progressive meters, each fed by a wager
    base: str = ""  # not printed in the documents; the standard game is assumed for it

    @property
    def dice(self) -> bool:
        """Whether the game is played with dice."""
        return not self.deck

    def wager(self, wager_id: str) -> Wager | None:
        """The wager of this id, or None if the chapter has none."""
        return next((wager for wager in self.wagers if wager.id == wager_id), None)


def cited(chapter: str, paragraph: str) -> str:
    """A paragraph in full: `11(b)` is `592.11(b)`. One of another chapter stays as it is."""
    return paragraph if "." in paragraph else f"{chapter}.{paragraph}"


def broken(exact: Fraction, unit: int) -> int:
    """Cents paid for exact winnings. Amounts below the breakage unit stay with the house."""
    return int(exact // unit) * unit


@dataclass(frozen=True)
class InForce:
    """The rules in force for one round: an edition, and the choices of the Rules Submission."""

    game: Game
    edition: Edition
    outside: bool  # no edition covers the gaming day; the nearest one is used
    filed: bool  # a Rules Submission was in force
    offers: frozenset[str]
    readings: Mapping[str, str | bool]
    paytables: Mapping[str, str | Mapping[str, str]]  # a letter, or the rows with their odds
    options: Mapping[str, str | int | bool]
    limits: Mapping[str, int | None]  # cents
    progressives: Mapping[str, Any]
    breakage_unit: int  # cents
    chosen: RulesSubmissionFiled | None = None  # the submission in force

    @cached_property
    def known(self) -> frozenset[str]:
        """The wagers that the game has."""
        return frozenset(wager.id for wager in self.game.wagers)

    @cached_property
    def withheld(self) -> frozenset[str]:
        """Optional wagers that the Rules Submission does not offer."""
        return frozenset(wager.id for wager in self.game.wagers if wager.optional) - self.offers

    @property
    def decks(self) -> int:
        """How many decks are shuffled together."""
        return int(self.options.get("decks", self.game.decks))

    def paytable(self, key: str, *printed: Paytable) -> Paytable:
        """The paytable in force: the printed one of the chosen letter, or the holder's own odds."""
        chosen = self.paytables.get(key)
        if isinstance(chosen, str):
            return next((table for table in printed if table.letter == chosen), printed[0])
        return printed[0] if chosen is None else printed[0].paying(chosen)

    def section(self, paragraph: str) -> str:
        """A paragraph of the chapter in full, such as `592.11(b)`."""
        return cited(self.edition.chapter, paragraph)

    def broken(self, exact: Fraction) -> int:
        """Cents paid for exact winnings, by the breakage in force."""
        return broken(exact, self.breakage_unit)
