"""`adjudicate` and `games`: rulings and rules, without database and network."""

import difflib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec import UNSET
from msgspec.structs import replace

from ledger.adjudication import feed
from ledger.errors import NotFound, Usage
from ledger.games import games
from ledger.record.tape import Quarantined
from ledger.record.wire import parse_line
from ledger.rules.engine.game import Game
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.ruling import Ruling, TableFindings
from ledger.values import quantity
from replay.cli.rules.feed_facts import FeedFacts
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.feeds import FeedLine, Feeds, blocks, opened, size
from replay.games.game_card import GameCard, ReadingCard, card, no_edges
from replay.games.submission_file import edges_of, read_filing
from replay.shell.collector import collect_seldom
from replay.shell.output import (
    Json,
    print_drawn,
    print_json,
    print_lines,
    progress,
    say,
    show_table,
)

MALFORMED_TOLD_MAX = 20
"""The most malformed lines printed one by one; more are counted."""

app = family()


@app.command("adjudicate")
def adjudicate(feeds: Feeds, *, json: Json = False) -> None:
    """Rule on a feed's rounds without a database.

    Prints what differs from the rules, each with its section. Malformed lines are reported and
    skipped. Exit code 1 if anything is found.

    Example: round-ledger adjudicate demo/feed.jsonl --json | head -1
    """
    collect_seldom()
    with FeedFacts() as facts:
        _read(feeds, facts)
        rulings = feed.adjudicate(facts)
        if not (json and sys.stdout.isatty()):  # lines of JSON would run into the bar
            rulings = _counted(rulings)
        found = print_rulings(rulings, len(facts), json=json)
    if found:
        raise typer.Exit(FINDINGS)


def _counted(rulings: Iterable[Ruling | TableFindings]) -> Iterator[Ruling | TableFindings]:
    """The rulings as they are made, counted by a progress bar until the last."""
    with progress("rule") as advance:
        for made, each in enumerate(rulings, 1):
            yield each
            advance(doing=f"{made:,} rulings made")


def print_rulings(rulings: Iterable[Ruling | TableFindings], facts: int, *, json: bool) -> int:
    """Print rulings and the number of facts; the number of findings."""
    return _print_json(rulings) if json else _print_findings(rulings, facts)


def _read(feeds: list[str], facts: FeedFacts) -> None:
    """Add every well-formed fact. Raises `Usage` if the feed has lines but no fact."""
    malformed = 0
    with opened(feeds) as sources, progress("read", size(sources)) as advance:
        for line in _lines(blocks(sources)):
            judged = parse_line(line.octets)
            advance(len(line.octets) + 1)
            if not isinstance(judged, Quarantined):
                facts.append(judged)
                continue
            malformed += 1
            if malformed <= MALFORMED_TOLD_MAX:
                say(_malformed(line, judged))
    if malformed > MALFORMED_TOLD_MAX:
        say(f"{malformed - MALFORMED_TOLD_MAX:,} more malformed lines are not shown.")
    if malformed and not facts:
        raise Usage(
            f"No line is a fact: all {malformed:,} are malformed",
            where=", ".join(feeds),
            hint="A feed has one CloudEvents JSON object on each line; see /docs/facts.html.",
        )


def _lines(blocks_: Iterable[list[FeedLine]]) -> Iterator[FeedLine]:
    return (line for block in blocks_ for line in block)


def _malformed(line: FeedLine, why: Quarantined) -> str:
    return f"{line.feed}, line {line.number}: {why.what} ({why.reason}, {why.where}); {why.hint}"


def _show_any(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, or that it has no rows."""
    held = list(rows)
    if held:
        show_table(title, columns, held)
    else:
        print_drawn(f"{title}: none.\n")


def _print_json(rulings: Iterable[Ruling | TableFindings]) -> int:
    """Print an object for each round; the number of findings."""
    found = 0
    for each in rulings:
        print_json(each)
        found += len(each.findings)
    return found


def _print_findings(rulings: Iterable[Ruling | TableFindings], facts: int) -> int:
    """Print findings as a table, then a summary; the number of findings."""
    statuses: Counter[str] = Counter()
    rows: list[tuple[object, ...]] = []
    for each in rulings:
        if isinstance(each, Ruling):
            statuses[each.status] += 1
            where = f"{each.property}:{each.round}"
        else:
            where = f"{each.property}:{each.table}"
        rows += [(where, of.code, of.says, of.section or "") for of in each.findings]
    if rows:
        show_table("Findings", ("round or table", "code", "says", "section"), rows)
    rounds = ", ".join(f"{count:,} {status}" for status, count in sorted(statuses.items()))
    say(
        f"{quantity(facts, 'fact')}, {quantity(statuses.total(), 'round')}"
        + (f" ({rounds}): " if rounds else ": ")
        + (f"{quantity(len(rows), 'finding')}." if rows else "nothing found.")
    )
    return len(rows)


@app.command("games")
def show_games(
    game: Annotated[str | None, typer.Argument(help="Game id; without one, all games.")] = None,
    *,
    edge: Annotated[
        bool, typer.Option("--edge", help="Compute what the house keeps of each wager, too.")
    ] = False,
    submission: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --edge: under this Rules Submission."),
    ] = None,
    json: Json = False,
) -> None:
    """Show the games: paytables, readings, house edges.

    For one game it prints editions, wagers, paytables and order of play, with their sections. It
    also prints readings and their defaults, what follows from irregularities, and which paragraphs
    are not modelled and why. `--edge` adds what the house keeps of each wager, by default or under
    a Rules Submission.

    Example: round-ledger games criss_cross_poker
    """
    chosen = [each for each in games().values() if game in (None, each.id)]
    if not chosen:
        raise _no_such_game(game or "")
    cards = [card(each, edge=edge) for each in chosen] if game or edge or json else []
    if submission and edge:
        cards = [_under(submission, each) for each in cards]
    if json:
        print_lines(cards)
    elif not cards:
        _list(chosen)
    for each in () if json else cards:
        _show(each)


def _under(path: Path, of: GameCard) -> GameCard:
    """A game's card with the edges under a Rules Submission. Raises `Usage` for another game's."""
    filing = read_filing(path)
    if filing.game != of.game:
        raise Usage(
            f"The submission is for {filing.game}, not for {of.game}",
            where=str(path),
            hint=f"Run `round-ledger games {filing.game} --edge --submission {path}`.",
        )
    return replace(of, edges=edges_of(filing, path))


def _no_such_game(asked: str) -> NotFound:
    near = difflib.get_close_matches(asked, games(), n=1)
    hint = f"Did you mean {near[0]}?" if near else "See `round-ledger games`."
    return NotFound(f"There is no game {asked!r}", where="games", hint=hint)


def _list(chosen: Iterable[Game]) -> None:
    show_table(
        "Games",
        ("game", "title", "chapter", "wagers"),
        (
            (
                each.id,
                each.title,
                ", ".join(f"{one.chapter} ({one.status})" for one in each.editions),
                ", ".join(wager.id for wager in each.wagers),
            )
            for each in chosen
        ),
    )


def _read_as(of: ReadingCard) -> tuple[str, ...]:
    """A reading or an option, its values as JSON prints them."""
    default, *others = map(as_json, of.values)
    return of.name, default, ", ".join(others), of.section, of.says


def _show(of: GameCard) -> None:
    """Print every table of one game."""
    show_table(
        f"{of.title} ({of.game}): editions",
        ("chapter", "status", "from", "until", "published"),
        ((e.chapter, e.status, e.effective_from, e.effective_until, e.source) for e in of.editions),
    )
    if of.base:
        show_table(
            "Not printed in the chapter; taken from the standard game", ("what",), ((of.base,),)
        )
    show_table(
        "Documents of the sections",
        ("document", "status", "from", "sections"),
        ((d.source, d.status, d.effective_from, ", ".join(d.sections)) for d in of.documents),
    )
    show_table(
        f"Wagers, up to {of.positions} positions",
        ("wager", "name", "section", ""),
        ((w.id, w.name, w.section, "optional" if w.optional else "") for w in of.wagers),
    )
    for table in of.paytables:
        letter = f", paytable {table.letter}" if table.letter else ""
        show_table(
            f"{', '.join(table.wagers)} ({table.section}{letter})",
            ("row", "pays", "only under"),
            ((row.label, row.odds, row.reading or "") for row in table.rows),
        )
    _show_play(of)
    if of.edges:
        show_table(
            "The house's share of a stake",
            ("wager", "edge", "exactly", "how"),
            ((e.wager, e.percent, e.edge, e.how) for e in of.edges),
            right="edge exactly",
        )
    elif of.edges is not UNSET:
        print_drawn(f"The house's share of a stake: {no_edges(of.game)}\n")


def _show_play(of: GameCard) -> None:
    """Print the order of play, readings, options and irregularities."""
    show_table(
        "Order of play",
        ("step", "who", "wager", "sections"),
        ((s.step, s.who, s.wager or "", ", ".join(s.sections)) for s in of.order_of_play),
    )
    _show_any(
        "Readings: how unclear paragraphs are read",
        ("reading", "default", "others", "section", "what is unclear"),
        (_read_as(each) for each in of.readings),
    )
    if of.options:
        show_table(
            "Options: what a section leaves to the certificate holder",
            ("option", "default", "others", "section", "what each does"),
            (_read_as(each) for each in of.options),
        )
    _show_any(
        "Irregularities",
        ("kind", "round", "what follows", "section"),
        ((i.kind, "void" if i.void else "goes on", i.says, i.section) for i in of.irregularities),
    )
    _show_any(
        "Procedures", ("what", "section or figure"), ((p.name, p.says) for p in of.procedures)
    )
    _show_any(
        "Not modelled",
        ("section", "why", "wager"),
        ((n.section, n.reason, n.wager or "") for n in of.not_modelled),
    )
