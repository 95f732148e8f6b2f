"""Random late facts and corrections change no version of a closed day, and all are listed."""

from __future__ import annotations

import random
from copy import deepcopy
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from consumers.finance.sealed import sealed_wins, seals
from consumers.registry import install
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.tape import PostgresTape
from ledger.facts import DropBoxAttached, DropBoxCounted, FactCorrected, FactRef
from ledger.finance import day_versions
from ledger.finance.placing import by_time
from ledger.finance.win import win_parts
from ledger.record.tape import unframe_attributes
from ledger.record.wire import encode, fact_of
from replay.recording.sealed_days import DayDecisions, SealedDay, Signers
from tests.property.finance.floors import FAULTS, house
from tests.scenes.view_feeds import day, received, record
from tests.suite.budget import budget

if TYPE_CHECKING:
    import pytest

    from infra.postgres.connection import Database
    from ledger.finance.win import TableWin
    from ledger.record.tape import Received
    from ledger.record.wire import Fact

DAY, HOUSE = "2026-11-20", "hollywood"
TWO = Signers(by="F-1", second="F-2", because="Late facts.", despite="As it is.")
MINUTE_US = 60_000_000


def late_fact(facts: list[Received], chance: random.Random, name: str) -> Received:
    """A correction of a fact of the day, or the fact once more, changed and at another time."""
    of = chance.choice(facts)
    data = msgspec.json.decode(of.data)
    for field in {"amount", "total"} & data.keys():
        data[field] = max(1, data[field] + chance.randrange(-50, 50) * 100)
    if chance.random() < 0.5:
        body = FactCorrected(
            of=FactRef(of.source, of.id),
            data=None if chance.random() < 0.1 else data,
            because="Found late.",
            by="F-1",
            second="S-1",
        )
        return received(encode(body, f"/{HOUSE}/office/desk", name, of.time_us + len(name)))
    told = unframe_attributes(of.attributes)
    later = {"id": name, "time": _moved(told["time"], chance)}
    return received(msgspec.json.encode({**told, **later, "data": data}))


def _moved(time: str, chance: random.Random) -> str:
    """A time of day with another minute."""
    return f"{time[:14]}{chance.randrange(60):02d}{time[16:]}"


def close(database: Database, decisions: DayDecisions, gaming_day: str = DAY) -> bytes:
    """Close the day by its views, and return what the record says of its newest version."""
    up_to_date(database, sealed_wins.VIEWS)
    closed = decisions.close_day(sealed_wins.pinned_now(database, HOUSE, gaming_day), TWO, "1")
    assert closed
    up_to_date(database, [seals.VIEW])
    return said(database, closed.version, gaming_day)


def said(database: Database, version: int, gaming_day: str = DAY) -> bytes:
    """What a version says by table and by shift. It raises for another digest."""
    return b"".join(
        day_versions.printed(
            sealed_wins.of_version(database, version, gaming_day=gaming_day, by_shift=by_shift)
        )
        for by_shift in (False, True)
    )


def amounts(wins: list[TableWin]) -> dict[tuple[str, str], int | None]:
    """Every part of a version that is not 0, by table and name."""
    parts = ((w.table or "", name, each) for w in wins for name, each in win_parts(w).items())
    return {(table, name): each for table, name, each in parts if each != 0}


@budget("size", (3, 20), (20, 500))
def test_each_version_says_the_same_bytes_whatever_arrives_and_differs_by_its_adjustments(
    database: Database, size: tuple[int, int]
) -> None:
    versions, late = size
    chance = random.Random(versions)  # noqa: S311 - repeatable, guards nothing
    facts = day(2, tables=2, planted=0)
    record(database, [*facts, *second_shift(facts)])
    install(database)
    kept: list[bytes] = []
    with DayDecisions(database) as decisions, PostgresTape(database) as tape:
        for nth in range(1, versions + 1):
            kept.append(close(database, decisions))
            tape.append([late_fact(facts, chance, f"late-{nth}-{n}") for n in range(late)])
            earlier = chance.randrange(nth)
            assert said(database, earlier + 1) == kept[earlier]
            differs_by_its_adjustments(database, nth)
            if nth < versions:
                case = decisions.read(SealedDay(property=HOUSE, gaming_day=DAY))
                decisions.decide(case, case.reopen(TWO))
    assert [said(database, nth + 1) for nth in range(versions)] == kept
    assert len(set(kept)) == versions, "each version had something to differ by"
    now = sealed_wins.pinned_now(database, HOUSE, DAY)
    for nth, each in enumerate(kept, 1):
        tables, shifts = (day_versions.printed(found) for found in now.wins.as_version(nth))
        assert not each.startswith(tables), "without the pins the version would have changed"
        assert not each.endswith(shifts), "and its shifts"
    assert {each.shift for each in now.wins.shifts} >= {"1", "2"}


def second_shift(facts: list[Received]) -> list[Received]:
    """A box of a second shift at each table, from the middle of its rounds on, and its count."""
    times: dict[str, list[int]] = {}
    for each in facts:
        if each.type == "round_started.v1" and each.subject:
            times.setdefault(each.subject.partition("/")[0], []).append(each.time_us)
    found = []
    for table, its in times.items():
        of: dict[str, Any] = {"box": f"B2-{table}", "table": table, "gaming_day": DAY}
        content: dict[str, Any] = {"currency": {}, "counter_checks": (), "vouchers": ()}
        counted = DropBoxCounted(**of, **content, count=1, coupons=(), counted_by=("N-1", "N-2"))
        middle = sorted(its)[len(its) // 2]
        for body, at_us in ((DropBoxAttached(**of, shift="2"), middle), (counted, max(its))):
            name = f"second-{table}-{at_us}"
            found.append(received(encode(body, f"/{HOUSE}/count-room/d", name, at_us)))
    return found


def differs_by_its_adjustments(database: Database, version: int) -> None:
    """The adjustments lead from every figure of the version before to every figure of this one."""
    _, adjustments = sealed_wins.versions(database, HOUSE, DAY)
    if version == 1:
        assert adjustments == []
        return
    before, after = (
        amounts(sealed_wins.of_version(database, each, gaming_day=DAY))
        for each in (version - 1, version)
    )
    for each in adjustments:
        key = (each.table, each.figure)
        assert (each.before, each.after) == (before.get(key, 0), after.get(key, 0))
        if each.amount is not None:
            assert each.amount == (each.after or 0) - (each.before or 0)
        before[key] = each.after
    assert {key: each for key, each in before.items() if each != 0} == after
    named = {(ref.source, ref.id) for each in adjustments for ref in each.facts}
    assert {id_.split("-")[1] for _, id_ in named} == {str(version - 1)}


@budget("seeds", range(2), range(2, 20))
def test_the_current_line_lists_the_late_facts_of_its_table_and_what_they_would_change(
    database: Database, seeds: range
) -> None:
    facts = day(2, tables=2, planted=0)
    record(database, facts)
    install(database)
    with DayDecisions(database) as decisions, PostgresTape(database) as tape:
        for version, seed in enumerate(seeds, 1):
            chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
            pinned = sealed_wins.pinned_now(database, HOUSE, DAY)
            signed = day_versions.sealed(pinned.wins.tables, version)
            close(database, decisions)
            late = [late_fact(facts, chance, f"late-{seed}-{n}") for n in range(25)]
            tape.append(late)
            up_to_date(database, sealed_wins.VIEWS)
            facts_now = [fact_of(row) for row in tape.read(0, 100_000)]
            lists_them(database, signed, facts_now, {each.id for each in late})
            case = decisions.read(SealedDay(property=HOUSE, gaming_day=DAY))
            decisions.decide(case, case.reopen(TWO))


def lists_them(
    database: Database, signed: list[TableWin], facts: list[Fact], late: set[str]
) -> None:
    """The current lines have the signed figures; the late facts and changes of the whole feed."""
    new = sorted((fact for fact in facts if fact.id in late), key=by_time)
    moved = day_versions.corrected_late(facts, new)
    expected = day_versions.arrived(facts, new, DAY)
    edge = day_versions.at_edge(new, DAY, moved)
    now = {each.table: each for each in day_versions.of_day(facts, HOUSE, DAY).tables}
    found = sealed_wins.read(database, gaming_day=DAY)
    assert [msgspec.structs.replace(each, late=[], pending={}) for each in found] == [
        msgspec.structs.replace(each, pit=found[nth].pit) for nth, each in enumerate(signed)
    ]
    for each in found:
        table = each.table or ""
        assert each.pending == day_versions.changes(each, now[each.table])
        moved = day_versions.beside(edge, table) if each.pending else []
        assert each.late == (expected.get(table) or moved)
    assert any(each.late for each in found)


@budget("size", (2, 1), (8, 4))
def test_days_closed_in_turn_by_their_views_say_what_the_record_says(
    database: Database, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of each day's facts come a day late; each day has a fault of its papers."""
    days, minutes = size
    chance = random.Random(days)  # noqa: S311 - repeatable, guards nothing
    install(database)
    by_views: list[bool] = []
    have_read = sealed_wins._have_read
    monkeypatch.setattr(
        sealed_wins, "_have_read", lambda *asked: by_views.append(have_read(*asked)) or by_views[-1]
    )
    kept: dict[str, bytes] = {}
    late: list[Received] = []
    with DayDecisions(database) as decisions, PostgresTape(database) as tape:
        for nth, lines in enumerate(house(5, days, minutes=minutes, tables=2)):
            found = FAULTS[nth % len(FAULTS)](deepcopy(lines), chance)
            of_day = found.lines if found else lines
            told = [received(msgspec.json.encode(each)) for each in of_day]
            tape.append([*late, *(each for each in told if chance.random() < 0.97)])
            late = [each for each in told if chance.random() < 0.1]
            gaming_day = (date.fromisoformat(DAY) + timedelta(days=nth)).isoformat()
            kept[gaming_day] = close(database, decisions, gaming_day)
    assert by_views == [True] * days
    assert {each: said(database, 1, each) for each in kept} == kept
    monkeypatch.setattr(sealed_wins, "_of_views", lambda *_: day_versions.DayWins([], []))
    assert {each: said(database, 1, each) for each in kept} == kept, "the record says the same"
