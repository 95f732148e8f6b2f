"""Converts hands in the Poker Hand History notation (PHH, a TOML file) to facts of a round.

The notation only has actions in order. Times, burns, the reshuffle of a short stub, a returned bet
and pot awards are derived here. Each such fact has the field `derived`. No rule is applied: the
ruling decides what the hand should have paid.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import Usage
from ledger.facts import (
    CardBurned,
    CardsDealt,
    DecisionMade,
    DiscardsReshuffled,
    HandMucked,
    HandShown,
    PotAwarded,
    RoundCompleted,
    RoundStarted,
    StackCounted,
    WagerPlaced,
    WagerReturned,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.facts import Body

GAMES = {
    "F2L3D": "triple_draw_2_7",
    "FB": "badugi",
    "PO": "omaha_5_high",
    "FO/8": "omaha_5_hi_lo",
}
"""The variants of the notation that are games here; Omaha only with five cards."""

OMAHA = ("PO", "FO/8")
HOLE = {"F2L3D": 5, "FB": 4, "PO": 5, "FO/8": 5}
CENTS = 100  # of a chip of 1
DECK = 52
TIME, FACT = ("time",), ("fact", "time")
"""What is derived in a fact: only its time, or all of it."""
_BLINDS = 2  # posted before any straddle


class HandFact(NamedTuple):
    """A fact of a hand, and what is derived in it."""

    body: Body
    derived: tuple[str, ...]


class Hand(NamedTuple):
    """One hand as in its file."""

    name: str  # the file, and the hand's name if a file has several
    variant: str
    fields: Mapping[str, Any]
    digest: str  # of the file and the hand's name, so that the same hand gives the same facts

    @property
    def game(self) -> str:
        """The game of the hand."""
        return GAMES[self.variant]


def hands(octets: bytes, name: str) -> list[Hand]:
    """The hands of a file, one or many. Raises Usage for another kind of file or game."""
    try:
        read = tomllib.loads(octets.decode(), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unreadable(name, f"it is not TOML: {error}") from error
    several = read if "variant" not in read else {"": read}
    found = []
    for key, fields in several.items():
        where = f"{name}, hand {key}" if key else name
        if not isinstance(fields, dict) or "variant" not in fields:
            raise _unreadable(where, "it has no `variant`")
        digest = hashlib.sha256(octets + b"\0" + key.encode()).hexdigest()
        found.append(_checked(Hand(where, str(fields["variant"]), fields, digest)))
    return found


def _checked(hand: Hand) -> Hand:
    """The hand, if its game is known and all fields are present. Raises Usage."""
    if hand.variant not in GAMES:
        raise Usage(
            f"The variant {hand.variant} is not a game here",
            where=hand.name,
            hint=f"Import {', '.join(GAMES)}; Omaha with five cards.",
        )
    for needed in ("antes", "blinds_or_straddles", "starting_stacks", "actions"):
        if not isinstance(hand.fields.get(needed), list):
            raise _unreadable(hand.name, f"`{needed}` is not a list")
    players = len(hand.fields["starting_stacks"])
    if not all(len(hand.fields[each]) == players for each in ("antes", "blinds_or_straddles")):
        raise _unreadable(hand.name, "antes, blinds and stacks have different numbers of players")
    return hand


def _unreadable(where: str, why: str) -> Usage:
    return Usage(
        f"The hand history cannot be read: {why}",
        where=where,
        hint="Give files in Poker Hand History notation (.phh).",
    )


def unit_of(hand: Hand) -> int:
    """The smallest chip in cents: a dollar, or a cent if any amount has a fraction."""
    amounts = [*hand.fields["antes"], *hand.fields["blinds_or_straddles"]]
    amounts += hand.fields["starting_stacks"]
    return CENTS if all(isinstance(each, int) for each in amounts) else 1


def facts_of(hand: Hand) -> list[HandFact]:
    """The facts of a hand in the order they must have happened. Raises Usage."""
    table = _Table(hand)
    table.begin()
    for action in table.in_turn(_words(hand)):
        table.act(action)
    table.end()
    return table.told


def _words(hand: Hand) -> Iterator[list[str]]:
    """The actions as words, without comments."""
    for action in hand.fields["actions"]:
        words = str(action).partition("#")[0].split()
        if words:
            yield words


@dataclass
class _Table:
    """The chips and cards of a hand while its actions are applied."""

    hand: Hand
    told: list[HandFact] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)
    bets: list[int] = field(default_factory=list)  # in this betting round
    decided: list[int] = field(default_factory=list)  # of those, without posted chips
    put_in: Counter[int] = field(default_factory=Counter)
    folded: set[int] = field(default_factory=set)
    held: Counter[int] = field(default_factory=Counter)  # cards
    discards: Counter[int] = field(default_factory=Counter)
    stub: int = DECK
    drew: set[int] = field(default_factory=set)  # since the last bet

    @property
    def players(self) -> int:
        """The number of players."""
        return len(self.hand.fields["starting_stacks"])

    def seat(self, player: int) -> int:
        """The position of a player; players count from 0, left of the button."""
        seats = self.hand.fields.get("seats")
        return int(seats[player]) if seats else player + 1

    def tell(self, body: Body, derived: tuple[str, ...] = TIME) -> None:
        """Add a fact."""
        self.told.append(HandFact(body, derived))

    def cents(self, amount: object) -> int:
        """A number of the notation in cents. Raises Usage unless it is whole cents."""
        try:
            cents = Decimal(str(amount)) * CENTS
        except ArithmeticError as error:
            raise _unreadable(self.hand.name, f"{amount} is not an amount") from error
        if cents != int(cents) or cents < 0:
            raise _unreadable(self.hand.name, f"{amount} is not an amount in whole cents")
        return int(cents)

    def begin(self) -> None:
        """The button, the stacks, and the posted chips."""
        fields = self.hand.fields
        self.tell(
            RoundStarted(game=self.hand.game, dealt_from="hand", button=self.seat(self.players - 1))
        )
        self.behind = [self.cents(stack) for stack in fields["starting_stacks"]]
        for player, stack in enumerate(self.behind):
            self.tell(StackCounted(position=self.seat(player), amount=stack))
        self.bets, self.decided = [0] * self.players, [0] * self.players
        antes, blinds = fields["antes"], fields["blinds_or_straddles"]
        if self.players == _BLINDS:  # the notation gives the button's blind first
            antes, blinds = antes[::-1], blinds[::-1]
        for player, ante in enumerate(antes):
            self.post(player, "ante", self.cents(ante))
        for player, blind in enumerate(blinds):
            wager = "blind" if player < _BLINDS else "straddle"
            self.bets[player] = self.post(player, wager, self.cents(blind))

    def post(self, player: int, wager: str, cents: int) -> int:
        """Post chips before the deal, as far as the stack allows."""
        cents = min(cents, self.behind[player])
        if cents:
            self.put(player, cents)
            self.tell(WagerPlaced(position=self.seat(player), wager=wager, amount=cents))
        return cents

    def put(self, player: int, cents: int) -> None:
        """Chips leave a stack."""
        self.behind[player] -= cents
        self.put_in[player] += cents

    def in_turn(self, actions: Iterator[list[str]]) -> Iterator[list[str]]:
        """Actions with each player's new cards right after the player's discards.

        In the notation all players may discard before new cards are dealt.
        """
        draws: list[list[str]] = []
        for words in actions:
            draw = words[1:2] == ["sd"]
            again = draw and any(
                words[:2] == other[:2] for other in draws
            )  # for a player who is all in
            if again or not (draw or (draws and words[:2] == ["d", "dh"])):
                yield from _one_by_one(draws)
                draws = []
            if draw or draws:
                draws.append(words)
            else:
                yield words
        yield from _one_by_one(draws)

    def act(self, words: Sequence[str]) -> None:
        """One action."""
        match words:
            case ["d", "dh", player, cards]:
                self.deal(self.player(player), cards)
            case ["d", "db", cards]:
                self.next_round()
                self.burn()
                self.stub -= len(_cards(cards))
                self.tell(CardsDealt(to="community", cards=_cards(cards), face="up"))
            case [player, "sd", *cards]:
                self.draw(self.player(player), "".join(cards))
            case [player, "f"]:
                self.decide(self.player(player), "fold", 0)
                self.folded.add(self.player(player))
            case [player, "cc"]:
                self.call(self.player(player))
            case [player, "cbr", amount]:
                self.bet(self.player(player), self.cents(amount))
            case [player, "sm", *cards]:
                self.show(self.player(player), "".join(cards))
            case _:
                what = " ".join(words)
                raise _unreadable(
                    self.hand.name, f"`{what}` is not an action of {self.hand.variant}"
                )

    def player(self, label: str) -> int:
        """The player with a label, `p1`."""
        number = label.removeprefix("p")
        if not number.isdigit() or not 1 <= int(number) <= self.players:
            raise _unreadable(self.hand.name, f"{label} is not one of {self.players} players")
        return int(number) - 1

    def deal(self, player: int, cards: str) -> None:
        """Cards face down: the first hand, or new cards of a draw."""
        dealt = _cards(cards)
        self.stub -= len(dealt)
        self.held[player] += len(dealt)
        if self.held[player] > HOLE[self.hand.variant] or (
            self.hand.variant in OMAHA and len(dealt) < HOLE[self.hand.variant]
        ):
            why = f"{self.held[player]} cards are not a hand of {self.hand.game}"
            raise _unreadable(self.hand.name, why)
        self.tell(CardsDealt(to="player", position=self.seat(player), cards=dealt, face="down"))

    def draw(self, player: int, cards: str) -> None:
        """A player's discards; before the first of a draw the top card is burned."""
        if not self.drew or player in self.drew:
            self.next_round()
            self.burn()
            self.drew.clear()
        self.drew.add(player)
        given = _cards(cards)
        body = DecisionMade(position=self.seat(player), decision="draw", discards=given)
        self.tell(body)
        if len(given) > self.stub:
            self.tell(DiscardsReshuffled(except_=self.seat(player)), FACT)
            others = [other for other in self.discards if other != player]
            self.stub += sum(self.discards.pop(other) for other in others)
            self.stub += sum(self.held.pop(other, 0) for other in self.folded)
        self.discards[player] += len(given)
        self.held[player] -= len(given)

    def burn(self) -> None:
        """Burn a card: every later betting round begins so, but the notation has no burns."""
        if self.stub > 0:
            self.stub -= 1
            self.tell(CardBurned(), FACT)

    def call(self, player: int) -> None:
        """A check, or a call for as much as the player has."""
        self.drew.clear()
        due = max(self.bets) - self.bets[player]
        self.decide(player, "call" if due else "check", min(due, self.behind[player]))

    def bet(self, player: int, to: int) -> None:
        """A bet or a raise to an amount in this round."""
        self.drew.clear()
        self.decide(player, "raise" if max(self.bets) else "bet", to - self.bets[player])

    def decide(self, player: int, decision: str, cents: int) -> None:
        """A decision and its chips."""
        if not 0 <= cents <= self.behind[player]:
            why = f"p{player + 1} puts in more than the {self.behind[player] // CENTS} left"
            raise _unreadable(self.hand.name, why)
        self.put(player, cents)
        self.bets[player] += cents
        self.decided[player] += cents
        body = DecisionMade(
            position=self.seat(player),
            decision=decision,
            amount=cents or None,
            all_in=True if cents and not self.behind[player] else None,
        )
        self.tell(body)

    def next_round(self) -> None:
        """End a betting round: the uncalled part of a bet is returned."""
        ranked = sorted(range(self.players), key=lambda player: self.bets[player])
        second, most = ranked[-2:]
        over = min(self.bets[most] - self.bets[second], self.decided[most])
        if over > 0 and most not in self.folded:
            self.put(most, -over)
            self.tell(WagerReturned(position=self.seat(most), wager="bet", amount=over), FACT)
        self.bets, self.decided = [0] * self.players, [0] * self.players

    def show(self, player: int, cards: str) -> None:
        """A hand is shown (`-`: all of it, as it was dealt) or mucked."""
        self.next_round()
        position = self.seat(player)
        shown = None if cards == "-" else _cards(cards)
        self.tell(
            HandShown(position=position, cards=shown) if cards else HandMucked(position=position)
        )

    def end(self) -> None:
        """Award pots, if the file has the stacks at the end."""
        self.next_round()
        finishing = self.hand.fields.get("finishing_stacks")
        if not finishing:
            return
        for player, stack in enumerate(finishing):
            won = self.cents(stack) - self.behind[player]
            if won > 0:
                self.tell(PotAwarded(pot=0, position=self.seat(player), amount=won), FACT)
        self.tell(RoundCompleted(), FACT)


def _cards(text: str) -> Any:  # noqa: ANN401 - cards as in facts
    """`7h6c??` as cards."""
    return tuple(text[at : at + 2] for at in range(0, len(text), 2))


def _one_by_one(draws: Sequence[list[str]]) -> Iterator[list[str]]:
    """The discards and new cards of a draw, player by player."""
    for words in draws:
        if words[1] == "sd":
            yield words
            yield from (dealt for dealt in draws if dealt[:3] == ["d", "dh", words[0]])
