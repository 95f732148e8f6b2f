"""Draws the middle of a card table: the dealer's cards, community cards, the pot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from replay.rounds.pots import pot_text, pots_at
from replay.text.money import money
from replay.web.table_svg.cards import CARD_H, CARD_W, card, row_of_cards
from replay.web.table_svg.chips import stack
from replay.web.table_svg.seats import rows_of
from replay.web.table_svg.shapes import (
    FELT_DARK,
    INK,
    LINE,
    PRINT,
    moved,
    node,
    words,
)

if TYPE_CHECKING:
    from replay.rounds.moment import HeldCards
    from replay.rounds.pots import PotNow
    from replay.web.table_svg.layouts import CardsPlace
    from replay.web.table_svg.seats import TableView


def places(view: TableView) -> str:
    """The cards of the dealer, of baccarat's two hands, and of any other holder on record."""
    known = {place.to for place in view.layout.places} | {"community", "player"}
    drawn = [_place(view, place) for place in view.layout.places]
    others = [held for held in view.moment.held if held.to not in known]
    drawn += [
        moved(
            110,
            40 + 90 * at,
            _label(held.to.replace("_", " ").capitalize(), -8),
            _row(view, held, 190),
        )
        for at, held in enumerate(others)
    ]
    return "".join(drawn)


def _place(view: TableView, place: CardsPlace) -> str:
    held = next((each for each in view.moment.held if each.to == place.to), None)
    width = place.width / place.scale
    box = node(
        "rect", x=-width / 2 - 6, y=-18, width=width + 12, height=CARD_H + 30, rx=7,
        fill=FELT_DARK, fill_opacity=0.6, stroke=LINE,
    )  # fmt: skip
    cards = "" if held is None else _held(view, held, width)
    return moved(place.x, place.y, box, _label(place.label, -5), cards, scale=place.scale)


def _label(text: str, y: float) -> str:
    return words(text, 0, y, 10, fill=PRINT, font_weight=600, letter_spacing=0.6)


def _held(view: TableView, held: HeldCards, width: float) -> str:
    if view.layout.third_across:
        return _across(view, held)
    return _row(view, held, width)


def _row(view: TableView, held: HeldCards, width: float) -> str:
    """A hand in a row; a hand that was set has gaps between its parts."""
    rows = rows_of(held, width) if held.set_as else [("", list(range(len(held.cards))))]
    lit = view.change.cards_of(held)
    share = width / len(rows)
    total = sum(len(numbers) for _, numbers in rows) or 1
    drawn, left = [], -width / 2
    for label, numbers in rows:
        share = width * len(numbers) / total
        cards = [held.cards[at] for at in numbers]
        shine = frozenset(at for at, number in enumerate(numbers) if number in lit)
        row = row_of_cards(cards, share - 8, hindsight=view.hindsight, lit=shine)
        name = words(label, 0, CARD_H + 9, 9, fill=PRINT) if label else ""
        drawn.append(moved(left + share / 2, 0, row, name))
        left += share
    gone = {"opacity": 0.38} if held.gone else {}
    return node("g", *drawn, **gone)


def _across(view: TableView, held: HeldCards) -> str:
    """Two cards, and the third laid across beside them."""
    two, rest = held.cards[:2], held.cards[2:]
    lit = view.change.cards_of(held)
    drawn = [row_of_cards(two, 100, hindsight=view.hindsight, lit=frozenset(lit & {0, 1}))]
    for at, each in enumerate(rest, 2):
        turned = card(each, -CARD_W / 2, -CARD_H / 2, hindsight=view.hindsight, lit=at in lit)
        turn = f"translate({80 + 30 * (at - 2)} {CARD_H / 2:g}) rotate(90)"
        drawn.append(node("g", turned, transform=turn))
    gone = {"opacity": 0.38} if held.gone else {}
    return node("g", *drawn, transform="translate(-32 0)", **gone)


def community(view: TableView) -> str:
    """The community cards in their boxes; a box without a card is empty."""
    held = next((each for each in view.moment.held if each.to == "community"), None)
    if not view.layout.boxes or (held is None and not view.layout.spots and not view.layout.centre):
        return ""
    lit = view.change.cards_of(held) if held else frozenset()
    cards = held.cards if held else ()
    labels = view.layout.box_labels or ("",) * len(view.layout.boxes)
    drawn = []
    for at, ((x, y), label) in enumerate(zip(view.layout.boxes, labels, strict=True)):
        box = node(
            "rect", x=-CARD_W / 2 - 4, y=-4, width=CARD_W + 8, height=CARD_H + 8, rx=6,
            fill=FELT_DARK, fill_opacity=0.6, stroke=LINE, stroke_dasharray="4 3",
        )  # fmt: skip
        empty = words(label, 0, CARD_H / 2 + 4, 11, fill=PRINT) if label else ""
        inside = (
            card(cards[at], -CARD_W / 2, 0, hindsight=view.hindsight, lit=at in lit)
            if at < len(cards)
            else empty
        )
        drawn.append(moved(x, y, box, inside, scale=view.layout.box_scale))
    gone = {"opacity": 0.38} if held and held.gone else {}
    return node("g", *drawn, **gone)


def pot(view: TableView) -> str:
    """Each pot of a poker round with the positions in it, main pot first; and the rake."""
    pots = pots_at(view.moment)
    top = 316.0 if view.layout.boxes else 274.0
    columns = 1 if len(pots) <= _POTS_IN_A_COLUMN else 2
    rows = -(-len(pots) // columns)
    line = min(26.0, _POTS_HIGH / max(rows, 1))
    drawn = [
        moved(
            480 + 176 * (at // rows - (columns - 1) / 2),
            top + line * (at % rows),
            _pot(each, line, alone=len(pots) == 1),
        )
        for at, each in enumerate(pots)
    ] or [moved(480, top, words("Pot $0", 0, 6, 20, font_weight=700))]
    beside = [f"burned {view.moment.burned}"] if view.moment.burned else []
    beside += [f"rake {money(view.moment.rake)}"] if view.moment.rake else []
    told = words(" · ".join(beside), 480, top + line * max(rows, 1) + 4, 13, fill=PRINT)
    return "".join(drawn) + (told if beside else "")


def _pot(pot: PotNow, line: float, *, alone: bool) -> str:
    """One pot: chips, name and amount, and its positions in small print."""
    size = round(min(20, line * 0.74), 1)
    name = "Pot" if alone else pot.name.removesuffix(" pot").replace(" pot", "")
    told = f"{name} {money(pot.left)}" if pot.left else f"{name} taken"
    seats = f"({' '.join(map(str, pot.positions))})" if pot.left else ""
    small = round(size * 0.72, 1)
    wide, narrow = len(told) * size * _BOLD, len(seats) * small * _LETTER
    left = -(wide + narrow) / 2
    fill = INK if pot.left else PRINT
    at = {"text_anchor": "start", "fill": fill}
    return (
        node("title", escape(pot_text(pot)))
        + (stack(pot.left, left - 18, size * 0.2, 12) if alone and pot.left else "")
        + words(told, left, size * 0.35, size, font_weight=700, **at)
        + (words(seats, left + wide + size * 0.3, size * 0.35, small, **at) if seats else "")
    )


_POTS_IN_A_COLUMN = 4
_POTS_HIGH = 88.0  # height from the cards to the chips of the position opposite the dealer
_LETTER, _BOLD = 0.5, 0.64  # width of a regular and a bold letter, by font size
