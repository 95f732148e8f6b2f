"""Describes each fact in one sentence, in the words of the floor.

The sentences are only for reading. A fact without its own sentence is described by its name and
fields, so that a replay leaves no fact out.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from ledger import facts as f
from ledger.facts import Body, type_name
from ledger.facts.rounds import indexes
from ledger.games import games
from ledger.values import dollars, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
_HOLDERS = {"dealer": "the dealer", "community": "the community cards", "player_hand": "Player"}
_HOLDERS |= {"banker_hand": "Banker"}


def card_text(code: str) -> str:
    """A card by rank, letter and shape of its suit: `Ks♠`; the joker and unknown cards as coded."""
    return code + SUITS.get(code[-1], "")


def cards_text(codes: Sequence[str]) -> str:
    """Cards in order."""
    return " ".join(card_text(code) for code in codes)


def wager_namer(game: str | None) -> Callable[[str], str]:
    """The printed names of a game's wagers, by id; an unknown id gets spaces for underscores."""
    known = games().get(game or "")
    printed = {wager.id: wager.name for wager in known.wagers} if known else {}
    return lambda wager: printed.get(wager) or wager.replace("_", " ").capitalize()


@cache
def wager_of_any_game(wager: str) -> str:
    """A wager's printed name where its game is not at hand: the one that all games print."""
    printed = {each.name for game in games().values() for each in game.wagers if each.id == wager}
    return printed.pop() if len(printed) == 1 else wager.replace("_", " ").capitalize()


def holder_text(to: str, position: int | None, hand: int = 1) -> str:
    """The holder of cards: a position and, if it has several, the hand."""
    who = f"position {position}" if to == "player" else _HOLDERS.get(to, to)
    return f"{who}, hand {hand}" if hand > 1 else who


def in_words(body: object, name: Callable[[str], str]) -> str:
    """The sentence for a fact. name: gives a wager's printed name."""
    tell = _WORDS.get(type(body))
    return tell(body, name) if tell else _plain(body)


def _plain(body: object) -> str:
    """A fact without its own sentence: its name and fields."""
    if not isinstance(body, Body):
        return str(body)
    title = type_name(type(body)).partition(".")[0].replace("_", " ").capitalize()
    told = msgspec.to_builtins(body)
    fields = ", ".join(f"{key.replace('_', ' ')} {_value(key, told[key])}" for key in told)
    return f"{title}: {fields}." if fields else f"{title}."


def _value(key: str, value: object) -> str:
    if isinstance(value, int) and key in ("amount", "total", "face"):
        return dollars(value)
    if isinstance(value, list):
        return " ".join(str(each) for each in value)
    return str(value)


def _of(body: Any) -> str:  # noqa: ANN401 - one of the facts with a wager and a hand
    return f" (hand {body.hand})" if body.hand > 1 else ""


def _throw(body: Any) -> str:  # noqa: ANN401 - one of the three payments
    return f" for throw {body.throw}" if body.throw else ""


def _placed(body: f.WagerPlaced, name: Callable[[str], str]) -> str:
    says = f"Position {body.position} puts {dollars(body.amount)} on {name(body.wager)}{_of(body)}"
    if body.coupon:
        says += f", with coupon {body.coupon.serial} of {dollars(body.coupon.face)}"
    return says + "."


def _dealt(body: f.CardsDealt, _: Callable[[str], str]) -> str:
    count = f"{len(body.cards)} card{'s' * (len(body.cards) != 1)}"
    who = holder_text(body.to, body.position, body.hand)
    if body.face == "down":
        return f"{count} face down to {who}."
    return f"{count} face up to {who}: {cards_text(body.cards)}."


def _turned(body: f.CardsTurned, _: Callable[[str], str]) -> str:
    who = holder_text(body.to, body.position, body.hand)
    where = ""
    if body.to == "community" or body.at is not None:
        where = f" ({', '.join(f'card {at + 1}' for at in indexes(body))})"
    return f"Turned up, {who}{where}: {cards_text(body.cards)}."


def _decided(body: f.DecisionMade, name: Callable[[str], str]) -> str:
    who = f"Position {body.position}" if body.position else "The dealer"
    says = f"{who} decides: {body.decision.replace('_', ' ')}{_of(body)}"
    if body.discards:
        says += f", discarding {cards_text(body.discards)}"
    if body.wager:
        says += f", {name(body.wager)}"
    if body.amount is not None:
        says += f", {dollars(body.amount)}{' all in' if body.all_in else ''}"
    return says + "."


def _thrown(body: f.DiceThrown, _: Callable[[str], str]) -> str:
    if body.offensive:
        green = " and ".join(str(die) for die in body.offensive)
        dice = f"green {green}, red {body.defensive}"
    else:
        dice = " and ".join(str(die) for die in body.dice or ())
    what = "Extra point thrown" if body.purpose == "extra_point" else "Dice thrown"
    by = f" by position {body.position}" if body.position else ""
    called = f"; called {body.called}" if body.called is not None else ""
    return f"{what}{by}: {dice}{called}."


def _paid(body: f.WagerPaid, name: Callable[[str], str]) -> str:
    payer = " from the cage" if body.paid_from == "cage" else ""
    won = f"Position {body.position} is paid {dollars(body.amount)}{payer}"
    return f"{won} on {name(body.wager)}{_of(body)}{_throw(body)}."


def _collected(body: f.WagerCollected, name: Callable[[str], str]) -> str:
    taken = f"{dollars(body.amount)} is collected from position {body.position}"
    return f"{taken}, {name(body.wager)}{_of(body)}{_throw(body)}."


def _returned(body: f.WagerReturned, name: Callable[[str], str]) -> str:
    back = f"{dollars(body.amount)} goes back to position {body.position}"
    return f"{back}, {name(body.wager)}{_of(body)}{_throw(body)}."


def _awarded(body: f.PotAwarded, _: Callable[[str], str]) -> str:
    pot = "the main pot" if body.pot == 0 else f"side pot {body.pot}"
    share = f" ({body.share})" if body.share else ""
    return f"Position {body.position} is awarded {dollars(body.amount)} of {pot}{share}."


def _set(body: f.HandSet, _: Callable[[str], str]) -> str:
    hands = "; ".join(f"{name} {cards_text(cards)}" for name, cards in body.hands.items())
    return f"Hand set, {holder_text(body.to, body.position)}: {hands}."


def _irregular(body: f.IrregularityCalled, _: Callable[[str], str]) -> str:
    says = f"Irregularity called: {body.kind.replace('_', ' ')}"
    if body.position or body.to:
        says += f", {holder_text(body.to or 'player', body.position)}"
    if body.cards:
        says += f", {cards_text(body.cards)}"
    return says + (f" (by {body.by})." if body.by else ".")


def _started(body: f.RoundStarted, _: Callable[[str], str]) -> str:
    game = games().get(body.game)
    title = game.title if game else body.game.replace("_", " ")
    how = f", dealt from {body.dealt_from.replace('_', ' ')}" if body.dealt_from else ""
    button = f", button at position {body.button}" if body.button is not None else ""
    return f"A round of {title} begins{how}{button}."


def _starting(body: f.StartingPositionDetermined, _: Callable[[str], str]) -> str:
    where = f"position {body.position}" if body.position else "the dealer"
    drawn = " ".join(str(die) for die in body.dice or ()) or body.number
    shown = f" showing {drawn}" if drawn is not None else ""
    return f"The deal begins with {where}, by {body.method.replace('_', ' ')}{shown}."


def _mark(body: f.MarkerPlaced, _: Callable[[str], str]) -> str:
    return f"Marker {body.marker.replace('_', ' ')} at {body.at}."


def _shown(body: f.HandShown | f.HandMucked, _: Callable[[str], str]) -> str:
    did = "shows" if isinstance(body, f.HandShown) else "mucks"
    return f"Position {body.position} {did} {cards_text(body.cards or ()) or 'the hand'}."


def _cancelled(body: f.NoRollCalled, _: Callable[[str], str]) -> str:
    which = f", cancelling {body.of.id} of {body.of.source}" if body.of else ""
    return f"No roll: {body.reason}{which}."


def _finding(finding: f.FindingRef) -> str:
    where = finding.round or ", ".join(filter(None, (finding.table, finding.gaming_day)))
    who = f", position {finding.position}" if finding.position is not None else ""
    return f"finding “{finding.code.replace('_', ' ')}” of {where or 'no table'}{who}"


def _logged(body: f.LogEntryAdded | f.LogEntryCorrected, _: Callable[[str], str]) -> str:
    until = f" to {body.to}" if body.to else ""
    which = f" instead of {body.of}" if isinstance(body, f.LogEntryCorrected) else ""
    return f"{body.by} logs {body.entry}{which}: {body.what} At {body.place}, {body.from_}{until}."


_DESK: dict[type, Callable[[Any, Callable[[str], str]], str]] = {
    f.FindingTaken: lambda b, _: f"{b.by} takes the {_finding(b.finding)}.",
    f.FindingHanded: lambda b, _: f"{b.by} gives {b.to} the {_finding(b.finding)}.",
    f.FindingClosed: lambda b, _: (
        f"{b.by} closes the {_finding(b.finding)} as {b.outcome.replace('_', ' ')}: {b.because}"
    ),
    f.FindingReopened: lambda b, _: f"{b.by} reopens the {_finding(b.finding)}: {b.because}",
    f.SampleDrawn: lambda b, _: (
        f"{b.by} draws sample {b.sample} of shift {b.shift}: {quantity(len(b.rounds), 'round')}."
    ),
    f.BookmarkAdded: lambda b, _: (
        f"{b.by} adds bookmark {b.bookmark} on {', '.join(b.cameras) or 'no camera'}: {b.text}"
    ),
    f.BookmarkRemoved: lambda b, _: f"{b.by} removes bookmark {b.bookmark}: {b.because}",
    f.FrameAnnotated: lambda b, _: (
        f"{b.by} draws {quantity(len(b.shapes), 'shape')} beside frame {b.frame} of {b.camera}."
    ),
    f.StillTaken: lambda b, _: (
        f"{b.by} saves frame {b.frame} of {b.camera} as a picture: {b.because}"
    ),
    f.LogEntryAdded: _logged,
    f.LogEntryCorrected: _logged,
    f.ShiftBegun: lambda b, _: f"{b.by} begins shift {b.shift}.",
    f.ShiftHandedOver: lambda b, _: f"{b.by} hands shift {b.shift} over to {b.to}.",
    f.ShiftCountersigned: lambda b, _: f"{b.by} countersigns shift {b.shift}.",
}
"""The review desk's facts."""

_WORDS: dict[type, Callable[[Any, Callable[[str], str]], str]] = {
    f.RoundStarted: _started,
    f.WagerPlaced: _placed,
    f.WagerWithdrawn: lambda b, name: (
        f"Position {b.position} takes back {dollars(b.amount)} from {name(b.wager)}."
    ),
    f.WagerMarked: lambda b, name: f"Position {b.position}'s {name(b.wager)} is {b.state}.",
    f.NoMoreBetsCalled: lambda _b, _: "“No more bets” is called.",
    f.DecisionsLockedCalled: lambda _b, _: "Decisions are called locked.",
    f.StartingPositionDetermined: _starting,
    f.CardsDealt: _dealt,
    f.CardsTurned: _turned,
    f.CardBurned: lambda b, _: f"A card is burned{': ' + card_text(b.card) if b.card else ''}.",
    f.DecisionMade: _decided,
    f.CardsExchanged: lambda b, _: (
        f"Exchanged, {holder_text(b.to, b.position)}: gives up {cards_text(b.discards)}."
    ),
    f.DiscardsReshuffled: lambda b, _: (
        f"The discards are reshuffled, without those of position {b.except_}."
    ),
    f.FeePaid: lambda b, _: (
        f"Position {b.position} pays a fee of {dollars(b.amount)}, "
        f"{b.fee.replace('_', ' ')}{' for ' + b.purpose.replace('_', ' ') if b.purpose else ''}."
    ),
    f.HandSet: _set,
    f.HoleCardChecked: lambda b, _: f"The hole card is checked for a blackjack: {b.result}.",
    f.DiceThrown: _thrown,
    f.NoRollCalled: _cancelled,
    f.DiceOffered: lambda b, _: (
        f"Dice offered to position {b.position}: {'taken' if b.accepted else 'passed on'}."
    ),
    f.MarkerPlaced: _mark,
    f.WagerPaid: _paid,
    f.WagerCollected: _collected,
    f.WagerReturned: _returned,
    f.PotAwarded: _awarded,
    f.RakeTaken: lambda b, _: f"Rake of {dollars(b.amount)} is taken.",
    f.StackCounted: lambda b, _: f"Position {b.position} has {dollars(b.amount)} in chips.",
    f.HandShown: _shown,
    f.HandMucked: _shown,
    f.IrregularityCalled: _irregular,
    f.RoundVoided: lambda b, _: f"The round is declared void: {b.reason}.",
    f.HandDiscarded: lambda b, _: (
        f"Cards of {holder_text(b.to, b.position, b.hand)} go to the discard rack."
    ),
    f.RoundCompleted: lambda _b, _: "The round is over.",
    **_DESK,
}
