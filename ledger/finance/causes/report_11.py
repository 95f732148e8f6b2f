"""What explained a tray in reports up to version 11: each cause was compared with all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.finance.causes.tray import buy_in, lost_fact, lost_stake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.finance.causes.tray import TrayDay
    from ledger.finance.win import Cause


def causes_of_tray(of: TrayDay, *, stakes: bool) -> Sequence[Cause]:
    """The lost facts and the buy-in of a tray. stakes: whether a whole wager may be lost.

    A buy-in is no larger than the tray is short, and a lost fact no larger than the tray is off.
    """
    found, over = [], of.over()
    if of.tray < 0 and over:
        amount = min(-of.tray, sum(item.amount for item in over))
        found.append(buy_in(amount, over, of.counts))
    for item, beside in of.lost():
        if item.amount * of.tray < 0 and abs(item.amount) <= abs(of.tray):
            found.append(lost_fact(item, beside))
    if not stakes or not of.tray or any(each.gap == "count" for each in (*of.known, *found)):
        return found
    stake = lost_stake(of, of.tray)
    return [*found, stake] if stake else found
