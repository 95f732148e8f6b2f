"""Cameras on real sockets, read by the real process: pictures, breaks, rubbish, and an end."""

from __future__ import annotations

import io
import logging
import re
import socket
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import av
import pytest
from psutil import Process

from replay.footage.decoding import limits
from replay.footage.decoding.timecode import read_timecode
from replay.footage.live import cameras as live
from replay.footage.live.addresses import addresses_from
from replay.footage.live.cameras import LiveCameras
from replay.shell import settings
from tests.footage.rtsp_server import PASSWORD, USER, Camera, Served, camera, film, serving
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from replay.footage.live.ring import FilmPart

FRAMES = 60


@contextmanager
def watching(url: str, folder: Path) -> Iterator[LiveCameras]:
    """Cameras with one at this address."""
    file = folder / "cameras.toml"
    file.write_text(f'[hollywood]\nA = "{url}"\n')
    found = LiveCameras(addresses_from(file, None))
    try:
        yield found
    finally:
        found.close()


def says(of: LiveCameras) -> str:
    state = of.watch("hollywood", "A")
    assert state is not None
    return state.says


def newest(of: LiveCameras) -> int:
    """The number of the newest picture; 0: none yet."""
    found = kept(of)
    return found.number if found else 0


def kept(of: LiveCameras) -> FilmPart | None:
    """All pictures of the film, as a player that goes back gets them."""
    state = of.watch("hollywood", "A")
    assert state is not None
    return state.ring.read("", 0, back_s=1000)


def clocks(of: FilmPart) -> list[int | None]:
    """The clock in each picture of a film that a player is given, in the order shown."""
    with av.open(io.BytesIO(of.begin + of.octets)) as container:
        pictures = [frame.to_ndarray(format="bgr24") for frame in container.decode(video=0)]
    codes = map(read_timecode, pictures)
    return [code.clock_ms if code else None for code in codes]


@pytest.mark.parametrize("bframes", [0, 2])
@pytest.mark.parametrize("parameters", [True, False])
def test_every_picture_of_a_camera_comes_as_it_was_coded(
    tmp_path: Path, bframes: int, *, parameters: bool
) -> None:
    behaves = Camera(
        film(FRAMES, bframes=bframes), parameters=parameters, paced=False, frames=FRAMES
    )
    with serving(camera(behaves)) as recorder, watching(recorder.url, tmp_path) as found:
        until(lambda: newest(found) >= FRAMES - 2)
        stretch = kept(found)
    assert stretch is not None
    surely = FRAMES - 4  # the others are still under way as it ends
    assert clocks(stretch)[:surely] == [number * 1000 // 30 for number in range(surely)]
    assert stretch.codec.startswith("avc1.42c0" if not bframes else "avc1.4d40")


def test_times_go_on_over_the_wrap_of_the_camera_s_clock(tmp_path: Path) -> None:
    behaves = Camera(film(FRAMES), paced=False, frames=FRAMES)
    with serving(camera(behaves)) as recorder, watching(recorder.url, tmp_path) as found:
        until(lambda: newest(found) >= FRAMES - 1)
        stretch = kept(found)
    assert stretch is not None
    with av.open(io.BytesIO(stretch.begin + stretch.octets)) as container:
        times = [packet.pts for packet in container.demux(video=0) if packet.pts is not None]
    assert {after - before for before, after in pairwise(times)} == {3_000}
    assert stretch.newest_us == times[-1] * 1_000_000 // 90_000


def test_user_and_password_are_given_only_when_asked_and_stand_in_no_process_list_or_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    behaves = Camera(film(FRAMES), asks=True)
    with (
        serving(camera(behaves)) as recorder,
        watching(recorder.url.replace("//", f"//{USER}:{PASSWORD}@"), tmp_path) as found,
    ):
        until(lambda: newest(found) > 0)
        told = [[*each.cmdline(), *each.environ().values()] for each in Process().children()]
        assert any("live.receiver" in part for each in told for part in each)
        assert not any(PASSWORD in part for each in told for part in each)
        assert not any(PASSWORD in each for each in recorder.asked)
    assert PASSWORD not in caplog.text + "".join(str(vars(each)) for each in caplog.records)


def test_a_wrong_password_is_told_in_one_line_and_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "AGAIN_S", (0.01,))
    with (
        serving(camera(Camera(film(FRAMES), asks=True))) as recorder,
        watching(recorder.url.replace("//", f"//{USER}:wrong@"), tmp_path) as found,
    ):
        until(lambda: says(found) and len(recorder.connections) > 2)
        until(lambda: says(found) == "it refuses the user or the password")
        assert found.figures().breaks >= 2
    lines = [each.message for each in caplog.records if each.name == "round_ledger.live"]
    assert lines == ["a camera has no live picture"]


def test_a_broken_stream_is_asked_for_again_and_goes_on_as_another_film(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "AGAIN_S", (0.01,))
    behaves = Camera(film(FRAMES), paced=False)
    with (
        serving(
            camera(lambda nth: behaves._replace(frames=20 if nth == 0 else None, paced=nth > 0))
        ) as recorder,
        watching(recorder.url, tmp_path) as found,
    ):
        until(lambda: newest(found) > 0)
        first = kept(found)
        assert first is not None
        until(lambda: len(recorder.connections) == 2 and not says(found))
        until(lambda: (kept(found) or first).film != first.film)
        figures = found.figures()
        assert (figures.connected, figures.breaks) == (1, 1)


def test_a_lost_packet_leaves_out_pictures_up_to_the_next_keyframe(tmp_path: Path) -> None:
    behaves = Camera(film(FRAMES, gop=15), paced=False, frames=FRAMES, lost=frozenset((40,)))
    with serving(camera(behaves)) as recorder, watching(recorder.url, tmp_path) as found:
        until(lambda: "closed" in says(found))
        stretch = kept(found)
    assert stretch is not None
    shown = clocks(stretch)
    whole = [number * 1000 // 30 for number in range(FRAMES)]
    missing = [whole.index(each) for each in whole if each not in shown]
    assert 0 < len([each for each in missing if each < FRAMES - 2]) < 16
    assert set(shown) <= set(whole), "no picture is smeared"


def octets_for_ever(octets: bytes) -> object:
    def talk(line: socket.socket, served: Served) -> None:
        while not served.stop.is_set():
            line.sendall(octets)

    return talk


def silence(line: socket.socket, served: Served) -> None:
    del line
    served.stop.wait()


def answers_for_ever(line: socket.socket, served: Served) -> None:
    while not served.stop.is_set():
        line.sendall(b"RTSP/1.0 200 OK\r\nCSeq: 99\r\n\r\n" * 100)


def flood(line: socket.socket, served: Served) -> None:
    """A stream as asked for, but without end and without a picture in it."""
    talk = camera(Camera(film(FRAMES), frames=0))
    talk(line, served)
    junk = b"$\0\xff\xff" + b"\x80\x60" + bytes(65_533)
    while not served.stop.is_set():
        line.sendall(junk)


@pytest.mark.long
@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (octets_for_ever(b"\xff" * 65_536), "does not speak RTSP"),
        (octets_for_ever(b"$\0\xff\xff" + bytes(65_535)), "does not answer what was asked"),
        (octets_for_ever(b"RTSP/1.0 200 OK\r\nX"), "does not speak RTSP|too long"),
        (answers_for_ever, "does not answer what was asked"),
        (silence, "sent nothing for 10 s"),
        (flood, "MiB a second|no whole picture"),
    ],
)
def test_a_camera_that_sends_rubbish_or_nothing_is_told_in_one_line(
    tmp_path: Path, talk: object, words: str
) -> None:
    with serving(talk) as recorder, watching(recorder.url, tmp_path) as found:  # type: ignore[arg-type] # one of the functions above
        until(lambda: says(found) != "connecting")
        assert re.search(words, says(found)), says(found)
        assert found.figures().octets == 0


def test_an_address_at_which_nobody_listens_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with watching(f"rtsp://127.0.0.1:{port}/a", tmp_path) as found:
        until(lambda: says(found) != "connecting")
        assert says(found) == "it cannot be reached: Connection refused"
    with watching("rtsp://nowhere.invalid/a", tmp_path) as found:
        until(lambda: says(found) != "connecting")
        assert says(found) == "its host name is not known"


def test_who_stops_leaves_no_process_and_no_connection(tmp_path: Path) -> None:
    gone: list[bool] = []

    def talk(line: socket.socket, served: Served) -> None:
        with suppress(OSError):
            camera(Camera(film(FRAMES)))(line, served)
        gone.append(True)

    with serving(talk) as recorder:
        with watching(recorder.url, tmp_path) as found:
            until(lambda: newest(found) > 0)
            children = [
                each for each in Process().children() if "live.receiver" in str(each.cmdline())
            ]
            assert len(children) == 1
        assert not any(each.is_running() for each in children)
        until(lambda: gone == [True])


def test_a_camera_that_nobody_watches_is_let_go_and_asked_again_when_somebody_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "WATCHED_S", 0.5)
    with (
        serving(camera(Camera(film(FRAMES)))) as recorder,
        watching(recorder.url, tmp_path) as found,
    ):
        until(lambda: newest(found) > 0)
        until(lambda: found.figures().wanted == 0)
        assert found.figures().octets > 0, "what came is still counted"
        until(lambda: newest(found) > 0)
        assert len(recorder.connections) >= 2


def test_no_more_cameras_than_the_limit_are_connected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "CAMERAS_MAX", 1)
    with serving(camera(Camera(film(FRAMES)))) as recorder:
        file = tmp_path / "cameras.toml"
        file.write_text(f'[hollywood]\nA = "{recorder.url}"\nB = "{recorder.url}"\n')
        found = LiveCameras(addresses_from(file, None))
        try:
            until(lambda: newest(found) > 0)
            state = found.watch("hollywood", "B")
            assert state is not None
            assert state.says == "1 camera live already: close another first"
            assert found.watch("hollywood", "C") is None
        finally:
            found.close()


def test_a_house_may_refuse_to_read_a_camera_without_fences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = settings.read({"ROUND_LEDGER_UNCONFINED_FOOTAGE": "refuse"})
    monkeypatch.setattr(settings, "in_force", lambda: strict)
    with serving(camera(Camera(film(FRAMES)))) as recorder:
        with watching(recorder.url, tmp_path) as found:
            until(lambda: newest(found) > 0)
        unfenced = limits._PROGRAM.replace(
            "main(confined)", "sandbox.filter_system_calls = lambda: False; main(confined)"
        ).replace("import sys;", "import sys; from replay.footage.decoding import sandbox;")
        monkeypatch.setattr(limits, "_PROGRAM", unfenced)
        with watching(recorder.url, tmp_path) as found:
            until(lambda: says(found) != "connecting")
            assert "could open other files" in says(found)
            assert newest(found) == 0


def test_a_process_that_cannot_be_started_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(live, "AGAIN_S", (0.01,))
    monkeypatch.setattr(live, "started", fails)
    with (
        serving(camera(Camera(film(FRAMES)))) as recorder,
        watching(recorder.url, tmp_path) as found,
    ):
        until(lambda: says(found) == "the process that reads it failed")
        monkeypatch.undo()
        until(lambda: newest(found) > 0)
