"""What the screen shows of a round, and caches: never a ruling that is out of date."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from consumers.cameras.cameras import CAMERAS
from consumers.registry import install
from consumers.rounds.index import ROUND_INDEX
from consumers.rulings import rulings
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import reading
from ledger.facts import Breakage, RulesSubmissionFiled
from ledger.record.wire import encode, fact_of
from replay.footage.library.index import FootageIndex
from replay.web import round_reader
from replay.web.round_reader import KEPT_MAX, RoundReader
from tests.scenes.view_feeds import Prefix, day, received, record

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database


@pytest.mark.long
def test_a_round_is_told_anew_once_a_submission_that_came_late_changes_its_ruling(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None of these rounds is filmed: each would be read again after some seconds.
    monkeypatch.setattr(round_reader, "INCOMPLETE_S", math.inf)
    facts = [f for f in day(10, planted=0) if not f.type.startswith("rules_submission")]
    filed = RulesSubmissionFiled(
        game="criss_cross_poker",
        effective_from="2026-01-01",
        offers=(),
        breakage=Breakage(unit=100),
    )
    last_us = facts[-1].time_us
    late = received(encode(filed, "/hollywood/office/desk", "late", last_us, "hollywood"))
    rows = record(database, [*facts, late])
    views = [rulings.VIEW, ROUND_INDEX, CAMERAS]
    install(database)
    screen = RoundReader(database, FootageIndex(tmp_path))
    catch_up(database, Prefix(rows, len(facts)), views)
    named = {fact.round for fact in map(fact_of, rows) if fact.round}
    rounds = sorted(round_ for round_ in named if screen.told(round_).story.ruling)[:KEPT_MAX]
    before = {round_: screen.told(round_) for round_ in rounds}
    assert all(screen.told(round_) is told for round_, told in before.items()), "it is kept"
    catch_up(database, Prefix(rows, len(rows)), views)
    with reading(database, rulings.tables_to_read()) as store:
        newest = {round_: rulings.newest(store, round_).ruling for round_ in rounds}
    after = {round_: screen.told(round_) for round_ in rounds}
    assert {round_: told.story.ruling for round_, told in after.items()} == newest
    changed = [round_ for round_ in rounds if before[round_].story.ruling != newest[round_]]
    assert changed
    assert all(before[round_].version != after[round_].version for round_ in changed)
    assert [r for r in rounds if r not in changed and after[r] is not before[r]] == []
