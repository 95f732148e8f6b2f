"""A device's clock that is off by minutes or days is named, and changes nothing that is owed."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from ledger.adjudication.feed import adjudicate
from ledger.facts import CardsDealt, RoundCompleted, WagerPaid
from ledger.games import games
from ledger.rules.engine.clock_skew import APART_US
from ledger.simulate import deal, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Ruling

HOUR = 3_600_000_000
SHIFTS = {"a summer time ahead": HOUR, "three days behind": -72 * HOUR}
EVERYDAY = ("blackjack", "minibaccarat")
NAME = "criss_cross_poker"


@cache
def dealt(game: str) -> tuple[Fact, ...]:
    facts, _ = deal(plan_of(tables=1, minutes=4, seats=6, seed=21, mistakes={}, of=(game,)))
    return tuple(facts)


def ruled(facts: Iterable[Fact]) -> dict[str, Ruling]:
    return {said.round: said for said in adjudicate(facts) if said.round is not None}


def codes(said: Ruling) -> list[str]:
    return [finding.code for finding in said.findings]


def spoken(game: str) -> dict[str, set[str]]:
    """The devices that tell of rounds, and of which."""
    found: dict[str, set[str]] = {}
    for fact in dealt(game):
        if fact.round:
            found.setdefault(fact.source, set()).add(fact.round.subject)
    return found


def later(facts: Iterable[Fact], by_us: int, which: Callable[[Fact], bool]) -> list[Fact]:
    return [replace(f, time_us=f.time_us + by_us) if which(f) else f for f in facts]


@pytest.mark.parametrize("shift_us", SHIFTS.values(), ids=SHIFTS)
@pytest.mark.parametrize(
    "game",
    [
        pytest.param(name, marks=() if name in EVERYDAY else pytest.mark.long)
        for name in sorted(games())
    ],
)
def test_a_device_hours_off_is_named_and_every_round_settles_as_it_was_played(
    game: str, shift_us: int
) -> None:
    true = ruled(dealt(game))
    for device, names in spoken(game).items():
        off = ruled(later(dealt(game), shift_us, lambda fact, its=device: fact.source == its))
        assert off.keys() == true.keys()
        for name, said in off.items():
            assert said.settlements == true[name].settlements, (device, name)
            assert codes(said) == ["clock_skewed"] * (name in names), (device, name)


def test_were_it_not_looked_for_people_would_be_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = ruled(dealt(NAME))
    for module in ("ledger.adjudication.adjudicate", "ledger.rules.engine.clock_skew"):
        monkeypatch.setattr(f"{module}.apart", lambda _: None)
    # Payments come after their cards, so the order of facts shows such a clock, too.
    monkeypatch.setattr("ledger.adjudication.adjudicate.skewed", lambda *_, **__: None)
    off = ruled(later(dealt(NAME), HOUR, lambda fact: fact.source.endswith("/layout")))
    found = Counter(code for said in off.values() for code in codes(said))
    assert found["late_wager"] > 10 * len(true), "the control"


def test_a_round_that_is_held_up_for_hours_goes_on_without_a_word_of_clocks() -> None:
    true = ruled(dealt(NAME))
    [first, *_] = [fact for fact in dealt(NAME) if isinstance(fact.body, CardsDealt)]
    held_up = later(dealt(NAME), 5 * HOUR, lambda fact: fact.time_us > first.time_us)
    assert ruled(held_up) == true


def test_one_that_is_paid_and_closed_long_after_is_not_blamed_on_a_clock() -> None:
    last = {fact.round: fact for fact in dealt(NAME) if isinstance(fact.body, WagerPaid)}
    late = {fact.id for fact in last.values()} | {
        fact.id for fact in dealt(NAME) if isinstance(fact.body, RoundCompleted)
    }
    elsewhere = [
        replace(fact, source="/hollywood/CC-01/desk", boot=None, sequence=None)
        if fact.id in late
        else fact
        for fact in dealt(NAME)
    ]
    found = ruled(later(elsewhere, 2 * APART_US, lambda fact: fact.id in late))
    assert found.keys() == ruled(dealt(NAME)).keys()
    assert not any("clock_skewed" in codes(said) for said in found.values())
