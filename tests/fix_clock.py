"""A wall clock for processes under test, set while they run: ahead, back, across a change of time.

Their monotonic clock goes on as the machine's does, as it would where somebody sets the time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


class WallClock:
    """`environ` is for those who live by it; until it is set it is the machine's."""

    def __init__(self, folder: Path, library: Path) -> None:
        self.library = library
        self._told = folder / "offset"
        self.set_off(0)
        self.environ = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._told),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def set_off(self, seconds: float) -> None:
        """Let it be so far from the machine's: above zero, ahead."""
        written = self._told.with_suffix(".new")
        written.write_text(f"{seconds:+.6f}\n")
        written.chmod(0o644)  # a server may run as somebody else
        written.rename(self._told)


@pytest.fixture
def wall_clock() -> Iterator[WallClock]:
    """A clock of this test's own."""
    spec = find_spec("libfaketime")
    if spec is None or spec.origin is None or sys.platform != "linux":
        pytest.skip("no clock to set: libfaketime is for Linux")
    library = Path(spec.origin).parent / "vendor/libfaketime/src/libfaketime.so.1"
    folder = Path(tempfile.mkdtemp(prefix="rl-clock-"))
    folder.chmod(0o755)
    try:
        made = WallClock(folder, library)
        made.set_off(-86_400)
        told = subprocess.run(
            ["date", "+%s"], env=made.environ, capture_output=True, text=True, check=True
        )
        if abs(int(told.stdout) + 86_400 - time.time()) > 600:
            pytest.skip(
                f"no clock to set: {told.stderr.strip() or 'libfaketime does nothing here'}"
            )
        made.set_off(0)
        yield made
    finally:
        shutil.rmtree(folder)
