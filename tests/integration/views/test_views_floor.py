"""What the drop, the payouts, the table board and the round index say of facts written by hand."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers.floor import table_board
from consumers.money import drop, payouts
from consumers.registry import VIEWS, install
from consumers.rounds.index import ROUND_INDEX, WAGERS, RoundWager, facts_of, find
from consumers.rounds.search import Filters, search
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import reading
from ledger.errors import NotFound
from ledger.facts import (
    CashBoughtIn,
    CounterCheck,
    CounterCheckIssued,
    CouponDropped,
    CreditAccepted,
    DealerAssigned,
    DealerRelieved,
    DropBoxAttached,
    DropBoxCounted,
    FillAccepted,
    FillRequested,
    FloorpersonAssigned,
    InventoryCounted,
    NoMoreBetsCalled,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    SeatLeft,
    SeatTaken,
    TableClosed,
    TableOpened,
    Voucher,
    VoucherBoughtIn,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
from ledger.record.tape import Quarantined
from ledger.record.wire import encode, parse_line
from ledger.values import RoundId
from tests.scenes.view_feeds import Prefix, received, record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.record.tape import Received
    from tests.fixtures.postgres import Scenes

DAY, NEXT = "2026-11-20", "2026-11-21"
BEGAN_US = 1_795_000_000_000_000
ROUND_TABLES = [table.name for table in ROUND_INDEX.tables]
_numbers = itertools.count(1)


def told(body: Body, *, at: int = 0, place: str = "CC-07", subject: str | None = None) -> Received:
    """A fact of a place's terminal, `at` seconds after the beginning."""
    source = f"/hollywood/{place}/terminal"
    return received(encode(body, source, f"n{next(_numbers)}", BEGAN_US + at * 1_000_000, subject))


def opened(day: str = DAY, at: int = 0) -> Received:
    return told(
        TableOpened(
            game="criss_cross_poker", gaming_day=day, min_wager=1000, max_wager=50000, positions=6
        ),
        at=at,
    )


def inventory(kind: str, total: int, *, at: int = 0, day: str = DAY) -> Received:
    body = {
        "kind": kind,
        "gaming_day": day,
        "chips": {"2500": total // 2500},
        "total": total,
        "slip": "7",
        "counted_by": "D-1",
        "observed_by": "F-1",
    }
    return told(msgspec.convert(body, InventoryCounted), at=at)


def keep(database: Database, facts: list[Received]) -> None:
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)


def a_round(number: int, *bodies: Body, at: int = 0, day: str = DAY) -> list[Received]:
    subject = f"CC-07/{day}/{number}"
    started = RoundStarted(game="criss_cross_poker")
    return [told(body, at=at + n, subject=subject) for n, body in enumerate((started, *bodies))]


def test_what_no_fact_tells_is_null_in_the_drop_and_never_0(database: Database) -> None:
    keep(database, [opened(), told(CashBoughtIn(position=1, amount=10000))])
    (day,) = drop.read(database)
    told_of = {name for name, value in msgspec.structs.asdict(day).items() if value is not None}
    assert told_of == {
        *("property", "table", "gaming_day", "cash"),
        *("boxes", "wagers", "corrections", "corrected", "exceptions"),
    }
    assert day.cash == 10000
    assert day.win is None
    assert b'"opener":null' in msgspec.json.encode(day)


def test_a_fact_of_0_cents_is_0_and_not_null(database: Database) -> None:
    keep(database, [opened(), inventory("open", 0)])
    (day,) = drop.read(database)
    assert day.opener == 0
    assert day.closer is None


@pytest.mark.parametrize(
    "chips",
    [{"twenty": 1}, {"-5": 1}, {"2500": 10**7 + 1}, {"9007199254740992": 1}, {"25\n": 1}],
)
def test_chips_that_no_view_could_sum_are_quarantined(chips: dict[str, int]) -> None:
    body = {"slip": "s", "chips": chips, "total": 1, "by": []}
    event = encode(
        msgspec.convert({"slip": "s", "chips": {}, "total": 1, "by": []}, FillRequested),
        "/hollywood/CC-07/cage",
        "1",
        "2026-11-20T19:00:00Z",
    )
    spoiled = event[: event.index(b'"data":')] + b'"data":' + msgspec.json.encode(body) + b"}"
    judged = parse_line(spoiled)
    assert isinstance(judged, Quarantined)
    assert (judged.reason, judged.where[:12]) == ("wrong_field", "$.data.chips")


def test_the_most_chips_that_a_fact_can_tell_do_not_stop_a_view(database: Database) -> None:
    most = {str(10**9 - 1 - n): 10**7 for n in range(64)}
    counted = {"box": "b", "table": "CC-07", "gaming_day": DAY, "count": 1, "counted_by": []}
    papers: dict[str, object] = {"counter_checks": [], "vouchers": [], "coupons": []}
    body = msgspec.convert({**counted, **papers, "currency": most, "chips": most}, DropBoxCounted)
    keep(database, [opened(), told(body)])
    assert drop.read(database)


def test_a_view_that_fails_says_at_which_positions_and_stays_where_it_was(
    database: Database,
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    rows = record(database, [opened(), opened()])
    install(database)
    broken = dataclasses.replace(drop.DROP, apply=fails)
    with pytest.raises(ZeroDivisionError) as told_:
        catch_up(database, Prefix(rows, len(rows)), [broken])
    assert told_.value.__notes__ == [f"View drop, at positions {1} to {len(rows)}"]
    assert catch_up(database, Prefix(rows, len(rows)), [drop.DROP]) == len(rows)


def test_the_drop_of_a_day_adds_up_what_its_facts_tell(database: Database) -> None:
    slip = {"slip": "s", "chips": {"2500": 4}, "total": 10000, "by": ("D-1",)}
    facts = [
        opened(),
        inventory("open", 500000, at=1),
        told(CashBoughtIn(position=1, amount=10000), at=2),
        told(CashBoughtIn(position=2, amount=30000), at=3),
        told(VoucherBoughtIn(position=2, amount=2500, voucher="v1"), at=4),
        told(CounterCheckIssued(position=3, amount=100000, check="c1"), at=5),
        told(CouponDropped(serial="k1", face=1000), at=6),
        told(msgspec.convert(slip, FillRequested), at=7),
        told(msgspec.convert(slip, FillAccepted), at=8),
        told(msgspec.convert({**slip, "table": "CC-07"}, CreditAccepted), at=9, place="cage"),
        *a_round(
            1,
            WagerPlaced(position=1, wager="ante_across", amount=2500),
            WagerPlaced(position=1, wager="five_card_bonus", amount=500),
            WagerPlaced(position=2, wager="ante_across", amount=2500),
            WagerWithdrawn(position=2, wager="ante_across", amount=1000),
            WagerPaid(position=1, wager="ante_across", amount=2500),
            WagerPaid(position=1, wager="five_card_bonus", amount=9000, paid_from="cage"),
            WagerCollected(position=2, wager="ante_across", amount=1500),
            WagerReturned(position=1, wager="ante_down", amount=2500),
            at=20,
        ),
        inventory("drop", 490000, at=100),
        inventory("close", 480000, at=200),
    ]
    keep(database, facts)
    (day,) = drop.read(database, table="CC-07", gaming_day=DAY)
    assert (day.cash, day.vouchers, day.counter_checks, day.coupons) == (40000, 2500, 100000, 1000)
    assert (day.opener, day.closer, day.fills, day.credits) == (500000, 480000, 10000, 10000)
    assert (day.handle, day.payouts, day.payouts_cage) == (4500, 2500, 9000)
    assert (day.collected, day.returned) == (1500, 2500)
    assert day.win == 1500 - 2500, "what the cage pays is no loss of the table's"
    assert {win.wager: win.win for win in day.wagers} == {
        "ante_across": -1000,
        "ante_down": None,
        "five_card_bonus": 0,
    }
    by_wager = {each.wager: each for each in payouts.read(database)}
    ante, bonus = by_wager["ante_across"], by_wager["five_card_bonus"]
    assert (ante.placed, ante.placed_count, ante.paid_table, ante.paid_cage) == (
        4000,
        2,
        2500,
        None,
    )
    assert (bonus.paid_table, bonus.paid_cage, bonus.paid_count) == (None, 9000, 1)


def test_what_was_counted_stands_apart_from_what_the_box_should_hold(database: Database) -> None:
    def counted(count: int, notes: int) -> Received:
        body = DropBoxCounted(
            box="b1",
            table="CC-07",
            gaming_day=DAY,
            count=count,  # type: ignore[arg-type]  # 1 or 2
            currency={"10000": notes},
            counter_checks=(CounterCheck("c1", 100000),),
            vouchers=("v1", Voucher("v2", 500)),
            coupons=("k1",),
            counted_by=("C-1",),
        )
        return told(body, place="count-room", at=1000 + count)

    keep(database, [opened(), told(CashBoughtIn(position=1, amount=10000)), counted(1, 3)])
    (day,) = drop.read(database)
    assert day.cash == 10000
    (box,) = day.boxes
    assert (box.currency, box.counter_checks, box.coupon_count) == (30000, 100000, 1)
    assert box.vouchers is None, "one of the two vouchers has no amount on record"
    keep(database, [counted(2, 4)])
    (day,) = drop.read(database)
    assert [(box.count, box.currency) for box in day.boxes] == [(1, 30000), (2, 40000)]


def test_money_without_a_day_belongs_to_the_day_its_table_was_in_by_then(
    database: Database,
) -> None:
    facts = [
        told(CashBoughtIn(position=1, amount=100)),
        opened(DAY, at=1),
        told(CashBoughtIn(position=1, amount=1000), at=2),
        told(DropBoxAttached(box="b2", table="CC-07", gaming_day=NEXT), at=3, place="surveillance"),
        told(CashBoughtIn(position=1, amount=10000), at=4),
        *a_round(9, WagerPlaced(position=1, wager="across", amount=700), at=5, day=DAY),
    ]
    keep(database, facts)
    days = {each.gaming_day: each for each in drop.read(database)}
    assert {day: each.cash for day, each in days.items()} == {"": 100, DAY: 1000, NEXT: 10000}
    assert days[DAY].handle == 700, "a round says its day itself, however late it is told"


def test_an_opener_told_late_is_still_the_earliest_count(database: Database) -> None:
    facts = [opened(), inventory("open", 200, at=50), inventory("open", 100, at=10)]
    keep(database, [*facts, inventory("close", 900, at=90), inventory("drop", 700, at=70)])
    (day,) = drop.read(database)
    assert (day.opener, day.closer) == (100, 900)


def test_the_board_shows_a_table_as_it_stands(database: Database) -> None:
    facts = [
        opened(),
        told(DealerAssigned(employee="D-1", role="dealer"), at=1),
        told(FloorpersonAssigned(employee="F-1"), at=2),
        told(SeatTaken(positions=(1, 2), patron="p1"), at=3),
        told(SeatTaken(positions=(4,)), at=4),
        inventory("open", 500000, at=5),
        *a_round(1, WagerPlaced(position=1, wager="ante_across", amount=2500), at=6),
        told(SeatLeft(positions=(2,)), at=10),
        told(DealerRelieved(employee="D-1", role="dealer"), at=11),
        told(DealerAssigned(employee="D-2", role="dealer"), at=12),
    ]
    keep(database, facts)
    (board,) = table_board.read(database, table="CC-07")
    assert (board.open, board.game, board.gaming_day) == (True, "criss_cross_poker", DAY)
    assert (board.min_wager, board.max_wager, board.positions) == (1000, 50000, 6)
    assert [post.employee for post in board.dealers] == ["D-2"]
    assert board.floorperson == "F-1"
    assert [seat.positions for seat in board.seats] == [[1], [4]]
    assert (board.round, board.stage) == (f"CC-07/{DAY}/1", "wager_placed")
    assert board.inventory == {"2500": 200}
    assert board.last_us == BEGAN_US + 12_000_000


def test_a_fact_that_comes_late_does_not_undo_a_later_one_on_the_board(database: Database) -> None:
    facts = [
        opened(),
        told(TableClosed(), at=100),
        opened(at=50),
        told(SeatLeft(positions=(3,)), at=40),
        told(SeatTaken(positions=(3,)), at=30),
        *a_round(2, NoMoreBetsCalled(), RoundCompleted(), at=60),
        *a_round(1, RoundCompleted(), at=20),
    ]
    keep(database, facts)
    (board,) = table_board.read(database)
    assert board.open is False
    assert board.seats == []
    assert (board.round, board.stage) == (f"CC-07/{DAY}/2", "round_completed")


def three_rounds(database: Database) -> None:
    """A scene: a round that was paid, one that was voided, one that is open."""
    facts = [
        *a_round(
            1,
            WagerPlaced(position=3, wager="middle", amount=2500),
            WagerPaid(position=3, wager="middle", amount=7500),
            RoundCompleted(),
            at=0,
        ),
        *a_round(
            2,
            WagerPlaced(position=1, wager="across", amount=2500),
            WagerPlaced(position=1, wager="across", amount=2500),
            RoundVoided(reason="misdeal"),
            at=100,
        ),
        *a_round(3, WagerPlaced(position=3, wager="across", amount=5000), at=200),
    ]
    keep(database, facts)


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        (Filters(), [3, 2, 1]),
        (Filters(table="CC-07", gaming_day=DAY), [3, 2, 1]),
        (Filters(table="CC-08"), []),
        (Filters(property="elsewhere"), []),
        (Filters(position=3), [3, 1]),
        (Filters(wager="across"), [3, 2]),
        (Filters(amount_min=2500, amount_max=2500), [1]),
        (Filters(amount_min=5000, amount_max=5000), [3, 2]),
        (Filters(amount_min=7500, amount_max=7500), [1]),
        (Filters(position=3, amount_min=5000, amount_max=5000), [3]),
        (Filters(position=3, wager="middle", amount_min=7500, amount_max=7500), [1]),
        (Filters(position=1, wager="middle"), []),
        (Filters(amount_min=5001), [1]),
        (Filters(amount_max=2499), []),
        (Filters(status="open"), [3]),
        (Filters(status="voided"), [2]),
        (Filters(game="three_dice_football"), []),
        (Filters(since_us=BEGAN_US + 103_000_000), [3, 2]),
        (Filters(until_us=BEGAN_US + 99_000_000), [1]),
        (Filters(limit=1), [3]),
    ],
    ids=lambda value: repr(value) if isinstance(value, list) else "",
)
def test_rounds_are_found_by_table_time_seat_wager_and_amount(
    scenes: Scenes, filters: Filters, numbers: list[int]
) -> None:
    database, _ = scenes.read(three_rounds)
    assert [each.number for each in search(database, filters)] == numbers


def test_a_round_knows_its_facts_wherever_they_stand_and_however_late(database: Database) -> None:
    subject = f"CC-07/{DAY}/1"
    facts = [
        *a_round(1, WagerPlaced(position=3, wager="middle", amount=2500), RoundCompleted()),
        *a_round(2, RoundCompleted(), at=50),
        told(
            WagerPaid(position=3, wager="middle", amount=7500), at=2, subject=subject, place="cage"
        ),
        told(WagerCollected(position=1, wager="middle", amount=1), at=3, subject=subject),
    ]
    keep(database, facts)
    round_ = RoundId("hollywood", "CC-07", DAY, 1)
    with reading(database, ROUND_TABLES) as store:
        rows = facts_of(store, round_)
        assert [row.id for row in rows] == [facts[at].id for at in (0, 1, 2, 5, 6)]
        found = find(store, round_)
        (collected, middle) = (RoundWager(*row[4:]) for row in store.page(WAGERS, None, 2))
        with pytest.raises(NotFound, match="has no fact of round"):
            find(store, round_._replace(number=99))
    assert (found.facts, found.status, found.positions) == (5, "completed", [1, 3])
    assert (found.wagered, found.paid) == (2500, 7500)
    assert (middle.placed, middle.paid, middle.collected) == (2500, 7500, None)
    assert (collected.position, collected.placed, collected.collected) == (1, None, 1)
