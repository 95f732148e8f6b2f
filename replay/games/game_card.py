"""A game as plain values, for `games`, `games --json` and its page.

Everything is read from the game itself, so a page cannot differ from the rules. Sections are those
of the newest edition.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from ledger.games import games
from ledger.regulations import chapters, origin
from ledger.rules.engine.coupons import readings_of
from ledger.rules.engine.game import InPart, cited
from ledger.rules.engine.odds import as_json
from replay.games.order_of_play import StepCard, order_of_play

if TYPE_CHECKING:
    from ledger.edges import Edge
    from ledger.rules.engine.game import (
        Game,
        Irregularity,
        NotModelled,
        Option,
        Reading,
        Wager,
    )
    from ledger.rules.engine.odds import Paytable


class EditionCard(Struct, frozen=True):
    """An edition and its days in force; None for an unknown day."""

    chapter: str
    status: str
    effective_from: str | None
    effective_until: str | None
    source: str


class DocumentCard(Struct, frozen=True):
    """A document, and the sections of a game that were read in it."""

    source: str
    status: str
    effective_from: str | None
    sections: list[str]  # "649a.6", whole or in part


class WagerCard(Struct, frozen=True):
    """A wager the chapter authorises."""

    id: str
    name: str
    section: str
    optional: bool  # only if the Rules Submission offers it


class RowCard(Struct, frozen=True):
    """A printed row; `reading`: it only applies under this reading."""

    label: str
    odds: str
    reading: str | None  # "pair_of_tens = push"


class PaytableCard(Struct, frozen=True):
    """A printed table of odds."""

    wagers: list[str]
    letter: str | None
    section: str
    rows: list[RowCard]


class ReadingCard(Struct, frozen=True):
    """An unclear paragraph and the ways it can be read, as a Rules Submission names them."""

    name: str
    default: str | bool | int
    values: list[str | bool | int]
    section: str
    says: str


class IrregularityCard(Struct, frozen=True):
    """What follows from an irregularity."""

    kind: str
    section: str
    void: bool
    says: str


class ProcedureCard(Struct, frozen=True):
    """A figure or a section that a procedure uses."""

    name: str
    says: str


class NotModelledCard(Struct, frozen=True):
    """A paragraph that is not modelled, and why; and the wager it is about, if any."""

    section: str
    reason: str
    wager: str | None


class EdgeCard(Struct, frozen=True):
    """The house's exact share of a stake of one; negative if the player gains."""

    wager: str
    edge: str  # a fraction
    percent: str  # the same, rounded
    how: str  # the computation, and how the player plays


class GameCard(Struct, frozen=True):
    """One game."""

    game: str
    title: str
    positions: int  # betting positions at most
    base: str  # what is not printed and taken from the standard game; empty: everything is printed
    editions: list[EditionCard]
    documents: list[DocumentCard]
    wagers: list[WagerCard]
    paytables: list[PaytableCard]
    order_of_play: list[StepCard]
    readings: list[ReadingCard]
    options: list[ReadingCard]  # what the section leaves to the holder
    limits: dict[str, int]  # limits the holder may set, and the least of each, in cents
    meters: dict[str, int]  # by the wager that feeds it: the least it begins at, cents
    irregularities: list[IrregularityCard]
    procedures: list[ProcedureCard]
    not_modelled: list[NotModelledCard]
    edges: list[EdgeCard] | UnsetType = UNSET


def card(game: Game, *, edge: bool = False) -> GameCard:
    """The card of a game; with `edge` also the computed house edge of each wager."""
    chapter = game.editions[-1].chapter
    return GameCard(
        game=game.id,
        title=game.title,
        positions=game.positions,
        base=game.base,
        editions=[EditionCard(*edition) for edition in game.editions],
        documents=_documents(game),
        wagers=[_wager(wager, chapter) for wager in game.wagers],
        paytables=[_paytable(table, chapter) for table in game.paytables],
        order_of_play=order_of_play(game),
        readings=[_reading(reading, chapter) for reading in readings_of(game)],
        options=[_reading(option, chapter) for option in game.options],
        limits=dict(game.limits),
        meters={meter.wager: meter.least for meter in game.meters},
        irregularities=[
            _irregularity(kind, says, chapter) for kind, says in game.irregularities.items()
        ],
        procedures=[
            ProcedureCard(name.replace("_", " "), _procedure(value, chapter))
            for name, value in (game.procedures._asdict() if game.procedures else {}).items()
            if value is not None
        ],
        not_modelled=not_modelled_of(game),
        edges=_edges(game) if edge else UNSET,
    )


def not_modelled_of(game: Game) -> list[NotModelledCard]:
    """Printed paragraphs of a game that are not modelled, and why."""
    chapter = game.editions[-1].chapter
    return [
        _not_modelled(cited(chapter, paragraph), why)
        for paragraph, why in game.not_modelled.items()
    ]


def _not_modelled(section: str, why: NotModelled | InPart) -> NotModelledCard:
    if isinstance(why, InPart):
        return NotModelledCard(section, why.reason, why.wager)
    return NotModelledCard(section, why, None)


def _documents(game: Game) -> list[DocumentCard]:
    """The documents of every edition, each with the sections printed in it."""
    found: dict[tuple[str, str, str | None], list[str]] = {}
    for edition in game.editions:
        for paragraph in chapters()[edition.chapter].paragraphs:
            section = f"{edition.chapter}.{paragraph.partition('(')[0]}"
            of = origin(f"{edition.chapter}.{paragraph}")
            if of is not None:
                sections = found.setdefault((of.source, of.status, of.effective_from), [])
                if section not in sections:
                    sections.append(section)
    return [DocumentCard(*of, sections) for of, sections in found.items()]


def _edges(game: Game) -> list[EdgeCard]:
    """The house edges; empty if they are not computed for the game."""
    if find_spec(f"ledger.edges.{game.id}") is None:
        return []
    return [edge_card(each) for each in import_module("ledger.edges").edges(game.id)]


def no_edges(game: str) -> str:
    """Why a game has no house edges."""
    if games()[game].pots:
        return "None: players play against one another, and what one loses another wins."
    return f"Not worked out: there is no `ledger/edges/{game}.py`."


def edge_card(edge: Edge) -> EdgeCard:
    """The printed form of a house edge."""
    return EdgeCard(edge.wager, str(edge.edge), f"{float(edge.edge):.3%}", edge.how)


def _wager(wager: Wager, chapter: str) -> WagerCard:
    return WagerCard(wager.id, wager.name, cited(chapter, wager.section), wager.optional)


def _paytable(table: Paytable, chapter: str) -> PaytableCard:
    rows = [
        RowCard(
            row.label,
            row.odds,
            f"{row.reading[0]} = {as_json(row.reading[1])}" if row.reading else None,
        )
        for row in table.rows
    ]
    return PaytableCard(list(table.wagers), table.letter, cited(chapter, table.section), rows)


def _reading(reading: Reading | Option, chapter: str) -> ReadingCard:
    section = cited(chapter, reading.section)
    values = list[str | bool | int](reading.values)
    return ReadingCard(reading.name, values[0], values, section, reading.says)


def _irregularity(kind: str, of: Irregularity, chapter: str) -> IrregularityCard:
    sections = [of.section, *of.by_dealing.values()]
    says = of.says + (f" (dealt from: {of.only.replace('_', ' ')})" if of.only else "")
    section = ", ".join(cited(chapter, each) for each in sections)
    return IrregularityCard(kind, section, of.void, says)


def _procedure(value: object, chapter: str) -> str:
    """A figure or a cited paragraph, or one for each way of dealing."""
    if isinstance(value, dict):
        each = {way.replace("_", " "): _procedure(one, chapter) for way, one in value.items()}
        return ", ".join(f"{way}: {one}" for way, one in each.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return cited(chapter, value) if isinstance(value, str) else str(value)
