"""Three Card Poker, 58 Pa. Code Chapter 649a, of which 6(d)-(e) and 12(g) are printed.

The rest is the standard game. Its steps are cited as 6, of the hands. Its payments are cited as 12,
or 12(f) if 6(d)(8) names it. The ranks of three and of six cards are
`ledger.rules.hands.short_hands`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.game import Edition, Game, Irregularity, PlayerModel, Wager
from ledger.rules.engine.odds import PUSH, Paytable, paytable, row
from ledger.rules.engine.refused_wagers import gave_up, within_table
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    is_a,
)
from ledger.rules.hands.short_hands import (
    ThreeCardHand,
    is_super_royal,
    mini_royal_flush,
    queen_high,
    six_card_hand_if_known,
    three_card_hand_if_known,
)

if TYPE_CHECKING:
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.table import Table


class Showdown(NamedTuple):
    """A player's hand compared with the dealer's."""

    qualifies: bool  # the dealer has a queen or better
    by: int  # above zero if the player's hand is higher


UNQUALIFIED = "Dealer without a queen or better"
HIGHER = "Hand higher than the dealer's"
EQUAL = "Hand equal to the dealer's"

ANTE = paytable(
    "ante",
    "12",
    [
        row(UNQUALIFIED, lambda found: not found.qualifies, "1 to 1"),
        row(HIGHER, lambda found: found.by > 0, "1 to 1"),
        row(EQUAL, lambda found: found.by == 0, PUSH),
    ],
)
PLAY = paytable(
    "play",
    "12",
    [
        row(UNQUALIFIED, lambda found: not found.qualifies, PUSH),
        row(HIGHER, lambda found: found.by > 0, "1 to 1"),
        row(EQUAL, lambda found: found.by == 0, PUSH),
    ],
)
# Rows by their names in a Rules Submission. Only a submission chooses the first of each.
ANTE_BONUS = paytable(
    "ante_bonus",
    "12",
    [
        row("Mini-royal flush", mini_royal_flush, "5 to 1", key="mini_royal_flush", least=True),
        row("Straight flush", is_a(STRAIGHT_FLUSH), "5 to 1", key="straight_flush"),
        row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "4 to 1", key="three_of_a_kind"),
        row("Straight", is_a(STRAIGHT), "1 to 1", key="straight"),
    ],
)
PAIR_PLUS = paytable(
    "pair_plus",
    "12",
    [
        row("Mini-royal flush", mini_royal_flush, "40 to 1", key="mini_royal_flush", least=True),
        row("Straight flush", is_a(STRAIGHT_FLUSH), "40 to 1", key="straight_flush"),
        row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "30 to 1", key="three_of_a_kind"),
        row("Straight", is_a(STRAIGHT), "6 to 1", key="straight"),
        row("Flush", is_a(FLUSH), "4 to 1", key="flush"),
        row("Pair", is_a(PAIR), "1 to 1", key="pair"),
    ],
)
SIX_CARD_BONUS = paytable(
    "six_card_bonus",
    "12(f)",
    [
        row("Super Royal", is_super_royal, "1000 to 1", key="super_royal"),
        row("Royal flush", is_a(ROYAL_FLUSH), "1000 to 1", key="royal_flush"),
        row("Straight flush", is_a(STRAIGHT_FLUSH), "200 to 1", key="straight_flush"),
        row("Four-of-a-kind", is_a(FOUR_OF_A_KIND), "50 to 1", key="four_of_a_kind"),
        row("Full house", is_a(FULL_HOUSE), "25 to 1", key="full_house"),
        row("Flush", is_a(FLUSH), "20 to 1", key="flush"),
        row("Straight", is_a(STRAIGHT), "10 to 1", key="straight"),
        row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "5 to 1", key="three_of_a_kind"),
    ],
)
# The paragraph of a row that only a Rules Submission chooses, by the payout.
CHOSEN = {"ante_bonus": "12(g)(1)", "pair_plus": "12(g)(2)", "six_card_bonus": "6(d)(8)"}

STEP = "6"
LOST = "12"
CARDS = 3
ALL = range(CARDS)


def with_odds(rules: InForce, table: Paytable, hand: object) -> Paytable:
    """A table at the holder's odds, or without its first row, which only a submission chooses.

    If that row pays a hand, the paragraph that prints it is cited.
    """
    name, first = table.wagers[0], table.rows[0]
    if not isinstance(rules.paytables.get(name), Mapping):
        return table._replace(rows=table.rows[1:])
    held = rules.paytable(name, table)
    paid = held.pays(hand, rules.readings) if hand else None
    return held._replace(section=CHOSEN[name]) if paid and paid.key == first.key else held


def play(t: Table) -> None:
    """One round, from the wagers to the last hand in the discard rack."""
    opening = t.wagers(("ante", "pair_plus", "six_card_bonus"), STEP)
    t.awaits(("ante",), STEP)
    late = t.close(opening, t.announce("no_more_bets_called", STEP), STEP)
    seats = _dealt_in(t, late)
    for count in (CARDS,) if t.dealt_from == "automated_shoe" else range(1, CARDS + 1):
        for seat in seats:
            t.deal("player", count, STEP, seat)
        dealer = t.deal("dealer", count, STEP)
    t.counted({("dealer", None): CARDS, **{("player", seat): CARDS for seat in seats}}, STEP)
    t.stub(len(DECK), STEP)
    live = _ask(t, seats)
    if live:
        t.turn("dealer", ALL, STEP)
    for seat in reversed(seats):
        if seat in live:
            t.turn("player", ALL, STEP, seat)
            _settle(t, seat, dealer)
            t.discard(STEP, "player", seat)


def _dealt_in(t: Table, late: set[tuple[int, str]]) -> list[int]:
    """The seats dealt in: those with a wager. A late wager without cards goes back."""
    within_table(t, STEP)
    seats = []
    for seat in t.positions(dealt_to=True):
        wagers = [wager for held, wager, _ in t.stakes if held == seat]
        if t.lost_before_deal(seat) and not wagers:
            t.presume(seat, ("ante",), STEP)
        if all((seat, wager) in late for wager in wagers) and not t.dealt_to(seat):
            for wager in wagers:
                t.give_back(seat, wager, STEP)
        else:
            seats.append(seat)
    return seats


def _lies(t: Table, seat: int, wager: str) -> bool:
    """Whether a wager is on the layout."""
    return (seat, wager) in t.betting(wager)


def _ask(t: Table, seats: list[int]) -> list[int]:
    """Ask each player with an Ante for a Play Wager or a fold; the seats whose cards are needed.

    A Pair Plus is given up with the Ante. A Six Card Bonus stays, and the cards with it.
    """
    live, given_up = [], []
    for seat in seats:
        if not _lies(t, seat, "ante"):
            live.append(seat)
            continue
        ante, stays = t.stake(seat, "ante"), _lies(t, seat, "six_card_bonus")
        placed = None
        if not gave_up(t, seat, ("play",), STEP):
            placed = t.offer(seat, "play", [ante] if ante else (), STEP, turns_show=not stays)
        if placed is None:
            given_up.append(seat)
        if placed is not None or (stays and not t.left_table(seat)):
            live.append(seat)
    for seat in given_up:
        if seat in live:
            t.collect(seat, "ante", LOST)
            t.collect(seat, "pair_plus", LOST)
        else:
            t.forfeit(seat, LOST)
    return live


def _settle(t: Table, seat: int, dealers: list[str]) -> None:
    """Settle a player's wagers by his hand against the dealer's."""
    cards = t.cards["player", seat, 1]
    hand, dealer = three_card_hand_if_known(cards), three_card_hand_if_known(dealers)
    ante = t.stake(seat, "ante")
    found = _showdown(hand, dealer)
    t.settle(seat, "ante", ANTE, found, LOST)
    t.settle(seat, "play", PLAY, found, LOST)
    if ante:
        t.pay_beside(seat, "ante_bonus", ante, with_odds(t.rules, ANTE_BONUS, hand), hand)
    t.settle(seat, "pair_plus", with_odds(t.rules, PAIR_PLUS, hand), hand, LOST)
    six = six_card_hand_if_known([*cards, *dealers])
    t.settle(seat, "six_card_bonus", with_odds(t.rules, SIX_CARD_BONUS, six), six, "12(f)")


def _showdown(hand: ThreeCardHand | None, dealer: ThreeCardHand | None) -> Showdown | None:
    """The two hands compared; None if a card is not known."""
    if hand is None or dealer is None:
        return None
    return Showdown(queen_high(dealer), hand.value - dealer.value)


GAME = Game(
    id="three_card_poker",
    title="Three Card Poker",
    editions=(Edition("649a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
    play=play,
    positions=7,
    deck=frozenset(DECK),
    wagers=(
        Wager("ante", "Ante", "12"),
        Wager("play", "Play Wager", "12"),
        Wager("pair_plus", "Pair Plus", "12", optional=True),
        Wager("six_card_bonus", "Six Card Bonus", "7(d)(5)", optional=True),
    ),
    paytables=(ANTE, PLAY, ANTE_BONUS, PAIR_PLUS, SIX_CARD_BONUS),
    readings=(),
    irregularities={
        "wrong_card_count": Irregularity("6", void=True, says="void, wagers back, reshuffle")
    },
    procedures=None,
    not_modelled={},
    player_model=PlayerModel(
        always=("ante",), sometimes={"pair_plus": 400, "six_card_bonus": 300}, hole=CARDS
    ),
    base=(
        "Each player gets three cards for an Ante. A Play Wager equals the Ante; without it the "
        "hand is given up, with Ante and Pair Plus, and a Six Card Bonus stays. The dealer "
        "qualifies with a queen. If he does not, the Ante pays 1 to 1 and the Play Wager goes "
        "back. If he does, the higher hand wins both 1 to 1 and an equal one pushes. A hand "
        "dealt too many or too few cards voids the round. A Rules Submission gives the odds of "
        "the bonuses. If none is filed, those below hold, without mini-royal flush and Super "
        "Royal, which only a submission chooses."
    ),
)
