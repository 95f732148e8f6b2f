"""Every fact the floor can report, as typed structs, and the registry of their stored names.

A stored name (`wager_placed.v1`) is never a Python path: code may move, the tape may not. A fact's
struct is named after it: `wager_placed` is `WagerPlaced`.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from ledger.facts import (
    accounting,
    approvals,
    cameras,
    cases,
    keys,
    money,
    record,
    review,
    rounds,
    tables,
)
from ledger.facts.accounting import *  # noqa: F403 - other packages import every fact from here
from ledger.facts.approvals import *  # noqa: F403 - as above
from ledger.facts.cameras import *  # noqa: F403 - as above
from ledger.facts.cases import *  # noqa: F403 - as above
from ledger.facts.keys import *  # noqa: F403 - as above
from ledger.facts.money import *  # noqa: F403 - as above
from ledger.facts.record import *  # noqa: F403 - as above
from ledger.facts.review import *  # noqa: F403 - as above
from ledger.facts.rounds import *  # noqa: F403 - as above
from ledger.facts.tables import *  # noqa: F403 - as above
from ledger.facts.upcasters import UPCASTERS as UPCASTERS
from ledger.facts.vocabulary import *  # noqa: F403 - as above
from ledger.facts.vocabulary import Body as Body


def _stored_name(cls: type[Body]) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__)
    return f"{words.lower()}.v1"


def _family(module: ModuleType) -> dict[str, type[Body]]:
    """The facts that a module defines: its bodies without subclasses."""
    return {
        _stored_name(cls): cls
        for cls in vars(module).values()
        if isinstance(cls, type)
        and issubclass(cls, Body)
        and cls.__module__ == module.__name__
        and not cls.__subclasses__()
    }


_ROUNDS = _family(rounds)

FACTS: dict[str, type[Body]] = {
    **_ROUNDS,
    **_family(tables),
    **_family(money),
    **_family(accounting),
    **_family(cameras),
    **_family(cases),
    **_family(review),
    **_family(keys),
    **_family(record),
    **_family(approvals),
}
"""The struct of every current fact, by its stored type name."""

_TODAY = {name: name.rpartition(".")[0] + ".v1" for name in UPCASTERS}

ROUND_FACTS: frozenset[str] = frozenset(_ROUNDS) | frozenset(
    name for name, today in _TODAY.items() if today in _ROUNDS
)
"""Stored names of the facts that belong to a round, earlier versions included."""

SUBJECT_REQUIRED: frozenset[str] = ROUND_FACTS | {"rules_submission_filed.v1"}
"""Stored names of the facts that need a `subject`."""

_NAMES = {cls: name for name, cls in FACTS.items()}


_T = TypeVar("_T")


def every_version(of: Mapping[str, _T]) -> dict[str, _T]:
    """A mapping by current stored names, with the earlier versions' names added.

    Use it to look rows up by stored name. An old fact has its old name, but its decoded body is the
    current one.
    """
    return {**of, **{name: of[today] for name, today in _TODAY.items() if today in of}}


WAGER_MONEY = every_version(
    {
        "wager_placed.v1": "placed",
        "wager_withdrawn.v1": "placed",
        "wager_paid.v1": "paid",
        "wager_collected.v1": "collected",
        "wager_returned.v1": "returned",
    }
)
"""Stored names of the facts of one wager's money, by the amount that they add to."""


def wager_money(type_: str, body: Any) -> tuple[str, int]:  # noqa: ANN401 - a fact of WAGER_MONEY
    """Which amount of a wager a fact adds to, and how much: chips taken back lessen `placed`."""
    return WAGER_MONEY[type_], -body.amount if isinstance(
        body, rounds.WagerWithdrawn
    ) else body.amount


def type_name(cls: type[Body]) -> str:
    """The stored name of a current fact's struct: `wager_placed.v1` for `WagerPlaced`.

    Raises KeyError for a struct that is no current fact.
    """
    return _NAMES[cls]
