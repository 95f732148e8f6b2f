"""The wins read from the views are those of the whole feed, however its facts arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.finance import wins
from consumers.finance.day_facts import WinsAsked
from consumers.finance.sealed import sealed_wins
from consumers.finance.sealed.day_money import money_of_days
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import reading
from ledger.adjudication.feed import adjudicate
from ledger.facts import (
    AdjustmentPaid,
    CashBoughtIn,
    CounterCheckIssued,
    CounterCheckVoided,
    CouponDropped,
    CouponsIssued,
    DisputeRaised,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    FactCorrected,
    FactRef,
    FillAccepted,
    FillDispatched,
    FillRequested,
    InventoryCounted,
    RakeTaken,
    RoundCompleted,
    RoundStarted,
    TableOpened,
    TournamentEntered,
    TournamentPrizePaid,
    VoucherBoughtIn,
    WagerPaid,
    WagerPlaced,
)
from ledger.finance import feed
from ledger.finance.win import REPORT_7, REPORT_9
from ledger.record.wire import encode, fact_of, parse_line
from tests.scenes.view_feeds import Prefix, day, disturbed, dumped, record
from tests.suite.budget import cases, rest_long

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.facts.money import ChipSlip
    from ledger.finance.win import TableWin
    from ledger.record.tape import Received, TapeRow

DAY, NEXT = "2026-11-20", "2026-11-21"
T0 = 1_795_186_800_000_000
"""20 November 2026, 15:00 UTC, microseconds."""


def told(
    body: Body, *, at: int, place: str = "CC-07", name: str = "", house: str = "p"
) -> Received:
    """A fact `at` seconds after T0."""
    octets = encode(body, f"/{house}/{place}/d", name or f"{place}-{at}", T0 + at * 1_000_000)
    found = parse_line(octets)
    assert not isinstance(found, tuple) or hasattr(found, "source"), found
    return found  # type: ignore[return-value] # checked above


def opened(gaming_day: str, *, at: int, table: str = "CC-07") -> Received:
    body = TableOpened(
        game="criss_cross_poker", gaming_day=gaming_day, min_wager=500, max_wager=50_000
    )
    return told(body, at=at, place=table)


def inventory(kind: str, total: int, *, at: int, gaming_day: str = DAY) -> Received:
    body: dict[str, Any] = {
        "kind": kind,
        "gaming_day": gaming_day,
        "chips": {"100": total // 100},
        "total": total,
        "slip": f"INV-{at}",
        "counted_by": "D-1",
        "observed_by": "F-1",
    }
    return told(msgspec.convert(body, InventoryCounted), at=at)


def box(number: str, *, at: int, table: str = "CC-07", gaming_day: str = DAY) -> Received:
    body = DropBoxAttached(box=number, table=table, gaming_day=gaming_day)
    return told(body, at=at, place="count-room")


def counted(
    number: str,
    cash: int,
    *,
    at: int,
    table: str = "CC-07",
    gaming_day: str = DAY,
    coupons: tuple[str, ...] = (),
) -> Received:
    body = DropBoxCounted(
        box=number,
        table=table,
        gaming_day=gaming_day,
        count=1,
        currency={"100": cash // 100},
        counter_checks=(),
        vouchers=(),
        coupons=coupons,
        counted_by=("N-1", "N-2"),
    )
    return told(body, at=at, place="count-room")


def correction(
    of: Received, data: dict[str, Any] | None, *, at: int, second: str = "S-1"
) -> Received:
    body = FactCorrected(
        of=FactRef(of.source, of.id), data=data, because="Mistyped.", by="F-1", second=second
    )
    return told(body, at=at, place="office", house=of.source.split("/")[1])


def read(database: Database, **asked: str) -> bytes:
    return msgspec.json.encode(wins.read(database, **asked))


def of_feed(rows: list[TapeRow]) -> list[TableWin]:
    facts = [fact_of(row) for row in rows]
    return feed.wins(facts, adjudicate(facts))


def kept(database: Database, facts: list[Received], size: int = 500) -> list[TapeRow]:
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, len(rows)), wins.VIEWS, batch_rows=size)
    return rows


def one(database: Database, facts: list[Received], gaming_day: str = DAY) -> TableWin:
    """The win of CC-07 on a day; the same from the view and from the feed."""
    rows = kept(database, facts)
    assert read(database) == msgspec.json.encode(of_feed(rows))
    found = wins.read(database, table="CC-07", gaming_day=gaming_day)
    assert found == [each for each in wins.read(database) if _is(each, gaming_day)]
    return found[0]


def _is(each: TableWin, gaming_day: str) -> bool:
    return (each.table, each.gaming_day) == ("CC-07", gaming_day)


def codes(win: TableWin) -> list[str]:
    """The codes of its exceptions. The boxes of these feeds are counted once."""
    return [each.code for each in win.exceptions if each.code != "counted_once"]


def test_a_buy_in_told_after_the_next_box_belongs_to_the_day_it_happened_in(
    database: Database,
) -> None:
    facts = [
        opened(DAY, at=0),
        box("B1", at=1),
        inventory("open", 500_000, at=2),
        inventory("drop", 490_000, at=100),
        box("B2", at=101, gaming_day="2026-11-21"),
        told(CashBoughtIn(position=1, amount=10_000), at=50),
        counted("B1", 10_000, at=200),
    ]
    win = one(database, facts)
    assert (win.drop.cash, win.counted, win.count_gap, win.missing) == (10_000, 0, 0, [])


def test_a_correction_gives_a_box_to_another_table_and_both_days_say_so(
    database: Database,
) -> None:
    count = counted("B1", 10_000, at=200, table="CC-08")
    facts = [
        opened(DAY, at=0),
        opened(DAY, at=0, table="CC-08"),
        box("B1", at=1),
        inventory("open", 500_000, at=2),
        inventory("close", 490_000, at=100),
        told(CashBoughtIn(position=1, amount=10_000), at=50),
        count,
    ]
    body = msgspec.json.decode(count.data) | {"table": "CC-07"}
    win = one(database, [*facts, correction(count, body, at=300)])
    assert (win.counted, win.drop.cash, win.missing) == (0, 10_000, [])
    assert (win.told["counted"], win.told["drop.cash"]) == (None, None)
    [other] = wins.read(database, table="CC-08")
    assert (other.drop.cash, other.told["drop.cash"]) == (0, 10_000)


def slip(
    step: type[ChipSlip], number: str, total: int = 500, *, at: int, table: str = "cage"
) -> Received:
    people = {"slip": number, "chips": {"100": total // 100}, "by": ["C-1", "C-2"]}
    return told(msgspec.convert({**people, "total": total}, step), at=at, place=table)


def accepted(number: str, total: int, *, at: int, table: str = "CC-07") -> Received:
    return slip(FillAccepted, number, total, at=at, table=table)


def test_each_stay_of_a_box_counts_and_a_coupon_in_both_was_counted_twice(
    database: Database,
) -> None:
    facts = [
        *(opened(DAY, at=0), box("B1", at=1), box("B1", at=30)),
        counted("B1", 10_000, at=20, coupons=("W-1",)),
        counted("B1", 4_000, at=50, coupons=("W-1",)),
        *(box("B2", at=900, gaming_day=NEXT), counted("B2", 0, at=990, gaming_day=NEXT)),
    ]
    win = one(database, facts)
    assert (win.drop.cash, win.missing) == (14_000, ["opener", "closer"])
    assert codes(win) == ["coupon_redeemed_twice"]
    [money] = money_of_days(database, "p", [(DAY, DAY)])
    assert [each.drop for each in money] == [14_000]


def test_a_voucher_of_an_earlier_count_has_the_amount_of_its_sale_at_another_table(
    database: Database,
) -> None:
    """The last count lacks it, so no drop has it. The sentence on the counts does."""
    first = counted("B1", 0, at=20)
    octets = msgspec.json.decode(first.data) | {"vouchers": ["V-1"]}
    again = msgspec.json.decode(first.data) | {"count": 2, "counted_by": ["N-3", "N-4"]}
    facts = [
        *(opened(DAY, at=0), opened(DAY, at=0, table="CC-08"), box("B1", at=1)),
        told(VoucherBoughtIn(position=1, voucher="V-1", amount=700), at=5, place="CC-08"),
        told(msgspec.convert(octets, DropBoxCounted), at=20, place="count-room"),
        told(msgspec.convert(again, DropBoxCounted), at=21, place="count-room"),
    ]
    [named] = [each for each in one(database, facts).exceptions if "disagree" in each.code]
    assert named.says.startswith("The counts of box B1 disagree: $7.00 and $0.00;")


@pytest.mark.parametrize("between", ["", "removed", "counted", "attached"])
def test_a_box_that_hung_at_two_tables_is_named_alike_by_house_and_by_table(
    database: Database, between: str
) -> None:
    """A third table may say that it took the box away, or that it hung there meanwhile."""
    data = {"box": "B1", "table": "CC-09", "gaming_day": DAY}
    moves: dict[str, list[Received]] = {
        "": [],
        "removed": [told(msgspec.convert(data, DropBoxRemoved), at=10, place="count-room")],
        "counted": [counted("B1", 0, at=10, table="CC-09")],
        "attached": [box("B1", at=10, table="CC-09")],
    }
    facts = [
        *(opened(DAY, at=0, table=table) for table in ("CC-07", "CC-08", "CC-09")),
        *(box("B1", at=1), *moves[between], box("B1", at=20, table="CC-08")),
    ]
    whole = of_feed(kept(database, facts))
    named = [[e for e in codes(win) if e == "box_attached_twice"] for win in whole]
    assert list(map(len, named)) == {"": [1, 1, 0], "attached": [1, 1, 2]}.get(between, [0] * 3)
    assert [win for each in whole for win in wins.read(database, table=each.table)] == whole


@pytest.mark.parametrize("order", [1, -1])
def test_money_at_a_table_without_a_day_is_named_on_the_houses_day(
    database: Database, order: int
) -> None:
    """The control gets a box later: then it is named on the first day of its table."""
    facts = [
        opened(DAY, at=0, table="CC-08"),
        opened(NEXT, at=900, table="CC-08"),
        *(accepted(f"F-{at}", 500, at=at, table="CC-99") for at in (-5, 60, 950)),
    ][::order]
    rows = kept(database, facts)
    whole = of_feed(rows)
    assert [(w.gaming_day, w.table, len(w.exceptions)) for w in whole] == [
        *((DAY, "CC-08", 0), (DAY, "CC-99", 1), (NEXT, "CC-08", 0), (NEXT, "CC-99", 1)),
    ]
    assert read(database) == msgspec.json.encode(whole)
    by_day = [each for day in (DAY, NEXT) for each in wins.read(database, gaming_day=day)]
    assert by_day == whole
    assert wins.read(database, table="CC-99") == whole[1::2]
    with_box = [*facts, box("B9", at=1_000, table="CC-99", gaming_day=NEXT)]
    [named] = [w for w in of_feed(record(database, with_box)) if w.exceptions]
    assert (named.table, named.gaming_day) == ("CC-99", NEXT)


@pytest.mark.parametrize("order", [1, -1])
def test_what_the_cage_tells_of_a_slip_is_of_the_day_of_the_table_that_has_it(
    database: Database, order: int
) -> None:
    """A fill that is lost on its way is a cause; the control is of a slip that no table has."""
    facts = [
        opened(DAY, at=0, table="CC-08"),
        opened(NEXT, at=900, table="CC-08"),
        *(slip(FillAccepted, f"F-{at}", at=at, table="CC-08") for at in (-5, 60, 950)),
        *(slip(FillDispatched, f"F-{at}", at=at - 1) for at in (-5, 60, 950)),
        slip(FillRequested, "F-951", at=960, table="CC-08"),
        slip(FillDispatched, "F-951", at=961),
        *(slip(FillDispatched, f"F-9{at}", at=at) for at in (-5, 60, 899, 900, 2_000)),
    ][::order]
    whole = of_feed(kept(database, facts))
    assert [(e.gaming_day, len(e.exceptions[0].facts)) for e in whole if e.table == "cage"] == [
        *((DAY, 3), (NEXT, 2)),
    ]
    assert [[each.code for each in win.causes] for win in whole if win.table == "CC-08"] == [
        *([], ["fill_not_accepted"]),
    ]
    assert wins.read(database) == whole
    by_day = [each for day in (DAY, NEXT) for each in wins.read(database, gaming_day=day)]
    assert by_day == whole
    for table in ("CC-08", "cage"):
        assert wins.read(database, table=table) == [e for e in whole if e.table == table]


@pytest.mark.parametrize("order", [1, -1])
def test_a_fill_over_the_change_of_day_and_a_poker_day_without_opening_are_the_same_by_day(
    database: Database, order: int
) -> None:
    """Each day is read alone, with what it needs of the day before and the next."""
    limits = {"min_wager": 500, "max_wager": 50_000}
    poker = TableOpened(game="omaha_5_high", gaming_day=DAY, **limits)
    money: dict[str, Any] = {"tournament": "T-1", "table": "PK-1", "amount": 4_000, "by": "C-1"}
    facts = [
        *(opened(DAY, at=0), inventory("open", 5_000, at=1)),
        slip(FillDispatched, "F-1", at=50, table="CC-07"),
        inventory("close", 5_500, at=60),
        *(opened(NEXT, at=900), inventory("open", 5_500, at=901, gaming_day=NEXT)),
        slip(FillAccepted, "F-1", at=910, table="CC-07"),
        inventory("close", 5_500, at=960, gaming_day=NEXT),
        told(poker, at=5, place="PK-1"),
        told(TournamentEntered(gaming_day=DAY, **money), at=6, place="cage"),
        told(TournamentPrizePaid(gaming_day=NEXT, **money), at=905, place="cage"),
    ][::order]
    whole = of_feed(kept(database, facts))
    named = [[(each.code, each.amount) for each in win.causes] for win in whole if win.opener]
    assert named == [[("fill_not_accepted", 500)], [("fill_sent_before", -500)]]
    assert [(win.owed, win.missing) for win in whole if win.table == "PK-1"] == [(None, [])] * 2
    by_day = [each for day in (DAY, NEXT) for each in wins.read(database, gaming_day=day)]
    assert by_day == wins.read(database) == whole


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_correction_of_a_fact_that_is_not_on_record_is_an_exception_of_its_tables_day(
    database: Database, *, is_recorded: bool
) -> None:
    """Its content names the day, else its time does; the control came late."""
    lost = inventory("drop", 5_000, at=50)
    sold = told(CounterCheckIssued(position=1, check="K-1", amount=500), at=55)
    count = {**msgspec.to_builtins(fact_of(lost).body), "total": 6_000, "chips": {"100": 60}}
    facts = [
        opened(DAY, at=0),
        opened(NEXT, at=900),
        correction(lost, count, at=950),
        correction(sold, None, at=960),
    ]
    rows = kept(database, [*facts, lost, sold] if is_recorded else facts)
    whole = of_feed(rows)
    found = [] if is_recorded else ["correction_of_nothing"]
    assert [codes(win) for win in whole] == [found, found]
    assert wins.read(database) == whole
    by_day = [each for day in (DAY, NEXT) for each in wins.read(database, gaming_day=day)]
    assert by_day == whole
    [*_, earlier] = feed.wins(map(fact_of, rows), [], NEXT, REPORT_7)
    assert earlier.exceptions == []


@pytest.mark.parametrize("order", [1, -1])
def test_a_check_issued_before_and_a_closer_before_days_without_play_are_found_by_index(
    database: Database, order: int
) -> None:
    """The controls are a check of another number, and a tray that opens as it closed."""
    later = "2026-11-24"
    checks = [
        ("CC-07", "K-1", 20),
        ("CC-08", "K-1", 30),
        ("CC-07", "K-2", 40),
        ("CC-07", "K-1", 920),
    ]
    facts = [
        *(opened(DAY, at=0, table=table) for table in ("CC-07", "CC-08")),
        *(opened(later, at=900, table=table) for table in ("CC-07", "CC-08")),
        inventory("open", 5_000, at=1),
        inventory("close", 6_000, at=60),
        inventory("open", 6_100, at=901, gaming_day=later),
        *(
            told(CounterCheckIssued(position=1, check=number, amount=500), at=at, place=table)
            for table, number, at in checks
        ),
    ][::order]
    whole = of_feed(kept(database, facts))
    assert [codes(win) for win in whole] == [
        *([], ["check_issued_before"], ["check_issued_before", "opener_differs"], []),
    ]
    assert [len(each.facts) for each in whole[2].exceptions] == [3, 2]
    assert wins.read(database) == whole
    by_day = [each for day in (DAY, later) for each in wins.read(database, gaming_day=day)]
    assert by_day == whole
    assert wins.read(database, table="CC-08", gaming_day=DAY) == whole[1:2]


@pytest.mark.parametrize("first", [20, 120])
def test_a_slip_accepted_at_two_tables_counts_once_on_whatever_days(
    database: Database, first: int
) -> None:
    """The other table accepted it before this one's day, or after it."""
    facts = [
        opened(DAY, at=0),
        opened(DAY, at=0, table="CC-08"),
        accepted("F-1", 2_000, at=30),
        opened(NEXT, at=100),
        opened(NEXT, at=100, table="CC-08"),
        accepted("F-1", 2_000, at=first, table="CC-08"),
    ]
    win = one(database, facts)
    assert win.fills == (0 if first < 30 else 2_000)
    assert codes(win) == ["slip_recorded_twice"]
    day = DAY if first < 30 else NEXT
    [other] = wins.read(database, table="CC-08", gaming_day=day)
    assert other.fills == 2_000 - win.fills
    assert [each.fills for each in wins.read(database, gaming_day=day)][-1] == other.fills


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [2, 0, 1]])
@pytest.mark.parametrize("back", [False, True])
def test_a_correction_that_is_taken_back_changes_no_win(
    database: Database, order: list[int], *, back: bool
) -> None:
    bought = told(CashBoughtIn(position=1, amount=1_000), at=10)
    fixed = correction(bought, {"position": 1, "amount": 2_000}, at=20)
    undone = correction(fixed, None, at=30)
    told_facts = [each for each in (bought, fixed, undone) if back or each is not undone]
    facts = [told_facts[nth] for nth in order if nth < len(told_facts)]
    rows = kept(database, [opened(DAY, at=0), box("B1", at=1), counted("B1", 0, at=50), *facts], 1)
    assert read(database) == msgspec.json.encode(of_feed(rows))
    [win] = wins.read(database)
    assert win.items[0].amount == (-1_000 if back else -2_000)
    for view in wins.VIEWS:
        incremental = dumped(database, view)
        assert rebuild(database, Prefix(rows, len(rows)), view)
        assert dumped(database, view) == incremental


@pytest.mark.parametrize("data", [{"position": 1, "amount": 5_000}, None])
@pytest.mark.parametrize("second", ["f-1", "S-1"])
def test_a_correction_that_one_person_signed_is_an_exception(
    database: Database, data: dict[str, Any] | None, second: str
) -> None:
    bought = told(CashBoughtIn(position=1, amount=1_000), at=10)
    made = correction(bought, data, at=20, second=second)
    win = one(database, [opened(DAY, at=0), bought, made])
    found = [(each.code, [ref.id for ref in each.facts]) for each in win.exceptions]
    alone = [("corrected_by_one", [bought.id, made.id])]
    assert found == (alone if second == "f-1" else [])


WITHOUT_EFFECT: dict[str, dict[str, Any]] = {
    "lacks": {"position": 1},
    "beyond": {"position": 1, "amount": 10**30},
    "no number": {"position": 1, "amount": True},
    "another kind": {"slip": "F-1", "kind": "fill"},
}


@pytest.mark.parametrize("how", WITHOUT_EFFECT)
@pytest.mark.parametrize("early", [False, True])
def test_a_correction_that_cannot_be_applied_is_an_exception(
    database: Database, how: str, *, early: bool
) -> None:
    """The control: one that can be applied is none. A later one of another day is not named."""
    bought = told(CashBoughtIn(position=1, amount=1_000), at=10)
    made = correction(bought, WITHOUT_EFFECT[how], at=20)
    other = told(CashBoughtIn(position=1, amount=3_000), at=11)
    fits = correction(other, {"position": 1, "amount": 2_000}, at=21)
    its = [made, fits, bought, other] if early else [bought, other, made, fits]
    days = [opened(DAY, at=0), box("B1", at=1), counted("B1", 0, at=50), opened(NEXT, at=90)]
    win = one(database, [*days, *its])
    assert win.items[0].amount == -3_000
    _, found = win.exceptions
    assert found.code == "correction_without_effect"
    assert [ref.id for ref in found.facts] == [bought.id, made.id]
    assert "has no effect" in found.says
    assert wins.read(database, gaming_day=NEXT)[0].exceptions == []


def test_a_correction_of_a_correction_that_cannot_be_applied_is_one_too(
    database: Database,
) -> None:
    bought = told(CashBoughtIn(position=1, amount=1_000), at=10)
    made = correction(bought, {"position": 1, "amount": 2_000}, at=20)
    as_meant = msgspec.json.decode(made.data)
    inner = correction(made, {**as_meant, "data": {"position": 1}}, at=30)
    nothing = correction(made, {"position": 1}, at=31)
    elsewhere = {**as_meant, "of": {"source": bought.source, "id": "another"}}
    other = correction(made, elsewhere, at=32)
    win = one(database, [opened(DAY, at=0), bought, made, inner, nothing, other])
    assert [(each.code, each.facts[1].id) for each in win.exceptions] == [
        ("correction_without_effect", each.id) for each in (inner, nothing, other)
    ]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("second", ["F-1", "S-1"])
def test_so_is_one_of_a_fact_of_a_round(database: Database, second: str, *, late: bool) -> None:
    """The correction may come before its fact, or be taken back: both are named."""
    octets = encode(
        WagerPlaced(position=1, wager="middle", amount=500), "/p/CC-07/d", "w-1", T0,
        f"CC-07/{DAY}/1",
    )  # fmt: skip
    placed: Received = parse_line(octets)  # type: ignore[assignment] # well-formed
    made = correction(placed, None, at=20, second=second)
    back = correction(made, None, at=30, second=second)
    its = [back, made, placed] if late else [placed, made, back]
    win = one(database, [opened(DAY, at=0), *its])
    assert win.handle == 500
    named = ["corrected_by_one"] * 2 if second == "F-1" else []
    assert codes(win) == named


ELSEWHERE = "coupon_counted_elsewhere"


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("of_round", [False, True])
@pytest.mark.parametrize(
    ("corrected", "table", "gaming_day", "found"),
    [
        (False, "CC-08", DAY, [[ELSEWHERE], [ELSEWHERE], [], []]),
        (False, "CC-08", NEXT, [[], [], [], [ELSEWHERE]]),
        (False, "CC-07", NEXT, [[], [], [], []]),
        (True, "CC-08", DAY, [[], [], [], []]),
    ],
)
def test_a_coupon_dropped_at_a_table_and_counted_in_anothers_box_is_named_by_both(
    database: Database,
    *,
    order: int,
    of_round: bool,
    corrected: bool,
    table: str,
    gaming_day: str,
    found: list[list[str]],
) -> None:
    """A later count changes no earlier day. Beside it lie coupons that were counted as dropped."""
    drop = told(CouponDropped(serial="MP-1", face=500), at=50)
    if of_round:
        drop = drop._replace(subject=f"CC-07/{DAY}/1")
    count = counted("B2", 0, at=300, table=table, gaming_day=gaming_day, coupons=("MP-1", "MP-2"))
    data = msgspec.json.decode(count.data) | {"coupons": ["MP-2"]}
    facts = [
        *(opened(DAY, at=0, table=each) for each in ("CC-07", "CC-08")),
        *(opened(NEXT, at=90, table=each) for each in ("CC-07", "CC-08")),
        drop,
        told(CouponDropped(serial="MP-2", face=500), at=60, place=table),
        told(CouponDropped(serial="MP-9", face=500), at=60),
        count,
        *([correction(count, data, at=400)] if corrected else []),
    ]
    whole = of_feed(kept(database, facts[::order], 2))
    told_of = {(w.gaming_day, w.table): codes(w) for w in whole}
    keys = [(day, name) for day in (DAY, NEXT) for name in ("CC-07", "CC-08")]
    assert [told_of[key] for key in keys] == found
    assert wins.read(database) == whole
    by_day = [each for day in (DAY, NEXT) for each in wins.read(database, gaming_day=day)]
    assert by_day == whole
    for win in whole:
        assert [win] == wins.read(database, table=win.table or "", gaming_day=win.gaming_day)
        for each in win.exceptions:
            named = {ref.id for ref in each.facts}
            assert named == ({drop.id, count.id} if each.code == ELSEWHERE else {count.id})


@pytest.mark.parametrize("order", [1, -1])
def test_coupons_taken_against_their_terms_are_named_by_any_question(
    database: Database, order: int
) -> None:
    """One day and table, a day, or all; whatever came first. A corrected batch is as corrected."""
    terms = CouponsIssued(
        serial_from="MP-1", serial_to="MP-5", face=500, terms="odds", games=("craps",),
        expires=DAY,
    )  # fmt: skip
    batch = told(terms, at=0, place="office")
    data = msgspec.json.decode(batch.data) | {"games": ["criss_cross_poker"]}
    facts = [
        batch,
        correction(batch, data, at=400),
        *(opened(DAY, at=0, table=each) for each in ("CC-07", "CC-08")),
        opened(NEXT, at=90),
        told(CouponDropped(serial="MP-1", face=500), at=60),
        told(CouponDropped(serial="MP-2", face=500), at=95),
        counted("B2", 0, at=300, table="CC-08", gaming_day=DAY, coupons=("MP-3", "MP-9")),
    ]
    whole = of_feed(kept(database, facts[::order], 2))
    told_of = {(w.gaming_day, w.table): codes(w) for w in whole}
    assert told_of == {
        (DAY, "CC-07"): [],
        (DAY, "CC-08"): ["coupon_unknown"],
        (NEXT, "CC-07"): ["coupon_expired"],
    }
    assert wins.read(database) == whole
    assert [each for day in (DAY, NEXT) for each in wins.read(database, gaming_day=day)] == whole
    for win in whole:
        assert [win] == wins.read(database, table=win.table or "", gaming_day=win.gaming_day)


@pytest.mark.parametrize("place", ["CC-07", "cage"])
@pytest.mark.parametrize(("check", "boxed"), [("K-1", False), ("K-1", True), ("K-2", False)])
def test_a_check_that_was_voided_is_said_to_be(
    database: Database, place: str, check: str, *, boxed: bool
) -> None:
    """The control is a void of another check. A correction takes the void back."""
    issued = told(CounterCheckIssued(position=1, check="K-1", amount=500), at=50)
    void = told(CounterCheckVoided(check=check), at=60, place=place)
    count = msgspec.convert(
        msgspec.json.decode(counted("B1", 0, at=300).data)
        | {"counter_checks": [{"check": "K-1", "amount": 500}] if boxed else []},
        DropBoxCounted,
    )
    facts = [opened(DAY, at=0), issued, void, told(count, at=300, place="count-room")]
    win = one(database, facts)
    code = "check_voided" if check == "K-1" else "check_missing"
    assert [(c.code, c.amount) for c in win.causes] == ([] if boxed else [(code, -500)])
    assert codes(win) == ["check_voided_boxed"] * boxed
    named = [each.facts for each in (*win.causes, *win.exceptions) if "voided" in each.code]
    assert [ref.id for refs in named for ref in refs if ref.id == void.id] == [void.id] * len(named)
    [earlier] = feed.wins([fact_of(each) for each in facts], [], DAY, REPORT_9)
    assert {c.code for c in earlier.causes} <= {"check_missing"}
    assert earlier.exceptions == []


@pytest.mark.parametrize("taken_back", [False, True])
def test_the_days_as_recorded_name_what_took_rake_before_corrections(
    database: Database, *, taken_back: bool
) -> None:
    bodies = (RoundStarted(game="omaha_5_high"), RakeTaken(amount=300), RoundCompleted())
    of_round = [
        parse_line(encode(body, "/p/CC-07/d", f"r-{nth}", T0 + nth, f"CC-07/{DAY}/1"))
        for nth, body in enumerate(bodies, 1)
    ]
    rake: Any = of_round[1]
    made = [correction(rake, None, at=400)] if taken_back else []
    kept(database, [opened(DAY, at=0), *of_round, *made])  # type: ignore[list-item] # well-formed
    with reading(database, [each.name for view in wins.VIEWS for each in view.tables]) as store:
        found = [
            wins.day_records(store, WinsAsked(), variants)["p", DAY, "CC-07"].rounds
            for variants in (wins.WITH_CORRECTIONS, wins.AS_RECORDED)
        ]
    assert [each.rake for each in found] == [0 if taken_back else 300, 300]
    assert [[ref.id for ref in each.rake_facts] for each in found] == [
        [] if taken_back else [rake.id],
        [rake.id],
    ]


@pytest.mark.parametrize("corrected", [False, True])
def test_a_coupon_that_a_correction_gives_another_serial_was_not_counted_twice(
    database: Database, *, corrected: bool
) -> None:
    """On a later day, at another table; a correction takes the exception away."""
    first = counted("B1", 100, at=200, coupons=("MP-1",))
    again = counted("B2", 100, at=300, table="CC-08", gaming_day=NEXT, coupons=("MP-1", "MP-2"))
    data = msgspec.json.decode(again.data) | {"coupons": ["MP-3"]}
    facts = [opened(DAY, at=0), opened(NEXT, at=90, table="CC-08"), first, again]
    rows = kept(database, [*facts, *([correction(again, data, at=400)] if corrected else [])], 2)
    assert read(database) == msgspec.json.encode(of_feed(rows))
    [win] = wins.read(database, gaming_day=NEXT)
    assert [win] == wins.read(database, table="CC-08", gaming_day=NEXT)
    assert codes(win) == ([] if corrected else ["coupon_redeemed_twice"])
    assert codes(wins.read(database, gaming_day=DAY)[0]) == []


@pytest.mark.parametrize("second", [7, 8])
def test_a_number_given_twice_in_a_round_is_an_equivocation_of_its_day(
    database: Database, second: int
) -> None:
    def placed(position: int, number: int) -> Received:
        body = WagerPlaced(position=position, wager="middle", amount=500)
        name, subject = f"w-{position}", f"CC-07/{DAY}/1"
        octets = encode(body, "/p/CC-07/d", name, T0, subject, sequence=number, boot="a")
        return parse_line(octets)  # type: ignore[return-value] # well-formed

    win = one(database, [opened(DAY, at=0), placed(1, 7), placed(2, second)])
    assert codes(win) == (["equivocation"] if second == 7 else [])


def test_amends_are_moved_and_owed_by_no_ruling_at_the_table_of_the_disputed_round(
    database: Database,
) -> None:
    raised = DisputeRaised(
        dispute="D-1", round=f"p:CC-07/{DAY}/1", position=2, claim="Short.", by="F-1"
    )
    paid = AdjustmentPaid(dispute="D-1", position=2, amount=2_500, paid_from="table", by="F-1")
    facts = [
        opened(DAY, at=0),
        inventory("open", 500_000, at=2),
        told(paid, at=60, place="office"),
        told(raised, at=50, place="office"),
        inventory("close", 497_500, at=100),
    ]
    win = one(database, facts)
    assert (win.moved, win.owed, win.pay_gap, win.count_gap) == (-2_500, 0, -2_500, 0)
    assert [(item.code, item.amount) for item in win.items] == [("adjustment", -2_500)]


def test_a_tournament_is_of_the_table_and_day_that_it_names_and_a_correction_moves_it(
    database: Database,
) -> None:
    its: dict[str, Any] = {"tournament": "T-1", "table": "CC-07", "by": "C-1"}
    entered = [
        told(TournamentEntered(gaming_day=DAY, amount=5_000, **its), at=nth, place="cage")
        for nth in (10, 11)
    ]
    paid = told(TournamentPrizePaid(gaming_day=NEXT, amount=7_000, **its), at=12, place="cage")
    other = {**its, "table": "PK-1", "gaming_day": DAY, "amount": 5_000}
    facts = [opened(DAY, at=0), *entered, paid, correction(entered[1], other, at=20)]
    win = one(database, facts)
    assert win.tournaments
    assert (win.tournaments.win, win.told["tournaments.entries"]) == (5_000, 10_000)
    found = {(each.table, each.gaming_day): each.tournaments for each in wins.read(database)}
    assert {key: each and each.win for key, each in found.items()} == {
        ("CC-07", DAY): 5_000, ("CC-07", NEXT): -7_000, ("PK-1", DAY): 5_000,
    }  # fmt: skip


def test_no_opener_takes_the_last_count_of_the_day_before_and_no_closer_is_none(
    database: Database,
) -> None:
    facts = [
        opened("2026-11-19", at=-1000),
        inventory("close", 480_000, at=-500, gaming_day="2026-11-19"),
        opened(DAY, at=0),
    ]
    win = one(database, facts)
    assert (win.opener, win.closer, win.counted, win.count_gap) == (480_000, None, None, None)
    assert (win.missing, win.grade) == (["closer"], "ESTIMATE")


def corrected_payment(facts: list[Received]) -> list[Received]:
    """Corrections of a payment, a count and a buy-in of a simulated day."""
    found = []
    for type_, field in (("wager_paid.v1", "amount"), ("cash_bought_in.v1", "amount")):
        target = next(each for each in facts if each.type == type_)
        data = msgspec.json.decode(target.data)
        found.append(correction(target, data | {field: data[field] + 700}, at=len(found)))
    gone = [each for each in facts if each.type == "fill_accepted.v1"][:1]
    return [*found, *(correction(each, None, at=9) for each in gone)]


@pytest.mark.parametrize("seed", rest_long([1, 2, 3], [1]))
def test_the_shifts_of_the_views_are_those_of_the_feed(database: Database, seed: int) -> None:
    facts = day(5, seed=seed, planted=1)
    times: dict[str, list[int]] = {}
    for each in facts:
        if each.type == "round_started.v1" and each.subject:
            times.setdefault(each.subject.partition("/")[0], []).append(each.time_us)
    tables = sorted(times)
    house = facts[0].source.split("/")[1]
    second = []
    for table in tables:
        body = DropBoxAttached(box="B2", table=table, gaming_day=DAY, shift="2")
        at_us = sorted(times[table])[len(times[table]) // 2]
        octets = encode(body, f"/{house}/count-room/d", f"second-{table}", at_us)
        second.append(parse_line(octets))
    given = disturbed([*facts, *corrected_payment(facts), *second], seed)  # type: ignore[list-item] # well-formed
    told_facts = [fact_of(row) for row in kept(database, given)]
    whole = feed.wins_by_shift(told_facts, adjudicate(told_facts))
    assert sealed_wins.read(database, by_shift=True) == whole
    assert sealed_wins.read(database, by_shift=True, gaming_day=DAY) == whole
    assert [each.shift for each in whole] == ["1", "2"] * len(tables)
    assert all(each.handle for each in whole)
    of_one = sealed_wins.read(database, by_shift=True, table=tables[0])
    assert of_one == [each for each in whole if each.table == tables[0]]


@pytest.mark.parametrize(("size", "seed"), cases([(700, 2)], [(37, 1), (3, 4)]))
def test_any_order_of_arrival_and_any_batches_give_the_wins_of_the_feed(
    database: Database, size: int, seed: int
) -> None:
    facts = day(5, seed=seed, planted=1)
    assert any(isinstance(fact_of(each).body, WagerPaid) for each in facts)
    rows = kept(database, disturbed([*facts, *corrected_payment(facts)], seed), size)
    whole = of_feed(rows)
    assert read(database) == msgspec.json.encode(whole)
    assert {each.gaming_day for each in whole} == {DAY}
    assert read(database, gaming_day=DAY) == read(database)
    by_table = [each for win in whole for each in wins.read(database, table=win.table or "")]
    assert sorted(by_table, key=lambda each: each.table or "") == whole
    incremental = [dumped(database, view) for view in wins.VIEWS]
    for view in wins.VIEWS:
        assert rebuild(database, Prefix(rows, len(rows)), view)
    assert [dumped(database, view) for view in wins.VIEWS] == incremental


@pytest.mark.parametrize("steps", rest_long([4, 40], [4]))
def test_at_any_prefix_the_views_give_the_wins_of_that_prefix(
    database: Database, steps: int
) -> None:
    """The control leaves a batch out: its views give other wins."""
    facts = disturbed([*day(3, seed=5, planted=1), *corrected_payment(day(3, seed=5))], 5)
    rows = record(database, facts)
    install(database)
    for nth in range(1, steps + 1):
        until = len(rows) * nth // steps
        catch_up(database, Prefix(rows, until), wins.VIEWS, batch_rows=97)
        assert read(database) == msgspec.json.encode(of_feed(rows[:until])), until
    without = [row for row in rows if row.type != "wager_collected.v1"]
    assert read(database) != msgspec.json.encode(of_feed(without))
