"""Reconstructs the table after each fact of a round, from the facts alone.

A pure fold for any game: it applies facts to a layout and uses no rule. A face-down card stays face
down until it is turned. Its face, if the record ever has it, is kept separately, so that a reader
can see the table as known then or with hindsight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger import facts as f
from ledger.facts import Body, type_name
from ledger.facts.rounds import indexes
from ledger.rules.engine.order import in_order
from ledger.values import UNKNOWN_CARD
from replay.rounds.layout import Cards, Cell, Layout
from replay.rounds.moment import HeldCards, Moment, SeatMoment, SeenCard, Stake, Thrown
from replay.rounds.sentences import in_words, wager_namer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ledger.record.wire import Fact
    from replay.rounds.layout import Who


def reconstruct(facts: Iterable[Fact]) -> list[Moment]:
    """A moment for each fact, in the order of the round; the order of arrival does not matter."""
    ordered = in_order(facts)
    game = next((x.body.game for x in ordered if isinstance(x.body, f.RoundStarted)), None)
    name = wager_namer(game)
    layout = Layout()
    pending: list[tuple[Moment, list[tuple[Who, list[tuple[Cell, bool]]]]]] = []
    for number, fact in enumerate(ordered, 1):
        _apply(layout, fact)
        cells = [
            (who, [(cell, cell.up) for cell in held.cells]) for who, held in layout.cards.items()
        ]
        pending.append((_moment(layout, number, fact, name), cells))
    return [_with_cards(moment, cells) for moment, cells in pending]


def _with_cards(moment: Moment, cells: list[tuple[Who, list[tuple[Cell, bool]]]]) -> Moment:
    """Add the face of each card, by the whole record."""
    shown = {who: tuple(SeenCard(cell.code, up) for cell, up in its) for who, its in cells}
    held = tuple(
        HeldCards(
            to=each.to,
            position=each.position,
            hand=each.hand,
            cards=shown[each.to, each.position or 0, each.hand],
            set_as=each.set_as,
            gone=each.gone,
        )
        for each in moment.held
    )
    values = {name: getattr(moment, name) for name in moment.__struct_fields__}
    return Moment(**values | {"held": held})


def _moment(layout: Layout, number: int, fact: Fact, name: Callable[[str], str]) -> Moment:
    """The current layout as a moment, its cards still without faces."""
    spots = layout.spots.values()
    return Moment(
        number=number,
        source=fact.source,
        id=fact.id,
        time_us=fact.time_us,
        fact=_name(fact.body),
        position=getattr(fact.body, "position", None),
        says=in_words(fact.body, name),
        phase=layout.phase,
        seats=_seats(layout),
        held=tuple(
            HeldCards(
                to=to,
                position=position or None,
                hand=hand,
                cards=(),
                set_as=dict(held.set_as),
                gone=held.gone,
            )
            for (to, position, hand), held in sorted(layout.cards.items())
        ),
        throws=tuple(throw for _, throw in layout.throws),
        markers=dict(layout.markers),
        burned=layout.burned,
        paid=sum(spot.paid for spot in spots) + sum(layout.awarded.values()),
        collected=sum(spot.collected for spot in spots),
        returned=sum(spot.returned for spot in spots),
        rake=layout.rake,
        irregularities=tuple(layout.irregularities),
        void=layout.void,
        closed=layout.closed,
        button=layout.button,
        shooter=layout.shooter,
        bonus_numbers=tuple(layout.bonus_numbers),
        pots_taken=dict(layout.pots_taken),
    )


def _name(body: object) -> str:
    return type_name(type(body)).partition(".")[0] if isinstance(body, Body) else str(type(body))


def _seats(layout: Layout) -> tuple[SeatMoment, ...]:
    """Every position that a fact has named, starting at the dealer's left."""
    tables = (layout.decisions, layout.fees, layout.in_pot, layout.awarded)
    positions = {position for table in (*tables, layout.stacks) for position in table}
    positions |= {position for position, _, _ in layout.spots}
    positions |= {position for to, position, _ in layout.cards if to == "player"}
    return tuple(
        SeatMoment(
            position=position,
            stakes=tuple(
                Stake(wager=wager, hand=hand, **vars(spot))
                for (at, wager, hand), spot in layout.spots.items()
                if at == position
            ),
            decisions=tuple(layout.decisions.get(position, ())),
            fees=layout.fees.get(position, 0),
            in_pot=layout.in_pot.get(position, 0),
            awarded=layout.awarded.get(position, 0),
            stack=layout.stacks.get(position),
            all_in=position in layout.all_in,
        )
        for position in sorted(positions)
    )


def _apply(layout: Layout, fact: Fact) -> None:
    """Apply one fact to the table; a fact without a change still gives a moment."""
    body = fact.body
    layout.phase = _PHASES.get(type(body), layout.phase)
    if isinstance(body, f.WagerPlaced) and layout.phase not in _OPEN:
        layout.phase = "players bet"
    if isinstance(body, f.NoRollCalled):
        _cancel(layout, body)
    elif isinstance(body, f.DiceThrown):
        _throw(layout, fact, body)
    else:
        change = _CHANGES.get(type(body))
        if change:
            change(layout, body)


def _placed(layout: Layout, body: f.WagerPlaced) -> None:
    spot = layout.spots[body.position, body.wager, body.hand]
    spot.placed += body.amount
    spot.on_layout += body.amount


def _withdrawn(layout: Layout, body: f.WagerWithdrawn) -> None:
    spot = layout.spots[body.position, body.wager, 1]
    spot.placed -= body.amount
    spot.on_layout -= body.amount


def _marked(layout: Layout, body: f.WagerMarked) -> None:
    layout.spots[body.position, body.wager, 1].state = body.state


def _paid(layout: Layout, body: f.WagerPaid) -> None:
    """The stake of a won wager goes back with its winnings, without a fact of its own."""
    spot = layout.spots[body.position, body.wager, body.hand]
    spot.paid += body.amount
    spot.on_layout = 0


def _collected(layout: Layout, body: f.WagerCollected) -> None:
    spot = layout.spots[body.position, body.wager, body.hand]
    spot.collected += body.amount
    spot.on_layout = max(spot.on_layout - body.amount, 0)
    if body.wager in _BONUS_OF_CRAPS:
        layout.bonus_numbers.clear()  # no fact removes these markers: the end of the wager does


def _returned(layout: Layout, body: f.WagerReturned) -> None:
    spot = layout.spots[body.position, body.wager, body.hand]
    spot.returned += body.amount
    spot.on_layout = max(spot.on_layout - body.amount, 0)


def _dealt(layout: Layout, body: f.CardsDealt) -> None:
    up = body.face == "up"
    layout.of(body).cells.extend(Cell(card, up) for card in body.cards)


def _turned(layout: Layout, body: f.CardsTurned) -> None:
    """Turned cards get the faces read then; a card without a recorded deal is added."""
    cells = layout.of(body).cells
    for at, card in zip(indexes(body), body.cards, strict=True):
        while len(cells) <= at:
            cells.append(Cell(UNKNOWN_CARD, up=False))
        cells[at].up = True
        if card != UNKNOWN_CARD:
            cells[at].code = card


def _give_up(held: Cards, discards: Iterable[str]) -> None:
    """Discards leave the hand; for an unknown card the first unknown one leaves."""
    for card in discards:
        for wanted in (card, UNKNOWN_CARD):
            found = next((cell for cell in held.cells if cell.code == wanted), None)
            if found:
                held.cells.remove(found)
                break


def _decided(layout: Layout, body: f.DecisionMade) -> None:
    told = body.decision.replace("_", " ")
    layout.decisions[body.position].append(f"{told} (hand {body.hand})" if body.hand > 1 else told)
    if body.amount:
        layout.in_pot[body.position] += body.amount
    if body.all_in or _called_short(layout, body):
        layout.all_in.add(body.position)
    if body.discards:
        _give_up(layout.cards.setdefault(("player", body.position, 1), Cards()), body.discards)
    if body.decision == "split":
        _split(layout, body)


def _called_short(layout: Layout, body: f.DecisionMade) -> bool:
    """Whether a poker player called for less than another put in, without a stack on record.

    637a.19-21(g): a call for less is all the player has. An Ante buys no part of a bet.
    """
    if body.decision != "call" or not body.amount or body.position in layout.stacks:
        return False
    chips = dict(layout.in_pot)
    for (position, wager, _), spot in layout.spots.items():
        if wager != "ante":
            chips[position] = chips.get(position, 0) + spot.placed - spot.returned
    return chips[body.position] < max(chips.values())


def _split(layout: Layout, body: f.DecisionMade) -> None:
    """The second card of a split pair begins the next free hand of the position."""
    held = layout.cards.get(("player", body.position, body.hand))
    if held is None or len(held.cells) != 2:  # noqa: PLR2004 - a pair
        return
    taken = {hand for to, at, hand in layout.cards if to == "player" and at == body.position}
    layout.cards["player", body.position, max(taken) + 1] = Cards([held.cells.pop()])


def _exchanged(layout: Layout, body: f.CardsExchanged) -> None:
    _give_up(layout.of(body), body.discards)


def _set(layout: Layout, body: f.HandSet) -> None:
    layout.of(body).set_as = dict(body.hands)


def _discarded(layout: Layout, body: f.HandDiscarded) -> None:
    layout.of(body).gone = True


def _shown(layout: Layout, body: f.HandShown) -> None:
    cells = layout.cards.setdefault(("player", body.position, 1), Cards()).cells
    for at, cell in enumerate(cells):
        cell.up = True
        if cell.code == UNKNOWN_CARD and body.cards and at < len(body.cards):
            cell.code = body.cards[at]


def _mucked(layout: Layout, body: f.HandMucked) -> None:
    layout.cards.setdefault(("player", body.position, 1), Cards()).gone = True


def _fee(layout: Layout, body: f.FeePaid) -> None:
    layout.fees[body.position] += body.amount


POT_WAGER = "pot"
"""The wager whose chips are the pot (680a.7(d)(2)): they leave with it."""


def _awarded(layout: Layout, body: f.PotAwarded) -> None:
    layout.awarded[body.position] += body.amount
    layout.pots_taken[body.pot] += body.amount
    left = body.amount
    for (_, wager, _), spot in layout.spots.items():
        if wager == POT_WAGER:
            taken = min(left, spot.on_layout)
            spot.on_layout -= taken
            left -= taken


def _raked(layout: Layout, body: f.RakeTaken) -> None:
    layout.rake += body.amount
    layout.pots_taken[body.pot or 0] += body.amount


def _marker(layout: Layout, body: f.MarkerPlaced) -> None:
    layout.markers[body.marker] = body.at
    if body.marker == "bonus" and isinstance(body.at, int):
        layout.bonus_numbers.append(body.at)


def _started(layout: Layout, body: f.RoundStarted) -> None:
    layout.button = body.button


def _counted(layout: Layout, body: f.StackCounted) -> None:
    layout.stacks[body.position] = body.amount


def _offered(layout: Layout, body: f.DiceOffered) -> None:
    if body.accepted:
        layout.shooter = body.position


def _burned(layout: Layout, _: f.CardBurned) -> None:
    layout.burned += 1


def _irregular(layout: Layout, body: f.IrregularityCalled) -> None:
    layout.irregularities.append(body.kind)


def _voided(layout: Layout, body: f.RoundVoided) -> None:
    layout.void = body.reason
    layout.closed = True


def _completed(layout: Layout, _: f.RoundCompleted) -> None:
    layout.closed = True


def _throw(layout: Layout, fact: Fact, body: f.DiceThrown) -> None:
    layout.shooter = body.position or layout.shooter
    dice = body.dice or (*(body.offensive or ()), body.defensive or 0)
    number = 1 + sum(not throw.cancelled for _, throw in layout.throws)
    thrown = Thrown(number=number, dice=dice, purpose=body.purpose, cancelled=False)
    layout.throws.append(((fact.source, fact.id), thrown))
    layout.phase = f"after throw {number}"


def _cancel(layout: Layout, body: f.NoRollCalled) -> None:
    """A cancelled throw keeps its dice on the table and loses its number."""
    wanted = (body.of.source, body.of.id) if body.of else None
    for at, (key, throw) in enumerate(layout.throws):
        if key == wanted:
            gone = Thrown(number=None, dice=throw.dice, purpose=throw.purpose, cancelled=True)
            layout.throws[at] = (key, gone)


_BONUS_OF_CRAPS = ("all_small", "all_tall", "all_or_nothing")

_OPEN = ("before the round", "wagers are open")

_PHASES: dict[type, str] = {
    f.RoundStarted: "wagers are open",
    f.NoMoreBetsCalled: "no more bets",
    f.DecisionsLockedCalled: "decisions are locked",
    f.StartingPositionDetermined: "the deal begins",
    f.CardsDealt: "cards are dealt",
    f.CardsTurned: "cards are turned",
    f.DecisionMade: "players decide",
    f.HandSet: "hands are set",
    f.CardsExchanged: "cards are exchanged",
    f.WagerPaid: "wagers are settled",
    f.WagerCollected: "wagers are settled",
    f.WagerReturned: "wagers are settled",
    f.PotAwarded: "the pot is awarded",
    f.HandDiscarded: "cards go to the rack",
    f.IrregularityCalled: "an irregularity is called",
    f.RoundVoided: "void",
    f.RoundCompleted: "over",
}

_CHANGES: dict[type, Callable[[Layout, Any], None]] = {
    f.RoundStarted: _started,
    f.StackCounted: _counted,
    f.DiceOffered: _offered,
    f.WagerPlaced: _placed,
    f.WagerWithdrawn: _withdrawn,
    f.WagerMarked: _marked,
    f.WagerPaid: _paid,
    f.WagerCollected: _collected,
    f.WagerReturned: _returned,
    f.CardsDealt: _dealt,
    f.CardsTurned: _turned,
    f.DecisionMade: _decided,
    f.CardsExchanged: _exchanged,
    f.HandSet: _set,
    f.HandDiscarded: _discarded,
    f.HandShown: _shown,
    f.HandMucked: _mucked,
    f.FeePaid: _fee,
    f.PotAwarded: _awarded,
    f.RakeTaken: _raked,
    f.MarkerPlaced: _marker,
    f.CardBurned: _burned,
    f.IrregularityCalled: _irregular,
    f.RoundVoided: _voided,
    f.RoundCompleted: _completed,
}
