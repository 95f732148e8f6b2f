"""Double Attack Blackjack, 58 Pa. Code Chapter 665a: eight decks without 10s, a bet on the up card.

Sections: cards (.3), wagers (.6), play (.7), Insurance (.8), surrender (.9), doubles and splits
(.10, .11), payouts (.12), irregularities (.13). What all games of 21 share is
`ledger.rules.blackjack.hands` and `.dealer`. An ace is 1 or 11 and a picture 10 (3(d)(1)-(3)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rules.blackjack.dealer import (
    CHECKED,
    Dealer,
    Peek,
    compare,
    dealer_has,
    dealers,
    draw_out,
    drawn_over,
    peek,
    read_as,
    turn_hole,
    up_card,
    up_value,
)
from ledger.rules.blackjack.hands import (
    DEAD,
    MISSED,
    SURRENDERED,
    BlackjackHand,
    Style,
    blackjack_of,
    called,
    decision_weights,
    doubtful,
    late_card,
    one_more,
    play_hands,
    total_known,
)
from ledger.rules.blackjack.wagers import (
    adjacent_boxes,
    at_most,
    dealt_in,
    left_out,
    not_before,
    second_cards,
)
from ledger.rules.engine.game import (
    Edition,
    Game,
    Irregularity,
    Option,
    PlayerModel,
    Reading,
    Wager,
)
from ledger.rules.engine.odds import paytable, row
from ledger.rules.engine.refused_wagers import within_table
from ledger.rules.engine.steps import Void
from ledger.rules.hands.bust_it import bust_it_if_known
from ledger.rules.hands.twenty_one import (
    DECK_48,
    dealer_draws,
    is_blackjack_if_known,
    total_if_known,
)
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.record.wire import Fact
    from ledger.rules.engine.table import Table
    from ledger.rules.hands.bust_it import BustIt

BASE = ("bet", "double_attack")
STAKES = (*BASE, "split", "double_down")


def _third_is(value: int) -> Callable[[BustIt], bool]:
    return lambda busted: busted.value == value


def _eights_of(one: str) -> Callable[[BustIt], bool]:
    return lambda busted: busted.eights == one


BET = paytable(STAKES, "12(a)", [row("Bet and Double Attack Wager", bool, "1 to 1")])
INSURANCE = paytable("insurance", "12(b)", [row("Insurance Wager", bool, "5 to 2")])  # 8(c)
BUST_IT = paytable(
    "bust_it",
    "12(c)",
    [
        row("8, 8, 8 of the same suit", _eights_of("suit"), "200 to 1"),
        row("8, 8, 8 of the same color", _eights_of("color"), "50 to 1"),
        row("Is a 6", _third_is(6), "15 to 1"),
        row("Is a 7", _third_is(7), "10 to 1"),
        row("Is an 8", _third_is(8), "8 to 1"),
        row("Is a 9", _third_is(9), "6 to 1"),
        row("Is a king, queen or jack", _third_is(10), "3 to 1"),
    ],
)
STYLE = Style(
    base=BASE,
    decided="7(h)(2)",
    dealt="7(i)",
    double="10(a)",
    split="11(a)",
    aces="11(e)",
    # No card at 21 or after a double (7(j)(1)-(2)). Four hands; an ace gets one (11(c), 11(e)).
    surrender="any",  # after the first two cards, further ones, a split and a double: 9(a), 7(k)
    after_double=(SURRENDERED,),
)
LOST = {
    "dealer blackjack": "7(o)(1)(ii)(A)",
    "bust": "7(o)(1)(ii)(B)",
    "both bust": "7(o)(1)(ii)(B)",
    "lower": "7(o)(1)(ii)(C)",
}
# 7(o)(1)(i)(A)-(C): a dealer in excess of 21, more points, a Blackjack.
WON = ("dealer bust", "higher", "blackjack")
# What a dealer's Blackjack does not take, and where it goes back.
RETURNED = {"double_attack": "7(o)(2)", "split": "11(d)", "double_down": "10(b)"}
PEEK = Peek(INSURANCE, base="bet", offered="8(a)", most="8(b)", lost="8(d)", read="7(g)")
THREE = 3


def play(t: Table) -> None:
    """One round, from the Bets to the last wager settled."""
    opening = t.wagers(("bet", "bust_it"), "6(d)")
    t.awaits(("bet",), "6(d)")
    up = up_card(t, "7(e)")
    late = t.close(opening, up, "7(e)")
    seats = _dealt_in(t, late)
    attacks = t.wagers(("double_attack",), "7(e)")
    not_before(t, attacks, up, "7(e)")
    _double_attacks(t, seats)
    live = _deal(t, seats, attacks)
    _reader_misused(t)
    if peek(t, seats, PEEK):
        for seat in reversed(live):
            _settle(t, BlackjackHand(seat), dealer_has(t, blackjack=True))
        _bust_it(t)
        return
    _dealer(t, _decisions(t, live))


def _dealt_in(t: Table, late: set[tuple[int, str]]) -> list[int]:
    """The seats dealt in: Bets, and Bust It Wagers that are no larger (6(c)-(g), 7(e))."""
    within_table(t, "2(a)")
    seats = dealt_in(t, "bet", ("bust_it",), late, "6(d)")
    at_most(t, seats, "bust_it", "bet", "6(f)")
    adjacent_boxes(t, seats, "bet", int(t.rules.options["boxes"]), "6(g)")
    return seats


def _double_attacks(t: Table, seats: list[int]) -> None:
    """Take Double Attack Wagers, each with a Bet and no larger (6(e))."""
    at_most(t, seats, "double_attack", "bet", "6(e)")
    for seat in [seat for seat in t.positions() if seat not in seats]:
        t.not_permitted(seat, "double_attack", "it stands without a Bet", "6(e)")
        t.give_back(seat, "double_attack", "6(e)")


def _deal(t: Table, seats: list[int], attacks: list[Fact]) -> list[int]:
    """Deal two cards to each Bet, and the hole card (7(f)); the hands not dead by 13(f)."""
    dealt = [seat for seat in seats if not left_out(t, seat, "13(f)")]
    t.close(attacks, one_more(t, dealt, 1, "7(f)(1)"), "7(e)")
    live = second_cards(t, dealt, "7(f)(2)", "13(f)")
    t.deal("dealer", 2, "7(f)(3)")
    for seat in [seat for seat in seats if seat not in live]:
        _dead(t, BlackjackHand(seat), "13(f)")
    return live


def _dead(t: Table, hand: BlackjackHand, section: str) -> None:
    """Give a dead hand's wagers back. Its Bust It Wager stays on the layout (13(g))."""
    for wager in STAKES:
        t.give_back(hand.seat, wager, section, hand.number)


def _reader_misused(t: Table) -> None:
    """Judge a hole card read though the first card gives no Blackjack. Raises Void (13(h)(1)-(2)).

    The option says whether the reader lets a player see it, or else the floor's call does.
    """
    value = up_value(t)
    used = called(t, "card_reader_misused") or t.source.untaken("hole_card_checked")
    if value in (*CHECKED, None) or not used:
        return
    shows = t.rules.options["card_reader"]
    if shows == "shows" or (shows == "as_called" and t.source.voided):
        raise Void("13(h)(1)")


def _decisions(t: Table, live: list[int]) -> list[BlackjackHand]:
    """Pay Blackjacks at once (7(h)(1)), let others play (7(h)(2)); the hands left."""
    hands: list[BlackjackHand] = []
    for seat in live:
        if blackjack_of(t, seat):
            _settle(t, BlackjackHand(seat), Dealer(None, blackjack=False))
        else:
            hands += [_given_up(t, hand) for hand in play_hands(t, seat, STYLE)]
    for index, hand in enumerate(hands):
        if hand.ended == MISSED:
            hands[index] = _given_up(t, late_card(t, hand, STYLE, "13(g)"))
    return [hand for hand in hands if hand.ended not in (SURRENDERED, DEAD)]


def _given_up(t: Table, hand: BlackjackHand) -> BlackjackHand:
    """Settle a hand that was surrendered (9) or called dead (13(g)). Any other stays."""
    if hand.ended == DEAD:
        _dead(t, hand, "13(g)")
    elif hand.ended == SURRENDERED:
        _surrender(t, hand)
    return hand


def _surrender(t: Table, hand: BlackjackHand) -> None:
    """Surrender half of a hand's wagers: 9(a)-(b). Bust It and Insurance stay: 9(c)-(d)."""
    seat, number = hand.seat, hand.number
    if is_blackjack_if_known(dealers(t)):
        t.collect(seat, "bet", "9(b)(2)(i)", hand=number)
        for wager, section in {**RETURNED, "double_attack": "9(b)(2)(i)"}.items():
            t.push(seat, wager, section, hand=number)
        return
    section = "9(b)(2)(ii)" if up_value(t) in CHECKED else "9(b)(1)"
    for wager in (*BASE, "split"):
        t.surrender(seat, wager, section, number)
    # The text halves the Bet and Double Attack Wagers and names no others: a reading (ADR 0078).
    readings = ("surrender_double_down",)
    if t.rules.readings["surrender_double_down"] == "half":
        t.surrender(seat, "double_down", section, number, readings=readings)
    else:
        t.collect(seat, "double_down", section, hand=number, readings=readings)


def _dealer(t: Table, hands: list[BlackjackHand]) -> None:
    """Turn the hole card, the third card with its Bust It Wagers, and draw (7(l)-(n), 13(d))."""
    tied = t.rules.readings["both_bust"] == "tie"
    totals = [total_known(t, t.cards["player", hand.seat, hand.number]) for hand in hands]
    due = any(total is None or tied or not total.bust for total in totals)
    due = due or any(t.betting("bust_it"))
    turned = turn_hole(t, "7(l)", due=due)
    read_as(t, "7(g)", found=False)
    if turned:
        draw_out(t, "7(m)(2)", dealer_draws, most=THREE, due=due)
        _bust_it(t)
        draw_out(t, "7(n)", dealer_draws, due=due)
    drawn_over(t, dealer_draws, "13(d)")
    dealer = dealer_has(t)
    for hand in reversed(hands):
        _settle(t, hand, dealer)


def _bust_it(t: Table) -> None:
    """Settle Bust It Wagers by the dealer's third card: 7(m)(1), 7(m)(2)(i)-(ii)."""
    two = total_if_known(dealers(t)[:2])
    lost = "7(m)(1)" if two and not dealer_draws(two) else "7(m)(2)(ii)"
    for seat in reversed(t.positions()):
        busted = None if doubtful(t) else bust_it_if_known(dealers(t))
        t.settle(seat, "bust_it", BUST_IT, busted, lost)


def _settle(t: Table, hand: BlackjackHand, dealer: Dealer) -> None:
    """Settle a hand's wagers against the dealer's: 7(o)(1)-(2), 7(p), 10(b), 11(d)."""
    how = compare(t, hand, dealer)
    if how == "bust" and dealer.total is None and t.rules.readings["both_bust"] == "tie":
        how = None  # it is not known if he is in excess of 21 too
    returned = RETURNED if how == "dealer blackjack" else {}
    tied = how in ("tie", "both blackjack")
    readings: tuple[str, ...] = ()
    if how == "both bust":
        readings = ("both_bust",)
        tied = t.rules.readings["both_bust"] == "tie"
    for wager in STAKES:
        if how is None or how in WON:
            won = None if how is None else True
            t.settle(hand.seat, wager, BET, won, "7(o)(1)", hand=hand.number)
        elif tied or wager in returned:
            section = returned.get(wager, "7(o)(1)(iii)")
            t.push(hand.seat, wager, section, hand=hand.number, readings=readings)
        else:
            t.collect(hand.seat, wager, LOST[how], hand=hand.number, readings=readings)


GAME = Game(
    id="double_attack_blackjack",
    title="Double Attack Blackjack",
    editions=(Edition("665a", "proposed", None, None, "Pa.B. Doc. No. 13-230, filed 2013-02-08"),),
    play=play,
    positions=6,
    deck=frozenset(DECK_48),
    decks=8,
    wagers=(
        Wager("bet", "Bet", "6(d)"),
        Wager("double_attack", "Double Attack Wager", "6(e)"),
        Wager("bust_it", "Bust It Wager", "6(f)", optional=True),
        Wager("insurance", "Insurance Wager", "8(a)"),
        Wager("double_down", "Double Down Wager", "10(a)"),
        Wager("split", "wager on a split hand", "11(a)"),
    ),
    paytables=(BET, INSURANCE, BUST_IT),
    readings=(
        Reading(
            "both_bust",
            ("lose", "tie"),
            "7(o)(1)(ii)(B)",
            "No paragraph covers a player and a dealer who are both in excess of 21. `lose`: the "
            "wagers are lost, as in the standard game; `tie`: they go back, as neither hand wins.",
        ),
        Reading(
            "surrender_double_down",
            ("half", "whole"),
            "9(b)(1)",
            "A hand may be surrendered after doubling down, and the Bet and Double Attack Wagers "
            "are halved; the Double Down Wager is not named. `half`: it is halved too; `whole`: "
            "the whole of it is given up.",
        ),
    ),
    options=(
        Option(
            "boxes",
            (6, 1, 2, 3, 4, 5),
            "6(g)",
            "The number of adjacent boxes a player may place a Bet on in one round.",
        ),
        Option(
            "card_reader",
            ("as_called", "shows", "hides"),
            "13(h)",
            "Whether the card reader in use lets a player see the hole card. `shows`: to misuse it "
            "voids the round; `hides`: play goes on; `as_called`: as the floor decided.",
        ),
    ),
    irregularities={
        "card_face_up": Irregularity("13(a)", void=False, says="not used, to the discard rack"),
        "card_drawn_unexposed": Irregularity("13(b)", void=False, says="used as the next card"),
        "card_drawn_exposed": Irregularity(
            "13(c)",
            void=False,
            says=("dealt as the next card; a player who refuses it gets no further cards"),
        ),
        "dealer_overdrew": Irregularity("13(d)", void=False, says="the card to the discard rack"),
        "insufficient_cards": Irregularity(
            "13(e)", void=False, says="the discards are shuffled, the first card is burned"
        ),
        "no_card_dealt": Irregularity("13(f)", void=False, says="the hand is dead"),
        "one_card_dealt": Irregularity(
            "13(f)", void=False, says="the second card after all others, or the hand is dead"
        ),
        "requested_card_not_dealt": Irregularity(
            "13(g)", void=False, says="the card after all others, or the hand is dead"
        ),
        "card_reader_misused": Irregularity(
            "13(h)(1)",
            void=True,
            says="all hands dead, wagers back, if a player can see the card; else play on",
            in_play=True,
        ),
        "card_reader_failed": Irregularity(
            "13(i)", void=False, says="no further dealing until it is repaired or replaced"
        ),
        "shuffler_failed": Irregularity("13(j)", void=False, says="the cards are reshuffled"),
    },
    procedures=common_card_rules.CARE._replace(
        spread="4(c)",
        washed="4(d)",
        count_wrong=None,
        cut_due="5(b)",
        alternated="3(b)(4)",
        change_hours={"manual_shoe": 24},  # 3(c)
        stub={},
        stub_rounds=0,
        device_covered="13(k)",
        deck_cards=384,
        shoe="7(d)",
        cut_cards_below=10,
        cover_cards_below=96,  # a quarter of them
        taken_out="4(b)",
    ),
    not_modelled={
        "3(a)": "equipment",
        "3(b)(1)": "equipment",
        "3(b)(2)": "equipment",
        "3(b)(3)": "on camera, not in the feed",
        "3(b)(5)": "on camera, not in the feed",
        "6(a)": "on camera, not in the feed",
        "6(b)": "on camera, not in the feed",
        "7(a)": "equipment",
        "7(b)": "on camera, not in the feed",
        "7(c)": "on camera, not in the feed",
        "7(q)": "on camera, not in the feed",
        "7(r)": "on camera, not in the feed",
        "10(c)": "on camera, not in the feed",
        "11(b)": "on camera, not in the feed",
    },
    player_model=PlayerModel(
        always=("bet",),
        sometimes={"bust_it": 350, "double_attack": 500, "insurance": 300},
        chips={"double_attack": 1000, "insurance": 400},
        decision_weights=decision_weights,
    ),
)
