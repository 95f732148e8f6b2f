"""Plans of a simulation: tables, time, mistakes; and the mistakes planted. Values only.

A plan fixes everything that chance does not: the same plan gives the same bytes.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping  # noqa: TC003 - msgspec reads a struct's fields at run time
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from ledger.facts import FactRef  # noqa: TC001 - as above
from ledger.games import games
from ledger.rules.engine.game import CardProcedures
from ledger.values import Cents  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.engine.game import Game

DealtFrom = Literal["manual_shoe", "hand", "automated_shoe"]

MISTAKES: dict[str, str] = {
    "overpay": "a won wager is paid too much",
    "underpay": "a won wager is paid too little",
    "not_collected": "a lost wager is left with the player",
    "paid_push": "a pushed wager is paid as if it had won",
    "wrong_card_count": "a player gets a card too many or too few, and the round is played on",
    "late_wager": "chips go down after wagers are closed, and count",
    "skipped_player": "a player is passed over: not asked for a bet, or not paid",
    "duplicate_card": "a card is on the table twice",
    "meter_stuck": "a progressive meter does not go up with the wagers placed",
    "lost_fact": "a device counts a fact that never arrives",
    "retransmission": "a device sends the same fact again",
    "reordered_devices": "one device's facts arrive after those of the others",
    "clock_skew": "a device's clock is off by seconds",
}
"""The mistakes that can be planted, by name, in words."""

MISREADINGS: dict[str, str] = {
    "payment_misread": "a won wager is paid right, and the layout reports more",
}
"""What a device can report wrongly while all goes right, by name. Only film shows it."""

CARD_GAME, DICE_GAME = "criss_cross_poker", "three_dice_football"

DEALT = (CARD_GAME, DICE_GAME)
"""The games of a floor without named ones: one with decisions, one with dice."""


SEATS_MOST = 99


def seats_max(game: str) -> int:
    """The most patrons at a table of the game; for an unknown game, as many as facts can name."""
    known = games().get(game)
    return known.positions if known else SEATS_MOST


class TablePlan(Struct, frozen=True, kw_only=True):
    """One table: its game, its most patrons, and how its cards are dealt."""

    table: str
    game: str = CARD_GAME
    seats: Annotated[int, Meta(ge=1)] = 5
    dealt_from: DealtFrom = "manual_shoe"  # cards only
    shuffler: bool = True  # two decks and a counting shuffler; else one deck, by hand


class Plan(Struct, frozen=True, kw_only=True):
    """A gaming day on a floor. `mistakes`: how many of each to plant, if there is room.

    Times of day are local: minutes after midnight, at `offset_minutes` from UTC.
    """

    tables: tuple[TablePlan, ...]
    seed: int = 1
    property: str = "hollywood"
    gaming_day: str = "2026-11-20"
    opens_minute: Annotated[int, Meta(ge=0, lt=1440)] = 600
    minutes: Annotated[int, Meta(ge=1, le=20 * 60)] = 480  # hours open for play
    offset_minutes: Annotated[int, Meta(gt=-1440, lt=1440)] = -300
    mistakes: Mapping[str, int] = {}

    def __post_init__(self) -> None:
        """Raises ValueError for an impossible mistake, day or pair of tables."""
        date.fromisoformat(self.gaming_day)
        unknown = sorted(set(self.mistakes) - {*MISTAKES, *MISREADINGS})
        if unknown:
            raise ValueError(f"no such mistake: {', '.join(unknown)}; known: {', '.join(MISTAKES)}")
        for each in self.tables:
            if each.seats > seats_max(each.game):
                raise ValueError(
                    f"{each.table} has {each.seats} seats; {each.game} has room for "
                    f"{seats_max(each.game)}"
                )
        if len({each.table for each in self.tables}) != len(self.tables):
            raise ValueError("two tables have one name; name each table once")

    @builtins.property  # `property` is a field here
    def midnight_us(self) -> int:
        """The gaming day's local midnight, microseconds since the epoch."""
        days = date.fromisoformat(self.gaming_day) - date(1970, 1, 1)
        return (days - timedelta(minutes=self.offset_minutes)) // timedelta(microseconds=1)

    @builtins.property  # `property` is a field here
    def opens_us(self) -> int:
        """The earliest start of play, true time."""
        return self.midnight_us + self.opens_minute * 60_000_000

    @builtins.property  # `property` is a field here
    def closes_us(self) -> int:
        """The latest start of a round, true time."""
        return self.opens_us + self.minutes * 60_000_000


class Planted(Struct, frozen=True, kw_only=True):
    """One mistake as made: the findings it must and may lead to."""

    mistake: str
    round: str | None  # "CC-07/2026-11-20/231"
    table: str
    position: int | None = None
    wager: str | None = None
    expect: tuple[str, ...] = ()  # codes of findings that the round must have
    may: tuple[str, ...] = ()  # codes that it may have besides
    facts: tuple[FactRef, ...] = ()
    at_us: int = 0  # true time of the mistake
    cents: Cents = 0  # the money that went wrong, or is said to have
    says: str = ""


_DEALING: tuple[tuple[DealtFrom, bool], ...] = (
    ("manual_shoe", True),
    ("hand", False),
    ("automated_shoe", True),
    ("manual_shoe", False),
)
"""Ways of dealing, and whether a shuffler counts the cards."""


def plan_of(  # noqa: PLR0913 - one keyword a choice
    *,
    tables: int = 4,
    minutes: int = 480,
    seats: int = 5,
    seed: int = 1,
    property_: str = "hollywood",
    gaming_day: str = "2026-11-20",
    opens_minute: int = 600,
    mistakes: Mapping[str, int] | None = None,
    of: Sequence[str] = DEALT,
) -> Plan:
    """A floor with this many tables, with games and ways of dealing in turn.

    `seats` is at most what a table of the game has room for. Raises ValueError as `Plan` does, and
    KeyError for an unknown game.
    """
    planned: list[TablePlan] = []
    for index in range(tables):
        game = games()[of[index % len(of)]]
        sign = _sign(game.id)
        number = 1 + sum(each.table.startswith(f"{sign}-") for each in planned)
        dealt_from, shuffler = _dealt(game, index // len(of))
        planned.append(
            TablePlan(
                table=f"{sign}-{number:02d}",
                game=game.id,
                seats=min(seats, game.positions),
                dealt_from=dealt_from,
                shuffler=shuffler,
            )
        )
    return Plan(
        tables=tuple(planned),
        seed=seed,
        property=property_,
        gaming_day=gaming_day,
        opens_minute=opens_minute,
        minutes=minutes,
        mistakes=dict(mistakes or {}),
    )


def _sign(game: str) -> str:
    """The prefix of a game's table names: `CC` of criss_cross_poker."""
    words = [word for word in game.split("_") if word != "poker"]
    initials = "".join(word[0] for word in words)
    return (initials if len(initials) > 1 else words[0][:2]).upper()


def _dealt(game: Game, turn: int) -> tuple[DealtFrom, bool]:
    """How the nth table of a game is dealt, among the ways of its chapter."""
    known = game.procedures.change_hours if isinstance(game.procedures, CardProcedures) else {}
    ways = [each for each in _DEALING if each[0] in known] or list(_DEALING)
    return ways[turn % len(ways)]
