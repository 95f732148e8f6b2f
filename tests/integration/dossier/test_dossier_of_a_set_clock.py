"""A dossier across the moment at which a camera's clock was set: a clip for each side of it.

Four segments of 120 pictures each; the clock is set at the beginning of the third. What is asked
for lasts from the middle of the second to that of the third, by the house's clock.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import tape_source
from ledger.facts import (
    CameraMapped,
    FootageLocked,
    RoundCompleted,
    RoundStarted,
    SegmentRecorded,
)
from ledger.record.wire import fact_of
from ledger.values import Source, format_time, parse_time
from replay.cameras.clocks import to_camera
from replay.cameras.coverage import coverage
from replay.cameras.custody import span_on
from replay.cameras.cutting import Cut, CutWindow
from replay.disputes.preserved_windows import lock_ids, window_name
from replay.dossier import service
from replay.dossier.service import VIEWS, found_for, write_found
from replay.dossier.signing import keys as signing
from replay.footage.clips.clips import SegmentCut
from replay.footage.library.index import FootageIndex
from replay.recording.house_facts import build_fact
from tests.scenes.set_clock import MS, SEGMENT, SET_AT, T0, S, filmed, pictures
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from replay.dossier.gathering.found import Gathered
    from tests.fixtures.dossier import Made

FROM, TO = T0 + 2 * S, T0 + 6 * S
SUBJECT = "CC-07/2026-11-20/1"
SEGMENTS = range(-1, 3)
FIRST_US = T0 - SET_AT
"""When picture 0 was taken."""

SEEN = set(range(180, 300))
"""The pictures taken in the time asked for."""

SINCE_1601_S = 11_644_473_600


class Handed(NamedTuple):
    """A dossier as it lies there: its manifest, its facts, and the result of its check."""

    folder: Path
    listed: list[dict[str, str]]
    said: str


@pytest.fixture
def library(tmp_path: Path) -> FootageIndex:
    return FootageIndex(tmp_path / "home")


def take_in(database: Database, library: FootageIndex, folder: Path, by_us: int) -> str:
    """A round over the moment, and a window that preserves it, on record; the window's name."""
    nvr, shoe = Source("hollywood", "surveillance", "nvr"), Source("hollywood", "CC-07", "shoe")
    mapped = CameraMapped(camera="A", table="CC-07", kind="stationary", covers=("table",))
    told = [build_fact(mapped, nvr, time_us=T0 - 60 * S)]
    told += [
        build_fact(body, nvr, time_us=at) for body, at in filmed(library, folder, by_us, SEGMENTS)
    ]
    told += [
        build_fact(body, shoe, subject=SUBJECT, time_us=at_us)
        for body, at_us in ((RoundStarted(game="criss_cross_poker"), FROM), (RoundCompleted(), TO))
    ]
    name = window_name(FROM, TO)
    camera, from_us, to_us = span_on(coverage(map(fact_of, told)), "hollywood", "A", FROM, TO)
    lock = FootageLocked(
        camera=camera, table="CC-07", from_=format_time(from_us), to=format_time(to_us),
        by="S-2001", because="A fall.",
    )  # fmt: skip
    locks = Source("hollywood", "surveillance", "locks")
    (id_,) = lock_ids(name, 1)
    told.append(build_fact(lock, locks, time_us=TO + 60 * S, id=id_))
    install(database)
    record(database, told)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    return name


def handed_over(
    database: Database, of: str, library: FootageIndex, folder: Path, made: Made
) -> Handed:
    """The dossier of it without footage around, which holds."""
    keys = folder / "keys"
    key = signing.make(keys, "Hollywood", dt.datetime(2026, 11, 20, tzinfo=dt.UTC)).public.hex()
    found, wanted = found_for(database, of, library)
    asked = wanted._replace(by="S-2001", pre_s=0, post_s=0)
    write_found(database, found, folder / "d", asked, keys, library=library)
    code, said = made.checked(folder / "d", key=key)
    assert code == 0, said
    listed = json.loads((folder / "d/manifest.json").read_bytes())["footage"]
    return Handed(folder / "d", listed, said)


def starts_us(film: Path) -> int:
    """When, by its ONVIF boxes, the first picture was taken (UTC)."""
    octets = film.read_bytes()
    at = octets.index(b"cstb") + 4 + 8
    return int.from_bytes(octets[at : at + 8], "big") // 10 - SINCE_1601_S * S


def clips_of(handed: Handed) -> list[dict[int, int]]:
    """For each clip the numbers of its pictures, and how far off its ONVIF start has each, us."""
    found = []
    for each in sorted(each["path"] for each in handed.listed if each["kind"] == "clip"):
        film = handed.folder / each
        shown = pictures(film, starts_us(film))
        found.append({n: at_us - FIRST_US - n * S // 30 for n, (at_us, _) in shown.items()})
    return found


def segments_go_out(database: Database, handed: Handed, *, alone: bool) -> None:
    """Every segment that shows any of it is copied whole, and marked so; `alone`: no other is."""
    found, _ = found_for(database, f"hollywood:{SUBJECT}", None)
    bodies = [fact_of(row).body for row in found.camera_rows]
    due = [
        each for each in bodies
        if isinstance(each, SegmentRecorded) and each.path in ("A/0.mp4", "A/1.mp4")
    ]  # fmt: skip
    originals = {each["sha256"] for each in handed.listed if each["kind"] == "original"}
    assert originals >= {each.sha256 for each in due}
    assert len(originals) == 2 or not alone
    custody = csv.DictReader((handed.folder / "custody.csv").read_text().splitlines())
    (told,) = [each for each in custody if each["what"] == "exported"]
    starts = [parse_time(each.start) or 0 for each in due]
    assert (parse_time(told["from_camera_clock"]) or 0) <= min(starts)
    ends = [start + each.duration_us for start, each in zip(starts, due, strict=True)]
    assert (parse_time(told["to_camera_clock"]) or 0) >= max(ends)


@pytest.mark.long
@pytest.mark.parametrize("by_us", [-3 * S, 3 * S], ids=["back", "forward"])
@pytest.mark.parametrize("of", ["round", "window"])
def test_a_dossier_has_a_clip_of_each_side_and_each_picture_at_its_own_time(
    database: Database, library: FootageIndex, tmp_path: Path, made: Made, of: str, by_us: int
) -> None:
    window = take_in(database, library, tmp_path, by_us)
    handed = handed_over(
        database, window if of == "window" else f"hollywood:{SUBJECT}", library, tmp_path, made
    )
    before, after = clips_of(handed)
    assert set(before) | set(after) >= SEEN
    assert (max(before), min(after)) == (2 * SEGMENT - 1, 2 * SEGMENT)
    assert all(abs(off_us) <= 2 * MS for off_us in (*before.values(), *after.values()))
    says = [each["says"] for each in handed.listed if each["kind"] == "clip"]
    how = "back" if by_us < 0 else "forward"
    for number, each in enumerate(sorted(says, key=lambda one: "Piece 2" in one), 1):
        assert f"Piece {number} of 2, " in each
        when = "between 2026-11-20T18:40:03.900Z and 2026-11-20T18:40:04.100Z"
        assert f"Its clock was set {how} by 3.000 s {when}" in each
    report = (handed.folder / "report.html").read_text()
    assert "Piece 1 of 2" in report
    assert "Piece 2 of 2" in report
    assert handed.said.count("has a valid ONVIF signature") == 2
    segments_go_out(database, handed, alone=of == "round")


def as_one(found: Gathered, pre_s: int, post_s: int) -> list[Cut]:
    """One stretch, from what the clock showed at the first fact to what it showed at the last."""
    assert (pre_s, post_s) == (0, 0)
    camera = coverage(map(fact_of, found.camera_rows)).cameras["hollywood", "A"]
    assert camera.clock
    from_us, to_us = (to_camera(camera.clock, at_us).time_us for at_us in (FROM, TO))
    stretches = [
        SegmentCut(each.body.sha256, max(from_us, each.start_us) - each.start_us,
                min(to_us, each.end_us) - each.start_us)
        for each in camera.segments if each.start_us < to_us and each.end_us > from_us
    ]  # fmt: skip
    return [Cut("A", CutWindow(from_us, to_us, 0, 0), tuple(stretches), ())]


@pytest.mark.long
@pytest.mark.parametrize("by_us", [-3 * S, 3 * S], ids=["back", "forward"])
def test_one_clip_over_the_moment_lacks_pictures_or_has_them_at_a_wrong_time(
    database: Database,
    library: FootageIndex,
    tmp_path: Path,
    made: Made,
    monkeypatch: pytest.MonkeyPatch,
    by_us: int,
) -> None:
    """The negative control: its check holds, because the signer says what a clip shows."""
    take_in(database, library, tmp_path, by_us)
    monkeypatch.setattr(service, "cuts_of", as_one)
    handed = handed_over(database, f"hollywood:{SUBJECT}", library, tmp_path, made)
    (shown,) = clips_of(handed)
    right = {number for number, off_us in shown.items() if abs(off_us) <= 2 * MS}
    assert len(SEEN - right) >= 30
