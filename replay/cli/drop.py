"""`drop`: what the boxes should hold, what was counted, and what was won."""

from typing import Annotated

import typer

from consumers import drop as view
from ledger.values import dollars
from replay.cli.app import family
from replay.cli.output import Json, print_lines, say, show_table
from replay.cli.stories import opened_views

app = family()


@app.command("drop")
def drop(
    *,
    table: Annotated[str | None, typer.Option(help="Table, as CC-07.")] = None,
    gaming_day: Annotated[str | None, typer.Option(help="Gaming day, YYYY-MM-DD.")] = None,
    property_: Annotated[
        str | None, typer.Option("--property", help="Casino, as hollywood.")
    ] = None,
    json: Json = False,
) -> None:
    """The drop and the win of each table and gaming day.

    What facts at the table say the box should hold stands beside what was counted. What is not on
    record is n/a (null in JSON), never 0.

    Example: round-ledger drop --gaming-day 2026-11-20
    """
    with opened_views([view.DROP]) as base:
        days = view.read(base, property=property_, table=table, gaming_day=gaming_day)
    if json:
        print_lines(days)
        return
    for day in days:
        _show_day(day)
    if not days:
        say("No money fact of that is on record.")


_EXPECTED = ("cash", "counter_checks", "vouchers", "coupons", "rake")
_COUNTED = ("currency", "counter_checks", "vouchers", "coupon_count", None)
_TRAY = ("opener", "fills", "credits", "closer")
_RESULT = ("handle", "payouts", "payouts_cage", "collected", "returned", "fees", "tips", "win")


def _show_day(day: view.Drop) -> None:
    """One table's gaming day: the box, the tray, the result, and the win by wager."""
    title = f"{day.property}:{day.table} · {day.gaming_day or 'gaming day not told'}"
    counts = [f"{box.box}, count {box.count}" for box in day.boxes]
    show_table(
        f"{title} · into the box",
        ("what", "expected", *(counts or ("counted",))),
        (
            (
                name.replace("_", " "),
                _money(getattr(day, name)),
                *([_counted(box, field) for box in day.boxes] or [None]),
            )
            for name, field in zip(_EXPECTED, _COUNTED, strict=True)
        ),
        right="expected",
    )
    show_table(
        "Tray and result",
        ("what", "amount"),
        ((name.replace("_", " "), _money(getattr(day, name))) for name in (*_TRAY, *_RESULT)),
        right="amount",
    )
    show_table(
        "By wager",
        ("wager", "handle", "payouts", "collected", "returned", "win"),
        (
            (each.wager, *map(_money, (each.handle, each.payouts, each.collected)),
             *map(_money, (each.returned, each.win)))
            for each in day.wagers
        ),
        right="handle payouts collected returned win",
    )  # fmt: skip


def _counted(box: view.Box, field: str | None) -> str | None:
    """What the count room found of one kind; coupons are pieces, all else dollars."""
    if field is None:
        return None
    value: int | None = getattr(box, field)
    return f"{value} pieces" if field == "coupon_count" else _money(value)


def _money(cents: int | None) -> str | None:
    return None if cents is None else dollars(cents)
