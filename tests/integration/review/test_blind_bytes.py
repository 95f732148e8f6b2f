"""Blind review holds to the byte: a reviewer gets the same answers whatever a round paid.

Two floors differ in one payment of a disputed round: one floor pays too much, the other what is
owed. So whatever differs in an answer would tell the reviewer which of the two floors it is.
"""

from __future__ import annotations

import json
import re
import zlib
from contextlib import contextmanager
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple, get_args
from urllib.parse import quote

import pytest

from consumers.review import queue, shifts
from consumers.rulings.error_rates import ErrorsBy
from ledger.simulate import MISTAKES, deal, line, plan_of
from ledger.values import parse_round
from tests.fixtures.web import opened_site, people, taken_in
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Browser, Site

CHANGING = (
    (r'(name="csrf" value=|data-csrf=)"[^"]+"', "csrf"),
    (r"127\.0\.0\.1:\d+", "host"),
    (r"\d+ (s|min|h|d)( ago)?\b", "age"),
    (r"2\d{3}-\d\d-\d\d(T| )\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "time"),
    (r"\d\d:\d\d:\d\d(\.\d+)?", "time"),
)
"""What differs between any two answers: tokens, addresses of the server, ages and times."""


class Floor(NamedTuple):
    """A floor with the disputed round."""

    site: Site
    round: str
    case: str
    paid: tuple[str, str]  # source and id of the payment that may be wrong
    finding: str  # the name of the finding of the mispaid round, on whichever floor
    raiser: Browser
    reviewer: Browser


def disputed(database: Database, *, mispaid: bool) -> tuple[str, tuple[str, str]]:
    """Half an hour of a floor; the round that is overpaid or paid what is owed, and its payment."""
    people(database)
    plan = plan_of(minutes=30, tables=4, seed=7, mistakes=dict.fromkeys(MISTAKES, 1))
    facts, planted = deal(plan)
    made = next(each for each in planted if each.mistake == "overpay")
    [paid] = made.facts
    told = []
    for fact in facts:
        sent = line(plan, fact)
        if not mispaid and (fact.source, fact.id) == (paid.source, paid.id):
            sent = _less(sent, made.cents)
        told.append(received(sent))
    taken_in(database, told)
    return str(made.round), (paid.source, paid.id)


def _less(sent: bytes, cents: int) -> bytes:
    """A payment that is less by so many cents."""
    fact: dict[str, Any] = json.loads(sent)
    fact["data"]["amount"] -= cents
    return json.dumps(fact).encode()


@contextmanager
def floor(scenes: Scenes, home: Path, *, mispaid: bool, finding: str = "") -> Iterator[Floor]:
    """The floor served, its round disputed by one user for the other to review."""
    database, (round_, paid) = scenes.copy(disputed, mispaid=mispaid)
    with opened_site(database, home) as site:
        for name in ("raiser", "reviewer"):
            site.add(name, "surveillance", "finance")
        raiser, reviewer = site.browser("raiser"), site.browser("reviewer")
        form = {"round": f"hollywood:{round_}", "position": "3", "claim": "Too little."}
        raised = raiser.post("/cases", data=form | {"csrf": raiser.csrf})
        assert raised.status_code == 303, raised.text
        begin = {"csrf": raiser.csrf, "step": "begin", "property": "hollywood"}
        assert raiser.post("/shift", data=begin).status_code == 303
        site.take_in([])  # so that no view is behind
        of = parse_round(round_, "hollywood")
        assert of is not None
        [name] = [
            each.name for each in queue.of_round(database, of) if each.code == "overpaid"
        ] or [finding]
        case = str(raised.headers["location"])
        yield Floor(site, round_, case, paid, name, raiser, reviewer)


def asked(of: Floor) -> Iterator[str]:
    """Addresses of pages that would tell of the round, or of what it adds to a sum."""
    table, day, number = of.round.split("/")
    rounds = [f"{table}/{day}/{int(number) + step}" for step in (-1, 0, 1)]
    for each in rounds:
        yield from (f"/rounds/hollywood/{each}", f"/watch/hollywood/{each}")
        yield f"/find?round={each}"
        yield f"/rounds/hollywood/{each}/picture.jpg"
        yield f"/rounds/hollywood/{each}/tables"
        yield f"/watch/hollywood/{each}/strip.jpg?camera={table}-A"
    yield from (f"/rounds.csv?{search}" for search in SEARCHES)
    yield from (f"/find?{search}&table={table}" for search in SEARCHES)
    for by in get_args(ErrorsBy):
        yield f"/statistics?by={by}&luck=1"
        yield f"/statistics.csv?by={by}&luck=1"
    yield from (f"/review?state={state}" for state in ("open", "mine", "closed"))
    yield from ("/", "/review/samples", "/live", "/log", "/cases", "/shift", of.case)
    [shift] = shifts.shifts(of.site.database)
    yield f"/shift/hollywood/{shift.shift}"
    yield from (f"/live/{page}?property=hollywood&table={table}" for page in ("table", "back"))
    yield from (f"/{page}?gaming_day={day}" for page in ("drop", "win", "win/charts"))
    yield f"/win/coupons?gaming_day={day}"
    yield f"/win/fact?source={quote(of.paid[0])}&id={quote(of.paid[1])}"
    yield from ("/approvals", f"/entry?gaming_day={day}", "/entry/inventories", "/import")
    yield f"/entry/slips/new?table={table}"
    yield f"/shift/hollywood/{shift.shift}.pdf"
    yield from (
        f"/review/{kind}" for kind in (f"footage/{of.finding}", f"picture/{of.finding}.jpg")
    )
    yield f"/cases/new?round={quote(f'hollywood:{of.round}')}"
    yield f"/dossiers/new?of={quote(of.case.rpartition('/')[2])}"


SEARCHES = (
    "limit=200", "finding=any", "finding=overpaid", "sort=amount", "sort=difference",
    "amount=40.00", "amount_min=30", "wager=across", "position=3", "status=completed",
    "ask=overpaid+%3E+%2410", "ask=paid+%2440",
)  # fmt: skip


def answer(who: Browser, path: str) -> str:
    """An answer, without what differs between any two."""
    got = who.get(path)
    text = got.text if got.content[:4] != b"%PDF" else drawn(got.content)
    text = f"{got.status_code} {got.headers.get('content-type')}\n{text}"
    for pattern, name in CHANGING:
        text = re.sub(pattern, name, text)
    return text


def drawn(pdf: bytes) -> str:
    """What the pages of a PDF draw, a line each."""
    streams = re.findall(rb"stream\n(.*?)\nendstream", pdf, re.DOTALL)
    texts = [zlib.decompress(each) for each in streams if each[:1] == b"x"]
    assert any(b"Tj" in each for each in texts), "the PDF draws text"
    return b"\n".join(texts).decode("latin-1")


def differing(one: Browser, other: Browser, path: str) -> list[str]:
    """The first lines in which two answers differ."""
    lines = [answer(who, path).splitlines() for who in (one, other)]
    return [*unified_diff(*lines, n=0, lineterm="")][3:9]


@pytest.mark.long
def test_no_answer_tells_a_blind_reviewer_whether_the_round_was_mispaid(
    scenes: Scenes, tmp_path: Path
) -> None:
    with (
        floor(scenes, tmp_path / "wrong", mispaid=True) as wrong,
        floor(scenes, tmp_path / "right", mispaid=False, finding=wrong.finding) as right,
    ):
        paths = [*asked(wrong)]
        assert [re.sub(r"S-\S+", "", each) for each in paths] == [
            re.sub(r"S-\S+", "", each) for each in asked(right)
        ]
        told = {path: differing(wrong.reviewer, right.reviewer, path) for path in paths}
        told = {path: lines for path, lines in told.items() if lines}
        assert told == {}
        known = [path for path in paths if differing(wrong.raiser, right.raiser, path)]
        assert len(known) > len(paths) // 3, "the control: who knows the claim is told"
