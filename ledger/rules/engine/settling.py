"""The settlement of one stake."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ledger.rules.engine.game import broken
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.ruling import Settlement
from ledger.rules.engine.steps import POT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import PaytableRow
    from ledger.rules.engine.steps import Spot


class How(Struct, frozen=True):
    """What a settlement depends on, besides its rows."""

    throw: int | None = None
    letter: str | None = None  # letter of the paytable
    readings: Sequence[str] = ()
    face: int = 0  # cents of a coupon that wins at the odds of the stake (603a.21)
    even: int = 0  # cents of a coupon that wins even money at any odds
    most: tuple[int, str] | None = None  # cents still to be won under a limit, and its paragraph


PLAINLY = How()


def decided(
    spot: Spot,
    stake: int,
    rows: Sequence[PaytableRow],
    rules: InForce,
    section: str,
    how: How = PLAINLY,
) -> Settlement:
    """The settlement of a stake paid by one printed row or two, or lost if there is none.

    `section` is chapter-relative. A row may depend on a reading of its own.
    """
    seat, wager, hand = spot
    if not rows:
        exact: Fraction | int = -stake
        net, text = -stake, str(-stake)
    else:
        ratio = rows[0].ratio if len(rows) == 1 else sum((row.ratio for row in rows), Fraction(0))
        even = 0 if rows[0].pushes else how.even
        won = (ratio.numerator, ratio.denominator, stake + how.face, even)
        exact, net, text = _winnings(*won, rules.breakage_unit)
    if how.most and exact > how.most[0]:
        section, text = how.most[1], str(how.most[0])
        net = rules.broken(Fraction(how.most[0])) if rows else net
    of_rows = [row.reading[0] for row in rows if row.reading]
    named = tuple(dict.fromkeys([*of_rows, *how.readings]))
    values = [as_json(rules.readings[name]) for name in named]
    return Settlement(
        position=seat,
        hand=hand,
        wager=wager,
        throw=how.throw,
        stake=stake,
        outcome="lose" if not rows else "push" if rows[0].pushes else "win",
        row=rows[0].label if rows else None,
        odds=rows[0].odds if rows else None,
        rows=[row.label for row in rows] if len(rows) > 1 else None,
        net=net,
        exact_net=text,
        paytable=how.letter,
        section=rules.section(section),
        reading=", ".join(named) or None,
        reading_value=", ".join(values) or None,
    )


@lru_cache(maxsize=4096)
def _winnings(
    numerator: int, denominator: int, cents: int, even: int, unit: int
) -> tuple[Fraction, int, str]:
    """Winnings of these cents at odds: exactly, in cents after breakage, and as text.

    The odds come as two integers, because the hash of a fraction costs more than its product.
    """
    exact = Fraction(numerator * cents, denominator) + even
    return exact, broken(exact, unit), str(exact)


def halved(
    spot: Spot, stake: int, rules: InForce, section: str, readings: Sequence[str] = ()
) -> Settlement:
    """The settlement of a surrendered stake: half is lost. The house keeps the odd cent."""
    seat, wager, hand = spot
    back = rules.broken(Fraction(stake, 2))
    return Settlement(
        position=seat,
        hand=hand,
        wager=wager,
        stake=stake,
        outcome="lose",
        net=back - stake,
        exact_net=str(Fraction(-stake, 2)),
        section=rules.section(section),
        reading=", ".join(readings) or None,
        reading_value=", ".join(as_json(rules.readings[name]) for name in readings) or None,
    )


def fee(seat: int, name: str, cents: int, section: str) -> Settlement:
    """The settlement of a fee for an option, or of vigorish. `section` as printed."""
    return Settlement(
        position=seat,
        wager=name,
        stake=cents,
        outcome="lose",
        net=-cents,
        exact_net=str(-cents),
        section=section,
    )


def pot(
    seat: int, put_in: int, won: int, section: str, row: str | None, reading: tuple[str, str] | None
) -> Settlement:
    """The settlement of a player's share of the pots, less what he put in. `section` as printed."""
    net = won - put_in
    return Settlement(
        position=seat,
        wager=POT,
        stake=put_in,
        outcome="win" if net > 0 else "push" if net == 0 else "lose",
        row=row,
        net=net,
        exact_net=str(net),
        section=section,
        reading=reading[0] if reading else None,
        reading_value=reading[1] if reading else None,
    )


def pushed(
    spot: Spot, stake: int, rules: InForce, section: str, readings: Sequence[str] = ()
) -> Settlement:
    """The settlement of a stake that a paragraph returns. `section` is chapter-relative."""
    return replace(
        voided(spot, stake, rules.section(section)),
        outcome="push",
        reading=", ".join(readings) or None,
        reading_value=", ".join(as_json(rules.readings[name]) for name in readings) or None,
    )


def voided(spot: Spot, stake: int, section: str) -> Settlement:
    """The settlement of a stake of a void wager. `section` as printed."""
    seat, wager, hand = spot
    return Settlement(
        position=seat,
        hand=hand,
        wager=wager,
        stake=stake,
        outcome="void",
        net=0,
        exact_net="0",
        section=section,
    )
