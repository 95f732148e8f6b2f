"""A server whose every flush takes at least so long: the disk of a cloud volume, on any machine.

A few lines of C stand before fsync and fdatasync of that server's processes (LD_PRELOAD) and wait
out the rest of the time after the real call. PostgreSQL is unchanged and still flushes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from infra.postgres.server.embedded import embedded

if TYPE_CHECKING:
    from collections.abc import Iterator

FLUSH_MS = 2.0
"""What a flush takes on the slowed server, milliseconds."""

_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int slowed(const char *name, int file)
{
    struct timespec until, *end = &until;
    clock_gettime(CLOCK_MONOTONIC, end);
    end->tv_nsec += FLUSH_NS;
    end->tv_sec += end->tv_nsec / 1000000000;
    end->tv_nsec %= 1000000000;
    int answer = ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, end, 0);
    return answer;
}

int fsync(int file) { return slowed("fsync", file); }
int fdatasync(int file) { return slowed("fdatasync", file); }
"""


class NotHereError(Exception):
    """Flushes cannot be slowed on this machine; says why."""


@contextmanager
def slowed(home: Path) -> Iterator[str]:
    """As `embedded(home)`, on a server with slow flushes. Raises `NotHereError`."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-flush-") as folder:
        library = _compiled(Path(folder))
        with embedded(home):
            pass  # made at full speed; only what is measured is slowed
        os.environ["LD_PRELOAD"] = str(library)
        server = embedded(home)
        try:
            url = server.__enter__()
        finally:
            del os.environ["LD_PRELOAD"]
        try:
            yield url
        finally:
            server.__exit__(None, None, None)


def _compiled(folder: Path) -> Path:
    compiler = shutil.which("cc")
    if sys.platform != "linux" or not compiler or os.environ.get("LD_PRELOAD"):
        raise NotHereError("needs Linux, a C compiler named cc, and no LD_PRELOAD of another's")
    source, library = folder / "slow.c", folder / "slow.so"
    source.write_text(_SHIM)
    options = ["-shared", "-fPIC", "-O1", f"-DFLUSH_NS={int(FLUSH_MS * 1e6)}L"]
    done = subprocess.run(
        [compiler, *options, "-o", library, source, "-ldl"], capture_output=True, check=False
    )
    if done.returncode:
        raise NotHereError(f"{compiler} failed: {done.stderr.decode(errors='replace').strip()}")
    folder.chmod(0o755)  # the server may run as another user
    return library


class Flushes:
    """What the server says its flushes of the log took, between `__init__` and `mean_ms`."""

    def __init__(self, url: str) -> None:
        self._url = url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET track_wal_io_timing = on")
            connection.execute("SELECT pg_reload_conf()")
        self._before = self._told()

    def mean_ms(self) -> float:
        """Milliseconds a flush, by the server's own clock."""
        count, took_ms = (now - then for now, then in zip(self._told(), self._before, strict=True))
        return round(took_ms / count, 3)

    def _told(self) -> tuple[float, float]:
        with psycopg.connect(self._url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT sum(fsyncs), sum(fsync_time) FROM pg_stat_io WHERE object = 'wal'"
            ).fetchone()
        assert row
        return float(row[0]), float(row[1])
