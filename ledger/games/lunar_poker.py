"""Lunar Poker, 58 Pa. Code Chapter 589: five cards against the dealer's, and cards for a fee.

Sections: wagers (.7), play (.8-.11), payouts (.12), irregularities (.13). The hands of 6(a),
6(b)(1)-(10), 6(c) and 6(d)(1)-(8) are `ledger.rules.hands.poker` and `ledger.rules.hands.lunar`. An
Options fee is an additional payment (.1) and not a wager: it never goes back, even if the round is
void.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import CardsDealt, CardsExchanged, DecisionMade, FeePaid
from ledger.rules.engine.game import (
    Dealing,
    Edition,
    Game,
    Irregularity,
    PlayerModel,
    Reading,
    Wager,
)
from ledger.rules.engine.odds import paytable, row
from ledger.rules.engine.refused_wagers import within_table
from ledger.rules.engine.steps import Step, said
from ledger.rules.hands import lunar
from ledger.rules.hands import poker as p
from ledger.rules.hands.best_five import best_hand_if_known
from ledger.rules.hands.cards import DECK
from ledger.rules.poker.elections import as_shown, bet, bets_of, declares, holds
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.table import Table

    Due = dict[tuple[str, int | None], int]


ACE_KING = Reading(
    "super_ace_king",
    ("ace_king", "ace_king_queen"),
    "12(b)",
    "The Super Wager is printed to pay an ace-king (6(d)(7)), which gives the player more than he "
    "stakes; the licensor's own sheet asks for a queen beside them. `ace_king` follows the text.",
)
SECOND = Reading(
    "second_combination",
    ("best_paying", "next_best"),
    "11(e)(1)(ii)",
    "Several second combinations may have a card that is not in the first. The section does not "
    "say which one is paid: the one that pays most, or the next in rank if it has such a card.",
)


def _instant(letter: str, royal: str, straight: str) -> Paytable:
    rows = [
        row("Royal flush", p.is_a(p.ROYAL_FLUSH), royal),
        row("Straight flush", p.is_a(p.STRAIGHT_FLUSH), straight),
    ]
    return paytable("instant", "12(a)", rows, letter)


def _super(letter: str, three: str, ace_king: str) -> Paytable:
    rows = [
        row("Four-of-a-kind", p.is_a(p.FOUR_OF_A_KIND), "250 to 1"),
        row("Same-colored straight", lunar.same_colored_straight, "150 to 1"),
        row("Full house", p.is_a(p.FULL_HOUSE), "100 to 1"),
        row("Flush", p.is_a(p.FLUSH), "60 to 1"),
        row("Straight", p.is_a(p.STRAIGHT), "30 to 1"),
        row("Three-of-a-kind", p.is_a(p.THREE_OF_A_KIND), three),
        # With a queen it pays by either reading, without one only by the literal text (ADR 0083).
        row("Ace-king", lunar.holds_ace_king_queen, ace_king),
        row("Ace-king", lunar.holds_ace_king, ace_king, (ACE_KING.name, "ace_king")),
        row("Same colored five", lunar.same_colored_five, "2 to 1"),
    ]
    return paytable("super", "12(b)", rows, letter)


INSTANT = (
    _instant("A", "1500 to 1", "500 to 1"),
    _instant("B", "1500 to 1", "400 to 1"),
    _instant("C", "1500 to 1", "300 to 1"),
    _instant("D", "1200 to 1", "400 to 1"),
    _instant("E", "1200 to 1", "300 to 1"),
    _instant("F", "1000 to 1", "300 to 1"),
    _instant("G", "800 to 1", "300 to 1"),
    _instant("H", "600 to 1", "300 to 1"),
)
SUPER = (
    _super("A", "8 to 1", "6 to 1"),
    _super("B", "8 to 1", "5 to 1"),
    _super("C", "7 to 1", "6 to 1"),
)
BET = paytable(
    "bet",
    "12(c)",
    [
        row("Royal flush", p.is_a(p.ROYAL_FLUSH), "100 to 1"),
        row("Straight flush", p.is_a(p.STRAIGHT_FLUSH), "50 to 1"),
        row("Four-of-a-kind", p.is_a(p.FOUR_OF_A_KIND), "20 to 1"),
        row("Full house", p.is_a(p.FULL_HOUSE), "7 to 1"),
        row("Flush", p.is_a(p.FLUSH), "5 to 1"),
        row("Straight", p.is_a(p.STRAIGHT), "4 to 1"),
        row("Three-of-a-kind", p.is_a(p.THREE_OF_A_KIND), "3 to 1"),
        row("Two pair", p.is_a(p.TWO_PAIR), "2 to 1"),
        row("One pair", p.is_a(p.PAIR), "1 to 1"),
        row("Ace-king", p.is_a(lunar.ACE_KING), "1 to 1"),
    ],
)
ANTE = paytable("ante", "12(d)", [row("Ante Wager", lambda _: True, "1 to 1")])

CARDS, LAST = 5, 4
MANUAL_SHOE = Dealing(announced="8(b)", dealt="8(c)", stub="11(g)(2)", passes=(1, 2, 3, 4, 5))
DEALING = {
    "hand": MANUAL_SHOE._replace(announced="9(a)(3)", dealt="9(b)"),
    "automated_shoe": Dealing("10(a)(2)", "10(b)", "11(g)(2)", (5,)),
}
DRAWS, LOCK = ("exchange", "sixth_card"), "decisions_locked_called"
# Players who want more cards decide first, or pay for them before decisions are locked.
OPENING_ENDS = ("decision_made", LOCK)
# Higher, lower, equal: 11(e)(1)(i)-(iii); after a card paid for: 11(e)(2)(ii)(B)(I)-(III).
FIRST = tuple(f"11(e)(1){each}" for each in ("", "(i)", "(ii)", "(iii)"))
FORCED = tuple(f"11(e)(2)(ii)(B){each}" for each in ("", "(I)", "(II)", "(III)"))


class Bought(NamedTuple):
    """Cards that a player bought with an Options fee."""

    exchanges: bool  # cards of his; else a sixth
    discards: Sequence[str] | None = None  # None: not said so far
    decided: bool = True  # by a decision; a fee alone elects too


class Elected(NamedTuple):
    """What players elected before decisions were locked."""

    declared: set[int]
    bets: set[int]
    draws: dict[int, Bought]
    folded: list[int]
    placed: list[Fact]  # Bets, those that do not hold among them
    fees: list[Fact]  # for cards


def play(t: Table) -> None:
    """One round, from the Antes to the last hand in the discard rack."""
    opening = t.wagers(("ante", "super"), "7(d)")
    t.awaits(("ante",), "7(c)(1)")
    dealing = DEALING.get(t.dealt_from or "", MANUAL_SHOE)
    late = t.close(opening, t.announce("no_more_bets_called", dealing.announced), "7(d)")
    seats = _dealt_in(t, late)
    for count in dealing.passes:
        for seat in seats:
            t.deal("player", count, dealing.dealt, seat, before=OPENING_ENDS)
        t.deal("dealer", count, dealing.dealt, before=OPENING_ENDS)
    due: Due = {("dealer", None): CARDS, **{("player", seat): CARDS for seat in seats}}
    t.counted(due, "13(c)", OPENING_ENDS)
    t.unexposed("dealer", "13(d)", but=LAST)
    at_once = [seat for seat in seats if _is_instant(as_shown(t, seat, CARDS, LOCK))]
    # Who declares such a hand neither folds nor bets.
    t.void_until_decided("dealer_card_exposed", seats, "13(d)", declaring=at_once)
    t.turn("dealer", (LAST,), dealing.dealt)
    elected = _elections(t, seats)
    live = _settle_super(t, seats, elected.declared)
    draws = elected.draws
    live = [seat for seat in live if seat in elected.bets or _draws(t, seat, draws.get(seat), due)]
    t.counted(due, "13(c)", ("cards_turned", "cards_exchanged"))
    if live:
        t.turn("dealer", range(LAST), "11(e)")
        _compare(t, live, due)
    t.source.take(Step("stub_counted", "11(g)", cards=len(DECK)))  # all cards: 11(g)(1)


def _dealt_in(t: Table, late: set[tuple[int, str]]) -> list[int]:
    """The seats dealt in: Antes, some with Super Wagers (7(c)). Late ones need a deal."""
    within_table(t, "2(a)")
    seats = []
    for seat in t.positions(dealt_to=True):
        if t.lost_before_deal(seat):
            t.presume(seat, ("ante",), "7(d)")
        if (seat, "ante", 1) in t.stakes and ((seat, "ante") not in late or t.dealt_to(seat)):
            seats.append(seat)
            continue
        t.give_back(seat, "ante", "7(d)")
        if t.stake(seat, "super"):
            t.not_permitted(seat, "super", "it stands without an Ante", "7(c)(2)")
            t.give_back(seat, "super", "7(c)(2)")
    t.one_position_each(seats, "ante", "7(e)")
    return seats


def _elections(t: Table, seats: Sequence[int]) -> Elected:
    """Hands declared in time, Bets, and cards bought. 11(b) gives players no order.

    Until decisions are locked the last one holds. A Bet of a hand that folds later goes back.
    """
    since = len(t.taken)
    elected = Elected(set(), set(), {}, [], [], [])
    for seat in t.as_they_came(seats, "decision_made", "wager_placed"):
        _elects(t, seat, elected)
    t.any_order(since)
    lock = t.announce(LOCK, "11(c)")
    t.close(elected.placed, lock, "11(a)(3)")
    _fees_in_time(t, elected.fees, lock, "11(a)(3)")
    for seat in seats:
        if seat not in elected.declared and declares(t, seat, CARDS, "11(c)(2)(ii)"):
            elected.declared.add(seat)
    for seat in elected.folded:
        if not (seat in elected.declared and _instant_hand(t, seat)):
            t.give_back(seat, "bet", "11(a)(3)")
    return elected


def _elects(t: Table, seat: int, elected: Elected) -> None:
    """One player declares his hand, buys cards, bets or folds (11(b)(1)-(3))."""
    if declares(t, seat, CARDS, "11(b)(2)"):
        elected.declared.add(seat)
        if _instant_hand(t, seat):
            elected.placed.extend(bets_of(t, seat, "11(b)(2)"))
            return
    bought = _paid_first(t, seat, elected.fees) or _buys(t, seat, elected.fees)
    if isinstance(bought, Bought):
        elected.draws[seat] = bought
        return
    his = bets_of(t, seat, "11(b)(2)") if bought else bet(t, seat, "11(b)(2)")
    elected.placed.extend(his or [])
    if holds(t, his, bought, LOCK):
        elected.bets.add(seat)
    else:
        elected.folded.append(seat)


def _paid_first(t: Table, seat: int, fees: list[Fact]) -> Bought | None:
    """An Options fee that a player placed, if he says only after the lock what it buys.

    The fee elects (11(b)(3)); once it is collected he elects which cards (11(d)(2)(i)).
    """
    paid = next((f for f in t.source.untaken("fee_paid") if _is_option(f, seat)), None)
    decisions = t.source.untaken("decision_made")
    decided = next((f for f in decisions if said(f, DecisionMade).position == seat), None)
    lock = next(iter(t.source.untaken(LOCK)), None)
    if paid is None or _after(t, paid, lock) or (decided and _after(t, decided, lock) is False):
        return None
    purpose = said(paid, FeePaid).purpose
    fees.append(paid)
    t.fee(seat, "options", t.stake(seat, "ante"), "11(b)(3)", purpose)
    exchanges = (said(fact, CardsExchanged) for fact in t.source.untaken("cards_exchanged"))
    exchanged = any(body.position == seat for body in exchanges)
    return Bought(exchanges=purpose == "exchange" or exchanged, decided=False)


def _is_option(fact: Fact, seat: int) -> bool:
    """Whether a fee is an Options fee of this position."""
    body = said(fact, FeePaid)
    return (body.position, body.fee) == (seat, "options")


def _after(t: Table, fact: Fact, lock: Fact | None) -> bool | None:
    """Whether a fact came once decisions were locked; None if the clocks cannot tell."""
    return False if lock is None else t.source.later_than(fact, lock)


def _fees_in_time(t: Table, fees: Sequence[Fact], by: Fact | None, section: str) -> None:
    """Find Options fees paid too late: once decisions are locked, or the dealer's card is dealt."""
    what = "decisions were locked" if section == "11(a)(3)" else "the dealer's card was dealt"
    for fact in fees:
        late = _after(t, fact, by)
        if late is False:
            continue
        seat = said(fact, FeePaid).position
        how = "once" if late else "about when"
        says = f"Position {seat} paid an Options fee {how} {what}"
        t.find(
            "out_of_turn" if late else "order_uncertain",
            f"{says} ({t.rules.section(section)}).",
            section,
            facts=(fact,),
            position=seat,
        )


def _instant_hand(t: Table, seat: int) -> bool:
    """The royal flush or straight flush in the first five cards, or None."""
    return _is_instant(t.cards["player", seat, 1][:CARDS])


def _is_instant(cards: Sequence[str]) -> bool:
    """Whether cards are known to be a royal flush or a straight flush."""
    hand = p.hand_if_known(cards)
    return hand is not None and INSTANT[0].pays(hand, {}) is not None


def _buys(t: Table, seat: int, fees: list[Fact]) -> Bought | Fact | None:
    """Cards bought, or the fact of a fold (11(b)(1), 11(b)(3)); None for neither."""
    ante, held = t.stake(seat, "ante"), t.cards["player", seat, 1]
    some = [{"discards": tuple(held[:count])} for count in range(2, CARDS + 1)]
    decided = t.decide(
        seat,
        ("fold", *DRAWS),
        "11(b)",
        costs=dict.fromkeys(DRAWS, ante),
        ways=lambda choice: some if choice == "exchange" else (),
        may=True,
    )
    if decided is None or decided.decision not in DRAWS:
        return t.taken[-1][1] if decided else None
    fee = t.fee(seat, "options", ante, "11(b)(3)", decided.decision)
    fees += [fee] if fee else []
    return Bought(decided.decision == "exchange", decided.discards)


def _settle_super(t: Table, seats: Sequence[int], declared: set[int]) -> list[int]:
    """Settle instant payouts and Super Wagers of declared hands; the seats that play on."""
    # 11(c)(1)(i) and 11(c)(1)(ii)(A)-(B); 11(c)(2)(i) and 11(c)(2)(ii)(A)-(B).
    instant, table = t.rules.paytable("instant", *INSTANT), t.rules.paytable("super", *SUPER)
    live = []
    for seat in seats:
        if seat not in declared:
            t.collect(seat, "super", "11(c)(2)(i)")
            live.append(seat)
            continue
        cards = t.cards["player", seat, 1][:CARDS]
        t.pay_beside(seat, "instant", t.stake(seat, "ante"), instant, p.hand_if_known(cards))
        found = lunar.super_hand_if_known(cards)
        rows = {found and table.pays(found, {ACE_KING.name: each}) for each in ACE_KING.values}
        readings = [ACE_KING.name] if len(rows) > 1 else []
        t.settle(seat, "super", table, found, "11(c)(2)(i)", readings=readings)
        if not _instant_hand(t, seat):
            live.append(seat)
            continue
        t.push(seat, "ante", "11(c)(1)(i)")
        if (seat, "bet", 1) in t.stakes:
            t.not_permitted(seat, "bet", "a hand that is paid at once has none", "11(b)(2)")
            t.give_back(seat, "bet", "11(b)(2)")
        t.discard("11(c)(1)(ii)(A)", "player", seat)
    return live


def _draws(t: Table, seat: int, bought: Bought | None, due: Due) -> bool:
    """Deal the cards bought, then take the Bet. A hand without one is given up (11(d))."""
    section = "11(d)(1)"
    if bought is not None:
        section = "11(d)(2)(iv)"
        decided = None if bought.decided else t.decide(seat, DRAWS, "11(d)(2)(i)", may=True)
        if decided:
            bought = Bought(decided.decision == "exchange", decided.discards)
        if bought.exchanges:
            _exchange(t, seat, bought.discards)
        else:
            due["player", seat] += 1
            t.deal("player", due["player", seat], "11(d)(2)(i)(A)", seat)
        if bet(t, seat, "11(d)(2)(iii)") is not None:
            return True
    t.forfeit(seat, "7(b)" if t.left_table(seat) else section, keep=("super",))
    return False


def _exchange(t: Table, seat: int, discards: Sequence[str] | None) -> None:
    """Exchange two to five cards for as many new ones."""
    section = "11(d)(2)(i)(B)"
    ways = [{"discards": discards}]
    t.exchange("player", discards, section, seat, ways=lambda _: ways)
    given = len(t.discarded["player", seat])
    told = discards is not None or isinstance(t.taken[-1][1].body, CardsExchanged)
    if told and given not in range(2, CARDS + 1):
        says = f"Position {seat} gave up {given} for exchange; two to five cards may be exchanged."
        t.find("decision_not_permitted", says, "11(b)(3)", position=seat)
    t.deal("player", CARDS, section, seat)


def _compare(t: Table, live: Sequence[int], due: Due) -> None:
    """Compare hands with the dealer's, perhaps after an extra card for him (11(e)(1)-(2))."""
    dealer = p.hand_if_known(t.cards["dealer", None, 1][:CARDS])
    if dealer is None or lunar.qualifies(dealer):
        _settle_hands(t, live, dealer, FIRST)
        return
    fees: list[Fact] = []
    forcing = _forcing(t, live, fees)
    for seat in live:
        if seat not in forcing:
            t.push(seat, "bet", "11(e)(2)(i)")
            t.settle(seat, "ante", ANTE, dealer, "11(e)(2)(i)")
            t.discard("11(e)(2)(i)", "player", seat)
    if not forcing:
        return
    replaced = [f for f in t.source.untaken("cards_dealt") if said(f, CardsDealt).to == "dealer"]
    _fees_in_time(t, fees, next(iter(replaced), None), "11(e)(2)(ii)")
    _force(t, due)
    dealer = p.hand_if_known(t.cards["dealer", None, 1][:CARDS])
    if dealer is None or lunar.qualifies(dealer):
        _settle_hands(t, forcing, dealer, FORCED)
        return
    for seat in forcing:
        for wager in ("ante", "bet"):
            t.push(seat, wager, "11(e)(2)(ii)(A)")
        t.discard("11(e)(2)(ii)(A)", "player", seat)


def _forcing(t: Table, live: Sequence[int], fees: list[Fact]) -> list[int]:
    """Players who pay an Options fee for the dealer to try again; the section gives no order."""
    forcing = []
    for seat in t.as_they_came(live, "decision_made"):
        ante = t.stake(seat, "ante")
        if t.decide(seat, ("force_dealer",), "11(e)(2)", costs={"force_dealer": ante}, may=True):
            fee = t.fee(seat, "options", ante, "11(e)(2)(ii)", "force_dealer")
            fees += [fee] if fee else []
            forcing.append(seat)
    return sorted(forcing)


def _force(t: Table, due: Due) -> None:
    """Replace the dealer's highest card, once for all who paid (11(e)(2)(ii))."""
    section, held = "11(e)(2)(ii)", t.cards["dealer", None, 1]
    highest = lunar.forced_discard(held)
    t.exchange("dealer", (highest,), section, ways=lambda _: [{"discards": (highest,)}])
    if highest in held:
        says = f"The dealer kept {highest}, the highest card of a hand that did not qualify."
        t.find("hand_misset", says, section, expected=highest)
    t.deal("dealer", CARDS, section, face="up")
    t.counted(due, "13(c)")
    t.turn("dealer", (LAST,), section)


def _settle_hands(
    t: Table, live: Sequence[int], dealer: p.PokerHand | None, sections: Sequence[str]
) -> None:
    """Settle each hand against the dealer's, counterclockwise: lower, higher, or equal in rank."""
    turned, lower, higher, equal = sections
    for seat in reversed(live):
        cards = t.cards["player", seat, 1]
        if dealer is not None:
            t.turn("player", range(len(cards)), turned, seat)
        hand = best_hand_if_known(cards)
        if hand is None or dealer is None:
            t.settle(seat, "ante", ANTE, None, lower)  # with an unknown card, the Bet stays open
        elif hand < dealer:
            t.forfeit(seat, lower, keep=("super",))
        else:
            t.push(seat, "ante", equal if hand == dealer else higher)
            if hand == dealer:
                t.push(seat, "bet", equal)
            else:
                _pay_bet(t, seat, cards, higher)
            t.discard("11(f)", "player", seat)


def _pay_bet(t: Table, seat: int, cards: Sequence[str], section: str) -> None:
    """Pay a winning Bet by one combination or by two."""
    found = lunar.combinations_in(cards)
    by = {each: lunar.paid_rows(found, BET.rows, str(each)) for each in SECOND.values}
    rows = by[str(t.rules.readings[SECOND.name])]
    readings = [SECOND.name] if len(set(by.values())) > 1 else []
    t.settle_rows(seat, "bet", BET, rows, section, readings=readings)


def decision_weights(cards: Sequence[str], _: Sequence[str]) -> Mapping[str, int]:
    """A simulated player's weights for his cards: no strategy, but every decision happens."""
    if len(cards) < CARDS:
        return {"fold": 1000}
    found = lunar.super_hand_if_known(cards[:CARDS])
    declare = 1000 if found and SUPER[0].pays(found, {ACE_KING.name: None}) else 0
    return {"declare": declare, "fold": 200, "exchange": 140, "sixth_card": 90, "force_dealer": 15}


GAME = Game(
    id="lunar_poker",
    title="Lunar Poker",
    editions=(Edition("589", "temporary", "2013-12-07", "2015-12-07", "43 Pa.B. 7087"),),
    play=play,
    positions=5,
    deck=frozenset(DECK),
    wagers=(
        Wager("ante", "Ante Wager", "7(c)(1)"),
        Wager("bet", "Bet Wager", "7(c)(1)"),
        Wager("super", "Super Wager", "7(c)(2)", optional=True),
    ),
    paytables=(*INSTANT, *SUPER, BET, ANTE),
    readings=(ACE_KING, SECOND),
    irregularities={
        **common_card_rules.irregularities("13(a)", "13(b)", "13(c)", "13(e)", "13(f)"),
        "dealer_card_exposed": Irregularity(
            "13(d)", void=True, says=common_card_rules.VOID, in_play=True
        ),
        "card_missing": Irregularity("11(g)(2)", void=False, says="the deck is removed"),
    },
    procedures=common_card_rules.CARE._replace(
        stub=dict.fromkeys(common_card_rules.CARE.stub, "11(g)"),
        stub_whole=True,
        device_covered="13(g)",
    ),
    not_modelled={
        **common_card_rules.NOT_MODELLED,
        **dict.fromkeys(("11(a)(1)", "11(a)(2)"), "on camera, not in the feed"),
    },
    player_model=PlayerModel(
        always=("ante",), sometimes={"super": 350}, hole=CARDS, decision_weights=decision_weights
    ),
    fees=("options",),
)
