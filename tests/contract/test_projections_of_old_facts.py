"""Facts in the words of earlier versions count in every view as those of today that say it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from consumers.alerts.kinds.payout import LIMIT
from consumers.registry import VIEWS, install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database
from infra.settings import load
from ledger.facts import UPCASTERS, FactCorrected, FactRef
from ledger.record.wire import encode, fact_of, structured
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.scenes import alert_reads
from tests.scenes.alert_reads import paid, read_of
from tests.scenes.view_feeds import Prefix, day, dumped, of_finance, received, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.record.tape import Received

STAKE = 2500


def _wager_paid_v0(today: dict[str, Any]) -> dict[str, Any] | None:
    """The payment with the stake in it; None of one that version 0 had no words for."""
    if "paid_from" in today:
        return None
    told = {name: each for name, each in today.items() if name != "amount"}
    return told | {"paid_with_stake": today["amount"] + STAKE, "stake": STAKE}


OLDER: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "wager_paid.v0": _wager_paid_v0
}
"""The current fact of each earlier version, encoded as that version."""


def older(fact: Received) -> Received:
    """The same fact as a device of an earlier version sends it; most have none."""
    told = json.loads(structured(fact))  # type: ignore[arg-type] # has the same attributes and data
    for name, of in OLDER.items():
        if fact.type == name.rpartition(".")[0] + ".v1":
            data = of(told["data"])
            if data is not None:
                was = received(
                    json.dumps(told | {"type": f"roundledger.{name}", "data": data}).encode()
                )
                assert fact_of(was).body == fact_of(fact).body
                return was
    return fact


@pytest.fixture
def another(postgres_url: str, template: str) -> Database:
    name = new_name()
    copy_database(postgres_url, name, template=template)
    url = url_of(postgres_url, name)
    return Database(url, url)


def corrected(fact: Received) -> Received:
    """A correction of a payment by one cent, by people who may make it."""
    told = json.loads(fact.data)
    body = FactCorrected(
        of=FactRef(source=fact.source, id=fact.id),
        data=told | {"amount": told["amount"] + 1},
        because="Counted again.",
        by="S-2001",
        second="S-2002",
    )
    source = f"/{fact.tape}/pit"
    return received(encode(body, source, f"c-{fact.id}", fact.time_us + 1, fact.subject))


@pytest.mark.long
def test_every_view_of_a_record_in_the_words_of_earlier_versions_is_the_same(
    database: Database, another: Database
) -> None:
    dealt = day(12, planted=1)
    payments = [each for each in dealt if older(each).type != each.type]
    today = [*dealt, *map(corrected, payments[:3]), *of_finance()]
    before = [older(each) for each in today]
    assert {each.type for each in before} - {each.type for each in today} == UPCASTERS.keys()
    found = []
    for base, facts in ((database, today), (another, before)):
        rows = record(base, facts)
        install(base)
        catch_up(base, Prefix(rows, len(rows)), VIEWS)
        found.append({each.name: dumped(base, each) for each in VIEWS})
    assert all(found[0].values())
    assert b'"counts":-1' in found[0]["drop"], "a payment is corrected"
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []


def test_a_payout_in_the_words_of_an_earlier_version_is_told(database: Database) -> None:
    settings = load({})
    read = read_of(database, older(paid(LIMIT.of(settings))))
    (found,) = alert_reads.found(read, time.time_ns() // 1000, settings)
    assert (found.kind, found.value) == ("payout", LIMIT.of(settings))
