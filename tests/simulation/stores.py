"""The port `RelayStore` and the views' `ViewStore` on the imagined PostgreSQL.

The same contract is held to the real ones (`tests/contract/test_ports.py`). Nothing is decided here
that production code decides.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from infra.postgres.outbox import Message, QueuedMessage
from infra.postgres.relay_progress import NO_MARKS, UNSAID
from infra.postgres.view_tables import (
    LIVE,
    SHADOW_SCHEMA,
    ReadersInTheWayError,
    Tracking,
    ViewStore,
)
from ledger.errors import Refused
from ledger.record.tape import GENESIS, InQuarantine, TapeRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from infra.postgres.parking import Parked, PartitionOffset
    from infra.postgres.relay_progress import Mark, StrayCount
    from infra.postgres.view_tables import Schema, ViewTable
    from tests.simulation.database import Key, Session


class SimRelayStore:
    """`infra.postgres.relay_progress.RelayStore`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database

    def leads(self) -> bool:
        """Take the lead, if nobody has it."""
        self._session.do("lead?")
        if self._database.lead is None:
            self._database.lead = self._session
        return self._database.lead is self._session

    def tracked(self, topic: str) -> int:
        self._session.do(f"tracked {topic}")
        return int(self._session.get("relayed", (topic,)) or 0)

    def is_known(self, topic: str) -> bool:
        self._session.do(f"known {topic}")
        return self._session.get("relayed", (topic,)) not in (None, UNSAID)

    def move(
        self, topic: str, seen: int, to: int, marks: Mapping[int, Mark] | None = NO_MARKS
    ) -> None:
        self._session.do(f"move {topic} {seen} to {to}")
        now = self._session.get("relayed", (topic,))
        if now is not None and now != seen:
            raise Refused("moved by another", where=topic, hint="Begin again.")
        self._session.put("relayed", (topic,), to)
        is_marked = now is None or self._session.get("marked", (topic,)) == now
        self._session.put("marked", (topic,), to if is_marked and marks is not None else None)
        for number, mark in (marks or {}).items():
            before = self._session.get("ends", (topic, number))
            known = max(mark.known, before.known if before else 0)
            self._session.put("ends", (topic, number), mark._replace(known=known))
        if self._session.world.fault("commit's answer lost"):
            self._session.end()
        self._session.do("moved")

    def marks(self, topic: str) -> dict[int, Mark]:
        self._session.do(f"marks {topic}")
        if self._session.get("marked", (topic,)) != self._session.get("relayed", (topic,)):
            return {}
        ends = self._session.scan("ends")
        return {key[1]: mark for key, mark in ends.items() if key[0] == topic}

    def keep_marks(self, topic: str, marks: Mapping[int, Mark]) -> None:
        self._session.do(f"keep marks {topic}")
        tracked = self._session.get("relayed", (topic,)) or 0
        self._session.put("relayed", (topic,), tracked)
        self._session.put("marked", (topic,), tracked)
        for number, mark in marks.items():
            self._session.put("ends", (topic, number), mark)

    def note_copies(self, topic: str, copies: Mapping[int, tuple[int, int]]) -> None:
        self._session.do(f"note copies {topic}")
        for number, (begin, end) in copies.items():
            mark = self._session.get("ends", (topic, number))
            if mark and mark.known == begin:
                self._session.put("ends", (topic, number), mark._replace(known=end))

    def note_strays(self, topic: str, strays: Mapping[int, StrayCount]) -> None:
        self._session.do(f"note strays {topic}")
        self._session.world.met["strays told"] += len(strays)

    def note_refusal(self, topic: str, says: str) -> None:
        self._session.world.met["refusals told"] += 1

    def note_in_order(self, topic: str) -> None:
        pass

    def rows(self, after: int, limit: int) -> list[TapeRow]:
        if limit < 0:
            raise ValueError("LIMIT must not be negative")
        self._session.do(f"rows after {after}")
        return [row for row in self._database.rows if row.position > after][:limit]

    def row(self, position: int) -> TapeRow | None:
        found = self.rows(position - 1, 1) if position > 0 else []
        return found[0] if found and found[0].position == position else None

    def hashes(self, positions: Sequence[int]) -> dict[int, bytes]:
        self._session.do("hashes")
        wanted = set(positions)
        return {row.position: row.hash for row in self._database.rows if row.position in wanted}

    def hash_before(self, row: TapeRow) -> bytes:
        if row.table_seq == 1:
            return GENESIS
        return self.at(row.tape, [row.table_seq - 1])[0].hash

    def quarantined(self, after: int, limit: int) -> list[InQuarantine]:
        self._session.do("quarantined")
        return self._database.aside[max(0, after) : max(0, after) + limit]

    def heads(self) -> dict[str, int]:
        self._session.do("heads")
        return {tape: row.position for tape, row in self._database.heads.items()}

    def newest(self, tape: str, until: int) -> TapeRow | None:
        self._session.do("newest")
        own = [row for row in self._database.rows if row.tape == tape and row.position <= until]
        return own[-1] if own else None

    def at(self, tape: str, seqs: Sequence[int]) -> list[TapeRow]:
        self._session.do("at")
        wanted = set(seqs)
        return [row for row in self._database.rows if row.tape == tape and row.table_seq in wanted]

    def first_of(self, tapes: Sequence[str], after: int, until: int) -> int | None:
        self._session.do("first of")
        rows = self._database.rows
        found = [r.position for r in rows if r.tape in tapes and after < r.position <= until]
        return found[0] if found else None

    def outbox(self, topic: str, after: int, limit: int, octets: int) -> list[QueuedMessage]:
        found = self._left(topic, after, limit)
        said = itertools.accumulate(len((each.body or "").encode()) for each in found)
        fitting = sum(until <= octets for until in said)
        return found[: max(1, fitting)]

    def outbox_keys(self, topic: str, after: int, limit: int) -> list[tuple[int, str]]:
        return [(each.number, each.key) for each in self._left(topic, after, limit)]

    def _left(self, topic: str, after: int, limit: int) -> list[QueuedMessage]:
        self._session.do(f"outbox {topic} after {after}")
        kept = self._session.scan("outbox")
        found = [kept[key][1] for key in sorted(kept) if key[0] > after and kept[key][0] == topic]
        return found[:limit]

    def prune(self, topic: str, acknowledged: int) -> None:
        self._session.do(f"forget {topic} up to {acknowledged}")

    def wait(self, timeout_s: float) -> None:
        rows, outbox = len(self._database.rows), self._database.message
        self._session.do("wait")
        self._database.idle_at = self._database.world.now
        self._session.world.wait(
            lambda: len(self._database.rows) != rows or self._database.message != outbox, timeout_s
        )


class SimViewStore(ViewStore):
    """`infra.postgres.view_tables.ViewStore`, as far as views of the simulation use it."""

    def __init__(self, session: Session, schema: Schema) -> None:
        self.schema = schema
        self.heard: dict[str, dict[Key, None]] = {}
        self.session = session

    def load(self, table: ViewTable, keys: Iterable[Key]) -> dict[Key, Key]:
        self.session.do(f"load {self.schema}.{table.name}")
        found = {key: self.session.get("cells", (self.schema, table.name, key)) for key in keys}
        return {key: row for key, row in found.items() if row is not None}

    def rows_of(self, tape: str, seqs: Iterable[tuple[int, int]]) -> list[TapeRow]:
        self.session.do(f"rows of {tape}")
        low, high = next(iter(seqs))
        rows = self.session.database.rows
        return [row for row in rows if row.tape == tape and low <= row.table_seq <= high]

    def save(self, table: ViewTable, rows: Iterable[Sequence[Any]]) -> None:
        self.session.do(f"save {self.schema}.{table.name}")
        for row in rows:
            key = tuple(row[: table.keys])
            self.session.put("cells", (self.schema, table.name, key), tuple(row))
            if table.name in self.heard:
                self.heard[table.name][key] = None

    def transaction(self, *, force_rollback: bool = False) -> Any:
        return self.session.transaction(force_rollback=force_rollback)

    def tracking(self, view: str) -> Tracking | None:
        self.session.do(f"tracking {view}")
        found: Tracking | None = self.session.get("tracking", (view, self._beside))
        return found

    def parked(self, view: str) -> dict[str, Parked]:
        self.session.do(f"parked {view}")
        every = self.session.scan("parked")
        return {key[2]: each for key, each in every.items() if key[:2] == (view, self._beside)}

    def advance(self, view: str, seen: Tracking, to: int) -> bool:
        self.session.do(f"advance {view} {seen.position} to {to}")
        key = ("tracking", view, self._beside)
        self.session.lock(key)
        if self.session.get("tracking", key[1:]) != seen:
            self.session.world.met["fenced"] += 1
            return False
        self.session.put("tracking", key[1:], seen._replace(position=to))
        return True

    def park(self, view: str, tapes: Iterable[Parked]) -> None:
        for each in tapes:
            self.session.do(f"park {view} {each.tape} at {each.position}")
            if self.session.get("parked", (view, self._beside, each.tape)) is None:
                self.session.put("parked", (view, self._beside, each.tape), each)

    def release(self, view: str, tape: str) -> None:
        self.session.do(f"release {view} {tape}")
        self.session.remove("parked", (view, False, tape))
        live = self.session.get("tracking", (view, False))
        self.session.put("tracking", (view, False), live._replace(generation=live.generation + 1))
        self.session.world.met["released"] += 1

    def keep_places(self, view: str, places: Sequence[PartitionOffset]) -> None:
        self.session.do(f"places {view}")
        for each in places:
            key = (view, self._beside, each.topic, each.partition)
            self.session.put("offsets", key, each.next)

    def asked_for(self, topics: Sequence[str]) -> set[str]:
        self.session.do("asked for")
        return {topic for topic in topics if self.session.get("relayed", (topic,)) is not None}

    def enqueue(self, position: int, messages: Sequence[Message]) -> None:
        if messages:
            self.session.do(f"leave {len(messages)} at {position}")
        for each in messages:
            database = self.session.database
            database.message += 1  # a sequence: what is rolled back leaves a hole
            at_us = int(database.world.wall() * 1_000_000)
            kept = QueuedMessage(database.message, position, at_us, *each[1:])
            self.session.put("outbox", (database.message,), (each.topic, kept))

    def page(self, table: ViewTable, after: Key | None, limit: int) -> list[Key]:
        self.session.do(f"page of {self.schema}.{table.name} after {after}")
        cells = self.session.scan("cells")
        keys = [key for key in sorted(cells) if key[:2] == (self.schema, table.name)]
        return [cells[key] for key in keys if after is None or key[2] > after][:limit]

    def changed(self, table: ViewTable, after: Key | None, limit: int) -> list[Key]:
        self.session.do(f"changed {table.name} after {after}")
        cells = self.session.scan("cells")
        keys = [key for key in sorted(cells) if key[:2] == (SHADOW_SCHEMA, table.name)]
        other = [key for key in keys if cells.get((LIVE, *key[1:])) != cells[key]]
        return [cells[key] for key in other if after is None or key[2] > after][:limit]

    def removed(self, table: ViewTable, after: Key | None, limit: int) -> list[Key]:
        self.session.do(f"removed {table.name} after {after}")
        cells = self.session.scan("cells")
        keys = [key for key in sorted(cells) if key[:2] == (LIVE, table.name)]
        gone = [key[2] for key in keys if (SHADOW_SCHEMA, *key[1:]) not in cells]
        return [key for key in gone if after is None or key > after][:limit]

    def create(self, view: str, version: int, tables: Iterable[ViewTable], schema: Schema) -> bool:
        with self.session.transaction():
            if self.session.get("tracking", (view, schema == SHADOW_SCHEMA)) is not None:
                return False
            self.session.put("tracking", (view, schema == SHADOW_SCHEMA), Tracking(0, version, 1))
            return True

    def discard(self, view: str, tables: Iterable[ViewTable]) -> None:
        with self.session.transaction():
            self.session.remove("tracking", (view, True))
            self._empty(SHADOW_SCHEMA, [table.name for table in tables])
            for name in ("parked", "offsets"):
                for key in self.session.scan(name):
                    if key[:2] == (view, True):
                        self.session.remove(name, key)

    def hold(self, view: str) -> Tracking | None:
        self.session.do(f"hold {view}")
        self.session.lock(("tracking", view, False))
        found: Tracking | None = self.session.get("tracking", (view, False))
        return found

    def swap(self, view: str, tables: Sequence[ViewTable]) -> None:
        session = self.session
        session.do(f"swap {view}")
        if session.world.fault("readers in the way"):
            raise ReadersInTheWayError(view)
        names = [table.name for table in tables]
        self._empty(LIVE, names)
        for (schema, name, key), row in session.scan("cells").items():
            if schema == SHADOW_SCHEMA and name in names:
                session.remove("cells", (schema, name, key))
                session.put("cells", (LIVE, name, key), row)
        live, beside = (session.get("tracking", (view, side)) for side in (False, True))
        session.put("tracking", (view, False), beside._replace(generation=live.generation + 1))
        session.remove("tracking", (view, True))
        self._swapped(view, "parked", always=True)
        self._swapped(view, "offsets", always=False)
        session.world.met["swapped"] += 1

    def _swapped(self, view: str, name: str, *, always: bool) -> None:
        every = self.session.scan(name)
        beside = {key: value for key, value in every.items() if key[:2] == (view, True)}
        if beside or always:
            for key in every:
                if key[:2] == (view, False):
                    self.session.remove(name, key)
        for key, value in beside.items():
            self.session.remove(name, key)
            self.session.put(name, (view, False, *key[2:]), value)

    def analyze(self, tables: Iterable[ViewTable]) -> None:
        self.session.do("analyze")

    def _empty(self, schema: Schema, names: Sequence[str]) -> None:
        for key in self.session.scan("cells"):
            if key[0] == schema and key[1] in names:
                self.session.remove("cells", key)
