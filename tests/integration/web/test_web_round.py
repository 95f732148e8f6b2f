"""The round page and its footage over HTTP: what it says without scripts, and who may see what."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from typing import TYPE_CHECKING

import pytest

from ledger.values import format_time
from replay.footage.decoding.decoder import Job, decode
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.fixtures.screen import Screened


@pytest.fixture(scope="module")
def maria(screened: Screened) -> Iterator[httpx.Client]:
    with screened.client("maria") as client:
        yield client


@pytest.fixture(scope="module")
def segment(screened: Screened) -> str:
    """The SHA-256 of a segment of the round."""
    entries = screened.library.entries()
    return max(entries, key=lambda entry: entry.duration_us).sha256


@pytest.mark.long
def test_the_page_lists_every_fact_and_shows_the_table_where_the_finding_is(
    screened: Screened, maria: httpx.Client
) -> None:
    answer = maria.get(screened.round_path)
    assert answer.status_code == 200
    said = answer.text
    facts = screened.cli("replay", f"hollywood:{screened.subject}", "--json").json[:-1]
    assert len(re.findall(r'<li id="fact=\d+"', said)) == len(facts)
    named = [
        n for n, each in enumerate(facts, 1) if each["id"] == screened.planted["facts"][0]["id"]
    ]
    assert f'Table after fact <span id="at-number">{named[0]}</span>' in said
    assert "overpaid" in said
    assert "661a.8" in said
    assert "<svg" in said


@pytest.mark.long
def test_without_scripts_another_fact_is_an_address(
    screened: Screened, maria: httpx.Client
) -> None:
    first, later = (maria.get(f"{screened.round_path}?at={n}").text for n in (1, 9))
    assert 'id="at-number">1<' in first
    assert 'id="at-number">9<' in later
    assert '<li id="fact=9" class="fact' in later
    assert first != later


@pytest.mark.long
def test_a_fact_or_a_round_that_is_not_there_is_not_found(
    screened: Screened, maria: httpx.Client
) -> None:
    assert maria.get(f"{screened.round_path}?at=999").status_code == 404
    assert maria.get("/rounds/hollywood/TDF-01/2026-11-20/99999").status_code == 404
    assert maria.get(f"{screened.round_path}?at=0").status_code == 422


@pytest.mark.long
def test_pictures_of_every_fact_come_at_once_and_may_be_kept_by_version(
    screened: Screened, maria: httpx.Client
) -> None:
    page = maria.get(screened.round_path).text
    version = json.loads(page.split('id="round-data">')[1].split("</script>")[0])["version"]
    answer = maria.get(f"{screened.round_path}/tables", params={"v": version})
    assert "immutable" in answer.headers["Cache-Control"]
    assert len(answer.json()) == len(re.findall(r'<li id="fact=\d+"', page))
    stale = maria.get(f"{screened.round_path}/tables", params={"v": "another"})
    assert stale.headers["Cache-Control"] == "no-store"
    assert maria.get(f"{screened.round_path}/tables", params={"view": "all"}).json() != []


@pytest.mark.long
def test_footage_comes_whole_and_in_ranges_with_its_type(
    screened: Screened, maria: httpx.Client, segment: str
) -> None:
    whole = maria.get(f"/footage/{segment}")
    assert whole.headers["Content-Type"] == "video/webm"
    copy = screened.library.entry(segment).playable  # type: ignore[union-attr] # added above
    assert copy
    assert hashlib.sha256(whole.content).hexdigest() == copy.sha256
    part = maria.get(f"/footage/{segment}", headers={"Range": "bytes=100-199"})
    assert part.status_code == 206
    assert part.content == whole.content[100:200]
    assert part.headers["Content-Range"] == f"bytes 100-199/{len(whole.content)}"


@pytest.mark.long
def test_an_exact_frame_comes_as_png_with_its_hash(
    screened: Screened, maria: httpx.Client, segment: str
) -> None:
    answer = maria.get(f"/footage/{segment}/frames/7.png")
    entry = screened.library.entry(segment)
    assert entry
    wanted = decode([Job(str(entry.path), segment, (7,))])[0].frames[0]
    assert answer.headers["X-Frame-SHA256"] == wanted.sha256
    assert hashlib.sha256(answer.content).hexdigest() == wanted.sha256
    assert answer.headers["X-Frame-PTS-US"] == str(entry.times.pts_us[7])
    assert maria.get(f"/footage/{segment}/frames/100000.png").status_code == 404


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [
        "/footage/" + "0" * 64,
        "/footage/" + "0" * 64 + "/index",
        "/footage/" + "0" * 64 + "/frames/0.png",
        "/footage/..%2F..%2Fhome%2Fsettings",
        "/footage/%2Fetc%2Fpasswd",
        "/footage/http:%2F%2Fexample.org%2Fx.mp4",
    ],
)
def test_only_segments_of_the_index_are_ever_opened(maria: httpx.Client, path: str) -> None:
    assert maria.get(path).status_code in (404, 422)


@pytest.mark.long
def test_finance_reads_the_round_and_sees_no_footage_and_no_patron(
    screened: Screened, segment: str
) -> None:
    with screened.client("fred") as fred:
        said = fred.get(screened.round_path).text
        assert "Owed and paid" in said
        assert "Your role may not see footage" in said
        assert not re.search(r"\bP-[0-9a-f]{8}\b", said)
        assert '"sha":"' not in said.split('"cameras":[')[1]
        for path in ("", "/index", "/frames/0.png"):
            assert fred.get(f"/footage/{segment}{path}").status_code == 403


@pytest.mark.long
def test_nobody_who_is_not_signed_in_gets_anything(screened: Screened, segment: str) -> None:
    import httpx as plain  # noqa: PLC0415 - one without a session

    for path in (f"/footage/{segment}", f"{screened.round_path}/tables"):
        assert plain.get(screened.url + path).status_code == 401
    page = plain.get(screened.url + screened.round_path, headers={"Accept": "text/html"})
    assert page.status_code in (302, 303)


@pytest.mark.long
def test_who_is_to_look_before_being_told_gets_cameras_and_nothing_of_the_record(
    screened: Screened, maria: httpx.Client
) -> None:
    before = len(screened.told("footage_viewed.v1"))
    said = maria.get(screened.round_path.replace("/rounds/", "/watch/", 1)).text
    assert said.count('data-camera="') == 2
    for word in ("overpaid", "Extra Point", 'class="fact', "$", '"facts"', "table-picture"):
        page = said.split("<main")[1].split("</main>")[0]
        assert word not in page, word
    because = {each["because"] for each in screened.told("footage_viewed.v1")[before:]}
    assert because == {f"round {screened.subject} watched without the record on the screen"}
    with screened.client("fred") as fred:
        path = screened.round_path.replace("/rounds/", "/watch/", 1)
        assert fred.get(path).status_code == 403


def clip_form(page: str, **more: object) -> dict[str, object]:
    told = json.loads(page.split('id="round-data">')[1].split("</script>", maxsplit=1)[0])
    token = page.split('name="csrf" value="')[1].split('"', maxsplit=1)[0]
    name = page.split('name="round" value="')[1].split('"', maxsplit=1)[0]
    facts = told["facts"]
    usual = {
        "csrf": token, "round": name, "from_us": facts[-3]["t"], "to_us": facts[-1]["t"],
        "because": "dispute of position 5", "camera": [told["cameras"][0]["name"]],
    }  # fmt: skip
    return usual | more


@pytest.mark.long
def test_a_clip_is_copied_out_by_who_may_and_with_a_reason(
    screened: Screened, maria: httpx.Client
) -> None:
    page = maria.get(screened.round_path).text
    answer = maria.post("/clips", data=clip_form(page))
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer.headers["Content-Disposition"]
    assert hashlib.sha256(answer.content).hexdigest() == answer.headers["X-Clip-SHA256"]
    for nothing in ("", "\u200b\u2060"):
        without = clip_form(page, because=nothing)
        assert maria.post("/clips", data=without).status_code == 422
    far = clip_form(page, from_us=0)
    assert maria.post("/clips", data=far).status_code == 422
    assert maria.post("/clips", data=clip_form(page, csrf="wrong")).status_code == 403


@pytest.mark.long
def test_clips_of_several_cameras_come_in_one_zip_that_says_what_they_are(
    screened: Screened, maria: httpx.Client
) -> None:
    page = maria.get(screened.round_path).text
    answer = maria.post("/clips", data=clip_form(page, camera=["TDF-01-cam1", "TDF-01-cam2"]))
    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as bundle:
        told = json.loads(bundle.read("clips.json"))["clips"]
        assert [each["camera"] for each in told] == ["TDF-01-cam1", "TDF-01-cam2"]
        assert min(each["later_us"] for each in told) == 0
        for its in told:
            assert its["clip"]["way"] == "copy"
            assert its["clip"]["sources"]
            octets = bundle.read(its["clip"]["path"])
            assert hashlib.sha256(octets).hexdigest() == its["clip"]["sha256"]
            assert its["plus_minus_ms"] > 0


@pytest.mark.long
def test_a_camera_without_footage_of_the_stretch_is_listed_as_missing_and_holds_up_no_other(
    screened: Screened, maria: httpx.Client
) -> None:
    page = maria.get(screened.round_path).text
    assert maria.post("/clips", data=clip_form(page, camera=["dark"])).status_code == 404
    answer = maria.post("/clips", data=clip_form(page, camera=["TDF-01-cam1", "dark"]))
    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as bundle:
        assert len(bundle.namelist()) == 2
        there, dark = json.loads(bundle.read("clips.json"))["clips"]
    assert there["clip"]["path"] in bundle.namelist()
    assert (dark["camera"], dark["clip"]) == ("dark", None)
    assert dark["missing"] == [[dark["from"], dark["to"]]]


@pytest.mark.long
def test_an_auditor_sees_footage_and_copies_none_out(screened: Screened) -> None:
    with screened.client("ada") as ada:
        page = ada.get(screened.round_path).text
        assert "data-camera=" in page
        assert ada.post("/clips", data=clip_form(page)).status_code == 403


@pytest.mark.long
def test_opening_a_round_is_on_record_once_a_camera_and_not_once_a_range(
    screened: Screened, segment: str
) -> None:
    with screened.client("maria") as client:
        before = screened.told("footage_viewed.v1")
        client.get(screened.round_path)
        opened = screened.told("footage_viewed.v1")[len(before) :]
        assert [each["camera"] for each in opened] == ["TDF-01-cam1", "TDF-01-cam2"]
        assert {each["by"] for each in opened} == {"S-2001"}
        assert all(screened.subject in each["because"] for each in opened)
        for start in range(0, 5000, 500):
            client.get(f"/footage/{segment}", headers={"Range": f"bytes={start}-{start + 99}"})
        client.get(f"/footage/{segment}/frames/3.png")
        assert len(screened.told("footage_viewed.v1")) == len(before) + len(opened)


@pytest.mark.long
def test_footage_opened_by_its_address_alone_is_on_record_too(screened: Screened) -> None:
    screened.add_person("olga", "A-2", "auditor")  # has seen nothing yet, whatever ran before
    segment = screened.library.entries()[0]
    address = f"/footage/{segment.sha256}"
    with screened.client("olga") as olga:
        assert olga.get(f"{address}/index").status_code == 200
        answer = olga.get(address)
        olga.get(address)
    views = [each for each in screened.told("footage_viewed.v1") if each["by"] == "A-2"]
    assert [(each["camera"], each["from"], each["because"]) for each in views] == [
        (segment.camera, format_time(segment.start_us), "opened by its address on the screen")
    ]
    assert answer.headers["Vary"] == "Cookie", "kept by the browser for this session alone"


@pytest.mark.long
def test_what_was_copied_out_is_on_record_with_who_and_why(
    screened: Screened, maria: httpx.Client
) -> None:
    before = screened.told("footage_exported.v1")
    page = maria.get(screened.round_path).text
    maria.post("/clips", data=clip_form(page, because="a letter from the patron"))
    (told,) = screened.told("footage_exported.v1")[len(before) :]
    assert told["by"] == "S-2001"
    assert told["because"].startswith("a letter from the patron")
    assert told["from"] < told["to"]


@pytest.mark.long
def test_a_file_that_was_altered_since_is_not_shown(screened: Screened) -> None:
    entry = min(screened.library.entries(), key=lambda each: each.duration_us)
    kept = entry.path.read_bytes()
    try:
        entry.path.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
        with screened.client("maria") as client:
            answer = client.get(f"/footage/{entry.sha256}", headers={"Accept": "*/*"})
            assert answer.status_code == 422
            assert "no longer has the recorded bytes" in answer.json()["error"]
    finally:
        entry.path.write_bytes(kept)


@pytest.mark.long
def test_footage_that_is_added_later_is_seen_without_a_restart(
    screened: Screened, maria: httpx.Client
) -> None:
    """No fact reports a file put in its place, so what was read is not kept long.

    The round after the filmed one has footage of its beginning alone, so it is looked for again.
    """
    last = max(screened.library.entries("TDF-01-cam1"), key=lambda entry: entry.start_us).sha256
    place = screened.folder / f"home/footage-index/entries/{last[:2]}/{last}.json"
    away = screened.folder / "away.json"
    before, _, number = screened.round_path.rpartition("/")
    says = "no file in the footage folder has its bytes"

    def wait_for(*, missing: bool) -> None:
        page = f"{before}/{int(number) + 1}"
        until(lambda: (says in maria.get(page).text) is missing)

    wait_for(missing=False)
    place.rename(away)
    try:
        wait_for(missing=True)
    finally:
        away.rename(place)
    wait_for(missing=False)


@pytest.mark.long
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_view_that_another_sites_page_asks_for_is_refused_and_not_recorded(
    screened: Screened, segment: str, site: str
) -> None:
    name = f"lured-{site}"
    screened.add_person(name, f"L-{site}", "surveillance")
    watch = screened.round_path.replace("/rounds/", "/watch/")
    footage = f"/footage/{segment}"
    addresses = (screened.round_path, watch, footage, f"{footage}/index", f"{footage}/frames/1.png")

    def views() -> int:
        return [each["by"] for each in screened.told("footage_viewed.v1")].count(f"L-{site}")

    with screened.client(name) as lured:
        for address in addresses:
            answer = lured.get(address, headers={"Sec-Fetch-Site": site})
            assert answer.status_code == 403, address
            assert f'href="{address}"' in answer.text, "the way to open it oneself"
        assert lured.get(footage, headers={"Accept": "*/*", "Sec-Fetch-Site": site}).json()["hint"]
        assert views() == 0
        for own in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            before = views()
            assert lured.get(screened.round_path, headers=own).status_code == 200
            assert views() > before, "the control"
