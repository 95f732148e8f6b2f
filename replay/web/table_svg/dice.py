"""Tables of dice: the field of Three Dice Football, the boxes of Craps, throws, shared areas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.web.table_svg.cards import die
from replay.web.table_svg.chips import BOLD, edge_of, outcome, stack
from replay.web.table_svg.shapes import (
    BLACK,
    FELT_DARK,
    GOLD,
    INK,
    LINE,
    PRINT,
    WHITE,
    fitted,
    moved,
    node,
    words,
)

if TYPE_CHECKING:
    from replay.rounds.moment import Moment, Stake, Thrown
    from replay.web.table_svg.layouts import SharedArea
    from replay.web.table_svg.seats import TableView

DOWNS = ("1st Down", "2nd Down", "3rd Down", "1st & Goal", "2nd & Goal", "3rd & Goal")
_YARDS = 25
_PILL_W, _PILL_H = 104, 21
_POINTS = (4, 5, 6, 8, 9, 10)
_SMALL, _TALL = (2, 3, 4, 5, 6), (8, 9, 10, 11, 12)


def football(view: TableView) -> str:
    """The field from the 25 to the goal line with its marker, the downs, the plays, the dice."""
    markers = view.moment.markers
    left, width, top = 26, 600, 38
    yard = markers.get("yard")
    lines = []
    for at in range(_YARDS + 1):
        x = left + width * at / _YARDS
        yards = _YARDS - at
        tall = yards % 5 == 0
        lines.append(
            node(
                "path",
                d=f"M{x:g} {top}V{top + (70 if tall else 8)}",
                stroke=WHITE if tall else PRINT,
                stroke_width=2 if tall else 1,
                stroke_opacity=0.8,
            )
        )
        if tall:
            lines.append(
                words(
                    "goal" if yards == 0 else str(yards),
                    x + (0 if yards else 2),
                    top + 86,
                    13,
                    fill=INK,
                    font_weight=600,
                )
            )
    field = node("rect", x=left, y=top, width=width, height=70, fill="#1f6b43", stroke=LINE)
    ball = ""
    if isinstance(yard, int):
        x = left + width * (_YARDS - min(max(yard, 0), _YARDS)) / _YARDS
        ball = moved(
            x, top + 36,
            node("ellipse", rx=17, ry=11, fill="#8a4b22", stroke=GOLD, stroke_width=2),
            node("path", d="M-7 0H7M-4-3V3M0-3V3M4-3V3", stroke=WHITE, stroke_width=1.4),
            words(f"yard {yard}", min(0, 596 - x), -16, 14, fill=GOLD, font_weight=700),
        )  # fmt: skip
    return field + "".join(lines) + ball + _downs(markers) + _plays(markers) + _dice(view.moment)


def _downs(markers: dict[str, int | str]) -> str:
    at = markers.get("down")
    return "".join(
        _pill(label, 26 + 102 * number, 142, 98, on=at == number + 1)
        for number, label in enumerate(DOWNS)
    )


def _plays(markers: dict[str, int | str]) -> str:
    at = markers.get("game_length")
    drawn = [words("Play", 52, 197, 13, fill=PRINT)]
    drawn += [
        _pill(str(number), 84 + 46 * (number - 1), 178, 40, on=at == number)
        for number in range(1, 7)
    ]
    if isinstance(at, int) and at > 6:  # noqa: PLR2004 - the printed ones are drawn above
        drawn.append(_pill(str(at), 360, 178, 40, on=True))
    return "".join(drawn)


def _pill(label: str, x: float, y: float, width: float, *, on: bool) -> str:
    """A printed circle or box, with a puck if the marker is on it."""
    box = node(
        "rect", x=x, y=y, width=width, height=28, rx=14,
        fill=GOLD if on else FELT_DARK, stroke=WHITE if on else LINE, stroke_width=2 if on else 1,
    )  # fmt: skip
    told = f"● {label}" if on else label
    return box + words(
        told,
        x + width / 2,
        y + 19,
        fitted(told, width - 8, 13),
        fill=BLACK if on else PRINT,
        font_weight=700 if on else 400,
    )


def _dice(moment: Moment) -> str:
    """The last throw large, the earlier ones small below it."""
    if not moment.throws:
        return words("no throw yet", 790, 90, 14, fill=PRINT)
    last = moment.throws[-1]
    sides = 52
    colours = _colours(last)
    left = 790 - (len(last.dice) * (sides + 10) - 10) / 2
    big = "".join(
        die(number, left + at * (sides + 10), 52, sides, colour)
        for at, (number, colour) in enumerate(zip(last.dice, colours, strict=True))
    )
    title = words(_throw_title(last), 790, 38, 15, font_weight=700)
    cancelled = (
        node(
            "path",
            d=f"M{left - 6} 110 {left + len(last.dice) * 62} 46",
            stroke=GOLD,
            stroke_width=4,
        )
        if last.cancelled
        else ""
    )
    return title + big + cancelled + _earlier(moment.throws[:-1])


def _throw_title(thrown: Thrown) -> str:
    what = "Extra point" if thrown.purpose == "extra_point" else f"Throw {thrown.number or ''}"
    return f"{what.strip()}: no roll" if thrown.cancelled else what


def _colours(thrown: Thrown) -> tuple[str, ...]:
    """Colours of dice: the last of three football dice is red, and so are the dice of craps."""
    return ("green", "green", "red") if len(thrown.dice) == 3 else ("red",) * len(thrown.dice)  # noqa: PLR2004


def _earlier(throws: tuple[Thrown, ...]) -> str:
    """The throws before the last, newest first; those that do not fit are counted."""
    most = 3 if throws and len(throws[0].dice) == 3 else 4  # noqa: PLR2004
    shown = throws[::-1][:most]
    drawn = [words("before", 658, 142, 12, text_anchor="start", fill=PRINT)] if throws else []
    x = 704.0
    for thrown in shown:
        for number, colour in zip(thrown.dice, _colours(thrown), strict=True):
            drawn.append(die(number, x, 128, 18, colour))
            x += 20
        if thrown.cancelled:
            drawn.append(words("×", x - 11, 144, 22, fill=GOLD, font_weight=700))  # noqa: RUF001
        x += 8
    if len(throws) > most:
        drawn.append(words(f"+{len(throws) - most}", x + 10, 142, 13, fill=PRINT))
    return "".join(drawn)


def craps(view: TableView) -> str:
    """The point boxes with the puck, the bonus numbers with their markers, and the dice."""
    point = view.moment.markers.get("point")
    off = view.moment.markers.get("off")
    drawn = []
    for at, number in enumerate(_POINTS):
        x = 26 + 103 * at
        name = {6: "SIX", 9: "NINE"}.get(number, str(number))
        on = point == number
        drawn.append(
            node(
                "rect",
                x=x,
                y=38,
                width=96,
                height=66,
                rx=6,
                fill=FELT_DARK,
                stroke=GOLD if on else LINE,
                stroke_width=3 if on else 1.3,
            )
        )
        drawn.append(words(name, x + 48, 66, 22, fill=GOLD if on else INK, font_weight=700))
        if on:
            drawn.append(_puck("ON", x + 48, 86, WHITE, BLACK))
    if point is None:
        drawn.append(_puck("OFF", 60, 126, BLACK, WHITE))
        drawn.append(words("come-out: no point", 88, 131, 13, text_anchor="start", fill=PRINT))
    if off is not None:
        drawn.append(words(f"off: {off}", 300, 131, 13, fill=PRINT))
    for group, (numbers, left) in enumerate(((_SMALL, 26), (_TALL, 330))):
        title = ("Small", "Tall")[group]
        drawn.append(words(title, left + 22, 174, 13, fill=PRINT))
        drawn += [
            _pill(str(n), left + 50 + 48 * at, 155, 42, on=n in view.moment.bonus_numbers)
            for at, n in enumerate(numbers)
        ]
    shooter = view.moment.shooter
    told = f"shooter: position {shooter}" if shooter else "no shooter yet"
    drawn.append(words(told, 790, 176, 14, fill=INK))
    return "".join(drawn) + _dice(view.moment)


def _puck(text: str, x: float, y: float, fill: str, ink: str) -> str:
    disc = node(
        "circle", r=14, fill=fill, stroke=BLACK if fill == WHITE else WHITE, stroke_width=1.5
    )
    return moved(x, y, disc, words(text, 0, 4, 11, fill=ink, font_weight=700))


def fields(view: TableView) -> str:
    """Betting areas that all positions share, each with its chips by position."""
    known = {field.wager for field in view.layout.fields}
    stakes: dict[str, list[tuple[int, Stake]]] = {}
    for seat in view.moment.seats:
        for stake in seat.stakes:
            stakes.setdefault(stake.wager, []).append((seat.position, stake))
    drawn = [_field(view, field, stakes.get(field.wager, [])) for field in view.layout.fields]
    others = [
        f"position {position}, {view.name(wager)}: {', '.join(t.text for t in outcome(stake))}"
        for wager, its in stakes.items()
        if wager not in known
        for position, stake in its
    ]
    told = " · ".join(others)
    drawn += [words(told, 480, 588, fitted(told, 900, 13))] if told else []
    return "".join(drawn)


def _field(view: TableView, field: SharedArea, stakes: list[tuple[int, Stake]]) -> str:
    lit = {position for position, wager in view.change.wagers if wager == field.wager}
    box = node(
        "rect", width=field.width, height=field.height, rx=6, fill=FELT_DARK, fill_opacity=0.75,
        **edge_of([stake for _, stake in stakes if not stake.on_layout], lit=bool(lit)),
    )  # fmt: skip
    title = words(field.label, 8, 15, 13, text_anchor="start", fill=PRINT)
    rows_most = int((field.height - 20) // _PILL_H)
    beside = min(int(field.width // _PILL_W), len(stakes))
    columns = max(beside, -(-len(stakes) // rows_most), 1)
    width = (field.width - 8) / columns
    pills = [
        moved(
            4 + (at % columns) * width,
            20 + (at // columns) * _PILL_H,
            _pill_of(position, stake, width - 3, _PILL_H, lit=position in lit),
        )
        for at, (position, stake) in enumerate(stakes)
    ]
    return moved(field.x, field.y, box, title, *pills)


def _pill_of(position: int, stake: Stake, width: float, height: float, *, lit: bool) -> str:
    """The position, amount and outcome of chips in a shared area."""
    radius = min(height / 2 - 2, 10)
    middle = height / 2
    disc = node("circle", cx=radius + 1, cy=middle, r=radius, fill=GOLD if lit else INK)
    number = words(
        str(position), radius + 1, middle + radius * 0.45, radius * 1.2, fill=BLACK, font_weight=700
    )
    x = radius * 2 + 4
    chips = ""
    if stake.on_layout:
        chips = stack(stake.on_layout, x + 8, middle + 2, min(radius * 0.8, 8))
        x += 19
    told = " ".join(each.text for each in outcome(stake)) or "0"
    colour = outcome(stake)[-1].colour if outcome(stake) else INK
    size = fitted(told, (width - x) * BOLD, min(15, height * 0.7))
    return (
        disc
        + number
        + chips
        + words(
            told, x, middle + size * 0.36, size, text_anchor="start", fill=colour, font_weight=700
        )
    )
