"""A growing file read to its end through renames, copies and cuts: no line is passed over."""

from __future__ import annotations

import os
import random
import shutil
from typing import TYPE_CHECKING

import pytest

from infra import files
from ledger.errors import Refused, Usage
from replay.devices import file_tail
from replay.devices.file_tail import FileTail, keep_place, kept_place, lock_file
from tests.suite.budget import rest_long

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_tail, "FINISHED_S", 0.0)
    for module in (file_tail, files):
        monkeypatch.setattr(module, "flush_folder", lambda _: None)
    monkeypatch.setattr("os.fsync", lambda _: None)


class Device:
    """Writes numbered lines to a file, and rotates it as log rotation does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = 0
        self.rotations = 0
        self._now_ns = 1_700_000_000_000_000_000

    def write(self, count: int = 1, end: str = "\n") -> None:
        with self.path.open("a") as out:
            out.writelines(f"line {self.written + n}{end}" for n in range(count))
        self.written += count
        self._touch(self.path)

    def rename(self) -> None:
        self.rotations += 1
        self.path.rename(f"{self.path}-{self.rotations}")

    def copy_and_cut(self) -> None:
        self.rotations += 1
        to = self.path.with_name(f"{self.path.name}-{self.rotations}")
        shutil.copy2(self.path, to)
        self._touch(to)
        os.truncate(self.path, 0)
        self._touch(self.path)

    def _touch(self, path: Path) -> None:
        self._now_ns += 1_000_000
        os.utime(path, ns=(self._now_ns, self._now_ns))


class Reader:
    """What was read by a follower, which keeps the place after each block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[str] = []
        self.lines: list[bytes] = []
        self.begin()

    def begin(self) -> None:
        self.tail = FileTail(
            self.path, kept_place(self.path), lambda says, **_: self.told.append(says)
        )

    def restart(self) -> None:
        self.tail.close()
        self.begin()

    def read(self, looks: int = 12, *, keep: bool = True) -> list[bytes]:
        """Everything there is; a look may only find the next file."""
        new: list[bytes] = []
        for _ in range(looks):
            if block := self.tail.next():
                new += [b"".join(self.tail.part(line)) for line in block.lines]
                if keep:
                    keep_place(self.path, block.after)
        self.lines += new
        return new


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path / "shoe.jsonl")


@pytest.fixture
def reader(device: Device) -> Reader:
    return Reader(device.path)


def numbers(count: int, first: int = 0) -> list[bytes]:
    return [b"line %d" % n for n in range(first, first + count)]


def test_lines_come_as_they_are_written_and_half_a_line_waits(
    device: Device, reader: Reader
) -> None:
    assert reader.read() == []
    device.write(3)
    device.write(1, end="")
    assert reader.read() == numbers(3)
    with device.path.open("a") as out:
        out.write(" and its end\n\n\r\n")
    assert reader.read() == [b"line 3 and its end"]
    device.write(1)
    assert reader.read() == [b"line 4"]


def test_what_was_renamed_before_it_is_followed_at_all_is_not_read(tmp_path: Path) -> None:
    device = Device(tmp_path / "shoe.jsonl")
    device.write(2)
    device.rename()
    device.write(1)
    assert Reader(device.path).read() == numbers(1, 2)


def test_a_line_has_the_number_it_has_in_its_file(device: Device, reader: Reader) -> None:
    device.path.write_bytes(b"a\n\nb\n")
    block = reader.tail.next()
    assert block
    assert [(line.number, line.octets) for line in block.lines] == [(1, b"a"), (3, b"b")]
    assert (block.after.lines, block.after.offset, block.waiting) == (3, 5, 0)


def test_a_renamed_file_is_read_to_its_end_before_the_next(device: Device, reader: Reader) -> None:
    device.write(2)
    assert reader.read() == numbers(2)
    device.write(2)
    device.rename()
    device.write(1)
    assert reader.read() == numbers(3, 2)


def test_the_last_line_of_a_renamed_file_may_lack_its_end(device: Device, reader: Reader) -> None:
    device.write(1, end="")
    assert reader.read() == []
    device.rename()
    device.write(1)
    assert reader.read() == numbers(2)


@pytest.mark.parametrize("rotate", [Device.rename, Device.copy_and_cut])
def test_files_rotated_while_nobody_read_are_read_in_their_order(
    device: Device, reader: Reader, rotate: Callable[[Device], None]
) -> None:
    device.write(3)
    assert reader.read() == numbers(3)
    for _ in range(3):
        device.write(2)
        rotate(device)
    device.write(1)
    reader.restart()
    assert reader.read(30) == numbers(7, 3)


def test_a_file_copied_and_cut_short_is_read_to_its_end_in_the_copy(
    device: Device, reader: Reader
) -> None:
    device.write(3)
    assert reader.read() == numbers(3)
    device.write(2)
    device.copy_and_cut()
    device.write(20)  # longer now than it was
    assert reader.read(20) == numbers(22, 3)
    assert "the file was cut short" in reader.told


def test_what_was_not_kept_is_read_again_and_what_was_is_not(
    device: Device, reader: Reader
) -> None:
    device.write(3)
    reader.read()
    device.write(2)
    assert reader.read(keep=False) == numbers(2, 3)
    reader.restart()
    assert reader.read() == numbers(2, 3)
    reader.restart()
    assert reader.read() == []


def test_a_place_that_is_nowhere_any_more_is_told_and_nothing_there_is_passed_over(
    device: Device, reader: Reader
) -> None:
    device.write(3)
    reader.read()
    device.rename()
    device.path.with_name("shoe.jsonl-1").unlink()
    device.write(2)
    reader.restart()
    assert reader.read() == numbers(2, 3)
    assert "the checkpoint is in no file: every file is sent whole" in reader.told


def test_compressed_siblings_are_not_read_as_lines(device: Device, reader: Reader) -> None:
    device.write(1)
    device.path.with_name("shoe.jsonl-0.gz").write_bytes(b"not\nlines\n")
    reader.read()
    device.rename()
    device.write(1)
    reader.read()
    assert reader.lines == numbers(2)


def test_a_line_longer_than_any_request_is_passed_on_in_parts(
    device: Device, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_tail, "LINE_OCTETS_MAX", 2_000)
    monkeypatch.setattr(file_tail, "BLOCK_OCTETS", 500)
    device.path.write_bytes(b"a\n" + b"x" * 5_000)
    assert reader.read() == [b"a"]
    with device.path.open("ab") as out:
        out.write(b"y\nb\n")
    block = reader.tail.next()
    assert block
    assert [line.octets for line in block.lines] == [None]
    assert b"".join(reader.tail.part(block.lines[0])) == b"x" * 5_000 + b"y"
    assert reader.read() == [b"b"]


def test_a_block_is_bounded(device: Device, reader: Reader) -> None:
    device.write(file_tail.LINES_A_BLOCK_MAX + 5)
    first = reader.tail.next()
    assert first
    assert len(first.lines) == file_tail.LINES_A_BLOCK_MAX
    assert len(reader.read()) == 5


def test_a_second_follower_of_a_file_is_refused(device: Device) -> None:
    with lock_file(device.path), pytest.raises(Refused, match="follows"), lock_file(device.path):
        pass


def test_a_place_that_is_none_is_told(device: Device) -> None:
    device.path.with_name("shoe.jsonl.place").write_text("{}")
    with pytest.raises(Usage, match="cannot be read"):
        kept_place(device.path)


def churn(path: Path, seed: int) -> tuple[Device, Reader]:
    """A device that writes and rotates and a reader that is killed, in an order by chance."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    device, reader = Device(path), Reader(path)
    for _ in range(60):
        what = chance.random()
        if what < 0.5:
            device.write(chance.randint(1, 6))
        elif what < 0.6 and path.exists():
            chance.choice([Device.rename, Device.copy_and_cut])(device)
        elif what < 0.7:
            reader.restart()
        else:
            reader.read(chance.randint(1, 3), keep=chance.random() < 0.7)
    reader.restart()
    reader.read(80)
    reader.tail.close()
    return device, reader


@pytest.mark.parametrize("first", rest_long(range(0, 200, 50), everyday={0}))
def test_no_line_is_passed_over_whatever_the_order_of_writes_rotations_and_kills(
    tmp_path: Path, first: int
) -> None:
    for seed in range(first, first + 50):
        folder = tmp_path / str(seed)
        folder.mkdir()
        device, reader = churn(folder / "shoe.jsonl", seed)
        assert set(numbers(device.written)) - set(reader.lines) == set(), seed


def test_a_reader_that_believes_the_offset_alone_passes_lines_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_tail, "_is_at", lambda *_: True)
    lost = 0
    for seed in range(30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        device, reader = churn(folder / "shoe.jsonl", seed)
        lost += bool(set(numbers(device.written)) - set(reader.lines))
    assert lost
