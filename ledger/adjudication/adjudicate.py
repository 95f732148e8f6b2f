"""The ruling on a round: the game's `play` run over its record, and every difference.

The ruling is a pure function. The same facts give the same bytes in any order of arrival. Nothing
on record is refused for breaking a rule (ADR 0001).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ledger.adjudication.submissions import FiledSubmission, RulesFor, kept_rules
from ledger.facts import (
    CardBurned,
    CouponRefused,
    DecisionMade,
    FeePaid,
    IrregularityCalled,
    PotAwarded,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    TableOpened,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    WagerWithdrawn,
)
from ledger.games import games
from ledger.rules.engine import coupons, review
from ledger.rules.engine.clock_skew import Skew, apart, fitting, skewed, together
from ledger.rules.engine.money_moved import Stake, compare
from ledger.rules.engine.order import Gap, in_order
from ledger.rules.engine.record import RecordedSource
from ledger.rules.engine.ruling import Awaiting, Finding, Ruling, Status
from ledger.rules.engine.settling import fee
from ledger.rules.engine.steps import POT, Step, Stop, Void, said
from ledger.rules.engine.table import Table
from ledger.rules.wagers import coupon_review

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.coupons import CouponBatch
    from ledger.rules.engine.game import InForce
    from ledger.values import RoundId


class RoundRecord(NamedTuple):
    """Everything on record that the ruling of a round may depend on."""

    round: RoundId
    facts: Sequence[Fact]  # facts with the round's subject, in any order
    gaps: Sequence[Gap] = ()  # gaps in a device's sequence, with the round on either side
    gone: frozenset[int] = frozenset()  # positions whose player left during the round
    seats: Sequence[tuple[int, ...]] = ()  # the positions each player holds
    batches: Sequence[CouponBatch] = ()  # batches of coupons issued at the property
    spent: Sequence[Fact] = ()  # earlier drops of the round's coupons
    opened: Fact | None = None  # the opening of its table in force as the round began


class _Run(NamedTuple):
    """One run of `play` over a record."""

    facts: Sequence[Fact]
    table: Table
    record: RecordedSource
    stopped: bool
    void: str | None  # the paragraph that voids the round
    paid_early: list[Finding]


def rule(of: RoundRecord, submissions: Sequence[FiledSubmission]) -> Ruling:
    """The ruling of one round under the Rules Submissions filed."""
    return rule_under(of, kept_rules(submissions))


def rule_under(of: RoundRecord, rules_for: RulesFor) -> Ruling:
    """The ruling of one round. It settles nothing if the record does not name the game.

    The times of a device whose clock is off are corrected, and a finding names the device.
    """
    started = next((f.body for f in of.facts if isinstance(f.body, RoundStarted)), None)
    game = games().get(started.game) if started else None
    if started is None or game is None:
        return _unruled(of, started)
    rules = rules_for(game, of.round)
    off = _set_apart(of, rules, started.dealt_from)
    run = _run(of, _shifted(of.facts, off), rules, started.dealt_from)
    skew = skewed(list(run.table.in_turn()), run.table.paid_in_turn, sure=not run.paid_early)
    if skew:
        off = together([*off, skew])
        run = _run(of, _shifted(of.facts, off), rules, started.dealt_from)
    return _ruling(of, rules, run, off)


def _set_apart(of: RoundRecord, rules: InForce, dealt_from: str | None) -> list[Skew]:
    """The devices whose clocks are off by so much that the round cannot be played by them.

    Only a closed round is examined: an open one is ruled on after every fact, and this takes
    hundreds of rulings.
    """
    found = apart(of.facts) if _is_closed(of.facts) else None
    if found is None:
        return []

    def by(shift_us: int) -> list[Skew]:
        return [Skew(source, shift_us) for source in sorted(found.sources)]

    def cost(shift_us: int) -> int:
        facts = _shifted(of.facts, by(shift_us))
        ruling = _ruling(of, rules, _run(of, facts, rules, dealt_from), [])
        return len(ruling.findings) + (ruling.awaiting is not None)

    return by(fitting(found, cost))


def _is_closed(facts: Sequence[Fact]) -> bool:
    """Whether the end of a round is among its facts."""
    kinds = {fact.body.__class__ for fact in facts}
    return RoundCompleted in kinds or RoundVoided in kinds


def _unruled(of: RoundRecord, started: RoundStarted | None) -> Ruling:
    """The ruling on a round of no known game: a finding, so that no chips move unnoticed."""
    closed = _is_closed(of.facts)
    what = (
        f"of {started.game}, a game without rules here (`round-ledger games` lists the games)"
        if started
        else "of a game that is not on record: round_started is missing"
    )
    found = Finding(
        code="step_missing",
        expected="round_started",
        recorded=started.game if started else None,
        says=f"The round is {what}; nothing of it was ruled on.",
    )
    lost = review.lost_facts(gap for gap in of.gaps if gap.after.round == of.round)
    return Ruling(
        round=of.round.subject,
        property=of.round.property,
        game=started.game if started else None,
        edition=None,
        status="awaiting",
        settlements=[],
        findings=[*lost, *([found] if started or (closed and not lost) else [])],
        awaiting=Awaiting(step="round_started", who="dealer", section=None),
        next=None if closed else Awaiting(step="round_started", who="dealer", section=None),
    )


def _run(of: RoundRecord, facts: Sequence[Fact], rules: InForce, dealt_from: str | None) -> _Run:
    """Run the game over the facts. After a void, run it again with every wager given back.

    A round voided without a ground is run as far as it was played.
    """
    facts = in_order(facts)
    table, record = _table(of, facts, rules, dealt_from)
    stopped, void = _played(table, record)
    if void is not None:
        findings = table.findings
        table, record = _table(of, facts, rules, dealt_from)
        table.findings = findings
        _give_back_all(table, facts, void)
    elif table.missing and record.of_kind(RoundVoided):
        table, record = _table(of, facts, rules, dealt_from, broken_off=True)
        stopped, void = _played(table, record)
    return _Run(facts, table, record, stopped, void, review.paid_early(table, record))


def _played(table: Table, record: RecordedSource) -> tuple[bool, str | None]:
    """Play as far as the record goes: whether it stopped early, and the paragraph that voids it."""
    try:
        _irregularities(table, record.of_kind(IrregularityCalled))
        table.rules.game.play(table)
    except Stop:
        return True, None
    except Void as ground:
        return False, ground.section
    return False, None


def _table(
    of: RoundRecord,
    facts: Sequence[Fact],
    rules: InForce,
    dealt_from: str | None,
    *,
    broken_off: bool = False,
) -> tuple[Table, RecordedSource]:
    record = RecordedSource(
        facts,
        wagers=rules.known,
        gaps=of.gaps,
        gone=of.gone,
        seats=of.seats,
        broken_off=broken_off,
    )
    table = Table(record, rules, dealt_from)
    table.known = coupons.known(of.batches, record.of_kind(CouponRefused), of.spent)
    table.posted = _posted(of, rules)
    return table, record


def _posted(of: RoundRecord, rules: InForce) -> Fact | None:
    """The opening of the table that posted the limits of this game on this gaming day."""
    if of.opened is None:
        return None
    body = said(of.opened, TableOpened)
    same = (body.game, body.gaming_day) == (rules.game.id, of.round.gaming_day)
    return of.opened if same else None


def _irregularities(table: Table, called: Sequence[Fact]) -> None:
    """Judge the irregularities on record. Raises Void."""
    cards: dict[str, set[str]] = {}
    for fact in called:
        body = said(fact, IrregularityCalled)
        says = table.rules.game.irregularities.get(body.kind)
        if says is None or says.in_play or not says.holds(table.dealt_from):
            continue
        # A card that two devices name is one card; two cards that one device names are two.
        named = body.cards or ()
        cards.setdefault("", set()).update(named if says.once else ())
        told = cards.setdefault(fact.source, set())
        told.update((named or (fact.id,)) if says.once else ())
        if says.void or max(map(len, cards.values())) > 1:
            raise Void(says.cited(table.dealt_from))


def _give_back_all(table: Table, facts: Sequence[Fact], section: str) -> None:
    """Give back every wager of a void round, forfeited ones too. A fee is not a wager and stays."""
    pots = table.rules.game.pots
    for fact in facts:
        body = fact.body
        if isinstance(body, WagerPlaced) or (pots and isinstance(body, DecisionMade)):
            wager, hand = (POT, 1) if pots else (body.wager or "", body.hand)
            spot = (body.position, wager, hand)
            table.stakes[spot] = (table.stakes.get(spot) or 0) + (body.amount or 0)
        elif isinstance(body, WagerWithdrawn):
            spot = (body.position, body.wager, 1)
            table.stakes[spot] = (table.stakes.get(spot) or 0) - body.amount
        elif isinstance(body, FeePaid) and body.fee in table.rules.game.fees:
            where = table.rules.section(section)
            table.settlements.append(fee(body.position, body.fee, body.amount, where))
    for spot in sorted(spot for spot, stake in table.stakes.items() if stake and stake > 0):
        seat, wager, hand = spot
        table.give_back(seat, wager, section, hand)


def _shifted(facts: Sequence[Fact], off: Sequence[Skew]) -> Sequence[Fact]:
    """The facts with the times of skewed devices corrected."""
    if not off:
        return facts
    shifts = {skew.source: skew.shift_us for skew in off}
    return [
        replace(fact, time_us=fact.time_us + shifts[fact.source]) if fact.source in shifts else fact
        for fact in facts
    ]


def _ruling(of: RoundRecord, rules: InForce, run: _Run, off: Sequence[Skew]) -> Ruling:
    """The ruling from a run and its differences from the record."""
    table = run.table
    complete = run.void is None and not run.stopped and not table.unsettled
    status: Status = "void" if run.void is not None else "complete" if complete else "awaiting"
    next_ = _next(run, status)
    return Ruling(
        round=of.round.subject,
        property=of.round.property,
        game=rules.game.id,
        edition=rules.edition.chapter,
        edition_note=_edition_note(rules),
        status=status,
        settlements=table.settlements,
        findings=_findings(of, run, status, off),
        awaiting=(next_ or _open_step(run)) if status == "awaiting" else None,
        next=next_,
    )


def _findings(of: RoundRecord, run: _Run, status: Status, off: Sequence[Skew]) -> list[Finding]:
    """Every finding of the round, those of order before those of money."""
    table, record = run.table, run.record
    lost = sum(gap.missing for gap in of.gaps)
    found = [_skew_finding(skew) for skew in off]
    found += review.lost_facts(gap for gap in of.gaps if gap.after.round == of.round)
    found += table.findings
    left_out, lost = review.steps_left_out(table, lost)
    found += left_out
    found += review.order(table, record)
    found += run.paid_early
    if status == "complete":
        found += review.unmatched_facts(table, record)
        found += review.cards_shown(table, record, run.facts)
    found += review.cards(table, record.of_kind(CardBurned))
    found += review.voids(table, record.of_kind(RoundVoided), run.void, closed=record.closed)
    found += coupon_review.review(table, run.facts, of.round.gaming_day, closed=record.closed)
    if record.closed:
        settled, facts = table.settlements, _without_unmet(run)
        if still_open := _open(run):
            settled = [s for s in settled if (s.position, s.hand, s.wager) not in still_open]
            facts = [fact for fact in facts if _for(fact) not in still_open]
        found += compare(
            settled,
            facts,
            record.throw_before,
            table.name,
            lost,
            _unplayed(record),
        )
    return found


def _without_unmet(run: _Run) -> Sequence[Fact]:
    """A round's facts without Poker bets given back because nobody met them: play judges those."""
    if run.void is not None or not run.table.rules.game.pots:
        return run.facts
    left = {id(fact) for fact in run.record.untaken("wager_returned")}
    return [f for f in run.facts if not isinstance(f.body, WagerReturned) or id(f) in left]


def _unplayed(record: RecordedSource) -> dict[Stake, int]:
    """Cents of wagers that no step of play asked for."""
    found: Counter[Stake] = Counter()
    for fact in record.untaken("wager_placed"):
        found[_for(fact)] += said(fact, WagerPlaced).amount
    return found


def _open(run: _Run) -> set[Stake]:
    """The stakes that a closed record leaves undecided."""
    table = run.table
    found: set[Stake] = {(seat, hand, wager) for seat, wager, hand in table.stakes}
    found |= {(step.position, step.hand, step.what) for step in table.unsettled}
    if run.stopped:
        found |= {_for(fact) for fact in run.record.untaken("wager_placed")}
    return found


def _for(fact: Fact) -> Stake:
    """The position, hand and wager of a fact."""
    body = fact.body
    if isinstance(body, WagerPlaced | WagerPaid | WagerCollected | WagerReturned):
        return body.position, body.hand, body.wager
    if isinstance(body, PotAwarded):
        return body.position, 1, POT
    return None, 0, None


def _skew_finding(skew: Skew) -> Finding:
    way = "behind" if skew.shift_us > 0 else "ahead"
    return Finding(
        code="clock_skewed",
        recorded=f"{-skew.shift_us // 1000} ms",
        says=f"The clock of {skew.source} is about {abs(skew.shift_us) // 1000} ms {way}; "
        f"the ruling corrects the times of its facts.",
    )


def _next(run: _Run, status: Status) -> Awaiting | None:
    """The next step due on the record; None once the round is closed."""
    if run.record.closed:
        return None
    step = run.table.next
    if step is None:
        last = run.table.last
        step = Step(
            "round_voided" if status == "void" else "round_completed", last.section if last else ""
        )
    return _awaiting(step, run.table)


def _open_step(run: _Run) -> Awaiting | None:
    """The first step that a closed record lacks for its ruling."""
    table = run.table
    steps = [*table.unsettled, *table.missing, *([table.next] if table.next else [])]
    return _awaiting(steps[0], table) if steps else None


def _awaiting(step: Step, table: Table) -> Awaiting:
    """A step as a ruling gives it."""
    who = f"position {step.position}" if step.position else step.to or "dealer"
    return Awaiting(
        step=step.fact,
        who=who,
        section=table.rules.section(step.section) if step.section else None,
        position=step.position,
        wager=step.what if step.fact.startswith("wager") else None,
        amount=step.amount,
        or_=step.instead,
    )


def _edition_note(rules: InForce) -> str | None:
    """A note if no edition covers the gaming day, else None."""
    if not rules.outside:
        return None
    edition = rules.edition
    if not edition.effective_from and not edition.effective_until:
        return (
            f"{edition.chapter} is {edition.status}, and its days in force are not known; "
            f"it is the nearest edition to the gaming day"
        )
    since, until = edition.effective_from or "unknown", edition.effective_until or "unknown"
    return (
        f"{edition.chapter} is {edition.status}, in force from {since} until {until}; "
        f"the gaming day is outside these dates, and this edition is the nearest"
    )
