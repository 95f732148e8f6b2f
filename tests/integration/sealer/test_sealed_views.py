"""Digests of views in the witnessed log: a view that another program changed is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors

from consumers.registry import VIEWS, view
from consumers.runtime.lifecycle import catch_up, rebuild
from consumers.sealer.check import check
from consumers.sealer.sealer import SealedLog, seal
from consumers.sealer.views import ViewRounds
from infra.postgres.parking import Parked
from infra.postgres.view_tables import LIVE, opened, tape_source
from ledger.witnessed_log.signed_notes import SIGNATURE, new_key
from tests.integration.sealer.test_sealed_record import Published
from tests.scenes.view_feeds import day, record, viewed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.tile_folder import TileFolder
    from tests.fixtures.postgres import Scenes

KEY = new_key("ledger.example/record", SIGNATURE)


class Sealing:
    """A sealer of one ledger, and the views that it named as changed."""

    def __init__(self, database: Database, folder: TileFolder) -> None:
        self.database, self.folder = database, folder
        self.edited: list[str] = []

    def __call__(self) -> list[str]:
        """Seal all once; the views that were named as changed meanwhile."""
        self.edited = []
        views = ViewRounds(VIEWS, 0.0, lambda name, _: self.edited.append(name))
        log = SealedLog(self.folder, KEY, views=views)
        seal(self.database, log, stop=lambda: True, listener=Published(), follow=False)
        return self.edited

    def breaks(self) -> list[str]:
        """The names of views that the check names, and of other kinds their numbers."""
        found = check(self.database, self.folder, [KEY.verifier], views=VIEWS).breaks
        return [each.says.split()[1] if each.kind == "view" else str(each) for each in found]

    def sealed_views(self) -> set[str]:
        return {each.of for each in self.folder.entries(self.folder.grown().size) if each.of}


@pytest.fixture
def sealing(scenes: Scenes, folder: TileFolder) -> Sealing:
    """A simulated day with every view at its end, sealed."""
    sealing = Sealing(scenes.copy(viewed, 30)[0], folder)
    assert sealing() == []
    assert sealing.sealed_views() == {f"{each.name} {each.version}" for each in VIEWS}
    return sealing


@pytest.fixture
def superuser(sealing: Sealing) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(sealing.database.url, autocommit=True) as connection:
        yield connection


def test_a_changed_view_is_named_by_the_check_and_by_the_next_round_for_ever(
    sealing: Sealing, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    size = sealing.folder.grown().size
    assert (sealing(), sealing.breaks()) == ([], []), "the control: nothing was changed"
    assert sealing.folder.grown().size == size, "what is unchanged is not sealed again"
    superuser.execute("CREATE TABLE put_aside AS SELECT * FROM views.rounds LIMIT 1")
    superuser.execute("DELETE FROM views.rounds r USING put_aside p WHERE r::text = p::text")
    assert sealing.breaks() == ["rounds"]
    assert sealing() == ["rounds"]
    assert sealing() == []
    assert sealing.breaks() == ["rounds"]
    superuser.execute("INSERT INTO views.rounds SELECT * FROM put_aside")
    assert sealing() == ["rounds"], "put back: it was changed again"
    assert sealing.breaks() == ["rounds", "rounds"]


def test_a_view_that_its_own_program_moves_is_not_named(sealing: Sealing) -> None:
    size = sealing.folder.grown().size
    record(sealing.database, day(5, seed=9))
    with tape_source(sealing.database) as source:
        catch_up(sealing.database, source, VIEWS)
    assert (sealing(), sealing.breaks()) == ([], [])
    assert sealing.folder.grown().size > size + len(VIEWS)
    with tape_source(sealing.database) as source:
        for name in ("rounds", "finds", "finance"):
            rebuild(sealing.database, source, view(name))
    assert (sealing(), sealing.breaks()) == ([], []), "a rebuilt view is the same"


def test_a_view_whose_rows_follow_from_no_position_is_passed_over(
    sealing: Sealing, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    with opened(sealing.database, LIVE) as store, store.transaction():
        store.park("rounds", [Parked("hollywood/CC-01", 5, 1, "apply", "It failed.", "here")])
    superuser.execute("DELETE FROM views.rounds")
    superuser.execute("UPDATE views.tracking SET version = version + 1 WHERE view = 'drop'")
    superuser.execute("DELETE FROM views.drop_days")
    assert (sealing(), sealing.breaks()) == ([], [])
    superuser.execute("DELETE FROM views.parked")
    assert sealing.breaks() == ["rounds"]


def test_rounds_take_one_view_at_a_time_and_a_twentieth_of_the_time(
    sealing: Sealing, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    now = 0.0

    def entry(_: object, each: object) -> None:
        nonlocal now
        now += 10.0
        looked.append(each.name)  # type: ignore[attr-defined] # a view

    monkeypatch.setattr("consumers.sealer.views.view_entry", entry)
    monkeypatch.setattr("consumers.sealer.views.time.monotonic", lambda: now)
    rounds = ViewRounds(VIEWS[:3], 60.0)
    with sealing.database.connect("ledger_sealer") as connection:
        for seconds, count in [(1, 1), (1, 2), (1, 3), (590, 3), (8, 3), (3, 4)]:
            now += seconds
            rounds.step(connection, sealing.folder)
            assert len(looked) == count, now


def test_the_sealer_reads_views_and_writes_none(sealing: Sealing) -> None:
    with sealing.database.connect("ledger_sealer") as connection:
        assert connection.execute("SELECT count(*) > 0 FROM views.rounds").fetchone() == (True,)
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("DELETE FROM views.rounds")
