"""A sentence as terminals of the grammar: phrases of the floor, names of the house, figures.

Nothing is dropped. Each word is in exactly one token; one that stands for nothing is `UNREAD`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from replay.ask.vocabulary import Phrase, ordinary, phrases, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from replay.ask.house import House

WORDS_MAX = 60
"""The most words of a sentence that are read; the rest are named as not understood."""

PHRASE_WORDS_MAX = 7

SEAT_DIGITS = 2
"""A number of more digits may be a dealer's credential."""

NEAR_WORDS_MAX = 4
TYPO_MIN = 4
"""The letters a word has at least to be taken for a misspelt one."""

LONG = 8
"""From so many letters on, two of them may be wrong."""

_SUITS = {"clubs": "c", "club": "c", "diamonds": "d", "diamond": "d", "hearts": "h", "heart": "h"}
_SUITS |= {"spades": "s", "spade": "s", "♣": "c", "♦": "d", "♥": "h", "♠": "s"}
_RANKS = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "ten": "T", "10": "T", "deuce": "2"}
_RANKS |= {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7"}
_RANKS |= {"eight": "8", "nine": "9"} | {each: each for each in "23456789"}
_RANK, _SUIT = "|".join(_RANKS), "|".join(_SUITS)

_FIGURES = re.compile(
    rf"""(?P<ROUNDNAME>[a-z]+-?\d+/\d{{4}}-\d\d-\d\d/\d+)
    |(?P<DATE>\d{{4}}-\d\d-\d\d|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?|\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}})?)(?!\d)
    |(?P<ODDS>(?<!from\s)(?<!between\s)(?<!at\s)(?<!around\s)(?<!about\s)(?<!since\s)(?<!after\s)
      \b\d+\s+(?:to|for)\s+\d+\b(?!:|\s?[ap]\.?m))
    |(?P<MONEY>\$\s?\d[\d,]*(?:\.\d\d)?\s?k?\b|\d[\d,]*(?:\.\d\d)?\s?(?:dollars?|bucks|usd|bux)\b
      |\d+(?:\.\d)?k\b)
    |(?P<CLOCK>\d{{1,2}}(?:[:.]\d\d)?(?::\d\d)?\s?[ap]\.?m\b\.?|\d{{1,2}}(?::\d\d)?[ap]\b|\d{{1,2}}:\d\d(?::\d\d)?)
    |(?P<CREDENTIAL>\bd-\d+\b)
    |(?P<CARD>\b(?:10|[2-9tjqka])[cdhs]\b|\b(?:10|[2-9tjqka])[♣♦♥♠]
      |\b(?:{_RANK})\s+of\s+(?:{_SUIT})\b)
    |(?P<ORDINAL>\d{{1,2}}(?:st|nd|rd|th)\b)
    |(?P<SIGN>>=|<=|=>|=<|>|<|≥|≤|~|@|\#)
    |(?P<TOKEN>[a-z]+-?\d[a-z0-9-]*)
    |(?P<WORD>[a-z]+(?:['\u2019][a-z]+)*|\d+(?:\.\d+)?)
    |(?P<OTHER>[^\s,.;:!?"\u201c\u201d()'\u2019&/\u2013\u2014-])""",
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS = {
    ">": "OVER", "<": "UNDER", ">=": "ATLEAST", "=>": "ATLEAST", "≥": "ATLEAST", "<=": "ATMOST",
    "=<": "ATMOST", "≤": "ATMOST", "~": "ABOUT", "@": "AT", "#": "HASH",
}  # fmt: skip
_WORDY = frozenset(("as", "ah", "ad", "th"))
"""Cards that are words too: taken for cards if written with a capital, or beside a card."""

_DASH = re.compile(r"\s*[-\u2013\u2014]\s*")


class SentenceToken(NamedTuple):
    """A token: its terminal, value and words, and where they stand in the sentence."""

    kind: str
    value: Any
    words: str
    start: int
    end: int
    meant: str = ""  # the phrase that misspelt words were taken for


def pieces(text: str, house: House) -> list[SentenceToken]:
    """The tokens of a sentence."""
    found = _named(list(_figures(text, house)), text)
    return [_at_day_start(each, house) if each.kind == "DAYSTART" else each for each in found]


def _at_day_start(piece: SentenceToken, house: House) -> SentenceToken:
    return piece._replace(kind="CLOCK", value=(house.day_start, "sure"))


def _figures(text: str, house: House) -> Iterator[SentenceToken]:
    """Names of the house and figures; all other words as `WORD`."""
    at, named = 0, list(_names(house))
    while at < len(text):
        matches = ((kind, its.match(text, at)) for kind, its in named)
        kind, told = next((found for found in matches if found[1]), ("", _FIGURES.match(text, at)))
        if told is None:
            if text[at] in "-\u2013\u2014" and _is_range(text, at):
                yield SentenceToken("TO", None, text[at], at, at + 1)
            at += 1
            continue
        words, (start, at) = told[0], told.span()
        yield SentenceToken(*_valued(kind or str(told.lastgroup), words, house), words, start, at)


def _is_range(text: str, at: int) -> bool:
    """Whether a dash stands between two figures: `8-9 pm`."""
    before, after = text[:at].rstrip()[-1:], text[at + 1 :].lstrip()[:1]
    return after.isdigit() and (before.isdigit() or before.lower() == "m")


def _names(house: House) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Names that begin as a table's do, such as CC-01, cc1, `bj 3`; and the house's shifts."""
    begins = _any_of(house.prefixes() - {""})
    if begins:
        yield "TABLE", re.compile(rf"\b(?:{begins})[- ]?\d{{1,3}}\b(?!/)", re.IGNORECASE)
    shifts = _any_of(house.shifts)
    if shifts:
        yield "SHIFT", re.compile(rf"\b(?:{shifts})\s+shift\b", re.IGNORECASE)


def _any_of(names: Iterable[str]) -> str:
    """A pattern for any of these names."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def _valued(kind: str, words: str, house: House) -> tuple[str, object]:
    """The terminal and the value of a figure."""
    read = _FIGURE_VALUES.get(kind)
    if read is not None:
        return read(words, house)
    return ("UNREAD" if kind in ("OTHER", "TOKEN", "ODDS") else kind), words


def _credential(words: str, house: House) -> tuple[str, object]:
    name = words.upper()
    return ("DEALER" if name in house.dealers else "CREDENTIAL"), name


def _word(words: str, house: House) -> tuple[str, object]:
    """A word; a number has the dealer beside it whose credential it is."""
    if not words.isdecimal():
        return "WORD", words
    dealer = house.dealer(words) if len(words) > SEAT_DIGITS else None
    return "NUMBER", (int(words[:18]), dealer)


def _cents(words: str) -> int:
    figure = re.sub(r"[^\d.]", "", words)
    dollars, _, part = figure.partition(".")
    if "k" in words.lower() and "buck" not in words.lower():
        return int(dollars) * 100_000 + int((part or "0")[:1]) * 10_000
    return int(dollars or 0) * 100 + int((part or "0").ljust(2, "0")[:2])


def _clock(words: str) -> tuple[str, object]:
    """Minutes after midnight, and whether morning or evening is certain."""
    told = re.match(r"(\d{1,2})(?:[:.](\d\d))?(?::\d\d)?\s?([ap])?", words.lower())
    assert told is not None  # noqa: S101 - as `_FIGURES`
    hour, minute, half = int(told[1]), int(told[2] or 0), told[3]
    if minute > 59 or hour > 24 or (half and not 1 <= hour <= 12):  # noqa: PLR2004 - a clock's
        return "UNREAD", words
    if half:
        return "CLOCK", ((hour % 12 + (12 if half == "p" else 0)) * 60 + minute, "sure")
    sure = hour > 12 or hour == 0 or words.startswith("0")  # noqa: PLR2004 - as above
    return "CLOCK", (hour % 24 * 60 + minute, "sure" if sure else "either")


def _card(words: str) -> str:
    told = re.fullmatch(rf"({_RANK})\s+of\s+({_SUIT})", words.lower())
    if told:
        return _RANKS[told[1]] + _SUITS[told[2]]
    rank = words[:-1].upper().replace("10", "T")
    return rank + _SUITS.get(words[-1], words[-1].lower())


_FIGURE_VALUES: Mapping[str, Callable[[str, House], tuple[str, object]]] = {
    "TABLE": lambda words, house: ("TABLE", house.table(words)),
    "SHIFT": lambda words, _: ("SHIFT", words.lower().removesuffix("shift").strip()),
    "MONEY": lambda words, _: ("MONEY", _cents(words)),
    "CLOCK": lambda words, _: _clock(words),
    "CARD": lambda words, _: ("CARD", _card(words)),
    "ORDINAL": lambda words, _: ("ORDINAL", int(re.sub(r"\D", "", words))),
    "SIGN": lambda words, _: (_SIGNS[words], None),
    "CREDENTIAL": _credential,
    "WORD": _word,
}


def _named(found: Sequence[SentenceToken], text: str) -> Iterator[SentenceToken]:
    """The tokens, with words put together to phrases: the longest, and misspelt ones too."""
    at = 0
    while at < len(found):
        piece = found[at]
        if piece.kind == "CARD" and piece.words.lower() in _WORDY and not _is_card(found, at):
            piece = piece._replace(kind="WORD")
        if piece.kind not in ("WORD", "NUMBER") and not _begins_phrase(found, at):
            yield piece
            at += 1
            continue
        size, phrase, meant = _longest(found, at)
        if phrase is None:
            yield piece._replace(kind="UNREAD") if piece.kind == "WORD" else piece
            at += 1
            continue
        last = found[at + size - 1]
        words = text[piece.start : last.end]
        value = (phrase.value, None) if phrase.kind == "NUMBER" else phrase.value
        yield SentenceToken(phrase.kind, value, words, piece.start, last.end, meant)
        at += size


def _begins_phrase(found: Sequence[SentenceToken], at: int) -> bool:
    """Whether a figure begins a phrase: `6th card`, `1st base`."""
    return found[at].kind == "ORDINAL" and at + 1 < len(found) and (
        f"{found[at].words.lower()} {plain(found[at + 1].words)}" in phrases()
    )  # fmt: skip


def _is_card(found: Sequence[SentenceToken], at: int) -> bool:
    beside = (found[each] for each in (at - 1, at + 1) if 0 <= each < len(found))
    return found[at].words[0].isupper() or any(each.kind == "CARD" for each in beside)


def _longest(found: Sequence[SentenceToken], at: int) -> tuple[int, Phrase | None, str]:
    """The longest phrase from here on: its words, the phrase, and what a misspelt one means."""
    texts = []
    for piece in found[at : at + PHRASE_WORDS_MAX]:
        if piece.kind not in ("WORD", "NUMBER", "ORDINAL", "CARD"):
            break
        texts.append(plain(piece.words))
    exact = next((n for n in range(len(texts), 0, -1) if " ".join(texts[:n]) in phrases()), 0)
    for size in range(min(len(texts), NEAR_WORDS_MAX), exact, -1):
        words = texts[:size]
        is_known = exact > 0 and any(word in phrases() for word in words[exact:])
        near = None if is_known or any(map(str.isdecimal, words)) else _near(words)
        if near:
            return size, phrases()[near], near
    return (exact, phrases()[" ".join(texts[:exact])], "") if exact else (0, None, "")


@cache
def _by_size() -> dict[int, list[str]]:
    """Phrases by their number of words, without the shortest, and those to be passed over."""
    sizes: dict[int, list[str]] = {}
    for text, phrase in phrases().items():
        if len(text) >= TYPO_MIN and phrase.kind != "IGNORED":
            sizes.setdefault(text.count(" ") + 1, []).append(text)
    return sizes


def _near(words: Sequence[str]) -> str | None:
    """The phrase of as many words that a misspelt one means; only one of its words may differ."""
    from rapidfuzz import process  # noqa: PLC0415 - only a sentence needs it
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - as above

    text = " ".join(words)
    if len(text) < TYPO_MIN:
        return None
    most = 2 if len(text) >= LONG else 1
    among = _by_size().get(len(words), ())
    for found, *_ in process.extract(text, among, scorer=OSA.distance, score_cutoff=most, limit=5):
        other = [(a, b) for a, b in zip(words, str(found).split(), strict=True) if a != b]
        if len(other) == 1 and _is_typo(*other[0]):
            return str(found)
    return None


def _is_typo(typed: str, meant: str) -> bool:
    """Whether a word may be another one misspelt: no word itself, and mostly its first letter."""
    if typed in phrases() or typed in ordinary() or len(typed) < TYPO_MIN - 1:
        return False
    return typed[0] == meant[0] or len(typed) > TYPO_MIN + 1
