"""Reads one sentence: chips, the search they make, and what was not understood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from consumers.rounds.search import Filters
from replay.ask.grammar import statements
from replay.ask.meaning import ADDED, Chip, SentenceReading, Unread, filters_of, meant, together
from replay.ask.neighbours import in_context
from replay.ask.tokens import pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from replay.ask.house import House

TEXT_MAX = 300
"""The most characters of a sentence."""


class Understood(Struct, frozen=True):
    """A sentence as it was understood.

    filters: the search of all chips. unread: words that no filter stands for, with the reason.
    passed_over: words without a meaning of their own, such as `the` and `please`.
    """

    text: str
    chips: tuple[Chip, ...]
    filters: Filters
    unread: tuple[Unread, ...]
    passed_over: tuple[str, ...]

    def and_(self, given: Filters) -> Filters:
        """The sentence's filters with those given beside it, which hold where both have one."""
        usual = Filters()
        more = {n: v for n, v in asdict(given).items() if v != getattr(usual, n)}
        return replace(self.filters, **more)


def understand(text: str, house: House, now_us: int) -> Understood:
    """Read a sentence with the names and the clock of a house, at a moment."""
    text = " ".join(text.split())[:TEXT_MAX]
    told = statements(in_context(pieces(text, house)))
    reading = SentenceReading(text, house, now_us, told)
    chips: list[Chip] = []
    unread: list[Unread] = []
    values: dict[str, Any] = {}
    for each in meant(reading):
        if isinstance(each, Unread):
            unread.append(each)
        elif _fits(each, values):
            values = together(values, each.values)
            chips.append(each)
        else:
            unread.append(Unread(each.words, f"One {each.field} at a time.", each.start))
    passed = tuple(text[each.start : each.end] for each in told if each.rule == "ignored")
    return Understood(text, tuple(chips), filters_of(chips), _joined(unread), passed)


def _fits(chip: Chip, values: Mapping[str, Any]) -> bool:
    """Whether a chip says nothing else than the chips before it."""
    for name, value in chip.values.items():
        if name == "amounts" and any(a.kind == b.kind for a in values.get(name, ()) for b in value):
            return False
        if name not in ADDED and values.get(name, value) != value:
            return False
    return True


def _joined(unread: Sequence[Unread]) -> tuple[Unread, ...]:
    """Neighbouring words without any meaning as one."""
    found: list[Unread] = []
    for each in unread:
        before = found[-1] if found else None
        if (
            before
            and before.why == each.why
            and not (before.choices or each.choices)
            and each.start == before.start + len(before.words) + 1
        ):
            found[-1] = Unread(f"{before.words} {each.words}", each.why, before.start)
        else:
            found.append(each)
    return tuple(found)
