"""Tokens as their neighbours make them: `about` of a time or of money, `to` of a range.

An operator without anything to its right is no operator. The grammar then needs to look ahead by
one token only, and any sequence of tokens has a reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from replay.ask.tokens import SentenceToken
from replay.ask.vocabulary import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OPERATORS = frozenset(("OVER", "UNDER", "ATLEAST", "ATMOST"))
_VALUES = frozenset(("MONEY", "NUMBER"))
_SHORT = frozenset(("short", "too little", "too much", "not enough", "shorted"))
"""Findings that may follow their amount: `$20 short`."""

_DAYS = frozenset(("DAY", "AGOSPAN", "DATE", "WEEKDAY", "MONTH", "PERIOD"))
_TIMES = _DAYS | {"CLOCK", "ROUNDNAME", "LAST"}
_OF_SOMETHING = frozenset(("POSWORD", "DEALERWORD", "ROUNDWORD", "MONTH", "TABLEWORD", "HASH"))
"""Words whose number is no hour."""

_HOUR_MAX, _HALF_DAY = 24, 12
_BACK = 5
"""How many tokens before `and` its `between` may stand."""


def in_context(found: Sequence[SentenceToken]) -> list[SentenceToken]:
    """The tokens of a sentence beside one another."""
    told: list[SentenceToken] = []
    for at in range(len(found) - 1, -1, -1):
        piece, before = found[at], found[at - 1] if at else None
        if piece.kind == "TO" and plain(piece.words) == "and":
            opened = any(each.kind == "BETWEEN" for each in found[max(0, at - _BACK) : at])
            piece = piece if opened else piece._replace(kind="IGNORED")
        told.append(_beside(piece, before, told[-1] if told else None))
    return told[::-1]


def _beside(
    piece: SentenceToken, before: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken:
    """One token beside its neighbours; the one after it is decided already."""
    decide = _DECIDED.get(piece.kind)
    if decide is None:
        return piece
    told = decide(piece, before, after)
    return piece._replace(kind=told) if isinstance(told, str) else told


def _number(
    piece: SentenceToken, before: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    hour = _hour(piece)
    if hour and _is_hour(before, _kind(after)):
        return piece._replace(kind="CLOCK", value=hour)
    is_day = before is not None and before.kind in ("NUMBER", "ORDINAL", "MONTH")
    return "YEAR" if is_day and re.fullmatch(r"20\d\d", piece.words) else piece


def _error(
    piece: SentenceToken, before: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    words = plain(piece.words)
    if _kind(before) == "MONEY" and words in _SHORT:
        return "SHORT"
    return "PAIDOVER" if words == "paid over" and _kind(after) in _VALUES else piece


def _last(
    piece: SentenceToken, _: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    if _kind(after) == "CLOCK":
        return "AFTER"
    return piece if _kind(after) in ("NUMBER", "WEEKDAY", "UNIT") else "IGNORED"


def _to(
    piece: SentenceToken, before: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    then = _kind(after)
    if before is not None and then == "CLOCK" and (before.kind == "CLOCK" or _hour(before)):
        return piece
    if then in _DAYS and _kind(before) in (*_DAYS, "ORDINAL", "NUMBER"):
        return piece
    return "BEFORE" if plain(piece.words) in ("until", "till") and then in _TIMES else "IGNORED"


def _about(
    _: SentenceToken, __: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    if _kind(after) == "CLOCK":
        return "NEAR"
    return "ABOUT" if _kind(after) in _VALUES else "IGNORED"


def _operator(
    piece: SentenceToken, _: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    return piece if _kind(after) in _VALUES else "UNREAD"


def _edge(
    piece: SentenceToken, _: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    if _kind(after) in _TIMES:
        return piece
    passed = piece.kind == "AT" or plain(piece.words) in ("from", "past")
    return "IGNORED" if passed else "UNREAD"


def _by(
    piece: SentenceToken, _: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    is_dealer = after is not None and after.kind == "NUMBER" and after.value[1]
    if is_dealer or _kind(after) not in (*_VALUES, "ABOUT", *_OPERATORS):
        return "IGNORED"
    return piece


def _money(
    piece: SentenceToken, before: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    """A verb of money: of the amount after it, or of the one before; else it says nothing."""
    if _kind(after) in (*_VALUES, "ABOUT", *_OPERATORS):
        return piece
    if _kind(before) in ("MONEY", "DOLLARS"):
        return f"WAS{piece.kind}"
    return "IGNORED" if piece.kind in ("PLACED", "PAID") else "UNREAD"


def _ignored(
    piece: SentenceToken, before: SentenceToken | None, after: SentenceToken | None
) -> SentenceToken | str:
    is_day = _kind(before) in ("NUMBER", "ORDINAL") and _kind(after) == "MONTH"
    return "OF" if is_day and plain(piece.words) == "of" else piece


_Decision = Callable[
    [SentenceToken, SentenceToken | None, SentenceToken | None], SentenceToken | str
]

_DECIDED: Mapping[str, _Decision] = {
    "NUMBER": _number, "ERROR": _error, "LAST": _last, "TO": _to, "ABOUT": _about, "BY": _by,
    "IGNORED": _ignored, **dict.fromkeys((*_OPERATORS, "PAIDOVER", "PAIDUNDER"), _operator),
    **dict.fromkeys(("AT", "BEFORE", "AFTER", "BETWEEN"), _edge),
    **dict.fromkeys(("PLACED", "PAID", "OWED", "TAKEN", "RETURNED"), _money),
}  # fmt: skip


def _kind(piece: SentenceToken | None) -> str:
    return piece.kind if piece else ""


def _hour(piece: SentenceToken) -> tuple[int, str] | None:
    """A number as an hour of the clock."""
    if piece.kind != "NUMBER" or not 1 <= piece.value[0] <= _HOUR_MAX:
        return None
    number = piece.value[0]
    sure = number > _HALF_DAY or piece.words.startswith("0")
    return number % _HOUR_MAX * 60, "sure" if sure else "either"


def _is_hour(before: SentenceToken | None, then: str) -> bool:
    """Whether the tokens beside a number make it an hour."""
    if then in ("MONTH", "UNIT", "DOLLARS", "AGO"):
        return False
    if then == "OCLOCK":
        return True
    if before is None or then == "TO":
        return then == "TO" and (before is None or before.kind not in _OF_SOMETHING)
    return before.kind in ("AT", "BETWEEN", "BEFORE", "AFTER", "LAST", "TO") or (
        before.kind == "ABOUT" and before.words != "~"
    )
