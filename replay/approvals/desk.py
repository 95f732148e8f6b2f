"""Asks for approval, and records the answer together with what was asked for."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import Refused, Usage
from ledger.facts import ApprovalRequested
from ledger.record.wire import fact_of
from replay.approvals.acts import ANOTHER, PEOPLE, MadeFact, Proposed, act_of, rows_about
from replay.approvals.request import (
    HOURS,
    ApprovalRequest,
    first_at,
    name_at,
    source_of,
)
from replay.recording.decisions import Decisions
from replay.recording.house_facts import now_us
from replay.text.typed import same_people

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from infra.access.users import Account, User
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.wire import Fact
    from replay.approvals.acts import Act

LISTED_US = 7 * 24 * 3_600_000_000
"""How long a request is listed, microseconds: answered and expired ones, too."""

CHANGED = "It has changed since it was asked for"


class ShownRequest(NamedTuple):
    """A request as people see it. made: None if it cannot be approved; why: the reason."""

    case: ApprovalRequest
    act: Act
    made: MadeFact | None
    why: str = ""


class ApprovalDecisions(Decisions[Any]):
    """Requests of a ledger: asked for, shown, answered."""

    def __init__(self, database: Database, tape: PostgresTape, home: Path) -> None:
        super().__init__(database, rows_about=partial(rows_about, database))
        self._tape, self._home = tape, home

    def ask(
        self,
        act: str,
        property_: str,
        terms: Mapping[str, str],
        user: User,
        asked: str | None = None,
    ) -> ApprovalRequest:
        """Put a request of a signed-in person on record.

        asked: the only person who may approve it. Raises `Refused` and `Usage`, as the act itself.
        """
        row = act_of(act)
        if not user.has(*row.asks):
            raise _not_of_the_role(user.employee, row)
        if asked is not None and same_people([asked], [user.employee]):
            raise Usage(
                f"{user.employee} cannot be both people",
                where="second",
                hint="Name another person, who signs in and approves.",
            )
        terms = {name: text for name, text in terms.items() if text}
        made = row.make(self._proposed(property_, terms, user.employee))
        new = ApprovalRequest(property=property_, name=name_at(now_us()))
        body = ApprovalRequested(
            act=act,
            about=made.about,
            terms=terms,
            digest=row.digest(made),
            hours=HOURS,
            by=user.employee,
            user=user.name,
            asked=asked,
        )
        self.decide(new, body)
        return self.request(property_, new.name)

    def record(
        self, act: str, property_: str, terms: Mapping[str, str], people: tuple[str, str]
    ) -> int:
        """Record an act at once, by two people as they name themselves; the position of its fact.

        It is for a ledger without users. Raises `Refused` and `Usage`, as the act itself.
        """
        made = act_of(act).make(self._proposed(property_, terms, *people))
        [position] = self.decide_together((made.case, made.body), release=made.release)
        made.done()
        return position

    def request(self, property_: str, name: str) -> ApprovalRequest:
        """A request. Raises `NotFound`."""
        found: ApprovalRequest = self.read(ApprovalRequest(property=property_, name=name))
        found.require()
        return found

    def shown(self, property_: str, name: str) -> ShownRequest:
        """A request with what it would record now. Raises `NotFound`."""
        case = self.request(property_, name)
        act = act_of(case.request.act)
        if case.state(now_us()) != "waiting":
            return ShownRequest(case, act, None)
        try:
            return ShownRequest(case, act, self._made(case, act, ANOTHER))
        except (Refused, Usage) as error:
            return ShownRequest(case, act, None, f"{error.what}. {error.hint}")

    def give(
        self, case: ApprovalRequest, user: User, digest: str, accounts: Sequence[Account]
    ) -> None:
        """Approve a request: what it asks for is recorded with the approval, or neither is.

        digest: of what the person was shown. accounts: all users. Raises `Refused`.
        """
        act = act_of(case.request.act)
        if not user.has(*act.gives):
            raise _not_of_the_role(user.employee, act)
        given = case.give(user, now_us())
        _require_asker(case, act, accounts)
        made = self._made(case, act, user.employee)
        if digest != case.request.digest:
            raise _changed(case)
        self.decide_together((case, given), (made.case, made.body), release=made.release)
        made.done()

    def refuse(self, case: ApprovalRequest, user: User, because: str) -> None:
        """Refuse a request, with a reason. Raises `Refused`, `Usage`."""
        act = act_of(case.request.act)
        if not user.has(*act.gives):
            raise _not_of_the_role(user.employee, act)
        self.decide(case, case.refuse(user, because, now_us()))

    def withdraw(self, case: ApprovalRequest, user: User) -> None:
        """Take one's own request back. Raises `Refused`."""
        self.decide(case, case.withdraw(user, now_us()))

    def recent(self, property_: str | None = None) -> list[ApprovalRequest]:
        """The requests of the last seven days, newest first; None: of every property."""
        houses = {head.tape.partition("/")[0] for head in self._tape.heads()}
        found = [
            case
            for house in sorted(houses if property_ is None else {property_} & houses)
            for case in self._recent(house)
        ]
        return sorted(found, key=lambda case: case.name, reverse=True)

    def waiting(self, property_: str | None = None) -> list[ApprovalRequest]:
        """The requests that wait, newest first."""
        now = now_us()
        return [case for case in self.recent(property_) if case.state(now) == "waiting"]

    def to_answer(self, user: User) -> int:
        """How many requests wait that this person may approve."""
        return sum(
            user.has(*act_of(case.request.act).gives) and not case.is_of(user)
            for case in (self.waiting() if user.has(*PEOPLE) else ())
        )

    def _recent(self, property_: str) -> list[ApprovalRequest]:
        source = "/" + "/".join(source_of(property_))
        rows = self._tape.told_from(source, first_at(now_us() - LISTED_US), "g")
        facts: dict[str, list[Fact]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.position):
            facts[row.id.rpartition("/")[0]].append(fact_of(row))
        found = [
            ApprovalRequest(property=property_, name=name).taking(facts[name]) for name in facts
        ]
        return [case for case in found if case.asked]

    def _made(self, case: ApprovalRequest, act: Act, second: str) -> MadeFact:
        """What a request would record now. Raises `Refused` if that is not what was asked for."""
        asked = case.request
        made = act.make(self._proposed(case.property, asked.terms, asked.by, second))
        if act.digest(made) != asked.digest:
            raise _changed(case)
        return made

    def _proposed(
        self, property_: str, terms: Mapping[str, str], by: str, second: str = ANOTHER
    ) -> Proposed:
        return Proposed(self.database, self._home, self.read, property_, terms, by, second)


def _require_asker(case: ApprovalRequest, act: Act, accounts: Sequence[Account]) -> None:
    """Raise `Refused` if who asked may not ask any more."""
    asker = next((each for each in accounts if each.name == case.request.user), None)
    if asker is None or asker.disabled_at_us is not None or act.asks.isdisjoint(asker.roles):
        raise Refused(
            f"{case.request.by} may not ask for this any more",
            where=f"request {case.name}",
            hint="Let another person ask for it again.",
        )


def _not_of_the_role(employee: str, act: Act) -> Refused:
    return Refused(
        f"{employee} has no role for this",
        where=act.title,
        hint=f"Let somebody with the role {' or '.join(sorted(act.asks | act.gives))} sign in.",
    )


def _changed(case: ApprovalRequest) -> Refused:
    return Refused(
        CHANGED,
        where=f"request {case.name}",
        hint="Nothing was recorded. Withdraw it, and ask for it again.",
    )
