"""Parses what people type: money, cards, codes, and words.

The command line and the pages share it. Every function raises `Usage`, which names the field.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import get_args

from ledger.errors import Usage
from ledger.rules.engine.finding_codes import CODES
from ledger.values import UNKNOWN_CARD, Card, person_of, visible

_MONEY = re.compile(r"\$?(\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d{2}))?", re.ASCII)
_CARDS: dict[str, str] = {card.lower(): card for card in get_args(Card) if card != UNKNOWN_CARD}
CARDS_MAX = 10
"""The most cards in one search."""


def cents(text: str | None, where: str) -> int | None:
    """Dollars as typed, in cents."""
    if text is None:
        return None
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise Usage(
            f"`{text}` is not an amount", where=where, hint="Give dollars: 25, 25.00 or 1,250.00."
        )
    return int(match[1].replace(",", "")) * 100 + int(match[2] or 0)


def written(text: str, where: str) -> str:
    """The text unchanged, if it has a visible character.

    A recorded empty text cannot be removed and would mislead readers.
    """
    if not text:
        raise Usage(f"`{where}` is empty", where=where, hint="Enter a text.")
    if not visible(text):
        raise Usage(
            f"`{where}` has only blanks and invisible characters",
            where=where,
            hint="Enter a text.",
        )
    return text


def two_people(one: str, other: str, where: str = "second") -> tuple[str, str]:
    """The credentials of two people. Raises `Usage` if one lacks, or both are one person."""
    first, second = one.strip(), other.strip()
    if not person_of(first) or not person_of(second):
        raise Usage("Two people are needed", where=where, hint="Give both credentials.")
    if person_of(first) == person_of(second):
        raise Usage(
            f"{first} cannot be both people",
            where=where,
            hint="Let a second person take part, and give that credential.",
        )
    return first, second


def same_people(some: Sequence[str], others: Sequence[str]) -> list[str]:
    """The people who are in both."""
    there = set(map(person_of, others))
    return [each for each in some if person_of(each) in there]


def lines(text: str, where: str, most: int) -> str:
    """The text of a form with plain line ends; a text too long is refused, never truncated.

    A browser counts a line end as one character but sends two.
    """
    typed = text.replace("\r\n", "\n").strip()
    if len(typed) > most:
        raise Usage(
            f"`{where}` has {len(typed):,} characters; at most {most:,} can be recorded",
            where=where,
            hint="Split it into two.",
        )
    return typed


def code(text: str | None, where: str) -> str | None:
    """The code of a finding, checked, since a misspelt one would find nothing."""
    if text not in (None, *CODES):
        near = get_close_matches(str(text), CODES, n=1)
        raise Usage(
            f"There is no finding `{text}`",
            where=where,
            hint=f"Did you mean {near[0]}?" if near else f"Give one of {', '.join(CODES)}.",
        )
    return text


def cards(texts: Sequence[str], where: str) -> tuple[str, ...]:
    """Cards as typed, `As` or `as kd`, each once."""
    typed = [word for text in texts for word in re.split(r"[\s,]+", text) if word]
    for word in typed:
        if word.lower() not in _CARDS:
            raise Usage(
                f"`{word}` is not a card",
                where=where,
                hint="Give rank and suit: As, Td, 9c; the joker is Jk.",
            )
    if len(typed) > CARDS_MAX:
        raise Usage(f"{len(typed)} cards are too many", where=where, hint=f"At most {CARDS_MAX}.")
    return tuple(dict.fromkeys(_CARDS[word.lower()] for word in typed))
