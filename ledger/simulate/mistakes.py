"""Mistakes as they are made, and what each must be found as: the truth beside the feed.

Dealers' mistakes are made in `chance`, where the step is; devices' mistakes here, once the round is
over. This module says what was done. It never reads a ruling, nor asks how one is reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    FactRef,
    HandDiscarded,
    RoundVoided,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
)
from ledger.games import games
from ledger.simulate.plan import Planted
from ledger.simulate.teller import MS, SECOND, Happening

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from ledger.rules.game import Game
    from ledger.simulate.plan import Plan, TablePlan
    from ledger.simulate.teller import Teller
    from ledger.wire import Fact


class Truth(NamedTuple):
    """What a mistake must be found as, what may be found beside, and where it can be made."""

    expect: tuple[str, ...]
    may: tuple[str, ...] = ()
    where: Callable[[Game], bool] = lambda _: True  # games it can be made in
    reads: bool = False  # only where the shoe reads the cards


TRUTHS: dict[str, Truth] = {
    "overpay": Truth(("overpaid",)),
    "underpay": Truth(("underpaid",)),
    "not_collected": Truth(("not_collected",), where=lambda game: not game.pots),
    # The stake of a wager that is paid goes back with it, so it need not be found as kept.
    "paid_push": Truth(("overpaid",), where=lambda game: not (game.dice or game.pots)),
    "wrong_card_count": Truth(
        ("misdeal", "should_have_been_void"),
        ("overpaid", "wrongly_collected", "not_returned"),
        where=lambda game: game.habit.hole > 0,
    ),
    "late_wager": Truth(("late_wager",), where=lambda game: game.habit.closes),
    "skipped_player": Truth(("step_missing",), where=lambda game: not game.pots),
    "duplicate_card": Truth(
        ("duplicate_card",), where=lambda game: not game.dice and game.decks == 1, reads=True
    ),
    "lost_fact": Truth(("fact_missing",)),
    "retransmission": Truth(()),
    "reordered_devices": Truth(()),
    "clock_skew": Truth(("clock_skewed",), where=lambda game: game.habit.stays is not None),
}

SKEW_ROUNDS = 3
"""A clock that is off is put right after so many rounds."""

_SKEWS_S = (-9, -8, -7, -6, 6, 7, 8, 9)
_LOSABLE = (CardsDealt, CardsTurned, HandDiscarded, WagerPaid, WagerCollected, WagerReturned)


class Slip:
    """The mistake armed for a round, if any; it is made once, where there is room for it."""

    def __init__(self, teller: Teller, stays: str | None, name: str | None = None) -> None:
        self.teller = teller
        self.chance = teller.chance
        self.name = name
        self.shift_us = 0  # of a clock that is off
        self.stays = stays  # the wager of who is still in the round when it is late
        self.planted: list[Planted] = []

    def may(self, name: str, odds: float = 1.0) -> bool:
        """Whether this mistake is to be made now."""
        return self.name == name and not self.planted and self.chance.random() < odds

    def made(
        self,
        name: str,
        fact: Fact | None,
        position: int | None = None,
        wager: str | None = None,
        *,
        expect: tuple[str, ...] | None = None,
        says: str,
        at_us: int = 0,
    ) -> None:
        """Write down that it was made; the fact that shows it says whose and on what."""
        truth = TRUTHS[name]
        body = fact.body if fact else None
        self.planted.append(
            Planted(
                mistake=name,
                round=self.teller.round.subject if self.teller.round else None,
                table=self.teller.table,
                position=position or getattr(body, "position", None),
                wager=wager or getattr(body, "wager", None),
                expect=truth.expect if expect is None else expect,
                may=truth.may,
                facts=(FactRef(fact.source, fact.id),) if fact else (),
                at_us=at_us or self.teller.now_us,
                says=says,
            )
        )


def spread(plan: Plan, chance: random.Random) -> dict[str, list[tuple[int, str]]]:
    """When each table makes which mistakes: in the first nine tenths of the day."""
    due: dict[str, list[tuple[int, str]]] = {table.table: [] for table in plan.tables}
    for name in sorted(plan.mistakes):
        able = [table for table in plan.tables if _able(table, TRUTHS[name])]
        for _ in range(plan.mistakes[name] if able else 0):
            at_us = plan.opens_us + int(chance.random() * 0.9 * plan.minutes * 60) * SECOND
            due[chance.choice(able).table].append((at_us, name))
    for each in due.values():
        each.sort()
    return due


def _able(table: TablePlan, truth: Truth) -> bool:
    return truth.where(games()[table.game]) and not (truth.reads and table.dealt_from == "hand")


def of_devices(slip: Slip, told: list[Happening]) -> list[Happening]:
    """A round as it arrives after the device's mistake that is armed."""
    make = _OF_DEVICES.get(slip.name or "")
    return make(slip, told) if make and told else told


def _lost(slip: Slip, told: list[Happening]) -> list[Happening]:
    """One fact never arrives; its device told others of this round before and after it."""
    can = [index for index, each in enumerate(told) if isinstance(each.fact.body, _LOSABLE)]
    slip.chance.shuffle(can)
    for index in can:
        fact = told[index].fact
        beside = [
            each.fact
            for each in told
            if each.fact.source == fact.source
            and abs((each.fact.sequence or 0) - (fact.sequence or 0)) == 1
        ]
        if [other.round for other in beside] == [fact.round, fact.round]:
            kind = type(fact.body).__name__
            says = f"A {kind} of {fact.source} never arrives."
            slip.made("lost_fact", fact, says=says, at_us=told[index].true_us)
            lost = told[index]._replace(arrives_us=None)
            return [*told[:index], lost, *told[index + 1 :]]
    return told


def _again(slip: Slip, told: list[Happening]) -> list[Happening]:
    """The same fact is sent once more when the round is over."""
    sent = slip.chance.choice(told)
    says = f"{sent.fact.source} sends a fact twice."
    slip.made("retransmission", sent.fact, says=says, at_us=sent.true_us)
    return [*told, sent._replace(arrives_us=told[-1].true_us + 900 * MS)]


def _reordered(slip: Slip, told: list[Happening]) -> list[Happening]:
    """One device's facts of the round arrive together, after everybody else's."""
    sources = sorted({each.fact.source for each in told})
    source = slip.chance.choice(sources)
    end_us = told[-1].true_us
    late = [each for each in told if each.fact.source == source]
    if len(late) == len(told):
        return told
    says = f"{source} reports only after the round."
    slip.made("reordered_devices", late[0].fact, says=says, at_us=late[0].true_us)
    return [
        *(each for each in told if each.fact.source != source),
        *(each._replace(arrives_us=end_us + 1 + n) for n, each in enumerate(late)),
    ]


def _skewed(slip: Slip, told: list[Happening]) -> list[Happening]:
    """The layout's clock is off in this round; at least one player stays in to the end."""
    stays = any(
        isinstance(each.fact.body, WagerPlaced) and each.fact.body.wager == slip.stays
        for each in told
    )
    voided = any(isinstance(each.fact.body, RoundVoided) for each in told)
    source = next((h.fact.source for h in told if isinstance(h.fact.body, WagerPlaced)), None)
    if not stays or voided or source is None:
        return told
    shift_us = slip.shift_us or slip.chance.choice(_SKEWS_S) * SECOND
    slip.shift_us = shift_us
    first = next(each.fact for each in told if each.fact.source == source)
    way = "ahead" if shift_us > 0 else "behind"
    says = f"{source} runs {abs(shift_us) // SECOND} s {way}."
    slip.made("clock_skew", first, says=says, at_us=told[0].true_us)
    return [
        each._replace(fact=replace(each.fact, time_us=each.fact.time_us + shift_us))
        if each.fact.source == source
        else each
        for each in told
    ]


_OF_DEVICES: dict[str, Callable[[Slip, list[Happening]], list[Happening]]] = {
    "lost_fact": _lost,
    "retransmission": _again,
    "reordered_devices": _reordered,
    "clock_skew": _skewed,
}
