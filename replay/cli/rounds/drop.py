"""`drop`: what the boxes should hold, what was counted, and what was won."""

from consumers.money import drop as view
from consumers.money.amounts import BoxCount
from ledger.values import dollars
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay, TableName
from replay.rounds.reading import opened_views
from replay.shell.output import Json, print_lines, say, show_table

app = family()


@app.command("drop")
def drop(
    *,
    table: TableName = None,
    gaming_day: GamingDay = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Show drop and win of each table and gaming day.

    What the box should hold by the facts stands beside what was counted. What is not on record is
    n/a (null in JSON), never 0. Sums are of the facts as recorded; corrections stand beside them.

    Example: round-ledger drop --gaming-day 2026-11-20
    """
    with opened_views([view.DROP]) as database:
        days = view.read(database, property=property_, table=table, gaming_day=gaming_day)
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
    meant = ("as corrected",) if day.corrections else ()
    counts = [f"{box.box}, count {box.count}" for box in day.boxes]
    show_table(
        f"{title} · into the box",
        ("what", "expected", *meant, *(counts or ("counted",))),
        (
            (
                name.replace("_", " "),
                _money(getattr(day, name)),
                *([_money(_meant(day, name))] if meant else []),
                *([_counted(box, field) for box in day.boxes] or [None]),
            )
            for name, field in zip(_EXPECTED, _COUNTED, strict=True)
        ),
        right="expected",
    )
    show_table(
        "Tray and result",
        ("what", "amount", *meant),
        (
            (
                name.replace("_", " "),
                _money(getattr(day, name)),
                *([_money(_meant(day, name))] if meant else []),
            )
            for name in (*_TRAY, *_RESULT)
        ),
        right="amount",
    )
    if day.corrections:
        _show_corrections(day)
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


def _show_corrections(day: view.Drop) -> None:
    """Each amount that a correction changes, before and after."""
    show_table(
        "Corrections",
        ("fact", "amount", "wager", "told", "corrected", "because"),
        (
            (
                f"{each.of_source} {each.of_id}",
                each.amount.replace("_", " "),
                each.wager or None,
                *(_pieces_or_money(each.amount, value) for value in (each.told, each.meant)),
                each.because,
            )
            for each in day.corrections
        ),
        right="told corrected",
    )


def _meant(day: view.Drop, name: str) -> int | None:
    """An amount as it should have been; as told where no correction changes it."""
    told: int | None = getattr(day, name)
    return day.corrected.get(name, told)


def _pieces_or_money(amount: str, value: int | None) -> str | None:
    if amount.endswith("coupon_count"):
        return None if value is None else f"{value} pieces"
    return _money(value)


def _counted(box: BoxCount, field: str | None) -> str | None:
    """What the count room found of one kind; coupons are pieces, all else dollars."""
    if field is None:
        return None
    value: int | None = getattr(box, field)
    return f"{value} pieces" if field == "coupon_count" else _money(value)


def _money(cents: int | None) -> str | None:
    return None if cents is None else dollars(cents)
