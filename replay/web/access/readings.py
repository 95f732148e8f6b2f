"""What a page shows of people, and what it was opened from: noted before the page is made.

`READINGS` names the routes whose pages show a person's rounds, claims or work. Footage has facts of
its own (`footage_viewed`), and a dossier too; `ELSEWHERE` says so of each. Everything else that is
read shows the house's figures and papers. Nobody types a reason: the page that led there is one.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

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
    f"/rounds/{_ROUND}/picture.jpg": _OF_ROUND,
    f"/watch/{_ROUND}": _OF_ROUND,
    f"/watch/{_ROUND}/strip.jpg": _OF_ROUND,
    "/cases": "list of cases",
    "/cases/{property_}/{dispute:path}": "case {property_}/{dispute}",
    "/cases/windows/{property_}/{name}": "window {property_}/{name}",
    "/dossiers/new": "dossier of {of}",
    "/review/footage/{name}": "finding {name}",
    "/review/picture/{name}.jpg": "finding {name}",
    "/log": "log",
    "/shift": "shift",
    "/shift/{property_}/{name}": _OF_SHIFT,
    "/shift/{property_}/{name}.pdf": _OF_SHIFT,
    "/win/fact": "fact {source} {id}",
}
"""Routes and what each shows, of the parts of its address."""

ASKED: Mapping[str, str] = {
    "/find": "search",
    "/rounds.csv": "search",
    "/statistics": "errors",
    "/statistics.csv": "errors",
}
"""Routes whose answer is what was asked for: the subject has the question itself."""

ELSEWHERE: Mapping[str, str] = {
    "/footage/{sha256}": "footage_viewed",
    "/footage/{sha256}/index": "footage_viewed",
    "/footage/{sha256}/frames/{number}.png": "footage_viewed",
    "/footage/{sha256}/stills/{picture}.png": "footage_viewed",
    "/footage/{sha256}/thumbs/{number}.jpg": "footage_viewed",
}
"""Routes whose readings are facts."""

OPENED_FROM_MAX = 400
"""Characters of the address that led to a reading."""

_TOKEN = re.compile(r"\bP-[0-9A-Za-z]+")


def note(request: Request, user: User, address: str) -> None:
    """Note that a user reads what this request is for, if it is of people.

    Raises `Unavailable` if it cannot be noted: then nothing may be shown.
    """
    subject = subject_of(request)
    if subject:
        ports(request).readings.note(subject, Actor(user.name, address), opened_from(request))


def subject_of(request: Request) -> str:
    """What a request reads of people; empty if nothing."""
    path = getattr(request.scope.get("route"), "path", "")
    if path in ASKED:
        asked = without_tokens(request.url.query)
        return f"{ASKED[path]} {asked}" if asked else ""
    template = READINGS.get(path, "")
    parts = {"of": "", "source": "", "id": "", **request.query_params, **request.path_params}
    return template.format_map(parts)


def opened_from(request: Request) -> str:
    """The page of ours that led here, with what was asked there; or that the address was typed."""
    page = urlsplit(request.headers.get("Referer", ""))
    if not page.path or page.netloc != request.headers.get("Host", ""):
        return "an address"
    asked = without_tokens(page.query)
    return (f"{page.path}?{asked}" if asked else page.path)[:OPENED_FROM_MAX]


def without_tokens(query: str) -> str:
    """The question in an address, without the tokens of patrons: the log is never erased."""
    told = [
        (name, "P-*" if name == "patron" else _TOKEN.sub("P-*", text))
        for name, text in parse_qsl(query, errors="replace")
        if text.strip()
    ]
    return urlencode(told, safe="*")
