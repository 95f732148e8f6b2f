"""The registry of all views, and the creation of their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.cameras import cameras, clock_marks
from consumers.disputes import disputes
from consumers.finance import coupons_and_checks, meters, money_facts
from consumers.finance.sealed import seals
from consumers.floor import openings, table_board
from consumers.money import drop, payouts
from consumers.review import desk, footage_marks
from consumers.rounds import index, search_index
from consumers.rulings import rulings
from consumers.runtime import lifecycle
from ledger.errors import NotFound

if TYPE_CHECKING:
    from infra.postgres.connection import Database

VIEWS = (
    index.ROUND_INDEX,
    table_board.VIEW,
    drop.DROP,
    payouts.VIEW,
    rulings.VIEW,
    cameras.CAMERAS,
    disputes.VIEW,
    search_index.VIEW,
    openings.VIEW,
    money_facts.VIEW,
    seals.VIEW,
    coupons_and_checks.VIEW,
    meters.VIEW,
    clock_marks.VIEW,
    desk.VIEW,
    footage_marks.VIEW,
)
"""In the order they are updated; no view depends on another."""


def view(name: str, *others: str) -> lifecycle.Projection:
    """A view by name. others: names that a command takes too, for the hint. Raises `NotFound`."""
    for each in VIEWS:
        if each.name == name:
            return each
    raise NotFound(
        f"There is no view named {name}",
        where="NAME",
        hint=f"Name one of: {', '.join((*others, *(each.name for each in VIEWS)))}.",
    )


def install(database: Database) -> list[str]:
    """Create missing views, as the owner; returns the names of those created."""
    return lifecycle.install(database, VIEWS)
