"""Procedures that nearly every chapter prints in the same words, over a table's tape.

Opening, inspection, shuffle, cut, stub count, change of cards and dice, failed devices, staff and
cameras: each is judged at the fact that completes it. Facts are applied one by one, so a view can
keep the state. A table that reports nothing of these has none of these findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import RoundStarted, TableOpened
from ledger.rules.procedures import (
    card_handling,
    dice_handling,
    meters,
    rotation,
    staffing,
)
from ledger.rules.procedures.equipment import Equipment, Judge, RulesOf
from ledger.rules.procedures.submission_check import problems

if TYPE_CHECKING:
    from ledger.record.wire import Fact
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.ruling import Finding


LOOKS = (card_handling, dice_handling, staffing, meters, rotation)

HEARD = frozenset({TableOpened, RoundStarted, *(kind for each in LOOKS for kind in each.CARE)})
"""The kinds of fact that procedures read. No other changes their findings."""


def hears(fact: Fact, metered: frozenset[str]) -> bool:
    """Whether procedures read a fact. Wagers matter only if they feed a meter."""
    body: Any = fact.body
    return type(body) in HEARD and (type(body) not in meters.WAGERS or body.wager in metered)


def see(state: Equipment, fact: Fact, rules_of: RulesOf) -> list[Finding]:
    """Apply one fact of a table, in order; the findings it completes."""
    body: Any = fact.body
    kind = type(body)
    if kind is TableOpened or kind is RoundStarted:
        state.game = body.game
        day = fact.round.gaming_day if fact.round else getattr(body, "gaming_day", None)
        state.gaming_day = day or state.gaming_day
    care = [each.CARE[kind] for each in LOOKS if kind in each.CARE]
    if not (care or kind is RoundStarted):
        return []
    # A fact before the table's game is known is kept, and judged when a round begins.
    known = state.game is not None and state.gaming_day is not None
    rules = rules_of(state.game or "", state.gaming_day or "") if known else None
    judge = Judge(state, fact, rules, [])
    if rules and kind is RoundStarted:
        _submission(judge, rules)
    for look in care:
        look(judge, body, rules.game.procedures if rules else None)
    return judge.found


def _submission(j: Judge, rules: InForce) -> None:
    """Find a round without a Rules Submission on record, or under one that cannot all hold."""
    if not rules.filed and not j.state.submission_asked:
        j.state.submission_asked = True
        j.find(
            "rules_submission_missing",
            "601a.2",
            f"No Rules Submission for {rules.game.title} is on record; every optional wager, "
            f"the first paytables and the default readings are assumed",
        )
    if rules.chosen and j.state.submission_checked != j.state.gaming_day:
        j.state.submission_checked = j.state.gaming_day
        for problem in problems(rules.game, rules.chosen):
            allowed = ", ".join(problem.allowed)
            j.find(
                "rules_submission_invalid",
                "601a.2",
                f"In the Rules Submission for {rules.game.title}, {problem.where} has no effect: "
                f"{problem.says}; the default holds",
                expected=f"one of {allowed}" if allowed else None,
                recorded=problem.where,
            )
