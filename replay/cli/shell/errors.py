"""How a command ends: the exit code, and a user's mistake reported without a traceback.

0 done, nothing found. 1 findings. 2 usage or unreadable input. 3 something needed is not
available. 130 or 143 stopped by SIGINT or SIGTERM. 141 the reader of the output went away.
A traceback always means a defect of this program.
"""

import errno
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from ledger.errors import LedgerError, Stopped, Unavailable
from replay.text.extras import extra_of, install

FINDINGS = 1
"""Exit code of a command that did its work and found something."""

STOPPED = 128 + signal.SIGTERM
"""Exit code of a command that a signal ended before its work was done."""

_READER_GONE = 128 + signal.SIGPIPE

_OF_THE_MACHINE = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EMFILE,
}
"""What a disk or a login does not allow: no defect of ours, wherever it is met."""


@contextmanager
def ending() -> Iterator[None]:
    """Turn every foreseen end of a command into its exit code."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        yield
        sys.stdout.flush()
    except typer.BadParameter as error:
        error.message = in_plain_words(error.message)
        raise
    except LedgerError as error:
        tell(error)
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:
        _forget_output()
        raise typer.Exit(_READER_GONE) from None
    except ModuleNotFoundError as error:
        extra = extra_of(error.name or "")
        if extra is None:
            raise
        tell(_not_installed(error.name or "", extra))
        raise typer.Exit(Unavailable.exit_code) from None
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            raise
        tell(_not_allowed(error))
        raise typer.Exit(Unavailable.exit_code) from None
    except KeyboardInterrupt as stop:
        number = signal.SIGTERM if isinstance(stop, Stopped) else signal.SIGINT
        raise typer.Exit(128 + number) from None


_PLAIN = (
    (r"^Value error, ", ""),
    (r"^Input should be greater than or equal to (.+?)\.?$", r"give \1 or more."),
    (r"^Input should be less than or equal to (.+?)\.?$", r"give \1 or less."),
    (r"^Input should be a valid integer\b.*", "give a whole number."),
    (r"^Input should be a valid number\b.*", "give a number."),
)
"""The words of the library that reads arguments, and plain ones."""


def in_plain_words(message: str) -> str:
    """What is wrong with an argument, without the words of the library that read it."""
    for theirs, ours in _PLAIN:
        message = re.sub(theirs, ours, message)
    return message


def _not_installed(module: str, extra: str) -> LedgerError:
    return Unavailable(
        f"This command needs the extra `{extra}`, which is not installed",
        where=f"the Python module {module}",
        hint=f"Install it with: {install(extra)}",
    )


def _not_allowed(error: OSError) -> LedgerError:
    return Unavailable(
        f"The machine does not allow it: {error.strerror}",
        where=str(error.filename or "a file"),
        hint="See that the disk has space and can be written to, and that this login may.",
    )


def tell(error: LedgerError) -> None:
    """What is wrong, where, and what to do now, on stderr."""
    what = error.what.rstrip(".")
    sys.stderr.write(f"round-ledger: {what}.\n  where: {error.where}\n  do:    {error.hint}\n")


def _stop(number: int, frame: object) -> NoReturn:
    del number, frame
    raise Stopped


def _forget_output() -> None:
    """Nobody reads our output any more: let the interpreter's last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
