"""Clips of a dossier told one by one: which carry an ONVIF signature, and why others cannot."""

from __future__ import annotations

import datetime as dt
import shutil
from typing import TYPE_CHECKING, NamedTuple

import av
import pytest

from replay.cli.dossier_clips import NOT_IN_MP4
from replay.dossier import signing
from replay.dossier.evidence import Clip
from replay.dossier.making import write_dossier
from replay.dossier.onvif import Export, sign
from replay.footage.adding import Told, add
from replay.footage.clips import Stretch, clip
from replay.footage.library import Library
from tests.dossiers import CAMERA, HOUSE, SHA256, evidence, redone
from tests.video_kinds import KINDS, Kind, decoded, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_dossier import Made

NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
START_US = 1_795_000_000_000_000
EXPORT = Export("Round Ledger", "S-2001", START_US, CAMERA, START_US)
AV1 = Kind("webm", "libsvtav1", {"preset": "10", "svtav1-params": "rc=1"})
S = 1_000_000


class Three(NamedTuple):
    """A dossier with a signed clip, one of VP8, and one that nobody had a key for."""

    folder: Path
    mp4: str
    webm: str
    keyless: str


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Three:
    place = tmp_path_factory.mktemp("three")
    write(place / "cut.mp4", KINDS["gop60"], frames=30)
    write(place / "vp8.webm", KINDS["vp8"], frames=30)
    signer = signing.make(place / "keys", "Hollywood", NOW).clips
    assert signer
    sign(place / "cut.mp4", place / "signed.mp4", EXPORT, signer)
    clips = [
        Clip(CAMERA, place / "signed.mp4", [SHA256], "Cut.", None),
        Clip(CAMERA, place / "vp8.webm", [SHA256], "Cut.", NOT_IN_MP4),
        Clip(CAMERA, place / "cut.mp4", [SHA256], "Cut."),
    ]
    write_dossier(evidence(place)._replace(clips=clips), place / "d", signer=HOUSE)
    return Three(place / "d", "clips/signed.mp4", "clips/vp8.webm", "clips/cut.mp4")


@pytest.mark.parametrize("name", ["vp9", "av1"])
def test_a_clip_of_webm_that_mp4_can_store_is_mp4_with_the_same_frames(
    tmp_path: Path, name: str
) -> None:
    library = Library(tmp_path / "home")
    path = tmp_path / "0.webm"
    write(path, KINDS.get(name, AV1), 90, start_ms=START_US // 1000)
    (added,) = add(library, [path], Told("hollywood", "CC-07-A", START_US))
    assert added.entry, added.problem
    assert added.entry.playable
    assert added.entry.playable.container == "webm"
    made = clip(library, [Stretch(added.entry.sha256, 0, 3 * S)])
    assert (made.container, made.derived) == ("mp4", False)
    out = library.home / made.path
    assert len(decoded(out)) == 90
    assert [code for _, code in decoded(out)] == [code for _, code in decoded(path)]
    assert any(code for _, code in decoded(out))
    with av.open(str(out)) as film, av.open(str(path)) as source:
        packets, before = (
            [bytes(packet) for packet in each.demux(video=0) if packet.size]
            for each in (film, source)
        )
    assert len(packets) == len(before)
    assert sum(a == b for a, b in zip(packets, before, strict=True)) >= len(packets) - 1


def test_a_clip_of_vp8_stays_webm(tmp_path: Path) -> None:
    library = Library(tmp_path / "home")
    write(tmp_path / "0.webm", KINDS["vp8"], 60, start_ms=START_US // 1000)
    (added,) = add(library, [tmp_path / "0.webm"], Told("hollywood", "CC-07-A", START_US))
    assert added.entry
    assert clip(library, [Stretch(added.entry.sha256, 0, S)]).container == "webm"


def test_the_check_says_of_each_clip_whether_it_is_signed_and_why_not(
    made: Made, three: Three
) -> None:
    code, said = made.checked(three.folder)
    assert code == 0, said
    assert f"{three.mp4} carries an ONVIF signature, which fits its every octet" in said
    assert (
        f"{three.webm} carries no ONVIF signature: VP8 cannot be stored in ISO BMFF, which such a "
        "file must be. It is covered by the manifest" in said
    )
    assert f"{three.keyless} carries no ONVIF signature: There was no key for clips." in said
    report = (three.folder / "report.html").read_text()
    assert "It carries an ONVIF signature." in report
    assert "It carries no ONVIF signature: VP8 cannot be stored in ISO BMFF" in report


@pytest.mark.parametrize(
    ("name", "clip_of", "change", "expected"),
    [
        ("a bit of the film", "mp4", "bit", "carries an ONVIF signature that does not fit"),
        ("unsigned film instead", "mp4", "keyless", "is listed as carrying an ONVIF signature"),
        ("signed film instead", "keyless", "mp4", "is listed as without an ONVIF signature"),
    ],
)
def test_a_clip_exchanged_by_whoever_has_the_houses_key_is_named(
    made: Made, three: Three, tmp_path: Path, name: str, clip_of: str, change: str, expected: str
) -> None:
    """The list is signed anew, so that only the clip itself can tell."""
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
