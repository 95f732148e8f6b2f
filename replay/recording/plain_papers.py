"""Papers of one fact that people enter: counter checks, their books, coupons, boxes, tournaments.

Each form is a row of `FORMS`, and an aggregate decides it. What stands for itself is recorded once
under the form's key, however often it is sent.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance import papers
from ledger.adjudication.corrections import corrected, corrections
from ledger.errors import Refused, Usage
from ledger.facts import FACTS, DropBoxAttached
from ledger.facts.vocabulary import FactOutsideRound
from ledger.finance.boxes import HANGS
from ledger.finance.placing import by_time, day_before, table_of
from ledger.finance.serials import is_range
from replay.recording.counter_checks import EnteredCheck, EnteredCheckBook
from replay.recording.coupon_batches import CouponBatches
from replay.recording.papers import EntryPaper, paper_id
from replay.text.typed import two_people

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from infra.access.users import Role
    from infra.postgres.view_tables import ViewStore
    from ledger.facts import Body
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

FieldKind = Literal[
    "text",
    "prose",
    "table",
    "money",
    "signed",
    "signed_maybe",
    "number",
    "position",
    "day",
    "begun",
    "lines",
    "ranges",
    "choice",
    "maybe",
]
Decider = Literal["form", "coupons", "check", "book", "box"]
"""What decides a form: itself alone, the batches of coupons, a counter check, its book, or a box.
"""


class PaperField(NamedTuple):
    """A field of a form: its name in the fact, its label, and how it is read."""

    name: str
    label: str
    kind: FieldKind = "text"
    choices: Sequence[str] = ()  # of a choice; an empty one leaves the field out


class PaperForm(NamedTuple):
    """A form of one fact, the role that enters it, and the place whose tape has it."""

    fact: str  # without its version
    title: str
    role: Role
    place: str  # empty: the table that the form names
    fields: Sequence[PaperField]
    mine: str = ""  # the field of the signed-in person
    second: str = ""  # the field of the second person; empty: one person is enough
    second_label: str = ""
    several: bool = False  # the second person's field is a list
    of_both: bool = False  # the law wants the second person of another department than the role's
    keyed: bool = False  # its fact has the form's key
    act: str = ""  # the act that another person approves; empty: it is recorded at once
    decided_by: Decider = "form"
    says: str = ""  # what it is for, if the title does not say it


_TABLE = PaperField("table", "Table", "table")
_DAY = PaperField("gaming_day", "Gaming day", "begun")
_AMOUNT = PaperField("amount", "Dollars", "money")
_CHECK = PaperField("check", "Number of the check")
_REASON = PaperField("reason", "Reason")
_BOX = (PaperField("box", "Number of the box"), _TABLE, _DAY, PaperField("shift", "Shift", "maybe"))
_BOOK = (
    PaperField("book", "Number of the book"),
    PaperField("check_from", "First blank check"),
    PaperField("check_to", "Last blank check"),
)
_SERIALS = (
    PaperField("serial_from", "First serial"),
    PaperField("serial_to", "Last serial"),
    PaperField("face", "Face of each, dollars", "money"),
)
_COUPON = (_TABLE, PaperField("serial", "Serial"), PaperField("face", "Face, dollars", "money"))
_EACH = (PaperField("serials", "Serials, one a line", "lines"), _REASON)
_TOURNAMENT = (PaperField("tournament", "Name of the tournament"), _TABLE, _DAY, _AMOUNT)

FORMS = (
    PaperForm("drop_box_attached", "Drop box attached", "pit", "", _BOX, decided_by="box"),
    PaperForm("drop_box_removed", "Drop box removed", "pit", "", _BOX),
    PaperForm(
        "counter_check_issued", "Counter check issued", "pit", "",
        (_TABLE, PaperField("position", "Betting position", "position"), _CHECK, _AMOUNT),
        decided_by="check",
    ),
    PaperForm(
        "coupon_dropped", "Coupon dropped", "pit", "", _COUPON,
        decided_by="coupons",
    ),
    PaperForm("coupon_refused", "Coupon refused", "pit", "", (*_COUPON, _REASON)),
    PaperForm(
        "counter_check_redeemed", "Counter check redeemed", "cage", "cage", (_CHECK, _AMOUNT), "by",
        keyed=True, decided_by="check",
    ),
    PaperForm(
        "counter_check_voided", "Counter check voided", "cage", "cage", (_CHECK, _REASON), "by",
        decided_by="check",
    ),
    PaperForm("tournament_entered", "Tournament entered", "cage", "cage", _TOURNAMENT, "by"),
    PaperForm("tournament_prize_paid", "Tournament prize", "cage", "cage", _TOURNAMENT, "by"),
    PaperForm(
        "check_book_signed_out", "Check book signed out", "finance", "office", _BOOK,
        "issued_by", "received_by", "Received by",
        decided_by="book",
    ),
    PaperForm(
        "check_book_signed_in", "Check book signed in", "finance", "office", _BOOK,
        "received_by", "issued_by", "Brought back by",
        decided_by="book",
    ),
    PaperForm(
        "coupons_received", "Coupons received", "finance", "office",
        (*_SERIALS, PaperField("invoice", "Invoice")),
        "recorded_by", "checked_by", "Compared with the invoice by", several=True,
        of_both=True, decided_by="coupons",
    ),
    PaperForm(
        "coupons_requisitioned", "Coupons requisitioned", "finance", "office",
        (
            PaperField("requisition", "Number of the requisition"),
            PaperField("face", "Face of each, dollars", "money"),
            PaperField("quantity", "How many coupons", "number"),
            PaperField("needed_on", "Gaming day when they are needed", "day"),
        ),
        "authorised_by", "prepared_by", "Prepared by",
        of_both=True, decided_by="coupons",
        says="Marketing asks for coupons, and finance authorises it.",
    ),
    PaperForm(
        "coupons_issued", "Coupons issued", "finance", "office",
        (
            *_SERIALS, PaperField("terms", "Terms", "choice", ("even_money", "odds")),
            PaperField("games", "Games, one id a line", "lines"),
            PaperField("expires", "Last gaming day", "day"),
            PaperField("requisition", "Requisition", "maybe"),
        ),
        "by", "to", "Issued to",
        of_both=True, decided_by="coupons",
    ),
    PaperForm(
        "coupons_distributed", "Coupons distributed", "finance", "office", (*_SERIALS, _DAY),
        "recorded_by", "by", "Marketing supervisor who completed the form",
        of_both=True, decided_by="coupons",
        says="Marketing distributes coupons (603a.20(d)), and finance enters its daily form.",
    ),
    PaperForm(
        "coupons_returned", "Coupons returned", "finance", "office", (*_SERIALS, _REASON),
        "received_by", "returned_by", "Returned by",
        of_both=True, decided_by="coupons",
    ),
    PaperForm(
        "coupons_voided", "Coupons voided", "finance", "office", _EACH, "by",
        decided_by="coupons",
    ),
    PaperForm(
        "coupons_cancelled", "Coupons cancelled", "finance", "office", _EACH, "by",
        decided_by="coupons",
    ),
    PaperForm(
        "coupons_inventoried", "Coupons in stock", "finance", "office",
        (PaperField("held", "Ranges held, one a line: first and last serial", "ranges"),),
        "by", "observed_by", "Observed by",
    ),
    PaperForm(
        "variance_explained", "Variance explained", "finance", "office",
        (
            _TABLE, _DAY, PaperField("amount", "Dollars that it explains, as -25.00", "signed"),
            PaperField("unexplained", "Dollars that stay unexplained, as -25.00", "signed_maybe"),
            PaperField("because", "What the investigation found", "prose"),
            PaperField("about", "Name of a limit, or gap for the gaps of the day", "maybe"),
            PaperField("period", "Period", "choice", ("", "day", "month", "year")),
            PaperField("shift", "Shift", "maybe"),
        ),
        "by", act="variance_explain",
        says="A written investigation, signed by two. It counts in each line of the table that "
        "ends on this gaming day, or in those that it names. A line is closed once what is left "
        "lies within its limit, and gaps once nothing is left.",
    ),
)  # fmt: skip
"""Every form, in the order of the list."""

_RANGES = (("check_from", "check_to"), ("serial_from", "serial_to"))


class EntryForm(EntryPaper, Protocol):
    """A paper that decides the forms of its kind."""

    def require(self, body: Body) -> None:
        """Raise `Refused` for a fact that its state does not allow."""


class EnteredPaper(Struct, frozen=True, kw_only=True):
    """A form that stands for itself: recorded once under its key."""

    property: str
    place: str
    fact: str
    key: str
    version: int = 0

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its place."""
        return paper_id(self.property, self.place, f"{self.fact}.{self.key}")

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """No row of a view: another system's fact is another paper."""
        del store
        return []

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts."""
        del facts
        return self

    def require(self, body: Body) -> None:
        """Raise `Refused` if it was sent before."""
        del body
        if self.version:
            raise Refused("This form was sent already", where=self.fact, hint="Open a new one.")


class AttachedBox(EnteredPaper, frozen=True, kw_only=True):
    """A box that is to be attached: it hangs nowhere, by the facts of this day and the day before.

    hangs_at: the table; empty: none.
    """

    box: str
    gaming_day: str
    hangs_at: str = ""

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about boxes of these days."""
        days = (self.gaming_day, day_before(self.gaming_day))
        return papers.box_rows(store, self.property, days)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, as corrected."""
        told = list(facts)
        meant = corrected(told, corrections(told))
        its = (f for f in meant if isinstance(f.body, HANGS) and f.body.box == self.box)
        last = max(its, key=by_time, default=None)
        hangs = last is not None and isinstance(last.body, DropBoxAttached)
        return replace(self, hangs_at=table_of(last)[1] if last and hangs else "")

    def require(self, body: Body) -> None:
        """Raise `Refused` if it was sent before, or the box hangs."""
        super().require(body)
        if self.hangs_at:
            raise Refused(
                f"Box {self.box} hangs at {self.hangs_at}",
                where=f"box {self.box}",
                hint="Enter that it was removed there, or compare its number.",
            )


def paper_of(form: PaperForm, property_: str, key: str, values: Mapping[str, Any]) -> EntryForm:
    """The aggregate that decides a form, before it is read."""
    place = form.place or values["table"]
    match form.decided_by:
        case "coupons":
            return CouponBatches(property=property_, place=place)
        case "book":
            return EnteredCheckBook(property=property_, place=place, book=values["book"])
        case "check":
            return EnteredCheck(property=property_, place=place, check=values["check"])
        case "box":
            box, day = values["box"], values["gaming_day"]
            return AttachedBox(
                property=property_, place=place, fact=form.fact, key=key, box=box, gaming_day=day
            )
        case _:
            return EnteredPaper(property=property_, place=place, fact=form.fact, key=key)


def filled(form: PaperForm, key: str, values: Mapping[str, Any], me: str, second: str) -> Body:
    """The fact of a form with its key. Raises `Usage`."""
    for first, last in (*_ends(values), *values.get("held", ())):
        if not is_range(first, last):
            raise Usage(
                f"{first} to {last} is no range",
                where="serials",
                hint="Give the lower number first, both of one series.",
            )
    struct = FACTS[f"{form.fact}.v1"]
    at_place = not form.place and issubclass(struct, FactOutsideRound)
    left_out = {"table"} if at_place else set()
    found = {n: its for n, its in values.items() if its is not None and n not in left_out}
    if form.second:
        _, other = two_people(me, second, form.second_label)
        found[form.second] = (other,) if form.several else other
    if form.keyed:
        found["form"] = key
    if form.mine:
        found[form.mine] = me
    return struct(**found)


def _ends(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(values[low], values[high]) for low, high in _RANGES if low in values]
