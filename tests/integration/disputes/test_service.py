"""Several at the desk at once: every dispute gets a name of its own, and each its locks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from consumers.disputes import disputes
from consumers.registry import install
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused
from ledger.facts import CameraMapped
from ledger.values import Source
from replay.disputes import service
from replay.disputes.dispute import Dispute, DisputeDecisions
from replay.disputes.service import VIEWS, DisputeContext, LockContext, LockMargins, raise_
from replay.recording.house_facts import append_fact
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.postgres.connection import Database

ROUND = "CC-07/2026-11-20/231"
AT_ONCE = 4


def raised_by(database: Database, employee: str, name: str | None = None) -> Dispute:
    """One investigator raises a dispute, with connections of her own."""
    with PostgresTape(database) as tape, DisputeDecisions(database) as desk:
        context = DisputeContext(LockContext(database, tape, LockMargins(60, 60)), desk)
        return raise_(context, ROUND, 3, "Short.", employee, name).case


@pytest.fixture
def floor(database: Database) -> Database:
    install(database)
    with PostgresTape(database) as tape:
        camera = CameraMapped(camera="C1", table="CC-07", kind="stationary", covers=("table",))
        append_fact(tape, camera, Source("hollywood", "CC-07", "pit"), time_us=1_000_000)
        tape.append([fact(n, subject=ROUND) for n in range(3)])
    up_to_date(database, VIEWS)
    return database


@pytest.mark.long
def test_those_who_raise_at_the_same_time_get_names_of_their_own_and_each_a_lock(
    floor: Database,
) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        cases = list(pool.map(lambda n: raised_by(floor, f"S-{n}"), range(AT_ONCE)))
    assert {case.dispute for case in cases} == {f"D-2026-11-20-{n + 1}" for n in range(AT_ONCE)}
    assert {case.claim.by for case in cases if case.claim} == {f"S-{n}" for n in range(AT_ONCE)}
    up_to_date(floor, VIEWS)
    assert [row.locks for row in disputes.read(floor)] == [1] * AT_ONCE


def test_of_those_who_give_the_same_name_one_gets_it(floor: Database) -> None:
    def attempt(number: int) -> str:
        try:
            return raised_by(floor, f"S-{number}", "D-mine").dispute
        except Refused as error:
            return error.code

    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = list(pool.map(attempt, range(AT_ONCE)))
    assert sorted(told) == ["D-mine", *["refused"] * (AT_ONCE - 1)]
    up_to_date(floor, VIEWS)
    assert len(disputes.read(floor)) == 1


def test_without_trying_again_somebody_would_go_without_a_name(
    floor: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the first test: one try each, and somebody's name is taken meanwhile."""
    monkeypatch.setattr(service, "TRIES", 1)
    taken = service._next_name

    def slow(*args: object) -> str:
        name: str = taken(*args)  # type: ignore[arg-type] # as given
        raised_by_another(name)
        return name

    def raised_by_another(name: str) -> None:
        monkeypatch.setattr(service, "_next_name", taken)
        raised_by(floor, "S-quick", name)

    monkeypatch.setattr(service, "_next_name", slow)
    with pytest.raises(Exception, match="No free name"):
        raised_by(floor, "S-slow")
