"""Dealers' errors as counted by the view: against a second program, late facts, withheld rounds."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING, get_args

import pytest

from consumers.registry import VIEWS, install
from consumers.rulings import rulings
from consumers.rulings.error_rates import ErrorsAsked, ErrorsBy, error_lines, read
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import reading
from ledger.facts import (
    DealerAssigned,
    DealerRelieved,
    DropBoxAttached,
    FactCorrected,
    FactRef,
    RoundCompleted,
    RoundStarted,
    WagerPaid,
    WagerPlaced,
)
from ledger.facts import DiceThrown as Dice
from ledger.record import wire
from ledger.simulate import MISTAKES, deal, line, plan_of
from tests.scenes.recounted_errors import Recount
from tests.scenes.view_feeds import MINUTE_US, Prefix, received, record, viewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.record.tape import Received
    from tests.fixtures.postgres import Scenes

ZONE = timezone(timedelta(hours=-5))
T0_US = 1_795_000_000_000_000
PAID = "round-1-paid"


def counted(database: Database, by: ErrorsBy, **asked: object) -> dict[str, tuple[int, ...]]:
    groups = read(database, ErrorsAsked(by, ZONE, **asked))  # type: ignore[arg-type]
    return {each.name: (*each.counted, each.left_out, each.left_out_errors) for each in groups}


def recounted(database: Database, plan_minutes: int, planted: int) -> Recount:
    mistakes = dict.fromkeys(MISTAKES, planted)
    plan = plan_of(minutes=plan_minutes, tables=4, seed=7, mistakes=mistakes)
    with reading(database, rulings.tables_to_read()) as store:
        texts = store.query("SELECT ruling::text FROM {schema}.rulings WHERE ruling IS NOT NULL")
    feed = [line(plan, fact) for fact in deal(plan)[0]]
    return Recount(feed, [text for (text,) in texts], timedelta(0))  # its times are the house's


@pytest.mark.long
def test_a_second_program_counts_the_same(scenes: Scenes) -> None:
    """It reads the feed and the rulings, and shares nothing with this one."""
    database = scenes.read(viewed, 60, planted=2)[0]
    theirs = recounted(database, 60, 2)
    names = ("settlements", "errors", "short", "over", "left_out", "left_out_errors")
    for by in get_args(ErrorsBy):
        ours = counted(database, by)
        assert ours == {
            group: tuple(its[name] for name in names) for group, its in theirs.counts[by].items()
        }, by
        assert sum(each[1] for each in ours.values()) > 0
        assert sum(each[4] for each in ours.values()) > 0, "no round is left out"


@pytest.mark.long
def test_the_errors_listed_are_those_counted_in_every_group(scenes: Scenes) -> None:
    database = scenes.read(viewed, 60, planted=2)[0]
    for by in get_args(ErrorsBy):
        for group, (_, errors, short, over, *_) in counted(database, by).items():
            if by == "dealer" and not group:
                continue
            listed = error_lines(database, ErrorsAsked(by, ZONE), group, 10_000)
            spots = {(e.round, e.position, e.hand, e.wager, e.throw) for e in listed}
            assert len(spots) == errors, (by, group)
            assert sum(e.short for e in listed) == short
            assert sum(e.over for e in listed) == over


@pytest.mark.long
def test_a_withheld_round_is_taken_out_of_every_count(scenes: Scenes) -> None:
    database = scenes.read(viewed, 60, planted=2)[0]
    nobodys = error_lines(database, ErrorsAsked("dealer", ZONE), None)
    round_ = nobodys[0].round
    for by in get_args(ErrorsBy):
        whole, less = counted(database, by), counted(database, by, without=(round_,))
        gone = sum(sum(each[:2]) + sum(each[4:]) for each in whole.values())
        gone -= sum(sum(each[:2]) + sum(each[4:]) for each in less.values())
        assert gone > 0
        asked = ErrorsAsked(by, ZONE, without=(round_,))
        listed = [e for name in (None, *whole) for e in error_lines(database, asked, name)]
        assert round_ not in {each.round for each in listed}


# -- late facts -----------------------------------------------------------------------------------


def told(minute: int, body: Body, id_: str, number: int | None = None) -> Received:
    subject = f"CR-07/2026-11-20/{number}" if number else None
    time_us = T0_US + minute * MINUTE_US
    return received(wire.encode(body, "/hollywood/CR-07/terminal", id_, time_us, subject))


def paid_short() -> list[Received]:
    """A round at which a win of $5 is paid $4, at minute 12."""
    return [
        told(10, RoundStarted(game="craps"), "started", 1),
        told(10, WagerPlaced(position=1, wager="pass", amount=500), "placed", 1),
        told(11, Dice(dice=(3, 4)), "thrown", 1),
        told(12, WagerPaid(position=1, wager="pass", amount=400), PAID, 1),
        told(13, Dice(dice=(2, 2)), "point", 1),
        told(14, Dice(dice=(3, 4)), "seven", 1),
        told(15, RoundCompleted(), "over", 1),
    ]


def shorted(database: Database, by: ErrorsBy) -> dict[str, int]:
    return {name: its[2] for name, its in counted(database, by).items() if its[2]}


def put(database: Database, facts: Sequence[Received]) -> None:
    """Record facts after those on record, and catch up; a rebuild gives the same counts."""
    rows = record(database, facts)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)
    before = {by: counted(database, by) for by in get_args(ErrorsBy)}
    rebuild(database, Prefix(rows, len(rows)), rulings.VIEW)
    assert {by: counted(database, by) for by in get_args(ErrorsBy)} == before


@pytest.mark.long
def test_late_facts_move_an_error_from_one_to_another_and_a_correction_takes_it_back(
    database: Database,
) -> None:
    install(database)
    put(database, [told(0, DealerAssigned(employee="D-1", role="dealer"), "a-1"), *paid_short()])
    assert shorted(database, "dealer") == {"D-1": 100}
    put(database, [told(5, DealerRelieved(employee="D-1", role="dealer"), "r-1")])
    assert shorted(database, "dealer") == {"": 100}
    put(database, [told(6, DealerAssigned(employee="D-2", role="dealer"), "a-2")])
    assert shorted(database, "dealer") == {"D-2": 100}
    box = DropBoxAttached(box="B-1", table="CR-07", gaming_day="2026-11-20", shift="day")
    put(database, [told(1, box, "box")])
    assert shorted(database, "shift") == {"day": 100}
    put(database, [told(12, DealerAssigned(employee="D-3", role="dealer"), "a-3")])
    assert shorted(database, "dealer") == {"": 100}, "two stood there as it was paid"
    [nobodys] = [e for e in error_lines(database, ErrorsAsked("dealer"), None) if e.short]
    assert nobodys.who == "D-2 (dealer), D-3 (dealer)"
    of = FactRef(source="/hollywood/CR-07/terminal", id=PAID)
    meant = {"position": 1, "wager": "pass", "amount": 500}
    corrected = FactCorrected(of=of, data=meant, because="Misread.", by="S-1", second="S-2")
    put(database, [told(20, corrected, "c-1")])
    assert shorted(database, "dealer") == {}
