"""The standard game of 21, which no document prints. Blackjack and Spanish 21 build on it.

Hands, dealer and payouts are as casinos play them everywhere, with options for the holder's
choices. The cited paragraphs are those that mention each part. The game settles a chapter's own
wagers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import CardsDealt
from ledger.rules.blackjack.dealer import (
    Dealer,
    compare,
    dealer_has,
    draw_out,
    drawn_over,
    peek,
    read_as,
    turn_hole,
    up_card,
    up_value,
)
from ledger.rules.blackjack.hands import (
    MISSED,
    RESCUED,
    SURRENDERED,
    BlackjackHand,
    blackjack_of,
    late_card,
    one_more,
    play_hands,
    total_known,
)
from ledger.rules.blackjack.wagers import (
    adjacent_boxes,
    dealt_in,
    left_out,
    second_cards,
)
from ledger.rules.engine.game import Option
from ledger.rules.engine.odds import paytable, row
from ledger.rules.engine.refused_wagers import within_table
from ledger.rules.engine.steps import said
from ledger.rules.hands.twenty_one import LIMIT, dealer_draws, total_if_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.wire import Fact
    from ledger.rules.blackjack.dealer import Compared, Peek
    from ledger.rules.blackjack.hands import Style
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.twenty_one import Total

EVEN_MONEY = "even_money"
BASE = (
    "A Blackjack pays 3 to 2, other hands 1 to 1 and Insurance 2 to 1. Even money may be paid for "
    "a Blackjack under an ace. The dealer's hole card is read under an ace or a 10. He stands on "
    "all 17s. Two cards may be doubled. A pair may be split to four hands and doubled after; "
    "aces are split once and get one card each. Half is surrendered on the first two cards. A "
    "card drawn in error and exposed may be refused; a hand called dead gets its wagers back."
)
_WON = ("dealer bust", "higher", "blackjack")
_PARTS = ("split", "double_down")


class Standard(NamedTuple):
    """A game's own names, tables and paragraphs for the shared parts."""

    wager: str
    beside: tuple[str, ...]  # wagers that go only with the main one
    placed: str
    boxes: str
    play: str  # cards dealt, decisions, the dealer's draw
    results: str  # paragraph on hands won, lost or tied
    split: str
    double: str
    pays: Paytable
    even: Paytable
    peek: Peek


def tables(wager: str, pays: str, insurance: str) -> tuple[Paytable, Paytable, Paytable]:
    """The paytables of hands, even money and Insurance, at odds that the holder may file."""
    hands = paytable(
        (wager, *_PARTS),
        pays,
        [
            row("Blackjack", lambda how: how == "blackjack", "3 to 2", key="blackjack"),
            row("Win", lambda how: how in _WON, "1 to 1", key="win"),
        ],
    )
    even = paytable(EVEN_MONEY, insurance, [row("Even money", bool, "1 to 1")])
    insured = paytable("insurance", insurance, [row("Insurance", bool, "2 to 1", key="insurance")])
    return hands, even, insured


def options(play: str, split: str, boxes: str) -> tuple[Option, ...]:
    """The holder's options in the standard game."""
    return (
        Option("decks", (6, 1, 2, 4, 5, 7, 8), play, "Decks shuffled together in the shoe."),
        Option("soft_17", ("stands", "hits"), play, "What the dealer does on a soft 17."),
        Option(
            "surrender",
            ("first_two", "none"),
            play,
            "Whether half of the wager may be given up on the first two cards.",
        ),
        Option("split_hands", (4, 2, 3), split, "How many hands a pair may be split to."),
        Option("double_split", (True, False), split, "Whether split hands may be doubled."),
        Option("resplit_aces", (False, True), split, "Whether split aces may be split again."),
        Option(
            "boxes",
            (7, 1, 2, 3, 4, 5, 6),
            boxes,
            "The number of adjacent boxes a player may wager on in one round.",
        ),
    )


def styled(t: Table, style: Style) -> Style:
    """A style under the options in force."""
    chosen = t.rules.options
    return style._replace(
        surrender="none" if chosen["surrender"] == "none" else "first_two",
        split_hands=int(chosen["split_hands"]),
        double_split=bool(chosen["double_split"]),
        resplit_aces=bool(chosen["resplit_aces"]),
    )


# -- the round -----------------------------------------------------------------------------------


def deal(t: Table, of: Standard) -> list[int]:
    """Take wagers, which the first card closes, and deal two cards each: the seats that play.

    A hand that lacks its cards is dead, and its wagers go back.
    """
    opening = t.wagers((of.wager, *of.beside), of.placed)
    t.awaits((of.wager,), of.placed)
    since = len(t.taken)
    late = _late(t, opening, of)
    within_table(t, of.placed)
    seats = dealt_in(t, of.wager, of.beside, late, of.placed)
    adjacent_boxes(t, seats, of.wager, int(t.rules.options["boxes"]), of.boxes)
    dealt = [seat for seat in seats if not left_out(t, seat, of.play)]
    one_more(t, dealt, 1, of.play)
    up_card(t, of.play)
    live = second_cards(t, dealt, of.play, of.play)
    t.deal("dealer", 2, of.play)
    t.any_order(since)  # the order of the deal is not printed
    for seat in [seat for seat in seats if seat not in live]:
        for wager in (of.wager, *of.beside):
            t.give_back(seat, wager, of.play)
    return live


def _late(t: Table, opening: list[Fact], of: Standard) -> set[tuple[int, str]]:
    """The wagers placed after the first card was dealt."""
    return t.close(opening, t.source.first("cards_dealt"), of.placed)


def even_money(t: Table, seats: Sequence[int], of: Standard) -> set[int]:
    """Pay a Blackjack under an ace even money before the hole card is read: the seats that took it.

    Under an unknown first card it counts too, because the player who took it saw the card.
    """
    taken: set[int] = set()
    if up_value(t) not in (1, None):
        return taken
    for seat in seats:
        natural = blackjack_of(t, seat)
        if natural is False:
            continue
        if t.decide(seat, (EVEN_MONEY,), of.peek.offered, may=True):
            t.settle(seat, of.wager, of.even, outcome=natural, lost=of.results)
            taken.add(seat)
    return taken


def dealer_blackjack(t: Table, seats: Sequence[int], of: Standard) -> bool:
    """Play Insurance and the hole card: whether the dealer has a Blackjack."""
    table = t.rules.paytable("insurance", of.peek.table)
    return peek(t, seats, of.peek._replace(table=table))


def play_out(
    t: Table, seats: Sequence[int], of: Standard, style: Style
) -> dict[int, list[BlackjackHand]]:
    """Play decisions and the dealer's draw, and settle every hand: the hands of each position."""
    hands: dict[int, list[BlackjackHand]] = {}
    for seat in seats:
        if blackjack_of(t, seat):
            hands[seat] = [BlackjackHand(seat, ended="blackjack")]
            _settle(t, hands[seat][0], Dealer(None, blackjack=False), of)
            continue
        hands[seat] = [
            late_card(t, hand, style, of.play) if hand.ended == MISSED else hand
            for hand in play_hands(t, seat, style)
        ]
        for hand in hands[seat]:
            _given_up(t, hand, of)
    live = [hand for seat in seats for hand in hands[seat] if _lives(t, hand)]
    _dealer(t, of, due=bool(live))
    dealer = dealer_has(t)
    for hand in reversed(live):
        _settle(t, hand, dealer, of)
    return hands


def lose_to_blackjack(t: Table, seats: Sequence[int], of: Standard) -> None:
    """Settle a dealer's Blackjack, which ends the round. Other Blackjacks tie."""
    for seat in reversed(seats):
        _settle(t, BlackjackHand(seat), dealer_has(t, blackjack=True), of)


def draws(total: Total, *, hits_soft_17: bool) -> bool:
    """Whether the dealer draws: below 17, and on a soft 17 if he hits it."""
    return dealer_draws(total) or (hits_soft_17 and total == (LIMIT - 4, True))


def _dealer(t: Table, of: Standard, *, due: bool) -> None:
    """Turn the hole card and draw. If no hand is left, he need not."""
    hits = t.rules.options["soft_17"] == "hits"
    turned = turn_hole(t, of.play, due=due)
    read_as(t, of.peek.read, found=False)
    told = [
        fact for fact in t.source.untaken("cards_dealt") if said(fact, CardsDealt).to == "dealer"
    ]
    if turned and (due or told):
        draw_out(t, of.play, lambda total: draws(total, hits_soft_17=hits), due=due)
    drawn_over(t, lambda total: draws(total, hits_soft_17=hits), of.play)


def _lives(t: Table, hand: BlackjackHand) -> bool:
    """Whether the dealer's hand decides this hand."""
    total = total_known(t, t.cards["player", hand.seat, hand.number])
    return not hand.ended and not (total and total.bust)


def _given_up(t: Table, hand: BlackjackHand, of: Standard) -> None:
    """Settle a hand that is over: in excess of 21, surrendered, or rescued (but its double)."""
    total = total_known(t, t.cards["player", hand.seat, hand.number])
    wager = of.wager if hand.number == 1 else "split"
    if hand.ended == SURRENDERED:
        t.surrender(hand.seat, wager, of.play, hand.number)
        t.push(hand.seat, "double_down", of.play, hand=hand.number)
    elif hand.ended == RESCUED:
        t.collect(hand.seat, wager, of.double, hand=hand.number)
        t.push(hand.seat, "double_down", of.double, hand=hand.number)
    elif hand.ended:
        t.give_back(hand.seat, wager, of.play, hand.number)
        t.give_back(hand.seat, "double_down", of.play, hand.number)
    elif total and total.bust:
        _settle(t, hand, Dealer(None, None), of)


def _settle(t: Table, hand: BlackjackHand, dealer: Dealer, of: Standard) -> None:
    """Settle a hand's wagers against the dealer's hand."""
    how = compare(t, hand, dealer)
    if how and t.rules.options.get("player_21") == "wins":
        how = _wins_with_21(t, hand, how)
    table = t.rules.paytable(of.wager, of.pays)
    for wager in (of.wager, *_PARTS):
        if how is None or how in _WON:
            t.settle(hand.seat, wager, table, how, of.results, hand=hand.number)
        elif how in ("tie", "both blackjack"):
            t.push(hand.seat, wager, of.results, hand=hand.number)
        elif how == "dealer blackjack" and wager in _PARTS:
            t.push(
                hand.seat,
                wager,
                of.double if wager == "double_down" else of.split,
                hand=hand.number,
            )
        else:
            t.collect(hand.seat, wager, of.results, hand=hand.number)


def _wins_with_21(t: Table, hand: BlackjackHand, how: Compared) -> Compared:
    """Whether a player's 21 wins against any dealer's hand, if the holder offers that."""
    total = total_if_known(t.cards["player", hand.seat, hand.number])
    if how == "both blackjack":
        return "blackjack"
    return "higher" if how == "tie" and total and total.points == LIMIT else how
