"""A folder of everything that is no footage, through `footage add` and `watch` as users run them.

Each file is reported with its reason, the one good file is taken, and nobody is asked for anything.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import av
import pytest

from infra.postgres.server.embedded import embedded
from replay.footage.clips.clips import SegmentCut, clip
from replay.footage.decoding.decoder import Job, decode
from replay.footage.library.adding import FootageDetails, add
from replay.footage.library.index import FootageIndex
from tests.fixtures.cli import Cli, environ
from tests.footage.hostile_files import (
    FRAMES,
    elsewhere,
    linked,
    referring,
    refused,
    whole_mp4,
)
from tests.footage.video_kinds import decoded
from tests.processes.listening import Listening, listen

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD = "20261120T210000Z.mp4"
ADDED = ("--camera", "CC-07-A", "--property", "hollywood", "--json")


class Hostile(NamedTuple):
    """A folder with one good file, and the names of those that are to be refused."""

    cli: Cli
    folder: Path
    names: list[str]
    listening: Listening


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    top = tmp_path_factory.mktemp("hostile")
    folder = top / "in"
    folder.mkdir()
    with embedded(top / "home"), listen() as listening:
        names = refused(folder, whole_mp4(folder / GOOD), listening.url)
        (folder / "link.mp4").symlink_to(folder / GOOD)
        os.mkfifo(folder / "pipe.mp4")
        yield Hostile(Cli(environ(top / "home")), folder, names, listening)


@pytest.mark.long
def test_each_is_told_with_its_reason_and_the_good_file_is_taken(hostile: Hostile) -> None:
    done = hostile.cli("footage", "add", hostile.folder, *ADDED)
    assert done.code == 2
    assert "Traceback" not in done.err
    *files, total = done.json
    told = {each["file"].rpartition("/")[2]: each for each in files}
    assert set(told) == {GOOD, *hostile.names}  # neither the link nor the pipe was opened
    assert told.pop(GOOD)["verdict"] == "appended"
    assert all(each["verdict"] == "refused" and each["problem"] for each in told.values())
    assert total == {"appended": 1, "refused": len(hostile.names), "files": len(told) + 1}
    assert hostile.listening.strangers() == 0


@pytest.mark.parametrize("name", ["http://{}/x.mp4", "/dev/zero", "{}/pipe.mp4", "{}/none.mp4"])
def test_what_is_no_folder_and_no_file_is_refused_before_it_is_opened(
    hostile: Hostile, name: str
) -> None:
    where = f"127.0.0.1:{hostile.listening.port}" if "http" in name else str(hostile.folder)
    done = hostile.cli("footage", "add", name.format(where), *ADDED)
    assert done.code == 2
    assert "cannot be read" in done.err
    assert hostile.listening.strangers() == 0


@pytest.mark.long
def test_watching_such_a_folder_goes_on_and_takes_what_comes_later(
    hostile: Hostile, tmp_path: Path
) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    refused(folder, whole_mp4(tmp_path / "x.mp4"), hostile.listening.url)
    watch = ("footage", "watch", folder, "--camera", "CC-08-A", "--property", "hollywood")
    process = hostile.cli.start(*watch, "--stable", "0.3", "--json")
    assert process.stdout is not None
    try:
        first = [json.loads(process.stdout.readline()) for _ in hostile.names]
        assert {each["file"].rpartition("/")[2] for each in first} == set(hostile.names)
        assert {each["verdict"] for each in first} == {"refused"}
        whole = (tmp_path / "x.mp4").read_bytes()
        (folder / GOOD).write_bytes(referring(whole, hostile.listening.url))
        assert json.loads(process.stdout.readline())["verdict"] == "appended"
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert process.returncode == 0
    assert hostile.listening.strangers() == 0


def test_what_an_mp4_says_lies_in_another_file_is_not_read_there(tmp_path: Path) -> None:
    whole = whole_mp4(tmp_path / "secret.mp4")
    path = tmp_path / GOOD
    path.write_bytes(elsewhere(whole, str(tmp_path / "secret.mp4")))
    (added,) = add(FootageIndex(tmp_path / "home"), [path], FootageDetails("hollywood", "CC-07-A"))
    assert added.verdict == "refused"
    loose = {"enable_drefs": "1", "use_absolute_path": "1"}
    with av.open(str(path), options=loose) as file:  # it would be, where nobody looks
        assert sum(1 for _ in file.decode(video=0)) == FRAMES


def test_an_address_inside_a_file_is_not_asked_for_anything(tmp_path: Path) -> None:
    library, told = FootageIndex(tmp_path / "home"), FootageDetails("hollywood", "CC-07-A", 0)
    with listen() as listening:
        whole = whole_mp4(tmp_path / "whole.mp4")
        (tmp_path / "refers.mp4").write_bytes(referring(whole, listening.url))
        (tmp_path / "links.webm").write_bytes(linked(f"http://127.0.0.1:{listening.port}/"))
        paths = [tmp_path / "refers.mp4", tmp_path / "links.webm"]
        refers, _ = add(library, paths, told)
        assert refers.entry, refers.problem
        (answer,) = decode([Job(str(paths[0]), refers.entry.sha256, (0, 17))])
        assert [frame.timecode and frame.timecode.capture for frame in answer.frames] == [0, 17]
        made = clip(library, [SegmentCut(refers.entry.sha256, 0, 500_000)])
        assert b"127.0.0.1" not in Path(made.path).read_bytes()  # our copy leads nowhere
        assert made.frames == len(decoded(Path(made.path))) >= 15
        assert listening.strangers() == 0


def test_the_rest_of_the_ledger_is_unharmed(hostile: Hostile) -> None:
    assert hostile.cli("footage", "list", "--json").code == 0
    done = hostile.cli("verify", "--json")
    assert done.code == 0, done.err
    assert not [*hostile.folder.parent.rglob(".new-*")]
