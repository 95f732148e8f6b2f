"""Batches of coupons that people enter, from the printer to their end (603a.20-21).

All batches of a house are one aggregate: a serial is in one of them, and an inventory covers all.
What another system recorded is in them as it is, and its faults are exceptions of `coupons`.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, NoReturn, Self

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance import coupons_and_checks
from ledger.adjudication.corrections import corrected, corrections
from ledger.errors import Refused
from ledger.facts import (
    CouponDropped,
    CouponsCancelled,
    CouponsDistributed,
    CouponsIssued,
    CouponsReceived,
    CouponsRequisitioned,
    CouponsReturned,
    CouponsVoided,
)
from ledger.finance.coupons import CouponStock, named_serials, stock
from ledger.finance.rounds import is_poker
from ledger.finance.serials import Serials, range_text
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


class CouponBatches(Struct, frozen=True, kw_only=True):
    """The batches of a house as one place sees them, folded from the facts of all places."""

    property: str
    place: str
    version: int = 0  # number of their facts entered at this place
    stock: CouponStock = CouponStock()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its place."""
        return paper_id(self.property, self.place, "coupons")

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about coupons."""
        return coupons_and_checks.coupon_rows(store, self.property)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """They after these facts, as corrected."""
        told = list(facts)
        as_meant = corrected(told, corrections(told))
        return replace(self, stock=stock(as_meant))

    def require(self, body: Body) -> None:
        """Raise `Refused` for a step that the serials' state does not allow."""
        of, its = self.stock, named_serials(body)
        match body:
            case CouponsRequisitioned():
                if body.requisition in of.requisitions:
                    self._refuse(f"Requisition {body.requisition}", "on record", "Use the next.")
            case CouponsReceived():
                self._none(its & of.known, "in a batch already", "Compare them with the invoice.")
            case CouponsIssued():
                self._require_issue(body, its)
            case CouponsDistributed() | CouponsReturned():
                self._none(its - of.out, "not with the department", "Enter their issue first.")
                self._require_face(its, body.face)
            case CouponsVoided():
                self._require_known(its)
                self._none(its & of.voided, "voided already", "Leave them out.")
                self._none(its & (of.given | of.used), "with patrons, or used", "Cancel those.")
            case CouponsCancelled():
                self._require_known(its)
                self._none(its & of.cancelled, "cancelled already", "Leave them out.")
            case CouponDropped():
                hint = "Enter it as refused."
                self._none(its & (of.voided | of.cancelled), "voided or cancelled", hint)
                self._none(its & of.used, "dropped already", hint)
                self._require_face(its, body.face)
            case _:
                pass

    def _require_issue(self, body: CouponsIssued, its: Serials) -> None:
        of = self.stock
        for game in filter(is_poker, body.games):
            hint = "Name games in which patrons wager against the house (603a.21(a))."
            self._refuse(f"Game {game}", "played for pots", hint)
        if of.received.pieces:
            self._none(its - of.received, "not received", "Enter their receipt first.")
        self._none(its & of.out, "issued already", "Enter their return first.")
        self._none(its & (of.given | of.used), "with patrons, or used", "Leave them out.")
        self._none(its & (of.voided | of.cancelled), "voided or cancelled", "Leave them out.")
        self._require_face(its, body.face)
        if body.requisition:
            self._require_requisition(body, its, body.requisition)

    def _require_requisition(self, body: CouponsIssued, its: Serials, number: str) -> None:
        """It asked for coupons of that face, and for as many."""
        asked = self.stock.requisitions.get(number)
        if asked is None:
            self._refuse(f"Requisition {number}", "not on record", "Enter it first.")
        if asked.face != body.face:
            its_face = f"for coupons of {dollars(asked.face)}"
            self._refuse(f"Requisition {number}", its_face, "Compare the face.")
        left = asked.quantity - self.stock.requisitioned.get(number, 0)
        if its.pieces > left:
            its_number = f"for {asked.quantity:,} coupons, and {left:,} are left"
            self._refuse(f"Requisition {number}", its_number, "Issue fewer, or use another.")

    def _require_known(self, its: Serials) -> None:
        self._none(its - self.stock.known, "of no batch on record", "Enter their receipt first.")

    def _require_face(self, its: Serials, face: int) -> None:
        others = self.stock.of_another_face(its, face)
        self._none(others, f"of another face than {dollars(face)}", "Compare the face.")

    def _none(self, found: Serials, says: str, hint: str) -> None:
        """Raise `Refused` if there is any of these serials."""
        if found.pieces:
            shown = [range_text(each.first, each.last) for each in found.ranges[:SHOWN_MAX]]
            more = ["others"] if len(found.ranges) > SHOWN_MAX else []
            name = "Coupon" if found.pieces == 1 else "Coupons"
            self._refuse(f"{name} {', '.join(shown + more)}", says, hint, found.pieces)

    def _refuse(self, what: str, says: str, hint: str, pieces: int = 1) -> NoReturn:
        verb = "is" if pieces == 1 else "are"
        raise Refused(f"{what} {verb} {says}", where=f"coupons of {self.property}", hint=hint)
