"""The door of one process: facts are checked against the roster before they are appended.

Rosters are read from the record at most every few seconds, so that a revocation takes effect within
them. Several threads may share a door.
"""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from infra.access.connections import AccessDatabase
from infra.access.users import Users
from ledger.errors import Denied, Unavailable
from ledger.record.tape import Quarantined, Received
from ledger.record.wire import fact_of
from ledger.roster.door import checked, may_need_two
from ledger.roster.roster import NO_ROSTER, OFFICE, ROSTER_FACTS, Roster, taking
from replay.roster.key_files import verifies

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

KNOWN_S = 2.0
"""Seconds for which a roster is remembered; a revocation takes effect within them."""

KNOWN_MAX = 10_000
"""The most properties whose rosters are remembered, those without one included."""

_NEVER = float("-inf")

AT_THE_MACHINE = ("os:", "user:")
"""How the sender begins of what a person brings by a command, signed in or not."""

Judged = Received | Quarantined
Identity = tuple[str, str]


class _Known(NamedTuple):
    until: float
    seq: int  # of the office's tape, up to which it was read
    roster: Roster


class Door:
    """Checks facts against the rosters on record."""

    def __init__(
        self,
        tape: PostgresTape,
        *,
        now_us: Callable[[], int] = lambda: time.time_ns() // 1000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tape = tape
        self._now_us = now_us
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._reading = threading.Lock()
        self._users = False
        self._no_users_until = _NEVER

    def is_quick(self, judged: Sequence[Judged]) -> bool:
        """Whether these can be checked without the database and without a signature."""
        if any(map(_may_need_two, judged)):
            return False
        known = [self._known.get(name) for name in _properties(judged)]
        now = self._clock()
        return all(each and now < each.until and not each.roster.keys for each in known)

    def judged(self, judged: Sequence[Judged], sender: str | None) -> list[Judged]:
        """These inputs with who brought them; refused facts are quarantined.

        Raises `Unavailable` if a roster cannot be read.
        """
        rosters = {name: self.roster(name) for name in _properties(judged)}
        now_us = self._now_us()
        is_brought = bool(sender) and str(sender).startswith(AT_THE_MACHINE)
        names_two = any(map(_may_need_two, judged))
        has_users = (is_brought or names_two) and self._has_users(at_once=names_two)
        waiting = self._waiting(judged) if is_brought and has_users else set()
        return [
            _checked(
                each,
                rosters,
                sender,
                now_us,
                has_users=has_users and not self._is_again(each, waiting),
                is_waiting=_identity(each) in waiting,
            )
            for each in judged
        ]

    def _is_again(self, each: Judged, waiting: Container[Identity | None]) -> bool:
        """Whether its source and id are on record: it is a duplicate or an equivocation then."""
        if not isinstance(each, Received):
            return False
        is_meant = may_need_two(each) or _identity(each) in waiting
        return is_meant and self._tape.is_on_record(each.source, each.id)

    def _waiting(self, judged: Sequence[Judged]) -> set[Identity]:
        """The identities of these that an input in quarantine names, too."""
        return self._tape.waiting([of for each in judged if (of := _identity(each))])

    def _has_users(self, *, at_once: bool) -> bool:
        """Whether the ledger has users: asked at once, or at most `KNOWN_S` ago.

        Once it has, that stays so.
        """
        if not self._users and (at_once or self._clock() >= self._no_users_until):
            self._users = _has_users(self._tape.database)
            self._no_users_until = self._clock() + KNOWN_S
        return self._users

    def roster(self, property_: str) -> Roster:
        """The roster of a property, at most `KNOWN_S` old while the database answers.

        Raises `Unavailable` if it was never read.
        """
        known = self._known.get(property_)
        if known is not None and self._clock() < known.until:
            return known.roster
        with self._reading:
            known = self._known.get(property_) or _Known(_NEVER, 0, NO_ROSTER)
            if self._clock() < known.until:
                return known.roster
            until = self._clock() + KNOWN_S
            if len(self._known) >= KNOWN_MAX:
                self._known.clear()
            try:
                seq, roster = read_roster(self._tape, property_, known.seq, known.roster)
            except Unavailable:
                if known.until == _NEVER:
                    raise
                seq, roster = known.seq, known.roster  # nothing is appended meanwhile either
            self._known[property_] = _Known(until, seq, roster)
            return roster


def read_roster(
    tape: PostgresTape, property_: str, after_seq: int = 0, roster: Roster = NO_ROSTER
) -> tuple[int, Roster]:
    """A property's roster as the record has it, and the sequence number it was read to."""
    rows, seq = tape.of_types(f"{property_}/{OFFICE}", after_seq, ROSTER_FACTS)
    return seq, taking(roster, map(fact_of, rows), verifies) if rows else roster


def _may_need_two(each: Judged) -> TypeGuard[Received]:
    return isinstance(each, Received) and may_need_two(each)


def _identity(each: Judged) -> Identity | None:
    return (each.source, each.id) if isinstance(each, Received) else None


def _has_users(database: Database) -> bool:
    """Whether the ledger has users. For a login that may not know, it has."""
    try:
        with closing(AccessDatabase(database)) as access:
            return Users(access).any()
    except Denied:
        return True


def _properties(judged: Sequence[Judged]) -> set[str]:
    return {each.tape.partition("/")[0] for each in judged if isinstance(each, Received)}


def _checked(
    each: Judged,
    rosters: dict[str, Roster],
    sender: str | None,
    now_us: int,
    *,
    has_users: bool,
    is_waiting: bool,
) -> Judged:
    if isinstance(each, Quarantined):
        return each._replace(sender=sender)
    brought = Received(*each[:-1], sender)
    roster = rosters[each.tape.partition("/")[0]]
    return checked(brought, roster, now_us, verifies, has_users=has_users, is_waiting=is_waiting)
