"""The verbs a game is written in. Each names the section that requires it and asks for the fact.

The same `play` serves a record (it is adjudicated), a record that ends early (what must come next),
an irregularity on record (what follows), and chance (a round is dealt). Which of them, the `Source`
decides. Nothing here knows a clock or a file, and nothing raises because a rule was broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import DecisionMade, MeterRead, WagerPlaced, WagerWithdrawn
from ledger.rules.engine.dealing import Dealing
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.settling import How, decided, fee, halved, pot, pushed, voided
from ledger.rules.engine.steps import PAYMENT, POT, Spot, Step, fee_name, pot_name, said
from ledger.rules.wagers.coupons import redeem
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.odds import Paytable, Row
    from ledger.rules.engine.ruling import Settlement
    from ledger.rules.engine.steps import Ways


class Table(Dealing):
    """One round in progress, as `play` sees it."""

    # -- decisions ---------------------------------------------------------------------------

    def offer(
        self,
        seat: int,
        wager: str,
        choices: Sequence[int],
        section: str,
        hand: int = 1,
        *,
        turns_show: bool = True,
    ) -> list[Fact] | None:
        """Ask a player for a wager of one of these amounts: the facts that place it.

        None where he folds, or is passed over; an empty list where the record has lost the wager
        but shows his hand in play later on. `turns_show`: cards of it that are turned show that;
        not where a hand that is given up is turned for another wager.
        """
        step = Step(
            "wager_placed",
            section,
            None,
            seat,
            hand,
            wager,
            choices=choices,
            instead="decision_made",
            turns_show=turns_show,
        )
        fact = self.expect(step) if self.source.gone(seat) else self.take(step)
        if fact is None and self.source.plays_on(seat, turns_show=turns_show):
            self._lost(step)
            return []
        if fact is None or not isinstance(fact.body, WagerPlaced):
            return None
        placed = self._all_of(fact, step)
        # Where all of it was taken back he is asked again.
        return placed or self.offer(seat, wager, choices, section, hand, turns_show=turns_show)

    def add(
        self,
        seat: int,
        wager: str,
        choices: Sequence[int],
        section: str,
        hand: int = 1,
        *,
        due: bool = False,
    ) -> list[Fact]:
        """Chips that a player may put down now, or must once he has decided so (`due`)."""
        step = Step("wager_placed", section, None, seat, hand, wager, choices=choices, may=not due)
        fact = self.take(step) if due else self.may_take(step)
        if fact is not None:
            placed = self._all_of(fact, step)
            if isinstance(fact.body, WagerPlaced):
                return placed
            self.taken.pop()  # chips taken back that never lay there are no step of play
            return self.add(seat, wager, choices, section, hand, due=due)
        if due:
            self._lost(step)
        return []

    def _lost(self, step: Step) -> None:
        """A wager that was made, as play shows, and is not on record: its amount is not known."""
        self.stakes[step.position or 0, step.what or "", step.hand] = None
        self.unsettled.append(step)

    def _all_of(self, fact: Fact, step: Step) -> list[Fact]:
        """All that was placed, and taken back, of one wager; what lies there is its stake.

        Empty where all of it was taken back, or more than lay there.
        """
        placed, more = [fact], self.source.take(step._replace(instead=None, may=True))
        while more is not None:
            placed.append(more)
            more = self.source.take(step._replace(instead=None, may=True))
        stake = sum(
            each.body.amount
            if isinstance(each.body, WagerPlaced)
            else -said(each, WagerWithdrawn).amount
            for each in placed
        )
        seat, wager = step.position or 0, step.what or ""
        if stake < 0:
            why = f"{dollars(-stake)} more was taken back than lay there"
            self.not_permitted(seat, wager, why, step.section, placed)
        if stake < 0 or (stake == 0 and len(placed) > 1):
            return []
        if (seat, wager, step.hand) not in self.stakes:
            self.offered(placed[0])
        self.stakes[seat, wager, step.hand] = stake
        for each in placed:
            self.play_coupon((seat, wager, step.hand), getattr(each.body, "coupon", None))
        if step.choices and stake not in step.choices:
            why = f"it is {dollars(stake)}, not {_among(step.choices)}"
            self.not_permitted(seat, wager, why, step.section, placed)
        return placed

    def decide(
        self,
        seat: int,
        options: Sequence[str],
        section: str,
        hand: int = 1,
        *,
        costs: Mapping[str, int] | None = None,
        ways: Ways | None = None,
        may: bool = False,
        only: Sequence[str] = (),
    ) -> DecisionMade | None:
        """What a player decides, one of these; None where it is not on record.

        With `may` he need not decide: None where his next decision is none of them. `costs`: cents
        that some take; `ways`: what else a decision may say, for a source that makes facts; `only`:
        a next decision that is none of these is a later one, and this one is not on record.
        """
        step = Step(
            "decision_made",
            section,
            None,
            seat,
            hand,
            options=tuple(options),
            costs=costs or {},
            ways=ways,
            may=may,
            only=tuple(only),
            until="card_burned" if only else None,
        )
        fact = self.may_take(step) if may else self.take(step)
        if fact is None:
            return None
        body = said(fact, DecisionMade)
        if body.decision not in options:
            says = (
                f"Position {seat} decided to {body.decision.replace('_', ' ')}, which is not open "
                f"to him here ({self.rules.section(section)})."
            )
            self.find(
                "decision_not_permitted",
                says,
                section,
                facts=(fact,),
                position=seat,
                expected=", ".join(options),
                recorded=body.decision,
            )
        return body

    def fee(self, seat: int, name: str, cents: int, section: str, purpose: str | None) -> None:
        """A player pays the house; the payment is the fact itself."""
        step = Step("fee_paid", section, None, seat, what=fee_name(name, purpose), amount=cents)
        self.expect(step)
        self.settlements.append(fee(seat, name, cents, self.rules.section(section)))

    def left_table(self, seat: int) -> bool:
        """Whether the player left the table during the round."""
        return self.source.gone(seat)

    # -- settlement --------------------------------------------------------------------------

    def settle(
        self,
        seat: int,
        wager: str,
        table: Paytable,
        outcome: object,
        lost: str,
        *,
        throw: int | None = None,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a wager by its paytable; `lost` is the paragraph that collects it.

        Nothing happens where none was placed. An outcome of None (a card not known) leaves it open.
        `readings` are those the outcome depended on.
        """
        spot = (seat, wager, hand)
        if spot not in self.stakes:
            return
        if self.stakes[spot] is None or outcome is None:
            self.unsettled.append(Step("wager_paid", lost, None, seat, hand, wager))
            return
        row = table.pays(outcome, self.rules.readings)
        rows = [row] if row else []
        self.settle_rows(seat, wager, table, rows, lost, throw=throw, hand=hand, readings=readings)

    def settle_rows(
        self,
        seat: int,
        wager: str,
        table: Paytable,
        rows: Sequence[Row],
        lost: str,
        *,
        throw: int | None = None,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a wager by rows already found: two where one wager is paid twice, none: lost."""
        section = table.section if rows else lost
        how = How(throw, table.letter, readings)
        self._decide((seat, wager, hand), rows, section, how)

    def pay_beside(
        self,
        seat: int,
        name: str,
        stake: int,
        table: Paytable,
        outcome: object,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """A payout without a wager of its own, on the stake of another; nothing where none is won.

        An outcome of None (a card not known) leaves it open.
        """
        if outcome is None:
            self.unsettled.append(Step("wager_paid", table.section, None, seat, hand, name))
            return
        row = table.pays(outcome, self.rules.readings)
        if row is not None and stake:
            spot = (seat, name, hand)
            how = How(letter=table.letter, readings=readings)
            self.keep(decided(spot, stake, [row], self.rules, table.section, how))

    def collect(
        self,
        seat: int,
        wager: str,
        section: str,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """A wager is lost; `readings` are those that depended on."""
        if (seat, wager, hand) in self.stakes:
            self._decide((seat, wager, hand), (), section, How(readings=readings))

    def push(
        self,
        seat: int,
        wager: str,
        section: str,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Nobody won a wager, so it goes back; `readings` are those that depended on."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, 0)
        if stake is None:
            self.unsettled.append(Step("wager_returned", section, None, seat, hand, wager))
        elif stake:
            self.keep(pushed(spot, stake, self.rules, section, readings))

    def forfeit(self, seat: int, section: str, keep: Sequence[str] = ()) -> None:
        """A hand is given up: its wagers are collected, its cards go into the rack."""
        for held, wager, hand in list(self.stakes):
            if held == seat and wager not in keep:
                self.collect(seat, wager, section, hand=hand)
        self.discard(section, "player", seat)

    def give_back(self, seat: int, wager: str, section: str, hand: int = 1) -> None:
        """A wager that never came into play, or is void, goes back."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, None)
        if stake is not None:
            self.keep(voided(spot, stake, self.rules.section(section)))

    def surrender(
        self, seat: int, wager: str, section: str, hand: int = 1, readings: Sequence[str] = ()
    ) -> None:
        """Half of a wager is given up, the other half goes back."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, None)
        if stake is not None:
            self.keep(halved(spot, stake, self.rules, section, readings))

    def award(
        self, seat: int, cents: int, section: str, number: int = 0, share: str | None = None
    ) -> None:
        """A pot, or a share of it, is pushed to a winner; `share_of_pots` settles what it is."""
        what = pot_name(number, share)
        self.expect(Step("pot_awarded", section, None, seat, what=what, amount=cents))

    def share_of_pots(
        self,
        seat: int,
        put_in: int,
        won: int,
        section: str,
        *,
        row: str | None = None,
        reading: str | None = None,
    ) -> None:
        """What a player won of the pots, beside what he put in."""
        self.stakes.pop((seat, POT, 1), None)
        named = (reading, as_json(self.rules.readings[reading])) if reading else None
        self.settlements.append(pot(seat, put_in, won, self.rules.section(section), row, named))

    def meter(self, name: str, section: str) -> int | None:
        """What a progressive meter showed when a win was paid from it, cents."""
        fact = self.expect(Step("meter_read", section, what=name))
        return said(fact, MeterRead).amount if fact else None

    def _decide(self, spot: Spot, rows: Sequence[Row], section: str, how: How) -> None:
        """Write down what a stake is owed, and expect it to be paid."""
        seat, wager, hand = spot
        stake = self.stakes.pop(spot)
        if stake is None:
            self.unsettled.append(Step("wager_collected", section, None, seat, hand, wager))
            return
        face, even = self.known.faces(self.coupons.get(spot, ()))
        how = how._replace(face=face, even=even, most=self.most.get(seat))
        settled = decided(spot, stake, rows, self.rules, section, how)
        if how.most:
            self.most[seat] = (how.most[0] - max(settled.net, 0), how.most[1])
        self.keep(settled)

    def limit(self, seat: int, section: str) -> None:
        """From here on a position wins no more than the holder's limit of a round, where it is."""
        cents = self.rules.limits.get("payout_per_player_round")
        if cents is not None:
            self.most[seat] = (cents, section)

    def keep(self, settlement: Settlement) -> None:
        """Keep a settlement; its chips move next, of a surrender both ways."""
        settlement, dropped = redeem(self, settlement)
        self.settlements.append(settlement)
        lost = -settlement.net
        fact = PAYMENT[settlement.outcome]
        moved = settlement.net if fact == "wager_paid" else settlement.stake
        self._move(fact, lost if settlement.outcome == "lose" else moved, settlement)
        if settlement.outcome == "lose" and lost < settlement.stake:
            self._move("wager_returned", settlement.stake - lost, settlement)
        for step in dropped:
            self.expect(step)

    def _move(self, fact: str, cents: int, of: Settlement) -> None:
        """Expect the chips of a settlement to move."""
        section = of.section.removeprefix(f"{self.rules.edition.chapter}.")
        self.expect(
            Step(
                fact,
                section,
                None,
                of.position,
                of.hand,
                of.wager,
                amount=cents,
                throw=of.throw,
                paid_from=of.paid_from,
            )
        )


def _among(choices: Sequence[int]) -> str:
    """Amounts a player may wager, in words."""
    if isinstance(choices, range):
        return f"between {dollars(choices[0])} and {dollars(choices[-1])}"
    return "one of " + ", ".join(dollars(choice) for choice in choices)
