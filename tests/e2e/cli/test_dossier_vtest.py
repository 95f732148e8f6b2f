"""Footage of a real camera in a dossier: the street of `vtest.avi`, taken to be over a table.

It shows no table. What is tried is that real MS-MPEG4 in AVI goes out untouched, with a clip that
plays and is signed, frames of it, and a check by a stranger.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import av
import pytest

from infra.postgres.server.embedded import embedded
from ledger.values import format_time, parse_time
from replay.dossier.signing.onvif import check
from tests.fixtures.cli import Cli, environ

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.vtest import Vtest

CAMERA = "CC-01-cam1"


@pytest.mark.long
def test_real_footage_goes_out_untouched_with_a_signed_clip_and_frames(
    vtest: Vtest, tmp_path: Path
) -> None:
    cli = Cli(environ(tmp_path / "home"))
    with embedded(tmp_path / "home"):
        dealt = tmp_path / "dealt"
        assert cli("simulate", "--tables", "1", "--hours", "0.2", "--out", dealt).code == 0
        assert cli("ingest", dealt / "feed.jsonl", "--json").code == 0
        round_ = cli("rounds", "--table", "CC-01", "--json").json[3]
        start_us = (parse_time(round_["began"]) or 0) - 5_000_000
        added = cli(
            "footage", "add", vtest.path, "--camera", CAMERA, "--property", "hollywood",
            "--start", format_time(start_us), "--json",
        )  # fmt: skip
        assert added.code == 0, added.err
        key = cli("keys", "signing", "make", "--json").json[0]["public"]
        out = tmp_path / "dossier"
        made = cli("dossier", f"hollywood:{round_['round']}", "--by", "S-2001", "--out", out)
        assert made.code == 0, made.err
    (original,) = (out / "footage").iterdir()
    assert original.suffix == ".avi"
    assert hashlib.sha256(original.read_bytes()).hexdigest() == vtest.sha256
    (clip,) = (out / "clips").iterdir()
    assert clip.suffix == ".mp4"
    certificate = tmp_path / "home" / "signing" / "clip-certificate.der"
    found = check(clip, certificate.read_bytes())
    assert found.good, found.says
    with av.open(str(clip)) as film:
        frames = sum(1 for _ in film.decode(video=0))
    assert 50 < frames <= vtest.frames
    assert list((out / "frames").iterdir())
    coverage = json.loads((out / "coverage.json").read_bytes())["stretches"][0]
    (camera,) = [each for each in coverage["cameras"] if each["camera"] == CAMERA]
    assert camera["sizes"] == [f"{vtest.width}x{vtest.height}"]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", out / "verify.py", "--key", key, out],
        cwd=tmp_path, env={}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    assert "Segments with exactly the bytes that were recorded: 1." in ran.stdout
