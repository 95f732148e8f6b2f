"""The drop is worked out from papers as the three wins are: by time, slips once, as corrected."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.finance import wins
from consumers.money import drop
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import LIVE, opened
from ledger.adjudication.feed import adjudicate
from ledger.facts import FactCorrected, FactRef
from ledger.finance import feed
from ledger.record.wire import encode, fact_of
from tests.integration.shares.test_shared_views import asked, waiting
from tests.scenes.table_days import DAY, NEXT, count, day_lines, fact, inventory, slip
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
    from collections.abc import Callable, Sequence

    from infra.postgres.connection import Database
    from ledger.record.tape import Received, TapeRow
    from tests.fixtures.postgres import Scenes
    from tests.property.finance.floors import Line

Arrival = list[int]
"""The order in which a day's lines arrive: -1 is the last line first."""

ORDERS = pytest.mark.parametrize("seed", [None, 1, 2])


def told(lines: Sequence[Line], seed: int | None) -> list[Received]:
    """The lines as received, in their order or in another."""
    facts = [received(msgspec.json.encode(each)) for each in lines]
    if seed is not None:
        random.Random(seed).shuffle(facts)  # noqa: S311 - repeatable, guards nothing
    return facts


def kept(database: Database, facts: Sequence[Received], size: int = 7) -> list[TapeRow]:
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, len(rows)), [drop.DROP], batch_rows=size)
    return rows


def of_table(database: Database, table: str = "CC-07", gaming_day: str = DAY) -> drop.Drop:
    [found] = drop.read(database, table=table, gaming_day=gaming_day)
    return found


def correction(of: Line, minute: int, **changed: Any) -> Line:  # noqa: ANN401 - a body's fields
    """What `of` should have said; without `changed`, that it should not have been recorded."""
    named = {"source": of["source"], "id": of["id"]}
    people = {"because": "Mistyped.", "by": "S-1", "second": "S-2"}
    data = {"data": {**of["data"], **changed}} if changed else {}
    return fact("fact_corrected", minute, "office", of=named, **people, **data)


def cash(minute: int, amount: int, place: str = "CC-07") -> Line:
    return fact("cash_bought_in", minute, place, position=1, amount=amount)


def next_box(minute: int) -> Line:
    return fact("drop_box_attached", minute, "count-room", box="B2", table="CC-07", gaming_day=NEXT)


def wager(name: str, minute: int, /, **data: Any) -> Line:  # noqa: ANN401 - any field
    of = fact(name, minute, position=1, **data)
    return {**of, "subject": f"CC-07/{DAY}/1"}


# -- one fault each --------------------------------------------------------------------------------


@ORDERS
def test_a_buy_in_counts_in_the_day_that_it_happened_in(
    database: Database, seed: int | None
) -> None:
    lines = day_lines(cash(10, 2_000), next_box(20), cash(30, 500))
    kept(database, told(lines, seed), size=2)
    assert {each.gaming_day: each.cash for each in drop.read(database)} == {DAY: 2_000, NEXT: 500}


@ORDERS
def test_a_buy_in_before_the_first_day_stands_under_no_day(
    database: Database, seed: int | None
) -> None:
    early = {**cash(10, 700), "time": "2026-11-20T09:00:00-05:00"}
    kept(database, told(day_lines(early, cash(11, 100)), seed), size=2)
    assert {each.gaming_day: each.cash for each in drop.read(database)} == {"": 700, DAY: 100}


@ORDERS
def test_a_start_that_a_correction_takes_away_gives_its_papers_to_the_day_before(
    database: Database, seed: int | None
) -> None:
    wrong = next_box(20)
    lines = day_lines(cash(10, 2_000), wrong, cash(30, 500), correction(wrong, 40))
    kept(database, told(lines, seed), size=2)
    days = {each.gaming_day: each.cash for each in drop.read(database)}
    assert days == {DAY: 2_500, NEXT: None}


@ORDERS
def test_a_slip_of_cage_and_table_counts_once_and_two_slips_twice(
    database: Database, seed: int | None
) -> None:
    by_cage = {**slip("fill", "accepted", "F-1", 12), "source": "/p/cage/d"}
    by_cage["data"] = {**by_cage["data"], "table": "CC-07"}
    other = slip("credit", "accepted", "C-1", 14), slip("credit", "accepted", "C-2", 15, 300)
    kept(database, told(day_lines(slip("fill", "accepted", "F-1", 10), by_cage, *other), seed))
    found = of_table(database)
    assert (found.fills, found.credits) == (10_000, 10_300)


def test_a_slip_accepted_on_two_days_counts_on_the_first(database: Database) -> None:
    lines = day_lines(
        slip("fill", "accepted", "F-1", 10), next_box(20), slip("fill", "accepted", "F-1", 30)
    )
    kept(database, told(lines, 1), size=1)
    assert {each.gaming_day: each.fills for each in drop.read(database)} == {
        DAY: 10_000, NEXT: None,
    }  # fmt: skip


def at_two_tables() -> list[Line]:
    """F-1 is accepted at CC-07, later at CC-08 too; the next box of CC-08 begins its next day."""
    other = slip("fill", "accepted", "F-1", 20, place="CC-08")
    return [*day_lines(slip("fill", "accepted", "F-1", 10)), other]


def fills(database: Database) -> dict[str, int | None]:
    return {each.table: each.fills for each in drop.read(database, gaming_day=DAY)}


@ORDERS
def test_a_slip_that_two_tables_accept_counts_where_it_was_accepted_first(
    database: Database, seed: int | None
) -> None:
    opened = fact("table_opened", 0, "CC-08", **day_lines()[0]["data"])
    kept(database, told([opened, *at_two_tables()], seed), size=2)
    assert fills(database) == {"CC-07": 10_000, "CC-08": None}
    own = slip("fill", "accepted", "F-2", 21, place="CC-08")
    kept(database, told([own], None))
    assert fills(database) == {"CC-07": 10_000, "CC-08": 10_000}, "the control: a slip of its own"


def test_what_is_published_of_a_table_follows_its_slip_at_the_other(database: Database) -> None:
    """A correction takes the first acceptance away, then gives it another number."""
    opened = fact("table_opened", 0, "CC-08", **day_lines()[0]["data"])
    [*others, first, _, second] = [opened, *at_two_tables()]
    lines = [*others, second, first]
    record(database, [])
    asked(database, drop.DROP)
    seen = []
    renumbered = correction(first, 40, slip="F-9")
    for each in [lines, [correction(first, 30)], [renumbered], [correction(renumbered, 50)]]:
        kept(database, told(each, None), size=1)
        now = fills(database)
        newest = {key.split("/")[1]: msgspec.json.decode(body or "") for _, key, body in
                  waiting(database)}  # fmt: skip
        assert {table: each["fills"] for table, each in newest.items()} == now
        seen.append([now["CC-07"], now["CC-08"]])
    assert seen == [[10_000, None], [None, 10_000], [10_000, 10_000], [None, 10_000]]


@ORDERS
def test_a_box_that_a_correction_gives_to_another_table_is_counted_and_listed_there(
    database: Database, seed: int | None
) -> None:
    wrong = count(50, currency={"100": 30}, chips={"500": 2})
    meant = correction(wrong, 55, table="CC-08", box="B8")
    kept(database, told(day_lines(wrong, meant, once=True), seed), size=2)
    left, came = of_table(database), of_table(database, "CC-08")
    assert (left.boxes, left.box_total) == ([], None), "its own box waits for its count"
    assert [(each.box, each.currency, each.chips) for each in came.boxes] == [("B8", 3_000, 1_000)]
    assert came.box_total == 4_000
    named = "count 1: currency"
    assert (f"box B1, {named}", 3_000, None) in [
        (c.amount, c.told, c.meant) for c in left.corrections
    ]
    assert (f"box B8, {named}", None, 3_000) in [
        (c.amount, c.told, c.meant) for c in came.corrections
    ]


@ORDERS
def test_a_box_that_was_emptied_and_put_back_counts_by_its_stays(
    database: Database, seed: int | None
) -> None:
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY}
    stays = [
        fact("drop_box_removed", 20, "count-room", **box),
        *(count(20 + nth, nth, currency={"10000": 1}) for nth in (1, 2)),
        fact("drop_box_attached", 23, "count-room", **box),
        *(count(56 + nth, nth, currency={"2000": 2}) for nth in (1, 2)),
    ]
    kept(database, told(day_lines(*stays), seed))
    found = of_table(database)
    assert [(each.count, each.currency) for each in found.boxes] == [
        *((1, 10_000), (2, 10_000), (1, 4_000), (2, 4_000)),
    ]
    assert found.box_total == 14_000


def test_the_boxes_hold_foreign_notes_chips_and_vouchers_sold_at_the_table(
    database: Database,
) -> None:
    foreign = [{"currency": "CAD", "notes": {"500": 5}, "rate": "0.7355"}]
    first = count(50, currency={"100": 1})
    last = count(51, 2, currency={"100": 3}, chips={"500": 2}, foreign=foreign, vouchers=["V-1"])
    sold = fact("voucher_bought_in", 20, position=1, amount=700, voucher="V-1")
    kept(database, told(day_lines(sold, first, last), 1))
    found = of_table(database)
    assert found.box_total == 300 + 1_000 + 1_838 + 700
    assert found.boxes[1].vouchers is None, "its own count gives it no amount"
    kept(database, told([{**last, "id": "third", "time": "2026-11-20T10:52:00-05:00",
                          "data": {**last["data"], "vouchers": ["V-9"]}}], None))  # fmt: skip
    assert of_table(database).box_total is None, "no table sold V-9"


def test_what_the_cage_pays_and_a_tables_amends_are_told_apart(database: Database) -> None:
    raised = fact("dispute_raised", 30, "surveillance", dispute="D-1", round=f"CC-07/{DAY}/1",
                  position=1, claim="Short.", by="S-1")  # fmt: skip
    paid = {"dispute": "D-1", "position": 1}
    lines = day_lines(
        wager("wager_placed", 5, wager="ante_across", amount=900),
        wager("wager_collected", 6, wager="ante_across", amount=900),
        wager("wager_paid", 7, wager="middle", amount=50_000, paid_from="cage"),
        raised,
        fact("adjustment_paid", 31, "surveillance", **paid, amount=200, paid_from="table"),
        fact("adjustment_paid", 32, "surveillance", **paid, amount=5_000, paid_from="cage"),
    )
    kept(database, told(lines, 1), size=1)
    assert of_table(database).win == 900 - 200
    assert [day_.table for day_ in drop.read(database)] == ["CC-07"]


def elsewhere(lines: Sequence[Line], table: str) -> list[Line]:
    """The same facts at another table, of its own sources."""
    text = json.dumps(lines).replace("CC-07", table).replace("B1", f"B1-{table}")
    found: list[Line] = json.loads(text)
    for each in found:
        each["id"] += table
    return found


def raised(minute: int, table: str) -> Line:
    its = {"dispute": "D-1", "round": f"{table}/{DAY}/1", "position": 1}
    return fact("dispute_raised", minute, "surveillance", **its, claim="Short.", by="F-1")


@ORDERS
def test_amends_stay_with_the_table_that_paid_them_and_a_number_of_two_tables_is_named(
    database: Database, seed: int | None
) -> None:
    paid = {"dispute": "D-1", "position": 1, "paid_from": "table"}
    one = day_lines(
        wager("wager_placed", 5, wager="ante_across", amount=900),
        wager("wager_collected", 6, wager="ante_across", amount=900),
        fact("adjustment_paid", 31, **paid, amount=200),
    )
    other = elsewhere(one, "CC-08")
    other[-2]["data"]["amount"], other[-2]["time"] = 300, one[-2]["time"].replace(":31:", ":41:")
    of_cage = fact("adjustment_paid", 32, "cage", **paid, amount=50)
    lines = [*one, *other, raised(20, "CC-08"), of_cage]
    rows = kept(database, told(lines, seed), size=1)
    catch_up(database, Prefix(rows, len(rows)), list(wins.VIEWS))
    pure = feed.wins(map(fact_of, rows), list(adjudicate(map(fact_of, rows))))
    for found in (wins.read(database), pure):
        assert [each.moved for each in found] == [900 - 200, 900 - 300 - 50]
        assert [[e.says for e in each.exceptions] for each in found] == [
            ["$2.00 was paid for dispute D-1, whose number was used before at CC-08."],
            ["$3.50 was paid for dispute D-1, whose number was used before at CC-07."],
        ]
    assert [each.win for each in drop.read(database)] == [900 - 200, 900 - 300 - 50]
    for table, of in zip(("CC-07", "CC-08"), wins.read(database), strict=True):
        assert wins.read(database, table=table, gaming_day=DAY) == [of]


@ORDERS
@pytest.mark.parametrize("corrected_to", [None, 700])
def test_a_round_over_the_drop_count_is_a_cause_of_both_days(
    database: Database, seed: int | None, corrected_to: int | None
) -> None:
    def played(name: str, second: int, **data: Any) -> Line:  # noqa: ANN401 - any field
        at = wager(name, 58, **data)
        return {**at, "time": at["time"].replace(":00-", f":{second:02d}-")}

    lost = played("wager_collected", 20, wager="ante_across", amount=900)
    cents = corrected_to or 900
    opened_again = fact(
        "drop_box_attached", 59, "count-room", box="B2", table="CC-07", gaming_day=NEXT
    )
    lines = [
        *day_lines(played("wager_placed", -0, wager="ante_across", amount=900), lost),
        opened_again,
        inventory("close", 500_000 + cents, 59, NEXT),
        *([correction(lost, 59, amount=corrected_to)] if corrected_to else []),
    ]
    rows = kept(database, told(lines, seed), size=2)
    catch_up(database, Prefix(rows, len(rows)), list(wins.VIEWS))
    pure = feed.wins(map(fact_of, rows), list(adjudicate(map(fact_of, rows))))
    assert [each.causes for each in wins.read(database)] == [each.causes for each in pure]
    for nth, found in enumerate(pure):
        [cause] = found.causes
        gap = [item.amount for item in found.items if item.code == "tray"]
        assert ([cause.amount], cause.round) == (gap, f"CC-07/{DAY}/1")
        assert cause.amount == (-cents, cents)[nth]
        assert cause.code == ("round_after_closer", "round_of_day_before")[nth]
        assert cause.says.startswith(f"Round CC-07/{DAY}/1 moved ${cents // 100}.00 into the tray")
        assert [ref.id for ref in cause.facts] == [
            lines[-2 - bool(corrected_to) - 1]["id"],
            lost["id"],
        ]
        asked_ = {"gaming_day": (DAY, NEXT)[nth], "table": "CC-07"}
        assert [each.causes for each in wins.read(database, **asked_)] == [found.causes]
    before = feed.wins(map(fact_of, rows), list(adjudicate(map(fact_of, rows))), None, 8)
    assert not any(each.causes for each in before)


@ORDERS
def test_amends_of_a_dispute_that_is_not_on_record_are_of_the_table_that_paid_them(
    database: Database, seed: int | None
) -> None:
    amends = {"dispute": "D-1", "position": 1, "amount": 200, "paid_from": "table"}
    lines = day_lines(
        wager("wager_placed", 5, wager="ante_across", amount=900),
        wager("wager_collected", 6, wager="ante_across", amount=900),
        fact("adjustment_paid", 31, **amends),
    )
    rows = kept(database, told(lines, seed), size=1)
    catch_up(database, Prefix(rows, len(rows)), list(wins.VIEWS))
    [win] = wins.read(database)
    assert (of_table(database).win, win.moved) == (900 - 200, 900 - 200)


def test_at_poker_calls_are_handle_and_the_rake_is_won_and_counted(database: Database) -> None:
    decision = {"wager": None, "decision": "call"}
    lines = day_lines(
        wager("wager_placed", 5, wager="blind_bet", amount=300),
        wager("decision_made", 6, **{k: v for k, v in decision.items() if v}, amount=300),
        wager("decision_made", 7, decision="fold"),
        {**fact("rake_taken", 8, amount=400), "subject": f"CC-07/{DAY}/1"},
        count(50, chips={"100": 4}),
    )
    kept(database, told(lines, 1))
    found = of_table(database)
    assert (found.handle, found.rake, found.win, found.boxes[0].chips) == (600, 400, 400, 400)
    assert {each.wager: each.handle for each in found.wagers} == {"blind_bet": 300, "pot": 300}


@ORDERS
def test_a_day_without_a_count_at_opening_opens_with_what_the_day_before_left(
    database: Database, seed: int | None
) -> None:
    lines = [*day_lines(next_box(59), closer=480_000), inventory("drop", 470_000, 40)]
    kept(database, told(lines, seed), size=1)
    assert {each.gaming_day: each.opener for each in drop.read(database)} == {
        DAY: 500_000, NEXT: 480_000,
    }  # fmt: skip


# -- the laws --------------------------------------------------------------------------------------


def floor(seed: int, minutes: int) -> list[Received]:
    """A floor's facts with corrections of anything: they move money to other tables and days."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    facts = day(minutes, seed=seed)
    some = chance.sample(facts, len(facts) // 6)
    return [
        *facts,
        *(_corrected(n, of, chance) for n, of in enumerate([*some, *some[::3]])),
        *slips_elsewhere(facts, chance),
    ]


def _corrected(number: int, of: Received, chance: random.Random) -> Received:
    data: dict[str, Any] = msgspec.to_builtins(fact_of(of).body)
    changes: list[Callable[[], dict[str, Any]]] = [
        lambda: {"amount": chance.randrange(9_999)} if "amount" in data else {},
        lambda: {"gaming_day": NEXT} if "gaming_day" in data else {},
        lambda: {"table": chance.choice(["CC-01", "CC-02"])} if not fact_of(of).round else {},
    ]
    meant = None if number % 7 == 0 else {**data, **chance.choice(changes)()}
    body = FactCorrected(
        of=FactRef(of.source, of.id), data=meant, because="Misread.", by="S-1", second="S-2"
    )
    at_us = of.time_us + chance.randrange(600_000_000)
    return received(encode(body, "/hollywood/office/desk", f"c{number}", at_us))


def in_order(database: Database, /, seed: int, minutes: int) -> list[TapeRow]:
    """A scene: such a floor in order, in the views of the drop and of the three wins."""
    rows = record(database, floor(seed, minutes))
    install(database)
    catch_up(database, Prefix(rows, len(rows)), [drop.DROP, *wins.VIEWS])
    return rows


def printed(database: Database) -> bytes:
    return msgspec.json.encode(drop.read(database))


@pytest.mark.parametrize(
    ("seed", "minutes"), [(1, 2), *(pytest.param(n, 6, marks=pytest.mark.long) for n in (2, 3, 4))]
)
def test_the_drop_has_the_sums_of_the_three_wins(scenes: Scenes, seed: int, minutes: int) -> None:
    database, _ = scenes.read(in_order, seed, minutes)
    found = {(d.property, d.gaming_day, d.table): d for d in drop.read(database)}
    worked_out = wins.read(database)
    assert len(worked_out) > 3
    for win in worked_out:
        of = found[win.property, win.gaming_day, win.table or ""]
        assert (of.opener, of.closer) == (win.opener, win.closer), win.table
        assert (of.fills or 0, of.credits or 0) == (win.fills, win.credits), win.table
        assert (of.handle or 0, of.win or 0) == (win.handle, win.moved), win.table
        if of.boxes:
            assert of.box_total == win.drop.total, win.table


@pytest.mark.parametrize(
    ("seed", "minutes"), [(1, 2), *(pytest.param(n, 6, marks=pytest.mark.long) for n in (2, 3, 4))]
)
def test_any_order_any_rebuild_and_any_prefix_give_the_same_bytes(
    scenes: Scenes, seed: int, minutes: int
) -> None:
    """And what was published of each day is its row, or a tombstone where it has none."""
    ordered, rows = scenes.read(in_order, seed, minutes)
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    facts = floor(seed, minutes)
    chance.shuffle(facts)
    database, _ = scenes.copy(empty)
    other = record(database, facts)
    asked(database, drop.DROP)
    for prefix in [*sorted(chance.sample(range(1, len(other)), 3)), len(other)]:
        part = Prefix(other, prefix)
        catch_up(database, part, [drop.DROP], batch_rows=chance.choice((9, 90, 900)))
        incremental, shown = dumped(database, drop.DROP), printed(database)
        assert rebuild(database, part, drop.DROP)
        assert (dumped(database, drop.DROP), printed(database)) == (incremental, shown)
    assert len(rows) == len(other)
    assert printed(database) == printed(ordered)
    newest = dict(each[1:3] for each in waiting(database))
    with opened(database, LIVE) as store:
        stand = {"/".join(row[:3]): row for row in store.page(drop.DAYS, None, 9_999)}
    told_of = {key: msgspec.json.decode(body, type=drop.TableDay) for key, body in newest.items()
               if body}  # fmt: skip
    assert told_of == {key: drop.TableDay(*row) for key, row in stand.items()}


def empty(database: Database, /) -> None:
    """A scene: installed views without a fact."""
    install(database)


def test_days_by_arrival_would_differ(scenes: Scenes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: papers are left where they were first placed."""
    from consumers.money import placed_papers  # noqa: PLC0415 - broken here alone

    ordered, _ = scenes.read(in_order, 1, 2)
    monkeypatch.setattr(placed_papers, "_moved", lambda *_: set())
    database, _ = scenes.copy(empty)
    kept(database, disturbed(floor(1, 2), 3, window=900), size=90)
    assert printed(database) != printed(ordered)
