"""What a gaming day still wants, and where each is worked off: a page, or a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

from ledger.finance.statistics.hold import GAP
from ledger.values import sum_known
from replay.text.wins import missing_says, named, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.finance.variances import SignedGap
    from infra.access.users import Role, User
    from ledger.finance.win import Cause, TableWin


class WhereToGo(NamedTuple):
    """The page or command that works something off. path: None for a command."""

    says: str
    path: str | None = None
    roles: tuple[Role, ...] = ("finance", "auditor")


class WorkItem(NamedTuple):
    """One thing to work off."""

    property: str
    table: str
    code: str
    says: str
    to: WhereToGo
    may: bool  # whether this user's role opens that page


def work_list(
    win: TableWin, user: User, *, withheld: bool = False, of_gap: SignedGap | None = None
) -> Iterator[WorkItem]:
    """What one table's day wants; nothing of its rounds if they are withheld from the user.

    Items that set each other off are a gap all the same. of_gap: what was signed of its gaps, which
    are closed if nothing is left of their sum.
    """
    names = ("count_gap", "bank_variance" if win.owed is None else "pay_gap")
    gap = sum_known(getattr(win, name) for name in names)
    told = of_gap.signed if of_gap else None
    left = None if gap is None else gap - (told or 0)
    explained = told is not None and left == 0
    for name in win.missing:
        if not (withheld and name.startswith("round:")):
            says = missing_says(win, name)
            code = name.partition(":")[0]
            yield _item(win, user, f"{code} missing", says, _missing(win, name))
    for each in win.exceptions:
        yield _item(win, user, each.code, each.says, _exception(win, each.code))
    for cause in () if withheld or explained else win.causes:
        yield _item(win, user, cause.code, cause.says, _cause(win, cause))
    if not (withheld or explained) and win.items:
        gaps = ", ".join(named(name, getattr(win, name), signed) for name in names)
        if all(getattr(win, name) == 0 for name in names):
            gaps += ", and items that set each other off"
        says = f"{gaps}: two people sign what they found"
        if told is not None:
            says += f". They signed {signed(told)}, {named('left', left, signed)}"
        says += f", and {of_gap.alone} alone signed it" if of_gap and of_gap.alone else ""
        yield _item(win, user, "gap", says, _explain(win))


def _item(win: TableWin, user: User, code: str, says: str, to: WhereToGo) -> WorkItem:
    text = says[:1].upper() + says[1:].removesuffix(".") + "."
    may = to.path is not None and user.has(*to.roles)
    return WorkItem(win.property, win.table or "", code.replace("_", " "), text, to, may)


def _missing(win: TableWin, name: str) -> WhereToGo:
    kind, _, which = name.partition(":")
    if kind in ("opener", "closer"):
        count = "open" if kind == "opener" else "drop"
        path = f"/entry/inventories?{_of(win, table=win.table or '', kind=count)}"
        return WhereToGo("Table inventory", path, ("pit",))
    if kind == "box" and which:
        box = f"{win.property}/{win.table}/{win.gaming_day}/{quote(which, safe='')}"
        return WhereToGo(f"Count of box {which}", f"/entry/boxes/{box}", ("count",))
    if kind == "box":
        return WhereToGo("Drop box attached", _form(win, "drop_box_attached"), ("pit",))
    day = urlencode({"property": win.property, "gaming_day": which})
    found = {
        "slip": WhereToGo(f"Slip {which} on Entry", f"/entry?{_of(win)}"),
        "fact": WhereToGo("round-ledger quarantine list"),
        "reopen": WhereToGo(f"Gaming day {which}", f"/win?{day}"),
    }
    return found.get(kind, WhereToGo(f"Round {which}", f"/rounds/{win.property}/{which}"))


def _cause(win: TableWin, of: Cause) -> WhereToGo:
    if of.round:
        return WhereToGo(f"Round {of.round}", f"/rounds/{win.property}/{of.round}")
    if of.code.startswith("check_"):
        return WhereToGo("Coupons and checks", f"/win/coupons?{_house(win)}")
    if of.code.endswith("_not_accepted"):
        return WhereToGo("Slips on Entry", f"/entry?{_of(win)}")
    return _explain(win)


def _explain(win: TableWin) -> WhereToGo:
    """The form that explains the gaps of a table's day."""
    form = _form(win, "variance_explained", about=GAP, period="day")
    return WhereToGo("Variance explained", form, ("finance",))


def _exception(win: TableWin, code: str) -> WhereToGo:
    counts = WhereToGo("Counts on Drop", f"/drop?{_of(win, table=win.table or '')}")
    slips = WhereToGo("Slips on Entry", f"/entry?{_of(win)}")
    papers = WhereToGo("Coupons and checks", f"/win/coupons?{_house(win)}")
    found = {
        "slip_recorded_twice": slips,
        "slip_accepted_and_voided": slips,
        "slip_amounts_differ": slips,
        "slip_changed": slips,
        "slip_not_dispatched": slips,
        "slip_missing": slips,
        "slip_number_used_twice": slips,
        "counts_disagree": counts,
        "counted_once": counts,
        "signed_by_nobody": counts,
        "box_attached_twice": counts,
        "verification_disagrees": counts,
        "box_differs": counts,
        "check_voided_boxed": papers,
        "no_gaming_day": WhereToGo(
            "Drop box attached", _form(win, "drop_box_attached"), roles=("pit",)
        ),
        "equivocation": WhereToGo("round-ledger quarantine list"),
        "digest_differs": WhereToGo(f"round-ledger day show {win.gaming_day}"),
    }
    usual = WhereToGo("How to put it right", "/docs/roles/finance.html#exceptions-of-a-day")
    return papers if code.startswith("coupon_") else found.get(code, usual)


def _form(win: TableWin, name: str, **more: str) -> str:
    return f"/entry/forms/{name}?{_of(win, table=win.table or '', **more)}"


def _house(win: TableWin) -> str:
    return urlencode({"property": win.property})


def _of(win: TableWin, **more: str) -> str:
    return urlencode({"property": win.property, "gaming_day": win.gaming_day, **more})
