"""What lies on a table after each thing that truly happens there: the shots of its film.

It reads `Witnessed`, never a fact. So film shows a card that a device lost or misread, and the
sum that was paid, whatever the layout reported. Cards are face up only once turned.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from ledger.facts import (
    CardBurned,
    CardsDealt,
    CardsExchanged,
    CardsTurned,
    DecisionMade,
    DiceThrown,
    HandDiscarded,
    HandMucked,
    HandShown,
    MarkerPlaced,
    PotAwarded,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    indexes,
)
from ledger.games import games
from ledger.simulate.cameras import felt
from ledger.simulate.cameras.shot_list import (
    DEALER,
    ChipPile,
    LyingCard,
    LyingDie,
    Puck,
    Reach,
    Shot,
)
from ledger.simulate.device_emitter import SECOND
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.simulate.cameras.felt import FeltPlace
    from ledger.simulate.device_emitter import Witnessed
    from ledger.simulate.plan import TablePlan

Holder = tuple[str, int | None, int]
Spot = tuple[int, str, int]  # position, wager, hand

TAKEN_US = 3 * SECOND
"""How long a patron leaves what he won, or got back, in its place."""

_CROSSED = frozenset(("criss_cross_poker",))
_MARKERS = ("yard", "down", "game_length", "point", "bonus", "off")
_DICE_AT, _DICE_SPREAD = (900, 130), 150
_YARDS, _FEW = 100, 12  # the most that a marker's row shows


class Felt:
    """The things that lie on one table, and where."""

    def __init__(self, table: TablePlan) -> None:
        game = games()[table.game]
        self.seats = table.seats
        self.crossed = table.game in _CROSSED
        self.boxes = game.dice
        self.wagers = {wager.id: number for number, wager in enumerate(game.wagers)}
        self._clear()

    def _clear(self) -> None:
        self.cards: dict[Holder, list[str]] = {}
        self.up: dict[Holder, list[bool]] = {}
        self.stakes: dict[Spot, int] = {}
        self.paid: dict[Spot, int] = {}
        self.taken: dict[Spot, int] = {}  # when a patron takes what lies there
        self.dice: tuple[LyingDie, ...] = ()
        self.pucks: dict[int, Puck] = {}

    # -- places ------------------------------------------------------------------------------

    def spot(self, spot: Spot) -> FeltPlace:
        """The place of a wager."""
        position, wager, hand = spot
        if self.boxes:
            return felt.grid(position, self.wagers.get(wager, 1), len(self.wagers))
        number = self.wagers.get(wager, len(self.wagers) or 1)  # a payout without a wager is last
        return felt.wager(position, number, hand, self.seats)

    def card_at(self, holder: Holder, index: int) -> FeltPlace:
        """The place of a holder's card."""
        to, position, hand = holder
        count = max(len(self.cards.get(holder, ())), 1)
        return felt.card(to, position, hand, index, count, self.seats, crossed=self.crossed)

    # -- what happens ------------------------------------------------------------------------

    def see(self, seen: Witnessed) -> Reach | None:
        """Change what lies there; the hand that did it."""
        match seen.body:
            case RoundStarted():
                self._clear()
            case RoundCompleted() | RoundVoided():
                self.cards.clear()
                return Reach(DEALER, *felt.DEALER_AT)
            case DiceThrown() as thrown:
                return self._throw(thrown, seen.true_us)
            case MarkerPlaced(marker=marker, at=at):
                number = _MARKERS.index(marker)
                most = _YARDS if marker == "yard" else _FEW
                along = min(abs(at), most) if isinstance(at, int) else number
                x, y = felt.puck(number, along, most)
                self.pucks[number] = Puck(number, x, y)
                return Reach(DEALER, x, y)
            case WagerPlaced() | WagerPaid() | WagerCollected() | WagerReturned() | PotAwarded():
                return self._chips(seen)
            case body:
                return self._cards(body)
        return None

    def _throw(self, thrown: DiceThrown, at_us: int) -> Reach:
        three = (*(thrown.offensive or ()), *((thrown.defensive,) if thrown.defensive else ()))
        chance = Random(at_us)  # noqa: S311 - repeatable, where dice come to rest
        self.dice = tuple(
            LyingDie(
                die,
                _DICE_AT[0] + _DICE_SPREAD * (number - 1) + chance.randint(-40, 40),
                _DICE_AT[1] + chance.randint(-25, 25),
                chance.randint(0, 89),
                red=bool(three) and number == len(three) - 1,
            )
            for number, die in enumerate(three or thrown.dice or ())
        )
        return Reach(thrown.position or 1, _DICE_AT[0], _DICE_AT[1] + 160)

    def _chips(self, seen: Witnessed) -> Reach | None:
        body = seen.body
        if isinstance(body, PotAwarded):
            self.stakes.clear()
            return self._win((body.position, "pot", 1), body.amount, seen.true_us)
        if not isinstance(body, (WagerPlaced, WagerPaid, WagerCollected, WagerReturned)):
            return None
        spot = (body.position, body.wager, body.hand)
        if isinstance(body, WagerPlaced):
            if spot in self.taken:
                self.take(spot)
            self.stakes[spot] = self.stakes.get(spot, 0) + body.amount
            return Reach(body.position, *self.spot(spot)[:2])
        if isinstance(body, WagerPaid):
            return self._win(spot, body.amount, seen.true_us)
        left = self.stakes.get(spot, 0) - body.amount
        if isinstance(body, WagerCollected):
            self.stakes[spot] = left
            if left <= 0:
                del self.stakes[spot]
        elif left > 0:
            self.stakes[spot] = left
            return Reach(body.position, *self.spot(spot)[:2])
        else:
            self.taken[spot] = seen.true_us + TAKEN_US
        return Reach(DEALER, *self.spot(spot)[:2])

    def _win(self, spot: Spot, cents: int, at_us: int) -> Reach:
        self.paid[spot] = self.paid.get(spot, 0) + cents
        self.taken[spot] = at_us + TAKEN_US
        return Reach(DEALER, *felt.paid(self.spot(spot))[:2])

    def take(self, spot: Spot) -> Reach:
        """A patron takes his stake and what he won."""
        self.taken.pop(spot, None)
        self.stakes.pop(spot, None)
        self.paid.pop(spot, None)
        return Reach(spot[0], *self.spot(spot)[:2])

    def _cards(self, body: object) -> Reach | None:
        reach: Reach | None = None
        match body:
            case CardsDealt(to=to, position=position, hand=hand, cards=cards, face=face):
                holder = (to, position, hand)
                self.cards.setdefault(holder, []).extend(cards)
                self.up.setdefault(holder, []).extend([face == "up"] * len(cards))
                reach = self._at(holder)
            case CardsTurned(to=to, position=position, hand=hand):
                self._turn((to, position, hand), body)
                reach = self._at((to, position, hand))
            case HandShown(position=position):
                holder = ("player", position, 1)
                self.up[holder] = [True] * len(self.cards.get(holder, ()))
                reach = Reach(position, *self.card_at(holder, 0)[:2])
            case HandDiscarded(to=to, position=position, hand=hand):
                reach = self._gone((to, position, hand))
            case HandMucked(position=position):
                reach = self._gone(("player", position, 1))
            case CardsExchanged(to=to, position=position, discards=discards):
                reach = self._give_up((to, position, 1), discards)
            case DecisionMade():
                reach = self._decide(body)
            case CardBurned():
                reach = Reach(DEALER, *felt.RACK)
        return reach

    def _turn(self, holder: Holder, body: CardsTurned) -> None:
        held, up = self.cards.setdefault(holder, []), self.up.setdefault(holder, [])
        for index, card in zip(indexes(body), body.cards, strict=False):
            held.extend([UNKNOWN_CARD] * (index + 1 - len(held)))
            up.extend([False] * (len(held) - len(up)))
            held[index], up[index] = card, True

    def _decide(self, body: DecisionMade) -> Reach | None:
        holder = ("player", body.position, body.hand)
        if body.decision == "split" and len(self.cards.get(holder, ())) > 1:
            hands = [each[2] for each in self.cards if each[:2] == holder[:2]]
            other = ("player", body.position, max(hands) + 1)
            self.cards[other], self.up[other] = [self.cards[holder].pop()], [True]
            self.up[holder] = self.up[holder][:-1]
        if body.discards:
            self._give_up(holder, body.discards)
        if body.amount:
            spot = (body.position, body.wager or "bet", body.hand)
            self.stakes[spot] = self.stakes.get(spot, 0) + body.amount
            return Reach(body.position, *self.spot(spot)[:2])
        return Reach(body.position, *self.card_at(holder, 0)[:2])

    def _give_up(self, holder: Holder, discards: Sequence[str]) -> Reach:
        held, up = self.cards.get(holder, []), self.up.get(holder, [])
        for card in discards:
            if card in held:
                index = held.index(card)
                del held[index], up[index]
        return self._at(holder)

    def _gone(self, holder: Holder) -> Reach:
        reach = self._at(holder)
        self.cards.pop(holder, None)
        self.up.pop(holder, None)
        return reach

    def _at(self, holder: Holder) -> Reach:
        last = max(len(self.cards.get(holder, ())) - 1, 0)
        return Reach(DEALER, *self.card_at(holder, last)[:2])

    # -- what lies there ---------------------------------------------------------------------

    def shot(self, at_us: int, reach: Reach | None) -> Shot:
        """All that lies on the felt now."""
        cards = tuple(
            LyingCard(card if up else UNKNOWN_CARD, *self.card_at(holder, index))  # type: ignore[arg-type]  # codes of a deck
            for holder in sorted(self.cards, key=lambda each: (each[0], each[1] or 0, each[2]))
            for index, (card, up) in enumerate(
                zip(self.cards[holder], self.up[holder], strict=False)
            )
        )
        piles = [ChipPile(cents, *self.spot(spot)[:2]) for spot, cents in self.stakes.items()]
        piles += [
            ChipPile(cents, *felt.paid(self.spot(spot))[:2]) for spot, cents in self.paid.items()
        ]
        piles.sort(key=lambda pile: (pile.y, pile.x))
        pucks = tuple(self.pucks[number] for number in sorted(self.pucks))
        return Shot(at_us, cards, tuple(piles), self.dice, pucks, reach)


def shots(
    table: TablePlan, witnessed: Iterable[Witnessed], from_us: int, to_us: int
) -> tuple[Shot, ...]:
    """One table's shots between two true times; `witnessed`: what happened there, in order.

    The first shot is at `from_us`, as the table was left.
    """
    found: list[Shot] = []
    left = Shot(from_us)
    for shot in _all(table, _since_a_round(witnessed, from_us, to_us)):
        if shot.at_us > from_us:
            if shot.at_us <= to_us:
                found.append(shot)
            continue
        left = Shot(from_us, shot.cards, shot.piles, shot.dice, shot.pucks)
    return (left, *found)


def _since_a_round(witnessed: Iterable[Witnessed], from_us: int, to_us: int) -> Iterator[Witnessed]:
    """What happens up to an end, from the start of the last round before the window."""
    before: list[Witnessed] = []
    for seen in witnessed:
        if seen.true_us > to_us:
            break
        if seen.true_us > from_us:
            yield from before
            before = []
            yield seen
        elif isinstance(seen.body, RoundStarted):
            before = [seen]
        elif before:
            before.append(seen)
    yield from before


def _all(table: TablePlan, witnessed: Iterable[Witnessed]) -> Iterator[Shot]:
    """A shot for each thing that moves something, and for each time a patron takes his chips."""
    felt_ = Felt(table)
    for seen in witnessed:
        yield from _takings(felt_, seen.true_us)
        reach = felt_.see(seen)
        if reach or isinstance(seen.body, RoundStarted):
            yield felt_.shot(seen.true_us, reach)
    yield from _takings(felt_, None)


def _takings(felt_: Felt, until_us: int | None) -> Iterator[Shot]:
    """The shots of patrons who take what lies there before a time, or at last."""
    due = sorted((at_us, spot) for spot, at_us in felt_.taken.items())
    for at_us, spot in due:
        if until_us is None or at_us < until_us:
            yield felt_.shot(at_us, felt_.take(spot))
