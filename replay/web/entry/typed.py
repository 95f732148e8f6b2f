"""Parses the forms of papers: pieces by denomination, counter checks, vouchers, coupons, notes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request

from ledger.errors import Usage
from ledger.facts.money import CounterCheck, ForeignNotes, Voucher
from ledger.values import NAME, dollars
from replay.text.times import is_gaming_day
from replay.text.typed import cents, written

CHIPS = (25, 50, 100, 250, 500, 2_500, 10_000, 50_000, 100_000, 500_000)
"""Denominations of chips that a form has a field for, cents."""

NOTES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
"""Denominations of notes that a form has a field for, cents."""

LINES_MAX = 2_000
"""Lines of one field."""

_EARLIEST_ZONE = timedelta(hours=14)
"""How far ahead of UTC the clocks of a place may be."""

_PIECES = re.compile(r"\d{1,7}", re.ASCII)
_OTHER = re.compile(r"(\S+)\s*[x*]\s*(\d{1,7})", re.ASCII)
_FOREIGN = re.compile(r"([A-Z]{3})\s+(\d{1,9}(?:\.\d{1,12})?)\s+(\S+)\s*[x*]\s*(\d{1,7})", re.ASCII)
_NAME = re.compile(NAME)


async def form_of(request: Request) -> Mapping[str, str]:
    """A dependency: the texts of the form that was sent."""
    return {name: str(value) for name, value in (await request.form()).items()}


def name(form: Mapping[str, str], field: str) -> str:
    """A name such as a table's. Raises `Usage`."""
    text = form.get(field, "").strip()
    if not _NAME.fullmatch(text):
        raise Usage(f"`{text}` is not a name of a {field}", where=field, hint="Give it as CC-07.")
    return text


def text(form: Mapping[str, str], field: str) -> str:
    """A text of a line. Raises `Usage` if there is none."""
    found = form.get(field, "").strip()
    if not found:
        raise Usage(f"`{field}` is empty", where=field, hint="Enter a text.")
    return found


def gaming_day(form: Mapping[str, str], field: str = "gaming_day") -> str:
    """A gaming day. Raises `Usage`."""
    found = text(form, field)
    if not is_gaming_day(found):
        raise Usage(f"`{found}` is not a gaming day", where=field, hint="As 2026-11-20.")
    return found


def begun_day(form: Mapping[str, str], field: str = "gaming_day") -> str:
    """A gaming day that has begun somewhere: a slip of the pen would make one. Raises `Usage`."""
    found = gaming_day(form, field)
    if found > (datetime.now(UTC) + _EARLIEST_ZONE).date().isoformat():
        raise Usage(f"{found} has not begun", where=field, hint="Read the day on the paper again.")
    return found


def whole(form: Mapping[str, str], field: str) -> int:
    """A whole number. Raises `Usage`."""
    found = text(form, field)
    if not _PIECES.fullmatch(found):
        raise Usage(f"`{found}` is not a number", where=field, hint="Give a whole number.")
    return int(found)


def position(form: Mapping[str, str], field: str) -> int:
    """A betting position, from 1. Raises `Usage`."""
    found = whole(form, field)
    if not found:
        raise Usage(
            "Position 0 is the dealer's", where=field, hint="Give the number of the patron's."
        )
    return found


def lines_of(form: Mapping[str, str], field: str) -> list[str]:
    """The lines of a field. Raises `Usage` if there is none."""
    text(form, field)
    return _lines(form, field)


def ranges(form: Mapping[str, str], field: str) -> list[tuple[str, str]]:
    """First and last serial of each line. Raises `Usage`."""
    found = [line.split() for line in lines_of(form, field)]
    for each in found:
        if len(each) != 2:  # noqa: PLR2004 - first and last
            raise _wrong(" ".join(each), field, "MP-0001 MP-0100")
    return [(first, last) for first, last in found]


def amount(form: Mapping[str, str], field: str) -> int:
    """Dollars as typed, in cents. Raises `Usage`."""
    return cents(text(form, field), field) or 0


def signed_amount(form: Mapping[str, str], field: str) -> int:
    """Dollars as typed, in cents; below zero with a minus before them. Raises `Usage`."""
    found = text(form, field)
    is_below = found[0] in "-\N{MINUS SIGN}"
    its = cents(found[1:] if is_below else found.removeprefix("+"), field) or 0
    return -its if is_below else its


def signed_maybe(form: Mapping[str, str], field: str) -> int | None:
    """As `signed_amount`; None if nothing was typed. Raises `Usage`."""
    return signed_amount(form, field) if form.get(field, "").strip() else None


def choice(form: Mapping[str, str], field: str, choices: Sequence[str]) -> str | None:
    """One of some choices; None for the empty one. Raises `Usage`."""
    found = form.get(field, "")
    if found not in choices:
        raise Usage(f"`{found}` is no choice of {field}", where=field, hint="Choose one.")
    return found or None


def prose(form: Mapping[str, str], field: str) -> str:
    """A text of several lines. Raises `Usage` if it has nothing to read."""
    return written(form.get(field, "").strip(), field)


def pieces(form: Mapping[str, str], field: str, denominations: Sequence[int]) -> dict[str, int]:
    """Pieces by denomination in cents; an empty field has none. Raises `Usage`."""
    found: dict[str, int] = {}
    for each in denominations:
        typed = form.get(f"{field}_{each}", "").strip()
        if not _PIECES.fullmatch(typed or "0"):
            raise Usage(
                f"`{typed}` is not a number of pieces of {dollars(each)}",
                where=field,
                hint="Give a whole number.",
            )
        _add(found, each, int(typed or "0"))
    for line in _lines(form, f"{field}_other"):
        match = _OTHER.fullmatch(line)
        if match is None:
            raise _wrong(line, field, "$20.00 x 3")
        _add(found, cents(match[1], field) or 0, int(match[2]))
    return found


def _add(found: dict[str, int], denomination: int, count: int) -> None:
    if count:
        found[str(denomination)] = found.get(str(denomination), 0) + count


def box_content(form: Mapping[str, str]) -> dict[str, Any]:
    """The content of a box as fields of `drop_box_counted`. Raises `Usage`."""
    return {
        "currency": pieces(form, "notes", NOTES),
        "chips": pieces(form, "chips", CHIPS) or None,
        "counter_checks": tuple(_checks(form)),
        "vouchers": tuple(_vouchers(form)),
        "coupons": tuple(_lines(form, "coupons")),
        "foreign": tuple(_foreign(form)),
    }


def _checks(form: Mapping[str, str]) -> Iterator[CounterCheck]:
    for line in _lines(form, "counter_checks"):
        number, _, typed = line.rpartition(" ")
        if not number:
            raise _wrong(line, "counter checks", "K-104 200.00")
        yield CounterCheck(number.strip(), cents(typed, "counter checks") or 0)


def _vouchers(form: Mapping[str, str]) -> Iterator[str | Voucher]:
    for line in _lines(form, "vouchers"):
        number, _, typed = line.rpartition(" ")
        yield Voucher(number.strip(), cents(typed, "vouchers")) if number else line


def _foreign(form: Mapping[str, str]) -> Iterator[ForeignNotes]:
    found: dict[tuple[str, str], dict[str, int]] = {}
    for line in _lines(form, "foreign"):
        match = _FOREIGN.fullmatch(line)
        if match is None:
            raise _wrong(line, "foreign notes", "EUR 1.0850 50.00 x 3")
        notes = found.setdefault((match[1], match[2]), {})
        _add(notes, cents(match[3], "foreign notes") or 0, int(match[4]))
    return (ForeignNotes(currency, notes, rate) for (currency, rate), notes in found.items())


def _lines(form: Mapping[str, str], field: str) -> list[str]:
    found = [line.strip() for line in form.get(field, "").splitlines() if line.strip()]
    if len(found) > LINES_MAX:
        raise Usage(f"`{field}` has too many lines", where=field, hint=f"At most {LINES_MAX:,}.")
    return found


def _wrong(line: str, field: str, example: str) -> Usage:
    return Usage(f"`{line}` cannot be read", where=field, hint=f"Give it as {example}.")
