"""The page `games/<game>.md` of the site: a page a game, from the game that rules."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET

from ledger.games import games
from ledger.rules.engine.odds import as_json
from ledger.rules.wagers.progressive import TERMS
from ledger.values import dollars
from replay.docs import markdown
from replay.games.game_card import card, no_edges
from replay.games.order_of_play import decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.rules.engine.game import Game
    from replay.games.game_card import GameCard, PaytableCard


def pages() -> dict[str, Callable[[], str]]:
    """What makes the page of every game, by its path under `docs/`."""
    return {f"games/{game.id}.md": partial(page, game) for game in games().values()}


def page(game: Game) -> str:
    """The page of a game; its edges are worked out, which takes a second for some."""
    return _page(card(game, edge=True), decisions(game))


def _page(of: GameCard, decided: list[str]) -> str:
    return markdown.page(
        of.title,
        f"`{of.game}`, up to {of.positions} betting positions. Sections are those of Title 58 of "
        "the Pennsylvania Code. `round-ledger games "
        f"{of.game}` prints the same, without decisions.",
        *(
            [f"Not printed in the chapter; taken from the standard game: {of.base}"]
            if of.base
            else []
        ),
        *_text(of),
        *_wagers(of),
        *_play(of),
        "## Decisions",
        _decisions(decided),
        *_open(of),
        *_course(of),
        *_edges(of),
    )


def _text(of: GameCard) -> Iterator[str]:
    yield "## Editions"
    yield markdown.table(
        ("chapter", "status", "from", "until", "published"),
        (
            (
                e.chapter,
                e.status,
                e.effective_from or "unknown",
                e.effective_until or "unknown",
                e.source,
            )
            for e in of.editions
        ),
    )
    yield "The documents that the sections were read in."
    yield markdown.table(
        ("document", "status", "from", "sections"),
        (
            (d.source, d.status, d.effective_from or "unknown", ", ".join(d.sections))
            for d in of.documents
        ),
    )


def _wagers(of: GameCard) -> Iterator[str]:
    yield "## Wagers"
    yield markdown.table(
        ("wager", "name", "section", ""),
        (
            (markdown.code(w.id), w.name, w.section, "if offered" if w.optional else "")
            for w in of.wagers
        ),
    )
    yield "## Paytables"
    placed = {wager.id for wager in of.wagers}
    if any(not placed.issuperset(paytable.wagers) for paytable in of.paytables):
        yield (
            "A paytable that is not named as a wager above has no stake of its own. It is paid as "
            "*Order of play* names it."
        )
    for paytable in of.paytables:
        yield from _paytable(paytable)


def _paytable(of: PaytableCard) -> Iterator[str]:
    letter = f", paytable {of.letter}" if of.letter else ""
    yield f"### {', '.join(map(markdown.code, of.wagers))} ({of.section}{letter})"
    yield markdown.table(
        ("row", "pays", "only under"),
        ((row.label, row.odds, markdown.code(row.reading)) for row in of.rows),
    )


def _play(of: GameCard) -> Iterator[str]:
    yield "## Order of play"
    yield (
        "Each step where it first comes in a round dealt by the game's own rules. `settled` is a "
        "wager paid, collected or returned; of several sections, the cards or dice decide."
    )
    yield markdown.table(
        ("", "step", "who", "wager", "sections"),
        (
            (number, markdown.code(s.step), s.who, markdown.code(s.wager), ", ".join(s.sections))
            for number, s in enumerate(of.order_of_play, 1)
        ),
    )


def _decisions(decided: list[str]) -> str:
    """The words for decisions, or that there are none."""
    if not decided:
        return "None: what a player does is a wager or a hand that he sets."
    words = " · ".join(map(markdown.code, decided))
    return f"Words for `decision` in `decision_made`, from simulated rounds: {words}."


def _open(of: GameCard) -> Iterator[str]:
    yield "## Readings"
    yield "How unclear paragraphs are read; a Rules Submission may name another value."
    yield markdown.table(
        ("reading", "default", "others", "section", "what is unclear"),
        (
            (
                markdown.code(r.name),
                markdown.code(as_json(r.default)),
                ", ".join(markdown.code(as_json(value)) for value in r.values[1:]),
                r.section,
                r.says,
            )
            for r in of.readings
        ),
    )
    if of.options:
        yield "What a section leaves to the certificate holder, by the Rules Submission."
        yield markdown.table(
            ("option", "default", "others", "section", "what each does"),
            (
                (
                    markdown.code(o.name),
                    markdown.code(as_json(o.default)),
                    ", ".join(markdown.code(as_json(value)) for value in o.values[1:]),
                    o.section,
                    o.says,
                )
                for o in of.options
            ),
        )
    if of.limits:
        least = ", ".join(f"{markdown.code(n)} {dollars(c)}" for n, c in of.limits.items())
        yield f"Limits that a Rules Submission may set, and the least of each: {least}."
    if of.meters:
        terms = ", ".join(map(markdown.code, TERMS))
        least = ", ".join(f"{markdown.code(n)} {dollars(c)}" for n, c in of.meters.items())
        yield (
            f"Progressive wagers, and the least their meters begin at: {least}. A Rules Submission "
            f"says of each in `progressives`: {terms}."
        )


def _course(of: GameCard) -> Iterator[str]:
    """What may go wrong in a round, what is checked beside it, and what is not."""
    yield "## Irregularities"
    yield (
        markdown.table(
            ("kind", "the round", "what follows", "section"),
            (
                (markdown.code(i.kind), "is void" if i.void else "goes on", i.says, i.section)
                for i in of.irregularities
            ),
        )
        or "None are checked."
    )
    yield "## Procedures"
    yield (
        markdown.table(
            ("what", "section or figure"), ((each.name, each.says) for each in of.procedures)
        )
        or "None are checked."
    )
    yield "## Not modelled"
    yield (
        markdown.table(
            ("section", "why", "wager"),
            ((n.section, n.reason, n.wager or "") for n in of.not_modelled),
        )
        or "Every paragraph has its line."
    )


def _edges(of: GameCard) -> Iterator[str]:
    if of.edges is UNSET:
        return
    yield "## Edges"
    yield "What the house keeps of a stake, exactly, under the default readings."
    yield (
        markdown.table(
            ("wager", "edge", "exactly", "how"),
            ((markdown.code(e.wager), e.percent, e.edge, e.how) for e in of.edges),
        )
        or no_edges(of.game)
    )
