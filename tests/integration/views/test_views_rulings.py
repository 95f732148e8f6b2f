"""The view of rulings against the whole feed read at once: the same in any order of arrival."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.registry import install
from consumers.rounds.index import ROUND_INDEX
from consumers.rounds.search import Filters, search
from consumers.rulings import rulings, touched_rounds
from consumers.rulings.tables import VERSIONS
from consumers.rulings.touched_rounds import round_of
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import reading
from ledger.adjudication.feed import CONTEXT_FACTS, adjudicate
from ledger.errors import NotFound
from ledger.facts import (
    Breakage,
    FactCorrected,
    FactRef,
    FloorpersonAssigned,
    RoundCompleted,
    RoundStarted,
    RulesSubmissionFiled,
    SeatLeft,
    StubCounted,
    TableOpened,
    WagerPaid,
)
from ledger.record.wire import encode, fact_of
from ledger.rules.engine.ruling import Ruling, TableFindings
from ledger.simulate import deal, line, plan_of
from ledger.values import RoundId, format_time
from tests.scenes.view_feeds import (
    Prefix,
    day,
    disturbed,
    dumped,
    received,
    record,
    uncared,
    viewed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from ledger.adjudication.adjudicate import RoundRecord
    from ledger.record.tape import Received, TapeRow
    from tests.fixtures.postgres import Scenes

OFFICE = "/hollywood/office/desk"
METERED = ("blackjack",)
BATCH = 40


def of_the_view(database: Database) -> tuple[dict[str, bytes], list[bytes]]:
    """Rulings by round, and table findings one by one, as the view holds them."""
    with reading(database, rulings.tables_to_read()) as store:
        rows = store.query(
            "SELECT property, table_name, gaming_day, number, ruling::text"
            " FROM {schema}.rulings WHERE ruling IS NOT NULL"
        )
    found = rulings.table_findings(database)
    return (
        {str(RoundId(*row[:4])): row[4].encode() for row in rows},
        sorted(msgspec.json.encode(each) for each in found),
    )


def of_the_feed(rows: Sequence[TapeRow]) -> tuple[dict[str, bytes], list[bytes]]:
    """The same from the whole feed at once."""
    by_round: dict[str, bytes] = {}
    of_tables: list[bytes] = []
    for said in adjudicate(fact_of(row) for row in rows):
        if isinstance(said, Ruling):
            by_round[f"{said.property}:{said.round}"] = msgspec.json.encode(said)
        else:
            of_tables += [
                msgspec.json.encode(
                    TableFindings(
                        table=said.table,
                        property=said.property,
                        gaming_day=said.gaming_day,
                        findings=[finding],
                    )
                )
                for finding in said.findings
            ]
    return by_round, sorted(of_tables)


def stepwise(database: Database, rows: Sequence[TapeRow], steps: Sequence[int], size: int) -> None:
    """Keep the view up to each step, and compare it there with the feed so far."""
    install(database)
    for step in steps:
        catch_up(database, Prefix(rows, step), [rulings.VIEW], batch_rows=size)
        held = of_the_view(database)
        assert held == of_the_feed(rows[:step]), step
        with reading(database, rulings.tables_to_read()) as store:
            for name, ruling in held[0].items():
                assert msgspec.json.encode(rulings.again(store, round_of(name))) == ruling


@pytest.mark.long
@pytest.mark.parametrize(("seed", "size"), [(1, 2000), (2, 37), (3, 400)])
def test_rulings_are_those_of_the_whole_feed_at_any_prefix_and_in_any_order_of_arrival(
    database: Database, seed: int, size: int
) -> None:
    rows = record(database, disturbed(day(15, seed=seed), seed))
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    steps = [*sorted(chance.sample(range(1, len(rows)), 3)), len(rows)]
    stepwise(database, rows, steps, size)


def test_an_open_round_is_judged_once_a_batch_and_a_closed_one_only_on_news(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: Counter[RoundId] = Counter()
    rule = touched_rounds.rule_corrected

    def counted(of: RoundRecord, *under: Any) -> Ruling:  # noqa: ANN401 - handed on
        judged[of.round] += 1
        return rule(of, *under)

    monkeypatch.setattr(touched_rounds, "rule_corrected", counted)
    rows = record(database, day(2, seed=1))
    install(database)
    closed: set[RoundId] = set()
    still_open = without_news = 0
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        facts = [fact_of(row) for row in batch]
        judged.clear()
        catch_up(database, Prefix(rows, start + len(batch)), [rulings.VIEW], batch_rows=BATCH)
        told = {fact.round for fact in facts if fact.round}
        ending = {fact.round for fact in facts if isinstance(fact.body, RoundCompleted)}
        around = {fact.table for fact in facts if isinstance(fact.body, CONTEXT_FACTS)}
        quiet = {round_ for round_ in closed - told if round_.table not in around}
        assert not quiet & judged.keys()
        assert {judged[round_] for round_ in told - ending - closed} <= {1}
        without_news += len(quiet)
        still_open += len(told - ending - closed)
        closed |= {round_ for round_ in ending if round_}
    assert still_open > 3
    assert without_news > 10
    judged.clear()
    catch_up(database, Prefix(rows, len(rows)), [rulings.VIEW], batch_rows=BATCH)
    assert not judged


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 5])
def test_findings_of_tables_are_those_of_the_whole_feed(database: Database, seed: int) -> None:
    facts = uncared(60)
    rows = record(database, disturbed(facts, seed) if seed else facts)
    stepwise(database, rows, [len(rows) // 2, len(rows)], 300)
    assert of_the_view(database)[1], "without stub counts there is something to find"


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 3])
def test_one_floorperson_for_all_tables_is_found_by_the_view_as_by_the_feed(
    database: Database, seed: int
) -> None:
    plan = plan_of(minutes=6, tables=6, seats=2, seed=4, of=("criss_cross_poker",))
    one = {"body": FloorpersonAssigned(employee="F-1")}
    facts = [
        received(line(plan, msgspec.structs.replace(f, **one)))
        if isinstance(f.body, FloorpersonAssigned)
        else received(line(plan, f))
        for f in deal(plan)[0]
    ]
    rows = record(database, disturbed(facts, seed) if seed else facts)
    stepwise(database, rows, [len(rows) // 2, len(rows)], 300)
    found = [each for each in of_the_view(database)[1] if b"supervision_exceeded" in each]
    assert len(found) == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 7])
def test_633a_13_m_2_meters_are_held_to_their_wagers_by_the_view_as_by_the_feed(
    database: Database, seed: int
) -> None:
    plan = plan_of(minutes=30, tables=3, seats=4, seed=6, mistakes={"meter_stuck": 3}, of=METERED)
    facts = [received(line(plan, fact)) for fact in deal(plan)[0]]
    rows = record(database, disturbed(facts, seed) if seed else facts)
    stepwise(database, rows, [len(rows) // 3, 2 * len(rows) // 3, len(rows)], 150)
    found = [each for each in of_the_view(database)[1] if b"meter_wrong" in each]
    assert len(found) >= 2


@pytest.mark.long
def test_637a_c_2_a_button_out_of_turn_is_found_by_the_view_as_by_the_feed(
    database: Database,
) -> None:
    plan = plan_of(minutes=12, tables=2, seats=5, seed=3, of=("badugi", "three_dice_football"))
    facts = []
    for fact in deal(plan)[0]:
        body, third = fact.body, fact.round is not None and fact.round.number % 3 == 0
        if isinstance(body, RoundStarted) and body.button and third:
            body = msgspec.structs.replace(body, button=body.button % 5 + 1)
        facts.append(received(line(plan, msgspec.structs.replace(fact, body=body))))
    rows = record(database, disturbed(facts, 4))
    stepwise(database, rows, [len(rows) // 2, len(rows)], 200)
    assert [each for each in of_the_view(database)[1] if b"out_of_turn" in each]


@pytest.mark.long
@pytest.mark.parametrize(
    ("device", "seed", "hours"), [("layout", 0, 1), ("terminal", 2, -30), ("eye", 3, 1)]
)
def test_a_device_hours_off_is_ruled_on_by_the_view_as_by_the_feed(
    database: Database, device: str, seed: int, hours: int
) -> None:
    plan = plan_of(minutes=12, tables=2, seats=4, seed=8, of=("criss_cross_poker",))
    off = hours * 3_600_000_000
    facts = [
        msgspec.structs.replace(fact, time_us=fact.time_us + off)
        if fact.source == f"/hollywood/CC-01/{device}"
        else fact
        for fact in deal(plan)[0]
    ]
    told = [received(line(plan, fact)) for fact in facts]
    rows = record(database, disturbed(told, seed) if seed else told)
    stepwise(database, rows, [len(rows) // 3, 2 * len(rows) // 3, len(rows)], 150)
    view = of_the_view(database)[0]
    named = [name for name, text in view.items() if b"clock_skewed" in text]
    closed = [name for name in view if "CC-01/" in name and b'"complete"' in view[name]]
    assert len(closed) > 5
    assert set(closed) <= set(named)


@pytest.mark.long
def test_a_submission_filed_afterwards_makes_new_rulings_and_keeps_the_old(
    database: Database,
) -> None:
    facts = [f for f in day(7, planted=0) if not f.type.startswith("rules_submission")]
    game = "criss_cross_poker"
    filed = RulesSubmissionFiled(
        game=game, effective_from="2026-01-01", offers=(), breakage=Breakage(unit=100)
    )
    late = received(encode(filed, OFFICE, "late", facts[-1].time_us, "hollywood"))
    rows = record(database, [*facts, late])
    stepwise(database, rows, [len(facts), len(facts) + 1], 500)
    catch_up(database, Prefix(rows, len(rows)), [ROUND_INDEX])
    played = search(database, Filters(game=game, status="completed", limit=1000))
    with reading(database, rulings.tables_to_read()) as store:
        counts = [len(rulings.versions(store, round_.id)) for round_ in played]
        newest = [rulings.newest(store, round_.id) for round_ in played]
        first = [rulings.versions(store, round_.id)[0] for round_ in played]
    assert max(counts) > 1
    changed = [pair for pair in zip(first, newest, strict=True) if pair[0].ruling != pair[1].ruling]
    assert changed
    assert all(later.position == len(facts) + 1 for _, later in changed)


def test_a_correction_makes_a_new_version_that_shows_both_rulings(database: Database) -> None:
    facts = day(6, planted=0)
    paid = next(fact for fact in facts if fact.type == "wager_paid.v1")
    body = msgspec.json.decode(paid.data, type=WagerPaid)
    said = msgspec.to_builtins(msgspec.structs.replace(body, amount=body.amount + 100))
    correction = FactCorrected(
        of=FactRef(paid.source, paid.id), data=said, because="read wrong", by="S-1", second="S-2"
    )
    late = received(encode(correction, OFFICE, "corrected", facts[-1].time_us))
    rows = record(database, [*facts, late])
    stepwise(database, rows, [len(facts), len(facts) + 1], 500)
    round_ = fact_of(paid).round
    assert round_ is not None
    with reading(database, rulings.tables_to_read()) as store:
        before, after = rulings.versions(store, round_)
        assert rulings.newest(store, round_) == after
    assert after.ruling.before == before.ruling
    assert [found.code for found in after.ruling.findings] == ["overpaid"]


@pytest.mark.long
def test_a_correction_that_comes_before_its_fact_holds_once_the_fact_is_there(
    database: Database,
) -> None:
    facts = day(6, planted=0)
    paid = next(fact for fact in facts if fact.type == "wager_paid.v1")
    correction = FactCorrected(
        of=FactRef(paid.source, paid.id), because="never happened", by="S-1", second="S-2"
    )
    early = received(encode(correction, OFFICE, "corrected", facts[0].time_us))
    rows = record(database, [early, *facts])
    stepwise(database, rows, [1, len(rows) // 2, len(rows)], 97)


@pytest.mark.long
def test_a_seat_told_long_after_changes_the_rulings_it_touches(database: Database) -> None:
    facts = day(7)
    completed = [fact for fact in facts if fact.type == "round_completed.v1"]
    late: list[Received] = []
    for number, fact in enumerate(completed[:6]):
        source = f"/{fact.tape}/terminal"
        body = SeatLeft(positions=(1, 2))
        late.append(received(encode(body, source, f"left-{number}", fact.time_us - 5_000_000)))
    stub = StubCounted(batch="no-such-batch", counted=51)
    source = f"/{completed[2].tape}/terminal"
    late.append(received(encode(stub, source, "stub", completed[2].time_us - 1_000_000)))
    rows = record(database, [*facts, *late])
    stepwise(database, rows, [len(facts), len(rows) - 3, len(rows)], 250)


def posted_limits(minutes: int) -> list[list[Received]]:
    """A feed whose table openings come last: rounds, openings, higher minimums, corrections."""
    plan = plan_of(minutes=minutes, tables=2, seed=3, of=("craps", "saigon_5_card"))
    facts, _ = deal(plan)
    told: list[list[Received]] = [[], [], [], []]
    times = [fact.time_us for fact in facts if fact.round]
    for fact in facts:
        opens = isinstance(fact.body, TableOpened)
        told[opens].append(received(line(plan, fact)))
        if isinstance(fact.body, TableOpened):
            higher = msgspec.structs.replace(fact.body, min_wager=700, max_wager=1200)
            middle = (min(times) + max(times)) // 2
            told[2].append(received(encode(higher, fact.source, f"higher-{fact.table}", middle)))
            data = msgspec.to_builtins(msgspec.structs.replace(higher, max_wager=100_000))
            of = FactRef(fact.source, f"higher-{fact.table}")
            meant = FactCorrected(of=of, data=data, because="the sign", by="S-9", second="S-2")
            source = "/hollywood/surveillance/desk"
            told[3].append(received(encode(meant, source, f"meant-{fact.table}", middle + 1)))
    return told


@pytest.mark.long
def test_623a_3_b_limits_posted_are_held_by_the_view_as_by_the_feed(database: Database) -> None:
    told = posted_limits(20)
    rows = record(database, [fact for part in told for fact in part])
    ends = [len(rows) - sum(map(len, told[part:])) for part in (1, 2, 3)]
    counts = []
    for step in [*ends, len(rows)]:
        stepwise(database, rows, [step], 300)
        said = [
            msgspec.json.decode(each, type=Ruling) for each in of_the_view(database)[0].values()
        ]
        codes = [finding.code for ruling in said for finding in ruling.findings]
        counts.append(codes.count("wager_not_permitted"))
    assert counts[0] == counts[1] == 0
    assert counts[2] > counts[3] > 0


@pytest.mark.long
def test_every_fact_on_a_tape_of_its_own_counter_lost_or_late_is_told_as_in_the_feed(
    database: Database,
) -> None:
    """Facts outside rounds are lost too: the gap is then a finding of the table."""
    chance = random.Random(3)  # noqa: S311 - repeatable, guards nothing
    facts = day(8, planted=0)
    kept = [fact for fact in facts if chance.random() > 0.03]
    lost = [fact for fact in facts if fact not in kept]
    rows = record(database, [*kept, *lost])
    stepwise(database, rows, [len(kept), len(kept) + len(lost) // 2, len(rows)], 800)


def _last_collected(facts: Sequence[Received], closing: Received) -> list[Received]:
    """The last three facts of a round's layout, where each collects a wager: no gap shows them."""
    last = [f for f in facts if f.source == closing.source.replace("terminal", "layout")][-3:]
    return [f for f in last if f.type == "wager_collected.v1" and f.subject == closing.subject]


def test_late_facts_make_versions_and_earlier_ones_stay_visible(database: Database) -> None:
    facts = day(6, planted=0)
    at, payments = next(
        (at, last)
        for at, fact in enumerate(facts)
        if fact.type == "round_completed.v1" and len(last := _last_collected(facts[:at], fact)) == 3
    )
    closing = facts[at]
    told = [fact for fact in facts[: at + 1] if fact not in payments]
    rows = record(database, [*told, *payments, *facts[at + 1 :]])
    install(database)
    catch_up(database, Prefix(rows, len(told)), [rulings.VIEW])
    round_ = fact_of(closing).round
    assert round_ is not None
    with reading(database, rulings.tables_to_read()) as store:
        one = rulings.versions(store, round_)
    catch_up(database, Prefix(rows, len(rows)), [rulings.VIEW])
    with reading(database, rulings.tables_to_read()) as store:
        all_of_them = rulings.versions(store, round_)
        assert all_of_them[: len(one)] == one
        assert [each.version for each in all_of_them] == list(range(1, len(all_of_them) + 1))
        assert rulings.newest(store, round_) == all_of_them[-1]
        assert rulings.again(store, round_) == all_of_them[-1].ruling
    assert len(one) == 1
    assert len(all_of_them) == 1 + len(payments)
    assert [len(each.ruling.findings) for each in all_of_them] == [3, 2, 1, 0]


def test_an_open_round_has_a_ruling_that_says_what_must_come_next(database: Database) -> None:
    facts = day(6, planted=0)
    closing = next(at for at, f in enumerate(facts) if f.type == "round_completed.v1")
    rows = record(database, facts[:closing])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), [rulings.VIEW])
    round_ = fact_of(facts[closing]).round
    assert round_ is not None
    with reading(database, rulings.tables_to_read()) as store:
        ruled = rulings.newest(store, round_)
        assert rulings.versions(store, round_) == []
        with pytest.raises(NotFound, match="no ruling"):
            rulings.newest(store, RoundId("hollywood", "CC-01", "2026-11-20", 999))
    assert ruled.version == 0
    assert ruled.ruling.next is not None
    assert isinstance(fact_of(facts[closing]).body, RoundCompleted)


@pytest.mark.long
def test_planted_mistakes_are_found_by_code_outcome_and_sentence(scenes: Scenes) -> None:
    database, _ = scenes.read(viewed, 60, planted=2)
    found = rulings.findings(database, code="overpaid")
    assert found
    named = search(database, Filters(finding="overpaid", limit=100))
    assert {each.round for each in found} == {str(round_.id) for round_ in named}
    assert all(each.says.endswith(".") and each.recorded for each in found)
    won = search(database, Filters(outcome="win", wager="ante_across", position=1, limit=5))
    assert all(1 in round_.positions for round_ in won)
    assert won


@pytest.mark.long
@pytest.mark.parametrize(("seed", "size", "count"), [(1, 700, 3_000), (6, 3, 1_072)])
def test_the_state_of_a_table_is_the_same_however_facts_came_in_batches(
    database: Database, seed: int, size: int, count: int
) -> None:
    """Facts that wait for a floor, and Rules Submissions that come with rounds in one batch."""
    rows = record(database, disturbed(day(12, seed=seed, planted=1), seed))[:count]
    install(database)
    source = Prefix(rows, len(rows))
    catch_up(database, source, [rulings.VIEW], batch_rows=size)
    kept_up = dumped(database, rulings.VIEW)
    assert b'"table":"ruling_care"' in kept_up
    rebuild(database, source, rulings.VIEW)
    assert dumped(database, rulings.VIEW) == kept_up


def test_a_ruling_says_when_its_round_began_and_ended(scenes: Scenes) -> None:
    database, rows = scenes.read(viewed, 6)
    times: dict[str, list[int]] = {}
    for row in rows:
        if row.subject:
            times.setdefault(row.subject, []).append(row.time_us)
    with reading(database, rulings.tables_to_read()) as store:
        told = store.page(VERSIONS, None, 100)
    assert told
    for version in map(VERSIONS.row._make, told):
        name = f"{version.table_name}/{version.gaming_day}/{version.number}"
        (mapping,) = (each for each in rulings.VIEW.tells if each.table is VERSIONS)
        assert mapping.attributes_of(version) == {
            "property": version.property,
            "gamingday": version.gaming_day,
            "roundstart": format_time(min(times[name])),
            "roundend": format_time(max(times[name])),
        }
