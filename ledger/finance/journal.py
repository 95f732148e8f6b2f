"""The double entries of tables' gaming days, from the same figures as their wins.

Accounts: `assets:tray:T` and `assets:box:T:<kind>` hold a table's chips and its boxes' content,
`assets:cage` what went to the cage or came from it. A day ends with the tray at its closer, the
boxes at their drop, `income:win:T` (poker: `income:rake:T`) changed by -moved, and
`income:variance:T:<item>` by minus each item of the count gap. `income:bank:T:<what>` is the
imprest bank of poker, `expenses:cage_paid:T` what the cage paid for the table,
`income:tournament:T` minus what tournaments left: entries less prizes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ledger.facts import AdjustmentPaid
from ledger.facts.accounting import TournamentMoney
from ledger.finance import boxes as in_boxes
from ledger.finance.table_day import closer_of, exchanged, figures_of, opener_of, tournaments
from ledger.finance.win import CURRENCY
from ledger.rules.engine.ruling import FactRef, refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.finance.placing import TableId
    from ledger.finance.table_day import DayFigures, DayRecord
    from ledger.record.wire import Fact

CAGE = "assets:cage"
EQUITY = "equity:opening"
CARRIED = "carried"
"""The entry of what earlier days left, where they are not in the same journal."""

Amounts = dict[str, int]
"""Cents by account: a debit is positive, a credit negative."""


class Posting(Struct, frozen=True):
    """Cents on an account: a debit is positive, a credit negative. Or its balance, as counted."""

    account: str
    amount: int


class JournalEntry(Struct, frozen=True, kw_only=True):
    """One balanced entry. Property, gaming day, table and `entry` identify it for ever.

    balances: what counts say of accounts after it.
    """

    property: str
    gaming_day: str
    table: str
    entry: str  # as opening, sales, fill:F-7
    currency: str = CURRENCY
    says: str
    postings: list[Posting]  # they sum to 0
    balances: list[Posting]
    facts: list[FactRef]


class _Draft(NamedTuple):
    """An entry before it has its place. Postings of 0 fall out."""

    entry: str
    says: str
    postings: Amounts
    balances: Amounts | None = None
    facts: Sequence[Fact] = ()


def journal(
    records: Iterable[DayRecord], carried: Mapping[TableId, Amounts] | None = None
) -> list[JournalEntry]:
    """The entries of these days, which are in order of property, day and table.

    carried: the tables' balances before the first of these days, if earlier ones are left out.
    """
    held: dict[TableId, Amounts] = {key: dict(each) for key, each in (carried or {}).items()}
    begun: set[TableId] = set()
    found: list[JournalEntry] = []
    for record in records:
        table = (record.property, record.table)
        balances = held.setdefault(table, {})
        if table not in begun and any(balances.values()):
            found.append(_entry(record, _carried(balances)))
        begun.add(table)
        its = day_entries(record, balances)
        held[table] = after(its, balances)
        found += its
    return found


def day_entries(of: DayRecord, before: Amounts) -> list[JournalEntry]:
    """The entries of a table's day; `before`: the balances of its tray and boxes."""
    figures = figures_of(of)
    held = before.get(_tray(of), 0)
    drafts = [
        _emptied(before),
        *_opening(of, figures, held),
        *_slips(of),
        _sales(of, figures),
        _exchange(of, figures),
        *_play(of),
        *_amends(of),
        *_tournaments(of),
        _box_counts(of, figures),
    ]
    left = held + sum(draft.postings.get(_tray(of), 0) for draft in drafts)
    drafts += _closing(of, figures, left)
    entries = (_entry(of, draft) for draft in drafts)
    return [entry for entry in entries if entry.postings or entry.balances]


def after(entries: Iterable[JournalEntry], before: Amounts) -> Amounts:
    """The balances of a table's tray and boxes after some of its entries."""
    held: Amounts = defaultdict(int, before)
    for entry in entries:
        for posting in entry.postings:
            if posting.account.startswith(("assets:tray:", "assets:box:")):
                held[posting.account] += posting.amount
    return dict(held)


def is_settled(of: DayRecord) -> bool:
    """Whether a day says what its tray ends with, whatever was there before: it has a count."""
    return closer_of(of.facts) is not None or opener_of(of) is not None


def _entry(of: DayRecord, draft: _Draft) -> JournalEntry:
    return JournalEntry(
        property=of.property,
        gaming_day=of.gaming_day,
        table=of.table,
        entry=draft.entry,
        says=draft.says,
        postings=[Posting(name, cents) for name, cents in draft.postings.items() if cents],
        balances=[Posting(name, cents) for name, cents in (draft.balances or {}).items()],
        facts=refs(draft.facts),
    )


def _tray(of: DayRecord) -> str:
    return f"assets:tray:{of.table}"


def _box(of: DayRecord, kind: str) -> str:
    return f"assets:box:{of.table}:{kind}"


def _variance(of: DayRecord, item: str) -> str:
    """The account of an item of the count gap; at poker of the bank, which no win has."""
    kept = of.rounds.poker and item != "box_chips"
    return f"income:{'bank' if kept else 'variance'}:{of.table}:{item}"


def _carried(held: Amounts) -> _Draft:
    says = "Tray and boxes as the days before left them"
    return _Draft(CARRIED, says, {**held, EQUITY: -sum(held.values())})


def _emptied(before: Amounts) -> _Draft:
    """What earlier boxes held goes to the cage."""
    boxes = {name: cents for name, cents in before.items() if name.startswith("assets:box:")}
    postings = {name: -cents for name, cents in boxes.items()}
    says = "Boxes of the day before go to the cage"
    return _Draft("boxes_emptied", says, {**postings, CAGE: sum(boxes.values())})


def _opening(of: DayRecord, figures: DayFigures, held: int) -> Iterator[_Draft]:
    """The opener. Chips that the day before did not leave there come from `equity:opening`."""
    if figures.opener is None:
        return
    gained = figures.opener - held
    opener = opener_of(of)
    yield _Draft(
        "opening",
        "Opener, which is not what the day before left" if held and gained else "Opener",
        {_tray(of): gained, EQUITY: -gained},
        {_tray(of): figures.opener},
        [opener] if opener else [],
    )


def _slips(of: DayRecord) -> Iterator[_Draft]:
    """Fills and credits, each slip as its chips were accepted."""
    for slip in of.slips:
        if slip.accepted:
            gained = slip.total if slip.kind == "fill" else -slip.total
            yield _Draft(
                f"{slip.kind}:{slip.number}",
                f"{slip.kind.capitalize()} Slip {slip.number}",
                {_tray(of): gained, CAGE: -gained},
                facts=slip.accepted[:1],
            )


def _sales(of: DayRecord, figures: DayFigures) -> _Draft:
    """Chips sold for cash, checks and vouchers, which go into the box."""
    boxes = {_box(of, kind): cents for kind, cents in figures.sold.items()}
    facts = [fact for fact in of.facts if any(in_boxes.sold([fact]).values())]
    return _Draft("sales", "Chips sold", {**boxes, _tray(of): -sum(boxes.values())}, facts=facts)


def _exchange(of: DayRecord, figures: DayFigures) -> _Draft:
    return _Draft(
        "exchange",
        "Chips exchanged unequally",
        {_tray(of): figures.exchange, _variance(of, "exchange"): -figures.exchange},
        facts=[fact for fact in of.facts if exchanged(fact)],
    )


def _play(of: DayRecord) -> Iterator[_Draft]:
    """What the rounds moved: collected and fees less paid; at poker the rake."""
    rounds = of.rounds
    if rounds.rake or rounds.poker:
        rake = {_box(of, "chips"): rounds.rake, f"income:rake:{of.table}": -rounds.rake}
        yield _Draft("rake", "Rake taken", rake)
    says = "Chips of the tray beside the rake" if rounds.poker else "Collected and fees less paid"
    yield _Draft("play", says, {_tray(of): rounds.tray, _income(of): -rounds.tray})
    yield _from_cage(of, "cage_paid", "Winnings that the cage paid", rounds.cage_paid)


def _income(of: DayRecord) -> str:
    """The account of what the tray gains by play."""
    return f"income:bank:{of.table}:play" if of.rounds.poker else f"income:win:{of.table}"


def _from_cage(
    of: DayRecord, entry: str, says: str, cents: int, facts: Sequence[Fact] = ()
) -> _Draft:
    return _Draft(entry, says, {f"expenses:cage_paid:{of.table}": cents, CAGE: -cents}, facts=facts)


def _amends(of: DayRecord) -> Iterator[_Draft]:
    """Amends that settle disputes, each from the tray or the cage."""
    for fact in of.facts:
        body = fact.body
        if isinstance(body, AdjustmentPaid):
            entry = f"amends:{fact.source}:{fact.id}"
            says = f"Amends of dispute {body.dispute}"
            if body.paid_from == "table":
                postings = {_income(of): body.amount, _tray(of): -body.amount}
                yield _Draft(entry, says, postings, facts=[fact])
            else:
                yield _from_cage(of, entry, says, body.amount, [fact])


def _tournaments(of: DayRecord) -> Iterator[_Draft]:
    """Entries less prizes of each tournament, which the cage takes and pays."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in of.facts:
        if isinstance(fact.body, TournamentMoney):
            told[fact.body.tournament].append(fact)
    for name in sorted(told):
        its = tournaments(told[name])
        gained = its.win if its else 0
        says = f"Tournament {name}: entries less prizes"
        postings = {CAGE: gained, f"income:tournament:{of.table}": -gained}
        yield _Draft(f"tournament:{name}", says, postings, facts=told[name])


def _box_counts(of: DayRecord, figures: DayFigures) -> _Draft:
    """The counts of the boxes: each kind as counted, its difference a variance."""
    postings: Amounts = {}
    balances: Amounts = {}
    for kind in in_boxes.KINDS:
        counted: int | None = getattr(figures.drop, kind)
        told = figures.sold[kind] + (of.rounds.rake if kind == "chips" else 0)
        if counted is not None and (counted or told):
            postings[_box(of, kind)] = counted - told
            postings[_variance(of, f"box_{kind}")] = told - counted
            balances[_box(of, kind)] = counted
    counts = [box.last for box in figures.boxes if box.last]
    return _Draft("box_counts", "Boxes as counted", postings, balances, counts)


def _closing(of: DayRecord, figures: DayFigures, left: int) -> Iterator[_Draft]:
    """The closer. What differs from the chips left is the tray's variance, if there is an opener.

    Without an opener nobody knows what the tray began with: the difference is `equity:opening`.
    """
    closer = closer_of(of.facts)
    if closer is None or figures.closer is None:
        return
    gained = figures.closer - left
    other = EQUITY if figures.opener is None else _variance(of, "tray")
    postings = {_tray(of): gained, other: -gained}
    yield _Draft("closing", "Closer", postings, {_tray(of): figures.closer}, [closer])
