"""Earlier versions of facts, and how each is read as the current one.

The bytes on the tape never change. An old fact is decoded by the struct of its own version, then
turned into the current one. A row here stays as long as the tape does.
"""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from ledger.facts.rounds import WagerPaid
from ledger.facts.vocabulary import Body, Hand, Identifier, Throw
from ledger.values import Cents, Position


class Upcaster(NamedTuple):
    """An earlier version's struct, and the function from it to the current one."""

    old: type[Struct]
    upcast: Callable[[object], Struct]


class WagerPaidV0(Body, frozen=True, kw_only=True):
    """The house pays a winning wager, as pre-release devices sent it.

    paid_with_stake: cents pushed to the patron, stake included; stake: cents.
    """

    position: Position
    wager: Identifier
    hand: Hand = 1
    throw: Throw | None = None
    paid_with_stake: Cents
    stake: Cents


def wager_paid_v0(old: object) -> WagerPaid:
    """The current fact, whose amount is the winnings: the stake is taken off."""
    if not isinstance(old, WagerPaidV0):
        raise TypeError(f"expected a WagerPaidV0, got {type(old).__name__}")
    return WagerPaid(
        position=old.position,
        wager=old.wager,
        hand=old.hand,
        throw=old.throw,
        amount=old.paid_with_stake - old.stake,
    )


UPCASTERS: dict[str, Upcaster] = {"wager_paid.v0": Upcaster(WagerPaidV0, wager_paid_v0)}
"""Upcasters by stored type name; `ledger.record.wire` uses them."""
