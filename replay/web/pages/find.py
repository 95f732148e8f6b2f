"""The page Find: a search for rounds with results while typing, and a dealer's errors.

The form is sent with GET, so a search has an address and works without scripts. The script fetches
the same address for the results alone.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from msgspec.structs import replace
from starlette.exceptions import HTTPException

from consumers.rounds import search
from consumers.rounds.search import Filters
from consumers.rulings import rulings
from infra.access.users import User
from infra.postgres.connection import Database
from ledger.errors import Usage
from ledger.games import games
from ledger.rules.engine.finding_codes import CODES
from ledger.rules.engine.ruling import TableFindings
from ledger.values import parse_round
from replay.text.times import gaming_day_from
from replay.text.times import read as read_time
from replay.text.typed import cards, cents, code
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

FRAGMENT = "X-Fragment"
"""The request header of scripts that fetch a part of a page."""

RESULTS_MAX = 200
TEXT_MAX = 200
NUMBER_MAX = 10**9

FIELDS = (
    "round", "table", "gaming_day", "game", "status", "from", "to", "position", "dealer", "patron",
    "wager", "amount", "amount_min", "amount_max", "outcome", "row", "card", "finding", "dispute",
    "limit",
)  # fmt: skip
"""Names of the form's fields and of the address's parameters."""

NARROWING = ("table", "round", "game", "from", "to", "gaming_day", "status")
"""The fields that also narrow a dealer's errors."""

DAYS_MAX = 20
"""The most findings about tables' days beside the rounds."""

SAID_MAX = 3
"""The sentences of findings shown of a round; more are counted."""

OUTCOMES = ("win", "lose", "push", "void")
STATUSES = ("open", "completed", "voided")

T = TypeVar("T")
router = APIRouter(include_in_schema=False)
Finder = Annotated[User, Depends(signed_in("surveillance", "finance", "auditor"))]


class FormReading(NamedTuple):
    """The filters of a form, and its unreadable fields."""

    asked: Filters
    wrong: Mapping[str, str]  # what is wrong, by field


@router.get("/")
def find(request: Request, who: Finder) -> Response:
    """The form with its results, or the results alone."""
    typed = {name: request.query_params.get(name, "").strip()[:TEXT_MAX] for name in FIELDS}
    tokens = who.has("surveillance", "auditor")
    if typed["patron"] and not tokens:
        raise HTTPException(403, "Your role may not search by patron token.")
    found = read(typed, ports(request).zones().of(None))
    values = _results(request, who, found, typed) | {"typed": typed, "wrong": found.wrong}
    if request.headers.get(FRAGMENT) == "results":
        return page(request, "find_results.html", **values, tokens=tokens)
    tables, dealers = search.names(ports(request).database)
    return page(
        request,
        "find.html",
        **values,
        tokens=tokens,
        tables=tables,
        dealers=dealers,
        games=games(),
        wagers=sorted({wager.id for game in games().values() for wager in game.wagers}),
        codes=CODES,
        outcomes=OUTCOMES,
        statuses=STATUSES,
    )


def read(typed: Mapping[str, str], zone: tzinfo) -> FormReading:
    """Read the fields of a form; unreadable fields are reported, not ignored."""
    wrong: dict[str, str] = {}

    def field(name: str, parse: Callable[[str, str], T]) -> T | None:
        if not typed[name]:
            return None
        try:
            return parse(typed[name], name)
        except Usage as error:
            wrong[name] = f"{error.what}. {error.hint}"
            return None

    exact = field("amount", cents)
    low, high = field("amount_min", cents), field("amount_max", cents)
    named = field("round", _round) or {}
    day_us = gaming_day_from(typed["gaming_day"], zone)

    def time_of(text: str, where: str, after_us: int | None) -> int:
        return read_time(text, zone, where, after_us=after_us)

    since_us = field("from", lambda text, where: time_of(text, where, day_us))
    fields: dict[str, Any] = {
        "table": typed["table"] or None,
        "gaming_day": typed["gaming_day"] or None,
        "game": typed["game"] or None,
        "status": typed["status"] or None,
        "since_us": since_us,
        "until_us": field("to", lambda text, where: time_of(text, where, since_us or day_us)),
        "position": field("position", lambda text, where: _number(text, where, 99)),
        "wager": typed["wager"] or None,
        "amount_min": low if exact is None else exact,
        "amount_max": high if exact is None else exact,
        "outcome": typed["outcome"] or None,
        "row": typed["row"] or None,
        "finding": field("finding", code),
        "dispute": typed["dispute"] or None,
        "dealer": typed["dealer"] or None,
        "patron": typed["patron"] or None,
        "cards": field("card", lambda text, where: cards([text], where)) or (),
        "limit": field("limit", lambda text, where: _number(text, where, RESULTS_MAX)) or 50,
    }
    return FormReading(Filters(**(fields | named)), wrong)


def _results(
    request: Request, who: User, found: FormReading, typed: Mapping[str, str]
) -> dict[str, object]:
    """The results of the search; none if a field is unreadable."""
    database = ports(request).database
    blind = blind_review.hidden(request, who)
    asked = blind_review.searched(found.asked, blind)
    rounds = [] if found.wrong else search.search(database, asked)
    beside = search.round_details(database, rounds)
    days = [] if found.wrong else _of_days(database, found.asked)
    dealer = found.asked.dealer
    of_dealer = replace(found.asked, without=tuple(blind))
    return {
        "rounds": [blind_review.found(each, beside[each.id], blind) for each in rounds],
        "left_out": len(blind) if asked.without else 0,
        "uncounted": len(blind),
        "days": blind_review.table_findings(days, blind),
        "days_max": DAYS_MAX,
        "said_max": SAID_MAX,
        "more": len(rounds) == found.asked.limit,
        "asks": any(value for name, value in typed.items() if name != "limit"),
        "habits": _errors(database, of_dealer) if dealer and not found.wrong else None,
        "dealer": dealer,
        "finding": found.asked.finding,
        "within": {name: typed[name] for name in NARROWING if typed[name]},
        "times": {
            name: time_us
            for name, time_us in (("from", found.asked.since_us), ("to", found.asked.until_us))
            if time_us is not None
        },
    }


def _of_days(database: Database, asked: Filters) -> list[TableFindings]:
    """Findings about tables' days, newest first, if the search asks for nothing of a round."""
    if replace(asked, table=None, gaming_day=None, finding=None, limit=50) != Filters():
        return []
    found = rulings.table_findings(
        database,
        table=asked.table,
        gaming_day=asked.gaming_day,
        code=asked.finding,
        limit=DAYS_MAX,
    )
    return found[::-1]


def _errors(database: Database, of_dealer: Filters) -> dict[str, object]:
    """A dealer's errors: number of rounds, and what patrons lost by them, and the house."""
    rounds, lines = search.dealer_errors(database, of_dealer)
    short, over = (sum(getattr(line, side) for line in lines) for side in ("short", "over"))
    return {"rounds": rounds, "lines": lines, "short": short, "over": over}


def _round(text: str, where: str) -> dict[str, object]:
    """`table/gaming day/number`, or a number."""
    if text.isascii() and text.isdecimal():
        return {"number": _number(text, where, NUMBER_MAX)}
    round_ = parse_round(text, "")
    if round_ is None:
        raise Usage(
            f"`{text}` is not a round", where=where, hint="Give 231, or CC-07/2026-11-20/231."
        )
    return {"table": round_.table, "gaming_day": round_.gaming_day, "number": round_.number}


def _number(text: str, where: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most))):
        raise Usage(f"`{text}` is not a number", where=where, hint=f"Give a number up to {most}.")
    if int(text) > most:
        raise Usage(f"{text} is too high", where=where, hint=f"Give a number up to {most}.")
    return int(text)
