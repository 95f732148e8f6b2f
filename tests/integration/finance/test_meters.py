"""`meters` and the meters of a journal, from the views and from the whole feed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from consumers.finance import journal, meters
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up, rebuild
from ledger.adjudication.corrections import corrected, corrections
from ledger.adjudication.feed import adjudicate
from ledger.adjudication.submissions import filed, kept_rules
from ledger.facts import FactCorrected, FactRef, MeterAdvanced, MeterRead, TableOpened
from ledger.finance.meters.lines import MeterLine, MeterName, lines, step_of, steps_paid
from ledger.finance.placing import OPENS_DAY, Days, table_of
from ledger.finance.rounds import round_money
from ledger.finance.statistics.expected import OddsInForce
from ledger.record.wire import encode, fact_of, parse_line
from ledger.rules.engine.ruling import Ruling
from tests.scenes.bookkeeping import beancount_says, hledger_says
from tests.scenes.view_feeds import Prefix, dumped, record
from tests.unit.games.rounds import facts_of
from tests.unit.games.twenty_one import round_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.finance.meters.lines import MeterStep
    from ledger.finance.placing import TableId
    from ledger.record.tape import Received
    from ledger.record.wire import Fact

DAY, NEXT = "2026-11-20", "2026-11-21"
T0 = 1_795_186_800_000_000
"""20 November 2026, 15:00 UTC, microseconds."""

SECOND_US = 1_000_000
MOVES = ", ".join(f"decide 1 hit, deal 1 up {card}" for card in ("As", "4h", "5c", "6d"))
WON = "\n".join(
    (
        round_of("9d 8h", "2c 3d", MOVES, "blackjack 1000 straight_jack 500"),
        "meter read straight_jack 700000",
        "pay 1 straight_jack 800000 from cage",
        "meter reset straight_jack 500000",
        "done",
    )
)


def told(body: Body, at: int, place: str = "T-1", name: str = "", subject: str = "") -> Received:
    octets = encode(
        body, f"/hollywood/{place}/d", name or f"{place}-{at}", T0 + at * SECOND_US, subject or None
    )
    return parse_line(octets)  # type: ignore[return-value] # well-formed


def house() -> list[Received]:
    """A meter that is won on its first day, and a link that nobody wins."""
    opened = TableOpened(game="blackjack", gaming_day=DAY, min_wager=500, max_wager=50_000)
    later = TableOpened(game="blackjack", gaming_day=NEXT, min_wager=500, max_wager=50_000)
    misread = told(MeterRead(meter="straight_jack", amount=690_000), 10)
    right = FactCorrected(
        of=FactRef(misread.source, misread.id),
        data={"meter": "straight_jack", "amount": 695_000},
        because="Misread.",
        by="F-1",
        second="F-2",
    )
    played = [
        told(fact.body, 100 + fact.time_us // SECOND_US, name=fact.id, subject=f"T-1/{DAY}/231")  # type: ignore[arg-type] # a Body
        for fact in facts_of(WON, "blackjack", DAY)
    ]
    return [
        told(opened, 0),
        misread,
        told(right, 20, "office"),
        *played,
        told(later, 900),
        told(MeterAdvanced(meter="straight_jack", amount=500_100), 910),
        told(MeterRead(meter="Link; 7", amount=1_000), 50, "pit-2"),
        told(MeterAdvanced(meter="Link; 7", amount=900), 950, "pit-2"),
    ]


def shown(facts: Sequence[Fact]) -> list[tuple[MeterName, MeterStep]]:
    """What facts say of meters. A link has the days of the last table that was opened."""
    starts: dict[TableId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, OPENS_DAY):
            property_, table = table_of(fact)
            starts[property_, table].append(fact)
            starts[property_, ""].append(fact)
    days = {table: Days(its) for table, its in starts.items()}
    found = []
    for name, step in filter(None, map(step_of, facts)):
        its = days.get((name.property, name.table))
        at = its.at(step.time_us) if its else None
        found.append((name, step._replace(day=step.day or at)))
    return found


def of_feed(facts: list[Fact]) -> dict[MeterName, MeterLine]:
    """The lines by the functions of the feed alone."""
    now = corrected(facts, corrections(facts))
    odds = OddsInForce(kept_rules(filed(facts)))
    paid = [
        step
        for ruling in adjudicate(facts)
        if isinstance(ruling, Ruling)
        for money in [round_money([f for f in now if f.round], ruling, odds)]
        for step in steps_paid("hollywood", "T-1", DAY, money.meters)
    ]
    return lines([*shown(now), *paid])


@pytest.mark.parametrize("backwards", [False, True])
def test_the_lines_of_the_view_are_those_of_the_feed(
    database: Database, *, backwards: bool
) -> None:
    facts = house()[::-1] if backwards else house()
    rows = record(database, facts)
    install(database)
    for until in (7, len(rows)):
        catch_up(database, Prefix(rows, until), meters.VIEWS)
    found = meters.read(database)
    assert found == of_feed([fact_of(row) for row in rows])
    jack = found["hollywood", "straight_jack", "T-1"]  # type: ignore[index] # a MeterName
    assert (jack.opening, jack.advanced, jack.paid, jack.reset, jack.closing, jack.difference) == (
        695_000,
        5_000 + 100,
        700_000,
        500_000,
        500_100,
        0,
    )
    link = found["hollywood", "Link; 7", ""]  # type: ignore[index] # as above
    assert (link.table, link.opening, link.closing, link.difference) == (None, 1_000, 900, -100)
    assert meters.read(database, "elsewhere") == {}
    before = dumped(database, meters.VIEW)
    assert rebuild(database, Prefix(rows, len(rows)), meters.VIEW)
    assert dumped(database, meters.VIEW) == before


def test_a_journal_owes_what_each_meter_shows_and_other_programs_accept_it(
    database: Database, tmp_path: Path
) -> None:
    rows = record(database, house())
    install(database)
    catch_up(database, Prefix(rows, len(rows)), journal.VIEWS)
    entries = journal.read(database)
    held: dict[str, int] = {}
    for entry in entries:
        assert sum(each.amount for each in entry.postings) == 0
        for each in entry.postings:
            held[each.account] = held.get(each.account, 0) + each.amount
    assert held["liabilities:meter:T-1:straight_jack"] == -500_100
    assert held["expenses:meter:T-1:straight_jack"] == 5_100 - 700_000 + 500_000
    [link] = {name for name in held if name.startswith("liabilities:meter:Link")}
    assert (held[link], ";" in link) == (-900, False)
    assert held[link.replace("liabilities:meter", "expenses:meter_difference")] == -100
    assert beancount_says(entries) == []
    assert hledger_says(entries, tmp_path) == ""
    second = journal.read(database, gaming_day=NEXT)
    ours = [each for each in entries if each.gaming_day == NEXT and each.entry[:6] == "meter:"]
    assert [each for each in second if each.entry[:6] == "meter:"] == ours
    assert [each.entry for each in second if each.entry[:13] == "meter_carried"] != []
    assert beancount_says(second) == []
    assert hledger_says(second, tmp_path) == ""
    of_table = journal.read(database, table="T-1")
    assert {each.table for each in of_table} == {"T-1"}


def test_a_meter_that_shows_other_than_its_entries_leave_is_refused(
    database: Database, tmp_path: Path
) -> None:
    rows = record(database, house())
    install(database)
    catch_up(database, Prefix(rows, len(rows)), journal.VIEWS)
    entries = journal.read(database)
    wrong = [each for each in entries if each.entry != "meter_opening:straight_jack"]
    assert len(wrong) == len(entries) - 1
    assert beancount_says(wrong)
    assert hledger_says(wrong, tmp_path)
