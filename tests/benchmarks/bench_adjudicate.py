"""Adjudication beside the mere decoding of the same bytes into typed structs, game by game."""

from __future__ import annotations

import time
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import FiledSubmission, filed
from ledger.games import games
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.simulate.feed import deal, line
from ledger.simulate.plan import plan_of

if TYPE_CHECKING:
    from ledger.values import RoundId

ROUNDS = 5
"""Interleaved measurements a figure is the median of."""


def _rounds() -> tuple[dict[str, dict[RoundId, list[Received]]], list[FiledSubmission]]:
    """A day's facts as they are stored, by game and round."""
    plan = plan_of(tables=len(games()), minutes=240, seed=4, of=sorted(games()))
    facts, _ = deal(plan)
    found: dict[str, dict[RoundId, list[Received]]] = defaultdict(lambda: defaultdict(list))
    game_of = {table.table: table.game for table in plan.tables}
    for fact in facts:
        received = parse_line(line(plan, fact))
        if fact.round and isinstance(received, Received):
            found[game_of[fact.round.table]][fact.round].append(received)
    return found, filed(facts)


def _game(
    rounds: dict[RoundId, list[Received]], submissions: list[FiledSubmission]
) -> dict[str, float]:
    count = sum(len(rows) for rows in rounds.values())
    decodes, rulings = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        decoded = {name: [fact_of(row) for row in rows] for name, rows in rounds.items()}
        between = time.perf_counter()
        for name, facts in decoded.items():
            rule(RoundRecord(name, facts), submissions)
        decodes.append(count / (between - start))
        rulings.append(count / (time.perf_counter() - between))
    return {
        "rounds": len(rounds),
        "facts": count,
        "decoded_facts_per_s": median(decodes),
        "adjudicated_facts_per_s": median(rulings),
        "adjudicated_rounds_per_s": median(rulings) * len(rounds) / count,
        "adjudicated_to_decoded": median(rulings) / median(decodes),
    }


def run() -> dict[str, object]:
    """Every figure of this file; some seconds a game."""
    by_game, submissions = _rounds()
    return {game: _game(rounds, submissions) for game, rounds in by_game.items()}
