"""`drop`: expected and counted drop, and win."""

from consumers.finance import money_facts
from consumers.finance.drop_days import drop_days
from consumers.money import drop as view
from consumers.money.amounts import BoxCount
from ledger.values import dollars
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino, GamingDay, TableName
from replay.rounds.sentences import wager_of_any_game
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_lines, say, show_table
from replay.text.amounts import COUNTED, IN_BOXES, RESULT, TRAY, amount_name

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

    The expected content of the box is printed beside the counted one. An amount that is not on
    record is n/a (null in JSON), never 0. Corrections are in force; a table below lists them. A
    fact that a device recorded twice with different content is an exception, as in `win`. So is a
    box whose money the drop has at several tables or days. JSON has both as `exceptions`.

    Example: round-ledger drop --gaming-day 2026-11-20
    """
    with opened_views([view.DROP, money_facts.VIEW], property_) as database:
        days = drop_days(database, property=property_, table=table, gaming_day=gaming_day)
    if json:
        print_lines(days)
        return
    for day in days:
        _show_day(day)
    if not days:
        say("No money is on record for this day and table.")


def _show_day(day: view.Drop) -> None:
    """Print one table's gaming day: the box, the tray, the result, and the win by wager."""
    title = f"{day.property}:{day.table} · {day.gaming_day or 'gaming day not recorded'}"
    counts = [f"{box.box}, count {box.count}" for box in day.boxes]
    show_table(
        f"{title} · drop box",
        ("in the box", "expected", *(counts or ("counted",))),
        (
            (
                amount_name(name),
                _money(getattr(day, name)),
                *([_counted(box, field) for box in day.boxes] or [None]),
            )
            for name, field in zip(IN_BOXES, COUNTED, strict=True)
        ),
        right="expected",
    )
    show_table(
        "Tray and result",
        ("figure", "amount"),
        ((amount_name(name), _money(getattr(day, name))) for name in (*TRAY, *RESULT)),
        right="amount",
    )
    for each in day.exceptions:
        say(f"{day.table} · exception · {each.says}")
    if day.corrections:
        _show_corrections(day)
    show_table(
        "By wager",
        ("wager", "handle", "payouts", "collected", "returned", "moved"),
        (
            (wager_of_any_game(each.wager), _money(each.handle), _money(each.payouts),
             _money(each.collected), _money(each.returned), _money(each.win))
            for each in day.wagers
        ),
        right="handle payouts collected returned moved",
    )  # fmt: skip


def _show_corrections(day: view.Drop) -> None:
    """Print each amount that a correction changes, before and after."""
    show_table(
        "Corrections",
        ("fact", "amount", "wager", "recorded", "corrected", "because"),
        (
            (
                f"{each.of_source} {each.of_id}",
                amount_name(each.amount),
                wager_of_any_game(each.wager) if each.wager else None,
                *(_pieces_or_money(each.amount, value) for value in (each.told, each.meant)),
                each.because,
            )
            for each in day.corrections
        ),
        right="recorded corrected",
    )


def _pieces_or_money(amount: str, value: int | None) -> str | None:
    if amount.endswith("coupon_count"):
        return None if value is None else f"{value} pieces"
    return _money(value)


def _counted(box: BoxCount, field: str) -> str | None:
    """The counted amount of one kind; coupons in pieces, everything else in dollars."""
    value: int | None = getattr(box, field)
    return f"{value} pieces" if field == "coupon_count" else _money(value)


def _money(cents: int | None) -> str | None:
    return None if cents is None else dollars(cents)
