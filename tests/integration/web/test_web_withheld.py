"""What a reviewer under blind review is not shown, on any page; who knows the claim sees it all."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, get_args
from urllib.parse import quote

import msgspec
import pytest
from fastapi.routing import APIRoute

from consumers.alerts.alert import Alert
from consumers.review import queue, shifts
from consumers.rounds.index import ROUND_INDEX, facts_of, find
from consumers.rounds.search import Filters, dealer_errors, latest_findings, search, totals
from consumers.rulings.error_rates import ErrorsBy
from infra.postgres.alerts import Alerts
from infra.postgres.view_tables import reading
from ledger.facts import CameraMapped, DisputeRaised, FootageReleased
from ledger.record.wire import structured
from ledger.values import Source, format_time
from replay.recording.house_facts import build_fact, screen
from replay.text.times import in_file_name
from replay.web.routes import ROUTERS
from tests.fixtures.web import opened_site, people
from tests.footage.video_kinds import KINDS, write
from tests.scenes.dossiers import received
from tests.scenes.view_feeds import day, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from consumers.rounds.index import Round
    from infra.postgres.connection import Database
    from ledger.record.tape import Received, TapeRow
    from ledger.values import RoundId
    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Browser, Site

WITHHELD = "withheld: blind review"
WATCH_ONLY = "<b>Blind review.</b>"
ROLES = ("surveillance", "finance")
"""Finance too, so that both see every page there is."""

OF_ROUND = (
    (
        b"SELECT outcome, printed_row FROM views.ruling_settlements"
        b" WHERE (property, table_name, gaming_day, number) = (%s, %s, %s, %s)"
        b" ORDER BY printed_row NULLS LAST LIMIT 1"
    ),
    (
        b"SELECT max(paid) FROM views.round_wagers"
        b" WHERE (property, table_name, gaming_day, number) = (%s, %s, %s, %s)"
    ),
    (
        b"SELECT cards FROM views.find_hands"
        b" WHERE (property, table_name, gaming_day, number) = (%s, %s, %s, %s) LIMIT 1"
    ),
)
"""A settlement of a round with its printed row, the most paid on a wager, and a hand."""


class Review(NamedTuple):
    """A mispaid round that is disputed: who raised it, and the blind reviewer."""

    site: Site
    round: Round
    says: str  # the finding
    raiser: Browser
    reviewer: Browser
    case: str  # the address of the dispute

    @property
    def path(self) -> str:
        return f"/rounds/hollywood/{self.round.id.subject}"

    def send(self, who: Browser, path: str, **form: str) -> httpx.Response:
        return who.post(path, data={"csrf": who.csrf, **form})


@pytest.fixture
def review(scenes: Scenes, tmp_path: Path) -> Iterator[Review]:
    database, (round_, says, case) = scenes.copy(disputed)
    with opened_site(database, tmp_path) as site:
        raiser, reviewer = site.browser("raiser"), site.browser("reviewer")
        yield Review(site, round_, says, raiser, reviewer, case)


def disputed(database: Database) -> tuple[Round, str, str]:
    """Half an hour of a floor, its overpaid round disputed by one user for the other to review.

    The round, the finding, and the address of the dispute.
    """
    people(database)
    with TemporaryDirectory() as home, opened_site(database, Path(home)) as site:
        site.take_in(day(30, planted=1))
        site.add("raiser", *ROLES)
        site.add("reviewer", *ROLES)
        told = {found[0]: found[3] for found in latest_findings(database) if found[2] == "overpaid"}
        round_ = next(r for r in search(database, Filters(finding="overpaid")) if r.id in told)
        raiser = site.browser("raiser")
        form = {"round": str(round_.id), "position": "1", "claim": "Too little."}
        answer = raiser.post("/cases", data=form | {"csrf": raiser.csrf})
        assert answer.status_code == 303, answer.text
        return round_, told[round_.id], str(answer.headers["location"])


def results(who: Browser, **asked: str) -> str:
    answer = who.get("/", params=asked, headers={"X-Fragment": "results"})
    assert answer.status_code == 200, answer.text
    return answer.text


def money(cents: int | None) -> str:
    return f"${(cents or 0) / 100:,.2f}"


def asked_of_the_record(review: Review) -> Iterator[dict[str, str]]:
    """Searches that the round fits, each by something that its reviewer may not know."""
    yield {"finding": "overpaid"}
    yield {"finding": "any"}
    yield {"status": "completed"}
    yield {"sort": "amount"}
    yield {"sort": "difference"}
    for sentence in ("overpaid", "any finding", "paid > $0", f"seat {review.round.positions[0]}"):
        yield {"ask": sentence}
    yield {"position": str(review.round.positions[0])}
    yield {"wager": review.round.wagers[0]}
    key = tuple(review.round.id)
    with review.site.database.connect("ledger_owner") as connection:
        ruled, paid, cards = (connection.execute(query, key).fetchone() for query in OF_ROUND)
    assert ruled
    assert paid
    assert paid[0], "nothing was paid in the round"
    yield {"outcome": ruled[0]}
    yield {"amount": f"{paid[0] / 100:.2f}"}
    yield {"amount_min": "0.01"}
    if ruled[1]:
        yield {"row": ruled[1]}
    if cards:
        yield {"card": " ".join(card for card in cards[0] if card != "??")}


@pytest.mark.long
def test_no_search_by_what_is_on_record_tells_whether_a_withheld_round_fits(
    review: Review,
) -> None:
    link = f'href="{review.path}"'
    for asked in asked_of_the_record(review):
        narrowed = asked | {"table": review.round.id.table, "round": str(review.round.id.number)}
        assert link in results(review.raiser, **narrowed), asked
        blind = results(review.reviewer, **narrowed)
        assert link not in blind, asked
        assert "1 round that you must review blind is left out of this search" in blind
        same = results(review.reviewer, **(narrowed | {"round": "999999"}))
        same = same.replace("round=999999", f"round={review.round.id.number}")  # what was asked
        assert same == blind, "a round that does not fit is told otherwise"


def test_a_withheld_round_is_found_by_its_name_and_tells_nothing(review: Review) -> None:
    asked = {"round": review.round.id.subject}
    told, blind = results(review.raiser, **asked), results(review.reviewer, **asked)
    for secret in ("overpaid", f'class="figure">{money(review.round.paid)}'):
        assert secret in told
        assert secret not in blind
    assert f'href="{review.path}"' in blind
    assert WITHHELD in blind
    assert WITHHELD not in told


def test_neither_file_nor_sums_nor_near_misses_tell_of_a_withheld_round(review: Review) -> None:
    found = review.round
    for asked in ({"finding": "overpaid"}, {"round": found.id.subject}):
        told, blind = (
            who.get("/rounds.csv", params=asked).text for who in (review.raiser, review.reviewer)
        )
        assert f"{found.id.subject},hollywood,{found.game},completed" in told
        assert f"{found.id.subject},hollywood,{found.game},completed" not in blind
        lines = [line for line in blind.splitlines() if line.startswith(found.id.subject)]
        assert all(WITHHELD in line and ",,,,,,,,,,," in line for line in lines)
        assert bool(lines) == ("round" in asked)
    sums = re.compile(r"<b>\$([\d.,]+)</b> paid short · <b>\$([\d.,]+)</b> paid over")
    asked = {"table": found.id.table}
    of_all, of_others = (
        sums.findall(results(who, **asked)) for who in (review.raiser, review.reviewer)
    )
    without = totals(review.site.database, Filters(table=found.id.table, without=(found.id,)))
    assert of_others == [tuple(money(each)[1:] for each in (without.short, without.over))]
    assert of_all != of_others, "the control"
    near = {"ask": f"{found.id.table} overpaid dispute D-nothing-9"}
    assert f'href="{review.path}"' in results(review.raiser, **near), "the control"
    assert f'href="{review.path}"' not in results(review.reviewer, **near)


def test_a_dealers_errors_are_counted_without_a_withheld_round(review: Review) -> None:
    shown = results(review.raiser, round=review.round.id.subject)
    dealers = re.findall(r'href="/\?dealer=([^"&]+)"', shown)
    rounds, lines = dealer_errors(review.site.database, Filters(dealer=dealers[0]))
    hidden = Filters(dealer=dealers[0], without=(review.round.id,))
    less, fewer = dealer_errors(review.site.database, hidden)
    assert (less, sum(each.count for each in fewer)) < (rounds, sum(each.count for each in lines))
    assert f"errors found in {rounds:,} round" in results(review.raiser, dealer=dealers[0])
    blind = results(review.reviewer, dealer=dealers[0])
    assert f"errors found in {less:,} round" in blind
    assert "not counted here" in blind


@pytest.mark.long
def test_statistics_count_without_a_withheld_round(review: Review) -> None:
    """In every breakdown: no sum, no luck and no list has it, and the page says that."""
    for by in get_args(ErrorsBy):
        told, blind = (
            list(csv.DictReader(io.StringIO(who.get(f"/statistics.csv?by={by}&luck=1").text)))
            for who in (review.raiser, review.reviewer)
        )
        for name in ("settlements", "errors", "house_lost"):
            assert sum(int(row[name]) for row in blind) < sum(int(row[name]) for row in told)
        assert not any(row["z"] for row in blind)
        groups = [row["group"] for row in told if int(row["errors"])]
        for group in groups:
            address = f"/statistics?by={by}&name={quote(group)}&luck=1"
            shown = review.reviewer.get(address).text
            assert review.path not in shown
            assert "1 round that you must review blind is not counted here" in shown
        pages = [review.raiser.get(f"/statistics?by={by}&name={quote(g)}").text for g in groups]
        assert any(review.path in page for page in pages), "the control"


def test_the_floor_names_no_finding_alert_or_stage_of_a_withheld_round(review: Review) -> None:
    about = str(review.round.id)
    with review.site.database.connect("ledger_projector") as connection:
        for kind, says in (("payout", "A payout to look at."), ("finding", review.says)):
            alert = Alert(f"{kind}:1", kind, about, says, 1, 1, 1)
            Alerts(review.site.database, connection).raise_(
                alert.id, kind, msgspec.json.encode(alert).decode(), []
            )
    told, blind = (who.get("/live").text for who in (review.raiser, review.reviewer))
    for secret in ("A payout to look at.", "Mispaid or wrong card", review.says[:40]):
        assert secret in told, secret
        assert secret not in blind, secret
    assert "Any alerts and findings of 1 round that you must review blind are left out" in blind


def test_the_drop_of_a_withheld_rounds_table_tells_no_result(review: Review) -> None:
    asked = {"gaming_day": review.round.id.gaming_day, "table": review.round.id.table}
    told = review.raiser.get("/drop", params=asked).text
    blind = review.reviewer.get("/drop", params=asked).text
    result = re.compile(r'<th scope="row">Payouts from the table</th><td class="figure">([^<]+)<')
    assert result.findall(told)[0].startswith("$")
    assert result.findall(blind) == ["withheld"]
    assert WITHHELD in blind
    assert WITHHELD not in told
    others = [table for table in re.findall(r'href="#day-\d+">([^<]+)', told) if table]
    assert others == [review.round.id.table]
    everything = review.reviewer.get("/drop", params={"gaming_day": asked["gaming_day"]}).text
    assert everything.count("Withheld: blind review.") == 1, "another table's day is withheld too"


def test_the_win_of_a_withheld_rounds_table_tells_no_result(review: Review) -> None:
    asked = {"gaming_day": review.round.id.gaming_day}
    told = review.raiser.get("/win", params=asked).text
    blind = review.reviewer.get("/win", params=asked).text
    its = f'href="{review.path}"'
    assert its in told, "the overpayment is an item of the pay gap"
    assert its not in blind
    line = re.compile(rf">{review.round.id.table}</a>.*?</tr>", re.DOTALL)
    assert [each.count("withheld") for each in line.findall(blind)] == [5], "a tag and 4 figures"
    house = re.compile(r">House.*?</tr>", re.DOTALL)
    assert [each.count("withheld") for each in house.findall(blind)] == [4], "the rest would tell"
    assert blind.count("Withheld: blind review.") == 1
    assert "withheld" not in told


def test_what_was_paid_on_a_dispute_is_not_in_the_list_of_cases(review: Review) -> None:
    review.send(review.raiser, review.case, step="adjust", amount="12.34", paid_from="cage")
    assert "$12.34" in review.raiser.get("/cases").text
    blind = review.reviewer.get("/cases").text
    assert "$12.34" not in blind
    assert WITHHELD in blind


def test_a_round_is_withheld_from_when_a_dispute_is_on_record_not_from_when_the_view_has_it(
    review: Review,
) -> None:
    """As a command raises one: the fact is on record, and nobody has brought the view along."""
    other = next(
        each.id
        for each in search(review.site.database, Filters(limit=20))
        if each.id != review.round.id
    )
    path = f"/rounds/hollywood/{other.subject}?view=all"
    assert WATCH_ONLY not in review.reviewer.get(path).text
    body = DisputeRaised(dispute="D-cmd", round=other.subject, position=1, claim="x", by="S-9")
    record(review.site.database, [build_fact(body, screen("hollywood", "disputes"))])
    assert WATCH_ONLY in review.reviewer.get(path).text


@pytest.mark.long
def test_why_a_window_over_a_withheld_round_was_preserved_or_let_go_is_not_told(
    review: Review,
) -> None:
    round_ = review.round
    covers = CameraMapped(camera="C-9", table=round_.id.table, kind="stationary", covers=("table",))
    nvr = Source("hollywood", "surveillance", "nvr")
    began_us = round_.began_us or 0
    review.site.take_in([build_fact(covers, nvr, time_us=began_us - 60_000_000)])
    hour_us = 3_600_000_000
    shown = []
    for number, start_us in enumerate((began_us - 1_000_000, began_us - 9 * hour_us)):
        for of in ({"table": round_.id.table}, {"camera": "C-9"}):
            if number and "table" in of:
                continue  # the camera was on no table then
            times = {"from": format_time(start_us), "to": format_time(start_us + hour_us)}
            why = {"because": f"because-{number}-{len(of)}"}
            answer = review.send(review.raiser, "/cases/preserve", **of, **times, **why)
            assert answer.status_code == 303, answer.text
            path = str(answer.headers["location"])
            review.send(review.raiser, path, because=f"released-{number}")
            shown.append((number, path))
    for number, path in [*shown, (0, "/cases")]:
        told, blind = (who.get(path).text for who in (review.raiser, review.reviewer))
        for secret in (f"because-{number}", f"released-{number}"):
            assert secret in told, path
            assert (secret in blind) == bool(number), path
    assert "because-1" in review.reviewer.get("/cases").text, "a window of another time is withheld"


@pytest.mark.long
def test_a_window_over_a_withheld_round_is_not_let_go_by_its_reviewer_however_it_is_asked(
    review: Review,
) -> None:
    """A blind reviewer neither takes the evidence away nor learns from an answer of it."""
    round_ = review.round
    covers = CameraMapped(camera="C-9", table=round_.id.table, kind="stationary", covers=("table",))
    nvr = Source("hollywood", "surveillance", "nvr")
    began_us, hour_us = round_.began_us or 0, 3_600_000_000
    review.site.take_in([build_fact(covers, nvr, time_us=began_us - 10 * hour_us)])
    paths = []
    for start_us in (began_us - 1_000_000, began_us - 9 * hour_us):
        times = {"from": format_time(start_us), "to": format_time(start_us + hour_us)}
        asked = {"table": round_.id.table, **times, "because": "A fall."}
        answer = review.send(review.raiser, "/cases/preserve", **asked)
        assert answer.status_code == 303, answer.text
        paths.append(str(answer.headers["location"]))
    over, apart = paths
    letting_go = f'action="{over}"'
    assert letting_go in review.raiser.get(over).text
    assert letting_go not in review.reviewer.get(over).text
    for because in ("It may go.", "", " "):
        refused = review.send(review.reviewer, over, because=because)
        assert (refused.status_code, "Withheld: blind review." in refused.text) == (403, True)
        assert "A fall." not in refused.text
    assert review.send(review.reviewer, apart, because="It may go.").status_code == 303
    assert "It may go." in review.raiser.get(apart).text
    assert "It may go." not in review.raiser.get(over).text, "it was let go all the same"
    review.send(review.reviewer, review.case, step="observe", saw="A pair.")
    assert review.send(review.reviewer, over, because="It may go.").status_code == 303


@pytest.mark.long
def test_why_the_footage_of_a_dispute_was_let_go_is_told_to_who_knows_its_claim(
    review: Review,
) -> None:
    why = {"step": "release", "because": "It was a flush."}
    assert review.send(review.raiser, review.case, **why).status_code == 303
    own = FootageReleased(
        camera="C-1",
        from_="2026-11-20T15:00:00.000000Z",
        to="2026-11-20T15:01:00.000000Z",
        by="S-reviewer",
        because="I let it go.",
        dispute=review.case.rpartition("/")[2],
    )
    review.site.take_in([build_fact(own, screen("hollywood", "locks"))])
    told, blind = (who.get(review.case).text for who in (review.raiser, review.reviewer))
    assert "It was a flush." in told
    assert "It was a flush." not in blind
    assert WITHHELD in blind
    assert "I let it go." in blind, "what somebody wrote themselves they know"
    review.send(review.reviewer, review.case, step="observe", saw="A pair.")
    assert "It was a flush." in review.reviewer.get(review.case).text


def test_no_number_of_a_fact_tells_how_many_a_withheld_round_has(review: Review) -> None:
    asked = f"{review.path}?at=999"
    refused = review.raiser.get(asked)
    assert (refused.status_code, "The round has" in refused.text) == (404, True), "the control"
    blind = review.reviewer.get(asked)
    assert (blind.status_code, "The round has" in blind.text) == (200, False)
    assert WATCH_ONLY in blind.text


@pytest.mark.long
def test_no_dossier_is_made_of_a_withheld_round_by_any_of_its_names(review: Review) -> None:
    dispute = review.case.rpartition("/")[2]
    names = (str(review.round.id), review.round.id.subject, dispute, f"hollywood:{dispute}")
    for of in names:
        refused = review.reviewer.get("/dossiers/new", params={"of": of})
        assert (refused.status_code, "Withheld: blind review." in refused.text) == (403, True), of
        made = review.send(review.reviewer, "/dossiers", of=of, because="curious")
        assert made.status_code == 403, of
        assert review.raiser.get("/dossiers/new", params={"of": of}).status_code == 200, of
    assert (
        review.reviewer.get("/dossiers/new", params={"of": "T-9/2026-11-20/1"}).status_code == 200
    )


@pytest.mark.long
def test_no_dossier_is_made_of_a_withheld_round_by_a_dispute_that_is_named_as_another(
    review: Review,
) -> None:
    name = str(review.round.id._replace(number=999).subject)
    body = DisputeRaised(
        dispute=name, round=review.round.id.subject, position=1, claim="Mine.", by="S-raiser"
    )
    review.site.take_in([build_fact(body, screen("hollywood", "desk"))])
    asked = {"of": f"hollywood:{name}", "kind": "dispute"}
    assert review.raiser.get("/dossiers/new", params=asked).status_code == 200
    assert review.reviewer.get("/dossiers/new", params=asked).status_code == 403
    assert review.send(review.reviewer, "/dossiers", **asked, because="curious").status_code == 403
    unsaid = review.send(review.reviewer, "/dossiers", of=asked["of"], because="curious")
    assert unsaid.status_code >= 400
    case = f"/cases/hollywood/{name.replace('/', '%2F')}"
    assert '&amp;kind=dispute">dossier<' in review.raiser.get(case).text


def again(row: TapeRow, name: str) -> Received:
    """The same sent once more, as by a device that kept it back."""
    told = json.loads(structured(row))
    return received(json.dumps(told | {"id": f"{told['id']}-{name}"}).encode())


@pytest.mark.long
def test_no_dossier_of_a_neighbour_holds_what_was_told_of_a_withheld_round_in_between(
    review: Review,
) -> None:
    """A dossier proves its stretch of the tape, with the facts of others that lie in it."""
    own = review.round.id
    table = [each.id for each in search(review.site.database, Filters(table=own.table))]
    neighbour = max(table, key=lambda each: abs(each.number - own.number))
    of = {"of": str(neighbour)}
    assert review.reviewer.get("/dossiers/new", params=of).status_code == 200
    next_to_it = {"of": str(own._replace(number=own.number + 1))}
    kept_for_it = review.reviewer.get("/dossiers/new", params=next_to_it)
    assert kept_for_it.status_code == 403, "its custody record names the dispute"
    with reading(review.site.database, [each.name for each in ROUND_INDEX.tables]) as store:
        late, last = (facts_of(store, each)[-1] for each in (own, neighbour))
    review.site.take_in([again(last, "1"), again(late, "2"), again(last, "3")])
    refused = review.reviewer.get("/dossiers/new", params=of)
    assert (refused.status_code, "Withheld: blind review." in refused.text) == (403, True)
    made_ = review.send(review.reviewer, "/dossiers", **of, because="curious")
    assert made_.status_code == 403
    told = review.send(review.raiser, "/dossiers", **of, because="It is mine.")
    assert told.status_code == 200, told.text
    with zipfile.ZipFile(io.BytesIO(told.content)) as archive:
        between = next(name for name in archive.namelist() if name.endswith("between.jsonl"))
        assert own.subject.encode() in archive.read(between)


@pytest.mark.long
def test_no_dossier_of_a_neighbour_says_why_footage_of_a_withheld_round_was_preserved(
    review: Review,
) -> None:
    """Its custody record has the locks on its own footage, which a window may put on both."""
    own = review.round
    table = search(review.site.database, Filters(table=own.id.table))
    far = max(table, key=lambda each: abs((each.began_us or 0) - (own.began_us or 0)))
    of = {"of": str(far.id)}

    def preserved(*rounds: Round, because: str) -> None:
        times = [each.began_us or 0 for each in rounds]
        stretch = {"from": format_time(min(times)), "to": format_time(max(times) + 1_000_000)}
        asked = {"table": own.id.table, **stretch, "because": because}
        assert review.send(review.raiser, "/cases/preserve", **asked).status_code == 303

    preserved(far, because="A fall.")
    assert review.reviewer.get("/dossiers/new", params=of).status_code == 200
    preserved(far, own, because="Paid a push as a win.")
    assert review.reviewer.get("/dossiers/new", params=of).status_code == 403
    assert review.send(review.reviewer, "/dossiers", **of, because="curious").status_code == 403
    assert review.raiser.get("/dossiers/new", params=of).status_code == 200
    review.send(review.reviewer, review.case, step="observe", saw="A pair.")
    assert review.reviewer.get("/dossiers/new", params=of).status_code == 200


@pytest.mark.long
def test_a_case_that_somebody_knows_shows_no_record_while_another_of_the_round_is_blind(
    review: Review,
) -> None:
    mine = review.send(
        review.reviewer, "/cases", round=str(review.round.id), position="1", claim="My own."
    )
    page = review.reviewer.get(str(mine.headers["location"])).text
    assert "My own." in page
    assert "Withheld: blind review." in page
    for secret in ("Owed by the ruling", "Wager by wager", "is paid", "Facts of position"):
        assert secret not in page, secret
    review.send(review.reviewer, review.case, step="observe", saw="A pair.")
    assert "Owed by the ruling" in review.reviewer.get(str(mine.headers["location"])).text


def visited(review: Review) -> dict[str, str]:
    """An address of every page, by its route."""
    subject, (property_, dispute) = review.round.id.subject, review.case.split("/")[2:]
    rest = f"hollywood/{subject}"
    watch = "/watch/{property_}/{table}/{day}/{number}"
    plain = {path: path for path in pages() if "{" not in path}
    return plain | {
        "/": "/?limit=200",
        "/live/table": f"/live/table?property=hollywood&table={review.round.id.table}",
        "/live/back": f"/live/back?property=hollywood&table={review.round.id.table}",
        "/live/picture": "/live/picture?property=hollywood&camera=none",
        "/rounds.csv": "/rounds.csv?finding=any",
        "/find": "/find?limit=200",
        "/drop": f"/drop?gaming_day={review.round.id.gaming_day}",
        "/win": f"/win?gaming_day={review.round.id.gaming_day}",
        "/win/fact": _fact_path(review),
        "/approvals/{property_}/{name}": _request_of(review),
        "/cases/new": f"/cases/new?round={review.round.id}",
        "/cases/{property_}/{dispute:path}": f"/cases/{property_}/{dispute}",
        "/rounds/{property_}/{table}/{day}/{number}": f"/rounds/{rest}?finding=overpaid&view=all",
        "/rounds/{property_}/{table}/{day}/{number}/tables": f"/rounds/{rest}/tables?view=all",
        watch: f"/watch/{rest}",
        f"{watch}/strip.jpg": f"/watch/{rest}/strip.jpg?camera=none",
        "/rounds/{property_}/{table}/{day}/{number}/picture.jpg": f"/rounds/{rest}/picture.jpg",
        "/review/footage/{name}": f"/review/footage/{_name_of(review)}",
        "/review/picture/{name}.jpg": f"/review/picture/{_name_of(review)}.jpg",
        "/import/{upload}": f"{_import_of(review)}?property=hollywood&camera=CC-07-A",
        "/import/uploads/{upload}": _import_of(review).replace("import", "import/uploads"),
        "/dossiers/new": f"/dossiers/new?of={review.round.id}",
        "/shift/{property_}/{name:path}": _shift_of(review),
        "/shift/{property_}/{name:path}.pdf": f"{_shift_of(review)}.pdf",
    }


def _shift_of(review: Review) -> str:
    """The page of an open shift of the one who raised the dispute."""
    who = review.raiser
    who.post("/shift", data={"csrf": who.csrf, "step": "begin", "property": "hollywood"})
    [shift] = shifts.shifts(review.site.database)
    return f"/shift/hollywood/{shift.shift}"


def _request_of(review: Review) -> str:
    """The page of a request to close the round's day, of the one who raised the dispute."""
    who, day = review.raiser, review.round.id.gaming_day
    form = {"csrf": who.csrf, "property": "hollywood", "gaming_day": day, "despite": "Now."}
    return who.post("/win", data=form).headers["Location"]


def _import_of(review: Review) -> str:
    """The report of a file that the reviewer has sent, of the time of the withheld round."""
    database = review.site.database
    with reading(database, [each.name for each in ROUND_INDEX.tables]) as store:
        began_us = find(store, review.round.id).began_us
    path = review.site.ports.library.home / f"{in_file_name(began_us)}.mp4"
    write(path, KINDS["gop60"], 12)
    who, octets = review.reviewer, path.read_bytes()
    form = {"csrf": who.csrf, "name": path.name, "size": str(len(octets))}
    upload = who.post("/import/uploads", data=form).json()["upload"]
    headers = {"Content-Type": "application/octet-stream", "X-CSRF-Token": who.csrf}
    who.put(f"/import/uploads/{upload}?offset=0", content=octets, headers=headers)
    return f"/import/{upload}"


NOTHING_OF_ROUNDS = (
    "/account",
    "/entry",
    "/sign-in",
    "/session",
    "/setup",
    "/footage/",
    "/preserved/",
)
"""Routes that show nothing of a round's record."""


def pages() -> set[str]:
    """Every route that may show something of a round's record."""
    routes = {
        route.path
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and "GET" in route.methods
    }
    return {path for path in routes if not path.startswith(NOTHING_OF_ROUNDS)}


def test_every_page_there_is_is_looked_at_here(review: Review) -> None:
    assert pages() == set(visited(review))


@pytest.mark.long
def test_no_page_tells_a_reviewer_what_was_found_until_it_was_observed(review: Review) -> None:
    for route, path in visited(review).items():
        assert review.says[:40] not in review.reviewer.get(path).text, route
        assert f"{review.path}?at=" not in review.reviewer.get(path).text, route
    told = [route for route, path in visited(review).items() if _tells(review.raiser, path, review)]
    assert {"/live", "/rounds/{property_}/{table}/{day}/{number}"} <= set(told), "the control"
    review.send(review.reviewer, review.case, step="observe", saw="Two pairs, paid as three.")
    after = [
        route for route, path in visited(review).items() if _tells(review.reviewer, path, review)
    ]
    assert after == told
    assert WITHHELD not in review.reviewer.get("/").text


def _fact_path(review: Review, of: RoundId | None = None) -> str:
    """The address of the last fact of the withheld round, or of another one."""
    with reading(review.site.database, [each.name for each in ROUND_INDEX.tables]) as store:
        last = facts_of(store, of or review.round.id)[-1]
    return f"/win/fact?source={quote(last.source)}&id={quote(last.id, safe='')}"


def test_a_fact_of_a_withheld_round_is_no_page_for_its_reviewer(review: Review) -> None:
    path = _fact_path(review)
    own = review.round.id
    others = search(review.site.database, Filters(table=own.table))
    other = next(each.id for each in others if each.id != own)
    refused = review.reviewer.get(path)
    assert (refused.status_code, "Withheld: blind review." in refused.text) == (403, True)
    assert review.raiser.get(path).status_code == 200
    assert review.reviewer.get(_fact_path(review, other)).status_code == 200
    review.send(review.reviewer, review.case, step="observe", saw="Two pairs.")
    assert review.reviewer.get(path).status_code == 200


def _name_of(review: Review) -> str:
    """The name of the withheld finding, as one who may see it has it."""
    found = queue.of_round(review.site.database, review.round.id)
    return next(each.name for each in found if each.says == review.says)


def _tells(who: Browser, path: str, review: Review) -> bool:
    return review.says[:40] in who.get(path).text


@pytest.mark.parametrize("role", ["auditor", "finance"])
def test_who_reviews_nothing_sees_everything(review: Review, role: str) -> None:
    who = review.site.browser(role)
    assert f'href="{review.path}"' in results(who, finding="overpaid")
    assert WITHHELD not in who.get("/drop").text


def test_a_resolved_dispute_withholds_nothing(review: Review) -> None:
    review.send(review.raiser, review.case, step="resolve", outcome="Dismissed.")
    assert f'href="{review.path}"' in results(review.reviewer, finding="overpaid")


def test_who_raises_one_of_their_own_is_not_told_where_a_withheld_round_was_played(
    review: Review,
) -> None:
    asked = {"round": str(review.round.id), "position": "77", "claim": "They passed me over"}
    told = review.send(review.raiser, "/cases", **asked)
    assert (told.status_code, "played positions" in told.text) == (422, True), "the control"
    assert review.send(review.reviewer, "/cases", **asked).status_code == 303


def test_a_bookmark_of_a_withheld_round_is_on_no_page_of_its_reviewer(review: Review) -> None:
    says, own = "Paid as three of a kind.", "What I saw myself."
    with reading(review.site.database, [each.name for each in ROUND_INDEX.tables]) as store:
        last_us = max(row.time_us for row in facts_of(store, review.round.id))
    form = {"from_us": str(last_us), "to_us": str(last_us + 19_000_000)}
    marked = review.send(review.raiser, "/bookmarks", round=str(review.round.id), text=says, **form)
    assert marked.status_code == 303, marked.text
    refused = review.send(
        review.reviewer, "/bookmarks", round=str(review.round.id), text=own, **form
    )
    assert refused.status_code == 403
    after = review.round.id._replace(number=review.round.id.number + 1)
    pages_ = [f"/rounds/hollywood/{after.subject}", review.path, review.case]
    assert [says in review.raiser.get(each).text for each in pages_] == [True] * 3, "the control"
    assert [says in review.reviewer.get(each).text for each in pages_] == [False] * 3
    review.send(review.reviewer, "/bookmarks", round=str(after), text=own, **form)
    assert own in review.reviewer.get(pages_[0]).text, "what they marked themselves stays"
    review.send(review.reviewer, review.case, step="observe", saw="Two pairs, paid as three.")
    assert [says in review.reviewer.get(each).text for each in pages_] == [True] * 3
