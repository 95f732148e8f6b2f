"""The pots of a poker round after one fact: amounts, and the positions that can win each.

`ledger.rules.poker.pots` computes them from the chips of each player. This module reads a moment
for it, and subtracts rake and awards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.poker.pots import pots_of
from replay.text.money import money

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.rounds.moment import Moment, SeatMoment


class PotNow(NamedTuple):
    """One pot. cents: chips put in so far; left: chips not raked or awarded yet."""

    number: int  # 0 is the main pot
    cents: int
    left: int
    positions: Sequence[int]  # positions that can still win it

    @property
    def name(self) -> str:
        """Its name at the table."""
        return "Main pot" if self.number == 0 else f"Side pot {self.number}"


def put_in(seat: SeatMoment | None) -> int:
    """A poker player's chips in the pots, in cents, less a returned uncalled bet."""
    if seat is None:
        return 0
    return seat.in_pot + sum(stake.placed - stake.returned for stake in seat.stakes)


def pots_at(moment: Moment) -> list[PotNow]:
    """The main pot and every side pot, in that order; none before the first chips."""
    chips = {seat.position: put_in(seat) for seat in moment.seats}
    playing = [seat for seat in moment.seats if _plays(moment, seat)]
    if not playing or max(chips.values()) <= 0:
        return []
    all_in = {seat.position for seat in playing if _all_in(seat)}
    found = pots_of(chips, [seat.position for seat in playing], all_in)
    mucked = {held.position for held in moment.held if held.to == "player" and held.gone}
    live = [seat.position for seat in playing if seat.position not in mucked]
    taken = moment.pots_taken
    return [
        PotNow(
            number,
            pot.cents,
            max(pot.cents - taken.get(number, 0), 0),
            [seat for seat in pot.players if seat in live] or live or pot.players,
        )
        for number, pot in enumerate(found)
    ]


def pot_text(pot: PotNow) -> str:
    """A pot in words: `Side pot 1 $60, contested by positions 1, 2 and 4.`."""
    if pot.left == 0:
        return f"{pot.name} {money(pot.cents)}, taken off the table."
    *others, last = map(str, pot.positions)
    if not others:
        return f"{pot.name} {money(pot.left)}, position {last} alone."
    return f"{pot.name} {money(pot.left)}, contested by positions {', '.join(others)} and {last}."


def _plays(moment: Moment, seat: SeatMoment) -> bool:
    """Whether a position has a hand or chips in the round and has not folded."""
    has_hand = any(h.to == "player" and h.position == seat.position for h in moment.held)
    return (has_hand or put_in(seat) > 0) and "fold" not in seat.decisions


def _all_in(seat: SeatMoment) -> bool:
    """Whether it is recorded as all in, or its counted stack is used up."""
    return seat.all_in or (seat.stack is not None and put_in(seat) >= seat.stack)
