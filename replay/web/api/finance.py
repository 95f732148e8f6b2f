"""`GET /v1/win` and `GET /v1/journal`: what `win --json` and `journal` print, for other systems.

A reader key opens these two addresses and nothing else. Each use is logged before it is answered.
The views are read as they are: `Facts-Behind` says how many facts they have not read yet.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import msgspec
from fastapi import APIRouter, Request, Response, Security
from fastapi.security import HTTPBearer

from consumers.finance import papers
from consumers.finance.sealed import sealed_wins, signed_entries
from infra.access.reader_keys import ReaderKeys
from infra.postgres.tape import require_property
from ledger.errors import LedgerError, NotFound, Unavailable
from ledger.finance.groups import By, grouped
from replay.recording.sealed_days import versions_folder
from replay.shell.logs import LOG
from replay.text.journal import TEXTS, JournalFormat, require_one_house
from replay.text.times import is_gaming_day
from replay.web.access.authentication import address
from replay.web.api.openapi import JSON_LINES, PROBLEM, feed_parameters, feed_responses
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from consumers.finance.day_facts import WinsFilter
    from infra.postgres.connection import Database

AT_ONCE_MAX = 2
"""Answers that are worked out at the same time; further requests get 429."""

BUSY_RETRY_S, AWAY_RETRY_S = 5, 5

_REQUEST_MAX = 200
"""Characters of a request that the log keeps."""

_NO_TEXT = "\N{REPLACEMENT CHARACTER}"
"""The character in place of bytes that are not UTF-8."""

_FILTERS = ("property", "gaming_day", "table")
_GROUPS: Sequence[By] = get_args(By)
_VERSION = re.compile(r"[1-9][0-9]{0,6}")
_FORMATS: Sequence[JournalFormat] = get_args(JournalFormat)

_places = BoundedSemaphore(AT_ONCE_MAX)
_encode = msgspec.json.Encoder().encode

_bearer = HTTPBearer(scheme_name="reader_key", auto_error=False)  # it is described, not checked
router = APIRouter(dependencies=[Security(_bearer)])


class FeedProblem(Exception):  # noqa: N818 - an answer, not a fault of this program
    """A refusal. retry_s: seconds until the request may be sent again."""

    def __init__(self, status: int, detail: str, retry_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_s = retry_s


class FeedAnswer(NamedTuple):
    """The body of an answer, and its media type."""

    body: bytes
    media_type: str = JSON_LINES


@router.get(
    "/v1/win",
    summary="The three wins of tables' gaming days",
    description="The objects of `win --json`, in order of property, day and table.",
    response_class=Response,
    responses=feed_responses("win"),
    openapi_extra=feed_parameters("win"),
)
def win(request: Request) -> Response:
    """The wins of these tables' gaming days, of groups of them, or of a version."""

    def read(database: Database, asked: dict[str, str]) -> FeedAnswer:
        kept = versions_folder(ports(request).library.home)
        by = cast("By", asked.pop("by", "table"))
        version = asked.pop("version", None)
        filters: dict[str, Any] = {**asked, "by_shift": by == "shift"}
        if version is None:
            found = sealed_wins.read(database, kept=kept, **filters)
        else:
            found = sealed_wins.of_version(database, int(version), kept=kept, **filters)
        if not found:
            _require_table(database, filters)
        return FeedAnswer(_lines(grouped(found, by)))

    names = (*_FILTERS, "by", "version")
    return _answer(request, names, [each.name for each in sealed_wins.VIEWS], read)


@router.get(
    "/v1/journal",
    summary="The double entries of tables' gaming days",
    description="The entries of `journal`, as objects or as text for another program. A closed day "
    "that is asked for alone has the entries that were signed.",
    response_class=Response,
    responses=feed_responses("journal"),
    openapi_extra=feed_parameters("journal"),
)
def journal(request: Request) -> Response:
    """The entries of these tables' gaming days."""

    def read(database: Database, asked: dict[str, str]) -> FeedAnswer:
        form = cast("JournalFormat", asked.pop("format", "json"))
        found = signed_entries.read(database, **cast("WinsFilter", asked))
        if not found:
            _require_table(database, asked)
        text = TEXTS.get(form)
        if text is None:
            return FeedAnswer(_lines(found))
        require_one_house(found, "property=")
        lines = "".join(f"{line}\n" for line in (text(found) if found else ()))
        return FeedAnswer(lines.encode(), "text/plain; charset=utf-8")

    views = dict.fromkeys((*signed_entries.VIEWS, *sealed_wins.VIEWS))
    return _answer(request, (*_FILTERS, "format"), [each.name for each in views], read)


def _require_table(database: Database, asked: Mapping[str, Any]) -> None:
    """Raise `NotFound` for a table that no fact of money names, as the commands do."""
    if table := asked.get("table"):
        papers.require_table(database, asked.get("property"), table)


def _lines(objects: Iterable[object]) -> bytes:
    """JSON Lines, as the commands print them."""
    return b"".join(_encode(each) + b"\n" for each in objects)


def _answer(
    request: Request,
    names: Sequence[str],
    views: Sequence[str],
    read: Callable[[Database, dict[str, str]], FeedAnswer],
) -> Response:
    """The answer to a request with a reader key, or a problem (RFC 9457)."""
    try:
        _let_in(request)
        asked = asked_of(request, names)
        with _place():
            behind = _facts_behind(request, views)
            database = ports(request).database
            require_property(database, asked.get("property"))
            found = read(database, asked)
    except FeedProblem as refusal:
        return _problem(refusal)
    except Unavailable as error:
        LOG.error("finance could not be read", extra={"figures": {"what": error.what}})
        return _problem(FeedProblem(503, "The database does not answer.", AWAY_RETRY_S))
    except LedgerError as error:
        status = 404 if isinstance(error, NotFound) else 422
        return _problem(FeedProblem(status, f"{error.what}. {error.hint}"))
    return Response(found.body, 200, {"Facts-Behind": str(behind)}, media_type=found.media_type)


def _let_in(request: Request) -> None:
    """Log the use of the request's key. Raises `FeedProblem` without one, and for a web page."""
    if "origin" in request.headers:
        raise FeedProblem(403, "A web page may not read this. Read it from a server.")
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    query = f"?{request.url.query}" if request.url.query else ""
    asked = f"{request.method} {request.url.path}{query}"[:_REQUEST_MAX]
    keys = ReaderKeys(ports(request).access)
    shown = key.strip() if scheme.lower() == "bearer" else ""
    if keys.use(shown, address(request), asked) is None:
        raise FeedProblem(
            401,
            "Send `Authorization: Bearer KEY` with a reader key: `keys add NAME --role finance`.",
        )


def asked_of(request: Request, names: Sequence[str]) -> dict[str, str]:
    """The parameters of a request by name. Raises `FeedProblem` for one that is not known."""
    asked: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in names:
            raise FeedProblem(422, f"There is no such parameter. Parameters: {', '.join(names)}.")
        if name in asked:
            raise FeedProblem(422, f"`{name}` is given twice.")
        if not value or not value.isprintable() or _NO_TEXT in value:
            raise FeedProblem(422, f"`{name}` is empty, is not UTF-8, or has a control character.")
        asked[name] = value
    if not is_gaming_day(asked.get("gaming_day", "2026-11-20")):
        raise FeedProblem(422, "`gaming_day` is not a day as 2026-11-20.")
    if asked.get("format", "json") not in _FORMATS:
        raise FeedProblem(422, f"`format` is one of {', '.join(_FORMATS)}.")
    _check_group(asked)
    return asked


def _check_group(asked: Mapping[str, str]) -> None:
    """Raise `FeedProblem` for a group or version that is not valid."""
    if asked.get("by", "table") not in _GROUPS:
        raise FeedProblem(422, f"`by` is one of {', '.join(_GROUPS)}.")
    version = asked.get("version", "1")
    if not _VERSION.fullmatch(version):
        raise FeedProblem(422, "`version` is not the number of a version, from 1.")
    if "version" in asked and "gaming_day" not in asked:
        raise FeedProblem(422, "`version` is of one `gaming_day`.")


@contextmanager
def _place() -> Iterator[None]:
    """One of the places for answers that are worked out. Raises `FeedProblem` if all are taken."""
    if not _places.acquire(blocking=False):
        raise FeedProblem(429, "Other answers are being worked out. Ask again.", BUSY_RETRY_S)
    try:
        yield
    finally:
        _places.release()


def _facts_behind(request: Request, views: Sequence[str]) -> int:
    """How many facts on record these views have not read."""
    lags = ports(request).tape.view_lags()
    return max((each.facts for each in lags if each.view in views), default=0)


def _problem(refusal: FeedProblem) -> Response:
    headers = {} if refusal.retry_s is None else {"Retry-After": str(refusal.retry_s)}
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="finance"'
    told = {
        "type": "about:blank",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": refusal.detail,
    }
    return Response(_encode(told), refusal.status, headers, media_type=PROBLEM)
