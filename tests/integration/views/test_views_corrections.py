"""Corrections of money facts beside the drop's sums: before and after, whatever came first."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.money import drop
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up, rebuild
from ledger.facts import (
    CashBoughtIn,
    DropBoxAttached,
    DropBoxCounted,
    FactCorrected,
    FactRef,
    InventoryCounted,
    RoundStarted,
    TableOpened,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
)
from ledger.record.wire import encode, fact_of
from tests.fixtures.cli import Cli, feed
from tests.scenes.view_feeds import Prefix, day, disturbed, dumped, received, record

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.record.tape import Received

DAY, NEXT = "2026-11-20", "2026-11-21"
BEGAN_US = 1_795_000_000_000_000
_numbers = itertools.count(1)


def line(body: Body, *, at: int = 0, place: str = "CC-07", subject: str | None = None) -> bytes:
    source = f"/hollywood/{place}/terminal"
    return encode(body, source, f"c{next(_numbers)}", BEGAN_US + at * 1_000_000, subject)


def told(body: Body, *, at: int = 0, subject: str | None = None) -> Received:
    return received(line(body, at=at, subject=subject))


def correction(of: Received, *, at: int = 1_000, **changed: Any) -> Received:  # noqa: ANN401 - a body's fields
    """What `of` should have said; without `changed`, that it should not have been recorded."""
    data = msgspec.to_builtins(fact_of(of).body) | changed if changed else None
    body = FactCorrected(
        of=FactRef(of.source, of.id), data=data, because="read wrong", by="S-1", second="S-2"
    )
    return received(line(body, at=at, place="office"))


def opened(name: str = DAY, at: int = 0) -> Received:
    body = TableOpened(
        game="criss_cross_poker", gaming_day=name, min_wager=1000, max_wager=50000, positions=6
    )
    return told(body, at=at)


def inventory(kind: str, total: int, *, at: int) -> Received:
    body = {
        "kind": kind,
        "gaming_day": DAY,
        "chips": {"2500": total // 2500},
        "total": total,
        "slip": "7",
        "counted_by": "D-1",
        "observed_by": "F-1",
    }
    return told(msgspec.convert(body, InventoryCounted), at=at)


def floor() -> dict[str, Received]:
    """A day's money facts by name, then the first of the next day."""
    subject = f"CC-07/{DAY}/1"
    return {
        "opened": opened(),
        "opener": inventory("open", 500_000, at=1),
        "cash": told(CashBoughtIn(position=1, amount=10_000), at=2),
        "more cash": told(CashBoughtIn(position=2, amount=5_000), at=3),
        "started": told(RoundStarted(game="criss_cross_poker"), at=4, subject=subject),
        "placed": told(
            WagerPlaced(position=1, wager="ante_across", amount=2_500), at=5, subject=subject
        ),
        "paid": told(
            WagerPaid(position=1, wager="ante_across", amount=2_500), at=6, subject=subject
        ),
        "collected": told(
            WagerCollected(position=2, wager="middle", amount=7_500), at=7, subject=subject
        ),
        "next day": told(DropBoxAttached(table="CC-07", box="12", gaming_day=NEXT), at=8),
        "next cash": told(CashBoughtIn(position=1, amount=700), at=9),
    }


def kept(database: Database, facts: list[Received], size: int = 2_000) -> dict[str, drop.Drop]:
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, len(rows)), [drop.DROP], batch_rows=size)
    return {each.gaming_day: each for each in drop.read(database)}


@pytest.mark.parametrize("size", [1, 2_000])
def test_a_correction_of_an_old_fact_changes_exactly_its_total_and_shows_both(
    database: Database, size: int
) -> None:
    """Recorded after the next box was attached, it belongs to the day its fact was counted in."""
    facts = floor()
    late = correction(facts["cash"], amount=4_000)
    days = kept(database, [*facts.values(), late], size)
    assert (days[DAY].cash, days[DAY].corrected) == (9_000, {"cash": 9_000})
    (shown,) = days[DAY].corrections
    assert (shown.of_id, shown.amount, shown.told, shown.meant, shown.because, shown.fact_id) == (
        facts["cash"].id, "cash", 10_000, 4_000, "read wrong", late.id,
    )  # fmt: skip
    assert days[NEXT].cash == 700
    assert (days[NEXT].corrections, days[NEXT].corrected) == ([], {})


def test_a_payment_that_never_happened_changes_payouts_and_win(database: Database) -> None:
    facts = floor()
    days = kept(database, [*facts.values(), correction(facts["paid"])])
    assert (days[DAY].payouts, days[DAY].win) == (0, 7_500)
    assert days[DAY].corrected == {"payouts": 0, "win": 7_500}
    (shown,) = days[DAY].corrections
    assert (shown.wager, shown.told, shown.meant) == ("ante_across", 2_500, None)


def test_a_wager_of_another_name_is_taken_from_one_and_given_to_the_other(
    database: Database,
) -> None:
    facts = floor()
    moved = correction(facts["collected"], wager="across", amount=7_000)
    days = kept(database, [*facts.values(), moved])
    assert [(c.wager, c.told, c.meant) for c in days[DAY].corrections] == [
        ("across", None, 7_000), ("middle", 7_500, None),
    ]  # fmt: skip
    assert days[DAY].corrected == {"collected": 7_000, "win": 4_500}


def test_the_opener_that_counts_is_replaced_and_another_count_is_only_shown(
    database: Database,
) -> None:
    facts = floor()
    again = inventory("open", 490_000, at=20)
    made = [correction(facts["opener"], total=510_000), correction(again, total=1)]
    days = kept(database, [*facts.values(), again, *made])
    assert (days[DAY].opener, days[DAY].corrected) == (510_000, {"opener": 510_000})
    assert len(days[DAY].corrections) == 2


def test_of_a_corrected_count_of_a_box_each_kind_is_shown(database: Database) -> None:
    counted = told(
        DropBoxCounted(
            table="CC-07", gaming_day=DAY, box="12", count=1, currency={"10000": 3},
            counter_checks=(), vouchers=(), coupons=(), counted_by=("C-1", "C-2", "C-3"),
        )
    )  # fmt: skip
    days = kept(database, [opened(), counted, correction(counted, currency={"10000": 2})])
    (shown,) = days[DAY].corrections
    assert (shown.amount, shown.told, shown.meant) == ("box 12, count 1: currency", 30_000, 20_000)
    assert days[DAY].corrected == {}


def test_the_latest_correction_holds_and_one_that_takes_it_back_leaves_nothing(
    database: Database,
) -> None:
    facts = floor()
    wrong = correction(facts["cash"], at=100, amount=4_000)
    back = correction(facts["cash"], at=200, amount=10_000)
    days = kept(database, [*facts.values(), back, wrong])
    assert (days[DAY].corrections, days[DAY].corrected) == ([], {})


@pytest.mark.parametrize("which", ["cash", "paid"])
@pytest.mark.parametrize("size", [1, 500])
def test_a_correction_that_a_later_one_takes_back_leaves_the_drop_as_it_was(
    database: Database, which: str, size: int
) -> None:
    """The facts are a paper and a payment of a round; the control is the correction alone."""
    facts = floor()
    wrong = correction(facts[which], at=100, amount=4_000)
    plain = kept(database, list(facts.values()), size)
    assert kept(database, [wrong], size) != plain
    assert kept(database, [correction(wrong, at=200)], size) == plain


@pytest.mark.parametrize("size", [1, 3, 2_000])
def test_a_correction_that_comes_before_its_fact_is_shown_once_that_is_there(
    database: Database, size: int
) -> None:
    facts = floor()
    days = kept(database, [correction(facts["cash"], amount=1), *facts.values()], size)
    assert days[DAY].corrected == {"cash": 5_001}


@pytest.mark.parametrize("changed", [{"amount": "much"}, {"amount": 10**16}, {"position": 2}])
def test_a_correction_that_is_no_such_fact_or_changes_no_money_changes_nothing(
    database: Database, changed: dict[str, Any]
) -> None:
    facts = floor()
    days = kept(database, [*facts.values(), correction(facts["cash"], **changed)])
    assert (days[DAY].corrections, days[DAY].corrected) == ([], {})


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_with_corrections_of_anything_the_drop_is_that_of_a_rebuild_at_any_prefix(
    database: Database, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    facts = disturbed(day(12, seed=seed), seed)
    some = chance.sample(facts, len(facts) // 8)
    made = [
        correction(
            fact,
            at=chance.randrange(5_000),
            **({"amount": chance.randrange(9_999)} if chance.random() < 0.7 else {}),
        )
        for fact in [*some, *some[::3]]
    ]
    for each in made:
        facts.insert(chance.randrange(len(facts)), each)
    rows = record(database, facts)
    install(database)
    for prefix in [*sorted(chance.sample(range(1, len(rows)), 4)), len(rows)]:
        size = chance.choice((3, 17, 120, 700))
        catch_up(database, Prefix(rows, prefix), [drop.DROP], batch_rows=size)
        incremental = dumped(database, drop.DROP)
        assert rebuild(database, Prefix(rows, prefix), drop.DROP)
        assert dumped(database, drop.DROP) == incremental, (prefix, size)
    assert any(each.corrected for each in drop.read(database))


def test_the_command_prints_what_corrections_make_of_the_sums_beside_them(
    cli: Cli, tmp_path: Path
) -> None:
    lines = [line(CashBoughtIn(position=1, amount=10_000), at=2)]
    of = received(lines[0])
    data = {"position": 1, "amount": 4_000}
    body = FactCorrected(
        of=FactRef(of.source, of.id), data=data, because="misread", by="S-1", second="S-2"
    )
    lines.append(line(body, at=9, place="office"))
    cli("ingest", feed(tmp_path / "feed", lines))
    (told_,) = cli("drop", "--json").json
    assert (told_["cash"], told_["corrected"]) == (4_000, {"cash": 4_000})
    shown = cli("drop").out
    assert all(text in shown for text in ("corrected", "$100.00", "$40.00", "misread"))
