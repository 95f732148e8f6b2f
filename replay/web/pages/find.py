"""The page Find: a search for rounds by one sentence or a form, and a dealer's errors.

The form is sent with GET, so a search has an address and works without scripts. The script fetches
the same address for the results alone.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Annotated, Any, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request, Response
from msgspec.structs import asdict, replace
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, StreamingResponse

from consumers.rounds import search
from consumers.rounds.search import ANY, Filters, Order, OrderPlace
from consumers.rulings import rulings
from infra.access.saved_searches import NAME_MAX, SavedSearches
from infra.access.users import Role, User
from infra.postgres.connection import Database
from infra.postgres.patrons.vault import known_pseudonyms
from ledger.errors import Usage
from ledger.games import games
from ledger.record.pseudonyms import is_pseudonym
from ledger.rules.engine.finding_codes import CODES
from ledger.rules.engine.ruling import TableFindings
from ledger.values import RoundId, parse_round, quantity
from replay.ask import searching, sheet
from replay.ask.house import HouseHours
from replay.ask.sentence import TEXT_MAX as SENTENCE_MAX
from replay.ask.sentence import Understood, understand
from replay.text.times import gaming_day_from
from replay.text.times import read as read_time
from replay.text.typed import cards, cents, code, written
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in, signed_in_lately
from replay.web.access.readings import names_token
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
    "limit", "ask", "sort", "after",
)  # fmt: skip
"""Names of the form's fields and of the address's parameters."""

NARROWING = ("table", "round", "game", "from", "to", "gaming_day", "status")
"""The fields that also narrow a dealer's errors."""

DAYS_MAX = 20
"""The most findings about tables' days beside the rounds."""

PAPERS = ("ask", "sort", "after", "limit")
"""Fields that are no filters of the form."""

CSV_ROUNDS_MAX = 10_000
"""The most rounds in a file of hits."""

CSV_PAGE = 200

ORDERS: tuple[Order, ...] = get_args(Order)

SAID_MAX = 3
"""The sentences of findings, and the wagers, shown of a round; more are counted."""

OUTCOMES = ("win", "lose", "push", "void")
STATUSES = ("open", "completed", "voided")

T = TypeVar("T")
router = APIRouter(include_in_schema=False)
FINDERS: tuple[Role, ...] = ("surveillance", "finance", "auditor")
Finder = Annotated[User, Depends(signed_in(*FINDERS))]
Exporter = Annotated[User, Depends(signed_in_lately(*FINDERS))]


class FormReading(NamedTuple):
    """The filters of a form and its sentence, and its unreadable fields."""

    asked: Filters
    wrong: Mapping[str, str]  # what is wrong, by field
    sentence: Understood | None = None
    order: Order = "newest"
    after: OrderPlace | None = None
    overruled: Sequence[str] = ()  # filters of the sentence that the form has too, otherwise


@router.get("/find")
def find(request: Request, who: Finder) -> Response:
    """The form with its results, or the results alone."""
    typed, found = _asked(request, who)
    tokens = _sees_tokens(who)
    values = _results(request, who, found, typed) | {"typed": typed, "wrong": found.wrong}
    if request.headers.get(FRAGMENT) == "results":
        return page(request, "find_results.html", **values, tokens=tokens)
    tables, dealers = search.names(ports(request).database)
    return page(
        request,
        "find.html",
        **values,
        path="/find",
        tokens=tokens,
        tables=tables,
        dealers=dealers,
        games=games(),
        wagers=sorted({wager.id for game in games().values() for wager in game.wagers}),
        codes=CODES,
        outcomes=OUTCOMES,
        statuses=STATUSES,
        saved=SavedSearches(ports(request).access).list(who.name),
        may_save=bool(who.roles - {"auditor"}),
        name_max=NAME_MAX,
        sentence_max=SENTENCE_MAX,
    )


@router.get("/rounds.csv")
def rounds_csv(request: Request, who: Exporter) -> Response:
    """The hits of the same search as a file, without what is withheld from the user."""
    _, found = _asked(request, who)
    if found.wrong:
        raise HTTPException(400, "; ".join(found.wrong.values()))
    headers = {"Content-Disposition": 'attachment; filename="rounds.csv"'}
    return StreamingResponse(_csv(request, who, found), media_type="text/csv", headers=headers)


@router.post("/searches")
def save(
    request: Request,
    who: Finder,
    name: Annotated[str, Form()],
    query: Annotated[str, Form(max_length=4096)] = "",
) -> Response:
    """Keep a search under a name."""
    called = written(" ".join(name.split())[:NAME_MAX], "name")
    typed = _without_token(request, _of_query(query))
    SavedSearches(ports(request).access).save(who.name, called, urlencode(typed))
    return RedirectResponse(f"/?{urlencode(typed)}", 303)


@router.post("/searches/delete")
def delete(request: Request, who: Finder, name: Annotated[str, Form()]) -> Response:
    """Delete a search of the user."""
    SavedSearches(ports(request).access).delete(who.name, name)
    return RedirectResponse("/find", 303)


def _of_query(query: str) -> dict[str, str]:
    """The fields of the form in the query of an address; anything else is left out."""
    told = QueryParams(query.removeprefix("?"))
    given = {name: told.get(name, "").strip()[: _most(name)] for name in FIELDS if name != "after"}
    return {name: text for name, text in given.items() if text}


def _without_token(request: Request, typed: dict[str, str]) -> dict[str, str]:
    """What is typed, with a pseudonym in place of a token: a search is kept, a token erased.

    Raises `Usage` if a sentence names a patron, or if no pseudonym or several stand for the token.
    """
    if names_token(typed.get("ask", "")):
        raise Usage(
            "A sentence with a patron's token is not kept",
            where="ask",
            hint="Give the token in the field for it.",
        )
    token = typed.get("patron", "")
    if not token or is_pseudonym(token):
        return typed
    known = known_pseudonyms(ports(request).database, token)
    if len(known) != 1:
        raise Usage(
            f"{quantity(len(known), 'pseudonym')} stand for this token",
            where="patron",
            hint="Keep the search without it, or search by one pseudonym.",
        )
    return typed | {"patron": known[0]}


def _sees_tokens(who: User) -> bool:
    return who.has("surveillance", "auditor")


def _most(field: str) -> int:
    return SENTENCE_MAX if field == "ask" else TEXT_MAX


def _asked(request: Request, who: User) -> tuple[dict[str, str], FormReading]:
    """What is typed in the form, and what it means. Raises 403 for a patron's token of finance."""
    given = request.query_params
    typed = {name: given.get(name, "").strip()[: _most(name)] for name in FIELDS}
    zone = ports(request).zones().of(None)
    found = read(typed, zone)
    if typed["ask"]:
        hours = ports(request).house_hours
        found = _with_sentence(ports(request).database, found, typed["ask"], zone, hours)
    if found.asked.patron and not _sees_tokens(who):
        raise HTTPException(403, "Your role may not search by patron token.")
    return typed, found


def _with_sentence(
    database: Database, form: FormReading, text: str, zone: tzinfo, hours: HouseHours
) -> FormReading:
    """The form and its sentence together; where both have a filter, the form's holds."""
    house = searching.house_of(database, zone, hours)
    sentence = understand(text, house, time.time_ns() // 1000)
    usual = asdict(Filters())
    typed = {n: value for n, value in asdict(form.asked).items() if value != usual[n]}
    said = {n: value for n, value in asdict(sentence.filters).items() if value != usual[n]}
    overruled = [n for n in typed if n in said and said[n] != typed[n]]
    return form._replace(asked=sentence.and_(form.asked), sentence=sentence, overruled=overruled)


def _csv(request: Request, who: User, found: FormReading) -> Iterator[str]:
    """The lines of the file, read page by page."""
    database, blind = ports(request).database, blind_review.hidden(request, who)
    asked = blind_review.searched(found.asked, blind, found.order)
    zones = ports(request).zones()
    yield sheet.header()
    after: OrderPlace | None = None
    for _ in range(CSV_ROUNDS_MAX // CSV_PAGE):
        shown = searching.page_of(database, replace(asked, limit=CSV_PAGE), found.order, after)
        for each in shown.rounds:
            zone, details = zones.of(each.property), shown.details[each.id]
            hit = blind_review.found(each, details, blind)
            if hit.withheld:
                yield sheet.withheld(hit.round, hit.details, zone, blind_review.WITHHELD)
            else:
                yield from sheet.rows(each, details, shown.lines[each.id], zone)
        after = shown.after
        if after is None:
            return


def _place(text: str, _: str) -> OrderPlace:
    """A place in an order, as the link to the next page has it."""
    value, _, rest = text.partition("~")
    began, _, named = rest.partition("~")
    round_ = parse_round(named)
    figures = (value.removeprefix("-"), began)
    if round_ is None or not all(f.isascii() and f.isdecimal() and len(f) < 18 for f in figures):  # noqa: PLR2004 - digits of a bigint
        raise Usage("This is no place in a list", where="after", hint="Begin with the first page.")
    return OrderPlace(int(value), int(began), round_)


def _place_text(place: OrderPlace) -> str:
    return f"{place.value}~{place.began_us}~{place.round}"


def _order(text: str, where: str) -> Order:
    for each in ORDERS:
        if each == text:
            return each
    raise Usage(f"`{text}` is no order", where=where, hint=f"Give {', '.join(ORDERS)}.")


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
        "finding": field("finding", lambda text, where: ANY if text == ANY else code(text, where)),
        "dispute": typed["dispute"] or None,
        "dealer": typed["dealer"] or None,
        "patron": typed["patron"] or None,
        "cards": field("card", lambda text, where: cards([text], where)) or (),
        "limit": field("limit", lambda text, where: _number(text, where, RESULTS_MAX)) or 50,
    }
    order = field("sort", _order) or "newest"
    after = field("after", _place)
    return FormReading(Filters(**(fields | named)), wrong, None, order, after)


def _results(
    request: Request, who: User, found: FormReading, typed: Mapping[str, str]
) -> dict[str, object]:
    """The results of the search; none if a field is unreadable."""
    database, zone = ports(request).database, ports(request).zones().of(None)
    blind = blind_review.hidden(request, who)
    asked = blind_review.searched(found.asked, blind, found.order)
    shown = (
        searching.Page((), {}, {}, None)
        if found.wrong
        else searching.page_of(database, asked, found.order, found.after)
    )
    days = [] if found.wrong else _of_days(database, found.asked)
    dealer = typed["dealer"]
    of_dealer = replace(found.asked, without=tuple(blind))
    asks = any(value for name, value in typed.items() if name not in PAPERS) or bool(
        found.sentence and found.sentence.chips
    )
    is_first = found.after is None and not found.wrong
    query = {name: value for name, value in typed.items() if value and name != "after"}
    return {
        "rounds": [
            blind_review.found(each, shown.details[each.id], blind) for each in shown.rounds
        ],
        "lines": {id_: each for id_, each in shown.lines.items() if id_ not in blind},
        "left_out": len(blind) if asked.without else 0,
        "uncounted": len(blind),
        "days": blind_review.table_findings(days, blind),
        "days_max": DAYS_MAX,
        "said_max": SAID_MAX,
        "more": shown.after is not None,
        "next": shown.after and urlencode(query | {"after": _place_text(shown.after)}),
        "first": None if found.after is None else urlencode(query),
        "query": urlencode(query),
        "rest": "".join(f"{urlencode({n: v})}&" for n, v in query.items() if n != "ask"),
        "sorts": {
            each: urlencode({n: v for n, v in query.items() if n != "sort"} | {"sort": each})
            for each in ORDERS
        },
        "order": found.order,
        "sentence": found.sentence,
        "overruled": found.overruled,
        "totals": searching.totals_of(database, asked, tuple(blind)) if asks and is_first else None,
        "nearest": _nearest(database, found, shown.rounds, zone, tuple(blind)),
        "asks": asks,
        "habits": _errors(database, of_dealer) if dealer and not found.wrong else None,
        "dealer": dealer,
        "finding": found.asked.finding,
        "within": {name: typed[name] for name in NARROWING if typed[name]},
        "times": {
            name: time_us
            for name, time_us in (("from", found.asked.since_us), ("to", found.asked.until_us))
            if time_us is not None and typed[name]
        },
    }


def _nearest(
    database: Database,
    found: FormReading,
    rounds: Sequence[object],
    zone: tzinfo,
    without: Sequence[RoundId],
) -> list[searching.Nearest]:
    """What comes nearest, if the sentence alone asks and no round fits it."""
    told = found.sentence
    if rounds or found.wrong or told is None or found.asked != told.filters:
        return []
    return searching.nearest(database, told.chips, zone, without)


def _of_days(database: Database, asked: Filters) -> list[TableFindings]:
    """Findings about tables' days, newest first, if the search asks for nothing of a round."""
    if replace(asked, table=None, gaming_day=None, finding=None, limit=50) != Filters():
        return []
    found = rulings.table_findings(
        database,
        table=asked.table,
        gaming_day=asked.gaming_day,
        code=None if asked.finding == ANY else asked.finding,
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
