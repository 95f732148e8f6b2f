"""`meters`: progressive meters, from what they showed first to what they show now."""

from collections.abc import Sequence

from consumers.finance import meters as on_meters
from ledger.finance.meters.lines import MeterLine
from ledger.values import dollars
from replay.cli.shell.app import family
from replay.cli.shell.options import Casino
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, say, show_table

app = family()

_FIGURES = ("opening", "advanced", "paid", "reset", "closing", "difference")


@app.command("meters")
def meters(*, property_: Casino = None, json: Json = False) -> None:
    """Show progressive meters, and what moved them.

    Closing = opening + advanced - paid + reset + difference. Opening and closing are what the
    meter showed first and last, paid is what wins took of it by the rulings, reset is what the
    house added. A fall without a win is a difference, and so is a win that it did not fall by.
    A reading below zero is an exception, and no figure counts it. `amount` of `meter_advanced` is
    what the meter shows afterwards, not what it rose by.

    Example: round-ledger meters
    """
    with opened_views(on_meters.VIEWS, property_) as database:
        found = on_meters.read(database, property_)
    if json:
        for of, its in found.items():
            print_json(its, before={"property": of.property})
        return
    if not found:
        say("No progressive meter is on record.")
    for name in sorted({each.property for each in found}):
        _show(name, [its for of, its in found.items() if of.property == name])


def _show(property_: str, found: Sequence[MeterLine]) -> None:
    show_table(
        f"{property_} · progressive meters",
        ("meter", "table", *_FIGURES),
        (
            (each.meter, each.table or "link", *(_figure(each, name) for name in _FIGURES))
            for each in found
        ),
        right=" ".join(_FIGURES),
    )
    for each in found:
        for day in each.differences:
            name = f"{each.meter} · {each.table or 'link'}"
            say(f"{name} · difference of {dollars(day.amount)} on {day.gaming_day}")
        for of in each.exceptions:
            say(f"{each.meter} · {each.table or 'link'} · {of.code.replace('_', ' ')} · {of.says}")


def _figure(of: MeterLine, name: str) -> str | None:
    cents: int | None = getattr(of, name)
    return None if cents is None else dollars(cents)
