"""The command under a limit of memory, which is what it has once loaded and so much more.

`MIB MODE ARGUMENT...`. MODE `right` is the command as it is; `hungry` is the mutant whose views
take in all there is at once, whether they read it or not.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from pathlib import Path

from consumers.runtime.runner import Runner
from replay.cli import main as command
from replay.cli.feed import views  # noqa: F401 - loaded before it is measured

ALL = 10**9


def main(mib: str, mode: str, *arguments: str) -> None:
    if mode == "hungry":
        _hungry()
    most = _octets() + int(mib) * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    sys.argv = ["round-ledger", *arguments]
    command()


def _octets() -> int:
    """What this process may write to, as the limit counts it."""
    told = Path("/proc/self/status").read_text()
    return int(told.partition("VmData:")[2].split()[0]) * 1024


def _hungry() -> None:
    step = Runner.step

    def whole(self: Runner) -> bool:
        self._options = replace(self._options, batch_rows=ALL)
        self._skipped = ()
        return step(self)

    Runner.step = whole  # type: ignore[method-assign]


if __name__ == "__main__":
    main(*sys.argv[1:])
