"""The footage of a dispute raised elsewhere is locked by whoever keeps the views up, once."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from consumers import disputes
from consumers.catalogue import install
from infra.alone import alone
from ledger.facts import CameraMapped, DisputeRaised
from ledger.values import Source
from replay.cli.disputing import LOCKS, VIEWS, Roll, Vault, lock_pending, up_to_date
from replay.cli.lock_keeper import locks_kept
from replay.on_record import put
from tests.fix_postgres import fact

if TYPE_CHECKING:
    from infra.postgres import Database
    from infra.tape import PostgresTape

T0_US = 1_795_000_000_000_000
ROLL = Roll(60, 60)
ROUND = "hollywood:CC-07/2026-11-20/231"


def raise_elsewhere(tape: PostgresTape, name: str = "D-17") -> None:
    body = DisputeRaised(dispute=name, round=ROUND, position=3, claim="Short.", by="F-9")
    put(tape, body, Source("hollywood", "pit-2", "tablet"))


def floor(database: Database, tape: PostgresTape) -> None:
    """A camera on the table, and a round."""
    install(database)
    camera = CameraMapped(camera="C1", table="CC-07", kind="stationary", covers=("table",))
    put(tape, camera, Source("hollywood", "CC-07", "pit"), time_us=T0_US - 10**9)
    tape.append([fact(n, subject="CC-07/2026-11-20/231") for n in range(3)])


def locks(tape: PostgresTape) -> list[str]:
    return [row.type for row in tape.read(0, 999) if row.type == "footage_locked.v1"]


def test_a_dispute_raised_elsewhere_is_locked_while_views_are_kept_up_and_only_once(
    database: Database, tape: PostgresTape
) -> None:
    floor(database, tape)
    with locks_kept(database, ROLL, every_s=0.05), locks_kept(database, ROLL, every_s=0.05):
        raise_elsewhere(tape)
        up_to_date(database)
        until = time.monotonic() + 10
        while not locks(tape) and time.monotonic() < until:
            time.sleep(0.05)
        up_to_date(database)
        time.sleep(0.5)
    assert len(locks(tape)) == 1
    [row] = disputes.read(database)
    assert (row.locks, row.status) == (1, "raised")


def test_without_anybody_who_keeps_locks_it_stays_unlocked(
    database: Database, tape: PostgresTape
) -> None:
    """The control of the test above."""
    floor(database, tape)
    raise_elsewhere(tape)
    up_to_date(database)
    time.sleep(0.5)
    assert locks(tape) == []
    assert len(disputes.read(database, unlocked=True)) == 1


def test_whoever_comes_second_leaves_it_to_the_first(
    database: Database, tape: PostgresTape
) -> None:
    floor(database, tape)
    raise_elsewhere(tape)
    vault = Vault(database, tape, ROLL)
    with alone(database, LOCKS) as first:
        assert first
        assert lock_pending(vault) == []
    assert locks(tape) == []
    assert len(lock_pending(vault)) == 1
    assert lock_pending(vault) == []
    assert len(VIEWS) == 3


def test_a_round_of_which_no_fact_is_on_record_is_locked_when_its_facts_arrive(
    database: Database, tape: PostgresTape
) -> None:
    install(database)
    raise_elsewhere(tape)
    vault = Vault(database, tape, ROLL)
    assert lock_pending(vault) == []
    floor(database, tape)
    assert [each.case.dispute for each in lock_pending(vault)] == ["D-17"]


def test_the_thread_ends_with_its_block(database: Database) -> None:
    with locks_kept(database, ROLL, every_s=60):
        assert any(each.name == "locks" for each in threading.enumerate())
    assert all(each.name != "locks" for each in threading.enumerate())
