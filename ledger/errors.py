"""What can go wrong for a user or a caller, each with what, where and what to do now.

LedgerError
├── Usage         the command, a setting or an input cannot be used as given      (exit code 2)
├── NotFound      what was asked for is not on record                             (exit code 2)
├── Refused       asked for something that is not allowed or contradicts the record (exit code 2)
└── Unavailable   something needed does not answer: ask again later               (exit code 3)
    ├── Busy      more is waiting than this process accepts: nothing was kept
    └── Lacking   something beside the record is not there; anybody may be told what
Findings of the rules are values, not errors.
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


def _rebuild(kind: type[LedgerError], what: str, where: str, hint: str) -> LedgerError:
    return kind(what, where=where, hint=hint)


class Usage(LedgerError):  # noqa: N818 - reads as what it says: a usage error
    """A command, a setting or an input cannot be used as it was given."""

    code = "usage"


class NotFound(LedgerError):  # noqa: N818 - as above
    """What was asked for is not on record."""

    code = "not_found"


class Refused(LedgerError):  # noqa: N818 - as above
    """What was asked for is not allowed, or contradicts what is on record."""

    code = "refused"


class Unavailable(LedgerError):  # noqa: N818 - as above
    """Something needed does not answer.

    After an append the outcome is unknown: asking again is always safe, because a fact that was
    kept is answered `duplicate` with its original receipt.
    """

    code = "unavailable"
    exit_code = 3


class Busy(Unavailable):
    """More is waiting than is accepted at once; of this call nothing was kept."""

    code = "busy"


class Lacking(Unavailable):
    """Something beside the record is not installed, or does not answer.

    Unlike what a database says of itself, what it says may be shown to whoever asked.
    """

    code = "lacking"
