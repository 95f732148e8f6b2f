"""Every view there is, by name, and the step that makes their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.cameras import cameras, clock_marks
from consumers.disputes import disputes
from consumers.floor import openings, table_board
from consumers.money import drop, payouts
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
    clock_marks.VIEW,
)
"""In the order they are kept up; each stands alone."""


def view(name: str) -> lifecycle.Projection:
    """A view by name. Raises `NotFound`."""
    for each in VIEWS:
        if each.name == name:
            return each
    raise NotFound(
        f"There is no view {name}",
        where="consumers",
        hint=f"Name one of: {', '.join(each.name for each in VIEWS)}.",
    )


def install(database: Database) -> list[str]:
    """Create, as the owner, the views that this database lacks; the names of those made."""
    return lifecycle.install(database, VIEWS)
