"""A table's gaming day, from the cameras and the opener to the last count, round by round.

The game's own `play` deals the rounds over `chance`. This module sends everything around them.
"""

from __future__ import annotations

import random
from bisect import insort
from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import (
    CameraMapped,
    DealerAssigned,
    DealerRelieved,
    DiceReceived,
    FloorpersonAssigned,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    SeatLeft,
    SeatTaken,
    StartingPositionDetermined,
    TableClosed,
    TableOpened,
)
from ledger.rules.engine.first_card import PLACES
from ledger.rules.engine.game import CardProcedures, DiceProcedures
from ledger.rules.engine.table import Table
from ledger.rules.hands.cards import ONE_OF_EACH
from ledger.simulate import patrons
from ledger.simulate.bank import Bank
from ledger.simulate.cameras.cameras import cameras_of
from ledger.simulate.care import CardCare, Decks, DiceCare
from ledger.simulate.chance import Chance
from ledger.simulate.device_emitter import HOUR, MINUTE, SECOND, DeviceEmitter, Happening
from ledger.simulate.hand import Misdealt, SimulatedHand
from ledger.simulate.meters import Meters
from ledger.simulate.mistakes import Slip, of_devices
from ledger.simulate.patrons import Patron
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.facts.tables import Role
    from ledger.rules.engine.game import InForce
    from ledger.simulate.plan import Plan, Planted, TablePlan

_OTHERS: dict[str, tuple[Role, ...]] = {
    "three_dice_football": ("dealer", "stickperson"),
    "craps": ("dealer", "stickperson", "boxperson"),
    "baccarat": ("dealer",),
}
"""The employees beside the dealer, by game."""
COUPONS = 10_000
"""Coupons issued for each table."""
_SHIFT_US = 8 * HOUR
_PUSH_US = HOUR  # a dealer's time at a table
_BEFORE_US = 30 * MINUTE  # from the first camera to the first round
_COUNT_MINUTE = 30 * 60 + 30  # half past six the next morning, after midnight of the day
_TAKEN = 0.7  # chance of a new patron at a free seat
_MISDEALS, _RESTARTS, _TIPS, _TURNOVER = 0.004, 0.002, 0.04, 0.2  # chance a round
_DRAWN = 0.5  # share of Poker buttons that a card decides as play starts
_FLAT = 0.5  # share of tables with a flat button, if it may decide where the deal begins


class People(NamedTuple):
    """The employees at a table, by credential number."""

    dealers: tuple[str, ...]  # dealers, in turn
    others: tuple[str, ...]  # stickperson and second dealer, if the game needs them
    floor: str
    second_floor: str


def people_of(plan: Plan, index: int) -> People:
    """The employees of a table. A floorperson has two tables, but of Baccarat one."""
    game = plan.tables[index].game
    floor = 2201 + index if game == "baccarat" else 2001 + index // 2
    dealers = tuple(f"D-{1001 + index * 10 + n}" for n in range(3))
    others = tuple(f"D-{1007 + index * 10 + n}" for n in range(len(_OTHERS.get(game, ()))))
    return People(dealers, others, f"F-{floor}", f"F-{floor + 500}")


def serials_of(index: int) -> Iterator[str]:
    """The serials of a table's coupons for the day, each once."""
    return (f"MP-{number:06d}" for number in range(index * COUPONS, (index + 1) * COUPONS))


class Day:
    """One table on one gaming day."""

    def __init__(self, plan: Plan, index: int, rules: InForce, due: list[tuple[int, str]]) -> None:
        self.plan = plan
        self.table: TablePlan = plan.tables[index]
        self.rules = rules
        self.due = due
        self.chance = random.Random(f"{plan.seed}/{self.table.table}")  # noqa: S311 - repeatable, guards nothing
        self.people = people_of(plan, index)
        self.teller = DeviceEmitter(plan.property, self.table.table, plan.gaming_day, self.chance)
        self.teller.now_us = plan.opens_us - _BEFORE_US + int(self.chance.random() * 3 * MINUTE)
        staff = (self.people.dealers[0], self.people.floor)
        self.bank = Bank(self.teller, plan.gaming_day, staff, serials_of(index))
        care = rules.game.procedures
        shoe = isinstance(care, CardProcedures) and care.shoe is not None
        each = isinstance(care, CardProcedures) and care.stub_rounds == 1
        decks = Decks(rules.decks, len(rules.game.deck) * rules.decks, each, shoe)
        self.cards = None if self._dice else CardCare(self.teller, self.table, staff, decks)
        dice = care.dice if isinstance(care, DiceProcedures) else 0
        self.dice = DiceCare(self.teller, self.people[2:], dice) if self._dice else None
        self.model = rules.game.player_model
        self.patrons: dict[int, Patron] = {}
        self.planted: list[Planted] = []
        self.number = 0
        self.meters = Meters(rules, self.chance)
        self.shooter = 0
        self.button: int | None = None  # last place of the Poker or flat button; None: no place
        self.flat = self._places and self.chance.random() < _FLAT
        self.passes = True  # whether the dice pass on
        self.calm = True  # whether all clocks were right in the last round
        self.slip = Slip(self.teller, self.model.stays)
        self.push_us = plan.opens_us + _PUSH_US
        self.shift_us = plan.opens_us + _SHIFT_US
        self.on_shift = 0

    @property
    def _dice(self) -> bool:
        return self.rules.game.dice

    @property
    def _places(self) -> bool:
        """Whether a flat button may decide where the deal begins."""
        rotation = self.rules.game.rotation
        starts = rotation is not None and rotation.what == "start"
        return starts and self.table.dealt_from == "automated_shoe"

    def happenings(self) -> Iterator[list[Happening]]:
        """The day's facts, a stretch at a time, in order of arrival."""
        self._open()
        yield self.teller.drain()
        while self.teller.now_us < self.plan.closes_us:
            self._between()
            yield self.teller.drain()
            yield self._round()
            self.teller.wait(2, 4)
        self._close()
        yield self.teller.drain()
        yield self.bank.counts

    # -- opening and closing -----------------------------------------------------------------

    def _open(self) -> None:
        teller, people = self.teller, self.people
        self._map_cameras()
        opened = TableOpened(
            game=self.table.game,
            gaming_day=self.plan.gaming_day,
            min_wager=1000 if self.model.always else 500,
            max_wager=100_000,
            positions=self.table.seats,
        )
        teller.tell("terminal", FloorpersonAssigned(employee=people.floor), 5 * SECOND)
        teller.tell("terminal", DealerAssigned(employee=people.dealers[0], role="dealer"))
        for employee, role in self._others():
            teller.tell("terminal", DealerAssigned(employee=employee, role=role))
        teller.tell("terminal", opened, 10 * SECOND)
        self.bank.attach()
        self.bank.open()
        care = self.cards or self.dice
        if care:
            care.ready()
        if self.rules.game.shaker:
            shaken = DiceReceived(set=f"{self.table.table}-shaker", dice=3)
            teller.tell("terminal", shaken, 20 * SECOND)
        teller.now_us = max(teller.now_us, self.plan.opens_us)
        for _ in range(max(1, self.table.seats // 2)):
            self._take_seat()

    def _others(self) -> Iterator[tuple[str, Role]]:
        """The employees beside the dealer, with their roles."""
        return zip(self.people.others, _OTHERS.get(self.table.game, ()), strict=True)

    def _map_cameras(self) -> None:
        for camera in cameras_of(self.plan, self.table):
            mapped = CameraMapped(
                camera=camera.name,
                table=self.table.table,
                kind="stationary",
                covers=camera.covers,
            )
            self.teller.tell_from("surveillance", mapped)

    def _close(self) -> None:
        teller = self.teller
        for seat in list(self.patrons):
            self._leave(seat)
        care = self.cards or self.dice
        if care:
            care.remove("end of the gaming day")
        self.bank.count("close")
        self.bank.detach(self._counted_us)
        teller.tell("terminal", TableClosed(), 30 * SECOND)
        for employee, role in zip(
            self.people.others, _OTHERS.get(self.table.game, ()), strict=True
        ):
            teller.tell("terminal", DealerRelieved(employee=employee, role=role))
        employee = self.people.dealers[self.on_shift]
        teller.tell("terminal", DealerRelieved(employee=employee, role="dealer"))

    @property
    def _counted_us(self) -> int:
        return self.plan.midnight_us + _COUNT_MINUTE * MINUTE

    # -- between rounds ----------------------------------------------------------------------

    def _between(self) -> None:
        """Arm the next mistake, then change seats, chips, employees and shifts."""
        teller = self.teller
        if self.slip.name is None and self.due and self.due[0][0] <= teller.now_us:
            self.slip = Slip(teller, self.model.stays, self.due.pop(0)[1])
        before, self.calm = self.calm, self.slip.name != "clock_skew"
        # With a clock off, nobody comes or goes: it would seem to be during the round.
        if before and self.calm and self.chance.random() < _TURNOVER:
            self._come_and_go()
        for seat, patron in self.patrons.items():
            if patron.chips < 10 * patron.unit:
                self.bank.sell(seat, patron)
        self.bank.balance()
        if teller.now_us >= self.push_us:
            self._push()
        if teller.now_us >= self.shift_us:
            self.shift_us += _SHIFT_US
            self.bank.count("drop")
            self.bank.detach(self._counted_us)
            self.bank.attach()
        if self.chance.random() < _RESTARTS:
            teller.device("layout").restart()

    def _push(self) -> None:
        """Relieve the dealer by another one."""
        self.push_us += _PUSH_US
        dealers = self.people.dealers
        gone, self.on_shift = self.on_shift, (self.on_shift + 1) % len(dealers)
        relieved = DealerRelieved(employee=dealers[gone], role="dealer")
        self.teller.tell("terminal", relieved, 6 * SECOND)
        assigned = DealerAssigned(employee=dealers[self.on_shift], role="dealer")
        self.teller.tell("terminal", assigned, 3 * SECOND)
        self.bank.dealer = dealers[self.on_shift]
        if self.cards:
            self.cards.dealer = dealers[self.on_shift]

    def _come_and_go(self) -> None:
        tired = [seat for seat, patron in self.patrons.items() if patron.rounds_left <= 0]
        if tired and len(self.patrons) > 1:
            self._leave(tired[0])
        if len(self.patrons) < self.table.seats and self.chance.random() < _TAKEN:
            self._take_seat()

    def _take_seat(self) -> None:
        free = [n for n in range(1, self.table.seats + 1) if n not in self.patrons]
        seat = self.chance.choice(free)
        token = f"P-{self.chance.randrange(1 << 32):08x}"
        patron = Patron(token, patrons.unit(self.model, self.chance), self.chance.randint(15, 120))
        taken = SeatTaken(positions=(seat,), patron=token)
        self.teller.tell("terminal", taken, self.teller.between(2_000, 6_000))
        self.bank.sell(seat, patron)
        self.patrons[seat] = patron
        self.patrons = dict(sorted(self.patrons.items()))

    def _leave(self, seat: int) -> None:
        left = SeatLeft(positions=(seat,), patron=self.patrons.pop(seat).token)
        self.teller.tell("terminal", left, self.teller.between(1_000, 3_000))

    # -- a round -----------------------------------------------------------------------------

    def _round(self) -> list[Happening]:
        """One round, dealt by the game itself, with the faults of its devices."""
        teller = self.teller
        button, drawn = self._button()
        self.number += 1
        teller.round = RoundId(
            self.plan.property, self.table.table, self.plan.gaming_day, self.number
        )
        dealt_from = None if self._dice else self.table.dealt_from
        batch = self.cards.batch if self.cards else None
        started = RoundStarted(
            game=self.table.game, dealt_from=dealt_from, batch=batch, button=button
        )
        teller.tell("terminal", started, teller.between(2_000, 5_000))
        if drawn:
            card = StartingPositionDetermined(method="card_draw", position=button or 0)
            teller.tell("terminal", card, teller.between(4_000, 9_000))
        chance = Chance(teller, self.bank, self._hand(batch), self.slip, self._deck())
        round_ = Table(chance, self.rules, dealt_from)
        try:
            self.rules.game.play(round_)
            over: RoundCompleted | RoundVoided = RoundCompleted()
        except Misdealt as misdealt:
            chance.call_misdeal(misdealt.kind, self.people.floor)
            over = RoundVoided(reason="a misdeal")
        teller.tell("terminal", over, teller.between(800, 2_000))
        self.passes = not self._kept(chance)
        told = of_devices(self.slip, teller.drain(), round_.in_turn())
        self._put_right()
        teller.round = None
        self._after_round(chance)
        return told

    def _button(self) -> tuple[int | None, bool]:
        """The button of Poker, and whether a card was drawn for it; it takes two players.

        It begins at the dealer's right, or by a card, and moves clockwise. A flat button begins
        with the dealer and moves place by place.
        """
        if self.flat:
            self.button = 0 if self.button is None else (self.button + 1) % PLACES
        if not self.rules.game.pots:
            return None, False
        while len(self.patrons) < min(2, self.table.seats):
            self._take_seat()
        seats = list(self.patrons)
        drawn = self.button is None and self.chance.random() < _DRAWN
        if self.button is None:
            self.button = self.chance.choice(seats) if drawn else seats[-1]
        else:
            after = [seat for seat in seats if seat > (self.button or 0)]
            self.button = after[0] if after else seats[0]
        return self.button, drawn

    def _kept(self, chance: Chance) -> bool:
        """Whether the thrower of a round keeps the dice."""
        rotation = self.rules.game.rotation
        if rotation is None or rotation.keeps is None:
            return False
        return bool(rotation.keeps(chance.downs, self.rules.readings))

    def _deck(self) -> list[str]:
        """The cards of the round, decks shuffled together, in dealing order."""
        deck = [card for card in ONE_OF_EACH if card in self.rules.game.deck] * self.rules.decks
        self.chance.shuffle(deck)
        return deck

    def _hand(self, batch: str | None) -> SimulatedHand:
        """The simulated hand of the next round."""
        if self.dice and (self.passes or self.shooter not in self.patrons):
            self.shooter = self.dice.offer(list(self.patrons), self.shooter)
        hand = SimulatedHand(
            self.model,
            self.patrons,
            self.meters,
            shooter=self.shooter,
            button=self.button if self.rules.game.pots else None,
            starts=self.button if self.flat else None,
            reads=self.table.dealt_from != "hand",
            stacked=self.table.dealt_from == "automated_shoe",
        )
        if self.cards:
            hand.stub_of = batch if self.cards.stub_due else None
            calm = self.slip.name is None
            hand.misdeals = calm and self.chance.random() < _MISDEALS
            hand.voids = self._irregular(void=True) or hand.voids
            if calm and not hand.misdeals:
                hand.kinds = frozenset(self._irregular(void=False))
        return hand

    def _irregular(self, *, void: bool) -> tuple[str, ...]:
        """The game's irregularities to call here; those that void, only during a deal."""
        return tuple(
            kind
            for kind, says in self.rules.game.irregularities.items()
            if says.holds(self.table.dealt_from)
            and (says.void, says.in_play) == (void, False)
            and kind != "card_missing"  # found by a count; the deck would leave the table
        )

    def _put_right(self) -> None:
        """Clear a mistake that was made.

        One that the round had no room for waits behind those that are due.
        """
        self.planted += self.slip.planted
        if self.slip.planted:
            self.slip = self.slip.after()
        elif self.slip.name and self.due and self.due[0][0] <= self.teller.now_us:
            insort(self.due, (self.teller.now_us, self.slip.name))
            self.slip = Slip(self.teller, self.model.stays)

    def _after_round(self, chance: Chance) -> None:
        """Drop tips and shuffle cards after a round."""
        self.teller.now_us += 2 * SECOND
        for patron in self.patrons.values():
            patron.rounds_left -= 1
            if patron.chips > 20 * patron.unit and self.chance.random() < _TIPS:
                self.bank.tip(patron)
        if self.cards:
            self.cards.after_round(counted=chance.counted, repair=chance.reader_failed)
