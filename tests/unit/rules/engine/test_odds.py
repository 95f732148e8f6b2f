"""Printed odds become exact fractions, and the first row that fits pays."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ledger.games import games
from ledger.rules.engine.odds import PUSH, parse_odds, paytable, row

PRINTED = """
    1 to 1      1
    4 to 5      4/5
    6 to 5      6/5
    500 to 1    500
    1 for 1     0
    10 for 1    9
    3 for 2     1/2
    Push        0
"""


@pytest.mark.parametrize("line", [line.strip() for line in PRINTED.splitlines() if line.strip()])
def test_to_and_for_differ_by_the_stake(line: str) -> None:
    printed, won = line.rsplit(maxsplit=1)
    assert parse_odds(printed.strip()) == Fraction(won)


@pytest.mark.parametrize(
    "text", ["", "1:1", "one to one", "1 to", "1 to 1 ", "-1 to 1", "1.5 to 1"]
)
def test_what_is_not_printed_odds_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="4 to 5"):
        parse_odds(text)


def test_the_first_row_that_fits_pays_and_none_is_a_loss() -> None:
    table = paytable(
        "w", "1(a)", [row("small", lambda n: n < 3, "2 to 1"), row("any", lambda n: n < 9, PUSH)]
    )
    assert [getattr(table.pays(n, {}), "label", None) for n in (2, 3, 9)] == ["small", "any", None]
    assert table.rows[1].pushes
    assert not table.rows[0].pushes


def test_a_row_under_a_reading_holds_only_there() -> None:
    table = paytable(
        "w",
        "1(a)",
        [row("yes", bool, "1 to 1", ("r", "on")), row("no", bool, PUSH, ("r", "off"))],
    )
    assert [table.pays(1, {"r": value}).odds for value in ("on", "off")] == ["1 to 1", PUSH]  # type: ignore[union-attr]


@pytest.mark.parametrize("game_id", games())
def test_every_reading_that_a_row_names_is_one_of_its_games(game_id: str) -> None:
    game = games()[game_id]
    values = {(reading.name, value) for reading in game.readings for value in reading.values}
    named = {each.reading for table in game.paytables for each in table.rows if each.reading}
    assert named <= values


def test_odd_cents_are_broken_down_to_the_unit() -> None:
    rules = _in_force(25)
    cents = (Fraction(0), Fraction(24), Fraction(25), Fraction(4999, 100), Fraction(1212))
    assert [rules.broken(each) for each in cents] == [0, 0, 25, 25, 1200]
    assert _in_force(1).broken(Fraction(404, 5)) == 80


@pytest.mark.parametrize(
    ("paragraph", "printed"),
    [("11(b)", "592.11(b)"), ("7", "592.7"), ("111", "592.111"), ("603a.13(f)", "603a.13(f)")],
)
def test_a_paragraph_is_cited_under_its_chapter_or_the_one_it_names(
    paragraph: str, printed: str
) -> None:
    assert _in_force(1).section(paragraph) == printed


def _in_force(unit: int):  # type: ignore[no-untyped-def]  # noqa: ANN202 - only its breakage is asked
    from ledger.rules.engine.game import InForce  # noqa: PLC0415 - beside its only use

    game = games()["criss_cross_poker"]
    values = {"outside": False, "filed": True, "offers": frozenset(), "readings": {}}
    values |= {"paytables": {}, "options": {}, "limits": {}, "progressives": {}}
    return InForce(game, game.editions[0], breakage_unit=unit, **values)
