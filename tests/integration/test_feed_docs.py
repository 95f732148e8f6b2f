"""The dashboard and the runbook speak of what there is, and of all of it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from consumers.alerts import KINDS
from consumers.batches import Batch
from consumers.catalogue import install
from consumers.watch import STUCK_S_MAX, AlertWatch, Watch
from infra import relaying
from infra.kafka import topics
from infra.settings import TABLE
from tests.view_feeds import day, record

if TYPE_CHECKING:
    from infra.postgres import Database

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs/operations.md").read_text()
EDGE = {"round_ledger_received_total", "round_ledger_facts_total"}
"""Told by the HTTP edge, tested there."""


def told(database: Database) -> set[str]:
    """The names of all figures that consumers tell."""
    rows = record(database, day(1))
    install(database)
    with relaying.lead(database, lambda: False) as desk:
        assert desk
        desk.move(topics.FACTS, 0, 1)
    watch = Watch(database, feed=True)
    watch.moved("drop", Batch(rows[:2]))
    watch.fenced("drop")
    pages = watch.page() + AlertWatch(database).page()
    families = text_string_to_metric_families(pages.decode())
    return {sample.name for family in families for sample in family.samples}


def test_every_figure_of_the_dashboard_is_told_and_every_one_told_is_on_it(
    database: Database,
) -> None:
    dashboard = json.loads((ROOT / "infra/grafana/round-ledger.json").read_text())
    shown = {
        name
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
        for name in re.findall(r"round_ledger_\w+", target["expr"])
    }
    names = {name for name in told(database) if not name.endswith("_created")}
    assert shown - EDGE == names


def test_every_alert_has_a_line_in_the_runbook_and_its_threshold_is_a_setting() -> None:
    lines = {
        kind: line for kind in KINDS for line in RUNBOOK.splitlines() if f"| `{kind}` |" in line
    }
    assert lines.keys() == set(KINDS)
    settings = {row.name for row in TABLE}
    named = {
        f"ROUND_LEDGER_{name}" for name in re.findall(r"`(ALERT_\w+)`", "".join(lines.values()))
    }
    assert named <= settings
    assert all(
        "ALERT_" in line for kind, line in lines.items() if kind not in {"procedure", "parked"}
    )


def test_a_process_that_does_not_come_round_or_hears_nothing_says_so(database: Database) -> None:
    for watch in (Watch(database, feed=True), AlertWatch(database)):
        assert watch.alive() is None
        assert watch.ready() is None
        asked = watch.ticking(lambda: False)
        watch.ticked_at = time.monotonic() - STUCK_S_MAX - 1
        assert "nothing came round" in (watch.alive() or "")
        assert not asked()
        assert watch.alive() is None
    silent = Watch(database, feed=True)
    silent.figures.heard_at = time.time() - 31
    assert "no broker" in (silent.ready() or "")
    assert silent.alive() is None, "a restart would not bring the brokers back"
