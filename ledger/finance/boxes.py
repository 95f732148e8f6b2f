"""Drop boxes: what each held by its last count, beside what the table recorded as sold for it."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ledger.facts import (
    CashBoughtIn,
    CounterCheckIssued,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    DropBoxVerified,
    Voucher,
    VoucherBoughtIn,
)
from ledger.finance.placing import table_of
from ledger.finance.win import AuditException, BoxContent, Cause
from ledger.rules.engine.ruling import joined, refs
from ledger.values import dollars, sum_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.finance.placing import TableId
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import FactRef

KINDS = ("cash", "foreign", "counter_checks", "vouchers", "chips")
"""What a box may hold beside coupons."""


BOX_FACTS = (DropBoxAttached, DropBoxRemoved, DropBoxCounted, DropBoxVerified)
"""Facts of a box."""

HANGS = (DropBoxAttached, DropBoxRemoved, DropBoxCounted)
"""Facts that say whether a box hangs: it does until it is removed or counted."""

_STEPS = dict(zip(BOX_FACTS, ("moves", "moves", "counts", "verified"), strict=True))


class DropBox(NamedTuple):
    """One stay of a box at a table on a gaming day, with its facts in order of time.

    A stay begins as the box is attached, and ends as it is attached again: then it was emptied.
    """

    number: str
    counts: tuple[Fact, ...] = ()
    verified: tuple[Fact, ...] = ()
    moves: tuple[Fact, ...] = ()  # attached, removed

    @property
    def last(self) -> Fact | None:
        """The last count: the one with the highest number, of several the latest."""
        return max(self.counts, key=_rank, default=None)


def _rank(fact: Fact) -> tuple[int, int, str, str]:
    count = fact.body.count if isinstance(fact.body, DropBoxCounted) else 0
    return count, fact.time_us, fact.source, fact.id


def boxes(facts: Iterable[Fact], *, by_stay: bool = True) -> list[DropBox]:
    """The stays of boxes at a table on a gaming day, by number and then in order of time.

    facts: in order of time. by_stay: False: all of a box is one stay. Counts before the first
    attachment are of the stay that it begins, as the clocks of two devices may differ.
    """
    found: dict[str, list[DropBox]] = {}
    for fact in facts:
        body = fact.body
        if not isinstance(body, BOX_FACTS):
            continue
        stays = found.setdefault(body.box, [DropBox(body.box)])
        last, step = stays[-1], _STEPS[type(body)]
        if by_stay and isinstance(body, DropBoxAttached) and (last.moves or last.verified):
            last = DropBox(body.box)
            stays.append(last)
        its: dict[str, Any] = {step: (*getattr(last, step), fact)}
        stays[-1] = last._replace(**its)
    return [stay for number in sorted(found) for stay in found[number]]


def counted(fact: Fact, bought: Mapping[str, int]) -> dict[str, int | None]:
    """The cents in a count by kind. `bought`: cents of vouchers by number, where sold for chips."""
    return money_in(fact.body, bought) if isinstance(fact.body, DropBoxCounted) else {}


def money_in(body: DropBoxCounted, bought: Mapping[str, int]) -> dict[str, int | None]:
    """As `counted`, of a count that need not be on record."""
    vouchers = [
        (each.amount if each.amount is not None else bought.get(each.voucher))
        if isinstance(each, Voucher)
        else bought.get(each)
        for each in body.vouchers
    ]
    return {
        "cash": _value(body.currency),
        "foreign": foreign_value(body),
        "counter_checks": sum(check.amount for check in body.counter_checks),
        "vouchers": sum_known(vouchers),
        "chips": _value(body.chips or {}),
    }


def count_total(fact: Fact, bought: Mapping[str, int]) -> int | None:
    """The cents of a count, `bought` as in `counted`; None if a voucher has no known amount."""
    amounts = counted(fact, bought)
    return sum_known(amounts.values()) if amounts else None


def foreign_value(of: DropBoxCounted) -> int:
    """Cents of the foreign notes at their rates, each currency down to the cent."""
    return sum(int(_value(each.notes) * Fraction(each.rate)) for each in of.foreign)


def _value(pieces: Mapping[str, int]) -> int:
    """Cents of chips or notes by denomination."""
    return sum(int(denomination) * count for denomination, count in pieces.items())


def content(
    of: Sequence[DropBox], bought: Mapping[str, int], *, is_filled: bool = False
) -> BoxContent:
    """What all boxes held by their last counts; None where a box is not counted.

    is_filled: the table played or put something into a box, so no box on record is no empty one.
    """
    if is_filled and not of:
        return BoxContent(**dict.fromkeys(KINDS), total=None)
    counts = [counted(box.last, bought) if box.last else dict.fromkeys(KINDS) for box in of]
    sums = {kind: sum_known(count[kind] for count in counts) for kind in KINDS}
    return BoxContent(**sums, total=sum_known(sums.values()))


def sold(facts: Iterable[Fact]) -> dict[str, int]:
    """What the table recorded as sold against money for its boxes, cents by kind."""
    found = dict.fromkeys(KINDS, 0)
    for fact in facts:
        body = fact.body
        if isinstance(body, CashBoughtIn):
            found["foreign" if body.tendered else "cash"] += body.amount
        elif isinstance(body, CounterCheckIssued):
            found["counter_checks"] += body.amount
        elif isinstance(body, VoucherBoughtIn):
            found["vouchers"] += body.amount
    return found


def sellers(kind: str, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that `sold` adds for one kind."""
    return [fact for fact in facts if sold([fact])[kind]]


def vouchers_bought(facts: Iterable[Fact]) -> dict[str, int]:
    """Cents of the vouchers that were sold for chips, by number."""
    return {f.body.voucher: f.body.amount for f in facts if isinstance(f.body, VoucherBoughtIn)}


PaperKind = Literal["coupon", "check", "voucher"]
"""Papers in a box that have a number of their own."""


def numbers_of(body: DropBoxCounted) -> dict[PaperKind, list[str]]:
    """The numbers of the papers in a count, by kind."""
    vouchers = (each.voucher if isinstance(each, Voucher) else each for each in body.vouchers)
    return {
        "coupon": list(body.coupons),
        "check": [each.check for each in body.counter_checks],
        "voucher": list(vouchers),
    }


def papers_in(of: Iterable[DropBox], kind: PaperKind) -> dict[str, list[Fact]]:
    """The counts that each number of a kind stands in, each stay of a box by its last count."""
    found: dict[str, list[Fact]] = {}
    for box in of:
        if box.last and isinstance(box.last.body, DropBoxCounted):
            for number in numbers_of(box.last.body)[kind]:
                found.setdefault(number, []).append(box.last)
    return found


def without_amount(facts: Iterable[Fact]) -> set[str]:
    """Numbers of vouchers in any count of a box of which neither it nor a sale has an amount.

    `facts`: of a table's gaming day.
    """
    told = list(facts)
    bought = vouchers_bought(told)
    return {
        number
        for fact in told
        if isinstance(fact.body, DropBoxCounted)
        for number in numbers_of(fact.body)["voucher"]
        if voucher_cents(fact, number, bought) is None
    }


def coupons_in(of: Iterable[DropBox]) -> dict[str, list[Fact]]:
    """The counts that a coupon's serial stands in, each stay of a box by its last count."""
    return papers_in(of, "coupon")


def checks_in(of: Iterable[DropBox]) -> dict[str, tuple[int, Fact]]:
    """The cents of each counter check by its number, and the count it stands in."""
    return {
        check.check: (check.amount, box.last)
        for box in of
        if box.last and isinstance(box.last.body, DropBoxCounted)
        for check in box.last.body.counter_checks
    }


def boxes_of_days(facts: Iterable[Fact]) -> list[DropBox]:
    """The boxes of all tables and gaming days; `facts` are in order of time."""
    days: dict[tuple[TableId, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, BOX_FACTS):
            days[table_of(fact), fact.body.gaming_day].append(fact)
    return [box for its in days.values() for box in boxes(its)]


def causes(
    of: Iterable[DropBox],
    facts: Sequence[Fact],
    bought: Mapping[str, int],
    voided: Mapping[str, Sequence[FactRef]],
) -> Iterator[Cause]:
    """Checks and vouchers that are in no box of their table, and those that it did not record.

    Such a check may be in another table's box: `checks` has all tables. bought: cents of the
    vouchers that are known, by number. voided: what voids checks, by number.
    """
    issued = {f.body.check: f for f in facts if isinstance(f.body, CounterCheckIssued)}
    counted_boxes = list(of)
    found = checks_in(counted_boxes)
    is_counted = any(box.last for box in counted_boxes)
    for number in sorted(issued.keys() - found.keys()) if is_counted else ():
        body = issued[number].body
        amount = body.amount if isinstance(body, CounterCheckIssued) else 0
        void = voided.get(number, ())
        how = "voided, and is in no box of this table. The tray has as much if its chips stayed"
        how = f"{how} there." if void else "issued and is in no box of this table."
        yield Cause(
            gap="count",
            code="check_voided" if void else "check_missing",
            amount=-amount,
            says=f"Counter Check {number} of {dollars(amount)} was {how}",
            facts=joined(refs([issued[number]]), void),
        )
    for number in sorted(found.keys() - issued.keys()):
        amount, last = found[number]
        yield Cause(
            gap="count",
            code="check_unknown",
            amount=amount,
            says=f"Counter Check {number} of {dollars(amount)} is in a box of this table, which "
            "did not record it.",
            facts=refs([last]),
        )
    if is_counted:
        yield from _of_vouchers(counted_boxes, facts, bought)


AMOUNTS_DIFFER = {kind: f"{kind}_amounts_differ" for kind in ("check", "voucher")}
"""The codes of papers that a box has at another amount than the table recorded, by kind."""


def amounts_differ(of: Sequence[DropBox], facts: Iterable[Fact]) -> Iterator[AuditException]:
    """Checks and vouchers that the boxes have at another amount than the table sold chips for.

    facts: of the table's gaming day. A voucher has an amount of its own if it is printed on it.
    """
    told: dict[tuple[str, str], list[tuple[Fact, int]]] = defaultdict(list)
    for fact in facts:
        match fact.body:
            case CounterCheckIssued(check=number, amount=amount):
                told["check", number].append((fact, amount))
            case VoucherBoughtIn(voucher=number, amount=amount):
                told["voucher", number].append((fact, amount))
    boxed: dict[tuple[str, str], tuple[int | None, Fact]] = {
        ("check", number): each for number, each in checks_in(of).items()
    }
    for number, counts in papers_in(of, "voucher").items():
        boxed["voucher", number] = voucher_cents(counts[-1], number, {}), counts[-1]
    for kind, number in sorted(told.keys() & boxed.keys()):
        (counted_at, last), its = boxed[kind, number], told[kind, number]
        if counted_at is not None and all(counted_at != cents for _, cents in its):
            name = "Counter Check" if kind == "check" else "Voucher"
            sold = " and for ".join(dollars(cents) for _, cents in its)
            yield AuditException(
                code=AMOUNTS_DIFFER[kind],
                says=f"{name} {number} was sold for {sold} of chips, and a box of this table has "
                f"it at {dollars(counted_at)}; the drop has the count's amount.",
                facts=refs([*(fact for fact, _ in its), last]),
            )


def _of_vouchers(
    of: Iterable[DropBox], facts: Sequence[Fact], bought: Mapping[str, int]
) -> Iterator[Cause]:
    """Vouchers that were sold for chips and are in no box of the table, and the other way round."""
    sold = {f.body.voucher: f for f in facts if isinstance(f.body, VoucherBoughtIn)}
    found = papers_in(of, "voucher")
    for number in sorted(sold.keys() - found.keys()):
        amount = vouchers_bought([sold[number]])[number]
        yield Cause(
            gap="count",
            code="voucher_missing",
            amount=-amount,
            says=f"Voucher {number} of {dollars(amount)} was sold for chips and is in no box of "
            "this table.",
            facts=refs([sold[number]]),
        )
    for number in sorted(found.keys() - sold.keys()):
        known = voucher_cents(found[number][0], number, bought)
        if known is not None:
            yield Cause(
                gap="count",
                code="voucher_unknown",
                amount=known,
                says=f"Voucher {number} of {dollars(known)} is in a box of this table, which did "
                "not record it.",
                facts=refs(found[number][:1]),
            )


def voucher_cents(count: Fact, number: str, bought: Mapping[str, int]) -> int | None:
    """The cents of a voucher in a count: as printed on it, else as it was sold for chips."""
    body = count.body
    for each in body.vouchers if isinstance(body, DropBoxCounted) else ():
        if isinstance(each, Voucher) and each.voucher == number and each.amount is not None:
            return each.amount
    return bought.get(number)


def exceptions(
    of: Sequence[DropBox], bought: Mapping[str, int], *, by_number: bool = True
) -> Iterator[AuditException]:
    """Counts that disagree, with one another or with the cage.

    by_number: papers of one sum that have other numbers disagree, too.
    """
    for box in of:
        contents = [(counted(fact, bought), _coupons(fact)) for fact in box.counts]
        sums = [money_counted(sum_known(each.values())) for each, _ in contents]
        others = _in_one_count(box.counts) if by_number else ""
        if others or any(each != contents[0] for each in contents):
            said = [] if others and len(set(sums)) == 1 else [" and ".join(sums)]
            how = "; ".join([*said, *filter(None, [others])])
            yield AuditException(
                code="counts_disagree",
                says=f"The counts of box {box.number} disagree: {how}.",
                facts=refs(box.counts),
            )
        yield from _without_rate(box)
        total = count_total(box.last, bought) if box.last else None
        for fact in box.verified if total is not None else ():
            if isinstance(fact.body, DropBoxVerified) and fact.body.total != total:
                yield AuditException(
                    code="verification_disagrees",
                    says=f"The cage verified {dollars(fact.body.total)} in box {box.number}; "
                    f"{money_counted(total)} was counted.",
                    facts=refs([*box.counts, fact]),
                )


def _without_rate(box: DropBox) -> Iterator[AuditException]:
    """The exception of foreign notes in a box that count for nothing."""
    notes = box.last.body.foreign if box.last and isinstance(box.last.body, DropBoxCounted) else ()
    lacks = [each.currency for each in notes if each.notes and not Fraction(each.rate)]
    if box.last and lacks:
        yield AuditException(
            code="notes_without_rate",
            says=f"Notes of {' and '.join(lacks)} in box {box.number} have a rate of 0; they count "
            "for nothing.",
            facts=refs([box.last]),
        )


def _in_one_count(counts: Sequence[Fact]) -> str:
    """The papers that some counts of a box have and others lack, in words; empty if none."""
    told = [numbers_of(fact.body) for fact in counts if isinstance(fact.body, DropBoxCounted)]
    parts = []
    for kind in get_args(PaperKind):
        seen = [frozenset(each[kind]) for each in told]
        differ = sorted(frozenset().union(*seen) - frozenset.intersection(*seen)) if seen else []
        parts += [f"{kind} {number}" for number in differ]
    if not parts:
        return ""
    return f"not every count has {', '.join(parts)}"


def is_third_due(counts: Iterable[Fact]) -> bool:
    """Whether two counts of a box disagree, and no third one was made.

    They do so in money of a kind that both know, or in the numbers of papers.
    """
    told = {fact.body.count: fact for fact in counts if isinstance(fact.body, DropBoxCounted)}
    if told.keys() != {1, 2}:
        return False
    money = zip(*(counted(told[nth], {}).values() for nth in (1, 2)), strict=True)
    differ = any(None not in pair and len(set(pair)) > 1 for pair in money)
    both = list(told.values())
    return differ or bool(_in_one_count(both)) or _coupons(both[0]) != _coupons(both[1])


def _coupons(fact: Fact) -> list[str]:
    return sorted(fact.body.coupons) if isinstance(fact.body, DropBoxCounted) else []


def money_counted(amount: int | None) -> str:
    """The cents of a count in words."""
    return "an unknown amount" if amount is None else dollars(amount)
