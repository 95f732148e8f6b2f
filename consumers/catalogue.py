"""Every view there is, by name, and the step that makes their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers import (
    camera_marks,
    cameras,
    disputes,
    drop,
    finds,
    openings,
    payouts,
    projection,
    rounds,
    rulings,
    table_board,
)
from ledger.errors import NotFound

if TYPE_CHECKING:
    from infra.postgres import Database

VIEWS = (
    rounds.ROUND_INDEX,
    table_board.VIEW,
    drop.DROP,
    payouts.VIEW,
    rulings.VIEW,
    cameras.CAMERAS,
    disputes.VIEW,
    finds.VIEW,
    openings.VIEW,
    camera_marks.VIEW,
)
"""In the order they are kept up; each stands alone."""


def view(name: str) -> projection.Projection:
    """A view by name. Raises `NotFound`."""
    for each in VIEWS:
        if each.name == name:
            return each
    raise NotFound(
        f"There is no view {name}",
        where="consumers",
        hint=f"Name one of: {', '.join(each.name for each in VIEWS)}.",
    )


def install(base: Database) -> list[str]:
    """Create, as the owner, the views that this database lacks; the names of those made."""
    return projection.install(base, VIEWS)
