"""Rounds found by who dealt, who sat, what was held and what it paid; and a dealer's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS, install
from consumers.rounds.search import Filters, dealer_errors, names, round_details, search
from consumers.runtime.lifecycle import catch_up
from ledger.facts import (
    Body,
    CardsDealt,
    CardsTurned,
    DealerAssigned,
    DealerRelieved,
    DiceThrown,
    RoundCompleted,
    RoundStarted,
    SeatLeft,
    SeatTaken,
    TableClosed,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
)
from ledger.record import wire
from tests.scenes.view_feeds import MINUTE_US, Prefix, received, record, viewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from ledger.record.tape import Received
    from tests.fixtures.cli import Cli
    from tests.fixtures.postgres import Scenes

T0_US = 1_795_000_000_000_000


def told(minute: int, body: Body, number: int | None = None, table: str = "CC-07") -> Received:
    """A fact at a table, `minute` minutes into the day; of round `number` where one is given."""
    subject = f"{table}/2026-11-20/{number}" if number else None
    id_ = f"{minute:06d}-{type(body).__name__}-{abs(hash(body)) % 10**9}"
    source = f"/hollywood/{table}/terminal"
    return received(wire.encode(body, source, id_, T0_US + minute * MINUTE_US, subject))


def round_(number: int, minute: int, *cards: str, position: int = 3) -> list[Received]:
    """A round of two minutes, with a wager and two cards at one position."""
    return [
        told(minute, RoundStarted(game="criss_cross_poker"), number),
        told(minute, WagerPlaced(position=position, wager="ante_across", amount=500), number),
        told(
            minute + 1,
            CardsDealt(to="player", position=position, cards=cards or ("2c", "3d"), face="down"),
            number,
        ),
        told(minute + 2, RoundCompleted(), number),
    ]


def brought(database: Database, facts: Sequence[Received]) -> None:
    rows = record(database, facts)
    install(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS)


def numbers(database: Database, **filters: object) -> list[int]:
    return sorted(each.number for each in search(database, Filters(**filters)))  # type: ignore[arg-type]


def test_a_round_is_its_dealers_who_was_there_while_it_lasted(database: Database) -> None:
    facts = [
        told(0, DealerAssigned(employee="D-1", role="dealer")),
        *round_(1, 5),
        *round_(2, 9),  # D-2 takes over within it
        told(10, DealerRelieved(employee="D-1", role="dealer")),
        told(10, DealerAssigned(employee="D-2", role="dealer")),
        *round_(3, 15),
        told(20, TableClosed()),
        *round_(4, 25),  # nobody is on record for it
    ]
    brought(database, facts)
    assert numbers(database, dealer="D-1") == [1, 2]
    assert numbers(database, dealer="D-2") == [2, 3]
    assert numbers(database, dealer="D-3") == []
    found = round_details(database, search(database, Filters()))
    assert {of.number: each.dealers for of, each in found.items()} == {
        1: ["D-1"],
        2: ["D-1", "D-2"],
        3: ["D-2"],
        4: [],
    }


def test_a_patrons_rounds_are_those_with_a_wager_where_he_sat(database: Database) -> None:
    facts = [
        told(0, SeatTaken(positions=(3, 4), patron="tok-7")),
        *round_(1, 5, position=3),
        *round_(2, 10, position=5),  # somebody else's
        told(12, SeatLeft(positions=(3,))),
        *round_(3, 15, position=3),
        *round_(4, 20, position=4),
        told(25, SeatTaken(positions=(4,), patron="tok-8")),
        *round_(5, 30, position=4),
    ]
    brought(database, facts)
    assert numbers(database, patron="tok-7") == [1, 4]
    assert numbers(database, patron="tok-8") == [5]
    found = round_details(database, search(database, Filters()))
    assert {of.number: each.patrons for of, each in found.items() if each.patrons} == {
        1: {3: "tok-7"},
        4: {4: "tok-7"},
        5: {4: "tok-8"},
    }


def test_what_is_told_late_is_found_as_if_it_had_been_told_in_time(database: Database) -> None:
    facts = [
        *round_(1, 5),
        *round_(2, 15),
        told(0, DealerAssigned(employee="D-1", role="dealer")),
        told(10, DealerRelieved(employee="D-1", role="dealer")),
    ]
    brought(database, facts)
    assert numbers(database, dealer="D-1") == [1]


def test_cards_are_found_where_one_holder_had_them_all(database: Database) -> None:
    facts = [
        *round_(1, 5, "As", "Kd"),
        *round_(2, 10, "As", "??"),
        told(11, CardsTurned(to="player", position=3, cards=("Qh",), at=(1,)), 2),
        told(11, CardsDealt(to="dealer", cards=("Kd",), face="up"), 2),
        *round_(3, 15, "As", "2d", position=4),
    ]
    brought(database, facts)
    assert numbers(database, cards=("As",)) == [1, 2, 3]
    assert numbers(database, cards=("As",), position=3) == [1, 2]
    assert numbers(database, cards=("As", "Kd")) == [1]
    assert numbers(database, cards=("As", "Qh")) == [2]
    assert numbers(database, cards=("??",)) == []


@pytest.fixture
def floor(scenes: Scenes) -> Database:
    """An hour that every test searches and none changes."""
    return scenes.read(viewed, 60, planted=2)[0]


def test_a_row_is_found_by_its_beginning_whatever_its_case(floor: Database) -> None:
    by_row = numbers(floor, row="pair", limit=1_000)
    assert by_row
    assert by_row == numbers(floor, row="PAIR", limit=1_000)
    assert len(numbers(floor, row="pair", outcome="win", limit=1_000)) <= len(by_row)
    assert numbers(floor, row="air") == []


@pytest.mark.parametrize("hostile", ["%", "_", "\\", "pair%' OR true --", "%(limit)s", "{schema}"])
def test_what_is_typed_is_never_more_than_a_text(floor: Database, hostile: str) -> None:
    for field in ("row", "dealer", "patron", "table", "game", "wager", "finding", "dispute"):
        assert search(floor, Filters(**{field: hostile})) == []  # type: ignore[arg-type]


def test_a_dealers_errors_are_counted_with_what_they_cost(floor: Database) -> None:
    _, dealers = names(floor)
    assert dealers
    everything = [
        each for dealer in dealers for each in dealer_errors(floor, Filters(dealer=dealer))[1]
    ]
    assert {each.code for each in everything} >= {"overpaid", "underpaid"}
    assert {(each.over > 0, each.short) for each in everything if each.code == "overpaid"} == {
        (True, 0)
    }
    assert {(each.over, each.short > 0) for each in everything if each.code == "underpaid"} == {
        (0, True)
    }
    rounds = [dealer_errors(floor, Filters(dealer=dealer))[0] for dealer in dealers]
    assert sum(rounds) >= len(search(floor, Filters(limit=1_000)))
    assert dealer_errors(floor, Filters(dealer=dealers[0], since_us=T0_US * 2)) == (0, [])


def test_a_lost_stake_that_is_given_back_costs_its_sum_once(database: Database) -> None:
    """Two findings name the same chips: not collected, and given back. One costs nothing more."""
    lost = DiceThrown(dice=(1, 1))
    given = [
        told(1, RoundStarted(game="craps"), 1),
        *(told(2, WagerPlaced(position=at, wager="pass", amount=500), 1) for at in (1, 2, 3)),
        told(3, lost, 1),
        told(4, WagerReturned(position=1, wager="pass", amount=500), 1),
        told(5, WagerCollected(position=2, wager="pass", amount=500), 1),
        told(6, WagerReturned(position=2, wager="pass", amount=500), 1),
        told(7, DiceThrown(dice=(2, 2)), 1),
        told(8, DiceThrown(dice=(3, 4)), 1),
        told(9, RoundCompleted(), 1),
    ]
    brought(database, [told(0, DealerAssigned(employee="D-1", role="dealer")), *given])
    _, errors = dealer_errors(database, Filters(dealer="D-1"))
    costs = {(e.code, e.count, e.short, e.over) for e in errors if e.wager == "pass"}
    assert costs == {("not_collected", 2, 0, 1000), ("over_returned", 2, 0, 500)}


def test_an_error_is_of_the_one_dealer_who_stood_there(
    database: Database,
) -> None:
    """The one who has gone, and the one who comes after the payment, have no part in it."""

    def paid_short(number: int, minute: int) -> list[Received]:
        return [
            told(minute, RoundStarted(game="craps"), number),
            told(minute, WagerPlaced(position=1, wager="pass", amount=500), number),
            told(minute + 1, DiceThrown(dice=(3, 4)), number),
            told(minute + 2, WagerPaid(position=1, wager="pass", amount=400), number),
        ]

    def ended(number: int, minute: int) -> Received:
        return told(minute, RoundCompleted(), number)

    facts = [
        told(0, DealerAssigned(employee="D-1", role="dealer")),
        *paid_short(1, 10),
        told(13, DealerRelieved(employee="D-1", role="dealer")),
        told(14, DealerAssigned(employee="D-2", role="dealer")),
        ended(1, 15),
        *paid_short(2, 20),
        ended(2, 23),
        told(30, DealerAssigned(employee="D-3", role="dealer")),  # D-2 is there too
        *paid_short(3, 31),
        ended(3, 34),
    ]
    brought(database, facts)
    found = {name: dealer_errors(database, Filters(dealer=name)) for name in ("D-1", "D-2", "D-3")}
    codes = {
        name: [(e.code, e.count, e.short, e.over) for e in its if e.code == "underpaid"]
        for name, (_, its) in found.items()
    }
    short = [("underpaid", 1, 100, 0)]
    assert codes == {"D-1": short, "D-2": short, "D-3": []}


def test_a_dealers_errors_are_those_of_the_time_asked_for(floor: Database) -> None:
    _, dealers = names(floor)
    dealer = max(dealers, key=lambda each: len(dealer_errors(floor, Filters(dealer=each))[1]))
    dealt = search(floor, Filters(dealer=dealer, limit=1_000))
    times = sorted(each.began_us for each in dealt)
    middle = times[len(times) // 2]
    before = dealer_errors(floor, Filters(dealer=dealer, until_us=middle - 1))
    within = dealer_errors(floor, Filters(dealer=dealer, since_us=middle, until_us=times[-1]))
    whole = dealer_errors(floor, Filters(dealer=dealer))
    assert 0 < before[0] < whole[0]
    assert 0 < within[0] < whole[0]
    for since_us, until_us in ((None, middle - 1), (middle, times[-1]), (middle, middle)):
        found = Filters(dealer=dealer, since_us=since_us, until_us=until_us, limit=1_000)
        codes = {code for each in round_details(floor, search(floor, found)).values()
                 for code, _ in each.findings}  # fmt: skip
        assert {each.code for each in dealer_errors(floor, found)[1]} <= codes
    one = dealt[0].id
    of_it = Filters(dealer=dealer, table=one.table, gaming_day=one.gaming_day, number=one.number)
    assert dealer_errors(floor, of_it)[0] == 1


def test_a_late_payment_after_the_round_stays_the_rounds(database: Database) -> None:
    """A fact of the round that comes when another deals makes no other dealer's round of it."""
    facts = [
        told(0, DealerAssigned(employee="D-1", role="dealer")),
        *round_(1, 5),
        told(10, DealerRelieved(employee="D-1", role="dealer")),
        told(10, DealerAssigned(employee="D-2", role="dealer")),
        told(30, WagerPaid(position=3, wager="ante_across", amount=500), 1),
    ]
    brought(database, facts)
    assert numbers(database, dealer="D-2") == []


@pytest.mark.long
def test_the_command_finds_by_the_same(database: Database, cli: Cli) -> None:
    facts = [
        told(0, DealerAssigned(employee="D-1", role="dealer")),
        told(0, SeatTaken(positions=(3,), patron="tok-7")),
        *round_(1, 5, "As", "Kd"),
    ]
    brought(database, facts)
    for options in (
        ("--dealer", "D-1"),
        ("--patron", "tok-7"),
        ("--card", "as", "--card", "Kd"),
        ("--card", "As Kd", "--position", "3"),
    ):
        assert [each["round"] for each in cli("rounds", *options, "--json").json] == [
            "CC-07/2026-11-20/1"
        ]
    for options in (("--dealer", "D-2"), ("--patron", "x"), ("--card", "Qh"), ("--row", "flush")):
        assert cli("rounds", *options, "--json").json == []
    for when, dealt in (("--to", 0), ("--from", 1)):
        sums = cli("rounds", "--dealer", "D-1", "--errors", when, "2026-11-18T11:10:00Z", "--json")
        assert (sums.json[-1]["dealer"], sums.json[-1]["rounds"]) == ("D-1", dealt), when
    refused = cli("rounds", "--dealer", "D-1", "--errors", "--wager", "ante_across")
    assert refused.code == 2
    wrong = cli("rounds", "--card", "1x")
    assert wrong.code == 2
    assert "not a card" in wrong.err


def test_the_command_reads_a_sentence_and_says_what_it_did_not_use(
    database: Database, cli: Cli
) -> None:
    facts = [
        told(0, DealerAssigned(employee="D-1", role="dealer")),
        *round_(1, 5, "As", "Kd"),
        *round_(2, 9),
    ]
    brought(database, facts)
    reading, *rounds = cli("rounds", "--ask", "CC-07 As Kd zebra", "--json").json
    assert [each["round"] for each in rounds] == ["CC-07/2026-11-20/1"]
    assert [each["words"] for each in reading["filters"]] == ["CC-07", "As Kd"]
    assert reading["not_used"] == [{"words": "zebra", "why": "Not understood."}]
    both = cli("rounds", "--ask", "CC-07", "--card", "2c", "--json").json[1:]
    assert [each["round"] for each in both] == ["CC-07/2026-11-20/2"]
    printed = cli("rounds", "--ask", "CC-09 flush CC-07 seat 3")
    assert (
        "Not used: CC-09. No table of this name is on record. Perhaps: table CC-07" in printed.err
    )
    assert "Nearest: CC-07/2026-11-20/2: no “flush”." in printed.err
    first, *lines = cli("rounds", "--ask", "As Kd", "--csv").out.splitlines()
    assert first.startswith("round,property,game")
    assert [line.partition(",")[0] for line in lines] == ["CC-07/2026-11-20/1"]
    assert cli("rounds", "--errors", "--dealer", "D-1", "--ask", "flush").code == 2
