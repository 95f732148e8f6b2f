"""The imagined PostgreSQL of the simulation answers as the real one does, step by step."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

from infra.postgres import relay_progress
from infra.postgres.outbox import Message
from infra.postgres.parking import Parked, PartitionOffset
from infra.postgres.relay_progress import NO_OFFSET, UNSAID, Mark
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import LIVE, SHADOW_SCHEMA, ViewStore, writing
from ledger.errors import Refused
from ledger.record.tape import Quarantined
from tests.simulation.database import Postgres, SimTape
from tests.simulation.floor import fact
from tests.simulation.plain_views import SUMS, TOLD
from tests.simulation.stores import SimRelayStore, SimViewStore
from tests.simulation.world import Actor, World, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.postgres.connection import Database
    from infra.postgres.relay_progress import RelayStore
    from ledger.record.tape import Tape

PARKED = Parked("p/A", 2, 1, "edited", "Bent.", "t/0@1")
NOT_JSON = Quarantined(b"{", "not_json", "Not JSON", "$", "Send JSON.")


class Ports(NamedTuple):
    tape: Tape
    relay_store: RelayStore
    live: ViewStore
    other: ViewStore  # another connection to the live views
    beside: ViewStore


@contextmanager
def real(database: Database) -> Iterator[Ports]:
    with ExitStack() as open_:
        opened = open_.enter_context
        live, other = (ViewStore(opened(writing(database, LIVE)), LIVE) for _ in range(2))
        beside = ViewStore(opened(writing(database, SHADOW_SCHEMA)), SHADOW_SCHEMA)
        tape = opened(PostgresTape(database))
        relay_store = opened(relay_progress.lead(database, lambda: False))
        assert relay_store
        yield Ports(tape, relay_store, live, other, beside)


def imagined(told: Callable[[Ports], list[object]]) -> list[object]:
    """What the imagined one answers; nothing goes wrong."""
    world = World(1, draw(1, []))
    database = Postgres(world)
    answers: list[object] = []

    def body(actor: Actor) -> None:
        session = database.session
        books = (SimViewStore(session(actor), side) for side in (LIVE, LIVE, SHADOW_SCHEMA))
        tape = SimTape(lambda: session(actor))
        answers.extend(told(Ports(tape, SimRelayStore(session(actor)), *books)))

    world.add("one", body)
    world.run(lambda: bool(answers), 10_000)
    return answers


def record(ports: Ports) -> list[object]:
    """The verdicts, and every question that is asked of the record."""
    facts = [fact("p/A", 1), fact("p/B", 1), fact("p/A", 2), NOT_JSON]
    first = ports.tape.append(facts)
    again = ports.tape.append([fact("p/A", 1), fact("p/A", 1, 1), NOT_JSON])
    relay_store = ports.relay_store
    rows = relay_store.rows(0, 10)
    return [
        [(r.verdict, r.position, r.table_seq, r.quarantine_id) for r in first + again],
        [(row.position, row.tape, row.table_seq, row.id, row.data) for row in rows],
        [row.position for row in relay_store.rows(1, 1)],
        [relay_store.row(at) is None for at in (1, 3, 4)],
        sorted(relay_store.hashes([1, 3, 9])),
        [relay_store.hash_before(row) in (rows[0].hash, bytes(32)) for row in rows],
        relay_store.hash_before(rows[2]) == rows[0].hash,
        relay_store.heads(),
        [(newest := relay_store.newest("p/A", until)) and newest.position for until in (0, 2, 3)],
        [row.table_seq for row in relay_store.at("p/A", [2, 5])],
        [relay_store.first_of(["p/B"], after, 3) for after in (0, 2)],
        [(each.quarantine_id, each.verdict) for each in relay_store.quarantined(0, 9)],
        [each.quarantine_id for each in relay_store.quarantined(1, 9)],
    ]  # fmt: skip


def marks(ports: Ports) -> list[object]:
    """The last acknowledged records, kept with tracking."""
    relay_store = ports.relay_store
    first, second = Mark(3, b"a", 4), Mark(7, b"b", 8)
    told: list[object] = [relay_store.marks("t")]
    relay_store.keep_marks("t", {0: Mark(NO_OFFSET, b"", 0), 1: Mark(NO_OFFSET, b"", 2)})
    told += [relay_store.marks("t"), relay_store.tracked("t")]
    relay_store.move("t", 0, 5, {0: first})
    told.append(relay_store.marks("t"))
    relay_store.note_copies("t", {0: (4, 9), 1: (1, 5), 2: (0, 1)})
    told.append(relay_store.marks("t"))
    with pytest.raises(Refused):
        relay_store.move("t", 3, 9, {0: second})
    relay_store.move("t", 5, 6, {0: second})
    told.append(relay_store.marks("t"))
    relay_store.move("t", 6, 7)
    told.append(relay_store.marks("t"))
    relay_store.move("t", 7, 8, None)
    told.append(relay_store.marks("t"))
    relay_store.move("t", 8, 9, {0: second})
    told.append(relay_store.marks("t"))
    relay_store.keep_marks("t", {0: first})
    return [*told, relay_store.marks("t"), relay_store.tracked("t")]


def tracking(ports: Ports) -> list[object]:
    """Compare-and-set of how far a topic is written."""
    relay_store = ports.relay_store
    told: list[object] = [relay_store.tracked("t"), relay_store.is_known("t")]
    relay_store.move("t", 0, UNSAID)
    told += [relay_store.tracked("t"), relay_store.is_known("t")]
    relay_store.move("t", UNSAID, 0)
    relay_store.move("t", 0, 7)
    with pytest.raises(Refused):
        relay_store.move("t", 3, 9)
    return [
        *told,
        relay_store.tracked("t"),
        relay_store.is_known("t"),
        ports.live.asked_for(["t", "u"]),
    ]


def views_move(ports: Ports) -> list[object]:
    """Rows, tracking, parked tapes and messages, committed together or not at all."""
    live, other, relay_store = ports.live, ports.other, ports.relay_store
    made = [ports.beside.create("sums", 1, [SUMS], LIVE) for _ in range(2)]
    seen = live.tracking("sums")
    assert seen
    ports.tape.append([fact("p/A", 1), fact("p/A", 2)])
    with live.transaction():
        moved = live.advance("sums", seen, 2)
        live.save(SUMS, [("p/A", "2", "x")])
        live.park("sums", [PARKED, PARKED])
        live.enqueue(2, [Message(TOLD, "p/A", body) for body in ("{}", None, '{"a":1}', "[]")])
        live.keep_places("sums", [PartitionOffset("t", 0, 5)])
        unseen = [other.tracking("sums") == seen, other.page(SUMS, None, 9), other.parked("sums")]
    with other.transaction():
        refused = other.advance("sums", seen, 3)
    with live.transaction(force_rollback=True):
        live.save(SUMS, [("p/A", "9", "y"), ("p/B", "1", "z")])
        inside = live.page(SUMS, None, 9)
    with live.transaction():
        with live.transaction(force_rollback=True):
            live.save(SUMS, [("p/C", "1", "z")])
        live.save(SUMS, [("p/D", "1", "z")])
    rest = [
        live.load(SUMS, [("p/A",), ("p/Z",)]),
        live.page(SUMS, None, 9),
        live.parked("sums") == {"p/A": PARKED},
        [(each.position, each.key, each.body) for each in relay_store.outbox(TOLD, 0, 9, 9)],
        [
            [each.body for each in relay_store.outbox(TOLD, 0, *bound)]
            for bound in ((9, 9), (1, 9), (9, 1))
        ],
        [[key for _, key in relay_store.outbox_keys(TOLD, after, 9)] for after in (0, 10**9)],
        [row.table_seq for row in live.rows_of("p/A", [(1, 1)])],
    ]
    with live.transaction():
        live.release("sums", "p/A")
    after = live.tracking("sums")
    assert after
    return [made, moved, unseen, refused, inside, *rest, live.parked("sums"), after[:3]]


def swapped(ports: Ports) -> list[object]:
    """A rebuilt view: what it changes, and that it takes the place of the live one whole."""
    beside, live = ports.beside, ports.live
    beside.discard("sums", [SUMS])
    for side in (LIVE, SHADOW_SCHEMA):
        beside.create("sums", 1, [SUMS], side)
    with live.transaction():
        live.save(SUMS, [("p/A", "1", "x"), ("p/B", "1", "x")])
        live.park("sums", [PARKED])
    begun = beside.tracking("sums")
    assert begun
    with beside.transaction():
        beside.advance("sums", begun, 5)
        beside.save(SUMS, [("p/A", "1", "x"), ("p/C", "2", "x")])
    changed = [beside.changed(SUMS, after, 1) for after in (None, ("p/A",), ("p/C",))]
    removed = [beside.removed(SUMS, after, 9) for after in (None, ("p/A",), ("p/B",))]
    with beside.transaction():
        beside.hold("sums")
        beside.swap("sums", [SUMS])
    return [
        changed,
        removed,
        live.page(SUMS, None, 9),
        live.page(SUMS, None, 1),
        live.page(SUMS, ("p/A",), 9),
        live.tracking("sums"),
        beside.tracking("sums"),
        live.parked("sums"),
    ]


@pytest.mark.parametrize("told", [record, marks, tracking, views_move, swapped])
def test_the_imagined_database_answers_as_the_real_one(
    database: Database, told: Callable[[Ports], list[object]]
) -> None:
    with real(database) as ports:
        answers = told(ports)
    assert imagined(told) == answers
