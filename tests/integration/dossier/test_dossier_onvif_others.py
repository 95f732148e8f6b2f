"""Signed clips under programs that are not ours: FFmpeg's reader of boxes, and OpenSSL's RSA.

FFmpeg lists every box where the specification has it. OpenSSL takes the key out of the certificate
by itself. It verifies the bytes that the specification names. It also verifies those that ONVIF's
own reference player (oxfplayer 2.0) hashes, which reads the last box in one piece.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import re
import shutil
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import av
import av.error
import av.logging
import pytest

from replay.dossier.signing import keys
from replay.dossier.signing.onvif import Export, sign
from tests.footage.video_kinds import KINDS, decoded, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
EXPORT = Export("Round Ledger", "S-2001", 1_795_000_000_123_456, "CC-07", 1_794_999_940_000_000)
_BOX = re.compile(r"type:'(.{4})' parent:'(.{4})' sz: (\d+) (\d+) \d+")


class Box(NamedTuple):
    """A box as FFmpeg reports it: its whole size, and where its payload begins in its parent."""

    kind: str
    parent: str
    size: int
    payload: int


class Signed(NamedTuple):
    clip: Path
    path: Path


@pytest.fixture(scope="module", params=["gop60", "fragmented", "vp9"])
def signed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Signed:
    folder = tmp_path_factory.mktemp("others")
    write(folder / "clip.mp4", KINDS[request.param]._replace(format="mp4"), frames=60)
    signer = keys.make(folder / "keys", "Hollywood", NOW).clips
    assert signer
    sign(folder / "clip.mp4", folder / "signed.mp4", EXPORT, signer)
    return Signed(folder / "clip.mp4", folder / "signed.mp4")


@pytest.fixture
def openssl() -> str:
    found = shutil.which("openssl")
    if found is None:
        pytest.skip("no openssl: `apt install openssl`")
    return found


@pytest.fixture(autouse=True)
def quiet_again() -> Iterator[None]:
    yield
    av.logging.set_level(None)


def listed(octets: bytes) -> list[Box]:
    """The boxes of a file as FFmpeg reads them, each once."""
    av.logging.set_level(av.logging.TRACE)
    alone = suppress(av.error.InvalidDataError)  # boxes without a film
    with av.logging.Capture() as logs, alone:
        av.open(io.BytesIO(octets), format="mp4").close()
    found = [_BOX.search(text) for _, _, text in logs]
    told = [Box(m[1], m[2], int(m[3]), int(m[4])) for m in found if m]
    return list(dict.fromkeys(told))


def of(boxes: list[Box], parent: str) -> list[str]:
    return [each.kind for each in boxes if each.parent == parent]


def one(boxes: list[Box], kind: str, parent: str) -> Box:
    (found,) = [each for each in boxes if (each.kind, each.parent) == (kind, parent)]
    return found


def sinf_of(octets: bytes) -> bytes:
    """The protection scheme, put behind the file's first box so that FFmpeg looks into it."""
    boxes = listed(octets)
    meta = one(boxes, "meta", "root")
    ipro = one(boxes, "ipro", "meta")
    assert meta.payload + meta.size - 8 <= len(octets)
    at = meta.payload + 4 + ipro.payload  # FFmpeg counts from after version and flags
    assert octets[at - 4 : at] == b"ipro"
    assert octets[at : at + 6] == bytes(4) + b"\0\1"  # protection_count shall be 1
    ftyp = int.from_bytes(octets[:4], "big")
    return octets[:ftyp] + octets[at + 6 : at + ipro.size - 8]


def places(octets: bytes) -> dict[str, tuple[int, int]]:
    """The places where FFmpeg finds signature and certificate."""
    whole = sinf_of(octets)
    boxes = listed(whole)
    sinf, schi = one(boxes, "sinf", "root"), one(boxes, "schi", "sinf")
    before = octets.index(whole[sinf.payload :])  # the payload of sinf, in the file
    found = {}
    for kind in ("sibo", "cert"):
        box = one(boxes, kind, "schi")
        start = before + schi.payload + box.payload
        found[kind] = (start, start + box.size - 8)
    return found


def test_ffmpeg_finds_every_box_where_the_specification_has_it(signed: Signed) -> None:
    octets = signed.path.read_bytes()
    boxes = listed(octets)
    top = of(boxes, "root")
    assert top.count("meta") == 1
    assert top[-1] == ("mfra" if "mfra" in top else "meta")
    assert [each for each in top if each != "meta"] == of(listed(signed.clip.read_bytes()), "root")
    meta = one(boxes, "meta", "root")
    assert octets[meta.payload - 4 : meta.payload] == b"meta"
    inside = [each for each in boxes if each.parent == "meta" and each.kind in ("suep", "ipro")]
    assert [each.kind for each in inside] == ["suep", "ipro"]
    suep = inside[0]
    at = meta.payload + 4 + suep.payload
    assert octets[at - 4 : at + 4] == b"suep" + bytes.fromhex("01000000")  # version 1, no flags
    scheme = listed(sinf_of(octets))
    assert of(scheme, "root") == ["ftyp", "sinf"]
    assert of(scheme, "sinf") == ["cstb", "schm", "schi"]
    assert of(scheme, "schi") == ["sibo", "cert"]
    schm = one(scheme, "schm", "sinf")
    assert schm.size == 8 + 4 + 8
    assert b"schm" + bytes(4) + bytes.fromhex("6F656666 00010000") in octets


def test_ffmpeg_decodes_the_same_film_with_and_without_the_seal(signed: Signed) -> None:
    frames = decoded(signed.path)
    assert len(frames) == 60
    assert frames == decoded(signed.clip)


def test_openssl_verifies_with_the_key_it_takes_from_the_certificate(
    signed: Signed, openssl: str, tmp_path: Path
) -> None:
    octets = signed.path.read_bytes()
    found = places(octets)
    (first, last), (begin, end) = found["sibo"], found["cert"]
    zeroed = octets[:first] + bytes(last - first) + octets[last:]
    assert verified(openssl, tmp_path, octets[first:last], octets[begin:end], zeroed)
    changed = bytearray(zeroed)
    changed[len(changed) // 2] ^= 1
    assert not verified(openssl, tmp_path, octets[first:last], octets[begin:end], bytes(changed))
    assert not verified(openssl, tmp_path, octets[first:last], octets[begin:end], octets)


def test_the_reference_players_way_of_reading_gives_the_same_digest(
    signed: Signed, openssl: str, tmp_path: Path
) -> None:
    """Up to `meta`, then pieces as long as `meta`, each with zeros where the signature stands."""
    octets = signed.path.read_bytes()
    meta = one(listed(octets), "meta", "root")
    start, (first, last) = meta.payload - 8, places(octets)["sibo"]
    hashed = hashlib.sha256(octets[:start])
    for at in range(start, len(octets), meta.size):
        piece = bytearray(octets[at : at + meta.size])
        for place in range(first - start, min(last - start, len(piece))):
            piece[place] = 0
        hashed.update(piece)
    zeroed = octets[:first] + bytes(last - first) + octets[last:]
    assert hashed.digest() == hashlib.sha256(zeroed).digest()
    assert (last - start) <= meta.size


def verified(
    openssl: str, folder: Path, signature: bytes, certificate: bytes, message: bytes
) -> bool:
    """What `openssl` says of a signature: RSASSA-PSS, SHA-256, MGF1, a salt of 20 bytes."""
    names = {"signature": signature, "cert.der": certificate, "message": message}
    for name, octets in names.items():
        (folder / name).write_bytes(octets)
    took = subprocess.run(
        [openssl, "x509", "-inform", "DER", "-in", "cert.der", "-pubkey", "-noout"],
        cwd=folder, capture_output=True, check=True,
    )  # fmt: skip
    (folder / "key.pem").write_bytes(took.stdout)
    command = [
        openssl, "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt",
        "rsa_pss_saltlen:20", "-sigopt", "rsa_mgf1_md:sha256", "-verify", "key.pem",
        "-signature", "signature", "message",
    ]  # fmt: skip
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
