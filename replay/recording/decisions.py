"""Decisions of people: aggregates of the eventsourcing library whose events are facts.

What is decided here is saved with the next version of its aggregate, so that one of two decisions
at once is refused. Facts of the same kinds that other systems recorded have other ids; an
aggregate is folded from both, in the order of the record.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, cast

from eventsourcing.persistence import IntegrityError, PersistenceError
from msgspec.structs import replace

from infra.postgres.recorder import Decided, Record, application_env, event_of, identity
from ledger.errors import Refused, Unavailable
from ledger.record.wire import fact_of
from ledger.values import Source
from replay.recording.house_facts import build_fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.recorder import InputRelease
    from ledger.facts import Body
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact


class Aggregate(Protocol):
    """A thing that people decide about: immutable, folded from facts, with its rules inside."""

    @property
    def id(self) -> str:
        """Source and name of its facts decided here: `<source>/<name>`."""

    @property
    def version(self) -> int:
        """The number of the last of its ids that is taken without a gap: `Decisions.read` sets it.

        Somebody else's fact may have taken an id; the next decision has the next free one.
        """

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, in the order of the record."""


A = TypeVar("A", bound=Aggregate)


class Decisions(Record, Generic[A]):
    """Reads aggregates of one kind and records decisions on them; `close` ends its connections.

    Raises `Denied` if the login may not decide, `Unavailable` if the database does not answer.
    rows_about: the rows of the record about an aggregate, from a view; in any order.
    """

    def __init__(self, database: Database, rows_about: Callable[[A], Sequence[TapeRow]]) -> None:
        self.database = database
        self._about = rows_about
        database.connect("ledger_desk").close()  # refused at once; the pool waits for 30 s
        super().__init__(env=application_env(database))

    def read(self, new: A) -> A:
        """The aggregate that `new` names, from all its facts; `new` itself if it has none.

        What was decided here is read from the record, the rest as far as the view has read.
        """
        told = [event_of(row) for row in self._about(new)]

        def folded(_: A | None, own: Iterable[Decided]) -> A:
            decided = list(own)
            events = {event.position: event for event in (*told, *decided)}
            case: Any = new.taking(fact_of(events[at].fact) for at in sorted(events))
            taken = {event.originator_version for event in decided}
            return cast("A", replace(case, version=next(n for n in count(1) if n not in taken) - 1))

        with self._answering():
            return self.repository.get(new.id, projector_func=folded)

    def decide(self, case: A, *bodies: Body, subject: str | None = None) -> list[int]:
        """Record decisions after the version of `case`; their positions.

        Raises `Refused` if another decision was recorded in between; then nothing is kept.
        """
        return self._save(case.id, _events(case, bodies, subject))

    def decide_together(
        self, *steps: tuple[Aggregate, Body], release: InputRelease | None = None
    ) -> list[int]:
        """Record a decision on each of several aggregates in one transaction. As `decide`.

        release: an input that is released from quarantine in the same transaction.
        """
        events = [event for case, body in steps for event in _events(case, (body,))]
        return self._save(" and ".join(case.id for case, _ in steps), events, release)

    def _save(
        self, where: str, events: Sequence[Decided], release: InputRelease | None = None
    ) -> list[int]:
        with self._answering():
            try:
                kept = self.save(*events, release=release)
            except IntegrityError as error:
                raise Refused(
                    "Someone else has just changed it",
                    where=where,
                    hint="Read it again, then repeat your step.",
                ) from error
        return [int(each.notification.id) for each in kept]

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Raise the library's errors of a database that does not answer as `Unavailable`."""
        try:
            yield
        except PersistenceError as error:
            raise Unavailable(
                f"The database does not answer: {error}",
                where=self.database.where,
                hint="Try again.",
            ) from error


def _events(case: Aggregate, bodies: Iterable[Body], subject: str | None = None) -> list[Decided]:
    """Facts as the next events of an aggregate."""
    events = []
    for version, body in enumerate(bodies, case.version + 1):
        source, fact_id = identity(case.id, version)
        fact = build_fact(body, Source(*source.split("/")[1:]), subject=subject, id=fact_id)
        events.append(Decided(case.id, version, fact))
    return events
