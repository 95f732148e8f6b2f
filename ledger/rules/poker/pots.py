"""The pots: side pots, rake, shares, ties and odd chips (637a.19-21(k)-(l)).

Pots follow from what each player put in. A chip that cannot be divided goes as the section says. An
excess of more than a dollar may not go to one player, so it goes round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec.structs import replace

from ledger.facts import PotAwarded, RakeTaken
from ledger.rules.engine.steps import POT, Step, said

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ledger.rules.poker.betting import PokerBetting

ODD_CHIP = "odd_chip"
DOLLAR = 100  # cents


class PotShare(NamedTuple):
    """A half of the pots, or the whole, and the hand that wins it."""

    name: Literal["high", "low", "badugi"]
    # A player's hand, greater = better; None: a card is not known.
    hand: Callable[[PokerBetting, int], Any]
    section: str | Callable[[Any], str]  # its paragraph, or that of the winning hand
    tied: str  # the paragraph that divides it
    # Whether the best hand is in contention.
    wins: Callable[[PokerBetting, Any], bool] | None = None
    # Claim to an odd chip by suit: the least has it.
    claim: Callable[[PokerBetting, int], Any] | None = None
    says: Callable[[Any], str] | None = None  # the hand in words
    alone: str | None = None  # the paragraph that gives it the whole if no other share is won
    reading: str | None = None  # the reading that `wins` needs if `unclear`
    unclear: Callable[[Any], bool] | None = None


class Pot(NamedTuple):
    """A pot's cents, and the players who can win it, from the left of the button."""

    cents: int
    players: list[int]


class Won(NamedTuple):
    """A player's award, and its reason."""

    cents: int
    section: str
    row: str | None = None
    reading: str | None = None


def pots_of(
    put_in: dict[int, int], contending: Sequence[int], all_in: Collection[int]
) -> list[Pot]:
    """The main pot and the side pots of players who had not folded when betting ended.

    Only a player who is all in is kept out of what others put in beyond him. An Ante that one
    player posts, as the Rules Submission may have it (b), is therefore in the main pot. Chips that
    folded players put in beyond all of those stay in the last pot.
    """
    most = max(put_in.values())
    reach = {seat: put_in[seat] if seat in all_in else most for seat in contending}
    levels = sorted(set(reach.values()))
    found, below = [], 0
    for level in levels:
        top = level if level != levels[-1] else most
        cents = sum(min(cents, top) - min(cents, below) for cents in put_in.values())
        found.append(Pot(cents, [seat for seat in contending if reach[seat] >= level]))
        below = level
    return [pot for pot in found if pot.cents]


class Contest(NamedTuple):
    """One pot and the hands that contend for it."""

    ring: PokerBetting
    shares: Sequence[PotShare]
    hands: Sequence[dict[int, Any]]  # hands by share and player
    pot: Pot
    number: int

    def best(self, share: int) -> Any:  # noqa: ANN401 - a hand of one of the kinds there are
        """The best hand of a share."""
        return max(self.hands[share][seat] for seat in self.pot.players)


def settle(ring: PokerBetting, shares: Sequence[PotShare], contending: Sequence[int]) -> None:
    """Award every pot, and settle each player. Nothing is awarded if an unknown card decides.

    `contending` had not folded when betting ended. A player who mucked later is not in `ring.live`.
    """
    pots = [
        _raked(ring, *each) for each in enumerate(pots_of(ring.put_in, contending, ring.all_in))
    ]
    one = None if ring.contested else ring.live[0]
    showing = ring.live if ring.contested else []
    hands = [{seat: share.hand(ring, seat) for seat in showing} for share in shares]
    open_ = ring.lost or _differ(ring, pots) or any(None in of.values() for of in hands)
    if ring.t.source.may_be_lost and (open_ or ring.unsure):
        _forget_turns(ring)
    if open_:
        _leave_open(ring)
        return
    won: dict[int, Won] = {}
    for number, pot in enumerate(pots):
        if one is not None:
            _award(ring, won, one, Won(pot.cents, ring.ended), number)
            continue
        able = [seat for seat in pot.players if seat in ring.live] or ring.live
        _settle_pot(Contest(ring, shares, hands, Pot(pot.cents, able), number), won)
    for seat in ring.seats:
        of = won.get(seat, Won(0, ring.folded.get(seat, ring.cites.showdown)))
        ring.t.share_of_pots(
            seat, ring.put_in[seat], of.cents, of.section, row=of.row, reading=of.reading
        )


def _differ(ring: PokerBetting, pots: Sequence[Pot]) -> bool:
    """Whether facts were lost and the rest shows that chips or decisions are among them.

    The awards then differ from what was put in, or play has no place for a decision.
    """
    source = ring.t.source
    if not source.may_be_lost:
        return False
    awarded = [said(fact, PotAwarded).amount for fact in source.untaken("pot_awarded")]
    unlike = bool(awarded) and sum(awarded) != sum(pot.cents for pot in pots)
    return unlike or bool(source.untaken("decision_made"))


def _forget_turns(ring: PokerBetting) -> None:
    """Forget which decision answered which step: one of them was lost."""
    ring.t.forget(lambda step: step.fact in ("decision_made", "cards_dealt"))


def _leave_open(ring: PokerBetting) -> None:
    """Leave the pots open: a fact that decides them is not on record."""
    last = ring.lost or Step("hand_shown", ring.cites.showdown)
    for seat in ring.seats:
        ring.t.stakes.pop((seat, POT, 1), None)
        ring.t.unsettled.append(replace(last, position=last.position or seat))
        ring.t.unsettled.append(Step("pot_awarded", ring.cites.showdown, None, seat, what=POT))


def _raked(ring: PokerBetting, number: int, pot: Pot) -> Pot:
    """A pot less its rake."""
    step = Step("rake_taken", ring.cites.showdown, what=str(number))
    cents, fact = pot.cents, ring.t.source.take(step)
    while fact is not None:
        cents -= said(fact, RakeTaken).amount
        fact = ring.t.source.take(step)
    return pot._replace(cents=max(cents, 0))


def _award(
    ring: PokerBetting,
    won: dict[int, Won],
    seat: int,
    of: Won,
    number: int,
    share: str | None = None,
) -> None:
    """Award a part of a pot to a player."""
    before = won.get(seat, of._replace(cents=0))
    reading = before.reading or of.reading
    won[seat] = before._replace(cents=before.cents + of.cents, reading=reading)
    ring.t.award(seat, of.cents, of.section, number, share)


def _settle_pot(of: Contest, won: dict[int, Won]) -> None:
    """Divide a pot by shares, the odd chip with the first of them, and then by tied hands."""
    ring, shares = of.ring, of.shares
    wanted, reading = [], None
    for number, share in enumerate(shares):
        best = of.best(number)
        if share.unclear and share.unclear(best):
            reading = share.reading
        if share.wins is None or share.wins(ring, best):
            wanted.append(number)
    first, *others = wanted
    less = _even(ring, of.pot.cents, len(wanted))
    for number in wanted:
        cents = less if others and number != first else of.pot.cents - less * len(others)
        _divide(of, number, cents, won, reading, alone=len(wanted) < len(shares))


def _divide(
    of: Contest, number: int, cents: int, won: dict[int, Won], reading: str | None, *, alone: bool
) -> None:
    """Award a share to its best hand, or in equal parts to tied ones."""
    ring, share, best = of.ring, of.shares[number], of.best(number)
    tied = [seat for seat in of.pot.players if of.hands[number][seat] == best]
    won_by = share.section if isinstance(share.section, str) else share.section(best)
    section = share.tied if len(tied) > 1 else won_by
    even = _even(ring, cents, len(tied))
    over = cents - even * len(tied)
    if over and share.claim and ring.t.rules.readings[ODD_CHIP] == "by_suit":
        claim = share.claim
        tied.sort(key=lambda seat: claim(ring, seat))
    odd = _handed_out(over, tied, ring.t.rules.breakage_unit)
    if over and len(tied) > 1:
        reading = ODD_CHIP
    name = share.name if cents != of.pot.cents else None
    for seat in tied:
        why = share.alone if alone and share.alone and len(tied) == 1 else section
        row = share.says(best) if share.says else None
        part = Won(even + odd.get(seat, 0), why, row, reading)
        _award(ring, won, seat, part, of.number, name)


def _even(ring: PokerBetting, cents: int, ways: int) -> int:
    """An equal part in whole chips."""
    unit = ring.t.rules.breakage_unit
    return cents // ways // unit * unit


def _handed_out(over: int, tied: Sequence[int], unit: int) -> dict[int, int]:
    """The excess by player, the best claim first: at most a dollar, or one chip, for each."""
    lump = max(unit, DOLLAR // unit * unit)
    odd: dict[int, int] = {}
    for seat in tied:
        odd[seat] = min(lump, over)
        over -= odd[seat]
    odd[tied[0]] += over
    return odd
