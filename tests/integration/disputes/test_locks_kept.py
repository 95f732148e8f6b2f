"""The footage of a dispute raised elsewhere is locked by the `consume` process, once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from consumers.disputes import disputes
from consumers.registry import install
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.advisory_lock import advisory_lock
from ledger.facts import CameraMapped, CardsDealt, DisputeRaised, SegmentRecorded
from ledger.values import Source, format_time
from replay.disputes import service
from replay.disputes.service import (
    LOCKS,
    VIEWS,
    LockContext,
    LockMargins,
    lock_pending,
    locks_kept,
)
from replay.recording.house_facts import append_fact
from tests.fixtures.cli import Cli
from tests.fixtures.postgres import fact
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from tests.fixtures.cli import Ran

T0_US = 1_795_000_000_000_000
OLD_US = 1_577_836_800_000_000  # 2020-01-01
ROLL = LockMargins(60, 60)
ROUND = "hollywood:CC-07/2026-11-20/231"


def raise_elsewhere(tape: PostgresTape, name: str = "D-17", *, of: str = ROUND) -> None:
    body = DisputeRaised(dispute=name, round=of, position=3, claim="Short.", by="F-9")
    append_fact(tape, body, Source("hollywood", "pit-2", "tablet"))


def floor(database: Database, tape: PostgresTape) -> None:
    """A camera on the table, and a round."""
    install(database)
    camera = CameraMapped(camera="C1", table="CC-07", kind="stationary", covers=("table",))
    append_fact(tape, camera, Source("hollywood", "CC-07", "pit"), time_us=T0_US - 10**9)
    tape.append([fact(n, subject="CC-07/2026-11-20/231") for n in range(3)])


def locks(tape: PostgresTape) -> list[str]:
    return [row.type for row in tape.read(0, 999) if row.type == "footage_locked.v1"]


@pytest.mark.long
def test_a_dispute_raised_elsewhere_is_locked_while_views_are_kept_up_and_only_once(
    database: Database, tape: PostgresTape, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def looked(context: LockContext, *, fresh: bool) -> object:
        looks.append(lock_pending(context, fresh=fresh))
        return looks[-1]

    monkeypatch.setattr(service, "lock_pending", looked)
    floor(database, tape)
    with locks_kept(database, ROLL, every_s=0.05), locks_kept(database, ROLL, every_s=0.05):
        raise_elsewhere(tape)
        up_to_date(database, VIEWS)
        until(lambda: locks(tape))
        up_to_date(database, VIEWS)
        enough = len(looks) + 6
        until(lambda: len(looks) >= enough)
    assert len(locks(tape)) == 1
    [row] = disputes.read(database)
    assert (row.locks, row.status) == (1, "raised")


def test_without_anybody_who_keeps_locks_it_stays_unlocked(
    database: Database, tape: PostgresTape
) -> None:
    """The control of the test above."""
    floor(database, tape)
    raise_elsewhere(tape)
    up_to_date(database, VIEWS)
    assert locks(tape) == []
    assert len(disputes.read(database, unlocked=True)) == 1


def test_whoever_comes_second_leaves_it_to_the_first(
    database: Database, tape: PostgresTape
) -> None:
    floor(database, tape)
    raise_elsewhere(tape)
    lock_context = LockContext(database, tape, ROLL)
    with (
        database.connect("ledger_reader") as connection,
        advisory_lock(connection, "round-ledger", LOCKS) as first,
    ):
        assert first
        assert lock_pending(lock_context) == []
    assert locks(tape) == []
    assert len(lock_pending(lock_context)) == 1
    assert lock_pending(lock_context) == []
    assert len(VIEWS) == 3


def test_a_round_of_which_no_fact_is_on_record_is_locked_when_its_facts_arrive(
    database: Database, tape: PostgresTape
) -> None:
    install(database)
    raise_elsewhere(tape)
    lock_context = LockContext(database, tape, ROLL)
    assert lock_pending(lock_context) == []
    floor(database, tape)
    assert [each.case.dispute for each in lock_pending(lock_context)] == ["D-17"]


def test_the_thread_ends_with_its_block(database: Database) -> None:
    with locks_kept(database, ROLL, every_s=60):
        assert any(each.name == "locks" for each in threading.enumerate())
    assert all(each.name != "locks" for each in threading.enumerate())


OLD = "CC-07/2020-01-01/7"


def old_floor(database: Database, tape: PostgresTape) -> None:
    """A round whose footage is past any routine keeping."""
    install(database)
    camera = CameraMapped(camera="C1", table="CC-07", kind="stationary", covers=("table",))
    append_fact(tape, camera, Source("hollywood", "CC-07", "pit"), time_us=OLD_US - 10**9)
    dealt = CardsDealt(to="player", position=3, cards=("As", "Kd"), face="down")
    shoe = Source("hollywood", "CC-07", "shoe")
    append_fact(tape, dealt, shoe, subject=OLD, time_us=OLD_US + 5_000_000)
    segment = SegmentRecorded(
        camera="C1",
        path="C1/1.mp4",
        sha256="ab" * 32,
        start=format_time(OLD_US),
        frames=900,
        duration_us=30_000_000,
    )
    recorder = Source("hollywood", "surveillance", "recorder")
    append_fact(tape, segment, recorder, time_us=OLD_US + 30_000_000)


def expire(cli: Cli, folder: Path) -> Ran:
    """`footage expire` with a table that keeps footage for a day only."""
    keeping = folder / "keeping.toml"
    keeping.write_text('[[areas]]\nname = "all"\ndays = { routine = 1 }\nreleased_by = ["S-*"]\n')
    brief = Cli(cli.environ | {"ROUND_LEDGER_RETENTION_FILE": str(keeping)})
    return brief("footage", "expire", "--by", "S-1", "--json")


def of_footage(tape: PostgresTape) -> list[str]:
    told = ("footage_locked.v1", "footage_expired.v1")
    return [row.type for row in tape.read(0, 999) if row.type in told]


def test_footage_of_a_dispute_raised_elsewhere_is_locked_before_anything_expires(
    database: Database, tape: PostgresTape, cli: Cli, tmp_path: Path
) -> None:
    old_floor(database, tape)
    raise_elsewhere(tape, of=f"hollywood:{OLD}")
    done = expire(cli, tmp_path)
    assert done.code == 0, done.err
    assert of_footage(tape) == ["footage_locked.v1"]


def test_without_that_dispute_the_same_footage_expires(
    database: Database, tape: PostgresTape, cli: Cli, tmp_path: Path
) -> None:
    """The control of the test above."""
    old_floor(database, tape)
    done = expire(cli, tmp_path)
    assert done.code == 0, done.err
    assert of_footage(tape) == ["footage_expired.v1"]


def test_nothing_expires_while_another_is_locking_what_disputes_need(
    database: Database, tape: PostgresTape, cli: Cli, tmp_path: Path
) -> None:
    """The process may not have come to this dispute yet, so it is waited for."""
    old_floor(database, tape)
    raise_elsewhere(tape, of=f"hollywood:{OLD}")
    with ThreadPoolExecutor(1) as beside:
        with (
            database.connect("ledger_reader") as connection,
            advisory_lock(connection, "round-ledger", LOCKS) as only,
        ):
            assert only
            done = beside.submit(expire, cli, tmp_path)
            until(lambda: _waiting(database) or done.done())
            assert of_footage(tape) == []
        assert done.result().code == 0, done.result().err
    assert of_footage(tape) == ["footage_locked.v1"]


def _waiting(database: Database) -> bool:
    with database.connect("ledger_reader") as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ).fetchone()
    return row is not None and row[0] > 0
