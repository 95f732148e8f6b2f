"""`rounds`: searches rounds."""

import time
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Annotated, Literal

import typer
from msgspec.structs import replace
from rich.table import Table
from rich.text import Text

from consumers.disputes import disputes
from consumers.rounds import search_index
from consumers.rounds.index import ROUND_INDEX, Round
from consumers.rounds.search import (
    ANY,
    WHERE_AND_WHEN,
    DealerError,
    Filters,
    Order,
    dealer_errors,
)
from consumers.rulings import rulings
from infra.postgres.connection import Database
from ledger.errors import Usage
from ledger.games import games
from ledger.values import format_time, quantity
from replay.ask import sheet
from replay.ask.house import HouseHours
from replay.ask.searching import Page, house_of, nearest, page_of
from replay.ask.sentence import Understood, understand
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay, TableName, moment
from replay.cli.shell.terminal import draw
from replay.rounds.drawing import boxed_table
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, print_lines, print_text, say, show_table
from replay.shell.settings import in_force
from replay.shell.zones import Zones, house_zones
from replay.text.money import money
from replay.text.times import gaming_day_from, stamp
from replay.text.typed import cards, cents, code

app = family()


@app.command("rounds")
def rounds(  # noqa: PLR0913 - one option a way to search
    *,
    table: TableName = None,
    gaming_day: GamingDay = None,
    game: Annotated[
        str | None, typer.Option(help="Game id, as `round-ledger games` lists.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="Ended at or after: 2026-11-20 21:00, or 9 pm."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Began at or before.")
    ] = None,
    position: Annotated[int | None, typer.Option(help="Betting position.")] = None,
    wager: Annotated[str | None, typer.Option(help="Wager id, such as middle.")] = None,
    amount: Annotated[
        str | None,
        typer.Option(metavar="DOLLARS", help=("Amount placed, paid or collected on one wager.")),
    ] = None,
    amount_min: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="At least this amount on one wager.")
    ] = None,
    amount_max: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="At most this amount on one wager.")
    ] = None,
    outcome: Annotated[
        Literal["win", "lose", "push", "void"] | None, typer.Option(help="Outcome of one wager.")
    ] = None,
    row: Annotated[
        str | None, typer.Option(help="How a printed row begins: three-of-a-kind.")
    ] = None,
    card: Annotated[
        list[str] | None, typer.Option(help="Held by one holder, such as As; may be repeated.")
    ] = None,
    patron: Annotated[str | None, typer.Option(help="Token of a patron who wagered.")] = None,
    dealer: Annotated[
        str | None, typer.Option(help="Credential of the dealer, such as D-1042.")
    ] = None,
    finding: Annotated[
        str | None, typer.Option(help="Code of a finding, such as overpaid; or any.")
    ] = None,
    dispute: Annotated[str | None, typer.Option(help="Dispute about it, such as D-17.")] = None,
    status: Annotated[
        Literal["open", "completed", "voided"] | None, typer.Option(help="Status of the round.")
    ] = None,
    property_: Casino = None,
    ask: Annotated[
        str | None,
        typer.Option(metavar="SENTENCE", help="In words: 'CC-01 around 9 pm two pair paid short'."),
    ] = None,
    sort: Annotated[Order, typer.Option(help="The order of the rounds.")] = "newest",
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a line of CSV for each wager of the rounds found.")
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Sum up the errors of --dealer.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many.")] = 50,
    json: Json = False,
) -> None:
    """Search rounds, newest first.

    --ask takes a sentence of a guest or an investigator. It prints how each word was read, and
    which ones were not. Options given beside it hold. All given conditions must hold. Position,
    wager, amount, outcome and row must hold for one wager, cards for one holder. A dealer matches
    if on duty at the table during the round. With --errors it sums up the errors that are the
    dealer's, by place and time, and their cost.

    Example: round-ledger rounds --table CC-02 --position 5 --finding overpaid
    """
    exact = cents(amount, "--amount")
    low, high = cents(amount_min, "--amount-min"), cents(amount_max, "--amount-max")
    filters = Filters(
        property=property_,
        table=table,
        gaming_day=gaming_day,
        game=game,
        status=status,
        position=position,
        wager=wager,
        amount_min=low if exact is None else exact,
        amount_max=high if exact is None else exact,
        outcome=outcome,
        row=row,
        finding=finding if finding == ANY else code(finding, "--finding"),
        dealer=dealer,
        patron=patron,
        cards=cards(card or [], "--card"),
        dispute=dispute,
        limit=limit,
    )
    if errors:
        _plain(filters)
        if ask is not None:
            raise Usage("--errors takes no sentence", where="--ask", hint="Give --dealer alone.")
    views = [ROUND_INDEX, rulings.VIEW, disputes.VIEW, search_index.VIEW]
    with opened_views(views, property_) as database:
        zones = house_zones(database)
        filters = _within(filters, since, until, zones.of(property_))
        if errors:
            _tell_errors(dealer, *dealer_errors(database, filters), json=json)
            return
        zone = zones.of(property_)
        told = None if ask is None else _understood(database, ask, zone)
        filters = filters if told is None else told.and_(filters)
        shown = page_of(database, filters, sort)
        near = nearest(database, told.chips, zone, ()) if told and not shown.rounds else []
    found = shown.rounds
    if told:
        _print_reading(told, json=json, as_csv=as_csv)
    if as_csv:
        _print_csv(shown, zones)
    elif json:
        print_lines(_round_json(each) for each in found)
    elif found:
        draw([_rounds_table(found, zones)])
    for line in _beside(filters, len(found)):
        say(line)
    for each in near:
        say(f"Nearest: {each.round.id.subject}: {each.lacks}.")


def _understood(database: Database, text: str, zone: tzinfo) -> Understood:
    """A sentence, read with the names on record and the house's clock."""
    settings = in_force()
    hours = HouseHours(settings.gaming_day_begins, settings.shifts)
    return understand(text, house_of(database, zone, hours), time.time_ns() // 1000)


def _print_reading(told: Understood, *, json: bool, as_csv: bool) -> None:
    """Print how a sentence was read: each filter, and words that are not used."""
    if json and not as_csv:
        print_json(
            {
                "ask": told.text,
                "filters": [{"words": each.words, "means": each.means} for each in told.chips],
                "not_used": [{"words": each.words, "why": each.why} for each in told.unread],
            }
        )
        return
    for chip in told.chips:
        say(f"{chip.words}: {chip.means}")
    for each in told.unread:
        also = ", ".join(choice.sentence for choice in each.choices)
        say(f"Not used: {each.words}. {each.why}{f' Perhaps: {also}' if also else ''}")


def _print_csv(shown: Page, zones: Zones) -> None:
    """Print a line for each wager of the rounds found, as the page's file has it."""
    print_text(sheet.header().rstrip())
    for each in shown.rounds:
        zone, details = zones.of(each.property), shown.details[each.id]
        for line in sheet.rows(each, details, shown.lines[each.id], zone):
            print_text(line.rstrip())


def _within(filters: Filters, since: str | None, until: str | None, zone: tzinfo) -> Filters:
    """The filters with --from and --to; a time of day alone is of --gaming-day. Raises `Usage`."""
    after_us = gaming_day_from(filters.gaming_day or "", zone)
    since_us = None if since is None else moment(since, "--from", zone, after_us=after_us)
    after_us = after_us if since_us is None else since_us
    until_us = None if until is None else moment(until, "--to", zone, after_us=after_us)
    return replace(filters, since_us=since_us, until_us=until_us)


def _plain(filters: Filters) -> None:
    """Raise `Usage` for filters that `--errors` does not use."""
    known = {name: getattr(filters, name) for name in ("dealer", "limit", *WHERE_AND_WHEN)}
    if filters.dealer is None or Filters(**known) != filters:
        raise Usage(
            "--errors needs --dealer, and filters by place and time only",
            where="--errors",
            hint="Give --dealer, and --table, --gaming-day, --game, --status, --from or --to.",
        )


def _tell_errors(
    dealer: str | None, dealt: int, found: Sequence[DealerError], *, json: bool
) -> None:
    """Print a dealer's errors, the most costly first, and their total cost."""
    short, over = (sum(getattr(each, side) for each in found) for side in ("short", "over"))
    if json:
        print_lines(
            {
                "finding": e.code,
                "wager": e.wager,
                "times": e.count,
                "patrons_lost": e.short,
                "house_lost": e.over,
            }
            for e in found
        )
        print_json({"dealer": dealer, "rounds": dealt, "patrons_lost": short, "house_lost": over})
        return
    if found:
        show_table(
            f"Errors in {quantity(dealt, 'round')} dealt by {dealer}",
            ("finding", "wager", "times", "patrons lost", "house lost"),
            ((e.code, e.wager, f"{e.count:,}", money(e.short), money(e.over)) for e in found),
            right="times patrons lost house",
        )
    say(
        f"{quantity(dealt, 'round')} dealt. By errors, patrons lost {money(short)} and the house "
        f"{money(over)}. `round-ledger errors` compares dealers."
    )


def _round_json(round_: Round) -> dict[str, object]:
    """A round as JSON; times are by devices, in UTC."""
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


def _rounds_table(found: Sequence[Round], zones: Zones) -> Table:
    """Rounds as a table of 80 columns; with the property if there are several.

    The title has the zone; each time has its offset if not all have the same.
    """
    several = len({each.property for each in found}) > 1
    began = {each.id: stamp(each.began_us, zones.of(each.property), ms=False) for each in found}
    offsets = {each[20:] for each in began.values()}
    alike = f" ({offsets.pop()})" if len(offsets) == 1 else ""
    table = boxed_table(
        "round", "began", "game", "status", "positions", "wagered", "paid",
        right=("wagered", "paid"), title=f"Rounds; times by devices{alike}",
    )  # fmt: skip
    table.padding = (0, 1, 0, 0)
    for column in table.columns:
        column.no_wrap = column.header != "game"
    for each in found:
        game = games().get(each.game or "")
        table.add_row(
            str(each.id) if several else each.id.subject,
            began[each.id][11:19] if alike else began[each.id][11:],
            Text(game.title if game else each.game or "n/a", no_wrap=True, overflow="ellipsis"),
            each.status,
            " ".join(map(str, each.positions)),
            "n/a" if each.total_wagered is None else money(each.total_wagered),
            "n/a" if each.total_paid is None else money(each.total_paid),
        )
    return table


def _beside(filters: Filters, found: int) -> Iterator[str]:
    """Notes on the result: that there may be more, or why there may be none."""
    if found == filters.limit:
        yield f"There may be more than {found}: narrow the search, or raise --limit."
    if found:
        return
    yield "No round on record matches the search."
    known = games()
    if filters.game not in (None, *known):
        yield f"There is no game `{filters.game}`; games are {', '.join(known)}."
    if filters.wager not in (None, *(w.id for game in known.values() for w in game.wagers)):
        yield f"There is no wager `{filters.wager}`; `round-ledger games` lists wagers."
    if filters.finding is not None:
        yield "A finding about a table's day belongs to no round: see the page Find."
