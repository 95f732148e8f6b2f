"""Clips of a dossier, one by one: which carry an ONVIF signature, and why others cannot."""

from __future__ import annotations

import datetime as dt
import shutil
from typing import TYPE_CHECKING, NamedTuple

import av
import pytest

from replay.dossier.signing import keys
from replay.dossier.signing.onvif import Export, check, sign
from replay.dossier.writing.evidence import EvidenceClip
from replay.dossier.writing.making import write_dossier
from replay.footage.clips.clips import SegmentCut, clip
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.footage.video_kinds import KINDS, Kind, decoded, write
from tests.scenes.dossiers import CAMERA, HOUSE, SHA256, evidence, redone
from tests.suite.budget import rest_long

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.dossier import Made

NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
START_US = 1_795_000_000_000_000
EXPORT = Export("Round Ledger", "S-2001", START_US, CAMERA, START_US)
AV1 = Kind("webm", "libsvtav1", {"preset": "10", "svtav1-params": "rc=1"})
S = 1_000_000


class Three(NamedTuple):
    """A dossier with a signed clip, one in WebM, and one that nobody had a key for."""

    folder: Path
    mp4: str
    webm: str
    keyless: str


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Three:
    place = tmp_path_factory.mktemp("three")
    write(place / "cut.mp4", KINDS["gop60"], frames=30)
    write(place / "vp8.webm", KINDS["vp8"], frames=30)
    signer = keys.make(place / "keys", "Hollywood", NOW).clips
    assert signer
    sign(place / "cut.mp4", place / "signed.mp4", EXPORT, signer)
    clips = [
        EvidenceClip(CAMERA, place / "signed.mp4", [SHA256], "Cut.", None),
        EvidenceClip(CAMERA, place / "vp8.webm", [SHA256], "Cut.", "It was cut elsewhere."),
        EvidenceClip(CAMERA, place / "cut.mp4", [SHA256], "Cut."),
    ]
    write_dossier(evidence(place)._replace(clips=clips), place / "d", signer=HOUSE)
    return Three(place / "d", "clips/signed.mp4", "clips/vp8.webm", "clips/cut.mp4")


@pytest.mark.parametrize("name", rest_long(["vp8", "vp9", "av1"], everyday={"av1"}))
def test_a_clip_of_webm_is_mp4_with_the_same_frames(tmp_path: Path, name: str) -> None:
    library = FootageIndex(tmp_path / "home")
    path = tmp_path / "0.webm"
    write(path, KINDS.get(name, AV1), 30, start_ms=START_US // 1000)
    (added,) = add(library, [path], FootageDetails("hollywood", "CC-07-A", START_US))
    assert added.entry, added.problem
    assert added.entry.playable
    assert added.entry.playable.container == "webm"
    made = clip(library, [SegmentCut(added.entry.sha256, 0, S)])
    assert (made.container, made.derived) == ("mp4", False)
    out = library.home / made.path
    assert len(decoded(out)) == 30
    assert [code for _, code in decoded(out)] == [code for _, code in decoded(path)]
    assert any(code for _, code in decoded(out))
    after, before = packets(out), packets(path)
    assert len(after) == len(before)
    assert sum(a == b for a, b in zip(after, before, strict=True)) >= len(after) - 1


def packets(path: Path) -> list[bytes]:
    with av.open(str(path)) as film:
        return [bytes(packet) for packet in film.demux(video=0) if packet.size]


@pytest.mark.long
def test_a_clip_of_vp8_over_two_segments_keeps_every_packet_and_time_and_is_signed(
    tmp_path: Path,
) -> None:
    library, entries = FootageIndex(tmp_path / "home"), []
    for number in range(2):
        path, at_us = tmp_path / f"{number}.webm", START_US + number * 1_500_000
        write(path, KINDS["vp8"], 30, start_ms=at_us // 1000)
        (added,) = add(library, [path], FootageDetails("hollywood", "CC-07-A", at_us))
        assert added.entry, added.problem
        entries.append(added.entry)
    made = clip(library, [SegmentCut(entry.sha256, 0, S) for entry in entries])
    assert (made.container, made.derived, made.frames) == ("mp4", False, 60)
    signer = keys.make(tmp_path / "keys", "Hollywood", NOW).clips
    assert signer
    sign(library.home / made.path, tmp_path / "signed.mp4", EXPORT, signer)
    codes = [code for entry in entries for _, code in decoded(entry.path)]
    assert len(codes) == 60
    for film in (library.home / made.path, tmp_path / "signed.mp4"):
        shown = decoded(film)
        assert [code for _, code in shown] == codes
        assert [us for us, _ in shown] == [
            round(us, -3) + number * 1_500_000
            for number, entry in enumerate(entries)
            for us in entry.times.pts_us
        ]
    assert packets(library.home / made.path) == [
        each for entry in entries for each in packets(entry.path)
    ]
    assert check(tmp_path / "signed.mp4").good


def test_the_check_says_of_each_clip_whether_it_is_signed_and_why_not(
    made: Made, three: Three
) -> None:
    code, said = made.checked(three.folder)
    assert code == 0, said
    assert f"{three.mp4} has a valid ONVIF signature over its every byte" in said
    assert (
        f"{three.webm} has no ONVIF signature: it is not an ISO BMFF file, as the format "
        "requires. The manifest covers it" in said
    )
    assert f"{three.keyless} has no ONVIF signature: There was no key for clips." in said
    report = (three.folder / "report.html").read_text()
    assert "It has an ONVIF signature." in report
    assert "It has no ONVIF signature: It was cut elsewhere." in report


@pytest.mark.parametrize(
    ("name", "clip_of", "change", "expected"),
    [
        ("a bit of the film", "mp4", "bit", "has an ONVIF signature that is not valid"),
        ("unsigned film instead", "mp4", "keyless", "is listed with an ONVIF signature"),
        ("signed film instead", "keyless", "mp4", "is listed without an ONVIF signature"),
    ],
)
def test_a_clip_exchanged_by_whoever_has_the_houses_key_is_named(
    made: Made, three: Three, tmp_path: Path, name: str, clip_of: str, change: str, expected: str
) -> None:
    """The list is signed again, so that only the clip itself can tell."""
    folder = tmp_path / "d"
    shutil.copytree(three.folder, folder)
    path = folder / getattr(three, clip_of)
    if change == "bit":
        octets = bytearray(path.read_bytes())
        octets[octets.index(b"mdat") + 900] ^= 1
        path.write_bytes(octets)
    else:
        path.write_bytes((folder / getattr(three, change)).read_bytes())
    redone(folder, by=HOUSE)
    code, said = made.checked(folder)
    assert (code, expected in said) == (1, True), (name, said)


def test_one_bit_anywhere_in_a_signed_clip_is_seen_by_the_checker_alone(
    made: Made, three: Three, tmp_path: Path
) -> None:
    octets = (three.folder / three.mp4).read_bytes()
    verify = made.verify
    for place in range(7, len(octets), len(octets) // 40):
        changed = bytearray(octets)
        changed[place] ^= 1 << (place % 8)
        (tmp_path / "clip.mp4").write_bytes(changed)
        package = verify.Package(tmp_path, {"clip.mp4": len(octets)}, None)
        found = verify.signature_of(package, "clip.mp4")
        assert found is None or not verify.fits(package, "clip.mp4", found), place
