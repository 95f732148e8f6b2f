"""Draws the positions of a table: place, cards, betting areas and decisions."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from replay.rounds.pots import put_in
from replay.text.money import money
from replay.web.table_svg.cards import CARD_H, row_of_cards, row_step
from replay.web.table_svg.chips import area, outcome, stack
from replay.web.table_svg.layouts import HEIGHT, WIDTH, BettingSpot
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
    from collections.abc import Callable, Iterator, Sequence

    from replay.rounds.moment import HeldCards, Moment, SeatMoment, SeenCard, Stake
    from replay.web.table_svg.change import Change
    from replay.web.table_svg.layouts import FeltLayout

_SPOT_H = 46
_BADGE = 13


class TableView(NamedTuple):
    """What is drawn: the moment, the layout, hindsight or not. change: the last fact's changes."""

    moment: Moment
    layout: FeltLayout
    name: Callable[[str], str]  # a wager's printed name
    change: Change
    hindsight: bool


def arc(view: TableView, count: int) -> str:
    """Positions in an arc before the dealer; the first is at the dealer's left."""
    slot = (WIDTH - 24) / count
    middle = (count - 1) / 2
    by_position = {seat.position: seat for seat in view.moment.seats}
    drawn = []
    for position in range(count, 0, -1):  # the dealer's left is at the viewer's right
        at = count - position
        x = 12 + slot * (at + 0.5)
        bend = ((at - middle) / middle) ** 2 if middle else 0
        drawn.append(
            moved(
                x, HEIGHT - 48 - 40 * bend, _seat(view, position, by_position.get(position), slot)
            )
        )
    return "".join(drawn)


def _seat(view: TableView, position: int, seat: SeatMoment | None, slot: float) -> str:
    """One position: its badge, cards above it, betting areas above these."""
    room = slot - 10
    parts = [_badge(view, position, seat, room)]
    hands: list[str] = []
    height = 0.0
    if _has_cards(view):
        hands, height = _hands(view, position, seat, room)
    parts += hands
    spots = _spots(view, seat)
    columns = max((spot.column for spot in spots), default=0) + 1
    width = min(room / columns, 84)
    by_wager = _laid(view, seat)
    for spot in spots:
        x = (spot.column - (columns - 1) / 2) * width
        y = -_BADGE - 14 - height - _SPOT_H * (spot.row + 0.5)
        stake = by_wager.get(spot.wager)
        lit = (position, spot.wager) in view.change.wagers
        drawn = area(spot.label, stake, width - 4, _SPOT_H - 4, round_=spot.round_, lit=lit)
        parts.append(moved(x, y, _hint(view, position, stake), drawn))
    return "".join(parts)


def _has_cards(view: TableView) -> bool:
    """Whether this game deals to the positions."""
    places = {place.to for place in view.layout.places}
    return "player_hand" not in places


def _hint(view: TableView, position: int, stake: Stake | None) -> str:
    """The tooltip of an area."""
    if stake is None:
        return ""
    told = ", ".join(each.text for each in outcome(stake)) or "nothing"
    hand = f", hand {stake.hand}" if stake.hand > 1 else ""
    return node("title", f"Position {position}{hand}, {_plain(view.name(stake.wager))}: {told}")


def _plain(text: str) -> str:
    return text.replace("&", "and").replace("<", "")


def _laid(view: TableView, seat: SeatMoment | None) -> dict[str, Stake]:
    """The stakes in areas of the position, without those beside its hands."""
    stakes = seat.stakes if seat else ()
    return {s.wager: s for s in stakes if not _with_hand(view, s)}


def _with_hand(view: TableView, stake: Stake) -> bool:
    return stake.wager in view.layout.by_hand or stake.hand > 1


def _spots(view: TableView, seat: SeatMoment | None) -> list[BettingSpot]:
    """The areas of the layout, then one for each other wager with recorded chips."""
    spots = list(view.layout.spots)
    known = {spot.wager for spot in spots}
    others = [wager for wager in _laid(view, seat) if wager not in known]
    columns = max((spot.column for spot in spots), default=1) + 1
    taken = {(spot.column, spot.row) for spot in spots}
    free = (
        (at % columns, at // columns)
        for at in range(len(spots) + len(others) + columns)
        if (at % columns, at // columns) not in taken
    )
    spots += [
        BettingSpot(wager, _short(view.name(wager)), column, row)
        for wager, (column, row) in zip(others, free, strict=False)
    ]
    return spots


def _short(name: str) -> str:
    return name.removesuffix(" Wager").removesuffix(" Bet")


def _badge(view: TableView, position: int, seat: SeatMoment | None, room: float) -> str:
    """The number of a position, marked if the fact is its own, and its last decisions."""
    now = view.moment.position == position
    fill = GOLD if now else INK if seat else FELT_DARK
    ink = BLACK if now or seat else PRINT
    disc = node(
        "circle", r=_BADGE, fill=fill, stroke=WHITE if now else LINE, stroke_width=2.5 if now else 1
    )
    number = words(str(position), 0, 5, 14, fill=ink, font_weight=700)
    told = said(seat)
    line = words(told, 0, 29, fitted(told, room, 13), font_style="italic") if told else ""
    return disc + number + line


def said(seat: SeatMoment | None) -> str:
    """A position's decisions, and its money without an area."""
    if seat is None:
        return ""
    told = [f"won {money(seat.awarded)}"] if seat.awarded else []
    told += [", ".join(_counted(seat.decisions))] if seat.decisions else []
    told += [f"fees {money(seat.fees)}"] if seat.fees else []
    return " · ".join(told)


def _counted(decisions: Sequence[str]) -> Iterator[str]:
    """The last few decisions in order; earlier ones are counted."""
    most = 2
    if len(decisions) > most:
        yield f"… ({len(decisions) - most})"
    yield from decisions[-most:]


def hands_of(moment: Moment, position: int) -> list[HeldCards]:
    """The hands of one position."""
    return [held for held in moment.held if held.to == "player" and held.position == position]


def _hands(
    view: TableView, position: int, seat: SeatMoment | None, room: float
) -> tuple[list[str], float]:
    """The hands of a position side by side, and their height."""
    hands = hands_of(view.moment, position)
    if not hands:
        return [], CARD_H + 4.0
    share = room / len(hands)
    stakes: dict[int, list[Stake]] = defaultdict(list)
    for stake in seat.stakes if seat else ():
        if _with_hand(view, stake):
            stakes[stake.hand].append(stake)
    blocks = [(_hand(view, held, share - 3), stakes.get(held.hand, [])) for held in hands]
    height = max(rows for (_, rows), _ in blocks) + (16 if stakes else 0)
    drawn = []
    for at, ((cards, _), its) in enumerate(blocks):
        x = (at - (len(blocks) - 1) / 2) * share
        drawn.append(moved(x, -_BADGE - 10 - height, cards, _chips_of_hand(its, height, share)))
    return drawn, height


def _chips_of_hand(stakes: list[Stake], height: float, share: float) -> str:
    """The wagers of one hand, in a line under its cards."""
    if not stakes:
        return ""
    lies = sum(stake.on_layout for stake in stakes)
    told = " ".join(each.text for stake in stakes for each in outcome(stake))
    chips = stack(lies, -share / 2 + 9, height - 9, 6.5) if lies else ""
    size = fitted(told, share - (22 if lies else 6), 13)
    return chips + words(told, 8 if lies else 0, height - 3, size, font_weight=700, fill=GOLD)


def _hand(
    view: TableView, held: HeldCards, width: float, *, folded: bool = False
) -> tuple[str, float]:
    """One hand and its height: in the rows it was set in, else in one or two rows."""
    rows = rows_of(held, width)
    step = CARD_H * (0.62 if len(rows) > 1 else 1)
    lit = view.change.cards_of(held)
    drawn = []
    for number, (label, numbers) in enumerate(rows):
        cards = [held.cards[at] for at in numbers]
        shine = frozenset(at for at, number_ in enumerate(numbers) if number_ in lit)
        row = row_of_cards(cards, width, hindsight=view.hindsight, lit=shine)
        drawn.append(moved(0, number * step, node("title", label) if label else "", row))
    height = step * (len(rows) - 1) + CARD_H + 4
    gone = {"opacity": 0.38} if held.gone else {"opacity": 0.6} if folded else {}
    end = "mucked" if view.layout.seats == "ring" else "racked"
    racked = words(end, 0, height / 2 + 4, 13, font_weight=700) if held.gone else ""
    return node("g", *drawn, **gone) + racked, height


def rows_of(held: HeldCards, width: float) -> list[tuple[str, list[int]]]:
    """Numbers of a hand's cards by row, each row with the name it was set under."""
    numbers = list(range(len(held.cards)))
    if held.set_as:
        return _as_set(held.cards, held.set_as, numbers)
    least = 17  # visible width of a card that the next one covers
    if len(numbers) > 1 and row_step(len(numbers), width) < least:
        half = (len(numbers) + 1) // 2
        return [("", numbers[:half]), ("", numbers[half:])]
    return [("", numbers)]


def _as_set(
    cards: Sequence[SeenCard], hands: dict[str, tuple[str, ...]], numbers: list[int]
) -> list[tuple[str, list[int]]]:
    """The cards under the names they were set as; a card without a name is in its own row."""
    left = list(numbers)
    rows = []
    for name, codes in hands.items():
        row = []
        for code in codes:
            found = next((at for at in left if cards[at].card == code), None)
            if found is not None:
                left.remove(found)
                row.append(found)
        rows.append((name, row))
    return [*rows, *([("not set", left)] if left else [])]


def ring(view: TableView, count: int) -> str:
    """Positions around a poker table: the dealer at the top, position 1 at the dealer's left."""
    by_position = {seat.position: seat for seat in view.moment.seats}
    drawn = []
    for position in range(1, count + 1):
        angle = math.radians(-90 + 360 * position / (count + 1))
        x, y = WIDTH / 2 + 368 * math.cos(angle), 300 + 206 * math.sin(angle)
        inner = ((WIDTH / 2 - x) * 0.41, (300 - y) * 0.42)
        drawn.append(moved(x, y, _player(view, position, by_position.get(position), inner)))
    return "".join(drawn)


def _player(
    view: TableView, position: int, seat: SeatMoment | None, inner: tuple[float, float]
) -> str:
    """A poker player: cards, stack, and the chips they put in."""
    room = 150.0
    hands = hands_of(view.moment, position)
    folded = seat is not None and seat.decisions[-1:] == ("fold",)
    cards = [_hand(view, held, room, folded=folded)[0] for held in hands]
    tag = [_badge(view, position, seat, room)]
    chips = _left(seat)
    if chips is not None:
        tag.append(words(money(chips), 20, 5, 14, text_anchor="start", font_weight=700))
    chips_in = put_in(seat)
    before = []
    if chips_in:
        lit = any(at == position for at, _ in view.change.wagers) or view.change.pot == position
        before.append(stack(chips_in, -16, 6))
        fill = GOLD if lit else INK
        before.append(words(money(chips_in), 0, 8, 14, text_anchor="start", fill=fill))
    if view.moment.button == position:
        before.append(_button(-40, 4))
    return moved(*inner, *before) + moved(0, -36, *cards) + moved(0, 36, *tag)


def _button(x: float, y: float) -> str:
    disc = node("circle", r=11, fill=WHITE, stroke=BLACK)
    return moved(x, y, disc, words("D", 0, 5, 14, fill=BLACK, font_weight=700))


def _left(seat: SeatMoment | None) -> int | None:
    """Chips in front of a poker player, if they were counted."""
    if seat is None or seat.stack is None:
        return None
    return seat.stack - put_in(seat) + seat.awarded
