"""The index of the regulations: which paragraphs there are, from when, and where they are printed.

Numbers and dates only, no text. `index.json` was made by reading each printed chapter for its
section and paragraph numbers, and then marking by hand the paragraphs that move money: those by
which chips are wagered, won, lost, returned or refused, or a hand or throw is ranked.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Chapter(msgspec.Struct, frozen=True):
    """One printed chapter. Dates are days, `YYYY-MM-DD`, None where the print does not say."""

    status: str  # "temporary", "proposed", "codified"
    effective_from: str | None
    effective_until: str | None
    source: str  # where it was published
    whole: bool  # every paragraph is listed; otherwise those that others refer to
    paragraphs: dict[str, bool]  # chapter-relative number -> whether it moves money


@cache
def chapters() -> Mapping[str, Chapter]:
    """Every chapter of the index by its number, `592`."""
    octets = files(__name__).joinpath("index.json").read_bytes()
    return msgspec.json.decode(octets, type=dict[str, Chapter])


def resolves(section: str) -> bool:
    """Whether a section as it is printed, `592.12(b)`, stands in the index."""
    number, _, paragraph = section.partition(".")
    chapter = chapters().get(number)
    return chapter is not None and paragraph in chapter.paragraphs
