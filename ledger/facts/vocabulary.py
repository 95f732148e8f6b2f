"""The words facts are made of: closed lists, labels, and the base every fact shares.

A closed list here is one the contract closes. Names of wagers, decisions and games stay open: one
that no rule knows is still recorded, and judged later. Nothing here reads a clock or a file.
"""

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ledger.values import NAME, Cents, parse_time

# `$` would let a line feed follow; no character at all may follow here, in any regex dialect.
_END = r"(?![\s\S])"

Identifier = Annotated[str, Meta(pattern=rf"^[a-z][a-z0-9_]{{0,63}}{_END}")]
"""The name of a wager, a decision, a fee or a game: lower-case words joined by `_`."""

Place = Annotated[str, Meta(pattern=rf"^{NAME}{_END}")]
"""The name of a table or another place, as it stands in a source: `CC-07`, `count-room`."""

RoundRef = Annotated[
    str,
    Meta(pattern=rf"^({NAME}:)?{NAME}/[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}/[1-9][0-9]{{0,8}}{_END}"),
]
"""A round spoken of: `[property:]table/gaming day/number`."""

Sha256 = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{64}}{_END}")]
"""A SHA-256 in lower-case hexadecimal."""

Label = Annotated[str, Meta(min_length=1, max_length=128)]
"""What is written on a thing or a form: a batch, a seal, a slip, a serial number, a camera."""

Employee = Annotated[str, Meta(min_length=1, max_length=64)]
"""The credential number of an employee, never a name: `D-1042`."""

Text = Annotated[str, Meta(max_length=4000)]
"""What a person wrote, as they wrote it."""

Moment = Annotated[str, Meta(max_length=40)]
"""A reading of a clock: RFC 3339 with offset. The field's name says whose clock."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
"""How many."""

Hand = Annotated[int, Meta(ge=1, le=99)]
"""Which hand of one position, from 1; a split gives the new hand the next free number."""

Throw = Annotated[int, Meta(ge=1, le=2**31)]
"""Which throw of the round, from 1, counting valid throws only."""

Index = Annotated[int, Meta(ge=0, le=999)]
"""The place of a card among one holder's cards, from 0, in dealing order."""

To = Literal["player", "dealer", "community", "player_hand", "banker_hand"]
"""Who receives cards. `player` goes with a `position`; the last two are baccarat's."""

Face = Literal["up", "down"]
PaidFrom = Literal["table", "cage"]


class Body(Struct, frozen=True, gc=False, omit_defaults=True):
    """What every fact's `data` is: fields by name, absent where they are their default."""


class FactOutsideRound(Body, frozen=True, kw_only=True):
    """A fact outside a round, which may be told from elsewhere than the table it is about.

    table: the table, where the source's place is not that table.
    """

    table: Place | None = None


class FactRef(Struct, frozen=True, gc=False):
    """Another fact: its `source` and its `id`."""

    source: Annotated[str, Meta(min_length=1, max_length=256)]
    id: Annotated[str, Meta(min_length=1, max_length=256)]


class Coupon(Struct, frozen=True, gc=False):
    """A match play coupon put down with a wager. face: cents."""

    serial: Label
    face: Cents


def require_position(to: str, position: int | None) -> None:
    """Cards of a player are a position's. Raises ValueError without one."""
    if position is None and to == "player":
        raise ValueError("`position` is missing: cards of a `player` are those of a position")


def require_day(field: str, day: str) -> None:
    """A gaming day is a day of the calendar. Raises ValueError where it is none (30 February)."""
    try:
        date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"`{field}` is {day}, which is not a day of the calendar") from None


def require_moments(**moments: str) -> None:
    """Readings of clocks are RFC 3339 with offset. Raises ValueError at the first that is not."""
    for field, moment in moments.items():
        if parse_time(moment) is None:
            raise ValueError(f"`{field.rstrip('_')}` is not an RFC 3339 time with offset")
