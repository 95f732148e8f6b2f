"""Blackjack, 58 Pa. Code Chapter 633a: Straight Jack and House Money in the standard game.

The chapter is printed in part: two optional wagers (6(e)(11)-(12)), when they are settled (.7) and
what they pay (.13). The game itself is `ledger.rules.blackjack.standard`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ledger.rules.blackjack.dealer import CHECKED, Peek, up_value
from ledger.rules.blackjack.hands import BlackjackHand, Style, decision_weights, doubtful
from ledger.rules.blackjack.standard import (
    BASE,
    Standard,
    deal,
    dealer_blackjack,
    even_money,
    lose_to_blackjack,
    options,
    play_out,
    styled,
    tables,
)
from ledger.rules.engine.game import (
    Edition,
    Game,
    InPart,
    PlayerModel,
    PrintedMeter,
    Reading,
    Wager,
)
from ledger.rules.engine.odds import as_json, paytable, row
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.poker import PAIR, is_a
from ledger.rules.hands.short_hands import (
    ACE_KING_OFF_SUIT,
    ACE_KING_SUITED,
    TWO_CARD_STRAIGHT,
    TWO_CARD_STRAIGHT_FLUSH,
    two_card_hand_if_known,
)
from ledger.rules.hands.twenty_one import straight_jack_if_known
from ledger.rules.wagers import house_money, progressive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.twenty_one import StraightJack


def _straight_of(length: int, *aces: str) -> Callable[[StraightJack], bool]:
    return lambda run: run.length == length and (not aces or run.ace in aces)


STRAIGHT_JACK = paytable(
    "straight_jack",
    "13(m)(1)",
    [
        row(
            "Six-card straight with an ace of spades",
            _straight_of(6, "s"),
            "100% of meter and 200 to 1",
        ),
        row(
            "Six-card straight with an ace of diamonds, clubs or hearts",
            _straight_of(6, "d", "c", "h"),
            "10% of meter and 200 to 1",
        ),
        row("Five-card straight", _straight_of(5), "200 to 1"),
        row("Four-card straight", _straight_of(4), "50 to 1"),
        row("Three-card straight", _straight_of(3), "15 to 1"),
        row("Two-card straight", _straight_of(2), "3 to 1"),
    ],
)


def _house_money(section: str, straight_flush: str) -> Paytable:
    ace_king = ("ace_king_is_straight", True)
    return paytable(
        "house_money",
        section,
        [
            row("Ace-king suited", is_a(ACE_KING_SUITED), "9 to 1"),
            row("Two-card straight flush", is_a(TWO_CARD_STRAIGHT_FLUSH), straight_flush),
            row("Pair", is_a(PAIR), "3 to 1"),
            row("Two-card straight", is_a(TWO_CARD_STRAIGHT), "1 to 1"),
            row("Two-card straight", is_a(ACE_KING_OFF_SUIT), "1 to 1", ace_king),
        ],
    )


HOUSE_MONEY = (_house_money("13(n)(1)", "5 to 1"), _house_money("13(n)(2)", "4 to 1"))
METER = PrintedMeter(
    "straight_jack",
    section="13(m)(2)",
    least=500_000,
    cage_from=Fraction(1, 10),
    paid="7(o)(3)(ii)(C)",
)
HANDS, EVEN, INSURANCE = tables("blackjack", "13(a)", "8")
GAME_OF_21 = Standard(
    wager="blackjack",
    beside=("straight_jack", "house_money"),
    placed="6(e)",
    boxes="6(f)",
    play="7",
    results="7(p)",
    split="11",
    double="10",
    pays=HANDS,
    even=EVEN,
    peek=Peek(INSURANCE, base="blackjack", offered="8", most="8", lost="8", read="7(h)"),
)
STYLE = Style(
    base=("blackjack",),
    decided="7",
    dealt="7",
    double="10",
    split="11",
    aces="11",
    double_cards=2,
    dead=True,
)


def play(t: Table) -> None:
    """One round, from the Blackjack Wagers to the last Straight Jack Progressive Wager."""
    seats = deal(t, GAME_OF_21)
    winners = _settle_first(t, seats)
    beyond: set[int] = set()
    if up_value(t) not in CHECKED:
        beyond |= _pay_house_money(t, winners, pressed=True)
    even = even_money(t, seats, GAME_OF_21)
    found = dealer_blackjack(t, seats, GAME_OF_21)
    if up_value(t) in CHECKED:
        beyond |= _pay_house_money(t, winners, pressed=not found)
    left = [seat for seat in seats if seat not in even]
    if found:
        lose_to_blackjack(t, left, GAME_OF_21)
        _straight_jack(t, seats, {})
        return
    hands = play_out(t, left, GAME_OF_21, styled(t, STYLE))
    _name_reading(t, beyond)
    _straight_jack(t, seats, hands)


def _settle_first(t: Table, seats: Sequence[int]) -> list[int]:
    """Collect optional wagers that lost (7(g)(9)-(10)); the seats whose House Money did not."""
    winners = []
    for seat in reversed(seats):
        cards = _first_two(t, seat)
        run = straight_jack_if_known(cards)
        if run is not None and not run.length:
            t.collect(seat, "straight_jack", "7(g)(9)")
        if _pays(t, cards) is False:
            t.collect(seat, "house_money", "7(g)(10)", readings=_depends(cards))
        else:
            winners.append(seat)
    return winners


def _first_two(t: Table, seat: int) -> list[str]:
    """A player's first two cards, or none if a card of the round was lost."""
    return [] if doubtful(t) else t.cards["player", seat, 1][:2]


def _pays(t: Table, cards: Sequence[str]) -> bool | None:
    """Whether two cards win House Money; None if one is not known."""
    hand = two_card_hand_if_known(cards)
    return None if hand is None else HOUSE_MONEY[0].pays(hand, t.rules.readings) is not None


def _depends(cards: Sequence[str]) -> tuple[str, ...]:
    """The reading that two cards depend on. Only Straight Jack calls ace-king a straight."""
    hand = two_card_hand_if_known(cards)
    return ("ace_king_is_straight",) if hand and hand.category == ACE_KING_OFF_SUIT else ()


def _pay_house_money(t: Table, winners: Sequence[int], *, pressed: bool) -> set[int]:
    """Pay winning House Money; it may be added to the Blackjack Wager (7(g)(10)(ii)(A)-(C)).

    Under an ace or a 10 the hole card is read first. With a Blackjack, 7(g)(10)(i)(A) pays and
    nothing is added. Without one, 7(g)(10)(i)(B) goes on. Returns the seats that pressed more than
    they won.
    """
    beyond: set[int] = set()
    table = HOUSE_MONEY[0 if t.rules.decks == 1 else 1]
    for seat in winners:
        placed = (seat, "house_money", 1) in t.stakes
        before = len(t.settlements)
        hand = two_card_hand_if_known(_first_two(t, seat))
        t.settle(seat, "house_money", table, hand, "7(g)(10)")
        if placed and pressed:
            paid = t.settlements[before] if len(t.settlements) > before else None
            if house_money.press(t, seat, paid, ("blackjack",), "7(g)(10)(ii)(A)"):
                beyond.add(seat)
    return beyond


def _name_reading(t: Table, seats: set[int]) -> None:
    """Name the reading in settlements of Blackjack Wagers with more pressed than was won."""
    value = as_json(t.rules.readings[house_money.STAKE_TOO])
    for index, each in enumerate(t.settlements):
        if each.position in seats and each.wager == "blackjack":
            named = replace(each, reading=house_money.STAKE_TOO, reading_value=value)
            t.settlements[index] = named


def _straight_jack(
    t: Table, seats: Sequence[int], hands: Mapping[int, list[BlackjackHand]]
) -> None:
    """Settle winning Straight Jack Progressive Wagers after all cards (7(o)(3)(i)(A)-(D))."""
    repeated = str(t.rules.readings["repeated_rank"])
    wins = []
    for seat in [seat for seat in reversed(seats) if (seat, "straight_jack", 1) in t.stakes]:
        cards = t.cards["player", seat, 1]
        if len(hands.get(seat, ())) > 1:
            # Later cards go to two hands, so the first two cards are the straight.
            cards = [cards[0], t.cards["player", seat, 2][0]]
        run = None if doubtful(t) else straight_jack_if_known(cards, repeated)
        found = STRAIGHT_JACK.pays(run, t.rules.readings) if run else None
        stake = t.stake(seat, "straight_jack")
        if stake and found:
            wins.append(progressive.ProgressiveWin(seat, stake, found))
        else:
            t.settle(seat, "straight_jack", STRAIGHT_JACK, None, "7(g)(9)")
    progressive.settle(t, wins, STRAIGHT_JACK, METER)


GAME = Game(
    id="blackjack",
    title="Blackjack",
    editions=(Edition("633a", "proposed", None, None, "Pa.B. Doc. No. 13-230, filed 2013-02-08"),),
    play=play,
    positions=7,
    deck=frozenset(DECK),
    decks=6,
    wagers=(
        Wager("blackjack", "Blackjack Wager", "6(e)"),
        Wager("insurance", "Insurance Wager", "8"),
        Wager("double_down", "Double Down Wager", "10"),
        Wager("split", "wager on a split hand", "11"),
        Wager("straight_jack", "Straight Jack Progressive Wager", "6(e)(11)", optional=True),
        Wager("house_money", "House Money Wager", "6(e)(12)", optional=True),
    ),
    paytables=(HANDS, EVEN, INSURANCE, STRAIGHT_JACK, *HOUSE_MONEY),
    readings=(
        house_money.reading("7(g)(10)(ii)(A)"),
        Reading(
            "ace_king_is_straight",
            (True, False),
            "13(n)",
            "Whether an ace and a king of two suits are a two-card straight for House Money: only "
            "the Straight Jack Progressive Wager is said to take them for one.",
        ),
        Reading(
            "repeated_rank",
            ("breaks", "ignored"),
            "7(o)(3)(i)",
            "A card of a rank already in the straight. `breaks`: it is not next to it, and ends "
            "it; `ignored`: it is passed over.",
        ),
    ),
    options=(*options("7", "11", "6(f)"), house_money.option("7(g)(10)(ii)(A)")),
    irregularities={},
    procedures=None,
    base=BASE,
    meters=(METER,),
    not_modelled={
        "2(c)": InPart("Bad Beat Progressive Wager"),
        "6(e)(10)": InPart("Hit and Run Progressive Wager"),
        "7(g)(8)": InPart("Three Card Poker Wager"),
        "7(o)(2)": InPart("Hit and Run Progressive Wager"),
        "7(o)(3)(ii)(A)": "on camera, not in the feed",
        "7(o)(3)(ii)(B)": "on camera, not in the feed",
        "13(o)": InPart("Royal Match 21 and King's Bounty Wagers"),
    },
    player_model=PlayerModel(
        always=("blackjack",),
        sometimes={"straight_jack": 250, "house_money": 300, "insurance": 300},
        chips={"house_money": 1000},
        decision_weights=decision_weights,
    ),
)
