"""Payments compared with settlements, wager by wager, in cents.

Only for a closed round: until then chips are still moving.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from ledger.facts import FeePaid, PotAwarded, WagerCollected, WagerPaid, WagerReturned
from ledger.rules.engine.ruling import Finding, Settlement, refs
from ledger.rules.engine.steps import POT
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ledger.record.wire import Fact

Spot = tuple[int, int, str, int | None]
"""Position, hand, wager, throw."""
Stake = tuple[int | None, int, str | None]
"""Position, hand and wager, of any throw."""

_MOVES: dict[type, str] = {
    WagerPaid: "paid",
    WagerCollected: "collected",
    WagerReturned: "returned",
    FeePaid: "collected",
    PotAwarded: "awarded",
}
"""Facts that move chips, and the field of `Moved` they add to."""
_PAYMENTS = frozenset((WagerPaid, WagerCollected, WagerReturned))


class Moved(Struct):
    """The chips that moved for one settlement, cents, and their facts."""

    paid: int = 0
    collected: int = 0
    returned: int = 0
    awarded: int = 0  # out of the pots
    from_cage: int = 0  # the part of `paid` that the cage paid
    facts: list[Fact] = field(default_factory=list)

    @property
    def payers(self) -> tuple[str, ...]:
        """Who paid a part of it: table, cage, or both."""
        parts = {"table": self.paid - self.from_cage, "cage": self.from_cage}
        return tuple(payer for payer, cents in parts.items() if cents)

    def add(self, way: str, fact: Fact, body: Any) -> None:  # noqa: ANN401 - a fact of _MOVES
        """Add the chips of a fact to the field of this name."""
        setattr(self, way, getattr(self, way) + body.amount)
        if way == "paid" and body.paid_from == "cage":
            self.from_cage += body.amount
        self.facts.append(fact)


def compare(
    settlements: Sequence[Settlement],
    facts: Sequence[Fact],
    throw_of: Callable[[Fact], int],
    names: Callable[[str], str],
    lost: int,
    unplayed: Mapping[Stake, int],
) -> list[Finding]:
    """Findings about payments. Each of `lost` facts excuses one absent payment.

    `throw_of` gives the throw of a payment that names none. `names` gives a wager's printed name.
    `unplayed` gives cents of wagers that never came into play. They may go back.
    """
    owed = by_spot(settlements)
    chips_of = moved(facts, owed, throw_of)
    found: list[Finding] = []
    for spot, settlement in owed.items():
        chips = chips_of.pop(spot, None)
        if chips is None and lost > 0 and (settlement.net or settlement.outcome != "win"):
            lost -= 1
            continue
        if chips is not None and _as_owed(settlement, chips):  # nearly always
            continue
        of_this = _of_settlement(settlement, chips or Moved(), names(settlement.wager))
        if lost > 0 and _half_lost(of_this):
            lost -= 1
            continue
        found += of_this
    for (position, hand, wager, throw), chips in chips_of.items():
        if lost > 0:
            lost -= 1
            continue
        none = Settlement(
            position=position,
            hand=hand,
            wager=wager,
            throw=throw,
            stake=min(unplayed.get((position, hand, wager), 0), chips.returned),
            outcome="push",
            net=0,
            exact_net="0",
            section="",
        )
        found += _of_settlement(none, chips, names(wager))
    return _swapped(found)


def _half_lost(found: Sequence[Finding]) -> bool:
    """Whether one half of a surrender is absent: one fact collects, another one returns."""
    codes = [each.code for each in found if each.recorded == 0]
    return len(found) == 1 and codes in (["not_collected"], ["not_returned"])


def by_spot(settlements: Sequence[Settlement]) -> dict[Spot, Settlement]:
    """The settlement of each wager. A fee due twice is one sum."""
    owed: dict[Spot, Settlement] = {}
    for each in settlements:
        spot = (each.position, each.hand, each.wager, each.throw)
        if spot in owed:
            was = owed[spot]
            owed[spot] = replace(each, stake=was.stake + each.stake, net=was.net + each.net)
        else:
            owed[spot] = each
    return owed


def moved(
    facts: Sequence[Fact], owed: Mapping[Spot, Settlement], throw_of: Callable[[Fact], int]
) -> dict[Spot, Moved]:
    """Chips by settlement. A payment without one stands under its own position and wager."""
    found: dict[Spot, Moved] = {}
    throws = _throws_of(facts, owed, throw_of)
    for fact in facts:
        body: Any = fact.body
        kind = body.__class__
        way = _MOVES.get(kind)
        if way is None:
            continue
        spot = _spot_of(body)
        if spot not in owed:
            spot = _spot_beside(body, spot, owed)
        if spot not in owed and kind in _PAYMENTS:
            spot = (body.position, body.hand, body.wager, throws.get(id(fact), body.throw))
        chips = found.get(spot)
        if chips is None:
            chips = found[spot] = Moved()
        chips.add(way, fact, body)
    return found


def _throws_of(
    facts: Sequence[Fact], owed: Mapping[Spot, Settlement], throw_of: Callable[[Fact], int]
) -> dict[int, int]:
    """The throws of payments, by the payments' identity."""
    by_throw = {wager for _, _, wager, throw in owed if throw}
    told: dict[tuple[str, Stake], list[Fact]] = {}
    for fact in facts if by_throw else ():
        body: Any = fact.body
        kind = body.__class__
        if kind in _PAYMENTS and body.wager in by_throw:
            of = (_MOVES[kind], (body.position, body.hand, body.wager))
            told.setdefault(of, []).append(fact)
    found: dict[int, int] = {}
    for (way, stake), payments in told.items():
        due = {
            spot[3]: cents
            for spot, settlement in owed.items()
            if spot[3] and spot[:3] == stake and (cents := _due(settlement, way))
        }
        throws = throws_paid(payments, due, throw_of)
        found.update(zip(map(id, payments), throws, strict=True))
    return found


def own_throw(payment: Fact, throw_of: Callable[[Fact], int]) -> int:
    """The throw that a payment names, otherwise the last one before it."""
    body: Any = payment.body
    return throw_of(payment) if body.throw is None else body.throw


def throws_paid(
    payments: Sequence[Fact], owed: Mapping[int, int], throw_of: Callable[[Fact], int]
) -> list[int]:
    """The throw that each payment of one kind on one wager is for.

    `owed` gives the cents of each throw. A payment that names no throw, beyond what is owed for its
    own, is for the oldest throw for which nothing is on record. So a later throw changes no answer
    about earlier payments.
    """
    throws, left = [own_throw(payment, throw_of) for payment in payments], dict(owed)
    unpaid = {throw: left[throw] for throw in sorted(left.keys() - set(throws))}
    for at, (payment, throw) in enumerate(zip(payments, throws, strict=True)):
        body: Any = payment.body
        if not unpaid or body.throw is not None or left.get(throw, 0) > 0:
            left[throw] = left.get(throw, 0) - body.amount
            continue
        throws[at] = oldest = next(iter(unpaid))
        unpaid[oldest] -= body.amount
        if unpaid[oldest] <= 0:
            del unpaid[oldest]
    return throws


def _due(of: Settlement, way: str) -> int:
    """Cents that a settlement moves this way. A winning stake goes back without a fact."""
    lost = -of.net if of.outcome == "lose" else 0
    back = 0 if of.outcome == "win" else of.stake - lost
    return {"paid": max(of.net, 0), "collected": lost, "returned": back}[way]


def _spot_beside(body: Any, spot: Spot, owed: Mapping[Spot, Settlement]) -> Spot:  # noqa: ANN401 - as `_spot_of`
    """The spot of a payment without a settlement of its own: chips of a void pot go back."""
    of_pot = (body.position, 1, POT, None)
    pot = owed.get(of_pot)
    is_back = pot is not None and pot.outcome == "void" and body.__class__ is WagerReturned
    return of_pot if is_back else spot


def _spot_of(body: Any) -> Spot:  # noqa: ANN401 - one of the facts that move chips
    """The position and wager of a fact that moves chips."""
    kind = body.__class__
    if kind is PotAwarded:
        return body.position, 1, POT, None
    if kind is FeePaid:
        return body.position, 1, body.fee, None
    return body.position, body.hand, body.wager, None


def _as_owed(owed: Settlement, chips: Moved) -> bool:
    """Whether chips moved exactly as a wager's settlement has it, so that nothing is found."""
    if owed.wager == POT:
        return False
    net, went = owed.net, (chips.paid, chips.collected, chips.returned)
    if owed.outcome == "win":
        from_cage = net if owed.paid_from == "cage" else 0
        return net >= 0 and went == (net, 0, 0) and chips.from_cage == from_cage
    if owed.outcome == "lose":
        return net <= 0 and went == (0, -net, owed.stake + net)
    return net == 0 and went == (0, 0, owed.stake)


def _of_settlement(owed: Settlement, chips: Moved, name: str) -> list[Finding]:
    """The findings about one wager."""
    find = partial(_finding, owed, chips)
    differs = _of_pot if owed.wager == POT else _of_wager
    return [find(*each) for each in differs(owed, chips, name)]


_Difference = tuple[str, int | str, int | str, str]
"""Code, expected, recorded, and the sentence about the position."""


def _finding(
    owed: Settlement, chips: Moved, code: str, expected: int | str, recorded: int | str, says: str
) -> Finding:
    return Finding(
        code=code,
        position=owed.position,
        hand=owed.hand,
        wager=owed.wager,
        throw=owed.throw,
        expected=expected,
        recorded=recorded,
        section=owed.section or None,
        says=f"Position {owed.position} {says}; {_why(owed)}.",
        facts=refs(chips.facts),
    )


def _of_pot(owed: Settlement, chips: Moved, name: str) -> Iterator[_Difference]:
    """Differences of a pot. Its chips are awarded; those of a void round go back."""
    due, void = owed.stake + owed.net, owed.outcome == "void"
    got = chips.awarded + chips.paid + (chips.returned if void else 0)
    if got != due:
        code = "overpaid" if got > due else "not_returned" if void else "underpaid"
        yield code, due, got, f"was pushed {dollars(got)}"
    if chips.collected:
        lost = f"lost {dollars(chips.collected)} on {name} to the dealer"
        yield "wrongly_collected", 0, chips.collected, lost
    if chips.returned and not void:
        yield "over_returned", 0, chips.returned, f"got back {dollars(chips.returned)} on {name}"


def _of_wager(owed: Settlement, chips: Moved, name: str) -> Iterator[_Difference]:
    """Differences of a wager: winnings paid, losses collected, the stake given back."""
    winnings = max(owed.net, 0)
    taken = -owed.net if owed.outcome == "lose" else 0
    if chips.paid != winnings:
        code = "overpaid" if chips.paid > winnings else "underpaid"
        yield code, winnings, chips.paid, f"was paid {dollars(chips.paid)} on {name}"
    for payer in chips.payers if winnings else ():
        if payer != owed.paid_from:
            yield "wrong_payer", owed.paid_from, payer, f"was paid on {name} from the {payer}"
    if chips.collected > taken:
        lost = f"lost {dollars(chips.collected)} on {name} to the dealer"
        due = f", but only {dollars(taken)} was due" if taken else ""
        yield "wrongly_collected", taken, chips.collected, lost + due
    elif chips.collected < taken:
        kept = f"lost {dollars(taken)} on {name}; {dollars(chips.collected)} was collected"
        yield "not_collected", taken, chips.collected, kept
    # A winning stake goes back with its winnings, without a fact of its own.
    back = (
        0 if owed.outcome == "win" or chips.paid or chips.collected > taken else owed.stake - taken
    )
    most = owed.stake - taken
    if chips.returned < back:
        says = f"got back {dollars(chips.returned)} of {dollars(back)} on {name}"
        yield "not_returned", back, chips.returned, says
    elif chips.returned > most:
        says = f"got back {dollars(chips.returned)} on {name}, but only {dollars(most)} was due"
        yield "over_returned", most, chips.returned, says


def _why(owed: Settlement) -> str:
    """What the section gives, in words: the end of a finding's sentence."""
    if not owed.section:
        return "no such wager was in play"
    if owed.outcome == "win" and owed.wager != POT:
        row = " and ".join(owed.rows) if owed.rows else f"{owed.row} {owed.odds}"
        return f"{owed.section} pays {row}: {dollars(owed.net)}"
    return f"by {owed.section} {_what(owed)}"


def _what(owed: Settlement) -> str:
    """The outcome of a wager that did not win, or of a share of the pots, in words."""
    if owed.wager == POT:
        return f"{dollars(owed.stake + owed.net)} of the pots is due"
    if owed.outcome == "push":
        return f"{owed.row or 'it'} is a push"
    if owed.outcome == "void":
        return "the wager goes back"
    return "the wager is lost" if -owed.net == owed.stake else "half of it is lost"


def _swapped(found: list[Finding]) -> list[Finding]:
    """Join an overpayment and an equal underpayment of one wager: the wrong position was paid."""
    kept = list(found)
    for over in [finding for finding in found if finding.code == "overpaid"]:
        for under in kept:
            if under.code == "underpaid" and _same_sum(over, under):
                kept.remove(under)
                kept[kept.index(over)] = Finding(
                    code="wrong_position_paid",
                    position=over.position,
                    hand=over.hand,
                    wager=over.wager,
                    throw=over.throw,
                    expected=f"position {under.position}",
                    recorded=f"position {over.position}",
                    section=under.section,
                    says=f"{under.says} The chips went to position {over.position}.",
                    facts=over.facts,
                )
                break
    return kept


def _same_sum(over: Finding, under: Finding) -> bool:
    """Whether one position got nothing and another got exactly the sum it was owed."""
    return (
        over.wager == under.wager
        and (over.throw == under.throw or over.section is None)
        and over.position != under.position
        and under.recorded == 0
        and isinstance(over.recorded, int)
        and isinstance(over.expected, int)
        and over.recorded - over.expected == under.expected
    )


_SHORT = {"underpaid": 1, "not_returned": 1, "wrongly_collected": -1}
_OVER = {"overpaid": -1, "over_returned": -1, "not_collected": 1}
"""Who lost: the patron by the first, the house by the second; the sign of expected - recorded."""


def lost_by(findings: Iterable[Finding]) -> Iterator[tuple[int, int]]:
    """What each finding cost patrons, and what it cost the house, in cents.

    A lost stake that was given back is `not_collected`, and right after it `over_returned`: its
    chips are counted once.
    """
    kept, before = 0, None
    for each in findings:
        short = over = 0
        if isinstance(each.expected, int) and isinstance(each.recorded, int):
            less = each.expected - each.recorded
            short, over = less * _SHORT.get(each.code, 0), less * _OVER.get(each.code, 0)
        spot = (each.position, each.hand, each.wager, each.throw)
        if each.code == "over_returned" and spot == before:
            over = max(0, over - kept)
        kept, before = (over, spot) if each.code == "not_collected" else (0, None)
        yield max(0, short), max(0, over)
