"""Draws the table of any game as SVG at one moment, and highlights what one fact changed.

It uses no rule and no clock. By default cards are shown as they lay. With hindsight face-down cards
show the face that any fact records, and look different from cards that were seen.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ledger.games import games
from replay.rounds.drawing import notes
from replay.rounds.pots import pot_text, pots_at
from replay.rounds.sentences import wager_namer
from replay.web.table_svg.change import change
from replay.web.table_svg.dice import craps, fields, football
from replay.web.table_svg.layouts import HEIGHT, LAYOUTS, UNKNOWN, WIDTH
from replay.web.table_svg.middle import community, places, pot
from replay.web.table_svg.seats import TableView, arc, ring
from replay.web.table_svg.shapes import (
    BLACK,
    FELT,
    FONT,
    GOLD,
    INK,
    LINE,
    RAIL,
    RAIL_LIGHT,
    fitted,
    node,
    words,
)

if TYPE_CHECKING:
    from replay.rounds.moment import Moment
    from replay.web.table_svg.layouts import FeltLayout

_CENTRES = {"football": football, "craps": craps, "pot": pot}


def draw_table(
    moment: Moment,
    game: str | None,
    *,
    before: Moment | None = None,
    hindsight: bool = False,
    key: str = "table",
) -> str:
    """The table after one fact, as one `svg` element that needs no style sheet.

    before: the moment one fact earlier, whose differences are highlighted. key: the prefix of ids
    in the element, so that two pictures can be on one page.
    """
    layout = LAYOUTS.get(game or "", UNKNOWN)
    view = TableView(moment, layout, wager_namer(game), change(before, moment), hindsight)
    known = games().get(game or "")
    title = f"The {known.title if known else game or 'unknown'} table after fact {moment.number}"
    told = f"{moment.says} {'Every recorded card is shown.' if hindsight else _AS_SEEN}"
    told = " ".join([told, *pot_texts(moment, game)])
    return node(
        "svg",
        node("title", escape(title), id=f"{key}-title"),
        node("desc", escape(told), id=f"{key}-desc"),
        _felt(layout, known.title if known else ""),
        places(view),
        community(view),
        _CENTRES[layout.centre](view) if layout.centre else "",
        _positions(view, known.positions if known else layout.positions),
        _notes(moment),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
        font_family=FONT,
        class_="table-picture",
    )


def pot_texts(moment: Moment, game: str | None) -> list[str]:
    """Each pot of a poker round in words, the main pot first; none where a game has no pots."""
    if LAYOUTS.get(game or "", UNKNOWN).centre != "pot":
        return []
    return [pot_text(pot) for pot in pots_at(moment)]


_AS_SEEN = "Cards face down are shown as they lay."


def _positions(view: TableView, of_game: int) -> str:
    """The positions: the layout's usual number, or more if the record names more."""
    if view.layout.seats == "areas":
        return fields(view)
    seen = max((seat.position for seat in view.moment.seats), default=1)
    count = max(seen, min(of_game, view.layout.positions if of_game > 9 else of_game))  # noqa: PLR2004
    return ring(view, count) if view.layout.seats == "ring" else arc(view, count)


def _felt(layout: FeltLayout, title: str) -> str:
    """The rail and the felt, with the name of the game printed on it."""
    if layout.seats == "ring":
        rail = _sheet(8, 280, fill=RAIL, stroke=RAIL_LIGHT, stroke_width=3)
        felt = _sheet(22, 266, fill=FELT, stroke=LINE)
    elif layout.seats == "areas":
        rail = _sheet(4, 14, fill=RAIL, stroke=RAIL_LIGHT, stroke_width=3)
        felt = _sheet(12, 8, fill=FELT, stroke=LINE)
    else:
        rail = node("path", d=_bow(4, 60, 52), fill=RAIL, stroke=RAIL_LIGHT, stroke_width=3)
        felt = node("path", d=_bow(12, 66, 40), fill=FELT, stroke=LINE)
    size = fitted(title, 300 if layout.seats == "ring" else 520, 26)
    printed = (
        words(title.upper(), WIDTH / 2, layout.title_y, size, fill=LINE, letter_spacing=2)
        if layout.title_y
        else ""
    )
    return rail + felt + printed


def _sheet(inset: float, radius: float, **attributes: object) -> str:
    width, height = WIDTH - 2 * inset, HEIGHT - 2 * inset
    return node("rect", x=inset, y=inset, width=width, height=height, rx=radius, **attributes)


def _bow(inset: int, corner: int, bulge: int) -> str:
    """The outline: straight at the dealer's side, curved at the players' side."""
    right, round_ = WIDTH - inset, inset + 10
    return (
        f"M{round_} {inset}H{WIDTH - round_}Q{right} {inset} {right} {round_}V{HEIGHT - corner}"
        f"Q{WIDTH / 2:g} {HEIGHT + bulge} {inset} {HEIGHT - corner}V{round_}"
        f"Q{inset} {inset} {round_} {inset}Z"
    )


def _notes(moment: Moment) -> str:
    """Notes such as irregularities, on a bar across the felt."""
    told = " ".join(each for each in notes(moment)[1:] if each)
    if not told:
        return ""
    size = fitted(told, WIDTH - 120, 18)
    bar = node("rect", x=40, y=250, width=WIDTH - 80, height=32, rx=6, fill=GOLD, stroke=INK)
    return bar + words(told, WIDTH / 2, 272, size, fill=BLACK, font_weight=700)
