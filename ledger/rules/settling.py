"""What one stake is owed, as a settlement."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.rules.ruling import Settlement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.game import InForce
    from ledger.rules.odds import Row
    from ledger.rules.steps import Spot


def decided(
    spot: Spot,
    stake: int,
    row: Row | None,
    rules: InForce,
    section: str,
    throw: int | None,
    letter: str | None,
    readings: Sequence[str],
) -> Settlement:
    """A stake paid by a printed row, or lost where there is none. `section` chapter-relative.

    `readings` are those the outcome depended on; a row may stand under one of its own.
    """
    seat, wager, hand = spot
    exact = Fraction(-stake) if row is None else stake * row.ratio
    named = (row.reading[0],) if row and row.reading else tuple(readings)
    values = [str(rules.readings[name]) for name in named]
    return Settlement(
        position=seat,
        hand=hand,
        wager=wager,
        throw=throw,
        stake=stake,
        outcome="lose" if row is None else "push" if row.pushes else "win",
        row=row.label if row else None,
        odds=row.odds if row else None,
        net=-stake if row is None else rules.broken(exact),
        exact_net=str(exact),
        paytable=letter,
        section=rules.section(section),
        reading=", ".join(named) or None,
        reading_value=", ".join(values) or None,
    )


def voided(spot: Spot, stake: int, section: str) -> Settlement:
    """A stake that goes back. `section` as printed."""
    seat, wager, hand = spot
    return Settlement(
        position=seat,
        hand=hand,
        wager=wager,
        stake=stake,
        outcome="void",
        net=0,
        exact_net="0",
        section=section,
    )
