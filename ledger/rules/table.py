"""The verbs a game is written in. Each names the section that requires it and asks for the fact.

The same `play` serves a record (it is adjudicated), a record that ends early (what must come next),
an irregularity on record (what follows), and chance (a round is dealt). Which of them, the `Source`
decides. Nothing here knows a clock or a file, and nothing raises because a rule was broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    DiceThrown,
    MarkerPlaced,
    WagerPlaced,
    WagerWithdrawn,
)
from ledger.facts.rounds import indexes
from ledger.rules.ruling import FactRef, Finding
from ledger.rules.settling import decided, voided
from ledger.rules.steps import PAYMENT, Source, Spot, Step, Stop, Void, said
from ledger.values import UNKNOWN_CARD, dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.rules.game import InForce
    from ledger.rules.odds import Paytable, Row
    from ledger.rules.ruling import Settlement
    from ledger.wire import Fact


class Table:
    """One round in progress, as `play` sees it."""

    def __init__(self, source: Source, rules: InForce, dealt_from: str | None = None) -> None:
        self.source = source
        self.rules = rules
        self.dealt_from = dealt_from
        self.stakes: dict[Spot, int | None] = {}  # None: placed, the amount not on record
        self.cards: dict[tuple[str, int | None, int], list[str]] = {}
        self.exposed: dict[tuple[str, int | None, int], set[int]] = {}
        self.settlements: list[Settlement] = []
        self.findings: list[Finding] = []
        self.taken: list[tuple[Step, Fact]] = []
        self.missing: list[Step] = []
        self.unsettled: list[Step] = []
        self.next: Step | None = None
        self.closings: list[tuple[Fact, Fact]] = []  # a wager, and the fact that closed it
        self.throws = 0

    # -- asking ------------------------------------------------------------------------------

    def take(self, step: Step) -> Fact | None:
        """A step of play: the fact that answers it. Raises Stop where the record ends."""
        fact = self.source.take(step)
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
        if fact is not None:
            self.next = None
        elif self.next is None:
            self.next = step
        return fact

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
                    self._offered(fact)
                self.stakes[spot] = (self.stakes.get(spot) or 0) + body.amount
            else:
                self._withdraw(said(fact, WagerWithdrawn))
        return facts

    def _withdraw(self, body: WagerWithdrawn) -> None:
        """Chips taken back; a wager taken back whole is none."""
        spot = (body.position, body.wager, 1)
        self.stakes[spot] = (self.stakes.get(spot) or 0) - body.amount
        if self.stakes[spot] == 0:
            del self.stakes[spot]

    def _offered(self, fact: Fact) -> None:
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

    def positions(self) -> list[int]:
        """Positions with a stake, clockwise."""
        return sorted({seat for seat, _, _ in self.stakes})

    def one_position_each(self, seats: Iterable[int], wager: str, section: str) -> None:
        """A player may wager on one position only; the seats taken say who sits where."""
        betting = set(seats)
        for seat in sorted(betting):
            others = betting.intersection(self.source.seat_of(seat)) - {seat}
            if any(other < seat for other in others):
                self.not_permitted(seat, wager, "its player wagers on another position", section)

    def stake(self, seat: int, wager: str, hand: int = 1) -> int:
        """Cents on a wager; 0 where none was placed."""
        return self.stakes.get((seat, wager, hand)) or 0

    def betting(self, *wagers: str) -> Iterator[tuple[int, str]]:
        """Positions clockwise, and each of these wagers that lies there."""
        for seat in self.positions():
            for wager in wagers:
                if (seat, wager, 1) in self.stakes:
                    yield seat, wager

    def close(self, placed: Iterable[Fact], by: Fact | None, section: str) -> None:
        """Wagers close with a fact: one placed after it is late (and stays in the settlement)."""
        if by is None:
            return
        for fact in placed:
            self.closings.append((fact, by))
            late = self.source.later_than(fact, by)
            body = fact.body
            if late is False or not isinstance(body, WagerPlaced):
                continue
            code, how = ("late_wager", "after") if late else ("order_uncertain", "about when")
            self.find(
                code,
                f"Position {body.position} put {dollars(body.amount)} on {self.name(body.wager)} "
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

    # -- steps of play -----------------------------------------------------------------------

    def announce(self, fact: str, section: str) -> Fact | None:
        """The dealer says it."""
        return self.take(Step(fact, section))

    def deal(
        self, to: str, count: int, section: str, position: int | None = None, hand: int = 1
    ) -> list[str]:
        """Deal until the holder has `count` cards; in the order they came off the deck."""
        held = self.cards.setdefault((to, position, hand), [])
        while len(held) < count:
            fact = self.take(
                Step("cards_dealt", section, to, position, hand, cards=count - len(held))
            )
            if fact is None:
                break
            self.hold(held, fact)
        return held

    def hold(self, held: list[str], fact: Fact) -> None:
        """Add the cards of a deal to a holder's."""
        body = said(fact, CardsDealt)
        if body.face == "up":
            faces = range(len(held), len(held) + len(body.cards))
            spot = (body.to, body.position, body.hand)
            self.exposed.setdefault(spot, set()).update(faces)
        held.extend(body.cards)

    def counted(self, due: Mapping[tuple[str, int | None], int], section: str) -> None:
        """Everyone has as many cards as the deal gives. Raises Void (or Stop, if it may go on).

        A card too few is no misdeal where a device's sequence shows that facts were lost.
        """
        for fact in self.source.left("cards_dealt"):
            body = said(fact, CardsDealt)
            self.hold(self.cards.setdefault((body.to, body.position, body.hand), []), fact)
            self.source.take(Step("cards_dealt", section, body.to, body.position, body.hand))
        wrong = {}
        for spot, held in self.cards.items():
            over = len(held) - due.get(spot[:2], 0)
            if over > 0 or (over < 0 and not self.source.excused):
                wrong[spot] = over
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

    def unexposed(self, to: str, due: Sequence[int], section: str) -> None:
        """No card of a holder is face up but these. Raises Void."""
        early = self.exposed.get((to, None, 1), set()).difference(due)
        if early:
            self.next = None
            raise Void(section)

    def turn(
        self,
        to: str,
        at: Sequence[int],
        section: str,
        position: int | None = None,
        hand: int = 1,
    ) -> Fact | None:
        """Turn these cards of a holder face up; the last fact that did. What is seen rules."""
        held = self.cards.setdefault((to, position, hand), [])
        face_up = self.exposed.setdefault((to, position, hand), set())
        fact = None
        while not face_up.issuperset(at):
            due = tuple(index for index in at if index not in face_up)
            fact = self.take(Step("cards_turned", section, to, position, hand, at=due))
            if fact is None:
                break
            body = said(fact, CardsTurned)
            for index, card in zip(indexes(body), body.cards, strict=False):
                face_up.add(index)
                self._see(held, index, card, fact, section)
        return fact

    def _see(self, held: list[str], index: int, card: str, fact: Fact, section: str) -> None:
        """Put a card seen face up in its place; say so where the shoe had read another."""
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
            f"Card {index} of {where} was dealt as {dealt} and turned as {card}; "
            f"the card seen is the one ruled on.",
            section,
            position=body.position,
            expected=dealt,
            recorded=card,
            facts=(fact,),
        )

    def offer(
        self, seat: int, wager: str, choices: Sequence[int], section: str, hand: int = 1
    ) -> list[Fact] | None:
        """Ask a player for a wager of one of these amounts: the facts that place it.

        None where he folds, or is passed over; an empty list where the record has lost the wager
        but shows his hand in play later on.
        """
        step = Step(
            "wager_placed",
            section,
            None,
            seat,
            hand,
            wager,
            choices=tuple(choices),
            instead="decision_made",
        )
        fact = self.expect(step) if self.source.gone(seat) else self.take(step)
        if fact is None and self.source.plays_on(seat):
            self.stakes[seat, wager, hand] = None
            self.unsettled.append(step)
            return []
        if fact is None or not isinstance(fact.body, WagerPlaced):
            return None
        placed, more = [fact], self.source.take(step._replace(instead=None))
        while more is not None:
            placed.append(more)
            more = self.source.take(step._replace(instead=None))
        stake = sum(said(each, WagerPlaced).amount for each in placed)
        self.stakes[seat, wager, hand] = stake
        if stake not in choices:
            allowed = ", ".join(dollars(choice) for choice in choices)
            why = f"it is {dollars(stake)}, not one of {allowed}"
            self.not_permitted(seat, wager, why, section, placed)
        return placed

    def left_table(self, seat: int) -> bool:
        """Whether the player left the table during the round."""
        return self.source.gone(seat)

    def throw(self, section: str, purpose: str = "down") -> tuple[Fact, tuple[int, int, int]]:
        """Throw the dice: a valid throw, and what came up. Raises Stop without one."""
        fact = self.take(Step("dice_thrown", section, what=purpose, throw=self.throws + 1))
        if fact is None:
            raise Stop
        self.throws += 1
        body = said(fact, DiceThrown)
        if body.offensive is None or body.defensive is None:
            raise Stop
        return fact, (*body.offensive, body.defensive)

    def mark(self, marker: str, at: int, section: str) -> None:
        """Place a puck; where a device reports pucks, a wrong place is found."""
        fact = self.expect(Step("marker_placed", section, what=marker, at=(at,)))
        if fact is None:
            return
        placed = said(fact, MarkerPlaced).at
        if str(placed) != str(at):
            self.find(
                "step_missing",
                f"The {marker.replace('_', ' ')} marker was placed at {placed}; "
                f"{self.rules.section(section)} places it at {at}.",
                section,
                expected=str(at),
                recorded=str(placed),
                facts=(fact,),
            )

    def discard(self, section: str, to: str, position: int | None = None, hand: int = 1) -> None:
        """Put a hand into the discard rack."""
        self.expect(Step("hand_discarded", section, to, position, hand))

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
    ) -> None:
        """Settle a wager by its paytable; `lost` is the paragraph that collects it.

        Nothing happens where none was placed. An outcome of None (a card not known) leaves it open.
        """
        spot = (seat, wager, hand)
        if spot not in self.stakes:
            return
        stake = self.stakes[spot]
        if stake is None or outcome is None:
            self.unsettled.append(Step("wager_paid", lost, None, seat, hand, wager))
            return
        row = table.pays(outcome, self.rules.readings)
        section = lost if row is None else table.section
        self._decide(spot, row, section, throw, table.letter)

    def collect(
        self, seat: int, wager: str, section: str, *, throw: int | None = None, hand: int = 1
    ) -> None:
        """A wager is lost."""
        if (seat, wager, hand) in self.stakes:
            self._decide((seat, wager, hand), None, section, throw, None)

    def forfeit(self, seat: int, section: str, keep: Sequence[str] = ()) -> None:
        """A hand is given up: its wagers are collected, its cards go into the rack."""
        for held, wager, hand in list(self.stakes):
            if held == seat and wager not in keep:
                self.collect(seat, wager, section, hand=hand)
        self.discard(section, "player", seat)

    def give_back(self, seat: int, wager: str, section: str, hand: int = 1) -> None:
        """A wager that never came into play, or is void, goes back."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, None)
        if stake is not None:
            self._keep(voided(spot, stake, self.rules.section(section)))

    def _decide(
        self, spot: Spot, row: Row | None, section: str, throw: int | None, letter: str | None
    ) -> None:
        """Write down what a stake is owed, and expect it to be paid."""
        seat, wager, hand = spot
        stake = self.stakes.pop(spot)
        if stake is None:
            self.unsettled.append(Step("wager_collected", section, None, seat, hand, wager))
            return
        self._keep(decided(spot, stake, row, self.rules, section, throw, letter))

    def _keep(self, settlement: Settlement) -> None:
        """Keep a settlement; its chips move next."""
        self.settlements.append(settlement)
        fact = PAYMENT[settlement.outcome]
        self.expect(
            Step(
                fact,
                settlement.section.partition(".")[2],
                None,
                settlement.position,
                settlement.hand,
                settlement.wager,
                amount=settlement.net if fact == "wager_paid" else settlement.stake,
                throw=settlement.throw,
            )
        )
