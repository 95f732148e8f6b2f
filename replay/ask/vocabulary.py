"""The words of the floor: each phrase that a sentence may use, with what it stands for.

The phrases are in `words.toml`, beside the printed names of games, wagers and paytable rows. A
phrase is in lower case, without hyphens and apostrophes. Its kind is a terminal of the grammar.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.games import games
from ledger.rules.engine.finding_codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WORDS = Path(__file__).with_name("words.toml")


class Phrase(NamedTuple):
    """What a phrase stands for: a terminal of the grammar, and its value."""

    kind: str
    value: Any = None


_NO_WAGERS = {"bet", "split", "player", "play", "down", "wager on a split hand"}
"""Names of wagers that mean something else when they are said alone."""

_CLOCKS = {"noon": 720, "midday": 720, "midnight": 0, "twelve noon": 720}
_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
_TENS = {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "twenty five": 25,
    "seventy five": 75, "a hundred": 100, "one hundred": 100, "two hundred": 200,
    "five hundred": 500, "a thousand": 1000, "one fifty": 150,
}  # fmt: skip
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
)  # fmt: skip
_BASES = {"first base": 1, "1st base": 1}
_HOURS = _NUMBERS[1:13]
_PAST = {
    "quarter past": 15, "quarter after": 15, "half past": 30, "ten past": 10, "five past": 5,
    "twenty past": 20, "ten after": 10, "twenty after": 20,
}  # fmt: skip
_TO = {"quarter to": -15, "quarter of": -15, "ten to": -10, "five to": -5, "twenty to": -20}
_AND = {"fifteen": 15, "thirty": 30, "forty five": 45, "twenty": 20, "ten": 10, "forty": 40}
_AGO = {
    "an hour ago": (1, "hours"), "half an hour ago": (30, "minutes"), "just now": (30, "minutes"),
    "a few minutes ago": (30, "minutes"), "a couple of hours ago": (2, "hours"),
    "a half hour ago": (30, "minutes"), "a week ago": (7, "days"), "a day ago": (1, "days"),
    "few minutes ago": (30, "minutes"), "couple of hours ago": (2, "hours"),
}  # fmt: skip


@cache
def ordinary() -> frozenset[str]:
    """Words that are spelt as they are meant, though a phrase is spelt nearly so."""
    return frozenset(_split(_words()["ordinary"]))


@cache
def exposed_cards() -> tuple[str, ...]:
    """The irregularities of a card that was exposed."""
    return next(tuple(e["of"]) for e in _words()["calls"] if "exposed card" in _split(e["say"]))


@cache
def phrases() -> Mapping[str, Phrase]:
    """Every phrase; of one that stands twice, the later kind holds."""
    return dict(_phrases())


def plain(text: str) -> str:
    """A text as phrases are: lower case, without hyphens and apostrophes."""
    return re.sub(r"[\s/,\-\u2013\u2014]+", " ", re.sub(r"['\u2019]", "", text.lower())).strip()


@cache
def printed_rows(hand: str) -> tuple[str, ...]:
    """The printed rows, in lower case, that a spoken hand stands for."""
    labels = {row.label.lower() for g in games().values() for t in g.paytables for row in t.rows}
    begins = {"pair": ("pair", "one pair"), "royal flush": ("royal flush",)}.get(hand)
    also = {
        "straight flush": ("natural straight flush", "straight flush with a joker"),
        "triple": ("any triple other than 1s", "a triple of 1s"),
        "pair of jacks": (
            "pair of jacks or better", "pair of 10s, jack, queens, kings or aces",
            "pair of 6s or better", "pair of 7s or better",
        ),
    }.get(hand, ())  # fmt: skip
    found = {each for each in labels if begins and each.startswith(begins)}
    return tuple(sorted(found | (labels & {hand, *also})))


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def _phrases() -> Iterator[tuple[str, Phrase]]:
    told = _words()
    yield from _of_table(told["words"])
    yield from _of_numbers()
    yield from _of_hours()
    for kind, texts in told["times"].items():
        for word in _split(texts):
            yield word, Phrase(kind, word.replace("nite", "night"))
    for name in ("weekdays", "months", "shifts"):
        yield from _of_values(told[name], name.upper().removesuffix("S"))
    yield from _of_games(told)
    for name, kind in (("outcomes", "OUTCOME"), ("statuses", "STATUS"), ("hands", "HAND")):
        yield from _of_values(told[name], kind)
    for code in CODES:
        yield code.replace("_", " "), Phrase("FINDING", (code,))
    for name, kind in (("findings", "FINDING"), ("calls", "CALL"), ("errors", "ERROR")):
        yield from _of_list(told[name], kind)


def _of_table(told: Mapping[str, str]) -> Iterator[tuple[str, Phrase]]:
    for kind, texts in told.items():
        yield from _each(texts, kind)


def _of_values(told: Mapping[str, str], kind: str) -> Iterator[tuple[str, Phrase]]:
    for value, texts in told.items():
        yield from _each(f"{value}, {texts}" if kind == "MONTH" else texts, kind, value)


def _of_list(told: list[dict[str, Any]], kind: str) -> Iterator[tuple[str, Phrase]]:
    for each in told:
        yield from _each(each["say"], kind, tuple(each["of"]))


def _of_numbers() -> Iterator[tuple[str, Phrase]]:
    for number, word in enumerate(_NUMBERS):
        yield word, Phrase("NUMBER", number)
    for word, number in _TENS.items():
        yield word, Phrase("NUMBER", number)
    for number, word in enumerate(_ORDINALS, 1):
        yield word, Phrase("ORDINAL", number)
    for word, number in _BASES.items():
        yield word, Phrase("BASE", number)


def _of_hours() -> Iterator[tuple[str, Phrase]]:
    for word, minute in _CLOCKS.items():
        yield word, Phrase("CLOCK", (minute, "sure"))
    for word, span in _AGO.items():
        yield word, Phrase("AGOSPAN", span)
    for number, word in enumerate(_HOURS, 1):
        minute = number % 12 * 60
        for said, after in _AND.items():
            yield f"{word} {said}", Phrase("CLOCK", (minute + after, "either"))
        for hour in (word, str(number)):
            for said, by in (_PAST | _TO).items():
                yield f"{said} {hour}", Phrase("CLOCK", ((minute + by) % 720, "either"))


def _of_games(told: Mapping[str, Any]) -> Iterator[tuple[str, Phrase]]:
    for game in games().values():
        for wager in game.wagers:
            name = plain(wager.name)
            short = re.sub(r" (bet|wager|progressive wager)$", "", name)
            for text in {name, short, plain(wager.id.replace("_", " "))} - _NO_WAGERS:
                yield text, Phrase("WAGER", (wager.id,))
    yield from _of_list(told["wagers"], "WAGER")
    for game in games().values():
        yield plain(game.title), Phrase("GAME", (game.id,))
    yield from _of_list(told["games"], "GAME")


_APART = {
    "didnt": "did not", "wasnt": "was not", "shouldnt": "should not", "dont": "do not",
    "doesnt": "does not",
}  # fmt: skip
_WHOM = ("me", "him", "her", "them", "us", "the guest", "the player")
_PAID_WHOM = ("paid", "only paid", "just paid", "payed", "only payed")
_WITH_WHOM = ("shorted", "stiffed", "overpaid", "underpaid", "short changed", "shortchanged")


def _each(texts: str, kind: str, value: object = None) -> Iterator[tuple[str, Phrase]]:
    """A phrase as it is written, with `not` apart, and with whom it happened to."""
    for text in map(plain, _split(texts)):
        yield text, Phrase(kind, value)
        first, _, rest = text.partition(" ")
        if first in _APART:
            yield f"{_APART[first]} {rest}".strip(), Phrase(kind, value)
        if "should have" in text:
            yield text.replace("should have", "shouldve"), Phrase(kind, value)
        if (text in _WITH_WHOM and kind == "ERROR") or (text in _PAID_WHOM and kind == "PAID"):
            for whom in _WHOM:
                yield f"{text} {whom}", Phrase(kind, value)
        for ours, others in ((" my ", ("his", "her", "their")), (" me ", ("him", "her", "them"))):
            if ours in text and kind in ("ERROR", "FINDING"):
                for other in others:
                    yield text.replace(ours, f" {other} "), Phrase(kind, value)


def _split(texts: str) -> list[str]:
    return [" ".join(each.split()) for each in texts.split(",")]
