"""A request: what a person asks to have put on record, and another person's answer to it.

It is an aggregate on the tape of its property's office, and has two facts at most.
"""

from __future__ import annotations

import builtins
import secrets
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from infra.postgres.recorder import aggregate_id, version_of
from ledger.errors import NotFound, Refused
from ledger.facts import ApprovalGiven, ApprovalRefused, ApprovalRequested, ApprovalWithdrawn
from ledger.values import Source
from replay.text.typed import same_people, written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.access.users import User
    from ledger.record.wire import Fact

DEVICE = "approvals"
"""The device of requests: `/<property>/office/approvals`."""

HOURS = 24
"""How long a request waits."""

State = Literal["waiting", "approved", "refused", "withdrawn", "expired"]

_HOUR_US = 3_600_000_000


def source_of(property_: str) -> Source:
    """The source of a property's requests."""
    return Source(property_, "office", DEVICE)


def name_at(time_us: int) -> str:
    """The name of a new request; later ones sort later."""
    return f"{first_at(time_us)}-{secrets.token_hex(3)}"


def first_at(time_us: int) -> str:
    """What sorts before every request from this time on, and after every earlier one."""
    return f"{time_us:014x}"


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """A request, folded from its facts. `asked` is None before it is on record."""

    property: str
    name: str
    version: int = 0
    asked: ApprovalRequested | None = None
    asked_at_us: int = 0
    answer: ApprovalGiven | ApprovalRefused | ApprovalWithdrawn | None = None
    answered_at_us: int = 0

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate."""
        return aggregate_id(source_of(self.property), self.name)

    @builtins.property  # as above
    def request(self) -> ApprovalRequested:
        """What was asked. Raises `NotFound` if nothing was."""
        return self.require()

    def require(self) -> ApprovalRequested:
        """What was asked. Raises `NotFound` if nothing was."""
        if self.asked is None:
            raise NotFound(
                f"There is no request {self.name}",
                where=self.property,
                hint="List them with `round-ledger approve list`.",
            )
        return self.asked

    @builtins.property  # as above
    def until_us(self) -> int:
        """When it expires, microseconds since the epoch."""
        return self.asked_at_us + self.request.hours * _HOUR_US

    @builtins.property  # as above
    def page(self) -> str:
        """The address of its page."""
        return f"/approvals/{self.property}/{self.name}"

    @builtins.property  # as above
    def because(self) -> str | None:
        """Why it was refused; None if it was not."""
        return self.answer.because if isinstance(self.answer, ApprovalRefused) else None

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, in the order of the record."""
        case = self
        for fact in facts:
            version = version_of(self.id, fact.source, fact.id)
            if not version:
                continue
            if isinstance(fact.body, ApprovalRequested):
                case = replace(case, version=version, asked=fact.body, asked_at_us=fact.time_us)
            elif isinstance(fact.body, ApprovalGiven | ApprovalRefused | ApprovalWithdrawn):
                case = replace(case, version=version, answer=fact.body, answered_at_us=fact.time_us)
        return case

    def state(self, now_us: int) -> State:
        """What became of it."""
        match self.answer:
            case ApprovalGiven():
                return "approved"
            case ApprovalRefused():
                return "refused"
            case ApprovalWithdrawn():
                return "withdrawn"
            case None:
                return "waiting" if now_us < self.until_us else "expired"

    def is_of(self, user: User) -> bool:
        """Whether this person asked, as this user or as another one."""
        asked = self.request
        return user.name == asked.user or bool(same_people([user.employee], [asked.by]))

    def give(self, user: User, now_us: int) -> ApprovalGiven:
        """Another person approves it. Raises `Refused`."""
        self._require_waiting(now_us)
        self._require_other(user)
        return ApprovalGiven(
            request=self.name, digest=self.request.digest, by=user.employee, user=user.name
        )

    def refuse(self, user: User, because: str, now_us: int) -> ApprovalRefused:
        """Another person refuses it. Raises `Refused`, `Usage` without a reason."""
        self._require_waiting(now_us)
        self._require_other(user)
        because = written(because.strip(), "because")
        return ApprovalRefused(request=self.name, because=because, by=user.employee, user=user.name)

    def withdraw(self, user: User, now_us: int) -> ApprovalWithdrawn:
        """Who asked takes it back. Raises `Refused`."""
        self._require_waiting(now_us)
        if not self.is_of(user):
            raise self._refused(
                f"{self.request.by} asked for it", "Refuse it, or let that person withdraw it."
            )
        return ApprovalWithdrawn(request=self.name, by=user.employee, user=user.name)

    def _require_waiting(self, now_us: int) -> None:
        state = self.state(now_us)
        if state == "expired":
            says = f"It waited for more than {self.request.hours} hours"
            raise self._refused(says, "Ask for it again.")
        if self.answer is not None:
            raise self._refused(f"It was {state} by {self.answer.by}", "Nothing needs to be done.")

    def _require_other(self, user: User) -> None:
        if self.is_of(user):
            raise self._refused(
                f"{user.employee} asked for it, and nobody approves their own",
                "Let another person sign in, and approve or refuse it.",
            )
        asked = self.request.asked
        if asked is not None and not same_people([user.employee], [asked]):
            raise self._refused(f"{asked} is asked, not {user.employee}", f"Let {asked} sign in.")

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"request {self.name}", hint=hint)
