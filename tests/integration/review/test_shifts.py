"""Shifts: begun, handed over with a report that stays, countersigned by the next person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from consumers.registry import install
from consumers.review import desk, queue
from consumers.review import shifts as kept
from consumers.rounds.search import Filters, search
from consumers.rulings import rulings
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import ShiftBegun, ShiftCountersigned, ShiftHandedOver
from replay.cameras.retention import policy_from
from replay.recording.house_facts import append_facts, build_fact, now_us, screen
from replay.review import desk as work
from replay.review import shift_report, shifts
from replay.review.shift_report import ReportSources, ShiftReport
from tests.scenes.view_feeds import day, dumped, viewed

if TYPE_CHECKING:
    from consumers.review.shifts import Shift
    from infra.postgres.connection import Database
    from tests.fixtures.web import Browser, Site

ZONE = ZoneInfo("America/New_York")
TOLD = ShiftReport("Shift\nnothing\n", ())
FORM = re.compile(r'name="(made|report)" value="([^"]+)"')


def followed(database: Database) -> None:
    with tape_source(database) as source:
        catch_up(database, source, shifts.VIEWS, batch_rows=2)


def begun(database: Database, tape: PostgresTape, by: str = "S-1") -> Shift:
    name = shifts.begin(database, tape, "hollywood", by, ZONE)
    followed(database)
    return shifts.find(database, "hollywood", name)


def test_a_shift_is_begun_handed_over_and_countersigned_by_the_next_person(
    database: Database, tape: PostgresTape
) -> None:
    install(database)
    one = begun(database, tape)
    assert re.fullmatch(r"SH-\d{4}-\d\d-\d\d-1", one.shift)
    assert (one.begun_by, one.state) == ("S-1", "open")
    with pytest.raises(Refused, match="not handed it over"):
        shifts.begin(database, tape, "hollywood", "S-1", ZONE)
    other = begun(database, tape, "S-3")
    assert other.shift == f"{one.shift[:-1]}2"
    with pytest.raises(Refused, match="still open"):
        shifts.countersign(tape, one, "S-2")
    for nobody in (" ", "S-1"):
        with pytest.raises(Usage, match="Nobody else"):
            shifts.hand_over(tape, one, TOLD, nobody, "S-1")
    with pytest.raises(Refused, match="begun by S-1"):
        shifts.hand_over(tape, one, TOLD, "S-2", "S-9")
    shifts.hand_over(tape, one, TOLD, "S-2", "S-1")
    followed(database)
    handed = shifts.find(database, None, one.shift)
    assert (handed.state, handed.to, handed.text) == ("handed over", "S-2", TOLD.text)
    assert handed.report == shift_report.hash_of(TOLD.text)
    assert shifts.waiting_for(database, "S-2") == handed
    assert shifts.open_of(database, "S-1") is None
    for wrong in ("S-1", "S-3"):
        with pytest.raises(Refused, match="handed over to S-2"):
            shifts.countersign(tape, handed, wrong)
    shifts.countersign(tape, handed, "S-2")
    followed(database)
    signed = shifts.find(database, None, one.shift)
    assert (signed.state, signed.signed_by) == ("countersigned", "S-2")
    for act in (
        lambda: shifts.countersign(tape, signed, "S-2"),
        lambda: shifts.hand_over(tape, signed, TOLD, "S-2", "S-1"),
    ):
        with pytest.raises(Refused, match="was countersigned"):
            act()
    with pytest.raises(NotFound):
        shifts.find(database, None, "SH-1")


def test_steps_of_a_shift_count_by_their_time_whatever_comes_first(
    database: Database, tape: PostgresTape
) -> None:
    install(database)
    report = shift_report.hash_of("x")
    steps = [
        ShiftBegun(shift="SH-1", by="S-1"),
        ShiftHandedOver(shift="SH-1", to="S-9", report=report, by="S-1"),
        ShiftHandedOver(shift="SH-1", to="S-2", report=report, by="S-1", text="x"),
        ShiftCountersigned(shift="SH-1", by="S-9"),  # no longer the next person
        ShiftCountersigned(shift="SH-1", by="S-2"),
        ShiftHandedOver(shift="SH-1", to="S-1", report=report, by="S-2"),  # too late
        ShiftBegun(shift="SH-1", by="S-4"),
    ]
    facts = [
        build_fact(body, screen("hollywood", "shift"), time_us=1_795_000_000_000_000 + nth)
        for nth, body in enumerate(steps)
    ]
    for each in reversed(facts):
        append_facts(tape, [each])
        followed(database)
    [found] = kept.shifts(database)
    assert (found.begun_by, found.handed_by, found.to) == ("S-1", "S-1", "S-2")
    assert (found.signed_by, found.text) == ("S-2", "x")
    before = dumped(database, desk.VIEW)
    with tape_source(database) as source:
        rebuild(database, source, desk.VIEW)
    assert dumped(database, desk.VIEW) == before


def test_the_report_counts_what_is_new_done_and_open_and_leaves_open_disputes_out(
    database: Database, tape: PostgresTape
) -> None:
    viewed(database, 10, tables=2, planted=2)
    sources = ReportSources(database, tape, policy_from(None), ZONE)
    [group, *_] = queue.page(database, "open", "").groups
    item = group.members[0]
    shift = kept.Shift("hollywood", "SH-1", "S-1", item.time_us)
    before = queue.during(database, "hollywood", item.time_us, item.time_us + 1)
    assert (before.new.many, before.done.many) == (1, 0)
    assert before.new.off == (item.off or 0)
    work.close(tape, [item], "right", "", "S-1")
    with tape_source(database) as source:
        catch_up(database, source, [rulings.VIEW])
    text = shift_report.report(sources, shift, now_us()).text
    told = {each.title: each.lines for each in shift_report.sections_of(text)}
    assert [*told] == [
        *("Shift SH-1", "Findings", "Cases", "Tasks", "Cameras", "Footage", "Log"),
    ]
    assert any(line.startswith("Done: 1, ") and "1 right" in line for line in told["Findings"])
    after = queue.during(database, "hollywood", item.time_us, now_us())
    assert after.open.many == before.open.many - 1
    round_ = item.round
    assert round_ is not None
    hidden = queue.during(database, "hollywood", item.time_us, item.time_us + 1, [round_])
    assert hidden.new.many == 0


def forms(who: Browser) -> dict[str, str]:
    return {"csrf": who.csrf, "property": "hollywood"} | dict(FORM.findall(who.get("/shift").text))


def begun_on_page(site: Site, who: Browser) -> Shift:
    assert who.post("/shift", data=forms(who) | {"step": "begin"}).status_code == 303
    assert "Your shift" in who.get("/shift").text
    [shift] = kept.shifts(site.database)
    return shift


@pytest.mark.long
def test_what_is_signed_is_the_report_that_was_shown(staffed: Site) -> None:
    staffed.add("next", "surveillance")
    who, later = staffed.browser("surveillance"), staffed.browser("next")
    assert "No shift was begun yet" in who.get("/shift").text
    shift = begun_on_page(staffed, who)
    seen = forms(who) | {"step": "hand over", "shift": shift.shift, "to": "S-next"}
    entry = {
        "csrf": who.csrf, "property": "hollywood", "from": "2026-11-20 21:05", "place": "Cage",
        "what": "A guest fell.", "recorded_where": "cam2", "disposition": "none",
    }  # fmt: skip
    assert who.post("/log", data=entry).status_code == 303
    changed = who.post("/shift", data=seen)
    assert (changed.status_code, "The report has changed" in changed.text) == (409, True)
    stale = who.post("/shift", data=seen | {"made": "1"})
    assert stale.status_code == 409
    now = seen | forms(who)
    assert who.post("/shift", data=now | {"to": "S-surveillance"}).status_code == 422
    assert who.post("/shift", data=now).status_code == 303
    sign = {"csrf": later.csrf, "step": "countersign", "property": "hollywood"}
    shown = later.get("/shift").text
    assert "A guest fell." in shown
    assert "hands" in shown
    own = who.post("/shift", data=sign | {"csrf": who.csrf, "shift": shift.shift})
    assert own.status_code == 422, "nobody countersigns their own"
    assert later.post("/shift", data=sign | {"shift": shift.shift}).status_code == 303
    done = shifts.find(staffed.database, "hollywood", shift.shift)
    assert (done.signed_by, shift_report.hash_of(done.text or "")) == ("S-next", done.report)
    path = f"/shift/hollywood/{shift.shift}"
    assert str(done.report) in later.get(path).text
    paper = staffed.browser("auditor").get(f"{path}.pdf")
    assert (paper.content[:5], paper.headers["content-type"]) == (b"%PDF-", "application/pdf")
    named = f'attachment; filename="shift-hollywood-{shift.shift}.pdf"'
    assert paper.headers["content-disposition"] == named
    assert paper.content.count(b"/Type /Page\n") == 1, "one sheet"
    dance = forms(who) | {"step": "dance", "shift": "SH-0"}
    assert who.post("/shift", data=dance).status_code == 422
    wrong = who.post("/shift", data=forms(who) | {"step": "begin", "property": "a b"})
    assert wrong.status_code == 422


@pytest.mark.long
def test_a_report_says_nothing_of_a_withheld_round_and_waits_for_one_withheld_later(
    staffed: Site,
) -> None:
    staffed.take_in(day(10, planted=2))
    staffed.add("raiser", "surveillance")
    raiser, who = staffed.browser("raiser"), staffed.browser("surveillance")
    rounds = [each.id for each in search(staffed.database, Filters(limit=3))]

    def raised(at: int) -> str:
        claim = {"csrf": raiser.csrf, "round": str(rounds[at]), "position": "1", "claim": "Less."}
        answer = raiser.post("/cases", data=claim | {"sure": "yes"})
        assert answer.status_code == 303
        return str(answer.headers["location"])

    said = {
        "csrf": raiser.csrf, "property": "hollywood", "from": "2026-11-20 21:05", "place": "Cage",
        "what": f"secret {rounds[0].subject}", "recorded_where": "x", "disposition": "none",
    }  # fmt: skip
    first = raised(0)
    shift = begun_on_page(staffed, raiser)
    assert raiser.post("/log", data=said).status_code == 303
    told = forms(raiser) | {"step": "hand over", "shift": shift.shift, "to": "S-surveillance"}
    assert raiser.post("/shift", data=told).status_code == 303
    path = f"/shift/hollywood/{shift.shift}"
    shown = who.get(path).text
    assert "Left out: 1 round under blind review" in shown
    assert "secret" not in shown, "an open case's round is in no report"
    assert "secret" not in raiser.get(path).text, "whoever reads it"
    later = raised(1)
    for page in (path, "/shift"):
        blind = who.get(page).text
        assert "Withheld: blind review." in blind
        assert "Left out: 1 round" not in blind
    assert who.get(f"{path}.pdf").status_code == 422
    sign = {
        "csrf": who.csrf, "step": "countersign", "property": "hollywood", "shift": shift.shift,
    }  # fmt: skip
    assert who.post("/shift", data=sign).status_code == 422, "nobody signs what they may not read"
    assert "Left out: 1 round" in raiser.get(path).text, "the control"
    who.post(later, data={"csrf": who.csrf, "step": "reveal"})
    assert "Left out: 1 round" in who.get(path).text
    assert who.post("/shift", data=sign).status_code == 303
    assert first != later


def test_a_shift_of_another_system_may_have_a_slash_in_its_name(staffed: Site) -> None:
    fact = build_fact(ShiftBegun(shift="NIGHT/1", by="S-9"), screen("hollywood", "shift"))
    with PostgresTape(staffed.database) as tape:
        append_facts(tape, [fact])
    who = staffed.browser("surveillance")
    shown = who.get("/shift").text
    path = "/shift/hollywood/NIGHT/1"
    assert f'href="{path}"' in shown
    assert "NIGHT/1" in who.get(path).text
    assert who.get(f"{path}.pdf").content.startswith(b"%PDF")
