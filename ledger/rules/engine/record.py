"""A round's facts, found by what happened and to whom, as `play` asks for them.

The order of facts plays no part in finding them, so a late or swapped fact does not derail a
ruling. The order is judged afterwards (`order.py`). Facts come sorted by `order.in_order`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from typing import TYPE_CHECKING, Any

from ledger.facts import (
    CardBurned,
    CardsDealt,
    CardsExchanged,
    CardsTurned,
    CouponDropped,
    DecisionMade,
    DecisionsLockedCalled,
    DiceOffered,
    DiceThrown,
    DiscardsReshuffled,
    FeePaid,
    HandDiscarded,
    HandMucked,
    HandSet,
    HandShown,
    HoleCardChecked,
    IrregularityCalled,
    MarkerPlaced,
    MeterAdvanced,
    MeterRead,
    MeterReset,
    NoMoreBetsCalled,
    NoRollCalled,
    PotAwarded,
    RakeTaken,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    StackCounted,
    StartingPositionDetermined,
    StubCounted,
    WagerCollected,
    WagerMarked,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
    indexes,
)
from ledger.rules.engine.money_moved import own_throw, throws_paid
from ledger.rules.engine.order import UNCERTAINTY_US
from ledger.rules.engine.steps import fee_name, pot_name, said
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.order import Gap
    from ledger.rules.engine.steps import Step

Key = tuple[str, str | None, int | None, int, str | None]

# One line for each fact that answers a step: (name, to, position, hand, what).
_KEYS: dict[type, Callable[[Any], Key]] = {
    IrregularityCalled: lambda b: ("irregularity_called", None, None, 1, b.kind),
    NoMoreBetsCalled: lambda _: ("no_more_bets_called", None, None, 1, None),
    DecisionsLockedCalled: lambda _: ("decisions_locked_called", None, None, 1, None),
    CardBurned: lambda _: ("card_burned", None, None, 1, None),
    CardsDealt: lambda b: ("cards_dealt", b.to, b.position, b.hand, None),
    CardsTurned: lambda b: ("cards_turned", b.to, b.position, b.hand, None),
    DecisionMade: lambda b: ("decision_made", None, b.position, b.hand, None),
    WagerPlaced: lambda b: ("wager_placed", None, b.position, b.hand, b.wager),
    WagerWithdrawn: lambda b: ("wager_withdrawn", None, b.position, 1, b.wager),
    WagerMarked: lambda b: ("wager_marked", None, b.position, 1, b.wager),
    DiceThrown: lambda b: ("dice_thrown", None, None, 1, b.purpose),
    DiceOffered: lambda _: ("dice_offered", None, None, 1, None),
    StubCounted: lambda _: ("stub_counted", None, None, 1, None),
    CouponDropped: lambda b: ("coupon_dropped", None, None, 1, b.serial),
    StartingPositionDetermined: lambda _: ("starting_position_determined", None, None, 1, None),
    CardsExchanged: lambda b: ("cards_exchanged", b.to, b.position, 1, None),
    DiscardsReshuffled: lambda _: ("discards_reshuffled", None, None, 1, None),
    FeePaid: lambda b: ("fee_paid", None, b.position, 1, fee_name(b.fee, b.purpose)),
    HandSet: lambda b: ("hand_set", b.to, b.position, 1, None),
    HoleCardChecked: lambda _: ("hole_card_checked", None, None, 1, None),
    HandShown: lambda b: ("hand_shown", None, b.position, 1, None),
    HandMucked: lambda b: ("hand_mucked", None, b.position, 1, None),
    StackCounted: lambda b: ("stack_counted", None, b.position, 1, None),
    RakeTaken: lambda b: ("rake_taken", None, None, 1, str(b.pot or 0)),
    PotAwarded: lambda b: ("pot_awarded", None, b.position, 1, pot_name(b.pot, b.share)),
    MeterRead: lambda b: ("meter_read", None, None, 1, b.meter),
    MeterAdvanced: lambda b: ("meter_advanced", None, None, 1, b.meter),
    MeterReset: lambda b: ("meter_reset", None, None, 1, b.meter),
    MarkerPlaced: lambda b: ("marker_placed", None, None, 1, b.marker),
    HandDiscarded: lambda b: ("hand_discarded", b.to, b.position, b.hand, None),
    WagerPaid: lambda b: ("wager_paid", None, b.position, b.hand, b.wager),
    WagerCollected: lambda b: ("wager_collected", None, b.position, b.hand, b.wager),
    WagerReturned: lambda b: ("wager_returned", None, b.position, b.hand, b.wager),
}
_PLACED = frozenset((WagerPlaced, WagerWithdrawn))
_RACKED = frozenset((CardBurned, IrregularityCalled))
_ENDS = frozenset((RoundCompleted, RoundVoided))
_PAYMENTS = frozenset(("wager_paid", "wager_collected", "wager_returned"))
_WAGERS = ("wager_placed", "wager_withdrawn")
_PLAY = frozenset(
    (
        "no_more_bets_called",
        "decisions_locked_called",
        "cards_dealt",
        "cards_turned",
        "cards_exchanged",
        "decision_made",
        "dice_thrown",
        "hand_set",
        *_WAGERS,
    )
)
"""Steps of play. One on record shows that play went on past the steps before it."""
_IN_PLAY = ("wager_placed", "hand_set", "cards_turned")
"""Facts that show a hand in play. The last one counts only if no folded hand is turned."""


def racked(body: object) -> tuple[str, ...]:
    """The cards put into the discard rack by a burn, or by a card found face up."""
    if isinstance(body, CardBurned):
        return (body.card or UNKNOWN_CARD,)
    if isinstance(body, IrregularityCalled) and body.kind == "card_face_up":
        return body.cards or (UNKNOWN_CARD,)
    return ()


def _decision(fact: Fact) -> str:
    """The decision in a fact."""
    return said(fact, DecisionMade).decision


def _is_after(gap: Gap, fact: Fact) -> bool:
    """Whether a device lost what it lost after it sent a fact, by its own numbers."""
    number, next_ = fact.sequence, gap.after.sequence
    known = fact.boot == gap.after.boot and number is not None and next_ is not None
    return known and (number or 0) < (next_ or 0)


def _is_before(gap: Gap, fact: Fact) -> bool:
    """Whether a device lost it, and sent another fact, before it sent this one."""
    number, next_ = fact.sequence, gap.after.sequence
    known = fact.boot == gap.after.boot and number is not None and next_ is not None
    return known and (next_ or 0) < (number or 0)


def _is_among(gap: Gap, facts: Sequence[Fact]) -> bool:
    """Whether what a device lost may have its place among some facts that it sent."""
    is_after = all(_is_after(gap, fact) for fact in facts)
    return not (is_after or all(_is_before(gap, fact) for fact in facts))


class RecordedSource:
    """The source of a recorded round. Each fact is taken once; what is left is judged last."""

    def __init__(
        self,
        facts: Sequence[Fact],
        *,
        wagers: frozenset[str] = frozenset(),
        gaps: Sequence[Gap] = (),
        gone: frozenset[int] = frozenset(),
        seats: Sequence[tuple[int, ...]] = (),
        broken_off: bool = False,
    ) -> None:
        """Index the facts of a round, given in order.

        `wagers` are those the game has. `gaps` are those in devices' sequences. `gone` are
        positions whose players left, `seats` the positions that one player holds. `broken_off`: the
        round was voided where it stood, so its end does not show that play went on.
        """
        self.rank = {id(fact): rank for rank, fact in enumerate(facts)}
        self.may_be_lost = bool(gaps)
        self._facts, self._gaps = facts, gaps
        self.closed = self.voided = False
        self.button: int | None = None
        self._broken_off = broken_off
        self._gone = gone
        self._seats = seats
        self._out = 0  # cards that left the deck
        self._wagers = wagers
        self._reached = -1  # rank of the latest step taken
        self._queues: dict[Key, deque[Fact]] = {}
        self._named: dict[str, list[deque[Fact]]] = {}  # the same queues, by the facts' name
        self._placed: list[Fact] = []
        self._throws: list[int] = []  # ranks of valid throws
        # Payments by kind, position, hand and wager, and the cents owed for each throw so far.
        self._by_throw: dict[tuple[object, ...], tuple[list[Fact], dict[int, int]]] = {}
        self._kinds = {fact.body.__class__ for fact in facts}
        cancelled = {
            (fact.body.of.source, fact.body.of.id)
            for fact in self.of_kind(NoRollCalled)
            if fact.body.of
        }
        for rank, fact in enumerate(facts):
            if not cancelled or (fact.source, fact.id) not in cancelled:
                self._index(rank, fact)

    def _index(self, rank: int, fact: Fact) -> None:
        """Index one fact under its key."""
        body: Any = fact.body
        kind = body.__class__
        key_of = _KEYS.get(kind)
        if key_of is not None:
            key = key_of(body)
            queue = self._queues.get(key)
            if queue is None:
                queue = self._queues[key] = deque()
                self._named.setdefault(key[0], []).append(queue)
            queue.append(fact)
        if kind in _PLACED:
            self._placed.append(fact)
        elif kind is CardsDealt:
            self._out += len(body.cards)
        elif kind is DiceThrown:
            if body.purpose == "down":
                self._throws.append(rank)
        elif kind in _RACKED:
            self._out += len(racked(body))
        elif kind is RoundStarted:
            self.button = body.button
        elif kind in _ENDS:
            self.closed = True
            self.voided = self.voided or kind is RoundVoided

    def of_kind(self, kind: type) -> list[Any]:
        """The facts of a kind, in order."""
        if kind not in self._kinds:
            return []
        return [fact for fact in self._facts if fact.body.__class__ is kind]

    @property
    def ended(self) -> bool:
        """Whether nothing on record shows that play went on past the latest step taken.

        The round's end shows it as well. A wager that the game does not have shows nothing, because
        no step asks for it.
        """
        return (self._broken_off or not self.closed) and not any(
            queue
            and self.rank[id(queue[-1])] > self._reached
            and key[0] in _PLAY
            and (key[0] not in _WAGERS or key[4] in self._wagers)
            for key, queue in self._queues.items()
        )

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """Facts of these wagers. With `throw`, only those placed for that throw."""
        del section
        wanted, left = [], []
        for fact in self._placed:
            body: Any = fact.body
            if body.wager in names and (throw is None or self.throw_before(fact) + 1 == throw):
                wanted.append(fact)
                self._queues[_KEYS[body.__class__](body)].remove(fact)
            else:
                left.append(fact)
        self._placed = left
        return wanted

    def throw_before(self, fact: Fact) -> int:
        """The number of the last valid throw before a fact, from 1; 0 before the first."""
        return bisect_left(self._throws, self.rank[id(fact)])

    def take(self, step: Step) -> Fact | None:
        """The next fact that answers the step, or None."""
        name = step.fact
        queue = self._queues.get((name, step.to, step.position, step.hand, step.what))
        if not queue:
            return self._otherwise(step)
        if name in _PAYMENTS:
            return self._payment(queue, step)
        if name == "marker_placed":
            return self._marker(queue, step)
        if self._is_for_another(queue[0], step):
            return None
        fact = self._took(queue.popleft(), name)
        if name == "wager_placed":
            self._placed.remove(fact)
        return fact

    def _is_for_another(self, fact: Fact, step: Step) -> bool:
        """Whether this fact answers a later step: the one asked for did not happen or is lost."""
        lost = self.may_be_lost
        if step.fact == "cards_turned":
            if self._is_lost(fact, step):
                return True
        elif lost and step.before and fact not in self.untaken(step.fact, step.before):
            return True
        return (lost or step.may or bool(step.only)) and self._is_later(fact, step)

    def _is_lost(self, fact: Fact, step: Step) -> bool:
        """Whether this turn shows other cards, because the one asked for is not on record.

        That is so if facts were lost, or if players went on deciding before it. Otherwise it shows
        cards early.
        """
        body = fact.body
        turns = indexes(body) if isinstance(body, CardsTurned) else ()
        if set(step.at).intersection(turns):
            return False
        rank = self.rank[id(fact)]
        return self.may_be_lost or any(
            queue and key[0] in ("wager_placed", "decision_made") and self.rank[id(queue[0])] < rank
            for key, queue in self._queues.items()
        )

    def _is_later(self, fact: Fact, step: Step) -> bool:
        """Whether the next fact of a step's key answers a later step.

        Then the step did not happen, or it is not on record: the decision is of another kind, or
        came after `until`.
        """
        only = step.only or (step.options if step.may else ())
        if only and _decision(fact) not in only:
            return True
        queue = self._queues.get((step.until or "", None, None, 1, None))
        if not queue or not self.may_be_lost:
            return False
        return self.rank[id(queue[0])] < self.rank[id(fact)]

    def shown(self, to: str, position: int | None, hand: int) -> int:
        """How many cards of a holder are shown by turns that no step has taken."""
        queue = self._queues.get(("cards_turned", to, position, hand, None), ())
        bodies = [fact.body for fact in queue]
        turned = [indexes(body) for body in bodies if isinstance(body, CardsTurned)]
        return max((index + 1 for at in turned for index in at), default=0)

    def _took(self, fact: Fact, name: str) -> Fact:
        """Note that a step of play was taken; the fact itself."""
        if name in _PLAY and (rank := self.rank[id(fact)]) > self._reached:
            self._reached = rank
        return fact

    def _otherwise(self, step: Step) -> Fact | None:
        """The fact that answers a step without a fact of its own key, or None."""
        if step.instead:
            return self._instead(step)
        return self._taken_back(step) if step.fact == "wager_placed" else None

    def _instead(self, step: Step) -> Fact | None:
        """A fact that answers a step otherwise: a fold, or a mucked hand that was to be shown."""
        if step.instead == "hand_mucked":
            mucked = self._queues.get(("hand_mucked", None, step.position, 1, None))
            return mucked.popleft() if mucked else None
        queue = self._queues.get(("decision_made", None, step.position, step.hand, None))
        if not queue or _decision(queue[0]) != "fold" or self._goes_on(step):
            return None
        return self._took(queue.popleft(), "decision_made")

    def _taken_back(self, step: Step) -> Fact | None:
        """The next fact by which a player takes back chips of a bet, after all he placed."""
        queue = self._queues.get(("wager_withdrawn", None, step.position, 1, step.what))
        if not queue or self._of_another_hand(queue[0], step):
            return None
        fact = self._took(queue.popleft(), "wager_withdrawn")
        self._placed.remove(fact)
        return fact

    def _of_another_hand(self, back: Fact, step: Step) -> bool:
        """Whether another hand of the position put such chips down since, and before these went."""
        return any(
            key[0] == "wager_placed"
            and (key[2], key[4]) == (step.position, step.what)
            and any(self.rank[id(fact)] < self.rank[id(back)] for fact in queue)
            for key, queue in self._queues.items()
        )

    def _marker(self, queue: deque[Fact], step: Step) -> Fact | None:
        """The first marker of its kind after the throw of the step."""
        for fact in queue:
            if self.throw_before(fact) == step.throw:
                queue.remove(fact)
                return fact
        return None

    def _payment(self, queue: deque[Fact], step: Step) -> Fact | None:
        """The first payment of a settlement; if it has a throw, the first one for that throw."""
        if step.throw is None:
            return queue.popleft()
        spot = (step.fact, step.position, step.hand, step.what)
        told, owed = self._by_throw.setdefault(spot, ([*queue], {}))
        owed[step.throw] = step.amount or 0
        before = [fact for fact in told if own_throw(fact, self.throw_before) <= step.throw]
        for fact, throw in zip(before, throws_paid(before, owed, self.throw_before), strict=True):
            if throw == step.throw and fact in queue:
                queue.remove(fact)
                return fact
        return None

    def untaken(self, name: str, before: Sequence[str] = ()) -> list[Fact]:
        """Facts of this name that no step has taken, in order.

        With `before`, only those ahead of the first untaken fact of these other names.
        """
        found: list[Fact] = []
        for queue in self._named.get(name, ()):
            found += queue
        if before:
            ends = [self.rank[id(fact)] for other in before for fact in self.untaken(other)[:1]]
            end = min(ends, default=len(self.rank))
            found = [fact for fact in found if self.rank[id(fact)] < end]
        if len(found) > 1:
            found.sort(key=lambda fact: self.rank[id(fact)])
        return found

    def of_hand(self, name: str, position: int, hand: int) -> list[Fact]:
        """A player's decisions, or cards dealt to him, for one hand that no step has taken."""
        to = "player" if name == "cards_dealt" else None
        return list(self._queues.get((name, to, position, hand, None), ()))

    def first(self, name: str) -> Fact | None:
        """The first fact of this name that no step has taken."""
        rank = self.rank
        heads = [queue[0] for queue in self._named.get(name, ()) if queue]
        return min(heads, key=lambda fact: rank[id(fact)], default=None)

    def has_lost(self, name: str, *, among: bool = False) -> bool:
        """Whether a device that sends facts of this name has lost some in this round.

        among: only facts that it sent between others of this name, or just before the first one.
        """
        lossy = {gap.after.source for gap in self._gaps}
        told = [
            fact
            for fact in (self._facts if lossy else ())
            if fact.source in lossy
            and (key := _KEYS.get(type(fact.body))) is not None
            and key(fact.body)[0] == name
        ]
        return any(
            not among or _is_among(gap, [fact for fact in told if fact.source == gap.after.source])
            for gap in self._gaps
            if any(fact.source == gap.after.source for fact in told)
        )

    def later_than(self, fact: Fact, other: Fact) -> bool | None:
        """Whether a fact came after another. None if their clocks cannot decide."""
        if self.rank[id(fact)] < self.rank[id(other)]:
            return False
        apart = abs(fact.time_us - other.time_us)
        return None if fact.source != other.source and apart <= UNCERTAINTY_US else True

    def gone_from_deck(self) -> int:
        """How many cards left the deck in this round: dealt, burned, or found and racked."""
        return self._out

    def plays_on(self, position: int, *, turns_show: bool = True) -> bool:
        """Whether untaken facts show this player's hand still in play."""
        shows = _IN_PLAY if turns_show else _IN_PLAY[:-1]
        return any(
            queue and key[2] == position and key[0] in shows for key, queue in self._queues.items()
        )

    def _goes_on(self, step: Step) -> bool:
        """Whether the hand that a step asks for a bet stays in play."""
        return self.plays_on(step.position or 0, turns_show=step.turns_show)

    def gone(self, position: int) -> bool:
        """Whether the player left the table during the round."""
        return position in self._gone

    def seat_of(self, position: int) -> tuple[int, ...]:
        """The positions of the player at this one, itself included. Empty if not on record."""
        return next((held for held in self._seats if position in held), ())
