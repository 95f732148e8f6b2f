"""What explains a tray: the largest set of causes whose amounts sum to what it has too much.

A slip on its way has an exact amount. A lost fact or a buy-in that nobody recorded is a cause only
if the tray shows its chips beside the other causes. If no set sums to the tray, each of them must
bring it nearer to what the others leave.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from ledger.finance.win import Cause, Item
from ledger.rules.engine.ruling import joined
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ledger.rules.engine.ruling import FactRef

FACT_MISSING, UNRECORDED_BUY_IN = "fact_missing", "unrecorded_buy_in"

_OF_BOX = frozenset(("check_missing", "voucher_missing", "voucher_unknown"))
"""Causes of the boxes that move no chips of the tray, or that a buy-in stands for."""

_PERHAPS = frozenset(("check_unknown", "check_voided"))
"""Causes of the boxes whose chips the tray may have the other way round."""

_SETS_MAX = 5_000
"""Sets of causes that are tried."""


class TrayDay(NamedTuple):
    """What the causes of a tray rest on. Cents."""

    tray: int  # what the closer has too much
    counts: Sequence[FactRef]  # the opener and the closer
    items: Sequence[Item]  # of both gaps
    known: Sequence[Cause]  # those that are named whatever the tray has
    fills: Sequence[Cause]  # on their way over the change of day: their chips may be in a count
    # Rounds in which a device's facts are missing, each with the facts beside the gaps.
    beside_gaps: Sequence[tuple[str, Sequence[FactRef]]]

    def lost(self) -> Iterator[tuple[Item, Sequence[FactRef]]]:
        """The items of the pay gap whose rounds lack facts of a device, with those beside them."""
        beside = dict(self.beside_gaps)
        for item in self.items:
            if item.gap == "pay" and item.round in beside:
                yield item, beside[item.round]

    def over(self) -> list[Item]:
        """The boxes' contents that a buy-in would explain: more than the table recorded."""
        by_code = {item.code: item for item in self.items if item.gap == "count"}
        found = (by_code.get(f"box_{kind}") for kind in ("cash", "foreign", "vouchers"))
        return [item for item in found if item and item.amount > 0]


class _Part(NamedTuple):
    """What a tray may have too much by one cause. Cents."""

    amount: int
    kind: Literal["known", "perhaps", "fill", "lost", "sale"]
    nth: int  # of its kind


class _Explained(NamedTuple):
    """Parts that a tray has, and lost facts of which it has some; `rest`: what nothing explains."""

    parts: Sequence[_Part]
    some: Sequence[_Part]
    some_cents: int
    sold: int  # of a buy-in that is on no record
    rest: int


def causes_of_tray(of: TrayDay) -> list[Cause]:
    """The lost facts and the buy-in that a tray has beside the causes that are known."""
    lost, over = list(of.lost()), of.over()
    named = sorted(_known(of.known), key=itemgetter(1))  # those that are known come first
    parts = [
        *(_Part(*each, nth) for nth, each in enumerate(named)),
        *(_Part(cause.amount, "fill", nth) for nth, cause in enumerate(of.fills)),
        *(_Part(-item.amount, "lost", nth) for nth, (item, _) in enumerate(lost)),
        *(_Part(-item.amount, "sale", nth) for nth, item in enumerate(over)),
    ]
    told = _explained(parts, of.tray)
    found = [of.fills[part.nth] for part in told.parts if part.kind == "fill"]
    found += [buy_in(told.sold, over, of.counts)] if told.sold else []
    found += [lost_fact(*lost[part.nth]) for part in told.parts if part.kind == "lost"]
    if told.some:
        found.append(_some_lost([lost[part.nth] for part in told.some], told.some_cents))
    explained = {ref for cause in found if cause.code == FACT_MISSING for ref in cause.facts}
    gaps = [each for each in of.beside_gaps if not explained.issuperset(each[1])]
    if told.rest and (stake := lost_stake(of._replace(beside_gaps=gaps), told.rest)):
        found.append(stake)
    return found


def _known(causes: Iterable[Cause]) -> Iterator[tuple[int, Literal["known", "perhaps"]]]:
    for cause in causes:
        if cause.code in _PERHAPS:
            yield -cause.amount, "perhaps"
        elif cause.code not in _OF_BOX:
            yield cause.amount, "known"


def _explained(parts: Sequence[_Part], tray: int) -> _Explained:
    """What a tray has by the best set of parts.

    Lost facts that stand in some of several best sets are `some`, if their sum is the same in each.
    A buy-in is no larger than the tray is short beside the other parts.
    """
    known = [part for part in parts if part.kind == "known"]
    others, beside = parts[len(known) :], tray - _cents(known)
    near = _largest(others, beside, _each_brings_nearer) or [[]]
    sets = _largest(parts, tray, _sums_to) or [[*known, *each] for each in near]
    most = max(_rank(each, tray) for each in sets)
    best = [each for each in sets if _rank(each, tray) == most]
    sure = [part for part in best[0] if all(part in each for each in best)]
    some = [part for part in _lost(parts) if part not in sure and any(part in s for s in best)]
    sums = {_cents(part for part in some if part in each) for each in best}
    cents = sums.pop() if len(sums) == 1 else 0
    left = tray - _cents(part for part in best[0] if part.kind != "sale")
    sold = min(max(-left, 0), -_cents(part for part in parts if part.kind == "sale"))
    return _Explained(sure, some if cents else (), cents, sold, left + sold)


def _largest(
    parts: Sequence[_Part], tray: int, fits: Callable[[Sequence[_Part], int], bool]
) -> list[list[_Part]]:
    """All of the largest sets of parts that fit a tray; none if too many had to be tried."""
    tried = 0
    for size in range(len(parts) + 1):
        tried += comb(len(parts), size)
        if tried > _SETS_MAX:
            return []
        left = ([part for part in parts if part not in out] for out in combinations(parts, size))
        if found := [each for each in left if fits(each, tray)]:
            return found
    return []


def _sums_to(parts: Sequence[_Part], tray: int) -> bool:
    return _cents(parts) == tray


def _each_brings_nearer(parts: Sequence[_Part], tray: int) -> bool:
    """Whether the parts leave less of a tray than without any one of them."""
    rest = tray - _cents(parts)
    return all(abs(rest) < abs(rest + part.amount) for part in parts)


def _rank(parts: Sequence[_Part], tray: int) -> tuple[int, int, int]:
    """The order of sets of one size: known parts come first, then lost facts, then small rests."""
    kinds = [part.kind for part in parts]
    return kinds.count("known"), kinds.count("lost"), -abs(tray - _cents(parts))


def _lost(parts: Iterable[_Part]) -> Iterator[_Part]:
    return (part for part in parts if part.kind == "lost")


def _cents(parts: Iterable[_Part]) -> int:
    return sum(part.amount for part in parts)


def lost_fact(item: Item, beside: Sequence[FactRef]) -> Cause:
    """A fact of a round that its device lost: the tray shows its chips, the record does not."""
    return Cause(
        gap="count",
        code=FACT_MISSING,
        amount=-item.amount,
        round=item.round,
        says=f"A device lost a fact of round {item.round}. {item.says}",
        facts=joined(item.facts, beside),
    )


def _some_lost(lost: Sequence[tuple[Item, Sequence[FactRef]]], amount: int) -> Cause:
    """Lost facts of several wagers, of which the tray has not all chips."""
    names = list(dict.fromkeys(item.round or "" for item, _ in lost))
    return Cause(
        gap="count",
        code=FACT_MISSING,
        amount=amount,
        says=f"A device lost facts of {_rounds(names)}. The tray has {dollars(abs(amount))} "
        f"{_way(amount)}, not the chips of all {len(lost)} wagers, and no fact says of which.",
        facts=joined([ref for item, _ in lost for ref in item.facts], _refs(lost)),
    )


def _refs(lost: Iterable[tuple[Item, Sequence[FactRef]]]) -> list[FactRef]:
    return [ref for _, beside in lost for ref in beside]


def buy_in(amount: int, over: Sequence[Item], counts: Sequence[FactRef]) -> Cause:
    """Chips that left the tray for money that the boxes have, and that nobody recorded."""
    return Cause(
        gap=None,
        code=UNRECORDED_BUY_IN,
        amount=amount,
        says=f"The boxes are over and the tray is short: a buy-in of {dollars(amount)} may "
        "not have been recorded.",
        facts=[*(ref for item in over for ref in item.facts), *counts],
    )


def lost_stake(of: TrayDay, amount: int) -> Cause | None:
    """A wager that a device lost as a whole: the tray alone shows its chips, and no item does.

    amount: what the tray has too much, beside other causes or in all.
    """
    itemised = {item.round for item in of.items}
    rounds = [each for each in of.beside_gaps if each[0] not in itemised]
    if not rounds:
        return None
    names = [name for name, _ in rounds]
    return Cause(
        gap="count",
        code=FACT_MISSING,
        amount=amount,
        round=names[0] if len(names) == 1 else None,
        says=f"A device lost facts of {_rounds(names)}, which may have been of a wager. "
        f"{tray_says(amount, 'The' if amount == of.tray else 'Beside other causes the')}",
        facts=joined(of.counts, [ref for _, its in rounds for ref in its]),
    )


def _rounds(names: Sequence[str]) -> str:
    return f"round {names[0]}" if len(names) == 1 else f"rounds {', '.join(names)}"


def tray_says(amount: int, first: str = "The") -> str:
    """What a tray has too much or too little, in words. first: those before `closer`."""
    return (
        f"{first} closer is {dollars(abs(amount))} {_way(amount)} than opener, slips, sales, "
        "exchanges and the chips of the rounds leave."
    )


def _way(amount: int) -> str:
    return "more" if amount > 0 else "less"
