"""The pages of cases: each step a fact with the credential of who took it, and who may not see."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from consumers.review import queue
from infra.postgres.tape import PostgresTape
from ledger.facts import AdjustmentPaid, CameraMapped, DisputeRaised, FootageViewed
from ledger.record.tape import unframe_attributes
from ledger.values import Source, format_time, parse_source, parse_time
from replay.recording.house_facts import build_fact, screen
from tests.fixtures.web import opened_site, people, taken_in
from tests.scenes.view_feeds import day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Browser, Site

CLAIM = "The patron says <b>two pairs</b> & a push"
S, T0 = 1_000_000, 1_795_000_000_000_000
SHOWN = "The patron says &lt;b&gt;two pairs&lt;/b&gt; &amp; a push"


class Desk(NamedTuple):
    """A served floor with rounds and a camera; who is signed in."""

    site: Site
    maria: Browser  # surveillance, S-surveillance
    round: str

    def facts(self, kind: str) -> list[dict[str, Any]]:
        """The data of every fact of a type recorded here, in order; not those of the feed."""
        with PostgresTape(self.site.database) as tape:
            rows = [row for row in tape.read(0, 100_000) if row.type == f"{kind}.v1"]
        return [json.loads(row.data) for row in rows if row.tape.endswith("/surveillance")]

    def send(self, path: str, who: Browser | None = None, /, **form: str) -> httpx.Response:
        browser = who or self.maria
        return browser.post(path, data={"csrf": browser.csrf, **form})

    def raised(self, by: Browser | None = None) -> str:
        """The page of a new dispute."""
        answer = self.send("/cases", by, round=self.round, position="1", claim=CLAIM)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])


@pytest.fixture
def desk(scenes: Scenes, tmp_path: Path) -> Iterator[Desk]:
    database, round_ = scenes.copy(played)
    with opened_site(database, tmp_path) as site:
        yield Desk(site, site.browser("surveillance"), round_)


def played(database: Database) -> str:
    """A scene: a table with rounds and a camera; the subject of its first round."""
    people(database)
    feed = [fact for fact in day(8, tables=1) if not fact.tape.endswith("/surveillance")]
    first = next(fact for fact in feed if fact.type == "round_completed.v1")
    source = parse_source(first.source)
    assert source is not None
    assert first.subject is not None
    camera = CameraMapped(camera="X-1", table=source.place, kind="ptz", covers=("table",))
    early = build_fact(camera, Source(source.property, source.place, "pit"), time_us=0)
    taken_in(database, [early, *feed])
    return first.subject


def other(desk: Desk) -> Browser:
    """A second investigator."""
    desk.site.add("second", "surveillance")
    return desk.site.browser("second")


def test_raising_a_dispute_puts_it_on_record_with_who_is_signed_in_and_locks_the_footage(
    desk: Desk,
) -> None:
    before = len(desk.facts("footage_locked"))
    page = desk.raised()
    fact = desk.facts("dispute_raised")[-1]
    assert (fact["claim"], fact["by"]) == (CLAIM, "S-surveillance")
    locks = desk.facts("footage_locked")[before:]
    assert {lock["dispute"] for lock in locks} == {fact["dispute"]}
    assert "X-1" in {lock["camera"] for lock in locks}
    shown = desk.maria.get(page).text
    assert SHOWN in shown
    assert "<b>two pairs" not in shown
    assert str(fact["dispute"]) in desk.maria.get("/cases").text


@pytest.mark.long
def test_the_claim_and_the_record_are_not_in_the_page_before_the_reviewer_has_observed(
    desk: Desk,
) -> None:
    page = desk.raised()
    reviewer = other(desk)
    desk.send(page, step="note", note="Between us: it was a flush")
    blind = reviewer.get(page).text
    assert 'id="hidden"' in blind
    for hidden in ("two pairs", "a flush", "Owed and paid", "Owed by", "is paid", "Decided"):
        assert hidden not in blind, hidden
    assert "X-1" in blind, "which footage to look at is not told"
    assert desk.send(page, reviewer, step="observe", saw="A straight.").status_code == 303
    seen = reviewer.get(page).text
    assert 'id="hidden"' not in seen
    for told in (SHOWN, "A straight.", ">watched nothing<", "a flush", "Owed by the ruling"):
        assert told in seen, told
    observation = desk.facts("observation_recorded")[-1]
    assert (observation["by"], observation["saw"]) == ("S-second", "A straight.")


@pytest.mark.long
def test_the_rounds_own_page_shows_a_blind_reviewer_footage_alone_until_they_know(
    desk: Desk,
) -> None:
    page = desk.raised()
    reviewer = other(desk)
    round_ = f"/rounds/hollywood/{desk.round}"
    dossier = {"of": desk.round, "because": "curious", "csrf": reviewer.token("/dossiers/new?of=x")}
    blind = reviewer.get(round_).text
    assert "Blind review." in blind
    assert f'href="{page}"' in blind
    assert 'id="facts"' not in blind
    assert reviewer.get(f"{round_}/tables").status_code == 403
    for of in (desk.round, f"hollywood:{desk.round}"):
        assert reviewer.post("/dossiers", data=dossier | {"of": of}).status_code == 403
    for knows in (desk.maria, desk.site.browser("auditor"), desk.site.browser("finance")):
        assert 'id="facts"' in knows.get(round_).text
    desk.send(page, reviewer, step="observe", saw="A straight.")
    assert 'id="facts"' in reviewer.get(round_).text
    assert reviewer.get(f"{round_}/tables").status_code == 200


DECIDING = (
    {"step": "note", "note": "Between us."},
    {"step": "adjust", "amount": "5.00", "paid_from": "cage"},
    {"step": "release", "because": "Settled."},
    {"step": "resolve", "outcome": "Dismissed."},
)


@pytest.mark.long
def test_who_is_blind_decides_nothing_though_the_form_be_made_by_hand(desk: Desk) -> None:
    page = desk.raised()
    reviewer = other(desk)
    own = {"round": desk.round, "position": "2", "claim": "Another's."}
    mine = str(desk.send("/cases", reviewer, **own).headers["location"])
    with PostgresTape(desk.site.database) as tape:
        before = tape.counters().received
        for where in (page, mine):
            for form in DECIDING:
                answer = desk.send(where, reviewer, **form)
                says = "Withheld: blind review." in answer.text
                assert (answer.status_code, says) == (403, True), (where, form)
            assert 'value="resolve"' not in reviewer.get(where).text, where
        assert tape.counters().received == before
    assert 'id="hidden"' in reviewer.get(page).text
    assert desk.send(page, reviewer, step="lock").status_code == 303
    assert desk.send(page, reviewer, step="observe", saw="A pair.").status_code == 303
    for form in DECIDING:
        assert desk.send(page, reviewer, **form).status_code == 303, form
    assert 'value="resolve"' in reviewer.get(mine).text


def test_a_resolved_dispute_hides_the_round_from_nobody(desk: Desk) -> None:
    page = desk.raised()
    desk.send(page, step="resolve", outcome="Dismissed.")
    assert 'id="facts"' in other(desk).get(f"/rounds/hollywood/{desk.round}").text


@pytest.mark.long
def test_a_marked_moment_comes_filled_in_to_the_form_for_notes(desk: Desk) -> None:
    page = desk.raised()
    assert f'<a href="{page}" data-case=' in desk.maria.get(f"/rounds/hollywood/{desk.round}").text
    assert (
        'name="fact" inputmode="numeric" maxlength="6" value="2"'
        in desk.maria.get(f"{page}?fact=2").text
    )
    for bad in ("0", "-1", "x", "9" * 5_000, '"><b>'):
        answer = desk.maria.get(page, params={"fact": bad})
        assert (answer.status_code, "<b>x" in answer.text) == (422, False)
        assert "Go back and check: fact." in answer.text


@pytest.mark.long
def test_revealing_the_claim_is_a_fact_and_what_is_observed_after_it_is_marked(
    desk: Desk,
) -> None:
    page = desk.raised()
    reviewer = other(desk)
    desk.send(page, reviewer, step="reveal")
    assert desk.facts("claim_revealed")[-1]["by"] == "S-second"
    assert SHOWN in reviewer.get(page).text
    desk.send(page, reviewer, step="observe", saw="As claimed.")
    assert "knew the claim</span>" in reviewer.get(page).text


@pytest.mark.long
def test_a_case_goes_from_note_to_adjustment_to_outcome_each_step_a_fact(desk: Desk) -> None:
    page = desk.raised()
    desk.send(
        page, step="note", note="Here.", fact="1", time="2026-11-20T15:04:09.5Z", camera="X-1",
        camera_time="2026-11-20 10:05",
    )  # fmt: skip
    desk.send(page, step="adjust", amount="12.50", paid_from="table")
    desk.send(page, step="resolve", outcome="Upheld.", category="paid_short")
    note, paid, done = (
        desk.facts(kind)[-1] for kind in ("dispute_noted", "adjustment_paid", "dispute_resolved")
    )
    fact, camera = note["moments"]
    assert set(fact["fact"]) == {"source", "id"}
    assert fact["reference_time"] == "2026-11-20T15:04:09.500000Z"
    assert camera == {"camera": "X-1", "camera_time": "2026-11-20T15:05:00.000000Z"}
    assert (paid["amount"], paid["paid_from"], paid["by"]) == (1250, "table", "S-surveillance")
    assert (done["outcome"], done["by"]) == ("Upheld.", "S-surveillance")
    shown = desk.maria.get(page).text
    link = f"?at=1#time={parse_time(fact['reference_time'])}"
    seen = "X-1 at 2026-11-20 10:05:00.000 \N{MINUS SIGN}05:00, by its own clock"
    category = "Decided, the patron was paid short:"
    for told in ("Upheld.", "$12.50", "#fact=1", link, seen, category):
        assert told in shown, told
    again = desk.send(page, step="resolve", outcome="Again.")
    assert (again.status_code, "was resolved by" in again.text) == (422, True)
    assert len([f for f in desk.facts("dispute_resolved") if f["dispute"] == done["dispute"]]) == 1


@pytest.mark.long
def test_what_was_paid_to_another_position_settles_nothing_on_the_claimants_page(
    desk: Desk,
) -> None:
    page = desk.raised()
    till = Source("hollywood", "surveillance", "till")
    dispute, figures = page.rpartition("/")[2], re.compile(r"<dt>(.+?)</dt><dd.*?>(.+?)</dd>")
    before = dict(figures.findall(desk.maria.get(page).text))
    for position, cents in ((2, 2500), (1, 700)):
        paid = {"dispute": dispute, "position": position, "amount": cents, "by": "S-1"}
        desk.site.take_in([build_fact(AdjustmentPaid(**paid, paid_from="cage"), till)])
    told = dict(figures.findall(desk.maria.get(page).text))
    assert before["Difference left"] == before["Difference"] == "$0.00", "the control: paid as owed"
    assert (told["Adjusted"], told["Difference left"]) == ("$7.00", "$7.00")
    assert told["Adjusted, other positions"] == "$25.00"
    assert "Adjusted, other positions" not in before


@pytest.mark.long
def test_the_dossier_of_a_case_is_asked_for_by_property_and_name(desk: Desk) -> None:
    """Two properties may have a dispute of one name."""
    page = desk.raised()
    link = f'href="/dossiers/new?of=hollywood%3A{page.rpartition("/")[2]}&amp;kind=dispute"'
    assert link in desk.maria.get(page).text


@pytest.mark.long
def test_a_note_stands_on_the_rounds_timeline_and_in_its_list_for_who_may_see_them(
    desk: Desk,
) -> None:
    page = desk.raised()
    round_ = f"/rounds/hollywood/{desk.round}"
    before = desk.maria.get(round_).text
    told = json.loads(before.split('id="round-data">')[1].split("</script>", maxsplit=1)[0])[
        "facts"
    ]
    between = (told[2]["t"] + told[3]["t"]) // 2
    form = desk.maria.get(f"{page}?fact=3&time={between}#note").text
    assert f'name="time" maxlength="40" value="{format_time(between)}"' in form
    desk.send(page, step="note", note="The <tray>", fact="3", time=format_time(between))
    desk.send(page, step="note", note="Later", time=format_time(told[-1]["t"] + 1_000_000))
    desk.send(page, step="note", note="Of no moment")
    assert f"#time={told[-1]['t'] + 1_000_000}" in desk.maria.get(page).text
    said = desk.maria.get(round_).text
    assert said.count("The &lt;tray&gt;") == 2, "on the timeline and in the list"
    assert said.count('class="pinned"') == 2
    item = said.split(f'data-time="{between}">')[1]
    assert item.index("at this time, with fact 3") < item.index('<li id="fact=4"')
    assert said.split(f'data-time="{between}">')[1].index(">Later<") > item.index(
        f'<li id="fact={len(told)}"'
    )
    assert "not on this round&#39;s timeline" in said.split("Of no moment")[-1]
    assert "tray" in desk.site.browser("auditor").get(round_).text
    for blind in (other(desk), desk.site.browser("finance")):
        assert "tray" not in blind.get(round_).text


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"step": "note", "note": ""}, "is empty"),
        ({"step": "note", "note": "x", "fact": "9999"}, "no fact 9999"),
        ({"step": "note", "note": "x", "camera": "X-1"}, "or its time is missing"),
        ({"step": "note", "note": "x", "time": "about nine"}, "is not a time"),
        (
            {"step": "adjust", "amount": "5", "paid_from": "tips"},
            "An adjustment is not paid from there",
        ),
        ({"step": "note", "note": "x", "camera": "X", "camera_time": "2026-11-01 01:30"}, "twice"),
        ({"step": "adjust", "amount": "much"}, "not an amount"),
        ({"step": "adjust", "amount": "0"}, "is above $0"),
        ({"step": "whatever"}, "no such step"),
    ],
)
def test_what_cannot_be_understood_is_said_on_the_page_and_nothing_is_told(
    desk: Desk, form: dict[str, str], says: str
) -> None:
    page = desk.raised()
    with PostgresTape(desk.site.database) as tape:
        before = tape.counters().received
        answer = desk.send(page, **form)
        assert (answer.status_code, says in answer.text) == (422, True), answer.text
        assert tape.counters().received == before


@pytest.mark.long
@pytest.mark.parametrize("text", ["\u200b\u2060", "\u00ad", "\u00a0 \u2003", "\u202e\ufeff"])
def test_words_that_nobody_can_see_are_refused_in_every_form_and_nothing_is_told(
    desk: Desk, text: str
) -> None:
    page = desk.raised()
    reviewer = other(desk)
    forms = [
        (page, {"step": "observe", "saw": text}),
        (page, {"step": "note", "note": text}),
        (page, {"step": "resolve", "outcome": text}),
        ("/cases", {"round": desk.round, "position": "1", "claim": text}),
        ("/cases/preserve", {"table": "CC-01", "from": "2026-11-20 10:00",
                             "to": "2026-11-20 10:05", "because": text}),
    ]  # fmt: skip
    with PostgresTape(desk.site.database) as tape:
        before = tape.counters().received
        for path, form in forms:
            for who in (reviewer, desk.maria):
                if who is reviewer and form.get("step") in ("note", "resolve"):
                    continue  # who is blind may not, whatever the words
                answer = desk.send(path, who, **form)
                says = (
                    "only blanks and invisible characters" in answer.text
                    or "is empty" in answer.text
                )
                assert (answer.status_code, says) == (422, True), (path, form, answer.text)
        assert tape.counters().received == before
    assert 'id="hidden"' in reviewer.get(page).text, "who has seen nothing knows the claim"


def test_only_surveillance_decides_and_an_auditor_reads_all_of_it(desk: Desk) -> None:
    page = desk.raised()
    auditor = desk.site.browser("auditor")
    assert SHOWN in auditor.get(page).text
    assert "<textarea" not in auditor.get(page).text
    assert auditor.get("/cases/new").status_code == 403
    token = auditor.csrf
    for path in ("/cases", page, "/cases/preserve"):
        assert auditor.post(path, data={"csrf": token, "step": "reveal"}).status_code == 403
    for role in ("finance", "ops"):
        browser = desk.site.browser(role)
        assert browser.get("/cases").status_code == 403
        assert browser.get(page).status_code == 403
    assert desk.site.browser().get(page).status_code == 303


def test_a_form_without_the_sessions_token_changes_nothing(desk: Desk) -> None:
    page = desk.raised()
    before = len(desk.facts("claim_revealed"))
    for form in ({"step": "reveal"}, {"step": "reveal", "csrf": "x" * 43}):
        assert desk.maria.post(page, data=form).status_code == 403
    body = {"round": desk.round, "position": "1", "claim": "x"}
    assert desk.maria.post("/cases", data=body).status_code == 403
    assert len(desk.facts("claim_revealed")) == before


@pytest.mark.long
def test_a_stretch_is_preserved_and_a_doubtful_time_is_asked_about(desk: Desk) -> None:
    table = desk.round.split("/", maxsplit=1)[0]
    form = {"table": table, "to": "2026-11-01 03:00", "because": "A fall."}
    answer = desk.send("/cases/preserve", None, **form, **{"from": "2026-11-01 01:30"})
    assert (answer.status_code, "twice" in answer.text) == (422, True)
    offset = {"from": "2026-11-01T01:30:00-05:00"}
    answer = desk.send("/cases/preserve", None, **form, **offset)
    assert answer.status_code == 303
    shown = desk.maria.get(answer.headers["location"]).text
    assert "1 h 30 min" in shown
    lock = desk.facts("footage_locked")[-1]
    assert (lock["by"], lock["because"], lock.get("dispute")) == ("S-surveillance", "A fall.", None)
    refused = desk.send("/cases/preserve", None, **form | {"because": "<Fall>"}, **{"from": "2 am"})
    assert refused.status_code == 422
    for typed in (table, "2 am", "2026-11-01 03:00", "&lt;Fall&gt;"):
        assert f'value="{typed}"' in refused.text, "what was typed is given back"
    assert len(desk.facts("footage_locked")) == len(desk.facts("dispute_raised")) + 1
    link = shown.split('href="/dossiers/new?of=')[1].split('"')[0]
    assert link.startswith("hollywood%3AP-20261101T063000Z-20261101T")


def preserved(desk: Desk, because: str) -> str:
    """The page of a new window over the desk's table."""
    table = desk.round.split("/", maxsplit=1)[0]
    times = {"from": "2026-11-20T10:00:00Z", "to": "2026-11-20T10:20:00Z"}
    answer = desk.send("/cases/preserve", None, table=table, because=because, **times)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


@pytest.mark.long
def test_windows_are_listed_until_somebody_who_may_releases_one_and_the_other_stays(
    desk: Desk,
) -> None:
    one, other_ = (preserved(desk, because) for because in ("A fall.", "A <b>fight</b>."))
    listed = desk.maria.get("/cases").text
    assert listed.count(">its release<") == 2
    for told in (f'href="{one}"', f'href="{other_}"', "A &lt;b&gt;fight", "S-surveillance"):
        assert told in listed, told
    auditor = desk.site.browser("auditor")
    assert "<form" not in auditor.get(one).text.split("<main")[1]
    token = auditor.csrf
    assert auditor.post(one, data={"csrf": token, "because": "mine"}).status_code == 403
    assert desk.maria.post(one, data={"because": "no token"}).status_code == 403
    assert desk.send(one, because=" ").status_code == 422
    assert desk.facts("footage_released") == []
    assert desk.send(one, because="Nobody was hurt.").status_code == 303
    released = desk.facts("footage_released")
    window = one.rpartition("/")[2]
    assert {(each["by"], each["because"], each["window"]) for each in released} == {
        ("S-surveillance", "Nobody was hurt.", window)
    }
    shown = desk.maria.get(one).text
    assert ">released<" in shown
    assert "Nobody was hurt." in shown
    assert ">Release</button>" not in shown
    assert ">Release</button>" in desk.maria.get(other_).text, "the other window was let go, too"
    assert desk.maria.get("/cases").text.count(">its release<") == 1
    assert desk.send(one, because="Again.").status_code == 404
    assert desk.maria.get("/preserved/hollywood/P-none").status_code == 404


@pytest.mark.long
def test_what_a_dispute_locked_is_released_on_its_page_and_a_window_over_it_stays(
    desk: Desk,
) -> None:
    window, page = preserved(desk, "A fall."), desk.raised()
    auditor = desk.site.browser("auditor")
    assert "Reason to release the footage" not in auditor.get(page).text
    assert "Reason to release the footage" in desk.maria.get(page).text
    assert desk.send(page, step="release", because=" ").status_code == 422
    assert desk.facts("footage_released") == []
    assert desk.send(page, step="release", because="Settled.").status_code == 303
    fact = desk.facts("footage_released")[-1]
    assert (fact["by"], fact["because"]) == ("S-surveillance", "Settled.")
    assert fact["dispute"]
    shown = desk.maria.get(page).text
    assert "Reason to release the footage" not in shown
    assert "Settled." in shown
    assert ">Release</button>" in desk.maria.get(window).text


@pytest.mark.long
def test_a_dispute_that_was_raised_elsewhere_under_any_name_has_its_page_and_its_lock(
    desk: Desk,
) -> None:
    body = DisputeRaised(dispute="T/1 #2", round=desk.round, position=1, claim="Mine.", by="F-9")
    told = build_fact(body, Source("hollywood", "pit-2", "tablet"))
    assert unframe_attributes(told.attributes)["source"] == "/hollywood/pit-2/tablet"
    desk.site.take_in([told])
    auditor = desk.site.browser("auditor")
    assert "/cases/hollywood/T%2F1%20%232" in auditor.get("/cases").text
    page = "/cases/hollywood/T%2F1%20%232"
    assert "Not all of the footage" in auditor.get(page).text
    assert desk.send(page, step="lock").status_code == 303
    [*locks] = desk.facts("footage_locked")
    assert {lock["by"] for lock in locks} == {"S-surveillance"}, "who pressed, not who raised it"
    assert "Not all of the footage" not in auditor.get(page).text
    assert desk.maria.get("/cases/hollywood/none").status_code == 404


def version_on(page: str) -> str:
    """What a page's forms say they were made from."""
    found = re.findall(r'name="version" value="(\d+)"', page)
    assert found
    assert len(set(found)) == 1
    return str(found[0])


@pytest.mark.long
def test_a_form_sent_twice_or_from_a_stale_page_pays_and_notes_once(desk: Desk) -> None:
    page = desk.raised()
    version = version_on(desk.maria.get(page).text)
    form = {"step": "adjust", "amount": "30.00", "paid_from": "cage", "version": version}
    assert desk.send(page, **form).status_code == 303
    again = desk.send(page, **form)
    assert again.status_code == 409
    assert "has changed since" in again.text
    assert 'value="30.00"' not in again.text, "money is not filled in again"
    noted = desk.send(page, step="note", note="A colleague's words", version=version)
    assert noted.status_code == 409
    assert "A colleague&#39;s words</textarea>" in noted.text
    assert [each["amount"] for each in desk.facts("adjustment_paid")] == [3_000]
    assert desk.facts("dispute_noted") == []
    now = version_on(noted.text)
    assert desk.send(page, step="note", note="Still holds", version=now).status_code == 303
    assert desk.send(page, **{**form, "version": str(int(now) + 1)}).status_code == 303


@pytest.mark.long
def test_what_was_seen_blind_is_on_record_once_however_often_it_is_sent(desk: Desk) -> None:
    page, reviewer = desk.raised(), other(desk)
    for _ in range(2):
        assert desk.send(page, reviewer, step="observe", saw="A straight.").status_code == 303
    assert [each["saw"] for each in desk.facts("observation_recorded")] == ["A straight."]
    assert ">knew the claim<" not in desk.maria.get(page).text
    assert desk.send(page, reviewer, step="observe", saw="A flush.").status_code == 303
    assert ">knew the claim<" in desk.maria.get(page).text, "the control: what is new is taken"


@pytest.mark.long
def test_an_observation_says_what_was_watched_and_is_blind_only_then(desk: Desk) -> None:
    page, reviewer = desk.raised(), other(desk)
    desk.site.add("third", "surveillance")
    looked = FootageViewed(
        camera="X-1", from_=format_time(T0), to=format_time(T0 + 60 * S), by="S-second", because="x"
    )
    taken_in(desk.site.database, [build_fact(looked, screen("hollywood"))])
    played = json.dumps({"X-1": [[T0 - 9 * S, T0 + 5 * S]], "Z-1": [[T0, T0 + 9 * S]]})
    for who, saw in ((reviewer, "A straight."), (desk.site.browser("third"), "Never opened it.")):
        its = {"step": "observe", "saw": saw, "watched": played}
        assert desk.send(page, who, **its).status_code == 303
    first, second = desk.facts("observation_recorded")
    assert first["watched"] == [
        {"camera": "X-1", "from": format_time(T0), "to": format_time(T0 + 5 * S)}
    ]
    assert "watched" not in second
    told = desk.maria.get(page).text
    assert (told.count(">blind<"), told.count(">watched nothing<")) == (1, 1)
    assert "claim unknown, watched 5.0 s on X-1" in told


@pytest.mark.long
@pytest.mark.parametrize("played", ["{", '{"X-1": [[1]]}', '{"X-1": [[-1, 2]]}', '{"X-1": 3}'])
def test_what_cannot_be_read_as_watched_is_refused_and_the_text_given_back(
    desk: Desk, played: str
) -> None:
    page, reviewer = desk.raised(), other(desk)
    refused = desk.send(page, reviewer, step="observe", saw="A straight.", watched=played)
    assert refused.status_code == 422
    assert "What was watched cannot be read" in refused.text
    assert "A straight.</textarea>" in refused.text
    assert desk.facts("observation_recorded") == []


@pytest.mark.long
def test_what_was_written_while_a_colleague_decided_is_given_back(desk: Desk) -> None:
    page, reviewer = desk.raised(), other(desk)
    assert desk.send(page, step="resolve", outcome="Paid as owed").status_code == 303
    for step, field in (("observe", "saw"), ("resolve", "outcome")):
        refused = desk.send(page, reviewer, step=step, **{field: f"Ten minutes of {field}"})
        assert refused.status_code == 422
        assert "resolved by" in refused.text
        assert f"Ten minutes of {field}</textarea>" in refused.text
    assert desk.facts("observation_recorded") == []


@pytest.mark.long
def test_a_window_or_a_release_that_is_sent_twice_is_one(desk: Desk) -> None:
    first = preserved(desk, "A fall, twice.")
    assert preserved(desk, "A fall, twice.") == first
    assert preserved(desk, "A fall, another.") != first
    page = desk.raised()
    assert desk.send(page, step="release", because="Settled.").status_code == 303
    told = desk.facts("footage_released")
    assert desk.send(page, step="release", because="Settled.").status_code == 303
    assert desk.facts("footage_released") == told != []


@pytest.mark.long
def test_a_dispute_sent_twice_is_raised_once_and_another_claim_is_another(desk: Desk) -> None:
    first = desk.raised()
    assert desk.raised() == first
    assert len(desk.facts("dispute_raised")) == 1
    for other_ in ({"claim": "Another"}, {"position": "2"}):
        asked = {"round": desk.round, "position": "1", "claim": CLAIM, **other_}
        assert desk.send("/cases", None, **asked).headers["location"] != first
    desk.send(first, step="observe", saw="A straight.")
    desk.send(first, step="resolve", outcome="Paid as owed")
    assert desk.raised() != first, "what is decided is not raised again by itself"


def test_a_position_that_nobody_played_is_asked_about_once_and_may_be_disputed(desk: Desk) -> None:
    asked = {"round": desk.round, "position": "77", "claim": "They would not take my wager"}
    doubtful = desk.send("/cases", **asked)
    assert doubtful.status_code == 422
    assert "Position 77 was not played in this round; played positions: 1" in doubtful.text
    assert "They would not take my wager</textarea>" in doubtful.text
    assert 'name="sure"' in doubtful.text
    assert desk.facts("dispute_raised") == []
    assert desk.send("/cases", **asked, sure="yes").status_code == 303
    assert [fact["position"] for fact in desk.facts("dispute_raised")] == [77]
    assert 'name="sure"' not in desk.maria.get("/cases/new").text


@pytest.mark.long
def test_what_is_too_long_is_refused_and_given_back_and_never_cut(desk: Desk) -> None:
    page = desk.raised()
    lines = "\r\n".join(["word"] * 799 + ["end"])  # 3,998 characters, of which a browser sends more
    assert desk.send(page, step="note", note=lines).status_code == 303
    assert desk.facts("dispute_noted")[-1]["note"] == lines.replace("\r\n", "\n")
    refused = desk.send(page, step="note", note=lines + "\r\nmore")
    assert refused.status_code == 422
    assert "4,003 characters" in refused.text
    assert "more</textarea>" in refused.text
    assert len(desk.facts("dispute_noted")) == 1
    long_claim = desk.send("/cases", round=desk.round, position="1", claim="x" * 4_001)
    assert long_claim.status_code == 422
    assert "4,001 characters" in long_claim.text
    nowhere = desk.send("/cases", round="CC-99/2026-11-20/1", position="1", claim="In their words")
    assert nowhere.status_code == 404
    assert "In their words</textarea>" in nowhere.text


@pytest.mark.long
def test_a_task_is_set_shown_as_overdue_and_done(desk: Desk) -> None:
    page = desk.raised()
    task = {"step": "task", "what": "Call the <guest>", "to": "S-second"}
    assert desk.send(page, **task, due="someday").status_code == 422
    assert desk.send(page, **task, due="2026-11-20 10:00").status_code == 303
    assert desk.send(page, **task, due="2199-11-20 10:00").status_code == 303
    first, second = desk.facts("task_set")
    assert (first["task"], second["task"]) == ("T-1", "T-2")
    assert (first["to"], first["by"]) == ("S-second", "S-surveillance")
    shown = desk.maria.get(page).text
    assert "Call the &lt;guest&gt;" in shown
    assert shown.count('bad">overdue</span>') == 1
    listed = desk.maria.get("/cases").text
    assert "1 task overdue</span></td>" in listed
    assert 'title="1 task of a case is overdue"' in listed
    blind = other(desk)
    for path in (page, "/cases"):
        assert "guest" not in blind.get(path).text, "a task may say what is claimed"
    assert desk.send(page, blind, **task, due="2199-11-20 10:00").status_code == 403
    assert desk.send(page, step="task done", task="T-9").status_code == 422
    assert desk.send(page, step="task done", task="T-1", came="She agrees.").status_code == 303
    assert desk.send(page, step="task done", task="T-1").status_code == 422
    assert "She agrees." in desk.maria.get(page).text
    assert "overdue" not in desk.maria.get("/log").text


def test_a_dispute_takes_position_amount_and_moments_over_by_a_click(desk: Desk) -> None:
    groups = queue.page(desk.site.database, "open", "").groups
    found = [each for group in groups for each in group.members if each.off and each.position]
    item = found[0]
    address = f"/cases/new?round={item.round}&position={item.position}&time={item.time_us}"
    form = desk.maria.get(address).text
    assert re.search(rf'name="position"[^>]* value="{item.position}"', form)
    moments = re.findall(r'name="moment" value="([^"]+)" checked', form)
    assert {each.partition(":")[0] for each in moments} == {"fact", "time"}
    told = re.search(r"By the ruling position [^<]*too (?:much|little)\.", form)
    assert told
    send = {"csrf": desk.maria.csrf, "round": str(item.round), "position": str(item.position)}
    answer = desk.maria.post("/cases", data={**send, "claim": "Less.", "moment": moments})
    assert answer.status_code == 303
    again = desk.maria.post("/cases", data={**send, "claim": "Less.", "moment": moments})
    assert again.headers["location"] == answer.headers["location"], "a second click"
    [note] = desk.facts("dispute_noted")
    assert note["note"] == told[0]
    assert "fact" in note["moments"][0]
    assert parse_time(note["moments"][-1]["reference_time"]) == item.time_us
    odd = desk.maria.post("/cases", data={**send, "claim": "More.", "moment": ["fact:9999"]})
    assert odd.status_code == 422
    assert "By the ruling" not in other(desk).get(address).text, "it is withheld from others"
    several = desk.maria.get(f"/cases/new?round={item.round}").text
    assert re.search(r'name="position"[^>]* value=""', several), "nobody is chosen of several"
