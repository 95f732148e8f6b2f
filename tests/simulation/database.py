"""A PostgreSQL of the imagination: atomic commits, row locks, lost sessions and lost answers.

What is asked of it stands in `stores`; here is what is committed, and when.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledger.errors import Unavailable
from ledger.record.tape import (
    GENESIS,
    InQuarantine,
    Quarantined,
    Receipt,
    Received,
    TapeRow,
    chain_hash,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.simulation.world import Actor, World

_GONE = object()
Key = tuple[Any, ...]


class Postgres:
    """What is committed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rows: list[TapeRow] = []
        self.identity: dict[tuple[str, str], TapeRow] = {}
        self.heads: dict[str, TapeRow] = {}
        self.aside: list[InQuarantine] = []
        self.kept: dict[str, dict[Key, Any]] = {
            name: {}
            for name in (
                "tracking",
                "parked",
                "offsets",
                "cells",
                "outbox",
                "relayed",
                "marked",
                "ends",
            )
        }
        self.locks: dict[Key, Session] = {}
        self.lead: Session | None = None
        self.rebuilding: Session | None = None
        self.message = 0
        self.idle_at = 0.0  # when a relay last had nothing to do
        self.committed: Callable[[Session, dict[tuple[str, Key], Any]], None] = lambda *_: None

    def session(self, actor: Actor) -> Session:
        session = Session(self, self.world)
        actor.held.append(session.end)
        return session

    def places(self, topic: str, views: Sequence[str]) -> dict[int, int]:
        """As `infra.postgres.parking.places`."""
        found: dict[int, list[int]] = {}
        for (view, rebuilding, name, part), offset in self.kept["offsets"].items():
            if view in views and not rebuilding and name == topic:
                found.setdefault(part, []).append(offset)
        return {part: min(every) for part, every in found.items() if len(every) == len(views)}


class Session:
    """A connection. It may end at any moment, and its holder learns so when it asks."""

    def __init__(self, database: Postgres, world: World) -> None:
        self.database = database
        self.world = world
        self.alive = True
        self._stack: list[dict[tuple[str, Key], Any]] = []

    def end(self) -> None:
        """As the server does it: what was not committed never was, every lock is released."""
        self.alive = False
        self._stack.clear()
        self._unlock()
        if self.database.lead is self:
            self.database.lead = None
        if self.database.rebuilding is self:
            self.database.rebuilding = None

    def do(self, what: str) -> None:
        """One round trip."""
        self.world.step(what)
        if self.alive and self.world.fault("connection lost"):
            self.end()
        if not self.alive:
            raise Unavailable("the connection is lost", where="simulation", hint="Begin again.")

    @contextmanager
    def transaction(self, *, force_rollback: bool = False) -> Iterator[None]:
        self.do("BEGIN")
        self._stack.append({})
        depth = len(self._stack)
        try:
            yield
        except BaseException:
            del self._stack[depth - 1 :]
            if depth == 1:
                self._unlock()
            raise
        if len(self._stack) < depth:  # ended by the server meanwhile
            self.do("COMMIT")
        if force_rollback:
            del self._stack[depth - 1 :]
            if depth == 1:
                self._unlock()
            return
        if depth > 1:
            self._stack[depth - 2] |= self._stack.pop()
            return
        self.do("COMMIT")
        written = self._stack.pop()
        self.write(written)
        self._unlock()
        if self.world.fault("commit's answer lost"):
            self.end()
        self.do("COMMITTED")

    def write(self, written: dict[tuple[str, Key], Any]) -> None:
        """Commit, at once and whole."""
        for (name, key), value in written.items():
            if value is _GONE:
                self.database.kept[name].pop(key, None)
            else:
                self.database.kept[name][key] = value
        self.database.committed(self, written)

    def get(self, name: str, key: Key) -> Any:
        for written in reversed(self._stack):
            if (name, key) in written:
                value = written[name, key]
                return None if value is _GONE else value
        return self.database.kept[name].get(key)

    def put(self, name: str, key: Key, value: Any) -> None:
        if self._stack:
            self._stack[-1][name, key] = value
        else:
            self.write({(name, key): value})

    def remove(self, name: str, key: Key) -> None:
        self.put(name, key, _GONE)

    def scan(self, name: str) -> dict[Key, Any]:
        """A whole table as this transaction sees it."""
        seen = dict(self.database.kept[name])
        for written in self._stack:
            for (table, key), value in written.items():
                if table == name:
                    if value is _GONE:
                        seen.pop(key, None)
                    else:
                        seen[key] = value
        return seen

    def lock(self, key: Key) -> None:
        """Hold a row until the transaction ends; wait for its holder."""
        while (holder := self.database.locks.get(key)) is not None and holder is not self:
            self.world.met["waited for a lock"] += 1
            self.world.wait(lambda: self.database.locks.get(key) is None, 30.0)
            self.do("LOCK")
        self.database.locks[key] = self

    def _unlock(self) -> None:
        for key in [key for key, holder in self.database.locks.items() if holder is self]:
            del self.database.locks[key]


class SimTape:
    """`Tape.append`: one verdict a fact, positions in the order of commits."""

    def __init__(self, connect: Callable[[], Session]) -> None:
        self._connect = connect
        self._session = connect()

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        if not self._session.alive:
            self._session = self._connect()
        session, database = self._session, self._session.database
        session.do("append")
        receipts = [
            self._keep(fact) if isinstance(fact, Received) else self._set_aside(fact)
            for fact in facts
        ]
        database.committed(session, {})
        if session.world.fault("append's answer lost"):
            session.world.met["append asked again"] += 1
            raise Unavailable("no answer", where="simulation", hint="Ask again.")
        session.do("appended")
        return receipts

    def _keep(self, fact: Received) -> Receipt:
        database = self._session.database
        known = database.identity.get((fact.source, fact.id))
        if known is None:
            return _receipt("appended", self.row(fact))
        if (known.attributes, known.data) == (fact.attributes, fact.data):
            return _receipt("duplicate", known)
        return self._aside("equivocation", fact.source, fact.id, fact.attributes, fact.data)

    def row(self, fact: Received) -> TapeRow:
        """The next row of the record."""
        database = self._session.database
        head = database.heads.get(fact.tape)
        seq = head.table_seq + 1 if head else 1
        at_us = int(database.world.wall() * 1_000_000)
        row = TapeRow(
            len(database.rows) + 1, fact.tape, seq, fact.type, fact.source, fact.id, fact.time_us,
            fact.subject, at_us, fact.attributes, fact.data, b"",
        )  # fmt: skip
        row = row._replace(hash=chain_hash(head.hash if head else GENESIS, row))
        database.rows.append(row)
        database.heads[fact.tape] = row
        database.identity.setdefault((fact.source, fact.id), row)
        return row

    def _set_aside(self, given: Quarantined) -> Receipt:
        return self._aside("quarantined", given.source, given.id, None, given.octets)

    def _aside(
        self,
        verdict: Any,
        source: str | None,
        id_: str | None,
        attributes: bytes | None,
        octets: bytes,
    ) -> Receipt:
        database = self._session.database
        for each in database.aside:
            if (each.attributes, each.octets) == (attributes, octets):
                return Receipt(verdict, source, id_, None, None, None, verdict, each.quarantine_id)
        number = len(database.aside) + 1
        at_us = int(database.world.wall() * 1_000_000)
        database.aside.append(
            InQuarantine(
                number, verdict, verdict, "What", "$", "Hint", source, id_, attributes, octets,
                1, at_us, at_us, None, None,
            )
        )  # fmt: skip
        return Receipt(verdict, source, id_, None, None, None, verdict, number)


def _receipt(verdict: Any, row: TapeRow) -> Receipt:
    return Receipt(verdict, row.source, row.id, row.position, row.table_seq, row.hash)
