"""Views divided among processes by table: whatever crosses tables, the rows are those of one.

The feed has corrections, Rules Submissions, coupons and supervision across tables, and devices
whose numbered facts name tables other than their place. Each share is applied at its own pace.
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
from multiprocessing import active_children
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers import parallel_rebuild
from consumers.disputes import disputes
from consumers.money import drop
from consumers.parallel_rebuild import Work, fill, take
from consumers.registry import install
from consumers.rulings import rulings, shares
from consumers.runtime import outbox
from consumers.runtime.lifecycle import catch_up, dump, rebuild
from consumers.runtime.share_reader import ShareReader
from consumers.runtime.source import Share
from infra.postgres.view_tables import LIVE, SHADOW_SCHEMA, ViewStore, tape_source, writing
from ledger.errors import Unavailable
from ledger.facts import Breakage, CashBoughtIn, FactCorrected, FactRef, RulesSubmissionFiled
from ledger.record.wire import encode, fact_of
from tests.scenes import coupon_feed
from tests.scenes.view_feeds import (
    Prefix,
    day,
    disturbed,
    dumped,
    received,
    record,
    slips_elsewhere,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from consumers.runtime.lifecycle import Batch, Projection
    from infra.postgres.connection import AnyConnection, Database
    from ledger.record.tape import Received, TapeRow
    from tests.fixtures.postgres import Scenes

DIVIDED = (rulings.VIEW, drop.DROP, disputes.VIEW)


def feed(seed: int, minutes: int) -> list[Received]:
    """Facts of every kind that crosses tables, in the order they arrive."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    played = day(minutes, seed=seed, planted=1)
    facts = [*played, *coupon_feed.feed(), *_rovers(played, chance)]
    facts += slips_elsewhere(played, chance)
    facts = disturbed(facts, seed)
    late = [*_corrections(facts, chance), *_filings(played)]
    for each in late:
        facts.insert(chance.randrange(len(facts)), each)
    return facts


def _rovers(facts: Sequence[Received], chance: random.Random) -> Iterator[Received]:
    """Two devices that report of rounds at any table, and of their own place; numbers are lost."""
    rounds = [fact for fact in map(fact_of, facts) if fact.round]
    for place in ("CC-01", "cage"):
        for number, fact in enumerate(chance.sample(rounds, 40), 1):
            body, subject = fact.body, fact.round.subject if fact.round else None
            if number % 3 == 0:
                body, subject = CashBoughtIn(position=1, amount=100 * number), None
            if number % 7:  # else it is lost
                source, boot = f"/hollywood/{place}/rover", str(1 + number // 25)
                told = encode(
                    body,  # type: ignore[arg-type] # a fact's body
                    source,
                    f"r{number}",
                    fact.time_us,
                    subject,
                    sequence=number,
                    boot=boot,
                )
                yield received(told)


def _corrections(facts: Sequence[Received], chance: random.Random) -> Iterator[Received]:
    """Corrections of anything: of rounds, money, openings, seats, coupons; and of nothing."""
    some = chance.sample(range(len(facts)), len(facts) // 12)
    for number, at in enumerate([*some, *some[::4]]):
        of = facts[at]
        body = msgspec.to_builtins(fact_of(of).body)
        data = body | ({"amount": chance.randrange(9_999)} if "amount" in body else {})
        if of.subject is None and number % 2:
            data |= {"table": chance.choice(("CC-01", "CC-02"))}
        made = FactCorrected(
            of=FactRef(of.source, of.id if number % 9 else "never sent"),
            data=data if number % 3 else None,
            because="read wrong",
            by="S-1",
            second="S-2",
        )
        at_us = of.time_us + chance.randrange(600_000_000)
        yield received(encode(made, "/hollywood/office/desk", f"c{number}", at_us))


def _filings(facts: Sequence[Received]) -> Iterator[Received]:
    games = ("criss_cross_poker", "three_dice_football", "criss_cross_poker")
    for number, game in enumerate(games):
        filed = RulesSubmissionFiled(
            game=game, effective_from="2026-01-01", offers=(), breakage=Breakage(unit=100 + number)
        )
        at_us = facts[-1].time_us + number
        yield received(encode(filed, "/hollywood/office/desk", f"s{number}", at_us, "hollywood"))


def crossed(database: Database, /, seed: int, minutes: int) -> tuple[TapeRow, ...]:
    """A scene: the feed on record, and every view still empty."""
    rows = record(database, feed(seed, minutes))
    install(database)
    return tuple(rows)


def crossed_in_views(database: Database, /, seed: int, minutes: int) -> None:
    """A scene: the same in the divided views, by one process."""
    rows = crossed(database, seed, minutes)
    catch_up(database, Prefix(rows, len(rows)), DIVIDED)


def divided(
    database: Database,
    view: Projection,
    rows: Sequence[TapeRow],
    of: int,
    chance: random.Random,
    sizes: Sequence[int] = (20, 300, 2_000),
) -> bytes:
    """The view by so many shares, each at its own pace, in batches of any size; rolled back."""
    reached = dict.fromkeys(range(of), 0)
    tapes = {row.tape for row in rows}
    with (
        tape_source(database) as source,
        writing(database, LIVE) as connection,
        connection.transaction(force_rollback=True),
    ):
        readers = [ShareReader(source, view, Share(number, of), tapes) for number in reached]
        store = ViewStore(connection, LIVE)
        while behind := [number for number in reached if reached[number] < len(rows)]:
            number = chance.choice(behind)
            batch = readers[number].read(reached[number], chance.choice(sizes), len(rows))
            assert batch
            take(store, view, source, batch.rows, Share(number, of))
            reached[number] = batch.position
        return dump(store, view)


def held(scenes: Scenes, seed: int, minutes: int, counts: Sequence[int]) -> None:
    whole, _ = scenes.read(crossed_in_views, seed, minutes)
    database, rows = scenes.copy(crossed, seed, minutes)
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    for view in DIVIDED:
        expected = dumped(whole, view)
        for of in counts:
            assert divided(database, view, rows, of, chance) == expected, (view.name, of)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 5))
def test_any_number_of_shares_at_any_pace_gives_the_rows_of_one_process(
    scenes: Scenes, seed: int
) -> None:
    held(scenes, seed, 4, (1, 2, 3, 4))


def _less_of(view: Projection, left_out: Callable[[TapeRow], bool]) -> Projection:
    """A view whose shares do not hear some facts of others."""
    hears = view.heard_by
    assert hears

    def heard_by(store: ViewStore, batch: Batch) -> list[TapeRow]:
        rows = hears(store, batch)
        return [row for row in rows if batch.share.owns(row.tape) or not left_out(row)]

    return dataclasses.replace(view, heard_by=heard_by)


@pytest.mark.long
def test_shares_that_do_not_hear_the_slips_of_other_tables_count_them_again(
    scenes: Scenes,
) -> None:
    """The control for slips that two tables accept."""
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    database, rows = scenes.copy(crossed, 1, 4)
    deaf = _less_of(drop.DROP, lambda row: row.type.startswith(("fill_", "credit_")))
    chance = random.Random(1)  # noqa: S311 - as above
    assert divided(database, deaf, rows, 7, chance) != dumped(whole, drop.DROP)


@pytest.mark.long
@pytest.mark.parametrize(
    "left_out", ["fact_corrected", "rules_submission", "coupon", "floorperson", "rover"]
)
def test_shares_that_do_not_hear_what_crosses_tables_give_other_rows(
    scenes: Scenes, left_out: str
) -> None:
    """The control, for each kind of fact that crosses tables."""
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    database, rows = scenes.copy(crossed, 1, 4)

    def lacks(row: TapeRow) -> bool:
        return row.type.startswith(left_out) or row.source.endswith(left_out)

    deaf = _less_of(rulings.VIEW, lacks)
    chance = random.Random(1)  # noqa: S311 - as above
    assert divided(database, deaf, rows, 4, chance) != dumped(whole, rulings.VIEW)


@pytest.mark.long
def test_a_device_known_only_by_its_place_gives_other_rows(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a share that forgets which devices named its tables from elsewhere."""
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    database, rows = scenes.copy(crossed, 1, 4)
    monkeypatch.setattr(shares, "_away", lambda *_: set())
    chance = random.Random(1)  # noqa: S311 - as above
    assert divided(database, rulings.VIEW, rows, 4, chance, (20,)) != dumped(whole, rulings.VIEW)


def rebuilt(
    database: Database,
    view: Projection,
    until: int,
    progress: Callable[[str, int], None] = lambda *_: None,
) -> bool:
    work = Work(database, None, view.name, Share(of=2), until)

    def first(connection: AnyConnection) -> bool:
        return fill(connection, work, progress=progress, stop=lambda: False)

    with tape_source(database) as source:
        return rebuild(database, source, view, first=first)


@pytest.mark.long
@pytest.mark.parametrize("view", DIVIDED, ids=[each.name for each in DIVIDED])
def test_a_process_killed_amid_its_share_changes_nothing_and_the_next_rebuild_is_whole(
    scenes: Scenes, view: Projection
) -> None:
    """One is killed as it starts, one when the other has written; topics get each change once."""
    database, rows = scenes.copy(crossed_at_first, 2, 4)
    asked(database, view)
    before = dumped(database, view)
    for amid in (False, True):
        with pytest.raises(Unavailable, match="ended unexpectedly"):
            rebuilt(database, view, len(rows), killed(database, view, amid=amid))
        assert (dumped(database, view), waiting(database)) == (before, [])
    assert rebuilt(database, view, len(rows))
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, view) == dumped(whole, view)
    assert dumped(whole, view) != before
    told = waiting(database)
    assert len(told) == len(set(told))
    assert bool(told) == bool(view.tells)


@pytest.mark.long
def test_a_dead_process_that_nobody_misses_would_leave_rows_out(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the parent does not look how its processes ended."""
    database, rows = scenes.copy(crossed_at_first, 2, 4)
    monkeypatch.setattr(parallel_rebuild, "ended_badly", lambda _: [])
    assert rebuilt(database, rulings.VIEW, len(rows), killed(database, rulings.VIEW, amid=True))
    whole, _ = scenes.read(crossed_in_views, 2, 4)
    assert dumped(database, rulings.VIEW) != dumped(whole, rulings.VIEW)


def crossed_at_first(database: Database, /, seed: int, minutes: int) -> tuple[TapeRow, ...]:
    """A scene: the feed on record, and its first twentieth in the divided views."""
    rows = crossed(database, seed, minutes)
    catch_up(database, Prefix(rows, len(rows) // 20), DIVIDED)
    return rows


def killed(database: Database, view: Projection, *, amid: bool) -> Callable[[str, int], None]:
    """Kill the second process: at once, or held as it starts until the first has written rows."""

    def kill(*_: object) -> None:
        held = [each for each in active_children() if each.name == f"rebuild {view.name} 1"]
        for each in held:
            os.kill(each.pid or 0, signal.SIGSTOP)
        with database.connect("ledger_owner") as connection:
            if amid and not dump(ViewStore(connection, SHADOW_SCHEMA), view):
                return
        for each in held:
            each.kill()

    return kill


def asked(database: Database, view: Projection) -> None:
    """A relay publishes the view's topics: its changes are to be enqueued."""
    with database.connect("ledger_owner") as connection:
        for topic in outbox.topics_of([view]):
            connection.execute(
                "INSERT INTO views.relayed (topic) VALUES (%s) ON CONFLICT DO NOTHING", (topic,)
            )


def waiting(database: Database) -> list[tuple[str, str, str | None]]:
    """The messages in the outbox: topic, key and body."""
    with database.connect("ledger_owner") as connection:
        return connection.execute(
            "SELECT topic, key, body FROM views.outbox ORDER BY number"
        ).fetchall()
