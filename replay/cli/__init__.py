"""The one command, `round-ledger`: a folder for each family of commands.

Commands parse, call and print; the work is done elsewhere. The table of commands is in
`replay.cli.shell.app`.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

from replay.shell import collector

_INTERRUPTED = 128 + signal.SIGINT


def main() -> None:
    """Run the command on the command line; ends the process with its exit code."""
    _open_closed_streams()
    ended: list[int] = []
    atexit.register(_end_at_once, ended)  # before any other, so it runs after all others
    collector.pause()
    try:
        from replay.cli.shell.app import run  # noqa: PLC0415 - a library user of `replay` needs no Typer
    except KeyboardInterrupt:  # while modules load, which can take seconds
        raise SystemExit(_INTERRUPTED) from None
    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int):
            ended.append(end.code)
        raise


def _open_closed_streams() -> None:
    """Let a standard stream that was closed be the null device, so that no other file takes it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - a stream as the others


def _end_at_once(ended: list[int]) -> None:
    """End the process with its exit code, once its threads and all other handlers have ended.

    The interpreter would first take down every module, which takes 0.1 s. Any other end, such as a
    traceback, is left to it. So is output that cannot be written, which it reports. With `-W` or
    PYTHONWARNINGS it ends every command, so that tests see what was left open.
    """
    if not ended or sys.warnoptions:
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream:  # None if it was closed before the start
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(ended[0])
