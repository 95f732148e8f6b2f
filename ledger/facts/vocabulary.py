"""The vocabulary of facts: closed lists, labels, and the base of every fact.

A list is closed only if the contract closes it. Names of wagers, decisions and games stay open: a
name that no rule knows is still recorded, and judged later.
"""

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ledger.values import NAME, Cents, parse_time

# `$` would allow a line feed after it. This allows no character, in any regex dialect.
_END = r"(?![\s\S])"

Identifier = Annotated[str, Meta(pattern=rf"^[a-z][a-z0-9_]{{0,63}}{_END}")]
"""The name of a wager, a decision, a fee or a game: lower-case words joined by `_`."""

Place = Annotated[str, Meta(pattern=rf"^{NAME}{_END}")]
"""The name of a table or another place, as in a source: `CC-07`, `count-room`."""

RoundRef = Annotated[
    str,
    Meta(pattern=rf"^({NAME}:)?{NAME}/[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}/[1-9][0-9]{{0,8}}{_END}"),
]
"""A reference to a round: `[property:]table/gaming day/number`."""

Sha256 = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{64}}{_END}")]
"""A SHA-256 in lower-case hexadecimal."""

Pseudonym = Annotated[str, Meta(pattern=rf"^pseudonym:[0-9a-f]{{64}}{_END}")]
"""What the record has in place of a patron's token."""

Label = Annotated[str, Meta(min_length=1, max_length=128)]
"""The text on a thing or a form: a batch, a seal, a slip, a serial number, a camera."""

Employee = Annotated[str, Meta(min_length=1, max_length=64)]
"""The credential number of an employee, never a name: `D-1042`."""

Text = Annotated[str, Meta(max_length=4000)]
"""A person's text, unchanged."""

Moment = Annotated[str, Meta(max_length=40)]
"""A clock reading: RFC 3339 with offset. The field's name says whose clock."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A number of things."""

Currency = Annotated[str, Meta(pattern=rf"^[A-Z]{{3}}{_END}")]
"""A currency by its ISO 4217 code: `CAD`."""

Rate = Annotated[str, Meta(pattern=rf"^[0-9]{{1,9}}(\.[0-9]{{1,9}}|/[1-9][0-9]{{0,8}})?{_END}")]
"""House cents for one minor unit of a foreign currency, exact, as text: `"0.7312"` or `"18/25"`."""

Hand = Annotated[int, Meta(ge=1, le=99)]
"""The number of a position's hand, from 1. A split gives the new hand the next free number."""

Throw = Annotated[int, Meta(ge=1, le=2**31)]
"""The number of a throw in the round, from 1. Only valid throws count."""

Index = Annotated[int, Meta(ge=0, le=999)]
"""The index of a card among one holder's cards, from 0, in dealing order."""

To = Literal["player", "dealer", "community", "player_hand", "banker_hand"]
"""The receiver of cards: `player` with a `position`, `dealer`, `community`, and at the baccarats
`player_hand` and `banker_hand`."""

Face = Literal["up", "down"]
PaidFrom = Literal["table", "cage"]


class Body(Struct, frozen=True, gc=False, omit_defaults=True):
    """The base of every fact's `data`. A field is absent if it has its default."""


class FactOutsideRound(Body, frozen=True, kw_only=True):
    """A fact outside a round. Its device may stand elsewhere than the table it concerns.

    table: the table, if it is not the place in the source.
    """

    table: Place | None = None


class FactRef(Struct, frozen=True, gc=False):
    """A reference to another fact by its `source` and `id`."""

    source: Annotated[str, Meta(min_length=1, max_length=256)]
    id: Annotated[str, Meta(min_length=1, max_length=256)]


class Coupon(Struct, frozen=True, gc=False):
    """A Match Play Coupon placed with a wager. face: cents."""

    serial: Label
    face: Cents


def require_position(to: str, position: int | None) -> None:
    """Check that cards of a player have a position. Raises ValueError without one."""
    if position is None and to == "player":
        raise ValueError("`position` is missing: cards of a `player` are those of a position")


def require_day(field: str, day: str) -> None:
    """Check that a gaming day exists in the calendar. Raises ValueError if not (30 February)."""
    try:
        date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"`{field}` is {day}, which is not a day of the calendar") from None


def require_moments(**moments: str) -> None:
    """Check that clock readings are RFC 3339 with offset. Raises ValueError if one is not."""
    for field, moment in moments.items():
        if parse_time(moment) is None:
            raise ValueError(f"`{field.rstrip('_')}` is not an RFC 3339 time with offset")
