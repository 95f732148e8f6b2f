"""The state of one round in the view `rulings`: its facts, its rulings, and its table rows.

It also decides at which facts a closed round is ruled on. `consumers.rulings.touched_rounds` fills
the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from consumers.rulings.error_counts import CountedRound
from consumers.rulings.finding_work import ref_in_round
from ledger.adjudication.corrections import corrected
from ledger.facts import RoundCompleted, RoundVoided
from ledger.finance.rounds import round_money
from ledger.finance.table_day import SUMS
from ledger.statistics.errors import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.adjudication.corrections import Corrections
    from ledger.finance.rounds import RoundMoney
    from ledger.finance.statistics.expected import OddsInForce
    from ledger.record.wire import Fact
    from ledger.rules.engine.order import Gap
    from ledger.rules.engine.ruling import FactRef, Finding, Ruling
    from ledger.values import RoundId

TOUCHES_RULED_MAX = 64
"""Facts touching a closed round that each cause a ruling; beyond, four do in each doubling."""

_STEPS_BITS = 3  # a count is a step if its binary form has no 1 after three digits


def is_ruling_due(touches: int) -> bool:
    """Whether the `touches`-th fact that touches a closed round causes a ruling at once.

    A device that repeats itself adds thousands of facts to one round. A ruling at each would cost
    the square of their number in time and in kept versions (ADR 0045).
    """
    rest = max(0, touches.bit_length() - _STEPS_BITS)
    return touches <= TOUCHES_RULED_MAX or touches % (1 << rest) == 0


class RoundState(Struct):
    """One round: its facts in order of position, and its newest ruling."""

    round: RoundId
    facts: list[Fact] = []
    made: list[Fact] = []  # corrections of its facts
    closed: bool = False
    first_us: int = 0
    last_us: int = 0
    version: int = 0
    position: int = 0
    touches: int = 0  # facts that touched it since it was closed
    kept: int = 0  # permanent versions; one more may exist until the next step
    kept_position: int = 0
    kept_text: bytes | None = None  # the newest permanent version
    text: bytes | None = None  # the newest ruling
    ruling: Ruling | None = None  # the same, if it was made in this batch
    gaps: Sequence[Gap] = ()  # in devices' sequences, beside one of its facts, as ruled on
    passing: int = 0  # number of a stored version that the next step replaces
    stored: bool = False
    found: int = 0  # findings that are stored
    touched: int = 0  # position of the last fact of this batch that touched it
    ruled: bool = False  # since that fact

    def add(self, fact: Fact) -> None:
        """Add a fact of the round."""
        self.first_us = min(self.first_us, fact.time_us) if self.facts else fact.time_us
        self.last_us = max(self.last_us, fact.time_us) if self.facts else fact.time_us
        self.facts.append(fact)
        if isinstance(fact.body, (RoundCompleted, RoundVoided)):
            self.closed = True


def cells(case: RoundState) -> tuple[Any, ...]:
    """A round's row of `RULINGS`."""
    ruling = case.ruling
    return (
        *case.round,
        ruling.game if ruling else None,
        ruling.status if ruling else None,
        case.closed,
        case.first_us,
        case.last_us,
        case.version,
        case.position,
        case.touches,
        case.kept,
        len(ruling.findings) if ruling else 0,
        case.text.decode() if case.text else None,
    )


def settlements(case: RoundState) -> Iterator[tuple[Any, ...]]:
    """A round's rows of `SETTLEMENTS`."""
    for nth, s in enumerate(case.ruling.settlements if case.ruling else ()):
        spot = (s.position, s.hand, s.wager, s.throw)
        yield (*case.round, nth, *spot, s.stake, s.outcome, s.net, s.section, s.paid_from, s.row)


def findings(case: RoundState) -> Iterator[tuple[tuple[Any, ...], str]]:
    """A round's rows of `FINDINGS`, without their states, each with what it is of."""
    for nth, f in enumerate(case.ruling.findings if case.ruling else ()):
        what = (f.code, f.position, f.wager, f.expected, f.recorded, f.section, f.says)
        cells = (*case.round, nth, *what, f.hand, f.throw, money_off(f), case.last_us)
        yield cells, ref_in_round(case.round[1:], f.code, f.position, f.hand, f.wager, f.throw)


def money_off(found: Finding) -> int | None:
    """The cents between record and rules of a finding; None if it is not about money."""
    if isinstance(found.recorded, int) and isinstance(found.expected, int):
        return abs(found.recorded - found.expected)
    return None


def money(case: RoundState, made: Corrections, odds: OddsInForce) -> Iterator[tuple[Any, ...]]:
    """A round's row of `MONEY`, with the corrections of its facts."""
    ruling = case.ruling
    if ruling is None:
        return
    corrected_facts = corrected(case.facts, made) if ruling.before else case.facts
    now = round_money(corrected_facts, ruling, odds, case.gaps)
    before = round_money(case.facts, ruling.before, odds, case.gaps) if ruling.before else None
    details = None if now.is_plain and before is None else now
    yield (
        *case.round,
        ruling.game,
        now.poker,
        *(getattr(now, name) for name in SUMS),
        now.mean,
        now.variance,
        ",".join(now.lacks) or None,
        _json(details),
        _json(before),
        _json(now.rake_facts),
    )


def lines(case: RoundState, made: Corrections) -> CountedRound | None:
    """A closed round's lines, as they are counted; None if it has no ruling yet."""
    ruling = case.ruling
    if ruling is None or not case.closed:
        return None
    facts = corrected(case.facts, made) if ruling.before else case.facts
    return CountedRound(case.round, ruling.game or "", lines_of(ruling, facts))


def _json(of: RoundMoney | list[FactRef] | None) -> str | None:
    return msgspec.json.encode(of).decode() if of else None
