"""Betting in Poker: the chips of a round, from the blinds to the last bet.

637a.19-21(b)-(h) are nearly the same word for word. Side pots follow only from what each player put
in (`pots.py`). The holder files the amounts of bets, so an amount that is not filed is not judged.
No hand is ranked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import CardsDealt, DecisionMade, StackCounted
from ledger.rules.engine.steps import POT, POT_DECISIONS, Step, Stop, said
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.rules.engine.table import Table

BET = "bet"
ANTE, BLIND, STRADDLE, KILL = "ante", "blind", "straddle", "kill"
OPENING = (ANTE, BLIND, STRADDLE, KILL)
CHOICES = ("check", "call", "bet", "raise", "fold")
SMALL_ROUNDS = 2
"""The betting rounds with the small bet, under fixed limits. The others have the big bet."""


class Cites(NamedTuple):
    """The paragraphs in which a section prints each part of a round."""

    players: str  # number of players, the Ante and the kill
    blinds: str
    straddle: str
    dealt: str
    first: str  # the first betting round
    rounds: tuple[str, str, str]  # the cards and the betting of each later round
    showdown: str


class PokerBetting:
    """One round's players, clockwise from the left of the button, and their chips put in."""

    def __init__(
        self, t: Table, cites: Cites, seats: Sequence[int], stacks: dict[int, int]
    ) -> None:
        self.t = t
        self.cites = cites
        self.seats = list(seats)
        self.live = list(seats)  # players who have not folded
        self.behind = stacks  # chips left, for players whose stack was counted
        self.posted: Mapping[tuple[int, str, int], int] = {}  # chips put in before the deal
        self.last = 0  # the player after whom the first betting round begins
        self.put_in = dict.fromkeys(seats, 0)
        self.bets = dict.fromkeys(seats, 0)  # chips put in during this betting round
        self.decided = dict.fromkeys(seats, 0)  # of those, chips beyond what was posted
        self.all_in: set[int] = set()
        self.folded: dict[int, str] = {}  # the paragraph of each
        self.lost: Step | None = None  # a decision is not on record, and facts were lost
        self.unsure = False  # a decision of some kind, by some player, is not on record
        self.ended = cites.first  # the paragraph of the latest betting round
        self.rounds = 0
        self.price = 0  # the price of staying in this betting round
        self.raises = 0

    @property
    def pot(self) -> int:
        """All chips put in, bets of this round too."""
        return sum(self.put_in.values())

    def put(self, seat: int, cents: int, *, live: bool = True) -> None:
        """Put chips in; an Ante buys no part of the bet."""
        self.put_in[seat] += cents
        self.bets[seat] += cents if live else 0
        self.price = max(self.price, self.bets[seat])
        self.t.stakes[seat, POT, 1] = self.put_in[seat]
        if seat in self.behind:
            self.behind[seat] -= cents
            if self.behind[seat] <= 0:
                self.all_in.add(seat)

    def fold(self, seat: int, section: str) -> None:
        """Give a hand up; what its player put in stays."""
        self.live.remove(seat)
        self.folded[seat] = section

    def after(self, seat: int) -> list[int]:
        """The players clockwise from the one after this, this one last."""
        place = self.seats.index(seat) + 1
        return [*self.seats[place:], *self.seats[:place]]

    @property
    def contested(self) -> bool:
        """Whether more than one hand is left."""
        return len(self.live) > 1


def opened(t: Table, cites: Cites) -> PokerBetting:
    """Take stacks, Antes and blinds: the betting with its players and its start."""
    stacks = _stacks(t, cites)
    placed = t.wagers(OPENING, cites.blinds)
    t.close(placed, t.source.first("cards_dealt"), cites.blinds)
    posted = {spot: cents or 0 for spot, cents in t.stakes.items()}
    seats = _seated(t, {seat for seat, _, _ in posted}, stacks)
    first = t.source.button
    if first is None:
        blinds = [fact.body for fact in placed if getattr(fact.body, "wager", "") == BLIND]
        first = next((blind.position - 1 for blind in blinds), 0)  # type: ignore[attr-defined]  # a wager
    ring = PokerBetting(t, cites, sorted(seats, key=lambda seat: (seat <= first, seat)), stacks)
    ring.posted = posted
    for (seat, wager, hand), cents in posted.items():
        del t.stakes[seat, wager, hand]
        ring.put(seat, cents, live=wager != ANTE)
    if not seats:
        t.next = Step("wager_placed", cites.blinds, "player", what=BLIND)
        raise Stop
    _players(ring)
    _straddles(ring)
    _amounts(ring)
    if not any(wager == BLIND for _, wager, _ in posted):
        t.next = Step("wager_placed", cites.blinds, "player", what=BLIND)
    ring.price = max(ring.price, *_blinds_filed(t))
    return ring


def _stacks(t: Table, cites: Cites) -> dict[int, int]:
    """Take the players' chips before the deal, if they were counted, in any order."""
    counted = {}
    told = [said(fact, StackCounted).position for fact in t.source.untaken("stack_counted")]
    for seat in told or range(1, t.rules.game.positions + 1):
        fact = t.source.take(Step("stack_counted", cites.players, None, seat))
        if fact:
            counted[seat] = said(fact, StackCounted).amount
    return counted


def _seated(t: Table, posting: set[int], stacks: Mapping[int, int]) -> set[int]:
    """The players: those who post, get cards or decide; before play also those with chips."""
    dealt = {said(fact, CardsDealt).position for fact in t.source.untaken("cards_dealt")}
    deciding = {said(fact, DecisionMade).position for fact in t.source.untaken("decision_made")}
    playing = posting | deciding | {seat for seat in dealt if seat}
    return playing if deciding else playing | set(stacks)


def _players(ring: PokerBetting) -> None:
    """Judge the number of players, and the blinds from the left of the button: (b), (d)."""
    t, cites, most = ring.t, ring.cites, ring.t.rules.game.positions
    for seat in ring.seats[most:]:
        t.not_permitted(seat, POT, f"{most} players may take part", cites.players)
    underway = not t.source.may_be_lost and t.source.untaken("cards_dealt")
    for seat in ring.seats[: int(t.rules.options["blinds"])] if underway else ():
        if (seat, BLIND, 1) not in ring.posted:
            says = f"Position {seat} posted no blind, though the cards were dealt"
            t.find(
                "step_missing",
                f"{says} ({t.rules.section(cites.blinds)}).",
                cites.blinds,
                position=seat,
                wager=BLIND,
                expected="wager_placed",
            )


def _straddles(ring: PokerBetting) -> None:
    """Judge one straddle, left of the blinds (e). The first betting starts after it."""
    ring.last = _last_blind(ring)
    due = ring.after(ring.last)[0]
    for seat, wager, _ in ring.posted:
        if wager == STRADDLE and seat == due:
            ring.last = seat
        elif wager == STRADDLE and not ring.t.source.may_be_lost:
            why = f"only position {due}, left of the blinds, may straddle, and once"
            ring.t.not_permitted(seat, STRADDLE, why, ring.cites.straddle)


def _last_blind(ring: PokerBetting) -> int:
    """The last player who had to post a blind.

    Between two players the button may post the smaller one. Then he acts first, after the larger
    one.
    """
    posting = [seat for seat in ring.seats if (seat, BLIND, 1) in ring.posted]
    if len(posting) == len(ring.seats) == 2:  # noqa: PLR2004 - heads up
        return max(posting, key=lambda seat: (ring.bets[seat], ring.seats.index(seat)))
    run = [seat for seat, due in zip(posting, ring.seats, strict=False) if seat == due]
    return run[-1] if run else posting[-1] if posting else ring.seats[-1]


def _blinds_filed(t: Table) -> list[int]:
    """The blinds required, in the order they are posted; 0 if nothing is filed."""
    return [t.rules.limits.get(f"blind_{number}") or 0 for number in (1, 2, 3)]


def _amounts(ring: PokerBetting) -> None:
    """Judge the posted amounts: those filed, or all that a player had."""
    cite_of = {BLIND: ring.cites.blinds, STRADDLE: ring.cites.straddle}
    blinds = [cents for cents in _blinds_filed(ring.t) if cents]
    for (seat, wager, _), cents in ring.posted.items():
        filed = ring.t.rules.limits.get(wager)
        due = blinds if wager == BLIND else [filed] if filed else []
        if due and cents not in due and seat not in ring.all_in:
            why = f"it is {dollars(cents)}, not {' or '.join(map(dollars, due))}"
            ring.t.not_permitted(seat, wager, why, cite_of.get(wager, ring.cites.players))


def first_round(ring: PokerBetting) -> None:
    """Bet on the first cards, from the left of the blinds or of the straddle (g).

    If facts were lost, a blind may be among them. Then the player who acts first on record was
    first.
    """
    spoke = ring.t.source.untaken("decision_made")[:1] if ring.t.source.may_be_lost else ()
    for seat in (said(fact, DecisionMade).position for fact in spoke):
        ring.last = ring.seats[ring.seats.index(seat) - 1]
    _bet(ring, ring.after(ring.last), ring.cites.first)


def next_round(ring: PokerBetting, section: str) -> None:
    """Bet in a later round, from the first player left of the button who has not folded."""
    ring.rounds += 1
    ring.price = ring.raises = 0
    ring.bets = dict.fromkeys(ring.seats, 0)
    ring.decided = dict.fromkeys(ring.seats, 0)
    _bet(ring, ring.seats, section)


def _bet(ring: PokerBetting, order: Sequence[int], section: str) -> None:
    """Let players respond in turn until nobody has to. A bet that nobody met goes back."""
    ring.ended = section
    waiting = list(order)
    while waiting and ring.contested:
        seat = waiting.pop(0)
        due = ring.price - ring.bets[seat]
        others = [other for other in ring.live if other not in ring.all_in and other != seat]
        if seat not in ring.live or seat in ring.all_in:
            continue
        if due <= 0 and not others:  # nobody could answer a bet: he may check, but need not
            if not _decides_later(ring):
                ring.t.decide(seat, ("check",), section, only=("check",), may=True)
            continue
        before = ring.price
        _respond(ring, seat, due, section, raises=bool(others))
        if ring.price > before:
            waiting = ring.after(seat)[:-1]
    _unmet(ring, section)


def _decides_later(ring: PokerBetting) -> bool:
    """Whether the next decision on record came after the next card, so is one of a later street."""
    source = ring.t.source
    decision, card = source.first("decision_made"), source.first("cards_dealt")
    return bool(decision and card and source.later_than(decision, card))


def _respond(ring: PokerBetting, seat: int, due: int, section: str, *, raises: bool) -> None:
    """Let one player fold, call, raise, check or bet."""
    behind = ring.behind.get(seat)
    more = raises and (behind is None or behind > due)
    higher = ("raise" if ring.price else "bet",) if more else ()
    options = (("call" if due > 0 else "check"), *higher, "fold")
    source = ring.t.source
    # If facts were lost, a decision that is not open now answers a later step.
    lost = source.may_be_lost and not source.ended
    body = ring.t.decide(
        seat,
        (*options, "bet", "raise") if lost else options,
        section,
        only=(*options, "bet", "raise") if lost else CHOICES,
        may=lost,
        ways=lambda decision: legal_amounts(ring, seat, due, decision),
    )
    if body is None:
        _unheard(ring, seat, section)
    elif body.decision == "fold":
        ring.fold(seat, section)
    elif body.decision != "check":
        _chips(ring, seat, due, body, section)


def _unheard(ring: PokerBetting, seat: int, section: str) -> None:
    """Note a decision that is not on record. The player stayed if he acts later."""
    source = ring.t.source
    ring.unsure = source.may_be_lost
    later = ("decision_made", "hand_shown", "hand_mucked", "pot_awarded")
    if not any(
        getattr(fact.body, "position", 0) == seat for name in later for fact in source.untaken(name)
    ):
        ring.fold(seat, section)
    elif source.may_be_lost:
        ring.lost = Step("decision_made", section, None, seat)


def _chips(ring: PokerBetting, seat: int, due: int, body: DecisionMade, section: str) -> None:
    """The chips that a call, bet or raise adds. A call for less is all in."""
    called, had = body.decision == "call", ring.behind.get(seat)
    cents = body.amount
    if cents is None:
        cents = min(due, due if had is None else had) if called else 0
        ring.lost = ring.lost if called else Step("decision_made", section, None, seat)
    price = ring.price
    why = _wrong(ring, seat, due, cents, called=called)
    ring.put(seat, cents)
    ring.decided[seat] += cents
    if body.all_in or (called and cents < due and had is None):
        ring.all_in.add(seat)
    if ring.price > price:
        ring.raises += price > 0
    if why and ring.t.source.may_be_lost:
        ring.lost = Step("decision_made", section, None, seat)
    elif why and body.amount is not None:
        ring.t.not_permitted(seat, body.decision, why, section)


def _wrong(ring: PokerBetting, seat: int, due: int, cents: int, *, called: bool) -> str | None:
    """The reason against an amount, or None. All of a player's chips may always go in."""
    had = ring.behind.get(seat)
    if had is not None and cents > had:
        return f"it adds {dollars(cents)}, but only {dollars(had)} was left of the stack"
    if cents == had or (called and (cents == due or (had is None and cents < due))):
        return None
    if called or cents <= due:
        return f"it adds {dollars(cents)}, but a call takes {dollars(due)}"
    return _too_much(ring, due, cents - due)


def _too_much(ring: PokerBetting, due: int, by: int) -> str | None:
    """The reason against a raise of this size, or one more raise, under the filed limits."""
    low, high = limits(ring, due)
    if by < low or (high is not None and by > high):
        within = dollars(low) if low == high else f"at most {dollars(high or 0)}"
        return f"it raises by {dollars(by)}, but the filed limits allow {within}"
    most = ring.t.rules.options["raises"]
    if isinstance(most, int) and ring.price and ring.raises >= most:
        return f"this betting round had its {most} raises already"
    return None


def limits(ring: PokerBetting, due: int) -> tuple[int, int | None]:
    """The minimum and maximum raise of the price, cents, as filed; None: no limit."""
    filed, way = ring.t.rules.limits, ring.t.rules.options["betting"]
    small = filed.get("small_bet")
    if way == "fixed_limit" and small:
        size = small if ring.rounds < SMALL_ROUNDS else filed.get("big_bet") or 2 * small
        kill = filed.get(KILL)
        killed = any(wager == KILL for _, wager, _ in ring.posted)
        size = size * kill // small if kill and killed else size
        return size, size
    if way == "pot_limit":
        return 1, ring.pot + due
    return 1, None


def legal_amounts(
    ring: PokerBetting, seat: int, due: int, decision: str
) -> list[Mapping[str, Any]]:
    """The amounts a decision may come with, for a simulation."""
    if decision not in POT_DECISIONS:
        return [{}]
    had = ring.behind.get(seat, due)
    low, high = limits(ring, due)
    unit = max(low, ring.t.rules.limits.get("blind_2") or 0, _CHIP)
    sizes = [0] if decision == "call" else [low if low == high else unit * n for n in (1, 2, 4)]
    amounts = {min(had, due + min(size, high or size)) for size in sizes}
    return [
        {"amount": cents, "all_in": True} if cents == had else {"amount": cents}
        for cents in sorted(amounts)
    ]


_CHIP = 1_000  # cents: unit of bets if nothing is filed


def _unmet(ring: PokerBetting, section: str) -> None:
    """Return a bet that nobody met. A blind that nobody met does not go back."""
    ranked = sorted(ring.seats, key=lambda seat: ring.bets[seat])
    if len(ranked) < 2:  # noqa: PLR2004 - one player alone
        return
    second, seat = ranked[-2:]
    over = min(ring.bets[seat] - ring.bets[second], ring.decided[seat])
    if over <= 0 or seat not in ring.live:
        return
    ring.put(seat, -over)
    fact = ring.t.expect(Step("wager_returned", section, None, seat, what=BET, amount=over))
    source = ring.t.source
    back = getattr(fact.body, "amount", 0) if fact else 0
    if fact and back != over and source.may_be_lost:
        ring.lost = Step("decision_made", section, None, seat)
    elif back != over and not source.ended and not source.may_be_lost:
        ring.t.find(
            "not_returned" if back < over else "over_returned",
            f"Position {seat} got back {dollars(back)} of a bet; nobody met {dollars(over)} of it "
            f"({ring.t.rules.section(section)}).",
            section,
            facts=(fact,) if fact else (),
            position=seat,
            wager=BET,
            expected=over,
            recorded=back,
        )
