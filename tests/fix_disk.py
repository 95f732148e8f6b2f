"""Full disks: a tmpfs so small that a test can fill it, and a record that answers as if on one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.postgres import database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.settings import Settings

_BLOCK = b"\0" * 65_536


class Disk:
    """A small file system. What fills it is a file beside the others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._balloon = folder / "balloon"

    @property
    def free(self) -> int:
        return shutil.disk_usage(self.folder).free

    def fill(self, leaving: int = 0) -> None:
        """Take all space but so many octets."""
        with self._balloon.open("ab") as out, suppress(OSError):
            while self.free > leaving:
                out.write(_BLOCK[: max(1, min(len(_BLOCK), self.free - leaving))])
                out.flush()

    def give_back(self) -> None:
        self._balloon.unlink()


@pytest.fixture
def disk_of() -> Iterator[Callable[[int], Disk]]:
    """Makes a disk of so many MiB."""
    mounted: list[Path] = []

    def make(mib: int) -> Disk:
        folder = Path(tempfile.mkdtemp(prefix="rl-disk-"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=0755", "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            os.rmdir(folder)  # noqa: PTH106 - only where it is empty
            pytest.skip(f"no small disk: {done.stderr.strip()}")
        mounted.append(folder)
        return Disk(folder)

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


@contextmanager
def no_room(settings: Settings) -> Iterator[None]:
    """A record that answers every fact as one whose disk is full does."""
    with database(settings) as base, base.connect("ledger_owner") as owner:
        owner.execute(
            "CREATE FUNCTION ledger.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE 'no room for what leaves' USING ERRCODE = 'disk_full'; END $$"
        )
        owner.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON ledger.tape"
            " EXECUTE FUNCTION ledger.full_disk()"
        )
        try:
            yield
        finally:
            owner.execute("DROP FUNCTION ledger.full_disk() CASCADE")
