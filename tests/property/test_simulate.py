"""A simulated round adjudicates to nothing found; what is planted is found, and nothing else is."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.feed import adjudicate
from ledger.games import games
from ledger.simulate import DEALT, MISTAKES, Planted, deal, plan_of

AT_THE_SPOT = {"overpaid", "underpaid", "not_collected", "late_wager", "step_missing"}
"""Findings that name a position and a wager: they must be those of the mistake."""


@cache
def judged(
    seed: int, minutes: int, tables: int, each: int, of: tuple[str, ...] = DEALT
) -> tuple[int, Counter[str], list[str]]:
    """Rounds, mistakes found by name, and in words whatever was missed or found beside."""
    mistakes = dict.fromkeys(MISTAKES, each) if each else {}
    plan = plan_of(tables=tables, minutes=minutes, seats=6, seed=seed, mistakes=mistakes, of=of)
    facts, planted = deal(plan)
    truth: dict[str | None, list[Planted]] = defaultdict(list)
    for mistake in planted:
        truth[mistake.round].append(mistake)
    rounds, wrong = 0, []
    for said in adjudicate(facts):
        rounds += said.round is not None
        made = truth.pop(said.round, []) if said.round else []
        due = Counter(code for mistake in made for code in mistake.expect)
        may = {code for mistake in made for code in mistake.may}
        found = Counter(finding.code for finding in said.findings)
        spots = {(mistake.position, mistake.wager) for mistake in made}
        for finding in said.findings:
            if finding.code in AT_THE_SPOT and not may:
                found[finding.code] -= (finding.position, finding.wager) not in spots
        if due - found or set(+found) - set(due) - may:
            wrong.append(f"{plan.seed} {said.round or said.table}: {due} {found} {made}")
    wrong += [f"{plan.seed} {round_}: no ruling" for round_ in truth]
    return rounds, Counter(mistake.mistake for mistake in planted), wrong


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_a_simulated_round_adjudicates_to_no_finding(seed: int, tables: int) -> None:
    rounds, _, wrong = judged(seed, 45, tables, 0)
    assert not wrong
    assert rounds > 20 * tables


@pytest.mark.parametrize("game_id", sorted(games().keys() - set(DEALT)))
def test_a_simulated_round_of_every_game_adjudicates_to_no_finding(game_id: str) -> None:
    rounds, _, wrong = judged(11, 60, 4, 0, (game_id,))
    assert not wrong
    assert rounds > 60


@pytest.mark.parametrize("game_id", sorted(games().keys() - set(DEALT)))
def test_every_mistake_planted_in_a_game_is_found_and_nothing_else_is(game_id: str) -> None:
    _, made, wrong = judged(12, 90, 4, 3, (game_id,))
    assert not wrong
    assert made.keys() >= {"overpay", "underpay", "lost_fact", "retransmission"}


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_every_planted_mistake_is_found_and_nothing_else_is(seed: int) -> None:
    _, made, wrong = judged(seed, 120, 4, 5)
    assert not wrong
    assert set(made) == set(MISTAKES)


@pytest.mark.long
def test_thousands_of_clean_rounds_adjudicate_to_no_finding() -> None:
    total = 0
    for seed in range(1000, 1012):
        rounds, _, wrong = judged(seed, 720, 8, 0)
        assert not wrong
        total += rounds
    assert total > 50_000


@pytest.mark.long
@pytest.mark.parametrize("game_id", sorted(games().keys() - set(DEALT)))
def test_thousands_of_rounds_of_every_game_hold_no_finding_but_what_is_planted(
    game_id: str,
) -> None:
    rounds, _, wrong = judged(13, 360, 4, 0, (game_id,))
    assert not wrong
    assert rounds > 500
    _, made, wrong = judged(14, 300, 4, 12, (game_id,))
    assert not wrong
    assert made.total() > 15


@pytest.mark.long
def test_thousands_of_planted_mistakes_are_all_found_and_nothing_else_is() -> None:
    total: Counter[str] = Counter()
    for seed in range(2000, 2025):
        _, made, wrong = judged(seed, 480, 4, 25)
        assert not wrong
        total += made
    assert min(total.values()) > 500
