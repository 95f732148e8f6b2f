"""Clips signed as ONVIF exports: laid out as the specification says, good until one bit changes.

The signature is checked by OpenSSL's own command too, and the layout held to the specification's
text by a reader written here; see `test_dossier_onvif_others` for programs that are not ours.
"""

from __future__ import annotations

import datetime as dt
import random
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import av
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from ledger.errors import Refused
from replay.dossier.signing import keys
from replay.dossier.signing.onvif import Export, check, sign
from tests.footage.video_kinds import KINDS, decoded, write

if TYPE_CHECKING:
    from pathlib import Path

NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
AT_US = 1_795_000_000_123_456
EXPORT = Export("Round Ledger", "S-2001", AT_US, "sibo CC-07-ovh", AT_US - 60_000_000)


class Signed(NamedTuple):
    clip: Path
    path: Path
    signer: keys.ClipSigner


@pytest.fixture(scope="module", params=["gop60", "fragmented"])
def signed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Signed:
    folder = tmp_path_factory.mktemp("onvif")
    clip = folder / "clip.mp4"
    write(clip, KINDS[request.param], frames=60)
    signer = keys.make(folder / "keys", "Hollywood", NOW).clips
    assert signer
    sign(clip, folder / "signed.mp4", EXPORT, signer)
    return Signed(clip, folder / "signed.mp4", signer)


def parts(octets: bytes, skip: int = 0) -> list[tuple[str, bytes]]:
    """Boxes, read as ISO 14496-12 says, without the program's own reader."""
    found, at = [], skip
    while at < len(octets):
        size = int.from_bytes(octets[at : at + 4], "big")
        found.append((octets[at + 4 : at + 8].decode("latin-1"), octets[at + 8 : at + size]))
        at += size
    return found


def one(of: list[tuple[str, bytes]], kind: str) -> bytes:
    (found,) = [payload for name, payload in of if name == kind]
    return found


def strings(octets: bytes, count: int) -> tuple[list[str], bytes]:
    found = []
    for _ in range(count):
        told, _, octets = octets.partition(b"\0")
        found.append(told.decode())
    return found, octets


def test_the_boxes_say_what_the_specification_asks_for(signed: Signed) -> None:
    meta = parts(one(parts(signed.path.read_bytes()), "meta"), 4)
    assert [name for name, _ in meta] == ["hdlr", "suep", "ipro"]
    suep = one(meta, "suep")
    assert suep[:4] == b"\1\0\0\0"  # version 1
    (unit, url, mac), rest = strings(suep[4:], 3)
    assert (unit, url, mac) == ("Round Ledger", "", "")
    seconds = int.from_bytes(rest[:8], "big")
    when = dt.datetime(1904, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)
    assert when.timestamp() == AT_US // 1_000_000
    (operator,), rest = strings(rest[8:], 1)
    assert operator == "S-2001"
    assert int.from_bytes(rest[:4], "big") == 1
    assert int.from_bytes(rest[4:6], "big") == 1  # the first track
    assert strings(rest[6:], 4) == ([EXPORT.camera, "", "", ""], b"")
    ipro = one(meta, "ipro")
    assert ipro[4:6] == b"\0\1"
    sinf = parts(one(parts(ipro, 6), "sinf"))
    assert [name for name, _ in sinf] == ["cstb", "schm", "schi"]
    cstb = one(sinf, "cstb")
    ticks = int.from_bytes(cstb[8:16], "big")
    starts = dt.datetime(1601, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=ticks // 10)
    assert starts == dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(
        microseconds=EXPORT.starts_us
    )
    assert one(sinf, "schm")[4:] == bytes.fromhex("6F656666 00010000")
    schi = parts(one(sinf, "schi"))
    assert [name for name, _ in schi] == ["sibo", "cert"]
    assert len(one(schi, "sibo")) == signed.signer.key.key_size // 8
    assert one(schi, "cert") == signed.signer.certificate


def test_a_signed_clip_is_good_and_its_film_untouched(signed: Signed) -> None:
    assert check(signed.path, signed.signer.certificate).good
    assert check(signed.path).good
    assert decoded(signed.path) == decoded(signed.clip)
    whole, clip = signed.path.read_bytes(), signed.clip.read_bytes()
    meta = whole.index(b"meta", len(clip) - 4_000 if len(clip) > 4_000 else 0)
    assert len(whole) - len(clip) < 3_000
    assert meta > 0
    last = [name for name, _ in parts(whole)][-1]
    assert last == ("mfra" if "mfra" in dict(parts(clip)) else "meta")


def test_one_bit_changed_anywhere_fails_while_the_film_still_plays(
    signed: Signed, tmp_path: Path
) -> None:
    octets = signed.path.read_bytes()
    chance = random.Random(26)  # noqa: S311 - repeatable
    at_film = octets.index(b"mdat") + len(octets) // 3
    places = [at_film, *(chance.randrange(len(octets)) for _ in range(60))]
    for place in places:
        changed = bytearray(octets)
        changed[place] ^= 1 << chance.randrange(8)
        (tmp_path / "changed.mp4").write_bytes(changed)
        assert not check(tmp_path / "changed.mp4", signed.signer.certificate).good, place
    changed = bytearray(octets)
    changed[at_film] ^= 1
    (tmp_path / "changed.mp4").write_bytes(changed)
    found = check(tmp_path / "changed.mp4")
    assert found.says == "Its signature is not valid: the file was changed after it was signed."
    with av.open(str(tmp_path / "changed.mp4")) as file:
        assert sum(1 for _ in file.demux(video=0)) > 50


@pytest.mark.parametrize("change", ["longer", "shorter", "empty"])
def test_octets_added_or_taken_away_fail(signed: Signed, tmp_path: Path, change: str) -> None:
    octets = signed.path.read_bytes()
    told = {"longer": octets + b"\0\0\0\x08free", "shorter": octets[:-9], "empty": b""}
    (tmp_path / "changed.mp4").write_bytes(told[change])
    assert not check(tmp_path / "changed.mp4").good


def test_the_certificate_of_another_is_not_trusted(signed: Signed, tmp_path: Path) -> None:
    other = keys.make(tmp_path / "keys", "Hollywood", NOW).clips
    assert other
    sign(signed.clip, tmp_path / "other.mp4", EXPORT, other)
    found = check(tmp_path / "other.mp4", signed.signer.certificate)
    assert found.says == "It is signed with another certificate than the one you trust."
    assert check(tmp_path / "other.mp4").good  # as it says of itself


def test_a_clip_is_signed_once_and_only_mp4_is(signed: Signed, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="already signed"):
        sign(signed.path, tmp_path / "twice.mp4", EXPORT, signed.signer)
    write(tmp_path / "clip.webm", KINDS["vp8"], frames=3)
    with pytest.raises(Refused, match="not a complete MP4"):
        sign(tmp_path / "clip.webm", tmp_path / "no.mp4", EXPORT, signed.signer)
    assert not check(tmp_path / "clip.webm").good
    assert check(signed.clip).says == "It has no ONVIF export signature."


def test_openssl_finds_the_signature_good_over_the_file_with_zeros_in_its_place(
    signed: Signed, tmp_path: Path
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl: `apt install openssl`")
    octets = signed.path.read_bytes()
    meta = parts(one(parts(octets), "meta"), 4)
    sinf = parts(one(parts(one(meta, "ipro"), 6), "sinf"))
    schi = parts(one(sinf, "schi"))
    signature = one(schi, "sibo")
    (tmp_path / "zeroed").write_bytes(octets.replace(signature, bytes(len(signature))))
    (tmp_path / "signature").write_bytes(signature)
    certificate = x509.load_der_x509_certificate(one(schi, "cert"))
    (tmp_path / "key.pem").write_bytes(
        certificate.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    command = [
        openssl, "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt",
        "rsa_pss_saltlen:20", "-verify", "key.pem", "-signature", "signature", "zeroed",
    ]  # fmt: skip
    good = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert good.returncode == 0, good.stdout
    (tmp_path / "zeroed").write_bytes(octets.replace(signature, bytes(len(signature))) + b"x")
    bad = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert bad.returncode != 0
