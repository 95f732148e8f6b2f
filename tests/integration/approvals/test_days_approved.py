"""Two people close a gaming day, each in a session of their own; nobody does it alone.

Each try of one person is beside a control: the same request, answered by another person.
"""

from __future__ import annotations

import json
import re
import threading
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from infra.access.users import User
from ledger.errors import Refused
from ledger.facts import ApprovalGiven
from ledger.record.tape import Quarantined
from ledger.values import Source
from replay.approvals import desk as desk_module
from replay.approvals.desk import CHANGED
from replay.approvals.request import HOURS
from replay.recording.house_facts import build_fact, now_us
from replay.roster.door import Door
from tests.fixtures.web import ACTOR, Browser, Site, opened_site, people
from tests.scenes.table_days import DAY, count, day_lines, fact, slip
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from infra.postgres.connection import Database
    from infra.postgres.recorder import InputRelease
    from ledger.facts import Body
    from replay.approvals.request import ApprovalRequest
    from replay.recording.decisions import Aggregate
    from tests.fixtures.postgres import Scenes
    from tests.property.finance.floors import Line

HOUSE = "p"
FINA, FINB = User("fina", "S-fina", frozenset(("finance",))), "finb"


def played(database: Database) -> None:
    """A scene: a day of one table with every count, and two people of finance."""
    people(database)


@pytest.fixture
def site(scenes: Scenes, tmp_path: Path) -> Iterator[Site]:
    database, _ = scenes.copy(played)
    with opened_site(database, tmp_path) as opened:
        opened.add("fina", "finance")
        opened.add(FINB, "finance")
        take_in(opened, *day_lines(count(59)))
        yield opened


def take_in(site: Site, *lines: Line) -> None:
    site.take_in([received(json.dumps(each).encode()) for each in lines])


def ask(who: Browser, **form: str) -> str:
    """Ask for the day to be closed; the address of the request."""
    data = {"csrf": who.csrf, "property": HOUSE, "gaming_day": DAY, **form}
    answer = who.post("/win", data=data)
    assert answer.status_code == 303, unescape(answer.text)
    return answer.headers["Location"]


def answer(who: Browser, path: str, step: str = "give", **form: str) -> httpx.Response:
    """Answer a request with the digest that its page shows, unless another one is given."""
    found = re.search(r'name="digest" value="(\w+)"', who.get(path).text)
    data = {"csrf": who.csrf, "step": step, "digest": found[1] if found else "", **form}
    return who.post(path, data=data)


def recorded(site: Site, *kinds: str) -> list[dict[str, Any]]:
    """The facts of these kinds on record, in order."""
    rows = site.ports.tape.read(0, 1_000_000)
    return [json.loads(row.data) for row in rows if row.type.removesuffix(".v1") in kinds]


def case_of(site: Site, path: str) -> ApprovalRequest:
    return site.ports.approvals.request(*path.split("/")[2:])


def test_a_day_is_closed_when_a_second_person_approves_it(site: Site) -> None:
    who, other = site.browser("fina"), site.browser(FINB)
    path = ask(who, because="Month.")
    assert recorded(site, "day_sealed") == [], "one person is not enough"
    assert "it waits for another person" in who.get("/win").text
    page = unescape(other.get(path).text)
    for says in ("S-fina", "Month.", DAY, "drop $", "counted win $"):
        assert says in page
    assert answer(other, path).status_code == 303
    [sealed], [given] = recorded(site, "day_sealed"), recorded(site, "approval_given")
    assert (sealed["by"], sealed["second"], sealed["because"]) == ("S-fina", "S-finb", "Month.")
    assert (given["by"], given["user"]) == ("S-finb", "finb")
    assert "closed by S-fina and S-finb" in who.get("/win").text
    assert "Approved by" in who.get(path).text
    senders = {
        row.type: site.ports.tape.sender_of(row.position)
        for row in site.ports.tape.read(0, 1_000_000)
        if row.tape == f"{HOUSE}/office"
    }
    assert senders == {
        "approval_requested.v1": "user:fina",
        "approval_given.v1": "user:finb",
        "day_sealed.v1": "user:finb",
    }


def test_a_closed_day_is_opened_again_by_two_people(site: Site) -> None:
    who, other = site.browser("fina"), site.browser(FINB)
    answer(other, ask(who))
    path = ask(who, step="reopen", because="A late slip.")
    assert recorded(site, "day_reopened") == []
    assert answer(other, path).status_code == 303
    [opened] = recorded(site, "day_reopened")
    assert (opened["by"], opened["second"]) == ("S-fina", "S-finb")


def test_nobody_approves_their_own(site: Site) -> None:
    """Neither in another session nor as another user; `second` in the form says nothing."""
    who = site.browser("fina")
    site.ports.users.add(
        User("fina2", " s\N{FIGURE DASH}FINA", frozenset(("finance",))),
        password=None,
        subject="fina2@tests",
        actor=ACTOR,
    )
    path = ask(who, second="S-finb")
    digest = case_of(site, path).request.digest
    for one in (who, site.browser("fina"), site.browser("fina2")):
        for forged in ({}, {"second": "S-finb", "by": "S-finb", "user": "finb"}):
            refused = answer(one, path, digest=digest, **forged)
            assert refused.status_code == 422, refused.text
            assert "nobody approves their own" in refused.text
        assert answer(one, path, "refuse", because="x").status_code == 422
        assert ">Approve</button>" not in one.get(path).text
    assert recorded(site, "day_sealed", "approval_given") == []
    assert answer(site.browser(FINB), path).status_code == 303, "the control"


@pytest.mark.parametrize("role", ["auditor", "surveillance", "ops", "pit"])
def test_who_lacks_the_role_neither_asks_nor_approves(site: Site, role: str) -> None:
    path = ask(site.browser("fina"))
    digest = case_of(site, path).request.digest
    one = site.browser(role)
    assert answer(one, path, digest=digest).status_code in (403, 422)
    data = {"csrf": one.csrf, "property": HOUSE, "gaming_day": DAY}
    assert one.post("/win", data=data).status_code == 403
    assert recorded(site, "day_sealed", "approval_given") == []
    assert answer(site.browser(FINB), path).status_code == 303, "the control"


def test_an_approval_sent_again_closes_no_second_version(site: Site) -> None:
    who, other = site.browser("fina"), site.browser(FINB)
    path = ask(who)
    digest = case_of(site, path).request.digest
    assert answer(other, path).status_code == 303
    again = answer(other, path, digest=digest)
    assert (again.status_code, "It was approved by S-finb" in again.text) == (422, True)
    answer(other, ask(who, step="reopen", because="Late."))
    again = answer(other, path, digest=digest)
    assert (again.status_code, len(recorded(site, "day_sealed"))) == (422, 1)
    assert answer(other, ask(who)).status_code == 303, "the control: asked for anew"
    assert len(recorded(site, "day_sealed")) == 2


def test_of_two_answers_at_once_one_counts(site: Site) -> None:
    site.add("finc", "finance")
    path = ask(site.browser("fina"))
    browsers = [site.browser(name) for name in (FINB, "finc")] * 2
    digest = case_of(site, path).request.digest
    statuses: list[int] = []

    def send(one: Browser) -> None:
        data = {"csrf": one.csrf, "step": "give", "digest": digest}
        statuses.append(one.post(path, data=data).status_code)

    threads = [threading.Thread(target=send, args=(one,)) for one in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [303, 422, 422, 422]
    assert len(recorded(site, "day_sealed")) == len(recorded(site, "approval_given")) == 1


def test_a_day_with_other_figures_by_now_is_not_closed(site: Site) -> None:
    who, other = site.browser("fina"), site.browser(FINB)
    path = ask(who)
    digest = case_of(site, path).request.digest
    take_in(site, slip("fill", "accepted", "F-77", 30))
    page = unescape(other.get(path).text)
    assert (CHANGED in page, ">Approve</button>" in page) == (True, False)
    refused = answer(other, path, digest=digest)
    assert (refused.status_code, CHANGED in refused.text) == (422, True)
    assert recorded(site, "day_sealed", "approval_given") == []
    assert answer(other, path, "refuse", because="A fill came.").status_code == 303
    again = ask(who)
    assert answer(other, again).status_code == 303, "the control: asked for anew"


def test_a_fact_that_changes_no_figure_changes_no_request(site: Site) -> None:
    """The control of the one before: positions of tapes move with each fact."""
    path = ask(site.browser("fina"))
    take_in(site, fact("tip_dropped", 31, amount=500))
    assert answer(site.browser(FINB), path).status_code == 303
    assert len(recorded(site, "day_sealed")) == 1


def test_an_approval_of_another_digest_records_nothing(site: Site) -> None:
    other = site.browser(FINB)
    path = ask(site.browser("fina"))
    for digest in ("", "0" * 64):
        refused = answer(other, path, digest=digest)
        assert (refused.status_code, CHANGED in refused.text) == (422, True)
    assert recorded(site, "day_sealed", "approval_given") == []
    assert answer(other, path).status_code == 303, "the control"


def test_a_refused_or_withdrawn_request_is_approved_by_nobody(site: Site) -> None:
    who, other = site.browser("fina"), site.browser(FINB)
    refused, withdrawn = ask(who), ask(who)
    digest = case_of(site, refused).request.digest
    assert answer(other, refused, "refuse", because=" ").status_code == 422, "no reason"
    assert answer(other, refused, "refuse", because="Box B2.").status_code == 303
    assert answer(other, withdrawn, "withdraw").status_code == 422, "not theirs"
    assert answer(who, withdrawn, "withdraw").status_code == 303
    for path in (refused, withdrawn):
        assert answer(other, path, digest=digest).status_code == 422
    assert recorded(site, "day_sealed", "approval_given") == []
    assert "Reason: Box B2." in who.get(refused).text
    listed = other.get("/approvals").text
    assert ("refused" in listed, "withdrawn" in listed) == (True, True)
    assert answer(other, ask(who)).status_code == 303, "the control"


def test_a_request_expires(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ask(site.browser("fina"))
    other = site.browser(FINB)
    digest = case_of(site, path).request.digest
    for hours, status in ((HOURS, 422), (HOURS - 1, 303)):  # the second is the control
        later = now_us() + hours * 3_600_000_000
        monkeypatch.setattr(desk_module, "now_us", lambda later=later: later)
        assert answer(other, path, digest=digest).status_code == status
    assert len(recorded(site, "day_sealed")) == 1


@pytest.mark.parametrize("change", ["disabled", "roles"])
def test_what_somebody_asked_for_who_may_not_any_more_is_not_done(site: Site, change: str) -> None:
    path = ask(site.browser("fina"))
    other = site.browser(FINB)
    if change == "disabled":
        site.ports.users.disable("fina", ACTOR)
    else:
        site.ports.users.set_roles("fina", ["pit"], ACTOR)
    refused = answer(other, path)
    assert (refused.status_code, "may not ask for this any more" in refused.text) == (422, True)
    assert recorded(site, "day_sealed", "approval_given") == []
    if change == "disabled":
        site.ports.users.disable("fina", ACTOR, disabled=False)
    else:
        site.ports.users.set_roles("fina", ["finance"], ACTOR)
    assert answer(other, path).status_code == 303, "the control"


def test_the_approval_is_not_recorded_without_what_it_approves(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else closes the day between the reading and the saving: then neither is kept."""
    desk = site.ports.approvals
    first, second = (case_of(site, ask(site.browser("fina"))) for _ in range(2))
    finb, accounts = User(FINB, "S-finb", frozenset(("finance",))), site.ports.users.list()
    decide = desk.decide_together

    def late(*steps: tuple[Aggregate, Body], release: InputRelease | None) -> list[int]:
        monkeypatch.setattr(desk, "decide_together", decide)
        desk.give(second, finb, second.request.digest, accounts)
        return decide(*steps, release=release)

    monkeypatch.setattr(desk, "decide_together", late)
    with pytest.raises(Refused, match="has just changed"):
        desk.give(first, finb, first.request.digest, accounts)
    [given] = recorded(site, "approval_given")
    assert given["request"] == second.name
    assert len(recorded(site, "day_sealed")) == 1


def test_a_lost_answer_records_nothing_twice(site: Site) -> None:
    """The server dies after the commit, before it answers: the same call finds its own facts."""
    desk = site.ports.approvals
    case = case_of(site, ask(site.browser("fina")))
    finb, accounts = User(FINB, "S-finb", frozenset(("finance",))), site.ports.users.list()
    desk.give(case, finb, case.request.digest, accounts)
    with pytest.raises(Refused, match="It was approved"):
        desk.give(desk.request(HOUSE, case.name), finb, case.request.digest, accounts)
    with pytest.raises(Refused):  # by the version that was read before it died
        desk.give(case, finb, case.request.digest, accounts)
    assert len(recorded(site, "day_sealed")) == len(recorded(site, "approval_given")) == 1


def test_a_device_cannot_report_an_approval(site: Site) -> None:
    case = case_of(site, ask(site.browser("fina")))
    body = ApprovalGiven(request=case.name, digest=case.request.digest, by="S-finb", user="finb")
    forged = build_fact(body, Source(HOUSE, "office", "approvals"), id=f"{case.name}/2")
    [judged] = Door(site.ports.tape).judged([forged], "os:somebody")
    assert isinstance(judged, Quarantined)
    assert judged.reason == "not_of_a_device"
