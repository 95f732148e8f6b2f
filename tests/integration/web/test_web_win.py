"""The page Win: the figures of `win`, the tray of each table, and every item with its round."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from consumers.finance import coupons_and_checks, journal, variances, wins
from consumers.finance.sealed import sealed_wins
from ledger.finance import coupons
from ledger.finance.coupons import BatchLine, QuarterLine
from ledger.finance.journal import JournalEntry, Posting
from ledger.finance.serials import range_text
from ledger.finance.statistics.charts import ChartLimits, ChartPoint
from ledger.finance.statistics.hold import VarianceAsked
from ledger.values import dollars
from replay.recording.sealed_days import DayDecisions, Signers
from replay.text.wins import signed as with_sign
from replay.web.finance.chart_svg import of_errors, of_luck
from replay.web.finance.win import DIFFERS, drawn, signed_steps, tray_steps
from tests.fixtures.web import opened_site, people
from tests.scenes.table_days import NEXT, count, day_lines, fact, next_day
from tests.scenes.view_feeds import day, received

if TYPE_CHECKING:
    import httpx

    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Browser
    from tests.property.finance.floors import Line

HOUSE, GAMING_DAY = "hollywood", "2026-11-20"
TWO = Signers(by="F-1", second="F-2", despite="As it is.")
TRAY = "assets:tray:CC-07"


def played(database: Database) -> None:
    """A scene: half an hour of a floor with every mistake, and people of each role."""
    people(database)
    with TemporaryDirectory() as home, opened_site(database, Path(home)) as site:
        site.take_in(day(30, planted=1))


def shown(who: Browser, path: str) -> str:
    answer = who.get(path)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def test_the_figures_items_and_rounds_are_those_of_the_command(
    scenes: Scenes, tmp_path: Path
) -> None:
    database, _ = scenes.copy(played)
    found = wins.read(database)
    with opened_site(database, tmp_path) as site:
        page = shown(site.browser("auditor"), "/win")
    assert len(found) > 1
    for each in found:
        line = page.split(f'">{each.table}</a>')[1].split("</tr>")[0]
        cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)]
        amounts = (each.drop.total, each.counted, each.moved, each.owed)
        assert cells[1:5] == ["n/a" if cents is None else dollars(cents) for cents in amounts]
        for item in each.items:
            assert item.says in page
            if item.round:
                assert f'<a href="/rounds/{each.property}/{item.round}">' in page
        for of in (*each.causes, *each.exceptions):
            assert of.says in page


def test_what_terminals_recorded_is_moved_and_no_win(scenes: Scenes, tmp_path: Path) -> None:
    database, _ = scenes.copy(played)
    with opened_site(database, tmp_path) as site:
        page = shown(site.browser("auditor"), "/drop")
    assert page.count(">Moved</th>") > 2
    assert ">Win</th>" not in page


def test_a_closed_day_keeps_its_figures_and_lists_what_came_later(
    scenes: Scenes, tmp_path: Path
) -> None:
    database, _ = scenes.copy(played)
    closed = sealed_wins.pinned_now(database, HOUSE, GAMING_DAY)
    table = next(each.table for each in closed.wins.tables if each.drop.total is not None)
    with DayDecisions(database) as decisions:
        decisions.close_day(closed, TWO, "1")
    source = {"source": f"/{HOUSE}/{table}/desk"}
    late = fact("cash_bought_in", 11, position=2, amount=2_500) | source | {"id": "very-late"}
    slip = {"slip": "F-late", "chips": {"500": 4}, "total": 2_000, "by": ["F-9"]}
    fill = fact("fill_accepted", 12, **slip) | source
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(late).encode())])
        page = shown(site.browser("auditor"), "/win")
    line = page.split(f'">{table}</a>')[1].split("</tr>")[0]
    assert "<td>SEALED v1</td>" in line
    before = next(each for each in closed.wins.tables if each.table == table)
    assert dollars(before.drop.total or 0) in line
    assert f"/{HOUSE}/{table}/desk very-late" in page
    assert page.count("came after the day was closed") == 1
    assert "as signed; later facts are not in it</span>" in page
    assert "Pending</th>" not in page, "the sale changes no figure"
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(fill).encode())])
        page = shown(site.browser("auditor"), "/win")
    assert page.count("as signed;") == 1, "no other table has later facts"
    its = page.split("as signed; later facts are not in it, and stand beside it as pending")[1]
    steps = its.split("</table>")[0]
    assert f'<td class="figure">{dollars(before.closer or 0)}</td>' in steps
    assert '<b class="bad">+$20.00</b>' in steps.split("Fills")[1].split("</tr>")[0]


def test_a_signed_tray_ends_where_the_journal_ends(scenes: Scenes) -> None:
    database, _ = scenes.copy(played)
    entries = journal.read(database)
    for each in wins.read(database):
        live = tray_steps(one for one in entries if one.table == each.table)
        signed = signed_steps(each)
        assert bool(live) == bool(signed)
        for steps in (live, signed):
            for before, after in pairwise(steps[:-1]):
                assert after.before == before.after
        if signed:
            assert (signed[0].after, signed[-1].after) == (live[0].after, live[-1].after)
            assert signed[-2].after == each.closer
            differ = [[s.amount for s in of if s.says == DIFFERS] for of in (live, signed)]
            assert differ[0] == differ[1]


def closing(who: Browser, **form: str) -> httpx.Response:
    data = {"csrf": who.csrf, "property": HOUSE, "gaming_day": GAMING_DAY, **form}
    return who.post("/win", data=data)


def approved(who: Browser, asked: httpx.Response) -> None:
    """Approve a request that somebody else has just made."""
    assert asked.status_code == 303, asked.text
    path = asked.headers["Location"]
    digest = shown(who, path).split('name="digest" value="')[1].split('"')[0]
    data = {"csrf": who.csrf, "step": "give", "digest": digest}
    assert who.post(path, data=data).status_code == 303


def test_two_people_close_the_day_on_the_page_and_open_it_again(
    scenes: Scenes, tmp_path: Path
) -> None:
    database, _ = scenes.copy(played)
    table = wins.read(database)[0].table
    lost = fact("drop_box_attached", 12, box="LOST", table=table, gaming_day=GAMING_DAY)
    lost["source"] = f"/{HOUSE}/{table}/desk"
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(lost).encode())])
        site.add("other", "finance")
        who, other = site.browser("finance"), site.browser("other")
        assert "Close the day" in shown(who, "/win")
        assert "Close the day" not in shown(site.browser("auditor"), "/win")
        lacks = closing(who, because="Month.")
        assert (lacks.status_code, "lack a count" in lacks.text) == (422, True)
        assert 'value="Month."' in lacks.text, "what was typed is given back"
        approved(other, closing(who, despite="A box is lost."))
        page = shown(site.browser("auditor"), "/win")
        assert "SEALED v1" in page
        assert "Version 1, closed by S-finance and S-other." in page
        assert "Closed though something was missing: A box is lost." in page
        [kept] = sealed_wins.seals_of(database, GAMING_DAY)[HOUSE].seals
        assert kept.digest in page
        assert closing(who, despite="x").status_code == 422, "it is closed"
        assert closing(who, step="reopen").status_code == 422, "no reason"
        approved(other, closing(who, step="reopen", because="Late."))
        assert "SEALED" not in shown(who, "/win")
        assert "Opened again by S-finance and S-other: Late." in shown(who, "/win")
        approved(who, closing(other, despite="Again."))
        assert "SEALED v2" in shown(who, "/win")
        rows = site.ports.tape.read(0, 1_000_000)
    made = [row for row in rows if row.type.startswith(("day_sealed", "day_reopened"))]
    [first, _, second] = [json.loads(row.data) for row in made]
    assert (first["by"], first["second"], first["despite"]) == (
        "S-finance",
        "S-other",
        "A box is lost.",
    )
    assert (second["version"], second["by"]) == (2, "S-other")
    assert {row.source for row in made} == {f"/{HOUSE}/office/days"}


def test_what_is_to_be_worked_off_has_a_page_or_a_command(scenes: Scenes, tmp_path: Path) -> None:
    database, _ = scenes.copy(played)
    with opened_site(database, tmp_path) as site:
        who, auditor = site.browser("finance"), site.browser("auditor")
        page = shown(who, "/win").split('id="work"')[1].split("</table>")[0]
        wanted = sum(
            len(each.missing) + len(each.exceptions) + len(each.causes) + bool(each.items)
            for each in wins.read(database)
        )
        assert page.count("<tr><th") - 1 == wanted > 0
        paths = set(re.findall(r'href="(/[^"]+)"', page))
        assert any(path.startswith("/entry/forms/variance_explained?") for path in paths)
        for path in paths:
            if not path.startswith("/docs/"):
                assert who.get(path).status_code == 200, path
        gap = next(each for each in wins.read(database) if each.items)
        because = {"table": gap.table, "gaming_day": GAMING_DAY, "because": "Luck.", "by": "F-1"}
        other = gap.bank_variance if gap.owed is None else gap.pay_gap
        whole = (gap.count_gap or 0) + (other or 0)
        signed = (("f-1", whole, {"about": "3 %"}), ("f-1 ", whole, {}), ("F-2", whole + 100, {}),
                  ("F-2", -100, {"about": "3 %"}), ("F-2", -150, {"about": "gap"}),
                  ("F-2", 0, {"unexplained": 50}))  # fmt: skip
        for nth, (second, amount, more) in enumerate(signed):
            its = because | {"amount": amount, "second": second} | more
            told = fact("variance_explained", 13, "office", **its)
            told |= {"source": f"/{HOUSE}/office/v", "id": f"v{nth}"}
            work = shown(who, "/win").split('id="work"')[1].split("</table>")[0]
            assert work.count("<tr><th") == page.count("<tr><th"), "still open"
            site.take_in([received(json.dumps(told).encode())])
            if nth < 2:
                work = shown(who, "/win").split('id="work"')[1].split("</table>")[0]
                alone = "two people sign what they found, and F-1 alone signed it" in work
                assert alone == (nth == 1), "what one signed of a limit is of no gap"
        assert f"They signed {with_sign(whole - 50)}, left +$0.50" in work
        after = shown(who, "/win").split('id="work"')[1].split("</table>")[0]
        explained = 1 + len(gap.causes)
        assert after.count("<tr><th") == page.count("<tr><th") - explained, "it is explained"
        other = shown(auditor, "/win").split('id="work"')[1].split("</table>")[0]
        assert "variance_explained" not in other
        assert "Variance explained, by finance" in other


def test_each_page_and_link_is_of_the_casino_asked_for(database: Database, tmp_path: Path) -> None:
    coupon = fact("coupons_received", 5, "count-room", serial_from="A-1", serial_to="A-9",
                  face=500, invoice="I-1", checked_by=["C-1", "C-2"],
                  recorded_by="S-1")  # fmt: skip
    told = day_lines(coupon, count(57))[:-1]  # without a closer
    houses = ("lucky", "p")
    people(database)
    with opened_site(database, tmp_path) as site:
        for house in houses:
            its = [each | {"source": each["source"].replace("/p/", f"/{house}/")} for each in told]
            site.take_in([received(json.dumps(each).encode()) for each in its])
        who = site.browser("finance")
        for house, other in (houses, houses[::-1]):
            page = shown(who, f"/win?property={house}")
            assert (f"· {house} ·" in page, f"· {other} ·" in page) == (True, False)
            for path in ("/win", "/drop", "/win/coupons"):
                page = shown(who, f"{path}?property={house}")
                main = page.split("<main")[1]
                paths = re.findall(r'href="(/(?:win|drop|entry)[^"]*)"', main)
                without = [each for each in paths if f"property={house}" not in each]
                assert not without, (path, without)
                assert paths or path == "/drop"
            assert f"<option selected>{house}</option>" in shown(who, f"/drop?property={house}")
        both = shown(who, "/win")
        assert all(f"· {house} ·" in both for house in houses)


def test_the_chart_has_a_mark_and_a_row_for_each_day_of_its_table(
    scenes: Scenes, tmp_path: Path
) -> None:
    database, _ = scenes.copy(played)
    asked = VarianceAsked(HOUSE, "table", "day", "9999-12-31")
    points = {each.group: each for each in variances.charts(database, asked, ChartLimits())}
    with opened_site(database, tmp_path) as site:
        who = site.browser("auditor")
        for table, point in points.items():
            page = shown(who, f"/win/charts?property={HOUSE}&table={table}")
            link = f"/win?property={HOUSE}&gaming_day={GAMING_DAY}&table={table}"
            marks = re.findall(rf'<a href="{re.escape(link)}" tabindex="-1"><title>([^<]*)', page)
            assert len(marks) == (3 if point.z is not None else 2)
            row = page.split("<tbody>")[1].split("</tr>")[0]
            assert f'<a href="{link}">{GAMING_DAY}</a>' in row
            assert dollars(point.paid_over) in row
            assert (point.z or "n/a") in row
            assert "style=" not in page
        assert "No gaming day of this table" in shown(who, "/win/charts?table=CC-99")
        assert who.get("/win/charts?gaming_day=x").status_code == 422
        assert "/win/charts" in shown(who, "/win")


def test_an_alarm_is_a_diamond_and_a_day_without_luck_has_no_mark() -> None:
    usual = {"group": "T", "pay_gap": 0, "paid_under": 0, "paid_over": 0}
    points = [
        ChartPoint(gaming_day="2026-11-18", z="-3.10", alarms=["luck"], **usual),  # type: ignore[arg-type] # by name
        ChartPoint(gaming_day="2026-11-19", z=None, alarms=[], **usual),  # type: ignore[arg-type] # as above
        ChartPoint(gaming_day="2026-11-20", z="0.50", alarms=[], **usual),  # type: ignore[arg-type] # as above
    ]
    [line] = of_luck(points, ChartLimits()).lines
    assert line.joined == [], "nothing is joined over a day without a figure"
    assert len(of_luck([points[0], points[2]], ChartLimits()).lines[0].joined) == 1
    assert [(each.gaming_day[-2:], each.alarm) for each in line.marks] == [
        ("18", True),
        ("20", False),
    ]
    top, middle, bottom = of_luck(points, ChartLimits()).levels
    assert top.y < middle.y < bottom.y < line.marks[0].y, "below the lower limit"
    assert line.marks[1].y < middle.y
    assert len(line.marks[0].diamond.split()) == 4
    errors = of_errors(points, ChartLimits())
    assert [len(each.marks) for each in errors.lines] == [3, 3]


def test_coupons_and_checks_are_on_a_page(scenes: Scenes, tmp_path: Path) -> None:
    database, _ = scenes.copy(played)
    found = coupons_and_checks.coupon_facts(database, HOUSE)[HOUSE]
    with opened_site(database, tmp_path) as site:
        page = shown(site.browser("auditor"), "/win/coupons")
    for line in coupons.lines(found):
        assert not isinstance(line, QuarterLine)
        if isinstance(line, BatchLine):
            assert range_text(line.serial_from, line.serial_to) in page
        for of in line.exceptions:
            assert of.says in page


BOUGHT = fact("cash_bought_in", 5, position=1, amount=10_000)


def correcting(nth: int, data: dict[str, object] | None) -> Line:
    people = {"by": f"F-{nth}", "second": f"S-{nth}", "because": f"Misread <{nth}>."}
    content = {} if data is None else {"data": data}
    of = {"source": BOUGHT["source"], "id": BOUGHT["id"]}
    return fact("fact_corrected", nth, "office", of=of, **people, **content)


def fact_page(who: Browser, of: Line, status: int = 200) -> str:
    answer = who.get("/win/fact", params={"source": of["source"], "id": of["id"]})
    assert answer.status_code == status, answer.text
    return unescape(answer.text)


def test_a_correction_shows_what_it_corrects_before_and_after_and_who_and_why(
    database: Database, tmp_path: Path
) -> None:
    people(database)
    first = correcting(10, {"position": 1, "amount": 12_500, "table": "CC-08"})
    raised = {
        "dispute": "D-1",
        "round": f"CC-07/{GAMING_DAY}/1",
        "position": 1,
        "claim": "They took my chips.",
        "by": "S",
    }
    dispute = fact("dispute_raised", 6, "office", **raised)
    with opened_site(database, tmp_path) as site:

        def told(*lines: Line) -> None:
            site.take_in([received(json.dumps(each).encode()) for each in lines])

        told(*day_lines(BOUGHT), dispute)
        who = site.browser("auditor")
        assert "/win/fact?source=" in who.get(f"/win?gaming_day={GAMING_DAY}").text
        assert "No correction of it is on record." in fact_page(who, BOUGHT)
        assert "$100.00" in fact_page(who, BOUGHT)
        told(first)
        page = fact_page(who, BOUGHT)
        assert page == fact_page(who, first), "a correction leads to what it corrects"
        assert "By F-10 and S-10, because: Misread <10>." in page
        rows = re.findall(r"<th scope=\"row\">([^<]*)</th><td>([^<]*)</td><td><b>([^<]*)</b>", page)
        assert sorted(rows) == [("amount", "$100.00", "$125.00"), ("table", "none", "CC-08")]
        assert "overtaken" not in page
        told(correcting(12, None), correcting(11, {"position": "x"}))
        page = fact_page(who, BOUGHT)
        order = [page.index(f"F-{nth} and") for nth in (10, 11, 12)]
        assert order == sorted(order), "in the order in which they count"
        assert (
            page.count("A later correction counts: of the same fact, or of this correction.") == 2
        )
        assert "Its content cannot be that of this fact, so it has no effect: " in page
        assert "The fact should not have been recorded. No figure counts it." in page
        back = correcting(13, None)
        back["data"]["of"] = {
            "source": correcting(12, None)["source"],
            "id": "fact_corrected-office-12",
        }
        told(back)
        page = fact_page(who, BOUGHT)
        assert page == fact_page(who, back)
        assert "It is of the correction fact_corrected-office-12, which should not have" in page
        assert "No figure counts it." not in page
        page = fact_page(who, dispute)
        assert "Dispute raised" in page
        assert "They took my chips." in page
        page = fact_page(site.browser("finance"), dispute)
        assert "They took my chips." not in page, "finance does not see the patron's words"
        fact_page(who, {"source": "/p/CC-07/d", "id": "none"}, 404)
        fact_page(who, {"source": "", "id": ""}, 404)
        fact_page(site.browser("surveillance"), BOUGHT, 403)


def test_a_correction_by_another_casino_is_on_its_facts_page_and_says_that_it_has_no_effect(
    database: Database, tmp_path: Path
) -> None:
    people(database)
    mine = correcting(10, {"position": 1, "amount": 12_500})
    other = correcting(11, {"position": 1, "amount": 700}) | {"source": "/q/office/d"}
    again = correcting(12, None) | {"source": "/q/office/d"}
    again["data"]["of"] = {"source": mine["source"], "id": mine["id"]}
    vain = correcting(13, {"position": 1, "amount": 900}) | {"source": "/q/office/d"}
    vain["data"]["of"] = {"source": "/p/CC-07/d", "id": "lost"}
    with opened_site(database, tmp_path) as site:
        lines = [*day_lines(BOUGHT), mine, other, again, vain]
        site.take_in([received(json.dumps(each).encode()) for each in lines])
        who = site.browser("auditor")
        page = fact_page(who, BOUGHT)
        assert page == fact_page(who, other)
        assert page.count("of another casino") == 2
        assert "q corrects it. That has no effect: a property corrects its own facts alone." in page
        assert "It is of the correction fact_corrected-office-10" in page
        assert page.count(">holds<") == 1, "the casino's own"
        assert "overtaken" not in page
        assert "$7.00" in page, "what it would have said"
        page = fact_page(who, vain)
        assert "Fact corrected" in page
        assert "source /p/CC-07/d, id lost" in page
        assert "Misread <13>." in page
        assert "$9.00" not in page, "nobody knows what that fact is about"


def test_the_day_shown_first_is_the_latest_of_the_casino_asked_for(
    database: Database, tmp_path: Path
) -> None:
    people(database)
    lines = day_lines(count(59))
    for each in next_day(*day_lines(count(59))):
        lines.append(each | {"source": each["source"].replace("/p/", "/q/")})
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(each).encode()) for each in lines])
        who = site.browser("auditor")
        for path in ("/win", "/drop"):
            for house, day in (("p", GAMING_DAY), ("q", NEXT), ("", NEXT)):
                page = who.get(path, params={"property": house}).text
                assert f'name="gaming_day" value="{day}"' in page, (path, house)
                assert ">CC-07<" in page


def test_a_fact_of_a_count_is_read_in_dollars_and_names(database: Database, tmp_path: Path) -> None:
    people(database)
    euro = {"currency": "EUR", "notes": {"5000": 2}, "rate": "1.1"}
    content = {"counter_checks": [{"check": "K-1", "amount": 5_000}], "coupons": ["M-1", "M-2"]}
    told = count(50, currency={"10000": 3}, foreign=[euro], **content)
    meter = fact("meter_advanced", 20, meter="link", amount=700)
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(each).encode()) for each in day_lines(meter, told)])
        page = fact_page(site.browser("auditor"), told)
        assert "<td>$7.00</td>" in fact_page(site.browser("auditor"), meter)
    cells = dict(re.findall(r'<th scope="row">([^<]*)</th><td>([^<]*)</td>', page))
    assert cells["currency"] == "3 x $100.00"
    assert cells["counter checks"] == "check K-1, amount $50.00"
    assert cells["coupons"] == "M-1; M-2"
    assert cells["foreign"] == "currency EUR, notes 2 x $50.00, rate 1.1"
    assert cells["vouchers"] == "none"


def entry(name: str, tray: int, *, counted: int | None = None) -> JournalEntry:
    balances = [] if counted is None else [Posting(TRAY, counted)]
    return JournalEntry(
        property="hollywood",
        gaming_day="2026-11-20",
        table="CC-07",
        entry=name,
        says=name.capitalize(),
        postings=[Posting(TRAY, tray), Posting("assets:cage", -tray)],
        balances=balances,
        facts=[],
    )


DAY = [
    entry("opening", 250, counted=1_000),
    entry("fill:F-1", 500),
    entry("sales", -300),
    entry("play", 70),
    entry("closing", -20, counted=1_250),
]


def test_a_tray_goes_from_opener_to_closer_by_the_entries_of_the_journal() -> None:
    steps = tray_steps(DAY)
    assert [(each.says, each.amount, each.after) for each in steps] == [
        ("Opener", 1_000, 1_000),
        ("Fill:f-1", 500, 1_500),
        ("Sales", -300, 1_200),
        ("Play", 70, 1_270),
        (DIFFERS, -20, 1_250),
        ("Closer", 1_250, 1_250),
    ]
    bars = [bar for _, bar in drawn(steps)]
    assert [bar.kind for bar in bars] == ["count", "gain", "loss", "gain", "loss", "count"]
    assert bars[1].x == bars[0].width
    assert max(bar.x + bar.width for bar in bars) == 1_000


def test_a_tray_begins_at_its_opener_whatever_the_days_before_left() -> None:
    before = entry("carried", 900)
    assert tray_steps([before, *DAY]) == tray_steps(DAY)


@pytest.mark.parametrize("missing", ["opening", "closing"])
def test_a_tray_that_was_not_counted_is_not_drawn(missing: str) -> None:
    assert tray_steps(each for each in DAY if each.entry != missing) == []


def test_every_tray_of_a_floor_ends_at_its_closer(scenes: Scenes) -> None:
    database, _ = scenes.copy(played)
    found = {each.table: each for each in wins.read(database)}
    entries = journal.read(database)
    trays = 0
    for table, each in found.items():
        steps = tray_steps(one for one in entries if one.table == table)
        if each.opener is None or each.closer is None:
            assert steps == []
        else:
            assert steps[-2].after == each.closer
            trays += 1
    assert trays == len(found)
