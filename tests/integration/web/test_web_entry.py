"""Papers entered on pages: the facts of a device, two people each, and blind counts."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from html import unescape
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from consumers.finance import wins
from infra.access.second_factor import new_recovery_codes
from infra.access.tries import TRIES_MAX
from infra.access.users import User
from replay.recording.papers import PaperDecisions
from replay.web.access.authentication import SECOND_CODE, SECOND_PASSWORD
from tests.fixtures.web import ACTOR, PASSWORD, opened_site
from tests.scenes.table_days import DAY, day_lines, fact
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import httpx

    from infra.access.users import Role
    from infra.postgres.connection import Database
    from tests.fixtures.web import Browser, Site

BOX = f"/entry/boxes/p/CC-07/{DAY}/B1"
CONTENT = {"notes_10000": "3", "coupons": "MP-1\nMP-2", "counter_checks": "K-777 200.00"}
RANGE = {"serial_from": "MP-1", "serial_to": "MP-8", "face": "10.00"}
BOTH = {
    "notes_2000": "1", "notes_other": "$0.05 x 4", "vouchers": "V-1 10.00",
    "foreign": "EUR 1.0850 50.00 x 3",
}  # fmt: skip


@pytest.fixture
def floor(database: Database, tmp_path: Path) -> Iterator[Site]:
    """A site with a table's day and people of each department."""
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(each).encode()) for each in day_lines()])
        for name, roles in (
            ("count1", ["count"]), ("count2", ["count"]), ("cage1", ["cage"]), ("cage2", ["cage"]),
            ("pit1", ["pit"]), ("pit2", ["pit"]),
            ("finance1", ["finance"]), ("finance2", ["finance"]),
            ("both", ["count", "finance"]), ("mixed", ["count", "cage"]), ("auditor1", ["auditor"]),
        ):  # fmt: skip
            site.add(name, *roles)  # type: ignore[arg-type] # roles
        for role, people in SECONDS.items():
            for employee in people:
                name = employee.lower()
                site.add(name, role, employee=employee)
        yield site


SECONDS: dict[Role, Sequence[str]] = {
    "count": ("N-6", "N-7", "N-8", "N-9"), "pit": ("D-1",), "cage": ("G-1", "C-9"),
    "marketing": tuple(f"X-{nth}" for nth in range(8)),
}  # fmt: skip
"""People who sign as the second one, by role."""


def send(who: Browser, path: str, **form: str) -> httpx.Response:
    """Send a form as one person; the second one signs it with the password that all have here."""
    signed = {SECOND_PASSWORD: PASSWORD} if form.get("second") or "observed_by" in form else {}
    return who.post(path, data={"csrf": who.csrf, "empty": "yes", **signed, **form})


def test_a_count_that_was_sent_blank_is_none_unless_the_box_was_empty(floor: Site) -> None:
    who = floor.browser("count1")
    blank = send(who, BOX, count="1", second="N-9", empty="")
    assert (blank.status_code, "Nothing was typed" in blank.text) == (422, True)
    assert facts(floor, "drop_box_counted") == []
    assert send(who, BOX, count="1", second="N-9").status_code == 303
    assert len(facts(floor, "drop_box_counted")) == 1


@pytest.mark.parametrize(
    ("field", "lines", "name"),
    [
        ("counter_checks", ("K-7 200.00", "K-8 1.00", "K-7 200.00"), "Counter check K-7"),
        ("vouchers", ("V-7 10.00", "V-7"), "Voucher V-7"),
        ("coupons", ("MP-1", "MP-2", "MP-1"), "Coupon MP-1"),
    ],
)
def test_a_paper_that_was_typed_twice_in_one_count_is_none_unless_the_box_held_two(
    floor: Site, field: str, lines: Sequence[str], name: str
) -> None:
    """The control has each number once. Two papers of one number are recorded as they lay there."""
    who = floor.browser("count1")
    typed = {field: "\n".join(lines)}
    again = send(who, BOX, count="1", second="N-9", **typed)
    assert (again.status_code, f"{name} is typed more than once" in again.text) == (422, True)
    assert facts(floor, "drop_box_counted") == []
    once = {field: "\n".join(lines[1:])}
    assert send(who, BOX, count="1", second="N-9", **once).status_code == 303
    other = floor.browser("count2")
    assert send(other, BOX, count="2", second="N-8", twice="yes", **typed).status_code == 303
    assert len(facts(floor, "drop_box_counted")) == 2
    floor.take_in([])
    [win] = wins.read(floor.database)
    kind = name.partition(" ")[0].lower().replace("counter", "check")
    code = "coupon_redeemed_twice" if kind == "coupon" else f"{kind}_boxed_twice"
    assert code in {each.code for each in win.exceptions}


def facts(site: Site, *types: str) -> list[tuple[str, dict[str, Any]]]:
    """The source and data of the facts of these types, in order of position."""
    rows = [row for row in site.ports.tape.read(0, 1_000) if row.type.partition(".")[0] in types]
    return [(row.source, json.loads(row.data)) for row in rows]


def test_counts_that_disagree_are_followed_by_a_third_of_other_people(floor: Site) -> None:
    """The control is a second count that agrees: it is the last."""
    first, second, third = (floor.browser(name) for name in ("count1", "count2", "n-7"))
    cage, path = floor.browser("cage1"), BOX
    assert send(first, path, count="1", second="N-9", notes_10000="3").status_code == 303
    assert send(third, path, count="3", second="N-6", notes_10000="3").status_code == 422, "early"
    assert send(second, path, count="2", second="N-8", notes_10000="4").status_code == 303
    for who in (first, second, third, cage):
        shown = who.get(path).text
        assert "300.00" not in shown
        assert "400.00" not in shown
    assert "waits for its third count" in third.get("/entry").text
    assert "Put on record" in third.get(path).text
    assert "You counted this box." in second.get(path).text
    assert "Put on record" not in second.get(path).text
    assert send(cage, path, total="400").status_code == 422, "a count is due"
    for other, who in (("N-9", third), ("N-8", third), ("N-6", first), ("N-6", second)):
        assert send(who, path, count="3", second=other, notes_10000="4").status_code == 422, other
    assert send(third, path, count="3", second="N-6", notes_10000="4").status_code == 303
    assert "Third count" in third.get(path).text
    assert send(cage, path, total="400").status_code == 303
    counts = [of for _, of in facts(floor, "drop_box_counted")]
    assert [(of["count"], of["counted_by"]) for of in counts] == [
        (1, ["S-count1", "N-9"]), (2, ["S-count2", "N-8"]), (3, ["N-7", "N-6"]),
    ]  # fmt: skip
    floor.take_in([])
    [win] = wins.read(floor.database)
    assert win.drop.cash == 40_000
    assert [each.code for each in win.exceptions] == ["counts_disagree"]
    agreed = f"/entry/boxes/p/CC-07/{DAY}/B2"
    assert entered(floor.browser("pit1"), "drop_box_attached", table="CC-07", box="B2",
                   gaming_day=DAY) == 303  # fmt: skip
    for nth, who, other in (("1", first, "N-9"), ("2", second, "N-8")):
        assert send(who, agreed, count=nth, second=other, notes_10000="4").status_code == 303
    assert send(third, agreed, count="3", second="N-6", notes_10000="4").status_code == 422


def test_a_box_is_counted_twice_blind_and_verified_blind(floor: Site) -> None:
    first, second, cage = (floor.browser(name) for name in ("count1", "count2", "cage1"))
    assert send(first, BOX, count="1", second="N-9", **CONTENT).status_code == 303
    for who in (first, second, cage):
        shown = who.get(BOX).text
        for told in ("300.00", "MP-1", "K-777", "520", "N-9"):
            assert told not in shown, told
    assert "waits for its second count" in second.get("/entry").text
    assert "Verify" not in cage.get(BOX).text
    assert send(second, BOX, count="2", second="N-8", **CONTENT, **BOTH).status_code == 303
    third = floor.browser("n-7")
    assert send(third, BOX, count="3", second="N-6", **CONTENT, **BOTH).status_code == 303
    for who in (first, second):
        shown = who.get(BOX).text
        assert "$300.00" in shown
        assert "$320.20" in shown
        assert "differs" in shown
        assert "$162.75" in shown, "foreign notes at their rate"
    assert "300.00" not in cage.get(BOX).text
    assert send(cage, BOX, total="520.20").status_code == 303
    shown = cage.get(BOX).text
    assert "The cage verified $520.20." in shown
    assert "It is verified." in shown
    assert "$300.00" in shown
    made = facts(floor, "drop_box_counted", "drop_box_verified")
    assert [source for source, _ in made] == [
        *("/p/count-room/entry",) * 3, "/p/cage/entry",
    ]  # fmt: skip
    assert made[0][1] == {
        "box": "B1", "table": "CC-07", "gaming_day": DAY, "count": 1, "currency": {"10000": 3},
        "counter_checks": [{"check": "K-777", "amount": 20_000}], "vouchers": [],
        "coupons": ["MP-1", "MP-2"], "counted_by": ["S-count1", "N-9"],
    }  # fmt: skip
    assert made[1][1]["foreign"] == [{"currency": "EUR", "notes": {"5000": 3}, "rate": "1.0850"}]
    assert made[1][1]["vouchers"] == [{"voucher": "V-1", "amount": 1_000}]
    floor.take_in([])
    [win] = wins.read(floor.database)
    codes = {each.code for each in win.exceptions}
    assert {"counts_disagree", "verification_disagrees"} <= codes
    assert win.drop.cash == 32_020


def test_who_counted_or_reads_counts_elsewhere_does_not_count_or_verify_blind(floor: Site) -> None:
    first, second, cage = (floor.browser(name) for name in ("count1", "count2", "cage1"))
    assert send(first, BOX, count="1", second="S-count1").status_code == 422, "one person"
    assert send(first, BOX, count="1", second=" s-COUNT1 ").status_code == 422
    assert send(first, BOX, count="1", second="").status_code == 422
    assert send(first, BOX, count="2", second="N-9").status_code == 422, "no first count yet"
    assert send(first, BOX, count="1", second="N-9").status_code == 303
    assert send(first, BOX, count="2", second="N-8").status_code == 422, "of the first count"
    assert send(second, BOX, count="2", second="N-9").status_code == 422, "of the first count"
    assert send(second, BOX, count="1", second="N-7").status_code == 422, "it is on record"
    assert send(cage, BOX, total="0").status_code == 422, "not counted twice"
    for name in ("both", "mixed"):
        assert floor.browser(name).get(BOX).status_code == 403
        assert send(floor.browser(name), BOX, count="2", second="N-7").status_code == 403
    assert send(second, BOX, count="2", second="N-7").status_code == 303
    assert send(cage, BOX, total="").status_code == 422
    assert send(cage, BOX, total="0").status_code == 303
    assert send(floor.browser("cage2"), BOX, total="0").status_code == 422
    assert len(facts(floor, "drop_box_counted", "drop_box_verified")) == 3
    for gone in ("B9", "..", "%2E", "x" * 300):
        path = f"/entry/boxes/p/CC-07/{DAY}/{gone}"
        assert send(first, path, count="1", second="N-9").status_code in (404, 422), gone


def test_a_table_inventory_is_counted_by_one_and_observed_by_another(floor: Site) -> None:
    who = floor.browser("pit1")
    form = {
        "property": "p", "table": "CC-07", "gaming_day": DAY, "kind": "close", "slip": "INV-9",
        "chips_10000": "40", "chips_2500": "4", "total": "4,100.00",
        "counted_by": "D-1", "observed_by": "S-pit1",
    }  # fmt: skip
    path = "/entry/inventories"
    for wrong in (
        {"observed_by": "D-1"}, {"observed_by": "F-1"}, {"total": "4,000.00"}, {"total": ""},
        {"kind": "open"}, {"kind": "x"}, {"table": "CC-70"}, {"table": "../x"}, {"slip": ""},
        {"gaming_day": "2026-13-01"}, {"chips_2500": "-1"}, {"chips_other": "7"},
        {"slip": f"CC-07-{DAY}-58"}, {"gaming_day": "2999-11-20"},
    ):  # fmt: skip
        answer = send(who, path, **{**form, **wrong})
        assert answer.status_code == 422, (wrong, answer.text)
        assert 'role="alert"' in answer.text
        assert 'value="40"' in answer.text, "what was typed is given back"
    assert send(who, path, **form).status_code == 303
    assert send(who, path, **form).status_code == 422, "the slip is on record"
    source, data = facts(floor, "inventory_counted")[-1]
    assert source == "/p/CC-07/entry"
    assert data == {
        "kind": "close", "gaming_day": DAY, "chips": {"10000": 40, "2500": 4}, "total": 410_000,
        "slip": "INV-9", "counted_by": "D-1", "observed_by": "S-pit1",
    }  # fmt: skip


def test_the_number_of_a_trays_slip_is_used_once(floor: Site) -> None:
    """A closer's duplicate is the next opener's slip; by ingest any number is recorded."""
    told = [
        fact("inventory_counted", minute, place, kind=kind, gaming_day=day, chips={}, total=0,
             slip=slip, counted_by="D-8", observed_by="S-8")
        for place, minute, kind, day, slip in (
            ("CC-08", 5, "open", DAY, "O-8"), ("CC-08", 6, "drop", DAY, "INV-8"),
            ("CC-07", 7, "close", "2026-11-18", "INV-7"), ("CC-08", 8, "close", DAY, "INV-7"),
        )
    ]  # fmt: skip
    floor.take_in([received(json.dumps(each).encode()) for each in told])
    assert len(facts(floor, "inventory_counted")) == 2 + len(told), "the record takes each"
    who, path = floor.browser("pit1"), "/entry/inventories"
    form = {
        "property": "p", "table": "CC-07", "gaming_day": "2026-11-19", "total": "0.00",
        "counted_by": "D-1", "observed_by": "S-pit1",
    }  # fmt: skip
    for kind, slip, where in (
        ("close", "INV-8", f"CC-08, {DAY}"), ("open", "INV-8", f"CC-08, {DAY}"),
        ("close", "INV-7", "CC-07, 2026-11-18"),
    ):  # fmt: skip
        answer = send(who, path, **form, kind=kind, slip=slip)
        assert answer.status_code == 422, (kind, slip)
        assert f"Slip {slip} is on record at {where}" in answer.text
        assert "Enter the number on your slip, or the next free one of its series" in answer.text
    assert send(who, path, **form, kind="close", slip="INV-9").status_code == 303


def test_an_opener_has_the_slip_of_the_closer_before_it(floor: Site) -> None:
    form = {
        "property": "p", "table": "CC-07", "gaming_day": "2026-11-21", "total": "0.00",
        "kind": "open", "counted_by": "D-1", "observed_by": "S-pit1",
    }  # fmt: skip
    answer = send(floor.browser("pit1"), "/entry/inventories", **form, slip=f"CC-07-{DAY}-58")
    assert answer.status_code == 303, answer.text


def test_a_fill_goes_from_the_table_to_the_cage_and_back(floor: Site) -> None:
    pit, cage = floor.browser("pit1"), floor.browser("cage1")
    asked = {"property": "p", "table": "CC-07", "kind": "fill", "slip": "F-007"}
    assert send(pit, "/entry/slips", **asked).status_code == 422, "no chips"
    asked |= {"chips_2500": "20"}
    assert send(pit, "/entry/slips", **asked).status_code == 303
    assert send(pit, "/entry/slips", **asked).status_code == 422, "it is on record"
    assert 'value="F-008"' in pit.get("/entry/slips/new?property=p&kind=fill").text
    slip, chips = "/entry/slips/p/fill/F-007", {"chips_2500": "20"}
    assert send(pit, slip, step="dispatched", second="C-9", **chips).status_code == 422
    assert send(pit, slip, step="accepted", second="D-1", **chips).status_code == 422
    assert send(cage, slip, step="dispatched", second="S-cage1", **chips).status_code == 422
    assert 'value="20"' in cage.get(slip).text, "what was requested stands in the form"
    assert send(cage, slip, step="dispatched", second="G-1", **chips).status_code == 303
    assert send(cage, slip, step="accepted", second="D-1", **chips).status_code == 422
    assert send(pit, slip, step="accepted", second="G-1", **chips).status_code == 422
    assert send(pit, slip, step="accepted", second="D-1", **chips).status_code == 303
    assert send(pit, slip, step="accepted", second="D-1", **chips).status_code == 422
    assert send(cage, slip, step="voided", second="G-1", reason="x").status_code == 422
    made = facts(floor, "fill_requested", "fill_dispatched", "fill_accepted")
    assert [(source, data["by"]) for source, data in made] == [
        ("/p/CC-07/entry", ["S-pit1"]),
        ("/p/cage/entry", ["S-cage1", "G-1"]),
        ("/p/CC-07/entry", ["S-pit1", "D-1"]),
    ]
    assert made[1][1]["table"] == "CC-07"
    floor.take_in([])
    assert wins.read(floor.database)[0].fills == 50_000


def test_a_credit_leaves_the_table_and_is_accepted_or_voided(floor: Site) -> None:
    pit, cage = floor.browser("pit1"), floor.browser("cage1")
    for number in ("C-1", "C/2 x"):
        asked = {"property": "p", "table": "CC-07", "kind": "credit", "slip": number}
        made = send(pit, "/entry/slips", **asked, chips_500="2")
        assert made.status_code == 303, made.text
        assert send(pit, made.headers["Location"], step="dispatched", second="D-1",
                    chips_500="2").status_code == 303  # fmt: skip
    assert send(cage, "/entry/slips/p/credit/C-1", step="accepted", second="G-1",
                chips_500="2").status_code == 303  # fmt: skip
    other = made.headers["Location"]
    assert send(pit, other, step="voided", second="D-1", reason=" ").status_code == 422
    assert send(pit, other, step="voided", second="D-1", reason="Torn.").status_code == 303
    assert "Torn." in cage.get(other).text
    sources = [source for source, _ in facts(floor, "credit_accepted", "credit_voided")]
    assert sources == ["/p/cage/entry", "/p/CC-07/entry"]


def test_a_slip_of_a_device_goes_on_here_and_its_number_is_used_once(floor: Site) -> None:
    told = fact("fill_requested", 20, slip="F-1", chips={"500": 4}, total=2_000, by=["F-9"])
    floor.take_in([received(json.dumps(told).encode())])
    pit, cage = floor.browser("pit1"), floor.browser("cage1")
    asked = {"property": "p", "table": "CC-07", "kind": "fill", "slip": "F-1"}
    assert send(pit, "/entry/slips", **asked, chips_500="4").status_code == 422
    slip = "/entry/slips/p/fill/F-1"
    sent = send(cage, slip, step="dispatched", second="G-1", chips_500="4")
    assert sent.status_code == 303, sent.text
    assert cage.get("/entry/slips/p/fill/F-9").status_code == 404


def test_the_number_of_another_tables_series_is_not_suggested(floor: Site) -> None:
    pit = floor.browser("pit1")
    asked = {"property": "p", "table": "CC-07", "kind": "fill", "chips_500": "4"}
    send(pit, "/entry/slips", **asked, slip="FILL-CC-07-001")
    assert "FILL-CC-07" not in pit.get("/entry/slips/new?property=p&kind=fill").text


def test_a_number_that_is_used_says_so_and_the_highest_suggests_the_next(floor: Site) -> None:
    pit = floor.browser("pit1")
    asked = {"property": "p", "table": "CC-07", "kind": "fill", "chips_500": "4"}
    for number in ("F-09", "F-10", "F-02"):
        assert send(pit, "/entry/slips", **asked, slip=number).status_code == 303
    assert 'value="F-11"' in pit.get("/entry/slips/new?property=p&kind=fill").text
    again = send(pit, "/entry/slips", **asked, slip="F-02")
    assert (again.status_code, "Its number is used" in again.text) == (422, True)


def test_the_cage_sends_no_fill_with_the_person_who_asked_for_it(floor: Site) -> None:
    """The control is another person."""
    pit, cage = floor.browser("pit1"), floor.browser("cage1")
    asked = {"property": "p", "table": "CC-07", "kind": "fill", "slip": "F-1"}
    assert send(pit, "/entry/slips", **asked, chips_500="4").status_code == 303
    slip = "/entry/slips/p/fill/F-1"
    sent = {"step": "dispatched", "chips_500": "4"}
    refused = send(cage, slip, **sent, second="s-PIT1")
    assert (refused.status_code, "requested it" in refused.text) == (422, True)
    other = send(cage, slip, **sent, second="S-count2")
    assert (other.status_code, "S-count2 is of another department" in other.text) == (422, True)
    assert send(cage, slip, **sent, second="S-cage2").status_code == 303


def test_a_person_who_reads_counts_as_another_user_counts_none_as_this_one(floor: Site) -> None:
    """Until that user is disabled. A second person whom the program knows must count, too."""
    counter = floor.browser("count1")
    assert counter.get(BOX).status_code == 200
    of_finance = User("again", "s-COUNT1", frozenset(("finance",)))
    floor.ports.users.add(of_finance, password=None, subject="again@tests", actor=ACTOR)
    assert counter.get(BOX).status_code == 403
    assert send(counter, BOX, count="1", second="N-9", **CONTENT).status_code == 403
    floor.ports.users.disable("again", ACTOR)
    for second, status in (("S-cage1", 422), ("S-both", 422), ("S-count2", 303)):
        assert send(counter, BOX, count="1", second=second, **CONTENT).status_code == status


def test_a_box_that_a_correction_gives_to_another_table_waits_there(floor: Site) -> None:
    its = {"currency": {}, "counter_checks": [], "vouchers": [], "coupons": [], "count": 1}
    of = {"box": "B1", "table": "CC-08", "gaming_day": DAY, "counted_by": ["N-1", "N-2"]}
    told = fact("drop_box_counted", 50, "count-room", **of, **its)
    meant = {**told["data"], "table": "CC-07"}
    fixed = fact("fact_corrected", 55, "office", of={"source": told["source"], "id": told["id"]},
                 data=meant, because="x", by="F-1", second="F-2")  # fmt: skip
    listed = {}
    for nth, lines in enumerate(([told], [fixed])):
        floor.take_in([received(json.dumps(each).encode()) for each in lines])
        shown = floor.browser("count1").get(f"/entry?gaming_day={DAY}").text
        listed[nth] = (shown.count("waits for its first count"), shown.count("second count"))
        assert (BOX.replace("CC-07", "CC-08") in shown) is (nth == 0)
    assert listed == {0: (1, 1), 1: (0, 1)}
    assert send(floor.browser("count2"), BOX, count="2", second="N-8").status_code == 303


def test_a_second_print_of_a_slip_says_reprint_and_each_is_logged(floor: Site) -> None:
    pit = floor.browser("pit1")
    box = {"box": "B2", "table": "CC-07", "gaming_day": DAY, "shift": "night"}
    attached = fact("drop_box_attached", 30, "count-room", **box)
    floor.take_in([received(json.dumps(attached).encode())])
    asked = {"property": "p", "kind": "fill", "slip": "F-1"}
    send(pit, "/entry/slips", **asked, table="CC-07", chips_500="4")
    first, second = (send(pit, "/entry/prints", **asked).text for _ in range(2))
    assert ("REPRINT" in first, "REPRINT" in second) == (False, True)
    assert "$20.00" in first
    assert f"table CC-07 · Criss-Cross Poker · gaming day {DAY} · shift night" in first
    logged = [each for each in floor.ports.access.events() if each.what == "slip_printed"]
    assert [(each.actor, each.name) for each in logged] == [("pit1", "fill F-1")] * 2


def test_the_list_shows_each_what_is_due_and_no_amount_of_a_box(floor: Site) -> None:
    assert "No fact is on record of" not in floor.browser("pit1").get("/entry").text
    assert BOX in floor.browser("count1").get("/entry").text
    assert BOX not in floor.browser("auditor1").get("/entry").text
    assert floor.browser("pit1").get("/entry?property=lucky").status_code == 404
    assert floor.browser("pit1").get("/entry?gaming_day=x").status_code == 422
    who = floor.browser("auditor1")
    assert send(who, "/entry/slips", property="p").status_code == 403


def test_a_box_that_hangs_is_not_attached_again_here_or_elsewhere(floor: Site) -> None:
    """B1 hangs at CC-07. It was removed, or counted: then it is taken. Verified is not emptied."""
    opened = {**day_lines()[0], "id": "opened-8", "source": "/p/CC-08/d"}
    its = {"box": "B1", "table": "CC-07", "gaming_day": DAY, "total": 0, "by": "C-1"}
    verified = fact("drop_box_verified", 30, "cage", **its)
    floor.take_in([received(json.dumps(each).encode()) for each in (opened, verified)])
    pit = floor.browser("pit1")

    def enter(name: str, table: str, nth: int) -> httpx.Response:
        form = {"property": "p", "key": f"{nth:016x}", "box": "B1", "table": table}
        return send(pit, f"/entry/forms/drop_box_{name}", **form, gaming_day=DAY)

    for nth, table in enumerate(("CC-08", "CC-07")):
        refused = enter("attached", table, nth)
        assert (refused.status_code, "Box B1 hangs at CC-07" in refused.text) == (422, True)
    assert facts(floor, "drop_box_attached")[1:] == []
    assert enter("removed", "CC-07", 3).status_code == 303
    assert enter("attached", "CC-08", 4).status_code == 303
    again = enter("attached", "CC-08", 5)
    assert (again.status_code, "Box B1 hangs at CC-08" in again.text) == (422, True)


FORMS_OF = {
    "pit1": {
        "counter_check_issued": {"table": "CC-07", "position": "3", "check": "K-1", "amount": "50"},
        "coupon_dropped": {"table": "CC-07", "serial": "MP-1", "face": "10"},
        "coupon_refused": {"table": "CC-07", "serial": "MP-2", "face": "10", "reason": "Torn."},
        "drop_box_attached": {"table": "CC-07", "box": "B2", "gaming_day": DAY},
        "drop_box_removed": {"table": "CC-07", "box": "B1", "gaming_day": DAY, "shift": "day"},
    },
    "cage1": {
        "counter_check_redeemed": {"check": "K-1", "amount": "20.00"},
        "counter_check_voided": {"check": "K-2", "reason": "Spoiled."},
        "tournament_entered": {
            "tournament": "T-1", "table": "CC-07", "gaming_day": DAY, "amount": "100",
        },
        "tournament_prize_paid": {
            "tournament": "T-1", "table": "CC-07", "gaming_day": DAY, "amount": "80",
        },
    },
    "finance1": {
        "check_book_signed_out": {"book": "1", "check_from": "K-1", "check_to": "K-9"},
        "check_book_signed_in": {"book": "1", "check_from": "K-1", "check_to": "K-9"},
        "variance_explained": {
            "table": "CC-07", "gaming_day": DAY, "amount": "-25.50",
            "because": "One patron won.\nThe floor saw it.",
        },
    },
    "finance2": {
        "coupons_received": {**RANGE, "invoice": "I-1"},
        "coupons_requisitioned": {
            "requisition": "R-1", "face": "10.00", "quantity": "8", "needed_on": DAY,
        },
        "coupons_issued": {
            **RANGE, "terms": "odds", "games": "blackjack", "expires": "2026-12-31",
            "requisition": "",
        },
        "coupons_distributed": {**RANGE, "serial_to": "MP-4", "gaming_day": DAY},
        "coupons_returned": {**RANGE, "serial_from": "MP-5", "reason": "Left over."},
        "coupons_voided": {"serials": "MP-7\nMP-8", "reason": "Torn."},
        "coupons_cancelled": {"serials": "MP-1", "reason": "Redeemed."},
        "coupons_inventoried": {"held": "MP-5 MP-6"},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS_OF)
def test_each_form_is_a_fact_once_however_often_it_is_sent(floor: Site, name: str) -> None:
    who = floor.browser(name)
    for nth, (fact_name, its) in enumerate(FORMS_OF[name].items()):
        path = f"/entry/forms/{fact_name}"
        assert path in who.get("/entry").text
        key = re.findall(r'name="key" value="([0-9a-f]+)"', who.get(path).text)[0]
        form = {"property": "p", "key": key, "second": f"X-{nth}", **its}
        assert send(who, path, **{**form, "key": "x"}).status_code == 422
        first = next(iter(its))
        assert send(who, path, **{**form, first: ""}).status_code == 422, fact_name
        sent = send(who, path, **form)
        assert sent.status_code == 303, (fact_name, sent.text)
        if fact_name == "variance_explained":
            approved(floor.browser("finance2"), sent.headers["Location"])
            again = send(who, path, **form)
            assert (again.status_code, "was sent already" in again.text) == (422, True)
            continue
        assert send(who, path, **form).status_code == 422
        assert "It is on record." in who.get(sent.headers["Location"]).text
    made = facts(floor, *FORMS_OF[name])[-len(FORMS_OF[name]) :]
    place = {"pit1": "CC-07", "cage1": "cage"}.get(name, "office")
    assert {source for source, _ in made} == {f"/p/{place}/entry"}
    bodies = [data for _, data in made]
    if name == "finance1":
        out, back, explained = bodies
        assert (out["issued_by"], out["received_by"]) == ("S-finance1", "X-0")
        assert (back["issued_by"], back["received_by"]) == ("X-1", "S-finance1")
        assert (explained["amount"], explained["second"]) == (-2_550, "S-finance2")
        assert explained["because"] == "One patron won.\nThe floor saw it."
    if name == "finance2":
        received_, asked, issued, *_, stock = bodies
        assert (received_["checked_by"], received_["face"]) == (["X-0"], 1_000)
        assert (asked["authorised_by"], asked["prepared_by"]) == ("S-finance2", "X-1")
        assert issued["games"] == ["blackjack"]
        assert stock["held"] == [["MP-5", "MP-6"]]


def test_a_form_is_of_its_role_two_people_and_a_range(floor: Site) -> None:
    who = floor.browser("finance1")
    path, key = "/entry/forms/coupons_received", "0" * 16
    form = {"property": "p", "key": key, "second": "X-1", "invoice": "I-1", **RANGE}
    for wrong in (
        {"second": "S-finance1"}, {"second": ""}, {"serial_from": "MP-9"}, {"serial_to": "X-9"},
        {"face": "ten"}, {"property": "lucky"},
    ):  # fmt: skip
        answer = send(who, path, **{**form, **wrong})
        assert answer.status_code in (404, 422), (wrong, answer.text)
    assert facts(floor, "coupons_received") == []
    assert send(floor.browser("pit1"), path, **form).status_code == 403
    assert who.get("/entry/forms/day_sealed").status_code == 404


@pytest.mark.parametrize("name", [
    *("coupons_received", "coupons_requisitioned", "coupons_issued", "coupons_distributed"),
    "coupons_returned",
])  # fmt: skip
def test_marketings_person_on_a_form_of_coupons_is_none_of_finance(floor: Site, name: str) -> None:
    """603a.20(d)-(l): one of finance and one of marketing, each with a user of their own."""
    who, its = floor.browser("finance1"), FORMS_OF["finance2"]
    for before, form in its.items():
        if before == name:
            break
        assert entered(who, before, **form) == 303
    for second in ("s-FINANCE2", "S-both"):
        assert entered(who, name, second=second, **its[name]) == 422
    key = {"property": "p", "key": "0" * 16, "second": "S-finance2"}
    answer = send(who, f"/entry/forms/{name}", **key, **its[name]).text
    assert "S-finance2 is of another department" in answer
    assert entered(who, name, second="S-pit1", **its[name]) == 303, "a supervisor with a user"


def approved(other: Browser, path: str) -> None:
    """Approve what somebody else asked for."""
    digest = re.findall(r'name="digest" value="(\w+)"', other.get(path).text)[0]
    assert send(other, path, step="give", digest=digest).status_code == 303


def test_a_variance_is_not_explained_by_one_person(floor: Site) -> None:
    who = floor.browser("finance1")
    explained = FORMS_OF["finance1"]["variance_explained"]
    assert entered(who, "variance_explained", second="S-finance2", **explained) == 303
    assert facts(floor, "variance_explained") == [], "it is asked for"
    [asked] = floor.ports.approvals.waiting("p")
    page = unescape(floor.browser("finance2").get(asked.page).text)
    assert ("-$25.50" in page, "One patron won.\nThe floor saw it." in page) == (True, True)
    digest = asked.request.digest
    assert send(who, asked.page, step="give", digest=digest).status_code == 422
    assert facts(floor, "variance_explained") == []
    approved(floor.browser("finance2"), asked.page)
    [(_, made)] = facts(floor, "variance_explained")
    assert (made["by"], made["second"]) == ("S-finance1", "S-finance2")
    for more in ({"about": "x" * 129}, {"shift": "x" * 129}, {"because": "x" * 4_001}):
        assert entered(who, "variance_explained", **explained | more) == 422, more


def entered(who: Browser, name: str, second: str = "X-1", **its: str) -> int:
    """The status that a form is answered with; each time it is a new form."""
    path = f"/entry/forms/{name}"
    key = re.findall(r'name="key" value="([0-9a-f]+)"', who.get(path).text)[0]
    return send(who, path, property="p", key=key, second=second, **its).status_code


def test_a_form_that_its_batch_book_or_check_does_not_allow_is_refused(floor: Site) -> None:
    finance, pit, cage = (floor.browser(name) for name in ("finance1", "pit1", "cage1"))
    terms = {"terms": "odds", "games": "blackjack", "expires": "2026-12-31"}
    assert entered(finance, "coupons_cancelled", serials="MP-1", reason="x") == 422
    assert entered(finance, "coupons_received", **RANGE, invoice="I-1") == 303
    poker = {**terms, "games": "blackjack\nomaha_5_high"}
    assert entered(finance, "coupons_issued", **RANGE, **poker) == 422, "603a.21(a)"
    assert entered(finance, "coupons_issued", **RANGE, **terms) == 303
    assert entered(finance, "coupons_issued", **RANGE, **terms) == 422, "issued twice"
    assert entered(finance, "coupons_voided", serials="MP-3", reason="Torn.") == 303
    coupon = {"table": "CC-07", "face": "10"}
    assert entered(pit, "coupon_dropped", serial="MP-3", **coupon) == 422, "voided"
    assert entered(pit, "coupon_refused", serial="MP-3", reason="Void.", **coupon) == 303
    assert entered(pit, "coupon_dropped", serial="MP-4", **coupon) == 303
    book = {"book": "1", "check_from": "K-1", "check_to": "K-9"}
    check = {"table": "CC-07", "position": "3", "amount": "50"}
    assert entered(finance, "check_book_signed_out", **book) == 303
    assert entered(finance, "check_book_signed_out", **book) == 422, "out twice"
    assert entered(pit, "counter_check_issued", check="K-1", **check) == 303
    assert entered(pit, "counter_check_issued", check="K-1", **check) == 422, "issued twice"
    assert entered(finance, "check_book_signed_in", **book | {"check_from": "K-2"}) == 303
    assert entered(pit, "counter_check_issued", check="K-2", **check) == 422, "the book is in"
    assert entered(pit, "counter_check_issued", check="Z-2", **check) == 303, "of no book"
    assert entered(cage, "counter_check_redeemed", check="K-1", amount="50.01") == 422
    assert entered(cage, "counter_check_redeemed", check="K-1", amount="25") == 303
    assert entered(cage, "counter_check_redeemed", check="K-1", amount="25") == 303
    assert entered(cage, "counter_check_redeemed", check="K-1", amount="1") == 422, "it is paid"


@pytest.mark.parametrize(("second", "answers"), [("K-1", [303, 422]), ("K-2", [303, 303])])
def test_two_cashiers_at_once_record_one_payment_of_a_check(
    floor: Site, monkeypatch: pytest.MonkeyPatch, second: str, answers: list[int]
) -> None:
    """Both have read before either records. The control pays two checks."""
    check = {"table": "CC-07", "position": "3", "amount": "50"}
    for number in ("K-1", "K-2"):
        assert entered(floor.browser("pit1"), "counter_check_issued", check=number, **check) == 303
    both, decide = Barrier(2), PaperDecisions.decide

    def together(self: PaperDecisions, case: Any, *bodies: Any) -> list[int]:  # noqa: ANN401 - as `decide`
        both.wait(120)
        return decide(self, case, *bodies)

    monkeypatch.setattr(PaperDecisions, "decide", together)
    cashiers = ((floor.browser("cage1"), "K-1"), (floor.browser("cage2"), second))
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(
            lambda each: entered(each[0], "counter_check_redeemed", check=each[1], amount="50"),
            cashiers,
        )
    assert sorted(found) == answers
    assert len(facts(floor, "counter_check_redeemed")) == answers.count(303)


@pytest.mark.parametrize("kind", ["fill", "credit"])
def test_of_two_tables_that_take_a_slips_number_at_once_one_has_it(
    floor: Site, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Both have read that nobody has the number."""
    opens = fact("inventory_counted", 5, kind="open", gaming_day=DAY, chips={}, total=0, slip="O-8",
                 counted_by="D-8", observed_by="S-8")  # fmt: skip
    floor.take_in([received(json.dumps(opens | {"source": "/p/CC-08/pit"}).encode())])
    both, begin = Barrier(2), PaperDecisions.begin

    def together(self: PaperDecisions, *case: Any) -> None:  # noqa: ANN401 - as `begin`
        both.wait(120)
        begin(self, *case)

    monkeypatch.setattr(PaperDecisions, "begin", together)
    asked = {"property": "p", "kind": kind, "slip": "S-201", "chips_500": "2"}
    people = ((floor.browser("pit1"), "CC-07"), (floor.browser("pit2"), "CC-08"))
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda of: send(of[0], "/entry/slips", **asked, table=of[1]), people)
    assert sorted(each.status_code for each in found) == [303, 422]
    assert len(facts(floor, f"{kind}_requested")) == 1


def test_what_another_system_says_is_recorded_and_decides_what_follows(floor: Site) -> None:
    told = {"serials": ["MP-2"], "reason": "Torn.", "by": "A-1"}
    lines = [
        fact("coupons_received", 20, "office", **{**RANGE, "face": 1_000}, invoice="I-1",
             checked_by=["A-1"], recorded_by="A-2"),
        fact("coupons_voided", 21, "office", **told),
        fact("coupon_dropped", 22, serial="MP-2", face=1_000),
    ]  # fmt: skip
    before = len(facts(floor, "coupon_dropped"))
    floor.take_in([received(json.dumps(each).encode()) for each in lines])
    assert len(facts(floor, "coupon_dropped")) == before + 1, "recorded all the same"
    finance = floor.browser("finance1")
    assert entered(finance, "coupons_voided", serials="MP-2", reason="x") == 422
    assert entered(finance, "coupons_voided", serials="MP-1", reason="x") == 303


def test_no_check_is_issued_at_the_position_of_the_dealer(floor: Site) -> None:
    """The control is the position beside it."""
    pit = floor.browser("pit1")
    check = {"table": "CC-07", "check": "K-0", "amount": "50"}
    assert entered(pit, "counter_check_issued", position="0", **check) == 422
    assert entered(pit, "counter_check_issued", position="1", **check) == 303


def test_the_second_person_reads_the_total_of_a_count(floor: Site) -> None:
    """Not of one whose voucher has no amount: nobody knows it yet."""
    who = floor.browser("count1")
    sent = {"csrf": who.csrf, "count": "1", "second": "N-9", "notes_10000": "3"}
    shown = who.post(BOX, data={**sent, "vouchers": "V-1 5.00"}).text
    assert "<dt>total without coupons</dt><dd>$305.00</dd>" in shown
    assert "<dt>coupons</dt><dd>none</dd>" in shown
    assert "total" not in who.post(BOX, data={**sent, "vouchers": "V-1"}).text


@pytest.mark.parametrize("name", ["count1", "cage1", "pit1", "auditor1"])
def test_a_refused_page_leads_to_a_page_that_the_user_may_open(floor: Site, name: str) -> None:
    who = floor.browser(name)
    refused = who.get("/entry/forms/coupon_dropped" if name != "pit1" else "/drop")
    assert refused.status_code == 403
    [start] = re.findall(r'href="([^"]+)">To the start page', refused.text)
    assert who.get(start).status_code == 200


def test_a_form_opens_with_the_table_and_day_of_its_address(floor: Site) -> None:
    path = f"/entry/forms/variance_explained?property=p&table=CC-07&gaming_day={DAY}&by=F-9"
    shown = floor.browser("finance1").get(path).text
    assert 'value="CC-07"' in shown
    assert f'value="{DAY}"' in shown
    assert "F-9" not in shown


def test_a_voucher_without_an_amount_is_named_and_one_with_it_is_counted(floor: Site) -> None:
    first, second = floor.browser("count1"), floor.browser("count2")
    assert send(first, BOX, count="1", second="N-9", vouchers="V-7\nV-8 5.00").status_code == 303
    assert "no amount" not in second.get(BOX).text, "blind"
    assert send(second, BOX, count="2", second="N-8", vouchers="V-7 2.00\nV-8 5.00").status_code
    shown = second.get(BOX).text
    assert "a count has no amount of voucher V-7." in shown
    assert "$7.00" in shown


OWN = "another horse, another battery"  # the password of one person alone
PAPERS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "inventory_counted": ("pit1", "/entry/inventories", "D-1", {
        "property": "p", "table": "CC-07", "gaming_day": DAY, "kind": "close", "slip": "INV-9",
        "chips_10000": "40", "total": "4,000.00", "counted_by": "D-1", "observed_by": "S-pit1",
    }),
    "fill_dispatched": ("cage1", "/entry/slips/p/fill/F-1", "G-1", {
        "step": "dispatched", "chips_500": "4", "second": "G-1",
    }),
    "drop_box_counted": ("count1", BOX, "N-9", {"count": "1", "notes_10000": "3", "second": "N-9"}),
    "check_book_signed_out": ("finance1", "/entry/forms/check_book_signed_out", "X-0", {
        "property": "p", "key": "0" * 16, "book": "1", "check_from": "K-1", "check_to": "K-9",
        "second": "X-0",
    }),
    "coupons_received": ("finance1", "/entry/forms/coupons_received", "X-0", {
        "property": "p", "key": "0" * 16, "invoice": "I-1", **RANGE, "second": "X-0",
    }),
}  # fmt: skip
"""A paper of each kind: who enters it, where, who is the second person, and the form."""


@pytest.mark.usefixtures("quick_hashes")
@pytest.mark.parametrize("kind", PAPERS)
def test_nobody_signs_a_paper_for_another(floor: Site, kind: str) -> None:
    """Not with one's own password. The control is the other's own, for each kind of paper."""
    name, path, employee, form = PAPERS[kind]
    told = fact("fill_requested", 20, slip="F-1", chips={"500": 4}, total=2_000, by=["F-9"])
    floor.take_in([received(json.dumps(told).encode())])
    floor.ports.users.set_password(employee.lower(), OWN, ACTOR)
    who, before = floor.browser(name), len(facts(floor, kind))
    for given, status in (({}, 200), ({SECOND_PASSWORD: PASSWORD}, 401)):
        asked = who.post(path, data={"csrf": who.csrf, **form, **given})
        assert (asked.status_code, f"{employee} signs here" in asked.text) == (status, True)
        assert PASSWORD not in asked.text, "what was typed as a secret is not given back"
        assert "<dt>casino</dt><dd>p</dd>" in asked.text
        at_table = "<dt>table</dt><dd>CC-07</dd>" in asked.text
        assert at_table == (kind in ("inventory_counted", "fill_dispatched", "drop_box_counted"))
    assert len(facts(floor, kind)) == before
    assert signatures(floor) == []
    signed = who.post(path, data={"csrf": who.csrf, **form, SECOND_PASSWORD: OWN})
    assert signed.status_code == 303, signed.text
    rows = [row for row in floor.ports.tape.read(0, 1_000) if row.type.startswith(f"{kind}.")]
    [(name_, actor, detail)] = signatures(floor)
    assert (name_, actor) == (employee.lower(), name)
    at = "p/CC-07" if at_table else "p"
    assert detail.endswith(f" at {at}, SHA-256 {sha256(rows[-1].data).hexdigest()}")
    assert employee in rows[-1].data.decode()
    assert floor.ports.tape.sender_of(rows[-1].position) == f"user:{name}"


def signatures(floor: Site) -> list[tuple[str, str, str]]:
    """Who signed as a second person, on whose page, and what."""
    events = floor.ports.access.events()
    return [(e.name, e.actor, e.detail) for e in events if e.what == "paper_signed"]


def test_the_second_person_reads_what_is_signed_and_no_count_of_others(floor: Site) -> None:
    """The page of the second count shows that count alone."""
    first, second = floor.browser("count1"), floor.browser("count2")
    assert send(first, BOX, count="1", second="N-9", **CONTENT).status_code == 303
    form = {"csrf": second.csrf, "count": "2", "second": "N-8", "notes_2000": "7", **BOTH}
    shown = second.post(BOX, data=form).text
    for told in ("$20.00 x 1", "V-1 $10.00", "EUR", "S-count2, N-8"):
        assert told in shown, told
    for told in ("$100.00 x 3", "MP-1", "K-777", "N-9"):
        assert told not in shown, told


def test_who_has_no_user_or_no_password_signs_nothing(floor: Site) -> None:
    """The control is a person with a password."""
    who = floor.browser("count1")
    of_provider = User("oidc", "N-1", frozenset(("count",)))
    floor.ports.users.add(of_provider, password=None, subject="oidc@tests", actor=ACTOR)
    for second, says in (("N-0", "No user has"), ("N-1", "identity provider only")):
        refused = send(who, BOX, count="1", second=second)
        assert (refused.status_code, says in refused.text) == (422, True)
    floor.ports.users.disable("n-9", ACTOR)
    assert send(who, BOX, count="1", second="N-9").status_code == 422
    assert send(who, BOX, count="1", second="n-8").status_code == 303, "by the sign-in name"
    [(_, made)] = facts(floor, "drop_box_counted")
    assert made["counted_by"] == ["S-count1", "N-8"]


@pytest.mark.usefixtures("quick_hashes")
def test_wrong_passwords_of_a_second_person_are_tries(floor: Site) -> None:
    who = floor.browser("count1")
    for _ in range(TRIES_MAX):
        wrong = send(who, BOX, count="1", second="N-9", **{SECOND_PASSWORD: "x"})
        assert "is wrong" in wrong.text
    assert "Too many tries" in send(who, BOX, count="1", second="N-9").text
    assert facts(floor, "drop_box_counted") == []
    assert send(who, BOX, count="1", second="N-8").status_code == 303, "the control: another"


def test_a_second_person_with_a_second_factor_gives_a_code(floor: Site) -> None:
    who = floor.browser("count1")
    with floor.ports.access.open() as connection:
        connection.execute(
            "INSERT INTO access.passkeys VALUES (1, NULL, 0, 'n-9', 'phone', '\\x01', '\\x02')"
        )
        [code, *_] = new_recovery_codes(connection, "n-9")
    assert "is wrong" in send(who, BOX, count="1", second="N-9").text, "the password alone"
    signed = send(who, BOX, count="1", second="N-9", **{SECOND_CODE: code})
    assert signed.status_code == 303, signed.text
