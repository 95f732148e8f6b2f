"""Asia Poker, 58 Pa. Code Chapter 659a: seven cards, a joker among them, set into three hands.

The rankings of 6(a), 6(b)(1)-(9) and 6(c) are `ledger.rules.hands.asia`. Those of the Bonus Wager,
6(d), are `ledger.rules.hands.joker`. Every position gets cards, with or without a wager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import HandSet, IrregularityCalled
from ledger.rules.engine.first_card import BUTTON, PLACES, SHAKER, deal_to_all
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
from ledger.rules.engine.refused_wagers import back_if_late, only_late, within_table
from ledger.rules.engine.steps import Step, said
from ledger.rules.hands.asia import (
    Ranking,
    hands_higher,
    highest_high,
    rightly_set,
    settings,
    three_if_known,
)
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.joker import (
    EIGHTS_AND_TRIPS,
    EIGHTS_AND_TRIPS_WITH_JOKER,
    FIVE_ACES,
    JOKER,
    NATURAL_STRAIGHT_FLUSH,
    NINE_HIGH,
    STRAIGHT_FLUSH_WITH_JOKER,
    asia_bonus_if_known,
)
from ledger.rules.hands.poker import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    ROYAL_FLUSH,
    STRAIGHT,
    THREE_OF_A_KIND,
    is_a,
)
from ledger.rules.procedures import common_card_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.steps import Ways
    from ledger.rules.engine.table import Table

    Cards = Mapping[str, Sequence[str]] | None  # by the hand they are set into

# Two hands of three win (11(f)(2)). A copy is not higher (11(f)(1)(i)-(ii)).
ASIA_POKER = paytable(
    "asia_poker", "12(a)", [row("Asia Poker Wager", lambda higher: higher > 1, "1 to 1")]
)


def _bonus(letter: str, natural: str, fours: str) -> Paytable:
    """A bonus table; the tables differ in two rows. 6(d)(1)-(11) give the hands by their odds."""
    eights = "Three-of-a-kind and four 8s"
    reading = "trips_and_888_joker"
    with_joker = is_a(EIGHTS_AND_TRIPS_WITH_JOKER)
    return paytable(
        "bonus",
        "12(b)",
        [
            row(eights, is_a(EIGHTS_AND_TRIPS), "5000 to 1"),
            row(eights, with_joker, "5000 to 1", (reading, "allowed")),
            row("Five aces", is_a(FIVE_ACES), "800 to 1"),
            row("Royal flush", is_a(ROYAL_FLUSH), "200 to 1"),
            row("Natural straight flush", is_a(NATURAL_STRAIGHT_FLUSH), natural),
            row("Straight flush with a joker", is_a(STRAIGHT_FLUSH_WITH_JOKER), "40 to 1"),
            row("Four-of-a-kind", is_a(FOUR_OF_A_KIND), fours),
            row("Four-of-a-kind", with_joker, fours, (reading, "not_allowed")),
            row("9-high", is_a(NINE_HIGH), "10 to 1"),
            row("Full house", is_a(FULL_HOUSE), "5 to 1"),
            row("Flush", is_a(FLUSH), "4 to 1"),
            row("Three-of-a-kind", is_a(THREE_OF_A_KIND), "3 to 1"),
            row("Straight", is_a(STRAIGHT), "2 to 1"),
        ],
        letter,
    )


BONUS = (
    _bonus("A", "80 to 1", "30 to 1"),
    _bonus("B", "50 to 1", "30 to 1"),
    _bonus("C", "50 to 1", "25 to 1"),
)

CARDS = 7
ALL, SINGLY = tuple(range(CARDS)), tuple(range(1, CARDS + 1))
MANUAL_SHOE = Dealing(announced="8(b)", dealt="8(c)", stub="8(e)", passes=SINGLY)
DEALING = {
    "hand": Dealing("9(a)(3)", "9(b)", "9(d)", SINGLY),
    "automated_shoe": Dealing("10(a)(2)", "10(b)", "10(d)", (CARDS,)),
}
COLLECTED = {"hand": "9(e)", "automated_shoe": "10(e)"}  # stacks without a wager; else 8(f)
HANDS = {"high": 4, "medium": 2, "low": 1}


def play(t: Table) -> None:
    """One round, from the Asia Poker Wager to the last hand in the discard rack."""
    opening = t.wagers(("asia_poker", "bonus"), "7(d)")
    t.awaits(("asia_poker",), "7(d)")
    dealing = DEALING.get(str(t.dealt_from), MANUAL_SHOE)
    closed = t.announce("no_more_bets_called", dealing.announced)
    t.close(opening, closed, "7(c)")
    seats = _betting(t, only_late(t, opening, closed))
    deal_to_all(t, dealing, seats, CARDS)
    t.unexposed("dealer", "13(j)")
    t.stub(len(DECK) + 1, dealing.stub)
    for seat in sorted({*range(1, PLACES)}.difference(seats)):
        t.discard(COLLECTED.get(str(t.dealt_from), "8(f)"), "player", seat)
    since = len(t.taken)
    live = _void_exposed(t, seats)
    hands = _set_hands(t, live)
    if live != seats:  # a player voids his hand before or after another sets his own
        t.any_order(since)
    dealer = _dealer(t, compared=bool(hands))
    gone = {seat for seat in _announced(t) if seat in hands and _surrenders(t, seat)}
    for seat in reversed(seats):
        if seat in hands and seat not in gone and not _surrenders(t, seat):
            _settle(t, seat, hands[seat], dealer)


def _betting(t: Table, late: set[tuple[int, str]]) -> list[int]:
    """Players with an Asia Poker Wager, and their Bonus Wagers beside it (7(d)-(f))."""
    within_table(t, "2(a)")
    back_if_late(t, late, "asia_poker", "7(c)")
    for fact in t.source.untaken("hand_set") if t.source.may_be_lost else ():
        seat = said(fact, HandSet).position
        if seat and seat < PLACES:
            t.presume(seat, ("asia_poker",), "7(d)")
    seats = [seat for seat, _ in t.betting("asia_poker")]
    why = "there is no Asia Poker Wager at the same position"
    for seat, _ in list(t.betting("bonus")):
        if seat not in seats:
            t.not_permitted(seat, "bonus", why, "7(e)")
            t.give_back(seat, "bonus", "7(e)")
    if not t.rules.options["adjacent_boxes"]:
        t.one_position_each(seats, "asia_poker", "7(f)")
    return seats


def _void_exposed(t: Table, seats: list[int]) -> list[int]:
    """Let a player with an exposed card void his hand before he looks at the others (13(d))."""
    exposed: set[int | None] = {seat for seat in seats if t.exposed.get(("player", seat, 1))}
    for fact in t.source.untaken("irregularity_called"):
        body = said(fact, IrregularityCalled)
        if body.kind == "player_card_exposed":
            exposed.add(body.position)
    live = []
    for seat in seats:
        if seat in exposed and t.decide(seat, ("void_hand",), "13(d)", may=True):
            for wager in ("asia_poker", "bonus"):
                t.give_back(seat, wager, "13(d)")
            t.discard("13(d)", "player", seat)
        else:
            live.append(seat)
    return live


def _set_hands(t: Table, seats: list[int]) -> dict[int, Cards]:
    """Each player's three hands. For two hands of one player the order matters (7(f))."""
    hands: dict[int, Cards] = {}
    told = {said(fact, HandSet).position for fact in t.source.untaken("hand_set")}
    for seat in t.in_order_set(seats, "asia_poker", "7(f)"):
        if t.left_table(seat) and seat not in told:
            t.forfeit(seat, "7(b)")
        else:
            ways = _ways(t, t.cards["player", seat, 1])
            hands[seat] = t.set_hand("player", HANDS, "11(b)", seat, ways=ways)
    return hands


def _how(t: Table, in_flush: object = None) -> Ranking:
    """The ranking of hands: A-2-3-4 by the option, the joker in a flush by the reading."""
    of_joker = in_flush or t.rules.readings["joker_in_flush"]
    return Ranking(str(t.rules.options["ace_low_straight"]), str(of_joker))


def _ways(t: Table, cards: Sequence[str]) -> Ways:
    """The settings open to a player, for a simulation."""
    return lambda _: [{"hands": hands} for _, hands in settings(cards, _how(t))]


def _dealer(t: Table, *, compared: bool) -> Cards:
    """The dealer's hands, by the Rules Submission or as he set them last (11(c), 13(i)).

    If no hand is left to compare, he may still turn and set his own.
    """
    if compared:
        t.turn("dealer", ALL, "11(c)")
    else:
        t.may_turn("dealer", ALL, "11(c)")
    cards = t.cards["dealer", None, 1]
    hands = t.set_hand(
        "dealer",
        HANDS,
        "11(c)",
        ways=lambda _: [{"hands": highest_high(cards, _how(t))[1]}],
        must=compared,
    )
    told = three_if_known(hands, _how(t))
    if told is None:
        return hands
    if t.rules.options["house_way"] == "highest_high" and t.rules.game.deck.issuperset(cards):
        due, due_hands = highest_high(cards, _how(t))
        if told != due:
            _misset(t, None, "13(i)", "as the Rules Submission has it", due_hands)
        return due_hands
    if not rightly_set(*told):
        _misset(t, None, "13(i)", "from high to low", None)
    return hands


def _misset(t: Table, seat: int | None, section: str, due: str, hands: Cards) -> None:
    """Find hands that were not set as the section, or the holder, requires."""
    who = f"Position {seat}" if seat else "The dealer"
    says = f"{who} did not set the hands {due} ({t.rules.section(section)})."
    facts = [fact for step, fact in t.taken if (step.fact, step.position) == ("hand_set", seat)]
    expected = "; ".join(" ".join(each) for each in hands.values()) if hands else None
    t.find("hand_misset", says, section, facts=facts, position=seat, expected=expected)


def _announced(t: Table) -> list[int]:
    """Players who surrendered before any player's hands were revealed, in that order (11(d))."""
    told = t.source.untaken("decision_made", ("cards_turned",))
    return list(dict.fromkeys(fact.body.position for fact in told))  # type: ignore[attr-defined]  # decisions


def _surrenders(t: Table, seat: int) -> bool:
    """Whether a player surrenders his wager: before his hands are exposed, without a Bonus."""
    decided, turned = (
        [fact for fact in t.source.untaken(name) if fact.body.position == seat]  # type: ignore[attr-defined]  # of a player
        for name in ("decision_made", "cards_turned")
    )
    late = bool(decided and turned and t.source.later_than(decided[0], turned[0]))
    if late or (seat, "bonus", 1) in t.stakes:
        _not_permitted(t, seat, "his hands were exposed" if late else "he has a Bonus Wager")
        return False
    if t.decide(seat, ("surrender",), "11(d)", may=True) is None:
        return False
    t.collect(seat, "asia_poker", "11(d)")
    t.discard("11(d)", "player", seat)
    return True


def _not_permitted(t: Table, seat: int, why: str) -> None:
    """Find a surrender that the section does not allow. Play goes on."""
    step = Step("decision_made", "11(d)", None, seat, options=("surrender",), may=True)
    if t.source.untaken("decision_made") and (fact := t.source.take(step)):
        says = f"Position {seat} surrendered, though {why} ({t.rules.section('11(d)')})."
        t.find("decision_not_permitted", says, "11(d)", facts=(fact,), position=seat)


def _settle(t: Table, seat: int, hands: Cards, dealer: Cards) -> None:
    """Settle a player's three hands, then his Bonus Wager (11(e)-(g), 11(h)(2))."""
    t.turn("player", ALL, "11(e)", seat)
    t.limit(seat, "12(c)")
    fouled = _fouled(t, seat, hands)
    if fouled:
        t.collect(seat, "asia_poker", fouled)
    else:
        higher = hands_higher(three_if_known(hands, _how(t)), three_if_known(dealer, _how(t)))
        t.settle(
            seat, "asia_poker", ASIA_POKER, higher, "11(f)(1)(i)", readings=_named(t, hands, dealer)
        )
    table = t.rules.paytable("bonus", *BONUS)
    racked = "11(h)" if (seat, "bonus", 1) in t.stakes else "11(g)"
    t.settle(seat, "bonus", table, asia_bonus_if_known(t.cards["player", seat, 1]), "11(h)(1)")
    t.discard(racked, "player", seat)


def _fouled(t: Table, seat: int, hands: Cards) -> str | None:
    """The paragraph by which wrongly set hands lose, or None (11(f)(1)(iii)-(v))."""
    found = [finding for finding in t.findings if finding.position == seat]
    if hands is None:
        wrong = any(finding.code == "hand_misset" for finding in found)
        return "11(f)(1)(v)" if wrong else None
    three = three_if_known(hands, _how(t))
    if three is None or rightly_set(*three):
        return None
    lost = "11(f)(1)(iii)" if three.high <= three.medium else "11(f)(1)(iv)"
    _misset(t, seat, lost, "from high to low", None)
    return lost


def _named(t: Table, hands: Cards, dealer: Cards) -> tuple[str, ...]:
    """The reading that decides how the wager is settled."""
    jokers = [JOKER in each["high"] for each in (hands, dealer) if each]
    if not any(jokers):
        return ()
    ways = [_how(t, value) for value in IN_FLUSH.values]
    higher = [hands_higher(three_if_known(hands, way), three_if_known(dealer, way)) for way in ways]
    won = {each is not None and each > 1 for each in higher}
    return (IN_FLUSH.name,) if len(won) > 1 else ()


IN_FLUSH = Reading(
    "joker_in_flush",
    ("highest_absent", "ace"),
    "6(a)",
    "The joker completes a flush as any card. The text does not give its rank: the highest that "
    "the flush does not hold, or an ace.",
)

GAME = Game(
    id="asia_poker",
    title="Asia Poker",
    editions=(Edition("659a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
    play=play,
    positions=6,
    deck=frozenset((*DECK, JOKER)),
    wagers=(
        Wager("asia_poker", "Asia Poker Wager", "7(d)"),
        Wager("bonus", "Bonus Wager", "7(e)", optional=True),
    ),
    paytables=(ASIA_POKER, *BONUS),
    readings=(
        IN_FLUSH,
        Reading(
            "trips_and_888_joker",
            ("allowed", "not_allowed"),
            "6(d)(1)",
            "Whether the joker may be the third ace of a three-of-a-kind and four 8s, or the hand "
            "is a four-of-a-kind.",
        ),
    ),
    options=(
        Option(
            "ace_low_straight",
            ("as_printed", "lowest"),
            "6(b)(6)",
            "The rank of A-2-3-4: the second highest straight, and the highest straight flush "
            "below a royal flush (6(b)(3)); or the lowest of both.",
        ),
        Option(
            "house_way",
            ("as_recorded", "highest_high"),
            "11(c)",
            "The dealer's last setting; or the highest high, then the highest medium hand.",
        ),
        Option(
            "adjacent_boxes",
            (True, False),
            "7(f)",
            "`true`: a player may wager on two adjacent betting areas, the larger wager's hand set "
            "first, of equal ones counterclockwise. `false`: on one.",
        ),
    ),
    limits={"payout_per_player_round": 5_000_000},
    rotation=BUTTON,
    shaker=SHAKER,
    irregularities={
        **common_card_rules.irregularities("13(f)", "13(g)", "13(h)", "13(l)", "13(m)"),
        "dice_mistotalled": Irregularity(
            "13(c)", void=True, says="void if the first card goes to a wrong place", in_play=True
        ),
        "player_card_exposed": Irregularity("13(d)", void=False, says="its player may void it"),
        "dealer_card_exposed": Irregularity("13(e)", void=True, says=common_card_rules.VOID),
        "dealer_hand_misset": Irregularity(
            "13(i)", void=False, says="set again by the Rules Submission; the round is completed"
        ),
        "card_missing": Irregularity(
            "8(e)",
            void=True,
            says="void, wagers back; the deck is removed unless it was a misdeal",
            by_dealing={"hand": "9(d)", "automated_shoe": "10(d)"},
        ),
    },
    procedures=common_card_rules.CARE._replace(
        count_wrong=None,
        cut="5(c)",
        cut_due="5(b)(2)",
        stub={"manual_shoe": "8(d)", "hand": "9(c)", "automated_shoe": "10(c)"},
        stub_rounds=1,
        device_covered="13(n)",
        deck_cards=53,
        recut="5(d)",
    ),
    not_modelled={
        **common_card_rules.NOT_MODELLED,
        "2(e)": "equipment",
        **dict.fromkeys(("5(e)", "11(a)", "11(i)"), "on camera, not in the feed"),
    },
    player_model=PlayerModel(
        always=("asia_poker",),
        sometimes={"bonus": 350},
        coupon="asia_poker",
        hole=CARDS,
        decision_weights=lambda *_: {"surrender": 20, "void_hand": 500},
    ),
)
