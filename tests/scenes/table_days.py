"""Small table-days as JSON facts, for figures that are added up by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.property.finance.floors import worked_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

DAY, NEXT = "2026-11-20", "2026-11-21"


def fact(name: str, minute: int, /, place: str = "CC-07", **data: Any) -> Line:  # noqa: ANN401 - any field
    return {
        "specversion": "1.0",
        "type": f"roundledger.{name}.v1",
        "source": f"/p/{place}/d",
        "id": f"{name}-{place}-{minute}",
        "time": f"2026-11-20T10:{minute:02d}:00-05:00",
        "data": data,
    }


def inventory(kind: str, total: int, minute: int, gaming_day: str = DAY) -> Line:
    data = {"kind": kind, "gaming_day": gaming_day, "chips": {"100": total // 100}, "total": total}
    slip_ = f"CC-07-{gaming_day}-{minute}"
    people = {"slip": slip_, "counted_by": "D-1", "observed_by": "F-1"}
    return fact("inventory_counted", minute, **data, **people)


def count(minute: int, nth: int = 1, **content: Any) -> Line:  # noqa: ANN401 - any field
    data: dict[str, Any] = {"currency": {}, "counter_checks": [], "vouchers": [], "coupons": []}
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY, "count": nth}
    box["counted_by"] = ["N-1", "N-2"] if nth == 1 else ["N-3", "N-4"]
    return fact("drop_box_counted", minute, "count-room", **{**box, **data, **content})


def day_lines(*facts: Line, closer: int = 500_000, once: bool = False) -> list[Line]:
    """The facts of such a day as `table_day` works out.

    A box with one count gets a second one; once: no box does.
    """
    box = {"box": "B1", "table": "CC-07", "gaming_day": DAY}
    limits = {"min_wager": 500, "max_wager": 50_000}
    opened = fact(
        "table_opened", 0, game="criss_cross_poker", gaming_day=DAY, pit="North", **limits
    )
    return [
        opened,
        fact("drop_box_attached", 1, "count-room", **box),
        inventory("open", 500_000, 2),
        *facts,
        *(() if once else _second_counts(facts)),
        inventory("close", closer, 58),
    ]


def _second_counts(facts: Sequence[Line]) -> Iterator[Line]:
    """The same count by other people, of each box that only has its first."""
    counts = [each for each in facts if ".drop_box_counted." in each["type"]]
    twice = {_box(each) for each in counts if each["data"]["count"] == 2}
    for each in counts:
        if _box(each) not in twice:
            again = {"count": 2, "counted_by": ["N-3", "N-4"]}
            yield {**each, "id": f"{each['id']}-2", "data": {**each["data"], **again}}


def _box(of: Line) -> tuple[str, ...]:
    return tuple(of["data"][name] for name in ("box", "table", "gaming_day"))


def table_day(*facts: Line, closer: int = 500_000) -> TableWin:
    """A day of CC-07: opener $5,000.00, box B1, these facts, and a closer."""
    [win] = worked_out(day_lines(*facts, closer=closer))[0]
    return win


def slip(
    kind: str, step: str, number: str, minute: int, total: int = 10_000, place: str = "CC-07"
) -> Line:
    by = ["F-1", "F-2"] if step == "accepted" else ["C-1", "C-2"]
    data = {"slip": number, "chips": {"100": total // 100}, "total": total, "by": by}
    return fact(f"{kind}_{step}", minute, place, **data)


def moved(
    kind: str, number: str, minute: int, total: int = 10_000, place: str = "CC-07"
) -> list[Line]:
    """A slip that was dispatched, and accepted a minute later."""
    steps = enumerate(("dispatched", "accepted"), minute - 1)
    return [slip(kind, step, number, at, total, place) for at, step in steps]


def tournament(step: str, name: str, minute: int, amount: int, table: str = "CC-07") -> Line:
    its = {"tournament": name, "table": table, "gaming_day": DAY, "amount": amount, "by": "C-1"}
    return fact(f"tournament_{step}", minute, "cage", **its)


def next_day(*facts: Line, day: str = NEXT) -> list[Line]:
    """The same facts on a later day: other ids, times, labels and slips of the tray."""
    told: list[Line] = []
    for each in facts:
        data = {**each["data"]}
        data |= {"gaming_day": day} if "gaming_day" in data else {}
        data |= {"slip": data["slip"].replace(DAY, day)} if "slip" in data else {}
        later = {"id": f"{each['id']}-{day}", "time": each["time"].replace(DAY, day)}
        told.append({**each, **later, "data": data})
    return told
