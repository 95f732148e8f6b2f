"""The lines of a round that a dealer settles, and the errors of a dealer among them.

A line is what one wager is owed and paid: position, hand, wager, throw. It is an error if a finding
of money or procedure is of it that a dealer makes. It is one error however many findings it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ledger.facts import (
    CardBurned,
    CardsDealt,
    CardsTurned,
    DecisionsLockedCalled,
    DiscardsReshuffled,
    FeePaid,
    HandDiscarded,
    HandSet,
    HoleCardChecked,
    MarkerPlaced,
    NoMoreBetsCalled,
    PotAwarded,
    RakeTaken,
    RoundCompleted,
    RoundVoided,
    StartingPositionDetermined,
    WagerCollected,
    WagerPaid,
    WagerReturned,
)
from ledger.rules.engine.money_moved import lost_by
from ledger.rules.engine.steps import POT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Finding, Ruling

MONEY = {
    "overpaid": "The dealer paid it.",
    "underpaid": "The dealer paid it.",
    "not_collected": "The dealer left it.",
    "wrongly_collected": "The dealer took it.",
    "not_returned": "The dealer kept it.",
    "over_returned": "The dealer gave it back.",
    "wrong_position_paid": "The dealer paid it.",
    "wrong_payer": "The dealer paid it from the table, or sent the patron to the cage.",
}
"""Codes of money that are a dealer's, each with its reason."""

PROCEDURE = {
    "out_of_turn": "If the step is the dealer's: cards, calls, payments. A player's turn is not.",
    "step_missing": "The dealer leads the game. A wager that is not on record is the patron's.",
    "misdeal": "The dealer deals.",
    "hand_misset": "If it is the dealer's hand. A player's hand is the player's.",
    "coupon_not_dropped": "The dealer puts a coupon into the drop box.",
}
"""Codes of procedure that are a dealer's, each with its reason."""

NOT_A_DEALERS = {
    "order_uncertain": "The clocks cannot tell.",
    "fact_missing": "A device lost a fact.",
    "clock_skewed": "A device's clock was off.",
    "duplicate_card": "The deck or the shoe.",
    "impossible_card": "The deck or the shoe.",
    "card_mismatch": "The shoe read it wrongly.",
    "decision_not_permitted": "A player decides.",
    "wager_not_permitted": "A patron wagers.",
    "late_wager": "A patron wagers.",
    "wrongly_voided": "A floorperson voids a round.",
    "should_have_been_void": "A floorperson lets a round go on. The misdeal itself counts.",
    "meter_wrong": "A meter is a device.",
    "rules_submission_missing": "The office files it.",
    "rules_submission_invalid": "The office files it.",
    "stub_count_overdue": "The floor keeps the cards; it is of no round.",
    "deck_change_overdue": "The floor keeps the cards; it is of no round.",
    "batch_not_alternated": "The floor keeps the cards; it is of no round.",
    "cut_too_shallow": "A player may cut; it is of no round.",
    "inspection_missing": "The floor inspects; it is of no round.",
    "device_not_covered": "The floor covers a device; it is of no round.",
    "dice_change_overdue": "The floor keeps the dice; it is of no round.",
    "dice_not_inspected": "The floor inspects; it is of no round.",
    "dealers_short": "The floor sends dealers.",
    "supervision_exceeded": "The floor supervises.",
    "cameras_short": "Surveillance covers tables.",
}
"""Codes that are nobody's or somebody else's, each with its reason."""

DEVICES = frozenset(("fact_missing", "clock_skewed"))
"""A round with one of these is not judged: what is missing or late may be the device's."""

_DEALERS = (
    CardBurned, CardsDealt, CardsTurned, DecisionsLockedCalled, DiscardsReshuffled, HandDiscarded,
    HoleCardChecked, MarkerPlaced, NoMoreBetsCalled, PotAwarded, RakeTaken,
    StartingPositionDetermined, WagerCollected, WagerPaid, WagerReturned,
)  # fmt: skip
"""Facts that a dealer makes."""

Spot = tuple[int, int, str, int | None]
"""Position, hand, wager and throw of a line."""


class LineError(Struct, frozen=True, array_like=True):
    """A finding of a dealer on a line: cents that patrons lost by it, and that the house lost."""

    code: str
    short: int = 0
    over: int = 0


class SettledLine(Struct, frozen=True, array_like=True):
    """One line: when its money moved, and its errors."""

    position: int
    hand: int
    wager: str
    throw: int | None
    time_us: int
    errors: tuple[LineError, ...] = ()


class RoundLines(NamedTuple):
    """The lines of a closed round.

    is_judged: False if a device lost a fact of it, or its clock was off.
    """

    is_judged: bool
    lines: Sequence[SettledLine]


def lines_of(ruling: Ruling, facts: Sequence[Fact]) -> RoundLines:
    """The lines of a round from its newest ruling and the facts that it rests on.

    Its facts must hold `round_completed` or `round_voided`.
    """
    times, end_us = _times(facts)
    found: dict[Spot, list[LineError]] = {
        (each.position, each.hand, each.wager, each.throw): [] for each in ruling.settlements
    }
    moved: dict[Spot, int] = {}
    told = {(fact.source, fact.id): fact for fact in facts}
    for finding, error in _errors(ruling, told):
        spot = _spot(finding, found)
        if spot is None:
            continue
        found.setdefault(spot, []).append(error)
        if finding.code in PROCEDURE and finding.facts:
            fact = told.get((finding.facts[0].source, finding.facts[0].id))
            if fact is not None:
                moved[spot] = fact.time_us
    lines = [
        SettledLine(*spot, moved.get(spot, _time(times, spot, end_us)), tuple(errors))
        for spot, errors in found.items()
    ]
    return RoundLines(all(each.code not in DEVICES for each in ruling.findings), lines)


def _errors(
    ruling: Ruling, told: Mapping[tuple[str, str], Fact]
) -> Iterator[tuple[Finding, LineError]]:
    """The findings that are a dealer's, with the dollars of each.

    What follows from a round that was played on though a section voids it is one error, the
    misdeal's: it has the dollars of all.
    """
    void = any(each.code == "should_have_been_void" for each in ruling.findings)
    dollars = list(lost_by(ruling.findings))
    procedure = [each for each in ruling.findings if _is_of_procedure(each, told)]
    if void:
        if procedure:
            short, over = (sum(each[side] for each in dollars) for side in (0, 1))
            yield procedure[0], LineError(procedure[0].code, short, over)
        return
    for finding, (short, over) in zip(ruling.findings, dollars, strict=True):
        if finding.code in MONEY or finding in procedure:
            yield finding, LineError(finding.code, short, over)


def _is_of_procedure(finding: Finding, told: Mapping[tuple[str, str], Fact]) -> bool:
    """Whether a finding is of a step that a dealer makes."""
    if finding.code not in PROCEDURE:
        return False
    if finding.code == "hand_misset":
        return finding.position is None
    if finding.code == "step_missing":
        return finding.expected != "wager_placed"
    if finding.code == "out_of_turn":
        refs = ((ref.source, ref.id) for ref in finding.facts)
        body = next((told[ref].body for ref in refs if ref in told), None)
        return body.to == "dealer" if isinstance(body, HandSet) else isinstance(body, _DEALERS)
    return True


def _spot(finding: Finding, known: Mapping[Spot, object]) -> Spot | None:
    """The line that a finding is of; None if the round has no line.

    One without a wager is of the first line of its position, or of the round. Money that moved
    where no wager was is a line of its own.
    """
    if finding.position is not None and finding.wager is not None:
        return (finding.position, finding.hand or 1, finding.wager, finding.throw)
    of_position = (spot for spot in known if spot[0] == finding.position)
    return next(of_position, next(iter(known), None))


def _times(facts: Sequence[Fact]) -> tuple[dict[Spot, int], int]:
    """The last time that money moved on each line, and the end of the round."""
    times: dict[Spot, int] = {}
    end_us = 0
    for fact in facts:
        body, spot = fact.body, None
        if isinstance(body, WagerPaid | WagerCollected | WagerReturned):
            spot = (body.position, body.hand, body.wager, body.throw)
        elif isinstance(body, PotAwarded):
            spot = (body.position, 1, POT, None)
        elif isinstance(body, FeePaid):
            spot = (body.position, 1, body.fee, None)
        elif isinstance(body, RoundCompleted | RoundVoided):
            end_us = max(end_us, fact.time_us)
        if spot is not None:
            times[spot] = max(times.get(spot, fact.time_us), fact.time_us)
    return times, end_us


def _time(times: Mapping[Spot, int], spot: Spot, end_us: int) -> int:
    """When a line was settled: its last payment, else the end of the round."""
    return times.get(spot, times.get((*spot[:3], None), end_us))
