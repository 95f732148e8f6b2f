"""A gaming day's wins as people read them: figures, and a sentence for each item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.finance.win import rake_in
from ledger.values import dollars, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.finance.win import ExpectedWin, TableWin

FIGURES = ("drop", "counted", "moved", "owed", "count_gap", "pay_gap")
"""The figures of a line, by name."""

_MISSING = {
    "opener": "the tray was not counted at the opening, nor at the end of the day before",
    "closer": "the tray was not counted at the drop or at the closing",
    "box": "box {} has not been counted",
    "voucher": "box {} was counted, and no amount is on record of a voucher in it",
    "box or voucher": "box {} has not been counted, or a voucher in it has no amount",
    "box at several": "box {} was counted at several tables or days; correct what is wrong",
    "no box": "the table played or sold chips for a box, and no box is on record",
    "round": "round {} is closed, and not every wager of it can be settled",
    "reopen": "{} is closed with papers that are of this day now",
    "slip": "the cage accepted slip {} and named no table, and several tables used its number; "
    "correct the acceptance",
    "fact": "fact {} was recorded twice with different content, and nobody decided which is true",
}


def cents_of(of: TableWin) -> tuple[int | None, ...]:
    """The `FIGURES` in cents; None where an input is missing."""
    return (of.drop.total, of.counted, of.moved, of.owed, of.count_gap, of.pay_gap)


def figures(of: TableWin) -> list[str | None]:
    """The `FIGURES` in dollars; None where an input is missing."""
    return [None if each is None else dollars(each) for each in cents_of(of)]


def graded(of: TableWin) -> str:
    """The grade of a win; of a closed day with its version."""
    return f"{of.grade} v{of.version}" if of.version else of.grade


def missing_says(of: TableWin, name: str) -> str:
    """What a name in its `missing` means."""
    kind, _, which = name.partition(":")
    if kind == "box":
        kind = _missing_of_box(of, name)
    return _MISSING[kind].format(which)


def _missing_of_box(of: TableWin, name: str) -> str:
    """What is not known of a box: cash is the sum of all boxes, and so known if all are counted."""
    if name == "box":
        return "no box"
    if of.drop.total is not None:
        return "box at several"
    if of.drop.cash is not None:
        return "voucher"
    is_only_one = sum(each.startswith("box:") for each in of.missing) == 1
    return "box" if is_only_one else "box or voucher"


def explained(of: TableWin) -> Iterator[str]:
    """Its items, causes, exceptions and missing papers, a sentence each."""
    for item in of.items:
        where = f"round {item.round}: " if item.round else ""
        yield f"{item.gap} gap {signed(item.amount)} · {where}{item.says}"
    gaps = {item.gap for item in of.items}
    for cause in of.causes:
        where = "" if cause.gap in (None, *gaps) else ", in no gap"
        yield f"cause {signed(cause.amount)}{where} · {cause.says}"
    for exception in of.exceptions:
        yield f"exception · {exception.says}"
    for name in of.missing:
        yield f"missing · {missing_says(of, name)}"
    yield from _apart(of)
    for name, amount in of.told.items():
        yield f"as recorded, without corrections · {named(name, amount, dollars)}"
    if of.late:
        came = quantity(len(of.late), "fact")
        yield f"late · {came} came after the day was closed, and no figure above has what came"
    for name, amount in of.pending.items():
        yield f"pending · {named(name, amount, signed)}"


def _apart(of: TableWin) -> Iterator[str]:
    """What is in no figure: tournaments, the rounds by game, and the win of the paytables."""
    if of.tournaments:
        entries, prizes = dollars(of.tournaments.entries), dollars(of.tournaments.prizes)
        left = signed(of.tournaments.win)
        yield f"tournaments {left} · entries {entries} less prizes {prizes}, in no figure above"
    for each in of.games or ():
        told = (("moved", each.moved), ("owed", each.owed), ("pay_gap", each.pay_gap))
        says = ", ".join(named(name, cents, dollars) for name, cents in told)
        yield f"rounds of {each.game or 'no game'} · {says}, handle {dollars(each.handle)}"
    if of.expected:
        yield f"expected · {luck(of.expected, of.handle)}"
    if of.expected_lacks:
        yield f"expected · n/a: no mean or sigma is known of {', '.join(of.expected_lacks)}"


def rake_apart(of: TableWin) -> str | None:
    """What a sum of poker and other games has in moved alone, as a sentence; None: nothing."""
    if of.owed is None or not (rake := rake_in(of)):
        return None
    return f"moved has {dollars(rake)} of poker's rake; nothing is owed for it, and no gap has it"


def luck(of: ExpectedWin, handle: int) -> str:
    """The expected win in a sentence: the mean, sigma, and where the owed win lies."""
    if of.z is None:
        why = "no wager was settled" if handle else "nothing was wagered"
        return f"{dollars(of.win)} by the paytables; {why}"
    side = "below" if of.z.startswith("-") else "above"
    return (
        f"{dollars(of.win)} by the paytables, sigma {dollars(of.sigma)}; "
        f"owed is {of.z.lstrip('-')} sigmas {side} that"
    )


def named(name: str, amount: int | None, money: Callable[[int], str]) -> str:
    """A figure by its name, in dollars, seconds or pieces; n/a where an input is missing."""
    if amount is None:
        return f"{plain(name)} n/a"
    unit = " s" if name == "seconds" else ""
    return f"{plain(name)} {money(amount) if is_money(name) else f'{amount}{unit}'}"


def is_money(name: str) -> bool:
    """Whether a figure is of money; others are seconds, coupons and exceptions."""
    return name not in ("seconds", "coupons.counted") and not name.startswith("exceptions.")


_NAMES = {"drop.taken_over": "drop that another day has now"}


def plain(name: str) -> str:
    """A figure's name as people read it: `drop: counter checks`."""
    return _NAMES.get(name) or name.replace("_", " ").replace(".", ": ")


def signed(amount: int) -> str:
    """Cents with their sign: `+$5.00`."""
    return f"+{dollars(amount)}" if amount > 0 else dollars(amount)
