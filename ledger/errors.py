"""The errors of the program. Each says what happened, where, and what to do now.

LedgerError
├── Usage         the command, a setting or an input cannot be used as given      (exit code 2)
├── NotFound      the record does not have it                                     (exit code 2)
├── Refused       the request is not allowed or contradicts the record            (exit code 2)
└── Unavailable   a service does not answer: try again later                      (exit code 3)
    ├── Busy      too many requests are waiting: nothing of this one was kept
    ├── Denied    a login lacks a right: nothing was done, and trying again does not help
    └── Lacking   a part other than the record is absent; the message may be shown to anybody
A broken rule is a finding, which is a value and not an error.
"""

from __future__ import annotations

from typing import ClassVar


class LedgerError(Exception):
    """An error a person can act on: `what` happened, `where`, and a `hint` what to do now."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str, hint: str) -> None:
        super().__init__(what, where, hint)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what} ({self.where}). {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        """Keyword-only arguments do not survive the default pickling between processes."""
        return (_rebuild, (type(self), self.what, self.where, self.hint))


class Stopped(KeyboardInterrupt):
    """A signal asked the process to stop. It unwinds, so that what is open is closed."""


def _rebuild(kind: type[LedgerError], what: str, where: str, hint: str) -> LedgerError:
    return kind(what, where=where, hint=hint)


class Usage(LedgerError):  # noqa: N818 - reads as what it says: a usage error
    """A command, a setting or an input cannot be used as given."""

    code = "usage"


class NotFound(LedgerError):  # noqa: N818 - as above
    """The record does not have what was asked for."""

    code = "not_found"


class Refused(LedgerError):  # noqa: N818 - as above
    """The request is not allowed, or contradicts the record."""

    code = "refused"


class Unavailable(LedgerError):  # noqa: N818 - as above
    """A service does not answer.

    After an append the outcome is unknown. Repeating it is always safe: a fact that was kept is
    answered `duplicate` with its original receipt.
    """

    code = "unavailable"
    exit_code = 3


class Busy(Unavailable):
    """Too many requests are waiting. Nothing of this one was kept."""

    code = "busy"


class Denied(Unavailable):
    """A login lacks a right. Nothing was done, and it stays so until somebody grants the right."""

    code = "denied"


class Lacking(Unavailable):
    """A part other than the record is not installed, or does not answer.

    Its message may be shown to any user. A message of the database may not.
    """

    code = "lacking"
