"""The dealer's side of a game of 21: the hole card, his draw, and how hands compare.

665a.7(g) and 665a.7(l)-(o), and the standard game. The game decides what a wager is owed: nothing
is settled here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    HoleCardChecked,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    indexes,
)
from ledger.rules.blackjack.hands import (
    ANY_CARDS,
    TWO,
    BlackjackHand,
    called,
    doubtful,
    total_known,
)
from ledger.rules.blackjack.wagers import not_before
from ledger.rules.engine.steps import Step, said
from ledger.rules.hands.twenty_one import (
    VALUE,
    Total,
    is_blackjack_if_known,
    total_if_known,
)
from ledger.values import UNKNOWN_CARD, dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.table import Table

    _Chips = WagerPlaced | WagerPaid | WagerReturned
    Compared = Literal[
        "dealer blackjack",
        "both blackjack",
        "blackjack",
        "both bust",
        "bust",
        "dealer bust",
        "higher",
        "lower",
        "tie",
    ]
    """The result of a hand against the dealer's. One in excess of 21 is `bust` if his is not known.
    """

CHECKED = (1, 10)
"""Values of a first card with which the dealer may have a Blackjack: the hole card is read."""

CHIP = 500
"""Cents of the smallest chip in play, if no breakage unit is filed."""


class Peek(NamedTuple):
    """Insurance and the reading of the hole card, with their paragraphs."""

    table: Paytable
    base: str  # the wager that is insured
    offered: str
    most: str  # the paragraph of its amount and its closing
    lost: str
    read: str


class Dealer(NamedTuple):
    """The dealer's result; a part is None if a card is not known."""

    total: Total | None
    blackjack: bool | None


def dealers(t: Table) -> list[str]:
    """The dealer's cards."""
    return t.cards.setdefault(("dealer", None, 1), [])


def up_card(t: Table, section: str) -> Fact | None:
    """Deal the dealer's first card, face up: its fact."""
    since = len(t.taken)
    t.deal("dealer", 1, section, face="up")
    return t.taken[since][1] if len(t.taken) > since else None


def up_value(t: Table) -> int | None:
    """The value of the dealer's first card, an ace 1; None if it is not known."""
    return VALUE.get(dealers(t)[0]) if dealers(t) and not doubtful(t) else None


def peek(t: Table, seats: Sequence[int], by: Peek) -> bool:
    """Play Insurance on an ace and the reading on an ace or a 10: whether he has a Blackjack.

    A reading also shows that an unknown first card is an ace or a 10. The hole card as seen, then
    or later, rules. Insurance stays open if neither is on record.
    """
    value, read = up_value(t), t.source.untaken("hole_card_checked")
    told = [said(fact, WagerPlaced).wager for fact in t.source.untaken("wager_placed")]
    placed = t.wagers(("insurance",), by.offered) if value == 1 or "insurance" in told else []
    if placed:
        not_before(t, placed, _last_dealt(t), by.offered)
    found = None
    if (value in CHECKED and not called(t, "card_reader_failed")) or (value is None and read):
        since = len(t.taken)
        found = _hole_read(t, by.read)
        if len(t.taken) > since:
            _closed(t, placed, t.taken[since][1], by)
    elif value in CHECKED:
        found = _as_seen(t)
    if found:
        t.hole_read = True
        turn_hole(t, by.read)
        read_as(t, by.read, found=True)
    seen = _as_seen(t)
    for seat in [seat for seat in t.positions() if (seat, "insurance", 1) in t.stakes]:
        _insured(t, seat, seats, by, won=found if seen is None else seen)
    return bool(found) and seen is not False


def _last_dealt(t: Table) -> Fact | None:
    """The last card of the deal, after which Insurance is offered."""
    last: Fact | None = None
    for step, fact in t.asked:
        if step.fact == "cards_dealt" and (last is None or t.source.later_than(fact, last)):
            last = fact
    return last


def _closed(t: Table, placed: Sequence[Fact], read: Fact, by: Peek) -> None:
    """Close Insurance with the reading of the hole card. A late one that went back is none.

    A late one that the dealer kept stands. So does one that he paid and then gave back whole.
    """
    for seat in sorted({seat for seat, _ in t.close(placed, read, by.most)}):
        chips = [fact for fact in placed if t.source.later_than(fact, read)]
        late = _cents(chips, WagerPlaced, seat)
        back = _cents(t.source.untaken("wager_returned"), WagerReturned, seat)
        stake = t.stake(seat, "insurance")
        if back >= stake and _cents(t.source.untaken("wager_paid"), WagerPaid, seat):
            continue
        if min(late, back):
            t.stakes[seat, "insurance", 1] = min(late, back)
            t.give_back(seat, "insurance", by.most)
            if stake > min(late, back):
                t.stakes[seat, "insurance", 1] = stake - min(late, back)


def _cents(facts: Sequence[Fact], kind: type[_Chips], seat: int) -> int:
    """Cents of a position's Insurance Wager that these facts move."""
    told = [fact.body for fact in facts if isinstance(fact.body, kind)]
    return sum(body.amount for body in told if (body.position, body.wager) == (seat, "insurance"))


def _insured(t: Table, seat: int, seats: Sequence[int], by: Peek, *, won: bool | None) -> None:
    """Judge an Insurance Wager: at most half of the wager it insures, or the next chip above."""
    if up_value(t) not in (1, None) or seat not in seats:
        why = "the dealer's first card is no ace" if seat in seats else "it insures no wager"
        t.not_permitted(seat, "insurance", why, by.offered)
        t.give_back(seat, "insurance", by.offered)
        return
    chip = t.rules.breakage_unit if t.rules.breakage_unit > 1 else CHIP
    insured = t.stake(seat, by.base)
    most = -(-insured // (2 * chip)) * chip
    if insured and t.stake(seat, "insurance") > most:
        t.not_permitted(seat, "insurance", f"{dollars(most)} is the most", by.most)
    t.settle(seat, "insurance", by.table, won, by.lost)


def read_as(t: Table, section: str, *, found: bool) -> None:
    """Let the hole card that is seen rule, and find a card reader's other reading."""
    seen = is_blackjack_if_known(dealers(t)[:TWO])
    if seen is None or seen == found or doubtful(t):
        return
    words = {True: "blackjack", False: "none"}
    says = f"The hole card was read as {words[found]}; as seen it is {words[seen]}"
    t.find(
        "card_mismatch",
        f"{says} ({t.rules.section(section)}).",
        section,
        expected=words[seen],
        recorded=words[found],
    )


def _hole_read(t: Table, section: str) -> bool | None:
    """Read the hole card: whether it gives a Blackjack. A later turn replaces a lost reading."""
    fact = t.take(Step("hole_card_checked", section))
    if fact is not None:
        return said(fact, HoleCardChecked).result == "blackjack"
    return _as_seen(t)


def _as_seen(t: Table) -> bool | None:
    """Whether the dealer has a Blackjack by the hole card as dealt, or as turned later.

    None if one of the two cards is not known, or a card of the round was lost.
    """
    cards = dealers(t)[:TWO]
    for turned in t.source.untaken("cards_turned"):
        body = said(turned, CardsTurned)
        if body.to == "dealer" and 1 in indexes(body):
            shown = body.cards[indexes(body).index(1)]
            cards = [*cards[:1], *([shown] if shown != UNKNOWN_CARD else cards[1:])]
    return None if doubtful(t) else is_blackjack_if_known(cards)


def turn_hole(t: Table, section: str, *, due: bool = True) -> bool:
    """Turn the hole card up. If no wager depends on it, it may stay down."""
    told = [said(each, CardsTurned).to for each in t.source.untaken("cards_turned")]
    if due or "dealer" in told:
        t.turn("dealer", (1,), section)
        return True
    return t.expect(Step("cards_turned", section, "dealer", at=(1,))) is not None


def draw_out(
    t: Table,
    section: str,
    draws: Callable[[Total], bool],
    *,
    most: int = ANY_CARDS,
    due: bool,
) -> None:
    """Let the dealer draw while he must, to `most` cards; if cards are lost, as recorded.

    If no wager depends on it (`due` is false), he need not.
    """
    cards = dealers(t)
    while len(cards) < most:
        total = total_known(t, cards)
        if total is None and not any(
            said(fact, CardsDealt).to == "dealer" for fact in t.source.untaken("cards_dealt")
        ):
            return
        if total is not None and not draws(total):
            return
        step = Step("cards_dealt", section, "dealer", cards=1, face="up")
        fact = t.take(step) if due else t.expect(step)
        if fact is None:
            if due:
                cards.append(UNKNOWN_CARD)
            return
        t.hold(cards, fact)


def drawn_over(t: Table, draws: Callable[[Total], bool], section: str) -> None:
    """Find cards that the dealer drew though he had to stand. They go to the rack, if called.

    They are kept apart from the deal, and found because no step asks for them.
    """
    cards = dealers(t)
    stand = len(cards)
    for count in range(TWO, len(cards)):
        total = total_known(t, cards[:count])
        if total is not None and not draws(total):
            stand = count
            break
    over, cards[stand:] = cards[stand:], []
    if called(t, "dealer_overdrew"):
        while t.source.take(Step("cards_dealt", section, "dealer")):
            pass
    elif over:
        says = f"The dealer drew {', '.join(over)} though he had to stand"
        t.find("misdeal", f"{says} ({t.rules.section(section)}).", section, recorded=" ".join(over))


def dealer_has(t: Table, *, blackjack: bool = False) -> Dealer:
    """The dealer's final result. The card reader gives `blackjack` if a card is unknown."""
    cards = dealers(t)
    natural = is_blackjack_if_known(cards)
    return Dealer(total_known(t, cards), blackjack or None if natural is None else natural)


def compare(t: Table, hand: BlackjackHand, dealer: Dealer) -> Compared | None:
    """The result of a hand against the dealer's; None if a card that matters is not known."""
    cards = t.cards["player", hand.seat, hand.number]
    if doubtful(t):
        return None
    natural = False if hand.split else is_blackjack_if_known(cards)
    total = total_if_known(cards)
    if total is None or natural is None:
        return None
    if dealer.blackjack:
        return "both blackjack" if natural else "dealer blackjack"
    if natural:
        return "blackjack"
    return _totals(total, dealer.total)


def _totals(mine: Total, his: Total | None) -> Compared | None:
    """The result by totals if nobody has a Blackjack."""
    if mine.bust:
        return "both bust" if his is not None and his.bust else "bust"
    if his is None:
        return None
    if his.bust:
        return "dealer bust"
    ahead = mine.points - his.points
    return "higher" if ahead > 0 else "lower" if ahead < 0 else "tie"
