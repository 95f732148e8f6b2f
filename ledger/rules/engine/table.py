"""The verbs a game is written in. Each names the section of a step and asks for its fact.

The same `play` judges a record, gives the next step where a record ends, follows an irregularity,
and deals a simulated round. The `FactSource` decides which of these. Nothing here uses a clock or a
file, and nothing raises because a rule was broken.

The verbs stand in this order: facts, wagers on the layout, dice and markers, cards, decisions,
money. The card seen rules: a ruling uses a turned card, even if the shoe had read another.
"""

from __future__ import annotations

from collections import Counter
from functools import cmp_to_key
from itertools import chain, pairwise, product
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from ledger.facts import (
    CardsDealt,
    CardsExchanged,
    CardsTurned,
    DecisionMade,
    DiceOffered,
    DiceThrown,
    HandSet,
    HoleCardChecked,
    MarkerPlaced,
    MeterRead,
    StubCounted,
    TableOpened,
    WagerPlaced,
    WagerWithdrawn,
)
from ledger.facts.rounds import indexes
from ledger.rules.engine.coupons import KnownCoupons, redeem
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.ruling import Finding, refs
from ledger.rules.engine.settling import How, decided, fee, halved, pot, pushed, voided
from ledger.rules.engine.steps import (
    DECIDES,
    PAYMENT,
    PAYS,
    POT,
    FactSource,
    Spot,
    Step,
    Stop,
    Void,
    fee_name,
    pot_name,
    said,
)
from ledger.values import UNKNOWN_CARD, dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ledger.facts import Coupon
    from ledger.record.wire import Fact
    from ledger.rules.engine.coupons import Redeemed
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable, PaytableRow
    from ledger.rules.engine.ruling import Settlement
    from ledger.rules.engine.steps import B, Ways

THREE_DICE = 3
"""Two offensive dice and a defensive one. With fewer dice, none has a name."""


class Table:
    """One round in progress, as `play` sees it: the facts it asked for, wagers, cards, findings."""

    def __init__(self, source: FactSource, rules: InForce, dealt_from: str | None = None) -> None:
        self.source = source
        self.rules = rules
        self.dealt_from = dealt_from
        self.stakes: dict[Spot, int | None] = {}  # None: placed, but the amount is not on record
        self.most: dict[int, tuple[int, str]] = {}  # cents left to win, and the section
        self.posted: Fact | None = None  # the table's opening, which posts minimum and maximum
        self.known = KnownCoupons()
        self.coupons: dict[Spot, tuple[Coupon, ...]] = {}  # played with the chips of a wager
        # Chips and coupons taken back, by source and id of the fact.
        self.taken_back: dict[tuple[str, str], tuple[int, tuple[Coupon, ...]]] = {}
        # By source and id of the fact that closed them: cents that came too late, and that went.
        self.moved_late: dict[tuple[str, str], tuple[Counter[Spot], Counter[Spot]]] = {}
        self.redeemed: list[Redeemed] = []  # coupons and the settlements of their wagers
        self.cards: dict[tuple[str, int | None, int], list[str]] = {}
        self.arranged: set[tuple[str, int | None]] = set()  # holders who set their hands
        self.discarded: dict[tuple[str, int | None], list[str]] = {}  # exchanged for others
        self.exposed: dict[tuple[str, int | None, int], set[int]] = {}
        self.settlements: list[Settlement] = []
        self.findings: list[Finding] = []
        self.taken: list[tuple[Step, Fact]] = []
        self.asked: list[tuple[Step, Fact]] = []  # the same and payments, as `play` asked for them
        self.runs: list[tuple[int, int]] = []  # ranges of steps taken that come in any order
        self.missing: list[Step] = []
        self.unsettled: list[Step] = []
        self.next: Step | None = None
        self.last: Step | None = None  # the latest step asked for, on record or not
        self.closings: list[tuple[Fact, Fact]] = []  # a wager and the fact that closed it
        self.open_to_all: set[str] = set()  # wagers that every position could make
        self.opened: set[Spot] = set()  # wagers that a hand could make at any time of the round
        self.choices: set[Spot] = set()  # decisions that it could make
        self.denied: dict[Spot, str] = {}  # what a paragraph of its own never permits to a hand
        self.throws = 0
        self.hole_read = False  # as a Blackjack: nothing waits for the card to be turned

    # -- asking ------------------------------------------------------------------------------

    def take(self, step: Step) -> Fact | None:
        """Ask for a step of play: the fact that answers it. Raises Stop if the record ends here."""
        fact = self.source.take(step)
        self.last = step
        if fact is not None:
            self.next = None
            each = (step, fact)
            self.taken.append(each)
            self.asked.append(each)
            return fact
        if self.next is None:
            self.next = step
        if self.source.ended:
            raise Stop
        self.missing.append(step)
        return None

    def expect(self, step: Step) -> Fact | None:
        """Ask for a step that decides nothing, as a payment. Play goes on without it."""
        fact = self.source.take(step)
        self.last = step
        if fact is not None:
            self.next = None
            self.asked.append((step, fact))
        elif self.next is None:
            self.next = step
        return fact

    def may_take(self, step: Step) -> Fact | None:
        """Ask for a step of play that may be left out: its fact, or None."""
        fact = self.source.take(step)
        if fact is not None:
            self.last, self.next = step, None
            each = (step, fact)
            self.taken.append(each)
            self.asked.append(each)
        return fact

    def void_until_decided(
        self, kind: str, seats: Iterable[int], section: str, declaring: Collection[int] = ()
    ) -> None:
        """Void the round for an irregularity before every player has folded or bet. Raises Void.

        `declaring` are the positions that neither fold nor bet: a declared hand is their decision.
        """
        called = self.source.take(Step("irregularity_called", section, what=kind))
        if called is None:
            return
        lies: Counter[int] = Counter()  # a wager taken back meanwhile decides nothing
        for placed in self._told_before(called, "wager_placed", WagerPlaced):
            lies[placed.position] += placed.amount
        for back in self._told_before(called, "wager_withdrawn", WagerWithdrawn):
            lies[back.position] -= back.amount
        decided = {
            body.position
            for body in self._told_before(called, "decision_made", DecisionMade)
            if body.decision == "fold"
            or (body.decision == "declare" and body.position in declaring)
        }
        if not (decided | {*+lies}).issuperset(seats):
            raise Void(section)

    def _told_before(self, fact: Fact, name: str, kind: type[B]) -> list[B]:
        """What untaken facts of a name say that came before a fact."""
        every, later = self.source.untaken(name), self.source.later_than
        return [said(each, kind) for each in every if later(each, fact) is False]

    def as_they_came(self, seats: Iterable[int], *names: str) -> list[int]:
        """Seats in the order of their next facts of these names, then the seats without one.

        For steps that a section asks of each player in no given order; call `any_order` afterwards.
        """
        first: dict[int, Fact] = {}
        for fact in (fact for name in names for fact in self.source.untaken(name)):
            seat: int = fact.body.position  # type: ignore[attr-defined]  # a player's fact
            if seat not in first or self.source.later_than(fact, first[seat]) is False:
                first[seat] = fact
        asked = list(seats)
        in_turn = cmp_to_key(self._came)
        came = sorted((seat for seat in asked if seat in first), key=lambda s: in_turn(first[s]))
        return [*came, *(seat for seat in asked if seat not in first)]

    def deny(self, position: int, names: Iterable[str], section: str, hand: int = 1) -> None:
        """A paragraph never permits these wagers and decisions of a hand: it is cited then."""
        self.denied.update({(position, name, hand): section for name in names})

    def in_turn(self) -> Iterator[tuple[Fact, Fact]]:
        """Pairs of facts that the sections put in order, the earlier one first."""
        facts = [fact for _, fact in self.taken]
        if not self.runs:
            return chain(pairwise(facts), self.closings)
        starts = dict(self.runs)
        pairs: list[tuple[Fact, Fact]] = []
        before: list[Fact] = []
        at = 0
        while at < len(facts):
            end = max(starts.get(at, 0), at + 1)
            run = facts[at:end]
            pairs += product(before, run)
            at, before = end, run
        return chain(pairs, self.closings)

    def decides(self, step: Step) -> bool:
        """Whether a step decides what wagers come to."""
        shown = self.hole_read and step.to == "dealer" and step.fact == "cards_turned"
        return step.fact in DECIDES and not shown

    def paid_in_turn(self) -> Iterator[tuple[Fact, Fact]]:
        """Pairs of the last step that decides a payment, of all or of the hand, and the payment.

        One pair a payment: a single payment out of turn is no sign of a clock.
        """
        last: dict[tuple[int | None, int], tuple[int, Fact]] = {}
        for at, (step, fact) in enumerate(self.asked):
            if step.fact in DECIDES:
                if not self.hole_read or self.decides(step):
                    last[step.position, step.hand] = (at, fact)
            elif step.fact in PAYS:
                deciding = [
                    last[of] for of in ((None, 1), (step.position, step.hand)) if of in last
                ]
                if deciding:
                    yield max(deciding, key=itemgetter(0))[1], fact

    def any_order(self, since: int) -> None:
        """Let the steps taken since this index come in any order: no section orders them."""
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
        """Add a finding; `facts` are the facts it names."""
        self.findings.append(
            Finding(
                code=code,
                position=position,
                wager=wager,
                expected=expected,
                recorded=recorded,
                section=self.rules.section(section) if section else None,
                says=says,
                facts=refs(facts),
            )
        )

    # -- wagers ------------------------------------------------------------------------------

    def wagers(self, names: Sequence[str], section: str, throw: int | None = None) -> list[Fact]:
        """Record what the players put on these wagers; their facts, in order."""
        facts = self.source.wagers(names, section, throw)
        self.open_to_all.update(names)
        for fact in facts:
            body = fact.body
            if isinstance(body, WagerPlaced):
                spot = (body.position, body.wager, body.hand)
                if spot not in self.stakes:
                    self.offered(fact)
                self.stakes[spot] = (self.stakes.get(spot) or 0) + body.amount
                self.play_coupon(spot, body.coupon)
            else:
                self._withdraw(fact, said(fact, WagerWithdrawn), section)
        return facts

    def _withdraw(self, fact: Fact, body: WagerWithdrawn, section: str) -> None:
        """Remove chips that a player took back from his stake. A stake taken back whole is gone."""
        spot, known = (body.position, body.wager, 1), self.rules.game.wager(body.wager)
        lay = self.stakes.pop(spot, None) or 0
        taken = self._goes_back(fact, body, lay, known.section if known else section)
        if taken < lay:
            self.stakes[spot] = lay - taken
        coupons = self.coupons.pop(spot, ()) if taken == lay else ()
        self.taken_back[fact.source, fact.id] = (taken, coupons)

    def play_coupon(self, spot: Spot, coupon: Coupon | None) -> None:
        """Record a coupon beneath the chips of a wager. A serial seen again is the same coupon."""
        lying = self.coupons.get(spot, ())
        if coupon and all(coupon.serial != other.serial for other in lying):
            self.coupons[spot] = (*lying, coupon)

    def offered(self, fact: Fact) -> None:
        """Find an optional wager that the Rules Submission does not offer."""
        body = said(fact, WagerPlaced)
        wager = self.rules.game.wager(body.wager) if body.wager in self.rules.withheld else None
        if wager:
            why = "the Rules Submission in force does not offer it"
            self.not_permitted(body.position, body.wager, why, wager.section, (fact,))

    def awaits(self, wagers: Sequence[str], section: str) -> None:
        """Ask a position with some of these wagers for the others; with none, for the first."""
        if not self.stakes:
            self.next = Step("wager_placed", section, what=wagers[0])
        for seat in self.positions():
            owed = [wager for wager in wagers if (seat, wager, 1) not in self.stakes]
            if 0 < len(owed) < len(wagers) and self.next is None:
                self.next = Step("wager_placed", section, position=seat, what=owed[0])

    def positions(self, *, dealt_to: bool = False) -> list[int]:
        """Positions with a stake, clockwise.

        With `dealt_to`, and if facts were lost, also the positions that are dealt cards.
        """
        seats = {seat for seat, _, _ in self.stakes}
        if dealt_to and self.source.may_be_lost:
            dealt = (said(fact, CardsDealt) for fact in self.source.untaken("cards_dealt"))
            seats.update(body.position for body in dealt if body.position)
        return sorted(seats)

    def dealt_to(self, seat: int) -> bool:
        """Whether the record shows cards dealt to a position by steps still to come."""
        return any(
            said(fact, CardsDealt).position == seat for fact in self.source.untaken("cards_dealt")
        )

    def lost_before_deal(self, seat: int) -> bool:
        """Whether a position was dealt in while facts were lost: its wagers may be among them."""
        return self.source.may_be_lost and self.dealt_to(seat)

    def one_position_each(self, seats: Iterable[int], wager: str, section: str) -> None:
        """Find wagers of one player on several positions. The seats taken show who sits where."""
        betting = set(seats)
        for seat in sorted(betting):
            others = betting.intersection(self.source.seat_of(seat)) - {seat}
            if any(other < seat for other in others):
                self.not_permitted(seat, wager, "its player wagers on another position", section)

    def two_adjacent(self, seats: Iterable[int], wager: str, section: str) -> list[tuple[int, int]]:
        """Pairs of adjacent positions of one player. His wager on any other is a finding."""
        betting, pairs = set(seats), []
        held_by_one = {tuple(sorted(betting.intersection(self.source.seat_of(s)))) for s in betting}
        for held in sorted(held for held in held_by_one if len(held) > 1):
            first, second, *more = held
            if second == first + 1:
                pairs.append((first, second))
            else:
                more = [second, *more]
            for seat in more:
                why = f"its player has position {first} too, and may have two adjacent ones"
                self.not_permitted(seat, wager, why, section)
        return pairs

    def as_told(self, name: str, seats: Iterable[int]) -> list[int]:
        """Positions in the recorded order of these facts, for steps that a section does not order.

        Positions without such a fact come last, in the order given.
        """
        told = [getattr(fact.body, "position", None) for fact in self.source.untaken(name)]
        return sorted(seats, key=lambda seat: told.index(seat) if seat in told else len(told))

    def in_order_set(self, seats: Iterable[int], wager: str, section: str) -> list[int]:
        """Positions in the order their hands were set.

        A player with two positions has the one with the larger wager first. If the wagers are
        equal, they go counterclockwise.
        """
        order = self.as_told("hand_set", seats)
        if self.rules.options["adjacent_boxes"]:
            for right, left in self.two_adjacent(seats, wager, section):
                larger_last = self.stake(right, wager) <= self.stake(left, wager)
                first, second = (left, right) if larger_last else (right, left)
                one, other = order.index(first), order.index(second)
                if other < one:
                    order[one], order[other] = second, first
        return order

    def within_positions(self, section: str) -> None:
        """Find wagers at positions that the table does not have."""
        most = self.rules.game.positions
        for seat in [seat for seat in self.positions() if seat > most]:
            wager = next(wager for held, wager, _ in self.stakes if held == seat)
            self.not_permitted(seat, wager, f"the table has {most} positions", section)

    def presume(self, seat: int, wagers: Iterable[str], section: str) -> None:
        """Note wagers that play shows were there. Amounts that are not on record stay unknown."""
        for wager in wagers:
            if not self.stake(seat, wager):
                self.stakes[seat, wager, 1] = None
                self.unsettled.append(Step("wager_placed", section, None, seat, what=wager))

    def stake(self, seat: int, wager: str, hand: int = 1) -> int:
        """Cents on a wager; 0 if none was placed."""
        return self.stakes.get((seat, wager, hand)) or 0

    def betting(self, *wagers: str) -> Iterator[tuple[int, str]]:
        """Positions clockwise, each with the wagers of these that it has."""
        for seat in self.positions():
            for wager in wagers:
                if (seat, wager, 1) in self.stakes:
                    yield seat, wager

    def close(self, placed: Iterable[Fact], by: Fact | None, section: str) -> set[tuple[int, str]]:
        """Close wagers with a fact. A wager placed after it is late, but stays in the settlement.

        Chips taken back after it are still at stake, unless they were placed after it too. Put down
        again, they are the same chips. Returns the position and wager of each late wager.
        """
        late: set[tuple[int, str]] = set()
        if by is None:
            return late
        came, _ = moved_late = self._moved_late(by)
        for fact in placed:
            self.closings.append((fact, by))
            after = self.source.later_than(fact, by)
            if after is False:
                continue
            body = fact.body
            if isinstance(body, WagerWithdrawn):
                if (fact.source, fact.id) not in self.taken_back:
                    continue  # judged as it was taken in
                if after:
                    self._back_at_stake(fact, body, by, section, moved_late)
                    continue
            if isinstance(body, WagerPlaced | WagerWithdrawn):
                late.update([(body.position, body.wager)] if after else [])
                if after and isinstance(body, WagerPlaced):
                    came[body.position, body.wager, body.hand] += self.new_chips(body, by)
                self._late(body, fact, by, section, certain=after is True)
        return late

    def new_chips(self, body: WagerPlaced, by: Fact | None) -> int:
        """Cents put down after a fact that closed the wager, without those taken back after it.

        Those are the same chips, which are at stake still.
        """
        if by is None:
            return body.amount
        _, gone = self._moved_late(by)
        spot = (body.position, body.wager, body.hand)
        again = min(body.amount, gone[spot])
        if again:
            gone[spot] -= again
            self.stakes[spot] = (self.stakes.get(spot) or 0) - again
        return body.amount - again

    def _moved_late(self, by: Fact) -> tuple[Counter[Spot], Counter[Spot]]:
        """Cents of each wager that came after the fact that closed it, and that went."""
        return self.moved_late.setdefault((by.source, by.id), (Counter(), Counter()))

    def _back_at_stake(
        self,
        fact: Fact,
        body: WagerWithdrawn,
        by: Fact,
        section: str,
        moved: tuple[Counter[Spot], Counter[Spot]],
    ) -> None:
        """Put chips taken back too late at stake again, except those that came late.

        `moved` are the cents of each wager that came late, and those that went late.
        """
        came, gone = moved
        spot = (body.position, body.wager, 1)
        taken, coupons = self.taken_back.pop((fact.source, fact.id))
        own = min(taken, came[spot])
        came[spot] -= own
        if own and own == body.amount:
            return
        if taken > own:
            self.stakes[spot] = (self.stakes.get(spot) or 0) + taken - own
            gone[spot] += taken - own
        for coupon in coupons:
            self.play_coupon(spot, coupon)
        seen = by if _shows(by, body.position) else self._seen(body.position)
        self._taken_late(fact, body, (by, seen), section)

    def _seen(self, seat: int, after: Fact | None = None) -> Fact | None:
        """The next fact that shows cards or dice which decide a position's wagers."""
        coming = sorted(
            (
                fact
                for name in ("cards_dealt", "cards_turned", "dice_thrown", "hole_card_checked")
                for fact in self.source.untaken(name)
                if _shows(fact, seat)
            ),
            key=cmp_to_key(self._came),
        )
        return next((f for f in coming if not after or self.source.later_than(f, after)), None)

    def _taken_late(
        self, fact: Fact, body: WagerWithdrawn, by: tuple[Fact, Fact | None], section: str
    ) -> None:
        """Find chips taken back after wagers closed, or after their cards or dice were seen."""
        closing, seen = by
        if seen and self.source.later_than(fact, seen):
            why = f"{dollars(body.amount)} was taken back after its cards or dice were seen"
            self.not_permitted(body.position, body.wager, why, section, (fact, seen))
        else:
            self._late(body, fact, closing, section, certain=True)

    def _late(
        self,
        body: WagerPlaced | WagerWithdrawn,
        fact: Fact,
        by: Fact,
        section: str,
        *,
        certain: bool,
    ) -> None:
        """Find chips that moved after wagers closed, or at about that time."""
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

    def within_posted(
        self, seat: int, wager: str, least: str, most: str | None, facts: Iterable[Fact]
    ) -> None:
        """Find a wager outside the posted minimum (by `least`) or maximum (by `most`); it stays.

        Without `most`, the wager must equal the minimum. Its chips are among `facts`. A limit or an
        amount that is not on record finds nothing.
        """
        cents = self.stake(seat, wager)
        if self.posted is None or not cents:
            return
        limits = said(self.posted, TableOpened)
        at_most = limits.max_wager if most else limits.min_wager
        if limits.min_wager <= cents <= at_most:
            return
        below = cents < limits.min_wager or not most
        limit, name = (limits.min_wager, "minimum") if below else (at_most, "maximum")
        why = f"it is {dollars(cents)}, and the posted {name} is {dollars(limit)}"
        its = [fact for fact in facts if _moves(fact.body, seat, wager)]
        section = least if below else most
        self.not_permitted(seat, wager, why, section or least, (*its, self.posted), limit, cents)

    def not_permitted(
        self,
        seat: int,
        wager: str,
        why: str,
        section: str,
        facts: Iterable[Fact] = (),
        expected: int | None = None,
        recorded: int | None = None,
    ) -> None:
        """Find a wager that the section does not allow; it stays in the settlement."""
        self.find(
            "wager_not_permitted",
            f"Position {seat}'s {self.name(wager)} is not permitted: {why} "
            f"({self.rules.section(section)}).",
            section,
            position=seat,
            wager=wager,
            facts=facts,
            expected=expected,
            recorded=recorded,
        )

    def name(self, wager: str) -> str:
        """A wager's printed name; the title of a paytable that is paid beside a wager."""
        known = self.rules.game.wager(wager)
        if known:
            return known.name
        beside = any(wager in table.wagers for table in self.rules.game.paytables)
        return wager.replace("_", " ").capitalize() if beside else wager

    # -- dice and markers --------------------------------------------------------------------

    def offered_dice(self, section: str) -> None:
        """Judge the offers of the dice: clockwise until a player accepts, who then throws."""
        offers = self.source.untaken("dice_offered")
        places = [said(fact, DiceOffered).position for fact in offers]
        first = places[0] if places else 0
        turns = [(place - first) % self.rules.game.positions for place in places]
        for fact, place, turn, before in zip(
            offers[1:], places[1:], turns[1:], turns, strict=False
        ):
            if turn <= before:
                self._out_of_turn(place, "was offered the dice out of turn", section, fact)
        taker = [
            place
            for fact, place in zip(offers, places, strict=True)
            if said(fact, DiceOffered).accepted
        ]
        for fact in self.source.untaken("dice_thrown")[:1]:
            thrower = said(fact, DiceThrown).position
            if taker and thrower not in (None, taker[-1]):
                self._out_of_turn(thrower, "threw dice that another accepted", section, fact)

    def _out_of_turn(self, position: int | None, what: str, section: str, fact: Fact) -> None:
        says = f"Position {position} {what} ({self.rules.section(section)})."
        self.find("out_of_turn", says, section, position=position, facts=(fact,))

    def throw(
        self, section: str, purpose: str = "down", dice: int = 3
    ) -> tuple[Fact, tuple[int, ...]]:
        """Ask for a valid throw: its fact and the dice, a defensive die last.

        Raises Stop without a throw, or if the number of dice is not the game's.
        """
        fact = self.take(
            Step("dice_thrown", section, what=purpose, throw=self.throws + 1, dice=dice)
        )
        if fact is None:
            raise Stop
        self.throws += 1
        body = said(fact, DiceThrown)
        three = body.offensive and body.defensive and (*body.offensive, body.defensive)
        shown = three or body.dice or ()
        if len(shown) != dice or bool(three) != (dice == THREE_DICE):
            self._misread(fact, section, purpose, len(shown), dice)
            raise Stop
        return fact, shown

    def _misread(self, fact: Fact, section: str, purpose: str, shown: int, dice: int) -> None:
        """Find a throw recorded with another game's dice: its result is not on record."""
        self.unsettled.append(Step("dice_thrown", section, what=purpose, throw=self.throws))
        self.find(
            "step_missing",
            f"A throw was recorded with {shown} dice, as in another game; this one is played with "
            f"{dice} ({self.rules.section(section)}).",
            section,
            facts=(fact,),
            expected=f"{dice} dice",
            recorded=f"{shown} dice",
        )

    def mark(self, marker: str, at: int, section: str, *, or_at: int | None = None) -> None:
        """Ask for a puck. If a device reports pucks, a wrong place is a finding.

        `or_at` is the same place counted otherwise.
        """
        step = Step("marker_placed", section, what=marker, at=(at,), throw=self.throws)
        fact = self.expect(step)
        if fact is None:
            return
        placed = said(fact, MarkerPlaced).at
        if str(placed) not in (str(at), str(or_at)):
            self.find(
                "step_missing",
                f"The {marker.replace('_', ' ')} marker was placed at {placed}; "
                f"{self.rules.section(section)} places it at {at}.",
                section,
                expected=str(at),
                recorded=str(placed),
                facts=(fact,),
            )

    # -- cards -------------------------------------------------------------------------------

    def announce(self, fact: str, section: str) -> Fact | None:
        """Ask for a call of the dealer, as "no more bets"."""
        return self.take(Step(fact, section))

    def deal(
        self,
        to: str,
        count: int,
        section: str,
        position: int | None = None,
        hand: int = 1,
        *,
        face: Literal["up", "down"] = "down",
        before: tuple[str, ...] = (),
    ) -> list[str]:
        """Deal until the holder has `count` cards; his cards in the order they left the deck.

        `before` names steps of play: cards dealt after one of them belong to another deal.
        """
        held = self.cards.setdefault((to, position, hand), [])
        while (due := count - len(held)) > 0:
            step = Step("cards_dealt", section, to, position, hand, None, due, face, before=before)
            fact = self.take(step)
            if fact is None:
                break
            self.hold(held, fact)
        return held

    def hold(self, held: list[str], fact: Fact) -> None:
        """Add the cards of a deal to a holder's cards."""
        body = said(fact, CardsDealt)
        if body.face == "up":
            faces = range(len(held), len(held) + len(body.cards))
            spot = (body.to, body.position, body.hand)
            self.exposed.setdefault(spot, set()).update(faces)
        held.extend(body.cards)

    def counted(
        self,
        due: Mapping[tuple[str, int | None], int],
        section: str,
        before: Sequence[str] = (),
    ) -> None:
        """Find holders with a wrong number of cards. Raises Void, or Stop if more may come.

        `before` names steps of play: cards dealt after one of them belong to another deal.

        A missing card is no misdeal if a sequence gap shows that facts were lost, or if a later
        turn shows the cards. Which card was lost is not known, so the holder's other cards lose
        their places and turns.
        """
        for fact in self.source.untaken("cards_dealt", before):
            body = said(fact, CardsDealt)
            self.hold(self.cards.setdefault((body.to, body.position, body.hand), []), fact)
            self.source.take(Step("cards_dealt", section, body.to, body.position, body.hand))
        wrong = {}
        for spot, held in self.cards.items():
            over = len(held) - due.get(spot[:2], 0)
            lost = self.source.may_be_lost or self.source.shown(*spot) >= due.get(spot[:2], 0)
            if over > 0 or (over < 0 and not lost):
                wrong[spot] = over
            elif over < 0:
                self.forget_order(*spot)
                held.clear()
                over = -due[spot[:2]]
            held.extend([UNKNOWN_CARD] * -over)
        if not wrong:
            return
        if self.source.ended and max(wrong.values()) < 0:
            raise Stop
        for (to, position, _), over in wrong.items():
            who = f"Position {position}" if position else f"The {to} area"
            owed = due.get((to, position), 0)
            self.find(
                "misdeal",
                f"{who} was dealt {owed + over} cards and is due {owed} "
                f"({self.rules.section(section)}).",
                section,
                position=position,
                expected=str(owed),
                recorded=str(owed + over),
            )
        raise Void(section)

    def forget_order(self, to: str, position: int | None = None, hand: int = 1) -> None:
        """Forget which step each deal of a holder answered: one of them is lost."""
        spot = (to, position, hand)
        self.forget(
            lambda step: step.fact == "cards_dealt" and (step.to, step.position, step.hand) == spot
        )

    def forget(self, steps: Callable[[Step], bool]) -> None:
        """Forget which facts answered these steps: one is lost, so none has a known order."""
        self.taken = [taken for taken in self.taken if not steps(taken[0])]
        self.asked = [asked for asked in self.asked if not steps(asked[0])]

    def stub(self, deck_cards: int, section: str) -> None:
        """Compare a counted stub with the cards that were not dealt. Raises Void."""
        fact = self.source.take(Step("stub_counted", section))
        if fact is None or self.source.may_be_lost:
            return
        counted = said(fact, StubCounted).counted
        due = deck_cards - self.source.gone_from_deck()
        if counted != due:
            self.find(
                "misdeal",
                f"The stub held {counted} cards; {due} of {deck_cards} should have been left "
                f"({self.rules.section(section)}).",
                section,
                expected=str(due),
                recorded=str(counted),
                facts=(fact,),
            )
            raise Void(section)

    def exchange(
        self,
        to: str,
        discards: Sequence[str] | None,
        section: str,
        position: int | None = None,
        *,
        ways: Ways | None = None,
    ) -> list[str]:
        """Exchange cards of a holder: the cards he keeps, in order. `deal` gives him the new ones.

        `discards` are the cards that a decision named; None if only the exchange names them.
        """
        step = Step("cards_exchanged", section, to, position, ways=ways)
        fact = self.take(step) if discards is None else self.expect(step)
        given = said(fact, CardsExchanged).discards if fact else tuple(discards or ())
        held = self.cards.setdefault((to, position, 1), [])
        open_ = self.exposed.setdefault((to, position, 1), set())
        for card in given:
            gone = card if card in held else UNKNOWN_CARD
            if gone in held:
                place = held.index(gone)
                del held[place]
                kept = {index - (index > place) for index in open_ if index != place}
                open_.clear()
                open_.update(kept)
            else:
                self._not_held(to, position, card, section, fact)
        self.discarded.setdefault((to, position), []).extend(given)
        return held

    def set_hand(
        self,
        to: str,
        sizes: Mapping[str, int],
        section: str,
        position: int | None = None,
        *,
        ways: Ways | None = None,
        must: bool = True,
    ) -> Mapping[str, Sequence[str]] | None:
        """A holder's cards arranged into hands of these sizes. The last setting holds.

        None if it is not on record, or does not have these sizes. Play continues without an
        optional setting (`must` false).
        """
        step = Step("hand_set", section, to, position, ways=ways, may=not must)
        fact = self.take(step) if must else self.may_take(step)
        again = fact and self.source.take(replace(step, may=True))
        while again:
            fact, again = again, self.source.take(replace(step, may=True))
        if fact is None:
            return None
        hands = said(fact, HandSet).hands
        if {name: len(cards) for name, cards in hands.items()} != dict(sizes):
            due = ", ".join(f"{name} of {count}" for name, count in sizes.items())
            who = f"Position {position}" if position else f"The {to}"
            says = f"{who} did not set hands of {due} ({self.rules.section(section)})."
            self.find("hand_misset", says, section, facts=(fact,), position=position)
            return None
        self._arranged(to, position, hands, section, fact)
        return hands

    def _arranged(
        self,
        to: str,
        position: int | None,
        hands: Mapping[str, Sequence[str]],
        section: str,
        fact: Fact,
    ) -> None:
        """Compare a setting with the cards dealt. It shows a card that the shoe did not read."""
        self.arranged.add((to, position))
        held = self.cards.setdefault((to, position, 1), [])
        shown = [card for cards in hands.values() for card in cards]
        for card in held:
            if card in shown:
                shown.remove(card)
        for card in shown:
            if UNKNOWN_CARD in held:
                held[held.index(UNKNOWN_CARD)] = card
            else:
                self._not_held(to, position, card, section, fact)

    def _not_held(
        self, to: str, position: int | None, card: str, section: str, fact: Fact | None
    ) -> None:
        """Find a card that a fact names for a holder who was not dealt it."""
        if card == UNKNOWN_CARD:
            return
        who = f"position {position}" if position else f"the {to}"
        says = f"{card} was not among the cards of {who} ({self.rules.section(section)})."
        facts = (fact,) if fact else ()
        self.find("card_mismatch", says, section, facts=facts, position=position, recorded=card)

    def reshuffle(self, section: str, *, keep: int) -> Fact | None:
        """Put the discards back into the deck, except those of position `keep`."""
        fact = self.take(Step("discards_reshuffled", section, position=None))
        for spot in [spot for spot in self.discarded if spot[1] != keep]:
            del self.discarded[spot]
        return fact

    def unexposed(self, to: str, section: str, *, but: int | None = None) -> None:
        """Void the round if a card of a holder was dealt face up, other than `but`. Raises Void."""
        if self.exposed.get((to, None, 1), {but}) - {but}:
            raise Void(section)

    def turn(
        self,
        to: str,
        at: Sequence[int],
        section: str,
        position: int | None = None,
        hand: int = 1,
        *,
        early: str | None = None,
        must: bool = True,
    ) -> Fact | None:
        """Turn these cards of a holder face up; the last fact that turned one. The card seen rules.

        `early` is the paragraph that voids a round if another card shows. Without `must`, play goes
        on if the cards are not turned. Raises Void.
        """
        held = self.cards.setdefault((to, position, hand), [])
        face_up = self.exposed.setdefault((to, position, hand), set())
        due_up = face_up.union(at)
        fact = None
        while not face_up.issuperset(at):
            due = tuple(index for index in at if index not in face_up)
            step = Step("cards_turned", section, to, position, hand, at=due)
            fact = self.take(step) if must else self.expect(step)
            if fact is None:
                break
            body = said(fact, CardsTurned)
            has = max(len(held), *(index + 1 for index in at))
            for index, card in zip(indexes(body), body.cards, strict=False):
                if index >= has:
                    self._not_held(to, position, card, section, fact)
                    continue
                if (to, position) in self.arranged:
                    _bring(held, card, index, face_up)
                face_up.add(index)
                self._see(held, index, card, fact, section)
            if early and not face_up <= due_up:
                raise Void(early)
        return fact

    def may_turn(self, to: str, at: Sequence[int], section: str) -> None:
        """Turn these cards where the record has it; no wager goes by them, so nothing is amiss."""
        if any(said(fact, CardsTurned).to == to for fact in self.source.untaken("cards_turned")):
            self.turn(to, at, section, must=False)

    def _see(self, held: list[str], index: int, card: str, fact: Fact, section: str) -> None:
        """Put a card seen face up in its place; find one that the shoe had read otherwise."""
        held.extend([UNKNOWN_CARD] * (index + 1 - len(held)))
        dealt = held[index]
        if card in (dealt, UNKNOWN_CARD):
            return
        held[index] = card
        if dealt == UNKNOWN_CARD:
            return
        body = said(fact, CardsTurned)
        where = f"position {body.position}" if body.position else f"the {body.to} cards"
        self.find(
            "card_mismatch",
            f"Card {index + 1} of {where} was dealt as {dealt} and turned as {card}; "
            f"the card seen is the one ruled on.",
            section,
            position=body.position,
            expected=dealt,
            recorded=card,
            facts=(fact,),
        )

    def discard(self, section: str, to: str, position: int | None = None, hand: int = 1) -> None:
        """Ask for a hand to be put into the discard rack."""
        self.expect(Step("hand_discarded", section, to, position, hand))

    # -- decisions ---------------------------------------------------------------------------

    def offer(
        self,
        seat: int,
        wager: str,
        choices: Sequence[int],
        section: str,
        hand: int = 1,
        *,
        turns_show: bool = True,
    ) -> list[Fact] | None:
        """Ask a player for a wager of one of these amounts: the facts that place it.

        None if he folds or is passed over. An empty list if the wager is lost, but the record shows
        his hand in play afterwards. With `turns_show`, turned cards of the hand show that. Leave it
        off if a folded hand is turned for another wager.
        """
        step = Step(
            "wager_placed",
            section,
            None,
            seat,
            hand,
            wager,
            choices=choices,
            instead="decision_made",
            turns_show=turns_show,
        )
        self.opened.add((seat, wager, hand))
        self.choices.add((seat, "fold", hand))
        fact = self.expect(step) if self.source.gone(seat) else self.take(step)
        if fact is None and self.source.plays_on(seat, turns_show=turns_show):
            self._lost(step)
            return []
        if fact is None or not isinstance(fact.body, WagerPlaced):
            return None
        placed = self._all_of(fact, step)
        # A player who took all of it back is asked again.
        return placed or self.offer(seat, wager, choices, section, hand, turns_show=turns_show)

    def add(
        self,
        seat: int,
        wager: str,
        choices: Sequence[int],
        section: str,
        hand: int = 1,
        *,
        due: bool = False,
    ) -> list[Fact]:
        """Ask for chips that a player may put down now, or must after his decision (`due`)."""
        step = Step("wager_placed", section, None, seat, hand, wager, choices=choices, may=not due)
        self.opened.add((seat, wager, hand))
        fact = self.take(step) if due else self.may_take(step)
        if fact is None:
            if due:
                self._lost(step)
            return []
        placed = self._all_of(fact, step)
        if placed:
            return placed
        if isinstance(fact.body, WagerWithdrawn):
            self.taken.pop()  # taking back chips that never lay there is no step of play
            return self.add(seat, wager, choices, section, hand, due=due)
        if due:
            self.take(step)  # none lies there, though it was decided
        return []

    def _lost(self, step: Step) -> None:
        """Note a wager that play shows, but the record lacks: its amount is not known."""
        self.stakes[step.position or 0, step.what or "", step.hand] = None
        self.unsettled.append(step)

    def _all_of(self, fact: Fact, step: Step) -> list[Fact]:
        """All facts that place or withdraw one wager. What then lies there is its stake.

        Empty if all of it was taken back in time.
        """
        moved, more = [fact], self.source.take(replace(step, instead=None, may=True))
        while more is not None:
            moved.append(more)
            more = self.source.take(replace(step, instead=None, may=True))
        stake, spot = self._left(moved, step), (step.position or 0, step.what or "", step.hand)
        if not stake and any(isinstance(each.body, WagerWithdrawn) for each in moved):
            return []
        if spot not in self.stakes:
            self.offered(next(each for each in moved if isinstance(each.body, WagerPlaced)))
        self.stakes[spot] = stake
        for each in moved:
            self.play_coupon(spot, getattr(each.body, "coupon", None))
        if step.choices and stake not in step.choices:
            why = f"it is {dollars(stake)}, not {_among(step.choices)}"
            self.not_permitted(spot[0], spot[1], why, step.section, moved)
        return moved

    def _left(self, moved: Sequence[Fact], step: Step) -> int:
        """Cents at stake of one wager, after chips came and went in this order.

        Chips taken back too late stay at stake, except those that came as late themselves. Put down
        again, they are the same chips. Too late is after decisions are locked, the hand is set, or
        cards that decide it are seen.
        """
        if len(moved) == 1 and isinstance(moved[0].body, WagerPlaced):
            return moved[0].body.amount
        seat = step.position or 0
        locks = self.source.untaken("decisions_locked_called")[:1]
        own = [fact for fact in self.source.untaken("hand_set") if fact.body.position == seat]  # type: ignore[attr-defined]  # what a player does
        seen = self._seen(seat, *locks)
        closing = next(iter([*locks, *own[:1]]), seen)
        lies = late = gone = 0  # cents: at stake, placed too late, taken back too late
        for fact in sorted(moved, key=cmp_to_key(self._came)):
            body = fact.body
            after = False if closing is None else self.source.later_than(fact, closing)
            if isinstance(body, WagerPlaced):
                new = body.amount - min(body.amount, gone)
                gone -= body.amount - new
                lies += new
                late += new if after else 0
                continue
            back = said(fact, WagerWithdrawn)
            goes = min(back.amount, late)
            late -= goes
            if closing and after and back.amount > goes:
                lies -= goes
                gone += min(back.amount - goes, lies - gone)
                self._taken_late(fact, back, (closing, seen), step.section)
                continue
            if closing and after is None:
                self._late(back, fact, closing, step.section, certain=False)
            lies -= self._goes_back(fact, back, lies, step.section)
        return lies

    def _goes_back(self, fact: Fact, body: WagerWithdrawn, lay: int, section: str) -> int:
        """Cents taken back of those at stake. More is a finding, unless facts were lost."""
        if lay < body.amount and not self.source.may_be_lost:
            why = f"{dollars(body.amount)} was taken back, but only {dollars(lay)} was there"
            self.not_permitted(body.position, body.wager, why, section, (fact,))
        return min(lay, body.amount)

    def decide(
        self,
        seat: int,
        options: Sequence[str],
        section: str,
        hand: int = 1,
        *,
        costs: Mapping[str, int] | None = None,
        ways: Ways | None = None,
        may: bool = False,
        only: Sequence[str] = (),
    ) -> DecisionMade | None:
        """Ask for a player's decision, one of these; None if it is not on record.

        With `may` he need not decide: None if his next decision is another one. `costs` gives the
        cents of the decisions that cost something. `ways` gives further fields for a simulation.
        With `only`, a decision not among these is a later one, and this one is not on record.
        """
        step = Step(
            "decision_made",
            section,
            None,
            seat,
            hand,
            options=tuple(options),
            costs=costs,
            ways=ways,
            may=may,
            only=tuple(only),
            until="card_burned" if only else None,
        )
        self.choices.update((seat, option, hand) for option in options)
        fact = self.may_take(step) if may else self.take(step)
        if fact is None:
            return None
        body = said(fact, DecisionMade)
        if body.decision not in options:
            says = (
                f"Position {seat} decided to {body.decision.replace('_', ' ')}, which is not open "
                f"to him here ({self.rules.section(section)})."
            )
            self.find(
                "decision_not_permitted",
                says,
                section,
                facts=(fact,),
                position=seat,
                expected=", ".join(options),
                recorded=body.decision,
            )
        return body

    def fee(
        self, seat: int, name: str, cents: int, section: str, purpose: str | None
    ) -> Fact | None:
        """Ask for a fee that a player pays the house, and settle it."""
        step = Step("fee_paid", section, None, seat, what=fee_name(name, purpose), amount=cents)
        fact = self.expect(step)
        self.settlements.append(fee(seat, name, cents, self.rules.section(section)))
        return fact

    def left_table(self, seat: int) -> bool:
        """Whether the player left the table during the round."""
        return self.source.gone(seat)

    # -- settlement --------------------------------------------------------------------------

    def settle(
        self,
        seat: int,
        wager: str,
        table: Paytable,
        outcome: object,
        lost: str,
        *,
        throw: int | None = None,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a wager by its paytable; `lost` is the paragraph that collects it.

        Nothing happens if none was placed. An outcome of None (a card not known) leaves it open.
        `readings` are those that decided the outcome.
        """
        spot = (seat, wager, hand)
        if spot not in self.stakes:
            return
        if self.stakes[spot] is None or outcome is None:
            self.unsettled.append(Step("wager_paid", lost, None, seat, hand, wager))
            return
        row = table.pays(outcome, self.rules.readings)
        rows = [row] if row else []
        self.settle_rows(seat, wager, table, rows, lost, throw=throw, hand=hand, readings=readings)

    def settle_rows(
        self,
        seat: int,
        wager: str,
        table: Paytable,
        rows: Sequence[PaytableRow],
        lost: str,
        *,
        throw: int | None = None,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a wager by rows already found. Two rows both pay it; with no row it is lost."""
        section = table.section if rows else lost
        how = How(throw, table.letter, readings)
        self._decide((seat, wager, hand), rows, section, how)

    def pay_beside(
        self,
        seat: int,
        name: str,
        stake: int,
        table: Paytable,
        outcome: object,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a payout on the stake of another wager; nothing if none is won.

        An outcome of None (a card not known) leaves it open.
        """
        if outcome is None:
            self.unsettled.append(Step("wager_paid", table.section, None, seat, hand, name))
            return
        row = table.pays(outcome, self.rules.readings)
        if row is not None and stake:
            spot = (seat, name, hand)
            how = How(letter=table.letter, readings=readings)
            self.keep(decided(spot, stake, [row], self.rules, table.section, how))

    def collect(
        self,
        seat: int,
        wager: str,
        section: str,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a lost wager; `readings` are those that decided it."""
        if (seat, wager, hand) in self.stakes:
            self._decide((seat, wager, hand), (), section, How(readings=readings))

    def push(
        self,
        seat: int,
        wager: str,
        section: str,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a wager that nobody won: it goes back. `readings` are those that decided it."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, 0)
        if stake is None:
            self.unsettled.append(Step("wager_returned", section, None, seat, hand, wager))
        elif stake:
            self.keep(pushed(spot, stake, self.rules, section, readings))

    def forfeit(self, seat: int, section: str, keep: Sequence[str] = ()) -> None:
        """Settle a hand given up: its wagers are collected, its cards go into the rack."""
        for held, wager, hand in list(self.stakes):
            if held == seat and wager not in keep:
                self.collect(seat, wager, section, hand=hand)
        self.discard(section, "player", seat)

    def give_back(self, seat: int, wager: str, section: str, hand: int = 1) -> None:
        """Return a wager that is void or never came into play."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, None)
        if stake is not None:
            self.keep(voided(spot, stake, self.rules.section(section)))

    def surrender(
        self, seat: int, wager: str, section: str, hand: int = 1, readings: Sequence[str] = ()
    ) -> None:
        """Settle a surrendered wager: half is lost, the other half goes back."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, None)
        if stake is not None:
            self.keep(halved(spot, stake, self.rules, section, readings))

    def award(
        self, seat: int, cents: int, section: str, number: int = 0, share: str | None = None
    ) -> None:
        """Ask for a pot or a share of one to go to a winner; `share_of_pots` settles it."""
        what = pot_name(number, share)
        self.expect(Step("pot_awarded", section, None, seat, what=what, amount=cents))

    def share_of_pots(
        self,
        seat: int,
        put_in: int,
        won: int,
        section: str,
        *,
        row: str | None = None,
        reading: str | None = None,
    ) -> None:
        """Settle what a player won of the pots, less what he put in."""
        self.stakes.pop((seat, POT, 1), None)
        named = (reading, as_json(self.rules.readings[reading])) if reading else None
        self.settlements.append(pot(seat, put_in, won, self.rules.section(section), row, named))

    def meter(self, name: str, section: str) -> int | None:
        """The reading of a progressive meter when a win was paid from it, cents, or None."""
        fact = self.expect(Step("meter_read", section, what=name))
        return said(fact, MeterRead).amount if fact else None

    def _decide(self, spot: Spot, rows: Sequence[PaytableRow], section: str, how: How) -> None:
        """Settle a stake, and ask for its payment."""
        seat, wager, hand = spot
        stake = self.stakes.pop(spot)
        if stake is None:
            self.unsettled.append(Step("wager_collected", section, None, seat, hand, wager))
            return
        if self.coupons or self.most:
            face, even = self.known.faces(self.coupons.get(spot, ()))
            how = replace(how, face=face, even=even, most=self.most.get(seat))
        settled = decided(spot, stake, rows, self.rules, section, how)
        if how.most:
            self.most[seat] = (how.most[0] - max(settled.net, 0), how.most[1])
        self.keep(settled)

    def limit(self, seat: int, section: str) -> None:
        """Limit what a position can still win to the holder's payout limit of a round, if any."""
        cents = self.rules.limits.get("payout_per_player_round")
        if cents is not None:
            self.most[seat] = (cents, section)

    def keep(self, settlement: Settlement) -> None:
        """Add a settlement and ask for its chips to move; for a surrender, both ways."""
        dropped: Sequence[Step] = ()
        if self.coupons:
            spot = (settlement.position, settlement.wager, settlement.hand)
            played = self.known.in_play(self.coupons.pop(spot, ()))
            self.redeemed += [(coupon, settlement) for coupon in played]
            settlement, dropped = redeem(played, self.known, self.rules.readings, settlement)
        self.settlements.append(settlement)
        lost = -settlement.net
        fact = PAYMENT[settlement.outcome]
        moved = settlement.net if fact == "wager_paid" else settlement.stake
        self._move(fact, lost if settlement.outcome == "lose" else moved, settlement)
        if settlement.outcome == "lose" and lost < settlement.stake:
            self._move("wager_returned", settlement.stake - lost, settlement)
        for step in dropped:
            self.expect(step)

    def _move(self, fact: str, cents: int, of: Settlement) -> None:
        """Ask for the chips of a settlement to move."""
        section = of.section.removeprefix(f"{self.rules.edition.chapter}.")
        self.expect(
            Step(
                fact,
                section,
                None,
                of.position,
                of.hand,
                of.wager,
                amount=cents,
                throw=of.throw,
                paid_from=of.paid_from,
            )
        )


def _moves(body: object, seat: int, wager: str) -> bool:
    """Whether a fact moves chips of this wager before it is decided."""
    if isinstance(body, WagerPlaced | WagerWithdrawn):
        return (body.position, body.wager) == (seat, wager)
    return False


def _shows(fact: Fact, seat: int) -> bool:
    """Whether a fact shows cards or dice that decide a position's wagers: its own, or everybody's.

    Cards are seen if they are turned or dealt face up. A hole card that was read counts as seen.
    """
    body = fact.body
    if isinstance(body, CardsTurned) or (isinstance(body, CardsDealt) and body.face == "up"):
        return body.position in (None, seat)
    return isinstance(body, DiceThrown | HoleCardChecked)


def _bring(held: list[str], card: str, to: int, face_up: set[int]) -> None:
    """Move an arranged card to the place where it was turned: a set hand is turned in any order."""
    places = [place for place in range(len(held)) if place not in face_up]
    for wanted in (card, UNKNOWN_CARD):
        place = next((place for place in places if held[place] == wanted), None)
        if place is not None and to in places:
            held[to], held[place] = held[place], held[to]
            return


def _among(choices: Sequence[int]) -> str:
    """The amounts that a player may wager, in words."""
    if isinstance(choices, range):
        return f"between {dollars(choices[0])} and {dollars(choices[-1])}"
    return "one of " + ", ".join(dollars(choice) for choice in choices)
