"""Draws chips and betting areas: what a wager is worth now, and its outcome.

Paid, lost and returned differ by sign, word and outline, and also by colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from replay.text.money import money
from replay.web.table_svg.shapes import (
    BLACK,
    BLUE,
    FELT_DARK,
    GOLD,
    INK,
    LINE,
    PRINT,
    RED,
    WHITE,
    fitted,
    node,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from replay.rounds.moment import Stake

_VALUES = (  # cents; colours of that chip: body and edge
    (100_000, "#e0a92c", BLACK),
    (50_000, "#6d4bb3", WHITE),
    (10_000, BLACK, WHITE),
    (2_500, "#2f9d62", WHITE),
    (500, "#c23b3b", WHITE),
    (100, "#eef0ee", "#3d5a80"),
    (1, "#8b959c", WHITE),
)
_CHIPS_MAX = 5  # most chips drawn in a stack; the amount beside it is exact
_RISE = 2.6  # visible height of a chip below another
RADIUS = 9.5
_PRINT_H = 15  # height of an area's print, at its top
BOLD = 0.86
"""Share of the width that bold letters may use, since they are wider."""


def stack(
    cents: int, x: float, y: float, radius: float = RADIUS, rises: float = _RISE * _CHIPS_MAX
) -> str:
    """A stack of chips seen obliquely from above, its foot at a point.

    rises: the most that the top chip may be above the lowest, so that print above stays free.
    """
    drawn = []
    for value, body, edge in _VALUES:
        count, cents = divmod(cents, value)
        drawn += [(body, edge)] * min(count, _CHIPS_MAX)
    shown = drawn[:_CHIPS_MAX]
    rise = min(_RISE, rises / max(len(shown) - 1, 1))
    return "".join(
        _chip(body, edge, x, y - rise * at, radius) for at, (body, edge) in enumerate(shown)
    )


def _chip(body: str, edge: str, x: float, y: float, radius: float) -> str:
    rim = node("circle", cx=x, cy=y, r=radius, fill=body, stroke=BLACK, stroke_width=0.8)
    marks = node(
        "circle", cx=x, cy=y, r=radius - 1.9, fill="none", stroke=edge, stroke_width=2.6,
        stroke_dasharray=round(radius * 0.42, 1),
    )  # fmt: skip
    return rim + marks


class AmountLine(NamedTuple):
    """One line beside a wager: its text and its colour."""

    text: str
    colour: str


def outcome(stake: Stake) -> list[AmountLine]:
    """The stake, then what was paid, lost and returned."""
    told = [AmountLine(money(stake.on_layout), INK)] if stake.on_layout else []
    told += [AmountLine(f"+{money(stake.paid)}", GOLD)] if stake.paid else []
    told += [AmountLine(f"\N{MINUS SIGN}{money(stake.collected)}", RED)] if stake.collected else []
    told += [AmountLine(f"{money(stake.returned)} back", BLUE)] if stake.returned else []
    told += [AmountLine(stake.state, PRINT)] if stake.state else []
    return told


def edge_of(stakes: Iterable[Stake], *, lit: bool) -> dict[str, object]:
    """An area's outline: solid gold if paid, dashed if lost, dotted if returned."""
    its = list(stakes)
    for wanted, colour, dashes in (
        (any(stake.paid for stake in its), GOLD, None),
        (any(stake.collected for stake in its), RED, "7 4"),
        (any(stake.returned for stake in its), BLUE, "2 3"),
    ):
        if wanted:
            return {
                "stroke": colour,
                "stroke_width": 4 if lit else 1.8,
                "stroke_dasharray": dashes,
            }
    if lit:
        return {"stroke": GOLD, "stroke_width": 3}
    return {"stroke": PRINT if its else LINE, "stroke_width": 1.3}


def area(
    label: str, stake: Stake | None, width: float, height: float, *, round_: bool, lit: bool
) -> str:
    """The betting area of one position, centred on 0, 0: its print, chips and amounts."""
    box = node(
        "rect",
        x=-width / 2,
        y=-height / 2,
        width=width,
        height=height,
        rx=height / 2 if round_ else 6,
        fill=FELT_DARK,
        fill_opacity=0.75,
        **edge_of([stake] if stake else [], lit=lit),
    )
    inner = width - (16 if round_ else 8)
    title = words(label, 0, -height / 2 + 12, fitted(label, inner, 11.5), fill=PRINT)
    return box + title + (_contents(stake, width, height) if stake else "")


def _contents(stake: Stake, width: float, height: float) -> str:
    told = outcome(stake)
    foot = height / 2 - 13
    free = max(foot - RADIUS + height / 2 - _PRINT_H, 0)
    chips = stack(stake.on_layout, -width / 2 + 15, foot, rises=free) if stake.on_layout else ""
    left = -width / 2 + (27 if chips else 5)
    room = width / 2 - 4 - left
    line = min((height - 17) / max(len(told), 1), 15)
    first = -height / 2 + 14 + (height - 17 - line * len(told)) / 2 + line * 0.82
    return chips + "".join(
        words(
            each.text,
            left + room / 2,
            first + line * at,
            fitted(each.text, room * BOLD, line),
            fill=each.colour,
            font_weight=700,
        )
        for at, each in enumerate(told)
    )
