"""The index of the regulations: which paragraphs there are, from when, and where they are printed.

The index holds numbers, names and dates, without the text. Each chapter has one file. Its section
and paragraph numbers were read from the print. The paragraphs that move money are marked by hand:
by them chips are wagered, won, lost, returned or refused, or a hand or throw is ranked.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Amendment(msgspec.Struct, frozen=True):
    """A later document that a section of a chapter is printed from."""

    source: str
    effective_from: str | None  # "YYYY-MM-DD"


class Chapter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One chapter. Dates are days, `YYYY-MM-DD`, None if the print does not say."""

    title: str
    status: str  # "temporary", "proposed", "codified"
    effective_from: str | None
    effective_until: str | None
    source: str  # where it was published
    whole: bool  # every paragraph of the chapter is printed and listed
    paragraphs: dict[str, bool]  # every printed one: chapter-relative number -> moves money
    scope: tuple[str, ...] = ()  # the sections that decide its money
    partly: tuple[str, ...] = ()  # sections printed with gaps
    amended: dict[str, Amendment] = {}  # sections printed from a later document
    referred: tuple[str, ...] = ()  # not printed: the prints only refer to them
    rescinded_by: str | None = None  # where its rescission is published

    def in_scope(self) -> dict[str, bool]:
        """The printed paragraphs of `scope`, and whether each moves money."""
        return {
            paragraph: money
            for paragraph, money in self.paragraphs.items()
            if paragraph.partition("(")[0] in self.scope
        }


class Origin(NamedTuple):
    """The document a section comes from, and the day it took effect."""

    status: str
    source: str
    effective_from: str | None
    printed: bool  # False: the documents only refer to it


@cache
def chapters() -> Mapping[str, Chapter]:
    """Every chapter of the index by its number, `592`."""
    found = sorted(path.name for path in files(__name__).iterdir() if path.name.endswith(".json"))
    return {
        name.removesuffix(".json"): msgspec.json.decode(
            files(__name__).joinpath(name).read_bytes(), type=Chapter
        )
        for name in found
    }


def resolves(section: str) -> bool:
    """Whether a section as it is cited, `592.12(b)`, stands in the index."""
    return origin(section) is not None


def origin(section: str) -> Origin | None:
    """Which document a section as it is cited, `592.12(b)`, comes from; None if none has it."""
    number, _, paragraph = section.partition(".")
    chapter = chapters().get(number)
    if chapter is None or paragraph not in (*chapter.paragraphs, *chapter.referred):
        return None
    later = chapter.amended.get(paragraph.partition("(")[0])
    return Origin(
        chapter.status,
        later.source if later else chapter.source,
        later.effective_from if later else chapter.effective_from,
        paragraph in chapter.paragraphs,
    )
