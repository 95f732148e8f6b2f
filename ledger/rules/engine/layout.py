"""The half of a table before the cards: asking for facts, and the wagers on the layout."""

from __future__ import annotations

from collections import Counter
from functools import cmp_to_key
from itertools import product
from typing import TYPE_CHECKING

from ledger.facts import (
    CardsDealt,
    WagerPlaced,
    WagerWithdrawn,
)
from ledger.rules.engine.ruling import FactRef, Finding
from ledger.rules.engine.steps import Source, Spot, Step, Stop, Void, said
from ledger.rules.wagers.coupons import Known
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ledger.facts import Coupon
    from ledger.record.wire import Fact
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.ruling import Settlement
    from ledger.rules.wagers.coupons import Redeemed


def _decides(body: object, declaring: Collection[int]) -> bool:
    """Whether a player who does this has folded or bet, or shown a hand that plays no further."""
    decision = getattr(body, "decision", "fold")
    return decision == "fold" or (
        decision == "declare" and getattr(body, "position", None) in declaring
    )


class Layout:
    """One round in progress: what was asked of the record so far, and what lies on the layout."""

    def __init__(self, source: Source, rules: InForce, dealt_from: str | None = None) -> None:
        self.source = source
        self.rules = rules
        self.dealt_from = dealt_from
        self.stakes: dict[Spot, int | None] = {}  # None: placed, the amount not on record
        self.most: dict[int, tuple[int, str]] = {}  # cents a limit leaves a position to win, where
        self.known = Known()  # of the coupons there are
        self.coupons: dict[Spot, tuple[Coupon, ...]] = {}  # played beside the chips of a wager
        # Chips and coupons taken back, by source and id of the fact that told it.
        self.taken_back: dict[tuple[str, str], tuple[int, tuple[Coupon, ...]]] = {}
        self.redeemed: list[Redeemed] = []  # and what their wagers came to
        self.cards: dict[tuple[str, int | None, int], list[str]] = {}
        self.arranged: set[tuple[str, int | None]] = set()  # who set his hands: no order but his
        self.discarded: dict[tuple[str, int | None], list[str]] = {}  # given up for others
        self.exposed: dict[tuple[str, int | None, int], set[int]] = {}
        self.settlements: list[Settlement] = []
        self.findings: list[Finding] = []
        self.taken: list[tuple[Step, Fact]] = []
        self.runs: list[tuple[int, int]] = []  # of steps taken, that come in any order
        self.missing: list[Step] = []
        self.unsettled: list[Step] = []
        self.next: Step | None = None
        self.last: Step | None = None  # the latest asked for, on record or not
        self.closings: list[tuple[Fact, Fact]] = []  # a wager, and the fact that closed it
        self.throws = 0

    # -- asking ------------------------------------------------------------------------------

    def take(self, step: Step) -> Fact | None:
        """A step of play: the fact that answers it. Raises Stop where the record ends."""
        fact = self.source.take(step)
        self.last = step
        if fact is not None:
            self.next = None
            self.taken.append((step, fact))
            return fact
        if self.next is None:
            self.next = step
        if self.source.ended:
            raise Stop
        self.missing.append(step)
        return None

    def expect(self, step: Step) -> Fact | None:
        """A step that decides nothing (a payment, a marker, the rack): play goes on without it."""
        fact = self.source.take(step)
        self.last = step
        if fact is not None:
            self.next = None
        elif self.next is None:
            self.next = step
        return fact

    def may_take(self, step: Step) -> Fact | None:
        """A step of play that need not happen: its fact, where there is one."""
        fact = self.source.take(step)
        if fact is not None:
            self.last, self.next = step, None
            self.taken.append((step, fact))
        return fact

    def void_until_decided(
        self, kind: str, seats: Iterable[int], section: str, declaring: Collection[int] = ()
    ) -> None:
        """An irregularity that voids the round until each player has folded or bet. Raises Void.

        `declaring`: who may do neither, and has decided with a hand declared.
        """
        called = self.source.take(Step("irregularity_called", section, what=kind))
        if called is None:
            return
        decided = {
            fact.body.position  # type: ignore[attr-defined]  # what a player does
            for fact in [*self.source.left("wager_placed"), *self.source.left("decision_made")]
            if _decides(fact.body, declaring) and self.source.later_than(fact, called) is False
        }
        if not decided.issuperset(seats):
            raise Void(section)

    def as_they_came(self, seats: Iterable[int], *names: str) -> list[int]:
        """Seats in the order of their next facts of these names, then those that have none.

        For what a section asks of each player and gives no order for; `any_order` afterwards.
        """
        first: dict[int, Fact] = {}
        for fact in (fact for name in names for fact in self.source.left(name)):
            seat: int = fact.body.position  # type: ignore[attr-defined]  # what a player does
            if seat not in first or self.source.later_than(fact, first[seat]) is False:
                first[seat] = fact
        asked = list(seats)
        in_turn = cmp_to_key(self._came)
        came = sorted((seat for seat in asked if seat in first), key=lambda s: in_turn(first[s]))
        return [*came, *(seat for seat in asked if seat not in first)]

    def in_turn(self) -> Iterator[tuple[Fact, Fact]]:
        """Facts that the sections put one after the other, earlier and later."""
        starts = dict(self.runs)
        before: list[Fact] = []
        at = 0
        while at < len(self.taken):
            end = max(starts.get(at, 0), at + 1)
            run = [fact for _, fact in self.taken[at:end]]
            yield from product(before, run)
            at, before = end, run
        yield from self.closings

    def any_order(self, since: int) -> None:
        """Steps taken from there on may come in any order: no section gives them one."""
        self.runs.append((since, len(self.taken)))
        in_turn = cmp_to_key(self._came)
        self.taken[since:] = sorted(self.taken[since:], key=lambda taken: in_turn(taken[1]))

    def _came(self, one: Fact, two: Fact) -> int:
        return -1 if self.source.later_than(one, two) is False else 1

    def find(
        self,
        code: str,
        says: str,
        section: str | None = None,
        *,
        facts: Iterable[Fact] = (),
        position: int | None = None,
        wager: str | None = None,
        expected: int | str | None = None,
        recorded: int | str | None = None,
    ) -> None:
        """Note a finding; `facts` are the facts it speaks of."""
        self.findings.append(
            Finding(
                code=code,
                position=position,
                wager=wager,
                expected=expected,
                recorded=recorded,
                section=self.rules.section(section) if section else None,
                says=says,
                facts=[FactRef(fact.source, fact.id) for fact in facts],
            )
        )

    # -- wagers ------------------------------------------------------------------------------

    def wagers(self, names: Sequence[str], section: str, throw: int | None = None) -> list[Fact]:
        """Take in what the players put on these wagers; the facts, in order."""
        facts = self.source.wagers(names, section, throw)
        for fact in facts:
            body = fact.body
            if isinstance(body, WagerPlaced):
                spot = (body.position, body.wager, body.hand)
                if spot not in self.stakes:
                    self.offered(fact)
                self.stakes[spot] = (self.stakes.get(spot) or 0) + body.amount
                self.play_coupon(spot, body.coupon)
            else:
                self._withdraw(fact, said(fact, WagerWithdrawn))
        return facts

    def _withdraw(self, fact: Fact, body: WagerWithdrawn) -> None:
        """Chips taken back, of those that lay there; a wager taken back whole is none.

        Unless facts were lost, more than lay there is found.
        """
        spot = (body.position, body.wager, 1)
        known = self.rules.game.wager(body.wager)
        lay = self.stakes.pop(spot, None) or 0
        taken = min(lay, body.amount)
        if known and lay < body.amount and not self.source.excused:
            why = f"{dollars(body.amount)} was taken back, and {dollars(lay)} lay there"
            self.not_permitted(body.position, body.wager, why, known.section, (fact,))
        if taken < lay:
            self.stakes[spot] = lay - taken
        coupons = self.coupons.pop(spot, ()) if taken == lay else ()
        self.taken_back[fact.source, fact.id] = (taken, coupons)

    def play_coupon(self, spot: Spot, coupon: Coupon | None) -> None:
        """A coupon lies beneath the chips of a wager; told again with more, it is the same."""
        lying = self.coupons.get(spot, ())
        if coupon and all(coupon.serial != other.serial for other in lying):
            self.coupons[spot] = (*lying, coupon)

    def offered(self, fact: Fact) -> None:
        """An optional wager stands only where the Rules Submission offers it."""
        body = said(fact, WagerPlaced)
        wager = self.rules.game.wager(body.wager)
        if wager and wager.optional and body.wager not in self.rules.offers:
            why = "the Rules Submission in force does not offer it"
            self.not_permitted(body.position, body.wager, why, wager.section, (fact,))

    def awaits(self, wagers: Sequence[str], section: str) -> None:
        """A position with one of these wagers owes the others; with no wager at all, the first."""
        if not self.stakes:
            self.next = Step("wager_placed", section, what=wagers[0])
        for seat in self.positions():
            owed = [wager for wager in wagers if (seat, wager, 1) not in self.stakes]
            if 0 < len(owed) < len(wagers) and self.next is None:
                self.next = Step("wager_placed", section, position=seat, what=owed[0])

    def positions(self, *, dealt_to: bool = False) -> list[int]:
        """Positions with a stake, clockwise; and those dealt cards, where facts were lost."""
        seats = {seat for seat, _, _ in self.stakes}
        if dealt_to and self.source.excused:
            dealt = (said(fact, CardsDealt) for fact in self.source.left("cards_dealt"))
            seats.update(body.position for body in dealt if body.position)
        return sorted(seats)

    def dealt_to(self, seat: int) -> bool:
        """Whether the record shows cards dealt to a position, by steps still to be asked."""
        return any(
            said(fact, CardsDealt).position == seat for fact in self.source.left("cards_dealt")
        )

    def lost_before_deal(self, seat: int) -> bool:
        """Whether a position was dealt in while facts were lost: its wagers may be among them."""
        return self.source.excused and self.dealt_to(seat)

    def one_position_each(self, seats: Iterable[int], wager: str, section: str) -> None:
        """A player may wager on one position only; the seats taken say who sits where."""
        betting = set(seats)
        for seat in sorted(betting):
            others = betting.intersection(self.source.seat_of(seat)) - {seat}
            if any(other < seat for other in others):
                self.not_permitted(seat, wager, "its player wagers on another position", section)

    def two_adjacent(self, seats: Iterable[int], wager: str, section: str) -> list[tuple[int, int]]:
        """A player may wager on two adjacent positions: those pairs; any other is not permitted."""
        betting, pairs = set(seats), []
        held_by_one = {tuple(sorted(betting.intersection(self.source.seat_of(s)))) for s in betting}
        for held in sorted(held for held in held_by_one if len(held) > 1):
            first, second, *more = held
            if second == first + 1:
                pairs.append((first, second))
            else:
                more = [second, *more]
            for seat in more:
                why = f"its player wagers on position {first}, which is not adjacent, or on two"
                self.not_permitted(seat, wager, why, section)
        return pairs

    def as_told(self, name: str, seats: Iterable[int]) -> list[int]:
        """Positions in the order the record has a fact of each: where a section asks for none.

        Those it has none of come last, as given.
        """
        told = [getattr(fact.body, "position", None) for fact in self.source.left(name)]
        return sorted(seats, key=lambda seat: told.index(seat) if seat in told else len(told))

    def within_positions(self, section: str) -> None:
        """The table has so many positions and no more."""
        most = self.rules.game.positions
        for seat in [seat for seat in self.positions() if seat > most]:
            wager = next(wager for held, wager, _ in self.stakes if held == seat)
            self.not_permitted(seat, wager, f"the table has {most} positions", section)

    def presume(self, seat: int, wagers: Iterable[str], section: str) -> None:
        """Wagers that were there, as play shows; the amounts of those not on record are lost."""
        for wager in wagers:
            if not self.stake(seat, wager):
                self.stakes[seat, wager, 1] = None
                self.unsettled.append(Step("wager_placed", section, None, seat, what=wager))

    def stake(self, seat: int, wager: str, hand: int = 1) -> int:
        """Cents on a wager; 0 where none was placed."""
        return self.stakes.get((seat, wager, hand)) or 0

    def betting(self, *wagers: str) -> Iterator[tuple[int, str]]:
        """Positions clockwise, and each of these wagers that lies there."""
        for seat in self.positions():
            for wager in wagers:
                if (seat, wager, 1) in self.stakes:
                    yield seat, wager

    def close(self, placed: Iterable[Fact], by: Fact | None, section: str) -> set[tuple[int, str]]:
        """Wagers close with a fact: one placed after it is late, and stays in the settlement.

        Chips taken back after it are still at stake, but for those that came after it themselves.
        Returns what is late: position and wager.
        """
        late: set[tuple[int, str]] = set()
        came: Counter[Spot] = Counter()  # cents placed too late
        if by is None:
            return late
        for fact in placed:
            self.closings.append((fact, by))
            after = self.source.later_than(fact, by)
            if after is False:
                continue
            body = fact.body
            if isinstance(body, WagerWithdrawn) and after:
                spot = (body.position, body.wager, 1)
                taken, coupons = self.taken_back.pop((fact.source, fact.id), (0, ()))
                own = min(taken, came[spot])
                came[spot] -= own
                if own and own == body.amount:
                    continue
                if taken > own:
                    self.stakes[spot] = (self.stakes.get(spot) or 0) + taken - own
                for coupon in coupons:
                    self.play_coupon(spot, coupon)
                why = f"{dollars(body.amount)} was taken back after wagers closed"
                self.not_permitted(body.position, body.wager, why, section, (fact, by))
            elif isinstance(body, WagerPlaced | WagerWithdrawn):
                late.update([(body.position, body.wager)] if after else [])
                if after and isinstance(body, WagerPlaced):
                    came[body.position, body.wager, body.hand] += body.amount
                self._late(body, fact, by, section, certain=after is True)
        return late

    def _late(
        self,
        body: WagerPlaced | WagerWithdrawn,
        fact: Fact,
        by: Fact,
        section: str,
        *,
        certain: bool,
    ) -> None:
        """Say that chips moved after wagers closed, or about then."""
        code, how = ("late_wager", "after") if certain else ("order_uncertain", "about when")
        moved = "put" if isinstance(body, WagerPlaced) else "took back"
        self.find(
            code,
            f"Position {body.position} {moved} {dollars(body.amount)} on {self.name(body.wager)} "
            f"{how} wagers closed ({self.rules.section(section)}).",
            section,
            position=body.position,
            wager=body.wager,
            facts=(fact, by),
        )

    def not_permitted(
        self, seat: int, wager: str, why: str, section: str, facts: Iterable[Fact] = ()
    ) -> None:
        """A wager that the section does not allow; it stays in the settlement."""
        self.find(
            "wager_not_permitted",
            f"Position {seat}'s {self.name(wager)} is not permitted: {why} "
            f"({self.rules.section(section)}).",
            section,
            position=seat,
            wager=wager,
            facts=facts,
        )

    def name(self, wager: str) -> str:
        """A wager's printed name."""
        known = self.rules.game.wager(wager)
        return known.name if known else wager
