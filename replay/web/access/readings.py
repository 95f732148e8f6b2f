"""What a page shows of people, and what it was opened from: noted before the page is made.

`READINGS` and `LISTS` name the routes whose pages show a person's rounds, claims or work. Footage
has facts of its own (`footage_viewed`). Everything else that is read shows the house's figures and
papers. Nobody types a reason: the page that led there is one.
"""

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from starlette.requests import Request

from infra.access.connections import Actor
from infra.access.users import User
from replay.web.ports import ports

_ROUND = "{property_}/{table}/{day}/{number}"
_OF_ROUND = "round {property_}:{table}/{day}/{number}"
_OF_SHIFT = "shift {property_}/{name}"

READINGS: Mapping[str, str] = {
    f"/rounds/{_ROUND}": _OF_ROUND,
    f"/rounds/{_ROUND}/tables": _OF_ROUND,
    f"/watch/{_ROUND}": _OF_ROUND,
    f"/watch/{_ROUND}/strip.jpg": _OF_ROUND,
    "/cases/{property_}/{dispute:path}": "case {property_}/{dispute}",
    "/preserved/{property_}/{name}": "window {property_}/{name}",
    "/dossiers/new": "dossier of {of}",
    "/review/footage/{name}": "finding {name}",
    "/shift/{property_}/{name:path}": _OF_SHIFT,
    "/shift/{property_}/{name:path}.pdf": _OF_SHIFT,
    "/win/fact": "fact {source} {id}",
}
"""Routes and what each shows, of the parts of its address."""

PICTURES: Mapping[str, str] = {
    f"/rounds/{_ROUND}/picture.jpg": _OF_ROUND,
    "/review/picture/{name}.jpg": "finding {name}",
}
"""Routes of the small pictures in lists: part of the list's reading, if its page asks for them."""

LISTS: Mapping[str, str] = {
    "/": "search",
    "/find": "search",
    "/rounds.csv": "search",
    "/review": "findings",
    "/review/samples": "control samples",
    "/cases": "cases",
    "/log": "log",
    "/shift": "shift",
    "/statistics": "errors",
    "/statistics.csv": "errors",
}
"""Pages and what each lists. The subject has the question, too: it says whose."""

ELSEWHERE: Mapping[str, str] = {
    "/footage/{sha256}": "footage_viewed",
    "/footage/{sha256}/index": "footage_viewed",
    "/footage/{sha256}/preview": "footage_viewed",
    "/footage/{sha256}/preview.mp4": "footage_viewed",
    "/footage/{sha256}/frames/{number}.png": "footage_viewed",
    "/footage/{sha256}/stills/{picture}.png": "footage_viewed",
    "/footage/{sha256}/thumbs/{number}.jpg": "footage_viewed",
    "/live/picture": "footage_viewed",
}
"""Routes whose readings are facts."""

OPENED_FROM_MAX = 400
"""Characters of the address that led to a reading."""

_TOKEN = re.compile(r"\b(?:(?:token|patron|card number|players? card)\s+\S+|P-\w+)", re.IGNORECASE)
"""A patron's token in a sentence, with the word that says so (`replay/ask/words.toml`)."""


def note(request: Request, user: User, address: str) -> None:
    """Note that a user reads what this request is for, if it is of people.

    Raises `Unavailable` if it cannot be noted: then nothing may be shown.
    """
    path = getattr(request.scope.get("route"), "path", "")
    subject = _subject(request, path)
    if not subject:
        return
    log, actor = ports(request).readings, Actor(user.name, address)
    page = _led_here(request)
    if path in PICTURES and page and log.goes_on(_of_list(page), actor):
        return
    log.note(subject, actor, _address(page) if page else "an address")


def _subject(request: Request, path: str) -> str:
    """What a request reads of people; empty if nothing."""
    if path in LISTS:
        return _of_list(urlsplit(str(request.url)))
    template = READINGS.get(path) or PICTURES.get(path, "")
    parts = {"of": "", "source": "", "id": "", **request.query_params, **request.path_params}
    return template.format_map(parts)


def _of_list(page: SplitResult) -> str:
    """What a page lists, with what was asked of it; empty if it lists nobody."""
    asked = without_tokens(page.query)
    if page.path == "/" and not asked:
        return "first page"  # Review or Find, by the reader's role
    listed = LISTS.get(page.path, "")
    return f"{listed} {asked}".rstrip() if listed else ""


def _led_here(request: Request) -> SplitResult | None:
    """The page of ours that led here; None: the address was typed, or is linked elsewhere."""
    page = urlsplit(request.headers.get("Referer", ""))
    return page if page.path and page.netloc == request.headers.get("Host", "") else None


def _address(page: SplitResult) -> str:
    asked = without_tokens(page.query)
    return (f"{page.path}?{asked}" if asked else page.path)[:OPENED_FROM_MAX]


def names_token(text: str) -> bool:
    """Whether a text looks as if it had a patron's token."""
    return _TOKEN.search(text) is not None


def without_tokens(query: str) -> str:
    """The question in an address, without the tokens of patrons: the log is never erased."""
    told = [
        (name, "P-*" if name == "patron" else _TOKEN.sub("P-*", text))
        for name, text in parse_qsl(query, errors="replace")
        if text.strip()
    ]
    return urlencode(told, safe="*")
