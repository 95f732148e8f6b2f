"""Rounds by the sections of Poker: five-card Omaha, and draws of three rounds.

637a.19, .20 and .21 differ only in cards and hands. Each game says which hand wins what.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ledger.rules.engine.game import (
    Edition,
    Irregularity,
    Option,
    PlayerModel,
    Reading,
    Rotation,
    Wager,
)
from ledger.rules.hands.best_five import highest_by_suit
from ledger.rules.hands.cards import DECK
from ledger.rules.poker import pots
from ledger.rules.poker.betting import Cites, PokerBetting, first_round, next_round, opened
from ledger.rules.poker.cards import (
    Stub,
    board,
    burn,
    deal_in,
    deal_now,
    draw_round,
    held,
    showdown,
)
from ledger.rules.poker.pots import ODD_CHIP, PotShare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.rules.engine.game import NotModelled
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.lowball import Badugi, Low

EDITIONS = (Edition("637a", "proposed", None, None, "Pa.B. Doc. No. 13-230, filed 2013-02-08"),)
BASE = (
    "The documents print 637a.6(c)-(d), .19, .20 and .21 for Poker. Bet sizes, side pots, an "
    "uncalled bet, the rake and misdeals follow the standard game. A Rules Submission files "
    "amounts as `limits`: `ante`, `blind_1` to `blind_3`, `straddle`, `kill`, `small_bet`, "
    "`big_bet`. An amount that is not filed is accepted as recorded."
)
LIMITS = dict.fromkeys(
    ("ante", "blind_1", "blind_2", "blind_3", "straddle", "kill", "small_bet", "big_bet"), 1
)
FLOP, TURN, RIVER = 3, 1, 1
HOLE = {"19": 5, "20": 5, "21": 4}
PLAYERS = {"19": 8, "20": 7, "21": 9}
NO_BADUGI = "no_badugi"
FOUR = 4


def cites_of(section: str) -> Cites:
    """The paragraphs of each part of a round: all three sections use the same letters."""

    def at(*letters: str) -> tuple[str, ...]:
        return tuple(f"{section}({letter})" for letter in letters)

    players, blinds, straddle, dealt, first, second, third, fourth, shown = at(*"bdefghijk")
    return Cites(players, blinds, straddle, dealt, first, (second, third, fourth), shown)


def omaha(t: Table, shares: Sequence[PotShare]) -> None:
    """Play five cards each, five in the middle, betting after each deal (637a.19(d)-(k))."""
    ring, stub = _dealt(t, "19")
    for section, count in zip(ring.cites.rounds, (FLOP, TURN, RIVER), strict=True):
        if not ring.contested:
            break
        burn(ring, stub, section)
        deal_now(ring, "community", count, section, face="up")
        next_round(ring, section)
    _finish(ring, shares)


def draws(t: Table, shares: Sequence[PotShare], section: str) -> None:
    """Play three draws with betting before and after each (637a.20(d)-(k), 637a.21(d)-(k))."""
    ring, stub = _dealt(t, section)
    for paragraph in ring.cites.rounds:
        if not ring.contested:
            break
        burn(ring, stub, paragraph)
        draw_round(ring, stub, paragraph)
        next_round(ring, paragraph)
    _finish(ring, shares)


def _dealt(t: Table, section: str) -> tuple[PokerBetting, Stub]:
    """Play from the blinds to the end of the first betting round."""
    ring, stub = opened(t, cites_of(section)), Stub()
    deal_in(ring, stub, HOLE[section])
    first_round(ring)
    return ring, stub


def _finish(ring: PokerBetting, shares: Sequence[PotShare]) -> None:
    """Play the showdown, if more than one player is left, and award the pots."""
    contending = list(ring.live)
    if ring.contested:
        showdown(ring)
    pots.settle(ring, shares, contending)


def wagers(section: str) -> tuple[Wager, ...]:
    """The wagers before the deal; all others are decided in turn."""
    return (
        Wager("ante", "Ante", f"{section}(b)", optional=True),
        Wager("blind", "Blind Bet", f"{section}(d)"),
        Wager("straddle", "Straddle Bet", f"{section}(e)", optional=True),
        Wager("kill", "Kill", f"{section}(b)", optional=True),
    )


def button(section: str) -> Rotation:
    """The button begins at the dealer's right, or by a card, and moves on each round.

    637a.19(c)(1)(i)-(ii) and 637a.19(c)(2); 637a.20(c)(1)(i)-(ii) and 637a.20(c)(2);
    637a.21(c)(1)(i)-(ii) and 637a.21(c)(2).
    """
    begins = (f"{section}(c)(1)(i)", f"{section}(c)(1)(ii)")
    return Rotation("button", begins, f"{section}(c)(2)")


def options(section: str) -> tuple[Option, ...]:
    """The options that (b) and (d) leave to the Rules Submission."""
    return (
        Option(
            "betting",
            ("no_limit", "pot_limit", "fixed_limit"),
            f"{section}(g)",
            "What a bet or raise may come to; `fixed_limit` goes by the limits `small_bet` and "
            "`big_bet`, in a kill pot as many times as `kill` is of `small_bet`.",
        ),
        Option("blinds", (1, 2, 3), f"{section}(d)", "How many Blind Bets must be made."),
        Option(
            "raises",
            ("any", 3, 4, 5),
            f"{section}(h)",
            "How many raises there may be in a betting round.",
        ),
    )


def irregularities(section: str) -> dict[str, Irregularity]:
    """The irregularity of a deal unlike that of (f). The documents print none for Poker."""
    says = "not the deal of (f): void, all that was put in goes back, reshuffle"
    return {
        kind: Irregularity(f"{section}(f)", void=True, says=says)
        for kind in ("wrong_card_count", "cards_face_up", "card_missing")
    }


def decision_weights(cards: Sequence[str], options: Sequence[str]) -> dict[str, int]:
    """The weights of simulated players' decisions: mostly they stay."""
    del cards
    folds = 0 if "check" in options else 3
    return {"check": 6, "call": 8, "bet": 3, "raise": 2, "fold": folds, "draw": 1}


PLAYER_MODEL = PlayerModel(closes=False, decision_weights=decision_weights)


class PokerSection(TypedDict):
    """What all games of a section share, without which hand wins what."""

    editions: tuple[Edition, ...]
    play: Callable[[Any], None]
    positions: int
    deck: frozenset[str]
    wagers: tuple[Wager, ...]
    paytables: tuple[()]
    irregularities: Mapping[str, Irregularity]
    procedures: None
    not_modelled: Mapping[str, NotModelled]
    player_model: PlayerModel
    options: tuple[Option, ...]
    limits: Mapping[str, int]
    rotation: Rotation
    base: str
    pots: bool


def five_card_omaha(shares: Sequence[PotShare]) -> PokerSection:
    """A game of 637a.19, given the shares of its pots."""
    return _of_section("19", partial(omaha, shares=shares))


def draw_poker(section: Literal["20", "21"], shares: Sequence[PotShare]) -> PokerSection:
    """A game of 637a.20 or 637a.21, given the shares of its pots."""
    return _of_section(section, partial(draws, shares=shares, section=section))


def _of_section(section: str, play: Callable[[Any], None]) -> PokerSection:
    return PokerSection(
        editions=EDITIONS,
        play=play,
        positions=PLAYERS[section],
        deck=frozenset(DECK),
        wagers=wagers(section),
        paytables=(),
        irregularities=irregularities(section),
        procedures=None,
        not_modelled={f"{section}(a)": "on camera, not in the feed"},
        player_model=PLAYER_MODEL._replace(hole=HOLE[section]),
        options=options(section),
        limits=LIMITS,
        rotation=button(section),
        base=BASE,
        pots=True,
    )


def own_cards(hand: Callable[[Sequence[str]], Any]) -> Callable[[PokerBetting, int], Any]:
    """The hand of a player's own cards."""
    return lambda ring, seat: hand(held(ring, seat))


def with_board(
    hand: Callable[[Sequence[str], Sequence[str]], Any],
) -> Callable[[PokerBetting, int], Any]:
    """The hand of a player's own cards and the board."""
    return lambda ring, seat: hand(held(ring, seat), board(ring))


def highest_suit_first(ring: PokerBetting, seat: int) -> tuple[int, ...]:
    """The order of tied highs by their highest card by suit, the highest first."""
    order = highest_by_suit(held(ring, seat), board(ring))
    return tuple(-suit for _, suit in order)  # the ranks of tied hands are the same


def low_and_badugi(
    low: Callable[[Sequence[str]], Low | None],
    badugi: Callable[[Sequence[str]], Badugi | None],
    section: str,
    tied: str,
) -> tuple[PotShare, PotShare]:
    """Half of the pot to the low hand, half to the badugi: of four cards, or as it is read."""
    return (
        PotShare("low", own_cards(low), section, tied=tied, alone=section),
        PotShare(
            "badugi",
            own_cards(badugi),
            section,
            tied=tied,
            wins=lambda ring, best: best.size == FOUR or _splits(ring),
            unclear=lambda best: best.size < FOUR,
            reading=NO_BADUGI,
        ),
    )


def _splits(ring: PokerBetting) -> bool:
    """Whether a badugi of fewer than four cards wins its half."""
    return ring.t.rules.readings[NO_BADUGI] == "best_three_card"


def no_badugi(section: str) -> Reading:
    """The reading of the badugi half if nobody has a badugi."""
    return Reading(
        NO_BADUGI,
        ("best_three_card", "low_hand_scoops"),
        section,
        "Who wins the badugi half if nobody has four cards of different suits and ranks. The best "
        "badugi of fewer cards wins it, or the low hand wins the whole pot.",
    )


def odd_chip(section: str) -> Reading:
    """The reading of the odd chip if the section leaves it to the holder."""
    return Reading(
        ODD_CHIP,
        ("first_left_of_button",),
        section,
        "The Rules Submission decides who gets the odd chip of tied hands.",
    )


def odd_chip_by_suit(section: str, says: str) -> Reading:
    """The reading of the odd chip if the section gives it by suit."""
    return Reading(ODD_CHIP, ("by_suit", "first_left_of_button"), section, says)
