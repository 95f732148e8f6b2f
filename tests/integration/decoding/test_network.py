"""Footage fetches nothing: no playlist, no name and no decoder reaches an address."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

import av
import av.error
import pytest

from ledger.errors import Usage
from replay.footage.decoding import limits
from replay.footage.decoding.decoder import Job, decode, sha256_of
from replay.footage.decoding.reader import UnreadableVideoError, index
from replay.footage.library.adding import FootageDetails, add, footage_files
from replay.footage.library.index import FootageIndex
from replay.footage.muxing.muxing import END_US, Part, Writing, write
from tests.fixtures.cli import ROOT
from tests.footage.video_kinds import KINDS
from tests.footage.video_kinds import write as write_video
from tests.processes.listening import Listening, listen
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fixtures.cli import Cli

TOLD = FootageDetails("hollywood", "CC-07-A", 1_795_000_000_000_000)
PLAYLISTS = {
    "concat.mp4": "ffconcat version 1.0\nfile {url}\n",
    "hls.ts": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{url}\n#EXT-X-ENDLIST\n",
    "sdp.mkv": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
}


@pytest.fixture
def listening() -> Iterator[Listening]:
    with listen() as found:
        yield found


def playlist(folder: Path, name: str, url: str) -> Path:
    path = folder / name
    path.write_text(PLAYLISTS[name].format(url=url) + "#" * 700)
    return path


@pytest.mark.parametrize("name", PLAYLISTS)
def test_a_playlist_named_as_video_is_refused_and_fetches_nothing(
    tmp_path: Path, listening: Listening, name: str
) -> None:
    path = playlist(tmp_path, name, listening.url)
    (added,) = add(FootageIndex(tmp_path / "home"), [path], TOLD)
    assert "its content is not" in (added.problem or "")
    job = Job(str(path), sha256_of(path), (0,))
    assert decode([job])[0].problem
    with pytest.raises(UnreadableVideoError):
        index(path)  # the lists of protocols and formats alone, without looking first
    out = tmp_path / "out.mp4"
    part = Part(str(path), sha256_of(path), 0, END_US, 0)
    assert write([Writing((part,), str(out), "mp4")])[0].problem
    assert not out.exists()
    assert listening.strangers() == 0


@pytest.mark.parametrize("name", ["concat.mp4", "hls.ts"])
def test_the_same_playlist_opened_without_care_does_fetch(
    tmp_path: Path, listening: Listening, name: str
) -> None:
    path = playlist(tmp_path, name, listening.url)
    options = {"protocol_whitelist": "file,http,tcp,crypto", "safe": "0"}
    loose = {"allowed_extensions": "ALL", "extension_picky": "0"} if name == "hls.ts" else {}
    kind = "hls" if name == "hls.ts" else "concat"
    with (
        pytest.raises((av.error.FFmpegError, ValueError)),
        av.open(str(path), format=kind, options=options | loose) as file,
    ):
        next(file.demux())
    until(lambda: listening.came)


def test_a_playlist_that_names_a_file_beside_it_is_refused(tmp_path: Path) -> None:
    write_video(tmp_path / "secret.mp4", KINDS["gop60"], 10)
    path = tmp_path / "list.mp4"
    path.write_text(f"ffconcat version 1.0\nfile secret.mp4\n{'#' * 700}\n")
    with pytest.raises(UnreadableVideoError):
        index(path)
    with av.open(str(path), format="concat") as file:  # it would open, where nobody looks
        assert file.streams.video


def test_an_address_given_as_a_folder_or_a_file_name_is_a_name(
    tmp_path: Path, listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path as Name  # noqa: PLC0415 - at run time, unlike above

    monkeypatch.chdir(tmp_path)
    with pytest.raises(Usage):
        footage_files(Name(listening.url))
    (refused,) = add(FootageIndex(tmp_path / "home"), [Name(listening.url)], TOLD)
    assert "cannot be read" in (refused.problem or "")
    named = tmp_path / "http:" / f"127.0.0.1:{listening.port}"
    named.mkdir(parents=True)
    for name in ("segment.mp4", "concat:x|y.mp4", "-i.mp4", "a%20b\n.mp4"):
        write_video(named / "x.mp4", KINDS["gop60"], 10 + len(name))
        (named / "x.mp4").rename(named / name)
    inside = footage_files(tmp_path / "http:")
    taken = list(add(FootageIndex(tmp_path / "home"), inside, TOLD))
    assert [each.problem for each in taken] == [None] * 4
    assert listening.strangers() == 0


def test_a_path_out_of_the_folder_or_through_a_link_leads_nowhere(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    write_video(outside / "real.mp4", KINDS["gop60"], 10)
    (folder / "link.mp4").symlink_to(outside / "real.mp4")
    (folder / "sub").symlink_to(outside)
    assert footage_files(folder) == []
    (added,) = add(FootageIndex(tmp_path / "home"), [folder / "link.mp4"], TOLD)
    assert added.verdict == "refused"


CONFINED = """
import socket, sys
sys.path.insert(0, sys.argv[1])
if sys.argv[3] == "confined":
    from replay.footage.decoding.sandbox import confine
    confine('{}')
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=5).close()
    print("reached")
except OSError as error:
    print("not reached:", error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_a_confined_process_has_no_network(listening: Listening) -> None:
    def run(how: str) -> str:
        command = [sys.executable, "-I", "-c", CONFINED, str(ROOT), str(listening.port), how]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout

    assert run("free").strip() == "reached"
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode and (
        subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("this system grants nobody a network namespace")
    assert run("confined").startswith("not reached")


KEPT = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from replay.footage.decoding import sandbox; sandbox._leave_network = lambda: False;"
    " sandbox.filter_system_calls = lambda: False; confined = sandbox.confine(sys.argv[2]);"
    " from replay.footage.{} import main; main(confined)"
)
"""The child's program on a system that gives nobody a namespace and filters no system calls."""


@pytest.mark.long
def test_a_network_that_the_system_does_not_take_away_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_video(tmp_path / "x.mp4", KINDS["gop60"], 10)
    job = Job(str(tmp_path / "x.mp4"), sha256_of(tmp_path / "x.mp4"), (0,))
    own = limits.confinement()
    assert own is not None
    limits._tell.cache_clear()
    decode([job])
    assert bool(caplog.records) == (own.network or own.opens)
    monkeypatch.setattr(limits, "_PROGRAM", KEPT)
    limits._tell.cache_clear()
    caplog.clear()
    for _ in range(2):
        assert decode([job])[0].frames, "it is read all the same"
    opens, network = caplog.records
    assert "could open other files" in opens.message
    assert (network.name, "with a network" in network.message) == ("round_ledger.footage", True)
    assert limits.confinement() == limits.Confined(network=True, landlock=own.landlock)


def test_the_command_says_whether_footage_is_read_without_a_network(plain_cli: Cli) -> None:
    told = plain_cli("footage", "status", "--json").json[0]
    confined = limits.confinement()
    assert confined is not None
    assert told["network"] == confined.network
    assert told["limits_refused"] == list(confined.refused)
    assert told["segments"] == 0
    says = plain_cli("footage", "status")
    assert ("HAS a network" in says.err) == (confined.opens and confined.network)


def test_a_child_leaves_no_bytecode_that_a_limit_has_cut(tmp_path: Path) -> None:
    """A module compiled under a limit of a file's size could not be imported by anyone later."""
    from replay.footage.decoding.limits import Limits  # noqa: PLC0415 - beside what it bounds

    write_video(tmp_path / "x.mp4", KINDS["gop60"], 60)
    part = Part(str(tmp_path / "x.mp4"), sha256_of(tmp_path / "x.mp4"), 0, END_US, 0)
    job = Writing((part,), str(tmp_path / "out.mp4"), "mp4", "encode")
    compiled = Path(cache_from_source(str(ROOT / "replay" / "footage" / "muxing" / "muxer.py")))
    compiled.unlink(missing_ok=True)
    write([job], Limits(file_bytes=20_000))
    assert not compiled.exists() or compiled.stat().st_size != 20_000


def test_what_a_child_may_use_is_bounded(tmp_path: Path) -> None:
    from replay.footage.decoding.limits import Limits  # noqa: PLC0415 - beside what it bounds

    write_video(tmp_path / "x.mp4", KINDS["gop60"], 60)
    part = Part(str(tmp_path / "x.mp4"), sha256_of(tmp_path / "x.mp4"), 0, END_US, 0)
    job = Writing((part,), str(tmp_path / "out.mp4"), "mp4", "encode")
    small = Limits(file_bytes=20_000)
    (written,) = write([job], small)
    assert "signal" in (written.problem or "") or "large" in (written.problem or "").lower()
    (written,) = write([job], Limits(file_bytes=1 << 30))
    assert written.frames == 60
