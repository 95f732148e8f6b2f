"""The one command, `round-ledger`: a folder for each family of commands.

It decides nothing: what a command says comes from the parts it calls. The table of commands is in
`replay.cli.shell.app`.
"""

from __future__ import annotations

import signal

_INTERRUPTED = 128 + signal.SIGINT


def main() -> None:
    """Run the command named on the command line; ends the process with its exit code."""
    try:
        from replay.cli.shell.app import run  # noqa: PLC0415 - a library user of `replay` needs no Typer
    except KeyboardInterrupt:  # while it loads: seconds on a busy machine
        raise SystemExit(_INTERRUPTED) from None
    run()
