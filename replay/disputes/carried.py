"""What a new dispute takes over from its round: amount and moments, so that nobody types them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import Usage
from ledger.facts import Attached, FactRef
from ledger.values import dollars, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from replay.rounds.story import Story

MOMENTS_MAX = 64
"""The most moments of one note, as the fact has it."""

_VALUE = re.compile(
    r"fact:(?P<fact>[1-9]\d{0,5})|time:(?P<time>\d{1,16})|camera:(?P<at>\d{1,16}):(?P<camera>.{1,128})",
    re.ASCII,
)


class OfferedMoment(NamedTuple):
    """A moment that can be taken over. value: as a form sends it; time_us: by the reference."""

    value: str
    says: str
    time_us: int | None


def usual_position(story: Story) -> int | None:
    """The only position that got another amount than the ruling says; None: none, or several."""
    wrong = {line.position for line in story.lines if line.difference}
    return wrong.pop() if len(wrong) == 1 else None


def amount_text(story: Story, position: int) -> str | None:
    """What a position is owed and got, as a sentence; None: the ruling does not say yet."""
    lines = [line for line in story.lines if line.position == position]
    differences = [line.difference for line in lines]
    if not lines or None in differences:
        return None
    owed, got = sum(line.owed for line in lines), sum(line.gained for line in lines)
    left = sum(each or 0 for each in differences)
    which = "much" if left > 0 else "little"
    how = f"{dollars(abs(left))} too {which}" if left else "as owed"
    what = f"is owed {dollars(owed)} and got {dollars(got)}"
    return f"By the ruling position {position} {what}: {how}."


def of_findings(story: Story, position: int) -> Iterator[OfferedMoment]:
    """The last fact of each finding about a position."""
    at = {(each.source, each.id): each for each in story.moments}
    for finding in story.ruling.findings if story.ruling else ():
        its = [at[each.source, each.id] for each in finding.facts if (each.source, each.id) in at]
        if its and finding.position == position:
            last = max(its, key=lambda each: each.number)
            yield OfferedMoment(f"fact:{last.number}", finding.says, last.time_us)


def taken_over(story: Story, values: Sequence[str]) -> list[Attached]:
    """The moments that a form names. Raises `Usage`."""
    round_, found = str(story.round), []
    for value in values[:MOMENTS_MAX]:
        match = _VALUE.fullmatch(value)
        number = int(match["fact"]) if match and match["fact"] else 0
        if match is None or number > len(story.moments):
            hint = "Open the form again."
            raise Usage("There is no such moment", where="moment", hint=hint)
        if number:
            fact = story.moments[number - 1]
            found.append(Attached(round=round_, fact=FactRef(fact.source, fact.id)))
        elif match["time"]:
            found.append(Attached(round=round_, reference_time=format_time(int(match["time"]))))
        else:
            at = format_time(int(match["at"]))
            found.append(Attached(round=round_, camera=match["camera"], camera_time=at))
    return found
