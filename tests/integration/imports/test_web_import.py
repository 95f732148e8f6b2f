"""The page Import: a file comes in pieces, is reported, and is put on record or removed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ledger.errors import NotFound, Refused, Usage
from ledger.facts import SegmentRecorded
from ledger.record.wire import fact_of
from replay.cameras.intake import uploads as kept
from replay.cameras.intake.uploads import FOLDER, KEPT_S, PIECE_OCTETS_MAX, UploadStore
from replay.web.page import FORM_OCTETS_MAX
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.fixtures.web import Browser, Site

OCTETS = {"Content-Type": "application/octet-stream"}


class Sender(NamedTuple):
    """A browser that sends files as the page's script does."""

    browser: Browser

    def begin(self, name: str, size: int) -> httpx.Response:
        form = {"csrf": self.browser.csrf, "name": name, "size": str(size)}
        return self.browser.post("/import/uploads", data=form)

    def put(self, upload: str, offset: int, octets: bytes, **headers: str) -> httpx.Response:
        sent = OCTETS | {"X-CSRF-Token": self.browser.csrf} | headers
        address = f"/import/uploads/{upload}?offset={offset}"
        return self.browser.put(address, content=octets, headers=sent)

    def whole(self, path: Path, piece: int = 10_000) -> str:
        octets = path.read_bytes()
        upload = str(self.begin(path.name, len(octets)).json()["upload"])
        for at in range(0, len(octets), piece):
            assert self.put(upload, at, octets[at : at + piece]).status_code == 200
        return upload

    def act(self, upload: str, step: str, **more: str) -> httpx.Response:
        form = {"csrf": self.browser.csrf, "step": step} | more
        return self.browser.post(f"/import/{upload}", data=form)


@pytest.fixture
def sender(staffed: Site) -> Sender:
    return Sender(staffed.browser("surveillance"))


def segments(site: Site) -> list[SegmentRecorded]:
    bodies = [fact_of(row).body for row in site.ports.tape.read(0, 1_000)]
    return [body for body in bodies if isinstance(body, SegmentRecorded)]


@pytest.mark.long
def test_a_file_comes_in_pieces_is_reported_and_is_put_on_record(
    staffed: Site, sender: Sender, tmp_path: Path
) -> None:
    path = tmp_path / "CC-07 2026-11-20_18-40-00.mp4"
    write(path, KINDS["gop60"], 30)
    upload = sender.whole(path)
    page = sender.browser.get(f"/import/{upload}").text
    for said in ("h264 480x272", "30 in 1.000 s", "constant", "not on record"):
        assert said in page
    assert "Put on record as" not in page  # no camera is named
    asked = {"property": "hollywood", "camera": "CC-07-A"}
    page = sender.browser.get(f"/import/{upload}", params=asked).text
    assert "CC-07-A is mapped to no table" in page
    assert segments(staffed) == []
    mapped = sender.act(upload, "map", table="CC-07", since="2026-11-20T00:00:00Z", **asked)
    assert "CC-07-A is mapped." in mapped.text
    assert "is mapped to no table" not in mapped.text
    done = sender.act(upload, "record", **asked)
    assert "is on record as footage of CC-07-A" in done.text
    [segment] = segments(staffed)
    assert (segment.camera, segment.frames) == ("CC-07-A", 30)
    assert segment.start == "2026-11-20T18:40:00.000000Z"
    [entry] = staffed.ports.library.entries("CC-07-A")
    assert staffed.ports.library.whole(entry)
    assert entry.path.read_bytes() == path.read_bytes()
    assert path.name not in sender.browser.get("/import").text
    assert "may be on record already" in sender.act(upload, "cancel").text
    assert entry.path.exists()


def test_a_piece_follows_what_is_here_and_nothing_else_is_written(
    staffed: Site, sender: Sender
) -> None:
    told = sender.begin("a.mp4", 30).json()
    upload = told["upload"]
    folder = staffed.ports.library.home / FOLDER / upload
    assert (told["offset"], told["size"]) == (0, 30)
    assert sender.put(upload, 0, b"x" * 10).json()["offset"] == 10
    for offset, octets in ((0, b"y"), (11, b"y"), (10, b"y" * 21), (10, b"")):
        answer = sender.put(upload, offset, octets)
        assert (answer.status_code, answer.json()["offset"]) == (409, 10)
    assert sender.put(upload, 10, b"z" * 20).json()["offset"] == 30
    [file] = [path for path in folder.iterdir() if path.name != "upload.json"]
    assert file.read_bytes() == b"x" * 10 + b"z" * 20
    assert sender.put(upload, 30, b"y").status_code == 409
    assert sender.browser.get(f"/import/uploads/{upload}").json()["offset"] == 30


def test_a_piece_may_be_larger_than_a_form_and_only_as_bytes_of_an_upload(sender: Sender) -> None:
    large = FORM_OCTETS_MAX + 1
    upload = sender.begin("a.mp4", 9 << 20).json()["upload"]
    assert sender.put(upload, 0, b"x" * large).json()["offset"] == large
    as_form = sender.put(
        upload, large, b"x" * large, **{"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert as_form.status_code == 413
    assert sender.put(upload, large, b"x" * (PIECE_OCTETS_MAX + 1)).status_code == 413
    other = sender.browser.post("/log", content=b"x" * large, headers=OCTETS)
    assert other.status_code == 413


def test_nobody_sends_without_the_token_or_to_another_users_upload(
    staffed: Site, sender: Sender
) -> None:
    upload = sender.begin("a.mp4", 30).json()["upload"]
    assert sender.put(upload, 0, b"x", **{"X-CSRF-Token": ""}).status_code == 403
    assert sender.put(upload, 0, b"x", **{"X-CSRF-Token": "wrong"}).status_code == 403
    assert sender.put(upload, 0, b"x", **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    staffed.add("second", "surveillance")
    other = Sender(staffed.browser("second"))
    assert other.put(upload, 0, b"x").status_code == 404
    assert other.browser.get(f"/import/{upload}").status_code == 404
    assert other.act(upload, "cancel").status_code == 404
    assert sender.browser.get(f"/import/uploads/{upload}").json()["offset"] == 0


@pytest.mark.parametrize(
    "name", ["../../../../etc/passwd.mp4", "..\\..\\boot.mp4", "/etc/cron.d/20261120T184000Z.mp4"]
)
def test_a_name_is_text_and_leads_nowhere(staffed: Site, sender: Sender, name: str) -> None:
    home = staffed.ports.library.home
    upload = sender.begin(name, 30).json()["upload"]
    assert sender.put(upload, 0, b"x" * 30).status_code == 200
    [file] = [path for path in (home / FOLDER / upload).iterdir() if path.suffix == ".mp4"]
    assert re.fullmatch(r"[a-z]{24}_(20261120T184000Z)?\.mp4", file.name)
    page = sender.browser.get(f"/import/{upload}")
    assert "its content is not WebM" in page.text


def test_an_upload_is_cancelled_and_its_bytes_are_gone(staffed: Site, sender: Sender) -> None:
    upload = sender.begin("a.mp4", 30).json()["upload"]
    sender.put(upload, 0, b"x" * 10)
    assert sender.act(upload, "cancel").headers["Location"] == "/import"
    assert not (staffed.ports.library.home / FOLDER / upload).exists()
    assert sender.put(upload, 10, b"x").status_code == 404


def test_what_is_not_on_record_is_removed_after_its_time_and_nothing_else(tmp_path: Path) -> None:
    store = UploadStore(tmp_path)
    old, taken, new = (store.begin("maria", f"{name}.mp4", 9, 0.0) for name in "abc")
    store.set_state(taken, "taking")
    now_s = 1_800_000_000.0
    for each, age in ((old, KEPT_S + 1), (taken, KEPT_S + 1), (new, KEPT_S - 1)):
        os.utime(store.path(each), (now_s - age, now_s - age))
    store.remove_old(now_s)
    assert {each.id for each in store.every()} == {taken.id, new.id}
    with pytest.raises(NotFound):
        store.find(old.id, "maria")


def test_what_the_disk_cannot_hold_is_refused_before_a_byte_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = kept.shutil._ntuple_diskusage(100, 0, 60)  # type: ignore[attr-defined]
    monkeypatch.setattr(kept.shutil, "disk_usage", lambda _: free)
    store = UploadStore(tmp_path, free_octets_min=10)
    store.begin("maria", "a.mp4", 30, 0.0)
    with pytest.raises(Refused, match="no room"):
        store.begin("maria", "b.mp4", 21, 0.0)  # 30 of 50 are promised
    store.begin("maria", "b.mp4", 20, 0.0)
    for size in (0, 9 << 30):
        with pytest.raises(Usage):
            store.begin("maria", "c.mp4", size, 0.0)


def test_two_senders_do_not_write_one_file_at_once(tmp_path: Path) -> None:
    store = UploadStore(tmp_path)
    upload = store.begin("maria", "a.mp4", 30, 0.0)
    with (
        store.appending(upload, 0, 10),
        pytest.raises(Refused, match="being sent"),
        store.appending(upload, 0, 10),
    ):
        pass
