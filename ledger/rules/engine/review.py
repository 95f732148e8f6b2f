"""Findings besides the play itself: order, steps left out, cards, voids and money.

Each function looks at one thing and returns findings. None of them changes a settlement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from ledger.facts import (
    CardBurned,
    CardsDealt,
    CardsTurned,
    DecisionMade,
    WagerPlaced,
    WagerWithdrawn,
)
from ledger.rules.engine.order import UNCERTAINTY_US, Gap, inversions
from ledger.rules.engine.ruling import FactRef, Finding, refs
from ledger.rules.engine.steps import PAYS, POT, said
from ledger.values import UNKNOWN_CARD, dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.record import RecordedSource
    from ledger.rules.engine.steps import Step
    from ledger.rules.engine.table import Table


def lost_facts(gaps: Iterable[Gap]) -> list[Finding]:
    """Findings about gaps in devices' sequence numbers."""
    return [
        Finding(
            code="fact_missing",
            expected=f"{gap.missing} more",
            recorded=f"{gap.before.sequence}, then {gap.after.sequence}",
            says=f"{gap.after.source} counted from {gap.before.sequence} to {gap.after.sequence}: "
            f"{gap.missing} of its facts {'is' if gap.missing == 1 else 'are'} not on record.",
            facts=refs((gap.before, gap.after)),
        )
        for gap in gaps
    ]


def steps_left_out(table: Table, lost: int) -> tuple[list[Finding], int]:
    """Findings about steps left out though play went on, and the excuses left.

    Each of `lost` facts excuses one step.
    """
    found = []
    dealt = set()
    for step in table.missing:
        if step.fact == "cards_dealt":  # a holder's cards may come as one stack: asked for once
            holder = (step.to, step.position, step.hand)
            if holder in dealt:
                continue
            dealt.add(holder)
        if lost > 0:
            lost -= 1
            continue
        found.append(
            Finding(
                code="step_missing",
                position=step.position,
                wager=step.what if step.fact == "wager_placed" else None,
                expected=step.fact,
                section=table.rules.section(step.section),
                says=f"{_step(step)} is not on record, though play went on "
                f"({table.rules.section(step.section)}).",
            )
        )
    return found, lost


def _step(step: Step) -> str:
    """A step in words."""
    who = f" at position {step.position}" if step.position else f" of {step.to}" if step.to else ""
    what = f" ({step.what.replace('_', ' ')})" if step.what else ""
    return f"{step.fact.replace('_', ' ').capitalize()}{who}{what}"


def order(table: Table, record: RecordedSource) -> list[Finding]:
    """Findings about steps out of the order their sections give, without late wagers."""
    told = ("late_wager", "order_uncertain")
    late = {ref for each in table.findings if each.code in told for ref in each.facts[:1]}
    taken = table.taken
    if late:
        taken = [(step, fact) for step, fact in taken if FactRef(fact.source, fact.id) not in late]
    asked = [(record.rank[id(fact)], fact) for _, fact in taken]
    found = []
    for inversion in inversions(asked):
        step, fact = taken[inversion.at]
        section = table.rules.section(step.section)
        code = "order_uncertain" if inversion.uncertain else "out_of_turn"
        unsure = "may have come out of turn: clocks agree to 250 ms"
        how = unsure if inversion.uncertain else "came out of turn"
        found.append(
            Finding(
                code=code,
                position=step.position,
                wager=step.what if step.fact == "wager_placed" else None,
                section=section,
                says=f"{_step(step)} {how} ({section}).",
                facts=refs((fact,)),
            )
        )
    return found


def paid_early(table: Table, record: RecordedSource) -> list[Finding]:
    """Findings about payments before the cards, dice or decision that decide them."""
    rank, reached, found = record.rank, -1, []
    for at, (step, fact) in enumerate(table.asked):
        if (came := rank[id(fact)]) > reached:  # nearly always
            reached = came
        elif step.fact in PAYS or step.fact == "fee_paid":
            last = max(
                (told for of, told in table.asked[:at] if _waits(table, step, of)),
                key=lambda told: rank[id(told)],
                default=fact,
            )
            if last is not fact and record.later_than(last, fact) is not False:
                found.append(_paid_early(table, step, (fact, last), record))
    return found


def _waits(table: Table, payment: Step, of: Step) -> bool:
    """Whether a step decides a payment: it decides everybody's wagers, or those of the hand.

    Every hand decides a pot. A fee may be paid before the decision it is for.
    """
    if not table.decides(of) or (payment.fact, of.fact) == ("fee_paid", "decision_made"):
        return False
    everybody = payment.fact == "pot_awarded" or table.rules.game.pots or of.position is None
    return everybody or (of.position, of.hand) == (payment.position, payment.hand)


def _paid_early(
    table: Table, step: Step, facts: tuple[Fact, Fact], record: RecordedSource
) -> Finding:
    paid, last = facts
    section = table.rules.section(step.section)
    certain = record.later_than(last, paid)
    how = "was" if certain else "may be (clocks agree to 250 ms)"
    return Finding(
        code="out_of_turn" if certain else "order_uncertain",
        position=step.position,
        hand=step.hand,
        wager=step.what if step.fact != "pot_awarded" else POT,
        throw=step.throw,
        section=section,
        says=f"{_step(step)} {how} before the cards, dice or decision it depends on ({section}).",
        facts=refs((paid, last)),
    )


_UNASKED = (
    ("dice_thrown", "out_of_turn"),
    ("cards_dealt", "misdeal"),
    ("hand_set", "out_of_turn"),
)
"""Facts of play, and the code of one that no step asked for."""


def unmatched_facts(table: Table, record: RecordedSource) -> list[Finding]:
    """Findings about wagers, throws and decisions that no step asked for, and undecided stakes."""
    found = [
        _unasked(table, fact, fact.body)
        for name in ("wager_placed", "wager_withdrawn")
        for fact in record.untaken(name)
        if isinstance(fact.body, WagerPlaced | WagerWithdrawn)
    ]
    found += [_undecided(table, fact) for fact in record.untaken("decision_made")]
    for name, code in _UNASKED:
        for fact in record.untaken(name):
            position = getattr(fact.body, "position", None)
            says = f"{name.replace('_', ' ').capitalize()} when no step asked for it."
            found.append(Finding(code=code, position=position, says=says, facts=refs((fact,))))
    for (seat, wager, hand), stake in table.stakes.items():
        says = f"Position {seat} has no hand {hand} for {table.name(wager)}; no step settles it."
        found.append(
            Finding(
                code="wager_not_permitted",
                position=seat,
                hand=hand,
                wager=wager,
                recorded=stake,
                says=says,
            )
        )
    return found


def _unasked(table: Table, fact: Fact, body: WagerPlaced | WagerWithdrawn) -> Finding:
    """A wager placed or taken back when no step asked for it, or perhaps so by two clocks."""
    if isinstance(body, WagerPlaced) and _never_permitted(table, body):
        return _not_permitted(table, fact, body)
    known = table.rules.game.wager(body.wager)
    section = table.rules.section(known.section) if known else None
    placed = isinstance(body, WagerPlaced)
    last = table.taken[-1][1] if table.taken else fact
    near = last.source != fact.source and abs(fact.time_us - last.time_us) <= UNCERTAINTY_US
    code = "late_wager" if known and placed else "wager_not_permitted"
    when = f"when it could not be {'placed' if placed else 'taken back'} ({section})."
    return Finding(
        code="order_uncertain" if known and near else code,
        position=body.position,
        hand=body.hand if isinstance(body, WagerPlaced) else None,
        wager=body.wager,
        recorded=body.amount,
        section=section,
        says=f"Position {body.position} {'put' if placed else 'took back'} "
        f"{dollars(body.amount)} on {table.name(body.wager)}, "
        + (when if known else "which this game does not have."),
        facts=refs((fact,)),
    )


def _never_permitted(table: Table, body: WagerPlaced | DecisionMade) -> bool:
    """Whether a wager or decision was open to its hand at no time, as far as the record shows.

    At Poker players decide in turn, so a decision that nothing asked for is out of turn.
    """
    if table.source.may_be_lost:
        return False
    if isinstance(body, DecisionMade):
        spot = (body.position, body.decision, body.hand)
        open_ = spot in table.choices and spot not in table.denied
        return not open_ and not table.rules.game.pots
    spot = (body.position, body.wager, body.hand)
    return spot not in table.opened and body.wager not in table.open_to_all


def _denied(table: Table, body: WagerPlaced | DecisionMade, name: str) -> str | None:
    """The paragraph by which a wager or decision of a hand is never permitted."""
    known = table.rules.game.wager(name)
    spot = (body.position, name, body.hand)
    paragraph = table.denied.get(spot, known.section if known else None)
    return table.rules.section(paragraph) if paragraph else None


def _not_permitted(table: Table, fact: Fact, body: WagerPlaced) -> Finding:
    """The finding about a wager that its section never permits at this hand."""
    section = _denied(table, body, body.wager)
    why = (
        f"its section does not permit it at this hand ({section})"
        if section
        else "this game does not have it"
    )
    return Finding(
        code="wager_not_permitted",
        position=body.position,
        hand=body.hand,
        wager=body.wager,
        recorded=body.amount,
        section=section,
        says=f"Position {body.position} put {dollars(body.amount)} on {table.name(body.wager)}: "
        f"{why}.",
        facts=refs((fact,)),
    )


def _undecided(table: Table, fact: Fact) -> Finding:
    """The finding about a decision that no step asked for: never open to its hand, or not then."""
    body = said(fact, DecisionMade)
    what = body.decision.replace("_", " ")
    if not _never_permitted(table, body):
        return Finding(
            code="out_of_turn",
            position=body.position,
            says=f"Position {body.position} decided to {what} when no step asked for it.",
            facts=refs((fact,)),
        )
    section = _denied(table, body, body.decision)
    cited = f" ({section})" if section else ""
    return Finding(
        code="decision_not_permitted",
        position=body.position,
        hand=body.hand,
        recorded=body.decision,
        section=section,
        says=f"Position {body.position} decided to {what}; it is never open to this hand{cited}.",
        facts=refs((fact,)),
    )


def cards_shown(table: Table, record: RecordedSource, facts: Iterable[Fact]) -> list[Finding]:
    """Findings about turns that no step asked for: they show cards that their holder never had."""
    turns = record.untaken("cards_turned")
    if not turns or record.may_be_lost:
        return []
    had: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for (to, position, _), held in table.cards.items():
        had[to, position].update(held)
    for body in (fact.body for fact in facts):
        if isinstance(body, CardsDealt):
            had[body.to, body.position].update(body.cards)
    found = []
    for fact in turns:
        body = said(fact, CardsTurned)
        his = had[body.to, body.position]
        others = [] if UNKNOWN_CARD in his else sorted({*body.cards} - his - {UNKNOWN_CARD})
        if others:
            who = f"position {body.position}" if body.position else f"the {body.to}"
            says = f"{', '.join(others)} turned; {who} was dealt no such card."
            found.append(
                Finding(
                    code="card_mismatch",
                    position=body.position,
                    recorded=" ".join(others),
                    says=says,
                    facts=refs((fact,)),
                )
            )
    return found


def cards(table: Table, burned: Iterable[Fact]) -> list[Finding]:
    """Findings about impossible cards: more of one than the decks hold, or none of this game."""
    deck, decks = table.rules.game.deck, table.rules.decks
    if not deck:
        return []
    everywhere = [*table.cards.values(), *table.discarded.values()]
    burns = [said(fact, CardBurned).card for fact in burned]
    everywhere.append([card for card in burns if card is not None])
    seen = Counter(chain.from_iterable(everywhere))
    del seen[UNKNOWN_CARD]
    if deck.issuperset(seen) and max(seen.values(), default=0) <= decks:  # nearly always
        return []
    found: list[Finding] = []
    told = {(each.code, each.recorded) for each in table.findings}  # found before a reshuffle
    for card, times in sorted(seen.items()):
        holders = [(*spot[:2], "") for spot, held in table.cards.items() if card in held]
        holders += [
            (*spot, "discarded by ") for spot, held in table.discarded.items() if card in held
        ]
        places = [f"{how}position {seat}" if seat else how + to for to, seat, how in holders]
        where = ", ".join([*places, *(["burned"] if card in burns else [])])
        position = next((seat for _, seat, _ in holders if seat), None)
        if card not in deck:
            says = f"{card} is not a card of this game ({where})."
            code = "impossible_card"
        elif times > decks:
            holds = "the deck holds one" if decks == 1 else f"there are {decks} decks"
            says = f"{card} is on the table {times} times ({where}); {holds}."
            code = "duplicate_card"
        else:
            continue
        if (code, card) not in told:
            found.append(Finding(code=code, position=position, recorded=card, says=says))
    return found


def voids(table: Table, voided: Sequence[Fact], void: str | None, *, closed: bool) -> list[Finding]:
    """Findings about a round voided without a ground, or played on though a section voids it."""
    if voided and void is None:
        says = "The round was voided; nothing on record gives a ground for it."
        return [Finding(code="wrongly_voided", says=says, facts=refs(voided))]
    if void is not None and closed and not voided:
        section = table.rules.section(void)
        says = f"The round was played on; by {section} it is void and all wagers go back."
        return [Finding(code="should_have_been_void", section=section, says=says)]
    return []
