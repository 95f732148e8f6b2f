"""One coup of baccarat, as Chapters 627a, 629a and 631a share it, each by its own paragraphs.

The documents print House Money, closing, and the deal of Midibaccarat. The rest is the standard
game: points and third cards (`baccarat_points`), even money, 19 to 20, 8 to 1. A tie pushes.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from ledger.facts import CardsDealt, CardsTurned
from ledger.rules.engine.game import Edition, Option, PlayerModel, Wager
from ledger.rules.engine.odds import PUSH, paytable, row
from ledger.rules.engine.refused_wagers import back_if_returned, only_late
from ledger.rules.engine.steps import Step, said
from ledger.rules.hands.baccarat_points import (
    BANKER,
    PLAYER,
    TIE,
    banker_draws_if_known,
    pairs_if_known,
    player_draws_if_known,
    points_if_known,
    winner_if_known,
)
from ledger.rules.hands.cards import DECK
from ledger.rules.wagers import house_money
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from ledger.record.wire import Fact
    from ledger.rules.engine.game import Irregularity, Reading
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.ruling import Settlement
    from ledger.rules.engine.steps import Spot
    from ledger.rules.engine.table import Table

Draws = bool | None
"""Whether a third card is due; None if the points are not known."""

HOUSE_MONEY = "house_money"
HANDS = ("player_hand", "banker_hand")
INITIAL, WHOLE = 2, 3  # cards of a hand
DRAGON = 7  # points of a Banker's Hand of three cards that pushes at EZ Baccarat
VIGORISH = 20  # vigorish is one part in this many of the Banker's Hand's winnings

BASE = (
    "the deal, the third cards and the odds. The Player's Hand pays 1 to 1, the Banker's 19 to "
    "20, the Tie Wager 8 to 1. A tie pushes both hands. Without vigorish the Banker's Hand is "
    "paid 1 to 1, and pushes if it wins with three cards and 7 points, as in EZ Baccarat. The "
    "number of positions and what follows from irregularities are not printed either."
)
"""The parts of the three games that the documents do not print."""


class Printed(NamedTuple):
    """The paragraphs of one chapter for what the three chapters share."""

    wagers: str
    closed: str
    dealt: str
    face: Literal["up", "down"]  # how the cards are dealt
    turned: str  # paragraph on turning cards dealt face down
    asks_turns: bool  # whether the chapter prints that they are turned
    house_money: Paytable
    settled: str  # House Money, before third cards
    pressed: str
    thirds: tuple[str, str]  # the Player's and the Banker's third card
    marked: str  # vigorish
    paid: str  # the section of payout odds


class Coup(NamedTuple):
    """The result of a coup."""

    winner: str
    dragon: bool  # the Banker's Hand won with three cards and 7 points


def _won_by(hand: str) -> Callable[[Coup], bool]:
    return lambda coup: coup.winner == hand


def _paired(hands: int) -> Callable[[int], bool]:
    """Whether this many of the two hands begin with a pair."""
    return lambda pairs: pairs == hands


def paid_house_money(section: str) -> Paytable:
    """The House Money paytable, the same in the three chapters."""
    return paytable(
        HOUSE_MONEY,
        section,
        [
            row("Player and Banker Pair", _paired(2), "15 to 1"),
            row("Player or Banker Pair", _paired(1), "3 to 1"),
        ],
    )


class Base(NamedTuple):
    """The tables of the standard game, of one chapter."""

    player: Paytable
    banker: Paytable
    even: Paytable  # the Banker's Hand, if vigorish is marked
    free: Paytable  # the Banker's Hand, if none is collected
    tie: Paytable
    pushed: Paytable  # either hand, on a tie


@cache
def base(paid: str) -> Base:
    """The tables that the documents do not print, under the section of payout odds."""
    bankers = _won_by(BANKER)
    return Base(
        player=paytable(
            PLAYER, paid, [row("Player's Hand", _won_by(PLAYER), "1 to 1", key=PLAYER)]
        ),
        banker=paytable(BANKER, paid, [row("Banker's Hand", bankers, "19 to 20", key=BANKER)]),
        even=paytable(BANKER, paid, [row("Banker's Hand, vigorish marked", bankers, "1 to 1")]),
        free=paytable(
            BANKER,
            paid,
            [
                row("Banker's Hand of three cards and 7 points", lambda coup: coup.dragon, PUSH),
                row("Banker's Hand, no vigorish", bankers, "1 to 1"),
            ],
        ),
        tie=paytable(TIE, paid, [row("Tie", _won_by(TIE), "8 to 1", key=TIE)]),
        pushed=paytable((PLAYER, BANKER), paid, [row("Tie", _won_by(TIE), PUSH)]),
    )


def _options(printed: Printed) -> tuple[Option, ...]:
    """The options that the three chapters leave to the holder."""
    return (
        Option(
            "vigorish",
            ("on_payout", "marked", "none"),
            printed.marked,
            "`on_payout`: the Banker's Hand is paid 19 to 20; `marked`: 1 to 1, and one part in 20 "
            "is paid afterwards; `none`: 1 to 1, and EZ Baccarat's push.",
        ),
        house_money.option(printed.pressed),
        Option("decks", (8, 7, 6, 5, 4, 3, 2, 1), "601a.2", "Decks in the dealing shoe."),
    )


PLAYER_MODEL = PlayerModel(
    sometimes={PLAYER: 450, BANKER: 500, TIE: 120, HOUSE_MONEY: 350},
    otherwise=PLAYER,
    coupon=PLAYER,
    chips={BANKER: 2000, HOUSE_MONEY: 2000},
)
"""The unit of Banker's wagers and presses onto them, $20: 19 to 20 of it is whole dollars."""


class BaccaratChapter(TypedDict):
    """What the three games share, by the paragraphs of their chapter."""

    editions: tuple[Edition, ...]
    play: Callable[[Any], None]
    deck: frozenset[str]
    wagers: tuple[Wager, ...]
    paytables: tuple[Paytable, ...]
    readings: tuple[Reading, ...]
    irregularities: Mapping[str, Irregularity]
    procedures: None
    player_model: PlayerModel
    options: tuple[Option, ...]
    fees: tuple[str, ...]
    decks: int
    base: str


def baccarat(chapter: str, printed: Printed) -> BaccaratChapter:
    """The game of a chapter, given its paragraphs."""
    of = printed.wagers
    return BaccaratChapter(
        editions=(Edition(chapter, "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
        play=partial(play, printed=printed),
        deck=frozenset(DECK),
        wagers=(
            Wager(PLAYER, "Player's Hand", of),
            Wager(BANKER, "Banker's Hand", of),
            Wager(TIE, "Tie Wager", of),
            Wager(HOUSE_MONEY, "House Money Wager", f"{of}(7)", optional=True),
        ),
        paytables=(*base(printed.paid), printed.house_money),
        readings=(house_money.reading(printed.pressed),),
        irregularities={},
        procedures=None,
        player_model=PLAYER_MODEL,
        options=_options(printed),
        fees=("vigorish",),
        decks=8,
        base=BASE,
    )


def play(t: Table, printed: Printed) -> None:
    """One coup, from the wagers to the last payment."""
    opening = t.wagers((PLAYER, BANKER, TIE, HOUSE_MONEY), printed.wagers)
    t.awaits((PLAYER,), printed.wagers)
    closed = t.announce("no_more_bets_called", printed.closed)
    t.close(opening, closed, printed.closed)
    back_if_returned(t, only_late(t, opening, closed), printed.closed)
    for cards in (1, INITIAL):
        for hand in HANDS:
            t.deal(hand, cards, printed.dealt, face=printed.face)
    for hand in HANDS:
        _two_known(t, hand)
        _turn(t, printed, hand, (0, 1), printed.turned)
    beyond = _house_money(t, printed)
    for hand, draws, section in zip(
        HANDS, (player_draws_if_known, banker_draws_if_known), printed.thirds, strict=True
    ):
        _third(t, printed, hand, draws(*_hands(t)), section)
    _settle(t, printed, beyond)


def _held(t: Table, hand: str) -> list[str]:
    return t.cards.setdefault((hand, None, 1), [])


def _hands(t: Table) -> tuple[list[str], list[str]]:
    return _held(t, HANDS[0]), _held(t, HANDS[1])


def _two_known(t: Table, hand: str) -> None:
    """Two cards in their places. If a lost card may be of any hand, no place is known.

    What was lost before the first card or after the last one moves none of them.
    """
    held = _held(t, hand)
    if t.source.has_lost("cards_dealt", among=True):
        t.forget_order(hand)
        t.exposed.pop((hand, None, 1), None)
        held.clear()
    held.extend([UNKNOWN_CARD] * (INITIAL - len(held)))


def _turn(t: Table, printed: Printed, hand: str, at: tuple[int, ...], section: str) -> None:
    """Turn cards that lie face down: a step of play if the chapter prints it."""
    turns = (said(fact, CardsTurned) for fact in t.source.untaken("cards_turned"))
    if printed.asks_turns or any(body.to == hand for body in turns):
        t.turn(hand, at, section)
    elif not t.exposed.get((hand, None, 1), set()).issuperset(at):
        t.expect(Step("cards_turned", section, hand, at=at))


def _house_money(t: Table, printed: Printed) -> set[Spot]:
    """Settle House Money counterclockwise, before third cards. Its winnings may be pressed.

    Returns the wagers pressed beyond the payout, which depend on the reading.
    """
    pairs, since = pairs_if_known(*_hands(t)), len(t.taken)
    beyond: set[Spot] = set()
    for seat, wager in reversed(list(t.betting(HOUSE_MONEY))):
        told = len(t.settlements)
        t.settle(seat, wager, printed.house_money, pairs, printed.settled)
        decided = t.settlements[told] if len(t.settlements) > told else None
        onto = house_money.press(t, seat, decided, (PLAYER, BANKER), printed.pressed)
        beyond |= {(seat, wager, 1) for wager in onto}
    t.any_order(since)
    return beyond


def _third(t: Table, printed: Printed, hand: str, draws: Draws, section: str) -> None:
    """Deal a third card if the points require one. If they are not known, deal as recorded."""
    held = _held(t, hand)
    if draws or (draws is None and _dealt(t, hand)):
        t.deal(hand, WHOLE, section, face=printed.face)
        _turn(t, printed, hand, (INITIAL,), section)
    if draws is None:
        return
    due = WHOLE if draws else INITIAL
    held.extend([UNKNOWN_CARD] * (due - len(held)))
    spare = _dealt(t, hand)
    for fact in spare:
        t.source.take(Step("cards_dealt", section, hand))
        t.hold(held, fact)
    if len(held) > due:
        t.find(
            "misdeal",
            f"The {hand.replace('_', ' ')} was dealt {len(held)} cards and is due {due}; no other "
            f"is used ({t.rules.section(section)}).",
            section,
            facts=spare,
            expected=str(due),
            recorded=str(len(held)),
        )
        del held[due:]


def _dealt(t: Table, hand: str) -> list[Fact]:
    """The cards dealt to a hand that no step has taken."""
    return [fact for fact in t.source.untaken("cards_dealt") if said(fact, CardsDealt).to == hand]


def _coup(player: list[str], banker: list[str]) -> Coup | None:
    """The result, or None if a card is not known."""
    winner = winner_if_known(player, banker)
    dragon = len(banker) == WHOLE and points_if_known(banker) == DRAGON
    return Coup(winner, dragon and winner == BANKER) if winner else None


def _settle(t: Table, printed: Printed, beyond: set[Spot]) -> None:
    """Settle the three wagers of every player, counterclockwise, and any marked vigorish."""
    coup, tables = _coup(*_hands(t)), base(printed.paid)
    vigorish = str(t.rules.options["vigorish"])
    for seat in reversed(t.positions()):
        for wager, table in (
            (PLAYER, t.rules.paytable(PLAYER, tables.player)),
            (BANKER, _bankers(t, tables, vigorish)),
            (TIE, t.rules.paytable(TIE, tables.tie)),
        ):
            told = len(t.settlements)
            tied = coup is not None and coup.winner == TIE and wager != TIE
            readings = (house_money.STAKE_TOO,) if (seat, wager, 1) in beyond else ()
            t.settle(
                seat,
                wager,
                tables.pushed if tied else table,
                coup,
                printed.paid,
                readings=readings,
            )
            if wager == BANKER and vigorish == "marked" and len(t.settlements) > told:
                _mark(t, t.settlements[told], printed.marked)


def _bankers(t: Table, tables: Base, vigorish: str) -> Paytable:
    """The Banker's Hand's paytable, by the way vigorish is taken."""
    if vigorish == "on_payout":
        return t.rules.paytable(BANKER, tables.banker)
    return tables.even if vigorish == "marked" else tables.free


def _mark(t: Table, won: Settlement, section: str) -> None:
    """Mark vigorish on a win paid whole: what 19 to 20 would have kept, breakage included."""
    if won.outcome == "win":
        kept = won.net - t.rules.broken(won.net - Fraction(won.net, VIGORISH))
        t.fee(won.position, "vigorish", kept, section, None)
