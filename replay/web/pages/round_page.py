"""The content of the round page, made from a story. Pure, so it is tested without a server.

The page is the list of facts, illustrated by the picture of the table, cameras and timeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from ledger.facts import IrregularityCalled
from ledger.games import games
from replay.cameras.clock_pieces import steps
from replay.cameras.coverage import Camera
from replay.cameras.custody import times_of
from replay.cameras.timeline import SEEN
from replay.rounds.drawing import notes
from replay.rounds.story_text import moved_text, settlement_reason, sight_text, signed, wager_text
from replay.text import times
from replay.text.money import money
from replay.web.pages.lanes import TableSpan, cameras_on, lane_of, segments_of
from replay.web.pages.notes import noted
from replay.web.pages.player import player
from replay.web.pages.timeline_svg import STATES, Axis, draw_timeline, phases
from replay.web.table_svg import draw_table, pot_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from ledger.rules.engine.ruling import Finding
    from replay.cameras.timeline import CameraState, FactSights, FrameLookup
    from replay.disputes.dispute import Dispute
    from replay.footage.library.index import FootageIndex
    from replay.rounds.moment import Moment
    from replay.rounds.owed import OwedLine
    from replay.rounds.story import Story
    from replay.web.round_reader import KeptRound

AROUND_US = 20_000_000
"""Footage before the first and after the last fact that the page can play, microseconds."""


class FactLine(NamedTuple):
    """A fact as the list shows it."""

    number: int
    says: str
    time_us: int
    plus_minus_ms: int
    device: str
    phase: str
    begins: bool  # its phase begins with it
    position: int | None
    found: Sequence[str]  # codes of findings that name it
    corrected: str | None
    sights: Sequence[str]
    cameras: int  # mapped to the table then


class Jump(NamedTuple):
    """An entry of the list *Jump to*."""

    label: str
    number: int


class Money(NamedTuple):
    """Owed and paid for one wager, in words."""

    position: int
    wager: str
    stake: str
    owed: str
    ground: str
    moved: str
    difference: str
    differs: bool
    reading: str | None
    paytable: str | None
    facts: Sequence[int]


class FindingLine(NamedTuple):
    """A finding, and the facts it names by number."""

    code: str
    says: str
    facts: Sequence[int]


class CameraView(NamedTuple):
    """One camera: its footage of the round, and the state of its clock."""

    name: str
    clock: str
    steps: Sequence[str]  # settings of its clock about then
    lane: Sequence[CameraState]
    summary: str
    dark: bool  # it has nothing of the round
    at: FrameLookup | None
    caption: str
    src: str | None  # the exact frame of the fact shown, for a page without scripts


def title_of(story: Story) -> str:
    """The game, as people call it."""
    known = games().get(story.game or "")
    return known.title if known else story.game or "a game not on record"


def values(
    told: KeptRound,
    at: int,
    zone: tzinfo,
    *,
    hindsight: bool,
    footage: bool,
    disputes: Sequence[Dispute] = (),
) -> dict[str, object]:
    """The values of the template. footage: whether the reader may see pictures."""
    story = told.story
    span = span_of(story)
    lanes = _lanes(told, span, zone)
    numbers = _numbers(story)
    findings = story.ruling.findings if story.ruling else []
    found = {number: finding.says for finding in findings for number in _named(finding, numbers)}
    axis = Axis(span.from_us, span.to_us)
    pinned = noted(story, told.coverage, span, disputes)
    lit = footage and any(_seen(lane) for lane in lanes.values())
    timeline = draw_timeline(axis, story.moments, found, lanes, zone, pinned, pictures=lit)
    return {
        "title": title_of(story),
        "story": story,
        "at": at,
        "moment": story.moments[at - 1],
        "hindsight": hindsight,
        "facts": facts(story, zone),
        "findings": [FindingLine(f.code, f.says, _named(f, numbers)) for f in findings],
        "before": story.ruling.before.findings if story.ruling and story.ruling.before else (),
        "money": [line_of(line, numbers) for line in story.lines],
        "jumps": jumps(story),
        "pots": pot_texts(story.moments[at - 1], story.game),
        "notes": [each for each in notes(story.moments[at - 1]) if each],
        "picture": Markup(table(story, at, hindsight=hindsight)),  # noqa: S704 - escaped there
        "timeline": Markup(timeline),  # noqa: S704 - as above
        "noted": pinned,
        "views": [view(told, span, zone, name, lane, at) for name, lane in lanes.items()],
        "footage": footage,
        "nowhere": [sight for sight in story.seen[at - 1].sights if sight.camera is None],
    }


def blind(told: KeptRound, zone: tzinfo) -> dict[str, object]:
    """The values for blind review: cameras and times, no fact."""
    span = span_of(told.story)
    lanes = _lanes(told, span, zone)
    axis = Axis(span.from_us, span.to_us)
    lit = any(_seen(lane) for lane in lanes.values())
    timeline = draw_timeline(axis, (), {}, lanes, zone, pictures=lit)
    return {
        "round": told.story.round,
        "timeline": Markup(timeline),  # noqa: S704 - escaped there
        "views": [view(told, span, zone, name, lane, None) for name, lane in lanes.items()],
        "from_us": span.from_us,
    }


def blind_data(told: KeptRound, library: FootageIndex, zone: tzinfo) -> dict[str, object]:
    """The script data for blind review: cameras and their segments, nothing of the round."""
    span = span_of(told.story)
    names = cameras_on(told.coverage, span)
    return {
        "from": span.from_us,
        "to": span.to_us,
        "cameras": [player(told, library, span, name, zone) for name in names],
    }


def _lanes(told: KeptRound, span: TableSpan, zone: tzinfo) -> dict[str, list[CameraState]]:
    """The states of each camera of the table, by camera."""
    return {
        name: [
            replace(each, says=times.aloud(times.localized(each.says, zone)))
            for each in lane_of(told.coverage, told.footage, span, name)
        ]
        for name in cameras_on(told.coverage, span)
    }


def table(story: Story, at: int, *, hindsight: bool) -> str:
    """The table after fact `at`, with that fact's changes highlighted."""
    before = story.moments[at - 2] if at > 1 else None
    return draw_table(story.moments[at - 1], story.game, before=before, hindsight=hindsight)


def tables(story: Story, *, hindsight: bool) -> list[str]:
    """The table after every fact."""
    return [table(story, at, hindsight=hindsight) for at in range(1, len(story.moments) + 1)]


def facts(story: Story, zone: tzinfo) -> list[FactLine]:
    """The list of facts, in the order of the round."""
    starts = {number for _, number in phases(story.moments)}
    codes: dict[tuple[str, str], list[str]] = {}
    for finding in story.ruling.findings if story.ruling else ():
        for ref in finding.facts:
            codes.setdefault((ref.source, ref.id), []).append(finding.code)
    return [
        FactLine(
            number=moment.number,
            says=moment.says,
            time_us=moment.time_us,
            plus_minus_ms=times.whole_ms(seen.plus_minus_us),
            device=moment.source.rpartition("/")[2],
            phase=moment.phase,
            begins=moment.number in starts,
            position=moment.position,
            found=codes.get((moment.source, moment.id), ()),
            corrected=story.corrected.get((moment.source, moment.id)),
            sights=[_sight_text(sight, zone) for sight in seen.sights],
            cameras=sum(sight.camera is not None for sight in seen.sights),
        )
        for moment, seen in zip(story.moments, story.seen, strict=True)
    ]


def jumps(story: Story) -> list[Jump]:
    """The entries of *Jump to*: decisions, settlement, irregularities, findings."""
    found = []
    decided: set[int] = set()
    settled = irregular = False
    throws = 0
    for moment, fact in zip(story.moments, story.facts, strict=True):
        n = moment.number
        if moment.fact == "decision_made" and moment.position and moment.position not in decided:
            decided.add(moment.position)
            found.append(Jump(f"Decision of position {moment.position}", n))
        elif moment.fact == "dice_thrown":
            throws += 1
            found.append(Jump(f"Throw {throws}", n))
        elif moment.phase in _SETTLING and not settled:
            settled = True
            found.append(Jump("Settlement", n))
        elif isinstance(fact.body, IrregularityCalled) and not irregular:
            irregular = True
            found.append(Jump("First irregularity", n))
    numbers = _numbers(story)
    for finding in story.ruling.findings if story.ruling else ():
        named = _named(finding, numbers)
        if named:
            where = f", position {finding.position}" if finding.position else ""
            found.append(Jump(f"Finding: {finding.code.replace('_', ' ')}{where}", named[0]))
    return found


def line_of(line: OwedLine, numbers: Mapping[tuple[str, str], int]) -> Money:
    """One wager's money in words."""
    reading = f"reading {line.reading} = {line.reading_value}" if line.reading is not None else None
    return Money(
        position=line.position,
        wager=wager_text(line),
        stake="none" if line.stake is None else money(line.stake),
        owed=signed(line.owed),
        ground=settlement_reason(line),
        moved=moved_text(line),
        difference="open" if line.difference is None else signed(line.difference),
        differs=bool(line.difference),
        reading=reading,
        paytable=f"paytable {line.paytable}" if line.paytable else None,
        facts=[
            numbers[ref.source, ref.id] for ref in line.facts if (ref.source, ref.id) in numbers
        ],
    )


def view(
    told: KeptRound,
    span: TableSpan,
    zone: tzinfo,
    name: str,
    lane: Sequence[CameraState],
    at: int | None,
) -> CameraView:
    """One camera beside the table; without a fact under blind review."""
    sight = _sight(told.story.seen[at - 1], name) if at else None
    its = told.coverage.cameras.get((span.property, name), Camera())
    exact = sight is not None and sight.segment is not None and sight.frame is not None
    return CameraView(
        name=name,
        clock=_clock(its),
        steps=[
            times.aloud(times.localized(each.says, zone))
            for each in steps(its.clock)
            if each.from_us <= span.to_us and each.to_us >= span.from_us
        ],
        lane=lane,
        summary=_summary(lane),
        dark=not _seen(lane),
        at=sight,
        caption=_caption(name, sight, zone) if at else "",
        src=f"/footage/{sight.segment}/frames/{sight.frame}.png" if sight and exact else None,
    )


def data(
    told: KeptRound, library: FootageIndex, zone: tzinfo, *, footage: bool, address: str
) -> dict[str, object]:
    """The script data: times, cameras, segments. It has no card and no name."""
    story, span = told.story, span_of(told.story)
    names = cameras_on(told.coverage, span)
    return {
        "address": address,
        "version": told.version,
        "from": span.from_us,
        "to": span.to_us,
        "facts": [
            {
                "n": moment.number,
                "t": moment.time_us,
                "phase": moment.phase,
                "kind": _kind(moment),
                "says": moment.says,
                "sums": " ".join(each for each in notes(moment) if each),
                "pots": pot_texts(moment, story.game),
                "sights": {
                    sight.camera: {"text": _sight_text(sight, zone), "state": sight.state,
                                   "sha": sight.segment, "frame": sight.frame}
                    for sight in seen.sights if sight.camera
                },
            }
            for moment, seen in zip(story.moments, story.seen, strict=True)
        ],
        "cameras": [player(told, library, span, name, zone) for name in names] if footage else [],
    }  # fmt: skip


def shown(told: KeptRound, library: FootageIndex) -> list[tuple[str, int, int, str]]:
    """The footage that the page shows: camera, from, to (camera clock), segment hash."""
    span = span_of(told.story)
    return [
        (name, each.start_us, each.end_us, each.body.sha256)
        for name in cameras_on(told.coverage, span)
        for each in segments_of(told.coverage, span, name)
        if library.entry(each.body.sha256)
    ]


def json_text(value: object) -> Markup:
    """JSON for a script element; nothing in it can end the element."""
    text = msgspec.json.encode(value).decode()
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)  # noqa: S704 - markup is escaped above


def _kind(moment: Moment) -> str | None:
    """The kind of a fact for the keyboard's steps: a decision or a settlement."""
    if moment.fact == "decision_made":
        return "decision"
    return "settlement" if moment.fact in _SETTLES else None


_SETTLES = frozenset(("wager_paid", "wager_collected", "wager_returned", "pot_awarded"))
_SETTLING = ("wagers are settled", "the pot is awarded")


def span_of(story: Story) -> TableSpan:
    """The span of footage that the page shows: the round and a little around it.

    It is empty for a round without facts. A fact whose clock is wrong by days is put at its edge.
    """
    first, last = times_of(moment.time_us for moment in story.moments) or (0, 0)
    round_ = story.round
    return TableSpan(round_.property, round_.table, first - AROUND_US, last + AROUND_US)


def _numbers(story: Story) -> dict[tuple[str, str], int]:
    """Numbers of the facts, by source and id."""
    return {(moment.source, moment.id): moment.number for moment in story.moments}


def _named(finding: Finding, numbers: Mapping[tuple[str, str], int]) -> list[int]:
    named = ((ref.source, ref.id) for ref in finding.facts)
    return sorted(numbers[key] for key in named if key in numbers)


def _sight(seen: FactSights, name: str) -> FrameLookup | None:
    return next((sight for sight in seen.sights if sight.camera == name), None)


def _caption(name: str, sight: FrameLookup | None, zone: tzinfo) -> str:
    return _sight_text(sight, zone) if sight else f"{name} was not mapped to this table then."


def _sight_text(sight: FrameLookup, zone: tzinfo) -> str:
    return times.aloud(sight_text(sight, zone))


def _seen(lane: Sequence[CameraState]) -> bool:
    """Whether a camera has any footage."""
    return any(stretch.state in SEEN for stretch in lane)


def _clock(camera: Camera) -> str:
    """The state of a camera's clock, in words."""
    if camera.clock is None:
        return "clock never checked"
    checks = len(camera.checks)
    sets = len(camera.clock.epochs) - 1
    told = f"clock checked {checks} time{'s' * (checks != 1)}"
    return f"{told}, set {sets} time{'s' * (sets != 1)}" if sets else told


def _summary(lane: Sequence[CameraState]) -> str:
    """A lane in words: the seconds of each state."""
    sums: dict[str, int] = {}
    for stretch in lane:
        sums[stretch.state] = sums.get(stretch.state, 0) + stretch.to_us - stretch.from_us
    return ", ".join(f"{STATES[state]} {us / 1e6:.0f} s" for state, us in sums.items())
