"""`rounds`: a round found by what is known of it."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from consumers import rulings
from consumers.rounds import ROUND_INDEX, Filters, Round, search
from ledger.errors import Usage
from ledger.games import games
from ledger.rules.codes import CODES
from ledger.values import format_time, parse_time
from replay.cli.app import family
from replay.cli.output import Json, print_lines, say
from replay.cli.stories import draw, opened_views
from replay.drawing import boxed_table, money

app = family()

_MONEY = re.compile(r"\$?(\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.(\d{2}))?")


@app.command("rounds")
def rounds(  # noqa: PLR0913 - one option a way to search
    *,
    table: Annotated[str | None, typer.Option(help="Table, as CC-07.")] = None,
    gaming_day: Annotated[str | None, typer.Option(help="Gaming day, YYYY-MM-DD.")] = None,
    game: Annotated[
        str | None, typer.Option(help="Game id, as `round-ledger games` lists.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="Not over before: 2026-11-20T19:00:00-05:00.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="Begun by then.")] = None,
    position: Annotated[int | None, typer.Option(help="Betting position.")] = None,
    wager: Annotated[str | None, typer.Option(help="Wager id, as middle.")] = None,
    amount: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="On one wager: placed, paid, collected.")
    ] = None,
    amount_min: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="As --amount, or more.")
    ] = None,
    amount_max: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="As --amount, or less.")
    ] = None,
    outcome: Annotated[
        Literal["win", "lose", "push", "void"] | None, typer.Option(help="Of one wager.")
    ] = None,
    finding: Annotated[str | None, typer.Option(help="Code of a finding, as overpaid.")] = None,
    status: Annotated[
        Literal["open", "completed", "voided"] | None, typer.Option(help="Of the record.")
    ] = None,
    property_: Annotated[
        str | None, typer.Option("--property", help="Casino, as hollywood.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 50,
    json: Json = False,
) -> None:
    """Search rounds; the newest first.

    What is given must all hold; position, wager, amount and outcome of one and the same wager.

    Example: round-ledger rounds --table CC-07 --position 3 --finding overpaid
    """
    exact = _cents(amount, "--amount")
    low, high = _cents(amount_min, "--amount-min"), _cents(amount_max, "--amount-max")
    filters = Filters(
        property=property_,
        table=table,
        gaming_day=gaming_day,
        game=game,
        status=status,
        since_us=_moment(since, "--from"),
        until_us=_moment(until, "--to"),
        position=position,
        wager=wager,
        amount_min=low if exact is None else exact,
        amount_max=high if exact is None else exact,
        outcome=outcome,
        finding=_code(finding),
        limit=limit,
    )
    with opened_views([ROUND_INDEX, rulings.VIEW]) as base:
        found = search(base, filters)
    if json:
        print_lines(_round_json(each) for each in found)
    elif found:
        draw([_rounds_table(found)])
    for line in _beside(filters, len(found)):
        say(line)


def _round_json(round_: Round) -> dict[str, object]:
    """A round as it is printed to pipe; times of devices in UTC."""
    return {
        "round": round_.id.subject,
        "property": round_.property,
        "game": round_.game,
        "status": round_.status,
        "began": format_time(round_.began_us),
        "ended": None if round_.ended_us is None else format_time(round_.ended_us),
        "positions": round_.positions,
        "wagers": round_.wagers,
        "wagered": round_.wagered,
        "paid": round_.paid,
        "facts": round_.facts,
    }


def _rounds_table(found: Sequence[Round]) -> Table:
    """Rounds to read, a line each in 80 columns; the property only where there are several."""
    several = len({each.property for each in found}) > 1
    table = boxed_table(
        "round", "began", "game", "status", "positions", "wagered", "paid",
        right=("wagered", "paid"), title="Rounds; times of devices, in UTC",
    )  # fmt: skip
    table.padding = (0, 1, 0, 0)
    for column in table.columns:
        column.no_wrap = column.header != "game"
    for each in found:
        game = games().get(each.game or "")
        table.add_row(
            str(each.id) if several else each.id.subject,
            format_time(each.began_us)[11:19],
            Text(game.title if game else each.game or "n/a", no_wrap=True, overflow="ellipsis"),
            each.status,
            " ".join(map(str, each.positions)),
            "n/a" if each.wagered is None else money(each.wagered),
            "n/a" if each.paid is None else money(each.paid),
        )
    return table


def _beside(filters: Filters, found: int) -> Iterator[str]:
    """What to know beside the answer: that there may be more, or why there may be none."""
    if found == filters.limit:
        yield f"There may be more than {found}: narrow the search, or raise --limit."
    if found:
        return
    yield "No round on record fits all of that."
    known = games()
    if filters.game not in (None, *known):
        yield f"No game here is called `{filters.game}`; there are {', '.join(known)}."
    if filters.wager not in (None, *(w.id for game in known.values() for w in game.wagers)):
        yield f"No wager here is called `{filters.wager}`; `round-ledger games` lists them."


def _code(text: str | None) -> str | None:
    """The code of a finding as typed. Raises `Usage`: a misspelt one would find nothing."""
    if text not in (None, *CODES):
        near = get_close_matches(str(text), CODES, n=1)
        raise Usage(
            f"There is no finding `{text}`",
            where="--finding",
            hint=f"Did you mean {near[0]}?" if near else f"Give one of {', '.join(CODES)}.",
        )
    return text


def _cents(text: str | None, option: str) -> int | None:
    """Dollars as typed, in cents. Raises `Usage`."""
    if text is None:
        return None
    match = _MONEY.fullmatch(text.strip())
    if match is None:
        raise Usage(
            f"`{text}` is not an amount", where=option, hint="Give dollars: 25, 25.00 or 1,250.00."
        )
    return int(match[1].replace(",", "")) * 100 + int(match[2] or 0)


def _moment(text: str | None, option: str) -> int | None:
    """A time as typed. Raises `Usage`: without an offset nobody knows which hour it means."""
    if text is None:
        return None
    time_us = parse_time(text)
    if time_us is None:
        raise Usage(
            f"`{text}` is not a time with offset",
            where=option,
            hint="Give it as 2026-11-20T19:04:11-05:00 (or Z for UTC).",
        )
    return time_us
