"""Live pictures over HTTP: for whom, recorded first, by names that are looked up, and blind."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from consumers.floor import table_board
from infra.postgres.connection import Database
from ledger.simulate import deal, line, plan_of
from ledger.values import parse_round
from replay.footage.live.ring import KEPT_S
from replay.web.live import table
from tests.fixtures.web import opened_site, people, taken_in
from tests.footage.rtsp_server import PASSWORD, USER, Camera, camera, film, serving
from tests.scenes.view_feeds import received
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from tests.fixtures.postgres import Scenes
    from tests.fixtures.screen import Screened
    from tests.fixtures.web import Browser, Site

TABLE, CAMERA = "CC-01", "CC-01-cam1"
AT_TABLE = {"property": "hollywood", "table": TABLE}
OF_CAMERA = {"property": "hollywood", "camera": CAMERA}


def dealt(database: Database) -> None:
    """A few minutes of a floor with a user of each role."""
    people(database)
    plan = plan_of(minutes=6, tables=2, seed=3)
    facts, _ = deal(plan)
    taken_in(database, [received(line(plan, fact)) for fact in facts])


@contextmanager
def filmed(scenes: Scenes, home: Path, url: str, *others: str) -> Iterator[Site]:
    """The floor, with a live picture of one camera, and of others that are on no table."""
    database, _ = scenes.copy(dealt)
    home.mkdir(exist_ok=True)
    file = home / "cameras.toml"
    lines = [f'{name} = "{url}"\n' for name in (CAMERA, *others)]
    file.write_text(f"[hollywood]\n{''.join(lines)}")
    with opened_site(database, home, LIVE_CAMERAS_FILE=str(file)) as site:
        yield site


@pytest.fixture
def nobody(scenes: Scenes, tmp_path: Path) -> Iterator[Site]:
    """The floor with a camera that does not answer."""
    with filmed(scenes, tmp_path, f"rtsp://{USER}:{PASSWORD}@127.0.0.1:9/a", "CC-01-spare") as site:
        yield site


def picture(who: Browser, **more: str | int) -> httpx.Response:
    return who.get("/live/picture", params={**OF_CAMERA, **more})


@pytest.mark.long
def test_a_film_comes_in_parts_that_go_on_where_the_last_one_ended(
    scenes: Scenes, tmp_path: Path
) -> None:
    behaves = Camera(film(60), asks=True)
    with (
        serving(camera(behaves)) as recorder,
        filmed(scenes, tmp_path, recorder.url.replace("//", f"//{USER}:{PASSWORD}@")) as site,
    ):
        who = site.browser("surveillance")
        assert picture(who).status_code in (200, 204)
        until(lambda: picture(who).status_code == 200)
        first = picture(who)
        assert first.headers["content-type"] == "video/mp4"
        assert first.headers["cache-control"] == "no-store"
        assert first.content[4:8] == b"ftyp"
        told = {"film": first.headers["x-live-film"], "after": first.headers["x-live-number"]}
        until(lambda: picture(who, **told).status_code == 200)
        after = picture(who, **told)
        assert (after.headers["x-live-begins"], after.content[4:8]) == ("no", b"moof")
        assert int(after.headers["x-live-number"]) > int(told["after"])
        back = picture(who, back=30)
        assert back.content[4:8] == b"ftyp"
        assert len(back.content) >= len(first.content)
        figures = who.get("/metrics").text
        assert "round_ledger_live_cameras_connected 1.0" in figures
        for path in ("/live", f"/live/table?property=hollywood&table={TABLE}", "/metrics"):
            answer = who.get(path)
            assert PASSWORD not in answer.text + str(answer.headers)
            assert "rtsp:" not in answer.text


def test_a_view_is_recorded_once_before_anything_is_sent(nobody: Site) -> None:
    who, other = nobody.browser("surveillance"), nobody.browser("auditor")
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert who.get("/live/picture", params=OF_CAMERA, headers=elsewhere).status_code == 403
    for _ in range(3):
        assert picture(who).status_code == 204
    assert picture(other).status_code == 204
    with nobody.database.connect("ledger_reader") as connection:
        rows = connection.execute(
            "SELECT state FROM ledger.tape WHERE topic = 'footage_viewed.v1' ORDER BY 1"
        ).fetchall()
    told = sorted(re.findall(r'"by":"([^"]+)"', "".join(bytes(row[0]).decode() for row in rows)))
    assert told == ["S-auditor", "S-surveillance"]


def test_a_camera_that_does_not_answer_says_so_in_one_line(nobody: Site) -> None:
    who = nobody.browser("surveillance")
    until(lambda: picture(who).headers["x-live-says"] != "connecting")
    assert picture(who).headers["x-live-says"] == "it cannot be reached: Connection refused"


@pytest.mark.parametrize(
    "names",
    [
        {"property": "hollywood", "camera": "CC-01-spare"},  # with an address, on no table
        {"property": "hollywood", "camera": "TDF-01-cam1"},  # on a table, without an address
        {"property": "desert", "camera": CAMERA},
        {"property": "hollywood", "camera": "rtsp://127.0.0.1/a"},
        {"property": "hollywood", "camera": "../../etc/passwd"},
    ],
)
def test_only_cameras_of_tables_that_the_operator_gave_an_address_are_shown(
    nobody: Site, names: dict[str, str]
) -> None:
    answer = nobody.browser("surveillance").get("/live/picture", params=names)
    assert answer.status_code == 404
    assert nobody.ports.live.figures().wanted == 0


def test_a_table_s_page_names_its_cameras_without_a_live_picture(nobody: Site) -> None:
    who = nobody.browser("surveillance")
    none = who.get("/live/table", params={"property": "hollywood", "table": "TDF-01"}).text
    assert "No live picture of TDF-01-cam1, TDF-01-cam2: no address is set for them" in none
    assert 'class="picture"' not in none
    assert 'id="unset"' not in who.get("/live/table", params=AT_TABLE).text


def test_who_may_not_see_footage_gets_neither_pictures_nor_money_on_live(nobody: Site) -> None:
    shown, not_shown = (nobody.browser(role).get("/live").text for role in ("auditor", "ops"))
    for part in ('class="picture"', "30 s back", "wagered"):
        assert part in shown
        assert part not in not_shown
    assert TABLE in not_shown


def test_a_withheld_round_s_money_is_in_no_answer(nobody: Site) -> None:
    for name in ("raiser", "reviewer"):
        nobody.add(name, "surveillance")
    raiser, reviewer = nobody.browser("raiser"), nobody.browser("reviewer")
    [board] = table_board.read(nobody.database, property="hollywood", table=TABLE)
    form = {"round": f"hollywood:{board.round}", "position": "3", "claim": "Too little."}
    assert raiser.post("/cases", data=form | {"csrf": raiser.csrf}).status_code == 303
    nobody.take_in([])
    part = {"X-Fragment": "money"}
    for path, headers in ((f"/live/table?property=hollywood&table={TABLE}", part), ("/live", {})):
        told = reviewer.get(path, headers=headers).text
        assert "withheld: blind review" in told
        its = told if part is headers else told.partition("TDF-01")[0]
        assert "$205.00" not in told
        assert "wagered" not in its
        assert "$205.00" in raiser.get(path, headers=headers).text, "the control"


def test_30_s_back_is_what_is_kept_while_no_footage_of_then_is_at_hand(nobody: Site) -> None:
    who = nobody.browser("surveillance")
    answer = who.get("/live/back", params=AT_TABLE)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/live/table?property=hollywood&table=CC-01&back=30"
    assert 'data-back="30"' in who.get(answer.headers["location"]).text
    assert who.get("/live/back", params={**AT_TABLE, "table": "XX-99"}).status_code == 404
    assert KEPT_S > table.BACK_S


@pytest.mark.long
def test_30_s_back_is_the_player_where_footage_of_then_is_at_hand(
    screened: Screened, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = parse_round(screened.subject, "hollywood")
    assert of is not None
    record = Database(screened.database_url, screened.database_url)
    with opened_site(record, screened.folder / "home") as site:
        [moment, *_] = [each.time_us for each in site.ports.rounds.told(of).story.facts[5:]]
        monkeypatch.setattr(table.time, "time_ns", lambda: (moment + 30_000_000) * 1_000)
        who = site.browser("maria")
        answer = who.get("/live/back", params={"property": "hollywood", "table": of.table})
        assert answer.status_code == 303
        assert answer.headers["location"] == f"{screened.round_path}#time={moment}"
