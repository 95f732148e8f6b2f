"""Counter checks and their books that people enter: each check once, from a book that is out.

What another system recorded is in them as it is, and its faults are exceptions of `checks`.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance import coupons_and_checks
from ledger.adjudication.corrections import corrected, corrections
from ledger.errors import Refused
from ledger.facts import (
    CheckBookSignedIn,
    CheckBookSignedOut,
    CounterCheckIssued,
    CounterCheckRedeemed,
    CounterCheckVoided,
)
from ledger.finance import checks
from ledger.finance.checks import BookLine, CheckLine
from ledger.finance.serials import Serials, each_of, range_text, serials, union
from ledger.values import dollars
from replay.recording.papers import paper_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.facts import Body
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

SHOWN_MAX = 5
"""Ranges that a refusal names."""

Lines = tuple[CheckLine | BookLine, ...]


class EnteredCheckBook(Struct, frozen=True, kw_only=True):
    """A book of blank checks, folded from all facts about checks of its house."""

    property: str
    place: str
    book: str
    version: int = 0  # number of its facts entered at this place
    lines: Lines = ()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its place."""
        return paper_id(self.property, self.place, f"check-book.{self.book}")

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about counter checks."""
        return coupons_and_checks.check_rows(store, self.property)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, as corrected."""
        told = list(facts)
        return replace(self, lines=_lines(told))

    def require(self, body: Body) -> None:
        """Raise `Refused` for a book that is there already, and for numbers that are not blank."""
        if not isinstance(body, CheckBookSignedOut | CheckBookSignedIn):
            return
        its = serials(body.check_from, body.check_to)
        line = next((of for of in _books(self.lines) if of.book == self.book), None)
        is_out = line is not None and line.is_out
        used = each_of(of.check for of in self.lines if isinstance(of, CheckLine)) & its
        if isinstance(body, CheckBookSignedOut):
            if is_out:
                raise self._refused("It is signed out already", "Sign it in first.")
            others = [of.book for of in _books(self.lines) if of is not line and _has(of, its)]
            if others:
                raise self._refused(f"Book {others[0]} has these numbers", "Compare them.")
        else:
            if not is_out:
                raise self._refused("It is not signed out", "Sign it out first.")
            if line and (its - _numbers(line)).pieces:
                raise self._refused("It left without these numbers", "Compare them.")
        if used.pieces:
            names = ", ".join(range_text(of.first, of.last) for of in used.ranges[:SHOWN_MAX])
            raise self._refused(f"{names} is not blank", "Give the blank checks alone.")

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"check book {self.book}", hint=hint)


class EnteredCheck(Struct, frozen=True, kw_only=True):
    """A counter check, folded from all facts about checks of its house.

    forms: those that its payments were entered with.
    """

    property: str
    place: str
    check: str
    forms: frozenset[str] = frozenset()
    version: int = 0  # number of its facts entered at this place
    lines: Lines = ()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its place."""
        return paper_id(self.property, self.place, f"check.{self.check}")

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about counter checks."""
        return coupons_and_checks.check_rows(store, self.property)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, as corrected."""
        told = list(facts)
        paid = (fact.body for fact in told if isinstance(fact.body, CounterCheckRedeemed))
        forms = frozenset(each.form for each in paid if each.form and each.check == self.check)
        return replace(self, lines=_lines(told), forms=forms)

    def require(self, body: Body) -> None:
        """Raise `Refused` for a step that the check's state does not allow.

        A box may not be seen here, so an amount that only a box says is not compared.
        """
        if isinstance(body, CounterCheckRedeemed) and body.form in self.forms:
            raise self._refused("This form was sent already", "Open a new one.")
        checks_ = (of for of in self.lines if isinstance(of, CheckLine))
        line = next((of for of in checks_ if of.check == self.check), None)
        if line and line.voided:
            raise self._refused("It is voided", "Use the next check.")
        match body:
            case CounterCheckIssued():
                if line and line.amount is not None:
                    raise self._refused("It is issued already", "Use the next check.")
                for of in _books(self.lines):
                    if not of.is_out and _has(of, each_of([self.check])):
                        raise self._refused(
                            f"Its book {of.book} is not signed out", "Let finance sign it out."
                        )
            case CounterCheckVoided() if line and line.redeemed:
                raise self._refused("It was paid back", "Compare its number.")
            case CounterCheckRedeemed() if line and line.amount is not None:
                if body.amount > line.outstanding:
                    owed = dollars(line.outstanding)
                    raise self._refused(f"Only {owed} is outstanding", "Compare the amount.")
            case _:
                pass

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"counter check {self.check}", hint=hint)


def _lines(told: Sequence[Fact]) -> Lines:
    return tuple(checks.lines(corrected(told, corrections(told))))


def _books(lines: Lines) -> list[BookLine]:
    return [of for of in lines if isinstance(of, BookLine)]


def _numbers(of: BookLine) -> Serials:
    """The numbers that a book was ever signed out with."""
    return union(serials(*ends) for ends in of.ranges)


def _has(of: BookLine, its: Serials) -> bool:
    return bool((_numbers(of) & its).pieces)
