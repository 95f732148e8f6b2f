"""A parallel rebuild whose parent is killed leaves nothing in the tables of the next rebuild."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from consumers import parallel_rebuild
from consumers.parallel_rebuild import Work, fill
from consumers.registry import install, view
from consumers.runtime import share_reader
from consumers.runtime.lifecycle import RunnerOptions, catch_up, rebuild, require_rebuild
from consumers.runtime.source import FencedError, Share, next_batch
from infra.postgres.advisory_lock import advisory_lock, holder
from infra.postgres.view_tables import SHADOW_SCHEMA, ViewStore, tape_source, writing
from tests.scenes.view_feeds import Prefix, day, disturbed, dumped, record
from tests.until import until

if TYPE_CHECKING:
    from consumers.runtime.source import Batch
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow
    from tests.fixtures.postgres import Scenes

VIEW = view("drop")
PROCESSES = Path("/proc")


def told(database: Database) -> tuple[TapeRow, ...]:
    """A scene: a few minutes on record, and in the view by one process."""
    rows = record(database, disturbed(day(12, planted=1), 5))
    install(database)
    catch_up(database, Prefix(rows, len(rows)), [VIEW])
    return tuple(rows)


def test_the_holder_of_a_lock_is_named(database: Database) -> None:
    with database.connect("ledger_owner") as one, database.connect("ledger_owner") as other:
        assert holder(other, "drop", "rebuild") is None
        with advisory_lock(one, "drop", "rebuild"), advisory_lock(one, "rounds", "rebuild"):
            assert holder(other, "drop", "rebuild") == one.info.backend_pid
            assert holder(other, "drop", "refill") is None
        assert holder(other, "drop", "rebuild") is None


def test_a_worker_of_a_rebuild_that_ended_writes_nothing(scenes: Scenes) -> None:
    database, _ = scenes.copy(told)
    with writing(database, SHADOW_SCHEMA) as ended:
        by = ended.info.backend_pid
        with advisory_lock(ended, VIEW.name, "rebuild"):
            ViewStore(ended, SHADOW_SCHEMA).create(
                VIEW.name, VIEW.version, VIEW.tables, SHADOW_SCHEMA
            )
            with writing(database, SHADOW_SCHEMA) as connection, connection.transaction():
                require_rebuild(ViewStore(connection, SHADOW_SCHEMA), VIEW, by)
    with writing(database, SHADOW_SCHEMA) as next_, advisory_lock(next_, VIEW.name, "rebuild"):
        store = ViewStore(next_, SHADOW_SCHEMA)
        with pytest.raises(FencedError), next_.transaction():
            require_rebuild(store, VIEW, by)


@pytest.mark.long
@pytest.mark.skipif(not PROCESSES.exists(), reason="Linux shows processes and their files there")
@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "the_control"])
def test_a_killed_parents_workers_leave_the_next_rebuild_exact(
    scenes: Scenes, tmp_path: Path, *, guarded: bool
) -> None:
    """The control's workers do not ask whose rebuild it is: they count facts twice."""
    database, rows = scenes.copy(told)
    before = dumped(database, VIEW)
    os.mkfifo(tmp_path / "gate")
    context = get_context("spawn")
    parent = context.Process(target=_by_two_workers, args=(database, len(rows), guarded, tmp_path))
    parent.start()
    until(lambda: len(list(tmp_path.glob("[0-9]*"))) == 2 or not parent.is_alive())
    workers = [int(each.name) for each in tmp_path.glob("[0-9]*")]
    parent.kill()
    parent.join()
    _rebuild_beside(database, workers, tmp_path / "gate")
    assert (dumped(database, VIEW) == before) == guarded


def _by_two_workers(database: Database, end: int, guarded: bool, waiting: Path) -> None:  # noqa: FBT001 - a process's arguments
    """A rebuild whose workers wait before their third batch.

    They are forks, so that they have what is changed here.
    """
    changed: Any = parallel_rebuild
    changed.REBUILD_ROWS = 20
    changed.get_context = lambda _: get_context("fork")
    os.register_at_fork(after_in_child=_let_go_of_sockets)
    if not guarded:
        changed.require_rebuild = lambda *_: None
    calls = count(1)

    def gated(*args: Any) -> Batch | None:  # noqa: ANN401 - passed on
        if next(calls) == 3:
            (waiting / str(os.getpid())).touch()
            (waiting / "gate").read_bytes()  # until somebody opens it to write
        return next_batch(*args)

    read_by: Any = share_reader
    read_by.next_batch = gated
    work = Work(database, None, VIEW.name, Share(of=2), end)
    with tape_source(database) as source:
        rebuild(
            database,
            source,
            VIEW,
            first=lambda c: fill(c, work, progress=lambda *_: None, stop=lambda: False),
        )


def _let_go_of_sockets() -> None:
    """A fork must not keep its parent's connections open, which a new process does not have."""
    with Path(os.devnull).open("rb") as nothing:
        for each in (PROCESSES / "self" / "fd").iterdir():
            number = int(each.name)
            with suppress(OSError):
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.dup2(nothing.fileno(), number)


def _rebuild_beside(database: Database, workers: list[int], gate: Path) -> None:
    """Rebuild with one process. After its first batch the killed parent's workers go on and end."""

    def beside(*_: object) -> None:
        if any(map(_lives, workers)):
            gate.write_bytes(b"")
        until(lambda: not any(map(_lives, workers)))

    with tape_source(database) as source:
        assert rebuild(database, source, VIEW, options=RunnerOptions(beside, batch_rows=20))


def _lives(process: int) -> bool:
    try:
        state = (PROCESSES / str(process) / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
