"""The table's money: tray and drop box, chips sold, fills and credits, and counts.

Every chip is counted here as it moves. Opener, closer, fills, credits, sales, losses and payments
therefore add up to the cent. Nothing here looks at a recorded fact.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ledger.facts import (
    CashBoughtIn,
    CounterCheck,
    CounterCheckIssued,
    CouponDropped,
    CreditAccepted,
    CreditDispatched,
    CreditRequested,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    FillAccepted,
    FillDispatched,
    FillRequested,
    InventoryCounted,
    TipDropped,
    Voucher,
    VoucherBoughtIn,
)
from ledger.simulate.device_emitter import MINUTE, SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from ledger.record.wire import Fact
    from ledger.simulate.device_emitter import DeviceEmitter, Happening
    from ledger.simulate.patrons import Patron

OPENERS = range(3_000_000, 5_500_000, 100_000)  # cents
LOW, HIGH, SLIP = 2_500_000, 4_500_000, 1_000_000  # cents
_HUNDRED, _TWENTY = 10_000, 2_000  # values of notes, cents
_SHARES = ((10_000, 40), (2_500, 40), (500, 15), (100, 5))  # bounds of a tray, per cent
_BY_CASH, _BY_VOUCHER = 0.85, 0.08  # share of the buy-ins; the rest by counter check
_CLERK, _ESCORT = "C-3301", "S-5120"
_COUNTERS = {1: ("N-6110", "N-6114", "N-6120"), 2: ("N-6111", "N-6115", "N-6121")}


def pieces(total: int) -> dict[str, int]:
    """Chips of a sum, by denomination. The sum is a multiple of a dollar."""
    found = {cents: total * share // 100 // cents for cents, share in _SHARES}
    rest = total - sum(cents * count for cents, count in found.items())
    for cents in found:
        found[cents] += rest // cents
        rest %= cents
    if rest:
        raise ValueError(f"{total} cents cannot be laid out in chips")
    return {str(cents): count for cents, count in found.items() if count}


class Bank:
    """One table's tray and the drop box below it."""

    def __init__(
        self,
        teller: DeviceEmitter,
        gaming_day: str,
        people: tuple[str, str],
        serials: Iterator[str],
    ) -> None:
        """`serials`: those of the coupons its patrons bring, each once."""
        self.teller = teller
        self.serials = serials
        self.day = gaming_day
        self.dealer, self.floor = people
        self.tray = 0
        self.slips: Counter[str] = Counter()
        self.boxes = 0
        self.counts: list[Happening] = []  # counts of boxes, sent when the day is over
        self._empty_box()

    def _empty_box(self) -> None:
        self.cash = 0
        self.checks: list[CounterCheck] = []
        self.vouchers: list[Voucher] = []
        self.coupons: list[str] = []
        self.rake = 0

    def _slip(self, kind: str) -> str:
        """The next number in the series of its kind."""
        self.slips[kind] += 1
        return f"{kind}-{self.teller.table}-{self.day}-{self.slips[kind]:03d}"

    @property
    def box(self) -> str:
        """The box now below the table."""
        return f"BOX-{self.teller.table}-{self.boxes}"

    # -- counts and the box ------------------------------------------------------------------

    def attach(self) -> None:
        """Attach an empty box."""
        self.boxes += 1
        self.teller.tell_from(
            "count-room",
            DropBoxAttached(
                box=self.box,
                table=self.teller.table,
                gaming_day=self.day,
                shift=str(self.boxes),
            ),
            20 * SECOND,
        )

    def count(self, kind: Literal["open", "drop", "close"]) -> None:
        """Count the tray: the dealer counts, a floorperson observes."""
        self.teller.tell(
            "terminal",
            InventoryCounted(
                kind=kind,
                gaming_day=self.day,
                shift=str(max(1, self.boxes)),
                chips=pieces(self.tray),
                total=self.tray,
                slip=self._slip("INV"),
                counted_by=self.dealer,
                observed_by=self.floor,
            ),
            self.teller.between(60_000, 120_000),
        )

    def detach(self, counted_at_us: int) -> None:
        """Remove the box. The count room counts it twice, later."""
        teller = self.teller
        box, day = self.box, self.day
        teller.tell_from(
            "count-room",
            DropBoxRemoved(box=box, table=teller.table, gaming_day=day, shift=str(self.boxes)),
            30 * SECOND,
        )
        back_us = teller.now_us
        teller.now_us = max(back_us, counted_at_us)
        hundreds = self.cash // _HUNDRED
        broken = min(hundreds, 3)
        currency = {str(_HUNDRED): hundreds - broken, str(_TWENTY): broken * _HUNDRED // _TWENTY}
        counts: tuple[Literal[1, 2], ...] = (1, 2)
        for count in counts:
            counted = DropBoxCounted(
                box=box,
                table=teller.table,
                gaming_day=day,
                count=count,
                currency={note: number for note, number in currency.items() if number},
                counter_checks=tuple(self.checks),
                vouchers=tuple(self.vouchers),
                coupons=tuple(self.coupons),
                chips=pieces(self.rake) if self.rake else None,
                counted_by=_COUNTERS[count],
            )
            teller.tell_from("count-room", counted, 2 * MINUTE)
        self.counts += teller.told[-2:]
        del teller.told[-2:]
        teller.now_us = back_us
        self._empty_box()

    # -- chips in and out --------------------------------------------------------------------

    def open(self) -> None:
        """Count the opener, equal to the last closer."""
        self.tray = self.teller.chance.choice(OPENERS)
        self.count("open")

    def sell(self, position: int, patron: Patron) -> None:
        """Sell chips to a patron, mostly for cash; the money goes into the box."""
        teller, chance = self.teller, self.teller.chance
        least = -(-20 * patron.unit // _HUNDRED) * _HUNDRED
        amount = least * chance.choice((1, 1, 2, 3))
        way = chance.random()
        after_us = teller.between(4_000, 12_000)
        if way < _BY_CASH:
            self.cash += amount
            teller.tell("terminal", CashBoughtIn(position=position, amount=amount), after_us)
        elif way < _BY_CASH + _BY_VOUCHER:
            number = f"V-{chance.randrange(10**9):09d}"
            self.vouchers.append(Voucher(voucher=number, amount=amount))
            bought = VoucherBoughtIn(position=position, amount=amount, voucher=number)
            teller.tell("terminal", bought, after_us)
        else:
            number = f"K-{chance.randrange(10**7):07d}"
            self.checks.append(CounterCheck(check=number, amount=amount))
            issued = CounterCheckIssued(position=position, amount=amount, check=number)
            teller.tell("terminal", issued, after_us)
        self.tray -= amount
        patron.chips += amount

    def tip(self, patron: Patron) -> None:
        """Drop a patron's tip to the dealer, out of the patron's chips."""
        patron.chips -= 500
        self.teller.tell("terminal", TipDropped(amount=500), self.teller.between(800, 2_000))

    def drop_coupon(self, serial: str, face: int) -> Fact:
        """Drop a played coupon into the box."""
        self.coupons.append(serial)
        dropped = CouponDropped(serial=serial, face=face)
        return self.teller.tell("terminal", dropped, self.teller.between(600, 1_500))

    def drop_rake(self, cents: int) -> None:
        """Drop the rake of a pot into the box."""
        self.rake += cents

    def balance(self) -> None:
        """Order a fill if the tray runs low, a credit if it overflows."""
        if self.tray < LOW:
            self.fill(SLIP)
        elif self.tray > HIGH:
            self.credit(SLIP)

    def fill(self, total: int) -> None:
        """Fill the tray from the cage."""
        total = -(-total // _HUNDRED) * _HUNDRED
        self._chips("FILL", FillRequested, FillDispatched, FillAccepted, total)
        self.tray += total

    def credit(self, total: int) -> None:
        """Send chips back to the cage."""
        self._chips("CREDIT", CreditRequested, CreditDispatched, CreditAccepted, total)
        self.tray -= total

    def _chips(
        self,
        kind: str,
        requested: type[FillRequested | CreditRequested],
        dispatched: type[FillDispatched | CreditDispatched],
        accepted: type[FillAccepted | CreditAccepted],
        total: int,
    ) -> None:
        """A slip's three facts: requested, dispatched, accepted; sender and receiver differ."""
        teller = self.teller
        slip, chips = self._slip(kind), pieces(total)
        filling = kind == "FILL"
        asked = requested(slip=slip, chips=chips, total=total, by=(self.floor,))
        teller.tell("terminal", asked, teller.between(3_000, 8_000))
        sender, taker = (_CLERK, _ESCORT), (self.dealer, self.floor)
        cage, table = (dispatched, accepted) if filling else (accepted, dispatched)
        at_table = table(slip=slip, chips=chips, total=total, by=taker)
        if not filling:
            teller.tell("terminal", at_table, teller.between(8_000, 20_000))
        in_cage = cage(table=teller.table, slip=slip, chips=chips, total=total, by=sender)
        teller.tell_from("cage", in_cage, 20 * SECOND)
        if filling:
            teller.tell("terminal", at_table, teller.between(20_000, 40_000))
