"""Closed days on their topics: a general ledger that upserts by key has what was signed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from consumers.finance import journal
from consumers.finance.sealed import redrive, sealed_journal, seals
from consumers.registry import VIEWS, install
from consumers.relay.relay import relay
from consumers.runtime import outbox as speaking
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.kafka import topics
from infra.kafka.reader import reader
from infra.kafka.records import OUTBOX, POSITION
from infra.postgres import relay_progress
from infra.postgres.view_tables import reading, tape_source
from ledger.errors import Refused
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, next_day, slip

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli
    from tests.property.finance.floors import Line

pytestmark = pytest.mark.long

TWO = ("--by", "F-1", "--second", "F-2")
SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
LATE = fact("cash_bought_in", 11, position=2, amount=2_500)
FILLED = [slip("fill", "requested", "F-7", 20), slip("fill", "accepted", "F-7", 22)]
HOUSE = day_lines(SOLD, *FILLED, count(59, currency={"10000": 1}), closer=500_000)


@pytest.fixture
def feed(kafka: Connection) -> Connection:
    """A Kafka with the topics of views."""
    topics.apply(kafka, [topics.topic(name) for name in speaking.topics_of(VIEWS)])
    return kafka


@pytest.fixture
def house(cli: Cli, tmp_path: Path, database: Database) -> Cli:
    """The command over a record of one table-day that nobody closed."""
    ingest(cli, tmp_path, *HOUSE)
    read_all(database)
    return cli


def ingest(cli: Cli, folder: Path, *lines: Line) -> None:
    path = folder / "feed.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    ran = cli("ingest", path)
    assert ran.code == 0, ran.err


def read_all(database: Database) -> None:
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)


def closed(cli: Cli, day: str = DAY, word: str = "close", *more: str) -> dict[str, Any]:
    ran = cli("day", word, day, *TWO, *more, "--json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json[0]
    return found


def publish(database: Database, kafka: Connection) -> None:
    read_all(database)
    relay(database, kafka, stop=lambda: False, follow=False, deadline_s=20, spoken=VIEWS)


def records(kafka: Connection, topic: str) -> list[tuple[str, tuple[int, ...], dict[str, Any]]]:
    """Key, what says which is newest, and value of every record."""
    found = []
    with reader(kafka, topic) as source:
        for batch in source.read(source.bounds()):
            for each in batch:
                headers = dict(each.headers)
                at = tuple(int(headers[name]) for name in (POSITION, OUTBOX))
                found.append(((each.key or b"").decode(), at, json.loads(each.value or b"null")))
    return found


def upserted(kafka: Connection, topic: str = sealed_journal.ENTRIES) -> dict[str, dict[str, Any]]:
    """What a reader has that keeps the newest record of each key."""
    told = sorted(records(kafka, topic), key=lambda each: each[1])
    return {key: value for key, _, value in told}


def as_on_record(database: Database) -> dict[str, Any]:
    """The journal of the day by the record as it is, by the key of a message."""
    entries = journal.read(database, gaming_day=DAY)
    return {sealed_journal.key_of(e): moved(e) for e in entries if e.entry != "carried"}


def moved(entry: Any) -> list[tuple[str, int]]:  # noqa: ANN401 - an entry, or one as told
    told = entry["postings"] if isinstance(entry, dict) else entry.postings
    return [
        (each["account"], each["amount"]) if isinstance(each, dict) else (each.account, each.amount)
        for each in told
    ]


def holding(told: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The entries that were not withdrawn."""
    return {key: moved(each) for key, each in told.items() if not each["withdrawn"]}


def said(database: Database) -> int:
    with database.connect("ledger_reader") as connection:
        row = connection.execute("SELECT count(*) FROM views.outbox").fetchone()
    assert row
    return int(row[0])


def test_a_closed_day_is_told_with_its_entries_and_a_repeat_changes_nothing(
    house: Cli, tmp_path: Path, database: Database, feed: Connection
) -> None:
    publish(database, feed)
    assert records(feed, sealed_journal.ENTRIES) == [], "an open day is not told"
    signed = closed(house)
    publish(database, feed)
    told = upserted(feed)
    assert holding(told) == as_on_record(database)
    assert f"p/{DAY}/CC-07/fill:F-7" in told
    assert {(e["version"], e["digest"]) for e in told.values()} == {(1, signed["digest"])}
    (day,) = upserted(feed, seals.SEALED_DAYS).items()
    assert (day[0], day[1]["digest"], day[1]["sealed"]) == (f"p/{DAY}", signed["digest"], True)

    ingest(house, tmp_path, LATE)
    times = len(records(feed, sealed_journal.ENTRIES))
    dry = house("journal", "--redrive", "--json").json
    assert [(e["gaming_day"], e["entries"], e["sent"]) for e in dry] == [(DAY, len(told), False)]
    publish(database, feed)
    assert len(records(feed, sealed_journal.ENTRIES)) == times, "a dry run sends nothing"
    (sent,) = house("journal", "--redrive", "--for-real", "--gaming-day", DAY, "--json").json
    assert sent["sent"]
    publish(database, feed)
    assert len(records(feed, sealed_journal.ENTRIES)) == 2 * times
    assert upserted(feed) == told
    assert holding(told) != as_on_record(database), "the control: the record has a late buy-in"


def test_the_next_version_replaces_entries_and_withdraws_what_it_lacks(
    house: Cli, tmp_path: Path, database: Database, feed: Connection
) -> None:
    closed(house)
    publish(database, feed)
    wrong = {"source": FILLED[1]["source"], "id": FILLED[1]["id"]}
    people = {"because": "Never came.", "by": "F-1", "second": "S-1"}
    ingest(house, tmp_path, LATE, fact("fact_corrected", 30, "office", of=wrong, **people))
    closed(house, DAY, "reopen", "--because", "A late buy-in.")
    publish(database, feed)
    (state,) = upserted(feed, seals.SEALED_DAYS).values()
    assert (state["version"], state["sealed"]) == (1, False)
    assert (state["reopened_by"], state["reopened_because"]) == ("F-1", "A late buy-in.")
    second = closed(house)
    publish(database, feed)
    told = upserted(feed)
    assert {(e["version"], e["digest"]) for e in told.values()} == {(2, second["digest"])}
    assert holding(told) == as_on_record(database)
    gone = told[f"p/{DAY}/CC-07/fill:F-7"]
    assert (gone["withdrawn"], gone["postings"], gone["balances"]) == (True, [], [])


def test_a_topic_that_begins_late_has_every_closed_day_as_it_was_signed(
    house: Cli, tmp_path: Path, database: Database, feed: Connection
) -> None:
    closed(house)
    signed = as_on_record(database)
    ingest(house, tmp_path, LATE)
    read_all(database)
    assert said(database) == 0
    with pytest.raises(Refused, match="No relay publishes"):
        redrive.redrive(database, for_real=True)
    publish(database, feed)
    assert holding(upserted(feed)) == signed
    assert holding(upserted(feed)) != as_on_record(database)


def test_one_topic_that_was_asked_for_is_told_alone(house: Cli, database: Database) -> None:
    """Both topics have one table; before, the other one's messages would wait for ever."""
    with relay_progress.lead(database, lambda: True) as progress:
        assert progress
        progress.move(seals.SEALED_DAYS, 0, relay_progress.UNSAID)
    closed(house)
    read_all(database)
    with database.connect("ledger_reader") as connection:
        found = connection.execute("SELECT DISTINCT topic FROM views.outbox").fetchall()
    assert found == [(seals.SEALED_DAYS,)]


def test_views_give_the_entries_only_if_they_are_those_that_the_record_gives(
    house: Cli, tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two days rests on what the first one left."""
    ingest(house, tmp_path, *next_day(*HOUSE))
    closed(house, NEXT)

    def entries() -> list[sealed_journal.SealedEntry] | None:
        read_all(database)
        with reading(database, TABLES) as store:
            return seals.entries_of(store, "p", NEXT)

    of_record, asked = sealed_journal._of_record, []

    def noted(*told: Any) -> Any:  # noqa: ANN401 - as `_of_record`
        asked.append(told)
        return of_record(*told)

    monkeypatch.setattr(sealed_journal, "_of_record", noted)
    by_views = entries()
    assert by_views
    assert not asked
    with monkeypatch.context() as patched:
        patched.setattr(sealed_journal, "_of_views", lambda *_: None)
        assert entries() == by_views
    assert len(asked) == 1
    third = count(57, 3, currency={"10000": 2}, counted_by=["N-5", "N-6"])
    ingest(house, tmp_path, third)
    assert entries() == by_views, "a late fact of the day before changes nothing signed"
    assert len(asked) == 2
    with monkeypatch.context() as patched:
        patched.setattr(sealed_journal, "late_facts", lambda *_: {})
        assert entries() != by_views, "the control: current views have the late count"


TABLES = tuple(each.name for view in VIEWS for each in view.tables)


def test_entries_that_this_program_cannot_vouch_for_are_not_told(
    house: Cli, tmp_path: Path, database: Database, feed: Connection
) -> None:
    body = {"gaming_day": DAY, "version": 1, "heads": {"CC-07": 3}, "rules": "1", "report": 1}
    signed = {"digest": "0" * 64, "by": "F-1", "second": "F-2"}
    ingest(house, tmp_path, fact("day_sealed", 40, "office", **body, **signed))
    publish(database, feed)
    assert records(feed, sealed_journal.ENTRIES) == []
    assert [e["digest"] for e in upserted(feed, seals.SEALED_DAYS).values()] == ["0" * 64]
    ran = house("journal", "--redrive")
    assert (ran.code, "other wins than were signed" in ran.err) == (0, True), ran.err


def test_an_entry_names_no_more_facts_than_a_record_has_room_for(
    house: Cli, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(house)
    read_all(database)
    monkeypatch.setattr(sealed_journal, "FACTS_MAX", 0)
    with reading(database, TABLES) as store:
        entries = seals.entries_of(store, "p", DAY)
    assert entries
    told = {each.entry: (len(each.facts), each.facts_left_out) for each in entries}
    assert told["sales"] == (0, 1)
    assert all(each.postings or each.balances for each in entries)


def test_what_a_redrive_cannot_be_asked_for_is_refused(house: Cli) -> None:
    for words in (("--for-real",), ("--redrive", "--table", "CC-07")):
        assert house("journal", *words).code == 2
    assert "No gaming day was closed" in house("journal", "--redrive").err


def test_a_rebuild_that_changes_nothing_tells_nothing_again(
    house: Cli, database: Database, feed: Connection
) -> None:
    closed(house)
    publish(database, feed)
    before = records(feed, sealed_journal.ENTRIES)
    with tape_source(database) as source:
        rebuild(database, source, seals.VIEW)
    publish(database, feed)
    assert records(feed, sealed_journal.ENTRIES) == before
