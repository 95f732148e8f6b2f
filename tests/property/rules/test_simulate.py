"""A simulated round adjudicates to nothing found; what is planted is found, and nothing else is."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.adjudication.feed import adjudicate
from ledger.facts import DecisionMade, IrregularityCalled
from ledger.games import games
from ledger.simulate import DEALT, MISTAKES, Planted, deal, plan_of
from ledger.simulate.mistakes import TRUTHS
from tests.suite.budget import ONE_A_FAMILY, budget, cases

if TYPE_CHECKING:
    from ledger.rules.engine.game import Game

AT_THE_SPOT = {"overpaid", "underpaid", "not_collected", "late_wager", "step_missing"}
"""Findings that name a position and a wager: they must be those of the mistake."""


def dealt() -> list[Game]:
    """The games of a floor that names none."""
    return [games()[name] for name in DEALT]


@cache
def judged(
    seed: int, minutes: int, tables: int, each: int, of: tuple[str, ...] = DEALT
) -> tuple[int, Counter[str], list[str]]:
    """Rounds, mistakes found by name, and in words whatever was missed or found beside."""
    mistakes = dict.fromkeys(MISTAKES, each) if each else {}
    plan = plan_of(tables=tables, minutes=minutes, seats=6, seed=seed, mistakes=mistakes, of=of)
    facts, planted = deal(plan)
    truth: dict[object, list[Planted]] = defaultdict(list)
    for mistake in planted:  # what is of no round is found at the fact that completes it
        truth[mistake.round or mistake.facts[0].id].append(mistake)
    rounds, wrong = 0, []
    for said in adjudicate(facts):
        rounds += said.round is not None
        made = truth.pop(said.round or said.findings[0].facts[0].id, [])
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


@pytest.mark.long
@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_a_simulated_round_adjudicates_to_no_finding(seed: int, tables: int) -> None:
    rounds, _, wrong = judged(seed, 45, tables, 0)
    assert not wrong
    assert rounds > 20 * tables


@pytest.mark.long  # every day the rounds in which nothing is planted, in the test below
@pytest.mark.parametrize("game_id", sorted(games().keys() - set(DEALT)))
def test_a_simulated_round_of_every_game_adjudicates_to_no_finding(game_id: str) -> None:
    rounds, _, wrong = judged(11, 60, 4, 0, (game_id,))
    assert not wrong
    assert rounds > 60


@budget("tried", everyday=(30, 1), whole=(90, 3))
@pytest.mark.parametrize("game_id", sorted(games().keys() - set(DEALT)))
def test_every_mistake_planted_in_a_game_is_found_and_nothing_else_is(
    game_id: str, tried: tuple[int, int]
) -> None:
    minutes, each = tried
    _, made, wrong = judged(12, minutes, 4, each, (game_id,))
    assert not wrong
    assert made.keys() >= {"overpay", "underpay", "lost_fact", "retransmission"}


@pytest.mark.long
@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_every_planted_mistake_is_found_and_nothing_else_is(seed: int) -> None:
    _, made, wrong = judged(seed, 120, 4, 5)
    assert not wrong
    assert set(made) == {name for name in MISTAKES if any(map(TRUTHS[name].where, dealt()))}


@budget("tried", everyday=(60, 2), whole=(120, 6))
def test_633a_13_m_2_a_meter_that_does_not_go_up_is_found_over_the_tables_tape(
    tried: tuple[int, int],
) -> None:
    minutes, each = tried
    _, made, wrong = judged(12, minutes, 4, each, ("blackjack",))
    assert not wrong
    assert made["meter_stuck"] == each


NOT_IN_TURN = {
    "asia_poker",
    "baccarat",
    "craps",
    "midibaccarat",
    "minibaccarat",
    "saigon_5_card",
    "three_dice_football",
}
"""Games whose sections hardly put facts of two devices in turn: a clock off does not show there."""


IN_TURN = sorted(
    name
    for name, game in games().items()
    if TRUTHS["clock_skew"].where(game) and name not in NOT_IN_TURN
)


@pytest.mark.parametrize(
    ("game_id", "minutes", "rounds_min"),
    cases(
        everyday=[(name, 100, 1) for name in IN_TURN if name in ONE_A_FAMILY],
        whole=[(name, 240, 3) for name in IN_TURN],
    ),
)
def test_a_clock_that_is_off_is_found_in_every_game_that_puts_devices_in_turn(
    game_id: str, minutes: int, rounds_min: int
) -> None:
    plan = plan_of(
        tables=2, minutes=minutes, seats=6, seed=21, mistakes={"clock_skew": 3}, of=(game_id,)
    )
    facts, planted = deal(plan)
    rounds = {mistake.round for mistake in planted}
    assert len(rounds) >= rounds_min
    found = {said.round: [each.code for each in said.findings] for said in adjudicate(facts)}
    assert {name: codes for name, codes in found.items() if codes} == {
        name: ["clock_skewed"] for name in rounds
    }


IRREGULAR = {
    "double_attack_blackjack": {
        "no_card_dealt",
        "one_card_dealt",
        "requested_card_not_dealt",
        "card_drawn_exposed",
        "card_face_up",
    },
    "asia_poker": {"player_card_exposed", "card_face_up"},
    "saigon_5_card": {"card_face_up", "card_drawn_unexposed"},
}
DECIDED = {
    "double_attack_blackjack": {"second_card", "dead_hand", "refuse_card"},
    "asia_poker": {"void_hand"},
    "spanish_21": {"rescue"},
}


@pytest.mark.long
@pytest.mark.parametrize("game_id", sorted(IRREGULAR.keys() | DECIDED.keys()))
def test_irregularities_that_are_put_right_are_dealt_and_find_nothing(game_id: str) -> None:
    facts, _ = deal(plan_of(tables=4, minutes=240, seats=6, seed=31, of=(game_id,)))
    bodies = [fact.body for fact in facts]
    called = {body.kind for body in bodies if isinstance(body, IrregularityCalled)}
    decided = {body.decision for body in bodies if isinstance(body, DecisionMade)}
    assert called >= IRREGULAR.get(game_id, set())
    assert decided >= DECIDED.get(game_id, set())
    assert [said.findings for said in adjudicate(facts) if said.findings] == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1006))
def test_thousands_of_clean_rounds_adjudicate_to_no_finding(seed: int) -> None:
    rounds, _, wrong = judged(seed, 720, 8, 0)
    assert not wrong
    assert rounds > 4_000


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
@pytest.mark.parametrize("seed", range(2000, 2013))
def test_thousands_of_planted_mistakes_are_all_found_and_nothing_else_is(seed: int) -> None:
    _, made, wrong = judged(seed, 480, 4, 25)
    assert not wrong
    assert min(made.values()) > 15
