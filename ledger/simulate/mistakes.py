"""Mistakes as they are made, and the finding each must lead to: the truth beside the feed.

`chance` makes dealers' mistakes at the step itself. This module makes devices' mistakes once the
round is over. It records what was done. It never reads a ruling, nor uses how one is reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    DecisionMade,
    FactRef,
    HandDiscarded,
    RoundVoided,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
)
from ledger.games import games
from ledger.simulate.device_emitter import MS, SECOND, Happening
from ledger.simulate.plan import Planted

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.game import Game
    from ledger.simulate.device_emitter import DeviceEmitter
    from ledger.simulate.plan import Plan, TablePlan


class Truth(NamedTuple):
    """The findings a mistake must and may lead to, and where it can be made."""

    expect: tuple[str, ...]
    may: tuple[str, ...] = ()
    where: Callable[[Game], bool] = lambda _: True  # games it can be made in
    reads: bool = False  # only if the shoe reads the cards


TRUTHS: dict[str, Truth] = {
    "overpay": Truth(("overpaid",)),
    "underpay": Truth(("underpaid",)),
    "not_collected": Truth(("not_collected",), where=lambda game: not game.pots),
    # A paid wager's stake goes back with it, so a kept stake need not be found.
    "paid_push": Truth(("overpaid",), where=lambda game: not (game.dice or game.pots)),
    "wrong_card_count": Truth(
        ("misdeal", "should_have_been_void"),
        ("overpaid", "wrongly_collected", "not_returned"),
        where=lambda game: game.player_model.hole > 0,
    ),
    "late_wager": Truth(("late_wager",), where=lambda game: game.player_model.closes),
    "skipped_player": Truth(("step_missing",), where=lambda game: not game.pots),
    "duplicate_card": Truth(
        ("duplicate_card",), where=lambda game: not game.dice and game.decks == 1, reads=True
    ),
    "meter_stuck": Truth(("meter_wrong",), where=lambda game: bool(game.meters)),
    "lost_fact": Truth(("fact_missing",)),
    "retransmission": Truth(()),
    "reordered_devices": Truth(()),
    # In Poker the order of draws shows whose cards they are, so a skewed clock changes more.
    "clock_skew": Truth(("clock_skewed",), where=lambda game: not game.pots),
    "payment_misread": Truth(("overpaid",), where=lambda game: not game.pots),
}

SKEW_ROUNDS = 3
"""The number of rounds after which a skewed clock is corrected."""

_LEAST = (8, 5)  # facts of a skewed device: between others, and out of turn
_LEAST_LATE = (14, 10)  # of a device that is ahead and sends wagers: fewer look like late wagers
_SKEWS_S = (-9, -8, -7, -6, 6, 7, 8, 9)
_LOSABLE = (CardsDealt, CardsTurned, HandDiscarded, WagerPaid, WagerCollected, WagerReturned)


class Slip:
    """The mistake armed for a round, if any. It is made once, at a step with room for it."""

    def __init__(self, teller: DeviceEmitter, stays: str | None, name: str | None = None) -> None:
        self.teller = teller
        self.chance = teller.chance
        self.name = name
        self.shift_us = 0  # shift of a skewed clock
        self.source = ""  # the device with that clock
        self.rounds_off = 1  # the last one of these
        self.stays = stays  # the late wager of a player still in the round
        self.planted: list[Planted] = []

    def after(self) -> Slip:
        """The next state after it was made: nothing armed, but a skewed clock lasts some rounds."""
        if self.name != "clock_skew" or self.rounds_off == SKEW_ROUNDS:
            return Slip(self.teller, self.stays)
        still = Slip(self.teller, self.stays, self.name)
        still.shift_us, still.source = self.shift_us, self.source
        still.rounds_off = self.rounds_off + 1
        return still

    def may(self, name: str, odds: float = 1.0) -> bool:
        """Whether this mistake is to be made now."""
        return self.name == name and not self.planted and self.chance.random() < odds

    def made(  # noqa: PLR0913 - one keyword for each thing a mistake is known by
        self,
        name: str,
        fact: Fact | None,
        position: int | None = None,
        wager: str | None = None,
        *,
        expect: tuple[str, ...] | None = None,
        says: str,
        cents: int = 0,
        at_us: int = 0,
        of_round: bool = True,
    ) -> None:
        """Record that it was made. The fact that shows it gives position and wager.

        `of_round`: it is found in the round, not over the table's tape.
        """
        truth = TRUTHS[name]
        body = fact.body if fact else None
        self.planted.append(
            Planted(
                mistake=name,
                round=self.teller.round.subject if self.teller.round and of_round else None,
                table=self.teller.table,
                position=position or getattr(body, "position", None),
                wager=wager or getattr(body, "wager", None),
                expect=truth.expect if expect is None else expect,
                may=truth.may,
                facts=(FactRef(fact.source, fact.id),) if fact else (),
                at_us=at_us or self.teller.now_us,
                cents=cents,
                says=says,
            )
        )


def spread(plan: Plan, chance: random.Random) -> dict[str, list[tuple[int, str]]]:
    """The times of each table's mistakes, in the first nine tenths of the day."""
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


def of_devices(
    slip: Slip, told: list[Happening], in_turn: Iterable[tuple[Fact, Fact]] = ()
) -> list[Happening]:
    """A round as it arrives after the armed mistake of a device.

    `in_turn`: pairs of its facts that the sections put in order.
    """
    if slip.name == "clock_skew":
        return _skewed(slip, told, list(in_turn))
    make = _OF_DEVICES.get(slip.name or "")
    return make(slip, told) if make and told else told


def _lost(slip: Slip, told: list[Happening]) -> list[Happening]:
    """Lose one fact. Its device sent others of this round before and after it."""
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
    """Send the same fact again when the round is over."""
    sent = slip.chance.choice(told)
    says = f"{sent.fact.source} sends a fact twice."
    slip.made("retransmission", sent.fact, says=says, at_us=sent.true_us)
    return [*told, sent._replace(arrives_us=told[-1].true_us + 900 * MS)]


def _reordered(slip: Slip, told: list[Happening]) -> list[Happening]:
    """Deliver one device's facts of the round together, after all others."""
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


def _skewed(
    slip: Slip, told: list[Happening], in_turn: Sequence[tuple[Fact, Fact]]
) -> list[Happening]:
    """Skew a device's clock in this round, far enough that its facts cannot be in turn."""
    shift_us = slip.shift_us or slip.chance.choice(_SKEWS_S) * SECOND
    sources = [slip.source] if slip.source else sorted({each.fact.source for each in told})
    can = [source for source in sources if source and _shows(source, shift_us, in_turn)]
    bodies = [each.fact.body for each in told]
    # After a split, only the order shows whose a lost decision would be.
    split = any(isinstance(body, DecisionMade) and body.decision == "split" for body in bodies)
    # If later bets are asked for, a round without a player left shows too little.
    stays = not slip.stays or any(
        isinstance(body, WagerPlaced) and body.wager == slip.stays for body in bodies
    )
    voided = any(isinstance(body, RoundVoided) for body in bodies)
    if not (can and stays) or split or voided:
        return told
    slip.shift_us, slip.source = shift_us, slip.chance.choice(can)
    first = next(each.fact for each in told if each.fact.source == slip.source)
    way = "ahead" if shift_us > 0 else "behind"
    says = f"{slip.source} runs {abs(shift_us) // SECOND} s {way}."
    slip.made("clock_skew", first, says=says, at_us=told[0].true_us)
    return [
        each._replace(fact=replace(each.fact, time_us=each.fact.time_us + shift_us))
        if each.fact.source == slip.source
        else each
        for each in told
    ]


def _shows(source: str, shift_us: int, in_turn: Sequence[tuple[Fact, Fact]]) -> bool:
    """Whether a device with this shift stands out: its facts lie between others, then would not."""
    between: tuple[set[str], set[str]] = (set(), set())  # after another device's fact, and before
    astray, wagers = set(), False
    for early, late in in_turn:
        if (early.source == source) == (late.source == source):
            continue
        fact = late if late.source == source else early
        between[fact is early].add(fact.id)
        wagers |= isinstance(fact.body, WagerPlaced)
        apart_us = late.time_us - early.time_us + (shift_us if fact is late else -shift_us)
        if apart_us < -SECOND:
            astray.add(fact.id)
    least_between, least_astray = _LEAST_LATE if wagers and shift_us > 0 else _LEAST
    enough = len(between[0] | between[1]) >= least_between and len(astray) >= least_astray
    return all(between) and enough


_OF_DEVICES: dict[str, Callable[[Slip, list[Happening]], list[Happening]]] = {
    "lost_fact": _lost,
    "retransmission": _again,
    "reordered_devices": _reordered,
}
