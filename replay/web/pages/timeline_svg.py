"""The timeline of a round as SVG: the time, phases, facts and findings, a lane for each camera.

Each state has a pattern and a word beside its colour. Colours are classes of the style sheet, so
they follow the light and dark schemes.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from replay.cameras.timeline import SEEN
from replay.text.times import hour
from replay.web.table_svg.shapes import node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from replay.cameras.timeline import CameraState
    from replay.rounds.moment import Moment
    from replay.web.pages.notes import PlacedNote

WIDTH, GUTTER, LANE = 1240, 116, 22
"""The picture's width, the width of the names at its left, and the height of a lane."""

MANY, SLIM = 4, 10
"""More lanes of cameras than this are drawn slimmer, so that all fit one screen."""

STRIP = 31
"""The height of the row of small pictures."""

_GAP, _HOURS = 4, 15  # between two rows; the height of the row of times
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_APART = 84  # the least width between two times

_S = 1_000_000
_LETTER, _BOLD = 6.6, 8.2  # width of a letter of the labels; those of the lanes are bold
STATES = {
    "recorded": "recorded", "locked": "locked", "gap": "gap", "expired": "expired",
    "no_camera_mapped": "not mapped", "off_line": "off-line", "altered": "altered",
}  # fmt: skip
"""The word for each state of footage."""


class Axis(NamedTuple):
    """The start and end of the timeline, in microseconds by the reference clock."""

    from_us: int
    to_us: int

    def x(self, time_us: int) -> float:
        """The x coordinate of a time."""
        share = (time_us - self.from_us) / max(self.to_us - self.from_us, 1)
        return round(GUTTER + (WIDTH - GUTTER - 8) * min(max(share, 0), 1), 1)


def draw_timeline(
    axis: Axis,
    moments: Sequence[Moment],
    flagged: Mapping[int, str],
    lanes: Mapping[str, Sequence[CameraState]],
    zone: tzinfo,
    notes: Sequence[PlacedNote] = (),
    *,
    pictures: bool = False,
) -> str:
    """The whole picture. flagged: findings by the number of the fact.

    Without moments it has only the time and the cameras' lanes, for blind review. pictures: with a
    row of small pictures, which the script loads.
    """
    rows, top = [_hours(axis, zone)], _HOURS + 3
    if moments:
        row = LANE + _GAP
        rows += [_phases(axis, moments, top), _facts(axis, moments, flagged, top + row)]
        top += 2 * row + _GAP
    if pinned := [each for each in notes if each.time_us is not None]:
        rows.append(_notes(axis, pinned, top))
        top += LANE + _GAP
    if pictures:
        rows.append(_strip(top))
        top += STRIP + _GAP
    tall, apart = (LANE, _GAP) if len(lanes) <= MANY else (SLIM, 2)
    for at, (camera, its) in enumerate(lanes.items()):
        rows.append(_lane(axis, camera, its, top + at * (tall + apart), tall))
    height = top + max(len(lanes), 1) * (tall + apart) + _GAP
    if not lanes:
        rows.append(_name("cameras", top) + _text("no camera mapped", GUTTER + 4, top, "soft"))
    playhead = node("line", class_="playhead", x1=GUTTER, x2=GUTTER, y1=0, y2=height)
    marks = node("g", class_="marks", data_top=_HOURS + 3 + LANE + _GAP)
    return node(
        "svg", _patterns(), *rows, marks, playhead,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", class_="timeline",
        aria_hidden="true", data_from=axis.from_us, data_to=axis.to_us, data_gutter=GUTTER,
    )  # fmt: skip


def _hours(axis: Axis, zone: tzinfo) -> str:
    """The house's time along the top, at whole seconds or minutes."""
    span_s = max(axis.to_us - axis.from_us, 1) / _S
    across = WIDTH - GUTTER - 8
    step_s = next((s for s in _STEPS_S if s / span_s * across >= _APART), _STEPS_S[-1])
    first = -(-axis.from_us // (step_s * _S))
    drawn = [_name("time", 0, _HOURS)]
    for number in range(first, min(first + across // _APART, axis.to_us // (step_s * _S)) + 1):
        time_us = number * step_s * _S
        x = axis.x(time_us)
        if x + 56 > WIDTH:
            break
        drawn.append(node("path", d=f"M{x:g} 2V{_HOURS:g}", class_="hour"))
        drawn.append(_text(hour(time_us, zone)[:8], x + 3, 0, "soft", _HOURS))
    return "".join(drawn)


def phases(moments: Sequence[Moment]) -> list[tuple[str, int]]:
    """Each phase with the number of its first fact, in order."""
    return [(name, next(its).number) for name, its in groupby(moments, key=lambda m: m.phase)]


def _phases(axis: Axis, moments: Sequence[Moment], y: float) -> str:
    drawn = [_name("phases", y)]
    starts = [(name, moments[number - 1].time_us) for name, number in phases(moments)]
    ends = [at for _, at in starts[1:]] + [axis.to_us]
    for at, ((name, from_us), to_us) in enumerate(zip(starts, ends, strict=True)):
        x = axis.x(from_us)
        width = max(axis.x(to_us) - x, 1)
        label = _text(name, x + 4, y, "") if len(name) * _LETTER < width - 6 else ""
        box = node(
            "rect", node("title", escape(name)), x=x, y=y, width=width, height=LANE,
            class_=f"phase phase{at % 2}",
        )  # fmt: skip
        drawn.append(box + label)
    return "".join(drawn)


def _facts(axis: Axis, moments: Sequence[Moment], flagged: Mapping[int, str], y: float) -> str:
    """A tick for each fact, with a flag if a finding names it."""
    drawn = [_name("facts", y)]
    for moment in moments:
        x = axis.x(moment.time_us)
        found = flagged.get(moment.number)
        title = node("title", escape(f"{moment.number}. {moment.says} {found or ''}".strip()))
        shape = f"M{x:g} {y + 3:g}V{y + LANE - 3:g}"
        if found:
            shape += f"M{x:g} {y + 1:g}h9l-3 4 3 4h-9Z"
        kind = "tick found" if found else "tick"
        drawn.append(node("path", title, d=shape, class_=kind, data_fact=moment.number))
    return "".join(drawn)


def _notes(axis: Axis, pinned: Sequence[PlacedNote], y: float) -> str:
    """A diamond for each note, at its time."""
    drawn = [_name("notes", y)]
    for each in pinned:
        x = axis.x(each.time_us or 0)
        title = node("title", escape(f"{each.dispute}: {each.says} ({each.by})"))
        drawn.append(node("path", title, d=f"M{x:g} {y + 4:g}l7 7-7 7-7-7Z", class_="pinned"))
    return "".join(drawn)


def _strip(y: float) -> str:
    """The place of the small pictures, and the name of their camera below the word."""
    size = {"x": GUTTER, "y": y, "width": WIDTH - GUTTER - 8, "height": STRIP}
    image = node("image", **size, preserveAspectRatio="none", class_="strip")
    dark = node("rect", **size, class_="strip-dark")
    return _name("pictures", y, LANE) + dark + image


def _lane(axis: Axis, camera: str, its: Sequence[CameraState], y: float, tall: float = LANE) -> str:
    drawn = [_name(camera, y, tall)]
    for stretch in its:
        x = axis.x(stretch.from_us)
        width = max(axis.x(stretch.to_us) - x, 1)
        word = STATES[stretch.state]
        title = node("title", escape(f"{camera}: {word}. {stretch.says}".strip()))
        size = {"x": x, "y": y, "width": width, "height": tall}
        drawn.append(node("rect", title, **size, class_=f"stretch {stretch.state}"))
        if stretch.state not in SEEN:
            drawn.append(node("rect", **size, fill=f"url(#lane-{stretch.state})", class_="hatch"))
        if len(word) * _BOLD < width - 8:
            kind = "on" if stretch.state == "recorded" else "off"
            drawn.append(_text(word, x + 5, y, kind, tall))
    band = node("rect", x=0, y=y, width=0, height=tall, class_="within", data_lane=camera)
    return "".join([*drawn, band])


def _name(text: str, y: float, tall: float = LANE) -> str:
    return _text(text[:17], 0, y, "name", tall)


def _text(text: str, x: float, y: float, kind: str, tall: float = LANE) -> str:
    base = y + (LANE - 6.5 if tall == LANE else tall - 1.5)
    kind += " slim" if tall == SLIM else ""
    return node("text", escape(text), x=x, y=base, class_=kind or None)


def _patterns() -> str:
    """The hatching of each state without footage."""
    lines = {
        "gap": "M0 8 8 0", "expired": "M1 4H3M5 4H7", "off_line": "M0 0 8 8M0 8 8 0",
        "altered": "M0 2H8M0 6H8", "no_camera_mapped": "M4 3V5",
    }  # fmt: skip
    return node(
        "defs",
        *(
            node(
                "pattern", node("path", d=path), id=f"lane-{state}", width=8, height=8,
                patternUnits="userSpaceOnUse",
            )
            for state, path in lines.items()
        ),
    )  # fmt: skip
