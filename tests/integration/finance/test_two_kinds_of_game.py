"""A table that plays against the house and has rake on record: an exception names its openings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers.finance import variances, wins
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from ledger.adjudication.feed import adjudicate
from ledger.finance import feed
from ledger.finance.statistics.hold import VarianceAsked
from ledger.record.wire import fact_of
from tests.property.finance.floors import read_by_program
from tests.scenes.table_days import DAY, count, day_lines, fact
from tests.scenes.view_feeds import Prefix, received, record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from tests.property.finance.floors import Line


def of_round(number: int, line: Line) -> Line:
    """A fact of one of the day's rounds."""
    return line | {"subject": f"CC-07/{DAY}/{number}"}


@pytest.mark.parametrize(
    ("games", "found"),
    [
        (("omaha_5_high", "criss_cross_poker"), ["two_kinds_of_game"]),
        (("criss_cross_poker", "omaha_5_high"), ["two_kinds_of_game", "game_changed"]),
        (("omaha_5_high", "omaha_5_high"), ["game_changed"]),
        (("criss_cross_poker", "criss_cross_poker"), []),
    ],
)
def test_rake_beside_rounds_against_the_house_is_an_exception_that_names_the_openings(
    database: Database, games: tuple[str, str], found: list[str]
) -> None:
    """The controls play one game alone. The table opens for Criss-Cross Poker at first."""
    dealt = fact("dealer_assigned", 3, employee="D-1", role="dealer")
    again = fact("table_opened", 30, game=games[1], gaming_day=DAY, min_wager=1, max_wager=2)
    rounds = [
        of_round(nth, fact("round_started", 4 * nth, game=game))
        for nth, game in enumerate(games, 1)
    ]
    raked = [
        of_round(nth, fact("rake_taken", 4 * nth + 1, amount=700))
        for nth, game in enumerate(games, 1)
        if game == "omaha_5_high"
    ]
    lines = day_lines(dealt, *rounds, *raked, again, count(59, chips={"100": 7 * len(raked)}))
    rows = record(database, [received(msgspec.json.encode(each)) for each in lines])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), variances.VIEWS)
    [win] = wins.read(database)
    assert [each.code for each in win.exceptions] == found
    for each in win.exceptions:
        assert [ref.id for ref in each.facts] == [lines[0]["id"], again["id"]]
    if "two_kinds_of_game" in found:
        assert win.exceptions[0].says == (
            "Rounds of poker are on record beside those of a game against the house; their rake of "
            "$7.00 is in moved; nothing is owed for it."
        )
    by_dealer = variances.read(database, VarianceAsked("p", "dealer", "day", DAY), ())
    of_poker = set(games) == {"omaha_5_high"}
    assert [each.pay_gap for each in by_dealer] == ([] if of_poker else [win.pay_gap])
    facts = [fact_of(row) for row in rows]
    assert feed.wins(facts, adjudicate(facts)) == [win]
    assert not any(
        each.facts for each in feed.wins(facts, adjudicate(facts), None, 6)[0].exceptions
    )


FIRST = "criss_cross_poker in pit North"


@pytest.mark.parametrize(
    ("opens", "said"),
    [
        ({"game": "minibaccarat"}, f"{FIRST}, then for minibaccarat"),
        (
            {"pit": "South"},
            "criss_cross_poker in pit North, then for criss_cross_poker in pit South",
        ),
        ({"min_wager": 1_000}, None),
    ],
)
def test_a_table_that_opens_for_another_game_or_pit_is_named_since_version_11(
    opens: Line, said: str | None
) -> None:
    first, *rest = day_lines(count(59))
    again = fact("table_opened", 30, **{**first["data"], **opens})
    if "game" in opens:
        del again["data"]["pit"]
    facts = read_by_program([first, again, *rest])
    [win] = feed.wins(facts, [])
    found = [each for each in win.exceptions if each.code == "game_changed"]
    assert [each.says.partition(". ")[0] for each in found] == (
        [f"The table opened for {said}"] if said else []
    )
    assert feed.wins(facts, [], None, 10)[0].exceptions == [
        each for each in win.exceptions if each not in found
    ]
