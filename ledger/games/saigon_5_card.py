"""Saigon 5 Card, 58 Pa. Code Chapter 680a: three cards that qualify, and a count of the other two.

Sections: wagers (.7), play (.8-.11), payouts (.12), irregularities (.13). The values of cards
(6(a)(1)-(4), 6(b)(1)-(2)) are `ledger.rules.hands.points`, the Bonus hands (6(c)(1)-(10))
`ledger.rules.hands.joker`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.game import (
    Dealing,
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
from ledger.rules.hands import points
from ledger.rules.hands.cards import DECK, JOKER
from ledger.rules.hands.joker import (
    FIVE_ACES,
    ROYAL_WITH_JOKER,
    ROYAL_WITHOUT_JOKER,
    saigon_bonus_if_known,
)
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    TWO_PAIR,
    is_a,
)
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.table import Table

    Hands = Mapping[str, Sequence[str]]

FIVE = 5
ANTE = paytable("ante", "12(a)", [row("Point Count of 1-4 or 6-10", lambda n: n != FIVE, "1 to 1")])
ANTE_OF_5 = paytable("ante", "12(b)", [row("Point Count of 5", lambda n: n == FIVE, "1 to 2")])
BONUS = paytable(
    "bonus",
    "12(c)",
    [
        row("Five aces", is_a(FIVE_ACES), "5000 to 1"),
        row("Royal flush—no joker", is_a(ROYAL_WITHOUT_JOKER), "1000 to 1"),
        row("Royal flush—with a joker", is_a(ROYAL_WITH_JOKER), "250 to 1"),
        row("Straight flush", is_a(STRAIGHT_FLUSH), "100 to 1"),
        row("Four-of-a-kind", is_a(FOUR_OF_A_KIND), "50 to 1"),
        row("Full house", is_a(FULL_HOUSE), "20 to 1"),
        row("Flush", is_a(FLUSH), "15 to 1"),
        row("Straight", is_a(STRAIGHT), "12 to 1"),
        row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "10 to 1"),
        row("Two pair", is_a(TWO_PAIR), "8 to 1"),
    ],
    "A",
)
DEALER_JOKER = Reading(
    "dealer_joker",
    ("best_for_dealer", "worst_for_dealer"),
    "11(c)(1)",
    "The section does not say who picks the value of the dealer's joker, nor which three of his "
    "cards qualify if several do. The choice gives him the highest Point Count, or the lowest.",
)
POT_QUALIFIES = Reading(
    "pot_requires_qualifying",
    (False, True),
    "11(f)",
    "Whether a hand that does not qualify competes for the pot: by the text all two-card hands do. "
    "`true` lets only those compete that qualify, unless none does.",
)
MISSET = Reading(
    "misset",
    ("reset", "as_set"),
    "11(b)(1)",
    "A hand that holds three cards that qualify, set otherwise: the section says how it shall be "
    "set. `reset` sets it so, with the highest Point Count; `as_set` takes it as not qualifying.",
)
ODD_CHIP = Reading(
    "odd_chip",
    ("first_left_of_button",),
    "11(f)",
    "Who gets the chips of a split pot that cannot be split: there is no button, so the winner who "
    "was dealt to first.",
)

CARDS, HANDS = 5, {"qualifying": 3, "showdown": 2}
MANUAL_SHOE = Dealing(announced="8(b)", dealt="8(c)", stub="8(g)", passes=(1, 2, 3, 4, 5))
DEALING = {
    "hand": MANUAL_SHOE._replace(announced="9(a)(3)", dealt="9(b)", stub="9(f)"),
    "automated_shoe": Dealing("10(a)(2)", "10(b)", "10(f)", (5,)),
}


# A round asks for the same few hands many times: by reading, for the Ante and for the pot.
_settings = lru_cache(points.saigon_settings_if_known)
_dealers = lru_cache(points.dealer_count_if_known)


class CountedHand(NamedTuple):
    """A player's hand as it is compared."""

    qualifies: bool
    points: int  # value of his two-card showdown hand


def play(t: Table) -> None:
    """One round, from the Antes to the pot."""
    opening = t.wagers(("ante", "pot", "bonus"), "7(c)")
    t.awaits(("ante",), "7(d)(1)")
    dealing = DEALING.get(t.dealt_from or "", MANUAL_SHOE)
    late = t.close(opening, t.announce("no_more_bets_called", dealing.announced), "7(c)")
    seats = _dealt_in(t, opening, late)
    for count in dealing.passes:
        for seat in seats:
            t.deal("player", count, dealing.dealt, seat)
        t.deal("dealer", count, dealing.dealt)
    due: dict[tuple[str, int | None], int] = {("player", seat): CARDS for seat in seats}
    t.counted({**due, ("dealer", None): CARDS}, "13(c)")
    t.stub(len(GAME.deck), dealing.stub)
    hands = _set(t, seats)
    live = [seat for seat in seats if hands[seat] or not t.left_table(seat)]
    for seat in seats:
        if seat not in live:
            t.forfeit(seat, "7(b)")
    if not live:
        t.may_turn("dealer", range(CARDS), "11(c)")
        _dealer_sets(t, due=False)
        return
    t.turn("dealer", range(CARDS), "11(c)")
    _dealer_sets(t, due=True)
    left: dict[int, tuple[int, str]] = {}
    for seat in reversed(live):
        _settle(t, seat, hands[seat], left)
    _settle_pot(t, live, hands)


def _dealt_in(t: Table, opening: Sequence[Fact], late: set[tuple[int, str]]) -> list[int]:
    """The seats dealt in: Antes, some with other wagers (7(d)(1)-(3)). Late ones need a deal."""
    within_table(t, "2(a)")
    seats = []
    for seat in t.positions(dealt_to=True):
        if t.lost_before_deal(seat):
            t.presume(seat, ("ante",), "7(d)(1)")
        if (seat, "ante", 1) in t.stakes and ((seat, "ante") not in late or t.dealt_to(seat)):
            seats.append(seat)
            continue
        t.give_back(seat, "ante", "7(c)")
        for wager, section in (("pot", "7(d)(2)"), ("bonus", "7(d)(3)")):
            if t.stake(seat, wager):
                t.not_permitted(seat, wager, "it stands without an Ante", section)
                t.give_back(seat, wager, section)
    if t.rules.options["adjacent_boxes"]:
        t.two_adjacent(seats, "ante", "7(e)")
    else:
        t.one_position_each(seats, "ante", "7(e)")
    _pots_equal(t, seats, opening, late)
    return seats


def _pots_equal(
    t: Table, seats: Sequence[int], opening: Sequence[Fact], late: set[tuple[int, str]]
) -> None:
    """Hold Pot Wagers of several players to the table minimum, or else to one another (7(d)(2))."""
    pots = {seat: t.stake(seat, "pot") for seat in seats if t.stake(seat, "pot")}
    if t.posted is None:
        for seat, cents in pots.items():
            if cents > min(pots.values()):
                t.not_permitted(seat, "pot", "it is larger than another's", "7(d)(2)")
        return
    late_pots = [seat for seat, wager in late if wager == "pot"]
    for seat in pots if len(seats) > 1 else ():
        if seat not in late_pots:
            t.within_posted(seat, "pot", "7(d)(2)", None, opening)


def _set(t: Table, seats: Sequence[int]) -> dict[int, Hands | None]:
    """Each player's setting (11(b)(1)-(2)). Settings have no order."""
    hands: dict[int, Hands | None] = {}
    for seat in t.as_told("hand_set", seats):
        if t.left_table(seat) and not t.source.plays_on(seat):
            hands[seat] = None
            continue
        ways = partial(_ways, t.cards["player", seat, 1])
        hands[seat] = t.set_hand("player", HANDS, "11(b)", seat, ways=ways)
    return hands


def _ways(cards: Sequence[str], _: str) -> list[dict[str, Hands]]:
    """The settings of five cards, for a simulation."""
    found = points.saigon_settings_if_known(cards) or ()
    pairs = [(one.three, one.showdown) for one in found] or [(tuple(cards[:3]), tuple(cards[3:]))]
    return [{"hands": {"qualifying": three, "showdown": two}} for three, two in pairs]


def _dealer_sets(t: Table, *, due: bool) -> None:
    """Take the dealer's setting; the value of his cards counts.

    A hand that qualifies must be set so: 11(c)(1). Any other is set in any way, or not at all:
    11(c)(2). If no player is left (`due` is false), he need not set one.
    """
    reading = t.rules.readings[DEALER_JOKER.name]
    count = _dealer_count(t, reading)
    right = [{"hands": {"qualifying": s.three, "showdown": s.showdown}} for s in _right(t, count)]
    section = "11(c)(1)" if count else "11(c)"
    hands = t.set_hand("dealer", HANDS, section, ways=lambda _: right, must=due and bool(count))
    count = _dealer_count(t, reading)  # a card that the shoe did not read is seen in the setting
    shown = set(hands["showdown"]) if hands else set()
    if hands and count and all(set(s.showdown) != shown for s in _right(t, count)):
        says = f"The dealer's hand counts {count} by the reading in force, but was set otherwise."
        t.find("hand_misset", says, "11(c)(1)", expected=str(count))


def _right(t: Table, count: int | None) -> Sequence[points.SaigonSet]:
    """The settings that give the dealer's cards this count; none if they do not qualify."""
    if not count:
        return ()
    cards = t.cards["dealer", None, 1][:CARDS]
    return [setting for setting in points.saigon_settings(cards) if count in setting.counts]


def _dealer_count(t: Table, reading: object) -> int | None:
    """The dealer's Point Count, 0 if he does not qualify; None if a card is not known."""
    return _dealers(tuple(t.cards["dealer", None, 1][:CARDS]), str(reading))


def _counted(cards: Sequence[str], hands: Hands | None, misset: object) -> CountedHand | None:
    """A player's hand as set, or as it should have been; None if a card is not known."""
    settings = _settings(tuple(cards))
    if settings is None:
        return None
    possible = {count for one in settings for count in one.counts}
    if hands is None:
        return None if len(possible) > 1 else CountedHand(bool(possible), max(possible, default=0))
    as_set = points.three_qualify_if_known(hands["qualifying"])
    counts = points.point_counts_if_known(hands["showdown"])
    if as_set is None or counts is None:
        return None
    if possible and not as_set and misset == "reset":
        return CountedHand(qualifies=True, points=max(possible))
    return CountedHand(as_set, counts[0])


# A count of 5 is paid by 11(d)(1)(ii)(B), any other by 11(d)(1)(ii)(A).
def _compared(mine: CountedHand, dealer: int) -> tuple[Paytable | None, str]:
    """The row and paragraph of an Ante. Without a row, it is lost or goes back."""
    table = ANTE_OF_5 if mine.points == FIVE else ANTE
    if not dealer:
        return (table, "11(d)(1)(ii)") if mine.qualifies else (None, "11(d)(1)(i)")
    if not mine.qualifies:
        return None, "11(d)(2)(i)"
    if mine.points == dealer:
        return None, "11(d)(2)(ii)(C)"
    return (table, "11(d)(2)(ii)(B)") if mine.points > dealer else (None, "11(d)(2)(ii)(A)")


PUSHED = ("11(d)(1)(i)", "11(d)(2)(ii)(C)")


def _settle(t: Table, seat: int, hands: Hands | None, left: dict[int, tuple[int, str]]) -> None:
    """Settle a player's Ante against the dealer's hand, then his Bonus (11(d), 11(e)(1)-(2)).

    `left`: cents that the limit of 12(d) leaves each player to win on his Antes.
    """
    cards = t.cards["player", seat, 1]
    three = hands["qualifying"] if hands else cards[:3]
    t.turn("player", _places(cards, three), "11(d)", seat, must=False)
    result = _result(t, cards, hands, t.rules.readings)
    if result is None:
        t.settle(seat, "ante", ANTE, None, "11(d)(2)(i)")
    else:
        mine, table, section = result
        if mine.qualifies:
            t.turn("player", range(CARDS), section, seat, must=False)
        if hands and _settings(tuple(cards)) and not points.three_qualify(three):
            says = f"Position {seat} holds three cards that qualify, but did not set them."
            t.find("hand_misset", says, "11(b)(1)", position=seat)
        readings = _by_reading(t, cards, hands)
        owner = (t.source.seat_of(seat) or (seat,))[0]
        t.limit(seat, "12(d)")
        if seat in t.most:
            t.most[seat] = left.get(owner, t.most[seat])
        if table:
            t.settle(seat, "ante", table, mine.points, section, readings=readings)
        elif section in PUSHED:
            t.push(seat, "ante", section, readings=readings)
        else:
            t.collect(seat, "ante", section, readings=readings)
        if seat in t.most:
            left[owner] = t.most.pop(seat)
    t.settle(seat, "bonus", BONUS, saigon_bonus_if_known(cards), "11(e)(1)")
    t.discard("11(g)", "player", seat)


def _places(cards: Sequence[str], some: Sequence[str]) -> list[int]:
    """The places of these cards in dealing order."""
    return [place for place, card in enumerate(cards) if card in some]


def _result(
    t: Table, cards: Sequence[str], hands: Hands | None, chosen: Mapping[str, object]
) -> tuple[CountedHand, Paytable | None, str] | None:
    """A player's hand against the dealer's under these readings; None: a card is not known."""
    mine = _counted(cards, hands, chosen[MISSET.name])
    dealer = _dealer_count(t, chosen[DEALER_JOKER.name])
    return None if mine is None or dealer is None else (mine, *_compared(mine, dealer))


def _by_reading(t: Table, cards: Sequence[str], hands: Hands | None) -> list[str]:
    """The readings that change how the Ante is settled."""
    found = []
    for reading in (DEALER_JOKER, MISSET):
        under = [{**t.rules.readings, reading.name: value} for value in reading.values]
        results = [_result(t, cards, hands, chosen) for chosen in under]
        if len({result and result[2] for result in results}) > 1:
            found.append(reading.name)
    return found


def _settle_pot(t: Table, live: Sequence[int], hands: Mapping[int, Hands | None]) -> None:
    """Award the pot to the highest two-card hand, split evenly between equal ones (11(f))."""
    staked = {seat: t.stake(seat, "pot") for seat, _ in t.betting("pot")}
    counts = {
        seat: _counted(t.cards["player", seat, 1], hands[seat], t.rules.readings[MISSET.name])
        for seat in live
        if seat in staked
    }
    if not counts or None in counts.values():
        return
    known = {seat: count for seat, count in counts.items() if count}
    by = {value: _winners(known, qualifying=bool(value)) for value in POT_QUALIFIES.values}
    winners = by[t.rules.readings[POT_QUALIFIES.name]]
    reading = POT_QUALIFIES.name if by[True] != by[False] else None
    shares = _split(sum(staked.values()), len(winners), t.rules.breakage_unit)
    reading = reading or (ODD_CHIP.name if len(set(shares)) > 1 else None)
    won = dict(zip(winners, shares, strict=True))
    for seat in winners:
        t.award(seat, won[seat], "11(f)")
    for seat, cents in staked.items():
        t.share_of_pots(seat, cents, won.get(seat, 0), "11(f)", reading=reading)


def _winners(counts: Mapping[int, CountedHand], *, qualifying: bool) -> list[int]:
    """The highest two-card hands, of all or of those that qualify, if one does."""
    able = {seat: mine.points for seat, mine in counts.items() if mine.qualifies or not qualifying}
    able = able or {seat: mine.points for seat, mine in counts.items()}
    return [seat for seat, count in able.items() if count == max(able.values())]


def _split(total: int, ways: int, unit: int) -> list[int]:
    """Even shares in whole chips. The first gets what cannot be split."""
    share = total // ways // unit * unit
    return [total - share * (ways - 1), *[share] * (ways - 1)]


GAME = Game(
    id="saigon_5_card",
    title="Saigon 5 Card",
    editions=(Edition("680a", "codified", "2016-12-10", None, "46 Pa.B. 7661, 49 Pa.B. 6676"),),
    play=play,
    positions=6,
    deck=frozenset((*DECK, JOKER)),
    wagers=(
        Wager("ante", "Ante Wager", "7(d)(1)"),
        Wager("pot", "Pot Wager", "7(d)(2)", optional=True),
        Wager("bonus", "Bonus Wager", "7(d)(3)", optional=True),
    ),
    paytables=(ANTE, ANTE_OF_5, BONUS),
    readings=(DEALER_JOKER, POT_QUALIFIES, MISSET, ODD_CHIP),
    limits={"payout_per_player_round": 5_000_000},
    options=(
        Option(
            "adjacent_boxes",
            (True, False),
            "7(e)",
            "`true`: a player may wager on two adjacent boxes. `false`: on one.",
        ),
    ),
    irregularities={
        **common_card_rules.irregularities("13(a)", "13(b)", "13(c)", "13(d)", "13(e)"),
        "card_missing": Irregularity(
            "8(g)",
            void=True,
            says="void, wagers back; the deck is removed unless it was a misdeal",
            by_dealing={"hand": "9(f)", "automated_shoe": "10(f)"},
        ),
    },
    procedures=common_card_rules.CARE._replace(
        stub={"manual_shoe": "8(e)", "hand": "9(d)", "automated_shoe": "10(d)"},
        device_covered="13(f)",
        deck_cards=53,
    ),
    not_modelled={
        **common_card_rules.NOT_MODELLED,
        **dict.fromkeys(
            ("8(d)", "8(f)", "9(c)", "9(e)", "10(c)", "10(e)"), "on camera, not in the feed"
        ),
        "11(a)": "on camera, not in the feed",
    },
    player_model=PlayerModel(
        always=("ante",),
        sometimes={"pot": 700, "bonus": 350},
        chips={"pot": 1000},  # the minimum of a simulated table
        hole=CARDS,
    ),
)
