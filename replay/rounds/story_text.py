"""Prints a story: as JSON objects, or as text of 100 columns.

Every time has its clock and its uncertainty, every owed amount its section.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import to_builtins
from msgspec.structs import asdict
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from ledger.games import games
from ledger.values import format_time, quantity
from replay.rounds.drawing import boxed_table, draw
from replay.rounds.story import ruled_by
from replay.text import times
from replay.text.money import money, sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo

    from rich.console import RenderableType
    from rich.table import Table

    from replay.cameras.timeline import FrameLookup
    from replay.rounds.owed import OwedLine
    from replay.rounds.story import Story

_NAMED_APART = ("number", "position", "source", "id", "time_us", "fact", "says", "phase")


def moment_json(story: Story, at: int) -> dict[str, object]:
    """The moment after fact `at` (from 1): the fact, the table, and the footage of each camera."""
    moment, row, seen = story.moments[at - 1], story.rows[at - 1], story.seen[at - 1]
    table = {name: it for name, it in asdict(moment).items() if name not in _NAMED_APART}
    return {
        "round": story.round.subject,
        "property": story.round.property,
        "moment": at,
        "of": len(story.moments),
        "position": row.position,
        "source": moment.source,
        "id": moment.id,
        "time": story.times[at - 1],
        "plus_minus_ms": _ms(seen.plus_minus_us),
        "fact": moment.fact,
        "says": moment.says,
        "phase": moment.phase,
        "corrected": story.corrected.get((moment.source, moment.id)),
        "table": table,
        "cameras": [_sight_json(sight) for sight in seen.sights],
    }


def ruling_json(story: Story) -> dict[str, object]:
    """The last object of a replay: the ruling, the money, and what is missing."""
    return {
        "round": story.round.subject,
        "property": story.round.property,
        "game": story.game,
        "ruling": story.ruling,
        "paid_beside_owed": story.lines,
        "missing": story.missing,
    }


def _sight_json(sight: FrameLookup) -> dict[str, object]:
    """A camera's lookup, with its time as text by its own clock."""
    told: dict[str, object] = to_builtins(sight)
    at_us, plus_minus_us = told.pop("camera_time_us"), told.pop("plus_minus_us")
    told["camera_time"] = format_time(at_us) if isinstance(at_us, int) else None
    told["plus_minus_ms"] = _ms(plus_minus_us) if isinstance(plus_minus_us, int) else None
    return told


def _ms(microseconds: int) -> int:
    """Milliseconds, rounded up, so that an uncertainty never becomes smaller."""
    return times.whole_ms(microseconds)


def tell(
    story: Story, zone: tzinfo, *, at: int | None = None, hindsight: bool
) -> Iterator[RenderableType]:
    """The whole story as text, by the house's clock; or only the moment after fact `at`."""
    yield from _heading(story, zone)
    states = {sight.state for seen in story.seen for sight in seen.sights}
    filmed = states != {"no_camera_mapped"}
    if not filmed:
        yield Text(f"No camera was mapped to {story.round.table} during the round.")
    for number in [at] if at else range(1, len(story.moments) + 1):
        yield from _moment(story, number, zone, hindsight=hindsight, filmed=filmed)
    if at is None:
        yield from tell_ruling(story)


def _heading(story: Story, zone: tzinfo) -> Iterator[RenderableType]:
    game = games().get(story.game or "")
    title = game.title if game else story.game or "a game not on record"
    yield Text(f"{story.round} · {title} · {quantity(len(story.moments), 'fact')}", style="bold")
    ruling = story.ruling
    if ruling:
        yield Text(ruled_by(ruling))
    named = times.zone_name(zone)
    yield Text(f"Times are by the devices' clocks; a camera's are by its own clock. Zone: {named}.")
    yield Text("░░░ a card face down · +$ winnings paid · -$ collected · $ back returned")


def _moment(
    story: Story, at: int, zone: tzinfo, *, hindsight: bool, filmed: bool
) -> Iterator[RenderableType]:
    moment, seen = story.moments[at - 1], story.seen[at - 1]
    device = moment.source.rpartition("/")[2]
    when = times.as_recorded(story.times[at - 1], zone)
    title = f"{at} · {when} ±{_ms(seen.plus_minus_us)} ms · {device}"
    yield Rule(Text(f"{title} · {moment.phase}"), align="left", characters="─", style="dim")
    yield Padding(Text(moment.says, style="bold"), (0, 0, 0, 4))
    since = story.corrected.get((moment.source, moment.id))
    if since:
        yield Padding(Text(since), (0, 0, 0, 4))
    yield draw(moment, story.game, hindsight=hindsight)
    for sight in seen.sights if filmed else ():
        yield Padding(Text(sight_text(sight, zone), style="dim"), (0, 0, 0, 4))


def sight_text(sight: FrameLookup, zone: tzinfo) -> str:
    """One camera's footage of a fact on one line: camera time, uncertainty, frame."""
    if sight.camera is None:
        return f"no camera: {sight.says}"
    when = times.hour(sight.camera_time_us or 0, zone)
    sure = f"±{_ms(sight.plus_minus_us)} ms" if sight.plus_minus_us is not None else "± unknown"
    told = f"{sight.camera} {sight.state.replace('_', ' ')} at {when} {sure}"
    if sight.frames and sight.frames[0] != sight.frames[1]:
        told += f", frames {sight.frames[0]}–{sight.frames[1]}"  # noqa: RUF001 - a range
    return f"{told}. {times.localized(sight.says, zone)}"


def tell_ruling(story: Story) -> Iterator[RenderableType]:
    """Owed and paid, findings, and what is missing."""
    yield Rule(style="dim")
    if story.lines:
        yield owed_table(story.lines)
        for says in sorted({_reading(line) for line in story.lines} - {""}):
            yield Text(f"  {says}")
    ruling = story.ruling
    if ruling:
        yield Text("Findings" if ruling.findings else "Nothing found.", style="bold")
        for finding in ruling.findings:
            yield Padding(Text.assemble((finding.code, "bold"), "  ", finding.says), (0, 0, 0, 2))
        if ruling.before:
            yield Text("Findings before the corrections", style="bold")
            for finding in ruling.before.findings:
                yield Padding(Text(f"{finding.code}  {finding.says}"), (0, 0, 0, 2))
    if story.missing:
        yield Text("Missing from the record", style="bold")
        for says in story.missing:
            yield Padding(Text(says), (0, 0, 0, 2))


def owed_table(lines: Iterable[OwedLine]) -> Table:
    """The table of every wager: owed by the sections, and moved by the dealer."""
    table = boxed_table(
        "pos", "wager", "stake", "owed", "by", "moved", "difference",
        right=("pos", "stake", "owed", "difference"), title="Owed and paid",
    )  # fmt: skip
    for line in lines:
        differs = bool(line.difference)
        style = "bold" if differs else ""
        difference = "n/a" if line.difference is None else signed(line.difference)
        table.add_row(
            str(line.position),
            wager_text(line),
            "n/a" if line.stake is None else money(line.stake),
            signed(line.owed),
            settlement_reason(line),
            moved_text(line),
            f"{difference} ◄" if differs else difference,
            style=style,
        )
    return table


def wager_text(line: OwedLine) -> str:
    """The wager as printed, with its hand and throw if there are several."""
    hand = f", hand {line.hand}" if line.hand > 1 else ""
    throw = f", throw {line.throw}" if line.throw else ""
    return f"{line.name}{hand}{throw}"


def settlement_reason(line: OwedLine) -> str:
    """The reason for the owed amount: outcome, printed row, odds and section."""
    if line.section is None:
        return "no such wager was in play"
    row = " and ".join(line.rows) if line.rows else line.row
    odds = f" {line.odds}" if line.odds and line.outcome == "win" else ""
    what = f": {row}{odds}" if row else ""
    return f"{line.outcome}{what} ({line.section})"


def moved_text(line: OwedLine) -> str:
    """The chips that the dealer paid, collected and returned."""
    told = sums(
        paid=line.paid, collected=line.collected, returned=line.returned, awarded=line.awarded
    )
    return told or "nothing"


def _reading(line: OwedLine) -> str:
    """The reading a settlement depended on."""
    if line.reading is None:
        return ""
    return f"Reading `{line.reading}` = {line.reading_value} ({line.section}) was applied."


def signed(cents: int) -> str:
    """Cents as dollars, with a plus sign if positive."""
    return f"+{money(cents)}" if cents > 0 else money(cents)
