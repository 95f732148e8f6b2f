"""The value types of facts, parsed once at the edge and trusted from there on.

Money is integer cents. A time is integer microseconds since 1970-01-01T00:00:00Z, by the clock that
its field or source names. Places and rounds have the names used on the floor.
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Cents = Annotated[int, Meta(ge=-(10**13), le=10**13, description="money in cents")]
"""Money in cents; never a float. Bounded so that sums stay within 64 bits."""

Denomination = Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,8}(?![\s\S])")]
"""The value of one chip or note in cents, as decimal text: `"2500"` is $25."""

Pieces = Annotated[
    dict[Denomination, Annotated[int, Meta(ge=0, le=10**7)]],
    Meta(max_length=64),
]
"""Chips or notes by denomination in cents: `{"2500": 40}` is 40 pieces of $25.

Bounded so that their total can be summed. A text that is no number, or an impossible count, would
stop every view of money.
"""

Position = Annotated[int, Meta(ge=0, le=99)]
"""A betting position: 1 is the player farthest to the dealer's left, then clockwise. 0 is the
dealer."""

Die = Annotated[int, Meta(ge=1, le=6)]
"""The number on the uppermost side of a die."""

# fmt: off
Card = Literal[
    "2c", "3c", "4c", "5c", "6c", "7c", "8c", "9c", "Tc", "Jc", "Qc", "Kc", "Ac",
    "2d", "3d", "4d", "5d", "6d", "7d", "8d", "9d", "Td", "Jd", "Qd", "Kd", "Ad",
    "2h", "3h", "4h", "5h", "6h", "7h", "8h", "9h", "Th", "Jh", "Qh", "Kh", "Ah",
    "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "Ts", "Js", "Qs", "Ks", "As",
    "Jk", "??",
]
# fmt: on
"""A card, such as `Th`: its rank of `23456789TJQKA` and its suit, `c` clubs, `d` diamonds,
`h` hearts or `s` spades. `Jk` is the joker, `??` a card that is not known."""

UNKNOWN_CARD = "??"

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The pattern of names: of a property, a place, a device, a table, a dispute."""

GamingDay = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
"""The label of a gaming day, `YYYY-MM-DD`. It is not a time."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SOURCE = re.compile(rf"/({NAME})/({NAME})/({NAME})")
_SUBJECT = re.compile(rf"({NAME})/(\d{{4}}-\d{{2}}-\d{{2}})/([1-9]\d{{0,8}})", re.ASCII)
_ROUND_NAME = re.compile(r"(?:([^:/]+):)?([^:]+)")
_RFC3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})",
    re.ASCII,
)


class Source(NamedTuple):
    """The sender of a fact: `/<property>/<place>/<device>`."""

    property: str
    place: str
    device: str

    @builtins.property  # `property` is a field here
    def tape(self) -> str:
        """The tape of its facts, `<property>/<place>`; also their Kafka key."""
        return f"{self.property}/{self.place}"


class RoundId(NamedTuple):
    """One round at one table: `<property>:<table>/<gaming day>/<number>`."""

    property: str
    table: str
    gaming_day: str
    number: int

    @builtins.property  # `property` is a field here
    def subject(self) -> str:
        """The round in a fact's `subject`, without the property, which the source names."""
        return f"{self.table}/{self.gaming_day}/{self.number}"

    def __str__(self) -> str:
        return f"{self.property}:{self.subject}"


def parse_source(text: str) -> Source | None:
    """The parts of a source, or None if it is not `/<property>/<place>/<device>`."""
    match = _SOURCE.fullmatch(text)
    return Source(*match.groups()) if match else None


_SEEN = frozenset("LNPS")
"""Categories of visible characters: letters, numbers, punctuation, symbols."""

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Invisible characters in these categories: Hangul fillers, an empty Braille cell, a null note."""


def visible(text: str) -> str:
    """The characters of a text that can be seen."""
    return "".join(
        each for each in text if unicodedata.category(each)[0] in _SEEN and each not in _BLANK
    )


@lru_cache(maxsize=4_096)
def person_of(credential: str) -> str:
    """A credential as it is compared: case, blanks, kinds of dashes and of letters are left out."""
    plain = visible(unicodedata.normalize("NFKC", credential).casefold())
    return "".join("-" if unicodedata.category(each) == "Pd" else each for each in plain)


def parse_subject(text: str, property_: str) -> RoundId | None:
    """The round that a subject names, or None if it names a table or a property."""
    match = _SUBJECT.fullmatch(text)
    if not match:
        return None
    table, gaming_day, number = match.groups()
    return RoundId(property_, table, gaming_day, int(number))


def parse_round(name: str, property_: str | None = None) -> RoundId | None:
    """The round of a name in the form of `str(RoundId)`, or None for another form.

    The name may leave out the property if `property_` gives it.
    """
    match = _ROUND_NAME.fullmatch(name)
    named = (match[1] or property_) if match else None
    return parse_subject(match[2], named) if match and named is not None else None


def parse_time(text: str) -> int | None:
    """Microseconds since the epoch (UTC) of an RFC 3339 time with offset, or None for other text.

    Digits beyond microseconds are cut, not rounded. A leap second (`:60`) is not accepted.
    """
    if not _RFC3339.fullmatch(text):
        return None
    try:
        return (datetime.fromisoformat(text.upper()) - _EPOCH) // _MICROSECOND
    except ValueError:
        return None


def format_time(time_us: int, offset_minutes: int = 0) -> str:
    """A time as RFC 3339 with microseconds, at the given offset (`Z` for 0)."""
    local = _EPOCH + timedelta(microseconds=time_us, minutes=offset_minutes)
    stamp = local.strftime("%Y-%m-%dT%H:%M:%S.") + f"{local.microsecond:06d}"
    if offset_minutes == 0:
        return stamp + "Z"
    hours, minutes = divmod(abs(offset_minutes), 60)
    return f"{stamp}{'-' if offset_minutes < 0 else '+'}{hours:02d}:{minutes:02d}"


def quantity(number: int, noun: str, several: str = "") -> str:
    """`1 fact`, `1,204 facts`. several: the plural, if it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def merged_order(orders: Iterable[Sequence[str]]) -> list[str]:
    """The names of several lists in one order, each list's kept; the first lists decide.

    A name that the lists before lack stands before the next one that they have.
    """
    found: list[str] = []
    for names in orders:
        for nth, name in enumerate(names):
            if name not in found:
                later = (found.index(each) for each in names[nth:] if each in found)
                found.insert(next(later, len(found)), name)
    return found


def sum_known(amounts: Iterable[int | None]) -> int | None:
    """The sum of amounts; None if one of them is not known."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def dollars(cents: int) -> str:
    """Cents as people read them: `$1,234.50`, `-$5.00` below zero."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}${cents // 100:,}.{cents % 100:02d}"
