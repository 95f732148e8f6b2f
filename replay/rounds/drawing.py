"""Draws the table as text, for a terminal or a file. Nothing depends on colour alone.

A card is its code and the shape of its suit (`Ks♠`); a face-down card is shaded. A game without its
own drawing is drawn as rows of cards and dice. Widths fit 100 columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ledger.values import UNKNOWN_CARD
from replay.rounds.sentences import card_text, holder_text, wager_namer
from replay.text.money import money, sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    from replay.rounds.moment import HeldCards, Moment, SeatMoment, SeenCard, Stake, Thrown

WIDTH = 100
"""The most columns of a drawing."""

_DICE = "⚀⚁⚂⚃⚄⚅"
_DOWNS = ("1st Down", "2nd Down", "3rd Down", "1st & Goal", "2nd & Goal", "3rd & Goal")
_FIELD_YARDS = 25
_RED, _BLACK, _DOWN = "bold red", "bold", "dim"


def without_trailing_blanks(text: str) -> str:
    """The text without the blanks that pad lines to a table's width."""
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def draw(moment: Moment, game: str | None, *, hindsight: bool = False) -> RenderableType:
    """The table at one moment. hindsight: show face-down cards as the record knows them later."""
    left = layout(moment, game, hindsight=hindsight)
    grid = Table.grid(padding=(0, 3))
    grid.add_column(vertical="middle", no_wrap=True)
    grid.add_column(ratio=1, vertical="middle")
    grid.add_row(left, _seats(moment, game, hindsight=hindsight))
    return Padding(Group(grid, *_below(moment)), (0, 0, 0, 4))


def layout(moment: Moment, game: str | None, *, hindsight: bool = False) -> Text:
    """The middle of the table: community cards, field, dice."""
    return _LAYOUTS.get(game or "", _rows)(moment, hindsight)


def seats(
    moment: Moment, game: str | None, *, hindsight: bool = False
) -> Iterator[tuple[SeatMoment, Text, Text]]:
    """Each position with its cards (one hand per line), wagers and decisions."""
    name = wager_namer(game)
    for seat in moment.seats:
        hands = [h for h in moment.held if h.to == "player" and h.position == seat.position]
        cards = Text("\n").join(_hand(held, hindsight=hindsight) for held in hands)
        yield seat, cards, _wagers(seat, name)


def card(seen: SeenCard, *, hindsight: bool) -> Text:
    """One card; with the caller's brackets it is four columns wide."""
    if not seen.up and (not hindsight or seen.card == UNKNOWN_CARD):
        return Text("░░░", style=_DOWN)
    style = _RED if seen.card[-1] in "dh" else _BLACK
    text = Text(card_text(seen.card).ljust(3), style=style)
    if not seen.up:
        text.stylize("underline")
        text.append("↓", style=_DOWN)
    return text


def _cards(cards: Sequence[SeenCard], *, hindsight: bool) -> Text:
    return Text(" ").join(card(each, hindsight=hindsight) for each in cards)


def _boxed(cards: Sequence[SeenCard], at: int, *, hindsight: bool) -> Text:
    """A community card in its box; the box is empty if none was dealt."""
    inside = card(cards[at], hindsight=hindsight) if at < len(cards) else Text("   ")
    return Text.assemble("[", inside, "]" if len(inside) <= 3 else "")  # noqa: PLR2004 - ↓ closes


def _community(moment: Moment) -> tuple[SeenCard, ...]:
    return next((held.cards for held in moment.held if held.to == "community"), ())


def _cross(moment: Moment, hindsight: bool) -> Text:  # noqa: FBT001 - one signature for all layouts
    """Five boxes: far, the row of three, near, in dealing order."""
    cards = _community(moment)
    far, left, middle, right, near = (_boxed(cards, at, hindsight=hindsight) for at in range(5))
    row = Text(" ").join((left, middle, right))
    return Text("\n").join((Text.assemble("      ", far), row, Text.assemble("      ", near)))


def _field(moment: Moment, hindsight: bool) -> Text:  # noqa: FBT001 - one signature for all layouts
    """The field from the 25 to the goal line, its markers, and the dice of the last throw."""
    del hindsight
    lines = [Text("25   20   15   10   5    0"), _track(moment.markers.get("yard"))]
    lines.append(Text(_markers(moment)))
    if moment.throws:
        lines.append(_dice(moment.throws[-1]))
    return Text("\n").join(lines)


def _track(yard: int | str | None) -> Text:
    """The field's line with the Yard Marker."""
    track = list("┼────┼────┼────┼────┼────╫")
    says = ""
    if isinstance(yard, int):
        track[_FIELD_YARDS - min(max(yard, 0), _FIELD_YARDS)] = "●"
        says = f" yard {yard}"
    return Text.assemble("".join(track), (says, "bold"))


def _markers(moment: Moment) -> str:
    """Every marker except the Yard Marker, in words."""
    told = []
    for marker, at in moment.markers.items():
        if marker == "down" and isinstance(at, int) and 1 <= at <= len(_DOWNS):
            told.append(_DOWNS[at - 1])
        elif marker == "game_length":
            told.append(f"play {at}")
        elif marker != "yard":
            told.append(f"{marker} {at}")
    return " · ".join(told) or "no marker down"


def _dice(thrown: Thrown) -> Text:
    """One throw: numbers and faces; the last of three football dice is red."""
    faces = [f"{die}{_DICE[die - 1]}" for die in thrown.dice if die]
    what = "extra point" if thrown.purpose == "extra_point" else "throw"
    title = f"{what} (no roll)" if thrown.cancelled else f"{what} {thrown.number}"
    if len(faces) == 3:  # noqa: PLR2004 - two offensive dice and a defensive one
        return Text(f"{title}: green {faces[0]} {faces[1]}  red {faces[2]}")
    return Text(f"{title}: {' '.join(faces)}")


def _rows(moment: Moment, hindsight: bool) -> Text:  # noqa: FBT001 - one signature for all layouts
    """A game without its own layout: the cards of each holder, and the last throw."""
    lines = [
        Text.assemble(f"{holder_text(held.to, None)}: ", _cards(held.cards, hindsight=hindsight))
        for held in moment.held
        if held.to != "player"
    ]
    lines += [_dice(moment.throws[-1])] if moment.throws else []
    lines += [Text(_markers(moment))] if moment.markers else []
    return Text("\n").join(lines)


_LAYOUTS: dict[str, Callable[[Moment, bool], Text]] = {
    "criss_cross_poker": _cross,
    "three_dice_football": _field,
}
"""The drawing of each game's layout; other games are drawn as rows."""


def _seats(moment: Moment, game: str | None, *, hindsight: bool) -> RenderableType:
    """The positions, one below the other."""
    if not moment.seats:
        return Text("nothing on the layout yet", style=_DOWN)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for seat, cards, wagers in seats(moment, game, hindsight=hindsight):
        mark = "▸" if seat.position == moment.position else " "
        table.add_row(Text(f"{mark}Pos {seat.position}", "bold"), cards, wagers)
    return table


def _hand(held: HeldCards, *, hindsight: bool) -> Text:
    cards = _cards(held.cards, hindsight=hindsight)
    if held.gone:
        cards.append(" racked", style=_DOWN)
    return cards


def _wagers(seat: SeatMoment, name: Callable[[str], str]) -> Text:
    """A position's wagers and decisions on one line."""
    told = [_stake(stake, name) for stake in seat.stakes]
    told += [Text(decision, style="italic") for decision in seat.decisions]
    for cents, what in ((seat.fees, "fees"), (seat.in_pot, "in the pot"), (seat.awarded, "won")):
        if cents:
            told.append(Text(f"{money(cents)} {what}"))
    return Text(" · ").join(told)


def _stake(stake: Stake, name: Callable[[str], str]) -> Text:
    text = Text(name(stake.wager).removesuffix(" Wager").removesuffix(" Bet"))
    if stake.hand > 1:
        text.append(f" (hand {stake.hand})")
    if stake.on_layout:
        text.append(f" {money(stake.on_layout)}", style="bold")
    if stake.state:
        text.append(f" {stake.state}")
    for cents, told in (
        (stake.paid, "+{}"),
        (stake.collected, "-{}"),
        (stake.returned, "{} back"),
    ):
        if cents:
            text.append(" " + told.format(money(cents)))
    return text


def _below(moment: Moment) -> list[Text]:
    """The sums so far, and notes such as irregularities."""
    told = notes(moment)
    return [
        Text(line, style="bold" if number else _DOWN) for number, line in enumerate(told) if line
    ]


def notes(moment: Moment) -> list[str]:
    """The sums so far (empty if nothing moved), then irregularities and a void."""
    moved = sums(
        paid=moment.paid, collected=moment.collected, returned=moment.returned, rake=moment.rake
    )
    told = [f"So far: {moved}." if moved else ""]
    if moment.irregularities:
        kinds = ", ".join(kind.replace("_", " ") for kind in moment.irregularities)
        told.append(f"Irregularity: {kinds}.")
    if moment.void is not None:
        told.append(f"VOID: {moment.void}")
    return told


def boxed_table(*columns: str, right: Sequence[str] = (), title: str | None = None) -> Table:
    """An empty table in the style of a replay; `right` names the columns of figures."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table
