"""A paper of the floor in words, for the person who signs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ledger.facts import DropBoxCounted, type_name
from ledger.finance.boxes import money_in
from ledger.values import dollars, sum_known

if TYPE_CHECKING:
    from ledger.facts import Body

_MONEY = frozenset(("total", "face", "amount", "unexplained"))
_PIECES = frozenset(("chips", "currency"))
_CENTS = 100


def paper_name(body: Body) -> str:
    """The name of a paper's fact: fill dispatched."""
    return type_name(type(body)).partition(".")[0].replace("_", " ")


def paper_says(body: Body, at: str) -> list[tuple[str, str]]:
    """The place, and the name and the text of each field of a paper. Amounts are in dollars.

    The count of a box has its total, too, if each of its vouchers has an amount.
    """
    property_, _, table = at.partition("/")
    places = {"casino": property_, "table": table}
    named = msgspec.to_builtins(body)
    says = [(name, text) for name, text in places.items() if text and name not in named]
    says += [
        (name.replace("_", " "), _text(name, value) or "none") for name, value in named.items()
    ]
    total = sum_known(money_in(body, {}).values()) if isinstance(body, DropBoxCounted) else None
    return says if total is None else [*says, ("total without coupons", dollars(total))]


def _text(name: str, value: object) -> str:
    if isinstance(value, dict) and name in _PIECES:
        return ", ".join(f"{dollars(int(each))} x {count}" for each, count in value.items())
    if isinstance(value, dict) and name == "notes":  # of another currency
        amounts = ((divmod(int(each), _CENTS), count) for each, count in value.items())
        return ", ".join(f"{whole}.{rest:02d} x {count}" for (whole, rest), count in amounts)
    if isinstance(value, dict):
        return " ".join(_text(each, its) for each, its in value.items())
    if isinstance(value, list | tuple):
        between = " to " if name == "held" else ", "
        return ", ".join(
            between.join(map(str, each)) if isinstance(each, list | tuple) else _text(name, each)
            for each in value
        )
    if isinstance(value, int) and name in _MONEY:
        return dollars(value)
    return str(value)
