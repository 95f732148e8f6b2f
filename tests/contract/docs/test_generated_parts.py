"""The generated parts of kept pages: none is left out, none is made twice, all are true."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from consumers.alerts.metrics import AlertMetrics
from consumers.runtime.metrics import ConsumerMetrics
from infra.metrics import verdicts
from infra.postgres.tape import PostgresTape
from ledger.facts import FACTS
from ledger.facts.rounds import IrregularityKind
from replay.docs import facts, json_output
from replay.docs.fields import facts as fact_fields
from replay.docs.fields import json_output as json_fields
from replay.docs.pages import MARK, PARTS, with_parts
from replay.docs.processes import log_events
from replay.docs.processes.metrics import processes
from tests.contract.docs.plain_words import habits, of_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.metrics import ProcessMetrics
    from infra.postgres.connection import Database

ROOT = Path(__file__).parents[3]
KEPT = {path: path.read_text() for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]}
METRIC = re.compile(r"\bround_ledger_(?!demo\b)\w+[a-z]\b")


def test_every_part_stands_on_one_page() -> None:
    marked = Counter(name for text in KEPT.values() for name in MARK.findall(text))
    assert marked == Counter(list(PARTS))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_takes_the_place_of_its_mark_and_is_in_plain_words(name: str) -> None:
    text = with_parts(f"before\n\n<!-- generated: {name} -->\n\nafter\n")
    assert text.startswith("before\n\n")
    assert text.endswith("\n\nafter\n")
    assert text.count("\n| ") > 5
    assert [sentence for sentence in of_page(text) if habits(sentence)] == []


def test_every_field_of_a_fact_has_a_meaning_and_no_other_has() -> None:
    structs = [*FACTS.items(), *((each.__name__, each) for each in facts.parts())]
    spots = {
        f"{name.partition('.')[0]}.{field}"
        for name, struct in structs
        for field in struct.__struct_encode_fields__
    }
    fields = {spot.partition(".")[2] for spot in spots}
    assert fields - fact_fields.MEANINGS.keys() == set(), "give it a line in docs/fields/facts.py"
    assert fact_fields.MEANINGS.keys() - fields == set(), "no fact has this field"
    assert fact_fields.EXCEPTIONS.keys() - spots == set(), "no fact has this field"


def test_every_field_of_json_output_has_a_meaning_and_no_other_has() -> None:
    meanings = json_fields.MEANINGS.keys()
    assert json_output.names() - meanings == set(), "give it a line in docs/fields/json_output.py"
    assert meanings - json_output.names() == set(), "no command prints this field"


def test_a_closed_list_and_a_default_are_printed_in_full_as_json_has_them() -> None:
    page = facts.page()
    assert all(f"`{kind}`" in page for kind in get_args(IrregularityKind))
    assert '`{"unit":1,"mode":"down"}`' in page
    assert "object of Label to Label" in page
    assert "(unit=" not in page, "a default as Python prints it"


@pytest.mark.long
def test_every_log_event_is_explained_in_one_section_and_no_other_is() -> None:
    found = log_events.events()
    assert len(found) > 40
    assert [each for each in found if log_events.section_of(each) is None] == []
    texts = {each.text for each in found}
    assert texts - log_events.MEANINGS.keys() == set(), (
        "give it a line in replay/docs/processes/log_events.py"
    )
    assert log_events.MEANINGS.keys() - texts == set(), "the program no longer logs it"


def test_every_call_that_logs_is_seen() -> None:
    """A text that the page cannot read from the source would be missing from it."""
    called = re.compile(r"\b(?:LOG|_log)\.(?:info|warning|error|exception)\(")
    files = [path for top in log_events.PACKAGES for path in (ROOT / top).rglob("*.py")]
    calls = sum(len(called.findall(path.read_text())) for path in files)
    of_devices = "replay/devices/"
    listed = [each for each in log_events.events() if not each.file.startswith(of_devices)]
    assert calls == len(listed)


@pytest.mark.parametrize(
    ("made", "process"),
    [
        (lambda database: ConsumerMetrics(database, feed=True, views=["drop"]), "consume all"),
        (AlertMetrics, "consume alerts"),
    ],
    ids=["consume", "alerts"],
)
def test_a_process_exports_the_metrics_of_the_page(
    database: Database, made: Callable[[Database], ProcessMetrics], process: str
) -> None:
    shown = {each.name for each in processes()[f"`{process}`"]}
    shared = {each.name for each in processes()["`consume all` and `consume alerts`"]}
    exported = {each.name for each in made(database).registry.collect()}
    assert exported == shown | shared


def test_the_server_counts_verdicts_as_the_page_shows(database: Database) -> None:
    with PostgresTape(database) as tape:
        counted = {each.name for each in verdicts(tape.counters())}
    assert counted <= {each.name for each in processes()["`serve`"]}


def test_every_metric_that_a_page_or_the_dashboard_names_is_on_the_page() -> None:
    shown = {
        name
        for metrics in processes().values()
        for metric in metrics
        for name in (metric.name, *(sample.name for sample in metric.samples))
    } | {f"{each.name}_total" for metrics in processes().values() for each in metrics}
    board = json.dumps(json.loads((ROOT / "infra/grafana/round-ledger.json").read_text()))
    texts = [board, *(text for path, text in KEPT.items() if path.name != "CHANGELOG.md")]
    named = {name for text in texts for name in METRIC.findall(text)}
    assert len(named) > 10
    assert named - shown == set()
