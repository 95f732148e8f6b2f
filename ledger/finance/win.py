"""The three wins of a table's gaming day as values, with the items of their two gaps.

Money is in cents of the house's currency. A figure that lacks an input is None, never 0.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, structs

from ledger.rules.engine.ruling import FactRef  # noqa: TC001 - msgspec reads it at run time

GapOf = Literal["count", "pay", "bank"]
Grade = Literal["ESTIMATE", "COUNTED", "SEALED"]
"""How sure a win is, the lowest first."""

REPORT = 12
"""The version of the report: raise it when the same facts would give other bytes."""

REPORT_5, REPORT_6, REPORT_7, REPORT_8, REPORT_9, REPORT_10, REPORT_11 = range(5, 12)
"""5 follows corrections of corrections and itemises the bank of poker; 6 names papers that went
wrong. 7 counts each stay of a box at its table. 8 compares an opener with the last closer over days
without play, and names checks issued before, notes without a rate and corrections of nothing. 9
leaves amends at the table that paid them, and names disputes of other tables, what took rake, and
the stake of a cause that no fact moved. It has a cause for rounds that lie over the drop count, and
says where a slip was accepted that was sent elsewhere. 10 counts what the cage accepts at the table
of its slip. 11 names a table that opened for several games or in several pits. 12 names slips of
another amount than was requested, numbers of slips that were used twice, and boxes that were
attached while they hung, or removed and never attached. It names coupons taken against their terms,
and checks and vouchers that a box has at another amount. It compares a cause of the tray with what
other causes leave, and asks no count of a table of poker that opened for a tournament alone. It
says what the rounds of each game say on a day of several, and owes nothing for the rake of poker
beside them. It compares the counts of one opening alone. It compares credentials as they are
compared when people sign. It names money below zero, slips that nobody dispatched, and papers that
nobody signed. Causes at poker are of its bank, those of fills on their way over the change of day
too. It follows no correction that another property made.
"""

CURRENCY = "USD"
"""The house's currency (ISO 4217)."""


class Item(Struct, frozen=True, kw_only=True):
    """A part of a gap. The items of a gap sum to it."""

    gap: GapOf
    table: str | UnsetType = UNSET  # only in a group of tables
    code: str
    amount: int
    round: str | None = None  # "CC-07/2026-11-20/231"
    position: int | None = None
    hand: int | None = None
    wager: str | None = None
    throw: int | None = None
    section: str | None = None
    says: str
    facts: list[FactRef] = []


class Cause(Struct, frozen=True, kw_only=True):
    """An explanation of a gap, or of a part, signed like it. The items are the sum, not these."""

    gap: GapOf | None  # None: it moves one item up and another down
    table: str | UnsetType = UNSET  # only in a group of tables
    code: str
    amount: int
    round: str | None = None
    says: str
    facts: list[FactRef] = []


class AuditException(Struct, frozen=True, kw_only=True):
    """Something about the day's papers that somebody must look at. It has no amount."""

    table: str | UnsetType = UNSET  # only in a group of tables
    code: str
    says: str
    facts: list[FactRef] = []


class BoxContent(Struct, frozen=True, kw_only=True):
    """What the drop boxes held, by their last counts. Coupons are no part of it."""

    cash: int | None
    foreign: int | None  # at the rates counted, each currency down to the cent
    counter_checks: int | None
    vouchers: int | None
    chips: int | None
    total: int | None


class CouponFigures(Struct, frozen=True, kw_only=True):
    """Match Play Coupons. counted: pieces in the boxes; funded: winnings paid for their faces."""

    counted: int | None  # None: a box is not counted
    funded: int


class TournamentFigures(Struct, frozen=True, kw_only=True):
    """Tournaments (601a.9(f)), apart from every other figure. win: entries less prizes."""

    entries: int
    prizes: int
    win: int


class ExpectedWin(Struct, frozen=True, kw_only=True):
    """The win that the paytables give on average. z: (owed - win) / sigma, two decimals.

    z is None if sigma is 0.
    """

    win: int
    sigma: int
    z: str | None


class GameOfDay(Struct, frozen=True, kw_only=True):
    """What the rounds of one game say on a day of several. No count parts the counted win.

    The sum of their moved, less amends, is the day's. owed, pay_gap: None for poker.
    """

    game: str | None  # None: rounds that name no game
    moved: int
    owed: int | None
    pay_gap: int | None
    cage_paid: int
    handle: int
    rake: int  # a part of moved
    expected: ExpectedWin | None


class TableWin(Struct, frozen=True, kw_only=True):
    """One table's gaming day.

    counted: by counts and slips (601a.9(c)); moved: by the chips on record; owed: by the rulings.
    count_gap: counted - moved; pay_gap: moved - owed, without the rake of poker beside other games.
    """

    property: str
    table: str | None  # None: a group of tables
    gaming_day: str
    pit: str | UnsetType | None = UNSET  # only where wins are asked for by pit
    shift: str | UnsetType | None = UNSET  # only where they are asked for by shift
    game: str | None
    currency: str = CURRENCY
    grade: Grade
    version: int = 0  # of the sealed day; 0: not sealed
    opener: int | None
    fills: int
    credits: int
    closer: int | None
    drop: BoxContent
    coupons: CouponFigures
    counted: int | None
    moved: int
    owed: int | None  # None: poker
    cage_paid: int
    handle: int
    count_gap: int | None
    pay_gap: int | None
    bank_variance: int | None  # poker: what its imprest bank has too much: tray and box
    tournaments: TournamentFigures | UnsetType = UNSET  # only where one is on record
    seconds: int | None  # real time from the day's own `open` count to the closer
    items: list[Item]
    causes: list[Cause]
    exceptions: list[AuditException]
    missing: list[str]
    expected: ExpectedWin | None = None
    expected_lacks: list[str] | UnsetType = (
        UNSET  # what has no mean or sigma, if `expected` lacks it
    )
    games: list[GameOfDay] | UnsetType = UNSET  # only where its rounds are of several games
    told: dict[str, int | None]  # figures without corrections, where they differ
    late: list[FactRef] = []
    pending: dict[str, int | None] = {}


SEVERAL = " and "
"""What joins the names of several games, or of several pits, of one table's day."""


def game_name(of: TableWin) -> str | None:
    """The game of a table's day; of several games their names together."""
    return SEVERAL.join(each.game for each in of.games or () if each.game) or of.game


def rake_in(of: TableWin) -> int:
    """The rake of poker in moved. Nothing is owed for it, and no pay gap has it."""
    if of.owed is None:
        return of.moved
    return 0 if of.pay_gap is None else of.moved - of.owed - of.pay_gap


OF_POKER = frozenset(("bank_variance",))
"""Figures that only poker has."""

OF_BANKED = frozenset(("owed", "pay_gap"))
"""Figures that poker lacks."""

_FIGURES = (
    *("opener", "fills", "credits", "closer", "counted", "moved", "owed", "cage_paid"),
    *("handle", "count_gap", "pay_gap", "bank_variance", "seconds"),
)


def figures(of: TableWin) -> dict[str, int | None]:
    """Every figure of a win by name; those of the boxes with `drop.` before them."""
    found: dict[str, int | None] = {name: getattr(of, name) for name in _FIGURES}
    found |= {f"drop.{name}": value for name, value in structs.asdict(of.drop).items()}
    played = of.tournaments or TournamentFigures(entries=0, prizes=0, win=0)
    return found | {f"tournaments.{name}": its for name, its in structs.asdict(played).items()}


def with_coupons(of: TableWin) -> dict[str, int | None]:
    """The figures of a win, and of its coupons with `coupons.` before them."""
    coupons = structs.asdict(of.coupons)
    return figures(of) | {f"coupons.{name}": its for name, its in coupons.items()}


def win_parts(of: TableWin) -> dict[str, int | None]:
    """The figures of a win, its items and causes in cents, and how many exceptions it has.

    Items and causes are named by code, round and wager; those of one name are summed.
    """
    found = with_coupons(of)
    found |= {
        f"expected.{name}": getattr(of.expected, name) if of.expected else None
        for name in ("win", "sigma")
    }
    parts: list[tuple[tuple[object, ...], int]] = [
        (("items", i.gap, i.code, i.round, i.position, i.hand, i.wager, i.throw), i.amount)
        for i in of.items
    ]
    parts += [(("causes", each.code, each.round), each.amount) for each in of.causes]
    parts += [(("exceptions", each.code), 1) for each in of.exceptions]
    for path, amount in parts:
        name = ".".join(str(each) for each in path if each is not None)
        found[name] = (found.get(name) or 0) + amount
    return found
