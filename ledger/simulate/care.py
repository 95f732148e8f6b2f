"""Handling of cards and dice between rounds: received, inspected, shuffled, cut, changed.

The facts follow the sections on opening, shuffle and dice. The next round waits for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import (
    CardsCut,
    CardsInspected,
    CardsShuffled,
    CardsSpread,
    CardsWashed,
    CoverCardReached,
    DecksReceived,
    DecksRemoved,
    DeviceRestored,
    DiceInspected,
    DiceOffered,
    DiceReceived,
    DiceRemoved,
    InspectionVerified,
)
from ledger.simulate.device_emitter import HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from ledger.simulate.device_emitter import DeviceEmitter
    from ledger.simulate.plan import TablePlan

_CHANGE_US = {"hand": 4 * HOUR, "manual_shoe": 8 * HOUR, "automated_shoe": 8 * HOUR}
_MARGIN_US = 12 * MINUTE
_BACKS = ("red", "blue")
_UNCOUNTED_MOST = 3  # at least once in five rounds, with one to spare
_PRESHUFFLED, _TAKES_DICE = 0.3, 0.85  # share of new decks; of the players offered
_SHOE_ENDS = 0.15  # share of the rounds of a shoe
_CUT_LEAST, _CUT_MOST = 12, 40


class Decks(NamedTuple):
    """The decks of a batch."""

    decks: int  # shuffled together
    cards: int  # cards in all of them
    every_round: bool = False  # whether the stub is counted
    shoe: bool = False  # whether rounds are dealt to a cover card before a shuffle


class CardCare:
    """The decks of one table: two in turn with a counting shuffler, or one shuffled by hand."""

    def __init__(
        self, teller: DeviceEmitter, table: TablePlan, people: tuple[str, str], decks: Decks
    ) -> None:
        self.teller = teller
        self.decks = decks
        self.table = table
        self.dealer, self.floor = people
        self.batches: list[str] = []
        self.turn = 0
        self.received_us = 0
        self.changes = 0
        self.uncounted = 0  # rounds since the stub was counted

    def ready(self) -> None:
        """Bring new decks: inspected, verified, spread, washed, shuffled and cut."""
        teller = self.teller
        self.changes += 1
        self.turn = 0
        self.received_us = teller.now_us
        decks = _BACKS if self.table.shuffler else _BACKS[:1]
        self.batches = [f"{teller.table}-{teller.day}-{self.changes}-{back}" for back in decks]
        preshuffled = self.changes > 1 and teller.chance.random() < _PRESHUFFLED
        for back, batch in zip(decks, self.batches, strict=True):
            received = DecksReceived(
                batch=batch,
                decks=self.decks.decks,
                cards=self.decks.cards,
                back=back,
                preshuffled=preshuffled,
            )
            teller.tell("terminal", received, 20 * SECOND)
            if not preshuffled:
                self._inspect(batch)
            self.shuffle(batch, preshuffled=preshuffled)

    def _inspect(self, batch: str) -> None:
        tell = self.teller.tell
        tell("terminal", CardsInspected(batch=batch, by=self.dealer), 40 * SECOND)
        tell("terminal", InspectionVerified(batch=batch, by=self.floor), 6 * SECOND)
        tell("terminal", CardsSpread(batch=batch, face="up"), 15 * SECOND)
        tell("terminal", CardsWashed(batch=batch), 45 * SECOND)

    def shuffle(self, batch: str, *, preshuffled: bool = False) -> None:
        """Shuffle with the counting shuffler, or by hand with a cut."""
        teller = self.teller
        if self.table.shuffler and not preshuffled:
            shuffled = CardsShuffled(
                batch=batch, method="automated", device="shuffler", counted=self.decks.cards
            )
            teller.tell("terminal", shuffled, teller.between(3_000, 6_000))
            if self.decks.shoe:
                self._cut(batch)
            return
        method: Literal["preshuffled", "manual"] = "preshuffled" if preshuffled else "manual"
        by_hand_us = teller.between(14_000, 22_000)
        teller.tell("terminal", CardsShuffled(batch=batch, method=method), by_hand_us)
        self._cut(batch)

    def _cut(self, batch: str) -> None:
        teller = self.teller
        above = teller.chance.randint(_CUT_LEAST, _CUT_MOST)
        cut = CardsCut(
            batch=batch, by="dealer", cards_above=above, cards_below=self.decks.cards - above
        )
        teller.tell("terminal", cut, teller.between(2_000, 5_000))

    @property
    def batch(self) -> str:
        """The deck the next round is dealt from."""
        return self.batches[self.turn]

    @property
    def stub_due(self) -> bool:
        """Whether the stub is counted in the next round, without a counting shuffler."""
        if self.decks.every_round:
            return True
        by_hand = not self.table.shuffler and not self.decks.shoe
        return by_hand and self.uncounted >= _UNCOUNTED_MOST

    def after_round(self, *, counted: bool, repair: bool) -> None:
        """Put the deck into the shuffler or shuffle it by hand; change old decks.

        A card reader that failed is repaired first.
        """
        if repair:
            restored = DeviceRestored(device="card-reader")
            self.teller.tell("terminal", restored, self.teller.between(60_000, 240_000))
        self.uncounted = 0 if counted else self.uncounted + 1
        if self.decks.shoe and self.teller.chance.random() >= _SHOE_ENDS:
            return
        if self.decks.shoe:
            self.teller.tell("eye", CoverCardReached(to="dealer"), SECOND)
        used = self.batch
        self.turn = (self.turn + 1) % len(self.batches)
        due_us = self.received_us + _CHANGE_US[self.table.dealt_from] - _MARGIN_US
        if self.teller.now_us >= due_us:
            self.remove("changed in time")
            self.ready()
        else:
            self.shuffle(used)

    def remove(self, reason: str) -> None:
        """Remove the decks."""
        for batch in self.batches:
            removed = DecksRemoved(batch=batch, reason=reason)
            self.teller.tell("terminal", removed, 5 * SECOND)


class DiceCare:
    """The set of dice of one table, new each gaming day."""

    def __init__(self, teller: DeviceEmitter, floors: tuple[str, str], dice: int) -> None:
        self.teller = teller
        self.floors = floors
        self.dice = dice
        self.set = f"{teller.table}-{teller.day}-1"

    def ready(self) -> None:
        """Bring the set; one floorperson inspects it before another."""
        tell = self.teller.tell
        received = DiceReceived(set=self.set, dice=self.dice, envelope=f"E-{self.set}")
        tell("terminal", received, 30 * SECOND)
        inspected = DiceInspected(
            set=self.set, by=self.floors[:1], observed_by=self.floors[1:], alternative=1
        )
        tell("terminal", inspected, 60 * SECOND)

    def offer(self, seats: Sequence[int], after: int) -> int:
        """Offer the dice from the left of the last thrower; the player who accepts."""
        order = [seat for seat in seats if seat > after] + [seat for seat in seats if seat <= after]
        for seat in order:
            takes = seat == order[-1] or self.teller.chance.random() < _TAKES_DICE
            offered = DiceOffered(position=seat, accepted=takes)
            self.teller.tell("terminal", offered, self.teller.between(900, 1_800))
            if takes:
                return seat
        return 0

    def remove(self, reason: str) -> None:
        """Remove the set."""
        self.teller.tell("terminal", DiceRemoved(set=self.set, reason=reason), 20 * SECOND)
