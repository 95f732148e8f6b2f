"""What a Rules Submission says of a progressive meter: its `progressives`, by wager.

`{"meter": "link-7", "rate": "1/10", "initial": 500000, "reset": 500000}`, amounts in cents. Only
what is filed is read here; no wager is settled by it.
"""

from __future__ import annotations

from fractions import Fraction

AMOUNTS = ("reset", "initial")
TERMS = ("meter", "rate", *AMOUNTS)
"""What a Rules Submission says of a meter."""


def amount_of(told: object, least: int) -> int | None:
    """Cents that a meter begins at, or is reset to: as much as the section asks for at least."""
    whole = isinstance(told, int) and not isinstance(told, bool)
    return told if whole and told >= least else None  # type: ignore[operator,return-value]  # an int


def rate_of(told: object) -> Fraction | None:
    """The part of each wager that its meter goes up by: `1/10`, `10%` or `0.1`."""
    text = str(told)
    try:
        rate = Fraction(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        return None
    return rate if 0 < rate <= 1 else None
