"""The procedures that are nearly word for word the same in every chapter, over a table's tape.

Opening, inspection, shuffle, cut, stub count, change of cards and dice, devices that failed: each
is judged at the fact that completes it. Seen fact by fact, so a view can keep the state. A table
that reports nothing of its equipment has none of these findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import RoundStarted, TableOpened
from ledger.rules import card_care, dice_care
from ledger.rules.equipment import Equipment, Judge, RulesOf

if TYPE_CHECKING:
    from ledger.rules.ruling import Finding
    from ledger.wire import Fact


def see(state: Equipment, fact: Fact, rules_of: RulesOf) -> list[Finding]:
    """Take in one fact of a table, in order; the findings it completes."""
    body: Any = fact.body
    kind = type(body)
    if kind is TableOpened or kind is RoundStarted:
        state.game = body.game
        day = fact.round.gaming_day if fact.round else getattr(body, "gaming_day", None)
        state.gaming_day = day or state.gaming_day
    care = [each.CARE[kind] for each in (card_care, dice_care) if kind in each.CARE]
    if state.game is None or state.gaming_day is None or not (care or kind is RoundStarted):
        return []
    rules = rules_of(state.game, state.gaming_day)
    if rules is None:
        return []
    judge = Judge(state, fact, rules, [])
    if kind is RoundStarted:
        _submission(judge)
    for look in care:
        look(judge, body, rules.game.procedures)
    return judge.found


def _submission(j: Judge) -> None:
    """A round is dealt without a Rules Submission on record."""
    if not j.rules.filed and not j.state.submission_asked:
        j.state.submission_asked = True
        j.find(
            "rules_submission_missing",
            "601a.2",
            f"No Rules Submission for {j.rules.game.title} is on record; every optional wager, "
            f"the first paytables and the default readings are taken",
        )
