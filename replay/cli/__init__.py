"""The one command, `round-ledger`: a folder for each family of commands.

Commands parse, call and print; the work is done elsewhere. The table of commands is in
`replay.cli.shell.app`.
"""

from __future__ import annotations

import signal

_INTERRUPTED = 128 + signal.SIGINT


def main() -> None:
    """Run the command on the command line; ends the process with its exit code."""
    try:
        from replay.cli.shell.app import run  # noqa: PLC0415 - a library user of `replay` needs no Typer
    except KeyboardInterrupt:  # while modules load, which can take seconds
        raise SystemExit(_INTERRUPTED) from None
    run()
