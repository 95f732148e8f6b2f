"""The process that reads a camera reaches that camera's connection, and nothing else."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from replay.footage.decoding import limits
from tests.fixtures.cli import ROOT
from tests.footage.rtsp_server import Camera, camera, film, serving
from tests.integration.live.test_live_cameras import says, watching
from tests.processes.listening import Listening, listen
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNSEALED = (
    " from replay.footage.decoding import sandbox; sandbox._leave_network = lambda: False;"
    " from replay.footage.live import receiver; receiver.seal = lambda confined: confined;"
)
INSIDE = (
    f" sys.path.insert(0, {str(ROOT)!r});"
    " from tests.footage.live_insider import main; main(confined)"
)


@pytest.fixture(scope="module", autouse=True)
def sealing() -> None:
    """Skip where the kernel has no such filters; this project's CI has them."""
    confined = limits.confinement()
    assert confined is not None
    if (confined.opens or not confined.landlock) and not os.environ.get("CI"):
        pytest.skip("this system lacks Landlock or filters of system calls")


@pytest.fixture
def beside() -> Iterator[Listening]:
    with listen() as found:
        yield found


def could(folder: Path, beside: Listening, program: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What code in that process could do."""
    (folder / "key").write_text("secret")
    path = str(folder / ".s.PGSQL.5432")
    monkeypatch.setattr(limits, "_PROGRAM", program)
    with (
        socket.socket(socket.AF_UNIX) as server,
        serving(camera(Camera(film(30)))) as recorder,
    ):
        server.bind(path)
        server.listen()
        aims = {"file": str(folder / "key"), "socket": path, "port": beside.port}
        told = quote(json.dumps(aims), safe="")
        with watching(recorder.url.replace("//", f"//insider:{told}@"), folder) as found:
            until(lambda: says(found) != "connecting")
            return says(found)


def program(*, sealed: bool) -> str:
    before, _, _ = limits._PROGRAM.partition(" from replay.footage.{} import main;")
    setting, _, confining = before.partition(" from replay.footage.decoding.sandbox")
    assert confining
    rest = " from replay.footage.decoding.sandbox" + confining
    return setting + ("" if sealed else UNSEALED) + rest + INSIDE


def test_code_that_reads_a_camera_reaches_no_file_no_database_and_no_other_address(
    tmp_path: Path, beside: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert could(tmp_path, beside, program(sealed=True), monkeypatch) == "could: camera"
    assert beside.strangers() == 0


def test_the_same_code_without_a_fence_reaches_all_of_it(
    tmp_path: Path, beside: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = could(tmp_path, beside, program(sealed=False), monkeypatch)
    assert told == "could: camera, file, passwords, postgres, another address, program"
    assert beside.strangers() == 1
