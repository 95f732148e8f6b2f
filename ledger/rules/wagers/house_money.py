"""House Money pressed: its winnings are added to another wager of the same player.

The dealer moves the payout, so the player places no chips. The other wager is settled on the sum.
The holder's Rules Submission limits how much may be pressed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ledger.rules.engine.game import Option, Reading
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.rules.engine.ruling import Settlement
    from ledger.rules.engine.table import Table

PRESS = "press"
STAKE_TOO = "press_includes_stake"
PORTION, WHOLE, ANY, HALF = "press_portion", "whole", "any_part", "half"


def reading(section: str) -> Reading:
    """The reading whether the stake of House Money may be pressed with its payout."""
    return Reading(
        STAKE_TOO,
        (False, True),
        section,
        "The text adds the payout of House Money to the other wager. `false`: the payout alone; "
        "`true`: its stake may move with it, as casinos' own sheets have it.",
    )


def option(section: str) -> Option:
    """The option how much of the payout a player may press."""
    return Option(
        PORTION,
        (WHOLE, ANY, HALF),
        section,
        "What of House Money's payout may be added to the other wager: all of it, unless a Rules "
        "Submission names a portion. `whole`: all of it or nothing; `any_part`: as much of it as "
        "the player likes; `half`: half of it or nothing.",
    )


def press(
    t: Table, seat: int, decided: Settlement | None, onto: Sequence[str], section: str
) -> set[str]:
    """Add what a player presses to one of his wagers `onto`. `decided` settled his House Money.

    `decided` is None if cards are not known; then the amount to press is not known either. Returns
    the wagers that got more than the payout, which only the reading permits.
    """
    won = decided.net if decided and decided.outcome == "win" else 0
    portion = t.rules.options[PORTION]
    share = won // 2 if portion == HALF else won
    most = share + (decided.stake if decided and won and t.rules.readings[STAKE_TOO] else 0)
    left = most
    beyond: set[str] = set()
    for _ in onto:
        held = [wager for wager in onto if t.stake(seat, wager)]
        unit = decided.stake if decided and portion == ANY else left
        if not (left and held) and not t.source.untaken("decision_made"):
            break
        ways = partial(_ways, held, onto, unit, left)
        body = t.decide(seat, (PRESS,), section, may=True, ways=ways)
        if body is None:
            break
        amount = left if body.amount is None else body.amount
        wager = body.wager or (held or onto)[0]
        if decided and (amount > left or wager not in held):
            why = "he has no wager there that House Money may be added to"
            if amount > left:
                why = f"{dollars(amount)} was pressed, but at most {dollars(left)} may be"
            t.not_permitted(seat, wager, why, section, (t.taken[-1][1],))
        left = max(0, left - amount)
        beyond |= {wager} if most - left > share else set()
        spot = (seat, wager, 1)
        if spot not in t.stakes or t.stakes[spot] is not None:
            t.stakes[spot] = t.stake(seat, wager) + amount
    pressed = most - left
    if portion != ANY and pressed and left and pressed != share:
        why = f"{dollars(pressed)} was pressed, but only {dollars(share)} or nothing may be"
        t.not_permitted(seat, wager, why, section)
    return beyond


def _ways(
    held: Sequence[str], onto: Sequence[str], unit: int, left: int, _: str
) -> Sequence[Mapping[str, Any]]:
    """Possible presses for a simulation: which wager, if there are several, and all or a part."""
    return [
        {"amount": amount, **({"wager": wager} if len(onto) > 1 else {})}
        for wager in held
        for amount in range(unit, left + 1, unit)
    ]
