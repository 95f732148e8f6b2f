"""Counter checks from table to payment, and their books: a line for each (465a.36, 609a.13)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

from ledger.facts import (
    CheckBookSignedOut,
    CounterCheckIssued,
    CounterCheckRedeemed,
    CounterCheckVoided,
)
from ledger.facts.accounting import CheckBook
from ledger.finance.boxes import BOX_FACTS, boxes_of_days, checks_in, papers_in
from ledger.finance.placing import by_time, table_of
from ledger.finance.serials import Serials, each_of, is_range, range_text, serials, union
from ledger.rules.engine.ruling import FactRef, refs
from ledger.values import dollars, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.record.wire import Fact

CHECK_FACTS = (
    CheckBook,
    CounterCheckIssued,
    CounterCheckRedeemed,
    CounterCheckVoided,
    *BOX_FACTS,
)
"""Facts that the lines rest on."""


class CheckException(Struct, frozen=True, kw_only=True):
    """Check numbers that somebody must look at. checks: first and last of each range."""

    code: str
    says: str
    checks: list[tuple[str, str]]
    facts: list[FactRef] = []


class CheckLine(Struct, frozen=True, kw_only=True):
    """One counter check, in cents.

    amount: as issued; None: no table recorded it. boxed: as found in a box; None: in none.
    outstanding: what the patron owes; 0 if it is voided.
    """

    check: str
    amount: int | None
    boxed: int | None
    redeemed: int
    outstanding: int
    voided: bool
    exceptions: list[CheckException] = []


class BookLine(Struct, frozen=True, kw_only=True):
    """One book of manual counter checks (609a.13(c)(3)), in pieces.

    ranges: the numbers that it was ever signed out with. used: issued, voided or found in a box.
    blank: neither used nor missing. is_out: whether the tables have it.
    """

    book: str
    ranges: list[tuple[str, str]]
    used: int
    blank: int
    missing: int
    is_out: bool
    exceptions: list[CheckException]


def lines(facts: Iterable[Fact]) -> list[CheckLine | BookLine]:
    """A line for each check of one property, in order of its number; then one for each book.

    A check that no table recorded is owed as it was found in its box.
    """
    told = sorted(facts, key=by_time)
    papers: dict[str, _CheckPapers] = defaultdict(_CheckPapers)
    for fact in told:
        body = fact.body
        if isinstance(body, CounterCheckIssued):
            papers[body.check].issued.append(fact)
        elif isinstance(body, CounterCheckRedeemed):
            papers[body.check].paid.append(fact)
        elif isinstance(body, CounterCheckVoided):
            papers[body.check].voided.append(fact)
    held = boxes_of_days(told)
    for number, (cents, last) in checks_in(held).items():
        papers[number].boxed = cents, last
    for number, counts in papers_in(held, "check").items():
        papers[number].counts = counts
    found: list[CheckLine | BookLine] = [_line(n, papers[n]) for n in sorted(papers)]
    books: dict[str, list[Fact]] = defaultdict(list)
    for fact in told:
        if isinstance(fact.body, CheckBook):
            books[fact.body.book].append(fact)
    used = each_of(n for n, of in papers.items() if of.issued or of.boxed or of.voided)
    return [*found, *(_book(name, books[name], used, told) for name in sorted(books))]


class _CheckPapers:
    """The facts of one check, each kind in order of time."""

    def __init__(self) -> None:
        self.issued: list[Fact] = []
        self.paid: list[Fact] = []
        self.voided: list[Fact] = []
        self.boxed: tuple[int, Fact] | None = None  # cents, and the count of its box
        self.counts: list[Fact] = []  # each count that it stands in


def _line(number: str, of: _CheckPapers) -> CheckLine:
    amount = next((_cents(fact) for fact in of.issued), None)
    boxed, paid = of.boxed[0] if of.boxed else None, sum(map(_cents, of.paid))
    owed = amount if amount is not None else boxed or 0
    return CheckLine(
        check=number,
        amount=amount,
        boxed=boxed,
        redeemed=paid,
        outstanding=0 if of.voided else owed - paid,
        voided=bool(of.voided),
        exceptions=[
            CheckException(
                code=code,
                says=f"Counter check {number} {says}.",
                checks=[(number, number)],
                facts=refs(facts),
            )
            for code, says, facts in _faults(of, amount, boxed, paid)
        ],
    )


def _faults(
    of: _CheckPapers, amount: int | None, boxed: int | None, paid: int
) -> Iterator[tuple[str, str, Sequence[Fact]]]:
    """Code, words and facts of what does not fit about a check."""
    if len(of.issued) > 1:
        each = (f"for {dollars(_cents(fact))} at {table_of(fact)[1]}" for fact in of.issued)
        yield "issued_twice", f"was issued {', '.join(each)}", of.issued
    at_dealer = [fact for fact in of.issued if _position(fact) == 0]
    if at_dealer:
        yield "issued_to_dealer", "was issued at position 0, which is the dealer's", at_dealer
    if of.boxed and amount is not None and boxed != amount:
        words = f"was issued for {dollars(amount)}, and its box has {dollars(boxed or 0)}"
        yield "boxed_differs", words, [*of.issued, of.boxed[1]]
    if of.boxed and of.voided:
        yield "voided_boxed", "is voided, and is in a box", [*of.voided, of.boxed[1]]
    if len(of.counts) > 1:
        tables = (table_of(fact)[1] for fact in of.counts)
        yield "boxed_twice", f"is in boxes {len(of.counts)} times: {', '.join(tables)}", of.counts
    if of.paid and amount is None and boxed is None:
        yield "paid_unknown", "was paid back, and neither a table nor a box has it", of.paid
    elif paid > (owed := amount if amount is not None else boxed or 0):
        yield "overpaid", f"is for {dollars(owed)}, and {dollars(paid)} was paid back", of.paid


def _position(fact: Fact) -> int | None:
    return fact.body.position if isinstance(fact.body, CounterCheckIssued) else None


def _cents(fact: Fact) -> int:
    body = fact.body
    return body.amount if isinstance(body, CounterCheckIssued | CounterCheckRedeemed) else 0


def _book(name: str, moves: Sequence[Fact], used: Serials, told: Iterable[Fact]) -> BookLine:
    """The line of a book; `moves`: the facts that it left and came back, in order of time."""
    ever = union(map(_numbers, moves))
    held = _numbers(moves[-1])
    missing = ever - held - used
    out = [isinstance(fact.body, CheckBookSignedOut) for fact in moves]
    is_out = out[-1]
    late = Serials() if is_out else held & _used_before(told, moves[-1].time_us)
    states = list(zip(moves, (False, *out), out, strict=False))  # whether it was out, and is
    out_twice = [fact for fact, was, now in states if was and now]
    in_twice = [fact for fact, was, now in states if not was and not now]
    exceptions = [
        _exception("check_missing", "neither used nor brought back", missing, moves),
        _exception("used_and_blank", "used, and came back as blank", late, moves[-1:]),
        _exception("out_twice", "signed out while out", union(map(_numbers, out_twice)), out_twice),
        _exception("in_twice", "signed in while in", union(map(_numbers, in_twice)), in_twice),
    ]
    no_range = [_no_range(fact, fact.body) for fact in moves if isinstance(fact.body, CheckBook)]
    return BookLine(
        book=name,
        ranges=ever.ends,
        used=(ever & used).pieces,
        blank=(held - used).pieces,
        missing=missing.pieces,
        is_out=is_out,
        exceptions=[each for each in (*exceptions, *no_range) if each and each.checks],
    )


def _no_range(fact: Fact, book: CheckBook) -> CheckException | None:
    """The exception of a book whose first number is not of one series below its last."""
    if is_range(book.check_from, book.check_to):
        return None
    return CheckException(
        code="no_range",
        says=f"Book {book.book} is on record from {book.check_from} to {book.check_to}, "
        "which is no range: it counts none.",
        checks=[(book.check_from, book.check_to)],
        facts=refs([fact]),
    )


def _numbers(fact: Fact) -> Serials:
    """The blank checks that a book left with, or came back with."""
    body = fact.body
    return serials(body.check_from, body.check_to) if isinstance(body, CheckBook) else Serials()


def _used_before(told: Iterable[Fact], time_us: int) -> Serials:
    """The checks issued or voided before a moment."""
    return each_of(
        fact.body.check
        for fact in told
        if isinstance(fact.body, CounterCheckIssued | CounterCheckVoided) and fact.time_us < time_us
    )


def _exception(code: str, says: str, checks: Serials, facts: Sequence[Fact]) -> CheckException:
    shown = ", ".join(range_text(*each) for each in checks.ends)
    verb = "was" if checks.pieces == 1 else "were"
    return CheckException(
        code=code,
        says=f"{quantity(checks.pieces, 'counter check')} {verb} {says}: {shown}.",
        checks=checks.ends,
        facts=refs(facts),
    )
