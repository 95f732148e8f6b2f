"""Surveillance's log: written, corrected by a further entry, and withheld as a round is."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from consumers.registry import install
from consumers.review import desk
from consumers.review import log as entries
from consumers.rounds.search import Filters, search
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import tape_source
from ledger.errors import NotFound, Usage
from ledger.facts import LogEntryAdded
from ledger.values import format_time
from replay.recording.house_facts import append_facts, build_fact, screen
from replay.review import log
from tests.scenes.view_feeds import day, dumped

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from tests.fixtures.web import Browser, Site

T0_US = 1_795_000_000_000_000
ZONE = ZoneInfo("America/New_York")
SPILL = log.EntryText(
    T0_US, T0_US + 60_000_000, "CC-02", "A drink was spilled", ["seat 3"], "cam1", "Layout changed"
)


def followed(database: Database) -> None:
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, [desk.VIEW], batch_rows=2)


def test_an_entry_is_corrected_by_a_further_one_and_both_stay(
    database: Database, tape: PostgresTape
) -> None:
    followed(database)
    first = log.add(database, tape, "hollywood", SPILL, "S-1", ZONE)
    assert first.startswith("L-2026-11-")
    assert first.endswith("-1")
    second = log.add(database, tape, "hollywood", SPILL._replace(place="CC-03"), "S-1", ZONE)
    assert second == f"{first[:-1]}2", "though the view has not read the first one yet"
    followed(database)
    moved = SPILL._replace(place="CC-04", moments=log.moment("CC-04/2026-11-20/7", "cam1", T0_US))
    made = log.correct(database, tape, "hollywood", first, moved, "Wrong table.", "S-2")
    followed(database)
    found = {each.first.entry: each for each in entries.entries(database)}
    assert [*found] == [first, second]
    assert (found[first].first.place, found[first].now.place) == ("CC-02", "CC-04")
    assert (found[first].now.entry, found[first].now.because) == (made, "Wrong table.")
    assert [each.camera for each in found[first].now.moments] == [None, "cam1"]
    assert found[second].now == found[second].first
    before = dumped(database, desk.VIEW)
    with tape_source(database) as source:
        rebuild(database, source, desk.VIEW)
    assert dumped(database, desk.VIEW) == before
    assert not entries.entries(database, since_us=T0_US + 61_000_000)
    assert len(entries.entries(database, since_us=T0_US, until_us=T0_US + 1)) == 2


def test_what_cannot_be_written_is_refused(database: Database, tape: PostgresTape) -> None:
    followed(database)
    for wrong in (
        SPILL._replace(what=" "),
        SPILL._replace(to_us=T0_US - 1),
        SPILL._replace(place="x" * 129),
        SPILL._replace(disposition=""),
    ):
        with pytest.raises(Usage):
            log.add(database, tape, "hollywood", wrong, "S-1", ZONE)
    with pytest.raises(Usage):
        log.moment("nothing", "", None)
    with pytest.raises(NotFound):
        log.correct(database, tape, "hollywood", "L-9", SPILL, "Wrong.", "S-1")
    assert not entries.entries(database)


def test_of_two_entries_with_one_name_the_first_counts_whatever_comes_first(
    database: Database, tape: PostgresTape
) -> None:
    bodies = [
        LogEntryAdded(
            entry="L-1", from_=format_time(T0_US), place=place, what="x", who=(),
            recorded_where="cam1", disposition="none", by="S-1",
        )
        for place in ("first", "second")
    ]  # fmt: skip
    late, early = (
        build_fact(body, screen("hollywood", f"desk-{nth}"), time_us=T0_US - nth)
        for nth, body in enumerate(bodies)
    )
    append_facts(tape, [late])
    followed(database)
    append_facts(tape, [early])
    followed(database)
    assert [each.first.place for each in entries.entries(database)] == ["second"]


def fields(who: Browser, **others: str) -> dict[str, str]:
    return {
        "csrf": who.csrf, "property": "hollywood", "from": "2026-11-20 21:05", "place": "Cage",
        "who": "S-7, a guest", "what": "A guest fell.", "recorded_where": "Cage-cam2",
        "disposition": "Ambulance called.", **others,
    }  # fmt: skip


def test_the_page_writes_and_corrects(staffed: Site) -> None:
    who = staffed.browser("surveillance")
    assert "Nothing is written" in who.get("/log").text
    assert who.post("/log", data=fields(who)).status_code == 303
    shown = who.get("/log?day=2026-11-20").text
    for text in ("A guest fell.", "Who: S-7, a guest", "Ambulance called.", "2026-11-20 21:05:00"):
        assert text in shown
    assert "No entry of this day" in who.get("/log?day=2026-11-21").text
    [entry] = entries.entries(staffed.database)
    form = who.get(f"/log?of={entry.first.entry}").text
    assert f"Correct {entry.first.entry}" in form
    assert 'value="A guest fell."' in form
    changed = fields(who, of=entry.first.entry, what="A guest slipped.")
    assert who.post("/log", data=changed).status_code == 422, "why is missing"
    assert who.post("/log", data=changed | {"because": "The film."}).status_code == 303
    shown = who.get("/log").text
    assert shown.index("A guest slipped.") < shown.index("A guest fell.")
    assert "corrected by" in shown
    wrong = who.post("/log", data=fields(who, **{"from": "yesterdayish"}))
    assert (wrong.status_code, "is not a time" in wrong.text) == (422, True)
    assert 'value="A guest fell."' in wrong.text, "what was typed is given back"


@pytest.mark.long
def test_an_entry_of_a_withheld_round_is_left_out_until_it_was_observed(staffed: Site) -> None:
    staffed.take_in(day(6))
    round_ = search(staffed.database, Filters(limit=1))[0]
    staffed.add("raiser", "surveillance")
    raiser, who = staffed.browser("raiser"), staffed.browser("surveillance")
    began = format_time(round_.began_us or 0)
    kinds = {
        "named": {"round": str(round_.id), "what": "secret-1"},
        "there": {"from": began, "place": round_.id.table, "what": "secret-2"},
        "told": {"what": f"secret-3 {round_.id.subject}"},
    }
    for form in kinds.values():
        assert raiser.post("/log", data=fields(raiser, **form)).status_code == 303
    assert raiser.post("/log", data=fields(raiser, what="elsewhere")).status_code == 303
    assert who.get("/log").text.count("secret-") >= 3, "the control"
    claim = {"csrf": raiser.csrf, "round": str(round_.id), "position": "1", "claim": "Too little."}
    answer = raiser.post("/cases", data=claim | {"sure": "yes"})
    assert answer.status_code == 303
    blind = who.get("/log").text
    assert "secret-" not in blind
    assert "elsewhere" in blind
    assert "3 entries of rounds that you must review blind are left out" in blind
    assert "secret-" in raiser.get("/log").text
    hidden = next(e for e in entries.entries(staffed.database) if "secret" in e.now.what)
    assert "secret-" not in who.get(f"/log?of={hidden.first.entry}").text
    guess = fields(who, of=hidden.first.entry, because="x")
    assert who.post("/log", data=guess).status_code == 422
    who.post(str(answer.headers["location"]), data={"csrf": who.csrf, "step": "reveal"})
    assert "secret-" in who.get("/log").text
