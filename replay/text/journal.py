"""A journal of double entries as text that hledger or Beancount reads.

Amounts have the currency behind them. Counts are balance assertions, to the cent. The accounts are
those of `ledger.finance.journal`. Beancount wants each part capitalised, and `-` for other signs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from ledger.errors import Usage
from ledger.finance.placing import calendar_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ledger.finance.journal import JournalEntry

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9-]")
_DIGEST = 8
"""Hexadecimal digits that keep two accounts apart."""

JournalFormat = Literal["hledger", "beancount", "json"]


def require_one_house(found: Sequence[JournalEntry], option: str = "--property ") -> None:
    """Raises `Usage` for entries of several casinos, whose accounts have the same names.

    option: how a casino is named where the journal is asked for.
    """
    houses = sorted({entry.property for entry in found})
    if len(houses) > 1:
        raise Usage(
            f"The record has {' and '.join(houses)}, and a journal is of one casino",
            where="journal",
            hint=f"Give {option}{houses[0]}.",
        )


def hledger(entries: Sequence[JournalEntry]) -> Iterator[str]:
    """The lines of a journal that `hledger check --strict` accepts."""
    accounts = _accounts(entries)
    for currency in sorted({entry.currency for entry in entries}):
        yield f"commodity 1000.00 {currency}"
    yield from (f"account {account}" for account in accounts)
    for entry in entries:
        yield ""
        title = _plain(f"{entry.table}: {entry.says}")
        yield f"{calendar_date(entry.gaming_day)} * {title}  ; entry:{_name(entry)}"
        balances = {each.account: each.amount for each in entry.balances}
        amounts = {each.account: each.amount for each in entry.postings}
        for account in {**amounts, **balances}:
            counted = f" = {_money(balances[account], entry)}" if account in balances else ""
            yield f"    {account}  {_money(amounts.get(account, 0), entry)}{counted}"


def beancount(entries: Sequence[JournalEntry]) -> Iterator[str]:
    """The lines of a journal that `bean-check` accepts.

    A balance holds there as its day begins. So each last count of a day has the next date.
    """
    names = _beancount_names(_accounts(entries))
    for currency in sorted({entry.currency for entry in entries}):
        yield f'option "operating_currency" "{currency}"'
    first = min((calendar_date(entry.gaming_day) for entry in entries), default=None)
    yield from (f"{first} open {name}" for name in names.values())
    for entry in filter(_has_postings, entries):
        yield ""
        yield f'{calendar_date(entry.gaming_day)} * "{_plain(entry.table)}" "{_plain(entry.says)}"'
        yield f'  entry: "{_name(entry)}"'
        for posting in entry.postings:
            yield f"  {names[posting.account]}  {_money(posting.amount, entry)}"
    yield ""
    for day, account, counted in _last_counts(entries):
        yield f"{day} balance {names[account]}  {counted}"


TEXTS: Mapping[JournalFormat, Callable[[Sequence[JournalEntry]], Iterator[str]]] = {
    "hledger": hledger,
    "beancount": beancount,
}
"""The lines of a journal for each program that reads it as text."""


def _has_postings(entry: JournalEntry) -> bool:
    """Whether an entry moves anything; one that only holds counts has its balances alone."""
    return bool(entry.postings)


def _accounts(entries: Iterable[JournalEntry]) -> list[str]:
    """Every account, in order."""
    return sorted({each.account for e in entries for each in (*e.postings, *e.balances)})


def _last_counts(entries: Iterable[JournalEntry]) -> Iterator[tuple[date, str, str]]:
    """The balance of an account that no entry of its day changes afterwards, with the next date."""
    last: dict[tuple[date, str], str | None] = {}
    for entry in entries:
        day = calendar_date(entry.gaming_day)
        last |= {(day, each.account): None for each in entry.postings}
        exactly = {
            e.account: f"{_figure(e.amount)} ~ 0.00 {entry.currency}" for e in entry.balances
        }
        last |= {(day, account): counted for account, counted in exactly.items()}
    for (day, account), counted in sorted(last.items(), key=lambda each: each[0]):
        if counted is not None and day < date.max:
            yield day + timedelta(days=1), account, counted


def _beancount_names(accounts: Iterable[str]) -> Mapping[str, str]:
    """Beancount's name of each account. Names that would be one get a digest of the account.

    So does a name under which others stand: a balance there counts theirs, too.
    """
    plain: dict[str, list[str]] = defaultdict(list)
    for account in accounts:
        plain[":".join(map(_part, account.split(":")))].append(account)
    above = {name.rpartition(":")[0] for name in plain}
    return {
        account: name if len(same) == 1 and name not in above else f"{name}-{_digest(account)}"
        for name, same in plain.items()
        for account in same
    }


def _part(text: str) -> str:
    """A part of an account's name: `Box-Cash` of `box_cash`. It begins with a letter or digit."""
    words = _NOT_IN_A_NAME.sub("-", text).split("-")
    name = "-".join(word[:1].upper() + word[1:] for word in words)
    return f"X{name}" if name[:1] in ("", "-") else name


def _digest(account: str) -> str:
    return sha256(account.encode()).hexdigest()[:_DIGEST]


def _name(entry: JournalEntry) -> str:
    """What identifies an entry."""
    return _plain(f"{entry.property}/{entry.gaming_day}/{entry.table}/{entry.entry}")


def _plain(text: str) -> str:
    """A text without signs that end a comment, a string or a line."""
    return "".join(each if each.isprintable() and each not in ';,"\\' else "_" for each in text)


def _money(cents: int, entry: JournalEntry) -> str:
    return f"{_figure(cents)} {entry.currency}"


def _figure(cents: int) -> str:
    """Cents as dollars: `-12.05`."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02d}"
