"""The page Entry: which papers of a gaming day are due, for the people who enter them.

No amount of a box is on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from starlette.responses import RedirectResponse

from consumers.finance import papers
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import Role, User
from infra.postgres.tape import require_property
from ledger.errors import Refused, Usage
from ledger.finance.boxes import boxes
from replay.recording.box_counts import CountedBox
from replay.recording.plain_papers import FORMS
from replay.text.times import is_gaming_day
from replay.text.typed import same_people
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consumers.finance.papers import EnteredDay
    from infra.access.users import Account
    from ledger.errors import LedgerError
    from ledger.finance.boxes import DropBox
    from ledger.finance.slips import SlipRecord

PATH = "/entry"
READERS: tuple[Role, ...] = ("pit", "cage", "count", "finance", "auditor")

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(signed_in(*READERS))]


class DueBox(NamedTuple):
    """A box of a gaming day, and what is due of it."""

    table: str
    box: DropBox
    state: str
    path: str


@router.get(PATH)
def entry(request: Request, who: Reader, property: str = "", gaming_day: str = "") -> Response:  # noqa: A002 - as on the floor
    """The boxes and slips of a gaming day (default: the latest), and the papers to enter."""
    known = houses(request)
    house = property.strip() or (known[0] if known else "")
    day = gaming_day.strip()
    if day and not is_gaming_day(day):
        raise Usage(
            f"`{day}` is not a gaming day", where="gaming_day", hint="Give it as 2026-11-20."
        )
    found = day_of(request, house, day or None) if house else None
    return page(
        request,
        "entry.html",
        houses=known,
        house=house,
        gaming_day=found.gaming_day if found else day,
        boxes=_due(house, found) if found else [],
        slips=found.slips if found and who.has("pit", "cage", "finance", "auditor") else [],
        forms=[form for form in FORMS if who.has(form.role)],
        slip_path=slip_path,
        slip_state=slip_state,
    )


def houses(request: Request) -> list[str]:
    """The casinos on record."""
    return sorted({head.tape.partition("/")[0] for head in ports(request).tape.heads()})


def day_of(request: Request, house: str, gaming_day: str | None = None) -> EnteredDay:
    """The papers of a casino as the record has them now. Raises `NotFound`."""
    database = ports(request).database
    require_property(database, house)
    up_to_date(database, papers.VIEWS)
    return papers.read(database, house, gaming_day)


def of_form(request: Request, form: Mapping[str, str]) -> dict[str, Any]:
    """The casinos, the one that a form names (default: the first), and its latest day."""
    known = houses(request)
    house = form.get("property") or (known[0] if known else "")
    return {
        "houses": known,
        "house": house,
        "day": day_of(request, house) if house in known else None,
    }


def roles_of(request: Request, credential: str) -> frozenset[Role]:
    """The roles of a person, by all users with this credential; none of a person without a user."""
    found: set[Role] = set()
    for each in ports(request).users.list():
        if each.disabled_at_us is None and same_people([credential], [each.employee]):
            found.update(each.roles)
    return frozenset(found)


def require_department(
    request: Request, second: Account, role: Role | None, *, without: frozenset[Role] = frozenset()
) -> None:
    """Raise `Refused` for a second person without this role, or with others.

    role: None: any. without: roles that this person may not have, not even as another user.
    """
    if role not in (*second.roles, None) or roles_of(request, second.employee) & without:
        who = f"with the role {role}" if role else f"without the role {', '.join(sorted(without))}"
        raise Refused(
            f"{second.employee} is of another department",
            where="second",
            hint=f"Let somebody {who} take part.",
        )


def require_table(day: EnteredDay, table: str) -> None:
    """Raise `Usage` for a table that no fact of money names: a slip of the pen would make one."""
    if table not in day.tables:
        raise Usage(
            f"No fact of money is of table {table}",
            where="table",
            hint=f"Tables on record are {', '.join(day.tables) or 'none'}.",
        )


def slip_path(house: str, slip: SlipRecord) -> str:
    """The address of a slip."""
    return f"{PATH}/slips/{house}/{slip.kind}/{quote(slip.number, safe='')}"


def slip_state(slip: SlipRecord) -> str:
    """The last step of a slip."""
    for step in ("voided", "accepted", "dispatched"):
        if getattr(slip, step):
            return step
    return "requested"


NAMES_OF_COUNTS = {1: "first", 2: "second", 3: "third"}
"""The counts of a box by their number."""


def box_state(case: CountedBox) -> str:
    """What is due of a box, in words."""
    due = case.next_count()
    if due is not None:
        return f"waits for its {NAMES_OF_COUNTS[due]} count"
    return "verified" if case.record and case.record.verified else "waits for the cage"


def see(path: str) -> Response:
    """Lead to a page after a form was taken."""
    return RedirectResponse(path, 303)


def wrong(error: LedgerError) -> str:
    """What a form is refused with."""
    return f"{error.what}. {error.hint}"


def _due(house: str, day: EnteredDay) -> list[DueBox]:
    """The boxes of a day, in order of table and number."""
    found = []
    for (table, number), facts in sorted(day.boxes.items()):
        box = boxes(facts)[-1]
        case = CountedBox(
            property=house, table=table, gaming_day=day.gaming_day, box=number, record=box
        )
        path = f"{PATH}/boxes/{house}/{table}/{day.gaming_day}/{quote(number, safe='')}"
        found.append(DueBox(table, box, box_state(case), path))
    return found
