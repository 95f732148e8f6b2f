"""Minibaccarat: every coup (`coups`), at the odds of its chapter and the standard game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.edges import coups
from ledger.games.minibaccarat import PRINTED

if TYPE_CHECKING:
    from ledger.edges import Edge
    from ledger.rules.engine.game import InForce


def edges(rules: InForce) -> list[Edge]:
    """The edges of the three outcomes, and of House Money taken or pressed."""
    return coups.edges(rules, PRINTED)
