"""The demonstration's final output: mistakes, the worst round, next steps."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from rich.padding import Padding
from rich.text import Text

from ledger.values import quantity
from replay.rounds.drawing import boxed_table, draw
from replay.rounds.story import facts_in_findings
from replay.rounds.story_text import owed_table
from replay.text import times
from replay.text.wins import FIGURES, figures, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from ledger.finance.win import TableWin
    from replay.cameras.timeline import FactSights
    from replay.demo.audit import Audit
    from replay.rounds.story import Story


def found_text(checked: Audit) -> Iterator[RenderableType]:
    """Every planted mistake with its findings, and all other findings."""
    yield Text()
    table = boxed_table("planted", "round", "found", "section", title="Planted and found")
    for planted, found, missed in checked.checked:
        codes = list(dict.fromkeys(finding.code for finding in found))
        sections = list(dict.fromkeys(f.section for f in found if f.section))
        told = [*codes, *(f"MISSED {code}" for code in missed)]
        table.add_row(
            planted.mistake,
            planted.round or planted.table,
            ", ".join(told) or "nothing, as expected",
            ", ".join(sections) or "–",  # noqa: RUF001 - a dash for none
        )
    yield table
    for where, finding in checked.unexplained:
        yield Text(f"Not planted: {where} {finding.code}: {finding.says}", style="bold")
    if checked.agrees:
        yield Text("  All planted mistakes were found, and nothing else.", style="bold")


def worst_text(story: Story) -> Iterator[RenderableType]:
    """The worst round, fact by fact beside its cameras, and its money."""
    yield Text()
    offset = story.times[0][-6:] if story.times else ""  # all devices of a simulated floor have it
    table = boxed_table("#", f"time ({offset})", "what happened", "seen by", right=("#",))
    table.title = f"The worst round, fact by fact: {story.round.subject}"
    named = facts_in_findings(story)
    for moment, time, seen in zip(story.moments, story.times, story.seen, strict=True):
        wrong = (moment.source, moment.id) in named
        mark = " ◄" if wrong else ""
        clock = time[11:23]
        table.add_row(
            str(moment.number),
            clock,
            moment.says + mark,
            _seen(seen),
            style="bold" if wrong else "",
        )
    yield table
    for moment in story.moments:
        if (moment.source, moment.id) in named:
            yield Text(f"The table after fact {moment.number}: {moment.says}", style="bold")
            yield draw(moment, story.game)
    positions = {line.position for line in story.lines if line.difference}
    shown = [line for line in story.lines if line.position in positions]
    yield owed_table(shown)
    if len(shown) < len(story.lines):
        others = quantity(len(story.lines) - len(shown), "wager")
        yield Text(f"  {others} of other positions: paid as owed.")
    for finding in story.ruling.findings if story.ruling else ():
        yield Padding(Text(f"{finding.code}  {finding.says}", style="bold"), (0, 0, 0, 2))


def _seen(seen: FactSights) -> str:
    """Each camera in short: its frame and uncertainty, or why there is none."""
    told = []
    for sight in seen.sights:
        name = (sight.camera or "no camera").rpartition("-")[2]
        if sight.frame is None:
            told.append(f"{name} {sight.state.replace('_', ' ')}")
        else:
            doubt_ms = times.whole_ms(sight.plus_minus_us or 0)
            told.append(f"{name} frame {sight.frame} ±{doubt_ms} ms")
    return ", ".join(told)


def wins_text(found: Sequence[TableWin]) -> Iterator[RenderableType]:
    """The three wins of each table, and what explains a count gap."""
    yield Text()
    names = [name.replace("_", " ") for name in FIGURES]
    table = boxed_table("table", *names, right=names, title="The three wins of the day")
    for each in found:
        table.add_row(each.table, *(text or "n/a" for text in figures(each)))
    yield table
    for each in found:
        for cause in each.causes:
            yield Text(f"  {each.table}: {signed(cause.amount)}. {cause.says}", style="bold")


class DemoResult(NamedTuple):
    """The result of the demonstration: how to reach its record, and what to open.

    setting: the shell line to run first. program: this program's command. page: the address of the
    worst round once `serve` runs.
    """

    setting: str
    dossier: Path
    public_key: Path
    round: str
    program: str
    page: str


def pointers(left: DemoResult) -> Iterator[RenderableType]:
    """The next steps, as lines to copy."""
    table = left.round.partition("/")[0]
    checker, key = shlex.quote(str(left.dossier / "verify.py")), shlex.quote(str(left.public_key))
    yield Text()
    yield Text("Look further", style="bold")
    for line in (
        left.setting,
        f"{left.program} replay {left.round}",
        f"{left.program} rounds --finding overpaid",
        f"{left.program} win",
        f"{left.program} day show {left.round.split('/')[1]}",
        f"{left.program} drop --table {table}",
        f"{left.program} verify",
        f"{left.program} log check",
        f"python3 {checker} --key {key}",
        f"{left.program} serve",
    ):
        yield Text(f"  {line}", no_wrap=True, overflow="ignore")
    yield Text(f"Open {left.dossier / 'report.html'}", no_wrap=True, overflow="ignore")
    yield Text("As a page, after `serve` printed a link that creates the first user:")
    yield Text(f"  {left.page}", no_wrap=True, overflow="ignore")
