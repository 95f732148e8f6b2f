"""A disk whose power can be cut: whatever was not flushed to it by then is gone when it is back.

An ext4 file system in a file, told to go down at once and without its journal (as file systems'
own tests do it): from there on every call on it fails, no page that waits in memory is written,
and the next mount recovers what the journal holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

_GO_DOWN = 0x8004587D  # FS_IOC_SHUTDOWN
_WITHOUT_THE_JOURNAL = struct.pack("I", 2)
_MIB = 768


class Powered:
    """The disk. `folder` is what is on it, while it has power."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "disk"
        self._image = root / "image"
        self.folder.mkdir()
        with self._image.open("wb") as out:
            out.truncate(_MIB * 2**20)
        _run("mkfs.ext4", "-q", "-F", self._image)
        self.on()

    def on(self) -> None:
        """Power is there: mount it, which recovers it after a cut."""
        _run("mount", "-o", "loop", self._image, self.folder)

    def settle(self) -> None:
        """All that was written so far is on the disk."""
        _run("sync", "-f", self.folder)

    def cut(self) -> None:
        """No power from here on. Who had files open must be ended before `on`."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _GO_DOWN, _WITHOUT_THE_JOURNAL)
        finally:
            os.close(handle)

    def off(self) -> None:
        """Let go of it, once whoever used it is gone."""
        until(lambda: _done("umount", self.folder).returncode == 0)


@pytest.fixture
def powered() -> Iterator[Powered]:
    """A disk of a few hundred MiB; only root can have one, where there are loop devices."""
    root = Path(tempfile.mkdtemp(prefix="rl-power-"))
    root.chmod(0o755)
    try:
        yield Powered(root)
    finally:
        _done("umount", "-l", root / "disk")
        shutil.rmtree(root)


def _run(*command: str | Path) -> None:
    """Whether a machine lets a disk be made is its own affair, also where all else is required."""
    try:
        done = _done(*command)
    except FileNotFoundError as error:
        pytest.xfail(f"no disk to cut the power of: {error}")
    if done.returncode:
        pytest.xfail(f"no disk to cut the power of: {done.stderr.strip()}")


def _done(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
