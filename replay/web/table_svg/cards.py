"""Draws cards and dice: rank, shape of the suit and one of four colours.

Rank and suit are at the left, so a card half covered by the next stays readable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.values import UNKNOWN_CARD
from replay.web.table_svg.shapes import BLACK, GOLD, WHITE, moved, node, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.rounds.moment import SeenCard

CARD_W, CARD_H = 40, 56

_SHAPES = {  # each in a square of 20 about its middle
    "s": "M0-9C3-4 9-1 9 4 9 8 4 9 1.6 6 1.8 8 2.6 9.3 4 10H-4C-2.6 9.3-1.8 8-1.6 6-4 9-9 8-9 4"
    "-9-1-3-4 0-9Z",
    "h": "M0 9C-3 5-9 1-9-4-9-9-3-10 0-5 3-10 9-9 9-4 9 1 3 5 0 9Z",
    "d": "M0-10C2-6 5-3 8 0 5 3 2 6 0 10-2 6-5 3-8 0-5-3-2-6 0-10Z",
    "c": "M-1.4 5C-3.6 8-9.4 7-9.4 2.4-9.4-1.4-6-3-3.4-2-6-6-3.6-10 0-10 3.6-10 6-6 3.4-2 6-3 9.4"
    "-1.4 9.4 2.4 9.4 7 3.6 8 1.4 5 1.6 7.6 2.6 9.3 4 10H-4C-2.6 9.3-1.6 7.6-1.4 5Z",
}
_COLOURS = {"s": BLACK, "h": "#b8121b", "d": "#1252a8", "c": "#12692c"}
_BACK, _BACK_LINE = "#27407c", "#8fa6d8"
_UNSEEN, _UNSEEN_LINE = "#e8e2cf", "#8a6d1d"
_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}
DICE_COLOURS = {"red": ("#c02530", WHITE), "green": ("#1c8a4c", WHITE), "white": (WHITE, BLACK)}


def suit(letter: str, x: float, y: float, size: float) -> str:
    """The shape of a suit, about a point."""
    scale = round(size / 20, 2)
    at = f"translate({x:g} {y:g}) scale({scale:g})"
    return node("path", d=_SHAPES[letter], transform=at, fill=_COLOURS[letter])


def card(seen: SeenCard, x: float, y: float, *, hindsight: bool, lit: bool = False) -> str:
    """One card with its upper left corner at a point. lit: this fact dealt or turned it.

    With hindsight a face-down card shows its face on buff with a dashed edge and a bar, so that
    it differs from a card that could be seen.
    """
    if not seen.up and (not hindsight or seen.card == UNKNOWN_CARD):
        return moved(x, y, _back(), _edge(lit=lit))
    paper, edge = (WHITE, None) if seen.up else (_UNSEEN, "4 3")
    sheet = _sheet(paper, stroke="#7c847f" if seen.up else _UNSEEN_LINE, stroke_dasharray=edge)
    bar = "" if seen.up else node("rect", x=5, y=50, width=30, height=3, fill=_UNSEEN_LINE)
    return moved(x, y, sheet, _face(seen.card), bar, _edge(lit=lit))


def _sheet(fill: str, **attributes: object) -> str:
    return node("rect", width=CARD_W, height=CARD_H, rx=4.5, fill=fill, **attributes)


def _edge(*, lit: bool) -> str:
    if not lit:
        return ""
    size = {"x": -2, "y": -2, "width": CARD_W + 4, "height": CARD_H + 4, "rx": 6}
    return node("rect", **size, fill="none", stroke=GOLD, stroke_width=3)


def _face(code: str) -> str:
    if code == UNKNOWN_CARD:
        return words("??", CARD_W / 2, 36, 20, fill=BLACK, font_weight=700)
    if code == "Jk":
        star = "M0-11 3-3.5 11-3.5 4.8 1.5 7 9.5 0 4.8-7 9.5-4.8 1.5-11-3.5-3-3.5Z"
        at = f"translate({CARD_W / 2:g} 36)"
        title = words("JOKER", CARD_W / 2, 15, 10.5, fill="#6a1b9a", font_weight=700)
        return title + node("path", d=star, transform=at, fill="#6a1b9a")
    rank = "10" if code[0] == "T" else code[0]
    told = words(rank, 11, 19, 19 if rank != "10" else 16, fill=_COLOURS[code[1]], font_weight=700)
    return told + suit(code[1], 11, 31, 13) + suit(code[1], 26.5, 39, 22)


def _back() -> str:
    """A card face down: a lattice inside a white edge."""
    lattice = "M4 12 20 4 36 12M4 28 36 12M4 12 36 28M4 28 20 36 36 28M4 44 36 28M4 28 36 44"
    lattice += "M4 44 20 52 36 44"
    inner = {"x": 3, "y": 3, "width": CARD_W - 6, "height": CARD_H - 6, "rx": 2.5}
    return (
        _sheet(WHITE, stroke="#7c847f")
        + node("rect", **inner, fill=_BACK)
        + node("path", d=lattice, fill="none", stroke=_BACK_LINE, stroke_width=1.4)
    )


def row_of_cards(
    cards: Sequence[SeenCard],
    width: float,
    *,
    hindsight: bool,
    lit: frozenset[int] = frozenset(),
    step_max: float = CARD_W + 3,
) -> str:
    """Cards in one row centred on x = 0, from y = 0 down; later cards cover earlier ones if tight.

    lit: numbers of the cards that this fact dealt or turned.
    """
    if not cards:
        return ""
    step = row_step(len(cards), width, step_max)
    left = -(step * (len(cards) - 1) + CARD_W) / 2
    return "".join(
        card(each, left + at * step, 0, hindsight=hindsight, lit=at in lit)
        for at, each in enumerate(cards)
    )


def row_step(count: int, width: float, step_max: float = CARD_W + 3) -> float:
    """The distance from card to card that keeps a row within a width."""
    return min(step_max, (width - CARD_W) / (count - 1)) if count > 1 else step_max


def die(number: int, x: float, y: float, side: float, colour: str) -> str:
    """A die with its upper left corner at a point; number 0: not read."""
    body, pip = DICE_COLOURS[colour]
    box = node(
        "rect", width=side, height=side, rx=side / 6, fill=body, stroke=BLACK, stroke_width=1
    )
    if number not in _PIPS:
        return moved(x, y, box, words("?", side / 2, side * 0.7, side * 0.6, fill=pip))
    half, gap = side / 2, side * 0.27
    pips = (
        node("circle", cx=half + dx * gap, cy=half + dy * gap, r=side * 0.09, fill=pip)
        for dx, dy in _PIPS[number]
    )
    return moved(x, y, box, *pips)
