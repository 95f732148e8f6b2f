"""Texts and amounts for spreadsheets: no cell is taken for a formula."""

import re

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would take for a formula."""


_NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


def safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula; a plain number is none."""
    is_formula = text.startswith(FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def decimal(hundredths: int) -> str:
    """Cents as dollars, or hundredths of a percent as percent: `-12.05`."""
    whole, rest = divmod(abs(hundredths), 100)
    return f"{'-' if hundredths < 0 else ''}{whole}.{rest:02d}"
