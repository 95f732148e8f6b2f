"""The money of one round: what moved, what its ruling owes, and where the two differ."""

from __future__ import annotations

import builtins
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, structs

from ledger.edges.spread import RoundSpread
from ledger.facts import (
    DecisionMade,
    FeePaid,
    PotAwarded,
    RakeTaken,
    RoundCompleted,
    RoundVoided,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
from ledger.finance.exceptions import negative_amounts, numbers_given_twice
from ledger.finance.placing import by_time
from ledger.finance.statistics.expected import ValidThrows, expected_of
from ledger.finance.win import AuditException, Cause, Item
from ledger.games import games
from ledger.rules.engine.money_moved import Moved, by_spot, lost_by, moved
from ledger.rules.engine.odds import parse_odds
from ledger.rules.engine.order import in_order
from ledger.rules.engine.ruling import FactRef, joined, refs
from ledger.rules.engine.steps import POT, POT_DECISIONS
from ledger.rules.wagers.meter_payments import MeterPayment, paid_from_meters
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.finance.exceptions import DayKey
    from ledger.finance.statistics.expected import OddsInForce
    from ledger.record.wire import Fact
    from ledger.rules.engine.money_moved import Spot, Stake
    from ledger.rules.engine.order import Gap
    from ledger.rules.engine.ruling import Finding, Ruling, Settlement

UNRECORDED = "unrecorded"
"""The code of an item that no finding explains."""

_MONEY = frozenset(
    (
        "overpaid",
        "underpaid",
        "not_collected",
        "wrongly_collected",
        "wrong_position_paid",
        "wrong_payer",
    )
)
"""Codes of findings that explain a difference between moved and owed."""


MONEY_OF_ROUNDS = (
    DecisionMade,
    FeePaid,
    PotAwarded,
    RakeTaken,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
"""Facts of a round that move money."""


class RoundMoney(Struct, frozen=True, kw_only=True):
    """The money of a round, cents, from the table's side. owed: None for poker."""

    poker: bool
    moved: int
    tray: int  # what the tray gained: moved, but at poker without the rake
    owed: int | None
    cage_paid: int
    handle: int
    rake: int
    funded: int  # winnings that were paid for the faces of coupons
    awaits: bool  # closed, and not every wager can be settled
    items: list[Item]
    exceptions: list[AuditException] = []
    causes: list[Cause] = []  # of the tray: patrons' own chips that went otherwise than due
    placed: list[list[FactRef]] = []  # of each cause that names no fact: those of its stake
    bets: list[Cause] = []  # poker: bets given back otherwise than due, as above
    meters: list[MeterPayment] = []  # what its wins took of progressive meters
    mean: str | None = None  # of what is owed, an exact fraction; None: poker, or it lacks a wager
    variance: str | None = None  # as above
    lacks: list[str] = []  # wagers without a mean or a variance
    beside_gaps: list[FactRef] = []  # those on either side of gaps in a device's numbers
    beside_rake: list[FactRef] = []  # poker: those that moved chips of the tray
    rake_facts: list[FactRef] = []  # those that took rake

    @property
    def is_plain(self) -> bool:
        """Whether its sums say all of it."""
        beside = (self.beside_gaps, self.beside_rake)
        details = (self.items, self.exceptions, self.causes, self.bets, self.meters, *beside)
        return not (any(details) or self.awaits)


class TrayMove(NamedTuple):
    """Chips that a fact of a round moved into or out of the tray. Sorts by time."""

    time_us: int
    source: str
    id: str
    property: str
    round: str  # "CC-07/2026-11-20/231"
    cents: int  # what the tray gained

    @builtins.property  # `property` is a field here
    def day(self) -> DayKey:
        """Property, gaming day and table of the round."""
        table, day, _ = self.round.split("/")
        return self.property, day, table

    @builtins.property
    def ref(self) -> FactRef:
        """The fact."""
        return FactRef(self.source, self.id)


def tray_moves(facts: Iterable[Fact]) -> Iterator[TrayMove]:
    """The chips that facts of rounds moved into or out of trays; those of pots are patrons'."""
    for fact in facts:
        body = fact.body
        match body:
            case WagerCollected() | FeePaid():
                cents = body.amount
            case WagerPaid(paid_from="table"):
                cents = -body.amount
            case _:
                continue
        if fact.round and getattr(body, "wager", None) != POT:
            yield TrayMove(*by_time(fact), fact.round.property, fact.round.subject, cents)


def round_money(
    facts: Iterable[Fact], ruling: Ruling, odds: OddsInForce, gaps: Iterable[Gap] = ()
) -> RoundMoney:
    """The money of a round from its facts and their ruling, both with corrections or both without.

    `ruling` may hold the ruling before corrections; it is not read. `odds`: what the expected win
    rests on. `gaps`: those in devices' numbers that lie beside a fact of the round.
    """
    told = in_order(facts)
    poker = is_poker(ruling.game)
    # The chips of a pot are the patrons' own: the table neither wins nor pays them.
    owed = by_spot([each for each in ruling.settlements if each.wager != POT])
    throws = ValidThrows(told)
    of_all = moved(told, owed, lambda fact: throws.before[id(fact)])
    chips = {spot: each for spot, each in of_all.items() if spot[2] != POT}
    tray = sum(map(_gained, chips.values()))
    took_rake = [fact for fact in told if isinstance(fact.body, RakeTaken)]
    rake = sum(fact.body.amount for fact in took_rake if isinstance(fact.body, RakeTaken))
    of_money = [fact for fact in told if isinstance(fact.body, MONEY_OF_ROUNDS)]
    closed = any(isinstance(fact.body, RoundCompleted | RoundVoided) for fact in told)
    expected = RoundSpread(None) if poker else expected_of(ruling, told, odds)
    beside = _sides(gaps)
    causes = list(_causes(ruling, poker=poker))
    bets = [each for each in causes if poker and each[1][2] != POT]
    causes = [each for each in causes if each not in bets]
    return RoundMoney(
        poker=poker,
        moved=rake if poker else tray,
        tray=tray,
        owed=None if poker else sum(map(_owed, owed.values())),
        cage_paid=sum(each.from_cage for each in chips.values()),
        handle=_handle(told),
        rake=rake,
        funded=_funded(told, owed, of_all),
        awaits=closed and ruling.status == "awaiting",
        items=[] if poker else _items(_RoundFacts(ruling, told, beside), owed, chips),
        exceptions=[*numbers_given_twice(of_money), *negative_amounts(of_money)],
        causes=[cause for cause, _ in causes],
        placed=[[] if cause.facts else refs(_placed(told, spot)) for cause, spot in causes],
        bets=[
            structs.replace(cause, facts=cause.facts or refs(_placed(told, spot)))
            for cause, spot in bets
        ],
        meters=paid_from_meters(told, ruling.settlements),
        mean=str(expected.spread.mean) if expected.spread else None,
        variance=str(expected.spread.variance) if expected.spread else None,
        lacks=list(expected.lacks),
        beside_gaps=beside,
        beside_rake=_moved_by(chips.values()) if poker and tray else [],
        rake_facts=refs(took_rake),
    )


def _causes(ruling: Ruling, *, poker: bool) -> Iterator[tuple[Cause, Spot]]:
    """Stakes and pots that went otherwise than due. They are patrons' chips, so no win has them.

    The tray gains what a patron lacks, and lacks what a patron got too much. A bet of poker that
    nobody met and that was not given back may have been pushed with the pot: then the two sum to 0.
    """
    for finding, (short, over) in zip(ruling.findings, lost_by(ruling.findings), strict=True):
        is_stake = finding.code in ("not_returned", "over_returned")
        if short != over and (is_stake or finding.wager == POT):
            cause = Cause(
                gap="bank" if poker else "count",
                code=finding.code,
                amount=short - over,
                round=ruling.round,
                says=finding.says,
                facts=list(finding.facts),
            )
            yield cause, (finding.position or 0, finding.hand or 0, finding.wager or "", None)


def _moved_by(chips: Iterable[Moved]) -> list[FactRef]:
    """The facts that moved chips, in order of time."""
    return refs(sorted((fact for its in chips for fact in its.facts), key=by_time))


def _sides(gaps: Iterable[Gap]) -> list[FactRef]:
    """The facts on either side of gaps, by device and number."""
    facts = {(f.source, f.boot or "", f.sequence or 0, f.id): f for g in gaps for f in g[:2]}
    return refs([facts[key] for key in sorted(facts)])


def is_poker(name: str | None) -> bool:
    """Whether the patrons of a game play against one another, for pots."""
    game = games().get(name or "")
    return bool(game and game.pots)


def _gained(chips: Moved) -> int:
    """What the table gained by the chips that moved."""
    return chips.collected - (chips.paid - chips.from_cage)


def _owed(settlement: Settlement) -> int:
    """What the table gains by a settlement; nothing by one that the cage pays."""
    return -settlement.net if settlement.paid_from == "table" else 0


def _handle(told: Iterable[Fact]) -> int:
    """Chips put at risk: placed less withdrawn, and at poker what decisions add to the pot."""
    total = 0
    for fact in told:
        body = fact.body
        if isinstance(body, WagerPlaced):
            total += body.amount
        elif isinstance(body, WagerWithdrawn):
            total -= body.amount
        elif isinstance(body, DecisionMade) and body.decision in POT_DECISIONS:
            total += body.amount or 0
    return total


def _funded(told: Iterable[Fact], owed: dict[Spot, Settlement], chips: Mapping[Spot, Moved]) -> int:
    """Winnings paid for coupons' faces: the part of each win that its chips alone did not earn.

    What was not paid is no part of it, nor what was paid beyond the win.
    """
    faces: dict[Stake, dict[str, int]] = {}
    for fact in told:
        body = fact.body
        if isinstance(body, WagerPlaced) and body.coupon:
            stake = (body.position, body.hand, body.wager)
            faces.setdefault(stake, {})[body.coupon.serial] = body.coupon.face
    total = 0
    for spot, settlement in owed.items():
        its = faces.get(spot[:3])
        if its and settlement.outcome == "win":
            alone = _chips_alone(settlement, sum(its.values()))
            paid = chips[spot].paid if spot in chips else 0
            total += max(0, min(settlement.net, paid) - alone)
    return total


def _chips_alone(settlement: Settlement, face: int) -> int:
    """What a win would have paid without coupons, down to the cent.

    The printed odds say it. Two rows that pay one wager are taken to pay the face at their odds.
    """
    if settlement.odds and not settlement.rows:
        return int(parse_odds(settlement.odds) * settlement.stake)
    exact = Fraction(settlement.exact_net)
    return int(exact * settlement.stake / (settlement.stake + face))


class _Difference(NamedTuple):
    """A wager whose chips moved otherwise than owed. Cents from the table's side."""

    spot: Spot
    gained: int
    due: int
    settlement: Settlement | None
    chips: Moved


class _RoundFacts(NamedTuple):
    """What the items of a round rest on: its ruling, its facts, and those beside gaps."""

    ruling: Ruling
    told: Sequence[Fact]
    beside: Sequence[FactRef]


def _items(of: _RoundFacts, owed: dict[Spot, Settlement], chips: dict[Spot, Moved]) -> list[Item]:
    """The wagers whose chips moved otherwise than owed, by position, hand, wager and throw."""
    found = []
    for spot in sorted(owed.keys() | chips.keys(), key=_in_order):
        settlement, its = owed.get(spot), chips.get(spot, Moved())
        gained, due = _gained(its), _owed(settlement) if settlement else 0
        if gained != due:
            found.append(_item(of, _Difference(spot, gained, due, settlement, its)))
    return found


def _in_order(spot: Spot) -> tuple[int, int, str, int]:
    position, hand, wager, throw = spot
    return position, hand, wager, throw or 0


def _item(among: _RoundFacts, of: _Difference) -> Item:
    """The item of a difference: with the finding's words if there is one."""
    ruling = among.ruling
    position, hand, wager, throw = of.spot
    finding = next((f for f in ruling.findings if f.code in _MONEY and _is_of(f, of.spot)), None)
    section = (finding and finding.section) or (of.settlement and of.settlement.section)
    return Item(
        gap="pay",
        code=finding.code if finding else UNRECORDED,
        amount=of.gained - of.due,
        round=ruling.round,
        position=position,
        hand=hand,
        wager=wager,
        throw=throw,
        section=section or None,
        says=finding.says if finding else _says(ruling, of),
        facts=_named(among, of, finding),
    )


def _named(among: _RoundFacts, of: _Difference, finding: Finding | None) -> list[FactRef]:
    """The facts of an item: those of its finding, or that moved its chips, or placed its wager.

    Without a finding a device may have lost a fact: then those beside its gaps are named, too.
    """
    if finding and finding.facts:
        return finding.facts
    own = refs(of.chips.facts or _placed(among.told, of.spot))
    return own if finding else joined(own, among.beside)


def _placed(told: Sequence[Fact], spot: Spot) -> Sequence[Fact]:
    """The facts that placed a wager; else those of its position, else the round's last one."""
    position, _, wager, _ = spot
    its = [fact for fact in told if getattr(fact.body, "position", None) == position]
    laid = [f for f in its if isinstance(f.body, WagerPlaced) and f.body.wager == wager]
    return laid or its or told[-1:]


def _is_of(finding: Finding, spot: Spot) -> bool:
    """Whether a finding is about a wager; one of a wrong position is about both positions."""
    position, hand, wager, throw = spot
    if (finding.hand, finding.wager, finding.throw) != (hand, wager, throw):
        return False
    swapped = finding.code == "wrong_position_paid" and finding.expected == f"position {position}"
    return finding.position == position or swapped


def _says(ruling: Ruling, of: _Difference) -> str:
    """A difference without a finding, in words."""
    position, _, wager, _ = of.spot
    game = games().get(ruling.game or "")
    known = game.wager(wager) if game else None
    rule = f"by {of.settlement.section}" if of.settlement else "without a ruling"
    return (
        f"Position {position} on {known.name if known else wager}: {rule} the table "
        f"{_wins(of.due)}; by the chips on record it {_wins(of.gained)}."
    )


def _wins(amount: int) -> str:
    if not amount:
        return "wins nothing"
    return f"wins {dollars(amount)}" if amount > 0 else f"loses {dollars(-amount)}"
