"""Progressive meters over a table's tape: up with each wager, reset after a top win.

A win is paid by its round's `meter_read` (`progressive`). This module compares the readings with
one another. Those of a round are compared once it is over, so that no clock decides. Other tables
feed a link's meter too. Its reading is therefore only held to two minimums: this table's wagers,
and its reset amount.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from ledger.facts import (
    MeterAdvanced,
    MeterRead,
    MeterReset,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
from ledger.rules.engine.ruling import FactRef
from ledger.rules.procedures.equipment import Judge, MeterEvent, MeterState
from ledger.rules.wagers.progressive import Meter, meter_of, meter_share
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ledger.rules.engine.game import InForce, PrintedMeter
    from ledger.rules.engine.odds import PaytableRow

WAGERS = frozenset({WagerPlaced, WagerWithdrawn, WagerReturned, WagerPaid})
"""Facts of wagers. Only those on a wager with a meter matter."""
_TOLD, _PAID, _RESET = "told", "paid", "reset"


def _meters(rules: InForce | None) -> list[tuple[PrintedMeter, Meter]]:
    """A game's printed meters, and their filed terms."""
    return [(of, meter_of(rules, of)) for of in rules.game.meters] if rules else []


def _of_wager(j: Judge, wager: str) -> tuple[PrintedMeter, Meter, MeterState] | None:
    """The meter that a wager feeds, or None."""
    for of, meter in _meters(j.rules):
        if of.wager == wager:
            return of, meter, j.state.meters.setdefault(meter.name, MeterState())
    return None


def _placed(j: Judge, body: WagerPlaced, _: object) -> None:
    """Raise the meter by its rate."""
    found = _of_wager(j, body.wager)
    if found is None:
        return
    of, meter, shown = found
    if shown.reset_due:
        shown.reset_due = False
        says = f"The meter {meter.name} was not reset after all of it was won"
        j.find("step_missing", of.section, says, wager=of.wager, expected="meter_reset")
    up = (meter.rate or Fraction(0)) * body.amount
    shown.unrated = shown.unrated or meter.rate is None
    shown.add(up, up)
    shown.stakes[str(body.position)] = shown.stakes.get(str(body.position), 0) + body.amount


def _given_back(j: Judge, body: WagerWithdrawn | WagerReturned, _: object) -> None:
    """Note chips that go back. No section says whether the meter keeps what they added."""
    found = _of_wager(j, body.wager)
    if found:
        _, meter, shown = found
        shown.add(-(meter.rate or Fraction(0)) * body.amount, Fraction(0))


def _paid(j: Judge, body: WagerPaid, _: object) -> None:
    """Note a payment that may include a share of the meter: beyond the row's own odds."""
    found = _of_wager(j, body.wager)
    if found is None or j.rules is None:
        return
    of, _meter, shown = found
    whole = next((row for row in _rows(j.rules, of) if meter_share(row.odds) == 1), None)
    stake = shown.stakes.get(str(body.position), 0)
    taken = body.amount - (whole.ratio if whole else Fraction(0)) * stake
    if whole and taken > 0:
        _happens(j, shown, of, MeterEvent(_PAID, floor(taken), j.fact.source, j.fact.id))


def _rows(rules: InForce, of: PrintedMeter) -> list[PaytableRow]:
    """The rows that pay a wager."""
    tables = [table for table in rules.game.paytables if of.wager in table.wagers]
    return [row for table in tables for row in table.rows]


def _told(j: Judge, body: MeterRead | MeterAdvanced | MeterReset, _: object) -> None:
    """Note a reading or a reset of a meter."""
    shown = j.state.meters.setdefault(body.meter, MeterState())
    of = next((of for of, meter in _meters(j.rules) if meter.name == body.meter), None)
    kind = _RESET if isinstance(body, MeterReset) else _TOLD
    _happens(j, shown, of, MeterEvent(kind, body.amount, j.fact.source, j.fact.id))


def _happens(j: Judge, shown: MeterState, of: PrintedMeter | None, event: MeterEvent) -> None:
    """Keep an event of a round until it is over. Judge any other event now."""
    if j.fact.round is not None and j.state.dealing:
        shown.events.append(event)
    else:
        _look(j, shown, of, [event], final=not j.state.dealing)


def _look(
    j: Judge, shown: MeterState, of: PrintedMeter | None, events: list[MeterEvent], *, final: bool
) -> None:
    """Judge events in order. The last reading, and one before a reset, count every wager.

    Other readings may leave some out.
    """
    resets = [at for at, event in enumerate(events) if event.kind == _RESET]
    tells = [at for at, event in enumerate(events) if event.kind == _TOLD]
    ends = {max((at for at in tells if at < reset), default=-1) for reset in resets}
    ends |= set(tells[-1:]) if final else set()
    for at, event in enumerate(events):
        if event.kind == _TOLD:
            _reading(j, shown, of, event, counts_all=at in ends)
        elif event.kind == _RESET:
            _reset(j, shown, of, event, won=_won(j, shown, of, events))
        elif not any(reset < at for reset in resets):
            _taken(j, shown, of, event)


def _reading(
    j: Judge, shown: MeterState, of: PrintedMeter | None, event: MeterEvent, *, counts_all: bool
) -> None:
    """Judge a reading: the one before, plus wagers since at the rate."""
    before, amount = shown.amount, event.amount
    most: int | None
    shown.amount = amount
    if before is None:
        # Which of the wagers it counts is not known, if more readings follow.
        shown.low, shown.high = "0", "0" if counts_all else shown.high
        least = most = amount
    else:
        low, high = Fraction(shown.low), Fraction(shown.high)
        least = floor(before + (low if counts_all else min(low, Fraction(0))))
        most = None if shown.unrated else ceil(before + high)
        up = amount - before
        shown.low, shown.high = str(low - up), str(high - up)
    if counts_all or (most is not None and amount > most) or amount < least:
        shown.low = shown.high = "0"
        shown.unrated = False
    if of and j.rules:
        _judge(j, of, meter_of(j.rules, of), event, (before, least, most))


def _judge(
    j: Judge,
    of: PrintedMeter,
    meter: Meter,
    event: MeterEvent,
    due: tuple[int | None, int, int | None],
) -> None:
    """Compare a reading with the one before, and with its least and greatest value."""
    amount, (before, least, most) = event.amount, due
    shared, begins = meter.name != of.wager, meter.least(of.least)
    if amount < least and not (shared and before is not None and amount < before):
        _wrong(j, of, event, least, "by its wagers it must show at least")
    elif most is not None and amount > most and not shared:
        _wrong(j, of, event, most, "by its wagers it may show at most")
    elif amount < begins and (before is None or before >= begins):
        _wrong(j, of, event, begins, "it must begin at")


def _taken(j: Judge, shown: MeterState, of: PrintedMeter | None, event: MeterEvent) -> None:
    """Note a paid share: the meter may show less. A win of the whole requires a reset."""
    shown.add(-Fraction(event.amount), Fraction(0))
    if of is None or j.rules is None or shown.amount is None:
        return
    shown.reset_due = shown.reset_due or event.amount > _part(j.rules, of) * shown.amount


def _part(rules: InForce, of: PrintedMeter) -> Fraction:
    """The next share that is printed. A player who shares the whole of a meter takes more."""
    shares = [meter_share(row.odds) for row in _rows(rules, of)]
    return max((share for share in shares if share < 1), default=Fraction(0))


def _won(j: Judge, shown: MeterState, of: PrintedMeter | None, events: list[MeterEvent]) -> bool:
    """Whether the whole of a meter was won since its last reset, or may have been."""
    if of is None or j.rules is None or shown.amount is None:
        return True
    if meter_of(j.rules, of).name != of.wager:
        return True
    least = _part(j.rules, of) * shown.amount
    return shown.reset_due or any(e.kind == _PAID and e.amount > least for e in events)


def _reset(
    j: Judge, shown: MeterState, of: PrintedMeter | None, event: MeterEvent, *, won: bool
) -> None:
    """Judge a reset: to the filed amount, or if none is filed, to the minimum.

    Without a win of the whole meter, only upwards.
    """
    before = shown.amount
    shown.amount, shown.low, shown.high = event.amount, "0", "0"
    shown.unrated = shown.reset_due = False
    if of is None or j.rules is None:
        return
    meter = meter_of(j.rules, of)
    due = meter.back_to(of.least)
    if not won and before is not None and event.amount < before:
        _wrong(j, of, event, before, "nobody won all of it, and before that it showed")
    elif event.amount < due or (meter.reset is not None and event.amount > due):
        _wrong(j, of, event, due, "it must be reset to")


def _wrong(j: Judge, of: PrintedMeter, event: MeterEvent, due: int, why: str) -> None:
    name = meter_of(j.rules, of).name if j.rules else of.wager
    j.find(
        "meter_wrong",
        of.section,
        f"The meter {name} shows {dollars(event.amount)}; {why} {dollars(due)}",
        facts=[FactRef(event.source, event.id)],
        wager=of.wager,
        expected=due,
        recorded=event.amount,
    )


def _round_begins(j: Judge, _: RoundStarted, __: object) -> None:
    _over(j)
    j.state.dealing = bool(j.rules is None or j.rules.game.meters)


def _round_over(j: Judge, _: RoundCompleted | RoundVoided, __: object) -> None:
    _over(j)


def _over(j: Judge) -> None:
    """Judge the events of a round together once it is over."""
    j.state.dealing = False
    of_name = {meter.name: of for of, meter in _meters(j.rules)}
    for name, shown in j.state.meters.items():
        events, shown.events = shown.events, []
        _look(j, shown, of_name.get(name), events, final=True)
        shown.stakes = {}


CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    RoundStarted: _round_begins,
    RoundCompleted: _round_over,
    RoundVoided: _round_over,
    WagerPlaced: _placed,
    WagerWithdrawn: _given_back,
    WagerReturned: _given_back,
    WagerPaid: _paid,
    MeterRead: _told,
    MeterAdvanced: _told,
    MeterReset: _told,
}
