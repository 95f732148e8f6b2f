"""The table at one moment of a round, as frozen values for every game."""

from msgspec import Struct


class SeenCard(Struct, frozen=True):
    """A card on the table. card: its face by the whole record; `??` if unknown."""

    card: str
    up: bool  # whether it lay face up at this moment


class HeldCards(Struct, frozen=True, kw_only=True):
    """The cards of one holder, in dealing order, and what happened to them."""

    to: str
    position: int | None
    hand: int
    cards: tuple[SeenCard, ...]
    set_as: dict[str, tuple[str, ...]]  # hands the holder arranged, by name
    gone: bool  # in the discard rack


class Stake(Struct, frozen=True, kw_only=True):
    """One wager of one position so far, cents."""

    wager: str
    hand: int
    placed: int  # less what was taken back
    on_layout: int  # the chips there now
    paid: int
    collected: int
    returned: int
    state: str | None  # "on" or "off", if it was marked so


class SeatMoment(Struct, frozen=True, kw_only=True):
    """One position: its wagers, decisions, fees, and chips put into a pot."""

    position: int
    stakes: tuple[Stake, ...]
    decisions: tuple[str, ...]
    fees: int  # cents
    in_pot: int  # cents added by decisions
    awarded: int  # cents of pots
    stack: int | None = None  # cents counted before the deal, if they were counted
    all_in: bool = False  # recorded so, or called for less without a stack on record


class Thrown(Struct, frozen=True, kw_only=True):
    """One throw. number counts valid throws from 1; a cancelled one has none."""

    number: int | None
    dice: tuple[int, ...]  # in Three Dice Football two green dice, then the red one
    purpose: str
    cancelled: bool


class Moment(Struct, frozen=True, kw_only=True):
    """The table after one fact. Money in cents; times in microseconds by the device's clock."""

    number: int  # from 1, in the order of the round
    source: str
    id: str
    time_us: int
    fact: str  # its name, `wager_placed`
    position: int | None  # the fact's position, if it names one
    says: str
    phase: str
    seats: tuple[SeatMoment, ...]
    held: tuple[HeldCards, ...]
    throws: tuple[Thrown, ...]
    markers: dict[str, int | str]
    burned: int  # cards
    paid: int
    collected: int
    returned: int
    rake: int
    irregularities: tuple[str, ...]
    void: str | None  # the reason, if the round was declared void
    closed: bool
    button: int | None = None  # the position of the button, if the game has one
    shooter: int | None = None  # the position that took the dice or threw them
    bonus_numbers: tuple[int, ...] = ()  # totals that carry a bonus marker
    pots_taken: dict[int, int] = {}  # cents raked off and awarded, by pot; 0 is the main pot
